"""Duplicates, changes and conflicts, decided without a store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from afterwit.records import (
    Add,
    Basis,
    Connect,
    Kind,
    LinkType,
    Memory,
    Outcome,
    Reinforce,
    Retire,
    Revise,
    Standing,
    Status,
    Supersede,
    Trust,
    new_id,
)
from afterwit.resolve import Known, resolve

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def memory(summary: str, *, days_ago: float = 0, session: str = "s1", **fields: object) -> Memory:
    moment = NOW - timedelta(days=days_ago)
    made = Memory(
        id=new_id(moment),
        space="default",
        summary=summary,
        kind=Kind.FACT,
        recorded_at=moment,
        happened_at=moment,
        basis=Basis.STATED,
        standing=Standing.CONFIRMED,
        confidence=1.0,
        supporters=(session,),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def lives(city: str, **fields: object) -> Memory:
    given: dict[str, object] = {"subject": "user", "topic": "residence", "structured": {"value": city}}
    return memory(f"User lives in {city}.", **(given | fields))


def kinds_of(changes: tuple[object, ...]) -> list[type]:
    return [type(change) for change in changes]


def test_new_statement_is_added() -> None:
    new = memory("The API listens on port 8080.")
    done = resolve(new, known=Known(), now=NOW)
    assert done.changes == (Add(new),)
    assert done.receipt.outcome is Outcome.STORED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user likes tea.", "User likes tea"),
        ("用户喜欢喝茶。", "用戶喜歡喝茶"),
        ("Deploys go through GitHub Actions", "Deploys go through GitHub Actions."),
    ],
)
def test_same_statement_is_merged_and_counts_another_source(old: str, new: str) -> None:
    before = memory(old, days_ago=3, confidence=0.6, session="s1")
    done = resolve(memory(new, session="s2", confidence=0.6), known=Known(same_statement=[before]), now=NOW)
    assert done.receipt.outcome is Outcome.MERGED
    assert done.receipt.id == before.id
    (change,) = done.changes
    assert isinstance(change, Reinforce)
    assert change.supporter == "s2"
    assert change.confidence == pytest.approx(0.8)


def test_repeat_in_one_session_changes_nothing() -> None:
    before = memory("The user likes tea.", session="s1")
    done = resolve(memory("User likes tea", session="s1"), known=Known(same_statement=[before]), now=NOW)
    assert done.changes == ()
    assert done.receipt.reasons == ("duplicate", "same_source")


def test_statement_of_the_user_lifts_what_was_inferred() -> None:
    guess = memory("User likes tea.", basis=Basis.INFERRED, standing=Standing.PENDING, confidence=0.6)
    done = resolve(memory("User likes tea.", session="s2"), known=Known(same_statement=[guess]), now=NOW)
    (change,) = done.changes
    assert isinstance(change, Reinforce)
    assert (change.basis, change.standing, change.confidence) == (Basis.STATED, Standing.CONFIRMED, 1.0)


def test_repeat_with_a_new_end_extends_validity() -> None:
    trip = memory("User is in Chengdu.", valid_to=NOW + timedelta(days=1))
    longer = memory("User is in Chengdu.", valid_to=NOW + timedelta(days=9), session="s2")
    done = resolve(longer, known=Known(same_statement=[trip]), now=NOW)
    assert Revise(trip.id, {"valid_to": longer.valid_to}, reason="validity said anew") in done.changes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is in Room 101.", "The meeting is in Room 102."),
        ("张三喜欢咖啡。", "李四喜欢咖啡。"),
        ("The build uses Node 18.", "The build uses Node 20."),
        ("Call get_user first.", "Call get_users first."),
    ],
)
def test_different_numbers_and_names_never_merge(old: str, new: str) -> None:
    done = resolve(memory(new), known=Known(same_statement=[memory(old, days_ago=1)]), now=NOW)
    assert done.receipt.outcome is Outcome.STORED
    assert kinds_of(done.changes) == [Add]


def test_newer_value_of_a_slot_supersedes_the_older_at_the_time_of_the_change() -> None:
    old = lives("Hangzhou", days_ago=100)
    new = lives("Shanghai", days_ago=2)
    done = resolve(new, known=Known(same_topic=[old]), now=NOW)
    assert done.receipt.outcome is Outcome.SUPERSEDED
    assert done.changes == (
        Add(replace(new, valid_from=new.happened_at)),
        Supersede(old.id, new.id, valid_to=new.happened_at, reason="value changed"),
    )


def test_same_value_in_other_words_is_merged() -> None:
    old = lives("Shanghai", days_ago=10)
    new = memory("User moved to Shanghai.", subject="user", topic="residence", structured={"value": "shanghai"})
    done = resolve(replace(new, supporters=("s2",)), known=Known(same_topic=[old]), now=NOW)
    assert done.receipt.outcome is Outcome.MERGED
    assert done.receipt.id == old.id


@pytest.mark.parametrize("basis", [Basis.INFERRED, Basis.REFLECTED, Basis.IMPORTED, Basis.OBSERVED])
def test_newer_weaker_evidence_never_overrides_a_statement(basis: Basis) -> None:
    old = lives("Hangzhou", days_ago=100)
    new = lives("Beijing", basis=basis, standing=Standing.PENDING)
    done = resolve(new, known=Known(same_topic=[old]), now=NOW)
    assert done.receipt.outcome is Outcome.QUARANTINED
    added, link = done.changes
    assert isinstance(added, Add)
    assert added.memory.status is Status.QUARANTINED
    assert isinstance(link, Connect)
    assert (link.link.source_id, link.link.type, link.link.target_id) == (new.id, LinkType.CONFLICTS, old.id)


def test_statement_about_an_earlier_time_becomes_history() -> None:
    current = lives("Shanghai", days_ago=10)
    earlier = lives("Beijing", days_ago=400)
    done = resolve(earlier, known=Known(same_topic=[current]), now=NOW)
    assert done.receipt.reasons == ("already_past",)
    assert done.changes[1] == Supersede(earlier.id, current.id, valid_to=current.happened_at, reason="older value")


def test_older_statement_beats_a_later_guess() -> None:
    guess = lives("Beijing", days_ago=1, basis=Basis.INFERRED, standing=Standing.PENDING)
    stated = lives("Shanghai", days_ago=5)
    done = resolve(stated, known=Known(same_topic=[guess]), now=NOW)
    assert isinstance(done.changes[0], Add)
    assert done.changes[0].memory.status is Status.ACTIVE
    assert Retire(guess.id, Status.QUARANTINED, reason="contradicts a stronger statement") in done.changes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User uses Java.", "The user does not use Java."),
        ("用户用 Java。", "用户不用 Java。"),
        ("用户吃辣。", "用户不再吃辣。"),
        ("User has a car.", "The user has no car."),
    ],
)
def test_denial_supersedes_what_it_denies(old: str, new: str) -> None:
    before, after = memory(old, days_ago=7), memory(new)
    done = resolve(after, known=Known(same_statement=[before]), now=NOW)
    assert done.receipt.outcome is Outcome.SUPERSEDED
    assert kinds_of(done.changes) == [Add, Supersede]


def test_denial_by_inference_is_set_aside() -> None:
    before = memory("User uses Java.", days_ago=7)
    after = memory("The user does not use Java.", basis=Basis.INFERRED)
    assert resolve(after, known=Known(same_statement=[before]), now=NOW).receipt.outcome is Outcome.QUARANTINED


def test_other_detail_under_one_topic_keeps_both_and_lowers_the_older() -> None:
    common: dict[str, object] = {"subject": "project:atlas", "topic": "deployment"}
    old = memory("A deploy of Atlas takes 5 minutes.", days_ago=9, confidence=0.9, **common)
    new = memory("A deploy of Atlas takes 12 minutes.", **common)
    done = resolve(new, known=Known(same_topic=[old]), now=NOW)
    assert done.receipt.reasons == ("soft_conflict",)
    assert Revise(old.id, {"confidence": pytest.approx(0.7)}, reason="soft conflict") in done.changes
    assert done.receipt.outcome is Outcome.STORED


def test_two_things_a_user_likes_are_no_conflict() -> None:
    old = memory("User likes tea.", subject="user", topic="drink", kind=Kind.PREFERENCE)
    new = memory("User likes coffee.", subject="user", topic="drink", kind=Kind.PREFERENCE)
    assert kinds_of(resolve(new, known=Known(same_topic=[old]), now=NOW).changes) == [Add]


def test_attribute_given_as_value_has_one_value_whatever_its_topic() -> None:
    given: dict[str, object] = {"subject": "printer", "topic": "paper_tray"}
    old = memory("Tray is A4.", days_ago=5, structured={"value": "A4", "single_valued": True}, **given)
    new = memory("Tray is A3.", structured={"value": "A3", "single_valued": True}, **given)
    assert resolve(new, known=Known(same_topic=[old]), now=NOW).receipt.outcome is Outcome.SUPERSEDED


@pytest.mark.parametrize("known", Trust)
@pytest.mark.parametrize("said", Trust)
@pytest.mark.parametrize("by_value", [False, True], ids=["same words", "same value"])
def test_only_a_user_who_says_the_same_raises_trust_and_nobody_lowers_it(
    known: Trust, said: Trust, *, by_value: bool
) -> None:
    old, new = lives("Hangzhou", trust=known), lives("Hangzhou", session="s2", trust=said)
    if by_value:
        new = replace(new, summary="Home is Hangzhou.")
        done = resolve(new, known=Known(same_topic=[old]), now=NOW)
    else:
        done = resolve(new, known=Known(same_statement=[old]), now=NOW)
    (change,) = done.changes
    assert isinstance(change, Reinforce)
    assert change.trust is (max(known, said) if said >= Trust.USER else known)


def test_what_a_change_puts_an_end_to_is_replaced_unless_it_is_better_founded() -> None:
    old = memory("The API port is 8080.", days_ago=30)
    new = memory("The API port was changed to 9090.")
    done = resolve(new, known=Known(changed=(old,)), now=NOW)
    assert (done.receipt.outcome, done.receipt.related) == (Outcome.SUPERSEDED, (old.id,))
    weaker = replace(new, basis=Basis.INFERRED)
    assert resolve(weaker, known=Known(changed=(old,)), now=NOW).receipt.outcome is Outcome.QUARANTINED


@pytest.mark.parametrize("keys", [{}, {"subject": "user", "topic": "residence"}])
def test_what_comes_from_outside_overrules_nobody_whatever_evidence_is_claimed(keys: dict[str, str]) -> None:
    old = memory("The user lives in Oslo.", days_ago=30, trust=Trust.USER, structured={"value": "Oslo"}, **keys)
    known = Known(same_topic=(old,)) if keys else Known(changed=(old,))
    for trust, outcome in ((Trust.EXTERNAL, Outcome.QUARANTINED), (Trust.AGENT, Outcome.SUPERSEDED)):
        new = memory("The user moved to Rome.", trust=trust, structured={"value": "Rome"}, **keys)
        assert resolve(new, known=known, now=NOW).receipt.outcome is outcome
