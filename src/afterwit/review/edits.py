"""What a task changed in files: where, and which words became which, read from its edits and from the diff it shows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afterwit.review.attempts import Attempt
from afterwit.review.changes import general
from afterwit.review.instructions import reads_as_instruction
from afterwit.review.values import leaves
from afterwit.text import redact_secrets

#: Most characters of a line of code that is quoted.
LINE_CHARS = 140
#: Lines of a diff or an edit that are read.
_READ_LINES = 4_000
#: Characters of what a task wrote that are known again in a diff: of lines, and of commands.
_KNOWN_LINES_CHARS, _KNOWN_COMMANDS_CHARS = 1_000_000, 20_000

_OLD = ("old_string", "old_str", "search", "old_text", "old")
_NEW = ("new_string", "new_str", "replace", "new_text", "replacement", "content", "file_text", "new")
_PATH = ("file_path", "path", "notebook_path", "file", "filename", "target_file")
_DIFF_FILE = re.compile(r"^(?:\+\+\+ (?:b/)?(?P<new>[^\t\n]+)|\*\*\* (?:Update|Add) File: (?P<patched>.+))$")
_HUNK = re.compile(r"^@@(?: -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)? ?(?P<where>.*)$")
_DEFINED = re.compile(
    r"\b(?:class|def|func|fn|function|interface|struct|trait|impl|module|enum|type|sub)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)"
)
#: The file that an editor with a cursor is at, as it says after every command.
_OPENED = re.compile(r"\[File: (?P<path>[^\s\]]+) \(\d+ lines")
#: What frames the words of an edit that is typed as a command: the lines that it is for, and its end.
_FRAME = re.compile(r"^(?:end_of_\w+|EOF|\d+:\d+)$")
_TAKES_BACK = frozenset(("git checkout", "git restore", "git rm"))
#: Folders from which on a path means the same in every checkout.
_ROOTS = re.compile(r"^.*?/(?=(?:src|lib|packages|tests?|internal|cmd|pkg)/)")
_NO_CODE = re.compile(r"^\s*(?:#|//|/\*|\*|--|import\b|from\b|use\b|\"\"\"|''')|^\W*\w{0,2}\W*$")
_IS_A_TEST = re.compile(r"(?i)(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)(?:test_[^/]*|[^/]*[._](?:test|spec)\.\w+)$")


@dataclass(frozen=True)
class Edit:
    """What became of one file."""

    #: as the checkout names it, without the folders before it
    path: str
    #: class or function; empty when nothing tells
    where: str = ""
    #: the first line of code that was taken out, and the one in its place; one is empty when there is none, both
    #: when either is not fit to be quoted
    old: str = ""
    new: str = ""
    #: lines that were taken out or put in
    lines: int = 0
    positions: tuple[int, ...] = ()
    #: the task made the file
    is_new: bool = False

    @property
    def name(self) -> str:
        """The file's name alone."""
        return self.path.rpartition("/")[2]

    @property
    def is_test(self) -> bool:
        """It is part of the tests."""
        return _IS_A_TEST.search(self.path) is not None


def edits_of(attempts: Sequence[Attempt]) -> list[Edit]:
    """Files that a task changed, in the order of their first edit; what it made for itself and removed is left out.

    A diff that was shown after the edits goes before what single edits say.
    """
    made: dict[str, Edit] = {}
    opened, written = "", _Written()
    for one in attempts:
        shown = _OPENED.search(one.step.output)
        opened = shown["path"] if shown else opened
        if one.act.kind == "edit" and not one.failed:
            written.add(one)
            for edit in _of_edit(one, opened):
                made[edit.name] = _joined(made.get(edit.name), edit)
        if not one.failed and (one.act.words[:1] == ("rm",) or one.act.program in _TAKES_BACK):
            for word in one.act.words[1:]:
                made.pop(word.rpartition("/")[2], None)
        if _shows_changes(one):
            # What others changed is read, too; of what a tool prints only what the task itself wrote is believed.
            for edit in _of_diff(one.step.output, one.position):
                known = made.get(edit.name)
                if known is not None and edit.new in written:
                    told = edit if edit.old or edit.new else replace(edit, old=known.old, new=known.new)
                    made[edit.name] = replace(told, positions=(*known.positions, one.position), is_new=known.is_new)
    return [edit for edit in made.values() if re.search(r"[^\W\d]", edit.name)]


def _joined(known: Edit | None, edit: Edit) -> Edit:
    if known is None:
        return edit
    told = edit if edit.new and (edit.lines >= known.lines or not known.new) else known
    return replace(
        told,
        where=told.where or known.where,
        lines=known.lines + edit.lines,
        positions=(*known.positions, *edit.positions),
        is_new=known.is_new,
    )


class _Written:
    """What a task wrote into files, by lines, each read once; a command that writes is known by any part of it."""

    def __init__(self) -> None:
        self._lines: set[str] = set()
        self._commands = ""
        self._left = _KNOWN_LINES_CHARS

    def add(self, one: Attempt) -> None:
        """What an edit was given; beyond the limits it is not known again."""
        given = redact_secrets(one.step.input)
        if one.act.words and len(self._commands) < _KNOWN_COMMANDS_CHARS:
            self._commands += "\n" + _squeezed(given)[:_KNOWN_COMMANDS_CHARS]
        values = [value for _, value in leaves(given)] or [re.sub(r"\\[rt]", "", given.replace("\\n", "\n")), given]
        for line in (line for value in values for line in value.splitlines()[:_READ_LINES]):
            self._left -= len(line)
            if self._left < 0:
                return
            self._lines.add(_squeezed(line))

    def __contains__(self, line: str) -> bool:
        """Whether the task wrote this line; no line at all is in everything."""
        squeezed = _squeezed(line)
        return not squeezed or squeezed in self._lines or squeezed in self._commands


def _squeezed(words: str) -> str:
    """Words without blanks and quotes, and without the mark of a line that a patch adds."""
    return re.sub(r"[\s`'\"\\]+", "", words).removeprefix("+")


def _shows_changes(one: Attempt) -> bool:
    if one.act.kind in ("browse", "http", "sql", "edit") or one.act.program in ("git log", "git show", "git stash"):
        return False
    return "\n@@ -" in one.step.output and "\n+++ " in one.step.output


def _of_edit(one: Attempt, opened: str) -> Iterator[Edit]:
    act = one.act
    if "*** Begin Patch" in one.step.input:
        yield from _of_diff(one.step.input.replace("\\n", "\n"), one.position)
        return
    path = next((act.arguments[name] for name in _PATH if act.arguments.get(name)), "") or (
        act.target if act.words else opened or act.target
    )
    if not path:
        return
    old = next((act.arguments[name] for name in _OLD if name in act.arguments), "")
    new = next((act.arguments[name] for name in _NEW if name in act.arguments), "")
    creates = not old and ("create" in act.tool or "write" in act.tool or act.arguments.get("command") == "create")
    if act.words and act.kind == "edit" and act.program not in ("sed", "patch"):
        creates = True  # a shell that writes a whole file
    if not act.arguments and not act.words:
        new = "" if creates else one.step.input
    gone = [line for line in old.splitlines()[:_READ_LINES] if line.strip()]
    come = [line for line in new.splitlines()[:_READ_LINES] if line.strip() and not _FRAME.match(line.strip())]
    yield _edit(path, "", gone, come, (one.position,), is_new=creates)


def _of_diff(text: str, position: int) -> Iterator[Edit]:
    path, where, defined, is_new = "", "", "", False
    gone: list[str] = []
    come: list[str] = []

    def told() -> Iterator[Edit]:
        if path and (gone or come):
            yield _edit(path, where, gone, come, (position,), is_new=is_new)

    for line in text.splitlines()[:_READ_LINES]:
        if found := _DIFF_FILE.match(line):
            yield from told()
            path, where, defined = (found["new"] or found["patched"]).strip(), "", ""
            is_new = line.startswith("*** Add") or (is_new and not gone and not come)
            gone, come = [], []
        elif line.startswith("--- "):
            is_new = "/dev/null" in line
        elif (found := _HUNK.match(line)) and path:
            defined = _last_name(found["where"]) or defined
        elif line.startswith(("+", "-")) and path:
            (come if line[0] == "+" else gone).append(line[1:])
            where = where or defined
        elif line.startswith(" "):
            defined = _last_name(line) or defined
    yield from told()


def _edit(
    path: str, where: str, gone: Sequence[str], come: Sequence[str], positions: tuple[int, ...], *, is_new: bool
) -> Edit:
    before, after = set(gone), set(come)
    removed = [line for line in gone if line not in after]
    added = [line for line in come if line not in before]
    old, new = ("", "") if is_new else _telling_pair(removed, added)
    return Edit(_relative(path), where, old, new, len(removed) + len(added), positions, is_new)


def _telling_pair(removed: Sequence[str], added: Sequence[str]) -> tuple[str, str]:
    """The first line of code that changed, and what it became; an empty one is not there.

    Both are empty when either is there and cannot be quoted: the other alone would tell that nothing was in its place.
    """
    gone = [line for line in removed if not _NO_CODE.match(line)]
    come = [line for line in added if not _NO_CODE.match(line)]
    if not come:
        return _quotable(gone[0]) if gone else "", ""
    if not gone:
        return "", _quotable(come[0])
    left = [(line, _words(line)) for line in gone[:20]]
    right = [(line, _words(line)) for line in come[:20]]
    (old, mine), (new, others) = max(
        ((a, b) for a in left for b in right), key=lambda pair: len(pair[0][1] & pair[1][1])
    )
    if not mine & others:
        old, new = gone[0], come[0]
    old, new = _quotable(old), _quotable(new)
    return (old, new) if old and new else ("", "")


def _words(line: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w{2,}", line))


def _quotable(line: str) -> str:
    """A line of code fit to be kept; empty when it is too long or gives orders."""
    bare = " ".join(redact_secrets(line).split()).replace("`", "'")
    return "" if len(bare) > LINE_CHARS or reads_as_instruction(bare) else general(bare, limit=LINE_CHARS)


def _last_name(line: str) -> str:
    found = _DEFINED.findall(line)
    return found[-1] if found else ""


def _relative(path: str) -> str:
    """A path as the checkout names it."""
    plain = path.strip().strip("'\"").replace("\\", "/").removeprefix("./")
    if plain.startswith("/") or re.match(r"^[A-Za-z]:/", plain):
        plain = _ROOTS.sub("", plain) if _ROOTS.match(plain) else plain.rpartition("/")[2]
    return general(plain, limit=100).lstrip("/")
