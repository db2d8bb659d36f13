"""Picking the best of many by score, in an order that never depends on how many are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.storage.base import Scored

#: BM25 constants (Robertson and Zaragoza 2009): how soon repetition stops to count, and how much
#: a long text is held against it.
K1 = 1.2
B = 0.75


#: Scores whose largest stands for all of them while the bar is looked for.
_BLOCK = 64


def bar(scores: NDArray[Any], count: int) -> Any:
    """The score of the `count`-th best: the same as by sorting, several times quicker where there are many.

    Args:
        scores: of shape (n,).
        count: 1 to n.
    """
    blocks = len(scores) // _BLOCK
    if blocks > 2 * count:
        # So many blocks have a score as good as their largest ones that nothing below can be among the best. A block
        # is every so-many-th score, so that many of them are compared at once.
        tops = scores[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
        scores = scores[scores >= np.partition(tops, blocks - count)[blocks - count]]
    return np.partition(scores, len(scores) - count)[len(scores) - count]


def best(ids: NDArray[np.bytes_], slots: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> list[Scored]:
    """The `limit` best, best first, equal scores by id.

    Args:
        ids: ASCII ids by slot.
        slots: where the ids of the scored ones are, shape (n,).
        scores: of shape (n,).
        limit: at most so many results, >= 0.
    """
    if not limit or not len(scores):
        return []
    if limit < len(scores):
        kept = np.flatnonzero(scores >= bar(scores, limit))
        slots, scores = slots[kept], scores[kept]
    names = ids[slots]
    order = np.lexsort((names, -scores))[:limit]
    return [
        Scored(id.decode("ascii"), score)
        for id, score in zip(names[order].tolist(), scores[order].tolist(), strict=True)
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
