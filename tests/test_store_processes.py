"""Several processes on one file: no lock errors, nothing lost, everything seen."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import storage_processes
from afterwit.errors import StorageError
from afterwit.records import Add, Erase, KeyFilter, Revise, Vector
from afterwit.storage import Store, open_store
from afterwit.testing.samples import direction
from afterwit.text import query_tokens
from storage_processes import NOW, add

EVERYTHING = KeyFilter.everything()


def start(deed: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, storage_processes.__file__, deed, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


@pytest.mark.slow
def test_four_processes_writing_a_thousand_each_lose_nothing_and_see_no_lock_error(url: str) -> None:
    writers = [start("write", url, name, "1000") for name in "abcd"]
    for writer in writers:
        finish(writer)
    store = open_store(url)
    assert store.count("alpha", EVERYTHING) == 4000
    assert [event.sequence for event in store.events("alpha", limit=5000)] == list(range(1, 4001))
    assert len(store.search_words("alpha", KeyFilter(), query_tokens("writer"), limit=5000)) == 4000
    assert store.check() == []
    store.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_hundred_kills_lose_nothing_that_was_acknowledged(url: str) -> None:
    acknowledged: set[str] = set()
    chance = random.Random(1)  # noqa: S311
    nursery = start("nursery", url)
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    for round_number in range(100):
        nursery.stdin.write(f"r{round_number}\n")
        nursery.stdin.flush()
        fatal, child, line, written, killed = chance.randint(0, 12), 0, "", 0, False
        while line != "dead":
            line = nursery.stdout.readline().strip()
            if line.startswith("born"):
                child = int(line.split()[1])
            elif line != "dead":
                acknowledged.add(line)
                written += 1
            if child and not killed and written >= fatal:
                os.kill(child, signal.SIGKILL)
                killed = True
    nursery.communicate()
    assert nursery.returncode == 0
    store = open_store(url)
    found = {item.id for item in store.find("alpha", EVERYTHING, limit=10_000)}
    assert acknowledged <= found
    assert len(acknowledged) > 300
    # Each kill may fall between a commit and its acknowledgement.
    assert len(found) <= len(acknowledged) + 100
    assert store.check() == []
    store.close()


def test_processes_opening_a_fresh_file_at_once_all_succeed(url: str) -> None:
    for process in [start("open_only", url) for _ in range(4)]:
        assert finish(process) == "0\n"
    store = open_store(url)
    assert store.check() == []
    store.close()


def test_a_reader_sees_inserts_updates_and_erasures_of_another_process(url: str, store: Store) -> None:
    add(store, "mine", "note of mine")
    tokens = query_tokens("note")
    assert len(store.search_words("alpha", KeyFilter(), tokens, limit=99)) == 1
    finish(start("write", url, "other", "3"))
    assert len(store.search_words("alpha", KeyFilter(), tokens, limit=99)) == 4
    other = open_store(url)
    query = direction(1)
    with other.transaction("alpha", now=NOW, actor="other") as transaction:
        item = storage_processes.memory("v", "vector note")
        transaction.apply([Add(item, Vector("m", query.astype("<f2").tobytes()))])
    assert [item.id for item in store.search_vectors("alpha", KeyFilter(), query, "m", limit=9)] == ["v"]
    with other.transaction("alpha", now=NOW, actor="other") as transaction:
        transaction.apply([Erase("mine"), Revise("v", {"scope": "project:x"})])
    assert store.search_vectors("alpha", KeyFilter(scopes=("global",)), query, "m", limit=9) == []
    found = store.search_words("alpha", KeyFilter(scopes=("project:x", "global")), tokens, limit=99)
    assert {item.id for item in found} == {"other-0", "other-1", "other-2", "v"}
    other.close()


def test_a_writer_that_waits_too_long_is_told_so_and_loses_nothing(url: str, store: Store) -> None:
    holder = start("hold", url, "3")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    impatient = open_store(url, lock_wait_s=0.2)
    with pytest.raises(StorageError, match="lock_wait_s"):
        add(impatient, "too-soon", "note")
    assert impatient.spaces() == []
    add(store, "patient", "note")
    assert [item.id for item in impatient.find("alpha", EVERYTHING)] == ["patient"]
    impatient.close()
    finish(holder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_store_opened_before_a_fork_works_in_parent_and_child(store: Store) -> None:
    add(store, "before", "note before")
    assert len(store.search_words("alpha", KeyFilter(), query_tokens("note"), limit=9)) == 1
    child = os.fork()
    if child == 0:
        try:
            add(store, "child", "note of the child")
            found = store.search_words("alpha", KeyFilter(), query_tokens("note"), limit=9)
            os._exit(0 if len(found) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    add(store, "parent", "note of the parent")
    assert len(store.search_words("alpha", KeyFilter(), query_tokens("note"), limit=9)) == 3
    assert store.check() == []


# --- files that cannot be used as they are -------------------------------------------------------


def without_privileges(deed: Callable[[], str]) -> str:
    """What the deed returns in a child process that cannot ignore file modes, as root does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writing, deed().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def opened(url: str) -> str:
    try:
        open_store(url).close()
    except StorageError as error:
        return str(error)
    return "opened"


def searched(url: str) -> str:
    store = open_store(url)
    found = len(store.search_words("alpha", KeyFilter(), query_tokens("note"), limit=5))
    try:
        add(store, "new", "note")
    except StorageError as error:
        return f"found {found}, {error}"
    return "written"


def test_a_read_only_database_is_searched_and_not_written(open_directory: Path) -> None:
    path = open_directory / "data" / "memory.db"
    store = open_store(f"sqlite:///{path}")
    add(store, "a", "note one")
    store.close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    answer = without_privileges(lambda: searched(f"sqlite:///{path}"))
    path.parent.chmod(0o700)
    assert answer.startswith("found 1, The database is read-only")


def test_a_read_only_database_whose_log_cannot_be_read_says_so(open_directory: Path) -> None:
    path = open_directory / "data" / "memory.db"
    store = open_store(f"sqlite:///{path}")
    add(store, "a", "note one")
    copy = open_directory / "copy" / "memory.db"
    copy.parent.mkdir()
    for suffix in ("", "-wal"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
        Path(f"{copy}{suffix}").chmod(0o444)
    store.close()
    copy.parent.chmod(0o555)
    answer = without_privileges(lambda: opened(f"sqlite:///{copy}"))
    copy.parent.chmod(0o700)
    assert "its last changes are still in memory.db-wal" in answer


def test_a_directory_that_cannot_be_written_is_a_storage_error(open_directory: Path) -> None:
    closed = open_directory / "closed"
    closed.mkdir(mode=0o555)
    assert "cannot be made: Permission denied" in without_privileges(lambda: opened(f"sqlite:///{closed}/memory.db"))


def test_a_file_that_may_not_be_read_is_a_storage_error(open_directory: Path) -> None:
    path = open_directory / "memory.db"
    open_store(f"sqlite:///{path}").close()
    path.chmod(0o000)
    assert "cannot be opened" in without_privileges(lambda: opened(f"sqlite:///{path}"))


def test_a_disk_that_is_full_refuses_the_write_and_keeps_the_rest(url: str) -> None:
    output = finish(start("fill_disk", url, "1500000")).splitlines()
    assert "refused" in output[0]
    assert "disk" in output[0]
    acknowledged = int(output[1].split()[1])
    assert acknowledged > 3
    store = open_store(url)
    assert store.count("alpha", EVERYTHING) == acknowledged
    add(store, "after", "room again")
    assert store.check() == []
    store.close()
