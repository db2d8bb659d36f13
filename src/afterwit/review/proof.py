"""What the end of a task proves about the memories that it used: credit, verdict, measured lift. Pure.

Being shown is no proof. A memory was *relied on* when the agent cited it, or when a later step did what it
advises; only that can confirm or refute it, and only in a task of another session than those it comes from.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterwit import text
from afterwit.applies import clashes, narrowed, tools_of
from afterwit.matters import covers, field_of
from afterwit.records import Basis, Json, Kind, Memory, Standing, Step, Task, TaskStatus, Trust, Use
from afterwit.review.following import follows
from afterwit.review.signatures import fault_of, is_failure

#: Credit of a task for a memory that it relied on, and for one that it was merely shown.
RELIED, SHOWN = 1.0, 0.2

#: Kinds that help by being known, followed or not. That a task went well says nothing of a preference or fact
#: that happened to be on the page.
_TELLING = frozenset({Kind.LESSON, Kind.RULE, Kind.FAILURE})
#: Kinds that a task may also prove or refute while nobody has stated or checked them.
_ASSUMED = frozenset({Kind.FACT, Kind.DECISION})

# Bars on the mean of the Beta posterior, (1 + helped) / (2 + helped + harmed):
#: One success confirms (2/3), and so do two against one failure (3/5), not three against two (4/7): between
#: this and the next bar nothing changes, so that a memory does not flip with every task.
CONFIRMS = 0.6
#: As many failures as successes (1/2) leave nothing proved.
DOUBTS = 0.5
#: Two failures without any success (1/4) refute, five against one, eight against two; ten successes outweigh
#: one failure by far (11/13).
REFUTES = 0.25

#: Two-sided 95 % quantile of the normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Credit:
    """What a task's end says of one use of a memory."""

    use_id: str
    #: -1..1; > 0 it helped
    credit: float
    #: the agent named it as what it relied on
    cited: bool
    #: "cited", "followed", "recurred", "shown", "withheld", "repeated", "own_session" or "unknown_outcome"
    why: str


@dataclass(frozen=True)
class Verdict:
    """How far the uses of a memory prove it, when that differs from how it stands."""

    #: "confirmed", "pending", "refuted" or "narrowed"
    became: str
    #: fields of `Memory` -> new value
    fields: Mapping[str, Any]
    #: one line for the history: what spoke for and against it
    reason: str
    #: tasks that it rests on, oldest first
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lift:
    """What memories are worth: tasks that were shown some against tasks from which some were withheld."""

    #: tasks with a known outcome, and how many of them succeeded
    shown: int
    shown_succeeded: int
    withheld: int
    withheld_succeeded: int
    #: share of successes when shown less that when withheld, -1..1; None while one of the two is empty
    difference: float | None = None
    #: its 95 % confidence interval
    low: float | None = None
    high: float | None = None


@dataclass
class _Tally:
    """Evidence for and against, by task."""

    helped: dict[str, float] = field(default_factory=dict[str, float])
    harmed: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def mean(self) -> float:
        good, bad = sum(self.helped.values()), sum(self.harmed.values())
        return (1 + good) / (2 + good + bad)


# --- credit -----------------------------------------------------------------------------------------


def credits(task: Task, uses: Sequence[Use], memories: Mapping[str, Memory], steps: Sequence[Step]) -> "list[Credit]":
    """What the end of a task says of each memory that it used: one credit per memory.

    A followed step's own result goes first, then the task's outcome: what failed by itself harmed even if the
    task was saved, and what worked by itself is not blamed for a task that failed of something else.

    Args:
        task: ended.
        uses: what the task was shown or cited, oldest first; `cited` as the agent said.
        memories: by id; uses of absent ones are left out.
        steps: the task's, by position.
    """
    best: dict[str, Use] = {}
    for use in uses:
        known = best.get(use.memory_id)
        if known is None or (known.withheld, not known.cited) > (use.withheld, not use.cited):
            best[use.memory_id] = use
    given: list[Credit] = []
    for use in uses:
        memory = memories.get(use.memory_id)
        if memory is None:
            continue
        if best[use.memory_id] is not use:
            given.append(Credit(use.id, 0.0, use.cited, "repeated"))
        elif use.withheld:
            given.append(Credit(use.id, 0.0, False, "withheld"))
        else:
            given.append(_credit(task, use, memory, steps))
    return given


def _credit(task: Task, use: Use, memory: Memory, steps: Sequence[Step]) -> Credit:
    after = [step for step in steps if use.cited or step.happened_at >= use.used_at]
    followed = [place for place, step in enumerate(after) if follows(step, memory)]
    if followed or use.cited:
        value, why = _relied(task, use, after, followed)
        if followed and _recurs(memory, after[followed[-1] + 1 :]):
            value, why = -RELIED, "recurred"
        if not _is_judged(memory):
            # That a task failed makes no preference wrong; that it was asked for shows that it is of use.
            value = max(value, 0.0)
    else:
        value, why = SHOWN * _sign(task.status) * (memory.kind in _TELLING), "shown"
    if value > 0 and is_origin(memory, task):
        return Credit(use.id, 0.0, use.cited, "own_session")
    if not value and task.status is TaskStatus.ABANDONED:
        why = "unknown_outcome"
    return Credit(use.id, value, use.cited, why)


def _is_judged(memory: Memory) -> bool:
    """Whether tasks can show that it is wrong: advice always, what is so or was chosen while it is an assumption."""
    if memory.kind in _TELLING:
        return True
    assumed = memory.basis.strength < Basis.VERIFIED.strength and memory.trust < Trust.USER
    return memory.kind in _ASSUMED and assumed


def _relied(task: Task, use: Use, steps: Sequence[Step], followed: Sequence[int]) -> tuple[float, str]:
    why = "cited" if use.cited else "followed"
    outcome = _sign(task.status)
    if not followed:
        return RELIED * outcome, why
    last = followed[-1]
    checked = next((_worked(step) for step in steps[last + 1 : last + 2] if step.action == "check"), None)
    if checked is not None:
        return (RELIED if checked else -RELIED), why
    match _worked(steps[last]):
        case None:
            return RELIED * outcome, why
        case True:
            # That an edit or command went through does not clear it of a task that failed; nor does the failure
            # condemn what worked.
            return (0.0 if outcome < 0 else RELIED), why
        case False:
            # A test run that is advised may well fail before all is well: then the agent's word stands.
            return (0.0 if outcome > 0 and use.cited else -RELIED), why


def _worked(step: Step) -> bool | None:
    """Whether a step did what it should, as it was said or as its output shows; None = cannot be told."""
    return False if is_failure(step) else step.ok


def _recurs(memory: Memory, steps: Sequence[Step]) -> bool:
    """Whether the fault that a lesson is against came again after it was followed."""
    against = field_of(memory, "signature")
    return any((fault := fault_of(step)) is not None and covers(against, fault.key) for step in steps)


def _sign(status: TaskStatus) -> int:
    return {TaskStatus.SUCCEEDED: 1, TaskStatus.FAILED: -1}.get(status, 0)


def is_origin(memory: Memory, task: Task) -> bool:
    """Whether a memory comes from this task or from its session, so that the task cannot prove it."""
    origins = {memory.source.ref, *memory.supporters} - {""}
    return task.id in origins or (bool(task.session) and task.session in origins)


# --- verdict ----------------------------------------------------------------------------------------


def verdict(memory: Memory, uses: Sequence[Use], tasks: Mapping[str, Task]) -> Verdict | None:
    """How far its uses prove a memory; None when that is as it stands already.

    Success counts once per session and only in another one than those the memory comes from; harm counts in every
    task, since doubt costs little and false trust much. What a user vouches for falls back to pending and
    is never refuted; what comes from outside is confirmed by people only.

    Args:
        memory: as it is now.
        uses: all uses of it, oldest first, with their credits.
        tasks: the tasks of these uses by id, and those it comes from where they are known.
    """
    if not _is_judged(memory):
        return None
    inside = [use for use in uses if use.task_id in tasks and _within(memory, tasks[use.task_id])]
    tally = _tally(memory, inside, tasks)
    narrow = _narrowed(memory, inside, tasks, tally)
    if narrow is not None:
        return narrow
    became = _became(memory, tally)
    if became is None:
        return None
    evidence = tally.helped if became is Standing.CONFIRMED else tally.harmed
    mean = round(tally.mean, 6)
    sure = max(memory.confidence, mean) if became is Standing.CONFIRMED else min(memory.confidence, mean)
    ids = tuple(evidence)
    reason = f"helped in {len(tally.helped)}, harmed in {len(tally.harmed)} tasks: {', '.join(ids[-5:])}"
    return Verdict(became.value, {"standing": became, "confidence": sure}, reason, ids)


def _became(memory: Memory, tally: _Tally) -> Standing | None:
    """The new standing, or None where it stays."""
    mean = tally.mean
    vouched = memory.trust >= Trust.USER
    if tally.harmed and mean <= REFUTES and not vouched and memory.standing is not Standing.REFUTED:
        return Standing.REFUTED
    match memory.standing:
        case Standing.CONFIRMED if tally.harmed and mean <= DOUBTS:
            return Standing.PENDING
        case Standing.PENDING if tally.helped and mean >= CONFIRMS and memory.trust > Trust.EXTERNAL:
            return Standing.CONFIRMED
        case _:
            return None


def _within(memory: Memory, task: Task) -> bool:
    """Whether a task ran where the memory is said to hold, after it was narrowed."""
    return not any(clash.proved for clash in clashes(memory.applies, task.environment))


def _tally(memory: Memory, uses: Iterable[Use], tasks: Mapping[str, Task]) -> _Tally:
    """What tasks that relied on the memory say of it."""
    tally = _Tally()
    sessions = _origins(memory, tasks)
    for use in uses:
        task = tasks[use.task_id]
        if use.withheld or abs(use.credit) <= SHOWN:
            continue
        if use.credit < 0:
            tally.harmed[task.id] = max(tally.harmed.get(task.id, 0.0), -use.credit)
        elif task.session and task.session not in sessions and task.id not in sessions:
            # A task whose session is unknown may be of the session that made the memory.
            sessions.add(task.session)
            tally.helped[task.id] = use.credit
    return tally


def _origins(memory: Memory, tasks: Mapping[str, Task]) -> set[str]:
    """Task and session that made a memory. Not those that said the same later: a session that was helped by it and
    so found it again is no less a witness, and what others gave it was judged when they gave it (`credits`)."""
    found = {memory.source.ref}
    if memory.source.ref in tasks:
        found.add(tasks[memory.source.ref].session)
    elif len(memory.supporters) == 1:
        found |= {tasks[origin].session if origin in tasks else origin for origin in memory.supporters}
    return found - {""}


# --- versions ---------------------------------------------------------------------------------------


def _narrowed(memory: Memory, uses: Sequence[Use], tasks: Mapping[str, Task], tally: _Tally) -> Verdict | None:
    """Restrict a memory to the versions of a tool where it held, when all harm came with others.

    Only when the harm would otherwise cost it its standing, or is enough to refute it for those versions; at once
    when it was told with the warning that it had been seen with another version.
    """
    if not tally.harmed or memory.trust is Trust.EXTERNAL:
        return None
    held_in = [use.task_id for use in uses if use.credit > SHOWN and not use.withheld]
    alone = _Tally({}, tally.harmed)
    good = [tools_of(_tools(tasks[id])) for id in held_in]
    if memory.basis.strength >= Basis.OBSERVED.strength and tools_of(memory.applies):
        good.append(tools_of(memory.applies))  # it was seen to work with these, where it was learned
    foreseen = all(_seen_elsewhere(memory, tasks[id]) for id in tally.harmed)
    if not good or (not foreseen and tally.mean > DOUBTS and alone.mean > REFUTES):
        return None
    bad = [tools_of(_tools(tasks[id])) for id in tally.harmed]
    parting = [
        tool
        for tool in sorted(set(good[0]).intersection(*good, *bad))
        if {one[tool] for one in good}.isdisjoint(one[tool] for one in bad)
    ]
    named = [tool for tool in parting if _names(memory, tool)]
    if len(named or parting) != 1:
        return None
    tool = (named or parting)[0]
    held, failed = ([one[tool] for one in versions] for versions in (good, bad))
    applies: Json = narrowed(memory.applies, tool, held=held, failed=failed)
    reason = f"harmed with {tool} {', '.join(sorted(set(failed)))}, held with {', '.join(sorted(set(held)))}"
    return Verdict("narrowed", {"applies": applies}, reason, tuple(dict.fromkeys((*held_in, *tally.harmed))))


def _seen_elsewhere(memory: Memory, task: Task) -> bool:
    return any(clash.what not in ("os", "repo") for clash in clashes(memory.applies, task.environment))


def _tools(task: Task) -> Json:
    return {"tools": task.environment.get("tools")}


def _names(memory: Memory, tool: str) -> bool:
    told = (memory.summary, str(memory.structured.get("action", "")), str(memory.structured.get("tool", "")))
    return tool in tools_of(memory.applies) or any(text.mentions(text.fold(words), tool) for words in told)


# --- measuring --------------------------------------------------------------------------------------


def is_withheld(task_id: str, memory_id: str, share: float) -> bool:
    """Whether a memory is left out of a task at random, to measure what it is worth; the same for every call.

    Args:
        task_id: the task.
        memory_id: the memory.
        share: of all pairs, 0..1.
    """
    digest = hashlib.blake2b(f"{task_id}\0{memory_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


def lift(uses: Sequence[Use], tasks: Mapping[str, Task]) -> Lift:
    """Success of tasks with and without memories, with Newcombe's hybrid score interval (1998, method 10).

    Every task counts once, in the arm "withheld" as soon as one of the given uses was: what is told of one task
    is one outcome, however many memories it was shown.

    Args:
        uses: of one memory, or of all.
        tasks: by id; those without success or failure are left out.
    """
    arms: dict[str, bool] = {}
    for use in uses:
        if use.task_id in tasks and _sign(tasks[use.task_id].status):
            arms[use.task_id] = arms.get(use.task_id, False) or use.withheld
    counts = [0, 0, 0, 0]
    for task_id, withheld in arms.items():
        counts[2 * withheld] += 1
        counts[2 * withheld + 1] += tasks[task_id].status is TaskStatus.SUCCEEDED
    shown, shown_succeeded, withheld_count, withheld_succeeded = counts
    known = Lift(shown, shown_succeeded, withheld_count, withheld_succeeded)
    if not (shown and withheld_count):
        return known
    one, other = shown_succeeded / shown, withheld_succeeded / withheld_count
    low_one, high_one = _wilson(shown_succeeded, shown)
    low_other, high_other = _wilson(withheld_succeeded, withheld_count)
    difference = one - other
    low = difference - math.hypot(one - low_one, high_other - other)
    high = difference + math.hypot(high_one - one, other - low_other)
    return Lift(shown, shown_succeeded, withheld_count, withheld_succeeded, difference, low, high)


def _wilson(succeeded: int, total: int) -> tuple[float, float]:
    """Wilson's score interval of a share (1927), 95 %."""
    share, z2 = succeeded / total, _Z * _Z
    middle = 2 * total * share + z2
    spread = _Z * math.sqrt(z2 + 4 * total * share * (1 - share))
    below = 2 * (total + z2)
    return (middle - spread) / below, (middle + spread) / below
