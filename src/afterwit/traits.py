"""What a text shows of itself: words, topics, names, language. Computed once per memory and kept,
since a memory's text never changes."""

import re
from functools import cached_property, lru_cache

from afterwit import answers, reading, text
from afterwit.concepts import concepts_of
from afterwit.cues import speaks_of_any, topics_of
from afterwit.records import Memory


class Traits:
    """Traits of one text: what every question asks for, and more that is computed when it is first asked for."""

    def __init__(self, words: str, *, extra: str = "") -> None:
        """Take a text.

        Args:
            words: the text.
            extra: further words by which it is found, such as subject, topic and tags.
        """
        self._text = words
        self._tells: dict[str, bool] = {}
        #: the text as `text.fold` returns it
        self.folded = text.fold(words)
        #: index tokens of the text and the further words
        self.tokens = frozenset(text.index_tokens(words)).union(text.index_tokens(extra))
        #: "zh" or "en"
        self.language = text.language(words)

    @cached_property
    def concepts(self) -> frozenset[int]:
        """Concepts and fields that it speaks of."""
        return concepts_of(self.tokens)

    def concepts_among(self, concepts: frozenset[int]) -> frozenset[int]:
        """Which of some concepts and fields it speaks of; quicker than all of them."""
        return concepts_of(self.tokens, concepts)

    def tells(self, kind: str) -> bool:
        """Whether it could answer a question for this kind of answer; see `answers.asked_kinds`."""
        known = self._tells.get(kind)
        if known is None:
            told = answers.names_somebody(self._text) if kind == answers.WHO else answers.tells(kind, self.folded)
            known = self._tells[kind] = told
        return known

    @cached_property
    def topics(self) -> frozenset[str]:
        """Topics that it speaks or asks about; for many texts `speaks_of` is quicker."""
        return topics_of(self.folded)

    def speaks_of(self, topics: frozenset[str]) -> bool:
        """Whether it speaks of at least one of the topics."""
        return speaks_of_any(self.folded, topics)

    @cached_property
    def words(self) -> reading.Words:
        """Its words, as the readers know them."""
        return reading.shipped().words_of(self.tokens, self.folded)

    @cached_property
    def hard_terms(self) -> frozenset[str]:
        """Numbers, names and identifiers: what must agree for two texts to mean the same."""
        return text.hard_terms(self._text)

    def has_hard_term(self, terms: frozenset[str]) -> bool:
        """Whether one of some hard terms is among its own."""
        # Only numbers may stand in the text in another form, as 1,000 or 两百: most texts need not be taken apart.
        if not any(term.isdigit() or term in self.folded for term in terms):
            return False
        return not terms.isdisjoint(self.hard_terms)


_DIGITS = re.compile(r"\d")
_PARTED = re.compile(r"[^\W\d][._\-/:@#]+\w|\d[._\-/:@#]+\w|[^\W\d_]\d|\d[^\W\d_]")


def is_code(term: str) -> bool:
    """Whether a hard term is a code, identifier, version or long number, and so names one thing only."""
    return len(_DIGITS.findall(term)) >= 3 or _PARTED.search(term) is not None


@lru_cache(maxsize=4096)
def _kept(summary: str, extra: str) -> Traits:
    return Traits(summary, extra=extra)


def traits_of(memory: Memory) -> Traits:
    """Traits of a memory's summary, found also by its subject, topic and tags."""
    return _kept(memory.summary, "\n".join((memory.subject, memory.topic.replace("_", " "), *memory.tags)))
