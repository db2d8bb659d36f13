"""Changing the embedding model: old vectors answer until the new ones are there, and never meet them."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as within
from hypothesis import strategies as st
from numpy.typing import NDArray

from afterwit.config import Settings, load_settings
from afterwit.embedding import CachingEmbedder, Embedder, HashEmbedder, UseEmbedder, to_vector
from afterwit.embedding.reopening import reopen_embedder
from afterwit.embedding.scale import scale_of
from afterwit.errors import ProviderError, StorageError
from afterwit.meaning import Part, aim, closeness, directions, nearest
from afterwit.records import KeyFilter
from afterwit.service import Afterwit
from afterwit.service.reembedding import Reembedding
from afterwit.storage import Store, open_store
from afterwit.testing import FixedClock

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
SETTINGS = load_settings(environ={}, overrides={"timezone": "UTC"})
OLD, NEW = HashEmbedder(256), HashEmbedder(128)
SCRIPT = Path(__file__).with_name("reembedding_processes.py")

#: Names that share no word with each other, so that each question has one answer.
NAMES = (
    "walnut ferry lantern orchid gravel pepper saddle trumpet velvet window copper daisy engine fiddle garlic harbor "
    "island jacket kettle ladder magnet needle oyster pillow quartz ribbon salmon teapot urchin violin whistle yoghurt"
).split()


class Counting(HashEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed(texts)


class Broken(HashEmbedder):
    """Fails until it is mended."""

    is_mended = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.is_mended:
            raise ProviderError("The model is out.")
        return super().embed(texts)


@pytest.fixture(autouse=True)
def _scales() -> None:
    """What is measured once per model and process is measured."""
    for dimensions in (40, 128, 256):
        scale_of(HashEmbedder(dimensions))


@pytest.fixture
def store() -> Iterator[Store]:
    made = open_store("sqlite://")
    yield made
    made.close()


def service(store: Store, embedder: Embedder | None, clock: FixedClock | None = None) -> Afterwit:
    return Afterwit(store, embedder, settings=SETTINGS, clock=clock or FixedClock(START))


def _said(names: Sequence[str] = NAMES) -> list[tuple[str, str]]:
    return [(name, f"The keeper of the {name} is number {place}.") for place, name in enumerate(names, 40)]


def fill(store: Store, embedder: Embedder | None = OLD, names: Sequence[str] = NAMES) -> None:
    service(store, embedder).write_many((said, {"kind": "fact"}) for _, said in _said(names))


def cosines(memory: Afterwit, name: str) -> list[float]:
    """Cosine and presence on the meaning path of the first hit for a name."""
    answer = memory.search(f"keeper of the {name}")
    assert name in answer.hits[0].memory.summary
    assert not answer.degraded
    return [answer.hits[0].why["cosine"], answer.hits[0].why.get("meaning", 0)]


# --- searching meanwhile ---------------------------------------------------------------------------


def test_memories_of_both_models_are_found_at_every_moment(store: Store) -> None:
    fill(store)
    memory = service(store, NEW)
    assert store.models("default") == {OLD.model: len(NAMES)}
    for row in [None, *store.find("default", KeyFilter(), limit=99)]:
        if row is not None:
            [vector] = NEW.embed([row.summary])
            store.put_vectors("default", {row.id: to_vector(NEW.model, vector)})
        for name in NAMES[:: 1 if row is None else 9]:
            cosine, rank = cosines(memory, name)
            assert cosine > 0.5
            assert rank >= 1, "found by its meaning, not by its words alone"
    assert store.other_models("default", NEW.model) == []


def test_a_memory_is_judged_by_the_new_model_as_soon_as_it_has_it(store: Store) -> None:
    fill(store)
    by_old = [cosines(service(store, OLD), name)[0] for name in NAMES]
    small = HashEmbedder(40)
    memory = service(store, small)
    assert [cosines(memory, name)[0] for name in NAMES] == pytest.approx(by_old, abs=1e-6)
    list(memory.embed_missing())
    by_new = [float(np.prod(small.embed([f"keeper of the {name}", said]), axis=0).sum()) for name, said in _said()]
    assert [cosines(memory, name)[0] for name in NAMES] == pytest.approx(by_new, abs=2e-3)
    assert by_new != pytest.approx(by_old, abs=2e-3)


def test_the_old_model_is_not_asked_any_more_once_all_have_the_new_one(store: Store) -> None:
    fill(store)
    memory = service(store, NEW)
    old = Counting(256)
    memory._older._opened[OLD.model] = old  # pyright: ignore[reportPrivateUsage]
    memory.search("keeper of the ferry")
    assert old.texts == ["keeper of the ferry"]
    list(memory.embed_missing())
    memory.search("keeper of the lantern")
    assert len(old.texts) == 1
    assert store.models("default")[OLD.model] == len(NAMES), "old vectors stay until they are dropped"


def test_writes_meanwhile_get_vectors_of_the_new_model(store: Store) -> None:
    fill(store)
    memory = service(store, NEW)
    work = memory.embed_missing()
    next(work)
    id = memory.write("The keeper of the zeppelin is number 99.", kind="fact").id
    assert list(store.vectors("default", [id], NEW.model)) == [id]
    assert store.vectors("default", [id], OLD.model) == {}
    assert cosines(memory, "zeppelin")[1] == 1
    list(work)
    assert store.models("default")[NEW.model] == len(NAMES) + 1


def test_a_model_that_cannot_be_opened_again_is_said(store: Store) -> None:
    class Lost(HashEmbedder):
        def __init__(self) -> None:
            super().__init__(64)
            self.model = "lost/64"

    fill(store, Lost())
    memory = service(store, NEW)
    answer = memory.search("keeper of the walnut")
    assert "walnut" in answer.hits[0].memory.summary, "words still find it"
    assert any("lost/64" in reason for reason in answer.degraded)
    list(memory.embed_missing())
    assert memory.search("keeper of the walnut").degraded == ()


@within(max_examples=40, deadline=None)
@given(
    has_old=st.lists(st.booleans(), min_size=8, max_size=8),
    has_new=st.lists(st.booleans(), min_size=8, max_size=8),
    asked=st.sampled_from(NAMES[:8]),
)
def test_no_cosine_crosses_two_models(has_old: list[bool], has_new: list[bool], asked: str) -> None:
    store = open_store("sqlite://")
    fill(store, None, NAMES[:8])
    rows = store.find("default", KeyFilter(), limit=9)
    for embedder, having in ((OLD, has_old), (NEW, has_new)):
        chosen = [row for row, has in zip(rows, having, strict=True) if has]
        arrays = embedder.embed([row.summary for row in chosen])
        vectors = {row.id: to_vector(embedder.model, array) for row, array in zip(chosen, arrays, strict=True)}
        store.put_vectors("default", vectors)
    aimed, _ = aim([asked], [NEW, OLD])
    [query] = aimed.directions
    assert aimed.parts == (Part(NEW.model, 0, 128, scale_of(NEW)), Part(OLD.model, 128, 384, scale_of(OLD)))
    found = directions(store, "default", [row.id for row in rows], aimed.parts)
    for row, old, new in zip(rows, has_old, has_new, strict=True):
        if not (old or new):
            assert row.id not in found
            continue
        judge = NEW if new else OLD
        [by_own, its_query] = judge.embed([row.summary, asked])
        assert float(found[row.id] @ query) == pytest.approx(float(by_own @ its_query), abs=2e-3)
        for other, other_new in zip(rows, has_new, strict=True):
            if other.id in found and new != other_new:
                assert float(found[row.id] @ found[other.id]) == 0
    ids = nearest(store, "default", KeyFilter(), query, aimed.parts, limit=9)
    assert sorted(ids) == sorted(found)
    products = np.array([float(found[id] @ query) for id in ids])
    close = closeness(products, [found[id] for id in ids], aimed.parts)
    judges = [NEW if has_new[place] else OLD for id in ids for place, row in enumerate(rows) if row.id == id]
    for judge, product, value in zip(judges, products, close, strict=True):
        assert value == pytest.approx((product - scale_of(judge).mean) / scale_of(judge).spread)
    assert list(close) == pytest.approx(sorted(close, reverse=True), abs=0.05)
    store.close()


# --- the work --------------------------------------------------------------------------------------


def test_the_work_is_done_once_and_stops_and_goes_on(store: Store) -> None:
    fill(store, None)
    first = Counting(128)
    with contextlib.closing(service(store, first).embed_missing()) as work:
        done = next(work)
    assert 0 < done < len(NAMES) + 1
    rest = Counting(128)
    assert list(service(store, rest).embed_missing())[-1:] == ([len(NAMES) - done] if done < len(NAMES) else [])
    assert sorted(first.texts + rest.texts) == sorted(row.summary for row in store.find("default", KeyFilter()))


def test_another_worker_waits_and_does_nothing_twice(store: Store) -> None:
    fill(store, None, NAMES)
    clock = FixedClock(START)
    one, two = Counting(128), Counting(128)
    first = Reembedding(store, "default", one, clock=clock, poll_s=0.01)
    second = Reembedding(store, "default", two, clock=clock, poll_s=0.01)
    work, waiting = first.run(), second.run()
    next(work)
    assert [next(waiting), next(waiting)] == [0, 0] if len(one.texts) < len(NAMES) else True
    list(work)
    assert list(waiting) == []
    assert len(one.texts) == len(NAMES)
    assert two.texts == []


def test_a_killed_worker_blocks_nobody_after_its_lease(store: Store) -> None:
    fill(store, None)
    clock = FixedClock(START)
    assert store.take_lease("default", "embed", holder="killed", now=clock(), lasts_s=15)
    work = Reembedding(store, "default", HashEmbedder(128), clock=clock, poll_s=0.01).run()
    assert next(work) == 0
    clock.advance(seconds=15)
    assert list(work)[-1] == len(NAMES)


def test_a_space_without_gaps_is_not_written_to(store: Store) -> None:
    fill(store, NEW)
    number = store.change_number("default")
    assert list(service(store, NEW).embed_missing()) == []
    assert store.change_number("default") == number


# --- in the background -----------------------------------------------------------------------------


def wait_for(condition: threading.Event) -> None:
    assert condition.wait(20)


class Signalling(HashEmbedder):
    """Says when it embeds memories."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.is_asked = threading.Event()
        self.goes_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) > 1:
            self.is_asked.set()
            wait_for(self.goes_on)
        return super().embed(texts)


def test_a_running_server_embeds_in_the_background_and_writes_go_on(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    fill(store)
    embedder = Signalling(128)
    memory = service(store, embedder)
    with caplog.at_level(logging.WARNING):
        memory.warm()
        wait_for(embedder.is_asked)
    assert any("embedding model is hash/128" in record.message for record in caplog.records)
    assert memory.write("The keeper of the zeppelin is number 99.", kind="fact").accepted
    assert cosines(memory, "zeppelin")[1] == 1
    embedder.goes_on.set()
    _join(memory)
    assert store.models("default")[embedder.model] == len(NAMES) + 1


def _join(memory: Afterwit) -> None:
    work = memory._reembedding  # pyright: ignore[reportPrivateUsage]
    assert work is not None
    thread = work._thread  # pyright: ignore[reportPrivateUsage]
    if thread is not None:
        thread.join(20)
        assert not thread.is_alive()


def test_closing_stops_the_work_after_the_batch_under_way() -> None:
    store = open_store("sqlite://")
    fill(store)
    embedder = Signalling(128)
    memory = service(store, embedder)
    memory.warm()
    wait_for(embedder.is_asked)
    closing = threading.Thread(target=memory.close)
    closing.start()
    embedder.goes_on.set()
    closing.join(20)
    assert not closing.is_alive()
    _join(memory)
    with pytest.raises(StorageError):
        store.spaces()


def test_an_embedder_that_fails_is_logged_and_asked_again(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterwit.service.reembedding._PAUSE_S", 0.01)
    fill(store, None)
    embedder = Broken(128)
    memory = service(store, embedder)
    said = threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: said.set() if "tried again" in record.getMessage() else None  # type: ignore[method-assign]
    logging.getLogger("afterwit.service.reembedding").addHandler(handler)
    try:
        memory.warm()
        wait_for(said)
        embedder.is_mended = True
        _join(memory)
    finally:
        logging.getLogger("afterwit.service.reembedding").removeHandler(handler)
    assert store.models("default") == {embedder.model: len(NAMES)}
    embedder.is_mended = False
    memory.write("The keeper of the zeppelin is number 99.", kind="fact")
    embedder.is_mended = True
    _join(memory)
    assert store.models("default") == {embedder.model: len(NAMES) + 1}, "a write without a vector gets one later"


# --- opening a model again -------------------------------------------------------------------------


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(environ={}, overrides={"data_dir": str(tmp_path)})


def test_models_are_opened_again_from_their_ids(settings: Settings) -> None:
    for embedder in (HashEmbedder(), HashEmbedder(7), UseEmbedder(settings.data_dir / "cache")):
        again = reopen_embedder(embedder.model, settings)
        assert again is not None
        assert again.model == embedder.model


@pytest.mark.parametrize(
    "model",
    ["", "hash", "hash/x/p1", "hash/256/p0", "use-multilingual-v3/0.0.1/00000000/512/p1", "other/1", "openai/m@h/8/p1"],
)
def test_other_models_are_not(settings: Settings, model: str) -> None:
    assert reopen_embedder(model, settings) is None


def test_an_endpoint_is_opened_again_on_the_same_host_and_without_a_request(settings: Settings) -> None:
    at = replace(settings, embedder="openai:large", embedder_url="http://127.0.0.1:9/v1")
    again = reopen_embedder("openai/org/small@127.0.0.1:9/8/p1", at)
    assert isinstance(again, CachingEmbedder)
    assert (again.model, again.dimensions) == ("openai/org/small@127.0.0.1:9/8/p1", 8)
    again.close()
    assert reopen_embedder("openai/small@elsewhere/8/p1", at) is None
    assert reopen_embedder("openai/small@127.0.0.1:9/8/p0", at) is None
    offline = replace(at, embedder="use")
    assert reopen_embedder("openai/small@127.0.0.1:9/8/p1", offline) is None, "offline now: nothing leaves the machine"


# --- real processes --------------------------------------------------------------------------------


def start(url: str, *, lease_s: float = 1.0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), "reembed", url, str(lease_s)], stdout=subprocess.PIPE, text=True
    )


def rest_of(process: "subprocess.Popen[str]") -> list[int]:
    """Sizes of the batches that a process still says, until its orderly end."""
    said = process.communicate(timeout=60)[0].split()
    assert process.returncode == 0
    assert said.pop() == "end"
    return [int(size) for size in said]


@pytest.fixture
def many(tmp_path: Path) -> Iterator[tuple[str, Store]]:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    store = open_store(url)
    fill(store, OLD, [f"{one}{two}" for one in NAMES[:12] for two in NAMES[:12]])
    yield url, store
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_a_killed_process_is_continued_where_it_stopped(many: tuple[str, Store]) -> None:
    url, store = many
    process = start(url)
    assert process.stdout is not None
    first, _second = int(process.stdout.readline()), process.stdout.readline()
    process.kill()
    process.communicate()
    kept = store.models("default")[HashEmbedder(128).model]
    assert kept == first
    memory = service(store, NEW)
    assert cosines(memory, "walnutferry")[1] >= 1
    again = start(url)
    assert sum(rest_of(again)) == 144 - kept
    assert store.models("default") == {OLD.model: 144, NEW.model: 144}


def test_two_processes_share_the_work_without_doing_it_twice(many: tuple[str, Store]) -> None:
    url, store = many
    processes = [start(url, lease_s=15), start(url, lease_s=15)]
    assert sum(sum(rest_of(process)) for process in processes) == 144
    assert store.models("default") == {OLD.model: 144, NEW.model: 144}
