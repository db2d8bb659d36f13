"""How cost grows with what is stored: one space of up to a million rows, a thousand spaces, a narrow filter.

    python -m evals.bench_growth [--sizes 1000,10000,100000,1000000] [--parts sizes,filter,spaces] [--stores DIR]

Searches and single writes go through the service, embedding included, each question once. The rows are put
into the store as they are, with vectors that are drawn: a few thousand texts are embedded, and every row's
vector is a mixture of two of these with some noise, since embedding a million texts says nothing about growth.
Prints tables, keeps the figures in `evals/results/growth.json` and draws `docs/growth.svg`.
"""

import argparse
import contextlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from afterwit import Afterwit, SearchOptions
from afterwit.records import Add, Kind, Memory, Vector, new_id
from evals.bench import RESULTS, Row, percentiles, resident_mb, table, timed
from evals.bench_texts import memory_texts, query_texts

GROWTH = RESULTS.parent / "growth.json"
CHART = Path(__file__).parent.parent / "docs" / "growth.svg"

START = datetime(2026, 1, 1, tzinfo=UTC)
#: Texts that are embedded at most; every vector is a mixture of two of theirs.
EMBEDDED = 4_000
#: Rows in one transaction.
BATCH = 1_000
#: One row in so many is a decision, all others are facts: a filter by kind leaves these.
RARE = 100
QUERIES = 200
WRITES = 50


class Rows:
    """Rows for a store, the same in every run."""

    def __init__(self, memory: Afterwit, embedded: int) -> None:
        """Embed the texts that vectors are drawn from, so many of them."""
        assert memory.embedder is not None
        self.model = memory.embedder.model
        texts = list(memory_texts(embedded, seed=5))
        self.known = np.concatenate(
            [memory.embedder.embed(texts[start : start + 64]) for start in range(0, len(texts), 64)]
        )
        self.random = np.random.default_rng(3)

    def vectors(self, count: int) -> list[bytes]:
        """Unit vectors that lie as those of texts do, as they are stored."""
        first, second = self.random.integers(len(self.known), size=(2, count))
        share = self.random.uniform(0.5, 0.9, size=(count, 1))
        noise = self.random.normal(scale=0.15 / math.sqrt(self.known.shape[1]), size=(count, self.known.shape[1]))
        mixed = share * self.known[first] + (1 - share) * self.known[second] + noise
        return [row.tobytes() for row in (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype("<f2")]

    def batches(self, space: str, count: int, seed: int) -> Iterator[list[Add]]:
        """Rows of one space, `BATCH` at a time."""
        texts = memory_texts(count, seed=seed)
        for first in range(0, count, BATCH):
            numbers = range(first, min(first + BATCH, count))
            drawn = self.vectors(len(numbers))
            yield [
                Add(self._memory(space, number, next(texts)), Vector(self.model, data))
                for number, data in zip(numbers, drawn, strict=True)
            ]

    @staticmethod
    def _memory(space: str, number: int, words: str) -> Memory:
        at = START + timedelta(seconds=number)
        kind = Kind.FACT if number % RARE else Kind.DECISION
        return Memory(
            id=new_id(at), space=space, summary=words, kind=kind, recorded_at=at, happened_at=at, supporters=("bench",)
        )


def fill(directory: Path, spaces: Sequence[str], count: int) -> Row:
    """Put `count` rows into each space of a new store."""
    memory = Afterwit.open(data_dir=directory)
    try:
        rows = Rows(memory, min(EMBEDDED, len(spaces) * count))
        for seed, space in enumerate(spaces):
            for batch in rows.batches(space, count, seed):
                with memory.store.transaction(space, now=START, actor="bench") as transaction:
                    transaction.apply(batch)
    finally:
        memory.close()
    return {}


def measure(directory: Path, space: str, options: SearchOptions) -> Row:
    """Search and write in one space, in a process that does nothing else."""
    memory = Afterwit.open(data_dir=directory, space=space)
    try:
        queries = query_texts(QUERIES + 20)
        cold = timed(lambda: memory.search("first search of a new process", **options))
        # It has begun to make what later ones use, which takes less time than it took.
        time.sleep(cold)
        searches: list[float] = []
        processor: list[float] = []
        for query in queries:
            start = time.thread_time()
            searches.append(timed(lambda query=query: memory.search(query, **options)))
            processor.append(time.thread_time() - start)
        resident = resident_mb()
        writes = [timed(lambda text=text: memory.write(text, kind="fact")) for text in memory_texts(WRITES, seed=99)]
    finally:
        memory.close()
    (search50, search95), (write50, _) = percentiles(searches[20:]), percentiles(writes[5:])
    return {
        "search_p50_ms": round(search50, 1),
        "search_p95_ms": round(search95, 1),
        "search_cpu_p50_ms": round(percentiles(processor[20:])[0], 1),
        "first_search_ms": round(cold * 1000),
        "write_p50_ms": round(write50, 1),
        "resident_mb": round(resident),
        "file_mb": round(sum(path.stat().st_size for path in directory.glob("memory.db*")) / 1e6, 1),
    }


def tour(directory: Path, spaces: Sequence[str]) -> Row:
    """Search every space of a store once: what a process keeps of spaces must not pile up."""
    memory = Afterwit.open(data_dir=directory)
    try:
        (question,) = query_texts(1)
        embedder, store, settings = memory.embedder, memory.store, memory.settings
        taken: list[float] = []
        for space in spaces:
            there = Afterwit(store, embedder, settings=replace(settings, space=space))
            taken.append(timed(lambda there=there: there.search(question)))
        return {
            "spaces_searched": len(spaces),
            "first_search_in_a_space_p50_ms": round(percentiles(taken)[0], 1),
            "resident_mb": round(resident_mb()),
        }
    finally:
        memory.close()


def _in_own_process(step: str, directory: Path, *arguments: str) -> Row:
    command = [sys.executable, "-m", "evals.bench_growth", "--step", step, "--stores", str(directory), *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


@contextlib.contextmanager
def _store(stores: Path | None, name: str, spaces: int, count: int) -> Iterator[Path]:
    """A directory with a filled store; kept, and used again, if a place for stores was named."""
    with contextlib.ExitStack() as until_end:
        root = stores or Path(until_end.enter_context(tempfile.TemporaryDirectory()))
        directory = root / name
        if not (directory / "filled").exists():
            directory.mkdir(parents=True, exist_ok=True)
            _in_own_process("fill", directory, "--spaces", str(spaces), "--sizes", str(count))
            (directory / "filled").touch()
        yield directory


def _space_names(count: int) -> list[str]:
    return [f"space{number}" for number in range(count)]


def sizes(stores: Path | None, counts: Sequence[int]) -> list[Row]:
    """One space that grows."""
    rows: list[Row] = []
    for count in counts:
        with _store(stores, f"size-{count}", 1, count) as directory:
            rows.append({"rows": count} | _in_own_process("measure", directory))
    return rows


def narrow(stores: Path | None, counts: Sequence[int]) -> list[Row]:
    """A filter that leaves one row in a hundred, beside the same number of rows without a filter."""
    rows: list[Row] = []
    for count in counts:
        with _store(stores, f"size-{count}", 1, count) as directory:
            found = _in_own_process("measure", directory, "--kind", str(Kind.DECISION))
        rows.append({"rows": count, "left_by_the_filter": count // RARE} | _searches(found))
    return rows


def _searches(found: Row) -> Row:
    return {name: found[name] for name in ("search_p50_ms", "search_p95_ms", "search_cpu_p50_ms", "resident_mb")}


def many_spaces(stores: Path | None, spaces: int, count: int) -> list[Row]:
    """Many spaces in one file: searching one of them, then each of them."""
    with _store(stores, f"spaces-{spaces}-{count}", spaces, count) as directory:
        one = _in_own_process("measure", directory)
        each = _in_own_process("tour", directory, "--spaces", str(spaces))
    return [
        {"spaces": spaces, "rows_each": count}
        | one
        | {f"after_all_{name}" if name == "resident_mb" else name: value for name, value in each.items()}
    ]


# --- the chart ----------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _MARGIN = 420, 260, 56
_COLOURS = ("#2563eb", "#dc2626")


def chart(panels: Sequence[tuple[str, Sequence[float], dict[str, Sequence[float]]]]) -> str:
    """Panels side by side as SVG, both axes logarithmic.

    Args:
        panels: title, x values, and y values by the name of their line; all > 0.
    """
    parts = [_panel(place * _WIDTH, *panel) for place, panel in enumerate(panels)]
    size = f'viewBox="0 0 {_WIDTH * len(panels)} {_HEIGHT}" width="{_WIDTH * len(panels)}" height="{_HEIGHT}"'
    style = 'font-family="sans-serif" font-size="11"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _panel(left: float, title: str, xs: Sequence[float], lines: dict[str, Sequence[float]]) -> str:
    across = _scale(xs, left + _MARGIN, left + _WIDTH - 20)
    values = [value for line in lines.values() for value in line]
    ticks = _ticks(min(values), max(values))
    up = _scale(ticks, _HEIGHT - _MARGIN, 40)
    parts = [_label(left + _MARGIN, 20, title, bold=True)]
    for x in xs:
        parts.append(_label(across(x), _HEIGHT - _MARGIN + 18, f"{x:,.0f}", anchor="middle"))
    for y in ticks:
        parts.append(_label(left + _MARGIN - 6, up(y) + 4, f"{y:,.0f}", anchor="end"))
        parts.append(f'<path d="M{left + _MARGIN} {up(y):.1f}H{left + _WIDTH - 20}" stroke="#e5e7eb"/>')
    for below, (colour, (name, line)) in enumerate(zip(_COLOURS, lines.items(), strict=False)):
        points = [(across(x), up(y)) for x, y in zip(xs, line, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(_label(points[-1][0], points[-1][1] - 8 + 24 * below, name, anchor="end", colour=colour))
    parts.append(_label(left + _WIDTH / 2, _HEIGHT - 14, "rows in the space", anchor="middle"))
    return "\n".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... from the last one below to the first one above; decades alone where these are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 100 else (1,)
    every = [step * 10.0**power for power in powers for step in steps]
    first = max(place for place, tick in enumerate(every) if tick <= low)
    last = min(place for place, tick in enumerate(every) if tick >= high)
    return every[first : last + 1]


def _scale(values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    low, high = math.log(min(values)), math.log(max(values))
    return lambda value: start + (end - start) * (math.log(value) - low) / ((high - low) or 1.0)


def _label(
    x: float, y: float, words: str, *, anchor: str = "start", bold: bool = False, colour: str = "#111827"
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{words}</text>'


def draw(rows: Sequence[Row]) -> str:
    """The chart of the sizes part."""
    xs = [row["rows"] for row in rows]
    return chart(
        [
            (
                "search, ms (embedding included)",
                xs,
                {"p95": [row["search_p95_ms"] for row in rows], "p50": [row["search_p50_ms"] for row in rows]},
            ),
            (
                "memory and file, MB",
                xs,
                {"file": [row["file_mb"] for row in rows], "resident": [row["resident_mb"] for row in rows]},
            ),
        ]
    )


# --- the command --------------------------------------------------------------------------------


def main() -> int:
    """Run the chosen parts, print tables, keep the figures, draw the chart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", help="numbers of rows, comma separated")
    parser.add_argument("--filter-sizes", default="100000", help="sizes of the filter part")
    parser.add_argument("--spaces", type=int, default=1000, help="spaces of the spaces part, of 1,000 rows each")
    parser.add_argument("--parts", default="sizes,filter,spaces", help="which parts to run, comma separated")
    parser.add_argument("--stores", type=Path, help="keep the stores in this directory and use them again")
    parser.add_argument("--step", choices=("fill", "measure", "tour"), help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(_step(options)))
        return 0
    counts = [int(size) for size in options.sizes.split(",")]
    parts: dict[str, Callable[[], list[Row]]] = {
        "sizes": lambda: sizes(options.stores, counts),
        "filter": lambda: narrow(options.stores, [int(size) for size in options.filter_sizes.split(",")]),
        "spaces": lambda: many_spaces(options.stores, options.spaces, 1000),
    }
    kept: dict[str, Any] = json.loads(GROWTH.read_text()) if GROWTH.exists() else {}
    for name in options.parts.split(","):
        if name not in parts:
            parser.error(f"unknown part {name!r}; use {', '.join(parts)}")
        kept[name] = parts[name]()
        print(table(name, kept[name]))
    kept["machine"] = {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}
    GROWTH.write_text(json.dumps(kept, indent=1) + "\n")
    if "sizes" in kept:
        CHART.write_text(draw(kept["sizes"]))
    return 0


def _step(options: argparse.Namespace) -> Row:
    match options.step:
        case "fill":
            return fill(options.stores, _space_names(options.spaces), int(options.sizes))
        case "tour":
            return tour(options.stores, _space_names(options.spaces))
        case _:
            return measure(options.stores, "space0", {"kinds": [options.kind]} if options.kind else {})


if __name__ == "__main__":
    sys.exit(main())
