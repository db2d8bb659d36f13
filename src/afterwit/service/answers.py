"""Answers kept for a moment: a question that was asked ahead, or again, is a look-up."""

import copy
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from afterwit.dates import TimeRange, find_time_range
from afterwit.recall import Hit, Question, SearchAnswer
from afterwit.records import Memory

#: How long an answer is kept. Age moves the order of hits, by less than one part in 20,000 in this time.
LASTS = timedelta(seconds=60)

#: What an answer and each of its hits weigh besides their texts, in characters.
_WEIGHT = 2_000

_NO_TIME = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class _Kept:
    answer: SearchAnswer
    #: `Reader.change_number` before the answer was made
    number: int
    #: when it was made, and the first moment at which it may differ
    since: datetime
    until: datetime
    #: the time that the question names, if any, as it was understood
    when: TimeRange | None
    weight: int


class Answers:
    """The answers of one process, for one space. Safe to use from several threads.

    One is given out only while the space has not changed, for a minute at most, and never past a moment
    at which something begins or ceases to hold.
    """

    def __init__(self, *, entries: int = 256, weight: int = 16_000_000) -> None:
        """Keep none yet.

        Args:
            entries: answers kept; the one unused longest goes first.
            weight: most characters of all answers together.
        """
        self._entries = entries
        self._most = weight
        self._weight = 0
        self._kept: OrderedDict[Question, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, question: Question, number: int) -> SearchAnswer | None:
        """The answer to this question, if one is kept that still holds.

        Args:
            question: what is asked now.
            number: `Reader.change_number` of now.
        """
        key = _key(question)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept.number != number or not kept.since <= question.now < kept.until:
                self._drop(key)
                return None
            self._kept.move_to_end(key)
        if kept.when is not None and kept.when != _time_range(question):
            return None
        return _apart(kept.answer)

    def keep(self, question: Question, number: int, answer: SearchAnswer, next_turn: datetime | None) -> None:
        """Keep an answer, unless part of the search failed.

        Args:
            question: what was asked.
            number: `Reader.change_number` from before it was answered.
            answer: the answer.
            next_turn: `Reader.next_turn` after `question.now`.
        """
        if answer.degraded or not self._entries:
            return
        when = _time_range(question)
        ends = [question.now + LASTS, next_turn, *((when.start, when.end) if when is not None else ())]
        until = min(end for end in ends if end is not None and end > question.now)
        weight = _WEIGHT + sum(_WEIGHT + len(hit.memory.summary) + len(hit.memory.raw) for hit in answer.hits)
        key = _key(question)
        with self._lock:
            self._drop(key)
            self._kept[key] = _Kept(_apart(answer), number, question.now, until, when, weight)
            self._weight += weight
            while self._kept and (len(self._kept) > self._entries or self._weight > self._most):
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        """Forget all, as after an erase, which leaves no text behind."""
        with self._lock:
            self._kept.clear()
            self._weight = 0

    def _drop(self, key: Question) -> None:
        kept = self._kept.pop(key, None)
        self._weight -= kept.weight if kept is not None else 0


def _key(question: Question) -> Question:
    """The question without the moment of asking."""
    where = question.where
    if where.valid_at == question.now:
        where = replace(where, valid_at=_NO_TIME)
    return replace(question, where=where, now=_NO_TIME)


def _time_range(question: Question) -> TimeRange | None:
    return find_time_range(question.query, now=question.now, timezone=question.timezone)


def _apart(answer: SearchAnswer) -> SearchAnswer:
    """A copy whose mappings are its own, so that nobody changes what another gets."""
    return replace(answer, hits=tuple(_own(hit) for hit in answer.hits))


def _own(hit: Hit) -> Hit:
    memory: Memory = hit.memory
    if memory.structured or memory.applies:
        structured, applies = copy.deepcopy(memory.structured), copy.deepcopy(memory.applies)
        memory = replace(memory, structured=structured, applies=applies)
    return replace(hit, memory=memory, why=dict(hit.why))
