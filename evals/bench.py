"""What Afterwit costs: latency, start-up, memory, disk, and what the key filter is worth.

Run with `make bench` or `python -m evals.bench`. Prints one table per part and keeps the figures
in `evals/results/bench.json`. The embedder is the offline default, nothing is simulated.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from afterwit import Afterwit
from afterwit.config import load_settings
from afterwit.embedding import open_embedder
from afterwit.records import KeyFilter
from evals.bench_texts import ATTRIBUTES, QUESTIONS, memory_texts, query_texts

RESULTS = Path(__file__).parent / "results" / "bench.json"

Row = dict[str, Any]


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    return float(np.percentile(seconds, 50) * 1000), float(np.percentile(seconds, 95) * 1000)


def timed(call: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def resident_mb() -> float:
    """Resident memory of this process in MB (Linux; NaN elsewhere)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fill(memory: Afterwit, texts: Iterable[str]) -> float:
    """Write many memories; returns rows per second."""
    count = 0
    start = time.perf_counter()
    for receipt in memory.write_many((text, {"kind": "fact"}) for text in texts):
        count += receipt.accepted
    return count / (time.perf_counter() - start)


def growth(sizes: Sequence[int]) -> list[Row]:
    """Write and search latency in one space as it grows. Each size is a fresh process and file."""
    return [_own_process("--one-size", str(size)) for size in sizes]


def _own_process(*arguments: str) -> Row:
    command = [sys.executable, "-m", "evals.bench", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def one_size(size: int) -> Row:
    """Fill a store to one size and measure it."""
    with tempfile.TemporaryDirectory() as directory:
        memory = Afterwit.open(data_dir=directory)
        try:
            bulk = fill(memory, memory_texts(size))
            writes = [timed(lambda text=text: memory.write(text, kind="fact")) for text in memory_texts(120, seed=99)]
            memory.search("warm up the caches")
            queries = query_texts(220)
            searches = [timed(lambda query=query: memory.search(query)) for query in queries]
            write50, write95 = percentiles(writes[20:])
            search50, search95 = percentiles(searches[20:])
            rows = memory.store.count(memory.space, KeyFilter.everything())
            disk = sum(path.stat().st_size for path in Path(directory).glob("memory.db*"))
        finally:
            memory.close()
        fresh = _own_process("--reopen", directory)
    return {
        "memories": rows,
        "bulk_rows_per_s": round(bulk),
        "write_p50_ms": round(write50, 1),
        "write_p95_ms": round(write95, 1),
        "search_p50_ms": round(search50, 1),
        "search_p95_ms": round(search95, 1),
        "disk_mb": round(disk / 1e6, 1),
    } | fresh


def reopen(directory: str) -> Row:
    """What a new process needs to search a store that is there: time to the first answer, memory after twenty."""
    memory = Afterwit.open(data_dir=directory)
    try:
        cold = timed(lambda: memory.search("first search of a new process"))
        for query in query_texts(20):
            memory.search(query)
        return {"first_search_ms": round(cold * 1000), "resident_mb": round(resident_mb())}
    finally:
        memory.close()


def start_up(rounds: int) -> list[Row]:
    """From starting `afterwit mcp` to its answer to `initialize`, and to the first search, by hand over stdio."""
    rows: list[Row] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as directory:
            rows.append(_start_once(directory))
    return [
        {
            "rounds": rounds,
            "initialize_ms_median": round(float(np.median([row["initialize_ms"] for row in rows]))),
            "first_search_ms_median": round(float(np.median([row["first_search_ms"] for row in rows]))),
            "second_search_ms_median": round(float(np.median([row["second_search_ms"] for row in rows]))),
        }
    ]


def _start_once(directory: str) -> Row:
    environment = {**os.environ, "AFTERWIT_DATA_DIR": directory}
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "afterwit", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    ) as server:

        def ask(id: int, method: str, params: Row) -> float:
            assert server.stdin is not None
            assert server.stdout is not None
            begun = time.perf_counter()
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            while json.loads(server.stdout.readline()).get("id") != id:
                pass
            return time.perf_counter() - begun

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        ask(1, "initialize", hello)
        initialized = time.perf_counter() - start
        assert server.stdin is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        search = {"name": "memory_search", "arguments": {"query": "anything about the build?"}}
        first, second = ask(2, "tools/call", search), ask(3, "tools/call", search)
        server.stdin.close()
        server.wait(10)
    return {
        "initialize_ms": initialized * 1000,
        "first_search_ms": first * 1000,
        "second_search_ms": second * 1000,
    }


def key_filter(sizes: Sequence[int], *, questions: int = 200) -> list[Row]:
    """hit@5 with the key filter beside pure vector search over the same rows.

    Every project has each attribute once as a constraint; the same sentences with other values
    stand there as decisions, failures and facts, and in all other projects: same meaning, other key.
    """
    embedder = open_embedder(load_settings())
    assert embedder is not None
    rows: list[Row] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as directory:
            memory = Afterwit.open(data_dir=directory)
            try:
                rows.append(_lift(memory, embedder, size, questions))
            finally:
                memory.close()
    return rows


def _lift(memory: Afterwit, embedder: Any, size: int, questions: int) -> Row:
    pick = random.Random(size)  # noqa: S311
    kinds = ("constraint", "decision", "failure", "fact")
    projects = size // (len(ATTRIBUTES) * len(kinds))
    items: list[tuple[str, Any]] = []
    targets: list[tuple[int, str, str, str]] = []
    for number in range(projects):
        scope = f"project:p{number}"
        for topic, form, values in ATTRIBUTES:
            for kind in kinds:
                text = form.format(pick.choice(values))
                subject = f"p{number}/{kind}"
                items.append((text, {"kind": kind, "scope": scope, "topic": topic, "subject": subject}))
                if kind == "constraint":
                    targets.append((len(items) - 1, scope, topic, text))
    receipts = memory.write_many(items)
    asked = pick.sample(targets, min(questions, len(targets)))
    ours = vectors = 0
    for position, scope, topic, _ in asked:
        wanted = receipts[position].id
        answer = memory.search(QUESTIONS[topic], scopes=[scope], kinds=["constraint"], top_k=5)
        ours += any(hit.memory.id == wanted for hit in answer.hits)
        query = embedder.embed([QUESTIONS[topic]])[0]
        scored = memory.store.search_vectors(memory.space, KeyFilter(), query, embedder.model, limit=5)
        vectors += any(item.id == wanted for item in scored)
    return {
        "memories": len(items),
        "questions": len(asked),
        "hit@5_with_keys": round(ours / len(asked), 3),
        "hit@5_pure_vectors": round(vectors / len(asked), 3),
    }


def table(title: str, rows: Sequence[Row]) -> str:
    """Rows as a Markdown table."""
    names = list(rows[0])
    lines = [f"### {title}", "", "| " + " | ".join(names) + " |", "|" + "---:|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the chosen parts, print tables, keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of memories, comma separated")
    parser.add_argument("--lift-sizes", default="1000,5000,20000", help="sizes of the key-filter experiment")
    parser.add_argument("--parts", default="start,growth,lift", help="which parts to run, comma separated")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--one-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--reopen", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_size or options.reopen:
        print(json.dumps(one_size(options.one_size) if options.one_size else reopen(options.reopen)))
        return 0
    parts: dict[str, Callable[[], list[Row]]] = {
        "start": lambda: start_up(5),
        "growth": lambda: growth([int(size) for size in options.sizes.split(",")]),
        "lift": lambda: key_filter([int(size) for size in options.lift_sizes.split(",")]),
    }
    results: dict[str, list[Row]] = {}
    for name in options.parts.split(","):
        if name not in parts:
            parser.error(f"unknown part {name!r}; use {', '.join(parts)}")
        print(f"... {name}", file=sys.stderr)
        results[name] = parts[name]()
        if not options.json:
            print(table(name, results[name]))
    machine = {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}
    RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(kept | results | {"machine": machine}, indent=1) + "\n")
    if options.json:
        print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
