"""How much a reranker's opinion should count: the precision cases, searched with opinions of a known quality.

    python -m evals.bench_reranker [--splits dev,held_out] [--shares 0.2,0.4,0.6]

No cross-encoder comes as a package, so the opinions are made up: what is wanted scores higher than what is not, by
`apart` standard deviations of noise. A confident reranker says three times the log-odds that its quality allows, as
real ones and graded answers of language models do.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from afterwit import rank
from evals.product import Product, Shelf
from evals.suites.precision import World, judge, read_worlds

SHARES = (0.2, 0.4, 0.5, 0.6, 0.7)
#: Distance between what is wanted and what is not, in standard deviations, and what it makes of a random pair.
APART = {1.0: "76 % right", 2.0: "92 % right", 3.0: "98 % right"}
CONFIDENCE = {1.0: "calibrated", 3.0: "confident"}

_join = rank.with_second_opinion


class MadeUp:
    """Scores as well as it is told to; the same pair always the same."""

    name = "made up"

    def __init__(self, apart: float, confidence: float) -> None:
        """Nothing is wanted yet."""
        self._apart, self._confidence = apart, confidence
        #: texts that are wanted by the next query
        self.wanted: frozenset[str] = frozenset()

    def scores(self, query: str, texts: Sequence[str], *, deadline_s: float) -> NDArray[np.float64]:
        """See `Reranker.scores`."""
        said = np.array([self._apart / 2 * (1 if one in self.wanted else -1) + _noise(query, one) for one in texts])
        return 1 / (1 + np.exp(-np.clip(self._confidence * self._apart * said, -30, 30)))

    def warm(self) -> None:
        """See `Reranker.warm`."""

    def close(self) -> None:
        """See `Reranker.close`."""


def _noise(query: str, one: str) -> float:
    seed = hashlib.blake2b(f"{query}\0{one}".encode(), digest_size=8).digest()
    return float(np.random.default_rng(int.from_bytes(seed, "big")).standard_normal())


@contextmanager
def counting(share: float) -> Generator[None]:
    """Have opinions count this much."""
    rank.with_second_opinion = partial(_join, weights=replace(rank.WEIGHTS, reranker=share))
    try:
        yield
    finally:
        rank.with_second_opinion = _join


@dataclass(frozen=True)
class Arm:
    """One reranker at one share; None = no reranker."""

    reranker: MadeUp | None
    share: float


def measure(worlds: Sequence[World], arms: Mapping[str, Arm], *, embedder: str = "use") -> dict[str, Counter[str]]:
    """Sums of what the cases of all worlds gave, by arm."""
    sums: dict[str, Counter[str]] = {name: Counter() for name in arms}
    with Product(embedder=embedder) as product:
        for world in worlds:
            shelf = product.shelf(world.name, timezone=world.timezone)
            shelf.write(world.entries)
            texts: dict[str, set[str]] = {}
            for memory in shelf.service.list(limit=1000, all_states=True):
                for name in shelf.names([memory.id]):
                    texts.setdefault(name, set()).add(memory.summary)
            for name, arm in arms.items():
                sums[name] += _ask(shelf, world, texts, arm)
    return sums


def _ask(shelf: Shelf, world: World, texts: Mapping[str, set[str]], arm: Arm) -> Counter[str]:
    sums: Counter[str] = Counter()
    shelf.service.rerank_with(arm.reranker)
    with counting(arm.share):
        for case in world.cases:
            if "same_as" in case or "prefix_of" in case:
                continue
            if arm.reranker is not None:
                wanted = (*case.get("must", ()), *case.get("may", ()))
                arm.reranker.wanted = frozenset(text for key in wanted for text in texts.get(key, ()))
            shelf.clock.set(world.now)
            found = shelf.service.search(case["query"], **{**world.search, **case.get("options", {})})
            values = judge(case, shelf.names([hit.memory.id for hit in found.hits]), {})
            sums.update(
                {**values, "answered": float("recall" in values), "to be empty": float("empty right" in values)}
            )
    return sums


def figures(sums: Mapping[str, float]) -> tuple[float, float, float, float]:
    """Precision, recall, their harmonic mean, and the share of right empty answers."""
    precision = sums["precision"] / max(1.0, sums["returned"])
    recall = sums["recall"] / max(1.0, sums["wanted"])
    both = 2 * precision * recall / max(1e-9, precision + recall)
    return precision, recall, both, sums["empty right"] / max(1.0, sums["to be empty"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--splits", default="dev,held_out", help="which worlds, of dev, held_out and fresh")
    parser.add_argument("--shares", default=",".join(map(str, SHARES)), help="weights of the opinion to try")
    given = parser.parse_args()
    arms = {"none": Arm(None, 0.0)}
    for confidence, said in CONFIDENCE.items():
        for apart, right in APART.items():
            for share in map(float, given.shares.split(",")):
                arms[f"{said}, {right}, share {share:g}"] = Arm(MadeUp(apart, confidence), share)
    worlds = [world for world in read_worlds() if world.split in given.splits.split(",")]
    print("| Reranker | Precision | Recall | F1 | Empty right |\n|---|---|---|---|---|")
    for name, sums in measure(worlds, arms).items():
        precision, recall, both, empty = figures(sums)
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {both:.3f} | {empty:.3f} |")


if __name__ == "__main__":
    main()
