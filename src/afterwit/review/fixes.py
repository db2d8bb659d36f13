"""Which failures of a task were overcome, and by what; which were not."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from afterwit.review.actions import Act
from afterwit.review.attempts import Attempt, same_goal
from afterwit.review.changes import Change, change_between, edit_change, general
from afterwit.review.commands import PAIRS
from afterwit.review.instructions import is_dangerous, reads_as_instruction
from afterwit.review.normalising import readable
from afterwit.review.ways import way_of

#: Words of a command that are its own: names of programs, packages, files, hosts.
_TELLING = re.compile(r"[A-Za-z\d][\w.-]{3,}\w")
_EVERYDAY = frozenset("install update build start docker compose config python branch origin restart upgrade".split())
#: How many attempts later a failure may still be overcome.
_REACH = 16
#: How often the same thing must fail before another way of doing it is more than luck, where faults go by themselves.
_TIMES_FOR_CHANCE = 3
#: Faults of networks and of what is busy, which come and go.
_PASSING = re.compile(
    r"(?i)^(?:connection reset|timed out|name not resolved|HTTP (?:429|50[0234])|ServiceUnavailable|server refused|"
    r"deadlock)|"
    r"(?:handshake|i/o|gateway|connection) time-?out|temporary|currently unable|too many requests|暂时"
)
#: Kinds of changes that are a matter of the command alone.
_OF_COMMANDS = frozenset(("add", "drop", "set", "replace", "swap", "directory", "value", "command", "header", "field"))


@dataclass(frozen=True)
class Fix:
    """A failure that was overcome."""

    #: attempts that failed in the same way, in order; at least one
    failed: tuple[Attempt, ...]
    #: of them, the one that is most like what worked: what differs from it is what helped
    nearest: Attempt
    worked: Attempt
    #: what made the difference; None when nothing did, or nothing worth telling
    change: Change | None
    #: what was done in between, oldest first
    between: tuple[Attempt, ...] = ()
    #: ways that were tried before it and failed (`way_of`), in order
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeadEnd:
    """A failure that was not overcome in its task."""

    #: attempts that failed in the same way, in order; at least one
    failed: tuple[Attempt, ...]
    #: the first attempt at the goal, as one would do it without thinking
    plain: Attempt
    #: nothing that worked came after it
    ends_the_task: bool
    #: what was done otherwise than in the plain attempt (`way_of`), each once, in order; may be empty
    ways: tuple[str, ...] = ()


def fixes_and_dead_ends(attempts: Sequence[Attempt]) -> tuple[list[Fix], list[DeadEnd]]:
    """Sort a task's failures into those that were overcome and those that were not; both in order."""
    fixes: list[Fix] = []
    open_: dict[str, DeadEnd] = {}
    done: set[int] = set()
    last = max(
        (index for index, attempt in enumerate(attempts) if not attempt.failed and not attempt.act.is_dump), default=-1
    )
    for index, attempt in enumerate(attempts):
        if not attempt.failed or index in done:
            continue
        chain = _chain(attempts, index)
        done.update(chain)
        if not attempts[chain[-1]].failed:
            fixes += _segments(attempts, chain)
            continue
        plain, ways = _ways(attempts, chain)
        for key, (first, end) in _spans(attempts, chain).items():
            failed = tuple(attempts[place] for place in chain if attempts[place].fault_key == key)
            tried = [way for place, way in ways.items() if first <= place <= end]
            if known := open_.get(key):
                # The same fault in the way of something else: of the first goal, that is another way.
                tried = [*known.ways, way_of(known.plain, plain), *tried]
                failed = (*known.failed, *failed)
            found = tuple(dict.fromkeys(way for way in tried if way))
            open_[key] = DeadEnd(failed, known.plain if known else plain, end > last, found)
    return fixes, list(open_.values())


def _ways(attempts: Sequence[Attempt], chain: Sequence[int]) -> tuple[Attempt, dict[int, str]]:
    """The plainest attempt of a chain, and place -> what was done otherwise in each of the others."""
    plain = min((attempts[place] for place in chain), key=lambda one: len(_words(one.act)))
    found = {chain[0]: way_of(plain, attempts[chain[0]])}
    for before, place in pairwise(chain):
        found[place] = way_of(plain, attempts[place], _between(attempts, before, place))
    return plain, {place: way for place, way in found.items() if way}


def _words(act: Act) -> list[str]:
    return [*_single(act.words), *([act.directory] if act.directory else []), *act.arguments]


def _spans(attempts: Sequence[Attempt], chain: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Fault -> the places where it came first and last, in order of the first.

    A fault between two of another one is left out: the way that led to it was given up, and belongs to the other.
    """
    spans: dict[str, tuple[int, int]] = {}
    for place in chain:
        key = attempts[place].fault_key
        spans[key] = (spans.get(key, (place, place))[0], place)
    return {
        key: (first, end)
        for key, (first, end) in spans.items()
        if not any(begun < first and end < over for begun, over in spans.values())
    }


def _between(attempts: Sequence[Attempt], before: int, after: int) -> tuple[Attempt, ...]:
    """What was done between two attempts that may have changed something."""
    return tuple(
        one
        for one in attempts[before + 1 : after]
        if one.changes_something or _reads_before_edit(attempts[before], one)
    )


def _chain(attempts: Sequence[Attempt], start: int) -> list[int]:
    """Places of the attempts at one goal from a failure on, up to the first that worked."""
    chain = [start]
    for index in range(start + 1, min(len(attempts), start + 1 + _REACH * 2)):
        if index - chain[-1] > _REACH:
            break
        if same_goal(attempts[start], attempts[index]):
            chain.append(index)
            if not attempts[index].failed:
                break
    return chain


def _segments(attempts: Sequence[Attempt], chain: list[int]) -> list[Fix]:
    """One fix per fault that was met on the way to what worked."""
    fixes: list[Fix] = []
    group: list[int] = []
    _, ways = _ways(attempts, chain)
    for place, following in pairwise(chain):
        group.append(place)
        if attempts[following].fault_key == attempts[place].fault_key:
            continue
        failed = tuple(attempts[one] for one in group)
        between = _between(attempts, place, following)
        worked, nearest = attempts[following], _nearest(failed, attempts[following])
        change = _change(failed, nearest, between, attempts, worked)
        if change is not None and worked.failed and not _is_kept(change, attempts[chain[-1]]):
            change = None
        first = next(one for one in chain if attempts[one].fault_key == failed[0].fault_key)
        vain = [way for one, way in ways.items() if first <= one <= place and way != ways.get(chain[-1])]
        fixes.append(Fix(failed, nearest, worked, change, between, tuple(dict.fromkeys(vain))))
        group = []
    return fixes


def _nearest(failed: Sequence[Attempt], worked: Attempt) -> Attempt:
    """The failed attempt that is most like what worked, the last of several."""
    return min(reversed(failed), key=lambda one: _distance(one.act, worked.act))


def _distance(failed: Act, worked: Act) -> int:
    """How much two commands differ; what had to go counts more than what was added. 0 for what is no command."""
    if not failed.words or not worked.words:
        return 0
    before, after = Counter(_single(failed.words)), Counter(_single(worked.words))
    return 2 * (before - after).total() + (after - before).total() + (failed.directory != worked.directory)


def _single(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        yield from word.split() if PAIRS.fullmatch(word) else (word,)


def _is_kept(change: Change, last: Attempt) -> bool:
    """Whether the attempt that worked in the end still has what only led from one fault to another."""
    if change.kind not in _OF_COMMANDS or not last.act.words:
        return True
    given = f"{last.act.directory} {last.act.command}"
    held = all(word in given for word in change.parts[0].split() if "<" not in word)
    return held != (change.kind == "drop")


def _reads_before_edit(failed: Attempt, one: Attempt) -> bool:
    return failed.fault is not None and failed.fault.error == "file not read before the edit" and one.act.kind == "read"


def _change(
    failed: tuple[Attempt, ...],
    last: Attempt,
    between: tuple[Attempt, ...],
    attempts: Sequence[Attempt],
    worked: Attempt,
) -> Change | None:
    """What made the difference between `last`, one of the failed attempts, and the one that worked."""
    change = change_between(last, worked)
    if change is not None and _may_be_chance(change, failed, last, worked):
        return None
    if (
        change is not None
        and change.kind in ("exact", "indentation", "statement", "unique")
        and len(failed) < _needed(change)
    ):
        change = None
    if change is None:
        change = _by_what_came_between(last, between, worked)
    elif prepared := _prepared(last, between, change):
        change = replace(change, first=prepared)
    if change is None and _is_unchanged(last, worked) and not between and len(failed) >= 3:
        change = Change("retry", (str(len(failed) + 1),))
    if change is None or any(is_dangerous(part) for part in (*change.first, *change.parts)):
        return None
    return None if _told_by_a_page(change, attempts, worked) else change


def _may_be_chance(change: Change, failed: Sequence[Attempt], last: Attempt, worked: Attempt) -> bool:
    """Whether the fault may have gone by itself, so that what was done otherwise the next time proves nothing.

    Not for what installs: there another mirror or a longer wait is what helps.
    """
    if change.kind not in _OF_COMMANDS or worked.act.kind == "install" or not last.act.words or last.fault is None:
        return False
    times = sum(_distance(one.act, last.act) == 0 for one in failed)
    return _PASSING.search(f"{last.fault.error}: {last.fault.text}") is not None and times < _TIMES_FOR_CHANCE


def _needed(change: Change) -> int:
    """How often a slip in the text of an edit must happen to be worth a word."""
    return 2 if change.kind == "statement" else 1


def _is_unchanged(failed: Attempt, worked: Attempt) -> bool:
    return failed.act.command == worked.act.command and failed.act.directory == worked.act.directory


#: Class of fault -> kinds of action that put it right.
_CURES = (
    (
        re.compile(
            r"module not found|command not found|header not found|linker|package|gem|browser not installed|"
            r"distribution|not required|go\.sum|wheel|cannot find"
        ),
        ("install", "setup"),
    ),
    (re.compile(r"no such (?:table|relation|column|database|schema|role)|syntax error"), ("migrate", "sql", "setup")),
    (
        re.compile(
            r"connection (?:refused|reset)|not reachable|daemon|unhealthy|not running|server refused|HTTP 50\d|no "
            r"such container"
        ),
        ("service", "setup", "run"),
    ),
    (
        re.compile(r"permission denied|ownership|key refused|authentication|login|credentials|HTTP 40[13]|identity"),
        ("setup", "service", "run", "http"),
    ),
    (re.compile(r"in use|locked|file exists"), ("run", "service", "setup")),
    (re.compile(r"remote is ahead|overwritten|conflict|upstream|ref unknown|not a repository|rebase"), ("vcs",)),
    (re.compile(r"element|timed out|page closed|net::"), ("browse",)),
    (re.compile(r"file not read before|file changed since"), ("read",)),
    (re.compile(r"HTTP 429|locked|timed out|connection refused|HTTP 503"), ("wait",)),
)


def _by_what_came_between(failed: Attempt, between: Sequence[Attempt], worked: Attempt) -> Change | None:
    """What was done before the same thing worked: an installation, a migration, a setting, an edit of settings."""
    error = failed.fault.error if failed.fault else ""
    wanted = [kind for pattern, kinds in _CURES if pattern.search(error) for kind in kinds]
    acting = [
        one
        for one in between
        if one.act.kind != "edit" and not (one.act.kind == "browse" and worked.act.kind != "browse")
    ]
    fitting = [one for one in acting if _kind(one) in wanted] or [
        one for one in acting if _kind(one) in ("install", "migrate", "service", "setup", "build")
    ]
    chosen = fitting or _only_other(acting)
    edited = [one for one in between if one.act.kind == "edit"]
    if chosen and not (edited and all(_takes_up(one) for one in chosen)):
        return _first(chosen[-2:])
    settings = [change for one in edited if (change := edit_change(one))]
    return settings[-1] if settings else None


def _only_other(acting: Sequence[Attempt]) -> list[Attempt]:
    """What no rule knows as a cure is one only when nothing else was done in between."""
    others = [one for one in acting if _kind(one) not in ("wait", "vcs")]
    return others if len(others) == 1 else []


def _takes_up(attempt: Attempt) -> bool:
    """It only makes an edit take effect: a restart or a build would have changed nothing without it."""
    return attempt.act.kind in ("service", "build")


def _prepared(failed: Attempt, between: Sequence[Attempt], change: Change) -> tuple[str, ...]:
    """What was made before and then used: `python -m venv .venv`, then `.venv/bin/pip` instead of `pip`."""
    made = [one for one in between if _kind(one) in ("setup", "install") and one.act.target and change.kind != "edit"]
    return tuple(_shown(one) for one in made if any(one.act.target in part for part in change.parts))[-1:]


def _kind(attempt: Attempt) -> str:
    return "wait" if attempt.act.program == "sleep" or attempt.act.tool.endswith("wait") else attempt.act.kind


def _first(chosen: Sequence[Attempt]) -> Change | None:
    if all(_kind(one) == "wait" for one in chosen):
        return Change("wait", (general(chosen[-1].act.command or chosen[-1].act.program),))
    commands = [_shown(one) for one in chosen if _kind(one) != "wait"]
    commands = list(dict.fromkeys(one for one in commands if one))
    if not commands:
        return None
    if chosen[-1].act.kind == "read":
        return Change("read", ())
    return Change("first", tuple(commands))


def _shown(attempt: Attempt) -> str:
    act = attempt.act
    if act.words:
        return general(act.command)
    given = ", ".join(f"{name}={value}" for name, value in list(act.arguments.items())[:3] if len(value) <= 60)
    return general(f"{act.program} {given}" if given else f"{act.program} {act.command if not act.arguments else ''}")


def _told_by_a_page(change: Change, attempts: Sequence[Attempt], worked: Attempt) -> bool:
    """Whether what was done stands in an output as an order to whoever reads it: then it is no experience."""
    told = {word for part in (*change.first, *change.parts) for word in _TELLING.findall(part)} - _EVERYDAY
    if not told:
        return False
    for attempt in attempts:
        if attempt.position > worked.position:
            break
        if _is_foreign(attempt) and any(word in attempt.step.output for word in told):
            lines = readable(attempt.step.output).splitlines()
            at = [number for number, line in enumerate(lines) if told & set(_TELLING.findall(line))]
            if any(reads_as_instruction(" ".join(lines[max(0, number - 1) : number + 2])) for number in at):
                return True
    return False


def _is_foreign(attempt: Attempt) -> bool:
    """The output is somebody else's words: a page, a file, an answer, a tool of another server."""
    return attempt.act.kind in ("browse", "http", "read", "search", "call", "sql")
