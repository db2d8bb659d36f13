"""The thread of a server that looks after its memory while nobody asks."""

import logging
import threading
from typing import TYPE_CHECKING, Self

from afterwit.errors import AfterwitError

if TYPE_CHECKING:
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)

#: Seconds between two rounds.
EVERY_S = 60.0
#: Longest wait for the round under way when the server ends, in seconds. A model that is being asked is not waited
#: for: its task stays in the queue.
CLOSING_S = 2.0
#: Who did it, in the history.
WRITER = "server"


class Background:
    """Calls `Afterwit.upkeep` every minute. Whatever goes wrong is a line in the log, and the next round comes."""

    def __init__(self, service: "Afterwit", *, every_s: float = EVERY_S) -> None:
        """Nothing starts yet.

        Args:
            service: open, and closed by its owner after `close`.
            every_s: seconds between two rounds.
        """
        self._owner = service
        self._every_s = every_s
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; the first round comes after the first interval. Returns at once."""
        self._thread = threading.Thread(target=self._run, name="afterwit-upkeep", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop after the piece of work under way."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSING_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        from afterwit.service import Writer  # noqa: PLC0415 - a server's start must not wait for it
        from afterwit.service.upkeep import Progress  # noqa: PLC0415

        service = self._owner.as_writer(Writer(WRITER, self._owner.writer.trust))
        progress = Progress()
        while not self._stopped.wait(self._every_s):
            try:
                done = service.upkeep(progress, stopped=self._stopped.is_set)
            except AfterwitError as error:
                if not self._stopped.is_set():
                    _log.warning("Upkeep of %s: %s", service.space, error)
            except Exception:  # noqa: BLE001  the server goes on whatever happens here
                if not self._stopped.is_set():
                    _log.exception("Upkeep of %s failed", service.space)
            else:
                if done.ended or done.reviewed or done.consolidated:
                    _log.info(
                        "Upkeep of %s: %d tasks ended, %d reviewed, %d rules and shared memories changed.",
                        service.space,
                        len(done.ended),
                        len(done.reviewed),
                        done.consolidated,
                    )
                for task, error in done.failed:
                    _log.warning("Upkeep of %s: the review of %s failed: %s", service.space, task, error)
