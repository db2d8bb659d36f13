"""Where a memory applies: its conditions on system, repository and tool versions, met with where a task runs. Pure.

`Memory.applies` may hold

- `os`, `repo`: a name or a list of names,
- `tool` with `version`, or `tools` (tool -> version): what it was seen with,
- `only` (tool -> range): where it was proved to hold, after it was seen to fail elsewhere.

A version alone ("23.0.1") says what it was seen with; a range (">=23,<24", "23.*", "^2.1", alternatives
with "||") says where it holds. What is not known contradicts nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from afterwit import text
from afterwit.records import Json

#: Tools whose second number is a release of its own: what held in 3.11 may not in 3.12.
_MINOR_COUNTS = frozenset({"python", "python3", "cpython"})

_SYSTEMS = {
    "mac": "darwin",
    "macos": "darwin",
    "osx": "darwin",
    "mac os": "darwin",
    "win32": "windows",
    "win": "windows",
}
_NUMBERS = re.compile(r"\s*v?(\d+(?:\.\d+)*)")
_PART = re.compile(r"\s*(>=|<=|==|!=|~=|>|<|=|\^|~)?\s*v?(\d+(?:\.\d+)*)(\.[*x])?\S*\s*", re.IGNORECASE)

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Clash:
    """A condition of a memory that is not met."""

    #: "os", "repo" or the name of a tool
    what: str
    #: the condition, as written
    wanted: str
    #: what is there instead
    given: str
    #: it was proved not to hold there, so it is left out; otherwise it is only less likely to help
    proved: bool = False


def clashes(applies: Json, environment: Json) -> tuple[Clash, ...]:
    """Conditions that an environment contradicts; none when either side says nothing.

    Args:
        applies: `Memory.applies`.
        environment: `Task.environment`: {"os": ..., "repo": ..., "tools": {name: version}}.
    """
    if not applies or not environment:
        return ()
    return (*_names(applies, environment), *_versions(applies, environment))


def tools_of(conditions: Json) -> dict[str, str]:
    """Tool -> version or range, of a memory's conditions or of an environment; names folded."""
    found: dict[str, str] = {}
    tools: object = conditions.get("tools")
    if isinstance(tools, Mapping):
        found = {text.fold(name): str(value) for name, value in cast("Mapping[str, Any]", tools).items() if value}
    if conditions.get("tool") and conditions.get("version"):
        found[text.fold(str(conditions["tool"]))] = str(conditions["version"])
    return found


def holds(version: str, wanted: str) -> bool | None:
    """Whether a version lies in a range; None when one of them cannot be read."""
    numbers = _numbers(version)
    alternatives = [[*_parts(part)] for part in wanted.split("||")]
    if numbers is None or not any(alternatives):
        return None
    return any(all(_meets(numbers, *test) for test in tests) for tests in alternatives if tests)


def narrowed(applies: Json, tool: str, *, held: Sequence[str], failed: Sequence[str]) -> Json:
    """Conditions under which a memory holds only where it was seen to hold.

    Args:
        applies: the conditions so far.
        tool: whose version makes the difference.
        held: versions with which it helped, at least one.
        failed: versions with which it harmed, none of `held`.
    """
    good, bad = (sorted(versions, key=lambda one: _numbers(one) or ()) for versions in (held, failed))
    if _key(good[-1]) < _key(bad[0]):
        wanted = f"<{bad[0]}"
    elif _key(good[0]) > _key(bad[-1]):
        wanted = f">{bad[-1]}"
    else:
        wanted = " || ".join(f"=={one}" for one in dict.fromkeys(good))
    only: object = applies.get("only")
    kept = dict(cast("Mapping[str, Any]", only)) if isinstance(only, Mapping) else {}
    return {**applies, "only": {**kept, tool: wanted}}


def _names(applies: Json, environment: Json) -> Iterator[Clash]:
    for what, same in (("os", _system), ("repo", text.fold)):
        wanted, given = _listed(applies.get(what)), environment.get(what)
        if wanted and isinstance(given, str) and given and same(given) not in {same(one) for one in wanted}:
            yield Clash(what, ", ".join(wanted), given)


def _versions(applies: Json, environment: Json) -> Iterator[Clash]:
    there = tools_of({"tools": environment.get("tools")})
    proved = tools_of({"tools": applies.get("only")})
    for tool, wanted in proved.items():
        if tool in there and holds(there[tool], wanted) is False:
            yield Clash(tool, wanted, there[tool], proved=True)
    for tool, wanted in tools_of(applies).items():
        if tool in there and tool not in proved and _differs(tool, there[tool], wanted):
            yield Clash(tool, wanted, there[tool])


def _differs(tool: str, version: str, wanted: str) -> bool:
    seen = re.fullmatch(r"\s*v?(\d+(?:\.\d+)*)(?:[-+._]?[a-z]\S*)?\s*", wanted, re.IGNORECASE)
    if seen is None:
        return holds(version, wanted) is False
    numbers, known = _numbers(version), _numbers(wanted)
    if numbers is None or known is None:
        return False
    count = 2 if known[0] == 0 or tool in _MINOR_COUNTS else 1
    count = min(count, len(numbers), len(known))
    return numbers[:count] != known[:count]


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [str(one) for one in cast("list[Any]", value) if one] if isinstance(value, list | tuple) else []


def _system(name: str) -> str:
    folded = text.fold(name).strip()
    return _SYSTEMS.get(folded, folded)


def _numbers(version: str) -> Numbers | None:
    found = _NUMBERS.match(version)
    return tuple(int(part) for part in found[1].split(".")) if found else None


def _key(version: str) -> Numbers:
    """Numbers without zeros at the end, so that 23 and 23.0 are one."""
    return _trimmed(_numbers(version) or ())


def _trimmed(numbers: Numbers) -> Numbers:
    end = len(numbers)
    while end and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def _parts(wanted: str) -> Iterator[tuple[str, Numbers]]:
    """Sign and bound of each part of a range; the sign "*" stands for "begins with"."""
    for part in wanted.split(","):
        found = _PART.fullmatch(part)
        if found:
            sign = found[1] or "*"
            bound = tuple(int(number) for number in found[2].split("."))
            yield ("*" if found[3] and sign in ("==", "=") else sign), bound


def _meets(given: Numbers, sign: str, bound: Numbers) -> bool:
    one, other = _trimmed(given), _trimmed(bound)
    orders = {
        ">=": one >= other,
        ">": one > other,
        "<=": one <= other,
        "<": one < other,
        "!=": one != other,
        "==": one == other,
        "=": one == other,
    }
    if sign in orders:
        return orders[sign]
    same = {"^": 1 if bound[0] else 2, "~": min(2, len(bound)), "~=": max(1, len(bound) - 1)}.get(sign, len(bound))
    padded = given + (0,) * len(bound)
    return padded[:same] == bound[:same] and (sign == "*" or one >= other)
