"""How a task ended, as its own signs show: the user's last word, the last check, what the agent said at the end."""

from collections.abc import Sequence

from afterwit.records import Step, Task, TaskStatus
from afterwit.review.attempts import Attempt, attempts_of
from afterwit.review.wording import ACHIEVED, COMPLAINT, GAVE_UP, THANKS

_CLOSED = (TaskStatus.SUCCEEDED, TaskStatus.FAILED, TaskStatus.ABANDONED)


def outcome_of(task: Task, steps: Sequence[Step], attempts: Sequence[Attempt]) -> TaskStatus | None:
    """Success or failure as the signs show; None when they are unclear.

    In this order: how the task was closed, what the user said after the last action, the last test or check, what
    the agent said at the end. A task that ends in a row of failures has failed.
    """
    if task.status in _CLOSED:
        return task.status
    return _by_user(steps, attempts) or _by_check(attempts) or _by_agent(steps) or _by_end(attempts)


def ending_of(task: Task, steps: Sequence[Step], *, is_done: bool) -> TaskStatus:
    """How a task is to be closed of which nobody says how it ended.

    Args:
        task: still open.
        steps: all of them.
        is_done: the agent says that it is done, so that it ended well when its last action worked; a task that ran
            out of time or steps was not said to be.

    Returns:
        `abandoned` where nothing tells: it speaks neither for nor against what the task used.
    """
    attempts = attempts_of(steps)
    shown = outcome_of(task, steps, attempts)
    if shown is None and is_done and attempts and not attempts[-1].failed:
        return TaskStatus.SUCCEEDED
    return shown or TaskStatus.ABANDONED


def _by_user(steps: Sequence[Step], attempts: Sequence[Attempt]) -> TaskStatus | None:
    last_act = attempts[-1].position if attempts else -1
    words = " ".join(step.input or step.output for step in steps if step.action == "user" and step.position > last_act)[
        -600:
    ]
    if not words or not attempts:
        return None
    if COMPLAINT.search(words):
        return TaskStatus.FAILED
    return TaskStatus.SUCCEEDED if THANKS.search(words) else None


def _by_check(attempts: Sequence[Attempt]) -> TaskStatus | None:
    checks = [one for one in attempts if one.act.is_check and _says_something(one)]
    if not checks:
        return None
    return TaskStatus.FAILED if checks[-1].failed else TaskStatus.SUCCEEDED


def _says_something(attempt: Attempt) -> bool:
    return attempt.failed or attempt.step.ok is not None or bool(attempt.step.output.strip())


def _by_agent(steps: Sequence[Step]) -> TaskStatus | None:
    last = steps[-1] if steps else None
    if last is None or last.action not in ("note", "decision", "assistant"):
        return None
    words = f"{last.input} {last.rationale} {last.output}".strip()[-800:]
    if GAVE_UP.search(words):
        return TaskStatus.FAILED
    return TaskStatus.SUCCEEDED if ACHIEVED.search(words) else None


def _by_end(attempts: Sequence[Attempt]) -> TaskStatus | None:
    tail = attempts[-2:]
    return TaskStatus.FAILED if len(tail) == 2 and all(one.failed for one in tail) else None
