"""Other ways into agents' clients than `afterwit connect`: the plugin, hooks as calls of a tool, Codex's own server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.agents.mock_llm import Say
from tests.agents.rig import AGENTS, CLAUDE_CODE, CODEX, PATIENCE_S, ROOT, Agent, Rig, words_of
from tests.doors import client_command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LESSON = "If deploy.sh fails for want of a region, add --region=eu-west."
PROMPT = "Deploy the app to staging with deploy.sh"


def teach(rig: Rig) -> None:
    rig.afterwit("write", LESSON, "--kind", "lesson", "--scope", "project:atlas")
    rig.afterwit("write", "The coffee machine on the third floor takes no coins.", "--scope", "project:atlas")


def is_told(rig: Rig) -> bool:
    """Whether the model was told the lesson before its first turn, and nothing else."""
    told = words_of(rig.model.asked[0])
    return told.count("[m:") == 1 and LESSON in told


# --- the plugin -----------------------------------------------------------------------------------


def test_the_plugin_and_its_marketplace_are_valid(rig: Rig) -> None:
    for folder in (ROOT / "plugin", ROOT):
        assert "Validation passed" in rig.run("claude", "plugin", "validate", str(folder))


@pytest.mark.parametrize(
    ("agent", "install"), [(CLAUDE_CODE, "install"), (CODEX, "add")], ids=[CLAUDE_CODE.client, CODEX.client]
)
def test_the_plugin_brings_tools_and_hooks(rig: Rig, agent: Agent, install: str) -> None:
    agent.prepare(rig)
    rig.run(agent.program, "plugin", "marketplace", "add", str(ROOT))
    rig.run(agent.program, "plugin", install, "afterwit@afterwit")
    teach(rig)
    rig.model.begin(agent.runs("sleep 5"), Say("Done."))
    # It runs the command on the PATH, with the memory that settings name.
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    agent.ask(rig, PROMPT, PATH=programs, AFTERWIT_DATA_DIR=str(rig.data))
    assert is_told(rig)
    assert any(tool.endswith("memory_search") for tool in rig.model.asked[-1].tools), rig.model.asked[-1].tools


# --- hooks as calls of a tool -----------------------------------------------------------------------


def test_a_hook_may_call_the_tool_that_no_model_sees(rig: Rig) -> None:
    CLAUDE_CODE.connect(rig)
    path = rig.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    fields = ("hook_event_name", "session_id", "transcript_path", "cwd", "prompt")
    given = {name: f"${{{name}}}" for name in fields}
    tool = {"type": "mcp_tool", "server": "afterwit", "tool": "memory_hook", "input": given}
    settings["hooks"] = {"UserPromptSubmit": [{"hooks": [tool]}]}
    path.write_text(json.dumps(settings), encoding="utf-8")
    teach(rig)
    rig.model.begin(Say("Done."))
    CLAUDE_CODE.ask(rig, PROMPT)
    assert is_told(rig)
    assert not any("memory_hook" in tool for tool in rig.model.asked[0].tools)


# --- Codex's own server ---------------------------------------------------------------------------


def test_codex_starts_the_server_and_passes_calls_on(rig: Rig) -> None:
    CODEX.connect(rig)
    requests: list[dict[str, Any]] = [
        {"method": "initialize", "id": 1, "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"method": "mcpServerStatus/list", "id": 2, "params": {}},
    ]
    process = subprocess.Popen(
        [*client_command("codex", AGENTS), "app-server"],
        env=rig.environ(),
        cwd=rig.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        for request in requests:
            process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        answer = next(answer for answer in answers if answer.get("id") == 2)
    finally:
        process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        finally:
            process.kill()
            process.stdout.close()
    (server,) = [server for server in answer["result"]["data"] if server["name"] == "afterwit"]
    assert {"memory_write", "memory_search"} <= {name for name in server["tools"]}
