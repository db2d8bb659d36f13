"""Doubles and contracts for tests, ours and yours: nothing here is used by the product itself."""

from datetime import UTC, datetime, timedelta

from afterwit.embedding import HashEmbedder
from afterwit.testing.scripted import ScriptedLLM
from afterwit.testing.store_contract import StoreContract

__all__ = ["FixedClock", "HashEmbedder", "ScriptedLLM", "StoreContract"]


class FixedClock:
    """A clock that stands still until it is told to move; call it for the time.

    Args:
        start: an aware time.
    """

    def __init__(self, start: datetime = datetime(2025, 3, 1, 9, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """The present moment."""
        return self._now

    def advance(self, **parts: float) -> datetime:
        """Move on by `days=`, `hours=`, `seconds=` ...; returns the new present."""
        self._now += timedelta(**parts)
        return self._now

    def set(self, moment: datetime) -> None:
        """Jump to an aware time."""
        self._now = moment
