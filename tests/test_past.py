"""Questions about what was so before: by a time, and by words such as "previous" and 以前."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from afterwit.config import load_settings
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
HANGZHOU, SHANGHAI = "The user lives in Hangzhou.", "The user moved to Shanghai."
BOB_HANGZHOU, BOB_SHANGHAI = "Bob Miller lives in Hangzhou.", "Bob Miller moved to Shanghai."


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param, "timezone": "UTC"})
    embedder = HashEmbedder() if request.param == "hash" else None
    made = Afterwit(open_store("sqlite://"), embedder, settings=settings, clock=FixedClock(NOW))
    made.write("The roof of Maple Court was mended in May.")
    yield made
    made.close()


@pytest.fixture
def moved(memory: Afterwit) -> Afterwit:
    for old, new in ((HANGZHOU, SHANGHAI), (BOB_HANGZHOU, BOB_SHANGHAI)):
        memory.write(old, valid_from="2023-05-01")
        memory.write(new, valid_from="2025-03-01")
    return memory


def found(memory: Afterwit, query: str, **options: object) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query, **options).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "time",
    ["in 2024", "in January 2025", "before March 2025", "before 2025", "until March 2025", "before 2025-03-01"],
)
@pytest.mark.parametrize(("who", "answer"), [("the user", HANGZHOU), ("Bob Miller", BOB_HANGZHOU)])
def test_the_number_of_a_year_is_no_code_to_what_held_then(moved: Afterwit, time: str, who: str, answer: str) -> None:
    hits = moved.search(f"Where did {who} live {time}?").hits
    assert hits[0].memory.summary == answer
    assert hits[0].warnings == ("was true until 2025-03-01",)


def test_what_holds_now_answers_for_a_time_since_it_began(moved: Afterwit) -> None:
    assert found(moved, "Where did the user live in April 2025?")[0] == SHANGHAI
    assert found(moved, "2025-04-05用户住在哪里")[0] == SHANGHAI


def test_a_code_beside_a_time_is_still_one(memory: Afterwit) -> None:
    memory.write("The gateway answered with E4021 for an hour.", happened_at="2025-03-05")
    memory.write("The gateway answered with E7788 for an hour.", happened_at="2025-03-06")
    assert found(memory, "For how long did the gateway answer with E4021 in March 2025?") == [
        "The gateway answered with E4021 for an hour."
    ]
