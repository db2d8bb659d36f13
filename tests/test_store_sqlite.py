"""What only the embedded engine promises: its file, its versions, its raw bytes."""

import re
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from afterwit.errors import ConfigError, InvalidInput, StorageError
from afterwit.records import (
    Add,
    Alias,
    Change,
    Connect,
    CreditUse,
    Erase,
    KeyFilter,
    Link,
    LinkType,
    Memory,
    OpenTask,
    RecordUse,
    Reinforce,
    Revise,
    SetAlias,
    Supersede,
    Task,
    Use,
)
from afterwit.storage import Store, cache, open_store, schema, sqlite_reads
from afterwit.storage.sqlite_files import make_engine
from afterwit.testing.samples import (
    MODEL,
    NOW,
    OTHER,
    SPACE,
    direction,
    ids,
    memory,
    memory_id,
    put,
    put_memories,
    vector,
)
from afterwit.text import index_tokens, query_tokens


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{path}")
    yield store
    store.close()


def test_the_database_is_readable_by_its_owner_only(path: Path, store: Store) -> None:
    put_memories(store, memory(1))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = list(path.parent.iterdir())
    assert len(files) == 3
    assert {stat.S_IMODE(item.stat().st_mode) for item in files} == {0o600}


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    before = stat.S_IMODE(tmp_path.stat().st_mode)
    open_store(f"sqlite:///{tmp_path}/memory.db").close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == before


def test_what_was_stored_is_there_after_opening_again(path: Path, store: Store) -> None:
    put_memories(store, memory(1, "lasting words"))
    store.close()
    again = open_store(f"sqlite:///{path}")
    assert again.get(SPACE, [memory_id(1)]) == {memory_id(1): memory(1, "lasting words")}
    assert ids(again.search_words(SPACE, KeyFilter(), query_tokens("lasting"), limit=1)) == [memory_id(1)]
    again.close()


@pytest.mark.parametrize(
    "url", ["postgresql://host/db", "memory.db", "", "sqlite:memory.db", "sqlite://host/memory.db"]
)
def test_a_url_that_names_no_engine_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError):
        open_store(url)


def test_a_vanishing_store_serves_several_threads_and_leaves_nothing() -> None:
    store = open_store("sqlite://")
    threads = [threading.Thread(target=put_memories, args=(store, memory(number))) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count(SPACE, KeyFilter()) == 8
    directory = store._path.parent  # pyright: ignore[reportAttributeAccessIssue]
    store.close()
    assert not directory.exists()


# --- files that are not what they should be -----------------------------------------------------


def test_a_file_that_is_no_database_is_named_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="not an Afterwit database") as caught:
        open_store(f"sqlite:///{path}")
    assert caught.value.next_step
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE album (title TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="another program"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_a_directory_in_place_of_the_file_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        open_store(f"sqlite:///{tmp_path}")


def test_a_newer_schema_is_refused_and_nothing_changed(path: Path, store: Store) -> None:
    put_memories(store, memory(1))
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StorageError, match="newer Afterwit") as caught:
        open_store(f"sqlite:///{path}")
    assert "Upgrade" in caught.value.next_step
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (1,)
    connection.close()


def test_a_damaged_file_is_a_storage_error_and_check_says_so(path: Path, store: Store) -> None:
    put_memories(store, *(memory(number, "words " * 200) for number in range(200)))
    store.close()
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 8192 * 4096
    damaged[middle : middle + 40_000] = b"\xa5" * 40_000
    path.write_bytes(damaged)
    again = open_store(f"sqlite:///{path}")
    assert again.check()
    with pytest.raises(StorageError, match="damaged") as caught:
        for number in range(200):
            again.get(SPACE, [memory_id(number)])
    assert caught.value.next_step
    again.close()


def test_a_database_that_may_not_grow_undoes_the_write_and_keeps_the_rest(store: Store) -> None:
    put_memories(store, memory(1))
    with (
        pytest.raises(StorageError, match="disk is full"),
        store.transaction(SPACE, now=NOW, actor="test") as transaction,
    ):
        connection = transaction._connection  # pyright: ignore
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        for number in range(2, 2000):
            transaction.apply([Add(memory(number, "long " * 1000))])
    assert store.count(SPACE, KeyFilter()) == 1
    with (
        pytest.raises(StorageError, match="undone"),
        store.transaction(SPACE, now=NOW, actor="test") as transaction,
    ):
        connection = transaction._connection  # pyright: ignore
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        with pytest.raises(StorageError, match="disk is full"):
            transaction.apply([Add(memory(number, "long " * 1000)) for number in range(2, 100)])
        with pytest.raises(StorageError, match="undone"):
            transaction.apply([Add(memory(2))])
    assert store.count(SPACE, KeyFilter()) == 1
    assert store.check() == []


def test_text_that_is_not_unicode_and_values_that_are_not_json_change_nothing(store: Store) -> None:
    for broken in (
        memory(1, "lone \ud800 surrogate"),
        memory(1, structured={"x": float("nan")}),
        memory(1, structured={"x": {1}}),
    ):
        with pytest.raises(InvalidInput):
            put(store, Add(broken))
    with pytest.raises(InvalidInput):
        put(store, Add(replace(memory(1), id="号")))
    with pytest.raises(InvalidInput):
        put(store, Add(memory(1, topic="x" * 256)))
    with pytest.raises(InvalidInput):
        put(store, Add(memory(1, happened_at=NOW.replace(tzinfo=None))))
    assert store.count(SPACE, KeyFilter()) == 0


def test_a_transaction_inside_a_transaction_is_refused_at_once(store: Store) -> None:
    with store.transaction(SPACE, now=NOW, actor="test"):
        with pytest.raises(StorageError, match="already inside"):
            put(store, Add(memory(1)))


# --- schema -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0001", "0002", "0003"])
def test_a_file_of_an_older_schema_is_brought_up_to_date_and_keeps_what_it_holds(
    path: Path, store: Store, version: str, tmp_path: Path
) -> None:
    put_memories(store, memory(1, "lasting words", helped=2, harmed=1))
    put(store, OpenTask(Task("t", SPACE, "goal", NOW)), RecordUse(Use("u", SPACE, memory_id(1), NOW, "t")))
    store.close()
    old = tmp_path / "old.db"
    engine = make_engine(old, lock_wait_s=5, durable=True, read_only=False)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        schema.upgrade(connection, version)
    engine.dispose()
    _copy_rows(path, old)

    again = open_store(f"sqlite:///{old}")
    assert again.get(SPACE, [memory_id(1)])[memory_id(1)].helped == 2
    assert again.tasks(SPACE) == [Task("t", SPACE, "goal", NOW)]
    assert again.uses(SPACE, task_id="t") == [Use("u", SPACE, memory_id(1), NOW, "t")]
    put(again, SetAlias(Alias(SPACE, "k8s", "kubernetes", NOW)), CreditUse("u", 0.25))
    assert again.get(SPACE, [memory_id(1)])[memory_id(1)].helped == 2.25
    assert [item.alias for item in again.aliases(SPACE)] == ["k8s"]
    again.rebuild_words(SPACE)
    assert again.check() == []
    again.close()
    with sqlite3.connect(old) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (schema.HEAD,)
    connection.close()


def _copy_rows(new: Path, old: Path) -> None:
    """What the older schema has a place for."""
    with sqlite3.connect(old) as connection:
        connection.execute("ATTACH ? AS new", (str(new),))
        for table in ("space", "memory", "task", "use", "event"):
            columns = ", ".join(f'"{row[1]}"' for row in connection.execute(f'PRAGMA main.table_info("{table}")'))
            connection.execute(f'INSERT INTO main."{table}" ({columns}) SELECT {columns} FROM new."{table}"')  # noqa: S608
    connection.close()


def test_another_store_of_the_same_file_sees_a_new_alias(path: Path, store: Store) -> None:
    other = open_store(f"sqlite:///{path}")
    put_memories(store, memory(1))
    assert other.aliases(SPACE) == []
    put(store, SetAlias(Alias(SPACE, "k8s", "kubernetes", NOW)))
    assert [item.alias for item in other.aliases(SPACE)] == ["k8s"]
    other.close()


def test_migrations_make_the_same_schema_as_a_new_database(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/new.db").close()
    engine = make_engine(tmp_path / "old.db", lock_wait_s=5, durable=True, read_only=False)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        schema.upgrade(connection)
    engine.dispose()

    def statements(path: Path) -> dict[str, list[str]]:
        connection = sqlite3.connect(path)
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        connection.close()
        # Constraints may come in another order.
        return {name: sorted(re.findall(r"[\w\"]+|[^\w\s]", sql)) for name, sql in found}

    def statistics(path: Path) -> list[tuple[str, ...]]:
        connection = sqlite3.connect(path)
        found = connection.execute("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY 1, 2").fetchall()
        connection.close()
        return found

    assert statements(tmp_path / "old.db") == statements(tmp_path / "new.db")
    assert len(statistics(tmp_path / "new.db")) == 7
    assert statistics(tmp_path / "old.db") == statistics(tmp_path / "new.db")
    store = open_store(f"sqlite:///{tmp_path}/old.db")
    assert store.check() == []
    store.close()


def test_opening_a_current_database_does_not_load_alembic(path: Path, store: Store) -> None:
    store.close()
    code = f"""if True:
        import sys
        from afterwit.storage import open_store
        open_store("sqlite:///{path}")
        assert not any(name.startswith("alembic") for name in sys.modules)
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_change_is_known_to_the_store() -> None:
    source = Path(__file__).parent.parent / "src" / "afterwit" / "storage" / "changes.py"
    text = source.read_text(encoding="utf-8")
    assert all(f"            {change.__name__}: self._" in text for change in get_args(Change))


# --- erasing ------------------------------------------------------------------------------------

SECRETS = {
    "summary": "The heliotrope passphrase of 欧阳震华 is xylophone99",
    "raw": "Bitte niemandem sagen: Kirschbaumallee 17, 紫藤胡同十七号",
    "subject": "欧阳震华",
    "topic": "quixotry",
    "tags": ("zugzwang", "紫藤"),
    "structured": {"situation": ["vermillion gazebo 蜻蜓"]},
}


def traces(path: Path, needles: set[str]) -> list[str]:
    found: list[str] = []
    for item in sorted(path.parent.iterdir()):
        content = item.read_bytes()
        found.extend(f"{needle!r} in {item.name}" for needle in needles if needle.encode() in content)
    return found


def needles(item_id: str) -> set[str]:
    secret = memory(1, **SECRETS)
    texts = [secret.summary, secret.raw, secret.subject, secret.topic, *secret.tags, "vermillion gazebo 蜻蜓"]
    longer = {token for text in texts for token in index_tokens(text) if len(token) > 5 or not token.isascii()}
    distinct = {token for token in longer if len(token.encode()) > 5}
    return {*texts, *distinct, "heliotrope", "Kirschbaumallee", "震华", "zugzwang reason", item_id} - {item_id}


@pytest.mark.parametrize("surroundings", [0, 60, 600])
def test_erasing_leaves_no_trace_in_the_bytes_of_any_file(path: Path, store: Store, surroundings: int) -> None:
    for number in range(surroundings):
        put(store, Add(memory(100 + number, f"ordinary note {number} 普通的记录 " * 3), vector(number)))
    put(store, Add(memory(1, **SECRETS), vector(1)))
    for number in range(surroundings):
        put(store, Add(memory(9000 + number, f"later note {number} 后来的记录 " * 3), vector(number)))
    put(
        store,
        Add(memory(2, "successor")),
        RecordUse(Use("u", SPACE, memory_id(1), NOW)),
        Connect(Link(SPACE, memory_id(2), LinkType.SUPPORTS, memory_id(1), NOW, "heliotrope note")),
        Revise(memory_id(1), {"topic": "heliotrope topic", "structured": {"a": "蜻蜓 heliotrope"}}, "zugzwang reason"),
        Supersede(memory_id(1), memory_id(2), NOW, "zugzwang reason"),
    )
    assert traces(path, needles(memory_id(1)))
    put(store, Erase(memory_id(1), "asked to"), now=NOW + timedelta(hours=1))
    assert traces(path, needles(memory_id(1))) == []
    assert store.check() == []
    store.close()
    assert traces(path, needles(memory_id(1))) == []


def test_an_erase_that_was_cut_short_is_finished_when_the_store_is_opened(path: Path, store: Store) -> None:
    put(store, Add(memory(1, **SECRETS)))
    with store._writing() as connection:  # pyright: ignore
        store._set_erase_pending(connection)  # pyright: ignore
    assert any("unfinished" in problem for problem in store.check())
    store.close()
    again = open_store(f"sqlite:///{path}")
    assert again.check() == []
    again.close()


def test_an_erase_beside_a_reader_waits_for_it(path: Path, store: Store) -> None:
    put(store, Add(memory(1, **SECRETS)))
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memory").fetchone() == (1,)
    timer = threading.Timer(0.3, reader.close)
    timer.start()
    put(store, Erase(memory_id(1)))
    timer.join()
    assert traces(path, needles(memory_id(1))) == []


def test_an_erase_beside_a_reader_that_never_ends_says_that_bytes_remain(path: Path) -> None:
    store = open_store(f"sqlite:///{path}", lock_wait_s=0.2)
    put(store, Add(memory(1, **SECRETS)))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memory").fetchone() == (1,)
    with pytest.raises(StorageError, match="erased, but its bytes"):
        put(store, Erase(memory_id(1)))
    assert store.get(SPACE, [memory_id(1)]) == {}
    reader.close()
    store.close()
    again = open_store(f"sqlite:///{path}")
    assert traces(path, needles(memory_id(1))) == []
    again.close()


# --- caches -------------------------------------------------------------------------------------


def test_a_cache_that_follows_many_changes_agrees_with_a_fresh_one(path: Path, store: Store) -> None:
    put_memories(store, *(memory(number, f"word{number % 7} common") for number in range(60)))
    tokens = query_tokens("word3 common")
    for round_number in range(30):
        store.search_words(SPACE, KeyFilter(), tokens, limit=5)
        store.search_vectors(SPACE, KeyFilter(), direction(3), MODEL, limit=5)
        target = memory_id(round_number)
        put(
            store,
            Add(memory(1000 + round_number, f"word{round_number % 7} new"), vector(round_number)),
            Revise(target, {"tags": (f"word{round_number % 5}",), "scope": "project:x"}),
            *([Erase(target)] if round_number % 3 == 0 else []),
            *([Supersede(memory_id(round_number + 25), memory_id(59), NOW)] if round_number % 4 == 1 else []),
        )
        fresh = open_store(f"sqlite:///{path}")
        for where in (KeyFilter(), KeyFilter(scopes=("project:x",)), KeyFilter.everything()):
            for limit in (3, 200):
                assert store.search_words(SPACE, where, tokens, limit=limit) == fresh.search_words(
                    SPACE, where, tokens, limit=limit
                )
                assert store.search_vectors(SPACE, where, direction(3), MODEL, limit=limit) == fresh.search_vectors(
                    SPACE, where, direction(3), MODEL, limit=limit
                )
        assert store.word_statistics(SPACE, tokens) == fresh.word_statistics(SPACE, tokens)
        assert store.known_scopes(SPACE) == fresh.known_scopes(SPACE)
        fresh.close()


def test_spaces_share_a_file_without_sharing_statistics(store: Store) -> None:
    put_memories(store, memory(1, "apple"), memory(2, "pear apple"))
    before = store.search_words(SPACE, KeyFilter(), query_tokens("apple pear"), limit=5)
    put(store, *(Add(memory(number, "apple", space=OTHER)) for number in range(50)), space=OTHER)
    assert store.search_words(SPACE, KeyFilter(), query_tokens("apple pear"), limit=5) == before


def test_reinforcing_text_free_fields_does_not_reload_anything(store: Store) -> None:
    put_memories(store, memory(1, "apple"))
    item = store.get(SPACE, [memory_id(1)])[memory_id(1)]
    put(store, Reinforce(item.id, "s", 0.9, item.basis, item.trust, item.standing, NOW))
    assert ids(store.search_words(SPACE, KeyFilter(), query_tokens("apple"), limit=5)) == [item.id]


@pytest.mark.parametrize("budget", ["cache._POSTING_BUDGET", "sqlite._CACHE_BUDGET"])
def test_a_small_budget_of_memory_changes_no_result(store: Store, monkeypatch: pytest.MonkeyPatch, budget: str) -> None:
    for space in (SPACE, OTHER):
        put_memories(
            store, *(memory(number, f"word{number % 5} apple", space=space) for number in range(30)), space=space
        )
    tokens = query_tokens("word1 word2 apple")

    def search(space: str) -> object:
        return (
            store.search_words(space, KeyFilter(), tokens, limit=9),
            store.search_vectors(space, KeyFilter(), direction(2), MODEL, limit=9),
        )

    before = search(SPACE)
    monkeypatch.setattr(f"afterwit.storage.{budget}", 1)
    for _ in range(3):
        put(store, Add(memory(99, "plum", space=OTHER)), Erase(memory_id(99)), space=OTHER)
        assert search(OTHER) == search(OTHER)
        assert search(SPACE) == before


def test_threads_that_search_while_another_writes_see_only_whole_transactions(store: Store) -> None:
    put_memories(store, memory(0, "apple"), memory(1, "apple"))
    tokens = query_tokens("apple")
    wrong: list[object] = []
    done = threading.Event()

    def search() -> None:
        seen = 0
        while not done.is_set():
            words = len(store.search_words(SPACE, KeyFilter(), tokens, limit=1000))
            near = len(store.search_vectors(SPACE, KeyFilter(), direction(1), MODEL, limit=1000))
            if words % 2 or near % 2 or words < seen:
                wrong.append((seen, words, near))
            seen = words

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(2, 80, 2):
        try:
            with store.transaction(SPACE, now=NOW, actor="test") as transaction:
                transaction.apply([Add(memory(number, "apple"), vector(number))])
                found = transaction.search_words(SPACE, KeyFilter(), tokens, limit=1000)
                near = transaction.search_vectors(SPACE, KeyFilter(), direction(1), MODEL, limit=1000)
                if number % 3 == 0:
                    raise ZeroDivisionError
                if len(found) % 2 != 1 or len(near) % 2 != 1:
                    wrong.append((found, near))
                transaction.apply([Add(memory(number + 1, "apple"), vector(number + 1))])
        except ZeroDivisionError:
            continue
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.count(SPACE, KeyFilter()) == len(store.search_words(SPACE, KeyFilter(), tokens, limit=1000))


def test_following_a_change_reads_the_changed_rows_alone(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'memory.db'}").close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {cache._CHANGED_ROWS}", (1, 5))]
    assert plan[0] == "SEARCH m USING INDEX ix_memory_space_id_changed_seq (space_id=? AND changed_seq>?)"


def test_a_reading_that_began_before_others_moved_on_does_not_make_the_cache_load_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = query_tokens("apple")
    put_memories(store, memory(1, "apple"))
    with store.reading() as reader:
        assert ids(reader.search_words(SPACE, KeyFilter(), tokens, limit=5)) == [memory_id(1)]
        put_memories(store, memory(2, "apple"))
        assert len(store.search_words(SPACE, KeyFilter(), tokens, limit=5)) == 2
        monkeypatch.setattr(cache, "_ALL_ROWS", "nothing is loaded anew")
        assert len(reader.search_words(SPACE, KeyFilter(), tokens, limit=5)) == 2
        assert set(reader.get(SPACE, [memory_id(1), memory_id(2)])) == {memory_id(1), memory_id(2)}


@pytest.mark.parametrize(("table", "index"), [("m", "space_id=? AND id=?"), ("v", "model_id=? AND row=?")])
def test_vectors_are_looked_up_by_key(tmp_path: Path, table: str, index: str) -> None:
    open_store(f"sqlite:///{tmp_path / 'memory.db'}").close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sqlite_reads._VECTORS}", (1, "[]", "m"))]
    assert any(line.startswith(f"SEARCH {table} USING") and index in line for line in plan)


def test_what_passes_a_filter_moves_with_the_moment_that_is_asked_about(store: Store) -> None:
    hour = timedelta(hours=1)
    put_memories(
        store, memory(1, "apple", valid_to=NOW + hour), memory(2, "apple", valid_from=NOW + hour), memory(3, "apple")
    )

    def found(at: timedelta) -> set[str]:
        where = KeyFilter(valid_at=NOW + at)
        near = store.search_vectors(SPACE, where, direction(1), MODEL, limit=5)
        words = store.search_words(SPACE, where, query_tokens("apple"), limit=5)
        assert set(ids(near)) == set(ids(words))
        return set(ids(words))

    moment = timedelta(microseconds=1)
    before, after = {memory_id(1), memory_id(3)}, {memory_id(2), memory_id(3)}
    assert [found(at) for at in (moment, hour - moment, hour, 2 * hour, moment)] == [
        before,
        before,
        after,
        after,
        before,
    ]
    put(store, Revise(memory_id(3), {"valid_to": NOW + timedelta(minutes=1)}))
    assert [found(at) for at in (moment, hour)] == [before, after - {memory_id(3)}]


def test_a_memory_that_is_read_has_every_field(store: Store) -> None:
    put_memories(store, memory(1))
    (read,) = store.get(SPACE, [memory_id(1)]).values()
    assert vars(read).keys() == {field.name for field in fields(Memory)}


def test_many_spaces_are_kept_within_the_budget(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterwit.storage.sqlite._CACHE_BUDGET", 40_000)
    loaded: list[int] = []
    load = cache.SpaceCache._load
    monkeypatch.setattr(
        cache.SpaceCache, "_load", lambda self, connection: (loaded.append(self._space_id), load(self, connection))
    )
    spaces = [f"space {number}" for number in range(12)]
    for space in spaces:
        put_memories(store, *(memory(number, "apple", space=space) for number in range(20)), space=space)
    for space in (*spaces, spaces[-1], spaces[0]):
        assert len(store.search_words(space, KeyFilter(), query_tokens("apple"), limit=50)) == 20
    first, *_, last = loaded[:-1]
    assert loaded == [*loaded[: len(spaces)], first], "what was let go is loaded anew, what was used last is not"
    assert last != first
