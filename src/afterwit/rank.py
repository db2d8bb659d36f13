"""Pure scoring on arrays: relevance, recency, evidence, near-duplicates, budget.

Every function takes arrays of one length n (one entry per candidate) and returns an array of
that length, so that it can be tested and tuned without a store. The weights are one dataclass;
`evals/` tunes it, users do not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SignalWeights:
    """What each signal adds to the evidence, as a change of the log-odds; fitted by `evals/fit_relevance.py`.

    The names are those of the columns that `evidence` takes, in this order. Flags are 0 or 1.
    """

    #: flag: it has no vector, or the query has none, so that words alone must tell
    no_vector: float = 0.80
    #: how likely it is the answer by its vector (`afterwit.reading`), in log-odds; how far that is above the best of
    #: the others, and above there being none, at 0; and the same by its words
    whole_answers: float = 0.28
    whole_answers_by: float = 0.43
    words_answer: float = 0.24
    words_answer_by: float = 0.10
    #: share of the query's words by rarity that it has, names of known subjects left out; that it says in another
    #: word or language; and that it has something of the same field for, all 0..1, in these proportions
    coverage: float = 1.39
    concept_coverage: float = 1.11
    field_coverage: float = 0.42
    #: how far the three together are above the best of the others; flag: there is no such share
    most_in_common_by: float = 3.13
    nothing_in_common: float = -0.29
    #: flag: it says of the other one what is asked of somebody
    turned: float = -5.00
    #: flag: it is filed under the topic that is asked about
    topic_filed: float = 1.21
    #: flag: it is filed under another topic, and does not speak of the one that is asked about
    other_topic: float = -2.80
    #: flags: it lacks what this kind of question asks for (a time, a number); it cannot be the answer
    other_kind: float = -1.03
    no_answer: float = -0.88
    #: flags: a failure or lesson, and what is asked about went wrong; a rule or wish, and that is what is asked for
    is_failure: float = 0.82
    is_rule: float = 0.77
    #: flags: it is about somebody else than who is named (2 where it is filed as what is asked about); about nobody in
    #: particular
    other_name: float = -4.66
    no_name: float = -2.49
    #: flags: it has the code or identifier that is asked about; it has not
    same_code: float = 1.60
    other_code: float = -3.94
    #: flag: advice on the tool or service that is named: its words tell of a fault, the question of a purpose
    same_tool: float = 3.00
    #: flags: it lacks a name that is asked about, which other memories have; which no memory has
    lacks_name: float = -0.32
    unknown_name: float = -0.25
    #: flags: it happened in the time that is asked about or names it; it neither did nor held then
    in_time: float = 0.74
    out_of_time: float = -0.62
    #: evidence of a memory of which nothing at all is noticed
    base: float = -0.38


#: Names of the signals, in the order of their columns.
SIGNALS = tuple(field.name for field in fields(SignalWeights) if field.name != "base")

_BY_WORDS = (
    "coverage",
    "concept_coverage",
    "field_coverage",
    "most_in_common_by",
    "words_answer_by",
)
#: What a turn need not have: it is understood beside its neighbours.
_NOT_OF_TURNS = ("nothing_in_common", "no_answer")


@dataclass(frozen=True)
class Weights:
    """The numbers that decide what comes back. See docs/design.md for where each comes from."""

    signals: SignalWeights = SignalWeights()
    #: turns of a conversation: how much more words in common say of one, whose meaning vectors catch poorly; what is
    #: added to its evidence, which then counts by this share, since an answer is spread over several
    turn_coverage: float = 2.0
    turn_base: float = 2.34
    turn_share: float = 0.67
    #: share of the evidence above the background for the turns before and after that a turn shares in
    neighbours: float = 0.4
    background: float = -2.0
    #: evidence that is one unit of standing
    steepness: float = 2.0
    #: relevance below this is not returned, 0..1
    cut: float = 0.5
    #: the same for turns of a conversation beside others that are the answer
    turn_cut: float = 0.3
    #: standing this far below the best one is not returned
    cut_distance: float = 1.2
    #: the same for what is no question, such as a name: whoever looks that up wants what there is
    heading_distance: float = 2.5
    #: how much being about the task's goal and constraints counts beside being about the query, 0..1, and how far
    #: below the best one for the task a memory may stand: a task has several sides
    task_fit: float = 0.7
    task_distance: float = 2.0
    #: evidence for a task that a memory gains for telling how to act, and for being meant for such a task
    task_advice: float = 1.0
    task_intent: float = 1.0
    #: share of the words of a side of the task that a memory says, 0..1, to stand beside the answer to a question
    task_named: float = 0.75
    #: evidence that is lost from a memory to what has replaced it
    replaced: float = 0.5
    #: share of a reranker's opinion in the log-odds of relevance (`evals.bench_reranker`), and how sure it may be at
    #: most: against one that is sure of the contrary, only evidence of 0.93 and more stands
    reranker: float = 0.4
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


def word_weights(containing: "Sequence[float] | Floats", total: int) -> Floats:
    """Inverse document frequency of query words (Robertson & Spärck Jones, as in BM25).

    Args:
        containing: number of memories that contain each word.
        total: number of memories.

    Returns:
        log(1 + (N - n + 0.5) / (n + 0.5)), > 0; larger is rarer.
    """
    n = np.asarray(containing, dtype=np.float64)
    return np.log1p((np.maximum(total, n) - n + 0.5) / (n + 0.5))


def evidence(signals: Floats, *, turn: NDArray[np.bool_] | None = None, weights: Weights = WEIGHTS) -> Floats:
    """What speaks for each candidate being about what was asked: all that was noticed of it, weighed and added up.

    Adding keeps a strong signal from being diluted by a silent one.

    Args:
        signals: shape (n, len(SIGNALS)).
        turn: which candidates are turns of a conversation; None = none.

    Returns:
        Log-odds of being an answer: about -6 for unrelated texts, 0 at the edge, 3 and more for plain answers.
    """
    each, of_turns, base = _arrays(weights)
    found = signals @ each + base
    if turn is None:
        return found
    return np.where(turn, weights.turn_share * (signals @ of_turns + base + weights.turn_base), found)


@lru_cache(maxsize=8)
def _arrays(weights: Weights) -> tuple[Floats, Floats, float]:
    each = np.array([getattr(weights.signals, name) for name in SIGNALS])
    more = [weights.turn_coverage if name in _BY_WORDS else 0.0 if name in _NOT_OF_TURNS else 1.0 for name in SIGNALS]
    return each, each * np.array(more), weights.signals.base


def said(signals: Floats) -> Floats:
    """Share of what was asked that each candidate says, in the same or in another word, 0..1."""
    return signals[:, SIGNALS.index("coverage")] + signals[:, SIGNALS.index("concept_coverage")]


def is_about_another(signals: Floats) -> NDArray[np.bool_]:
    """Which candidates are about somebody or some code other than was named."""
    columns = [SIGNALS.index(name) for name in ("other_name", "no_name", "other_code")]
    return np.max(signals[:, columns], axis=1, initial=0.0) > 0


def relevance(found: Floats) -> Floats:
    """How likely each candidate answers, 0..1, by its evidence."""
    return logistic(found)


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
