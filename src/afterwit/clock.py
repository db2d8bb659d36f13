"""Time: read it in one place, keep it aware and in UTC, store it as integer microseconds."""

from datetime import UTC, datetime, timedelta

from afterwit.errors import InvalidInput, Sentence

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: Microseconds in a day.
DAY_US = 86_400_000_000


def utc_now() -> datetime:
    """Read the clock. The only place in the package that does."""
    return datetime.now(UTC)


def to_us(moment: datetime) -> int:
    """Microseconds since 1970-01-01T00:00Z of an aware time.

    Raises:
        InvalidInput: the time has no zone.
    """
    if moment.tzinfo is None:
        raise InvalidInput(
            Sentence("The time {moment} has no time zone.", moment=moment.isoformat()),
            next_step="Add one, for example 2025-03-01T09:00:00+08:00 or a trailing Z.",
        )
    return (moment - _EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """The aware UTC time of microseconds since the epoch; inverse of `to_us`."""
    return _EPOCH + timedelta(microseconds=microseconds)


def parse_time(text: str, *, field: str) -> datetime:
    """Read an RFC 3339 time or a plain date (midnight UTC).

    Args:
        text: "2025-03-01T09:00:00+08:00", "2025-03-01T01:00:00Z" or "2025-03-01".
        field: the parameter's name, for the error.

    Raises:
        InvalidInput: not a date, or a time of day without a zone.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            Sentence("{field} is not a date: {text!r}.", field=field, text=text),
            next_step="Write it as 2025-03-01 or 2025-03-01T09:00:00+08:00.",
        ) from None
    if moment.tzinfo is None:
        if len(text.strip()) > len("2025-03-01"):
            raise InvalidInput(
                Sentence("{field} has a time of day but no time zone: {text!r}.", field=field, text=text),
                next_step="Add one, for example +08:00 or Z.",
            )
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            Sentence("{field} is out of range: {text!r}.", field=field, text=text),
            next_step="Use a year from 1 to 9999.",
        ) from None


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with a trailing Z; microseconds only when there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
