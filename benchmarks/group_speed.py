"""Speed of the groups: batches against SciPy, and one element against an empty compiled call.

    python benchmarks/group_speed.py [--write]

CPU time of this process, best of several repeats, so that a busy machine disturbs little; every ratio is of two
numbers from the same run. `--write` puts the table into results/group_speed.md.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks._timing import REPEATS, best  # noqa: E402
from lielab import retraction, se3, so3  # noqa: E402
from lielab.core.jit import jit  # noqa: E402
from lielab.groups.batch import each  # noqa: E402

COUNT = 100_000


@jit
def empty(x, out):
    """The least that a call of compiled code costs."""
    return True


def batches(repeats: int = REPEATS) -> dict[str, tuple[float, float]]:
    """Seconds for a batch of 1e5: lielab's and SciPy's, by name; SE(3) only where SciPy has RigidTransform."""
    from scipy.spatial import transform

    rng = np.random.default_rng(0)
    u, w = rng.standard_normal((COUNT, 3)), rng.standard_normal((COUNT, 6))
    R, g = so3.exp(u), se3.exp(w)
    rotation = transform.Rotation
    turns = rotation.from_rotvec(u)
    pairs = {
        "SO(3) exp": (lambda: so3.exp(u), lambda: rotation.from_rotvec(u).as_matrix()),
        "SO(3) log": (lambda: so3.log(R), lambda: rotation.from_matrix(R).as_rotvec()),
    }
    if hasattr(transform, "RigidTransform"):
        rigid = transform.RigidTransform
        pairs["SE(3) exp"] = lambda: se3.exp(w), lambda: rigid.from_exp_coords(w).as_matrix()
        pairs["SE(3) log"] = lambda: se3.log(g), lambda: rigid.from_matrix(g).as_exp_coords()
    times = {
        name: (best(ours, 1, repeats), best(theirs, 1, repeats))
        for name, (ours, theirs) in pairs.items()
    }
    # Without the check of the matrices, which both from_matrix and our log do: from quaternions, held ready.
    times["SO(3) log, SciPy from quaternions"] = (
        times["SO(3) log"][0],
        best(turns.as_rotvec, 1, repeats),
    )
    return times


def single(calls: int = 5000) -> dict[str, float]:
    """Microseconds of one call with one element, of the empty call and of NumPy's norm, taken in turns."""
    rng = np.random.default_rng(0)
    u, w = rng.standard_normal(3), rng.standard_normal(6)
    R, g, out = so3.exp(u), se3.exp(w), np.empty(9)
    functions = {
        "empty compiled call": lambda: empty(u, out),
        "numpy.linalg.norm": lambda: np.linalg.norm(R),
        "so3.exp": lambda: so3.exp(u),
        "so3.log": lambda: so3.log(R),
        "so3.dexpinv": lambda: so3.dexpinv(u),
        "so3.compose": lambda: so3.compose(R, R),
        "se3.exp": lambda: se3.exp(w),
        "se3.log": lambda: se3.log(g),
        "se3.dexpinv": lambda: se3.dexpinv(w),
    }
    least = dict.fromkeys(functions, math.inf)
    for _ in range(REPEATS):
        for name, function in functions.items():
            least[name] = min(least[name], 1e6 * best(function, calls, 1))
    return least


def maps(repeats: int = REPEATS) -> dict[tuple[str, str], tuple[float, float, int]]:
    """(group, map) -> nanoseconds of the map, of its inverse tangent, and the order of agreement with exp.

    All by the same loop over 1e5 elements, so that only the formulas differ; order 0 stands for exp itself.
    """
    rng = np.random.default_rng(0)
    result = {}
    for group in (so3, se3):
        u = rng.uniform(-1.0, 1.0, (COUNT, group.dim))
        for name in ("exp", "cay", "ccsk"):
            r = retraction(group, name)
            size = math.prod(group.shape), group.dim**2
            nanoseconds = [
                1e9 / COUNT * best(partial(each, f.kernel, u, np.empty((COUNT, n))), 1, repeats)
                for f, n in zip((r.map, r.tangent_inverse), size, strict=True)
            ]
            result[group.name, name] = (*nanoseconds, r.order)
    return result


def table() -> str:
    import numba
    import scipy

    lines = [
        f"Batch of {COUNT:.0e}, milliseconds of CPU time, best of {REPEATS}; "
        f"SciPy {scipy.__version__}, NumPy {np.__version__}, Numba {numba.__version__}.",
        "",
        "| function | lielab | SciPy | ratio |",
        "|---|---|---|---|",
    ]
    for name, (ours, theirs) in batches().items():
        lines.append(f"| {name} | {1e3 * ours:.2f} | {1e3 * theirs:.2f} | {ours / theirs:.2f} |")
    lines += ["", "One element from Python, microseconds.", "", "| call | time |", "|---|---|"]
    lines += [f"| {name} | {microseconds:.2f} |" for name, microseconds in single().items()]
    lines += [
        "",
        "Maps from the algebra, nanoseconds an element in a batch; order of agreement with exp.",
        "",
        "| group | map | value | inverse tangent | order |",
        "|---|---|---|---|---|",
    ]
    for (group, name), (value, tangent, order) in maps().items():
        lines.append(f"| {group} | {name} | {value:.0f} | {tangent:.0f} | {order or 'exact'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = table()
    print(text)
    if "--write" in sys.argv[1:]:
        (ROOT / "benchmarks" / "results" / "group_speed.md").write_text(text, encoding="utf-8")
