"""Settings: one table, read once, from a TOML file and `AFTERWIT_*` variables. Nothing is read at import."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from afterwit.errors import ConfigError, Sentence

#: Longest name of a space.
MAX_SPACE_CHARS = 200


@dataclass(frozen=True)
class Setting:
    """One row of the table."""

    name: str
    default: str | int | float
    #: one sentence for the reference page
    sentence: str


#: Every setting there is. `docs/reference/settings.md` lists the same, and a test says so.
SETTINGS: tuple[Setting, ...] = (
    Setting("data_dir", "", "Directory for the database and caches; empty means ~/.afterwit."),
    Setting("store", "", "Database URL; empty means sqlite:///DATA_DIR/memory.db."),
    Setting("space", "default", "The tenant that local commands read and write."),
    Setting(
        "embedder",
        "use",
        'What makes vectors: "use" (offline default), "minilm", "e5", "use+minilm", "use+e5", "use+minilm+e5", '
        '"onnx:FOLDER", "sentence-transformers:FOLDER", "openai:MODEL", "hash" or "none".',
    ),
    Setting("embedder_url", "", "Base URL of an OpenAI-compatible embedding endpoint; no request is made without one."),
    Setting("embedder_key_env", "OPENAI_API_KEY", "Name of the environment variable that holds the endpoint's key."),
    Setting("embedder_timeout_s", 10.0, "Longest wait for one embedding request, in seconds."),
    Setting(
        "llm",
        "",
        'Language model for what rules cannot do: "openai:MODEL" (any compatible server with llm_url), '
        '"anthropic:MODEL", "deepseek:MODEL", "qwen:MODEL" or "ollama:MODEL"; empty: none, nothing is sent anywhere.',
    ),
    Setting("llm_url", "", "Base URL of the language model's API; empty: the provider's own."),
    Setting("llm_key_env", "", "Name of the environment variable that holds its key; empty: the provider's usual one."),
    Setting("llm_timeout_s", 60.0, "Longest wait for one answer of the language model, in seconds."),
    Setting("llm_budget_tokens", 200_000, "Most tokens, read and written, that one space may use in one day (UTC)."),
    Setting(
        "llm_extract",
        "on",
        'Whether a written text of several sentences is also read by the language model, if there is one: "on" or '
        '"off".',
    ),
    Setting(
        "reranker",
        "",
        'What reads the 30 best candidates of a search again, together with the query: "onnx:FOLDER" (a '
        'cross-encoder) or "llm"; empty: nothing. Its opinion counts 0.4 and the relevance 0.6, in log-odds: measured '
        "with made-up opinions, for no cross-encoder comes as a package.",
    ),
    Setting("reranker_timeout_s", 2.0, "Longest wait for it, in seconds; later the order stays as it is."),
    Setting(
        "holdout_share",
        0.0,
        "Share of learned lessons that is left out at random to measure what they are worth, 0 to 0.5.",
    ),
    Setting("lock_wait_s", 30.0, "Longest wait for another process that is writing, in seconds."),
    Setting("host", "127.0.0.1", "Address that `afterwit serve` listens on."),
    Setting("port", 8765, "Port that `afterwit serve` listens on."),
    Setting("top_k", 5, "Results of a search that does not say how many, 1 to 50."),
    Setting("budget_tokens", 800, "Most tokens that the results of one search may take."),
    Setting(
        "timezone",
        "",
        'Zone in which "yesterday" and "上周" are meant, like Asia/Shanghai; empty: that of the machine.',
    ),
    Setting("log_level", "WARNING", "DEBUG, INFO, WARNING or ERROR; logs go to standard error."),
)


@dataclass(frozen=True)
class Settings:
    """The settings' values; see `SETTINGS` for their meaning."""

    data_dir: Path
    store: str
    space: str
    embedder: str
    embedder_url: str
    embedder_key_env: str
    embedder_timeout_s: float
    llm: str
    llm_url: str
    llm_key_env: str
    llm_timeout_s: float
    llm_budget_tokens: int
    llm_extract: str
    reranker: str
    reranker_timeout_s: float
    holdout_share: float
    lock_wait_s: float
    host: str
    port: int
    top_k: int
    budget_tokens: int
    timezone: str
    log_level: str


def load_settings(
    *, environ: Mapping[str, str] | None = None, overrides: Mapping[str, str | int | float] | None = None
) -> Settings:
    """Read the settings: defaults, then `DATA_DIR/config.toml`, then `AFTERWIT_*`, then `overrides`.

    Args:
        environ: environment variables; None = those of the process.
        overrides: values that win over all others, such as command line options.

    Raises:
        ConfigError: an unknown name, a value of the wrong type or out of range, an unreadable file.
    """
    given = dict(os.environ if environ is None else environ)
    known = {setting.name: setting for setting in SETTINGS}
    values: dict[str, Any] = {setting.name: setting.default for setting in SETTINGS}
    from_environ = {
        name: text for name in known if (text := given.get(f"AFTERWIT_{name.upper()}")) is not None and text != ""
    }
    chosen_dir = (overrides or {}).get("data_dir") or from_environ.get("data_dir") or ""
    data_dir = Path(str(chosen_dir)).expanduser() if chosen_dir else Path.home() / ".afterwit"
    for source in (_read_file(data_dir / "config.toml"), from_environ, overrides or {}):
        for name, value in source.items():
            if name not in known:
                raise ConfigError(
                    Sentence("Unknown setting {name!r}.", name=name),
                    next_step="`afterwit doctor` lists the settings there are.",
                )
            values[name] = _convert(known[name], value)
    values["data_dir"] = data_dir
    values["store"] = values["store"] or f"sqlite:///{data_dir / 'memory.db'}"
    settings = Settings(**values)
    _check(settings)
    return settings


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            Sentence("Cannot read {path}: {problem}.", path=path, problem=error),
            next_step="Mend the file or move it away.",
        ) from error


def _convert(setting: Setting, value: Any) -> Any:
    wanted = type(setting.default)
    try:
        if isinstance(value, bool):
            raise ValueError
        return wanted(value)
    except (TypeError, ValueError):
        raise ConfigError(
            Sentence(
                "Setting {name} must be text, not {value!r}."
                if wanted is str
                else "Setting {name} must be a number, not {value!r}.",
                name=setting.name,
                value=value,
            ),
            next_step=_mend(setting.name),
        ) from None


def _mend(name: str) -> Sentence:
    return Sentence(
        "Mend it where it was set: in config.toml, in AFTERWIT_{variable} or as an option.", variable=name.upper()
    )


def _check(settings: Settings) -> None:
    ranges: dict[str, tuple[float, float]] = {
        "embedder_timeout_s": (0.1, 600),
        "llm_timeout_s": (0.1, 3600),
        "reranker_timeout_s": (0.05, 60),
        "llm_budget_tokens": (1, 1_000_000_000),
        "holdout_share": (0, 0.5),
        "lock_wait_s": (0.1, 600),
        "port": (0, 65535),
        "top_k": (1, 50),
        "budget_tokens": (50, 20_000),
    }
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            raise ConfigError(
                Sentence(
                    "Setting {name} is {value}; it must be from {low:g} to {high:g}.",
                    name=name,
                    value=value,
                    low=low,
                    high=high,
                ),
                next_step=_mend(name),
            )
    if not settings.space.strip() or len(settings.space) > MAX_SPACE_CHARS or not settings.space.isprintable():
        raise ConfigError(
            Sentence("Setting space is {space!r}.", space=settings.space),
            next_step=Sentence(
                "Use a name of 1 to {most} visible characters, such as default or team-a.", most=MAX_SPACE_CHARS
            ),
        )
    if settings.timezone:
        try:
            ZoneInfo(settings.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ConfigError(
                Sentence("Setting timezone is {timezone!r}, which is no zone.", timezone=settings.timezone),
                next_step="Use a name like Asia/Shanghai or UTC, or leave it empty.",
            ) from None
    if settings.llm_extract not in {"on", "off"}:
        raise ConfigError(
            Sentence('Setting llm_extract is {llm_extract!r}; use "on" or "off".', llm_extract=settings.llm_extract),
            next_step=_mend("llm_extract"),
        )
    if settings.log_level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise ConfigError(
            Sentence(
                "Setting log_level is {log_level!r}; use DEBUG, INFO, WARNING or ERROR.", log_level=settings.log_level
            ),
            next_step=_mend("log_level"),
        )
