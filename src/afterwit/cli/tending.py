"""Commands that look after a memory: doctor, health, clean, intents."""

from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import language, tell
from afterwit.clock import utc_now
from afterwit.errors import InvalidInput

if TYPE_CHECKING:
    from afterwit.records import Memory
    from afterwit.review.health import Health
    from afterwit.service import Afterwit
    from afterwit.service.tending import CleaningPlan, Intent

#: Memories of each category that `clean` shows.
_SHOWN = 5


@click.command("doctor", short_help="Check that everything works. 体检。")
@json_option
@pass_session
def doctor(session: Session) -> int:
    """Check Python, SQLite, files, database, embedder and settings; say what to do about each.

    检查运行环境、数据库、嵌入模型与设置，并说明如何处理；有失败项时退出码为 1。

    \b
    Examples:
      afterwit doctor
      afterwit doctor --json
    """
    from afterwit.cli.checks import examine  # noqa: PLC0415 - brings the store and the embedder along

    findings = examine(session)
    failed = sum(finding.level == "fail" for finding in findings)
    warned = sum(finding.level == "warn" for finding in findings)

    def values() -> dict[str, Any]:
        return {"ok": not failed, "checks": [finding.values() for finding in findings]}

    def prose() -> str:
        verdict = tell("unhealthy", failed=failed, warned=warned) if failed or warned else tell("healthy")
        return "\n".join([*(finding.text() for finding in findings), verdict])

    session.answer(values, prose)
    return 1 if failed else 0


@click.command("health", short_help="How the memory is, and the weekly report. 健康检查与周报。")
@click.option("--report", type=TEXT, metavar="FILE", help="Write the report of the last days there, as Markdown.")
@click.option("--days", type=int, default=7, show_default=True, help="Days that the report is about, 1 to 366.")
@json_option
@pass_session
def health(session: Session, report: str | None, days: int) -> int:
    """Count what is remembered, find what is wrong with it, and say what to do.

    查看记忆的健康状况：数量、重复、矛盾、过期、待核实、写入异常等，并给出处理办法；--report 写出周报。

    Junk, duplicates, contradictions, what is past its time, what nobody confirmed or used for
    long, days with unusually many writes, tasks that nobody looked back at, overdue intents.
    Nothing is changed. Exit status 1 when a figure fails.

    \b
    Examples:
      afterwit health
      afterwit health --json
      afterwit health --report weekly.md
    """
    with session.memory() as memory:
        found = memory.health()
        if report is not None:
            memory.weekly_report(report, days=days, language=language())

    def values() -> dict[str, Any]:
        from afterwit.serve.tending import health_json  # noqa: PLC0415 - brings the wire format along

        return health_json(found, language=language()) | ({"report": report} if report is not None else {})

    session.answer(values, lambda: _health_lines(found, report))
    return 1 if found.level == "fail" else 0


def _health_lines(found: "Health", report: str | None) -> str:
    spoken = language()
    lines = [
        tell("health_total", total=found.total, statuses=_counted(found.by_status)),
        tell("health_active", kinds=_counted(found.by_kind), standings=_counted(found.by_standing)),
    ]
    for figure in found.figures:
        lines.append(f"{figure.level:<4}  {figure.message(spoken)}")
        if advice := figure.next_step(spoken):
            lines.append("    " + tell("next_step", next_step=advice))
        if figure.level != "ok" and figure.ids:
            lines.append("      " + " ".join(f"m:{id[-8:]}" for id in figure.ids[:_SHOWN]))
    if report is not None:
        lines.append(tell("report_written", place=report))
    return "\n".join(lines)


def _counted(counts: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "0"


@click.command("clean", short_help="Take out of recall what is of no use any more. 清理。")
@click.option("--apply", "applies", is_flag=True, help="Do it; without this nothing is changed.")
@click.option("--only", type=TEXT, metavar="WORDS", help="Some of expired, duplicates, refuted, stale; with commas.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def clean(session: Session, applies: bool, only: str | None, yes: bool) -> int:
    """Show what may be taken out of recall, and take it out with --apply.

    列出可以清理的记忆：已过期的、重复的、早已被否定的、从未验证也从未用过的；加 --apply 才会执行。

    What is past its validity is marked as expired; exact duplicates become one; what was refuted
    long ago, and what was never proved nor used, is forgotten. Nothing is erased: each can be
    restored. What the user states stays.

    \b
    Examples:
      afterwit clean
      afterwit clean --apply
      afterwit clean --only expired,duplicates --apply --yes
    """
    chosen = [word.strip() for word in (only or "").split(",") if word.strip()]
    with session.memory() as memory:
        plan = memory.clean(only=chosen)
        if applies and plan.count:
            if not yes and not session.may_ask():
                raise InvalidInput("Cleaning was not confirmed.", next_step="Add --yes to do it without being asked.")
            if not yes:
                click.echo(_plan_lines(memory, plan), err=True)
                if not click.confirm(tell("ask_clean", count=plan.count), err=True):
                    session.answer(lambda: {"applied": False, "count": 0}, lambda: tell("nothing_cleaned"))
                    return 1
            plan = memory.clean(dry_run=False, only=chosen)

        def values() -> dict[str, Any]:
            from afterwit.serve.tending import plan_json  # noqa: PLC0415 - brings the wire format along

            return plan_json(plan)

        session.answer(values, lambda: _plan_lines(memory, plan))
    return 0


def _plan_lines(memory: "Afterwit", plan: "CleaningPlan") -> str:
    from afterwit.messages import say  # noqa: PLC0415 - `--help` needs none of it

    if not plan.count:
        return tell("nothing_to_clean")
    lines: list[str] = []
    for item in plan.proposals:
        lines.append(f"{item.category}: " + say(f"clean_{item.category}", language(), count=len(item.ids)))
        lines += [f"  {_short(memory.get(id))}" for id in item.ids[:_SHOWN]]
        if len(item.ids) > _SHOWN:
            lines.append("  " + say("report_more", language(), count=len(item.ids) - _SHOWN))
    lines.append(tell("cleaned" if plan.applied else "would_clean", count=plan.count))
    return "\n".join(lines)


def _short(memory: "Memory") -> str:
    from afterwit.serve.prose import memory_line  # noqa: PLC0415 - brings the text layer along

    return memory_line(memory, now=utc_now(), spoken=language())


@click.command("intents", short_help="What is to be done, and when. 待办与提醒。")
@click.option("--all", "include_settled", is_flag=True, help="Also those that are done or dismissed.")
@click.option("--scope", type=TEXT, default="", help="Only this scope and the global one.")
@json_option
@pass_session
def intents(session: Session, include_settled: bool, scope: str) -> None:
    """List what was meant for later: overdue, due, for the next task, and what waits for its time.

    列出留到以后的事：已逾期、已到期、留给下一个任务的，以及还在等待的。

    \b
    Examples:
      afterwit write "Next time, look at the performance of the importer."
      afterwit write "周五前提醒我提交季度报告"
      afterwit intents
      afterwit update 4f1c09ab77d2 --done
    """
    with session.memory() as memory:
        found = memory.intents(scope=scope, include_settled=include_settled)
        now = utc_now()

        def values() -> dict[str, Any]:
            from afterwit.serve.tending import intent_json  # noqa: PLC0415 - brings the wire format along

            return {"intents": [intent_json(item, now=now) for item in found]}

        session.answer(values, lambda: "\n".join(map(_intent_line, found)) or tell("no_intents"))


def _intent_line(intent: "Intent") -> str:
    settled = intent.memory.structured.get("state")
    if intent.state is not None:
        how = intent.state.why
    elif settled in ("done", "dismissed"):
        how = tell(f"intent_{settled}")
    elif intent.due is not None:
        how = tell("intent_waits_until", due=intent.due.shown)
    else:
        how = tell("intent_waits")
    return f"{how}: {_short(intent.memory)}"
