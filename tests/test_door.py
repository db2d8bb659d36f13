"""The fast door: agents' sessions through one daemon that comes and goes by itself."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.doors import PATIENCE_S, call, environment, with_client

from afterwit import __version__, door
from afterwit.serve.daemon import MAX_MESSAGE

AFTERWIT = [sys.executable, "-m", "afterwit"]


@pytest.fixture(params=["unix", "tcp"])
def home(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory whose daemon is gone when the test is."""
    # Paths of sockets may have about a hundred bytes, and pytest's own directories have that many.
    runtime = Path(tempfile.mkdtemp(prefix="aw"))
    for name, value in (
        ("XDG_RUNTIME_DIR", str(runtime)),
        ("AFTERWIT_DOOR", request.param),
        ("AFTERWIT_DAEMON_IDLE_S", "60"),
    ):
        monkeypatch.setenv(name, value)
    data = tmp_path / "data"
    yield data
    if answer := status(data):
        os.kill(answer["pid"], signal.SIGKILL)
    shutil.rmtree(runtime)


def variables(data: Path, **more: str) -> dict[str, str]:
    own = {name: os.environ[name] for name in ("AFTERWIT_DOOR", "AFTERWIT_DAEMON_IDLE_S")}
    return environment(data, **(own | more))


def piped(data: Path, **more: str) -> StdioServerParameters:
    return StdioServerParameters(command=AFTERWIT[0], args=[*AFTERWIT[1:], "mcp"], env=variables(data, **more))


def status(data: Path) -> dict[str, Any]:
    """What the daemon says of itself, {} where there is none."""
    try:
        connection, answer = door.knock(door.place_of(str(data)), door.Call("status", (), {}).wants())
    except door.NoDaemon:
        return {}
    connection.close()
    return answer


def until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.02)


async def _write_and_find(client: Client) -> str:
    await call(client, "memory_write", content="The user prefers green tea.", source="user")
    found = await call(client, "memory_search", query="Which tea does the user prefer?")
    return str(found["hits"][0]["summary"])


def test_sessions_share_one_daemon_that_the_first_one_starts(home: Path) -> None:
    assert status(home) == {}
    assert with_client(piped(home), _write_and_find) == "The user prefers green tea."
    first = status(home)
    assert first["version"] == __version__
    with_client(piped(home), _write_and_find)
    assert status(home)["pid"] == first["pid"]


def test_twenty_clients_at_once_are_served_by_one_daemon_and_lose_nothing(home: Path) -> None:
    async def one(number: int) -> None:
        async with Client(piped(home)) as client:
            receipt = await call(
                client, "memory_write", content=f"Server {number} is named host-{number}.", kind="fact"
            )
            assert receipt["outcome"] == "stored"

    async def all_at_once() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, number)

    anyio.run(all_at_once)
    listed = subprocess.run(
        [*AFTERWIT, "list", "--limit", "50", "--json"], env=variables(home), capture_output=True, text=True, check=True
    )
    assert json.loads(listed.stdout)["total"] == 20
    log = (home / "daemon.log").read_text()
    assert log.count(" serves ") == 1


def test_every_visitor_is_a_session_of_its_own(home: Path) -> None:
    async def write(client: Client) -> str:
        return str((await call(client, "memory_write", content="The user prefers green tea."))["id"])

    for _ in range(2):
        id = with_client(piped(home), write)

    async def explain(client: Client) -> int:
        return int((await call(client, "memory_explain", memory_id=id))["memory"]["support"])

    assert with_client(piped(home), explain) == 2


def test_visitors_with_other_settings_have_other_spaces(home: Path) -> None:
    with_client(piped(home), _write_and_find)

    async def look(client: Client) -> list[Any]:
        return list((await call(client, "memory_search", query="Which tea does the user prefer?"))["hits"])

    assert with_client(piped(home, AFTERWIT_SPACE="other"), look) == []
    assert status(home)["visitors"] == 0


def test_the_log_tells_of_a_session_that_a_message_without_end_has_ended(home: Path) -> None:
    with subprocess.Popen([*AFTERWIT, "mcp"], env=variables(home), stdin=subprocess.PIPE) as session:
        assert session.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            session.stdin.write(b"x" * (MAX_MESSAGE + 1))
            session.stdin.flush()
        until(lambda: "session ends: a line is longer" in (home / "daemon.log").read_text())
        with contextlib.suppress(BrokenPipeError):
            session.stdin.close()


def test_a_daemon_that_nobody_visits_leaves_by_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWIT_DAEMON_IDLE_S", "0.5")
    with_client(piped(home), _write_and_find)
    until(lambda: status(home) == {})
    until(lambda: "leaving" in (home / "daemon.log").read_text())


def test_a_daemon_leaves_when_its_data_directory_goes(home: Path) -> None:
    with_client(piped(home), _write_and_find)
    pid = status(home)["pid"]
    home.rename(home.with_name("elsewhere"))

    def gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return Path(f"/proc/{pid}/stat").exists() and " Z " in Path(f"/proc/{pid}/stat").read_text()

    until(gone)


def test_a_newer_version_replaces_the_daemon_and_its_visitors_stay_until_they_leave(home: Path) -> None:
    async def story(client: Client) -> tuple[int, int]:
        await _write_and_find(client)
        old = status(home)["pid"]
        place = door.place_of(str(home))
        for version, why in (("0.0.1", "served"), ("999.0", "version")):
            assert status(home)["pid"] == old, "an older one does without it"
            connection, answer = door.knock(place, door.Call("mcp", (), {}).wants(version=version))
            connection.close()
            assert (answer["ok"], answer["why"]) == (False, why)
        # Who comes now starts another one; who is there is still served.
        async with Client(piped(home)) as second:
            await _write_and_find(second)
            new = status(home)["pid"]
            await _write_and_find(client)
        return old, new

    old, new = with_client(piped(home), story)
    assert old != new

    def ended() -> bool:
        stat = Path(f"/proc/{old}/stat")
        return not stat.exists() or " Z " in stat.read_text()

    until(ended)
    assert status(home)["pid"] == new


def test_a_killed_daemon_is_replaced_and_what_was_acknowledged_is_there(home: Path) -> None:
    with_client(piped(home), _write_and_find)
    os.kill(status(home)["pid"], signal.SIGKILL)

    async def find(client: Client) -> str:
        return str((await call(client, "memory_search", query="Which tea does the user prefer?"))["hits"][0]["summary"])

    assert with_client(piped(home), find) == "The user prefers green tea."


def test_a_pipe_whose_daemon_dies_ends(home: Path) -> None:
    process = subprocess.Popen(
        [*AFTERWIT, "mcp"], env=variables(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert process.stdin and process.stdout
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert json.loads(process.stdout.readline())["id"] == 1
    os.kill(status(home)["pid"], signal.SIGKILL)
    assert process.wait(PATIENCE_S) == 0
    process.stdin.close()
    process.stdout.close()


def test_a_client_that_closes_its_input_gets_all_its_answers(home: Path) -> None:
    requests = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(50)]
    done = subprocess.run(
        [*AFTERWIT, "mcp"],
        input="".join(json.dumps(request) + "\n" for request in requests),
        env=variables(home),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == list(range(50))


def test_where_no_daemon_can_be_the_session_is_served_all_the_same(home: Path) -> None:
    home.mkdir()
    (home / "daemon.log").mkdir()
    assert with_client(piped(home), _write_and_find) == "The user prefers green tea."
    assert status(home) == {}


@pytest.mark.parametrize(
    "first", [b"", b"hello\n", b"{}\n", b'{"version": 1}\n', b"[]\n", b"x" * 70_000, b"\xff\xfe\n"]
)
def test_a_malformed_first_line_is_answered_and_harms_nobody(home: Path, first: bytes) -> None:
    with_client(piped(home), _write_and_find)
    place = door.place_of(str(home))
    connection, _ = door._connect(place)  # pyright: ignore[reportPrivateUsage]
    with contextlib.closing(connection):
        connection.settimeout(PATIENCE_S)
        connection.sendall(first)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65_536)
        assert not answer or json.loads(answer)["ok"] is False
    assert status(home)["ok"]


def test_only_who_knows_the_token_comes_in_over_tcp(home: Path) -> None:
    with_client(piped(home), _write_and_find)
    place = door.place_of(str(home))
    if place.socket:
        assert Path(place.socket).stat().st_mode & 0o077 == 0
        return
    assert Path(place.address).stat().st_mode & 0o077 == 0
    address = json.loads(Path(place.address).read_text())
    with socket.create_connection(("127.0.0.1", address["port"])) as connection:
        told = {"version": __version__, "token": "guess"} | door.Call("mcp", (), {}).wants()
        connection.sendall(json.dumps(told).encode() + b"\n")
        assert json.loads(connection.recv(65_536))["why"] == "token"


def test_a_runtime_directory_of_somebody_else_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / "afterwit"
    runtime.mkdir(mode=0o755)
    runtime.chmod(0o755)
    if os.environ["AFTERWIT_DOOR"] == "unix":
        with pytest.raises(door.NoDaemon, match="alone"):
            door.place_of(str(home))


def test_a_runtime_directory_is_ours_whatever_bits_it_inherits(home: Path) -> None:
    if os.environ["AFTERWIT_DOOR"] == "unix":
        runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / "afterwit"
        runtime.mkdir()
        runtime.chmod(0o2700)
        assert door.place_of(str(home)).socket.startswith(str(runtime))


def test_the_daemon_is_asked_and_stopped_by_command(home: Path) -> None:
    def daemon(*words: str) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [*AFTERWIT, "daemon", *words, "--json"], env=variables(home), capture_output=True, check=False
        )
        return done.returncode, json.loads(done.stdout)

    assert daemon("status") == (1, {"running": False})
    with_client(piped(home), _write_and_find)
    code, told = daemon("status")
    assert (code, told["running"], told["visitors"]) == (0, True, 0)
    assert daemon("stop") == (0, {"stopped": True})
    until(lambda: status(home) == {})
    assert daemon("stop") == (0, {"stopped": False})


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["mcp"], "mcp"),
        (["--space", "work", "mcp"], "mcp"),
        (["--space=work", "--data-dir", "/x", "mcp"], "mcp"),
        (["--version"], None),
        (["--space"], None),
        (["--space", "", "mcp"], None),
        ([], None),
    ],
)
def test_the_door_reads_only_what_it_is_sure_of(arguments: list[str], command: str | None) -> None:
    found = door.read_call(arguments)
    assert (found.command if found else None) == command


def test_the_door_imports_next_to_nothing() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(door.__file__).parent.parent)!r}); before = set(sys.modules);"
        "import afterwit.door, afterwit.__main__; print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    ours = {"afterwit", "afterwit.version", "afterwit.door", "afterwit.__main__"}
    # What the usual modules (json, socket, threading, typing, dataclasses) import is the start of an interpreter again.
    assert set(loaded) - ours <= {"_socket", "os", "stat", "_stat", "_collections_abc", "genericpath", *_PATHS}


_PATHS = {"posixpath", "ntpath", "os.path", "nt", "_winapi"}


@pytest.mark.parametrize(
    "value",
    [
        {"a": ["b", 1, -7, {"c": []}], "d": {}, "e": (1, "x")},
        {'quoted "x"': "back\\slash\n\x00\u2028 中文 \U0001f600", "bytes": os.fsdecode(b"\xff\xfe")},
    ],
)
def test_the_first_line_is_json(value: dict[str, Any]) -> None:
    told = door._json(value)  # pyright: ignore[reportPrivateUsage]
    assert "\n" not in told and told.isascii()
    assert json.loads(told) == json.loads(json.dumps(value))
