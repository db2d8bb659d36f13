"""Ways that were tried in vain: named by the account of a failure, gathered over tasks, kept with what ends it."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.recorded import review

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.records import Add, Kind, LinkType, Memory, Standing, Status, Step, Supersede, Task, Trust
from afterwit.review import Finding
from afterwit.review.ways import MOST_WAYS, all_ways, wider_fault, with_ways
from afterwit.service import Afterwit, Writer
from afterwit.service.superseding import outdone
from afterwit.storage import open_store
from afterwit.testing import FixedClock
from afterwit.testing.samples import memory as sample

ERESOLVE = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree"
REFUSED = "HTTP/1.1 401 Unauthorized\n\n{}"
NO_FILE = "Traceback (most recent call last):\nFileNotFoundError: [Errno 2] No such file or directory: 'convert.toml'"


def dead_end(*rows: tuple[Any, ...], goal: str = "Do the work", **environment: Any) -> Finding:
    (found,) = review(*rows, goal=goal, **environment).findings
    assert found.kind is Kind.FAILURE
    return found


def failing(*commands: str, output: str = ERESOLVE) -> list[tuple[Any, ...]]:
    return [("bash", command, output, False) for command in commands]


# --- one task -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("commands", "output", "ways"),
    [
        (("npm install a", "npm install a --no-audit", "npm install a --force"), ERESOLVE, ["--force", "--no-audit"]),
        (("make lint", "cd web && make lint", "make -B lint"), "make: *** No rule to make target 'lint'.  Stop.", None),
        (
            ('curl -si "https://x.dev/a"', 'curl -si -H "X-Key: $KEY" "https://x.dev/a"'),
            REFUSED,
            ['-H "X-Key: $KEY"'],
        ),
        (
            ('curl -si "https://x.dev/a"', 'curl -si "https://x.dev/a?key=$KEY"'),
            REFUSED,
            ["…?key=$KEY"],
        ),
        (
            ('psql "host=db dbname=shop" -c "SELECT 1"', 'psql "host=db dbname=shop sslmode=disable" -c "SELECT 1"'),
            "psql: FATAL:  no pg_hba.conf entry for host",
            ["sslmode=disable"],
        ),
        (
            ("python etl/convert.py data/a.csv", "cd data && python ../etl/convert.py a.csv"),
            NO_FILE,
            ["cd data && …"],
        ),
        (("npm test", "CI=1 npm test"), "npm error missing script: test", ["CI=1"]),
    ],
)
def test_an_account_of_a_failure_names_every_way_that_was_tried(
    commands: tuple[str, ...], output: str, ways: list[str] | None
) -> None:
    found = dead_end(*failing(*commands, output=output))
    assert found.structured["ways"] == (ways or ["-B", "cd web && …"])
    for way in found.structured["ways"]:
        assert f"`{way}`" in found.summary


def test_what_was_run_before_it_is_part_of_a_way() -> None:
    rows = [
        *failing("npm install a"),
        ("bash", "npm cache clean --force", "cache cleaned", True),
        *failing("npm install a"),
    ]
    assert dead_end(*rows).structured["ways"] == ["npm cache clean --force && …"]


def test_ways_are_told_against_the_plainest_attempt_whichever_came_first() -> None:
    advised = 'curl -si -H "X-Key: $KEY" "https://x.dev/a"'
    found = dead_end(*failing(advised, 'curl -si "https://x.dev/a"', output=REFUSED))
    assert found.structured["ways"] == ['-H "X-Key: $KEY"']
    assert found.summary.startswith('`curl -si "https://x.dev/a"` failed 2 times')


def test_a_way_that_led_to_another_fault_and_was_given_up_was_in_vain() -> None:
    refused = "psql: error: connection to server failed: Connection refused"
    plain, port, user = (f'psql "host=db dbname=shop{more}" -c "SELECT 1"' for more in ("", " port=5433", " user=x"))
    entry = "psql: FATAL:  no pg_hba.conf entry for host"
    given_up = dead_end(*failing(plain, output=entry), *failing(port, output=refused), *failing(user, output=entry))
    assert given_up.structured["ways"] == ["user=x", "port=5433"]
    # At the end it may have been a step forward: it belongs to the fault that it led to.
    findings = review(*failing(plain, user, output=entry), *failing(port, output=refused)).findings
    assert {one.structured["signature"]: one.structured["ways"] for one in findings} == {
        "sql: no entry in pg_hba.conf": ["user=x"],
        "psql: connection refused": ["port=5433"],
    }


def test_the_same_attempt_again_is_no_other_way() -> None:
    found = dead_end(*failing("npm install a", "npm install a"))
    assert (found.structured["ways"], "Tried in vain" in found.summary) == ([], False)


def test_an_account_in_chinese_names_the_ways_in_the_words_of_the_shell() -> None:
    found = dead_end(*failing("npm install a", "npm install a --force"), goal="安装依赖 a")
    assert found.summary.endswith("没有找到解决办法。试过但无效：`--force`。")


def test_an_account_stays_short_and_keeps_the_newest_ways() -> None:
    ways = all_ways([f"--option-{number} value of {number}" for number in range(20)])
    assert ways == tuple(f"--option-{number} value of {number}" for number in range(MOST_WAYS))
    account = "`npm install` failed 4 times with “npm error code ERESOLVE”, and no way around it was found."
    told = with_ways(f"{account} {'word ' * 20}".strip(), ways, "en")
    assert len(told.split()) <= 60
    assert "--option-0" in told
    assert "--option-7" not in told


def test_a_lesson_keeps_what_had_been_tried_in_vain() -> None:
    rows = [
        *failing("npm install a", "npm install a --force"),
        ("bash", "npm install a --legacy-peer-deps", "ok", True),
    ]
    (found,) = review(*rows).findings
    assert found.kind is Kind.LESSON
    assert found.structured["ways"] == ["--force"]


@pytest.mark.parametrize(
    ("one", "other", "wider"),
    [
        ("make: no rule for target: a", "make: no rule for target: b", "make: no rule for target"),
        ("http: http 401: x.dev/a", "http: http 401: x.dev/b", "http: http 401: x.dev"),
        ("make: no rule for target", "make: no rule for target: b", ""),
        ("make: no rule for target: b", "make: no rule for target", "make: no rule for target"),
        ("npm: eresolve", "npm: eresolve", ""),
    ],
)
def test_the_fault_that_takes_in_two(one: str, other: str, wider: str) -> None:
    assert wider_fault(one, other) == wider


# --- several tasks --------------------------------------------------------------------------------


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"store": "sqlite://", "timezone": "UTC"})
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=FixedClock()) as made:
        yield made


def work(
    memory: Afterwit, name: str, rows: Sequence[tuple[Any, ...]], *, outcome: str = "failure", **more: Any
) -> Task:
    seen = memory.as_writer(Writer(session=name))
    task = seen.start_task(more.pop("goal", "Install the packages"), **more).task
    seen.log_steps([dict(zip(("action", "input", "output", "ok"), row, strict=True)) for row in rows])
    seen.finish_task(outcome=outcome)
    return seen.task(task.id)


def found(memory: Afterwit, *, every: bool = False) -> list[Memory]:
    return memory.list(kinds=["lesson", "failure"], all_states=every)[::-1]


def test_the_same_dead_end_of_several_tasks_is_one_whose_ways_grow(memory: Afterwit) -> None:
    first = work(memory, "s1", failing("npm install a", "npm install a --force"))
    second = work(memory, "s2", failing("npm install b", "npm install b --no-audit"))
    (account,) = found(memory)
    assert account.structured["ways"] == ["--no-audit", "--force"]
    assert (account.support, account.kind) == (2, Kind.FAILURE)
    assert account.summary.endswith("Tried in vain: `--no-audit`, `--force`.")
    (fewer,) = [one for one in found(memory, every=True) if one.id != account.id]
    assert (fewer.status, fewer.superseded_by) == (Status.SUPERSEDED, account.id)
    links = memory.store.links(memory.space, [account.id])
    assert {link.note for link in links if link.type is LinkType.DERIVED_FROM} == {first.id, second.id}
    # What is known already only counts.
    work(memory, "s3", failing("npm install c", "npm install c --force"))
    (same,) = found(memory)
    assert (same.id, same.support) == (account.id, 3)
    # Nobody is to make a rule of what led nowhere.
    assert memory.list(kinds=["rule"]) == []


def test_an_account_that_is_full_of_ways_only_counts(memory: Afterwit) -> None:
    for number in range(MOST_WAYS + 4):
        work(memory, f"s{number}", failing("npm install a", f"npm install a --flag-{number:02}x"))
    (account,) = found(memory)
    assert (len(account.structured["ways"]), account.support) == (MOST_WAYS, MOST_WAYS + 4)
    assert len(found(memory, every=True)) == MOST_WAYS


def test_an_account_takes_over_only_the_newest_of_what_the_one_before_rests_on(memory: Afterwit) -> None:
    ways = ("npm install a", "npm install a --force", "npm install a --no-audit")
    for number in range(15):
        work(memory, f"s{number}", failing(*ways))
    last = work(memory, "s15", failing("npm install a", "npm install a --offline"))
    (account,) = found(memory)
    assert account.structured["ways"][0] == "--offline"
    rests_on = [link for link in memory.store.links(memory.space, [account.id]) if link.type is LinkType.DERIVED_FROM]
    assert len([link for link in rests_on if link.note != last.id]) == 40
    assert [link for link in rests_on if link.note == last.id]


def test_the_lesson_that_ends_it_takes_its_place_and_keeps_the_ways(memory: Afterwit) -> None:
    work(memory, "s1", failing("npm install a", "npm install a --force"))
    worked = ("bash", "npm install b --legacy-peer-deps", "added 3 packages", True)
    work(memory, "s2", [*failing("npm install b", "npm install b --no-audit"), worked], outcome="success")
    (lesson,) = found(memory)
    assert lesson.kind is Kind.LESSON
    assert lesson.structured["ways"] == ["--no-audit", "--force"]
    (account,) = [one for one in found(memory, every=True) if one.id != lesson.id]
    assert (account.status, account.superseded_by) == (Status.SUPERSEDED, lesson.id)


def test_when_that_lesson_falls_the_next_account_still_knows_all_ways(memory: Afterwit) -> None:
    work(memory, "s1", failing("npm install a", "npm install a --force"))
    worked = ("bash", "npm install b --legacy-peer-deps", "added 3 packages", True)
    work(memory, "s2", [*failing("npm install b"), worked], outcome="success")
    (lesson,) = found(memory)
    memory.as_writer(Writer("user")).update(lesson.id, verdict="refute", source="user")
    work(memory, "s3", failing("npm install c", "npm install c --no-audit"))
    account = next(one for one in found(memory) if one.kind is Kind.FAILURE and one.status is Status.ACTIVE)
    assert account.structured["ways"] == ["--no-audit", "--force"]


def test_what_led_nowhere_with_one_version_says_nothing_of_another(memory: Afterwit) -> None:
    for name, version, flag in (("s1", "8.1", "--force"), ("s2", "10.2", "--no-audit")):
        rows = failing("npm install a", f"npm install a {flag}")
        work(memory, name, rows, environment={"tools": {"npm": version}})
    ways = {one.applies["version"]: one.structured["ways"] for one in found(memory)}
    assert ways == {"8.1": ["--force"], "10.2": ["--no-audit"]}


def _no_rule(target: str) -> list[tuple[Any, ...]]:
    return [
        ("bash", f"make {target}", f"make: *** No rule to make target '{target}'.  Stop.", False),
        ("bash", f"cd services && make {target}", f"{target}: done", True),
    ]


def test_a_lesson_seen_of_two_targets_holds_for_their_sort(memory: Afterwit) -> None:
    work(memory, "s1", _no_rule("lint"), outcome="success")
    assert found(memory)[0].structured["signature"] == "make: no rule for target: lint"
    work(memory, "s2", _no_rule("docs"), outcome="success")
    (lesson,) = found(memory)
    assert (lesson.support, lesson.structured["signature"]) == (2, "make: no rule for target")
    hits = memory.as_writer(Writer(session="s3")).on_failure("bash", "make e2e", _no_rule("e2e")[0][2], failed=True)
    assert [hit.memory.id for hit in hits] == [lesson.id]


def test_what_names_the_thing_itself_stays_with_it(memory: Afterwit) -> None:
    for name, module in (("s1", "yaml"), ("s2", "requests")):
        missing = f"Traceback (most recent call last):\nModuleNotFoundError: No module named '{module}'"
        rows = [
            ("bash", "python app.py", missing, False),
            ("bash", f"pip install {module}", f"Successfully installed {module}", True),
            ("bash", "python app.py", "ok", True),
        ]
        work(memory, name, rows, outcome="success")
    assert sorted(one.structured["signature"] for one in found(memory)) == [
        "python: module not found: requests",
        "python: module not found: yaml",
    ]


def test_what_one_service_wants_is_not_said_of_another(memory: Afterwit) -> None:
    for name, host in (("s1", "orders.acme.dev"), ("s2", "billing.acme.dev"), ("s3", "orders.acme.dev")):
        url = f"https://{host}/{name}"
        rows = [
            ("bash", f'curl -si "{url}"', REFUSED, False),
            ("bash", f'curl -si -H "Authorization: Bearer $TOKEN" "{url}"', "HTTP/1.1 200 OK\n\n[]", True),
        ]
        work(memory, name, rows, outcome="success")
    support = {one.structured["signature"]: one.support for one in found(memory)}
    assert support == {"http: http 401: orders.acme.dev": 2, "http: http 401: billing.acme.dev/s2": 1}


def test_a_service_is_told_by_its_version_and_one_failure_with_another_narrows(memory: Afterwit) -> None:
    url = "https://orders.acme.dev/carts"
    key = f'curl -si -H "X-Key: $KEY" "{url}"'
    rows = [("bash", f'curl -si "{url}"', REFUSED, False), ("bash", key, "HTTP/1.1 200 OK\n\n[]", True)]
    goal = "Get the carts from the orders service"
    work(memory, "s1", rows, outcome="success", goal=goal, environment={"tools": {"orders-api": "1.8", "npm": "9"}})
    (lesson,) = found(memory)
    assert lesson.applies == {"tools": {"orders-api": "1.8"}}
    seen = memory.as_writer(Writer(session="s2"))
    briefing = seen.start_task(goal, environment={"tools": {"orders-api": "2.0"}})
    assert [hit.warnings for hit in briefing.cases] == [("not yet proved", "seen with orders-api 1.8, you have 2.0")]
    seen.log_step(action="bash", input=key, output=REFUSED, ok=False)
    seen.finish_task(outcome="failure")
    narrowed = memory.get(lesson.id)
    assert (narrowed.standing, narrowed.applies["only"]) == (Standing.PENDING, {"orders-api": "<2.0"})


# --- opinions -------------------------------------------------------------------------------------

OPINION = "shipit deploy needs --force, otherwise it finds no target region."


def _deploy(memory: Afterwit, name: str, *commands: str) -> None:
    """A task in which all commands fail but one with a region."""
    missing = "shipit: error: no target region for service 'cart'"
    rows = [("bash", one, "rolled out" if "eu-1" in one else missing, "eu-1" in one) for one in commands]
    outcome = "success" if rows[-1][3] else "failure"
    work(memory, name, rows, outcome=outcome, goal="Deploy cart with shipit deploy")


@pytest.mark.parametrize("source", ["agent", "user"])
@pytest.mark.parametrize("way_is_found_at_once", [True, False])
def test_what_was_only_believed_and_followed_in_vain_makes_room_for_what_worked(
    memory: Afterwit, source: str, way_is_found_at_once: bool
) -> None:
    opinion = memory.as_writer(Writer(session="s0")).write(OPINION, kind="lesson", source=source).id
    plain, followed, right = "shipit deploy cart", "shipit deploy cart --force", "shipit deploy cart --region eu-1"
    if way_is_found_at_once:
        _deploy(memory, "s1", followed, plain, right)
    else:
        _deploy(memory, "s1", followed, plain)
        assert memory.get(opinion).status is Status.ACTIVE
        _deploy(memory, "s2", plain, right)
    known = memory.get(opinion)
    (lesson,) = [one for one in found(memory) if one.id != opinion]
    assert (known.status, known.superseded_by) == (Status.SUPERSEDED, lesson.id)


class _Counting:
    """A store that tells how often the steps of a task were read."""

    def __init__(self, store: Any) -> None:
        self._store, self.tasks = store, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def steps(self, space: str, task_id: str) -> list[Step]:
        self.tasks.append(task_id)
        return self._store.steps(space, task_id)


def test_steps_are_read_again_only_where_something_was_followed_in_vain(memory: Afterwit) -> None:
    opinion = memory.as_writer(Writer(session="s0")).write(OPINION, kind="lesson", source="agent").id
    plain, right = "shipit deploy cart", "shipit deploy cart --region eu-1"
    _deploy(memory, "s1", f"{plain} --force", plain)
    (harmed,) = memory.tasks()
    for number in range(2, 5):
        work(memory, f"s{number}", [("bash", f"{plain} --dry", "shipit: error: no target region", False)])
    missing = "shipit: error: no target region for service 'cart'"
    (finding,) = review(("bash", plain, missing, False), ("bash", right, "rolled out", True)).findings
    lesson = sample(9, finding.summary, kind=Kind.LESSON, space=memory.space, basis=finding.basis)
    store = _Counting(memory.store)
    gone = {task.id: outdone(store, lesson, finding, task) for task in memory.tasks()}
    assert [change.old_id for change in gone[harmed.id] if isinstance(change, Supersede)] == [opinion]
    assert set(store.tasks) == {harmed.id}


def test_what_the_user_vouches_for_is_only_doubted_by_that(memory: Afterwit) -> None:
    said = memory.as_writer(Writer("user", Trust.USER, "s0")).write(OPINION, kind="lesson").id
    _deploy(memory, "s1", "shipit deploy cart --force", "shipit deploy cart", "shipit deploy cart --region eu-1")
    assert (memory.get(said).status, memory.get(said).standing) == (Status.ACTIVE, Standing.PENDING)


def test_what_was_not_followed_stays(memory: Afterwit) -> None:
    opinion = memory.as_writer(Writer(session="s0")).write(OPINION, kind="lesson", source="agent").id
    _deploy(memory, "s1", "shipit deploy cart", "shipit deploy cart --region eu-1")
    assert memory.get(opinion).status is Status.ACTIVE


@pytest.mark.parametrize(("helped", "harmed", "is_told"), [(0, 0, True), (1, 1, True), (0, 0.4, True), (0.4, 1, False)])
def test_what_failed_whenever_it_was_followed_is_not_told_beside_what_did_not(
    memory: Afterwit, helped: float, harmed: float, is_told: bool
) -> None:
    known: dict[str, Any] = {"kind": Kind.LESSON, "space": memory.space, "standing": Standing.PENDING}
    believed = sample(1, "shipit deploy 需要加 --force，否则会报没有目标区域。", helped=helped, harmed=harmed, **known)
    worked = sample(2, "If `shipit deploy cart` fails, add `--region eu-1`.", structured={"tool": "shipit"}, **known)
    with memory.store.transaction(memory.space, now=memory._clock(), actor="test") as tx:  # pyright: ignore[reportPrivateUsage]
        tx.apply([Add(believed), Add(worked)])
    cases = memory.as_writer(Writer(session="s1")).start_task("用 shipit deploy 上线，报没有目标区域").cases
    assert {hit.memory.id for hit in cases} == ({believed.id, worked.id} if is_told else {worked.id})
