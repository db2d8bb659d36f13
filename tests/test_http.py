"""MCP over streamable HTTP, in the real server process."""

import asyncio
import contextlib
import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from afterwit import __version__
from afterwit.errors import ConfigError
from afterwit.serve.http import is_loopback, read_api_key
from afterwit.serve.tools import TOOLS
from doors import PATIENCE_S, SERVE, call, environment, http_server, with_client

KEY = "correct-horse-battery-staple"
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with http_server(tmp_path_factory.mktemp("memory")) as base:
        yield base


def fetch(url: str, body: bytes | None = None, **headers: str) -> tuple[int, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    asked = urllib.request.Request(url, data=body, headers=(JSON if body is not None else {}) | named)  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
        with contextlib.suppress(ValueError):
            return error.code, json.loads(text)
        return error.code, text.decode()


def test_health_says_ok_and_the_version(url: str) -> None:
    assert fetch(f"{url}/health") == (200, {"status": "ok", "version": __version__})
    assert fetch(f"{url}/health", b"{}")[0] == 405
    assert fetch(f"{url}/nowhere")[0] == 404


async def _story(client: Client) -> None:
    stored = await call(client, "memory_write", content="The user prefers green tea.", source="user")
    chinese = await call(client, "memory_write", content="用户对花生过敏。", source="user")
    found = await call(client, "memory_search", query="Which tea does the user prefer?")
    assert found["hits"][0]["id"] == stored["id"]
    assert (await call(client, "memory_search", query="用户对什么过敏？"))["hits"][0]["id"] == chinese["id"]
    for id in (stored["id"], chinese["id"]):
        await call(client, "memory_forget", memory_id=id, erase=True)
    assert (await call(client, "memory_search", query="Which tea does the user prefer?"))["hits"] == []


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_verbs_work_over_http_in_old_and_new_protocol(mode: str, url: str) -> None:
    with_client(f"{url}/mcp", _story, mode=mode)


def test_answers_are_plain_json_and_need_no_session(url: str) -> None:
    status, answer = fetch(f"{url}/mcp", LIST)
    assert status == 200
    assert [tool["name"] for tool in answer["result"]["tools"]][:2] == ["memory_write", "memory_search"]


def test_a_bad_argument_is_an_error_result_and_not_a_crash(url: str) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "tea", "top_k": 51}},
        }
    ).encode()
    status, answer = fetch(f"{url}/mcp", body)
    assert status == 200 and answer["result"]["isError"]
    assert answer["result"]["structuredContent"]["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"not json", 400), (b"\xff\xfe", 400), (b"[]", 400), (b"", 400), (b"{" + b" " * 300_000 + b"}", 413)],
)
def test_broken_and_huge_bodies_are_refused(body: bytes, status: int, url: str) -> None:
    assert fetch(f"{url}/mcp", body)[0] == status
    assert fetch(f"{url}/health")[0] == 200


def test_a_body_of_unknown_length_is_cut_off_at_the_limit(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain:
        plain.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        with contextlib.suppress(ConnectionError):
            for _ in range(40):
                plain.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        assert b"413" in plain.recv(64)


@pytest.mark.parametrize("path", ["/mcp", "/health", "/nowhere"])
def test_a_foreign_host_or_origin_is_refused_on_every_route(path: str, url: str) -> None:
    body = LIST if path == "/mcp" else None
    for headers in (
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "[::1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Origin": "http://localhost@evil.example"},
    ):
        status, answer = fetch(url + path, body, **headers)
        assert status in (400, 403), headers
        assert answer["error"]["code"] in ("invalid_input", "forbidden")


def test_own_names_and_origins_are_accepted(url: str) -> None:
    port = url.rsplit(":", 1)[1]
    for headers in (
        {"Host": f"localhost:{port}"},
        {"Host": "localhost"},
        {"Host": f"[::1]:{port}"},
        {"Origin": f"http://localhost:{port}"},
        {"Origin": url},
    ):
        assert fetch(f"{url}/mcp", LIST, **headers)[0] == 200, headers


def test_with_a_key_only_health_is_open(tmp_path: Path) -> None:
    with http_server(tmp_path, AFTERWIT_API_KEY=KEY) as url:
        assert fetch(f"{url}/health")[0] == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}, {"Authorization": "Basic x"}):
            status, answer = fetch(f"{url}/mcp", LIST, **headers)
            assert (status, answer["error"]["code"]) == (401, "unauthenticated")
        assert fetch(f"{url}/mcp", LIST, Authorization=f"Bearer {KEY}ä".encode().decode("latin-1"))[0] == 401
        assert fetch(f"{url}/mcp", LIST, Authorization=f"Bearer {KEY}")[0] == 200
        assert fetch(f"{url}/mcp", LIST, Authorization=f"bearer {KEY}")[0] == 200


def test_the_clients_own_authorization_reaches_the_tools(tmp_path: Path) -> None:
    import httpx2  # noqa: PLC0415  the SDK's own HTTP client

    async def main(url: str) -> int:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as plain,
            Client(streamable_http_client(f"{url}/mcp", http_client=plain)) as client,
        ):
            return len((await client.list_tools()).tools)

    with http_server(tmp_path, AFTERWIT_API_KEY=KEY) as url:
        assert anyio.run(main, url) == len(TOOLS)


def test_another_address_needs_a_key(tmp_path: Path) -> None:
    done = subprocess.run(
        [*SERVE, "--host", "0.0.0.0"],  # noqa: S104
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 9
    assert "AFTERWIT_API_KEY" in done.stderr and "Traceback" not in done.stderr


def test_on_a_public_address_the_key_is_the_guard(tmp_path: Path) -> None:
    with http_server(tmp_path, "--host", "0.0.0.0", AFTERWIT_API_KEY=KEY) as url:  # noqa: S104
        local = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        assert fetch(f"{local}/mcp", LIST, Host="memory.example")[0] == 401
        assert fetch(f"{local}/mcp", LIST, Host="memory.example", Authorization=f"Bearer {KEY}")[0] == 200
        foreign = {"Host": "memory.example", "Origin": "https://evil.example", "Authorization": f"Bearer {KEY}"}
        assert fetch(f"{local}/mcp", LIST, **foreign)[0] == 403


def test_a_key_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 16"):
        read_api_key("127.0.0.1", {"AFTERWIT_API_KEY": "secret"})
    with pytest.raises(ConfigError, match="no API key"):
        read_api_key("0.0.0.0", {"AFTERWIT_API_KEY": " "})  # noqa: S104
    assert read_api_key("127.0.0.1", {}) == ""
    assert read_api_key("192.168.1.5", {"AFTERWIT_API_KEY": KEY}) == KEY


def test_loopback_addresses_are_told_from_others() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "")))  # noqa: S104


def test_a_taken_port_is_a_clear_error(tmp_path: Path) -> None:
    with http_server(tmp_path / "one") as url:
        done = subprocess.run(
            [*SERVE[:-1], url.rsplit(":", 1)[1]],
            env=environment(tmp_path / "two"),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 9
    assert "Cannot listen on 127.0.0.1" in done.stderr and "Traceback" not in done.stderr


def test_a_client_that_hangs_up_mid_call_does_no_harm(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_write", "arguments": {"content": "The user likes jazz music."}},
        }
    ).encode()
    for _ in range(10):
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain:
            plain.sendall(
                f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
                f"Accept: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
    assert fetch(f"{url}/mcp", LIST)[0] == 200


def test_clients_at_once_are_all_served(url: str) -> None:
    async def story(number: int) -> str:
        async with Client(f"{url}/mcp") as client:
            content = f"Rack {number} stands in hall {number}."
            return (await call(client, "memory_write", content=content, kind="fact"))["outcome"]

    async def main() -> list[str]:
        return list(await asyncio.gather(*(story(number) for number in range(12))))

    assert anyio.run(main) == ["stored"] * 12
