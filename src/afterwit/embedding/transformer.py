"""A model folder of the package `sentence-transformers`, which brings PyTorch: for who has it anyway."""

import importlib
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding import packages
from afterwit.embedding.base import PREPARATION, Background, prepare
from afterwit.errors import ConfigError, ProviderError

#: Read of each text; the model itself cuts at its own number of tokens.
_CHARACTERS = 8_192

#: Kinds of file that hold weights, vocabulary or settings.
_SUFFIXES = {".safetensors", ".bin", ".json", ".txt", ".model"}

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


class TransformerEmbedder:
    """Asks a local model; nothing is downloaded."""

    def __init__(self, folder: Path) -> None:
        """Nothing is loaded yet."""
        self._folder = folder
        self._loading: Background[Any] | None = Background(self._load, finishes_before_exit=True)

    @property
    def model(self) -> str:
        """See `Embedder.model`; reads the files once to tell their digest."""
        files = [path for path in self._folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file()]
        return f"sentence-transformers-{self._folder.resolve().name}/{packages.digest(files)}/{PREPARATION}"

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`; loads the model."""
        return self.embed(["memory"]).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        loading = self._loading
        if loading is None:
            raise ProviderError("The embedder is closed.", next_step="Open a new one.")
        model = loading.result()
        prepared = [prepare(text, characters=_CHARACTERS) for text in texts]
        try:
            found: Any = model.encode(prepared, convert_to_numpy=True, show_progress_bar=False)
        except Exception as error:
            # PyTorch raises whatever it likes.
            raise self._error(f"fails: {error}") from error
        rows = np.asarray(found, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[0] != len(texts) or rows.shape[1] == 0:
            raise self._error(f"gave an array of shape {rows.shape} for {len(texts)} texts")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or lengths.min(initial=1.0) < 1e-12:
            raise self._error("gave a vector without length")
        return (rows / lengths).astype(np.float32)

    def warm(self) -> None:
        """See `Embedder.warm`."""
        if self._loading is not None:
            self._loading.start()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._loading = None

    def _load(self) -> Any:
        try:
            with _offline():
                # Imports PyTorch, which takes some seconds.
                package: Any = importlib.import_module("sentence_transformers")
                made: Any = package.SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        except Exception as error:
            # PyTorch and its companions raise whatever they like.
            raise self._error(f"cannot be loaded: {error}") from error
        return made

    def _error(self, what: str) -> ProviderError:
        return ProviderError(
            f"The model in {self._folder} {what}.", next_step="Check that sentence-transformers itself can load it."
        )


@contextmanager
def _offline() -> Generator[None]:
    """Keep the packages that are imported meanwhile from asking a hub, which without a network blocks."""
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def open_transformer(directory: str) -> TransformerEmbedder:
    """Find a model's folder; loads nothing.

    Raises:
        ConfigError: no such folder, it holds no model, or the package is missing.
    """
    packages.require(
        ("sentence_transformers",), value=f"sentence-transformers:{directory}", install="sentence-transformers"
    )
    folder = Path(directory).expanduser()
    if not folder.is_dir():
        raise ConfigError(
            f"There is no folder {folder}.",
            next_step="Name the folder of the model: sentence-transformers:/path/to/it.",
        )
    if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
        raise ConfigError(
            f"{folder} holds neither modules.json nor config.json.",
            next_step="Name a folder that SentenceTransformer.save made.",
        )
    return TransformerEmbedder(folder)
