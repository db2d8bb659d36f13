"""The daemon behind the fast door: one process per data directory that serves every agent's session.

It is started by whoever finds none, listens on a local socket, shares one model and one open store among all
visitors, and leaves by itself when nobody has been there for a while. A newer Afterwit that knocks makes it stop
listening; it ends when its last visitor has gone. `afterwit serve` is the same daemon with a door on HTTP, which
stays until somebody ends it (`serve.http`).

What a visitor needs is imported when the first one needs it: a hook never waits for the MCP SDK.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import os
import re
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
import anyio.abc
import anyio.to_thread

from afterwit import __version__
from afterwit.config import Settings, load_settings
from afterwit.door import ALREADY_THERE, ANSWER_S, IDLE_VARIABLE, MAX_LINE, NoDaemon, Place, try_lock
from afterwit.errors import AfterwitError
from afterwit.serve.lines import Lines
from afterwit.serve.opening import Opening, open_for_agents

if TYPE_CHECKING:
    from afterwit.serve.hooks import Hooked
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
#: Longest wait, in seconds, for visitors who are answered when the daemon is told to end.
ENDING_S = 15.0


@dataclass(frozen=True)
class Visit:
    """The first line of whoever knocks."""

    version: str
    want: str
    settings: Settings
    #: process of the client; 0 = none
    client: int = 0
    #: what is told with a hook: "event", "client"
    hook: Mapping[str, str] = field(default_factory=dict[str, str])


class Daemon:
    """Serves visitors until nobody comes any more, or until it is told to end.

    Args:
        place: where it is found.
        lock: descriptor of its lock, which is let go as soon as it listens no more, for visitors may stay long.
        idle_s: how long it stays without a visitor, in seconds; None = until it is told to end, whatever version
            knocks.
    """

    def __init__(self, place: Place, *, lock: int, idle_s: float | None = IDLE_S) -> None:
        self._place = place
        self._lock = lock
        self._idle_s = idle_s
        #: what else it answers when it is asked how it is: where it listens
        self.about: dict[str, Any] = {}
        self._token = secrets.token_urlsafe(24) if not place.socket else ""
        self._openings: dict[Settings, Opening] = {}
        #: MCP sessions by the process of their client, and the names that hooks of such processes gave
        self._sessions: dict[int, list[_Session]] = {}
        self._named: dict[int, str] = {}
        #: sessions whose end nobody has told yet: the process of their client, and what is to be done when it goes
        self._unended: dict[str, tuple[int, Callable[[], None]]] = {}
        self._leaving: set[str] = set()
        self._visitors = 0
        self._left_at = 0.0
        self._closing = False
        self._ending = anyio.Event()
        #: waits for a client's next words
        self._reading: set[anyio.CancelScope] = set()

    @property
    def kind(self) -> Literal["background", "serve"]:
        """Whether it comes and goes by itself, or stays until somebody ends it."""
        return "serve" if self._idle_s is None else "background"

    async def run(self) -> None:
        """Listen, serve, and return when it is time to leave: all visitors have their answers then."""
        listener = await self._listen()
        self._left_at = anyio.current_time()
        try:
            async with listener, anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._serve, listener)
                await self._until_unneeded()
                self._unlist()
                self.end()
                with anyio.move_on_after(ENDING_S):
                    while self._visitors:
                        await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()
        finally:
            self._unlist()
            self.end()

    def end(self) -> None:
        """Listen to nobody any more: what has been asked is answered, then `run` returns."""
        self._ending.set()
        for scope in list(self._reading):
            scope.cancel()

    async def ended(self) -> None:
        """Wait until it is told to end, or ends by itself."""
        await self._ending.wait()

    def close(self) -> None:
        """Stop what runs in the background and close the stores, when nobody is served any more."""
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
        idle_s = float("inf") if self._idle_s is None else self._idle_s
        while not self._ending.is_set():
            with anyio.move_on_after(min(1.0, idle_s / 4)):
                await self._ending.wait()
            self._look_for_the_gone()
            alone = anyio.current_time() - self._left_at
            if not self._visitors and (self._closing or alone >= idle_s):
                _log.info("Nobody is here any more; leaving.")
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
        lines = Lines(stream)
        with anyio.fail_after(ANSWER_S):
            first = await lines.next(MAX_LINE)
        try:
            told: Any = json.loads(first)
            if not hmac.compare_digest(str(told.get("token", "")).encode(), self._token.encode()):
                await _say(stream, {"ok": False, "why": "token", "message": "The token is wrong."})
                return
            visit = _read_visit(told, self._place)
        except (ValueError, TypeError, LookupError, AttributeError, AfterwitError) as error:
            await _say(stream, {"ok": False, "why": "malformed", "message": str(error)})
            return
        if (refusal := self._refusal(visit)) is not None:
            await _say(stream, refusal)
        elif visit.want == "stop":
            self._stop()
            await _say(stream, self._status())
        elif visit.want == "status":
            await _say(stream, self._status())
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

    def _refusal(self, visit: Visit) -> dict[str, Any] | None:
        """What a visitor is told who is not let in; None for one who is."""
        if visit.want in ("stop", "status"):
            return None
        if self._closing or self._ending.is_set():
            return {"ok": False, "why": "version", "message": "This daemon leaves."}
        if visit.version == __version__:
            return None
        if self.kind == "serve" or not _is_newer(visit.version):
            # Somebody has started it, and serves others by it; or two versions would end each other's for ever.
            what = "`afterwit serve`" if self.kind == "serve" else "The daemon"
            message = f"{what} of version {__version__} runs here; start it anew for {visit.version}."
            return {"ok": False, "why": "served", "message": message}
        self._unlist()
        return {"ok": False, "why": "version", "message": "This daemon leaves."}

    def _stop(self) -> None:
        """Leave: a daemon in the background when its last visitor has gone, another one now."""
        self._unlist()
        if self.kind == "serve":
            self.end()

    def _status(self) -> dict[str, Any]:
        told = {"pid": os.getpid(), "version": __version__, "kind": self.kind, "visitors": self._visitors}
        return {"ok": True} | told | self.about

    @asynccontextmanager
    async def _visitor(self) -> AsyncGenerator[None]:
        """Somebody for whom the daemon stays."""
        self._visitors += 1
        try:
            yield
        finally:
            self._visitors -= 1
            self._left_at = anyio.current_time()

    # --- sessions --------------------------------------------------------------------------------

    async def _serve_mcp(self, lines: Lines, stream: anyio.abc.SocketStream, visit: Visit) -> None:
        serve_session = await anyio.to_thread.run_sync(_session_server)
        opening = self.opening(visit.settings)
        session = _Session(opening, self._session_of(visit))
        client = visit.client
        self._sessions.setdefault(client, []).append(session)
        try:
            next_line = partial(self._next_line, lines)
            await serve_session(session.service, next_line, stream, on_first_answer=opening.start)
        finally:
            self._sessions[client].remove(session)
            if not self._sessions[client]:
                del self._sessions[client]
            if session.name in self._unended and not self._ending.is_set():
                self._leave_soon(session.name)

    async def _next_line(self, lines: Lines) -> bytes:
        """What a client says next.

        Raises:
            EndOfStream: it has no more to say, or the daemon ends.
        """
        if not self._ending.is_set():
            with anyio.CancelScope() as scope:
                self._reading.add(scope)
                try:
                    return await lines.next(MAX_MESSAGE)
                finally:
                    self._reading.discard(scope)
        raise anyio.EndOfStream

    async def _see_off(self, session: str) -> None:
        """Do what is to be done at a session's end when its client goes without telling of it: some never do."""
        async with self._visitor():
            with anyio.move_on_after(LEAVING_S):
                await self._ending.wait()
            self._leaving.discard(session)
            client, end = self._unended.get(session, (0, None))
            if end is not None and client not in self._sessions:
                del self._unended[session]
                await anyio.to_thread.run_sync(end)

    def _look_for_the_gone(self) -> None:
        """See off the sessions of clients that have gone without ever having had, or kept, a connection."""
        for session, (client, _) in self._unended.items():
            if client not in self._sessions and _has_gone(client):
                self._leave_soon(session)

    def _leave_soon(self, session: str) -> None:
        if session not in self._leaving:
            self._leaving.add(session)
            self._tasks.start_soon(self._see_off, session)

    def _session_of(self, visit: Visit) -> str:
        """The name that a client's hooks gave its session, "" when none came yet."""
        return self._named.get(visit.client, "") if visit.client else ""

    # --- hooks -----------------------------------------------------------------------------------

    async def _serve_hook(self, lines: Lines, stream: anyio.abc.SocketStream, visit: Visit) -> None:
        """Answer an event of a client, then do in the background what it asks for."""
        given = await lines.rest(MAX_MESSAGE)
        get = self.opening(visit.settings).get
        told = {name: visit.hook.get(name, "") for name in ("event", "client")}
        answered = await anyio.to_thread.run_sync(partial(_answer_hook, get, given, **told))
        # Before the client has its answer: it may be gone right after it.
        if answered.session and visit.client:
            self._name(visit.client, answered.session)
        self._note_end(visit.client, answered)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            if answered.output:
                await stream.send(json.dumps(answered.output, ensure_ascii=False).encode() + b"\n")
            await stream.aclose()
        if answered.later is not None:
            await anyio.to_thread.run_sync(answered.later)
        # Whoever runs hooks starts sessions, too.
        await anyio.to_thread.run_sync(_session_server)

    def _note_end(self, client: int, hooked: "Hooked") -> None:
        """Know of a session whether its end is still to be told."""
        self._unended.pop(hooked.session, None)
        if hooked.session and hooked.on_leaving is not None:
            while len(self._unended) >= MAX_NAMED:
                del self._unended[next(iter(self._unended))]
            self._unended[hooked.session] = client, hooked.on_leaving

    def _name(self, client: int, session: str) -> None:
        """Let the MCP connections of the client that sent a hook be of the session that it names: what an agent
        learns and what proves it must not pass for two sessions."""
        while len(self._named) >= MAX_NAMED:
            del self._named[next(iter(self._named))]
        self._named[client] = session
        for other in self._sessions.get(client, ()):
            other.take(session)

    def opening(self, settings: Settings) -> Opening:
        """The service of these settings, shared by all who have the same."""
        settings = _of_service(settings, self._place)
        if settings not in self._openings:
            self._openings[settings] = Opening(partial(open_for_agents, settings), upkeep=True)
        return self._openings[settings]


def _has_gone(process: int) -> bool:
    """Whether a process is known to have ended."""
    if not process or sys.platform == "win32":  # where asking would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    except OSError:
        return False


def _session_server() -> Callable[..., Any]:
    from afterwit.serve.sessions import serve_session  # noqa: PLC0415  a second and more

    return serve_session


def _answer_hook(get_service: "Callable[[], Afterwit]", given: bytes, *, event: str, client: str) -> "Hooked":
    from afterwit.serve.hooks import attempt  # noqa: PLC0415  brings the text layer along

    return attempt(get_service, given, event=event, client=client)


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


async def _say(stream: anyio.abc.SocketStream, answer: Mapping[str, Any]) -> None:
    await stream.send(json.dumps(answer).encode() + b"\n")


def _is_newer(version: str) -> bool:
    """Whether a version comes after the one that runs here."""
    first, second = ([int(part) for part in re.findall(r"\d+", one)] for one in (version, __version__))
    return first > second


def _read_visit(told: Any, place: Place) -> Visit:
    """The first line, of somebody who may come in.

    Raises:
        LookupError, TypeError, ValueError: it is no such line.
        ConfigError: a setting is wrong.
    """
    environ, options = told["environ"], told["options"]
    for name, value in environ.items():
        # Keys of providers are read from the environment when they are needed; the last one that was told is meant.
        if "_API_KEY" in name and not name.startswith("AFTERWIT_"):
            os.environ[str(name)] = str(value)
    return Visit(
        version=str(told["version"]),
        want=str(told["want"]),
        # Theirs may be a path from where they are; that they have come here says where it leads.
        settings=load_settings(environ=environ, overrides=options | {"data_dir": place.data_dir}),
        client=int(told.get("client", 0)),
        hook={str(name): str(value) for name, value in told.get("hook", {}).items()},
    )


def _of_service(settings: Settings, place: Place) -> Settings:
    """The settings without what makes no difference to a service, so that those who differ in it share one."""
    store = settings.store
    if store == f"sqlite:///{settings.data_dir / 'memory.db'}":
        store = f"sqlite:///{Path(place.data_dir) / 'memory.db'}"
    return replace(settings, data_dir=Path(place.data_dir), store=store, host="", port=0, log_level="")


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Generator[None]:
    """Take SIGINT and SIGTERM as a wish to end; a second one ends the process at once: what was acknowledged is
    committed. To be used where an event loop runs.

    Args:
        end: called in the loop.
    """
    loop = asyncio.get_running_loop()
    wished = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal wished
        if wished:
            os._exit(128 + number)
        wished = True
        loop.call_soon_threadsafe(end)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_daemon(place: Place) -> int:
    """Be the daemon of a data directory until nobody needs it.

    Returns:
        Exit status: 0 when it left by itself or was told to, 1 when it cannot be one, 3 when there is one already.
    """
    try:
        held = try_lock(place.lock)
    except NoDaemon as error:
        sys.stderr.write(f"afterwit: {error}\n")
        return 1
    if held is None:
        return ALREADY_THERE
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("mcp").setLevel(logging.WARNING)
    daemon = Daemon(place, lock=held, idle_s=float(os.environ.get(IDLE_VARIABLE) or IDLE_S))
    _log.info("Afterwit %s serves %s (process %s)", __version__, place.data_dir, os.getpid())

    async def serve() -> None:
        with ended_by_signals(daemon.end):
            await daemon.run()

    try:
        asyncio.run(serve())
    finally:
        daemon.close()
    return 0
