"""Findings in words: what failed and what to do, in one or two sentences of the material's language."""

import re
from collections.abc import Sequence
from dataclasses import replace

from afterwit.messages import say
from afterwit.records import Step, Task
from afterwit.review.attempts import Attempt
from afterwit.review.changes import Change, attempt_words, general, holds_only_here
from afterwit.review.normalising import LINE_CHARS, one_line
from afterwit.review.signatures import Signature
from afterwit.text import language

#: What each kind of action is part of, as one word to find lessons by.
_TASK_TYPES = {
    "test": "testing",
    "build": "building",
    "install": "dependencies",
    "migrate": "database",
    "sql": "database",
    "browse": "browsing",
    "http": "web api",
    "vcs": "version control",
    "service": "services",
    "setup": "environment",
    "edit": "editing",
    "call": "tools",
}
_OF_TOOLS = {
    "docker": "containers",
    "kubernetes": "containers",
    "sql": "database",
    "git": "version control",
    "browser": "browsing",
}
_VERSIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("python", re.compile(r"\bPython (\d+\.\d+(?:\.\d+)?)|python(3\.\d+)\b")),
    ("pytest", re.compile(r"\bpytest[- ](\d+\.\d+(?:\.\d+)?)")),
    ("pip", re.compile(r"\bpip (\d+\.\d+(?:\.\d+)?) from")),
    (
        "node",
        re.compile(
            r"\bnode(?:\.js)?[ :@]v?(\d+\.\d+\.\d+)|^v(\d+\.\d+\.\d+)$|Node\.js v(\d+\.\d+\.\d+)",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    ("npm", re.compile(r"\bnpm(?:@|['\"]?: ['\"])(\d+\.\d+\.\d+)")),
    ("docker", re.compile(r"\bDocker version (\d+\.\d+\.\d+)")),
    ("docker compose", re.compile(r"\bDocker Compose version v?(\d+\.\d+\.\d+)")),
    ("git", re.compile(r"\bgit version (\d+\.\d+\.\d+)")),
    ("go", re.compile(r"\bgo version go(\d+\.\d+(?:\.\d+)?)")),
    ("rustc", re.compile(r"\brustc (\d+\.\d+\.\d+)")),
    ("cargo", re.compile(r"\bcargo (\d+\.\d+\.\d+)")),
    ("java", re.compile(r"\b(?:openjdk|java) (?:version )?\"?(\d+(?:\.\d+)*)")),
    ("psql", re.compile(r"\bpsql \(PostgreSQL\) (\d+(?:\.\d+)*)|\bPostgreSQL (\d+\.\d+)")),
    ("playwright", re.compile(r"\bplaywright(?:@| [Vv]ersion )(\d+\.\d+\.\d+)", re.IGNORECASE)),
)
_OF_AN_OS = re.compile(r"\b(?:apt|apt-get|brew|yum|dnf|pacman|choco|winget|systemctl|apk|powershell|launchctl)\b")


def language_of(task: Task, steps: Sequence[Step]) -> str:
    """ "zh" or "en": the language in which the task was given and reasoned about; outputs do not count."""
    spoken = [step.input if step.action in ("user", "decision", "note") else step.rationale for step in steps]
    return language("\n".join([task.goal, *task.constraints, *(words[:400] for words in spoken if words)])[:8_000])


def quoted(words: str) -> str:
    """A command or name as it stands in a sentence."""
    return f"`{words}`" if words else ""


def error_words(fault: Signature | None) -> str:
    """A fault's own line when it can be quoted, else its class; an output never speaks to the reader through it."""
    if fault is None:
        return ""
    line = one_line(fault.text.replace("`", "'"), limit=LINE_CHARS)
    plain = ": ".join(part for part in (fault.error, fault.detail) if part)
    if fault.tool in ("http", "browser"):
        return one_line(plain, limit=LINE_CHARS)
    return line.strip("“”") or one_line(plain, limit=LINE_CHARS)


def change_words(change: Change, tongue: str) -> str:
    """A change as an advice."""
    if change.first:
        first = change_words(Change("first", change.first), tongue)
        return say("change_both", tongue, a=first, b=change_words(replace(change, first=()), tongue))
    kind, parts = change.kind, list(change.parts)
    if kind == "first":
        joiner = " 和 " if tongue == "zh" else " and "
        return say("change_first", tongue, a=joiner.join(map(quoted, parts)))
    if kind in ("field", "edit") and not parts[1].strip(" ,"):
        kind = f"{kind}_bare"
    if kind != "retry":
        parts = [quoted(part) for part in parts]
    named = dict(zip("abc", [*parts, "", "", ""], strict=False))
    return say(f"change_{kind}", tongue, **named)


def place_of(attempt: Attempt, tongue: str) -> str:
    """Where it was, for what happens on a site; empty for the rest."""
    if attempt.domain and attempt.act.kind in ("browse", "http") and attempt.domain not in attempt_words(attempt):
        return say("lesson_place", tongue, domain=attempt.domain)
    return ""


def task_type_of(attempt: Attempt) -> str:
    """What sort of work it was: "testing", "dependencies", "database", ...; "programming" when nothing tells."""
    if attempt.fault and attempt.fault.tool in _OF_TOOLS:
        return _OF_TOOLS[attempt.fault.tool]
    return _TASK_TYPES.get(attempt.act.kind, "programming")


def tool_of(attempt: Attempt) -> str:
    """The program without its command, or the tool."""
    act = attempt.act
    return act.program.split(" ", 1)[0] if act.words else act.program or act.tool


def applies_to(task: Task, steps: Sequence[Step], attempt: Attempt, change: Change | None) -> dict[str, str]:
    """Under which conditions a lesson holds, as far as they were seen: tool and its version, and the system or the
    repository when the advice is bound to one."""
    conditions: dict[str, str] = {}
    tool = tool_of(attempt)
    if version := _version(tool, task, steps):
        conditions |= {"tool": tool, "version": version}
    said = " ".join((*change.first, *change.parts)) if change else ""
    os_name = task.environment.get("os")
    if isinstance(os_name, str) and os_name and _OF_AN_OS.search(said):
        conditions["os"] = os_name
    repo = task.environment.get("repo")
    if isinstance(repo, str) and repo and change and is_of_the_repository(change, attempt):
        conditions["repo"] = repo
    return conditions


def is_of_the_repository(change: Change, attempt: Attempt) -> bool:
    """Whether an advice names what only this checkout has: a target, a script, a directory, a settings file."""
    if change.kind in ("directory", "edit"):
        return True
    said = " ".join(change.parts)
    return (
        bool(re.search(r"\bmake \w|\b(?:npm|yarn|pnpm|bun) run \w|(?:^|\s)\./\w|(?:^|\s)(?:scripts?|bin)/", said))
        or attempt.act.kind == "sql"
    )


def _version(tool: str, task: Task, steps: Sequence[Step]) -> str:
    tools: object = task.environment.get("tools")
    if isinstance(tools, dict):
        known: object = tools.get(tool) or tools.get(tool.rstrip("3"))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if known:
            return str(known)  # pyright: ignore[reportUnknownArgumentType]
    pattern = next((pattern for name, pattern in _VERSIONS if name == tool.rstrip("3") or name == tool), None)
    if pattern is None:
        return ""
    for step in steps:
        found = pattern.search(step.output[:4_000])
        if found:
            return next(group for group in found.groups() if group)
    return ""


def is_transferable(change: Change) -> bool:
    """Whether an advice says something elsewhere: not only the ids, paths and numbers of this task."""
    if change.kind in ("first", "swap", "command", "feed", "edit"):
        return not any(
            holds_only_here(part) or re.search(r"<(?:ticket|id|hash)>", part) for part in change.parts if part
        )
    return not any(holds_only_here(part) for part in change.parts)


def short(words: str, limit: int = 240) -> str:
    """Words on one line, fit to be kept."""
    return general(" ".join(words.split()), limit=limit)
