"""What was different when it worked: from a failed command to the one that did, in parts that hold elsewhere."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.review.actions import Act
from afterwit.review.attempts import Attempt, edit_distance, nested_arguments
from afterwit.review.commands import PAIRS
from afterwit.review.normalising import is_telling_file, normalise
from afterwit.text import redact_secrets

#: Most characters of a command that is quoted.
QUOTED_CHARS = 120


@dataclass(frozen=True)
class Change:
    """One difference that made an action work."""

    #: which sentence tells it: "first", "add", "drop", "swap", "set", "directory", "command", "field", "wait", ...
    kind: str
    #: what the sentence is about, fit to be quoted
    parts: tuple[str, ...]
    #: commands that were run before it and belong to it
    first: tuple[str, ...] = ()

    @property
    def shape(self) -> str:
        """Equal for the same change in another task."""
        return " ".join((*self.first, self.kind, *self.parts)).casefold()


_OWN_PLACES = re.compile(
    r"(?<![\w.])(?:/(?:home|Users|root|tmp|var/folders|private|workspace|workspaces|mnt|data|srv|app)(?:/[\w.@+-]+)*/|~/(?:[\w.@+-]+/)*|[A-Za-z]:\\(?:[^\\\s'\"]+\\)*)"
)
_TASK_VALUES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])\b[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"#\d+\b"), "#<n>"),
    (re.compile(r"(?i)\b(issue|issues|pull|pr|ticket|bug|fix|feature|feat|hotfix)([-/_])\d+[\w/-]*"), r"\1\2<n>"),
    (re.compile(r"\b[A-Z]{2,8}-\d+\b(?!-)"), "<ticket>"),
    (re.compile(r"\d{6,}"), "<n>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?"), "<date>"),
)
_FOR_THIS_TASK = re.compile(r"<(?:id|hash|n|ticket|date|path|temp)>")
#: Faults of a program that waits for input.
_WAITED = re.compile(r"timed out|EOF|tty|killed")
_CODE_WORD = re.compile(r"[\w.]+|'[^']*'|\"[^\"]*\"|\s+|[^\w\s]")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_PATHLIKE = re.compile(r"[/\\]|\.[A-Za-z]\w{0,5}$")
#: Faults that a slip of the hand makes.
_SLIPS = frozenset(
    (
        "command not found",
        "unknown option",
        "no such file",
        "pathspec unknown",
        "script missing",
        "not a directory",
        "file not found",
        "no rule for target",
        "unknown tool",
        "ref unknown",
        "image not found",
        "no matching distribution",
        "E404",
        "no such table",
        "no such column",
        "no such relation",
        "NameError",
        "AttributeError",
        "SyntaxError",
        "syntax error",
        "package not found",
        "HTTP 404",
        "name not resolved",
        "net::ERR_NAME_NOT_RESOLVED",
    )
)
_PATH_FAULTS = frozenset(
    ("no such file", "not a directory", "is a directory", "FileNotFoundError", "no tests ran", "module not found")
)


def general(command: str, *, limit: int = QUOTED_CHARS) -> str:
    """A command fit to be quoted elsewhere: without secrets, own directories and values of one task.

    Returns:
        Its first line, at most `limit` characters; numbers of issues, hashes and ids are placeholders.
    """
    line = redact_secrets(command.strip().split("\n", 1)[0])
    line = _OWN_PLACES.sub("", line)
    for pattern, replacement in _TASK_VALUES:
        line = pattern.sub(replacement, line)
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def holds_only_here(words: str) -> bool:
    """Whether quoted words are about one task: placeholders are left and little else."""
    return _FOR_THIS_TASK.search(words) is not None and len(re.sub(r"<\w+>|\W", "", words)) < 12


def change_between(failed: Attempt, worked: Attempt) -> Change | None:
    """What the attempt that worked did otherwise.

    Returns:
        None when nothing that is worth telling differs: a slip of the hand, another file of the same sort, values
        that mean something in this task alone.
    """
    a, b = failed.act, worked.act
    if a.arguments or b.arguments:
        return _of_arguments(failed, worked)
    if a.words and b.words and a.kind not in ("edit",):
        return _of_commands(failed, worked)
    return _of_texts(failed, worked)


def _of_commands(failed: Attempt, worked: Attempt) -> Change | None:
    a, b = failed.act, worked.act
    if b.directory and b.directory != a.directory:
        return Change("directory", (general(b.directory),))
    if new := [one for one in b.environment if one not in a.environment]:
        return Change("set", (general(" ".join(new)),))
    gone, come = difference(_plain_words(a), _plain_words(b))
    if not gone and not come:
        return _of_shell_text(failed, b)
    if (settings := _settings(gone, come)) is not None:
        return settings
    if is_slip(failed, gone, come):
        return None
    if _same_but_quoting(gone, come):
        return Change("quoting", (general(b.command),))
    return _of_words(gone, come, failed, worked)


def _settings(gone: list[str], come: list[str]) -> Change | None:
    """What differs within one argument that holds several settings: "host=db sslmode=require"."""
    if len(gone) != 1 or len(come) != 1 or not (PAIRS.fullmatch(gone[0]) and PAIRS.fullmatch(come[0])):
        return None
    old, new = difference(gone[0].split(), come[0].split())
    if not new:
        return Change("drop", (general(" ".join(old)),))
    return (
        Change("replace", (general(" ".join(new)), general(" ".join(old))))
        if old
        else Change("add", (general(" ".join(new)),))
    )


def _of_words(gone: list[str], come: list[str], failed: Attempt, worked: Attempt) -> Change | None:
    a, b = failed.act, worked.act
    if not gone:
        return _added(come, b)
    if not come:
        return Change("drop", (general(" ".join(gone)),)) if gone[0].startswith("-") else None
    if a.program != b.program:
        return Change("swap", (general(b.command), a.program))
    return _swapped(gone, come, failed, worked)


def _plain_words(act: Act) -> list[str]:
    return [word for word in act.words if "=" not in word or word.startswith("-") or PAIRS.fullmatch(word)]


def _of_shell_text(failed: Attempt, b: Act) -> Change | None:
    """The deciding words are the same; what is fed to them may not be."""
    a = failed.act
    if "|" in b.command and "|" not in a.command and failed.fault and _WAITED.search(failed.fault.error):
        # What was fed is this task's; that it must be fed is not.
        return Change("feed", (general("… | " + b.command.rpartition("|")[2].strip()),))
    return None


def difference(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of the first that are not in the second, and the other way round, in order."""
    gone: list[str] = []
    come: list[str] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += a[i:j]
            come += b[k:m]
    return gone, come


def is_slip(failed: Attempt, gone: Sequence[str], come: Sequence[str]) -> bool:
    """Whether a difference only puts right a slip of the hand or a wrong path: nothing to learn from."""
    error = failed.fault.error if failed.fault else ""
    if not gone or not come or len(gone) != len(come):
        return False
    pairs = list(zip(gone, come, strict=True))
    if error in _PATH_FAULTS and all(_PATHLIKE.search(a) or _PATHLIKE.search(b) for a, b in pairs):
        return True
    return error in _SLIPS and all(_misspelt(a, b) for a, b in pairs)


def _misspelt(a: str, b: str) -> bool:
    """`gti` for `git`; not `python` for `python3` or `created` for `created_at`, which are other names."""
    if a == b or not a or not b:
        return True
    short, long = sorted((a, b), key=len)
    if long.startswith(short) and not long[len(short) :].isalpha():
        return False
    return edit_distance(a[:60], b[:60]) <= (1 if len(short) < 5 else 2)


def _same_but_quoting(gone: Sequence[str], come: Sequence[str]) -> bool:
    def bare(words: Sequence[str]) -> str:
        return re.sub(r"[\\'\"\s]", "", "".join(words))

    return bool(gone) and bare(gone) == bare(come)


def _added(come: list[str], act: Act) -> Change | None:
    headers = [
        value
        for option, value in zip(act.words, act.words[1:], strict=False)
        if option in ("-H", "--header") and value in come
    ]
    if headers:
        return Change("header", (general(headers[0]),))
    if come[0] == "sudo":
        return Change("add", ("sudo",))
    words = general(" ".join(come))
    if come[0].startswith("-") or act.kind in ("install", "service", "migrate", "vcs", "build"):
        return None if holds_only_here(words) else Change("add", (words,))
    return Change("command", (general(act.command),))


def _swapped(gone: list[str], come: list[str], failed: Attempt, worked: Attempt) -> Change | None:
    old, new = general(" ".join(gone)), general(" ".join(come))
    if holds_only_here(new) or len(new) > QUOTED_CHARS - 1:
        return None
    same = len(worked.act.words) - len(come)
    if same < 1 or len(come) > 8:
        return Change("command", (general(worked.act.command),))
    if worked.act.kind == "sql":
        return Change("command", (general(worked.act.command),))
    if len(gone) == len(come) == 1 and gone[0].isdigit() and come[0].isdigit():
        return _other_number(gone[0], come[0], failed, worked)
    if all(word.startswith("-") for word in (gone[0], come[0])) or len(gone) <= 3:
        return Change("replace", (new, old))
    return Change("command", (general(worked.act.command),))


def _other_number(old: str, new: str, failed: Attempt, worked: Attempt) -> Change | None:
    """Another number after an option: a free port, a longer time. A number by itself is this task's."""
    words = worked.act.words
    option = words[words.index(new) - 1]
    if not option.startswith("-"):
        return None
    if failed.fault and "in use" in failed.fault.error:
        return Change("other", (option,))
    return Change("replace", (f"{option} {new}", f"{option} {old}"))


def _of_arguments(failed: Attempt, worked: Attempt) -> Change | None:
    a, b = nested_arguments(failed.act), nested_arguments(worked.act)
    added = [name for name in b if name not in a]
    gone = [name for name in a if name not in b]
    other = [name for name in b if name in a and a[name] != b[name]]
    if failed.act.kind == "edit":
        return _of_edit(failed, a, b, other)
    if added and not gone and len(added) <= 3:
        return Change("field", (", ".join(added), ", ".join(_value(b[name]) for name in added)))
    if gone and not added and not other:
        return Change("without", (", ".join(gone),))
    if len(other) == 1 and not added and not gone:
        return _other_value(other[0], a[other[0]], b[other[0]], failed)
    if gone and added and len(gone) == len(added) == 1 and not other:
        return Change("replace", (added[0], gone[0]))
    return None


def _value(value: str) -> str:
    shown = general(value, limit=60)
    return "" if holds_only_here(shown) else shown


def _other_value(name: str, old: str, new: str, failed: Attempt) -> Change | None:
    if is_slip(failed, [old], [new]):
        return None
    if (form := _form(new)) and not _form(old):
        return Change("form", (name, form))
    if holds_only_here(general(new)):
        return None
    if failed.act.kind == "sql" or name in ("command", "query", "sql"):
        gone, come = difference(re.findall(r"\w+|\S", old), re.findall(r"\w+|\S", new))
        if len(gone) == len(come) == 1:
            return None if is_slip(failed, gone, come) else Change("replace", (come[0], gone[0]))
        return Change("command", (general(new),))
    return Change("value", (name, general(new, limit=80), general(old, limit=80)))


def _form(value: str) -> str:
    """The form of a time: `YYYY-MM-DDThh:mm:ssZ`; empty for any other value."""
    if not _TIME.fullmatch(value.strip()):
        return ""
    form = re.sub(r"^\d{4}-\d\d-\d\d", "YYYY-MM-DD", value.strip())
    return re.sub(r"\d\d:\d\d:\d\d", "hh:mm:ss", re.sub(r"(?<=DD[T ])\d\d:\d\d(?!:)", "hh:mm", form))


def _of_edit(failed: Attempt, a: dict[str, str], b: dict[str, str], other: list[str]) -> Change | None:
    texts = [name for name in other if "\n" in a[name] + b[name] or len(b[name]) > 20]
    return _of_edited_text("\n".join(a[name] for name in texts), "\n".join(b[name] for name in texts), failed)


def _of_texts(failed: Attempt, worked: Attempt) -> Change | None:
    a, b = failed.act.command, worked.act.command
    if failed.act.kind == "edit":
        return _of_edited_text(a, b, failed)
    if a == b:
        return None
    if re.sub(r"[\\'\"\s]", "", a) == re.sub(r"[\\'\"\s]", "", b):
        return Change("escape" if b.count("\\") > a.count("\\") else "quoting", (failed.act.program,))
    return _of_code(a, b, failed)


def _of_code(a: str, b: str, failed: Attempt) -> Change | None:
    """Code in which one line differs: what was added to it, or put in place of something."""
    old, new = [line for line in a.splitlines() if line.strip()], [line for line in b.splitlines() if line.strip()]
    gone, come = [line for line in old if line not in new], [line for line in new if line not in old]
    if len(gone) != 1 or len(come) != 1:
        return None
    out, into = difference(_CODE_WORD.findall(gone[0]), _CODE_WORD.findall(come[0]))
    if is_slip(failed, out, into) or not into:
        return None
    if not out:
        return Change("add", (general("".join(into).strip(" ,")),))
    return Change("replace", (general("".join(into)), general("".join(out)))) if len(out) <= 3 >= len(into) else None


def _of_edited_text(old: str, new: str, failed: Attempt) -> Change | None:
    """Edits differ in their text, which is this task's; only how it must be given transfers."""
    error = failed.fault.error if failed.fault else ""
    said = f"{error} {failed.fault.detail if failed.fault else ''}"
    if old != new and "".join(old.split()) == "".join(new.split()):
        return Change("indentation", ())
    if error == "text to replace not found":
        return Change("exact", ())
    if error == "text to replace not unique":
        return Change("unique", ())
    if re.search(r"SyntaxError|unmatched|was never closed|unexpected EOF|invalid syntax|E999", said):
        return Change("statement", ())
    return None


def edit_change(attempt: Attempt) -> Change | None:
    """An edit as advice, when the file is one that settings stand in; None for source code."""
    act = attempt.act
    path = act.arguments.get("file_path") or act.arguments.get("path") or act.target
    name = path.replace("\\", "/").rpartition("/")[2]
    if not (
        is_telling_file(name)
        or re.search(
            r"(?i)\.(?:ya?ml|toml|ini|cfg|conf|env|properties|tf)$|^(?:Dockerfile|Makefile|\.\w+rc|\.env\S*)$", name
        )
    ):
        return None
    new = act.arguments.get("new_string") or act.arguments.get("new_str") or act.arguments.get("content") or ""
    old = act.arguments.get("old_string") or act.arguments.get("old_str") or ""
    before = {line.strip() for line in old.splitlines()}
    fresh = [line.strip() for line in new.splitlines() if line.strip() and line.strip() not in before]
    if not fresh and act.words:
        return Change("edit", (name, general(act.command)))
    if not fresh or len(fresh) > 6:
        return Change("edit", (name, ""))
    return Change("edit", (name, general("; ".join(fresh[:3]))))


def attempt_words(attempt: Attempt) -> str:
    """An attempt as it is quoted in a situation: the command when it is short, else the program."""
    act = attempt.act
    if not act.words:
        return act.program
    if attempt.is_own_script:
        return act.program.split(" ", 1)[0]
    command = act.command
    if command.startswith(("echo ", "printf ")) and "|" in command:
        command = f"… | {command.rpartition('|')[2].strip()}"
    whole = general(command)
    return whole if len(whole) <= 60 and not _FOR_THIS_TASK.search(whole) else normalise(act.program)
