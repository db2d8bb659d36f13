"""Train the reader of whole vectors, for every embedding model that comes as a package and for their combinations.

Each model gets a matrix that turns its vectors of questions to those of their answers, learned alone. What the cosines
of several are worth beside each other is learned after that.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.descending import descend
from evals.product import reading
from evals.running import progress

#: Numbers in a vector of each model.
_DIMENSIONS = {"use": 512, "minilm": 384, "e5": 384}
#: Models that read English only.
_LATIN = {"minilm"}
#: Passes over the worlds; more of them learn the worlds by heart.
_EPOCHS = 4
#: How strongly the matrix is held to none.
_HOLD = 1e-3

#: Of one world: vectors of its questions and of its memories, and what is wanted, as in `fit_reading`.
Lesson = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]
Tensors = list[dict[str, Any]]


def train(torch: Any, lessons: Sequence[Lesson], models: Sequence[str]) -> reading.WholeReader:
    """The reader, trained on some worlds.

    Args:
        torch: the package.
        lessons: with vectors of the models, side by side.
        models: in the order of `reading.MODELS`.
    """
    parts = {name: [_part(lesson, at) for lesson in lessons] for name, at in _places(models).items()}
    turns: dict[str, NDArray[np.float32]] = {}
    scales: dict[str, NDArray[np.float32]] = {}
    for name in progress(list(parts), total=len(parts), label="models"):
        turns[name] = _turn(torch, _tensors(torch, parts, (name,)), name)
    turned = {name: [_turned(lesson, turns[name]) for lesson in each] for name, each in parts.items()}
    for names in (names for size in (1, 2, 3) for names in combinations(parts, size)):
        if not set(names) <= _LATIN:
            scales[reading.JOINED.join(names)] = _scale(torch, _tensors(torch, turned, names), names)
    return reading.WholeReader(turns, scales)


def _places(models: Sequence[str]) -> dict[str, slice]:
    """Where each model's numbers stand in a vector."""
    found: dict[str, slice] = {}
    start = 0
    for name in models:
        size = _DIMENSIONS[name]
        found[name] = slice(start, start + size)
        start += size
    return found


def _part(lesson: Lesson, at: slice) -> Lesson:
    """Of one model, every vector of length 1; zeros where it is silent."""
    asked, told, wanted = lesson
    return _unit(asked[:, at]), _unit(told[:, at]), wanted


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _turned(lesson: Lesson, turn: NDArray[np.float32]) -> Lesson:
    asked, told, wanted = lesson
    return _unit(asked @ turn), told, wanted


def _tensors(torch: Any, parts: dict[str, list[Lesson]], names: Sequence[str]) -> Tensors:
    """Lessons of the questions and memories that all of some models speak of."""
    found: Tensors = []
    for each in zip(*(parts[name] for name in names), strict=True):
        asks = np.logical_and.reduce([asked.any(axis=1) for asked, _, _ in each])
        tells = np.logical_and.reduce([told.any(axis=1) for _, told, _ in each])
        wanted = each[0][2]
        # What must come back and is not spoken of would be taken for a question without an answer.
        asks &= (wanted[:, ~tells] != 1).all(axis=1)
        if asks.any() and tells.sum() > 1:
            found.append(
                {
                    "asked": [torch.tensor(asked[asks]) for asked, _, _ in each],
                    "told": [torch.tensor(told[tells]) for _, told, _ in each],
                    "wanted": torch.tensor(wanted[asks][:, tells]),
                }
            )
    return found


def _turn(torch: Any, lessons: Tensors, name: str) -> NDArray[np.float32]:
    still = torch.eye(_DIMENSIONS[name])
    turn = torch.nn.Parameter(still.clone())
    slope, edge = (torch.nn.Parameter(torch.tensor(value)) for value in (12.0, 7.0))

    def scores(lesson: dict[str, Any]) -> Any:
        return slope * torch.nn.functional.normalize(lesson["asked"][0] @ turn, dim=1) @ lesson["told"][0].T

    def hold() -> Any:
        return _HOLD * ((turn - still) ** 2).sum()

    descend(torch, _draws(lessons), scores, hold, edge, [([turn], 3e-4), ([slope, edge], 0.05)], _EPOCHS)
    return turn.detach().numpy().astype(np.float16).astype(np.float32)


def _scale(torch: Any, lessons: Tensors, names: Sequence[str]) -> NDArray[np.float32]:
    slopes = torch.nn.Parameter(torch.full((len(names),), 12.0 / len(names)))
    edge = torch.nn.Parameter(torch.tensor(7.0))

    def scores(lesson: dict[str, Any]) -> Any:
        each = [asked @ told.T for asked, told in zip(lesson["asked"], lesson["told"], strict=True)]
        return torch.einsum("n,nqm->qm", slopes, torch.stack(each))

    descend(torch, _draws(lessons), scores, lambda: 0.0, edge, [([slopes, edge], 0.05)], _EPOCHS)
    return np.array([*slopes.detach().tolist(), float(edge.detach())], dtype=np.float32)


def _draws(lessons: Tensors) -> list[Callable[[], dict[str, Any]]]:
    return [partial(dict[str, Any], lesson) for lesson in lessons]
