"""Taking back what one task, session or writer wrote, or everything since a time: first the plan, then its changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from afterwit.clock import to_us
from afterwit.errors import InvalidInput
from afterwit.records import Change, KeyFilter, LinkType, Memory, Retire, Revise, Standing, Status, Trust
from afterwit.service.ruling import every, links_of
from afterwit.storage import Reader

_EVENTS = 1_000


@dataclass(frozen=True)
class Rollback:
    """What is to be taken back; all that is named must hold."""

    since: datetime | None = None
    task_id: str = ""
    session: str = ""
    actor: str = ""

    def check(self) -> None:
        """Whether it makes sense.

        Raises:
            InvalidInput: nothing is named, or the time has no zone.
        """
        if self.since is None and not (self.task_id or self.session or self.actor):
            raise InvalidInput(
                "Nothing says what is to be taken back.", next_step="Name a task, a session, a writer or a time."
            )
        if self.since is not None:
            to_us(self.since)

    @property
    def reason(self) -> str:
        """For the history."""
        named = {"task": self.task_id, "session": self.session, "writer": self.actor}
        parts = [f"{name} {value}" for name, value in named.items() if value]
        if self.since is not None:
            parts.append(f"since {self.since:%Y-%m-%dT%H:%M:%SZ}")
        return f"rollback: {', '.join(parts)}"


@dataclass(frozen=True)
class RollbackPlan:
    """What taking something back does."""

    #: memories that go out of recall, or are erased with their task
    retired: tuple[Memory, ...]
    #: memories that come back, since what replaced them goes
    restored: tuple[Memory, ...]
    #: memories that stay with less evidence, pending if they were proved
    weakened: tuple[Memory, ...]
    #: tasks that were shown something of what goes
    seen_by: tuple[str, ...]
    #: whether it was carried out
    done: bool = False


def plan_of(reader: Reader, space: str, asked: Rollback) -> RollbackPlan:
    """What a rollback would do, as the space is now."""
    written = {row.id: row for row in _written(reader, space, asked) if row.status is not Status.FORGOTTEN}
    retired = _with_what_rests_on_them(reader, space, written)
    weakened = [
        row
        for row in _derived(reader, space, retired)
        if row.standing is Standing.CONFIRMED and row.trust < Trust.USER and row.status is Status.ACTIVE
    ]
    known = {row.id for row in weakened} | set(retired)
    weakened += [row for row in _supported(reader, space, asked) if row.id not in known]
    seen = {use.task_id for id in retired for use in reader.uses(space, id) if use.task_id and not use.withheld}
    order = sorted(retired.values(), key=lambda row: row.id)
    return RollbackPlan(tuple(order), tuple(_restored(reader, space, retired)), tuple(weakened), tuple(sorted(seen)))


def changes_of(plan: RollbackPlan, asked: Rollback) -> list[Change]:
    """The changes of a plan, but for what follows for what derives from it."""
    changes: list[Change] = [Retire(row.id, Status.FORGOTTEN, asked.reason) for row in plan.retired]
    changes += [Revise(row.id, {"status": Status.ACTIVE}, reason=asked.reason) for row in plan.restored]
    for row in plan.weakened:
        kept = tuple(one for one in row.supporters if one not in (asked.session, asked.task_id))
        if kept != row.supporters:
            changes.append(Revise(row.id, {"supporters": kept}, reason=asked.reason))
    return changes


def _written(reader: Reader, space: str, asked: Rollback) -> Iterator[Memory]:
    by_actor = _added_by(reader, space, asked.actor) if asked.actor else None
    of_task = _of_task(reader, space, asked.task_id) if asked.task_id else None
    for row in every(reader, space, KeyFilter.everything()):
        if asked.since is not None and row.recorded_at < asked.since:
            continue
        if by_actor is not None and row.id not in by_actor:
            continue
        if of_task is not None and row.id not in of_task and row.source.ref != asked.task_id:
            continue
        if asked.session and not _wrote(row, asked.session, reader, space):
            continue
        yield row


def _wrote(row: Memory, session: str, reader: Reader, space: str) -> bool:
    """Whether a session wrote a memory, and not only said the same later."""
    if row.source.ref == session:
        return True
    task = reader.task(space, row.source.ref) if row.source.ref else None
    return task.session == session if task is not None else row.supporters == (session,)


def _added_by(reader: Reader, space: str, actor: str) -> set[str]:
    found: set[str] = set()
    after = 0
    while events := reader.events(space, after=after, limit=_EVENTS):
        found |= {event.memory_id for event in events if event.action == "add" and event.actor == actor}
        after = events[-1].sequence
    return found


def _of_task(reader: Reader, space: str, task_id: str) -> set[str]:
    """Memories that rest on steps of a task and on no other task."""
    steps = [step.id for step in reader.steps(space, task_id)]
    derived = {link.source_id for link in links_of(reader, space, steps) if link.type is LinkType.DERIVED_FROM}
    return {row.id for row in reader.get(space, sorted(derived)).values() if len(row.supporters) <= 1}


def _with_what_rests_on_them(reader: Reader, space: str, written: dict[str, Memory]) -> dict[str, Memory]:
    """The memories, and those whose every source among memories is one of them."""
    retired = dict(written)
    grows = True
    while grows:
        grows = False
        for row in _derived(reader, space, retired):
            sources = {
                link.target_id
                for link in reader.links(space, [row.id])
                if link.type is LinkType.DERIVED_FROM and link.source_id == row.id
            }
            if sources <= set(retired) and row.trust < Trust.USER and row.status is not Status.FORGOTTEN:
                retired[row.id] = row
                grows = True
    return retired


def _derived(reader: Reader, space: str, sources: dict[str, Memory]) -> list[Memory]:
    links = links_of(reader, space, list(sources))
    ids = {link.source_id for link in links if link.type is LinkType.DERIVED_FROM and link.target_id in sources}
    return list(reader.get(space, sorted(ids - set(sources))).values())


def _supported(reader: Reader, space: str, asked: Rollback) -> list[Memory]:
    """Memories of others for which the session or task spoke, too."""
    named = {asked.session, asked.task_id} - {""}
    if not named or asked.actor or asked.since is not None:
        return []
    return [row for row in every(reader, space, KeyFilter()) if named & set(row.supporters) and len(row.supporters) > 1]


def _restored(reader: Reader, space: str, retired: dict[str, Memory]) -> list[Memory]:
    """What comes back: superseded memories at whose end stands nothing that stays."""
    links = links_of(reader, space, list(retired))
    ids = {link.target_id for link in links if link.type is LinkType.SUPERSEDES and link.source_id in retired}
    rows = reader.get(space, sorted(ids - set(retired)))
    found: list[Memory] = []
    for row in rows.values():
        end: Memory | None = row
        while end is not None and end.superseded_by and (end is row or end.id in retired):
            end = reader.get(space, [end.superseded_by]).get(end.superseded_by)
        if row.status is Status.SUPERSEDED and (end is None or end.id in retired):
            found.append(row)
    return sorted(found, key=lambda row: row.id)
