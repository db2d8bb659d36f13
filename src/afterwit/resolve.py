"""A new memory meets what is known: duplicate, change, conflict, or simply new.

Deterministic, no model is asked. Evidence class decides, then time:

- the same statement again is merged, and counts once per independent source;
- a different value for a subject and single-valued topic ("slot"), or where the new statement tells that the
  old one has ended or changed, or the denial of a known statement, is a *hard* conflict: the better founded,
  then the newer one stays active;
- a different detail under the same subject and topic is a *soft* conflict: both stay;
- names, numbers, versions and identifiers that differ never merge (`text.statement_key`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from afterwit import text
from afterwit.messages import say
from afterwit.records import (
    Add,
    Basis,
    Change,
    Connect,
    Kind,
    Link,
    LinkType,
    Memory,
    Outcome,
    Receipt,
    Reinforce,
    Retire,
    Revise,
    Standing,
    Status,
    Supersede,
    Trust,
    Vector,
)
from afterwit.vocabulary import is_single_valued

#: What a soft conflict takes from the older memory's confidence (FEATURES of the first documents), and the floor.
SOFT_CONFLICT_COST = 0.2
LEAST_CONFIDENCE = 0.1

#: Share of common content words, of the longer text, from which two texts under one topic are about the same detail.
SAME_DETAIL = 0.6


@dataclass(frozen=True)
class Known:
    """What the store already has that may concern a new memory; all active, same scope and pool."""

    #: rows with the same `text.statement_key`, so: the same words, or their denial
    same_statement: Sequence[Memory] = ()
    #: rows with the same subject and topic
    same_topic: Sequence[Memory] = ()
    #: rows that tell what was before a change that the new one's words tell of
    changed: Sequence[Memory] = ()


@dataclass(frozen=True)
class Resolution:
    """What to change, and what to tell the writer."""

    changes: tuple[Change, ...]
    receipt: Receipt


def resolve(
    new: Memory, *, known: Known, now: datetime, is_change: bool = False, vector: Vector | None = None
) -> Resolution:
    """Decide what a new memory does to the known ones.

    Args:
        new: the memory as it would be stored if nothing stood against it.
        known: what is active about the same thing.
        now: time of the write.
        is_change: its words speak of a change ("switched to pnpm"), so that it replaces the values
            known so far even where a topic may have several.
        vector: embedding of the new memory, stored with it if it is stored.
    """
    add = Add(new, vector)
    denied = text.is_negated(new.summary)
    for old in known.same_statement:
        if text.same_statement(old.summary, new.summary):
            return merge(old, new, now=now, reason="duplicate")
    rivals = [old for old in known.same_statement if text.is_negated(old.summary) != denied]
    changes_value = is_change and bool(new.subject and new.topic and _value(new))
    if is_slot(new) or changes_value:
        in_slot = [old for old in known.same_topic if old.id not in {rival.id for rival in rivals}]
        if not is_slot(new):
            in_slot = [old for old in in_slot if _value(old) and old.kind in _SLOT_KINDS]
        same_value = [old for old in in_slot if _same_value(old, new)]
        if same_value:
            return merge(same_value[0], new, now=now, reason="same_value")
        rivals += in_slot
    rivals += [old for old in known.changed if old not in rivals]
    if rivals:
        return _hard_conflict(add, rivals, now=now)
    similar = [old for old in known.same_topic if _differs_in_detail(old, new)]
    if similar:
        return _soft_conflict(add, similar, now=now)
    return Resolution((add,), _stored(new))


def is_slot(memory: Memory) -> bool:
    """Whether subject and topic name something that has one value at a time."""
    if not memory.subject or not memory.topic or memory.kind not in _SLOT_KINDS:
        return False
    return is_single_valued(memory.topic) or _attribute(memory)


_SLOT_KINDS = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.DECISION})


def _attribute(memory: Memory) -> bool:
    # A fact given as subject, topic and value is an attribute; the writer says so by `single_valued`
    # being absent or true. Facts found in free text carry no such flag and follow the vocabulary.
    return memory.structured.get("single_valued") is True


def effective_start(memory: Memory) -> datetime:
    """The moment in the world from which a memory holds: its `valid_from`, else when it happened."""
    return memory.valid_from or memory.happened_at


def _same_value(old: Memory, new: Memory) -> bool:
    old_value, new_value = _value(old), _value(new)
    denied = text.is_negated(old.summary) != text.is_negated(new.summary)
    return bool(old_value) and old_value == new_value and not denied


def _value(memory: Memory) -> str:
    value = memory.structured.get("value", "")
    return " ".join(text.fold(str(value)).split()) if value else ""


def merge(old: Memory, new: Memory, *, now: datetime, reason: str) -> Resolution:
    """Count a new memory as further evidence for a known one that says the same; once per independent source.

    Args:
        old: stays, with the better evidence of the two; more trusted only when a user says the same.
        new: is not stored.
        now: time of the write.
        reason: why they are one, a stable word for receipt and history.
    """
    supporter = new.supporters[0] if new.supporters else ""
    language = text.language(new.summary)
    stronger = new.basis.strength > old.basis.strength
    again = supporter in old.supporters
    if again and not stronger and new.valid_to in (None, old.valid_to):
        message = say("merged_same_source", language)
        return Resolution((), Receipt(Outcome.MERGED, old.id, (reason, "same_source"), message))
    confidence = max(old.confidence, new.confidence)
    if not again:
        # Independent agreement halves what is missing to certainty, short of certainty itself.
        confidence = max(confidence, min(0.99, 1 - (1 - old.confidence) / 2))
    reinforce = Reinforce(
        memory_id=old.id,
        supporter=supporter,
        confidence=confidence,
        basis=new.basis if stronger else old.basis,
        trust=_trust_of_both(old, new),
        standing=Standing.CONFIRMED if new.standing is Standing.CONFIRMED else old.standing,
        validated_at=now,
        reason=reason,
    )
    changes: list[Change] = [reinforce]
    if new.valid_to is not None and new.valid_to != old.valid_to:
        changes.append(Revise(old.id, {"valid_to": new.valid_to}, reason="validity said anew"))
    support = old.support + (0 if again else 1)
    message = say("merged", language, support=support)
    return Resolution(tuple(changes), Receipt(Outcome.MERGED, old.id, (reason,), message))


def _trust_of_both(old: Memory, new: Memory) -> Trust:
    """The known one's own, unless a user says the same: an agent that repeats what it read vouches for nothing, and
    neither does a stranger who repeats what a user said take away from it."""
    return max(old.trust, new.trust) if new.trust >= Trust.USER else old.trust


def _outranks(new: Memory, old: Memory) -> bool:
    """Whether its evidence is as good, and not only by its own account: what comes from outside overrules nobody, while
    an agent passes on what its user says."""
    return new.basis.strength >= old.basis.strength and new.trust >= min(old.trust, Trust.AGENT)


def _hard_conflict(add: Add, rivals: Sequence[Memory], *, now: datetime) -> Resolution:
    new = add.memory
    stronger = [old for old in rivals if not _outranks(new, old)]
    if stronger:
        return _set_aside(add, stronger[0], now=now)
    later = [old for old in rivals if effective_start(old) > effective_start(new) and _outranks(old, new)]
    if later:
        return _file_as_past(add, min(later, key=effective_start), now=now)
    return _replace(add, rivals, now=now)


def _set_aside(add: Add, old: Memory, *, now: datetime) -> Resolution:
    new = replace(add.memory, status=Status.QUARANTINED, standing=Standing.PENDING, retired_at=now)
    message = say(
        "weaker_conflict",
        text.language(new.summary),
        old=old.summary,
        old_basis=old.basis.value,
        new_basis=new.basis.value,
        id=new.id,
    )
    link = Link(new.space, new.id, LinkType.CONFLICTS, old.id, now, "weaker evidence")
    receipt = Receipt(Outcome.QUARANTINED, new.id, ("contradicts_stronger",), message, (old.id,))
    return Resolution((Add(new, add.vector), Connect(link)), receipt)


def _file_as_past(add: Add, current: Memory, *, now: datetime) -> Resolution:
    until = effective_start(current)
    new = add.memory
    message = say("recorded_as_past", text.language(new.summary), new=current.summary, until=f"{until:%Y-%m-%d}")
    changes = (add, Supersede(new.id, current.id, valid_to=until, reason="older value"))
    return Resolution(changes, Receipt(Outcome.STORED, new.id, ("already_past",), message, (current.id,)))


def _replace(add: Add, rivals: Sequence[Memory], *, now: datetime) -> Resolution:
    start = effective_start(add.memory)
    new = replace(add.memory, valid_from=start)
    changes: list[Change] = [Add(new, add.vector)]
    for old in rivals:
        if new.basis.strength > old.basis.strength and effective_start(old) > start:
            # The newer one is only an inference against a statement: it was never the value.
            changes.append(Retire(old.id, Status.QUARANTINED, reason="contradicts a stronger statement"))
            changes.append(Connect(Link(new.space, old.id, LinkType.CONFLICTS, new.id, now, "weaker evidence")))
        else:
            changes.append(Supersede(old.id, new.id, valid_to=start, reason="value changed"))
    message = say("superseded", text.language(new.summary), old=rivals[0].summary, until=f"{start:%Y-%m-%d}")
    related = tuple(old.id for old in rivals)
    return Resolution(tuple(changes), Receipt(Outcome.SUPERSEDED, new.id, ("value_changed",), message, related))


def _differs_in_detail(old: Memory, new: Memory) -> bool:
    """Whether both say the same about one thing except for a number, version or name in it."""
    if not new.subject or old.kind is not new.kind or old.basis is Basis.IMPORTED:
        return False
    old_hard, new_hard = text.hard_terms(old.summary), text.hard_terms(new.summary)
    if not (old_hard - new_hard and new_hard - old_hard):
        return False
    old_words, new_words = set(text.query_tokens(old.summary)), set(text.query_tokens(new.summary))
    return len(old_words & new_words) >= SAME_DETAIL * max(1, len(old_words), len(new_words))


def _soft_conflict(add: Add, similar: Sequence[Memory], *, now: datetime) -> Resolution:
    new = add.memory
    changes: list[Change] = [add]
    for old in similar:
        lowered = max(LEAST_CONFIDENCE, round(old.confidence - SOFT_CONFLICT_COST, 6))
        changes.append(Revise(old.id, {"confidence": min(old.confidence, lowered)}, reason="soft conflict"))
        changes.append(Connect(Link(new.space, new.id, LinkType.CONFLICTS, old.id, now, "different detail")))
    message = say("soft_conflict", text.language(new.summary), old=similar[0].summary)
    receipt = Receipt(Outcome.STORED, new.id, ("soft_conflict",), message, tuple(old.id for old in similar))
    return Resolution(tuple(changes), receipt)


def _stored(new: Memory) -> Receipt:
    language = text.language(new.summary)
    if new.status is Status.QUARANTINED:
        return Receipt(Outcome.QUARANTINED, new.id, ("held_for_review",), say("stored_for_review", language))
    return Receipt(Outcome.STORED, new.id, ("new",), say("stored", language))
