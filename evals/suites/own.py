"""Own small corpora: questions across languages, and identifiers that must be met exactly."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals.conversations import Conversation, Probe, run_conversations, without_unknown
from evals.product import Entry
from evals.report import Report
from evals.running import Run, read_json

CORPORA = Path(__file__).parent.parent / "corpora"

_NOW = datetime(2025, 6, 18, 9, tzinfo=UTC)


def evaluate_crosslingual(run: Run) -> Report:
    """Chinese questions to English memories and back, among memories of both languages."""
    return run_conversations("crosslingual", [read_corpus("crosslingual")], run)


def evaluate_identifiers(run: Run) -> Report:
    """Error codes, functions, paths, versions, tickets and keys, among their nearest neighbours."""
    return run_conversations("identifiers", [read_corpus("identifiers")], run)


def read_corpus(name: str) -> Conversation:
    """A corpus of `memories` and `cases` (query, must, group)."""
    corpus = read_json(CORPORA / f"{name}.json")
    entries = [
        Entry(one["id"], one["content"], _NOW - timedelta(days=1, minutes=-position), {"kind": one.get("kind", "fact")})
        for position, one in enumerate(corpus["memories"])
    ]
    probes = [Probe(case["query"], _NOW, tuple(case["must"]), ("all", case["group"])) for case in corpus["cases"]]
    return without_unknown(Conversation(name, tuple(entries), tuple(probes), {}))
