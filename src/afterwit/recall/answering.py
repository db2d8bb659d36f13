"""What a search gives back: the choice among the candidates, in order, with what must be said of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from afterwit import rank, text
from afterwit.ageing import SLOW_KINDS, age_of, use_factor
from afterwit.applies import Clash, clashes
from afterwit.matters import ADVICE, same_matter
from afterwit.messages import say
from afterwit.recall.asking import Candidates, Question
from afterwit.recall.judging import Judgement
from afterwit.records import GLOBAL, Kind, LinkType, Memory, Standing, Status, Trust, short_id
from afterwit.storage import Reader, Vitals

#: Tokens that one hit costs besides its summary: id, kind, age, standing, trust.
HIT_OVERHEAD_TOKENS = 24

#: Factors on the score. They order what is about equally relevant; only outside knowledge falls far back.
STANDING_FACTOR = {Standing.CONFIRMED: 1.0, Standing.PENDING: 0.96, Standing.REFUTED: 0.0}
TRUST_FACTOR = {Trust.CONFIRMED: 1.0, Trust.USER: 1.0, Trust.AGENT: 0.99, Trust.EXTERNAL: 0.5}

#: Standing gained by a memory of the asking role's own pool, and by one of a scope that was named.
_OWN_POOL = 1.0
_NEAR_SCOPE = 0.1
#: Standing lost by what was seen to hold with another system, repository or version: what is as relevant goes before
#: it, and most of what is less relevant does not.
_ELSEWHERE = 0.8


@dataclass(frozen=True)
class Hit:
    """One memory that was found."""

    memory: Memory
    #: how likely it is about what was asked, 0..1
    relevance: float
    #: what hits are ordered by; higher is better
    score: float
    #: plain sentences the reader should know: conflicts, past validity, not yet proved
    warnings: tuple[str, ...] = ()
    #: path -> rank in it from 1, and factor -> value
    why: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class SearchAnswer:
    """What a search gives back."""

    hits: tuple[Hit, ...]
    #: the fixed sentence when nothing is relevant, else empty
    message: str = ""
    #: search paths that could not be used, or the reranker, each with the reason
    degraded: tuple[str, ...] = ()
    #: scopes that hold memories but were not searched; only said when nothing was found
    other_scopes: tuple[str, ...] = ()
    #: candidates that were looked at
    considered: int = 0
    #: estimated tokens of the hits
    tokens: int = 0


def hit_tokens(hit: Hit) -> int:
    """Estimated tokens that a hit takes in a prompt."""
    return HIT_OVERHEAD_TOKENS + text.count_tokens(hit.memory.summary) + sum(map(text.count_tokens, hit.warnings))


def _evidence(memories: Sequence[Memory], now: datetime) -> rank.Floats:
    known = np.array([memory.basis.strength / 5 for memory in memories])
    useful = rank.usefulness(
        np.array([memory.helped for memory in memories]), np.array([memory.harmed for memory in memories])
    )
    return (
        np.array([STANDING_FACTOR[memory.standing] * TRUST_FACTOR[memory.trust] for memory in memories])
        * (0.97 + 0.03 * known)
        * (0.95 + 0.05 * np.array([memory.confidence for memory in memories]))
        * (0.8 + 0.4 * useful)
        * np.array([use_factor(Vitals.of(memory), now) for memory in memories])
    )


def _place(memory: Memory, question: Question) -> float:
    """Standing gained by being near: the asking role's own pool before the shared one, a named scope before global."""
    own = _OWN_POOL if question.role and memory.role == question.role else 0.0
    return own + (_NEAR_SCOPE if memory.scope != GLOBAL else 0.0)


def choose(question: Question, found: Candidates, judged: Judgement) -> list[Hit]:
    memories, why = found.memories, judged.why
    everything = (place for place in range(len(memories)) if place not in found.replaced)
    passed = everything if question.exhaustive else map(int, np.flatnonzero(judged.passed))
    unmet = {p: clashes(memories[p].applies, question.environment) for p in passed}
    # From here on only what passed, a few of some fifty.
    places = [p for p, those in unmet.items() if not any(clash.proved for clash in those)]
    kept = [memories[p] for p in places]
    days = np.array([_age_days(memory, question.now) for memory in kept])
    recent = rank.recency(days, np.array([memory.kind in SLOW_KINDS for memory in kept], dtype=np.bool_))
    evidence = _evidence(kept, question.now)
    score = rank.score(judged.fit[places], recent, evidence)
    score += np.array([_place(memory, question) for memory in kept])
    score -= _ELSEWHERE * np.array([bool(unmet[p]) for p in places])
    scores = dict(zip(places, score.tolist(), strict=True))
    order = sorted(places, key=lambda p: (-scores[p], memories[p].id))
    if not question.exhaustive:
        order = _without_repeats(_without_unproved(order, memories)[: 3 * question.k], found)
    for position, fresh, proved in zip(places, recent.tolist(), evidence.tolist(), strict=True):
        why[position] |= {"recency": fresh, "evidence": proved}
    hits = [Hit(memories[p], float(judged.fit[p]), scores[p], why=why[p]) for p in order[: question.k]]
    if question.exhaustive:
        return hits
    return hits[: rank.within_budget([hit_tokens(hit) for hit in hits], question.budget_tokens, question.k)]


def _without_unproved(order: list[int], memories: Sequence[Memory]) -> list[int]:
    """Leave out unproved advice on what proved advice was found about; alone it is better than nothing."""
    proved = [memories[p] for p in order if memories[p].standing is Standing.CONFIRMED and memories[p].kind in ADVICE]
    if not proved:
        return order
    return [
        p
        for p in order
        if memories[p].standing is Standing.CONFIRMED or not any(same_matter(memories[p], known) for known in proved)
    ]


def _without_repeats(order: list[int], found: Candidates) -> list[int]:
    def terms(position: int) -> frozenset[str]:
        return found.traits[position].hard_terms

    return rank.without_near_duplicates(order, found.vectors, terms, rank.WEIGHTS.duplicate_cosine)


def _age_days(memory: Memory, now: datetime) -> float:
    last = max(memory.happened_at, memory.last_validated_at or memory.happened_at)
    return max(0.0, (now - last).total_seconds() / 86_400)


def annotate(reader: Reader, space: str, hits: list[Hit], question: Question, language: str) -> list[Hit]:
    """Say of each hit what its reader must know before relying on it."""
    now = question.now
    if not hits:
        return hits
    links = [link for link in reader.links(space, [hit.memory.id for hit in hits]) if link.type is LinkType.CONFLICTS]
    others = reader.get(space, sorted({id for link in links for id in (link.source_id, link.target_id)}))
    annotated: list[Hit] = []
    for hit in hits:
        memory = hit.memory
        warnings = [
            conflict_sentence(memory, other, language)
            for link in links
            if memory.id in (link.source_id, link.target_id)
            and (other := others.get(link.target_id if link.source_id == memory.id else link.source_id)) is not None
            and other.status in (Status.ACTIVE, Status.QUARANTINED)
            and other.standing is not Standing.REFUTED
        ]
        if memory.valid_from is not None and memory.valid_from > now:
            warnings.append(say("holds_from", language, start=f"{memory.valid_from:%Y-%m-%d}"))
        if memory.valid_to is not None and memory.valid_to <= now:
            warnings.append(say("was_true_until", language, until=f"{memory.valid_to:%Y-%m-%d}"))
        if memory.standing is Standing.PENDING and memory.kind in (Kind.LESSON, Kind.RULE):
            warnings.append(say("not_yet_proved", language))
        warnings += [_elsewhere(clash, language) for clash in clashes(memory.applies, question.environment)]
        warnings += _age_warning(memory, now, language)
        annotated.append(replace(hit, warnings=tuple(warnings)))
    return annotated


def _age_warning(memory: Memory, now: datetime, language: str) -> list[str]:
    """What a reader must know of a memory that nobody confirmed for long; what is over needs no second warning."""
    if memory.status is not Status.ACTIVE or not memory.holds_at(now):
        return []
    age = age_of(Vitals.of(memory), now)
    if age.state == "fresh":
        return []
    key = "to_be_verified" if age.was_confirmed else "never_verified"
    return [say(key, language, months=age.months(now))]


def _elsewhere(clash: Clash, language: str) -> str:
    what = "" if clash.what in ("os", "repo") else f"{clash.what} "
    return say("seen_elsewhere", language, wanted=f"{what}{clash.wanted}", given=clash.given)


def conflict_sentence(memory: Memory, other: Memory, language: str) -> str:
    """One sentence that says with what a memory disagrees and which of the two to prefer."""

    def weight(row: Memory) -> tuple[int, datetime]:
        return (row.basis.strength, row.valid_from or row.happened_at)

    prefer = "neither"
    if weight(memory) != weight(other):
        prefer = "this" if weight(memory) > weight(other) else "other"
    return say(
        "conflict_with",
        language,
        id=short_id(other.id),
        other=other.summary,
        basis=other.basis.value,
        date=f"{other.happened_at:%Y-%m-%d}",
        prefer=say(f"prefer_{prefer}", language),
    )
