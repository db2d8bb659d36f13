"""Clients that others wrote: the official inspector and the official conformance suite."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from doors import CLIENTS, STDIO, client_command, environment, http_server

#: One of these is in the message of a check that fails for want of a fixture or of an optional capability.
NOT_OFFERED = (
    "not testable",
    "there is no tool",
    "not found. available tools",
    "method not found",
    "expected inputrequiredresult",
    "could not get initial inputrequiredresult",
)


def inspect(data_dir: Path, *arguments: str) -> dict[str, Any]:
    """What the inspector prints about the server that it starts."""
    done = subprocess.run(
        [*client_command("mcp-inspector"), "--cli", *STDIO, *arguments],
        env=environment(data_dir) | {"HOME": str(data_dir)},
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_the_tools_and_finds_their_schemas_portable(tmp_path: Path) -> None:
    tools = inspect(tmp_path, "--method", "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools][:2] == ["memory_write", "memory_search"]


def test_the_inspector_calls_the_tools(tmp_path: Path) -> None:
    def call(tool: str, *arguments: str) -> dict[str, Any]:
        pairs = [part for argument in arguments for part in ("--tool-arg", argument)]
        return inspect(tmp_path, "--method", "tools/call", "--tool-name", tool, *pairs)

    stored = call("memory_write", "content=用户对花生过敏。", "source=user")
    assert stored["structuredContent"]["outcome"] == "stored"
    found = call("memory_search", "query=用户对什么过敏？", "top_k=3")
    assert found["structuredContent"]["hits"][0]["id"] == stored["structuredContent"]["id"]
    assert "用户对花生过敏。" in found["content"][0]["text"]


def failed_checks(results: Path) -> list[tuple[str, str]]:
    """Scenario and message of every failed check."""
    failed: list[tuple[str, str]] = []
    for path in sorted(results.rglob("checks.json")):
        for check in json.loads(path.read_text(encoding="utf-8")):
            if check["status"] == "FAILURE":
                failed.append((path.parent.name, f"{check['id']}: {check.get('errorMessage', '')}"))
    return failed


@pytest.mark.slow
def test_the_conformance_suite_passes_but_for_what_needs_its_fixtures(tmp_path: Path) -> None:
    command = client_command("conformance")
    with http_server(tmp_path / "memory") as url:
        done = subprocess.run(
            [
                *command,
                *("server", "--url", f"{url}/mcp", "--suite", "all", "--output-dir", str(tmp_path / "results")),
                *("--expected-failures", str(CLIENTS / "expected-failures.yml")),
            ],
            cwd=tmp_path,
            env=os.environ | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    failed = failed_checks(tmp_path / "results")
    assert failed
    strange = [
        (scenario, message)
        for scenario, message in failed
        if not scenario.startswith("server-tasks-") and not any(reason in message.lower() for reason in NOT_OFFERED)
    ]
    assert strange == []
