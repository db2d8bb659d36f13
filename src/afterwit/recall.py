"""Find the few memories that matter now, or say that there is none.

Keys first, in the database; then paths (words, meaning, time, task); then one relevance in 0..1
per candidate, a cut, an order, and as much of it as the budget allows. Every hit says why it is
there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit import meaning, rank, text
from afterwit.dates import TimeRange, find_time_range
from afterwit.embedding import Embedder
from afterwit.entities import Names, Way, is_about, names_of, ways
from afterwit.messages import say
from afterwit.records import (
    GLOBAL,
    KeyFilter,
    Kind,
    LinkType,
    Memory,
    Standing,
    Status,
    Trust,
    short_id,
)
from afterwit.spelling import spellings
from afterwit.storage import Order, Reader
from afterwit.traits import Traits, is_code, traits_of
from afterwit.vocabulary import ALIASES, USER

#: Candidates that each path may bring. The same for every k, so that a larger k never changes the first results.
PATH_LIMIT = 40

#: Candidates that one relation in the question may bring, and what each link takes from their relevance.
_MOST_BY_RELATION = 5
_LINK_FACTOR = 0.9

#: Tokens that one hit costs besides its summary: id, kind, age, standing, trust.
HIT_OVERHEAD_TOKENS = 24

#: Factors on the score. They order what is about equally relevant; only outside knowledge falls far back.
STANDING_FACTOR = {Standing.CONFIRMED: 1.0, Standing.PENDING: 0.96, Standing.REFUTED: 0.0}
TRUST_FACTOR = {Trust.CONFIRMED: 1.0, Trust.USER: 1.0, Trust.AGENT: 0.99, Trust.EXTERNAL: 0.5}

#: Standing gained by a memory of the asking role's own pool, and by one of a scope that was named.
_OWN_POOL = 1.0
_NEAR_SCOPE = 0.1

#: Kinds that stay true for long and fade slowly.
SLOW_KINDS = frozenset({Kind.PREFERENCE, Kind.CONSTRAINT, Kind.RULE})

#: Words for the user stand in most memories and questions and tell little apart; the key "subject" does.
_SUBJECT_WORDS = frozenset(text.index_tokens("user 用户"))
_SUBJECT_WORD_SHARE = 0.15

_PAST_STATUSES = (Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED)


@dataclass(frozen=True)
class Question:
    """One search, with everything that was given validated."""

    query: str
    where: KeyFilter
    now: datetime
    #: the task's goal; counts as much as the query itself
    task_context: str = ""
    #: what has been settled in this task so far
    constraints: tuple[str, ...] = ()
    #: the asking role; its own pool goes before the shared one
    role: str = ""
    k: int = 5
    budget_tokens: int = 800
    #: IANA zone in which "yesterday" is meant; "" = the machine's
    timezone: str = ""
    #: rank every candidate: no cut, no removal of near-duplicates, no budget
    exhaustive: bool = False

    @property
    def task_text(self) -> str:
        """Goal and constraints as one text."""
        return "\n".join(part for part in (self.task_context, *self.constraints) if part)


@dataclass(frozen=True)
class Hit:
    """One memory that was found."""

    memory: Memory
    #: how likely it is about what was asked, 0..1
    relevance: float
    #: what hits are ordered by; higher is better
    score: float
    #: plain sentences the reader should know: conflicts, past validity, not yet proved
    warnings: tuple[str, ...] = ()
    #: path -> rank in it from 1, and factor -> value
    why: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class SearchAnswer:
    """What a search gives back."""

    hits: tuple[Hit, ...]
    #: the fixed sentence when nothing is relevant, else empty
    message: str = ""
    #: search paths that could not be used, with the reason
    degraded: tuple[str, ...] = ()
    #: scopes that hold memories but were not searched; only said when nothing was found
    other_scopes: tuple[str, ...] = ()
    #: candidates that were looked at
    considered: int = 0
    #: estimated tokens of the hits
    tokens: int = 0


@dataclass(frozen=True)
class _Candidates:
    """Columns over the candidates, position by position."""

    memories: list[Memory]
    paths: list[dict[str, float]]
    vectors: list[NDArray[np.float32] | None]
    traits: list[Traits]
    #: the models that the vectors are of
    models: tuple[meaning.Part, ...]
    #: names that belong together in this space
    entities: Names
    #: the same with those that belong together everywhere, folded
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Judgement:
    """How the candidates fit, position by position."""

    #: to query and task, 0..1
    fit: rank.Floats
    #: whether they pass the cut
    passed: NDArray[np.bool_]
    #: what the fit was made of
    why: list[dict[str, float]]


def search(
    reader: Reader, space: str, question: Question, embedder: Embedder | None, older: Sequence[Embedder] = ()
) -> SearchAnswer:
    """Answer one question from what `reader` holds.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        question: what is asked.
        embedder: makes the meaning path; None = words only.
        older: embedders of earlier models, for memories that have no vector of `embedder` yet.

    Raises:
        StorageError: the store cannot be read.
    """
    embedders = [embedder, *older] if embedder is not None else []
    asked, degraded = _embed(question, embedders)
    when = find_time_range(question.query, now=question.now, timezone=question.timezone)
    where = _widened(question.where, when, question.now)
    found = _gather(reader, space, replace(question, where=where), asked, when)
    language = text.language(question.query)
    if found.memories:
        judged = _judge(reader, space, question, found, asked, when)
        found, judged = _along_relations(reader, space, replace(question, where=where), embedders, (found, judged))
        hits = _choose(question, found, judged)
    else:
        hits = []
    hits = _annotate(reader, space, hits, question.now, language)
    return SearchAnswer(
        hits=tuple(hits),
        message="" if hits else say("nothing_relevant", language),
        degraded=degraded,
        considered=len(found.memories),
        tokens=sum(hit_tokens(hit) for hit in hits),
    )


def hit_tokens(hit: Hit) -> int:
    """Estimated tokens that a hit takes in a prompt."""
    return HIT_OVERHEAD_TOKENS + text.count_tokens(hit.memory.summary) + sum(map(text.count_tokens, hit.warnings))


# --- candidates ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """The question's texts as directions of these models; None where there is no embedder."""

    models: tuple[meaning.Part, ...] = ()
    query: NDArray[np.float32] | None = None
    task: NDArray[np.float32] | None = None


def _embed(question: Question, embedders: Sequence[Embedder]) -> tuple[_Asked, tuple[str, ...]]:
    texts = [question.query] + ([question.task_text] if question.task_text else [])
    aim, degraded = meaning.aim(texts, embedders)
    return _Asked(aim.parts, *aim.directions), degraded


def _widened(where: KeyFilter, when: TimeRange | None, now: datetime) -> KeyFilter:
    """A question about another time may also be answered by what held then, though it no longer does."""
    asks_current = where.statuses == (Status.ACTIVE,) and where.known_at is None and where.valid_at == now
    if when is None or not asks_current:
        return where
    if when.start >= now:
        return replace(where, valid_through=when.end)
    return replace(where, statuses=_PAST_STATUSES, valid_at=when.start, valid_through=max(when.end, now))


def _gather(reader: Reader, space: str, question: Question, asked: _Asked, when: TimeRange | None) -> _Candidates:
    where = question.where
    ranks: dict[str, dict[str, float]] = {}
    entities = names_of(reader, space)
    groups = (*ALIASES, *entities.groups)

    def add(path: str, ids: Sequence[str]) -> None:
        for position, id in enumerate(ids, start=1):
            ranks.setdefault(id, {})[path] = position

    def from_text(prefix: str, words: str, vector: NDArray[np.float32] | None, limit: int) -> None:
        tokens = text.query_tokens(words)
        said_otherwise = (name for names in spellings(tokens, groups).values() for name in names)
        tokens = list(dict.fromkeys([*tokens, *sorted(token for name in said_otherwise for token in name)]))
        if tokens:
            add(f"{prefix}words", [s.id for s in reader.search_words(space, where, tokens, limit=limit)])
        if vector is not None:
            add(f"{prefix}meaning", meaning.nearest(reader, space, where, vector, asked.models, limit=limit))

    from_text("", question.query, asked.query, PATH_LIMIT)
    if question.task_text:
        from_text("task_", question.task_text, asked.task, PATH_LIMIT // 2)
    if when is not None:
        in_range = replace(where, happened_from=when.start, happened_to=when.end)
        add("time", [m.id for m in reader.find(space, in_range, order=Order.LATEST, limit=PATH_LIMIT)])
    rows = reader.get(space, list(ranks))
    around = [id for row in rows.values() for id in _neighbours(row) if id not in rows]
    for id, row in reader.get(space, around).items():
        if row.status in where.statuses:
            rows[id], ranks[id] = row, {"neighbour": 1.0}
    ids = sorted(rows)
    vectors = meaning.directions(reader, space, ids, asked.models)
    memories = [rows[id] for id in ids]
    return _Candidates(
        memories=memories,
        paths=[ranks[id] for id in ids],
        vectors=[vectors.get(id) for id in ids],
        traits=[traits_of(memory) for memory in memories],
        models=asked.models,
        entities=entities,
        groups=groups,
    )


# --- judgement -----------------------------------------------------------------------------------


def _topic_fit(asked: Traits, told: Sequence[Traits], memories: Sequence[Memory]) -> NDArray[np.int64]:
    """How the topics of each memory meet those of a text, as `rank.relevance` takes it."""

    def fit(memory: Memory, traits: Traits) -> int:
        if not asked.topics or not (traits.topics or memory.topic):
            return 0
        return 2 if memory.topic in asked.topics else 1 if asked.topics & traits.topics else -1

    return np.array([fit(memory, traits) for memory, traits in zip(memories, told, strict=True)], dtype=np.int64)


def _coverage(reader: Reader, space: str, words: str, found: _Candidates) -> rank.Floats:
    """Share of the text's words, by rarity, that each memory contains, in their own or another spelling of the
    same thing (k8s, Kubernetes); zeros when the text has none."""
    tokens = text.query_tokens(words)
    if not tokens:
        return np.zeros(len(found.traits))
    spelled = spellings(tokens, found.groups)
    statistics = reader.word_statistics(space, tokens)
    weights = rank.word_weights([statistics.containing.get(token, 0) for token in tokens], statistics.total)
    weights = weights * np.array([_SUBJECT_WORD_SHARE if token in _SUBJECT_WORDS else 1.0 for token in tokens])
    present = np.array(
        [[_has(traits, token, spelled) for token in tokens] for traits in found.traits], dtype=np.float64
    )
    return present @ weights / weights.sum()


def _has(told: Traits, token: str, spelled: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    return token in told.tokens or any(name <= told.tokens for name in spelled.get(token, ()))


def _cosines(query: NDArray[np.float32] | None, vectors: Sequence[NDArray[np.float32] | None]) -> rank.Floats:
    if query is None:
        return np.full(len(vectors), np.nan)
    return np.array([float(query @ vector) if vector is not None else np.nan for vector in vectors])


def _neighbours(memory: Memory) -> list[str]:
    """Ids of the turns before and after a turn of a conversation; none for other memories."""
    structured = memory.structured
    return [str(structured[name]) for name in ("previous", "next") if name in structured]


def _with_neighbours(evidence: rank.Floats, memories: Sequence[Memory]) -> rank.Floats:
    """A turn means what it means beside its neighbours: a question's answer need not repeat its words."""
    places = {memory.id: position for position, memory in enumerate(memories)}
    above = np.maximum(evidence - rank.WEIGHTS.background, 0.0)
    added = [sum(above[places[id]] for id in _neighbours(memory) if id in places) for memory in memories]
    return evidence + rank.WEIGHTS.neighbours * np.array(added, dtype=np.float64)


def _evidence_for(
    reader: Reader, space: str, words: str, vector: NDArray[np.float32] | None, found: _Candidates
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
    said = np.array([rank.WEIGHTS.turn_coverage if _neighbours(memory) else 1.0 for memory in found.memories])
    evidence = rank.evidence(closeness, coverage * said, topic=topic, cross_language=foreign)
    return _with_neighbours(evidence, found.memories), parts


def _judge(
    reader: Reader, space: str, question: Question, found: _Candidates, asked: _Asked, when: TimeRange | None
) -> _Judgement:
    """How every candidate fits query and task."""
    evidence, parts = _evidence_for(reader, space, question.query, asked.query, found)
    for_it, against = _names(reader, space, question.query, found)
    evidence = evidence + for_it
    if when is not None:
        evidence = evidence + np.array([_IN_TIME if _overlaps(m, when) else _OUT_OF_TIME for m in found.memories])
    fit = relevance = rank.relevance(evidence, against=against)
    if when is not None and not text.query_tokens(_without(question.query, when)):
        # Nothing but a time was asked: what happened or held then is the answer.
        fit = relevance = np.where([_overlaps(memory, when) for memory in found.memories], 0.9, 0.0)
    why = [
        {**paths, **part, "relevance": float(value)}
        for paths, part, value in zip(found.paths, parts, relevance, strict=True)
    ]
    passed = rank.keep(relevance)
    if question.task_text:
        task = rank.relevance(_evidence_for(reader, space, question.task_text, asked.task, found)[0])
        passed |= rank.keep(task, distance=rank.WEIGHTS.task_distance)
        # The task lifts what the query alone would miss; it never sinks a plain answer.
        fit = 1.0 - (1.0 - relevance) * (1.0 - rank.WEIGHTS.task_fit * task)
        for entry, value in zip(why, task, strict=True):
            entry["task_fit"] = float(value)
    return _Judgement(fit, passed, why)


def _without(query: str, when: TimeRange | None) -> str:
    return query.replace(when.phrase, " ") if when is not None else query


#: Standing lost by a memory about somebody else than the one who is named, or about nobody in particular
#: without naming them.
_OTHER_PERSON = 3.0
_NOBODY = 1.5
#: Evidence for a memory with a code or identifier that is asked about, and standing lost by one without.
_SAME_CODE, _OTHER_CODE = 3.0, 2.5

#: Evidence of having happened or held in the time that is asked about, and against what did not.
_IN_TIME = 1.5
_OUT_OF_TIME = -2.0


def _names(reader: Reader, space: str, query: str, found: _Candidates) -> tuple[rank.Floats, rank.Floats]:
    """Evidence for and against: 张三 is not 李四, and a question about one code is not about another."""
    asked = Traits(query)
    named = found.entities.named(asked.folded, reader.known_subjects(space))
    codes = {term for term in asked.hard_terms if is_code(term)}
    spelled = spellings(asked.tokens)
    for_it, against = np.zeros(len(found.memories)), np.zeros(len(found.memories))
    for position, (memory, told) in enumerate(zip(found.memories, found.traits, strict=True)):
        if named and memory.subject not in named and not any(text.mentions(told.folded, name) for name in named):
            against[position] += _OTHER_PERSON if memory.subject else _NOBODY
        if codes and (codes & told.hard_terms or any(_has(told, code, spelled) for code in codes)):
            for_it[position] = _SAME_CODE
        elif codes:
            against[position] += _OTHER_CODE
    return for_it, against


def _overlaps(memory: Memory, when: TimeRange) -> bool:
    happened = when.start <= memory.happened_at < when.end
    if happened or (memory.valid_from is None and memory.valid_to is None):
        return happened
    begins = memory.valid_from or memory.happened_at
    return begins < when.end and (memory.valid_to is None or memory.valid_to > when.start)


# --- relations -----------------------------------------------------------------------------------


def _along_relations(
    reader: Reader, space: str, question: Question, embedders: Sequence[Embedder], sofar: tuple[_Candidates, _Judgement]
) -> tuple[_Candidates, _Judgement]:
    """Add what the relations in a question lead to, judged by the question as it reads at the other end and
    weaker by every link. Whoever is not on the way is not who was asked about."""
    on_the_way: set[str] = set()
    for way in ways(reader, space, question.query, question.where):
        further = replace(question, query=way.query, where=way.where, task_context="", constraints=())
        asked, _ = _embed(further, embedders)
        there = _gather(reader, space, further, asked, None)
        if there.memories:
            fits = _judge(reader, space, further, there, asked, None)
            passed = [int(p) for p in np.flatnonzero(fits.passed) if is_about(there.memories[p], way.names)]
            best = sorted(passed, key=lambda p: (-fits.fit[p], there.memories[p].id))[:_MOST_BY_RELATION]
            if best:
                on_the_way |= {*way.names, *(other for name in way.chain for other in there.entities.all_of(name))}
                sofar = _merged(sofar, (there, fits), best, way)
    found, judged = sofar
    if on_the_way:
        judged.passed[:] &= [memory.subject in ("", USER) or is_about(memory, on_the_way) for memory in found.memories]
    return found, judged


def _merged(
    sofar: tuple[_Candidates, _Judgement], there: tuple[_Candidates, _Judgement], best: Sequence[int], way: Way
) -> tuple[_Candidates, _Judgement]:
    (found, judged), (others, fits) = sofar, there
    known = {memory.id for memory in found.memories}
    new = [p for p in best if others.memories[p].id not in known]
    found = replace(
        found,
        memories=found.memories + [others.memories[p] for p in new],
        paths=found.paths + [others.paths[p] for p in new],
        vectors=found.vectors + [others.vectors[p] if others.models == found.models else None for p in new],
        traits=found.traits + [others.traits[p] for p in new],
    )
    fit = np.concatenate([judged.fit, np.zeros(len(new))])
    passed = np.concatenate([judged.passed, np.zeros(len(new), dtype=np.bool_)])
    why = judged.why + [{} for _ in new]
    positions = {memory.id: position for position, memory in enumerate(found.memories)}
    for place, p in enumerate(best, start=1):
        at, value = positions[others.memories[p].id], float(fits.fit[p]) * _LINK_FACTOR**way.links
        passed[at] = True
        if value > fit[at]:
            fit[at] = value
            why[at] = fits.why[p] | {f"entity: {' -> '.join(way.chain)}": place, "relevance": value}
    return found, _Judgement(fit, passed, why)


# --- choice --------------------------------------------------------------------------------------


def _evidence(memory: Memory) -> float:
    known = memory.basis.strength / 5
    useful = float(rank.usefulness(np.array([memory.helped]), np.array([memory.harmed]))[0])
    return (
        STANDING_FACTOR[memory.standing]
        * TRUST_FACTOR[memory.trust]
        * (0.97 + 0.03 * known)
        * (0.95 + 0.05 * memory.confidence)
        * (0.8 + 0.4 * useful)
    )


def _place(memory: Memory, question: Question) -> float:
    """Standing gained by being near: the asking role's own pool before the shared one, a named scope before global."""
    own = _OWN_POOL if question.role and memory.role == question.role else 0.0
    return own + (_NEAR_SCOPE if memory.scope != GLOBAL else 0.0)


def _choose(question: Question, found: _Candidates, judged: _Judgement) -> list[Hit]:
    memories, fit, why = found.memories, judged.fit, judged.why
    days = np.array([_age_days(memory, question.now) for memory in memories])
    slow = np.array([memory.kind in SLOW_KINDS for memory in memories], dtype=np.bool_)
    recent = rank.recency(days, slow)
    evidence = np.array([_evidence(memory) for memory in memories])
    scores = rank.score(fit, recent, evidence) + np.array([_place(memory, question) for memory in memories])
    passed = range(len(memories)) if question.exhaustive else np.flatnonzero(judged.passed)
    order = sorted((int(p) for p in passed), key=lambda p: (-scores[p], memories[p].id))
    if not question.exhaustive:
        order = _without_repeats(order[: 3 * question.k], found)
    for position in order:
        why[position] |= {"recency": float(recent[position]), "evidence": float(evidence[position])}
    hits = [Hit(memories[p], float(fit[p]), float(scores[p]), why=why[p]) for p in order[: question.k]]
    if question.exhaustive:
        return hits
    return hits[: rank.within_budget([hit_tokens(hit) for hit in hits], question.budget_tokens, question.k)]


def _without_repeats(order: list[int], found: _Candidates) -> list[int]:
    terms = {position: found.traits[position].hard_terms for position in order}
    return rank.without_near_duplicates(order, found.vectors, terms, rank.WEIGHTS.duplicate_cosine)


def _age_days(memory: Memory, now: datetime) -> float:
    last = max(memory.happened_at, memory.last_validated_at or memory.happened_at)
    return max(0.0, (now - last).total_seconds() / 86_400)


def _annotate(reader: Reader, space: str, hits: list[Hit], now: datetime, language: str) -> list[Hit]:
    """Say of each hit what its reader must know before relying on it."""
    if not hits:
        return hits
    links = [link for link in reader.links(space, [hit.memory.id for hit in hits]) if link.type is LinkType.CONFLICTS]
    others = reader.get(space, sorted({id for link in links for id in (link.source_id, link.target_id)}))
    annotated: list[Hit] = []
    for hit in hits:
        memory = hit.memory
        warnings = [
            conflict_sentence(memory, other, language)
            for link in links
            if memory.id in (link.source_id, link.target_id)
            and (other := others.get(link.target_id if link.source_id == memory.id else link.source_id)) is not None
            and other.status in (Status.ACTIVE, Status.QUARANTINED)
            and other.standing is not Standing.REFUTED
        ]
        if memory.valid_to is not None and memory.valid_to <= now:
            warnings.append(say("was_true_until", language, until=f"{memory.valid_to:%Y-%m-%d}"))
        if memory.standing is Standing.PENDING and memory.kind in (Kind.LESSON, Kind.RULE):
            warnings.append(say("not_yet_proved", language))
        annotated.append(replace(hit, warnings=tuple(warnings)))
    return annotated


def conflict_sentence(memory: Memory, other: Memory, language: str) -> str:
    """One sentence that says with what a memory disagrees and which of the two to prefer."""

    def weight(row: Memory) -> tuple[int, datetime]:
        return (row.basis.strength, row.valid_from or row.happened_at)

    prefer = "neither"
    if weight(memory) != weight(other):
        prefer = "this" if weight(memory) > weight(other) else "other"
    return say(
        "conflict_with",
        language,
        id=short_id(other.id),
        other=other.summary,
        basis=other.basis.value,
        date=f"{other.happened_at:%Y-%m-%d}",
        prefer=say(f"prefer_{prefer}", language),
    )
