"""A second opinion on the best candidates, where a reranker is configured, or the plain order."""

from collections.abc import Sequence

import numpy as np

from afterwit import rank
from afterwit.errors import ProviderError, StorageError, TooManyRequests
from afterwit.records import Memory
from afterwit.rerank import Reranker

#: Candidates that are read again: as many as a small model reads within two seconds.
MOST = 30


class SecondOpinion:
    """Asks a reranker within its deadline; what it had to say, or why it could not."""

    def __init__(self, reranker: Reranker | None, *, deadline_s: float) -> None:
        """Ask nobody yet.

        Args:
            reranker: reads query and memory together; None = there is no second opinion.
            deadline_s: longest wait, in seconds.
        """
        self._reranker = reranker
        self._deadline_s = deadline_s
        #: why the order is the plain one though a reranker is configured
        self.degraded: tuple[str, ...] = ()

    def of(self, query: str, memories: Sequence[Memory], relevance: rank.Floats) -> rank.Floats | None:
        """How likely each memory answers, by the reranker.

        Returns:
            Shape (n,), 0..1, NaN for all but the best candidates; None when there is no opinion.
        """
        if self._reranker is None or not memories:
            return None
        best = sorted(range(len(memories)), key=lambda place: (-relevance[place], memories[place].id))[:MOST]
        texts = [memories[place].summary for place in best]
        found = np.full(len(memories), np.nan)
        try:
            found[best] = self._reranker.scores(query, texts, deadline_s=self._deadline_s)
        except (ProviderError, TooManyRequests, StorageError) as error:
            self.degraded = (f"reranker: {error}",)
            return None
        return found


#: What a search without a reranker is given.
NOBODY = SecondOpinion(None, deadline_s=0.0)
