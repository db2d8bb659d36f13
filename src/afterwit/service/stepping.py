"""What callers may say of a task and its steps, and the cleaning of what tools print: a boundary of the façade."""

import json
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Required, TypedDict, cast

from afterwit.errors import InvalidInput, Sentence
from afterwit.records import GLOBAL, Json, Step, Task, TaskStatus, new_id
from afterwit.service.options import Moment, fold_role, json_object, known_only, moment
from afterwit.text import check_text
from afterwit.text.secrets import redact_secrets
from afterwit.vocabulary import fold_scope, strip_injected

#: Most UTF-8 bytes of a goal, a constraint, and the words about an outcome.
MAX_GOAL_BYTES = 4_096
#: Characters of a step's input or output that are kept: its beginning and its end, where results and errors stand.
KEPT_HEAD, KEPT_TAIL = 6_000, 6_000
#: Most steps of one call.
MAX_STEPS_AT_ONCE = 1_000
#: Steps of a task that does not say how many it may take, and the most that it may say.
DEFAULT_STEP_LIMIT, MAX_STEP_LIMIT = 500, 10_000
#: How long a task runs that does not say, in seconds: whoever started it is gone by then.
DEFAULT_TIMEOUT_S = 86_400.0
#: Longest time that a task may give itself, in seconds: 30 days.
MAX_TIMEOUT_S = 30 * 86_400.0

_CLOCK_SKEW = timedelta(days=1)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: A share of unprintable characters from which an output is taken for a file's bytes.
_BINARY_SHARE = 0.05

_OUTCOMES = {
    TaskStatus.SUCCEEDED: "success succeeded successful done ok pass passed completed 成功 完成 已完成 通过",
    TaskStatus.FAILED: "failure failed fail error 失败 未完成 出错",
    TaskStatus.ABANDONED: "abandoned cancelled canceled aborted gave_up 放弃 取消 中止",
}
_STATUS_OF = {word: status for status, words in _OUTCOMES.items() for word in words.split()}


class StepFields(TypedDict, total=False):
    """One step of a task, as it is logged; only `action` is required."""

    #: the tool that was called, or "user", "decision", "check", "note"
    action: Required[str]
    #: what was done: a command, a request, the user's words; an object is kept as JSON
    input: str | Json
    #: what came back
    output: str | Json
    #: why it was done
    rationale: str
    #: whether it worked; left out when neither can be said
    ok: bool | None
    happened_at: Moment | None


class TaskOptions(TypedDict, total=False):
    """How a task may be started; all optional."""

    scope: str
    role: str
    #: settled in advance: what must hold whatever is tried
    constraints: Sequence[str]
    #: where it runs: {"os": ..., "repo": ..., "tools": {"python": "3.12.1"}}; the system is added by itself
    environment: Json
    #: more words on what it is about
    context: str
    #: it ends by itself after so many steps
    step_limit: int
    #: it ends by itself after so many seconds, a day if nothing is said
    timeout_s: float
    #: most tokens of the briefing
    budget_tokens: int


@dataclass(frozen=True)
class Start:
    """A task's start after validation."""

    task: Task
    context: str
    #: None = that of the settings
    budget_tokens: int | None


def read_start(goal: str, given: Mapping[str, Any], *, space: str, session: str, now: datetime) -> Start:
    """Validate the start of a task.

    Raises:
        InvalidInput: empty or too long goal, malformed scope, environment, limit or time.
    """
    known_only(given, TaskOptions)
    constraints = given.get("constraints") or ()
    if isinstance(constraints, str) or not isinstance(constraints, Sequence):
        raise InvalidInput("constraints must be a list of texts.", next_step='For example constraints=["no network"].')
    context = given.get("context") or ""
    timeout_s = _number(given.get("timeout_s"), "timeout_s", 1.0, MAX_TIMEOUT_S) or DEFAULT_TIMEOUT_S
    budget = _number(given.get("budget_tokens"), "budget_tokens", 20, 20_000)
    task = Task(
        id=new_id(now),
        space=space,
        goal=redact_secrets(check_text(goal, field="goal", max_bytes=MAX_GOAL_BYTES)),
        started_at=now,
        scope=fold_scope(given["scope"]) if given.get("scope") else GLOBAL,
        role=fold_role(given.get("role") or ""),
        constraints=tuple(
            redact_secrets(check_text(item, field="constraints", max_bytes=MAX_GOAL_BYTES))
            for item in cast("Sequence[Any]", constraints)
        ),
        session=session,
        environment=_environment(given.get("environment")),
        step_limit=int(
            _number(given.get("step_limit"), "step_limit", 1, MAX_STEP_LIMIT) or DEFAULT_STEP_LIMIT,
        ),
        deadline=now + timedelta(seconds=timeout_s),
    )
    text = check_text(context, field="context", max_bytes=MAX_GOAL_BYTES) if context else ""
    return Start(task, text, None if budget is None else int(budget))


def _environment(given: Any) -> Json:
    """What was said about it, beside the system that this process runs on."""
    here = {"os": platform.system().lower() or sys.platform}
    return here | dict(json_object(given, "environment") or {})


def read_outcome(word: str) -> TaskStatus | None:
    """How a task ended, None when nothing was said.

    Raises:
        InvalidInput: not a word for an outcome.
    """
    if not word:
        return None
    status = _STATUS_OF.get(check_text(word, field="outcome", max_bytes=200).strip().casefold().replace(" ", "_"))
    if status is None:
        raise InvalidInput(
            Sentence("Unknown outcome {word!r}.", word=word),
            next_step='Use "success", "failure" or "abandoned"; say more in summary.',
        )
    return status


def read_step(given: Mapping[str, Any], *, task: Task, now: datetime) -> Step:
    """Validate one step and clean what it holds; recalled text and secrets are taken out.

    Raises:
        InvalidInput: an unknown or malformed field.
    """
    known_only(given, StepFields)
    action = check_text(given.get("action"), field="action", max_bytes=200).strip()
    ok = given.get("ok")
    if ok is not None and not isinstance(ok, bool):
        raise InvalidInput(
            Sentence("ok must be true, false or left out, not {ok!r}.", ok=ok),
            next_step="Leave it out if you cannot tell.",
        )
    happened_at = moment(given.get("happened_at"), "happened_at") or now
    if happened_at > now + _CLOCK_SKEW:
        raise InvalidInput(
            Sentence("happened_at lies in the future: {happened_at}.", happened_at=happened_at.isoformat()),
            next_step="Give the time at which it happened.",
        )
    return Step(
        id=new_id(now),
        space=task.space,
        task_id=task.id,
        position=0,
        action=action,
        happened_at=happened_at,
        input=_cleaned(given.get("input"), "input"),
        output=_cleaned(given.get("output"), "output"),
        rationale=_cleaned(given.get("rationale"), "rationale"),
        ok=ok,
    )


def _cleaned(value: Any, field: str) -> str:
    """Printed text as it can be kept: no colours, no control characters, no recalled text, no secrets, not endless."""
    if value is None or value == "":
        return ""
    if isinstance(value, Mapping):
        value = _as_json(cast("Json", value), field)
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode(errors="replace")
    if not isinstance(value, str):
        raise InvalidInput(
            Sentence("{field} must be text or an object, not {given}.", field=field, given=type(value).__name__),
            next_step="Pass text, or an object of texts, numbers and lists.",
        )
    text = value.encode(errors="replace").decode()  # a lone surrogate becomes "?"
    if len(text) > 4 * (KEPT_HEAD + KEPT_TAIL):
        # A first cut before the costly work; the second one is exact.
        text = _ends(text, 2 * KEPT_HEAD, 2 * KEPT_TAIL)
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    unprintable = len(_CONTROL.findall(text)) + text.count("\ufffd")
    if unprintable > _BINARY_SHARE * len(text):
        return f"[binary data, {len(value)} characters]"
    text = _CONTROL.sub("", text.replace("\r", "\n"))
    return _ends(redact_secrets(strip_injected(text)), KEPT_HEAD, KEPT_TAIL)


def _as_json(value: Json, field: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            Sentence("{field} is not JSON: {problem}.", field=field, problem=error), next_step="Pass text."
        ) from None


def _ends(text: str, head: int, tail: int) -> str:
    """The first and last characters, with what was left out said between them."""
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"


def _number(value: Any, field: str, low: float, high: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InvalidInput(
            Sentence(
                "{field} must be a number from {low:g} to {high:g}, not {value!r}.",
                field=field,
                low=low,
                high=high,
                value=value,
            ),
            next_step=Sentence("Give a number in that range, or leave {field} out.", field=field),
        )
    return value
