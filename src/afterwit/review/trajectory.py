"""A task in a few points: what it was for, where it turned, what failed and helped, how it ended."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from afterwit.messages import say
from afterwit.records import Step, Task
from afterwit.review.attempts import Attempt, attempts_of
from afterwit.review.changes import attempt_words, general
from afterwit.review.corrections import said_by_user
from afterwit.review.decisions import decisions_of
from afterwit.review.fixes import Fix, fixes_and_dead_ends
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.outcomes import outcome_of
from afterwit.review.telling import change_words, error_words, language_of, quoted, short
from afterwit.text import sentences
from afterwit.vocabulary import strip_injected

Role = Literal["goal", "decision", "failure", "fix", "correction", "result"]

#: Most points of one task.
MOST_POINTS = 8
#: A task has turns even when nothing failed: one point for so many steps, up to five.
_STEPS_PER_POINT, _LEAST_POINTS = 4, 5
_TEXT_CHARS = 240


@dataclass(frozen=True)
class Point:
    """One thing that mattered in a task."""

    role: Role
    #: steps it stands for, ascending; empty for the goal
    positions: tuple[int, ...]
    #: at most 240 characters, without secrets
    text: str


@dataclass(frozen=True)
class Episode:
    """A task, told in at most 8 points."""

    task_id: str
    #: in the order in which they happened
    points: tuple[Point, ...]


def compress(task: Task, steps: Sequence[Step]) -> Episode:
    """Tell a task in its decision points, failures, fixes, corrections and results, by rules alone.

    Polling, repeated commands and file dumps collapse to nothing; a task without turns keeps its goal and its end.
    """
    return tell(task, steps, attempts_of(steps))


def tell(task: Task, steps: Sequence[Step], attempts: Sequence[Attempt]) -> Episode:
    """As `compress`, for steps whose attempts are known."""
    tongue = language_of(task, steps)
    weighted = [*_turns(steps, attempts, tongue)]
    goal, end = _goal(task, steps), _end(task, steps, attempts, tongue)
    room = MOST_POINTS - len(goal) - len(end)
    kept = _heaviest(weighted, room)
    missing = min(_LEAST_POINTS, len(steps) // _STEPS_PER_POINT) - len(goal) - len(kept) - len(end)
    if missing > 0:
        kept += _heaviest(_milestones(steps, attempts, tongue, kept), missing)
    turns = sorted(kept, key=lambda point: point.positions)
    if not turns and len(attempts) < 3:
        return Episode(task.id, tuple(end or goal)[:2])
    return Episode(task.id, tuple(_distinct([*goal, *turns, *end])))


def _heaviest(weighted: Sequence[tuple[float, Point]], count: int) -> list[Point]:
    ordered = sorted(weighted, key=lambda one: (-one[0], one[1].positions))
    return list(_distinct([point for _, point in ordered]))[: max(0, count)]


def _distinct(points: Sequence[Point]) -> Iterator[Point]:
    seen: set[str] = set()
    for point in points:
        if point.text and point.text not in seen:
            seen.add(point.text)
            yield replace(point, text=short(point.text, _TEXT_CHARS))


def _goal(task: Task, steps: Sequence[Step]) -> list[Point]:
    words = strip_injected(task.goal) or next((step.input for step in steps if step.action == "user"), "")
    first = sentences(words[:2_000])[:2]
    return [Point("goal", (), short(" ".join(first), _TEXT_CHARS))] if first else []


def _end(task: Task, steps: Sequence[Step], attempts: Sequence[Attempt], tongue: str) -> list[Point]:
    outcome = outcome_of(task, steps, attempts)
    checks = [one for one in attempts if one.act.is_check]
    if checks and len(attempts) >= 3:
        state = say("point_failed" if checks[-1].failed else "point_passed", tongue)
        last = checks[-1]
        same = [one for one in checks if one.act.program == last.act.program]
        words = say("point_checks", tongue, a=quoted(attempt_words(last)), count=len(same), state=state)
        return [Point("result", (last.position,), words)]
    if outcome is None or not steps:
        return []
    state = say(f"point_ended_{outcome.value}", tongue)
    return [Point("result", (steps[-1].position,), say("point_ended", tongue, state=state))]


def _turns(steps: Sequence[Step], attempts: Sequence[Attempt], tongue: str) -> Iterator[tuple[float, Point]]:
    fixes, dead_ends = fixes_and_dead_ends(attempts)
    for said in said_by_user(steps):
        yield 9.0 if said.is_correction else 8.0, Point("correction", (said.position,), said.words)
    for fix in fixes:
        yield from _of_fix(fix, tongue)
    for end in dead_ends:
        last = end.failed[-1]
        if not last.only_looks and (len(end.failed) > 1 or end.ends_the_task):
            yield 5.0 + min(len(end.failed), 3) * 0.2, _of_failures(end.failed, tongue)
    for one in decisions_of(steps):
        yield (
            5.5 + one.is_logged,
            Point("decision", (one.position,), f"{one.chosen}{f' ({one.why})' if one.why else ''}"),
        )


def _of_fix(fix: Fix, tongue: str) -> Iterator[tuple[float, Point]]:
    if fix.failed[-1].only_looks:
        return
    worked_on = any(one.act.kind == "edit" for one in fix.between)
    if fix.change or worked_on:
        yield 7.0 if fix.change else 3.0 + min(len(fix.failed), 3) * 0.3, _of_failures(fix.failed, tongue)
    if fix.change:
        yield 7.5, Point("fix", (fix.worked.position,), change_words(fix.change, tongue))


def _of_failures(failed: Sequence[Attempt], tongue: str) -> Point:
    last = failed[-1]
    key = "result_failed" if len(failed) > 1 else "result_failed_once"
    words = say(key, tongue, a=quoted(attempt_words(last)), count=len(failed), error=error_words(last.fault))
    return Point("failure", tuple(one.position for one in failed), words)


def _milestones(
    steps: Sequence[Step], attempts: Sequence[Attempt], tongue: str, kept: Sequence[Point]
) -> list[tuple[float, Point]]:
    """What is left of a long task in which little went wrong: what was edited, what ran often, longer reasons."""
    taken = {position for point in kept for position in point.positions}
    made: list[tuple[float, Point]] = []
    edits = [one for one in attempts if one.act.kind == "edit" and not one.failed]
    if edits:
        names = (one.act.target.replace("\\", "/").rpartition("/")[2] for one in edits)
        files = list(dict.fromkeys(general(name, limit=40) for name in names if re.search(r"[^\W\d]", name)))
        words = say("point_edited", tongue, files=", ".join(map(quoted, files[:6])))
        made.append((2.0 * bool(files), Point("result", tuple(one.position for one in edits), words if files else "")))
    acting = [one for one in attempts if not one.act.is_dump and not one.act.is_poll and one.act.kind != "edit"]
    counts = Counter(one.act.program for one in acting if one.position not in taken)
    for program, count in counts.most_common(3):
        positions = tuple(one.position for one in acting if one.act.program == program)
        words = say("point_did", tongue, a=quoted(general(program, limit=60)), count=count)
        made.append((1.0 + min(count, 5) * 0.05, Point("result", positions, words)))
    for step in steps:
        if len(step.rationale) >= 40 and step.action != "user" and not reads_as_instruction(step.rationale):
            first = next(iter(sentences(strip_injected(step.rationale)[:600])), "")
            made.append((1.5 + min(len(step.rationale), 400) / 1_000, Point("decision", (step.position,), first)))
    return made
