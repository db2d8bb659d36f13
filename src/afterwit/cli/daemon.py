"""The commands about the daemon: daemon run, status, stop."""

from typing import Any

import click

from afterwit import door
from afterwit.cli.options import json_option
from afterwit.cli.session import Session, pass_session
from afterwit.cli.words import tell
from afterwit.errors import Sentence, StorageError


@click.group("daemon", short_help="The process that agents' sessions share. 后台进程。")
@json_option
def daemon() -> None:
    """The process that serves every agent's session of one data directory, so that each starts at once.

    为同一数据目录的所有智能体会话服务的后台进程，使每个会话都能立即开始。

    `afterwit mcp` starts it where there is none, and it leaves by itself after 15 minutes without a session
    (AFTERWIT_DAEMON_IDLE_S changes that). `afterwit serve` takes its place as long as it runs, and
    `afterwit mcp --in-process` does without.

    \b
    Examples:
      afterwit daemon status
      afterwit daemon stop
    """


@daemon.command("run", short_help="Be the daemon, in the foreground. 前台运行。")
@json_option
@pass_session
def run(session: Session) -> int:
    """Be the daemon of the data directory until nobody needs it; its log goes to standard error.

    在前台运行后台进程，直到无人使用；日志输出到标准错误。

    \b
    Examples:
      afterwit daemon run
    """
    place = _place(session)
    from afterwit.serve.daemon import run_daemon  # noqa: PLC0415 - only who serves pays for the server

    status = run_daemon(place)
    if status:
        click.echo(tell("daemon_there", place=place.data_dir), err=True)
    return status


@daemon.command("status", short_help="Whether it runs. 查看状态。")
@json_option
@pass_session
def status(session: Session) -> int:
    """Tell whether the daemon runs, and whether it is `afterwit serve`; the exit status is 1 where none runs.

    查看后台进程是否在运行，以及是否为 afterwit serve；未运行时退出码为 1。

    \b
    Examples:
      afterwit daemon status --json
    """
    answer = _ask(session, "status")
    values: dict[str, Any] = {"running": bool(answer)} | (answer or {})
    values.pop("ok", None)

    def prose() -> str:
        if answer is None:
            return tell("daemon_away")
        word = "serve_runs" if answer.get("kind") == "serve" else "daemon_runs"
        known = {name: answer.get(name, "?") for name in ("pid", "version", "visitors", "url")}
        return tell(word, **known)

    session.answer(lambda: values, prose)
    return 0 if answer else 1


@daemon.command("stop", short_help="Let it end. 停止。")
@json_option
@pass_session
def stop(session: Session) -> None:
    """Let the daemon end when its last session has; new sessions get another one. `afterwit serve` ends at once.

    让后台进程在最后一个会话结束后退出；新的会话会另起一个。afterwit serve 会立即结束。

    \b
    Examples:
      afterwit daemon stop
    """
    answer = _ask(session, "stop")
    session.answer(
        lambda: {"stopped": answer is not None},
        lambda: tell(
            "daemon_away" if answer is None else "serve_ends" if answer.get("kind") == "serve" else "daemon_leaves"
        ),
    )


def _place(session: Session) -> door.Place:
    try:
        return door.place_of(str(session.settings.data_dir))
    except door.NoDaemon as error:
        raise StorageError(
            Sentence("The daemon cannot run here: {problem}.", problem=error),
            next_step="Choose another --data-dir, or check your rights there.",
        ) from error


def _ask(session: Session, want: str) -> dict[str, Any] | None:
    """The daemon's answer, None when there is none."""
    call = door.Call(want, options=dict(session.overrides))
    try:
        connection, answer = door.knock(_place(session), call.wants())
    except door.NoDaemon:
        return None
    connection.close()
    return answer
