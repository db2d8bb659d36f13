"""What a finished task teaches: lessons from failures that were overcome, dead ends, decisions, words of the user."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterwit.applies import tools_of
from afterwit.matters import names_service
from afterwit.messages import say
from afterwit.records import Basis, Json, Kind, Step, Task, TaskStatus
from afterwit.review.actions import act_of, host_of
from afterwit.review.attempts import Attempt, attempts_of
from afterwit.review.changes import Change, attempt_words
from afterwit.review.corrections import Said, said_by_user
from afterwit.review.decisions import Decided, cause_in, decisions_of
from afterwit.review.fixes import DeadEnd, Fix, fixes_and_dead_ends
from afterwit.review.outcomes import outcome_of
from afterwit.review.signatures import Signature
from afterwit.review.telling import (
    applies_to,
    change_words,
    error_words,
    is_transferable,
    language_of,
    place_of,
    quoted,
    short,
    task_type_of,
    tool_of,
)
from afterwit.review.trajectory import Episode, tell
from afterwit.review.ways import all_ways, with_ways
from afterwit.text import statement_key

#: Most findings of one task.
MOST_FINDINGS = 8
#: Of them, most words of the user and most decisions.
_MOST_SAID, _MOST_DECIDED = 4, 3


@dataclass(frozen=True)
class Finding:
    """One thing that a task taught, on its way to becoming a memory."""

    kind: Kind
    #: one or two sentences, in the language of the task
    summary: str
    #: as the kind asks; a lesson has situation, action, result, nature, signature, task_type, tool, domain, key
    structured: Json = field(default_factory=dict[str, Any])
    tags: tuple[str, ...] = ()
    #: machine-checked conditions: tool, version, os, repo
    applies: Json = field(default_factory=dict[str, Any])
    basis: Basis = Basis.OBSERVED
    #: 0..1
    confidence: float = 0.6
    #: positions of the steps it comes from, ascending
    positions: tuple[int, ...] = ()
    subject: str = ""
    topic: str = ""
    #: the summary is what the user said
    from_user: bool = False
    #: equal for the same finding of another task
    key: str = ""
    #: key of the same finding about another thing of the same sort; empty when what it is about matters
    wider_key: str = ""
    #: key of the account of a failure that it puts an end to
    answers: str = ""


@dataclass(frozen=True)
class Review:
    """What looking back at a task gave."""

    #: the most transferable first, at most 8
    findings: tuple[Finding, ...]
    #: how it ended, as its own signs show; None = unclear
    outcome: TaskStatus | None
    #: the task in a few points
    episode: Episode


@dataclass(frozen=True)
class _Material:
    task: Task
    steps: Sequence[Step]
    attempts: Sequence[Attempt]
    tongue: str
    outcome: TaskStatus | None


def review_steps(task: Task, steps: Sequence[Step]) -> Review:
    """Look back at a task by rules alone: no model, no clock.

    A failure followed by what worked gives a lesson, when what made the difference can be told and would hold in
    another task; a failure that stayed gives a warning; choices among options and lasting words of the user are kept.
    Slips of the hand, flakes that went by themselves and values of this task alone give nothing. What outputs say is
    quoted in one normalised line at most, and never when it gives orders.

    Args:
        task: the task; its status may still be open.
        steps: its steps in order.
    """
    attempts = attempts_of(steps)
    material = _Material(task, steps, attempts, language_of(task, steps), outcome_of(task, steps, attempts))
    fixes, dead_ends = fixes_and_dead_ends(attempts)
    ranked: list[tuple[float, Finding]] = []
    ranked += [found for fix in fixes if (found := _lesson(fix, material))]
    ranked += [found for end in dead_ends if (found := _dead_end(end, fixes, material))]
    ranked += sorted((_said(one, material) for one in said_by_user(steps)), key=lambda one: -one[0])[:_MOST_SAID]
    ranked += sorted((_decided(one, material) for one in decisions_of(steps)), key=lambda one: -one[0])[:_MOST_DECIDED]
    return Review(tuple(_best(ranked)), material.outcome, tell(task, steps, attempts))


def _best(ranked: Sequence[tuple[float, Finding]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for _, finding in sorted(ranked, key=lambda one: (-one[0], one[1].positions)):
        if finding.key not in seen and len(seen) < MOST_FINDINGS:
            seen.add(finding.key)
            yield finding


# --- lessons --------------------------------------------------------------------------------------


def _lesson(fix: Fix, material: _Material) -> tuple[float, Finding] | None:
    failed, change = fix.nearest, fix.change
    if failed.fault is None or failed.only_looks:
        return None
    if _was_undone(fix, material):
        return None
    cause = _cause(fix, material)
    if change is None or not is_transferable(change):
        return _by_cause(fix, cause, material) if cause and fix.change is None else None
    tongue = material.tongue
    action = change_words(change, tongue)
    error, attempt = error_words(failed.fault), quoted(attempt_words(failed))
    worked = quoted(attempt_words(fix.worked))
    summary = say("lesson", tongue, place=place_of(failed, tongue), attempt=attempt, error=error, change=action)
    result = say("result_passed" if fix.worked.act.is_check else "result_worked", tongue, a=worked)
    key = f"{failed.fault.key} => {change.shape}"
    structured: Json = {
        **_of_fault(failed, error, attempt, tongue),
        "action": action,
        "result": result,
        "nature": "technique"
        if change.kind in ("first", "add", "set", "feed", "header", "field", "wait", "retry")
        else "pitfall",
        "key": key,
    }
    if cause:
        structured["cause"] = cause
    if ways := all_ways(reversed(fix.ways)):
        structured["ways"] = list(ways)
    proved = fix.worked.act.is_check
    confidence = (
        0.6
        + 0.1 * proved
        + 0.05 * (len(fix.failed) > 1)
        + 0.05 * bool(cause)
        - 0.1 * (change.kind in ("edit", "retry", "command"))
    )
    finding = Finding(
        Kind.LESSON,
        summary,
        structured,
        _tags(failed),
        _conditions(material, failed, change),
        Basis.VERIFIED if proved else Basis.OBSERVED,
        round(confidence, 2),
        _positions(*fix.failed, *fix.between[-2:], fix.worked),
        key=key,
        wider_key=_wider_key(failed, change),
        answers=_no_way(failed.fault),
    )
    return _weight(fix) + confidence, finding


def _wider_key(failed: Attempt, change: Change) -> str:
    """What a lesson shares with the same lesson about another thing: another target, table or route of one service.

    Empty when what was done names the thing, as `pip install yaml` does for the module yaml: that holds for it alone.
    """
    fault = failed.fault
    if fault is None or not fault.detail or fault.wider == fault.key:
        return ""
    named = {word for word in re.findall(r"\w{2,}", fault.detail.removeprefix(failed.domain).casefold())}
    if named & set(re.findall(r"\w{2,}", change.shape)):
        return ""
    return f"{fault.wider} | {tool_of(failed)} => {change.shape}"


def _no_way(fault: Signature) -> str:
    """The key of an account that no way was found around a fault."""
    return f"{fault.matter} => none"


def _conditions(material: _Material, attempt: Attempt, change: Change | None) -> Json:
    """Under which conditions a finding holds, as far as they were seen; of a service, its version."""
    conditions: Json = dict(applies_to(material.task, material.steps, attempt, change))
    known: object = material.task.environment.get("tools")
    if attempt.domain and isinstance(known, dict):
        named = tools_of({"tools": known}).items()
        served = {name: version for name, version in named if names_service(attempt.domain, name)}
        conditions |= {"tools": served} if served else {}
    return conditions


def _was_undone(fix: Fix, material: _Material) -> bool:
    """Whether the edit that helped was taken back later, or the user spoke against it."""
    if fix.change is None or fix.change.kind != "edit":
        return False
    name = fix.change.parts[0]
    for step in material.steps:
        if step.position > fix.worked.position and name in step.input:
            act = act_of(step.action, step.input)
            if act.program in ("git checkout", "git restore", "git revert") or step.action == "user":
                return True
    return False


def _weight(fix: Fix) -> float:
    """How far a lesson is likely to carry; 1 to about 4."""
    fault = fix.failed[-1].fault
    known = fault is not None and fault.error not in ("error", "failed")
    strong = fix.change is not None and fix.change.kind not in ("command", "value", "retry", "edit")
    return 1.0 + known + 0.5 * strong + min(len(fix.failed) - 1, 3) * 0.3


def _by_cause(fix: Fix, cause: str, material: _Material) -> tuple[float, Finding] | None:
    """A failure that was overcome by work on this task's own code: the agent's word on the cause is what is left."""
    if not any(one.act.kind == "edit" for one in fix.between) or _is_the_task_itself(fix, material.task):
        return None
    return 1.0 + 0.3 * len(fix.failed), _of_cause(
        fix.failed, cause, material, (*fix.failed, *fix.between[-1:], fix.worked)
    )


def _is_the_task_itself(fix: Fix, task: Task) -> bool:
    """Whether the task was given to put right just this fault: then its cause is its result, no lesson."""
    fault = fix.failed[-1].fault
    names = set(re.findall(r"\b[A-Za-z_]\w{9,}\b", f"{fault.error} {fault.text}" if fault else ""))
    return any(name in task.goal for name in names)


def _of_cause(failed: Sequence[Attempt], cause: str, material: _Material, steps: Sequence[Attempt]) -> Finding:
    last, tongue = failed[-1], material.tongue
    error, attempt = error_words(last.fault), quoted(attempt_words(last))
    key = f"{last.fault_key} => cause"
    structured = {
        **_of_fault(last, error, attempt, tongue),
        "action": cause,
        "result": _result_of(failed, error, attempt, tongue),
        "nature": "pitfall",
        "key": key,
    }
    summary = say("lesson_of_cause", tongue, place=place_of(last, tongue), attempt=attempt, error=error, cause=cause)
    applies = applies_to(material.task, material.steps, last, None)
    if repo := material.task.environment.get("repo"):
        applies["repo"] = str(repo)
    return Finding(
        Kind.LESSON, summary, structured, _tags(last), applies, Basis.INFERRED, 0.5, _positions(*steps), key=key
    )


def _cause(fix: Fix, material: _Material) -> str:
    """What the agent said about why it failed, between the first failure and what worked."""
    own = {one.position for one in fix.failed}
    others = {one.position for one in material.attempts if one.failed} - own
    speaks_of_it = False
    for step in material.steps:
        if own and min(own) < step.position <= fix.worked.position and speaks_of_it and step.action != "user":
            if found := cause_in(step.rationale):
                return found
        # After another failure the next words are about that one.
        speaks_of_it = step.position in own or (speaks_of_it and step.position not in others)
    return ""


def _of_fault(failed: Attempt, error: str, attempt: str, tongue: str) -> dict[str, str]:
    return {
        "situation": say("situation", tongue, attempt=attempt, error=error),
        "signature": failed.fault_key,
        "task_type": task_type_of(failed),
        "tool": tool_of(failed),
        "program": failed.act.program if failed.act.words else "",
        "domain": failed.domain,
        "host": host_of(failed.act),
    }


def _result_of(failed: Sequence[Attempt], error: str, attempt: str, tongue: str) -> str:
    key = "result_failed" if len(failed) > 1 else "result_failed_once"
    return say(key, tongue, a=attempt, count=len(failed), error=error)


def _tags(failed: Attempt) -> tuple[str, ...]:
    fault = failed.fault
    words = [
        tool_of(failed),
        fault.tool if fault else "",
        fault.error if fault else "",
        task_type_of(failed),
        failed.domain,
    ]
    return tuple(
        dict.fromkeys(word for word in words if 0 < len(word) <= 60 and word not in ("system", "failed", "error"))
    )


def _positions(*attempts: Attempt) -> tuple[int, ...]:
    return tuple(sorted({one.position for one in attempts}))


# --- dead ends ------------------------------------------------------------------------------------


def _dead_end(end: DeadEnd, fixes: Sequence[Fix], material: _Material) -> tuple[float, Finding] | None:
    last, plain, tongue = end.failed[-1], end.plain, material.tongue
    if last.fault is None or last.only_looks:
        return None
    if any(last.fault_key == fix.failed[-1].fault_key for fix in fixes):
        return None
    following = next((step for step in material.steps if step.position > last.position and step.rationale), None)
    cause = cause_in(following.rationale) if following else ""
    count = len(end.failed)
    if cause:
        return 1.2 + 0.2 * count, _of_cause(end.failed, cause, material, end.failed)
    lost = material.outcome is not TaskStatus.SUCCEEDED
    if count < 2 and not (end.ends_the_task and lost):
        return None
    error, attempt = error_words(last.fault), quoted(attempt_words(plain))
    tried = list(dict.fromkeys(quoted(attempt_words(one)) for one in (plain, *end.failed)))
    key = _no_way(last.fault)
    say_key = "dead_end" if count > 1 else "dead_end_once"
    account = say(say_key, tongue, place=place_of(plain, tongue), attempt=attempt, error=error, count=count)
    ways = all_ways(reversed(end.ways))
    structured = {
        **_of_fault(last, error, attempt, tongue),
        "action": ", ".join(tried[:4]),
        "result": _result_of(end.failed, error, attempt, tongue),
        "account": account,
        "ways": list(ways),
        "key": key,
    }
    summary = with_ways(account, ways, tongue)
    applies = _conditions(material, last, None)
    finding = Finding(
        Kind.FAILURE, summary, structured, _tags(last), applies, Basis.OBSERVED, 0.5, _positions(*end.failed), key=key
    )
    return 0.8 + 0.2 * min(count, 4) + 0.5 * end.ends_the_task, finding


# --- words ----------------------------------------------------------------------------------------


def _said(said: Said, material: _Material) -> tuple[float, Finding]:
    summary = said.words
    if said.is_revert:
        summary = say("user_undid", material.tongue, about=quoted(said.about), words=short(said.words, 160))
    structured = {"situation": said.about} if said.about else {}
    weight = 3.0 + 0.5 * said.is_correction - 1.5 * said.is_revert
    return weight, Finding(
        said.kind,
        summary,
        structured,
        basis=Basis.STATED,
        confidence=0.9,
        positions=(said.position,),
        from_user=True,
        key=f"user: {statement_key(summary)}",
    )


def _decided(one: Decided, material: _Material) -> tuple[float, Finding]:
    ended = material.outcome.value if material.outcome else ""
    told = "decided_because" if one.why and one.why.casefold() not in one.chosen.casefold() else "decided"
    summary = say(told, material.tongue, chosen=one.chosen.rstrip(".。"), why=one.why)
    structured = {
        "options": list(one.options),
        "chosen": one.chosen,
        "rationale": one.why,
        "context": short(material.task.goal, 160),
        "outcome": ended,
    }
    weight = 1.4 + 0.4 * one.is_logged + 0.3 * bool(one.why) + 0.2 * bool(one.options)
    return weight, Finding(
        Kind.DECISION,
        summary,
        structured,
        basis=Basis.INFERRED,
        confidence=0.6,
        positions=(one.position,),
        key=f"decision: {statement_key(one.chosen)}",
    )
