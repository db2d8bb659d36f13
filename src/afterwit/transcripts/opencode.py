"""opencode: since 1.2 a SQLite database `~/.local/share/opencode/opencode.db`, before that JSON files in `storage/`.

    session/PROJECT/SESSION.json, message/SESSION/MESSAGE.json, part/MESSAGE/PART.json
    project/PROJECT/storage/session/{info/SESSION,message/SESSION/MESSAGE,part/SESSION/MESSAGE/PART}.json  (2025)

The database has tables of the same names, with the same objects as JSON in a column `data`; version 2 keeps a
message with its content in one row of `session_message`. Ids of messages and parts sort by time.
Written from the program's published source (`session/message-v2.ts`, `session/session.sql.ts`,
`storage/json-migration.ts`, `core/session/message.ts`), not from files of a running client.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from afterwit.errors import InvalidInput
from afterwit.transcripts.events import Called, Event, Remarked, Returned, Said, Skipped, Stopped
from afterwit.transcripts.files import MAX_RECORD_BYTES, document, parse
from afterwit.transcripts.nouns import Header
from afterwit.transcripts.values import arguments, kept, mapping, moment, objects, printed, string
from afterwit.transcripts.wording import spoken

#: A message with its parts, or why there is none.
Message = tuple[Mapping[str, Any], list[Mapping[str, Any]]]
_PARTS_OF_NO_INTEREST = frozenset(("step-start", "step-finish", "snapshot", "patch", "agent", "retry", "file"))


class OpenCode:
    """Reads the messages of one session, each given as `{"info": message, "parts": [...]}`."""

    def __init__(self, header: Header) -> None:
        self._header = header

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one message tells; a record without a message describes the session."""
        if "session" in record:
            self._learn(mapping(record["session"]))
            return
        info = mapping(record.get("info"))
        key, role = string(info.get("id")) or place, info.get("role") or info.get("type")
        if role == "user":
            yield from self._user(info, list(objects(record.get("parts"))), key)
        elif role == "assistant":
            yield from _assistant(info, list(objects(record.get("parts"))), key)
        elif role == "shell":
            yield Called(string(info.get("callID")) or key, "bash", kept(string(info.get("command"))), _created(info))
            yield Returned(string(info.get("callID")) or key, printed(info.get("output")))
        else:
            yield Skipped("compaction" if role == "compaction" else "bookkeeping")

    def _learn(self, session: Mapping[str, Any]) -> None:
        self._header.learn(session_id=session.get("id"), cwd=session.get("directory"), version=session.get("version"))
        self._header.is_subagent = bool(session.get("parentID") or session.get("parent_id"))

    def _user(self, info: Mapping[str, Any], parts: list[Mapping[str, Any]], key: str) -> Iterator[Event]:
        said = [
            string(part.get("text"))
            for part in parts
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        ]
        words = "\n".join(filter(None, map(spoken, [*said, string(info.get("text"))])))
        if words:
            yield Said(key, kept(words), _created(info), by="agent" if self._header.is_subagent else "user")
        else:
            is_compaction = any(part.get("type") == "compaction" for part in parts)
            yield Skipped("compaction" if is_compaction else "not_said_by_the_user")


def _created(info: Mapping[str, Any]) -> Any:
    return moment(mapping(info.get("time")).get("created"))


def _assistant(info: Mapping[str, Any], parts: list[Mapping[str, Any]], key: str) -> Iterator[Event]:
    if info.get("summary") is True:
        yield Skipped("compaction")
        return
    is_final = info.get("finish") == "stop"
    for number, part in enumerate([*parts, *objects(info.get("content"))]):
        own = string(part.get("id")) or f"{key}#{number}"
        match part.get("type"):
            case "text":
                text = kept(string(part.get("text"))).strip()
                is_own = bool(text) and not part.get("synthetic") and not part.get("ignored")
                yield Remarked(own, text, _created(info), is_final=is_final) if is_own else Skipped("meta")
            case "tool":
                yield from _tool(part, own, info)
            case "reasoning":
                yield Skipped("thinking")
            case kind:
                yield Skipped("bookkeeping" if string(kind) in _PARTS_OF_NO_INTEREST else "unknown")
    yield from _end(info, key)


def _tool(part: Mapping[str, Any], own: str, info: Mapping[str, Any]) -> Iterator[Event]:
    state = mapping(part.get("state"))
    name = string(part.get("tool")) or string(part.get("name")) or "tool"
    call = string(part.get("callID")) or own
    at = moment(mapping(state.get("time")).get("start")) or _created(part) or _created(info)
    yield Called(call, name, arguments(name, state.get("input")), at)
    metadata = mapping(state.get("metadata")) or mapping(state.get("structured"))
    output = printed(state.get("output") or state.get("content"))
    if state.get("status") == "completed":
        code = metadata.get("exit")
        yield Returned(call, output, code == 0 if isinstance(code, int) else True)
    elif state.get("status") == "error":
        error = state.get("error")
        text = printed(error if isinstance(error, str) else mapping(error).get("message"))
        if metadata.get("interrupted") is True or text == "Tool execution aborted":
            yield Returned(call, output)
        elif text.startswith("The user rejected permission"):
            yield Returned(call, text, None, "refused")
        else:
            yield Returned(call, "\n".join(filter(None, (output, text))), False)


def _end(info: Mapping[str, Any], key: str) -> Iterator[Event]:
    error = mapping(info.get("error"))
    if not error:
        return
    at = moment(mapping(info.get("time")).get("completed")) or _created(info)
    if error.get("name") == "MessageAbortedError" or error.get("type") == "aborted":
        yield Stopped(f"{key}#end", "interrupted", at)
    else:
        text = mapping(error.get("data")).get("message") or error.get("message") or error.get("name")
        yield Stopped(f"{key}#end", "error", at, kept(string(text)))


# --- JSON files -----------------------------------------------------------------------------------


def stored_messages(path: Path) -> Iterator[Mapping[str, Any] | Skipped]:
    """A session kept as JSON files, by the path of the file that describes it.

    Raises:
        InvalidInput: that file cannot be read.
    """
    session = document(path)
    if isinstance(session, Skipped):
        yield session
        return
    id = path.stem
    yield {"session": {"id": id, **session}}
    is_old = path.parent.name == "info"
    root = path.parent.parent if is_old else path.parent.parent.parent
    for file in sorted((root / "message" / id).glob("*.json")):
        info = _object(file)
        if isinstance(info, Skipped):
            yield info
            continue
        directory = root / "part" / id / file.stem if is_old else root / "part" / file.stem
        parts = [_object(part) for part in sorted(directory.glob("*.json"))]
        yield from (part for part in parts if isinstance(part, Skipped))
        yield {"info": {"id": file.stem, **info}, "parts": [part for part in parts if not isinstance(part, Skipped)]}


def _object(path: Path) -> Mapping[str, Any] | Skipped:
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return Skipped("long_record")
        return parse(path.read_bytes()) or Skipped("malformed")
    except OSError:  # removed while we read: the client undid it
        return Skipped("vanished")


# --- The database ---------------------------------------------------------------------------------


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"


def sessions(path: Path) -> list[tuple[str, int]]:
    """Id and time of the last change (milliseconds since 1970) of every session in a database.

    Raises:
        InvalidInput: it is not opencode's, or cannot be read now.
    """
    with closing(_open(path)) as database:
        rows = _query(database, path, "SELECT id, time_updated FROM session ORDER BY time_updated, id")
        return [(str(id), int(updated or 0)) for id, updated in rows]


def database_messages(path: Path, session_id: str) -> Iterator[Mapping[str, Any] | Skipped]:
    """A session kept in the database.

    Raises:
        InvalidInput: the database is not opencode's, cannot be read now, or has no such session.
    """
    with closing(_open(path)) as database:
        rows = list(
            _query(database, path, "SELECT directory, version, parent_id FROM session WHERE id = ?", session_id)
        )
        if not rows:
            raise InvalidInput(
                f"There is no session {session_id!r} in {path}.", next_step="List the sessions with find_sessions."
            )
        directory, version, parent = rows[0]
        yield {"session": {"id": session_id, "directory": directory, "version": version, "parentID": parent}}
        found = False
        for message in _messages(database, path, session_id):
            found = True
            yield message
        if not found:
            yield from _messages_of_version_2(database, path, session_id)


#: A row's JSON, left out when it is too long to be read.
_DATA = f"CASE WHEN length(data) <= {MAX_RECORD_BYTES} THEN data END"


def _messages(database: sqlite3.Connection, path: Path, session: str) -> Iterator[Mapping[str, Any] | Skipped]:
    query = f"SELECT id, {_DATA} FROM message WHERE session_id = ? ORDER BY time_created, id"  # noqa: S608
    of_message = f"SELECT id, {_DATA} FROM part WHERE message_id = ? ORDER BY id"  # noqa: S608
    for id, data in _query(database, path, query, session):
        info = _row(id, data)
        parts = [_row(*row) for row in _query(database, path, of_message, str(id))]
        yield from (one for one in (info, *parts) if isinstance(one, Skipped))
        if not isinstance(info, Skipped):
            yield {"info": info, "parts": [part for part in parts if not isinstance(part, Skipped)]}


def _messages_of_version_2(
    database: sqlite3.Connection, path: Path, session: str
) -> Iterator[Mapping[str, Any] | Skipped]:
    columns = {str(row[1]) for row in _query(database, path, "PRAGMA table_info(session_message)")}
    if not columns:
        return
    order = "seq" if "seq" in columns else "time_created, id"
    query = f"SELECT id, {_DATA}, type FROM session_message WHERE session_id = ? ORDER BY {order}"  # noqa: S608
    for id, data, kind in _query(database, path, query, session):
        info = _row(id, data)
        yield info if isinstance(info, Skipped) else {"info": {**info, "type": str(kind)}, "parts": []}


def _row(id: object, data: object) -> Mapping[str, Any] | Skipped:
    if data is None:
        return Skipped("long_record")
    found = parse(data if isinstance(data, bytes) else str(data).encode(errors="replace"))
    return {**found, "id": str(id)} if found is not None else Skipped("malformed")


def _open(path: Path) -> sqlite3.Connection:
    try:
        # Read only, and never waiting long for the client that writes.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from None


def _query(database: sqlite3.Connection, path: Path, query: str, *values: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from database.execute(query, values)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: sqlite3.Error) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be read as a database of opencode: {error}.",
        next_step="Check the path; try again when opencode is closed.",
    )
