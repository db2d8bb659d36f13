"""Qwen Code: `~/.qwen/projects/PROJECT/chats/SESSION.jsonl`, one record a line, appended.

A record has a `uuid`, a `type` ("user", "assistant", "tool_result", "system"), perhaps a `subtype`, and in newer
versions a `provenance` that says whose it is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.transcripts.content import joined, responses, returned, texts
from afterwit.transcripts.events import Called, Cleared, Event, Remarked, Said, Skipped
from afterwit.transcripts.nouns import Header
from afterwit.transcripts.values import arguments, kept, mapping, moment, objects, string
from afterwit.transcripts.wording import spoken

_CLEARS = frozenset(("/clear", "/reset", "/new"))
#: Subtypes of records in the user's name that the user did say.
_SAID = ("", "mid_turn_user_message")


class QwenCode:
    """Reads the records of one session."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._seen: set[str] = set()

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one record tells; `place` names it when it has no uuid."""
        self._header.learn(
            session_id=record.get("sessionId"),
            cwd=record.get("cwd"),
            branch=record.get("gitBranch"),
            version=record.get("version"),
        )
        key = string(record.get("uuid")) or place
        if key in self._seen:
            yield Skipped("duplicate")
            return
        self._seen.add(key)
        match record.get("type"):
            case "user":
                yield self._user(record, key)
            case "assistant":
                yield from _assistant(record, key)
            case "tool_result":
                yield from _results(record)
            case "system":
                yield _system(record, key)
            case _:
                yield Skipped("unknown")

    def _user(self, record: Mapping[str, Any], key: str) -> Event:
        provenance, subtype = record.get("provenance"), string(record.get("subtype"))
        if provenance not in (None, "real_user") or (provenance is None and subtype not in _SAID):
            return Skipped("not_said_by_the_user")
        # What was typed, without the files that the client added to it, where the client keeps that apart.
        shown = string(mapping(record.get("systemPayload")).get("displayText"))
        said = [shown] if shown.strip() else texts(mapping(record.get("message")).get("parts"))
        # Each part by itself: an element that a hook opened in one does not reach into the next.
        words = "\n".join(filter(None, map(spoken, said)))
        if not words:
            return Skipped("not_said_by_the_user")
        by = "agent" if record.get("isSidechain") or record.get("agentId") else "user"
        return Said(key, kept(words), moment(record.get("timestamp")), by=by)


def _agent(record: Mapping[str, Any]) -> str:
    return string(record.get("agentId")) or ("subagent" if record.get("isSidechain") else "")


def _assistant(record: Mapping[str, Any], key: str) -> Iterator[Event]:
    parts = mapping(record.get("message")).get("parts")
    at, agent = moment(record.get("timestamp")), _agent(record)
    calls = [call for part in objects(parts) if (call := mapping(part.get("functionCall")))]
    text = joined(texts(parts))
    if text:
        yield Remarked(key, text, at, agent)
    for number, call in enumerate(calls):
        name = string(call.get("name")) or "tool"
        yield Called(string(call.get("id")) or f"{key}#{number}", name, arguments(name, call.get("args")), at, agent)
    if not text and not calls:
        yield Skipped("thinking" if any(part.get("thought") for part in objects(parts)) else "empty")


def _results(record: Mapping[str, Any]) -> Iterator[Event]:
    told = mapping(record.get("toolCallResult"))
    for response in responses(mapping(record.get("message")).get("parts")):
        yield returned(string(response.get("id")) or string(told.get("callId")), response, told.get("status"))


def _system(record: Mapping[str, Any], key: str) -> Event:
    payload = mapping(record.get("systemPayload"))
    if record.get("subtype") == "chat_compression":
        return Skipped("compaction")
    if record.get("subtype") != "slash_command" or payload.get("phase") != "invocation":
        return Skipped("bookkeeping")
    line = string(payload.get("rawCommand")).strip()
    if line.partition(" ")[0] in _CLEARS:
        return Cleared()
    if payload.get("sentToModel") is True:
        return Said(key, kept(line), moment(record.get("timestamp")), by="command")
    return Skipped("slash_command")
