"""The command learn, in process."""

import os
import shutil
from pathlib import Path

import pytest
from tests.test_cli_naming import Terminal
from tests.test_sessions import FLAG, claude_work, codex_work, session

from afterwit.cli.root import INTERRUPTED
from afterwit.service import Afterwit
from afterwit.service.turns import Followed


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A home in which two clients have kept a session each."""
    session(tmp_path / ".claude" / "projects" / "-home-dev-blog" / "one.jsonl", claude_work())
    session(tmp_path / ".codex" / "sessions" / "2026" / "03" / "04" / "rollout-1.jsonl", codex_work())
    return Terminal(tmp_path)


def lessons(terminal: Terminal) -> list[str]:
    return [row["summary"] for row in terminal.json("list", "--kind", "lesson")["memories"]]


def test_it_shows_first_and_stores_when_told_to(terminal: Terminal) -> None:
    shown = terminal.run("learn").stdout
    first, task, lesson, *_, last = shown.splitlines()
    assert first.startswith("Claude Code, 2026-03-04 05:00Z, project:blog: /")
    assert first.endswith("/one.jsonl")
    assert task == "  Task “Install the dependencies” (succeeded)"
    assert lesson.startswith("    lesson: ")
    assert FLAG in lesson
    assert last == (
        "2 sessions, 2 tasks: 1 things would be learned, 1 are known already. Nothing was stored; --apply stores them."
    )
    assert (lessons(terminal), terminal.json("task", "list")["tasks"]) == ([], [])
    done = terminal.run("learn", "--apply").stdout
    assert done.splitlines()[:3] == [first, task, lesson]
    assert done.endswith("2 sessions, 2 tasks: 1 things learned, 1 found again.\n")
    assert len(lessons(terminal)) == 1
    assert len(terminal.json("task", "list")["tasks"]) == 2


def test_a_second_time_there_is_nothing_new(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("learn", "--apply")
    nothing = "2 sessions were looked at; there is nothing new to learn.\n"
    assert terminal.run("learn", "--apply").stdout == nothing
    assert terminal.run("learn").stdout == nothing
    shutil.rmtree(tmp_path / "data" / "sessions")
    assert terminal.run("learn", "--apply").stdout == nothing
    assert len(lessons(terminal)) == 1


def test_json_names_every_session_task_and_finding(terminal: Terminal) -> None:
    found = terminal.json("learn", "--apply")
    assert (found["applied"], found["new"], found["known"], found["failed"]) == (True, 1, 1, {})
    one, other = sorted(found["sessions"], key=lambda it: str(it["client"]))
    assert (one["client"], one["session"], one["scope"]) == ("claude_code", "claude_code:claude-1", "project:blog")
    assert one["modified"] == "2026-03-04T05:00:00Z"
    (task,) = one["tasks"]
    assert (task["goal"], task["status"], task["steps"], task["is_new"]) == (
        "Install the dependencies",
        "succeeded",
        4,
        True,
    )
    assert [it["outcome"] for it in (*task["learned"], *other["tasks"][0]["learned"])] == ["stored", "merged"]
    assert terminal.json("show", task["learned"][0]["id"])["memory"]["kind"] == "lesson"


@pytest.mark.parametrize(
    ("words", "clients"),
    [
        (("--client", "Codex"), ["codex"]),
        (("--since", "2026-03-05"), []),
        (("--project", "blog"), ["claude_code", "codex"]),
        (("--project", "atlas"), []),
        (("--limit", "1"), ["codex"]),
    ],
)
def test_sessions_are_chosen(terminal: Terminal, words: tuple[str, ...], clients: list[str]) -> None:
    assert [one["client"] for one in terminal.json("learn", *words)["sessions"]] == clients


def test_named_files_and_folders_are_read_and_what_cannot_be_is_named(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    session(folder / "deep" / "a.jsonl", claude_work())
    (folder / "other.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("nothing")
    found = terminal.json("learn", str(folder), str(tmp_path / "notes.txt"), str(tmp_path / "absent"), exit_code=1)
    assert [Path(one["file"]).name for one in found["sessions"]] == ["a.jsonl"]
    assert set(found["failed"]) == {str(tmp_path / "notes.txt"), str(tmp_path / "absent")}
    told = terminal.run("learn", str(tmp_path / "notes.txt"), exit_code=1).stdout
    assert told.startswith("Not read: ")
    assert "no session file" in told or "not a session file" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_does_not_stop_the_others(terminal: Terminal, tmp_path: Path) -> None:
    locked = session(tmp_path / "locked.jsonl", claude_work())
    locked.chmod(0)
    found = terminal.json("learn", str(locked), str(tmp_path / ".codex"), exit_code=1)
    assert [one["client"] for one in found["sessions"]] == ["codex"]
    assert "cannot be read" in found["failed"][str(locked)]


def test_nothing_found_is_said(tmp_path: Path) -> None:
    assert Terminal(tmp_path).run("learn").stdout.startswith("No sessions were found.")


def test_stopping_it_leaves_what_was_learned_so_far(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Afterwit.follow_session
    seen: list[object] = []

    def stopped(self: Afterwit, path: Path, **options: object) -> Followed:
        seen.append(path)
        if len(seen) > 1:
            raise KeyboardInterrupt
        return whole(self, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Afterwit, "follow_session", stopped)
    terminal.run("learn", "--apply", exit_code=INTERRUPTED)
    monkeypatch.undo()
    assert len(terminal.json("task", "list")["tasks"]) == 1
    assert terminal.json("learn", "--apply")["tasks"] == 1
    assert len(lessons(terminal)) == 1


def test_people_are_spoken_to_in_chinese(terminal: Terminal, tmp_path: Path) -> None:
    chinese = Terminal(tmp_path, "zh_CN.UTF-8")
    told = chinese.run("learn").stdout
    assert told.startswith("Claude Code，2026-03-04 05:00Z，project:blog：")
    assert told.endswith("2 个会话，2 个任务：将学到 1 条，1 条已知。未做任何修改；加 --apply 执行。\n")


@pytest.mark.parametrize("words", [("--limit", "0"), ("--client", "nobody"), ("--since", "long ago")])
def test_what_makes_no_sense_is_refused_with_a_next_step(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert "Do: " in terminal.run("learn", *words, exit_code=2).stderr
