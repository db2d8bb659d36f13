"""The store contract as tests. Subclass it and give a fixture `store` that yields an empty one.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self): ...
"""
# ruff: noqa: S101  a test asserts

import threading
from dataclasses import replace
from datetime import timedelta

from afterwit.errors import Conflict, InvalidInput, NotFound, StorageError
from afterwit.records import (
    Add,
    Alias,
    Basis,
    Change,
    CloseTask,
    Connect,
    DropAlias,
    Erase,
    KeyFilter,
    Kind,
    Link,
    LinkType,
    LogStep,
    OpenTask,
    RecordUse,
    Reinforce,
    Restore,
    Retire,
    Revise,
    SetAlias,
    Source,
    Standing,
    Status,
    Step,
    Supersede,
    Task,
    TaskStatus,
    Trust,
    Use,
)
from afterwit.storage import Order, Store, Vitals
from afterwit.testing.samples import (
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
from afterwit.testing.search_contract import SearchContract
from afterwit.testing.task_contract import TaskContract
from afterwit.testing.usage_contract import UsageContract
from afterwit.text import query_tokens, statement_key

HOUR = timedelta(hours=1)
LATER = NOW + HOUR


class StoreContract(SearchContract, TaskContract, UsageContract):
    """One test per promise of `storage.base`."""

    # --- following changes ----------------------------------------------------------------------

    def test_every_change_of_a_space_raises_its_number_and_nothing_else_does(self, store: Store) -> None:
        assert store.change_number(SPACE) == 0
        seen = [0]
        for change in (
            lambda: put_memories(store, memory(1)),
            lambda: put(store, Revise(memory_id(1), {"topic": "tea"})),
            lambda: put(store, RecordUse(Use("u1", SPACE, memory_id(1), NOW))),
            lambda: store.put_vectors(SPACE, {memory_id(1): vector(5, "new")}),
            lambda: store.drop_vectors(SPACE, MODEL),
            lambda: store.rebuild_words(SPACE),
            lambda: put(store, Erase(memory_id(1))),
        ):
            change()
            seen.append(store.change_number(SPACE))
            assert seen[-1] > seen[-2]
        put_memories(store, memory(1, space=OTHER), space=OTHER)
        store.find(SPACE, KeyFilter())
        store.take_lease(SPACE, "work", holder="a", now=NOW, lasts_s=9)
        with fails(NotFound):
            put(store, Retire(memory_id(9), Status.FORGOTTEN))
        assert store.change_number(SPACE) == seen[-1]

    def test_the_next_turn_is_when_something_begins_or_ceases_to_hold(self, store: Store) -> None:
        assert store.next_turn(SPACE, NOW) is None
        put_memories(
            store,
            memory(1),
            memory(2, valid_from=NOW + HOUR, valid_to=NOW + 3 * HOUR),
            memory(3, valid_to=NOW + 2 * HOUR),
        )
        put_memories(store, memory(1, space=OTHER, valid_to=NOW + timedelta(minutes=1)), space=OTHER)
        turns = [store.next_turn(SPACE, NOW + hours * HOUR) for hours in (0, 1, 2, 3)]
        assert turns == [NOW + HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR, None]
        put(store, Erase(memory_id(2)))
        assert store.next_turn(SPACE, NOW) == NOW + 2 * HOUR

    def test_the_next_start_is_when_something_active_begins_to_hold(self, store: Store) -> None:
        assert store.next_start(SPACE, NOW) is None
        put_memories(
            store,
            memory(1, valid_to=NOW + HOUR),
            memory(2, valid_from=NOW + 2 * HOUR),
            memory(3, valid_from=NOW + 3 * HOUR),
        )
        put_memories(store, memory(1, space=OTHER, valid_from=NOW + timedelta(minutes=1)), space=OTHER)
        starts = [store.next_start(SPACE, NOW + hours * HOUR) for hours in (0, 1, 2, 3)]
        assert starts == [NOW + 2 * HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR, None]
        put(store, Retire(memory_id(2), Status.FORGOTTEN))
        assert store.next_start(SPACE, NOW) == NOW + 3 * HOUR

    def test_a_lease_is_one_holders_until_it_is_given_back_or_ends(self, store: Store) -> None:
        def take(holder: str, seconds: float, *, space: str = SPACE, work: str = "embed") -> bool:
            now = NOW + timedelta(seconds=seconds)
            return store.take_lease(space, work, holder=holder, now=now, lasts_s=10)

        assert take("a", 0)
        assert not take("b", 9.9)
        assert take("b", 0, space=OTHER)
        assert take("b", 0, work="other")
        assert take("a", 5), "the holder prolongs it"
        assert not take("b", 14)
        assert take("b", 15), "a holder that was killed blocks nobody for longer"
        store.end_lease(SPACE, "embed", holder="a")
        assert not take("a", 16), "nobody gives back what is another's"
        store.end_lease(SPACE, "embed", holder="b")
        assert take("a", 16)
        assert take("b", -100), "a lease from a clock that was ahead does not count"

    # --- what goes in comes out -----------------------------------------------------------------

    def test_memory_comes_back_as_it_went_in(self, store: Store) -> None:
        full = memory(
            1,
            "Ünïcode 张三 🙂 \t ﬁ \u200b e\u0301",
            scope="project:atlas",
            role="coder",
            subject="张三",
            topic="city",
            tags=("a", "b"),
            raw="raw\r\nwords\n",
            structured={"b": [1, 2.5, None, True, {"ä": "ö"}], "a": "x"},
            basis=Basis.STATED,
            trust=Trust.CONFIRMED,
            source=Source("user", "session:1"),
            confidence=0.123456789,
            standing=Standing.CONFIRMED,
            valid_from=NOW - timedelta(days=1, microseconds=1),
            valid_to=NOW + timedelta(days=1, microseconds=1),
            supporters=("session:1",),
            last_validated_at=NOW,
            last_used_at=NOW,
            use_count=3,
            helped=2,
            harmed=1,
            applies={"tool": "git"},
        )
        put_memories(store, full)
        assert store.get(SPACE, [full.id]) == {full.id: full}

    def test_absent_ids_are_left_out(self, store: Store) -> None:
        put_memories(store, memory(1))
        assert store.get(SPACE, [memory_id(9), memory_id(1)]) == {memory_id(1): memory(1)}
        assert store.get("nowhere", [memory_id(1)]) == {}

    def test_what_was_read_stays_as_it_was(self, store: Store) -> None:
        put_memories(store, memory(1))
        before = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        put(store, Revise(memory_id(1), {"topic": "new"}))
        assert before == memory(1)
        assert store.get(SPACE, [memory_id(1)])[memory_id(1)].topic == "new"

    def test_find_orders_by_time_and_then_id_and_pages(self, store: Store) -> None:
        put_memories(
            store,
            memory(3),
            memory(1),
            memory(2, recorded_at=LATER, happened_at=NOW - HOUR),
        )
        everything = KeyFilter()
        assert ids(store.find(SPACE, everything)) == [memory_id(2), memory_id(1), memory_id(3)]
        assert ids(store.find(SPACE, everything, order=Order.OLDEST)) == [memory_id(1), memory_id(3), memory_id(2)]
        assert ids(store.find(SPACE, everything, order=Order.LATEST)) == [memory_id(1), memory_id(3), memory_id(2)]
        assert ids(store.find(SPACE, everything, limit=1, offset=1)) == [memory_id(1)]
        assert store.count(SPACE, everything) == 3
        with fails(InvalidInput):
            store.find(SPACE, everything, limit=-1)

    def test_ids_are_found_by_their_start_or_end(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2), memory(0x21))
        assert store.ids_starting_with(SPACE, memory_id(1)[:12]) == [memory_id(1), memory_id(2), memory_id(0x21)]
        assert store.ids_starting_with(SPACE, "021") == [memory_id(0x21)]
        assert store.ids_starting_with(SPACE, "0195", limit=1) == [memory_id(1)]
        assert store.ids_starting_with(SPACE, "%") == []

    def test_a_statement_is_found_again_newest_first(self, store: Store) -> None:
        put_memories(
            store,
            memory(1, "The user prefers tabs."),
            memory(2, "the user prefers tabs", recorded_at=LATER),
            memory(3, "The user prefers spaces."),
        )
        key = statement_key("The user prefers tabs.")
        assert ids(store.find_statement(SPACE, KeyFilter(), key)) == [memory_id(2), memory_id(1)]
        assert store.find_statement(SPACE, KeyFilter(topics=("other",)), key) == []

    def test_subjects_and_scopes_of_active_memories_are_known(self, store: Store) -> None:
        put_memories(
            store, memory(1, subject="b"), memory(2, subject="a", scope="project:x"), memory(3, subject="c"), memory(4)
        )
        assert store.known_subjects(SPACE) == ["a", "b", "c"]
        put(store, Retire(memory_id(3), Status.FORGOTTEN))
        assert store.known_subjects(SPACE) == ["a", "b"]
        assert store.known_scopes(SPACE) == ["global", "project:x"]

    # --- spaces ---------------------------------------------------------------------------------

    def test_a_space_never_sees_another(self, store: Store) -> None:
        put_memories(store, memory(1, "shared words", subject="s"))
        put(
            store,
            OpenTask(Task("t", SPACE, "goal", NOW)),
            LogStep(Step("s", SPACE, "t", 0, "tool_call", NOW)),
            RecordUse(Use("u", SPACE, memory_id(1), NOW)),
            Connect(Link(SPACE, memory_id(1), LinkType.ABOUT, "entity", NOW)),
        )
        put_memories(store, memory(2, "other words", space=OTHER), space=OTHER)
        everything = KeyFilter.everything()
        assert store.get(OTHER, [memory_id(1)]) == {}
        assert ids(store.find(OTHER, everything)) == [memory_id(2)]
        assert store.count(OTHER, everything) == 1
        assert store.ids_starting_with(OTHER, memory_id(1)) == []
        assert ids(store.search_words(OTHER, everything, query_tokens("shared words"), limit=9)) == [memory_id(2)]
        assert ids(store.search_vectors(OTHER, everything, direction(0), MODEL, limit=9)) == [memory_id(2)]
        assert store.vectors(OTHER, [memory_id(1)], MODEL) == {}
        assert store.word_statistics(OTHER, query_tokens("shared")).containing == {query_tokens("shared")[0]: 0}
        assert store.links(OTHER, [memory_id(1)]) == []
        assert store.uses(OTHER, memory_id(1)) == []
        assert [event.memory_id for event in store.events(OTHER)] == [memory_id(2)]
        assert (store.task(OTHER, "t"), store.tasks(OTHER), store.steps(OTHER, "t")) == (None, [], [])
        assert store.known_subjects(OTHER) == []
        assert store.find_statement(OTHER, everything, statement_key("shared words")) == []
        assert store.models(OTHER) == {MODEL: 1}
        assert store.spaces() == [SPACE, OTHER]

    def test_a_foreign_id_is_an_absent_id(self, store: Store) -> None:
        put_memories(store, memory(1))
        for change in (Retire(memory_id(1), Status.EXPIRED), Erase(memory_id(1)), Revise(memory_id(1), {"topic": "x"})):
            with fails(NotFound):
                put(store, change, space=OTHER)
        with fails(InvalidInput):
            put(store, Add(memory(2)), space=OTHER)
        put(store, Add(memory(1, "same id", space=OTHER)), space=OTHER)
        assert store.get(SPACE, [memory_id(1)])[memory_id(1)] == memory(1)

    # --- transactions ---------------------------------------------------------------------------

    def test_apply_is_all_or_nothing(self, store: Store) -> None:
        put_memories(store, memory(1))
        with store.transaction(SPACE, now=NOW, actor="test") as transaction:
            with fails(NotFound):
                transaction.apply([Add(memory(2, "half done"), vector(2)), Retire(memory_id(9), Status.EXPIRED)])
            assert store.events(SPACE) == transaction.events(SPACE)
            assert transaction.search_words(SPACE, KeyFilter(), query_tokens("half done"), limit=5) == []
            transaction.apply([Add(memory(3))])
        assert ids(store.find(SPACE, KeyFilter(), order=Order.OLDEST)) == [memory_id(1), memory_id(3)]
        assert [event.sequence for event in store.events(SPACE)] == [1, 2]

    def test_a_block_that_raises_leaves_nothing(self, store: Store) -> None:
        put_memories(store, memory(1, "first thing"))
        with fails(ZeroDivisionError), store.transaction(SPACE, now=NOW, actor="test") as transaction:
            transaction.apply([Add(memory(2, "second thing"), vector(0)), Erase(memory_id(1))])
            assert ids(transaction.search_words(SPACE, KeyFilter(), query_tokens("thing"), limit=5)) == [memory_id(2)]
            assert ids(transaction.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=5)) == [memory_id(2)]
            raise ZeroDivisionError
        assert ids(store.search_words(SPACE, KeyFilter(), query_tokens("thing"), limit=5)) == [memory_id(1)]
        assert ids(store.search_vectors(SPACE, KeyFilter(), direction(0), MODEL, limit=5)) == [memory_id(1)]
        assert len(store.events(SPACE)) == 1

    def test_a_transaction_sees_what_it_wrote_and_others_do_not(self, store: Store) -> None:
        put_memories(store, memory(1, "first thing"))
        tokens = query_tokens("thing")
        with store.transaction(SPACE, now=NOW, actor="test") as transaction:
            for number in (2, 3):
                transaction.apply([Add(memory(number, "another thing"), vector(number))])
                inside = transaction.search_words(SPACE, KeyFilter(), tokens, limit=9)
                near = transaction.search_vectors(SPACE, KeyFilter(), direction(number), MODEL, limit=1)
                assert len(inside) == number
                assert ids(near) == [memory_id(number)]
                assert ids(store.search_words(SPACE, KeyFilter(), tokens, limit=9)) == [memory_id(1)]
                assert ids(store.search_vectors(SPACE, KeyFilter(), direction(2), MODEL, limit=9)) == [memory_id(1)]
        assert len(store.search_words(SPACE, KeyFilter(), tokens, limit=9)) == 3

    def test_writes_of_one_space_follow_one_another(self, store: Store) -> None:
        put_memories(store, memory(1))

        def count_up() -> None:
            for _ in range(10):
                with store.transaction(SPACE, now=NOW, actor="test") as transaction:
                    seen = transaction.get(SPACE, [memory_id(1)])[memory_id(1)].helped
                    transaction.apply([Revise(memory_id(1), {"helped": seen + 1})])

        threads = [threading.Thread(target=count_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.get(SPACE, [memory_id(1)])[memory_id(1)].helped == 40

    def test_a_reader_sees_what_was_committed_before(self, store: Store) -> None:
        found: list[str] = []

        def read() -> None:
            found.extend(ids(store.search_words(SPACE, KeyFilter(), query_tokens("fresh"), limit=5)))

        for number in range(5):
            put(store, Add(memory(number, "fresh news")))
            found.clear()
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
            assert len(found) == number + 1

    # --- errors ---------------------------------------------------------------------------------

    def test_changes_of_absent_records_are_not_found(self, store: Store) -> None:
        put_memories(store, memory(1))
        absent = memory_id(9)
        changes: tuple[Change, ...] = (
            Supersede(absent, memory_id(1), NOW),
            Supersede(memory_id(1), absent, NOW),
            Reinforce(absent, "s", 0.5, Basis.STATED, Trust.USER, Standing.PENDING, NOW),
            Revise(absent, {"topic": "x"}),
            Retire(absent, Status.EXPIRED),
            Erase(absent),
            Connect(Link(SPACE, absent, LinkType.SUPPORTS, memory_id(1), NOW)),
            RecordUse(Use("u", SPACE, absent, NOW)),
            LogStep(Step("s", SPACE, "no task", 0, "tool_call", NOW)),
            CloseTask("no task", TaskStatus.FAILED, "", NOW),
        )
        for change in changes:
            with fails(NotFound):
                put(store, change)
        assert len(store.events(SPACE)) == 1

    def test_an_id_added_twice_conflicts(self, store: Store) -> None:
        task = Task("t", SPACE, "goal", NOW)
        step = Step("s", SPACE, "t", 0, "tool_call", NOW)
        use = Use("u", SPACE, memory_id(1), NOW)
        changes = (Add(memory(1)), OpenTask(task), LogStep(step), RecordUse(use))
        put(store, *changes)
        for change in (*changes, Restore(memory(1)), Restore(task), Restore(step), Restore(use)):
            with fails(Conflict):
                put(store, change)

    def test_only_known_and_changeable_fields_are_revised(self, store: Store) -> None:
        put_memories(store, memory(1))
        for name in ("id", "space", "summary", "raw", "recorded_at", "colour"):
            with fails(InvalidInput):
                put(store, Revise(memory_id(1), {name: "x"}))
        with fails(InvalidInput):
            put(store, Revise(memory_id(1), {"kind": "poem"}))
        with fails(InvalidInput):
            put(store, Retire(memory_id(1), Status.ACTIVE))

    def test_a_closed_store_is_a_storage_error(self, store: Store) -> None:
        put_memories(store, memory(1))
        store.close()
        with fails(StorageError):
            store.get(SPACE, [memory_id(1)])
        with fails(StorageError):
            put(store, Add(memory(2)))

    # --- changes of a memory --------------------------------------------------------------------

    def test_superseding_ends_the_old_one_and_links_the_new(self, store: Store) -> None:
        old = memory(1, "lives in Hangzhou", valid_from=NOW - HOUR, valid_to=NOW + 9 * HOUR)
        put_memories(store, old, memory(2, "lives in Shanghai"))
        put(store, Supersede(old.id, memory_id(2), NOW, "moved"), now=LATER)
        expected = replace(
            old,
            status=Status.SUPERSEDED,
            superseded_by=memory_id(2),
            valid_to=NOW,
            valid_to_believed=old.valid_to,
            retired_at=LATER,
        )
        assert store.get(SPACE, [old.id])[old.id] == expected
        assert store.links(SPACE, [old.id]) == [Link(SPACE, memory_id(2), LinkType.SUPERSEDES, old.id, LATER, "moved")]
        assert ids(store.search_words(SPACE, KeyFilter(), query_tokens("lives"), limit=5)) == [memory_id(2)]

    def test_superseding_never_ends_after_the_old_end_or_before_its_start(self, store: Store) -> None:
        put_memories(store, memory(1, valid_to=NOW - HOUR), memory(2, valid_from=NOW + HOUR), memory(3))
        put(store, Supersede(memory_id(1), memory_id(3), NOW), Supersede(memory_id(2), memory_id(3), NOW))
        found = store.get(SPACE, [memory_id(1), memory_id(2)])
        assert [item.valid_to for item in found.values()] == [NOW - HOUR, NOW + HOUR]

    def test_retiring_keeps_what_was_believed(self, store: Store) -> None:
        put_memories(store, memory(1, valid_to=NOW + HOUR))
        (event,) = put(store, Retire(memory_id(1), Status.QUARANTINED, "odd"), now=LATER)
        found = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        assert (found.status, found.retired_at, found.valid_to_believed) == (Status.QUARANTINED, LATER, NOW + HOUR)
        assert (event.action, event.detail["reason"]) == ("quarantine", "odd")
        put(store, Retire(memory_id(1), Status.FORGOTTEN), now=LATER + HOUR)
        found = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        assert (found.status, found.retired_at) == (Status.FORGOTTEN, LATER)

    def test_restoring_gives_back_the_validity_it_had(self, store: Store) -> None:
        old = memory(1, valid_to=NOW + 9 * HOUR)
        put_memories(store, old, memory(2))
        put(store, Supersede(old.id, memory_id(2), NOW))
        put(store, Revise(old.id, {"status": Status.ACTIVE}, "mistake"))
        assert store.get(SPACE, [old.id])[old.id] == old

    def test_reinforcing_counts_each_supporter_once(self, store: Store) -> None:
        put_memories(store, memory(1, supporters=("session:1",)))
        for supporter in ("session:2", "session:1", "session:2"):
            put(store, Reinforce(memory_id(1), supporter, 0.9, Basis.STATED, Trust.USER, Standing.CONFIRMED, LATER))
        found = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        assert found.supporters == ("session:1", "session:2")
        assert (found.confidence, found.basis, found.trust) == (0.9, Basis.STATED, Trust.USER)
        assert (found.standing, found.last_validated_at) == (Standing.CONFIRMED, LATER)

    def test_a_use_is_counted_and_kept(self, store: Store) -> None:
        put_memories(store, memory(1))
        second = Use("b", SPACE, memory_id(1), LATER, "t", cited=True)
        first = Use("a", SPACE, memory_id(1), NOW)
        put(store, RecordUse(second), RecordUse(first))
        assert store.uses(SPACE, memory_id(1)) == [first, second]
        found = store.get(SPACE, [memory_id(1)])[memory_id(1)]
        assert (found.use_count, found.last_used_at) == (2, LATER)

    def test_an_existing_link_stays_and_links_come_by_time(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2))
        late = Link(SPACE, memory_id(1), LinkType.ABOUT, "atlas", LATER, "first note")
        early = Link(SPACE, memory_id(2), LinkType.CONFLICTS, memory_id(1), NOW)
        put(store, Connect(late), Connect(replace(late, note="second note")), Connect(early))
        assert store.links(SPACE, [memory_id(1)]) == [early, late]
        assert store.links(SPACE, ["atlas"]) == [late]

    def test_every_change_has_one_event_with_what_changed(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2))
        returned = put(store, Revise(memory_id(1), {"topic": "city", "structured": {"secret": "words"}}, "why"))
        assert returned == store.events(SPACE, memory_id=memory_id(1), after=1)
        (event,) = returned
        assert (event.sequence, event.action, event.actor, event.at) == (3, "revise", "test", NOW)
        assert event.detail["reason"] == "why"
        assert event.detail["changed"]["topic"] == {"before": "", "after": "city"}
        assert "secret" not in str(event.detail)
        assert [item.sequence for item in store.events(SPACE, limit=2)] == [1, 2]

    def test_erasing_removes_every_trace_that_can_be_asked_for(self, store: Store) -> None:
        put_memories(store, memory(1, "zanzibar trip", subject="zanzibar", tags=("zanzibar",)), memory(2, "home"))
        put(
            store,
            RecordUse(Use("u", SPACE, memory_id(1), NOW)),
            Connect(Link(SPACE, memory_id(2), LinkType.CONFLICTS, memory_id(1), NOW, "zanzibar or home")),
            Revise(memory_id(1), {"topic": "zanzibar topic"}, "zanzibar reason"),
        )
        assert ids(store.search_words(SPACE, KeyFilter(), query_tokens("zanzibar"), limit=5)) == [memory_id(1)]
        put(store, Erase(memory_id(1), "asked to"))
        everything = KeyFilter.everything()
        assert ids(store.find(SPACE, everything)) == [memory_id(2)]
        assert store.search_words(SPACE, everything, query_tokens("zanzibar"), limit=5) == []
        assert ids(store.search_vectors(SPACE, everything, direction(0), MODEL, limit=5)) == [memory_id(2)]
        assert store.word_statistics(SPACE, query_tokens("zanzibar")).total == 1
        assert (store.links(SPACE, [memory_id(1), memory_id(2)]), store.uses(SPACE, memory_id(1))) == ([], [])
        assert store.known_subjects(SPACE) == []
        assert "zanzibar" not in str(store.events(SPACE))
        assert store.events(SPACE)[-1].action == "erase"
        put(store, Add(memory(1, "born again")))
        assert store.get(SPACE, [memory_id(1)])[memory_id(1)].summary == "born again"

    def test_restored_records_come_back_in_any_state(self, store: Store) -> None:
        gone = memory(1, status=Status.SUPERSEDED, superseded_by=memory_id(2), retired_at=NOW, use_count=7)
        use = Use("u", SPACE, memory_id(1), NOW, "t")
        task = Task("t", SPACE, "goal", NOW, status=TaskStatus.FAILED, outcome="no", ended_at=LATER)
        step = Step("s", SPACE, "t", 4, "tool_call", NOW, "in", "out", "why", ok=False)
        link = Link(SPACE, memory_id(2), LinkType.SUPERSEDES, memory_id(1), NOW, "note")
        alias = Alias(SPACE, "bob", "robert smith", NOW, "learned", memory_id(1))
        put(store, *(Restore(record) for record in (gone, memory(2), use, task, step, link, alias)))
        assert store.aliases(SPACE) == [alias]
        assert store.get(SPACE, [memory_id(1)])[memory_id(1)] == gone
        assert store.uses(SPACE, memory_id(1)) == [use]
        assert (store.task(SPACE, "t"), store.steps(SPACE, "t")) == (task, [step])
        assert store.links(SPACE, [memory_id(1)]) == [link]

    # --- other names ----------------------------------------------------------------------------

    def test_aliases_come_back_by_alias_and_in_their_space_only(self, store: Store) -> None:
        given = Alias(SPACE, "k8s", "kubernetes", NOW)
        foreign = Alias(OTHER, "k8s", "kates", NOW)
        put(store, SetAlias(Alias(SPACE, "小张", "张三", LATER)), SetAlias(given))
        put(store, SetAlias(foreign), space=OTHER)
        assert store.aliases(SPACE) == [given, Alias(SPACE, "小张", "张三", LATER)]
        assert (store.aliases(OTHER), store.aliases("nowhere")) == ([foreign], [])
        with fails(InvalidInput):
            put(store, SetAlias(foreign))

    def test_an_alias_has_one_meaning_until_it_is_dropped(self, store: Store) -> None:
        put(store, SetAlias(Alias(SPACE, "bob", "robert smith", NOW)))
        put(store, SetAlias(Alias(SPACE, "bob", "robert jones", LATER)))
        assert [item.name for item in store.aliases(SPACE)] == ["robert jones"]
        put(store, DropAlias("bob", "two people"))
        assert store.aliases(SPACE) == []
        assert [event.action for event in store.events(SPACE)] == ["set_alias", "set_alias", "drop_alias"]
        assert store.events(SPACE)[-1].detail["reason"] == "two people"
        with fails(NotFound):
            put(store, DropAlias("bob"))
        with fails(InvalidInput):
            put(store, SetAlias(Alias(SPACE, "bob", "bob", NOW)))

    def test_a_learned_alias_counts_while_its_memory_may_be_believed(self, store: Store) -> None:
        learned = Alias(SPACE, "bob", "robert smith", NOW, "learned", memory_id(1))
        put_memories(store, memory(1, "Bob, also known as Robert Smith"))
        put(store, SetAlias(learned))
        assert store.aliases(SPACE) == [learned]
        for change, counts in (
            (Retire(memory_id(1), Status.EXPIRED), True),
            (Retire(memory_id(1), Status.QUARANTINED), False),
            (Revise(memory_id(1), {"status": Status.ACTIVE}), True),
            (Revise(memory_id(1), {"standing": Standing.REFUTED}), False),
            (Revise(memory_id(1), {"standing": Standing.PENDING}), True),
            (Retire(memory_id(1), Status.FORGOTTEN), False),
        ):
            put(store, change)
            assert store.aliases(SPACE) == ([learned] if counts else []), change
        put(store, Erase(memory_id(1)))
        assert store.aliases(SPACE) == []
        assert "robert" not in str(store.events(SPACE))
        with fails(NotFound):
            put(store, SetAlias(learned))

    def test_aliases_follow_the_transaction_that_is_reading(self, store: Store) -> None:
        put(store, SetAlias(Alias(SPACE, "a", "b", NOW)))
        with fails(RuntimeError), store.transaction(SPACE, now=NOW, actor="test") as transaction:
            transaction.apply([SetAlias(Alias(SPACE, "c", "d", NOW))])
            assert [item.alias for item in transaction.aliases(SPACE)] == ["a", "c"]
            raise RuntimeError
        assert [item.alias for item in store.aliases(SPACE)] == ["a"]

    # --- health ---------------------------------------------------------------------------------

    def test_a_store_in_use_is_healthy(self, store: Store) -> None:
        put_memories(store, *(memory(number) for number in range(20)))
        put(store, Erase(memory_id(3)), Revise(memory_id(4), {"tags": ("x",)}))
        assert store.check() == []

    # --- surveying ------------------------------------------------------------------------------

    def test_vitals_tell_all_of_each_memory_but_its_words(self, store: Store) -> None:
        plain = memory(2, "The port is 8001.", kind=Kind.PREFERENCE, valid_to=LATER, source=Source("tool", "a/b"))
        turn = memory(1, "Anna: yes", structured={"speaker": "anna"}, confidence=0.25, helped=1.5, scope="project:x")
        put_memories(store, plain, turn)
        put(store, RecordUse(Use("u1", SPACE, plain.id, LATER)), Retire(turn.id, Status.FORGOTTEN), now=LATER)
        put_memories(store, memory(3, space=OTHER), space=OTHER)
        found = store.vitals(SPACE)
        rows = store.get(SPACE, [turn.id, plain.id])
        expected = [Vitals.of(row)._replace(statement_key=statement_key(row.summary)) for row in rows.values()]
        assert found == expected
        assert [item.is_turn for item in found] == [True, False]
        assert ids(store.vitals(SPACE, statuses=(Status.ACTIVE,))) == [plain.id]
        assert store.vitals("nowhere") == []

    def test_links_of_a_type_come_by_time_and_no_others(self, store: Store) -> None:
        put_memories(store, memory(1), memory(2), memory(3))
        later = Link(SPACE, memory_id(1), LinkType.CONFLICTS, memory_id(2), LATER, "soft")
        earlier = Link(SPACE, memory_id(3), LinkType.CONFLICTS, memory_id(1), NOW)
        other = Link(SPACE, memory_id(1), LinkType.SUPPORTS, memory_id(2), NOW)
        put(store, Connect(later), Connect(earlier), Connect(other))
        assert store.links_of_type(SPACE, LinkType.CONFLICTS) == [earlier, later]
        assert store.links_of_type(OTHER, LinkType.CONFLICTS) == []
