"""Rows of numbers as one byte each: small enough to keep, fast to scan, and close enough to tell which few must be
compared exactly."""

from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import simsimd  # pyright: ignore[reportMissingTypeStubs]
except ImportError:  # no wheel for this platform
    simsimd = None

from afterwit.storage.columns import grown

#: Gathering rows one by one costs as much as scanning about this many in a row.
GATHER_COST = 4
_BLOCK = 8192

Floats = npt.NDArray[np.float32]
Slots = npt.NDArray[np.int64]


class QuantisedRows:
    """int8 codes by slot, each row with its own scale."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self._codes: npt.NDArray[np.int8] = np.empty((capacity, dimensions), dtype=np.int8)
        self._scales: Floats = np.empty(capacity, dtype=np.float32)
        #: the largest length of what rounding took from a row
        self.residual = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._codes.nbytes + self._scales.nbytes

    def put(self, slots: Slots, rows: Floats) -> None:
        """Set some rows, shape (slots, dimensions)."""
        codes, scales, residual = _quantise(rows)
        needed = int(slots.max(initial=-1)) + 1
        self._codes = grown(self._codes, needed)
        self._scales = grown(self._scales, needed)
        self._codes[slots] = codes
        self._scales[slots] = scales
        self.residual = max(self.residual, residual)

    def rows(self, slots: Slots) -> Floats:
        """Some rows as they were before, but for the rounding."""
        return self._codes[slots].astype(np.float32) * self._scales[slots, None]

    def against(self, query: Floats) -> "Comparison":
        """What compares rows with the query; it keeps to those of now, wherever rows are moved to later."""
        code, scale, residual = _quantise(query[None, :])
        return Comparison(self._codes, self._scales, code, float(scale[0]), float(np.hypot(self.residual, residual)))


class Comparison:
    """Inner products of a query with quantised rows."""

    def __init__(
        self, codes: npt.NDArray[np.int8], scales: Floats, code: npt.NDArray[np.int8], scale: float, residual: float
    ) -> None:
        self._codes, self._scales = codes, scales
        self._code, self._scale = code, scale
        #: the length of what rounding took from a row and the query together, at most
        self.residual = residual

    def products(self, slots: Slots) -> Floats:
        """Of some ascending slots, shape (slots,)."""
        low, high = (int(slots[0]), int(slots[-1]) + 1) if len(slots) else (0, 0)
        if len(slots) == high - low:
            products = _dot(self._code, self._codes[low:high]) * self._scales[low:high]
        else:
            few = len(slots) * GATHER_COST < high - low
            codes = self._codes[slots] if few else self._codes[low:high]
            products = _dot(self._code, codes)
            products = products if few else products[slots - low]
            # Only now: the scale of a slot without a row is whatever was in its memory before.
            products *= self._scales[slots]
        products *= self._scale
        return products


def unit_rows(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The rows, each of length 1; those without length as they are."""
    lengths = np.sqrt(squares(rows))
    lengths[lengths == 0] = 1
    return (rows / lengths[:, None]).astype(np.float32, copy=False)


def squares(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The square of each row's length."""
    return np.einsum("ij,ij->i", rows, rows)


def _quantise(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], float]:
    """Codes, scales and the largest length of what rounding took from a row."""
    scales = np.abs(rows).max(axis=1) / 127
    scales[scales == 0] = 1
    exact = rows / scales[:, None]
    rounded = np.rint(exact)
    exact -= rounded
    rest = np.sqrt(squares(exact)) * scales
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
