"""The page "Performance": what the kept measurements say, and nothing else."""

from __future__ import annotations

import json
import re

import pytest

import performance
from benchmarks import performance as measured

KEPT = json.loads(measured.RESULTS.read_text(encoding="utf-8"))
TEXT = (performance.ROOT / performance.PAGE).read_text(encoding="utf-8")
ROWS = {x["name"]: x for name, rows in KEPT["tables"].items() for x in rows}


def test_the_page_is_what_the_script_makes_of_the_kept_measurements() -> None:
    assert performance.page() == TEXT, "run: python book/_tools/performance.py"


def test_every_comparison_is_kept() -> None:
    """All tables, and in them every library and dress that the page names."""
    assert list(KEPT["tables"]) == list(measured.TABLES)
    missing = [name for name in performance.LOOPS if name not in ROWS]
    missing += [
        f"{dress}, {accuracy}"
        for dress in performance.DRESSES
        for accuracy in performance.ACCURACIES
        if f"{dress}, {accuracy}" not in ROWS
    ]
    missing += [
        f"{library}, {name}, one"
        for library in performance.LIBRARIES
        for name in performance.MAPS
        if f"{library}, {name}, one" not in ROWS and (library, name) != ("SciPy", "SO(3) dexpinv")
    ]
    assert not missing


def test_ranges_hold_their_median() -> None:
    for name, found in ROWS.items():
        if "ratio" in found:
            assert found["low"] <= found["ratio"] <= found["high"], name


@pytest.mark.parametrize(
    ("name", "least"), [("lielab of PyPI, free body", 100.0), ("lielab of PyPI, heavy top", 100.0)]
)
def test_what_the_front_page_promises_was_measured(name: str, least: float) -> None:
    assert ROWS[name]["ratio"] >= least


def test_the_page_shows_ratios_with_ranges() -> None:
    cells = re.findall(r"\| ([\d.]+) \(([\d.]+) to ([\d.]+)\)", TEXT)
    assert len(cells) > 20
    assert all(float(low) <= float(mid) <= float(high) for mid, low, high in cells)


def test_the_sum_of_a_row() -> None:
    """Medians and ranges are those of the pairs."""
    found = measured.row("x", [(1.0, 2.0), (1.0, 5.0), (2.0, 6.0)], 10)
    assert found == {"name": "x", "ratio": 3.0, "low": 2.0, "high": 5.0, "ours": 0.1}
