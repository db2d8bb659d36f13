"""Times in texts, Chinese and English: the range a query asks about, when a statement begins and ends to hold."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from afterwit.dates.lasting import last_end
from afterwit.dates.phrases import Phrase, find_phrases, local, plainly, utc, zone_of
from afterwit.dates.spans import Leaning, Span, preceding

__all__ = ["Due", "TimeRange", "find_due", "find_expiry", "find_start", "find_time_range", "without_times"]

_SINCE = re.compile(
    r"\b(?:since|from|starting(?: from)?|beginning|as of|(after))\s+(?:the )?$|(?:自从|自|从)$", re.IGNORECASE
)
_BEFORE = re.compile(r"\b(?:before|until|till|up to|prior to|earlier than)\s+(?:the )?$", re.IGNORECASE)
_SINCE_ZH = re.compile(r"\s*(?:以来|至今|起|开始|(之后|以后|后(?![天年])))|\s*(?:onwards?|on)\b", re.IGNORECASE)
_BEFORE_ZH = re.compile(r"\s*(?:之前|以前|前(?![端台后夕]))")
_LEAD = re.compile(
    r"(?:\b(?:in|on|during|since|from|between|before|after|until|by|over|within)\s+(?:the\s+)?)$", re.IGNORECASE
)
_UNTIL = re.compile(
    r"(?:\b(?:until|till|til|through|thru|up to|valid to|expir(?:es?|ing|y)(?: date)?:?(?: on| at)?|ends?(?: on| at)?|"
    r"ending(?: on)?|(?:only|just) (?:for |on )?|for)\s+(?:the )?(?:end of )?(?:the )?|"
    r"(?:直到|有效期[至到]?|到期日[:：]?))$|"
    r"\bonly\s+$",
    re.IGNORECASE,
)
_UNTIL_LEFT_ZH = re.compile(r"(?:到|至)$")
_UNTIL_RIGHT_ZH = re.compile(r"\s*(?:为止|止|到期|失效|过期|结束)")
_WITHIN = re.compile(r"\s*(?:only\b|之?内|以内|期间|为限)", re.IGNORECASE)
_DEADLINE = re.compile(
    r"\b(?:by|due|deadline|no later than|before)\s+(?:the )?(?:end of )?(?:the )?$|截止(?:日期|时间)?[到至:：]?$",
    re.IGNORECASE,
)
_MUST_BE_DONE = re.compile(r"完成|提交|交付|上线|做完|搞定|修复|交稿|发布|截止|deadline|\bdue\b", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:travel(?:l?ing|s)?|trip|visit(?:ing|s)?|on leave|vacation|holiday|day off|off sick|away|"
    r"out of (?:the )?office|conference|attending|staying|flying|flight|on call|on duty|busy|unavailable|closed|"
    r"meeting|interview|in town)\b|"
    r"出差|旅行|旅游|旅遊|请假|請假|休假|度假|值班|外出|不在|参加|參加|拜访|面试|加班|开会|開會|要去|回老家|出国|休息|停电|停水|"
    r"没空|有空|很忙",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:from|since|start(?:s|ing)?|move|moving|join(?:ing)?|prefers?|likes?)\b|开始|起(?![床飞])|搬|入职|喜欢|习惯",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"\b(?:every|each|always|usually|normally|weekly|monthly|daily|annual(?:ly)?)\b|每|通常|一般|平时", re.IGNORECASE
)
#: "Monday to Friday" is a habit, not a stretch of time.
_HABIT = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)|周|星期|礼拜", re.IGNORECASE)
#: "到下个月才到账" tells when something begins, not until when it holds.
_ONLY_THEN_ZH = re.compile(r"[^，。；,;]{0,4}才")
_HOLDS_BEFORE = re.compile(r"\s*(?:之前|以前|前)[，, ]*(?:都|不|别|没|禁止|暂停|勿)")
_SENT_FROM = re.compile(r"\b(?:the|an?|this|that|my|our|your|his|her|their)\s+\w+\s+from\s+(?:the )?$", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:moved|joined|started|switched|began|became|adopted|migrated|upgraded|relocated|got married|changed)\b|"
    r"搬到|搬去|搬家|搬进|加入|入职|开始|改用|换成|换到|切换|迁移到|升级到|成为|转到|结婚|启用|调到|住进",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:(since)|from|starting(?: from| on| in)?|beginning(?: on| in)?|effective(?: from)?|as of|valid from)\s+"
    r"(?:the )?$|(?:自从|自|从)$",
    re.IGNORECASE,
)
_FROM_RIGHT = re.compile(r"\s*(?:以来|至今|起|开始|onwards?\b|on\b(?! (?:the|\d|(?-i:[A-Z]))))", re.IGNORECASE)
_MOVE = (
    r"(?:mov(?:ed?|es|ing)|chang(?:ed?|es|ing)|switch(?:ed|es)?|shift(?:ed|s)?|postponed?|re-?scheduled?|push(?:ed|es)?|"
    r"brought|put|delayed?|deferr?e?d?|slipped|slips|bumped|advanced|rebooked)"
)
_MOVED_WHAT = r"(?: (?!(?:to|into|in|on|at|for|until)\b)[\w'\-]+){0,6}"
_MOVED_TO = re.compile(
    rf"\b{_MOVE}{_MOVED_WHAT} (?:to|until|till)\s+(?:the )?(?:end of )?(?:the )?$|"
    rf"\bre-?(?:scheduled|booked){_MOVED_WHAT} for\s+(?:the )?$|"
    r"\b(?:was|were|been|got) (?:scheduled|planned|set|booked|fixed|arranged|slated) for\s+(?:the )?$|"
    r"(?:推迟|推后|延期|延后|延迟|顺延|延|改期|改签|改|挪|移|调整?|提前|换|变更|更改|修改)(?:到|至|为|成|在|于)了?\s*$",
    re.IGNORECASE,
)
_MOVED_FROM = re.compile(rf"\b{_MOVE}(?: [\w'\-]+){{0,4}} from\s+(?:the )?$", re.IGNORECASE)
_FROM_ZH = re.compile(r"(?:从|由|原定于?|本来是?)\s*$")
_MOVED_ZH = re.compile(
    r"[^，,。；;]{0,8}?(?:推迟|推后|延期|延后|延迟|顺延|改|挪|移|调整?|提前|换|变更)(?:到|至|为|成|在)"
)
_PROLONGED = re.compile(r"\b(?:was|were) (?=extended|prolonged|renewed)", re.IGNORECASE)
_PAST_TENSE = re.compile(r"\b(?:lived|worked|was|were|had|used to|stayed|studied)\b|住过|曾|以前|之前", re.IGNORECASE)


#: How long before a deadline it is worth thinking of: time to do it in, and not so long that it is put off.
DEADLINE_NOTICE = timedelta(days=2)


@dataclass(frozen=True)
class TimeRange:
    """The stretch of time that a text asks about."""

    #: first moment, aware UTC
    start: datetime
    #: first moment after it, aware UTC
    end: datetime
    #: the words that said so, as they stand in the text
    phrase: str


@dataclass(frozen=True)
class Due:
    """When something is to be done."""

    #: the moment, or the first moment of the last day that is meant, aware UTC
    at: datetime
    #: when to begin thinking of it, aware UTC; some days before a deadline, the first day of a week or month
    begins: datetime


def find_due(text: str, *, now: datetime, timezone: str) -> Due | None:
    """When something is to be done: "by 2026-12-05", "before Friday", "next week", 周五前, 明天下午3点.

    A stretch of several days is due on its last one, unless it is to be done before it. What is over by now is
    not when anything will be done.

    Args:
        text: the intent.
        now: the moment of writing, aware.
        timezone: IANA name of the zone whose calendar is meant; "" = that of the machine.

    Returns:
        None when the text names no time to come.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    zone = zone_of(timezone)
    moment = local(now, zone)
    for phrase in find_phrases(text, now=now, zone=zone, leaning="future"):
        span = phrase.span
        if span.end <= moment:
            continue
        before, after = preceding(text, span.first), text[span.last :]
        ahead = _BEFORE.search(before) or _BEFORE_ZH.match(after)
        is_long = span.end - span.start > timedelta(days=1)
        at = span.end - timedelta(days=1) if is_long and not ahead else span.start
        begins = span.start
        if ahead or _DEADLINE.search(before):
            begins = at - DEADLINE_NOTICE
        return Due(utc(at, zone), utc(begins, zone))
    return None


def find_time_range(text: str, *, now: datetime, timezone: str) -> TimeRange | None:
    """The time range that a query names: "last week", 上周, "in March 2025", 2025-03-01之前.

    A month or weekday without a year is the latest one that has begun. "since" and "after" reach to the end of
    today, "before" back to year 1. The first phrase of the text counts. Weeks start on Monday.

    Args:
        text: the query.
        now: the moment of asking, aware.
        timezone: IANA name of the zone whose calendar is meant; "" = that of the machine.

    Returns:
        None when the text names no time; a doubtful word, such as "may" or 3.11, is no time.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    zone = zone_of(timezone)
    found = find_phrases(text, now=now, zone=zone, leaning="past")
    if not found:
        return None
    span, first, last = found[0].span, found[0].span.first, found[0].span.last
    before, after = preceding(text, first), text[last:]
    start, end = span.start, span.end
    since, since_right = _SINCE.search(before), _SINCE_ZH.match(after)
    before_left, before_right = _BEFORE.search(before), _BEFORE_ZH.match(after)
    if not found[0].joined and (since or since_right):
        start, end = _since(span, local(now, zone), exclusive=_is_after(since) or _is_after(since_right))
    elif not found[0].joined and (before_left or before_right):
        start, end = datetime.min, span.start  # noqa: DTZ901 - made aware below
    lead = since or before_left or _LEAD.search(before)
    tail = since_right or before_right
    phrase = text[first - len(lead.group()) if lead else first : last + (tail.end() if tail else 0)].strip()
    lower = datetime.min.replace(tzinfo=UTC) if start == datetime.min else utc(start, zone)  # noqa: DTZ901
    upper = utc(end, zone)
    return TimeRange(lower, upper, phrase) if lower < upper else None


def without_times(text: str, *, now: datetime, timezone: str) -> str:
    """The rest of a text that names times, as `find_time_range` understands them.

    Args:
        text: the query.
        now: the moment of asking, aware.
        timezone: IANA name of the zone whose calendar is meant; "" = that of the machine.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    for phrase in reversed(find_phrases(text, now=now, zone=zone_of(timezone), leaning="past")):
        text = f"{text[: phrase.span.first]} {text[phrase.span.last :]}"
    return text


def _is_after(found: re.Match[str] | None) -> bool:
    return found is not None and found.group(1) is not None


def _since(span: Span, now: datetime, *, exclusive: bool) -> tuple[datetime, datetime]:
    start = span.end if exclusive else span.start
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return start, max(tomorrow, span.end)


def find_expiry(text: str, *, now: datetime, timezone: str) -> datetime | None:
    """When a statement stops to hold: "until Friday", "this week only", 下周要去成都出差.

    The named day, week, month or year is still inside: the result is the first moment after it, of several the last.
    What somebody returns from at an unknown time has no end. A deadline ("by the
    end of March", 周五之前完成) says when something is due, not how long the text is true, and gives None.

    Args:
        text: the statement.
        now: the moment of writing, aware.
        timezone: IANA name of the zone whose calendar is meant; "" = that of the machine.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    zone, text = zone_of(timezone), plainly(text)
    leaning: Leaning = "past" if _PAST_TENSE.search(_PROLONGED.sub(" ", text)) else "future"
    moment = local(now, zone)
    phrases = find_phrases(text, now=now, zone=zone, leaning=leaning)
    if any(_is_moved_to_or_from(text, phrase) for phrase in phrases):
        return None
    ends = [(phrase, end) for phrase in phrases if (end := _end_of(text, phrase, moment))]
    if not ends:
        return None
    last = max(end for _, end in ends)
    if all(_is_said_to_end(text, phrase) for phrase, _ in ends):
        return utc(last, zone)
    # What passes in one time of a text and in another is over with the later one.
    if any(span.end > last and span.unit in ("quarter", "year") for span in (phrase.span for phrase in phrases)):
        return None
    over = last_end(text, [phrase for phrase in phrases if phrase.span.end > moment], last)
    return utc(over, zone) if over else None


def _is_said_to_end(text: str, phrase: Phrase) -> bool:
    """Whether a time is the end by its words, or "from A to B"."""
    span = phrase.span
    left, after = preceding(text, span.first), text[span.last :]
    right = _UNTIL_RIGHT_ZH.match(after) or _BEFORE_ZH.match(after)
    return phrase.joined or bool(right or _UNTIL.search(left) or _UNTIL_LEFT_ZH.search(left))


def _is_moved_to_or_from(text: str, phrase: Phrase) -> bool:
    """Whether a time is what something was put off or brought forward to, or from: so it is a value, and what is told
    holds from the telling on."""
    before, after = preceding(text, phrase.span.first), text[phrase.span.last :]
    if _MOVED_TO.search(before) or _MOVED_FROM.search(before):
        return True
    return _FROM_ZH.search(before) is not None and _MOVED_ZH.match(after) is not None


def _is_when_moved(text: str, span: Span, value: Span) -> bool:
    """Whether a time is that of the moving, as in "yesterday the review was moved to Friday", and not what was so
    before, as in "the review on Monday was moved to Friday"."""
    leads = re.fullmatch(r"\W*(?:(?:on|in|at|last)\b\W*)?(?:the )?", text[: span.first], re.IGNORECASE)
    return span.first > value.first or (leads is not None and not text[span.last :].startswith(("的", "'s", "’s")))


def _end_of(text: str, phrase: Phrase, now: datetime) -> datetime | None:
    span = phrase.span
    before, after = preceding(text, span.first), text[span.last :]
    if _DEADLINE.search(before):
        return None
    if _BEFORE_ZH.match(after):
        return span.start if _HOLDS_BEFORE.match(after) and span.start > now else None
    if _UNTIL.search(before) or _UNTIL_RIGHT_ZH.match(after):
        return span.end
    if _UNTIL_LEFT_ZH.search(before):
        return None if _MUST_BE_DONE.search(after) or _ONLY_THEN_ZH.match(after) else span.end
    return span.end if not _REPEATED.search(text) and _passes(text, phrase, now) else None


def _passes(text: str, phrase: Phrase, now: datetime) -> bool:
    """Whether the text tells of something that is over when its time is."""
    span = phrase.span
    if phrase.joined:
        return not _comes_again(text, phrase)
    if span.end <= now:
        return False
    if _WITHIN.match(text, span.last):
        return not _MUST_BE_DONE.search(text)
    return span.unit in ("hour", "day", "week", "month") and bool(_PASSING.search(text)) and not _LASTING.search(text)


def _comes_again(text: str, phrase: Phrase) -> bool:
    """Whether "from A to B" is a habit: days of every week, or months of every year.

    Months without a year are one stretch of time only in what is past ("worked there from March to May") and in what
    passes ("away from June to August").
    """
    if _HABIT.match(text, phrase.span.first):
        return True
    months = phrase.span.yearless is not None and phrase.span.yearless[1] is None
    return months and not _PAST_TENSE.search(text) and not _PASSING.search(text)


def find_start(text: str, *, now: datetime, timezone: str) -> datetime | None:
    """When a statement begins to hold: "since March 2025", 从3月1日起, 2025年3月搬到上海.

    "since" looks back; "from" and "starting" take the occurrence closest to now. Without such a word the time counts
    only beside a verb of change (moved, joined, 搬到, 改用). What something was moved to ("to Friday", 推迟到周五) is
    its value and begins nothing.

    Args:
        text: the statement.
        now: the moment of writing, aware.
        timezone: IANA name of the zone whose calendar is meant; "" = that of the machine.

    Raises:
        InvalidInput: unknown zone, or `now` without one.
    """
    zone, text = zone_of(timezone), plainly(text)
    past = find_phrases(text, now=now, zone=zone, leaning="past")
    if not past:
        return None
    near = find_phrases(text, now=now, zone=zone, leaning="nearest")
    changed = _CHANGED.search(text) is not None
    moved = [phrase for phrase in past if _is_moved_to_or_from(text, phrase)]
    for looking_back, closest in zip(past, near, strict=False):
        span = looking_back.span
        before, after = preceding(text, span.first), text[span.last :]
        since, right = _FROM.search(before), _FROM_RIGHT.match(after)
        if looking_back in moved and not right:
            continue
        if looking_back.joined and _comes_again(text, looking_back):
            continue
        if (since and not _SENT_FROM.search(before)) or right or looking_back.joined:
            backwards = (since and since.group(1)) or (right and right.group().strip() in ("以来", "至今"))
            return utc((span if backwards else closest.span).start, zone)
        if moved and (span.start > local(now, zone) or not _is_when_moved(text, span, moved[-1].span)):
            continue
        if changed and not (_UNTIL.search(before) or _BEFORE.search(before) or _BEFORE_ZH.match(after)):
            return utc(span.start, zone)
    return None
