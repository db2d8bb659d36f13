"""How well a text answers a question, learned from questions and answers instead of being put together by hand.

Two small readers that cost next to nothing. One holds each word of the question against each word of the memory and
takes the closest (late interaction: the sum of the largest similarities, as in ColBERT, Khattab & Zaharia 2020), with
vectors of single words; how much each word of a question counts is learned, too. The other turns the question's vector
to where the vectors of its answers lie. Both are trained by `evals/fit_reading.py`, which makes the files beside this
one: `words.txt`, one word a line, and `model.npz`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FOLDER = Path(__file__).parent
_HAN = re.compile("[\u4e00-\u9fff]+")
#: Letters from here on are of scripts without spaces between words, and marks.
_FIRST_HAN = "\u2e80"
#: Embedder whose vectors the second reader is trained on.
_EMBEDDER = "use-multilingual-v3/"


@dataclass(frozen=True)
class Words:
    """The words of a text, each once."""

    names: frozenset[str]
    #: rows of the table, of those that are in it
    rows: NDArray[np.int32]


@dataclass(frozen=True)
class Model:
    """Both readers.

    What they say is a log-odds of being the answer that is sought, against there being none: 0 at the edge.
    """

    #: word -> row
    table: dict[str, int]
    #: shape (words, dimensions), directions of any length
    vectors: NDArray[np.int8]
    #: how much each word counts in a question, > 0, and how much one does that is not in the table
    weights: NDArray[np.float32]
    unknown: float
    #: similarity that a word has to itself; of two different ones it is 1 at most
    same: float
    #: what a question weighs at least, so that one of little words alone says little
    least: float
    #: log-odds = slope * similarity - edge, of the words and of the whole
    words_slope: float
    words_edge: float
    #: turns a question's vector, shape (512, 512)
    turn: NDArray[np.float32]
    whole_slope: float
    whole_edge: float

    def words_of(self, tokens: Iterable[str], folded: str) -> Words:
        """The words of a text.

        Args:
            tokens: its index tokens; Chinese ones are left out.
            folded: the text as `text.fold` returns it, of which the Chinese words are taken.
        """
        if folded.isascii():
            names = frozenset(tokens)
        else:
            chinese = (word for run in _HAN.findall(folded) for word in self._parted(run))
            names = frozenset((*(token for token in tokens if token < _FIRST_HAN), *chinese))
        rows = [row for row in map(self.table.get, names) if row is not None]
        return Words(names, np.array(rows, dtype=np.int32))

    def _parted(self, run: str) -> list[str]:
        """A run of Chinese letters as words of the table, the longest first, and single letters."""
        table, found, place, end = self.table, list[str](), 0, len(run)
        while place < end:
            # Written out: a loop over the sizes takes twice as long, and a search does this some thousand times.
            four, three, two = run[place : place + 4], run[place : place + 3], run[place : place + 2]
            word = four if four in table else three if three in table else two if two in table else run[place]
            found.append(word)
            place += len(word)
        return found

    def by_words(self, question: Words, told: Sequence[Words]) -> Floats:
        """What the words of texts say of each being the answer.

        Returns:
            Log-odds, shape (texts,); 0 throughout for a question without words.
        """
        names = sorted(question.names)
        if not names or not told:
            return np.zeros(len(told))
        row_of = [self.table.get(name, -1) for name in names]
        weights = np.array([self.weights[row] if row >= 0 else self.unknown for row in row_of], dtype=np.float64)
        near = self._nearest(row_of, told)
        for place, name in enumerate(names):
            near[place, [name in words.names for words in told]] = self.same
        return self.words_slope * (weights @ near) / (weights.sum() + self.least) - self.words_edge

    def _nearest(self, row_of: Sequence[int], told: Sequence[Words]) -> Floats:
        """Similarity of each word to the closest of each text, 0..1, shape (words, texts)."""
        near = np.zeros((len(row_of), len(told)))
        known = [place for place, row in enumerate(row_of) if row >= 0]
        filled = [place for place, words in enumerate(told) if len(words.rows)]
        if not known or not filled:
            return near
        asked = self._directions(np.array([row_of[place] for place in known], dtype=np.int32))
        rows: NDArray[np.int32] = np.concatenate([told[place].rows for place in filled])
        starts = np.cumsum([0, *(len(told[place].rows) for place in filled[:-1])], dtype=np.int64)
        closest = np.maximum.reduceat(_products(asked, self._directions(rows)), starts, axis=1)
        near[np.ix_(known, filled)] = np.clip(closest, 0.0, 1.0)
        return near

    def _directions(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        found = self.vectors[rows].astype(np.float32)
        return found / np.sqrt(np.einsum("ij,ij->i", found, found))[:, None]

    def by_whole(
        self, question: NDArray[np.float32], told: Sequence[NDArray[np.float32] | None], embedder: str
    ) -> Floats | None:
        """What the vectors of texts say of each being the answer.

        Args:
            question: its vector, length 1.
            told: those of the texts; None where there is none.
            embedder: the model that they are of.

        Returns:
            Log-odds, shape (texts,); 0 for a text without a vector. None for a model that it knows nothing of.
        """
        if not embedder.startswith(_EMBEDDER) or len(question) != len(self.turn):
            return None
        turned = _products(question[None, :], self.turn.T)[0]
        turned /= np.linalg.norm(turned) or 1.0
        cosines = [turned @ vector if vector is not None else self.whole_edge / self.whole_slope for vector in told]
        return self.whole_slope * np.array(cosines, dtype=np.float64) - self.whole_edge


def _products(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scalar products of each with each. Not by BLAS: it would wake its threads for a tenth of a millisecond of work,
    and wait for them, 15 ms on a busy machine."""
    return np.einsum("id,jd->ij", some, others)


@lru_cache(maxsize=1)
def shipped() -> Model:
    """The readers that come with the package, read at the first use."""
    return read(_FOLDER)


def read(folder: Path) -> Model:
    """The readers in a folder, as `evals/fit_reading.py` writes them.

    Raises:
        OSError: a file is missing or cannot be read.
    """
    names = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    with np.load(folder / "model.npz") as kept:
        numbers = {name: float(kept[name]) for name in NUMBERS}
        return Model(
            table={name: row for row, name in enumerate(names)},
            vectors=kept["vectors"],
            weights=kept["weights"].astype(np.float32),
            turn=kept["turn"].astype(np.float32),
            **numbers,
        )


#: Fields of `Model` that are single numbers.
NUMBERS = ("unknown", "same", "least", "words_slope", "words_edge", "whole_slope", "whole_edge")
