"""Scoring on arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit import rank

SHARE = st.floats(0, 1)
READ = st.floats(-6, 6)


def signals(**noticed: float) -> rank.Floats:
    """One candidate of which this is noticed."""
    assert noticed.keys() <= set(rank.SIGNALS)
    return np.array([[noticed.get(name, 0.0) for name in rank.SIGNALS]])


def evidence_of(**noticed: float) -> float:
    return float(rank.evidence(signals(**noticed))[0])


@pytest.mark.parametrize("signal", ["coverage", "concept_coverage", "field_coverage"])
@given(SHARE, SHARE)
def test_more_in_common_is_more_evidence(signal: str, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert evidence_of(**{signal: low}) <= evidence_of(**{signal: high})


@pytest.mark.parametrize("signal", ["whole_answers", "whole_answers_by", "words_answer_by"])
@given(READ, READ)
def test_what_a_reader_takes_for_an_answer_is_more_evidence(signal: str, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert evidence_of(**{signal: low}) <= evidence_of(**{signal: high})


def test_the_word_itself_and_its_synonym_say_more_than_a_word_of_the_same_field() -> None:
    assert evidence_of(concept_coverage=1) > evidence_of(field_coverage=1)


def test_other_names_codes_and_kinds_of_answers_speak_against() -> None:
    for against in (
        "turned",
        "other_name",
        "no_name",
        "other_code",
        "no_answer",
        "other_kind",
        "unknown_name",
        "out_of_time",
    ):
        assert evidence_of(**{against: 1}) < evidence_of()


def test_what_is_about_another_is_known_as_such() -> None:
    rows = np.vstack([signals(other_name=1), signals(other_code=1), signals(coverage=1, same_code=1)])
    assert rank.is_about_another(rows).tolist() == [True, True, False]


@given(st.lists(st.floats(-8, 20), min_size=1, max_size=40))
def test_relevance_rises_with_the_evidence_within_zero_and_one(found: list[float]) -> None:
    values = rank.relevance(np.array(found))
    assert ((values >= 0) & (values <= 1)).all()
    order = np.argsort(found, kind="stable")
    assert (np.diff(values[order]) >= 0).all()


def test_strong_path_is_not_diluted_by_a_silent_one() -> None:
    by_words = evidence_of(coverage=1, words_answer_by=3, most_in_common_by=0.6)
    by_meaning = evidence_of(whole_answers=5, whole_answers_by=3, nothing_in_common=1)
    assert min(by_words, by_meaning) > 0


def test_nothing_noticed_is_not_relevant() -> None:
    assert not rank.keep(rank.relevance(rank.evidence(signals(nothing_in_common=1, whole_answers=-2)))).any()


def test_words_say_more_of_a_turn_whose_meaning_is_caught_poorly() -> None:
    noticed = signals(coverage=0.5, most_in_common_by=0.3)
    as_turn = rank.evidence(noticed, turn=np.array([True]))
    assert as_turn[0] > rank.evidence(noticed)[0]


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
