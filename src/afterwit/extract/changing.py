"""What a statement says has changed, and whether another one tells what it was before.

Keys find most of what a change puts an end to, but only where both statements have them: "The API port was changed to
9090" and "The API port is 8080" are filed under nothing. Here both are held against each other word by word. In doubt
nothing has changed: what says something about another thing, or something else about the same one, must stay.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from afterwit import text
from afterwit.extract import MAX_SENTENCE_CHARS
from afterwit.extract.doubt import is_not_meant, is_question, is_unsure
from afterwit.extract.wording import plainly
from afterwit.vocabulary import topic_of_technology, words_of_topic

Sort = Literal["time", "number", "name", "word"]

#: Longest value, in words, each Chinese character one.
_MOST_WORDS = 12
_PART = r"[^,;:，；：。!?！？]"

_WAS = r"(?:was|were|is|are|has been|have been|had been|got|gets)(?: (?:now|just|recently|since|already|again))*"
_MADE = (
    r"(?:changed|moved|switched|migrated|set|raised|lowered|reduced|increased|cut|postponed|pushed|delayed|"
    r"rescheduled|brought|shifted|extended|updated|renamed|bumped|upgraded|downgraded|converted|relocated|transferred)"
    r"(?: (?:back|up|down|forward|out|over|ahead|early))*"
)
_WENT = r"(?:moved|changed|switched|shifted|went|rose|fell|dropped|grew|increased|slipped)(?: (?:up|down|back|out))?"
_SOMEBODY = (
    r"(?:(?P<doer>we|they|i|the team|our team|the user|user|[\w-]+) )?(?:(?:have|has|had|'ve|just|recently|now) )*"
)
_ENGLISH = (
    rf"(?P<ended>{_PART}+?) {_WAS} replaced (?:by|with) (?P<value>{_PART}+)$",
    rf"(?P<ended>{_PART}+?) (?:has |have )?handed (?:it |this |everything )?over to (?P<value>{_PART}+?)"
    rf"(?: as (?P<frame>{_PART}+))?$",
    rf"{_SOMEBODY}replaced (?P<ended>{_PART}+?) (?:by|with) (?P<value>{_PART}+?)(?: (?:as|for|in) "
    rf"(?P<frame>{_PART}+))?$",
    rf"(?P<value>{_PART}+?) (?:has |have )?(?:replaced|replaces|(?:took|takes|has taken) over from|succeed(?:s|ed)) "
    rf"(?P<ended>{_PART}+?)(?: (?:as|in) (?P<frame>{_PART}+))?$",
    rf"(?P<ended>{_PART}+?) (?:has |have )?(?:left(?! for )|quit|resigned|retired|stepped down|was fired|"
    rf"was let go|moved on)(?: {_PART}+?)?"
    rf"(?:,? and|,? so|[,;]) (?P<rest>{_PART}+)$",
    rf"(?P<frame>{_PART}+?)(?:,? (?:instead of|in place of|and no longer|no longer|and not)|, not) "
    rf"(?P<ended>{_PART}+?)(?: any ?more)?$",
    rf"(?P<frame>{_PART}*?)\b(?:sold|quit|left|dropped|gave up|stopped using|got rid of|cancelled|abandoned|"
    rf"returned|no longer (?:uses?|drives?|owns?|has|have|plays?|takes?)) (?:the |his |her |their |my |our |an? )?"
    rf"(?P<ended>{_PART}+?)(?:,? and|,? but|[,;]) (?P<rest>{_PART}+)$",
    rf"(?P<frame>{_PART}+?) {_WAS} {_MADE}(?: from (?P<ended>{_PART}+?))? (?:to|for|until|till|into|at) "
    rf"(?P<value>.+)$",
    rf"{_SOMEBODY}{_MADE}(?P<frame>(?: {_PART}+?)?) from (?P<ended>{_PART}+?) to (?P<value>.+)$",
    rf"{_SOMEBODY}{_MADE} (?P<frame>{_PART}+?) to (?P<value>.+)$",
    rf"(?P<frame>{_PART}+?) (?:has |have )?(?:now |just |recently )?(?P<went>{_WENT})"
    rf"(?: from (?P<ended>{_PART}+?))? to (?P<value>.+)$",
    rf"(?P<frame>{_PART}+?) (?:is|are) now (?:set to |at |on |in )?(?P<value>.+)$",
    rf"(?P<frame>{_PART}+?) now (?:is|are) (?:set to |at |on |in )?(?P<value>.+)$",
    rf"(?P<frame>(?:my|our|the|{_PART}+'s) )new (?P<rest>{_PART}+?) (?:is|are) (?P<value>.+)$",
)
_BECAME = (
    r"(?:改成|改为|改到|改用|改在|换成|换到|换为|换了|变成|变为|变更为|更改为|修改为|更新为|调整为|调整到|调整至|调到|推迟到|推迟至|"
    r"延期到|延期至|延到|延后到|提前到|提前至|升级到|升到|提高到|降到|降低到|降为|增加到|增加为|减少到|涨到|迁到|迁移到|迁移至|切换到|"
    r"切到|转到|定为|搬到)"
)
_CHINESE = (
    rf"(?P<value>{_PART}+?)(?:接替|取代|替代|代替|替换)了?(?P<ended>{_PART}+?)(?:[，,]?(?:成为|担任|作为|出任|任)"
    rf"(?P<frame>{_PART}+))?$",
    rf"(?P<ended>{_PART}+?)(?:已经?)?(?:离职|离开|辞职|退休|卸任|调走|调岗|走|被辞退)了?[，,](?P<rest>{_PART}+)$",
    rf"(?P<frame>{_PART}+?)[，,]?(?:而不是|而非|不再是|不再用|不再使用|不是)(?P<ended>{_PART}+?)了?$",
    rf"(?P<frame>{_PART}*?)(?:卖掉?了?|停用了?|放弃了?|取消了?|辞掉?了?|不再[用使开]用?|不用|不开)(?P<ended>{_PART}+?)了?"
    rf"[，,](?P<rest>{_PART}+)$",
    rf"(?:{_PART}*?[把将])?(?P<frame>{_PART}*?)(?:从|由)(?P<ended>{_PART}+?)(?:已经?|又|刚|都|被)*{_BECAME}了?"
    rf"(?P<value>.+)$",
    rf"(?:{_PART}*?[把将])?(?P<frame>{_PART}+?)(?:已经?|现在|目前|最近|又|刚|都|被)*{_BECAME}了?(?P<value>.+)$",
    rf"(?P<frame>{_PART}+?)(?:现在|目前|如今)(?:是|为|在|叫)(?P<value>.+)$",
    rf"(?P<frame>{_PART}*?)新的?(?P<rest>{_PART}+?)(?:是|为|：)(?P<value>.+)$",
)
_PLANNED = re.compile(
    r"\b(?:will|would|should|could|can|must|going to|plan(?:s|ned|ning)? to|planned|wants?|never|if|when|whenever|"
    r"unless|always|every time|before|tried|how to)\b|(?<![主重])要|将会|打算|计划|准备|应该|应当|必须|可以|如果|每次|"
    r"之前|以前|别再|禁止|建议",
    re.IGNORECASE,
)
#: What every statement of a change has one of.
_MARK = re.compile(
    r"\b(?:replac|took over|take[ns]? over|succeed|handed|left|quit|resign|retire|stepped|fired|let go|instead|"
    r"in place|not?\b|sold|drop|gave up|stopped|got rid|cancel|abandon|returned|now|current|new|chang|mov|switch|"
    r"migrat|set|rais|lower|reduc|increas|cut|postpon|push|delay|reschedul|brought|shift|extend|updat|renam|bump|"
    r"upgrad|downgrad|convert|relocat|transfer|went|rose|fell|grew|slip)|接替|取代|替|离|辞|退|卸|调|走|不|卖|停|放弃|"
    r"取消|改|换|变|更|延|提前|升|提高|降|增加|减少|涨|迁|切|转|定为|搬|现在|目前|如今|新",
    re.IGNORECASE,
)
_NOW = re.compile(r"\b(?:now|currently)\b|现在|目前|如今", re.IGNORECASE)

#: Between what something is and its value.
_IS = re.compile(
    r" (?:is|are|was|were|takes place|falls|stands|lies|=)(?: (?:set to|set at|at|on|in|now|currently|scheduled for|"
    r"due on|due by|due|called|named))* | ?= ?|: |[：]|(?:是在?|为|定在|定为|定于|设为|叫做?|在|用的是)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;，；。]|[.!](?:\s|$)| (?:because|since|so that|as of|due to|for now|starting|after|from) |因为", re.IGNORECASE
)
_SELF = re.compile(
    r"\b(?:the user's|user's|the user|user|my|mine|our|ours|we|i)\b|我们?的?|咱们?的?|本人的?|用户的?", re.IGNORECASE
)
_SMALL = frozenset(
    "a an the is are was were be been as at by for from in into it its of on out over that this to up with and now new "
    "currently still just recently already has have had use uses run take get work his her their "
    "了 的 是 为 在 着 已 又 就 也 都 被 把 将 这 那 个 用 使 采 作 做 上 里".split()
)
_UNITS = frozenset(
    "dollar usd eur euro yuan rmb cny ms s sec second minute min hour h day week month year percent gb mb kb tb people "
    "person unit piece am pm o'clock port version v 元 块 万 千 百 秒 分 钟 点 小 时 天 周 月 年 人 次 版 号 日".split()
)
#: Where a word may begin.
_START = re.compile(r"(?<![a-zA-Z0-9])(?=[a-zA-Z0-9])|(?=[\u4e00-\u9fff])")
_TIME = re.compile(
    r"\d{4}-\d\d|\d{1,2}:\d\d|\d ?[ap]m\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|noon|midnight|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w* ?\d|next (?:week|month)|"
    r"\d(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|"
    r"[\d一二三四五六七八九十][月点号日年]|周[一二三四五六日天末]|星期",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Told:
    """A change that a statement tells of."""

    #: words of the statement that are neither its new value nor what was
    frame: frozenset[str]
    #: the new value as it is written, or what ends with it; "" = the statement does not show which words are it
    value: str
    #: words of what was, in order; () = not told
    ended: tuple[str, ...]
    #: words of who or what has changed it
    doer: frozenset[str] = frozenset()
    #: words for the sort of thing that has ended, where it is a well-known one
    sort: frozenset[str] = frozenset()
    #: all words in order, but for those that only tell that it is so now; () = something else has changed
    restated: tuple[str, ...] = ()
    #: what moved or went to a value may be a thing or somebody: only times and numbers are values of it
    is_loose: bool = False

    @property
    def sought(self) -> str:
        """Words by which what was told before can be found."""
        return " ".join((*self.frame, *self.doer, *self.sort, *self.ended, *self.restated))

    def ends(self, statement: str, value: str = "") -> bool:
        """Whether a statement tells what was before the change, and so no longer holds.

        Args:
            statement: what is known.
            value: what it gives to the subject and topic that the change is filed under as well; "" = it is filed
                elsewhere.
        """
        known = _words(statement)
        if value and self.ended and _words(value) == self.ended:
            return True
        if self.ended:
            is_what_was = self._names_what_was(known)
        elif self.restated:
            is_what_was = self._differs_in_value(known, statement)
        else:
            # Most of what is found by the words of a change is about something else, and need not be parted.
            is_what_was = self.frame.issubset(known) and self._gives_other_value(statement)
        return is_what_was and not text.is_negated(statement) and not _PLANNED.search(statement)

    def _names_what_was(self, known: Sequence[str]) -> bool:
        """Whether it says of what has ended nothing but what the change is about."""
        place = _run(known, self.ended)
        if place is None:
            return False
        rest = [*known[:place], *known[place + len(self.ended) :]]
        if not self.frame and not self.doer.issubset(known):
            return False  # what Bob has given up, others may have still
        spoken = self.frame | self.doer | self.sort | set(_words(self.value))
        return all(word in spoken for word in rest)

    def _gives_other_value(self, statement: str) -> bool:
        for what, value in _readings(statement):
            if frozenset(_words(what)) == self.frame:
                other = value
            elif frozenset(_words(value)) == self.frame:
                other = what
            else:
                continue
            if _is_alike(other, self.value, loosely=not self.is_loose):
                return True
        return False

    def _differs_in_value(self, known: Sequence[str], statement: str) -> bool:
        """Whether it is the same sentence but for another name, number or time at its end."""
        new = self.restated
        start = next((at for at, pair in enumerate(zip(known, new, strict=False)) if pair[0] != pair[1]), 0)
        # What is told of the same thing begins alike, too: most of it must, and two Chinese characters are one word.
        least = max(2, len(known) - start, len(new) - start, 4 * (text.language(statement) == "zh"))
        return start >= least and _is_alike(_end(statement, known[start:]), _end(self.value, new[start:]), loosely=True)


def told(statement: str) -> Told | None:
    """The change that a statement tells of; None for one that tells of none, or not for sure.

    Args:
        statement: one sentence or a few; the first one that tells of a change counts.
    """
    for sentence in text.sentences(statement) if _MARK.search(statement) else ():
        if len(sentence) > MAX_SENTENCE_CHARS or is_question(sentence) or is_not_meant(sentence):
            continue
        if is_unsure(sentence) or _PLANNED.search(sentence):
            continue
        core = plainly(sentence).strip(" .。!！\"'“”")
        found = _read(core)
        if found is not None:
            return found
    return None


def _read(core: str) -> Told | None:
    for pattern in _CHINESE if text.language(core) == "zh" else _ENGLISH:
        match = _compiled(pattern).match(core)
        if match is None:
            continue
        groups = {name: part for name, part in match.groupdict().items() if part}
        value = _CLAUSE.split(groups.get("value", "") + " ", maxsplit=1)[0].strip()
        frame = frozenset(_words(f"{groups.get('frame', '')} {groups.get('rest', '')}"))
        ended = _words(groups.get("ended", ""))
        values = set(_words(value))
        if len(values) > _MOST_WORDS or len(ended) > _MOST_WORDS or not (values or ended) or values == set(ended):
            continue
        if not frame and not ended:
            continue
        doer = frozenset(_words(groups.get("doer", "")))
        # "We replaced Jenkins" is about CI.
        sort = words_of_topic(topic_of_technology(groups["ended"])) if ended else frozenset[str]()
        return Told(frame - set(ended), value, ended, doer, sort, is_loose="went" in groups)
    return _restated(core)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled at first use, as all rules are."""
    return re.compile(pattern, re.IGNORECASE)


def _restated(core: str) -> Told | None:
    if not _NOW.search(core):
        return None
    plain = _NOW.sub(" ", core)
    return Told(frozenset(), plain, (), restated=_words(plain))


def _end(statement: str, words: Sequence[str]) -> str:
    """The end of a statement that has these words, as it is written."""
    starts = (found.start() for found in _START.finditer(statement))
    return next((statement[at:] for at in starts if _words(statement[at:]) == tuple(words)), "")


def _readings(statement: str) -> Iterator[tuple[str, str]]:
    """Every way to part a statement into what something is and its value."""
    core = plainly(statement).strip(" .。!！\"'“”")
    for match in _IS.finditer(core):
        what, value = core[: match.start()], _CLAUSE.split(core[match.end() :] + " ", maxsplit=1)[0]
        if what.strip() and value.strip():
            yield what, value


def _is_alike(old: str, new: str, *, loosely: bool) -> bool:
    """Whether one value may have taken the place of another: times of times, names of names, numbers of numbers of
    the same sort, and other words only where that is all that a value can be."""
    old_words, new_words, sort = _words(old), _words(new), _sort(new)
    if not old_words or not new_words or old_words == new_words or len(old_words) > _MOST_WORDS or _sort(old) != sort:
        return False
    match sort:
        case "time":
            return True
        case "name":
            return loosely
        case "word":
            return (
                loosely
                and text.language(new) == "zh"
                and text.language(old) == "zh"
                and not old.rstrip().endswith("的")
            )
        case "number":
            was, now = ({word for word in words if not any(map(str.isdigit, word))} for words in (old_words, new_words))
            # "5 Oak Street" and "9 Elm Road" are of a sort, "room 5" and "10 o'clock" are not.
            return not (was ^ now) - _UNITS or bool(loosely and _names_in(old) and _names_in(new))


def _sort(value: str) -> Sort:
    if _TIME.search(value):
        return "time"
    if any(map(str.isdigit, value)):
        return "number"
    return "name" if topic_of_technology(value) or _names_in(value) else "word"


def _names_in(value: str) -> frozenset[str]:
    """The names in it, without regard to where a sentence begins."""
    return frozenset(term for term in text.hard_terms(f"It is {value.strip()}") if not term.isdigit())


def _run(words: Sequence[str], part: Sequence[str]) -> int | None:
    """Where the part stands in the words, None where it does not."""
    places = range(len(words) - len(part) + 1)
    return next((place for place in places if tuple(words[place : place + len(part)]) == tuple(part)), None)


def _words(part: str) -> tuple[str, ...]:
    """Words that carry meaning, in order, plurals as singulars, Chinese characters one by one; nobody who speaks or is
    spoken for is named."""
    return tuple(word for word in text.content_words(_SELF.sub(" ", part)) if word not in _SMALL)
