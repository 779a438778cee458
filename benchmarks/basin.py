"""The basin study, 100320 closed loops: python -m benchmarks.basin [--workers N]. Ten to twenty minutes on two cores.

Stores its counts in lielab/control/basin.json, which the book shows and a test recomputes in part. Every finished cell
goes to a checkpoint: stopped and started again, the command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from lielab import sweep
from lielab.control import basin

CHECKPOINT = Path(".cache") / "basin.sweep"


def main() -> None:
    """Run what is missing, then store all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads")
    workers = parser.parse_args().workers
    for limit in basin.LIMITS:  # made once here, not by two threads at the same time
        basin.controller(limit)
    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as threads:
        result = sweep(
            basin.caught, basin.cells(), executor=threads, chunk=4, checkpoint=CHECKPOINT
        )
    seconds = time.perf_counter() - began
    if not result.success:
        raise SystemExit(f"{len(result.errors)} cells failed: {next(iter(result.errors.items()))}")
    shape = len(basin.LIMITS), len(basin.ANGLES), len(basin.SPEEDS)
    data = {
        "angles": basin.ANGLES,
        "speeds": basin.SPEEDS,
        "limits": basin.LIMITS,
        "starts": basin.STARTS,
        "caught": result.values.astype(int).reshape(shape).tolist(),
    }
    basin.STORED.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")
    for limit, counts in zip(basin.LIMITS, np.array(data["caught"]), strict=True):
        print(f"limit {limit:4g} N m: {counts.sum() / counts.size / basin.STARTS:6.1%} arrive")
    print(f"{len(basin.cells()) * basin.STARTS} closed loops; this run took {seconds:.0f} s")


if __name__ == "__main__":
    main()
