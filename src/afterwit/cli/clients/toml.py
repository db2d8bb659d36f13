"""Small edits of TOML: whole tables and single keys are added, changed and removed, all else stays byte for byte."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from afterwit.cli.clients.keys import MISSING, Keys, NotReadable, look_up

_PART = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\w-]+)[ \t]*""")
#: A text in any of the four forms, a comment, or one other character.
_TOKEN = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|.', re.S)


@dataclass(frozen=True)
class _Statement:
    """A header or a key with its value, and where it stands."""

    #: from the root, through the table it is in
    keys: tuple[str, ...]
    is_header: bool
    start: int
    #: behind its line end
    end: int
    #: of a key's value, without the comment behind it
    value_start: int = 0
    value_end: int = 0


def load(text: str) -> dict[str, Any]:
    """The document's values.

    Raises:
        NotReadable: it is not TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, 1)
        raise NotReadable(str(error).partition(" (at ")[0], line, column) from None


def _statements(text: str) -> Iterator[_Statement]:
    """Every header and key of a text that `load` has read."""
    table: tuple[str, ...] = ()
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        line_end = _line_end(text, at)
        first = text[at:line_end].lstrip(" \t")
        if not first.strip() or first.startswith("#"):
            at = line_end
        elif first.startswith("["):
            table = _names(text, at + text[at:].index("[") + (2 if first.startswith("[[") else 1))[0]
            yield _Statement(table, True, at, line_end)
            at = line_end
        else:
            keys, after = _names(text, at)
            value_start = after + 1
            while text[value_start] in " \t":
                value_start += 1
            value_end = _value_end(text, value_start)
            end = _line_end(text, value_end)
            yield _Statement((*table, *keys), False, at, end, value_start, value_end)
            at = end


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _names(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The parts of a dotted name, and where it ends."""
    names: list[str] = []
    while (found := _PART.match(text, at)) is not None:
        word = found[1]
        names.append(next(iter(tomllib.loads(f"{word} = 0"))))
        at = found.end()
        if text[at : at + 1] != ".":
            break
        at += 1
    return tuple(names), at


def _value_end(text: str, at: int) -> int:
    depth = 0
    end = at
    for token in _TOKEN.finditer(text, at):
        word = token[0]
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif depth == 0 and (word in "\r\n" or word.startswith("#")):
            break
        if not word.isspace() and not word.startswith("#"):
            end = token.end()
    return end


# --- writing -------------------------------------------------------------------------------------


def put(text: str, keys: Keys, value: Any) -> str:
    """Set a key, or add a table for a mapping that is not there yet.

    Raises:
        NotReadable: the text is no TOML.
        TypeError: what is there is written in a form that cannot be changed alone, such as inside an inline table.
    """
    names = tuple(str(key) for key in keys)
    found = look_up(load(text), keys)
    statements = list(_statements(text))
    for statement in statements:
        if statement.keys == names and not statement.is_header:
            return text[: statement.value_start] + _dump(value) + text[statement.value_end :]
    if found is not MISSING:
        raise TypeError(".".join(names))
    newline = "\r\n" if "\r\n" in text else "\n"
    if isinstance(value, Mapping):
        return _with_table(text, names, cast("Mapping[str, Any]", value), newline)
    header = next((each for each in statements if each.is_header and each.keys == names[:-1]), None)
    if header is None:
        raise TypeError(".".join(names))
    before = text[: header.end]
    gap = "" if before.endswith("\n") else newline
    return f"{before}{gap}{_name(names[-1])} = {_dump(value)}{newline}{text[header.end :]}"


def _with_table(text: str, names: tuple[str, ...], values: Mapping[str, Any], newline: str) -> str:
    lines = [f"[{'.'.join(map(_name, names))}]"]
    lines += [f"{_name(key)} = {_dump(value)}" for key, value in values.items() if not isinstance(value, Mapping)]
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, Any]", value)
            lines += ["", f"[{'.'.join(map(_name, (*names, key)))}]"]
            lines += [f"{_name(name)} = {_dump(part)}" for name, part in inner.items()]
    if text.strip("\ufeff \t\r\n"):
        text = text if text.endswith("\n") else text + newline
        text = text if text.endswith((newline * 2, "\n\n")) else text + newline
    return text + newline.join(lines) + newline


def remove(text: str, keys: Keys) -> str:
    """The text without the table at `keys`, or the key, with everything in it.

    Raises:
        NotReadable: the text is no TOML.
        TypeError: it is written inside an inline table.
    """
    names = tuple(str(key) for key in keys)
    ours = [each for each in _statements(text) if each.keys[: len(names)] == names]
    if not ours:
        raise TypeError(".".join(names))
    spans: list[tuple[int, int]] = []
    for each in ours:
        start = each.start
        if each.is_header:
            # The empty lines before a table go with it.
            while start and not text[(above := text.rfind("\n", 0, start - 1) + 1) : start].strip():
                start = above
        spans.append((start, each.end))
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


def _name(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.A) else _dump(name)


def _dump(value: Any) -> str:
    """Texts, numbers, truth values and lists of them, which TOML writes as JSON does."""
    return json.dumps(value, ensure_ascii=False)
