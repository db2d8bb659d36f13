"""Calendar arithmetic on local dates: days, weeks from Monday, months, quarters, years."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
#: Which occurrence of "March" or "Friday" is meant: the last one begun, the next one not over, or the closest.
Leaning = Literal["past", "future", "nearest"]

#: Years that a date in a text may have.
YEARS = range(1900, 2101)


@dataclass(frozen=True)
class Span:
    """A half-open stretch of local time that a phrase names."""

    #: first moment, local, without zone
    start: datetime
    #: first moment after it
    end: datetime
    unit: Unit
    #: where the phrase begins in the text
    first: int = 0
    #: where it ends
    last: int = 0
    #: (month, day or None) when the phrase named no year and the year was chosen
    yearless: tuple[int, int | None] | None = None


@dataclass(frozen=True)
class Today:
    """What a phrase is relative to."""

    #: local time without zone
    now: datetime
    leaning: Leaning
    #: the zone of `now`
    zone: tzinfo

    def elapsed(self, delta: timedelta) -> datetime:
        """Local time after a span of real time, which a clock change does not stretch."""
        moment = self.now.replace(tzinfo=self.zone).astimezone(UTC) + delta
        return moment.astimezone(self.zone).replace(tzinfo=None)

    @property
    def midnight(self) -> datetime:
        """The first moment of today."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)


def day(today: Today, offset: int) -> Span:
    """The day that is `offset` days from today."""
    start = today.midnight + timedelta(days=offset)
    return Span(start, start + timedelta(days=1), "day")


def week(today: Today, offset: int) -> Span:
    """The week, Monday to Sunday, that is `offset` weeks from this one."""
    start = today.midnight + timedelta(days=7 * offset - today.now.weekday())
    return Span(start, start + timedelta(days=7), "week")


def weekend(today: Today, offset: int) -> Span:
    """Saturday and Sunday of the week that is `offset` weeks from this one."""
    start = week(today, offset).start + timedelta(days=5)
    return Span(start, start + timedelta(days=2), "day")


def month(today: Today, offset: int) -> Span:
    """The month that is `offset` months from this one."""
    start = shift_months(today.midnight.replace(day=1), offset)
    return Span(start, shift_months(start, 1), "month")


def quarter(today: Today, offset: int) -> Span:
    """The quarter that is `offset` quarters from this one."""
    start = shift_months(today.midnight.replace(day=1), 3 * offset - (today.now.month - 1) % 3)
    return Span(start, shift_months(start, 3), "quarter")


def year(number: int) -> Span:
    """A calendar year."""
    return Span(datetime(number, 1, 1), datetime(number + 1, 1, 1), "year")  # noqa: DTZ001 - local by contract


def months_of(number: int, first: int, count: int) -> Span:
    """`count` months of a year, from the month `first` (1..12)."""
    start = datetime(number, first, 1)  # noqa: DTZ001 - local by contract
    unit: Unit = "month" if count == 1 else "quarter"
    return Span(start, shift_months(start, count), unit)


def date_of(number: int, month_number: int, day_number: int | None) -> Span:
    """A day, or a whole month when there is no day.

    Raises:
        ValueError: no such date.
    """
    if day_number is None:
        return months_of(number, month_number, 1)
    start = datetime(number, month_number, day_number)  # noqa: DTZ001 - local by contract
    return Span(start, start + timedelta(days=1), "day")


def without_year(today: Today, month_number: int, day_number: int | None) -> Span:
    """The occurrence of a month or day of the year that the leaning asks for.

    Raises:
        ValueError: no such date in any year.
    """
    around: list[Span] = []
    for number in range(max(1, today.now.year - 8), min(9998, today.now.year + 8) + 1):
        try:
            around.append(date_of(number, month_number, day_number))
        except ValueError:
            continue
    if not around:
        raise ValueError(f"no month {month_number} with a day {day_number}")
    match today.leaning:
        case "past":
            chosen = max((span for span in around if span.start <= today.now), key=_start, default=around[0])
        case "future":
            chosen = min((span for span in around if span.end > today.now), key=_start, default=around[-1])
        case "nearest":
            chosen = min(around, key=lambda span: abs(span.start - today.midnight))
    return replace(chosen, yearless=(month_number, day_number))


def weekday(today: Today, number: int) -> Span:
    """The Monday (0) to Sunday (6) that the leaning asks for; today counts."""
    back = (today.now.weekday() - number) % 7
    if today.leaning == "future" or (today.leaning == "nearest" and back > 3):
        return day(today, -back + 7 if back else 0)
    return day(today, -back)


def rolling(today: Today, count: int, unit: Unit) -> Span:
    """The last `count` units up to now; days and longer begin at midnight and include today."""
    if unit in ("minute", "hour"):
        return Span(today.elapsed(-timedelta(**{f"{unit}s": count})), today.now, unit)
    end = today.midnight + timedelta(days=1)
    return Span(_back(end, count, unit), end, unit)


def ahead(today: Today, count: int, unit: Unit) -> Span:
    """The next `count` units from now; the end is that of the last day."""
    if unit in ("minute", "hour"):
        return Span(today.now, today.elapsed(timedelta(**{f"{unit}s": count})), unit)
    return Span(today.midnight, _back(today.midnight, -count, unit) + timedelta(days=1), unit)


def ago(today: Today, count: int, unit: Unit) -> Span:
    """The day, week, month or year that lies `count` units back; shorter units give a stretch one unit long."""
    match unit:
        case "minute" | "hour":
            one = timedelta(**{f"{unit}s": 1})
            return Span(today.elapsed(-(count + 0.5) * one), today.elapsed(-(count - 0.5) * one), unit)
        case "day":
            return day(today, -count)
        case "week":
            return week(today, -count)
        case "month":
            return month(today, -count)
        case "quarter":
            return quarter(today, -count)
        case "year":
            return year(today.now.year - count)


def shift_months(moment: datetime, count: int) -> datetime:
    """The same day `count` months later, or the last day of that month when it has no such day.

    Raises:
        ValueError: before year 1 or after 9999.
    """
    number, month_index = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    first = moment.replace(year=number, month=month_index + 1, day=1)
    following = first.replace(day=28) + timedelta(days=4)
    last_day = (following - timedelta(days=following.day)).day
    return first.replace(day=min(moment.day, last_day))


def third(span: Span, which: int) -> Span:
    """The early (0), middle (1) or late (2) third of a span, in whole days."""
    days = (span.end - span.start).days
    cuts = [span.start + timedelta(days=round(days * part / 3)) for part in range(4)]
    return replace(span, start=cuts[which], end=cuts[which + 1])


def hours(span: Span, begin: int, end: int) -> Span:
    """Part of a day: from hour `begin` to hour `end`, which may pass midnight."""
    return replace(span, start=span.start + timedelta(hours=begin), end=span.start + timedelta(hours=end), unit="hour")


def _start(span: Span) -> datetime:
    return span.start


def _back(moment: datetime, count: int, unit: Unit) -> datetime:
    if unit in ("day", "week"):
        return moment - timedelta(days=count * (7 if unit == "week" else 1))
    return shift_months(moment, -count * {"month": 1, "quarter": 3, "year": 12}[unit])


def preceding(text: str, place: int) -> str:
    """The few words before a place, which is all that decides what a phrase there means."""
    return text[max(0, place - 40) : place]
