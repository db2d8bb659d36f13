"""What every embedder promises, and what all providers share."""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from afterwit.records import Vector

#: Version of `prepare` and of how much of a text each provider reads; part of every model id.
PREPARATION = "p1"

#: Stands for text that is blank, which endpoints refuse and which has no direction of its own.
_BLANK = "-"

#: Kana, Han and Hangul.
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")

Loaded = TypeVar("Loaded")


class Embedder(Protocol):
    """Turns texts into directions: close in meaning, close in angle. Safe to share between threads."""

    @property
    def model(self) -> str:
        """Id of everything that changes the vectors: provider, version, weights, dimensions,
        preparation of the text. Vectors under one id may be compared.

        Raises:
            ProviderError: the provider has to be asked first and does not answer.
        """
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector.

        Raises:
            ProviderError: the provider has to be asked first and does not answer.
        """
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of the texts, in order.

        Any text has a vector, also one that is blank or holds no letter; the same text has the
        same vector in every call, to within what float16 storage keeps.

        Returns:
            Shape (len(texts), dimensions); every row has length 1 and finite numbers.

        Raises:
            ProviderError: the provider cannot be loaded, reached or understood.
        """
        ...

    def warm(self) -> None:
        """Start loading in the background and return at once; `embed` waits for the end of it."""
        ...

    def close(self) -> None:
        """Release the model and connections; `embed` then raises `ProviderError`."""
        ...


@runtime_checkable
class AsksApart(Protocol):
    """What an `Embedder` is besides, when its model reads a question otherwise than what may answer it."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of questions, to be compared with those that `embed` makes of what is kept; else as `embed`."""
        ...


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of what is looked for; most models make no difference between that and what is kept.

    Raises:
        ProviderError: as `Embedder.embed`.
    """
    return embedder.embed_queries(texts) if isinstance(embedder, AsksApart) else embedder.embed(texts)


def prepare(text: str, *, characters: int) -> str:
    """Make any string something that a provider accepts.

    Args:
        text: any string, also with lone surrogates.
        characters: where to cut it off.

    Returns:
        The text without blanks around it, valid Unicode, 1 to `characters` characters; "-" for
        text that is blank.
    """
    kept = text.strip()[:characters].rstrip()
    return kept.encode("utf-8", "replace").decode("utf-8") or _BLANK


def has_cjk(text: str) -> bool:
    """Whether a text holds a Chinese, Japanese or Korean letter."""
    return _CJK.search(text) is not None


def to_vector(model: str, array: NDArray[np.float32]) -> Vector:
    """Pack one row of `Embedder.embed`, shape (dimensions,), for storage as float16."""
    return Vector(model=model, data=array.astype("<f2").tobytes())


def from_vector(vector: Vector) -> NDArray[np.float32]:
    """Unpack a stored vector to float32 of shape (dimensions,); within 0.0005 of what was packed."""
    return np.frombuffer(vector.data, dtype="<f2").astype(np.float32)


class Background(Generic[Loaded]):
    """Something that takes a while to load, started early and waited for late."""

    def __init__(self, load: Callable[[], Loaded], *, finishes_before_exit: bool) -> None:
        """Nothing starts yet.

        Args:
            load: makes the value; called again after it failed.
            finishes_before_exit: whether the process waits for a load under way when it exits. Needed for
                native code, which an exit may otherwise abort; wrong for a network call.
        """
        self._load = load
        self._daemon = not finishes_before_exit
        self._lock = threading.Lock()
        self._future: Future[Loaded] | None = None

    def start(self) -> Future[Loaded]:
        """Begin to load, unless that is under way or done; returns at once."""
        with self._lock:
            future = self._future
            if future is None or (future.done() and future.exception() is not None):
                future = self._future = Future()
                threading.Thread(
                    target=self._run, args=(future,), name="afterwit-embedder", daemon=self._daemon
                ).start()
            return future

    def result(self) -> Loaded:
        """The value, once it is there.

        Raises:
            Exception: whatever `load` raised; the next call tries again.
        """
        return self.start().result()

    def _run(self, future: Future[Loaded]) -> None:
        try:
            future.set_result(self._load())
        except BaseException as error:  # noqa: BLE001 - belongs to the thread that waits for the result
            future.set_exception(error)


#: Most texts of a search: a query, its sentences, a task. Larger batches are memories to be stored.
_SEARCHED = 8


def _digest(text: str, use: bytes) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=use).digest()


class CachingEmbedder:
    """Remembers the vectors of texts that come few at a time: queries and tasks, which tend to repeat.

    Keyed by a digest: the texts themselves, of up to 16 KiB each, are not kept.
    """

    def __init__(self, inner: Embedder, *, entries: int = 1024) -> None:
        """Wrap an embedder.

        Args:
            inner: makes what is not remembered.
            entries: texts remembered; the one unused longest goes first (512 dimensions: 2 KiB each).
        """
        self._inner = inner
        self._entries = entries
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """See `Embedder.model`."""
        return self._inner.model

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`; larger batches pass by the cache."""
        return self._remembered(texts, self._inner.embed, b"")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `AsksApart.embed_queries`; larger batches pass by the cache."""
        if not isinstance(self._inner, AsksApart):
            return self.embed(texts)
        return self._remembered(texts, self._inner.embed_queries, b"query")

    def _remembered(
        self, texts: Sequence[str], make: Callable[[Sequence[str]], NDArray[np.float32]], use: bytes
    ) -> NDArray[np.float32]:
        if not 1 <= len(texts) <= _SEARCHED:
            return make(texts)
        keys = [_digest(text, use) for text in texts]
        with self._lock:
            known = {key: self._rows[key] for key in keys if key in self._rows}
            for key in known:
                self._rows.move_to_end(key)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known |= dict(zip(missing, make(list(missing.values())).copy(), strict=True))
            with self._lock:
                self._rows |= {key: known[key] for key in missing}
                while len(self._rows) > self._entries:
                    self._rows.popitem(last=False)
        return np.stack([known[key] for key in keys])

    def warm(self) -> None:
        """See `Embedder.warm`."""
        self._inner.warm()

    def close(self) -> None:
        """See `Embedder.close`."""
        with self._lock:
            self._rows.clear()
        self._inner.close()
