"""Processes that embed one store anew. Run as `python reembedding_processes.py DEED URL ...`."""

import os
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterwit.clock import utc_now
from afterwit.embedding import HashEmbedder
from afterwit.service.reembedding import Reembedding
from afterwit.storage import open_store


class Slow(HashEmbedder):
    """Says each batch that it embeds and takes a while for it."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `HashEmbedder.embed`."""
        os.write(1, f"{len(texts)}\n".encode())
        time.sleep(0.3)
        return super().embed(texts)


def reembed(url: str, lease_s: str) -> None:
    """Embed all that lacks a vector of 128 dimensions."""
    store = open_store(url)
    work = Reembedding(store, "default", Slow(128), clock=utc_now, lease_s=float(lease_s), poll_s=0.05)
    for _ in work.run():
        pass
    os.write(1, b"end\n")
    store.close()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
