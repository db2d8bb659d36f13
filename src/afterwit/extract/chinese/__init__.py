"""Chinese: the forms in which people say what they prefer, what is so, what is decided and what is learned."""

from afterwit.extract.chinese.person import CHANGES, CORRECTIONS, FACTS, PREFERENCES
from afterwit.extract.chinese.words import GAP
from afterwit.extract.chinese.work import CONSTRAINTS, DECISIONS, FAILURES, INTENTS, LESSONS
from afterwit.extract.rules import Found, Rule, first_match, rule
from afterwit.records import Kind

#: Only after words that correct ("不对，"), which `lead` takes off.
AFTER_CORRECTION = (
    rule(
        Kind.FACT,
        r"(?:[^。，,；;！\n]{0,12}?)(?:应该|应当|正确的?|其实|实际上?)?(?:是|用|为)(?!吧|的|啊|呢|吗|因为)"
        r"\s*(?P<chosen>[^。，,；;！？?\n]+)",
        is_change=True,
    ),
)

#: Earlier groups win: a decision about a tool is a decision, not a fact about it.
RULES: tuple[Rule, ...] = (
    *DECISIONS,
    *FAILURES,
    *PREFERENCES,
    *CHANGES,
    *INTENTS,
    *FACTS,
    *CORRECTIONS,
    *LESSONS,
    *CONSTRAINTS,
)


def read(sentence: str, *, corrects: bool = False) -> Found | None:
    """What a sentence (lead words already taken off) says, or None when no form is sure."""
    close = GAP.sub("", sentence)
    found = first_match(RULES, close)
    return found or (first_match(AFTER_CORRECTION, close) if corrects else None)
