"""Measured order of every method on every problem: the table that the book prints.

python -m benchmarks.orders           measures and prints
python -m benchmarks.orders --write   stores it as lielab/study/orders.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import lielab
from lielab.diagnostics import order_table
from lielab.study.order_problems import problems

FAMILIES = ("RKMK", "commutator-free", "Crouch-Grossman", "implicit RKMK")
OPTIONS = [
    ("RKMK4", {"retraction": "cay"}),
    ("RKMK5", {"retraction": "cay"}),
    ("RKMK8", {"retraction": "cay"}),
    ("RKMKGL6", {"retraction": "cay"}),
    ("RKMK3", {"commutators": "order"}),
    ("RKMK5", {"commutators": "order"}),
    ("RKMK8", {"commutators": "order"}),
]


def measure() -> list[dict]:
    names = [name for name, m in lielab.methods().items() if m.family in FAMILIES]
    return order_table(problems(), [*names, *OPTIONS, "RK4"])


def show(rows: list[dict]) -> None:
    """One line a method, one column a problem."""
    columns = list(problems())
    lines: dict[str, dict[str, dict]] = {}
    for row in rows:
        label = row["method"] + "".join(f" {k}={v}" for k, v in row["options"].items())
        lines.setdefault(label, {})[row["problem"]] = row
    print(f"{'':28s}{'order':>6s}" + "".join(f"{c[:14]:>16s}" for c in columns))
    for label, line in lines.items():
        cells = [line[c] for c in columns]
        text = [
            f"{c['measured']:.2f} ({c['points']})" if c["measured"] is not None else "-"
            for c in cells
        ]
        print(f"{label:28s}{cells[0]['order']:6d}" + "".join(f"{t:>16s}" for t in text))


if __name__ == "__main__":
    measured = measure()
    show(measured)
    if "--write" in sys.argv:
        target = Path(lielab.__file__).parent / "study" / "orders.json"
        body = ",\n ".join(json.dumps(row) for row in measured)
        target.write_text(f"[{body}]\n", encoding="utf-8")
        print(f"written to {target.name}")
