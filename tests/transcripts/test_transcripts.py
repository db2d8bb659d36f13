"""Sessions of every client: the same story comes out, and nothing that the user did not say."""

import json
import os
import random
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.transcripts import session_files as files

from afterwit.errors import InvalidInput
from afterwit.transcripts import CLIENTS, Cursor, Header, Item, Reading, detect, find_sessions, read_session

LINES = {
    "claude_code": files.claude_records,
    "codex": files.codex_records,
    "gemini": files.gemini_records,
    "qwen_code": files.qwen_records,
}


def _session(client: str, directory: Path) -> tuple[Path, str]:
    """The story as a client keeps it: the file, and the session's id in it where it holds many."""
    match client:
        case "gemini_document":
            path = directory / "session-1.json"
            path.write_text(json.dumps(files.gemini_document(), indent=2), encoding="utf-8")
            return path, ""
        case "opencode_files":
            return files.write_opencode_files(directory), ""
        case "opencode_old_files":
            return files.write_opencode_files(directory, old=True), ""
        case "opencode_database":
            return files.write_opencode_database(directory / "opencode.db"), "ses_1"
        case "opencode_version_2":
            return files.write_opencode_database(directory / "opencode.db"), "ses_2"
        case _:
            return files.write(directory / "session.jsonl", LINES[client]()), ""


FORMATS = [*LINES, "gemini_document", "opencode_files", "opencode_old_files", "opencode_database", "opencode_version_2"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_story_comes_out_of_every_format(format: str, tmp_path: Path) -> None:
    path, id = _session(format, tmp_path)
    reading = read_session(path, session_id=id)
    assert files.story(reading.items) == files.STORY
    assert [item.rationale for item in reading.items if item.rationale] == [
        "Let me run them first.",
        "The module is missing.",
    ]
    assert [item.turn for item in reading.items] == [1] * 5, "a correction belongs to the task that it corrects"
    assert [item.opens for item in reading.items] == [True, False, False, False, False]
    assert all(item.happened_at is not None and item.happened_at.tzinfo is UTC for item in reading.items)
    assert reading.header.cwd == "/home/dev/blog"
    assert reading.client == next(client for client in CLIENTS if format.startswith(client))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_was_put_in_comes_out(format: str, tmp_path: Path) -> None:
    path, id = _session(format, tmp_path)
    assert files.INJECTED not in repr(read_session(path, session_id=id).items)


@pytest.mark.parametrize("format", FORMATS)
def test_the_client_is_found_out_by_what_a_file_holds(format: str, tmp_path: Path) -> None:
    path, _ = _session(format, tmp_path)
    assert format.startswith(detect(path))


@pytest.mark.parametrize("format", FORMATS)
def test_a_second_reading_brings_nothing(format: str, tmp_path: Path) -> None:
    path, id = _session(format, tmp_path)
    for live in (False, True):
        first = read_session(path, session_id=id, live=live)
        second = read_session(path, session_id=id, live=live, after=Cursor.decode(first.cursor.encode()))
        assert (second.items, second.cursor, second.restarted) == ((), first.cursor, False)


def test_what_a_session_says_of_itself(tmp_path: Path) -> None:
    path, _ = _session("codex", tmp_path)
    assert read_session(path).header == Header(
        "codex-1", "/home/dev/blog", "main", "git@example.org:dev/blog.git", "0.171.0"
    )
    path, _ = _session("claude_code", tmp_path)
    assert read_session(path).header == Header("claude-1", "/home/dev/blog", "main", "", "2.1.0")


def test_a_turn_has_its_goal_and_how_it_ended(tmp_path: Path) -> None:
    records = [*files.claude_records()[:-1], files.claude_user(20, "Write a release note for version 3")]
    turns = list(read_session(files.write(tmp_path / "a.jsonl", records)).turns())
    assert [(turn.number, turn.goal, turn.ending) for turn in turns] == [
        (1, "Make the slug tests pass", "finished"),
        (2, "Write a release note for version 3", ""),
    ]


# --- Reading on -----------------------------------------------------------------------------------


def _read_in_steps(path: Path, content: bytes, cuts: list[int]) -> list[Item]:
    """What readings of a growing file bring together."""
    items: list[Item] = []
    cursor = None
    client = detect(path)
    for cut in cuts:
        path.write_bytes(content[:cut])
        reading = read_session(path, client=client, after=cursor, live=True)
        assert not reading.restarted
        items += reading.items
        cursor = reading.cursor
    path.write_bytes(content)
    return items + list(read_session(path, client=client, after=cursor).items)


@pytest.mark.parametrize("client", list(LINES))
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_cut_anywhere_and_read_on_it_is_the_same(client: str, tmp_path: Path, shares: list[float]) -> None:
    path = tmp_path / "session.jsonl"
    content = files.lines(LINES[client]()).encode()
    path.write_bytes(content)
    whole = list(read_session(path).items)
    assert _read_in_steps(path, content, sorted(int(share * len(content)) for share in shares)) == whole


@pytest.mark.parametrize("client", list(LINES))
def test_every_single_byte_may_be_the_last(client: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    content = files.lines(LINES[client]()).encode()
    path.write_bytes(content)
    whole = list(read_session(path).items)
    for cut in range(0, len(content), 23):
        path.write_bytes(content[:cut])
        first = read_session(path, client=client, live=True)
        assert list(first.items) == whole[: len(first.items)]
        read_session(path, client=client)


def test_a_session_read_to_its_end_and_then_gone_on_with_gives_nothing_twice(tmp_path: Path) -> None:
    records = files.claude_records()
    path = tmp_path / "session.jsonl"
    for cut in range(len(records)):
        first = read_session(files.write(path, records[:cut]), client="claude_code")
        second = read_session(files.write(path, records), after=first.cursor)
        keys = [item.key for item in (*first.items, *second.items)]
        assert not second.restarted
        assert len(set(keys)) == len(keys)
        assert [item.input for item in (*first.items, *second.items) if item.action == "user"] == [
            files.STORY[0][1],
            files.STORY[4][1],
        ]


def test_a_rewritten_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = files.write(tmp_path / "session.jsonl", files.claude_records())
    cursor = read_session(path).cursor
    other = [{**record, "uuid": f"other-{number}"} for number, record in enumerate(files.claude_records())]
    again = read_session(files.write(path, other), after=cursor)
    assert again.restarted
    assert files.story(again.items) == files.STORY


def test_a_shorter_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = files.write(tmp_path / "session.jsonl", files.claude_records())
    cursor = read_session(path).cursor
    again = read_session(files.write(path, files.claude_records()[:8]), after=cursor)
    assert again.restarted
    assert files.story(again.items) == files.STORY[:2]


def test_a_file_that_is_empty_for_a_moment_changes_nothing(tmp_path: Path) -> None:
    path, _ = _session("gemini_document", tmp_path)
    cursor = read_session(path).cursor
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:100], encoding="utf-8")
    between = read_session(path, client="gemini", after=cursor)
    assert (between.items, between.restarted) == ((), False)
    path.write_text(whole, encoding="utf-8")
    assert read_session(path, after=between.cursor).items == ()


def test_what_is_no_cursor_is_an_error() -> None:
    for text in ("", "{}", "[1, 2]", '["a", "b", [], 3]', "[1, 2, 3, 4]"):
        with pytest.raises(InvalidInput, match="no cursor"):
            Cursor.decode(text)


# --- Broken and hostile files ---------------------------------------------------------------------


def test_broken_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    good = [json.dumps(record).encode() for record in files.claude_records()]
    bad = [b"", b"{", b"\xff\xfe\x00", b"[1]", b'"text"', b"null", b"{" * 5000, b'{"a": ' * 5000, b'{"type": ["user"]}']
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\r\n".join([*bad, *(line for one in good for line in (one, *bad))]) + b"\r\n")
    reading = read_session(path)
    assert files.story(reading.items) == files.STORY
    assert reading.skipped["malformed"] == 7 * (len(good) + 1)
    assert reading.skipped["unknown"] >= len(good)


def test_bytes_that_are_no_utf_8_are_replaced(tmp_path: Path) -> None:
    content = files.lines([files.claude_user(1, "Fix the caf? page")]).encode().replace(b"?", b"\xe9")
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert [item.input for item in read_session(path).items] == ["Fix the caf\ufffd page"]


def test_a_last_line_without_its_end_is_read_when_the_session_is_over(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(files.lines(files.claude_records()).rstrip("\n"), encoding="utf-8")
    assert len(read_session(path).items) == 5
    assert len(read_session(path, live=True).items) == 4


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"")
    assert read_session(path, client="claude_code") == Reading("claude_code", Header(), (), Cursor(), {})


@pytest.mark.slow
def test_a_line_of_20_mb_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    records = files.claude_records()
    with path.open("wb") as file:
        file.write(files.lines(records[:3]).encode())
        file.write(b'{"type": "user", "uuid": "big", "message": {"content": "')
        for _ in range(20):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}}\n' + files.lines(records[3:]).encode())
    tracemalloc.start()
    try:
        reading = read_session(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert files.story(reading.items) == files.STORY
    assert reading.skipped["long_line"] == 1
    assert peak < 20 * 1024 * 1024, "the line was held in memory"


def test_a_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    output = "first line\n" + "x" * 1_500_000 + "\nlast line"
    records = [
        files.claude_user(1, "go"),
        files.claude_answer(2, files.claude_call("t", "cat big.txt")),
        files.claude_user(3, [files.claude_result("t", output)]),
    ]
    kept = read_session(files.write(tmp_path / "a.jsonl", records)).items[1].output
    assert kept.startswith("first line")
    assert kept.endswith("last line")
    assert len(kept) < 25_000


ODD_VALUES = (
    None,
    True,
    False,
    0,
    -1,
    2**70,
    1e400,
    "",
    "x",
    "2026-99-99",
    "\ud800",
    [],
    [[]],
    [None],
    {},
    {"a": [{}]},
)


def _damaged(record: object, chance: random.Random) -> object:
    """A record in which values are replaced by others, at any depth."""
    if chance.random() < 0.08:
        return chance.choice(ODD_VALUES)
    if isinstance(record, dict):
        return {name: _damaged(value, chance) for name, value in record.items()}
    if isinstance(record, list):
        return [_damaged(value, chance) for value in record]
    return record


@pytest.mark.parametrize("client", list(LINES))
def test_records_of_any_shape_never_raise(client: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    for seed in range(150):
        chance = random.Random(seed)  # noqa: S311
        path.write_text("\n".join(json.dumps(_damaged(one, chance)) for one in LINES[client]()), encoding="utf-8")
        for item in read_session(path, client=client).items:
            assert all(isinstance(one, str) for one in (item.action, item.input, item.output, item.rationale))
            (item.input + item.output).encode()


def test_unknown_files_and_clients_are_errors_that_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_session(path)
    path.write_text('{"hello": "world"}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="Name the client: claude_code"):
        detect(path)
    with pytest.raises(InvalidInput, match="The clients are"):
        read_session(path, client="clippy")
    assert read_session(path, client="Claude-Code").items == ()


# --- Where sessions are ---------------------------------------------------------------------------


def _home(root: Path) -> Path:
    files.write(root / ".claude/projects/-home-dev-blog/one.jsonl", files.claude_records())
    files.write(root / ".claude/projects/-home-dev-blog/one/subagents/agent-a.jsonl", files.claude_records())
    files.write(root / ".codex/sessions/2026/03/04/rollout-2026-03-04T05-00-00-x.jsonl", files.codex_records())
    files.write(root / ".gemini/tmp/blog/chats/session-2026-03-04-x.jsonl", files.gemini_records())
    (root / ".gemini/tmp/blog/chats/session-2026-03-04-x.json").write_text(json.dumps(files.gemini_document()))
    (root / ".gemini/tmp/blog/logs.json").write_text("[]", encoding="utf-8")
    files.write(root / ".qwen/projects/-home-dev-blog/chats/x.jsonl", files.qwen_records())
    files.write_opencode_files(root / ".local/share/opencode")
    files.write_opencode_database(root / ".local/share/opencode/opencode.db")
    return root


def test_sessions_are_found_where_the_clients_keep_them(tmp_path: Path) -> None:
    found = find_sessions(home=_home(tmp_path))
    assert sorted((one.client, one.path.name, one.session_id) for one in found) == [
        ("claude_code", "agent-a.jsonl", ""),
        ("claude_code", "one.jsonl", ""),
        ("codex", "rollout-2026-03-04T05-00-00-x.jsonl", ""),
        ("gemini", "session-2026-03-04-x.jsonl", ""),
        ("opencode", "opencode.db", "ses_1"),
        ("opencode", "opencode.db", "ses_2"),
        ("qwen_code", "x.jsonl", ""),
    ]
    for one in found:
        assert files.story(read_session(one.path, client=one.client, session_id=one.session_id).items) == files.STORY


def test_variables_of_the_clients_move_their_places(tmp_path: Path) -> None:
    _home(tmp_path / "elsewhere")
    away = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere/.claude"),
        "CODEX_HOME": str(tmp_path / "elsewhere/.codex"),
        "GEMINI_CLI_HOME": str(tmp_path / "elsewhere"),
        "QWEN_RUNTIME_DIR": str(tmp_path / "elsewhere/.qwen"),
        "XDG_DATA_HOME": str(tmp_path / "elsewhere/.local/share"),
    }
    assert find_sessions(home=tmp_path / "nobody") == []
    assert len(find_sessions(home=tmp_path / "nobody", environment=away)) == 7
    assert [one.client for one in find_sessions("codex", home=tmp_path / "nobody", environment=away)] == ["codex"]


def test_only_sessions_changed_since_a_time_are_found(tmp_path: Path) -> None:
    _home(tmp_path)
    for path in tmp_path.rglob("*.jsonl"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    late = find_sessions("codex", home=tmp_path, since=datetime(2002, 1, 1, tzinfo=UTC))
    assert late == []
    (early,) = find_sessions("codex", home=tmp_path, since=datetime(2001, 1, 1, tzinfo=UTC))
    assert early.modified == datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert early.size == early.path.stat().st_size


def test_the_size_in_a_cursor_tells_whether_there_is_anything_new(tmp_path: Path) -> None:
    (session,) = find_sessions("codex", home=_home(tmp_path))
    assert read_session(session.path).cursor.size == session.size


# --- Files of real clients ------------------------------------------------------------------------

REAL = os.environ.get("AFTERWIT_SESSION_FILES", "")


@pytest.mark.skipif(not REAL, reason="AFTERWIT_SESSION_FILES names no directory of session files of real clients")
@pytest.mark.parametrize(
    "path",
    [path for path in sorted(Path(REAL).glob("*.jsonl")) if "_hooks_" not in path.name] if REAL else [],
    ids=lambda path: path.name,
)
def test_files_of_real_clients(path: Path) -> None:
    reading = read_session(path)
    assert [item.input for item in reading.items if item.action == "user"] == ["Remember that I like tea"]
    assert "MEMCTX" not in repr(reading.items)
    assert "unknown" not in reading.skipped
    assert "malformed" not in reading.skipped
    assert reading.header.cwd == "/home/dev/shop"
