"""A task's steps as attempts: what was tried, whether it failed, at what, and what belongs together."""

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from afterwit.records import Step
from afterwit.review.actions import Act, act_of
from afterwit.review.signatures import Signature, fault_of

#: Programs that do the same: pip3 is pip, yarn installs as npm does.
_FAMILY = {
    "python3": "python",
    "python2": "python",
    "py": "python",
    "nodejs": "node",
    "pip3": "pip",
    "uv pip": "pip",
    "docker-compose": "docker compose",
    "yarn": "npm",
    "pnpm": "npm",
    "bun": "npm",
    "mvnw": "mvn",
    "gradlew": "gradle",
    "mamba": "conda",
    "apt-get": "apt",
    "podman": "docker",
}
#: A command of these kinds is about the whole checkout unless it names a part.
_WHOLE = frozenset(("test", "build", "migrate", "service"))
_CHANGING_GIT = re.compile(
    r"^git (?:checkout|switch|pull|fetch|stash|merge|rebase|reset|clean|submodule|lfs|config|add|commit|"
    r"remote|init|clone|apply|restore|worktree)"
)
#: Programs that look at something other than files.
_ASK_A_SERVICE = frozenset("docker docker-compose kubectl git pip pip3 npm gh systemctl journalctl aws gcloud".split())
_CHANGING_KINDS = frozenset(("edit", "install", "migrate", "service", "setup", "build", "browse"))
#: Words with which a checker changes what it checks.
_PUTS_RIGHT = frozenset(("--fix", "--write", "-w", "format", "fmt", "--apply"))


@dataclass(frozen=True)
class Attempt:
    """One action of a task and how it went."""

    step: Step
    act: Act
    failed: bool
    #: what went wrong; None when it did not
    fault: Signature | None
    #: the host that it spoke to, or that the browser stood at
    domain: str = ""
    #: it runs a file that was made in this task, and that no other task will meet
    is_own_script: bool = False

    @property
    def position(self) -> int:
        """Its step's place in the task."""
        return self.step.position

    @property
    def fault_key(self) -> str:
        """The key of its fault; empty when it did not fail."""
        return self.fault.key if self.fault else ""

    @property
    def only_looks(self) -> bool:
        """It read or searched files: when that fails, it was a wrong name."""
        act = self.act
        if not act.is_dump or act.kind == "browse" or act.tool.startswith("mcp__"):
            return False
        return act.program.split(" ", 1)[0] not in _ASK_A_SERVICE

    @property
    def changes_something(self) -> bool:
        """It may have put right what failed before: it installed, started, set or edited something."""
        act = self.act
        if self.failed or act.is_dump:
            return False
        if act.kind == "vcs":
            return _CHANGING_GIT.match(act.program) is not None
        if act.kind == "test":
            return not _PUTS_RIGHT.isdisjoint(act.words)
        works = act.kind == "run" and bool(act.words) and not act.is_poll
        return works or act.kind in _CHANGING_KINDS or act.program == "sleep"


def attempts_of(steps: Sequence[Step]) -> list[Attempt]:
    """The steps that act, in order; words of the user and the agent are left out."""
    made: list[Attempt] = []
    site = ""
    own: set[str] = set()
    for step in steps:
        act = act_of(step.action, step.input)
        if act.kind == "say":
            continue
        if act.kind == "browse" and act.domain:
            site = act.domain
        domain = act.domain or (site if act.kind == "browse" else "")
        fault = fault_of(step)
        if _makes_a_file(act):
            own.add(_base(act.arguments.get("file_path") or act.arguments.get("path") or act.target))
        runs_own = any(_base(word) in own for word in act.words if "." in word)
        made.append(Attempt(step, act, fault is not None, fault, domain, runs_own))
    return made


def _makes_a_file(act: Act) -> bool:
    creates = ("create" in act.tool or "write" in act.tool) and "replace" not in act.tool
    return act.kind == "edit" and (
        creates or act.arguments.get("command") == "create" or (bool(act.words) and bool(act.target))
    )


def _base(path: str) -> str:
    return path.strip().replace("\\", "/").rpartition("/")[2]


def same_goal(first: Attempt, second: Attempt) -> bool:
    """Whether a later attempt tries what a failed one tried: the same program or tool, for the same thing."""
    a, b = first.act, second.act
    if bool(a.words) != bool(b.words) or bool(a.arguments) != bool(b.arguments):
        return False
    if not a.words:
        return a.program == b.program and _same_target(a, b)
    if family(a.program) != family(b.program):
        return _runs_inside(a, b) or _same_work(first, second)
    if a.kind == "http":
        return a.domain == b.domain or (bool(a.target) and a.target == b.target)
    given, later = _objects(a), _objects(b)
    if a.kind in _WHOLE:
        return not later if not given else not later or bool(given & later)
    return not given or not later or _alike(given, later)


def family(program: str) -> str:
    """A program's name for telling programs that do the same."""
    head, _, rest = program.partition(" ")
    whole = _FAMILY.get(program)
    if whole:
        return whole
    for known, same in _FAMILY.items():
        if " " in known and program.startswith(known + " "):
            return f"{same}{program.removeprefix(known)}"
    return f"{_FAMILY.get(head, head)} {rest}".strip()


_RUNS_OTHERS = frozenset(
    "docker docker-compose kubectl ssh bash sh make uv poetry conda su wsl podman vagrant heroku fly".split()
)


def _objects(act: Act) -> set[str]:
    """What a command is about: its words that are no options and not the program."""
    skipped = set(act.program.split()) | {"python", "python3", "-m", "run", "sudo", "npx", "uv", "poetry", "exec"}
    return {
        word.strip("./") for word in act.words if not word.startswith("-") and "=" not in word and word not in skipped
    } - {""}


def _alike(first: set[str], second: set[str]) -> bool:
    if first & second:
        return True
    return any(_shared_stem(a, b) for a in first for b in second)


def _shared_stem(a: str, b: str) -> bool:
    """`psycopg2` and `psycopg2-binary`, `src/app.py` and `app.py`, a word and its other spelling."""
    a, b = a.casefold(), b.casefold()
    short, long = sorted((a, b), key=len)
    if len(short) >= 3 and (long.startswith(short) or long.endswith("/" + short)):
        return True
    return a.rpartition("/")[2] == b.rpartition("/")[2] or (len(short) >= 4 and _distance_at_most(short, long, 2))


def _distance_at_most(a: str, b: str, most: int) -> bool:
    return abs(len(a) - len(b)) <= most and edit_distance(a[:40], b[:40]) <= most


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        older, before, row = before, row, [i]
        for j, right in enumerate(b, start=1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _runs_inside(a: Act, b: Act) -> bool:
    """`psql` and then `docker compose exec db psql`."""
    if b.program.split(" ", 1)[0] not in _RUNS_OTHERS:
        return False
    head = a.program.split(" ", 1)[0]
    return len(head) > 2 and head in b.words[1:] and a.program.split()[-1] in b.words


def _same_work(first: Attempt, second: Attempt) -> bool:
    """Another program for the same thing, right after the first was missing or refused."""
    a, b = first.act, second.act
    if second.step.position - first.step.position > 6 or b.is_dump or a.kind not in (b.kind, "run"):
        return False
    if a.program.split(" ", 1)[0] == b.program.split(" ", 1)[0]:
        # Another command of the same program: `git pull` is no other way to `git push`, but `yarn compile` is one to
        # a script `build` that does not exist.
        return first.fault is not None and first.fault.error in ("script missing", "no rule for target")
    telling = {word for word in _objects(a) & _objects(b) if len(word) >= 3}
    missing = first.fault is not None and first.fault.error == "command not found"
    return bool(telling) and (missing or a.kind == b.kind != "run" or len(telling) >= 2)


def _similar(a: str, b: str) -> bool:
    """Two texts given to one tool that takes a text: code, a query, an answer."""
    return difflib.SequenceMatcher(None, a[:600], b[:600], autojunk=False).ratio() >= 0.6


def _same_target(a: Act, b: Act) -> bool:
    if a.kind == "edit":
        mine, other = (act.arguments.get("file_path") or act.arguments.get("path") or "" for act in (a, b))
        return mine == other
    if a.kind == "http":
        return a.domain == b.domain
    if not a.arguments:
        return a.kind == "edit" or _similar(a.command, b.command)
    return len(set(a.arguments) & set(b.arguments)) * 2 >= len(a.arguments) or not b.arguments


def nested_arguments(act: Act) -> dict[str, str]:
    """Arguments by path, one level into objects: `headers.Authorization`."""
    flat: dict[str, str] = {}
    for name, value in act.arguments.items():
        inner = _object(value)
        if inner:
            flat |= {f"{name}.{key}": one for key, one in inner.items()}
        else:
            flat[name] = value
    return flat


def _object(value: str) -> dict[str, str]:
    if not value.startswith("{"):
        return {}
    try:
        found: Any = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    named = cast("dict[str, Any]", found)
    return {key: one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for key, one in named.items()}
