"""Words that say about the same, in English and Chinese: how a question meets a memory that words it otherwise.

`everyday.txt`, `software.txt` and `trades.txt` hold synonyms, `fields.txt` words that only belong together. They are
evidence beside the meaning of whole texts, which a small embedding model catches less well the shorter
the texts and the farther apart their languages. The lists are written folded, so that reading them is quick.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from afterwit.text import index_tokens

_FOLDER = Path(__file__).parent
_SAME = ("everyday.txt", "software.txt", "trades.txt")
_FIELDS = "fields.txt"

#: Longest Chinese word that is looked for.
LONGEST_WORD = 6


@dataclass(frozen=True)
class Lexicon:
    """The lists, as they are looked up."""

    #: first token of an expression -> its other tokens, and the concept it stands for
    by_token: dict[str, tuple[tuple[frozenset[str], int], ...]]
    #: Chinese word -> concepts
    chinese: dict[str, frozenset[int]]
    #: concept -> the entries of `by_token` that stand for it, each with its first token
    expressions: dict[int, list[tuple[str, tuple[frozenset[str], int]]]]
    #: concept -> index tokens of its words of one token
    words: dict[int, tuple[str, ...]]
    #: those concepts that are only fields
    fields: frozenset[int]


def concepts_of(tokens: frozenset[str], among: frozenset[int] | None = None) -> frozenset[int]:
    """Concepts and fields that a text speaks of.

    Args:
        tokens: its index tokens.
        among: only these are looked for, which is quicker; None = all.
    """
    by_token: Mapping[str, Sequence[tuple[frozenset[str], int]]]
    by_token = lexicon().by_token if among is None else _expressions(among)
    known = by_token.keys() & tokens
    return frozenset(concept for token in known for rest, concept in by_token[token] if rest <= tokens)


# Asked of every candidate of a search in turn.
@lru_cache(maxsize=64)
def _expressions(concepts: frozenset[int]) -> Mapping[str, Sequence[tuple[frozenset[str], int]]]:
    """`Lexicon.by_token`, of some concepts only."""
    found: dict[str, list[tuple[frozenset[str], int]]] = defaultdict(list)
    for concept in concepts:
        for first, entry in lexicon().expressions.get(concept, ()):
            found[first].append(entry)
    return found


def concepts_by_token(tokens: frozenset[str]) -> dict[str, set[int]]:
    """Token -> concepts that it stands for among these tokens, alone or as part of an expression."""
    found: dict[str, set[int]] = defaultdict(set)
    by_token = lexicon().by_token
    for token in by_token.keys() & tokens:
        for rest, concept in by_token[token]:
            if rest <= tokens:
                for each in (token, *rest):
                    found[each].add(concept)
    return found


def words_of(concept: int) -> tuple[str, ...]:
    """Index tokens by which the words of a concept are found; expressions of several tokens are left out."""
    return lexicon().words.get(concept, ())


def pairs(word: str) -> list[str]:
    """The index tokens by which a Chinese word is found: pairs of its letters, or the only one."""
    return ["".join(two) for two in pairwise(word)] or [word]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lists, read at the first use."""
    lines = [(name == _FIELDS, *line) for name in (*_SAME, _FIELDS) for line in _lines(name)]
    stems = _stems(word for _, english, _ in lines for word in english)
    by_token: dict[str, list[tuple[frozenset[str], int]]] = defaultdict(list)
    chinese: dict[str, set[int]] = defaultdict(set)
    expressions: dict[int, list[tuple[str, tuple[frozenset[str], int]]]] = defaultdict(list)
    single: dict[int, list[str]] = defaultdict(list)
    for concept, (_, english, han) in enumerate(lines, start=1):
        for word in han:
            chinese[word].add(concept)
        for first, *rest in (*map(stems.__getitem__, english), *map(pairs, han)):
            entry = frozenset(rest), concept
            by_token[first].append(entry)
            expressions[concept].append((first, entry))
            if not rest and (first.isascii() or len(first) > 1):
                single[concept].append(first)
    return Lexicon(
        {token: tuple(entries) for token, entries in by_token.items()},
        {word: frozenset(concepts) for word, concepts in chinese.items()},
        expressions,
        {concept: tuple(dict.fromkeys(tokens)) for concept, tokens in single.items()},
        frozenset(concept for concept, (is_field, *_) in enumerate(lines, start=1) if is_field),
    )


def _stems(words: Iterable[str]) -> dict[str, list[str]]:
    """Index tokens of each word or expression. Plain words are cut all at once, for each gives one token."""
    each = set(words)
    plain = [word for word in each if word.isalpha()]
    found = {word: [token] for word, token in zip(plain, index_tokens(" ".join(plain)), strict=True)}
    return found | {word: list(dict.fromkeys(index_tokens(word))) for word in each if not word.isalpha()}


def _lines(name: str) -> Iterator[tuple[list[str], list[str]]]:
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            english, _, han = line.partition("|")
            yield [word.replace("_", " ") for word in english.split()], han.split()
