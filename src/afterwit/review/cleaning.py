"""What may be taken out of recall without a loss: over, said twice, known to be wrong, or never of use."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from afterwit.ageing import age_of
from afterwit.records import Basis, Kind, Standing, Status, Trust
from afterwit.storage import Vitals

#: What is proposed, in the order in which a memory that fits several is taken.
CATEGORIES = ("expired", "duplicates", "refuted", "stale")

#: Days for which a refuted memory is kept where it can be seen: time to find that the refutation was wrong.
REFUTED_AFTER_DAYS = 30
#: Memories surer than this are not forgotten for not being used.
STALE_CONFIDENCE = 0.7

#: Refuted advice stays as a warning of itself: it would be drawn from the next failure again.
_STAYS_REFUTED = frozenset({Kind.LESSON, Kind.RULE, Kind.FAILURE})


@dataclass(frozen=True)
class Proposal:
    """Memories that may be taken out of recall for one reason."""

    #: one of `CATEGORIES`
    category: str
    #: where they would go: `expired` or `forgotten`; both can be restored
    status: Status
    ids: tuple[str, ...]
    #: duplicates only: for each of `ids` the memory that stays in its place
    kept: tuple[str, ...] = ()


def is_protected(vitals: Vitals) -> bool:
    """Whether the user stands behind a memory: then only the user takes it out of recall."""
    is_stated = vitals.basis is Basis.STATED and vitals.standing is Standing.CONFIRMED
    return is_stated or vitals.trust >= Trust.CONFIRMED


def proposals(vitals: Iterable[Vitals], repeats: Sequence[Sequence[str]], *, now: datetime) -> tuple[Proposal, ...]:
    """What may be cleaned away.

    What the user states is only touched where its own validity has ended, which takes nothing from recall.

    Args:
        vitals: all active memories.
        repeats: groups of two or more ids whose memories say the same with the same keys and validity.
        now: aware.

    Returns:
        One proposal for each category that has any, in the order of `CATEGORIES`; no id twice.
    """
    active = {item.id: item for item in vitals if item.status is Status.ACTIVE}
    over = [item.id for item in active.values() if item.valid_to is not None and item.valid_to <= now]
    taken = set(over)
    merged = _merges([[active[id] for id in group if id in active and id not in taken] for group in repeats])
    taken |= {id for id, _ in merged}
    rest = [item for item in active.values() if item.id not in taken and not is_protected(item)]
    wrong = [item.id for item in rest if _is_refuted_for_good(item, now)]
    unused = [item.id for item in rest if item.id not in set(wrong) and _is_never_of_use(item, now)]
    found = (
        Proposal("expired", Status.EXPIRED, tuple(over)),
        Proposal("duplicates", Status.FORGOTTEN, tuple(id for id, _ in merged), tuple(kept for _, kept in merged)),
        Proposal("refuted", Status.FORGOTTEN, tuple(wrong)),
        Proposal("stale", Status.FORGOTTEN, tuple(unused)),
    )
    return tuple(proposal for proposal in found if proposal.ids)


def _merges(groups: Iterable[Sequence[Vitals]]) -> list[tuple[str, str]]:
    """(memory to go, memory to stay): the best founded stays, between equals the oldest."""
    found: list[tuple[str, str]] = []
    for group in groups:
        if len(group) < 2:
            continue
        best = max(group, key=_foundation)
        found += [(item.id, best.id) for item in group if item is not best and not is_protected(item)]
    return found


def _foundation(item: Vitals) -> tuple[bool, bool, int, int, float]:
    confirmed = item.standing is Standing.CONFIRMED
    return (is_protected(item), confirmed, item.basis.strength, int(item.trust), -item.recorded_at.timestamp())


def _is_refuted_for_good(item: Vitals, now: datetime) -> bool:
    if item.standing is not Standing.REFUTED or item.kind in _STAYS_REFUTED:
        return False
    last = max(moment for moment in (item.recorded_at, item.last_validated_at, item.last_used_at) if moment is not None)
    return now - last >= timedelta(days=REFUTED_AFTER_DAYS)


def _is_never_of_use(item: Vitals, now: datetime) -> bool:
    unproved = item.standing is Standing.PENDING and item.use_count == 0 and item.helped == 0
    return unproved and item.confidence < STALE_CONFIDENCE and age_of(item, now).state == "stale"
