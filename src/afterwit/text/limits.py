"""Where sentences end, and which text is let in."""

import re

from afterwit.errors import InvalidInput, Sentence

_END = re.compile(
    r"[。！？]+[”’」』）)\"']*|[!?]+[”’)\"']*(?=\s|$|[\u3400-\u9fff])|\n+|(?<!\.)\.[”’)\"']*(?=\s|$|[\u3400-\u9fff])"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|prof|sr|jr|st|vs|no|fig|sec|ch|vol|pp?|approx|dept|est|inc|ltd|co|corp|etc|al|cf|"
    r"e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[A-Z]|\d+)$",
    re.IGNORECASE,
)
_MAY_END = frozenset(("etc", "a.m", "p.m", "u.s", "u.k", "inc", "ltd", "co", "corp"))


def sentences(text: str) -> list[str]:
    """Cut a text into sentences, in order, without the white space around them.

    Chinese and English stops and line breaks end a sentence; the dot of a version, decimal, abbreviation, initial,
    list number, file name or address does not, and neither does an ellipsis.
    """
    found: list[str] = []
    start = 0
    for stop in _END.finditer(text):
        if stop.group().startswith(".") and not _ends_sentence(text, start, stop):
            continue
        if piece := text[start : stop.end()].strip():
            found.append(piece)
        start = stop.end()
    if piece := text[start:].strip():
        found.append(piece)
    return found


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether the dot `stop` ends the sentence that began at `start`."""
    before = text[max(start, stop.start() - 16) : stop.start()]
    following = text[stop.end() : stop.end() + 3].lstrip()[:1]
    if following.islower() or not before.strip():
        return False
    abbreviation = _ABBREVIATION.search(before)
    if abbreviation is None:
        return True
    word = abbreviation.group().strip(" \t\n(\"'").casefold()
    if word.isdigit():  # "1. Install it" is a list; "It was 2024." is not
        return before.strip() != word
    return not following or (word in _MAY_END and following.isupper())


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def check_text(text: object, *, field: str, max_bytes: int = 16_384, allow_empty: bool = False) -> str:
    """Let through text that can be stored byte for byte; it is returned unchanged.

    Args:
        text: what the caller gave.
        field: the parameter's name, for the error.
        max_bytes: most bytes of UTF-8.
        allow_empty: blank text is fine.

    Raises:
        InvalidInput: not text, blank, too long, with control characters or invalid Unicode.
    """
    if not isinstance(text, str):
        raise InvalidInput(
            Sentence("{field} must be text, not {given}.", field=field, given=type(text).__name__),
            next_step="Pass a string.",
        )
    if not allow_empty and not text.strip():
        raise InvalidInput(Sentence("{field} is empty.", field=field), next_step="Pass at least one word.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            Sentence(
                "{field} is not valid Unicode: a lone surrogate at character {start}.", field=field, start=error.start
            ),
            next_step="Decode the bytes as UTF-8 before passing them on.",
        ) from None
    if size > max_bytes:
        raise InvalidInput(
            Sentence(
                "{field} is {size} bytes long; at most {max_bytes} are kept.",
                field=field,
                size=size,
                max_bytes=max_bytes,
            ),
            next_step="Shorten it to the conclusion worth keeping, or split it into several.",
        )
    if bad := _CONTROL.search(text):
        raise InvalidInput(
            Sentence(
                "{field} has the control character U+{code:04X} at character {start}.",
                field=field,
                code=ord(bad.group()),
                start=bad.start(),
            ),
            next_step="Remove it; only tab and line breaks are allowed.",
        )
    return text
