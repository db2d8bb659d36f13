"""Whether a configured server really answers: it is started as its client would start it, and asked for its tools."""

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from afterwit.cli.clients.machine import Machine
from afterwit.version import VERSION

#: Longest wait for a server to start and answer, in seconds.
TIMEOUT_S = 30.0

_INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "afterwit-connections", "version": VERSION},
    },
}
_INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


@dataclass(frozen=True)
class Health:
    """What came of asking a server for its tools."""

    tools: int
    milliseconds: int
    #: why it failed, half a sentence; "" = it did not
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether it answered with tools."""
        return not self.problem


@dataclass(frozen=True)
class Reached:
    """How a client reaches the server, read back from its file."""

    words: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    address: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Reached":
        """From an entry in whichever form."""
        address = next((str(entry[key]) for key in ("httpUrl", "serverUrl", "url") if entry.get(key)), "")
        command = entry.get("command")
        words = [*_texts(command), *_texts(entry.get("args"))] if not address else []
        return cls(
            tuple(words),
            _pairs(entry.get("env") or entry.get("environment")),
            address,
            _pairs(entry.get("headers") or entry.get("http_headers")),
        )

    def command_exists(self, machine: Machine) -> bool:
        """Whether the program is where the client looks for it; true for an address."""
        if not self.words:
            return bool(self.address)
        program = Path(self.words[0])
        return os.access(program, os.X_OK) if program.is_absolute() else machine.has(str(program))


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(each) for each in cast("list[Any]", value or [])]


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    values = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return tuple((name, str(part)) for name, part in values.items())


def check(reached: Reached, machine: Machine, *, timeout_s: float = TIMEOUT_S) -> Health:
    """Ask a server for its tools.

    Args:
        reached: as the client's file has it.
        machine: whose variables the server inherits, without ours: a client does not have them.
        timeout_s: for everything together.
    """
    began = time.monotonic()
    try:
        if reached.address:
            tools = _ask_address(reached, timeout_s)
        else:
            tools = _ask_command(reached, machine, timeout_s)
        problem = "" if tools else "it has no tools"
    except (OSError, ValueError, KeyError, TypeError) as error:
        tools, problem = 0, str(error) or type(error).__name__
    return Health(tools, round((time.monotonic() - began) * 1000), problem)


def _ask_command(reached: Reached, machine: Machine, timeout_s: float) -> int:
    own = {name: value for name, value in machine.environ.items() if not name.startswith("AFTERWIT_")}
    process = subprocess.Popen(  # noqa: S603  the user's own configuration is what is checked
        reached.words,
        env=own | dict(reached.variables),
        cwd=machine.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    ends = time.monotonic() + timeout_s
    try:
        _say(process.stdin, _INITIALIZE)
        _wait_for(1, lines, ends)
        _say(process.stdin, _INITIALIZED)
        _say(process.stdin, _LIST)
        return _count(_wait_for(2, lines, ends))
    finally:
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is process.stdin and stream is not None:
                    stream.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read(stream: IO[bytes] | None, lines: "queue.Queue[bytes]") -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream or ():
            lines.put(line)
    lines.put(b"")


def _say(stream: IO[bytes] | None, message: dict[str, Any]) -> None:
    if stream is not None:
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()


def _wait_for(id: int, lines: "queue.Queue[bytes]", ends: float) -> dict[str, Any]:
    while True:
        try:
            line = lines.get(timeout=max(0.0, ends - time.monotonic()))
        except queue.Empty:
            raise TimeoutError("it did not answer in time") from None
        if not line:
            raise ConnectionError("it ended without an answer")
        message = json.loads(line)
        if isinstance(message, dict) and cast("dict[str, Any]", message).get("id") == id:
            return cast("dict[str, Any]", message)


def _count(message: Mapping[str, Any]) -> int:
    if "error" in message:
        raise ConnectionError(str(message["error"].get("message", "it refused")))
    return len(message["result"]["tools"])


def _ask_address(reached: Reached, timeout_s: float) -> int:
    session = ""
    answers: list[dict[str, Any]] = []
    for message in (_INITIALIZE, _LIST):
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"Mcp-Session-Id": session} if session else {}),
            **dict(reached.headers),
        }
        if not reached.address.startswith(("http://", "https://")):
            raise ConnectionError("the address does not begin with http:// or https://")
        request = urllib.request.Request(reached.address, json.dumps(message).encode(), headers)  # noqa: S310  see above
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310
                session = answer.headers.get("Mcp-Session-Id", session)
                answers.append(_message(answer.read().decode()))
        except urllib.error.HTTPError as error:
            with error:
                raise ConnectionError(f"it answered {error.code} {error.reason}") from None
    return _count(answers[-1])


def _message(body: str) -> dict[str, Any]:
    """The message of an answer, which may come as an event."""
    data = [line[5:] for line in body.splitlines() if line.startswith("data:")]
    return json.loads("\n".join(data) if data else body)
