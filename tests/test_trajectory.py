"""A task in a few points, and what steps did."""

import time
from typing import Any

import pytest
from tests.recorded import NAMES, read, steps, task

from afterwit.review import Episode, compress
from afterwit.review.actions import act_of
from afterwit.review.commands import parse_command


def points(*rows: tuple[Any, ...], goal: str = "Do the work") -> Episode:
    """A task of these steps, told."""
    return compress(task(goal), steps(*rows))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_task_is_told_in_a_few_points(name: str) -> None:
    recorded = read(name)
    least, most = recorded.expect["points"]
    told = compress(recorded.task, recorded.steps).points
    assert least <= len(told) <= most
    assert all(0 < len(point.text) <= 240 for point in told)


@pytest.mark.parametrize("name", [name for name in NAMES if len(read(name).steps) >= 30])
def test_a_task_of_thirty_steps_is_told_in_five_to_eight_points(name: str) -> None:
    recorded = read(name)
    assert 5 <= len(compress(recorded.task, recorded.steps).points) <= 8


def test_points_come_in_the_order_of_the_task() -> None:
    for name in NAMES:
        recorded = read(name)
        turns = [point.positions for point in compress(recorded.task, recorded.steps).points if point.positions]
        assert turns[:-1] == sorted(turns[:-1])


def test_polling_and_dumps_collapse() -> None:
    quiet = [("bash", "kubectl get pods", f"web-{number} Running", True) for number in range(40)]
    quiet += [("Read", '{"file_path": "a.py"}', "1\tx\n" * 200, True)] * 20
    told = points(("bash", "make deploy", "ok", True), *quiet, ("bash", "make smoke", "ok", True)).points
    assert len(told) <= 4
    assert not any("kubectl" in point.text or "a.py" in point.text for point in told)


def test_repeated_failures_are_one_point() -> None:
    row = ("bash", "make", "error: no license found", False)
    told = points(*[row] * 12, ("bash", "ls", "", True)).points
    assert [point.role for point in told].count("failure") == 1
    assert next(point for point in told if point.role == "failure").positions == tuple(range(12))


def test_a_task_without_turns_keeps_at_most_two_points() -> None:
    assert len(points(("bash", "date", "Tue", True)).points) <= 2
    assert len(points().points) <= 2


def test_secrets_leave_the_points() -> None:
    told = points(
        ("user", "We always use password=hunter2secret for the test account."),
        ("bash", "deploy --token abcdefgh12345678", "error: bad", False),
        ("bash", "deploy --token abcdefgh12345678", "error: bad", False),
        goal="Deploy with api_key=abcdefgh99887766",
    )
    said = " ".join(point.text for point in told.points)
    assert "[secret]" in said
    assert not any(secret in said for secret in ("hunter2secret", "abcdefgh12345678", "abcdefgh99887766"))


def test_a_long_task_is_told_in_bounded_time() -> None:
    rows = [("bash", f"make step{number % 7}", "error: y\n" * 3_000, number % 3 == 0) for number in range(500)]
    start = time.process_time()
    assert len(points(*rows).points) <= 8
    assert time.process_time() - start < 30


# --- what a step did ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "program", "kind"),
    [
        ("cd web && npm test 2>&1 | tail -20", "npm test", "test"),
        ("sudo docker compose -f a.yml up -d", "docker compose up", "service"),
        ("FOO=1 python -m pytest tests -q", "pytest", "test"),
        ("python manage.py migrate", "manage.py migrate", "migrate"),
        ("uv run ruff check .", "ruff", "test"),
        ("timeout 60 npx playwright install chromium", "playwright install", "install"),
        ("git -C x log --oneline", "git log", "read"),
        ("git push", "git push", "vcs"),
        ("echo x | ./rock", "rock", "run"),
        ("cat > a.py <<'EOF'\nimport os\nEOF", "cat", "edit"),
        ("cat > a.py <<EOF\nx\nEOF\npython a.py", "python a.py", "run"),
        ("psql -c 'select 1'", "psql", "sql"),
        ("sed -i s/a/b/ x.txt", "sed", "edit"),
        ("rg -n error src", "rg", "search"),
        ("'unclosed", "'unclosed", "run"),
        ("", "", "run"),
    ],
)
def test_a_command_names_its_program_and_kind(command: str, program: str, kind: str) -> None:
    found = parse_command(command)
    assert (found.program, found.kind) == (program, kind)


def test_a_command_keeps_where_it_ran_and_with_which_settings() -> None:
    found = parse_command("export A=b && cd web && C=d npm run build > log.txt")
    assert (found.directory, set(found.environment), found.text) == ("web", {"A=b", "C=d"}, "C=d npm run build")


@pytest.mark.parametrize(
    ("action", "given", "kind", "dump"),
    [
        ("Bash", '{"command": "pytest -q"}', "test", False),
        ("Read", '{"file_path": "a.py"}', "read", True),
        ("Edit", '{"file_path": "a.py"}', "edit", False),
        ("Grep", '{"pattern": "x"}', "search", True),
        ("shell", '{"command": ["bash", "-lc", "ls -la"]}', "read", True),
        ("mcp__playwright__browser_click", '{"selector": "#a"}', "browse", False),
        ("mcp__playwright__browser_snapshot", "{}", "browse", True),
        ("mcp__postgres__query", '{"sql": "select 1 from t"}', "sql", False),
        ("WebFetch", '{"url": "https://x.example/a"}', "browse", True),
        ("user", "hello", "say", False),
        ("book_flight", '{"id": "1"}', "call", False),
        ("check", "pytest", "test", False),
        ("edit", '{"filePath": "a.py", "oldString": "x"}', "edit", False),
        ("edit", '{"search": "def f()", "replace": "def f():"}', "edit", False),
        ("str_replace_editor", '{"command": "create", "path": "Makefile"}', "edit", False),
        ("write_file", '{"path": "Makefile"}', "edit", False),
        ("apply_patch", '{"input": "*** Begin Patch\\n*** End Patch"}', "edit", False),
        ("mcp__code__replace_symbol_body", '{"relative_path": "a.py"}', "edit", False),
        ("open_file", '{"path": "src/a.py"}', "read", True),
        ("run_tests", '{"name": "billing"}', "test", False),
        ("verify", '{"command": "make check"}', "test", False),
        ("check_types", '{"path": "src/app.py"}', "test", False),
        # The same words, for records
        ("create_event", '{"title": "Lunch", "kind": "meal"}', "call", False),
        ("mcp__calendar__create_event", '{"title": "Lunch"}', "call", False),
        ("replace_item", '{"old": "tea", "new": "coffee", "path": "order/lines"}', "call", False),
        ("append_row", '{"user_id": "u1"}', "call", False),
        ("check_balance", '{"account": "a1"}', "call", False),
        ("check_order_status", '{"order": "a1"}', "call", False),
        ("check_in_guest", '{"guest": "g1"}', "call", False),
        ("verify_identity", '{"user_id": "u1"}', "call", False),
        ("test_drive_booking", '{"car": "c1"}', "call", False),
        ("open_ticket", '{"subject": "No heating"}', "call", False),
        ("get_user", '{"user_id": "u1"}', "read", True),
    ],
)
def test_a_step_shows_what_sort_of_action_it_was(action: str, given: str, kind: str, dump: bool) -> None:
    act = act_of(action, given)
    assert (act.kind, act.is_dump) == (kind, dump)


def test_polling_is_told_from_work() -> None:
    assert parse_command("sleep 5 && docker ps").is_poll
    assert parse_command("sleep 30").is_poll
    assert act_of("BashOutput", '{"bash_id": "1"}').is_poll
    assert not parse_command("make all").is_poll


def test_the_host_of_a_request_is_its_domain() -> None:
    assert act_of("bash", "curl -s https://api.example.com:8443/v1/users/17").domain == "api.example.com"
    assert act_of("bash", "curl http://localhost:8000/x").domain == ""
