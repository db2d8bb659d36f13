"""Several embedders side by side: their vectors, weighted, become one longer vector."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding.base import Embedder, embed_queries, has_cjk

_Make = Callable[[Embedder, Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Part:
    """One embedder of a combination."""

    embedder: Embedder
    #: what its cosine counts in the cosine of the whole, above 0
    weight: float = 1.0
    #: silent for texts with CJK letters, which the others then carry alone
    only_latin: bool = False


class CombinedEmbedder:
    """The cosine of two combined vectors is the weighted mean of the parts' cosines.

    Where one of the texts has a silent part, the parts that both have decide.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        """Put embedders together.

        Args:
            parts: at least one of them not `only_latin`, or a text with CJK letters had no vector.
        """
        self._parts = tuple(parts)

    @property
    def model(self) -> str:
        """See `Embedder.model`: the ids of the parts with their weights."""
        return " + ".join(
            f"{part.weight:g}{' latin' if part.only_latin else ''} {part.embedder.model}" for part in self._parts
        )

    @property
    def dimensions(self) -> int:
        """Sum of the parts' dimensions."""
        return sum(part.embedder.dimensions for part in self._parts)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return self._joined(texts, lambda embedder, own: embedder.embed(own))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `AsksApart.embed_queries`: each part asks in its own way."""
        return self._joined(texts, embed_queries)

    def warm(self) -> None:
        """See `Embedder.warm`."""
        for part in self._parts:
            part.embedder.warm()

    def close(self) -> None:
        """See `Embedder.close`."""
        for part in self._parts:
            part.embedder.close()

    def _speaks(self, part: Part, text: str) -> bool:
        return not (part.only_latin and has_cjk(text))

    def _joined(self, texts: Sequence[str], make: _Make) -> NDArray[np.float32]:
        rows = np.concatenate([self._weighted(part, texts, make) for part in self._parts], axis=1)
        return rows / self._lengths(texts)

    def _weighted(self, part: Part, texts: Sequence[str], make: _Make) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), part.embedder.dimensions), dtype=np.float32)
        spoken = [position for position, text in enumerate(texts) if self._speaks(part, text)]
        if spoken:
            rows[spoken] = make(part.embedder, [texts[position] for position in spoken])
        return rows * np.float32(math.sqrt(part.weight))

    def _lengths(self, texts: Sequence[str]) -> NDArray[np.float32]:
        sums = [sum(part.weight for part in self._parts if self._speaks(part, text)) for text in texts]
        return np.sqrt(np.array(sums, dtype=np.float32))[:, np.newaxis]


#: What each installed model's cosine counts, by name; `docs/how-to/choose-an-embedder.md` has the
#: figures. More of MiniLM than this, and a Chinese question no longer finds its English answer.
WEIGHTS = {"use": 1.0, "minilm": 0.5, "e5": 2.0}

_FOR_ENGLISH = "minilm"


def combine(embedders: Mapping[str, Embedder]) -> CombinedEmbedder:
    """Combine installed models by name with the weights that were measured for them.

    Args:
        embedders: by name, as in `WEIGHTS`, in any order; not "minilm" alone.
    """
    return CombinedEmbedder(
        [
            Part(embedders[name], weight, only_latin=name == _FOR_ENGLISH)
            for name, weight in WEIGHTS.items()
            if name in embedders
        ]
    )
