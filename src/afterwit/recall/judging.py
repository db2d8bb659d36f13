"""How each candidate fits a question: evidence for and against, made into one relevance in 0..1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit import meaning, rank, text
from afterwit.dates import TimeRange
from afterwit.matters import names_tool
from afterwit.recall.asking import Asked, Candidates, Question, neighbours_of, parts_of
from afterwit.recall.reranking import NOBODY, SecondOpinion
from afterwit.records import Memory
from afterwit.spelling import spellings
from afterwit.storage import Reader
from afterwit.traits import Traits, is_code

#: Words for the user stand in most memories and questions and tell little apart; the key "subject" does.
_SUBJECT_WORDS = frozenset(text.index_tokens("user 用户"))
_SUBJECT_WORD_SHARE = 0.15


@dataclass(frozen=True)
class Judgement:
    """How the candidates fit, position by position."""

    #: to query and task, 0..1
    fit: rank.Floats
    #: whether they pass the cut
    passed: NDArray[np.bool_]
    #: what the fit was made of
    why: list[dict[str, float]]


def _topic_fit(asked: Traits, told: Sequence[Traits], memories: Sequence[Memory]) -> NDArray[np.int64]:
    """How the topics of each memory meet those of a text, as `rank.relevance` takes it."""

    def fit(memory: Memory, traits: Traits) -> int:
        if not asked.topics:
            return 0
        if memory.topic in asked.topics:
            return 2
        if traits.speaks_of(asked.topics):
            return 1
        return -1 if memory.topic or traits.has_topic else 0

    return np.array([fit(memory, traits) for memory, traits in zip(memories, told, strict=True)], dtype=np.int64)


def _coverage(reader: Reader, space: str, words: str, found: Candidates) -> rank.Floats:
    """Share of the text's words, by rarity, that each memory contains, in their own or another spelling of the
    same thing (k8s, Kubernetes); zeros when the text has none."""
    tokens = text.query_tokens(words)
    if not tokens:
        return np.zeros(len(found.traits))
    spelled = spellings(tokens, found.groups)
    statistics = reader.word_statistics(space, tokens)
    weights = rank.word_weights([statistics.containing.get(token, 0) for token in tokens], statistics.total)
    weights = weights * np.array([_SUBJECT_WORD_SHARE if token in _SUBJECT_WORDS else 1.0 for token in tokens])
    present = np.array([_present(traits, tokens, spelled) for traits in found.traits], dtype=np.float64)
    return present @ weights / weights.sum()


def _present(told: Traits, tokens: Sequence[str], spelled: Mapping[str, Sequence[frozenset[str]]]) -> list[bool]:
    """Which of the tokens a text has, in their own or another spelling."""
    known = told.tokens
    return [token in known or (token in spelled and any(name <= known for name in spelled[token])) for token in tokens]


def _cosines(query: NDArray[np.float32] | None, vectors: Sequence[NDArray[np.float32] | None]) -> rank.Floats:
    if query is None:
        return np.full(len(vectors), np.nan)
    return np.array([float(query @ vector) if vector is not None else np.nan for vector in vectors])


def _with_neighbours(evidence: rank.Floats, memories: Sequence[Memory]) -> rank.Floats:
    """A turn means what it means beside its neighbours: a question's answer need not repeat its words."""
    places = {memory.id: position for position, memory in enumerate(memories)}
    above = np.maximum(evidence - rank.WEIGHTS.background, 0.0)
    added = [sum(above[places[id]] for id in neighbours_of(memory) if id in places) for memory in memories]
    return evidence + rank.WEIGHTS.neighbours * np.array(added, dtype=np.float64)


def _evidence_for(
    reader: Reader, space: str, words: str, vector: NDArray[np.float32] | None, found: Candidates
) -> tuple[rank.Floats, list[dict[str, float]]]:
    """What speaks for each candidate being about a text, and what that was made of."""
    asked = Traits(words)
    cosine = _cosines(vector, found.vectors)
    closeness = meaning.closeness(cosine, found.vectors, found.models)
    coverage = _coverage(reader, space, words, found)
    topic = _topic_fit(asked, found.traits, found.memories)
    foreign = np.array([traits.language != asked.language for traits in found.traits], dtype=np.bool_)
    parts = [
        {"cosine": 0.0 if np.isnan(c) else float(c), "coverage": float(v), "topic": float(t)}
        for c, v, t in zip(cosine, coverage, topic, strict=True)
    ]
    said = np.array([rank.WEIGHTS.turn_coverage if neighbours_of(memory) else 1.0 for memory in found.memories])
    evidence = rank.evidence(closeness, coverage * said, topic=topic, cross_language=foreign)
    return _with_neighbours(evidence, found.memories), parts


@dataclass(frozen=True)
class Aids:
    """What judging may use beside the words and vectors."""

    #: the time that the query names
    when: TimeRange | None = None
    second_opinion: SecondOpinion = NOBODY


def judge(reader: Reader, space: str, question: Question, found: Candidates, asked: Asked, aids: Aids) -> Judgement:
    """How every candidate fits query and task."""
    when = aids.when
    evidence, parts = _evidence_for(reader, space, question.query, asked.query[0], found)
    for part, vector in zip(parts_of(question.query)[1:], asked.query[1:], strict=True):
        evidence = np.maximum(evidence, _evidence_for(reader, space, part, vector, found)[0])
    for_it, against = _names(reader, space, question.query, found)
    evidence = evidence + for_it
    if when is not None:
        evidence = evidence + np.array([_IN_TIME if _overlaps(m, when) else _OUT_OF_TIME for m in found.memories])
    relevance = rank.relevance(evidence, against=against)
    opinion: rank.Floats | None = None
    if when is not None and not text.query_tokens(_without(question.query, when)):
        # Nothing but a time was asked: what happened or held then is the answer.
        relevance = np.where([_overlaps(memory, when) for memory in found.memories], 0.9, 0.0)
    else:
        opinion = aids.second_opinion.of(question.query, found.memories, relevance)
    if opinion is not None:
        both = rank.with_second_opinion(relevance, opinion)
        # A reranker takes names and codes for words among others: what is about another one is not lifted.
        relevance = np.where(against > 0, np.minimum(relevance, both), both)
    fit = relevance
    why = [
        {**paths, **part, "relevance": float(value)}
        for paths, part, value in zip(found.paths, parts, relevance, strict=True)
    ]
    if opinion is not None:
        for place in np.flatnonzero(~np.isnan(opinion)):
            why[place]["reranker"] = float(opinion[place])
    passed = rank.keep(relevance)
    if question.task_text:
        task = rank.relevance(_evidence_for(reader, space, question.task_text, asked.task, found)[0])
        passed |= rank.keep(task, distance=rank.WEIGHTS.task_distance)
        # The task lifts what the query alone would miss; it never sinks a plain answer.
        fit = 1.0 - (1.0 - relevance) * (1.0 - rank.WEIGHTS.task_fit * task)
        for entry, value in zip(why, task, strict=True):
            entry["task_fit"] = float(value)
    return Judgement(fit, passed, why)


def _without(query: str, when: TimeRange | None) -> str:
    return query.replace(when.phrase, " ") if when is not None else query


#: Standing lost by a memory about somebody else than the one who is named, or about nobody in particular
#: without naming them.
_OTHER_PERSON = 3.0
_NOBODY = 1.5
#: Evidence for a memory with a code or identifier that is asked about, and standing lost by one without.
_SAME_CODE, _OTHER_CODE = 3.0, 2.5
#: Evidence for advice on the tool or service that is named: its words tell of a fault, the question of a purpose.
_SAME_TOOL = 3.0

#: Evidence of having happened or held in the time that is asked about, and against what did not.
_IN_TIME = 1.5
_OUT_OF_TIME = -2.0


def _names(reader: Reader, space: str, query: str, found: Candidates) -> tuple[rank.Floats, rank.Floats]:
    """Evidence for and against: 张三 is not 李四, and a question about one code is not about another."""
    asked = Traits(query)
    named = found.entities.named(asked.folded, reader.known_subjects(space))
    codes = {term for term in asked.hard_terms if is_code(term)}
    spelled = spellings(asked.tokens)
    for_it, against = np.zeros(len(found.memories)), np.zeros(len(found.memories))
    for position, (memory, told) in enumerate(zip(found.memories, found.traits, strict=True)):
        if named and memory.subject not in named and not any(text.mentions(told.folded, name) for name in named):
            against[position] += _OTHER_PERSON if memory.subject else _NOBODY
        if codes and (codes & told.hard_terms or any(_present(told, list(codes), spelled))):
            for_it[position] = _SAME_CODE
        elif codes:
            against[position] += _OTHER_CODE
        if names_tool(asked.folded, memory):
            for_it[position] += _SAME_TOOL
    return for_it, against


def _overlaps(memory: Memory, when: TimeRange) -> bool:
    happened = when.start <= memory.happened_at < when.end
    if happened or (memory.valid_from is None and memory.valid_to is None):
        return happened
    begins = memory.valid_from or memory.happened_at
    return begins < when.end and (memory.valid_to is None or memory.valid_to > when.start)
