"""What the other processes of the storage tests do. Run as `python storage_processes.py DEED URL ...`."""

import os
import sys
import time
from datetime import UTC, datetime

from afterwit.records import Add, Kind, Memory
from afterwit.storage import Store, open_store

NOW = datetime(2025, 3, 1, tzinfo=UTC)


def memory(name: str, summary: str) -> Memory:
    """A memory with a short id."""
    return Memory(name, "alpha", summary, Kind.FACT, NOW, NOW)


def add(store: Store, name: str, summary: str) -> None:
    """One memory in a transaction of its own."""
    with store.transaction("alpha", now=NOW, actor=name) as transaction:
        transaction.apply([Add(memory(name, summary))])


def write(url: str, name: str, count: str) -> None:
    """Write so many memories, one transaction each."""
    store = open_store(url)
    for number in range(int(count)):
        add(store, f"{name}-{number}", f"note {number} of writer {name}")
    store.close()


def acknowledge(url: str, name: str) -> None:
    """Write without end and print each id once it is committed."""
    store = open_store(url)
    number = 0
    while True:
        add(store, f"{name}-{number}", f"note {number}")
        # One call, so that no line is ever torn.
        os.write(1, f"{name}-{number}\n".encode())
        number += 1


def nursery(url: str) -> None:
    """For each name on standard input start a child that writes without end; say its id and when it is dead."""
    # What every child would load anew is loaded once.
    store = open_store("sqlite://")
    add(store, "warm", "up")
    store.close()
    for name in sys.stdin:
        child = os.fork()
        if child == 0:
            acknowledge(url, name.strip())
        os.write(1, f"born {child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


def open_only(url: str) -> None:
    """Open and read once."""
    store = open_store(url)
    sys.stdout.write(f"{len(store.spaces())}\n")
    store.close()


def hold(url: str, seconds: str) -> None:
    """Stay inside a write transaction for a while, after saying so."""
    store = open_store(url)
    with store.transaction("alpha", now=NOW, actor="holder"):
        sys.stdout.write("holding\n")
        sys.stdout.flush()
        time.sleep(float(seconds))


def fill_disk(url: str, limit: str) -> None:
    """Write until the file may not grow any more, then say what was acknowledged."""
    import resource  # noqa: PLC0415

    from afterwit.errors import StorageError  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    store = open_store(url)
    number = 0
    try:
        while True:
            add(store, f"n-{number}", "x" * 5000)
            number += 1
    except StorageError as error:
        sys.stdout.write(f"refused {error}\n")
    sys.stdout.write(f"acknowledged {number}\n")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
