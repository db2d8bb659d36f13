"""What language models take: kept, counted by days, and kept within the budget."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from afterwit.errors import ProviderError, StorageError, TooManyRequests
from afterwit.llm.metered import MeteredLLM
from afterwit.prompts import Prompt
from afterwit.storage import LLMUse, Store, open_store
from afterwit.testing import FixedClock, ScriptedLLM

PROMPT = Prompt("review", 1, "Say yes.", "Is it so?")
START = datetime(2026, 3, 1, 22, tzinfo=UTC)
DAY = timedelta(days=1)
MOST = 50


class Yes(BaseModel):
    """What is asked for."""

    yes: bool


GOOD = {"yes": True}


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store("sqlite://")
    yield store
    store.close()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


def metered(store: Store, clock: FixedClock, script: list[Any], budget: int = 1000, space: str = "a") -> MeteredLLM:
    return MeteredLLM(ScriptedLLM(script), store, space, budget_tokens=budget, clock=clock)


def ask(llm: MeteredLLM) -> Yes:
    return llm.answer(PROMPT, schema=Yes, max_tokens=MOST, timeout_s=1).output


def kept(store: Store, space: str = "a") -> list[LLMUse]:
    return store.usage(space, START - DAY, START + 3 * DAY)


def test_every_call_is_kept_with_what_it_took(store: Store, clock: FixedClock) -> None:
    assert ask(metered(store, clock, [GOOD])).yes
    (use,) = kept(store)
    assert (use.at, use.purpose, use.model, use.error) == (START, "review/1", "scripted", "")
    assert use.input_tokens > 0
    assert use.output_tokens > 0


def test_failed_calls_count_what_they_took_all_the_same(store: Store, clock: FixedClock) -> None:
    down = ProviderError("It is down.", reason="unreachable")
    wrong = ProviderError("It raves.", reason="invalid", tokens=(30, 20))
    late = ProviderError("It is late.", reason="timeout")
    llm = metered(store, clock, [down, wrong, late])
    for _ in range(3):
        with pytest.raises(ProviderError):
            ask(llm)
    assert [(use.error, use.input_tokens > 0, use.output_tokens) for use in kept(store)] == [
        ("unreachable", False, 0),
        ("invalid", True, 20),
        ("timeout", True, 0),
    ]


def test_nothing_of_what_was_said_is_kept(store: Store, clock: FixedClock) -> None:
    with pytest.raises(ProviderError):
        ask(metered(store, clock, [ProviderError("It said: the secret.", reason="invalid")]))
    assert "secret" not in repr(kept(store))


def test_no_call_begins_that_might_go_over_the_budget(store: Store, clock: FixedClock) -> None:
    store.record_usage("a", LLMUse(START, "review/1", "m", 600, 345))
    llm = metered(store, clock, [GOOD])
    with pytest.raises(TooManyRequests, match="945 of 1,000 tokens are used") as caught:
        ask(llm)
    assert caught.value.next_step == "Wait until 2026-03-02 (UTC), or raise llm_budget_tokens."
    assert len(kept(store)) == 1
    clock.advance(hours=3)
    assert ask(llm).yes, "another day, another budget"


def test_the_budget_is_of_one_space_and_of_all_processes(store: Store, clock: FixedClock) -> None:
    budget = 120
    assert ask(metered(store, clock, [GOOD], budget)).yes
    assert ask(metered(store, clock, [GOOD], budget, space="b")).yes
    other = metered(store, clock, [GOOD] * 9, budget)
    with pytest.raises(TooManyRequests):
        for _ in range(9):
            ask(other)
    assert other.used_tokens(clock()) <= budget
    assert len(kept(store)) > 1


def test_calls_that_cannot_be_kept_still_count_and_are_kept_later(
    tmp_path: Path, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    path = f"sqlite:///{tmp_path}/memory.db"
    store, other = open_store(path, lock_wait_s=0.1), open_store(path)
    llm = metered(store, clock, [GOOD, GOOD])
    with other.transaction("b", now=START, actor="test"), caplog.at_level(logging.WARNING):
        assert ask(llm).yes
        used = llm.used_tokens(START)
        assert used > 0
        assert "not kept yet" in caplog.text
        assert kept(store) == []
    assert ask(llm).yes
    assert len(kept(store)) == 2
    assert llm.used_tokens(START) == 2 * used
    store.close()
    other.close()


def test_store_that_cannot_be_read_stops_a_call_before_it_costs(store: Store, clock: FixedClock) -> None:
    llm = metered(store, clock, [GOOD])
    store.close()
    with pytest.raises(StorageError):
        ask(llm)
