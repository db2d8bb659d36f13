"""A second opinion on the best candidates, where a reranker is configured, or the plain order."""

from collections.abc import Mapping, Sequence

import numpy as np

from afterwit import rank
from afterwit.errors import ProviderError, StorageError, TooManyRequests
from afterwit.records import Memory
from afterwit.rerank import Reranker

#: Candidates that are read again: as many as a small model reads within two seconds.
MOST = 30


class SecondOpinion:
    """Asks a reranker within its deadline; what it had to say, or why it could not.

    A search notes what the reranker should read and goes on without it; `ask` has it read while no reading of the
    store is open; the same search done again then uses what it said.
    """

    def __init__(self, reranker: Reranker | None, *, deadline_s: float) -> None:
        """Ask nobody yet.

        Args:
            reranker: reads query and memory together; None = there is no second opinion.
            deadline_s: longest wait, in seconds.
        """
        self._reranker = reranker
        self._deadline_s = deadline_s
        self._query = ""
        #: memory id -> text, noted by a search
        self._texts: Mapping[str, str] = {}
        #: memory id -> how likely it answers; empty while nobody was asked
        self._said: Mapping[str, float] = {}
        #: why the order is the plain one though a reranker is configured
        self.degraded: tuple[str, ...] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether a search noted candidates about which nobody was asked yet."""
        return bool(self._texts) and not self._said and not self.degraded

    def ask(self) -> bool:
        """Have the noted candidates read; whether there is an opinion now that was not there before."""
        if self._reranker is None or not self.is_wanted:
            return False
        try:
            scores = self._reranker.scores(self._query, list(self._texts.values()), deadline_s=self._deadline_s)
        except (ProviderError, TooManyRequests, StorageError) as error:
            self.degraded = (f"reranker: {error}",)
            return False
        self._said = dict(zip(self._texts, map(float, scores), strict=True))
        return True

    def of(self, query: str, memories: Sequence[Memory], relevance: rank.Floats) -> rank.Floats | None:
        """How likely each memory answers, by the reranker.

        Returns:
            Shape (n,), 0..1, NaN for all but the best candidates; None when there is no opinion, or not yet.
        """
        if self._reranker is None or not memories:
            return None
        if not self._said:
            best = sorted(range(len(memories)), key=lambda place: (-relevance[place], memories[place].id))[:MOST]
            self._query, self._texts = query, {memories[place].id: memories[place].summary for place in best}
            return None
        return np.array([self._said.get(memory.id, np.nan) for memory in memories])


#: What a search without a reranker is given.
NOBODY = SecondOpinion(None, deadline_s=0.0)
