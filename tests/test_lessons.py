"""What finished tasks teach by rules alone, and what they must not teach."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recorded import NAMES, everything, read, review, steps, task

from afterwit.records import Basis, Kind, TaskStatus
from afterwit.review import Finding, review_steps
from afterwit.review.corrections import said_by_user


def lessons(*rows: tuple[Any, ...], **environment: Any) -> list[Finding]:
    """The lessons of a task of these steps."""
    return [one for one in review(*rows, **environment).findings if one.kind is Kind.LESSON]


# --- recorded trajectories ------------------------------------------------------------------------


def _meets(finding: Finding, wanted: dict[str, Any]) -> bool:
    right_sort = finding.from_user if wanted.get("user") else finding.kind.value == wanted["kind"]
    return right_sort and all(words in finding.summary for words in wanted["all"])


def test_there_are_trajectories_of_many_sorts() -> None:
    assert len(NAMES) >= 12
    assert sum(len(read(name).steps) >= 30 for name in NAMES) >= 3
    assert sum(read(name).expect.get("language") == "zh" for name in NAMES) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_task_teaches_what_it_should(name: str) -> None:
    recorded = read(name)
    findings = review_steps(recorded.task, recorded.steps).findings
    missing = [want for want in recorded.expect["findings"] if not any(_meets(one, want) for one in findings)]
    assert not missing, [one.summary for one in findings]
    assert recorded.expect.get("at_least", 0) <= len(findings) <= recorded.expect["at_most"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_task_teaches_nothing_of_its_own_noise(name: str) -> None:
    recorded = read(name)
    found = everything(review_steps(recorded.task, recorded.steps))
    assert not [words for words in recorded.expect["forbidden"] if words in found]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_task_is_judged_by_its_own_signs(name: str) -> None:
    recorded = read(name)
    if "outcome" in recorded.expect:
        assert review_steps(recorded.task, recorded.steps).outcome == recorded.expect["outcome"]


@pytest.mark.parametrize("name", NAMES)
def test_findings_are_whole(name: str) -> None:
    recorded = read(name)
    for one in review_steps(recorded.task, recorded.steps).findings:
        assert one.summary.strip() and len(one.summary) <= 600
        assert one.key and one.positions == tuple(sorted(set(one.positions)))
        assert 0 < one.confidence <= 1
        if one.kind is Kind.LESSON:
            named = {"situation", "action", "result", "nature", "signature", "task_type", "tool", "domain", "key"}
            assert named <= set(one.structured)
            assert one.structured["nature"] in ("technique", "pitfall")
            assert one.structured["key"] == one.key


def test_chinese_tasks_teach_in_chinese_and_english_ones_in_english() -> None:
    for name in NAMES:
        recorded = read(name)
        chinese = recorded.expect.get("language") == "zh"
        for one in review_steps(recorded.task, recorded.steps).findings:
            assert bool(re.search("[\u4e00-\u9fff]", one.summary)) == chinese


# --- lessons --------------------------------------------------------------------------------------

_NO_YAML = "ModuleNotFoundError: No module named 'yaml'"


def test_the_same_lesson_of_two_tasks_has_one_key() -> None:
    first = lessons(
        ("bash", "python /home/ann/a/run.py", f'  File "/home/ann/a/run.py", line 3\n{_NO_YAML}', False),
        ("bash", "pip install pyyaml", "ok", True),
        ("bash", "python /home/ann/a/run.py", "done", True),
    )
    second = lessons(
        ("Bash", '{"command": "cd b && python other.py"}', f'  File "other.py", line 99\n{_NO_YAML}', False),
        ("Bash", '{"command": "pip install pyyaml"}', "ok", True),
        ("Bash", '{"command": "cd b && python other.py"}', "ready", True),
    )
    assert [one.key for one in first] == [one.key for one in second] != []


def test_each_fault_on_the_way_gets_its_own_fix() -> None:
    found = lessons(
        ("bash", "make test", _NO_YAML, False),
        ("bash", "pip install pyyaml", "ok", True),
        ("bash", "make test", "sqlite3.OperationalError: no such table: users", False),
        ("bash", "make migrate", "ok", True),
        ("bash", "make test", "4 passed", True),
    )
    assert {one.structured["action"] for one in found} == {
        "first run `pip install pyyaml`",
        "first run `make migrate`",
    }


def test_what_did_not_help_is_not_advised() -> None:
    found = lessons(
        ("bash", "pytest", "sqlite3.OperationalError: no such table: users", False),
        ("bash", "make seed", "ok", True),
        ("bash", "pytest", "sqlite3.OperationalError: no such table: users", False),
        ("bash", "make migrate", "ok", True),
        ("bash", "pytest", "4 passed", True),
    )
    assert [one.structured["action"] for one in found] == ["first run `make migrate`"]


@pytest.mark.parametrize(
    ("failed", "output", "worked", "action"),
    [
        ("npm ci", "npm ERR! code ERESOLVE", "npm ci --legacy-peer-deps", "add `--legacy-peer-deps`"),
        ("npm run build", "JavaScript heap out of memory", "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
         "set `NODE_OPTIONS=--max-old-space-size=4096`"),
        ("npm test", "ENOENT: no such file or directory, open '/x/package.json'", "cd web && npm test",
         "run it in the directory `web`"),
        ("pip install psycopg2", "Failed building wheel for psycopg2", "pip install psycopg2-binary",
         "use `psycopg2-binary` instead of `psycopg2`"),
        ("python a.py", "bash: python: command not found", "python3 a.py",
         "run `python3 a.py` instead of `python a.py`"),
        ("pytest -q --timeout 5", "pytest: error: unrecognized arguments: --timeout", "pytest -q",
         "leave out `--timeout 5`"),
        ("git push", "fatal: The current branch x has no upstream branch.", "git push -u origin x",
         "add `-u origin x`"),
    ],
)  # fmt: skip
def test_the_difference_between_two_commands_is_the_advice(failed: str, output: str, worked: str, action: str) -> None:
    found = lessons(("bash", failed, output, False), ("bash", worked, "ok", True))
    assert [one.structured["action"] for one in found] == [action]


@pytest.mark.parametrize(
    "rows",
    [
        [("bash", "gti push", "gti: command not found", False), ("bash", "git push", "ok", True)],
        [("bash", "cat a/b.py", "cat: a/b.py: No such file or directory", False), ("bash", "cat src/b.py", "x", True)],
        [("bash", "python sc/a.py", "can't open file: No such file or directory", False),
         ("bash", "python scripts/a.py", "x", True)],
        [("bash", "make tset", "make: *** No rule to make target 'tset'.", False), ("bash", "make test", "ok", True)],
        [("bash", "pytest", "1 failed", False), ("bash", "pytest", "9 passed", True)],
        [("bash", "pytest", "1 failed", False), ("Edit", '{"file_path": "a.py", "new_string": "x"}', "ok", True),
         ("bash", "pytest", "9 passed", True)],
        [("grep", "Traceback", "exit code 1", False), ("grep", "traceback", "a.py:1", True)],
        [("bash", "git show 1a2b3c4", "fatal: bad revision '1a2b3c4'", False), ("bash", "git show 1a2b3d5", "x", True)],
        [("bash", "gh issue view 123", "GraphQL: Could not resolve: HTTP 404", False),
         ("bash", "gh issue view 132", "title", True)],
        [("bash", "cat x.txt", "cat: x.txt: No such file or directory", False), ("user", "ok")],
    ],
)  # fmt: skip
def test_one_off_noise_teaches_nothing(rows: list[tuple[Any, ...]]) -> None:
    assert review(*rows).findings == ()


def test_a_command_that_works_at_the_fourth_attempt_is_flaky() -> None:
    row = ("bash", "curl -fsS https://h.example/x", "curl: (56) Connection reset by peer", False)
    found = lessons(row, row, row, (*row[:2], "data", True))
    assert len(found) == 1
    assert "flaky" in found[0].summary
    assert lessons(row, row, (*row[:2], "data", True)) == []


_RESET = "Unable to connect to the server: read: connection reset by peer"


def test_another_flag_does_not_explain_that_a_connection_held() -> None:
    row = ("bash", "kubectl rollout status deployment/web", _RESET, False)
    better = ("bash", "kubectl rollout status deployment/web --timeout=60s", "web Running", True)
    assert lessons(row, better) == []
    assert lessons(row, row, row, better)[0].structured["action"] == "add `--timeout=60s`"


def test_what_helped_is_told_against_the_attempt_that_is_most_like_it() -> None:
    fault = "npm error code ERESOLVE"
    ways = ["npm install a", "npm install a --prefer-offline", "npm install a --no-audit"]
    found = lessons(
        *(("bash", way, fault, False) for way in ways), ("bash", "npm install a --legacy-peer-deps", "", True)
    )
    assert [one.structured["action"] for one in found] == ["add `--legacy-peer-deps`"]
    assert "`npm install a`" in found[0].summary


def test_going_back_to_what_had_failed_is_not_what_helped() -> None:
    fault = "sqlite3.OperationalError: no such table: ledger"
    found = lessons(
        ("bash", "python manage.py report ledger", fault, False),
        ("bash", "python manage.py report ledger --database replica", fault, False),
        ("bash", "python manage.py migrate", "ok", True),
        ("bash", "python manage.py report ledger", "14 rows", True),
    )
    assert [one.structured["action"] for one in found] == ["first run `python manage.py migrate`"]


def test_what_only_led_to_another_fault_and_was_given_up_is_no_fix() -> None:
    found = lessons(
        ("bash", "python shop.py report", "shop.py: error: no EUR rate in source 'bank'", False),
        ("bash", "python shop.py report --currency USD", "shop.py: error: no USD rate in source 'bank'", False),
        ("bash", "python shop.py report --rates ecb", "4812 EUR", True),
    )
    assert "add `--currency USD`" not in [one.structured["action"] for one in found]
    assert any("--rates ecb" in one.structured["action"] for one in found)


def test_a_setting_within_one_argument_is_told_by_itself() -> None:
    fault = "FATAL:  no pg_hba.conf entry for host, no encryption"
    found = lessons(
        ("bash", 'psql "host=db dbname=shop user=app" -c "SELECT 1"', fault, False),
        ("bash", 'psql "host=db dbname=shop user=app sslmode=disable" -c "SELECT 1"', fault, False),
        ("bash", 'psql "host=db dbname=shop user=app sslmode=require" -c "SELECT 1"', "1", True),
    )
    assert [one.structured["action"] for one in found] == ["add `sslmode=require`"]


def test_a_folder_of_the_checkout_stays_in_a_quoted_command() -> None:
    fault = "FileNotFoundError: [Errno 2] No such file or directory: 'convert.toml'"
    found = lessons(
        ("bash", "python ../etl/convert.py ../data/x.csv", fault, False),
        ("bash", "cd etl && python convert.py ../data/x.csv", "done", True),
    )
    assert "../data/x.csv" in found[0].summary


@pytest.mark.parametrize(
    ("failed", "output", "between", "action"),
    [
        ("terraform plan", "Error: Inconsistent dependency lock file", "terraform init -upgrade",
         "first run `terraform init -upgrade`"),
        ("npm run dev", "Error: listen EADDRINUSE: address already in use", "lsof -ti:3000 | xargs kill -9",
         "first run `lsof -ti:3000 | xargs kill -9`"),
        ("git commit -m x", "- hook id: ruff\nruff failed", "ruff check --fix . | tail -3",
         "first run `ruff check --fix .`"),
        ("cmake -B build", "CMake Error: x is missing", "git submodule update --init",
         "first run `git submodule update --init`"),
        ("curl -s https://h.example/a", "HTTP/1.1 429 Too Many Requests", "sleep 30",
         "wait (`sleep 30`) and try again"),
    ],
)  # fmt: skip
def test_what_was_done_before_the_same_worked_is_the_advice(
    failed: str, output: str, between: str, action: str
) -> None:
    found = lessons(("bash", failed, output, False), ("bash", between, "ok", True), ("bash", failed, "ok", True))
    assert [one.structured["action"] for one in found] == [action]


def test_two_unknown_things_in_between_prove_nothing() -> None:
    row = ("bash", "./start", "error: x broke", False)
    found = lessons(row, ("bash", "./one", "", True), ("bash", "./two", "", True), ("bash", "./start", "up", True))
    assert found == []


def test_another_script_for_a_missing_one_is_learned() -> None:
    found = lessons(
        ("bash", "yarn build", 'error Command "build" not found.', False), ("bash", "yarn compile", "", True)
    )
    assert [one.structured["action"] for one in found] == ["run `yarn compile` instead of `yarn build`"]


def test_another_program_for_the_same_files_is_learned() -> None:
    row = ("bash", "wkhtmltopdf a.html a.pdf", "Segmentation fault", False)
    found = lessons(row, row, ("bash", "weasyprint a.html a.pdf", "", True))
    assert [one.structured["action"] for one in found] == ["run `weasyprint a.html a.pdf` instead of `wkhtmltopdf`"]


def test_a_number_is_advice_only_after_an_option() -> None:
    used = "[Errno 98] Address already in use"
    found = lessons(("bash", "uvicorn a:b --port 8000", used, False), ("bash", "uvicorn a:b --port 8001", "up", True))
    assert [one.structured["action"] for one in found] == ["give another value for `--port`"]
    assert lessons(("bash", "gh pr view 41", "not found", False), ("bash", "gh pr view 14", "title", True)) == []


def test_the_form_of_a_time_is_advice_and_the_time_is_not() -> None:
    error = "MCP error -32602: Invalid arguments: start must be ISO 8601"
    found = lessons(
        ("mcp__cal__create_event", '{"title": "x", "start": "3 June"}', error, False),
        ("mcp__cal__create_event", '{"title": "x", "start": "2025-06-03T09:00:00Z"}', "created", True),
    )
    assert [one.structured["action"] for one in found] == ["give `start` in the form `YYYY-MM-DDThh:mm:ssZ`"]


def test_a_dead_end_that_came_twice_is_a_warning() -> None:
    row = ("bash", "git push", "remote: Repository not found.", False)
    found = review(row, ("bash", "git push --all", "remote: Repository not found.", False), ("bash", "ls", "a", True))
    assert [one.kind for one in found.findings] == [Kind.FAILURE]
    assert {"situation", "action", "result", "signature"} <= set(found.findings[0].structured)
    assert review(row, ("bash", "make all", "ok", True)).findings == ()


def test_the_cause_that_the_agent_named_is_kept_when_only_code_was_changed() -> None:
    found = lessons(
        ("bash", "python load.py", "Traceback (most recent call last):\nValueError: bad row", False),
        ("Edit", '{"file_path": "load.py", "old_string": "a", "new_string": "b"}', "ok", True,
         "It failed because the export writes decimal commas."),
        ("bash", "python load.py", "ok", True),
    )  # fmt: skip
    assert len(found) == 1
    assert "decimal commas" in found[0].summary
    assert found[0].basis is Basis.INFERRED


def test_a_cause_is_told_of_the_failure_that_it_was_said_of() -> None:
    found = lessons(
        ("bash", "python load.py", "Traceback (most recent call last):\nValueError: bad row", False),
        ("Edit", '{"file_path": "load.py", "old_string": "a"}', "String to replace not found in file.", False),
        (
            "Edit",
            '{"file_path": "load.py", "old_string": "a b"}',
            "ok",
            True,
            "It failed because the text has a space.",
        ),
        ("bash", "python load.py", "ok", True),
    )
    assert not any("ValueError" in one.summary and "space" in one.summary for one in found)


def test_what_was_fed_to_a_program_stays_with_the_task() -> None:
    found = lessons(("bash", "./check", "EXECUTION TIMED OUT", False), ("bash", "echo 'a8Fq2' | ./check", "Pass", True))
    assert len(found) == 1
    assert "… | ./check" in found[0].summary
    assert "a8Fq2" not in str(found[0])


def test_a_script_of_the_task_itself_is_not_quoted() -> None:
    found = lessons(
        ("Write", '{"file_path": "/w/repro_bug.py", "content": "import yaml"}', "ok", True),
        ("bash", "python repro_bug.py", _NO_YAML, False),
        ("bash", "pip install pyyaml", "", True),
        ("bash", "python repro_bug.py", "x", True),
    )
    assert [one.summary.count("repro_bug") for one in found] == [0]


def test_the_fault_that_the_task_was_given_for_is_no_lesson() -> None:
    rows = (
        ("bash", "python cart.py", "Traceback (most recent call last):\nDecimalException: total_with_tax", False),
        ("Edit", '{"file_path": "cart.py", "new_string": "b"}', "ok", True, "It failed because tax was a float."),
        ("bash", "python cart.py", "ok", True),
    )
    assert review(*rows, goal="Fix the DecimalException in the cart").findings == ()
    assert len(review(*rows, goal="Speed the cart up").findings) == 1


def test_conditions_are_recorded_where_the_advice_depends_on_them() -> None:
    rows = (("bash", "pytest", "psql: connection refused", False), ("bash", "brew services start postgresql", "", True),
            ("bash", "pytest", "3 passed", True))  # fmt: skip
    found = lessons(*rows, os="darwin", repo="shop", tools={"pytest": "8.3.2"})[0]
    assert dict(found.applies) == {"tool": "pytest", "version": "8.3.2", "os": "darwin"}
    rows = (("bash", "npm test", "sh: jest: not found", False), ("bash", "make setup-web", "", True),
            ("bash", "npm test", "3 passed", True))  # fmt: skip
    assert dict(lessons(*rows, os="darwin", repo="shop")[0].applies) == {"repo": "shop"}


def test_a_version_is_read_from_what_tools_print() -> None:
    found = lessons(
        ("bash", "docker --version", "Docker version 27.1.1, build 6312585", True),
        ("bash", "docker build .", "ERROR: failed to solve: process exited", False),
        ("bash", "docker build --no-cache .", "ok", True),
    )
    assert dict(found[0].applies) == {"tool": "docker", "version": "27.1.1"}


def test_a_passing_check_makes_a_lesson_verified() -> None:
    checked = lessons(("bash", "pytest", _NO_YAML, False), ("bash", "pip install pyyaml", "", True),
                      ("bash", "pytest", "3 passed", True))[0]  # fmt: skip
    ran = lessons(("bash", "python a.py", _NO_YAML, False), ("bash", "pip install pyyaml", "", True),
                  ("bash", "python a.py", "x", True))[0]  # fmt: skip
    assert (checked.basis, ran.basis) == (Basis.VERIFIED, Basis.OBSERVED)
    assert checked.confidence > ran.confidence


def test_named_arguments_are_compared_by_name() -> None:
    found = lessons(
        (
            "mcp__tracker__search",
            '{"query": "open"}',
            "MCP error -32602: Invalid arguments: project is required",
            False,
        ),
        ("mcp__tracker__search", '{"query": "open", "project": "WEB"}', "3 found", True),
    )
    assert found[0].structured["action"] == "give `project` (`WEB`)"
    header = lessons(
        ("http_request", '{"url": "https://api.example.com/v1/me", "headers": {}}', "status: 401", False),
        ("http_request", '{"url": "https://api.example.com/v1/me", "headers": {"Authorization": "Bearer abcdefgh123"}}',
         "status: 200", True),
    )  # fmt: skip
    assert "headers.Authorization" in header[0].summary
    assert header[0].structured["domain"] == "api.example.com"
    assert "abcdefgh123" not in everything(review()) + header[0].summary


def test_at_most_eight_findings_come_from_one_task() -> None:
    rows: list[tuple[Any, ...]] = []
    for number in range(20):
        name = f"tool{chr(97 + number)}x"
        rows += [("bash", f"{name} go", f"bash: {name}: command not found", False),
                 ("bash", f"apt install {name}", "", True), ("bash", f"{name} go", "ok", True)]  # fmt: skip
    assert len(review(*rows).findings) == 8


# --- the user -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("No, use pnpm instead of npm.", "Use pnpm instead of npm"),
        ("I told you to never commit to main!", "Never commit to main"),
        ("不对，要用 uv，不要用 pip。", "要用 uv，不要用 pip"),
        ("以后接口字段统一用驼峰命名。", "以后接口字段统一用驼峰命名"),
        ("Please always answer in German.", "Always answer in German"),
        ("I prefer small commits.", "I prefer small commits"),
    ],
)
def test_lasting_words_of_the_user_are_kept_as_said(words: str, kept: str) -> None:
    found = said_by_user(steps(("bash", "npm install", "ok", True), ("user", words)))
    assert [one.words for one in found] == [kept]


@pytest.mark.parametrize(
    "words",
    [
        "Why did that fail?",
        "Should we use pnpm?",
        "no, the second link",
        "Use the file on line 40 for this test.",
        "ok go ahead",
        "thanks!",
        "这个按钮再点一次",
        "能用 pnpm 吗？",
        "No, that is wrong.",
    ],
)
def test_passing_words_of_the_user_are_not_kept(words: str) -> None:
    assert said_by_user(steps(("bash", "npm install", "ok", True), ("user", words))) == []


def test_words_of_the_user_are_stated_and_marked() -> None:
    found = review(("bash", "npm i", "ok", True), ("user", "No, we only use pnpm here at work."))
    assert [(one.from_user, one.basis) for one in found.findings] == [(True, Basis.STATED)]


def test_what_the_user_had_undone_is_a_failure() -> None:
    found = review(("bash", "npm install lodash", "ok", True), ("user", "Please revert that."))
    assert [one.kind for one in found.findings] == [Kind.FAILURE]
    assert "npm install lodash" in found.findings[0].summary


# --- decisions and outcome ------------------------------------------------------------------------


def test_a_logged_decision_keeps_options_reason_and_outcome() -> None:
    given = '{"chosen": "SQLite", "options": ["SQLite", "PostgreSQL"], "rationale": "one file is enough"}'
    found = review(("decision", given), ("bash", "pytest", "3 passed", True))
    one = next(one for one in found.findings if one.kind is Kind.DECISION)
    assert one.structured["options"] == ["SQLite", "PostgreSQL"]
    assert one.structured["rationale"] == "one file is enough"
    assert one.structured["outcome"] == "succeeded"


def test_choosing_the_next_step_is_no_decision() -> None:
    assert (
        review(("decision", "Let me look at the logs first"), ("bash", "ls", "a", True, "I'll list files")).findings
        == ()
    )


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([("bash", "pytest", "1 failed", None), ("bash", "pytest", "3 passed", None)], TaskStatus.SUCCEEDED),
        ([("bash", "pytest", "3 passed", None), ("bash", "pytest", "2 failed, 1 passed", None)], TaskStatus.FAILED),
        ([("bash", "make x", "ok", True), ("user", "perfect, thanks")], TaskStatus.SUCCEEDED),
        ([("bash", "pytest", "3 passed", True), ("user", "It still doesn't work.")], TaskStatus.FAILED),
        ([("bash", "make x", "ok", True), ("user", "谢谢，可以了")], TaskStatus.SUCCEEDED),
        ([("bash", "make x", "ok", True), ("user", "还是不行")], TaskStatus.FAILED),
        ([("check", "opens in the browser", "ok", True)], TaskStatus.SUCCEEDED),
        ([("bash", "x", "ok", True), ("note", "I give up: unable to fix this.")], TaskStatus.FAILED),
        ([("bash", "ls", "a", True)], None),
        ([], None),
    ],
)
def test_the_outcome_is_read_from_the_last_signs(rows: list[tuple[Any, ...]], outcome: TaskStatus | None) -> None:
    assert review(*rows).outcome is outcome


def test_a_closed_task_keeps_its_outcome() -> None:
    closed = task(status=TaskStatus.FAILED)
    assert review_steps(closed, steps(("bash", "pytest", "3 passed", True))).outcome is TaskStatus.FAILED


# --- any input ------------------------------------------------------------------------------------

_ACTIONS = st.sampled_from(["bash", "Edit", "user", "decision", "check", "browser_click", "mcp__db__query", "note", ""])
_WORDS = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        (
            "pytest|npm install x|git push -u|{\"command\": \"make\"}|{\"a\": {\"b\": 1}}|error: x|1 failed|3 passed|"
            "HTTP/1.1 401|No module named 'yaml'|cd a && make|A=b make|curl -H 'A: b' https://x.example/1|no, use y|"
            "revert that|because|不对，要用 x|{|[1]|'|\"|<<EOF|&& ||"
        ).split("|")
    ),
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(_ACTIONS, _WORDS, _WORDS, st.sampled_from([None, True, False]), _WORDS), max_size=14))
def test_no_task_breaks_a_review(rows: list[tuple[Any, ...]]) -> None:
    found = review(*rows)
    assert len(found.findings) <= 8
    assert len(found.episode.points) <= 8
    assert len({one.key for one in found.findings}) == len(found.findings)
    assert review(*rows) == found
