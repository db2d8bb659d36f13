"""A language model behind an HTTP API, asked with pydantic-ai."""

import asyncio
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from afterwit.errors import ProviderError
from afterwit.llm.base import Answer, Output, Usage

if TYPE_CHECKING:
    from afterwit.llm.asking import Asking
    from afterwit.prompts import Prompt

#: How a model is made to answer in a form: by a schema that the server enforces, by a tool whose arguments are the
#: answer, or by asking for JSON in words.
Mode = Literal["native", "tool", "prompted"]

#: Left to a request that is past its deadline to end by itself, in seconds.
_GRACE_S = 0.5


@dataclass(frozen=True)
class Endpoint:
    """Where and how to ask."""

    provider: str
    model: str
    #: base of the API
    url: str
    #: host and port when it is not the provider's own; else empty
    host: str
    #: empty = send none; never shown
    key: str
    #: name of the variable that the key came from
    key_env: str
    #: tried first; a schema that the server does not understand is asked for in words from then on
    mode: Mode

    @property
    def name(self) -> str:
        """For messages and records."""
        return f"{self.provider}:{self.model}" + (f"@{self.host}" if self.host else "")

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"


class EndpointLLM:
    """Asks an endpoint, each question on a connection of its own.

    A request that meets 429, 5xx or a broken connection is tried once more, and so is an answer that is not in the
    form. All tries share one deadline.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """No request is made yet."""
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._asking: Asking | None = None

    @property
    def model(self) -> str:
        """See `LLM.model`."""
        return self._endpoint.name

    def warm(self) -> None:
        """See `LLM.warm`: imports the provider's library, which takes about two seconds."""
        threading.Thread(target=self._loaded, name="afterwit-llm-load", daemon=True).start()

    def answer(self, prompt: "Prompt", *, schema: type[Output], max_tokens: int, timeout_s: float) -> Answer[Output]:
        """See `LLM.answer`."""
        started = time.monotonic()
        future: Future[tuple[Output, tuple[int, int]]] = Future()

        def ask() -> None:
            try:
                asking = self._loaded()
                left_s = max(0.0, started + timeout_s - time.monotonic())
                coroutine = asking.ask(prompt, schema=schema, max_tokens=max_tokens, timeout_s=left_s)
                future.set_result(asyncio.run(coroutine))
            except TimeoutError:
                future.set_exception(self._late(timeout_s))
            except BaseException as error:  # noqa: BLE001 - belongs to the thread that waits for the result
                future.set_exception(error)

        # A thread of its own, because the caller's may run an event loop, and because nothing inside the library
        # may hold the caller back past the deadline. It never keeps the process from ending.
        threading.Thread(target=ask, name="afterwit-llm", daemon=True).start()
        try:
            output, tokens = future.result(timeout_s + _GRACE_S)
        except FutureTimeout:
            raise self._late(timeout_s) from None
        return Answer(output, Usage(self.model, *tokens, time.monotonic() - started))

    def _late(self, timeout_s: float) -> ProviderError:
        return ProviderError(
            f"The language model {self.model} did not answer within {timeout_s:g} s.",
            next_step="Try again, or allow more time (llm_timeout_s).",
            reason="timeout",
        )

    def _loaded(self) -> "Asking":
        with self._lock:
            if self._asking is None:
                try:
                    from afterwit.llm.asking import Asking  # noqa: PLC0415 - two seconds of imports
                except ImportError as error:
                    raise ProviderError(
                        f"The package pydantic-ai-slim is incomplete: {error}.",
                        next_step="Install it anew: pip install 'afterwit[llm]'.",
                        reason="not installed",
                    ) from error

                self._asking = Asking(self._endpoint)
            return self._asking
