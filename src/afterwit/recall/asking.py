"""A question, and the memories that its paths bring: keys first, then words, meaning, time and task."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit import meaning, text
from afterwit.concepts import words_of
from afterwit.dates import TimeRange
from afterwit.embedding import Embedder
from afterwit.entities import Names, names_of
from afterwit.records import NEIGHBOUR_FIELDS, Json, KeyFilter, Memory, Status
from afterwit.spelling import aliases, spellings
from afterwit.storage import Order, Reader
from afterwit.traits import Traits, traits_of
from afterwit.vocabulary import USER
from afterwit.wanted import terms_of

#: Candidates that each path may bring.
PATH_LIMIT = 32
#: Candidates that are looked at in all, those first that stand first on a path; more only where more are asked for, so
#: that a larger k does not change the first results. As many as a reranker reads again. To read one costs 0.2 ms.
_FEWEST_READ = 30

#: Tokens of synonyms that a query is also looked for by, and the weight of words that are not worth it.
_MOST_SYNONYMS = 32
_LITTLE = 0.5

#: Sentences at a query's end that are also looked for by themselves.
_QUERY_PARTS = 3

#: Clauses of a task that are weighed by themselves, and where they part.
_TASK_SIDES = 4
_CLAUSE = re.compile(
    r"[\n;:,.!?；：，。！？、]+(?=\s|$|[\u4e00-\u9fff])|\s(?:and|with|but|or|then|before|after)\s|以及|并且|和(?![平谐气解])"
)

#: Memories that were replaced and may bring what replaced them, by each path, and links from one to what holds now.
_MOST_REPLACED = 4
_LONGEST_CHAIN = 20

_PAST_STATUSES = (Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED)
#: What may hold at the moment of asking, also where a later value is known already.
_HOLDING = (Status.ACTIVE, Status.SUPERSEDED)


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
    #: where the work runs, as in a task; what does not apply there is said so or left out
    environment: Json = field(default_factory=dict[str, Any], hash=False)
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
class Candidates:
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
    #: those that no longer hold -> what holds in their place; they tell what that is about, and are no hits themselves
    replaced: dict[int, int]


@dataclass(frozen=True)
class Asked:
    """The question's texts as directions of these models; None where there is no embedder."""

    models: tuple[meaning.Part, ...] = ()
    #: the whole query first, then its parts; see `parts_of`
    query: tuple[NDArray[np.float32] | None, ...] = ()
    task: NDArray[np.float32] | None = None


def parts_of(query: str) -> list[str]:
    """The query, and its last sentences when it has several: what is asked may stand behind small talk."""
    sentences = text.sentences(query)
    return [query, *sentences[-_QUERY_PARTS:]] if len(sentences) > 1 else [query]


def sides_of(task: str) -> list[str]:
    """The clauses of a task that has several: what matters to one side of it has little to do with the rest."""
    clauses = (clause.strip() for clause in _CLAUSE.split(task))
    telling = dict.fromkeys(clause for clause in clauses if any(term.weight > _LITTLE for term in terms_of(clause)))
    return list(telling)[:_TASK_SIDES] if len(telling) > 1 else []


def embed(question: Question, embedders: Sequence[Embedder]) -> tuple[Asked, tuple[str, ...]]:
    parts = parts_of(question.query)
    texts = [*parts, *([question.task_text] if question.task_text else [])]
    aim, degraded = meaning.aim(texts, embedders)
    directions = aim.directions or (None,) * len(texts)
    task = directions[len(parts)] if question.task_text else None
    return Asked(aim.parts, directions[: len(parts)], task), degraded


def widened(where: KeyFilter, when: TimeRange | None, now: datetime) -> KeyFilter:
    """A question about another time may also be answered by what held then, though it no longer does."""
    if when is None or not asks_current(where) or where.valid_at != now:
        return where
    if when.start >= now:
        return replace(where, valid_through=when.end)
    return replace(where, statuses=_PAST_STATUSES, valid_at=when.start, valid_through=max(when.end, now))


def gather(reader: Reader, space: str, question: Question, asked: Asked, when: TimeRange | None) -> Candidates:
    where = question.where
    ranks: dict[str, dict[str, float]] = {}
    entities = names_of(reader, space)
    groups = (*aliases(), *entities.groups)

    def add(path: str, ids: Sequence[str]) -> None:
        for position, id in enumerate(ids, start=1):
            found = ranks.setdefault(id, {})
            found[path] = min(position, found.get(path, position))

    sides = _sides(question, asked)
    if sides[0].vector is not None:
        meaning.begin(reader, space, where, sides[0].vector, asked.models, limit=sides[0].limit)
    # Until the vectors are needed comes all that needs none: of 100,000 rows, they are scanned by then.
    for side in sides:
        for path, tokens, limit in _looked_for(reader, space, side, groups):
            add(path, [s.id for s in reader.search_words(space, where, tokens, limit=limit)])
    if when is not None:
        in_range = replace(where, happened_from=when.start, happened_to=when.end)
        add("time", [m.id for m in reader.find(space, in_range, order=Order.LATEST, limit=PATH_LIMIT)])
    most = sys.maxsize if question.exhaustive else max(_FEWEST_READ, question.k)
    rows = reader.get(space, list(_first_of(ranks, most // 2)))
    traits = {id: traits_of(memory) for id, memory in rows.items()}
    for side in sides:
        if side.vector is not None:
            near = meaning.nearest(reader, space, where, side.vector, asked.models, limit=side.limit)
            add(f"{side.prefix}meaning", near)
    ranks = _first_of(ranks, most)
    replaced = _with_replaced(reader, space, sides[0], asked, where, entities)
    for id, end in replaced.items():
        add("replaced", [id])
        add("replaces", [end])
    rows = {id: row for id, row in rows.items() if id in ranks}
    rows |= reader.get(space, [id for id in ranks if id not in rows])
    rows = _with_neighbours(reader, space, rows, where)
    ids = sorted(rows)
    vectors = meaning.directions(reader, space, ids, asked.models)
    memories = [rows[id] for id in ids]
    place_of = {id: place for place, id in enumerate(ids)}
    return Candidates(
        memories=memories,
        paths=[ranks.get(id, {"neighbour": 1.0}) for id in ids],
        vectors=[vectors.get(id) for id in ids],
        traits=[traits.get(memory.id) or traits_of(memory) for memory in memories],
        models=asked.models,
        entities=entities,
        groups=groups,
        replaced={place_of[id]: place_of[end] for id, end in replaced.items()},
    )


def _first_of(ranks: dict[str, dict[str, float]], most: int) -> dict[str, dict[str, float]]:
    """The candidates that stand first on a path, or not much later on several."""
    order = sorted(ranks, key=lambda id: (min(ranks[id].values()), -len(ranks[id]), id))
    return {id: ranks[id] for id in order[:most]}


@dataclass(frozen=True)
class _Side:
    """A text that is looked for."""

    #: of the names of its paths
    prefix: str
    words: str
    vector: NDArray[np.float32] | None
    #: candidates that each of its paths may bring
    limit: int


def _sides(question: Question, asked: Asked) -> list[_Side]:
    """The whole query first."""
    sides = [
        _Side("", part, vector, PATH_LIMIT if part == question.query else PATH_LIMIT // 4)
        for part, vector in zip(parts_of(question.query), asked.query, strict=True)
    ]
    if question.task_text:
        sides.append(_Side("task_", question.task_text, asked.task, PATH_LIMIT // 2))
    return sides


def _looked_for(
    reader: Reader, space: str, side: _Side, groups: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[str, list[str], int]]:
    """Paths by words, with the tokens that are looked for and how many candidates they may bring."""
    tokens = text.query_tokens(side.words)
    said_otherwise = (name for names in spellings(tokens, groups).values() for name in names)
    tokens = list(dict.fromkeys([*tokens, *sorted(token for name in said_otherwise for token in name)]))
    if tokens:
        yield f"{side.prefix}words", tokens, side.limit
    if other := _in_other_words(reader, space, side.words):
        yield f"{side.prefix}other_words", other, side.limit // 2


def _in_other_words(reader: Reader, space: str, words: str) -> list[str]:
    """Tokens of synonyms, in either language, of those words of a text that no memory has."""
    terms = [term for term in terms_of(words) if term.same and term.weight > _LITTLE]
    counts = reader.word_statistics(space, [token for term in terms for token in term.tokens]).containing
    unknown = [term for term in terms if not min(counts[token] for token in term.tokens)]
    each = ([token for concept in sorted(term.same) for token in words_of(concept)] for term in unknown)
    # In turns, so that a word with many synonyms leaves room for those of the others.
    synonyms = dict.fromkeys(token for turn in zip_longest(*each) for token in turn if token is not None)
    return list(synonyms)[:_MOST_SYNONYMS]


def _with_neighbours(reader: Reader, space: str, rows: dict[str, Memory], where: KeyFilter) -> dict[str, Memory]:
    """The rows, and the turns before and after those that are turns of a conversation.

    A row says itself which its neighbours are, and anybody may write that: only what passes the filter, too, is taken.
    """
    missing = [id for row in rows.values() for id in neighbours_of(row) if id not in rows]
    found = reader.get(space, list(dict.fromkeys(missing)))
    return rows | {id: row for id, row in found.items() if where.passes(row)}


def _with_replaced(
    reader: Reader, space: str, side: "_Side", asked: Asked, where: KeyFilter, entities: Names
) -> dict[str, str]:
    """What answers the query but holds no longer, and what holds in its place: a new state is often told in words that
    nobody asks by, as "we moved to Oak Street" is of an address.

    Returns:
        Id of what was replaced -> id of what replaces it now and passes the filter.
    """
    if not asks_current(where):
        return {}
    past = replace(where, statuses=(Status.SUPERSEDED,), valid_at=None)
    tokens = text.query_tokens(side.words)
    ids = [item.id for item in reader.search_words(space, past, tokens, limit=_MOST_REPLACED)] if tokens else []
    if side.vector is not None:
        ids += meaning.nearest(reader, space, past, side.vector, asked.models, limit=_MOST_REPLACED)
    ways = {id: id for id in ids}
    rows = reader.get(space, list(ways))
    for _ in range(_LONGEST_CHAIN):
        further = {id: rows[end].superseded_by or end for id, end in ways.items() if end in rows}
        if further == ways:
            break
        ways = further
        rows |= reader.get(space, [end for end in ways.values() if end not in rows])
    return {
        id: end
        for id, end in ways.items()
        if end in rows and where.passes(rows[end]) and _are_of_one(rows[id], rows[end], entities)
    }


def _are_of_one(old: Memory, new: Memory, entities: Names) -> bool:
    """Whether two memories may be about one: names that were one when one of them replaced the other may be two now."""
    subjects = {entities.root(subject) for subject in (old.subject, new.subject) if subject not in ("", USER)}
    return len(subjects) < 2


def asks_current(where: KeyFilter) -> bool:
    """Whether a filter lets through what holds now, and nothing else."""
    now_only = where.valid_at is not None and where.valid_through is None and where.known_at is None
    return now_only and where.statuses in ((Status.ACTIVE,), _HOLDING)


def with_outgoing(reader: Reader, space: str, where: KeyFilter, now: datetime) -> KeyFilter:
    """The filter, letting through as well what is replaced from a later moment on and holds until then."""
    if not asks_current(where) or where.valid_at != now or reader.next_turn(space, now) is None:
        return where
    return replace(where, statuses=_HOLDING)


def neighbours_of(memory: Memory) -> list[str]:
    """Ids of the turns before and after a turn of a conversation, by its own account; none for other memories."""
    structured = memory.structured
    return [str(structured[name]) for name in NEIGHBOUR_FIELDS if name in structured]


def neighbours_among(memories: Sequence[Memory]) -> list[list[int]]:
    """Of each memory the places of the turns before and after it. Anybody may write that something is a neighbour: only
    what names it in turn is one."""
    named = [neighbours_of(memory) for memory in memories]
    places = {memory.id: place for place, memory in enumerate(memories)}
    return [
        [places[id] for id in ids if id in places and memory.id in named[places[id]]]
        for memory, ids in zip(memories, named, strict=True)
    ]
