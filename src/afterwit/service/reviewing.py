"""Looking back: what ended tasks teach, what lessons agree on, what they are worth, and taking it back."""

import hashlib
import logging
import os
import platform
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import uuid4

from afterwit import text
from afterwit.errors import AfterwitError, Conflict, InvalidInput, Sentence, StorageError, TooManyRequests
from afterwit.matters import same_action, same_matter
from afterwit.messages import say
from afterwit.records import (
    Change,
    Erase,
    EraseTask,
    KeyFilter,
    LinkType,
    MarkReviewed,
    Memory,
    Outcome,
    Receipt,
    Revise,
    Standing,
    Status,
    Step,
    Task,
    TaskStatus,
    Trust,
    Use,
    Vector,
)
from afterwit.review.episodes import remembered
from afterwit.review.lessons import Review, review_steps
from afterwit.review.proof import Lift, lift
from afterwit.service.learning import (
    Learned,
    again,
    cleaned,
    evidence,
    known_finding,
    learned,
    session_of,
    trust_in,
    trust_of,
)
from afterwit.service.retracting import Rollback, RollbackPlan, changes_of, plan_of
from afterwit.service.ruling import every, links_of, new_rule, promotions, rule_changes, rule_drafts
from afterwit.service.searching import Searching
from afterwit.service.superseding import outdone, put_in_place, with_earlier_ways
from afterwit.service.updating import cascade
from afterwit.service.writing import Draft, Setting
from afterwit.storage import Transaction

_log = logging.getLogger(__name__)

#: How long a process that was killed keeps the others from a task, in seconds, beside the wait for a model.
LEASE_S = 60.0
#: What may be drawn for a spot check although it is proved: results of this time.
_RECENT = timedelta(days=30)

ENDED = (TaskStatus.SUCCEEDED, TaskStatus.FAILED, TaskStatus.ABANDONED)


@dataclass(frozen=True)
class ReviewReport:
    """What looking back at tasks gave."""

    #: tasks that were looked at
    tasks: tuple[str, ...]
    #: one per finding: stored, merged, quarantined or rejected
    receipts: tuple[Receipt, ...]
    #: task -> why its review failed; it stays in the queue
    failed: Mapping[str, str]
    #: ended tasks that still wait for a review
    waiting: int
    #: one plain sentence, also when nothing was learned
    message: str
    #: memories of how the tasks went, beside what they teach: one receipt each
    remembered: tuple[Receipt, ...] = ()


@dataclass(frozen=True)
class Consolidation:
    """What became of the rules and pools of a space."""

    #: rules that were made, changed or ended: id -> "new", "stronger", "weaker", "expired" or "revived"
    rules: Mapping[str, str]
    #: memories that are in the shared pool now
    promoted: tuple[str, ...]
    message: str


class Reviewing(Searching):
    """The part of the service that learns."""

    _store_one: Callable[[Transaction, Draft, Vector | None, datetime], Receipt]
    _vectors: Callable[[Sequence[Memory]], dict[str, Vector]]
    _embed_later: Callable[[Sequence[Memory], Mapping[str, Vector]], None]
    resolve_id: Callable[[str], str]
    task: Callable[[str], Task]

    # --- review ----------------------------------------------------------------------------------

    def review(
        self,
        task_id: str = "",
        *,
        limit: int | None = None,
        with_llm: bool | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ReviewReport:
        """Draw lessons from ended tasks that were not looked back at; a second call finds nothing left to do.

        What is found goes through gate and conflicts as every write does, and waits to be proved by other tasks.
        A task is marked in the transaction that stores its lessons: after a kill it is reviewed again, and what
        was stored then is recognised. One whose review fails stays in the queue with the reason.

        Args:
            task_id: one task; "" = all that wait.
            limit: most tasks of this call; None = all.
            with_llm: also ask the language model. None = if there is one. False where there is one: its part is
                left for later and the task stays in the queue.
            progress: called with 1 after every task.

        Raises:
            InvalidInput: a limit below 1, or a language model is wanted and there is none.
            NotFound: no such task in this space.
            Conflict: the task still runs.
        """
        if limit is not None and limit < 1:
            raise InvalidInput(
                Sentence("limit must be at least 1, not {limit}.", limit=limit),
                next_step="Give a number in that range, or leave it out.",
            )
        if with_llm and self.llm is None:
            raise InvalidInput("No language model is configured.", next_step='Set llm, for example "ollama:qwen3:4b".')
        asks = self.llm is not None and with_llm is not False
        waiting = [self._to_review(task_id)] if task_id else self.store.tasks(self.space, unreviewed=True)
        seen: list[str] = []
        receipts: list[Receipt] = []
        remembered: list[Receipt] = []
        failed: dict[str, str] = {}
        for task in waiting[:limit]:
            with self._claimed(task) as claimed:
                if claimed is not None:
                    found, kept, error = self._review_one(claimed, asks=asks)
                    seen.append(task.id)
                    receipts += found
                    remembered += kept
                    if error is not None:
                        failed[task.id] = str(error)
                        asks = asks and not isinstance(error, TooManyRequests)
            if progress is not None:
                progress(1)
        self._answers.clear()
        # At a task's end there is no time to compare all lessons, unless one of them has just been found again.
        if any(receipt.accepted and (not task_id or receipt.outcome is Outcome.MERGED) for receipt in receipts):
            self.consolidate()
        left = len(self.store.tasks(self.space, unreviewed=True))
        message = _told(seen, receipts, failed, left, waiting)
        return ReviewReport(tuple(seen), tuple(receipts), failed, left, message, tuple(remembered))

    def _to_review(self, task_id: str) -> Task:
        task = self.task(task_id)
        if task.status is TaskStatus.OPEN:
            raise Conflict("This task still runs.", next_step="Finish it first.")
        return task

    @contextmanager
    def _claimed(self, task: Task) -> Generator[Task | None]:
        """The task as it is now, for this process alone; None when it is reviewed already or another one is at it."""
        work, holder = f"review:{task.id}", f"{platform.node()}/{os.getpid()}/{uuid4().hex}"
        lasts_s = LEASE_S + 2 * self.settings.llm_timeout_s
        if not self.store.take_lease(self.space, work, holder=holder, now=self._clock(), lasts_s=lasts_s):
            yield None
            return
        try:
            now = self.store.task(self.space, task.id)
            yield now if now is not None and now.reviewed_at is None else None
        finally:
            self.store.end_lease(self.space, work, holder=holder)

    def _review_one(self, task: Task, *, asks: bool) -> tuple[list[Receipt], list[Receipt], Exception | None]:
        """Review a task: what it taught, what is remembered of it, and the error, which stays with it.

        Only a store that fails ends the whole call.
        """
        try:
            return self._learn(task, asks=asks)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - one odd task must not keep all others from their review
            _log.exception("The review of task %s failed.", task.id)
            self._keep_error(task, error)
            return [], [], error

    def _keep_error(self, task: Task, error: Exception) -> None:
        now = self._clock()
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            tx.apply([MarkReviewed(task.id, None, _words(error))])

    def _learn(self, task: Task, *, asks: bool) -> tuple[list[Receipt], list[Receipt], Exception | None]:
        steps = cleaned(self.store.steps(self.space, task.id))
        review = review_steps(task, steps)
        now = self._clock()
        setting = Setting(self.space, self.writer, now, self.settings.timezone)
        found = [
            with_earlier_ways(learned(one, task, setting, trust=trust_in(one, steps)), self.store)
            for one in review.findings
        ]
        error: AfterwitError | None = None
        if asks:
            try:
                found += self._asked(task, steps, review, found, setting)
            except StorageError:
                raise
            except AfterwitError as failure:
                error = failure  # what the rules found is kept all the same
        kept = [learned(one, task, setting, trust=trust_in(one, steps)) for one in remembered(task, steps, review)]
        memories = [one.memory for item in (*found, *kept) if isinstance(item.made, list) for one in item.made]
        vectors = self._vectors(memories)
        has_llm = self.llm is not None or bool(self.settings.llm)
        left_for_later = error is not None or (has_llm and not asks)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            receipts = [one for item in found for one in self._store_finding(tx, item, task, steps, vectors)]
            told = [one for item in kept for one in self._store_finding(tx, item, task, steps, vectors)]
            done = None if left_for_later else now
            tx.apply([MarkReviewed(task.id, done, _words(error) if error is not None else "")])
        self._embed_later(memories, vectors)
        return receipts, told, error

    def _asked(
        self, task: Task, steps: Sequence[Step], review: Review, found: Sequence[Learned], setting: Setting
    ) -> list[Learned]:
        """What the language model adds to what the rules found."""
        from afterwit.service.asking import ask_for_lessons  # noqa: PLC0415 - brings pydantic along

        if self.llm is None:
            return []
        given = ask_for_lessons(self.llm, task, steps, review.episode, timeout_s=self.settings.llm_timeout_s)
        known = [one.memory for item in found if isinstance(item.made, list) for one in item.made]
        made = [learned(finding, task, setting, trust=trust_of(finding.positions, steps)) for finding in given]
        return [item for item in made if not _is_among(item, known)]

    def _store_finding(
        self, tx: Transaction, item: Learned, task: Task, steps: Sequence[Step], vectors: Mapping[str, Vector]
    ) -> list[Receipt]:
        if isinstance(item.made, Receipt):
            return [item.made]
        receipts: list[Receipt] = []
        for one in item.made:
            now = one.memory.recorded_at
            known = known_finding(tx, one.memory, item.finding)
            repeated = again(known, one.memory, now) if known is not None else None
            if repeated is not None:
                changes, receipt = repeated
                tx.apply(changes)
            else:
                receipt = self._store_one(tx, one, vectors.get(one.memory.id), now)
            if receipt.accepted and receipt.id:
                tx.apply(evidence(receipt.id, item.finding, task, steps, now))
                stored = tx.get(self.space, [receipt.id])[receipt.id]
                if stored.status is Status.ACTIVE:
                    tx.apply(put_in_place(tx, stored, known, item.finding, now))
                    tx.apply(outdone(tx, stored, item.finding, task))
            receipts.append(receipt)
        return receipts

    # --- rules and pools -------------------------------------------------------------------------

    def consolidate(self) -> Consolidation:
        """Make rules of what lessons of three independent sessions agree on, weigh the existing ones anew, and
        bring into the shared pool what two roles found useful. A second call changes nothing.
        """
        now = self._clock()
        drafts = [draft for draft in rule_drafts(self.store, self.space) if not draft.rule_id]
        vectors = self._vectors([new_rule(draft, self.space, now) for draft in drafts])
        of_text = {
            str(draft.fields["summary"]): vector for draft, vector in zip(drafts, vectors.values(), strict=False)
        }
        made: list[Memory] = []
        became: dict[str, str] = {}
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            changes: list[Change] = promotions(tx, self.space, now)
            tx.apply(changes)
            promoted = tuple(
                change.memory_id for change in changes if isinstance(change, Revise) and change.fields.get("role") == ""
            )
            for draft in rule_drafts(tx, self.space):
                rule = new_rule(draft, self.space, now) if not draft.rule_id else None
                vector = of_text.get(rule.summary) if rule is not None else None
                tx.apply(rule_changes(draft, rule, vector, self.space, now))
                became[rule.id if rule is not None else draft.rule_id] = draft.what
                made += [rule] if rule is not None else []
        self._embed_later(made, {rule.id: vector for rule in made if (vector := of_text.get(rule.summary))})
        message = say("consolidated", self._spoken(), rules=len(became), promoted=len(promoted))
        return Consolidation(became, promoted, message)

    def _spoken(self) -> str:
        """The language of what was learned last, for sentences about no task in particular."""
        newest = self.store.find(self.space, KeyFilter(), limit=1)
        return text.language(newest[0].summary) if newest else "en"

    # --- what it is worth ------------------------------------------------------------------------

    def lift(self, memory_id: str = "") -> Lift:
        """How much more often tasks succeed with what they are shown than without; needs tasks from which
        something was withheld (setting `holdout_share`).

        Args:
            memory_id: one memory; "" = all.

        Raises:
            NotFound: no such memory in this space.
        """
        tasks = {task.id: task for task in self.store.tasks(self.space, statuses=ENDED)}
        if memory_id:
            uses = self.store.uses(self.space, self.resolve_id(memory_id))
        else:
            uses: list[Use] = [use for id in tasks for use in self.store.uses(self.space, task_id=id)]
        return lift(uses, tasks)

    def sample(self, count: int = 5, *, seed: str = "") -> list[Memory]:
        """Memories made by reviews for people to look at: unproved ones and those of the last 30 days, drawn at
        random, but the same for the same seed.

        Args:
            count: at most this many, 1..200.
            seed: any text; "" = the week, so that everybody who looks this week sees the same.

        Raises:
            InvalidInput: count out of range.
        """
        if not 1 <= count <= 200:
            raise InvalidInput(
                Sentence("count must be from 1 to 200, not {count}.", count=count),
                next_step="Give a number in that range.",
            )
        now = self._clock()
        drawn = seed or f"{now:%G-W%V}"
        rows = every(self.store, self.space, KeyFilter())
        found = [
            row
            for row in rows
            if row.source.kind == "review" and (row.standing is Standing.PENDING or now - row.recorded_at <= _RECENT)
        ]
        found.sort(key=lambda row: hashlib.blake2b(f"{drawn}\0{row.id}".encode(), digest_size=8).digest())
        return found[:count]

    # --- taking back -----------------------------------------------------------------------------

    def rollback(
        self,
        *,
        since: datetime | None = None,
        task_id: str = "",
        session: str = "",
        actor: str = "",
        dry_run: bool = True,
    ) -> RollbackPlan:
        """Take back what was written: by a task, a session, a writer, since a time, or all of these together.

        What was written is forgotten (and can be restored), what rests on nothing else goes with it, what it had
        replaced comes back, the proof of what derives from it is void. All or nothing.

        Args:
            since: only what was recorded from then on (aware).
            task_id: what was learned from this task or written in it.
            session: what this session wrote.
            actor: what this writer wrote, as the history names it.
            dry_run: only say what would be done.

        Raises:
            InvalidInput: nothing was named, or a naive time.
            NotFound: no such task in this space.
            Forbidden: the writer's words are not trusted.
        """
        asked = Rollback(since, self.task(task_id).id if task_id else "", session, actor)
        asked.check()
        self._require_trust()
        now = self._clock()
        if dry_run:
            return plan_of(self.store, self.space, asked)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            plan = plan_of(tx, self.space, asked)
            tx.apply(changes_of(plan, asked))
            for memory in plan.retired:
                tx.apply(cascade(tx, replace(memory, status=Status.FORGOTTEN)))
        self._answers.clear()
        return replace(plan, done=True)

    def erase_task(self, task_id: str, *, reason: str = "") -> RollbackPlan:
        """Remove a task with its steps for good, and with it what was learned from nothing else.

        What other tasks, or the user, also speak for stays; it is pending again.

        Returns:
            What was erased (`retired`) and what is pending again (`weakened`).

        Raises:
            NotFound: no such task in this space.
            Forbidden: the writer's words are not trusted.
        """
        self._require_trust()
        now = self._clock()
        if reason:
            text.check_text(reason, field="reason", max_bytes=1000)
        task = self.task(task_id)
        with self.store.transaction(self.space, now=now, actor=self.writer.name) as tx:
            alone, shared = self._learned_from(tx, task)
            for memory in alone:
                tx.apply([*cascade(tx, replace(memory, status=Status.FORGOTTEN)), Erase(memory.id, reason)])
            for memory in shared:
                fields = _without_task(memory, task)
                tx.apply([Revise(memory.id, fields, reason="one of its tasks was erased")])
                tx.apply(cascade(tx, replace(memory, **fields)))
            tx.apply([EraseTask(task.id, reason)])
        self._answers.clear()
        return RollbackPlan(tuple(alone), (), tuple(shared), (), done=True)

    def _learned_from(self, tx: Transaction, task: Task) -> tuple[list[Memory], list[Memory]]:
        """Memories that rest on this task alone, and those that rest on others, too."""
        steps = [step.id for step in tx.steps(self.space, task.id)]
        derived = {link.source_id for link in links_of(tx, self.space, steps) if link.type is LinkType.DERIVED_FROM}
        rows = tx.get(self.space, sorted(derived))
        scope = replace(KeyFilter.everything(), scopes=(f"task:{task.id}",))
        rows |= {row.id: row for row in every(tx, self.space, scope)}
        alone: list[Memory] = []
        shared: list[Memory] = []
        for row in rows.values():
            others = {
                link.note
                for link in tx.links(self.space, [row.id])
                if link.type is LinkType.DERIVED_FROM and link.source_id == row.id and link.note != task.id
            }
            stands = row.trust >= Trust.USER or any(tx.task(self.space, other) is not None for other in others if other)
            (shared if stands or set(row.supporters) - {session_of(task), task.id} else alone).append(row)
        return alone, shared


def _without_task(memory: Memory, task: Task) -> dict[str, object]:
    fields: dict[str, object] = {"supporters": tuple(one for one in memory.supporters if one != session_of(task))}
    if memory.standing is Standing.CONFIRMED and memory.trust < Trust.USER:
        fields["standing"] = Standing.PENDING
    return fields


def _is_among(item: Learned, known: Sequence[Memory]) -> bool:
    """Whether the rules found the same already."""
    made = item.made if isinstance(item.made, list) else []
    return any(same_matter(one.memory, other) and same_action(one.memory, other) for one in made for other in known)


def _words(error: Exception) -> str:
    """What went wrong, for people; of a mistake in the program only its sort, since its text may quote a step."""
    return str(error) if isinstance(error, AfterwitError) else f"Internal error: {type(error).__name__}."


def _told(
    seen: Sequence[str], receipts: Sequence[Receipt], failed: Mapping[str, str], left: int, waiting: Sequence[Task]
) -> str:
    tongue = text.language(waiting[0].goal) if waiting else "en"
    if not seen:
        return say("nothing_to_review", tongue)
    kept = sum(receipt.accepted for receipt in receipts)
    parts = [say("reviewed" if kept else "reviewed_nothing", tongue, tasks=len(seen), learned=kept)]
    if failed:
        parts.append(say("review_failed", tongue, count=len(failed), error=next(iter(failed.values()))))
    if left:
        parts.append(say("review_waiting", tongue, count=left))
    return ("" if tongue == "zh" else " ").join(parts)
