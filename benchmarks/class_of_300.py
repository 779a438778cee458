"""A class of 300 hands in assignment 1: python -m benchmarks.class_of_300 [--size N] [--jobs J] [--compare].

Nine tenths are right or have one wrong question, one in fifteen is slow but finishes, one in thirty is hostile. The
default limits hold. The run is killed (SIGKILL) after a third and after two thirds of the lines and started again each
time; the time is that of all three. Then every student has one line, with the points that are known beforehand. The
goal is 10 minutes on two cores for 300. `--compare` grades the class with threads, processes and a dask cluster
instead, and says whether all tables are the same. Needs Linux and bubblewrap.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lielab.grading.grade import grade
from lielab.grading.notebook import mark
from tests.grading.hostile import CASES
from tests.grading.util import EXERCISES, full, submission

NAME = "01_rotations"
GOAL = 600.0  # seconds, for 300
HOSTILE = (
    "endless loop",
    "fork bomb",
    "memory",
    "hard exit in a call",
    "deaf to signals",
    "crash",
    "thread bomb",
    "memory of many",
    "sleeps",
    "patched",
)
WRONG = (
    {},
    {"q2": "def exp(x): return np.eye(3) + hat(x)"},
    {"q3": None},
    {"q4": "def dexpinv(u): return np.eye(3) - hat(u) / 2"},
    {},
    {"q1": "def hat(x): return np.outer(x, x)\ndef vee(X): return X[0]"},
)
_SLOW = "\n\nimport time as _clock\n_right = exp\n\n\ndef exp(x):\n    _clock.sleep(0.2)\n    return _right(x)\n"


def student(k: int) -> tuple[dict[str, Any], float]:
    """The notebook of student k and the points that it earns."""
    points = full(NAME)
    if k % 30 == 7:
        content, earned = CASES[HOSTILE[k // 30 % len(HOSTILE)]]
        return json.loads(json.dumps(content)), sum(earned.values())
    if k % 15 == 3:
        notebook = submission(NAME)
        for cell in notebook["cells"]:
            if mark(cell).get("grade_id") == "q2":
                cell["source"] += _SLOW
        return notebook, sum(points.values())
    wrong = WRONG[k % len(WRONG)]
    return submission(NAME, f"# {k}", **wrong), sum(points.values()) - sum(points[q] for q in wrong)


def hand_in(folder: Path, size: int) -> dict[str, float]:
    """Write the notebooks of a class; student -> the points that are right."""
    folder.mkdir()
    want = {}
    for k in range(size):
        notebook, want[f"s{k:03d}"] = student(k)
        (folder / f"s{k:03d}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return want


def lines(out: Path) -> dict[str, float]:
    """Student -> points, from the table; a student with two lines is a fault."""
    with open(out / "grades.csv", newline="", encoding="utf-8") as file:
        rows = [(row["student"], float(row["points"])) for row in csv.DictReader(file)]
    assert len(dict(rows)) == len(rows), "a student has two lines"
    return dict(rows)


def said(found: dict[str, float], want: dict[str, float]) -> str:
    """How many lines are as they should be, and which are not."""
    wrong = [name for name in sorted({*want, *found}) if found.get(name) != want.get(name)]
    rest = [f"{name} has {found.get(name)} points for {want.get(name)}" for name in wrong]
    return "; ".join([f"{len(want) - len(wrong)} of {len(want)} lines are right", *rest])


def run(folder: Path, out: Path, jobs: int, stop: int | None) -> tuple[float, int]:
    """Grade with the command; killed after `stop` new lines. Seconds, and the number of new lines."""
    command = [sys.executable, "-u", "-m", "lielab.grading", "grade", str(folder)]
    command += ["--masters", str(EXERCISES), "--out", str(out), "--jobs", str(jobs), "--seed", "1"]
    begun, new = time.monotonic(), 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for row in process.stdout:
        new += bool(re.match(r"s\d{3}: ", row))
        if stop is not None and new >= stop:
            process.kill()
            break
    process.stdout.close()
    process.wait()
    return time.monotonic() - begun, new


def measure(size: int, jobs: int) -> bool:
    """The class, killed twice on the way; whether every line is there and right."""
    with tempfile.TemporaryDirectory(prefix="lielab-class-") as base:
        folder, out = Path(base) / "class", Path(base) / "grades"
        want = hand_in(folder, size)
        spent = []
        for stop in (size // 3, size // 3, None):
            seconds, new = run(folder, out, jobs, stop)
            spent.append(seconds)
            print(f"  {new} lines in {seconds:.0f} s{'' if stop is None else ', then killed'}")
        found = lines(out)
        print(
            f"{size} submissions, {jobs} at a time on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}: "
            f"{sum(spent):.0f} s (goal {GOAL * size / 300:.0f} s), {said(found, want)}"
        )
        return found == want


def executors(jobs: int, stack: ExitStack) -> dict[str, Executor]:
    """Every kind that there is here."""
    found: dict[str, Executor] = {
        "threads": stack.enter_context(ThreadPoolExecutor(jobs)),
        "processes": stack.enter_context(
            ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
        ),
    }
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        print("dask.distributed is not installed: left out")
        return found
    cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    client = stack.enter_context(Client(stack.enter_context(cluster)))
    return {**found, "dask": client.get_executor()}


def compare(size: int, jobs: int) -> bool:
    """The same class with every kind of executor; whether the tables are the same and right."""
    with tempfile.TemporaryDirectory(prefix="lielab-class-") as base, ExitStack() as stack:
        folder, tables = Path(base) / "class", {}
        want = hand_in(folder, size)
        for kind, executor in executors(jobs, stack).items():
            begun, out = time.monotonic(), Path(base) / kind
            options = {"seed": 1, "executor": executor, "say": lambda _: None}
            found = grade(folder, EXERCISES, out, **options)
            if failed := [
                result for result in found if result.failed
            ]:  # a machine too busy to start
                print(f"{kind}: graded again: {[(r.student, r.notes) for r in failed]}")
                grade(folder, EXERCISES, out, **options)
            tables[kind] = (out / "grades.csv").read_text("utf-8")
            print(f"{kind}: {time.monotonic() - begun:.0f} s, {said(lines(out), want)}")
        same = len(set(tables.values())) == 1
        print("the tables are the same" if same else "the tables DIFFER")
        return same and lines(out) == want


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--compare", action="store_true")
    given = parser.parse_args()
    good = (compare if given.compare else measure)(given.size, given.jobs)
    sys.exit(0 if good else 1)
