"""How far what passes reaches: days that follow a date ("December 10 and 11", 12月10日去，12日回), and lengths."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from afterwit.dates import chinese, english, spans
from afterwit.dates.phrases import Phrase
from afterwit.dates.spans import Span

_UNIT_AFTER = r"(?![:.]?\d|[a-z])(?!\s*(?:[ap]\.?m\b|%|o'clock|点|时|人|个|people|hours?|minutes?|times|items?))"
#: Further days right behind a date: "and 11", ", 11 and 12", "-12", "through 26".
_DAYS_BEHIND = re.compile(
    r"(?:\s*(?:, ?and|,|、|&|/|-|–|—|~|and|or|to|till|until|through|thru|和|与|及|至|到)\s*(?:the )?"
    rf"\d{{1,2}}(?:st|nd|rd|th|日|号)?(?![\d\-]){_UNIT_AFTER})+",
    re.IGNORECASE,
)
_LAST_NUMBER = re.compile(r"(\d{1,2})(?:st|nd|rd|th|日|号)?$", re.IGNORECASE)
_DAY = re.compile(
    r"\bthe (\d{1,2})(?:st|nd|rd|th)\b|(?<![\d月.\-])(\d{1,2}|[一二三四五六七八九十]{1,3})[日号](?![线楼机])",
    re.IGNORECASE,
)
_MONTH_AND_DAY = re.compile(r"(?<![a-zA-Z\d\-/.:])(\d{1,2})[\-/](\d{1,2})(?![\d\-/.:])")
_COUNT = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few|few|several|some"
)
_LENGTH_EN = re.compile(
    rf"\b(?:for|lasts?|lasting|takes?|over)(?: the next| about| another)? ({_COUNT}) (day|night|week|month)s?\b|"
    rf"\b({_COUNT})[\- ](day|night|week|month)s?\b(?! ago)",
    re.IGNORECASE,
)
_LENGTH_ZH = re.compile(
    r"(?<![第\d月])(\d{1,3}|[一二两三四五六七八九十]{1,3}|[几数])(天|晚|夜|个?星期|个?礼拜|周(?![一二三四五六日天年末])|个月)"
    r"(?!之?[前内]|以[前内])"
)
_BACK = re.compile(r"\b(?:returns?|returning|back|home)\b|回来|返回|归来|回程|返程|回国|回家", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;，；。]|\.(?:\s|$)|\band\b", re.IGNORECASE)


def last_end(text: str, phrases: Sequence[Phrase], end: datetime) -> datetime | None:
    """When all is over that a text tells of something that passes.

    Args:
        text: the statement.
        phrases: its times, in order; at least one.
        end: when the latest of them is over, local.

    Returns:
        None when it lasts longer, and nobody knows how long.
    """
    further = list(_further_days(text, phrases))
    lengths = [found for found in (*_LENGTH_EN.finditer(text), *_LENGTH_ZH.finditer(text)) if _is_apart(found, phrases)]
    known = [(phrase.span.first, phrase.span.last) for phrase in phrases]
    known += [(span.first, span.last) for span in further] + [found.span() for found in lengths]
    if _comes_back_some_time(text, known):
        return None
    ends = [end, *(span.end for span in further)]
    for found in lengths:
        over = _after(phrases[0].span.start, found)
        if over is None:
            return None
        ends.append(over)
    return max(ends)


def _further_days(text: str, phrases: Sequence[Phrase]) -> Iterator[Span]:
    """Days without a month of their own, and months with a day, which follow a date."""
    for phrase in phrases:
        behind = _DAYS_BEHIND.match(text, phrase.span.last) if _names_a_day(text, phrase.span) else None
        number = _LAST_NUMBER.search(behind.group()) if behind else None
        if behind and number and (day := _day_from(phrase.span, int(number.group(1)))):
            yield replace(day, first=behind.start(), last=behind.end())
    for found in _DAY.finditer(text):
        anchor = _anchor(found, phrases)
        if anchor and (day := _day_from(anchor, chinese.number(found.group(1) or found.group(2)))):
            yield replace(day, first=found.start(), last=found.end())
    for found in _MONTH_AND_DAY.finditer(text):
        anchor = _anchor(found, phrases)
        if anchor and (day := _date_from(anchor, int(found.group(1)), int(found.group(2)))):
            yield replace(day, first=found.start(), last=found.end())


def _names_a_day(text: str, span: Span) -> bool:
    """Whether a phrase is a date that ends with the number of its day, so that a number behind it is a day, too."""
    words = text[span.first : span.last]
    return span.unit == "day" and re.search(r"(?<!\d)\d{1,2}(?:st|nd|rd|th|日|号)?$", words, re.IGNORECASE) is not None


def _anchor(found: re.Match[str], phrases: Sequence[Phrase]) -> Span | None:
    """The date that a day stands behind; None when it is a part of one."""
    if not _is_apart(found, phrases):
        return None
    before = [phrase.span for phrase in phrases if phrase.span.last <= found.start()]
    return before[-1] if before else None


def _is_apart(found: re.Match[str], phrases: Sequence[Phrase]) -> bool:
    return all(found.end() <= phrase.span.first or phrase.span.last <= found.start() for phrase in phrases)


def _day_from(anchor: Span, number: int) -> Span | None:
    """The first day of this number that is not before a date."""
    for months in (0, 1):
        month = spans.shift_months(anchor.start.replace(day=1), months)
        try:
            day = spans.date_of(month.year, month.month, number)
        except ValueError:
            continue
        if day.end > anchor.start:
            return day
    return None


def _date_from(anchor: Span, month: int, number: int) -> Span | None:
    for year in (anchor.start.year, anchor.start.year + 1):
        try:
            day = spans.date_of(year, month, number)
        except ValueError:
            return None
        if day.end > anchor.start:
            return day
    return None


def _after(start: datetime, found: re.Match[str]) -> datetime | None:
    """The end of a length that begins at a time; None when it is not told exactly."""
    count, unit = (group for group in found.groups() if group)
    number = english.count_of(count) if count.isascii() else chinese.count_of(count)
    if number is None:
        return None
    match unit.lower():
        case "day" | "天":
            return start + timedelta(days=number)
        case "night" | "晚" | "夜":
            return start + timedelta(days=number + 1)
        case "month" | "个月":
            return spans.shift_months(start, number)
        case _:
            return start + timedelta(weeks=number)


def _comes_back_some_time(text: str, known: Sequence[tuple[int, int]]) -> bool:
    """Whether somebody returns at a time that is not told: beside the words for it stands none."""
    for found in _BACK.finditer(text):
        ends = [cut.end() for cut in _CLAUSE_END.finditer(text, 0, found.start())]
        following = _CLAUSE_END.search(text, found.end())
        first, last = ends[-1] if ends else 0, following.start() if following else len(text)
        if not any(begin < last and end > first for begin, end in known):
            return True
    return False
