"""The commands about names, in process."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from afterwit.cli import cli


class Terminal:
    """Runs commands on a data directory of its own."""

    def __init__(self, home: Path, locale: str = "C.UTF-8") -> None:
        place = {"HOME": str(home), "AFTERWIT_DATA_DIR": str(home / "data"), "AFTERWIT_EMBEDDER": "none"}
        self._runner = CliRunner(env=place | {"LC_ALL": locale})

    def run(self, *arguments: str, exit_code: int = 0) -> Result:
        result = self._runner.invoke(cli, arguments)
        assert result.exit_code == exit_code, (result.stdout, result.stderr)
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", exit_code=exit_code).stdout)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_an_alias_is_given_listed_shown_and_taken_back(terminal: Terminal) -> None:
    terminal.run("write", "Robert Smith lives in Lyon.")
    assert terminal.run("entity", "alias", "Bob", "Robert Smith").stdout == "“bob” stands for “robert smith” now.\n"
    assert terminal.run("entity", "list").stdout == "robert smith = bob\n"
    shown = terminal.run("entity", "show", "Bob").stdout
    assert shown.startswith("robert smith = bob\nbob stands for robert smith: given\n")
    assert "Robert Smith lives in Lyon." in shown
    assert "Robert Smith lives in Lyon." in terminal.run("search", "Where does Bob live?").stdout
    assert terminal.run("list", "--subject", "bob").stdout.count("[m:") == 1
    assert "no longer" in terminal.run("entity", "split", "bob", "--reason", "two people").stdout
    assert terminal.run("entity", "list").stdout == "robert smith\n"


def test_json_answers_have_every_part(terminal: Terminal) -> None:
    terminal.run("write", "Project Atlas is owned by Priya.")
    terminal.run("write", "Priya likes green tea.")
    made = terminal.json("entity", "merge", "phoenix", "atlas")["alias"]
    assert (made["alias"], made["name"], made["source"]) == ("phoenix", "atlas", "given")
    assert {"name": "atlas", "names": ["atlas", "phoenix"]} in terminal.json("entity", "list")["entities"]
    entity = terminal.json("entity", "show", "phoenix")
    assert [entity["name"], entity["names"], entity["related"]] == ["atlas", ["atlas", "phoenix"], ["priya"]]
    assert [row["summary"] for row in entity["memories"]] == ["Project Atlas is owned by Priya."]
    assert terminal.json("entity", "split", "phoenix")["dropped"]["name"] == "atlas"


def test_a_learned_name_says_where_it_comes_from(terminal: Terminal) -> None:
    id = terminal.json("write", "We deploy on Kubernetes (k8s).", "--kind", "fact")["id"]
    assert f"k8s stands for kubernetes: learned from [m:{id[-8:]}]" in terminal.run("entity", "show", "k8s").stdout
    assert terminal.json("show", id)["entities"] == ["kubernetes", "user"]
    assert "About: kubernetes, user" in terminal.run("show", id).stdout


def test_errors_say_what_to_do(terminal: Terminal) -> None:
    terminal.run("entity", "alias", "bob", "robert smith")
    assert "Split 'bob' first" in terminal.run("entity", "alias", "bob", "bob jones", exit_code=5).stderr
    assert "no other name" in terminal.run("entity", "split", "ann", exit_code=4).stderr
    assert "Nothing is known" in terminal.run("entity", "show", "ann", exit_code=4).stderr
    assert terminal.json("entity", "alias", "x", "x", exit_code=2)["error"]["code"] == "invalid_input"


def test_people_are_answered_in_chinese_where_the_terminal_is(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "zh_CN.UTF-8")
    assert terminal.run("entity", "list").stdout == "还没有已知的人、项目或事物。\n"
    assert terminal.run("entity", "alias", "小张", "张三").stdout == "“小张”现在代表“张三”。\n"
    assert "小张 代表 张三：手动添加" in terminal.run("entity", "show", "小张").stdout
    assert terminal.run("entity", "split", "小张").stdout == "“小张”不再代表“张三”。\n"
