"""Reading files that another program is writing: line by line, in bounded memory, whatever they hold."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from afterwit.errors import InvalidInput, Sentence
from afterwit.transcripts.events import Skipped

#: Bytes of the longest record that is read; longer ones, such as images in base64, are passed over.
MAX_RECORD_BYTES = 8 * 1024 * 1024
#: Bytes of the longest document that is read at once.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024

#: A record with the byte at which it starts, or why there is none.
Record = tuple[int, Mapping[str, Any]] | Skipped


def records(path: Path, *, live: bool) -> Iterator[Record]:
    """The JSON objects of a file with one a line.

    Args:
        path: the file; it may grow meanwhile.
        live: a last line without its end is still being written, so it is left alone. Otherwise it is read
            if it is whole.

    Raises:
        InvalidInput: the file cannot be read.
    """
    for start, line, is_whole in _lines(path):
        if line is None:
            yield Skipped("long_line")
        elif line.strip() and not (live and not is_whole):
            record = parse(line)
            if record is not None:
                yield start, record
            else:
                yield Skipped("malformed" if is_whole else "cut_off")


def _lines(path: Path) -> Iterator[tuple[int, bytes | None, bool]]:
    """Start, content (None for a line that is too long) and whether its end was there, of each line."""
    held = bytearray()
    start, length = 0, 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                *ended, rest = chunk.split(b"\n")
                for piece in ended:
                    length += len(piece)
                    yield start, None if length > MAX_RECORD_BYTES else bytes(held) + piece, True
                    start, length = start + length + 1, 0
                    held.clear()
                length += len(rest)
                if length > MAX_RECORD_BYTES:
                    held.clear()
                else:
                    held += rest
    except OSError as error:
        raise unreadable(path, error) from None
    if length:
        yield start, None if length > MAX_RECORD_BYTES else bytes(held), False


def parse(line: bytes) -> Mapping[str, Any] | None:
    """The object that a line holds, None when it holds none. Bytes that are no UTF-8 are replaced."""
    try:
        value: Any = json.loads(line.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def document(path: Path) -> Mapping[str, Any] | Skipped:
    """The JSON object that a whole file holds, or why there is none.

    Raises:
        InvalidInput: the file cannot be read.
    """
    try:
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            return Skipped("long_document")
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    found = parse(content)
    return Skipped("malformed") if found is None else found


def size(path: Path) -> int:
    """Bytes of a file.

    Raises:
        InvalidInput: it is not there or cannot be read.
    """
    try:
        return path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> InvalidInput:
    """The error for a session that cannot be read."""
    return InvalidInput(
        Sentence("The session {path} cannot be read: {problem}.", path=path, problem=error.strerror or error),
        next_step="Check the path and your right to read it.",
    )
