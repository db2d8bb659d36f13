"""Rules: what lessons of several independent tasks agree on, with the evidence for and against. Pure.

A rule stands on sessions, not on words: what one session says a hundred times is one piece of evidence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from afterwit import text
from afterwit.matters import field_of, matter_words, opposite_action, same_action, same_matter
from afterwit.messages import say
from afterwit.records import Basis, Json, Kind, Link, LinkType, Memory, Standing, Status, Task, Trust

#: Independent sessions that have to agree.
ENOUGH = 3
#: Confidence, the mean of the Beta posterior (1 + for) / (2 + for + against), below which a rule is not made and an
#: existing one is unproved: three sessions for it stand against one (4/6), not against two (4/7).
BAR = 0.6
#: Below this there is at least as much against it as for it: it expires.
FLOOR = 0.5

_MEMBERS = frozenset({Kind.LESSON, Kind.FAILURE})
#: Fields of a lesson that its rule takes over.
_TAKEN = tuple("situation action result nature signature task_type tool program domain host key".split())
_MOST_TAGS = 8


@dataclass(frozen=True)
class RuleDraft:
    """A rule that is to be made or changed."""

    #: the existing rule, or "" for a new one
    rule_id: str
    #: fields of `Memory` -> value: all that make a new rule (but id, space and time of recording), or what changes
    fields: Mapping[str, Any]
    #: lessons that speak for it
    members: tuple[str, ...]
    #: those of them that are not linked to it yet
    unlinked: tuple[str, ...]
    #: lessons that speak against it
    against: tuple[str, ...]
    #: independent sessions for it
    evidence: int
    #: "new", "stronger", "weaker", "expired" or "revived"
    what: str


@dataclass
class _Cluster:
    """Lessons that agree with their leader, which is a rule once there is one."""

    leader: Memory
    rule: Memory | None = None
    members: list[Memory] = field(default_factory=list[Memory])
    fallen: list[Memory] = field(default_factory=list[Memory])
    linked: frozenset[str] = frozenset()


def rules_from(memories: Sequence[Memory], links: Sequence[Link], tasks: Mapping[str, Task]) -> list[RuleDraft]:
    """What has become of the rules of a space, and which new ones its lessons give; nothing where nothing changed.

    Args:
        memories: all lessons and failures, and all rules that a review made, in any state.
        links: those of the rules.
        tasks: by id; supporters that are tasks count by their sessions.
    """
    lessons = sorted((one for one in memories if one.kind in _MEMBERS and _counts(one)), key=lambda one: one.id)
    rules = sorted((one for one in memories if one.kind is Kind.RULE), key=lambda one: one.id)
    by_mark: dict[str, list[Memory]] = {}
    for lesson in lessons:
        for mark in _marks(lesson):
            by_mark.setdefault(mark, []).append(lesson)
    drafts: list[RuleDraft | None] = []
    for cluster in _clusters(lessons, rules, links):
        if cluster.rule is not None or len(_sessions(cluster.members, tasks)) >= ENOUGH:
            near = {one.id: one for mark in _marks(cluster.leader) for one in by_mark.get(mark, ())}
            drafts.append(_draft(cluster, [near[id] for id in sorted(near)], tasks))
    return [draft for draft in drafts if draft is not None]


def agree(one: Memory, other: Memory) -> bool:
    """Whether two lessons say the same: by their key, their words, or the same action on the same matter."""
    keys = field_of(one, "key"), field_of(other, "key")
    if all(keys) and keys[0] == keys[1]:
        return True
    told, also = (_without_mark(memory) for memory in (one, other))
    alike = _statement(told) == _statement(also)
    failed = one.kind is Kind.FAILURE, other.kind is Kind.FAILURE
    if alike and failed[0] is failed[1] and text.same_statement(told, also):
        return True
    return same_matter(one, other) and same_action(one, other)


@lru_cache(maxsize=8192)
def _statement(summary: str) -> str:
    return text.statement_key(summary)


def _without_mark(memory: Memory) -> str:
    mark = say("rule", text.language(memory.summary), summary="")
    return memory.summary.removeprefix(mark) if memory.kind is Kind.RULE else memory.summary


def _counts(memory: Memory) -> bool:
    """Whether a lesson may speak for or against a rule: what comes from outside may not, and that no way was found
    is nothing to go by; such accounts grow by themselves (`ways`)."""
    alive = memory.status is Status.ACTIVE or memory.standing is Standing.REFUTED
    grows = memory.kind is Kind.FAILURE and "ways" in memory.structured
    return alive and memory.trust > Trust.EXTERNAL and not grows


def _clusters(lessons: Sequence[Memory], rules: Sequence[Memory], links: Sequence[Link]) -> list[_Cluster]:
    members: dict[str, set[str]] = {}
    for link in links:
        if link.type is LinkType.DERIVED_FROM:
            members.setdefault(link.source_id, set()).add(link.target_id)
    clusters: list[_Cluster] = []
    homes: dict[str, _Cluster] = {}
    by_mark: dict[str, list[int]] = {}

    def found(cluster: _Cluster) -> None:
        for mark in _marks(cluster.leader):
            by_mark.setdefault(mark, []).append(len(clusters))
        clusters.append(cluster)

    for rule in rules:
        found(_Cluster(rule, rule, linked=frozenset(members.get(rule.id, ()))))
        homes |= {id: clusters[-1] for id in clusters[-1].linked if id not in homes}
    for lesson in lessons:
        home = homes.get(lesson.id)
        if home is None:
            near = sorted({place for mark in _marks(lesson) for place in by_mark.get(mark, ())})
            home = next((clusters[place] for place in near if _belongs(lesson, clusters[place])), None)
        if home is None:
            home = _Cluster(lesson)
            found(home)
        (home.fallen if lesson.standing is Standing.REFUTED else home.members).append(lesson)
    return clusters


def _belongs(lesson: Memory, cluster: _Cluster) -> bool:
    # Scopes are walls: what holds in one project becomes no rule of another.
    return lesson.scope == cluster.leader.scope and agree(lesson, cluster.leader)


def _marks(memory: Memory) -> frozenset[str]:
    """What two lessons must share at least one of to agree, so that not every pair is compared."""
    words = {f"word: {word}" for word in matter_words(memory)}
    named = {f"{name}: {value}" for name in ("key", "signature") if (value := field_of(memory, name))}
    return frozenset(words | named | {f"same: {_statement(_without_mark(memory))}"})


def _draft(cluster: _Cluster, near: Sequence[Memory], tasks: Mapping[str, Task]) -> RuleDraft | None:
    rule = cluster.rule
    opposed = [
        one
        for one in near
        if one.scope == cluster.leader.scope
        and one.standing is not Standing.REFUTED
        and same_matter(one, cluster.leader)
        and opposite_action(one, cluster.leader)
    ]
    sessions = _sessions(cluster.members, tasks)
    harm = sum(one.harmed for one in cluster.members)
    against = len(_sessions([*cluster.fallen, *opposed], tasks)) + harm
    good, bad = len(sessions) + (rule.helped if rule else 0.0), against + (rule.harmed if rule else 0.0)
    confidence = round((1 + good) / (2 + good + bad), 6)
    ids = tuple(one.id for one in cluster.members)
    contrary = tuple(one.id for one in (*cluster.fallen, *opposed))
    unlinked = tuple(id for id in ids if id not in cluster.linked)
    if rule is None:
        if confidence < BAR:
            return None
        fields = _new_rule(cluster.members, sessions, confidence)
        return RuleDraft("", fields, ids, ids, contrary, len(sessions), "new")
    if rule.status not in (Status.ACTIVE, Status.EXPIRED) or rule.standing is Standing.REFUTED:
        return None  # somebody or its own harm took it out: lessons do not bring it back
    fields, what = _changes(rule, cluster.members, sessions, confidence)
    if not fields and not unlinked:
        return None
    return RuleDraft(rule.id, fields, ids, unlinked, contrary, len(sessions), what)


def _sessions(memories: Iterable[Memory], tasks: Mapping[str, Task]) -> tuple[str, ...]:
    """Independent sources of memories: sessions, or tasks and files where no session is known."""
    found: set[str] = set()
    for memory in memories:
        for origin in memory.supporters or (memory.source.ref or memory.id,):
            task = tasks.get(origin)
            found.add(task.session or origin if task else origin)
    return tuple(sorted(found))


def _new_rule(members: Sequence[Memory], sessions: tuple[str, ...], confidence: float) -> dict[str, Any]:
    best = min(members, key=lambda one: (one.standing is not Standing.CONFIRMED, -one.support, -one.confidence, one.id))
    roles = {one.role for one in members}
    shared = {tag for one in members for tag in one.tags if sum(tag in other.tags for other in members) > 1}
    return {
        "summary": say("rule", text.language(best.summary), summary=best.summary),
        "kind": Kind.RULE,
        "happened_at": max(one.happened_at for one in members),
        "scope": best.scope,
        "role": roles.pop() if len(roles) == 1 else "",
        "subject": best.subject,
        "topic": best.topic,
        "tags": tuple(sorted(shared or best.tags)[:_MOST_TAGS]),
        "structured": {name: best.structured[name] for name in _TAKEN if name in best.structured}
        | {"evidence": len(sessions)},
        "basis": Basis.REFLECTED,
        "trust": min(one.trust for one in members),
        "confidence": confidence,
        "standing": _standing(members),
        "supporters": sessions,
        "applies": _common(members),
    }


def _standing(members: Sequence[Memory]) -> Standing:
    """A rule is proved when one of its lessons was, in a task that it did not come from."""
    proved = any(one.standing is Standing.CONFIRMED for one in members)
    return Standing.CONFIRMED if proved else Standing.PENDING


def _common(members: Sequence[Memory]) -> Json:
    """The conditions that all members share: where they differ, the rule holds for both."""
    first = members[0].applies
    return {name: value for name, value in first.items() if all(one.applies.get(name) == value for one in members)}


def _changes(
    rule: Memory, members: Sequence[Memory], sessions: tuple[str, ...], confidence: float
) -> tuple[dict[str, Any], str]:
    wanted: dict[str, Any] = {
        "confidence": confidence,
        "supporters": tuple(sorted({*sessions})) or rule.supporters,
        "structured": {**rule.structured, "evidence": len(sessions)},
    }
    holds = len(sessions) >= ENOUGH and confidence >= BAR
    vouched = rule.trust >= Trust.USER or rule.basis is Basis.STATED
    if vouched:
        del wanted["confidence"]  # a person's word is not overruled by counting
    elif not members or confidence < FLOOR:
        wanted["status"] = Status.EXPIRED
    elif rule.status is Status.EXPIRED and holds:
        wanted |= {"status": Status.ACTIVE, "standing": Standing.PENDING}
    elif rule.standing is Standing.CONFIRMED and not holds:
        wanted["standing"] = Standing.PENDING
    elif rule.standing is Standing.PENDING and holds and not rule.harmed:
        wanted["standing"] = _standing(members)
    changed = {name: value for name, value in wanted.items() if getattr(rule, name) != value}
    if "status" in changed:
        return changed, "expired" if changed["status"] is Status.EXPIRED else "revived"
    return changed, "weaker" if confidence < rule.confidence else "stronger"
