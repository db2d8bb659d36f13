"""Agents' clients as their makers ship them, with a model by script: what `afterwit connect` writes really works."""

import re

import pytest
from tests.agents.mock_llm import Say
from tests.agents.rig import ALL, CODEX, OPENCODE, Agent, Rig, words_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

each = pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.client)
each_with_hooks = pytest.mark.parametrize(
    "agent", [agent for agent in ALL if agent.has_hooks], ids=lambda agent: agent.client
)

CURE = "--region=eu-west"


@each
def test_the_client_finds_the_server_connected(rig: Rig, agent: Agent) -> None:
    agent.connect(rig)
    told = rig.run(agent.program, "mcp", "list")
    (line,) = [line for line in told.splitlines() if re.match(r"(\x1b\[\d+m|\W)*afterwit", line)]
    # Codex lists what is configured, and starts nothing for it.
    assert ("enabled" if agent is CODEX else "connected") in line.casefold(), told


@each_with_hooks
def test_what_one_session_found_out_the_next_one_is_told(rig: Rig, agent: Agent) -> None:
    agent.connect(rig)
    rig.afterwit("write", "The coffee machine on the third floor takes no coins.", "--scope", "project:atlas")
    rig.model.begin(
        agent.runs("sh deploy.sh staging"),
        agent.runs(f"sh deploy.sh staging {CURE}"),
        agent.runs("sh deploy.sh status"),
        Say("Deployed to staging; all pods are ready."),
    )
    agent.ask(rig, "Deploy the app to staging with deploy.sh")
    first, *_, last = rig.model.asked
    assert CURE not in words_of(first) and "no default region" in words_of(last), "it was really run"
    rig.until_reviewed(1)
    (lesson,) = [row for row in rig.memories() if row["kind"] == "lesson"]
    assert CURE in lesson["summary"] and lesson["scope"] == "project:atlas"

    known = {row["id"] for row in rig.memories()}
    rig.model.begin(
        agent.runs(f"sh deploy.sh staging {CURE}"), agent.runs("sh deploy.sh status"), Say("Deployed again.")
    )
    agent.ask(rig, "Please deploy to staging again with deploy.sh")
    told = words_of(rig.model.asked[0])
    assert told.count("[m:") == 1 and CURE in told and "coffee" not in told
    rig.until_reviewed(2)
    assert {row["id"] for row in rig.memories()} == known, "what a hook told is nothing new"
    assert "Traceback" not in rig.log()


@each
def test_the_model_reaches_the_memory(rig: Rig, agent: Agent) -> None:
    agent.connect(rig)
    fact = "The staging database of Atlas listens on port 5544."
    rig.model.begin(*agent.remembers("memory_write", content=fact, source="user"), Say("Noted."))
    agent.ask(rig, f"Remember this: {fact}")
    (row,) = rig.memories()
    assert row["summary"] == fact
    search = agent.remembers("memory_search", query="On which port does the staging database listen?")
    rig.model.begin(*search, Say("It is 5544."))
    agent.ask(rig, "Which port was it?")
    assert fact in words_of(rig.model.asked[-1]), rig.model.asked[-1].tools


def test_the_sessions_that_opencode_keeps_are_read(rig: Rig) -> None:
    OPENCODE.connect(rig)
    rig.model.begin(
        OPENCODE.runs("sh deploy.sh staging"),
        OPENCODE.runs(f"sh deploy.sh staging {CURE}"),
        Say("Deployed to staging."),
    )
    OPENCODE.ask(rig, "Deploy the app to staging with deploy.sh")
    (found,) = rig.afterwit("learn", "--apply")["sessions"]
    assert found["client"] == "opencode"
    (task,) = found["tasks"]
    # It puts a prompt of several words into quotes itself.
    assert task["goal"].strip('"') == "Deploy the app to staging with deploy.sh" and task["steps"] >= 3
