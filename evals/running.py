"""What every suite needs while it runs: where the data is, a progress bar, a stop-watch."""

import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")

#: Looked at when neither --data nor AFTERWIT_DATA names a place.
DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


class DataUnusable(Exception):
    """Benchmark data cannot be read; the message says which file and why."""


class DataMissing(DataUnusable):
    """Benchmark data was not found; the message says where it was looked for and what it should look like."""


def read_json(path: Path) -> Any:
    """The values of a file of JSON.

    Raises:
        DataUnusable: it cannot be read, or is no JSON in UTF-8.
    """
    return _parsed(path, _read(path))


def read_json_lines(path: Path) -> list[Any]:
    """The values of a file with one line of JSON each; empty lines are passed over.

    Raises:
        DataUnusable: it cannot be read, or a line is no JSON in UTF-8.
    """
    return [_parsed(path, line) for line in _read(path).splitlines() if line.strip()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataUnusable(f"{path} is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}.") from error
    except OSError as error:
        raise DataUnusable(f"{path} cannot be read: {error.strerror or error}.") from error


def _parsed(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DataUnusable(f"{path} is not JSON: {error}.") from error


class StopWatch:
    """Adds up how long named things take."""

    def __init__(self) -> None:
        """Nothing was timed yet."""
        self._laps: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def time(self, name: str) -> Generator[None]:
        """Time a block under a name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._laps[name].append(time.perf_counter() - start)

    def call(self, name: str, function: Callable[[], Item]) -> Item:
        """Call a function and time it."""
        with self.time(name):
            return function()

    def summary(self) -> dict[str, str]:
        """Name -> total, number, median and 95th percentile; the longest total first."""
        lines: dict[str, str] = {}
        for name, laps in sorted(self._laps.items(), key=lambda item: -sum(item[1])):
            ordered = sorted(laps)
            p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
            lines[name] = (
                f"{sum(laps):.1f} s in {len(laps)} calls, "
                f"p50 {statistics.median(ordered) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms"
            )
        return lines


@dataclass(frozen=True)
class Run:
    """How a suite is to be run."""

    #: folder with one sub-folder per data set, or None for the usual places
    data: Path | None = None
    #: at most so many conversations, worlds or personas; 0 = all
    limit: int = 0
    #: ways to search, in the order of the table
    arms: Sequence[str] = ("ours",)
    embedder: str = "use"
    #: the first seed, for a suite that draws its cases
    first: int = 0
    watch: StopWatch = field(default_factory=StopWatch)

    def files(self, folder: str, pattern: str, *, layout: str) -> list[Path]:
        """The files of a data set, sorted.

        Raises:
            DataMissing: there are none.
        """
        root = self.data or Path(os.environ.get("AFTERWIT_DATA") or DEFAULT_DATA)
        found = sorted((root / folder).glob(pattern)) or sorted(root.glob(pattern))
        if not found:
            raise DataMissing(
                f"No data at {root / folder / pattern}.\n"
                f"Expected: {layout}\n"
                "Name the folder that holds it with --data PATH or AFTERWIT_DATA."
            )
        return found

    def limited(self, items: Sequence[Item]) -> Sequence[Item]:
        """The first `limit` items."""
        return items[: self.limit] if self.limit else items


def progress(items: Iterable[Item], *, total: int, label: str) -> Iterator[Item]:
    """Pass items through and draw a bar on standard error, if that is a terminal."""
    shown = sys.stderr.isatty()
    for position, item in enumerate(items):
        if shown:
            filled = 30 * position // max(total, 1)
            sys.stderr.write(f"\r{label} [{'#' * filled}{'.' * (30 - filled)}] {position}/{total}")
            sys.stderr.flush()
        yield item
    if shown:
        sys.stderr.write("\r" + " " * (len(label) + 50) + "\r")
        sys.stderr.flush()
