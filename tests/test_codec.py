"""Records to JSON and back."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.clock import format_time, from_us, parse_time, to_us
from afterwit.codec import decode, dump_line, encode
from afterwit.errors import InvalidInput
from afterwit.records import Kind, Link, LinkType, Memory, Outcome, Receipt, Source, Use, new_id

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
MEMORIES = st.builds(
    Memory,
    id=MOMENTS.map(new_id),
    space=TEXTS,
    summary=TEXTS,
    kind=st.sampled_from(Kind),
    recorded_at=MOMENTS,
    happened_at=MOMENTS,
    structured=st.dictionaries(TEXTS, JSON, max_size=3),
    tags=st.lists(TEXTS, max_size=3).map(tuple),
    source=st.builds(Source, TEXTS, TEXTS),
    valid_to=st.none() | MOMENTS,
)


@given(MEMORIES)
def test_decode_undoes_encode(memory: Memory) -> None:
    assert decode(Memory, json.loads(dump_line(memory))) == memory


@given(MOMENTS)
def test_times_survive_storage_and_text(moment: datetime) -> None:
    assert from_us(to_us(moment)) == moment
    assert parse_time(format_time(moment), field="t") == moment


@given(st.lists(MOMENTS, min_size=2, max_size=5))
def test_ids_sort_by_time(moments: list[datetime]) -> None:
    made = sorted((to_us(moment), new_id(moment)) for moment in set(moments))
    ids = [id for _, id in made]
    assert ids == sorted(ids)
    assert all(len(id) == 36 and id[14] == "7" for id in ids)


def test_nested_receipts_and_enums_come_back() -> None:
    receipt = Receipt(Outcome.STORED, "x", ("new",), parts=(Receipt(Outcome.MERGED, "y"),))
    assert decode(Receipt, encode(receipt)) == receipt
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for record in (Link("s", "a", LinkType.ABOUT, "b", now), Use("u", "s", "m", now, cited=True)):
        assert decode(type(record), encode(record)) == record


@pytest.mark.parametrize(
    "values",
    [
        {"outcome": "stored", "colour": "red"},
        {"outcome": "painted"},
        {"outcome": 3},
        {"outcome": "stored", "reasons": "new"},
        {},
    ],
)
def test_malformed_values_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        decode(Receipt, values)


@pytest.mark.parametrize("text", ["yesterday", "2025-13-01", "2025-03-01T10:00:00", "0001-01-01T00:00:00+14:00", ""])
def test_bad_and_naive_times_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_time(text, field="happened_at")


def test_naive_datetime_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        to_us(datetime(2025, 1, 1))  # noqa: DTZ001
