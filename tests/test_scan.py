"""Scanning many vectors and picking the best scores: the parts of a search that grow with what is stored."""

import numpy as np
import pytest

from afterwit.storage import quantised, ranking


def test_a_scan_in_a_thread_of_its_own_finds_what_one_in_this_thread_finds() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(25_000, 8)).astype("<f2")
    vectors = quantised.QuantisedVectors(8, len(rows))
    vectors.put(np.arange(len(rows)), rows.tobytes())
    query, mask = np.eye(8, dtype=np.float32)[0], random.random(len(rows)) < 0.9
    here = vectors.scan(query, mask)
    begun = vectors.begin_scan(query, mask)
    # More than there was room for: the rows that are read must not move.
    vectors.put(np.arange(len(rows), 3 * len(rows)), rows.tobytes() * 2)
    there = begun()
    assert np.array_equal(there.slots, here.slots)
    assert np.array_equal(there.scores, here.scores)
    assert there.error == here.error


@pytest.mark.parametrize("size", [1, 63, 64, 130, 5000])
@pytest.mark.parametrize("kinds", [1, 7, 10_000])
def test_the_bar_is_the_score_that_sorting_gives(size: int, kinds: int) -> None:
    scores = np.random.default_rng(size + kinds).integers(kinds, size=size).astype(np.float32)
    ordered = np.sort(scores)[::-1]
    for count in {1, min(20, size), size}:
        assert ranking.bar(scores, count) == ordered[count - 1]
