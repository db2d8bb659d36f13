"""Looking back at tasks: review, and taking back what was learned: rollback."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import language, tell
from afterwit.clock import parse_time, utc_now
from afterwit.errors import InvalidInput
from afterwit.serve.wire import memory_json, receipt_json

if TYPE_CHECKING:
    from afterwit.records import Memory
    from afterwit.review import Lift
    from afterwit.service import Afterwit
    from afterwit.service.retracting import RollbackPlan
    from afterwit.service.reviewing import Consolidation, ReviewReport

#: Memories of each part of a plan that are listed.
_SHOWN = 20


@click.command("review", short_help="Learn from ended tasks. 复盘任务。")
@click.argument("subject", metavar="[TASK|MEMORY]", required=False, type=TEXT)
@click.option("--limit", type=int, help="At most so many tasks.")
@click.option("--llm/--no-llm", "with_llm", default=None, help="Ask the language model; default: if there is one.")
@click.option("--rules", is_flag=True, help="Only make rules of lessons, and share what two roles found useful.")
@click.option("--sample", type=int, metavar="N", help="Show N results of reviews for a spot check, and do nothing.")
@click.option("--lift", "lifts", is_flag=True, help="Show what lessons, or one MEMORY, are worth, and do nothing.")
@json_option
@pass_session
def review(session: Session, subject: str | None, rules: bool, sample: int | None, lifts: bool, **options: Any) -> int:
    """Draw lessons from ended tasks that were not looked back at: TASK, or all that wait.

    复盘已结束的任务，总结可用于其他任务的教训；不指定 TASK 则处理全部待复盘任务。--lift 衡量经验的作用。

    Lessons wait until other tasks prove them; what three independent sessions agree on becomes a rule.
    A review that fails is kept in the queue with its reason; then the exit status is 1.

    --lift compares the tasks to which lessons were shown with those from which some were withheld
    at random (setting holdout_share).

    \b
    Examples:
      afterwit review
      afterwit review 4f1c09ab77d2 --no-llm
      afterwit review --rules
      afterwit review --sample 5
      afterwit review --lift
      afterwit review --lift 9b02d1e4c7aa      # one memory
    """
    if sum((bool(subject) and not lifts, rules, sample is not None, lifts)) > 1:
        raise InvalidInput("TASK, --rules, --sample and --lift exclude each other.", next_step="Give one of them.")
    if rules or sample is not None or lifts:
        _without_review(session, subject or "", rules=rules, sample=sample)
        return 0
    return _review(session, subject or "", options["limit"], options["with_llm"])


def _without_review(session: Session, memory_id: str, *, rules: bool, sample: int | None) -> None:
    with session.memory(embeds=rules) as memory:
        if sample is not None:
            _show_sample(session, memory.sample(sample))
        elif rules:
            _show_rules(session, memory, memory.consolidate())
        else:
            _show_lift(session, memory.lift(memory_id))


def _review(session: Session, task: str, limit: int | None, with_llm: bool | None) -> int:
    with session.memory(embeds=True, asks=with_llm is not False) as memory:
        waiting = 1 if task else len(memory.store.tasks(memory.space, unreviewed=True))
        with session.progress("review", min(waiting, limit or waiting)) as advance:
            found = memory.review(task, limit=limit, with_llm=with_llm, progress=advance)
        session.answer(lambda: _report_json(found), lambda: _report_lines(found))
        return 1 if found.failed else 0


def _show_lift(session: Session, found: "Lift") -> None:
    share = session.settings.holdout_share
    session.answer(lambda: asdict(found) | {"holdout_share": share}, lambda: _lift_lines(found, share))


def _lift_lines(found: "Lift", share: float) -> str:
    lines = [
        tell(
            "lift_shown",
            count=found.shown,
            succeeded=found.shown_succeeded,
            share=_of(found.shown_succeeded, found.shown),
        ),
        tell(
            "lift_withheld",
            count=found.withheld,
            succeeded=found.withheld_succeeded,
            share=_of(found.withheld_succeeded, found.withheld),
        ),
    ]
    if found.difference is None or found.low is None or found.high is None:
        lines.append(tell("lift_nothing"))
        return "\n".join(lines if share else [*lines, tell("lift_how")])
    points = {
        name: f"{100 * value:+.1f} %"
        for name, value in (("difference", found.difference), ("low", found.low), ("high", found.high))
    }
    lines.append(tell("lift_difference", **points))
    if found.low <= 0 <= found.high:
        lines.append(tell("lift_unsure"))
    return "\n".join(lines)


def _of(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f} %)" if whole else ""


def _show_sample(session: Session, drawn: "Sequence[Memory]") -> None:
    now = utc_now()
    session.answer(
        lambda: {"memories": [memory_json(row, now=now) for row in drawn]},
        lambda: "\n".join([*map(_line, drawn), tell("judge_sample")]) if drawn else tell("nothing_to_judge"),
    )


def _show_rules(session: Session, memory: "Afterwit", done: "Consolidation") -> None:
    def lines() -> str:
        changed = [f"{what}: {_line(memory.get(id))}" for id, what in done.rules.items()]
        return "\n".join([*changed, *(f"shared: {_line(memory.get(id))}" for id in done.promoted), done.message])

    session.answer(lambda: {"rules": dict(done.rules), "promoted": list(done.promoted)}, lines)


def _report_json(found: "ReviewReport") -> dict[str, Any]:
    return {
        "tasks": list(found.tasks),
        "learned": [receipt_json(receipt) for receipt in found.receipts],
        "remembered": [receipt.id for receipt in found.remembered if receipt.accepted],
        "failed": dict(found.failed),
        "waiting": found.waiting,
        "message": found.message,
    }


def _report_lines(found: "ReviewReport") -> str:
    from afterwit.serve.prose import quoted, receipt_text  # noqa: PLC0415 - brings the text layer along

    failed = [f"{id}: {quoted(error)}" for id, error in found.failed.items()]
    receipts = [receipt_text(receipt, confirming=tell("confirm_kept_aside")) for receipt in found.receipts]
    return "\n".join([*receipts, *failed, quoted(found.message)])


@click.command("rollback", short_help="Take back what was written. 回滚。")
@click.option("--since", type=TEXT, metavar="TIME", help="What was recorded from then on.")
@click.option("--task", "task_id", type=TEXT, default="", help="What was learned from this task.")
@click.option("--session", "session_name", type=TEXT, default="", help="What this session wrote.")
@click.option("--actor", type=TEXT, default="", help="What this writer wrote, as `show` names it in the history.")
@click.option("--yes", is_flag=True, help="Do it; without this nothing is changed.")
@json_option
@pass_session
def rollback(session: Session, since: str | None, task_id: str, session_name: str, actor: str, yes: bool) -> None:
    """Show what taking something back would do, and do it with --yes. Given together, all must hold.

    列出回滚会影响的记忆；加 --yes 才会执行。多个条件同时给出时须全部满足。

    What was written goes out of recall, with what rests on nothing else; what it had replaced comes back;
    what it had helped to prove is unproved again. Each memory can be restored with `afterwit update ID --restore`.

    \b
    Examples:
      afterwit rollback --since 2026-03-01T09:00:00Z
      afterwit rollback --task 4f1c09ab77d2 --yes
      afterwit rollback --session cli:2026-03-01 --actor user
    """
    with session.memory() as memory:
        plan = memory.rollback(
            since=parse_time(since, field="since") if since else None,
            task_id=task_id,
            session=session_name,
            actor=actor,
            dry_run=not yes,
        )
        session.answer(lambda: _plan_json(plan), lambda: _plan_lines(plan))


def _plan_json(plan: "RollbackPlan") -> dict[str, Any]:
    now = utc_now()
    parts = {"retired": plan.retired, "restored": plan.restored, "weakened": plan.weakened}
    listed = {name: [memory_json(row, now=now) for row in rows] for name, rows in parts.items()}
    return {"done": plan.done, **listed, "seen_by": list(plan.seen_by)}


def _plan_lines(plan: "RollbackPlan") -> str:
    if not (plan.retired or plan.weakened):
        return tell("nothing_to_roll_back")
    lines: list[str] = []
    for key, rows in (("goes", plan.retired), ("comes_back", plan.restored), ("loses_proof", plan.weakened)):
        if rows:
            lines.append(tell(key, count=len(rows)))
            lines += [f"  {_line(row)}" for row in rows[:_SHOWN]]
            lines += ["  ..."] if len(rows) > _SHOWN else []
    if plan.seen_by:
        lines.append(tell("seen_by", count=len(plan.seen_by), tasks=", ".join(plan.seen_by[:_SHOWN])))
    lines.append(tell("rolled_back" if plan.done else "would_roll_back"))
    return "\n".join(lines)


def _line(memory: "Memory") -> str:
    from afterwit.serve.prose import memory_line  # noqa: PLC0415 - brings the text layer along

    return memory_line(memory, now=utc_now(), spoken=language())
