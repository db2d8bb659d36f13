"""From what a review found to memories: through the gate and the conflicts of every other write, never around them."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from afterwit.applies import clashes, tools_of
from afterwit.extract import extract
from afterwit.gate import judge
from afterwit.matters import field_of
from afterwit.messages import say
from afterwit.records import (
    Basis,
    Change,
    Connect,
    Kind,
    Link,
    LinkType,
    Memory,
    Outcome,
    Receipt,
    Revise,
    Source,
    Standing,
    Status,
    Step,
    Task,
    Trust,
    new_id,
)
from afterwit.resolve import merge
from afterwit.review.episodes import PART
from afterwit.review.lessons import Finding
from afterwit.review.ways import MOST_WAYS, ways_of, wider_fault
from afterwit.service.writing import Draft, Setting, draft
from afterwit.storage import Reader
from afterwit.text import language, redact_secrets
from afterwit.vocabulary import fold_subject, fold_tags, fold_topic, strip_injected

_TAGS = 8
#: Tools that bring in what strangers wrote.
_OUTSIDE = re.compile(
    r"web|fetch|brows|http|url|crawl|scrape|playwright|puppeteer|selenium|navigate|mail|slack|chat|search_engine",
    re.IGNORECASE,
)
#: Parts of a task that are told in sentences of the agent; a choice that a review found has no part.
_IN_ITS_OWN_WORDS = frozenset((None, "conclusion", "handover"))


@dataclass(frozen=True)
class Learned:
    """A finding on its way into the store."""

    finding: Finding
    #: what it makes, or the receipt that says why it makes nothing
    made: "list[Draft] | Receipt"
    #: least trust of what it comes from
    trust: Trust


def session_of(task: Task) -> str:
    """What a task's findings count as evidence of, once: its session, or the task itself where none is known."""
    return task.session or task.id


def cleaned(steps: Sequence[Step]) -> list[Step]:
    """Steps without what recall put into them, so that no memory is learned from itself."""
    return [
        replace(
            step,
            input=strip_injected(step.input),
            output=strip_injected(step.output),
            rationale=strip_injected(step.rationale),
        )
        for step in steps
    ]


def learned(finding: Finding, task: Task, setting: Setting, *, trust: Trust = Trust.AGENT) -> Learned:
    """The memories that a finding makes.

    The user's own words go through extraction like everything the user says; they are trusted as an agent that
    passes them on, for an agent wrote the step.

    Args:
        finding: from a review.
        task: in whose scope and pool it belongs.
        setting: who reviews, and when.
        trust: least trust of what it comes from.
    """
    trust = min(trust, setting.writer.trust, Trust.AGENT)
    summary = redact_secrets(strip_injected(finding.summary)).strip()
    finding = replace(finding, summary=summary)
    if finding.from_user:
        return Learned(
            finding, _said(finding, task, replace(setting, writer=replace(setting.writer, trust=trust))), trust
        )
    verdict = judge(summary, explicit=True)
    if not verdict.accepted:
        return Learned(finding, Receipt(Outcome.REJECTED, reasons=(verdict.reason,), message=verdict.message), trust)
    memory = Memory(
        id=new_id(setting.now),
        space=setting.space,
        summary=summary,
        kind=finding.kind,
        recorded_at=setting.now,
        happened_at=task.ended_at or setting.now,
        scope=task.scope,
        role=task.role,
        subject=fold_subject(finding.subject) if finding.subject else "",
        topic=fold_topic(finding.topic) if finding.topic else "",
        tags=fold_tags(finding.tags[:_TAGS]),
        structured=dict(finding.structured) | ({"key": finding.key} if finding.key else {}),
        basis=finding.basis,
        trust=trust,
        source=Source("review", task.id),
        confidence=finding.confidence,
        standing=Standing.PENDING,
        supporters=(session_of(task),),
        applies=finding.applies,
    )
    return Learned(finding, [Draft(memory, is_change=False)], trust)


def trust_in(finding: Finding, steps: Sequence[Step]) -> Trust:
    """Who vouches for what rules found in a task: the agent for what it did, chose and concluded; nobody for what a
    tool merely said, nor for what the agent retells of what strangers wrote.

    Args:
        finding: of a review, or of how the task went.
        steps: the task's.
    """
    if finding.kind is Kind.FACT and finding.basis is Basis.OBSERVED:
        return Trust.EXTERNAL
    retold = finding.kind is Kind.DECISION and finding.structured.get(PART) in _IN_ITS_OWN_WORDS
    if finding.from_user or not retold:
        return Trust.AGENT
    # What is noted after a page was read is what the page says, as is what is said on fetching it.
    before = (places[-1] for at in finding.positions if (places := [s.position for s in steps if s.position < at]))
    return trust_of((*finding.positions, *before), steps)


def trust_of(positions: Collection[int], steps: Sequence[Step]) -> Trust:
    """The least trust of steps that something rests on: what strangers wrote is not trusted for being retold.

    Args:
        positions: of those steps.
        steps: the task's.
    """
    outside = any(step.position in positions and _OUTSIDE.search(step.action) for step in steps)
    return Trust.EXTERNAL if outside else Trust.AGENT


def _said(finding: Finding, task: Task, setting: Setting) -> "list[Draft] | Receipt":
    given: dict[str, object] = {
        "source": "user",
        "source_ref": session_of(task),
        "scope": task.scope,
        "role": task.role,
        "happened_at": task.ended_at or setting.now,
    }
    if not extract(finding.summary, now=setting.now, timezone=setting.timezone):
        given["kind"] = finding.kind.value
    made = draft(finding.summary, given, setting)
    if isinstance(made, Receipt):
        return made
    return [replace(one, memory=_of_task(one.memory, finding, task)) for one in made]


def _of_task(memory: Memory, finding: Finding, task: Task) -> Memory:
    structured = {**finding.structured, **memory.structured}
    return replace(memory, source=Source("user", task.id), supporters=(session_of(task),), structured=structured)


# --- into the store ---------------------------------------------------------------------------------


def known_finding(reader: Reader, memory: Memory, finding: Finding) -> Memory | None:
    """The memory that the same finding of another task made in this place, in whatever state; else the one that it
    made about another thing of the same sort, as long as that is in force."""
    same = found_by(reader, memory, finding.key)
    if same is None and finding.wider_key:
        other = found_by(reader, memory, finding.wider_key)
        return other if other is not None and _is_in_force(other) and not _is_elsewhere(other, memory) else None
    return same


def found_by(reader: Reader, memory: Memory, key: str) -> Memory | None:
    """The memory of this place that is kept under a key of findings, the newest in force first."""
    if not key:
        return None
    links = reader.links(memory.space, [_mark(key)])
    found = reader.get(memory.space, [link.source_id for link in links if link.type is LinkType.ABOUT]).values()
    # That nothing helped with another version says nothing of this one; that something did may hold for both.
    rows = [row for row in found if row.kind is not Kind.FAILURE or not _is_elsewhere(row, memory)]
    there = [row for row in rows if (row.scope, row.role) == (memory.scope, memory.role)]
    shared = [row for row in rows if row.scope == memory.scope and not row.role]
    return min(
        there or shared, key=lambda row: (row.status is not Status.ACTIVE, -row.recorded_at.timestamp()), default=None
    )


def _is_in_force(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE and memory.standing is not Standing.REFUTED


def _is_elsewhere(known: Memory, new: Memory) -> bool:
    """Whether the new one was seen where the known one is not known to hold: another version or system."""
    return bool(clashes(known.applies, {**new.applies, "tools": tools_of(new.applies)}))


def again(known: Memory, new: Memory, now: datetime) -> tuple[list[Change], Receipt] | None:
    """What the same finding of another task changes; None when it is to be stored as a new one.

    What was refuted or forgotten is not learned again: the next task would be told the same wrong thing.
    """
    tongue = language(new.summary)
    if known.standing is Standing.REFUTED or known.status is Status.FORGOTTEN:
        message = say("learned_before", tongue)
        return [], Receipt(Outcome.REJECTED, known.id, ("taken_out_before",), message)
    if known.status not in (Status.ACTIVE, Status.QUARANTINED):
        return None
    # As long as there is room for more ways, an account with a new one takes its place; a full one only counts.
    has_room = len(ways_of(known)) < MOST_WAYS
    if known.kind is Kind.FAILURE and has_room and not set(ways_of(new)) <= set(ways_of(known)):
        return None
    found = merge(known, new, now=now, reason="same_finding")
    changes = list(found.changes)
    wider = wider_fault(field_of(known, "signature"), field_of(new, "signature"))
    if wider and known.kind is Kind.LESSON:
        changes.append(
            Revise(known.id, {"structured": {**known.structured, "signature": wider}}, reason="seen of another")
        )
    return changes, found.receipt


def evidence(memory_id: str, finding: Finding, task: Task, steps: Sequence[Step], now: datetime) -> list[Change]:
    """Links from a memory to the steps it comes from, and to its key, by which it is found again."""
    ids: Mapping[int, str] = {step.position: step.id for step in steps}
    targets = [(LinkType.DERIVED_FROM, ids[place]) for place in finding.positions if place in ids]
    if not finding.from_user:
        targets += [(LinkType.ABOUT, _mark(key)) for key in (finding.key, finding.wider_key) if key]
    return [Connect(Link(task.space, memory_id, type, target, now, note=task.id)) for type, target in targets]


def _mark(key: str) -> str:
    return f"finding:{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"
