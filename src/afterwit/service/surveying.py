"""Reading a whole space at once: what its health, its cleaning and its weekly report are made from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, cast

import numpy as np

from afterwit import text
from afterwit.config import Settings
from afterwit.embedding import Embedder
from afterwit.errors import ProviderError
from afterwit.gate import judge
from afterwit.rank import WEIGHTS
from afterwit.records import ITEM, SPEAKER, Basis, Event, KeyFilter, Kind, LinkType, Memory, Standing, Status
from afterwit.review.cleaning import Proposal
from afterwit.review.health import Health, Material
from afterwit.review.intents import due_state
from afterwit.review.report import MOST_NAMED, Part, Week
from afterwit.storage import Reader, Store, Vitals
from afterwit.traits import traits_of

#: Newest memories whose words are looked at; more would take longer than anybody waits.
LOOKED_AT = 1000
#: Open intents that are looked at.
MOST_INTENTS = 1000
#: Whose calls of a language model are looked at: those of a week, that of this very moment among them.
_WEEK, _MOMENT = timedelta(days=7), timedelta(seconds=1)


@dataclass(frozen=True)
class Survey:
    """A space as it is now."""

    vitals: list[Vitals]
    #: groups of ids that say the same, under the same keys and for the same time
    repeats: list[tuple[str, ...]]


def survey(reader: Reader, space: str) -> Survey:
    """Read a space but for its words."""
    vitals = reader.vitals(space)
    return Survey(vitals, exact_repeats(reader, space, vitals))


def exact_repeats(reader: Reader, space: str, vitals: Sequence[Vitals]) -> list[tuple[str, ...]]:
    """Groups of active memories that one of them could stand for; a denial is no repeat of what it denies."""
    by_key: dict[tuple[object, ...], list[str]] = {}
    said = Counter(item.statement_key for item in vitals)
    for item in vitals:
        if said[item.statement_key] < 2 or item.is_turn:
            continue
        if item.status is Status.ACTIVE and item.standing is not Standing.REFUTED:
            key = (item.statement_key, item.scope, item.role, item.kind, item.valid_to)
            by_key.setdefault(key, []).append(item.id)
    candidates = [ids for (key, *_), ids in by_key.items() if key and len(ids) > 1]
    rows = reader.get(space, [id for ids in candidates for id in ids])
    return [group for ids in candidates for group in _same([rows[id] for id in ids if id in rows])]


def _same(rows: Sequence[Memory]) -> Iterator[tuple[str, ...]]:
    """Rows with one statement key, parted into those that say the same of the same for the same time."""
    groups: list[list[Memory]] = []
    for row in rows:
        for group in groups:
            first = group[0]
            alike = (first.subject, first.topic, first.valid_from) == (row.subject, row.topic, row.valid_from)
            # Values under two keys are two, though they say the same.
            alike = alike and first.structured.get(ITEM) == row.structured.get(ITEM)
            if alike and text.same_statement(first.summary, row.summary):
                group.append(row)
                break
        else:
            groups.append([row])
    return (tuple(row.id for row in group) for group in groups if len(group) > 1)


def material(
    store: Store, space: str, found: Survey, *, embedder: Embedder | None, settings: Settings, now: datetime
) -> Material:
    """What the health of a space is judged by."""
    zone = settings.timezone
    looked = store.find(space, KeyFilter(), limit=LOOKED_AT)
    stated = [row for row in looked if row.structured.keys().isdisjoint((SPEAKER, ITEM))]
    own = [row for row in stated if row.basis is not Basis.IMPORTED]
    known = {frozenset(pair) for group in found.repeats for pair in combinations(group, 2)}
    intents = store.find(space, KeyFilter(kinds=(Kind.INTENT,)), limit=MOST_INTENTS)
    return Material(
        vitals=found.vitals,
        conflicts=store.links_of_type(space, LinkType.CONFLICTS),
        repeats=found.repeats,
        looked_at=len(own),
        refused=[row.id for row in own if not judge(row.summary, explicit=True).accepted],
        alike=[pair for pair in _alike(store, space, own, embedder) if frozenset(pair) not in known],
        waiting=store.tasks(space, unreviewed=True),
        overdue=[row.id for row in intents if _is_overdue(row, now, zone)],
        without_vector=_without_vector(store, space, embedder),
        calls=store.usage(space, now - _WEEK, now + _MOMENT),
        budget_tokens=settings.llm_budget_tokens if settings.llm else 0,
    )


def _is_overdue(intent: Memory, now: datetime, zone: str) -> bool:
    state = due_state(intent, now=now, timezone=zone, scope=intent.scope)
    return state is not None and state.state == "overdue"


def _alike(store: Store, space: str, rows: Sequence[Memory], embedder: Embedder | None) -> list[tuple[str, str]]:
    """Pairs of one scope and pool that are as close as what search drops as a repeat, and name the same things."""
    model = _model(embedder)
    if not model:
        return []
    vectors = store.vectors(space, [row.id for row in rows], model)
    kept = [row for row in rows if row.id in vectors]
    if len(kept) < 2:
        return []
    matrix = np.stack([vectors[row.id] for row in kept])
    close = np.argwhere(np.triu(matrix @ matrix.T >= WEIGHTS.duplicate_cosine, k=1))
    return [(kept[i].id, kept[j].id) for i, j in close.tolist() if _may_repeat(kept[i], kept[j])]


def _may_repeat(one: Memory, other: Memory) -> bool:
    same_place = (one.scope, one.role, one.kind) == (other.scope, other.role, other.kind)
    if not same_place or traits_of(one).hard_terms != traits_of(other).hard_terms:
        return False
    return text.is_negated(one.summary) == text.is_negated(other.summary)


def _without_vector(store: Store, space: str, embedder: Embedder | None) -> int:
    model = _model(embedder)
    return store.count_without_vector(space, model) if model else 0


def _model(embedder: Embedder | None) -> str:
    """The model's id; "" when there is none, or when it cannot be loaded, which `doctor` tells."""
    if embedder is None:
        return ""
    try:
        return embedder.model
    except ProviderError:
        return ""


# --- The week -------------------------------------------------------------------------------------


def events_since(reader: Reader, space: str, since: datetime) -> Iterator[Event]:
    """The history from a moment on, oldest first; looks the place up rather than reading what was before."""
    after = _last_before(reader, space, since)
    while page := reader.events(space, after=after, limit=1000):
        yield from page
        after = page[-1].sequence


def _last_before(reader: Reader, space: str, since: datetime) -> int:
    """Number of the last event before a moment, 0 when there is none; events are numbered by time."""

    def is_before(number: int) -> bool:
        event = next(iter(reader.events(space, after=number - 1, limit=1)), None)
        return event is not None and event.at < since

    low, step = 0, 1
    while is_before(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_before(middle) else (low, middle)
    return low


def week_of(reader: Reader, space: str, *, since: datetime, health: Health, proposals: Sequence[Proposal]) -> Week:
    """What happened in a space since a moment."""
    written: list[str] = []
    superseded: dict[str, str] = {}
    judged: dict[str, list[str]] = {"confirmed": [], "refuted": []}
    for event in events_since(reader, space, since):
        if event.action == "add":
            written.append(event.memory_id)
        elif event.action == "supersede":
            superseded[event.memory_id] = str(event.detail.get("by", ""))
        elif (standing := _new_standing(event)) in judged:
            judged[standing].append(event.memory_id)
    kinds = {item.id: item.kind for item in reader.vitals(space)}
    taught = (Kind.LESSON, Kind.RULE)
    old = _part(reader, space, list(superseded))
    return Week(
        space=space,
        since=since,
        until=health.at,
        by_kind=dict(Counter(kinds[id].value for id in written if id in kinds).most_common()),
        written=_part(reader, space, written),
        superseded=old,
        successors={
            memory.id: new
            for memory in old.named
            if (new := reader.get(space, [superseded[memory.id]]).get(superseded[memory.id])) is not None
        },
        learned=_part(reader, space, [id for id in written if kinds.get(id) in taught]),
        confirmed=_part(reader, space, [id for id in judged["confirmed"] if kinds.get(id) in taught]),
        refuted=_part(reader, space, [id for id in judged["refuted"] if kinds.get(id) in taught]),
        health=health,
        proposals=proposals,
    )


def _new_standing(event: Event) -> str:
    changed: Any = event.detail.get("changed")
    if not isinstance(changed, dict):
        return ""
    standing: Any = cast("dict[str, Any]", changed).get("standing")
    return str(cast("dict[str, Any]", standing).get("after", "")) if isinstance(standing, dict) else ""


def _part(reader: Reader, space: str, ids: Sequence[str]) -> Part:
    """The memories of these ids that are still there, each once; the last ones are named first."""
    once = list(dict.fromkeys(reversed(ids)))
    return Part(len(once), list(reader.get(space, once[:MOST_NAMED]).values()))
