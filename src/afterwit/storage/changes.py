"""Changes to rows, for every engine: one event per change, nothing that the history must not hold."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from afterwit.clock import to_us
from afterwit.errors import Conflict, InvalidInput, NotFound
from afterwit.records import (
    Add,
    Alias,
    Basis,
    Change,
    CloseTask,
    Connect,
    CreditUse,
    DropAlias,
    Erase,
    EraseTask,
    Event,
    Kind,
    Link,
    LinkType,
    LogStep,
    MarkReviewed,
    Memory,
    OpenTask,
    RecordUse,
    Reinforce,
    Restore,
    Retire,
    Revise,
    SetAlias,
    Standing,
    Status,
    Step,
    Supersede,
    Task,
    TaskStatus,
    Trust,
    Use,
    Vector,
)
from afterwit.storage import tables
from afterwit.storage.reads import batches
from afterwit.storage.row_writer import RowWriter
from afterwit.storage.rows import (
    MEMORY_FIELDS,
    dump,
    maybe_us,
    plain,
    to_memory,
)
from afterwit.storage.words import memory_tokens

#: Fields that no change may touch.
_FIXED_FIELDS = frozenset({"id", "space", "summary", "raw", "recorded_at"})
_ENUM_FIELDS: dict[str, type[Enum]] = {
    "kind": Kind,
    "basis": Basis,
    "trust": Trust,
    "standing": Standing,
    "status": Status,
}
#: Links of these types join two memories; others may end at a step or an entity.
_BETWEEN_MEMORIES = frozenset({LinkType.SUPERSEDES, LinkType.CONFLICTS})
_REPLACED = delete(tables.vector).where(
    tables.vector.c.model_id == bindparam("old_model"), tables.vector.c.row == bindparam("old_row")
)
#: What a change did: the event's action, memory id and detail.
_Made = tuple[str, str, dict[str, Any]]


class Changer(RowWriter):
    """Applies changes of one space over the connection of one write transaction."""

    def apply(self, changes: Iterable[Change]) -> list[Event]:
        """See `Transaction.apply`; all or nothing is the caller's savepoint."""
        change_seq, sequence, self._next_number = self._counted or self._counters()
        # Unknown until this call has succeeded.
        self._counted = None
        # Each call has its own number, so that reads between two calls see the second one's changes.
        self._seq = change_seq + 1
        events: list[Event] = []
        for change in changes:
            action, memory_id, detail = self._make(change)
            sequence += 1
            events.append(Event(sequence, self._space, action, memory_id, self._now, self._actor, detail))
        if events:
            self._insert(tables.event, [self._event_values(event) for event in events])
            self._set_counters(sequence)
            self._counted = self._seq, sequence, self._next_number
        return events

    def put_vectors(self, vectors: Mapping[str, Vector]) -> int:
        """See `Store.put_vectors`; returns how many were stored."""
        self._seq = self._next_seq()
        columns = tables.memory.c
        count = 0
        for ids in batches(list(vectors)):
            mine = (columns.space_id == self._space_id) & columns.id.in_(ids)
            rows = self._connection.execute(select(columns.id, columns.row).where(mine)).all()
            values = [
                {"model_id": self._ensure_model(vectors[id]), "row": row, "data": vectors[id].data} for id, row in rows
            ]
            if values:
                self._connection.execute(_REPLACED, [{"old_model": v["model_id"], "old_row": v["row"]} for v in values])
                self._connection.execute(insert(tables.vector), values)
                self._touch(columns.row.in_([value["row"] for value in values]))
            count += len(values)
        return count

    def drop_vectors(self, model: str, *, limit: int) -> int:
        """See `Store.drop_vectors`; drops at most `limit`."""
        known = select(tables.model.c.id).where(tables.model.c.name == model).scalar_subquery()
        low = self._space_id * tables.ROWS_PER_SPACE
        row = tables.vector.c.row
        mine = (tables.vector.c.model_id == known) & (row >= low) & (row < low + tables.ROWS_PER_SPACE)
        rows = self._connection.execute(select(row).where(mine).order_by(row).limit(limit)).scalars().all()
        if not rows:
            return 0
        self._seq = self._next_seq()
        some = mine & (row <= rows[-1])
        self._touch(tables.memory.c.row.in_(select(row).where(some)))
        return self._connection.execute(delete(tables.vector).where(some)).rowcount

    def rebuild_words(self) -> int:
        """See `Store.rebuild_words`."""
        self._seq = self._next_seq()
        mine = tables.memory.c.space_id == self._space_id
        rows = self._connection.execute(select(tables.memory.c.row).where(mine)).scalars().all()
        for row in rows:
            found = self._connection.execute(select(tables.memory).where(tables.memory.c.row == row)).mappings().one()
            self._words.put_words(self._connection, row, memory_tokens(to_memory(self._space, found)))
        self._touch(mine)
        return len(rows)

    # --- one method per change ------------------------------------------------------------------

    def _make(self, change: Change) -> _Made:
        makers: dict[type[Change], Callable[[Any], _Made]] = {
            Add: self._add,
            Supersede: self._supersede,
            Reinforce: self._reinforce,
            Revise: self._revise,
            Retire: self._retire,
            Erase: self._erase,
            Connect: self._connect,
            RecordUse: self._record_use,
            OpenTask: self._open_task,
            LogStep: self._log_step,
            CloseTask: self._close_task,
            CreditUse: self._credit_use,
            MarkReviewed: self._mark_reviewed,
            EraseTask: self._erase_task,
            SetAlias: self._set_alias,
            DropAlias: self._drop_alias,
            Restore: self._restore,
        }
        return makers[type(change)](change)

    def _add(self, change: Add) -> _Made:
        memory = change.memory
        row = self._insert_memory(memory)
        if change.vector is not None:
            self._put_vector(row, change.vector)
        kept = ("scope", "kind", "basis", "trust", "standing", "status")
        return "add", memory.id, {name: plain(getattr(memory, name)) for name in kept}

    def _supersede(self, change: Supersede) -> _Made:
        if change.old_id == change.new_id:
            raise InvalidInput(f"A memory cannot supersede itself: {change.old_id}.")
        self._row(change.new_id)
        row, old = self._memory(change.old_id)
        ends = change.valid_to if old.valid_to is None else min(change.valid_to, old.valid_to)
        if old.valid_from is not None:
            ends = max(ends, old.valid_from)
        new = replace(self._retired(old, Status.SUPERSEDED), valid_to=ends, superseded_by=change.new_id)
        changed = self._save(row, old, new)
        self._put_link(Link(self._space, change.new_id, LinkType.SUPERSEDES, change.old_id, self._now, change.reason))
        return "supersede", old.id, {"by": change.new_id, "reason": change.reason, "changed": changed}

    def _reinforce(self, change: Reinforce) -> _Made:
        row, old = self._memory(change.memory_id)
        new = replace(
            old,
            supporters=tuple(sorted({*old.supporters, change.supporter} - {""})),
            confidence=change.confidence,
            basis=change.basis,
            trust=change.trust,
            standing=change.standing,
            last_validated_at=change.validated_at,
        )
        changed = self._save(row, old, new)
        changed.pop("supporters", None)
        detail = {"supporter": change.supporter, "reason": change.reason, "changed": changed}
        return "reinforce", old.id, detail

    def _revise(self, change: Revise) -> _Made:
        fields = _checked_fields(change.fields)
        row, old = self._memory(change.memory_id)
        new = old
        status = fields.get("status", old.status)
        if status is Status.ACTIVE and old.status is not Status.ACTIVE:
            new = _restored(old)
        elif status is not Status.ACTIVE and old.status is Status.ACTIVE:
            new = self._retired(old, status)
        new = replace(new, **fields)
        return "revise", old.id, {"reason": change.reason, "changed": self._save(row, old, new)}

    def _retire(self, change: Retire) -> _Made:
        if change.status not in (Status.EXPIRED, Status.FORGOTTEN, Status.QUARANTINED):
            raise InvalidInput(f"A memory cannot be retired as {change.status}.")
        row, old = self._memory(change.memory_id)
        changed = self._save(row, old, self._retired(old, change.status))
        action = "quarantine" if change.status is Status.QUARANTINED else "retire"
        return action, old.id, {"reason": change.reason, "changed": changed}

    def _erase(self, change: Erase) -> _Made:
        memory_id = change.memory_id
        row = self._row(memory_id)
        connection, space_id = self._connection, self._space_id
        self._words.drop_words(connection, row)
        for table in (tables.vector, tables.memory_tag, tables.memory):
            connection.execute(delete(table).where(table.c.row == row))
        links, uses = tables.link.c, tables.use.c
        connection.execute(
            delete(tables.link).where(
                links.space_id == space_id, or_(links.source_id == memory_id, links.target_id == memory_id)
            )
        )
        learned = tables.alias.c
        connection.execute(delete(tables.alias).where(learned.space_id == space_id, learned.memory_id == memory_id))
        connection.execute(delete(tables.use).where(uses.space_id == space_id, uses.memory_id == memory_id))
        connection.execute(insert(tables.tombstone), {"row": row, "space_id": space_id, "changed_seq": self._seq})
        self._scrub_events(memory_id)
        self.erased = True
        return "erase", memory_id, {"reason": change.reason}

    def _connect(self, change: Connect) -> _Made:
        link = change.link
        self._own(link.space)
        self._row(link.source_id)
        if link.type in _BETWEEN_MEMORIES:
            self._row(link.target_id)
        self._put_link(link)
        return "link", link.source_id, {"type": str(link.type), "target": link.target_id, "note": link.note}

    def _record_use(self, change: RecordUse) -> _Made:
        use = change.use
        row, old = self._memory(use.memory_id)
        self._insert_use(use)
        if use.withheld:
            return "use", old.id, {"use": use.id, "task": use.task_id, "withheld": True}
        last = use.used_at if old.last_used_at is None else max(old.last_used_at, use.used_at)
        self._save(row, old, replace(old, use_count=old.use_count + 1, last_used_at=last))
        return "use", old.id, {"use": use.id, "task": use.task_id, "cited": use.cited}

    def _open_task(self, change: OpenTask) -> _Made:
        self._insert_task(change.task)
        return "start_task", "", {"task": change.task.id}

    def _log_step(self, change: LogStep) -> _Made:
        step = change.step
        self._require_open(step.task_id, "take a step")
        columns = tables.step.c
        position = self._connection.execute(
            select(func.coalesce(func.max(columns.position) + 1, 0)).where(
                columns.space_id == self._space_id, columns.task_id == step.task_id
            )
        ).scalar_one()
        self._insert_step(replace(step, position=position))
        if change.deadline is not None:
            mine = (tables.task.c.space_id == self._space_id) & (tables.task.c.id == step.task_id)
            self._connection.execute(update(tables.task).where(mine).values(deadline_us=to_us(change.deadline)))
        return "log_step", "", {"task": step.task_id, "step": step.id, "position": position}

    def _close_task(self, change: CloseTask) -> _Made:
        if change.status is TaskStatus.OPEN:
            raise InvalidInput("A task ends as succeeded, failed or abandoned, not as open.")
        self._require_open(change.task_id, "end again")
        self._connection.execute(
            update(tables.task)
            .where(tables.task.c.space_id == self._space_id, tables.task.c.id == change.task_id)
            .values(status=str(change.status), outcome=change.outcome, ended_us=to_us(change.ended_at))
        )
        return "finish_task", "", {"task": change.task_id, "status": str(change.status)}

    def _credit_use(self, change: CreditUse) -> _Made:
        if not -1 <= change.credit <= 1:
            raise InvalidInput(f"Credit is from -1 to 1, not {change.credit}.")
        columns = tables.use.c
        mine = (columns.space_id == self._space_id) & (columns.id == change.use_id)
        use = self._connection.execute(select(tables.use).where(mine)).mappings().first()
        if use is None:
            raise NotFound(f"There is no use {change.use_id} in this space.")
        self._connection.execute(update(tables.use).where(mine).values(credit=change.credit, cited=change.cited))
        row, old = self._memory(use["memory_id"])
        helped = old.helped + max(change.credit, 0.0) - max(use["credit"], 0.0)
        harmed = old.harmed - min(change.credit, 0.0) + min(use["credit"], 0.0)
        changed = self._save(row, old, replace(old, helped=max(helped, 0.0), harmed=max(harmed, 0.0)))
        return "credit", old.id, {"use": change.use_id, "task": use["task_id"], "changed": changed}

    def _mark_reviewed(self, change: MarkReviewed) -> _Made:
        status = self._task_status(change.task_id)
        if status is None:
            raise NotFound(f"There is no task {change.task_id} in this space.")
        if status is TaskStatus.OPEN:
            raise Conflict(f"Task {change.task_id} still runs and cannot be looked back at.")
        self._connection.execute(
            update(tables.task)
            .where(tables.task.c.space_id == self._space_id, tables.task.c.id == change.task_id)
            .values(reviewed_us=maybe_us(change.reviewed_at), review_error=change.error)
        )
        return "review_task", "", {"task": change.task_id, "error": change.error}

    def _erase_task(self, change: EraseTask) -> _Made:
        if self._task_status(change.task_id) is None:
            raise NotFound(f"There is no task {change.task_id} in this space.")
        for table, column in ((tables.step, "task_id"), (tables.use, "task_id"), (tables.task, "id")):
            mine = (table.c.space_id == self._space_id) & (table.c[column] == change.task_id)
            self._connection.execute(delete(table).where(mine))
        self.erased = True
        return "erase_task", "", {"task": change.task_id, "reason": change.reason}

    def _set_alias(self, change: SetAlias) -> _Made:
        alias = change.alias
        self._put_alias(alias)
        return "set_alias", alias.memory_id, {"alias": alias.alias, "name": alias.name, "source": alias.source}

    def _drop_alias(self, change: DropAlias) -> _Made:
        columns = tables.alias.c
        mine = (columns.space_id == self._space_id) & (columns.alias == change.alias)
        row = self._connection.execute(select(tables.alias).where(mine)).mappings().first()
        if row is None:
            raise NotFound(f"{change.alias!r} is no other name of anything in this space.")
        self._connection.execute(delete(tables.alias).where(mine))
        detail = {"alias": row["alias"], "name": row["name"], "reason": change.reason}
        return "drop_alias", row["memory_id"], detail

    def _restore(self, change: Restore) -> _Made:
        record = change.record
        self._own(record.space)
        memory_id = ""
        match record:
            case Memory():
                self._insert_memory(record)
                memory_id = record.id
            case Link():
                self._put_link(record)
                memory_id = record.source_id
            case Use():
                self._row(record.memory_id)
                self._insert_use(record)
                memory_id = record.memory_id
            case Alias():
                self._put_alias(record)
                memory_id = record.memory_id
            case Task():
                self._insert_task(record)
            case Step():
                if self._task_status(record.task_id) is None:
                    raise NotFound(f"There is no task {record.task_id} in this space.")
                self._insert_step(record)
        return "restore", memory_id, {"record": type(record).__name__.lower()}

    # --- parts ----------------------------------------------------------------------------------

    def _retired(self, old: Memory, status: Status) -> Memory:
        """The first retirement counts: what was believed until then stays as it was."""
        if old.status is not Status.ACTIVE and old.retired_at is not None:
            return replace(old, status=status)
        return replace(old, status=status, retired_at=self._now, valid_to_believed=old.valid_to)

    def _task_status(self, task_id: str) -> TaskStatus | None:
        columns = tables.task.c
        query = select(columns.status).where(columns.space_id == self._space_id, columns.id == task_id)
        status = self._connection.execute(query).scalar()
        return None if status is None else TaskStatus(status)

    def _require_open(self, task_id: str, deed: str) -> None:
        status = self._task_status(task_id)
        if status is None:
            raise NotFound(f"There is no task {task_id} in this space.")
        if status is not TaskStatus.OPEN:
            raise Conflict(f"Task {task_id} has ended ({status}) and cannot {deed}.", next_step="Start a new task.")

    def _scrub_events(self, memory_id: str) -> None:
        """Empty the details of the memory's events, and the free words of others that name it."""
        columns = tables.event.c
        mine = (columns.space_id == self._space_id) & (columns.memory_id == memory_id)
        self._connection.execute(update(tables.event).where(mine).values(detail="{}"))
        naming = select(tables.event).where(
            columns.space_id == self._space_id, columns.detail.contains(memory_id, autoescape=True)
        )
        for event in self._connection.execute(naming).mappings().all():
            self._connection.execute(
                update(tables.event)
                .where(columns.space_id == self._space_id, columns.sequence == event["sequence"])
                .values(detail=_without_words(event["detail"]))
            )

    def _event_values(self, event: Event) -> dict[str, Any]:
        return {
            "space_id": self._space_id,
            "sequence": event.sequence,
            "action": event.action,
            "memory_id": event.memory_id,
            "at_us": to_us(event.at),
            "actor": event.actor,
            "detail": dump(event.detail),
        }


def _checked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(fields) - (MEMORY_FIELDS - _FIXED_FIELDS))
    if unknown:
        raise InvalidInput(
            f"These fields of a memory cannot be revised: {', '.join(unknown)}.",
            next_step="To change its text, write a new memory that supersedes it.",
        )
    checked = dict(fields)
    for name, kind in _ENUM_FIELDS.items():
        if name in checked:
            try:
                checked[name] = kind(checked[name])
            except ValueError:
                raise InvalidInput(f"{checked[name]!r} is no {name} of a memory.") from None
    return checked


def _restored(old: Memory) -> Memory:
    """Back among the active ones, with the validity it had before it was retired."""
    valid_to = old.valid_to if old.retired_at is None else old.valid_to_believed
    return replace(
        old,
        status=Status.ACTIVE,
        valid_to=valid_to,
        valid_to_believed=None,
        retired_at=None,
        superseded_by="",
    )


def _without_words(detail: str) -> str:
    kept = {name: value for name, value in json.loads(detail).items() if name not in ("reason", "note")}
    return dump(kept)
