"""What the readers of the formats tell the assembler: a session as a row of events, whatever client wrote it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class Said:
    """Somebody gave the agent words to act on."""

    key: str
    text: str
    at: datetime | None = None
    #: "user": the user's own words; "command": a slash command; "agent": a prompt that another agent wrote
    by: Literal["user", "command", "agent"] = "user"


@dataclass(frozen=True)
class Remarked:
    """The agent said something to the user."""

    key: str
    text: str
    at: datetime | None = None
    agent: str = ""
    #: it is the answer with which the agent hands back to the user
    is_final: bool = False


@dataclass(frozen=True)
class Called:
    """A tool was called."""

    key: str
    tool: str
    input: str
    at: datetime | None = None
    agent: str = ""


@dataclass(frozen=True)
class Returned:
    """A call came back."""

    #: key of the call
    call: str
    output: str
    ok: bool | None = None
    #: "refused" when the user did not let it run
    signal: str = ""


@dataclass(frozen=True)
class Judged:
    """The client says whether a call worked, apart from its result."""

    call: str
    ok: bool


@dataclass(frozen=True)
class Stopped:
    """The agent stopped working on the request."""

    key: str
    how: Literal["finished", "interrupted", "error"]
    at: datetime | None = None
    #: what the client printed about it
    text: str = ""


@dataclass(frozen=True)
class Cleared:
    """The user began afresh: what comes next is another task."""


@dataclass(frozen=True)
class Skipped:
    """A record that brings nothing, and why."""

    reason: str


Event = Said | Remarked | Called | Returned | Judged | Stopped | Cleared | Skipped
