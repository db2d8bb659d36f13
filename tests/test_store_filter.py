"""The key filter: SQL, arrays and the plain reading of its description always agree."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterwit.records import Add, KeyFilter, Memory, Retire, Status, Supersede, Vector
from afterwit.storage import Store, open_store
from afterwit.testing.samples import MODEL, NOW, SPACE, ids, memory, memory_id, put
from afterwit.text import query_tokens
from store_model import Model, filters, memories, stored

ROWS = 120


def sampled() -> list[Memory]:
    """Memories in many states, the same in every run."""
    found: list[Memory] = []

    @settings(max_examples=ROWS, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        if len(found) < ROWS:
            found.append(data.draw(memories(len(found))))

    collect()
    return found


@pytest.fixture(scope="module")
def filled() -> Iterator[tuple[Store, Model]]:
    store = open_store("sqlite://")
    model = Model()
    chance = Random(3)  # noqa: S311
    items = sampled()
    for item in items:
        model.vectors[item.id] = [chance.randint(-3, 3) for _ in range(7)] + [1]
        put(store, Add(item, Vector(MODEL, stored(model.vectors[item.id]))))
    for item in items[::3]:
        at = item.recorded_at + timedelta(hours=chance.randint(0, 3))
        if chance.random() < 0.5:
            put(store, Retire(item.id, chance.choice([Status.EXPIRED, Status.FORGOTTEN, Status.QUARANTINED])), now=at)
        else:
            put(store, Supersede(item.id, items[1].id, at - timedelta(hours=1)), now=at)
    model.memories = store.get(SPACE, [item.id for item in items])
    yield store, model
    store.close()


@settings(max_examples=400, deadline=None)
@given(where=filters, query=st.lists(st.integers(-3, 3), min_size=8, max_size=8).filter(any))
def test_rows_words_vectors_and_the_plain_reading_agree(
    filled: tuple[Store, Model], where: KeyFilter, query: list[int]
) -> None:
    store, model = filled
    expected = {item.id for item in model.passing(where)}
    assert set(ids(store.find(SPACE, where, limit=1000))) == expected
    assert store.count(SPACE, where) == len(expected)
    tokens = query_tokens("apple pear plum 杭州 E1234")
    assert set(ids(store.search_words(SPACE, where, tokens, limit=1000))) == expected
    found = store.search_vectors(SPACE, where, np.array(query, dtype=np.float32), MODEL, limit=1000)
    assert set(ids(found)) == expected


@pytest.mark.parametrize("clusters", [0, 1, 5, 50])
@pytest.mark.parametrize("dimensions", [3, 64, 512])
def test_the_quantised_scan_misses_none_of_the_exact_best(clusters: int, dimensions: int) -> None:
    chance = np.random.default_rng(clusters + dimensions)
    count = 3000
    rows = chance.normal(size=(count, dimensions))
    if clusters:
        centres = 5 * chance.normal(size=(clusters, dimensions))
        rows = centres[chance.integers(clusters, size=count)] + 0.05 * rows
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype("<f2")
    rows[::50] = rows[0]
    store = open_store("sqlite://")
    put(store, *(Add(memory(place, f"n{place}"), Vector(MODEL, rows[place].tobytes())) for place in range(count)))
    exact_rows = rows.astype(np.float64)
    exact_rows /= np.linalg.norm(exact_rows, axis=1)[:, None]
    for direction in (*rows[[0, 7]].astype(np.float32), chance.normal(size=dimensions).astype(np.float32)):
        query = direction / np.linalg.norm(direction)
        exact_query = query.astype(np.float64)
        cosines = exact_rows @ (exact_query / np.linalg.norm(exact_query))
        order = sorted(range(count), key=lambda place: (-round(cosines[place], 12), place))
        for limit in (1, 10, 100):
            found = store.search_vectors(SPACE, KeyFilter(), query, MODEL, limit=limit)
            scores = np.array([item.score for item in found])
            assert np.allclose(scores, cosines[order[:limit]], rtol=0, atol=2e-7)
            assert len(set(ids(found))) == limit
    store.close()


def test_the_best_do_not_depend_on_how_much_the_filter_leaves() -> None:
    store = open_store("sqlite://")
    chance = np.random.default_rng(2)
    rows = chance.normal(size=(400, 64)).astype("<f2")
    items = [memory(place, "word", scope=f"project:{place % 20}") for place in range(400)]
    put(store, *(Add(item, Vector(MODEL, rows[place].tobytes())) for place, item in enumerate(items)), now=NOW)
    query = rows[5].astype(np.float32)
    all_scores = {item.id: item.score for item in store.search_vectors(SPACE, KeyFilter(), query, MODEL, limit=400)}
    few = store.search_vectors(SPACE, KeyFilter(scopes=("project:5",)), query, MODEL, limit=400)
    assert ids(few)[0] == memory_id(5)
    assert {item.id: item.score for item in few} == {item.id: all_scores[item.id] for item in few}
    assert len(few) == 20
    assert replace(few[0], score=1.0).id == memory_id(5)
    store.close()
