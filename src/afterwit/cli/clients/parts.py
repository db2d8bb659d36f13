"""What Afterwit has in a client's files: one server, and hooks. Each can be read, added and taken out alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, cast

from afterwit.cli.clients import jsonc, toml
from afterwit.cli.clients.keys import MISSING, Keys, NotReadable, look_up
from afterwit.cli.clients.launch import Launch
from afterwit.cli.clients.machine import Machine
from afterwit.cli.clients.table import Client, Hooks

#: Name of the server in every client.
SERVER = "afterwit"

#: Where a client keeps what counts for a user, or for one project.
Scope = Literal["user", "project"]

Values = dict[str, Any]

#: Keys of an entry that say how the server is reached; whichever is there, the others must not be.
_ADDRESSES = frozenset({"url", "httpUrl", "serverUrl"})


class Taken(Exception):
    """There is something of our name that cannot be changed for ours; the message says what."""


def entry_of(client: Client, launch: Launch | str) -> Values:
    """A server as the client writes it.

    Args:
        client: of the table.
        launch: how it is started, or the address where it is served.
    """
    if isinstance(launch, str):
        return ({"type": client.address_type} if client.address_type else {}) | {client.address: launch}
    variables = dict(launch.variables)
    match client.style:
        case "list":
            entry: Values = {"type": "local", "command": [launch.command, *launch.arguments]}
            return entry | ({"environment": variables} if variables else {})
        case "typed":
            entry = {"type": "stdio", "command": launch.command, "args": launch.arguments}
        case "plain":
            entry = {"command": launch.command, "args": launch.arguments}
    return entry | ({"env": variables} if variables else {})


@dataclass(frozen=True)
class Server:
    """The server in a client's file."""

    client: Client

    @property
    def _format(self) -> ModuleType:
        return toml if self.client.form == "toml" else jsonc

    def place(self, values: Any) -> Keys:
        """Keys of the server; opencode 2 has one level more."""
        container = self.client.container
        if self.client.style == "list":
            servers = look_up(values, (*container, "servers"))
            if isinstance(servers, dict) and "command" not in servers and "url" not in servers:
                container = (*container, "servers")
        return (*container, SERVER)

    def read(self, text: str) -> Values | None:
        """The server as it is written, None where there is none.

        Raises:
            NotReadable: the text is not in its format.
        """
        values = self._format.load(text)
        found = look_up(values, self.place(values))
        return cast("Values", found) if isinstance(found, dict) else None

    def add(self, text: str, entry: Values) -> str:
        """The text with the server; what else the user wrote into it stays.

        Raises:
            NotReadable: the text is not in its format.
            Taken: the place is taken by something else.
        """
        values = self._format.load(text)
        place = self.place(values)
        found = look_up(values, place)
        try:
            if found is MISSING:
                after = self._format.put(text, place, entry)
            elif isinstance(found, dict):
                after = self._overlay(text, place, cast("Values", found), entry)
            else:
                raise TypeError(".".join(map(str, place)))
        except TypeError as error:
            raise Taken(f"{error} is written in a form that cannot be changed by itself") from None
        return self._sure(text, after)

    def _overlay(self, text: str, place: Keys, found: Values, entry: Values) -> str:
        address = _ADDRESSES & found.keys()
        if address != _ADDRESSES & entry.keys() or ("command" in found and "command" not in entry):
            raise Taken(f"{SERVER} is connected {'by address' if address else 'by command'} there")
        for key, value in entry.items():
            inner = found.get(key, MISSING)
            if isinstance(value, dict) and isinstance(inner, dict):
                for name, part in cast("Values", value).items():
                    if look_up(inner, (name,)) != part:
                        text = self._format.put(text, (*place, key, name), part)
            elif inner != value:
                text = self._format.put(text, (*place, key), value)
        return text

    def drop(self, text: str) -> str:
        """The text without the server, and without what is empty for it.

        Raises:
            NotReadable: the text is not in its format.
            Taken: it is written in a form that cannot be taken out.
        """
        values = self._format.load(text)
        place = self.place(values)
        if look_up(values, place) is MISSING:
            return text
        before = text
        try:
            text = self._format.remove(text, place)
        except TypeError as error:
            raise Taken(f"{error} is written in a form that cannot be taken out by itself") from None
        after = _without_empty(text, place[:-1]) if self._format is jsonc else text
        return self._sure(before, after)

    def _sure(self, before: str, after: str) -> str:
        """The text after an edit, if it says the same as before but for the server.

        Raises:
            Taken: it does not; a table can stand where none may be added, for one.
        """
        try:
            same = self._rest(before) == self._rest(after)
        except NotReadable:
            same = False
        if not same:
            raise Taken(f"{SERVER} cannot be added or taken out without touching something else")
        return after

    def _rest(self, text: str) -> Values:
        """All values but the server, and but what is empty without it."""
        values: Values = self._format.load(text)
        place = [str(key) for key in self.place(values)]
        way = [values]
        for key in place[:-1]:
            inner = way[-1].get(key)
            if not isinstance(inner, dict):
                break
            way.append(cast("Values", inner))
        for inner, key in reversed(list(zip(way, place, strict=False))):
            if key == SERVER or inner.get(key) == {}:
                inner.pop(key, None)
        return values


def _without_empty(text: str, keys: Keys) -> str:
    """The text without the object or array at `keys`, and those around it, as far as they are empty."""
    while keys and look_up(jsonc.load(text), keys) in ({}, []):
        text = jsonc.remove(text, keys)
        keys = keys[:-1]
    return text


# --- hooks ---------------------------------------------------------------------------------------

#: A command line that is one of our hooks, by whichever Python and of whichever version.
_OURS = re.compile(r"\bafterwit\b.*\shook\s+[\w-]+\s+--client\s")


@dataclass(frozen=True)
class HookSet:
    """Our hooks in a client's file."""

    hooks: Hooks
    client: str

    def wanted(self, launch: Launch, machine: Machine) -> dict[str, Values]:
        """Event -> its group."""
        groups: dict[str, Values] = {}
        for event in self.hooks.events:
            command = launch.hook(event.word, self.client, machine)
            hook: Values = {"name": SERVER} if self.hooks.named else {}
            hook |= {"type": "command", "command": command, "timeout": event.timeout_s * self.hooks.units}
            groups[event.name] = ({"matcher": event.matcher} if event.matcher else {}) | {"hooks": [hook]}
        return groups

    def read(self, text: str) -> dict[str, list[str]]:
        """Event -> command lines of ours.

        Raises:
            NotReadable: the text is not in its format.
        """
        found: dict[str, list[str]] = {}
        for place, command in _hooks_in(jsonc.load(text)):
            if _OURS.search(command):
                found.setdefault(str(place[1]), []).append(command)
        return found

    def add(self, text: str, groups: Mapping[str, Values]) -> str:
        """The text with our hooks, those of another Python or version replaced.

        Raises:
            NotReadable: the text is not in its format.
            Taken: something else is where hooks are.
        """
        commands = {event: [group["hooks"][0]["command"]] for event, group in groups.items()}
        found = self.read(text)
        if found == commands:
            return text
        text = self.drop(text, keep=commands)
        for event, group in groups.items():
            if self.read(text).get(event) != commands[event]:
                try:
                    text = jsonc.append(text, ("hooks", event), group)
                except TypeError as error:
                    raise Taken(f"{error} is no list of hooks") from None
        return text

    def drop(self, text: str, keep: Mapping[str, list[str]] | None = None) -> str:
        """The text without our hooks, and without what is empty for it.

        Args:
            text: of the file.
            keep: event -> the command line that may stay.

        Raises:
            NotReadable: the text is not in its format.
        """
        gone = [
            place
            for place, command in _hooks_in(jsonc.load(text))
            if _OURS.search(command) and [command] != (keep or {}).get(str(place[1]))
        ]
        for place in reversed(gone):
            text = jsonc.remove(text, place)
            group = place[:3]
            if look_up(jsonc.load(text), (*group, "hooks")) == []:
                text = jsonc.remove(text, group)
                text = _without_empty(text, place[:2])
        return text


def _hooks_in(values: Values) -> list[tuple[Keys, str]]:
    """Where each hook stands (`hooks.EVENT[group].hooks[n]`), with its command line, in order."""
    found: list[tuple[Keys, str]] = []
    for event, groups in _items(values.get("hooks")):
        for number, group in enumerate(_list(groups)):
            for place, hook in enumerate(_list(look_up(group, ("hooks",)))):
                command = look_up(hook, ("command",))
                if isinstance(command, str):
                    found.append((("hooks", event, number, "hooks", place), command))
    return found


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(cast("Values", value).items()) if isinstance(value, dict) else []


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
