"""Where memories are kept. `open_store` is the only way in; engines are chosen by URL."""

from afterwit.storage.base import Order, Reader, Scored, Store, Transaction, WordStatistics

__all__ = ["Order", "Reader", "Scored", "Store", "Transaction", "WordStatistics"]
