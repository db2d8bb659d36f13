"""Following agents' sessions: what their clients keep of them becomes tasks, and the tasks become lessons.

Everything that a session gives has an id that follows from the session and the entry, so a second reading, a reading
after a kill, and a copy of the session add nothing twice. A small note per session under `DATA_DIR/sessions` says how
far it was read; it only saves time.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from afterwit.directories import make_private
from afterwit.errors import AfterwitError, InvalidInput, Sentence
from afterwit.records import KeyFilter, LogStep, OpenTask, Receipt, Step, Task, TaskStatus
from afterwit.review.attempts import attempts_of
from afterwit.review.lessons import review_steps
from afterwit.review.outcomes import ending_of, outcome_of
from afterwit.service.files import replace_file
from afterwit.service.learning import cleaned, known_finding, learned
from afterwit.service.places import goal_of, project_scope, session_name
from afterwit.service.stepping import DEFAULT_TIMEOUT_S
from afterwit.service.tasks import ATTENDED, Tasks
from afterwit.service.turns import (
    Followed,
    Passage,
    Place,
    SessionTask,
    Taught,
    environment_of,
    passages,
    step_id,
    step_of,
    task_id,
    teaches,
)
from afterwit.service.writing import Setting, in_batches
from afterwit.text import statement_key
from afterwit.transcripts import Reading, SessionFile, read_session, sessions_in
from afterwit.vocabulary import fold_scope

#: A session whose file changed within this time may go on, so its last task stays open.
STILL_GOING = timedelta(hours=1)
#: How long a process that was killed keeps others from its session, in seconds.
_LEASE_S = 300.0
#: Steps written in one transaction; others wait for it.
_STEPS_AT_ONCE = 100
_TIMEOUT = timedelta(seconds=DEFAULT_TIMEOUT_S)


@dataclass(frozen=True)
class _Note:
    """How far a session was read. It says what needs no second look, never what is stored."""

    #: size and time of the file then
    mark: str = ""
    #: key of the item that opened its last task
    opening: str = ""
    #: that task was not over
    is_open: bool = False
    #: change number of the store then; a smaller one now is that of another store
    changes: int = 0


class Sessions(Tasks):
    """The part of the service that learns from agents' session files."""

    def follow_session(
        self,
        path: str | Path,
        *,
        client: str = "",
        session_id: str = "",
        project: str = "",
        live: bool | None = None,
        dry_run: bool = False,
    ) -> Followed:
        """Make tasks of what is new in a session file, and lessons of those that are over.

        Each request that the user made opens a task, with what was done about it as steps; it ends when the next one
        opens, or with the session. A task that is open in this session with the same goal is gone on with. Requests
        from which nothing can be learned make none. Call it as often as you like: nothing is added twice.

        Args:
            path: the session's file.
            client: who wrote it, a name of `transcripts.CLIENTS`; found out when empty.
            session_id: the session's id; needed where a file holds many.
            project: only if the session took place in this project, by name; "" = in any.
            live: whether the session goes on, so that its last task stays open; None = it does when the file changed
                within the last hour.
            dry_run: store nothing, only tell what would be.

        Raises:
            InvalidInput: the file cannot be read, is of no known client, or needs a session id; or no name of a
                project.
            Conflict: one of the tasks was ended by somebody else at this very moment; call again.
            StorageError: the store could not be written; what was stored so far stays, and a next call goes on.
        """
        now = self._clock()
        file = _file(Path(path).expanduser(), client, session_id)
        goes_on = now - file.modified < STILL_GOING if live is None else live
        found = Followed(file.client, "", file.path, file.modified)
        noted = self._note_file(file)
        note = self._read_note(noted)
        if note.mark == _mark(file) and (goes_on or not note.is_open):
            return replace(found, reason="unchanged")
        reading = read_session(file.path, client=file.client, session_id=file.session_id, live=goes_on)
        place = self._place(file, session_id, reading, now)
        if project and place.scope != fold_scope(f"project:{project}"):
            return replace(found, scope=place.scope, reason="elsewhere")
        every = passages(reading, fallback=file.modified, goal=file.path.name, goes_on=goes_on)
        if dry_run:
            return self._follow(place, every, note, dry_run=True)
        work, holder = f"session:{noted.stem}", f"{platform.node()}/{os.getpid()}/{uuid4().hex}"
        if not self.store.take_lease(self.space, work, holder=holder, now=now, lasts_s=_LEASE_S):
            return replace(found, reason="busy")
        try:
            found = self._follow(place, every, note, lease=(work, holder))
            if not place.is_subagent:
                others = tuple(self._end_others(place, every, goes_on=goes_on))
                found = replace(found, tasks=(*found.tasks, *others))
            last = every[-1] if every else None
            changes = self.store.change_number(self.space)
            is_open = last is not None and not last.is_over
            self._write_note(noted, _Note(_mark(file), last.key if last else "", is_open, changes))
        finally:
            self.store.end_lease(self.space, work, holder=holder)
        return found

    def _follow(
        self,
        place: Place,
        every: Sequence[Passage],
        note: _Note,
        *,
        lease: tuple[str, str] = ("", ""),
        dry_run: bool = False,
    ) -> Followed:
        tasks: list[SessionTask] = []
        passed_over = 0
        for passage in _from(every, note.opening):
            if not dry_run:  # a long session takes longer than a lease lasts
                self.store.take_lease(self.space, lease[0], holder=lease[1], now=self._clock(), lasts_s=_LEASE_S)
            known = self.store.step_tasks(self.space, [step_id(place, item) for item in passage.items])
            made = list(self._go_through(place, passage, known, dry_run=dry_run))
            passed_over += not (made or known)
            tasks += made
        file = place.file
        return Followed(file.client, place.name, file.path, file.modified, place.scope, tuple(tasks), passed_over)

    def _place(self, file: SessionFile, session_id: str, reading: Reading, now: datetime) -> Place:
        header = reading.header
        scope = project_scope(header.cwd)
        id = session_id or header.session_id or file.session_id or file.path.stem
        return Place(
            file,
            session_name(file.client, id),
            scope,
            environment_of(file.client, header, scope),
            self.space,
            header.is_subagent or "subagents" in file.path.parts,
            now,
        )

    # --- one request -----------------------------------------------------------------------------

    def _go_through(
        self, place: Place, passage: Passage, known: dict[str, str], *, dry_run: bool
    ) -> Iterator[SessionTask]:
        """Bring what is new of one request to its task, and end the task when the request is over."""
        fresh = [item for item in passage.items if step_id(place, item) not in known]
        task = self._open_part(place, passage, set(known.values()))
        is_new = task is None
        if task is None:
            task = self._new_part(place, passage)
        steps = [step_of(item, place, task) for item in fresh]
        if is_new and not (steps and teaches(task, steps)):
            if not dry_run:
                yield from self._unreviewed(set(known.values()))
            return
        if dry_run:
            earlier = [] if is_new else self.store.steps(self.space, task.id)
            yield self._foretold(place, passage, task, [*earlier, *steps], len(steps), is_new=is_new)
            return
        while True:
            room = task.step_limit - (0 if is_new else self.store.count_steps(self.space, task.id))
            some, steps = steps[: max(room, 0)], steps[max(room, 0) :]
            task = self._logged(place, task, some, is_new=is_new)
            if passage.is_over or steps:
                yield self._ended(place, task, len(some), ending=passage.ending if not steps else "", is_new=is_new)
            elif some:
                yield SessionTask(task, len(some), is_new)
            if not steps:
                return
            task, is_new = self._new_part(place, passage), True

    def _open_part(self, place: Place, passage: Passage, holders: set[str]) -> Task | None:
        """The task that takes the new steps of a request: the one that holds its last steps, if it still runs, else
        one with its words for a goal, which a hook or the agent began."""
        running = self.store.tasks(self.space, statuses=(TaskStatus.OPEN,), session=place.name)
        held = [task for task in running if task.id in holders]
        if held:
            return held[-1]
        if place.is_subagent:
            return None
        words = _words(passage.goal)
        alike = (task for task in running if _words(task.goal) == words)
        return next((task for task in alike if passage.until is None or task.started_at <= passage.until), None)

    def _new_part(self, place: Place, passage: Passage) -> Task:
        part = 0
        while self.store.task(self.space, task_id(place, passage, part)) is not None:
            part += 1
        return Task(
            task_id(place, passage, part),
            self.space,
            goal_of(passage.goal) or place.file.path.name,
            min(passage.started_at, place.now),
            place.scope,
            session=place.name,
            environment=place.environment,
        )

    def _logged(self, place: Place, task: Task, steps: Sequence[Step], *, is_new: bool) -> Task:
        """The task with its steps in the store; it runs on for a day after the last of them."""
        last = max((step.happened_at for step in steps), default=task.started_at)
        # What is read of the past must not run out of time while it is written.
        deadline = max(last + _TIMEOUT, place.now + STILL_GOING, task.deadline or place.now)
        task = replace(task, deadline=deadline)
        batches = [*in_batches(steps, _STEPS_AT_ONCE)] or ([[]] if is_new else [])
        for number, batch in enumerate(batches):
            with self.store.transaction(self.space, now=place.now, actor=self.writer.name) as tx:
                tx.apply([OpenTask(task)] if is_new and number == 0 else [])
                tx.apply(
                    LogStep(replace(step, task_id=task.id), deadline if step is batch[-1] else None) for step in batch
                )
        return task

    def _ended(self, place: Place, task: Task, count: int, *, ending: str, is_new: bool) -> SessionTask:
        steps = cleaned(self.store.steps(self.space, task.id))
        last = max((step.happened_at for step in steps), default=place.now)
        status = _outcome(task, steps, ending)
        ended = self._end(task, status.value, "", (), place.now, ended_at=max(last, task.started_at))
        return SessionTask(ended.task, count, is_new, self._taught(ended.learned))

    def _unreviewed(self, ids: set[str]) -> Iterator[SessionTask]:
        """Look back at tasks that ended right before their process was killed."""
        for id in sorted(ids):
            task = self.store.task(self.space, id)
            if task is not None and task.status is not TaskStatus.OPEN and task.reviewed_at is None:
                taught = self._taught(self.review(id, with_llm=False).receipts)
                if taught:
                    yield SessionTask(task, 0, False, taught)

    def _end_others(self, place: Place, every: Sequence[Passage], *, goes_on: bool) -> Iterator[SessionTask]:
        """End tasks that hooks began for words which opened no task in the session, once it went on after them."""
        last = max((item.happened_at or place.now for passage in every for item in passage.items), default=None)
        current = set[str]()
        if every and not every[-1].is_over:
            ids = [step_id(place, item) for item in every[-1].items]
            current = set(self.store.step_tasks(self.space, ids).values())
            current |= {task.id for task in [self._open_part(place, every[-1], current)] if task is not None}
        for task in self.store.tasks(self.space, statuses=(TaskStatus.OPEN,), session=place.name):
            is_past = last is not None and task.started_at < last
            if task.environment.get(ATTENDED) and task.id not in current and (is_past or not goes_on):
                yield self._ended(place, task, 0, ending="", is_new=False)

    # --- telling ---------------------------------------------------------------------------------

    def _taught(self, receipts: Sequence[Receipt]) -> tuple[Taught, ...]:
        kept = [receipt for receipt in receipts if receipt.accepted and receipt.id]
        rows = self.store.get(self.space, [receipt.id for receipt in kept])
        return tuple(
            Taught(rows[receipt.id].summary, rows[receipt.id].kind, receipt.outcome.value, receipt.id)
            for receipt in kept
            if receipt.id in rows
        )

    def _foretold(
        self, place: Place, passage: Passage, task: Task, steps: Sequence[Step], count: int, *, is_new: bool
    ) -> SessionTask:
        """What a task would teach if it were stored now."""
        if not passage.is_over:
            return SessionTask(task, count, is_new)
        steps = cleaned([replace(step, position=position) for position, step in enumerate(steps)])
        status = _outcome(task, steps, passage.ending)
        task = replace(task, status=status, ended_at=max(step.happened_at for step in steps))
        setting = Setting(self.space, self.writer, place.now, self.settings.timezone)
        taught: list[Taught] = []
        for finding in review_steps(task, steps).findings:
            made = learned(finding, task, setting).made
            for one in made if isinstance(made, list) else []:
                where = KeyFilter(scopes=(one.memory.scope,))
                known = known_finding(self.store, one.memory, finding) is not None or self.store.find_statement(
                    self.space, where, statement_key(one.memory.summary)
                )
                taught.append(Taught(one.memory.summary, one.memory.kind, "known" if known else "new"))
        return SessionTask(task, count, is_new, tuple(taught))

    # --- notes -----------------------------------------------------------------------------------

    def _note_file(self, file: SessionFile) -> Path:
        named = f"{self.space}\0{file.client}\0{file.path.absolute()}\0{file.session_id}"
        name = hashlib.sha256(named.encode(errors="replace")).hexdigest()[:32]
        return self.settings.data_dir / "sessions" / f"{name}.json"

    def _read_note(self, path: Path) -> _Note:
        if self.store.url == "sqlite://":  # gone with the process, unlike the note
            return _Note()
        try:
            read: Any = json.loads(path.read_text(encoding="utf-8"))
            mark, opening, is_open, changes = cast("tuple[Any, ...]", read)
            note = _Note(str(mark), str(opening), bool(is_open), int(changes))
        except (OSError, ValueError, TypeError):
            return _Note()
        return note if note.changes <= self.store.change_number(self.space) else _Note()

    def _write_note(self, path: Path, note: _Note) -> None:
        if self.store.url == "sqlite://":
            return
        content = json.dumps([note.mark, note.opening, note.is_open, note.changes])
        with suppress(OSError, AfterwitError):
            make_private(path.parent)
            replace_file(path, content)


def _file(path: Path, client: str, session_id: str) -> SessionFile:
    if path.is_dir():
        raise InvalidInput(
            Sentence("{path} is a folder.", path=path),
            next_step="Name a session's file; sessions_in lists those in it.",
        )
    found = sessions_in(path, client=client)
    if len(found) == 1 and not found[0].session_id:
        return found[0]
    for one in found:
        if session_id and one.session_id == session_id:
            return one
    if found and not session_id:
        raise InvalidInput(
            Sentence(
                "{path} holds {count} sessions, so it must be said which one is meant.", path=path, count=len(found)
            ),
            next_step="Pass session_id, or a file that holds one session.",
        )
    raise InvalidInput(
        Sentence("There is no session {session_id} in {path}.", session_id=session_id, path=path),
        next_step="Check the path and the id.",
    )


def _mark(file: SessionFile) -> str:
    return f"{file.size}/{file.modified.isoformat()}"


def _from(every: Sequence[Passage], opening: str) -> Sequence[Passage]:
    """The passages from the one with this opening on; all when there is none."""
    start = next((place for place, passage in enumerate(every) if opening and passage.key == opening), 0)
    return every[start:]


def _words(goal: str) -> str:
    return " ".join(goal_of(goal).split())


def _outcome(task: Task, steps: Sequence[Step], ending: str) -> TaskStatus:
    """How a task ended: as its signs show; else well, if the agent said it was done after an action that worked."""
    is_done = ending == "finished"
    if is_done and not attempts_of(steps):
        return outcome_of(task, steps, ()) or TaskStatus.SUCCEEDED  # a question that was answered
    return ending_of(task, steps, is_done=is_done)
