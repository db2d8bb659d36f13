"""The command that agents' clients run at set moments: hook."""

import json
import sys
from contextlib import ExitStack

import click

from afterwit.cli.options import TEXT, json_option
from afterwit.cli.session import Session, pass_session


@click.command("hook", short_help="Answer a client's hook. 响应客户端钩子。")
@click.argument("event", required=False, default="", type=TEXT)
@click.option("--client", type=TEXT, default="", help="claude-code, codex, gemini-cli or qwen-code.")
@click.option("--in-process", is_flag=True, help="Answer from this very process, without the shared daemon.")
@json_option
@pass_session
def hook(session: Session, event: str, client: str, in_process: bool) -> None:
    """Answer a hook of Claude Code, Codex, Gemini CLI or Qwen Code; `afterwit connect` sets them up.

    响应 Claude Code、Codex、Gemini CLI 或 Qwen Code 的钩子；由 afterwit connect 配置。

    The client writes a JSON object to standard input. What is given back is for the agent to read; whatever goes
    wrong is a line in the log, and never stops the agent.

    \b
    Examples:
      echo '{"hook_event_name": "SessionStart", "cwd": "."}' | afterwit hook
      echo '{"prompt": "deploy atlas", "cwd": "."}' | afterwit hook UserPromptSubmit --client claude-code
    """
    from afterwit.serve.hooks import attempt  # noqa: PLC0415 - prose brings the text layer along
    from afterwit.serve.opening import open_for_agents  # noqa: PLC0415

    with ExitStack() as opened:
        hooked = attempt(
            lambda: opened.enter_context(open_for_agents(session.settings)),
            sys.stdin.buffer.read(),
            event=event,
            client=client,
        )
        if hooked.output:
            click.echo(json.dumps(hooked.output, ensure_ascii=False))
            sys.stdout.flush()
        if hooked.later is not None:
            hooked.later()
