"""Sessions as the clients write them, with words of our own: a request, a failing check, a fix, a follow-up."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from afterwit.transcripts import Item

Json = Mapping[str, Any]
#: What the session that every client writes below comes to: action, input, ok.
STORY = [
    ("user", "Make the slug tests pass", None),
    ("SHELL", "pytest -q tests/test_slug.py", False),
    ("SHELL", "pip install text-unidecode && pytest -q tests/test_slug.py", True),
    ("note", "The slug tests pass now.", None),
    ("user", "no, use anyascii instead of text-unidecode", None),
]
INJECTED = "The user prefers tea over coffee."


def lines(records: Iterable[Json]) -> str:
    """One record a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def write(path: Path, records: Iterable[Json]) -> Path:
    """A file with one record a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(records), encoding="utf-8")
    return path


def story(items: Iterable[Item]) -> list[tuple[str, str, bool | None]]:
    """Items as `STORY` has them."""
    shells = ("Bash", "bash", "exec_command", "shell", "run_shell_command")
    return [("SHELL" if item.action in shells else item.action, item.input, item.ok) for item in items]


def time(second: int) -> str:
    """A moment of the session."""
    return f"2026-03-04T05:{second // 60:02}:{second % 60:02}.000Z"


# --- Claude Code ----------------------------------------------------------------------------------


def claude(type: str, number: int, **fields: Any) -> Json:
    """A record of Claude Code, with a uuid made from the number."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": type,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "timestamp": time(number),
        "cwd": "/home/dev/blog",
        "sessionId": "claude-1",
        "version": "2.1.0",
        "gitBranch": "main",
        **fields,
    }


def claude_user(number: int, content: Any, **fields: Any) -> Json:
    """Words in the user's name, or tool results."""
    return claude("user", number, message={"role": "user", "content": content}, **fields)


def claude_answer(number: int, *parts: Json, stop: str | None = None, **fields: Any) -> Json:
    """An answer of the model."""
    message = {"role": "assistant", "model": "claude-x", "content": list(parts), "stop_reason": stop}
    return claude("assistant", number, message=message, **fields)


def text(words: str) -> Json:
    """A part of a message."""
    return {"type": "text", "text": words}


def claude_call(id: str, command: str) -> Json:
    """A part that calls the shell."""
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command, "description": "run it"}}


def claude_result(id: str, output: str, *, is_error: bool = False) -> Json:
    """A part that brings a call's result."""
    return {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}


def claude_records() -> list[Json]:
    """The story, with what the client and its hooks write around it."""
    hook = {"type": "hook_additional_context", "content": [INJECTED], "hookName": "UserPromptSubmit"}
    return [
        {"type": "queue-operation", "operation": "enqueue", "timestamp": time(0), "sessionId": "claude-1"},
        claude_user(1, f"<local-command-caveat>{INJECTED}</local-command-caveat>", isMeta=True),
        claude_user(2, f"Make the slug tests pass\n<system-reminder>{INJECTED}</system-reminder>"),
        claude("attachment", 3, attachment=hook),
        claude_answer(4, {"type": "thinking", "thinking": "hmm"}),
        claude_answer(5, text("Let me run them first."), stop="tool_use"),
        claude_answer(6, claude_call("toolu_1", STORY[1][1]), stop="tool_use"),
        claude_user(7, [claude_result("toolu_1", "Exit code 1\nModuleNotFoundError: unidecode", is_error=True)]),
        claude_answer(8, text("The module is missing."), claude_call("toolu_2", STORY[2][1]), stop="tool_use"),
        claude_user(9, [claude_result("toolu_2", f"2 passed\n<system-reminder>{INJECTED}</system-reminder>")]),
        claude_answer(10, text(STORY[3][1]), stop="end_turn"),
        claude("system", 11, subtype="stop_hook_summary"),
        claude_user(12, STORY[4][1]),
    ]


# --- Codex ----------------------------------------------------------------------------------------


def codex(number: int, kind: str, /, **payload: Any) -> Json:
    """A record of Codex."""
    return {"timestamp": time(number), "ordinal": number, "type": kind, "payload": payload}


def codex_message(number: int, role: str, *texts: str, **fields: Any) -> Json:
    """A message of the conversation."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": one} for one in texts]
    return codex(number, "response_item", type="message", role=role, content=content, **fields)


def codex_records() -> list[Json]:
    """The story, with what the client and its hooks write around it."""
    agents_md = f"# AGENTS.md instructions for /home/dev/blog\n\n<INSTRUCTIONS>\n{INJECTED}\n</INSTRUCTIONS>"
    failed = json.dumps({"output": "ModuleNotFoundError: unidecode\n", "metadata": {"exit_code": 1}})
    passed = "Chunk ID: ab\nWall time: 0.5 seconds\nProcess exited with code 0\nOutput:\n2 passed"
    return [
        codex(
            0,
            "session_meta",
            id="codex-1",
            cwd="/home/dev/blog",
            cli_version="0.171.0",
            source="exec",
            git={"branch": "main", "repository_url": "git@example.org:dev/blog.git"},
        ),
        codex_message(1, "developer", INJECTED),
        codex_message(2, "user", agents_md, "<environment_context>\n<cwd>/home/dev/blog</cwd>\n</environment_context>"),
        codex_message(3, "user", STORY[0][1]),
        codex(3, "event_msg", type="user_message", message=STORY[0][1]),
        codex_message(4, "developer", INJECTED),
        codex(5, "response_item", type="reasoning", summary=[], encrypted_content="x"),
        codex_message(6, "assistant", "Let me run them first."),
        codex(
            7,
            "response_item",
            type="function_call",
            name="shell",
            call_id="call_1",
            arguments=json.dumps({"command": ["bash", "-lc", STORY[1][1]], "workdir": "/home/dev/blog"}),
        ),
        codex(8, "response_item", type="function_call_output", call_id="call_1", output=failed),
        codex_message(9, "assistant", "The module is missing."),
        codex(
            10,
            "response_item",
            type="function_call",
            name="exec_command",
            call_id="call_2",
            arguments=json.dumps({"cmd": STORY[2][1]}),
        ),
        codex(11, "response_item", type="function_call_output", call_id="call_2", output=passed),
        codex_message(12, "assistant", STORY[3][1]),
        codex(13, "event_msg", type="task_complete", last_agent_message=STORY[3][1]),
        codex_message(14, "user", STORY[4][1]),
    ]


# --- Gemini CLI -----------------------------------------------------------------------------------


def gemini(number: int, type: str, content: Any, **fields: Any) -> Json:
    """A message of Gemini CLI."""
    return {"id": f"message-{number}", "timestamp": time(number), "type": type, "content": content, **fields}


def gemini_call(id: str, command: str, output: str, status: str = "success") -> Json:
    """A call as it is kept with the message that made it."""
    response = {"id": id, "name": "run_shell_command", "response": {"output": output}}
    result = [{"functionResponse": response}] if status == "success" else None
    args = {"command": command, "description": "run it"}
    return {"id": id, "name": "run_shell_command", "args": args, "status": status, "result": result}


def gemini_records() -> list[Json]:
    """The story, with what the client and its hooks write around it."""
    setup = f"<session_context>\n- **Workspace Directories:**\n  - /home/dev/blog\n{INJECTED}\n</session_context>"
    request = f"<hook_context>{INJECTED}</hook_context>\n\n{STORY[0][1]}"
    first = gemini_call("call-1", STORY[1][1], "Output: ModuleNotFoundError\nExit Code: 1")
    second = gemini_call("call-2", STORY[2][1], "<untrusted_context>\nOutput: 2 passed\n</untrusted_context>")
    return [
        {"sessionId": "gemini-1", "projectHash": "ab", "startTime": time(0), "lastUpdated": time(0), "kind": "main"},
        {"$set": {"messages": [gemini(0, "user", [{"text": setup}])], "lastUpdated": time(0)}},
        gemini(1, "user", [{"text": request}, {"text": f"<hook_context>{INJECTED}</hook_context>"}]),
        {"$set": {"lastUpdated": time(1)}},
        gemini(2, "gemini", "Let me run them first.", thoughts=[]),
        gemini(2, "gemini", "Let me run them first.", toolCalls=[first]),
        gemini(3, "user", [{"functionResponse": {"id": "call-1", "response": {"output": "ModuleNotFoundError"}}}]),
        gemini(4, "gemini", "The module is missing.", toolCalls=[{**second, "status": "executing", "result": None}]),
        gemini(4, "gemini", "The module is missing.", toolCalls=[second]),
        gemini(5, "gemini", STORY[3][1]),
        gemini(6, "user", [{"text": STORY[4][1]}]),
    ]


def gemini_document() -> Json:
    """The same session as older versions keep it: one object."""
    header, first, *messages = gemini_records()
    messages = [*first["$set"]["messages"], *messages]
    last = {message["id"]: message for message in messages if "id" in message}
    return {**header, "messages": list(last.values())}


# --- Qwen Code ------------------------------------------------------------------------------------


def qwen(type: str, number: int, *parts: Json, **fields: Any) -> Json:
    """A record of Qwen Code."""
    role = "model" if type == "assistant" else "user"
    return {
        "uuid": f"record-{number}",
        "parentUuid": None,
        "sessionId": "qwen-1",
        "timestamp": time(number),
        "type": type,
        "cwd": "/home/dev/blog",
        "version": "0.24.4",
        "message": {"role": role, "parts": list(parts)},
        **fields,
    }


def qwen_call(number: int, words: str, id: str, command: str) -> Json:
    """An answer that calls the shell."""
    call = {"id": id, "name": "run_shell_command", "args": {"command": command}}
    return qwen("assistant", number, {"text": words}, {"functionCall": call})


def qwen_result(number: int, id: str, output: str) -> Json:
    """A call's result."""
    response = {"id": id, "name": "run_shell_command", "response": {"output": output}}
    told = {"callId": id, "status": "success"}
    return qwen("tool_result", number, {"functionResponse": response}, toolCallResult=told)


def qwen_records() -> list[Json]:
    """The story, with what the client and its hooks write around it."""
    context = {"text": f"<qwen:user-prompt-submit-context>\n{INJECTED}\n</qwen:user-prompt-submit-context>"}
    shown = {"displayText": STORY[0][1], "hookContext": INJECTED}
    return [
        qwen("user", 1, {"text": STORY[0][1]}, context, provenance="real_user", systemPayload=shown),
        qwen("system", 2, subtype="ui_telemetry", systemPayload={"uiEvent": {"response_text": INJECTED}}),
        qwen_call(3, "Let me run them first.", "call-1", STORY[1][1]),
        qwen_result(4, "call-1", "Output: ModuleNotFoundError\nExit Code: 1"),
        qwen_call(5, "The module is missing.", "call-2", STORY[2][1]),
        qwen_result(6, "call-2", "Output: 2 passed"),
        qwen("user", 7, {"text": INJECTED}, subtype="notification", provenance="system"),
        qwen("assistant", 8, {"text": "secret thought", "thought": True}, {"text": STORY[3][1]}),
        qwen("user", 9, {"text": STORY[4][1]}, context),
    ]


# --- opencode -------------------------------------------------------------------------------------


def opencode_session(id: str = "ses_1", **fields: Any) -> Json:
    """What describes a session."""
    times = {"created": 1_772_600_400_000, "updated": 1_772_600_460_000}
    return {"id": id, "projectID": "p1", "directory": "/home/dev/blog", "version": "1.1.0", "time": times, **fields}


def opencode_tool(command: str, output: str, exit: int) -> Json:
    """A part that ran the shell."""
    state = {
        "status": "completed",
        "input": {"command": command, "description": "run it"},
        "output": output,
        "title": command,
        "metadata": {"exit": exit},
        "time": {"start": 1_772_600_401_000, "end": 1_772_600_402_000},
    }
    return {"type": "tool", "tool": "bash", "callID": f"call_{command[:3]}", "state": state}


def opencode_messages() -> list[tuple[Json, list[Json]]]:
    """The story as messages with their parts, both without ids."""
    user, model = {"role": "user"}, {"role": "assistant", "finish": "tool-calls"}
    return [
        (user, [text(STORY[0][1]), {"type": "text", "text": INJECTED, "synthetic": True}]),
        (model, [{"type": "step-start"}, text("Let me run them first."), opencode_tool(STORY[1][1], "missing", 1)]),
        (model, [text("The module is missing."), opencode_tool(STORY[2][1], "2 passed", 0)]),
        ({"role": "assistant", "finish": "stop"}, [text(STORY[3][1])]),
        (user, [text(STORY[4][1])]),
    ]


def _numbered(number: int) -> Json:
    return {"time": {"created": 1_772_600_400_000 + number * 1000}}


def write_opencode_files(root: Path, *, old: bool = False) -> Path:
    """The session as JSON files; gives the file that describes it."""
    storage = root / "project" / "home-dev-blog" / "storage" / "session" if old else root / "storage"
    session = storage / "info" / "ses_1.json" if old else storage / "session" / "p1" / "ses_1.json"
    _write_json(session, opencode_session())
    for number, (message, parts) in enumerate(opencode_messages()):
        id = f"msg_{number:03}"
        _write_json(storage / "message" / "ses_1" / f"{id}.json", {"id": id, **message, **_numbered(number)})
        directory = storage / "part" / "ses_1" / id if old else storage / "part" / id
        for position, part in enumerate(parts):
            _write_json(directory / f"prt_{position:03}.json", {"id": f"prt_{number}_{position}", **part})
    return session


def _write_json(path: Path, value: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_opencode_database(path: Path) -> Path:
    """The session in the tables of version 1.2."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                version TEXT, time_created INTEGER, time_updated INTEGER);
            CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
            CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
            CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
                time_created INTEGER, data TEXT);
            """
        )
        for id in ("ses_1", "ses_2"):
            row = (id, "p1", None, "/home/dev/blog", "t", "1.2.0", 1_772_600_400_000, 1_772_600_460_000)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for number, (message, parts) in enumerate(opencode_messages()):
            id, data = f"msg_{number:03}", json.dumps({**message, **_numbered(number)})
            database.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (id, number, data))
            for position, part in enumerate(parts):
                row = (f"prt_{number:03}_{position:03}", id, "ses_1", number, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
        for number, (type, data) in enumerate(_messages_of_version_2()):
            row = (f"new_{number}", "ses_2", type, number, number, json.dumps({**data, **_numbered(number)}))
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row)
    return path


def _messages_of_version_2() -> list[tuple[str, Json]]:
    def tool(id: str, command: str, output: str, exit: int) -> Json:
        content = [{"type": "text", "text": output}]
        state = {"status": "completed", "input": {"command": command}, "content": content, "structured": {"exit": exit}}
        return {"type": "tool", "id": id, "name": "bash", "state": state}

    return [
        ("system", {"text": INJECTED}),
        ("user", {"text": STORY[0][1]}),
        ("synthetic", {"text": INJECTED}),
        ("assistant", {"content": [text("Let me run them first."), tool("a", STORY[1][1], "missing", 1)]}),
        ("assistant", {"content": [text("The module is missing."), tool("b", STORY[2][1], "2 passed", 0)]}),
        ("assistant", {"content": [text(STORY[3][1])], "finish": "stop"}),
        ("user", {"text": STORY[4][1]}),
    ]
