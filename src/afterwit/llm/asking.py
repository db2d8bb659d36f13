"""One question to one endpoint: which form of asking, and what each failure means. Imports pydantic-ai."""

import asyncio
import re
from typing import Any, assert_never, cast

import httpx2
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    ModelTimeoutError,
    OutputTokenLimitExceeded,
    ToolRetryError,
    UnexpectedModelBehavior,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile, merge_profile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.alibaba import AlibabaProvider
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from afterwit.errors import ProviderError
from afterwit.llm.base import Output
from afterwit.llm.endpoint import Endpoint, Mode
from afterwit.prompts import Prompt

#: Second tries: of an answer that is not in the form, and of a request that failed.
_RETRIES = 1

#: Longest part of a server's own words that is passed on.
_MOST_WORDS = 200

#: Faults of an answer that are told.
_MOST_DETAILS = 3

_TOO_MANY_REQUESTS = 429

#: What servers answer to a form of asking that they do not know.
_NOT_UNDERSTOOD = frozenset({400, 422, 501})

#: How they say that a question is too long for their model.
_TOO_LARGE = 413
_TOO_LONG = re.compile(r"context.{0,12}(?:length|size|window)|too long", re.IGNORECASE)

#: Sent where a client library insists on a key and the server does not.
_NO_KEY = "none"


class Asking:
    """Asks one endpoint. Safe to share between threads and event loops."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._mode: Mode = endpoint.mode

    async def ask(
        self, prompt: Prompt, *, schema: type[Output], max_tokens: int, timeout_s: float
    ) -> tuple[Output, tuple[int, int]]:
        """The answer, and how many tokens were read and written; see `LLM.answer`.

        Raises:
            ProviderError: see `LLM.answer`.
            TimeoutError: there was no answer in time.
        """
        usage = RunUsage()
        try:
            async with asyncio.timeout(timeout_s), httpx2.AsyncClient(timeout=timeout_s) as client:
                output = await self._ask(prompt, schema, max_tokens, client, usage)
        except (TimeoutError, ModelTimeoutError, ModelRequestTimeout):
            raise TimeoutError from None
        except Exception as error:  # noqa: BLE001 - raised on, as what it means
            # Servers answer whatever they like, and the library then raises whatever comes of it. That may repeat
            # the key or the material: it stays behind.
            raise self._failure(error, (usage.input_tokens, usage.output_tokens)) from None
        return output, (usage.input_tokens, usage.output_tokens)

    async def _ask(
        self, prompt: Prompt, schema: type[Output], max_tokens: int, client: httpx2.AsyncClient, usage: RunUsage
    ) -> Output:
        model = _model(self._endpoint, client)
        settings = ModelSettings(max_tokens=max_tokens, max_retries=_RETRIES, thinking=False)
        if self._endpoint.provider != "anthropic" and not model.profile.get("supports_thinking"):
            # Models that think, and the newest of Anthropic's, refuse it.
            settings["temperature"] = 0.0
        mode = self._mode
        while True:
            if mode == "native" and not model.profile.get("supports_json_schema_output"):
                mode = "prompted"
            agent = Agent(
                model,
                name=prompt.name,
                output_type=_form(mode, schema),
                instructions=prompt.instructions,
                retries={"tools": 0, "output": _RETRIES},
            )
            try:
                output = (await agent.run(prompt.content, model_settings=settings, usage=usage)).output
            except ModelHTTPError as error:
                if mode == "prompted" or error.status_code not in _NOT_UNDERSTOOD or _is_too_long(error):
                    raise
                mode = "prompted"
            else:
                # Only now it is known that the form was at fault, and not the question.
                self._mode = mode
                return output

    def _failure(self, error: Exception, tokens: tuple[int, int]) -> ProviderError:
        match error:
            case ModelHTTPError():
                return self._refusal(error)
            case ModelConnectionError():
                step = "Check that llm_url is right and the server runs."
                return self._error("cannot be reached", step, reason="unreachable")
            case OutputTokenLimitExceeded():
                step = "Give it less to read, or use another model."
                return self._error("was cut off before its answer was whole", step, reason="cut off", tokens=tokens)
            case UnexpectedModelBehavior():
                what = f"did not answer in the form that was asked for, twice: {_misform(error)}"
                return self._error(what, "Use a more capable model.", reason="invalid", tokens=tokens)
            case AgentRunError() | ModelAPIError():
                return self._error("did not answer as a language model does", _NOT_AN_API, reason="unreadable")
            case _:
                what = f"did not answer as a language model does ({type(error).__name__})"
                return self._error(what, _NOT_AN_API, reason="unreadable", tokens=tokens)

    def _refusal(self, error: ModelHTTPError) -> ProviderError:
        status, key_env = error.status_code, self._endpoint.key_env
        if status in {401, 403}:
            # Servers repeat parts of a wrong key in their answer: it is not shown.
            step = (
                f"Put a valid key into the variable {key_env}."
                if key_env
                else "Name the key's variable in llm_key_env."
            )
            return self._error(f"refused the key ({status})", step, reason="key")
        if _is_too_long(error):
            what = f"cannot read so much at once{self._words(error.body)}"
            return self._error(
                what, "Give it less to read, or let its server keep a longer context.", reason="too long"
            )
        passing = status == _TOO_MANY_REQUESTS or status >= 500
        step = "Try again later." if passing else "Check the model's name and llm_url."
        return self._error(f"answered status {status}{self._words(error.body)}", step, reason=f"status {status}")

    def _words(self, body: object) -> str:
        """What the server says of its error, cut short and without the key; "" when it says nothing."""
        said = _inner(_inner(body, "error"), "message")
        words = " ".join(said.split()) if isinstance(said, str) else ""
        if self._endpoint.key:
            words = words.replace(self._endpoint.key, "***")
        return f": {words[:_MOST_WORDS]}" if words else ""

    def _error(self, what: str, next_step: str, *, reason: str, tokens: tuple[int, int] = (0, 0)) -> ProviderError:
        message = f"The language model {self._endpoint.name} {what}."
        return ProviderError(message, next_step=next_step, reason=reason, tokens=tokens)


_NOT_AN_API = "Check that llm_url is the base of a language model's API, like https://HOST/v1."


def _form(mode: Mode, schema: type[Output]) -> Any:
    match mode:
        case "native":
            return NativeOutput(schema)
        case "tool":
            return ToolOutput(schema)
        case "prompted":
            return PromptedOutput(schema)
        case _:
            assert_never(mode)


def _is_too_long(error: ModelHTTPError) -> bool:
    """Whether a server says that the question is longer than its model reads."""
    said = error.status_code in _NOT_UNDERSTOOD or error.status_code == _TOO_LARGE
    return said and bool(_TOO_LONG.search(str(error.body)))


def _misform(error: Exception) -> str:
    """What was wrong with an answer, without repeating it."""
    cause = error.__cause__
    if isinstance(cause, ToolRetryError):
        content: Any = cause.tool_retry.content
        if isinstance(content, list):
            details = cast("list[dict[str, Any]]", content)[:_MOST_DETAILS]
            return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in details)
    return "there was none"


def _inner(body: object, name: str) -> object:
    """A field of a JSON object; anything else as it is."""
    if not isinstance(body, dict):
        return body
    fields = cast("dict[str, object]", body)
    return fields.get(name, fields)


def _model(endpoint: Endpoint, client: httpx2.AsyncClient) -> Model:
    key = endpoint.key or _NO_KEY
    if endpoint.provider == "anthropic":
        return AnthropicModel(
            endpoint.model, provider=AnthropicProvider(api_key=key, base_url=endpoint.url, http_client=client)
        )
    if endpoint.provider == "openai" and not endpoint.host:
        return OpenAIChatModel(
            endpoint.model, provider=OpenAIProvider(base_url=endpoint.url, api_key=key, http_client=client)
        )
    provider = OpenAICompatibleProvider(
        endpoint.provider, base_url=endpoint.url, api_key=key, http_client=client, profile=_profile(endpoint)
    )
    return OpenAIChatModel(endpoint.model, provider=provider)


def _profile(endpoint: Endpoint) -> ModelProfile:
    """What the library knows of a model on a server that speaks OpenAI's protocol."""
    match endpoint.provider:
        case "deepseek":
            known = DeepSeekProvider.model_profile(endpoint.model)
        case "qwen":
            known = AlibabaProvider.model_profile(endpoint.model)
        case "ollama":
            known = OllamaProvider.model_profile(endpoint.model)
        case _:
            known = OpenAICompatibleProvider.model_profile(endpoint.model)
    if known and known.get("supports_thinking"):
        return known
    # The older name of the limit is the one that every such server knows; OpenAI's thinking models refuse it.
    return merge_profile(known, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False))
