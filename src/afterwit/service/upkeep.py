"""What a memory that is served needs from time to time: tasks that nobody ends, reviews that wait, rules."""

import logging
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

from afterwit.errors import AfterwitError
from afterwit.records import Task, TaskStatus
from afterwit.service.reviewing import LEASE_S
from afterwit.service.tasks import Tasks

_log = logging.getLogger(__name__)

#: What the lease is for.
WORK = "upkeep"
#: Reviews of one round: a local model takes some ten seconds for each.
MOST_REVIEWS = 5
#: Failed reviews of a task after which it is left to `afterwit review`.
MOST_FAILURES = 5
#: Wait after a failed review, doubled each time; a budget that is used up comes back within a day.
PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
#: Rules are made of all lessons, so not every change is worth a look at them.
BETWEEN_CONSOLIDATIONS = timedelta(minutes=10)


@dataclass
class Progress:
    """What one process knows from its earlier rounds; begins empty, and is only of use to `upkeep`."""

    holder: str = field(default_factory=lambda: f"{platform.node()}/{os.getpid()}/{uuid4().hex}")
    #: change number of the space before the last round
    seen: int = -1
    #: until when there is nothing to do if nothing changes; None = for ever
    next_at: datetime | None = None
    #: change number when rules were last made, and when that was
    consolidated: int = -1
    consolidated_at: datetime | None = None
    #: task -> failed reviews
    failures: dict[str, int] = field(default_factory=dict[str, int])
    #: no review before then, and how long the pause was
    paused_until: datetime | None = None
    pause: timedelta = timedelta(0)


@dataclass(frozen=True)
class Upkept:
    """What a round did."""

    #: False: nothing had changed, or another process is at it
    looked: bool = False
    ended: tuple[str, ...] = ()
    reviewed: tuple[str, ...] = ()
    #: task -> why its review failed
    failed: tuple[tuple[str, str], ...] = ()
    #: rules that were made, changed or ended, and memories that were shared
    consolidated: int = 0


class Upkeep(Tasks):
    """The part of the service that works while nobody asks."""

    def upkeep(self, progress: Progress, *, stopped: Callable[[], bool] = lambda: False) -> Upkept:
        """One round: end tasks whose time is over, review some that wait, make rules of what was learned.

        Costs one small read when nothing has changed since the last round and nothing is due. Only one process at a
        time does it for a space. Reviews ask the language model if there is one; after a failure there is a pause.

        Args:
            progress: what earlier rounds of this process found; changed in place.
            stopped: asked between two pieces of work; when true, the round ends.

        Raises:
            StorageError: the store could not be read or written; what was done stays.
        """
        now = self._clock()
        number = self.store.change_number(self.space)
        if number == progress.seen and (progress.next_at is None or now < progress.next_at):
            return Upkept()
        if not self._hold(progress):
            return Upkept()
        try:
            ended = self._end_due(progress, stopped)
            reviewed, failed = self._review_waiting(progress, stopped)
            consolidated = 0 if stopped() else self._consolidate_changed(progress, now)
        finally:
            self.store.end_lease(self.space, WORK, holder=progress.holder)
        # The number from before: what others changed meanwhile, and what this round changed, is looked at again.
        progress.seen = number
        progress.next_at = self._next_at(progress)
        return Upkept(True, tuple(ended), tuple(reviewed), tuple(failed), consolidated)

    def _hold(self, progress: Progress) -> bool:
        lasts_s = LEASE_S + 2 * self.settings.llm_timeout_s
        return self.store.take_lease(self.space, WORK, holder=progress.holder, now=self._clock(), lasts_s=lasts_s)

    def _open_tasks(self) -> list[Task]:
        return self.store.tasks(self.space, statuses=(TaskStatus.OPEN,))

    def _end_due(self, progress: Progress, stopped: Callable[[], bool]) -> list[str]:
        ended: list[str] = []
        for task in self._open_tasks():
            now = self._clock()
            if self._is_overdue(task, now) and not stopped() and self._hold(progress):
                try:
                    self._end(task, "", "time over", (), now)
                except AfterwitError as error:
                    _log.warning("Task %s could not be ended: %s", task.id, error)
                else:
                    ended.append(task.id)
        return ended

    def _review_waiting(
        self, progress: Progress, stopped: Callable[[], bool]
    ) -> tuple[list[str], list[tuple[str, str]]]:
        """Review until one fails: what hinders one mostly hinders all, and each try may cost tokens."""
        reviewed: list[str] = []
        failed: list[tuple[str, str]] = []
        for task in self._due_for_review(progress)[:MOST_REVIEWS]:
            if stopped() or not self._hold(progress):
                break
            report = self.review(task.id)
            if error := report.failed.get(task.id):
                failed.append((task.id, error))
                progress.failures[task.id] = progress.failures.get(task.id, 0) + 1
                progress.pause = min(max(PAUSE, 2 * progress.pause), LONGEST_PAUSE)
                progress.paused_until = self._clock() + progress.pause
                break
            reviewed += report.tasks
            progress.failures.pop(task.id, None)
            progress.pause = timedelta(0)
        return reviewed, failed

    def _due_for_review(self, progress: Progress) -> list[Task]:
        """Tasks that wait and may be tried now, those that never failed first."""
        if progress.paused_until is not None and self._clock() < progress.paused_until:
            return []
        return self._waiting(progress)

    def _waiting(self, progress: Progress) -> list[Task]:
        waiting = self.store.tasks(self.space, unreviewed=True)
        tries = progress.failures
        return sorted(
            (task for task in waiting if tries.get(task.id, 0) < MOST_FAILURES),
            key=lambda task: tries.get(task.id, 0),
        )

    def _consolidate_changed(self, progress: Progress, now: datetime) -> int:
        number = self.store.change_number(self.space)
        last = progress.consolidated_at
        if number == progress.consolidated or (last is not None and now < last + BETWEEN_CONSOLIDATIONS):
            return 0
        done = self.consolidate()
        progress.consolidated, progress.consolidated_at = number, now
        return len(done.rules) + len(done.promoted)

    def _next_at(self, progress: Progress) -> datetime | None:
        """When there may be something to do though nothing changes."""
        now = self._clock()
        moments = [task.deadline for task in self._open_tasks() if task.deadline is not None]
        if self._waiting(progress):
            moments.append(progress.paused_until or now)
        if progress.consolidated_at is not None and progress.consolidated != self.store.change_number(self.space):
            moments.append(progress.consolidated_at + BETWEEN_CONSOLIDATIONS)
        return min(moments, default=None)
