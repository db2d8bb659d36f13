"""The questions that every search or write asks, put to the driver itself: SQLAlchemy takes longer to ask them than
SQLite to answer."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from afterwit.records import Link, Memory, Task, TaskStatus
from afterwit.storage.reads import SqlReader
from afterwit.storage.rows import to_link, to_memory, to_task
from afterwit.storage.sqlite_files import driver

_SPACE_ID = "SELECT id FROM space WHERE name = ?"
_HAS_STATEMENT = "SELECT 1 FROM memory WHERE space_id = ? AND statement_key = ? LIMIT 1"
_CHANGE_NUMBER = "SELECT change_seq FROM space WHERE name = ?"
_BY_ID = "SELECT * FROM memory WHERE space_id = ? AND id IN (SELECT value FROM json_each(?))"
# CROSS JOIN holds the planner to this order; another one reads every vector of the model.
_VECTORS = (
    "SELECT m.id, v.data FROM memory m CROSS JOIN vector v ON v.row = m.row WHERE m.space_id = ? "
    "AND m.id IN (SELECT value FROM json_each(?)) AND v.model_id = (SELECT id FROM model WHERE name = ?)"
)
# One look-up for each end: "this end or that end" reads every link of the space.
_LINKS = (
    "SELECT * FROM link WHERE space_id = ?1 AND source_id IN (SELECT value FROM json_each(?2)) "
    "UNION SELECT * FROM link WHERE space_id = ?1 AND target_id IN (SELECT value FROM json_each(?2)) "
    "ORDER BY created_us, source_id, type, target_id"
)


def to_array(data: bytes) -> NDArray[np.float32]:
    """A stored vector, little-endian float16, as float32 of shape (dimensions,)."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


class SqliteReader(SqlReader):
    """`SqlReader` with the statements of a search in the words of SQLite."""

    def change_number(self, space: str) -> int:
        """See `Reader.change_number`."""
        with self._reading() as connection:
            found = driver(connection).execute(_CHANGE_NUMBER, (space,)).fetchone()
        return 0 if found is None else found[0]

    def get(self, space: str, ids: Sequence[str]) -> dict[str, Memory]:
        """See `Reader.get`."""
        rows = self._rows(_BY_ID, space, ids)
        names: list[str] = rows[0].keys() if rows else []
        # As dictionaries: a row of the driver looks for a name among all of its names.
        made = (to_memory(space, dict(zip(names, row, strict=True))) for row in rows)
        found = {memory.id: memory for memory in made}
        return {id: found[id] for id in ids if id in found}

    def vectors(self, space: str, ids: Sequence[str], model: str) -> dict[str, NDArray[np.float32]]:
        """See `Reader.vectors`."""
        rows = self._rows(_VECTORS, space, ids, model)
        return {id: to_array(data) for id, data in rows}

    def links(self, space: str, ids: Sequence[str]) -> list[Link]:
        """See `Reader.links`."""
        return [to_link(space, row) for row in self._rows(_LINKS, space, ids)]

    def tasks(
        self, space: str, *, statuses: Sequence[TaskStatus] = (), session: str = "", unreviewed: bool = False
    ) -> list[Task]:
        """See `Reader.tasks`."""
        conditions = ["space_id = :space"]
        if statuses:
            conditions.append("status IN (SELECT value FROM json_each(:statuses))")
        if session:
            conditions.append("session = :session")
        if unreviewed:
            conditions.append(f"status <> '{TaskStatus.OPEN}' AND reviewed_us IS NULL")
        statement = f"SELECT * FROM task WHERE {' AND '.join(conditions)} ORDER BY started_us, id"  # noqa: S608  constants
        with self._reading() as connection:
            values = {
                "space": self._space_id(connection, space),
                "statuses": json.dumps([str(status) for status in statuses]),
                "session": session,
            }
            return [to_task(space, row) for row in self._cursor(connection).execute(statement, values)]

    def _rows(self, statement: str, space: str, ids: Sequence[str], *more: str) -> list[Any]:
        if not ids:
            return []
        with self._reading() as connection:
            named = (self._space_id(connection, space), json.dumps(list(ids)), *more)
            return self._cursor(connection).execute(statement, named).fetchall()

    @staticmethod
    def _cursor(connection: Connection) -> sqlite3.Cursor:
        """A cursor whose rows are mappings."""
        cursor = driver(connection).cursor()
        cursor.row_factory = sqlite3.Row
        return cursor

    def _has_statement(self, connection: Connection, space_id: int, key: str) -> bool:
        return driver(connection).execute(_HAS_STATEMENT, (space_id, key)).fetchone() is not None

    def _space_id(self, connection: Connection, space: str) -> int | None:
        found = driver(connection).execute(_SPACE_ID, (space,)).fetchone()
        return None if found is None else found[0]
