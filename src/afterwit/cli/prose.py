"""What people read: the doors' own prose, with what only a terminal has room for."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from afterwit.cli.words import language, tell
from afterwit.records import Memory, Receipt
from afterwit.serve.prose import defused, memory_line, quoted, receipt_text, search_text

if TYPE_CHECKING:
    from afterwit.recall import Hit, SearchAnswer
    from afterwit.service import Version


def receipt_lines(receipt: Receipt, known: Mapping[str, Memory]) -> str:
    """A receipt, and below it how each statement was understood.

    Args:
        receipt: what a write or update did.
        known: id -> the memory as it is now.
    """
    lines = [receipt_text(receipt, confirming=tell("confirm_kept_aside"))]
    for part in receipt.parts or (receipt,):
        if part.id in known:
            lines.append(f"  {_understood(known[part.id])}")
    return "\n".join(lines)


def _understood(memory: Memory) -> str:
    about = "/".join(part for part in (memory.subject, memory.topic) if part)
    words = [memory.kind.value, about, memory.scope, f"role {memory.role}" if memory.role else ""]
    words += [memory.basis.value, memory.standing.value]
    if memory.valid_from is not None:
        words.append(f"from {memory.valid_from:%Y-%m-%d}")
    if memory.valid_to is not None:
        words.append(f"until {memory.valid_to:%Y-%m-%d}")
    return f"{quoted(', '.join(word for word in words if word))}: {quoted(memory.summary)}"


def search_lines(answer: "SearchAnswer", *, query: str, now: datetime, explain: bool) -> str:
    """The hits, best first; with `explain` each one's reasons below."""
    lines = [search_text(answer, query=query, now=now, fence=False)]
    if explain:
        lines += [_why(hit) for hit in answer.hits]
        lines.append(f"considered {answer.considered}, {answer.tokens} tokens")
    return "\n".join(lines)


def _why(hit: "Hit") -> str:
    factors = ", ".join(
        f"{name} #{value:.0f}" if name not in _FACTORS else f"{name} {value:.2f}" for name, value in hit.why.items()
    )
    return f"why [m:{hit.memory.id}]: score {hit.score:.3f} = {factors}"


#: Entries of `Hit.why` that are values; the others are ranks in a search path.
_FACTORS = frozenset({"cosine", "coverage", "relevance", "task_fit", "recency", "evidence"})


def list_lines(memories: Sequence[Memory], *, total: int, now: datetime) -> str:
    """Memories one per line, and how many there are in all."""
    if not memories:
        return tell("none_listed")
    lines = [memory_line(memory, now=now, spoken=language()) for memory in memories]
    if len(memories) < total:
        lines.append(tell("more_listed", shown=len(memories), total=total))
    return "\n".join(lines)


def history_lines(versions: "Sequence[Version]") -> str:
    """Earlier and later values, oldest first, each with its id and state."""
    return "\n".join(
        f"[m:{version.memory.id}] {version.memory.status.value}: {defused(' '.join(version.line.split()))}"
        for version in versions
    )
