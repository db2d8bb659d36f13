"""Read one session, from its beginning or from where an earlier reading stopped.

Every reading goes through the file from its beginning and leaves out the items that the cursor covers. So the state
in which a session stands (open calls, the task, which records were copies) need not be kept anywhere, and a file
that was rewritten shows itself by other items.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from afterwit.errors import InvalidInput
from afterwit.transcripts import opencode
from afterwit.transcripts.assembling import Assembler
from afterwit.transcripts.clients import Client, client_named, detect
from afterwit.transcripts.events import Skipped
from afterwit.transcripts.files import document, records, size
from afterwit.transcripts.nouns import Cursor, Header, Item, Reading

_DIGEST_CHARS = 16


def read_session(
    path: Path, *, client: str = "", session_id: str = "", after: Cursor | None = None, live: bool = False
) -> Reading:
    """What a session holds, as items in order.

    Unknown and broken records are counted, never an error. Text that recall put in is taken out.

    Args:
        path: the session's file.
        client: who wrote it, a name of `CLIENTS`; found out when empty.
        session_id: which of the sessions, where a file holds many (opencode's database).
        after: the cursor of an earlier reading; only what is new since is given. When the file no longer begins
            with what was read then, all of it is given, and the reading says `restarted`.
        live: the session goes on, so only items are given that nothing later can change; the rest, such as a
            call that has not come back, comes with a later reading. Otherwise all is given as it stands.

    Raises:
        InvalidInput: the file cannot be read, is of no known client, or needs a session id.
    """
    chosen = client_named(client or detect(path))
    # Taken before reading: what is written meanwhile makes the file larger than this.
    bytes_now = 0 if session_id else size(path)
    try:
        reading = _read(_records(path, chosen, session_id, live=live), chosen, after or Cursor(), live=live)
    except _Rewritten:
        again = _read(_records(path, chosen, session_id, live=live), chosen, Cursor(), live=live)
        reading = replace(again, restarted=True)
    return replace(reading, cursor=replace(reading.cursor, size=bytes_now))


def _records(
    path: Path, client: Client, session_id: str, *, live: bool
) -> Iterator[tuple[str, Mapping[str, Any]] | Skipped]:
    """The records of a session, each with a name for its place in the file."""
    if client.name == "opencode":
        messages = _opencode_messages(path, session_id)
        yield from (one if isinstance(one, Skipped) else (f"@{number}", one) for number, one in enumerate(messages))
    elif path.suffix == ".json":
        whole = document(path)
        yield whole if isinstance(whole, Skipped) else ("@0", whole)
    else:
        for record in records(path, live=live):
            yield record if isinstance(record, Skipped) else (f"@{record[0]}", record[1])


def _opencode_messages(path: Path, session_id: str) -> Iterator[Mapping[str, Any] | Skipped]:
    if path.suffix == ".json":
        return opencode.stored_messages(path)
    if not session_id:
        raise InvalidInput(
            f"{path} holds many sessions, so it must be said which one to read.",
            next_step="Pass session_id; find_sessions lists them.",
        )
    return opencode.database_messages(path, session_id)


class _Rewritten(Exception):
    """The session does not begin with what the cursor covers."""


def _read(
    source: Iterator[tuple[str, Mapping[str, Any]] | Skipped], client: Client, after: Cursor, *, live: bool
) -> Reading:
    """One pass through a session.

    Raises:
        _Rewritten: never for an empty cursor.
    """
    header, assembler = Header(), Assembler()
    reader = client.reader(header)
    digest, count = hashlib.sha256(), 0
    known, items = set(after.given), list[Item]()
    for record in source:
        if isinstance(record, Skipped):
            assembler.take(record)
        else:
            for event in reader.events(record[1], record[0]):
                assembler.take(event)
        for item in assembler.settled():
            count += 1
            digest.update(item.key.encode(errors="replace") + b"\0")
            if count == after.items and digest.hexdigest()[:_DIGEST_CHARS] != after.digest:
                raise _Rewritten
            if count > after.items:
                items += [] if item.key in known else [item]
                known.discard(item.key)
    rest = [] if live else list(assembler.finish())
    cursor = after
    if count or rest:
        if count < after.items:
            raise _Rewritten
        given = sorted(known.union(item.key for item in rest))
        cursor = Cursor(count, digest.hexdigest()[:_DIGEST_CHARS] if count else "", tuple(given))
        items += [item for item in rest if item.key not in known]
    # A file in which there is nothing (being written anew, or emptied) says nothing against what was read.
    return Reading(client.name, header, tuple(items), cursor, dict(assembler.skipped))
