"""How each candidate fits a question: what is noticed of it, made into one relevance in 0..1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit import rank, text
from afterwit.answers import asks_something
from afterwit.dates import TimeRange
from afterwit.recall.asking import Asked, Candidates, Question, neighbours_among, parts_of, sides_of
from afterwit.recall.reranking import NOBODY, SecondOpinion
from afterwit.recall.signals import Text, observe, observe_task, overlaps
from afterwit.records import Kind, Memory
from afterwit.storage import Reader


@dataclass(frozen=True)
class Judgement:
    """How the candidates fit, position by position."""

    #: to query and task, 0..1
    fit: rank.Floats
    #: whether they pass the cut
    passed: NDArray[np.bool_]
    #: what the fit was made of
    why: list[dict[str, float]]


@dataclass(frozen=True)
class Aids:
    """What judging may use beside the words and vectors."""

    #: the time that the query names
    when: TimeRange | None = None
    second_opinion: SecondOpinion = NOBODY


def judge(reader: Reader, space: str, question: Question, found: Candidates, asked: Asked, aids: Aids) -> Judgement:
    """How every candidate fits query and task."""

    def seen(words: str, vector: NDArray[np.float32] | None) -> rank.Floats:
        return observe(reader, space, question, found, Text(words, vector), aids.when)

    memories = found.memories
    signals = seen(question.query, asked.query[0])
    evidence = _evidence(signals, memories)
    for part, vector in zip(parts_of(question.query)[1:], asked.query[1:], strict=True):
        evidence = np.maximum(evidence, _evidence(seen(part, vector), memories))
    evidence = _handed_on(evidence, found)
    relevance, opinion = _with_opinion(question, found, signals, rank.relevance(evidence), aids)
    is_question = asks_something(question.query)
    distance = rank.WEIGHTS.cut_distance if is_question else rank.WEIGHTS.heading_distance
    passed, fit = _passing(relevance, memories, distance), relevance
    task: rank.Floats | None = None
    if question.task_text:
        task, named = _for_task(reader, space, found, Text(question.task_text, asked.task))
        wanted = rank.keep(task, distance=rank.WEIGHTS.task_distance)
        if is_question and bool(passed.any()):
            # Who gets an answer wants nothing beside it but what a side of the task names outright.
            wanted &= named >= rank.WEIGHTS.task_named
        passed |= wanted
        # The task lifts what the query alone would miss; it never sinks a plain answer.
        fit = 1.0 - (1.0 - relevance) * (1.0 - rank.WEIGHTS.task_fit * task)
    why: list[dict[str, float]] = [dict(paths) for paths in found.paths]
    for place in range(len(why)) if question.exhaustive else map(int, np.flatnonzero(passed)):
        why[place] |= _told(signals[place]) | _cosine(asked, found.vectors[place])
        why[place]["relevance"] = float(relevance[place])
        if task is not None:
            why[place]["task_fit"] = float(task[place])
        if opinion is not None and not np.isnan(opinion[place]):
            why[place]["reranker"] = float(opinion[place])
    return Judgement(fit, passed, why)


def _passing(relevance: rank.Floats, memories: Sequence[Memory], distance: float) -> NDArray[np.bool_]:
    """Which candidates pass the cut. Where turns of a conversation are the answer, less likely ones come with them:
    each is a part of what was said, and what it means stands in others."""
    passed = rank.keep(relevance, distance=distance)
    turns = np.array([bool(places) for places in neighbours_among(memories)], dtype=np.bool_)
    if bool(passed.any()) and bool(turns[passed].all()):
        passed |= turns & (relevance >= rank.WEIGHTS.turn_cut)
    return passed


def _for_task(reader: Reader, space: str, found: Candidates, task: Text) -> tuple[rank.Floats, rank.Floats]:
    """How likely each memory matters to a task or to a side of it, and the most of a side's words that it says.

    What tells how to act matters to a task sooner than what is merely so, and what is to be done at such a task most.
    """
    memories = found.memories
    evidence, named = np.full(len(memories), -np.inf), np.zeros(len(memories))
    for signals in observe_task(reader, space, found, task, sides_of(task.words)):
        evidence = np.maximum(evidence, _evidence(signals, memories))
        named = np.maximum(named, rank.said(signals))
    advises = np.array([memory.kind is not Kind.FACT for memory in memories], dtype=np.float64)
    intended = np.array([memory.kind is Kind.INTENT for memory in memories], dtype=np.float64)
    evidence += rank.WEIGHTS.task_advice * advises + rank.WEIGHTS.task_intent * intended
    return rank.relevance(_handed_on(evidence, found)), named


def _with_opinion(
    question: Question, found: Candidates, signals: rank.Floats, relevance: rank.Floats, aids: Aids
) -> tuple[rank.Floats, rank.Floats | None]:
    """Relevance with what a reranker says of the candidates, and what it says; NaN of those that it did not read."""
    when, memories = aids.when, found.memories
    if when is not None and not text.query_tokens(question.query.replace(when.phrase, " ")):
        # Nothing but a time was asked: what happened or held then is the answer.
        return np.where([overlaps(memory, when) for memory in memories], 0.9, 0.0), None
    read = [place for place in range(len(memories)) if place not in found.replaced]
    said = aids.second_opinion.of(question.query, [memories[place] for place in read], relevance[read])
    if said is None:
        return relevance, None
    opinion = np.full(len(memories), np.nan)
    opinion[read] = said
    # It sees the words of what replaced another alone, which may not tell what both are about.
    opinion[list(found.replaced.values())] = np.nan
    both = rank.with_second_opinion(relevance, opinion)
    # A reranker takes names and codes for words among others: what is about another one is not lifted.
    return np.where(rank.is_about_another(signals), np.minimum(relevance, both), both), opinion


def _handed_on(evidence: rank.Floats, found: Candidates) -> rank.Floats:
    """Evidence with what speaks for a memory that was replaced counted for what replaced it, and no more for itself."""
    for old, new in found.replaced.items():
        evidence[new] = max(evidence[new], evidence[old] - rank.WEIGHTS.replaced)
    evidence[list(found.replaced)] = -np.inf
    return evidence


def _cosine(asked: Asked, vector: NDArray[np.float32] | None) -> dict[str, float]:
    query = asked.query[0]
    return {} if query is None or vector is None else {"cosine": float(query @ vector)}


def _told(row: rank.Floats) -> dict[str, float]:
    told = {name: float(value) for name, value in zip(rank.SIGNALS, row, strict=True) if value}
    return {"coverage": 0.0, **told}


def _evidence(signals: rank.Floats, memories: Sequence[Memory]) -> rank.Floats:
    """Evidence of each; a turn means what it means beside its neighbours: an answer need not repeat the question."""
    beside = neighbours_among(memories)
    turns = np.array([bool(places) for places in beside], dtype=np.bool_)
    if not turns.any():
        return rank.evidence(signals)
    evidence = rank.evidence(signals, turn=turns)
    above = np.maximum(evidence - rank.WEIGHTS.background, 0.0)
    added = [sum(above[place] for place in places) for places in beside]
    return evidence + rank.WEIGHTS.neighbours * np.array(added, dtype=np.float64)
