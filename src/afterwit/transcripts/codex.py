"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, one record a line, appended.

A record has a `timestamp`, a `type` and a `payload`. Of the types, "response_item" is the conversation as the model
sees it, with messages, calls and their outputs; "event_msg" tells again what happened, for the client's display, and
is read only for what the conversation lacks: ends of turns and whether a call worked. Rollouts of 2025 may hold the
payloads bare.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.transcripts.events import Called, Event, Judged, Remarked, Returned, Said, Skipped, Stopped
from afterwit.transcripts.nouns import Header
from afterwit.transcripts.values import arguments, exit_code, kept, mapping, moment, objects, printed, sequence, string
from afterwit.transcripts.wording import spoken

_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"))
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
_SHELL_COMMAND = re.compile(
    r"<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>", re.DOTALL
)
_REFUSED = re.compile(r"(?:exec|patch|command)\b.{0,40}\brejected by user|^rejected by user", re.IGNORECASE)


class Codex:
    """Reads the records of one rollout."""

    def __init__(self, header: Header) -> None:
        self._header = header

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one record tells; `place` names it when it has no id."""
        payload, kind = mapping(record.get("payload")), string(record.get("type"))
        if not payload and kind in ("message", "reasoning", *_CALLS, *_OUTPUTS):
            payload, kind = record, "response_item"
        at = record.get("timestamp")
        match kind:
            case "response_item":
                yield from self._item(payload, place, at)
            case "event_msg":
                yield from _event(payload, place, at)
            case "session_meta":
                self._learn(payload)
                yield Skipped("bookkeeping")
            case "turn_context":
                self._header.learn(cwd=payload.get("cwd"))
                yield Skipped("bookkeeping")
            case "compacted":
                yield Skipped("compaction")
            case _:
                if "id" in record and "instructions" in record:
                    self._learn(record)
                yield Skipped("bookkeeping" if kind in ("world_state", "token_usage_record", "") else "unknown")

    def _learn(self, meta: Mapping[str, Any]) -> None:
        git = mapping(meta.get("git"))
        is_first = not self._header.session_id
        self._header.learn(
            session_id=meta.get("id") or meta.get("session_id"),
            cwd=meta.get("cwd"),
            version=meta.get("cli_version"),
            branch=git.get("branch"),
            repository=git.get("repository_url"),
        )
        # A fork holds the meta records of what it was forked from, after its own.
        if is_first and ("subagent" in mapping(meta.get("source")) or meta.get("thread_source") == "subagent"):
            self._header.is_subagent = True

    def _item(self, item: Mapping[str, Any], place: str, at: object) -> Iterator[Event]:
        kind = string(item.get("type"))
        if kind == "message":
            yield from self._message(item, place, at)
        elif kind in _CALLS:
            yield from _call(item, place, at)
        elif kind in _OUTPUTS:
            yield _output(item)
        elif kind in ("reasoning", "compaction", "compaction_summary", "ghost_snapshot"):
            yield Skipped("thinking" if kind == "reasoning" else "compaction")
        else:
            yield Skipped("unknown")

    def _message(self, item: Mapping[str, Any], place: str, at: object) -> Iterator[Event]:
        key, role = string(item.get("id")) or place, item.get("role")
        parts = list(objects(item.get("content")))
        if role == "assistant":
            text = kept("\n".join(string(part.get("text")) for part in parts)).strip()
            is_final = item.get("phase") == "final_answer"
            yield Remarked(key, text, moment(at), is_final=is_final) if text else Skipped("empty")
        elif role == "user":
            yield from self._words(parts, item, key, at)
        else:
            yield Skipped("meta")

    def _words(self, parts: list[Mapping[str, Any]], item: Mapping[str, Any], key: str, at: object) -> Iterator[Event]:
        texts = [string(part.get("text")) for part, said in zip(parts, _by_user(item, len(parts)), strict=True) if said]
        shell = _SHELL_COMMAND.search("\n".join(texts))
        if shell:
            yield Called(key, "bash", kept(shell[1]), moment(at))
            output = kept(shell[2])
            yield Returned(key, output, exit_code(output) in (0, None))
        # Each part by itself: an element that a hook opened in one does not reach into the next.
        elif words := "\n".join(filter(None, map(spoken, texts))):
            yield Said(key, kept(words), moment(at), by="agent" if self._header.is_subagent else "user")
        else:
            yield Skipped("not_said_by_the_user")


def _by_user(item: Mapping[str, Any], count: int) -> list[bool]:
    """For each part of a message whether the user may have said it, by what the client notes about their origin."""
    noted = mapping(item.get("internal_chat_message_metadata_passthrough"))
    kinds = [mapping(mapping(one).get("provenance")) for one in sequence(noted.get("content_item_metadata"))]
    origins = [string(kind.get("type")) for kind in kinds]
    origins += [""] * (count - len(origins))
    return [origin in ("", "user") for origin in origins[:count]]


def _call(item: Mapping[str, Any], place: str, at: object) -> Iterator[Event]:
    key = string(item.get("call_id")) or string(item.get("id")) or place
    kind = item.get("type")
    if kind == "local_shell_call":
        action = mapping(item.get("action"))
        yield Called(key, "local_shell", arguments("local_shell", {"command": action.get("command")}), moment(at))
    elif kind == "web_search_call":
        yield Called(key, "web_search", arguments("web_search", item.get("action")), moment(at))
        yield Returned(key, "", True if item.get("status") == "completed" else None)
    else:
        name, space = string(item.get("name")) or "tool", string(item.get("namespace"))
        given = item.get("arguments") if "arguments" in item else item.get("input")
        yield Called(key, f"{space}__{name}" if space else name, arguments(name, given), moment(at))


def _output(item: Mapping[str, Any]) -> Event:
    value: object = item.get("output")
    told = _as_object(string(value))
    if "metadata" in told:  # {"output": ..., "metadata": {"exit_code": ...}}, written as text
        value = told.get("output")
    output = printed(value)
    if _REFUSED.search(output[:200]):
        return Returned(string(item.get("call_id")), output, None, "refused")
    succeeded = mapping(value).get("success")
    code = mapping(told.get("metadata")).get("exit_code", exit_code(output))
    ok = succeeded if isinstance(succeeded, bool) else (code == 0 if isinstance(code, int) else None)
    return Returned(string(item.get("call_id")), output, ok)


def _as_object(text: str) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(text)) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}


def _event(event: Mapping[str, Any], place: str, at: object) -> Iterator[Event]:
    kind = string(event.get("type"))
    if kind in ("task_complete", "turn_complete"):
        yield Stopped(place, "finished", moment(at))
    elif kind == "turn_aborted":
        yield Stopped(place, "interrupted", moment(at))
    elif kind in ("error", "stream_error") and event.get("message"):
        yield (
            Stopped(place, "error", moment(at), kept(string(event.get("message"))))
            if kind == "error"
            else Skipped("bookkeeping")
        )
    elif kind == "item_completed":
        yield _judgement(mapping(event.get("item")))
    elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
        yield _judgement({**event, "id": event.get("call_id")})
    else:
        yield Skipped("display")


def _judgement(item: Mapping[str, Any]) -> Event:
    """Whether a call worked, as the client notes it."""
    call, code = string(item.get("id")), item.get("exit_code")
    result = mapping(item.get("result"))
    told: bool | None = None
    if isinstance(code, int):
        told = code == 0
    elif item.get("success") in (True, False):
        told = bool(item["success"])
    elif item.get("status") in ("failed", "declined") or result.get("isError") is True or "Err" in result:
        told = False
    elif result.get("isError") is False or "Ok" in result:
        told = mapping(result.get("Ok")).get("is_error") is not True
    return Judged(call, told) if call and told is not None else Skipped("display")
