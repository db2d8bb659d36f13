"""Rules: made of what independent sessions agree on, weakened by what speaks against, the same on every run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from afterwit.records import Basis, Kind, Link, LinkType, Memory, Source, Standing, Status, Task, Trust
from afterwit.review.rules import RuleDraft, agree, rules_from
from afterwit.testing.samples import NOW, SPACE, memory, memory_id

SITUATION = "pip install fails with externally-managed-environment"
ACTION = "Create a virtual environment with `python -m venv` first."


def lesson(number: int, action: str = ACTION, *, situation: str = SITUATION, **fields: Any) -> Memory:
    values: dict[str, Any] = {
        "kind": Kind.LESSON,
        "structured": {"situation": situation, "action": action, "result": "works", "signature": "pip: managed"},
        "source": Source("review", f"t{number}"),
        "supporters": (f"s{number}",),
        "basis": Basis.OBSERVED,
    }
    return memory(number, f"When {situation}: {action}", **values | fields)


def made(draft: RuleDraft, number: int = 90) -> tuple[Memory, list[Link]]:
    """The rule and its links as the service stores them."""
    rule = memory(number, **draft.fields)
    return rule, linked(rule.id, draft.members)


def linked(rule_id: str, members: Sequence[str]) -> list[Link]:
    return [Link(SPACE, rule_id, LinkType.DERIVED_FROM, id, NOW) for id in members]


def one(drafts: list[RuleDraft]) -> RuleDraft:
    (draft,) = drafts
    return draft


THREE = [lesson(number) for number in (1, 2, 3)]


def test_three_independent_sessions_make_a_rule() -> None:
    assert rules_from(THREE[:2], [], {}) == []
    draft = one(rules_from(THREE, [], {}))
    assert (draft.what, draft.rule_id, draft.evidence, draft.members) == (
        "new",
        "",
        3,
        tuple(map(memory_id, (1, 2, 3))),
    )
    rule, _ = made(draft)
    assert rule.summary == f"Rule: {THREE[0].summary}"
    assert (rule.kind, rule.basis, rule.standing, rule.trust) == (
        Kind.RULE,
        Basis.REFLECTED,
        Standing.PENDING,
        Trust.AGENT,
    )
    assert (rule.confidence, rule.structured["evidence"], rule.structured["action"]) == (0.8, 3, ACTION)
    assert rule.supporters == ("s1", "s2", "s3")


def test_one_lesson_that_three_sessions_found_is_enough() -> None:
    assert one(rules_from([lesson(1, supporters=("a", "b", "c"))], [], {})).evidence == 3


@pytest.mark.parametrize(
    "memories",
    [
        [replace(one, supporters=("same",)) for one in THREE],
        [replace(one, supporters=(one.source.ref,)) for one in THREE],
        [replace(one, trust=Trust.EXTERNAL) for one in THREE],
        [replace(one, scope=f"project:{one.id}") for one in THREE],
        [*THREE[:2], replace(THREE[2], standing=Standing.REFUTED)],
        [*THREE[:2], replace(THREE[2], status=Status.FORGOTTEN)],
    ],
    ids=["one session", "tasks of one session", "from outside", "other scopes", "refuted", "forgotten"],
)
def test_what_is_not_independent_trusted_and_standing_makes_none(memories: list[Memory]) -> None:
    tasks = {f"t{number}": Task(f"t{number}", SPACE, "goal", NOW, session="same") for number in (1, 2, 3)}
    assert rules_from(memories, [], tasks) == []


def test_lessons_in_other_words_agree_when_fault_and_action_do() -> None:
    others = [
        "First create a virtual environment: python -m venv.",
        "Use python -m venv to create a virtual environment.",
    ]
    assert one(rules_from([THREE[0], lesson(2, others[0]), lesson(3, others[1])], [], {})).evidence == 3


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"structured": {"key": "k", "action": "quite different"}}, True),
        ({"action": "Use --break-system-packages."}, False),
        ({"action": "Do not create a virtual environment with `python -m venv`."}, False),
        ({"kind": Kind.FAILURE}, False),
    ],
)
def test_agreement(fields: dict[str, Any], expected: bool) -> None:
    known = replace(THREE[0], structured={**THREE[0].structured, "key": "k"})
    assert agree(known, lesson(2, **{"action": ACTION, **fields})) is expected


def test_chinese_lessons_make_a_chinese_rule() -> None:
    lessons = [lesson(number, "先清空缓存再登录", situation="登录页报 CSRF 校验失败") for number in (1, 2, 3)]
    lessons = [replace(one, summary="登录页报 CSRF 校验失败时，先清空缓存再登录。") for one in lessons]
    assert one(rules_from(lessons, [], {})).fields["summary"] == "规则：登录页报 CSRF 校验失败时，先清空缓存再登录。"


def test_a_second_run_changes_nothing() -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    assert rules_from([*THREE, rule], links, {}) == []


def test_a_fourth_session_makes_it_stronger_and_is_linked() -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    draft = one(rules_from([*THREE, lesson(4), rule], links, {}))
    assert (draft.what, draft.rule_id, draft.unlinked, draft.evidence) == ("stronger", rule.id, (memory_id(4),), 4)
    assert draft.fields["confidence"] == pytest.approx(5 / 6, abs=1e-6)
    assert draft.fields["structured"]["evidence"] == 4


def test_a_rule_is_proved_with_one_of_its_lessons() -> None:
    proved = [replace(THREE[0], standing=Standing.CONFIRMED), *THREE[1:]]
    assert one(rules_from(proved, [], {})).fields["standing"] is Standing.CONFIRMED
    rule, links = made(one(rules_from(THREE, [], {})))
    assert one(rules_from([*proved, rule], links, {})).fields == {"standing": Standing.CONFIRMED}
    # but not after it failed itself
    assert "standing" not in one(rules_from([*proved, replace(rule, harmed=1.0)], links, {})).fields


def test_what_speaks_against_weakens_and_ends_it() -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    rule = replace(rule, standing=Standing.CONFIRMED)
    against = [lesson(10 + n, "Do not create a virtual environment with `python -m venv`.") for n in range(6)]
    weaker = one(rules_from([*THREE, rule, *against[:1]], links, {}))
    assert (weaker.what, weaker.fields["confidence"], weaker.against) == (
        "weaker",
        pytest.approx(4 / 6, abs=1e-6),
        (against[0].id,),
    )
    assert "standing" not in weaker.fields
    doubted = one(rules_from([*THREE, rule, *against[:2]], links, {}))
    assert doubted.fields["standing"] is Standing.PENDING
    ended = one(rules_from([*THREE, rule, *against[:4]], links, {}))
    assert (ended.what, ended.fields["status"]) == ("expired", Status.EXPIRED)
    # From the start, so much against it would have made none.
    assert rules_from([*THREE, *against[:2]], [], {}) == []


def test_a_rule_falls_with_its_lessons_and_rises_with_new_ones() -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    rule = replace(rule, standing=Standing.CONFIRMED)
    fallen = [replace(THREE[0], standing=Standing.REFUTED), *THREE[1:]]
    assert one(rules_from([*fallen, rule], links, {})).fields["standing"] is Standing.PENDING
    gone = one(rules_from([rule], links, {}))
    assert (gone.what, gone.fields["status"]) == ("expired", Status.EXPIRED)
    expired = replace(rule, **gone.fields)
    assert rules_from([expired], links, {}) == []
    revived = one(rules_from([*THREE, expired], links, {}))
    assert (revived.what, revived.fields["status"], revived.fields["standing"]) == (
        "revived",
        Status.ACTIVE,
        Standing.PENDING,
    )


@pytest.mark.parametrize("fields", [{"standing": Standing.REFUTED}, {"status": Status.FORGOTTEN}])
def test_a_rule_that_was_taken_out_is_not_made_again(fields: dict[str, Any]) -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    assert rules_from([*THREE, lesson(4), replace(rule, **fields)], links, {}) == []


def test_a_rule_that_a_user_vouches_for_stays() -> None:
    rule, links = made(one(rules_from(THREE, [], {})))
    vouched = replace(rule, trust=Trust.CONFIRMED, standing=Standing.CONFIRMED, confidence=1.0)
    fields = one(rules_from([vouched], links, {})).fields
    assert not {"status", "standing", "confidence"} & set(fields)


def test_pools_and_conditions_that_differ_are_dropped_where_the_rule_holds_for_both() -> None:
    mixed = [
        replace(THREE[0], role="coder", applies={"os": "linux", "tools": {"pip": "23"}}),
        replace(THREE[1], role="coder", applies={"os": "linux"}),
        replace(THREE[2], role="tester", applies={"os": "linux"}),
    ]
    fields = one(rules_from(mixed, [], {})).fields
    assert (fields["role"], fields["applies"]) == ("", {"os": "linux"})
    assert one(rules_from([replace(m, role="coder") for m in mixed], [], {})).fields["role"] == "coder"
