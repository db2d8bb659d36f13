"""What the command line says about itself: help with examples, and reference pages that agree with it."""

import importlib.util
import sys
from pathlib import Path
from string import Formatter
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from afterwit.cli import cli
from afterwit.cli.words import SENTENCES, language, tell
from afterwit.errors import ANSWERS

ROOT = Path(__file__).resolve().parent.parent
NAMES = [
    "init",
    "connect",
    "disconnect",
    "connections",
    "write",
    "search",
    "show",
    "list",
    "history",
    "update",
    "forget",
    "summarize",
    "task",
    "review",
    "rollback",
    "entity",
    "export",
    "import",
    "import-docs",
    "learn",
    "serve",
    "mcp",
    "daemon",
    "hook",
    "intents",
    "health",
    "clean",
    "doctor",
    "reindex",
]


#: Commands of groups, too, by the words that are typed.
PATHS = [
    *([name] for name in NAMES),
    *(
        [name, part]
        for name, group in cli.commands.items()
        if isinstance(group, click.Group)
        for part in group.commands
    ),
]


def command_at(path: list[str]) -> click.Command:
    command: click.Command = cli
    for word in path:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = ROOT / "docs" / "generate_reference.py"
    spec = importlib.util.spec_from_file_location("generate_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cli.md", "settings.md", "errors.md"])
def test_reference_page_is_what_the_code_says(generator: ModuleType, name: str) -> None:
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == generator.PAGES[name](), "Run `python docs/generate_reference.py`."


def test_all_commands_are_there_in_the_order_in_which_one_meets_them() -> None:
    assert list(cli.commands) == NAMES


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_explains_in_both_languages_with_an_example(path: list[str]) -> None:
    result = CliRunner().invoke(cli, [*path, "--help"])
    name = " ".join(path)
    assert result.exit_code == 0
    assert "Examples:" in result.output
    assert f"afterwit {name}" in result.output or f" {name}" in result.output.partition("Examples:")[2]
    assert any("\u4e00" <= character <= "\u9fff" for character in result.output)
    assert "--json" in result.output


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_option_says_what_it_is_for(path: list[str]) -> None:
    command = command_at(path)
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    assert all(option.help for option in options)
    assert command.short_help


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_command_takes_the_place_options_after_its_name(path: list[str]) -> None:
    params = command_at(path).params
    hidden = {option.name for option in params if isinstance(option, click.Option) and option.hidden}
    assert hidden == {"data_dir", "space"}


def test_help_lists_every_exit_status() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["--help"]).output.split())
    for answer in ANSWERS.values():
        assert f" {answer.exit} " in shown


def test_no_arguments_show_the_help() -> None:
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: afterwit")


def test_version_is_shown() -> None:
    assert CliRunner().invoke(cli, ["--version"]).output.startswith("afterwit, version 0.")


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LC_ALL": "", "LANG": "zh"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
    ],
)
def test_language_follows_the_locale(environ: dict[str, str], wanted: str) -> None:
    assert language(environ) == wanted


@pytest.mark.parametrize("key", SENTENCES)
def test_sentences_take_the_same_values_in_both_languages(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {name: "§" for _, name, _, _ in Formatter().parse(SENTENCES[key][0]) if name}
    told = []
    for locale in ("en", "zh"):
        monkeypatch.setenv("LC_ALL", locale)
        told.append(tell(key, **values))
    assert told[0] != told[1]
    assert told[0].count("§") == told[1].count("§")
