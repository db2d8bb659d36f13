"""What a server does while nobody asks: tasks end, reviews are made up for, rules are made; idling costs nothing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import ProviderError, StorageError
from afterwit.llm import LLM
from afterwit.records import Kind, TaskStatus
from afterwit.serve.background import Background
from afterwit.serve.opening import Opening
from afterwit.service import Afterwit, Writer
from afterwit.service.upkeep import BETWEEN_CONSOLIDATIONS, MOST_FAILURES, MOST_REVIEWS, WORK, Progress, Upkept
from afterwit.storage import open_store
from afterwit.testing import FixedClock, ScriptedLLM

FIX: list[Any] = [
    {"action": "bash", "input": "npm install", "output": "npm ERR! code ERESOLVE", "ok": False},
    {"action": "bash", "input": "npm install --legacy-peer-deps", "output": "added 312 packages", "ok": True},
]
DOWN = ProviderError("The language model cannot be reached.", reason="unreachable")
NOTHING = {"lessons": []}
PATIENCE_S = 30.0


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def make(clock: FixedClock) -> Iterator[Callable[[LLM | None], Afterwit]]:
    with ExitStack() as stack:

        def made(llm: LLM | None) -> Afterwit:
            settings = load_settings(environ={}, overrides={"timezone": "UTC"})
            return stack.enter_context(
                Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=clock, llm=llm)
            )

        yield made


@pytest.fixture
def memory(make: Callable[[LLM | None], Afterwit]) -> Afterwit:
    return make(None)


def work(memory: Afterwit, session: str, **options: Any) -> str:
    seen = memory.as_writer(Writer("agent", memory.writer.trust, session))
    task = seen.start_task(f"Install the dependencies for {session}", **options).task
    seen.log_steps(FIX)
    return task.id


def finished(memory: Afterwit, clock: FixedClock, session: str) -> str:
    id = work(memory, session)
    memory.finish_task(id, outcome="success")
    clock.advance(milliseconds=1)
    return id


def settle(memory: Afterwit, progress: Progress) -> None:
    """Rounds until one finds nothing to look at."""
    for _ in range(5):
        if memory.upkeep(progress) == Upkept():
            return
    raise AssertionError("every round finds something")


def test_a_task_whose_time_is_over_ends_and_teaches_without_anybody_asking(memory: Afterwit, clock: FixedClock) -> None:
    task, progress = work(memory, "s1", timeout_s=600), Progress()
    settle(memory, progress)
    assert memory.task(task).status is TaskStatus.OPEN
    clock.advance(seconds=599)
    assert memory.upkeep(progress) == Upkept()
    clock.advance(seconds=1)
    assert memory.upkeep(progress).ended == (task,)
    ended = memory.task(task)
    assert (ended.status, ended.outcome) == (TaskStatus.ABANDONED, "time over")
    assert len(memory.list(kinds=["lesson"])) == 1


def test_an_idle_space_costs_one_small_read(memory: Afterwit, clock: FixedClock) -> None:
    finished(memory, clock, "s1")
    progress = Progress()
    settle(memory, progress)
    number, asked = memory.store.change_number(memory.space), []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(store, name)

    store = memory.store
    memory.store = Watched()  # type: ignore[assignment]
    clock.advance(days=1)
    settle(memory, progress)
    asked.clear()
    clock.advance(days=30)
    assert memory.upkeep(progress) == Upkept()
    assert asked == ["change_number"]
    memory.store = store
    assert store.change_number(memory.space) == number


def test_what_waits_is_reviewed_a_few_at_a_time(make: Callable[[LLM | None], Afterwit], clock: FixedClock) -> None:
    llm = ScriptedLLM([NOTHING] * (MOST_REVIEWS + 2))
    memory, progress = make(llm), Progress()
    tasks = [finished(memory, clock, f"s{number}") for number in range(MOST_REVIEWS + 2)]
    assert llm.prompts == []
    assert memory.upkeep(progress).reviewed == tuple(tasks[:MOST_REVIEWS])
    assert memory.upkeep(progress).reviewed == tuple(tasks[MOST_REVIEWS:])
    settle(memory, progress)
    assert memory.store.tasks(memory.space, unreviewed=True) == []


def test_a_model_that_is_down_is_asked_less_and_less_and_the_others_go_first(
    make: Callable[[LLM | None], Afterwit], clock: FixedClock
) -> None:
    llm = ScriptedLLM([DOWN, DOWN, NOTHING, NOTHING])
    memory, progress = make(llm), Progress()
    first, second = finished(memory, clock, "s1"), finished(memory, clock, "s2")
    assert [task for task, _ in memory.upkeep(progress).failed] == [first]
    assert memory.upkeep(progress).failed == ()
    clock.advance(minutes=1)
    assert [task for task, _ in memory.upkeep(progress).failed] == [second]
    clock.advance(minutes=1)
    memory.upkeep(progress)
    assert len(llm.prompts) == 2
    clock.advance(minutes=1)
    assert memory.upkeep(progress).reviewed == (first, second)


def test_a_task_that_always_fails_is_left_to_people(make: Callable[[LLM | None], Afterwit], clock: FixedClock) -> None:
    llm = ScriptedLLM([DOWN] * MOST_FAILURES)
    memory, progress = make(llm), Progress()
    task = finished(memory, clock, "s1")
    for _ in range(3 * MOST_FAILURES):
        memory.upkeep(progress)
        clock.advance(hours=1)
    assert len(llm.prompts) == MOST_FAILURES
    (waiting,) = memory.store.tasks(memory.space, unreviewed=True)
    assert waiting.id == task and "cannot be reached" in waiting.review_error


def test_rules_are_made_when_something_changed_but_not_at_every_change(memory: Afterwit, clock: FixedClock) -> None:
    progress = Progress()
    settle(memory, progress)
    for number in range(3):
        finished(memory, clock, f"s{number}")
    for rule in memory.list(kinds=["rule"]):
        memory.forget(rule.id, erase=True)
    made = memory.upkeep(progress)
    assert (made.looked, made.consolidated) == (True, 0)
    clock.advance(seconds=BETWEEN_CONSOLIDATIONS.total_seconds())
    assert memory.upkeep(progress).consolidated == 1
    assert [row.kind for row in memory.list(kinds=["rule"])] == [Kind.RULE]


def test_one_process_at_a_time_does_it(memory: Afterwit, clock: FixedClock) -> None:
    task = work(memory, "s1", timeout_s=1)
    clock.advance(minutes=1)
    assert memory.store.take_lease(memory.space, WORK, holder="another", now=clock(), lasts_s=60)
    progress = Progress()
    assert memory.upkeep(progress) == Upkept()
    memory.store.end_lease(memory.space, WORK, holder="another")
    assert memory.upkeep(progress).ended == (task,)
    assert memory.store.take_lease(memory.space, WORK, holder="another", now=clock(), lasts_s=60)


def test_a_round_ends_between_two_pieces_of_work_when_told_to(memory: Afterwit, clock: FixedClock) -> None:
    work(memory, "s1", timeout_s=1)
    clock.advance(minutes=1)
    done = memory.upkeep(Progress(), stopped=lambda: True)
    assert (done.ended, done.reviewed, done.consolidated) == ((), (), 0)


# --- the thread -------------------------------------------------------------------------------------


class Fickle(Afterwit):
    """Fails its first two rounds."""

    rounds = 0
    went_on = threading.Event()

    def upkeep(self, progress: Progress, *, stopped: Callable[[], bool] = lambda: False) -> Upkept:
        type(self).rounds += 1
        if type(self).rounds == 1:
            raise StorageError("The database is busy.")
        if type(self).rounds == 2:
            raise ZeroDivisionError
        self.went_on.set()
        return super().upkeep(progress, stopped=stopped)


def test_errors_are_logged_and_never_end_the_thread(memory: Afterwit, caplog: pytest.LogCaptureFixture) -> None:
    memory.__class__ = Fickle
    with Background(memory, every_s=0.01):
        assert Fickle.went_on.wait(PATIENCE_S)
    assert "The database is busy." in caplog.text and "ZeroDivisionError" in caplog.text


def test_the_thread_ends_tasks_as_the_server_and_stops_at_once(memory: Afterwit, clock: FixedClock) -> None:
    task = work(memory, "s1", timeout_s=1)
    clock.advance(minutes=1)
    background = Background(memory, every_s=0.01)
    background.start()
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if memory.task(task).status is not TaskStatus.OPEN:
            break
        pause.wait(0.02)
    background.close()
    assert memory.task(task).outcome == "time over"
    (lesson,) = memory.list(kinds=["lesson"])
    assert memory.explain(lesson.id).events[0].actor == "server"
    assert "afterwit-upkeep" not in [thread.name for thread in threading.enumerate()]


def test_a_server_that_has_just_opened_does_not_wait_for_its_first_round_to_close(memory: Afterwit) -> None:
    opening = Opening(lambda: memory, upkeep=True)
    opening.get()
    assert "afterwit-upkeep" in [thread.name for thread in threading.enumerate()]
    opening.close()
    assert "afterwit-upkeep" not in [thread.name for thread in threading.enumerate()]
