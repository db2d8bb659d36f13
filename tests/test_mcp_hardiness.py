"""What a broken, hostile or vanishing client can do to the server on its pipes: nothing that lasts."""

import contextlib
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from doors import PATIENCE_S, STDIO, Pipe, environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def request(id: int, tool: str, **arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_lines_that_are_no_messages_are_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        broken: list[tuple[bytes, int, int | str | None]] = [
            (b"this is not JSON", -32700, None),
            (b'{"jsonrpc":"2.0","id":7,"method":', -32700, None),
            (b'\xff\xfe{"jsonrpc":"2.0","id":8,"method":"ping"}', -32700, None),
            (b"[1,2,3]", -32600, None),
            (b'"text"', -32600, None),
            (b'{"jsonrpc":"1.0","id":9,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":10,"method":3}', -32600, 10),
            (b"[" * 100_000, -32700, None),
            (b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"x":"\\ud800"}}', -32700, "a"),
        ]
        for line, code, id in broken:
            server.send(line)
            answer = server.receive()
            assert answer["error"]["code"] == code, line[:60]
            if id is not None:
                assert answer["id"] == id
        assert not server.call(1, "memory_search", query="tea")["isError"]


def test_bytes_that_are_not_utf8_are_refused_and_not_stored_garbled(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        line = json.dumps(request(1, "memory_write", content="The user likes tea from X.", kind="fact")).encode()
        server.send(line.replace(b"X", b"\xc3\x28\xff"))
        result = server.receive()["result"]
        assert result["isError"] and "UTF-8" in result["content"][0]["text"]
        assert server.call(2, "memory_search", query="tea")["structuredContent"]["hits"] == []


def test_a_huge_text_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        result = server.call(1, "memory_write", content="The user likes tea. " * 500_000)
        assert result["isError"] and result["structuredContent"]["error"]["code"] == "invalid_input"
        deep = {"a": 1}
        for _ in range(90):
            deep = {"a": deep}  # type: ignore[dict-item]
        server.call(2, "memory_write", content="The user likes tea.", kind="fact", structured=deep)
        many = server.call(3, "memory_write", content="The user likes tea.", tags=[f"t{n}" for n in range(50_000)])
        assert many["isError"]
        assert not server.call(4, "memory_search", query="tea")["isError"]


def test_requests_out_of_order_are_answered(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        answer = server.ask(1, "tools/call", name="memory_search", arguments={"query": "tea"})
        assert "error" in answer
        server.initialize()
        assert "error" in server.ask(2, "no/such/method")
        assert "error" in server.ask(3, "tools/call", name=5)
        server.send({"jsonrpc": "2.0", "id": 77, "result": {}})
        server.send({"jsonrpc": "2.0", "method": "notifications/no_such"})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}})
        assert not server.call(4, "memory_search", query="tea")["isError"]


def test_a_script_that_pipes_requests_in_gets_every_answer(tmp_path: Path) -> None:
    lines = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [request(n, "memory_write", content=f"Rack {n} stands in hall {n}.", kind="fact") for n in range(1, 11)]
    done = subprocess.run(
        STDIO,
        env=environment(tmp_path),
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(11))
    assert all(answer["result"]["structuredContent"]["outcome"] == "stored" for answer in answers if answer["id"])
    assert done.stderr == ""


def test_the_end_of_input_ends_the_process_soon(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        server.call(1, "memory_search", query="tea")
        began = time.monotonic()
        assert server.end_input() == 0
        assert time.monotonic() - began < 5
        assert b"Traceback" not in b"".join(server.errors)


def test_input_that_ends_at_once_ends_the_process_quietly(tmp_path: Path) -> None:
    done = subprocess.run(
        STDIO, env=environment(tmp_path), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_at_once_and_quietly(number: signal.Signals, tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        server.call(1, "memory_write", content="The user likes green tea.")
        began = time.monotonic()
        server.process.send_signal(number)
        assert server.wait() == 0
        assert time.monotonic() - began < 5
        assert server.errors == []
    with Pipe(tmp_path) as server:
        server.initialize()
        assert server.call(1, "memory_search", query="green tea")["structuredContent"]["hits"]


def test_a_client_that_stops_listening_does_no_harm(tmp_path: Path) -> None:
    lines = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [request(n, "memory_write", content=f"Rack {n} stands in hall {n}.", kind="fact") for n in range(1, 4)]
    with subprocess.Popen(
        STDIO,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        process.stdin.flush()
        assert process.wait(timeout=PATIENCE_S) == 0
        assert process.stderr.read() == b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    with Pipe(tmp_path) as server:
        server.initialize()
        assert not server.call(1, "memory_search", query="rack")["isError"]


def test_a_cancelled_call_leaves_the_server_working(tmp_path: Path) -> None:
    with Pipe(tmp_path) as server:
        server.initialize()
        for id in range(1, 20):
            server.send(request(id, "memory_write", content=f"Rack {id} stands in hall {id}.", kind="fact"))
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        server.send(request(100, "memory_search", query="rack"))
        while server.receive()["id"] != 100:
            pass
        assert server.end_input() == 0


def test_kill_nine_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}
    for round in range(5):
        with Pipe(tmp_path) as server:
            server.initialize()
            for number in range(8):
                content = f"Rack {round}-{number} stands in hall {number}."
                receipt = server.call(number + 1, "memory_write", content=content, kind="fact")["structuredContent"]
                acknowledged[receipt["id"]] = content
            server.send(request(99, "memory_write", content=f"Rack {round}-x stands in hall 9.", kind="fact"))
            server.process.kill()
            server.wait()
    with Pipe(tmp_path) as server:
        server.initialize()
        for id, content in acknowledged.items():
            story = server.call(1, "memory_explain", memory_id=id)["structuredContent"]
            assert story["memory"]["summary"] == content
            assert story["memory"]["status"] == "active"
