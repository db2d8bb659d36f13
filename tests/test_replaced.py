"""What was replaced tells what its successor is about: a new state is often told in words that nobody asks by."""

from collections.abc import Iterator

import pytest

from afterwit.config import load_settings
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock, HashEmbedder
from afterwit.testing.samples import NOW

OLD = "The lift at Maple Court is serviced by Brandon Lifts, phone 555 0199."
NEW = "Kestrel took over from Brandon."
NEWEST = "Otis has it since the merger, day and night."


@pytest.fixture(params=["hash", "none"])
def memory(request: pytest.FixtureRequest) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"embedder": request.param})
    embedder = HashEmbedder() if request.param == "hash" else None
    made = Afterwit(open_store("sqlite://"), embedder, settings=settings, clock=FixedClock(NOW))
    made.write("The roof of Maple Court was mended in May.")
    yield made
    made.close()


def found(memory: Afterwit, query: str, **options: object) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query, **options).hits]  # type: ignore[arg-type]


def replaced(memory: Afterwit, *values: str, scope: str = "global") -> list[str]:
    return [
        memory.write(
            content,
            subject="maple court",
            topic="lift_service",
            structured={"value": content, "single_valued": True},
            happened_at=f"20{year}-01-01",
            scope=scope,
        ).id
        for year, content in enumerate(values, start=25 - len(values))
    ]


@pytest.mark.parametrize("length", [2, 4, 6])
def test_the_words_of_any_predecessor_find_the_end_of_a_chain(memory: Afterwit, length: int) -> None:
    values = [
        OLD.replace("Brandon", name) for name in ("Brandon", "Kone", "Thyssen", "Fujitec", "Hidral")[: length - 1]
    ]
    replaced(memory, *values, NEW)
    assert found(memory, "who services the lift at Maple Court") == [NEW]


def test_the_words_of_a_chain_of_predecessors_find_its_end_and_none_of_them(memory: Afterwit) -> None:
    replaced(memory, OLD, NEW, NEWEST)
    assert found(memory, "who services the lift at Maple Court") == [NEWEST]
    told = memory.search("who services the lift at Maple Court").hits[0].why
    assert "replaces" in told
    assert OLD not in [hit.memory.summary for hit in memory.search("lift serviced", top_k=20).hits]


def test_what_held_then_is_found_as_such_when_the_past_is_asked_about(memory: Afterwit) -> None:
    replaced(memory, OLD, NEW)
    assert found(memory, "who services the lift at Maple Court", as_of="2023-06-01") == [OLD]


def test_a_successor_that_may_not_be_seen_is_not_brought(memory: Afterwit) -> None:
    ids = replaced(memory, OLD, NEW)
    memory.forget(ids[-1])
    assert NEW not in found(memory, "who services the lift at Maple Court")


def test_a_successor_of_another_kind_than_asked_for_is_not_brought(memory: Afterwit) -> None:
    replaced(memory, OLD)
    memory.write(
        NEW,
        kind="decision",
        subject="maple court",
        topic="lift_service",
        structured={"value": NEW, "single_valued": True},
    )
    query = "who services the lift at Maple Court"
    assert found(memory, query) == [NEW]
    assert NEW not in found(memory, query, kinds=["fact"])


def test_predecessors_of_other_scopes_bring_nothing(memory: Afterwit) -> None:
    replaced(memory, OLD, NEW, scope="project:other")
    assert NEW not in found(memory, "who services the lift at Maple Court", scopes=["project:mine"])
    assert found(memory, "who services the lift at Maple Court", scopes=["project:other"]) == [NEW]


def test_what_was_replaced_stays_away_from_the_whole_order_too(memory: Afterwit) -> None:
    replaced(memory, OLD, NEW)
    assert OLD not in found(memory, "who services the lift at Maple Court", exhaustive=True, top_k=50)


def test_who_turned_out_to_be_two_does_not_answer_for_the_other(memory: Afterwit) -> None:
    memory.alias("kowalski", "dana")
    memory.write("Dana lives in Leeds.")
    assert memory.write("Kowalski lives in Bonn now.").related
    query = "Where does Dana live?"
    assert found(memory, query) == ["Kowalski lives in Bonn now."]
    memory.split_entity("kowalski", reason="somebody else")
    assert found(memory, query) == []


def test_what_asks_of_something_else_finds_no_successor(memory: Afterwit) -> None:
    replaced(memory, OLD, NEW)
    assert NEW not in found(memory, "when was the roof of Maple Court mended")
