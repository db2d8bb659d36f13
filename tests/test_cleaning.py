"""Cleaning: what is proposed, what is done, and what is never touched."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from afterwit.cli import cli
from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import InvalidInput
from afterwit.records import Add, Basis, Kind, Memory, Standing, Status, Trust, new_id
from afterwit.service import Afterwit, Writer
from afterwit.storage import open_store
from afterwit.testing import FixedClock

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"timezone": "Asia/Shanghai"})
    writer = Writer("user", Trust.USER, "cli")
    clock = FixedClock(NOW)
    service = Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, writer=writer, clock=clock)
    yield service
    service.close()


def put(memory: Afterwit, summary: str, days: float = 0, **fields: Any) -> str:
    written = NOW - days * DAY
    values: dict[str, Any] = {"recorded_at": written, "happened_at": written, "kind": Kind.FACT} | fields
    made = Memory(new_id(written), "default", summary, **values)
    with memory.store.transaction("default", now=written, actor="test") as tx:
        tx.apply([Add(made)])
    return made.id


def proposed(memory: Afterwit, **options: Any) -> dict[str, tuple[str, ...]]:
    return {item.category: item.ids for item in memory.clean(**options).proposals}


STATED: dict[str, Any] = {"basis": Basis.STATED, "standing": Standing.CONFIRMED, "trust": Trust.USER, "confidence": 1.0}
WEAK: dict[str, Any] = {"confidence": 0.6}


def test_a_dry_run_changes_nothing(memory: Afterwit) -> None:
    put(memory, "The freeze holds.", 10, valid_to=NOW - DAY)
    before = memory.store.change_number("default")
    plan = memory.clean()
    assert (plan.applied, plan.count, memory.store.change_number("default")) == (False, 1, before)


def test_what_is_over_is_marked_as_expired_and_still_answers_for_its_time(memory: Afterwit) -> None:
    over = put(memory, "The deploy freeze holds this week.", 10, valid_to=NOW - DAY, **STATED)
    holds = put(memory, "The deploy window is on Tuesday.", 10, valid_to=NOW + DAY)
    assert proposed(memory, dry_run=False) == {"expired": (over,)}
    assert [memory.get(id).status for id in (over, holds)] == [Status.EXPIRED, Status.ACTIVE]
    found = memory.search("deploy freeze", as_of=NOW - 5 * DAY).hits
    assert [hit.memory.id for hit in found] == [over]


def test_of_repeats_the_best_founded_stays_with_the_others_supporters_and_uses(memory: Afterwit) -> None:
    weak = put(memory, "The gateway uses TLS 1.3.", 9, supporters=("s1",), use_count=2, helped=1.0)
    sure = put(memory, "the gateway uses TLS 1.3", 5, basis=Basis.VERIFIED, supporters=("s2",), use_count=1)
    last = put(memory, "The gateway uses TLS 1.3", 1, supporters=("s3",))
    plan = memory.clean(dry_run=False)
    [proposal] = plan.proposals
    assert (proposal.category, set(proposal.ids), set(proposal.kept)) == ("duplicates", {weak, last}, {sure})
    kept = memory.get(sure)
    assert (kept.supporters, kept.use_count, kept.helped) == (("s1", "s2", "s3"), 3, 1.0)
    assert memory.get(weak).status is Status.FORGOTTEN
    assert memory.explain(weak).events[-1].detail["reason"].endswith(f"m:{sure[-8:]} says")
    memory.update(weak, verdict="restore")
    assert memory.get(weak).status is Status.ACTIVE


def test_what_was_refuted_long_ago_goes_but_advice_stays_as_a_warning_of_itself(memory: Afterwit) -> None:
    refuted: dict[str, Any] = {"standing": Standing.REFUTED}
    fact = put(memory, "The port is 8001.", 31, **refuted)
    put(memory, "The port is 8002.", 29, **refuted)
    put(memory, "Restart the router when the deploy hangs.", 100, kind=Kind.LESSON, **refuted)
    assert proposed(memory) == {"refuted": (fact,)}


def test_only_what_was_never_proved_used_or_sure_is_stale(memory: Afterwit) -> None:
    stale = put(memory, "The importer probably needs 4 GB.", 300, **WEAK)
    put(memory, "The exporter probably needs 4 GB.", 200, **WEAK)
    put(memory, "The parser probably needs 4 GB.", 300, use_count=1, **WEAK)
    put(memory, "The linker needs 4 GB.", 300, confidence=0.9)
    put(memory, "The compiler needs 4 GB.", 300, **STATED)
    put(memory, "We chose Go for the linker.", 3000, kind=Kind.DECISION, **WEAK)
    assert proposed(memory) == {"stale": (stale,)}


def test_what_the_user_stated_stays(memory: Afterwit) -> None:
    stated = [
        put(memory, "The gateway uses TLS 1.3.", 3000, **STATED),
        put(memory, "The gateway uses TLS 1.3", 2000, **STATED),
        put(memory, "The port is 8001.", 3000, trust=Trust.CONFIRMED, standing=Standing.REFUTED),
    ]
    repeat = put(memory, "the gateway uses TLS 1.3", 1, basis=Basis.VERIFIED, standing=Standing.CONFIRMED)
    assert proposed(memory, dry_run=False) == {"duplicates": (repeat,)}
    assert [memory.get(id).status for id in stated] == [Status.ACTIVE] * 3


def test_a_memory_that_fits_several_categories_is_taken_once(memory: Afterwit) -> None:
    put(memory, "The importer probably needs 4 GB.", 300, valid_to=NOW - DAY, **WEAK)
    assert {name: len(ids) for name, ids in proposed(memory).items()} == {"expired": 1}


def test_chosen_categories_only_and_again_nothing(memory: Afterwit) -> None:
    put(memory, "The freeze holds.", 10, valid_to=NOW - DAY)
    stale = put(memory, "The importer probably needs 4 GB.", 300, **WEAK)
    assert set(proposed(memory, dry_run=False, only=["expired"])) == {"expired"}
    assert memory.get(stale).status is Status.ACTIVE
    assert set(proposed(memory, dry_run=False)) == {"stale"}
    assert memory.clean(dry_run=False).count == 0
    with pytest.raises(InvalidInput, match="Unknown category"):
        memory.clean(only=["everything"])


def test_many_are_cleaned_in_batches(memory: Afterwit) -> None:
    with memory.store.transaction("default", now=NOW, actor="test") as tx:
        tx.apply(
            Add(
                Memory(
                    new_id(NOW),
                    "default",
                    f"Gateway {number} listens on port {number}.",
                    Kind.FACT,
                    NOW - 3 * DAY,
                    NOW - 3 * DAY,
                    valid_to=NOW - DAY,
                )
            )
            for number in range(1201)
        )
    assert memory.clean(dry_run=False).count == 1201
    assert memory.health().figure("expired").value == 0


def test_cleaning_on_the_command_line_asks_first(tmp_path: Path) -> None:
    runner = CliRunner(env={"AFTERWIT_DATA_DIR": str(tmp_path), "AFTERWIT_EMBEDDER": "hash", "LC_ALL": "C.UTF-8"})

    def run(*words: str, exit_code: int = 0) -> str:
        result = runner.invoke(cli, words)
        assert result.exit_code == exit_code, result.output
        return result.output

    assert "There is nothing to clean." in run("clean")
    run("write", "The deploy freeze holds until the audit.", "--kind", "constraint", "--expires-at", "2020-01-01")
    assert "--apply does it" in run("clean")
    assert "Add --yes" in run("clean", "--apply", exit_code=2)
    assert "each can be restored" in run("clean", "--only", "expired,stale", "--apply", "--yes")
    assert "There is nothing to clean." in run("clean")
    assert "Unknown category" in run("clean", "--only", "everything", exit_code=2)
