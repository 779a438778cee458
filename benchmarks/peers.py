"""exp, log and dexpinv of SO(3) and SE(3), and RKMK4, against SciPy, jaxlie, GTSAM, Pinocchio, pytransform3d.

    python -m benchmarks.peers

The others run in an environment that the script makes in a folder for temporary files (some hundred megabytes from the
package index). Both sides take turns, a function at a time; each result is compared with ours before anything is timed.
One element is a call from Python; a batch is 1e4 elements in one call, for those that have one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import lielab
from benchmarks._elsewhere import interpreter, settings
from benchmarks._timing import seconds_an_element
from benchmarks.sandia import PROBLEMS
from lielab import se3, so3

WORKER = Path(__file__).parent / "_peers_worker.py"
PACKAGES = ("numpy", "scipy>=1.16", "jax", "jaxlie", "gtsam", "pin", "pytransform3d")
COUNT = 10_000
STEPS, H = 10_000, 0.01
ROUNDS = 7


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, 3) of angles below pi, so that log gives them back, and twists (n, 6)."""
    rng = np.random.default_rng(0)
    u = so3.log(so3.random(rng, (COUNT,)))
    return u, np.concatenate([u, rng.normal(size=(COUNT, 3))], axis=1)


def ours() -> dict[str, tuple[Callable[[], Any], int]]:
    """'function, how' -> call, and the elements that it works on."""
    u, w = samples()
    R, g = so3.exp(u), se3.exp(w)
    maps = {
        "SO(3) exp": (so3.exp, u),
        "SO(3) log": (so3.log, R),
        "SO(3) dexpinv": (so3.dexpinv, u),
        "SE(3) exp": (se3.exp, w),
        "SE(3) log": (se3.log, g),
    }
    found: dict[str, tuple[Callable[[], Any], int]] = {}
    for name, (f, x) in maps.items():
        found[f"{name}, one"] = (lambda f=f, x=x[0]: f(x)), 1
        found[f"{name}, batch"] = (lambda f=f, x=x: f(x)), COUNT
    body, _ = PROBLEMS["free body"]
    found["RKMK4, scan"] = (
        lambda: (
            lielab.solve(body, (0, STEPS * H), method="RKMK4", h=H, save_every=STEPS)
            .y[-1]
            .reshape(3, 3)
        ),
        STEPS,
    )
    return found


@contextmanager
def worker(python: str) -> Iterator[tuple[dict[str, str], dict[str, Any], Callable[[str], float]]]:
    """(versions, what each key gave, key -> seconds) of the other side."""
    u, w = samples()
    body, _ = PROBLEMS["free body"]
    task = {
        "u": u.tolist(),
        "w": w.tolist(),
        "scan": [STEPS, H, list(body.start), list(body.p)],
    }
    with subprocess.Popen(
        [python, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        **settings(python),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        pipe_in, pipe_out = process.stdin, process.stdout

        def ask(line: str) -> str:
            pipe_in.write(line + "\n")
            pipe_in.flush()
            return pipe_out.readline()

        versions, answers = json.loads(ask(json.dumps(task)))
        yield versions, answers, lambda key: float(ask(key))
        pipe_in.close()


def compare() -> tuple[dict[str, str], dict[str, list[tuple[float, float]]]]:
    """Versions, and 'library, function, how' -> pairs of seconds an element, ours and theirs, a pair a round."""
    python = interpreter("peers", PACKAGES)
    if python is None:
        return {}, {}
    mine = ours()
    with worker(python) as (versions, answers, theirs):
        pairs: dict[str, list[tuple[float, float]]] = {}
        for key, answer in answers.items():
            call, count = mine[key.split(", ", 1)[1]]
            value = call()
            whole = count == 1 or "scan" in key
            np.testing.assert_allclose(
                answer, value if whole else value[0], rtol=0, atol=1e-8, err_msg=key
            )
            pairs[key] = []
        for _ in range(ROUNDS):
            for key in pairs:
                pairs[key].append((seconds_an_element(*mine[key.split(", ", 1)[1]]), theirs(key)))
    return versions, pairs


def main() -> None:
    versions, pairs = compare()
    if not pairs:
        print("the other libraries could not be installed here: no comparison")
    for key, found in pairs.items():
        mine, other = np.median(found, axis=0)
        print(f"{key:36s}{1e9 * mine:10.0f} ns{1e9 * other:12.0f} ns{other / mine:10.2f}")
    print(versions)


if __name__ == "__main__":
    main()
