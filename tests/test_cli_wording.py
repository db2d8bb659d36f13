"""What the command line says of errors: in its own verbs, in the language of the terminal, never without advice."""

import ast
import json
import re
from pathlib import Path
from string import Formatter

import pytest
from click.testing import CliRunner
from tests.test_cli import BAD, Terminal

import afterwit
from afterwit.cli.wording import SAID
from afterwit.errors import InvalidInput, Sentence

SOURCE = Path(afterwit.__file__).parent
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.fixture
def chinese(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr(terminal, "_runner", CliRunner(env={**terminal_environ(terminal), "LC_ALL": "zh_CN.UTF-8"}))
    return terminal


def terminal_environ(terminal: Terminal) -> dict[str, str]:
    return {"HOME": str(terminal.home), "AFTERWIT_DATA_DIR": str(terminal.data_dir), "AFTERWIT_EMBEDDER": "hash"}


# --- the table ------------------------------------------------------------------------------------


def test_every_row_is_a_sentence_of_the_library() -> None:
    texts = {
        node.value
        for file in SOURCE.rglob("*.py")
        if file.name != "wording.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(SAID) - texts == set()


@pytest.mark.parametrize("template", SAID)
def test_a_row_says_the_same_values_in_both_languages(template: str) -> None:
    def filled(text: str) -> list[tuple[str, str | None, str | None]]:
        return sorted((name, kind, form) for _, name, form, kind in Formatter().parse(text) if name)

    chinese, english = SAID[template]
    assert CHINESE.search(chinese)
    if "{" in template and '{"' not in template:
        assert filled(chinese) == filled(template)
        assert not english or filled(english) == filled(template)


def test_a_sentence_remembers_what_it_was_made_of() -> None:
    inner = Sentence("Did you mean {name}? ", name="a{b}")
    outer = Sentence("{nearest}The kinds are {names}.", nearest=inner, names="x")
    assert outer == "Did you mean a{b}? The kinds are x."
    assert outer.values["nearest"] is inner
    assert Sentence('For example {"value": 1}.') == 'For example {"value": 1}.'
    assert str(InvalidInput(outer, next_step="Stop.")) == "Did you mean a{b}? The kinds are x. Stop."


#: Say what is wrong with one line of a file; whoever reads the file says what to do.
WRAPPED = {"service/portability.py", "codec.py"}


def test_no_error_that_a_caller_can_meet_comes_without_advice() -> None:
    silent: list[str] = []
    for file in SOURCE.rglob("*.py"):
        name = file.relative_to(SOURCE).as_posix()
        if name in WRAPPED or name.startswith(("storage/", "testing/")):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                is_error = node.func.id in {"InvalidInput", "NotFound", "Conflict", "Forbidden", "ConfigError"}
                if is_error and not any(word.arg == "next_step" for word in node.keywords):
                    silent.append(f"{name}:{node.lineno}")
    assert silent == []


# --- in Chinese -----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [arguments for arguments, _ in BAD], ids=lambda words: " ".join(words)[:60])
def test_what_a_person_can_get_wrong_is_told_in_chinese(chinese: Terminal, arguments: list[str]) -> None:
    told, advice = chinese.run(*arguments, exit_code=2).stderr.strip().split("\n", 1)
    assert told.startswith("错误：")
    assert CHINESE.search(told.removeprefix("错误：")), told
    assert advice.startswith("  处理办法：")
    assert CHINESE.search(advice.removeprefix("  处理办法：")), advice


@pytest.mark.parametrize(
    ("arguments", "exit_code", "told", "advice"),
    [
        (["search", "茶", "-k", "100"], 2, "top_k 必须是 1 到 50 的整数，不能是 100。", "或不给 top_k"),
        (["show", "0123456789ab"], 4, "这里没有记忆 '0123456789ab'。", "`afterwit list --all`"),
        (["entity", "split", "张珊"], 4, "'张珊' 不是任何已知事物的别名。", "`afterwit entity list`"),
        (["entity", "show", "张珊"], 4, "这里没有关于 '张珊' 的记忆。", "`afterwit entity list`"),
        (["write", "x", "--kind", "prefrence"], 2, "没有这种类型：'prefrence'。", "是否指 preference？类型有："),
        (["list", "--lmit", "3"], 2, "没有选项 '--lmit'。是否指 '--limit'？", "`afterwit list --help`"),
        (["import", "nowhere.jsonl"], 2, "无法读取 nowhere.jsonl：没有这个文件或目录。", "请检查路径"),
        (["task", "show", "0123456789ab"], 4, "这里没有任务 '0123456789ab'。", "`afterwit task list`"),
        (["serve", "--port", "99999"], 9, "设置 port 为 99999；必须在 0 到 65535 之间。", "AFTERWIT_PORT"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_chinese_errors_name_the_values_and_the_commands(
    chinese: Terminal, arguments: list[str], exit_code: int, told: str, advice: str
) -> None:
    result = chinese.run(*arguments, exit_code=exit_code)
    assert told in result.stderr
    assert advice in result.stderr


def test_json_stays_english_wherever_the_terminal_is(chinese: Terminal) -> None:
    error = chinese.json("search", "茶", "-k", "100", exit_code=2)["error"]
    assert error["message"] == "top_k must be a whole number from 1 to 50, not 100."
    assert not CHINESE.search(error["next_step"])


def test_a_malformed_line_is_told_in_chinese(chinese: Terminal) -> None:
    result = chinese.run("write", "--stdin", stdin="用户喜欢绿茶。\nbell \x07\n", exit_code=2)
    assert "第 2 行：content 的第 5 个字符是控制字符 U+0007。请去掉" in result.stdout


# --- in the verbs of the command ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("explain", "`afterwit show ID`"),
        ("alias", "`afterwit entity alias`"),
        ("merge", "`afterwit entity merge`"),
        ("split_entity", "`afterwit entity split`"),
        ("start_task", "`afterwit task start`"),
        ("task_finish", "`afterwit task finish`"),
        ("memory_update", "`afterwit update`"),
        ("memory_explain", "`afterwit show ID`"),
        ("import_knowledge", "`afterwit import-docs`"),
        ("eval", "`make eval` or `python -m evals`"),
    ],
)
def test_a_verb_that_is_called_otherwise_here_is_named(terminal: Terminal, word: str, instead: str) -> None:
    error = terminal.run(word, "something", exit_code=2).stderr
    assert f"No such command '{word}'." in error
    assert instead in error
    assert "mean" not in error


def test_a_slip_of_the_pen_is_answered_with_the_nearest_command(terminal: Terminal) -> None:
    assert "'search'" in terminal.run("serch", "tea", exit_code=2).stderr
    assert "'finish'" in terminal.run("task", "finsh", exit_code=2).stderr


def test_errors_of_the_library_name_the_commands(terminal: Terminal) -> None:
    assert "`afterwit entity list`" in terminal.run("entity", "split", "ann", exit_code=4).stderr
    assert "`afterwit task start`" in terminal.run("task", "show", exit_code=2).stderr
    id = terminal.write("The user drinks green tea.")
    terminal.run("forget", id)
    assert "`afterwit update ID --restore`" in terminal.run("update", id, "--confirm", exit_code=5).stderr
    advice = terminal.json("update", id, "--confirm", exit_code=5)["error"]["next_step"]
    assert advice == "Run `afterwit update ID --restore` first."


@pytest.mark.parametrize(
    ("locale", "how"),
    [
        ("C.UTF-8", "Confirm it with `afterwit update {} --confirm`."),
        ("zh_CN.UTF-8", "用 `afterwit update {} --confirm` 确认。"),
    ],
)
def test_what_is_kept_aside_is_confirmed_by_the_command_that_is_named(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, locale: str, how: str
) -> None:
    monkeypatch.setattr(terminal, "_runner", CliRunner(env={**terminal_environ(terminal), "LC_ALL": locale}))
    terminal.write("The user lives in Shanghai.")
    guess = ("The user lives in Beijing.", "--source", "agent")
    told = terminal.run("write", *guess).stdout
    assert told.startswith("quarantined"), told
    assert "memory_update" not in told
    aside = next(row for row in terminal.json("list", "--all")["memories"] if row["status"] == "quarantined")
    assert how.format(aside["id"]) in told
    terminal.run("update", aside["id"], "--confirm")
    lines = terminal.run("write", "--stdin", "--source", "agent", stdin="The user lives in Suzhou.\n").stdout
    assert "--confirm`" in lines


# --- places ---------------------------------------------------------------------------------------


def test_export_to_a_directory_names_a_file_in_it(terminal: Terminal, tmp_path: Path) -> None:
    for options in ([], ["--force"]):
        error = terminal.run("export", str(tmp_path), *options, exit_code=2).stderr
        assert f"{tmp_path} is a directory." in error
        assert str(tmp_path / "memories.jsonl") in error
        assert "--force" not in error


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_file_in_place_of_the_data_directory_is_said_to_be_one(
    terminal: Terminal, tmp_path: Path, below: str
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = terminal.run("--data-dir", str(tmp_path / "file" / below), "list", exit_code=8)
    assert f"{tmp_path / 'file'} is a file, not a directory." in result.stderr
    assert "--data-dir" in result.stderr


def test_sessions_that_cannot_be_read_are_named_with_advice(terminal: Terminal) -> None:
    result = terminal.run("learn", "/nope", exit_code=1)
    assert "Not read: /nope: " in result.stdout
    assert "  Do: Check the path" in result.stdout
    assert (
        "Check the path" in json.loads(terminal.run("learn", "/nope", "--json", exit_code=1).stdout)["failed"]["/nope"]
    )
