"""Working memory read back: what a task is about, what was tried, what failed, and its last steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterwit import text
from afterwit.records import Step, Task
from afterwit.review.signatures import is_failure, signature
from afterwit.review.trajectory import compress

#: Most tokens of the digest of earlier steps, of one line in it, and of each side of a recent step.
DIGEST_TOKENS = 400
LINE_TOKENS = 60
STEP_TOKENS = 120
#: Most different attempts and failures that are named, the last ones.
MOST_NAMED = 12


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried, however often."""

    action: str
    #: what was done, on one line
    input: str
    times: int
    #: how it went the last time; None = cannot be said
    ok: bool | None
    #: the error of the last failure, on one line; empty when it did not fail
    error: str = ""


@dataclass(frozen=True)
class Working:
    """A task's working memory."""

    task: Task
    #: steps so far
    steps: int
    #: in the order of their last time
    tried: tuple[Attempt, ...]
    #: the attempts that never worked
    failed: tuple[Attempt, ...]
    #: the steps before `recent` in a few lines, oldest first; empty when there are none
    digest: tuple[str, ...]
    #: the last steps, with long texts shortened
    recent: tuple[Step, ...]


def working(task: Task, steps: Sequence[Step], *, window: int = 10) -> Working:
    """What a task's memory holds now.

    Args:
        task: the task.
        steps: all its steps, by position.
        window: how many of the last steps are shown themselves.
    """
    earlier, recent = steps[:-window], steps[-window:]
    attempts = _attempts(steps)
    tried = tuple(attempts[-MOST_NAMED:])
    failed = tuple(attempt for attempt in attempts if attempt.ok is False)[-MOST_NAMED:]
    return Working(task, len(steps), tried, failed, _digest(task, earlier), tuple(map(_shortened, recent)))


def _attempts(steps: Sequence[Step]) -> list[Attempt]:
    found: dict[tuple[str, str], Attempt] = {}
    for step in steps:
        if step.action in ("user", "note", "decision"):
            continue
        line = text.truncate(" ".join(step.input.split()), LINE_TOKENS)
        key = (step.action, line)
        failed = is_failure(step)
        ok = False if failed else step.ok
        before = found.pop(key, None)
        # A thing that worked once is no dead end, whatever came of it before.
        found[key] = Attempt(step.action, line, (before.times if before else 0) + 1, ok, _error(step) if failed else "")
    return list(found.values())


def _error(step: Step) -> str:
    seen = signature(step.output, action=step.action, input=step.input)
    return seen.text if seen is not None else text.truncate(" ".join(step.output.split()), LINE_TOKENS)


def _digest(task: Task, earlier: Sequence[Step]) -> tuple[str, ...]:
    """The telling points of the earlier steps, the last ones that fit."""
    if not earlier:
        return ()
    lines: list[str] = []
    left = DIGEST_TOKENS
    for point in reversed(compress(task, earlier).points):
        line = f"{point.role}: {text.truncate(' '.join(point.text.split()), LINE_TOKENS)}"
        left -= text.count_tokens(line)
        if left < 0:
            break
        lines.append(line)
    return tuple(reversed(lines))


def _shortened(step: Step) -> Step:
    short = {name: text.truncate(getattr(step, name), STEP_TOKENS) for name in ("input", "output", "rationale")}
    return replace(step, **short)
