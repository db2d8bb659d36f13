"""A language model as reranker: it grades the candidates from 0 to 3."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterwit import prompts, text
from afterwit.llm import LLM

#: What each grade says of a candidate: nothing to do with it, about the same, a part of the answer, the answer.
GRADES = (0.02, 0.3, 0.7, 0.98)

#: Tokens that one grade takes in an answer, and what stands around them.
_TOKENS_PER_GRADE, _TOKENS_AROUND = 24, 40

#: Sent of each candidate: memories are one or two sentences, turns of a conversation can be long.
_CHARACTERS = 500
#: Most tokens of all of them: with the answer they fit into the context that small local models have.
_MOST_TOKENS = 2_400


class LLMReranker:
    """Asks once for all candidates; those that the model does not name are about something else."""

    def __init__(self, llm: LLM) -> None:
        """No request is made yet."""
        self._llm = llm

    @property
    def name(self) -> str:
        """See `Reranker.name`."""
        return f"llm ({self._llm.model})"

    def scores(self, query: str, texts: Sequence[str], *, deadline_s: float) -> NDArray[np.float64]:
        """See `Reranker.scores`; sends the query and the first 500 characters of each text, without secrets,
        or an equal share of 2,400 tokens where they are longer than that together."""
        shown = _within([text.redact_secrets(one[:_CHARACTERS]) for one in texts])
        answer = self._llm.answer(
            prompts.rerank(text.redact_secrets(query), shown),
            schema=prompts.Ratings.of(len(texts)),
            max_tokens=_TOKENS_AROUND + _TOKENS_PER_GRADE * len(texts),
            timeout_s=deadline_s,
        )
        grades = np.zeros(len(texts), dtype=np.int64)
        # A candidate that is named twice keeps its first grade.
        for rating in reversed(answer.output.ratings):
            if 1 <= rating.number <= len(texts):
                grades[rating.number - 1] = rating.relevance
        return np.array(GRADES)[grades]

    def warm(self) -> None:
        """See `Reranker.warm`."""
        self._llm.warm()

    def close(self) -> None:
        """See `Reranker.close`; the language model belongs to who made it."""


def _within(texts: Sequence[str]) -> list[str]:
    """Texts of which those that have more than their share are cut, when all together are too long."""
    if sum(map(text.count_tokens, texts)) <= _MOST_TOKENS:
        return list(texts)
    return [text.truncate(one, _MOST_TOKENS // len(texts)) for one in texts]
