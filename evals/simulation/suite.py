"""Does an agent do better with what it learned? Arms side by side on the same tasks, interval over seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evals.measures import Metric, Observation, rows
from evals.product import Product
from evals.report import Report
from evals.running import Run, progress
from evals.simulation.agent import Assignment, Attempt, Habits, NoMemory, Trace, perform
from evals.simulation.course import WRONG_LESSON, Course, Planned
from evals.simulation.product import Diary

#: Seeds of a run that does not say how many.
SEEDS = 20

#: Agents by name, each with a line of tasks of its own.
ARMS: Mapping[str, Habits] = {
    "memory": Habits(),
    "memory, cites": Habits(cites=True),
    "memory, asks first": Habits(asks_first=True),
    "everything told": Habits(),
    "no memory": Habits(),
}

METRICS = (
    Metric("success"),
    Metric("tries"),
    Metric("right at once"),
    Metric("known failures again"),
    Metric("of these avoided", per="known failures without"),
    Metric("tokens told"),
    Metric("tasks until gone"),
    Metric("gone in 3 tasks", "share"),
    Metric("tasks that followed it"),
    Metric("lessons"),
    Metric("wrong confirmations", "sum"),
    Metric("new rows", "sum"),
)

HEADLINE = (
    "held out",
    "held out, English",
    "held out, Chinese",
    "one trap",
    "two traps",
    "held out, overcome before",
    "first meeting",
    "flaky",
    "first 3 after the change",
    "old version remains",
    "later, new version",
    "wrong lesson planted",
)

_START = datetime(2025, 3, 3, 9, tzinfo=UTC)

#: What is tried and fails is known afterwards, under this key.
_Known = set[tuple[str, int, str]]


@dataclass
class _Lineage:
    """One arm of one seed: tasks after each other, with what was seen to fail."""

    arm: str
    seed: int
    #: None = without memory
    diary: Diary | None
    known: _Known = field(default_factory=set[tuple[str, int, str]])
    #: families whose trap was overcome once
    overcome: set[str] = field(default_factory=set[str])

    def do(self, task: Assignment) -> tuple[Trace, int]:
        """Do one task; the number of failures in it that an earlier task had seen already."""
        memory = NoMemory() if self.diary is None else self.diary.session()
        trace = perform(task, memory, ARMS[self.arm])
        failed = [_key(attempt, task) for attempt in trace.attempts if not attempt.ok and attempt.family != "flaky"]
        again = sum(key in self.known for key in failed)
        self.known.update(failed)
        self.overcome |= {attempt.family for attempt in trace.attempts if attempt.ok}
        return trace, again


def evaluate(run: Run) -> Report:
    """All arms over all seeds."""
    observations: list[Observation] = []
    failures: list[str] = []
    seeds = range(run.first, run.first + (run.limit or SEEDS))
    with Product(embedder=run.embedder) as product:
        for seed in progress(seeds, total=len(seeds), label="simulation"):
            repeats: dict[tuple[str, int], int] = {}
            for arm in reversed(list(ARMS)):
                with run.watch.time(arm):
                    observations += _one(arm, seed, product, repeats, failures)
            with run.watch.time("single sessions, long tasks, pasted results"):
                observations += _checks(seed, product, failures)
        model = product.model
    observations.sort(key=lambda one: list(ARMS).index(one.arm))
    notes = (
        f"seeds {seeds[0]} to {seeds[-1]}; an agent that only tries (at most 4 ways per trap); rules, no model",
        "known failures again: failed tries per task that an earlier task of the same arm had seen fail already",
        "of these avoided: 1 - (with memory / without), by seed",
        "overcome before: the way out of all its traps was found in an earlier task, so that it could be known",
        "tasks until gone: the last of 6 tasks in which a planted wrong lesson was told",
        "held out: worded differently and about other files, tables, packages than where the trap was met first",
    )
    return Report(
        "simulation", model, METRICS, rows(observations, METRICS), notes, run.watch.summary(), failures, HEADLINE
    )


def _diary(product: Product, name: str, *, shows_everything: bool = False) -> Diary:
    shelf = product.shelf(name)
    return Diary(shelf.service, shelf.clock, _START, shows_everything)


def _one(
    arm: str, seed: int, product: Product, repeats: dict[tuple[str, int], int], failures: list[str]
) -> Iterator[Observation]:
    """The course of one seed for one arm; `repeats` holds what the arm without memory repeated, by task."""
    diary = None
    if arm != "no memory":
        diary = _diary(product, f"{arm}-{seed}", shows_everything=arm == "everything told")
    lineage = _Lineage(arm, seed, diary)
    course = Course(seed)
    for place, planned in enumerate((*course.first(), *course.again(), *course.after_change())):
        yield _observed(lineage, planned, place, repeats, failures)[0]
    yield from _wrong_lesson(lineage, course, repeats, failures)
    if diary is not None:
        wrong = diary.confirmed_by_one_session()
        failures += [f"{arm} {seed}: confirmed by one session: {memory.summary}" for memory in wrong]
        yield Observation(arm, ("confirmed by one session",), str(seed), {"wrong confirmations": float(len(wrong))})
        flaky = [memory for memory in diary.learned() if memory.kind != "failure" and "kubectl" in memory.summary]
        failures += [f"{arm} {seed}: learned from chance: {memory.summary}" for memory in flaky]
        yield Observation(arm, ("learned from flaky tools",), str(seed), {"lessons": float(len(flaky))})


def _observed(
    lineage: _Lineage, planned: Planned, place: int, repeats: dict[tuple[str, int], int], failures: list[str]
) -> tuple[Observation, Trace]:
    task, groups = planned.assignment, planned.groups
    if "held out" in groups and all(job.family in lineage.overcome for job in task.jobs):
        groups = (*groups, "held out, overcome before")
    trace, again = lineage.do(task)
    values = {
        "success": float(trace.succeeded),
        "tries": float(len(trace.attempts)),
        "right at once": float(all(attempt.ok for attempt in trace.attempts)),
        "known failures again": float(again),
    }
    if lineage.diary is None:
        repeats[str(lineage.seed), place] = again
    else:
        without = repeats[str(lineage.seed), place]
        values |= {"tokens told": float(trace.tokens), "known failures without": float(without)}
        values["of these avoided"] = float(without - again)
    if not trace.succeeded or again:
        failures.append(f"{lineage.arm} {task.seed} {planned.groups[0]}: {task.goal} -> {_told(trace)}")
    return Observation(lineage.arm, groups, str(lineage.seed), values), trace


def _told(trace: Trace) -> str:
    return ", ".join(
        f"{attempt.family} {attempt.way}{'+' if attempt.ok else '-'}{'*' if attempt.advised_by else ''}"
        for attempt in trace.attempts
    )


def _wrong_lesson(
    lineage: _Lineage, course: Course, repeats: dict[tuple[str, int], int], failures: list[str]
) -> Iterator[Observation]:
    """Tasks about which something wrong is believed: until when is it shown?"""
    is_confirmed = bool(lineage.seed % 2)
    planted = ""
    if lineage.diary is not None:
        text = WRONG_LESSON["zh" if lineage.seed // 2 % 2 else "en"]
        planted = lineage.diary.plant(text, is_confirmed=is_confirmed)
    gone_after = followed = 0
    tasks = list(course.with_wrong_lesson())
    for place, planned in enumerate(tasks):
        observed, trace = _observed(lineage, planned, 1000 + place, repeats, failures)
        yield observed
        if planted in trace.told:
            gone_after = place + 1
        followed += any(attempt.advised_by == planted for attempt in trace.attempts if planted)
    if lineage.diary is not None:
        group = f"wrong lesson, {'confirmed' if is_confirmed else 'pending'}"
        values = {"tasks until gone": float(gone_after), "gone in 3 tasks": float(gone_after <= 3)}
        values["tasks that followed it"] = float(followed)
        yield Observation(lineage.arm, ("wrong lesson", group), str(lineage.seed), values)


def _checks(seed: int, product: Product, failures: list[str]) -> Iterator[Observation]:
    """What must not happen: proof by one session, a lesson per turn, rows from what recall itself printed."""
    course = Course(10_000 + seed)
    diary = _diary(product, f"one-session-{seed}")
    for task in course.in_one_session():
        perform(task, diary.session("the only one"), Habits(cites=True))
    confirmed = [memory for memory in diary.learned() if memory.standing.value == "confirmed"]
    failures += [f"{seed}: confirmed within one session: {memory.summary}" for memory in confirmed]
    values = {"wrong confirmations": float(len(confirmed))}
    yield Observation("memory", ("three tasks in one session",), str(seed), values)

    diary = _diary(product, f"long-{seed}")
    session, long = diary.session(), course.long()
    perform(long, session)
    failures += [f"{seed}: from a long task: {memory.summary}" for memory in diary.learned()]
    yield Observation("memory", ("task of 30 turns",), str(seed), {"lessons": float(session.stored)})

    planted = WRONG_LESSON[long.language]
    diary.plant(planted, is_confirmed=True)
    before = diary.rows()
    _paste(diary, long.goal, (planted, *(f"{job.goal} {job.ways[0][0]}" for job in long.jobs)))
    values = {"new rows": float(diary.rows() - before)}
    yield Observation("memory", ("search results pasted",), str(seed), values)


def _paste(diary: Diary, goal: str, queries: Sequence[str]) -> None:
    """A task whose outputs, notes and writes hold nothing but what searches printed."""
    session = diary.session()
    session.start(goal, {})
    for query in queries:
        printed = session.pasted(query)
        session.log("cat notes.md", printed, None)
        session.note("note", printed)
        session.note("user", printed)
        session.write(printed)
    session.finish("success", [])


def _key(attempt: Attempt, task: Assignment) -> tuple[str, int, str]:
    version = task.versions["orders-api"] if attempt.family == "orders-auth" else ""
    return attempt.family, attempt.way, version
