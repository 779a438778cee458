"""All that the page "Performance" shows, measured in one run: python -m benchmarks.performance (ten minutes).

    python -m benchmarks.performance NAME ...      only these tables: groups loops flat bodies first_use

The other libraries are installed into environments of their own (`peers`, `sandia`, `symplecta_rattle` say where). All
times are processor times, ours and theirs in turn; a table keeps the median of the rounds' ratios with their range.
Stored in results/performance.json; `python book/_tools/performance.py` makes the page.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import lielab
from benchmarks import (
    double_pendulum,
    first_numbers,
    peers,
    rigid_body,
    sandia,
    symplecta_rattle,
)

RESULTS = Path(__file__).parent / "results" / "performance.json"
ROUNDS = 5
Row = dict[str, Any]


def row(name: str, pairs: Iterable[tuple[float, float]], count: int = 1) -> Row:
    """Their time over ours: median and range of the rounds; our seconds a piece of `count`."""
    ours, theirs = np.array(list(pairs)).T
    ratios = sorted(theirs / ours)
    found = {"ratio": median(ratios), "low": ratios[0], "high": ratios[-1]}
    return {"name": name, **rounded(found), **rounded({"ours": float(np.median(ours)) / count})}


def rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.3g}") for name, value in values.items()}


# --- the tables -----------------------------------------------------------------------------------


def groups() -> list[Row]:
    """exp, log, dexpinv of one element and of a batch, against five libraries; RKMK4 in jaxlie."""
    versions, pairs = peers.compare()
    VERSIONS.update(versions)
    return [row(key, found) for key, found in pairs.items()]


def loops() -> list[Row]:
    """RKMK4: the same algorithm in C, PyPI's library of the same name, the same source interpreted."""
    first_numbers.run(10)
    rows = []
    pairs = first_numbers.pairs_with_c()
    if pairs:
        rows.append(row("C, free body", pairs, first_numbers.STEPS))
    interpreted = [first_numbers.pair_with_python() for _ in range(3)]
    rows.append(row("interpreted, free body", interpreted))
    python = sandia.environment()
    if python is not None:
        VERSIONS["lielab of PyPI"] = sandia.VERSION
        for problem in sandia.PROBLEMS:
            found = [
                (sandia.ours(problem)[0], sandia.theirs(python, problem)[0]) for _ in range(ROUNDS)
            ]
            rows.append(row(f"lielab of PyPI, {problem}", found))
    return rows


def flat() -> list[Row]:
    """RKMK8 on the double spherical pendulum at equal error against flat solvers, interpreted and compiled."""
    table = double_pendulum.curves()
    best = "lielab RKMK8, PI, Cayley"
    rows = []
    for code, (errors, seconds, _) in table.items():
        if code == best:
            continue
        for accuracy in double_pendulum.ACCURACIES:
            pairs = [
                (
                    double_pendulum.time_at(accuracy, table[best][0], mine),
                    double_pendulum.time_at(accuracy, errors, other),
                )
                for mine, other in zip(table[best][1], seconds, strict=False)
            ]
            rows.append(row(f"{code}, {accuracy:.0e}", pairs))
    rows.append({"name": "call", **rounded({"ours": double_pendulum.fixed_cost()})})
    return rows


def bodies() -> list[Row]:
    """ELN and VLV against C, RATTLE against symplecta."""
    rows = [
        row(f"C, {method}", pairs, rigid_body.STEPS) for method, pairs in rigid_body.pairs().items()
    ]
    VERSIONS["symplecta"] = symplecta_rattle.VERSION
    return [*rows, row("symplecta, RATTLE", symplecta_rattle.pairs())]


PROGRAM = """
import json, resource, sys, time
def memory(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
found = {}
began = time.perf_counter()
import numba
found["import numba"] = time.perf_counter() - began
import lielab
found["import lielab"] = time.perf_counter() - began
found["memory of the import"] = memory()
for name, method in (("RKMK4", "RKMK4"), ("VLV", "VLV")):
    system = lielab.systems.FreeRigidBody() if method == "RKMK4" else lielab.systems.RigidBodyInWell()
    for word in ("first solve", "second solve"):
        began = time.perf_counter()
        lielab.solve(system, (0, 10), method=method, h=0.01)
        found[f"{word}, {name}"] = time.perf_counter() - began
lielab.solve(system, (0, 1e6), method="VLV", h=1.0, save_every=10**6)
found["memory after a million steps"] = memory()
print(json.dumps(found))
"""


def first_use() -> list[Row]:
    """Seconds (wall) of the first import and solves of a new process, with an empty cache and a full one; megabytes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "LIELAB_CACHE_DIR": folder, "LIELAB_QUIET": "1"}
        env["PYTHONPATH"] = str(Path(lielab.__file__).parents[1])
        for state in ("empty cache", *["full cache"] * ROUNDS):
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True
            )
            rows.append((state, json.loads(done.stdout)))
    full = [found for state, found in rows if state == "full cache"]
    return [
        {
            "name": name,
            **rounded({"empty": cold, "full": median([found[name] for found in full])}),
        }
        for name, cold in rows[0][1].items()
    ]


TABLES: dict[str, Callable[[], list[Row]]] = {
    "groups": groups,
    "loops": loops,
    "flat": flat,
    "bodies": bodies,
    "first_use": first_use,
}
VERSIONS: dict[str, str] = {}


def machine() -> dict[str, Any]:
    """What the page says of where this was measured."""
    mine = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba")}
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load before": load,
        "day": time.strftime("%Y-%m-%d"),
        "versions": {
            "lielab-book": lielab.__version__,
            "Python": platform.python_version(),
            **mine,
        },
    }


def main() -> None:
    wanted = sys.argv[1:] or list(TABLES)
    unknown = sorted(set(wanted) - set(TABLES))
    if unknown:
        sys.exit(f"no table {', '.join(unknown)}; there are {', '.join(TABLES)}")
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"tables": {}}
    about = machine()
    for name in wanted:
        print(f"{name} ...", flush=True)
        found = TABLES[name]()
        if found:
            kept["tables"][name] = found
        for line in found:
            print("  ", line, flush=True)
    kept["machine"] = about
    kept["versions"] = {**kept.get("versions", {}), **VERSIONS}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
