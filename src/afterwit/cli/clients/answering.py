"""What connecting, disconnecting and looking at connections answer."""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterwit.cli.clients import files
from afterwit.cli.clients.files import Change
from afterwit.cli.clients.health import Health
from afterwit.cli.clients.launch import Launch
from afterwit.cli.clients.machine import Machine
from afterwit.cli.clients.overview import Standing, standings
from afterwit.cli.clients.parts import HookSet, Scope, Server, entry_of
from afterwit.cli.clients.plan import Wish, connecting, disconnecting, hooks_file, server_file
from afterwit.cli.clients.table import NAMES, Client, client_named
from afterwit.cli.connecting import launch_of
from afterwit.cli.session import Session
from afterwit.cli.words import tell
from afterwit.clock import utc_now
from afterwit.errors import InvalidInput
from afterwit.text.secrets import redact_secrets

#: Lines around a change that --dry-run shows.
_CONTEXT = 2


@dataclass(frozen=True)
class _Done:
    """One file, and what became of it."""

    change: Change
    copy: Path | None

    @property
    def action(self) -> str:
        if not self.change.changes:
            return "unchanged"
        if self.change.after is None:
            return "removed"
        return "created" if self.change.before is None else "changed"

    def values(self) -> dict[str, Any]:
        return {
            "path": str(self.change.path),
            "action": self.action,
            "backup": str(self.copy) if self.copy else None,
        }


@dataclass(frozen=True)
class Asked:
    """What was asked for a client."""

    #: as it was typed
    word: str
    for_project: bool
    hooks: bool = True
    #: of a server that runs already; None = the client starts one
    url: str | None = None
    dry_run: bool = False

    def wish(self, session: Session) -> Wish:
        """What that comes to."""
        scope: Scope = "project" if self.for_project else "user"
        client = _client(self.word)
        launch = _address(client, self.url) or launch_of(session.settings)
        return Wish(client, scope, Machine.here(), launch, self.hooks)


def _client(word: str) -> Client:
    client = client_named(word)
    if client is None:
        raise InvalidInput(f"No client is called {word!r}.", next_step=f"Use one of: {', '.join(NAMES)}.")
    return client


def connect(session: Session, asked: Asked) -> None:
    """Write a client's configuration and tell what was done.

    Raises:
        AfterwitError: it cannot be done; nothing was changed.
    """
    wish = asked.wish(session)
    if not wish.client.user:
        _tell_address(session, wish)
        return
    done = _carry_out(connecting(wish), wish, asked.dry_run)
    notes = [] if asked.dry_run else _notes(wish)
    session.answer(
        lambda: _values(wish.client, done, asked.dry_run) | {"notes": notes},
        lambda: _connect_prose(wish, done, asked.dry_run, notes),
    )


def disconnect(session: Session, asked: Asked) -> None:
    """Take what is ours out of a client's configuration and tell what was done.

    Raises:
        AfterwitError: it cannot be done; nothing was changed.
    """
    wish = asked.wish(session)
    done = _carry_out(disconnecting(wish), wish, asked.dry_run)

    def prose() -> str:
        if not any(each.change.changes for each in done):
            return tell("not_connected", client=wish.client.title)
        if asked.dry_run:
            return "\n".join([*filter(None, map(_diff, done)), tell("would_change")])
        return "\n".join([tell("client_disconnected", client=wish.client.title), *map(_file_line, done)])

    session.answer(lambda: _values(wish.client, done, asked.dry_run), prose)


def connections(session: Session, *, asks: bool) -> int:
    """Tell how every client stands.

    Args:
        session: of the command.
        asks: whether configured servers are started and asked for their tools.

    Returns:
        The exit status: 1 if something does not work.
    """
    found = standings(Machine.here(), launch_of(session.settings), asks=asks)
    session.answer(lambda: {"clients": [_standing_json(each) for each in found]}, lambda: _standings_prose(found))
    return 0 if all(each.is_well for each in found) else 1


# --- carrying out --------------------------------------------------------------------------------


def _address(client: Client, url: str | None) -> str | None:
    if url is None:
        return None
    if not client.address:
        raise InvalidInput(f"{client.title} takes no address in its file.", next_step="Leave --url out.")
    if not url.startswith(("http://", "https://")):
        raise InvalidInput("--url must begin with http:// or https://.", next_step="Use http://127.0.0.1:8765/mcp.")
    return url


def _carry_out(changes: list[Change], wish: Wish, dry_run: bool) -> list[_Done]:
    if dry_run:
        return [_Done(change, None) for change in changes]
    due = [change for change in changes if change.changes]
    # All or, as far as can be known before, none.
    for change in due:
        files.check(change)
    now = utc_now()
    private = wish.scope == "user"
    copies = {change.path: files.apply(change, now=now, private=private) for change in due}
    return [_Done(change, copies.get(change.path)) for change in changes]


def _notes(wish: Wish) -> list[str]:
    """What is left for the user to do."""
    notes = [tell(wish.client.then or "then_session", client=wish.client.title)]
    if wish.client.then and wish.client.then != "then_restart":
        notes.insert(0, tell("then_session", client=wish.client.title))
    if wish.client.name.startswith("trae") and isinstance(wish.launch, Launch) and " " in wish.launch.command:
        notes.append(tell("trae_spaces"))
    if wish.client.then == "then_codex" and not wish.has_hooks:
        notes.pop()
    return notes


# --- telling -------------------------------------------------------------------------------------


def _values(client: Client, done: list[_Done], dry_run: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "client": client.name,
        "changed": any(each.change.changes for each in done) and not dry_run,
        "files": [each.values() for each in done],
    }
    return values | ({"diff": "\n".join(_diff(each) for each in done)} if dry_run else {})


def _connect_prose(wish: Wish, done: list[_Done], dry_run: bool, notes: list[str]) -> str:
    client = wish.client.title
    if not any(each.change.changes for each in done):
        return "\n".join([tell("already_connected", client=client), *map(_file_line, done)])
    if dry_run:
        return "\n".join([*filter(None, map(_diff, done)), tell("would_change")])
    return "\n".join([tell("client_connected", client=client), *map(_file_line, done), *notes])


def _file_line(done: _Done) -> str:
    line = f"  {done.change.path}: {tell(f'file_{done.action}')}"
    return f"{line} ({tell('copy_in', place=done.copy)})" if done.copy else line


def _diff(done: _Done) -> str:
    """A unified diff; other servers' keys, which may stand near, are hidden."""
    name = str(done.change.path)
    lines = difflib.unified_diff(
        redact_secrets(done.change.text_before).splitlines(),
        redact_secrets(done.change.after or "").splitlines(),
        name if done.change.before is not None else "/dev/null",
        name if done.change.after is not None else "/dev/null",
        lineterm="",
        n=_CONTEXT,
    )
    return "\n".join(lines)


def print_files(session: Session, asked: Asked) -> None:
    """Tell what is to be in which file, and change nothing.

    Raises:
        InvalidInput: the client has no such file.
    """
    wish = asked.wish(session)
    if not wish.client.user:
        _tell_address(session, wish)
        return
    contents: dict[str, str] = {}
    path = server_file(wish.client, wish.scope, wish.machine)
    if path is None:
        raise InvalidInput(f"{wish.client.title} has no file for one project.", next_step="Leave --project out.")
    contents[str(path)] = Server(wish.client).add("", entry_of(wish.client, wish.launch))
    place = hooks_file(wish.client, wish.scope, wish.machine)
    if wish.has_hooks and wish.client.hooks and place and isinstance(wish.launch, Launch):
        hooked = HookSet(wish.client.hooks, wish.client.name)
        contents[str(place)] = hooked.add(contents.get(str(place), ""), hooked.wanted(wish.launch, wish.machine))
    session.answer(
        lambda: {
            "client": wish.client.name,
            "files": [{"path": name, "content": content} for name, content in contents.items()],
        },
        lambda: "\n".join(f"# {name}\n{content}" for name, content in contents.items()),
    )


def _tell_address(session: Session, wish: Wish) -> None:
    """What to enter in a client that has no file."""
    settings, client = session.settings, wish.client
    address = wish.launch if isinstance(wish.launch, str) else f"http://{settings.host}:{settings.port}/mcp"
    header = "Authorization: Bearer $AFTERWIT_API_KEY"
    session.answer(
        lambda: {"client": client.name, "url": address, "server_id": "afterwit", "header": header},
        lambda: tell(client.then, client=client.title, url=address, header=header),
    )


def _standing_json(standing: Standing) -> dict[str, Any]:
    health = standing.health
    return {
        "client": standing.client.name,
        "scope": standing.scope,
        "path": str(standing.path),
        "found": standing.found,
        "state": standing.state,
        "hooks": list(standing.hooks),
        "command_exists": standing.command_exists if standing.reached else None,
        "health": None
        if health is None
        else {"ok": health.ok, "tools": health.tools, "ms": health.milliseconds, "problem": health.problem},
        "problem": standing.problem,
    }


def _standings_prose(found: list[Standing]) -> str:
    lines: list[str] = []
    for each in found:
        if each.state != "absent" or each.found:
            lines.append(f"{each.client.title} ({each.client.name}): {_state(each)}")
            lines.append(f"  {each.path}")
    absent = [each.client.name for each in found if each.state == "absent" and not each.found]
    if absent:
        lines.append(tell("clients_absent", names=", ".join(absent)))
    waiting = next((each.client.name for each in found if each.state == "absent" and each.found), None)
    return "\n".join([*lines, *([tell("connect_one", client=waiting)] if waiting else [])])


def _state(standing: Standing) -> str:
    words = [tell(f"state_{standing.state}", problem=standing.problem)]
    if standing.hooks:
        words.append(tell("state_hooks", count=len(standing.hooks)))
    if standing.reached is not None and not standing.command_exists:
        words.append(tell("state_gone", command=standing.reached.words[0] if standing.reached.words else ""))
    if standing.health is not None:
        words.append(_health(standing.health))
    return ", ".join(words)


def _health(health: Health) -> str:
    if health.ok:
        return tell("state_answers", tools=health.tools, ms=health.milliseconds)
    return tell("state_silent", problem=health.problem)
