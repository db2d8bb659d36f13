"""LongMemEval (Wu et al. 2025): one question per haystack of chat sessions. Bring the files yourself.

Turns marked `has_answer` are the evidence; where none is marked, the first user turn of each
session in `answer_session_ids` is. `session R@5` counts sessions.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from evals.conversations import Conversation, Probe, run_conversations, without_unknown
from evals.product import Entry
from evals.report import Report
from evals.running import Run, read_json
from evals.suites.beam import pieces


def evaluate(run: Run) -> Report:
    """Every question that has an answer in its haystack."""
    layout = "longmemeval/longmemeval_*.json, lists with `haystack_sessions`, `haystack_dates`, `answer_session_ids`"
    files = run.files("longmemeval", "longmemeval*.json", layout=layout)
    questions = [question for path in files for question in read_json(path)]
    answerable = [question for question in questions if not question["question_id"].endswith("_abs")]
    return run_conversations("longmemeval", [read_question(question) for question in run.limited(answerable)], run)


def read_question(question: Mapping[str, Any]) -> Conversation:
    """One question with its haystack."""
    entries: list[Entry] = []
    sessions: dict[str, str] = {}
    marked: list[str] = []
    openings: list[str] = []
    haystack = zip(
        question["haystack_session_ids"], question["haystack_dates"], question["haystack_sessions"], strict=True
    )
    for session, date, turns in sorted(haystack, key=lambda part: _time(part[1])):
        for position, turn in enumerate(turns):
            key = f"{session}:{position}"
            sessions[key] = session
            if turn.get("has_answer"):
                marked.append(key)
            if position == 0 and session in question["answer_session_ids"]:
                openings.append(key)
            at = _time(date) + timedelta(seconds=position)
            for piece in pieces(turn["content"]):
                entries.append(Entry(key, piece, at, {"kind": "fact", "subject": turn["role"]}, "agent"))
    groups = ("all", question["question_type"])
    probe = Probe(question["question"], _time(question["question_date"]), tuple(marked or openings), groups)
    return without_unknown(Conversation(question["question_id"], tuple(entries), (probe,), sessions))


def _time(text: str) -> datetime:
    """From "2023/05/20 (Sat) 02:21"."""
    date, _, rest = text.partition(" ")
    return datetime.strptime(f"{date} {rest.split()[-1]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
