"""The plugin for Claude Code and Codex: what it names exists."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from afterwit.cli import cli
from afterwit.cli.clients.table import CLIENTS, Client
from afterwit.serve.hooks import EVENTS
from afterwit.serve.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent

PLUGIN = ROOT / "plugin"


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_plugin_has_the_version_of_the_package_and_is_where_the_marketplace_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest = read_json(PLUGIN / ".claude-plugin" / "plugin.json")
    assert (manifest["name"], manifest["version"]) == (project["name"], project["version"])
    assert manifest["license"] == project["license"]
    (listed,) = read_json(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert listed["name"] == manifest["name"]
    assert (ROOT / listed["source"]).resolve() == PLUGIN


def test_the_plugin_runs_commands_that_exist_and_are_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    for server in read_json(PLUGIN / ".mcp.json")["mcpServers"].values():
        assert server["command"] in scripts
        assert server["args"][0] in cli.commands
    script = (PLUGIN / "hooks" / "run.sh").read_text(encoding="utf-8")
    (command, word) = re.findall(r"exec (\w+) (\w+)", script)[0]
    assert command in scripts
    assert word in cli.commands


def test_the_plugin_tells_of_events_that_are_understood() -> None:
    hooks = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]
    assert set(hooks) >= {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        word = hook["command"].split()[-1]
        assert word.replace("-", "") == event.lower()
        assert word.replace("-", "") in EVENTS
        assert hook["command"].startswith('sh "${CLAUDE_PLUGIN_ROOT}/hooks/run.sh" ')


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.hooks], ids=lambda client: client.name)
def test_every_event_of_the_table_is_understood(client: Client) -> None:
    assert client.hooks is not None
    assert {event.word.replace("-", "") for event in client.hooks.events} <= set(EVENTS)


def test_the_plugin_says_so_once_when_there_is_no_command(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "cat"):
        (bare / name).symlink_to(str(shutil.which(name)))

    def run(event: str) -> str:
        script = [str(bare / "sh"), str(PLUGIN / "hooks" / "run.sh"), event]
        return subprocess.run(
            script, input="{}", env={"PATH": str(bare)}, capture_output=True, text=True, check=True
        ).stdout

    assert "no command afterwit on the PATH" in json.loads(run("session-start"))["systemMessage"]
    assert run("stop") == ""


def test_the_skill_names_tools_that_exist() -> None:
    text = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    header = text.split("---")[1]
    assert "name: memory\n" in header
    assert "description: " in header
    named = set(re.findall(r"`((?:memory|task)_\w+)`", text)) - {"task_context"}
    assert named
    assert named <= {tool.name for tool in TOOLS}
