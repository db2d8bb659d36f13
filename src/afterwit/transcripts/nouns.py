"""What comes out of a session file: items, the tasks they belong to, and how far was read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from afterwit.errors import InvalidInput


@dataclass(frozen=True)
class Item:
    """One entry of a session, in the form of a task's step."""

    #: the same for the same entry in every reading, and in copies of it in other files
    key: str
    #: number of the task in the session, from 1; 0 = before the first request
    turn: int
    #: "user" for words that the user said, "note" or "decision" for words of the agent, else the tool's name
    action: str
    input: str = ""
    output: str = ""
    #: what the agent said right before it acted
    rationale: str = ""
    #: None = neither success nor failure
    ok: bool | None = None
    #: aware UTC; None when the file does not say
    happened_at: datetime | None = None
    #: it begins a task, whose goal is `input`
    opens: bool = False
    #: the subagent that did it; empty for the main agent
    agent: str = ""
    #: "finished" (the agent said it was done), "interrupted" or "refused" (by the user), "error" (the client's own)
    signal: str = ""


@dataclass(frozen=True)
class Turn:
    """The items of one task, or the part of them that one reading brought."""

    #: as in `Item.turn`
    number: int
    #: the request that began it; empty when an earlier reading brought that
    goal: str
    items: tuple[Item, ...]

    @property
    def ending(self) -> str:
        """How it stands: the signal of the main agent's last item, empty when it says nothing."""
        return next((item.signal for item in reversed(self.items) if not item.agent), "")


@dataclass(frozen=True)
class Cursor:
    """How far a session was read. Give it to the next reading, which goes on from there."""

    #: items given that nothing can change any more
    items: int = 0
    #: fingerprint of their keys: a file that was rewritten does not match it
    digest: str = ""
    #: keys of items given beyond those, when the session was read to its end
    given: tuple[str, ...] = ()
    #: bytes of the file then; a session file of this size has nothing new
    size: int = 0

    def encode(self) -> str:
        """One line of text that `decode` reads back."""
        return json.dumps([self.items, self.digest, list(self.given), self.size], separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """The cursor that `encode` wrote.

        Raises:
            InvalidInput: it wrote something else.
        """
        try:
            items, digest, given, size = cast("tuple[Any, ...]", json.loads(text))
            if isinstance(items, int) and isinstance(digest, str) and isinstance(size, int):
                return cls(items, digest, tuple(str(key) for key in given), size)
        except (TypeError, ValueError):
            pass
        raise InvalidInput(f"This is no cursor: {text[:60]!r}.", next_step="Read the session from its beginning.")


@dataclass(frozen=True)
class SessionFile:
    """A session that a client keeps."""

    client: str
    path: Path
    #: bytes; 0 where one file holds many sessions
    size: int
    #: when it last changed (aware UTC)
    modified: datetime
    #: which of the file's sessions; empty where a file holds one
    session_id: str = ""


@dataclass
class Header:
    """What a session says of itself; fields stay empty when it does not."""

    session_id: str = ""
    #: directory that the client was started in
    cwd: str = ""
    #: Git branch, and the address of the repository
    branch: str = ""
    repository: str = ""
    #: version of the client
    version: str = ""
    #: a subagent's session: its first words are those of another agent
    is_subagent: bool = False

    def learn(self, **told: object) -> None:
        """Keep what is told first: a session that continues another begins with its own names."""
        for name, value in told.items():
            if isinstance(value, str) and value and not getattr(self, name):
                setattr(self, name, value)


@dataclass(frozen=True)
class Reading:
    """What one reading of a session brought."""

    client: str
    header: Header
    #: in the order of the file
    items: tuple[Item, ...]
    #: where the next reading goes on
    cursor: Cursor
    #: records that brought nothing, by reason ("malformed", "long_line", "unknown", "duplicate", ...)
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    #: the file was rewritten since the cursor, so all of it was read again
    restarted: bool = False

    def turns(self) -> Iterator[Turn]:
        """The items task by task. What came before the first request has the number 0 and no goal."""
        number, part = 0, list[Item]()
        for item in self.items:
            if item.turn != number and part:
                yield _turn(number, part)
                part = []
            number = item.turn
            part.append(item)
        if part:
            yield _turn(number, part)


def _turn(number: int, items: list[Item]) -> Turn:
    return Turn(number, next((item.input for item in items if item.opens), ""), tuple(items))
