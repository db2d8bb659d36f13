"""The simulation of learning: the world does what its tools would, the agent knows nothing, the figures are made."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from evals.__main__ import main
from evals.product import Product
from evals.simulation.agent import Assignment, Habits, NoMemory, Told, Trace, advised, perform
from evals.simulation.course import AFTER_CHANGE, Course
from evals.simulation.jobs import BILLING, DATABASE, FLAKY, ORDERS, PACKAGES, REGION, TRAPS, Family, job
from evals.simulation.product import Diary
from evals.simulation.suite import ARMS
from evals.simulation.world import VERSIONS, World, dice


def _world(*, is_chinese: bool = False, after_change: bool = False) -> World:
    return World(dice(1), AFTER_CHANGE if after_change else VERSIONS, is_chinese)


def _working_ways(family: Family, part: str, language: str, *, after_change: bool = False) -> list[int]:
    drawn = job(family, part, language, dice(7))
    worked: list[int] = []
    for place, way in enumerate(drawn.ways):
        world = _world(is_chinese=language == "zh", after_change=after_change)
        if all([world.run(command).ok for command in way]):
            worked.append(place)
    return worked


# --- the world -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["learn", "held"])
@pytest.mark.parametrize("family", [*TRAPS, REGION], ids=lambda family: family.name)
def test_every_trap_catches_the_plain_way_and_has_one_way_out(family: Family, part: str, language: str) -> None:
    worked = _working_ways(family, part, language)
    assert len(worked) == 1
    assert worked[0] > 0


def test_a_new_version_of_the_service_takes_tokens_and_no_keys() -> None:
    before, after = (_working_ways(ORDERS, "held", "en", after_change=changed) for changed in (False, True))
    assert (before, after) == ([1], [2])
    assert _working_ways(BILLING, "held", "en") == [2]


def test_tools_speak_the_language_of_the_task() -> None:
    plain = job(DATABASE, "learn", "en", dice(1)).ways[0][0]
    assert "no pg_hba.conf entry" in _world().run(plain).output
    assert "致命错误" in _world(is_chinese=True).run(plain).output


def test_a_command_runs_where_cd_left_it_and_each_line_starts_anew() -> None:
    world = _world()
    assert world.run("cd services/api && make lint").ok
    assert not world.run("make lint").ok
    assert not world.run("cd nowhere && make lint").ok
    assert world.run("frobnicate").output == "bash: frobnicate: command not found"


def test_a_flaky_tool_fails_by_chance_alone() -> None:
    world = _world()
    results = [world.run("kubectl rollout status deployment/cart").ok for _ in range(200)]
    assert 0.25 < sum(results) / len(results) < 0.55


# --- the agent -----------------------------------------------------------------------------------


def test_the_agent_follows_what_is_about_its_job_and_nothing_else() -> None:
    drawn = job(PACKAGES, "held", "en", dice(1))
    assert advised(drawn, "If npm stops with ERESOLVE, add --legacy-peer-deps.") == 1
    assert advised(drawn, "npm 报 ERESOLVE 时，使用--legacy-peer-deps。") == 1
    assert advised(drawn, "npm: use --legacy-peer-deps, not --ignore-scripts") == 1
    assert advised(drawn, "yarn needs --legacy-peer-deps") is None
    assert advised(drawn, "npm is slow on this machine") is None


class _Knows(NoMemory):
    """A memory that says one thing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ended: tuple[str, list[str]] = ("", [])

    def start(self, goal: str, environment: Any) -> list[Told]:
        return [Told("m1", self.text)]

    def finish(self, outcome: str, used: Any) -> None:
        self.ended = (outcome, list(used))


def _task(family: Family, seed: int) -> Assignment:
    drawn = job(family, "held", "en", dice(seed))
    return Assignment(drawn.goal, (drawn,), str(seed), VERSIONS)


def test_the_agent_cites_what_it_followed_where_it_cites() -> None:
    for cites in (True, False):
        memory = _Knows("psql on db.acme.dev needs sslmode=require")
        trace = perform(_task(DATABASE, 1), memory, Habits(cites=cites))
        assert [(attempt.way, attempt.ok, attempt.advised_by) for attempt in trace.attempts] == [(1, True, "m1")]
        assert memory.ended == ("success", ["m1"] if cites else [])


def test_without_a_memory_the_plain_way_comes_first_and_patience_ends() -> None:
    traces = [perform(_task(DATABASE, seed), NoMemory()) for seed in range(60)]
    assert all(trace.attempts[0].way == 0 and not trace.attempts[0].ok for trace in traces)
    assert all(len(trace.attempts) <= 4 for trace in traces)
    assert 0.4 < sum(trace.succeeded for trace in traces) / len(traces) < 0.8


def test_a_course_is_the_same_each_time_and_half_chinese() -> None:
    def tasks(seed: int) -> list[Assignment]:
        course = Course(seed)
        parts = (*course.first(), *course.again(), *course.after_change(), *course.with_wrong_lesson())
        return [planned.assignment for planned in parts]

    def traces(seed: int) -> list[Trace]:
        return [perform(task, NoMemory()) for task in tasks(seed)]

    assert (tasks(3), traces(3)) == (tasks(3), traces(3))
    assert tasks(3) != tasks(4)
    assert 0.45 < sum(task.language == "zh" for task in tasks(3)) / len(tasks(3)) < 0.55


def test_tasks_to_come_name_nothing_that_a_trap_was_learned_from() -> None:
    for family in (*TRAPS, REGION, FLAKY):
        assert not set(family.names["learn"]) & set(family.names["held"])
        for language in ("en", "zh"):
            assert not set(family.goals["learn", language]) & set(family.goals["held", language])


# --- the suite -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_simulation_gives_figures_for_every_arm(tmp_path: Path) -> None:
    out = tmp_path / "record.json"
    assert main(["simulation", "--limit", "1", "--first", "3", "--embedder", "hash", "--json", str(out)]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["notes"][0].startswith("seeds 3 to 3;")
    found = {(row["group"], row["arm"]): row["figures"] for row in record["rows"]}
    for arm in ARMS:
        assert 0 <= found["held out", arm]["success"]["value"] <= 1
        assert 1 <= found["held out", arm]["tries"]["value"] <= 8
    assert found["held out", "no memory"]["known failures again"]["value"] > 0
    assert "of these avoided" in found["held out", "memory"]
    assert found["wrong lesson", "memory"]["tasks until gone"]["n"] == 1
    assert found["search results pasted", "memory"]["new rows"]["value"] == 0
    assert found["three tasks in one session", "memory"]["wrong confirmations"]["value"] == 0


def test_an_agent_with_a_memory_does_the_same_twice() -> None:
    def traces() -> list[Any]:
        with Product(embedder="hash") as product:
            shelf = product.shelf("twice")
            diary = Diary(shelf.service, shelf.clock, datetime(2025, 3, 3, tzinfo=UTC))
            diary.plant("psql on db.acme.dev needs sslmode=require, otherwise it is refused.", is_confirmed=True)
            ran = [perform(_task(DATABASE, seed), diary.session()) for seed in range(3)]
            return [
                [(one.way, one.ok, bool(one.advised_by)) for one in trace.attempts] + [trace.tokens] for trace in ran
            ]

    first = traces()
    assert first == traces()
    assert first[-1][-2] == (1, True, True)


@pytest.mark.parametrize("family", [DATABASE, PACKAGES, ORDERS], ids=lambda family: family.name)
def test_what_was_seen_to_fail_is_not_tried_again_though_no_way_was_found(family: Family) -> None:
    fails = [seed for seed in range(40) if not perform(_task(family, seed), NoMemory()).succeeded]
    with Product(embedder="hash") as product:
        shelf = product.shelf("in-vain")
        diary = Diary(shelf.service, shelf.clock, datetime(2025, 3, 3, tzinfo=UTC))
        first, second = (perform(_task(family, seed), diary.session()) for seed in fails[:2])
    assert not first.succeeded
    # Only the plain way is tried again, and the end of an address, which the agent cannot tell from another address.
    known = {attempt.way for attempt in first.attempts} - {0, 4 if family is ORDERS else 0}
    assert known.isdisjoint(attempt.way for attempt in second.attempts)
    assert second.succeeded
