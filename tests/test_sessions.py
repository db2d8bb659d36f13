"""From session files to tasks and lessons: nothing twice, nothing that the user did not say, whatever happens."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.transcripts import session_files as files

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import InvalidInput, StorageError
from afterwit.records import Basis, Kind, LinkType, Memory, Standing, Step, Task, TaskStatus, Trust
from afterwit.service import Afterwit, Writer
from afterwit.service.places import goal_of, project_scope, session_name
from afterwit.service.stepping import MAX_GOAL_BYTES
from afterwit.service.tasks import ATTENDED
from afterwit.service.turns import Followed
from afterwit.storage import Store, Transaction, open_store
from afterwit.testing import FixedClock

ERESOLVE = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree"
FLAG = "--legacy-peer-deps"
WISH = "Always answer in British English."
#: When the sessions took place, and long after.
THEN = datetime(2026, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2026, 3, 9, 9, tzinfo=UTC)
REAL = os.environ.get("AFTERWIT_SESSION_FILES", "")

Records = list[files.Json]


def claude_work(first: int = 1, request: str = "Install the dependencies") -> Records:
    """A failure that was overcome, as Claude Code keeps it."""
    failed, worked = f"toolu_{first:020}", f"toolu_{first + 1:020}"
    return [
        files.claude_user(first, request),
        files.claude_answer(first + 1, files.claude_call(failed, "npm install"), stop="tool_use"),
        files.claude_user(first + 2, [files.claude_result(failed, ERESOLVE, is_error=True)]),
        files.claude_answer(first + 3, files.claude_call(worked, f"npm install {FLAG}"), stop="tool_use"),
        files.claude_user(first + 4, [files.claude_result(worked, "added 312 packages")]),
        files.claude_answer(first + 5, files.text("All dependencies are installed now."), stop="end_turn"),
    ]


def codex_work() -> Records:
    """The same as Codex keeps it."""
    meta = files.codex(0, "session_meta", id="codex-1", cwd="/home/dev/blog", cli_version="0.171.0", source="exec")

    def call(number: int, id: str, command: str) -> files.Json:
        arguments = json.dumps({"cmd": command})
        payload = {"type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments}
        return files.codex(number, "response_item", **payload)

    def result(number: int, id: str, output: str, exit: int) -> files.Json:
        told = json.dumps({"output": output, "metadata": {"exit_code": exit}})
        return files.codex(number, "response_item", type="function_call_output", call_id=id, output=told)

    return [
        meta,
        files.codex_message(1, "user", "Install the dependencies"),
        call(2, "call_1", "npm install"),
        result(3, "call_1", ERESOLVE, 1),
        call(4, "call_2", f"npm install {FLAG}"),
        result(5, "call_2", "added 312 packages", 0),
        files.codex_message(6, "assistant", "All dependencies are installed now."),
        files.codex(7, "event_msg", type="task_complete", last_agent_message="All dependencies are installed now."),
    ]


WORK: dict[str, Callable[[], Records]] = {"claude_code": claude_work, "codex": codex_work}


def session(path: Path, records: Sequence[files.Json], *, at: datetime = THEN) -> Path:
    """A session file that last changed then."""
    files.write(path, records)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def make(directory: Path, clock: FixedClock, store: Store | None = None) -> Afterwit:
    directory.mkdir(parents=True, exist_ok=True)
    settings = load_settings(environ={}, overrides={"data_dir": str(directory), "timezone": "UTC"})
    return Afterwit(store or open_store(settings.store), HashEmbedder(), settings=settings, clock=clock)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(LATER)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Afterwit]:
    with make(tmp_path / "data", clock) as made:
        yield made


def rows(memory: Afterwit) -> tuple[list[Task], list[list[Step]], list[Memory]]:
    """All that can be stored, but for what differs from run to run: ids and times of memories."""
    tasks = memory.store.tasks(memory.space)
    steps = [memory.store.steps(memory.space, task.id) for task in tasks]
    found = sorted(memory.list(all_states=True), key=lambda row: row.summary)
    kept = [replace(row, id="", recorded_at=LATER, source=replace(row.source, ref="")) for row in found]
    return [replace(task, reviewed_at=None, deadline=None) for task in tasks], steps, kept


def forget_notes(memory: Afterwit) -> None:
    for note in (memory.settings.data_dir / "sessions").glob("*.json"):
        note.unlink()


# --- One session ----------------------------------------------------------------------------------


@pytest.mark.parametrize("client", WORK)
def test_a_session_with_a_failure_and_its_fix_becomes_a_task_and_a_lesson(
    client: str, tmp_path: Path, memory: Afterwit
) -> None:
    path = session(tmp_path / "a.jsonl", WORK[client]())
    found = memory.follow_session(path)
    (task,) = memory.tasks()
    assert (task.goal, task.status) == ("Install the dependencies", TaskStatus.SUCCEEDED)
    assert (task.scope, found.scope) == ("project:blog", "project:blog")
    assert task.session == found.session == {"claude_code": "claude_code:claude-1", "codex": "codex:codex-1"}[client]
    version = {"claude_code": "2.1.0", "codex": "0.171.0"}[client]
    assert (task.environment["repo"], task.environment["client"]) == ("blog", {"name": client, "version": version})
    assert THEN <= task.started_at
    assert task.ended_at is not None
    assert task.started_at < task.ended_at < THEN + timedelta(minutes=1)
    steps = memory.store.steps(memory.space, task.id)
    assert [step.action for step in steps][0::3] == ["user", "note"]
    assert [step.ok for step in steps] == [None, False, True, None]
    (lesson,) = memory.list(kinds=["lesson"])
    assert FLAG in lesson.summary
    assert (lesson.standing, lesson.scope, lesson.supporters) == (Standing.PENDING, "project:blog", (task.session,))
    links = memory.store.links(memory.space, [lesson.id])
    assert {link.target_id for link in links if link.type is LinkType.DERIVED_FROM} <= {step.id for step in steps}
    (told,) = found.tasks
    assert (told.steps, told.is_new, [one.memory_id for one in told.taught]) == (4, True, [lesson.id])


@pytest.mark.parametrize("client", WORK)
def test_reading_again_adds_nothing(client: str, tmp_path: Path, memory: Afterwit) -> None:
    path = session(tmp_path / "a.jsonl", WORK[client]())
    memory.follow_session(path)
    before = rows(memory)
    assert memory.follow_session(path).reason == "unchanged"
    forget_notes(memory)
    again = memory.follow_session(path)
    assert (again.reason, again.tasks, again.passed_over) == ("", (), 0)
    copied = session(tmp_path / "elsewhere" / "b.jsonl", WORK[client]())
    assert memory.follow_session(copied).tasks == ()
    assert rows(memory) == before


def test_a_session_that_begins_with_a_copy_of_another_adds_only_its_own(tmp_path: Path, memory: Afterwit) -> None:
    memory.follow_session(session(tmp_path / "a.jsonl", claude_work()))
    more = [*claude_work(), *claude_work(40, "Set up the docs site")]
    resumed = [{**record, "sessionId": "claude-2"} for record in more]
    found = memory.follow_session(session(tmp_path / "b.jsonl", resumed))
    assert [(one.task.goal, one.task.session) for one in found.tasks] == [
        ("Set up the docs site", "claude_code:claude-2")
    ]
    assert len(memory.tasks()) == 2


def test_a_note_of_another_store_is_not_believed(tmp_path: Path, clock: FixedClock, memory: Afterwit) -> None:
    path = session(tmp_path / "a.jsonl", claude_work())
    memory.follow_session(path)
    other = open_store(f"sqlite:///{tmp_path / 'other.db'}")
    with make(tmp_path / "data", clock, other) as fresh:
        assert len(fresh.follow_session(path).tasks) == 1


def test_each_request_is_a_task_that_ends_when_the_next_one_opens(tmp_path: Path, memory: Afterwit) -> None:
    records = [*claude_work(), *claude_work(20, "Set up the docs site")]
    found = memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert [(one.task.goal, one.task.status.value, one.steps) for one in found.tasks] == [
        ("Install the dependencies", "succeeded", 4),
        ("Set up the docs site", "succeeded", 4),
    ]
    (lesson,) = memory.list(kinds=["lesson"])
    assert lesson.support == 1, "one session is one piece of evidence"


def test_talk_and_reading_make_no_task(tmp_path: Path, memory: Afterwit) -> None:
    read = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/home/dev/blog/a.py"}}
    records = [
        files.claude_user(1, "What does the slug module do in general?"),
        files.claude_answer(2, read, stop="tool_use"),
        files.claude_user(3, [files.claude_result("toolu_1", "def slug(): ...")]),
        files.claude_answer(4, files.text("It makes slugs out of titles."), stop="end_turn"),
    ]
    found = memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert (found.tasks, found.passed_over, memory.tasks()) == ((), 1, [])


def test_lasting_words_of_the_user_are_kept_as_stated_ones(tmp_path: Path, memory: Afterwit) -> None:
    records = [
        files.claude_user(1, WISH),
        files.claude_answer(2, files.text("Understood."), stop="end_turn"),
    ]
    found = memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert len(found.tasks) == 1
    (wish,) = memory.list()
    assert "British English" in wish.summary
    assert (wish.basis, wish.trust, wish.kind) == (Basis.STATED, Trust.AGENT, wish.kind)
    assert wish.kind in (Kind.PREFERENCE, Kind.CONSTRAINT)


def test_what_the_user_asks_to_remember_is_kept_without_the_asking(tmp_path: Path, memory: Afterwit) -> None:
    records = [
        files.claude_user(1, "Remember that I like tea"),
        files.claude_answer(2, files.text("I will."), stop="end_turn"),
    ]
    memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert [row.summary.rstrip(".") for row in memory.list()] in (["I like tea"], ["The user likes tea"])


# --- Words that nobody said -----------------------------------------------------------------------


@pytest.mark.parametrize("records", [files.claude_records, files.codex_records])
def test_what_was_put_in_reaches_no_row(records: Callable[[], Records], tmp_path: Path, memory: Afterwit) -> None:
    memory.follow_session(session(tmp_path / "a.jsonl", records()))
    assert len(memory.tasks()) == 1
    assert files.INJECTED not in "\n".join(memory.export())


def test_a_session_of_recalled_text_alone_adds_no_row(tmp_path: Path, memory: Afterwit) -> None:
    recalled = (
        f'<afterwit-memory id="0a1b">\nReference data.\n[m:4f1c09ab77d2] {WISH} Never use tabs.\n</afterwit-memory>'
    )
    hook = {"type": "hook_additional_context", "content": [recalled], "hookName": "UserPromptSubmit"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "mcp__afterwit__memory_search", "input": {"query": "style"}}
    records = [
        files.claude("attachment", 1, attachment=hook),
        files.claude_user(2, recalled),
        files.claude_user(3, f"Tell me about tabs, please\n{recalled}"),
        files.claude_answer(4, call, stop="tool_use"),
        files.claude_user(5, [files.claude_result("toolu_1", f"{WISH} Never use tabs.", is_error=True)]),
        files.claude_answer(6, files.text("Tabs are characters."), stop="end_turn"),
    ]
    found = memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert found.tasks == ()
    assert (memory.tasks(), memory.list(all_states=True)) == ([], [])


def test_secrets_are_in_no_row(tmp_path: Path, memory: Afterwit) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    records = claude_work(request=f"Install the dependencies with GITHUB_TOKEN={token}")
    memory.follow_session(session(tmp_path / "a.jsonl", records))
    assert len(memory.tasks()) == 1
    assert token not in "\n".join(memory.export())


# --- Interruptions --------------------------------------------------------------------------------


class Failing:
    """A store whose n-th transaction (from 0) dies when it is to be committed."""

    def __init__(self, store: Store, failing: int) -> None:
        self._store = store
        self._left = failing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def transaction(self, space: str, *, now: datetime, actor: str) -> AbstractContextManager[Transaction]:
        self._left -= 1
        return _Dying(self._store.transaction(space, now=now, actor=actor), dies=self._left == -1)


class _Dying(AbstractContextManager[Transaction]):
    def __init__(self, real: AbstractContextManager[Transaction], *, dies: bool) -> None:
        self._real, self._dies = real, dies

    def __enter__(self) -> Transaction:
        return self._real.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self._dies and error[0] is None:
            failure = StorageError("The disk is gone.")
            self._real.__exit__(StorageError, failure, None)
            raise failure
        self._real.__exit__(*error)


def test_after_a_kill_at_any_moment_the_next_reading_completes_it(tmp_path: Path, clock: FixedClock) -> None:
    records = [*claude_work(), *claude_work(20, "Set up the docs site")]
    path = session(tmp_path / "a.jsonl", records)
    with make(tmp_path / "whole", clock) as whole:
        whole.follow_session(path)
        wanted = rows(whole)
    kills = 0
    for moment in range(20):
        directory = tmp_path / f"killed-{moment}"
        directory.mkdir()
        store = open_store(f"sqlite:///{directory / 'memory.db'}")
        failing: Any = Failing(store, moment)
        try:
            make(directory, clock, failing).follow_session(path)
        except StorageError:
            kills += 1
        else:
            store.close()
            break
        with make(directory, clock, store) as survivor:
            survivor.follow_session(path)
            assert rows(survivor) == wanted, f"killed in transaction {moment}"
    assert kills >= 6, "each task is written, ended and reviewed"


def test_a_session_that_another_process_follows_is_left_alone(
    tmp_path: Path, clock: FixedClock, memory: Afterwit
) -> None:
    path = session(tmp_path / "a.jsonl", claude_work())
    found: list[Followed] = []

    class Watching(Failing):
        def transaction(self, space: str, *, now: datetime, actor: str) -> AbstractContextManager[Transaction]:
            found.append(memory.follow_session(path))
            return super().transaction(space, now=now, actor=actor)

    watching: Any = Watching(memory.store, 100)
    make(tmp_path / "data", clock, watching).follow_session(path)
    assert {one.reason for one in found} == {"busy"}
    assert len(memory.tasks()) == 1


# --- Live -----------------------------------------------------------------------------------------


def test_a_growing_session_gives_the_same_as_one_that_is_read_at_once(tmp_path: Path, clock: FixedClock) -> None:
    records = [*claude_work(), *claude_work(20, "Set up the docs site")]
    with make(tmp_path / "once", clock) as once:
        once.follow_session(session(tmp_path / "a.jsonl", records))
        wanted = rows(once)
    path = tmp_path / "a.jsonl"
    with make(tmp_path / "live", clock) as live:
        open_tasks: list[int] = []
        for count in range(1, len(records) + 1):
            live.follow_session(session(path, records[:count], at=LATER), live=True)
            open_tasks.append(len(live.tasks(only_open=True)))
        assert max(open_tasks) == 1
        assert open_tasks[-1] == 1, "the last one goes on"
        clock.advance(hours=2)
        live.follow_session(path)
        tasks, steps, memories = rows(live)
    assert ([replace(task, environment={}) for task in tasks], steps) == (
        [replace(task, environment={}) for task in wanted[0]],
        wanted[1],
    )
    assert [row.summary for row in memories] == [row.summary for row in wanted[2]]


def test_a_session_that_changed_within_the_hour_keeps_its_last_task_open(
    tmp_path: Path, clock: FixedClock, memory: Afterwit
) -> None:
    path = session(tmp_path / "a.jsonl", claude_work(), at=LATER - timedelta(minutes=20))
    memory.follow_session(path)
    assert [task.status for task in memory.tasks()] == [TaskStatus.OPEN]
    clock.advance(hours=1)
    memory.follow_session(path)
    assert [task.status for task in memory.tasks()] == [TaskStatus.SUCCEEDED]


def test_a_session_that_goes_on_after_its_end_goes_on_in_a_second_task(tmp_path: Path, memory: Afterwit) -> None:
    records = files.claude_records()
    path = session(tmp_path / "a.jsonl", records[:-1])
    memory.follow_session(path)
    more = [
        records[-1],
        files.claude_answer(30, files.claude_call("toolu_9", "pip install anyascii"), stop="tool_use"),
        files.claude_user(31, [files.claude_result("toolu_9", "Successfully installed anyascii")]),
    ]
    found = memory.follow_session(session(path, [*records[:-1], *more], at=THEN + timedelta(hours=3)))
    assert [(one.steps, one.is_new) for one in found.tasks] == [(2, True)]
    first, second = sorted(memory.tasks(), key=lambda task: task.started_at)
    assert (first.goal, first.session) == (second.goal, second.session)
    forget_notes(memory)
    assert memory.follow_session(path).tasks == ()


def test_a_task_that_a_hook_began_takes_the_steps(tmp_path: Path, clock: FixedClock, memory: Afterwit) -> None:
    hooks = memory.as_writer(Writer("agent", Trust.AGENT, session_name("Claude Code", "claude-1")))
    begun = hooks.start_task("Install the dependencies", environment={ATTENDED: True}).task
    path = session(tmp_path / "a.jsonl", claude_work(), at=LATER)
    memory.follow_session(path, client="claude-code", session_id="claude-1", live=True)
    assert [task.id for task in memory.tasks()] == [begun.id]
    assert len(memory.store.steps(memory.space, begun.id)) == 4
    other = hooks.start_task("Set up the docs site", environment={ATTENDED: True}).task
    session(path, [*claude_work(), *claude_work(20, "Set up the docs site")], at=LATER)
    memory.follow_session(path, client="claude-code", session_id="claude-1", live=True)
    states = {task.id: task.status for task in memory.tasks()}
    assert states == {begun.id: TaskStatus.SUCCEEDED, other.id: TaskStatus.OPEN}
    assert len(memory.list(kinds=["lesson"])) == 1


def test_a_session_whose_end_is_told_teaches_at_once(tmp_path: Path, memory: Afterwit) -> None:
    path = session(tmp_path / "a.jsonl", claude_work(), at=LATER)
    memory.follow_session(path)
    assert [task.status for task in memory.tasks()] == [TaskStatus.OPEN], "the file has just changed"
    memory.follow_session(path, live=False)
    assert [task.status for task in memory.tasks()] == [TaskStatus.SUCCEEDED]
    assert len(memory.list(kinds=["lesson"])) == 1


def test_a_task_whose_words_opened_none_in_the_session_ends(tmp_path: Path, clock: FixedClock) -> None:
    clock = FixedClock(THEN - timedelta(seconds=1))
    with make(tmp_path / "data", clock) as memory:
        hooks = memory.as_writer(Writer("agent", Trust.AGENT, "claude_code:claude-1"))
        stray = hooks.start_task("Something that was never asked", environment={ATTENDED: True}).task
        own = hooks.start_task("What the agent itself set out to do").task
        clock.advance(seconds=60)
        path = session(tmp_path / "a.jsonl", claude_work(), at=clock())
        ahead = hooks.start_task("A request that is not written yet", environment={ATTENDED: True}).task
        memory.follow_session(path, live=True)
        states = {task.id: task.status for task in memory.tasks() if task.id in (stray.id, own.id, ahead.id)}
    assert states == {stray.id: TaskStatus.ABANDONED, own.id: TaskStatus.OPEN, ahead.id: TaskStatus.OPEN}


def test_a_task_runs_out_of_time_a_day_after_its_last_step(tmp_path: Path, clock: FixedClock, memory: Afterwit) -> None:
    records = claude_work()
    path = tmp_path / "a.jsonl"
    memory.follow_session(session(path, records[:3], at=LATER), live=True)
    clock.advance(hours=23)
    on = [{**record, "timestamp": f"{clock():%Y-%m-%dT%H:%M:%S.000Z}"} for record in records[3:]]
    memory.follow_session(session(path, [*records[:3], *on], at=clock()), live=True)
    clock.advance(hours=23)
    memory.start_task("Something else")
    (task,) = [task for task in memory.tasks(only_open=True) if task.session == "claude_code:claude-1"]
    clock.advance(hours=2)
    memory.start_task("Something else again")
    assert memory.task(task.id).status is not TaskStatus.OPEN


def test_a_long_request_goes_on_in_a_further_task(tmp_path: Path, clock: FixedClock, memory: Afterwit) -> None:
    hooks = memory.as_writer(Writer("agent", Trust.AGENT, "claude_code:claude-1"))
    hooks.start_task("Install the dependencies", step_limit=2)
    found = memory.follow_session(session(tmp_path / "a.jsonl", claude_work()))
    assert [(one.steps, one.is_new, one.task.status is TaskStatus.OPEN) for one in found.tasks] == [
        (2, False, False),
        (2, True, False),
    ]
    forget_notes(memory)
    assert memory.follow_session(tmp_path / "a.jsonl").tasks == ()


def test_the_session_of_a_subagent_ends_no_task_of_its_parent(
    tmp_path: Path, clock: FixedClock, memory: Afterwit
) -> None:
    hooks = memory.as_writer(Writer("agent", Trust.AGENT, "claude_code:claude-1"))
    parent = hooks.start_task("Install the dependencies", environment={ATTENDED: True}).task
    records = [{**record, "isSidechain": True} for record in claude_work()]
    found = memory.follow_session(session(tmp_path / "subagents" / "agent-1.jsonl", records))
    assert [one.is_new for one in found.tasks] == [True]
    assert memory.task(parent.id).status is TaskStatus.OPEN


# --- Before it is stored --------------------------------------------------------------------------


@pytest.mark.parametrize("client", WORK)
def test_a_dry_run_tells_what_would_be_learned_and_stores_nothing(
    client: str, tmp_path: Path, memory: Afterwit
) -> None:
    path = session(tmp_path / "a.jsonl", WORK[client]())
    told = memory.follow_session(path, dry_run=True)
    assert rows(memory) == ([], [], [])
    done = memory.follow_session(path)
    assert [(one.task.id, one.steps, one.task.status) for one in told.tasks] == [
        (one.task.id, one.steps, one.task.status) for one in done.tasks
    ]
    assert [one.summary for task in told.tasks for one in task.taught] == [
        one.summary for task in done.tasks for one in task.taught
    ]
    assert {one.outcome for task in told.tasks for one in task.taught} == {"new"}


def test_a_dry_run_tells_what_is_known(tmp_path: Path, memory: Afterwit) -> None:
    memory.follow_session(session(tmp_path / "a.jsonl", claude_work()))
    told = memory.follow_session(session(tmp_path / "b.jsonl", codex_work()), dry_run=True)
    assert [one.outcome for task in told.tasks for one in task.taught] == ["known"]


def test_a_session_of_another_project_is_left_alone(tmp_path: Path, memory: Afterwit) -> None:
    path = session(tmp_path / "a.jsonl", claude_work())
    assert memory.follow_session(path, project="atlas").reason == "elsewhere"
    assert memory.tasks() == []
    assert len(memory.follow_session(path, project="Blog").tasks) == 1


def test_one_session_of_a_database_is_read_by_its_id(tmp_path: Path, memory: Afterwit) -> None:
    path = files.write_opencode_database(tmp_path / "opencode.db")
    with pytest.raises(InvalidInput, match="holds 2 sessions"):
        memory.follow_session(path)
    found = memory.follow_session(path, session_id="ses_1")
    assert (found.session, len(found.tasks)) == ("opencode:ses_1", 1)
    assert memory.follow_session(path, session_id="ses_1").reason == "unchanged"
    assert len(memory.follow_session(path, session_id="ses_2").tasks) == 1


def test_what_cannot_be_read_is_refused_with_a_reason(tmp_path: Path, memory: Afterwit) -> None:
    (tmp_path / "notes.json").write_text("{}")
    for name in ("absent.jsonl", "notes.json", "."):
        with pytest.raises(InvalidInput):
            memory.follow_session(tmp_path / name)
    with pytest.raises(InvalidInput):
        memory.follow_session(tmp_path / "absent.jsonl", client="codex")


# --- Places ---------------------------------------------------------------------------------------


def test_a_project_is_named_after_its_repository_or_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    inner = home / "work" / "Atlas" / "src" / "api"
    inner.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert project_scope(inner) == "project:api"
    (home / "work" / "Atlas" / ".git").mkdir()
    assert project_scope(inner) == "project:atlas"
    (home / ".git").mkdir()
    (home / "notes").mkdir()
    assert project_scope(home / "notes") == "project:notes", "a repository of the whole home is no project"
    for none in (home, "/", "", "~", "C:\\Users\\Mia"):
        assert project_scope(none) == "global"
    assert project_scope("/somewhere/else/博客") == "project:博客"
    assert project_scope("D:\\work\\Atlas") == "project:atlas"


def test_a_linked_worktree_belongs_to_its_project(tmp_path: Path) -> None:
    main, linked = tmp_path / "atlas", tmp_path / "atlas-hotfix"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(main)]
    main.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True)
    assert project_scope(linked) == "project:atlas"


def test_the_same_words_give_the_same_goal_and_a_long_one_is_cut_between_characters() -> None:
    words = "安装依赖。" * 1000
    goal = goal_of(words)
    assert words.startswith(goal)
    assert MAX_GOAL_BYTES - 3 < len(goal.encode()) <= MAX_GOAL_BYTES
    assert goal_of(f"  {words}\x07 ") == goal == goal_of(goal)


def test_a_session_is_called_the_same_however_its_client_is_written() -> None:
    names = {session_name(name, "1") for name in ("claude_code", "claude-code", "Claude Code")}
    assert names == {"claude_code:1"}
    assert session_name("gemini-cli", "1") == "gemini:1"
    assert session_name("another", "1") == "another:1"


# --- Real sessions --------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL, reason="AFTERWIT_SESSION_FILES names no directory of session files of real clients")
@pytest.mark.parametrize("path", sorted(Path(REAL).glob("*.jsonl")) if REAL else [], ids=lambda path: path.name)
def test_real_sessions_are_learned_from_once(path: Path, memory: Afterwit) -> None:
    if "_hooks_" in path.name:
        pytest.skip("what hooks were given is no session")
    told = memory.follow_session(path, dry_run=True)
    found = memory.follow_session(path)
    assert [one.steps for one in told.tasks] == [one.steps for one in found.tasks]
    before = rows(memory)
    forget_notes(memory)
    memory.follow_session(path)
    assert rows(memory) == before
