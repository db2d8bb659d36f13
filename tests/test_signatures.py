"""Faults in the outputs of tools: the same one reads the same, different ones do not, and no noise is one."""

import itertools
import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.faulty_outputs import FAILURE, NO_FAILURE, SAME_FAULT

from afterwit.records import Step
from afterwit.review import is_failure, signature
from afterwit.review.normalising import LINE_CHARS, normalise, readable
from afterwit.text import REDACTED, redact_secrets


def step(action: str, given_input: str, output: str, *, ok: bool | None = None) -> Step:
    """A step of some task."""
    return Step("s", "default", "t", 0, action, datetime(2025, 6, 1, tzinfo=UTC), given_input, output, "", ok)


def key(output: str) -> str:
    """The key of the fault that an output shows."""
    found = signature(output)
    assert found is not None, f"no fault seen in {output!r}"
    return found.key


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert sum(map(len, SAME_FAULT.values())) >= 60


@pytest.mark.parametrize("name", SAME_FAULT)
def test_one_fault_has_one_key_in_every_run(name: str) -> None:
    assert len({key(output) for output in SAME_FAULT[name]}) == 1


def test_different_faults_have_different_keys() -> None:
    keys = {name: key(outputs[0]) for name, outputs in SAME_FAULT.items()}
    same = [pair for pair in itertools.combinations(keys, 2) if keys[pair[0]] == keys[pair[1]]]
    assert not same


@pytest.mark.parametrize(
    ("output", "tool", "error", "detail"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "python", "module not found", "yaml"),
        ("bash: jq: command not found", "shell", "command not found", "jq"),
        ('ERROR:  relation "orders" does not exist', "sql", "no such relation", "orders"),
        ("HTTP/1.1 401 Unauthorized", "http", "HTTP 401", ""),
        ("src/a.ts(1,2): error TS2304: Cannot find name 'x'.", "typescript", "TS2304", "Cannot find name 'x'"),
        ("npm ERR! code ERESOLVE", "npm", "ERESOLVE", ""),
        ("bash: ./x: 权限不够", "system", "permission denied", ""),
    ],
)
def test_a_signature_names_tool_class_and_what_tells(output: str, tool: str, error: str, detail: str) -> None:
    found = signature(output)
    assert found is not None
    assert (found.tool, found.error, found.detail) == (tool, error, detail)


def test_the_route_of_a_request_is_part_of_the_fault() -> None:
    first = signature("HTTP/1.1 404 Not Found", action="bash", input="curl -i https://api.example.com/users/17")
    second = signature("HTTP/1.1 404 Not Found", action="bash", input="curl -s https://api.example.com/users/18?x=1")
    other = signature("HTTP/1.1 404 Not Found", action="bash", input="curl -i https://api.example.com/teams/17")
    assert first and second and other
    assert first.key == second.key != other.key
    assert first.detail == "api.example.com/users/:id"


@pytest.mark.parametrize("quiet", ["", "ok", "12 passed in 0.4s", "0 errors, 0 warnings", "done in 3s", "没有错误"])
def test_a_clean_output_has_no_signature(quiet: str) -> None:
    assert signature(quiet) is None


@pytest.mark.parametrize(("action", "given_input", "output"), NO_FAILURE)
def test_noise_is_no_failure(action: str, given_input: str, output: str) -> None:
    assert not is_failure(step(action, given_input, output))


@pytest.mark.parametrize(("action", "given_input", "output"), FAILURE)
def test_failures_are_seen_without_a_flag(action: str, given_input: str, output: str) -> None:
    assert is_failure(step(action, given_input, output))


def test_every_output_of_the_table_is_a_failure_of_a_command() -> None:
    for outputs in SAME_FAULT.values():
        for output in outputs:
            assert is_failure(step("bash", "./run", output)), output


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q 2>&1 | tail -3", "FAILED tests/test_a.py::test_b\n1 failed, 12 passed in 0.41s"),
        ("python -m unittest | tail -4", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)"),
        ("npm test -- --ci | tail -5", "Tests:       2 failed, 9 passed, 11 total\nTime: 2 s"),
        ("npx mocha || true", "  4 passing (20ms)\n  1 failing\n"),
        ("cargo test | tail", "test result: FAILED. 2 passed; 1 failed; 0 ignored"),
        ("go test ./... | tee log", "--- FAIL: TestSum (0.00s)\nFAIL\texample.com/sum\t0.2s"),
        ("mvn -q test | grep -v INFO", "Tests run: 12, Failures: 1, Errors: 0\nBUILD FAILURE"),
        ("npx tsc --noEmit | head", "src/a.ts(3,7): error TS2345: Argument of type 'x'\n"),
        ("make 2>&1 | tail -2", "main.c:3:5: error: expected ';'\nmake: *** [main.o] Error 1"),
        ("ruff check . | tail -1", "Found 3 errors."),
        ("pnpm test | tail", "共 12 个用例，2 个用例失败"),
    ],
)
def test_a_run_that_prints_a_failure_failed_though_its_pipe_worked(command: str, output: str) -> None:
    assert is_failure(step("bash", command, output, ok=True))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q | tail -1", "12 passed in 0.41s"),
        ("pytest -q; pytest -q | tail -1", "1 failed, 12 passed in 0.4s\n13 passed in 0.5s"),
        ("cargo test | tail", "test result: ok. 3 passed; 0 failed; 0 ignored"),
        ("mvn -q test", "Tests run: 12, Failures: 0, Errors: 0"),
        ("ruff check --fix .", "Found 3 errors (3 fixed, 0 remaining)."),
        ("make", "cc -Werror -c error.c\nWARNING: 2 errors were ignored before"),
        ("cat last_run.txt", "1 failed, 12 passed in 0.4s"),
        ("grep -c failed log", "3 failed in 2s"),
        ("./report.sh", "2 failed in 3s"),
    ],
)
def test_what_worked_stays_so_when_failures_are_only_spoken_of(command: str, output: str) -> None:
    assert not is_failure(step("bash", command, output, ok=True))


def test_the_flag_of_a_step_decides_before_its_output() -> None:
    assert not is_failure(step("bash", "x", "Traceback (most recent call last):\nKeyError: 1", ok=True))
    assert is_failure(step("bash", "x", "12 passed", ok=False))


_SECRETS = (
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123",
)


@pytest.mark.parametrize(
    "text",
    [
        "export OPENAI_API_KEY={}",
        "Authorization: Bearer {}",
        "error: bad token {} given",
        "postgres://app:{}@db.internal:5432/shop refused",
        'password = "{}"',
        "密码：{}",
        "--token {} --verbose",
        '{{"api_key": "{}"}}',
    ],
)
def test_secrets_leave_a_text_and_nothing_else_does(text: str) -> None:
    for secret in _SECRETS:
        cleaned = redact_secrets(text.format(secret))
        assert secret not in cleaned
        assert REDACTED in cleaned
        assert redact_secrets(cleaned) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "order 1234567890123456 at 1712345678901",
        "always use header token auth",
        "接口统一使用请求头 token 鉴权",
        "max_tokens=4096",
        "commit 9f3c2b1a77d0e5",
        "token=$TOKEN and password=${PW}",
        "SyntaxError: unexpected token: punc",
        "the password is required",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_secrets(text) == text


def test_a_private_key_leaves_even_when_it_is_cut_off() -> None:
    whole = "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\ny"
    assert redact_secrets(whole) == f"x\n{REDACTED}\ny"
    assert "MIIEow" not in redact_secrets(whole[:50])


_WORDS = st.sampled_from(
    (
        "error:|Error|FAILED|Traceback (most recent call last):|KeyError: 'x'|HTTP/1.1 500|~/a|C:\\x\\y.py|<n>|<path>|"
        "123|12345678901|deadbeef12|a1|0x7fff|::1|10.0.0.1:80|'|\"|https://h.example/a/1|user 'bob'|"
        "2025-06-01T10:11:12Z|password=hunter22|…|《|错误：|\n|\t|\x1b[31m|~/x|./y/z.json|12:30:11|tmp_a1b2c3|"
        "e@x.example|[secret]|No module named|999ms|-1|1e9|:8080|/a/b.c"
    ).split("|")
)
_TEXTS = st.one_of(
    st.text(max_size=400), st.lists(_WORDS, max_size=40).map(" ".join), st.lists(_WORDS, max_size=30).map("".join)
)


@settings(deadline=None, max_examples=300)
@given(_TEXTS)
@example("a" * 200 + " 1234567")
@example("/a/b/c/d/" * 30)
def test_normalising_twice_changes_nothing_and_stays_short(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert len(once) <= LINE_CHARS
    assert not re.search(r"\d{7,}", once)


@settings(deadline=None, max_examples=300)
@given(_TEXTS, st.sampled_from(["", "bash", "Read", "mcp__db__query", "user", "browser_click"]), _TEXTS)
def test_no_text_breaks_a_signature(output: str, action: str, given_input: str) -> None:
    found = signature(output, action=action, input=given_input)
    is_failure(step(action, given_input, output))
    if found is not None:
        assert not re.search(r"\d{7,}", found.key + found.text)
        assert "\n" not in found.text
        assert len(found.text) <= LINE_CHARS


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=3_000))
def test_binary_output_is_taken_as_it_comes(data: bytes) -> None:
    signature(data.decode("latin-1"), action="bash", input=data.decode("utf-8", "replace"))
    readable(data.decode("utf-8", "surrogateescape"))


@settings(deadline=None, max_examples=60)
@given(_TEXTS, st.sampled_from(_SECRETS), _TEXTS)
def test_no_secret_survives_in_a_signature(before: str, secret: str, after: str) -> None:
    found = signature(f"{before}\nerror: refused {secret} here\n{after}")
    assert found is None or secret not in found.key + found.text


_FLOODS = (
    "x",
    "error: y\n",
    "\n",
    " \t",
    "/a",
    "0 ",
    "'",
    "ab1",
    "a:",
    "((",
    "key=",
    "a.b",
    "-",
    "[1m",
    "\r",
    '="',
    "E ",
    "1|",
)


@pytest.mark.parametrize("flood", _FLOODS)
def test_megabytes_are_looked_at_from_both_ends_in_bounded_time(flood: str) -> None:
    body = flood * (2_000_000 // len(flood))
    found = signature(f"{body}\nModuleNotFoundError: No module named 'yaml'", action="bash", input=flood * 4_000)
    assert found is not None
    assert found.detail == "yaml"
