"""Answers kept for a moment: asked ahead or again, a question is a look-up that tells what is so now."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as within
from hypothesis import strategies as st
from numpy.typing import NDArray

from afterwit.config import load_settings
from afterwit.embedding import CachingEmbedder, HashEmbedder
from afterwit.embedding.scale import scale_of
from afterwit.errors import ProviderError, StorageError
from afterwit.recall import SearchAnswer
from afterwit.records import Trust
from afterwit.service import Afterwit, Writer
from afterwit.service.answers import Answers
from afterwit.storage import Store, open_store
from afterwit.testing import FixedClock

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
USER = Writer("user", Trust.USER, "cli")


class Counting(HashEmbedder):
    """Counts how often it is asked: once for each search that is carried out."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        return super().embed(texts)


@pytest.fixture(autouse=True)
def _scale() -> None:
    """What is measured once per model and process is measured."""
    scale_of(HashEmbedder())


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


def make(store: Store, clock: FixedClock, *, space: str = "default", embedder: HashEmbedder | None = None) -> Afterwit:
    settings = load_settings(environ={}, overrides={"space": space, "timezone": "Asia/Shanghai"})
    return Afterwit(store, embedder or Counting(), settings=settings, writer=USER, clock=clock)


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    made = make(open_store("sqlite://"), clock)
    made.write("The user lives in Hangzhou.")
    made.write("The deploy needs the key E4711.", kind="lesson")
    yield made
    made.close()


def carried_out(memory: Afterwit, query: str = "Where does the user live?", **options: Any) -> int:
    """How many searches a call to `search` carried out: 0 or 1."""
    embedder = memory.embedder
    assert isinstance(embedder, Counting)
    before = embedder.calls
    memory.search(query, **options)
    return embedder.calls - before


def test_a_question_asked_ahead_is_a_look_up(memory: Afterwit, clock: FixedClock) -> None:
    assert carried_out(memory, prefetch=True) == 1
    clock.advance(seconds=20)
    assert carried_out(memory) == 0
    assert carried_out(memory.as_writer(Writer("other"))) == 0, "all writers of a process share what is kept"
    assert [hit.memory.summary for hit in memory.search("Where does the user live?").hits] == [
        "The user lives in Hangzhou."
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 1},
        {"budget_tokens": 50},
        {"role": "coder"},
        {"scopes": ["project:a"]},
        {"purpose": "action"},
        {"kinds": ["fact"]},
        {"as_of": START},
        {"as_of": START - timedelta(days=1)},
        {"known_at": START},
        {"since": START - timedelta(days=1)},
        {"task_context": "move house"},
        {"constraints": ["by train"]},
        {"exhaustive": True},
    ],
    ids=str,
)
def test_another_question_is_not(memory: Afterwit, clock: FixedClock, options: dict[str, Any]) -> None:
    memory.search("Where does the user live?")
    clock.advance(seconds=1)
    assert carried_out(memory, **options) == 1
    assert carried_out(memory, **options) == 0
    assert carried_out(memory) == 0


def test_another_space_is_not(clock: FixedClock) -> None:
    store = open_store("sqlite://")
    one, two = make(store, clock, space="one"), make(store, clock, space="two")
    one.write("The user lives in Hangzhou.")
    assert one.search("Where does the user live?").hits
    assert two.search("Where does the user live?").hits == ()
    store.close()


WRITES: dict[str, Callable[[Afterwit, str], object]] = {
    "write": lambda memory, id: memory.write("The user lives in Shanghai."),
    "update": lambda memory, id: memory.update(id, verdict="refute"),
    "forget": lambda memory, id: memory.forget(id),
    "erase": lambda memory, id: memory.forget(id, erase=True),
    "use": lambda memory, id: memory.note_use([id]),
    "vectors": lambda memory, id: memory.store.drop_vectors(memory.space, HashEmbedder().model),
}


@pytest.mark.parametrize("name", list(WRITES))
def test_any_write_of_any_process_ends_what_is_kept(name: str, clock: FixedClock, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    here, there = make(open_store(url), clock), make(open_store(url), clock)
    id = here.write("The user lives in Hangzhou.").id
    here.search("Where does the user live?")
    assert carried_out(here) == 0
    WRITES[name](there, id)
    assert carried_out(here) == 1
    here.close()
    there.close()


def test_a_write_to_another_space_ends_nothing(memory: Afterwit, clock: FixedClock) -> None:
    memory.search("Where does the user live?")
    make(memory.store, clock, space="other").write("The user lives in Shanghai.")
    assert carried_out(memory) == 0


def test_an_answer_is_kept_for_a_minute(memory: Afterwit, clock: FixedClock) -> None:
    memory.search("Where does the user live?")
    clock.advance(seconds=59)
    assert carried_out(memory) == 0
    clock.advance(seconds=1)
    assert carried_out(memory) == 1
    clock.advance(seconds=-30)
    assert carried_out(memory) == 1, "the clock was put back"


def test_an_answer_is_not_kept_past_the_moment_at_which_something_begins_or_ends(
    memory: Afterwit, clock: FixedClock
) -> None:
    memory.write("The gate code is 1111.", kind="fact", expires_at=START + timedelta(seconds=10))
    memory.write("The gate code is 2222.", kind="fact", valid_from=START + timedelta(seconds=20))

    def codes() -> list[tuple[str, bool]]:
        """Each with whether it is said not to hold yet."""
        hits = memory.search("What is the gate code?").hits
        return [(hit.memory.summary[-5:-1], any("before" in warning for warning in hit.warnings)) for hit in hits]

    seen = []
    for _ in range(5):
        seen.append(codes())
        clock.advance(seconds=5)
    assert seen == [[("1111", False)]] * 2 + [[("2222", True)]] * 2 + [[("2222", False)]]


def test_a_time_in_the_question_is_understood_anew(memory: Afterwit, clock: FixedClock) -> None:
    clock.set(datetime(2026, 11, 30, 15, 59, 50, tzinfo=UTC))
    memory.search("What did the user do yesterday?")
    clock.advance(seconds=5)
    assert carried_out(memory, "What did the user do yesterday?") == 0
    clock.advance(seconds=10)
    assert carried_out(memory, "What did the user do yesterday?") == 1, "it is another day in Shanghai"


def test_a_search_that_failed_in_part_is_not_kept(clock: FixedClock) -> None:
    class Broken(Counting):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            super().embed(texts)
            raise ProviderError("The model is out.")

    memory = make(open_store("sqlite://"), clock, embedder=Broken())
    assert [carried_out(memory), carried_out(memory)] == [1, 1]
    memory.close()


def test_nobody_changes_what_another_is_given(memory: Afterwit) -> None:
    first = memory.search("Where does the user live?")
    expected = memory.search("Where does the user live?")
    for answer in (first, expected):
        before = memory.search("Where does the user live?")
        answer.hits[0].why.clear()  # type: ignore[attr-defined]
        answer.hits[0].memory.structured["value"] = "Atlantis"  # type: ignore[index]
        assert memory.search("Where does the user live?") == before
        assert before.hits[0].memory.structured["value"] == "Hangzhou"


def test_what_is_kept_is_bounded(clock: FixedClock, memory: Afterwit) -> None:
    answers = Answers(entries=3, weight=30_000)
    question = _question(memory)
    answer = memory.search(question.query)
    for number in range(5):
        answers.keep(replace(question, query=f"q{number}"), 1, answer, None)
    kept = [answers.find(replace(question, query=f"q{number}"), 1) is not None for number in range(5)]
    assert kept == [False, False, True, True, True]
    heavy = replace(answer, hits=(replace(answer.hits[0], memory=replace(answer.hits[0].memory, raw="x" * 20_000)),))
    answers.keep(replace(question, query="heavy"), 1, heavy, None)
    kept = [answers.find(replace(question, query=name), 1) is not None for name in ("q2", "q3", "q4", "heavy")]
    assert kept == [False, False, True, True]
    answers.clear()
    assert answers.find(replace(question, query="heavy"), 1) is None


def _question(memory: Afterwit) -> Any:
    from afterwit.service.options import read_question  # noqa: PLC0415

    return read_question("Where does the user live?", {}, settings=memory.settings, now=START)


def test_a_closed_store_gives_no_kept_answers(clock: FixedClock) -> None:
    memory = make(open_store("sqlite://"), clock)
    memory.search("Where does the user live?")
    memory.close()
    with pytest.raises(StorageError):
        memory.search("Where does the user live?")


def test_many_threads_get_the_same_answer(memory: Afterwit) -> None:
    expected = memory.search("Where does the user live?")
    seen: list[SearchAnswer] = []

    def ask() -> None:
        for _ in range(20):
            seen.append(memory.search("Where does the user live?"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 80


def test_a_query_with_a_task_is_embedded_once() -> None:
    inner = Counting()
    embedder = CachingEmbedder(inner)
    both = embedder.embed(["query", "task"])
    assert np.array_equal(both, HashEmbedder().embed(["query", "task"]))
    assert np.array_equal(embedder.embed(["other", "task"])[1], both[1])
    assert np.array_equal(embedder.embed(["task", "task"]), both[[1, 1]])
    assert np.array_equal(embedder.embed(["query"]), both[:1])
    assert inner.calls == 2
    both[:] = 0
    assert embedder.embed(["query"]).any()


# --- kept answers are the fresh ones ---------------------------------------------------------------

TEXTS = st.sampled_from(
    [
        "The user lives in Hangzhou.",
        "The user lives in Shanghai.",
        "用户对花生过敏。",
        "The gate code is 4711.",
        "The user does not like tea.",
    ]
)
QUERIES = st.sampled_from(["Where does the user live?", "gate code", "用户对什么过敏？", "what happened today"])
SCOPES = st.sampled_from(["global", "project:a", "project:b"])
ROLES = st.sampled_from(["", "coder"])
STEPS = st.one_of(
    st.tuples(
        st.just("write"),
        TEXTS,
        st.fixed_dictionaries(
            {"scope": SCOPES, "role": ROLES},
            optional={
                "expires_at": st.sampled_from([20, 100]).map(lambda s: START + timedelta(seconds=s)),
                "valid_from": st.sampled_from([-50, 10]).map(lambda s: START + timedelta(seconds=s)),
                "source": st.sampled_from(["agent", "user"]),
            },
        ),
    ),
    st.tuples(
        st.just("search"),
        QUERIES,
        st.fixed_dictionaries(
            {},
            optional={
                "scopes": st.lists(SCOPES, max_size=2),
                "role": ROLES,
                "purpose": st.sampled_from(["answer", "action"]),
                "top_k": st.sampled_from([1, 3]),
                "as_of": st.just(START - timedelta(seconds=30)),
                "prefetch": st.booleans(),
            },
        ),
    ),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 7.0, 31.0]), st.just({})),
    st.tuples(st.just("forget"), st.integers(0, 3), st.fixed_dictionaries({"erase": st.booleans()})),
)


def plain(answer: SearchAnswer) -> tuple[Any, ...]:
    """An answer without its scores, which fall with age from moment to moment."""
    hits = [(hit.memory, hit.warnings, round(hit.relevance, 6)) for hit in answer.hits]
    return hits, answer.message, answer.degraded, answer.other_scopes, answer.considered, answer.tokens


@within(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.tuples(st.integers(0, 2), STEPS), min_size=5, max_size=25))
def test_kept_answers_equal_fresh_ones(steps: list[tuple[int, tuple[str, Any, dict[str, Any]]]]) -> None:
    clock, store = FixedClock(START), open_store("sqlite://")
    doors = [make(store, clock), make(store, clock), make(store, clock, space="other")]
    for door, (deed, value, options) in steps:
        memory = doors[door]
        match deed:
            case "write":
                memory.write(value, **options)
            case "search":
                fresh = make(store, clock, space=memory.space).search(value, **options)
                assert plain(memory.search(value, **options)) == plain(fresh)
                assert plain(memory.search(value, **options)) == plain(fresh)
            case "wait":
                clock.advance(seconds=value)
            case _:
                rows = memory.list(all_states=True)
                if value < len(rows):
                    memory.forget(rows[value].id, **options)
    store.close()
