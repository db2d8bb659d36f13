"""Records to rows and back. JSON is text with sorted keys, times are microseconds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement

from afterwit.clock import format_time, from_us, to_us
from afterwit.errors import InvalidInput
from afterwit.records import (
    SPEAKER,
    Alias,
    Basis,
    Event,
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
)
from afterwit.storage import tables
from afterwit.storage.base import Vitals
from afterwit.storage.tables import ID_LENGTH, NAME_LENGTH
from afterwit.text import statement_key

Row = Mapping[Any, Any]

# Looking a value up takes a third of the time of making it from its text, and a search reads 50 rows.
_KIND = {item.value: item for item in Kind}
_BASIS = {item.value: item for item in Basis}
_STANDING = {item.value: item for item in Standing}
_STATUS = {item.value: item for item in Status}

#: Names of the fields of `Memory`.
MEMORY_FIELDS = frozenset(item.name for item in fields(Memory))


def dump(value: Any) -> str:
    """JSON text with sorted keys, every script as it is.

    Raises:
        InvalidInput: the value cannot be written as JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"A structured value cannot be stored as JSON: {error}.",
            next_step="Use text, numbers, true, false, null, lists and objects with text keys.",
        ) from error


def maybe_us(moment: datetime | None) -> int | None:
    """Microseconds, or None."""
    return None if moment is None else to_us(moment)


def maybe_time(microseconds: int | None) -> datetime | None:
    """The time, or None."""
    return None if microseconds is None else from_us(microseconds)


def checked_id(text: str, what: str) -> str:
    """The id, if it can be one: 1 to 36 printable ASCII characters.

    Raises:
        InvalidInput: it cannot.
    """
    if not 1 <= len(text) <= ID_LENGTH or not text.isascii() or not text.isprintable():
        raise InvalidInput(
            f"The id of a {what} must be 1 to {ID_LENGTH} printable ASCII characters, not {text!r}.",
            next_step="Make one with records.new_id.",
        )
    return text


def checked_name(text: str, what: str) -> str:
    """The name, if it is short enough.

    Raises:
        InvalidInput: longer than 255 characters.
    """
    if len(text) > NAME_LENGTH:
        raise InvalidInput(f"The {what} is longer than {NAME_LENGTH} characters: {text[:40]!r}...")
    return text


def memory_values(memory: Memory) -> dict[str, Any]:
    """Column values of a memory, all but `row`, `space_id` and `changed_seq`."""
    for name in ("scope", "role", "subject", "topic"):
        checked_name(getattr(memory, name), name)
    for tag in memory.tags:
        checked_name(tag, "tag")
    return {
        "id": checked_id(memory.id, "memory"),
        "scope": memory.scope,
        "role": memory.role,
        "kind": str(memory.kind),
        "subject": memory.subject,
        "topic": memory.topic,
        "tags": dump(list(memory.tags)),
        "status": str(memory.status),
        "standing": str(memory.standing),
        "trust": int(memory.trust),
        "happened_us": to_us(memory.happened_at),
        "recorded_us": to_us(memory.recorded_at),
        "valid_from_us": maybe_us(memory.valid_from),
        "valid_to_us": maybe_us(memory.valid_to),
        "valid_to_believed_us": maybe_us(memory.valid_to_believed),
        "retired_us": maybe_us(memory.retired_at),
        "basis": str(memory.basis),
        "confidence": float(memory.confidence),
        "source_kind": checked_name(memory.source.kind, "source kind"),
        "source_ref": memory.source.ref,
        "superseded_by": memory.superseded_by,
        "supporters": dump(list(memory.supporters)),
        "last_validated_us": maybe_us(memory.last_validated_at),
        "last_used_us": maybe_us(memory.last_used_at),
        "use_count": memory.use_count,
        "helped": float(memory.helped),
        "harmed": float(memory.harmed),
        "applies": dump(memory.applies),
        "structured": dump(memory.structured),
        "summary": memory.summary,
        "statement_key": statement_key(memory.summary),
        "raw": memory.raw,
    }


@lru_cache(maxsize=1024)
def _texts(stored: str) -> tuple[str, ...]:
    """Few lists are read again and again: the tags and sessions of a space."""
    return tuple(json.loads(stored))


def _object(stored: str) -> dict[str, Any]:
    return json.loads(stored) if stored != "{}" else {}


def to_memory(space: str, row: Row) -> Memory:
    """The memory that a row of the `memory` table holds."""
    values: dict[str, Any] = dict(
        id=row["id"],
        space=space,
        summary=row["summary"],
        kind=_KIND[row["kind"]],
        recorded_at=from_us(row["recorded_us"]),
        happened_at=from_us(row["happened_us"]),
        scope=row["scope"],
        role=row["role"],
        subject=row["subject"],
        topic=row["topic"],
        tags=_texts(row["tags"]),
        raw=row["raw"],
        structured=_object(row["structured"]),
        basis=_BASIS[row["basis"]],
        trust=Trust(row["trust"]),
        source=Source(row["source_kind"], row["source_ref"]),
        confidence=row["confidence"],
        standing=_STANDING[row["standing"]],
        status=_STATUS[row["status"]],
        valid_from=maybe_time(row["valid_from_us"]),
        valid_to=maybe_time(row["valid_to_us"]),
        valid_to_believed=maybe_time(row["valid_to_believed_us"]),
        retired_at=maybe_time(row["retired_us"]),
        superseded_by=row["superseded_by"],
        supporters=_texts(row["supporters"]),
        last_validated_at=maybe_time(row["last_validated_us"]),
        last_used_at=maybe_time(row["last_used_us"]),
        use_count=row["use_count"],
        helped=float(row["helped"]),
        harmed=float(row["harmed"]),
        applies=_object(row["applies"]),
    )
    # A frozen dataclass sets its fields one by one, which for 32 of them takes as long as all the rest.
    memory = object.__new__(Memory)
    memory.__dict__.update(values)
    return memory


_COLUMNS = tables.memory.c
#: What `to_vitals` reads, in its order.
VITAL_COLUMNS: tuple[ColumnElement[Any], ...] = (
    _COLUMNS.id,
    _COLUMNS.kind,
    _COLUMNS.status,
    _COLUMNS.standing,
    _COLUMNS.basis,
    _COLUMNS.trust,
    _COLUMNS.confidence,
    _COLUMNS.scope,
    _COLUMNS.role,
    _COLUMNS.recorded_us,
    _COLUMNS.valid_to_us,
    _COLUMNS.retired_us,
    _COLUMNS.last_validated_us,
    _COLUMNS.last_used_us,
    _COLUMNS.use_count,
    _COLUMNS.helped,
    _COLUMNS.harmed,
    _COLUMNS.source_kind,
    _COLUMNS.source_ref,
    _COLUMNS.statement_key,
    _COLUMNS.structured.contains(f'"{SPEAKER}":', autoescape=True),
)


_KINDS = {str(item): item for item in Kind}
_STATUSES = {str(item): item for item in Status}
_STANDINGS = {str(item): item for item in Standing}
_BASES = {str(item): item for item in Basis}


def to_vitals(row: Sequence[Any]) -> Vitals:
    """The vitals in a row of `VITAL_COLUMNS`."""
    id, kind, status, standing, basis, trust, confidence, scope, role = row[:9]
    recorded, valid_to, retired, validated, used = row[9:14]
    use_count, helped, harmed, source_kind, source_ref, key, is_turn = row[14:]
    return Vitals(
        id,
        _KINDS[kind],
        _STATUSES[status],
        _STANDINGS[standing],
        _BASES[basis],
        Trust(trust),
        confidence,
        scope,
        role,
        from_us(recorded),
        None if valid_to is None else from_us(valid_to),
        None if retired is None else from_us(retired),
        None if validated is None else from_us(validated),
        None if used is None else from_us(used),
        use_count,
        float(helped),
        float(harmed),
        Source(source_kind, source_ref),
        key,
        bool(is_turn),
    )


def plain(value: Any) -> Any:
    """A field's value as JSON can hold it, for the history."""
    match value:
        case datetime():
            return format_time(value)
        case Source():
            return {"kind": value.kind, "ref": value.ref}
        case tuple():
            return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case Mapping():
            return dict(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        case Trust():
            return int(value)
        case str():
            return str(value)
        case _:
            return value


def to_link(space: str, row: Row) -> Link:
    """The link of a row."""
    return Link(
        space, row["source_id"], LinkType(row["type"]), row["target_id"], from_us(row["created_us"]), row["note"]
    )


def to_use(space: str, row: Row) -> Use:
    """The use of a row."""
    return Use(
        id=row["id"],
        space=space,
        memory_id=row["memory_id"],
        used_at=from_us(row["used_us"]),
        task_id=row["task_id"],
        cited=bool(row["cited"]),
        withheld=bool(row["withheld"]),
        credit=row["credit"],
    )


def to_event(space: str, row: Row) -> Event:
    """The event of a row."""
    return Event(
        row["sequence"],
        space,
        row["action"],
        row["memory_id"],
        from_us(row["at_us"]),
        row["actor"],
        json.loads(row["detail"]),
    )


def task_values(task: Task) -> dict[str, Any]:
    """Column values of a task, all but `space_id`."""
    return {
        "id": checked_id(task.id, "task"),
        "goal": task.goal,
        "started_us": to_us(task.started_at),
        "scope": checked_name(task.scope, "scope"),
        "role": checked_name(task.role, "role"),
        "constraints": dump(list(task.constraints)),
        "status": str(task.status),
        "outcome": task.outcome,
        "ended_us": maybe_us(task.ended_at),
        "session": checked_name(task.session, "session"),
        "environment": dump(task.environment),
        "step_limit": task.step_limit,
        "deadline_us": maybe_us(task.deadline),
        "reviewed_us": maybe_us(task.reviewed_at),
        "review_error": task.review_error,
    }


def to_task(space: str, row: Row) -> Task:
    """The task of a row."""
    return Task(
        id=row["id"],
        space=space,
        goal=row["goal"],
        started_at=from_us(row["started_us"]),
        scope=row["scope"],
        role=row["role"],
        constraints=tuple(json.loads(row["constraints"])),
        status=TaskStatus(row["status"]),
        outcome=row["outcome"],
        ended_at=maybe_time(row["ended_us"]),
        session=row["session"],
        environment=_object(row["environment"]),
        step_limit=row["step_limit"],
        deadline=maybe_time(row["deadline_us"]),
        reviewed_at=maybe_time(row["reviewed_us"]),
        review_error=row["review_error"],
    )


def alias_values(alias: Alias) -> dict[str, Any]:
    """Column values of an alias, all but `space_id`."""
    return {
        "alias": checked_name(alias.alias, "alias"),
        "name": checked_name(alias.name, "name"),
        "source": alias.source,
        "memory_id": alias.memory_id,
        "since_us": to_us(alias.since),
    }


def to_alias(space: str, row: Row) -> Alias:
    """The alias of a row."""
    return Alias(space, row["alias"], row["name"], from_us(row["since_us"]), row["source"], row["memory_id"])


def step_values(step: Step) -> dict[str, Any]:
    """Column values of a step, all but `space_id`."""
    return {
        "id": checked_id(step.id, "step"),
        "task_id": step.task_id,
        "position": step.position,
        "action": checked_name(step.action, "action"),
        "happened_us": to_us(step.happened_at),
        "input": step.input,
        "output": step.output,
        "rationale": step.rationale,
        "ok": step.ok,
    }


def to_step(space: str, row: Row) -> Step:
    """The step of a row."""
    return Step(
        id=row["id"],
        space=space,
        task_id=row["task_id"],
        position=row["position"],
        action=row["action"],
        happened_at=from_us(row["happened_us"]),
        input=row["input"],
        output=row["output"],
        rationale=row["rationale"],
        ok=None if row["ok"] is None else bool(row["ok"]),
    )
