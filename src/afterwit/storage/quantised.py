"""Vectors of one model as one byte per dimension: small enough to keep, fast to scan, and close
enough to tell which few must be compared exactly."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import simsimd  # pyright: ignore[reportMissingTypeStubs]
except ImportError:  # no wheel for this platform
    simsimd = None

from afterwit.storage.columns import Mask, grown

#: Gathering rows one by one costs as much as scanning about this many in a row.
_GATHER_COST = 4
_BLOCK = 8192
#: Rows from which a scan takes longer than to start a thread for it: a millisecond.
_WORTH_A_THREAD = 20_000
#: Share of a scan that is left to its thread; meanwhile whoever began it has other work, and does the rest after it.
_SHARE_OF_THREAD = 0.7
#: Standard deviations of the quantisation error that the candidates' margin covers: a miss would
#: be an eight-sigma event.
_SIGMAS = 8.0


@dataclass(frozen=True)
class Scan:
    """Approximate cosines."""

    #: slots scanned, ascending, shape (n,)
    slots: npt.NDArray[np.int64]
    #: shape (n,)
    scores: npt.NDArray[np.float32]
    #: exact and approximate cosine differ by no more than this
    error: float


class QuantisedVectors:
    """int8 codes by slot, each row with its own scale."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self.dimensions = dimensions
        self._codes: npt.NDArray[np.int8] = np.empty((capacity, dimensions), dtype=np.int8)
        self._scales: npt.NDArray[np.float32] = np.empty(capacity, dtype=np.float32)
        self._present: Mask = np.zeros(capacity, dtype=np.bool_)
        self._residual = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._codes.nbytes + self._scales.nbytes + self._present.nbytes

    def put(self, slots: npt.NDArray[np.int64], data: bytes) -> None:
        """Set the vectors of some slots.

        Args:
            slots: shape (n,).
            data: n vectors as little-endian float16, one after the other.
        """
        end = int(slots.max()) + 1
        rows = np.frombuffer(data, dtype="<f2").reshape(len(slots), self.dimensions).astype(np.float32)
        codes, scales, residual = _quantise(rows)
        self._grow(end)
        self._codes[slots] = codes
        self._scales[slots] = scales
        self._present[slots] = True
        self._residual = max(self._residual, residual)

    def _grow(self, needed: int) -> None:
        before = len(self._codes)
        self._codes = grown(self._codes, needed)
        self._scales = grown(self._scales, needed)
        self._present = grown(self._present, needed)
        self._present[before:] = False

    def present(self, count: int) -> Mask:
        """Which of the first `count` slots have a vector; a fresh array."""
        mask = np.zeros(count, dtype=np.bool_)
        known = min(count, len(self._present))
        mask[:known] = self._present[:known]
        return mask

    def clear_from(self, slot: int) -> None:
        """Forget the vectors of all slots from `slot` on."""
        self._present[slot:] = False

    def scan(self, query: npt.NDArray[np.float32], mask: Mask) -> Scan:
        """Approximate cosines of the slots in the mask that have a vector.

        Args:
            query: float32 of shape (dimensions,), unit length.
            mask: shape (slots,).
        """
        slots = self._slots(mask)
        return self._prepared(query)(slots)

    def begin_scan(self, query: npt.NDArray[np.float32], mask: Mask) -> Callable[[], Scan]:
        """Begin what `scan` does, in a thread of its own where that is worth it.

        The slots in the mask are read until the result is there; all others may change.

        Returns:
            What scans the rest and gives the result of it all.
        """
        slots, scan = self._slots(mask), self._prepared(query)
        split = int(len(slots) * _SHARE_OF_THREAD) if len(slots) >= _WORTH_A_THREAD else 0
        begun: Future[Scan] = Future()

        def run() -> None:
            try:
                begun.set_result(scan(slots[:split]))
            except BaseException as error:  # noqa: BLE001 - belongs to who waits for the result
                begun.set_exception(error)

        def finish() -> Scan:
            rest = scan(slots[split:])
            if not split:
                return rest
            return Scan(slots, np.concatenate([begun.result().scores, rest.scores]), rest.error)

        if split:
            threading.Thread(target=run, name="afterwit-scan").start()
        return finish

    def _slots(self, mask: Mask) -> npt.NDArray[np.int64]:
        """The slots in the mask that have a vector, ascending."""
        count = min(len(mask), len(self._present))
        return np.flatnonzero(mask[:count] & self._present[:count])

    def _prepared(self, query: npt.NDArray[np.float32]) -> Callable[[npt.NDArray[np.int64]], Scan]:
        """The scan of some ascending slots, all else that it needs at hand."""
        code, scale, residual = _quantise(query[None, :])
        codes, scales = self._codes, self._scales
        certainty = min(1.0, _SIGMAS / float(np.sqrt(self.dimensions)))
        error = certainty * (self._residual + residual) + 1e-5

        def scan(slots: npt.NDArray[np.int64]) -> Scan:
            low, high = (int(slots[0]), int(slots[-1]) + 1) if len(slots) else (0, 0)
            if len(slots) == high - low:
                scores = _dot(code, codes[low:high]) * scales[low:high]
            else:
                few = len(slots) * _GATHER_COST < high - low
                scores = _dot(code, codes[slots]) if few else _dot(code, codes[low:high])[slots - low]
                # Only now: the scale of a slot without a vector is whatever was in its memory before.
                scores *= scales[slots]
            return Scan(slots, scores * scale[0], error)

        return scan


def _quantise(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], float]:
    """Codes, scales and the largest rest of unit-length copies of the rows."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    unit = rows / lengths[:, None]
    scales = np.abs(unit).max(axis=1) / 127
    scales[scales == 0] = 1
    unit /= scales[:, None]
    rounded = np.rint(unit)
    unit -= rounded
    rest = np.sqrt(np.einsum("ij,ij->i", unit, unit)) * scales
    return rounded.astype(np.int8), scales.astype(np.float32), float(rest.max(initial=0.0))


def _dot(code: npt.NDArray[np.int8], rows: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    if not len(rows):
        return np.empty(0, dtype=np.float32)
    if simsimd is not None:
        products: npt.NDArray[Any] = np.asarray(simsimd.cdist(code, rows, metric="dot", threads=1))
        return products[0].astype(np.float32)
    query = code[0].astype(np.float32)
    parts = [rows[start : start + _BLOCK].astype(np.float32) @ query for start in range(0, len(rows), _BLOCK)]
    return np.concatenate(parts)


def exact_cosines(data: bytes, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Cosines of stored float16 vectors to the query, each row on its own so that a score never
    depends on which others are scored with it.

    Args:
        data: n vectors as little-endian float16, one after the other.
        query: float32 of shape (dimensions,), unit length.

    Returns:
        Shape (n,), -1..1; 0 for a vector without length.
    """
    rows = np.frombuffer(data, dtype="<f2").reshape(-1, len(query)).astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1))
    lengths[lengths == 0] = 1
    return np.clip((rows * query.astype(np.float64)).sum(axis=1) / lengths, -1.0, 1.0)
