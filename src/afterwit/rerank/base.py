"""What every reranker promises."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Reranker(Protocol):
    """Reads query and text together and says how well the one answers the other. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The setting that made it, for messages."""
        ...

    def scores(self, query: str, texts: Sequence[str], *, deadline_s: float) -> NDArray[np.float64]:
        """How likely each text answers the query.

        Args:
            query: what is looked for.
            texts: candidates, at least one.
            deadline_s: longest wait for all of them together, in seconds, loading included.

        Returns:
            Shape (len(texts),), each 0..1, 0.5 = as likely as not.

        Raises:
            ProviderError: the model cannot be loaded, reached or understood, or not in time.
            TooManyRequests: the language model's budget is used up.
            StorageError: its budget cannot be read.
        """
        ...

    def warm(self) -> None:
        """Start loading in the background and return at once."""
        ...

    def close(self) -> None:
        """Release the model; `scores` then raises `ProviderError`."""
        ...
