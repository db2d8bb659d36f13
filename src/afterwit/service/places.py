"""Where an agent's session takes place, and what its tasks are called: the same for hooks and for files."""

import re
from contextlib import suppress
from pathlib import Path, PureWindowsPath

from afterwit import text
from afterwit.errors import InvalidInput
from afterwit.records import GLOBAL
from afterwit.service.stepping import MAX_GOAL_BYTES
from afterwit.transcripts import client_named
from afterwit.vocabulary import fold_scope, strip_injected

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: A directory of Windows, whatever system this is: "C:\\work\\atlas".
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
#: Characters of a session's name that are kept.
_NAME_CHARS = 200


def project_scope(cwd: str | Path) -> str:
    """The scope of what is learned in a directory: `project:NAME`, or "global" where no project can be told.

    The name is that of the Git repository around it (of its main checkout, for a linked worktree), else that of the
    directory itself. A directory that is not on this machine goes by its own name.

    Args:
        cwd: the directory; "" = unknown.
    """
    name = _project(str(cwd).strip())
    try:
        return fold_scope(f"project:{name}") if name else GLOBAL
    except InvalidInput:  # a name that is too long or holds control characters
        return GLOBAL


def _project(cwd: str) -> str:
    if not cwd:
        return ""
    if _OF_WINDOWS.match(cwd):
        parts = PureWindowsPath(cwd).parts
        is_home = len(parts) == 3 and parts[1].casefold() in ("users", "documents and settings")
        return "" if is_home else PureWindowsPath(cwd).name
    path, home = Path(cwd).expanduser(), Path.home()
    if path in (home, Path(path.anchor)):
        return ""
    for directory in (path, *path.parents):
        if directory in (home, Path(directory.anchor)):
            break
        try:
            mark = directory / ".git"
            if mark.is_dir():
                return directory.name
            if mark.is_file():
                return _checkout_of(mark.read_text(encoding="utf-8", errors="replace")) or directory.name
        except OSError:
            break
    return path.name


def _checkout_of(pointer: str) -> str:
    """The name of the main checkout that a linked worktree's `.git` file points to; empty for another file."""
    found = re.match(r"gitdir:\s*(.+?)[\\/]\.git[\\/]worktrees[\\/]", pointer)
    return PureWindowsPath(found[1]).name if found else ""


def session_name(client: str, session_id: str) -> str:
    """What a client's session is called in tasks: `CLIENT:ID`, the same however the client's name is written."""
    with suppress(InvalidInput):  # a client whose files cannot be read has sessions all the same
        client = client_named(client).name
    return f"{client}:{session_id}"[:_NAME_CHARS]


def goal_of(words: str) -> str:
    """The goal of the task that a request opens: its words, cut to what a goal may hold.

    Recalled memories, secrets and control characters are taken out; the same words give the same goal wherever they
    are read. Empty when nothing is left.
    """
    bare = text.redact_secrets(_CONTROL.sub("", strip_injected(words[:100_000]).replace("\r", "\n"))).strip()
    return bare.encode(errors="replace")[:MAX_GOAL_BYTES].decode(errors="ignore").strip()
