"""Small makers of records for the contracts."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.records import Add, Change, Event, Kind, Memory, Vector
from afterwit.storage import Store

#: The moment at which the contracts write unless they say otherwise.
NOW = datetime(2025, 3, 1, 9, 30, 15, 123_456, tzinfo=UTC)
SPACE = "alpha"
OTHER = "beta"
MODEL = "model-a"
DIMENSIONS = 8


def memory_id(number: int) -> str:
    """A UUIDv7-like id that sorts by its number."""
    return f"01954f00-0000-7000-8000-{number:012x}"


def memory(number: int, summary: str = "", **fields: Any) -> Memory:
    """A memory whose id sorts by its number."""
    values: dict[str, Any] = {
        "id": memory_id(number),
        "space": SPACE,
        "summary": summary or f"memory number {number}",
        "kind": Kind.FACT,
        "recorded_at": NOW,
        "happened_at": NOW,
    }
    return Memory(**values | fields)


def direction(seed: int) -> NDArray[np.float32]:
    """A unit vector of 8 dimensions, the same for the same seed."""
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def vector(seed: int, model: str = MODEL) -> Vector:
    """The same direction as it is stored."""
    return Vector(model, direction(seed).astype("<f2").tobytes())


def put(store: Store, *changes: Change, space: str = SPACE, now: datetime = NOW) -> list[Event]:
    """Apply the changes in a transaction of their own."""
    with store.transaction(space, now=now, actor="test") as transaction:
        return transaction.apply(changes)


def put_memories(store: Store, *memories: Memory, space: str = SPACE) -> None:
    """Add the memories, each with the vector of its place."""
    put(store, *(Add(item, vector(place)) for place, item in enumerate(memories)), space=space)


def ids(found: Sequence[Any]) -> list[str]:
    """Ids of results or memories, in order."""
    return [item.id for item in found]


@contextmanager
def fails(error: type[Exception]) -> Generator[None]:
    """Fail unless the block raises the error."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")
