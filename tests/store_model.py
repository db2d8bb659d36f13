"""A store as plain dictionaries, written to be obviously right: what the engines are held against."""

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from afterwit.records import KeyFilter, Kind, Link, Memory, Standing, Status, Trust, Use
from afterwit.storage.words import memory_tokens
from afterwit.testing.samples import DIMENSIONS, SPACE

BASE = datetime(2025, 3, 1, tzinfo=UTC)
K1, B = 1.2, 0.75

hours = st.integers(0, 6).map(lambda number: BASE + timedelta(hours=number))
maybe_hours = st.none() | hours
scopes = st.sampled_from(["global", "project:a", "session:1"])
roles = st.sampled_from(["", "coder"])
names = st.sampled_from(["", "alpha", "张三"])
tag_sets = st.lists(st.sampled_from(["x", "y", "z"]), unique=True, max_size=2).map(lambda tags: tuple(sorted(tags)))
summaries = st.lists(st.sampled_from(["apple", "pear", "plum", "杭州", "E1234"]), min_size=1, max_size=6).map(" ".join)
vectors = st.lists(st.integers(-3, 3), min_size=DIMENSIONS, max_size=DIMENSIONS).filter(any)


@st.composite
def memories(draw: st.DrawFn, number: int, **fixed: Any) -> Memory:
    """A memory in any state; its id sorts by the number."""
    return Memory(
        id=f"m{number:04}",
        space=SPACE,
        summary=draw(summaries),
        kind=draw(st.sampled_from(list(Kind)[:3])),
        recorded_at=draw(hours),
        happened_at=draw(hours),
        scope=draw(scopes),
        role=draw(roles),
        subject=draw(names),
        topic=draw(names),
        tags=draw(tag_sets),
        trust=draw(st.sampled_from(Trust)),
        standing=draw(st.sampled_from(Standing)),
        valid_from=draw(maybe_hours),
        valid_to=draw(maybe_hours),
        **fixed,
    )


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.just(()) | st.lists(values, unique=True, min_size=1, max_size=2).map(tuple)


filters = st.builds(
    KeyFilter,
    scopes=some(scopes | st.just("unknown")),
    roles=some(roles),
    kinds=some(st.sampled_from(list(Kind)[:3])),
    subjects=some(names),
    topics=some(names),
    tags=some(st.sampled_from(["x", "y", "w"])),
    statuses=st.just((Status.ACTIVE,)) | some(st.sampled_from(Status)),
    without_standings=st.just((Standing.REFUTED,)) | some(st.sampled_from(Standing)),
    min_trust=st.sampled_from(Trust),
    proven_only=st.booleans(),
    valid_at=maybe_hours,
    valid_through=maybe_hours,
    known_at=maybe_hours,
    happened_from=maybe_hours,
    happened_to=maybe_hours,
)


@dataclass
class Model:
    """Memories, vectors, links and uses of one space."""

    memories: dict[str, Memory] = field(default_factory=dict)
    vectors: dict[str, list[int]] = field(default_factory=dict)
    links: dict[tuple[str, str, str], Link] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)
    events: int = 0

    def passing(self, where: KeyFilter) -> list[Memory]:
        return [item for item in self.memories.values() if where.passes(item)]

    def words(self, where: KeyFilter, tokens: list[str]) -> dict[str, float]:
        """BM25 of every memory that holds any of the tokens."""
        held = {item.id: Counter(memory_tokens(item)) for item in self.passing(where)}
        if not held:
            return {}
        mean = max(1.0, sum(count.total() for count in held.values()) / len(held))
        scores: dict[str, float] = {}
        for token in sorted(set(tokens)):
            containing = sum(1 for counts in held.values() if counts[token])
            rarity = math.log(1 + (len(held) - containing + 0.5) / (containing + 0.5))
            for key, counts in held.items():
                if counts[token]:
                    norm = K1 * (1 - B + B * counts.total() / mean)
                    part = rarity * counts[token] * (K1 + 1) / (counts[token] + norm)
                    scores[key] = scores.get(key, 0.0) + part
        return scores

    def cosines(self, where: KeyFilter, query: list[int]) -> dict[str, float]:
        found: dict[str, float] = {}
        for item in self.passing(where):
            if item.id in self.vectors:
                row = np.array(self.vectors[item.id], dtype=np.float64)
                length = float(np.linalg.norm(row) * np.linalg.norm(query))
                found[item.id] = float(row @ np.array(query, dtype=np.float64)) / length
        return found


def stored(row: list[int]) -> bytes:
    """Small whole numbers, which float16 holds exactly."""
    return np.array(row, dtype="<f2").tobytes()
