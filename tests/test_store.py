"""The store contract on the embedded engine: in a file, and as a store that vanishes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afterwit.storage import Store, open_store
from afterwit.testing import StoreContract


class TestSqliteFile(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = open_store(f"sqlite:///{tmp_path}/data/memory.db", lock_wait_s=20)
        yield store
        store.close()


class TestSqliteInMemory(StoreContract):
    neighbours = 400

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        store = open_store("sqlite://")
        yield store
        store.close()
