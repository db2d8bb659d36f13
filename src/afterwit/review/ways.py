"""Ways that were tried in vain, in as few words as tell them from the plain one; and those of several tasks as one."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from afterwit.matters import covers
from afterwit.messages import say
from afterwit.records import Memory
from afterwit.review.attempts import Attempt, nested_arguments
from afterwit.review.changes import difference, general, holds_only_here
from afterwit.review.commands import PAIRS

#: Ways that are kept of one failure.
MOST_WAYS = 8
#: Words of an account that names ways; at least one way is told however long the rest is.
_MOST_WORDS = 60
_WAY_CHARS = 80


def way_of(plain: Attempt, tried: Attempt, before: Sequence[Attempt] = ()) -> str:
    """What was typed otherwise than in the plain attempt: `--no-audit`, `cd web && …`, `npm cache clean && …`.

    In the words of a shell, so that it reads the same in every language.

    Args:
        plain: the first attempt at the goal.
        tried: a later one.
        before: what was done in between to make it work.

    Returns:
        "" when it was the same, or when what differs means something in its task alone.
    """
    parts = [general(one.act.command, limit=_WAY_CHARS) for one in before if one.act.words and one.act.kind != "edit"]
    moved = bool(tried.act.directory) and tried.act.directory != plain.act.directory
    if moved:
        parts.append(f"cd {general(tried.act.directory)}")
    words = _otherwise(plain, tried, moved=moved)
    if not words and not parts:
        return ""
    way = " && ".join([*parts, words or "…"])
    return "" if holds_only_here(way) or len(way) > _WAY_CHARS else way


def _otherwise(plain: Attempt, tried: Attempt, *, moved: bool) -> str:
    a, b = plain.act, tried.act
    if a.kind == "edit" or b.kind == "edit":
        return ""
    if a.arguments or b.arguments:
        old, new = nested_arguments(a), nested_arguments(b)
        return general(", ".join(f"{name}={new[name]}" for name in new if new[name] != old.get(name)))
    if not a.words or not b.words:
        return ""
    if a.program != b.program:
        return general(b.command, limit=_WAY_CHARS)
    gone, come = difference(a.words, b.words)
    if moved and {_name(word) for word in come} <= {_name(word) for word in gone}:
        return ""  # the same files, as they are reached from there
    if len(gone) == len(come) == 1:
        come = _within(gone[0], come[0])
    if gone and not come:
        return general(b.command, limit=_WAY_CHARS)
    return general(" ".join(f'"{word}"' if " " in word else word for word in come))


def _within(old: str, new: str) -> list[str]:
    """What differs within one word: a setting of several, the end of an address."""
    if PAIRS.fullmatch(old) and PAIRS.fullmatch(new):
        return difference(old.split(), new.split())[1] or [new]
    return [f"…{new.removeprefix(old)}"] if "://" in old and new.startswith(old) else [new]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def ways_of(memory: Memory) -> tuple[str, ...]:
    """The ways that a memory says were tried in vain."""
    found: object = memory.structured.get("ways")
    return tuple(str(one) for one in cast("list[Any]", found)) if isinstance(found, list) else ()


def wider_fault(one: str, other: str) -> str:
    """The fault that takes in two of the same sort: "make: no rule for target: a" and "...: b"; "" where one of them
    takes in the other."""
    if covers(one, other) or covers(other, one):
        return other if covers(other, one) and one != other else ""
    shared: list[str] = []
    for mine, theirs in zip(re.split(r"(?<=: )|(?<=/)", one), re.split(r"(?<=: )|(?<=/)", other), strict=False):
        if mine != theirs:
            break
        shared.append(mine)
    return "".join(shared).rstrip(": /")


def all_ways(newer: Iterable[str], older: Iterable[str] = ()) -> tuple[str, ...]:
    """The ways of two accounts, each once, the newer ones first; at most `MOST_WAYS`."""
    return tuple(dict.fromkeys((*newer, *older)))[:MOST_WAYS]


def with_ways(account: str, ways: Sequence[str], language: str) -> str:
    """An account of a failure with the ways that were tried, as far as it stays short enough to read.

    Args:
        account: one sentence.
        ways: most worth telling first.
        language: "en" or "zh".
    """
    told: list[str] = []
    for way in ways:
        longer = _told(account, [*told, way], language)
        if told and _count(longer) > _MOST_WORDS:
            break
        told.append(way)
    return _told(account, told, language) if told else account


def _told(account: str, ways: Sequence[str], language: str) -> str:
    listed = say("list_join", language).join(f"`{way}`" for way in ways)
    return say("tried_in_vain", language, account=account, ways=listed)


def _count(words: str) -> int:
    """Words of a sentence; two Chinese characters are about one."""
    wide = sum("\u4e00" <= char <= "\u9fff" for char in words)
    return len(words.split()) + wide // 2
