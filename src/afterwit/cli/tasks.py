"""The commands about tasks: task start, step, show, finish, list, erase."""

import json
import sys
from typing import TYPE_CHECKING, Any, cast

import click

from afterwit.cli.options import JSON, TEXT, decode, given, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import language, tell
from afterwit.clock import utc_now
from afterwit.errors import InvalidInput, Sentence

if TYPE_CHECKING:
    from afterwit.service import RollbackPlan


@click.group("task", short_help="Working memory of a task, and its end. 任务与工作记忆。")
@json_option
def task() -> None:
    """Working memory for one piece of work: what earlier work knows, what was tried, how it ended.

    一件工作的工作记忆：开始时给出相关经验，过程中记录步骤，结束时结算并总结教训。

    What the steps show becomes lessons; the outcome speaks for or against the memories that were used.

    \b
    Examples:
      afterwit task start "Release atlas 2.1" --scope project:atlas
      afterwit task step bash "make release" --failed --output "error: missing tag"
      afterwit task step bash "git tag v2.1 && make release" --ok
      afterwit task finish success
    """


@task.command("start", short_help="Begin a task. 开始任务。")
@click.argument("goal", nargs=-1, required=True, type=TEXT)
@click.option("--scope", type=TEXT, help="Where it takes place: global, project:NAME, session:ID or task:ID.")
@click.option("--role", type=TEXT, help="The agent's role.")
@click.option("--constraint", "constraints", type=TEXT, multiple=True, help="What must hold; repeatable.")
@click.option("--environment", type=JSON, metavar="JSON", help='Where it runs: {"tools": {"python": "3.12"}}.')
@click.option("--context", type=TEXT, help="More words on what it is about.")
@click.option("--step-limit", type=int, help="It ends by itself after so many steps; default 500.")
@click.option("--timeout", "timeout_s", type=float, metavar="SECONDS", help="It ends by itself then; default 1 day.")
@click.option("--budget", "budget_tokens", type=int, help="Most tokens of what is shown.")
@click.option("--session", "session_name", type=TEXT, help="Session it belongs to; one session proves no lesson.")
@json_option
@pass_session
def start(session: Session, goal: tuple[str, ...], session_name: str | None, **options: Any) -> None:
    """Begin a task: prints its id, and the rules, lessons and intents that apply to it.

    开始一个任务：给出任务编号，以及适用的规则、教训和待办意图。

    \b
    Examples:
      afterwit task start "Add a currency column to the orders table" --scope project:atlas
      afterwit task start "修复登录页的超时" --constraint "不改接口" --environment '{"tools": {"node": "22"}}'
    """
    with session.memory(embeds=True) as memory:
        from dataclasses import replace  # noqa: PLC0415

        from afterwit.serve.tasks import briefing_json, briefing_text  # noqa: PLC0415 - prose brings the text layer

        own = memory if session_name is None else memory.as_writer(replace(memory.writer, session=session_name))
        briefing, now = own.start_task(" ".join(goal), **cast("Any", given(options))), utc_now()
        session.answer(lambda: briefing_json(briefing, now=now), lambda: briefing_text(briefing, now=now, fence=False))


@task.command("step", short_help="Log what was done. 记录步骤。")
@click.argument("action", required=False, type=TEXT)
@click.argument("input", required=False, type=TEXT)
@click.option("--task", "task_id", type=TEXT, help="The task; default: the one that is open.")
@click.option("--output", type=TEXT, help="What came back; - reads standard input.")
@click.option("--rationale", type=TEXT, help="Why it was done.")
@click.option("--ok/--failed", "ok", default=None, help="Whether it worked.")
@click.option("--happened-at", type=TEXT, metavar="TIME", help="When it was done.")
@click.option("--stdin", "from_lines", is_flag=True, help="Read standard input: one JSON object per line, a step each.")
@json_option
@pass_session
def step(session: Session, action: str | None, from_lines: bool, task_id: str | None, **fields: Any) -> None:
    """Log a step. ACTION is the tool's name, or user, decision, check or note; INPUT what was done or said.

    记录一步。ACTION 是工具名，或 user、decision、check、note；INPUT 是命令、请求或用户的话。

    \b
    Examples:
      afterwit task step bash "pytest -q" --failed --output "ModuleNotFoundError: No module named 'yaml'"
      afterwit task step user "不对，要用 uv，不要用 pip"
      make test 2>&1 | afterwit task step bash "make test" --failed --output -
      afterwit task step --stdin < steps.jsonl
    """
    if from_lines == (action is not None):
        raise InvalidInput(
            "Nothing to log." if action is None else "Both ACTION and --stdin were given.",
            next_step='Give a step, such as `afterwit task step bash "make test" --ok`, or --stdin.',
        )
    steps: list[Any]
    if from_lines:
        steps = _read_steps(sys.stdin.buffer.read())
    else:
        chosen = given(fields)
        if chosen.get("output") == "-":
            chosen["output"] = sys.stdin.buffer.read().decode("utf-8", errors="replace")
        steps = [{"action": action, **chosen}]
    with session.memory() as memory:
        from afterwit.serve.tasks import steps_json, steps_text  # noqa: PLC0415

        receipt = memory.log_steps(steps, task_id=task_id or "")
        session.answer(lambda: steps_json(receipt), lambda: steps_text(receipt))


def _read_steps(data: bytes) -> list[Any]:
    """A step from each line that is not blank.

    Raises:
        InvalidInput: a line is no JSON object; it is named by its number.
    """
    steps: list[Any] = []
    for number, line in enumerate(decode(data, "standard input").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError as error:
            raise InvalidInput(
                Sentence("Line {number} is not JSON: {problem}.", number=number, problem=error),
                next_step="Nothing was logged.",
            ) from None
        if not isinstance(found, dict):
            raise InvalidInput(
                Sentence("Line {number} is no JSON object.", number=number), next_step="Nothing was logged."
            )
        steps.append(found)
    return steps


@task.command("show", short_help="Read working memory back. 查看工作记忆。")
@click.argument("task_id", metavar="[ID]", required=False, type=TEXT)
@click.option("--window", type=int, default=10, show_default=True, help="Last steps that are shown themselves.")
@json_option
@pass_session
def show_task(session: Session, task_id: str | None, window: int) -> None:
    """Read a task's working memory: goal, constraints, what was tried, what failed, the last steps.

    查看任务的工作记忆：目标、约束、已尝试、失败与最近步骤。

    \b
    Examples:
      afterwit task show
      afterwit task show 4f1c09ab77d2 --window 30
    """
    with session.memory() as memory:
        from afterwit.serve.tasks import working_json, working_text  # noqa: PLC0415

        found = memory.working(task_id or "", window=window)
        session.answer(lambda: working_json(found), lambda: working_text(found, fence=False))


@task.command("finish", short_help="End a task. 结束任务。")
@click.argument("outcome", required=False, type=TEXT)
@click.option("--task", "task_id", type=TEXT, help="The task; default: the one that is open.")
@click.option("--summary", type=TEXT, help="What came of it.")
@click.option("--used", type=TEXT, multiple=True, metavar="ID", help="A memory that was relied on; repeatable.")
@json_option
@pass_session
def finish(
    session: Session, outcome: str | None, task_id: str | None, summary: str | None, used: tuple[str, ...]
) -> None:
    """End a task. OUTCOME is success, failure or abandoned; without it, the steps tell.

    结束任务。OUTCOME 为 success、failure 或 abandoned；省略时按步骤判断。

    The outcome speaks for or against the memories that were used, and lessons are drawn.

    \b
    Examples:
      afterwit task finish success --used 4f1c09ab77d2
      afterwit task finish failure --summary "证书过期，等运维更新"
    """
    with session.memory() as memory:
        from afterwit.serve.tasks import finish_json, finish_text  # noqa: PLC0415

        receipt = memory.finish_task(task_id or "", outcome=outcome or "", summary=summary or "", used=list(used))
        session.answer(lambda: finish_json(receipt), lambda: finish_text(receipt, fence=False))


@task.command("list", short_help="List tasks. 列出任务。")
@click.option("--open", "only_open", is_flag=True, help="Only those that have not ended.")
@click.option("--limit", type=int, default=20, show_default=True, help="At most this many, the latest ones.")
@json_option
@pass_session
def list_tasks(session: Session, only_open: bool, limit: int) -> None:
    """List tasks, started last first.

    列出任务，最近开始的在前。

    \b
    Examples:
      afterwit task list --open
    """
    with session.memory() as memory:
        from afterwit.serve.tasks import task_json, task_line  # noqa: PLC0415

        found = memory.tasks(only_open=only_open, limit=limit)
        session.answer(
            lambda: {"tasks": [task_json(one) for one in found]},
            lambda: "\n".join(map(task_line, found)) or tell("no_tasks"),
        )


@task.command("erase", short_help="Remove a task for good. 彻底抹除任务。")
@click.argument("task_id", metavar="ID", type=TEXT)
@click.option("--yes", is_flag=True, help="Erase without asking.")
@click.option("--reason", type=TEXT, default="", help="Why; kept in the history.")
@json_option
@pass_session
def erase(session: Session, task_id: str, yes: bool, reason: str) -> int:
    """Remove a task with its steps for good, and what was learned from nothing else.

    彻底抹除一个任务及其步骤，以及只从中学到的内容，无法撤销；其他任务或用户也证实过的记忆会保留，但需重新验证。

    What other tasks or the user speak for, too, stays, and is pending again. To take back only what
    was learned, use `afterwit rollback --task ID`, which can be undone.

    \b
    Examples:
      afterwit task erase 4f1c09ab77d2
      afterwit task erase 4f1c09ab77d2 --yes --reason "用户要求删除"
    """
    with session.memory() as memory:
        found = memory.task(task_id)
        if not yes and not _may_erase(session, found.goal):
            click.echo(tell("nothing_erased"), err=True)
            return 1
        plan = memory.erase_task(found.id, reason=reason)
        session.answer(
            lambda: {
                "task_id": found.id,
                "erased": [row.id for row in plan.retired],
                "weakened": [row.id for row in plan.weakened],
            },
            lambda: _erased_lines(plan),
        )
    return 0


def _may_erase(session: Session, goal: str) -> bool:
    if not session.may_ask():
        raise InvalidInput("Erasing cannot be undone.", next_step="Add --yes if that is meant.")
    return click.confirm(tell("ask_erase_task", goal=goal), err=True)


def _erased_lines(plan: "RollbackPlan") -> str:
    from afterwit.serve.prose import memory_line  # noqa: PLC0415 - brings the text layer along

    lines = [tell("task_erased", count=len(plan.retired))]
    if plan.weakened:
        lines.append(tell("loses_proof", count=len(plan.weakened)))
        lines += [f"  {memory_line(row, now=utc_now(), spoken=language())}" for row in plan.weakened]
    return "\n".join(lines)
