"""English: the forms in which people say what they prefer, what is so, what is decided and what is learned."""

from afterwit.extract.english.person import CHANGES, FACTS, PREFERENCES
from afterwit.extract.english.work import CONSTRAINTS, DECISIONS, FAILURES, INTENTS, LESSONS
from afterwit.extract.rules import Found, Rule, first_match

#: Earlier groups win: a decision about a tool is a decision, not a fact about it.
RULES: tuple[Rule, ...] = (
    *DECISIONS,
    *FAILURES,
    *PREFERENCES,
    *CHANGES,
    *INTENTS,
    *FACTS,
    *LESSONS,
    *CONSTRAINTS,
)


def read(sentence: str) -> Found | None:
    """What a sentence (`lead` already taken off) says, or None when no form is sure."""
    return first_match(RULES, sentence)
