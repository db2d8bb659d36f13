"""Do two texts say the same? Precision before coverage: in doubt, no."""

import hashlib
import re
import unicodedata
from functools import lru_cache

from afterwit.text.polarity import is_negated
from afterwit.text.terms import hard_terms
from afterwit.text.tokens import CJK, STOP_EN, plain, trim

_CONTRACTIONS = (
    (re.compile(r"\bcan(?:['’]t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"\b(?:do|does) not\b", re.IGNORECASE), "not"),
    (re.compile(r"\b(it|he|she|that|there|what|who)['’]s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"(?<=i)['’]m\b", re.IGNORECASE), " am"),
    (re.compile(r"['’]re\b", re.IGNORECASE), " are"),
    (re.compile(r"['’]ve\b", re.IGNORECASE), " have"),
    (re.compile(r"['’]ll\b", re.IGNORECASE), " will"),
    (re.compile(r"(?<=\w)['’]s\b|(?<=s)['’](?=\s)", re.IGNORECASE), ""),
)
_ITEM = re.compile(rf"[{CJK}]|(?:[._\-/:@#+$%&~\\]|(?![{CJK}])[^\W_])+|[<>=!≤≥≠]+|[^\w\s]")
_IGNORED = frozenset("。，、；：！？!,;:.?\"'“”‘’()（）[]【】《》「」『』—–-…·`*_|{}")
_PARTICLES = frozenset("的啊呀哦")
_ARTICLES = frozenset(("a", "an", "the"))
_LIST_AFTER = STOP_EN | frozenset(
    "like likes love loves hate hates prefer prefers use uses know knows speak speaks eat eats drink drinks want wants "
    "need needs study studies learn learns play plays install installs".split()
)
_ENDS_IN_S = frozenset("news always perhaps series species physics mathematics lens gas bus".split())
#: Words that only turn a statement into its denial; 再 and "longer" as in 不再, "no longer".
_DENIALS = frozenset("not no never longer anymore without 不 没 再 别 未 勿 莫 甭 无".split())
#: NFKC would make 10² the number 102.
_POWER = re.compile("[⁰¹²³⁴-⁹₀-₉]+")
#: Runs of ASCII letters first: most letters of other scripts than CJK are, and need no look ahead.
_CJK_RUN = re.compile(f"[{CJK}]+")
_OTHER_WORD = re.compile(rf"(?:[a-zA-Z]+|(?![{CJK}])[^\W\d_])+")
_QUESTION = re.compile(r"[?？吗]|呢[？?。]?$")


def same_statement(a: str, b: str) -> bool:
    """Whether two texts say the same, apart from width, script variant, case, articles, plural and punctuation.

    True only when the words that carry meaning are the same in the same order (the members of a simple "tea and
    coffee" list may swap), numbers, names and identifiers agree, both deny or both affirm, and both ask or both
    state. Two empty texts are not the same statement.
    """
    if bool(_QUESTION.search(a)) != bool(_QUESTION.search(b)):
        return False
    words = content_words(a)
    if not words or words != content_words(b) or is_negated(a) != is_negated(b):
        return False
    differing = hard_terms(a) ^ hard_terms(b)
    return all(term.isalpha() and term.isascii() and term not in STOP_EN and term != "may" for term in differing)


# A write asks for it when it looks for the same statement, and again when it stores the row.
@lru_cache(maxsize=256)
def statement_key(text: str) -> str:
    """A key that texts share when they say the same thing or deny it: for exact look-up.

    Every two texts for which `same_statement` is true have equal keys, and so have "uses Java" and "does not use
    Java". Equal keys alone prove nothing; ask `same_statement` and `is_negated`.

    Returns:
        32 hexadecimal digits; "" when the text has no words.
    """
    words = [word for word in content_words(text) if word not in _DENIALS]
    return hashlib.blake2b("\x1f".join(words).encode(), digest_size=16).hexdigest() if words else ""


def language(text: str) -> str:
    """ "zh" when the text has at least as many CJK letters as words of other scripts, and any at all; else "en"."""
    if text.isascii():
        return "en"
    known = plain(text)
    cjk = sum(map(len, _CJK_RUN.findall(known)))
    # There are no more words than letters: those of most Chinese texts need not be counted.
    is_zh = cjk and (2 * cjk >= len(known) or cjk >= len(_OTHER_WORD.findall(known)))
    return "zh" if is_zh else "en"


def content_words(text: str) -> list[str]:
    """What carries meaning, in order, in a form where equal meaning is equal text: words as singulars in lower case,
    Chinese characters one by one, no articles."""
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    text = _POWER.sub(lambda found: "^" + unicodedata.normalize("NFKC", found.group()), text)
    items = [word for found in _ITEM.findall(plain(text)) if (word := _normal(found))]
    if "and" in items and "respectively" not in items:
        _sort_lists(items)
    return [item for item in items if item not in _ARTICLES and item != ","]


def _normal(item: str) -> str:
    if item in _IGNORED or item in _PARTICLES:
        return "," if item in ",.;:，。；：" else ""
    if item.isalpha() and not item.isascii():
        return item.casefold()
    word = item if item[0] == "~" and item[-1].isdigit() else trim(item)
    if not word:
        return "" if item.strip("._-/:@#+$%&~\\!") == "" else unicodedata.normalize("NFKC", item)
    return _singular(word.casefold())


def _singular(word: str) -> str:
    """The word without the s of a plural or third person; true stems would join "university" and "universe"."""
    if len(word) < 4 or not word.isascii() or not word.isalpha() or word in _ENDS_IN_S:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "sui" else word


def _sort_lists(items: list[str]) -> None:
    """Put the two sides of "tea and coffee" in one order where it is sure that each is a single word."""
    for place in range(1, len(items) - 1):
        if items[place] != "and":
            continue
        before = items[place - 2] if place >= 2 else ","
        after = items[place + 2] if place + 2 < len(items) else ","
        bounded = (before == "," or before in _LIST_AFTER) and (after == "," or after in STOP_EN)
        if bounded and {items[place - 1], items[place + 1]}.isdisjoint(STOP_EN | {","}):
            items[place - 1], items[place + 1] = sorted((items[place - 1], items[place + 1]))
