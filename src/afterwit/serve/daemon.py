"""The daemon behind the fast door: one process per data directory that serves every agent's session.

It is started by whoever finds none, listens on a local socket, shares one model and one open store among all
visitors, and leaves by itself when nobody has been there for a while. A newer Afterwit that knocks makes it stop
listening; it ends when its last visitor has gone.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.abc
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage

from afterwit import __version__
from afterwit.config import Settings, load_settings
from afterwit.door import ALREADY_THERE, ANSWER_S, IDLE_VARIABLE, MAX_LINE, Place, try_lock
from afterwit.errors import AfterwitError
from afterwit.serve.calls import Opening
from afterwit.serve.hooks import Hooked, attempt
from afterwit.serve.mcp import LAST_ANSWERS_S, answering_all, build_server, open_for_agents

if TYPE_CHECKING:
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)

#: How long a daemon stays without a visitor, in seconds, unless the environment says otherwise.
IDLE_S = 900.0
#: Most bytes of one message from a client.
MAX_MESSAGE = 16 * 1024 * 1024
#: Clients whose sessions are known by name, at most.
MAX_NAMED = 1000
#: How long a client that has closed its connection may still tell of its session's end, or come back, in seconds.
LEAVING_S = 3.0


@dataclass(frozen=True)
class Visit:
    """The first line of whoever knocks."""

    version: str
    want: str
    settings: Settings
    token: str
    #: processes above the one that knocks, nearest first
    parents: tuple[int, ...] = ()
    #: what is told with a hook: "event", "client"
    hook: Mapping[str, str] = field(default_factory=dict[str, str])


class Daemon:
    """Serves visitors until nobody comes any more.

    Args:
        place: where it is found.
        lock: descriptor of its lock, which is let go as soon as it listens no more, for visitors may stay long.
        idle_s: how long it stays without a visitor, in seconds.
    """

    def __init__(self, place: Place, *, lock: int, idle_s: float = IDLE_S) -> None:
        self._place = place
        self._lock = lock
        self._idle_s = idle_s
        self._token = secrets.token_urlsafe(24) if not place.socket else ""
        self._openings: dict[Settings, Opening] = {}
        #: MCP sessions by the process of their client, and the names that hooks of such processes gave
        self._sessions: dict[int, list[_Session]] = {}
        self._named: dict[int, str] = {}
        #: sessions whose end nobody has told yet, and what is to be done when their client goes
        self._unended: dict[str, Callable[[], None]] = {}
        self._visitors = 0
        self._left_at = 0.0
        self._closing = False

    async def run(self) -> None:
        """Listen, serve, and return when it is time to leave."""
        listener = await self._listen()
        self._left_at = anyio.current_time()
        try:
            async with anyio.create_task_group() as tasks, listener:
                self._tasks = tasks
                tasks.start_soon(self._serve, listener)
                await self._until_unneeded()
                self._unlist()
                tasks.cancel_scope.cancel()
        finally:
            self._unlist()
            for opening in self._openings.values():
                opening.close()

    async def _listen(self) -> anyio.abc.Listener[anyio.abc.SocketStream]:
        if self._place.socket:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._place.socket)  # noqa: PTH108  left by one that was killed
            return await anyio.create_unix_listener(self._place.socket, mode=0o600)
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  not that one
        address = json.dumps({"port": port, "token": self._token, "pid": os.getpid()})
        descriptor = os.open(self._place.address, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(address)
        return cast("anyio.abc.Listener[anyio.abc.SocketStream]", listener)

    def _unlist(self) -> None:
        """Let the next one that knocks start another daemon."""
        if not self._closing:
            self._closing = True
            with contextlib.suppress(OSError):
                os.unlink(self._place.socket or self._place.address)  # noqa: PTH108
            os.close(self._lock)

    async def _serve(self, listener: anyio.abc.Listener[anyio.abc.SocketStream]) -> None:
        await listener.serve(self._receive)

    async def _until_unneeded(self) -> None:
        while True:
            await anyio.sleep(min(1.0, self._idle_s / 4))
            alone = anyio.current_time() - self._left_at
            if not self._visitors and (self._closing or alone >= self._idle_s):
                return
            if not os.path.isdir(self._place.data_dir):  # noqa: PTH112
                _log.warning("The data directory has gone; leaving.")
                return

    async def _receive(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                await self._let_in(stream)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, TimeoutError):
                pass  # they left
            except Exception:  # noqa: BLE001  one visitor's trouble is not the others'
                _log.exception("A visit failed")

    async def _let_in(self, stream: anyio.abc.SocketStream) -> None:
        lines = _Lines(stream)
        with anyio.fail_after(ANSWER_S):
            first = await lines.next(MAX_LINE)
        try:
            visit = _read_visit(first)
        except (ValueError, AfterwitError) as error:
            await _say(stream, {"ok": False, "why": "malformed", "message": str(error)})
            return
        if not hmac.compare_digest(visit.token, self._token):
            await _say(stream, {"ok": False, "why": "token", "message": "The token is wrong."})
        elif visit.want == "stop" or visit.version != __version__ or self._closing:
            self._unlist()
            await _say(stream, {"ok": visit.want == "stop", "why": "version", "message": "This daemon leaves."})
        elif visit.want == "status":
            await _say(stream, {"ok": True, "pid": os.getpid(), "version": __version__, "visitors": self._visitors})
        elif visit.want == "hook":
            async with self._visitor():
                await _say(stream, {"ok": True})
                await self._serve_hook(lines, stream, visit)
        elif visit.want == "mcp":
            async with self._visitor():
                await _say(stream, {"ok": True})
                await self._serve_mcp(lines, stream, visit)
        else:
            await _say(stream, {"ok": False, "why": "unknown", "message": f"Nobody here does {visit.want!r}."})

    @asynccontextmanager
    async def _visitor(self) -> AsyncGenerator[None]:
        """Somebody for whom the daemon stays."""
        self._visitors += 1
        try:
            yield
        finally:
            self._visitors -= 1
            self._left_at = anyio.current_time()

    async def _serve_mcp(self, lines: "_Lines", stream: anyio.abc.SocketStream, visit: Visit) -> None:
        opening = self._opening(visit.settings)
        session = _Session(opening, self._session_of(visit))
        client = visit.parents[0] if visit.parents else 0
        self._sessions.setdefault(client, []).append(session)
        try:
            await self._serve_session(session, lines, stream)
        finally:
            self._sessions[client].remove(session)
            if session.name in self._unended:
                self._tasks.start_soon(self._see_off, client, session.name)

    async def _see_off(self, client: int, session: str) -> None:
        """Do what is to be done at a session's end when its client goes without telling of it: some never do."""
        async with self._visitor():
            await anyio.sleep(LEAVING_S)
            if not self._sessions[client] and (end := self._unended.pop(session, None)) is not None:
                await anyio.to_thread.run_sync(end)

    def _session_of(self, visit: Visit) -> str:
        """The name that a client's hooks gave its session, "" when none came yet."""
        return self._named.get(visit.parents[0], "") if visit.parents else ""

    async def _serve_hook(self, lines: "_Lines", stream: anyio.abc.SocketStream, visit: Visit) -> None:
        """Answer an event of a client, then do in the background what it asks for."""
        given = await lines.rest(MAX_MESSAGE)
        get = self._opening(visit.settings).get
        told = {name: visit.hook.get(name, "") for name in ("event", "client")}
        answered = await anyio.to_thread.run_sync(partial(attempt, get, given, **told))
        if answered.output:
            await stream.send(json.dumps(answered.output, ensure_ascii=False).encode() + b"\n")
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.aclose()
        if answered.session and visit.parents:
            self._name(visit, answered.session)
        self._note_end(answered)
        if answered.later is not None:
            await anyio.to_thread.run_sync(answered.later)

    def _note_end(self, hooked: Hooked) -> None:
        """Know of a session whether its end is still to be told."""
        self._unended.pop(hooked.session, None)
        if hooked.session and hooked.on_leaving is not None:
            while len(self._unended) >= MAX_NAMED:
                del self._unended[next(iter(self._unended))]
            self._unended[hooked.session] = hooked.on_leaving

    def _name(self, visit: Visit, session: str) -> None:
        """Let the MCP connections of the client that sent a hook be of the session that it names: what an agent
        learns and what proves it must not pass for two sessions."""
        # A client starts its MCP servers itself, and its hooks itself or through a shell.
        for client in visit.parents[:2]:
            while len(self._named) >= MAX_NAMED:
                del self._named[next(iter(self._named))]
            self._named[client] = session
            for other in self._sessions.get(client, ()):
                other.take(session)

    async def _serve_session(self, session: "_Session", lines: "_Lines", stream: anyio.abc.SocketStream) -> None:
        opening = session.opening
        server = build_server(session.service)
        async with _messages(lines, stream) as (incoming, outgoing):
            streams = answering_all(incoming, outgoing, on_first_answer=opening.start)
            async with streams as (reads, writes):
                await server.run(reads, writes, server.create_initialization_options())

    def _opening(self, settings: Settings) -> Opening:
        """The service of these settings, shared by all who have the same."""
        if settings not in self._openings:
            self._openings[settings] = Opening(partial(open_for_agents, settings), upkeep=True)
        return self._openings[settings]


class _Session:
    """One visitor's view of a shared service: a writer with a session of its own."""

    def __init__(self, opening: Opening, name: str) -> None:
        self.opening = opening
        self.name = name
        self._service: Afterwit | None = None

    def take(self, name: str) -> None:
        """Take the name that the client's hooks give the session."""
        if name != self.name:
            self.name, self._service = name, None

    def service(self) -> "Afterwit":
        """The open service, as this visitor writes to it.

        Raises:
            AfterwitError: it cannot be opened.
        """
        service = self._service
        if service is None:
            shared = self.opening.get()
            service = self._service = shared.as_writer(replace(shared.writer, session=self.name))
        return service


class _Lines:
    """Lines of a byte stream."""

    def __init__(self, stream: anyio.abc.ByteReceiveStream) -> None:
        self._stream = stream
        self._rest = bytearray()

    async def next(self, most: int) -> bytes:
        """The next line, without its end.

        Raises:
            EndOfStream: there is none.
            ValueError: it is longer than `most` bytes.
        """
        start = 0
        while (end := self._rest.find(b"\n", start)) < 0:
            if len(self._rest) > most:
                raise ValueError(f"a line is longer than {most} bytes")
            start = len(self._rest)
            try:
                self._rest += await self._stream.receive()
            except anyio.EndOfStream:
                if not self._rest:
                    raise
                self._rest += b"\n"
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def rest(self, most: int) -> bytes:
        """All that is left.

        Raises:
            ValueError: it is more than `most` bytes.
        """
        with contextlib.suppress(anyio.EndOfStream):
            while len(self._rest) <= most:
                self._rest += await self._stream.receive()
        if len(self._rest) > most:
            raise ValueError(f"more than {most} bytes")
        return bytes(self._rest)


async def _say(stream: anyio.abc.SocketStream, answer: Mapping[str, Any]) -> None:
    await stream.send(json.dumps(answer).encode() + b"\n")


def _read_visit(line: bytes) -> Visit:
    """The first line.

    Raises:
        ValueError: it is no such line.
        ConfigError: a setting is wrong.
    """
    told: Any = json.loads(line)
    environ, options = told["environ"], told["options"]
    for name, value in environ.items():
        # Keys of providers are read from the environment when they are needed.
        if not name.startswith("AFTERWIT_"):
            os.environ.setdefault(str(name), str(value))
    return Visit(
        version=str(told["version"]),
        want=str(told["want"]),
        settings=load_settings(environ=environ, overrides=options),
        token=str(told.get("token", "")),
        parents=tuple(int(pid) for pid in told.get("parents", ())),
        hook={str(name): str(value) for name, value in told.get("hook", {}).items()},
    )


@asynccontextmanager
async def _messages(lines: _Lines, stream: anyio.abc.SocketStream) -> AsyncGenerator[tuple[Any, Any]]:
    """The SDK's streams of messages over lines of JSON."""
    to_sdk, reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writes, from_sdk = anyio.create_memory_object_stream[SessionMessage](0)

    async def relay_in() -> None:
        async with to_sdk:
            while True:
                try:
                    line = await lines.next(MAX_MESSAGE)
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError):
                    return
                if not line.strip():
                    continue
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line.decode(errors="replace"), by_name=False)
                except ValueError as error:
                    await to_sdk.send(error)
                else:
                    await to_sdk.send(SessionMessage(message))

    async def relay_out() -> None:
        async with from_sdk:
            async for item in from_sdk:
                told = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stream.send(told.encode() + b"\n")

    sent = anyio.Event()

    async def send_all() -> None:
        try:
            await relay_out()
        finally:
            sent.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay_in)
        tasks.start_soon(send_all)
        yield reads, writes
        with anyio.move_on_after(LAST_ANSWERS_S):
            await sent.wait()
        tasks.cancel_scope.cancel()


def run_daemon(place: Place) -> int:
    """Be the daemon of a data directory until nobody needs it.

    Returns:
        Exit status: 0 when it left by itself, 3 when there is one already.
    """
    held = try_lock(place.lock)
    if held is None:
        return ALREADY_THERE
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("mcp").setLevel(logging.WARNING)
    signal.signal(signal.SIGTERM, _stop)
    daemon = Daemon(place, lock=held, idle_s=float(os.environ.get(IDLE_VARIABLE) or IDLE_S))
    _log.info("Afterwit %s serves %s (process %s)", __version__, place.data_dir, os.getpid())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(daemon.run())
    _log.info("Nobody has been here for a while; leaving.")
    return 0


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
