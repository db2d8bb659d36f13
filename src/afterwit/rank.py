"""Pure scoring on arrays: relevance, recency, evidence, near-duplicates, budget.

Every function takes arrays of one length n (one entry per candidate) and returns an array of
that length, so that it can be tested and tuned without a store. The weights are one dataclass;
`evals/` tunes it, users do not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """The numbers that decide what comes back. See docs/design.md for where each comes from."""

    #: closeness that two unrelated texts of one language reach at most, in spreads of the model's scale
    #: (`embedding.scale_of`), and how much lower it is across languages
    closeness_floor: float = 2.85
    cross_language_shift: float = 2.3
    #: evidence of each spread above the floor, and of each 1.0 of rare-word coverage
    closeness_slope: float = 0.66
    coverage_slope: float = 7.0
    #: evidence of speaking about the topic that is asked about, and against one that speaks of others only,
    #: and of being filed under that topic
    topic_other: float = -0.7
    topic_shared: float = 1.5
    topic_filed: float = 3.0
    #: how much more words in common say of a turn of a conversation, whose meaning vectors catch poorly
    turn_coverage: float = 2.0
    #: share of the evidence for the turns before and after that a turn of a conversation shares in
    neighbours: float = 0.3
    #: evidence of an unrelated text and its spread; such texts fill up the background of a small store to this size
    background: float = -2.5
    background_spread: float = 1.2
    background_size: int = 24
    #: added to the candidates' spread, so that small differences among equals do not count as standing out
    least_spread: float = 0.5
    #: share of the evidence itself beside standing out from the others
    absolute: float = 0.3
    #: standing at which a text is as likely relevant as not, and the steepness of the transition
    middle: float = 2.6
    steepness: float = 1.5
    #: relevance below this is not returned, 0..1
    cut: float = 0.5
    #: standing this far below the best one is not returned
    cut_distance: float = 1.2
    #: how much being about the task's goal and constraints counts beside being about the query, 0..1, and how far
    #: below the best one for the task a memory may stand: a task has several sides
    task_fit: float = 0.7
    task_distance: float = 1.6
    #: share of a reranker's opinion in the log-odds of relevance, and how sure it may be at most: against one that is
    #: sure of the contrary, only evidence of 0.997 and more stands
    reranker: float = 0.6
    reranker_most: float = 0.98
    #: standing that something of today has over something long ago
    recency: float = 0.3
    #: standing lost by each halving of the evidence factor (external source, pending, harmful)
    evidence: float = 1.5
    #: per day: half in 14 days
    decay_per_day: float = 0.05
    #: per day, for preferences and constraints: half in 69 days
    slow_decay_per_day: float = 0.01
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


def evidence(
    closeness: Floats,
    coverage: Floats,
    *,
    topic: NDArray[np.int64],
    cross_language: NDArray[np.bool_],
    weights: Weights = WEIGHTS,
) -> Floats:
    """What speaks for each candidate being about what was asked: meaning, words and topic, added up.

    Adding keeps a strong path from being diluted by a silent one: rare words in common weigh most,
    closeness of meaning carries what is said in other words.

    Args:
        closeness: cosine of query and memory in spreads above that of unrelated texts (`Scale.spreads`);
            NaN where there is no vector.
        coverage: share of the query's words that the memory contains, weighted by idf, 0..1.
        topic: 2 where the memory is filed under a topic that is asked about, 1 where it speaks of one,
            -1 where it speaks of others only, 0 where nothing can be said.
        cross_language: whether query and memory are in different languages.

    Returns:
        About -2.5 for unrelated texts, 0 at the edge, 5 and more for plain answers.
    """
    floor = weights.closeness_floor - weights.cross_language_shift * cross_language
    by_meaning = np.where(np.isnan(closeness), 0.0, weights.closeness_slope * (np.nan_to_num(closeness) - floor))
    by_topic = np.array([0.0, weights.topic_shared, weights.topic_filed, weights.topic_other])[topic]
    return by_meaning + weights.coverage_slope * coverage + by_topic


def relevance(found: Floats, *, against: Floats | None = None, weights: Weights = WEIGHTS) -> Floats:
    """How likely each candidate answers, from how far its evidence stands out from the others'.

    A query of everyday words finds something in common with much of a store; only what stands out
    from that background is meant. A few imagined unrelated texts make the background of a small store.

    Args:
        found: evidence of each candidate.
        against: standing that each loses for being about somebody or something else than was named,
            >= 0; it counts in full even when all candidates lose it.

    Returns:
        0..1, rising with the evidence.
    """
    missing = max(4, weights.background_size - found.size)
    imagined = weights.background + np.linspace(-weights.background_spread, weights.background_spread, missing)
    around = np.concatenate([found, imagined])
    stands_out = (found - np.median(around)) / (around.std() + weights.least_spread)
    lost = 0.0 if against is None else against
    return logistic(weights.steepness * (stands_out + weights.absolute * found - lost - weights.middle))


def with_second_opinion(likely: Floats, opinion: Floats, *, weights: Weights = WEIGHTS) -> Floats:
    """Relevance and a reranker's opinion as one: the weighted mean of their log-odds.

    Log-odds, because what one is sure of is not undone by what the other has no opinion on (0.5); the mean, because
    a reranker knows nothing of names, time and topics, and the evidence nothing of how two texts read together.

    Args:
        likely: relevance of each candidate, 0..1.
        opinion: the reranker's, 0..1; NaN where there is none, which leaves the relevance as it is.
    """
    sure = weights.reranker_most
    bounded = np.clip(np.where(np.isnan(opinion), 0.5, opinion), 1 - sure, sure)
    share = np.where(np.isnan(opinion), 0.0, weights.reranker)
    logits = standing(likely, weights=weights) * weights.steepness
    return logistic((1 - share) * logits + share * np.log(bounded / (1 - bounded)))


def standing(likely: Floats, *, weights: Weights = WEIGHTS) -> Floats:
    """Relevance on an open scale, on which differences near 1 still count; 0 at relevance 0.5."""
    bounded = np.clip(likely, 1e-12, 1 - 1e-12)
    return np.log(bounded / (1 - bounded)) / weights.steepness


def recency(days: Floats, slow: NDArray[np.bool_], *, weights: Weights = WEIGHTS) -> Floats:
    """exp(-lambda * days): 1 for today, 0.5 after 14 days, or after 69 where `slow`."""
    rate = np.where(slow, weights.slow_decay_per_day, weights.decay_per_day)
    return np.exp(-rate * np.maximum(days, 0.0))


def usefulness(helped: Floats, harmed: Floats) -> Floats:
    """Mean of the Beta(1 + helped, 1 + harmed) posterior, 0..1; 0.5 when nothing is known."""
    return (helped + 1.0) / (helped + harmed + 2.0)


def score(fit: Floats, recent: Floats, trusted: Floats, *, weights: Weights = WEIGHTS) -> Floats:
    """The number that hits are ordered by; what is about equally relevant goes by age and evidence.

    Args:
        fit: relevance to query and task, 0..1.
        recent: from `recency`, 0..1.
        trusted: product of the factors for standing, trust, basis, confidence and usefulness, > 0;
            0 sinks a candidate to the bottom.
    """
    return standing(fit) + weights.recency * recent + weights.evidence * np.log2(np.maximum(trusted, 1e-6))


def keep(likely: Floats, *, distance: float = WEIGHTS.cut_distance, weights: Weights = WEIGHTS) -> NDArray[np.bool_]:
    """Which candidates pass the cut: relevant enough in themselves, and at most `distance` below the best one."""
    if likely.size == 0:
        return np.zeros(0, dtype=np.bool_)
    near_best = standing(likely) >= standing(likely.max(keepdims=True)) - distance
    return (likely >= weights.cut) & near_best


def without_near_duplicates(
    order: Sequence[int],
    vectors: Sequence[NDArray[np.float32] | None],
    terms: Callable[[int], frozenset[str]],
    threshold: float,
) -> list[int]:
    """Drop what repeats a better hit.

    Args:
        order: candidate positions, best first.
        vectors: unit vector of each candidate, or None.
        terms: gives the numbers, names and identifiers at a position, if asked; where these differ, nothing is a
            repeat.
        threshold: cosine from which two candidates are the same.
    """
    kept: list[int] = []
    for position in order:
        vector = vectors[position]
        repeats = any(
            vector is not None and _cosine(vector, vectors[other]) >= threshold and terms(position) == terms(other)
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
