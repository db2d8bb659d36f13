"""Writing a text: what rules find in it and, where they find little, what a language model finds beside them.

What a model says of a text is checked before it is kept: its words must stand in the text, and it may name nothing
that does not. It never makes a text's own words less: what the rules keep, stays.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from afterwit import text
from afterwit.errors import InvalidInput, ProviderError, TooManyRequests
from afterwit.extract import due_fields, enrich, extract
from afterwit.extract.doubt import is_not_meant, is_question, is_unsure
from afterwit.extract.rules import ASSISTANT_KINDS
from afterwit.extract.speech import spoken
from afterwit.gate import judge
from afterwit.messages import say
from afterwit.records import Basis, Candidate, Kind, Memory, Outcome, Receipt, Standing, Trust, Vector
from afterwit.review.instructions import reads_as_instruction
from afterwit.service.options import Fields, WriteFields, read_fields
from afterwit.service.searching import Searching
from afterwit.service.writing import SOURCE_TRUST, Draft, Prepared, Setting, draft, is_several, to_draft
from afterwit.vocabulary import USER, confidence_of, fold_subject, fold_topic, strip_injected

if TYPE_CHECKING:
    from afterwit.llm import LLM
    from afterwit.prompts import Statement

#: Longest wait of a write for a language model, in seconds: agents' clients give up on a call after a minute or less.
WAIT_S = 15.0
#: Most tokens of the answer: ten statements with their quotes.
MAX_ANSWER_TOKENS = 1_500
#: Most tokens of a text that a model reads: a small local one does so in time. With rules and answer they take 5,000
#: of its context; one that has less refuses them, and the receipt says so.
MAX_ASKED_TOKENS = 3_000
#: Fewer sentences are a statement, which is kept as it is.
LEAST_SENTENCES = 3
#: Share of a sentence that quotes must cover for nothing of it to be lost when they stand in its place.
_COVERED = 0.6
#: Share of a statement's content words that the text must hold, and that a quote of the user must hold for the
#: statement to count as stated. Below the first it says what the text does not; a paraphrase lies between the two.
_FOUNDED, _STATED = 0.5, 0.6
#: Most tokens of a subject, topic or value.
_LONGEST_KEY = 16


@dataclass(frozen=True)
class Shortfall:
    """Why no language model took part in reading a text."""

    #: "rules_only", "too_long_for_model", "model_budget" or "model_failed"
    reason: str
    #: what went wrong, and what to do; empty when nothing did
    error: str = ""


@dataclass(frozen=True)
class _Speech:
    """What people say in a text: no code, quotations, recalled memories, nothing of tools or systems."""

    #: all of it, for a model to read; secrets are taken out
    material: str
    #: the part that is the user's
    of_user: str


class Extracting(Searching):
    """The part of the service that writes."""

    _store: Callable[[Prepared], list[Receipt]]
    _vectors: Callable[[Sequence[Memory]], dict[str, Vector]]

    def write(self, content: str, **fields: Unpack[WriteFields]) -> Receipt:
        """Remember a statement, or what a longer text states.

        A text of several sentences without a kind is also read by the language model, if there is one and
        `llm_extract` is on; that takes at most 15 seconds. Without an answer the rules decide alone, and the receipt
        says so.

        Args:
            content: one or two sentences; or raw text, from which statements are taken.
            **fields: see `WriteFields`; nothing is required.

        Returns:
            What was done and why: stored, merged, superseded, quarantined or rejected.

        Raises:
            InvalidInput: a malformed field; nothing was stored.
            StorageError: the store could not be written; nothing was stored.
        """
        setting = Setting(self.space, self.writer, self._clock(), self.settings.timezone)
        made = draft(content, fields, setting)
        shortfall = None
        if self.settings.llm_extract == "on" and is_raw(content, fields, setting):
            made, shortfall = self._with_model(content, fields, setting, made)
        memories = [one.memory for one in made] if isinstance(made, list) else []
        (receipt,) = self._store(Prepared(setting.now, ((content, made),), self._vectors(memories)))
        return receipt if shortfall is None else _told(receipt, shortfall, text.language(content))

    def _with_model(
        self, content: str, given: Mapping[str, Any], setting: Setting, made: list[Draft] | Receipt
    ) -> tuple[list[Draft] | Receipt, Shortfall | None]:
        if self.llm is None:
            return made, Shortfall("rules_only")
        own = strip_injected(content).strip()
        speech = _speech(own)
        if text.count_tokens(speech.material) > MAX_ASKED_TOKENS:
            return made, Shortfall("too_long_for_model")
        if not speech.material:
            return made, None
        fields = read_fields(given, now=setting.now)
        try:
            found = ask_for_statements(
                self.llm, speech, fields, setting, timeout_s=min(WAIT_S, self.settings.llm_timeout_s)
            )
        except TooManyRequests as error:
            return made, Shortfall("model_budget", str(error))
        except ProviderError as error:
            return made, Shortfall("model_failed", str(error))
        return _joined(own, made, found, fields, setting), None


def is_raw(content: str, given: Mapping[str, Any], setting: Setting) -> bool:
    """Whether a text is one to take statements from, in which rules do not find all: several sentences of which some
    fit no sure form, or a conversation. A text whose keys are given is a statement."""
    if any(given.get(name) for name in ("kind", "topic", "structured")):
        return False
    own = strip_injected(content).strip()
    parts = text.sentences(own)
    if len(parts) < LEAST_SENTENCES:
        return False
    verdict = judge(content, explicit=False)
    if not verdict.accepted:
        return verdict.reason == "too_long" or (verdict.reason == "raw_dump" and _is_conversation(own))
    kept = sum(judge(part, explicit=False).accepted for part in parts)
    return kept >= LEAST_SENTENCES and not is_several(own, extract(own, now=setting.now, timezone=setting.timezone))


def ask_for_statements(
    llm: "LLM", speech: _Speech, fields: Fields, setting: Setting, *, timeout_s: float
) -> list[Draft]:
    """What a language model finds in a text; only what the text says in these words.

    Args:
        llm: is asked once.
        speech: what people say in the text.
        fields: what was said with the write.
        setting: who writes, and when.
        timeout_s: longest wait.

    Raises:
        ProviderError: the model did not answer, or not in the form.
        TooManyRequests: the token budget of the day is used up.
    """
    from afterwit import prompts  # noqa: PLC0415 - brings pydantic along

    prompt = prompts.extract(speech.material)
    schema = prompts.Extraction.of(speech.material)
    answer = llm.answer(prompt, schema=schema, max_tokens=MAX_ANSWER_TOKENS, timeout_s=timeout_s)
    by_user = {id(one) for one in answer.output.quoted(speech.of_user)}
    made_by = {"prompt": prompt.purpose, "model": llm.model}
    found: list[Draft] = []
    for statement in answer.output.quoted(speech.material):
        if _is_founded(statement, speech, fields, is_users=id(statement) in by_user):
            stated = id(statement) in by_user and _is_stated(statement, fields, setting)
            try:
                found.append(_draft(statement, fields, setting, stated=stated, made_by=made_by))
            except InvalidInput:
                continue  # words that no memory can hold, such as control characters in a name
    return found


# --- What is checked --------------------------------------------------------------------------------


def _is_founded(statement: "Statement", speech: _Speech, fields: Fields, *, is_users: bool) -> bool:
    """Whether a statement is worth keeping and says what its text says."""
    if not is_users and Kind(statement.kind) not in ASSISTANT_KINDS:
        return False
    if not judge(statement.summary, explicit=False).accepted or text.REDACTED in statement.summary:
        return False
    outside = fields.source is not None and SOURCE_TRUST[fields.source.kind] is Trust.EXTERNAL
    if outside and reads_as_instruction(f"{statement.summary}\n{statement.quote}"):
        return False
    if text.is_negated(statement.summary) != text.is_negated(statement.quote):
        return False
    told, known = _plain(speech.material), text.hard_terms(speech.material)
    invented = [term for term in text.hard_terms(statement.summary) if _plain(term) not in told and term not in known]
    return not invented and _share(statement.summary, speech.material) >= _FOUNDED


def _is_stated(statement: "Statement", fields: Fields, setting: Setting) -> bool:
    """Whether the user says it in these words: only then it is as good as what rules find in the user's words."""
    from_user = fields.source.kind == "user" if fields.source else setting.writer.trust >= Trust.USER
    hedged = is_unsure(statement.quote) or is_not_meant(statement.quote) or is_question(statement.quote)
    return from_user and not hedged and _share(statement.summary, statement.quote) >= _STATED


def _share(summary: str, source: str) -> float:
    """Share of a statement's content words, apart from those for the user, that stand in a source, 0..1."""
    words = set(text.query_tokens(summary)) - set(text.query_tokens(f"{USER} 用户"))
    return len(words & set(text.index_tokens(source))) / len(words) if words else 0.0


def _plain(words: str) -> str:
    return re.sub(r"\s+", "", text.fold(words))


def _speech(own: str) -> _Speech:
    said = list(spoken(text.redact_secrets(own)))
    of_user = "\n".join(one.text for one in said if one.speaker == "user")
    if all(one.speaker == "user" for one in said):
        return _Speech(of_user, of_user)
    return _Speech("\n".join(f"{one.speaker.capitalize()}: {one.text}" for one in said), of_user)


def _is_conversation(own: str) -> bool:
    return {one.speaker for one in spoken(own)} == {"user", "assistant"}


# --- What is made -----------------------------------------------------------------------------------


def _draft(
    statement: "Statement", fields: Fields, setting: Setting, *, stated: bool, made_by: Mapping[str, str]
) -> Draft:
    """A statement as a memory; times are read from its quote by rule.

    Raises:
        InvalidInput: its words or keys are malformed.
    """
    text.check_text(statement.summary, field="content")
    said = enrich(statement.quote, now=setting.now, timezone=setting.timezone)
    subject, topic, value = _keys(statement)
    about = subject or enrich(statement.summary, now=setting.now, timezone=setting.timezone).subject
    kind = Kind(statement.kind)
    is_intent = kind is Kind.INTENT  # what will be done is not what will be true
    structured = dict(said.structured) if said.kind is kind else {}
    if is_intent:
        structured |= due_fields(statement.quote, now=setting.now, timezone=setting.timezone)
    candidate = Candidate(
        summary=statement.summary,
        kind=kind,
        subject=fold_subject(about) if about else said.subject,
        topic=fold_topic(topic) if topic else said.topic,
        value=value or (said.value if said.kind is kind else ""),
        raw=statement.quote,
        structured={**structured, **made_by},
        basis=Basis.STATED if stated else Basis.INFERRED,
        happened_at=said.happened_at,
        valid_from=None if is_intent else said.valid_from,
        valid_to=None if is_intent else said.valid_to,
        is_change=said.is_change,
    )
    one = to_draft(candidate, fields, setting)
    if stated:
        return one
    memory = one.memory
    bounded = replace(
        memory,
        basis=Basis.INFERRED,
        trust=min(memory.trust, Trust.AGENT),
        standing=Standing.PENDING,
        confidence=min(memory.confidence, confidence_of(Basis.INFERRED)),
    )
    return replace(one, memory=bounded)


def _keys(statement: "Statement") -> tuple[str, str, str]:
    """Subject, topic and value; "" where a whole sentence stands in their place, as small models repeat it."""
    told = {_plain(statement.summary), _plain(statement.quote)}
    given = (statement.subject, statement.topic, statement.value)
    subject, topic, value = (
        "" if _plain(one) in told or text.count_tokens(one) > _LONGEST_KEY else one for one in given
    )
    return subject, topic, value


def _joined(
    own: str, made: list[Draft] | Receipt, found: Sequence[Draft], fields: Fields, setting: Setting
) -> list[Draft] | Receipt:
    """What rules and model found. The text as a whole is kept beside it unless that says all of it."""
    by_rule = [to_draft(one, fields, setting) for one in extract(own, now=setting.now, timezone=setting.timezone)]
    kept = list(by_rule)
    for one in found:
        if not any(_says_the_same(one.memory, other.memory) for other in kept):
            kept.append(one)
    if isinstance(made, list) and judge(own, explicit=False).accepted:
        quotes = [_plain(one.memory.raw) for one in kept]
        worth = [part for part in text.sentences(own) if judge(part, explicit=False).accepted]
        if not all(_is_covered(_plain(part), quotes) for part in worth):
            return [*made, *(one for one in kept if not _same_words(one.memory, made[0].memory))]
    return kept or made


def _says_the_same(new: Memory, known: Memory) -> bool:
    """Whether a model's statement is in what is known: in the same words, or from the same part of the text."""
    if _same_words(new, known):
        return True
    alike = new.kind is known.kind or (bool(new.topic) and (new.subject, new.topic) == (known.subject, known.topic))
    return alike and _plain(new.raw) in _plain(known.raw)


def _same_words(new: Memory, known: Memory) -> bool:
    if text.statement_key(new.summary) != text.statement_key(known.summary):
        return False
    return text.is_negated(new.summary) == text.is_negated(known.summary)


def _is_covered(sentence: str, quotes: Sequence[str]) -> bool:
    if any(sentence in quote for quote in quotes):
        return True
    return sum(len(quote) for quote in set(quotes) if quote in sentence) >= _COVERED * len(sentence)


# --- What is told -----------------------------------------------------------------------------------


def _told(receipt: Receipt, shortfall: Shortfall, language: str) -> Receipt:
    """The receipt of a text that only the rules read."""
    failed = bool(shortfall.error)
    if receipt.outcome is Outcome.REJECTED:
        if not failed:
            return receipt  # it says already what to write instead
        message = say("nothing_extracted", language, error=shortfall.error)
        return Receipt(Outcome.REJECTED, reasons=(shortfall.reason,), message=message)
    note = say(f"read_{shortfall.reason}", language, error=shortfall.error, most=MAX_ASKED_TOKENS)
    joint = "" if language == "zh" else " "
    reasons = (*receipt.reasons, shortfall.reason)
    return replace(receipt, reasons=reasons, message=f"{receipt.message}{joint}{note}")
