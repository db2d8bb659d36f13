"""Own precision corpus: what must come back, what may, what must not, and when nothing should.

`evals/corpora/precision_*.json` was written by hand, apart from any ranking. All of `dev`, `held_out`
and `fresh` have been seen and are fitted to by now: what they show is how well the ranking fits them,
and `evals.fit_relevance` says what it gives for a world that it was not fitted to. `blind` is for worlds
that whoever works on the ranking has not seen: they are reported apart, their failures are not listed,
and nothing is fitted to them. Once their cases have been read, they are `fresh` ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evals.conversations import Conversation, Probe
from evals.measures import Metric, Observation, rows
from evals.product import Ask, Entry, Product, Shelf
from evals.report import Report
from evals.running import Run, progress, read_json
from evals.suites.own import CORPORA

METRICS = (
    Metric("precision", per="returned"),
    Metric("recall", per="wanted"),
    Metric("top-1", "share"),
    Metric("empty right", "share"),
    Metric("clean", "share"),
    Metric("stable", "share"),
    Metric("in budget", "share"),
    Metric("mean returned"),
)

#: Worlds of this split are only for checking.
BLIND = "blind"
#: Worlds of this split are many, are learned from and count little one by one.
LESSONS = "lessons"

HEADLINE = ("all", "dev", "held_out", "fresh", BLIND, "en", "zh")

_OF_A_MEMORY = ("kind", "subject", "topic", "scope", "role", "structured", "tags", "valid_from", "expires_at")
_OF_ALL = ("scope",)


@dataclass(frozen=True)
class World:
    """One file: memories, and cases about them."""

    name: str
    split: str
    now: datetime
    timezone: str
    entries: tuple[Entry, ...]
    #: options of every search that does not give its own
    search: Mapping[str, Any]
    cases: tuple[Mapping[str, Any], ...]


def evaluate(run: Run) -> Report:
    """Every case of every world."""
    worlds = read_worlds()
    observations: list[Observation] = []
    failures: list[str] = []
    refused = 0
    with Product(embedder=run.embedder) as product:
        for world in progress(run.limited(worlds), total=len(worlds), label="precision"):
            shelf = product.shelf(world.name, timezone=world.timezone)
            with run.watch.time("write a world"):
                shelf.write(world.entries)
            refused += shelf.refused
            for arm in run.arms:
                observations += _ask(shelf, world, arm, run, failures)
        model = product.model
    notes = (
        f"{sum(len(world.entries) for world in worlds)} memories, {refused} refused by the gate",
        "precision: must or may among all returned; recall: must returned among the first 5, of all must",
        "clean: nothing returned that must not be; empty right: nothing returned where nothing should be",
    )
    return Report(
        "precision", model, METRICS, rows(observations, METRICS), notes, run.watch.summary(), failures, HEADLINE
    )


def read_worlds(pattern: str = "precision_*.json") -> list[World]:
    """The checked-in worlds, by name."""
    return [_world(read_json(path)) for path in sorted(CORPORA.glob(pattern))]


def as_conversations() -> list[Conversation]:
    """The worlds as places where something is to be found: the cases that have an answer.

    Embedding models were chosen by these, so the later worlds stay out.
    """
    return [
        Conversation(
            world.name,
            world.entries,
            tuple(
                Probe(case["query"], world.now, tuple(case["must"]), ("all",))
                for case in world.cases
                if case.get("must")
            ),
            {},
        )
        for world in read_worlds()
        if world.split in ("dev", "held_out")
    ]


def _world(data: Mapping[str, Any]) -> World:
    defaults = data["defaults"]
    entries: list[Entry] = []
    for one in data["memories"]:
        fields = {name: defaults[name] for name in _OF_ALL if name in defaults}
        fields |= {name: one[name] for name in _OF_A_MEMORY if name in one}
        at = datetime.fromisoformat(one.get("at", defaults["at"]))
        # A default time is one for many: a minute apart keeps the order of the file.
        at += timedelta(minutes=0 if "at" in one else len(entries))
        by = one.get("by", defaults.get("by", "agent"))
        entries.append(Entry(one["id"], one["content"], at, fields, by, one.get("corrects", "")))
    return World(
        data["world"],
        data["split"],
        datetime.fromisoformat(data["now"]),
        data.get("timezone", "UTC"),
        tuple(sorted(entries, key=lambda entry: entry.at)),
        data["search"],
        tuple(data["cases"]),
    )


def _ask(shelf: Shelf, world: World, arm: str, run: Run, failures: list[str]) -> Iterator[Observation]:
    answers: dict[str, list[str]] = {}
    for case in world.cases:
        options = {**world.search, **case.get("options", {})}
        search = getattr(shelf, arm)
        ids: list[str] = run.watch.call(f"search: {arm}", lambda: search(Ask(case["query"], world.now, options)))  # noqa: B023
        ranking = answers[case["id"]] = shelf.names(ids)
        values = judge(case, ranking, answers)
        if "budget_tokens" in options and arm == "ours":
            values["in budget"] = float(_tokens(shelf, world, case["query"], options) <= options["budget_tokens"])
        # Blind cases stay unread: whoever sees them begins to tune to them.
        if arm == "ours" and world.split != BLIND and _failed(values):
            failures.append(
                f"{case['id']} {'/'.join(case['tags'])}: {case['query']} -> {', '.join(ranking) or 'nothing'}"
            )
        groups = ("all", world.split, "zh" if _is_chinese(case["query"]) else "en", *case["tags"])
        yield Observation(arm, groups, world.name, values)


def _tokens(shelf: Shelf, world: World, query: str, options: Mapping[str, Any]) -> int:
    shelf.clock.set(world.now)
    return shelf.service.search(query, **options).tokens


def judge(case: Mapping[str, Any], ranking: Sequence[str], answers: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """What one answer is worth.

    Args:
        case: with `must`, `may`, `must_not` or `empty`.
        ranking: what came back, best first.
        answers: what came back for earlier cases, by id.
    """
    must, may = case.get("must", ()), case.get("may", ())
    values = {"returned": float(len(ranking)), "mean returned": float(len(ranking))}
    values["precision"] = float(sum(key in must or key in may for key in ranking))
    values["clean"] = float(not set(ranking) & set(case.get("must_not", ())))
    if case.get("empty"):
        values["empty right"] = float(not ranking)
    else:
        values |= {"recall": float(len(set(must) & set(ranking[:5]))), "wanted": float(len(must))}
        values["top-1"] = float(bool(ranking) and ranking[0] in ([case["first"]] if "first" in case else must))
    if "same_as" in case:
        values["stable"] = float(list(ranking) == list(answers[case["same_as"]]))
    if "prefix_of" in case:
        values["stable"] = float(list(ranking) == list(answers[case["prefix_of"]][: len(ranking)]))
    return values


def _failed(values: Mapping[str, float]) -> bool:
    return (
        values["precision"] < values["returned"]
        or values.get("recall", 0) < values.get("wanted", 0)
        or min(values.get(name, 1.0) for name in ("clean", "empty right", "stable", "in budget")) < 1
    )


def _is_chinese(query: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in query)
