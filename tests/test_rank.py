"""Scoring on arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit import rank

SHARE = st.floats(0, 1)
COSINE = st.floats(-1, 1)


NONE = np.zeros(1, int)


def one(value: float) -> rank.Floats:
    return np.array([value])


def same(flag: bool) -> np.ndarray:
    return np.array([flag])


@given(COSINE, SHARE, st.booleans())
def test_relevance_lies_between_zero_and_one(cosine: float, coverage: float, foreign: bool) -> None:
    value = rank.relevance(one(cosine), one(coverage), topic=NONE, cross_language=same(foreign))[0]
    assert 0 <= value <= 1


@given(COSINE, SHARE, SHARE)
def test_more_words_in_common_never_lower_relevance(cosine: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    values = rank.relevance(
        np.array([cosine] * 2), np.array([low, high]), topic=np.zeros(2, int), cross_language=np.zeros(2, bool)
    )
    assert values[0] <= values[1] + 1e-12


@given(SHARE, COSINE, COSINE)
def test_closer_meaning_never_lowers_relevance(coverage: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    values = rank.relevance(
        np.array([low, high]), np.array([coverage] * 2), topic=np.zeros(2, int), cross_language=np.zeros(2, bool)
    )
    assert values[0] <= values[1] + 1e-12


def test_strong_path_is_not_diluted_by_a_silent_one() -> None:
    by_words = rank.relevance(np.array([np.nan]), one(1.0), topic=NONE, cross_language=same(False))[0]
    by_meaning = rank.relevance(one(0.95), one(0.0), topic=NONE, cross_language=same(False))[0]
    assert by_words > rank.WEIGHTS.cut
    assert by_meaning > rank.WEIGHTS.cut


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
    assert rank.keep(np.array([0.95, 0.9, 0.45])).tolist() == [True, True, False]


def test_near_duplicates_are_dropped_but_not_other_numbers() -> None:
    vector = np.array([1.0, 0.0], dtype=np.float32)
    terms = {0: frozenset({"101"}), 1: frozenset({"101"}), 2: frozenset({"102"})}
    kept = rank.without_near_duplicates([0, 1, 2], [vector] * 3, terms, 0.9)
    assert kept == [0, 2]


@given(st.lists(st.integers(1, 500), max_size=20), st.integers(1, 1000), st.integers(1, 20))
def test_budget_is_kept_and_the_first_always_fits(costs: list[int], budget: int, k: int) -> None:
    taken = rank.within_budget(costs, budget, k)
    assert taken <= min(k, len(costs))
    assert taken >= min(1, len(costs))
    assert taken <= 1 or sum(costs[:taken]) <= budget
