"""What a finding of a review puts an end to: shorter accounts of the same failure, and opinions that did not work."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from afterwit.matters import field_of
from afterwit.records import (
    Basis,
    Change,
    Connect,
    Kind,
    LinkType,
    Memory,
    Revise,
    Standing,
    Status,
    Step,
    Supersede,
    Task,
    Trust,
)
from afterwit.resolve import effective_start
from afterwit.review.following import follows
from afterwit.review.lessons import Finding
from afterwit.review.ways import all_ways, ways_of, with_ways
from afterwit.service.learning import Learned, found_by, known_finding
from afterwit.storage import Reader
from afterwit.text import language


def with_earlier_ways(item: Learned, reader: Reader) -> Learned:
    """An account of a failure with the ways that earlier tasks tried in vain, too, so that nobody tries them again."""
    if not isinstance(item.made, list):
        return item
    made = [replace(one, memory=_grown(one.memory, item.finding, reader)) for one in item.made]
    return replace(item, made=made)


def _grown(memory: Memory, finding: Finding, reader: Reader) -> Memory:
    known = (
        known_finding(reader, memory, finding) if memory.kind is Kind.FAILURE and "ways" in memory.structured else None
    )
    if known is None or known.status is Status.FORGOTTEN or known.standing is Standing.REFUTED:
        return memory
    ways = all_ways(ways_of(memory), ways_of(known))
    account = field_of(memory, "account")
    return replace(
        memory,
        summary=with_ways(account, ways, language(account)),
        structured={**memory.structured, "ways": list(ways)},
        supporters=tuple(dict.fromkeys((*memory.supporters, *known.supporters))),
    )


def put_in_place(reader: Reader, memory: Memory, known: Memory | None, finding: Finding, now: datetime) -> list[Change]:
    """What a finding that is in the store now puts an end to: the account with fewer ways that it grew out of, and
    the account that no way was found, whose ways are kept with the lesson.

    Args:
        reader: what is stored.
        memory: the finding's memory, active.
        known: the account that it grew out of, if any.
        finding: what was found.
        now: time of the review.
    """
    changes: list[Change] = []
    if known is not None and known.id != memory.id and known.kind is Kind.FAILURE and known.status is Status.ACTIVE:
        changes.append(Supersede(known.id, memory.id, valid_to=effective_start(known), reason="more ways were tried"))
        changes += [
            Connect(replace(link, source_id=memory.id, created_at=now))
            for link in reader.links(memory.space, [known.id])
            if link.type is LinkType.DERIVED_FROM and link.source_id == known.id
        ]
    account = found_by(reader, replace(memory, kind=Kind.FAILURE), finding.answers)
    if account is not None and account.status is Status.ACTIVE:
        changes.append(Supersede(account.id, memory.id, valid_to=effective_start(account), reason="a way was found"))
        done = field_of(memory, "action").casefold()
        ways = all_ways(ways_of(memory), (way for way in ways_of(account) if way.casefold() not in done))
        changes.append(
            Revise(memory.id, {"structured": {**memory.structured, "ways": list(ways)}}, reason="a way was found")
        )
    return changes


def outdone(reader: Reader, lesson: Memory, finding: Finding, task: Task, steps: Sequence[Step]) -> list[Change]:
    """Opinions that this task followed in vain before it found the lesson: seen to work goes before thought to work.

    Only what nobody saw work, checked or vouches for: anything else is left to what further tasks show.

    Args:
        reader: what is stored, with the credits of the task.
        lesson: the finding's memory.
        finding: what was found.
        task: in which.
        steps: its steps.
    """
    if finding.kind is not Kind.LESSON or lesson.basis.strength < Basis.OBSERVED.strength:
        return []
    harmed = {use.memory_id for use in reader.uses(task.space, task_id=task.id) if use.credit < 0}
    tried = [step for step in steps if step.position in finding.positions]
    return [
        Supersede(row.id, lesson.id, valid_to=effective_start(row), reason="followed in vain, and another way worked")
        for row in reader.get(task.space, sorted(harmed - {lesson.id})).values()
        if _is_mere_opinion(row) and not follows(tried[-1], row) and any(follows(step, row) for step in tried)
    ]


def _is_mere_opinion(memory: Memory) -> bool:
    believed = memory.basis.strength < Basis.OBSERVED.strength and memory.trust < Trust.USER
    return believed and memory.status is Status.ACTIVE and memory.standing is Standing.PENDING and not memory.helped
