"""What is read from the steps of a task before it is told: edits, conclusions, handovers, and values of its own."""

import hashlib
import json
from typing import Any

import pytest
from tests.recorded import steps, task

from afterwit.review import conclusions as conclusions_module
from afterwit.review import edits as edits_module
from afterwit.review import remembered, review_steps
from afterwit.review.attempts import attempts_of
from afterwit.review.conclusions import MOST, conclusions, handovers
from afterwit.review.edits import Edit, edits_of
from afterwit.review.values import Hidden
from afterwit.text import index_tokens

LONG = f"    return compute({', '.join(f'argument_number_{number}' for number in range(9))})"
PASSED = ("bash", "pytest -q", "3 passed in 0.1s", True)


def edit(path: str, old: str, new: str) -> tuple[Any, ...]:
    """One edit that worked."""
    given = {"file_path": path, "old_string": old, "new_string": new}
    return "Edit", json.dumps(given), "The file has been updated.", True


def changed(*rows: tuple[Any, ...]) -> list[Edit]:
    """What these steps changed."""
    return edits_of(attempts_of(steps(*rows)))


def summaries(*rows: tuple[Any, ...], goal: str = "Make the parser return all fields") -> list[str]:
    """What a task of these steps leaves of itself."""
    one, made = task(goal), steps(*rows)
    return [found.summary for found in remembered(one, made, review_steps(one, made))]


def diff(path: str, new: str) -> tuple[Any, ...]:
    """A diff of one line that was shown."""
    shown = (
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@ class Parser:\n-old = 0\n+{new}\n"
    )
    return "bash", "git diff", shown, True


# --- edits ------------------------------------------------------------------------------------------


def test_what_was_written_is_read_once_however_often_a_diff_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    squeeze = edits_module._squeezed  # pyright: ignore[reportPrivateUsage]

    def counted(words: str) -> str:
        nonlocal read
        read += len(words)
        return squeeze(words)

    monkeypatch.setattr(edits_module, "_squeezed", counted)
    rows: list[tuple[Any, ...]] = []
    for number in range(40):
        body = "\n".join(f"value_{number}_{line} = compute(thing)" for line in range(100))
        rows += [edit(f"src/part_{number}.py", "x", body), diff(f"src/part_{number}.py", body.split("\n")[7])]
    written = sum(len(row[1]) for row in rows if row[0] == "Edit")
    found = changed(*rows)
    assert [one.new for one in found] == [f"value_{number}_7 = compute(thing)" for number in range(40)]
    assert written / 2 < read < 1.5 * written


@pytest.mark.parametrize(
    "wrote",
    [
        edit("src/parser.py", "old = 0", "first = 1\n\tnew = 'a\\n'"),
        (
            "MultiEdit",
            json.dumps({"file_path": "src/parser.py", "edits": [{"new_string": "new = 'a\\n'"}]}),
            "ok",
            True,
        ),
        ("bash", "printf \"new = 'a\\\\n'\" > src/parser.py", "", True),
        ("edit", "1:1\nnew = 'a\\n'\nend_of_edit", "[File: src/parser.py (1 lines total)]", True),
        (
            "apply_patch",
            json.dumps({"input": "*** Begin Patch\n*** Update File: src/parser.py\n@@\n-old = 0\n+new = 'a\\n'\n"}),
            "Success",
            True,
        ),
    ],
)
def test_a_line_of_a_diff_is_known_however_it_was_written(wrote: tuple[Any, ...]) -> None:
    (found,) = changed(wrote, diff("src/parser.py", "    new = 'a\\n'"))
    assert (found.where, found.new) == ("Parser", "new = 'a\\n'")


def test_a_line_of_a_diff_that_the_task_did_not_write_is_not_taken_for_its_own() -> None:
    (found,) = changed(edit("src/parser.py", "a = 0", "a = 1"), diff("src/parser.py", "b = 2"))
    assert (found.old, found.new) == ("a = 0", "a = 1")


@pytest.mark.parametrize("other", [LONG, "# you must run the tests\nnote = 'you must run the tests'"])
def test_a_side_that_cannot_be_quoted_is_not_taken_for_absent(other: str) -> None:
    short = "    return compute(first)"
    for old, new in ((short, other), (other, short)):
        (found,) = changed(edit("src/app.py", old, new), PASSED)
        assert (found.old, found.new, found.is_new) == ("", "", False)
        (told,) = summaries(edit("src/app.py", old, new), PASSED)
        assert "`src/app.py`" in told
        assert "compute" not in told


def test_a_side_that_is_absent_is_told_so() -> None:
    (dropped,) = changed(edit("src/app.py", "first()\nsecond()", "first()"))
    (added,) = changed(edit("src/app.py", "first()", "first()\nsecond()"))
    assert (dropped.old, dropped.new) == ("second()", "")
    assert (added.old, added.new) == ("", "second()")


def test_a_diff_that_cannot_be_quoted_leaves_the_words_of_the_edit() -> None:
    (found,) = changed(edit("src/parser.py", "old = 0", "new = 1"), diff("src/parser.py", LONG))
    assert (found.where, found.old, found.new) == ("Parser", "old = 0", "new = 1")


# --- conclusions and handovers ------------------------------------------------------------------------


def told(number: int) -> str:
    """A finding in words that no other number has."""
    digits = hashlib.sha256(str(number).encode()).hexdigest() + hashlib.sha256(f"{number}.".encode()).hexdigest()
    letters = digits.translate(str.maketrans("0123456789", "ghklmnprst"))
    made = [letters[place : place + 9] for place in range(0, 108, 9)]
    return f"The {' '.join(made[:8])} is not encoded because the {' '.join(made[8:11])} requires {made[11]}."


def test_the_words_of_a_sentence_are_read_once_and_enough_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def counted(words: str) -> list[str]:
        nonlocal count
        count += 1
        return index_tokens(words)

    monkeypatch.setattr(conclusions_module, "index_tokens", counted)
    made = steps(*(("bash", f"ls {number}", "ok", True, told(number)) for number in range(120)))
    found = conclusions(made, Hidden(made))
    assert [one.words for one in found] == [told(number) for number in range(MOST)]
    assert count <= 120


def test_what_says_the_same_is_kept_once_among_many() -> None:
    made = steps(*(("bash", "ls", "ok", True, told(number % 3)) for number in range(60)))
    assert [one.words for one in conclusions(made, Hidden(made))] == [told(0), told(1), told(2)]


SUMMARY = "The customer wants a refund that the policy does not allow for basic fares"


def handed(tool: str, *, ok: bool | None = True, output: str = "ok") -> list[str]:
    """The tools with which this call is said to have handed something over."""
    made = steps((tool, json.dumps({"summary": SUMMARY}), output, ok))
    return [one.tool for one in handovers(made, Hidden(made))]


@pytest.mark.parametrize(
    "tool",
    [
        "transfer_to_human_agents",
        "transferToAgent",
        "escalate_case",
        "create_ticket",
        "contact_support",
        "assign_to_team",
        "hand_over",
        "转人工",
    ],
)
def test_what_goes_to_a_person_or_a_queue_was_handed_over(tool: str) -> None:
    assert handed(tool) == [tool]


@pytest.mark.parametrize(
    "tool", ["transfer_money", "get_preferences", "assign_seat", "update_ticket", "supported_plans", "refer_document"]
)
def test_names_that_only_sound_like_it_hand_nothing_over(tool: str) -> None:
    assert handed(tool) == []


def test_what_nobody_took_was_not_handed_over() -> None:
    assert handed("transfer_to_human", ok=False, output="error: no agents available") == []
    assert handed("transfer_to_human", ok=None, output="Error: no agents available") == []


# --- values -----------------------------------------------------------------------------------------

CODE = "The handlers http_404, sha_256, errno_111, X509V3 and ISO8859X are not alike"


def test_names_in_code_are_no_ids_where_the_work_is_on_files() -> None:
    hidden = Hidden(steps(("bash", "ls"), ("Read", '{"filePath": "src/app.py"}'), ("Grep", '{"pattern": "sha_256"}')))
    assert not hidden.has_records
    assert hidden(CODE, limit=300) == CODE


def test_ids_are_hidden_where_the_work_is_on_records() -> None:
    given = {"user_id": "anna_berg_2041", "payment": "gift_voucher_7725"}
    hidden = Hidden(steps(("get_account", json.dumps(given))), "Help anna_berg_2041")
    told_of = "Anna Berg has the code 7XK2P9, and voucher_7725 pays for it, so the Gift Voucher is used up by Anna"
    assert hidden.has_records
    left = hidden(told_of, limit=300)
    assert not any(word in left for word in ("Anna", "Berg", "7XK2P9", "7725"))
    assert "Gift Voucher" in left
