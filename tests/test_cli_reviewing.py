"""The commands review and rollback, in process."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.test_cli_naming import Terminal

from afterwit import Afterwit, Task, TaskStatus, Use
from afterwit.clock import utc_now
from afterwit.records import CloseTask, OpenTask, RecordUse, new_id

ERROR = "npm ERR! code ERESOLVE"


def work(terminal: Terminal, session: str = "s1", goal: str = "Install the dependencies") -> str:
    """One task that teaches a lesson; returns its id."""
    id: str = terminal.json("task", "start", goal, "--session", session)["task_id"]
    terminal.run("task", "step", "bash", "npm install", "--failed", "--output", ERROR, "--task", id)
    terminal.run("task", "step", "bash", "npm install --legacy-peer-deps", "--ok", "--task", id)
    terminal.run("task", "finish", "success", "--task", id)
    return id


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_a_review_with_nothing_to_do_says_so(terminal: Terminal) -> None:
    assert terminal.run("review").stdout == "No task waits for a review.\n"
    assert terminal.json("review")["tasks"] == []
    assert terminal.run("review", "--sample", "3").stdout == "No result of a review waits for a look.\n"
    assert "0 rules" in terminal.run("review", "--rules").stdout


def test_results_of_reviews_are_drawn_for_a_look(terminal: Terminal) -> None:
    work(terminal)
    told = terminal.run("review", "--sample", "3").stdout
    assert "--legacy-peer-deps" in told
    assert "pending" in told
    assert len(terminal.json("review", "--sample", "3")["memories"]) == 1


def test_a_task_waits_for_the_model_that_is_configured_and_says_why_it_failed(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal._runner.env |= {  # type: ignore[operator]
        "AFTERWIT_LLM": "openai:none",
        "AFTERWIT_LLM_URL": "http://127.0.0.1:9/v1",
        "AFTERWIT_LLM_TIMEOUT_S": "5",
    }
    id = work(terminal)
    found = terminal.json("review", id[-12:], exit_code=1)
    assert (list(found["failed"]), found["waiting"]) == ([id], 1)
    assert "language model" in found["failed"][id]
    assert terminal.json("review", "--no-llm")["waiting"] == 1
    assert len(terminal.json("list", "--kind", "lesson")["memories"]) == 1


def test_rules_are_made_of_three_sessions(terminal: Terminal) -> None:
    for number in range(3):
        work(terminal, f"s{number}", f"Set up machine {number}")
    assert len(terminal.json("list", "--kind", "rule")["memories"]) == 1
    assert terminal.json("review", "--rules") == {"rules": {}, "promoted": []}


def test_a_task_is_erased_with_what_it_alone_taught(terminal: Terminal) -> None:
    first, second = work(terminal, "s1"), work(terminal, "s2", "Install the tools")
    assert terminal.json("task", "erase", first[-12:], exit_code=2)["error"]["code"] == "invalid_input"
    shown = terminal.json("list", "--kind", "lesson")["memories"]
    erased = terminal.json("task", "erase", first[-12:], "--yes", "--reason", "asked for")
    assert (erased["task_id"], erased["erased"], erased["weakened"]) == (first, [], [row["id"] for row in shown])
    assert terminal.run("task", "erase", second, "--yes").stdout == "Erased the task and 1 memories.\n"
    assert terminal.json("list", "--kind", "lesson")["memories"] == []
    assert terminal.json("task", "list")["tasks"] == []
    terminal.run("task", "erase", first, "--yes", exit_code=4)


def use(home: Path, lesson: str, outcomes: dict[bool, str]) -> None:
    """Tasks that were shown a lesson, or from which it was withheld; "+" for each that succeeded, "-" for others."""
    with Afterwit.open(data_dir=str(home / "data"), embedder="none") as memory:
        now = utc_now()
        with memory.store.transaction(memory.space, now=now, actor="test") as tx:
            for withheld, ends in outcomes.items():
                for end in ends:
                    task = Task(new_id(now), memory.space, "Install it", now - timedelta(hours=1))
                    status = TaskStatus.SUCCEEDED if end == "+" else TaskStatus.FAILED
                    used = Use(new_id(now), memory.space, lesson, now, task.id, withheld=withheld)
                    tx.apply([OpenTask(task), RecordUse(used), CloseTask(task.id, status, "", now)])


def test_what_lessons_are_worth_is_told_with_its_interval(terminal: Terminal, tmp_path: Path) -> None:
    nothing = terminal.run("review", "--lift").stdout
    assert "Shown: 0 of 0 tasks succeeded.\n" in nothing
    assert "nothing to compare yet" in nothing and "AFTERWIT_HOLDOUT_SHARE=0.2" in nothing
    assert terminal.json("review", "--lift")["difference"] is None
    work(terminal)
    (lesson,) = terminal.json("list", "--kind", "lesson")["memories"]
    use(tmp_path, lesson["id"], {False: "+" * 9 + "-", True: "+" * 2 + "-" * 8})
    told = terminal.run("review", "--lift").stdout
    assert "Shown: 9 of 10 tasks succeeded (90 %).\nWithheld: 2 of 10 tasks succeeded (20 %).\n" in told
    assert "Difference: +70.0 %, 95 % interval +" in told and "chance" not in told
    one = terminal.json("review", "--lift", lesson["id"][-12:])
    assert (one["shown"], one["withheld"], round(one["difference"], 2)) == (10, 10, 0.7)
    use(tmp_path, lesson["id"], {False: "-" * 9, True: "+" * 9})
    assert "That may be chance" in terminal.run("review", "--lift").stdout


def test_a_rollback_is_shown_first_and_done_when_said(terminal: Terminal) -> None:
    id = work(terminal)
    shown = terminal.run("rollback", "--task", id[-12:]).stdout
    assert shown.startswith("1 go out of recall:\n")
    assert shown.endswith("Nothing was changed; --yes does it.\n")
    assert len(terminal.json("list", "--kind", "lesson")["memories"]) == 1
    done = terminal.json("rollback", "--task", id, "--yes")
    assert (done["done"], len(done["retired"])) == (True, 1)
    assert terminal.json("list", "--kind", "lesson")["memories"] == []
    assert terminal.run("rollback", "--task", id).stdout == "Nothing of that is remembered.\n"
    terminal.run("update", done["retired"][0]["id"], "--restore")
    assert len(terminal.json("list", "--kind", "lesson")["memories"]) == 1


def test_people_are_spoken_to_in_chinese(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "zh_CN.UTF-8")
    id = work(terminal)
    shown = terminal.run("rollback", "--task", id).stdout
    assert shown.startswith("1 条不再召回：")
    assert shown.endswith("未做任何修改；加 --yes 执行。\n")


@pytest.mark.parametrize(
    "words",
    [
        ("review", "4f1c09ab77d2", "--rules"),
        ("review", "--lift", "--sample", "3"),
        ("review", "--limit", "0"),
        ("review", "--llm"),
        ("rollback",),
        ("rollback", "--since", "yesterday-ish"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_next_step(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert "Do: " in terminal.run(*words, exit_code=2).stderr or words[-1] == "0"


def test_an_unknown_task_is_not_found(terminal: Terminal) -> None:
    terminal.run("review", "4f1c09ab77d2", exit_code=4)
    terminal.run("rollback", "--task", "4f1c09ab77d2", exit_code=4)
    terminal.run("task", "erase", "4f1c09ab77d2", "--yes", exit_code=4)
    terminal.run("review", "--lift", "4f1c09ab77d2", exit_code=4)
