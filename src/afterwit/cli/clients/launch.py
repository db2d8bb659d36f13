"""How an agent's client starts the server, and our hooks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afterwit.cli.clients.machine import Machine


#: Starts the file that stands behind it without what an interpreter usually looks for at its start. That is a third
#: of what a hook takes. Where the file is gone, nothing happens: a client takes other ends of a hook than a good one
#: for a reason to stop its agent.
_QUICKLY = (
    "import os, sys; main = sys.argv.pop(1); os.path.exists(main) or sys.exit(); "
    "sys.path.insert(0, os.path.dirname(os.path.dirname(main))); from afterwit.__main__ import main; main()"
)


@dataclass(frozen=True)
class Launch:
    """How an agent's client starts the server."""

    command: str
    #: behind the interpreter and up to the command: `-m afterwit --space work`
    start: tuple[str, ...]
    variables: Mapping[str, str]
    #: absolute path of `afterwit/__main__.py`; "" where there is no such file
    main: str = ""

    @property
    def arguments(self) -> list[str]:
        """All arguments of the server's command."""
        return [*self.start, "mcp"]

    def hook(self, event: str, client: str, machine: "Machine") -> str:
        """The command line that tells of an event."""
        start = self.start
        if self.main and start[:2] == ("-m", "afterwit"):
            start = ("-I", "-S", "-c", _QUICKLY, self.main, *start[2:])
        words = [self.command, *start, "hook", event, "--client", client]
        return machine.command_line(words, self.variables)
