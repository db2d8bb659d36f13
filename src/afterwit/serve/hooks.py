"""Hooks: what agents' clients tell while they work, and what they are given for it.

A session's start gives rules, preferences and what is due; a prompt, the few memories that matter; a call of a tool
that went wrong before, the lesson; a failed call, the lesson against that very fault. When the agent stops, the new
part of its transcript becomes steps and lessons, in the background.

What is given is short, fenced as reference data, and marked so that nothing is ever learned from it.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from afterwit.clock import utc_now
from afterwit.errors import AfterwitError, InvalidInput
from afterwit.serve.prose import fenced, hit_line
from afterwit.text import language

if TYPE_CHECKING:
    from afterwit.recall import Hit
    from afterwit.service import Afterwit

_log = logging.getLogger(__name__)

#: Most characters that a hook puts into a prompt; clients cut at 10,000.
MAX_CHARACTERS = 8_000
#: Most characters of a prompt and of a call's output that are read: what matters stands at either end.
_MOST_READ = 20_000
#: Longest wait for another reading of the same session, in seconds.
BUSY_S = 30.0

Values = dict[str, Any]

#: Event of a client, folded -> what it is here.
EVENTS: dict[str, str] = {
    "sessionstart": "session_start",
    "userpromptsubmit": "prompt",
    "beforeagent": "prompt",
    "pretooluse": "before_tool",
    "beforetool": "before_tool",
    "posttooluse": "after_tool",
    "posttoolusefailure": "after_tool",
    "aftertool": "after_tool",
    "stop": "stop",
    "afteragent": "stop",
    "precompact": "stop",
    "precompress": "stop",
    "sessionend": "session_end",
}
#: Folder in the path of a transcript -> client.
_CLIENT_OF = {".claude": "claude-code", ".codex": "codex", ".gemini": "gemini-cli", ".qwen": "qwen-code"}
#: A client that is not known: its transcript tells.
_ANY = "agent"


@dataclass(frozen=True)
class Hooked:
    """What a hook gives back."""

    #: what the client reads on standard output; empty = nothing
    output: Values
    #: name of the client's session, which its MCP connection shares
    session: str = ""
    #: what is to be done after the answer; None = nothing
    later: Callable[[], None] | None = None
    #: what is to be done when the client goes without telling of the session's end; None = it has told
    on_leaving: Callable[[], None] | None = None


@dataclass(frozen=True)
class _Told:
    """What a client tells with an event."""

    #: key of `EVENTS`' values
    event: str
    #: the client's own name of the event, which its answer must bear
    name: str
    client: str
    session: str
    directory: str
    transcript: str
    prompt: str
    tool: str
    given: str
    output: str
    #: the client says that the call failed; None = it does not say
    failed: bool | None


def read_event(payload: Any, *, event: str = "", client: str = "") -> _Told:
    """What a client told, whatever its format.

    Args:
        payload: the JSON object that the client writes to a hook.
        event: the event's name, where the payload has none.
        client: the client's name, where it cannot be told from the payload.

    Raises:
        InvalidInput: no object, or an unknown event.
    """
    if not isinstance(payload, Mapping):
        raise InvalidInput("A hook's input must be a JSON object.", next_step="Let the client run the hook.")
    told = cast("Mapping[str, Any]", payload)
    name = str(told.get("hook_event_name") or event)
    known = EVENTS.get(name.replace("_", "").replace("-", "").casefold())
    if known is None:
        raise InvalidInput(f"Unknown hook event {name!r}.", next_step=f"Use one of: {', '.join(EVENTS)}.")
    transcript = str(told.get("transcript_path") or "")
    response = told.get("tool_response", told.get("tool_output", told.get("error", "")))
    return _Told(
        event=known,
        name=name,
        client=client or _client_of(transcript),
        session=str(told.get("session_id") or ""),
        directory=str(told.get("cwd") or ""),
        transcript=transcript,
        prompt=str(told.get("prompt") or "")[:_MOST_READ],
        tool=str(told.get("tool_name") or ""),
        given=_as_text(told.get("tool_input")),
        output=_output_of(response),
        failed=_has_failed(name, response),
    )


def _client_of(transcript: str) -> str:
    parts = Path(transcript).parts
    return next((client for folder, client in _CLIENT_OF.items() if folder in parts), _ANY)


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)[:_MOST_READ]
    return str(value or "")[:_MOST_READ]


def _output_of(response: Any) -> str:
    """The words of a tool's answer: of MCP content, of a shell's streams, or as they are."""
    if isinstance(response, Mapping):
        told = cast("Mapping[str, Any]", response)
        streams = [str(told[name]) for name in ("error", "stderr", "stdout", "output", "llmContent") if told.get(name)]
        content = told.get("content")
        return "\n".join(streams) if streams else _output_of(content) if content else _as_text(response)
    if isinstance(response, list):
        parts = cast("list[Any]", response)
        return "\n".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in parts)  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType]
    return str(response or "")[-_MOST_READ:]


def _has_failed(name: str, response: Any) -> bool | None:
    if name.casefold().endswith("failure"):
        return True
    if isinstance(response, Mapping):
        told = cast("Mapping[str, Any]", response)
        for key in ("is_error", "isError", "interrupted"):
            if told.get(key) is True:
                return True
        code = told.get("exit_code", told.get("exitCode"))
        if isinstance(code, int):
            return code != 0
    return None


def answer(service: "Afterwit", payload: Any, *, event: str = "", client: str = "") -> Hooked:
    """What a hook gives for an event.

    Args:
        service: the memory; what is written is the agent's.
        payload: as the client wrote it.
        event: the event's name, where the payload has none.
        client: the client's name, where the payload does not show it.

    Raises:
        AfterwitError: the event makes no sense, or the store cannot be read. A door says nothing then.
    """
    told = read_event(payload, event=event, client=client)
    from afterwit.service import session_name  # noqa: PLC0415  loaded by now; not before `initialize` is answered

    session = session_name(told.client, told.session) if told.session else ""
    own = service.as_writer(replace(service.writer, session=session))
    watch = Watch(own, told)
    hits = watch.look()
    output: Values = {}
    if hits:
        context = _context(hits)
        output = {"hookSpecificOutput": {"hookEventName": told.name, "additionalContext": context}}
    return Hooked(output, session, watch.later(), watch.on_leaving())


def attempt(
    get_service: "Callable[[], Afterwit]", given: bytes | Mapping[str, Any], *, event: str = "", client: str = ""
) -> Hooked:
    """What a hook gives for an event, as doors need it: whatever goes wrong is a line in the log, and nothing is
    given, for an agent is never held up by its memory.

    Args:
        get_service: gives the open service, perhaps after a wait.
        given: what the client wrote, as bytes of JSON or read already.
        event: as in `answer`.
        client: as in `answer`.
    """
    try:
        payload: Any = json.loads(given or b"{}") if isinstance(given, bytes) else given
        return answer(get_service(), payload, event=event, client=client)
    except (AfterwitError, ValueError) as error:
        _log.warning("Hook %s: %s", event, error)
    except Exception:  # noqa: BLE001  see above
        _log.exception("Hook %s failed", event)
    return Hooked({})


def _context(hits: Sequence["Hit"]) -> str:
    """The hits between fences, as many as there is room for."""
    spoken = language("".join(hit.memory.summary for hit in hits))
    now, lines, size = utc_now(), list[str](), 0
    for hit in hits:
        line = f"- {hit_line(hit, now, spoken)}"
        size += len(line) + 1
        if size > MAX_CHARACTERS:
            break
        lines.append(line)
    return fenced("\n".join(lines), spoken)


class Watch:
    """One event of one session, and what memory has to do with it."""

    def __init__(self, service: "Afterwit", told: _Told) -> None:
        self._service = service
        self._told = told
        from afterwit.service import project_scope  # noqa: PLC0415

        self._scope = project_scope(told.directory)

    def look(self) -> list["Hit"]:
        """What is given."""
        match self._told.event:
            case "session_start":
                return self._service.standing_orders(scope=self._scope)
            case "prompt":
                return self._service.on_prompt(self._told.prompt, scope=self._scope)
            case "before_tool":
                return self._service.on_tool(self._told.tool, self._told.given, scope=self._scope)
            case "after_tool":
                told = self._told
                return self._service.on_failure(
                    told.tool, told.given, told.output, failed=told.failed, scope=self._scope
                )
            case _:
                return []

    def later(self) -> Callable[[], None] | None:
        """What is to be done after the answer: the transcript's new part becomes steps and lessons."""
        match self._told.event:
            case "stop":
                return self._follow(live=True)
            case "session_end":
                # The file has only just been written: its time would say that the session goes on.
                return self._follow(live=False)
            case _:
                return None

    def on_leaving(self) -> Callable[[], None] | None:
        """What is to be done when the client goes without a word, as if it had told of the session's end."""
        return None if self._told.event == "session_end" else self._follow(live=False)

    def _follow(self, *, live: bool) -> Callable[[], None] | None:
        told = self._told
        if not told.transcript:
            return None

        def follow() -> None:
            if not Path(told.transcript).exists():
                return  # nothing was asked
            client = "" if told.client == _ANY else told.client
            read = partial(
                self._service.follow_session, told.transcript, client=client, session_id=told.session, live=live
            )
            gives_up = time.monotonic() + BUSY_S
            try:
                # A session's end often comes while its last stop is still being read: it must not be passed over.
                while read().reason == "busy":
                    if time.monotonic() > gives_up:
                        _log.warning("Session %s was not followed: another process reads it", told.session)
                        return
                    time.sleep(0.1)
            except AfterwitError as error:
                _log.warning("Session %s was not followed: %s", told.session, error)

        return follow
