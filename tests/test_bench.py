"""The benchmark measures what it says."""

from evals.bench import key_filter, table


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
