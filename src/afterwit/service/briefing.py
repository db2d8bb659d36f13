"""What a task should know before its first step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from afterwit import text
from afterwit.matters import field_of, names_tool, same_action, same_matter
from afterwit.messages import say
from afterwit.rank import within_budget
from afterwit.recall import Hit, SearchAnswer, hit_tokens
from afterwit.records import GLOBAL, Basis, KeyFilter, Kind, Memory, Standing, Task, Trust
from afterwit.review.episodes import PART
from afterwit.review.intents import due_state
from afterwit.service.options import MAX_BUDGET, MAX_K, SearchOptions
from afterwit.service.reviewing import Reviewing
from afterwit.service.superseding import has_only_failed

#: What binds whatever is done, and what is known from cases: the two searches of a briefing.
BINDING = (Kind.RULE, Kind.CONSTRAINT, Kind.PREFERENCE)
#: What a user orders for a project, to be shown whether or not the goal's words are near.
_ORDERS = (Kind.RULE, Kind.CONSTRAINT)
_MISHAPS = (Kind.LESSON, Kind.FAILURE)
CASES = (Kind.LESSON, Kind.FAILURE, Kind.DECISION, Kind.FACT)
#: Most memories of each part of a briefing, and the share of its tokens that the first part may take.
_MOST_OF_A_PART = 5
_BINDING_SHARE = 0.4
#: Most memories of how earlier tasks went: similar tasks leave similar ones, which must not take the place of advice.
_MOST_EPISODES = 2
_MOST_LOOKED_AT = 20
#: What is brought up first.
URGENCY = {"overdue": 3.0, "due": 2.0, "triggered": 1.0, "next_task": 0.0}


@dataclass(frozen=True)
class Briefing:
    """What a task should know before its first step."""

    task: Task
    #: rules, constraints and preferences that apply, most relevant first
    rules: tuple[Hit, ...] = ()
    #: lessons, failures, decisions and facts from earlier work, most relevant first
    cases: tuple[Hit, ...] = ()
    #: what was to be done at such a moment: due, overdue or triggered, each with the reason as a warning
    intents: tuple[Hit, ...] = ()
    #: the fixed sentence when there is nothing to know, else empty
    message: str = ""
    degraded: tuple[str, ...] = ()
    #: estimated tokens of all parts
    tokens: int = 0


class Briefings(Reviewing):
    """The part of the service that briefs."""

    def _brief(self, task: Task, context: str, budget: int, now: datetime) -> Briefing:
        options: SearchOptions = {
            "scopes": [task.scope],
            "role": task.role,
            "task_context": f"{task.goal}\n{context}".strip() if context else "",
            "constraints": list(task.constraints),
            "environment": task.environment,
            "top_k": _MOST_OF_A_PART,
        }
        parts: list[SearchAnswer] = []
        left = budget
        for kinds, share, most in ((BINDING, _BINDING_SHARE, _MOST_OF_A_PART), (CASES, 1.0, _MOST_LOOKED_AT)):
            asked: SearchOptions = {**options, "kinds": [*kinds], "top_k": most, "budget_tokens": MAX_BUDGET}
            parts.append(_fitting(super().search(task.goal, **asked), max(1, int(left * share))))
            left -= parts[-1].tokens
        rules, cases = parts
        cases = self._with_named_tools(task, cases, options, left)
        rules = self._with_standing_orders(task, rules, options, int(budget * _BINDING_SHARE))
        intents = self._intents(task, now)
        found = (*rules.hits, *cases.hits, *intents)
        return Briefing(
            task,
            rules.hits,
            cases.hits,
            intents,
            message="" if found else say("nothing_relevant", text.language(task.goal)),
            degraded=tuple(dict.fromkeys((*rules.degraded, *cases.degraded))),
            tokens=sum(map(hit_tokens, found)),
        )

    def _with_standing_orders(
        self, task: Task, rules: SearchAnswer, options: SearchOptions, budget: int
    ) -> SearchAnswer:
        """Add the rules and constraints that the user set for this very project: they bind whatever is done there,
        in what words ever. The nearest ones go first, as far as the budget goes."""
        if task.scope == GLOBAL:
            return rules
        asked: SearchOptions = {**options, "kinds": [*_ORDERS], "exhaustive": True, "top_k": MAX_K}
        known = {hit.memory.id for hit in rules.hits}
        hits, tokens = list(rules.hits), rules.tokens
        for hit in super().search(task.goal, **asked).hits:
            memory = hit.memory
            ordered = memory.scope == task.scope and (memory.trust >= Trust.USER or memory.basis is Basis.STATED)
            if memory.id in known or not ordered or memory.standing is not Standing.CONFIRMED:
                continue
            tokens += hit_tokens(hit)
            if len(hits) >= _MOST_OF_A_PART or tokens > budget:
                break
            hits.append(hit)
        return replace(rules, hits=tuple(hits))

    def _with_named_tools(self, task: Task, cases: SearchAnswer, options: SearchOptions, budget: int) -> SearchAnswer:
        """Add what went wrong with the tools that the goal names: it is worth knowing before they are used, though
        the goal speaks of a purpose and the advice of a fault. The same advice on one tool is told once."""
        goal = text.fold(task.goal)
        asked: SearchOptions = {**options, "kinds": [*_MISHAPS], "exhaustive": True, "top_k": MAX_K}
        named = [hit for hit in super().search(task.goal, **asked).hits if names_tool(goal, hit.memory)]
        kept = [hit for place, hit in enumerate(cases.hits) if not _is_told(hit, cases.hits[:place])]
        for hit in named:
            if len(kept) < _MOST_OF_A_PART and hit_tokens(hit) <= budget and not _is_told(hit, kept):
                budget -= hit_tokens(hit)
                kept.append(hit)
        return replace(cases, hits=tuple(hit for hit in kept if not _is_outdone(hit.memory, kept)))

    def _intents(self, task: Task, now: datetime) -> tuple[Hit, ...]:
        """What was meant for a moment like this, the most urgent first."""
        scopes = tuple(dict.fromkeys((GLOBAL, task.scope)))
        roles = tuple(dict.fromkeys(("", task.role)))
        where = KeyFilter(scopes=scopes, roles=roles, kinds=(Kind.INTENT,), valid_at=now)
        found: list[Hit] = []
        for memory in self.store.find(self.space, where, limit=200):
            due = due_state(memory, now=now, timezone=self.settings.timezone, goal=task.goal, scope=task.scope)
            if due is not None:
                found.append(Hit(memory, 1.0, URGENCY[due.state], warnings=(due.why,)))
        found.sort(key=lambda hit: (-hit.score, hit.memory.id))
        return tuple(found[:_MOST_OF_A_PART])


def _fitting(answer: SearchAnswer, budget: int) -> SearchAnswer:
    """The best of an answer that a part of a briefing has room for, few of them about how earlier tasks went."""
    hits: list[Hit] = []
    for hit in answer.hits:
        told = sum(PART in one.memory.structured for one in hits)
        if PART not in hit.memory.structured or told < _MOST_EPISODES:
            hits.append(hit)
    count = within_budget([hit_tokens(hit) for hit in hits], budget, _MOST_OF_A_PART)
    return replace(answer, hits=tuple(hits[:count]), tokens=sum(map(hit_tokens, hits[:count])))


def _is_told(hit: Hit, others: Sequence[Hit]) -> bool:
    return any(_says_the_same(hit.memory, other.memory) for other in others)


def _is_outdone(memory: Memory, others: Sequence[Hit]) -> bool:
    """Whether advice that failed whenever it was followed stands beside advice on the same tool that did not."""
    if memory.standing is not Standing.PENDING or not has_only_failed(memory):
        return False
    told = text.fold(memory.summary)
    better = [other.memory for other in others if other.memory.kind is Kind.LESSON and not other.memory.harmed]
    return any(same_matter(memory, one) or names_tool(told, one) for one in better)


def _says_the_same(one: Memory, other: Memory) -> bool:
    if one.id == other.id:
        return True
    advises = one.kind in _MISHAPS and one.kind is other.kind and field_of(one, "tool") == field_of(other, "tool")
    return advises and bool(field_of(one, "tool")) and same_action(one, other)


def without_others(briefing: Briefing, kept: frozenset[str]) -> Briefing:
    """A briefing with the memories of these ids alone."""

    def of(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(hit for hit in hits if hit.memory.id in kept)

    left = replace(briefing, rules=of(briefing.rules), cases=of(briefing.cases), intents=of(briefing.intents))
    found = (*left.rules, *left.cases, *left.intents)
    message = "" if found else say("nothing_relevant", text.language(briefing.task.goal))
    return replace(left, message=message, tokens=sum(map(hit_tokens, found)))
