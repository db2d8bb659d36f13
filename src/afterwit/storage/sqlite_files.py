"""The embedded engine's file: where it is, how it is opened, what its errors mean."""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote

import sqlalchemy.exc
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import QueuePool

from afterwit.directories import make_private
from afterwit.errors import ConfigError, InvalidInput, Sentence, StorageError

_RESTORE = "Restore it from a backup; `afterwit doctor` shows what is wrong."
#: How many rows one value of each index column has, for the query planner: rough, and the same in
#: every file, so that a query is planned the same way whether a file is new or old.
_SELECTIVITY = {
    "sqlite_autoindex_memory_1": "100000 100000 1",
    "ix_memory_space_id_changed_seq": "100000 100000 2",
    "ix_memory_space_id_recorded_us_id": "100000 100000 2 1",
    "ix_memory_space_id_status_recorded_us": "100000 100000 50000 2",
    "ix_memory_space_id_status_happened_us": "100000 100000 50000 2",
    "ix_memory_space_id_subject_topic": "100000 100000 200 5",
    "ix_memory_space_id_statement_key": "100000 100000 1",
}
#: SQL that tells the planner so.
CREATE_STATISTICS: tuple[str, ...] = (
    "ANALYZE flag",
    *(
        f"INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES ('memory', '{name}', '{stat}')"  # noqa: S608  constants
        for name, stat in _SELECTIVITY.items()
    ),
)
#: Primary SQLite result code -> (what happened, what to do).
_MEANINGS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "Another process has been writing to the database for too long.",
        "Try again, or raise the setting lock_wait_s.",
    ),
    sqlite3.SQLITE_LOCKED: ("The database is in use.", "Try again."),
    sqlite3.SQLITE_READONLY: (
        "The database is read-only, so nothing can be written.",
        "Give this user the right to write the file and its directory.",
    ),
    sqlite3.SQLITE_FULL: ("The disk is full; the write was undone.", "Free some space and try again."),
    sqlite3.SQLITE_IOERR: (
        "The disk refused to read or write; what was not acknowledged is undone.",
        "Check the disk, its free space and its limits, then try again.",
    ),
    sqlite3.SQLITE_CORRUPT: ("The database file is damaged.", _RESTORE),
    sqlite3.SQLITE_NOTADB: ("The file is not an Afterwit database.", "Check the path in the setting store."),
    sqlite3.SQLITE_CANTOPEN: (
        "The database file cannot be opened.",
        "Check that the path exists and that this user may read and write there.",
    ),
    sqlite3.SQLITE_PERM: ("The database file may not be used.", "Check the rights of the file and its directory."),
}


def storage_error(error: BaseException) -> StorageError:
    """The `StorageError` that says what an error of the driver means."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorcode", None)
    text = str(cause)
    if code is None and "closed database" in text:
        return StorageError("The store is closed.", next_step="Open it again.")
    meaning = _MEANINGS.get(code & 0xFF) if code is not None else None
    if meaning is None:
        return StorageError(
            Sentence("The database failed: {text}.", text=text), next_step="`afterwit doctor` checks it."
        )
    return StorageError(Sentence("{meaning} ({text})", meaning=Sentence(meaning[0]), text=text), next_step=meaning[1])


@contextmanager
def mapped_errors() -> Generator[None]:
    """Turn what SQLAlchemy, sqlite3 and the operating system raise into errors of the package."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidInput(Sentence("The text is not valid Unicode: {reason}.", reason=error.reason)) from error
    except OverflowError as error:
        raise InvalidInput(Sentence("A number is too large to store: {problem}.", problem=error)) from error
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise storage_error(error) from error


def database_path(url: str) -> Path | None:
    """The file that a `sqlite:` URL names; None for `sqlite://`, a private store that vanishes.

    Raises:
        ConfigError: the URL has another form.
    """
    rest = url.removeprefix("sqlite://")
    if rest in ("", "/", "/:memory:"):
        return None
    if not rest.startswith("/"):
        raise ConfigError(
            Sentence("Not a database URL: {url!r}.", url=url),
            next_step="Write sqlite:///PATH; absolute: sqlite:////PATH.",
        )
    return Path(rest[1:]).expanduser()


def make_file(path: Path) -> None:
    """Make the file, readable by its owner only, and its directory if they are not there.

    Raises:
        StorageError: they cannot be made.
    """
    try:
        make_private(path.parent)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a directory") from None
    except NotADirectoryError as error:
        raise StorageError(
            Sentence("{path} is a file, not a directory.", path=error.filename),
            next_step="Choose another directory: the option --data-dir, or the setting data_dir or store.",
        ) from error
    except OSError as error:
        raise StorageError(
            Sentence("The database {path} cannot be made: {problem}.", path=path, problem=error.strerror or error),
            next_step="Choose another path in the setting store, or give this user the right to write there.",
        ) from error


def may_write(path: Path) -> bool:
    """Whether this user may write the file and, for the log beside it, its directory."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def make_engine(path: Path, *, lock_wait_s: float, durable: bool, read_only: bool) -> Engine:
    """Connections to the file, with the pragmas that keep its promises.

    Args:
        path: the file, which exists.
        lock_wait_s: longest wait for another writer, in seconds.
        durable: wait for the disk at each commit (measured: 1.3 ms a write instead of 0.9 ms);
            false only for a store that vanishes anyway.
        read_only: never write, not even the files that WAL needs.
    """
    name = f"file:{quote(str(path.absolute()))}{_read_only_mode(path) if read_only else ''}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            name, uri=True, timeout=lock_wait_s, isolation_level=None, check_same_thread=False, cached_statements=256
        )

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=-1, pool_use_lifo=True
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _record: object) -> None:  # pyright: ignore[reportUnusedFunction]
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _read_only_mode(path: Path) -> str:
    """How to open a file that we may not write.

    Raises:
        StorageError: part of its contents is in a log that cannot be read without writing.
    """
    if os.access(f"{path}-shm", os.R_OK):
        return "?mode=ro"
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageError(
            Sentence("{path} is read-only and its last changes are still in {name}.", path=path, name=log.name),
            next_step="Open and close it once as a user who may write it.",
        )
    # SQLite would make the -shm file, which it may not; a file that nobody changes needs none.
    return "?immutable=1"


def driver(connection: Connection) -> sqlite3.Connection:
    """The driver's connection, for statements too frequent or too large for SQLAlchemy."""
    return cast(sqlite3.Connection, connection.connection.driver_connection)


def use_write_ahead_log(engine: Engine, *, lock_wait_s: float) -> None:
    """Switch the file to WAL, once in its life. SQLite does not wait for others here, so we do."""
    deadline = time.monotonic() + lock_wait_s
    while True:
        connection = engine.raw_connection()
        try:
            cursor = connection.cursor()
            if cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        finally:
            connection.close()
        if time.monotonic() > deadline:
            raise StorageError(
                "The file system does not support what SQLite needs for several processes.",
                next_step="Put the database on a local disk.",
            )
        time.sleep(0.005)


def require_fts5(connection: sqlite3.Connection) -> None:
    """Raise unless this Python's SQLite can index words.

    Raises:
        StorageError: SQLite was built without FTS5.
    """
    known = {row[0] for row in connection.execute("SELECT name FROM pragma_module_list")}
    if "fts5" not in known:
        raise StorageError(
            Sentence(
                "SQLite {sqlite_version} of this Python was built without FTS5.", sqlite_version=sqlite3.sqlite_version
            ),
            next_step="Install Python from python.org, uv or your distribution; all of these have it.",
        )
