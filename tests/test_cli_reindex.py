"""The commands `reindex` and `doctor` where the embedding model has changed, in process."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from afterwit.cli import cli
from afterwit.cli.root import INTERRUPTED
from afterwit.service.reembedding import Reembedding


class Terminal:
    """Runs commands on a data directory of its own."""

    def __init__(self, home: Path) -> None:
        self.data_dir = home / "data"
        place = {"HOME": str(home), "AFTERWIT_DATA_DIR": str(self.data_dir), "AFTERWIT_EMBEDDER": "hash"}
        self._runner = CliRunner(env=place | {"LC_ALL": "C.UTF-8"})

    def run(self, *arguments: str, stdin: str = "", exit_code: int = 0, **environ: str) -> Result:
        result = self._runner.invoke(cli, arguments, input=stdin, env=environ)
        assert result.exit_code == exit_code, (result.stdout, result.stderr)
        return result

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture
def filled(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    for text in ("The user lives in Hangzhou.", "Deploys go out on Mondays.", "用户对花生过敏。"):
        terminal.run("write", text, "--kind", "fact")
    return terminal


def test_reindex_mends_words_and_vectors(filled: Terminal) -> None:
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("DELETE FROM vector")
    connection.close()
    assert any("reindex" in check.get("next_step", "") for check in filled.json("doctor")["checks"])
    answer = filled.json("reindex")
    assert (answer["words"], answer["embedded"]) == (0, 3)
    assert len(answer["models"]) == 1
    assert filled.run("reindex").stdout.startswith("0 memories embedded")
    assert filled.run("reindex", "--words").stdout.startswith("Words of 3 memories indexed anew. 0 memories embedded")


def test_vectors_of_other_models_are_dropped_on_demand(filled: Terminal) -> None:
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("UPDATE model SET name = 'old'")
    connection.close()
    answer = filled.json("reindex")
    assert answer["models"]["old"] == 3
    answer = filled.json("reindex", "--drop-old")
    assert answer["dropped"] == 3
    assert "old" not in answer["models"]


def test_old_vectors_are_kept_while_they_are_needed(filled: Terminal) -> None:
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("UPDATE model SET name = 'old'")
    connection.close()
    done = filled.run("reindex", "--drop-old", AFTERWIT_EMBEDDER="none")
    assert "Old vectors are kept" in done.stderr
    assert filled.json("reindex")["models"]["old"] == 3


def test_doctor_and_health_count_all_that_lack_a_vector(filled: Terminal) -> None:
    filled.run("write", "--stdin", "--kind", "fact", stdin="".join(f"Room {n} has {n} chairs.\n" for n in range(1100)))
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("DELETE FROM vector")
        written = connection.execute("SELECT count(*) FROM memory").fetchone()[0]
    connection.close()
    assert written > 1000
    assert f"{written} of {written} memories have none" in filled.run("doctor").stdout
    assert f"{written} memories have no vector" in filled.run("health").stdout


@pytest.mark.parametrize(("locale", "line"), [("C.UTF-8", "embed: {} of {}"), ("zh_CN.UTF-8", "embed：{}/{}")])
def test_progress_is_told_in_lines_where_no_bar_can_be_drawn(
    filled: Terminal, monkeypatch: pytest.MonkeyPatch, locale: str, line: str
) -> None:
    monkeypatch.setattr("afterwit.cli.session.LINE_EVERY_S", 0.0)
    monkeypatch.setattr("afterwit.service.reembedding._FIRST_BATCH", 1)
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("DELETE FROM vector")
    connection.close()
    done = filled.run("reindex", LC_ALL=locale)
    assert done.stderr.splitlines() == [line.format(1, 3)]
    assert filled.run("reindex", "--json").stderr == ""


def test_progress_is_not_told_of_what_is_over_soon(filled: Terminal) -> None:
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("DELETE FROM vector")
    connection.close()
    assert filled.run("reindex").stderr == ""


def test_interrupted_reindex_says_what_is_done_and_the_next_one_goes_on(
    filled: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("DELETE FROM vector")
    connection.close()
    whole = Reembedding.run

    def interrupted(self: Reembedding) -> Iterator[int]:
        yield next(whole(self))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("afterwit.service.reembedding._FIRST_BATCH", 1)
        patched.setattr(Reembedding, "run", interrupted)
        stopped = filled.run("reindex", exit_code=INTERRUPTED)
    told = "1 of 3 memories were embedded and stay so; `afterwit reindex` goes on from there."
    assert list(filter(None, stopped.stderr.splitlines())) == [told, "Interrupted."]
    assert filled.json("reindex")["embedded"] == 2


def test_doctor_says_which_models_hold_how_many_vectors(filled: Terminal) -> None:
    def vectors() -> list[tuple[str, str, str]]:
        checks = filled.json("doctor")["checks"]
        return [(c["level"], c["message"], c.get("next_step", "")) for c in checks if c["name"] == "vectors"]

    assert vectors() == [("ok", "all 3 memories have one of hash/256/p1", "")]
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("UPDATE model SET name = 'lost/1'")
    connection.close()
    (missing, lost) = vectors()
    assert missing[1] == "3 of 3 memories have none of hash/256/p1"
    assert "afterwit reindex" in missing[2]
    assert lost[:2] == ("warn", "3 of another model, which cannot be opened any more: lost/1")
    with sqlite3.connect(filled.data_dir / "memory.db") as connection:
        connection.execute("UPDATE model SET name = 'hash/128/p1'")
    connection.close()
    assert vectors()[1] == ("ok", "3 of another model, which still answers: hash/128/p1", "")
    filled.run("reindex")
    (done, old) = vectors()
    assert done[0] == "ok"
    assert "not needed any more: hash/128/p1" in old[1]
    assert "--drop-old" in old[2]
