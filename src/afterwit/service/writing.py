"""From what a caller says to memories ready to be resolved: gate, extract, defaults."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar, cast

from afterwit import text
from afterwit.errors import InvalidInput
from afterwit.extract import due_fields, enrich, extract
from afterwit.gate import judge
from afterwit.messages import say
from afterwit.records import (
    Basis,
    Candidate,
    Kind,
    Memory,
    Outcome,
    Receipt,
    Source,
    Standing,
    Trust,
    Vector,
    new_id,
)
from afterwit.service.options import MAX_RAW_BYTES, Fields, WriteFields, read_fields
from afterwit.storage import Reader
from afterwit.vocabulary import USER, basis_of, confidence_of, is_known_topic, strip_injected

Item = TypeVar("Item")

#: Tokens up to which a text is its own summary; longer ones are cut to their first sentences.
SUMMARY_TOKENS = 160

#: The most that a declared source can be trusted; the writer's own level may be lower.
SOURCE_TRUST = {
    "user": Trust.USER,
    "agent": Trust.AGENT,
    "test": Trust.AGENT,
    "review": Trust.AGENT,
    "tool": Trust.EXTERNAL,
    "web": Trust.EXTERNAL,
    "import": Trust.EXTERNAL,
}


#: Kinds that an agent concludes or decides itself, unless it says that the user did.
_AGENTS_OWN = frozenset({Kind.DECISION, Kind.FAILURE, Kind.LESSON, Kind.RULE})
#: What an account or a plan says of time is when it happened or will be done, not how long it holds.
_UNTIMED = frozenset({Kind.FAILURE, Kind.LESSON, Kind.INTENT})


@dataclass(frozen=True)
class Writer:
    """Who writes. Its trust is the most that anything it writes can have."""

    name: str = "agent"
    trust: Trust = Trust.AGENT
    #: session that repeated statements count for once; "" = made anew for each service
    session: str = ""


@dataclass(frozen=True)
class Setting:
    """What is the same for all memories of one write."""

    space: str
    writer: Writer
    now: datetime
    timezone: str


@dataclass(frozen=True)
class Draft:
    """A memory on its way into the store."""

    memory: Memory
    #: its words speak of a change of what was known
    is_change: bool


@dataclass(frozen=True)
class Prepared:
    """A batch on its way into the store."""

    now: datetime
    #: each text with its drafts, or the receipt that says why there are none
    drafts: tuple[tuple[str, list[Draft] | Receipt], ...]
    #: by memory id
    vectors: dict[str, Vector]


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def with_fields(item: object) -> tuple[str, WriteFields]:
    """A statement with what is known of it.

    Raises:
        InvalidInput: it is neither a text nor a text with its fields.
    """
    match item:
        case str():
            return item, {}
        case (str(), dict()):
            return cast(tuple[str, WriteFields], item)
        case _:
            raise InvalidInput(
                f"An item is {type(item).__name__}, not a text or a text with its fields.",
                next_step='Give "The port is 8080." or ("The port is 8080.", {"kind": "fact"}).',
            )


def draft(content: str, given: Mapping[str, Any], setting: Setting) -> list[Draft] | Receipt:
    """The memories that a text makes, or the receipt that says why it makes none.

    What search once returned is taken out first, so that no memory is learned from itself.

    Raises:
        InvalidInput: a field is malformed; nothing was stored.
    """
    fields = read_fields(given, now=setting.now)
    text.check_text(content, field="content", max_bytes=MAX_RAW_BYTES)
    verdict = judge(content, explicit=fields.kind is not None)
    own = strip_injected(content).strip()
    found = [] if fields.kind is not None else extract(own, now=setting.now, timezone=setting.timezone)
    if verdict.accepted and not is_several(own, found):
        return [to_draft(_from_statement(content if own == content.strip() else own, setting), fields, setting)]
    if found:
        return [to_draft(candidate, fields, setting) for candidate in found]
    return Receipt(Outcome.REJECTED, reasons=(verdict.reason,), message=verdict.message)


def is_several(own: str, found: Sequence[Candidate]) -> bool:
    """Whether a text is several statements, each of which stands alone, and beside them only small talk."""
    if len(found) < 2:
        return False
    return len(found) == sum(judge(sentence, explicit=False).accepted for sentence in text.sentences(own))


def _from_statement(content: str, setting: Setting) -> Candidate:
    candidate = enrich(content, now=setting.now, timezone=setting.timezone)
    if text.count_tokens(content) <= SUMMARY_TOKENS:
        return replace(candidate, summary=content)
    return replace(candidate, summary=text.truncate(content, SUMMARY_TOKENS), raw=content)


def to_draft(candidate: Candidate, fields: Fields, setting: Setting) -> Draft:
    """Join what was said about a memory with what its words say; what was said goes first."""
    basis = basis_of(fields.source.kind) if fields.source else _basis(candidate, setting.writer)
    source = fields.source or Source(_source_kind(basis, setting.writer), fields.task_id)
    session = source.ref or fields.task_id or setting.writer.session
    structured = dict(candidate.structured)
    if fields.kind is Kind.INTENT and candidate.kind is not Kind.INTENT:
        structured |= due_fields(candidate.summary, now=setting.now, timezone=setting.timezone)
    if candidate.value:
        structured["value"] = candidate.value
    structured |= dict(fields.structured or {})
    subject = fields.subject if fields.subject is not None else candidate.subject
    topic = fields.topic if fields.topic is not None else candidate.topic
    if _is_attribute(fields):
        structured.setdefault("single_valued", True)
    kind = fields.kind or candidate.kind
    memory = Memory(
        id=new_id(setting.now),
        space=setting.space,
        summary=candidate.summary,
        kind=kind,
        recorded_at=setting.now,
        happened_at=fields.happened_at or candidate.happened_at or setting.now,
        scope=fields.scope,
        role=fields.role,
        subject=subject,
        topic=topic,
        tags=fields.tags or candidate.tags,
        raw=fields.raw or candidate.raw,
        structured=structured,
        basis=basis,
        trust=min(setting.writer.trust, SOURCE_TRUST[source.kind]),
        source=replace(source, ref=source.ref or session),
        confidence=fields.confidence if fields.confidence is not None else confidence_of(basis),
        standing=Standing.CONFIRMED if _speaks_for_itself(basis, kind) else Standing.PENDING,
        valid_from=fields.valid_from or candidate.valid_from,
        valid_to=fields.valid_to or (None if kind in _UNTIMED else candidate.valid_to),
        supporters=(session,),
    )
    return Draft(memory, candidate.is_change)


def _source_kind(basis: Basis, writer: Writer) -> str:
    return "user" if basis is Basis.STATED or writer.trust >= Trust.USER else "agent"


def _basis(candidate: Candidate, writer: Writer) -> Basis:
    """A person who writes states. An agent that writes in the first person passes on the user's words
    where they are about the user; what "we" decided or learned is the agent's own."""
    if writer.trust >= Trust.USER:
        return Basis.STATED
    own = candidate.kind in _AGENTS_OWN and candidate.subject != USER
    return Basis.INFERRED if own and candidate.basis is Basis.STATED else candidate.basis


def _speaks_for_itself(basis: Basis, kind: Kind) -> bool:
    """What a user says and what a check shows is confirmed; lessons wait for later tasks in any case."""
    return basis is Basis.STATED or (basis is Basis.VERIFIED and kind not in (Kind.LESSON, Kind.RULE))


def _is_attribute(fields: Fields) -> bool:
    """Subject, topic and value given outright name one attribute, unless the vocabulary knows the
    topic, and so knows whether it has several values."""
    given = bool(fields.subject and fields.topic and (fields.structured or {}).get("value"))
    return given and not is_known_topic(fields.topic or "")


def embedded_texts(memories: Sequence[Memory], store: Reader, space: str) -> list[str]:
    """What of each memory is turned into its vector; changing this changes every vector.

    The summary as it is: a kind or subject before it makes unrelated memories alike. A turn of a
    conversation takes the turn before it along, without which "Yes, on Tuesday" is about nothing.
    """
    known = {memory.id: memory for memory in memories}
    before = {memory.id: str(memory.structured["previous"]) for memory in memories if "previous" in memory.structured}
    earlier = known | store.get(space, [id for id in before.values() if id not in known])

    def text_of(memory: Memory) -> str:
        previous = earlier.get(before.get(memory.id, ""))
        if previous is None or (previous.source, previous.scope) != (memory.source, memory.scope):
            return memory.summary
        return f"{memory.summary}\n{previous.summary}"

    return [text_of(memory) for memory in memories]


def summary_receipt(receipts: list[Receipt], language: str) -> Receipt:
    """One receipt for a text that held several statements."""
    if len(receipts) == 1:
        return receipts[0]
    first = next((receipt for receipt in receipts if receipt.accepted), receipts[0])
    message = say("stored_parts", language, count=sum(receipt.accepted for receipt in receipts))
    related = tuple(receipt.id for receipt in receipts if receipt.id and receipt.id != first.id)
    return Receipt(first.outcome, first.id, ("several_statements",), message, related, tuple(receipts))
