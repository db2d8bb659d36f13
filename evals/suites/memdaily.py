"""MemDaily (Zhang et al. 2024): what a Chinese user said in passing, and questions about it.

`memdaily` keeps each question's own messages in a space of their own. `memdaily-noise` keeps all
messages of one persona, from all question types, in one space: ten to forty times as many.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from evals.conversations import Conversation, Probe, run_conversations, without_unknown
from evals.product import Entry
from evals.report import Report
from evals.running import Run, read_json

_ZONE = ZoneInfo("Asia/Shanghai")
_LAYOUT = "memdaily/*.json, lists of `message_list` and `question_list`"


def evaluate(run: Run) -> Report:
    """Each question among its own messages."""
    return run_conversations("memdaily", own(run), run)


def evaluate_noise(run: Run) -> Report:
    """Each question among all messages of the same persona."""
    note = "A message counts as evidence if it is the target or has its very words; a paraphrase of it does not count."
    return run_conversations("memdaily-noise", shared(run), run, notes=(note,))


def _trajectories(run: Run) -> list[tuple[str, Mapping[str, Any]]]:
    files = run.files("memdaily", "*.json", layout=_LAYOUT)
    return [(path.stem, one) for path in files for one in read_json(path)]


def own(run: Run) -> list[Conversation]:
    """One conversation per trajectory."""
    return [
        without_unknown(Conversation(f"{kind}-{one['tid']}", _entries(kind, one), _probes(kind, one), {}))
        for kind, one in _trajectories(run)
    ]


def shared(run: Run) -> list[Conversation]:
    """One conversation per persona."""
    personas: dict[int, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for kind, one in _trajectories(run):
        personas[one["tid"]].append((kind, one))
    made: list[Conversation] = []
    for tid, parts in sorted(personas.items()):
        written = [entry for kind, one in parts for entry in _entries(kind, one)]
        # The same sentence in two question types is one thing said twice: one entry, the first.
        first: dict[str, Entry] = {}
        same = {entry.key: first.setdefault(entry.content, entry).key for entry in written}
        asked = [
            Probe(probe.query, probe.now, tuple(same[key] for key in probe.evidence if key in same), probe.groups)
            for kind, one in parts
            for probe in _probes(kind, one)
        ]
        entries = sorted(first.values(), key=lambda entry: (entry.at, entry.key))
        made.append(without_unknown(Conversation(f"persona-{tid}", tuple(entries), tuple(asked), {})))
    return made


def _entries(kind: str, one: Mapping[str, Any]) -> tuple[Entry, ...]:
    return tuple(
        Entry(f"{kind}-{message['mid']}", message["message"], _time(message["time"]), {"kind": "fact"})
        for message in one["message_list"]
    )


def _probes(kind: str, one: Mapping[str, Any]) -> tuple[Probe, ...]:
    return tuple(
        Probe(
            question["question"],
            _time(question["time"]),
            tuple(f"{kind}-{step}" for step in _steps(question["target_step_id"])),
            ("all", re.sub(r"_[a-z]+$", "", kind)),
        )
        for question in one["question_list"]
    )


def _steps(target: Any) -> list[int]:
    """Step ids, which may come in nested lists."""
    if isinstance(target, list):
        return [step for part in cast("list[Any]", target) for step in _steps(part)]
    return [int(target)]


def _time(text: str) -> datetime:
    """From "2024年04月01日 周一 08:30"."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return datetime(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], tzinfo=_ZONE)
