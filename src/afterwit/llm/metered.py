"""A language model within a budget: what every call takes is kept, and no call begins that would go over it."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from afterwit import text
from afterwit.clock import utc_now
from afterwit.config import Settings
from afterwit.errors import ProviderError, StorageError, TooManyRequests
from afterwit.llm.base import LLM, Answer, Output
from afterwit.storage import LLMUse, Store

if TYPE_CHECKING:
    from afterwit.prompts import Prompt

_log = logging.getLogger(__name__)

_DAY = timedelta(days=1)

#: Failures after which a model may have read the question without saying what that took.
_READ_ALL_THE_SAME = frozenset({"timeout", "unreadable"})


class MeteredLLM:
    """Counts the tokens of one space by days in UTC, over all processes that share the store."""

    def __init__(
        self, llm: LLM, store: Store, space: str, *, budget_tokens: int, clock: Callable[[], datetime] = utc_now
    ) -> None:
        """Wrap a model.

        Args:
            llm: is asked.
            store: keeps what calls take.
            space: whose calls these are.
            budget_tokens: most tokens of one day, read and written.
            clock: reads the time, once per call.
        """
        self._llm = llm
        self._store = store
        self._space = space
        self._budget = budget_tokens
        self._clock = clock
        self._lock = threading.Lock()
        #: calls that the store could not keep yet
        self._unrecorded: list[LLMUse] = []

    @property
    def model(self) -> str:
        """See `LLM.model`."""
        return self._llm.model

    def warm(self) -> None:
        """See `LLM.warm`."""
        self._llm.warm()

    def used_tokens(self, now: datetime) -> int:
        """Tokens read and written in this space on the day of `now`, in UTC.

        Raises:
            StorageError: the store cannot be read.
        """
        day = _day(now)
        with self._lock:
            uses = [*self._unrecorded, *self._store.usage(self._space, day, day + _DAY)]
        return sum(use.input_tokens + use.output_tokens for use in uses if use.at >= day)

    def answer(self, prompt: "Prompt", *, schema: type[Output], max_tokens: int, timeout_s: float) -> Answer[Output]:
        """See `LLM.answer`. A second try may go over the budget, by one call at most.

        Raises:
            TooManyRequests: the call might go over the budget; nothing was asked.
            StorageError: the store cannot be read; nothing was asked.
        """
        now = self._clock()
        to_read = text.count_tokens(prompt.instructions) + text.count_tokens(prompt.content)
        self._require(now, to_read + max_tokens)
        try:
            answer = self._llm.answer(prompt, schema=schema, max_tokens=max_tokens, timeout_s=timeout_s)
        except ProviderError as error:
            tokens = error.tokens
            if tokens == (0, 0) and error.reason in _READ_ALL_THE_SAME:
                tokens = (to_read, 0)
            self._record(LLMUse(now, prompt.purpose, self.model, *tokens, error=error.reason or "failed"))
            raise
        usage = answer.usage
        # Some local servers do not count.
        read = usage.input_tokens or to_read
        written = usage.output_tokens or text.count_tokens(answer.output.model_dump_json())
        self._record(LLMUse(now, prompt.purpose, self.model, read, written))
        return answer

    def _require(self, now: datetime, needed: int) -> None:
        used = self.used_tokens(now)
        if used + needed > self._budget:
            raise TooManyRequests(
                f"The language model's budget for today is used up: {used:,} of {self._budget:,} tokens are used, and "
                f"this needs up to {needed:,}.",
                next_step=f"Wait until {_day(now) + _DAY:%Y-%m-%d} (UTC), or raise llm_budget_tokens.",
            )

    def _record(self, use: LLMUse) -> None:
        """Keep a call. One that the store cannot take now still counts here, and is kept with the next one."""
        with self._lock:
            self._unrecorded.append(use)
            try:
                while self._unrecorded:
                    self._store.record_usage(self._space, self._unrecorded[0])
                    del self._unrecorded[0]
            except StorageError as error:
                _log.warning("What a call of the language model took is not kept yet: %s", error)


def within_budget(
    llm: LLM | None, store: Store, settings: Settings, clock: Callable[[], datetime]
) -> MeteredLLM | None:
    """The model within the budget that the settings give their space; None when there is no model."""
    if llm is None:
        return None
    return MeteredLLM(llm, store, settings.space, budget_tokens=settings.llm_budget_tokens, clock=clock)


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
