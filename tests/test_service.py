"""The verbs, from the façade down to a real SQLite store in memory."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import Conflict, Forbidden, InvalidInput, NotFound, ProviderError
from afterwit.records import Basis, Connect, Kind, Link, LinkType, Outcome, Standing, Status, Trust
from afterwit.serve.prose import search_text
from afterwit.service import Afterwit, WriteFields, Writer
from afterwit.storage import open_store
from afterwit.testing import FixedClock

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    made = make(clock)
    yield made
    made.close()


def make(clock: FixedClock, *, space: str = "default", writer: Writer | None = None) -> Afterwit:
    settings = load_settings(environ={}, overrides={"space": space, "timezone": "Asia/Shanghai"})
    return Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, writer=writer, clock=clock)


def found(memory: Afterwit, query: str, **options: object) -> list[str]:
    return [hit.memory.summary for hit in memory.search(query, **options).hits]  # type: ignore[arg-type]


USER = Writer("user", Trust.USER, "cli")


# --- write -----------------------------------------------------------------------------------------


def test_statement_is_stored_with_what_its_words_say(memory: Afterwit) -> None:
    receipt = memory.write("用户住在杭州。", source="user")
    kept = memory.get(receipt.id)
    assert (receipt.outcome, kept.subject, kept.topic, kept.structured["value"]) == (
        Outcome.STORED,
        "user",
        "residence",
        "杭州",
    )
    assert (kept.basis, kept.standing, kept.confidence) == (Basis.STATED, Standing.CONFIRMED, 1.0)


def test_text_is_kept_byte_for_byte(memory: Afterwit) -> None:
    words = "Ｆｕｌｌ－ｗｉｄｔｈ 臺北  ﬁ\t“quoted” 🙂 e\u0301 use get_user() v1.2"
    receipt = memory.write(words, kind="fact", raw=words)
    kept = memory.get(receipt.id)
    assert (kept.summary, kept.raw) == (words, words)


def test_agent_without_evidence_infers_and_a_source_says_more(memory: Afterwit) -> None:
    bases = {
        source: memory.get(memory.write(f"The gateway port is {port}.", kind="fact", source=source).id)
        for port, source in enumerate(("agent", "tool", "test", "user", "web"), start=8001)
    }
    assert {name: row.basis for name, row in bases.items()} == {
        "agent": Basis.INFERRED,
        "tool": Basis.OBSERVED,
        "test": Basis.VERIFIED,
        "user": Basis.STATED,
        "web": Basis.IMPORTED,
    }
    assert bases["web"].trust is Trust.EXTERNAL
    assert bases["user"].trust is Trust.AGENT, "an agent that passes on a user's words is still an agent"


@pytest.mark.parametrize("noise", ["OK, thanks!", "好的，收到", "HTTP 200 OK", "What is the port?"])
def test_noise_is_refused_with_a_reason_and_nothing_is_stored(memory: Afterwit, noise: str) -> None:
    receipt = memory.write(noise)
    assert receipt.outcome is Outcome.REJECTED
    assert receipt.reasons
    assert receipt.message
    assert memory.count(all_states=True) == 0


def test_what_search_returned_cannot_be_learned_again(memory: Afterwit) -> None:
    memory.write("The Atlas API needs the token in the X-Auth header.", kind="lesson")
    query = "Atlas API token header"
    shown = search_text(memory.search(query), query=query, now=START)
    receipt = memory.write(shown)
    assert (receipt.outcome, receipt.reasons) == (Outcome.REJECTED, ("injected",))
    assert memory.count(all_states=True) == 1


def test_repeats_in_one_session_count_once_and_other_sessions_count(memory: Afterwit) -> None:
    first = memory.write("The build needs Node 20.", kind="fact")
    for _ in range(100):
        assert memory.write("The build needs Node 20", kind="fact").outcome is Outcome.MERGED
    assert memory.get(first.id).support == 1
    other = memory.as_writer(Writer(session="another"))
    other.write("The build needs Node 20.", kind="fact")
    assert memory.get(first.id).support == 2
    assert memory.count() == 1


def test_several_statements_in_one_text_become_several_memories(memory: Afterwit) -> None:
    receipt = memory.write(
        "user: hi there! I live in Hangzhou. I don't eat spicy food.\nassistant: Noted, thanks!\nuser: ok bye"
    )
    assert len(receipt.parts) == 2
    assert memory.count() == 2


def test_small_talk_around_statements_does_not_glue_them_together(memory: Afterwit) -> None:
    receipt = memory.write("Thanks, that helps! I prefer concise answers. I live in Oslo. Bye!")
    assert len(receipt.parts) == 2
    assert {memory.get(part.id).kind for part in receipt.parts} == {Kind.PREFERENCE, Kind.FACT}


def test_batch_with_a_malformed_item_stores_nothing(memory: Afterwit) -> None:
    with pytest.raises(InvalidInput):
        memory.write_many([("The port is 8080.", {"kind": "fact"}), ("The port is 8081.", {"kind": "colour"})])
    assert memory.count(all_states=True) == 0


@pytest.mark.parametrize("item", [None, 7, b"The port is 8080.", ("The port is 8080.",), ("The port is 8080.", "fact")])
def test_item_that_is_no_text_is_refused_and_the_batch_with_it(memory: Afterwit, item: object) -> None:
    with pytest.raises(InvalidInput, match="An item is"):
        memory.write_many(["The port is 8080.", item])  # type: ignore[list-item]
    assert memory.count(all_states=True) == 0
    assert [receipt.outcome for receipt in memory.write_many(["The port is 8080."])] == [Outcome.STORED]


def test_batches_before_a_malformed_item_are_stored_in_order(memory: Afterwit) -> None:
    items: list[tuple[str, WriteFields]] = [(f"Rack {n} stands in hall {n}.", {"kind": "fact"}) for n in range(150)]
    items[140] = ("Rack 140 stands nowhere.", {"kind": "colour"})
    with pytest.raises(InvalidInput):
        memory.write_many(items)
    assert memory.count() == 128
    receipts = memory.write_many(iter(items[:130]))
    assert [receipt.outcome for receipt in receipts] == [Outcome.MERGED] * 128 + [Outcome.STORED] * 2
    assert memory.write_many([]) == []


# --- change and conflict ---------------------------------------------------------------------------


def test_move_is_recorded_as_a_change_and_reads_as_history(memory: Afterwit, clock: FixedClock) -> None:
    old = memory.write("User lives in Hangzhou.", source="user", happened_at="2024-06-01")
    receipt = memory.write("User moved to Shanghai.", source="user", happened_at="2025-03-01")
    assert receipt.outcome is Outcome.SUPERSEDED
    assert receipt.related == (old.id,)
    assert found(memory, "Where does the user live?") == ["User moved to Shanghai."]
    lines = [version.line for version in memory.history(receipt.id)]
    assert lines == ["User lives in Hangzhou. (until 2025-03-01)", "User moved to Shanghai. (since 2025-03-01)"]


def test_as_of_tells_what_was_true_and_known_at_what_was_believed(memory: Afterwit, clock: FixedClock) -> None:
    memory.write("User lives in Hangzhou.", source="user", happened_at="2024-06-01")
    clock.advance(days=10)
    memory.write("User moved to Shanghai.", source="user", happened_at="2025-03-01")
    question = "Where does the user live?"
    assert found(memory, question, as_of="2025-01-15") == ["User lives in Hangzhou."]
    assert found(memory, question, as_of="2025-04-15") == ["User moved to Shanghai."]
    assert found(memory, question, known_at=START + DAY) == ["User lives in Hangzhou."]
    assert found(memory, question, known_at=START - DAY) == []


def test_guess_against_a_statement_is_kept_aside_and_shown(memory: Afterwit) -> None:
    memory.write("User lives in Shanghai.", source="user")
    receipt = memory.write("User lives in Beijing.", source="agent")
    assert receipt.outcome is Outcome.QUARANTINED
    (hit,) = memory.search("Where does the user live?").hits
    assert hit.memory.summary == "User lives in Shanghai."
    assert any("Beijing" in warning for warning in hit.warnings)


def test_expired_memory_is_not_recalled_after_its_end(memory: Afterwit, clock: FixedClock) -> None:
    memory.write("User is travelling to Chengdu.", kind="fact", expires_at=START + 3 * DAY)
    assert found(memory, "Chengdu travelling")
    clock.advance(days=3)
    assert found(memory, "Chengdu travelling") == []
    assert found(memory, "Chengdu travelling", as_of=START + DAY)


def test_account_of_what_happened_does_not_expire_with_the_time_it_names(memory: Afterwit) -> None:
    said = "下周去青岛旅游住的海景花园酒店隔音很差，不要再订。"
    lesson, fact = memory.write(said, kind="lesson"), memory.write("下周去成都旅游。", kind="fact")
    assert memory.get(lesson.id).valid_to is None
    assert memory.get(fact.id).valid_to is not None


def test_numbers_and_names_that_differ_stay_apart(memory: Afterwit) -> None:
    for words in ("Room 101 has a projector.", "Room 102 has a projector.", "张三喜欢咖啡。", "李四喜欢咖啡。"):
        assert memory.write(words, kind="fact").outcome is Outcome.STORED
    assert memory.count() == 4


def test_denial_replaces_what_it_denies(memory: Afterwit) -> None:
    memory.write("项目用 Java。", kind="constraint", source="user", subject="项目")
    assert (
        memory.write("项目不用 Java。", kind="constraint", source="user", subject="项目").outcome is Outcome.SUPERSEDED
    )
    assert found(memory, "项目用 Java 吗") == ["项目不用 Java。"]


# --- search ----------------------------------------------------------------------------------------


def test_scopes_are_walls_and_global_is_always_seen(memory: Afterwit) -> None:
    memory.write("Deploys of this service use Helm charts.", kind="fact", scope="project:atlas")
    memory.write("Deploys of this service use Nomad jobs.", kind="fact", scope="project:borealis")
    memory.write("Deploys of any service happen on Tuesdays.", kind="fact")
    query = "How are deploys of the service done?"
    assert sorted(found(memory, query, scopes=["project:atlas"])) == [
        "Deploys of any service happen on Tuesdays.",
        "Deploys of this service use Helm charts.",
    ]
    assert found(memory, query) == ["Deploys of any service happen on Tuesdays."]


def test_empty_answer_says_so_in_the_language_of_the_question(memory: Afterwit) -> None:
    memory.write("Deploys use Helm charts.", kind="fact", scope="project:atlas")
    english, chinese = memory.search("Who won the match?"), memory.search("谁赢了比赛？")
    assert (english.hits, chinese.hits) == ((), ())
    assert english.message == "No relevant memory was found; decide from the current context."
    assert chinese.message == "未找到相关历史记忆，请基于当前上下文决策。"
    assert english.other_scopes == ("project:atlas",)


def test_role_sees_its_own_pool_first_then_the_shared_one(memory: Afterwit) -> None:
    memory.write("Lint errors of the build are fixed with ruff.", kind="lesson", role="coder")
    memory.write("Lint errors of the build are fixed by hand.", kind="lesson", role="writer")
    memory.write("Lint errors of the build block the release.", kind="lesson")
    query = "lint errors of the build"
    assert found(memory, query, role="coder") == [
        "Lint errors of the build are fixed with ruff.",
        "Lint errors of the build block the release.",
    ]
    assert found(memory, query) == ["Lint errors of the build block the release."]


def test_action_gets_only_what_is_confirmed_or_the_users(memory: Afterwit) -> None:
    memory.write("Delete the staging bucket with the force flag.", kind="lesson")
    memory.write("Delete the staging bucket only after a backup.", kind="constraint", source="user")
    query = "delete the staging bucket"
    assert len(found(memory, query)) == 2
    assert found(memory, query, purpose="action") == ["Delete the staging bucket only after a backup."]


def test_rising_k_never_changes_the_first_results(memory: Afterwit) -> None:
    for number in range(30):
        memory.write(f"Service number {number} of the cluster writes logs to shard {number % 7}.", kind="fact")
    query = "Where does the service of the cluster write logs?"
    everything = found(memory, query, top_k=30, budget_tokens=20_000)
    assert len(everything) > 5
    for k in (1, 3, 7):
        assert found(memory, query, top_k=k, budget_tokens=20_000) == everything[:k]


def test_search_reads_few_candidates_of_many_and_more_for_who_asks_for_more(memory: Afterwit) -> None:
    for number in range(120):
        memory.write(f"Service number {number} of the cluster writes logs to shard {number % 7}.", kind="fact")
    query = "Where does the service of the cluster write logs?"
    few, more = memory.search(query), memory.search(query, top_k=35)
    every = memory.search(query, exhaustive=True)
    assert few.considered < more.considered <= every.considered
    assert few.considered <= 30


def test_token_budget_is_kept(memory: Afterwit) -> None:
    for number in range(8):
        memory.write(f"The nightly job {number} copies the ledger tables to the archive bucket.", kind="fact")
    answer = memory.search("nightly job copies ledger tables", top_k=8, budget_tokens=120)
    assert 1 <= len(answer.hits) < 8
    assert answer.tokens <= 120


def test_every_hit_says_why_it_is_there(memory: Afterwit) -> None:
    memory.write("Error E4711 means that the disk is full.", kind="lesson")
    (hit,) = memory.search("What is E4711?").hits
    assert hit.why["words"] == 1
    assert {"relevance", "coverage", "recency", "evidence"} <= set(hit.why)


def test_search_goes_on_by_words_when_the_embedder_fails(clock: FixedClock) -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: object) -> object:  # type: ignore[override]
            raise ProviderError("The endpoint does not answer.")

    settings = load_settings(environ={})
    memory = Afterwit(open_store("sqlite://"), Broken(), settings=settings, clock=clock)
    assert memory.write("Error E4711 means that the disk is full.", kind="lesson").outcome is Outcome.STORED
    answer = memory.search("What is E4711?")
    assert [hit.memory.summary for hit in answer.hits] == ["Error E4711 means that the disk is full."]
    assert answer.degraded
    assert answer.degraded[0].startswith("vector")
    memory.close()


def test_rows_without_vector_are_embedded_later(clock: FixedClock) -> None:
    store, settings = open_store("sqlite://"), load_settings(environ={})
    Afterwit(store, None, settings=settings, clock=clock).write("The port is 8080.", kind="fact")
    later = Afterwit(store, HashEmbedder(), settings=settings, clock=clock)
    assert list(later.embed_missing()) == [1]
    assert list(later.embed_missing()) == []
    assert later.store.models("default") == {HashEmbedder().model: 1}
    later.close()


def test_other_space_sees_nothing(clock: FixedClock) -> None:
    store = open_store("sqlite://")
    one, two = (
        Afterwit(store, HashEmbedder(), settings=load_settings(environ={}, overrides={"space": name}), clock=clock)
        for name in ("one", "two")
    )
    id = one.write("The vault code is 4711.", kind="fact").id
    assert two.search("vault code").hits == ()
    assert two.count(all_states=True) == 0
    for act in (lambda: two.get(id), lambda: two.forget(id), lambda: two.update(id, verdict="refute")):
        with pytest.raises(NotFound):
            act()
    one.close()


# --- update, forget, erase -------------------------------------------------------------------------


def test_correction_replaces_the_text_and_was_never_true(memory: Afterwit, clock: FixedClock) -> None:
    wrong = memory.write("Tests need the flag --run-db.", kind="fact", happened_at="2026-01-01")
    receipt = memory.update(wrong.id, content="Tests need the flag --with-db.", source="user")
    assert receipt.outcome is Outcome.UPDATED
    assert found(memory, "flag that tests need") == ["Tests need the flag --with-db."]
    assert found(memory, "flag that tests need", as_of="2026-06-01") == ["Tests need the flag --with-db."]
    assert memory.get(wrong.id).superseded_by == receipt.id
    assert memory.get(receipt.id).basis is Basis.STATED


def test_refuted_memory_is_not_recalled_and_can_be_restored(memory: Afterwit) -> None:
    id = memory.write("The cache must be cleared by hand.", kind="lesson").id
    memory.update(id, verdict="refute", reason="it clears itself")
    assert found(memory, "clear the cache by hand") == []
    memory.update(id, verdict="restore")
    assert found(memory, "clear the cache by hand")
    assert memory.get(id).standing is Standing.PENDING


def test_replaced_value_comes_back_only_after_its_successor_fell(memory: Afterwit) -> None:
    old = memory.write("User lives in Hangzhou.", source="user", happened_at="2024-06-01").id
    new = memory.write("User moved to Shanghai.", source="user").id
    with pytest.raises(Conflict, match="Shanghai"):
        memory.update(old, verdict="restore")
    memory.update(new, verdict="refute")
    memory.update(old, verdict="restore")
    assert found(memory, "Where does the user live?") == ["User lives in Hangzhou."]
    assert memory.get(old).valid_to is None


def test_agent_cannot_confirm_its_own_lesson_but_the_user_can(memory: Afterwit) -> None:
    id = memory.write("Clear the cache before every build.", kind="lesson").id
    memory.update(id, verdict="confirm")
    assert memory.get(id).standing is Standing.PENDING
    memory.as_writer(USER).update(id, verdict="confirm")
    assert (memory.get(id).standing, memory.get(id).trust) == (Standing.CONFIRMED, Trust.CONFIRMED)


def test_conflict_kept_aside_wins_when_the_user_confirms_it(memory: Afterwit) -> None:
    memory.write("User lives in Shanghai.", source="user")
    guess = memory.write("User lives in Beijing.", source="agent").id
    with pytest.raises(Forbidden):
        memory.update(guess, verdict="confirm")
    memory.update(guess, verdict="confirm", source="user")
    assert found(memory, "Where does the user live?") == ["User lives in Beijing."]


def test_refuting_a_source_takes_the_proof_from_what_derives_from_it(memory: Afterwit) -> None:
    source = memory.write("The API rejects cookies.", kind="fact", source="user").id
    rule = memory.write("Always send the token in the header.", kind="rule", source="user").id
    with memory.store.transaction("default", now=START, actor="review") as tx:
        tx.apply([Connect(Link("default", rule, LinkType.DERIVED_FROM, source, START))])
    receipt = memory.update(source, verdict="refute")
    assert receipt.related == (rule,)
    assert memory.get(rule).standing is Standing.PENDING


def test_forgotten_memory_is_out_of_recall_and_can_come_back(memory: Afterwit) -> None:
    id = memory.write("The door code is 4711.", kind="fact").id
    assert memory.forget(id, reason="asked to").outcome is Outcome.FORGOTTEN
    assert found(memory, "door code") == []
    assert found(memory, "door code", as_of=START) == []
    memory.update(id, verdict="restore")
    assert found(memory, "door code")


def test_erased_memory_is_gone_with_its_history(memory: Afterwit) -> None:
    id = memory.write("The door code is 4711.", kind="fact").id
    assert memory.forget(id, erase=True).outcome is Outcome.ERASED
    assert found(memory, "door code") == []
    with pytest.raises(NotFound):
        memory.explain(id)
    assert "4711" not in "".join(memory.export())


def test_forgotten_memory_cannot_be_corrected(memory: Afterwit) -> None:
    id = memory.write("The door code is 4711.", kind="fact").id
    memory.forget(id)
    with pytest.raises(Conflict):
        memory.update(id, content="The door code is 4712.")


def test_short_ids_and_marks_are_understood(memory: Afterwit) -> None:
    id = memory.write("The door code is 4711.", kind="fact").id
    for name in (id, id[-8:], f"m:{id}", f"[m:{id}]", id.upper()):
        assert memory.get(name).id == id


@pytest.mark.parametrize("name", ["", "abc", "no such id", "ffffffff", "00000000-0000-7000-8000-000000000000"])
def test_unknown_ids_get_a_clear_error(memory: Afterwit, name: str) -> None:
    with pytest.raises((InvalidInput, NotFound)) as caught:
        memory.get(name)
    assert caught.value.message


@pytest.mark.parametrize(
    "fields", [{}, {"verdict": "praise"}, {"content": "The port is 8081.", "verdict": "refute"}, {"confidence": 2}]
)
def test_malformed_update_is_refused_and_changes_nothing(memory: Afterwit, fields: dict[str, object]) -> None:
    id = memory.write("The port is 8080.", kind="fact").id
    before = memory.get(id)
    with pytest.raises(InvalidInput):
        memory.update(id, **fields)  # type: ignore[arg-type]
    assert memory.get(id) == before


# --- explain, summarize, move ----------------------------------------------------------------------


def test_story_tells_source_history_links_and_uses(memory: Afterwit) -> None:
    first = memory.write("User lives in Hangzhou.", source="user", source_ref="chat-1", raw="我住在杭州")
    second = memory.write("User moved to Shanghai.", source="user")
    memory.note_use([second.id], task_id="t1", cited=True)
    story = memory.explain(first.id)
    assert story.memory.raw == "我住在杭州"
    assert story.memory.source.ref == "chat-1"
    assert [event.action for event in story.events] == ["add", "supersede"]
    assert [row.id for row in story.related] == [second.id]
    assert [use.task_id for use in memory.explain(second.id).uses] == ["t1"]


def test_summary_cites_ids_within_its_budget(memory: Afterwit) -> None:
    for number in range(40):
        memory.write(f"Service {number} keeps its data in bucket {number * 3}.", kind="fact")
    memory.write("User prefers short answers.", kind="preference", source="user")
    digest = memory.summarize(budget_tokens=150)
    assert digest.tokens <= 150
    assert digest.omitted > 30
    assert digest.text.startswith("## Preferences")
    assert all(f"[m:{id[-8:]}]" in digest.text for id in digest.ids)


def test_summary_of_nothing_says_so(memory: Afterwit) -> None:
    assert memory.summarize(topic="residence").ids == ()


def test_export_and_import_round_trip_exactly(memory: Afterwit, clock: FixedClock) -> None:
    memory.write("User lives in Hangzhou.", source="user", happened_at="2024-06-01", tags=["家", "home"])
    memory.write("User moved to Shanghai.", source="user")
    memory.write("User lives in Beijing.", source="agent")
    memory.note_use([memory.write("Ship on Fridays.", kind="decision").id], task_id="t")
    memory.forget(memory.write("The door code is 4711.", kind="fact").id)
    lines = list(memory.export())
    other = make(clock, space="elsewhere")
    report = other.import_lines(lines)
    assert report.added["memory"] == 5
    assert list(other.export()) == lines
    again = other.import_lines(lines)
    assert (sum(again.added.values()), again.already_here) == (0, len(lines) - 1)
    assert found(other, "Where does the user live?") == ["User moved to Shanghai."]
    other.close()


@pytest.mark.parametrize(
    "line",
    ["not json", "[]", '{"record":"memory"}', '{"record":"afterwit","format":99}', '{"record":"painting","id":"x"}'],
)
def test_broken_import_changes_nothing(memory: Afterwit, line: str) -> None:
    memory.write("The door code is 4711.", kind="fact")
    lines = [*memory.export(), line]
    other = make(FixedClock(START), space="elsewhere")
    with pytest.raises(InvalidInput, match="Line"):
        other.import_lines(lines)
    assert other.count(all_states=True) == 0
    other.close()


# --- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "colour"},
        {"happened_at": "2025-03-01T10:00:00"},
        {"happened_at": datetime(2025, 3, 1)},  # noqa: DTZ001
        {"happened_at": "next week"},
        {"happened_at": "2999-01-01"},
        {"expires_at": "2024-01-01", "valid_from": "2025-01-01"},
        {"confidence": 1.5},
        {"confidence": "high"},
        {"scope": "everywhere"},
        {"scope": "project:"},
        {"source": "gossip"},
        {"structured": "text"},
        {"structured": {"a": float("nan")}},
        {"tags": 3},
        {"tags": [f"t{number}" for number in range(21)]},
        {"raw": "x" * 16_385},
        {"colour": "red"},
        {"subject": "a\0b"},
    ],
)
def test_malformed_field_is_refused_and_nothing_is_stored(memory: Afterwit, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.write("The port is 8080.", **fields)  # type: ignore[arg-type]
    assert caught.value.message
    assert memory.count(all_states=True) == 0


def test_what_is_no_json_is_told_by_its_own_name(memory: Afterwit) -> None:
    with pytest.raises(InvalidInput, match="structured is not JSON"):
        memory.write("The port is 8080.", structured={"a": float("nan")})
    with pytest.raises(InvalidInput, match="environment is not JSON"):
        memory.search("port", environment={"a": float("nan")})


@pytest.mark.parametrize("content", ["", "   ", "a\0b", "\ud800", 7])
def test_malformed_text_is_refused(memory: Afterwit, content: object) -> None:
    with pytest.raises(InvalidInput):
        memory.write(content)  # type: ignore[arg-type]


def test_text_over_the_limit_is_a_receipt_that_says_so(memory: Afterwit) -> None:
    receipt = memory.write("word " * 4000, kind="fact")
    assert (receipt.outcome, receipt.reasons) == (Outcome.REJECTED, ("too_long",))


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 0},
        {"top_k": -1},
        {"top_k": 51},
        {"top_k": 2.5},
        {"top_k": True},
        {"budget_tokens": 0},
        {"scopes": ["nowhere"]},
        {"scopes": [3]},
        {"kinds": ["colour"]},
        {"as_of": "2025-03-01T10:00:00"},
        {"purpose": "fun"},
        {"colour": "red"},
    ],
)
def test_malformed_search_is_refused(memory: Afterwit, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        memory.search("port", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"scopes": ["nowhere"]}, {"kinds": ["colour"]}, {"as_of": "2025-03-01T10:00:00"}, {"colour": "red"}]
)
def test_malformed_listing_is_refused(memory: Afterwit, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        memory.list(**options)  # type: ignore[arg-type]


def test_long_statement_is_recalled_by_its_first_sentences(memory: Afterwit) -> None:
    words = "The release checklist of project Atlas has many parts. " * 40
    receipt = memory.write(words, kind="fact")
    kept = memory.get(receipt.id)
    assert kept.raw == words
    assert len(kept.summary) < len(words) / 2
    assert kept.kind is Kind.FACT
    assert kept.status is Status.ACTIVE
