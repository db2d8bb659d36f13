"""The suite of recorded agent runs: its rubric, its readers, and how a run is judged."""

import json
import re
from pathlib import Path
from typing import Any

from evals.product import Lookback
from evals.running import Run
from evals.suites import trajectories


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def test_the_rubric_can_be_read_and_its_patterns_compile() -> None:
    rubric = trajectories.read_rubric()
    wanted = [trajectories.criteria(rubric, "swe_agent", name) for name in rubric["swe_agent"]]
    wanted.append(trajectories.criteria(rubric, "tau_airline", "0-0"))
    assert sum(len(one["must"]) for one in wanted) >= 5
    for one in wanted:
        patterns = (*one["must_not"], *one["never"], *(each for fact in one["must"] for each in fact["all"]))
        assert all(re.compile(pattern) for pattern in patterns)


def test_runs_of_all_shapes_are_read(tmp_path: Path) -> None:
    typed = {
        "history": [{"role": "user", "content": "ISSUE:\nThe total is wrong.\nINSTRUCTIONS:\nGo."}],
        "trajectory": [
            {"action": "make test", "observation": "No module named 'yaml'\nexit code: 1", "thought": "Run the tests."},
            {"action": "pip install pyyaml", "observation": "Successfully installed", "thought": ""},
            {"action": "make test", "observation": "3 passed", "thought": ""},
        ],
    }
    _write(tmp_path / "swe_agent" / "one.traj", typed)
    call = {"function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    called = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "a.txt"},
    ]
    _write(tmp_path / "swe_agent" / "two.traj", {"history": called})
    calls = [["think", '{"thought": "x"}'], ["book", "{}"]]
    run = {"task_id": 1, "trial": 0, "instruction": "Book", "tool_calls": calls}
    _write(tmp_path / "tau_airline" / "experience.jsonl", run)
    figures = {row.group: row for row in trajectories.evaluate(Run(tmp_path)).rows}
    assert figures["all"].n == 3
    assert figures["swe_agent"].figures["lessons"].value == 0.5
    assert figures["tau_airline"].figures["findings"].value == 0


def test_missing_facts_and_forbidden_words_are_told() -> None:
    found = Lookback(("use pnpm, order 4711",), ("goal",), 1, "")
    wanted = {"must": [{"id": "uses uv", "all": ["uv"]}], "must_not": ["4711"], "never": ["goal"], "most_findings": 0}
    values, amiss = trajectories.judge(found, 30, wanted)
    assert (values["found"], values["forbidden"], values["too many"]) == (0.0, 2.0, 1.0)
    assert amiss == ["missing: uses uv", "forbidden: 4711", "forbidden: goal"]
