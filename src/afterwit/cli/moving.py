"""Commands that go through everything: export, import, reindex."""

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from afterwit.cli.options import decode, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import tell
from afterwit.errors import InvalidInput, ProviderError, Sentence, StorageError

if TYPE_CHECKING:
    from afterwit.service import Afterwit, ImportReport
    from afterwit.storage import Store, Transaction


# --- export --------------------------------------------------------------------------------------


@click.command("export", short_help="Write everything as lines of JSON. 导出。")
@click.argument("file", default="-", type=click.Path())
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
@pass_session
def export(session: Session, file: str, force: bool) -> None:
    """Write everything in the space as lines of JSON, to FILE or standard output.

    把整个记忆空间导出为 JSONL；import 可原样读回。

    FILE appears whole or not at all, and only its owner may read it. An existing one is kept
    unless --force is given.

    \b
    Examples:
      afterwit export memories.jsonl
      afterwit --space 工作 export | gzip > backup.jsonl.gz
    """
    if file == "-":
        if session.as_json:
            raise InvalidInput("--json would mix with the export.", next_step="Give a FILE, or drop --json.")
        with session.memory() as memory:
            stream = sys.stdout.buffer
            _write_lines(memory.export(), stream, lambda _: None)
            stream.flush()
        return
    target = Path(file)
    if target.is_dir():
        raise InvalidInput(
            Sentence("{path} is a directory.", path=file),
            next_step=Sentence("Name a file in it, such as {file}.", file=target / "memories.jsonl"),
        )
    if target.exists() and not force:
        raise InvalidInput(
            Sentence("{file} is already there.", file=file),
            next_step="Choose another name, or add --force to replace it.",
        )
    with session.memory() as memory, _appearing(target, force=force) as stream:
        with session.progress("export", memory.count(all_states=True)) as advance:
            counts = _write_lines(memory.export(), stream, advance)
    values = {"file": str(target.absolute()), "exported": counts}
    session.answer(lambda: values, lambda: tell("exported", place=values["file"], counts=_told(counts)))


def _write_lines(lines: Iterable[str], stream: IO[bytes], advance: Callable[[int], None]) -> dict[str, int]:
    """Write the lines; returns how many there are of each record type."""
    counts: dict[str, int] = {}
    for line in lines:
        stream.write(line.encode() + b"\n")
        name = line.split('"', 4)[3]  # the first value of a line names its record type
        counts[name] = counts.get(name, 0) + 1
        if name == "memory":
            advance(1)
    counts.pop("afterwit", None)
    return counts


@contextmanager
def _appearing(target: Path, *, force: bool) -> Generator[IO[bytes]]:
    """A file that appears under its name, whole, when the block ends without an error.

    Raises:
        InvalidInput: it cannot be made there, or another was made there meanwhile.
        StorageError: the disk is full.
    """
    with _mapped(target):
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(number, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if force:
                Path(name).replace(target)
            else:
                _put(Path(name), target)
        finally:
            Path(name).unlink(missing_ok=True)


def _put(made: Path, target: Path) -> None:
    """Give a file its name, unless someone else put one there in the meantime."""
    try:
        target.hardlink_to(made)
    except FileExistsError:
        raise
    except OSError:  # file systems without links, as on memory cards; there a rename has to do
        made.replace(target)


@contextmanager
def _mapped(path: Path) -> Generator[None]:
    try:
        yield
    except FileExistsError:
        raise InvalidInput(
            Sentence("{path} is already there.", path=path), next_step="Choose another name, or add --force."
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise StorageError(
                Sentence("Cannot write {path}: {strerror}.", path=path, strerror=error.strerror),
                next_step="Free some space.",
            ) from error
        raise InvalidInput(
            Sentence("Cannot use {path}: {strerror}.", path=path, strerror=error.strerror),
            next_step="Check the path and your rights there.",
        ) from error


# --- import --------------------------------------------------------------------------------------


@click.command("import", short_help="Read what export wrote. 导入。")
@click.argument("file", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only say what would be imported.")
@json_option
@pass_session
def import_(session: Session, file: str, dry_run: bool) -> None:
    """Read what export wrote, from FILE or, for "-", standard input.

    读入 export 导出的文件；已有的条目保持不变，出错则什么都不改。

    What is already here stays as it is. All of it is imported or, after an error, nothing.

    \b
    Examples:
      afterwit import memories.jsonl --dry-run
      gunzip -c backup.jsonl.gz | afterwit --space 工作 import -
    """
    lines = decode(_read(file), file if file != "-" else "standard input").split("\n")
    with session.memory() as memory:
        report = _import(session, rehearsal(memory) if dry_run else memory, lines)
        embedded = 0 if dry_run else embed_rows(session, memory, sum(report.added.values()))
    added = {name: count for name, count in report.added.items() if count}
    values = {"added": added, "already_here": report.already_here, "embedded": embedded, "dry_run": dry_run}
    key = "would_import" if dry_run else "imported"
    session.answer(lambda: values, lambda: tell(key, counts=_told(added), already_here=report.already_here))


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidInput(
            Sentence("Cannot read {file}: {strerror}.", file=file, strerror=error.strerror),
            next_step="Check the path and your rights.",
        ) from None


def _import(session: Session, memory: "Afterwit", lines: list[str]) -> "ImportReport":
    with session.progress("import", len(lines)) as advance:

        def watched() -> Iterator[str]:
            for line in lines:
                yield line
                advance(1)

        return memory.import_lines(watched())


class _Undo(Exception):
    """Ends a rehearsed transaction."""


class _RehearsalStore:
    """A store whose transactions do everything and then undo it."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def transaction(self, space: str, **given: Any) -> "Generator[Transaction]":
        """See `Store.transaction`; it never commits."""
        with suppress(_Undo), self._store.transaction(space, **given) as transaction:
            yield transaction
            raise _Undo


def rehearsal(memory: "Afterwit") -> "Afterwit":
    """The same memory, in which every write is checked and carried out, and then undone."""
    store = cast("Store", _RehearsalStore(memory.store))
    return type(memory)(store, None, settings=memory.settings, writer=memory.writer)


# --- reindex -------------------------------------------------------------------------------------


@click.command("reindex", short_help="Embed what lacks a vector, make indexes anew. 补全向量、重建索引。")
@click.option("--words", is_flag=True, help="Also index all words anew; other writers wait meanwhile.")
@click.option("--drop-old", is_flag=True, help="Also drop the vectors of embedding models that are no longer used.")
@json_option
@pass_session
def reindex(session: Session, words: bool, drop_old: bool) -> None:
    """Embed what has no vector of the current embedding model: run it after changing the model.

    为缺少当前模型向量的记忆补上向量；更换嵌入模型后运行，中断后可重新运行继续。

    Searches and writes go on meanwhile. What was interrupted or killed is continued by the next run.
    Old vectors are dropped only when every memory has a new one.

    \b
    Examples:
      afterwit reindex
      afterwit --space 工作 reindex --drop-old
      afterwit reindex --words
    """
    with session.memory() as memory:
        store, space = memory.store, memory.space
        rows = store.rebuild_words(space) if words else 0
        embedded = embed_rows(session, memory, missing_vectors(memory))
        dropped = _drop_old(memory) if drop_old else 0
        models = store.models(space)
    values = {"words": rows, "embedded": embedded, "dropped": dropped, "models": models}
    session.answer(lambda: values, lambda: _reindexed(rows, embedded, dropped))


def _reindexed(rows: int, embedded: int, dropped: int) -> str:
    sentences = [tell("words_reindexed", rows=rows)] if rows else []
    return " ".join([*sentences, tell("reindexed", embedded=embedded, dropped=dropped)])


def missing_vectors(memory: "Afterwit") -> int:
    """How many memories have no vector of the current model; 0 when it does not answer."""
    try:
        model = memory.embedder.model if memory.embedder is not None else ""
    except ProviderError:
        return 0
    return memory.store.count_without_vector(memory.space, model) if model else 0


def _drop_old(memory: "Afterwit") -> int:
    """Drop the vectors of other models, unless some of them still have to answer."""
    store, space, embedder = memory.store, memory.space, memory.embedder
    try:
        model = embedder.model if embedder is not None else ""
    except ProviderError:
        model = ""
    if not model or store.count_without_vector(space, model):
        click.echo(tell("note", text=tell("old_kept")), err=True)
        return 0
    return sum(store.drop_vectors(space, name) for name in store.models(space) if name != model)


def embed_rows(session: Session, memory: "Afterwit", missing: int) -> int:
    """Embed what has no vector; a failing embedder is only a note, for that can be done later."""
    done, is_waiting = 0, False
    try:
        with session.progress("embed", missing) as advance:
            for total in memory.embed_missing():
                if total == done and not is_waiting:
                    click.echo(tell("note", text=tell("embeds_elsewhere")), err=True)
                is_waiting = total == done
                advance(total - done)
                done = total
    except ProviderError as error:
        click.echo(tell("note", text=tell("embedded_later", reason=error)), err=True)
    except KeyboardInterrupt:
        click.echo(tell("embed_interrupted", done=done, missing=missing), err=True)
        raise
    return done


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "0"
