"""What the embedded store costs: writing, searching, loading, memory and disk, by number of memories.

    OPENBLAS_NUM_THREADS=1 python evals/bench_storage.py [1000 10000 100000]

Texts are drawn from a vocabulary with the skew of natural language; vectors of 512 dimensions lie
in clusters, as embeddings do. Each size is measured in a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterwit.records import Add, Erase, KeyFilter, Kind, Memory, Vector, new_id
from afterwit.storage import Store, open_store
from afterwit.text import query_tokens

DIMENSIONS = 512
MODEL = "bench"
SPACE = "bench"
START = datetime(2025, 1, 1, tzinfo=UTC)
WORDS = 30_000
QUERIES = 200


class Data:
    """Texts and vectors, the same in every run."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        shares = 1 / (np.arange(WORDS) + 10.0)
        self.shares = shares / shares.sum()
        self.vocabulary = [_word(number) for number in range(WORDS)]
        self.centres = np.random.default_rng(7).normal(size=(200, DIMENSIONS))

    def text(self, words: int) -> str:
        """Words drawn by their shares."""
        return " ".join(self.vocabulary[place] for place in self.random.choice(WORDS, size=words, p=self.shares))

    def vector(self) -> NDArray[np.float32]:
        """A unit vector near one of the centres."""
        vector = self.centres[self.random.integers(len(self.centres))] + 0.7 * self.random.normal(size=DIMENSIONS)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def memories(self, count: int, first: int = 0) -> Iterator[Add]:
        """Memories of five projects, one in three of them global."""
        for number in range(first, first + count):
            at = START + timedelta(seconds=number)
            memory = Memory(
                id=new_id(at),
                space=SPACE,
                summary=self.text(14),
                kind=list(Kind)[number % len(Kind)],
                recorded_at=at,
                happened_at=at,
                scope="global" if number % 3 else f"project:{number % 5}",
                subject=f"subject {number % 500}",
                topic=f"topic {number % 50}",
                tags=(f"tag {number % 20}",),
            )
            yield Add(memory, Vector(MODEL, self.vector().astype("<f2").tobytes()))


def _word(number: int) -> str:
    letters = "bcdfghjklmnprstvwz"
    vowels = "aeiou"
    word = ""
    number += 400
    while number:
        number, place = divmod(number, len(letters) * len(vowels))
        word += letters[place // len(vowels)] + vowels[place % len(vowels)]
    return word


def milliseconds(deed: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and 95th percentile."""
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        deed()
        taken.append(1000 * (time.perf_counter() - start))
    return float(np.percentile(taken, 50)), float(np.percentile(taken, 95))


def write(path: Path, size: int) -> dict[str, float]:
    """Fill a database; measure bulk and single writes."""
    data = Data(1)
    store = open_store(f"sqlite:///{path}")
    changes = list(data.memories(size))
    start = time.perf_counter()
    for place in range(0, size, 500):
        with store.transaction(SPACE, now=START, actor="bench") as transaction:
            transaction.apply(changes[place : place + 500])
    bulk = size / (time.perf_counter() - start)
    more = data.memories(QUERIES, size)

    def single() -> None:
        with store.transaction(SPACE, now=START, actor="bench") as transaction:
            transaction.apply([next(more)])

    median, high = milliseconds(single, QUERIES)
    store.close()
    return {"bulk rows/s": bulk, "write p50": median, "write p95": high}


def search(path: Path) -> dict[str, float]:
    """Measure loading, both searches and the memory they take."""
    data = Data(2)
    base = _resident_mb()
    start = time.perf_counter()
    store = open_store(f"sqlite:///{path}")
    opened = time.perf_counter() - start
    query = data.vector()
    store.search_words(SPACE, KeyFilter(), query_tokens(data.text(6)), limit=20)
    words_loaded = time.perf_counter() - start
    store.search_vectors(SPACE, KeyFilter(), query, MODEL, limit=20)
    loaded = time.perf_counter() - start
    figures = {"open ms": 1000 * opened, "first words s": words_loaded, "cache load s": loaded}
    figures |= _searches(store, data)
    figures |= {"RSS MB": _resident_mb(), "of it before opening": base, "disk MB": _disk_mb(path)}
    start = time.perf_counter()
    victim = store.find(SPACE, KeyFilter(), limit=1)[0].id
    with store.transaction(SPACE, now=START, actor="bench") as transaction:
        transaction.apply([Erase(victim)])
    figures["erase s"] = time.perf_counter() - start
    store.close()
    return figures


def _searches(store: Store, data: Data) -> dict[str, float]:
    figures: dict[str, float] = {}
    everything = KeyFilter(valid_at=START + timedelta(days=9))
    narrow = KeyFilter(scopes=("project:3",), topics=("topic 3", "topic 8"), valid_at=START + timedelta(days=9))
    for name, where in (("", everything), ("narrow ", narrow)):
        for path, deed in (
            ("words", lambda: store.search_words(SPACE, where, query_tokens(data.text(6)), limit=20)),  # noqa: B023
            ("vectors", lambda: store.search_vectors(SPACE, where, data.vector(), MODEL, limit=20)),  # noqa: B023
        ):
            median, high = milliseconds(deed, QUERIES)
            figures |= {f"{name}{path} p50": median, f"{name}{path} p95": high}
    return figures


def _resident_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(fields["VmRSS"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _disk_mb(path: Path) -> float:
    return sum(item.stat().st_size for item in path.parent.iterdir()) / 1e6


def main() -> None:
    """Measure each size and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1000, 10_000, 100_000])
    parser.add_argument("--step", choices=["write", "search"])
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    if options.step:
        figures = write(options.path, options.sizes[0]) if options.step == "write" else search(options.path)
        print(json.dumps(figures))
        return
    table: dict[int, dict[str, float]] = {}
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "memory.db"
            table[size] = {}
            for step in ("write", "search"):
                table[size] |= _measure(step, path, size)
    print("| " + " | ".join(["ms unless said", *(f"{size:,}" for size in table)]) + " |")
    print("|---" * (len(table) + 1) + "|")
    for name in next(iter(table.values())):
        print("| " + " | ".join([name, *(f"{figures[name]:,.2f}" for figures in table.values())]) + " |")


def _measure(step: str, path: Path, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, str(size), "--step", step, "--path", str(path)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(output)


if __name__ == "__main__":
    main()
