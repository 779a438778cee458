"""The kept tables are those of the scripts that write them, and lielab's column is what the tests measure."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import group_accuracy

LIMIT = 1e-14


def test_the_table_of_accuracy(root: Path) -> None:
    folder = root / "benchmarks" / "results"
    data = json.loads((folder / "group_accuracy.json").read_text(encoding="utf-8"))
    assert data["angles"] == list(dict.fromkeys(group_accuracy.angles()))
    ours = data["errors"]["lielab"]
    assert set(ours) == set(group_accuracy.BLOCKS)
    assert max(max(column) for column in ours.values()) <= LIMIT
    assert set(data["versions"]) == set(data["errors"])
    table = (folder / "group_accuracy.md").read_text(encoding="utf-8")
    for name, version in data["versions"].items():
        assert name in table
        assert version in table
        assert all(len(column) == len(data["angles"]) for column in data["errors"][name].values())


def test_the_benchmark_measures_what_the_table_says() -> None:
    """lielab alone, no network: the whole sweep again."""
    table = group_accuracy.main(ours_only=True)
    assert max(column.max() for column in table["lielab"].values()) <= LIMIT
