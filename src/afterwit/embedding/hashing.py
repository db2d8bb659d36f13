"""The hash embedder: words to buckets, no model. For tests, and where only shared words matter."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding.base import PREPARATION, prepare
from afterwit.text import index_tokens

#: Read of each text; the rest does not change the vector.
_CHARACTERS = 16_384


class HashEmbedder:
    """Signed feature hashing (Weinberger et al. 2009) of the word index's tokens.

    Texts that share words point the same way; texts that share none are nearly at right angles.
    The same on every machine and in every process.
    """

    def __init__(self, dimensions: int = 256) -> None:
        """Make one.

        Args:
            dimensions: buckets, at least 1; few buckets make unrelated texts look alike.
        """
        self.dimensions = dimensions
        self.model = f"hash/{dimensions}/{PREPARATION}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; never raises."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._fill(row, prepare(text, characters=_CHARACTERS))
        return rows

    def _fill(self, row: NDArray[np.float32], text: str) -> None:
        for token in index_tokens(text):
            bucket, sign = self._place(token)
            row[bucket] += sign
        length = float(np.linalg.norm(row))
        if length == 0:
            # No token at all, or all of them cancelled out: the text as a whole is the feature.
            bucket, length = self._place(text)
            row[bucket] = length
        row /= length

    def _place(self, feature: str) -> tuple[int, float]:
        digest = hashlib.blake2b(feature.encode("utf-8"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        return (number >> 1) % self.dimensions, 1.0 if number & 1 else -1.0

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to release."""
