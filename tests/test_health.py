"""The health of a memory, and the weekly report."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from afterwit.cli import cli
from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import InvalidInput
from afterwit.records import (
    Add,
    Basis,
    CloseTask,
    Connect,
    Kind,
    Link,
    LinkType,
    MarkReviewed,
    Memory,
    OpenTask,
    Source,
    Standing,
    Status,
    Task,
    TaskStatus,
    Trust,
    new_id,
)
from afterwit.review.health import Figure, Health, Material, examine, writes_by_day
from afterwit.service import Afterwit, Turn, Writer
from afterwit.service.surveying import events_since
from afterwit.storage import LLMUse, Vitals, open_store
from afterwit.testing import FixedClock

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
USER = Writer("user", Trust.USER, "cli")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"timezone": "Asia/Shanghai"})
    service = Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, writer=USER, clock=clock)
    yield service
    service.close()


def row(summary: str, days: float = 0, **fields: Any) -> Memory:
    written = NOW - days * DAY
    values: dict[str, Any] = {"recorded_at": written, "happened_at": written, "kind": Kind.FACT} | fields
    return Memory(new_id(written), "default", summary, **values)


def put(memory: Afterwit, *rows: Memory) -> list[str]:
    with memory.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply(Add(item) for item in rows)
    return [item.id for item in rows]


def figure(health: Health, name: str) -> tuple[str, float]:
    found = health.figure(name)
    return found.level, found.value


def call(hours: float, tokens: int, error: str = "") -> LLMUse:
    return LLMUse(NOW - timedelta(hours=hours), "extract/1", "ollama:small", tokens, 0, error)


def test_what_the_language_model_took_is_told_only_where_there_is_one(memory: Afterwit) -> None:
    assert "model" not in [item.name for item in memory.health().figures]
    for used in (call(0, 900), call(13, 50), call(24 * 8, 7000)):
        memory.store.record_usage(memory.space, used)
    told = memory.health().figure("model")
    assert told.message("en").startswith(
        "The language model took 900 tokens today (budget 0) and 950 in seven days; 0 of 2"
    )
    assert "七天共 950 个" in told.message("zh")


@pytest.mark.parametrize(
    ("calls", "level"),
    [
        ([], "ok"),
        ([call(1, 900)], "ok"),
        ([call(1, 901)], "warn"),
        ([call(13, 5000)], "ok"),
        ([call(1, 1, "timeout")] * 4, "ok"),
        ([call(1, 1, "timeout")] * 5, "warn"),
        ([call(1, 1, "timeout")] * 5 + [call(1, 1)] * 5, "ok"),
    ],
)
def test_a_used_up_budget_and_a_failing_model_are_worth_a_look(calls: list[LLMUse], level: str) -> None:
    health = examine(Material([], calls=calls, budget_tokens=1000), now=NOW, zone=UTC)
    assert health.figure("model").level == level
    assert bool(health.figure("model").next_step("en")) == (level == "warn")


def test_an_empty_and_a_good_memory_are_healthy(memory: Afterwit) -> None:
    assert (memory.health().level, memory.health().total) == ("ok", 0)
    memory.write("The staging gateway listens on port 8443.", kind="fact")
    memory.write("The user prefers concise answers.")
    health = memory.health()
    assert health.level == "ok", [item for item in health.figures if item.level != "ok"]
    assert (health.by_status, health.by_standing) == ({"active": 2}, {"confirmed": 2})
    assert health.by_kind == {"fact": 1, "preference": 1}


def test_junk_is_what_the_gate_would_refuse_today(memory: Afterwit) -> None:
    [junk] = put(memory, row("ok, thanks!", 40))
    memory.write("The staging gateway listens on port 8443.", kind="fact")
    found = memory.health().figure("junk")
    assert (found.level, found.ids) == ("fail", (junk,))
    assert "1 of the 2 newest" in found.message("en")


def test_what_was_said_or_imported_is_no_junk(memory: Afterwit) -> None:
    memory.write_conversation([Turn("Anna", "ok, thanks!", NOW)], session="talk")
    put(memory, row("ok, thanks!", basis=Basis.IMPORTED))
    assert figure(memory.health(), "junk") == ("ok", 0.0)


def test_repeats_are_counted_and_denials_and_other_scopes_are_none(memory: Afterwit) -> None:
    one, two = put(memory, row("The gateway uses TLS 1.3.", 3), row("the gateway uses TLS 1.3", 2))
    put(
        memory,
        row("The gateway does not use TLS 1.3."),
        row("The gateway uses TLS 1.3.", scope="project:a"),
        row("The gateway uses TLS 1.3.", valid_to=NOW + DAY),
        row("The gateway uses TLS 1.2."),
    )
    found = memory.health().figure("duplicates")
    assert (found.value, set(found.ids)) == (1, {one, two})


def test_near_repeats_name_the_same_things(memory: Afterwit) -> None:
    memory.write("The nightly backup of the billing database runs at 02:00.", kind="fact")
    put(memory, row("The nightly backup of the billing database runs at 03:00."))
    put(memory, row("Nightly backup of the billing database: it runs at 02:00."))
    list(memory.embed_missing())
    found = memory.health().figure("duplicates")
    assert found.details["alike"] == 1


def test_contradictions_count_while_both_are_believed(memory: Afterwit) -> None:
    one, two = put(memory, row("The port is 8001."), row("The port is 8002."))
    with memory.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply([Connect(Link("default", two, LinkType.CONFLICTS, one, NOW))])
    found = memory.health().figure("contradictions")
    assert (found.level, found.value, found.ids) == ("warn", 1, (two, one))
    memory.update(one, verdict="refute")
    found = memory.health().figure("contradictions")
    assert (found.level, found.value, found.details["refuted"]) == ("ok", 0, 1)


def test_what_is_over_late_or_waiting_is_told(memory: Afterwit, clock: FixedClock) -> None:
    memory.write("The deploy freeze holds.", kind="constraint", expires_at=NOW + DAY)
    memory.write("Remember to renew the certificate by 2026-12-02.")
    put(memory, row("The port is 8001.", status=Status.QUARANTINED))
    clock.advance(days=5)
    health = memory.health()
    assert [figure(health, name) for name in ("expired", "overdue_intents", "kept_aside")] == [("warn", 1)] * 3
    assert health.figure("overdue_intents").next_step("zh").startswith("`afterwit intents`")


def test_age_of_the_unproved_and_the_unconfirmed(memory: Afterwit) -> None:
    put(memory, *(row(f"Importer number {days} needs 4 GB.", days) for days in (10, 100, 400)))
    put(memory, row("Read in a manual.", 400, basis=Basis.IMPORTED, standing=Standing.CONFIRMED))
    health = memory.health()
    assert (figure(health, "pending"), health.figure("pending").details["oldest"]) == (("warn", 100), "400")
    assert figure(health, "to_be_verified") == ("warn", 0.75)
    assert health.figure("to_be_verified").details["stale"] == 1


def test_harm_counts_only_from_enough_credit() -> None:
    def judged(helped: float, harmed: float) -> Figure:
        vitals = Vitals.of(row("The port is 8001.", helped=helped, harmed=harmed))
        return examine(Material([vitals]), now=NOW, zone=UTC).figure("harm")

    assert (judged(1, 5).level, judged(8, 4).level, judged(4, 8).level, judged(20, 1).level) == (
        "ok",
        "warn",
        "fail",
        "ok",
    )
    assert judged(4, 8).ids


def test_disuse_counts_only_where_uses_are_recorded(memory: Afterwit) -> None:
    ids = put(memory, *(row(f"Gateway number {number} listens on port {number}.", 60) for number in range(6)))
    assert figure(memory.health(), "never_used") == ("ok", 1.0)
    memory.note_use(ids[:1])
    assert figure(memory.health(), "never_used") == ("warn", pytest.approx(5 / 6))
    assert memory.health().figure("mean_use").value == pytest.approx(1 / 6)


def written(counts: dict[int, int], **fields: Any) -> list[Vitals]:
    """As many memories so many days ago."""
    return [Vitals.of(row("x", days, **fields)) for days, count in counts.items() for _ in range(count)]


def test_a_day_with_far_more_writes_than_usual_stands_out() -> None:
    usual = {day: 20 + day % 5 for day in range(1, 40)}
    calm = examine(Material(written(usual)), now=NOW, zone=UTC).figure("write_spikes")
    burst = examine(Material(written(usual | {2: 400})), now=NOW, zone=UTC).figure("write_spikes")
    old = examine(Material(written(usual | {20: 400})), now=NOW, zone=UTC).figure("write_spikes")
    imported = written(usual) + written({2: 400}, basis=Basis.IMPORTED, source=Source("import", "a.md"))
    brought_in = examine(Material(imported), now=NOW, zone=UTC).figure("write_spikes")
    assert [item.level for item in (calm, burst, old, brought_in)] == ["ok", "warn", "ok", "ok"]
    assert "2026-11-28 (400)" in burst.message("en")


def test_days_are_those_of_the_zone() -> None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    late = [Vitals.of(row("x", 0.75))]  # 18:00 UTC on the day before: already the 30th in Shanghai
    assert writes_by_day(late, now=NOW, zone=UTC, days=5) == {date(2026, 11, 29): 1, date(2026, 11, 30): 0}
    assert writes_by_day(late, now=NOW, zone=ZoneInfo("Asia/Shanghai"), days=5) == {date(2026, 11, 30): 1}


def test_failed_reviews_are_told(memory: Afterwit) -> None:
    task = Task(new_id(NOW), "default", "Fix the importer", NOW)
    with memory.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply([OpenTask(task), CloseTask(task.id, TaskStatus.FAILED, "", NOW)])
    assert figure(memory.health(), "reviews") == ("ok", 1)
    with memory.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply([MarkReviewed(task.id, None, "the model gave no JSON")])
    found = memory.health().figure("reviews")
    assert (found.level, found.ids) == ("warn", (task.id,))


def test_missing_vectors_are_told(memory: Afterwit) -> None:
    put(memory, row("The port is 8001."))
    assert figure(memory.health(), "vectors") == ("warn", 1)
    list(memory.embed_missing())
    assert figure(memory.health(), "vectors") == ("ok", 0)


def test_every_figure_has_its_sentences_in_both_languages(memory: Afterwit) -> None:
    for item in memory.health().figures:
        bad = Figure(item.name, "warn", item.value, item.details)
        for language in ("en", "zh"):
            assert bad.message(language)
            assert item.name == "mean_use" or bad.next_step(language)
            assert bool(re.search("[\u4e00-\u9fff]", bad.message(language))) == (language == "zh")


# --- the report -------------------------------------------------------------------------------------


def test_events_of_the_week_are_found_without_reading_what_was_before(memory: Afterwit, clock: FixedClock) -> None:
    for number in range(40):
        memory.write(f"Gateway number {number} listens on port {number}.", kind="fact")
        clock.advance(hours=12)
    for days in (0, 1, 7, 100):
        since = clock() - days * DAY
        expected = [event for event in memory.store.events("default") if event.at >= since]
        assert list(events_since(memory.store, "default", since)) == expected
    assert list(events_since(memory.store, "nowhere", NOW)) == []


def test_the_report_tells_what_was_written_replaced_learned_and_proposed(
    memory: Afterwit, clock: FixedClock, tmp_path: Path
) -> None:
    memory.write("The user lives in Hangzhou.")
    old = memory.write("If the build fails with E4711, clear the cache.", kind="lesson", source="agent").id
    wrong = memory.write("If the deploy hangs, restart the router.", kind="lesson", source="agent").id
    clock.advance(days=10)
    memory.write("The user moved to Shanghai.")
    memory.write("If the upload times out, use smaller <chunks> | retry.", kind="lesson", source="agent")
    memory.write("The freeze holds until tomorrow.", kind="constraint", expires_at=clock() + timedelta(hours=1))
    memory.update(old, verdict="confirm")
    memory.update(wrong, verdict="refute")
    clock.advance(days=1)
    file = tmp_path / "weekly.md"
    told = memory.weekly_report(file)
    assert file.read_text(encoding="utf-8") == told
    assert [path.name for path in tmp_path.iterdir()] == ["weekly.md"]
    assert "# Memory of default, 2026-12-04 to 2026-12-11" in told
    for heading in ("Written: 3", "Superseded: 1", "Lessons learned: 1", "Lessons confirmed: 1", "Lessons refuted: 1"):
        assert f"## {heading}\n" in told, told
    assert re.search(r"- The user lives in Hangzhou\. \(m:\w{8}, fact\) → The user moved to Shanghai\.", told)
    assert "smaller &lt;chunks> \\| retry" in told
    assert "- 1 past the end of their validity: m:" in told
    assert "# default 的记忆周报" in memory.weekly_report(language="zh")


def test_a_report_that_cannot_be_written_leaves_what_was_there(memory: Afterwit, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        memory.weekly_report(tmp_path / "missing" / "weekly.md")
    with pytest.raises(InvalidInput, match="cannot be written"):
        memory.weekly_report(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidInput, match="days"):
        memory.weekly_report(days=0)


def test_health_on_the_command_line(tmp_path: Path) -> None:
    runner = CliRunner(
        env={"AFTERWIT_DATA_DIR": str(tmp_path / "data"), "AFTERWIT_EMBEDDER": "hash", "LC_ALL": "zh_CN.UTF-8"}
    )
    runner.invoke(cli, ["write", "The user prefers concise answers."])
    runner.invoke(cli, ["write", "周五前提醒我提交季度报告"])
    report = tmp_path / "weekly.md"
    result = runner.invoke(cli, ["health", "--report", str(report)])
    assert result.exit_code == 0, result.output
    assert "共 2 条记忆：active 2" in result.stdout
    assert report.read_text(encoding="utf-8").startswith("# default 的记忆周报")
    listed = runner.invoke(cli, ["intents"])
    assert "周五前提醒我提交季度报告" in listed.stdout
