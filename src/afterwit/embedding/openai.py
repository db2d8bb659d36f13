"""Vectors from an HTTP endpoint that speaks OpenAI's `POST /embeddings`, hosted or local."""

import email.utils
import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import numpy as np
from numpy.typing import NDArray

from afterwit import clock
from afterwit.config import Settings
from afterwit.embedding.base import PREPARATION, Background, prepare
from afterwit.errors import ConfigError, ProviderError

#: Texts of one request; the smallest limit among common servers.
_BATCH = 64

#: Sent of each text. Memories are one or two sentences; small models read 512 tokens.
_CHARACTERS = 2_000

#: A 64-text answer of 4,096 dimensions has about 6 MB.
_MOST_ANSWER_BYTES = 64 << 20

#: Pause before the second try when the server does not name one, in seconds.
_PAUSE_S = 0.5

_PROBE = "memory"

_OK, _TOO_MANY_REQUESTS = 200, 429


@dataclass(frozen=True)
class Endpoint:
    """Where and how to ask."""

    #: full address of the embeddings call
    url: str
    #: host and port, for the model id and messages
    host: str
    model: str
    #: empty = send no key; never shown
    key: str
    #: name of the variable that the key came from
    key_env: str
    #: for one request with its second try, in seconds
    timeout_s: float

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, model={self.model!r})"


class _Retriable(Exception):
    """A failure that a second try may cure."""

    def __init__(self, error: ProviderError, pause_s: float = _PAUSE_S) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause_s = pause_s


def open_endpoint(settings: Settings, model: str) -> "OpenAIEmbedder":
    """Read the endpoint's settings; no request is made.

    Raises:
        ConfigError: no or a malformed `embedder_url`, or a key that an HTTP header cannot carry.
    """
    address = settings.embedder_url.strip()
    if not address:
        raise ConfigError(
            f'embedder is "openai:{model}" but embedder_url is empty.',
            next_step="Set embedder_url, for example https://api.openai.com/v1 or http://127.0.0.1:11434/v1.",
        )
    try:
        parts = urlsplit(address)
        well_formed = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError("embedder_url is not a URL.", next_step="Write it as https://HOST/v1.") from None
    if not well_formed:
        raise ConfigError("embedder_url is not an http or https URL.", next_step="Write it as https://HOST/v1.")
    if "@" in parts.netloc:
        raise ConfigError(
            "embedder_url holds a user name or password.",
            next_step="Put the key into the variable that embedder_key_env names.",
        )
    key = os.environ.get(settings.embedder_key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"The key in {settings.embedder_key_env} holds characters that an HTTP header cannot carry.",
            next_step="Copy the key again.",
        )
    url = urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/embeddings", fragment=""))
    return OpenAIEmbedder(
        Endpoint(url, parts.netloc, model, key, settings.embedder_key_env, settings.embedder_timeout_s)
    )


class OpenAIEmbedder:
    """Asks an endpoint. Its first use sends one word to learn how many dimensions the model has.

    A request that meets 429, 5xx or a broken connection is tried once more, after the pause that the
    server asks for, if both fit into the timeout.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """No request is made yet."""
        self._endpoint = endpoint
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._client = httpx2.Client(headers=headers)
        self._closed = threading.Event()
        self._probing = Background(self._probe, finishes_before_exit=False)

    @property
    def host(self) -> str:
        """Host and port that are asked."""
        return self._endpoint.host

    @property
    def model(self) -> str:
        """See `Embedder.model`; the first call asks the endpoint."""
        endpoint = self._endpoint
        return f"openai/{endpoint.model}@{endpoint.host}/{self.dimensions}/{PREPARATION}"

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`; the first call asks the endpoint."""
        return self._probing.result()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; sends the first 2,000 characters of each text, 64 texts at a time."""
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for first in range(0, len(texts), _BATCH):
            batch = [prepare(text, characters=_CHARACTERS) for text in texts[first : first + _BATCH]]
            answer = self._ask(batch)
            if answer.shape[1] != rows.shape[1]:
                raise self._error(
                    f"answered {answer.shape[1]} dimensions after {rows.shape[1]} before",
                    "Another model runs there now: start anew and run `afterwit reindex`.",
                )
            rows[first : first + len(batch)] = answer
        return rows

    def warm(self) -> None:
        """See `Embedder.warm`; connects and sends the one-word question."""
        if not self._closed.is_set():
            self._probing.start()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._closed.set()
        self._client.close()

    def _probe(self) -> int:
        return int(self._ask([_PROBE]).shape[1])

    def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        """One batch, with a second try: shape (len(texts), dimensions), unit rows."""
        deadline = time.monotonic() + self._endpoint.timeout_s
        try:
            return self._ask_once(texts, deadline)
        except _Retriable as failure:
            if time.monotonic() + failure.pause_s >= deadline:
                raise failure.error from None
            pause_s = failure.pause_s
        self._closed.wait(pause_s)
        try:
            return self._ask_once(texts, deadline)
        except _Retriable as failure:
            raise failure.error from None

    def _ask_once(self, texts: list[str], deadline: float) -> NDArray[np.float32]:
        if self._closed.is_set():
            raise ProviderError("The embedder is closed.", next_step="Open a new one.")
        status, headers, body = self._send({"model": self._endpoint.model, "input": texts}, deadline)
        if status != _OK:
            raise self._refusal(status, headers, body)
        return self._read(body, len(texts))

    def _send(self, question: dict[str, Any], deadline: float) -> tuple[int, httpx2.Headers, bytes]:
        body = bytearray()
        timeout = max(0.001, deadline - time.monotonic())
        try:
            with self._client.stream("POST", self._endpoint.url, json=question, timeout=timeout) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    # The client's own timeout starts anew with each chunk; the setting is for all of them.
                    if time.monotonic() > deadline:
                        raise self._late()
                    if len(body) > _MOST_ANSWER_BYTES:
                        raise self._error("answered more than 64 MiB", "Check that embedder_url is an embedding API.")
                return response.status_code, response.headers, bytes(body)
        except httpx2.TimeoutException:
            raise self._late() from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            failure = self._error(
                f"cannot be reached ({type(error).__name__})", "Check that embedder_url is right and the server runs."
            )
            raise _Retriable(failure) from None

    def _late(self) -> ProviderError:
        return self._error(
            f"did not answer within {self._endpoint.timeout_s:g} s", "Try again, or raise embedder_timeout_s."
        )

    def _refusal(self, status: int, headers: httpx2.Headers, body: bytes) -> Exception:
        if status in {401, 403}:
            # Servers repeat parts of a wrong key in their answer: it is not shown.
            return self._error(
                f"refused the key ({status})", f"Put a valid key into the variable {self._endpoint.key_env}."
            )
        error = self._error(
            f"answered status {status}{self._reason(body)}",
            "Try again later."
            if status == _TOO_MANY_REQUESTS or status >= 500
            else "Check embedder_url and the model's name.",
        )
        if status == _TOO_MANY_REQUESTS or status >= 500:
            return _Retriable(error, _pause_s(headers.get("retry-after", "")))
        return error

    def _reason(self, body: bytes) -> str:
        """What the server says of its error, cut short and without the key; "" when it says nothing."""
        try:
            said: Any = json.loads(body)["error"]
            message = said if isinstance(said, str) else said["message"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return ""
        words = " ".join(str(message).split())
        if self._endpoint.key:
            words = words.replace(self._endpoint.key, "***")
        return f": {words[:200]}"

    def _read(self, body: bytes, count: int) -> NDArray[np.float32]:
        """Check an answer and bring it into the order of the question."""
        try:
            items = json.loads(body)["data"]
            by_index = {item["index"]: item["embedding"] for item in items}
            if len(items) != count or set(by_index) != set(range(count)):
                raise self._error(f"answered {len(items)} vectors for {count} texts", _NOT_AN_ENDPOINT)
            rows = np.asarray([by_index[index] for index in range(count)], dtype=np.float64)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise self._error("did not answer with embeddings", _NOT_AN_ENDPOINT) from None
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise self._error("did not answer with embeddings", _NOT_AN_ENDPOINT)
        if not np.isfinite(rows).all() or np.abs(rows).max() > 1e100:
            raise self._error("answered numbers that are not finite", "Check the model on the server.")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if lengths.min() < 1e-12:
            raise self._error("answered a vector of zeros", "Check the model on the server.")
        return (rows / lengths).astype(np.float32)

    def _error(self, what: str, next_step: str) -> ProviderError:
        return ProviderError(f"The embedding endpoint at {self._endpoint.host} {what}.", next_step=next_step)


_NOT_AN_ENDPOINT = "Check that embedder_url is the base of an OpenAI-compatible API, like https://HOST/v1."


def _pause_s(retry_after: str) -> float:
    """Seconds that a `Retry-After` header (RFC 9110, section 10.2.3) asks to wait."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(retry_after)
        return max(0.0, (moment - clock.utc_now()).total_seconds())
    except (ValueError, TypeError):
        return _PAUSE_S
