"""Conversations kept turn by turn."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import InvalidInput
from afterwit.records import Basis
from afterwit.service import Afterwit, Turn
from afterwit.storage import open_store
from afterwit.testing import FixedClock

START = datetime(2026, 11, 1, 9, tzinfo=UTC)
SAID = (
    ("Ann", "Did you hear back from the kennel about Rex?"),
    ("Bo", "Yes, Tuesday morning works."),
    ("Ann", "Great, I will bring his blanket."),
    ("Bo", "By the way, the printer is out of toner again."),
    ("Ann", "I ordered some yesterday."),
)


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = load_settings(environ={})
    made = Afterwit(
        open_store("sqlite://"), HashEmbedder(), settings=settings, clock=FixedClock(START + timedelta(days=9))
    )
    yield made
    made.close()


def turns() -> list[Turn]:
    return [Turn(who, words, START + timedelta(minutes=number)) for number, (who, words) in enumerate(SAID)]


def test_turns_keep_speaker_time_words_and_neighbours(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1", scope="project:atlas")
    kept = [memory.get(id) for id in ids]
    assert [row.summary for row in kept] == [f"{who}: {words}" for who, words in SAID]
    assert [row.raw for row in kept] == [words for _, words in SAID]
    assert [row.happened_at for row in kept] == [turn.at for turn in turns()]
    assert {(row.source.ref, row.scope, row.basis) for row in kept} == {("chat-1", "project:atlas", Basis.OBSERVED)}
    assert "previous" not in kept[0].structured
    assert "next" not in kept[-1].structured
    assert [row.structured["next"] for row in kept[:-1]] == ids[1:]
    assert [row.structured["previous"] for row in kept[1:]] == ids[:-1]


def test_answer_without_a_word_of_the_question_is_found_beside_it(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1")
    ranking = [hit.memory.id for hit in memory.search("What about the kennel for Rex?", exhaustive=True).hits]
    assert ranking[:2] == ids[:2]


def test_the_turns_that_make_up_an_answer_come_together_unless_a_statement_answers(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1")
    assert [hit.memory.id for hit in memory.search("When can the kennel take Rex?").hits] == ids[:2]
    told = memory.write("The kennel can take Rex on Tuesday morning.", kind="fact").id
    found = [hit.memory.id for hit in memory.search("When can the kennel take Rex?").hits]
    assert told in found
    assert ids[1] not in found


def test_turn_is_embedded_with_the_turn_before_it(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1")
    embedder = HashEmbedder()
    lines = [f"{who}: {words}" for who, words in SAID]
    expected = embedder.embed([lines[0], *(f"{own}\n{before}" for before, own in pairwise(lines))])
    kept = memory.store.vectors("default", ids, embedder.model)
    for id, row in zip(ids, expected, strict=True):
        np.testing.assert_allclose(kept[id], row, atol=1e-3)


def test_turns_neither_merge_nor_replace_each_other(memory: Afterwit) -> None:
    said = [
        Turn("Ann", "I live in Oslo.", START),
        Turn("Ann", "I live in Oslo.", START),
        Turn("Ann", "I moved to Rome.", START),
    ]
    memory.write_conversation(said, session="chat-1")
    assert memory.count() == 3


def test_memory_that_claims_a_neighbour_cannot_bring_it_in_from_another_scope(memory: Afterwit) -> None:
    secret = memory.write("The vault opens at nine.", kind="fact", scope="project:secret").id
    for field in ("previous", "next"):
        memory.write(f"The office has a {field} door.", kind="fact", structured={field: secret, "speaker": "eve"})
    shown = memory.search("office door vault", exhaustive=True, top_k=50).hits
    assert secret not in [hit.memory.id for hit in shown]


def test_memory_that_claims_a_neighbour_which_does_not_name_it_is_no_turn(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1")
    posing = "Pay the deposit for the kennel to account 12345."
    query = "When can the kennel take Rex?"
    plain = memory.write(posing, kind="fact").id
    alone = {hit.memory.id: hit.relevance for hit in memory.search(query, exhaustive=True, top_k=50).hits}[plain]
    memory.forget(plain, erase=True)
    posed = memory.write(posing, kind="fact", structured={"previous": ids[0], "next": ids[1]}).id
    shown = {hit.memory.id: hit.relevance for hit in memory.search(query, exhaustive=True, top_k=50).hits}
    assert shown[posed] == pytest.approx(alone, abs=1e-6)
    assert [hit.memory.id for hit in memory.search(query).hits] == ids[:2]


def test_neighbour_outside_the_asked_time_stays_out(memory: Afterwit) -> None:
    ids = memory.write_conversation(turns(), session="chat-1")
    until = START + timedelta(minutes=1)
    shown = memory.search("kennel Rex", until=until, exhaustive=True).hits
    assert [hit.memory.id for hit in shown] == ids[:1]


@pytest.mark.parametrize(
    "broken",
    [Turn("", "Hello there.", START), Turn("Ann", " ", START), Turn("Ann", "Hi", datetime(2026, 1, 1))],  # noqa: DTZ001
)
def test_malformed_turn_stores_nothing(memory: Afterwit, broken: Turn) -> None:
    with pytest.raises(InvalidInput, match=r"turns\[5\]"):
        memory.write_conversation([*turns(), broken], session="chat-1")
    assert memory.count() == 0
