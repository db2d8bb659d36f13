"""What the end of a task proves: who followed what, credit, verdicts, versions, measured lift."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from afterwit.applies import clashes, holds, narrowed
from afterwit.records import Basis, Kind, Memory, Source, Standing, Step, Task, TaskStatus, Trust, Use
from afterwit.review.following import follows
from afterwit.review.proof import RELIED, SHOWN, Credit, credits, is_withheld, lift, verdict
from afterwit.review.signatures import signature
from afterwit.testing.samples import NOW, SPACE, memory

HOUR = timedelta(hours=1)
ACTION = "Run `npm ci` instead of `npm install`."


def lesson(action: str = ACTION, **fields: Any) -> Memory:
    values: dict[str, Any] = {
        "kind": Kind.LESSON,
        "structured": {"situation": "in CI", "action": action, "result": "works"} if action else {},
        "source": Source("review", "origin"),
        "supporters": ("home",),
    }
    return memory(1, "When the lock file is out of date, run npm ci.", **values | fields)


def task(id: str, status: TaskStatus = TaskStatus.SUCCEEDED, *, session: str = "", **tools: str) -> Task:
    environment = {"os": "linux", "tools": tools} if tools else {}
    return Task(
        id,
        SPACE,
        "goal",
        NOW,
        session=session or f"s-{id}",
        status=status,
        ended_at=NOW + HOUR,
        environment=environment,
    )


def step(input: str, *, ok: bool | None = None, action: str = "bash", place: int = 0) -> Step:
    return Step(f"step{place}", SPACE, "t", place, action, NOW + timedelta(minutes=1 + place), input, ok=ok)


def use(task_id: str = "t", credit: float = 0.0, **fields: Any) -> Use:
    return Use(f"use-{task_id}", SPACE, memory(1).id, NOW, task_id, credit=credit, **fields)


def credited(ended: Task, used: Use, known: Memory, steps: Sequence[Step] = ()) -> Credit:
    (one,) = credits(ended, [used], {known.id: known}, steps)
    return one


# --- following ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "given"),
    [
        (ACTION, "npm ci"),
        (ACTION, "cd web && npm ci --silent"),
        (ACTION, '{"command": "npm ci\\nnpm test"}'),
        ("Use npm ci", "CI=1 npm ci"),
        ("Use pnpm instead of npm", "pnpm add left-pad"),
        ("Activate the environment with source .venv/bin/activate before pip install", "source .venv/bin/activate"),
        ("Set NODE_OPTIONS=--openssl-legacy-provider", "NODE_OPTIONS=--openssl-legacy-provider npm run build"),
        ("Replace `docker-compose` with `docker compose`", "docker compose up -d"),
        ("Switch from yarn to `pnpm install`", "pnpm install"),
        ("pip install → `python -m pip install`", "python -m pip install flask"),
        ("Run `git push --force-with-lease origin <branch>`", "git push --force-with-lease origin main"),
        ("先运行 npm ci 再构建", "npm ci && npm run build"),
        ("用 `uv pip install` 代替 pip install", "uv pip install flask"),
        ("把 npm install 换成 npm ci", "npm ci"),
        ("先切换到 iframe 再点击登录按钮", "frame_locator('iframe').click('登录')"),
    ],
)
def test_a_step_that_does_what_is_advised_follows_it(action: str, given: str) -> None:
    assert follows(step(given), lesson(action))


@pytest.mark.parametrize(
    ("action", "given"),
    [
        (ACTION, "npm install"),
        (ACTION, "npm install left-pad"),
        (ACTION, "grep -rn 'npm ci' docs"),
        ("Use pnpm instead of npm", "npm install pnpm-lock"),
        ("Use pnpm instead of npm", "pip install pnpm"),
        ("Replace `docker-compose` with `docker compose`", "docker-compose up -d"),
        ("Switch from yarn to `pnpm install`", "yarn install"),
        ("pip install → `python -m pip install`", "pip install flask"),
        ("Never run `git push --force`", "git push --force"),
        ("Do not edit package-lock.json by hand", "sed -i s/1/2/ package-lock.json"),
        ("Avoid `rm -rf build`", "rm -rf build"),
        ("不要用 `pip install --user`", "pip install --user x"),
        ("用 `uv pip install` 代替 `pip install`", "pip install flask"),
        ("Add engines to package.json", "cat package.json"),
        ("Create a virtual environment first", "pip install flask"),
        ("Check twice.", "ls"),
    ],
)
def test_a_step_that_does_something_else_does_not(action: str, given: str) -> None:
    assert not follows(step(given), lesson(action))


def test_only_doing_follows_and_only_advice_is_followed() -> None:
    assert not follows(step("npm ci", action="user"), lesson())
    assert not follows(step("npm ci", action="decision"), lesson())
    assert not follows(step("npm ci"), lesson(kind=Kind.FAILURE))
    assert follows(step("npm ci", action="check"), lesson(kind=Kind.RULE))


def test_without_an_action_only_commands_of_the_summary_count() -> None:
    assert follows(step("npm ci"), replace(lesson(""), summary="In CI, run `npm ci`, it is exact."))
    assert not follows(step("keep the tests fast"), replace(lesson(""), summary="Keep tests fast."))


# --- credit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "cited", "steps", "expected"),
    [
        (TaskStatus.SUCCEEDED, True, [], (RELIED, "cited")),
        (TaskStatus.FAILED, True, [], (-RELIED, "cited")),
        (TaskStatus.ABANDONED, True, [], (0.0, "unknown_outcome")),
        (TaskStatus.SUCCEEDED, False, [], (SHOWN, "shown")),
        (TaskStatus.FAILED, False, [], (-SHOWN, "shown")),
        (TaskStatus.ABANDONED, False, [], (0.0, "unknown_outcome")),
        (TaskStatus.SUCCEEDED, False, [step("npm ci")], (RELIED, "followed")),
        (TaskStatus.FAILED, False, [step("npm ci")], (-RELIED, "followed")),
        # a step's own result goes before the task's
        (TaskStatus.ABANDONED, False, [step("npm ci", ok=True)], (RELIED, "followed")),
        (TaskStatus.ABANDONED, False, [step("npm ci", ok=False)], (-RELIED, "followed")),
        (TaskStatus.SUCCEEDED, False, [step("npm ci", ok=False)], (-RELIED, "followed")),
        (TaskStatus.FAILED, False, [step("npm ci", ok=True)], (0.0, "followed")),
        (TaskStatus.SUCCEEDED, True, [step("npm ci", ok=False)], (0.0, "cited")),
        (TaskStatus.FAILED, True, [step("npm ci", ok=False)], (-RELIED, "cited")),
        # and the check right after it before that
        (
            TaskStatus.FAILED,
            False,
            [step("npm ci", ok=True), step("npm test", ok=True, action="check", place=1)],
            (RELIED, "followed"),
        ),
        (
            TaskStatus.SUCCEEDED,
            False,
            [step("npm ci", ok=True), step("npm test", ok=False, action="check", place=1)],
            (-RELIED, "followed"),
        ),
        # tries count once, and the last one counts
        (
            TaskStatus.ABANDONED,
            False,
            [step("npm ci", ok=False), step("npm ci", ok=True, place=1)],
            (RELIED, "followed"),
        ),
    ],
)
def test_credit_follows_who_relied_on_it_and_how_that_ended(
    status: TaskStatus, cited: bool, steps: list[Step], expected: tuple[float, str]
) -> None:
    given = credited(task("t", status), use(cited=cited), lesson(), steps)
    assert (given.credit, given.why) == expected
    assert given.cited is cited


def test_a_step_that_shows_a_fault_failed_though_nobody_said_so() -> None:
    failed = replace(
        step("npm ci"), output="npm error code EUSAGE\nnpm error `npm ci` can only install with a lock file"
    )
    given = credited(task("t"), use(), lesson(), [failed, step("npm install", ok=True, place=1)])
    assert (given.credit, given.why) == (-RELIED, "followed")


def test_a_check_whose_output_says_that_it_failed_is_harm_whatever_its_flag() -> None:
    through_a_pipe = replace(
        step("pytest -q | tail -3", ok=True, action="check", place=1), output="3 failed, 4 passed in 0.31s"
    )
    given = credited(task("t"), use(), lesson(), [step("npm ci", ok=True), through_a_pipe])
    assert (given.credit, given.why) == (-RELIED, "followed")


def test_what_was_done_before_it_was_shown_did_not_follow_it() -> None:
    late = replace(use(), used_at=NOW + HOUR)
    assert credited(task("t"), late, lesson(), [step("npm ci", ok=True)]).why == "shown"


def test_the_fault_that_a_lesson_is_against_coming_again_after_it_was_followed_is_harm() -> None:
    fault = "ModuleNotFoundError: No module named 'requests'"
    key = signature(fault, action="bash", input="python app.py")
    assert key is not None
    against = lesson("Run `pip install requests` first.")
    against = replace(against, structured={**against.structured, "signature": key.key})
    again = replace(step("python app.py", place=1), output=fault, ok=False)
    followed = [step("pip install requests", ok=True), again]
    given = credited(task("t"), use(), against, followed)
    assert (given.credit, given.why) == (-RELIED, "recurred")
    assert credited(task("t"), use(), against, followed[::-1]).credit == RELIED
    # Not followed, it does not answer for the fault.
    assert credited(task("t"), use(), against, [again]).credit == SHOWN


def test_what_was_withheld_earns_nothing() -> None:
    given = credited(task("t"), use(withheld=True), lesson(), [step("npm ci", ok=True)])
    assert (given.credit, given.why) == (0.0, "withheld")


def test_a_memory_is_credited_once_a_task_however_often_it_was_shown() -> None:
    uses = [replace(use(), id=f"u{place}", cited=place == 1) for place in range(3)]
    given = credits(task("t"), uses, {lesson().id: lesson()}, [])
    assert [(one.use_id, one.credit, one.why) for one in given] == [
        ("u0", 0.0, "repeated"),
        ("u1", RELIED, "cited"),
        ("u2", 0.0, "repeated"),
    ]


@pytest.mark.parametrize("kind", [Kind.PREFERENCE, Kind.FACT, Kind.CONSTRAINT, Kind.INTENT, Kind.DECISION])
def test_being_on_the_page_says_nothing_of_what_is_no_advice(kind: Kind) -> None:
    assert credited(task("t"), use(), lesson(kind=kind)).credit == 0


def test_no_failed_task_speaks_against_what_the_user_said() -> None:
    said = lesson("", kind=Kind.FACT, basis=Basis.STATED, trust=Trust.USER)
    assert credited(task("t", TaskStatus.FAILED), use(cited=True), said).credit == 0
    assert credited(task("t"), use(cited=True), said).credit == RELIED
    assert (
        credited(
            task("t", TaskStatus.FAILED), use(cited=True), replace(said, basis=Basis.INFERRED, trust=Trust.AGENT)
        ).credit
        < 0
    )


@pytest.mark.parametrize(("id", "session"), [("origin", "elsewhere"), ("t", "home")])
def test_the_session_that_made_a_memory_does_not_prove_it(id: str, session: str) -> None:
    assert credited(task(id, session=session), use(cited=True), lesson()).why == "own_session"
    assert credited(task(id, TaskStatus.FAILED, session=session), use(cited=True), lesson()).credit == -RELIED


def test_uses_of_memories_that_are_gone_are_left_out() -> None:
    assert credits(task("t"), [use()], {}, []) == []


# --- verdict ------------------------------------------------------------------------------------------


def judged(known: Memory, *ended: tuple[Task, float]) -> Memory:
    """The memory after these tasks, one by one, as the service would have it."""
    for count in range(1, len(ended) + 1):
        past = ended[:count]
        found = verdict(known, [use(one.id, credit) for one, credit in past], {one.id: one for one, _ in past})
        known = replace(known, **found.fields) if found else known
    return known


def good(number: int, **tools: str) -> tuple[Task, float]:
    return task(f"good{number}", **tools), RELIED


def bad(number: int, **tools: str) -> tuple[Task, float]:
    return task(f"bad{number}", TaskStatus.FAILED, **tools), -RELIED


def test_success_of_another_task_in_another_session_confirms() -> None:
    ended = task("other")
    found = verdict(lesson(), [use("other", RELIED)], {"other": ended})
    assert found is not None
    assert (found.became, found.tasks) == ("confirmed", ("other",))
    assert found.fields["standing"] is Standing.CONFIRMED


@pytest.mark.parametrize(
    ("ended", "credit"),
    [
        (task("other"), SHOWN),
        (task("origin"), RELIED),
        (task("other", session="home"), RELIED),
        (replace(task("other"), session=""), RELIED),
    ],
)
def test_nothing_else_confirms(ended: Task, credit: float) -> None:
    uses = [use(ended.id, credit)]
    assert verdict(lesson(), uses, {ended.id: ended}) is None


def test_a_hundred_successes_in_the_session_that_made_it_confirm_nothing() -> None:
    ended = [task(f"t{number}", session="home") for number in range(100)]
    assert verdict(lesson(), [use(one.id, RELIED) for one in ended], {one.id: one for one in ended}) is None


def test_the_session_of_the_task_that_a_memory_names_is_its_own_too() -> None:
    written = lesson(source=Source("agent", "origin"), supporters=("origin",))
    tasks = {"origin": task("origin", session="home"), "next": task("next", session="home")}
    assert verdict(written, [use("next", RELIED)], tasks) is None


def test_success_counts_once_a_session_and_harm_in_every_task() -> None:
    same = [task(f"g{number}", session="s") for number in range(5)]
    failed = [task(f"b{number}", TaskStatus.FAILED, session="s") for number in range(2)]
    confirmed = lesson(standing=Standing.CONFIRMED)
    uses = [use(one.id, RELIED) for one in same] + [use(one.id, -RELIED) for one in failed]
    found = verdict(confirmed, uses, {one.id: one for one in (*same, *failed)})
    assert found is not None
    assert found.became == "pending"


@pytest.mark.parametrize("standing", [Standing.PENDING, Standing.CONFIRMED])
def test_a_wrong_lesson_that_is_followed_is_gone_within_three_tasks(standing: Standing) -> None:
    assert judged(lesson(standing=standing), bad(1), bad(2), bad(3)).standing is Standing.REFUTED


def test_one_failure_takes_the_proof_and_not_the_memory() -> None:
    assert judged(lesson(), good(1), bad(1)).standing is Standing.PENDING
    assert judged(lesson(), bad(1)).standing is Standing.PENDING


def test_ten_successes_outweigh_a_failure() -> None:
    proved = judged(lesson(), *map(good, range(10)))
    assert judged(proved, *map(good, range(10)), bad(1)) == proved


def test_a_session_that_was_helped_and_found_the_same_again_stays_a_witness() -> None:
    past = [*map(good, range(3)), bad(1)]
    known = lesson(standing=Standing.CONFIRMED, supporters=("home", *(one.session for one, _ in past)))
    uses = [use(one.id, credit) for one, credit in past]
    assert verdict(known, uses, {one.id: one for one, _ in past}) is None


def test_it_does_not_flip_with_every_task() -> None:
    history = [good(1), bad(1), good(2), bad(2), good(3), bad(3)]
    standings = [judged(lesson(), *history[:count]).standing.value for count in range(1, 7)]
    assert standings == ["confirmed", "pending", "confirmed", "pending", "pending", "pending"]


def test_what_a_user_vouches_for_is_doubted_and_never_refuted() -> None:
    vouched = lesson(standing=Standing.CONFIRMED, trust=Trust.USER)
    assert judged(vouched, *map(bad, range(9))).standing is Standing.PENDING


def test_what_comes_from_outside_is_confirmed_by_people_only() -> None:
    assert judged(lesson(trust=Trust.EXTERNAL), *map(good, range(9))).standing is Standing.PENDING
    assert judged(lesson(trust=Trust.EXTERNAL), *map(bad, range(2))).standing is Standing.REFUTED


def test_withheld_uses_and_unknown_tasks_prove_nothing() -> None:
    ended = task("other")
    assert verdict(lesson(), [use("other", RELIED, withheld=True), use("gone", RELIED)], {"other": ended}) is None


# --- versions -----------------------------------------------------------------------------------------


def test_a_change_of_version_narrows_instead_of_refuting() -> None:
    old, new = {"npm": "8.19.2", "node": "18.1.0"}, {"npm": "10.2.0", "node": "18.1.0"}
    known = judged(lesson(), good(1, **old), good(2, **old), bad(1, **new), bad(2, **new))
    assert known.standing is Standing.CONFIRMED
    assert known.applies == {"only": {"npm": "<10.2.0"}}
    assert clashes(known.applies, task("t", **new).environment)[0].proved
    assert not clashes(known.applies, task("t", **old).environment)
    # Harm where it is not said to hold counts no more; harm where it is does.
    assert judged(known, good(1, **old), good(2, **old), bad(1, **new), bad(3, **new)) == known
    assert judged(known, good(1, **old), bad(3, **old)).standing is Standing.PENDING


def test_where_it_was_learned_counts_as_where_it_held() -> None:
    learned = lesson(applies={"tools": {"npm": "8.19.2"}}, basis=Basis.OBSERVED)
    known = judged(learned, bad(1, npm="10.2.0"), bad(2, npm="10.3.0"))
    assert (known.standing, known.applies["only"]) == (Standing.PENDING, {"npm": "<10.2.0"})
    assert judged(learned, bad(1, npm="8.19.2"), bad(2, npm="10.3.0")).standing is Standing.REFUTED


def test_one_harm_narrows_what_was_told_as_seen_with_another_version() -> None:
    helped = [good(number, npm="8.19.2") for number in range(1, 5)]
    seen = lesson(applies={"tools": {"npm": "8.19.2"}}, basis=Basis.OBSERVED, standing=Standing.CONFIRMED)
    known = judged(seen, *helped, bad(9, npm="10.2.0"))
    assert (known.standing, known.applies["only"]) == (Standing.CONFIRMED, {"npm": "<10.2.0"})
    # Without the warning, or with the same version, one of five is no reason.
    assert judged(seen, *helped, bad(9, npm="8.20.0")) == seen
    unaware = replace(seen, applies={})
    assert judged(unaware, *helped, bad(9, npm="10.2.0")) == unaware


def test_harm_that_a_version_does_not_explain_refutes() -> None:
    assert judged(lesson(), good(1, npm="8"), bad(1, npm="8"), *(bad(n, npm="9") for n in range(2, 7))).applies == {}
    assert judged(lesson(), good(1), *(bad(n) for n in range(6))).standing is Standing.REFUTED


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("23.1", ">=23,<24", True),
        ("24.0", ">=23,<24", False),
        ("23", "==23.0.0", True),
        ("23.5", "23.*", True),
        ("24", "==23.*", False),
        ("2.4.1", "^2.1", True),
        ("3.0", "^2.1", False),
        ("0.3.0", "^0.2.9", False),
        ("1.4.9", "~1.4.2", True),
        ("1.5", "~=1.4.2", False),
        ("v22.1.0-rc1", "<22 || >22", True),
        ("22", "<22 || >22", False),
        ("22", "!=22", False),
        ("unknown", ">=1", None),
        ("1", "latest", None),
    ],
)
def test_versions_meet_ranges(version: str, wanted: str, expected: bool | None) -> None:
    assert holds(version, wanted) is expected


@pytest.mark.parametrize(
    ("applies", "environment", "expected"),
    [
        ({"os": "macOS"}, {"os": "darwin"}, []),
        ({"os": ["linux", "darwin"]}, {"os": "Windows"}, ["os"]),
        ({"repo": "atlas"}, {"repo": "zephyr"}, ["repo"]),
        ({"repo": "atlas"}, {"os": "linux"}, []),
        ({"tool": "pip", "version": "23.0.1"}, {"tools": {"pip": "24.1"}}, ["pip"]),
        ({"tool": "pip", "version": "23.0.1"}, {"tools": {"pip": "23.4"}}, []),
        ({"tools": {"Python": "3.11.2"}}, {"tools": {"python": "3.12.0"}}, ["python"]),
        ({"tools": {"pip": ">=23"}}, {"tools": {"pip": "22"}}, ["pip"]),
        ({"tools": {"pip": "whatever"}}, {"tools": {"pip": "22"}}, []),
        ({"tools": ["pip"]}, {"tools": "pip 23"}, []),
        ({}, {"os": "linux"}, []),
    ],
)
def test_conditions_are_contradicted_by_what_is_known_only(
    applies: dict[str, Any], environment: dict[str, Any], expected: list[str]
) -> None:
    assert [clash.what for clash in clashes(applies, environment)] == expected


@pytest.mark.parametrize(
    ("held", "failed", "expected"),
    [
        (["23.0", "9.1"], ["24.0"], "<24.0"),
        (["10.1"], ["9", "9.2"], ">9.2"),
        (["1.0", "3.0"], ["2.0"], "==1.0 || ==3.0"),
    ],
)
def test_a_narrowed_range_holds_what_held_and_not_what_failed(
    held: list[str], failed: list[str], expected: str
) -> None:
    wanted = narrowed({"os": "linux"}, "pip", held=held, failed=failed)
    assert wanted == {"os": "linux", "only": {"pip": expected}}
    assert all(holds(version, expected) for version in held)
    assert not any(holds(version, expected) for version in failed)


# --- measuring ----------------------------------------------------------------------------------------


def _arms(shown: tuple[int, int], withheld: tuple[int, int]) -> tuple[list[Use], dict[str, Task]]:
    uses: list[Use] = []
    tasks: dict[str, Task] = {}
    for arm, (succeeded, total) in ((False, shown), (True, withheld)):
        for number in range(total):
            status = TaskStatus.SUCCEEDED if number < succeeded else TaskStatus.FAILED
            one = task(f"{arm}{number}", status)
            tasks[one.id] = one
            uses += [use(one.id, withheld=arm), replace(use(one.id), memory_id="other")]
    return uses, tasks


@pytest.mark.parametrize(
    ("shown", "withheld", "low", "high"),
    [
        # Newcombe (1998), table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_lift_has_the_published_interval(
    shown: tuple[int, int], withheld: tuple[int, int], low: float, high: float
) -> None:
    found = lift(*_arms(shown, withheld))
    assert (found.shown_succeeded, found.shown, found.withheld_succeeded, found.withheld) == (*shown, *withheld)
    assert found.difference == pytest.approx(shown[0] / shown[1] - withheld[0] / withheld[1])
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_lift_needs_both_arms_and_known_outcomes() -> None:
    uses, tasks = _arms((3, 4), (0, 0))
    assert lift(uses, tasks).difference is None
    abandoned = replace(task("a", TaskStatus.ABANDONED))
    assert lift([*uses, use("a", withheld=True)], tasks | {"a": abandoned}).withheld == 0


def test_the_same_pairs_are_withheld_every_time_and_as_many_as_asked() -> None:
    pairs = [(f"t{one}", f"m{other}") for one in range(40) for other in range(50)]
    held = [is_withheld(*pair, 0.2) for pair in pairs]
    assert held == [is_withheld(*pair, 0.2) for pair in pairs]
    assert 340 < sum(held) < 460
    assert not any(is_withheld(*pair, 0.0) for pair in pairs)
    assert all(is_withheld(*pair, 1.0) for pair in pairs)
