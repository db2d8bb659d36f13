"""A lesson that is written as one sentence is followed as well as one that was taken apart."""

from dataclasses import replace

import pytest

from afterwit.records import Kind, Step
from afterwit.review.following import follows
from afterwit.testing.samples import NOW, SPACE, memory


@pytest.mark.parametrize(
    ("sentence", "command", "is_followed"),
    [
        ("shipit deploy needs --force, otherwise it finds no target region.", "shipit deploy cart --force", True),
        ("shipit deploy needs --force, otherwise it finds no target region.", "shipit deploy cart", False),
        ("shipit deploy needs --force, otherwise it finds no target region.", "git push --force", False),
        ("shop.py backup needs --fast, otherwise it fails.", "python shop.py backup --fast", True),
        ("shop.py backup needs --fast, otherwise it fails.", "python shop.py backup", False),
        ("psql on db.acme.dev needs sslmode=require.", 'psql "host=db.acme.dev sslmode=require"', True),
        ("Always keep the tests fast.", "pytest --fast", False),
    ],
)
def test_a_sentence_advises_its_flags_for_the_tool_it_names(sentence: str, command: str, is_followed: bool) -> None:
    lesson = replace(memory(1, sentence, kind=Kind.LESSON), structured={})
    assert follows(Step("s", SPACE, "t", 0, "bash", NOW, command), lesson) is is_followed


@pytest.mark.parametrize("action", ["leave out `--fast`", "去掉 `--fast`", "drop `--fast`"])
def test_what_is_to_be_left_out_is_not_followed_by_doing_it(action: str) -> None:
    lesson = replace(memory(1, "Advice.", kind=Kind.LESSON), structured={"action": action})
    assert not follows(Step("s", SPACE, "t", 0, "bash", NOW, "python shop.py backup --fast"), lesson)


def test_what_is_advised_for_one_service_is_not_followed_by_doing_it_at_another() -> None:
    advised = {"action": "add the header `Authorization: Bearer $TOKEN`", "domain": "billing.acme.dev"}
    lesson = replace(memory(1, "Advice.", kind=Kind.LESSON), structured=advised)
    for host, is_followed in (("billing", True), ("orders", False)):
        command = f'curl -H "Authorization: Bearer $TOKEN" https://{host}.acme.dev/items'
        assert follows(Step("s", SPACE, "t", 0, "bash", NOW, command), lesson) is is_followed
