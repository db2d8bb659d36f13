"""The part of the store contract that is about searching."""
# ruff: noqa: S101  a test asserts

import math
from datetime import timedelta

import numpy as np

from afterwit.errors import InvalidInput, StorageError
from afterwit.records import (
    Add,
    Connect,
    Erase,
    KeyFilter,
    Kind,
    Link,
    LinkType,
    Memory,
    Retire,
    Revise,
    Standing,
    Status,
    Supersede,
    Trust,
    Vector,
)
from afterwit.storage import Reader, Scored, Store
from afterwit.testing.samples import (
    DIMENSIONS,
    MODEL,
    NOW,
    OTHER,
    SPACE,
    direction,
    fails,
    ids,
    memory,
    memory_id,
    put,
    put_memories,
    vector,
)
from afterwit.text import query_tokens

HOUR = timedelta(hours=1)


class SearchContract:
    """Words, vectors and the key filter."""

    #: rows that must change nothing, in the tests of the key filter
    neighbours = 10_000

    # --- words ----------------------------------------------------------------------------------

    def test_words_are_found_wherever_a_memory_has_them(self, store: Store) -> None:
        put_memories(
            store,
            memory(1, "用户住在杭州"),
            memory(2, "calls snake_case_name() in src/app.py", raw="it said E1234"),
            memory(3, "plain", subject="atlas", topic="deploy", tags=("urgent",)),
            memory(4, "decided", structured={"options": [{"name": "postgres"}]}),
        )
        for words, number in (
            ("杭州", 1),
            ("snake_case_name", 2),
            ("E1234", 2),
            ("atlas", 3),
            ("deploy", 3),
            ("urgent", 3),
            ("postgres", 4),
        ):
            found = store.search_words(SPACE, KeyFilter(), query_tokens(words), limit=5)
            assert ids(found) == [memory_id(number)], words

    def test_rare_words_and_repeated_words_weigh_more(self, store: Store) -> None:
        put_memories(
            store,
            memory(1, "common filler apple"),
            memory(2, "common rarity apple"),
            memory(3, "common common filler"),
            memory(4, "common filler filler"),
        )
        found = store.search_words(SPACE, KeyFilter(), query_tokens("rarity common"), limit=9)
        assert ids(found)[:2] == [memory_id(2), memory_id(3)]
        assert all(item.score >= 0 for item in found)

    def test_word_results_are_best_first_equal_scores_by_id_and_stable_under_the_limit(self, store: Store) -> None:
        texts = ["alpha beta gamma", "alpha", "alpha beta", "gamma alpha delta", "beta"]
        put_memories(store, *(memory(number, texts[number % 5]) for number in reversed(range(60))))
        tokens = query_tokens("alpha beta gamma")
        full = store.search_words(SPACE, KeyFilter(), tokens, limit=100)
        assert len(full) == 60
        assert full == sorted(full, key=lambda item: (-item.score, item.id))
        for limit in (0, 1, 7, 30, 59, 60):
            assert store.search_words(SPACE, KeyFilter(), tokens, limit=limit) == full[:limit]
        with fails(InvalidInput):
            store.search_words(SPACE, KeyFilter(), tokens, limit=-1)

    def test_word_statistics_count_active_memories(self, store: Store) -> None:
        put_memories(store, memory(1, "apple pear"), memory(2, "apple"), memory(3, "apple"))
        put(store, Retire(memory_id(3), Status.EXPIRED))
        apple, pear, plum = (query_tokens(word)[0] for word in ("apple", "pear", "plum"))
        statistics = store.word_statistics(SPACE, [apple, pear, plum])
        assert statistics.total == 2
        assert dict(statistics.containing) == {apple: 2, pear: 1, plum: 0}

    def test_words_follow_a_revised_subject_topic_and_tags(self, store: Store) -> None:
        put_memories(store, memory(1, "text", topic="oldtopic"), memory(2, "text"))
        assert ids(store.search_words(SPACE, KeyFilter(), query_tokens("oldtopic"), limit=5)) == [memory_id(1)]
        put(store, Revise(memory_id(1), {"topic": "newtopic", "tags": ("newtag",)}))
        assert store.search_words(SPACE, KeyFilter(), query_tokens("oldtopic"), limit=5) == []
        for word in ("newtopic", "newtag"):
            assert ids(store.search_words(SPACE, KeyFilter(), query_tokens(word), limit=5)) == [memory_id(1)]

    def test_rebuilding_the_word_index_changes_no_result(self, store: Store) -> None:
        put_memories(store, *(memory(number, f"word{number % 3} shared 中文") for number in range(9)))
        put(store, Retire(memory_id(4), Status.EXPIRED))
        tokens = query_tokens("word1 shared 中文")
        before = store.search_words(SPACE, KeyFilter(), tokens, limit=9)
        assert store.rebuild_words(SPACE) == 9
        assert store.search_words(SPACE, KeyFilter(), tokens, limit=9) == before
        assert store.check() == []

    # --- vectors --------------------------------------------------------------------------------

    def test_vector_search_is_exact_on_the_stored_vectors(self, store: Store) -> None:
        put_memories(store, *(memory(number) for number in range(300)))
        query = direction(1000)
        stored = {
            memory_id(number): np.frombuffer(vector(number).data, "<f2").astype(np.float64) for number in range(300)
        }
        cosines = {key: float(row @ query / np.linalg.norm(row)) for key, row in stored.items()}
        expected = sorted(cosines, key=lambda key: (-cosines[key], key))
        found = store.search_vectors(SPACE, KeyFilter(), query, MODEL, limit=20)
        assert ids(found) == expected[:20]
        assert all(math.isclose(item.score, cosines[item.id], abs_tol=1e-6) for item in found)
        for limit in (0, 1, 5, 299, 400):
            assert ids(store.search_vectors(SPACE, KeyFilter(), query, MODEL, limit=limit)) == expected[:limit]

    def test_equal_vectors_come_by_id(self, store: Store) -> None:
        put(store, *(Add(memory(number), vector(1)) for number in (5, 3, 9, 1)))
        expected = [memory_id(number) for number in (1, 3, 5, 9)]
        for limit in range(5):
            found = store.search_vectors(SPACE, KeyFilter(), direction(7), MODEL, limit=limit)
            assert ids(found) == expected[:limit]

    def test_vectors_of_different_models_never_meet(self, store: Store) -> None:
        put(store, Add(memory(1), vector(1)), Add(memory(2), vector(1, "model-b")), Add(memory(3)))
        assert ids(store.search_vectors(SPACE, KeyFilter(), direction(1), MODEL, limit=5)) == [memory_id(1)]
        assert ids(store.search_vectors(SPACE, KeyFilter(), direction(1), "model-b", limit=5)) == [memory_id(2)]
        assert store.search_vectors(SPACE, KeyFilter(), direction(1), "model-c", limit=5) == []
        assert store.models(SPACE) == {MODEL: 1, "model-b": 1}
        assert list(store.vectors(SPACE, [memory_id(1), memory_id(2)], MODEL)) == [memory_id(1)]

    def test_a_search_that_was_begun_finds_what_one_that_was_not_finds(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2), memory(3))

        def begin(model: str = MODEL) -> None:
            store.begin_search_vectors(SPACE, KeyFilter(), direction(3), model, limit=5)

        def found(where: KeyFilter) -> list[Scored]:
            return store.search_vectors(SPACE, where, direction(3), MODEL, limit=5)

        plain = found(KeyFilter())
        begin()
        assert found(KeyFilter()) == plain
        begin()
        put_memories(store, memory(4))
        assert set(ids(found(KeyFilter()))) == {memory_id(number) for number in (1, 2, 3, 4)}
        begin()
        with store.transaction(SPACE, now=NOW, actor="test") as transaction:
            transaction.apply([Retire(memory_id(4), Status.FORGOTTEN)])
            assert found(KeyFilter()) != plain
        assert found(KeyFilter()) == plain
        begin()
        assert found(KeyFilter(scopes=("project:other",))) == []
        begin("unknown")
        store.begin_search_vectors(OTHER, KeyFilter(), direction(3), MODEL, limit=5)
        assert found(KeyFilter()) == plain

    def test_vectors_are_filled_in_replaced_and_dropped(self, store: Store) -> None:
        put_memories(store, memory(1))
        put(store, Add(memory(3)), Add(memory(2, recorded_at=NOW - HOUR)), Add(memory(4)))
        put(store, Retire(memory_id(4), Status.FORGOTTEN))
        assert store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=5)
        assert ids(store.without_vector(SPACE, MODEL, limit=9)) == [memory_id(2), memory_id(3)]
        assert ids(store.without_vector(SPACE, MODEL, limit=1)) == [memory_id(2)]
        assert store.count_without_vector(SPACE, MODEL) == 2
        assert store.count_without_vector(SPACE, "another/1") == 3
        assert store.count_without_vector("elsewhere", MODEL) == 0
        events = len(store.events(SPACE))
        store.put_vectors(SPACE, {memory_id(2): vector(2), memory_id(1): vector(7), memory_id(99): vector(9)})
        assert ids(store.search_vectors(SPACE, KeyFilter(), direction(2), MODEL, limit=1)) == [memory_id(2)]
        assert ids(store.search_vectors(SPACE, KeyFilter(), direction(7), MODEL, limit=1)) == [memory_id(1)]
        assert store.drop_vectors(SPACE, MODEL) == 2
        assert store.search_vectors(SPACE, KeyFilter(), direction(2), MODEL, limit=5) == []
        assert len(store.events(SPACE)) == events

    def test_rows_without_a_vector_are_gone_through_once(self, store: Store) -> None:
        put(store, *(Add(memory(number)) for number in (2, 1, 4)), Add(memory(3, recorded_at=NOW - HOUR)))
        order = [memory_id(number) for number in (3, 1, 2, 4)]
        seen: list[str] = []
        last: Memory | None = None
        while page := store.without_vector(SPACE, MODEL, limit=1, after=last):
            last = page[0]
            seen.append(last.id)
        assert seen == order
        assert ids(store.without_vector(SPACE, MODEL, limit=9)) == order

    def test_other_models_are_named_until_the_last_row_has_the_new_one(self, store: Store) -> None:
        assert store.other_models(SPACE, "new") == []
        put_memories(store, memory(1), memory(2), memory(3))
        put(store, Retire(memory_id(3), Status.FORGOTTEN))
        assert store.other_models(SPACE, MODEL) == []
        assert store.other_models(SPACE, "new") == [MODEL]
        store.put_vectors(SPACE, {memory_id(1): vector(5, "new")})
        assert store.other_models(SPACE, "new") == [MODEL]
        assert store.other_models(OTHER, "new") == []
        store.put_vectors(SPACE, {memory_id(2): vector(6, "new")})
        assert store.other_models(SPACE, "new") == []
        put(store, Add(memory(4)))
        assert store.other_models(SPACE, "new") == [MODEL]
        store.drop_vectors(SPACE, MODEL)
        assert store.other_models(SPACE, "new") == []

    def test_vectors_of_memories_that_lack_another_model_are_searched_alone(self, store: Store) -> None:
        put_memories(store, *(memory(number) for number in range(6)))
        store.put_vectors(SPACE, {memory_id(number): vector(number, "new") for number in (0, 2, 4)})
        found = store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=9, lacking="new")
        every = store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=9)
        left = {memory_id(number) for number in (1, 3, 5)}
        assert found == [item for item in every if item.id in left]
        for limit in range(4):
            part = store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=limit, lacking="new")
            assert part == found[:limit]
        assert store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=9, lacking="unknown") == every

    def test_stored_vectors_come_back(self, store: Store) -> None:
        put_memories(store, memory(1))
        found = store.vectors(SPACE, [memory_id(1), memory_id(2)], MODEL)[memory_id(1)]
        assert found.dtype == np.float32
        assert found.shape == (DIMENSIONS,)
        assert np.array_equal(found, np.frombuffer(vector(0).data, "<f2").astype(np.float32))

    def test_vectors_of_a_wrong_length_are_refused(self, store: Store) -> None:
        put_memories(store, memory(1))
        with fails(InvalidInput):
            put(store, Add(memory(2), Vector(MODEL, b"\0\0")))
        with fails(InvalidInput):
            put(store, Add(memory(2), Vector("other", b"\0\x7c")))
        with fails(InvalidInput):
            store.search_vectors(SPACE, KeyFilter(), direction(1)[:3], MODEL, limit=1)

    # --- the key filter -------------------------------------------------------------------------

    def test_each_condition_of_the_filter_holds_for_rows_words_and_vectors(self, store: Store) -> None:
        put_memories(
            store,
            memory(1, "word", scope="project:a", subject="s", tags=("x",), trust=Trust.USER),
            memory(2, "word", role="coder", topic="t", tags=("x", "y"), happened_at=NOW - HOUR),
            memory(3, "word", kind=Kind.RULE, standing=Standing.REFUTED),
            memory(4, "word", valid_from=NOW, valid_to=NOW + HOUR, standing=Standing.CONFIRMED),
            memory(5, "word", status=Status.QUARANTINED),
        )
        for where, expected in (
            (KeyFilter(), [1, 2, 4]),
            (KeyFilter.everything(), [1, 2, 3, 4, 5]),
            (KeyFilter(scopes=("project:a",)), [1]),
            (KeyFilter(scopes=("project:a", "global"), roles=("",)), [1, 4]),
            (KeyFilter(roles=("coder",)), [2]),
            (KeyFilter(kinds=(Kind.RULE,), without_standings=()), [3]),
            (KeyFilter(subjects=("s", "t")), [1]),
            (KeyFilter(topics=("t",)), [2]),
            (KeyFilter(tags=("x",)), [1, 2]),
            (KeyFilter(tags=("y", "z")), [2]),
            (KeyFilter(statuses=(Status.QUARANTINED,)), [5]),
            (KeyFilter(min_trust=Trust.USER), [1]),
            (KeyFilter(proven_only=True), [1, 4]),
            (KeyFilter(valid_at=NOW - HOUR), [1, 2]),
            (KeyFilter(valid_at=NOW), [1, 2, 4]),
            (KeyFilter(valid_at=NOW + HOUR), [1, 2]),
            (KeyFilter(valid_at=NOW - HOUR, valid_through=NOW), [1, 2]),
            (KeyFilter(valid_at=NOW - HOUR, valid_through=NOW + timedelta(microseconds=1)), [1, 2, 4]),
            (KeyFilter(happened_to=NOW), [2]),
            (KeyFilter(happened_from=NOW), [1, 4]),
            (KeyFilter(scopes=("nowhere",)), []),
        ):
            wanted = {memory_id(number) for number in expected}
            assert set(ids(store.find(SPACE, where))) == wanted, where
            assert store.count(SPACE, where) == len(wanted)
            assert set(ids(store.search_words(SPACE, where, query_tokens("word"), limit=9))) == wanted, where
            assert set(ids(store.search_vectors(SPACE, where, direction(0), MODEL, limit=9))) == wanted, where

    def test_known_at_answers_what_was_believed_then(self, store: Store) -> None:
        put_memories(store, memory(1, "lives in Hangzhou"))
        put(store, Add(memory(2, "lives in Shanghai", recorded_at=NOW + 5 * HOUR), vector(2)))
        # Learned at hour 5 that it ended at hour 2.
        put(store, Supersede(memory_id(1), memory_id(2), NOW + 2 * HOUR), now=NOW + 5 * HOUR)
        for known, valid, expected in (
            (4, None, [1]),
            (4, 3, [1]),
            (6, 3, [2]),
            (-1, None, []),
            (None, 1, [2]),
        ):
            where = KeyFilter(
                known_at=None if known is None else NOW + known * HOUR,
                valid_at=None if valid is None else NOW + valid * HOUR,
            )
            wanted = [memory_id(number) for number in expected]
            assert ids(store.find(SPACE, where)) == wanted, (known, valid)
            assert ids(store.search_words(SPACE, where, query_tokens("lives"), limit=5)) == wanted
            assert ids(store.search_vectors(SPACE, where, direction(0), MODEL, limit=5)) == wanted

    def test_rows_that_the_filter_drops_change_no_result(self, store: Store) -> None:
        put_memories(
            store, *(memory(number, f"deploy atlas number{number} on friday", scope="project:a") for number in range(9))
        )
        where = KeyFilter(scopes=("project:a", "global"), valid_at=NOW)
        tokens = query_tokens("atlas number4 friday")
        words = store.search_words(SPACE, where, tokens, limit=9)
        near = store.search_vectors(SPACE, where, direction(4), MODEL, limit=9)
        share = self.neighbours // 4
        for kind, fields in enumerate(
            (
                {"status": Status.EXPIRED},
                {"status": Status.SUPERSEDED},
                {"valid_to": NOW - HOUR},
                {"scope": "project:b"},
            )
        ):
            dead = (memory(1000 + kind * share + place, "atlas number4 friday", **fields) for place in range(share))
            put(store, *(Add(item, vector(4)) for item in dead))
        foreign = (memory(place, "atlas number4 friday", space=OTHER) for place in range(share))
        put(store, *(Add(item, vector(4)) for item in foreign), space=OTHER)
        assert store.search_words(SPACE, where, tokens, limit=9) == words
        assert store.search_vectors(SPACE, where, direction(4), MODEL, limit=9) == near
        put(store, Erase(memory_id(1000)))
        assert store.search_words(SPACE, where, tokens, limit=9) == words

    # --- several questions ----------------------------------------------------------------------

    def test_questions_of_one_reading_are_answered_like_those_of_the_store(self, store: Store) -> None:
        put_memories(store, memory(1, "apple", subject="ann"), memory(2, "pear"))
        put(store, Connect(Link(SPACE, memory_id(1), LinkType.SUPPORTS, memory_id(2), NOW)))

        def ask(reader: Reader) -> tuple[object, ...]:
            return (
                reader.change_number(SPACE),
                reader.get(SPACE, [memory_id(2), memory_id(9), memory_id(1)]),
                reader.find(SPACE, KeyFilter()),
                reader.links(SPACE, [memory_id(2)]),
                reader.known_subjects(SPACE),
                reader.search_words(SPACE, KeyFilter(), query_tokens("apple"), limit=5),
                reader.search_vectors(SPACE, KeyFilter(), direction(1), MODEL, limit=5),
                {id: found.tolist() for id, found in reader.vectors(SPACE, [memory_id(1)], MODEL).items()},
                reader.get(OTHER, [memory_id(1)]),
            )

        with store.reading() as reader:
            assert ask(reader) == ask(store)
        with fails(StorageError):
            reader.get(SPACE, [memory_id(1)])
        store.close()
        with fails(StorageError), store.reading():
            pass

    def test_a_reading_never_goes_back_in_time(self, store: Store) -> None:
        put_memories(store, memory(0, "apple"))
        tokens = query_tokens("apple")
        with store.reading() as reader:
            for number in range(1, 4):
                put_memories(store, memory(number, "apple"))
                # Others ask in between: what they see of the new state must not confuse who began earlier.
                assert len(store.search_words(SPACE, KeyFilter(), tokens, limit=9)) == number + 1
                seen = ids(reader.search_words(SPACE, KeyFilter(), tokens, limit=9))
                assert set(reader.get(SPACE, seen)) == set(seen)
                assert reader.count(SPACE, KeyFilter()) >= len(seen)
            put(store, Retire(memory_id(1), Status.FORGOTTEN))
            assert len(store.search_words(SPACE, KeyFilter(), tokens, limit=9)) == 3
            assert len(reader.search_words(SPACE, KeyFilter(), tokens, limit=9)) in (3, 4)
