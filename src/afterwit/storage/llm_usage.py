"""Rows of what language models took."""

from datetime import datetime

from sqlalchemy import Connection, insert, select

from afterwit.clock import from_us, to_us
from afterwit.storage import tables
from afterwit.storage.base import LLMUse

_COLUMNS = tables.llm_usage.c
#: Longest name of a prompt or model, and longest error, that is kept.
_LONGEST_NAME, _LONGEST_ERROR = tables.NAME_LENGTH, 64


def add(connection: Connection, space_id: int, use: LLMUse) -> None:
    """Write one call."""
    values = {
        "space_id": space_id,
        "at_us": to_us(use.at),
        "purpose": use.purpose[:_LONGEST_NAME],
        "model": use.model[:_LONGEST_NAME],
        "input_tokens": use.input_tokens,
        "output_tokens": use.output_tokens,
        "ok": not use.error,
        "error": use.error[:_LONGEST_ERROR],
    }
    connection.execute(insert(tables.llm_usage), values)


def read(connection: Connection, space: str, since: datetime, until: datetime) -> list[LLMUse]:
    """The calls of `[since, until)`, oldest first."""
    query = (
        select(
            _COLUMNS.at_us,
            _COLUMNS.purpose,
            _COLUMNS.model,
            _COLUMNS.input_tokens,
            _COLUMNS.output_tokens,
            _COLUMNS.error,
        )
        .join(tables.space, tables.space.c.id == _COLUMNS.space_id)
        .where(tables.space.c.name == space, _COLUMNS.at_us >= to_us(since), _COLUMNS.at_us < to_us(until))
        .order_by(_COLUMNS.at_us, _COLUMNS.id)
    )
    return [LLMUse(from_us(at_us), *rest) for at_us, *rest in connection.execute(query).all()]
