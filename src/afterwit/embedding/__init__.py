"""Turns text into vectors: the `Embedder` protocol, its providers and `open_embedder`.

Importing this package loads no model and no provider's library: those are loaded when a provider
is opened, and the offline default in the background.
"""

from afterwit.config import Settings
from afterwit.embedding.base import CachingEmbedder, Embedder, from_vector, prepare, to_vector
from afterwit.embedding.hashing import HashEmbedder
from afterwit.embedding.use import UseEmbedder
from afterwit.errors import ConfigError

__all__ = [
    "CachingEmbedder",
    "Embedder",
    "HashEmbedder",
    "UseEmbedder",
    "from_vector",
    "open_embedder",
    "prepare",
    "to_vector",
]


def open_embedder(settings: Settings) -> Embedder | None:
    """Make the embedder that the settings name; does not load or connect yet.

    Returns:
        The embedder, or None for `embedder = "none"`: then search works by words alone.

    Raises:
        ConfigError: an unknown provider, or an endpoint that is incomplete or malformed.
    """
    provider, _, model = settings.embedder.partition(":")
    match provider, model:
        case "none", "":
            return None
        case "hash", "":
            return HashEmbedder()
        case "use", "":
            return CachingEmbedder(UseEmbedder(settings.data_dir / "cache"))
        case "openai", name if name:
            # Only who asked for an endpoint pays for the import of an HTTP client (0.1 s).
            from afterwit.embedding.openai import open_endpoint  # noqa: PLC0415

            return CachingEmbedder(open_endpoint(settings, name))
        case _:
            raise ConfigError(
                f"Unknown embedder {settings.embedder!r}.",
                next_step='Use "use", "none", "hash" or "openai:MODEL".',
            )
