"""How clients stand: found, connected, and whether what they are configured to start really answers."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterwit import door
from afterwit.cli.clients.health import Reached, check
from afterwit.cli.clients.machine import Machine
from desk import Desk
from doors import http_server


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path / "用户 的 家")
    monkeypatch.chdir(desk.project)
    return desk


@pytest.fixture
def daemon(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk whose daemon is gone when the test is."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    yield desk
    try:
        connection, answer = door.knock(door.place_of(str(desk.home / "data")), door.Call("status", (), {}).wants())
    except door.NoDaemon:
        return
    connection.close()
    os.kill(answer["pid"], signal.SIGKILL)


def test_connections_start_the_real_server_and_ask_for_its_tools(daemon: Desk) -> None:
    daemon.run("connect", "cursor")
    daemon.run("connect", "codex")
    found = {each["client"]: each for each in daemon.json("connections")["clients"]}
    for name in ("cursor", "codex"):
        assert found[name]["state"] == "connected"
        assert found[name]["health"]["ok"], found[name]
        assert found[name]["health"]["tools"] >= 6
    assert len(found["codex"]["hooks"]) == 7
    assert found["zed"] | {"path": ""} == {
        **{"client": "zed", "scope": "user", "path": "", "found": False, "state": "absent"},
        **{"hooks": [], "command_exists": None, "health": None, "problem": ""},
    }


def test_a_client_is_found_by_its_program_too(desk: Desk) -> None:
    program = desk.write("bin/windsurf", "#!/bin/sh\n")
    program.chmod(0o755)
    text = desk.run("connections", "--no-check").stdout
    assert "Windsurf (windsurf): installed, not connected" in text
    assert "afterwit connect windsurf" in text


def test_an_unreadable_file_is_told_and_hides_no_other(desk: Desk) -> None:
    desk.write(".cursor/mcp.json", "{\n]")
    desk.run("connect", "windsurf")
    found = {each["client"]: each for each in desk.json("connections", "--no-check", exit_code=1)["clients"]}
    assert (found["cursor"]["state"], found["windsurf"]["state"]) == ("unreadable", "connected")
    assert "line 2" in found["cursor"]["problem"]


def python(code: str) -> Reached:
    return Reached((sys.executable, "-c", code))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "ended"),
        ("import time; time.sleep(60)", "in time"),
        ("print('no JSON', flush=True); input()", "Expecting value"),
    ],
)
def test_a_server_that_does_not_work_is_told_so(tmp_path: Path, code: str, problem: str) -> None:
    machine = Machine("linux", tmp_path, os.environ, tmp_path)
    health = check(python(code), machine, timeout_s=1.0)
    assert not health.ok
    assert problem in health.problem or "Broken pipe" in health.problem


def test_a_server_by_address_is_asked_too(tmp_path: Path) -> None:
    machine = Machine("linux", tmp_path, os.environ, tmp_path)
    with http_server(tmp_path / "data") as url:
        health = check(Reached(address=f"{url}/mcp"), machine)
        wrong = check(Reached(address=f"{url}/elsewhere"), machine)
    assert (health.ok, health.tools >= 6) == (True, True), health
    assert "404" in wrong.problem
    assert "refused" in check(Reached(address=f"{url}/mcp"), machine, timeout_s=2).problem
