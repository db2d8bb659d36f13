"""What connecting and disconnecting change in a client's files, worked out before anything is written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from afterwit.cli.clients import files
from afterwit.cli.clients.files import Change
from afterwit.cli.clients.keys import NotReadable
from afterwit.cli.clients.launch import Launch
from afterwit.cli.clients.machine import Machine
from afterwit.cli.clients.parts import HookSet, Scope, Server, Taken, entry_of
from afterwit.cli.clients.table import Client
from afterwit.errors import Conflict, InvalidInput

#: Makes a file's new text from its old one.
Edit = Callable[[str], str]


@dataclass(frozen=True)
class Wish:
    """What a client is to have."""

    client: Client
    scope: Scope
    machine: Machine
    #: how it starts the server, or the address where that is served
    launch: Launch | str
    #: whether with hooks
    hooks: bool

    @property
    def has_hooks(self) -> bool:
        """Whether hooks are wanted and possible: a server elsewhere knows nothing of this machine's sessions."""
        return self.hooks and self.client.hooks is not None and isinstance(self.launch, Launch)


def server_file(client: Client, scope: Scope, machine: Machine) -> Path | None:
    """The file that names the client's servers; None where it has none."""
    if scope == "project":
        return machine.place(client.project) if client.project else None
    return machine.choose(client.user) if client.user else None


def hooks_file(client: Client, scope: Scope, machine: Machine) -> Path | None:
    """The file that holds the client's hooks; None where it has none."""
    if client.hooks is None:
        return None
    return machine.place(client.hooks.project) if scope == "project" else machine.choose(client.hooks.user)


def connecting(wish: Wish) -> list[Change]:
    """What makes the wish come true; changes that change nothing are among them.

    Raises:
        InvalidInput: a file is not in its format, or the client has none for that scope.
        Conflict: something of our name is in the way.
        StorageError: a file cannot be read.
    """
    return [_changed(path, edits) for path, edits in _edits(wish).items()]


def _edits(wish: Wish) -> dict[Path, list[Edit]]:
    """File -> what is done to it, one after the other."""
    path = server_file(wish.client, wish.scope, wish.machine)
    if path is None:
        raise InvalidInput(
            f"{wish.client.title} has no file for {'one project' if wish.scope == 'project' else 'servers'}.",
            next_step="Leave --project out." if wish.scope == "project" else "See `afterwit connect --help`.",
        )
    entry = entry_of(wish.client, wish.launch)
    edits: dict[Path, list[Edit]] = {path: [lambda text: Server(wish.client).add(text, entry)]}
    if (hooked := _hook_set(wish.client)) and (place := hooks_file(wish.client, wish.scope, wish.machine)):
        if wish.has_hooks and isinstance(wish.launch, Launch):
            groups = hooked.wanted(wish.launch, wish.machine)
            edits.setdefault(place, []).append(lambda text: hooked.add(text, groups))
        elif place.exists():
            edits.setdefault(place, []).append(hooked.drop)
    return edits


def disconnecting(wish: Wish) -> list[Change]:
    """What takes everything of ours out; files that are not there are left out.

    A file that is still as connecting left it becomes again, byte for byte, what it was before.

    Args:
        wish: what was wanted, to know what connecting made of a file.

    Raises:
        InvalidInput: a file is not in its format.
        Conflict: ours is written in a form that cannot be taken out.
        StorageError: a file cannot be read.
    """
    removals: dict[Path, list[Edit]] = {}
    if (path := server_file(wish.client, wish.scope, wish.machine)) is not None:
        removals[path] = [Server(wish.client).drop]
    hooked = _hook_set(wish.client)
    if hooked is not None and (place := hooks_file(wish.client, wish.scope, wish.machine)) is not None:
        removals.setdefault(place, []).append(hooked.drop)
    ways = [_edits(replace(wish, hooks=hooks)) for hooks in (True, False)] if path is not None else []
    changes: list[Change] = []
    for place, edits in removals.items():
        change = _changed(place, edits)
        if change.before is not None:
            additions = [way.get(place, []) for way in ways]
            changes.append(_as_it_was(change, additions, edits) if change.changes else change)
    return changes


def _as_it_was(change: Change, ways: list[list[Edit]], removals: list[Edit]) -> Change:
    """The change that gives back what connecting found, if that is known for sure and had nothing of ours.

    Args:
        change: what takes ours out of the file as it is.
        ways: what connecting may have done to it.
        removals: what takes ours out of any text.
    """
    copy = next(iter(files.copies(change.path)), None)
    earlier = ["", (files.read(copy) or b"").decode("utf-8")] if copy is not None else [""]
    for text in earlier:
        for additions in ways:
            try:
                made = _text_after(change.path, text, additions)
                had_none = _text_after(change.path, text, removals) == text
            except (InvalidInput, Conflict):
                continue
            if had_none and made == change.text_before:
                return Change(change.path, change.before, text or None)
    return change


def _hook_set(client: Client) -> HookSet | None:
    return HookSet(client.hooks, client.name) if client.hooks is not None else None


def _changed(path: Path, edits: Iterable[Edit]) -> Change:
    before = files.read(path)
    text = (before or b"").decode("utf-8")
    after = _text_after(path, text, edits)
    return Change(path, before, None if before is None and not after else after)


def _text_after(path: Path, text: str, edits: Iterable[Edit]) -> str:
    try:
        for edit in edits:
            text = edit(text)
    except NotReadable as error:
        raise InvalidInput(
            f"{path} cannot be read: line {error.line}, column {error.column}: {error.what}. Nothing was changed.",
            next_step="Mend that line first, or use --print and add the entry by hand.",
        ) from None
    except Taken as error:
        raise Conflict(
            f"{path}: {error}. Nothing was changed.",
            next_step="Take it out there by hand, or use --print to see what is to be there.",
        ) from None
    return text
