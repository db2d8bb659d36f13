"""The commands about agents' clients: connect, disconnect, connections."""

import click

from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session

_SCOPE = click.option(
    "--project/--user",
    "for_project",
    default=False,
    help="For the project in this directory alone, or for all of yours (default).",
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.command("connect", short_help="Connect an agent's client. 接入智能体。")
@click.argument("client", type=TEXT)
@_SCOPE
@click.option("--hooks/--no-hooks", "hooks", default=True, help="Also what lets memory act by itself, where there is.")
@click.option("--url", type=TEXT, metavar="URL", help="Use the server at this address instead of starting one.")
@_DRY_RUN
@click.option("--print", "prints", is_flag=True, help="Print what is to be in which file, and change nothing.")
@json_option
@pass_session
def connect(
    session: Session, client: str, for_project: bool, hooks: bool, url: str | None, dry_run: bool, prints: bool
) -> None:
    """Write the configuration that lets CLIENT use this memory, with absolute paths.

    写入让 CLIENT 使用此记忆库的配置（使用绝对路径）。原有内容和注释保持不变，改动前自动备份；重复运行不会再改。

    CLIENT is claude-code, claude-desktop, codex, cursor, vscode, windsurf, gemini-cli, qwen-code, opencode, zed, cline,
    roo, continue, trae, trae-cn, qoder, qoder-ide, codebuddy or dify. Everything else in its files stays as it is,
    comments included; a copy is made first. A file that cannot be read is not touched.

    \b
    Examples:
      afterwit connect claude-code
      afterwit connect codex --dry-run
      afterwit connect vscode --project
      afterwit --space work connect cursor
      afterwit connect windsurf --url http://127.0.0.1:8765/mcp
    """
    from afterwit.cli.clients import answering  # noqa: PLC0415 - `--help` needs no client

    asked = answering.Asked(client, for_project, hooks=hooks, url=url, dry_run=dry_run)
    if prints:
        answering.print_files(session, asked)
    else:
        answering.connect(session, asked)


@click.command("disconnect", short_help="Take a client's connection back. 断开接入。")
@click.argument("client", type=TEXT)
@_SCOPE
@_DRY_RUN
@json_option
@pass_session
def disconnect(session: Session, client: str, for_project: bool, dry_run: bool) -> None:
    """Take Afterwit's entries out of CLIENT's configuration, and nothing else; memories stay.

    从 CLIENT 的配置中移除 Afterwit 的条目，其他内容不动；记忆不受影响。

    \b
    Examples:
      afterwit disconnect cursor
      afterwit disconnect claude-code --dry-run
    """
    from afterwit.cli.clients import answering  # noqa: PLC0415 - `--help` needs no client

    answering.disconnect(session, answering.Asked(client, for_project, dry_run=dry_run))


@click.command("connections", short_help="Which clients are connected, and whether it works. 接入状态。")
@click.option("--check/--no-check", "asks", default=True, help="Start each configured server and ask for its tools.")
@json_option
@pass_session
def connections(session: Session, asks: bool) -> int:
    """Tell of every client whether it is installed, connected, and answered; exit status 1 if one does not work.

    查看各客户端是否已安装、已接入，并实际启动所配置的服务检查是否可用；有异常时退出码为 1。

    \b
    Examples:
      afterwit connections
      afterwit connections --no-check --json
    """
    from afterwit.cli.clients import answering  # noqa: PLC0415 - `--help` needs no client

    return answering.connections(session, asks=asks)
