"""BEAM (Tavakoli et al. 2025): long chats with an assistant; the messages that answer, the newest above the stale."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from evals.conversations import Conversation, Probe, run_conversations, without_unknown
from evals.product import Entry
from evals.report import Report
from evals.running import Run, read_json

#: Characters of one memory: long messages are stored in pieces, cut between paragraphs.
PIECE_CHARACTERS = 900


def evaluate(run: Run) -> Report:
    """Messages named by `source_chat_ids`."""
    layout = "beam100k/N/chat.json and beam100k/N/probing_questions.json"
    files = run.files("beam100k", "*/chat.json", layout=layout)
    note = (
        f"Messages are written in pieces of at most {PIECE_CHARACTERS} characters; a message is found with any piece."
    )
    return run_conversations("beam", [read_chat(path) for path in files], run, notes=(note,))


def read_chat(path: Path) -> Conversation:
    """One chat and its questions."""
    entries: list[Entry] = []
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for message in _messages(read_json(path)):
        at = max(at + timedelta(minutes=5), _anchor(message) or at)
        content = re.sub(r"\s*->->\s*[\d,\s]*$", "", message["content"])
        for piece in pieces(content):
            entries.append(Entry(str(message["id"]), piece, at, {"kind": "fact", "subject": message["role"]}, "agent"))
    questions = read_json(path.parent / "probing_questions.json")
    now = at + timedelta(days=1)
    probes = [probe for kind, asked in questions.items() for probe in _probes(kind, asked, now)]
    return without_unknown(Conversation(path.parent.name, tuple(entries), tuple(probes), {}))


def pieces(text: str, *, size: int = PIECE_CHARACTERS) -> list[str]:
    """The text cut between paragraphs, else between lines, else anywhere; no piece longer than `size`."""
    made: list[str] = []
    held = ""
    for part in re.split(r"(?<=\n)", text):
        while len(part) > size:
            made += [held, part[:size]]
            held, part = "", part[size:]  # noqa: PLW2901
        if len(held) + len(part) > size:
            made.append(held)
            held = ""
        held += part
    return [piece.strip() for piece in (*made, held) if piece.strip()]


def _messages(part: Any) -> Iterator[Mapping[str, Any]]:
    """Every message in order, however deep the lists of batches and turns are."""
    if isinstance(part, Mapping):
        if "content" in part:
            yield part
        else:
            yield from _messages(list(cast("Mapping[str, Any]", part).values()))
    elif isinstance(part, list):
        for one in cast("list[Any]", part):
            yield from _messages(one)


def _anchor(message: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.strptime(str(message.get("time_anchor", "")), "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _probes(kind: str, asked: Sequence[Mapping[str, Any]], now: datetime) -> Iterator[Probe]:
    for question in asked:
        sources = question.get("source_chat_ids")
        if not sources:
            continue
        stale: tuple[str, ...] = ()
        newest: tuple[str, ...] = ()
        if isinstance(sources, Mapping) and "updated_info" in sources:
            stale, newest = tuple(_ids(sources["original_info"])), tuple(_ids(sources["updated_info"]))
        yield Probe(question["question"], now, tuple(_ids(sources)), ("all", kind), stale, newest)


def _ids(sources: Any) -> list[str]:
    if isinstance(sources, Mapping):
        return _ids(list(cast("Mapping[str, Any]", sources).values()))
    if isinstance(sources, list):
        return [id for part in cast("list[Any]", sources) for id in _ids(part)]
    return [str(sources)]
