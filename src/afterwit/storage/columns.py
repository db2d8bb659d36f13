"""The keys of a space's memories as arrays, and the key filter on them.

`query.py` holds the same filter as SQL; a test holds the two equal.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.clock import to_us
from afterwit.records import KeyFilter, Standing, Status, Trust

Mask = NDArray[np.bool_]

#: Stand for "open" at either end of a time range.
OPEN_START = -(2**63)
OPEN_END = 2**63 - 1

#: What `Columns.append` takes, in this order. Open times are already OPEN_START or OPEN_END.
SELECT_KEYS = (
    "m.row, m.id, m.scope, m.role, m.kind, m.subject, m.topic, m.tags, m.status, m.standing, m.trust, "
    f"m.happened_us, m.recorded_us, ifnull(m.valid_from_us, {OPEN_START}), ifnull(m.valid_to_us, {OPEN_END}), "
    f"ifnull(m.valid_to_believed_us, {OPEN_END}), ifnull(m.retired_us, {OPEN_END}), w.length"
)
_NUMBER_MASK = 2**32 - 1
_CODED = ("scope", "role", "kind", "subject", "topic", "tags", "status", "standing")
_TYPES: dict[str, Any] = {
    "number": np.uint32,
    "id": "S36",
    **dict.fromkeys(_CODED, np.int32),
    "trust": np.int8,
    **dict.fromkeys(("happened", "recorded", "valid_from", "valid_to", "believed", "retired"), np.int64),
    "length": np.int32,
}


def grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """The array, or a copy with room for at least `needed` rows."""
    if needed <= len(array):
        return array
    larger = np.empty((needed + needed // 4 + 256, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


class Columns:
    """One slot per version of a memory's keys. A changed memory gets a new slot and its old one
    dies, so that slots only ever grow and a tentative state can be undone by cutting the tail."""

    def __init__(self) -> None:
        self.count = 0
        self._arrays: dict[str, NDArray[Any]] = {name: np.empty(0, dtype=kind) for name, kind in _TYPES.items()}
        self._alive: Mask = np.empty(0, dtype=np.bool_)
        self._codes: dict[str, dict[str, int]] = {name: {} for name in _CODED}

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add one living slot for each row of `SELECT_KEYS`."""
        start, end = self.count, self.count + len(rows)
        self._alive = grown(self._alive, end)
        self._alive[start:end] = True
        for (name, kind), values in zip(_TYPES.items(), zip(*rows, strict=True), strict=True):
            array = self._arrays[name] = grown(self._arrays[name], end)
            if name in self._codes:
                codes = self._codes[name]
                for value in dict.fromkeys(values):
                    codes.setdefault(value, len(codes))
                array[start:end] = np.fromiter(map(codes.__getitem__, values), np.int32, len(rows))
            elif name == "number":
                array[start:end] = np.array(values, dtype=np.int64) & _NUMBER_MASK
            else:
                array[start:end] = np.array(values, dtype=kind)
        self.count = end

    def cut(self, count: int) -> None:
        """Forget all slots from `count` on."""
        self.count = count

    def set_alive(self, slot: int, alive: bool) -> None:
        """Let a slot live or die."""
        self._alive[slot] = alive

    def column(self, name: str) -> NDArray[Any]:
        """The values of all slots, dead ones included."""
        return self._arrays[name][: self.count]

    @property
    def alive(self) -> Mask:
        """Which slots hold the present state of a memory."""
        return self._alive[: self.count]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._alive.nbytes + sum(array.nbytes for array in self._arrays.values())

    def active(self) -> Mask:
        """Living slots of active memories."""
        return self.alive & self._coded("status", [Status.ACTIVE])

    def mask(self, where: KeyFilter) -> Mask:
        """Slots that pass the filter; a fresh array."""
        mask = self.alive.copy()
        for name, wanted in (
            ("scope", where.scopes),
            ("role", where.roles),
            ("kind", where.kinds),
            ("subject", where.subjects),
            ("topic", where.topics),
        ):
            if wanted:
                mask &= self._coded(name, wanted)
        if where.tags:
            tags = set(where.tags)
            mask &= self._matching("tags", lambda text: not tags.isdisjoint(json.loads(text)))
        if where.without_standings and len(self._codes["standing"]):
            mask &= self._coded("standing", set(Standing) - set(where.without_standings))
        if where.min_trust > 0:
            mask &= self.column("trust") >= int(where.min_trust)
        if where.proven_only:
            mask &= self._coded("standing", [Standing.CONFIRMED]) | (self.column("trust") >= int(Trust.USER))
        if where.happened_from is not None:
            mask &= self.column("happened") >= to_us(where.happened_from)
        if where.happened_to is not None:
            mask &= self.column("happened") < to_us(where.happened_to)
        self._life(where, mask)
        return mask

    def _life(self, where: KeyFilter, mask: Mask) -> None:
        valid_to = self.column("valid_to")
        if where.known_at is not None:
            known_us = to_us(where.known_at)
            mask &= self.column("recorded") <= known_us
            mask &= self.column("retired") > known_us
            valid_to = np.where(self.column("retired") == OPEN_END, valid_to, self.column("believed"))
        elif where.statuses:
            mask &= self._coded("status", where.statuses)
        if where.valid_at is not None:
            start_us = to_us(where.valid_at)
            valid_from = self.column("valid_from")
            if where.valid_through is None:
                mask &= valid_from <= start_us
            else:
                end_us = to_us(where.valid_through)
                mask &= valid_from < end_us
                mask &= start_us < end_us
                mask &= valid_from < valid_to
            mask &= valid_to > start_us

    def present(self, name: str) -> list[str]:
        """Distinct non-empty values of a coded column among the active memories, sorted."""
        codes = self._codes[name]
        counts = np.bincount(self.column(name)[self.active()], minlength=len(codes))
        return sorted(value for value, code in codes.items() if value and counts[code])

    def kept(self) -> Mask:
        """Living slots of memories that are not forgotten."""
        return self.alive & ~self._coded("status", [Status.FORGOTTEN])

    def turns(self) -> NDArray[np.int64]:
        """The moments at which a memory begins or ceases to hold, sorted, each once."""
        moments = [self.column(name)[self.alive] for name in ("valid_from", "valid_to", "believed")]
        found = np.unique(np.concatenate([times[(times != OPEN_START) & (times != OPEN_END)] for times in moments]))
        return found.astype(np.int64)

    def starts(self) -> NDArray[np.int64]:
        """The moments at which an active memory begins to hold, sorted, each once."""
        times = np.unique(self.column("valid_from")[self.active()])
        return times[times != OPEN_START].astype(np.int64)

    def _coded(self, name: str, wanted: Any) -> Mask:
        codes = self._codes[name]
        known = [code for item in wanted if (code := codes.get(str(item))) is not None]
        column = self.column(name)
        if not known:
            return np.zeros(self.count, dtype=np.bool_)
        if len(known) == 1:
            return column == known[0]
        allowed = np.zeros(len(codes), dtype=np.bool_)
        allowed[known] = True
        return allowed[column]

    def _matching(self, name: str, test: Callable[[str], bool]) -> Mask:
        allowed = np.array([test(text) for text in self._codes[name]], dtype=np.bool_)
        return allowed[self.column(name)] if len(allowed) else np.zeros(self.count, dtype=np.bool_)
