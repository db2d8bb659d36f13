"""The embedded engine: one SQLite file that several processes share."""

import hashlib
import os
import sqlite3
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Select, func, select, tuple_

from afterwit.clock import from_us, to_us
from afterwit.errors import InvalidInput, StorageError
from afterwit.records import Alias, Change, Event, KeyFilter, Memory, Status, Vector
from afterwit.storage import llm_usage, schema, tables
from afterwit.storage.base import LLMUse, Reader, Scored, WordStatistics
from afterwit.storage.cache import SpaceCache
from afterwit.storage.reads import checked_limit
from afterwit.storage.row_writer import ensure_space
from afterwit.storage.rows import to_memory
from afterwit.storage.sqlite_files import (
    CREATE_STATISTICS,
    database_path,
    driver,
    make_engine,
    make_file,
    mapped_errors,
    may_write,
    require_fts5,
    use_write_ahead_log,
)
from afterwit.storage.sqlite_reads import SqliteReader, to_array
from afterwit.storage.sqlite_words import CREATE_WORD_INDEX, SqliteWords, merge
from afterwit.storage.sqlite_writes import SqliteChanger

#: Bytes that the caches of all spaces together may hold; the space in use is always kept.
_CACHE_BUDGET = 256 * 2**20
_ERASE_PENDING = "erase_pending"
_STATE = f"SELECT (SELECT version_num FROM alembic_version), (SELECT value FROM flag WHERE name = '{_ERASE_PENDING}')"  # noqa: S608
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Vectors dropped in one transaction: others wait some 50 ms for it.
_DROPPED_AT_ONCE = 2000

#: Connections inherited over a fork: closing them here would disturb the parent's locks.
_inherited: list[object] = []


#: The present that a caller tells may be past by as long as it waited for the lock since, in microseconds.
_LATE_US = 60_000_000


def _lease_name(space: str, work: str) -> str:
    """The flag of a lease: names of spaces are too long for it."""
    return "lease " + hashlib.blake2b(f"{work} {space}".encode(), digest_size=16).hexdigest()


class _Caches:
    """The caches of the spaces that were used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spaces: OrderedDict[int, SpaceCache] = OrderedDict()
        #: bytes that each of them held when it was measured last, and their sum
        self._bytes: dict[int, int] = {}
        self._held = 0

    def of(self, space_id: int) -> SpaceCache:
        with self._lock:
            # Only the one used last can have grown: measuring all of a thousand would take longer than a search.
            if self._spaces:
                last = next(reversed(self._spaces))
                self._measure(last, self._spaces[last].nbytes)
            cache = self._spaces.get(space_id)
            if cache is None:
                cache = self._spaces[space_id] = SpaceCache(space_id)
            self._spaces.move_to_end(space_id)
            while len(self._spaces) > 1 and self._held > _CACHE_BUDGET:
                self._measure(self._spaces.popitem(last=False)[0], 0)
            return cache

    def _measure(self, space_id: int, now: int) -> None:
        self._held += now - self._bytes.get(space_id, 0)
        self._bytes[space_id] = now


class _Searching(SqliteReader):
    """Word and vector search over the caches."""

    _caches: _Caches
    #: the write transaction that reads, if any
    _owner: object | None = None

    @contextmanager
    def _searching(self, space: str) -> Generator[tuple[Connection, SpaceCache] | None]:
        with self._reading() as connection:
            space_id = self._space_id(connection, space)
            if space_id is None:
                yield None
                return
            cache = self._caches.of(space_id)
            with cache.at(connection, self._owner):
                yield connection, cache

    def search_words(self, space: str, where: KeyFilter, tokens: Sequence[str], *, limit: int) -> list[Scored]:
        """See `Reader.search_words`."""
        checked_limit(limit)
        with self._searching(space) as found:
            return [] if found is None else found[1].search_words(found[0], where, tokens, limit)

    def begin_search_vectors(
        self, space: str, where: KeyFilter, query: NDArray[np.float32], model: str, *, limit: int
    ) -> None:
        """See `Reader.begin_search_vectors`."""
        checked_limit(limit)
        with self._searching(space) as found:
            if found is not None:
                found[1].begin_search_vectors(found[0], where, query, model, limit)

    def search_vectors(
        self, space: str, where: KeyFilter, query: NDArray[np.float32], model: str, *, limit: int, lacking: str = ""
    ) -> list[Scored]:
        """See `Reader.search_vectors`."""
        checked_limit(limit)
        with self._searching(space) as found:
            if found is None:
                return []
            compared = found[1].search_vectors(found[0], where, query, model, limit, lacking)
        self._keep_vectors(space, model, compared.vectors)
        return compared.best

    def _keep_vectors(self, space: str, model: str, vectors: dict[str, bytes]) -> None:
        """Take note of vectors that were read; for whoever may be asked for them in a moment."""

    def other_models(self, space: str, model: str) -> list[str]:
        """See `Reader.other_models`."""
        with self._searching(space) as found:
            return [] if found is None else found[1].other_models(found[0], model)

    def next_start(self, space: str, after: datetime) -> datetime | None:
        """See `Reader.next_start`."""
        with self._searching(space) as found:
            start_us = None if found is None else found[1].next_start(to_us(after))
        return None if start_us is None else from_us(start_us)

    def next_turn(self, space: str, after: datetime) -> datetime | None:
        """See `Reader.next_turn`."""
        with self._searching(space) as found:
            turn_us = None if found is None else found[1].next_turn(to_us(after))
        return None if turn_us is None else from_us(turn_us)

    def word_statistics(self, space: str, tokens: Sequence[str]) -> WordStatistics:
        """See `Reader.word_statistics`."""
        with self._searching(space) as found:
            if found is None:
                return WordStatistics(0, dict.fromkeys(tokens, 0))
            return found[1].word_statistics(found[0], tokens)

    def known_subjects(self, space: str) -> list[str]:
        """See `Reader.known_subjects`."""
        with self._searching(space) as found:
            return [] if found is None else found[1].present("subject")

    def aliases(self, space: str) -> list[Alias]:
        """See `Reader.aliases`."""
        with self._searching(space) as found:
            return [] if found is None else found[1].aliases(found[0], space)

    def known_scopes(self, space: str) -> list[str]:
        """See `Reader.known_scopes`."""
        with self._searching(space) as found:
            return [] if found is None else found[1].present("scope")


class _Snapshot(_Searching):
    """See `Store.reading`. The state that the connection sees moves on only when the cache of a space has."""

    def __init__(self, connection: Connection, caches: _Caches) -> None:
        self._connection = connection
        self._caches = caches
        self._space_ids: dict[str, int] = {}
        self._vectors: dict[tuple[str, str], dict[str, bytes]] = {}

    def vectors(self, space: str, ids: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        """See `Reader.vectors`. What was compared with a query is not read again."""
        known = self._vectors.get((space, model), {})
        found = {id: to_array(known[id]) for id in ids if id in known}
        return found | super().vectors(space, [id for id in ids if id not in known], model)

    def _keep_vectors(self, space: str, model: str, vectors: dict[str, bytes]) -> None:
        self._vectors.setdefault((space, model), {}).update(vectors)

    def _space_id(self, connection: Connection, space: str) -> int | None:
        """The number of a space, looked up once: a search asks a dozen times."""
        known = self._space_ids.get(space)
        if known is None:
            found = super()._space_id(connection, space)
            if found is None:
                return None
            known = self._space_ids[space] = found
        return known

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with mapped_errors():
            if self._connection.closed:
                raise StorageError("The reading has ended.", next_step="Ask the store, or begin another one.")
            yield self._connection


class SqliteTransaction(_Searching):
    """See `Transaction`."""

    def __init__(self, connection: Connection, caches: _Caches, *, space: str, now: datetime, actor: str) -> None:
        self._connection = connection
        self._caches = caches
        self._owner = self
        self.space = space
        self._own_id = ensure_space(connection, space)
        self.cache = caches.of(self._own_id)
        words = SqliteWords(self._own_id)
        self.changer = SqliteChanger(connection, words, space=space, space_id=self._own_id, now=now, actor=actor)

    def _space_id(self, connection: Connection, space: str) -> int | None:
        return self._own_id if space == self.space else super()._space_id(connection, space)

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with mapped_errors():
            if self._connection.closed:
                raise StorageError("The transaction has ended.")
            self.require_alive()
            yield self._connection

    def require_alive(self) -> None:
        """Raise if SQLite has undone the transaction by itself, as it does when the disk is full:
        from then on it would commit every statement on its own."""
        if not driver(self._connection).in_transaction:
            raise StorageError("The transaction was undone by an earlier error.", next_step="Start it again.")

    def apply(self, changes: Iterable[Change]) -> list[Event]:
        """See `Transaction.apply`."""
        with self._reading() as connection:
            direct = driver(connection)
            direct.execute("SAVEPOINT changes")
            try:
                events = self.changer.apply(changes)
            except BaseException:
                if direct.in_transaction:
                    direct.execute("ROLLBACK TO changes")
                    direct.execute("RELEASE changes")
                raise
            direct.execute("RELEASE changes")
            return events


class SqliteStore(_Searching):
    """See `Store`."""

    def __init__(self, url: str, *, lock_wait_s: float) -> None:
        self.url = url
        self._lock_wait_s = lock_wait_s
        path = database_path(url)
        self._directory = None
        if path is None:
            self._directory = tempfile.TemporaryDirectory(prefix="afterwit-", ignore_cleanup_errors=True)
            path = Path(self._directory.name) / "memory.db"
        else:
            path = path.absolute()
        self._path = path
        self._closed = False
        self._read_only = path.is_file() and not may_write(path)
        if not self._read_only:
            make_file(path)
        self._start()
        try:
            with mapped_errors():
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        self._pid = os.getpid()
        self._caches = _Caches()
        self._writer = threading.Lock()
        self._writing_thread = 0
        self._engine: Engine = make_engine(
            self._path,
            lock_wait_s=self._lock_wait_s,
            durable=self._directory is None,
            read_only=self._read_only,
        )

    # --- opening and closing --------------------------------------------------------------------

    def _prepare(self) -> None:
        state = self._state()
        if state is None or not schema.check_version(state[0]):
            if self._read_only:
                raise StorageError(
                    "The database needs to be brought up to date but is read-only.",
                    next_step="Open it once as a user who may write it.",
                )
            use_write_ahead_log(self._engine, lock_wait_s=self._lock_wait_s)
            self._make_or_upgrade()
            # Connections read the planner's statistics when they are made.
            self._engine.dispose()
        elif state[1] is not None and not self._read_only:
            self._clear_erased()

    def _state(self) -> tuple[str, str | None] | None:
        """Schema version and whether an erase is unfinished; None for an empty database."""
        with self._engine.connect() as connection:
            try:
                version, pending = connection.exec_driver_sql(_STATE).one()
            except Exception as error:
                cause = getattr(error, "orig", None)
                if not isinstance(cause, sqlite3.OperationalError) or "no such table" not in str(cause):
                    raise
                if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
                    raise StorageError(
                        f"{self._path} is a database of another program.",
                        next_step="Choose another path in the setting store.",
                    ) from error
                return None
        if version is None:
            raise StorageError("The database has lost its schema version.", next_step="Restore it from a backup.")
        return version, pending

    def _make_or_upgrade(self) -> None:
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            # Another process may have been quicker.
            if not connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
                require_fts5(driver(connection))
                schema.create(connection, CREATE_WORD_INDEX + CREATE_STATISTICS)
                return
            version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
            if not schema.check_version(version):
                schema.upgrade(connection)

    def close(self) -> None:
        """See `Store.close`."""
        self._closed = True
        if self._pid == os.getpid():
            self._engine.dispose()
        if self._directory is not None:
            self._directory.cleanup()

    def _live(self) -> Engine:
        if self._closed:
            raise StorageError("The store is closed.", next_step="Open it again.")
        if self._pid != os.getpid():
            _inherited.append((self._engine, self._engine.pool))
            self._start()
        return self._engine

    # --- reading and writing --------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with mapped_errors(), self._live().connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def reading(self) -> Generator[Reader]:
        """See `Store.reading`."""
        with ExitStack() as until_end:
            with mapped_errors():
                connection = until_end.enter_context(self._live().connect())
                connection.begin()
            yield _Snapshot(connection, self._caches)

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """A connection inside BEGIN IMMEDIATE; threads of this process take turns first."""
        engine = self._live()
        if self._read_only:
            raise StorageError(
                "The database is read-only, so nothing can be written.",
                next_step=f"Give this user the right to write {self._path} and its directory.",
            )
        if self._writing_thread == threading.get_ident():
            raise StorageError("This thread is already inside a transaction.", next_step="End it first.")
        if not self._writer.acquire(timeout=self._lock_wait_s):
            raise StorageError(
                "Another thread has been writing to the database for too long.",
                next_step="Try again, or raise the setting lock_wait_s.",
            )
        try:
            self._writing_thread = threading.get_ident()
            with mapped_errors(), engine.connect().execution_options(writes=True) as connection, connection.begin():
                yield connection
        finally:
            self._writing_thread = 0
            self._writer.release()

    @contextmanager
    def transaction(self, space: str, *, now: datetime, actor: str) -> Generator[SqliteTransaction]:
        """See `Store.transaction`."""
        erased = committed = False
        with ExitStack() as after:
            with self._writing() as connection:
                transaction = SqliteTransaction(connection, self._caches, space=space, now=now, actor=actor)
                after.callback(lambda: transaction.cache.settle(transaction, committed=committed))
                yield transaction
                transaction.require_alive()
                erased = transaction.changer.erased
                if erased:
                    merge(connection)
                    self._set_erase_pending(connection)
            committed = True
        if erased:
            self._clear_erased()

    @staticmethod
    def _set_erase_pending(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT OR REPLACE INTO flag(name, value) VALUES (?, '1')", (_ERASE_PENDING,))

    def _clear_erased(self) -> None:
        """Write the file anew and empty the log: pages that SQLite moved about keep old bytes in
        their gaps, which secure_delete does not reach."""
        try:
            connection = self._engine.raw_connection()
            try:
                cursor = connection.cursor()
                cursor.execute("VACUUM")
                deadline = time.monotonic() + self._lock_wait_s
                while cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                    if time.monotonic() > deadline:
                        raise StorageError("A reader holds the log.")
                    time.sleep(0.01)
                cursor.execute("DELETE FROM flag WHERE name = ?", (_ERASE_PENDING,))
            finally:
                connection.close()
        except (sqlite3.Error, StorageError) as error:
            raise StorageError(
                f"The memory is erased, but its bytes may still be in the freed parts of the files ({error}).",
                next_step="They are cleared when the store is next opened or something is erased; try again soon.",
            ) from error

    # --- administration -------------------------------------------------------------------------

    def spaces(self) -> list[str]:
        """See `Store.spaces`."""
        with self._reading() as connection:
            return list(connection.execute(select(tables.space.c.name).order_by(tables.space.c.name)).scalars())

    def models(self, space: str) -> dict[str, int]:
        """See `Store.models`."""
        query = (
            select(tables.model.c.name, func.count())
            .select_from(tables.vector)
            .join(tables.model, tables.model.c.id == tables.vector.c.model_id)
            .join(tables.memory, tables.memory.c.row == tables.vector.c.row)
            .join(tables.space, tables.space.c.id == tables.memory.c.space_id)
            .where(tables.space.c.name == space)
            .group_by(tables.model.c.name)
        )
        with self._reading() as connection:
            return {name: count for name, count in connection.execute(query)}

    def without_vector(self, space: str, model: str, *, limit: int, after: Memory | None = None) -> list[Memory]:
        """See `Store.without_vector`."""
        query = _lacking(select(tables.memory), space, model)
        query = query.order_by(tables.memory.c.recorded_us, tables.memory.c.id).limit(checked_limit(limit))
        if after is not None:
            place = tuple_(tables.memory.c.recorded_us, tables.memory.c.id)
            query = query.where(place > (to_us(after.recorded_at), after.id))
        with self._reading() as connection:
            return [to_memory(space, row) for row in connection.execute(query).mappings()]

    def count_without_vector(self, space: str, model: str) -> int:
        """See `Store.count_without_vector`."""
        query = _lacking(select(func.count()).select_from(tables.memory), space, model)
        with self._reading() as connection:
            return connection.execute(query).scalar_one()

    def take_lease(self, space: str, work: str, *, holder: str, now: datetime, lasts_s: float) -> bool:
        """See `Store.take_lease`; kept as a flag: until when, and whose."""
        now_us, lasts_us = to_us(now), int(lasts_s * 1_000_000)
        name = _lease_name(space, work)
        with self._writing() as connection:
            known = driver(connection).execute("SELECT value FROM flag WHERE name = ?", (name,)).fetchone()
            if known is not None:
                until, _, owner = known[0].partition(" ")
                # One that ends much later than any of now can was taken by a clock that was wrong.
                if owner != holder and now_us < int(until) <= now_us + lasts_us + _LATE_US:
                    return False
            value = f"{now_us + lasts_us} {holder}"
            connection.exec_driver_sql("INSERT OR REPLACE INTO flag(name, value) VALUES (?, ?)", (name, value))
            return True

    def end_lease(self, space: str, work: str, *, holder: str) -> None:
        """See `Store.end_lease`."""
        with self._writing() as connection:
            connection.exec_driver_sql(
                "DELETE FROM flag WHERE name = ? AND substr(value, instr(value, ' ') + 1) = ?",
                (_lease_name(space, work), holder),
            )

    def record_usage(self, space: str, use: LLMUse) -> None:
        """See `Store.record_usage`."""
        with self._writing() as connection:
            llm_usage.add(connection, ensure_space(connection, space), use)

    def usage(self, space: str, since: datetime, until: datetime) -> list[LLMUse]:
        """See `Store.usage`."""
        with self._reading() as connection:
            return llm_usage.read(connection, space, since, until)

    def put_vectors(self, space: str, vectors: Mapping[str, Vector]) -> None:
        """See `Store.put_vectors`."""
        self._maintain(space, lambda changer: changer.put_vectors(vectors))

    def drop_vectors(self, space: str, model: str) -> int:
        """See `Store.drop_vectors`."""
        dropped = 0
        while part := self._maintain(space, lambda changer: changer.drop_vectors(model, limit=_DROPPED_AT_ONCE)):
            dropped += part
        return dropped

    def rebuild_words(self, space: str) -> int:
        """See `Store.rebuild_words`."""
        return self._maintain(space, lambda changer: changer.rebuild_words())

    def _maintain(self, space: str, deed: Callable[[SqliteChanger], int]) -> int:
        """Do something that leaves no history; a space that nobody wrote to stays unmade."""
        if space not in self.spaces():
            return 0
        with self.transaction(space, now=_EPOCH, actor="maintenance") as transaction:
            return deed(transaction.changer)

    def check(self) -> list[str]:
        """See `Store.check`."""
        problems: list[str] = []
        try:
            with self._reading() as connection:
                for statement, what in (
                    ("PRAGMA integrity_check", "The file is damaged: {}."),
                    ("PRAGMA foreign_key_check", "A row of {} refers to one that is not there."),
                ):
                    found = [row[0] for row in connection.exec_driver_sql(statement) if row[0] != "ok"]
                    problems.extend(what.format(item) for item in found[:10])
                missing = connection.exec_driver_sql(
                    "SELECT count(*) FROM memory WHERE row NOT IN (SELECT row FROM word)"
                ).scalar_one()
                if missing:
                    problems.append(f"{missing} memories are not in the word index; `rebuild_words` mends it.")
                if connection.exec_driver_sql(_STATE).one()[1] is not None:
                    problems.append("An erase is unfinished; opening the store again finishes it.")
            if not self._read_only:
                with self._writing() as connection:
                    connection.exec_driver_sql("INSERT INTO word_index(word_index, rank) VALUES ('integrity-check', 1)")
        except (StorageError, InvalidInput) as error:
            problems.append(str(error))
        return problems


def _lacking(query: Select[Any], space: str, model: str) -> Select[Any]:
    """Of a query of the table of memories, those in any state but forgotten that have no vector of the model."""
    embedded = (
        select(tables.vector.c.row)
        .join(tables.model, tables.model.c.id == tables.vector.c.model_id)
        .where(tables.model.c.name == model, tables.vector.c.row == tables.memory.c.row)
    )
    return (
        query.join(tables.space, tables.space.c.id == tables.memory.c.space_id)
        .where(tables.space.c.name == space, tables.memory.c.status != str(Status.FORGOTTEN))
        .where(~embedded.exists())
    )
