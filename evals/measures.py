"""From outcomes of single questions to figures with 95 % intervals."""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: Resamples of a bootstrap; fixed seed, so that a figure has one interval.
RESAMPLES = 1000
SEED = 20250618


@dataclass(frozen=True)
class Observation:
    """What one arm did with one question."""

    arm: str
    #: groups it counts in
    groups: tuple[str, ...]
    #: conversation, world or persona: what the bootstrap draws
    cluster: str
    #: name -> value; a metric whose value is missing does not count it
    values: Mapping[str, float]


@dataclass(frozen=True)
class Metric:
    """How values become a figure."""

    name: str
    #: "share": 0 or 1 each, Wilson interval; "mean": bootstrap by cluster; "sum": no interval
    kind: str = "mean"
    #: value that the sum is divided by; "" = the number of observations
    per: str = ""


@dataclass(frozen=True)
class Figure:
    """One cell of a table."""

    value: float
    low: float | None = None
    high: float | None = None
    #: observations behind it
    n: int = 0


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    group: str
    arm: str
    n: int
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])


def wilson(successes: float, n: int, *, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927); (0, 1) when nothing was observed."""
    if n == 0:
        return 0.0, 1.0
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(clusters: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """95 % percentile interval of sum(numerators) / sum(denominators), drawing whole clusters.

    Args:
        clusters: (numerator, denominator) summed over each cluster.
    """
    draw = random.Random(SEED)  # noqa: S311  not for secrets
    ratios: list[float] = []
    for _ in range(RESAMPLES):
        drawn = draw.choices(clusters, k=len(clusters))
        below = sum(denominator for _, denominator in drawn)
        if below:
            ratios.append(sum(numerator for numerator, _ in drawn) / below)
    ratios.sort()
    if not ratios:
        return 0.0, 0.0
    return ratios[int(0.025 * len(ratios))], ratios[min(len(ratios) - 1, int(0.975 * len(ratios)))]


def figure(observations: Sequence[Observation], metric: Metric) -> Figure | None:
    """One metric over observations; None where none has it."""
    having = [one for one in observations if metric.name in one.values]
    if not having:
        return None
    total = sum(one.values[metric.name] for one in having)
    if metric.kind == "sum":
        return Figure(total, n=len(having))
    if metric.kind == "share":
        return Figure(total / len(having), *wilson(total, len(having)), n=len(having))
    by_cluster: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one in having:
        by_cluster[one.cluster][0] += one.values[metric.name]
        by_cluster[one.cluster][1] += one.values[metric.per] if metric.per else 1.0
    below = sum(denominator for _, denominator in by_cluster.values())
    if not below:
        return None
    low, high = bootstrap([(above, denominator) for above, denominator in by_cluster.values()])
    return Figure(total / below, low, high, n=len(having))


def rows(observations: Iterable[Observation], metrics: Sequence[Metric]) -> list[Row]:
    """One row per group and arm, in the order in which they first appear."""
    gathered: dict[tuple[str, str], list[Observation]] = {}
    for one in observations:
        for group in one.groups:
            gathered.setdefault((group, one.arm), []).append(one)
    order = {group: position for position, group in enumerate(dict.fromkeys(group for group, _ in gathered))}
    made: list[Row] = []
    for (group, arm), of_both in sorted(gathered.items(), key=lambda item: order[item[0][0]]):
        figures = {metric.name: found for metric in metrics if (found := figure(of_both, metric)) is not None}
        made.append(Row(group, arm, len(of_both), figures))
    return made


def ranking_values(ranking: Sequence[str], wanted: Sequence[str], *, depths: Sequence[int]) -> dict[str, float]:
    """Recall at each depth, hit and precision at 5, and reciprocal rank (0 when nothing is found)."""
    want = set(wanted)
    values = {f"R@{depth}": len(want & set(ranking[:depth])) / len(want) for depth in depths}
    first = next((position for position, key in enumerate(ranking, start=1) if key in want), 0)
    values["hit@5"] = float(0 < first <= 5)
    values["MRR"] = 1 / first if first else 0.0
    if ranking:
        values["P@5"] = len(want & set(ranking[:5])) / len(ranking[:5])
    values["returned"] = float(len(ranking))
    return values
