"""Find the time phrases of a text and join those that belong together."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from afterwit.clock import to_us
from afterwit.dates import chinese, english, spans
from afterwit.dates.spans import Leaning, Span, Today
from afterwit.errors import InvalidInput, Sentence

#: One to one, so that places in the text stay what they are.
_PLAIN = str.maketrans(
    "週個這從過後點號間兩來禮歲開結內當時換遲調變為於會零０１２３４５６７８９／－．：　",
    "周个这从过后点号间两来礼岁开结内当时换迟调变为于会零0123456789/-.: ",
)
#: Without one of these there is no time phrase; this keeps the usual text cheap.
_HINT_EN = re.compile(
    r"\d{4}|\b(?:to(?:day|morrow|night)|yester|week|month|year|quarter|ago|days?\b|hours?\b|minutes?\b|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|"
    r"may|jun|jul|aug|sep|oct|nov|dec|q[1-4]|day before|last|this|past|previous|next|coming)",
    re.IGNORECASE,
)
_HINT_ZH = re.compile(
    r"[今昨明前后][天日年晚早]|[周月年日号]|星期|礼拜|季度|小时|分钟|天(?:之|以)?[前后]|[最近过这未接今].{0,5}天"
)
_TO = re.compile(r"\s*(?:to|until|till|through|thru|and|-|–|—|~|[到至](?:次年|翌年|第二年)?)\s*", re.IGNORECASE)
_DAY_AFTER = re.compile(r"\s*(?:到|至|-|–|—|~)\s*(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]")
_EARLY = re.compile(
    r"\b(?:(early)|(mid)|(late)|(?:the )?(beginning|start)|(?:the )?(middle)|(?:the )?(end))(?: of|[ \-])?\s*(?:in )?$",
    re.I,
)
_PART_EN = re.compile(r" (?:(morning)|(afternoon)|(evening|night))\b", re.IGNORECASE)


#: Matches of one rule that are looked at; more would be a log, not a statement.
_MOST = 20


@dataclass(frozen=True)
class Phrase:
    """A time phrase and its place in the text; `joined` when it was "from A to B"."""

    span: Span
    joined: bool = False


def plainly(text: str) -> str:
    """A text in narrow digits and simplified letters where they matter to times; every place stays what it is."""
    return text if text.isascii() else text.translate(_PLAIN)


def find_phrases(text: str, *, now: datetime, zone: tzinfo, leaning: Leaning) -> list[Phrase]:
    """Time phrases in order of place, none overlapping another; "A to B" is one phrase."""
    plain = plainly(text)
    rules = english.RULES if _HINT_EN.search(plain) else ()
    if not plain.isascii() and _HINT_ZH.search(plain):
        rules += chinese.RULES
    if not rules:
        return []
    today = Today(local(now, zone), leaning, zone)
    found = [
        span
        for pattern, build in rules
        for match in islice(pattern.finditer(plain), _MOST)
        if (span := _build(build, match, today))
    ]
    found.sort(key=lambda span: (span.first, -span.last))
    apart: list[Span] = []
    for span in found:
        if not apart or span.first >= apart[-1].last:
            apart.append(_narrowed(span, plain))
    return _join(apart, plain, today)


def _build(build: english.Build, match: re.Match[str], today: Today) -> Span | None:
    try:
        span = build(match, today)
    except (ValueError, OverflowError):  # 31 April, a count that leaves the calendar
        return None
    return replace(span, first=match.start(), last=match.end()) if span else None


def _narrowed(span: Span, text: str) -> Span:
    """ "early March", "end of last month", "yesterday morning"."""
    if span.unit in ("month", "quarter", "year") and (word := _EARLY.search(spans.preceding(text, span.first))):
        place = (word.lastindex or 1) - 1
        return replace(spans.third(span, place % 3), first=word.start())
    if span.unit == "day" and (part := _PART_EN.match(text, span.last)):
        begin, end = ((0, 12), (12, 18), (17, 30))[(part.lastindex or 1) - 1]
        return replace(spans.hours(span, begin, end), last=part.end())
    return span


def _join(apart: list[Span], text: str, today: Today) -> list[Phrase]:
    phrases: list[Phrase] = []
    place = 0
    while place < len(apart):
        left = apart[place]
        right = apart[place + 1] if place + 1 < len(apart) else None
        place += 1
        day_after = _DAY_AFTER.match(text, left.last) if left.unit == "day" else None
        if right and _TO.fullmatch(text[left.last : right.first]) and _may_join(text, left, right):
            if joined := _between(left, _following(left, right, text), today):
                phrases.append(Phrase(joined, joined=True))
                place += 1
                continue
        elif day_after and (joined := _same_month(left, day_after)):
            phrases.append(Phrase(joined, joined=True))
            continue
        phrases.append(Phrase(left))
    return phrases


def _may_join(text: str, left: Span, right: Span) -> bool:
    """ "and" joins after "between" only."""
    if text[left.last : right.first].strip().lower() != "and":
        return True
    return re.search(r"\bbetween(?: the)?\s+$", spans.preceding(text, left.first), re.IGNORECASE) is not None


def _between(left: Span, right: Span, today: Today) -> Span | None:
    """From the beginning of one to the end of the other; a year named once counts for both."""
    try:
        if left.yearless and not right.yearless:
            of_year = right.start.year - (left.yearless[0] > right.start.month)
            left = replace(spans.date_of(of_year, *left.yearless), first=left.first, last=left.last)
        elif right.yearless:
            of_year = left.start.year + (right.yearless[0] < left.start.month)
            right = replace(spans.date_of(of_year, *right.yearless), first=right.first, last=right.last)
    except ValueError:
        return None
    span = replace(left, end=right.end, last=right.last)
    if span.yearless and today.leaning == "future":
        span = _begun(span, today)
    return span if span.end > span.start else None


def _begun(span: Span, today: Today) -> Span:
    """The range one year earlier when that has begun and is not over."""
    try:
        start = span.start.replace(year=span.start.year - 1)
        end = span.end.replace(year=span.end.year - 1)
    except ValueError:
        return span
    return replace(span, start=start, end=end) if end > today.now else span


def _following(left: Span, right: Span, text: str) -> Span:
    """In "Monday to Friday" the Friday after that Monday."""
    week = timedelta(days=7)
    named = not text[right.first].isdigit() and left.unit == right.unit == "day"
    behind = named and right.end <= left.start < right.end + week
    return replace(right, start=right.start + week, end=right.end + week) if behind and not right.yearless else right


def _same_month(left: Span, day_after: re.Match[str]) -> Span | None:
    try:
        end = left.start.replace(day=chinese.number(day_after["day"])) + timedelta(days=1)
    except (ValueError, KeyError):
        return None
    return replace(left, end=end, last=day_after.end()) if end > left.start else None


def zone_of(timezone: str) -> tzinfo:
    """The zone of an IANA name; "" is that of the machine.

    Raises:
        InvalidInput: there is no such zone.
    """
    if not timezone:
        return _local_zone()
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            Sentence("There is no time zone {timezone!r}.", timezone=timezone),
            next_step="Use an IANA name such as Asia/Shanghai or Europe/Berlin.",
        ) from None


@lru_cache(maxsize=1)
def _local_zone() -> tzinfo:
    tzlocal: Any = import_module("tzlocal")  # reads the system's files; needed once
    try:
        return tzlocal.get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):  # the machine names a zone that it does not have
        return UTC


def local(now: datetime, zone: tzinfo) -> datetime:
    """The wall clock in a zone, without the zone."""
    to_us(now)
    return now.astimezone(zone).replace(tzinfo=None)


def utc(moment: datetime, zone: tzinfo) -> datetime:
    """UTC of a wall-clock time; a time that a clock change skips or repeats counts as the earlier offset's."""
    try:
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)
