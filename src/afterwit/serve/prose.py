"""Answers as text, for models that are shown text only and for people at a terminal.

Stored text is quoted, never trusted: what could pass for a change of speaker or for the fence
around recalled notes is defused in the rendering. The store keeps the words as they were.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from afterwit.errors import AfterwitError
from afterwit.messages import say
from afterwit.records import Link, LinkType, Memory, Outcome, Receipt, Use, short_id
from afterwit.serve.wire import NOTE, NOTE_ZH, age, delimiter, trust_word
from afterwit.text import language
from afterwit.vocabulary import FENCE

if TYPE_CHECKING:
    from afterwit.digest import Digest
    from afterwit.recall import Hit, SearchAnswer
    from afterwit.service import Story

# Chat templates and agent harnesses mark speakers and calls with such tags.
_TAG_NAMES = (
    r"system|user|assistant|human|developer|tool|model|instructions?|prompt|context|document|"
    r"function(?:_calls?|_results?)?|tool_(?:calls?|results?|use)|invoke|parameter|thinking|"
    r"system[-_]reminder|start_of_turn|end_of_turn|sys|" + re.escape(FENCE)
)
_TAG = re.compile(rf"<(?=<?\s*/?\s*(?:[\w-]+:)?(?:{_TAG_NAMES})\b|/?\||/?s>)", re.IGNORECASE)
_BRACKET = re.compile(r"\[(?=/?(?:INST|SYSTEM|SYS|USER|ASSISTANT|TOOL_\w+)\])", re.IGNORECASE)
_SPEAKER = re.compile(
    r"\s*\n\s*(?=(?:#+\s*|\*\*)?(?:system|assistant|human|user|developer|tool|系统|助手|用户)\s*[:：])",
    re.IGNORECASE,
)
_MARK = re.compile(r"\[m:(?=[0-9a-f])", re.IGNORECASE)


def defused(text: str) -> str:
    """Text in which no tag, token or line start passes for another speaker; other text is unchanged."""
    without_tags = _BRACKET.sub("［", _TAG.sub("‹", text))
    return _SPEAKER.sub(" ", without_tags)


def defused_values(value: Any) -> Any:
    """JSON values with every text in them defused."""
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, Mapping):
        return {name: defused_values(item) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [defused_values(item) for item in cast("list[Any]", value)]
    return value


def quoted(text: str) -> str:
    """Stored text on one line, defused and without marks that name other memories."""
    return _MARK.sub("(m:", defused(" ".join(text.split())))


def fenced(body: str, spoken: str) -> str:
    """A body of recalled text under its header, all between fences that it cannot close itself.

    Args:
        body: text that has been defused.
        spoken: "zh" or "en", for the header.
    """
    header = NOTE_ZH if spoken == "zh" else NOTE
    return f'<{FENCE} id="{delimiter()}">\n{header}\n{body}\n</{FENCE}>'


def error_text(error: AfterwitError) -> str:
    """What went wrong and what to do next."""
    return str(error)


def receipt_text(receipt: Receipt, *, confirming: str = "") -> str:
    """One line per statement: outcome, id, sentence, and the other memories concerned.

    Args:
        receipt: what a write or update did.
        confirming: how the door confirms what is kept aside, with {id} in it.
    """
    named = f" [m:{receipt.id}]" if receipt.id else f" ({', '.join(receipt.reasons)})" if receipt.reasons else ""
    line = f"{receipt.outcome.value}{named}: {defused(receipt.message)}"
    if receipt.related and not receipt.parts:
        line += " " + ", ".join(f"[m:{id}]" for id in receipt.related)
    if confirming and receipt.outcome is Outcome.QUARANTINED:
        line += f" {confirming.format(id=receipt.id)}"
    return "\n".join([line, *(f"- {receipt_text(part, confirming=confirming)}" for part in receipt.parts)])


def search_text(answer: "SearchAnswer", *, query: str, now: datetime, fence: bool = True) -> str:
    """The hits, most relevant first, or the sentence that there are none.

    Args:
        answer: what the search gave back.
        query: decides the language of the words around the hits.
        now: for the ages.
        fence: put the hits between fences, for a prompt; without, for people.
    """
    spoken = language(query)
    lines: list[str] = []
    if answer.hits:
        body = "\n".join(hit_line(hit, now, spoken) for hit in answer.hits)
        lines.append(fenced(body, spoken) if fence else body)
    if answer.message:
        lines.append(answer.message)
    if answer.other_scopes:
        lines.append(say("other_scopes", spoken, scopes=", ".join(map(quoted, answer.other_scopes))))
    return "\n".join([*lines, *reason_lines(answer.degraded, spoken)])


def reason_lines(degraded: Sequence[str], spoken: str) -> list[str]:
    """What a search had to do without, and why, in sentences."""
    parts = (reason.partition(": ") for reason in degraded)
    return [say(f"degraded_{path}", spoken, reason=reason) for path, _, reason in parts]


def hit_line(hit: "Hit", now: datetime, spoken: str) -> str:
    """A hit on one line, with what must be said of it."""
    line = memory_line(hit.memory, now=now, spoken=spoken)
    return line + "".join(f" ({defused(' '.join(warning.split()))})" for warning in hit.warnings)


def memory_line(memory: Memory, *, now: datetime, spoken: str = "en") -> str:
    """A memory on one line: `[m:SHORT_ID] kind, age, standing, trust: sentence`."""
    words = [memory.kind.value, age(memory.happened_at, now, spoken), memory.standing.value, trust_word(memory)]
    if memory.scope != "global":
        words.append(memory.scope)
    if memory.status.value != "active":
        words.append(memory.status.value)
    return f"[m:{short_id(memory.id)}] {quoted(', '.join(words))}: {quoted(memory.summary)}"


def story_text(story: "Story", *, now: datetime, fence: bool = True) -> str:
    """One memory's whole story: the memory, its words, versions, history, links and uses."""
    memory = story.memory
    spoken = language(memory.summary)
    titles = _TITLES[spoken == "zh"]
    lines = [memory_line(memory, now=now, spoken=spoken)]
    lines.append(f"{titles['basis']}: {memory.basis.value}, {memory.confidence:.2f}, {_source(memory)}")
    if story.entities:
        lines.append(f"{titles['entities']}: {quoted(', '.join(story.entities))}")
    if memory.raw:
        lines.append(f"{titles['raw']}: {quoted(memory.raw)}")
    if len(story.versions) > 1:
        lines.append(f"{titles['versions']}:")
        lines += [f"- {quoted(version.line)}" for version in story.versions]
    lines.append(f"{titles['history']}:")
    for event in story.events:
        reason = str(event.detail.get("reason", ""))
        lines.append(
            f"- {event.at:%Y-%m-%d %H:%M} {event.action}, {event.actor}" + (f": {quoted(reason)}" if reason else "")
        )
    summaries = {row.id: row for row in story.related}
    links = [_link_line(link, memory, summaries, spoken) for link in story.links]
    if any(links):
        lines.append(f"{titles['links']}:")
        lines += [line for line in dict.fromkeys(links) if line]
    if story.uses:
        lines.append(f"{titles['uses']}: {len(story.uses)}, {story.uses[-1].used_at:%Y-%m-%d}")
        lines += [_use_line(use, spoken) for use in story.uses[-_USES_SHOWN:] if use.task_id]
    body = "\n".join(lines)
    return fenced(body, spoken) if fence else body


#: Uses of a memory that are told one by one, the last ones.
_USES_SHOWN = 10


def _link_line(link: Link, memory: Memory, known: Mapping[str, Memory], spoken: str) -> str:
    """A link on one line; "" for one that only the machine reads."""
    outgoing = link.source_id == memory.id
    other = link.target_id if outgoing else link.source_id
    arrow = f"{link.type.value} →" if outgoing else f"← {link.type.value}"
    if other in known:
        return f"- {arrow} [m:{other}]: {quoted(known[other].summary)}"
    if link.type is LinkType.DERIVED_FROM and link.note:
        return f"- {arrow} {say('steps_of_task', spoken, task=short_id(link.note))}"
    return "" if link.type is LinkType.ABOUT else f"- {arrow} [m:{other}]"


def _use_line(use: Use, spoken: str) -> str:
    """What one task says of a memory: shown, relied on or withheld, and how that ended."""
    how = "withheld" if use.withheld else "cited" if use.cited else "shown"
    effect = "" if not use.credit else "helped" if use.credit > 0 else "harmed"
    words = [say(f"use_{how}", spoken), say(f"use_{effect}", spoken, credit=f"{use.credit:+g}") if effect else ""]
    told = ("，" if spoken == "zh" else ", ").join(word for word in words if word)
    return f"- {use.used_at:%Y-%m-%d} [t:{short_id(use.task_id)}] {told}"


_TITLES: tuple[dict[str, str], dict[str, str]] = (
    {
        "basis": "Basis, confidence, source",
        "entities": "About",
        "raw": "Source words",
        "versions": "Versions",
        "history": "History",
        "links": "Links",
        "uses": "Shown, last",
    },
    {
        "basis": "依据、置信度、来源",
        "entities": "涉及",
        "raw": "原话",
        "versions": "版本",
        "history": "历史",
        "links": "关联",
        "uses": "展示次数、最近一次",
    },
)


def _source(memory: Memory) -> str:
    return quoted(f"{memory.source.kind} {memory.source.ref}".strip())


def digest_text(digest: "Digest", *, fence: bool = True) -> str:
    """The digest itself, and how much it leaves out."""
    if not digest.ids:
        return digest.text
    spoken = language(digest.text)
    body = defused(digest.text)
    if digest.omitted:
        body += f"\n（另有 {digest.omitted} 条未列出）" if spoken == "zh" else f"\n({digest.omitted} more not shown)"
    return fenced(body, spoken) if fence else body
