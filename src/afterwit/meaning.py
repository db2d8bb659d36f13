"""The meaning path of a search: what points the same way, by one embedding model or, as long as the
vectors of a new one are being made, by several.

Directions of several models are laid end to end. A memory's direction has zeros in the parts of all
models but one, so that a product with a query is the cosine of that one model, and a product of two
memories of different models is 0: nothing is known of how close they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding import Embedder, embed_queries
from afterwit.embedding.scale import Scale, scale_of
from afterwit.errors import ProviderError
from afterwit.records import KeyFilter
from afterwit.storage import Reader

Direction = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """Where the numbers of one model lie in a direction."""

    model: str
    start: int
    end: int
    #: what a cosine of it means
    scale: Scale


@dataclass(frozen=True)
class Aim:
    """Texts as directions, each of shape (sum of the models' dimensions,)."""

    #: the model in use first, then earlier ones; empty = there is no meaning path
    parts: tuple[Part, ...] = ()
    #: one for each text, in order; empty when there are no parts
    directions: tuple[Direction, ...] = ()


def aim(texts: Sequence[str], embedders: Sequence[Embedder]) -> tuple[Aim, tuple[str, ...]]:
    """Embed what is looked for with every model.

    Args:
        texts: at least one.
        embedders: the one in use first, then those of earlier models.

    Returns:
        The directions by the models that could be asked, and why others could not.
    """
    parts: list[Part] = []
    rows: list[NDArray[np.float32]] = []
    degraded: list[str] = []
    for embedder in embedders:
        try:
            made, model, scale = embed_queries(embedder, texts), embedder.model, scale_of(embedder)
        except ProviderError as error:
            degraded.append(f"vector: {error}")
            continue
        start = parts[-1].end if parts else 0
        parts.append(Part(model, start, start + made.shape[1], scale))
        rows.append(made)
    if not rows:
        return Aim(), tuple(degraded)
    joined = np.concatenate(rows, axis=1)
    return Aim(tuple(parts), tuple(joined[place] for place in range(len(texts)))), tuple(degraded)


def begin(
    reader: Reader, space: str, where: KeyFilter, direction: Direction, parts: Sequence[Part], *, limit: int
) -> None:
    """Say that `nearest` will be asked the same in a moment, so that part of the work is done meanwhile."""
    part = parts[0]
    reader.begin_search_vectors(space, where, direction[part.start : part.end], part.model, limit=limit)


def nearest(
    reader: Reader, space: str, where: KeyFilter, direction: Direction, parts: Sequence[Part], *, limit: int
) -> list[str]:
    """Ids of the memories that point most nearly that way, nearest first; at most `limit` of each model.

    A memory that has a vector of the first model is looked at by that one alone.
    """
    new, *old = parts
    close: dict[str, float] = {}
    # The earlier models first: what gets its new vector between two queries is then found twice, not never.
    for part in (*old, new):
        lacking = "" if part is new else new.model
        query = direction[part.start : part.end]
        found = reader.search_vectors(space, where, query, part.model, limit=limit, lacking=lacking)
        if not old:
            return [item.id for item in found]
        spreads = part.scale.spreads(np.array([item.score for item in found]))
        here = {item.id: float(value) for item, value in zip(found, spreads, strict=True)}
        close = close | here if part is new else here | close
    return sorted(close, key=lambda id: (-close[id], id))


def closeness(
    cosine: NDArray[np.float64], vectors: Sequence[Direction | None], parts: Sequence[Part]
) -> NDArray[np.float64]:
    """What each cosine means under the model that it is of, in spreads; comparable between models.

    Args:
        cosine: shape (n,); NaN where there is no vector.
        vectors: n directions from `directions`.
        parts: the models; empty = there are no vectors.
    """
    if len(parts) == 1:
        return parts[0].scale.spreads(cosine)
    close = np.full(len(vectors), np.nan)
    for place, vector in enumerate(vectors):
        for part in parts:
            if vector is not None and vector[part.start : part.end].any():
                close[place] = part.scale.spreads(cosine[place])
    return close


def directions(reader: Reader, space: str, ids: Sequence[str], parts: Sequence[Part]) -> dict[str, Direction]:
    """The memories' directions by id, each by the first model that it has a vector of; others are left out."""
    found: dict[str, Direction] = {}
    for part in parts:
        stored = reader.vectors(space, [id for id in ids if id not in found], part.model)
        if len(parts) == 1:
            return stored
        for id, vector in stored.items():
            found[id] = np.zeros(parts[-1].end, dtype=np.float32)
            found[id][part.start : part.end] = vector
    return found
