"""Two people talk over months: which turns hold the answer?

LoCoMo (Maharana et al. 2024) and REALTALK (Lee et al. 2025).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.conversations import Conversation, Probe, run_conversations, without_unknown
from evals.product import Entry
from evals.report import Report
from evals.running import Run, read_json

_CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")


def evaluate_locomo(run: Run) -> Report:
    """Evidence turns of LoCoMo's questions; categories 1-4 and 5 apart."""
    return run_conversations("locomo", locomo(run), run)


def evaluate_realtalk(run: Run) -> Report:
    """Evidence turns of REALTALK's questions."""
    return run_conversations("realtalk", realtalk(run), run)


def locomo(run: Run) -> list[Conversation]:
    """All conversations of LoCoMo."""
    files = run.files("locomo", "locomo*.json", layout="locomo/locomo*.json, a list with `qa` and `conversation`")
    samples = [sample for path in files for sample in read_json(path)]
    return [read_locomo(sample) for sample in samples]


def realtalk(run: Run) -> list[Conversation]:
    """All chats of REALTALK."""
    files = run.files(
        "realtalk", "Chat_*.json", layout="realtalk/Chat_*.json with `qa` and `session_1`, `session_2`, ..."
    )
    return [read_realtalk(path) for path in files]


def turn_ids(evidence: Iterable[Any]) -> tuple[str, ...]:
    """Turn ids as they are in the dialogue, from strings such as "D8:6; D9:17", "D:11:26" and "D30:05"."""
    found = [match for text in evidence for match in _TURN_ID.findall(str(text))]
    return tuple(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))


def read_locomo(sample: Mapping[str, Any]) -> Conversation:
    """One conversation of a LoCoMo file."""
    dialogue = sample["conversation"]
    entries: list[Entry] = []
    sessions: dict[str, str] = {}
    for name in _session_names(dialogue):
        begins = datetime.strptime(dialogue[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for position, turn in enumerate(dialogue[name]):
            entry = _turn(turn, turn["text"], begins + timedelta(minutes=position), name)
            if entry is not None:
                entries.append(entry)
                sessions[entry.key] = name
    return _conversation(str(sample["sample_id"]), entries, sessions, sample["qa"])


def read_realtalk(path: Path) -> Conversation:
    """One chat of REALTALK."""
    chat = read_json(path)
    entries: list[Entry] = []
    sessions: dict[str, str] = {}
    for name in _session_names(chat):
        for turn in chat[name]:
            at = datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC)
            entry = _turn(turn, turn["clean_text"], at, name)
            if entry is not None:
                entries.append(entry)
                sessions[entry.key] = name
    return _conversation(path.stem, entries, sessions, chat.get("qa", []))


def _session_names(dialogue: Mapping[str, Any]) -> Iterator[str]:
    numbers = sorted(int(key[8:]) for key in dialogue if re.fullmatch(r"session_\d+", key))
    return (f"session_{number}" for number in numbers)


def _turn(turn: Mapping[str, Any], text: str, at: datetime, session: str) -> Entry | None:
    caption = str(turn.get("blip_caption") or "")
    content = f"{text} [shares {caption}]" if caption else text
    if not content.strip():
        return None
    return Entry(turn["dia_id"], content, at, speaker=turn["speaker"], session=session)


def _conversation(
    name: str, entries: list[Entry], sessions: dict[str, str], questions: Iterable[Mapping[str, Any]]
) -> Conversation:
    now = entries[-1].at + timedelta(days=1)
    probes = [
        Probe(
            question["question"],
            now,
            turn_ids(question.get("evidence", ())),
            ("1-4" if question["category"] < 5 else "5", _CATEGORIES[question["category"]]),
        )
        for question in questions
    ]
    return without_unknown(Conversation(name, tuple(entries), tuple(probes), sessions))
