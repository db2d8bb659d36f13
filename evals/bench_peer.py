"""Store-only search beside mem0's local default (Qdrant on disk), on the same vectors, in one run, by CPU time.

    pip install mem0ai
    python -m evals.bench_peer --rows 10000

Neither side embeds anything: 512-dimensional unit vectors around 200 centres stand for texts. Both
filter by one user of ten and return five. mem0 is not a dependency and is not installed otherwise.
"""

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from afterwit.embedding import to_vector
from afterwit.records import Add, KeyFilter, Kind, Memory, new_id
from afterwit.storage import open_store

_DIMENSIONS, _USERS, _QUERIES, _K = 512, 10, 50, 5


def vectors(count: int, seed: int) -> Any:
    """Unit vectors, float32 of shape (count, 512), around 200 centres."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(200, _DIMENSIONS))[random.integers(0, 200, count)]
    rows = rows + 0.6 * random.normal(size=rows.shape)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def cpu_ms(search: Callable[[Any], object], queries: Any) -> float:
    """Median CPU milliseconds of one search, after one to warm up."""
    search(queries[0])
    spent: list[float] = []
    for query in queries:
        begun = time.process_time()
        search(query)
        spent.append(time.process_time() - begun)
    return float(np.median(spent) * 1000)


def ours(rows: Any, queries: Any, directory: str) -> float:
    """This store: rows of ten subjects in one space."""
    store = open_store(f"sqlite:///{directory}/memory.db")
    now = datetime.now(UTC)
    with store.transaction("bench", now=now, actor="bench") as tx:
        for number, row in enumerate(rows):
            memory = Memory(
                id=new_id(now), space="bench", summary=f"text {number}", kind=Kind.FACT, recorded_at=now,
                happened_at=now, subject=f"user{number % _USERS}",
            )  # fmt: skip
            tx.apply([Add(memory, to_vector("bench", row))])
    where = KeyFilter(subjects=("user3",), valid_at=now)
    try:
        return cpu_ms(lambda query: store.search_vectors("bench", where, query, "bench", limit=_K), queries)
    finally:
        store.close()


def theirs(rows: Any, queries: Any, directory: str) -> float:
    """mem0's vector store as its local default opens it."""
    from mem0.vector_stores.qdrant import Qdrant  # noqa: PLC0415

    store = Qdrant(collection_name="bench", embedding_model_dims=_DIMENSIONS, path=directory, on_disk=True)
    for first in range(0, len(rows), 500):
        part = rows[first : first + 500]
        payloads = [{"data": f"text {first + n}", "user_id": f"user{(first + n) % _USERS}"} for n in range(len(part))]
        store.insert(vectors=part.tolist(), payloads=payloads, ids=[str(uuid.uuid4()) for _ in part])
    filters = {"user_id": "user3"}
    return cpu_ms(lambda query: store.search(query="", vectors=query.tolist(), top_k=_K, filters=filters), queries)


def main() -> int:
    """Print both medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    rows, queries = vectors(options.rows, 1), vectors(_QUERIES, 2)
    with tempfile.TemporaryDirectory() as directory:
        mine = ours(rows, queries, directory)
        try:
            peer = theirs(rows, queries, str(Path(directory) / "qdrant"))
        except ImportError:
            print("mem0 is not installed here: pip install mem0ai", file=sys.stderr)
            return 1
    print(
        json.dumps(
            {"rows": options.rows, "ours_ms": round(mine, 2), "mem0_ms": round(peer, 2), "ratio": round(peer / mine, 1)}
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
