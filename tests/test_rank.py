"""Scoring on arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit import rank

SHARE = st.floats(0, 1)
CLOSENESS = st.floats(-15, 15)


NONE = np.zeros(1, int)
NOISE = np.array([-2.0, -2.6, -3.1, -1.7, -2.4, -2.2])


def one(value: float) -> rank.Floats:
    return np.array([value])


def same(flag: bool) -> np.ndarray:
    return np.array([flag])


def evidence_of(closeness: float, coverage: float, topic: int = 0, foreign: bool = False) -> float:
    made = rank.evidence(one(closeness), one(coverage), topic=np.array([topic]), cross_language=same(foreign))
    return float(made[0])


@given(CLOSENESS, SHARE, SHARE, st.booleans())
def test_more_words_in_common_are_more_evidence(closeness: float, low: float, high: float, foreign: bool) -> None:
    low, high = sorted((low, high))
    assert evidence_of(closeness, low, foreign=foreign) <= evidence_of(closeness, high, foreign=foreign)


@given(SHARE, CLOSENESS, CLOSENESS)
def test_closer_meaning_is_more_evidence(coverage: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert evidence_of(low, coverage) <= evidence_of(high, coverage)


def test_topics_that_meet_speak_for_a_memory_and_other_topics_against() -> None:
    assert evidence_of(3, 0, 2) > evidence_of(3, 0, 1) > evidence_of(3, 0, 0) > evidence_of(3, 0, -1)


def test_missing_vector_is_neutral() -> None:
    assert evidence_of(np.nan, 0.5) == evidence_of(rank.WEIGHTS.closeness_floor, 0.5)


@given(st.lists(st.floats(-8, 20), min_size=1, max_size=40))
def test_relevance_rises_with_the_evidence_within_zero_and_one(found: list[float]) -> None:
    values = rank.relevance(np.array(found))
    assert ((values >= 0) & (values <= 1)).all()
    order = np.argsort(found, kind="stable")
    assert (np.diff(values[order]) >= 0).all()


def test_strong_path_is_not_diluted_by_a_silent_one() -> None:
    for strong in (evidence_of(np.nan, 1.0), evidence_of(10, 0.0)):
        assert rank.relevance(np.append(NOISE, strong))[-1] > rank.WEIGHTS.cut


def test_one_plain_answer_in_a_tiny_store_is_relevant_and_noise_is_not() -> None:
    assert rank.relevance(one(evidence_of(6, 0.6)))[0] > rank.WEIGHTS.cut
    assert not rank.keep(rank.relevance(NOISE)).any()


def test_background_of_near_answers_raises_the_bar() -> None:
    alone = rank.relevance(np.append(NOISE, 2.0))[-1]
    among_many = rank.relevance(np.append(NOISE + 3.5, 2.0))[-1]
    assert alone > among_many


def test_what_speaks_against_counts_even_when_all_candidates_lose_it() -> None:
    found = np.append(NOISE, 6.0)
    assert rank.keep(rank.relevance(found)).any()
    assert not rank.keep(rank.relevance(found, against=np.full(7, 8.0))).any()


def test_rare_words_weigh_more_than_common_ones() -> None:
    weights = rank.word_weights([1, 500, 1000], 1000)
    assert weights[0] > weights[1] > weights[2] > 0


def test_recency_halves_in_14_days_and_for_lasting_kinds_in_69() -> None:
    values = rank.recency(np.array([0.0, 13.863, 69.315]), np.array([False, False, True]))
    assert values == pytest.approx([1.0, 0.5, 0.5], abs=1e-3)


def test_usefulness_follows_the_beta_posterior() -> None:
    assert rank.usefulness(np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 3.0])) == pytest.approx([0.5, 0.8, 0.2])


def test_cut_keeps_nothing_when_nothing_is_relevant() -> None:
    assert not rank.keep(np.array([0.1, 0.05])).any()
    assert rank.keep(np.zeros(0)).size == 0


def test_cut_drops_what_is_far_behind_the_best() -> None:
    assert rank.keep(np.array([0.99, 0.985, 0.6])).tolist() == [True, True, False]


def test_equal_fit_is_ordered_by_age_and_evidence_but_clear_fit_wins() -> None:
    fit, recent, trusted = np.array([0.9, 0.9, 0.9, 0.999]), np.array([1.0, 0.0, 1.0, 0.0]), np.array([1, 1, 0.5, 0.9])
    scores = rank.score(fit, recent, trusted)
    assert scores[0] > scores[1]
    assert scores[0] > scores[2]
    assert scores[3] == scores.max()


def test_near_duplicates_are_dropped_but_not_other_numbers() -> None:
    vector = np.array([1.0, 0.0], dtype=np.float32)
    terms = {0: frozenset({"101"}), 1: frozenset({"101"}), 2: frozenset({"102"})}
    kept = rank.without_near_duplicates([0, 1, 2], [vector] * 3, terms.__getitem__, 0.9)
    assert kept == [0, 2]


@given(st.lists(st.integers(1, 500), max_size=20), st.integers(1, 1000), st.integers(1, 20))
def test_budget_is_kept_and_the_first_always_fits(costs: list[int], budget: int, k: int) -> None:
    taken = rank.within_budget(costs, budget, k)
    assert taken <= min(k, len(costs))
    assert taken >= min(1, len(costs))
    assert taken <= 1 or sum(costs[:taken]) <= budget
