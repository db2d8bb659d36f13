"""Commands that set memory up and open it to agents: init, serve, mcp."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

import afterwit
from afterwit.cli.clients.launch import Launch
from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import tell
from afterwit.config import SETTINGS, Settings


@click.command("init", short_help="Set up memory and show how to connect an agent. 初始化。")
@json_option
@pass_session
def initialize(session: Session) -> None:
    """Make the data directory and the database, and show how to connect an agent.

    创建数据目录和数据库，并给出接入智能体的配置；重复运行是安全的。

    \b
    Examples:
      afterwit init
      afterwit --data-dir ~/work-memory init
    """
    settings = session.settings
    database = database_file(settings)
    was_there = database is not None and database.exists()
    with session.memory() as memory:
        place = str(database or memory.store.url)
    values = {"database": place, "created": not was_there} | connections(settings)
    session.answer(lambda: values, lambda: _init_prose(values))


def database_file(settings: Settings) -> Path | None:
    """The file that holds the memories; None when they are not kept in one file."""
    prefix = "sqlite:///"
    name = settings.store.removeprefix(prefix)
    return Path(name).expanduser().absolute() if settings.store.startswith(prefix) and name else None


def launch_of(settings: Settings) -> Launch:
    """How agents start the server.

    The command is absolute and names whatever is not the default, for agents start it from other
    directories and with an environment of their own.
    """
    options: list[str] = []
    if settings.data_dir != Path.home() / ".afterwit":
        options += ["--data-dir", str(settings.data_dir.absolute())]
    if settings.space != next(setting.default for setting in SETTINGS if setting.name == "space"):
        options += ["--space", settings.space]
    main = Path(afterwit.__file__).with_name("__main__.py").absolute()
    return Launch(sys.executable, ("-m", "afterwit", *options), _variables(), main=str(main) if main.exists() else "")


def connections(settings: Settings) -> dict[str, Any]:
    """The command that starts the server, and the same in the forms that agents read."""
    launch = launch_of(settings)
    command, arguments, variables = launch.command, launch.arguments, launch.variables
    given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    codex = {"command": _toml(command), "args": _toml(arguments)}
    if variables:
        codex["env"] = "{ " + ", ".join(f"{name} = {_toml(value)}" for name, value in variables.items()) + " }"
    server = {"command": command, "args": arguments} | ({"env": variables} if variables else {})
    return {
        "mcp": server,
        "claude_code": shlex.join(
            ["claude", "mcp", "add", *given, "--scope", "user", "afterwit", "--", command, *arguments]
        ),
        "codex": "\n".join(["[mcp_servers.afterwit]", *(f"{name} = {value}" for name, value in codex.items())]),
        "json": {"mcpServers": {"afterwit": server}},
    }


def _variables() -> dict[str, str]:
    """Settings of this environment that decide what is stored where; an agent must have the same."""
    names = (f"AFTERWIT_{setting.name.upper()}" for setting in SETTINGS if setting.name not in _NOT_PASSED_ON)
    return {name: value for name in names if (value := os.environ.get(name))}


#: Passed on as options, or of no concern to an agent's server.
_NOT_PASSED_ON = frozenset({"data_dir", "space", "host", "port", "log_level"})


def _toml(value: str | list[str]) -> str:
    """A text or list of texts as TOML, which writes these as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def _init_prose(values: dict[str, Any]) -> str:
    parts = [
        tell("ready" if values["created"] else "was_ready", place=values["database"]),
        "",
        tell("connect"),
        "  afterwit connect claude-code",
        "  afterwit connect codex",
        "",
        tell("connect_by_hand"),
        "",
        "Claude Code:",
        f"  {values['claude_code']}",
        "",
        "Codex (~/.codex/config.toml):",
        *(f"  {line}" for line in values["codex"].splitlines()),
        "",
        "JSON (.mcp.json, Cursor, Gemini CLI):",
        *(f"  {line}" for line in json.dumps(values["json"], indent=2, ensure_ascii=False).splitlines()),
        "",
        tell("try"),
        '  afterwit write "The user prefers concise answers."',
        '  afterwit search "how long should my answer be"',
    ]
    return "\n".join(parts)


@click.command("serve", short_help="Serve MCP over HTTP. 启动 HTTP 服务。")
@click.option("--host", type=TEXT, help="Address to listen on; default 127.0.0.1.")
@click.option("--port", type=int, help="Port to listen on; default 8765.")
@json_option
@pass_session
def serve(session: Session, host: str | None, port: int | None) -> None:
    """Serve memory to agents over streamable HTTP, until interrupted.

    通过 HTTP 向智能体提供记忆服务（MCP），按 Ctrl-C 结束。

    It is the daemon of the data directory, too: while it runs, `afterwit mcp` and hooks are served by the same
    process. A daemon in the background gives way to it.

    \b
    Examples:
      afterwit serve
      afterwit serve --port 9000
    """
    if host is not None:
        session.overrides["host"] = host
    if port is not None:
        session.overrides["port"] = str(port)
    settings = session.settings
    from afterwit.serve.http import run_http  # noqa: PLC0415 - only who serves pays for the server

    run_http(settings, host=settings.host, port=settings.port)


@click.command("mcp", short_help="Serve MCP on standard input and output. 启动 MCP 服务。")
@click.option("--in-process", is_flag=True, help="Serve from this very process, without the shared daemon.")
@json_option
@pass_session
def mcp(session: Session, in_process: bool) -> None:
    """Serve memory to one agent over standard input and output; agents start this themselves.

    通过标准输入输出提供 MCP 服务；由智能体自行启动，配置见 afterwit init。

    One daemon per data directory serves all sessions, so that each of them starts at once; it comes and goes by
    itself, see `afterwit daemon`.

    \b
    Examples:
      afterwit init                 # shows the configuration that runs this
      afterwit --space work mcp
    """
    settings = session.settings
    from afterwit.serve.mcp import run_stdio  # noqa: PLC0415 - only who serves pays for the server

    run_stdio(settings)
