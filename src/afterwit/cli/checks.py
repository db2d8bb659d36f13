"""What the doctor looks at, one function each."""

import os
import platform
import shutil
import sqlite3
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from afterwit.cli.connecting import database_file
from afterwit.cli.session import Session
from afterwit.cli.wording import worded
from afterwit.cli.words import tell
from afterwit.clock import utc_now
from afterwit.config import SETTINGS, Settings
from afterwit.embedding import open_embedder
from afterwit.embedding.reopening import reopen_embedder
from afterwit.errors import AfterwitError
from afterwit.llm import LLM, open_llm
from afterwit.llm.metered import MeteredLLM
from afterwit.records import KeyFilter, Status
from afterwit.rerank import Reranker, open_reranker
from afterwit.storage import Store, open_store

#: Free space below which the disk is worth a look, and below which writing soon fails, in bytes.
LITTLE_SPACE, NO_SPACE = 500 * 2**20, 20 * 2**20


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's account."""

    name: str
    #: "ok", "warn" or "fail"
    level: str
    message: str
    next_step: str = ""

    def values(self) -> dict[str, str]:
        """As JSON values."""
        told = {"message": worded(self.message, "en"), "next_step": worded(self.next_step, "en")}
        return {name: value for name, value in ({"name": self.name, "level": self.level} | told).items() if value}

    def text(self) -> str:
        """For people: one line, and what to do in a second one."""
        line = f"{self.level:<4}  {self.name}: {worded(self.message)}"
        return line + ("\n    " + tell("next_step", next_step=worded(self.next_step)) if self.next_step else "")


def examine(session: Session) -> list[Finding]:
    """All findings; a check that cannot be made is a finding, too."""
    findings = [_python(), _sqlite()]
    try:
        settings = session.settings
    except AfterwitError as error:
        return [*findings, _failed("settings", error)]
    findings += _settings(session, settings)
    findings += _directory(settings)
    findings += _database(settings)
    return findings


def _failed(name: str, error: AfterwitError) -> Finding:
    return Finding(name, "fail", error.message, error.next_step)


def _python() -> Finding:
    version = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if sys.version_info < (3, 11):  # noqa: UP036 - the reader may have forced an install
        return Finding("python", "fail", version, "Install Python 3.11 or newer.")
    return Finding("python", "ok", version)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error:
        return Finding("sqlite", "fail", f"{version} without FTS5", "Install a Python whose SQLite has FTS5.")
    finally:
        connection.close()
    return Finding("sqlite", "ok", f"{version} with FTS5")


def _settings(session: Session, settings: Settings) -> Iterator[Finding]:
    file = settings.data_dir / "config.toml"
    in_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for setting in SETTINGS:
        name = setting.name
        if name in session.overrides:
            origin = "option"
        elif os.environ.get(f"AFTERWIT_{name.upper()}"):
            origin = f"AFTERWIT_{name.upper()}"
        else:
            origin = str(file) if name in in_file else "default"
        yield Finding(f"setting {name}", "ok", f"{getattr(settings, name)} ({origin})".lstrip())


def _directory(settings: Settings) -> Iterator[Finding]:
    place = settings.data_dir
    if not place.is_dir():
        problem = "is not a directory" if place.exists() else "is not there yet"
        level = "fail" if place.exists() else "warn"
        yield Finding("data directory", level, f"{place} {problem}", "Run `afterwit init`, or choose another one.")
        return
    if not os.access(place, os.W_OK | os.X_OK):
        yield Finding("data directory", "fail", f"{place} cannot be written", f"Run `chmod u+rwx {place}`.")
    elif os.name == "posix" and place.stat().st_mode & 0o077:
        yield Finding("data directory", "warn", f"{place} is open to other users", f"Run `chmod 700 {place}`.")
    else:
        yield Finding("data directory", "ok", f"{place}, only you may look inside")
    yield _space(place)


def _space(place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    message = f"{free / 2**30:.1f} GiB free in {place}"
    if free < NO_SPACE:
        return Finding("disk", "fail", message, "Free some space; writes will fail soon.")
    if free < LITTLE_SPACE:
        return Finding("disk", "warn", message, "Free some space.")
    return Finding("disk", "ok", message)


def _database(settings: Settings) -> Iterator[Finding]:
    file = database_file(settings)
    if file is not None and not file.exists():
        yield Finding("database", "warn", f"{file} is not there yet", "Run `afterwit init`.")
        yield from _models(settings, None)
        return
    try:
        store = open_store(settings.store, lock_wait_s=settings.lock_wait_s)
    except AfterwitError as error:
        yield _failed("database", error)
        yield from _models(settings, None)
        return
    try:
        yield from _store(settings, store, file)
        yield from _models(settings, store)
    finally:
        store.close()


def _store(settings: Settings, store: Store, file: Path | None) -> Iterator[Finding]:
    if file is not None:
        size = file.stat().st_size / 2**20
        yield Finding("database", "ok", f"{file}, {size:.1f} MiB, schema {_schema(file)}")
        if os.name == "posix" and file.stat().st_mode & 0o077:
            yield Finding("rights", "warn", f"{file} is open to other users", f"Run `chmod 600 {file}`.")
        if not os.access(file, os.W_OK):
            yield Finding("rights", "warn", f"{file} is read-only", f"Run `chmod u+w {file}` to write again.")
    problems = store.check()
    for problem in problems:
        yield Finding(
            "integrity",
            "fail",
            problem,
            "Export what can be read, then restore a backup; `afterwit reindex --words` mends the word index.",
        )
    if not problems:
        yield Finding("integrity", "ok", "no damage found")
    active = store.count(settings.space, KeyFilter(without_standings=()))
    total = store.count(settings.space, KeyFilter.everything())
    yield Finding("memories", "ok", f"{active} current, {total} in all, in space {settings.space!r}")


def _schema(file: Path) -> str:
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    except (sqlite3.Error, TypeError):
        return "unknown"
    finally:
        connection.close()


def _models(settings: Settings, store: Store | None) -> Iterator[Finding]:
    yield from _embedder(settings, store)
    if settings.llm or settings.reranker:
        try:
            llm = open_llm(settings)
            if llm is not None:
                yield Finding("language model", "ok", _language_model(settings, llm, store))
            reranker = open_reranker(settings, llm)
        except AfterwitError as error:
            yield _failed("language model or reranker", error)
        else:
            yield from _reranker(reranker)


def _language_model(settings: Settings, llm: LLM, store: Store | None) -> str:
    """Which one, and what it took. It is not asked: that costs."""
    now = utc_now()
    used = 0 if store is None else MeteredLLM(llm, store, settings.space, budget_tokens=0).used_tokens(now)
    return f"{llm.model}, not asked now; {used:,} of {settings.llm_budget_tokens:,} tokens used today"


def _reranker(reranker: Reranker | None) -> Iterator[Finding]:
    if reranker is None:
        return
    message = reranker.name
    if not message.startswith("llm"):
        started = time.perf_counter()
        try:
            reranker.scores("how long should my answer be", ["The user prefers short answers."], deadline_s=60.0)
        except AfterwitError as error:
            yield _failed("reranker", error)
            return
        finally:
            reranker.close()
        message += f", {time.perf_counter() - started:.2f} s"
    yield Finding("reranker", "ok", message)


def _embedder(settings: Settings, store: Store | None) -> Iterator[Finding]:
    started = time.perf_counter()
    try:
        embedder = open_embedder(settings)
        if embedder is None:
            yield Finding("embedder", "warn", "none: search is by words alone", 'Set embedder to "use" for meaning.')
            return
        try:
            embedder.embed(["how long should my answer be"])
            loaded_s = time.perf_counter() - started
            yield Finding("embedder", "ok", f"{embedder.model}, {embedder.dimensions} dimensions, {loaded_s:.2f} s")
            if store is not None:
                yield from _vectors(settings, store, embedder.model)
        finally:
            embedder.close()
    except AfterwitError as error:
        yield _failed("embedder", error)


def _vectors(settings: Settings, store: Store, model: str) -> Iterator[Finding]:
    kept = tuple(status for status in Status if status is not Status.FORGOTTEN)
    rows = store.count(settings.space, KeyFilter(statuses=kept, without_standings=()))
    missing = store.count_without_vector(settings.space, model)
    models = store.models(settings.space)
    if missing:
        step = "Run `afterwit reindex`; a running server does it by itself."
        yield Finding("vectors", "warn", f"{missing} of {rows} memories have none of {model}", step)
    else:
        yield Finding("vectors", "ok", f"all {rows} memories have one of {model}")
    for name, count in sorted(models.items()):
        if name != model:
            yield _other_model(settings, name, count, is_needed=missing > 0)


def _other_model(settings: Settings, name: str, count: int, *, is_needed: bool) -> Finding:
    if not is_needed:
        step = "Run `afterwit reindex --drop-old` if no other process uses it."
        return Finding("vectors", "warn", f"{count} of another model, not needed any more: {name}", step)
    older = reopen_embedder(name, settings)
    if older is not None:
        older.close()
        return Finding("vectors", "ok", f"{count} of another model, which still answers: {name}")
    message = f"{count} of another model, which cannot be opened any more: {name}"
    return Finding("vectors", "warn", message, "Run `afterwit reindex`; until then these are found by words alone.")
