"""`afterwit serve` is the daemon of its data directory: one process behind HTTP, `afterwit mcp` and hooks."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from mcp import Client, StdioServerParameters
from tests.doors import PATIENCE_S, call, environment, with_client
from tests.test_door import AFTERWIT, piped, status, until

from afterwit import door

TEA = "Which tea does the user prefer?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory whose daemon is gone when the test is; one in the background would leave at once."""
    runtime = Path(tempfile.mkdtemp(prefix="aw"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("AFTERWIT_DOOR", "unix")
    monkeypatch.setenv("AFTERWIT_DAEMON_IDLE_S", "60")
    data = tmp_path / "data"
    yield data
    if answer := status(data):
        os.kill(answer["pid"], signal.SIGKILL)
    shutil.rmtree(runtime)


class Serve:
    """`afterwit serve` on a free port, and what it says."""

    def __init__(self, data: Path, *options: str, **variables: str) -> None:
        self.process = subprocess.Popen(
            [*AFTERWIT, "serve", "--port", "0", *options],
            env=environment(data, **variables),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.told: list[str] = []
        for line in self.process.stderr:
            self.told.append(line)
            if found := re.search(r"listens on (http://\S+)", line):
                self.url = found[1]
                break
        else:
            pytest.fail("The server did not start: " + "".join(self.told))
        # Read on, or a server that has much to say would wait.
        self._reader = threading.Thread(target=lambda: self.told.extend(self.process.stderr or ()), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.end()

    def end(self) -> str:
        """Wait for its end; what it said."""
        self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return "".join(self.told)


class Session:
    """`afterwit mcp`, spoken to line by line."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            [*AFTERWIT, "mcp"], env=environment(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def send(self, id: int, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        asked = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next answer, {} when there is no more."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {}

    def close(self) -> int:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        return self.process.wait(PATIENCE_S)


def run(data: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*AFTERWIT, *words],
        input=given,
        env=environment(data),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


async def find_tea(client: Client) -> list[str]:
    return [hit["summary"] for hit in (await call(client, "memory_search", query=TEA))["hits"]]


async def write_tea(client: Client) -> None:
    await call(client, "memory_write", content="The user prefers green tea.", source="user")


def test_http_sessions_and_hooks_are_served_by_one_process(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWIT_DAEMON_IDLE_S", "0.3")
    with Serve(home, "--host", "127.0.0.1", AFTERWIT_LOG_LEVEL="INFO") as serve:

        async def both(by_door: Client) -> list[str]:
            await write_tea(by_door)
            async with Client(f"{serve.url}/mcp") as by_http:
                found = await find_tea(by_http)
                await call(by_http, "memory_write", content="Never touch the vendor folder.", kind="rule")
            rule = (await call(by_door, "memory_search", query="What about the vendor folder?"))["hits"]
            assert [hit["summary"] for hit in rule] == ["Never touch the vendor folder."]
            told = status(home)
            assert (told["pid"], told["kind"], told["url"]) == (serve.process.pid, "serve", serve.url)
            assert told["visitors"] == 1
            return found

        assert with_client(piped(home), both) == ["The user prefers green tea."]
        event = json.dumps({"hook_event_name": "SessionStart", "cwd": str(home)})
        assert run(home, "hook", "--client", "claude-code", given=event).returncode == 0
        assert not (home / "daemon.log").exists(), "somebody has started a daemon, or written of a failure"
        # Nobody has been here for longer than a daemon in the background would wait.
        until(lambda: status(home)["visitors"] == 0)
        threading.Event().wait(1.5)
        assert status(home)["pid"] == serve.process.pid
        told = run(home, "daemon", "status").stdout
        assert serve.url in told and "afterwit serve" in told
        serve.process.send_signal(signal.SIGINT)
        assert "Traceback" not in serve.end()
        assert serve.process.returncode == 0
    assert status(home) == {}


def test_a_daemon_in_the_background_gives_way_and_its_visitors_stay_until_they_leave(home: Path) -> None:
    old: dict[str, Any] = {}

    async def story(first: Client) -> None:
        await write_tea(first)
        old.update(status(home))
        assert old["kind"] == "background"
        with Serve(home) as serve:
            assert f"process {old['pid']}) gives way; 1 that it serves" in "".join(serve.told)
            async with Client(piped(home)) as second:
                assert await find_tea(second) == ["The user prefers green tea."]
                assert status(home)["pid"] == serve.process.pid
                assert await find_tea(first) == ["The user prefers green tea."]
            serve.process.terminate()
            serve.end()

    with_client(piped(home), story)
    until(lambda: not Path(f"/proc/{old['pid']}").exists())


def test_a_second_server_of_one_directory_is_told_of_the_first(home: Path) -> None:
    with Serve(home) as serve:
        for port in (serve.url.rpartition(":")[2], "0"):
            done = run(home, "serve", "--port", port)
            assert done.returncode == 9
            assert f"is served already at {serve.url} (process {serve.process.pid})" in done.stderr
            assert "afterwit daemon stop" in done.stderr
        assert run(home, "daemon", "stop", "--json").stdout.strip().endswith("}")
        serve.end()
        assert serve.process.returncode == 0


def test_what_was_asked_is_answered_before_the_server_ends(home: Path) -> None:
    with Serve(home) as serve:
        session = Session(home)
        client = {"name": "test", "version": "1"}
        session.send(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert session.receive()["id"] == 1
        session.send(2, "tools/call", name="memory_search", arguments={"query": TEA})
        assert session.receive()["id"] == 2
        with contextlib.closing(sqlite3.connect(home / "memory.db", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            session.send(3, "tools/call", name="memory_write", arguments={"content": "The user prefers green tea."})
            session.send(4, "ping")
            assert session.receive()["id"] == 4
            serve.process.terminate()
            until(lambda: status(home) == {})
            assert serve.process.poll() is None
            database.execute("ROLLBACK")
        answer = session.receive()
        assert answer["id"] == 3 and answer["result"]["structuredContent"]["outcome"] == "stored"
        assert session.receive() == {}
        assert session.close() == 0
        assert "Traceback" not in serve.end()
        assert serve.process.returncode == 0


def test_after_a_server_was_killed_a_session_starts_a_daemon(home: Path) -> None:
    with Serve(home) as serve:
        with_client(piped(home), write_tea)
        assert status(home)["pid"] == serve.process.pid
        serve.process.kill()
        serve.end()
    assert with_client(piped(home), find_tea) == ["The user prefers green tea."]
    assert status(home)["kind"] == "background"


def test_a_session_of_another_version_does_not_end_a_server_that_somebody_started(home: Path) -> None:
    with Serve(home) as serve:
        place = door.place_of(str(home))
        connection, answer = door.knock(place, door.Call("mcp").wants(version="99.0"))
        connection.close()
        assert (answer["ok"], answer["why"]) == (False, "served")
        with pytest.raises(door.NoDaemon, match=r"start it anew for 99\.0"):
            door.enter(place, door.Call("mcp").wants(version="99.0"))
        assert status(home)["pid"] == serve.process.pid


def test_a_place_named_from_where_one_is_is_the_same_memory(home: Path) -> None:
    command = StdioServerParameters(
        command=AFTERWIT[0],
        args=[*AFTERWIT[1:], "--data-dir", home.name, "mcp"],
        env=environment(home),
        cwd=home.parent,
    )
    with Serve(home) as serve:
        with_client(command, write_tea)
        assert with_client(f"{serve.url}/mcp", find_tea) == ["The user prefers green tea."]
    assert "green tea" in run(home, "list").stdout
    assert sorted(home.parent.rglob("memory.db")) == [home / "memory.db"]


def test_a_store_that_cannot_be_opened_is_a_clear_error_and_leaves_no_daemon(home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_bytes(b"something else entirely" * 400)
    done = run(home, "serve", "--port", "0")
    assert done.returncode == 8
    assert "Do: " in done.stderr and "Traceback" not in done.stderr
    assert status(home) == {}


def test_a_place_where_nobody_can_knock_is_a_clear_error(home: Path, tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "afterwit", "serve", "--port", "0"],
        env=environment(home, XDG_RUNTIME_DIR="", TMPDIR=str(taken)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 8
    assert "AFTERWIT_DOOR=tcp" in done.stderr and "Traceback" not in done.stderr
