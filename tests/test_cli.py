"""The commands one by one, in process, with the hash embedder."""

import json
import shlex
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from afterwit.cli import cli


class Terminal:
    """Runs commands on a data directory of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data_dir = home / "data"
        self._runner = CliRunner(
            env={
                "HOME": str(home),
                "AFTERWIT_DATA_DIR": str(self.data_dir),
                "AFTERWIT_EMBEDDER": "hash",
                "LC_ALL": "C.UTF-8",
            }
        )

    def run(self, *arguments: str, stdin: str | bytes = b"", exit_code: int = 0) -> Result:
        """Run a command and check its exit status."""
        result = self._runner.invoke(cli, arguments, input=stdin)
        assert result.exit_code == exit_code, (result.stdout, result.stderr)
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str, stdin: str | bytes = b"", exit_code: int = 0) -> Any:
        """Run a command with --json; its one document."""
        result = self.run(*arguments, "--json", stdin=stdin, exit_code=exit_code)
        assert result.stderr == ""
        return json.loads(result.stdout)

    def write(self, content: str, *options: str) -> str:
        """Write a memory; its id."""
        receipt = self.json("write", content, *options)
        assert receipt["outcome"] == "stored", receipt
        return receipt["id"]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


# --- write ----------------------------------------------------------------------------------------


def test_write_tells_what_was_understood(terminal: Terminal) -> None:
    result = terminal.run("write", "The user is tall.", "--kind", "fact", "--subject", "user", "--topic", "height")
    assert result.stdout.startswith("stored [m:")
    assert "fact, user/height, global, stated, confirmed: The user is tall." in result.stdout


def test_what_a_person_writes_is_stated_and_trusted(terminal: Terminal) -> None:
    id = terminal.write("Deploys go out on Mondays.", "--kind", "rule", "--scope", "project:atlas", "--role", "coder")
    memory = terminal.json("show", id)["memory"]
    assert (memory["basis"], memory["trust"], memory["role"]) == ("stated", "user", "coder")
    assert memory["source"]["kind"] == "user"
    assert memory["source"]["ref"].startswith("cli:20")


def test_repeat_on_one_day_counts_once(terminal: Terminal) -> None:
    id = terminal.write("The user prefers concise answers.")
    receipt = terminal.json("write", "The user prefers concise answers.")
    assert (receipt["outcome"], receipt["id"]) == ("merged", id)
    assert terminal.json("show", id)["memory"]["support"] == 1


def test_words_need_no_quotes(terminal: Terminal) -> None:
    terminal.run("write", "The", "user", "likes", "green", "tea.")
    assert terminal.json("list")["memories"][0]["summary"] == "The user likes green tea."


def test_all_fields_are_kept(terminal: Terminal) -> None:
    options = {
        "--kind": "fact",
        "--subject": "张三",
        "--topic": "居住地",
        "--tag": "Home",
        "--confidence": "0.7",
        "--happened-at": "2025-01-02",
        "--valid-from": "2025-01-03T08:00:00+08:00",
        "--expires-at": "2099-01-01",
        "--raw": "我住上海",
        "--structured": '{"value": "上海"}',
        "--source": "user",
        "--source-ref": "chat.txt",
    }
    id = terminal.write("张三住在上海。", *[word for option in options.items() for word in option])
    memory = terminal.json("show", id)["memory"]
    assert memory["subject"] == "张三"
    assert memory["topic"] == "residence"
    assert memory["tags"] == ["home"]
    assert memory["confidence"] == 0.7
    assert memory["happened_at"] == "2025-01-02T00:00:00Z"
    assert memory["valid_from"] == "2025-01-03T00:00:00Z"
    assert memory["valid_to"] == "2099-01-01T00:00:00Z"
    assert memory["raw"] == "我住上海"
    assert memory["structured"]["value"] == "上海"
    assert memory["source"] == {"kind": "user", "ref": "chat.txt"}


def test_text_is_read_from_standard_input(terminal: Terminal) -> None:
    terminal.run("write", "-", stdin="\ufeff用户喜欢绿茶。\n")
    assert terminal.json("list")["memories"][0]["summary"] == "用户喜欢绿茶。"


def test_refused_write_is_an_answer_not_an_error(terminal: Terminal) -> None:
    receipt = terminal.json("write", "ok")
    assert receipt["outcome"] == "rejected"
    assert receipt["reasons"]
    assert terminal.run("write", "ok").stdout.startswith("rejected (")


def test_lines_are_written_one_by_one(terminal: Terminal) -> None:
    lines = "The user likes green tea.\r\n\nok\n用户对花生过敏。\nThe user likes green tea.\n"
    result = terminal.run("write", "--stdin", stdin=lines)
    assert "line 3: " in result.stdout
    assert result.stdout.splitlines()[-1] == "4 lines: 2 stored, 1 rejected, 1 merged"
    assert terminal.json("list")["total"] == 2


def test_malformed_line_stops_no_other(terminal: Terminal) -> None:
    lines = [f"Room {number} is on floor {number % 7}." for number in range(100)]
    lines[70] = "Room\x0070 is broken."
    answer = terminal.json("write", "--stdin", "--kind", "fact", stdin="\n".join(lines), exit_code=2)
    assert answer["counts"] == {"stored": 99, "invalid_input": 1}
    bad = next(line for line in answer["lines"] if "error" in line)
    assert bad["line"] == 71
    assert "U+0000" in bad["error"]["message"]
    assert terminal.json("list")["total"] == 99
    result = terminal.run("write", "--stdin", stdin="\n".join(lines), exit_code=2)
    assert "line 71: " in result.stdout
    assert result.stderr.startswith("Error: 1 lines are malformed")


def test_option_that_is_wrong_for_all_lines_is_said_once(terminal: Terminal) -> None:
    result = terminal.run("write", "--stdin", "--kind", "poem", stdin="A rose is red.\nSo is wine.\n", exit_code=2)
    assert result.stderr.count("Unknown kind") == 1
    assert result.stdout == ""


# --- search, list, show, history, summarize -------------------------------------------------------


@pytest.fixture
def filled(terminal: Terminal) -> Terminal:
    terminal.write("The user prefers concise answers.", "--tag", "style")
    terminal.write("Atlas uses uv as its package manager.", "--kind", "constraint", "--scope", "project:atlas")
    terminal.write(
        "The user lived in Hangzhou.", "--topic", "residence", "--subject", "user", "--happened-at", "2024-01-01"
    )
    return terminal


def test_search_finds_and_explains(filled: Terminal) -> None:
    answer = filled.json("search", "concise", "answers", "--explain")
    assert [hit["summary"] for hit in answer["hits"]] == ["The user prefers concise answers."]
    assert answer["hits"][0]["why"]["words"] == 1
    text = filled.run("search", "concise answers", "--explain").stdout
    assert "[m:" in text
    assert "words #1" in text
    assert "relevance 0." in text or "relevance 1." in text


def test_search_sees_only_the_scopes_it_names(filled: Terminal) -> None:
    query = "which package manager does atlas use"
    answer = filled.json("search", query)
    assert answer["hits"] == []
    assert answer["message"]
    assert answer["other_scopes"] == ["project:atlas"]
    assert "project:atlas" in filled.run("search", query).stdout
    assert len(filled.json("search", query, "--scope", "project:atlas")["hits"]) == 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--kind", "preference"], 1),
        (["--kind", "failure"], 0),
        (["--kind", "preference", "--kind", "failure"], 1),
        (["--tag", "style"], 1),
        (["--tag", "other"], 0),
        (["--subject", "user"], 1),
        (["--subject", "nobody"], 0),
        (["--topic", "diet"], 0),
        (["--since", "2025-01-01"], 1),
        (["--until", "2025-01-01"], 0),
        (["--known-at", "2025-01-01"], 0),
        (["--role", "coder"], 1),
        (["--purpose", "action"], 1),
        (["--task-context", "writing a reply", "--constraint", "in English"], 1),
        (["-k", "1", "--budget", "500"], 1),
    ],
)
def test_search_narrows_by_every_option(filled: Terminal, options: Sequence[str], found: int) -> None:
    assert len(filled.json("search", "concise answers", *options)["hits"]) == found


def test_everything_is_ranked_on_demand(filled: Terminal) -> None:
    plain, ranked = (filled.json("search", "concise answers", *more)["hits"] for more in ([], ["--exhaustive"]))
    assert ranked[0]["id"] == plain[0]["id"]
    assert len(ranked) > len(plain)
    assert len(filled.json("search", "concise answers", "--exhaustive", "-k", "1")["hits"]) == 1


def test_query_is_read_from_standard_input(filled: Terminal) -> None:
    assert len(filled.json("search", "-", stdin="concise answers\n")["hits"]) == 1


def test_list_shows_all_scopes_and_pages(filled: Terminal) -> None:
    answer = filled.json("list")
    assert answer["total"] == 3
    assert answer["memories"][0]["summary"] == "The user lived in Hangzhou."
    result = filled.run("list", "--limit", "2")
    assert result.stdout.splitlines()[-1].startswith("2 of 3 shown")
    assert filled.json("list", "--limit", "2", "--offset", "2")["memories"][0]["kind"] == "preference"
    assert filled.run("list", "--kind", "failure").stdout == "No memory matches.\n"


def test_list_shows_what_is_over_only_on_demand(filled: Terminal) -> None:
    id = filled.json("list", "--kind", "preference")["memories"][0]["id"]
    filled.run("forget", id)
    assert filled.json("list")["total"] == 2
    assert filled.json("list", "--all")["total"] == 3
    assert "forgotten" in filled.run("list", "--all").stdout


def test_changes_are_read_as_history(terminal: Terminal) -> None:
    terminal.write("The user lives in Hangzhou.", "--valid-from", "2020-01-01")
    new = terminal.json("write", "The user moved to Shanghai.", "--valid-from", "2025-03-01")
    assert new["outcome"] == "superseded"
    versions = terminal.json("history", new["id"])["versions"]
    assert [version["status"] for version in versions] == ["superseded", "active"]
    text = terminal.run("history", new["id"][-12:]).stdout
    assert "active: The user moved to Shanghai. (since 2025-03-01)" in text
    story = terminal.run("show", new["id"]).stdout
    assert "Versions:" in story
    assert "supersedes" in story


def test_summary_cites_ids_within_a_budget(filled: Terminal) -> None:
    digest = filled.json("summarize", "--budget", "400", "--language", "zh")
    assert len(digest["ids"]) == 3
    assert "## 偏好" in digest["text"]
    assert "more not shown" in filled.run("summarize", "--budget", "30").stdout
    assert filled.json("summarize", "--topic", "diet")["ids"] == []


# --- update and forget ----------------------------------------------------------------------------


def test_correction_replaces_and_keeps_history(terminal: Terminal) -> None:
    id = terminal.write("The user drinks green tea.")
    receipt = terminal.json("update", id, "--content", "The user drinks black tea.", "--reason", "typo")
    assert receipt["outcome"] == "updated"
    assert receipt["related"] == [id]
    assert [row["summary"] for row in terminal.json("list")["memories"]] == ["The user drinks black tea."]


def test_fields_and_verdicts_change_a_memory(terminal: Terminal) -> None:
    id = terminal.write("The user drinks green tea.")
    terminal.run("update", id, "--expires-at", "2099-01-01", "--tag", "tea", "--confidence", "0.5")
    memory = terminal.json("show", id)["memory"]
    assert memory["valid_to"] == "2099-01-01T00:00:00Z"
    assert memory["tags"] == ["tea"]
    terminal.run("update", id, "--confirm")
    assert terminal.json("show", id)["memory"]["trust"] == "confirmed"
    terminal.run("update", id, "--refute")
    assert terminal.json("search", "green tea")["hits"] == []
    terminal.run("update", id, "--restore")
    assert len(terminal.json("search", "green tea")["hits"]) == 1


def test_forgotten_memory_can_be_restored(terminal: Terminal) -> None:
    id = terminal.write("The user drinks green tea.")
    assert terminal.json("forget", id)["outcome"] == "forgotten"
    assert terminal.json("search", "green tea")["hits"] == []
    assert terminal.json("update", id, "--restore")["reasons"] == ["restored"]
    assert len(terminal.json("search", "green tea")["hits"]) == 1


def test_erasing_needs_a_yes_when_nobody_can_be_asked(terminal: Terminal) -> None:
    id = terminal.write("The user drinks green tea.")
    result = terminal.run("forget", id, "--erase", exit_code=2)
    assert "--yes" in result.stderr
    assert terminal.json("list")["total"] == 1
    assert terminal.json("forget", id, "--erase", "--yes")["outcome"] == "erased"
    terminal.run("show", id, exit_code=4)
    assert b"green tea" not in (terminal.data_dir / "memory.db").read_bytes()


# --- export, import -------------------------------------------------------------------------------


def body(export: str) -> str:
    """An export without its header, which holds the time of the export."""
    return export.partition("\n")[2]


@pytest.fixture
def eventful(filled: Terminal) -> Terminal:
    """Memories in every state, with links."""
    filled.run("write", "The user moved to Shanghai.", "--valid-from", "2025-03-01")
    filled.run("write", "张三对花生过敏。")
    ids = [memory["id"] for memory in filled.json("list")["memories"]]
    filled.run("update", ids[0], "--content", "张三对花生和虾过敏。")
    filled.run("forget", ids[-1])
    return filled


def test_export_and_import_round_trip_byte_for_byte(eventful: Terminal, tmp_path: Path) -> None:
    first = eventful.run("export").stdout
    file = tmp_path / "memories.jsonl"
    eventful.run("export", str(file))
    assert body(file.read_text(encoding="utf-8")) == body(first)
    assert '"supersedes"' in first
    other = ["--data-dir", str(tmp_path / "other"), "--space", "副本"]
    report = eventful.json("import", str(file), *other)
    assert report["added"]["memory"] == 6
    assert report["embedded"] == 5
    assert body(eventful.run(*other, "export").stdout) == body(first)
    again = eventful.json("import", "-", *other, stdin=first)
    assert again["added"] == {}
    assert again["already_here"] == sum(report["added"].values())


def test_dry_run_changes_nothing(eventful: Terminal, tmp_path: Path) -> None:
    first = eventful.run("export").stdout
    other = ["--data-dir", str(tmp_path / "other")]
    result = eventful.run("import", "-", "--dry-run", *other, stdin=first)
    assert result.stdout.startswith("Would import 6 memory")
    assert eventful.json("list", "--all", *other)["total"] == 0
    assert eventful.json("import", "-", "--dry-run", *other, stdin=first)["dry_run"] is True


def test_export_file_is_private_and_never_overwritten_unasked(filled: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "memories.jsonl"
    answer = filled.json("export", str(file))
    assert answer == {"file": str(file), "exported": {"memory": 3}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = file.read_bytes()
    filled.write("The user drinks green tea.")
    result = filled.run("export", str(file), exit_code=2)
    assert "--force" in result.stderr
    assert file.read_bytes() == kept
    filled.run("export", str(file), "--force")
    assert b"green tea" in file.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "memories.jsonl"]


def test_export_with_json_needs_a_file(filled: Terminal) -> None:
    assert filled.json("export", exit_code=2)["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not json\n", "Line 1"),
        (b'{"type":"memory"}\n', "Line 1"),
        (b"HEADER99\n", "format 99"),
        (b'HEADER\n{"type":"poem"}\n', "Line 2"),
        (b'HEADER\n{"type":"memory","id":1}\n', "Line 2"),
        (b"HEADER\n\xff\xfe\n", "not valid UTF-8: byte 0xff in line 2"),
    ],
)
def test_import_refuses_what_is_no_export_and_changes_nothing(
    filled: Terminal, tmp_path: Path, content: bytes, said: str
) -> None:
    header, _, before = filled.run("export").stdout.partition("\n")
    newer = header.replace('"format":1', '"format":99')
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content.replace(b"HEADER99", newer.encode()).replace(b"HEADER", header.encode()))
    assert said in filled.run("import", str(file), exit_code=2).stderr
    assert body(filled.run("export").stdout) == before


# --- init and doctor ------------------------------------------------------------------------------


def test_init_makes_a_private_place_and_shows_how_to_connect(terminal: Terminal) -> None:
    answer = terminal.json("init")
    database = Path(answer["database"])
    assert database == terminal.data_dir / "memory.db"
    assert answer["created"] is True
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE(terminal.data_dir.stat().st_mode) == 0o700
    assert Path(answer["mcp"]["command"]).is_absolute()
    assert answer["mcp"]["args"] == ["-m", "afterwit", "--data-dir", str(terminal.data_dir), "mcp"]
    assert answer["mcp"]["env"] == {"AFTERWIT_EMBEDDER": "hash"}
    assert answer["json"]["mcpServers"]["afterwit"] == answer["mcp"]
    assert tomllib.loads(answer["codex"])["mcp_servers"]["afterwit"] == answer["mcp"]
    words = shlex.split(answer["claude_code"])
    assert words[words.index("--") + 1 :] == [answer["mcp"]["command"], *answer["mcp"]["args"]]
    assert terminal.json("init")["created"] is False
    text = terminal.run("init", "--space", "工作").stdout
    assert "claude mcp add" in text
    assert "[mcp_servers.afterwit]" in text
    assert '"mcpServers"' in text
    assert '"工作"' in text


def test_doctor_finds_nothing_wrong_with_a_new_place(terminal: Terminal) -> None:
    terminal.run("init")
    answer = terminal.json("doctor")
    assert answer["ok"] is True
    assert {check["level"] for check in answer["checks"]} == {"ok"}
    names = {check["name"] for check in answer["checks"]}
    assert {"python", "sqlite", "data directory", "disk", "database", "integrity", "embedder", "vectors"} <= names


def test_doctor_says_where_settings_come_from(terminal: Terminal) -> None:
    terminal.run("init")
    (terminal.data_dir / "config.toml").write_text("top_k = 7\n", encoding="utf-8")
    text = terminal.run("doctor", "--space", "work").stdout
    assert "setting space: work (option)" in text
    assert "setting embedder: hash (AFTERWIT_EMBEDDER)" in text
    assert f"setting top_k: 7 ({terminal.data_dir / 'config.toml'})" in text
    assert "setting port: 8765 (default)" in text


def test_doctor_before_init_says_what_to_do_and_makes_nothing(terminal: Terminal) -> None:
    result = terminal.run("doctor")
    assert "afterwit init" in result.stdout
    assert not terminal.data_dir.exists()


def test_doctor_fails_on_a_damaged_database(terminal: Terminal) -> None:
    terminal.write("The user drinks green tea.")
    (terminal.data_dir / "memory.db").write_bytes(b"not a database" * 1000)
    answer = terminal.json("doctor", exit_code=1)
    failed = [check for check in answer["checks"] if check["level"] == "fail"]
    assert failed
    assert all(check["next_step"] for check in failed)


def test_doctor_fails_on_a_wrong_setting(terminal: Terminal) -> None:
    terminal.data_dir.mkdir()
    (terminal.data_dir / "config.toml").write_text("colour = 1\n", encoding="utf-8")
    assert "Unknown setting 'colour'" in terminal.run("doctor", exit_code=1).stdout


def test_doctor_warns_of_open_doors(terminal: Terminal) -> None:
    terminal.run("init")
    terminal.data_dir.chmod(0o755)
    (terminal.data_dir / "memory.db").chmod(0o644)
    text = terminal.run("doctor").stdout
    assert f"chmod 700 {terminal.data_dir}" in text
    assert "chmod 600" in text


# --- bad input ------------------------------------------------------------------------------------

BAD = [
    (["write"], "There is nothing to write"),
    (["write", ""], "content is empty"),
    (["write", "x", "--stdin"], "Both CONTENT and --stdin"),
    (["write", "--stdin"], "Standard input holds no statement"),
    (["write", "A fact.", "--kind", "poem"], "Unknown kind"),
    (["write", "A fact.", "--scope", "elsewhere"], "is not a scope"),
    (["write", "A fact.", "--happened-at", "yesterday-ish"], "happened_at is not a date"),
    (["write", "A fact.", "--happened-at", "2025-03-01T09:00:00"], "no time zone"),
    (["write", "A fact.", "--happened-at", "2999-01-01"], "lies in the future"),
    (["write", "A fact.", "--expires-at", "2025-02-30"], "is not a date"),
    (["write", "A fact.", "--valid-from", "2025-03-01", "--expires-at", "2025-02-01"], "not after valid_from"),
    (["write", "A fact.", "--confidence", "1.5"], "from 0 to 1"),
    (["write", "A fact.", "--confidence", "high"], "not a valid float"),
    (["write", "A fact.", "--structured", "{"], "is not JSON"),
    (["write", "A fact.", "--structured", "[]"], "must be an object"),
    (["write", "A fact.", "--source", "rumour"], "Unknown source"),
    (["write", "A fact.\x07"], "control character"),
    (["write", "word " * 60_000], "at most 262144"),
    (["write", "A fact.", "--raw", "word " * 4000], "at most 16384"),
    (["search"], "There is nothing to search for"),
    (["search", " "], "query is empty"),
    (["search", "tea", "-k", "-1"], "from 1 to 50"),
    (["search", "tea", "-k", "0"], "from 1 to 50"),
    (["search", "tea", "-k", "51"], "from 1 to 50"),
    (["search", "tea", "-k", "many"], "not a valid integer"),
    (["search", "tea", "--budget", "0"], "budget_tokens"),
    (["search", "tea", "--kind", "poem"], "Unknown kind"),
    (["search", "tea", "--scope", "project:"], "is not a scope"),
    (["search", "tea", "--as-of", "2025-03-01 09:00"], "no time zone"),
    (["search", "tea", "--purpose", "fun"], "Unknown purpose"),
    (["search", "word " * 4000], "at most 16384"),
    (["list", "--limit", "0"], "limit must be"),
    (["list", "--limit", "1001"], "limit must be"),
    (["list", "--offset", "-1"], "offset must not be negative"),
    (["search", "tea", "--since", "2026-05-01", "--until", "2026-01-01"], "until is not after since"),
    (["list", "--since", "2026-05-01", "--until", "2026-05-01"], "until is not after since"),
    (["list", "--nonsense"], "No such option"),
    (["list", "more", "words"], "unexpected extra arguments"),
    (["show"], "Missing argument"),
    (["show", "abc"], "too short"),
    (["update", "0123456789ab"], "Nothing to change"),
    (["update", "0123456789ab", "--reason", "why not"], "Nothing to change"),
    (["update", "0123456789ab", "--confirm", "--refute"], "Several verdicts"),
    (["update", "0123456789ab", "--content", "x", "--refute"], "do not go together"),
    (["summarize", "--budget", "5"], "budget_tokens"),
    (["summarize", "--language", "fr"], "is not one of"),
    (["import", "nowhere.jsonl"], "Cannot read nowhere.jsonl"),
    (["export", "nowhere/memories.jsonl"], "Cannot use nowhere/memories.jsonl"),
    (["serve", "--port", "eighty"], "not a valid integer"),
    (["--space", " ", "list"], "--space is empty"),
    (["list", "--data-dir", ""], "--data-dir is empty"),
    (["nonsense"], "No such command"),
    (["health", "--report", "weekly.md", "--days", "0"], "from 1 to 366"),
    (["task", "show", "--window", "0"], "window must be"),
    (["task", "list", "--limit", "0"], "limit must be"),
    (["review", "--sample", "0"], "from 1 to 200"),
    (["learn", "--limit", "0"], "at least 1"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(arguments)[:60] for arguments, _ in BAD])
def test_bad_input_is_named_and_answered(terminal: Terminal, arguments: list[str], said: str) -> None:
    result = terminal.run(*arguments, exit_code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert said in result.stderr
    assert "\n  Do: " in result.stderr
    if "--json" not in arguments and arguments != ["nonsense"]:
        error = terminal.json(*arguments, exit_code=2)["error"]
        assert error["code"] == "invalid_input"
        assert said in error["message"]
        assert error["next_step"]


@pytest.mark.parametrize("command", [["show"], ["history"], ["forget"], ["update", "--confirm"]])
def test_unknown_and_foreign_ids_are_not_found(terminal: Terminal, command: list[str]) -> None:
    foreign = terminal.write("A secret of another tenant.", "--kind", "fact", "--space", "other")
    for id in ("0123456789ab", foreign):
        result = terminal.run(*command, id, exit_code=4)
        assert "There is no memory" in result.stderr
        assert terminal.json(*command, id, exit_code=4)["error"]["code"] == "not_found"


def test_spaces_are_walls(terminal: Terminal) -> None:
    terminal.write("A secret of another tenant.", "--kind", "fact", "--space", "other")
    assert terminal.json("list", "--all")["total"] == 0
    assert terminal.json("search", "secret tenant")["hits"] == []
    assert terminal.json("--space", "other", "list")["total"] == 1


def test_state_that_forbids_the_change_is_a_conflict(terminal: Terminal) -> None:
    id = terminal.write("The user drinks green tea.")
    terminal.run("forget", id)
    assert terminal.json("update", id, "--content", "The user drinks tea.", exit_code=5)["error"]["code"] == "conflict"
    assert "Do: " in terminal.run("update", id, "--confirm", exit_code=5).stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("EMBEDDER", "magic"), ("TOP_K", "many"), ("TOP_K", "99"), ("LOG_LEVEL", "LOUD"), ("STORE", "oracle://x")],
)
def test_wrong_setting_is_a_configuration_error(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"AFTERWIT_{name}", value)
    runner = CliRunner(env={"AFTERWIT_DATA_DIR": str(terminal.data_dir)})
    result = runner.invoke(cli, ["list", "--json"])
    assert result.exit_code == 9
    assert json.loads(result.stdout)["error"]["code"] == "config_error"


def test_errors_come_in_chinese_where_the_terminal_is(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner(env={"LC_ALL": "zh_CN.UTF-8", "AFTERWIT_DATA_DIR": str(terminal.data_dir)}).invoke(
        cli, ["show", "abc"]
    )
    assert result.exit_code == 2
    assert result.stderr.startswith("错误：")
    assert "处理办法：" in result.stderr
