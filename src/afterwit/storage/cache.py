"""What one process keeps of one space to search it fast: key columns, postings, vectors.

The cache follows the space's change number, so that it sees what other processes committed. Reads
inside a write transaction see its own changes: they are taken up tentatively, and undone if
somebody else looks or the transaction fails.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from afterwit.clock import from_us, to_us
from afterwit.errors import InvalidInput
from afterwit.records import Alias, KeyFilter
from afterwit.storage.base import Scored, WordStatistics
from afterwit.storage.columns import SELECT_KEYS, Columns, Mask, grown
from afterwit.storage.quantised import exact_cosines
from afterwit.storage.ranking import bar, best, bm25_weights
from afterwit.storage.scanning import Scan, ScannedVectors
from afterwit.storage.sqlite_files import driver
from afterwit.storage.sqlite_words import prefix
from afterwit.storage.tables import ROWS_PER_SPACE

_NUMBER_MASK = ROWS_PER_SPACE - 1
_CHUNK = 10_000
#: Bytes of postings kept per space.
_POSTING_BUDGET = 64 * 2**20
#: Key filters whose slots are kept.
_MOST_MASKS = 16
#: Words whose numbers of memories are kept.
_MOST_COUNTED = 20_000
#: Scans that were begun and not asked for yet: one for each thread that searches.
_MOST_BEGUN = 4

_FROM = f"SELECT {SELECT_KEYS} FROM memory m JOIN word w ON w.row = m.row"  # noqa: S608  constants only
_ALL_ROWS = f"{_FROM} WHERE m.row BETWEEN ? AND ? ORDER BY m.row"
# The plus keeps the planner from going through all rows in order instead of sorting the few that changed.
_CHANGED_ROWS = f"{_FROM} WHERE m.space_id = ? AND m.changed_seq > ? ORDER BY +m.row"
_CHANGED_COUNT = "SELECT count(*) FROM memory WHERE space_id = ? AND changed_seq > ?"
_ERASED_ROWS = "SELECT row FROM tombstone WHERE space_id = ? AND changed_seq > ?"
_CHANGE_SEQ = "SELECT change_seq FROM space WHERE id = ?"
_MODEL = "SELECT id, dimensions FROM model WHERE name = ?"
_MODELS_IN_USE = (
    "SELECT name FROM model WHERE EXISTS (SELECT 1 FROM vector WHERE model_id = model.id AND row BETWEEN ? AND ?) "
    "ORDER BY name"
)
_ALL_VECTORS = "SELECT row, data FROM vector WHERE model_id = ? AND row BETWEEN ? AND ? ORDER BY row"
_SOME_VECTORS = "SELECT row, data FROM vector WHERE model_id = ? AND row IN (SELECT value FROM json_each(?))"
_SOME_TOKENS = "SELECT row, tokens FROM word WHERE row IN (SELECT value FROM json_each(?))"
_ALIASES = (
    "SELECT a.alias, a.name, a.source, a.memory_id, a.since_us FROM alias a LEFT JOIN memory m "
    "ON m.space_id = a.space_id AND m.id = a.memory_id WHERE a.space_id = ? AND (a.memory_id = '' OR "
    "m.status IN ('active', 'superseded', 'expired') AND m.standing <> 'refuted') ORDER BY a.alias"
)
# As one text: a row for each number takes three times as long.
_POSTINGS = "SELECT group_concat(doc) FROM word_instance WHERE term = ?"


@dataclass
class _Posting:
    """The slots that hold a word, dead ones included, and how often."""

    slots: NDArray[np.int64]
    counts: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return self.slots.nbytes + self.counts.nbytes


@dataclass(frozen=True)
class _Passing:
    """What passes a key filter."""

    #: slots; never changed
    mask: Mask
    #: number of them, and the mean number of their tokens, at least 1
    total: int
    mean_length: float


@dataclass(frozen=True)
class _Aim:
    """What vectors are compared with."""

    model_id: int
    vectors: ScannedVectors
    #: unit length, shape (dimensions,)
    query: NDArray[np.float32]


@dataclass(frozen=True)
class Compared:
    """What a search by vectors found, and the vectors that were read for it."""

    best: list[Scored]
    #: id -> little-endian float16; these and some more
    vectors: dict[str, bytes]


@dataclass(frozen=True)
class _Begun:
    """A scan under way, and of what."""

    vectors: ScannedVectors
    mask: Mask
    limit: int
    finish: Callable[[], Scan]


@dataclass
class _Mark:
    """The committed state to go back to, and what was touched since."""

    owner: object
    seq: int
    count: int
    #: (number, slot before or -1)
    moved: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    words: set[str] = field(default_factory=set[str])
    models: set[int] = field(default_factory=set[int])


class SpaceCache:
    """Use it inside `at`; one thread at a time."""

    def __init__(self, space_id: int) -> None:
        self._space_id = space_id
        self._lock = threading.RLock()
        self._mark: _Mark | None = None
        self._reset()

    def _reset(self) -> None:
        self._seq = -1
        self._columns = Columns()
        self._slot_of: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._dead = 0
        self._postings: OrderedDict[str, _Posting] = OrderedDict()
        self._posting_bytes = 0
        self._models: dict[int, ScannedVectors] = {}
        self._present: dict[str, list[str]] = {}
        self._aliases: tuple[Alias, ...] | None = None
        self._others: dict[str, list[str]] = {}
        self._turns: NDArray[np.int64] | None = None
        self._starts: NDArray[np.int64] | None = None
        self._masks: OrderedDict[tuple[KeyFilter, int], _Passing] = OrderedDict()
        #: active memories and their number; of each word that was asked for, how many have it
        self._active: tuple[Mask, int] | None = None
        self._containing: dict[str, int] = {}
        self._begun: OrderedDict[bytes, _Begun] = OrderedDict()
        self._mark = None

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        # Asked while other threads search: the dictionaries may change meanwhile.
        vectors = sum(model.nbytes for model in list(self._models.values()))
        masks = len(self._masks) * self._columns.count
        return self._columns.nbytes + self._slot_of.nbytes + self._posting_bytes + vectors + masks

    @contextmanager
    def at(self, connection: Connection, owner: object | None) -> Generator[None]:
        """Bring the cache to the state that the connection sees, for the length of the block.

        Args:
            connection: inside a transaction.
            owner: the write transaction that asks, or None for a plain read.
        """
        with self._lock:
            if self._mark is not None and self._mark.owner is not owner:
                self._undo()
            try:
                self._refresh(connection, owner)
            except BaseException:
                self._reset()
                raise
            yield

    def settle(self, owner: object, *, committed: bool) -> None:
        """The write transaction `owner` has ended."""
        with self._lock:
            if self._mark is not None and self._mark.owner is owner:
                if committed:
                    self._mark = None
                else:
                    self._undo()

    # --- following the database -----------------------------------------------------------------

    def _refresh(self, connection: Connection, owner: object | None) -> None:
        seq = self._change_number(connection)
        if seq == self._seq:
            return
        if seq < self._seq and owner is None:
            # Somebody who began to read later was quicker: read that state, too. Going back means loading anew.
            driver(connection).execute("ROLLBACK")
            driver(connection).execute("BEGIN")
            seq = self._change_number(connection)
            if seq == self._seq:
                return
        self._forget_derived()
        if self._seq < 0 or seq < self._seq or self._is_stale(connection):
            self._reset()
            if owner is not None:
                # Going back from here means loading anew.
                self._mark = _Mark(owner, -1, 0)
            self._load(connection)
        else:
            if owner is not None and self._mark is None:
                self._mark = _Mark(owner, self._seq, self._columns.count)
            self._follow(connection)
        self._seq = seq

    def _change_number(self, connection: Connection) -> int:
        return driver(connection).execute(_CHANGE_SEQ, (self._space_id,)).fetchone()[0]

    def _forget_derived(self) -> None:
        """Drop what is worked out anew after any change."""
        self._present.clear()
        self._others.clear()
        self._aliases = None
        self._turns = None
        self._starts = None
        self._masks.clear()
        self._active = None
        self._containing.clear()
        self._begun.clear()

    def _is_stale(self, connection: Connection) -> bool:
        """Whether reading everything anew is cheaper than following."""
        alive = self._columns.count - self._dead
        if self._dead > max(1000, alive // 2):
            return True
        changed = driver(connection).execute(_CHANGED_COUNT, (self._space_id, self._seq)).fetchone()[0]
        return changed > max(1000, alive // 2)

    def _bounds(self) -> tuple[int, int]:
        low = self._space_id * ROWS_PER_SPACE
        return low, low + _NUMBER_MASK

    def _load(self, connection: Connection) -> None:
        cursor = driver(connection).execute(_ALL_ROWS, self._bounds())
        while rows := cursor.fetchmany(_CHUNK):
            self._columns.append(rows)
        numbers = self._columns.column("number").astype(np.int64)
        self._slot_of = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int32)
        self._slot_of[numbers] = np.arange(self._columns.count, dtype=np.int32)

    def _follow(self, connection: Connection) -> None:
        since = (self._space_id, self._seq)
        for (row,) in driver(connection).execute(_ERASED_ROWS, since):
            self._place(row & _NUMBER_MASK, -1)
        rows = driver(connection).execute(_CHANGED_ROWS, since).fetchall()
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK]
            self._append(chunk)
            self._follow_words(connection, [row[0] for row in chunk])
            for model_id, vectors in self._models.items():
                self._read_vectors(connection, model_id, vectors, [row[0] for row in chunk])

    def _append(self, rows: Sequence[Sequence[Any]]) -> None:
        first = self._columns.count
        self._columns.append(rows)
        for offset, row in enumerate(rows):
            self._place(row[0] & _NUMBER_MASK, first + offset)

    def _place(self, number: int, slot: int) -> None:
        """The memory's present state is in `slot` now; -1: it is gone."""
        before = len(self._slot_of)
        self._slot_of = grown(self._slot_of, number + 1)
        self._slot_of[before:] = -1
        old = int(self._slot_of[number])
        if old >= 0:
            self._columns.set_alive(old, False)
            self._dead += 1
        self._slot_of[number] = slot
        if self._mark is not None:
            self._mark.moved.append((number, old))

    def _follow_words(self, connection: Connection, rows: Sequence[int]) -> None:
        if not self._postings:
            return
        added: dict[str, list[tuple[int, int]]] = {}
        row: int
        tokens: str
        for row, tokens in driver(connection).execute(_SOME_TOKENS, (_json(rows),)):
            for word, count in Counter(tokens.split(" ")).items():
                if word in self._postings:
                    added.setdefault(word, []).append((int(self._slot_of[row & _NUMBER_MASK]), count))
        for word, entries in added.items():
            old = self._postings[word]
            slots, counts = zip(*sorted(entries), strict=True)
            new = _Posting(
                np.concatenate([old.slots, np.array(slots, dtype=np.int64)]),
                np.concatenate([old.counts, np.array(counts, dtype=np.int32)]),
            )
            self._postings[word] = new
            self._posting_bytes += new.nbytes - old.nbytes
            if self._mark is not None:
                self._mark.words.add(word)

    def _undo(self) -> None:
        mark = self._mark
        if mark is None or mark.seq < 0:
            self._reset()
            return
        self._mark = None
        self._forget_derived()
        for number, slot in reversed(mark.moved):
            self._slot_of[number] = slot
            if slot >= 0 and slot < mark.count:
                self._columns.set_alive(slot, True)
        self._columns.cut(mark.count)
        self._dead = int(mark.count - self._columns.alive.sum())
        for word in mark.words:
            posting = self._postings.pop(word, None)
            self._posting_bytes -= posting.nbytes if posting else 0
        for model_id in mark.models:
            self._models.pop(model_id, None)
        for vectors in self._models.values():
            vectors.clear_from(mark.count)
        self._seq = mark.seq

    # --- words ----------------------------------------------------------------------------------

    def search_words(self, connection: Connection, where: KeyFilter, tokens: Sequence[str], limit: int) -> list[Scored]:
        """See `Reader.search_words`. Statistics are those of the memories that pass the filter, so
        that others change nothing."""
        passing = self._passing(where)
        if not passing.total or not limit:
            return []
        lengths = self._columns.column("length")
        scores = np.zeros(self._columns.count, dtype=np.float64)
        # Always in the same order: sums of floats depend on it in their last digit.
        for token in sorted(set(tokens)):
            posting = self._posting(connection, token)
            slots, counts = posting.slots, posting.counts
            if passing.total < self._columns.count:
                kept = passing.mask[slots]
                slots, counts = slots[kept], counts[kept]
            if len(slots):
                scores[slots] += bm25_weights(
                    counts, lengths[slots], total=passing.total, mean_length=passing.mean_length
                )
        # Every weight is above 0. Finding what is true takes a fifth of the time of finding what is not 0.
        found = np.flatnonzero(scores > 0)
        return best(self._columns.column("id"), found, scores[found], limit)

    def word_statistics(self, connection: Connection, tokens: Sequence[str]) -> WordStatistics:
        """See `Reader.word_statistics`."""
        if self._active is None:
            active = self._columns.active()
            self._active = active, int(np.count_nonzero(active))
        active, total = self._active
        if len(self._containing) > _MOST_COUNTED:
            self._containing.clear()
        for token in set(tokens) - self._containing.keys():
            self._containing[token] = int(np.count_nonzero(active[self._posting(connection, token).slots]))
        return WordStatistics(total, {token: self._containing[token] for token in tokens})

    def _passing(self, where: KeyFilter) -> "_Passing":
        """What passes the filter, kept until something changes: searches differ in little but the moment of asking,
        and between two moments at which something begins or ceases to hold, that makes no difference."""
        key = (where, -1)
        if where.valid_at is not None and where.valid_through is None:
            turns = self._all_turns()
            key = (replace(where, valid_at=None), int(np.searchsorted(turns, to_us(where.valid_at), side="right")))
        passing = self._masks.get(key)
        if passing is None:
            mask = self._columns.mask(where)
            total = int(np.count_nonzero(mask))
            lengths = self._columns.column("length")
            mean_length = float(lengths.sum(where=mask, dtype=np.int64)) / max(total, 1)
            passing = self._masks[key] = _Passing(mask, total, max(mean_length, 1.0))
            if len(self._masks) > _MOST_MASKS:
                self._masks.popitem(last=False)
        else:
            self._masks.move_to_end(key)
        return passing

    def present(self, name: str) -> list[str]:
        """Distinct non-empty values of a key among the active memories, sorted."""
        if name not in self._present:
            self._present[name] = self._columns.present(name)
        return list(self._present[name])

    def aliases(self, connection: Connection, space: str) -> list[Alias]:
        """See `Reader.aliases`."""
        if self._aliases is None:
            rows = driver(connection).execute(_ALIASES, (self._space_id,))
            self._aliases = tuple(
                Alias(space, alias, name, from_us(since), source, memory_id)
                for alias, name, source, memory_id, since in rows
            )
        return list(self._aliases)

    def _posting(self, connection: Connection, token: str) -> _Posting:
        word = prefix(self._space_id) + token
        posting = self._postings.get(word)
        if posting is not None:
            self._postings.move_to_end(word)
            return posting
        joined = driver(connection).execute(_POSTINGS, (word,)).fetchone()[0]
        rows = np.fromstring(joined or "", dtype=np.int64, sep=",")
        numbers, counts = np.unique(rows & _NUMBER_MASK, return_counts=True)
        slots = self._slot_of[numbers].astype(np.int64)
        order = np.argsort(slots)
        posting = _Posting(slots[order], counts[order].astype(np.int32))
        self._postings[word] = posting
        self._posting_bytes += posting.nbytes
        if self._mark is not None:
            self._mark.words.add(word)
        while self._posting_bytes > _POSTING_BUDGET and len(self._postings) > 1:
            self._posting_bytes -= self._postings.popitem(last=False)[1].nbytes
        return posting

    # --- vectors --------------------------------------------------------------------------------

    def search_vectors(
        self,
        connection: Connection,
        where: KeyFilter,
        query: NDArray[np.float32],
        model: str,
        limit: int,
        lacking: str,
    ) -> "Compared":
        """See `Reader.search_vectors`: a scan of the quantised vectors finds all that can be among
        the best, and these are compared exactly."""
        aim = self._aim(connection, query, model)
        if aim is None or not limit:
            return Compared([], {})
        mask = self._passing(where).mask
        if lacking:
            mask = mask & ~self._having(connection, lacking)
        scan = self._begun_scan(aim, mask, limit) or aim.vectors.scan(aim.query, mask, limit)
        # Whatever may be as good as the last one asked for, if the scan has that one's score about right.
        likely = bar(scan.scores, limit) - scan.error if limit < len(scan.slots) else -np.inf
        slots = scan.slots[scan.scores >= likely]
        scores, data = self._exact(connection, aim, slots)
        if len(slots) < len(scan.slots):
            # Whatever may still be, now that its score is known.
            least = bar(scores, limit) - scan.error
            more = scan.slots[(scan.scores < likely) & (scan.scores >= least)]
            further, read = self._exact(connection, aim, more)
            slots, scores = np.concatenate([slots, more]), np.concatenate([scores, further])
            data |= read
        ids = self._columns.column("id")
        return Compared(best(ids, slots, scores, limit), {ids[slot].decode("ascii"): data[slot] for slot in data})

    def begin_search_vectors(
        self, connection: Connection, where: KeyFilter, query: NDArray[np.float32], model: str, limit: int
    ) -> None:
        """See `Reader.begin_search_vectors`."""
        aim = self._aim(connection, query, model)
        if aim is not None and limit:
            mask = self._passing(where).mask
            finish = aim.vectors.begin_scan(aim.query, mask, limit)
            self._begun[aim.query.tobytes()] = _Begun(aim.vectors, mask, limit, finish)
            if len(self._begun) > _MOST_BEGUN:
                self._begun.popitem(last=False)

    def _begun_scan(self, aim: _Aim, mask: Mask, limit: int) -> Scan | None:
        """What a scan that was begun has found, unless anything has changed since."""
        begun = self._begun.pop(aim.query.tobytes(), None)
        if begun is None or begun.vectors is not aim.vectors or begun.mask is not mask or begun.limit < limit:
            return None
        return begun.finish()

    def _aim(self, connection: Connection, query: NDArray[np.float32], model: str) -> _Aim | None:
        known = driver(connection).execute(_MODEL, (model,)).fetchone()
        if known is None:
            return None
        model_id, dimensions = known
        if query.shape != (dimensions,):
            raise InvalidInput(f"A query to {model} needs {dimensions} numbers, not shape {query.shape}.")
        length = float(np.linalg.norm(query))
        vectors = self._vectors(connection, model_id, dimensions)
        return _Aim(model_id, vectors, (query / (length or 1.0)).astype(np.float32))

    def other_models(self, connection: Connection, model: str) -> list[str]:
        """See `Reader.other_models`."""
        if model not in self._others:
            found: list[str] = []
            if (self._columns.kept() & ~self._having(connection, model)).any():
                names = driver(connection).execute(_MODELS_IN_USE, self._bounds())
                found = [name for (name,) in names if name != model]
            self._others[model] = found
        return list(self._others[model])

    def _having(self, connection: Connection, model: str) -> Mask:
        """Slots that have a vector of the model; a fresh array."""
        known = driver(connection).execute(_MODEL, (model,)).fetchone()
        if known is None:
            return np.zeros(self._columns.count, dtype=np.bool_)
        return self._vectors(connection, *known).present(self._columns.count)

    def next_turn(self, after_us: int) -> int | None:
        """See `Reader.next_turn`; in microseconds."""
        turns = self._all_turns()
        place = int(np.searchsorted(turns, after_us, side="right"))
        return int(turns[place]) if place < len(turns) else None

    def next_start(self, after_us: int) -> int | None:
        """See `Reader.next_start`; in microseconds."""
        if self._starts is None:
            self._starts = self._columns.starts()
        place = int(np.searchsorted(self._starts, after_us, side="right"))
        return int(self._starts[place]) if place < len(self._starts) else None

    def _all_turns(self) -> NDArray[np.int64]:
        if self._turns is None:
            self._turns = self._columns.turns()
        return self._turns

    def _vectors(self, connection: Connection, model_id: int, dimensions: int) -> ScannedVectors:
        vectors = self._models.get(model_id)
        if vectors is None:
            vectors = ScannedVectors(dimensions, self._columns.count)
            self._read_vectors(connection, model_id, vectors, None)
            self._models[model_id] = vectors
            if self._mark is not None:
                self._mark.models.add(model_id)
        return vectors

    def _read_vectors(
        self, connection: Connection, model_id: int, vectors: ScannedVectors, rows: Sequence[int] | None
    ) -> None:
        if rows is None:
            cursor = driver(connection).execute(_ALL_VECTORS, (model_id, *self._bounds()))
        else:
            cursor = driver(connection).execute(_SOME_VECTORS, (model_id, _json(rows)))
        while chunk := cursor.fetchmany(2048):
            numbers = np.fromiter((row & _NUMBER_MASK for row, _ in chunk), dtype=np.int64, count=len(chunk))
            vectors.put(self._slot_of[numbers].astype(np.int64), b"".join(data for _, data in chunk))

    def _exact(
        self, connection: Connection, aim: _Aim, slots: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], dict[int, bytes]]:
        """Cosines of some slots, and their vectors as they are stored."""
        if not len(slots):
            return np.empty(0, dtype=np.float64), {}
        numbers = self._columns.column("number")[slots].astype(np.int64)
        low = self._bounds()[0]
        slot_of = {low + number: slot for number, slot in zip(numbers.tolist(), slots.tolist(), strict=True)}
        found = driver(connection).execute(_SOME_VECTORS, (aim.model_id, _json(list(slot_of)))).fetchall()
        data = {slot_of[row]: stored for row, stored in found}
        return exact_cosines(b"".join(data[slot] for slot in slots.tolist()), aim.query), data


def _json(rows: Sequence[int]) -> str:
    return f"[{','.join(map(str, rows))}]"
