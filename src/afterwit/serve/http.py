"""`afterwit serve`: the daemon of a data directory in the foreground, with MCP over streamable HTTP at /mcp, and
/health.

Listens on the loopback interface. Another address is refused unless the environment variable
`AFTERWIT_API_KEY` holds a key, which every client then sends as `Authorization: Bearer KEY`; the
key is no setting, so that it never lies in a file beside them. Host and Origin are checked on every
route, so that a web page cannot reach the server by a name of its own (DNS rebinding).
"""

import asyncio
import hmac
import ipaddress
import os
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from afterwit import __version__, door
from afterwit.config import Settings
from afterwit.errors import AfterwitError, ConfigError, Forbidden, InvalidInput, Sentence, StorageError, Unauthenticated
from afterwit.serve.daemon import Daemon, ended_by_signals
from afterwit.serve.mcp import build_server
from afterwit.serve.opening import log_to_stderr
from afterwit.serve.wire import answer_of, error_json

if TYPE_CHECKING:
    from afterwit.service import Afterwit

#: Environment variable with the key that clients must send.
API_KEY_VARIABLE = "AFTERWIT_API_KEY"

#: Shortest key that is accepted, in characters: shorter ones can be guessed.
MIN_KEY_CHARS = 16

#: Most bytes of a request's body.
MAX_BODY_BYTES = 256 * 1024

#: Longest wait, in seconds, for requests that are under way when the server is told to stop.
SHUTDOWN_S = 5

#: Paths that need no key.
OPEN_PATHS = frozenset({"/health"})


def read_api_key(host: str, environ: Mapping[str, str] | None = None) -> str:
    """The key that clients must send; "" = none is needed, on the loopback interface only.

    Args:
        host: address to listen on.
        environ: environment variables; None = those of the process.

    Raises:
        ConfigError: the key is too short, or missing for an address that others can reach.
    """
    key = (os.environ if environ is None else environ).get(API_KEY_VARIABLE, "").strip()
    if key and (len(key) < MIN_KEY_CHARS or not key.isascii()):
        raise ConfigError(
            Sentence(
                "{variable} must be at least {least} ASCII characters.", variable=API_KEY_VARIABLE, least=MIN_KEY_CHARS
            ),
            next_step='Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    if not key and not is_loopback(host):
        raise ConfigError(
            Sentence("{host} can be reached by others, and no API key is set.", host=host),
            next_step=Sentence("Set {variable}, or listen on 127.0.0.1.", variable=API_KEY_VARIABLE),
        )
    return key


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def build_http_app(service: "Afterwit", settings: Settings, *, api_key: str | None = None) -> Starlette:
    """The ASGI application around an open service, which it does not close.

    Args:
        service: shared by all requests.
        settings: `host` decides which Host and Origin headers are accepted.
        api_key: key that clients must send; "" = none; None = read it from the environment.

    Raises:
        ConfigError: no key for an address that others can reach.
    """
    key = read_api_key(settings.host) if api_key is None else api_key
    app = build_server(lambda: service).streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        # The guard checks the same on every route, and knows addresses that are not loopback.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=[Route("/health", _health, methods=["GET"])],
    )
    app.add_middleware(_Guard, host=settings.host, api_key=key)
    return app


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


class _Guard:
    """Lets a request through when its Host, Origin and key are right."""

    def __init__(self, app: ASGIApp, *, host: str, api_key: str) -> None:
        self._app = app
        self._host = host
        self._key = api_key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope["path"], Headers(scope=scope))
        except AfterwitError as error:
            headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else None
            refusal = JSONResponse(error_json(error), status_code=answer_of(error).http, headers=headers)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise InvalidInput("The Host header does not name this server.", next_step="Use the address it listens on.")
        origin = headers.get("origin", "")
        if origin and not self._is_own_origin(origin, host):
            raise Forbidden(
                "Requests from other web pages are refused.", next_step="Call from a program, not from a web page."
            )
        if self._key and path not in OPEN_PATHS:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._key):
                raise Unauthenticated(
                    "A valid API key is needed.", next_step="Send it in the header Authorization: Bearer KEY."
                )

    def _is_ours(self, host: str) -> bool:
        """Any name will do on a public wildcard address, where the key, unknown to web pages, is the guard."""
        name = _name_of(host)
        if not name:
            return False
        return is_loopback(name) or name == self._host.strip("[]").lower() or self._host in ("0.0.0.0", "::")  # noqa: S104  compared, not bound

    def _is_own_origin(self, origin: str, host: str) -> bool:
        scheme, _, authority = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        return authority.lower() == host.lower() or (is_loopback(self._host) and is_loopback(_name_of(authority)))


def _name_of(authority: str) -> str:
    """Host name of "name:port", "[::1]:port" or "name", lower case; "" when malformed."""
    name, bracket, rest = authority.strip().lower().partition("]")
    if bracket:
        return name.removeprefix("[") if not rest or (rest.startswith(":") and rest[1:].isdigit()) else ""
    name, colon, port = name.partition(":")
    return name if not colon or port.isdigit() else ""


# --- running -------------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it, and says when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then tell the address."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._on_ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")


def _tell(url: str) -> None:
    _say(f"Afterwit listens on {url} (MCP at {url}/mcp). Ctrl-C ends it.")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def run_http(
    settings: Settings,
    *,
    host: str | None = None,
    port: int | None = None,
    on_ready: Callable[[str], None] = _tell,
) -> None:
    """Serve until SIGINT or SIGTERM, then finish what is under way and close the store.

    The process is the daemon of its data directory, too: `afterwit mcp` and hooks on this machine are served by it,
    with the same store and the same model. A daemon in the background gives way to it.

    Args:
        settings: of the service; `host` and `port` are the defaults of the next two.
        host: address to listen on.
        port: 0 = any free one.
        on_ready: called with the base URL once requests are answered; says so on standard error by default.

    Raises:
        ConfigError: no API key for an address that others can reach, the address cannot be used, or the data
            directory is served already.
        StorageError: the store cannot be opened.
    """
    settings = replace(
        settings, host=settings.host if host is None else host, port=settings.port if port is None else port
    )
    key = read_api_key(settings.host)
    log_to_stderr(settings)
    place = _place(settings)
    _ask(place, "status")
    with _listen(settings.host, settings.port) as listening:
        daemon = Daemon(place, lock=_take_over(place), idle_s=None)
        try:
            asyncio.run(_serve(daemon, settings, key, listening, on_ready))
        finally:
            daemon.close()


async def _serve(
    daemon: Daemon, settings: Settings, key: str, listening: socket.socket, on_ready: Callable[[str], None]
) -> None:
    """Both doors of one service, until the daemon is told to end.

    Raises:
        AfterwitError: the service cannot be opened.
    """
    failure: AfterwitError | None = None

    def ready(url: str) -> None:
        daemon.about["url"] = url
        on_ready(url)

    async def stop_at_end(server: uvicorn.Server) -> None:
        await daemon.ended()
        server.should_exit = True

    with ended_by_signals(daemon.end):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(daemon.run)
            try:
                service = await anyio.to_thread.run_sync(daemon.opening(settings).get)
                config = uvicorn.Config(
                    build_http_app(service, settings, api_key=key),
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    timeout_graceful_shutdown=SHUTDOWN_S,
                )
                server = _Server(config, ready)
                tasks.start_soon(stop_at_end, server)
                await server.serve(sockets=[listening])
            except AfterwitError as error:
                # Raised in here, it would come out as one of a group.
                failure = error
            finally:
                daemon.end()
    if failure is not None:
        raise failure


def _listen(host: str, port: int) -> socket.socket:
    """A socket bound before the store is opened, so that a taken port costs nothing."""
    try:
        family: Any = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family[0], socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(family[4])
    except OSError as error:
        raise ConfigError(
            Sentence(
                "Cannot listen on {host} port {port}: {problem}.", host=host, port=port, problem=error.strerror or error
            ),
            next_step="Choose another host or port.",
        ) from error
    return listening


# --- the place of the daemon ---------------------------------------------------------------------


def _place(settings: Settings) -> door.Place:
    try:
        return door.place_of(str(settings.data_dir))
    except door.NoDaemon as error:
        raise StorageError(
            Sentence("Sessions on this machine cannot be served: {problem}.", problem=error),
            next_step=Sentence(
                "Set {variable}=tcp for them and for this, or give both another directory.",
                variable=door.TRANSPORT_VARIABLE,
            ),
        ) from error


def _ask(place: door.Place, want: str) -> dict[str, Any] | None:
    """What the daemon of a data directory says, None where nobody answers.

    Raises:
        ConfigError: it is another `afterwit serve`.
    """
    try:
        connection, answer = door.knock(place, door.Call(want).wants())
    except door.NoDaemon:
        return None
    connection.close()
    if answer.get("kind") == "serve":
        where = f" at {answer['url']}" if answer.get("url") else ""
        raise ConfigError(
            Sentence(
                "{data_dir} is served already{where} (process {process}).",
                data_dir=place.data_dir,
                where=where,
                process=answer["pid"],
            ),
            next_step="Use that address, end that server first (`afterwit daemon stop`), or serve another --data-dir.",
        )
    return answer


def _try_lock(place: door.Place) -> int | None:
    try:
        return door.try_lock(place.lock)
    except door.NoDaemon as error:
        raise StorageError(
            Sentence("The data directory cannot be locked: {problem}.", problem=error),
            next_step="Make room there, or make it writable.",
        ) from error


def _take_over(place: door.Place) -> int:
    """The lock of a data directory's daemon, of which one that came by itself is asked to leave.

    Raises:
        ConfigError: another `afterwit serve` is there.
        StorageError: the lock cannot be had, or somebody holds it and does not answer.
    """
    deadline = time.monotonic() + door.START_S
    while (held := _try_lock(place)) is None:
        # One that is only starting or leaving does not answer.
        answer = _ask(place, "status")
        if answer is not None and _ask(place, "stop") is not None:
            visitors = int(answer.get("visitors", 0))
            staying = f"; {visitors} that it serves stay with it until they end" if visitors else ""
            _say(f"The daemon in the background (process {answer.get('pid', '?')}) gives way{staying}.")
        if time.monotonic() > deadline:
            raise StorageError(
                Sentence("{lock} is held by a process that does not answer.", lock=place.lock),
                next_step="End that process, or wait.",
            )
        time.sleep(0.05)
    return held
