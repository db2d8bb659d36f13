"""Attending an agent at work: what it should know at the moments when its client asks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar
from weakref import WeakKeyDictionary

from afterwit.matters import ADVICE, covers, field_of
from afterwit.recall import Hit
from afterwit.records import GLOBAL, KeyFilter, Memory, RecordUse, Standing, Task, TaskStatus, Use, new_id
from afterwit.review.actions import Act, act_of
from afterwit.review.signatures import is_failure, signature
from afterwit.service.briefing import BINDING, URGENCY
from afterwit.service.places import goal_of
from afterwit.service.stepping import read_step
from afterwit.service.tasks import ATTENDED, Tasks
from afterwit.storage import Store
from afterwit.text import fold
from afterwit.transcripts.wording import follows_up

#: Most memories that a session's start, a prompt and a tool call are given.
_MOST_ORDERS = 8
_MOST_FOR_A_PROMPT = 5
_MOST_FOR_A_CALL = 2
#: Advice that is looked through for a tool.
_MOST_ADVICE = 200
#: How relevant advice without the very fault must be to be shown after a failure, 0..1.
_SURE = 0.7
#: Scopes whose advice is kept, at most.
_MOST_SCOPES = 64


@dataclass(frozen=True)
class _Advice:
    """What was read for all tools of a scope."""

    #: `Reader.change_number` from before it was read
    number: int
    #: when it was read, and the first moment at which a memory begins or ceases to hold
    since: datetime
    until: datetime | None
    rows: tuple[Memory, ...]

    def holds(self, number: int, now: datetime) -> bool:
        """Whether it would be the same if it were read now, with this change number."""
        return self.number == number and self.since <= now and (self.until is None or now < self.until)


class Attending(Tasks):
    """The part of the service that agents' clients call at set moments, without being asked by a model."""

    #: by space and scope: a client tells of every call of a tool, and nearly always there is nothing to say
    _advice_read: ClassVar[WeakKeyDictionary[Store, dict[tuple[str, str], _Advice]]] = WeakKeyDictionary()

    def standing_orders(self, *, scope: str = GLOBAL) -> list[Hit]:
        """Rules, constraints and preferences that hold in a scope whatever is done, the best proved first, and
        what is due.

        Args:
            scope: "project:NAME" or "global"; what is global always counts.

        Raises:
            StorageError: the store could not be read.
        """
        now = self._clock()
        where = KeyFilter(scopes=tuple(dict.fromkeys((GLOBAL, scope))), roles=("",), kinds=BINDING, valid_at=now)
        rows = [row for row in self.store.find(self.space, where, limit=200) if row.standing is Standing.CONFIRMED]
        rows.sort(key=lambda row: (row.scope == GLOBAL, -row.trust, -row.basis.strength, -row.use_count, row.id))
        orders = [Hit(row, 1.0, 1.0) for row in rows[:_MOST_ORDERS]]
        task = Task(id="", space=self.space, goal="", started_at=now, scope=scope)
        # An intent for "the next task" waits until there is one.
        return [*orders, *(hit for hit in self._intents(task, now) if hit.score > URGENCY["next_task"])]

    def on_prompt(self, prompt: str, *, scope: str = GLOBAL) -> list[Hit]:
        """What matters for what the user has just asked. A new request begins a task of the session; one that
        follows up belongs to the one that is open.

        Raises:
            StorageError: the store could not be read or written.
        """
        words = prompt.strip()
        if not words or words.startswith("/"):
            return []
        task = self._attended()
        if task is not None and follows_up(words):
            known = {use.memory_id for use in self.store.uses(self.space, task_id=task.id)}
            found = self.search(words, task_id=task.id, scopes=[scope], top_k=_MOST_FOR_A_PROMPT)
            return [hit for hit in found.hits if hit.memory.id not in known]
        # The task before stays open: it ends when its last steps have been read from the transcript.
        goal = goal_of(words)
        if not goal:
            return []
        briefing = self.start_task(goal, scope=scope, environment={ATTENDED: True})
        # What the session's start has given is still before the agent.
        known = {hit.memory.id for hit in self.standing_orders(scope=scope)}
        found = (*briefing.rules, *briefing.cases, *briefing.intents)
        return [hit for hit in found if hit.memory.id not in known]

    def on_tool(self, tool: str, given: str, *, scope: str = GLOBAL) -> list[Hit]:
        """The lesson, failure or rule about the very action that an agent is about to take, if there is one.

        Each is given once a task. Found by tool, program and site; nothing is embedded.

        Raises:
            StorageError: the store could not be read or written.
        """
        act = act_of(tool, given)
        if act.kind == "say" or act.is_dump or act.is_poll:
            return []
        rows = [row for row in self._advice(scope) if _is_about(row, act)]
        return self._given(rows[:_MOST_FOR_A_CALL])

    def on_failure(
        self, tool: str, given: str, output: str, *, failed: bool | None = None, scope: str = GLOBAL
    ) -> list[Hit]:
        """The lesson against the very fault that an action has just met, if there is one.

        Args:
            tool: name of the tool.
            given: its input.
            output: what it printed.
            failed: whether it failed; None = as the output shows.
            scope: where.

        Raises:
            StorageError: the store could not be read or written.
        """
        if not tool.strip():
            return []
        task = Task(id="", space=self.space, goal="", started_at=self._clock())
        step = read_step({"action": tool, "input": given, "output": output}, task=task, now=self._clock())
        if failed is not None:
            step = replace(step, ok=not failed)
        if not is_failure(step):
            return []
        seen = signature(step.output, action=tool, input=step.input)
        if seen is None:
            return []
        rows = [row for row in self._advice(scope) if covers(field_of(row, "signature"), seen.key)]
        if rows:
            return self._given(rows[:_MOST_FOR_A_CALL])
        found = super().search(
            f"{act_of(tool, step.input).program} {seen.text}", scopes=[scope], kinds=[*ADVICE], top_k=_MOST_FOR_A_CALL
        )
        return self._given([hit.memory for hit in found.hits if hit.relevance >= _SURE])

    # --- parts -----------------------------------------------------------------------------------

    def _advice(self, scope: str) -> list[Memory]:
        """Lessons, failures and rules in force, what is proved first, then what helped most."""
        now = self._clock()
        kept = self._advice_read.setdefault(self.store, {})
        number = self.store.change_number(self.space)
        read = kept.get((self.space, scope))
        if read is None or not read.holds(number, now):
            where = KeyFilter(
                scopes=tuple(dict.fromkeys((GLOBAL, scope))), roles=("",), kinds=tuple(ADVICE), valid_at=now
            )
            rows = self.store.find(self.space, where, limit=_MOST_ADVICE)
            rows.sort(
                key=lambda row: (row.standing is not Standing.CONFIRMED, row.harmed - row.helped, -row.support, row.id)
            )
            if len(kept) >= _MOST_SCOPES:
                kept.clear()
            read = kept[self.space, scope] = _Advice(number, now, self.store.next_turn(self.space, now), tuple(rows))
        return list(read.rows)

    def _given(self, rows: Sequence[Memory]) -> list[Hit]:
        """The memories as they are given to the session's task, each once."""
        task = self._attended() if rows else None
        if task is not None:
            known = {use.memory_id for use in self.store.uses(self.space, task_id=task.id)}
            rows = [row for row in rows if row.id not in known]
            now = self._clock()
            if rows:
                with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
                    tx.apply([RecordUse(Use(new_id(now), self.space, row.id, now, task.id)) for row in rows])
        return [Hit(row, 1.0, 1.0) for row in rows]

    def _attended(self) -> Task | None:
        """The task that the session's last request began."""
        found = self.store.tasks(self.space, statuses=(TaskStatus.OPEN,), session=self.writer.session)
        now = self._clock()
        return next(
            (task for task in reversed(found) if task.environment.get(ATTENDED) and not self._is_overdue(task, now)),
            None,
        )


def _is_about(memory: Memory, act: Act) -> bool:
    """Whether advice is about an action: the same site, or the same program with its command."""
    domain = field_of(memory, "domain")
    if domain or act.domain:
        return bool(domain) and domain == act.domain
    told = fold(f"{field_of(memory, 'situation')} {memory.summary}")
    program = fold(act.program)
    return bool(program) and (program in told) and act.kind != "read"
