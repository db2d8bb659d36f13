"""Vectors of the model in use for whatever has none, made while everything else goes on."""

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from uuid import uuid4

from afterwit.config import Settings
from afterwit.embedding import Embedder, to_vector
from afterwit.embedding.reopening import reopen_embedder
from afterwit.errors import AfterwitError
from afterwit.records import Memory
from afterwit.service.writing import embedded_texts
from afterwit.storage import Store

_log = logging.getLogger(__name__)

#: What the lease is for.
WORK = "embed"

#: How long a worker that was killed keeps others waiting, in seconds; longer than any batch takes.
LEASE_S = 15.0

#: Seconds between two looks at whether another worker has finished.
_POLL_S = 1.0

#: Memories embedded at once, adapted so that a batch takes about this long, in seconds.
_FIRST_BATCH, _LEAST_BATCH, _MOST_BATCH = 32, 16, 512
_SHORT_S, _LONG_S = 0.25, 1.0

#: Seconds until a worker in the background tries again after an error; doubled each time.
_PAUSE_S, _LONGEST_PAUSE_S = 60.0, 3600.0

#: Longest wait for the batch under way when the service is closed, in seconds.
_CLOSING_S = 5.0


class Reembedding:
    """Embeds what has no vector of the current model; one worker per space, whatever their processes.

    What is done stays done: a worker that is killed is continued by the next one.
    """

    def __init__(
        self,
        store: Store,
        space: str,
        embedder: Embedder,
        *,
        clock: Callable[[], datetime],
        lease_s: float = LEASE_S,
        poll_s: float = _POLL_S,
    ) -> None:
        """Nothing starts yet.

        Args:
            store: where the memories are.
            space: whose memories.
            embedder: makes the vectors.
            clock: reads the time, for the lease.
            lease_s: how long a killed worker keeps others waiting, in seconds.
            poll_s: how often a waiting worker looks again, in seconds.
        """
        self._store = store
        self._space = space
        self._embedder = embedder
        self._clock = clock
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._holder = f"{platform.node()}/{os.getpid()}/{uuid4().hex}"
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_background = False
        self._looks_again = False

    def run(self) -> Iterator[int]:
        """Embed all that lacks a vector; yields how many were done here so far, the same number again
        while another worker is at it.

        Raises:
            ProviderError: the embedder failed; what was done stays.
            StorageError: the store cannot be read or written.
        """
        done = 0
        while not self._stopped.is_set() and self._page(1, None):
            if not self._take():
                yield done
                self._stopped.wait(self._poll_s)
                continue
            try:
                for count in self._pass():
                    done += count
                    yield done
            finally:
                self._store.end_lease(self._space, WORK, holder=self._holder)

    def start(self) -> None:
        """Do so in the background from now on; returns at once."""
        self._is_background = True
        self.wake()

    def wake(self) -> None:
        """Something lacks a vector: look again, if that is done in the background."""
        with self._lock:
            self._looks_again = True
            if self._thread is not None or self._stopped.is_set() or not self._is_background:
                return
            self._thread = threading.Thread(target=self._work, name="afterwit-reembed", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop after the batch under way."""
        self._stopped.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSING_S)

    def _work(self) -> None:
        pause_s = _PAUSE_S
        while self._has_work():
            try:
                self._announce()
                done = 0
                for count in self.run():
                    done = count
                if done:
                    _log.info("%d memories of %s were embedded.", done, self._space)
                pause_s = _PAUSE_S
                continue
            except AfterwitError as error:
                if not self._stopped.is_set():
                    _log.warning("Some memories have no vector yet; they are tried again in %.0f s: %s", pause_s, error)
            self._stopped.wait(pause_s)
            self.wake()
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _has_work(self) -> bool:
        """Whether to look (again); if not, the thread is over for all others, who may start a new one."""
        with self._lock:
            if self._looks_again and not self._stopped.is_set():
                self._looks_again = False
                return True
            self._thread = None
            return False

    def _announce(self) -> None:
        model = self._embedder.model
        others = self._store.other_models(self._space, model)
        if others:
            _log.warning("The embedding model is %s now; what was embedded by %s is embedded anew.", model, others)

    def _take(self) -> bool:
        return self._store.take_lease(self._space, WORK, holder=self._holder, now=self._clock(), lasts_s=self._lease_s)

    def _page(self, limit: int, after: Memory | None) -> list[Memory]:
        return self._store.without_vector(self._space, self._embedder.model, limit=limit, after=after)

    def _pass(self) -> Iterator[int]:
        """Go once through what lacks a vector, as long as the lease is ours; yields the size of each batch."""
        size = _FIRST_BATCH
        last: Memory | None = None
        while not self._stopped.is_set() and (page := self._page(size, last)):
            started = time.monotonic()
            model = self._embedder.model
            arrays = self._embedder.embed(embedded_texts(page, self._store, self._space))
            vectors = {m.id: to_vector(model, array) for m, array in zip(page, arrays, strict=True)}
            self._store.put_vectors(self._space, vectors)
            last = page[-1]
            yield len(page)
            took_s = time.monotonic() - started
            if took_s < _SHORT_S:
                size = min(2 * size, _MOST_BATCH)
            elif took_s > _LONG_S:
                size = max(size // 2, _LEAST_BATCH)
            if not self._take():
                return


class OlderModels:
    """Embedders of earlier models, opened again as long as their vectors are needed."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is opened yet."""
        self._settings = settings
        self._lock = threading.Lock()
        self._opened: dict[str, Embedder | None] = {}

    def open(self, models: Sequence[str]) -> tuple[list[Embedder], tuple[str, ...]]:
        """Embedders for these models, and what to say of those that cannot be opened again."""
        found: list[Embedder] = []
        lost: list[str] = []
        for model in models:
            with self._lock:
                if model not in self._opened:
                    self._opened[model] = reopen_embedder(model, self._settings)
                embedder = self._opened[model]
            if embedder is not None:
                found.append(embedder)
            else:
                lost.append(f"vector: some memories have vectors of {model} alone, which cannot be opened any more")
        return found, tuple(lost)

    def close(self) -> None:
        """Release what was opened."""
        with self._lock:
            for embedder in self._opened.values():
                if embedder is not None:
                    embedder.close()
            self._opened.clear()
