"""Other names that a text gives outright: "Kubernetes (k8s)", "Bob, also known as Robert Smith", 张三(小张).

Written for certainty: a bracket counts only when what is inside is short for what is before it or says that it
is another name; a guess, a question or a denial teaches nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from afterwit import text
from afterwit.errors import InvalidInput
from afterwit.text.tokens import STOP_EN
from afterwit.vocabulary import USER, fold_subject

#: Most characters and words of a name that is learned.
_MAX_CHARS, _MAX_WORDS = 60, 5

_QUOTES = "\"'`“”‘’「」『』《》"
_WORD = r"[A-Za-z0-9][\w.+#/&-]*"
_LATIN = rf"{_WORD}(?: {_WORD}){{0,4}}"
_LAZY = rf"{_WORD}(?: {_WORD}){{0,5}}?"
_CAPITAL = r"(?:[A-Z0-9]|[a-z][\w-]*[A-Z0-9])[\w.+#/&-]*"
_HAN = r"[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fffA-Za-z0-9._+#·-]{0,19}"
_QUOTED = rf"[{_QUOTES}](?P<alias>(?=[A-Z0-9\u4e00-\u9fff])[^{_QUOTES}\n]{{1,60}})[{_QUOTES}]"

_BRACKET = re.compile(r"(?P<before>[^()（）\n]{1,80}?)\s*[(（]\s*(?P<inside>[^()（）\n]{1,60}?)\s*[)）]")
_CALLED_INSIDE = re.compile(
    r"^(?:aka|a\.k\.a\.|also (?:known as|called)|known as|nickname(?:d)?:?|short(?: for)?:?|abbreviated(?: as)?|"
    r"(?:以下)?简称|又名|又称|又叫|也叫|别名|昵称|外号|绰号|小名|英文名)\s*[:：]?(?:为|是|叫)?\s*(?P<alias>.+)$",
    re.IGNORECASE,
)
_SAID = (
    r"(?:\b(?:is|are|was|am)\s+)?(?:\balso\s+(?:known|referred to)\s+as|\balso\s+called|\baka|\ba\.k\.a\.)|"
    r"\bgoes by(?: the name(?: of)?)?|\b(?:is |was )?nicknamed|\b(?:is )?short for|\bstands for|"
    r"\bis (?:internally )?known (?:internally |here |to us )?as|\bis code-?named"
)
_SAID_ZH = r"又叫|也叫|又名|又称|也称|简称|俗称|(?:的?别名|外号|绰号|小名|昵称|英文名)(?:是|叫|为)?"
_END_ZH = rf"(?=[{_QUOTES}，。；！、,.;\s)）]|$)"
#: Words that tell, and the whole pattern: that may begin with any name, which takes far longer to look for.
_ENGLISH = (
    (
        re.compile(_SAID),
        re.compile(
            rf"(?P<name>{_LAZY})\s*,?\s*(?:{_SAID})\s+[{_QUOTES}]?"
            rf"(?P<alias>{_CAPITAL}(?: {_CAPITAL}){{0,3}}(?![\w'’])|{_WORD}(?!['’]s\b)(?=[{_QUOTES}.,;!]|$))"
        ),
    ),
    (
        re.compile(r"\b[Ww]e "),
        re.compile(rf"\b[Ww]e (?:just |usually |also )?(?:call|named|refer to) (?P<name>{_LAZY}) (?:as )?{_QUOTED}"),
    ),
    (
        re.compile(" called "),
        re.compile(rf"\b(?P<name>(?:[Tt]he|[Oo]ur) {_LAZY}) is (?:also |internally )?called {_QUOTED}"),
    ),
)
_CHINESE = (
    (
        re.compile(_SAID_ZH),
        re.compile(rf"(?P<name>{_HAN}?)[，,\s]*(?:{_SAID_ZH})(?:做|作|为)?\s*[{_QUOTES}]?(?P<alias>{_HAN}?){_END_ZH}"),
    ),
    (
        re.compile("我们|大家|咱们"),
        re.compile(
            rf"(?:我们|大家|咱们)(?:都|一般|通常)?(?:把|管|称)\s*(?P<name>{_HAN}?)\s*"
            rf"(?:叫做|叫作|称为|简称为|简称|叫|为)\s*[{_QUOTES}]?(?P<alias>{_HAN}?){_END_ZH}"
        ),
    ),
)
_UNSURE = re.compile(
    r"[?？]|\b(?:maybe|perhaps|might|probably|i think|not sure|whether|could be|guess|if|suppose)\b|"
    r"可能|也许|大概|好像|是否|是不是|如果|吗",
    re.IGNORECASE,
)
_NO_NAMES = frozenset(
    "it he she they them him her this that these those who which what there here someone everyone people thing "
    "things one etc both all none yes no optional default deprecated required new old and or the a an "
    "它 他 她 这 那 这个 那个 他们 她们 它们 什么 谁 大家 有人 之前 以前 现在 可选 默认".split()
)
_ZH_WORDS = re.compile("[的了过这那他她它们]|什么|哪|怎么")
_LEAD = re.compile(
    r"^(?:the|a|an|our|my|this|that|project|and|but|so|because|since|note that|remember that)\s+", re.IGNORECASE
)


@dataclass(frozen=True)
class Taught:
    """Two names that a text says are one, folded as subjects are."""

    #: the shorter one
    alias: str
    name: str


def taught_aliases(summary: str) -> list[Taught]:
    """Other names that a statement gives for certain.

    Args:
        summary: a memory's text.

    Returns:
        Pairs of different folded names, in the order of the text, each alias once.
    """
    found: dict[str, Taught] = {}
    for sentence in text.sentences(summary):
        if _UNSURE.search(sentence) or text.is_negated(sentence):
            continue
        for one, other in (*_bracketed(sentence), *_said(sentence)):
            pair = _pair(one, other)
            if pair is not None:
                found.setdefault(pair.alias, pair)
    return list(found.values())


def _said(sentence: str) -> Iterator[tuple[str, str]]:
    for telling, pattern in _ENGLISH if sentence.isascii() else (*_ENGLISH, *_CHINESE):
        for match in pattern.finditer(sentence) if telling.search(sentence) else ():
            yield _subject(match["name"]), match["alias"]


def _subject(words: str) -> str:
    """The noun at the end of some words: what follows the last article, or the last run of capitals; "" where
    other words come before it, so that it may be a part of something else."""
    if not words.isascii() or " " not in words:
        return words
    article = re.search(r"^(?:.* )?(?:the|our|my|an?) (.+)$", words, re.IGNORECASE)
    if article:
        return words if words.casefold() == "the user" else article[1]
    run = re.search(rf"(?:^| )({_CAPITAL}(?: {_CAPITAL})*)$", words)
    return run[1] if run else ""


def _bracketed(sentence: str) -> Iterator[tuple[str, str]]:
    for match in _BRACKET.finditer(sentence) if "(" in sentence or "（" in sentence else ():
        before, inside = match["before"], match["inside"]
        called = _CALLED_INSIDE.match(inside)
        wanted = (called["alias"] if called else inside).strip(_QUOTES + " ")
        for name in _endings(before):
            if is_short_for(wanted, name) or is_short_for(name, wanted):
                yield name, wanted
                break
        else:
            nearest = re.search(rf"({_CAPITAL}(?: {_CAPITAL}){{0,3}}|[\u4e00-\u9fff]{{2,4}})$", before)
            if (
                called
                and nearest
                and (nearest.start() == 0 or not re.match(r"[\u4e00-\u9fff]", before[nearest.start() - 1]))
            ):
                yield nearest[1], wanted


def _endings(before: str) -> Iterator[str]:
    """What the words just before a bracket may name, longest first."""
    latin = re.search(rf"{_LATIN}$", before)
    if latin:
        words = latin.group().split(" ")
        for start in range(len(words)):
            if start == len(words) - 1 or STOP_EN.isdisjoint(word.casefold() for word in words[start:]):
                yield " ".join(words[start:])
    han = re.search(r"[\u4e00-\u9fff]{2,8}$", before)
    if han:
        for size in range(min(4, len(han.group())), 1, -1):
            yield han.group()[-size:]


def is_short_for(short: str, full: str) -> bool:
    """Whether one name abbreviates another: GHA, k8s, "Bob" of "Bob Smith", 小张 of 张三."""
    a, b = short.strip().casefold(), full.strip().casefold()
    if not a or (len(a) >= len(b) and not _is_pet_name(a, b)):
        return False
    words = re.split(r"[\s/_-]+", b)
    capitals = "".join(character for character in full if character.isupper()).casefold()
    if (
        len(a) > 1
        and full[:1].isupper()
        and a in (capitals, "".join(word[:1] for word in words))
        and (len(words) > 1 or short.isupper())
    ):
        return True
    count = re.fullmatch(r"([a-z])(\d+)([a-z])", a)
    if count:
        return b[0] == count[1] and b[-1] == count[3] and len(b) == int(count[2]) + 2
    if len(words) > 1 and short[:1].isupper() and a in (words[0], words[-1]):
        return True
    if re.fullmatch(r"[\u4e00-\u9fff]+", a):
        return _is_pet_name(a, b)
    return (
        len(words) == 1
        and len(a) > 1
        and short.isalpha()
        and (b.startswith(a) or (short.isupper() and _is_drawn_from(a, b)))
    )


def _is_pet_name(short: str, full: str) -> bool:
    if not re.fullmatch(r"[\u4e00-\u9fff]{2,4}", full):
        return False
    return short[:1] in ("小", "老", "阿") and len(short) == 2 and short[1] in (full[0], full[-1])


def _is_drawn_from(short: str, full: str) -> bool:
    letters = iter(full)
    return short[0] == full[0] and all(letter in letters for letter in short)


def _pair(one: str, other: str) -> Taught | None:
    names = [_name(one), _name(other)]
    if not all(names) or names[0] == names[1] or USER == names[1]:
        return None
    if names[0] != USER:
        names.sort(key=len, reverse=True)
    return Taught(names[1], names[0])


def _name(said: str) -> str:
    """The folded name, or "" for what cannot be one."""
    name = said.strip(_QUOTES + " .,;:，。；：、")
    if name.casefold() not in ("the user", "i", "我", "用户"):
        while (shorter := _LEAD.sub("", name)) != name:
            name = shorter
    if not name or len(name) > _MAX_CHARS or len(name.split()) > _MAX_WORDS:
        return ""
    try:
        folded = fold_subject(name)
    except InvalidInput:
        return ""
    words = folded.split()
    if (len(words) > 1 and not STOP_EN.isdisjoint(words)) or (
        re.search(r"[\u4e00-\u9fff]", name) and _ZH_WORDS.search(name)
    ):
        return ""
    weak = folded in _NO_NAMES or not any(character.isalpha() for character in folded)
    return "" if weak or len(folded) < 2 else folded
