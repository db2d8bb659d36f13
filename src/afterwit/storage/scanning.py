"""The vectors of one model, and a scan that finds those of them that may be nearest to a query.

The nearest are found in two steps: by the principal components of all of them, a quarter of the numbers, and by all
numbers of the few that may be nearest by these. Both steps allow for what they do not see. The components are made in
a thread of their own while scans go on by all numbers.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from afterwit.storage.columns import Mask, grown
from afterwit.storage.quantised import GATHER_COST, Floats, QuantisedRows, Slots, squares, unit_rows
from afterwit.storage.ranking import bar

#: Rows from which a scan takes longer than to start a thread for it, and from which two steps take less than one.
_MANY = 20_000
#: Standard deviations that are allowed for of what rounding takes from a cosine, and of what the principal components
#: leave out: real vectors are not as random. Of 16,000 nearest memories of real questions, one was missed.
_SIGMAS = 8.0
_UNSEEN_SIGMAS = 7.0
#: Principal components: one for so many dimensions. Of the default model's 512, the first 128 hold 0.87 of the
#: vectors' squared length, and leave a few in a hundred of the rows for the second step.
_DIMENSIONS_A_COMPONENT = 4
#: Vectors that the components are made from.
_SAMPLED = 4096
#: Of the rows that are nearest by their components, so many times those asked for tell how near is near enough.
_FIRST = 4
_TINY = 1e-12
_BLOCK = 8192


@dataclass(frozen=True)
class Scan:
    """Approximate cosines of all rows that may be among the nearest."""

    #: ascending, shape (n,)
    slots: Slots
    #: shape (n,)
    scores: Floats
    #: exact and approximate cosine differ by no more than this
    error: float


class _Components:
    """The principal components of some vectors, and of each of these what they leave out."""

    def __init__(self, sample: Floats, capacity: int, count: int) -> None:
        """Find the components.

        Args:
            sample: vectors of length 1, shape (sampled, dimensions).
            capacity: slots to make room for.
            count: slots in use; with twice as many, other components may be better.
        """
        dimensions = sample.shape[1]
        self._unseen = dimensions - dimensions // _DIMENSIONS_A_COMPONENT
        self._basis = _principal(sample, dimensions // _DIMENSIONS_A_COMPONENT)
        self._rows = QuantisedRows(self._basis.shape[1], capacity)
        #: the squared length of what the components leave out
        self._rests: Floats = np.empty(capacity, dtype=np.float32)
        self.enough_to = 2 * count

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._rests.nbytes

    def put(self, slots: Slots, unit: Floats) -> None:
        seen = unit @ self._basis
        self._rows.put(slots, seen)
        self._rests = grown(self._rests, int(slots.max(initial=-1)) + 1)
        self._rests[slots] = np.maximum(1 - squares(seen), 0)

    def against(self, query: Floats) -> Callable[[Slots], tuple[Floats, Floats]]:
        """What gives the cosines of some ascending slots by what is seen, and what is to be allowed for each."""
        seen = query @ self._basis
        rows, rests = self._rows.against(seen), self._rests
        by_rest = _UNSEEN_SIGMAS**2 * max(0.0, 1 - float(seen @ seen)) / self._unseen
        by_rounding = _SIGMAS**2 * rows.residual**2 / len(seen) + _TINY

        def compare(slots: Slots) -> tuple[Floats, Floats]:
            allowed = rests[slots] * np.float32(by_rest)
            allowed += np.float32(by_rounding)
            return rows.products(slots), np.sqrt(allowed, out=allowed)

        return compare


def _principal(sample: Floats, count: int) -> Floats:
    """The first principal components (not centred) as columns, by subspace iteration: accurate enough, and of 1,536
    dimensions ten times as fast as all of them."""
    products = sample.T @ sample
    basis = np.random.default_rng(0).normal(size=(len(products), count)).astype(np.float32)
    for _ in range(4):
        basis = np.linalg.qr(products @ basis)[0]
    return basis


class ScannedVectors:
    """Vectors by slot, of length 1, as bytes. One thread at a time puts and begins scans."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self.dimensions = dimensions
        self._rows = QuantisedRows(dimensions, capacity)
        self._present: Mask = np.zeros(capacity, dtype=np.bool_)
        #: None as long as there are few, or none were made yet
        self._components: _Components | None = None
        #: held to change any of the following, which a thread of its own does at its end
        self._lock = threading.Lock()
        self._making: threading.Thread | None = None
        #: what was put while components were being made
        self._late: list[Slots] = []

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        components = self._components.nbytes if self._components else 0
        return self._rows.nbytes + self._present.nbytes + components

    def put(self, slots: Slots, data: bytes) -> None:
        """Set the vectors of some slots.

        Args:
            slots: shape (n,).
            data: n vectors as little-endian float16, one after the other.
        """
        unit = unit_rows(np.frombuffer(data, dtype="<f2").reshape(len(slots), self.dimensions).astype(np.float32))
        with self._lock:
            self._rows.put(slots, unit)
            if self._components:
                self._components.put(slots, unit)
            if self._making:
                self._late.append(slots)
        before = len(self._present)
        self._present = grown(self._present, int(slots.max(initial=-1)) + 1)
        self._present[before:] = False
        self._present[slots] = True

    def present(self, count: int) -> Mask:
        """Which of the first `count` slots have a vector; a fresh array."""
        mask = np.zeros(count, dtype=np.bool_)
        known = min(count, len(self._present))
        mask[:known] = self._present[:known]
        return mask

    def clear_from(self, slot: int) -> None:
        """Forget the vectors of all slots from `slot` on."""
        self._present[slot:] = False

    def scan(self, query: Floats, mask: Mask, limit: int) -> Scan:
        """Those of the slots in the mask that may be among the `limit` nearest.

        Args:
            query: float32 of shape (dimensions,), unit length.
            mask: shape (slots,).
            limit: at least 1.
        """
        return self._prepared(query, self._slots(mask), limit)()

    def begin_scan(self, query: Floats, mask: Mask, limit: int) -> Callable[[], Scan]:
        """Begin what `scan` does, in a thread of its own where that is worth it.

        The slots in the mask are read until the result is there; all others may change.

        Returns:
            What gives the result.
        """
        slots = self._slots(mask)
        scan = self._prepared(query, slots, limit)
        if len(slots) < _MANY:
            return scan
        begun: Future[Scan] = Future()

        def run() -> None:
            try:
                begun.set_result(scan())
            except BaseException as error:  # noqa: BLE001 - belongs to who waits for the result
                begun.set_exception(error)

        threading.Thread(target=run, name="afterwit-scan").start()
        return begun.result

    def _slots(self, mask: Mask) -> Slots:
        """The slots in the mask that have a vector, ascending."""
        count = min(len(mask), len(self._present))
        return np.flatnonzero(mask[:count] & self._present[:count])

    def _prepared(self, query: Floats, slots: Slots, limit: int) -> Callable[[], Scan]:
        """The scan of some ascending slots, all else that it needs at hand."""
        rows = self._rows.against(query)
        error = min(1.0, _SIGMAS / float(np.sqrt(self.dimensions))) * rows.residual + 1e-5
        known = self._known_components() if len(slots) >= _MANY else None
        if known is None:
            return lambda: Scan(slots, rows.products(slots), error)
        components = known.against(query)
        limit = min(limit, len(slots))

        def scan() -> Scan:
            seen, allowed = components(slots)
            best = np.flatnonzero(seen >= bar(seen, min(_FIRST * limit, len(slots))))
            exact = rows.products(slots[best])
            # Vectors that are near copies of each other are alike also in what is not seen.
            allowed *= max(1.0, float(((exact - seen[best]) / allowed[best]).max()))
            allowed += seen
            kept = slots[allowed >= bar(exact, limit) - 2 * error]
            kept = slots if len(kept) * GATHER_COST > len(slots) else kept
            return Scan(kept, rows.products(kept), error)

        return scan

    def _known_components(self) -> _Components | None:
        """Those there are. Has them made when they are first asked for, and anew whenever there are twice as many
        rows."""
        with self._lock:
            components = self._components
            if self._making is None and self.dimensions >= _DIMENSIONS_A_COMPONENT:
                known = np.flatnonzero(self._present)
                if components is None or len(known) > components.enough_to:
                    making = threading.Thread(
                        target=self._make_components, args=(known,), name="afterwit-components", daemon=True
                    )
                    making.start()
                    self._making = making
        return components

    def _make_components(self, known: Slots) -> None:
        made: _Components | None = None
        try:
            made = self._components_of(known)
        finally:
            # Without them, for want of memory, scans go on by all numbers, and the next one tries again.
            with self._lock:
                if made is not None:
                    for slots in self._late:
                        made.put(slots, self._rows.rows(slots))
                    self._components = made
                self._late.clear()
                self._making = None

    def _components_of(self, known: Slots) -> _Components:
        sample = known[:: -(-len(known) // _SAMPLED)]
        components = _Components(self._rows.rows(sample), len(self._present), len(known))
        for start in range(0, len(known), _BLOCK):
            slots = known[start : start + _BLOCK]
            components.put(slots, self._rows.rows(slots))
        return components

    def wait(self) -> None:
        """Until nothing is being made in the background. Answers do not depend on it."""
        making = self._making
        if making:
            making.join()
