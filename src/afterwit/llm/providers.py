"""Which providers there are, and what the settings say about the one in use."""

import importlib.util
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from afterwit.config import Settings
from afterwit.errors import ConfigError
from afterwit.llm.endpoint import Endpoint, EndpointLLM, Mode


@dataclass(frozen=True)
class Provider:
    """What is known of a provider before it is asked."""

    #: base of its API
    url: str
    #: variable that usually holds its key; empty = it needs none
    key_env: str
    mode: Mode


#: By the word before the colon of the setting `llm`.
PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "native"),
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY", "tool"),
    # Both refuse or ignore a schema with many of their models.
    "deepseek": Provider("https://api.deepseek.com", "DEEPSEEK_API_KEY", "prompted"),
    "qwen": Provider("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "prompted"),
    "ollama": Provider("http://127.0.0.1:11434/v1", "", "native"),
}

#: For messages.
CHOICES = ", ".join(f'"{name}:MODEL"' for name in PROVIDERS)


def open_endpoint(settings: Settings) -> EndpointLLM:
    """Read the settings; no request is made.

    Raises:
        ConfigError: an unknown provider, a package that is missing, a malformed `llm_url`, no key or a malformed one.
    """
    name, _, model = settings.llm.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None or not model.strip():
        raise ConfigError(f"Unknown language model {settings.llm!r}.", next_step=f"Use {CHOICES}, or leave it empty.")
    if importlib.util.find_spec("pydantic_ai") is None:
        raise ConfigError(
            f"The language model {settings.llm!r} needs the package pydantic-ai-slim, which is not installed.",
            next_step="Run pip install 'afterwit[llm]', or leave llm empty.",
        )
    url = settings.llm_url.strip().rstrip("/")
    host = _host(url) if url else ""
    # Who names another server does not want the provider's key sent there, unless told so.
    key_env = settings.llm_key_env.strip() or ("" if url else provider.key_env)
    key = _key(key_env)
    if key_env and not key and not url:
        raise ConfigError(
            f"The language model {settings.llm!r} needs a key, and {key_env} is empty.",
            next_step=f"Put the key into the variable {key_env}, or name another one in llm_key_env.",
        )
    endpoint = Endpoint(name, model.strip(), url or provider.url, host, key, key_env, provider.mode)
    return EndpointLLM(endpoint)


def _host(url: str) -> str:
    """Host and port of a base URL.

    Raises:
        ConfigError: it is no http or https URL, or holds a password.
    """
    try:
        parts = urlsplit(url)
        well_formed = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError("llm_url is not a URL.", next_step="Write it as https://HOST/v1.") from None
    if not well_formed or parts.query:
        raise ConfigError("llm_url is not an http or https URL.", next_step="Write it as https://HOST/v1.")
    if "@" in parts.netloc:
        raise ConfigError(
            "llm_url holds a user name or password.", next_step="Put the key into the variable that llm_key_env names."
        )
    return parts.netloc


def _key(key_env: str) -> str:
    key = os.environ.get(key_env, "").strip() if key_env else ""
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"The key in {key_env} holds characters that an HTTP header cannot carry.", next_step="Copy the key again."
        )
    return key
