"""Where memories are kept. `open_store` is the only way in; engines are chosen by URL."""

from afterwit.errors import ConfigError, Sentence
from afterwit.storage.base import LLMUse, Order, Reader, Scored, Store, Transaction, Vitals, WordStatistics

__all__ = ["LLMUse", "Order", "Reader", "Scored", "Store", "Transaction", "Vitals", "WordStatistics", "open_store"]


def open_store(url: str, *, lock_wait_s: float = 30.0) -> Store:
    """Open the store that a URL names, making it if it is not there.

    Args:
        url: `sqlite:///PATH` (absolute: `sqlite:////PATH`), or `sqlite://` for a private store
            that vanishes when it is closed.
        lock_wait_s: longest wait for another process that is writing, in seconds.

    Raises:
        ConfigError: no engine for the URL.
        StorageError: it cannot be opened, is damaged, or was written by a newer version.
    """
    scheme = url.partition(":")[0]
    match scheme:
        case "sqlite":
            from afterwit.storage.sqlite import SqliteStore  # noqa: PLC0415  only the engine that is asked for

            return SqliteStore(url, lock_wait_s=lock_wait_s)
        case _:
            raise ConfigError(
                Sentence("There is no storage engine for {scheme!r}.", scheme=scheme),
                next_step="Write sqlite:///PATH in the setting store.",
            )
