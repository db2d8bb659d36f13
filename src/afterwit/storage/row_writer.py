"""How a change reaches the tables: finding, inserting and updating single rows inside one write."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from afterwit.clock import to_us
from afterwit.errors import Conflict, InvalidInput, NotFound
from afterwit.records import Alias, Link, Memory, Step, Task, Use, Vector
from afterwit.storage import tables
from afterwit.storage.rows import (
    MEMORY_FIELDS,
    alias_values,
    checked_id,
    checked_name,
    memory_values,
    plain,
    step_values,
    task_values,
    to_memory,
)
from afterwit.storage.words import memory_tokens

#: Fields whose values never go into the history: they are the memory's text.
_TEXT_FIELDS = frozenset({"summary", "raw", "structured"})
#: Columns that a search filters by; a change of one must reach every cache.
_KEY_COLUMNS = (
    "scope",
    "role",
    "kind",
    "subject",
    "topic",
    "tags",
    "status",
    "standing",
    "trust",
    "happened_us",
    "recorded_us",
    "valid_from_us",
    "valid_to_us",
    "valid_to_believed_us",
    "retired_us",
)


_COUNTERS = select(tables.space).where(tables.space.c.id == bindparam("space_id"))
_SET_COUNTERS = (
    update(tables.space)
    .where(tables.space.c.id == bindparam("space_id"))
    .values(
        change_seq=bindparam("change_number"),
        event_seq=bindparam("event_number"),
        next_number=bindparam("row_number"),
    )
)
_INSERTS = {table.name: insert(table) for table in (tables.memory, tables.vector, tables.event, tables.link)}
_ROW, _MEMORY = (
    select(what).where(tables.memory.c.space_id == bindparam("space_id"), tables.memory.c.id == bindparam("id"))
    for what in (tables.memory.c.row, tables.memory)
)
_LINKED = select(tables.link.c.type).where(
    *(tables.link.c[name] == bindparam(name) for name in ("space_id", "source_id", "type", "target_id"))
)
_TAKEN = {
    table.name: select(table.c.id).where(table.c.space_id == bindparam("space_id"), table.c.id == bindparam("id"))
    for table in (tables.memory, tables.use, tables.task, tables.step)
}


class WordIndex(Protocol):
    """The engine's word index, kept in step with the rows inside the same transaction."""

    def add_words(self, connection: Connection, row: int, tokens: Sequence[str]) -> None:
        """Index the tokens of a new row."""
        ...

    def put_words(self, connection: Connection, row: int, tokens: Sequence[str]) -> None:
        """Index the tokens of a row, in place of what was there."""
        ...

    def drop_words(self, connection: Connection, row: int) -> None:
        """Forget a row."""
        ...


def ensure_space(connection: Connection, space: str) -> int:
    """The space's key; it is made on first use."""
    if not space:
        raise InvalidInput("A space needs a name.")
    name = checked_name(space, "space")
    query = select(tables.space.c.id).where(tables.space.c.name == name)
    known = connection.execute(query).scalar()
    if known is not None:
        return known
    values = {"name": name, "change_seq": 0, "event_seq": 0, "next_number": 1}
    connection.execute(insert(tables.space), values)
    return connection.execute(query).scalar_one()


class RowWriter:
    """Rows of one space over the connection of one write transaction."""

    def __init__(
        self, connection: Connection, words: WordIndex, *, space: str, space_id: int, now: datetime, actor: str
    ) -> None:
        self._connection = connection
        self._words = words
        self._space = space
        self._space_id = space_id
        self._now = now
        self._actor = checked_name(actor, "actor")
        self._seq = 0
        #: the counters of the space as this transaction has left them, if it knows
        self._counted: tuple[int, int, int] | None = None
        self._next_number = 0
        self._models: dict[str, tuple[int, int]] = {}
        #: whether a memory was erased: its bytes must leave the files after the commit
        self.erased = False

    def _counters(self) -> tuple[int, int, int]:
        """Last number of a change and of an event, and the number of the next row."""
        row = self._connection.execute(_COUNTERS, {"space_id": self._space_id}).one()
        return row.change_seq, row.event_seq, row.next_number

    def _set_counters(self, event_number: int) -> None:
        numbers = {"change_number": self._seq, "event_number": event_number, "row_number": self._next_number}
        self._connection.execute(_SET_COUNTERS, numbers | {"space_id": self._space_id})

    def _insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows that have values for the same columns."""
        self._connection.execute(_INSERTS[table.name], rows)

    def _is_taken(self, table: Table, record_id: str) -> bool:
        key = {"space_id": self._space_id, "id": record_id}
        return self._connection.execute(_TAKEN[table.name], key).first() is not None

    def _next_seq(self) -> int:
        self._counted = None
        columns = tables.space.c
        self._connection.execute(
            update(tables.space).where(columns.id == self._space_id).values(change_seq=columns.change_seq + 1)
        )
        return self._connection.execute(select(columns.change_seq).where(columns.id == self._space_id)).scalar_one()

    def _touch(self, which: Any) -> None:
        self._connection.execute(update(tables.memory).where(which).values(changed_seq=self._seq))

    def _own(self, space: str) -> None:
        if space != self._space:
            raise InvalidInput(f"A record of the space {space!r} cannot be written to {self._space!r}.")

    def _find_row(self, memory_id: str) -> int | None:
        return self._connection.execute(_ROW, {"space_id": self._space_id, "id": memory_id}).scalar()

    def _row(self, memory_id: str) -> int:
        row = self._find_row(memory_id)
        if row is None:
            raise NotFound(f"There is no memory {memory_id} in this space.")
        return row

    def _memory(self, memory_id: str) -> tuple[int, Memory]:
        row = self._connection.execute(_MEMORY, {"space_id": self._space_id, "id": memory_id}).mappings().first()
        if row is None:
            raise NotFound(f"There is no memory {memory_id} in this space.")
        return row["row"], to_memory(self._space, row)

    def _save(self, row: int, old: Memory, new: Memory) -> dict[str, Any]:
        """Write what differs; returns field -> {"before", "after"} for the history."""
        before, after = memory_values(old), memory_values(new)
        values = {name: value for name, value in after.items() if before[name] != value}
        if not values:
            return {}
        reworded = False
        if not values.keys().isdisjoint(("subject", "topic", "tags", "structured")):
            tokens = memory_tokens(new)
            reworded = tokens != memory_tokens(old)
            if reworded:
                self._words.put_words(self._connection, row, tokens)
        if reworded or not values.keys().isdisjoint(_KEY_COLUMNS):
            values["changed_seq"] = self._seq
        if "tags" in values:
            self._connection.execute(delete(tables.memory_tag).where(tables.memory_tag.c.row == row))
            self._put_tags(row, new.tags)
        self._connection.execute(update(tables.memory).where(tables.memory.c.row == row).values(values))
        return _differences(old, new)

    def _insert_memory(self, memory: Memory) -> int:
        self._own(memory.space)
        values = memory_values(memory)
        self._free(tables.memory, memory.id, "memory")
        row = self._space_id * tables.ROWS_PER_SPACE + self._next_number
        self._next_number += 1
        values |= {"row": row, "space_id": self._space_id, "changed_seq": self._seq}
        self._insert(tables.memory, [values])
        self._put_tags(row, memory.tags)
        self._words.add_words(self._connection, row, memory_tokens(memory))
        return row

    def _insert_use(self, use: Use) -> None:
        self._own(use.space)
        self._free(tables.use, use.id, "use")
        values = {
            "space_id": self._space_id,
            "id": checked_id(use.id, "use"),
            "memory_id": use.memory_id,
            "used_us": to_us(use.used_at),
            "task_id": use.task_id,
            "cited": use.cited,
            "withheld": use.withheld,
            "credit": use.credit,
        }
        self._connection.execute(insert(tables.use), values)

    def _insert_task(self, task: Task) -> None:
        self._own(task.space)
        values = task_values(task)
        self._free(tables.task, task.id, "task")
        self._connection.execute(insert(tables.task), values | {"space_id": self._space_id})

    def _insert_step(self, step: Step) -> None:
        self._own(step.space)
        values = step_values(step)
        self._free(tables.step, step.id, "step")
        self._connection.execute(insert(tables.step), values | {"space_id": self._space_id})

    def _free(self, table: Table, record_id: str, what: str) -> None:
        if self._is_taken(table, record_id):
            raise Conflict(f"A {what} with the id {record_id} is already there.", next_step="Make a new id.")

    def _put_tags(self, row: int, tags: Sequence[str]) -> None:
        if tags:
            values = [{"row": row, "tag": tag} for tag in dict.fromkeys(tags)]
            self._connection.execute(insert(tables.memory_tag), values)

    def _put_vector(self, row: int, vector: Vector) -> None:
        values = {"model_id": self._ensure_model(vector), "row": row, "data": vector.data}
        self._insert(tables.vector, [values])

    def _ensure_model(self, vector: Vector) -> int:
        values = np.frombuffer(vector.data[: vector.dimensions * 2], dtype="<f2")
        if not vector.dimensions or len(vector.data) % 2 or not np.isfinite(values).all():
            raise InvalidInput("A vector must be one or more finite numbers as little-endian float16.")
        model_id, dimensions = self._known_model(vector)
        if dimensions != vector.dimensions:
            raise InvalidInput(
                f"Vectors of {vector.model} have {dimensions} dimensions, not {vector.dimensions}.",
                next_step="Another preparation of a model needs another model id.",
            )
        return model_id

    def _known_model(self, vector: Vector) -> tuple[int, int]:
        """Key and dimensions; a model is made known by its first vector."""
        name = checked_name(vector.model, "model")
        if name not in self._models:
            columns = tables.model.c
            query = select(columns.id, columns.dimensions).where(columns.name == name)
            known = self._connection.execute(query).first()
            if known is None:
                values = {"name": name, "dimensions": vector.dimensions}
                self._connection.execute(insert(tables.model), values)
                known = self._connection.execute(query).one()
            self._models[name] = (known.id, known.dimensions)
        return self._models[name]

    def _put_link(self, link: Link) -> None:
        key = {
            "space_id": self._space_id,
            "source_id": link.source_id,
            "type": str(link.type),
            "target_id": checked_name(link.target_id, "link target"),
        }
        if self._connection.execute(_LINKED, key).first() is None:
            values = key | {"created_us": to_us(link.created_at), "note": link.note}
            self._insert(tables.link, [values])

    def _put_alias(self, alias: Alias) -> None:
        """Insert, or take the place of the row with this alias."""
        self._own(alias.space)
        if not alias.alias or not alias.name or alias.alias == alias.name:
            raise InvalidInput("An alias needs two different names.")
        if alias.memory_id:
            self._row(alias.memory_id)
        columns = tables.alias.c
        values = alias_values(alias)
        mine = (columns.space_id == self._space_id) & (columns.alias == alias.alias)
        self._connection.execute(delete(tables.alias).where(mine))
        self._connection.execute(insert(tables.alias), values | {"space_id": self._space_id})


def _differences(old: Memory, new: Memory) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name in sorted(MEMORY_FIELDS):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            changed[name] = {} if name in _TEXT_FIELDS else {"before": plain(before), "after": plain(after)}
    return changed
