"""What a sweep costs, in constants measured here, and with them on paper: a billion closed loops on a cluster.

    python -m benchmarks.sweep_cost            stores them in results/sweep_cost.json and makes the page's table anew
    python -m benchmarks.sweep_cost --page     only the table, from what is stored

All times are processor times, the least of several rounds: of the worker's loop, and of the one process in which
dask's scheduler, its client and the sweep itself run.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import tracemalloc
from pathlib import Path

from benchmarks._timing import best
from lielab import sweep
from lielab.study import basin

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks/results/sweep_cost.json", ROOT / "book/sweeps.md"
CELLS = [(60, 4, 10.0), (120, 10, 10.0), (150, 16, 15.0)]  # of different fates
LOOPS, CORES = 10**9, 1000
MANY = 20_000  # cases that cost nothing, to see what a case costs
TASKS, ROUNDS = 2000, 3


def nothing(case: tuple) -> float:
    """A case of a sweep that does no work."""
    return case[0]


def seconds_a_loop() -> float:
    """Processor time of a closed loop of 15 s, 1500 steps, on one core."""
    loops = len(CELLS) * basin.STARTS
    return best(lambda: [basin.caught(cell) for cell in CELLS], repeats=ROUNDS) / loops


def of_a_case() -> tuple[float, float]:
    """Bytes in memory and in the checkpoint that a case costs the process that hands them out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cost.sweep"
        tracemalloc.start()
        cases = [(float(i), 0.5 * i, 10.0) for i in range(MANY)]
        sweep(nothing, cases, progress=False, checkpoint=file)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most / MANY, file.stat().st_size / MANY


def seconds_a_task() -> float:
    """Processor time of the process that hands out the cases, for one task of dask; two workers on this machine."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
    ):
        executor = client.get_executor()
        cases = [(float(i),) for i in range(TASKS)]
        together = best(
            lambda: sweep(nothing, cases, executor=executor, progress=False), repeats=ROUNDS
        )
        return together / TASKS


def on_paper(found: dict, loops_a_case: int, chunk: int) -> dict:
    """Of LOOPS closed loops on CORES cores: what the workers and the one process that hands out cases need."""
    cases = LOOPS / loops_a_case
    return {
        "cases": cases,
        "hours of the workers": LOOPS * found["seconds a loop"] / CORES / 3600.0,
        "seconds of a task": loops_a_case * chunk * found["seconds a loop"],
        "hours of the scheduler": cases / chunk * found["seconds a task"] / 3600.0,
        "memory, GB": cases * found["bytes of a case in memory"] / 1e9,
        "checkpoint, GB": cases * found["bytes of a case in the checkpoint"] / 1e9,
    }


PLANS = ((basin.STARTS, 1), (basin.STARTS, 1000), (100_000, 1))


def short(value: float) -> str:
    """Two digits, as a reader says them."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}".replace(",", " ") if rounded >= 10 else f"{rounded:g}"


def table(found: dict) -> str:
    """The rows of the page."""
    rows = []
    for loops, chunk in PLANS:
        plan = on_paper(found, loops, chunk)
        rows.append(
            f"| {loops:,} | {chunk} | ".replace(",", " ")
            + " | ".join(short(value) for value in plan.values())
            + " |"
        )
    return "\n".join(rows)


def with_table(page: str, found: dict) -> str:
    """The page with its rows made anew."""
    return re.sub(r"(\n\|[-|]+\|\n)(?:\| [\d ]+ \| \d+ \|.*\n)+", rf"\g<1>{table(found)}\n", page)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only the page, from what is stored")
    if not parser.parse_args().page:
        memory, disk = of_a_case()
        found = {
            "seconds a loop": seconds_a_loop(),
            "seconds a task": seconds_a_task(),
            "bytes of a case in memory": memory,
            "bytes of a case in the checkpoint": disk,
        }
        found = {name: float(f"{value:.2g}") for name, value in found.items()}
        print(json.dumps(found, indent=1))
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    print(table(found))
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
