"""What went wrong, in a form in which the same fault in another task reads the same."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from afterwit.records import Step
from afterwit.review.actions import Act, act_of
from afterwit.review.faults import AROUND, COMMANDS, ERROR_LINE, EXCEPTION, HTTP_STATUS, PROGRAMS, SYSTEM, TESTS, Fault
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.normalising import LINE_CHARS, is_telling_file, normalise, readable, route


@dataclass(frozen=True)
class Signature:
    """A fault, apart from the run in which it happened."""

    #: whose fault it is: "python", "git", "http", "system"; empty when nothing says so
    tool: str
    #: its class: "module not found", "HTTP 401", "TS2345"
    error: str
    #: the line that says so, normalised, at most 160 characters; its class when the line gives orders
    text: str
    #: what tells it from other faults of its class: a module, a route, a table; may be empty
    detail: str = ""

    @property
    def key(self) -> str:
        """Equal for the same fault, whatever the run: "python: module not found: requests"."""
        return ": ".join(part for part in (self.tool, self.error, self.detail) if part).casefold()

    @property
    def matter(self) -> str:
        """Its key without what it happened to be about, where that makes no difference: a service that asks who one
        is asks it on each of its pages."""
        return self.wider if self.tool == "http" and self.error in _ASKS_WHO else self.key

    @property
    def wider(self) -> str:
        """Its key without what it was about, but for the service that it came from: "make: no rule for target"."""
        host = self.detail.partition("/")[0] if self.tool == "http" else ""
        return replace(self, detail=host).key


#: Statuses of a service that does not let one in.
_ASKS_WHO = frozenset(("HTTP 401", "HTTP 403", "HTTP 407"))


#: Lines that only tell or warn; an error word in them is none.
_HARMLESS = re.compile(
    r"^(?:\S{1,40}\s){0,3}?\[?(?:WARN(?:ING)?|INFO|DEBUG|NOTICE|TRACE|Warning|warning|warn|info|debug|hint|Hint|"
    r"note)\]?[:\]\s]|"
    r"^npm warn|DeprecationWarning|警告[:：]"
)
#: Lines of a listing or a change, where code that speaks of errors is no error.
_LISTED = re.compile(
    r"^\s{0,8}\d{1,6}(?::(?!\d)|[→\t|]|\s[|│])|^[+-](?![+-])|^(?:diff --git|index [0-9a-f]+\.\.|@@ |\+\+\+ |"
    r"--- [ab/])"
)
_TEST_CODE = re.compile(r"^- [A-Z]{1,4}\d{3,4} |^--- FAIL")
_NONE_OF_IT = re.compile(
    r"(?i)\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|problems?|issues?|vulnerabilities)\b|"
    r"\b(?:errors?|failures?|failed)[:=] ?0\b|(?:没有|无|0 ?个)(?:任何)?(?:错误|失败|异常)|(?:错误|失败)[:：] ?0\b"
)


@lru_cache(maxsize=16)
def signature(output: str, *, action: str = "", input: str = "") -> Signature | None:
    """The fault that an output shows.

    Args:
        output: what a tool printed; any text of any length. At most 24,000 characters of it are looked at.
        action: the tool's name, as in a step.
        input: what it was given: a command, an address, arguments as JSON.

    Returns:
        None when the output shows no fault.
    """
    text = "\n".join(_telling_lines(readable(output)))
    act = act_of(action, input)
    return (
        _first(PROGRAMS, text)
        or _first(COMMANDS, text)
        or _of_test(text, act)
        or _of_http(text, act)
        or _of_exception(text, act)
        or _first(SYSTEM, text, act)
        or _first(AROUND, text)
        or _of_line(text, act)
    )


def fault_of(step: Step) -> Signature | None:
    """The fault of a step; one that is known to have failed has its last line when it shows none.

    Returns:
        None when the step did not fail.
    """
    if not is_failure(step):
        return None
    found = signature(step.output, action=step.action, input=step.input)
    if found is not None:
        return found
    lines = [line for line in readable(step.output).splitlines() if line.strip() and not _EXIT_CODE.search(line)]
    text = normalise(lines[-1]) if lines else ""
    return _plain(Signature(act_of(step.action, step.input).program, "failed", text, text))


def _telling_lines(text: str) -> Iterator[str]:
    # Of lines that repeat, the last: a retry loop says a thousand times what one line tells.
    for line in reversed(dict.fromkeys(reversed(text.splitlines()))):
        if _HARMLESS.search(line) or (_LISTED.search(line) and not _TEST_CODE.search(line)):
            continue
        yield _NONE_OF_IT.sub("", line)


def _first(faults: tuple[Fault, ...], text: str, act: Act | None = None) -> Signature | None:
    for fault in faults:
        found = _match(fault, text)
        if found is None:
            continue
        groups = {name.rstrip("234"): value for name, value in found.groupdict().items() if value}
        if fault.error == "{code}" and not groups.get("code"):
            groups["code"] = "failed"
        error = fault.error.format(code=groups.get("code", ""))
        tool = (act.program if act and fault.tool == "system" else "") or fault.tool
        line = _line_of(text, found)
        return _plain(Signature(tool, error, line, _detail(fault, groups.get("what", ""), line)))
    return None


def _plain(found: Signature) -> Signature:
    """A fault without words that give orders: they would be stored, shown, and one day followed."""
    detail = "" if reads_as_instruction(found.detail) else found.detail
    text = found.error if reads_as_instruction(found.text) else found.text
    return replace(found, text=text, detail=detail)


def _of_test(text: str, act: Act) -> Signature | None:
    """A failed test; what the system refused to it is the fault when its line says so."""
    found = _first(TESTS, text)
    if found is None:
        return None
    return _first(SYSTEM, found.text, act) or found


def _match(fault: Fault, text: str) -> re.Match[str] | None:
    if not fault.last:
        return fault.pattern.search(text)
    return last_match(fault.pattern, text)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place where a pattern is found."""
    return max(pattern.finditer(text), key=lambda found: found.start(), default=None)


def _detail(fault: Fault, what: str, line: str) -> str:
    if fault.error == "no such file":
        # The name of a file of this checkout says nothing elsewhere; that of a package.json does.
        return next((word for word in re.findall(r"[\w.-]+", line) if is_telling_file(word)), "")
    return normalise(what.strip(" .,:;"), limit=80)


def _line_of(text: str, found: re.Match[str]) -> str:
    """The line in which a match ends, or its own words when the line is long."""
    last = found.end() - 1 if found.end() > found.start() else found.start()
    start = text.rfind("\n", 0, last) + 1
    end = text.find("\n", last)
    line = text[start : end if end >= 0 else len(text)]
    if len(line) > LINE_CHARS:
        # What was found tells more than the beginning of a long line.
        line = text[max(start, found.start()) : end if end >= 0 else len(text)]
    return normalise(line)


def _of_http(text: str, act: Act) -> Signature | None:
    found = HTTP_STATUS.search(text)
    if found is None:
        return None
    status = next(value for value in found.groups() if value)
    address = re.search(r"https?://([^\s'\"<>)\]}]{1,300})", text)
    where = route(address[1]) if address else act.target if act.domain else ""
    return _plain(Signature("http", f"HTTP {status}", _line_of(text, found), where))


def _of_exception(text: str, act: Act) -> Signature | None:
    found = last_match(EXCEPTION, text)
    if found is None:
        return None
    if below := _first(SYSTEM, found.group(), act):
        # What the system refused is the same fault in every language.
        return below
    code = found["code"].rpartition(".")[2]
    detail = normalise(found["what"] or "", limit=100)
    return _plain(Signature(_runtime(text), code, _line_of(text, found), detail))


def _runtime(text: str) -> str:
    if "Traceback (most recent call last)" in text or re.search(r'^\s*File "', text, re.MULTILINE):
        return "python"
    if re.search(r"^\s+at [\w.$<>]+\([\w$]+\.(?:java|kt|scala)", text, re.MULTILINE):
        return "java"
    if re.search(r"^\s+at |node:internal", text, re.MULTILINE):
        return "node"
    return ""


def _of_line(text: str, act: Act) -> Signature | None:
    found = ERROR_LINE.search(text)
    if found is None or not re.search(r"[^\W\d]", found["what"]):
        return None
    line = normalise(found["what"])
    return _plain(Signature(act.program, "error", normalise(found.group()), line)) if line else None


# --- Did it fail? ---------------------------------------------------------------------------------

_EXIT_CODE = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?: with)?(?: status| code)*|return(?:ed)? code|退出码|返回码)"
    r"(?:\s?(?:[:=]|is|为|of)?\s?)(-?\d{1,3})\b"
)
_TESTS_FAILED = re.compile(
    r"(?i)\b([1-9]\d*) (?:tests? )?(?:failed|failing|failures?|errors?(?= in \d|$|,))\b|"
    r"\b(?:failures|failed|errors)[=:] ?([1-9]\d*)|([1-9]\d*) ?个(?:测试|用例)?(?:失败|未通过)",
    re.MULTILINE,
)
_TESTS_PASSED = re.compile(
    r"(?i)\b[1-9]\d* (?:tests? )?(?:passed|passing)\b|^OK(?: \(|$)|\btest result: ok\b|^ok\s+\S+\s+[\d.(]|"
    r"\bBUILD SUCCESS|\bcompiled successfully|全部通过|测试通过|构建成功",
    re.MULTILINE,
)
_ENDED_WELL = re.compile(
    r"(?i)\b(?:successfully|succeeded|success|completed|all checks passed|finished|done)\b[^\n]{0,80}\s*\Z|"
    r"(?:成功|完成)[。！.!]?\s*\Z"
)
_FOUND_NOTHING = re.compile(r"(?i)^\s*(?:wrong|incorrect|rejected|denied|invalid|不正确|错误)\b[^\n]{0,80}$")
_TOOL_ERROR = re.compile(
    r"<tool_use_error>|[\"']?is_?error[\"']?\s?:\s?true|^\s*(?:Error|ERROR|错误)[:：]", re.IGNORECASE
)
#: What a reader says of itself when it cannot read: its own name, then the file.
_READER_ERROR = re.compile(
    r"^(?:(?:/\S{1,40}/)?[a-z][\w.-]{1,20}|bash|zsh|sh)(?:: line \d+)?: [^\n]{0,200}(?:No such file|"
    r"Permission denied|"
    r"Is a directory|(?:command )?not found|没有那个文件|权限不够|是一个目录|未找到命令)|"
    r"^(?:[Ff]ile (?:does not exist|not found)|fatal: |Error: |Error executing|文件不存在)"
)


#: What runners of tests and compilers print when something failed, whatever the exit code of the pipe behind them.
_RUNNER_FAILED = re.compile(
    r"^[^\n]{0,200}\b[1-9]\d* (?:failed|errors?)\b[^\n]{0,200} in \d[\d.:]* ?(?:s\b|seconds)|^FAILED \((?:failures|"
    r"errors)=[1-9]|"
    r"^[ \t]*(?:Tests|Test Files|Test Suites|Suites):?\s+[1-9]\d* failed|^[ \t]*[1-9]\d* failing$|"
    r"^test result: FAILED|"
    r"^error(?:\[E\d+\])?: (?:could not compile|aborting due to)|^--- FAIL: |^FAIL(?:\t|$)|\bBUILD FAIL(?:URE|ED)\b|"
    r"\bFailures: [1-9]|\b\d+ examples?, [1-9]\d* failures?|^FAILURES!$|: error (?:TS|CS)\d+: |"
    r"^Found [1-9]\d* errors?\b(?![^\n]{0,40}\b0 remaining)|^[^\s:]{1,200}:\d+(?::\d+)?: (?:fatal )?error: |"
    r"^make(?:\[\d+\])?: \*\*\* |^✖ \d+ problems? \([1-9]\d* error|[1-9]\d* ?个(?:测试|用例)?(?:失败|未通过)",
    re.MULTILINE,
)


def is_failure(step: Step) -> bool:
    """Whether a step did not do what it was to do.

    Its own flag decides, except that a test run or build that prints that something failed has failed: in
    `pytest | tail` the flag is that of `tail`. Without a flag, in this order: the exit code that the output names,
    counts of failed tests, HTTP statuses, tracebacks and lines that call themselves errors. Words such as "error" in
    what was merely read, listed or searched, and "0 errors", are no failure. What people and the agent say fails only
    by its flag.
    """
    if step.ok is not None:
        return not step.ok or _prints_failure(step)
    if step.action in ("user", "decision", "note") or not step.output.strip():
        return False
    return _shows_failure(step)


def _prints_failure(step: Step) -> bool:
    """Whether a test run or build that is said to have worked prints that it did not, and no later run that it did."""
    if not step.output.strip() or not act_of(step.action, step.input).is_check:
        return False
    told = "\n".join(_telling_lines(readable(step.output)))
    failed = last_match(_RUNNER_FAILED, told)
    if failed is None:
        return False
    end = told.find("\n", failed.end())
    return end < 0 or _TESTS_PASSED.search(told, end) is None


def _shows_failure(step: Step) -> bool:
    text = readable(step.output)
    act = act_of(step.action, step.input)
    if _TOOL_ERROR.search(step.output[:400]):
        return True
    if act.is_dump:
        head = text.lstrip()[:300]
        return len(text) < 1_000 and _READER_ERROR.search(head) is not None
    told = "\n".join(_telling_lines(text))
    if codes := _EXIT_CODE.findall(text[:300] + "\n" + text[-600:]):
        return codes[-1] != "0"
    if _TESTS_FAILED.search(told):
        return True
    if _TESTS_PASSED.search(told) or _ENDED_WELL.search(told[-300:]):
        return HTTP_STATUS.search(told) is not None and act.kind == "http"
    if len(text) < 200 and _FOUND_NOTHING.search(text):
        return True
    return signature(step.output, action=step.action, input=step.input) is not None
