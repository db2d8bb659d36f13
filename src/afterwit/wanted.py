"""What a question wants: the words that matter in it, and the kind of answer that it asks for."""

import re
from dataclasses import dataclass
from functools import lru_cache

from afterwit.concepts import LONGEST_WORD, concepts_by_token, lexicon, pairs
from afterwit.text import index_tokens, query_runs

#: Weight of words that say little of what is asked, and of a Chinese letter by itself.
_LIGHT, _LETTER = 0.3, 0.5

_LIGHT_EN = frozenset(
    index_tokens(
        "get use make do take need want go thing way look happen put give let come see try keep tell show one any some "
        "much many long how what when be very really just again also still even else now there here please exactly "
        "currently new using called before after if than with without not no yes ok all in out up down off over under "
        "by per cant cannot wont couldnt shouldnt wouldnt hasnt havent"
    )
)
_LIGHT_ZH = frozenset(
    "用 做 要 想 能 会 看 说 问 个 些 次 人 时 上 下 里 来 去 到 过 得 着 从 向 让 还 又 再 只 才 等 该 几 多 少 为 "
    "应该 可以 需要 时候 怎么 东西 情况 事情 注意 什么".split()
)
#: Letters at which words that the lexicon does not know are parted.
_BETWEEN_ZH = re.compile("[向让从跟比由把被能会要想该]")


@dataclass(frozen=True)
class Term:
    """One word of a question."""

    word: str
    #: index tokens that a text with the word has
    tokens: frozenset[str]
    #: concepts that it stands for, and fields that it belongs to
    same: frozenset[int]
    fields: frozenset[int]
    #: how much it says of what is asked, 0..1
    weight: float


@lru_cache(maxsize=1024)
def terms_of(query: str) -> tuple[Term, ...]:
    """The words of a question that are worth looking for, each once; question and stop words are left out.

    Chinese is parted at words of the lexicon; what lies between them gives pairs of letters. When only stop words
    were asked, they are what is looked for.
    """
    kept, dropped = query_runs(query)
    by_token = concepts_by_token(frozenset(index_tokens(query)))
    found: dict[str, Term] = {}
    for run, is_cjk in kept or dropped:
        for term in _chinese(run) if is_cjk else (_term(run, [run], by_token.get(run, ()), run in _LIGHT_EN),):
            found.setdefault(term.word, term)
    return tuple(found.values())


def _chinese(run: str) -> list[Term]:
    words = lexicon().chinese
    found: list[Term] = []
    for word in _parted(run):
        if word in words or len(word) == 1:
            found.append(_term(word, pairs(word), words.get(word, ()), word in _LIGHT_ZH))
        else:
            found += [_term(pair, [pair], (), False) for pair in pairs(word)]
    return found


def _parted(run: str) -> list[str]:
    """A run of Chinese letters as words of the lexicon, the longest first, and what lies between them."""
    words = lexicon().chinese
    found: list[str] = []
    place = since = 0
    while place < len(run):
        size = next(
            (n for n in range(min(LONGEST_WORD, len(run) - place), 1, -1) if run[place : place + n] in words), 0
        )
        if size:
            found += [*_unknown(run[since:place]), run[place : place + size]]
            since = place + size
        place += size or 1
    return found + _unknown(run[since:])


def _unknown(letters: str) -> list[str]:
    if len(letters) < 2:
        return [letters] if letters else []
    return [part for part in _BETWEEN_ZH.split(letters) if part]


def _term(word: str, tokens: list[str], concepts: "frozenset[int] | set[int] | tuple[int, ...]", light: bool) -> Term:
    fields = lexicon().fields
    weight = _LIGHT if light else 1.0
    if len(word) == 1 and not word.isascii():
        weight *= _LETTER
    known = frozenset(concepts)
    return Term(word, frozenset(tokens), known - fields, known & fields, weight)
