"""Searching: the question is answered, or the answer looked up that was kept a moment ago."""

from dataclasses import replace
from typing import Unpack

from afterwit import recall
from afterwit.config import Settings
from afterwit.embedding import Embedder
from afterwit.errors import ProviderError
from afterwit.llm import LLM
from afterwit.recall import Question, SearchAnswer, SecondOpinion
from afterwit.records import KeyFilter
from afterwit.rerank import Reranker
from afterwit.service.answers import Answers
from afterwit.service.naming import Naming
from afterwit.service.options import SearchOptions, read_question
from afterwit.service.reembedding import OlderModels, Reembedding
from afterwit.storage import Reader


class Searching(Naming):
    """The part of the service that answers questions."""

    settings: Settings
    embedder: Embedder | None
    _answers: Answers
    _older: OlderModels
    #: None without an embedder
    _reembedding: Reembedding | None
    #: within the token budget; None = rules alone
    llm: LLM | None
    #: reads the best candidates of a search again; see `rerank_with`
    reranker: Reranker | None = None

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """Find the few memories that matter for a question, or say that there is none.

        Args:
            query: what is looked for, a sentence or words.
            **options: see `SearchOptions`. `as_of` asks what was true at a time, as known today;
                `known_at` asks what was believed at a time. The answer is kept until the space
                changes, for a minute at most; `prefetch` says that nothing else is wanted yet.

        Raises:
            InvalidInput: empty query, k outside 1..50, malformed scope, naive time, ...
            StorageError: the store could not be read.
        """
        question = read_question(query, options, settings=self.settings, now=self._clock())
        opinion = SecondOpinion(self.reranker, deadline_s=self.settings.reranker_timeout_s)
        answer = self._found(question, opinion)
        # A reranker may take seconds: no reading of the store stays open for it.
        if opinion.ask():
            answer = self._found(question, opinion)
        return replace(answer, degraded=(*answer.degraded, *opinion.degraded)) if opinion.degraded else answer

    def rerank_with(self, reranker: Reranker | None) -> None:
        """Have the best candidates of every search read again by this one; None = the order of relevance stays."""
        if self.reranker is not None:
            self.reranker.close()
        self.reranker = reranker
        self._answers.clear()
        if reranker is not None:
            reranker.warm()

    def _found(self, question: Question, opinion: SecondOpinion) -> SearchAnswer:
        """The answer to a question, kept or made; one that a reranker is still to see is not kept."""
        with self.store.reading() as reader:
            number = reader.change_number(self.space)
            answer = self._answers.find(question, number)
            if answer is None:
                answer = self._answer(reader, self._asked_by_any_name(question), opinion)
                if not opinion.is_wanted:
                    self._answers.keep(question, number, answer, reader.next_turn(self.space, question.now))
        return answer

    def _answer(self, reader: Reader, question: Question, opinion: SecondOpinion) -> SearchAnswer:
        older, lost = self._older_embedders(reader)
        answer = recall.search(reader, self.space, question, self.embedder, older, second_opinion=opinion)
        if lost:
            answer = replace(answer, degraded=(*answer.degraded, *lost))
        return answer if answer.hits else replace(answer, other_scopes=self._other_scopes(reader, question.where))

    def _older_embedders(self, reader: Reader) -> tuple[list[Embedder], tuple[str, ...]]:
        """Embedders of earlier models that are needed until every memory has a vector of the present one,
        and what to say of those that cannot be had."""
        if self.embedder is None or self._reembedding is None:
            return [], ()
        try:
            models = reader.other_models(self.space, self.embedder.model)
        except ProviderError:
            return [], ()  # the search itself says so
        if not models:
            return [], ()
        self._reembedding.wake()
        return self._older.open(models)

    def _other_scopes(self, reader: Reader, where: KeyFilter) -> tuple[str, ...]:
        """Scopes that hold active memories and were not searched; helps a caller who forgot to name one."""
        searched = set(where.scopes)
        return tuple(scope for scope in reader.known_scopes(self.space) if scope not in searched)[:5]
