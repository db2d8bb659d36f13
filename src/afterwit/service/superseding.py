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
    Trust,
)
from afterwit.resolve import effective_start
from afterwit.review.following import follows
from afterwit.review.lessons import Finding
from afterwit.review.proof import RELIED
from afterwit.review.signatures import is_failure
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


def outdone(reader: Reader, lesson: Memory, finding: Finding) -> list[Change]:
    """What this task, or one that had found no way, followed in vain: it makes room for the lesson, since what was seen
    to work goes before what somebody thought would.

    Only what nobody saw work and nobody vouches for: anything else is left to what further tasks show.

    Args:
        reader: what is stored, with the credits of the task and the evidence of the lesson.
        lesson: the finding's memory.
        finding: what was found.
    """
    if finding.kind is not Kind.LESSON or lesson.basis.strength < Basis.OBSERVED.strength:
        return []
    account = found_by(reader, replace(lesson, kind=Kind.FAILURE), finding.answers)
    tried = _evidence(reader, [one for one in (lesson, account) if one is not None])
    harmed = {use.memory_id for id in tried for use in reader.uses(lesson.space, task_id=id) if use.credit < 0}
    failed = [step for steps in tried.values() for step in steps if is_failure(step)]
    return [
        Supersede(row.id, lesson.id, valid_to=effective_start(row), reason="followed in vain, and another way worked")
        for row in reader.get(lesson.space, sorted(harmed - {lesson.id})).values()
        if _is_only_believed(row) and any(follows(step, row) for step in failed)
    ]


def _evidence(reader: Reader, memories: Sequence[Memory]) -> dict[str, list[Step]]:
    """Task -> its steps that memories come from."""
    ids = [memory.id for memory in memories]
    links = [link for link in reader.links(memories[0].space, ids) if link.type is LinkType.DERIVED_FROM and link.note]
    steps = {link.target_id for link in links if link.source_id in ids}
    tasks = sorted({link.note for link in links if link.source_id in ids})
    return {id: [step for step in reader.steps(memories[0].space, id) if step.id in steps] for id in tasks}


def has_only_failed(memory: Memory) -> bool:
    """Whether a memory failed a task that relied on it, and helped none."""
    return memory.helped < RELIED <= memory.harmed


def _is_only_believed(memory: Memory) -> bool:
    unseen = memory.basis not in (Basis.OBSERVED, Basis.VERIFIED) and memory.trust < Trust.USER
    return unseen and memory.status is Status.ACTIVE and memory.standing is Standing.PENDING and has_only_failed(memory)
