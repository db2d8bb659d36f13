"""What a finding of a review puts an end to: shorter accounts of the same failure, and opinions that did not work."""

from dataclasses import replace
from datetime import datetime

from afterwit.matters import field_of
from afterwit.records import (
    Basis,
    Change,
    Connect,
    Kind,
    Link,
    LinkType,
    Memory,
    Revise,
    Standing,
    Status,
    Supersede,
    Task,
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

#: Most steps, the newest, that an account takes over from the one that it grew out of, as what it rests on.
_MOST_LINKS = 40
#: Most earlier tasks, the newest, that are looked into for what was followed in vain.
_MOST_TASKS = 4


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
            for link in _evidence(reader, known)[-_MOST_LINKS:]
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


def outdone(reader: Reader, lesson: Memory, finding: Finding, task: Task) -> list[Change]:
    """What this task, or one of the last that had found no way, followed in vain: it makes room for the lesson, since
    what was seen to work goes before what somebody thought would.

    Only what nobody saw work and nobody vouches for: anything else is left to what further tasks show.

    Args:
        reader: what is stored, with the credits of the tasks and the evidence of the account that no way was found.
        lesson: the finding's memory.
        finding: what was found.
        task: in which it was found.
    """
    if finding.kind is not Kind.LESSON or lesson.basis.strength < Basis.OBSERVED.strength:
        return []
    harmed = {task.id: _believed_in_vain(reader, task.id, lesson)}
    account = found_by(reader, replace(lesson, kind=Kind.FAILURE), finding.answers)
    shown = [link for link in _evidence(reader, account) if link.note] if account is not None else []
    for id in list(dict.fromkeys(link.note for link in reversed(shown)))[:_MOST_TASKS]:
        harmed.setdefault(id, _believed_in_vain(reader, id, lesson))
    theirs = {link.target_id for link in shown}
    gone: dict[str, Memory] = {}
    for id, rows in harmed.items():
        # Steps are many and long: they are read only where something was followed.
        for step in reader.steps(lesson.space, id) if rows else ():
            is_evidence = step.id in theirs or (id == task.id and step.position in finding.positions)
            if is_evidence and is_failure(step):
                gone |= {row.id: row for row in rows if follows(step, row)}
    return [
        Supersede(row.id, lesson.id, valid_to=effective_start(row), reason="followed in vain, and another way worked")
        for _, row in sorted(gone.items())
    ]


def _believed_in_vain(reader: Reader, task_id: str, lesson: Memory) -> list[Memory]:
    """What a task that it harmed was told, and that is only believed."""
    harmed = {use.memory_id for use in reader.uses(lesson.space, task_id=task_id) if use.credit < 0} - {lesson.id}
    return [row for row in reader.get(lesson.space, sorted(harmed)).values() if _is_only_believed(row)]


def _evidence(reader: Reader, memory: Memory) -> list[Link]:
    """Links from a memory to the steps that it comes from, those of the newest tasks last."""
    links = [link for link in reader.links(memory.space, [memory.id]) if link.source_id == memory.id]
    return sorted((link for link in links if link.type is LinkType.DERIVED_FROM), key=lambda link: link.target_id)


def has_only_failed(memory: Memory) -> bool:
    """Whether a memory failed a task that relied on it, and helped none."""
    return memory.helped < RELIED <= memory.harmed


def _is_only_believed(memory: Memory) -> bool:
    unseen = memory.basis not in (Basis.OBSERVED, Basis.VERIFIED) and memory.trust < Trust.USER
    return unseen and memory.status is Status.ACTIVE and memory.standing is Standing.PENDING and has_only_failed(memory)
