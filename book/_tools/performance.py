"""The page "Performance", from what `python -m benchmarks.performance` stored: `make bench` does both.

Every number of the page is read from `benchmarks/results/performance.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chapters import ROOT

PAGE = Path("book") / "performance.md"
RESULTS = Path("benchmarks") / "results" / "performance.json"
LIBRARIES = ("SciPy", "jaxlie", "GTSAM", "Pinocchio", "pytransform3d")
MAPS = ("SO(3) exp", "SO(3) log", "SO(3) dexpinv", "SE(3) exp", "SE(3) log")
ACCURACIES = ("1e-04", "1e-06", "1e-09")
DRESSES = {
    "DOP853 compiled, inlined": "DOP853 compiled, right-hand side inlined",
    "DOP853 compiled, kernels": "DOP853 compiled, calling the kernels of our field",
    "solve_ivp DOP853, scalars": "`solve_ivp` DOP853, Python scalars",
    "solve_ivp RK45, scalars": "`solve_ivp` RK45, Python scalars",
    "solve_ivp LSODA, scalars": "`solve_ivp` LSODA, Python scalars",
    "solve_ivp DOP853, NumPy": "`solve_ivp` DOP853, NumPy",
    "solve_ivp RK45, NumPy": "`solve_ivp` RK45, NumPy",
    "solve_ivp LSODA, NumPy": "`solve_ivp` LSODA, NumPy",
}
LOOPS = {
    "C, free body": "RKMK4, free body: C (gcc -O2)",
    "interpreted, free body": "RKMK4, free body: the same source interpreted",
    "jaxlie, RKMK4, scan": "RKMK4, attitude of a free body: jaxlie in `jax.lax.scan`",
    "lielab of PyPI, free body": "RKMK4, attitude of a free body: `lielab` of PyPI",
    "lielab of PyPI, heavy top": "RKMK4, heavy top: `lielab` of PyPI",
    "C, ELN": "ELN, body in a well: C (gcc -O2)",
    "C, VLV": "VLV, body in a well: C (gcc -O2)",
    "symplecta, RATTLE": "RATTLE, double spherical pendulum: symplecta",
}

TEXT = """# Performance

This page is for readers who want to know what the package costs beside what they would use in its place. `make bench`
measures everything here and writes the page; nothing on it is typed in. A number is *their time over ours*: above 1
`lielab` is faster, below 1 the other is. It is the median of several rounds in which the two took turns, with the
smallest and the largest round in brackets. Times are processor times; compiling is left out, except where the page
says otherwise.

## Group functions

One element, called from Python, in nanoseconds for `lielab` and as ratios for the others:

{one}

GTSAM and Pinocchio are C++ behind a thin layer for Python; their call costs less than the reading of arguments that
`lielab` does, and they do not look whether a matrix is a rotation. A batch of ten thousand elements in one call, for
the libraries that have such a call:

{batch}

`log` of `lielab` and of SciPy looks at every matrix first and says where one is no rotation; jaxlie and pytransform3d
take what they get.

## Steps

A fixed step, the same method, problem and step on both sides; the results agree before anything is timed. Nanoseconds a
step for `lielab`:

{loops}

## At equal error

The double spherical pendulum over ten seconds. Each code runs at tolerances from $10^{{-4}}$ to $10^{{-12}}$; the times
are read off where the error at the end is the same. Ours is RKMK8 with a PI controller and the Cayley map, the fastest
of ours here:

{flat}

A compiled flat solver with the right-hand side built in is the fair opponent. {opponent}
It does not stay on the manifold; [Which method when](which_method) shows what that costs and what it does not. A call
of `lielab.solve` that takes one step needs {call}; [`lielab.prepare`](api) is for runs shorter than that.

## The first minute

Seconds by the clock in a new process, with an empty compile cache (the first time on a machine) and with a full one
(every time after that), and the memory of the process:

{first}

## Where this was measured

{where}
"""


def digits(x: float) -> str:
    """Two digits, or whole numbers."""
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}" if x >= 10 else f"{x:.2g}"


def spread(found: dict[str, Any] | None) -> str:
    """The ratio, and its range where the digits tell it from the ratio."""
    if found is None:
        return "–"
    ratio, low, high = (digits(found[key]) for key in ("ratio", "low", "high"))
    return ratio if low == high else f"{ratio} ({low} to {high})"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def of_groups(rows: dict[str, dict], how: str) -> str:
    """A line a map, a column a library that has it."""
    there = [x for x in LIBRARIES if any(f"{x}, {name}, {how}" in rows for name in MAPS)]
    lines = []
    for name in MAPS:
        found = [rows.get(f"{library}, {name}, {how}") for library in there]
        ours = sorted(x["ours"] for x in found if x)
        if ours:
            own = digits(1e9 * ours[len(ours) // 2])
            lines.append([name, own, *map(spread, found)])
    return table(["", "`lielab`, ns", *there], lines)


def of_loops(rows: dict[str, dict]) -> str:
    lines = [
        [words, digits(1e9 * rows[key]["ours"]), spread(rows[key])]
        for key, words in LOOPS.items()
        if key in rows
    ]
    return table(["method, problem: other", "`lielab`, ns", "ratio"], lines)


def of_flat(rows: dict[str, dict]) -> str:
    lines = [
        [words, *(spread(rows.get(f"{key}, {accuracy}")) for accuracy in ACCURACIES)]
        for key, words in DRESSES.items()
    ]
    return table(["other", *(f"error $10^{{-{int(a[-2:])}}}$" for a in ACCURACIES)], lines)


def opponent(rows: dict[str, dict]) -> str:
    """The sentence on the compiled flat solver."""
    ratios = [rows[f"DOP853 compiled, inlined, {a}"]["ratio"] for a in ACCURACIES]
    times = ", ".join(digits(1.0 / x) for x in ratios[:-1]) + f" and {digits(1.0 / ratios[-1])}"
    return f"RKMK8 takes {times} times as long as it at the three errors."


def of_first_use(rows: list[dict]) -> str:
    lines = [
        [
            x["name"],
            *(
                f"{x[key]:.0f} MB" if "memory" in x["name"] else f"{x[key]:.2g} s"
                for key in ("empty", "full")
            ),
        ]
        for x in rows
    ]
    return table(["", "empty cache", "full cache"], lines)


def where(kept: dict[str, Any]) -> str:
    about = kept["machine"]
    versions = {**about["versions"], **kept["versions"]}
    names = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{about['cores']} cores ({about['processor']}), {about['day']}; the load of the machine was "
        f"{about['load before']} when it began. Versions: {names}."
    )


def page(root: Path = ROOT) -> str:
    kept = json.loads((root / RESULTS).read_text(encoding="utf-8"))
    tables = kept["tables"]
    rows = {x["name"]: x for name, found in tables.items() if name != "first_use" for x in found}
    return TEXT.format(
        one=of_groups(rows, "one"),
        batch=of_groups(rows, "batch"),
        loops=of_loops(rows),
        flat=of_flat(rows),
        opponent=opponent(rows),
        call=f"{1e6 * rows['call']['ours']:.0f} microseconds",
        first=of_first_use(tables["first_use"]),
        where=where(kept),
    )


if __name__ == "__main__":
    (ROOT / PAGE).write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
