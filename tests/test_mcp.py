"""MCP over standard input and output, through the SDK's own client and through bare pipes."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from afterwit import __version__
from afterwit.serve.tools import BY_NAME, INSTRUCTIONS, TOOLS
from doors import Pipe, call, shown, stdio_parameters, with_client

NAMES = [
    "memory_write",
    "memory_search",
    "memory_update",
    "memory_forget",
    "memory_summarize",
    "memory_explain",
    "task_start",
    "task_step",
    "task_finish",
]


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    """One server for the tests that only look at answers to single requests."""
    with Pipe(tmp_path_factory.mktemp("memory")) as server:
        server.initialize()
        yield server


# --- what a client is shown ----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
def test_all_tools_together_stay_within_their_budget_of_tokens(pipe: Pipe) -> None:
    import bpe_openai  # noqa: PLC0415  warns while it is imported

    tools = pipe.ask(1, "tools/list")["result"]["tools"]
    tokens = bpe_openai.get_encoding("o200k_base")
    shown = [{"name": t["name"], "description": t["description"], "inputSchema": t["inputSchema"]} for t in tools]
    count = sum(len(tokens.encode(json.dumps(tool, separators=(",", ":"), ensure_ascii=False))) for tool in shown)
    assert count <= 1600, count
    assert [tool["name"] for tool in tools] == NAMES


def test_tools_say_what_they_may_change_and_search_is_always_loaded(pipe: Pipe) -> None:
    tools = {tool["name"]: tool for tool in pipe.ask(1, "tools/list")["result"]["tools"]}
    for tool in tools.values():
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["annotations"]["openWorldHint"] is False
    read_only = {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]}
    assert read_only == {"memory_search", "memory_summarize", "memory_explain"}
    assert {n for n, tool in tools.items() if tool["annotations"]["destructiveHint"]} == {"memory_forget"}
    assert tools["memory_search"]["_meta"] == {"anthropic/alwaysLoad": True}
    assert tools["memory_write"]["inputSchema"]["required"] == ["content"]
    assert tools["memory_search"]["inputSchema"]["required"] == ["query"]


def test_tools_are_listed_alike_whatever_is_stored(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        before = server.ask(1, "tools/list")["result"]
        server.call(2, "memory_write", content="The user prefers green tea.")
        assert server.ask(3, "tools/list")["result"] == before


def test_descriptions_say_when_to_call_and_when_not() -> None:
    for tool in TOOLS:
        assert re.search(r"\bCall it\b|only when", tool.description), tool.name
        assert re.search(r"\bNot \b", tool.description), tool.name


def test_instructions_are_two_sentences_with_the_trigger_rule(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        answer = server.initialize()
    assert answer["instructions"] == INSTRUCTIONS
    assert len(re.findall(r"[.!?](?:\s|$)", INSTRUCTIONS)) == 2
    assert "memory_search" in INSTRUCTIONS and "memory_write" in INSTRUCTIONS
    assert answer["serverInfo"]["name"] == "afterwit" and answer["serverInfo"]["version"] == __version__


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_older_protocol_revisions_are_spoken(version: str, tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        assert server.initialize(version)["protocolVersion"] == version
        assert len(server.ask(1, "tools/list")["result"]["tools"]) == len(NAMES)
        result = server.call(2, "memory_write", content="The user prefers green tea.")
        assert "stored" in result["content"][0]["text"]


def test_an_unknown_protocol_revision_is_answered_with_a_known_one(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        assert server.initialize("1999-01-01")["protocolVersion"] == "2025-11-25"


# --- the verbs -----------------------------------------------------------------------------------


async def _english(client: Client) -> None:
    stored = await call(
        client,
        "memory_write",
        content="The user lives in Hangzhou.",
        kind="fact",
        subject="user",
        topic="residence",
        structured={"value": "Hangzhou"},
        source="user",
        happened_at="2020-05-01",
    )
    assert stored["outcome"] == "stored"
    again = await call(client, "memory_write", content="The user lives in Hangzhou.", kind="fact", source="user")
    assert again["outcome"] == "merged" and again["id"] == stored["id"]
    moved = await call(
        client,
        "memory_write",
        content="The user lives in Shanghai.",
        kind="fact",
        subject="user",
        topic="residence",
        structured={"value": "Shanghai"},
        source="user",
        happened_at="2025-03-01",
    )
    assert moved["outcome"] == "superseded" and moved["related"] == [stored["id"]]
    found = await client.call_tool("memory_search", {"query": "In which city does the user live?"})
    assert found.structured_content is not None
    assert [hit["id"] for hit in found.structured_content["hits"]] == [moved["id"]]
    text = shown(found)
    assert f"[m:{moved['id'][-8:]}]" in text and "Shanghai" in text and "Hangzhou" not in text
    fixed = await call(
        client,
        "memory_update",
        memory_id=moved["id"],
        content="The user lives in Suzhou.",
        source="user",
        reason="typo",
    )
    assert fixed["outcome"] == "updated"
    story = await call(client, "memory_explain", memory_id=fixed["id"])
    assert story["memory"]["summary"] == "The user lives in Suzhou."
    assert len(story["versions"]) == 3
    account = await call(client, "memory_summarize", budget_tokens=200)
    assert account["ids"] == [fixed["id"]] and "Suzhou" in account["text"]
    forgotten = await call(client, "memory_forget", memory_id=f"[m:{fixed['id']}]", reason="asked")
    assert forgotten["outcome"] == "forgotten"
    assert (await call(client, "memory_search", query="In which city does the user live?"))["hits"] == []
    restored = await call(client, "memory_update", memory_id=fixed["id"], verdict="restore")
    assert restored["outcome"] == "updated"
    assert (await call(client, "memory_search", query="In which city does the user live?"))["hits"]
    assert (await call(client, "memory_forget", memory_id=fixed["id"], erase=True))["outcome"] == "erased"
    gone = await client.call_tool("memory_explain", {"memory_id": fixed["id"]})
    assert gone.is_error and gone.structured_content is not None
    assert gone.structured_content["error"]["code"] == "not_found"


async def _chinese(client: Client) -> None:
    stored = await call(client, "memory_write", content="用户对花生过敏。", source="user")
    assert stored["outcome"] == "stored" and stored["message"] == "已记住。"
    decision = await call(
        client,
        "memory_write",
        content="项目 atlas 决定用 PostgreSQL，因为需要事务。",
        kind="decision",
        scope="project:atlas",
        structured={"chosen": "PostgreSQL", "rationale": "需要事务"},
    )
    found = await call(client, "memory_search", query="用户对什么食物过敏？")
    assert [hit["id"] for hit in found["hits"]] == [stored["id"]]
    assert found["hits"][0]["summary"] == "用户对花生过敏。"
    nothing = await call(client, "memory_search", query="atlas 项目用哪个数据库？")
    assert nothing["hits"] == [] and nothing["other_scopes"] == ["project:atlas"]
    assert nothing["message"] == "未找到相关历史记忆，请基于当前上下文决策。"
    scoped = await call(client, "memory_search", query="atlas 项目用哪个数据库？", scopes=["project:atlas"])
    assert scoped["hits"][0]["id"] == decision["id"]
    refused = await call(client, "memory_write", content="好的，谢谢！")
    assert refused["outcome"] == "rejected" and refused["reasons"] == ["chatter"]


def test_the_verbs_work_in_english_over_stdio(tmp_path: Path) -> None:
    with_client(stdio_parameters(tmp_path, AFTERWIT_EMBEDDER="use"), _english)


def test_the_verbs_work_in_chinese_over_stdio(tmp_path: Path) -> None:
    with_client(stdio_parameters(tmp_path, AFTERWIT_EMBEDDER="use"), _chinese, mode="legacy")


def test_repeats_in_one_session_count_once_and_in_another_again(tmp_path: Path) -> None:
    content = "The user prefers green tea."

    async def repeat(client: Client) -> list[dict[str, Any]]:
        return [await call(client, "memory_write", content=content) for _ in range(5)]

    first = with_client(stdio_parameters(tmp_path), repeat)
    second = with_client(stdio_parameters(tmp_path), repeat)
    assert [receipt["outcome"] for receipt in first + second] == ["stored"] + ["merged"] * 9

    async def explain(client: Client) -> dict[str, Any]:
        return await call(client, "memory_explain", memory_id=first[0]["id"])

    assert with_client(stdio_parameters(tmp_path), explain)["memory"]["support"] == 2


def test_an_agent_is_never_trusted_more_than_an_agent(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        stored = server.call(1, "memory_write", content="The user prefers green tea.", source="user")
        story = server.call(2, "memory_explain", memory_id=stored["structuredContent"]["id"])
        assert story["structuredContent"]["memory"]["trust"] == "agent"
        result = server.call(3, "memory_write", content="The user likes jazz music.", trust=3)
        assert result["structuredContent"]["error"]["code"] == "invalid_input"


def test_two_clients_at_once_share_one_store(tmp_path: Path) -> None:
    async def main() -> tuple[int, int]:
        async with Client(stdio_parameters(tmp_path)) as one, Client(stdio_parameters(tmp_path)) as two:

            async def write(client: Client, name: str) -> None:
                for number in range(25):
                    receipt = await call(
                        client, "memory_write", content=f"Server {name}{number} listens on port {number}.", kind="fact"
                    )
                    assert receipt["outcome"] == "stored"

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write, one, "alpha")
                tasks.start_soon(write, two, "beta")
            mine = await call(one, "memory_search", query="Which port does server beta7 listen on?")
            other = await call(two, "memory_search", query="Which port does server alpha7 listen on?")
            return len(mine["hits"]), len(other["hits"])

    mine, other = anyio.run(main)
    assert mine and other
    with sqlite3.connect(tmp_path / "memory.db") as database:
        assert database.execute("select count(*) from memory").fetchone() == (50,)
    database.close()


def test_many_calls_at_once_are_all_answered(tmp_path: Path) -> None:
    async def story(client: Client) -> list[str]:
        outcomes: list[str] = []

        async def write(number: int) -> None:
            receipt = await call(client, "memory_write", content=f"Rack {number} stands in hall {number}.", kind="fact")
            outcomes.append(receipt["outcome"])

        async with anyio.create_task_group() as tasks:
            for number in range(60):
                tasks.start_soon(write, number)
        return outcomes

    assert with_client(stdio_parameters(tmp_path), story) == ["stored"] * 60


# --- bad input -----------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("memory_search", {}, "query is missing. Call memory_search again with query."),
    ("memory_search", {"query": "  "}, "query"),
    ("memory_search", {"query": "tea", "top_k": -1}, "top_k must be a whole number from 1 to 50, not -1."),
    ("memory_search", {"query": "tea", "top_k": 51}, "top_k must be a whole number from 1 to 50, not 51."),
    ("memory_search", {"query": "tea", "top_k": "5"}, "top_k must be a whole number, not '5'."),
    ("memory_search", {"query": "tea", "top_k": True}, "top_k must be a whole number, not True."),
    ("memory_search", {"query": "tea", "limit": 3}, "memory_search has no argument 'limit'. Use only: query,"),
    ("memory_search", {"query": 7}, "query must be a text, not 7."),
    ("memory_search", {"query": "tea", "scopes": ["everywhere"]}, "is not a scope. Use global, project:NAME"),
    ("memory_search", {"query": "tea", "scopes": [1]}, "scopes must be a list of texts"),
    ("memory_search", {"query": "tea", "kinds": ["wisdom"]}, "Unknown kind 'wisdom'."),
    ("memory_search", {"query": "tea", "as_of": "soon"}, "as_of is not a date: 'soon'."),
    ("memory_search", {"query": "tea", "as_of": "2026-03-01T10:00:00"}, "no time zone"),
    ("memory_search", {"query": "tea", "purpose": "fun"}, "Unknown purpose 'fun'."),
    ("memory_search", {"query": "x" * 20_000}, "query"),
    ("memory_search", {"query": "nul \0 inside"}, "query"),
    ("memory_write", {"content": ""}, ""),
    ("memory_write", {"content": "The user likes tea.", "kind": "prefernce"}, "Did you mean preference?"),
    ("memory_write", {"content": "The user likes tea.", "expires_at": "2026-13-01"}, "expires_at is not a date"),
    ("memory_write", {"content": "The user likes tea.", "happened_at": "2026-03-01T10:00"}, "no time zone"),
    ("memory_write", {"content": "The user likes tea.", "confidence": 2}, "confidence must be a number from 0 to 1"),
    ("memory_write", {"content": "The user likes tea.", "structured": "{}"}, "structured must be an object"),
    ("memory_write", {"content": "The user likes tea.", "source": "god"}, "Unknown source 'god'."),
    ("memory_write", {"content": "nul \0 inside"}, "content"),
    ("memory_write", {"content": "The user likes tea.", "space": "other"}, "no argument 'space'"),
    ("memory_update", {"memory_id": "01958000-0000-7000-8000-000000000001"}, "Nothing to change was given."),
    ("memory_update", {"memory_id": "01958000-0000-7000-8000-000000000001", "verdict": "bless"}, "Unknown verdict"),
    ("memory_update", {"memory_id": "01958000-0000-7000-8000-000000000001", "verdict": "confirm"}, "no memory"),
    ("memory_forget", {"memory_id": "abc"}, "too short for an id"),
    ("memory_forget", {"memory_id": "01958000-0000-7000-8000-000000000001", "erase": "yes"}, "erase must be true or"),
    ("memory_explain", {"memory_id": "01958000-0000-7000-8000-000000000001"}, "Search for it"),
    ("memory_summarize", {"budget_tokens": 1}, "budget_tokens must be a whole number from 20 to 20000"),
    ("memory_summarize", {"since": "yesterday-ish"}, "since is not a date"),
    ("task_start", {}, "goal is missing"),
    ("task_start", {"goal": "Deploy", "environment": "linux"}, "environment must be an object"),
    ("task_start", {"goal": "nul \0 inside"}, "goal"),
    ("task_step", {"action": "bash"}, "No task is open"),
    ("task_step", {"steps": "bash"}, "steps must be a list of objects"),
    ("task_step", {"steps": ["bash"]}, "steps must be a list of objects"),
    ("task_step", {"steps": [{"action": "bash"}], "action": "bash"}, "were both given"),
    ("task_step", {"action": "bash", "task_id": "01958000-0000-7000-8000-000000000001"}, "There is no task"),
    ("task_finish", {"outcome": "so-so"}, "Unknown outcome"),
    ("task_finish", {"used": "abc", "task_id": "nonesuch"}, "There is no task"),
]


@pytest.mark.parametrize(("tool", "arguments", "told"), BAD)
def test_bad_input_is_an_error_that_says_what_to_do(
    tool: str, arguments: dict[str, Any], told: str, pipe: Pipe
) -> None:
    result = pipe.call(1, tool, **arguments)
    text = result["content"][0]["text"]
    values = result["structuredContent"]
    if not result["isError"]:
        assert arguments == {"content": ""} and values["outcome"] == "rejected"
        return
    assert told in text
    assert values["error"]["code"] in ("invalid_input", "not_found")
    assert text.startswith(values["error"]["message"])


def test_null_means_not_given(pipe: Pipe) -> None:
    result = pipe.call(1, "memory_search", query="tea", scopes=None, top_k=None, as_of=None)
    assert not result["isError"]


def test_an_unknown_tool_is_a_protocol_error_that_names_the_tools(tmp_path: Path) -> None:
    async def story(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("memory_dream", {})
        return str(caught.value)

    message = with_client(stdio_parameters(tmp_path), story)
    assert "memory_dream" in message and all(name in message for name in BY_NAME)


def test_a_store_that_cannot_be_opened_fails_the_calls_with_the_reason_and_not_the_server(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"This is no database, and it is long enough to be looked at. " * 100)
    with Pipe(tmp_path) as server:
        server.initialize()
        for id in (1, 2):
            result = server.call(id, "memory_search", query="tea")
            assert result["isError"]
            assert result["structuredContent"]["error"]["code"] == "storage_error"
        (tmp_path / "memory.db").unlink()
        assert not server.call(3, "memory_search", query="tea")["isError"]


# --- time ----------------------------------------------------------------------------------------


def test_initialize_is_answered_before_the_embedder_is_loaded(tmp_path: Path) -> None:
    began = time.monotonic()
    with Pipe(tmp_path, AFTERWIT_EMBEDDER="use") as server:
        server.initialize()
        assert time.monotonic() - began < 10
        assert not server.call(1, "memory_search", query="tea")["isError"]
