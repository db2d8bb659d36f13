"""Reading and writing other programs' configuration: whole or not at all, with a copy of what was there before."""

import os
import re
import stat
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from afterwit.errors import Conflict, Forbidden, InvalidInput, StorageError

#: Largest configuration that is read, in bytes; real ones hold some megabytes at most.
MAX_BYTES = 32 * 1024 * 1024
#: In the name of a copy, before and after its time.
_MARK, _ENDING = ".afterwit-", ".bak"


@dataclass(frozen=True)
class Change:
    """What becomes of one file."""

    path: Path
    #: its bytes; None = there is no such file
    before: bytes | None
    #: its text from now on; None = it is removed
    after: str | None

    @property
    def text_before(self) -> str:
        """What is there as text, "" where there is no file."""
        return (self.before or b"").decode("utf-8")

    @property
    def changes(self) -> bool:
        """Whether anything becomes different."""
        return self.before != (None if self.after is None else self.after.encode("utf-8"))


def read(path: Path) -> bytes | None:
    """A file's bytes, None where there is none.

    Raises:
        InvalidInput: it is a directory, too large, or not UTF-8.
        StorageError: it cannot be read.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"{path} is larger than {MAX_BYTES >> 20} MiB.", next_step="Is it the right file?")
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a directory.", next_step="Remove it, then run this again.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", next_step="Check its rights.") from error
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(
            f"{path} is not valid UTF-8 in line {line}; nothing was changed.", next_step="Save it as UTF-8."
        ) from None
    return data


def check(change: Change) -> None:
    """See that a change may be carried out.

    Raises:
        Forbidden: the file, or the directory that is to hold it, is read-only.
    """
    target = Path(os.path.realpath(change.path))
    place = target if change.before is not None else next(each for each in target.parents if each.exists())
    if not place.stat().st_mode & stat.S_IWUSR or not os.access(place, os.W_OK):
        raise Forbidden(f"{place} is read-only; nothing was changed.", next_step="Make it writable first.")


def apply(change: Change, *, now: datetime, private: bool) -> Path | None:
    """Carry a change out: first a copy beside the file, then the new text in its place at one stroke.

    A link stays a link, and the file keeps its rights.

    Args:
        change: what to do; one that changes nothing is not to be applied.
        now: for the copy's name.
        private: a new file is for its owner alone.

    Returns:
        The copy; None where there was nothing to copy.

    Raises:
        Conflict: it has changed meanwhile.
        StorageError: it cannot be written; what was there is still there.
    """
    target = Path(os.path.realpath(change.path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if change.before is None:
            _replace(target, change.after or "", 0o600 if private else 0o644)
            return None
        found = target.stat()
        if target.read_bytes() != change.before:
            raise Conflict(f"{change.path} has changed meanwhile; nothing was written.", next_step="Run this again.")
        copy = _copy_of(target, change.before, found, now)
        if change.after is None:
            target.unlink()
        else:
            _replace(target, change.after, stat.S_IMODE(found.st_mode), owner=found)
    except OSError as error:
        raise StorageError(
            f"{change.path} cannot be written: {error.strerror or error}; it is as it was.",
            next_step="Check its rights and those of its directory.",
        ) from error
    return copy


def copies(path: Path) -> list[Path]:
    """The copies of a file that `apply` made, the newest first."""
    target = Path(os.path.realpath(path))
    form = re.compile(re.escape(target.name + _MARK) + r"\d{8}T\d{6}Z(-\d+)?" + re.escape(_ENDING))
    try:
        return sorted((each for each in target.parent.iterdir() if form.fullmatch(each.name)), reverse=True)
    except OSError:
        return []


def _copy_of(target: Path, data: bytes, like: os.stat_result, now: datetime) -> Path:
    name = f"{target.name}{_MARK}{now:%Y%m%dT%H%M%SZ}"
    copy, number = target.with_name(name + _ENDING), 1
    while copy.exists():
        number += 1
        copy = target.with_name(f"{name}-{number}{_ENDING}")
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    copy.chmod(stat.S_IMODE(like.st_mode))
    return copy


def _replace(target: Path, text: str, mode: int, owner: os.stat_result | None = None) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        if owner is not None and hasattr(os, "chown") and (owner.st_uid, owner.st_gid) != (os.getuid(), os.getgid()):
            os.chown(temporary, owner.st_uid, owner.st_gid)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
