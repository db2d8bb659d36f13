"""Small edits of JSON that people write: comments, trailing commas, indentation and line ends stay as they are.

Only the text of what is added, changed or removed is touched. Strict JSON is the special case without comments.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from afterwit.cli.clients.keys import MISSING, Keys, NotReadable, look_up

#: White space and comments between tokens.
_TRIVIA = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_DECODER = json.JSONDecoder()
_SCALAR = re.compile(r"[^\s,:{}\[\]\"/]+")


@dataclass
class _Node:
    """A value and where it stands."""

    start: int
    end: int
    value: Any
    #: of an object: key -> member
    members: "dict[str, _Member]" = field(default_factory=lambda: {})
    #: of an array
    items: "list[_Node]" = field(default_factory=lambda: [])

    def children(self) -> list[tuple[int, "_Node"]]:
        """Where each member or item begins, with its value."""
        return [(member.start, member.node) for member in self.members.values()] + [
            (item.start, item) for item in self.items
        ]


@dataclass
class _Member:
    start: int
    node: _Node


class _Parser:
    """Reads a document; what does not lie on the way to a value is only skipped, at the speed of the standard library.

    Clients keep megabytes beside their settings.
    """

    def __init__(self, text: str, way: Keys | None) -> None:
        self.text = text
        self.at = 0
        #: keys to the value whose members and items are wanted; None = everything's are
        self._way = way

    def document(self) -> _Node:
        self._skip()
        node = self._value(self._way)
        self._skip()
        if self.at < len(self.text):
            raise self._wrong("there is something after the end")
        return node

    def _wrong(self, what: str) -> NotReadable:
        line = self.text.count("\n", 0, self.at) + 1
        return NotReadable(what, line, self.at - self.text.rfind("\n", 0, self.at))

    def _skip(self) -> None:
        found = _TRIVIA.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _value(self, way: Keys | None) -> _Node:
        match self._peek():
            case "{":
                return self._object(way)
            case "[":
                return self._array(way)
            case '"':
                return self._string()
            case _:
                return self._scalar()

    def _string(self) -> _Node:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self._wrong("a text does not end on its line")
        return self._read(found)

    def _scalar(self) -> _Node:
        found = _SCALAR.match(self.text, self.at)
        if found is None:
            raise self._wrong("a value is missing")
        return self._read(found)

    def _read(self, found: re.Match[str]) -> _Node:
        try:
            value = json.loads(found[0])
        except ValueError:
            raise self._wrong(f"{found[0][:40]} is no JSON value") from None
        self.at = found.end()
        return _Node(found.start(), found.end(), value)

    def _inner(self, key: str | int, way: Keys | None) -> _Node:
        """The value of a member or item."""
        if way is None or way[:1] == (key,):
            return self._value(None if way is None else way[1:])
        try:
            value, end = _DECODER.raw_decode(self.text, self.at)
        except ValueError:
            return self._value(None)  # comments, or a fault that is to be told
        node = _Node(self.at, end, value)
        self.at = end
        return node

    def _object(self, way: Keys | None) -> _Node:
        start, node = self.at, _Node(self.at, self.at, {})
        self.at += 1
        while not self._closes("}"):
            if self._peek() != '"':
                raise self._wrong("a key in quotes is missing")
            key = self._string()
            self._skip()
            if self._peek() != ":":
                raise self._wrong("a colon is missing")
            self.at += 1
            self._skip()
            if key.value in node.members:
                raise self._wrong(f"the key {key.value} stands there twice")
            child = self._inner(key.value, way)
            node.members[key.value] = _Member(key.start, child)
            node.value[key.value] = child.value
            self._separate("}")
        node.start, node.end = start, self.at
        return node

    def _array(self, way: Keys | None) -> _Node:
        start, node = self.at, _Node(self.at, self.at, [])
        self.at += 1
        while not self._closes("]"):
            child = self._inner(len(node.items), way)
            node.items.append(child)
            node.value.append(child.value)
            self._separate("]")
        node.start, node.end = start, self.at
        return node

    def _closes(self, mark: str) -> bool:
        self._skip()
        if not self._peek():
            raise self._wrong(f"{mark} is missing at the end")
        if self._peek() == mark:
            self.at += 1
            return True
        return False

    def _separate(self, mark: str) -> None:
        self._skip()
        if self._peek() == ",":
            self.at += 1
        elif self._peek() != mark:
            raise self._wrong(f"a comma or {mark} is missing")


def _parse(text: str, way: Keys | None = None) -> _Node:
    node = _Parser(text, way).document()
    if not isinstance(node.value, dict):
        raise NotReadable("the outermost value is no object", 1, 1)
    return node


def load(text: str) -> dict[str, Any]:
    """The document's value; nothing but white space is an empty object.

    Raises:
        NotReadable: it is not JSON with comments, or is no object.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        value = _parse(text).value
    if not isinstance(value, dict):
        raise NotReadable("the outermost value is no object", 1, 1)
    return cast("dict[str, Any]", value)


def _find(text: str, keys: Keys) -> _Node:
    node = _parse(text, keys)
    for key in keys:
        node = node.members[key].node if isinstance(key, str) else node.items[key]
    return node


# --- writing -------------------------------------------------------------------------------------


def put(text: str, keys: Keys, value: Any) -> str:
    """Set the value at `keys`; objects on the way are made where they are missing.

    Raises:
        NotReadable: the text is no document.
        TypeError: something on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    values = load(text)
    if look_up(values, keys) is not MISSING:
        node = _find(text, keys)
        return text[: node.start] + _dump(text, value, _indent_at(text, node.start)) + text[node.end :]
    depth = next(n for n in range(len(keys), -1, -1) if look_up(values, keys[:n]) is not MISSING)
    parent = look_up(values, keys[:depth])
    if not isinstance(parent, dict):
        raise TypeError(".".join(map(str, keys[:depth])))
    for key in reversed(keys[depth + 1 :]):
        value = {key: value}
    return _insert(text, _find(text, keys[:depth]), f"{_text(keys[depth])}: ", value)


def append(text: str, keys: Keys, value: Any) -> str:
    """Add an item at the end of the array at `keys`, which is made where it is missing.

    Raises:
        NotReadable: the text is no document.
        TypeError: something on the way is no object, or the end no array.
    """
    found = look_up(load(text), keys)
    if found is MISSING:
        return put(text, keys, [value])
    if not isinstance(found, list):
        raise TypeError(".".join(map(str, keys)))
    return _insert(text, _find(text, keys), "", value)


def remove(text: str, keys: Keys) -> str:
    """The text without the member or item at `keys`, its comma and the white space before it.

    Raises:
        NotReadable: the text is no document.
        KeyError, IndexError: there is nothing at `keys`.
    """
    node = _find(text, keys)
    container = _find(text, keys[:-1])
    children = container.children()
    position = next(n for n, (_, child) in enumerate(children) if child.start == node.start)
    start, end = children[position][0], node.end
    # Comments before it belong to what stands before.
    before = children[position - 1][1].end if position else container.start + 1
    while start > before and text[start - 1].isspace():
        start -= 1
    comma = _comma_after(text, end)
    if comma is not None:
        return text[:start] + text[comma + 1 :]
    if position and (comma := _comma_after(text, before)) is not None:
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _comma_after(text: str, at: int) -> int | None:
    found = _TRIVIA.match(text, at)
    end = found.end() if found else at
    return end if text[end : end + 1] == "," else None


def _insert(text: str, container: _Node, prefix: str, value: Any) -> str:
    """Add a member or item at the end of a container."""
    children = container.children()
    close = container.end - 1
    inside = text[container.start + 1 : close]
    last = children[-1][1].end if children else container.start + 1
    has_comma = bool(children) and _comma_after(text, last) is not None
    comma = "," if children and not has_comma else ""
    if children and "\n" not in inside:
        at = len(text[:close].rstrip())
        flat = prefix + json.dumps(value, ensure_ascii=False)
        return f"{text[:last]}{comma}{text[last:at]} {flat}{text[at:]}"
    indent = _child_indent(text, container)
    newline = _newline(text)
    body = f"{newline}{indent}{prefix}{_dump(text, value, indent)}" + ("," if has_comma else "")
    # After comments that follow the last one, which belong to it.
    at = max(last, len(text[:close].rstrip()))
    tail = text[at:] if "\n" in text[at:close] else f"{newline}{_indent_at(text, container.start)}{text[close:]}"
    return f"{text[:last]}{comma}{text[last:at]}{body}{tail}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """One step of indentation, as the document has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    """White space at the start of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip())]


def _child_indent(text: str, container: _Node) -> str:
    children = container.children()
    if children:
        start = children[-1][0]
        before = text[text.rfind("\n", 0, start) + 1 : start]
        if not before.strip():
            return before
    return _indent_at(text, container.start) + _unit(text)


def _dump(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{_newline(text)}{indent}".join(lines)
