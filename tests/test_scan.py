"""Scanning many vectors and picking the best scores: the parts of a search that grow with what is stored."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from afterwit.storage import ranking, scanning
from afterwit.storage.scanning import Scan, ScannedVectors

#: So many that a scan takes two steps and a thread of its own.
MANY = 25_000
DIMENSIONS = 96

Rows = NDArray[np.float16]


def drawn(kind: str, seed: int = 1, count: int = MANY) -> Rows:
    """Vectors that look like those of a model, like clusters of near copies, or like nothing in particular."""
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(count, DIMENSIONS))
    if kind == "model":
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(DIMENSIONS, DIMENSIONS)))[0]
        rows = rows * np.arange(1, DIMENSIONS + 1) ** -0.7 @ turn
    elif kind == "clusters":
        centres = 5 * np.random.default_rng(0).normal(size=(40, DIMENSIONS))
        rows = centres[chance.integers(40, size=count)] + 0.05 * rows
    return rows.astype("<f2")


def scanned(rows: Rows) -> ScannedVectors:
    vectors = ScannedVectors(rows.shape[1], 0)
    vectors.put(np.arange(len(rows)), rows.tobytes())
    return vectors


def in_two_steps(rows: Rows) -> ScannedVectors:
    """As they are scanned once their components are there."""
    vectors = scanned(rows)
    vectors.scan(np.zeros(rows.shape[1], dtype=np.float32), np.ones(len(rows), dtype=np.bool_), 1)
    vectors.wait()
    return vectors


def unit(rows: Rows) -> NDArray[np.float64]:
    exact = rows.astype(np.float64)
    return exact / np.maximum(np.linalg.norm(exact, axis=1)[:, None], 1e-9)


def holds_the_nearest(scan: Scan, rows: Rows, query: NDArray[np.float32], mask: NDArray[np.bool_], limit: int) -> bool:
    """Whether all of the nearest are there, and every score as near to the cosine as is said."""
    cosines = unit(rows) @ query.astype(np.float64)
    bar = np.sort(cosines[mask])[-limit]
    nearest = np.flatnonzero(mask & (cosines >= bar))
    exact = np.abs(scan.scores - cosines[scan.slots]).max() <= scan.error
    return bool(exact and mask[scan.slots].all() and np.isin(nearest, scan.slots).all())


@pytest.mark.parametrize("kind", ["model", "clusters", "nothing"])
@pytest.mark.parametrize("share", [1.0, 0.9])
def test_a_scan_of_many_misses_none_of_the_nearest(kind: str, share: float) -> None:
    rows = drawn(kind)
    rows[::5000] = rows[7]
    vectors = in_two_steps(rows)
    mask = np.random.default_rng(2).random(MANY) < share
    for query in unit(np.concatenate([rows[:9], drawn(kind, seed=3, count=9)])).astype(np.float32):
        for limit in (1, 16, 64):
            assert holds_the_nearest(vectors.scan(query, mask, limit), rows, query, mask, limit)


def test_of_vectors_like_those_of_a_model_few_are_looked_at_whole() -> None:
    rows = drawn("model")
    vectors, mask = in_two_steps(rows), np.ones(MANY, dtype=np.bool_)
    queries = unit(drawn("model", seed=3, count=20)).astype(np.float32)
    assert np.median([len(vectors.scan(query, mask, 16).slots) for query in queries]) < 0.1 * MANY


def test_a_scan_follows_what_is_stored_later() -> None:
    first, later = drawn("model"), drawn("clusters", seed=5, count=2 * MANY)
    vectors = in_two_steps(first)
    everything = np.ones(3 * MANY, dtype=np.bool_)
    query = unit(later[-1:])[0].astype(np.float32)
    assert holds_the_nearest(vectors.scan(query, everything, 16), first, query, everything[:MANY], 16)
    # Some by the components that there are, all by new ones, and others in the place of some.
    rows = np.concatenate([first, later])
    rows[:MANY:100] = rows[-1]
    stored = np.concatenate([first, np.zeros_like(later)])
    for slots in (np.arange(MANY, MANY + 900), np.arange(MANY + 900, 3 * MANY), np.arange(0, MANY, 100)):
        vectors.put(slots, rows[slots].tobytes())
        stored[slots] = rows[slots]
        known = stored.any(axis=1)
        assert holds_the_nearest(vectors.scan(query, everything, 16), stored, query, known, 16)
        vectors.wait()
        assert holds_the_nearest(vectors.scan(query, everything, 16), stored, query, known, 16)
    vectors.clear_from(MANY)
    assert vectors.scan(query, everything, 16).slots.max() < MANY


def test_while_components_are_made_scans_go_on_and_what_is_stored_meanwhile_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed, principal = threading.Event(), scanning._principal  # pyright: ignore[reportPrivateUsage]

    def when_allowed(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        assert allowed.wait(30)
        return principal(sample, count)

    monkeypatch.setattr(scanning, "_principal", when_allowed)
    rows, later = drawn("model"), drawn("model", seed=5)
    vectors, mask = scanned(rows), np.ones(2 * MANY, dtype=np.bool_)
    query = unit(rows[:1])[0].astype(np.float32)
    assert holds_the_nearest(vectors.scan(query, mask, 16), rows, query, mask[:MANY], 16)
    # The one that is nearest gives its place to another, and there is no room for the others.
    slots = np.concatenate([[0], np.arange(MANY, 2 * MANY - 1)])
    vectors.put(slots, later.tobytes())
    rows = np.concatenate([later[:1], rows[1:], later[1:]])
    before = vectors.scan(query, mask, 16)
    assert len(before.slots) == len(rows)
    allowed.set()
    vectors.wait()
    after = vectors.scan(query, mask, 16)
    assert len(after.slots) < len(rows) / 2
    for scan in (before, after):
        assert holds_the_nearest(scan, rows, query, mask[: len(rows)], 16)


def test_components_that_cannot_be_made_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: told.append(failed.exc_value))
    rows = drawn("model")
    vectors, mask = scanned(rows), np.ones(MANY, dtype=np.bool_)
    query = unit(rows[:1])[0].astype(np.float32)
    with monkeypatch.context() as failing:
        failing.setattr(scanning, "_principal", lambda *_: 1 // 0)
        assert len(vectors.scan(query, mask, 16).slots) == MANY
        vectors.wait()
    assert isinstance(told[0], ZeroDivisionError)
    assert len(vectors.scan(query, mask, 16).slots) == MANY
    vectors.wait()
    assert len(vectors.scan(query, mask, 16).slots) < MANY


@pytest.mark.parametrize("limit", [MANY - 1, MANY, MANY + 1, 5 * MANY])
def test_a_scan_for_as_many_as_there_are_or_more_gives_all(limit: int) -> None:
    rows = drawn("model")
    scan = in_two_steps(rows).scan(unit(rows[:1])[0].astype(np.float32), np.ones(MANY, dtype=np.bool_), limit)
    assert len(scan.slots) == MANY


def test_a_scan_in_a_thread_of_its_own_finds_what_one_in_this_thread_finds() -> None:
    rows = drawn("model")
    vectors = in_two_steps(rows)
    query, mask = unit(rows[:1])[0].astype(np.float32), np.random.default_rng(1).random(MANY) < 0.9
    here = vectors.scan(query, mask, 16)
    begun = vectors.begin_scan(query, mask, 16)
    # More than there was room for: the rows that are read must not move.
    vectors.put(np.arange(MANY, 3 * MANY), rows.tobytes() * 2)
    there = begun()
    assert np.array_equal(there.slots, here.slots)
    assert np.array_equal(there.scores, here.scores)
    assert there.error == here.error


@pytest.mark.parametrize("count", [7, MANY])
def test_a_slot_without_a_vector_counts_for_nothing_whatever_its_memory_held(count: int) -> None:
    vectors = ScannedVectors(DIMENSIONS, count + 1)
    vectors._rows._codes.fill(127)  # pyright: ignore[reportPrivateUsage]
    vectors._rows._scales.fill(np.finfo(np.float32).max)  # pyright: ignore[reportPrivateUsage]
    first = np.eye(DIMENSIONS, dtype="<f2")[0]
    slots = np.delete(np.arange(count + 1), count // 2)
    vectors.put(slots, np.tile(first, (count, 1)).tobytes())
    for _ in range(2):
        scan = vectors.scan(first.astype(np.float32), np.ones(count + 1, dtype=np.bool_), 3)
        assert np.array_equal(scan.slots, slots)
        assert np.allclose(scan.scores, 1.0, atol=scan.error)
        vectors.wait()


def test_a_vector_without_length_is_near_to_nothing() -> None:
    rows = drawn("model")
    rows[:MANY:2] = 0
    vectors, mask = in_two_steps(rows), np.ones(MANY, dtype=np.bool_)
    scan = vectors.scan(unit(rows[1:2])[0].astype(np.float32), mask, 16)
    assert 1 in scan.slots
    assert (scan.slots % 2).all()
    assert len(vectors.scan(np.zeros(DIMENSIONS, dtype=np.float32), mask, 16).slots) == MANY


@pytest.mark.parametrize("count", [500, MANY])
def test_a_scan_without_simsimd_gives_the_same_scores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    rows = drawn("model", count=count)
    vectors = in_two_steps(rows)
    query, mask = unit(rows[3:4])[0].astype(np.float32), np.random.default_rng(1).random(count) < 0.9
    fast = vectors.scan(query, mask, 16)
    monkeypatch.setattr("afterwit.storage.quantised.simsimd", None)
    plain = vectors.scan(query, mask, 16)
    assert len(np.setxor1d(fast.slots, plain.slots)) <= 2
    both = np.intersect1d(fast.slots, plain.slots)
    assert np.allclose(
        fast.scores[np.isin(fast.slots, both)], plain.scores[np.isin(plain.slots, both)], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("size", [1, 63, 64, 130, 5000])
@pytest.mark.parametrize("kinds", [1, 7, 10_000])
def test_the_bar_is_the_score_that_sorting_gives(size: int, kinds: int) -> None:
    scores = np.random.default_rng(size + kinds).integers(kinds, size=size).astype(np.float32)
    ordered = np.sort(scores)[::-1]
    for count in {1, min(20, size), size}:
        assert ranking.bar(scores, count) == ordered[count - 1]
