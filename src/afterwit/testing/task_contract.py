"""The part of the store contract that is about tasks, their steps and what they used."""
# ruff: noqa: S101  a test asserts

from dataclasses import replace
from datetime import timedelta

import pytest

from afterwit.errors import Conflict, InvalidInput, NotFound
from afterwit.records import (
    CloseTask,
    CreditUse,
    EraseTask,
    LogStep,
    MarkReviewed,
    OpenTask,
    RecordUse,
    Step,
    Task,
    TaskStatus,
    Use,
)
from afterwit.storage import Store
from afterwit.testing.samples import NOW, SPACE, fails, memory, memory_id, put, put_memories

LATER = NOW + timedelta(hours=1)


def _task(id: str = "t", minutes: int = 0, session: str = "") -> Task:
    return Task(id, SPACE, "goal 目标", NOW + timedelta(minutes=minutes), session=session)


class TaskContract:
    """Working memory and the credit that a task's end gives."""

    def test_a_task_takes_steps_in_order_until_it_ends(self, store: Store) -> None:
        task = Task(
            "t",
            SPACE,
            "goal 目标",
            NOW,
            "project:x",
            "coder",
            ("no network",),
            session="s1",
            environment={"os": "linux", "tools": {"python": "3.12"}},
            step_limit=7,
            deadline=LATER,
        )
        put(store, OpenTask(task))
        steps = [Step(f"s{place}", SPACE, "t", 99, "tool_call", LATER, "in", ok=True) for place in range(3)]
        for step in steps:
            put(store, LogStep(step))
        assert store.steps(SPACE, "t") == [replace(step, position=place) for place, step in enumerate(steps)]
        assert (store.count_steps(SPACE, "t"), store.count_steps(SPACE, "none")) == (3, 0)
        assert store.step_tasks(SPACE, ["s2", "none", "s0"]) == {"s0": "t", "s2": "t"}
        assert (store.step_tasks(SPACE, []), store.step_tasks("elsewhere", ["s0"])) == ({}, {})
        much_later = LATER + timedelta(days=1)
        put(store, LogStep(Step("s3", SPACE, "t", 0, "note", LATER), deadline=much_later))
        task = replace(task, deadline=much_later)
        assert store.task(SPACE, "t") == task
        put(store, CloseTask("t", TaskStatus.SUCCEEDED, "done", LATER))
        ended = replace(task, status=TaskStatus.SUCCEEDED, outcome="done", ended_at=LATER)
        assert (store.task(SPACE, "t"), store.tasks(SPACE)) == (ended, [ended])
        with fails(Conflict):
            put(store, LogStep(Step("late", SPACE, "t", 0, "tool_call", LATER)))
        with fails(Conflict):
            put(store, CloseTask("t", TaskStatus.FAILED, "", LATER))

    def test_tasks_are_found_by_status_session_and_review(self, store: Store) -> None:
        put(store, *(OpenTask(_task(f"t{n}", n, session)) for n, session in enumerate(("a", "a", "b", ""))))
        put(store, CloseTask("t0", TaskStatus.FAILED, "", LATER), CloseTask("t2", TaskStatus.SUCCEEDED, "", LATER))

        def found(**keys: object) -> list[str]:
            return [task.id for task in store.tasks(SPACE, **keys)]  # pyright: ignore[reportArgumentType]

        assert found() == ["t0", "t1", "t2", "t3"]
        assert found(statuses=(TaskStatus.OPEN,)) == ["t1", "t3"]
        assert found(statuses=(TaskStatus.OPEN, TaskStatus.FAILED), session="a") == ["t0", "t1"]
        assert found(unreviewed=True) == ["t0", "t2"]
        put(store, MarkReviewed("t0", None, "the model did not answer"))
        assert found(unreviewed=True) == ["t0", "t2"]
        put(store, MarkReviewed("t0", LATER))
        assert found(unreviewed=True) == ["t2"]
        reviewed = store.task(SPACE, "t0")
        assert reviewed is not None
        assert (reviewed.reviewed_at, reviewed.review_error) == (LATER, "")

    def test_only_an_ended_task_is_looked_back_at(self, store: Store) -> None:
        put(store, OpenTask(_task()))
        with fails(Conflict):
            put(store, MarkReviewed("t", LATER))
        with fails(NotFound):
            put(store, MarkReviewed("none", LATER))

    def test_uses_are_found_by_memory_and_by_task(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2))
        uses = [
            Use("u1", SPACE, memory_id(1), NOW, "t1"),
            Use("u2", SPACE, memory_id(2), LATER, "t1", cited=True),
            Use("u3", SPACE, memory_id(1), LATER, "t2", withheld=True),
        ]
        put(store, *map(RecordUse, uses))
        assert store.uses(SPACE, memory_id(1)) == [uses[0], uses[2]]
        assert store.uses(SPACE, task_id="t1") == uses[:2]
        assert store.uses(SPACE, memory_id(2), task_id="t2") == []
        with fails(InvalidInput):
            store.uses(SPACE)

    def test_what_was_withheld_was_not_used(self, store: Store) -> None:
        put_memories(store, memory(1))
        put(store, RecordUse(Use("u1", SPACE, memory_id(1), NOW, "t1", withheld=True)))
        kept = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        assert (kept.use_count, kept.last_used_at) == (0, None)

    def test_credit_adds_up_and_replaces_what_the_same_use_gave(self, store: Store) -> None:
        put_memories(store, memory(1))
        put(store, *(RecordUse(Use(f"u{n}", SPACE, memory_id(1), NOW, f"t{n}")) for n in range(3)))

        def sums() -> tuple[float, float]:
            row = store.get(SPACE, [memory_id(1)])[memory_id(1)]
            return row.helped, row.harmed

        put(store, CreditUse("u0", 1.0, cited=True), CreditUse("u1", 0.25), CreditUse("u2", -0.5))
        assert sums() == (1.25, 0.5)
        put(store, CreditUse("u0", -1.0))
        assert sums() == (0.25, 1.5)
        put(store, CreditUse("u0", 0.0), CreditUse("u1", 0.0), CreditUse("u2", 0.0))
        assert sums() == (0.0, 0.0)
        assert [use.credit for use in store.uses(SPACE, memory_id(1))] == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize("credit", [-1.01, 1.5, float("nan")])
    def test_credit_outside_its_range_is_refused(self, store: Store, credit: float) -> None:
        put_memories(store, memory(1))
        put(store, RecordUse(Use("u", SPACE, memory_id(1), NOW, "t")))
        with fails(InvalidInput):
            put(store, CreditUse("u", credit))
        with fails(NotFound):
            put(store, CreditUse("none", 1.0))

    def test_an_erased_task_takes_its_steps_and_uses_along(self, store: Store) -> None:
        put_memories(store, memory(1))
        put(store, OpenTask(_task("t1")), OpenTask(_task("t2")))
        put(store, *(LogStep(Step(f"s{id}", SPACE, id, 0, "bash", NOW, "ls")) for id in ("t1", "t2")))
        put(store, *(RecordUse(Use(f"u{id}", SPACE, memory_id(1), NOW, id)) for id in ("t1", "t2")))
        put(store, EraseTask("t1", "asked for"))
        assert [task.id for task in store.tasks(SPACE)] == ["t2"]
        assert (store.steps(SPACE, "t1"), len(store.steps(SPACE, "t2"))) == ([], 1)
        assert [use.task_id for use in store.uses(SPACE, memory_id(1))] == ["t2"]
        with fails(NotFound):
            put(store, EraseTask("t1"))
