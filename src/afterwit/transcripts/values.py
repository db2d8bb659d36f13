"""Reading values out of records whose shape nobody promises."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from afterwit.clock import from_us
from afterwit.transcripts.wording import strip_reminders

#: Characters of a text that are kept, half from its beginning and half from its end.
KEPT_CHARS = 24_000
#: Characters of a text that are looked at.
_READ_CHARS = 1_000_000
_SHELLS = frozenset(
    ("bash", "shell", "shell_command", "local_shell", "exec_command", "run_shell_command", "container.exec")
)
_SHELL_FLAGS = frozenset(("-c", "-lc", "-ic", "/c", "-Command"))
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit [Cc]ode:?|exit code:) ?(-?\d{1,10})\b", re.MULTILINE)
#: Numbers of this size and more are milliseconds since 1970, smaller ones seconds.
_MILLISECONDS = 100_000_000_000
_WRAPPER = re.compile(r"^\s*<untrusted_context>\n?|\n?</untrusted_context>\s*$")


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def sequence(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def string(value: object) -> str:
    """The value if it is text, else empty."""
    return value if isinstance(value, str) else ""


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list."""
    for one in sequence(value):
        if isinstance(one, Mapping):
            yield cast("Mapping[str, Any]", one)


def moment(value: object) -> datetime | None:
    """A time in UTC from ISO 8601 text, or from seconds or milliseconds since 1970; None for anything else.

    Text without a zone is in UTC, as all of these clients write it.
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return from_us(0) + timedelta(seconds=value / 1000 if value >= _MILLISECONDS else value)
    except (ValueError, OverflowError):
        pass
    return None


def kept(text: str) -> str:
    """Text as it can be kept: without what memory and client put into it, with both ends of a long one."""
    if len(text) > _READ_CHARS:
        text = _ends(text, _READ_CHARS)
    text = text.encode(errors="replace").decode()  # a lone surrogate becomes "?"
    return _ends(strip_reminders(text), KEPT_CHARS)


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def printed(value: object) -> str:
    """What a tool printed, as text: of a list its texts, of an object its output or error. Images are left out."""
    if isinstance(value, str):
        return kept(_WRAPPER.sub("", value) if "untrusted_context>" in value else value)
    if isinstance(value, list):
        parts = cast("list[object]", value)
        return kept("\n".join(filter(None, (one if isinstance(one, str) else _text_of(mapping(one)) for one in parts))))
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        for name in ("output", "error", "content", "text"):
            if named.get(name):
                return printed(named[name])
        return kept(_json(named)) if named else ""
    return "" if value is None else str(value)


def _text_of(part: Mapping[str, Any]) -> str:
    return string(part.get("text")) or (string(part.get("content")) if part.get("type") == "text" else "")


def arguments(tool: str, given: object) -> str:
    """What a tool was given: the command of a shell, else its arguments as JSON."""
    if isinstance(given, str):
        try:
            read = json.loads(given) if given.lstrip().startswith("{") else given
        except (ValueError, RecursionError):
            read = given
        if not isinstance(read, Mapping):
            return kept(given)
        given = cast("object", read)
    named = mapping(given)
    if tool.casefold() in _SHELLS:
        command = named.get("command") or named.get("cmd")
        if line := _line(command):
            return kept(line)
    return kept(_json(named)) if named else ""


def _line(command: object) -> str:
    """A command as it is typed: ["bash", "-lc", "ls"] is "ls"."""
    words = [word for word in sequence(command) if isinstance(word, str)]
    if len(words) == 3 and words[1] in _SHELL_FLAGS:
        return words[2]
    return " ".join(words) or string(command)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def exit_code(output: str) -> int | None:
    """The exit code that a shell tool wrote into its output, None when it did not."""
    found = _EXIT_CODE.search(output[:2_000]) or _EXIT_CODE.search(output[-2_000:])
    return int(found[1]) if found else None
