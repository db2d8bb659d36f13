"""Pure scoring on arrays: relevance, recency, evidence, near-duplicates, budget.

Every function takes arrays of one length n (one entry per candidate) and returns an array of
that length, so that it can be tested and tuned without a store. The weights are one dataclass;
`evals/` tunes it, users do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """The numbers that decide what comes back. See docs/design.md for where each comes from."""

    #: how much being about the task's goal and constraints counts beside being about the query, 0..1
    task_fit: float = 0.7
    #: share of recency in the score
    recency: float = 0.1
    #: per day: half in 14 days
    decay_per_day: float = 0.05
    #: per day, for preferences and constraints: half in 69 days
    slow_decay_per_day: float = 0.01
    #: cosine that two unrelated texts of one language have, and how much lower it is across languages
    cosine_floor: float = 0.30
    cross_language_shift: float = 0.06
    #: evidence of each 1.0 of cosine, and of each 1.0 of rare-word coverage
    cosine_slope: float = 10.0
    coverage_slope: float = 10.0
    #: evidence of speaking about the topic that is asked about, and against one that speaks of others only
    #: and of being filed under that topic
    topic_other: float = -1.0
    topic_shared: float = 1.2
    topic_filed: float = 3.0
    #: evidence at which a text is as likely relevant as not, and the width of the transition
    middle: float = 2.0
    width: float = 1.6
    #: relevance below this is not returned, 0..1
    cut: float = 0.48
    #: relevance below this share of the best one is not returned, 0..1
    cut_share: float = 0.65
    #: cosine from which two hits count as the same thing said twice
    duplicate_cosine: float = 0.93


WEIGHTS = Weights()


def logistic(x: Floats) -> Floats:
    """1 / (1 + e^-x), in (0, 1)."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50, 50)))


def word_weights(containing: Sequence[int], total: int) -> Floats:
    """Inverse document frequency of query words (Robertson & Spärck Jones, as in BM25).

    Args:
        containing: number of memories that contain each word.
        total: number of memories.

    Returns:
        log(1 + (N - n + 0.5) / (n + 0.5)), > 0; larger is rarer.
    """
    n = np.asarray(containing, dtype=np.float64)
    return np.log1p((np.maximum(total, n) - n + 0.5) / (n + 0.5))


def relevance(
    cosine: Floats,
    coverage: Floats,
    *,
    topic: NDArray[np.int64],
    cross_language: NDArray[np.bool_],
    weights: Weights = WEIGHTS,
) -> Floats:
    """How likely each candidate is about what was asked, judged by meaning and by words.

    Evidence adds up, so that a strong path is not diluted by a silent one: rare words in common
    weigh most, closeness of meaning carries what is said in other words.

    Args:
        cosine: of query and memory, -1..1; NaN where there is no vector.
        coverage: share of the query's words that the memory contains, weighted by idf, 0..1.
        topic: 2 where the memory is filed under a topic that is asked about, 1 where it speaks of one,
            -1 where it speaks of others only, 0 where nothing can be said.
        cross_language: whether query and memory are in different languages.

    Returns:
        0..1, logistic in the sum of the evidence.
    """
    floor = weights.cosine_floor - weights.cross_language_shift * cross_language
    by_meaning = np.where(np.isnan(cosine), 0.0, weights.cosine_slope * (np.nan_to_num(cosine) - floor))
    by_topic = np.array([0.0, weights.topic_shared, weights.topic_filed, weights.topic_other])[topic]
    evidence = by_meaning + weights.coverage_slope * coverage + by_topic
    return logistic((evidence - weights.middle) / weights.width)


def recency(days: Floats, slow: NDArray[np.bool_], *, weights: Weights = WEIGHTS) -> Floats:
    """exp(-lambda * days): 1 for today, 0.5 after 14 days, or after 69 where `slow`."""
    rate = np.where(slow, weights.slow_decay_per_day, weights.decay_per_day)
    return np.exp(-rate * np.maximum(days, 0.0))


def usefulness(helped: Floats, harmed: Floats) -> Floats:
    """Mean of the Beta(1 + helped, 1 + harmed) posterior, 0..1; 0.5 when nothing is known."""
    return (helped + 1.0) / (helped + harmed + 2.0)


def score(fit: Floats, recent: Floats, evidence: Floats, *, weights: Weights = WEIGHTS) -> Floats:
    """The number that hits are ordered by.

    Args:
        fit: relevance to query and task, 0..1.
        recent: from `recency`, 0..1.
        evidence: product of the factors for standing, trust, basis, confidence and usefulness, > 0.
    """
    return fit * ((1.0 - weights.recency) + weights.recency * recent) * evidence


def keep(relevant: Floats, *, weights: Weights = WEIGHTS) -> NDArray[np.bool_]:
    """Which candidates pass the cut: relevant enough in themselves and beside the best one."""
    if relevant.size == 0:
        return np.zeros(0, dtype=np.bool_)
    return relevant >= max(weights.cut, weights.cut_share * float(relevant.max()))


def without_near_duplicates(
    order: Sequence[int],
    vectors: Sequence[NDArray[np.float32] | None],
    terms: Mapping[int, frozenset[str]],
    threshold: float,
) -> list[int]:
    """Drop what repeats a better hit.

    Args:
        order: candidate positions, best first.
        vectors: unit vector of each candidate, or None.
        terms: numbers, names and identifiers by position; where these differ, nothing is a repeat.
        threshold: cosine from which two candidates are the same.
    """
    kept: list[int] = []
    for position in order:
        vector = vectors[position]
        repeats = any(
            terms[position] == terms[other] and vector is not None and _cosine(vector, vectors[other]) >= threshold
            for other in kept
        )
        if not repeats:
            kept.append(position)
    return kept


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32] | None) -> float:
    return float(a @ b) if b is not None else -1.0


def within_budget(costs: Sequence[int], budget: int, k: int) -> int:
    """How many of the first items fit: at most `k`, together at most `budget` tokens.

    The first one always fits, so that a small budget never turns an answer into silence.
    """
    total = 0
    for position, cost in enumerate(costs[:k]):
        total += cost
        if total > budget and position > 0:
            return position
    return min(k, len(costs))
