"""Commands that look and change nothing: search, show, list, history, summarize."""

from typing import TYPE_CHECKING, Any

import click

from afterwit.cli.options import TEXT, given, json_option, key_options, read_text
from afterwit.cli.session import Session, pass_session
from afterwit.clock import utc_now
from afterwit.errors import InvalidInput
from afterwit.serve.wire import digest_json, memory_json, search_json, story_json

if TYPE_CHECKING:
    from afterwit.service import Version


@click.command("search", short_help="Find the few memories that matter. 检索记忆。")
@click.argument("query", nargs=-1, type=TEXT)
@click.option("-k", "--top-k", type=int, metavar="N", help="At most this many results, 1 to 50; default 5.")
@key_options
@click.option("--task-context", type=TEXT, help="What is being worked on; counts beside the query.")
@click.option("--constraint", "constraints", type=TEXT, multiple=True, help="Something already settled; repeatable.")
@click.option("--purpose", type=TEXT, help='"answer", or "action": only what is confirmed or user-stated.')
@click.option("--budget", "budget_tokens", type=int, metavar="TOKENS", help="Most tokens of all results.")
@click.option("--explain", is_flag=True, help="Say why each result is there.")
@click.option(
    "--exhaustive", is_flag=True, help="Rank everything, also what is not relevant: no cut, no token budget; up to -k."
)
@json_option
@pass_session
def search(session: Session, query: tuple[str, ...], explain: bool, **options: Any) -> None:
    """Find the few memories that matter for a question, or say that there is none.

    检索与问题真正相关的少数记忆；没有就明说没有。QUERY 为 - 时从标准输入读取。

    Only the global scope is searched unless --scope names others. Times are dates (2025-03-01)
    or RFC 3339 with a zone (2025-03-01T09:00:00+08:00).

    \b
    Examples:
      afterwit search "which package manager does this repo use" --scope project:atlas
      afterwit search "用户住在哪里" --as-of 2025-02-01
      afterwit search "deploy" --kind lesson --kind failure -k 3 --explain
    """
    if not query:
        raise InvalidInput("There is nothing to search for.", next_step='Give a question, or "-" to read one.')
    text = read_text(query, "query")
    with session.memory(embeds=True) as memory:
        answer = memory.search(text, **given(options))
        now = utc_now()

        def prose() -> str:
            from afterwit.cli.prose import search_lines  # noqa: PLC0415 - brings the text layer along

            return search_lines(answer, query=text, now=now, explain=explain)

        session.answer(lambda: search_json(answer, now=now, explain=explain), prose)


@click.command("show", short_help="One memory's whole story. 查看一条记忆的来龙去脉。")
@click.argument("memory_id", metavar="ID", type=TEXT)
@json_option
@pass_session
def show(session: Session, memory_id: str) -> None:
    """Show one memory's whole story: source words, versions, history, links, uses.

    查看一条记忆的来龙去脉：原文、版本、变更记录、关联与使用情况。

    ID is a whole id or the last 8 or more characters of it.

    \b
    Examples:
      afterwit show 4f1c09ab77d2
      afterwit show 4f1c09ab77d2 --json
    """
    with session.memory() as memory:
        story = memory.explain(memory_id)
        now = utc_now()

        def prose() -> str:
            from afterwit.serve.prose import story_text  # noqa: PLC0415 - brings the text layer along

            return story_text(story, now=now, fence=False)

        session.answer(lambda: story_json(story, now=now), prose)


@click.command("list", short_help="List memories, newest first. 列出记忆。")
@key_options
@click.option("--all", "all_states", is_flag=True, help="Also superseded, expired, quarantined and forgotten ones.")
@click.option("--limit", type=int, default=50, show_default=True, help="At most this many, 1 to 1000.")
@click.option("--offset", type=int, default=0, show_default=True, help="Leave out this many.")
@json_option
@pass_session
def list_(session: Session, all_states: bool, limit: int, offset: int, **keys: Any) -> None:
    """List memories, newest first, by keys alone.

    按条件列出记忆，最新的在前；默认列出所有范围内当前有效的记忆。

    \b
    Examples:
      afterwit list --kind preference
      afterwit list --subject 张三 --all
      afterwit list --scope project:atlas --since 2025-01-01 --limit 10
    """
    with session.memory() as memory:
        memories = memory.list(all_states=all_states, limit=limit, offset=offset, **given(keys))
        total = memory.count(all_states=all_states, **given(keys))
        now = utc_now()

        def prose() -> str:
            from afterwit.cli.prose import list_lines  # noqa: PLC0415 - brings the text layer along

            return list_lines(memories, total=total, now=now)

        session.answer(lambda: {"memories": [memory_json(row, now=now) for row in memories], "total": total}, prose)


@click.command("history", short_help="How something changed over time. 查看变更历史。")
@click.argument("memory_id", metavar="ID", type=TEXT)
@json_option
@pass_session
def history(session: Session, memory_id: str) -> None:
    """Show how something changed: earlier and later values of a memory, oldest first.

    查看一件事先后的说法，最早的在前。

    ID is a whole id or the last 8 or more characters of any of the versions.

    \b
    Examples:
      afterwit history 4f1c09ab77d2
      afterwit history 4f1c09ab77d2 --json
    """
    with session.memory() as memory:
        versions = memory.history(memory_id)

        def prose() -> str:
            from afterwit.cli.prose import history_lines  # noqa: PLC0415 - brings the text layer along

            return history_lines(versions)

        session.answer(lambda: {"versions": [_version_json(version) for version in versions]}, prose)


def _version_json(version: "Version") -> dict[str, Any]:
    return {"line": version.line} | memory_json(version.memory, now=utc_now())


@click.command("summarize", short_help="A digest that cites ids. 总结记忆。")
@click.option("--scope", type=TEXT, help="One scope, with the global one; default: all.")
@click.option("--topic", type=TEXT, help="One topic; default: all.")
@click.option("--since", type=TEXT, metavar="TIME", help="Only what happened from then on.")
@click.option("--budget", "budget_tokens", type=int, metavar="TOKENS", help="Most tokens, 20 to 20000; default 400.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the headings.")
@json_option
@pass_session
def summarize(session: Session, **options: Any) -> None:
    """Digest what is remembered within a token budget, citing ids.

    在给定的篇幅内总结已有记忆，并标出各条的编号。

    \b
    Examples:
      afterwit summarize --scope project:atlas
      afterwit summarize --topic 饮食 --language zh --budget 200
    """
    with session.memory() as memory:
        digest = memory.summarize(**given(options))

        def prose() -> str:
            from afterwit.serve.prose import digest_text  # noqa: PLC0415 - brings the text layer along

            return digest_text(digest, fence=False)

        session.answer(lambda: digest_json(digest), prose)
