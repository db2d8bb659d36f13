"""How an agent's client starts the server, and our hooks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afterwit.cli.clients.machine import Machine


@dataclass(frozen=True)
class Launch:
    """How an agent's client starts the server."""

    command: str
    #: behind the interpreter and up to the command: `-m afterwit --space work`
    start: tuple[str, ...]
    variables: Mapping[str, str]

    @property
    def arguments(self) -> list[str]:
        """All arguments of the server's command."""
        return [*self.start, "mcp"]

    def hook(self, event: str, client: str, machine: "Machine") -> str:
        """The command line that tells of an event."""
        words = [self.command, *self.start, "hook", event, "--client", client]
        return machine.command_line(words, self.variables)
