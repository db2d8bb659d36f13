"""A short account of what is remembered, made of the memories' own sentences and citing their ids."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterwit import rank, text
from afterwit.messages import say
from afterwit.records import Kind, Memory, Standing, short_id

#: Rules and preferences first, then what is known, then concrete cases, then what is still to do.
ORDER: tuple[Kind, ...] = (
    Kind.RULE,
    Kind.PREFERENCE,
    Kind.CONSTRAINT,
    Kind.FACT,
    Kind.LESSON,
    Kind.DECISION,
    Kind.FAILURE,
    Kind.INTENT,
)

_HEADINGS: dict[Kind, tuple[str, str]] = {
    Kind.RULE: ("Rules", "规则"),
    Kind.PREFERENCE: ("Preferences", "偏好"),
    Kind.CONSTRAINT: ("Constraints", "约束"),
    Kind.FACT: ("Facts", "事实"),
    Kind.LESSON: ("Lessons", "经验教训"),
    Kind.DECISION: ("Decisions", "决策"),
    Kind.FAILURE: ("Failures", "失败记录"),
    Kind.INTENT: ("To do", "待办"),
}

#: Tokens of a heading, and of a line besides its sentence.
_HEADING_TOKENS = 4
_LINE_TOKENS = 10


@dataclass(frozen=True)
class Digest:
    """An account of some memories."""

    #: headed list, one line per memory, each with its [m:ID]; or the sentence that there is nothing
    text: str
    #: ids in the order they are cited
    ids: tuple[str, ...]
    #: memories that were left out for want of room or as repeats
    omitted: int
    #: estimated tokens of the text
    tokens: int


def digest(memories: Sequence[Memory], *, now: datetime, budget_tokens: int, language: str) -> Digest:
    """Choose the weightiest memories that fit, and set them in order of kind.

    Args:
        memories: what may be told, already filtered.
        now: for recency.
        budget_tokens: most tokens of the text; the first memory is told in any case.
        language: "zh" or "en", for the headings.
    """
    if not memories:
        nothing = say("nothing_to_summarize", language)
        return Digest(nothing, (), 0, text.count_tokens(nothing))
    chosen = _choose(memories, now, budget_tokens)
    lines: list[str] = []
    ids: list[str] = []
    for kind in ORDER:
        told = [memory for memory in chosen if memory.kind is kind]
        if told:
            lines.append(f"## {_HEADINGS[kind][language == 'zh']}")
        for memory in sorted(told, key=lambda memory: (memory.happened_at, memory.id)):
            lines.append(f"- {_sentence(memory, language)} [m:{short_id(memory.id)}]")
            ids.append(memory.id)
    account = "\n".join(lines)
    return Digest(account, tuple(ids), len(memories) - len(chosen), text.count_tokens(account))


def _sentence(memory: Memory, language: str) -> str:
    """The summary on one line, so that none can pass for a line of its own."""
    line = " ".join(memory.summary.split())
    if memory.valid_to is not None:
        return say("until", language, summary=line, until=f"{memory.valid_to:%Y-%m-%d}")
    return line


def _choose(memories: Sequence[Memory], now: datetime, budget_tokens: int) -> list[Memory]:
    chosen: list[Memory] = []
    said: set[str] = set()
    kinds: set[Kind] = set()
    spent = 0
    for memory in sorted(memories, key=lambda memory: (-_weight(memory, now), memory.id)):
        key = text.statement_key(memory.summary)
        cost = text.count_tokens(memory.summary) + _LINE_TOKENS + _HEADING_TOKENS * (memory.kind not in kinds)
        if key in said or (chosen and spent + cost > budget_tokens):
            continue
        said.add(key)
        kinds.add(memory.kind)
        chosen.append(memory)
        spent += cost
    return chosen


def _weight(memory: Memory, now: datetime) -> float:
    """What is proved, well founded, used and recent is worth telling first."""
    days = max(0.0, (now - memory.happened_at).total_seconds() / 86_400)
    rate = rank.WEIGHTS.slow_decay_per_day if memory.kind is Kind.PREFERENCE else rank.WEIGHTS.decay_per_day
    fresh = math.exp(-rate * days)
    proved = 1.0 if memory.standing is Standing.CONFIRMED else 0.6
    return proved * (0.5 + 0.1 * memory.basis.strength) * (0.5 + 0.5 * fresh) * (1 + 0.1 * min(memory.use_count, 10))
