"""opencode's files and database, built as its published source describes them."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.transcripts import session_files as files
from tests.transcripts.session_files import Json, text

from afterwit.errors import InvalidInput
from afterwit.transcripts import Item, read_session


def _opencode(root: Path, messages: Sequence[tuple[Json, list[Json]]], **session: Any) -> tuple[Item, ...]:
    storage = root / "storage"
    path = storage / "session" / "p1" / "ses_1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(files.opencode_session(**session)), encoding="utf-8")
    for number, (message, parts) in enumerate(messages):
        for name, value in ((f"message/ses_1/msg_{number}.json", message), *_parts(number, parts)):
            (storage / name).parent.mkdir(parents=True, exist_ok=True)
            (storage / name).write_text(json.dumps(value), encoding="utf-8")
    return read_session(path).items


def _parts(number: int, parts: list[Json]) -> list[tuple[str, Json]]:
    return [(f"part/msg_{number}/prt_{position}.json", part) for position, part in enumerate(parts)]


def test_failures_refusals_and_ends_in_opencode(tmp_path: Path) -> None:
    def tool(name: str, **state: Any) -> Json:
        return {"type": "tool", "tool": name, "callID": name, "state": {"input": {"filePath": "a.py"}, **state}}

    aborted = {"role": "assistant", "error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}}
    items = _opencode(
        tmp_path,
        [
            ({"role": "user"}, [text("Change it"), {"type": "file", "url": "data:image/png;base64,AAAA"}]),
            ({"role": "user"}, [{"type": "compaction", "auto": True}]),
            ({"role": "assistant", "summary": True}, [text("The user likes tea.")]),
            (
                aborted,
                [
                    tool("edit", status="error", error="File not found: a.py"),
                    tool("bash", status="error", error="The user rejected permission to use this tool."),
                    tool("read", status="error", error="Tool execution aborted"),
                    tool("write", status="running"),
                ],
            ),
        ],
    )
    assert [(item.action, item.output, item.ok, item.signal) for item in items] == [
        ("user", "", None, ""),
        ("edit", "File not found: a.py", False, ""),
        ("bash", "The user rejected permission to use this tool.", None, "refused"),
        ("read", "", None, ""),
        ("write", "", None, ""),
        ("note", "", None, "interrupted"),
    ]
    assert "tea" not in repr(items)


def test_a_child_session_of_opencode_is_a_subagents(tmp_path: Path) -> None:
    items = _opencode(tmp_path, [({"role": "user"}, [text("Look for bugs")])], parentID="ses_0")
    assert [(item.action, item.opens) for item in items] == [("note", True)]


def test_a_damaged_part_costs_only_itself(tmp_path: Path) -> None:
    path = files.write_opencode_files(tmp_path)
    (tmp_path / "storage/part/msg_001/prt_000.json").write_bytes(b"{")
    (tmp_path / "storage/message/ses_1/msg_003.json").write_bytes(b"")
    reading = read_session(path)
    assert [item.input for item in reading.items] == [files.STORY[0][1], files.STORY[1][1], *_last_two()]
    assert reading.skipped["malformed"] == 2


def _last_two() -> list[str]:
    return [files.STORY[2][1], files.STORY[4][1]]


def test_a_database_must_be_opencodes_and_hold_the_session(tmp_path: Path) -> None:
    path = files.write_opencode_database(tmp_path / "opencode.db")
    with pytest.raises(InvalidInput, match="Pass session_id"):
        read_session(path)
    with pytest.raises(InvalidInput, match="no session 'ses_9'"):
        read_session(path, session_id="ses_9")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE notes (id INTEGER)")
    with pytest.raises(InvalidInput, match="cannot be read as a database of opencode"):
        read_session(other, session_id="ses_1")


def test_a_database_is_read_while_opencode_writes(tmp_path: Path) -> None:
    path = files.write_opencode_database(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM message")
        assert files.story(read_session(path, session_id="ses_1").items) == files.STORY
        writer.execute("ROLLBACK")
