"""An agent without knowledge and without a language model: it tries what it can think of, unless it is told something.

It reads what it is told as a hurried reader would: is this about my job, which of my ways does it speak for, which
are said to have failed? What is advised goes first, what failed elsewhere last; otherwise it tries the plain way,
and then the others in an order drawn by the seed.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evals.simulation.jobs import Job, Way
from evals.simulation.world import World, dice

#: Ways that are tried for one job before the agent gives up.
PATIENCE = 4

#: Share of the words by which a way differs from the plain one that a text must hold to speak of it.
_SPEAKS_OF = 0.6

_LOOKS = ("ls", "cat README.md", "git status", "grep -rn render services", "cat Makefile", "ls data")
_WORD = re.compile(r"[!#$%*+\-./0-9:<=>?@A-Z\[\]^_a-z{}~]+")
# What a text says against: "... instead of X", "not X", "X 而不是 Y".
_AGAINST = re.compile(
    r"\b(?:instead of|rather than|and not|not|never|don't|do not|avoid|drop|remove|without)\b[^;.。；，\n]*"
    r"|(?:而不是|代替|取代|不要|别用|避免|不用|去掉)[^;。；，\n]*",
    re.IGNORECASE,
)
# What a text says of the moment in which it applies: "If X fails with “...”, ...", "X 报错“...”时，...".
_SITUATION = re.compile(r"\b(?:if|when)\b[^“”]*?(?:“[^”]*”)?,\s|[^，。：:]*报错“[^”]*”时，|“[^”]*”", re.IGNORECASE)
# "in the directory `x`", 在目录 `x` 下 is what a command line says as `cd x`.
_DIRECTORY = re.compile(r"(?:\b(?:directory|folder)|目录|文件夹)\s*[`“\"]?([\w./-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """One memory, as the agent sees it."""

    id: str
    text: str
    #: "lesson", "failure", "rule", ...
    kind: str = "lesson"
    #: what its reader is warned of
    warnings: tuple[str, ...] = ()


class Memory(Protocol):
    """What an agent may do with a memory during one task."""

    def start(self, goal: str, environment: Mapping[str, object]) -> Sequence[Told]:
        """Begin a task; what should be known before its first step."""
        ...

    def log(self, command: str, output: str, ok: bool | None) -> None:
        """Note a command and what came of it."""
        ...

    def ask(self, query: str) -> Sequence[Told]:
        """What is known about something."""
        ...

    def finish(self, outcome: str, used: Sequence[str]) -> None:
        """End the task."""
        ...

    @property
    def tokens(self) -> int:
        """Estimated tokens that the task was told."""
        ...


class NoMemory:
    """An agent that starts anew each time."""

    tokens = 0

    def start(self, goal: str, environment: Mapping[str, object]) -> Sequence[Told]:
        """Nothing is known."""
        return ()

    def log(self, command: str, output: str, ok: bool | None) -> None:
        """Nothing is kept."""

    def ask(self, query: str) -> Sequence[Told]:
        """Nothing is known."""
        return ()

    def finish(self, outcome: str, used: Sequence[str]) -> None:
        """Nothing is learned."""


@dataclass(frozen=True)
class Assignment:
    """One task, the same for every arm."""

    goal: str
    jobs: tuple[Job, ...]
    #: how the world and the agent's order are drawn
    seed: str
    versions: Mapping[str, str]
    #: "en" or "zh"
    language: str = "en"
    #: commands that only look, before each job
    looks: int = 2


@dataclass(frozen=True)
class Habits:
    """How an agent deals with its memory."""

    #: at the end of a task it names what worked
    cites: bool = False
    #: it searches before the first try of each job, and not only after a failure
    asks_first: bool = False


@dataclass(frozen=True)
class Attempt:
    """One way that was tried."""

    family: str
    #: its place among the ways of the family; 0 is what anybody would try first
    way: int
    ok: bool
    #: memory that advised it; empty = the agent's own idea
    advised_by: str = ""


@dataclass
class Trace:
    """What became of a task."""

    succeeded: bool = False
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    #: ids of all memories that it was told
    told: frozenset[str] = frozenset()
    tokens: int = 0


def perform(task: Assignment, memory: Memory, habits: Habits = Habits()) -> Trace:
    """Do a task; ends when all its jobs are done or one is given up."""
    draw = dice("agent", task.seed)
    world = World(dice("world", task.seed), task.versions, task.language == "zh")
    trace = Trace()
    told = list(memory.start(task.goal, {"tools": dict(task.versions)}))
    trace.succeeded = True
    for job in task.jobs:
        for look in draw.choices(_LOOKS, k=task.looks):
            memory.log(look, world.run(look).output, True)
        if habits.asks_first:
            _ask(memory, job.default[0], told)
        trace.succeeded = _work(job, world, memory, told, trace, draw)
        if not trace.succeeded:
            break
    used = [attempt.advised_by for attempt in trace.attempts if attempt.advised_by and attempt.ok]
    memory.finish("success" if trace.succeeded else "failure", list(dict.fromkeys(used)) if habits.cites else [])
    trace.told = frozenset(one.id for one in told)
    trace.tokens = memory.tokens
    return trace


def _work(job: Job, world: World, memory: Memory, told: list[Told], trace: Trace, draw: random.Random) -> bool:
    order = [0, *draw.sample(range(1, len(job.ways)), len(job.ways) - 1)]
    flags = draw.choices((True, False), k=PATIENCE)
    for says_ok in flags:
        way, source = _next(job, order, told)
        order.remove(way)
        ok, output = _try(job.ways[way], world, memory, says_ok)
        trace.attempts.append(Attempt(job.family, way, ok, source))
        if ok:
            return True
        _ask(memory, f"{job.ways[way][-1]}: {_end_of(output)}", told)
    return False


def _ask(memory: Memory, query: str, told: list[Told]) -> None:
    known = {one.id for one in told}
    told += [one for one in memory.ask(query) if one.id not in known]


def _try(way: Way, world: World, memory: Memory, says_ok: bool) -> tuple[bool, str]:
    for command in way:
        result = world.run(command)
        memory.log(command, result.output, result.ok if says_ok else None)
        if not result.ok:
            return False, result.output
    return True, ""


def _next(job: Job, order: Sequence[int], told: Sequence[Told]) -> tuple[int, str]:
    """What to try now, and the memory that says so: advice without a warning first, then with one, then own ideas."""
    for one in sorted(told, key=lambda one: bool(one.warnings)):
        way = advised(job, one.text) if one.kind != "failure" else None
        if way in order:
            return way, one.id
    failed = {way for one in told if one.kind == "failure" for way in said_to_fail(job, one.text)}
    return next((way for way in order if way not in failed), order[0]), ""


def advised(job: Job, text: str) -> int | None:
    """The way of a job that a text speaks for; None when it is about something else or names none."""
    if not _is_about(job, text):
        return None
    advice = _AGAINST.sub(" ", _SITUATION.sub(" ", text))
    said = _words(advice) | {word for found in _DIRECTORY.finditer(advice) for word in ("cd", found[1].lower())}
    shares = {way: _share(job, way, said) for way in range(1, len(job.ways))}
    best = max(shares, key=lambda way: shares[way])
    return best if shares[best] >= _SPEAKS_OF else None


def said_to_fail(job: Job, text: str) -> list[int]:
    """The ways of a job that an account of a failure names."""
    if not _is_about(job, text):
        return []
    return [way for way in range(1, len(job.ways)) if _share(job, way, _words(text)) == 1.0]


def _is_about(job: Job, text: str) -> bool:
    return any(word.lower() in text.lower() for word in job.about)


def _share(job: Job, way: int, said: frozenset[str]) -> float:
    """How much of what sets a way apart from the plain one was said."""
    command = " ".join(job.ways[way])
    entered = re.match(r"cd (\S+) && ", command)
    apart = frozenset(("cd", entered[1])) if entered else _words(command) - _words(job.default[0])
    return len(apart & said) / len(apart) if apart else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(word for found in _WORD.findall(text.lower()) if (word := found.strip(".:!?")))


def _end_of(output: str) -> str:
    """The last of an output on one line, as one would paste an error into a search."""
    return " ".join(output.split())[-240:]
