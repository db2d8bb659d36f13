"""The group of all commands, and what becomes of their errors."""

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from afterwit import __version__
from afterwit.cli.connect import connect, connections, disconnect
from afterwit.cli.connecting import initialize, mcp, serve
from afterwit.cli.daemon import daemon
from afterwit.cli.documents import import_docs
from afterwit.cli.hooks import hook
from afterwit.cli.learning import learn
from afterwit.cli.moving import export, import_, reindex
from afterwit.cli.naming import entity
from afterwit.cli.options import place_options
from afterwit.cli.reading import history, list_, search, show, summarize
from afterwit.cli.reviewing import review, rollback
from afterwit.cli.session import say_json
from afterwit.cli.tasks import task
from afterwit.cli.tending import clean, doctor, health, intents
from afterwit.cli.usage import unknown_command, usage_error
from afterwit.cli.wording import worded
from afterwit.cli.words import tell
from afterwit.cli.writing import forget, update, write
from afterwit.errors import AfterwitError, Sentence, StorageError
from afterwit.serve.wire import answer_of, error_json

#: Exit status after Ctrl-C: 128 + SIGINT, as shells expect.
INTERRUPTED = 130

COMMANDS: tuple[click.Command, ...] = (
    initialize,
    connect,
    disconnect,
    connections,
    write,
    search,
    show,
    list_,
    history,
    update,
    forget,
    summarize,
    task,
    review,
    rollback,
    entity,
    export,
    import_,
    import_docs,
    learn,
    serve,
    mcp,
    daemon,
    hook,
    intents,
    health,
    clean,
    doctor,
    reindex,
)


class Root(click.Group):
    """Runs a command and turns whatever goes wrong into one clear answer and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order in which one meets them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; where there is none, what to use instead is said if it is known."""
        if args and self.get_command(ctx, args[0]) is None and (answer := unknown_command(args[0], self)):
            raise answer
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run and exit."""
        arguments = list(sys.argv[1:] if args is None else args)
        _survive_any_terminal()
        extra.pop("standalone_mode", None)
        try:
            result = super().main(arguments or ["--help"], prog_name or "afterwit", standalone_mode=False, **extra)
            sys.stdout.flush()
            status = result if isinstance(result, int) else 0
        except (KeyboardInterrupt, click.Abort):
            click.echo(tell("interrupted"), err=True)
            status = INTERRUPTED
        except BrokenPipeError:
            status = 1  # the reader left, as `head` does
        except Exception as error:  # noqa: BLE001 - people get a sentence, not a traceback
            status = report(error, as_json="--json" in arguments)
        _give_up_output()
        sys.exit(status)


def _give_up_output() -> None:
    """What cannot be written now must not be tried, and complained about, by the interpreter's own last flush."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong and what to do.

    Returns:
        The exit status for it.
    """
    known = _known(error)
    if known is not error and not isinstance(error, click.ClickException) and _is_debugging():
        traceback.print_exception(error)
    if as_json:
        with suppress(OSError):
            say_json(error_json(known, said=lambda text: worded(text, "en")))
            return answer_of(known).exit
    click.echo(tell("error", message=worded(known.message)), err=True)
    if known.next_step:
        click.echo(tell("next_step", next_step=worded(known.next_step)), err=True)
    return answer_of(known).exit


def _known(error: Exception) -> AfterwitError:
    match error:
        case AfterwitError():
            return error
        case click.ClickException():
            return usage_error(error)
        case OSError():
            return StorageError(
                Sentence("The system refused: {problem}.", problem=error),
                next_step="Check the disk and its free space.",
            )
        case _:
            return AfterwitError(
                f"Internal error: {type(error).__name__}.",
                next_step="Run again with AFTERWIT_LOG_LEVEL=DEBUG to see where, and report it.",
            )


def _is_debugging() -> bool:
    return os.environ.get("AFTERWIT_LOG_LEVEL") == "DEBUG" or logging.getLogger().isEnabledFor(logging.DEBUG)


def _survive_any_terminal() -> None:
    """Characters that the terminal cannot show become "?" rather than an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


@click.group("afterwit", cls=Root, context_settings={"help_option_names": ["-h", "--help"]})
@place_options(hidden=False)
@click.version_option(__version__, prog_name="afterwit")
def cli() -> None:
    """Long-term memory for LLM agents: turns what has happened into what to do next time.

    智能体的长期记忆：把发生过的事变成下次该怎么做。

    \b
    Start:
      afterwit init
      afterwit write "The user prefers concise answers."
      afterwit search "how long should my answer be"
      afterwit search "用户喜欢什么样的回答"

    Exit status: 0 done (a refused write and an empty search are answers, too), 1 internal error
    or a failed check, 2 wrong input, 3 not allowed, 4 no such memory, 5 conflict, 6 slow down,
    7 embedder failed, 8 database failed, 9 wrong setting, 130 interrupted.
    """


for _command in COMMANDS:
    cli.add_command(_command)


def main() -> NoReturn:
    """Entry point of the `afterwit` command."""
    cli.main()
