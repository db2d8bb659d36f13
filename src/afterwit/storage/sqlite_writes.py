"""The statements of every write, put to the driver itself, as `sqlite_reads.py` does with those of a search: half of
the time of storing a row went into putting them together anew."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Table

from afterwit.storage.changes import Changer
from afterwit.storage.sqlite_files import driver

_SET_COUNTERS = "UPDATE space SET change_seq = ?, event_seq = ?, next_number = ? WHERE id = ?"


class SqliteChanger(Changer):
    """`Changer` with the statements of every write in the words of SQLite."""

    def _set_counters(self, event_number: int) -> None:
        numbers = (self._seq, event_number, self._next_number, self._space_id)
        driver(self._connection).execute(_SET_COUNTERS, numbers)

    def _insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        driver(self._connection).executemany(_insertion(table.name, tuple(rows[0])), rows)

    def _is_taken(self, table: Table, record_id: str) -> bool:
        statement = f"SELECT 1 FROM {table.name} WHERE space_id = ? AND id = ?"  # noqa: S608  a table of ours
        return driver(self._connection).execute(statement, (self._space_id, record_id)).fetchone() is not None


@lru_cache(maxsize=32)
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    names, values = ", ".join(columns), ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table}({names}) VALUES ({values})"  # noqa: S608  a table and columns of ours
