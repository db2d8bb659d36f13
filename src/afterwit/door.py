"""The fast door: `afterwit mcp` and `afterwit hook` as byte pipes to a daemon that is warm already.

An agent starts one process per session and one per hook, and waits for it. Importing what serves memory takes a
second or two, so this module hands its bytes to the daemon of the data directory over a local socket, and starts
that daemon where there is none. Who knocks says first, in one line of JSON, which version it is, what it wants, and
its settings; the daemon answers in one line; after that it is bytes.

An interpreter that does nothing starts in about 15 ms. The parts of the standard library that are usual for this
work (socket, json, dataclasses, typing, ...) take four times as long, so it is done with what they are made of, and
they are imported only where a daemon has to be started. `docs/design.md`, decision 45, has the figures.
"""

import _socket
import _thread
import os
import sys
import time

from afterwit.version import VERSION

TYPE_CHECKING = False  # that of `typing`, which would cost a third of the start
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from typing import Any, NoReturn

#: Longest wait, in seconds, for a daemon to start, and for its one-line answer.
START_S = 20.0
ANSWER_S = 10.0
#: Longest wait, in seconds, for what a hook gives back.
HOOK_S = 8.0
#: Exit status of a daemon that found another one.
ALREADY_THERE = 3
#: Most bytes of the first line, either way.
MAX_LINE = 65_536
#: Where a log that has grown larger than this many bytes starts anew.
MAX_LOG = 1_000_000
#: Environment variable that chooses "tcp" where local sockets do not work.
TRANSPORT_VARIABLE = "AFTERWIT_DOOR"
#: Environment variable for how long a daemon stays without a visitor, in seconds.
IDLE_VARIABLE = "AFTERWIT_DAEMON_IDLE_S"

_HAS_UNIX_SOCKETS = hasattr(_socket, "AF_UNIX") and sys.platform != "win32"
#: Of `st_mode`: what kind of file it is and what others may do, and what a directory of its owner alone has of these.
#: The numbers are those of every POSIX system.
_KIND_AND_OTHERS, _PRIVATE_DIRECTORY = 0o170077, 0o040000
_CHUNK = 65_536
#: What clients start hooks through; as the system names processes.
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"fish", b"ksh", b"busybox", b"ash")


class NoDaemon(Exception):
    """The daemon cannot be reached or started; the message says why."""


class Place:
    """Where the daemon of a data directory is found.

    Args:
        data_dir: as the system knows it, without links.
        socket: path of the local socket; "" where the address is in the file `address`.
    """

    def __init__(self, data_dir: str, *, socket: str) -> None:
        self.data_dir = data_dir
        self.socket = socket
        #: file that the daemon locks while it lives
        self.lock = os.path.join(data_dir, "daemon.lock")
        #: file that whoever starts a daemon locks
        self.starting = os.path.join(data_dir, "daemon.starting")
        self.log = os.path.join(data_dir, "daemon.log")
        #: file with port and token, for systems without local sockets
        self.address = os.path.join(data_dir, "daemon.json")


def place_of(data_dir: str) -> Place:
    """The daemon's place for a data directory. Makes the directories.

    Raises:
        NoDaemon: a directory cannot be made or is not ours alone.
    """
    real = os.path.realpath(os.path.expanduser(data_dir))
    try:
        os.makedirs(real, mode=0o700, exist_ok=True)
    except OSError as error:
        raise NoDaemon(f"cannot make {real}: {error.strerror}") from error
    if not _HAS_UNIX_SOCKETS or os.environ.get(TRANSPORT_VARIABLE) == "tcp":
        return Place(real, socket="")
    try:
        return Place(real, socket=os.path.join(_runtime_dir(), f"{_digest(real)}.sock"))
    except OSError as error:
        raise NoDaemon(f"cannot make a directory for sockets: {error}") from error


def _digest(path: str) -> str:
    try:
        from _blake2 import blake2b  # noqa: PLC0415
    except ImportError:  # another implementation of Python
        from hashlib import blake2b  # noqa: PLC0415
    return blake2b(path.encode(errors="surrogateescape"), digest_size=8).hexdigest()


def _runtime_dir() -> str:
    """A short directory of our own for sockets: their paths may have about a hundred bytes only."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if base and os.path.isdir(base) and len(base) < 60:
        path = os.path.join(base, "afterwit")
    else:
        path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"afterwit-{os.getuid()}")  # noqa: S108  checked below
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    # Somebody else's directory under our name could hand us to somebody else's daemon.
    if found.st_mode & _KIND_AND_OTHERS != _PRIVATE_DIRECTORY or found.st_uid != os.getuid():
        raise NoDaemon(f"{path} is not a directory of this user alone")
    return path


# --- reaching it ---------------------------------------------------------------------------------


def knock(place: Place, wants: "Mapping[str, Any]") -> "tuple[_socket.socket, dict[str, Any]]":
    """Reach the daemon that is there.

    Args:
        place: of the daemon.
        wants: what is wanted, with settings; version and token are added.

    Returns:
        The connection, and the daemon's answer.

    Raises:
        NoDaemon: nobody answers.
    """
    try:
        connection, token = _connect(place)
    except (OSError, ValueError, KeyError) as error:
        raise NoDaemon(f"nobody answers: {error}") from error
    try:
        connection.settimeout(ANSWER_S)
        connection.sendall(f"{_json({'version': VERSION, 'token': token, **wants})}\n".encode())
        answer = _from_json(_read_line(connection))
        connection.settimeout(None)
    except (OSError, ValueError) as error:
        connection.close()
        raise NoDaemon(f"no answer: {error}") from error
    return connection, answer


def _connect(place: Place) -> tuple[_socket.socket, str]:
    if place.socket:
        family, address, token = _socket.AF_UNIX, place.socket, ""
    else:
        with open(place.address, "rb") as file:
            told = _from_json(file.read())
        family, address, token = _socket.AF_INET, ("127.0.0.1", int(told["port"])), str(told["token"])
    connection = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_S)
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection, token


def _json(value: "str | int | list[Any] | tuple[Any, ...] | Mapping[str, Any]") -> str:
    """A value as JSON."""
    if isinstance(value, str):
        try:
            from _json import encode_basestring_ascii as quoted  # noqa: PLC0415
        except ImportError:  # another implementation of Python
            from json.encoder import encode_basestring_ascii as quoted  # noqa: PLC0415
        return quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_json, value))}]"
    return f"{{{', '.join(f'{_json(name)}: {_json(item)}' for name, item in value.items())}}}"


def _from_json(told: bytes) -> "dict[str, Any]":
    """The value of an object in JSON; what a daemon nearly always says is known by heart."""
    if told == b'{"ok": true}\n':
        return {"ok": True}
    import json  # noqa: PLC0415

    return json.loads(told)


def _read_line(connection: _socket.socket) -> bytes:
    """The first line, byte by byte: what follows it belongs to somebody else."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > MAX_LINE:
            raise OSError("the connection was closed")
        line += byte
    return bytes(line)


def enter(place: Place, wants: "Mapping[str, Any]") -> _socket.socket:
    """Reach the daemon, starting it where there is none or where it is of another version.

    Raises:
        NoDaemon: it cannot be started, or refuses.
    """
    deadline = time.monotonic() + START_S
    pause, starting = 0.005, None
    try:
        while True:
            try:
                connection, answer = knock(place, wants)
            except NoDaemon as error:
                if starting is None:
                    starting = _Starting.begin(place)
                if time.monotonic() > deadline or (starting is not None and starting.failed()):
                    raise NoDaemon(f"{error}; see {place.log}") from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.1)
                continue
            if answer.get("ok"):
                return connection
            connection.close()
            if answer.get("why") != "version" or time.monotonic() > deadline:
                raise NoDaemon(str(answer.get("message") or answer))
            # It has stopped listening, and leaves when its last visitor has gone.
            time.sleep(pause)
    finally:
        if starting is not None:
            os.close(starting.lock)


class _Starting:
    """A daemon on its way, which nobody else starts meanwhile."""

    def __init__(self, lock: int, process: "subprocess.Popen[Any]") -> None:
        self.lock = lock
        self.process = process

    @classmethod
    def begin(cls, place: Place) -> "_Starting | None":
        """Start a daemon, unless somebody else is at it."""
        held = try_lock(place.starting)
        if held is None:
            return None
        try:
            return cls(held, _start(place))
        except BaseException:
            os.close(held)
            raise

    def failed(self) -> bool:
        """Whether it has ended already, other than because there is one."""
        return self.process.poll() not in (None, ALREADY_THERE)


def _start(place: Place) -> "subprocess.Popen[Any]":
    import subprocess  # noqa: PLC0415  costs more than all the rest of this module

    mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        if os.path.getsize(place.log) > MAX_LOG:
            mode |= os.O_TRUNC
    except OSError:
        pass  # there is none yet
    try:
        log = os.open(place.log, mode, 0o600)
    except OSError as error:
        raise NoDaemon(f"cannot write {place.log}: {error.strerror}") from error
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        return subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "afterwit.serve", place.data_dir],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=place.data_dir,
            **apart,
        )
    except OSError as error:
        raise NoDaemon(f"cannot start {sys.executable}: {error.strerror}") from error
    finally:
        os.close(log)


def try_lock(path: str) -> int | None:
    """An exclusive lock on a file, until the descriptor is closed or the process ends; None if it is taken.

    Raises:
        NoDaemon: the file cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise NoDaemon(f"cannot open {path}: {error.strerror}") from error
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


# --- passing bytes -------------------------------------------------------------------------------


def pipe(connection: _socket.socket) -> None:
    """Copy standard input to the daemon and its answers to standard output, until either side closes."""
    _thread.start_new_thread(_send_input, (connection,))
    while True:
        try:
            data = connection.recv(_CHUNK)
        except OSError:
            data = b""
        if not data:
            return
        _write_all(1, data)


def _send_input(connection: _socket.socket) -> None:
    try:
        while data := os.read(0, _CHUNK):
            connection.sendall(data)
        connection.shutdown(_socket.SHUT_WR)
    except OSError:
        # The daemon has gone: the other direction sees it, too, and ends the process.
        try:
            connection.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass


def _write_all(descriptor: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# --- the command line, as far as it must be fast --------------------------------------------------


class Call:
    """A command line that the fast door understands.

    Args:
        command: such as "mcp".
        rest: what stands behind it.
        options: settings given as options.
    """

    def __init__(self, command: str, rest: tuple[str, ...] = (), options: dict[str, str] | None = None) -> None:
        self.command = command
        self.rest = rest
        self.options = options or {}

    @property
    def data_dir(self) -> str:
        """The data directory, by the same order of precedence as all settings."""
        return self.options.get("data_dir") or os.environ.get("AFTERWIT_DATA_DIR") or os.path.join("~", ".afterwit")

    def wants(self, **more: "Any") -> "dict[str, Any]":
        """The first line to the daemon: what is wanted, and the settings of this process."""
        more["client"] = _client()
        own = {name: value for name, value in os.environ.items() if name.startswith("AFTERWIT_") or "_API_KEY" in name}
        return {"want": self.command, "environ": own, "options": self.options} | more


def _client() -> int:
    """The process of the agent's client, which has started this one itself or through a shell; 0 = none."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/stat", "rb") as file:
            start, _, rest = file.read().rpartition(b")")
        if start.partition(b"(")[2] in _SHELLS:
            parent = int(rest.split()[1])
    except (OSError, ValueError, IndexError):
        pass  # no such files here
    return parent if parent > 1 else 0


def read_call(arguments: list[str]) -> Call | None:
    """`[--data-dir DIR] [--space NAME] COMMAND ...`, or None for what the whole command line has to read."""
    options: dict[str, str] = {}
    words = list(arguments)
    while words and words[0].startswith("--"):
        name, equals, value = words.pop(0).partition("=")
        if name not in ("--data-dir", "--space"):
            return None
        if not equals:
            if not words:
                return None
            value = words.pop(0)
        if not value.strip():
            return None
        options[name[2:].replace("-", "_")] = value
    return Call(words[0], tuple(words[1:]), options) if words else None


def run(arguments: list[str]) -> bool:
    """Carry out a command line that can be fast.

    Returns:
        Whether that was done; if not, the whole command line has to read it.
    """
    call = read_call(arguments)
    if call is None:
        return False
    if call.command == "hook" and (told := read_hook(call.rest)) is not None:
        hook(call, told)
    if call.command != "mcp" or call.rest:
        return False
    try:
        connection = enter(place_of(call.data_dir), call.wants())
    except NoDaemon as error:
        # An agent without memory is worse than a slow start.
        sys.stderr.write(f"afterwit: serving without a daemon: {error}\n")
        return False
    try:
        pipe(connection)
    except (OSError, KeyboardInterrupt):
        _leave(1)
    # The thread that waits for input cannot be interrupted.
    _leave(0)


def read_hook(words: tuple[str, ...]) -> dict[str, str] | None:
    """`[EVENT] [--client NAME]`, or None for what the whole command line has to read."""
    told: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--client" and rest:
            told["client"] = rest.pop(0)
        elif word.startswith("-") or "event" in told:
            return None
        else:
            told["event"] = word
    return told


def hook(call: Call, told: dict[str, str]) -> "NoReturn":
    """Hand a client's event to the daemon and print its answer. Whatever goes wrong, the agent goes on: a line in
    the log, nothing on standard output, exit status 0."""
    place = None
    try:
        # Written by the client before it waits, so that it never blocks on us.
        given = sys.stdin.buffer.read()
        place = place_of(call.data_dir)
        connection = enter(place, call.wants(hook=told))
        connection.settimeout(HOOK_S)
        connection.sendall(given)
        connection.shutdown(_socket.SHUT_WR)
        answer = bytearray()
        while data := connection.recv(_CHUNK):
            answer += data
        _write_all(1, answer)
    except (NoDaemon, OSError, KeyboardInterrupt) as error:
        _note(place, f"hook {told.get('event', '')}: {error or type(error).__name__}")
    _leave(0)


def _note(place: Place | None, line: str) -> None:
    """One line in the daemon's log, or on standard error where there is none."""
    try:
        if place is None:
            raise OSError
        descriptor = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            _write_all(descriptor, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n".encode(errors="replace"))
        finally:
            os.close(descriptor)
    except OSError:
        sys.stderr.write(f"afterwit: {line}\n")


def _leave(status: int) -> "NoReturn":
    os._exit(status)
