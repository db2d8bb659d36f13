"""How a memory ages: what has gone unconfirmed for long is to be verified, what nobody uses sinks a little."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from afterwit.records import Basis, Kind, Standing, Trust
from afterwit.storage import Vitals

#: Kinds that stay true for long and fade slowly.
SLOW_KINDS = frozenset({Kind.PREFERENCE, Kind.CONSTRAINT, Kind.RULE})
#: What happened stays so, and what is to be done has a time of its own: these are never to be verified.
_TIMELESS = frozenset({Kind.DECISION, Kind.FAILURE, Kind.INTENT})

State = Literal["fresh", "to_be_verified", "stale"]


@dataclass(frozen=True)
class Ageing:
    """The numbers by which a memory ages. They mark and order memories; nothing is hidden by them."""

    #: days after which what was not confirmed is worth a question. Recency counts for nothing after a tenth of that
    #: (`rank.Weights.decay_per_day`); half a year is about how long versions, plans and jobs hold, and rare enough
    #: that the mark still says something
    verify_after_days: float = 180.0
    #: the same for preferences, constraints and rules, which fade five times slower; a little less, to be careful
    slow_verify_after_days: float = 720.0
    #: share of these days for what was never proved
    unproved_share: float = 0.5
    #: being used defers the question, up to this many times the period: to be shown proves nothing
    most_deferral: float = 2.0
    #: an unproved memory is stale when it was neither confirmed nor used for this many periods
    stale_periods: float = 3.0
    #: factor on the evidence of a memory that is often used, at most: less than a tenth of what separates a relevant
    #: memory from a doubtful one (`rank.Weights.cut_distance`), so that popular never beats relevant
    most_used_factor: float = 1.05
    #: uses that bring that factor; more bring nothing
    uses_for_most: int = 15
    #: per day since the last use, at which the gain fades: half in 69 days
    use_decay_per_day: float = 0.01
    #: factors on the evidence of what is to be verified, and of what is stale
    to_be_verified_factor: float = 0.965
    stale_factor: float = 0.93


AGEING = Ageing()


@dataclass(frozen=True)
class Age:
    """How a memory has aged."""

    state: State
    #: when it was last confirmed or, if it never was, written
    last_confirmed: datetime
    #: whether it was confirmed at all
    was_confirmed: bool

    def months(self, now: datetime) -> int:
        """Whole months (of 30 days) since it was last confirmed."""
        return max(0, (now - self.last_confirmed).days // 30)


def period(vitals: Vitals, *, ageing: Ageing = AGEING) -> timedelta:
    """How long a memory is taken as it is after it was confirmed."""
    days = ageing.slow_verify_after_days if vitals.kind in SLOW_KINDS else ageing.verify_after_days
    return timedelta(days=days * (1.0 if _is_proved(vitals) else ageing.unproved_share))


def age_of(vitals: Vitals, now: datetime, *, ageing: Ageing = AGEING) -> Age:
    """How an active memory has aged by `now`.

    Args:
        vitals: all of the memory but its words.
        now: aware.
        ageing: the thresholds.

    Returns:
        `to_be_verified` when it was not confirmed for its period, nor used since so as to defer that; `stale` when
        it was never proved and was neither confirmed nor used for three periods; else `fresh`.
    """
    confirmed = max(vitals.recorded_at, vitals.last_validated_at or vitals.recorded_at)
    was_confirmed = vitals.last_validated_at is not None or vitals.standing is Standing.CONFIRMED

    def aged(state: State) -> Age:
        return Age(state, confirmed, was_confirmed)

    if vitals.kind in _TIMELESS or vitals.is_turn:
        return aged("fresh")
    length = period(vitals, ageing=ageing)
    used = max(confirmed, vitals.last_used_at or confirmed)
    if not _is_proved(vitals) and now >= used + ageing.stale_periods * length:
        return aged("stale")
    due = min(used + length, confirmed + ageing.most_deferral * length)
    return aged("to_be_verified" if now >= due else "fresh")


def use_factor(vitals: Vitals, now: datetime, *, ageing: Ageing = AGEING) -> float:
    """Factor on a memory's evidence for being used or not, from `stale_factor` up to `most_used_factor`.

    Grows with the logarithm of the uses, as far as they are recent.
    """
    state = age_of(vitals, now, ageing=ageing).state
    lowered = {"fresh": 1.0, "to_be_verified": ageing.to_be_verified_factor, "stale": ageing.stale_factor}[state]
    if vitals.use_count <= 0 or vitals.last_used_at is None:
        return lowered
    share = min(1.0, math.log1p(vitals.use_count) / math.log1p(ageing.uses_for_most))
    days = max(0.0, (now - vitals.last_used_at) / timedelta(days=1))
    return lowered * (1.0 + (ageing.most_used_factor - 1.0) * share * math.exp(-ageing.use_decay_per_day * days))


def _is_proved(vitals: Vitals) -> bool:
    """Whether the user or a check stands behind it, or a document that can be brought in again."""
    is_vouched = vitals.basis in (Basis.STATED, Basis.VERIFIED, Basis.IMPORTED) or vitals.trust >= Trust.CONFIRMED
    return is_vouched or vitals.standing is Standing.CONFIRMED
