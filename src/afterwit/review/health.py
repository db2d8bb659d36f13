"""How a memory is: what is in it, what is wrong with it, and what to do about that. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from statistics import mean, median

from afterwit.ageing import age_of
from afterwit.messages import say
from afterwit.records import Basis, Kind, Link, Standing, Status, Task
from afterwit.storage import LLMUse, Vitals

#: Worst last.
LEVELS = ("ok", "warn", "fail")

#: Most ids that a figure names.
MOST_IDS = 20


@dataclass(frozen=True)
class Limits:
    """From which value on a figure is worth a look, and from which one it must not stay so."""

    #: shares of the rows that were looked at
    junk_warn: float = 0.001
    junk_fail: float = 0.05
    duplicates_fail: float = 0.05
    #: days that half of the unproved memories have waited
    pending_days_warn: float = 90.0
    #: share of the credit that speaks against memories; half means that using them is no better than chance
    harm_warn: float = 0.2
    harm_fail: float = 0.5
    #: credits below which their share says nothing
    harm_least: float = 10.0
    #: a day stands out when it is this many robust standard deviations above the median of the last days (the usual
    #: cut of Iglewicz and Hoaglin is 3.5 for normal data; writes come in bursts), and has at least so many writes
    spike_deviations: float = 6.0
    spike_least: int = 50
    #: days that are compared, and those of them that are judged
    spike_days: int = 60
    spike_recent_days: int = 7
    #: share of active memories that are to be verified
    to_be_verified_warn: float = 0.25
    #: ended tasks that nobody looked back at
    waiting_warn: int = 20
    #: share of the day's token budget that is used, and share of the week's calls of a model that failed, where there
    #: are so many
    budget_warn: float = 0.9
    calls_failed_warn: float = 0.5
    calls_least: int = 5
    #: share of memories older than a month that were never used, where uses are recorded at all
    never_used_warn: float = 0.8


LIMITS = Limits()


@dataclass(frozen=True)
class Material:
    """What the health of a space is judged by."""

    vitals: Sequence[Vitals]
    #: links of type `conflicts`
    conflicts: Sequence[Link] = ()
    #: groups of two or more ids that say the same
    repeats: Sequence[Sequence[str]] = ()
    #: rows whose words were looked at: the newest active ones
    looked_at: int = 0
    #: those of them that the gate would refuse today
    refused: Sequence[str] = ()
    #: pairs of them that nearly say the same
    alike: Sequence[tuple[str, str]] = ()
    #: ended tasks that nobody has looked back at
    waiting: Sequence[Task] = ()
    overdue: Sequence[str] = ()
    #: memories without a vector of the present model
    without_vector: int = 0
    #: calls of a language model in the last seven days, and the tokens that one day may take; 0 = there is no model
    calls: Sequence[LLMUse] = ()
    budget_tokens: int = 0


@dataclass(frozen=True)
class Figure:
    """One thing that was looked at."""

    #: stable name, such as "duplicates"
    name: str
    #: "ok", "warn" or "fail"
    level: str
    #: the number itself; a share is 0..1, an age is in days
    value: float
    #: what its sentence needs beside
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    #: memories or tasks to look at, at most 20
    ids: tuple[str, ...] = ()

    def message(self, language: str) -> str:
        """What was found, in "zh" or "en"."""
        return say(f"health_{self.name}", language, **self.details)

    def next_step(self, language: str) -> str:
        """What to do; empty when all is well."""
        return "" if self.level == "ok" else say(f"health_{self.name}_do", language)


@dataclass(frozen=True)
class Health:
    """The state of a space at one moment."""

    at: datetime
    total: int
    #: status, standing of the active ones, kind of the active ones -> number
    by_status: Mapping[str, int]
    by_standing: Mapping[str, int]
    by_kind: Mapping[str, int]
    figures: tuple[Figure, ...]

    @property
    def level(self) -> str:
        """The worst level of any figure."""
        return max((figure.level for figure in self.figures), key=LEVELS.index, default="ok")

    def figure(self, name: str) -> Figure:
        """The figure of a name.

        Raises:
            KeyError: there is none.
        """
        return {figure.name: figure for figure in self.figures}[name]


def examine(material: Material, *, now: datetime, zone: tzinfo, limits: Limits = LIMITS) -> Health:
    """Judge the state of a space.

    Args:
        material: what was read of it.
        now: aware.
        zone: in which writes are counted by the day.
        limits: from which value on a figure is worth a look.
    """
    active = [item for item in material.vitals if item.status is Status.ACTIVE]
    figures = [judge(material, active, now, limits) for judge in _FIGURES]
    figures.insert(_SPIKES_AT, _spikes(material.vitals, now, zone, limits))
    if material.budget_tokens or material.calls:
        figures.append(_model(material.calls, material.budget_tokens, now, limits))
    return Health(
        at=now,
        total=len(material.vitals),
        by_status=_counts(item.status for item in material.vitals),
        by_standing=_counts(item.standing for item in active),
        by_kind=_counts(item.kind for item in active),
        figures=tuple(figures),
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return {str(word): count for word, count in Counter(words).most_common()}


def _level(value: float, warn: float, fail: float = float("inf")) -> str:
    """Above which value it is worth a look, and above which it must not stay so."""
    return "fail" if value > fail else "warn" if value > warn else "ok"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def _ids(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))[:MOST_IDS]


# --- Figures --------------------------------------------------------------------------------------


def _junk(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    count, looked = len(material.refused), material.looked_at
    share = count / looked if looked else 0.0
    level = _level(share, limits.junk_warn, limits.junk_fail)
    return Figure("junk", level, share, {"count": count, "looked": looked}, _ids(material.refused))


def _duplicates(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    exact = sum(len(group) - 1 for group in material.repeats)
    details = {"exact": exact, "alike": len(material.alike), "looked": material.looked_at}
    ids = _ids(id for group in (*material.repeats, *material.alike) for id in group)
    level = _level(exact, 0, limits.duplicates_fail * len(active) if active else 0)
    return Figure("duplicates", "warn" if level == "ok" and material.alike else level, exact, details, ids)


def _contradictions(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    believed = {item.id for item in active if item.standing is not Standing.REFUTED}
    open_ones = [link for link in material.conflicts if link.source_id in believed and link.target_id in believed]
    refuted = [item.id for item in active if item.standing is Standing.REFUTED]
    ids = _ids([id for link in open_ones for id in (link.source_id, link.target_id)] + refuted)
    details = {"pairs": len(open_ones), "refuted": len(refuted)}
    return Figure("contradictions", _level(len(open_ones), 0), len(open_ones), details, ids)


def _kept_aside(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    waiting = [item for item in material.vitals if item.status is Status.QUARANTINED]
    oldest = max((_days(item.recorded_at, now) for item in waiting), default=0.0)
    details = {"count": len(waiting), "days": f"{oldest:.0f}"}
    return Figure(
        "kept_aside", _level(len(waiting), 0), len(waiting), details, _ids(item.id for item in reversed(waiting))
    )


def _never_used(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    old = [item for item in active if not item.is_turn and _days(item.recorded_at, now) >= 30]
    never = sum(item.use_count == 0 for item in old)
    share = never / len(old) if old else 0.0
    is_recorded = any(item.use_count for item in active)
    level = _level(share, limits.never_used_warn) if is_recorded else "ok"
    return Figure("never_used", level, share, {"count": never, "old": len(old), "share": _percent(share)})


def _mean_use(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    uses = mean([item.use_count for item in active]) if active else 0.0
    return Figure("mean_use", "ok", uses, {"uses": f"{uses:.2f}", "count": len(active)})


def _pending(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    waiting = [item for item in active if item.standing is Standing.PENDING and _awaits_proof(item)]
    days = sorted((_days(item.recorded_at, now) for item in waiting), reverse=True)
    middle, oldest = (median(days), days[0]) if days else (0.0, 0.0)
    details = {"count": len(days), "median": f"{middle:.0f}", "oldest": f"{oldest:.0f}"}
    return Figure("pending", _level(middle, limits.pending_days_warn), middle, details, _ids(i.id for i in waiting))


def _awaits_proof(item: Vitals) -> bool:
    """What was only said or read somewhere is not waiting to be proved."""
    return not item.is_turn and item.basis is not Basis.IMPORTED and item.kind is not Kind.INTENT


def _harm(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    helped, harmed = sum(item.helped for item in active), sum(item.harmed for item in active)
    share = harmed / (helped + harmed) if helped + harmed else 0.0
    worst = sorted((item for item in active if item.harmed > item.helped), key=lambda item: -item.harmed)
    judged = helped + harmed >= limits.harm_least
    level = _level(share, limits.harm_warn, limits.harm_fail) if judged else "ok"
    details = {"share": _percent(share), "credits": f"{helped + harmed:.1f}", "count": len(worst)}
    return Figure("harm", level, share, details, _ids(item.id for item in worst))


def _expired(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    over = [item.id for item in active if item.valid_to is not None and item.valid_to <= now]
    return Figure("expired", _level(len(over), 0), len(over), {"count": len(over)}, _ids(over))


def _to_be_verified(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    states = [(item.id, age_of(item, now).state) for item in active]
    aged = [id for id, state in states if state != "fresh"]
    stale = sum(state == "stale" for _, state in states)
    share = len(aged) / len(active) if active else 0.0
    details = {"count": len(aged), "stale": stale, "share": _percent(share)}
    return Figure("to_be_verified", _level(share, limits.to_be_verified_warn), share, details, _ids(aged))


def _reviews(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    failed = [task.id for task in material.waiting if task.review_error]
    waiting = len(material.waiting)
    level = "warn" if failed or waiting > limits.waiting_warn else "ok"
    ids = _ids(failed or [task.id for task in material.waiting])
    return Figure("reviews", level, waiting, {"waiting": waiting, "failed": len(failed)}, ids)


def _intents(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    late = len(material.overdue)
    return Figure("overdue_intents", _level(late, 0), late, {"count": late}, _ids(material.overdue))


def _vectors(material: Material, active: Sequence[Vitals], now: datetime, limits: Limits) -> Figure:
    missing = material.without_vector
    return Figure("vectors", _level(missing, 0), missing, {"count": missing})


def _model(made: Sequence[LLMUse], budget_tokens: int, now: datetime, limits: Limits) -> Figure:
    """What a language model took; the value is the share of today's budget that is used."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    week = sum(call.input_tokens + call.output_tokens for call in made)
    today = sum(call.input_tokens + call.output_tokens for call in made if call.at >= day)
    failed, calls = sum(bool(call.error) for call in made), len(made)
    share = today / budget_tokens if budget_tokens else 0.0
    often = calls >= limits.calls_least and failed > limits.calls_failed_warn * calls
    details = {
        "today": f"{today:,}",
        "budget": f"{budget_tokens:,}",
        "week": f"{week:,}",
        "failed": failed,
        "calls": calls,
    }
    return Figure("model", "warn" if often else _level(share, limits.budget_warn), share, details)


_FIGURES: tuple[Callable[[Material, Sequence[Vitals], datetime, Limits], Figure], ...] = (
    _junk,
    _duplicates,
    _contradictions,
    _kept_aside,
    _expired,
    _to_be_verified,
    _pending,
    _harm,
    _never_used,
    _mean_use,
    _reviews,
    _intents,
    _vectors,
)
#: The place of the write spikes among the figures: after harm.
_SPIKES_AT = 8


def _spikes(vitals: Sequence[Vitals], now: datetime, zone: tzinfo, limits: Limits) -> Figure:
    """Days of the last week on which far more was written than on usual ones; what was imported is no surprise."""
    counts = writes_by_day(vitals, now=now, zone=zone, days=limits.spike_days)
    usual = median(counts.values()) if counts else 0.0
    deviation = median([abs(count - usual) for count in counts.values()]) if counts else 0.0
    most = usual + limits.spike_deviations * 1.4826 * max(deviation, 1.0)
    last = now.astimezone(zone).date() - timedelta(days=limits.spike_recent_days)
    spikes = {
        day: count for day, count in counts.items() if day > last and count > most and count >= limits.spike_least
    }
    told = ", ".join(f"{day} ({count})" for day, count in sorted(spikes.items()))
    details = {"usual": f"{usual:.0f}", "days": told or "-", "today": next(reversed(counts.values()), 0)}
    return Figure("write_spikes", _level(len(spikes), 0), len(spikes), details)


def writes_by_day(vitals: Sequence[Vitals], *, now: datetime, zone: tzinfo, days: int) -> dict[date, int]:
    """Day -> memories written, for the last `days` days that a space exists, today last; imports are left out."""
    today = now.astimezone(zone).date()
    since = now - timedelta(days=days + 1)
    recent = Counter(
        item.recorded_at.astimezone(zone).date()
        for item in vitals
        if item.recorded_at > since and item.basis is not Basis.IMPORTED
    )
    first = min((item.recorded_at for item in vitals), default=now).astimezone(zone).date()
    length = min(days, (today - first).days + 1)
    return {day: recent[day] for day in (today - timedelta(days=back) for back in reversed(range(max(1, length))))}


def _days(moment: datetime, now: datetime) -> float:
    return (now - moment) / timedelta(days=1)
