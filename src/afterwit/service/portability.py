"""Export and import: a space as lines of JSON, and back without loss."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from afterwit.codec import decode, dump_line, encode
from afterwit.errors import InvalidInput
from afterwit.records import (
    Add,
    Change,
    CloseTask,
    Connect,
    KeyFilter,
    Link,
    LogStep,
    Memory,
    OpenTask,
    RecordUse,
    Step,
    Task,
    TaskStatus,
    Use,
)
from afterwit.storage import Order, Store, Transaction

#: Version of the line format.
FORMAT = 1

_PAGE = 500
_RECORDS: dict[str, type[Any]] = {"memory": Memory, "link": Link, "use": Use, "task": Task, "step": Step}


@dataclass(frozen=True)
class ImportReport:
    """What an import brought in, by record type, and what was already here."""

    added: dict[str, int]
    already_here: int


def export_lines(store: Store, space: str, *, now: datetime) -> Iterator[str]:
    """Header, then memories, links, uses, tasks and steps, each in order of time.

    The history of single changes stays with the store; versions and links, which carry what
    became of a memory, are exported.
    """
    yield dump_line({"type": "afterwit", "format": FORMAT, "exported_at": now})
    links: dict[tuple[str, str, str], Link] = {}
    uses: list[Use] = []
    for memory in _memories(store, space):
        yield _line("memory", memory)
        for link in store.links(space, [memory.id]):
            links[(link.source_id, link.type.value, link.target_id)] = link
        uses += store.uses(space, memory.id)
    for link in sorted(links.values(), key=lambda link: (link.created_at, link.source_id, link.type, link.target_id)):
        yield _line("link", link)
    for use in sorted(uses, key=lambda use: (use.used_at, use.id)):
        yield _line("use", use)
    for task in store.tasks(space):
        yield _line("task", task)
        for step in store.steps(space, task.id):
            yield _line("step", step)


def _memories(store: Store, space: str) -> Iterator[Memory]:
    offset = 0
    while page := store.find(space, KeyFilter.everything(), order=Order.OLDEST, limit=_PAGE, offset=offset):
        yield from page
        offset += len(page)


def _line(type_name: str, record: Any) -> str:
    return dump_line({"type": type_name} | {k: v for k, v in encode(record).items() if k != "space"})


def import_lines(store: Store, space: str, lines: Iterable[str], *, now: datetime, actor: str) -> ImportReport:
    """Read lines of `export_lines` into a space, whatever the space they came from.

    Raises:
        InvalidInput: not an export, a newer format, or a broken line (named by number).
    """
    added = dict.fromkeys(_RECORDS, 0)
    already_here = 0
    with store.transaction(space, now=now, actor=actor) as tx:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            record = _read(line, number, space)
            if record is None:
                continue
            type_name, value = record
            changes = _changes(tx, space, value)
            if changes:
                tx.apply(changes)
                added[type_name] += 1
            else:
                already_here += 1
    return ImportReport(added, already_here)


def _read(line: str, number: int, space: str) -> tuple[str, Any] | None:
    try:
        values = json.loads(line)
        if not isinstance(values, dict):
            raise InvalidInput("not an object")
        fields = cast("dict[str, Any]", values)
        type_name = fields.pop("type", "")
        if number == 1 or type_name == "afterwit":
            _check_header(type_name, fields)
            return None
        if type_name not in _RECORDS:
            raise InvalidInput(f"unknown record type {type_name!r}")
        return type_name, decode(_RECORDS[type_name], fields | {"space": space})
    except (ValueError, InvalidInput) as error:
        raise InvalidInput(
            f"Line {number} cannot be imported: {error}",
            next_step="Nothing was changed. Use a file made by `afterwit export`.",
        ) from error


def _check_header(type_name: str, fields: dict[str, Any]) -> None:
    if type_name != "afterwit":
        raise InvalidInput("the first line is not the header of an export")
    if fields.get("format") != FORMAT:
        raise InvalidInput(f"format {fields.get('format')!r} is not known to this version; update Afterwit")


def _changes(tx: Transaction, space: str, record: Any) -> list[Change]:
    """What to apply to have the record; empty when it is already here."""
    match record:
        case Memory():
            return [] if tx.get(space, [record.id]) else [Add(record)]
        case Link():
            known = {(link.source_id, link.type, link.target_id) for link in tx.links(space, [record.source_id])}
            return [] if (record.source_id, record.type, record.target_id) in known else [Connect(record)]
        case Use():
            known_uses = {use.id for use in tx.uses(space, record.memory_id)}
            return [] if record.id in known_uses else [RecordUse(record, counts=False)]
        case Task():
            return [] if tx.task(space, record.id) else _task_changes(record)
        case Step():
            known_steps = {step.id for step in tx.steps(space, record.task_id)}
            return [] if record.id in known_steps else [LogStep(record, late=True)]
        case _:
            return []


def _task_changes(task: Task) -> list[Change]:
    opened = replace(task, status=TaskStatus.OPEN, outcome="", ended_at=None)
    if task.status is TaskStatus.OPEN or task.ended_at is None:
        return [OpenTask(opened)]
    return [OpenTask(opened), CloseTask(task.id, task.status, task.outcome, task.ended_at)]
