"""The basin study, 100320 closed loops: python -m benchmarks.basin [--workers N]. Ten to twenty minutes on two cores.

Stores its counts in lielab/study/basin.json, which the book shows and a test recomputes in part. Every finished cell
goes to a checkpoint: stopped and started again, the command goes on where it was. `--compare` runs 13 cells with
threads, processes and a local dask cluster instead (1040 loops each), and says whether the counts are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from lielab import sweep
from lielab.control import basin

CHECKPOINT = Path(".cache") / "basin.sweep"


def compare(workers: int) -> None:
    """The same cells with every kind of executor, and with none."""
    cases = basin.cells()[:: len(basin.cells()) // 12][:13]
    counts = {"one after the other": sweep(basin.caught, cases).values}
    with ThreadPoolExecutor(workers) as threads:
        counts["threads"] = sweep(basin.caught, cases, executor=threads).values
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        counts["processes"] = sweep(basin.caught, cases, executor=processes).values
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        print("dask.distributed is not installed: left out")
    else:
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
            Client(local) as client,
        ):
            found = sweep(basin.caught, cases, executor=client.get_executor())
            counts["dask cluster"] = found.values
    first, *others = counts.values()
    assert all(np.array_equal(first, other) for other in others), counts
    print(f"{len(cases) * basin.STARTS} loops, the same counts with: " + ", ".join(counts))


def main() -> None:
    """Run what is missing, then store all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads")
    parser.add_argument("--compare", action="store_true", help="executors against each other")
    given = parser.parse_args()
    workers = given.workers
    for limit in basin.LIMITS:  # made once here, not by two threads at the same time
        basin.controller(limit)
    if given.compare:
        return compare(workers)
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
