"""How each candidate fits a question: what is noticed of it, made into one relevance in 0..1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit import rank, text
from afterwit.dates import TimeRange
from afterwit.recall.asking import Asked, Candidates, Question, neighbours_of, parts_of
from afterwit.recall.reranking import NOBODY, SecondOpinion
from afterwit.recall.signals import Text, observe, overlaps
from afterwit.records import Memory
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

    def seen(words: str, vector: NDArray[np.float32] | None, *, is_question: bool = True) -> rank.Floats:
        return observe(reader, space, question, found, Text(words, vector, is_question), aids.when)

    memories = found.memories
    signals = seen(question.query, asked.query[0])
    evidence = _evidence(signals, memories)
    for part, vector in zip(parts_of(question.query)[1:], asked.query[1:], strict=True):
        evidence = np.maximum(evidence, _evidence(seen(part, vector), memories))
    relevance, opinion = _with_opinion(question, memories, signals, rank.relevance(evidence), aids)
    passed, fit = rank.keep(relevance), relevance
    task: rank.Floats | None = None
    if question.task_text:
        task = rank.relevance(_evidence(seen(question.task_text, asked.task, is_question=False), memories))
        passed |= rank.keep(task, distance=rank.WEIGHTS.task_distance)
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


def _with_opinion(
    question: Question, memories: Sequence[Memory], signals: rank.Floats, relevance: rank.Floats, aids: Aids
) -> tuple[rank.Floats, rank.Floats | None]:
    """Relevance with what a reranker says of the candidates, and what it says."""
    when = aids.when
    if when is not None and not text.query_tokens(question.query.replace(when.phrase, " ")):
        # Nothing but a time was asked: what happened or held then is the answer.
        return np.where([overlaps(memory, when) for memory in memories], 0.9, 0.0), None
    opinion = aids.second_opinion.of(question.query, memories, relevance)
    if opinion is None:
        return relevance, None
    both = rank.with_second_opinion(relevance, opinion)
    # A reranker takes names and codes for words among others: what is about another one is not lifted.
    return np.where(rank.is_about_another(signals), np.minimum(relevance, both), both), opinion


def _cosine(asked: Asked, vector: NDArray[np.float32] | None) -> dict[str, float]:
    query = asked.query[0]
    return {} if query is None or vector is None else {"cosine": float(query @ vector)}


def _told(row: rank.Floats) -> dict[str, float]:
    told = {name: float(value) for name, value in zip(rank.SIGNALS, row, strict=True) if value}
    return {"coverage": 0.0, **told}


def _evidence(signals: rank.Floats, memories: Sequence[Memory]) -> rank.Floats:
    """Evidence of each; a turn means what it means beside its neighbours: an answer need not repeat the question."""
    beside = [neighbours_of(memory) for memory in memories]
    turns = np.array([bool(ids) for ids in beside], dtype=np.bool_)
    if not turns.any():
        return rank.evidence(signals)
    evidence = rank.evidence(signals, turn=turns)
    places = {memory.id: position for position, memory in enumerate(memories)}
    above = np.maximum(evidence - rank.WEIGHTS.background, 0.0)
    added = [sum(above[places[id]] for id in ids if id in places) for ids in beside]
    return evidence + rank.WEIGHTS.neighbours * np.array(added, dtype=np.float64)
