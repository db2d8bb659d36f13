"""What holds only later: found when nothing that holds now is an answer, and said to be so."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from afterwit.config import load_settings
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.testing.samples import NOW

LATER = NOW + timedelta(days=90)


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param})
    embedder = HashEmbedder() if request.param == "hash" else None
    made = Afterwit(open_store("sqlite://"), embedder, settings=settings, clock=FixedClock(NOW))
    made.write("The roof of Maple Court was mended in May.")
    yield made
    made.close()


def found(memory: Afterwit, query: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    return [(hit.memory.summary, hit.warnings) for hit in memory.search(query, **options).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "query", "warning"),
    [
        ("The office lease runs for 5 years.", "How long does the office lease run?", "does not hold before {}"),
        ("办公室租约为期五年。", "办公室租约为期多久？", "{} 起才成立"),
    ],
)
def test_what_begins_later_is_found_and_says_when(memory: Afterwit, content: str, query: str, warning: str) -> None:
    memory.write(content, valid_from=LATER)
    assert found(memory, query) == [(content, (warning.format(f"{LATER:%Y-%m-%d}"),))]


def test_what_holds_now_is_the_answer_as_long_as_it_holds(memory: Afterwit) -> None:
    memory.write("The reading room opens at nine.", expires_at=LATER)
    memory.write("The reading room opens at eight.", valid_from=LATER)
    assert found(memory, "When does the reading room open?") == [("The reading room opens at nine.", ())]


@pytest.mark.parametrize(
    ("now", "later", "query"),
    [
        ("The user lives in Oslo.", "The user lives in Rome.", "Where does the user live?"),
        ("用户住在杭州。", "用户住在上海。", "用户住在哪里？"),
    ],
)
def test_what_is_replaced_later_is_the_answer_until_then(memory: Afterwit, now: str, later: str, query: str) -> None:
    memory.write(now)
    memory.write(later, valid_from=LATER)
    assert found(memory, query) == [(now, ())]


def test_nothing_later_answers_a_question_about_a_day_that_was_named(memory: Afterwit) -> None:
    memory.write("The office lease runs for 5 years.", valid_from=LATER)
    assert not found(memory, "How long does the office lease run?", as_of=datetime(2020, 1, 1, tzinfo=UTC))
    assert not found(memory, "How long did the office lease run last year?")


def test_what_is_not_about_the_question_stays_away_whenever_it_holds(memory: Afterwit) -> None:
    memory.write("The office lease runs for 5 years.", valid_from=LATER)
    assert not found(memory, "Which database does the shop use?")


def test_the_filter_holds_for_what_begins_later(memory: Afterwit) -> None:
    memory.write("The office lease runs for 5 years.", valid_from=LATER, scope="project:other")
    assert not found(memory, "How long does the office lease run?")
    assert found(memory, "How long does the office lease run?", scopes=["project:other"])
