"""Fit the weights of the signals of relevance: `python -m evals.fit_relevance`. Needs PyTorch, as `fit_reading` does.

A logistic regression over every (question, candidate) pair of the written cases: the worlds of the precision
corpus but the blind ones, the `fit` and `lessons` worlds that are there for nothing else, and the corpora for
questions across languages and for identifiers. What the readers of `afterwit.reading` say of a world is what readers
say that were trained without it: of what they were trained on they are far too sure. Memories that may come back, but
need not, are left out, and so are cases of which only the task tells what is wanted. The figures are of evidence and
cut alone, each world with the weights of all others; the weights to put into `rank.SignalWeights` are from all.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evals.fit_reading import in_folds, installed, read_lessons, start
from evals.product import Ask, Product, Shelf, rank, reading
from evals.suites.own import read_corpus
from evals.suites.precision import BLIND, LESSONS, World, read_worlds

#: Strength of the pull of each weight, in units of its signal's spread, towards 0.
RIDGE = 3.0

#: Largest weight: few cases that all agree would ask for more.
MOST = 5.0

#: Evidence from which a candidate comes back, before it is moved to 0. Precision and recall change little around it;
#: precision goes before coverage.
CUT = -0.6


#: How much a case counts of a world whose cases have been gone through one by one, beside one of the many `lessons`.
CHECKED = 30.0

#: Signals whose weights stay as they are: names, codes and topics are keys, and a few cases do not undo them.
KEYS = frozenset("turned other_topic other_name no_name same_code other_code same_tool".split())

#: Shares of a question's words that a memory says in the same word, in another, or something of the field for, and
#: what each counts beside the first: left to themselves, the farther come out higher, for the readers see the same
#: words, and who asks for a trumpet gets a violin.
SHARES = {"coverage": 1.0, "concept_coverage": 0.8, "field_coverage": 0.3}

#: Signals that speak against a memory, and those that may speak either way; all others speak for it.
AGAINST = frozenset(
    (
        "nothing_in_common turned other_topic other_kind no_answer other_name no_name other_code lacks_name "
        "unknown_name out_of_time"
    ).split()
)
EITHER = frozenset({"no_vector"})


@dataclass(frozen=True)
class Case:
    """One question, with what was noticed of each candidate."""

    world: str
    name: str
    #: keys of each candidate
    keys: tuple[frozenset[str], ...]
    #: shape (candidates, signals)
    signals: rank.Floats
    must: frozenset[str]
    may: frozenset[str]
    #: how much it counts
    weight: float = CHECKED

    @property
    def wanted(self) -> rank.Floats:
        """1 for what must come back, 0 for what must not, NaN for what may."""
        return np.array([1.0 if keys & self.must else np.nan if keys & self.may else 0.0 for keys in self.keys])


@dataclass
class Tally:
    """Counts over answers."""

    right: int = 0
    returned: int = 0
    found: int = 0
    wanted: int = 0
    silent: int = 0
    unknown: int = 0

    def add(self, case: Case, evidence: rank.Floats, cut: float) -> bool:
        """Count one answer; returns whether it was right in all."""
        kept = [int(p) for p in np.argsort(-evidence, kind="stable") if evidence[p] >= cut]
        near = [p for p in kept if evidence[p] >= evidence.max() - rank.WEIGHTS.cut_distance * rank.WEIGHTS.steepness]
        right = sum(bool(case.keys[p] & (case.must | case.may)) for p in near[:5])
        found = len(frozenset().union(*(case.keys[p] for p in near[:5])) & case.must)
        self.right, self.returned = self.right + right, self.returned + len(near[:5])
        self.found, self.wanted = self.found + found, self.wanted + len(case.must)
        if not case.must:
            self.unknown, self.silent = self.unknown + 1, self.silent + (not near)
        return right == len(near[:5]) and found == len(case.must)

    def __str__(self) -> str:
        precision, recall = self.right / max(self.returned, 1), self.found / max(self.wanted, 1)
        return f"precision {precision:.3f}  recall {recall:.3f}  silent {self.silent}/{self.unknown}"


def fit(cases: Sequence[Case]) -> rank.Floats:
    """Weights of the signals and, last, the base: ridge logistic regression by Newton's method.

    A signal whose weight comes out with the wrong sign (`AGAINST` and `EITHER` say which is right) is left out and
    the others are fitted anew: few cases show it, and by chance.
    """
    wanted = np.concatenate([case.wanted for case in cases])
    shown = ~np.isnan(wanted)
    signals = np.vstack([case.signals for case in cases])[shown]
    shares, counted = [rank.SIGNALS.index(name) for name in SHARES], np.array(list(SHARES.values()))
    together = signals[:, shares] @ counted
    signals[:, shares] = 0
    signals[:, shares[0]] = together
    counts = np.concatenate([np.full(len(case.keys), case.weight) for case in cases])[shown]
    right = np.array([0 if name in EITHER else -1 if name in AGAINST else 1 for name in rank.SIGNALS])
    kept = np.array([getattr(rank.WEIGHTS.signals, name) if name in KEYS else 0.0 for name in rank.SIGNALS])
    is_key = np.array([name in KEYS for name in rank.SIGNALS])
    used = signals.any(axis=0) & ~is_key
    while True:
        weights = np.append(kept, 0.0)
        weights[np.append(used, True)] = _newton(signals[:, used], wanted[shown], signals @ kept, counts)
        wrong = (weights[:-1] * right < 0) & used
        if not wrong.any():
            weights[shares] = weights[shares[0]] * counted
            return np.append(np.clip(weights[:-1], -MOST, MOST), weights[-1])
        used &= ~wrong


def _newton(signals: rank.Floats, wanted: rank.Floats, already: rank.Floats, counts: rank.Floats) -> rank.Floats:
    spread = signals.std(axis=0) + 1e-6
    columns = np.column_stack([signals / spread, np.ones(len(wanted))])
    pull = np.full(columns.shape[1], RIDGE)
    pull[-1] = 1e-3
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        likely = rank.logistic(columns @ weights + already)
        slope = columns.T @ ((likely - wanted) * counts) + pull * weights
        curve = (columns * (counts * likely * (1 - likely))[:, None]).T @ columns + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return np.append(weights[:-1] / spread, weights[-1])


def fit_no_vector(weights: rank.Floats, blind: Sequence[Case]) -> float:
    """What a memory gets for having no vector, so that as many come back as should, where no memory has one."""
    evidence = np.concatenate([case.signals @ weights[:-1] + weights[-1] for case in blind])
    wanted = np.concatenate([case.wanted for case in blind])
    evidence, wanted = evidence[~np.isnan(wanted)], wanted[~np.isnan(wanted)]
    low, high = -5.0, 5.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if rank.logistic(evidence + middle).sum() < wanted.sum() else (low, middle)
    return low


def readers() -> dict[str, reading.Model]:
    """World -> readers that know nothing of it."""
    untrained, vectors = start()
    with Product(embedder="use") as product:
        return in_folds(read_lessons(product, untrained), untrained, vectors)


def read_cases(embedder: str, readers: Mapping[str, reading.Model], *, lessons: bool = True) -> list[Case]:
    """Every case with its signals.

    Args:
        embedder: as in the setting of that name.
        readers: what reads a world; the shipped ones where there is none.
        lessons: with the worlds of which there are many, too.
    """
    cases: list[Case] = []
    with Product(embedder=embedder) as product:
        worlds = [world for world in read_worlds() if world.split != BLIND] + read_worlds("lessons/*.json")
        for world in (world for world in worlds if lessons or world.split != LESSONS):
            shelf = product.shelf(world.name, timezone=world.timezone)
            shelf.write(world.entries)
            with installed(readers.get(world.name, reading.shipped())):
                cases += _of_world(shelf, world)
        for name in ("crosslingual", "identifiers"):
            corpus = read_corpus(name)
            shelf = product.shelf(name)
            shelf.write(corpus.entries)
            with installed(readers.get(name, reading.shipped())):
                for number, probe in enumerate(corpus.probes):
                    case = _case(shelf, name, f"{name}-{number}", Ask(probe.query, probe.now))
                    cases += [case(frozenset(probe.evidence), frozenset())]
    return [case for case in cases if case.keys]


def _of_world(shelf: Shelf, world: World) -> list[Case]:
    weight = 1.0 if world.split == LESSONS else CHECKED
    return [
        replace(
            _case(
                shelf,
                world.name,
                case["id"],
                Ask(case["query"], world.now, {**world.search, **case.get("options", {})}),
            )(frozenset(case.get("must", ())), frozenset(case.get("may", ()))),
            weight=weight,
        )
        for case in world.cases
        if "task" not in case["tags"]
    ]


def _case(shelf: Shelf, world: str, name: str, ask: Ask) -> Callable[[frozenset[str], frozenset[str]], Case]:
    ids, signals = shelf.signals(ask)
    keys = tuple(frozenset(shelf.keys.get(id, [id])) for id in ids)
    return lambda must, may: Case(world, f"{name} {ask.query}", keys, signals, must, may)


def main() -> None:
    """Fit, print the figures with one world left out at a time, then the weights of all."""
    parser = argparse.ArgumentParser(prog="python -m evals.fit_relevance", description=__doc__)
    parser.add_argument("--embedder", default="use", help="as in the setting of that name")
    parser.add_argument("--failures", action="store_true", help="list the cases that went wrong, with their signals")
    options = parser.parse_args()
    known = readers()
    cases, blind = read_cases(options.embedder, known), read_cases("none", known, lessons=False)
    every = Tally()
    for world in dict.fromkeys(case.world for case in cases if case.weight == CHECKED):
        weights = fit([case for case in cases if case.world != world])
        tally = Tally()
        for case in (case for case in cases if case.world == world):
            evidence = case.signals @ weights[:-1] + weights[-1]
            right = tally.add(case, evidence, CUT)
            every.add(case, evidence, CUT)
            if options.failures and not right:
                _show(case, evidence)
        print(f"{world:14}{tally}")
    print(f"{'all':14}{every}\n")
    weights = fit(cases)
    weights[rank.SIGNALS.index("no_vector")] = fit_no_vector(weights, blind)
    unseen = ~np.vstack([case.signals for case in [*cases, *blind]]).any(axis=0)
    for name, weight in zip((*rank.SIGNALS, "base"), [*weights[:-1], weights[-1] - CUT], strict=True):
        if name == "base" or not unseen[rank.SIGNALS.index(name)]:  # what no case shows keeps the weight it has
            print(f"    {name}: float = {weight:.2f}")


def _show(case: Case, evidence: rank.Floats) -> None:
    print(case.name)
    order = np.argsort(-evidence)
    for place in [*order[:2], *(p for p in order[2:] if case.keys[p] & case.must)]:
        mark = "must" if case.keys[place] & case.must else "may" if case.keys[place] & case.may else ""
        told = [f"{name} {value:.1f}" for name, value in zip(rank.SIGNALS, case.signals[place], strict=True) if value]
        print(f"  {evidence[place] - CUT:6.2f} {mark:4} {'/'.join(case.keys[place])}: {', '.join(told)}")


if __name__ == "__main__":
    main()
