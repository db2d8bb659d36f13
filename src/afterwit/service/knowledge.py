"""Documents as seed memories: which files, what is new in them, and what they no longer say."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from afterwit import text
from afterwit.documents import Passage, addresses_the_agent, passages
from afterwit.errors import InvalidInput, Sentence
from afterwit.gate import judge
from afterwit.records import (
    Add,
    Basis,
    Change,
    KeyFilter,
    Kind,
    Memory,
    Retire,
    Revise,
    Source,
    Standing,
    Status,
    Supersede,
    Trust,
    new_id,
)
from afterwit.storage import Order, Reader, Store, Transaction
from afterwit.vocabulary import confidence_of

#: Files of a folder that are read; a file that is named itself may have any name.
MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
PLAIN = frozenset({".txt", ".text", ".rst", ".adoc"})
#: Larger ones are data, not documents.
MAX_FILE_BYTES = 2 * 2**20
#: Files of one call.
MAX_FILES = 20_000
#: Changes in one transaction: others wait some 50 ms for it.
_CHANGED_AT_ONCE = 200
#: Directories that hold other people's documents.
_FOREIGN = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
#: Share of the words of the shorter one from which a new passage under the same headings is an old one, changed.
_SAME_PASSAGE = 0.4

#: Field of `structured` in which a passage of a document keeps its digest.
DIGEST = "digest"


@dataclass(frozen=True)
class Refusal:
    """A passage that was not taken in."""

    #: "to_the_agent" for one that gives orders to its reader, or a reason of the gate
    reason: str
    #: its first line
    line: str


@dataclass(frozen=True)
class FileReport:
    """What became of one file."""

    #: relative to the folder that was named
    name: str
    #: "new", "changed", "unchanged", "skipped" (see `reason`) or "gone"
    status: str
    #: why it was skipped: "binary", "not_utf8", "too_large", "empty", "unreadable", "no_passage"
    reason: str = ""
    added: int = 0
    #: changed passages, whose old words are superseded
    replaced: int = 0
    #: passages that it no longer has, or that are gone with it
    retired: int = 0
    #: passages that are known already, in the same words, from elsewhere
    known: int = 0
    refused: tuple[Refusal, ...] = ()
    #: first lines of what is added, at most three
    first_lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class KnowledgeReport:
    """What an import did, or would do."""

    files: tuple[FileReport, ...]
    is_dry_run: bool

    def total(self, name: str) -> int:
        """Sum over the files of "added", "replaced", "retired" or "known"."""
        return sum(getattr(file, name) for file in self.files)

    @property
    def by_status(self) -> dict[str, int]:
        """Status -> number of files."""
        return dict(Counter(file.status for file in self.files).most_common())


@dataclass(frozen=True)
class Place:
    """Where the passages of an import belong."""

    space: str
    scope: str
    role: str
    trust: Trust


@dataclass
class _File:
    """A file on its way in."""

    name: str
    reason: str = ""
    passages: list[Passage] = field(default_factory=list[Passage])
    refused: list[Refusal] = field(default_factory=list[Refusal])
    adds: list[Memory] = field(default_factory=list[Memory])
    changes: list[Change] = field(default_factory=list[Change])
    replaced: int = 0
    retired: int = 0
    known: int = 0
    was_known: bool = False
    is_gone: bool = False

    def report(self) -> FileReport:
        status = "gone" if self.is_gone else "skipped" if self.reason else "changed"
        if status == "changed" and not (self.adds or self.changes):
            status = "unchanged"
        elif status == "changed" and not self.was_known:
            status = "new"
        return FileReport(
            self.name,
            status,
            self.reason,
            len(self.adds) - self.replaced,
            self.replaced,
            self.retired,
            self.known,
            tuple(self.refused),
            tuple(_first_line(row.summary) for row in self.adds[:3]),
        )


def import_knowledge(
    store: Store, place: Place, paths: Sequence[str | Path], *, now: datetime, actor: str, dry_run: bool, prune: bool
) -> KnowledgeReport:
    """Take in what the files of some paths say; see `Tending.import_knowledge`."""
    if not paths:
        raise InvalidInput("No file or folder was named.", next_step="Name at least one.")
    reports: list[FileReport] = []
    for path in paths:
        root, found = _files_of(Path(path).expanduser())
        files = [_read(file, name) for name, file in found]
        collection = collection_of(root)
        planned = _planned(store, place, files, collection, now=now, prune=prune and root.is_dir())
        if not dry_run:
            _carry_out(store, place, planned, now=now, actor=actor)
        reports += [file.report() for file in planned]
    return KnowledgeReport(tuple(reports), dry_run)


def collection_of(root: Path) -> str:
    """The tag of everything that was brought in from one folder or file; says nothing of where it lies."""
    digest = hashlib.blake2b(os.fsencode(root.absolute()), digest_size=6).hexdigest()
    return f"docs-{digest}"


# --- Files ----------------------------------------------------------------------------------------


def _files_of(path: Path) -> tuple[Path, list[tuple[str, Path]]]:
    """The folder or file that names are relative to, and (name, file) of each document, in order of name.

    Hidden and foreign directories and all links inside a folder are passed over: what they lead to may lie elsewhere
    or go round in a circle.

    Raises:
        InvalidInput: there is no such file or folder, or it holds too many files.
    """
    if not path.exists():
        raise InvalidInput(Sentence("There is no file or folder {path}.", path=path), next_step="Check the path.")
    if not path.is_dir():
        return path, [(path.name, path)]
    found: list[tuple[str, Path]] = []
    for directory, names, files in os.walk(path, followlinks=False):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _FOREIGN)
        for name in sorted(files):
            file = Path(directory) / name
            if name.startswith(".") or file.suffix.lower() not in MARKDOWN | PLAIN or file.is_symlink():
                continue
            found.append((file.relative_to(path).as_posix(), file))
            if len(found) > MAX_FILES:
                raise InvalidInput(
                    Sentence("{path} holds more than {most} documents.", path=path, most=MAX_FILES),
                    next_step="Name its parts.",
                )
    return path, sorted(found)


def _read(file: Path, name: str) -> _File:
    found = _File(_printable(name))
    content, found.reason = _content(file)
    if found.reason:
        return found
    for passage in passages(content, is_markdown=file.suffix.lower() in MARKDOWN):
        if reason := _refusal(passage):
            found.refused.append(Refusal(reason, _first_line(passage.summary)))
        else:
            found.passages.append(passage)
    if not found.passages and not found.refused:
        found.reason = "no_passage"
    return found


def _content(file: Path) -> tuple[str, str]:
    """The text of a file, or "" and why there is none."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return "", "too_large"
        data = file.read_bytes()
    except OSError:
        return "", "unreadable"
    if b"\0" in data:
        return "", "binary"
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", "not_utf8"
    return (content, "") if content.strip() else ("", "empty")


def _printable(name: str) -> str:
    """A file's name as valid text, whatever bytes it is made of."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _refusal(passage: Passage) -> str:
    if addresses_the_agent(passage.summary):
        return "to_the_agent"
    if any(ord(sign) < 32 and sign not in "\t\n" for sign in passage.summary):
        return "raw_dump"
    prose = passage.prose
    if passage.code and not any(sign.isalnum() for sign in prose):
        return ""  # code under a heading says enough
    return judge(prose, explicit=True).reason


def _first_line(words: str) -> str:
    return text.truncate(" ".join(words.split()), 24)


# --- What is new ----------------------------------------------------------------------------------


def _planned(
    reader: Reader, place: Place, files: list[_File], collection: str, *, now: datetime, prune: bool
) -> list[_File]:
    """Set the changes of each file; files that are gone are appended when they are to be pruned."""
    known = _known(reader, place, collection)
    active = {row.structured[DIGEST]: row for row in known if row.status is Status.ACTIVE}
    refused = {row.structured[DIGEST] for row in known if _is_unwanted(row)}
    of_file: dict[str, list[Memory]] = defaultdict(list)
    for row in active.values():
        of_file[row.source.ref].append(row)
    wanted: dict[str, str] = {}
    for file in files:
        file.was_known = file.name in of_file
        for passage in file.passages:
            wanted.setdefault(passage.digest, file.name)
    readable = {file.name for file in files if not file.reason}
    unreadable = {file.name for file in files} - readable
    for file in files:
        if not file.reason:
            _plan_file(reader, place, file, _Known(active, refused, wanted, of_file[file.name]), collection, now)
    if prune:
        for name in sorted(set(of_file) - readable - unreadable):
            left = [row for row in of_file[name] if row.structured[DIGEST] not in wanted]
            changes: list[Change] = [Retire(row.id, Status.EXPIRED, f"{name} is gone") for row in left]
            files.append(_File(name, changes=changes, retired=len(left), is_gone=True))
    return files


def _known(reader: Reader, place: Place, collection: str) -> list[Memory]:
    """Passages that this collection brought in earlier, in whatever state."""
    where = replace(KeyFilter.everything(), scopes=(place.scope,), roles=(place.role,), tags=(collection,))
    found: list[Memory] = []
    while page := reader.find(place.space, where, order=Order.OLDEST, limit=1000, offset=len(found)):
        found += page
    return [row for row in found if DIGEST in row.structured]


def _is_unwanted(row: Memory) -> bool:
    """Whether somebody took a passage out on purpose; what left with its file may come back with it."""
    return row.status in (Status.FORGOTTEN, Status.QUARANTINED) or row.standing is Standing.REFUTED


@dataclass(frozen=True)
class _Known:
    """What there is already."""

    #: digest -> active passage of the collection
    active: Mapping[str, Memory]
    #: digests of what somebody took out
    refused: set[str]
    #: digest -> the first file of this import that has it
    wanted: Mapping[str, str]
    #: active passages of the file
    of_file: Sequence[Memory]


def _plan_file(reader: Reader, place: Place, file: _File, known: _Known, collection: str, now: datetime) -> None:
    left = [row for row in known.of_file if row.structured[DIGEST] not in known.wanted]
    for passage in file.passages:
        digest = passage.digest
        if known.wanted[digest] != file.name or digest in known.refused:
            file.known += 1
        elif (row := known.active.get(digest)) is not None:
            if row.source.ref != file.name:  # the file has another name now
                file.changes.append(Revise(row.id, {"source": Source("import", file.name)}, reason="file was renamed"))
        elif _is_said(reader, place, passage.summary) or any(row.structured[DIGEST] == digest for row in file.adds):
            file.known += 1
        else:
            made = _memory(passage, file.name, place, collection, now)
            file.adds.append(made)
            if (old := _earlier(made, left)) is not None:
                left.remove(old)
                file.replaced += 1
                reason = f"changed in {file.name}"
                file.changes.append(Supersede(old.id, made.id, valid_to=now, reason=reason))
    file.retired = len(left)
    file.changes += [Retire(row.id, Status.EXPIRED, f"no longer in {file.name}") for row in left]


def _is_said(reader: Reader, place: Place, summary: str) -> bool:
    where = KeyFilter(scopes=(place.scope,), roles=(place.role,))
    rows = reader.find_statement(place.space, where, text.statement_key(summary))
    return any(text.same_statement(row.summary, summary) for row in rows)


def _earlier(made: Memory, left: Sequence[Memory]) -> Memory | None:
    """The passage that a new one is a changed form of: under the same headings, with many of its words."""
    mine = set(text.index_tokens(made.summary))
    best, most = None, _SAME_PASSAGE
    for row in left:
        if row.structured.get("heading") == made.structured.get("heading"):
            theirs = set(text.index_tokens(row.summary))
            share = len(mine & theirs) / max(1, min(len(mine), len(theirs)))
            if share > most:
                best, most = row, share
    return best


def _memory(passage: Passage, name: str, place: Place, collection: str, now: datetime) -> Memory:
    structured: dict[str, object] = {DIGEST: passage.digest}
    if passage.heading:
        structured["heading"] = list(passage.heading)
    return Memory(
        id=new_id(now),
        space=place.space,
        summary=passage.summary,
        kind=Kind.FACT,
        recorded_at=now,
        happened_at=now,
        scope=place.scope,
        role=place.role,
        tags=(collection,),
        raw=passage.raw,
        structured=structured,
        basis=Basis.IMPORTED,
        trust=min(place.trust, Trust.EXTERNAL),
        source=Source("import", name),
        confidence=confidence_of(Basis.IMPORTED),
        supporters=(name,),
    )


def _carry_out(store: Store, place: Place, files: Sequence[_File], *, now: datetime, actor: str) -> None:
    """Make the changes, a few files at a time; what is done stays when a later part fails, and is not done again."""
    for changes in _groups(files):
        with store.transaction(place.space, now=now, actor=actor) as tx:
            tx.apply(_still_right(tx, place.space, changes))


def _groups(files: Sequence[_File]) -> Iterator[list[Change]]:
    """Changes in groups; a replacement stands in the group of what it replaces."""
    group: list[Change] = []
    for file in files:
        replacing = {change.new_id: change for change in file.changes if isinstance(change, Supersede)}
        units: list[Sequence[Change]] = []
        for row in file.adds:
            ends = replacing.get(row.id)
            units.append([Add(row), ends] if ends is not None else [Add(row)])
        units += [[change] for change in file.changes if not isinstance(change, Supersede)]
        for unit in units:
            group += unit
            if len(group) >= _CHANGED_AT_ONCE:
                yield group
                group = []
    if group:
        yield group


def _still_right(tx: Transaction, space: str, changes: Sequence[Change]) -> list[Change]:
    """Leave alone what somebody else took out of recall since the plan was made."""
    ids = [change.old_id for change in changes if isinstance(change, Supersede)]
    ids += [change.memory_id for change in changes if isinstance(change, Retire | Revise)]
    active = {id for id, row in tx.get(space, ids).items() if row.status is Status.ACTIVE}

    def is_right(change: Change) -> bool:
        match change:
            case Supersede():
                return change.old_id in active
            case Retire() | Revise():
                return change.memory_id in active
            case _:
                return True

    return [change for change in changes if is_right(change)]
