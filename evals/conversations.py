"""Conversations turned into memories, and questions about them: is the evidence found?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evals.measures import Metric, Observation, ranking_values, rows
from evals.product import DEPTH, Ask, Entry, Product, Shelf
from evals.report import Report
from evals.running import Run, progress

DEPTHS = (5, 10, 20)

HEADLINE = ("all", "1-4", "5", "zh->en", "en->zh")

METRICS = (
    Metric("R@5"),
    Metric("R@10"),
    Metric("R@20"),
    Metric("hit@5", "share"),
    Metric("MRR"),
    Metric("session R@5"),
    Metric("P@5"),
    Metric("returned"),
    Metric("newest first", "share"),
    Metric("foreign", "sum"),
)


@dataclass(frozen=True)
class Probe:
    """A question with the entries that hold its answer."""

    query: str
    now: datetime
    #: keys of entries
    evidence: tuple[str, ...]
    groups: tuple[str, ...]
    #: keys of evidence that a later one made stale, and of that later one
    stale: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """What is written to one space, and what is asked about it."""

    name: str
    entries: tuple[Entry, ...]
    probes: tuple[Probe, ...]
    #: key of an entry -> session it belongs to; {} = sessions do not matter
    sessions: dict[str, str]


def run_conversations(
    suite: str, conversations: Sequence[Conversation], run: Run, *, notes: Sequence[str] = ()
) -> Report:
    """Write every conversation to a space of its own in one store, ask everything, compare the arms."""
    observations: list[Observation] = []
    refused = written = current = 0
    with Product(embedder=run.embedder) as product:
        for conversation in progress(run.limited(conversations), total=len(conversations), label=suite):
            shelf = product.shelf(f"{suite}-{conversation.name}")
            with run.watch.time("write a conversation"):
                shelf.write(conversation.entries)
            written += len(conversation.entries)
            refused += shelf.refused
            current += shelf.current
            observations += _ask_all(shelf, conversation, run, alone=len(conversations) == 1)
        model = product.model
    size = f"{written} texts written, {refused} refused by the gate, {current} current memories"
    return Report(
        suite, model, METRICS, rows(observations, METRICS), (size, *notes), run.watch.summary(), headline=HEADLINE
    )


def _ask_all(shelf: Shelf, conversation: Conversation, run: Run, *, alone: bool) -> Iterator[Observation]:
    for number, probe in enumerate(conversation.probes):
        # With one conversation there is nothing to draw but its questions.
        cluster = f"{conversation.name}-{number}" if alone else conversation.name
        ask = Ask(probe.query, probe.now, {"top_k": DEPTH, "budget_tokens": 20_000})
        for arm in run.arms:
            search = getattr(shelf, arm)
            ids: list[str] = run.watch.call(f"search: {arm}", lambda search=search, ask=ask: search(ask))
            values = _values(shelf.names(ids), conversation, probe)
            values["foreign"] = float(len(ids) - len(shelf.get(ids)))
            yield Observation(arm, probe.groups, cluster, values)


def _values(ranking: Sequence[str], conversation: Conversation, probe: Probe) -> dict[str, float]:
    values = ranking_values(ranking, probe.evidence, depths=DEPTHS)
    if conversation.sessions:
        sessions = list(dict.fromkeys(conversation.sessions.get(key, "") for key in ranking))
        wanted = {conversation.sessions[key] for key in probe.evidence}
        values["session R@5"] = len(wanted & set(sessions[:5])) / len(wanted)
    if probe.newest:
        newest = min((ranking.index(key) for key in probe.newest if key in ranking), default=DEPTH)
        stale = min((ranking.index(key) for key in probe.stale if key in ranking), default=DEPTH)
        values["newest first"] = float(newest < stale)
    return values


def without_unknown(conversation: Conversation) -> Conversation:
    """The conversation with the evidence that names its entries; questions left with none are dropped."""
    known = {entry.key for entry in conversation.entries}
    kept: list[Probe] = []
    for probe in conversation.probes:
        evidence = tuple(dict.fromkeys(key for key in probe.evidence if key in known))
        if evidence:
            kept.append(replace(probe, evidence=evidence))
    return replace(conversation, probes=tuple(kept))
