"""Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`, one record a line, appended.

A record has a `type` ("user", "assistant", "attachment", "system", ...) and, where it belongs to the conversation, a
`uuid`. Tool results come as user records. One answer of the model may be spread over several records. A session that
goes on another begins with copies of its records, with their uuids.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.transcripts.events import Called, Cleared, Event, Remarked, Returned, Said, Skipped, Stopped
from afterwit.transcripts.nouns import Header
from afterwit.transcripts.values import arguments, kept, mapping, moment, objects, printed, string
from afterwit.transcripts.wording import is_interruption, is_refusal, said_in_refusal, spoken

_COMMAND = re.compile(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>")
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_SHELL_OUTPUT = re.compile(r"<bash-(stdout|stderr)>(.*?)</bash-\1>", re.DOTALL)
_CLEARS = frozenset(("/clear", "/new", "/reset"))
#: Commands that the client carries out by itself: they ask nothing of the agent.
_LOCAL = frozenset(
    (
        "/add-dir /agents /agents-platform /bashes /bug /chrome /clear /color /compact /config /context /copy /cost "
        "/doctor /effort /exit /export /extra-usage /fast /feedback /files /heapdump /help /hooks /ide /keybindings "
        "/login /logout /mcp /memory /model /new /output-style /permissions /plan /plugin /privacy-settings /quit "
        "/release-notes /reload-plugins /remote-control /rename /reset /resume /rewind /sandbox /session /skills "
        "/stats /status /statusline /tag /tasks /terminal-setup /theme /todos /upgrade /usage /vim /voice"
    ).split()
)
#: Records that are the client's own bookkeeping.
_OWN = frozenset(
    (
        "queue-operation last-prompt tools-used file-history-snapshot summary custom-title ai-title agent-name "
        "agent-color agent-setting mode permission-mode pr-link progress worktree-state content-replacement tag "
        "started result bridge-session attribution-snapshot speculation-accept marble-origami-commit"
    ).split()
)


class ClaudeCode:
    """Reads the records of one session."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._seen: set[str] = set()

    def events(self, record: Mapping[str, Any], place: str) -> Iterator[Event]:
        """What one record tells; `place` names it when it has no uuid."""
        self._learn(record)
        key, kind = string(record.get("uuid")) or place, string(record.get("type"))
        if key in self._seen:
            yield Skipped("duplicate")
            return
        self._seen.add(key)
        if kind == "user":
            yield from self._user(record, key)
        elif kind == "assistant":
            yield from self._assistant(record, key)
        elif kind == "attachment":
            yield from self._attachment(record, key)
        elif kind == "system":
            yield from self._system(record)
        else:
            yield Skipped("bookkeeping" if kind in _OWN else "unknown")

    def _learn(self, record: Mapping[str, Any]) -> None:
        self._header.learn(
            session_id=record.get("sessionId"),
            cwd=record.get("cwd"),
            branch=record.get("gitBranch"),
            version=record.get("version"),
        )

    # --- Records ----------------------------------------------------------------------------------

    def _user(self, record: Mapping[str, Any], key: str) -> Iterator[Event]:
        content = mapping(record.get("message")).get("content")
        words: list[str] = [content] if isinstance(content, str) else []
        for part in objects(content):
            match part.get("type"):
                case "tool_result":
                    yield from _result(part, record, key)
                case "text":
                    words.append(string(part.get("text")))
                case _:
                    yield Skipped("image" if part.get("type") in ("image", "document") else "unknown")
        if words:
            yield from self._words(words, record, key)

    def _words(self, parts: list[str], record: Mapping[str, Any], key: str) -> Iterator[Event]:
        text, at = "\n".join(parts), moment(record.get("timestamp"))
        if is_interruption(text):
            yield Stopped(key, "interrupted", at)
        elif reason := _not_said(record):
            yield Skipped(reason)
        elif record.get("isSidechain"):
            yield Said(key, kept(text), at, by="agent")
        elif _COMMAND.search(text):
            yield from _command(text, key, record)
        elif _SHELL_INPUT.search(text) or _SHELL_OUTPUT.search(text):
            yield from _shell(text, key, record)
        # Each part by itself: an element that the client opened in one does not reach into the next.
        elif words := "\n".join(filter(None, map(spoken, parts))):
            yield Said(key, kept(words), at)
        else:
            yield Skipped("not_said_by_the_user")

    def _assistant(self, record: Mapping[str, Any], key: str) -> Iterator[Event]:
        message = mapping(record.get("message"))
        at, agent = moment(record.get("timestamp")), _agent(record)
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(objects(content))
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            text = "\n".join(string(part.get("text")) for part in parts)
            failed = bool(record.get("isApiErrorMessage")) and not agent
            yield Stopped(key, "error", at, kept(text)) if failed else Skipped("bookkeeping")
            return
        for number, part in enumerate(parts):
            match part.get("type"):
                case "text" if text := kept(string(part.get("text"))).strip():
                    is_final = message.get("stop_reason") == "end_turn"
                    yield Remarked(f"{key}#{number}", text, at, agent, is_final=is_final)
                case "tool_use" | "server_tool_use" | "mcp_tool_use":
                    tool = string(part.get("name")) or "tool"
                    call = string(part.get("id")) or f"{key}#{number}"
                    yield Called(call, tool, arguments(tool, part.get("input")), at, agent)
                case "web_search_tool_result" | "mcp_tool_result":
                    yield from _result(part, record, key)
                case "thinking" | "redacted_thinking" | "text":
                    yield Skipped("thinking" if part.get("type") != "text" else "empty")
                case _:
                    yield Skipped("unknown")

    def _attachment(self, record: Mapping[str, Any], key: str) -> Iterator[Event]:
        """Mostly what hooks and the client put in; but also what the user typed while the agent worked."""
        attachment = mapping(record.get("attachment"))
        is_typed = attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt"
        prompt = attachment.get("prompt")
        text = prompt if isinstance(prompt, str) else "\n".join(string(part.get("text")) for part in objects(prompt))
        if is_typed and not _not_said(attachment) and not record.get("isSidechain") and (words := spoken(text)):
            yield Said(key, kept(words), moment(record.get("timestamp")))
        else:
            yield Skipped("hook" if string(attachment.get("type")).startswith("hook_") else "attachment")

    def _system(self, record: Mapping[str, Any]) -> Iterator[Event]:
        command = _COMMAND.search(string(record.get("content")))
        yield Cleared() if command and command[1] in _CLEARS else Skipped("bookkeeping")


def _agent(record: Mapping[str, Any]) -> str:
    return (string(record.get("agentId")) or "subagent") if record.get("isSidechain") else ""


def _not_said(record: Mapping[str, Any]) -> str:
    """Why words sent in the user's name are not the user's; empty when nothing speaks against it."""
    if record.get("isCompactSummary"):
        return "compaction"
    if record.get("isMeta") or record.get("isVisibleInTranscriptOnly") or record.get("promptSource") == "system":
        return "meta"
    origin = mapping(record.get("origin")).get("kind")
    return "not_said_by_the_user" if origin not in (None, "human") else ""


def _command(text: str, key: str, record: Mapping[str, Any]) -> Iterator[Event]:
    found = _COMMAND.search(text)
    name = "/" + found[1].lstrip("/") if found else ""
    given = _COMMAND_ARGUMENTS.search(text)
    if name in _CLEARS:
        yield Cleared()
    elif name in _LOCAL:
        yield Skipped("slash_command")
    else:
        line = f"{name} {given[1].strip() if given else ''}".strip()
        yield Said(key, kept(line), moment(record.get("timestamp")), by="command")


def _shell(text: str, key: str, record: Mapping[str, Any]) -> Iterator[Event]:
    """A command that the user ran, and in the next record what it printed."""
    typed = _SHELL_INPUT.search(text)
    if typed:
        yield Called(key, "bash", kept(typed[1].strip()), moment(record.get("timestamp")))
    output = "\n".join(found[2] for found in _SHELL_OUTPUT.finditer(text) if found[2].strip())
    if output or not typed:
        yield Returned(key if typed else string(record.get("parentUuid")), kept(output))


def _result(part: Mapping[str, Any], record: Mapping[str, Any], key: str) -> Iterator[Event]:
    output = printed(part.get("content"))
    call = string(part.get("tool_use_id"))
    if is_refusal(output):
        yield Returned(call, output, None, "refused")
        if not record.get("isSidechain") and (words := said_in_refusal(output)):
            yield Said(f"{key}#said", kept(words), moment(record.get("timestamp")))
    elif is_interruption(output):
        yield Returned(call, "", None)
    else:
        was_interrupted = mapping(record.get("toolUseResult")).get("interrupted") is True
        yield Returned(call, output, None if was_interrupted else not part.get("is_error"))
