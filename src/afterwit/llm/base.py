"""What every language model promises."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    # Loads pydantic, which only those need who ask.
    from pydantic import BaseModel

    from afterwit.prompts import Prompt

Output = TypeVar("Output", bound="BaseModel")


@dataclass(frozen=True)
class Usage:
    """What one answer took, second tries included."""

    #: which model answered, such as "openai:gpt-5-mini"
    model: str
    #: tokens read, >= 0
    input_tokens: int
    #: tokens written, >= 0
    output_tokens: int
    #: time from question to answer
    seconds: float


@dataclass(frozen=True)
class Answer(Generic[Output]):
    """What a model answered, in the form that was asked for."""

    output: Output
    usage: Usage


class LLM(Protocol):
    """Answers prompts in a given form. Safe to share between threads."""

    @property
    def model(self) -> str:
        """Provider, model and (when it is not the provider's own) host: what usage is recorded under."""
        ...

    def warm(self) -> None:
        """Start loading what the first question needs, in the background; returns at once."""
        ...

    def answer(self, prompt: "Prompt", *, schema: type[Output], max_tokens: int, timeout_s: float) -> Answer[Output]:
        """Ask once, and once more when the answer is not of the form.

        Args:
            prompt: the question.
            schema: the form of the answer; what comes back is an instance, validated.
            max_tokens: most tokens that one try may write, >= 1.
            timeout_s: longest wait for all tries together, in seconds.

        Raises:
            ProviderError: the model cannot be reached, did not answer in time, or not in the form; its `tokens`
                say what was used all the same.
            TooManyRequests: the token budget of the day is used up; nothing was asked.
        """
        ...
