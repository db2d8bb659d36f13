"""MemConflict: dated facts about a persona that change, and later claims that are false.

Facts are written as structured attributes (subject, topic, value, date) by the user. Asked is one
plain question per attribute. A fact of the same attribute of somebody else is a distractor.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evals.measures import Metric, Observation, rows
from evals.product import Ask, Entry, Product, Shelf
from evals.report import Report
from evals.running import Run, progress, read_json_lines

METRICS = (
    Metric("first", "share"),
    Metric("found@5", "share"),
    Metric("stale or false above", "share"),
    Metric("stale or false returned", "share"),
    Metric("returned"),
)

_LAYOUT = "memconflict/memconflict_updates.jsonl and memconflict/memconflict_conflicts.jsonl"


@dataclass(frozen=True)
class _Attribute:
    """One question: an attribute with its true value's entries and those that must not go before."""

    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    now: datetime
    group: str
    as_of: datetime | None = None


def evaluate(run: Run) -> Report:
    """The current value first; the value of then, as of then; a later false claim does not win."""
    updates, conflicts = (_read(run, name) for name in ("updates", "conflicts"))
    personas = list(dict.fromkeys(row["persona"] for row in updates))
    observations: list[Observation] = []
    failures: list[str] = []
    with Product(embedder=run.embedder) as product:
        plans = [
            plan
            for number, persona in enumerate(run.limited(personas))
            for plan in _plans(number, _of(updates, persona), _of(conflicts, persona))
        ]
        for space, entries, attributes in progress(plans, total=len(plans), label="memconflict"):
            shelf = product.shelf(space)
            with run.watch.time("write a persona"):
                shelf.write(entries)
            observations += _ask(shelf, attributes, space, run, failures)
        model = product.model
    groups = list(dict.fromkeys(group for one in observations for group in one.groups))
    note = "first: the true current value is the first hit; above: a stale or false value is ranked before it"
    return Report(
        "memconflict", model, METRICS, rows(observations, METRICS), (note,), run.watch.summary(), failures, groups
    )


def _read(run: Run, name: str) -> list[dict[str, Any]]:
    path = run.files("memconflict", f"memconflict_{name}.jsonl", layout=_LAYOUT)[0]
    return read_json_lines(path)


def _of(rows: Sequence[dict[str, Any]], persona: str) -> list[dict[str, Any]]:
    return sorted((row for row in rows if row["persona"] == persona), key=lambda row: row["date"])


def _plans(
    number: int, updates: Sequence[Mapping[str, Any]], conflicts: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, list[Entry], list[_Attribute]]]:
    yield f"dynamic-{number}", *_dynamic(updates, conflicts)
    static = [row for row in conflicts if row["kind"].startswith("Static")]
    for source in ("agent", "web"):
        yield f"static-{source}-{number}", *_static(static, source)


def _dynamic(
    updates: Sequence[Mapping[str, Any]], conflicts: Sequence[Mapping[str, Any]]
) -> tuple[list[Entry], list[_Attribute]]:
    entries = [
        _entry(f"u{position}", "user", row["attribute"], row["after"], row["date"], "user")
        for position, row in enumerate(updates)
        if row["after"] not in (None, "")
    ]
    values: dict[str, list[tuple[str, Any, str]]] = defaultdict(list)
    for position, row in enumerate(updates):
        if row["after"] not in (None, ""):
            values[row["attribute"]].append((f"u{position}", row["after"], row["date"]))
    for position, row in enumerate(conflicts):
        if row["kind"].startswith("Others"):
            person = row["Relationship_To_User"]
            entries.append(_entry(f"o{position}", person, row["Attribute"], row["Value"], row["date"], "user"))
    entries.sort(key=lambda entry: entry.at)
    now = entries[-1].at + timedelta(days=1)
    return entries, [attribute for path, given in values.items() for attribute in _changed(path, given, now)]


def _changed(path: str, given: Sequence[tuple[str, Any, str]], now: datetime) -> Iterator[_Attribute]:
    current = given[-1][1]
    right = tuple(key for key, value, _ in given if value == current)
    wrong = tuple(key for key, value, _ in given if value != current)
    group = "current value, changed" if wrong else "current value, never changed"
    yield _Attribute(_question("user", path), right, wrong, now, group)
    if wrong:
        value, date = given[0][1], given[0][2]
        then = tuple(key for key, other, _ in given if other == value)
        others = tuple(key for key, other, _ in given if other != value)
        yield _Attribute(_question("user", path), then, others, now, "first value, as of then", _time(date))


def _static(conflicts: Sequence[Mapping[str, Any]], source: str) -> tuple[list[Entry], list[_Attribute]]:
    entries: list[Entry] = []
    points: dict[str, dict[str, str]] = defaultdict(dict)
    paths: dict[str, str] = {}
    for position, row in enumerate(conflicts):
        key, path, person = f"s{position}", row["Target_Field_Path"], row.get("Relationship_To_User", "user")
        role = row["Role"]
        entries.append(_entry(key, person, path, row["Value"], row["date"], source if role == "Point_B" else "user"))
        points[row["Conflict_ID"]][role] = key
        if role == "Point_A":
            paths[row["Conflict_ID"]] = path
    now = entries[-1].at + timedelta(days=1)
    group = f"true before a later false claim ({source})"
    asked = [
        _Attribute(_question("user", paths[id]), (keys["Point_A"],), (keys["Point_B"],), now, group)
        for id, keys in points.items()
        if "Point_A" in keys and "Point_B" in keys
    ]
    return entries, asked


def _time(date: str) -> datetime:
    return datetime.fromisoformat(date).replace(hour=12, tzinfo=UTC)


def _words(path: str) -> str:
    return path.replace(".", " ").replace("_", " ").lower()


def _question(person: str, path: str) -> str:
    return f"What is the {person}'s {_words(path)}?"


def _entry(key: str, person: str, path: str, value: Any, date: str, source: str) -> Entry:
    owner = "user" if person == "user" else f"user's {person.lower()}"
    fields = {
        "kind": "fact",
        "subject": owner,
        "topic": path.replace(".", "_").lower(),
        "structured": {"value": str(value)},
        "valid_from": _time(date),
        "source": source,
    }
    by = "user" if source == "user" else "agent"
    return Entry(key, f"The {owner}'s {_words(path)}: {value}.", _time(date), fields, by)


def _ask(
    shelf: Shelf, attributes: Sequence[_Attribute], cluster: str, run: Run, failures: list[str]
) -> Iterator[Observation]:
    for attribute in attributes:
        options = {"as_of": attribute.as_of} if attribute.as_of else {}
        for arm in run.arms:
            ask = Ask(attribute.question, attribute.now, options)
            ids = run.watch.call(f"search: {arm}", lambda arm=arm, ask=ask: getattr(shelf, arm)(ask))
            ranking = shelf.names(ids)
            best = min((ranking.index(key) for key in attribute.right if key in ranking), default=len(ranking))
            bad = [ranking.index(key) for key in attribute.wrong if key in ranking]
            values = {
                "first": float(bool(ranking) and ranking[0] in attribute.right),
                "found@5": float(best < min(5, len(ranking))),
                "stale or false above": float(any(rank < best for rank in bad)),
                "stale or false returned": float(bool(bad)),
                "returned": float(len(ranking)),
            }
            if arm == "ours" and not values["first"]:
                texts = [memory.summary for memory in shelf.get(ids)[:2]]
                failures.append(f"{attribute.group}: {attribute.question} -> {' | '.join(texts) or 'nothing'}")
            yield Observation(arm, (attribute.group,), cluster, values)
