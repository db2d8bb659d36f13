"""What an agent's client waits for: the start of `afterwit mcp`, and hooks before a prompt and a call of a tool.

Run with `python -m evals.bench_door`; `--keep` keeps the figures in `evals/results/door.json`. Wall times of a machine
that does other work tell of that work, so the processor time of the process that the client starts stands beside them.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from afterwit import Afterwit
from evals.bench import Row, fill, table
from evals.bench_texts import memory_texts, query_texts

RESULTS = Path(__file__).parent / "results" / "door.json"
#: Settings of the embedder: the default model, and none.
EMBEDDERS = {"default model": "", "no model": "none"}
#: Longest wait for a process, in seconds.
PATIENCE_S = 60
#: Time for a daemon to end, in seconds.
LEAVING_S = 1.5

_COMMAND = [sys.executable, "-m", "afterwit"]
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO}).encode() + b"\n"


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

    def initialize(self) -> tuple[float, float]:
        """Milliseconds from the start of `afterwit mcp` to its first answer, and those of its processor time."""
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
        return took, _children_ms() - used

    def hook(self, event: str, **told: Any) -> tuple[float, float]:
        """Milliseconds that a hook takes as its client sees it, and those of its processor time."""
        payload = {"hook_event_name": event, "session_id": "bench", "cwd": str(self._root / "atlas")} | told
        used, began = _children_ms(), time.perf_counter()
        subprocess.run(
            [*_COMMAND, "hook", "--client", "claude-code"],
            input=json.dumps(payload).encode(),
            env=self._environ,
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
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
        cold: dict[str, list[tuple[float, float]]] = {"start, cold": [], "session's start, cold": []}
        for _ in range(max(rounds // 5, 1)):
            cold["start, cold"].append(place.initialize())
            place.stop()
            cold["session's start, cold"].append(place.hook("SessionStart"))
            place.stop()
        # The first searches load the model.
        for prompt in query_texts(5, seed=1):
            place.hook("UserPromptSubmit", prompt=prompt)
        calls = [f"npm install package-{number}" for number in range(rounds)]
        warm = {
            "start": [place.initialize() for _ in range(rounds)],
            "session's start": [place.hook("SessionStart") for _ in range(rounds)],
            "prompt": [place.hook("UserPromptSubmit", prompt=prompt) for prompt in query_texts(rounds)],
            "before a tool": [
                place.hook("PreToolUse", tool_name="Bash", tool_input={"command": call}) for call in calls
            ],
        }
        place.stop()
    return [_row(name, what, times) for what, times in (warm | cold).items()]


def _row(name: str, what: str, times: Sequence[tuple[float, float]]) -> Row:
    wall, cpu = zip(*times, strict=True)
    return {
        "embedder": name,
        "what": what,
        "rounds": len(times),
        "wall_p50_ms": round(float(np.percentile(wall, 50))),
        "wall_p95_ms": round(float(np.percentile(wall, 95))),
        "cpu_p50_ms": round(float(np.percentile(cpu, 50))),
    }


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--keep", action="store_true", help="keep the figures in evals/results/door.json")
    options = parser.parse_args()
    rows = [row for name in EMBEDDERS for row in measure(name, options.memories, options.rounds)]
    print(table(f"door, {options.memories:,} memories", rows))
    if options.keep:
        RESULTS.write_text(json.dumps({"memories": options.memories, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
