"""The product as the suites see it: open a memory with a clock that is set by hand, write, search.

The one file of the suites that imports the product.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Self, cast

from afterwit import (
    Afterwit,
    AfterwitError,  # noqa: F401  for the runner
    Receipt,
    SearchOptions,
    Status,
    Trust,
    Turn,
    UpdateFields,
    WriteFields,
    Writer,
    load_settings,
    rank,
    reading,  # noqa: F401  for the fitting
    text,
    traits,  # noqa: F401
)
from afterwit.embedding import Embedder, embed_queries, open_embedder
from afterwit.recall import candidate_signals
from afterwit.records import KeyFilter, Kind, Memory, Step, Task, TaskStatus
from afterwit.review import Finding, remembered, review_steps
from afterwit.service.options import read_question
from afterwit.storage import Order, open_store

#: Results that an arm is asked for when only its order is judged.
DEPTH = 50

_WRITERS = {"user": Writer("user", Trust.USER), "agent": Writer("agent", Trust.AGENT)}


class Clock:
    """Tells the time it was set to, a microsecond later each time, so that ids follow the order of writing."""

    def __init__(self) -> None:
        """Stands at 2020 until it is set."""
        self._now = datetime(2020, 1, 1, tzinfo=UTC)

    def set(self, now: datetime) -> None:
        """Jump to a time."""
        self._now = now

    def __call__(self) -> datetime:
        """The time."""
        self._now += timedelta(microseconds=1)
        return self._now


@dataclass(frozen=True)
class Entry:
    """Something to write."""

    #: name by which the data calls it; several entries may share one
    key: str
    content: str
    at: datetime
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: "user" or "agent"
    by: str = "user"
    #: key of an earlier entry that this one corrects
    corrects: str = ""
    #: for a turn of a conversation: who speaks, and in which session
    speaker: str = ""
    session: str = ""


@dataclass(frozen=True)
class Ask:
    """One search."""

    query: str
    now: datetime
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Shelf:
    """One space with what was written to it, and how to search it in each way."""

    service: Afterwit
    embedder: Embedder | None
    clock: Clock
    #: memory id -> keys of the entries it carries
    keys: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: key -> receipt of the last write under it
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])
    #: number of entries that the gate refused
    refused: int = 0
    _all: dict[KeyFilter, list[str]] = field(default_factory=dict[KeyFilter, list[str]])

    def write(self, entries: Sequence[Entry]) -> None:
        """Write entries in their order, each at its time."""
        self._all.clear()
        services = {name: self.service.as_writer(writer) for name, writer in _WRITERS.items()}
        for session, said in groupby((entry for entry in entries if entry.session), key=lambda entry: entry.session):
            self._converse(session, list(said))
        for entry in (entry for entry in entries if not entry.session):
            self.clock.set(entry.at)
            service = services[entry.by]
            if entry.corrects:
                # It stays where it is.
                fields = {name: value for name, value in entry.fields.items() if name not in ("scope", "role")}
                update = cast("UpdateFields", {"content": entry.content, **fields})
                receipt = service.update(self.receipts[entry.corrects].id, **update)
            else:
                fields = cast("WriteFields", {"happened_at": entry.at, **entry.fields})
                receipt = service.write_many([(entry.content, fields)])[0]
            self.receipts[entry.key] = receipt
            self.refused += not receipt.accepted
            for part in receipt.parts or (receipt,):
                if part.id:
                    self.keys.setdefault(part.id, []).append(entry.key)

    def _converse(self, session: str, said: Sequence[Entry]) -> None:
        self.clock.set(said[-1].at)
        turns = [Turn(entry.speaker, entry.content, entry.at) for entry in said]
        for id, entry in zip(self.service.write_conversation(turns, session=session), said, strict=True):
            self.keys.setdefault(id, []).append(entry.key)

    @property
    def current(self) -> int:
        """Number of memories that are current."""
        return self.service.store.count(self.service.space, KeyFilter())

    def names(self, ids: Sequence[str]) -> list[str]:
        """Keys of the entries behind memory ids, best first, each once; an unknown id stays as it is."""
        return list(dict.fromkeys(key for id in ids for key in self.keys.get(id, [f"?{id}"])))

    # --- arms ------------------------------------------------------------------------------------

    def ours(self, ask: Ask) -> list[str]:
        """Memory ids as the product answers."""
        self.clock.set(ask.now)
        answer = self.service.search(ask.query, **cast("SearchOptions", dict(ask.options)))
        return [hit.memory.id for hit in answer.hits]

    def ranked(self, ask: Ask) -> list[str]:
        """Memory ids in the product's order, without its cut and with near-duplicates."""
        return self.ours(Ask(ask.query, ask.now, {**ask.options, "exhaustive": True}))

    def words(self, ask: Ask) -> list[str]:
        """Memory ids by BM25 alone."""
        tokens = text.query_tokens(ask.query)
        where = _where(ask)
        found = self.service.store.search_words(self.service.space, where, tokens, limit=_limit(ask)) if tokens else []
        return [scored.id for scored in found]

    def vectors(self, ask: Ask) -> list[str]:
        """Memory ids by cosine alone."""
        if self.embedder is None:
            return []
        vector, model = embed_queries(self.embedder, [ask.query])[0], self.embedder.model
        store, space = self.service.store, self.service.space
        return [scored.id for scored in store.search_vectors(space, _where(ask), vector, model, limit=_limit(ask))]

    def rrf(self, ask: Ask) -> list[str]:
        """Memory ids by plain reciprocal rank fusion of words and vectors, k = 60 (Cormack et al. 2009)."""
        deep = Ask(ask.query, ask.now, {**ask.options, "top_k": DEPTH})
        scores: dict[str, float] = {}
        for ranking in (self.words(deep), self.vectors(deep)):
            for position, id in enumerate(ranking, start=1):
                scores[id] = scores.get(id, 0.0) + 1 / (60 + position)
        return sorted(scores, key=lambda id: (-scores[id], id))[: _limit(ask)]

    def everything(self, ask: Ask) -> list[str]:
        """Ids of all memories that the filter leaves, newest first."""
        where, store = _where(ask), self.service.store
        if where not in self._all:
            found = store.find(self.service.space, where, order=Order.LATEST, limit=100_000)
            self._all[where] = [memory.id for memory in found]
        return self._all[where]

    def signals(self, ask: Ask) -> tuple[list[str], rank.Floats]:
        """What the product notices of each candidate: memory ids, and an array of shape (ids, `rank.SIGNALS`)."""
        options = cast("SearchOptions", dict(ask.options))
        question = read_question(ask.query, options, settings=self.service.settings, now=ask.now)
        return candidate_signals(self.service.store, self.service.space, question, self.embedder)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Memories of this space by id; ids of other spaces are left out."""
        found = self.service.store.get(self.service.space, ids)
        return [found[id] for id in ids if id in found]


#: Ways to search, by name.
ARMS = ("ours", "ranked", "words", "vectors", "rrf", "everything")


def _limit(ask: Ask) -> int:
    return int(ask.options.get("top_k", 5))


def _where(ask: Ask) -> KeyFilter:
    """The key filter of a plain baseline: the same scopes, roles and times that the product looks at."""
    options = ask.options
    as_of, role = options.get("as_of"), str(options.get("role", ""))
    at = datetime.fromisoformat(as_of) if isinstance(as_of, str) else as_of
    return KeyFilter(
        scopes=("global", *options.get("scopes", ())),
        roles=("", role) if role else ("",),
        statuses=(Status.ACTIVE,) if at is None else (Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED),
        valid_at=at or ask.now,
    )


class Product:
    """A store in memory and one embedder, shared by all spaces of a run."""

    def __init__(self, *, embedder: str = "use", timezone: str = "UTC") -> None:
        """Open them.

        Args:
            embedder: as in the setting of that name.
            timezone: in which "last week" is meant.
        """
        data_dir = Path(tempfile.gettempdir()) / "afterwit-evals"
        overrides = {"data_dir": str(data_dir), "store": "sqlite://", "embedder": embedder, "timezone": timezone}
        self.settings = load_settings(environ={}, overrides=overrides)
        self.embedder = open_embedder(self.settings)
        self._store = open_store("sqlite://")

    @property
    def model(self) -> str:
        """Id of the embedding model."""
        return self.embedder.model if self.embedder is not None else "none"

    def shelf(self, space: str, *, timezone: str = "") -> Shelf:
        """A new space of that name in the store."""
        overrides = {"data_dir": str(self.settings.data_dir), "store": "sqlite://", "space": space}
        overrides |= {"embedder": self.settings.embedder, "timezone": timezone or self.settings.timezone}
        clock = Clock()
        settings = load_settings(environ={}, overrides=overrides)
        return Shelf(Afterwit(self._store, self.embedder, settings=settings, clock=clock), self.embedder, clock)

    def close(self) -> None:
        """Drop everything."""
        self._store.close()
        if self.embedder is not None:
            self.embedder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class TaskStep:
    """One step of a recorded run."""

    action: str
    given: str
    output: str = ""
    rationale: str = ""


@dataclass(frozen=True)
class Lookback:
    """What looking back at a run gave."""

    #: every finding with all its words
    findings: tuple[str, ...]
    #: the run in a few points
    points: tuple[str, ...]
    #: how many of the findings are lessons
    lessons: int
    #: how it ended, as its own signs show; empty = unclear
    outcome: str
    #: every memory of how it went, beside the findings, with all its words
    kept: tuple[str, ...] = ()


def look_back(goal: str, steps: Sequence[TaskStep], *, outcome: TaskStatus | None = None) -> Lookback:
    """Review a recorded run by rules alone.

    Args:
        goal: what was asked.
        steps: what was done.
        outcome: how it ended, where that was recorded; the memories of how it went say so.
    """
    started = datetime(2025, 6, 2, 9, tzinfo=UTC)
    task = Task("run", "evals", goal, started)
    taken = [
        Step(f"step-{at}", "evals", "run", at, one.action, started, one.given, one.output, one.rationale)
        for at, one in enumerate(steps)
    ]
    review = review_steps(task, taken)
    ended = replace(task, status=outcome or task.status)
    kept = remembered(ended, taken, review_steps(ended, taken) if outcome else review)
    lessons = sum(one.kind is Kind.LESSON for one in review.findings)
    points = tuple(point.text for point in review.episode.points)
    return Lookback(_told(review.findings), points, lessons, review.outcome or "", _told(kept))


def _told(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple("\n".join((one.summary, *(str(value) for value in one.structured.values()))) for one in findings)


def check_embedder(name: str) -> None:
    """Open an embedder and close it again, so that a name that is wrong is said before anything runs.

    Raises:
        AfterwitError: there is none of that name, or its package is not installed.
    """
    embedder = open_embedder(load_settings(overrides={"embedder": name}))
    if embedder is not None:
        embedder.close()
