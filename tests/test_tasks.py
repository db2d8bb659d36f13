"""Tasks: the briefing at their start, working memory, their end, and all that may go wrong between."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from afterwit import Afterwit, Conflict, InvalidInput, NotFound, TaskStatus, Trust, Writer
from afterwit.config import load_settings
from afterwit.service.stepping import KEPT_HEAD, KEPT_TAIL
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.vocabulary import FENCE

NEVER = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    settings = load_settings(
        environ={}, overrides={"data_dir": "/nonexistent", "store": "sqlite://", "timezone": "UTC"}
    )
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=clock) as service:
        yield service


def _other(memory: Afterwit, session: str) -> Afterwit:
    return memory.as_writer(Writer(session=session))


# --- start ---------------------------------------------------------------------------------------


def test_a_briefing_gives_rules_then_cases_then_what_is_due(memory: Afterwit, clock: FixedClock) -> None:
    memory.write("Deploy atlas with make release, never by hand.", kind="rule", source="user", scope="project:atlas")
    memory.write(
        "Deploy of atlas failed with E1234 because the tag was missing.", kind="failure", scope="project:atlas"
    )
    memory.write(
        "Next time we deploy atlas, look at its memory use.", kind="intent", source="user", scope="project:atlas"
    )
    memory.write("Bread needs flour.", kind="fact")
    briefing = memory.start_task("Deploy atlas to production", scope="project:atlas")
    assert [hit.memory.kind.value for hit in briefing.rules] == ["rule"]
    assert [hit.memory.kind.value for hit in briefing.cases] == ["failure"]
    assert [hit.memory.kind.value for hit in briefing.intents] == ["intent"]
    assert briefing.message == ""
    assert briefing.tokens <= memory.settings.budget_tokens + 200


def test_what_the_user_orders_for_a_project_is_shown_whatever_the_task(memory: Afterwit) -> None:
    user = memory.as_writer(Writer(name="user", trust=Trust.USER))
    order = user.write("Never touch the vendor folder.", kind="rule", scope="project:atlas").id
    user.write("Never touch the legacy module.", kind="rule", scope="project:beacon")
    memory.write("Colours are blue.", kind="rule", scope="project:atlas")
    briefing = memory.start_task("Translate the manual", scope="project:atlas")
    assert [hit.memory.id for hit in briefing.rules] == [order]
    assert not memory.start_task("Translate the manual").rules


def test_a_briefing_of_an_empty_memory_says_so_in_the_language_of_the_goal(memory: Afterwit) -> None:
    briefing = memory.start_task("修复登录页的超时")
    assert not (briefing.rules or briefing.cases or briefing.intents)
    assert briefing.message == "未找到相关历史记忆，请基于当前上下文决策。"


def test_what_a_briefing_shows_is_a_use_by_the_task(memory: Afterwit) -> None:
    receipt = memory.write("Deploy atlas with make release.", kind="rule", source="user")
    briefing = memory.start_task("Deploy atlas")
    assert [use.memory_id for use in memory.store.uses(memory.space, task_id=briefing.task.id)] == [receipt.id]
    assert memory.get(receipt.id).use_count == 1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"scope": "nowhere"}, "scope"),
        ({"constraints": "one text"}, "constraints"),
        ({"constraints": [""]}, "constraints"),
        ({"environment": "linux"}, "environment"),
        ({"environment": {"x": float("nan")}}, "JSON"),
        ({"step_limit": 0}, "step_limit"),
        ({"step_limit": True}, "step_limit"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"timeout_s": 1e12}, "timeout_s"),
        ({"budget_tokens": 1}, "budget_tokens"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_malformed_start_starts_nothing(memory: Afterwit, options: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        memory.start_task("Deploy", **options)  # pyright: ignore[reportArgumentType]
    assert memory.tasks() == []


@pytest.mark.parametrize("goal", ["", "  ", "\ud800", "x" * 5000])
def test_a_goal_is_a_text(memory: Afterwit, goal: str) -> None:
    with pytest.raises(InvalidInput, match="goal"):
        memory.start_task(goal)


def test_a_secret_in_a_goal_is_not_kept(memory: Afterwit) -> None:
    task = memory.start_task("Use the key sk-abcdefghijklmnop1234 for the API").task
    assert "abcdefghijklmnop1234" not in memory.task(task.id).goal


# --- steps ---------------------------------------------------------------------------------------


def test_steps_are_kept_in_the_order_of_the_calls_whatever_their_times(memory: Afterwit, clock: FixedClock) -> None:
    task = memory.start_task("Deploy").task
    late, early = clock() + timedelta(minutes=5), clock() - timedelta(days=1)
    memory.log_steps([{"action": "bash", "input": "b", "happened_at": late}, {"action": "bash", "input": "a"}])
    memory.log_step(action="bash", input="c", happened_at=early)
    steps = memory.store.steps(memory.space, task.id)
    assert [step.input for step in steps] == ["b", "a", "c"]
    assert steps[0].happened_at == late


def test_a_batch_with_one_bad_step_logs_nothing(memory: Afterwit) -> None:
    task = memory.start_task("Deploy").task
    with pytest.raises(InvalidInput, match="ok"):
        memory.log_steps([{"action": "bash"}, {"action": "bash", "ok": "yes"}])  # pyright: ignore[reportArgumentType]
    assert memory.store.count_steps(memory.space, task.id) == 0


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"action": ""},
        {"action": "bash", "happened_at": "2025-03-01T10:00:00"},
        {"action": "bash", "happened_at": "2099-01-01T00:00:00Z"},
        {"action": "bash", "exit": 1},
        {"action": "bash", "output": 7},
        {"action": "x" * 300},
    ],
)
def test_a_malformed_step_is_refused(memory: Afterwit, step: dict[str, object]) -> None:
    memory.start_task("Deploy")
    with pytest.raises(InvalidInput):
        memory.log_step(**step)  # pyright: ignore[reportArgumentType]


def test_a_megabyte_of_output_keeps_its_beginning_and_its_end(memory: Afterwit) -> None:
    task = memory.start_task("Build").task
    output = "first line\n" + "x" * 2_000_000 + "\nError: the end"
    memory.log_step(action="bash", input="make", output=output, ok=False)
    kept = memory.store.steps(memory.space, task.id)[0].output
    assert kept.startswith("first line")
    assert kept.endswith("Error: the end")
    assert len(kept) < KEPT_HEAD + KEPT_TAIL + 100
    assert "characters left out" in kept


def test_binary_output_is_named_and_not_kept(memory: Afterwit) -> None:
    task = memory.start_task("Look").task
    memory.log_step(action="bash", input="cat a.png", output="\x89PNG\x00\x01\x02" + "\x00\x07" * 500)
    memory.log_step(action="bash", input="cat b.bin", output=bytes(range(256)).decode(errors="replace"))
    assert all(step.output.startswith("[binary data") for step in memory.store.steps(memory.space, task.id))


def test_colours_and_lone_surrogates_of_a_terminal_are_taken_out(memory: Afterwit) -> None:
    task = memory.start_task("Look").task
    memory.log_step(action="bash", output="\x1b[1;31mError\x1b[0m: no\r\n50%\r100%\x08 \ud83d done")
    assert memory.store.steps(memory.space, task.id)[0].output == "Error: no\n50%\n100% ? done"


def test_what_recall_showed_is_no_part_of_a_step(memory: Afterwit) -> None:
    task = memory.start_task("Look").task
    memory.log_step(action="memory_search", output=f"<{FENCE} id='1'>\n[m:12345678] use tabs\n</{FENCE}>\nhello")
    assert memory.store.steps(memory.space, task.id)[0].output == "hello"


def test_secrets_do_not_stay_in_steps(memory: Afterwit) -> None:
    task = memory.start_task("Call").task
    memory.log_step(action="bash", input="curl -H 'Authorization: Bearer abcdef1234567890abcdef' https://x.test")
    assert "abcdef1234567890" not in memory.store.steps(memory.space, task.id)[0].input


def test_an_object_is_kept_as_json(memory: Afterwit) -> None:
    task = memory.start_task("Call").task
    memory.log_step(action="http", input={"url": "https://x.test", "名": 1})
    assert memory.store.steps(memory.space, task.id)[0].input == '{"url": "https://x.test", "名": 1}'


def test_steps_after_the_end_are_refused_and_change_nothing(memory: Afterwit) -> None:
    task = memory.start_task("Deploy").task
    memory.finish_task(task.id, outcome="success")
    with pytest.raises(Conflict, match="ended"):
        memory.log_step(task.id, action="bash")
    assert memory.store.count_steps(memory.space, task.id) == 0


def test_an_unknown_task_is_named(memory: Afterwit) -> None:
    for call in (memory.log_step, memory.finish_task, memory.working):
        with pytest.raises(NotFound, match="no task"):
            call(NEVER, **({"action": "bash"} if call == memory.log_step else {}))  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match="No task is open"):
        memory.log_step(action="bash")


def test_several_open_tasks_must_be_told_apart(memory: Afterwit) -> None:
    first, second = memory.start_task("One").task, memory.start_task("Two").task
    with pytest.raises(InvalidInput, match="Several"):
        memory.log_step(action="bash")
    memory.log_step(second.id[-8:], action="bash")
    assert memory.store.count_steps(memory.space, second.id) == 1
    memory.finish_task(first.id, outcome="abandoned")
    assert memory.working().task.id == second.id


def test_the_open_task_of_another_session_is_not_ours(memory: Afterwit) -> None:
    memory.start_task("One")
    with pytest.raises(InvalidInput, match="No task is open"):
        _other(memory, "elsewhere").log_step(action="bash")


# --- working memory ------------------------------------------------------------------------------


def test_working_memory_tells_what_was_tried_and_what_failed(memory: Afterwit) -> None:
    memory.start_task("Make the tests pass", constraints=["no network"])
    memory.log_steps(
        [
            {"action": "bash", "input": "pytest", "output": "ModuleNotFoundError: No module named 'yaml'", "ok": False},
            {"action": "bash", "input": "pytest", "output": "ModuleNotFoundError: No module named 'yaml'", "ok": False},
            {"action": "bash", "input": "pip install yaml", "output": "ERROR: No matching distribution", "ok": False},
            {"action": "bash", "input": "pip install pyyaml", "ok": True},
            {"action": "bash", "input": "pytest", "output": "12 passed", "ok": True},
        ]
    )
    found = memory.working()
    assert found.task.constraints == ("no network",)
    assert [(item.input, item.times, item.ok) for item in found.tried] == [
        ("pip install yaml", 1, False),
        ("pip install pyyaml", 1, True),
        ("pytest", 3, True),
    ]
    assert [item.input for item in found.failed] == ["pip install yaml"]


def test_a_window_slides_and_the_rest_is_digested(memory: Afterwit) -> None:
    memory.start_task("Count")
    memory.log_step(action="decision", input="Use the streaming parser instead of loading the file", rationale="memory")
    memory.log_steps([{"action": "bash", "input": f"step {number}", "ok": True} for number in range(30)])
    found = memory.working(window=5)
    assert [step.input for step in found.recent] == [f"step {number}" for number in range(25, 30)]
    assert found.steps == 31
    assert any("streaming parser" in line for line in found.digest)
    for window in (0, 201, True):
        with pytest.raises(InvalidInput, match="window"):
            memory.working(window=window)


# --- end -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("success", TaskStatus.SUCCEEDED),
        ("Done", TaskStatus.SUCCEEDED),
        ("失败", TaskStatus.FAILED),
        ("gave up", TaskStatus.ABANDONED),
        ("", TaskStatus.ABANDONED),
    ],
)
def test_an_outcome_is_a_word(memory: Afterwit, word: str, status: TaskStatus) -> None:
    memory.start_task("Deploy")
    assert memory.finish_task(outcome=word).task.status is status


def test_an_unknown_outcome_leaves_the_task_open(memory: Afterwit) -> None:
    memory.start_task("Deploy")
    with pytest.raises(InvalidInput, match="outcome"):
        memory.finish_task(outcome="so-so")
    assert memory.working().task.status is TaskStatus.OPEN


def test_the_same_end_again_changes_nothing_and_another_one_is_refused(memory: Afterwit) -> None:
    task = memory.start_task("Deploy").task
    memory.finish_task(outcome="success", summary="shipped")
    assert "already" in memory.finish_task(task.id, outcome="success").message
    with pytest.raises(Conflict, match="succeeded"):
        memory.finish_task(task.id, outcome="failure")
    assert memory.task(task.id).outcome == "shipped"


def test_the_steps_tell_how_a_task_went_when_nobody_says(memory: Afterwit) -> None:
    memory.start_task("Make the tests pass")
    memory.log_step(action="check", input="pytest", output="12 passed in 0.3s", ok=True)
    assert memory.finish_task().task.status is TaskStatus.SUCCEEDED


def test_a_task_ends_at_its_limit_of_steps(memory: Afterwit) -> None:
    task = memory.start_task("Loop", step_limit=3).task
    receipt = memory.log_steps([{"action": "bash", "input": str(number)} for number in range(5)])
    assert receipt.positions == (0, 1, 2)
    assert "2 were not logged" in receipt.message
    assert receipt.task.status is not TaskStatus.OPEN
    assert memory.task(task.id).outcome == "step limit"


def test_a_task_ends_when_its_time_is_over(memory: Afterwit, clock: FixedClock) -> None:
    task = memory.start_task("Wait", timeout_s=60).task
    clock.advance(seconds=61)
    with pytest.raises(Conflict, match="time over"):
        memory.log_step(task.id, action="bash")
    assert memory.task(task.id).ended_at == clock()


def test_a_task_that_nobody_ends_ends_after_a_day(memory: Afterwit, clock: FixedClock) -> None:
    task = memory.start_task("Forgotten").task
    clock.advance(days=1, seconds=1)
    memory.start_task("Next")
    assert memory.task(task.id).status is TaskStatus.ABANDONED


def test_invented_ids_are_named_and_the_task_ends_all_the_same(memory: Afterwit) -> None:
    memory.start_task("Deploy")
    receipt = memory.finish_task(outcome="success", used=[NEVER, "x", "zz" * 100])
    assert receipt.task.status is TaskStatus.SUCCEEDED
    assert len(receipt.unknown) == 3
    assert receipt.credited == ()


# --- credit --------------------------------------------------------------------------------------


def test_a_cited_lesson_is_confirmed_by_the_success_of_another_session(memory: Afterwit) -> None:
    lesson = memory.write("Run make migrate before the atlas worker starts.", kind="lesson").id
    own = memory.start_task("Start the atlas worker").task
    receipt = memory.finish_task(own.id, outcome="success", used=[lesson])
    assert [item.credit for item in receipt.credited] == []
    assert memory.get(lesson).standing.value == "pending"

    later = _other(memory, "later")
    task = later.start_task("Bring the atlas worker up").task
    receipt = later.finish_task(task.id, outcome="success", used=[f"m:{lesson}"])
    assert [(item.memory_id, item.credit, item.became) for item in receipt.credited] == [(lesson, 1.0, "confirmed")]
    story = memory.explain(lesson)
    assert story.memory.standing.value == "confirmed"
    assert [use.credit for use in story.uses if use.task_id == task.id] == [1.0]


def test_a_wrong_lesson_is_gone_after_tasks_that_followed_it_failed(memory: Afterwit) -> None:
    lesson = memory.write("Start the atlas worker with the flag --no-lock to avoid E1234.", kind="lesson").id
    for number in range(3):
        session = _other(memory, f"s{number}")
        session.start_task("Start the atlas worker with its lock")
        session.log_step(action="bash", input="atlas worker start --no-lock", output="E1234: lock missing", ok=False)
        session.finish_task(outcome="failure")
    assert memory.get(lesson).standing.value == "refuted"
    assert lesson not in [hit.memory.id for hit in memory.search("How do I start the atlas worker?").hits]


def test_a_search_in_a_task_is_a_use_and_sees_its_scope(memory: Afterwit) -> None:
    id = memory.write("The atlas cluster is named atlas-prod.", kind="fact", scope="project:atlas").id
    memory.start_task("Repair the cluster", scope="project:atlas")
    answer = memory.search("What is the atlas cluster named?")
    assert [hit.memory.id for hit in answer.hits] == [id]
    again = memory.search("name of the atlas cluster", prefetch=True)
    assert again.hits
    uses = memory.store.uses(memory.space, id)
    assert len({use.task_id for use in uses}) == len(uses) == 1


def test_a_search_can_name_its_task(memory: Afterwit) -> None:
    id = memory.write("The atlas cluster is named atlas-prod.", kind="fact", scope="project:atlas").id
    task = memory.start_task("Repair", scope="project:atlas").task
    elsewhere = _other(memory, "elsewhere")
    assert not elsewhere.search("What is the atlas cluster named?").hits
    assert elsewhere.search("What is the atlas cluster named?", task_id=task.id).hits
    assert len(memory.store.uses(memory.space, id)) == 1
    with pytest.raises(NotFound):
        elsewhere.search("What is the atlas cluster named?", task_id=NEVER)


def test_a_share_of_lessons_is_withheld_and_what_the_user_says_never(clock: FixedClock) -> None:
    settings = load_settings(
        environ={},
        overrides={"data_dir": "/nonexistent", "store": "sqlite://", "holdout_share": 0.5, "timezone": "UTC"},
    )
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=clock) as memory:
        rule = memory.write("Start the atlas worker with systemctl.", kind="rule", source="user").id
        lesson = memory.write("The atlas worker needs make migrate first.", kind="lesson", source="review").id
        shown: dict[str, bool] = {}
        for number in range(24):
            session = _other(memory, f"s{number}")
            briefing = session.start_task("Start the atlas worker")
            assert [hit.memory.id for hit in briefing.rules] == [rule]
            shown[briefing.task.id] = lesson in [hit.memory.id for hit in briefing.cases]
            session.finish_task(outcome="success")
        uses = memory.store.uses(memory.space, lesson)
        assert {use.task_id: not use.withheld for use in uses} == shown
        assert 0 < sum(shown.values()) < len(shown)
        assert memory.get(lesson).use_count == sum(shown.values())
