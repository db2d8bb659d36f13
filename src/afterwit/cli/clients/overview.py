"""How each client stands: installed, connected, and whether that works."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from afterwit.cli.clients import files
from afterwit.cli.clients.health import Health, Reached, check
from afterwit.cli.clients.keys import NotReadable
from afterwit.cli.clients.launch import Launch
from afterwit.cli.clients.machine import Machine
from afterwit.cli.clients.parts import HookSet, Scope, Server, entry_of
from afterwit.cli.clients.plan import hooks_file, server_file
from afterwit.cli.clients.table import CLIENTS, Client
from afterwit.errors import AfterwitError

State = Literal["connected", "other", "absent", "unreadable"]


@dataclass(frozen=True)
class Standing:
    """One file of one client."""

    client: Client
    scope: Scope
    path: Path
    #: the client seems to be installed
    found: bool
    #: "other": connected with another command than this one would be
    state: State
    #: events with a hook of ours
    hooks: tuple[str, ...] = ()
    #: how the server is reached
    reached: Reached | None = None
    command_exists: bool = True
    #: None = it was not asked
    health: Health | None = None
    problem: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong with it; what is not connected is not wrong."""
        asked = self.health is None or self.health.ok
        return self.state != "unreadable" and self.command_exists and asked


def standings(machine: Machine, launch: Launch, *, asks: bool) -> list[Standing]:
    """Every client's user file, and the project's files that have a server of ours.

    Args:
        machine: where to look.
        launch: how a client would be connected now.
        asks: whether the configured servers are started and asked; the same one only once.
    """
    answers: dict[Reached, Health] = {}
    found: list[Standing] = []
    seen: set[Path] = set()
    for scope in ("user", "project"):
        for client in CLIENTS:
            path = server_file(client, scope, machine)
            if path is None:
                continue
            standing = _standing(client, scope, path, machine, launch)
            if scope == "project" and (standing.state == "absent" or path in seen):
                continue
            seen.add(path)
            found.append(_asked(standing, machine, answers) if asks else standing)
    return found


def is_found(client: Client, machine: Machine) -> bool:
    """Whether a client seems to be installed."""
    places = (machine.place(form) for form in client.places)
    return any(machine.has(program) for program in client.programs) or any(
        place is not None and place.exists() for place in places
    )


def _standing(client: Client, scope: Scope, path: Path, machine: Machine, launch: Launch) -> Standing:
    found = is_found(client, machine)
    try:
        entry = Server(client).read(_text(path))
        hooks = _hooks(client, scope, machine)
    except NotReadable as error:
        return Standing(client, scope, path, found, "unreadable", problem=f"line {error.line}: {error.what}")
    except AfterwitError as error:
        return Standing(client, scope, path, found, "unreadable", problem=error.message)
    if entry is None:
        return Standing(client, scope, path, found, "absent", hooks)
    reached = Reached.of(entry)
    same = bool(reached.address) or _has(entry, entry_of(client, launch))
    state: State = "connected" if same else "other"
    return Standing(client, scope, path, found, state, hooks, reached, command_exists=reached.command_exists(machine))


def _text(path: Path) -> str:
    return (files.read(path) or b"").decode("utf-8")


def _hooks(client: Client, scope: Scope, machine: Machine) -> tuple[str, ...]:
    path = hooks_file(client, scope, machine)
    if path is None or client.hooks is None:
        return ()
    return tuple(HookSet(client.hooks, client.name).read(_text(path)))


def _has(entry: Any, wanted: Any) -> bool:
    """Whether an entry says what is wanted; what else it says does not matter."""
    if isinstance(wanted, Mapping) and isinstance(entry, Mapping):
        given = cast("Mapping[str, Any]", entry)
        return all(
            _has(given.get(key), value) for key, value in cast("Mapping[str, Any]", wanted).items() if key != "type"
        )
    return entry == wanted


def _asked(standing: Standing, machine: Machine, answers: dict[Reached, Health]) -> Standing:
    if standing.reached is None or not standing.command_exists:
        return standing
    if standing.reached not in answers:
        answers[standing.reached] = check(standing.reached, machine)
    return replace(standing, health=answers[standing.reached])
