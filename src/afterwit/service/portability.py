"""Export and import: a space as lines of JSON, and back without loss."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from afterwit.codec import decode, dump_line, encode
from afterwit.errors import InvalidInput, Sentence
from afterwit.records import Alias, KeyFilter, Link, Memory, Restore, Step, Task, Use
from afterwit.storage import Order, Store, Transaction

#: Version of the line format.
FORMAT = 1

_PAGE = 500
_RECORDS: dict[str, type[Any]] = {
    "memory": Memory,
    "link": Link,
    "use": Use,
    "task": Task,
    "step": Step,
    "alias": Alias,
}


@dataclass(frozen=True)
class ImportReport:
    """What an import brought in, by record type, and what was already here."""

    added: dict[str, int]
    already_here: int


def export_lines(store: Store, space: str, *, now: datetime) -> Iterator[str]:
    """Header, then memories, links, uses, aliases, tasks and steps, each in order of time.

    The history of single changes stays with the store; versions and links, which carry what
    became of a memory, are exported.
    """
    yield dump_line({"record": "afterwit", "format": FORMAT, "exported_at": now})
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
    for alias in store.aliases(space):
        yield _line("alias", alias)
    for task in store.tasks(space):
        yield _line("task", task)
        for step in store.steps(space, task.id):
            yield _line("step", step)


def _memories(store: Store, space: str) -> Iterator[Memory]:
    offset = 0
    while page := store.find(space, KeyFilter.everything(), order=Order.OLDEST, limit=_PAGE, offset=offset):
        yield from page
        offset += len(page)


def _line(name: str, record: Any) -> str:
    return dump_line({"record": name} | {k: v for k, v in encode(record).items() if k != "space"})


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
            name, value = record
            if _is_known(tx, space, value):
                already_here += 1
            else:
                tx.apply([Restore(value)])
                added[name] += 1
    return ImportReport(added, already_here)


def _read(line: str, number: int, space: str) -> tuple[str, Any] | None:
    try:
        values = json.loads(line)
        if not isinstance(values, dict):
            raise InvalidInput("not an object")
        fields = cast("dict[str, Any]", values)
        name = fields.pop("record", "")
        if number == 1 or name == "afterwit":
            _check_header(name, fields)
            return None
        if name not in _RECORDS:
            raise InvalidInput(Sentence("unknown record {name!r}", name=name))
        return name, decode(_RECORDS[name], fields | {"space": space})
    except (ValueError, InvalidInput) as error:
        raise InvalidInput(
            Sentence(
                "Line {number} cannot be imported: {problem}",
                number=number,
                problem=error.message if isinstance(error, InvalidInput) else error,
            ),
            next_step="Nothing was changed. Use a file made by `afterwit export`.",
        ) from error


def _check_header(name: str, fields: dict[str, Any]) -> None:
    if name != "afterwit":
        raise InvalidInput("the first line is not the header of an export")
    if fields.get("format") != FORMAT:
        raise InvalidInput(
            Sentence("format {format!r} is not known to this version; update Afterwit", format=fields.get("format"))
        )


def _is_known(tx: Transaction, space: str, record: Any) -> bool:
    match record:
        case Memory():
            return bool(tx.get(space, [record.id]))
        case Link():
            links = tx.links(space, [record.source_id])
            return any((link.type, link.target_id) == (record.type, record.target_id) for link in links)
        case Use():
            return any(use.id == record.id for use in tx.uses(space, record.memory_id))
        case Alias():
            return any(alias.alias == record.alias for alias in tx.aliases(space))
        case Task():
            return tx.task(space, record.id) is not None
        case _:
            return any(step.id == record.id for step in tx.steps(space, record.task_id))
