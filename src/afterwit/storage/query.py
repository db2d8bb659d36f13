"""The key filter as SQL. `cache.py` evaluates the same filter on arrays; a test holds them equal."""

from typing import Any

from sqlalchemy import ColumnElement, and_, case, literal, or_, select, true

from afterwit.clock import to_us
from afterwit.records import KeyFilter, Standing, Status, Trust
from afterwit.storage.base import Order
from afterwit.storage.tables import memory, memory_tag


def conditions(where: KeyFilter) -> list[ColumnElement[bool]]:
    """Conditions on the `memory` table, all of which must hold."""
    found: list[ColumnElement[bool]] = []
    columns = memory.c
    for column, wanted in (
        (columns.scope, where.scopes),
        (columns.role, where.roles),
        (columns.kind, where.kinds),
        (columns.subject, where.subjects),
        (columns.topic, where.topics),
    ):
        if wanted:
            found.append(column.in_([str(item) for item in wanted]))
    if where.tags:
        found.append(columns.row.in_(select(memory_tag.c.row).where(memory_tag.c.tag.in_(where.tags))))
    if where.without_standings:
        found.append(columns.standing.not_in([str(item) for item in where.without_standings]))
    if where.min_trust > 0:
        found.append(columns.trust >= int(where.min_trust))
    if where.proven_only:
        found.append(or_(columns.standing == str(Standing.CONFIRMED), columns.trust >= int(Trust.USER)))
    if where.happened_from is not None:
        found.append(columns.happened_us >= to_us(where.happened_from))
    if where.happened_to is not None:
        found.append(columns.happened_us < to_us(where.happened_to))
    found.extend(_life(where))
    return found


def _life(where: KeyFilter) -> list[ColumnElement[bool]]:
    columns = memory.c
    found: list[ColumnElement[bool]] = []
    valid_to: ColumnElement[Any] = columns.valid_to_us
    if where.known_at is not None:
        known_us = to_us(where.known_at)
        found.append(columns.recorded_us <= known_us)
        found.append(or_(columns.retired_us.is_(None), columns.retired_us > known_us))
        valid_to = case((columns.retired_us.is_(None), columns.valid_to_us), else_=columns.valid_to_believed_us)
    elif where.statuses and not set(where.statuses).issuperset(Status):
        found.append(columns.status.in_([str(item) for item in where.statuses]))
    if where.valid_at is not None:
        start_us = to_us(where.valid_at)
        if where.valid_through is None:
            found.append(or_(columns.valid_from_us.is_(None), columns.valid_from_us <= start_us))
        else:
            end_us = to_us(where.valid_through)
            found.append(or_(columns.valid_from_us.is_(None), columns.valid_from_us < end_us))
            # An empty range has no moment in which anything holds, and neither has an empty validity.
            found.append(literal(start_us < end_us))
            found.append(or_(columns.valid_from_us.is_(None), valid_to.is_(None), columns.valid_from_us < valid_to))
        found.append(or_(valid_to.is_(None), valid_to > start_us))
    return found


def passes(space_id: int, where: KeyFilter) -> ColumnElement[bool]:
    """The whole condition, bound to one space."""
    return and_(true(), memory.c.space_id == space_id, *conditions(where))


def ordering(order: Order) -> list[ColumnElement[Any]]:
    """Columns to order by; ties by id."""
    match order:
        case Order.NEWEST:
            return [memory.c.recorded_us.desc(), memory.c.id]
        case Order.OLDEST:
            return [memory.c.recorded_us, memory.c.id]
        case Order.LATEST:
            return [memory.c.happened_us.desc(), memory.c.id]
