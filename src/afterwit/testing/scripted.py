"""A language model that says what a test tells it to."""

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from afterwit import text
from afterwit.errors import AfterwitError, ProviderError
from afterwit.llm import Answer, Output, Usage

if TYPE_CHECKING:
    from afterwit.prompts import Prompt


class ScriptedLLM:
    """An `LLM` that gives the answers of a script in turn, and keeps what it was asked.

    Example:
        >>> llm = ScriptedLLM([{"lessons": []}, ProviderError("It is down.")])
    """

    def __init__(self, script: Iterable[Any] = (), *, model: str = "scripted") -> None:
        """Begin at the start of the script.

        Args:
            script: for each question a mapping or schema instance (the answer), an error (raised), or a function of
                the prompt that gives one of these. A mapping that does not fit the schema fails as a model's
                answer would: with `ProviderError`.
            model: the name that usage is recorded under.
        """
        self._script = list(script)
        self._model = model
        self._lock = threading.Lock()
        #: what was asked, in order
        self.prompts: list[Prompt] = []

    @property
    def model(self) -> str:
        """See `LLM.model`."""
        return self._model

    def warm(self) -> None:
        """See `LLM.warm`; there is nothing to load."""

    def answer(self, prompt: "Prompt", *, schema: type[Output], max_tokens: int, timeout_s: float) -> Answer[Output]:
        """See `LLM.answer`; tokens are estimated from the texts, no time passes.

        Raises:
            AssertionError: it was asked more often than the script says.
        """
        with self._lock:
            self.prompts.append(prompt)
            if not self._script:
                raise AssertionError(f"Asked more often than scripted: {prompt.purpose}.")
            said = self._script.pop(0)
        if callable(said):
            said = said(prompt)
        if isinstance(said, AfterwitError):
            raise said
        asked = text.count_tokens(prompt.instructions) + text.count_tokens(prompt.content)
        try:
            output = schema.model_validate(said)
        except ValueError as error:
            raise ProviderError(
                f"The language model {self._model} did not answer in the form that was asked for.",
                next_step="Mend the script.",
                reason="invalid",
                tokens=(asked, 0),
            ) from error
        return Answer(output, Usage(self._model, asked, text.count_tokens(output.model_dump_json()), 0.0))
