"""How memories age: to be verified, stale, and what being used is worth."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterwit.ageing import AGEING, age_of, use_factor
from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.rank import WEIGHTS
from afterwit.records import Basis, Kind, Memory, Standing, Trust
from afterwit.service import Afterwit, Turn, Writer
from afterwit.storage import Vitals, open_store
from afterwit.testing import FixedClock

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def vitals(days: float = 0, *, used: float | None = None, validated: float | None = None, **fields: Any) -> Vitals:
    """A memory written `days` ago, last used and validated so many days ago."""
    values: dict[str, Any] = {
        "kind": Kind.FACT,
        "basis": Basis.STATED,
        "standing": Standing.CONFIRMED,
        "last_used_at": None if used is None else NOW - used * DAY,
        "last_validated_at": None if validated is None else NOW - validated * DAY,
    } | fields
    written = NOW - days * DAY
    return Vitals.of(Memory("m", "s", "The port is 8001.", recorded_at=written, happened_at=written, **values))


def state(*given: Any, **fields: Any) -> str:
    return age_of(vitals(*given, **fields), NOW).state


GUESS: dict[str, Any] = {"basis": Basis.INFERRED, "standing": Standing.PENDING, "trust": Trust.AGENT}


def test_a_fact_is_to_be_verified_half_a_year_after_it_was_last_confirmed() -> None:
    assert [state(days) for days in (0, 179, 180, 2000)] == ["fresh", "fresh", "to_be_verified", "to_be_verified"]
    assert state(400, validated=100) == "fresh"
    assert age_of(vitals(400, validated=250), NOW).months(NOW) == 8


def test_lasting_kinds_are_asked_about_later_and_guesses_sooner() -> None:
    assert (state(719, kind=Kind.PREFERENCE), state(720, kind=Kind.RULE)) == ("fresh", "to_be_verified")
    assert (state(89, **GUESS), state(90, **GUESS)) == ("fresh", "to_be_verified")


def test_being_used_defers_the_question_but_not_for_ever() -> None:
    assert state(200, used=50) == "fresh"
    assert state(300, used=181) == "to_be_verified"
    assert state(361, used=1) == "to_be_verified", "shown every day, confirmed by nobody"


def test_only_what_was_never_proved_goes_stale_and_only_unused() -> None:
    assert (state(269, **GUESS), state(270, **GUESS)) == ("to_be_verified", "stale")
    assert state(1000, used=100, **GUESS) == "to_be_verified"
    assert state(4000) == "to_be_verified"


@pytest.mark.parametrize("kind", [Kind.DECISION, Kind.FAILURE, Kind.INTENT])
def test_what_happened_and_what_is_to_be_done_never_ages(kind: Kind) -> None:
    assert state(4000, kind=kind, **GUESS) == "fresh"


def test_turns_of_a_conversation_never_age() -> None:
    assert state(4000, structured={"speaker": "anna"}, **GUESS) == "fresh"


def test_use_raises_disuse_lowers_and_both_are_bounded() -> None:
    often, once, never = (use_factor(vitals(1, used=0, use_count=count), NOW) for count in (1000, 1, 0))
    assert AGEING.most_used_factor >= often > once > never == 1.0
    assert use_factor(vitals(1, used=200, use_count=1000), NOW) < use_factor(vitals(1, used=1, use_count=1000), NOW)
    unconfirmed, stale = use_factor(vitals(300), NOW), use_factor(vitals(300, **GUESS), NOW)
    assert 1.0 > unconfirmed > stale == AGEING.stale_factor


def test_popular_never_beats_relevant() -> None:
    from math import log2  # noqa: PLC0415

    gap = WEIGHTS.evidence * log2(AGEING.most_used_factor / AGEING.stale_factor)
    assert gap < WEIGHTS.cut_distance / 4


# --- search -----------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"timezone": "Asia/Shanghai"})
    writer = Writer("user", Trust.USER, "cli")
    service = Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, writer=writer, clock=clock)
    yield service
    service.close()


def warned(memory: Afterwit, query: str) -> list[tuple[str, ...]]:
    return [hit.warnings for hit in memory.search(query).hits]


def test_a_hit_that_nobody_confirmed_for_long_says_so_until_somebody_does(memory: Afterwit, clock: FixedClock) -> None:
    id = memory.write("The staging gateway listens on port 8443.", kind="fact").id
    assert warned(memory, "staging gateway port") == [()]
    clock.advance(days=245)
    assert warned(memory, "staging gateway port") == [("to be verified: last confirmed 8 months ago",)]
    assert warned(memory, "gateway 的 staging 端口是多少") == [("待核实：上次确认在 8 个月前",)]
    memory.update(id, verdict="confirm")
    assert warned(memory, "staging gateway port") == [()]


def test_a_guess_that_nobody_ever_confirmed_says_so(memory: Afterwit, clock: FixedClock) -> None:
    agent = memory.as_writer(Writer("agent", Trust.AGENT, "s1"))
    agent.write("The billing importer probably needs 4 GB of memory.", kind="fact", source="agent")
    clock.advance(days=100)
    [found] = warned(memory, "How much memory does the billing importer need?")
    assert "to be verified: written 3 months ago and never confirmed" in found


def test_a_turn_of_a_conversation_is_never_to_be_verified(memory: Afterwit, clock: FixedClock) -> None:
    memory.write_conversation([Turn("Anna", "The gateway listens on port 8443.", NOW)], session="talk")
    clock.advance(days=900)
    assert warned(memory, "gateway port 8443") == [()]


def test_among_equals_the_used_one_goes_first(memory: Afterwit, clock: FixedClock) -> None:
    first = memory.write("Dashboards for team red are at grafana.example/red", kind="fact").id
    second = memory.write("Dashboards for team blue are at grafana.example/blue", kind="fact").id
    order = [hit.memory.id for hit in memory.search("Where are the dashboards?").hits]
    assert set(order) == {first, second}
    for _ in range(5):
        memory.note_use([order[1]])
    assert [hit.memory.id for hit in memory.search("Where are the dashboards?").hits] == order[::-1]
