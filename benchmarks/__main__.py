"""All benchmarks, one after the other: `make bench`. Each prints ratios measured in its own run."""

from __future__ import annotations

import runpy
from pathlib import Path

STUDIES = {
    "atlas",
    "basin",
    "class_of_300",
    "long_run",
    "sweep_cost",
}  # minutes each: make atlas, make basin, ...

for script in sorted(Path(__file__).parent.glob("*.py")):
    if not script.name.startswith("_") and script.stem not in STUDIES:
        print(f"\n== {script.stem}")
        runpy.run_path(str(script), run_name="__main__")
