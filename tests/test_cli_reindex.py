"""The commands `reindex` and `doctor` where the embedding model has changed, in process."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from afterwit.cli import cli


class Terminal:
    """Runs commands on a data directory of its own."""

    def __init__(self, home: Path) -> None:
        self.data_dir = home / "data"
        place = {"HOME": str(home), "AFTERWIT_DATA_DIR": str(self.data_dir), "AFTERWIT_EMBEDDER": "hash"}
        self._runner = CliRunner(env=place | {"LC_ALL": "C.UTF-8"})

    def run(self, *arguments: str, **environ: str) -> Result:
        result = self._runner.invoke(cli, arguments, env=environ)
        assert result.exit_code == 0, (result.stdout, result.stderr)
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
