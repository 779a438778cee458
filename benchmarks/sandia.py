"""Against the library of Sandia National Laboratories that is called `lielab` on PyPI: same problem, step, result.

    python -m benchmarks.sandia

It needs an environment of its own, because both install the import name `lielab`; the script makes one in a
folder for temporary files. The problem is the attitude of a free rigid body with constant spatial momentum pi,
R' = hat(R I^-1 R' pi) R on SO(3), by RKMK with Kutta's tableau of order 4 and h = 0.01. Its methods are compiled and
call a generator written in Python, the only kind that it takes from Python; ours compiles the reader's field.
Processor time, best of several runs, compile time excluded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

import lielab
from lielab.systems import ActionSystem

VERSION = "0.5.2"
STEPS, H, REPEATS = 2000, 0.01, 7
INERTIA, PI = (1.0, 2.0, 3.0), (0.6, -0.3, 1.1)

THEIRS = """
import json, sys, time
import numpy as np
from lielab.domain import SO, CompositeAlgebra, CompositeManifold, so
from lielab.integrate import HomogeneousIVPSystem, IVPMethod, IVPOptions, RungeKuttaCoefficients, solve_ivp

steps, h, repeats, inertia, pi = json.loads(sys.argv[1])
inertia, pi = np.array(inertia), np.array(pi)

def generator(t, y):
    R = y[0].get_matrix()
    xi = so(3)
    xi.set_vector(R @ ((R.T @ pi) / inertia))
    return CompositeAlgebra([xi])

options = IVPOptions()
options.variable_time_step, options.dt = False, h
options.method, options.coefficients = IVPMethod.MuntheKaas, RungeKuttaCoefficients.RK4a
best = float("inf")
for _ in range(repeats):
    began = time.process_time()
    sol = solve_ivp(HomogeneousIVPSystem(generator), [0.0, steps * h], CompositeManifold([SO(3)]), options)
    best = min(best, time.process_time() - began)
print(json.dumps([best / (len(sol.t) - 1), len(sol.t) - 1, sol.y[-1][0].get_matrix().tolist()]))
"""


def field(t, y, p):
    """R I^-1 R' pi, the angular velocity in space; p holds the moments and pi."""
    out = np.zeros(3)
    for j in range(3):
        body = (y[j] * p[3] + y[3 + j] * p[4] + y[6 + j] * p[5]) / p[j]
        for i in range(3):
            out[i] += y[3 * i + j] * body
    return out


def ours() -> tuple[float, np.ndarray]:
    """Seconds a step and the final attitude."""
    start = tuple(np.eye(3).ravel())
    system = ActionSystem(lielab.actions.SO3_ON_SO3, field, start, (*INERTIA, *PI))
    best = np.inf
    for steps in (STEPS, *[10 * STEPS] * REPEATS):  # the first run compiles
        began = time.process_time()
        sol = lielab.solve(system, (0, steps * H), method="RKMK4", h=H, save_every=steps)
        seconds = time.process_time() - began
        if steps == STEPS:
            end = sol.y[-1].reshape(3, 3)
        else:
            best = min(best, seconds / steps)
    return best, end


def theirs() -> tuple[float, int, np.ndarray] | None:
    """Seconds a step, steps and the final attitude; None where it cannot be installed."""
    folder = Path(tempfile.gettempdir()) / f"lielab-sandia-{VERSION}-py{sys.version_info[1]}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-q", f"lielab=={VERSION}", "numpy"]
        if subprocess.run(install, capture_output=True).returncode:
            return None
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    task = json.dumps([STEPS, H, REPEATS, INERTIA, PI])
    done = subprocess.run(
        [str(python), "-c", THEIRS, task], env=clean, cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
        return None
    step, count, end = json.loads(done.stdout)
    return step, count, np.array(end)


def main() -> None:
    result = theirs()
    if result is None:
        print(f"lielab {VERSION} of PyPI could not be installed or run here: no comparison")
        return
    step, count, end = result
    mine, my_end = ours()
    assert count == STEPS
    np.testing.assert_allclose(my_end, end, rtol=0, atol=1e-11)
    print(
        f"attitude of a free body, RKMK4, h = {H}, t = {STEPS * H:g}: same final attitude to 1e-11"
    )
    print(f"{'Sandia lielab ' + VERSION:24s}{1e6 * step:10.2f} us a step")
    print(f"{'this lielab':24s}{1e6 * mine:10.2f} us a step")
    print(f"{'ratio':24s}{step / mine:10.0f}")


if __name__ == "__main__":
    main()
