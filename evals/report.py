"""Tables for people, JSON for the record."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.measures import Figure, Metric, Row

#: Where results are kept; figures only, never data.
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Report:
    """What a suite found."""

    suite: str
    #: id of the embedding model
    model: str
    metrics: Sequence[Metric]
    rows: Sequence[Row]
    #: one line each: sizes, what was refused, what the reader must know
    notes: Sequence[str] = ()
    #: what took how long, by name; kept out of the record, for it differs from run to run
    timings: Mapping[str, str] = field(default_factory=dict[str, str])
    #: cases that went wrong, one line each; kept out of the record
    failures: Sequence[str] = ()
    #: groups that are shown for every arm; the others for the first arm alone
    headline: Sequence[str] = ()

    def shown(self, *, detail: bool = False) -> list[Row]:
        """Rows worth a line: the headline groups first; with `detail`, every group for every arm."""
        first = self.rows[0].arm if self.rows else ""
        kept = [row for row in self.rows if detail or row.group in self.headline or row.arm == first]
        order = {group: position for position, group in enumerate(self.headline)}
        return sorted(kept, key=lambda row: order.get(row.group, len(order)))


def table(report: Report, *, detail: bool = False) -> str:
    """Aligned plain text, one line per group and arm."""
    rows = report.shown(detail=detail)
    names = [metric.name for metric in report.metrics if any(metric.name in row.figures for row in rows)]
    lines = [["group", "arm", "n", *names]]
    for row in rows:
        cells = [_cell(row.figures.get(name)) for name in names]
        lines.append([row.group, row.arm, str(row.n), *cells])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    body = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
    notes = [f"  {note}" for note in report.notes] + [f"  {name}: {took}" for name, took in report.timings.items()]
    return "\n".join([f"== {report.suite} ({report.model})", body, *notes])


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    if figure.low is None or figure.high is None:
        return f"{figure.value:g}"
    return f"{figure.value:.3f} [{figure.low:.2f}, {figure.high:.2f}]"


def as_json(report: Report) -> str:
    """The record: the same for the same code and data."""
    rows: list[dict[str, Any]] = []
    for row in report.shown():
        figures = {name: _numbers(figure) for name, figure in row.figures.items()}
        rows.append({"group": row.group, "arm": row.arm, "n": row.n, "figures": figures})
    record = {"suite": report.suite, "model": report.model, "notes": list(report.notes), "rows": rows}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _numbers(figure: Figure) -> dict[str, float | int]:
    numbers: dict[str, float | int] = {"value": round(figure.value, 4), "n": figure.n}
    if figure.low is not None and figure.high is not None:
        numbers |= {"low": round(figure.low, 4), "high": round(figure.high, 4)}
    return numbers
