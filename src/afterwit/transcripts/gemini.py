"""Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`, before 2026 one JSON document `.json`.

A line is the session's header, a message, `{"$set": ...}` (changes of the header, or the whole history after it was
compacted) or `{"$rewindTo": id}`. A message is written again, with its id, when its calls come back. A document has
the header's fields and all `messages`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.transcripts.content import is_running, joined, responses, returned, texts
from afterwit.transcripts.events import Called, Event, Remarked, Said, Skipped, Stopped
from afterwit.transcripts.nouns import Header
from afterwit.transcripts.values import arguments, kept, mapping, moment, objects, printed, sequence, string
from afterwit.transcripts.wording import spoken

_DIRECTORIES = "**Workspace Directories:**"


class Gemini:
    """Reads the records of one session."""

    def __init__(self, header: Header) -> None:
        self._header = header
        #: how much of each message was told, so that a repetition brings only what is new
        self._told: set[str] = set()

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one record tells: a line of a `.jsonl` file or all of a `.json` file."""
        if "$set" in record:
            self._learn(mapping(record["$set"]))
            yield Skipped("history_rewritten" if "messages" in mapping(record["$set"]) else "bookkeeping")
        elif "$rewindTo" in record:
            yield Stopped(place, "interrupted", text="The user went back to an earlier message.")
        elif "projectHash" in record:
            self._learn(record)
            if "messages" not in record:
                yield Skipped("bookkeeping")
            for number, message in enumerate(objects(record.get("messages"))):
                yield from self._message(message, f"{place}:{number}")
        elif "type" in record and "id" in record:
            yield from self._message(record, place)
        else:
            yield Skipped("unknown")

    def _learn(self, told: Mapping[str, Any]) -> None:
        directory = next((one for one in sequence(told.get("directories")) if isinstance(one, str)), "")
        self._header.learn(session_id=told.get("sessionId"), cwd=directory)
        for message in objects(told.get("messages")):
            self._learn_directory("\n".join(texts(message.get("content"))))
        if told.get("kind") == "subagent":
            self._header.is_subagent = True

    def _learn_directory(self, text: str) -> None:
        """The directory stands only in the words with which the client sets up the chat."""
        if "<session_context>" in text and _DIRECTORIES in text:
            listed = text.partition(_DIRECTORIES)[2].strip().partition("\n")[0]
            self._header.learn(cwd=listed.removeprefix("-").strip())

    def _message(self, message: Mapping[str, Any], place: str) -> Iterator[Event]:
        key = string(message.get("id")) or place
        at = moment(message.get("timestamp"))
        match message.get("type"):
            case "user":
                yield from self._user(message, key)
            case "gemini":
                yield from self._answer(message, key)
            case "error":
                yield Stopped(key, "error", at, joined(texts(message.get("content"))))
            case "info" | "warning":
                is_stop = "cancelled" in joined(texts(message.get("content"))).casefold()[:80]
                yield Stopped(key, "interrupted", at) if is_stop else Skipped("display")
            case _:
                yield Skipped("unknown")

    def _user(self, message: Mapping[str, Any], key: str) -> Iterator[Event]:
        content = message.get("content")
        said = texts(content)
        self._learn_directory("\n".join(said))
        # Each part by itself: an element that a hook opened in one does not reach into the next.
        words = "\n".join(filter(None, map(spoken, said)))
        if words:
            by = "agent" if self._header.is_subagent else "user"
            yield from self._once(Said(key, kept(words), moment(message.get("timestamp")), by=by))
        elif not any(responses(content)):
            yield Skipped("not_said_by_the_user")

    def _answer(self, message: Mapping[str, Any], key: str) -> Iterator[Event]:
        at = moment(message.get("timestamp"))
        if text := joined(texts(message.get("content"))):
            yield from self._once(Remarked(key, text, at))
        for number, call in enumerate(objects(message.get("toolCalls"))):
            name = string(call.get("name")) or "tool"
            id = string(call.get("id")) or f"{key}#{number}"
            when = moment(call.get("timestamp")) or at
            yield from self._once(Called(id, name, arguments(name, call.get("args")), when), within=key)
            if not is_running(call.get("status")) and f"{key}/{id} returned" not in self._told:
                self._told.add(f"{key}/{id} returned")
                response = next(responses(call.get("result")), None)
                shown = {"response": {"output": printed(call.get("resultDisplay"))}}
                yield returned(id, {"name": name, **(response or shown)}, call.get("status"))

    def _once(self, event: Said | Remarked | Called, within: str = "") -> Iterator[Event]:
        told = f"{within}/{event.key}"
        if told not in self._told:
            self._told.add(told)
            yield event
