"""Long random histories: the embedded engine does what plain dictionaries do."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from afterwit.errors import Conflict, NotFound
from afterwit.records import (
    Add,
    Basis,
    Change,
    Connect,
    Erase,
    KeyFilter,
    Link,
    LinkType,
    Memory,
    RecordUse,
    Reinforce,
    Retire,
    Revise,
    Standing,
    Status,
    Supersede,
    Trust,
    Use,
    Vector,
)
from afterwit.storage import Order, Scored, open_store
from afterwit.testing.samples import MODEL, SPACE, ids
from afterwit.text import query_tokens
from store_model import Model, filters, hours, memories, names, scopes, stored, tag_sets, vectors

TOKENS = query_tokens("apple pear 杭州 E1234 alpha")


def same(found: list[Scored], expected: dict[str, float]) -> bool:
    """Equal ids, equal scores, best first, and by id wherever scores are exactly equal."""
    scores = {item.id: item.score for item in found}
    return (
        scores.keys() == expected.keys()
        and all(math.isclose(scores[key], expected[key], abs_tol=1e-6) for key in scores)
        and found == sorted(found, key=lambda item: (-item.score, item.id))
    )


class StoreMachine(RuleBasedStateMachine):
    known = Bundle("known")

    @initialize()
    def start(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{Path(self.directory.name) / 'memory.db'}"
        self.store = open_store(self.url)
        self.model = Model()
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.directory.cleanup()

    def apply(self, now: Any, *changes: Change) -> None:
        with self.store.transaction(SPACE, now=now, actor="machine") as transaction:
            transaction.apply(changes)
        self.model.events += len(changes)

    # --- changes --------------------------------------------------------------------------------

    @rule(target=known, data=st.data(), row=st.none() | vectors)
    def add(self, data: st.DataObject, row: list[int] | None) -> str:
        self.number += 1
        item = data.draw(memories(self.number))
        self.apply(item.recorded_at, Add(item, None if row is None else Vector(MODEL, stored(row))))
        self.model.memories[item.id] = item
        if row is not None:
            self.model.vectors[item.id] = row
        return item.id

    @rule(key=known)
    def add_again(self, key: str) -> None:
        with pytest.raises(Conflict):
            self.apply(self.model.memories[key].recorded_at, Add(self.model.memories[key]))

    @rule(old=known, new=known, ends=hours, now=hours)
    def supersede(self, old: str, new: str, ends: Any, now: Any) -> None:
        if old == new:
            return
        before = self.model.memories[old]
        self.apply(now, Supersede(old, new, ends))
        valid_to = ends if before.valid_to is None else min(ends, before.valid_to)
        valid_to = valid_to if before.valid_from is None else max(valid_to, before.valid_from)
        self.model.memories[old] = replace(
            self.retired(before, now), status=Status.SUPERSEDED, superseded_by=new, valid_to=valid_to
        )
        link = Link(SPACE, new, LinkType.SUPERSEDES, old, now)
        self.model.links.setdefault((new, link.type, old), link)

    @staticmethod
    def retired(before: Memory, now: Any) -> Memory:
        if before.status is not Status.ACTIVE and before.retired_at is not None:
            return before
        return replace(before, retired_at=now, valid_to_believed=before.valid_to)

    @rule(key=known, status=st.sampled_from([Status.EXPIRED, Status.FORGOTTEN, Status.QUARANTINED]), now=hours)
    def retire(self, key: str, status: Status, now: Any) -> None:
        self.apply(now, Retire(key, status))
        self.model.memories[key] = replace(self.retired(self.model.memories[key], now), status=status)

    @rule(key=known, now=hours)
    def restore(self, key: str, now: Any) -> None:
        before = self.model.memories[key]
        self.apply(now, Revise(key, {"status": Status.ACTIVE}))
        if before.status is not Status.ACTIVE:
            self.model.memories[key] = replace(
                before,
                status=Status.ACTIVE,
                valid_to=before.valid_to if before.retired_at is None else before.valid_to_believed,
                valid_to_believed=None,
                retired_at=None,
                superseded_by="",
            )

    @rule(key=known, topic=names, scope=scopes, tags=tag_sets, now=hours)
    def revise(self, key: str, topic: str, scope: str, tags: tuple[str, ...], now: Any) -> None:
        fields = {"topic": topic, "scope": scope, "tags": tags}
        self.apply(now, Revise(key, fields))
        self.model.memories[key] = replace(self.model.memories[key], **fields)

    @rule(key=known, supporter=st.sampled_from("abc"), trust=st.sampled_from(Trust), now=hours)
    def reinforce(self, key: str, supporter: str, trust: Trust, now: Any) -> None:
        before = self.model.memories[key]
        self.apply(now, Reinforce(key, supporter, 0.75, Basis.STATED, trust, Standing.CONFIRMED, now))
        self.model.memories[key] = replace(
            before,
            supporters=tuple(sorted({*before.supporters, supporter})),
            confidence=0.75,
            basis=Basis.STATED,
            trust=trust,
            standing=Standing.CONFIRMED,
            last_validated_at=now,
        )

    @rule(key=known, now=hours)
    def use(self, key: str, now: Any) -> None:
        self.number += 1
        use = Use(f"u{self.number:04}", SPACE, key, now)
        self.apply(now, RecordUse(use))
        before = self.model.memories[key]
        last = now if before.last_used_at is None else max(now, before.last_used_at)
        self.model.memories[key] = replace(before, use_count=before.use_count + 1, last_used_at=last)
        self.model.uses[use.id] = use

    @rule(source=known, end=known, kind=st.sampled_from([LinkType.CONFLICTS, LinkType.SUPPORTS]), now=hours)
    def connect(self, source: str, end: str, kind: LinkType, now: Any) -> None:
        link = Link(SPACE, source, kind, end, now)
        self.apply(now, Connect(link))
        self.model.links.setdefault((source, kind, end), link)

    @rule(key=consumes(known), now=hours)
    def erase(self, key: str, now: Any) -> None:
        if key not in self.model.memories:
            return
        self.apply(now, Erase(key))
        self.forget(key)

    def forget(self, key: str) -> None:
        del self.model.memories[key]
        self.model.vectors.pop(key, None)
        self.model.links = {name: link for name, link in self.model.links.items() if key not in (name[0], name[2])}
        self.model.uses = {name: use for name, use in self.model.uses.items() if use.memory_id != key}

    # --- what must change nothing ---------------------------------------------------------------

    @rule(key=known, data=st.data(), where=filters)
    def failing_transaction(self, key: str, data: st.DataObject, where: KeyFilter) -> None:
        item = data.draw(memories(9999))
        with (
            pytest.raises(NotFound),
            self.store.transaction(SPACE, now=item.recorded_at, actor="machine") as transaction,
        ):
            transaction.apply([Add(item, Vector(MODEL, stored([1] * 8))), Erase(key)])
            transaction.search_words(SPACE, where, TOKENS, limit=5)
            transaction.search_vectors(SPACE, where, np.ones(8, dtype=np.float32), MODEL, limit=5)
            transaction.apply([Retire("absent", Status.EXPIRED)])

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = open_store(self.url)

    @rule()
    def rebuild_words(self) -> None:
        assert self.store.rebuild_words(SPACE) == len(self.model.memories)

    @rule(data=st.data())
    def fill_in_and_drop_vectors(self, data: st.DataObject) -> None:
        missing = [item.id for item in self.store.without_vector(SPACE, MODEL, limit=100)]
        expected = [item for item in self.model.memories.values() if item.id not in self.model.vectors]
        expected = [item for item in expected if item.status is not Status.FORGOTTEN]
        assert missing == ids(sorted(expected, key=lambda item: (item.recorded_at, item.id)))
        rows = {key: data.draw(vectors) for key in missing}
        self.store.put_vectors(SPACE, {key: Vector(MODEL, stored(row)) for key, row in rows.items()})
        self.model.vectors |= rows
        if data.draw(st.integers(0, 4)) == 0:
            assert self.store.drop_vectors(SPACE, MODEL) == len(self.model.vectors)
            self.model.vectors.clear()

    # --- what must hold -------------------------------------------------------------------------

    @rule(where=filters, query=vectors, limit=st.integers(0, 8))
    def search(self, where: KeyFilter, query: list[int], limit: int) -> None:
        passing = self.model.passing(where)
        found = self.store.find(SPACE, where, order=Order.NEWEST)
        assert found == sorted(passing, key=lambda item: (-item.recorded_at.timestamp(), item.id))
        words = self.store.search_words(SPACE, where, TOKENS, limit=1000)
        assert same(words, self.model.words(where, TOKENS))
        assert self.store.search_words(SPACE, where, TOKENS, limit=limit) == words[:limit]
        near = self.store.search_vectors(SPACE, where, np.array(query, dtype=np.float32), MODEL, limit=1000)
        assert same(near, self.model.cosines(where, query))
        few = self.store.search_vectors(SPACE, where, np.array(query, dtype=np.float32), MODEL, limit=limit)
        assert few == near[:limit]

    @invariant()
    def rows_are_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        assert self.store.get(SPACE, list(self.model.memories)) == self.model.memories
        assert self.store.count(SPACE, KeyFilter.everything()) == len(self.model.memories)

    @rule(key=known)
    def relations_are_the_same(self, key: str) -> None:
        links = [link for name, link in self.model.links.items() if key in (name[0], name[2])]
        assert self.store.links(SPACE, [key]) == sorted(
            links, key=lambda link: (link.created_at, link.source_id, link.type, link.target_id)
        )
        uses = [use for use in self.model.uses.values() if use.memory_id == key]
        assert self.store.uses(SPACE, key) == sorted(uses, key=lambda use: (use.used_at, use.id))
        active = [item for item in self.model.memories.values() if item.status is Status.ACTIVE]
        assert self.store.word_statistics(SPACE, TOKENS).total == len(active)
        assert self.store.known_subjects(SPACE) == sorted({item.subject for item in active} - {""})
        assert [event.sequence for event in self.store.events(SPACE)] == list(range(1, self.model.events + 1))


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
