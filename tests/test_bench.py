"""The benchmark measures what it says."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from evals import bench_door
from evals.bench import key_filter, table
from evals.bench_growth import draw, fill, measure

from afterwit import Afterwit
from afterwit.records import KeyFilter


def test_keys_find_the_right_one_among_sentences_of_the_same_meaning() -> None:
    (row,) = key_filter([320], questions=40)
    assert row["questions"] == 40
    assert row["hit@5_with_keys"] >= 0.95
    assert row["hit@5_pure_vectors"] < row["hit@5_with_keys"]


def test_rows_become_a_markdown_table() -> None:
    assert table("growth", [{"memories": 10, "p50": 1.5}]).splitlines() == [
        "### growth",
        "",
        "| memories | p50 |",
        "|---:|---:|",
        "| 10 | 1.5 |",
    ]


def test_a_store_for_growth_holds_so_many_rows_in_each_space_and_is_measured(tmp_path: Path) -> None:
    fill(tmp_path, ["space0", "space1"], 120)
    memory = Afterwit.open(data_dir=tmp_path, space="space1")
    try:
        assert memory.store.count("space1", KeyFilter()) == 120
        assert memory.store.count("space1", KeyFilter(kinds=("decision",))) == 2
        (model,) = memory.store.models("space1").items()
        assert memory.embedder is not None
        assert model == (memory.embedder.model, 120)
    finally:
        memory.close()
    figures = measure(tmp_path, "space0", {})
    assert 0 < figures["search_p50_ms"] <= figures["search_p95_ms"]
    assert figures["file_mb"] > 0


def test_growth_is_drawn_with_a_point_for_every_size() -> None:
    names = ("search_p50_ms", "search_p95_ms", "file_mb", "resident_mb")
    rows = [{"rows": 10**place} | {name: 2.0 * place for name in names} for place in (1, 2, 3)]
    picture = ElementTree.fromstring(draw(rows))  # noqa: S314  our own text
    space = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{space}polyline")) == len(names)
    assert len(picture.findall(f"{space}circle")) == len(names) * len(rows)
    heights = [float(circle.attrib["cy"]) for circle in picture.findall(f"{space}circle")][: len(rows)]
    assert heights == sorted(heights, reverse=True), "more is higher up"


@pytest.mark.slow
def test_what_clients_wait_for_is_measured_warm_and_cold() -> None:
    rows = {row["what"]: row for row in bench_door.measure("no model", 5, 1)}
    assert list(rows) == list(bench_door.TITLES)
    for row in rows.values():
        # A process that was not waited for would have used no time, a daemon that was counted much more.
        assert 3 < row["cpu_p50_ms"] < row["wall_p50_ms"] + 1000
        assert row["bare_min_ms"] > 0 < row["wall_p50_ms"]


def test_the_page_shows_what_was_kept_of_what_clients_wait_for() -> None:
    first, last = bench_door.MARKS
    shown = bench_door.PAGE.read_text(encoding="utf-8").partition(first)[2].partition(last)[0]
    assert shown.strip() == bench_door.page(json.loads(bench_door.RESULTS.read_text(encoding="utf-8")))
