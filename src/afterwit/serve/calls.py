"""A tool call: from checked arguments to the verb, and from what it gives back to values and text."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afterwit.clock import utc_now
from afterwit.errors import AfterwitError, InvalidInput
from afterwit.serve import prose, tasks, wire
from afterwit.serve.tools import BY_NAME, check_arguments

if TYPE_CHECKING:
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)

#: How what is kept aside is confirmed; only the user may say so.
_CONFIRMING = 'If the user agrees, call memory_update with memory_id="{id}", verdict="confirm", source="user".'

INTERNAL_ERROR = "Internal error; nothing is known to be changed."
INTERNAL_NEXT_STEP = "Go on without this call, and tell the user to look into the server's log."


@dataclass(frozen=True)
class Called:
    """What a call gives back; the whole answer twice, for some clients show only one of the two."""

    text: str
    values: wire.Values
    is_error: bool = False


def call(get_service: "Callable[[], Afterwit]", name: str, arguments: Mapping[str, Any] | None) -> Called:
    """Carry out one tool call. Never raises: whatever goes wrong is an answer.

    Args:
        get_service: gives the service, perhaps after a wait.
        name: a name of `tools.BY_NAME`.
        arguments: as they came from the client.
    """
    try:
        checked = check_arguments(BY_NAME[name], arguments)
        answer = _VERBS[name](get_service(), checked)
    except AfterwitError as error:
        return Called(prose.error_text(error), wire.error_json(error), is_error=True)
    except Exception:  # noqa: BLE001  the door must stay open whatever happens behind it
        _log.exception("%s failed", name)
        error = AfterwitError(INTERNAL_ERROR, next_step=INTERNAL_NEXT_STEP)
        return Called(prose.error_text(error), wire.error_json(error), is_error=True)
    # Some clients show the model only these values, so they are as harmless as the text.
    return Called(answer.text, prose.defused_values(answer.values))


def _write(service: "Afterwit", given: dict[str, Any]) -> Called:
    receipt = service.write(given.pop("content"), **given)
    return Called(prose.receipt_text(receipt, confirming=_CONFIRMING), wire.receipt_json(receipt))


def _search(service: "Afterwit", given: dict[str, Any]) -> Called:
    query, now = given.pop("query"), utc_now()
    answer = service.search(query, **given)
    return Called(prose.search_text(answer, query=query, now=now), wire.search_json(answer, now=now))


def _update(service: "Afterwit", given: dict[str, Any]) -> Called:
    receipt = service.update(given.pop("memory_id"), **given)
    return Called(prose.receipt_text(receipt, confirming=_CONFIRMING), wire.receipt_json(receipt))


def _forget(service: "Afterwit", given: dict[str, Any]) -> Called:
    receipt = service.forget(given.pop("memory_id"), **given)
    return Called(prose.receipt_text(receipt, confirming=_CONFIRMING), wire.receipt_json(receipt))


def _summarize(service: "Afterwit", given: dict[str, Any]) -> Called:
    digest = service.summarize(**given)
    return Called(prose.digest_text(digest), wire.digest_json(digest))


def _explain(service: "Afterwit", given: dict[str, Any]) -> Called:
    story, now = service.explain(given["memory_id"]), utc_now()
    return Called(prose.story_text(story, now=now), wire.story_json(story, now=now))


def _task_start(service: "Afterwit", given: dict[str, Any]) -> Called:
    briefing, now = service.start_task(given.pop("goal"), **given), utc_now()
    return Called(tasks.briefing_text(briefing, now=now), tasks.briefing_json(briefing, now=now))


def _task_step(service: "Afterwit", given: dict[str, Any]) -> Called:
    task_id, several = given.pop("task_id", ""), given.pop("steps", None)
    if several is not None and given:
        raise InvalidInput("steps and a single step were both given.", next_step="Put all of them into steps.")
    steps: list[Any] = [given] if several is None else several
    receipt = service.log_steps(steps, task_id=task_id)
    return Called(tasks.steps_text(receipt), tasks.steps_json(receipt))


def _task_finish(service: "Afterwit", given: dict[str, Any]) -> Called:
    receipt = service.finish_task(**given)
    return Called(tasks.finish_text(receipt), tasks.finish_json(receipt))


_VERBS: dict[str, "Callable[[Afterwit, dict[str, Any]], Called]"] = {
    "memory_write": _write,
    "memory_search": _search,
    "memory_update": _update,
    "memory_forget": _forget,
    "memory_summarize": _summarize,
    "memory_explain": _explain,
    "task_start": _task_start,
    "task_step": _task_step,
    "task_finish": _task_finish,
}
