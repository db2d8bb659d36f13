"""`AfterwitStore` keeps what LangGraph documents of a `BaseStore`, checked beside LangGraph's own store, and what
Afterwit promises of memories."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.installed import need

need("langgraph")

from langgraph.store.base import (  # noqa: E402  after the check that it is there
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore  # noqa: E402

from afterwit import Afterwit, InvalidInput, Status, load_settings  # noqa: E402
from afterwit.integrations.langgraph import AfterwitStore  # noqa: E402
from afterwit.storage import open_store  # noqa: E402
from afterwit.testing import FixedClock, HashEmbedder  # noqa: E402

Found = list[tuple[tuple[str, ...], str]]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    with Afterwit(open_store("sqlite://"), HashEmbedder(), settings=load_settings(environ={}), clock=clock) as opened:
        yield opened


@pytest.fixture
def store(memory: Afterwit) -> AfterwitStore:
    return AfterwitStore(memory)


@pytest.fixture(params=["afterwit", "langgraph"])
def either(request: pytest.FixtureRequest, memory: Afterwit) -> BaseStore:
    return AfterwitStore(memory) if request.param == "afterwit" else InMemoryStore()


def addresses(items: list[Any]) -> Found:
    return sorted((item.namespace, item.key) for item in items)


# --- what LangGraph documents -----------------------------------------------------------------------


def test_a_value_comes_back_as_it_was_put(either: BaseStore) -> None:
    value = {"text": "noodles", "n": 1, "share": 0.5, "none": None, "list": [1, {"deep": "值"}], "yes": True}
    either.put(("users", "ann"), "food", value)
    item = either.get(("users", "ann"), "food")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("users", "ann"), "food", value)
    assert item.created_at.tzinfo is not None
    assert either.get(("users", "ann"), "drink") is None
    assert either.get(("users",), "food") is None


def test_a_second_put_replaces_and_a_deletion_removes(either: BaseStore) -> None:
    either.put(("users", "ann"), "food", {"likes": "noodles"})
    either.put(("users", "ann"), "food", {"likes": "rice"})
    found = either.get(("users", "ann"), "food")
    assert found is not None
    assert found.value == {"likes": "rice"}
    assert len(either.search(("users",))) == 1
    either.delete(("users", "ann"), "food")
    either.delete(("users", "ann"), "was never there")
    assert either.get(("users", "ann"), "food") is None
    assert either.search(("users",)) == []
    either.put(("users", "ann"), "food", {"likes": "noodles"})
    assert len(either.search(("users",))) == 1


#: Labels and keys that fold to the same words are different ones.
ALIKE: Found = [
    (("Users", "a b"), "K"),
    (("users", "a b"), "K"),
    (("users", "a b"), "k"),
    (("users", "a_b"), "k"),
    (("users", "a b "), "k"),
    (("users", "a b ", "x"), "#"),
    (("users", "a b", "x"), "kv"),
    (("users2",), "１"),
    (("users2",), "1"),
]


def test_addresses_that_look_alike_stay_apart(either: BaseStore) -> None:
    for number, (namespace, key) in enumerate(ALIKE):
        either.put(namespace, key, {"n": number})
    for number, (namespace, key) in enumerate(ALIKE):
        item = either.get(namespace, key)
        assert item is not None
        assert item.value == {"n": number}
    assert addresses(either.search((), limit=100)) == sorted(ALIKE)
    for prefix in (("users",), ("users", "a b"), ("users", "a b "), ("Users",)):
        below = sorted(each for each in ALIKE if each[0][: len(prefix)] == prefix)
        assert addresses(either.search(prefix, limit=100)) == below
    assert either.search(("user",)) == []


DOCUMENTS: dict[str, dict[str, Any]] = {
    "a": {"type": "report", "score": 5, "by": {"name": "Ann", "team": "x"}, "tags": ["p", "q"]},
    "b": {"type": "report", "score": 4.99, "day": "2026-01-02"},
    "c": {"type": "note", "score": 3, "day": "2025-01-02"},
}


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        ({"type": "report"}, "ab"),
        ({"type": {"$eq": "note"}}, "c"),
        ({"type": {"$ne": "report"}}, "c"),
        ({"score": {"$gt": 4.99}}, "a"),
        ({"score": {"$gte": 4.99}}, "ab"),
        ({"score": {"$lt": 4, "$gte": 3}}, "c"),
        ({"score": {"$lte": 4.99}, "type": "report"}, "b"),
        ({"by": {"name": "Ann"}}, "a"),
        ({"tags": ["p", "q"]}, "a"),
        ({"tags": ["p"]}, ""),
        ({"day": None}, "a"),
        ({}, "abc"),
    ],
)
def test_filters(either: BaseStore, wanted: dict[str, Any], keys: str) -> None:
    for key, value in DOCUMENTS.items():
        either.put(("docs",), key, value)
    assert [key for _, key in addresses(either.search(("docs",), filter=wanted))] == list(keys)


def test_pages_follow_one_another(either: BaseStore) -> None:
    for number in range(7):
        either.put(("docs", str(number % 2)), f"d{number}", {"n": number})
    pages = [either.search(("docs",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert len({item.key for page in pages for item in page}) == 7


def test_namespaces_are_listed_as_documented(either: BaseStore) -> None:
    # The example of `BaseStore.list_namespaces`, and its wildcards.
    for namespace in ("abc", "abde", "abdi", "abf", "acf"):
        either.put(tuple(namespace), "k", {"x": 1})
    listed = either.list_namespaces(prefix=("a", "b"), max_depth=3)
    assert sorted(listed) == [tuple("abc"), tuple("abd"), tuple("abf")]
    assert sorted(either.list_namespaces(suffix=("f",))) == [tuple("abf"), tuple("acf")]
    assert sorted(either.list_namespaces(prefix=("a", "*", "f"))) == [tuple("abf"), tuple("acf")]
    assert sorted(either.list_namespaces(prefix=("a", "b"), suffix=("d", "*"))) == [tuple("abde"), tuple("abdi")]
    assert len(either.list_namespaces()) == 5
    assert either.list_namespaces(limit=2, offset=4) == either.list_namespaces()[4:]


def test_a_batch_answers_in_order_from_the_state_before_it(either: BaseStore) -> None:
    either.put(("a",), "k", {"n": 1})
    results: list[Any] = either.batch(
        [
            PutOp(("a",), "k", {"n": 2}),
            GetOp(("a",), "k"),
            PutOp(("b",), "k", {"n": 3}),
            PutOp(("b",), "k", {"n": 4}),
            SearchOp(("b",)),
            ListNamespacesOp((MatchCondition("prefix", ("*",)),)),
        ]
    )
    assert results[0] is None
    assert results[1].value == {"n": 1}
    assert results[2:] == [None, None, [], [("a",)]]
    after: list[Any] = either.batch([GetOp(("a",), "k"), GetOp(("b",), "k")])
    assert [item.value for item in after] == [{"n": 2}, {"n": 4}]


def test_the_same_works_without_waiting(either: BaseStore) -> None:
    async def story() -> list[Any]:
        await either.aput(("a",), "k", {"n": 1})
        await asyncio.gather(*(either.aput(("b",), str(number), {"n": number}) for number in range(5)))
        await either.adelete(("b",), "0")
        return [await either.aget(("a",), "k"), await either.asearch(("b",)), await either.alist_namespaces()]

    item, found, namespaces = asyncio.run(story())
    assert item.value == {"n": 1}
    assert {each.key for each in found} == {"1", "2", "3", "4"}
    assert sorted(namespaces) == [("a",), ("b",)]


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_bad_namespaces_are_refused(either: BaseStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        either.put(namespace, "k", {"x": 1})


def test_items_do_not_expire(either: BaseStore) -> None:
    assert not either.supports_ttl
    with pytest.raises(NotImplementedError):
        either.put(("a",), "k", {"x": 1}, ttl=5)


# --- searching by a question ------------------------------------------------------------------------


@pytest.fixture
def filled(store: AfterwitStore) -> AfterwitStore:
    store.put(("users", "ann"), "food", {"memory": "Ann likes noodles without chili", "sure": 1})
    store.put(("users", "ann"), "tea", {"memory": "Ann drinks green tea in the afternoon", "sure": 2})
    store.put(("users", "bo"), "food", {"memory": "Bo likes noodles with much chili", "sure": 3})
    store.put(("docs",), "guide", {"title": "Noodles", "body": {"text": "Boil noodles for nine minutes."}})
    return store


def test_a_question_finds_what_matters_in_its_namespace(filled: AfterwitStore) -> None:
    found = filled.search(("users", "ann"), query="noodles with or without chili?")
    assert addresses(found) == [(("users", "ann"), "food")]
    assert 0 < (found[0].score or 0) <= 1
    assert {item.namespace for item in filled.search(("users",), query="noodles chili")} == {
        ("users", "ann"),
        ("users", "bo"),
    }
    assert filled.search(("users",), query="carpet colour of the office") == []
    everything = AfterwitStore(filled._memory, only_relevant=False)
    assert len(everything.search(("users",), query="carpet colour of the office", limit=2)) == 2


def test_a_filter_is_part_of_the_question(filled: AfterwitStore) -> None:
    for number in range(60):  # nearer to the question, and more than a search ever returns
        filled.put(("users", f"other{number}"), "food", {"memory": f"noodles chili noodles {number}", "sure": 9})
    found = filled.search(("users",), query="noodles chili", filter={"sure": {"$lt": 3}})
    assert addresses(found) == [(("users", "ann"), "food")]


def test_only_what_is_indexed_is_found_by_a_question(store: AfterwitStore) -> None:
    secret = {"memory": "the gate code is hidden below the mat"}
    store.put(("a",), "hidden", secret, index=False)
    store.put(("a",), "part", {"title": "gate code", "body": [{"text": "mountain lake"}]}, index=["body[*].text"])
    assert store.search(("a",), query="gate code") == []
    assert [item.key for item in store.search(("a",), query="mountain lake")] == ["part"]
    assert addresses(store.search(("a",), filter=secret)) == [(("a",), "hidden")]
    only_titles = AfterwitStore(store._memory, fields=["title"])
    only_titles.put(("b",), "doc", {"title": "mountain lake", "body": "gate code"})
    assert only_titles.search(("b",), query="gate code") == []
    assert len(only_titles.search(("b",), query="mountain lake")) == 1


# --- what Afterwit makes of it ----------------------------------------------------------------------


def test_values_are_neither_refused_nor_merged_nor_cleaned_away(
    store: AfterwitStore, memory: Afterwit, clock: FixedClock
) -> None:
    for key in ("one", "two"):
        store.put(("a",), key, {"memory": "OK, got it, thanks!"})
    store.put(("a",), "empty", {})
    clock.advance(days=2000)
    assert memory.clean().count == 0
    assert addresses(store.search(("a",))) == [(("a",), "empty"), (("a",), "one"), (("a",), "two")]


def test_times_history_and_forgetting_are_those_of_memories(
    store: AfterwitStore, memory: Afterwit, clock: FixedClock
) -> None:
    begun = clock()
    store.put(("users", "ann"), "food", {"memory": "Ann likes noodles"})
    clock.advance(days=1)
    store.put(("users", "ann"), "food", {"memory": "Ann likes rice"})
    clock.advance(days=1)
    store.put(("users", "ann"), "food", {"memory": "Ann likes rice"})
    item = store.get(("users", "ann"), "food")
    assert item is not None
    assert (item.created_at, item.updated_at) == (begun, begun + timedelta(days=2))
    (current,) = memory.list(scopes=["project:users.ann"])
    versions = [version.memory.summary for version in memory.history(current.id)]
    assert versions == ["Ann likes noodles", "Ann likes rice"]  # what is put again is no version
    store.delete(("users", "ann"), "food")
    assert memory.get(current.id).status is Status.FORGOTTEN


def test_values_and_other_memories_do_not_meet(store: AfterwitStore, memory: Afterwit) -> None:
    store.put(("atlas",), "k", {"memory": "Atlas tests need the flag --run-db"})
    memory.write("Atlas deploys need the flag --prod.", kind="fact", scope="project:atlas")
    assert [item.key for item in store.search(("atlas",))] == ["k"]
    assert [item.key for item in store.search(("atlas",), query="Which flag does Atlas need?")] == ["k"]
    hits = memory.search("Which flag do the Atlas tests need?", scopes=["project:atlas"]).hits
    assert "--run-db" in hits[0].memory.summary  # other doors see what a graph knows


BAD: list[Callable[[AfterwitStore], object]] = [
    lambda store: store.batch([PutOp(("b",), "k", {"x": 1}), PutOp(("a",), " ", {"x": 1})]),
    lambda store: store.batch([PutOp(("b",), "k", {"x": 1}), PutOp((), "k", {"x": 1})]),
    lambda store: store.batch([PutOp(("b",), "k", {"x": 1}), PutOp(("a",), "k", {"x": 1}, ttl=1)]),
    lambda store: store.put(("b",), "k", {"x": "y" * 20_000}),
    lambda store: store.put(("b",), "k", {"x": object()}),
    lambda store: store.put(("b" * 300,), "k", {"x": 1}),
    lambda store: store.search(("b",), limit=-1),
    lambda store: store.search(("a",), filter={"x": {"$regex": "1"}}),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_is_refused_whole(store: AfterwitStore, number: int) -> None:
    store.put(("a",), "there", {"x": 1})
    with pytest.raises(InvalidInput) as caught:
        BAD[number](store)
    assert caught.value.next_step or caught.value.message
    assert store.list_namespaces() == [("a",)]
