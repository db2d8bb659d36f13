"""Opens an embedder again from the id of its model, so that vectors of an earlier model still answer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from afterwit.config import Settings
from afterwit.embedding import CachingEmbedder, Embedder, HashEmbedder, open_embedder
from afterwit.errors import ConfigError, ProviderError

#: Values of the setting `embedder` whose model depends on nothing but what is installed.
_INSTALLED = ("use", "minilm", "e5", "use+minilm", "use+e5", "use+minilm+e5")


def reopen_embedder(model: str, settings: Settings) -> Embedder | None:
    """Make the embedder whose `Embedder.model` was `model`; does not load or connect yet.

    A model that is installed is opened if its package still has the same version and weights. An
    endpoint is asked only if it has the configured host and the present embedder is an endpoint, too:
    who has turned to an offline model does not want texts to leave the machine any more.

    Returns:
        The embedder, or None when there is no way back to this model.
    """
    kind, _, rest = model.partition("/")
    if kind == "hash":
        dimensions = rest.partition("/")[0]
        made = HashEmbedder(int(dimensions)) if dimensions.isascii() and dimensions.isdigit() else None
        return made if made is not None and made.model == model else None
    if kind == "openai":
        return _endpoint(model, settings)
    return next((made for choice in _INSTALLED if (made := _installed(choice, model, settings)) is not None), None)


def _installed(choice: str, model: str, settings: Settings) -> Embedder | None:
    try:
        made = open_embedder(replace(settings, embedder=choice))
        return made if made is not None and made.model == model else None
    except (ConfigError, ProviderError):
        return None


def _endpoint(model: str, settings: Settings) -> Embedder | None:
    """`model` reads openai/NAME@HOST/DIMENSIONS/PREPARATION, as `OpenAIEmbedder.model` writes it."""
    head, _, preparation = model.rpartition("/")
    head, _, dimensions = head.rpartition("/")
    name, _, host = head.removeprefix("openai/").rpartition("@")
    if not settings.embedder.startswith("openai:") or not (name and dimensions.isdigit()):
        return None
    # An HTTP client takes 0.1 s to import.
    from afterwit.embedding.openai import PREPARATION, open_endpoint  # noqa: PLC0415

    try:
        made = open_endpoint(settings, name)
    except ConfigError:
        return None
    if made.host != host or preparation != PREPARATION:
        made.close()
        return None
    return CachingEmbedder(_Reopened(made, model, int(dimensions)))


class _Reopened:
    """An endpoint's embedder whose id is known without asking."""

    def __init__(self, inner: Embedder, model: str, dimensions: int) -> None:
        self._inner = inner
        self.model = model
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        rows = self._inner.embed(texts)
        if rows.shape[1] != self.dimensions:
            raise ProviderError(
                f"{self.model} makes vectors of another size now.", next_step="Run `afterwit reindex` to do without it."
            )
        return rows

    def warm(self) -> None:
        """See `Embedder.warm`."""
        self._inner.warm()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._inner.close()
