"""The nouns: memory, task, step, use, link, event, receipt, and the key filter."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, Self

from afterwit.clock import to_us

Json = Mapping[str, Any]


class Kind(StrEnum):
    """What sort of conclusion a memory is; decides decay and layer, nothing else."""

    PREFERENCE = "preference"
    FACT = "fact"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    FAILURE = "failure"
    LESSON = "lesson"
    RULE = "rule"
    INTENT = "intent"


#: Layers are views over kinds.
LAYERS: dict[str, frozenset[Kind]] = {
    "episodic": frozenset({Kind.DECISION, Kind.FAILURE}),
    "semantic": frozenset({Kind.PREFERENCE, Kind.FACT, Kind.CONSTRAINT, Kind.LESSON, Kind.RULE}),
    "prospective": frozenset({Kind.INTENT}),
}


class Basis(StrEnum):
    """The evidence a memory rests on, strongest first."""

    STATED = "stated"
    VERIFIED = "verified"
    OBSERVED = "observed"
    INFERRED = "inferred"
    REFLECTED = "reflected"
    IMPORTED = "imported"

    @property
    def strength(self) -> int:
        """5 for `stated` down to 0 for `imported`; higher is stronger evidence."""
        return len(Basis) - 1 - list(Basis).index(self)


class Trust(IntEnum):
    """Who vouches for a memory; set by the credential that writes, never by the request."""

    EXTERNAL = 0
    AGENT = 1
    USER = 2
    CONFIRMED = 3


class Status(StrEnum):
    """Where a memory is in its life; only `active` ones are recalled by default."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    QUARANTINED = "quarantined"
    FORGOTTEN = "forgotten"


class Standing(StrEnum):
    """How far a memory is proved."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"


class LinkType(StrEnum):
    """What an edge between two records means; read "source TYPE target"."""

    SUPERSEDES = "supersedes"
    CONFLICTS = "conflicts"
    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    ABOUT = "about"
    CAUSED = "caused"


class Outcome(StrEnum):
    """What a write did."""

    STORED = "stored"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    UPDATED = "updated"
    FORGOTTEN = "forgotten"
    ERASED = "erased"


class TaskStatus(StrEnum):
    """Whether a task still runs, and how it ended."""

    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


#: Fields of `structured` in which a turn of a conversation keeps the ids of the turns before and after it.
NEIGHBOUR_FIELDS = ("previous", "next")
#: The field that every turn of a conversation has.
SPEAKER = "speaker"
#: The field that every value under a key has: {"namespace": [...], "key": ..., "value": {...}}.
ITEM = "item"

#: The scope that every search sees unless told otherwise.
GLOBAL = "global"


def new_id(now: datetime) -> str:
    """A UUIDv7 as text (RFC 9562, section 5.7): 48 bits of milliseconds, 12 bits of the
    millisecond's fraction (method 3 of section 6.2), 62 random bits. Ids sort by time."""
    microseconds = to_us(now)
    milliseconds, rest = divmod(microseconds, 1000)
    fraction = rest * 4096 // 1000
    value = milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def short_id(id: str) -> str:
    """The random end of an id, enough to name it in a text: 8 hexadecimal digits."""
    return id[-8:]


@dataclass(frozen=True)
class Source:
    """Where a memory came from."""

    #: "user", "agent", "tool", "test", "web", "import" or "review"
    kind: str = "agent"
    #: session, file, URL or task that it can be traced to; empty when unknown
    ref: str = ""


@dataclass(frozen=True)
class Memory:
    """One conclusion worth keeping. Its text never changes: a correction is a new memory
    that supersedes this one; everything else about it may change, with an event each time."""

    #: UUIDv7 text
    id: str
    #: the tenant; every query is bound to one
    space: str
    #: one or two sentences: what is shown to an agent
    summary: str
    kind: Kind
    #: when the store learned it (aware UTC)
    recorded_at: datetime
    #: when it happened in the world (aware UTC)
    happened_at: datetime
    #: "global", "project:NAME", "session:ID" or "task:ID"
    scope: str = GLOBAL
    #: agent role whose pool it is in; empty = shared pool
    role: str = ""
    #: whom or what it is about, folded ("user", "project:atlas", "张三"); empty = nobody in particular
    subject: str = ""
    #: folded word of the vocabulary, or free; empty = none
    topic: str = ""
    #: folded, sorted, unique
    tags: tuple[str, ...] = ()
    #: the words it came from, byte for byte
    raw: str = ""
    #: per kind; see docs/concepts.md
    structured: Json = field(default_factory=dict[str, Any])
    basis: Basis = Basis.INFERRED
    trust: Trust = Trust.AGENT
    source: Source = Source()
    #: 0..1
    confidence: float = 0.6
    standing: Standing = Standing.PENDING
    status: Status = Status.ACTIVE
    #: start of the time in which it holds, inclusive; None = always did
    valid_from: datetime | None = None
    #: end of the time in which it holds, exclusive; None = still does
    valid_to: datetime | None = None
    #: `valid_to` as it was before a later memory ended this one; what was believed until `retired_at`
    valid_to_believed: datetime | None = None
    #: when it stopped being `active`; None while it is
    retired_at: datetime | None = None
    #: id of the memory that replaced it
    superseded_by: str = ""
    #: independent sources (sessions, files, tasks) that said the same, sorted; 100 repeats in one are one
    supporters: tuple[str, ...] = ()
    last_validated_at: datetime | None = None
    last_used_at: datetime | None = None
    #: times it was shown and used
    use_count: int = 0
    #: sums of the credit from tasks that it was used in, >= 0; a relied-on memory counts 1 a task, a shown one less
    helped: float = 0.0
    harmed: float = 0.0
    #: machine-checked conditions: tool, version, os, repo
    applies: Json = field(default_factory=dict[str, Any])

    @property
    def support(self) -> int:
        """Number of independent sources, at least 1."""
        return max(1, len(self.supporters))

    def holds_at(self, moment: datetime) -> bool:
        """Whether `moment` lies in the half-open interval [valid_from, valid_to)."""
        started = self.valid_from is None or self.valid_from <= moment
        return started and (self.valid_to is None or moment < self.valid_to)


@dataclass(frozen=True)
class Alias:
    """Another name of somebody or something: both names are one entity until it is dropped."""

    space: str
    #: the other name, folded as subjects are; has one meaning in a space
    alias: str
    #: the name that it stands for, folded; may be an alias itself
    name: str
    since: datetime
    #: "given" by a person or agent, or "learned" from what was written
    source: str = "given"
    #: the memory that it was learned from; empty when given
    memory_id: str = ""


@dataclass(frozen=True)
class Task:
    """Working memory for one piece of work."""

    id: str
    space: str
    goal: str
    started_at: datetime
    scope: str = GLOBAL
    role: str = ""
    constraints: tuple[str, ...] = ()
    status: TaskStatus = TaskStatus.OPEN
    outcome: str = ""
    ended_at: datetime | None = None
    #: session it runs in; what two tasks of one session show is one piece of evidence. Empty = unknown
    session: str = ""
    #: where it runs: {"os": "linux", "repo": "atlas", "tools": {"python": "3.12.1"}}; {} = unknown
    environment: Json = field(default_factory=dict[str, Any])
    #: it ends by itself after this many steps
    step_limit: int = 500
    #: it ends by itself at this moment; None = never
    deadline: datetime | None = None
    #: when its lessons were drawn; None = not yet
    reviewed_at: datetime | None = None
    #: why the last review failed; empty when it did not
    review_error: str = ""


@dataclass(frozen=True)
class Step:
    """One entry of a task's trajectory; append-only."""

    id: str
    space: str
    task_id: str
    #: position in the task, from 0
    position: int
    #: the tool that was called ("bash", "mcp__playwright__click"), or "user", "decision", "check", "note"
    action: str
    happened_at: datetime
    input: str = ""
    output: str = ""
    rationale: str = ""
    #: None = neither success nor failure
    ok: bool | None = None


@dataclass(frozen=True)
class Use:
    """A memory was shown to a task, and perhaps cited by it."""

    id: str
    space: str
    memory_id: str
    used_at: datetime
    task_id: str = ""
    #: the agent named it as what it relied on
    cited: bool = False
    #: it would have been shown, but was left out at random to measure what it is worth
    withheld: bool = False
    #: how much the task's end spoke for (> 0) or against (< 0) the memory, -1..1; 0 = nothing or not yet known
    credit: float = 0.0


@dataclass(frozen=True)
class Link:
    """A typed edge, read "source TYPE target"."""

    space: str
    source_id: str
    type: LinkType
    target_id: str
    created_at: datetime
    note: str = ""


@dataclass(frozen=True)
class Event:
    """One entry of the append-only history: who did what to which memory, and when."""

    #: position in the space's history, from 1, without gaps
    sequence: int
    space: str
    #: "add", "supersede", "reinforce", "revise", "retire", "quarantine", "use", "credit", "erase", "link",
    #: "set_alias", "drop_alias", "start_task", "log_step", "finish_task", "review_task", "erase_task"
    action: str
    memory_id: str
    at: datetime
    #: who wrote: "agent", "user", "import", ...
    actor: str
    #: changed fields and reason; never text that was erased
    detail: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Candidate:
    """A statement on its way to becoming a memory: what gate, extract and resolve pass on."""

    #: one or two sentences, self-contained
    summary: str
    kind: Kind
    subject: str = ""
    topic: str = ""
    #: the value that the statement gives for (subject, topic), as written ("Shanghai", "Java 17"); "" = unknown
    value: str = ""
    tags: tuple[str, ...] = ()
    raw: str = ""
    structured: Json = field(default_factory=dict[str, Any])
    basis: Basis = Basis.INFERRED
    confidence: float = 0.6
    happened_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    #: the words themselves speak of a change: "moved to", "no longer", "from now on", 搬到, 改用, 不再
    is_change: bool = False
    #: the statement denies: "does not use Java", 不用 Java
    is_negated: bool = False


@dataclass(frozen=True)
class Receipt:
    """What a write did. Never a silent drop."""

    outcome: Outcome
    #: the memory that now carries what was said; empty when rejected
    id: str = ""
    #: stable words ("duplicate", "chatter", "value_changed", ...) in the order they were decided
    reasons: tuple[str, ...] = ()
    #: one plain sentence for people and agents
    message: str = ""
    #: other memories concerned: superseded, merged into, in conflict
    related: tuple[str, ...] = ()
    #: one receipt per memory when the text held several statements
    parts: tuple["Receipt", ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether what was said can be recalled now or after review."""
        return self.outcome is not Outcome.REJECTED


@dataclass(frozen=True)
class Vector:
    """An embedding and the model that made it; vectors of different models never meet."""

    #: covers everything that changes the vectors: provider, name, version, dimensions, preparation
    model: str
    #: little-endian float16 of shape (dimensions,), unit length
    data: bytes

    @property
    def dimensions(self) -> int:
        """Length of the vector."""
        return len(self.data) // 2


@dataclass(frozen=True)
class KeyFilter:
    """The first stage of every search: what may be looked at, decided by keys alone.

    All given conditions must hold. An empty tuple means "any".
    """

    #: scopes that may be seen
    scopes: tuple[str, ...] = ()
    #: role pools that may be seen; "" is the shared pool
    roles: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    subjects: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    #: memories with at least one of these
    tags: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    #: standings that are left out
    without_standings: tuple[Standing, ...] = (Standing.REFUTED,)
    min_trust: Trust = Trust.EXTERNAL
    #: only what is confirmed or vouched for by a user (trust >= USER): the bar for acting on it
    proven_only: bool = False
    #: only what holds at this moment (valid_from <= moment < valid_to); None = regardless of validity
    valid_at: datetime | None = None
    #: widens `valid_at` to a range: what holds at any moment of [valid_at, valid_through)
    valid_through: datetime | None = None
    #: what the store believed at this moment: recorded by then and not yet retired; `statuses` is
    #: then ignored and validity is judged by `valid_to_believed` where it was retired later
    known_at: datetime | None = None
    #: half-open range of happened_at
    happened_from: datetime | None = None
    happened_to: datetime | None = None

    @classmethod
    def everything(cls) -> Self:
        """Every row of the space in any state."""
        return cls(statuses=tuple(Status), without_standings=())

    def passes(self, memory: Memory) -> bool:
        """Whether a memory may be looked at."""
        wanted = (
            (self.scopes, memory.scope),
            (self.roles, memory.role),
            (self.kinds, memory.kind),
            (self.subjects, memory.subject),
            (self.topics, memory.topic),
        )
        vouched = memory.standing is Standing.CONFIRMED or memory.trust >= Trust.USER
        return (
            all(not values or value in values for values, value in wanted)
            and (not self.tags or not set(self.tags).isdisjoint(memory.tags))
            and memory.standing not in self.without_standings
            and memory.trust >= self.min_trust
            and (vouched or not self.proven_only)
            and (self.happened_from is None or self.happened_from <= memory.happened_at)
            and (self.happened_to is None or memory.happened_at < self.happened_to)
            and self._is_believed(memory)
            and self._holds(memory)
        )

    def _is_believed(self, memory: Memory) -> bool:
        if self.known_at is None:
            return not self.statuses or memory.status in self.statuses
        return memory.recorded_at <= self.known_at and (memory.retired_at is None or self.known_at < memory.retired_at)

    def _holds(self, memory: Memory) -> bool:
        if self.valid_at is None:
            return True
        if self.known_at is not None and memory.retired_at is not None:
            memory = replace(memory, valid_to=memory.valid_to_believed)
        if self.valid_through is None:
            return memory.holds_at(self.valid_at)
        begins = self.valid_at if memory.valid_from is None else max(self.valid_at, memory.valid_from)
        return begins < self.valid_through and memory.holds_at(begins)
