"""Turns text into vectors: the `Embedder` protocol, its providers and `open_embedder`.

Importing this package loads no model and no provider's library: those are loaded when a provider
is opened, and the offline default in the background.
"""

from afterwit.config import Settings
from afterwit.embedding.base import AsksApart, CachingEmbedder, Embedder, embed_queries, from_vector, prepare, to_vector
from afterwit.embedding.combined import WEIGHTS, CombinedEmbedder, Part, combine
from afterwit.embedding.hashing import HashEmbedder
from afterwit.embedding.use import UseEmbedder
from afterwit.errors import ConfigError, Sentence

__all__ = [
    "AsksApart",
    "CachingEmbedder",
    "CombinedEmbedder",
    "Embedder",
    "HashEmbedder",
    "Part",
    "UseEmbedder",
    "combine",
    "embed_queries",
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
        ConfigError: an unknown provider, a package that is not installed, an endpoint or a folder that
            is incomplete or malformed.
    """
    provider, _, model = settings.embedder.partition(":")
    match provider, model:
        case "none", "":
            return None
        case "hash", "":
            return HashEmbedder()
        case names, "" if set(names.split("+")) <= set(_INSTALLED):
            return CachingEmbedder(_installed(settings, names.split("+")))
        case "openai" | "onnx" | "sentence-transformers", name if name:
            return CachingEmbedder(_named(settings, provider, name))
        case _:
            raise ConfigError(
                Sentence("Unknown embedder {embedder!r}.", embedder=settings.embedder),
                next_step=Sentence("Use {choices}.", choices=CHOICES),
            )


#: Models that come as packages, in the order in which a combination names them.
_INSTALLED = tuple(WEIGHTS)

#: For messages.
CHOICES = (
    '"use", "none", "hash", "minilm", "e5", "use+minilm", "use+e5", "use+minilm+e5", "openai:MODEL", '
    '"onnx:FOLDER" or "sentence-transformers:FOLDER"'
)


def _installed(settings: Settings, names: list[str]) -> Embedder:
    if names != [name for name in _INSTALLED if name in names] or (len(names) > 1 and names[0] != "use"):
        raise ConfigError(
            Sentence("Unknown embedder {embedder!r}.", embedder=settings.embedder),
            next_step=Sentence("Use {choices}.", choices=CHOICES),
        )
    if len(names) == 1:
        return _one(settings, names[0])
    return combine({name: _one(settings, name) for name in names})


# Only who asks for a provider pays for the import of what it needs.


def _one(settings: Settings, name: str) -> Embedder:
    match name:
        case "minilm":
            from afterwit.embedding.minilm import open_minilm  # noqa: PLC0415

            return open_minilm()
        case "e5":
            from afterwit.embedding.e5 import E5Embedder  # noqa: PLC0415

            return E5Embedder()
        case _:
            return UseEmbedder(settings.data_dir / "cache")


def _named(settings: Settings, provider: str, name: str) -> Embedder:
    match provider:
        case "onnx":
            from afterwit.embedding.onnx import open_onnx  # noqa: PLC0415

            return open_onnx(name)
        case "sentence-transformers":
            from afterwit.embedding.transformer import open_transformer  # noqa: PLC0415

            return open_transformer(name)
        case _:
            from afterwit.embedding.openai import open_endpoint  # noqa: PLC0415 - an HTTP client, 0.1 s

            return open_endpoint(settings, name)
