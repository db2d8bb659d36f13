"""Picking the best of many by score, in an order that never depends on how many are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.storage.base import Scored

#: BM25 constants (Robertson and Zaragoza 2009): how soon repetition stops to count, and how much
#: a long text is held against it.
K1 = 1.2
B = 0.75


def best(ids: NDArray[np.bytes_], scores: NDArray[np.float64], limit: int) -> list[Scored]:
    """The `limit` best, best first, equal scores by id.

    Args:
        ids: ASCII ids of shape (n,).
        scores: of shape (n,).
        limit: at most so many results, >= 0.
    """
    if not limit or not len(scores):
        return []
    if limit < len(scores):
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = np.flatnonzero(scores >= least)
        ids, scores = ids[kept], scores[kept]
    order = np.lexsort((ids, -scores))[:limit]
    return [
        Scored(id.decode("ascii"), score) for id, score in zip(ids[order].tolist(), scores[order].tolist(), strict=True)
    ]


def bm25_weights(counts: NDArray[Any], lengths: NDArray[Any], *, total: int, mean_length: float) -> NDArray[np.float64]:
    """What one word adds to the scores of the memories that hold it.

    Args:
        counts: occurrences in each memory that holds the word, shape (n,).
        lengths: tokens of the same memories, shape (n,).
        total: memories searched, of which n hold the word.
        mean_length: mean number of tokens of the memories searched, > 0.
    """
    rarity = np.log1p((total - len(counts) + 0.5) / (len(counts) + 0.5))
    repeats = counts.astype(np.float64)
    return rarity * repeats * (K1 + 1) / (repeats + K1 * (1 - B + B * lengths / mean_length))
