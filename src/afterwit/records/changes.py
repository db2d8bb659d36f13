"""What a write is made of: a list of these, applied all or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterwit.records.nouns import (
    Alias,
    Basis,
    Link,
    Memory,
    Standing,
    Status,
    Step,
    Task,
    TaskStatus,
    Trust,
    Use,
    Vector,
)


@dataclass(frozen=True)
class Add:
    """Store a new memory, with the vector of its text when there is one."""

    memory: Memory
    #: None = not embedded yet; it can be filled in later
    vector: Vector | None = None


@dataclass(frozen=True)
class Supersede:
    """End `old_id`: a newer memory replaces it. Its status, `valid_to`, `superseded_by` are set,
    a `supersedes` link is made, and the words of the old one leave the index of current ones."""

    old_id: str
    new_id: str
    #: the moment in the world from which the new one holds: exclusive end of the old one.
    #: Equal to the old one's start when it was never true (a correction).
    valid_to: datetime
    reason: str = ""


@dataclass(frozen=True)
class Reinforce:
    """The same was said again by `supporter`; counts once per supporter."""

    memory_id: str
    supporter: str
    #: new confidence, 0..1
    confidence: float
    basis: Basis
    trust: Trust
    standing: Standing
    validated_at: datetime
    reason: str = "duplicate"


@dataclass(frozen=True)
class Revise:
    """Change fields of a memory other than its text; before and after go to the history."""

    memory_id: str
    #: field name -> new value, names of `Memory` (never id, space, summary, raw, recorded_at)
    fields: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True)
class Retire:
    """Take a memory out of recall: `expired`, `forgotten` or `quarantined`."""

    memory_id: str
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class Erase:
    """Remove every trace of a memory: row, words, vectors, links, uses, texts in the history."""

    memory_id: str
    reason: str = ""


@dataclass(frozen=True)
class Connect:
    """Add a link; an existing one stays."""

    link: Link


@dataclass(frozen=True)
class RecordUse:
    """Note that a memory was shown to a task."""

    use: Use


@dataclass(frozen=True)
class OpenTask:
    """Start a task's working memory."""

    task: Task


@dataclass(frozen=True)
class LogStep:
    """Append a step to a task; the store sets its position."""

    step: Step
    #: when the task ends by itself from now on; None = as before
    deadline: datetime | None = None


@dataclass(frozen=True)
class CloseTask:
    """End a task."""

    task_id: str
    status: TaskStatus
    outcome: str
    ended_at: datetime


@dataclass(frozen=True)
class CreditUse:
    """Let a task's end speak for or against a memory that was used in it; takes the place of an earlier credit."""

    use_id: str
    #: -1..1
    credit: float
    cited: bool = False


@dataclass(frozen=True)
class MarkReviewed:
    """Note that an ended task was looked back at, or why that failed."""

    task_id: str
    #: None = it stays in the queue
    reviewed_at: datetime | None
    error: str = ""


@dataclass(frozen=True)
class EraseTask:
    """Remove a task with its steps and uses; memories stay."""

    task_id: str
    reason: str = ""


@dataclass(frozen=True)
class SetAlias:
    """Let a name stand for another; what it stood for before is replaced."""

    alias: Alias


@dataclass(frozen=True)
class DropAlias:
    """Let a name stand for itself again."""

    alias: str
    reason: str = ""


@dataclass(frozen=True)
class Restore:
    """Put a record of an export back exactly as it was, whatever its state."""

    record: Memory | Link | Use | Task | Step | Alias


Change = (
    Add
    | Supersede
    | Reinforce
    | Revise
    | Retire
    | Erase
    | Connect
    | RecordUse
    | OpenTask
    | LogStep
    | CloseTask
    | CreditUse
    | MarkReviewed
    | EraseTask
    | SetAlias
    | DropAlias
    | Restore
)
