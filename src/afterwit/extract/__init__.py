"""Text -> candidate memories, by rules for Chinese and English. No model, no network.

`enrich` describes a statement that is stored as it is; `extract` looks for statements worth keeping in raw
text. Precision goes before coverage: a sentence that fits no sure form gives nothing.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from afterwit.clock import format_time
from afterwit.dates import find_due, find_expiry, find_start
from afterwit.extract import chinese, doubt, english
from afterwit.extract.rules import ASSISTANT_KINDS, Found, compile_rules
from afterwit.extract.speech import Sentence, spoken
from afterwit.extract.wording import corrects, plainly, subject_of, third_person, without_lead
from afterwit.records import Basis, Candidate, Json, Kind
from afterwit.text import is_negated, language, sentences
from afterwit.vocabulary import USER, confidence_of, strip_injected

__all__ = ["due_fields", "enrich", "extract", "prepare"]

#: Longer ones are no plain statements.
MAX_SENTENCE_CHARS = 400

#: Kinds that say what is so with somebody: they need a subject who holds them, and no doubt.
_PERSONAL = frozenset({Kind.PREFERENCE, Kind.FACT})
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|me|[Ww]e|[Oo]ur)\b|\bI['’]|我|咱|本人")


def enrich(text: str, *, now: datetime, timezone: str) -> Candidate:
    """Describe a statement that will be stored as it is.

    Args:
        text: one or a few sentences; the first whose form is sure decides.
        now: the moment of writing, aware.
        timezone: IANA name of the zone in which "yesterday" is meant; "" = that of the machine.

    Returns:
        A candidate whose summary and raw are the text; kind `fact` and no subject when no form is sure.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    own = strip_injected(text).strip() or text
    for part in sentences(own):
        if len(part) > MAX_SENTENCE_CHARS:
            continue
        plain = doubt.without_hedge(doubt.unquoted(part))
        if not doubt.is_question(plain) and (found := _read(plain)):
            return _candidate(found, part, own=own, stated=_is_stated(part), now=now, timezone=timezone)
    head = own[:MAX_SENTENCE_CHARS]
    found = Found(Kind.FACT, who=_leading_person(head))
    return _candidate(found, head, own=own, stated=_is_stated(head), now=now, timezone=timezone)


def extract(text: str, *, now: datetime, timezone: str) -> list[Candidate]:
    """Find statements worth keeping in a message, a few paragraphs or a transcript with role labels.

    The user's speech gives preferences, facts, constraints, decisions, intents and lessons, as `stated`; the
    assistant's gives decisions, lessons and failures, as `inferred`. Questions, hypotheses, hearsay, jokes, code,
    quotations and recalled memories give nothing.

    Args:
        text: raw text in any mix of Chinese and English.
        now: the moment of writing, aware.
        timezone: IANA name of the zone in which "yesterday" is meant; "" = that of the machine.

    Returns:
        Candidates in the order of the text, the same words only once; `raw` is the sentence byte for byte.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    found: dict[str, Candidate] = {}
    last = ""
    for sentence in spoken(text):
        if doubt.is_joke_alone(sentence.text):
            found.pop(last, None)
            continue
        candidate = _from_sentence(sentence, now=now, timezone=timezone)
        last = sentence.text
        if candidate and last not in found:
            found[last] = candidate
    return list(found.values())


def prepare() -> None:
    """Compile the rules ahead of the first statement, which otherwise waits 0.2 to 0.4 s for those of its language."""
    for rules in (english.RULES, chinese.RULES, chinese.AFTER_CORRECTION):
        compile_rules(rules)


def _from_sentence(sentence: Sentence, *, now: datetime, timezone: str) -> Candidate | None:
    if len(sentence.text) > MAX_SENTENCE_CHARS:
        return None
    plain = doubt.unquoted(sentence.text)
    if doubt.is_question(plain) or doubt.is_not_meant(plain):
        return None
    found = _read(plain)
    if found is None:
        return None
    by_user = sentence.speaker == "user"
    if not by_user and found.kind not in ASSISTANT_KINDS:
        return None
    if doubt.is_unsure(plain) or (found.kind in _PERSONAL and doubt.is_past(plain)):
        return None
    stated = by_user
    candidate = _candidate(found, sentence.text, own=sentence.text, stated=stated, now=now, timezone=timezone)
    core = without_lead(sentence.text)
    if by_user:
        core = third_person(core, chinese=language(core) == "zh")
    return replace(candidate, summary=core)


def _read(sentence: str) -> Found | None:
    core = plainly(sentence)
    if language(core) == "zh" or re.match(r".{0,12}[\u4e00-\u9fff]", core):
        return chinese.read(core, corrects=corrects(sentence))
    return english.read(core)


def _candidate(found: Found, sentence: str, *, own: str, stated: bool, now: datetime, timezone: str) -> Candidate:
    basis = Basis.STATED if stated else Basis.INFERRED
    is_intent = found.kind is Kind.INTENT  # what will be done is not what will be true
    start = None if is_intent else find_start(sentence, now=now, timezone=timezone)
    return Candidate(
        summary=own,
        kind=found.kind,
        subject=_subject(found, sentence),
        topic=found.topic,
        value=found.value,
        raw=own,
        structured=_structured(found, sentence, now=now, timezone=timezone),
        basis=basis,
        confidence=confidence_of(basis),
        happened_at=start if start and start <= now else None,
        valid_from=start,
        valid_to=None if is_intent else find_expiry(sentence, now=now, timezone=timezone),
        is_change=found.is_change or corrects(sentence),
        is_negated="chosen" not in found.structured and is_negated(without_lead(sentence)),
    )


def _subject(found: Found, sentence: str) -> str:
    subject = subject_of(found.who, sentence)
    directed = found.kind in (Kind.PREFERENCE, Kind.INTENT) and not found.who
    return subject or (USER if directed else "")


def _structured(found: Found, sentence: str, *, now: datetime, timezone: str) -> Json:
    if found.kind is not Kind.INTENT:
        return dict(found.structured)
    return {**found.structured, **due_fields(sentence, now=now, timezone=timezone)}


def due_fields(sentence: str, *, now: datetime, timezone: str) -> Json:
    """The structured fields that say when an intent is due; {} when its words do not.

    Args:
        sentence: the intent.
        now: the moment of writing, aware.
        timezone: IANA name of the zone in which "Friday" is meant; "" = that of the machine.

    Returns:
        `due`, and `from` when it is to be thought of earlier, as RFC 3339 times.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    found = find_due(sentence, now=now, timezone=timezone)
    if found is None:
        return {}
    fields: dict[str, Any] = {"due": format_time(found.at)}
    return fields | ({"from": format_time(found.begins)} if found.begins < found.at else {})


def _is_stated(text: str) -> bool:
    """Whether the words are somebody's own in the first person, or report what the user said; hedged ones are not."""
    if doubt.is_unsure(text):
        return False
    return doubt.reports_user(text) or (_FIRST_PERSON.search(text) is not None and not doubt.is_not_meant(text))


def _leading_person(text: str) -> str:
    if doubt.reports_user(text):
        return USER
    match = re.match(r"(?:the user|user|i|my|我|用户)(?:\b|(?=[\u4e00-\u9fff]))", without_lead(text), re.IGNORECASE)
    return match.group() if match else ""
