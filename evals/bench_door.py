"""What an agent's client waits for: the start of `afterwit mcp`, and hooks before a prompt and a call of a tool.

Run with `python -m evals.bench_door`; `--keep` keeps the figures in `evals/results/door.json` and writes the table of
docs/benchmarks.md. Wall times of a machine that does other work tell of that work, so an interpreter that does nothing
is started beside each process and timed in the same way: what is ours is the difference of the two.
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from afterwit import Afterwit
from afterwit.cli.clients.machine import Machine
from afterwit.cli.connecting import launch_of
from afterwit.config import load_settings
from evals.bench import Row, fill, table
from evals.bench_texts import memory_texts, query_texts

RESULTS = Path(__file__).parent / "results" / "door.json"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
#: Lines of the page between which the table stands.
MARKS = ("<!-- door: written by evals/bench_door.py -->", "<!-- /door -->")
#: Settings of the embedder: the default model, and none.
EMBEDDERS = {"default model": "", "no model": "none"}
#: Longest wait for a process, in seconds.
PATIENCE_S = 60
#: Time for a daemon to end, in seconds.
LEAVING_S = 1.5

_COMMAND = [sys.executable, "-m", "afterwit"]
#: An interpreter that does nothing, started as `connect` has clients start the server, and hooks.
_BARE = [sys.executable, "-c", "pass"]
_BARE_HOOK = [sys.executable, "-I", "-S", "-c", "pass"]
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO}).encode() + b"\n"

#: What is waited for -> how the page calls it.
TITLES = {
    "start": "`afterwit mcp` to its answer to `initialize`",
    "session's start": "hook at a session's start",
    "prompt": "hook at a prompt",
    "before a tool": "hook before a tool",
    "after a tool": "hook after a tool that went well",
    "start, cold": "`afterwit mcp` without a daemon",
    "session's start, cold": "hook at a session's start without a daemon",
}


@dataclass(frozen=True)
class Took:
    """How long something took, in milliseconds."""

    wall: float
    #: processor time of the process that was started
    cpu: float
    #: wall time of an interpreter that does nothing, started right before
    bare: float


class Place:
    """A memory in a directory of its own, with a daemon that is started and stopped.

    Args:
        root: an empty directory.
        embedder: the setting; "" = the default.
    """

    def __init__(self, root: Path, embedder: str) -> None:
        self._root = root
        own = {"AFTERWIT_DATA_DIR": str(root / "data"), "AFTERWIT_DAEMON_IDLE_S": "120"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWIT_")}
        self._environ = inherited | own | ({"AFTERWIT_EMBEDDER": embedder} if embedder else {})
        (root / "atlas" / ".git").mkdir(parents=True)

        settings = load_settings(environ={}, overrides={"data_dir": str(root / "data")})
        self._launch, self._machine = launch_of(settings), Machine.here()

    def initialize(self) -> Took:
        """From the start of `afterwit mcp` to its first answer."""
        bare = self._run(_BARE)[0]
        used, began = _children_ms(), time.perf_counter()
        with subprocess.Popen(
            [*_COMMAND, "mcp"],
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(_INITIALIZE)
            process.stdin.flush()
            assert b'"result"' in process.stdout.readline()
            took = (time.perf_counter() - began) * 1000
            process.stdin.close()
            process.wait(PATIENCE_S)
        return Took(took, _children_ms() - used, bare)

    def hook(self, event: str, **told: Any) -> Took:
        """A hook as its client sees it, by the command that `connect` writes, without the client's shell."""
        payload = {"hook_event_name": event, "session_id": "bench", "cwd": str(self._root / "atlas")} | told
        command = shlex.split(self._launch.hook(event, "claude-code", self._machine))
        # Settings of this process stand before it; those of this place are in the environment.
        command = command[command.index(sys.executable) :]
        bare = self._run(_BARE_HOOK)[0]
        wall, cpu = self._run(command, json.dumps(payload).encode())
        return Took(wall, cpu, bare)

    def _run(self, command: Sequence[str], given: bytes = b"") -> tuple[float, float]:
        """Wall and processor time of a process, in milliseconds."""
        used, began = _children_ms(), time.perf_counter()
        subprocess.run(command, input=given, env=self._environ, capture_output=True, timeout=PATIENCE_S, check=True)
        return (time.perf_counter() - began) * 1000, _children_ms() - used

    def stop(self) -> None:
        """End the daemon."""
        subprocess.run([*_COMMAND, "daemon", "stop"], env=self._environ, capture_output=True, check=True)
        # What it still does at its end is not to be measured with the next.
        time.sleep(LEAVING_S)


def _children_ms() -> float:
    """Processor time of all ended processes that this one has started; a daemon is none of them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def measure(name: str, memories: int, rounds: int) -> list[Row]:
    """One row per thing that a client waits for.

    Args:
        name: of `EMBEDDERS`.
        memories: how many there are.
        rounds: of warm starts and hooks; a fifth as many cold ones.
    """
    with tempfile.TemporaryDirectory() as directory:
        root, embedder = Path(directory), EMBEDDERS[name]
        settings = {"embedder": embedder} if embedder else {}
        with Afterwit.open(data_dir=root / "data", **settings) as memory:
            fill(memory, memory_texts(memories))
        place = Place(root, embedder)
        took: dict[str, list[Took]] = {what: [] for what in TITLES}
        for _ in range(max(rounds // 5, 1)):
            took["start, cold"].append(place.initialize())
            place.stop()
            took["session's start, cold"].append(place.hook("SessionStart"))
            place.stop()
        # The first searches load the model.
        for prompt in query_texts(5, seed=1):
            place.hook("UserPromptSubmit", prompt=prompt)
        for number, prompt in enumerate(query_texts(rounds)):
            # One after the other, so that what else the machine does meets all alike.
            for what, measured in _warm(place, number, prompt).items():
                took[what].append(measured())
        place.stop()
    return [_row(name, what, times) for what, times in took.items()]


def _warm(place: Place, number: int, prompt: str) -> dict[str, Callable[[], Took]]:
    """What a client does in a session whose daemon is there."""
    call = {"tool_name": "Bash", "tool_input": {"command": f"npm install package-{number}"}}
    response = {"stdout": "added 12 packages", "exit_code": 0}
    return {
        "start": place.initialize,
        "session's start": lambda: place.hook("SessionStart"),
        "prompt": lambda: place.hook("UserPromptSubmit", prompt=prompt),
        "before a tool": lambda: place.hook("PreToolUse", **call),
        "after a tool": lambda: place.hook("PostToolUse", tool_response=response, **call),
    }


def _row(name: str, what: str, times: Sequence[Took]) -> Row:
    wall, bare = [took.wall for took in times], [took.bare for took in times]
    ours = [took.wall - took.bare for took in times]
    return {
        "embedder": name,
        "what": what,
        "rounds": len(times),
        "wall_min_ms": round(min(wall)),
        "wall_p50_ms": round(float(np.percentile(wall, 50))),
        "wall_p95_ms": round(float(np.percentile(wall, 95))),
        "bare_min_ms": round(min(bare)),
        "bare_p50_ms": round(float(np.percentile(bare, 50))),
        "ours_p50_ms": round(float(np.percentile(ours, 50))),
        "cpu_p50_ms": round(float(np.percentile([took.cpu for took in times], 50))),
    }


def page(record: Row) -> str:
    """The table of the page and its notes, as Markdown, from what `--keep` has kept."""
    lines = [
        "| What the client waits for | with | least | p50 | p95 | bare interpreter, least / p50 | ours, p50 | "
        "processor time |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {TITLES[row['what']]} | {row['embedder']} | {row['wall_min_ms']:,} | {row['wall_p50_ms']:,} | "
        f"{row['wall_p95_ms']:,} | {row['bare_min_ms']} / {row['bare_p50_ms']} | {row['ours_p50_ms']:,} | "
        f"{row['cpu_p50_ms']} |"
        for row in record["rows"]
    ]
    rounds = sorted({row["rounds"] for row in record["rows"]}, reverse=True)
    notes = (
        f"Milliseconds; {record['memories']:,} memories; {' and '.join(map(str, rounds))} rounds (the smaller number "
        f"without a daemon). Recorded on {record['date']} on {record['cores']} cores with a load of {record['load']} "
        "before it began. *Bare*: an interpreter that does nothing, started right before with the same options; "
        "*ours*: the median difference to it; *processor time*: that of the process that the client starts."
    )
    return "\n".join([*lines, "", notes])


def _write_page(record: Row) -> None:
    first, last = MARKS
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(first)
    after = rest.partition(last)[2]
    PAGE.write_text(f"{before}{first}\n\n{page(record)}\n\n{last}{after}", encoding="utf-8")


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--keep", action="store_true", help="keep the figures, and write them into the page")
    options = parser.parse_args()
    load = round(os.getloadavg()[0], 1)
    rows = [row for name in EMBEDDERS for row in measure(name, options.memories, options.rounds)]
    print(table(f"door, {options.memories:,} memories", rows))
    if options.keep:
        record = {
            "memories": options.memories,
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "cores": os.cpu_count(),
            "load": load,
            "rows": rows,
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        _write_page(record)


if __name__ == "__main__":
    main()
