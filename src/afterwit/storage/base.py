"""The store contract, in prose and as protocols. `afterwit.testing.StoreContract` checks it on
every engine.

1.  Rows are the truth. Words and vectors are derived: `rebuild_words` makes the word index anew
    from the rows; vectors are made anew by the service, which has the embedder.
2.  Every call names a space and never sees, counts or changes anything of another one. An id of
    another space is an absent id.
3.  Scores are higher-is-better, results are best first, equal scores are ordered by id. Raising
    `limit` never changes the first results.
4.  The key filter is part of the query, for words and vectors alike: rows that it drops change
    neither the results nor (beyond noise) the time.
5.  `Transaction.apply` is all or nothing, changes and history together. When the `with` block of
    a transaction ends without an error, everything in it survives a kill of the process.
6.  Write transactions of one space follow one another: what a transaction reads does not change
    until it ends. Several processes may open the same store; none of them ever sees a lock error
    unless a writer holds the store for longer than the configured wait.
7.  Text comes back byte for byte, times to the microsecond and in UTC, JSON with equal values.
    What was read never changes under the reader's hands (frozen records).
8.  A dead or unusable engine raises `StorageError`; a change that names an absent memory raises
    `NotFound`; adding an id twice raises `Conflict`.
9.  `erase` leaves no trace of the memory's text in rows, indexes, history or (embedded engine)
    raw bytes of its files once the call returns.
10. Vectors of different models never meet: a query names the model, other vectors do not exist
    for it.
11. A reader sees every transaction that was committed before the read began, by whatever process.
    The questions of one `reading` see one state, or move on to a later one when others commit
    meanwhile; never back.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from afterwit.records import (
    SPEAKER,
    Alias,
    Basis,
    Change,
    Event,
    KeyFilter,
    Kind,
    Link,
    LinkType,
    Memory,
    Source,
    Standing,
    Status,
    Step,
    Task,
    TaskStatus,
    Trust,
    Use,
    Vector,
)


class Order(StrEnum):
    """In which order `find` returns rows; ties by id."""

    #: recorded last first
    NEWEST = "newest"
    #: recorded first first
    OLDEST = "oldest"
    #: happened last first
    LATEST = "latest"


@dataclass(frozen=True)
class Scored:
    """One result of a search path."""

    id: str
    #: higher is better; words: BM25, >= 0; vectors: cosine, -1..1
    score: float


@dataclass(frozen=True)
class WordStatistics:
    """How common words are among the current memories of a space."""

    #: number of active memories in the space
    total: int
    #: token -> number of active memories that contain it (absent tokens: 0)
    containing: Mapping[str, int]


class Vitals(NamedTuple):
    """All of a memory but its words: what its age and the health of a space are judged by.

    A tuple, since it is made of every row of a space at once.
    """

    id: str
    kind: Kind
    status: Status
    standing: Standing
    basis: Basis
    trust: Trust
    confidence: float
    scope: str
    role: str
    recorded_at: datetime
    valid_to: datetime | None
    retired_at: datetime | None
    last_validated_at: datetime | None
    last_used_at: datetime | None
    use_count: int
    helped: float
    harmed: float
    source: Source
    #: `text.statement_key` of the summary
    statement_key: str
    #: a turn of a conversation: what was said, not what is so
    is_turn: bool

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """Those of a memory at hand, but for the statement key, which costs more to make than all the rest."""
        return cls(
            memory.id,
            memory.kind,
            memory.status,
            memory.standing,
            memory.basis,
            memory.trust,
            memory.confidence,
            memory.scope,
            memory.role,
            memory.recorded_at,
            memory.valid_to,
            memory.retired_at,
            memory.last_validated_at,
            memory.last_used_at,
            memory.use_count,
            memory.helped,
            memory.harmed,
            memory.source,
            "",
            SPEAKER in memory.structured,
        )


@dataclass(frozen=True)
class LLMUse:
    """What one call of a language model took. Holds nothing of what was asked or answered."""

    at: datetime
    #: name and version of the prompt, such as "review/1"
    purpose: str
    model: str
    #: tokens read and written, >= 0
    input_tokens: int
    output_tokens: int
    #: why it failed, one word; empty when it did not
    error: str = ""


class Reader(Protocol):
    """What can be asked. All methods see one space only."""

    def get(self, space: str, ids: Sequence[str]) -> dict[str, Memory]:
        """Rows by id, in any state; absent ids are left out."""
        ...

    def find(
        self, space: str, where: KeyFilter, *, order: Order = Order.NEWEST, limit: int = 100, offset: int = 0
    ) -> list[Memory]:
        """Rows that pass the filter."""
        ...

    def count(self, space: str, where: KeyFilter) -> int:
        """Number of rows that pass the filter."""
        ...

    def ids_starting_with(self, space: str, prefix: str, *, limit: int = 10) -> list[str]:
        """Ids in any state whose text starts with or ends with `prefix`, sorted; for people who
        type a part of an id."""
        ...

    def find_statement(self, space: str, where: KeyFilter, statement: str) -> list[Memory]:
        """Rows that pass the filter and whose summary has this `text.statement_key`, newest first:
        the same thing said again, or its denial. An index look-up, whatever the size."""
        ...

    def known_subjects(self, space: str) -> list[str]:
        """Distinct non-empty subjects of the active memories, sorted. Asked by every search: cheap."""
        ...

    def aliases(self, space: str) -> list[Alias]:
        """Other names of the space's entities, by alias. A learned one counts while the memory that it was
        learned from is active, superseded or expired, and not refuted. Asked by every search: cheap."""
        ...

    def known_scopes(self, space: str) -> list[str]:
        """Distinct scopes of the active memories, sorted."""
        ...

    def change_number(self, space: str) -> int:
        """A number that every committed change of the space raises, whoever makes it; 0 for a space that
        nobody wrote to. While it stays the same, so does the answer to every question. Very cheap."""
        ...

    def next_turn(self, space: str, after: datetime) -> datetime | None:
        """The first moment later than `after` at which a memory, in whatever state, begins or ceases to
        hold; None when there is none. Asked by most searches: cheap."""
        ...

    def next_start(self, space: str, after: datetime) -> datetime | None:
        """The first moment later than `after` at which an active memory begins to hold; None when there is none.
        Cheap."""
        ...

    def other_models(self, space: str, model: str) -> list[str]:
        """Other models that have vectors in the space, sorted, as long as some memory that is not
        forgotten has no vector of `model`; then none. Asked by every search: cheap."""
        ...

    def search_words(self, space: str, where: KeyFilter, tokens: Sequence[str], *, limit: int) -> list[Scored]:
        """Memories that contain any of the tokens (as made by `text.query_tokens`), by BM25."""
        ...

    def begin_search_vectors(
        self, space: str, where: KeyFilter, query: NDArray[np.float32], model: str, *, limit: int
    ) -> None:
        """Say that `search_vectors` will be asked the same in a moment: a backend may begin already, beside what is
        asked meanwhile. Changes no answer."""
        ...

    def search_vectors(
        self, space: str, where: KeyFilter, query: NDArray[np.float32], model: str, *, limit: int, lacking: str = ""
    ) -> list[Scored]:
        """Memories by cosine to `query`, float32 of shape (dimensions,), unit length; exact.

        `lacking` names another model: only memories that have no vector of that one are looked at.
        """
        ...

    def vectors(self, space: str, ids: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        """Stored vectors as float32 of shape (dimensions,); ids without one are left out."""
        ...

    def word_statistics(self, space: str, tokens: Sequence[str]) -> WordStatistics:
        """How common each token is among the active memories of the space."""
        ...

    def vitals(self, space: str, *, statuses: Sequence[Status] = ()) -> list[Vitals]:
        """What can be told of every memory of the space, or of those of some statuses, without reading its words;
        by the time of recording, then id. Made for whole spaces: 100,000 rows take a second or two."""
        ...

    def links_of_type(self, space: str, type: LinkType) -> list[Link]:
        """All links of one type, by creation time."""
        ...

    def links(self, space: str, ids: Sequence[str]) -> list[Link]:
        """Links that start or end at any of the ids, by creation time."""
        ...

    def uses(self, space: str, memory_id: str = "", *, task_id: str = "") -> list[Use]:
        """When and where a memory was shown, what a task was shown, or both; oldest first."""
        ...

    def events(self, space: str, *, memory_id: str = "", after: int = 0, limit: int = 1000) -> list[Event]:
        """History of the space or of one memory, oldest first, sequence > `after`."""
        ...

    def task(self, space: str, task_id: str) -> Task | None:
        """One task, or None."""
        ...

    def tasks(
        self, space: str, *, statuses: Sequence[TaskStatus] = (), session: str = "", unreviewed: bool = False
    ) -> list[Task]:
        """Tasks by start, then id: all, or those of some statuses, of one session, or not yet looked back at."""
        ...

    def count_steps(self, space: str, task_id: str) -> int:
        """Number of a task's steps."""
        ...

    def steps(self, space: str, task_id: str) -> list[Step]:
        """A task's steps by position."""
        ...

    def step_tasks(self, space: str, ids: Sequence[str]) -> dict[str, str]:
        """Step id -> its task, of those steps that are there. An index look-up, whatever the size."""
        ...


class Transaction(Reader, Protocol):
    """Reads and writes of one space that belong together."""

    def apply(self, changes: Iterable[Change]) -> list[Event]:
        """Make the changes, in order, with one event each.

        Raises:
            NotFound: a change names a memory, task or alias that is not in the space.
            Conflict: an id is added twice, or a step is logged to an ended task.
        """
        ...


class Store(Reader, Protocol):
    """A place where memories are kept."""

    #: the URL it was opened with, without a password
    url: str

    def transaction(self, space: str, *, now: datetime, actor: str) -> AbstractContextManager[Transaction]:
        """Begin a write. Commits when the block ends, rolls back when it raises.

        Args:
            space: the tenant; made on first use.
            now: the time of the events.
            actor: who writes, for the history.
        """
        ...

    def reading(self) -> AbstractContextManager[Reader]:
        """Begin several questions that belong together: cheaper than asking the store each of them, and
        seldom of different states. For one thread, and for moments only: it holds a connection."""
        ...

    def spaces(self) -> list[str]:
        """Names of the spaces that exist, sorted. For administration only."""
        ...

    def models(self, space: str) -> dict[str, int]:
        """Model id -> number of vectors of it."""
        ...

    def without_vector(self, space: str, model: str, *, limit: int, after: Memory | None = None) -> list[Memory]:
        """Rows (in any state but forgotten) that have no vector of the model, oldest first, ties by id;
        with `after`, only those that come after that one, so that nothing is gone through twice."""
        ...

    def count_without_vector(self, space: str, model: str) -> int:
        """Number of rows that `without_vector` would go through."""
        ...

    def take_lease(self, space: str, work: str, *, holder: str, now: datetime, lasts_s: float) -> bool:
        """Claim some work in a space for a while, among all processes that share the store.

        Args:
            space: the tenant; it need not exist yet.
            work: what is claimed.
            holder: who claims it; the present holder prolongs its lease.
            now: the present time.
            lasts_s: after this many seconds the lease is free again, whatever became of its holder.

        Returns:
            Whether it is the holder's now. Not part of the history.
        """
        ...

    def end_lease(self, space: str, work: str, *, holder: str) -> None:
        """Give back a lease; without effect when it is somebody else's by now."""
        ...

    def record_usage(self, space: str, use: LLMUse) -> None:
        """Keep what a call of a language model took. Not part of the history.

        Args:
            space: the tenant; made on first use.
            use: the call.
        """
        ...

    def usage(self, space: str, since: datetime, until: datetime) -> list[LLMUse]:
        """Calls of a language model in `[since, until)`, oldest first."""
        ...

    def put_vectors(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by memory id; ids that are gone are ignored. Not part of the history."""
        ...

    def drop_vectors(self, space: str, model: str) -> int:
        """Remove all vectors of a model, in transactions that let others write in between; returns how many."""
        ...

    def rebuild_words(self, space: str) -> int:
        """Make the word index of the space anew from the rows; returns the number of rows."""
        ...

    def check(self) -> list[str]:
        """Problems found in the files or schema, one sentence each; empty = healthy."""
        ...

    def close(self) -> None:
        """Release files and connections; using the store afterwards raises `StorageError`."""
        ...
