"""Rules and pools of a space: what the store holds is read, what the pure rules say becomes changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from afterwit.records import (
    Add,
    Change,
    Connect,
    KeyFilter,
    Kind,
    Link,
    LinkType,
    Memory,
    Reinforce,
    Revise,
    Source,
    Standing,
    Status,
    Supersede,
    Vector,
    new_id,
)
from afterwit.review.proof import SHOWN
from afterwit.review.rules import RuleDraft, rules_from
from afterwit.storage import Order, Reader

#: Kinds of which rules are made, and that wander from one pool to another.
_LESSONS = (Kind.LESSON, Kind.FAILURE)
_PAGE = 1_000
#: Ids in one look-up of links.
_BATCH = 400


def every(reader: Reader, space: str, where: KeyFilter) -> Iterator[Memory]:
    """All rows that pass a filter, oldest first."""
    offset = 0
    while page := reader.find(space, where, order=Order.OLDEST, limit=_PAGE, offset=offset):
        yield from page
        offset += len(page)


def links_of(reader: Reader, space: str, ids: Sequence[str]) -> list[Link]:
    """Links at any of the ids, however many they are."""
    return [link for first in range(0, len(ids), _BATCH) for link in reader.links(space, ids[first : first + _BATCH])]


def rule_drafts(reader: Reader, space: str, *, fallen: Iterable[Memory] = ()) -> list[RuleDraft]:
    """What the lessons of a space make of its rules now.

    Args:
        reader: a store or a transaction.
        space: the tenant.
        fallen: memories that are about to change, as they will be.
    """
    where = replace(KeyFilter.everything(), kinds=(*_LESSONS, Kind.RULE))
    rows = {row.id: row for row in every(reader, space, where)}
    rows |= {row.id: row for row in fallen if row.id in rows}
    known = [row for row in rows.values() if row.kind is not Kind.RULE or row.source.kind == "review"]
    rules = [row.id for row in known if row.kind is Kind.RULE]
    tasks = {task.id: task for task in reader.tasks(space)}
    return rules_from(known, links_of(reader, space, rules), tasks)


def new_rule(draft: RuleDraft, space: str, now: datetime) -> Memory:
    """The memory of a rule that is to be made."""
    fields: dict[str, Any] = dict(draft.fields)
    return Memory(id=new_id(now), space=space, recorded_at=now, source=Source("review"), **fields)


def rule_changes(
    draft: RuleDraft, rule: Memory | None, vector: Vector | None, space: str, now: datetime
) -> list[Change]:
    """Changes that make or change one rule, with the links to what it rests on.

    Args:
        draft: what is to become of it.
        rule: from `new_rule`; None for an existing one.
        vector: of the new one.
        space: the tenant.
        now: time of the links.
    """
    reason = f"{draft.evidence} independent sessions agree" + (
        f", {len(draft.against)} disagree" if draft.against else ""
    )
    id = rule.id if rule is not None else draft.rule_id
    changes: list[Change] = []
    if rule is not None:
        changes.append(Add(rule, vector))
    elif draft.fields:
        changes.append(Revise(id, draft.fields, reason=reason))
    for member in draft.unlinked:
        changes.append(Connect(Link(space, id, LinkType.DERIVED_FROM, member, now)))
        changes.append(Connect(Link(space, member, LinkType.SUPPORTS, id, now)))
    return changes


# --- pools ------------------------------------------------------------------------------------------


def promotions(reader: Reader, space: str, now: datetime) -> list[Change]:
    """Changes that bring into the shared pool what two roles have found useful.

    A lesson of one role that a task of another role relied on and succeeded with; and one that two roles learned by
    themselves, as soon as it is confirmed in one of the pools: then the older stays, with the evidence of both.
    """
    where = KeyFilter(kinds=(*_LESSONS, Kind.RULE))
    lessons = [row for row in every(reader, space, where) if row.role]
    changes: list[Change] = []
    promoted: set[str] = set()
    for lesson in lessons:
        others = _helped_roles(reader, space, lesson)
        if others:
            promoted.add(lesson.id)
            changes.append(Revise(lesson.id, {"role": ""}, reason=f"it helped the role {others[0]}, too"))
    groups: dict[tuple[str, str], list[Memory]] = {}
    for lesson in lessons:
        key: object = lesson.structured.get("key")
        if key and lesson.id not in promoted:
            groups.setdefault((lesson.scope, str(key)), []).append(lesson)
    for group in groups.values():
        if len({one.role for one in group}) > 1 and any(one.standing is Standing.CONFIRMED for one in group):
            changes += _joined(group, now)
    return changes


def _helped_roles(reader: Reader, space: str, lesson: Memory) -> list[str]:
    """Other roles whose tasks relied on a lesson and were helped by it."""
    if not lesson.helped:
        return []
    helped = [use.task_id for use in reader.uses(space, lesson.id) if use.credit > SHOWN]
    roles = {task.role for id in helped if (task := reader.task(space, id)) is not None}
    return sorted(roles - {lesson.role, ""})


def _joined(group: Sequence[Memory], now: datetime) -> list[Change]:
    kept, *others = sorted(group, key=lambda one: (one.recorded_at, one.id))
    roles = ", ".join(sorted({one.role for one in group}))
    reason = f"learned by the roles {roles}"
    changes: list[Change] = [Revise(kept.id, {"role": ""}, reason=reason)]
    standing = min((one.standing for one in group), key=lambda one: one is not Standing.CONFIRMED)
    sure = max(one.confidence for one in group)
    for other in others:
        for supporter in other.supporters:
            again = Reinforce(kept.id, supporter, sure, kept.basis, kept.trust, standing, now, reason)
            changes.append(again)
        changes.append(Supersede(other.id, kept.id, valid_to=now, reason=reason))
    return changes


def fallen_rules(reader: Reader, memory: Memory, derived: Iterable[Memory]) -> dict[str, dict[str, Any]]:
    """What becomes of the rules that rest on a memory when it falls: rule id -> fields to revise.

    Args:
        reader: a transaction, in which it has not fallen yet.
        memory: as it will be.
        derived: what derives from it.
    """
    rules = {row.id for row in derived if row.kind is Kind.RULE and row.status is Status.ACTIVE}
    if not rules:
        return {}
    drafts = rule_drafts(reader, memory.space, fallen=[memory])
    return {draft.rule_id: dict(draft.fields) for draft in drafts if draft.rule_id in rules}
