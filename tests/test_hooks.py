"""Hooks: what agents' clients tell while they work, and what they are given for it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.doors import PATIENCE_S, environment
from tests.test_sessions import claude_work, codex_work, session

from afterwit import Afterwit, Trust, Writer
from afterwit.clock import utc_now
from afterwit.config import load_settings
from afterwit.errors import InvalidInput
from afterwit.serve.hooks import MAX_CHARACTERS, answer, attempt, read_event
from afterwit.service import session_name
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.vocabulary import FENCE, strip_injected

LESSON = "If `npm install` fails with ERESOLVE, add --legacy-peer-deps."
STRUCTURED = {
    "situation": "`npm install` failed with “npm ERR! code ERESOLVE”",
    "action": "add `--legacy-peer-deps`",
    "tool": "npm",
    "signature": "npm: eresolve",
}
FAILED = {"stderr": "npm ERR! code ERESOLVE\nnpm ERR! unable to resolve dependency tree", "exit_code": 1}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "atlas" / ".git").mkdir(parents=True)
    return tmp_path / "atlas"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"data_dir": str(tmp_path / "data"), "timezone": "UTC"})
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=FixedClock()) as service:
        yield service


def told(event: str, project: Path, **more: Any) -> dict[str, Any]:
    return {"session_id": "s1", "cwd": str(project), "hook_event_name": event, "transcript_path": "", **more}


def given(memory: Afterwit, event: str, project: Path, client: str = "claude-code", **more: Any) -> str:
    """The context that a hook adds, "" for none."""
    output = answer(memory, told(event, project, **more), client=client).output
    if not output:
        return ""
    assert output["hookSpecificOutput"]["hookEventName"] == event
    return str(output["hookSpecificOutput"]["additionalContext"])


def _teach(memory: Afterwit) -> None:
    user = memory.as_writer(Writer(name="user", trust=Trust.USER, session="before"))
    user.write("Never touch the vendor folder.", kind="rule", scope="project:atlas")
    user.write("Never touch the engine.", kind="rule", scope="project:beacon")
    memory.as_writer(Writer(session="before")).write(
        LESSON, kind="lesson", scope="project:atlas", structured=STRUCTURED, tags=["npm"]
    )


def test_a_session_starts_with_the_orders_of_its_project(memory: Afterwit, project: Path) -> None:
    _teach(memory)
    context = given(memory, "SessionStart", project, source="startup")
    assert "vendor" in context
    assert "engine" not in context and "ERESOLVE" not in context
    assert context.startswith(f"<{FENCE}") and strip_injected(context) == ""


def test_a_prompt_begins_a_task_and_is_given_what_matters(memory: Afterwit, project: Path) -> None:
    _teach(memory)
    context = given(memory, "UserPromptSubmit", project, prompt="Run npm install, it fails with ERESOLVE")
    assert "--legacy-peer-deps" in context
    assert "vendor" not in context, "the session's start has given it"
    (task,) = memory.tasks()
    assert (task.goal, task.scope) == ("Run npm install, it fails with ERESOLVE", "project:atlas")
    assert task.session == session_name("claude-code", "s1")
    assert given(memory, "UserPromptSubmit", project, prompt="no, use pnpm for npm install ERESOLVE") == ""
    assert len(memory.tasks()) == 1
    given(memory, "UserPromptSubmit", project, prompt="Translate the manual into French")
    assert len(memory.tasks()) == 2


def test_a_prompt_about_something_else_is_given_nothing(memory: Afterwit, project: Path) -> None:
    _teach(memory)
    assert given(memory, "UserPromptSubmit", project, prompt="What is the capital of France?") == ""


@pytest.mark.parametrize("prompt", ["", "   ", "/clear"])
def test_no_prompt_is_no_task(memory: Afterwit, project: Path, prompt: str) -> None:
    assert given(memory, "UserPromptSubmit", project, prompt=prompt) == ""
    assert memory.tasks() == []


def test_the_lesson_comes_before_the_very_call_and_once_a_task(memory: Afterwit, project: Path) -> None:
    _teach(memory)
    given(memory, "UserPromptSubmit", project, prompt="Look at the sidebar")
    call = {"tool_name": "Bash", "tool_input": {"command": "cd web && npm install"}}
    assert "--legacy-peer-deps" in given(memory, "PreToolUse", project, **call)
    assert given(memory, "PreToolUse", project, **call) == ""
    for command in ("ls -la", "cat package.json", "npm test", "pip install x"):
        other = {"tool_name": "Bash", "tool_input": {"command": command}}
        assert given(memory, "PreToolUse", project, **other) == "", command


def test_advice_that_came_or_went_since_the_last_call_counts_at_once(project: Path, tmp_path: Path) -> None:
    clock = FixedClock()
    settings = load_settings(environ={}, overrides={"data_dir": str(tmp_path / "data"), "timezone": "UTC"})
    call = {"tool_name": "Bash", "tool_input": {"command": "npm install"}}
    with Afterwit(open_store("sqlite://"), None, settings=settings, clock=clock) as memory:
        assert given(memory, "PreToolUse", project, **call) == ""
        _teach(memory)
        assert "--legacy-peer-deps" in given(memory, "PreToolUse", project, **call)
        (lesson,) = memory.list(kinds=["lesson"])
        memory.update(lesson.id, expires_at=clock() + timedelta(hours=1))
        assert "--legacy-peer-deps" in given(memory, "PreToolUse", project, **call)
        clock.advance(hours=2)
        assert given(memory, "PreToolUse", project, **call) == ""


def test_a_failed_call_is_given_the_lesson_against_its_fault(memory: Afterwit, project: Path) -> None:
    _teach(memory)
    given(memory, "UserPromptSubmit", project, prompt="Look at the sidebar")
    call = {"tool_name": "Bash", "tool_input": {"command": "npm ci"}}
    assert "--legacy-peer-deps" in given(memory, "PostToolUse", project, **call, tool_response=FAILED)
    assert given(memory, "PostToolUse", project, **call, tool_response={"stdout": "added 12", "exit_code": 0}) == ""


def test_a_site_is_known_again_whatever_the_tool_does_there(memory: Afterwit, project: Path) -> None:
    memory.write(
        "On shop.example.com the login button is inside an iframe.",
        kind="lesson",
        scope="project:atlas",
        structured={"tool": "browser", "domain": "shop.example.com"},
    )
    call = {"tool_name": "mcp__playwright__browser_navigate", "tool_input": {"url": "https://shop.example.com/login"}}
    assert "iframe" in given(memory, "PreToolUse", project, **call)
    other = {"tool_name": "mcp__playwright__browser_navigate", "tool_input": {"url": "https://bank.example.com/login"}}
    assert given(memory, "PreToolUse", project, **other) == ""


@pytest.mark.parametrize(
    ("event", "client", "more"),
    [
        ("BeforeAgent", "gemini-cli", {"prompt": "Run npm install, it fails with ERESOLVE"}),
        ("BeforeTool", "gemini-cli", {"tool_name": "run_shell_command", "tool_input": {"command": "npm install"}}),
        (
            "AfterTool",
            "gemini-cli",
            {
                "tool_name": "run_shell_command",
                "tool_input": {"command": "npm install"},
                "tool_response": {"llmContent": "npm ERR! code ERESOLVE\nExit Code: 1"},
            },
        ),
        (
            "PostToolUseFailure",
            "claude-code",
            {"tool_name": "Bash", "tool_input": {"command": "npm install"}, "error": "npm ERR! code ERESOLVE"},
        ),
        (
            "PostToolUse",
            "codex",
            {
                "tool_name": "shell",
                "tool_input": {"command": "npm install"},
                "tool_response": {"content": [{"type": "text", "text": "npm ERR! code ERESOLVE"}], "isError": True},
            },
        ),
        ("UserPromptSubmit", "qwen-code", {"prompt": "Run npm install, it fails with ERESOLVE"}),
    ],
)
def test_every_client_speaks_its_own_format(
    memory: Afterwit, project: Path, event: str, client: str, more: dict[str, Any]
) -> None:
    _teach(memory)
    assert "--legacy-peer-deps" in given(memory, event, project, client, **more)


def test_little_is_given_however_much_there_is(memory: Afterwit, project: Path) -> None:
    user = memory.as_writer(Writer(name="user", trust=Trust.USER))
    for number in range(30):
        user.write(f"Rule {number}: " + f"word{number} " * 400, kind="rule", scope="project:atlas")
    assert len(given(memory, "SessionStart", project)) < MAX_CHARACTERS + 500


def test_what_a_session_taught_is_known_as_soon_as_it_ends(memory: Afterwit, project: Path, tmp_path: Path) -> None:
    transcript = session(tmp_path / "s1.jsonl", claude_work(), at=FixedClock()())
    event = {"transcript_path": str(transcript), "session_id": "claude-1"}
    for name, lessons in (("Stop", 0), ("SessionEnd", 1)):
        later = answer(memory, told(name, project) | event, client="claude-code").later
        assert later is not None
        later()
        assert len(memory.list(kinds=["lesson"])) == lessons, name


def test_the_end_of_a_session_waits_for_whoever_reads_it(memory: Afterwit, project: Path, tmp_path: Path) -> None:
    transcript = session(tmp_path / "s1.jsonl", claude_work(), at=FixedClock()())
    event = {"transcript_path": str(transcript), "session_id": "claude-1"}
    ends = [answer(memory, told(name, project) | event, client="claude-code").later for name in ("Stop", "SessionEnd")]
    readers = [threading.Thread(target=later) for later in ends if later is not None]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(memory.list(kinds=["lesson"])) == 1


@pytest.mark.parametrize("name", ["Stop", "SessionEnd"])
def test_a_session_in_which_nothing_was_asked_has_no_transcript(
    memory: Afterwit, project: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    later = answer(memory, told(name, project) | {"transcript_path": str(project / "gone.jsonl")}).later
    assert later is not None
    later()
    assert caplog.messages == []


@pytest.mark.parametrize("payload", [None, [], "text", {}, {"hook_event_name": "Dream"}, {"hook_event_name": 7}])
def test_an_event_that_makes_no_sense_is_an_error_for_the_log(payload: Any) -> None:
    with pytest.raises(InvalidInput):
        read_event(payload)


def test_a_fault_of_ours_is_a_line_in_the_log_and_no_fault_of_the_agent(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Afterwit:
        raise RuntimeError("a fault of ours")

    for given in (b"", b"prose", b"[1]", b'{"hook_event_name": "Stop"}', {"hook_event_name": "Stop"}):
        hooked = attempt(broken, given, event="Stop")
        assert (hooked.output, hooked.later) == ({}, None)
    assert "a fault of ours" in caplog.text


def test_odd_fields_do_no_harm(memory: Afterwit, project: Path) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd", "PreCompact"):
        odd = {"hook_event_name": event, "cwd": 7, "prompt": ["x"], "tool_input": [1], "tool_response": [None, 3]}
        hooked = answer(memory, odd)
        if hooked.later is not None:
            hooked.later()


def test_the_real_inputs_of_clients_are_read() -> None:
    folder = os.environ.get("AFTERWIT_SESSION_FILES")
    if not folder:
        pytest.skip("AFTERWIT_SESSION_FILES names no folder with inputs that clients wrote")
    for name in ("codex_hooks_in.jsonl", "qwen_hooks_in.jsonl"):
        for line in (Path(folder) / name).read_text(encoding="utf-8").splitlines():
            event = read_event(json.loads(line)["in"])
            assert event.session and event.directory and event.client in name.replace("_hooks_in.jsonl", "-code codex")


# --- the command ---------------------------------------------------------------------------------


def hook(data: Path, payload: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "afterwit", "hook", *words],
        input=payload,
        env=environment(data, AFTERWIT_DAEMON_IDLE_S="20"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", [(), ("--in-process",)])
def test_the_command_answers_and_never_fails(tmp_path: Path, project: Path, words: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    settings = load_settings(environ={}, overrides={"data_dir": str(data), "embedder": "none"})
    with Afterwit.open(settings=settings, writer=Writer(name="user", trust=Trust.USER)) as memory:
        memory.write("Never touch the vendor folder.", kind="rule", scope="project:atlas")
    # A busy machine may need longer to start the daemon than a hook may wait.
    for _ in range(10):
        done = hook(data, json.dumps(told("SessionStart", project)), *words)
        assert done.returncode == 0
        if done.stdout:
            break
    assert "vendor" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    for payload in ("", "prose", "[1]", '{"hook_event_name": "Dream"}', '{"hook_event_name": "Stop"}'):
        done = hook(data, payload, *words)
        assert (done.returncode, done.stdout) == (0, ""), payload


def test_a_session_whose_client_goes_without_a_word_ends_all_the_same(tmp_path: Path, project: Path) -> None:
    data = tmp_path / "data"
    # Read by the clock of the machine, not long after it was written.
    transcript = session(tmp_path / "s1.jsonl", claude_work(), at=utc_now())
    event = told("Stop", project) | {"transcript_path": str(transcript), "session_id": "claude-1"}
    client = subprocess.Popen(
        [sys.executable, "-m", "afterwit", "mcp"],
        env=environment(data, AFTERWIT_DAEMON_IDLE_S="20"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert client.stdin is not None and client.stdout is not None
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    client.stdin.write(json.dumps(asked).encode() + b"\n")
    client.stdin.flush()
    assert b'"result"' in client.stdout.readline()
    assert hook(data, json.dumps(event), "--client", "claude-code").returncode == 0
    settings = load_settings(environ={}, overrides={"data_dir": str(data), "embedder": "none"})
    with Afterwit.open(settings=settings) as memory:
        wait_until(memory.tasks)
        assert memory.list(kinds=["lesson"]) == [], "the session goes on"
        client.stdin.close()
        client.wait(60)
        client.stdout.close()
        wait_until(lambda: memory.list(kinds=["lesson"]))


#: A client that runs a hook as clients do, writes down how the turn ended, and is gone.
CLIENT = """
import subprocess, sys
transcript, end, data, event = sys.argv[1:]
command = f"'{sys.executable}' -m afterwit --data-dir '{data}' hook Stop --client codex"
subprocess.run(command, shell=True, input=event.encode(), check=True)
with open(transcript, "a") as file:
    file.write(end)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there the daemon cannot tell")
def test_a_session_whose_client_never_connected_ends_with_it(tmp_path: Path, project: Path) -> None:
    data = tmp_path / "data"
    *work, end = codex_work()
    transcript = session(tmp_path / "s1.jsonl", work, at=utc_now())
    event = told("Stop", project) | {"transcript_path": str(transcript), "session_id": "codex-1"}
    command = [sys.executable, "-c", CLIENT, str(transcript), json.dumps(end) + "\n", str(data), json.dumps(event)]
    subprocess.run(command, env=environment(data, AFTERWIT_DAEMON_IDLE_S="20"), timeout=PATIENCE_S, check=True)
    settings = load_settings(environ={}, overrides={"data_dir": str(data), "embedder": "none"})
    with Afterwit.open(settings=settings) as memory:
        wait_until(lambda: memory.list(kinds=["lesson"], scopes=["project:blog"]))


def wait_until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.1)


def test_where_no_daemon_can_be_a_hook_says_nothing_and_succeeds(tmp_path: Path, project: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "daemon.log").mkdir()
    done = hook(data, json.dumps(told("SessionStart", project)))
    assert (done.returncode, done.stdout) == (0, "")
