"""The clients whose sessions are read: where they keep them, and how one is told from another."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from afterwit.clock import from_us
from afterwit.errors import InvalidInput, Sentence
from afterwit.transcripts import opencode
from afterwit.transcripts.claude_code import ClaudeCode
from afterwit.transcripts.codex import Codex
from afterwit.transcripts.events import Event, Skipped
from afterwit.transcripts.files import document, records, unreadable
from afterwit.transcripts.gemini import Gemini
from afterwit.transcripts.nouns import Header, SessionFile
from afterwit.transcripts.opencode import OpenCode
from afterwit.transcripts.qwen_code import QwenCode
from afterwit.transcripts.values import mapping, moment

#: Records that are looked at to tell whose file it is.
_LOOKED_AT = 50
#: Endings of the files in which clients keep sessions.
_SUFFIXES = frozenset((".jsonl", ".json", ".db"))


class Reader(Protocol):
    """Turns the records of one session into events."""

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one record tells; `place` names the record in its file."""
        ...


@dataclass(frozen=True)
class Client:
    """A program that keeps the sessions of its agent in files."""

    #: as it is written in `client`: "claude_code"
    name: str
    #: as people write it: "Claude Code"
    title: str
    #: reads its records, and fills the header that it is given
    reader: Callable[[Header], Reader]
    #: directories to look in, by home directory and environment
    places: Callable[[Path, Mapping[str, str]], list[Path]]
    #: files below those that hold sessions, as glob patterns
    patterns: tuple[str, ...]


def _claude_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    if given := environment.get("CLAUDE_CONFIG_DIR"):
        return [Path(one.strip()).expanduser() / "projects" for one in given.split(",") if one.strip()]
    return [home / ".claude" / "projects", _xdg(home, environment, "XDG_CONFIG_HOME", ".config") / "claude/projects"]


def _codex_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    given = environment.get("CODEX_HOME")
    return [Path(given).expanduser() if given else home / ".codex"]


def _gemini_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    given = environment.get("GEMINI_CLI_HOME")
    return [(Path(given).expanduser() if given else home) / ".gemini" / "tmp"]


def _qwen_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    given = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
    return [Path(given).expanduser() if given else home / ".qwen"]


def _opencode_places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    return [_xdg(home, environment, "XDG_DATA_HOME", ".local/share") / "opencode"]


def _xdg(home: Path, environment: Mapping[str, str], variable: str, default: str) -> Path:
    given = environment.get(variable)
    return Path(given) if given else home / default


#: Every client whose sessions can be read, by name.
CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude_code",
            "Claude Code",
            ClaudeCode,
            _claude_places,
            ("*/*.jsonl", "*/*/subagents/*.jsonl"),
        ),
        Client(
            "codex",
            "Codex",
            Codex,
            _codex_places,
            ("sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl"),
        ),
        Client(
            "gemini",
            "Gemini CLI",
            Gemini,
            _gemini_places,
            ("*/chats/session-*.json", "*/chats/session-*.jsonl", "*/chats/*/*.jsonl"),
        ),
        Client("qwen_code", "Qwen Code", QwenCode, _qwen_places, ("projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl")),
        Client(
            "opencode",
            "opencode",
            OpenCode,
            _opencode_places,
            ("opencode*.db", "storage/session/*/*.json", "project/*/storage/session/info/*.json"),
        ),
    )
}


def client_named(name: str) -> Client:
    """The client with this name or title; case, spaces and hyphens do not matter.

    Raises:
        InvalidInput: there is none.
    """
    wanted = _folded(name)
    found = next((one for one in CLIENTS.values() if wanted in (one.name, _folded(one.title))), None)
    if found is None:
        raise InvalidInput(
            Sentence("Unknown client {name!r}.", name=name[:60]),
            next_step=Sentence("The clients are {names}.", names=", ".join(CLIENTS)),
        )
    return found


def _folded(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


def find_sessions(
    client: str = "",
    *,
    home: Path | None = None,
    environment: Mapping[str, str] | None = None,
    since: datetime | None = None,
) -> list[SessionFile]:
    """The sessions that clients keep here, those changed longest ago first.

    Args:
        client: only this one's; empty for all.
        home: the home directory to look in; the user's own by default.
        environment: variables that move the clients' directories; those of this process by default, none when
            `home` is given.
        since: only sessions changed at or after this time.

    Returns:
        A session that was copied to a newer format of its client comes once, in the newer one.

    Raises:
        InvalidInput: no client has this name.
    """
    if environment is None:
        environment = os.environ if home is None else {}
    chosen = [client_named(client)] if client else list(CLIENTS.values())
    found: dict[tuple[str, str], SessionFile] = {}
    for one in chosen:
        for place in one.places(home or Path.home(), environment):
            for pattern in one.patterns:
                for path in sorted(place.glob(pattern)):
                    for session in _sessions_in(path, one):
                        found[_identity(session)] = _newer(found.get(_identity(session)), session)
    kept = [session for session in found.values() if since is None or session.modified >= since]
    return sorted(kept, key=lambda session: (session.modified, str(session.path), session.session_id))


def sessions_in(path: Path, *, client: str = "") -> list[SessionFile]:
    """The sessions that a file holds, or that the files below a folder hold, those changed longest ago first.

    Args:
        path: a session file, a database of sessions, or a folder, in which other files are passed over.
        client: who wrote them, a name of `CLIENTS`; found out when empty.

    Raises:
        InvalidInput: the path cannot be read, or a file is of no client that is known.
    """
    try:
        files = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES) if path.is_dir() else [path]
    except OSError as error:
        raise unreadable(path, error) from None
    found: list[SessionFile] = []
    for file in files:
        try:
            found += _sessions_in(file, client_named(client or detect(file)))
        except InvalidInput:
            if file == path:
                raise
    return sorted(found, key=lambda session: (session.modified, str(session.path), session.session_id))


def _sessions_in(path: Path, client: Client) -> Iterator[SessionFile]:
    try:
        status = path.stat()
        if path.suffix == ".db":
            for id, updated in opencode.sessions(path):
                yield SessionFile(client.name, path, 0, moment(updated) or from_us(0), id)
            return
        changed = status.st_mtime_ns
        if client.name == "opencode":
            # The file that describes a session does not change with every message.
            root = path.parents[1] if path.parent.name == "info" else path.parents[2]
            messages = root / "message" / path.stem
            changed = max(changed, messages.stat().st_mtime_ns) if messages.is_dir() else changed
    except (OSError, InvalidInput):
        return  # gone meanwhile, or not ours to read: what can be found is still worth finding
    yield SessionFile(client.name, path, status.st_size, from_us(changed // 1000))


def _identity(session: SessionFile) -> tuple[str, str]:
    """The same for a session in an older and a newer format."""
    if session.client == "opencode":
        return session.client, session.session_id or session.path.stem
    return session.client, str(session.path.with_suffix(""))


def _newer(known: SessionFile | None, session: SessionFile) -> SessionFile:
    """Of one session in two formats the one in the newer: a database before files, lines before a document."""
    if known is None:
        return session
    is_newer = bool(session.session_id) or (session.path.suffix == ".jsonl" and known.path.suffix == ".json")
    return session if is_newer else known


def detect(path: Path) -> str:
    """The name of the client that wrote a session file, by what the file holds.

    Raises:
        InvalidInput: the file cannot be read, or is of no client that is known.
    """
    try:
        if opencode.is_database(path):
            opencode.sessions(path)
            return "opencode"
    except OSError as error:
        raise unreadable(path, error) from None
    for number, record in enumerate(records(path, live=False)):
        if number >= _LOOKED_AT:
            break
        if not isinstance(record, Skipped) and (name := _writer(record[1])):
            return name
    whole = document(path) if path.suffix == ".json" else Skipped("unknown")
    if not isinstance(whole, Skipped) and (name := _writer(whole)):
        return name
    raise InvalidInput(
        Sentence("{path} is not a session file of a client that is known.", path=path),
        next_step=Sentence("Name the client: {names}.", names=", ".join(CLIENTS)),
    )


def _writer(record: Mapping[str, Any]) -> str:
    if "projectHash" in record and "sessionId" in record:
        return "gemini"
    if "payload" in record and "type" in record:
        return "codex"
    if "directory" in record and ("projectID" in record or str(record.get("id", "")).startswith("ses_")):
        return "opencode"
    if "sessionId" in record and "type" in record:
        is_qwen = "provenance" in record or "systemPayload" in record or "parts" in mapping(record.get("message"))
        return "qwen_code" if is_qwen else "claude_code"
    return ""
