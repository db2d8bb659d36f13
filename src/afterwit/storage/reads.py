"""The questions that plain SQL answers, for every engine; what every search asks is left to the engine."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, Result, Select, bindparam, func, or_, select

from afterwit.errors import InvalidInput
from afterwit.records import Event, KeyFilter, Link, LinkType, Memory, Status, Step, Task, Use
from afterwit.storage import tables
from afterwit.storage.base import Order, Vitals
from afterwit.storage.query import ordering, passes
from afterwit.storage.rows import VITAL_COLUMNS, to_event, to_link, to_memory, to_step, to_task, to_use, to_vitals

#: Ids in one SQL statement; well below every engine's limit of parameters.
BATCH = 500


# Statements that run for every write or search are built once: building one costs more than running it.
_SPACE_ID = select(tables.space.c.id).where(tables.space.c.name == bindparam("name"))
_HAS_STATEMENT = (
    select(tables.memory.c.row)
    .where(tables.memory.c.space_id == bindparam("space_id"), tables.memory.c.statement_key == bindparam("key"))
    .limit(1)
)


def batches(items: Sequence[str], size: int = BATCH) -> Iterator[Sequence[str]]:
    """The items in runs of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def checked_limit(limit: int) -> int:
    """The limit, if it is not negative.

    Raises:
        InvalidInput: it is.
    """
    if limit < 0:
        raise InvalidInput(f"A limit cannot be negative: {limit}.")
    return limit


def _memories(space: str, rows: Result[Any]) -> list[Memory]:
    """The memories of a result, quicker than by `mappings`, which look for a name each time."""
    names = list(rows.keys())
    return [to_memory(space, dict(zip(names, row, strict=True))) for row in rows]


class SqlReader(ABC):
    """Reads over one connection: that of a transaction, or one from the pool for each call."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the database; maps its errors."""

    def _space_id(self, connection: Connection, space: str) -> int | None:
        """The space's key, or None when nothing was ever written to it."""
        return connection.execute(_SPACE_ID, {"name": space}).scalar()

    def _has_statement(self, connection: Connection, space_id: int, key: str) -> bool:
        """Whether any memory of the space, in any state, has this `text.statement_key`."""
        return connection.execute(_HAS_STATEMENT, {"space_id": space_id, "key": key}).first() is not None

    def find(
        self, space: str, where: KeyFilter, *, order: Order = Order.NEWEST, limit: int = 100, offset: int = 0
    ) -> list[Memory]:
        """See `Reader.find`."""
        checked_limit(limit)
        checked_limit(offset)
        with self._reading() as connection:
            space_id = self._space_id(connection, space)
            if space_id is None:
                return []
            page = (
                select(tables.memory.c.row)
                .where(passes(space_id, where))
                .order_by(*ordering(order))
                .limit(limit)
                .offset(offset)
                .subquery()
            )
            query = select(tables.memory).join(page, page.c.row == tables.memory.c.row).order_by(*ordering(order))
            return _memories(space, connection.execute(query))

    def count(self, space: str, where: KeyFilter) -> int:
        """See `Reader.count`."""
        with self._reading() as connection:
            space_id = self._space_id(connection, space)
            if space_id is None:
                return 0
            query = select(func.count()).select_from(tables.memory).where(passes(space_id, where))
            return connection.execute(query).scalar_one()

    def ids_starting_with(self, space: str, prefix: str, *, limit: int = 10) -> list[str]:
        """See `Reader.ids_starting_with`."""
        column = tables.memory.c.id
        query = (
            select(column)
            .join(tables.space, tables.space.c.id == tables.memory.c.space_id)
            .where(tables.space.c.name == space)
            .where(or_(column.startswith(prefix, autoescape=True), column.endswith(prefix, autoescape=True)))
            .order_by(column)
            .limit(checked_limit(limit))
        )
        with self._reading() as connection:
            return list(connection.execute(query).scalars())

    def find_statement(self, space: str, where: KeyFilter, statement: str) -> list[Memory]:
        """See `Reader.find_statement`."""
        with self._reading() as connection:
            space_id = self._space_id(connection, space)
            if space_id is None or not self._has_statement(connection, space_id, statement):
                return []
            query = (
                select(tables.memory)
                .where(tables.memory.c.statement_key == statement, passes(space_id, where))
                .order_by(*ordering(Order.NEWEST))
            )
            return _memories(space, connection.execute(query))

    def links_of_type(self, space: str, type: LinkType) -> list[Link]:
        """See `Reader.links_of_type`."""
        columns = tables.link.c
        query = self._of(space, tables.link).where(columns.type == str(type))
        query = query.order_by(columns.created_us, columns.source_id, columns.target_id)
        with self._reading() as connection:
            return [to_link(space, row) for row in connection.execute(query).mappings()]

    def vitals(self, space: str, *, statuses: Sequence[Status] = ()) -> list[Vitals]:
        """See `Reader.vitals`."""
        columns = tables.memory.c
        with self._reading() as connection:
            query = select(*VITAL_COLUMNS).where(columns.space_id == self._space_id(connection, space))
            if statuses:
                query = query.where(columns.status.in_([str(status) for status in statuses]))
            rows = connection.execute(query.order_by(columns.recorded_us, columns.id))
            return [to_vitals(row) for row in rows]

    def uses(self, space: str, memory_id: str = "", *, task_id: str = "") -> list[Use]:
        """See `Reader.uses`."""
        if not (memory_id or task_id):
            raise InvalidInput("uses needs a memory or a task.")
        columns = tables.use.c
        query = self._of(space, tables.use).order_by(columns.used_us, columns.id)
        if memory_id:
            query = query.where(columns.memory_id == memory_id)
        if task_id:
            query = query.where(columns.task_id == task_id)
        with self._reading() as connection:
            return [to_use(space, row) for row in connection.execute(query).mappings()]

    def events(self, space: str, *, memory_id: str = "", after: int = 0, limit: int = 1000) -> list[Event]:
        """See `Reader.events`."""
        query = (
            self._of(space, tables.event)
            .where(tables.event.c.sequence > after)
            .order_by(tables.event.c.sequence)
            .limit(checked_limit(limit))
        )
        if memory_id:
            query = query.where(tables.event.c.memory_id == memory_id)
        with self._reading() as connection:
            return [to_event(space, row) for row in connection.execute(query).mappings()]

    def task(self, space: str, task_id: str) -> Task | None:
        """See `Reader.task`."""
        query = self._of(space, tables.task).where(tables.task.c.id == task_id)
        with self._reading() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else to_task(space, row)

    def count_steps(self, space: str, task_id: str) -> int:
        """See `Reader.count_steps`."""
        mine = self._of(space, tables.step).where(tables.step.c.task_id == task_id).subquery()
        with self._reading() as connection:
            return connection.execute(select(func.count()).select_from(mine)).scalar_one()

    def steps(self, space: str, task_id: str) -> list[Step]:
        """See `Reader.steps`."""
        query = self._of(space, tables.step).where(tables.step.c.task_id == task_id).order_by(tables.step.c.position)
        with self._reading() as connection:
            return [to_step(space, row) for row in connection.execute(query).mappings()]

    def step_tasks(self, space: str, ids: Sequence[str]) -> dict[str, str]:
        """See `Reader.step_tasks`."""
        columns, found = tables.step.c, dict[str, str]()
        mine = select(columns.id, columns.task_id).join(tables.space, tables.space.c.id == columns.space_id)
        mine = mine.where(tables.space.c.name == space)
        with self._reading() as connection:
            for some in batches(ids):
                found |= {row.id: row.task_id for row in connection.execute(mine.where(columns.id.in_(some)))}
        return found

    @staticmethod
    def _of(space: str, table: Any) -> Select[Any]:
        return (
            select(table).join(tables.space, tables.space.c.id == table.c.space_id).where(tables.space.c.name == space)
        )
