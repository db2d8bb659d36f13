"""From the items of a session to tasks and their steps, with ids that every reading makes anew. Pure."""

import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PureWindowsPath
from uuid import NAMESPACE_URL, uuid5

from afterwit.records import GLOBAL, Json, Kind, Step, Task
from afterwit.review.actions import act_of
from afterwit.review.lessons import review_steps
from afterwit.review.signatures import is_failure
from afterwit.service.stepping import StepFields, read_step
from afterwit.transcripts import Header, Item, Reading, SessionFile

#: Keys with so many characters without a gap are given once in the world, such as a UUID: the same in copies.
_UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[A-Za-z0-9]{16}")
#: Tools of this memory: what they return was recalled, not learned.
_RECALL = re.compile(
    r"(?:^|__|\.)(?:memory_(?:write|search|update|forget|summarize|explain)|task_(?:start|step|finish))$"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Bytes of an action's name that are kept.
_ACTION_BYTES = 200
_ADDRESS_END = re.compile(r"([^/:\\]+?)(?:\.git)?/?$")


@dataclass(frozen=True)
class Taught:
    """One thing that a task taught."""

    summary: str
    kind: Kind
    #: what became of it: "stored", "merged", "superseded", "quarantined"; "new" or "known" in a dry run
    outcome: str
    #: empty in a dry run
    memory_id: str = ""


@dataclass(frozen=True)
class SessionTask:
    """What a reading brought to one task."""

    task: Task
    #: steps that were not there before
    steps: int
    #: the reading made it
    is_new: bool
    taught: tuple[Taught, ...] = ()


@dataclass(frozen=True)
class Followed:
    """What one reading of a session brought."""

    client: str
    #: the session as tasks name it: "claude_code:ID"; empty when it was not read
    session: str
    path: Path
    #: when its file last changed (aware UTC)
    modified: datetime
    #: where what it teaches applies
    scope: str = GLOBAL
    #: tasks that were made, went on or ended
    tasks: tuple[SessionTask, ...] = ()
    #: requests from which nothing can be learned; they make no task
    passed_over: int = 0
    #: why nothing was done: "unchanged" since the last reading, "busy" (another process reads it), "elsewhere" (of
    #: another project); else empty
    reason: str = ""


@dataclass(frozen=True)
class Place:
    """A session, and what is the same for all its tasks."""

    file: SessionFile
    #: as tasks name it
    name: str
    scope: str
    environment: Json
    space: str
    #: its first words are those of another agent
    is_subagent: bool
    now: datetime


@dataclass(frozen=True)
class Passage:
    """The items that belong to one task."""

    #: key of the item that opens it
    key: str
    goal: str
    items: tuple[Item, ...]
    started_at: datetime
    #: when the next one began; None for the last one
    until: datetime | None
    #: nothing more will come
    is_over: bool
    #: as in `Turn.ending`
    ending: str


def passages(reading: Reading, *, fallback: datetime, goal: str, goes_on: bool) -> list[Passage]:
    """The tasks of a session in order. What came before the first request, and calls of this memory, are left out.

    Args:
        reading: the whole session.
        fallback: time of items whose own is unknown, where none before them has one.
        goal: what a task without words is called.
        goes_on: the last one is not over.
    """
    turns = [turn for turn in reading.turns() if turn.number]
    made: list[Passage] = []
    at = fallback if not turns else _first_time(reading.items) or fallback
    for turn in turns:
        items: list[Item] = []
        for item in turn.items:
            at = item.happened_at or at
            if not _RECALL.search(item.action):
                items.append(replace(item, happened_at=at))
        if items:
            start = items[0].happened_at or at
            if made:
                made[-1] = replace(made[-1], until=start)
            made.append(Passage(items[0].key, turn.goal or goal, tuple(items), start, None, True, turn.ending))
    if made and goes_on:
        made[-1] = replace(made[-1], is_over=False)
    return made


def _first_time(items: Sequence[Item]) -> datetime | None:
    return next((item.happened_at for item in items if item.happened_at is not None), None)


def environment_of(client: str, header: Header, scope: str) -> Json:
    """Where a session ran, as far as its file says: {"os": "linux", "repo": "atlas", "client": {"name": ..., ...}}."""
    found: dict[str, object] = {"os": _system(header.cwd)}
    address = _ADDRESS_END.search(header.repository)
    repository = address[1] if address else scope.partition(":")[2]
    if repository:
        found["repo"] = repository
    found["client"] = {"name": client} | ({"version": header.version} if header.version else {})
    return found


def _system(cwd: str) -> str:
    if PureWindowsPath(cwd).drive:
        return "windows"
    if cwd.startswith("/Users/"):
        return "darwin"
    return platform.system().lower() or sys.platform


def step_id(place: Place, item: Item) -> str:
    """The same for the same entry in every reading, and in copies of the session where its key is unique."""
    owner = place.file.client if _UNIQUE.search(item.key) else place.name
    return str(uuid5(NAMESPACE_URL, f"afterwit:step:{owner}\0{_clean(item.key)}"))


def task_id(place: Place, passage: Passage, part: int) -> str:
    """The id of the part-th task (from 0) that a request opens."""
    return str(uuid5(NAMESPACE_URL, f"afterwit:task:{place.name}\0{_clean(passage.key)}\0{part}"))


def _clean(key: str) -> str:
    return key.encode(errors="replace").decode()


def step_of(item: Item, place: Place, task: Task) -> Step:
    """An item as a step, cleaned like every step that is logged."""
    action = _CONTROL.sub("", item.action).encode(errors="replace")[:_ACTION_BYTES].decode(errors="ignore").strip()
    given: StepFields = {
        "action": action or "note",
        "input": item.input,
        "output": item.output,
        "rationale": item.rationale,
        "ok": item.ok,
        # A client's clock may be wrong.
        "happened_at": min(item.happened_at or place.now, place.now),
    }
    return replace(read_step(given, task=task, now=place.now), id=step_id(place, item))


def teaches(task: Task, steps: Sequence[Step]) -> bool:
    """Whether something can be learned from steps: something was done or failed, or the user said what is to last.

    Talk, and reading that went well, teach nothing. More steps never make it less.
    """
    for step in steps:
        act = act_of(step.action, step.input)
        if act.kind != "say" and (not act.is_dump or is_failure(step)):
            return True
    if not any(step.action == "user" for step in steps):
        return False
    return any(finding.from_user for finding in review_steps(task, steps).findings)
