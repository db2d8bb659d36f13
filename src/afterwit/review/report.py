"""The weekly report: what was written, changed and learned, how the memory is, what may be cleaned. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from afterwit import text
from afterwit.messages import say
from afterwit.records import Memory, short_id
from afterwit.review.cleaning import Proposal
from afterwit.review.health import Health

#: Memories that a part of the report names; the others are counted.
MOST_NAMED = 20
#: Tokens of a memory that are shown.
_MOST_TOKENS = 60


@dataclass(frozen=True)
class Part:
    """Memories of one part of the report."""

    #: how many there are in all
    count: int
    #: at most `MOST_NAMED` of them
    named: Sequence[Memory]


@dataclass(frozen=True)
class Week:
    """What a report is about."""

    space: str
    since: datetime
    until: datetime
    #: kind -> memories written
    by_kind: Mapping[str, int]
    written: Part
    #: what was replaced
    superseded: Part
    #: id of a replaced memory -> what replaced it, if that is still there
    successors: Mapping[str, Memory]
    #: lessons and rules that were drawn, that later tasks or the user proved, and that they showed to be wrong
    learned: Part
    confirmed: Part
    refuted: Part
    health: Health
    proposals: Sequence[Proposal]


def weekly_report(week: Week, *, language: str, zone: tzinfo) -> str:
    """The report as Markdown.

    Args:
        week: what to tell.
        language: "zh" or "en".
        zone: in which days are named.
    """

    def told(key: str, **values: object) -> str:
        return say(f"report_{key}", language, **values)

    day = "%Y-%m-%d"
    since, until = week.since.astimezone(zone), week.until.astimezone(zone)
    lines = ["# " + told("title", space=week.space, since=f"{since:{day}}", until=f"{until:{day}}"), ""]
    lines += ["## " + told("written", count=week.written.count), ""]
    if week.by_kind:
        lines += [", ".join(f"{kind} {count}" for kind, count in week.by_kind.items()), ""]
    lines += _named(week.written, language)
    lines += ["## " + told("superseded", count=week.superseded.count), ""]
    lines += _named(week.superseded, language, week.successors)
    for name in ("learned", "confirmed", "refuted"):
        part: Part = getattr(week, name)
        lines += ["## " + told(name, count=part.count), "", *_named(part, language)]
    lines += ["## " + told("health"), "", *_table(week.health, language)]
    lines += ["## " + told("proposals"), "", *_proposals(week.proposals, language)]
    return "\n".join(lines).rstrip() + "\n"


def _named(part: Part, language: str, successors: Mapping[str, Memory] | None = None) -> list[str]:
    if not part.count:
        return [say("report_none", language), ""]
    lines: list[str] = []
    for memory in part.named:
        new = (successors or {}).get(memory.id)
        lines.append(_line(memory) + (f" → {_line(new).removeprefix('- ')}" if new is not None else ""))
    if part.count > len(part.named):
        lines.append("- " + say("report_more", language, count=part.count - len(part.named)))
    return [*lines, ""]


def _line(memory: Memory) -> str:
    shown = " ".join(text.truncate(memory.summary, _MOST_TOKENS).split())
    for mark, harmless in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("`", "'"), ("[", "\\[")):
        shown = shown.replace(mark, harmless)
    return f"- {shown} (m:{short_id(memory.id)}, {memory.kind.value})"


def _table(health: Health, language: str) -> list[str]:
    counts = ", ".join(f"{status} {count}" for status, count in health.by_status.items())
    standings = ", ".join(f"{standing} {count}" for standing, count in health.by_standing.items())
    lines = [f"{counts or 0}; {standings}" if standings else counts or "0", ""]
    lines += [f"| {say('report_level', language)} | {say('report_figure', language)} |", "|---|---|"]
    for figure in health.figures:
        advice = figure.next_step(language)
        cell = figure.message(language) + (f" {advice}" if advice else "")
        lines.append(f"| {figure.level} | {cell.replace('|', chr(92) + '|')} |")
    return [*lines, ""]


def _proposals(proposals: Sequence[Proposal], language: str) -> list[str]:
    if not proposals:
        return [say("report_none", language)]
    lines = [
        f"- {say(f'clean_{item.category}', language, count=len(item.ids))}: "
        + ", ".join(f"m:{short_id(id)}" for id in item.ids[:MOST_NAMED])
        + (" …" if len(item.ids) > MOST_NAMED else "")
        for item in proposals
    ]
    return [*lines, "", say("report_clean_how", language)]
