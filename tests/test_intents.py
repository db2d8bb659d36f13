"""Intents: when they come up again, and how they are settled."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from afterwit.config import load_settings
from afterwit.embedding import HashEmbedder
from afterwit.errors import Conflict
from afterwit.records import Kind, Memory, Standing, Status
from afterwit.review.intents import DueState, due_state
from afterwit.service import Afterwit
from afterwit.storage import open_store
from afterwit.testing import FixedClock

#: A Monday, 17:00 in Shanghai.
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
SHANGHAI = "Asia/Shanghai"


def intent(summary: str, *, structured: dict[str, Any] | None = None, **fields: Any) -> Memory:
    values: dict[str, Any] = {"structured": structured or {}, "recorded_at": NOW, "happened_at": NOW}
    return Memory("m", "s", summary, Kind.INTENT, **values | fields)


def state(memory: Memory, goal: str = "", *, now: datetime = NOW, **options: Any) -> str | None:
    found = due_state(memory, now=now, timezone=SHANGHAI, goal=goal, **options)
    return found.state if found else None


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


# --- due times --------------------------------------------------------------------------------------


def test_intent_waits_for_its_day_is_due_on_it_and_overdue_after_it() -> None:
    memory = intent("Renew the certificate.", structured={"due": "2026-12-05"})
    assert state(memory, now=at("2026-12-04T23:59+08:00")) is None
    assert state(memory, now=at("2026-12-05T00:00+08:00")) == "due"
    assert state(memory, now=at("2026-12-05T23:59+08:00")) == "due"
    assert state(memory, now=at("2026-12-06T00:00+08:00")) == "overdue"


def test_a_bare_date_is_a_day_of_the_users_zone() -> None:
    memory = intent("Renew the certificate.", structured={"due": "2026-12-05"})
    moment = at("2026-12-05T01:00+08:00")
    assert due_state(memory, now=moment, timezone="Asia/Shanghai") is not None
    assert due_state(memory, now=moment, timezone="America/New_York") is None


def test_a_time_of_day_comes_up_on_its_day_and_is_late_from_that_moment() -> None:
    memory = intent("明天下午3点提醒我开会", structured={"due": "2026-12-01T07:00:00Z"})
    assert state(memory, now=at("2026-11-30T20:00+08:00")) is None
    morning = due_state(memory, now=at("2026-12-01T09:00+08:00"), timezone=SHANGHAI)
    assert morning == DueState("due", "2026-12-01 15:00 到期", at("2026-12-01T15:00+08:00"))
    assert state(memory, now=at("2026-12-01T15:00+08:00")) == "overdue"


@pytest.mark.parametrize(
    ("words", "waits", "due", "overdue"),
    [
        ("Send the report by 2026-12-05.", "2026-12-02", "2026-12-03", "2026-12-06"),
        ("Before Friday, send the report to Anna.", "2026-12-01", "2026-12-03", "2026-12-05"),
        ("周五前把报告发给安娜", "2026-12-01", "2026-12-04", "2026-12-05"),
        ("Next week, look at the slow queries.", "2026-12-06", "2026-12-07", "2026-12-14"),
        ("明天提醒我续签证书", "2026-11-30", "2026-12-01", "2026-12-02"),
    ],
)
def test_a_plain_sentence_is_due_when_its_words_say(words: str, waits: str, due: str, overdue: str) -> None:
    memory = intent(words)
    states = [state(memory, now=at(f"{day}T12:00+08:00")) for day in (waits, due, overdue)]
    assert states == [None, "due", "overdue"]


def test_words_keep_the_meaning_they_had_when_they_were_written() -> None:
    memory = intent("Tomorrow we need to check the backups.")
    assert state(memory, now=at("2026-12-20T12:00+08:00")) == "overdue"


def test_a_malformed_due_time_leaves_what_the_words_say() -> None:
    assert state(intent("Look at performance.", structured={"due": "soon"})) == "next_task"
    assert state(intent("Look at performance.", structured={"due": 7})) == "next_task"


# --- triggers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "Next time, look at performance.",
        "下次记得先跑测试",
        "有空的时候整理一下文档",
        "Check when the certificate expires.",
        "When you have some time, tidy up the docs.",
    ],
)
def test_without_due_time_and_trigger_it_is_for_the_next_task(words: str) -> None:
    assert state(intent(words), "Write the release notes") == "next_task"


@pytest.mark.parametrize(
    ("words", "fitting", "other"),
    [
        (
            "Next time we deploy, check the migrations first.",
            "Roll out version 3 to production",
            "Fix a typo in a label",
        ),
        ("When you touch billing next, add tests.", "Refactor the billing module", "Write tests for the parser"),
        ("Don't forget to update the docs before the release.", "Prepare the release 2.0", "Fix the login page"),
        ("下次改 billing.py 时补上测试", "修复 src/billing.py 里的舍入问题", "给解析器补上测试"),
        ("上线之前要先备份数据库", "把新版本部署上线", "重构数据库访问层"),
        ("等数据迁移完成之后记得删掉旧的开关", "收尾数据迁移", "删掉没用的开关"),
        ("Once the k8s upgrade is done, clean up the old manifests.", "Kubernetes upgrade to 1.31", "Upgrade pandas"),
    ],
)
def test_a_clause_comes_up_with_a_task_that_it_is_about(words: str, fitting: str, other: str) -> None:
    assert state(intent(words), fitting) == "triggered"
    assert state(intent(words), other) is None


def test_words_that_any_task_has_trigger_nothing() -> None:
    memory = intent("Add a regression test.", structured={"trigger": {"words": "work on the importer"}})
    assert state(memory, "Start to work on the new project") is None
    assert state(memory, "The importer drops rows") == "triggered"


@pytest.mark.parametrize(
    ("trigger", "task", "fits"),
    [
        ({"topic": "performance"}, {"goal": "首页太慢，优化一下"}, True),
        ({"topic": "perf"}, {"topics": ["performance"]}, True),
        ({"topic": "performance"}, {"goal": "Rename a button"}, False),
        ({"scope": "project:atlas"}, {"scope": "project:atlas"}, True),
        ({"scope": "project:atlas"}, {"scope": "project:zephyr"}, False),
        ({"file": "src/billing/*.py"}, {"files": ["src/billing/tax.py"]}, True),
        ({"file": "tax.py"}, {"goal": "Fix rounding in src/billing/tax.py"}, True),
        ({"file": "src/billing"}, {"files": ["./src/billing/tax.py"]}, True),
        ({"file": "tax.py"}, {"files": ["src/syntax.py"]}, False),
        ({"words": ["invoice", "billing"]}, {"goal": "Send invoices by mail"}, True),
        ({"task": "deploy"}, {"goal": "部署到生产环境"}, True),
        ({"topic": "auth", "scope": "project:atlas"}, {"goal": "Fix the login", "scope": "project:zephyr"}, False),
    ],
)
def test_a_structured_trigger_must_match_in_all_that_it_names(trigger: Any, task: Any, fits: bool) -> None:
    memory = intent("Look at it again.", structured={"trigger": trigger})
    assert state(memory, **task) == ("triggered" if fits else None)


def test_a_due_time_and_a_trigger_each_bring_it_up() -> None:
    memory = intent("Rotate the key.", structured={"due": "2026-12-05", "trigger": {"topic": "deployment"}})
    assert state(memory, "Deploy the gateway") == "triggered"
    assert state(memory, "Fix a typo") is None
    assert state(memory, "Fix a typo", now=at("2026-12-05T12:00+08:00")) == "due"


def test_intents_of_other_scopes_and_settled_ones_never_come_up() -> None:
    assert state(intent("Look at performance.", scope="project:atlas"), scope="project:zephyr") is None
    assert state(intent("Look at performance.", scope="project:atlas"), scope="project:atlas") == "next_task"
    assert state(intent("Look at performance.", structured={"state": "done"})) is None
    assert state(intent("Look at performance.", status=Status.EXPIRED)) is None
    assert state(intent("Look at performance.", standing=Standing.REFUTED)) is None
    assert state(intent("Look at performance.", valid_to=NOW)) is None
    assert due_state(Memory("m", "s", "Next time.", Kind.FACT, NOW, NOW), now=NOW, timezone="UTC") is None


# --- verbs ------------------------------------------------------------------------------------------


@pytest.fixture
def memory() -> Iterator[Afterwit]:
    settings = load_settings(environ={}, overrides={"timezone": SHANGHAI})
    service = Afterwit(open_store("sqlite://"), HashEmbedder(), settings=settings, clock=FixedClock(NOW))
    yield service
    service.close()


@pytest.mark.parametrize(
    ("words", "kind", "due"),
    [
        ("Remember to renew the certificate by 2026-12-05.", "", "2026-12-04T16:00:00Z"),
        ("Before Friday, send the report to Anna.", "", "2026-12-03T16:00:00Z"),
        ("周五前提交季度报告", "", "2026-12-03T16:00:00Z"),
        ("12月5日前完成数据迁移", "", "2026-12-04T16:00:00Z"),
        ("The certificate is up for renewal on 2026-12-05.", "intent", "2026-12-04T16:00:00Z"),
    ],
)
def test_a_written_intent_keeps_its_due_time(memory: Afterwit, words: str, kind: str, due: str) -> None:
    kept = memory.get(memory.write(words, **({"kind": kind} if kind else {})).id)  # type: ignore[arg-type]
    assert (kept.kind, kept.structured["due"], kept.valid_from) == (Kind.INTENT, due, None)


def test_done_takes_an_intent_out_of_recall_and_restore_brings_it_back(memory: Afterwit) -> None:
    id = memory.write("Next time, look at the performance of the importer.").id
    receipt = memory.update(id, verdict="done")
    assert (receipt.reasons, receipt.message) == (("done",), "Done; it will not be brought up again.")
    kept = memory.get(id)
    assert (kept.status, kept.structured["state"]) == (Status.EXPIRED, "done")
    assert not memory.search("performance of the importer").hits
    assert memory.explain(id).events[-1].detail["reason"] == "done"
    assert memory.update(id, verdict="done").reasons == ("unchanged",)

    memory.update(id, verdict="restore")
    kept = memory.get(id)
    assert (kept.status, kept.structured.get("state")) == (Status.ACTIVE, None)
    assert due_state(kept, now=NOW, timezone=SHANGHAI) is not None


def test_dismiss_says_so_in_the_intents_language(memory: Afterwit) -> None:
    id = memory.write("下次优化一下导入的性能").id
    assert memory.update(id, verdict="dismiss", reason="用户不需要了").message == "已取消，不再提起。"
    assert memory.explain(id).events[-1].detail["reason"] == "用户不需要了"


def test_only_intents_can_be_done(memory: Afterwit) -> None:
    id = memory.write("The gateway port is 8001.", kind="fact").id
    with pytest.raises(Conflict, match="Only an intent"):
        memory.update(id, verdict="done")
    assert memory.get(id).status is Status.ACTIVE
