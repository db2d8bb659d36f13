"""How well a text answers a question, learned from questions and answers instead of being put together by hand.

Two small readers that cost next to nothing. One holds each word of the question against each word of the memory and
takes the closest (late interaction, as in ColBERT, Khattab & Zaharia 2020), with vectors of single words; what a match
is worth depends on the word, on how close it is and on what the other memories have of it, and what the memory says
beyond the question counts by what is asked. The other turns the question's vector to where the vectors of its answers
lie. Both are trained by `evals/fit_reading.py`, which makes the files beside this one: `words.txt`, one word a line,
and `model.npz`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterwit.reading.whole import JOINED, MODELS, WholeReader

Floats = NDArray[np.float64]

__all__ = [
    "ARRAYS",
    "JOINED",
    "KNEES",
    "LEAST",
    "MODELS",
    "NUMBERS",
    "SCALE",
    "TURN",
    "Model",
    "WholeReader",
    "Words",
    "read",
    "shipped",
]

_FOLDER = Path(__file__).parent
_HAN = re.compile("[\u4e00-\u9fff]+")
#: Letters from here on are of scripts without spaces between words, and marks.
_FIRST_HAN = "\u2e80"
#: Fields of `Model` that are single numbers, and those that are arrays of them beside the vectors.
NUMBERS = (*("unknown", "rarity", "same", "words_slope", "worth_base", "beyond", "words_edge"),)
ARRAYS = ("asked", "told", "by_match", "by_word", "hidden_base", "hidden_worth", "beyond_told", "beyond_asked")
#: What begins the names of the arrays of the reader of whole vectors.
TURN, SCALE = "turn ", "scale "


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
    #: how much each word counts in a question and in a memory, shape (words,), before `softplus`
    asked: NDArray[np.float32]
    told: NDArray[np.float32]
    #: the same of a word of a question that is not in the table, and what is added for each unit of rarity
    unknown: float
    rarity: float
    #: similarity that a word has to itself; of two different ones it is 1 at most
    same: float
    #: what a match is worth for each unit of similarity, and more by what is noticed of it (`_matches`) and by the
    #: word: shapes (noticed, hidden), (dimensions, hidden), (hidden,), (hidden,) and ()
    words_slope: float
    by_match: NDArray[np.float32]
    by_word: NDArray[np.float32]
    hidden_base: NDArray[np.float32]
    hidden_worth: NDArray[np.float32]
    worth_base: float
    #: how much what a memory says beyond the question speaks against it, and how it meets what is asked, shapes
    #: (dimensions, aspects) of the memory's words and of the question's
    beyond: float
    beyond_told: NDArray[np.float32]
    beyond_asked: NDArray[np.float32]
    words_edge: float
    whole: WholeReader

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

        Args:
            question: its words.
            told: those of all texts that are held against each other.

        Returns:
            Log-odds, shape (texts,); 0 throughout for a question without words.
        """
        names = sorted(question.names)
        if not names or not told:
            return np.zeros(len(told))
        row_of = np.array([self.table.get(name, -1) for name in names], dtype=np.int32)
        directions = np.zeros((len(names), self.vectors.shape[1]), dtype=np.float32)
        known = row_of >= 0
        directions[known] = self._directions(row_of[known])
        near, beyond = self._held_against(directions, told)
        same = np.array([[name in words.names for words in told] for name in names], dtype=np.float32)
        rare = np.log((len(told) + 1) / (same.sum(axis=1) + 0.5))
        weights = _softplus(np.where(known, self.asked[row_of], self.unknown) + self.rarity * rare)
        noticed = _matches(near, same, rare, known, weights)
        hidden = np.einsum("wtn,nh->wth", noticed, self.by_match)
        hidden += (_products(directions, self.by_word.T) + self.hidden_base)[:, None, :]
        worth = self.words_slope * np.where(same > 0, self.same, near) + self.worth_base
        worth += np.einsum("wth,h->wt", np.maximum(hidden, 0.0), self.hidden_worth)
        return (weights @ worth) / (weights.sum() + LEAST) + beyond - self.words_edge

    def _held_against(
        self, asked: NDArray[np.float32], told: Sequence[Words]
    ) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
        """Similarity of each word of a question to the closest of each text, 0..1, shape (words, texts), and the
        log-odds for what each text says beyond them, shape (texts,)."""
        near, beyond = np.zeros((len(asked), len(told)), dtype=np.float32), np.zeros(len(told), dtype=np.float32)
        filled = [place for place, words in enumerate(told) if len(words.rows)]
        if not filled:
            return near, beyond
        rows: NDArray[np.int32] = np.concatenate([told[place].rows for place in filled])
        starts = np.cumsum([0, *(len(told[place].rows) for place in filled[:-1])], dtype=np.int64)
        directions = self._directions(rows)
        close = np.clip(_products(asked, directions), 0.0, 1.0)
        near[:, filled] = np.maximum.reduceat(close, starts, axis=1)
        weights = _softplus(self.told[rows])
        left = weights * (1.0 - close.max(axis=0))
        whole = np.add.reduceat(weights, starts) + LEAST
        says = np.add.reduceat(left[:, None] * _products(directions, self.beyond_told.T), starts, axis=0)
        wants = _products(asked, self.beyond_asked.T).sum(axis=0) / (len(asked) + 1)
        beyond[filled] = (says @ wants - self.beyond * np.add.reduceat(left, starts)) / whole
        return near, beyond

    def _directions(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        found = self.vectors[rows].astype(np.float32)
        return found / np.sqrt(np.einsum("ij,ij->i", found, found))[:, None]


#: What the words of a text weigh beside each other at least, so that one of little words alone says little.
LEAST = 0.3
#: Similarities from which more of it counts anew.
KNEES = (0.4, 0.6, 0.8)


def _matches(
    near: NDArray[np.float32], same: NDArray[np.float32], rare: Floats, known: NDArray[np.bool_], weights: Floats
) -> NDArray[np.float32]:
    """What is noticed of each word of a question in each text, shape (words, texts, noticed), in the order in which
    `evals/fit_reading.py` learns it."""
    shape = near.shape
    if shape[1] > 1:
        best = np.partition(near, -2, axis=1)
        others = np.where(near >= best[:, -1:], best[:, -2:-1], best[:, -1:])
    else:
        others = np.zeros_like(near)
    of_words = (rare, ~known, same.mean(axis=1), weights)
    columns = (
        *(near, same, near - near.mean(axis=1, keepdims=True), near - others, same * rare[:, None]),
        *(np.maximum(near - knee, 0.0) for knee in KNEES),
        *(np.broadcast_to(np.asarray(column, dtype=np.float32)[:, None], shape) for column in of_words),
    )
    return np.stack(columns, axis=2).astype(np.float32)


def _softplus(x: "NDArray[np.float32] | Floats") -> Floats:
    return np.logaddexp(0.0, x)


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
        learned: dict[str, Any] = {name: float(kept[name]) for name in NUMBERS}
        learned |= {name: kept[name].astype(np.float32) for name in ARRAYS}
        whole = WholeReader(_beginning(kept, TURN), _beginning(kept, SCALE))
        return Model({name: row for row, name in enumerate(names)}, kept["vectors"], **learned, whole=whole)


def _beginning(kept: Mapping[str, Any], begins: str) -> dict[str, NDArray[np.float32]]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(begins): kept[name].astype(np.float32) for name in kept if name.startswith(begins)}
