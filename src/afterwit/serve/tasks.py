"""What the doors say about tasks: as JSON values and as text."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from afterwit.clock import format_time
from afterwit.messages import say
from afterwit.records import Step, Task, short_id
from afterwit.serve.prose import defused, fenced, hit_line, quoted, reason_lines, receipt_text
from afterwit.serve.wire import NOTE, Values, filled, hit_json, receipt_json
from afterwit.text import language

if TYPE_CHECKING:
    from afterwit.recall import Hit
    from afterwit.review.working import Attempt, Working
    from afterwit.service import Briefing, Credited, StepReceipt, TaskReceipt

#: Words above the parts of a briefing and of working memory.
_TITLES: dict[str, tuple[str, str]] = {
    "rules": ("Rules and preferences", "规则与偏好"),
    "cases": ("From earlier work", "以往经验"),
    "intents": ("To be done now", "现在该做的事"),
    "goal": ("Goal", "目标"),
    "constraints": ("Constraints", "约束"),
    "tried": ("Tried", "已尝试"),
    "failed": ("Failed", "失败"),
    "earlier": ("Earlier", "此前"),
    "recent": ("Last steps", "最近步骤"),
    "credited": ("Credit", "记功"),
    "learned": ("Learned", "学到"),
}


def _title(key: str, spoken: str) -> str:
    english, chinese = _TITLES[key]
    return chinese if spoken == "zh" else english


# --- JSON ----------------------------------------------------------------------------------------


def task_json(task: Task) -> Values:
    """A task but for its space."""
    return filled(
        {
            "id": task.id,
            "goal": task.goal,
            "status": task.status.value,
            "outcome": task.outcome,
            "scope": task.scope,
            "role": task.role,
            "constraints": list(task.constraints),
            "environment": dict(task.environment),
            "started_at": format_time(task.started_at),
            "ended_at": format_time(task.ended_at) if task.ended_at else "",
            "reviewed_at": format_time(task.reviewed_at) if task.reviewed_at else "",
            "review_error": task.review_error,
        }
    )


def briefing_json(briefing: "Briefing", *, now: datetime) -> Values:
    """What a task should know before its first step."""
    parts: dict[str, Sequence[Hit]] = {
        "rules": briefing.rules,
        "cases": briefing.cases,
        "intents": briefing.intents,
    }
    values: Values = {"task_id": briefing.task.id}
    if any(parts.values()):
        values["note"] = NOTE
    values |= {name: [hit_json(hit, now=now) for hit in hits] for name, hits in parts.items() if hits}
    return values | filled({"message": briefing.message, "degraded": list(briefing.degraded)})


def steps_json(receipt: "StepReceipt") -> Values:
    """What became of logged steps."""
    return {
        "task_id": receipt.task.id,
        "status": receipt.task.status.value,
        "positions": list(receipt.positions),
        "message": receipt.message,
    }


def working_json(working: "Working") -> Values:
    """A task's working memory."""
    return {"note": NOTE, "task": task_json(working.task), "steps": working.steps} | filled(
        {
            "tried": [_attempt_json(attempt) for attempt in working.tried],
            "failed": [_attempt_json(attempt) for attempt in working.failed],
            "digest": list(working.digest),
            "recent": [step_json(step) for step in working.recent],
        }
    )


def _attempt_json(attempt: "Attempt") -> Values:
    return filled(
        {
            "action": attempt.action,
            "input": attempt.input,
            "times": attempt.times,
            "ok": attempt.ok,
            "error": attempt.error,
        }
    )


def step_json(step: Step) -> Values:
    """One step."""
    return filled(
        {
            "position": step.position,
            "action": step.action,
            "input": step.input,
            "output": step.output,
            "rationale": step.rationale,
            "ok": step.ok,
            "at": format_time(step.happened_at),
        }
    )


def finish_json(receipt: "TaskReceipt") -> Values:
    """What became of a task at its end."""
    return {"task_id": receipt.task.id, "status": receipt.task.status.value, "message": receipt.message} | filled(
        {
            "credited": [_credited_json(credited) for credited in receipt.credited],
            "learned": [receipt_json(learned) for learned in receipt.learned],
            "remembered": [kept.id for kept in receipt.remembered if kept.accepted],
            "unknown": list(receipt.unknown),
        }
    )


def _credited_json(credited: "Credited") -> Values:
    return filled(
        {
            "id": credited.memory_id,
            "summary": credited.summary,
            "credit": credited.credit,
            "why": credited.why,
            "became": credited.became,
        }
    )


# --- text ----------------------------------------------------------------------------------------


def briefing_text(briefing: "Briefing", *, now: datetime, fence: bool = True) -> str:
    """The task's id, and below it what is known, part by part, or the sentence that nothing is."""
    spoken = language(briefing.task.goal)
    lines = [f"task_id: {briefing.task.id}"]
    parts = {"rules": briefing.rules, "cases": briefing.cases, "intents": briefing.intents}
    body: list[str] = []
    for name, hits in parts.items():
        if hits:
            body.append(f"{_title(name, spoken)}:")
            body += [f"- {hit_line(hit, now, spoken)}" for hit in hits]
    if body:
        text = "\n".join(body)
        lines.append(fenced(text, spoken) if fence else text)
    if briefing.message:
        lines.append(briefing.message)
    return "\n".join([*lines, *reason_lines(briefing.degraded, spoken)])


def steps_text(receipt: "StepReceipt") -> str:
    """The sentence that says how many steps there are now."""
    return receipt.message


def working_text(working: "Working", *, fence: bool = True) -> str:
    """A task's working memory, part by part."""
    task = working.task
    spoken = language(task.goal)
    body = [f"{_title('goal', spoken)} ({task.status.value}): {quoted(task.goal)}"]
    if task.constraints:
        body.append(f"{_title('constraints', spoken)}: {quoted('; '.join(task.constraints))}")
    body += _part("tried", [_attempt_line(attempt) for attempt in working.tried], spoken)
    body += _part("failed", [_attempt_line(attempt) for attempt in working.failed], spoken)
    body += _part("earlier", [quoted(line) for line in working.digest], spoken)
    body += _part("recent", [_step_line(step) for step in working.recent], spoken)
    text = "\n".join(body)
    return fenced(text, spoken) if fence else text


def _part(name: str, lines: Sequence[str], spoken: str) -> list[str]:
    return [f"{_title(name, spoken)}:", *(f"- {line}" for line in lines)] if lines else []


def _attempt_line(attempt: "Attempt") -> str:
    times = f" x{attempt.times}" if attempt.times > 1 else ""
    return f"{quoted(attempt.action)}{times}{_mark(attempt.ok)}: {quoted(attempt.input)}" + (
        f" -> {quoted(attempt.error)}" if attempt.error else ""
    )


def _step_line(step: Step) -> str:
    line = f"{step.position} {quoted(step.action)}{_mark(step.ok)}: {quoted(step.input)}"
    line += f" -> {quoted(step.output)}" if step.output else ""
    return line + (f" ({quoted(step.rationale)})" if step.rationale else "")


def _mark(ok: bool | None) -> str:
    return "" if ok is None else " ✓" if ok else " ✗"


def finish_text(receipt: "TaskReceipt", *, fence: bool = True) -> str:
    """The sentence, what was credited, what was learned, and what was no memory."""
    spoken = language(receipt.task.goal)
    lines = [receipt.message]
    body = _part("credited", [_credited_line(credited) for credited in receipt.credited], spoken)
    body += _part("learned", [receipt_text(learned) for learned in receipt.learned if learned.accepted], spoken)
    if body:
        text = "\n".join(body)
        lines.append(fenced(text, spoken) if fence else text)
    if receipt.unknown:
        lines.append(say("no_such_memories", spoken, ids=defused(", ".join(receipt.unknown))))
    return "\n".join(lines)


def _credited_line(credited: "Credited") -> str:
    why = ", ".join(word for word in (credited.why, credited.became) if word)
    return f"[m:{short_id(credited.memory_id)}] {credited.credit:+.1f} ({why}): {quoted(credited.summary)}"


def task_line(task: Task) -> str:
    """A task on one line, for lists."""
    waits = f" ({quoted(task.review_error)})" if task.review_error else ""
    return f"{task.id} {task.status.value} {task.started_at:%Y-%m-%d %H:%M} {quoted(task.goal)}{waits}"
