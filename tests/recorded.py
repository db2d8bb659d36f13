"""Trajectories for the tests of the review: files of tests/trajectories, and short ones written in place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from afterwit.records import Step, Task
from afterwit.review import Review, review_steps

DIRECTORY = Path(__file__).parent / "trajectories"
NAMES = sorted(path.stem for path in DIRECTORY.glob("*.json"))
START = datetime(2025, 6, 3, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Recorded:
    """A task with its steps, and what is to be found in it."""

    task: Task
    steps: list[Step]
    expect: Mapping[str, Any]


def read(name: str) -> Recorded:
    """One file of tests/trajectories."""
    data = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return Recorded(task(data["goal"], data["environment"]), steps(*map(_row, data["steps"])), data["expect"])


def _row(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return one["action"], one["input"], one.get("output", ""), one.get("ok"), one.get("rationale", "")


def task(goal: str = "Do the work", environment: Mapping[str, Any] | None = None, **fields: Any) -> Task:
    """A task that runs."""
    return Task("task-1", "default", goal, START, environment=environment or {}, **fields)


def steps(*rows: tuple[Any, ...]) -> list[Step]:
    """Steps of (action, input, output, ok, rationale); what is left out at the end is empty."""
    made: list[Step] = []
    for position, row in enumerate(rows):
        action, given, output, ok, why = (*row, *("", "", "", None, "")[len(row) :])
        at = START + timedelta(minutes=position)
        made.append(Step(f"step-{position}", "default", "task-1", position, action, at, given, output, why, ok))
    return made


def review(*rows: tuple[Any, ...], goal: str = "Do the work", **environment: Any) -> Review:
    """Look back at a task of these steps."""
    return review_steps(task(goal, environment), steps(*rows))


def everything(found: Review) -> str:
    """All that a review would store."""
    kept = [[one.summary, dict(one.structured), one.tags, one.key, dict(one.applies)] for one in found.findings]
    return json.dumps(kept, ensure_ascii=False) + " ".join(point.text for point in found.episode.points)
