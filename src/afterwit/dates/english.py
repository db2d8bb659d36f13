"""English time phrases: "yesterday", "last week", "3 days ago", "in March 2025"."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from afterwit.dates import spans
from afterwit.dates.spans import YEARS, Span, Today, Unit

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|tues|wed|thu|thur|thurs|fri"
_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few|few|several"
_NUMBERS = {
    word: value
    for value, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(),
        start=1,
    )
} | {"a": 1, "an": 1, "a couple of": 2}
_UNIT = r"(minute|hour|day|week|month|quarter|year)s?"
#: Words after which a bare month or year is a time.
_BEFORE = re.compile(
    r"\b(?:in|during|since|until|till|before|after|from|by|of|between|through|early|mid|late|last|this|next|as of|"
    r"starting|beginning|effective|to|and)[\s\-]+$",
    re.IGNORECASE,
)
_SURELY_BEFORE = re.compile(
    r"\b(?:in|during|since|until|till|before|after|of|between|early|mid|late|last|this|next|as of)[\s\-]+$",
    re.IGNORECASE,
)
_BEFORE_DAY = re.compile(
    r"\b(?:on|since|until|till|before|after|by|from|through|between|starting|to|and)\s+$", re.IGNORECASE
)
_WITHIN = re.compile(r"\b(?:in|over|within|during) the last \w+$", re.IGNORECASE)
_REPEATED = re.compile(r"\b(?:every|each|most|any|on alternate)\s+$", re.IGNORECASE)

Build = Callable[[re.Match[str], Today], Span | None]
_DAY_WORDS = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "day before yesterday": -2,
    "day after tomorrow": 2,
}
_OFFSETS = {"this": 0, "current": 0, "last": -1, "previous": -1, "past": -1, "next": 1, "coming": 1}


def _day_word(found: re.Match[str], today: Today) -> Span:
    return spans.day(today, _DAY_WORDS[" ".join(found.group(1).lower().split())])


def _part_of_day(found: re.Match[str], today: Today) -> Span:
    match found.group().lower().split():
        case ["last", _]:
            return spans.hours(spans.day(today, -1), 18, 30)
        case [_, "morning"]:
            return spans.hours(spans.day(today, 0), 0, 12)
        case [_, "afternoon"]:
            return spans.hours(spans.day(today, 0), 12, 18)
        case _:
            return spans.hours(spans.day(today, 0), 17, 30)


def _calendar(found: re.Match[str], today: Today) -> Span | None:
    word, unit = found.group(1).lower(), found.group(2).lower()
    offset = _OFFSETS[word]
    if word == "past" or (
        word == "last" and _WITHIN.search(spans.preceding(found.string, found.start()) + found.group())
    ):
        return spans.weekend(today, -1) if unit == "weekend" else spans.rolling(today, 1, _unit(unit))
    match unit:
        case "weekend":
            return spans.weekend(today, offset)
        case "week":
            return spans.week(today, offset)
        case "month":
            return spans.month(today, offset)
        case "quarter":
            return spans.quarter(today, offset)
        case _:
            return spans.year(today.now.year + offset)


def _before_last(found: re.Match[str], today: Today) -> Span:
    return spans.ago(today, 2, _unit(found.group(1)))


def _ahead(found: re.Match[str], today: Today) -> Span | None:
    """The day "in 3 days" falls on; in a question it is more often a length than a date."""
    words = found.group(1).lower()
    if today.leaning != "future" or (words not in _NUMBERS and not words.isdigit()):
        return None
    return spans.ahead(today, _number(words), _unit(found.group(2)))


def _weekday(found: re.Match[str], today: Today) -> Span | None:
    word, number = (found.group(1) or "").lower(), _DAYS.index(found.group(2)[:3].lower())
    before, after = spans.preceding(found.string, found.start()), found.string[found.end() : found.end() + 20]
    if _REPEATED.search(before):
        return None
    back = (today.now.weekday() - number) % 7
    match word:
        case "last" | "past" | "previous":
            return spans.day(today, -(back or 7))
        case "this":
            return spans.day(today, number - today.now.weekday())
        case "next" | "coming":
            return spans.day(today, 7 - back)
        case _:
            full = len(found.group(2)) >= 6
            closed = full and re.match(r"\s*(?:[?.!,;]|$|morning|afternoon|evening|night)", after)
            return spans.weekday(today, number) if closed or _BEFORE_DAY.search(before) else None


def _ago(found: re.Match[str], today: Today) -> Span | None:
    words, unit = found.group(1).lower(), _unit(found.group(2))
    if words in ("a few", "few", "several"):
        start = spans.ago(today, 7 if unit != "year" else 5, unit)
        return Span(start.start, spans.ago(today, 2, unit).end, unit)
    return spans.ago(today, _number(words), unit)


def _rolling(found: re.Match[str], today: Today) -> Span:
    words = found.group(2).lower()
    count = 3 if words in ("a few", "few", "several") else _number(words)
    if found.group(1).lower() == "next":
        return spans.ahead(today, count, _unit(found.group(3)))
    return spans.rolling(today, count, _unit(found.group(3)))


def _spelled(found: re.Match[str], today: Today) -> Span | None:
    """March 5, 5th of March 2025, March 2025; the reading of the words is dateutil's."""
    phrase, name = found.group(), found.group("month")
    dated = re.search(r"\d{4}\b", phrase)
    before = spans.preceding(found.string, found.start())
    ordinal = re.search(r"\d(?:st|nd|rd|th)\b", phrase, re.IGNORECASE)
    if _is_everyday_word(name) and not (ordinal or _BEFORE.search(before) or _BEFORE_DAY.search(before)):
        return None
    moment = _parse(re.sub(r"\bof\b|\bthe\b", " ", phrase.lower()))
    if moment is None or moment.year not in YEARS:
        return None
    given = re.search(r"\b\d{1,2}(?!\d)", phrase)
    if dated:
        return spans.date_of(moment.year, moment.month, moment.day if given else None)
    named = _MONTHS.index(name[:3].lower()) + 1
    if given is None:
        return None
    return spans.without_year(today, named, int(given.group()))


def _bare_month(found: re.Match[str], today: Today) -> Span | None:
    before, name = spans.preceding(found.string, found.start()), found.group(2)
    guard = _SURELY_BEFORE if _is_everyday_word(name) else _BEFORE
    word = (found.group(1) or "").strip().lower()
    if not (word or guard.search(before)):
        return None
    number = _MONTHS.index(name[:3].lower()) + 1
    match word:
        case "last" | "previous":
            span = spans.without_year(replace(today, leaning="past"), number, None)
            return span if number != today.now.month else spans.date_of(today.now.year - 1, number, None)
        case "next":
            span = spans.without_year(replace(today, leaning="future"), number, None)
            return span if number != today.now.month else spans.date_of(today.now.year + 1, number, None)
        case "this":
            return spans.date_of(today.now.year, number, None)
        case _:
            return spans.without_year(today, number, None)


def _is_everyday_word(name: str) -> bool:
    return name in ("may", "march", "mar", "dec", "jan", "june", "april", "august")


def _bare_year(found: re.Match[str], _: Today) -> Span | None:
    number = int(found.group(1))
    plausible = number in YEARS and _SURELY_BEFORE.search(spans.preceding(found.string, found.start()))
    before = re.search(r"\b(?:from|to|through|by|and)\s+$", spans.preceding(found.string, found.start()), re.IGNORECASE)
    return spans.year(number) if plausible or (before and 1970 <= number <= 2050) else None


def _iso(found: re.Match[str], _: Today) -> Span | None:
    number = int(found.group(1))
    return spans.date_of(number, int(found.group(3)), int(found.group(4))) if number in YEARS else None


def _iso_month(found: re.Match[str], _: Today) -> Span | None:
    number = int(found.group(1))
    known = number in YEARS and _BEFORE.search(spans.preceding(found.string, found.start()))
    return spans.date_of(number, int(found.group(2)), None) if known else None


_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}


def _quarter_of(found: re.Match[str], today: Today) -> Span | None:
    groups = found.groupdict()
    number = int(groups["q"] or groups["q2"] or 0) or _ORDINALS[(groups["ordinal"] or "").lower()]
    dated = groups["year"] or groups["year2"] or groups["year3"]
    first = 3 * number - 2
    if dated:
        return spans.months_of(int(dated), first, 3) if int(dated) in YEARS else None
    if not _BEFORE.search(spans.preceding(found.string, found.start())):
        return None
    start = spans.without_year(today, first, None).start
    return spans.months_of(start.year, first, 3)


#: Each phrase and how its span is found; matched without regard to case.
RULES: tuple[tuple[re.Pattern[str], Build], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), build)
    for pattern, build in (
        (
            r"(?<![\w\-])(?:the )?(today|yesterday|tomorrow|day before yesterday|day after tomorrow)(?![\w\-])",
            _day_word,
        ),
        (r"\b(?:tonight|last night|this (?:morning|afternoon|evening))\b", _part_of_day),
        (
            r"\b(?:the )?(this|current|last|previous|past|next|coming) (weekend|week|month|quarter|year)\b(?!-)",
            _calendar,
        ),
        (r"\b(?:the )?(week|month|quarter|year) before last\b", _before_last),
        (rf"\bin ({_COUNT}) {_UNIT}\b(?! of)", _ahead),
        (rf"\b(?:(last|past|previous|this|next|coming) )?({_WEEKDAY})\b(?![\-.]\w)", _weekday),
        (rf"\b({_COUNT}) {_UNIT} ago\b", _ago),
        (rf"\b(?:the )?(last|past|previous|next) ({_COUNT}) {_UNIT}\b", _rolling),
        (
            rf"\b(?P<month>{_MONTH})\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b(?![:.%]\d| ?[ap]m\b)",
            _spelled,
        ),
        (rf"(?<![\w.:])\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? \d{{4}}\b)?", _spelled),
        (rf"\b(?P<month>{_MONTH})\.?,?(?: of)? \d{{4}}\b(?![\-:.]\d)", _spelled),
        (rf"\b((?:last|previous|this|next) )?({_MONTH})\b(?! \d|\.\w|')", _bare_month),
        (r"(?<![\w./:\-])(\d{4})([\-/])(\d{1,2})\2(\d{1,2})(?:[T ]\d\d:\d\d\S*)?(?![\w/\-]|\.\w)", _iso),
        (r"(?<![\w./:\-])(\d{4})[\-/](\d{2})(?![\w/\-]|\.\w)", _iso_month),
        (
            r"(?<![\w./:])(?<!(?<!mid)-)(\d{4})(?![\w/:\-]|\.\w| ?%| (?:bits?|bytes?|files?|px|mb|gb|kb|items?|"
            r"rows?|tokens?|users?|people|times|lines?|words?|records?|requests?|tests?|ms|seconds|minutes|hours|days)\b)",
            _bare_year,
        ),
        (
            r"\b(?:q(?P<q>[1-4])(?:,? (?:of )?(?P<year>\d{4}))?|(?P<year2>\d{4})[ \-]?q(?P<q2>[1-4])|"
            r"(?:the )?(?P<ordinal>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter(?: of)? (?P<year3>\d{4}))\b",
            _quarter_of,
        ),
    )
)


def count_of(words: str) -> int | None:
    """Value of 12, "twelve" or "a"; None for "a few" and the like."""
    return int(words) if words.isdigit() else _NUMBERS.get(words.lower())


def _number(words: str) -> int:
    return int(words) if words.isdigit() else _NUMBERS[words]


def _unit(word: str) -> Unit:
    units: dict[str, Unit] = {
        "minute": "minute",
        "hour": "hour",
        "day": "day",
        "week": "week",
        "month": "month",
        "quarter": "quarter",
        "year": "year",
    }
    return units[word.lower()]


def _parse(phrase: str) -> datetime | None:
    """The day, or first day of the month, that dateutil reads in a spelled date; None for 31 April."""
    from dateutil.parser import ParserError, parse  # noqa: PLC0415 - 80 ms, needed by spelled dates only

    try:
        return parse(phrase, default=datetime(2024, 1, 1))  # noqa: DTZ001 - a calendar day; any leap year
    except (ParserError, OverflowError):
        return None
