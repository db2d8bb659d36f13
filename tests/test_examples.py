"""The programs in examples/ run as they are, each as a process of its own, with a model by script: what one run finds
out, the next one is told."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from examples.demo import SHOP
from tests.agents.mock_llm import Call, MockLLM, Say, serving
from tests.installed import need

from afterwit import Afterwit, Standing

need("agents", "langgraph", "openai", "pydantic_ai")

ROOT = Path(__file__).resolve().parent.parent
PLAIN, RIGHT = "python shop.py report --year 2025", "python shop.py report --year 2025 --rates ecb"


@dataclass(frozen=True)
class Place:
    """Where an example runs, with whom it talks, and where its memory is."""

    checkout: Path
    data_dir: Path
    model: MockLLM

    def run(self, name: str, *words: str) -> str:
        """What an example prints; it must end well and stay silent on standard error."""
        variables = {
            "AFTERWIT_DATA_DIR": str(self.data_dir),
            "AFTERWIT_EMBEDDER": "hash",
            "NO_PROXY": "127.0.0.1",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{self.model.url}/v1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "LANGSMITH_TRACING": "false",
            # The interpreter that is under test is what a model calls python.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / name), *words],
            cwd=self.checkout,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    def told(self, request: int) -> str:
        """What the model was sent with a request, as text."""
        return str(self.model.asked[request].body)

    def memory(self) -> Afterwit:
        return Afterwit.open(data_dir=str(self.data_dir), embedder="none")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "shop.py").write_text(SHOP, encoding="utf-8")
    with serving(tmp_path / "requests.jsonl") as model:
        yield Place(checkout, tmp_path / "data", model)


def works_it_out(place: Place, name: str, *more: Call) -> None:
    """A run that fails, finds the way and is done; then one that is told, needs one command, and does some more."""
    place.model.begin(Call("bash", {"command": PLAIN}), Call("bash", {"command": RIGHT}), Say("It is 4812 EUR."))
    assert "It is 4812 EUR." in place.run(name, "Print the report of 2025 with shop.py")
    assert "--rates ecb" not in place.told(0)
    assert "no EUR rate for 2025" in place.told(1)
    with place.memory() as memory:
        (task,) = memory.tasks()
        assert (task.goal, task.status.value) == ("Print the report of 2025 with shop.py", "succeeded")
        steps = memory.store.steps(memory.space, task.id)
        assert [(step.action, step.ok) for step in steps] == [("bash", False), ("bash", True)]
        (lesson,) = memory.list(kinds=["lesson"])
        assert "--rates ecb" in lesson.summary

    command = "python shop.py report --year 2024 --rates ecb"
    place.model.begin(Call("bash", {"command": command}), *more, Say("It is 4812 EUR again."))
    place.run(name, "The auditors need the 2024 report out of shop.py")
    assert "--rates ecb" in place.told(0)
    with place.memory() as memory:
        assert memory.get(lesson.id).standing is Standing.CONFIRMED  # another session followed it and succeeded
        assert len(memory.store.steps(memory.space, memory.tasks()[0].id)) == 1  # using the memory is no step


def test_a_plain_loop_learns_from_one_run_to_the_next(place: Place) -> None:
    works_it_out(place, "plain_loop.py")


@pytest.mark.parametrize("name", ["openai_agents.py", "with_pydantic_ai.py"])
def test_an_agent_of_a_framework_learns_and_has_its_memory_at_hand(place: Place, name: str) -> None:
    works_it_out(
        place,
        name,
        Call("memory_write", {"statement": "The auditors want reports in EUR."}),
        Call("memory_search", {"question": "In which currency do the auditors want reports?"}),
    )
    assert place.told(3).count("The auditors want reports in EUR.") == 2  # as it was written, and as it was found


def test_a_graph_keeps_what_each_user_says(place: Place) -> None:
    place.model.begin(Call("remember", {"memory": "Ann eats no chili."}), Say("Noodles with sesame."))
    assert "sesame" in place.run("langgraph_store.py", "ann", "I eat no chili. What shall I cook?")
    place.model.begin(Say("Noodles with ginger."))
    place.run("langgraph_store.py", "ann", "A dish of noodles, with chili or without?")
    assert "Ann eats no chili." in place.told(0)
    place.model.begin(Say("Noodles with chili."))
    place.run("langgraph_store.py", "bo", "A dish of noodles, with chili or without?")
    assert "Ann" not in place.told(0)


def test_what_the_page_shows_is_what_runs() -> None:
    page = (ROOT / "docs" / "how-to" / "use-with-frameworks.md").read_text(encoding="utf-8")
    shown = re.findall(r"<!-- from (\S+) -->\n```python\n(.*?)```", page, re.S)
    assert {name for name, _ in shown} == {
        f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py") if path.name != "demo.py"
    }
    for name, code in shown:
        program = (ROOT / name).read_text(encoding="utf-8")
        depths = [textwrap.indent(code, " " * depth) for depth in (0, 4, 8, 12)]
        assert any(f"\n{block}" in program for block in depths), f"{name} does not hold:\n{code}"
