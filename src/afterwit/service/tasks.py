"""Tasks: working memory for one piece of work, from the briefing at its start to the credit at its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Unpack

from afterwit import text
from afterwit.errors import Conflict, InvalidInput, NotFound, Sentence
from afterwit.messages import say
from afterwit.recall import SearchAnswer, hit_tokens
from afterwit.records import (
    Change,
    CloseTask,
    CreditUse,
    Kind,
    LogStep,
    Memory,
    OpenTask,
    Receipt,
    RecordUse,
    Revise,
    Status,
    Step,
    Task,
    TaskStatus,
    Use,
    new_id,
)
from afterwit.review.outcomes import ending_of
from afterwit.review.proof import credits, is_withheld, verdict
from afterwit.review.working import Working, working
from afterwit.service.briefing import Briefing, Briefings, without_others
from afterwit.service.learning import cleaned
from afterwit.service.options import SearchOptions
from afterwit.service.stepping import (
    MAX_GOAL_BYTES,
    MAX_STEPS_AT_ONCE,
    StepFields,
    TaskOptions,
    read_outcome,
    read_start,
    read_step,
)
from afterwit.service.updating import cascade
from afterwit.storage import Transaction

#: Mark in the environment of a task that a client's hook began with the user's request.
ATTENDED = "attended"


@dataclass(frozen=True)
class StepReceipt:
    """What became of logged steps."""

    task: Task
    #: positions of the steps, from 0
    positions: tuple[int, ...]
    message: str


@dataclass(frozen=True)
class Credited:
    """What a task's end said of one memory."""

    memory_id: str
    summary: str
    #: > 0 it helped, < 0 it harmed
    credit: float
    #: "cited", "followed", "shown"
    why: str
    #: "confirmed", "pending", "refuted", "narrowed" when that changed how far it is proved; else empty
    became: str = ""


@dataclass(frozen=True)
class TaskReceipt:
    """What became of a task at its end."""

    task: Task
    #: memories that it used and that its end spoke for or against
    credited: tuple[Credited, ...]
    #: what was learned from it, one receipt per finding
    learned: tuple[Receipt, ...]
    message: str
    #: ids said to be used that are no memories here
    unknown: tuple[str, ...] = ()
    #: what is remembered of how it went, one receipt each
    remembered: tuple[Receipt, ...] = ()


class Tasks(Briefings):
    """The part of the service that is about tasks."""

    resolve_id: Callable[[str], str]

    def start_task(self, goal: str, **options: Unpack[TaskOptions]) -> Briefing:
        """Begin a piece of work and learn what earlier work knows about it.

        While it is open, searches in the same session see its scope and role and are judged beside its
        goal, and what they return counts as used by it.

        Args:
            goal: what is to be reached, a sentence or two.
            **options: see `TaskOptions`.

        Raises:
            InvalidInput: empty goal, malformed scope, limit, time or environment.
            StorageError: the store could not be written; no task was started.
        """
        now = self._clock()
        start = read_start(goal, options, space=self.space, session=self.writer.session, now=now)
        self._end_overdue(now)
        briefing = self._brief(start.task, start.context, start.budget_tokens or self.settings.budget_tokens, now)
        shown = [hit.memory.id for hit in (*briefing.rules, *briefing.cases, *briefing.intents)]
        kept = [id for id in shown if not self._is_withheld(start.task, briefing, id)]
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            tx.apply([OpenTask(start.task), *self._uses(start.task.id, shown, now, kept=frozenset(kept))])
        return without_others(briefing, frozenset(kept))

    def log_step(self, task_id: str = "", **fields: Unpack[StepFields]) -> StepReceipt:
        """Add one step to a task's trajectory.

        Args:
            task_id: id or its end; "" = the one task that is open in this session.
            **fields: see `StepFields`.

        Raises:
            InvalidInput: a malformed field, or no task named and not exactly one open.
            NotFound: no such task in this space.
            Conflict: the task has ended.
        """
        return self.log_steps([fields], task_id=task_id)

    def log_steps(self, steps: Sequence[StepFields], *, task_id: str = "") -> StepReceipt:
        """Add several steps, all or none. Text is cleaned of colours, secrets and recalled memories; of a long
        output the beginning and the end are kept.

        Raises:
            InvalidInput: a malformed step, none or more than 1,000; nothing was logged.
            NotFound: no such task in this space.
            Conflict: the task has ended.
        """
        now = self._clock()
        if not 1 <= len(steps) <= MAX_STEPS_AT_ONCE:
            raise InvalidInput(
                Sentence("Log from 1 to {most} steps at once, not {count}.", most=MAX_STEPS_AT_ONCE, count=len(steps)),
                next_step="Log them in several calls.",
            )
        task = self.open_task(task_id)
        if self._is_overdue(task, now):
            self._end_overdue(now)
            task = self.task(task.id)
        if task.status is not TaskStatus.OPEN:
            raise Conflict(
                Sentence(
                    "This task has ended ({how}).",
                    how=", ".join(word for word in (task.status.value, task.outcome) if word),
                ),
                next_step="Start a new task.",
            )
        read = [read_step(step, task=task, now=now) for step in steps]
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            before = tx.count_steps(self.space, task.id)
            room = task.step_limit - before
            positions = tuple(range(before, before + min(room, len(read))))
            tx.apply([LogStep(step) for step in read[:room]])
        language = text.language(task.goal)
        message = say("steps_logged", language, count=len(positions), total=before + len(positions))
        if len(read) >= room:
            self._end(task, "", "step limit", (), now)
            message += " " + say("task_step_limit", language, limit=task.step_limit, lost=len(read) - len(positions))
        return StepReceipt(self.task(task.id), positions, message)

    def working(self, task_id: str = "", *, window: int = 10) -> Working:
        """A task's working memory: goal, constraints, what was tried, what failed, and the last steps.

        Args:
            task_id: id or its end; "" = the one task that is open in this session.
            window: steps shown in full; earlier ones are digested, 1..200.

        Raises:
            InvalidInput: window out of range, or no task named and not exactly one open.
            NotFound: no such task in this space.
        """
        if isinstance(window, bool) or not 1 <= window <= 200:
            raise InvalidInput(
                Sentence("window must be from 1 to 200, not {window!r}.", window=window),
                next_step="Give a number in that range.",
            )
        task = self.open_task(task_id)
        return working(task, self.store.steps(self.space, task.id), window=window)

    def finish_task(
        self, task_id: str = "", *, outcome: str = "", summary: str = "", used: Sequence[str] = ()
    ) -> TaskReceipt:
        """End a task: its outcome is credited to the memories it used, and lessons are drawn from its steps.

        Args:
            task_id: id or its end; "" = the one task that is open in this session.
            outcome: "success", "failure" or "abandoned"; "" = as the steps show: the user's last words, the last
                check, else that the last action worked. Nothing done, or a last action that failed and nothing that
                tells more: "abandoned", which speaks neither for nor against what was used.
            summary: what came of it.
            used: ids of memories that were relied on. What is no memory here is named in the receipt.

        Raises:
            InvalidInput: unknown outcome, or no task named and not exactly one open.
            NotFound: no such task in this space.
            Conflict: it has ended already, otherwise.
        """
        now = self._clock()
        said = read_outcome(outcome)
        if summary:
            text.check_text(summary, field="summary", max_bytes=MAX_GOAL_BYTES)
        task = self.open_task(task_id)
        if task.status is not TaskStatus.OPEN:
            if said in (None, task.status):
                return TaskReceipt(task, (), (), say("task_already_ended", text.language(task.goal)))
            raise Conflict(
                Sentence("This task has ended already, as {status}.", status=task.status.value),
                next_step="What it was judged to be stays; refute or confirm single memories.",
            )
        known, unknown = self._resolved(used)
        receipt = self._end(task, outcome, summary, known, now, is_done=True)
        return replace(receipt, unknown=tuple(unknown))

    def tasks(self, *, only_open: bool = False, limit: int = 50) -> list[Task]:
        """Tasks, started last first.

        Raises:
            InvalidInput: limit outside 1..1000.
        """
        if not 1 <= limit <= 1000:
            raise InvalidInput(
                Sentence("limit must be from 1 to 1000, not {limit}.", limit=limit),
                next_step="Give a number in that range.",
            )
        statuses = (TaskStatus.OPEN,) if only_open else ()
        return self.store.tasks(self.space, statuses=statuses)[::-1][:limit]

    def task(self, task_id: str) -> Task:
        """One task, by id or the last 8 or more characters of it.

        Raises:
            InvalidInput: too short, or several tasks end so.
            NotFound: no such task in this space.
        """
        wanted = text.check_text(task_id, field="task_id", max_bytes=200).strip().strip("[]").removeprefix("t:").lower()
        found = self.store.task(self.space, wanted)
        if found is not None:
            return found
        if len(wanted) < 8:
            raise InvalidInput(
                Sentence("{task_id!r} is too short for a task's id.", task_id=task_id),
                next_step="Give at least 8 characters.",
            )
        ending = [task for task in self.store.tasks(self.space) if task.id.endswith(wanted)]
        if len(ending) > 1:
            raise InvalidInput(
                Sentence("Several tasks have an id like {task_id!r}.", task_id=task_id), next_step="Give the whole id."
            )
        if not ending:
            raise NotFound(
                Sentence("There is no task {task_id!r} here.", task_id=task_id),
                next_step="Start one, or list the tasks.",
            )
        return ending[0]

    def open_task(self, task_id: str = "") -> Task:
        """The task of that id, or the only one that is open in this session.

        Raises:
            InvalidInput: none named, and none or several open.
            NotFound: no such task in this space.
        """
        if task_id:
            return self.task(task_id)
        found = self._open_here()
        if len(found) != 1:
            raise InvalidInput(
                "Several tasks are open in this session." if found else "No task is open in this session.",
                next_step="Name one with task_id." if found else "Start one, or name one with task_id.",
            )
        return found[0]

    # --- searching within a task -----------------------------------------------------------------

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """See `Searching.search`. Within a task (`task_id`, or the only one open in this session) its scope and
        role are searched, its goal and constraints are what answers are weighed by, and they count as used by it."""
        named = options.get("task_id")
        task = self.task(named) if named else None
        if task is None:
            here = self._open_here()
            task = here[0] if len(here) == 1 else None
        if task is None:
            return super().search(query, **options)
        answer = super().search(query, **_within(task, options))
        if answer.hits and task.status is TaskStatus.OPEN and not options.get("prefetch"):
            answer = self._shown(task, answer)
        return answer

    def _shown(self, task: Task, answer: SearchAnswer) -> SearchAnswer:
        """Note what a search shows to a task, but for what is left out to measure its worth."""
        withheld = {hit.memory.id for hit in answer.hits if self._withholds(task, hit.memory)}
        kept = frozenset(hit.memory.id for hit in answer.hits if hit.memory.id not in withheld)
        now = self._clock()
        known = {use.memory_id for use in self.store.uses(self.space, task_id=task.id)}
        new = [hit.memory.id for hit in answer.hits if hit.memory.id not in known]
        if new:
            with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
                tx.apply(self._uses(task.id, new, now, kept=kept))
        if not withheld:
            return answer
        hits = tuple(hit for hit in answer.hits if hit.memory.id in kept)
        return replace(answer, hits=hits, tokens=sum(map(hit_tokens, hits)))

    def _open_here(self) -> list[Task]:
        now = self._clock()
        found = self.store.tasks(self.space, statuses=(TaskStatus.OPEN,), session=self.writer.session)
        running = [task for task in found if not self._is_overdue(task, now)]
        # What the agent began itself goes before what its client's hooks began for it.
        return [task for task in running if not task.environment.get(ATTENDED)] or running[-1:]

    # --- parts -----------------------------------------------------------------------------------

    def _is_withheld(self, task: Task, briefing: Briefing, memory_id: str) -> bool:
        memory = next(
            hit.memory for hit in (*briefing.rules, *briefing.cases, *briefing.intents) if hit.memory.id == memory_id
        )
        return self._withholds(task, memory)

    def _withholds(self, task: Task, memory: Memory) -> bool:
        """Whether a lesson is left out at random, for its worth to be measured; what a user said never is."""
        share = self.settings.holdout_share
        learned = memory.kind in (Kind.LESSON, Kind.FAILURE, Kind.RULE) and memory.source.kind == "review"
        return bool(share) and learned and is_withheld(task.id, memory.id, share)

    def _uses(self, task_id: str, ids: Sequence[str], now: datetime, *, kept: frozenset[str]) -> list[Change]:
        return [
            RecordUse(Use(new_id(now), self.space, id, now, task_id, withheld=id not in kept))
            for id in dict.fromkeys(ids)
        ]

    def _resolved(self, used: Sequence[str]) -> tuple[list[str], list[str]]:
        """Ids of memories here, and what is none."""
        if isinstance(used, str) or len(used) > 200:
            raise InvalidInput("used must be a list of at most 200 memory ids.", next_step="Name those that mattered.")
        known: list[str] = []
        unknown: list[str] = []
        for item in used:
            try:
                known.append(self.resolve_id(item))
            except (InvalidInput, NotFound):
                unknown.append(str(item)[:80])
        return list(dict.fromkeys(known)), unknown

    def _is_overdue(self, task: Task, now: datetime) -> bool:
        return task.deadline is not None and task.deadline <= now

    def _end_overdue(self, now: datetime) -> None:
        """End tasks whose time is over, as their steps show."""
        for task in self.store.tasks(self.space, statuses=(TaskStatus.OPEN,)):
            if self._is_overdue(task, now):
                self._end(task, "", "time over", (), now)

    def _end(
        self,
        task: Task,
        outcome: str,
        summary: str,
        used: Sequence[str],
        now: datetime,
        *,
        ended_at: datetime | None = None,
        is_done: bool = False,
    ) -> TaskReceipt:
        steps = cleaned(self.store.steps(self.space, task.id))
        said = read_outcome(outcome)
        status = said or ending_of(task, steps, is_done=is_done)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            ended = replace(task, status=status, outcome=summary, ended_at=ended_at or now)
            tx.apply([CloseTask(task.id, status, summary, ended_at or now)])
            credited = self._credit(tx, ended, steps, used, now)
        self._answers.clear()
        report = self.review(task.id, with_llm=False)
        language = text.language(task.goal)
        message = say(
            "task_ended",
            language,
            status=say(
                "task_unknown" if said is None and status is TaskStatus.ABANDONED else f"task_{status.value}", language
            ),
            learned=sum(receipt.accepted for receipt in report.receipts),
            credited=len(credited),
        )
        return TaskReceipt(self.task(task.id), credited, report.receipts, message, remembered=report.remembered)

    def _credit(
        self, tx: Transaction, task: Task, steps: Sequence[Step], used: Sequence[str], now: datetime
    ) -> tuple[Credited, ...]:
        """Let the end of a task speak for or against what it used, and what follows from that."""
        uses = {use.memory_id: use for use in tx.uses(self.space, task_id=task.id)}
        for id in used:
            if id not in uses:
                uses[id] = Use(new_id(now), self.space, id, now, task.id)
                tx.apply([RecordUse(uses[id])])
        marked = [replace(use, cited=use.cited or use.memory_id in used) for use in uses.values()]
        memories = tx.get(self.space, [use.memory_id for use in marked])
        given = credits(task, marked, memories, steps)
        of = {use.id: use.memory_id for use in marked}
        tx.apply([CreditUse(credit.use_id, credit.credit, credit.cited) for credit in given])
        found: list[Credited] = []
        for credit in given:
            if credit.credit:
                memory = tx.get(self.space, [of[credit.use_id]])[of[credit.use_id]]
                became = self._judge(tx, memory, now)
                found.append(Credited(memory.id, memory.summary, credit.credit, credit.why, became))
        return tuple(found)

    def _judge(self, tx: Transaction, memory: Memory, now: datetime) -> str:
        """Move a memory between pending, confirmed and refuted as its uses tell; returns what it became."""
        if memory.status is not Status.ACTIVE:
            return ""
        uses = tx.uses(self.space, memory.id)
        origins = (memory.source.ref, *memory.supporters)
        ids = [id for id in dict.fromkeys((*(use.task_id for use in uses), *origins)) if id]
        tasks = {id: found for id in ids if (found := tx.task(self.space, id)) is not None}
        judged = verdict(memory, uses, tasks)
        if judged is None:
            return ""
        fields = dict(judged.fields)
        if judged.became == "confirmed":
            fields["last_validated_at"] = now
        tx.apply([Revise(memory.id, fields, reason=judged.reason)])
        if judged.became in ("pending", "refuted"):
            tx.apply(cascade(tx, replace(memory, **fields)))
        return judged.became


def _within(task: Task, options: SearchOptions) -> SearchOptions:
    """Options of a search as they are within a task; what the caller says goes first."""
    scopes = options.get("scopes") or ()
    named = [scopes] if isinstance(scopes, str) else list(scopes)
    return {
        **options,
        "scopes": list(dict.fromkeys((*named, task.scope))),
        "role": options.get("role") or task.role,
        "task_context": options.get("task_context") or task.goal,
        "constraints": list(options.get("constraints") or task.constraints),
        "environment": options.get("environment") or task.environment,
    }
