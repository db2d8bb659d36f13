"""What an update changes: verdicts, corrections and fields, as changes for the store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from afterwit import text
from afterwit.errors import Conflict, Forbidden, InvalidInput, Sentence
from afterwit.messages import say
from afterwit.records import (
    Add,
    Basis,
    Change,
    Kind,
    LinkType,
    Memory,
    Outcome,
    Receipt,
    Retire,
    Revise,
    Standing,
    Status,
    Supersede,
    Trust,
    Vector,
    new_id,
    short_id,
)
from afterwit.resolve import effective_start
from afterwit.service.options import UpdateFields, known_only, read_fields
from afterwit.service.ruling import fallen_rules
from afterwit.service.writing import SOURCE_TRUST, Writer
from afterwit.storage import Transaction

#: Verdicts on intents -> the state that they leave.
SETTLES = {"done": "done", "dismiss": "dismissed"}
VERDICTS = ("confirm", "refute", "restore", *SETTLES)


@dataclass(frozen=True)
class Update:
    """An update after validation."""

    #: corrected text; "" = the text stays
    content: str
    #: one of `VERDICTS` or ""
    verdict: str
    #: fields of `Memory` -> new value
    revised: Mapping[str, Any]
    #: the words come from the user, whoever passes them on
    by_user: bool
    reason: str


def read_update(given: Mapping[str, Any], *, writer: Writer, now: datetime) -> Update:
    """Validate an update.

    Raises:
        InvalidInput: nothing to change, unknown verdict, malformed field.
    """
    known_only(given, UpdateFields)
    plain = {name: given[name] for name in given if name not in ("content", "verdict", "reason")}
    fields = read_fields(plain, now=now)
    verdict = str(given.get("verdict") or "")
    if verdict and verdict not in VERDICTS:
        raise InvalidInput(
            Sentence("Unknown verdict {verdict!r}.", verdict=verdict),
            next_step=Sentence("Use one of: {names}.", names=", ".join(VERDICTS)),
        )
    content = given.get("content") or ""
    if content:
        text.check_text(content, field="content")
    named = {
        "kind": fields.kind,
        "subject": fields.subject,
        "topic": fields.topic,
        "tags": fields.tags or None,
        "confidence": fields.confidence,
        "valid_from": fields.valid_from,
        "valid_to": fields.valid_to,
        "structured": fields.structured,
    }
    revised = {name: value for name, value in named.items() if value is not None}
    if not (content or verdict or revised):
        raise InvalidInput(
            "Nothing to change was given.",
            next_step=Sentence("Give content, verdict ({names}) or a field.", names=", ".join(VERDICTS)),
        )
    if content and verdict:
        raise InvalidInput("content and verdict cannot go together.", next_step="Correct first, then give the verdict.")
    by_user = writer.trust >= Trust.USER or (fields.source is not None and fields.source.kind == "user")
    reason = text.check_text(given["reason"], field="reason", max_bytes=1000) if given.get("reason") else ""
    return Update(content, verdict, revised, by_user, reason)


def corrected(old: Memory, update: Update, *, writer: Writer, now: datetime) -> Memory:
    """The memory that replaces `old` when its text was wrong."""
    basis = Basis.STATED if update.by_user else old.basis
    trust = min(writer.trust, SOURCE_TRUST["user"]) if update.by_user else min(old.trust, writer.trust)
    return replace(
        old,
        id=new_id(now),
        summary=update.content,
        raw="",
        recorded_at=now,
        basis=basis,
        trust=trust,
        confidence=1.0 if update.by_user else old.confidence,
        standing=Standing.CONFIRMED if update.by_user else old.standing,
        status=Status.ACTIVE,
        retired_at=None,
        superseded_by="",
        valid_to=old.valid_to_believed if old.retired_at else old.valid_to,
        valid_to_believed=None,
        last_validated_at=now if update.by_user else old.last_validated_at,
        **{name: value for name, value in update.revised.items() if name != "structured"},
        structured=dict(update.revised.get("structured") or {}),
    )


def apply_correction(tx: Transaction, old: Memory, new: Memory, vector: Vector | None, reason: str) -> Receipt:
    """Put the corrected memory in the old one's place; the old text was never true."""
    changes: list[Change] = [Add(new, vector)]
    changes.append(Supersede(old.id, new.id, valid_to=effective_start(old), reason=reason or "corrected"))
    tx.apply(changes)
    return Receipt(Outcome.UPDATED, new.id, ("corrected",), say("updated", text.language(new.summary)), (old.id,))


def apply_verdict(tx: Transaction, memory: Memory, update: Update, *, writer: Writer, now: datetime) -> Receipt:
    """Carry out a verdict, with the given fields."""
    match update.verdict:
        case "confirm":
            return _confirm(tx, memory, update, writer=writer, now=now)
        case "refute":
            return _refute(tx, memory, update)
        case "done" | "dismiss":
            return _settle(tx, memory, update)
        case _:
            return _restore(tx, memory, update)


def apply_fields(tx: Transaction, memory: Memory, update: Update) -> Receipt:
    """Change fields other than the text."""
    language = text.language(memory.summary)
    changed = {name: value for name, value in update.revised.items() if getattr(memory, name) != value}
    start = changed.get("valid_from", memory.valid_from)
    end = changed.get("valid_to", memory.valid_to)
    if start is not None and end is not None and end <= start:
        raise InvalidInput("The end of validity is not after its start.", next_step="Give valid_from as well.")
    if not changed:
        return Receipt(Outcome.UPDATED, memory.id, ("unchanged",), say("unchanged", language))
    if memory.status is Status.EXPIRED and end is not None and end > (memory.retired_at or end):
        changed["status"] = Status.ACTIVE
    tx.apply([Revise(memory.id, changed, reason=update.reason or "revised")])
    message = say("revised", language, fields=", ".join(sorted(changed)))
    return Receipt(Outcome.UPDATED, memory.id, ("revised",), message)


def _confirm(tx: Transaction, memory: Memory, update: Update, *, writer: Writer, now: datetime) -> Receipt:
    language = text.language(memory.summary)
    fields = dict(update.revised) | {"last_validated_at": now}
    if not update.by_user:
        # An agent's own opinion proves nothing; it only shows that the memory is still looked at.
        if memory.status is Status.QUARANTINED:
            raise Forbidden(
                "A memory that is kept aside can only be confirmed by the user.",
                next_step='Ask the user; if they agree, repeat with source="user".',
            )
        tx.apply([Revise(memory.id, fields, reason=update.reason or "seen again")])
        return Receipt(Outcome.UPDATED, memory.id, ("validated",), say("confirmed", language))
    fields |= {"standing": Standing.CONFIRMED, "confidence": 1.0, "basis": Basis.STATED}
    if writer.trust >= Trust.USER:
        fields["trust"] = Trust.CONFIRMED
    related: list[str] = []
    changes: list[Change] = []
    if memory.status is Status.QUARANTINED:
        fields["status"] = Status.ACTIVE
        for rival in _rivals(tx, memory):
            changes.append(Supersede(rival.id, memory.id, valid_to=effective_start(memory), reason="user confirmed"))
            related.append(rival.id)
    elif memory.status is not Status.ACTIVE:
        raise Conflict(
            Sentence("This memory is {status}.", status=memory.status.value), next_step='Use verdict="restore" first.'
        )
    tx.apply([Revise(memory.id, fields, reason=update.reason or "confirmed by the user"), *changes])
    return Receipt(Outcome.UPDATED, memory.id, ("confirmed",), say("confirmed", language), tuple(related))


def _rivals(tx: Transaction, memory: Memory) -> list[Memory]:
    others = {
        id
        for link in tx.links(memory.space, [memory.id])
        if link.type is LinkType.CONFLICTS
        for id in (link.source_id, link.target_id)
        if id != memory.id
    }
    return [row for row in tx.get(memory.space, sorted(others)).values() if row.status is Status.ACTIVE]


def _refute(tx: Transaction, memory: Memory, update: Update) -> Receipt:
    fields = dict(update.revised) | {"standing": Standing.REFUTED}
    changes: list[Change] = [Revise(memory.id, fields, reason=update.reason or "refuted")]
    children = cascade(tx, replace(memory, standing=Standing.REFUTED))
    tx.apply(changes + children)
    related = tuple(change.memory_id for change in children)
    return Receipt(Outcome.UPDATED, memory.id, ("refuted",), say("refuted", text.language(memory.summary)), related)


def _settle(tx: Transaction, memory: Memory, update: Update) -> Receipt:
    """Take an intent that is done, or not wanted any more, out of recall."""
    state = SETTLES[update.verdict]
    if memory.kind is not Kind.INTENT:
        raise Conflict(
            Sentence("Only an intent can be {state}; this memory is a {kind}.", state=state, kind=memory.kind.value),
            next_step="Forget it, or refute it if it is wrong.",
        )
    language = text.language(memory.summary)
    if memory.structured.get("state") == state and memory.status is not Status.ACTIVE:
        return Receipt(Outcome.UPDATED, memory.id, ("unchanged",), say("unchanged", language))
    fields = dict(update.revised)
    fields["structured"] = {**memory.structured, **fields.get("structured", {}), "state": state}
    changes: list[Change] = [Revise(memory.id, fields, reason=update.reason or state)]
    if memory.status is Status.ACTIVE:
        changes.append(Retire(memory.id, Status.EXPIRED, update.reason or state))
    tx.apply(changes)
    return Receipt(Outcome.UPDATED, memory.id, (state,), say(f"intent_{state}", language))


def cascade(tx: Transaction, memory: Memory) -> list[Revise]:
    """What derives from a memory loses its proof when the memory does: it is pending again. Rules are weighed anew.

    Args:
        tx: the transaction in which it falls.
        memory: as it will be then.
    """
    changed: dict[str, dict[str, Any]] = {}
    derived: dict[str, Memory] = {}
    seen, waiting = {memory.id}, [memory.id]
    while waiting:
        links = tx.links(memory.space, waiting)
        children = {
            link.source_id
            for link in links
            if link.type is LinkType.DERIVED_FROM and link.target_id in seen and link.source_id not in seen
        }
        rows = tx.get(memory.space, sorted(children))
        derived |= rows
        changed |= {
            id: {"standing": Standing.PENDING} for id, row in rows.items() if row.standing is Standing.CONFIRMED
        }
        seen |= children
        waiting = sorted(children)
    for id, fields in fallen_rules(tx, memory, derived.values()).items():
        changed[id] = fields | changed.get(id, {})
    return [Revise(id, fields, reason="its source fell") for id, fields in changed.items()]


def _restore(tx: Transaction, memory: Memory, update: Update) -> Receipt:
    language = text.language(memory.summary)
    refuted = memory.standing is Standing.REFUTED
    if memory.status is Status.ACTIVE and not refuted:
        return Receipt(Outcome.UPDATED, memory.id, ("unchanged",), say("unchanged", language))
    if memory.status is Status.QUARANTINED and not update.by_user:
        raise Forbidden(
            "A memory that is kept aside can only be restored by the user.",
            next_step='Ask the user; if they agree, repeat with source="user".',
        )
    if memory.superseded_by:
        successor = tx.get(memory.space, [memory.superseded_by]).get(memory.superseded_by)
        if successor is not None and successor.status is Status.ACTIVE and successor.standing is not Standing.REFUTED:
            raise Conflict(
                Sentence(
                    "It was replaced by [m:{id}] “{summary}”, which still holds.",
                    id=short_id(successor.id),
                    summary=successor.summary,
                ),
                next_step="Refute or forget that one first, or write anew what holds now.",
            )
    fields: dict[str, Any] = dict(update.revised) | {"status": Status.ACTIVE}
    if "state" in memory.structured and memory.kind is Kind.INTENT:
        kept = {name: value for name, value in memory.structured.items() if name != "state"}
        fields["structured"] = kept | fields.get("structured", {})
    if refuted:
        fields["standing"] = Standing.PENDING
    tx.apply([Revise(memory.id, fields, reason=update.reason or "restored")])
    return Receipt(Outcome.UPDATED, memory.id, ("restored",), say("restored", language))
