"""Against the library of Sandia National Laboratories that is called `lielab` on PyPI: same problem, step, result.

    python -m benchmarks.sandia

It needs an environment of its own, because both install the import name `lielab`; the script makes one in a
folder for temporary files. Two problems, RKMK with Kutta's tableau of order 4: the attitude of a free body,
R' = hat(R I^-1 R' pi) R on SO(3); and the heavy top, Q' = hat(Q I^-1 Q' pi) Q, pi' = M l Gamma0 x Q chi, on the
product SO(3) x R^3. Its methods are compiled and call a generator written in Python, the only kind that it takes
from Python; ours compiles the reader's field. Processor time, best of several runs, compile time excluded.
"""

from __future__ import annotations

import json
import subprocess
import time

import numpy as np

import lielab
from benchmarks._elsewhere import interpreter, settings
from lielab.actions import SO3_ON_SO3, product_action, rn_on_rn
from lielab.systems import ActionSystem, HeavyTop

VERSION = "0.5.2"
STEPS, LONGER, REPEATS = 1000, 300, 7
TOP = HeavyTop("right")
EYE = np.eye(3).ravel()

THEIRS = """
import json, sys, time
import numpy as np
from lielab.domain import RN, SO, CompositeAlgebra, CompositeManifold, rn, so
from lielab.integrate import HomogeneousIVPSystem, IVPMethod, IVPOptions, RungeKuttaCoefficients, solve_ivp

problem, steps, h, repeats, p, start = json.loads(sys.argv[1])
p = np.array(p)

def free_body(t, y):
    R = y[0].get_matrix()
    xi = so(3)
    xi.set_vector(R @ ((R.T @ p[3:]) / p[:3]))
    return CompositeAlgebra([xi])

def heavy_top(t, y):
    Q, pi = y[0].get_matrix(), y[1].get_matrix()[:3, 3]
    xi = so(3)
    xi.set_vector(Q @ ((Q.T @ pi) / p[:3]))
    return CompositeAlgebra([xi, rn.from_vector(np.cross(p[6:], Q @ p[3:6]))])

options = IVPOptions()
options.variable_time_step, options.dt = False, h
options.method, options.coefficients = IVPMethod.MuntheKaas, RungeKuttaCoefficients.RK4a
system = HomogeneousIVPSystem(free_body if problem == "free body" else heavy_top)
y0 = CompositeManifold([SO(3)] + ([RN.from_vector(np.array(start[9:]))] if start[9:] else []))
best = float("inf")
for _ in range(repeats):
    began = time.process_time()
    sol = solve_ivp(system, [0.0, steps * h], y0, options)
    best = min(best, time.process_time() - began)
count = len(sol.t) - 1
print(json.dumps([best / count, count, sol.y[-1][0].get_matrix().ravel().tolist()]))
"""


def free_body(t, y, p):
    """R I^-1 R' pi, the angular velocity in space; p holds the moments and pi."""
    out = np.zeros(3)
    for j in range(3):
        body = (y[j] * p[3] + y[3 + j] * p[4] + y[6 + j] * p[5]) / p[j]
        for i in range(3):
            out[i] += y[3 * i + j] * body
    return out


def heavy_top(t, y, p):
    """The angular velocity in space, and the torque; p holds the moments, M l chi and Gamma0."""
    out = np.zeros(6)
    a = b = c = 0.0  # Q M l chi
    for j in range(3):
        body = (y[j] * y[9] + y[3 + j] * y[10] + y[6 + j] * y[11]) / p[j]
        for i in range(3):
            out[i] += y[3 * i + j] * body
        a, b, c = a + y[j] * p[3 + j], b + y[3 + j] * p[3 + j], c + y[6 + j] * p[3 + j]
    out[3], out[4], out[5] = p[7] * c - p[8] * b, p[8] * a - p[6] * c, p[6] * b - p[7] * a
    return out


PROBLEMS = {  # our system and the step
    "free body": (
        ActionSystem(SO3_ON_SO3, free_body, tuple(EYE), (1.0, 2.0, 3.0, 0.6, -0.3, 1.1)),
        0.01,
    ),
    "heavy top": (
        ActionSystem(
            product_action(SO3_ON_SO3, rn_on_rn(3)), heavy_top, tuple(TOP.y0), tuple(TOP.params)
        ),
        0.001,
    ),
}


def ours(problem: str) -> tuple[float, np.ndarray]:
    """Seconds a step, and the attitude after STEPS steps."""
    system, h = PROBLEMS[problem]
    first = lielab.solve(system, (0, STEPS * h), method="RKMK4", h=h)  # compiles
    best, count = np.inf, LONGER * STEPS
    for _ in range(REPEATS):
        began = time.process_time()
        lielab.solve(system, (0, count * h), method="RKMK4", h=h, save_every=count)
        best = min(best, (time.process_time() - began) / count)
    return best, first.y[-1, :9]


def environment() -> str | None:
    """The interpreter of an environment that holds their library; None where it cannot be installed."""
    return interpreter(f"sandia-{VERSION}", [f"lielab=={VERSION}", "numpy"])


def theirs(python: str, problem: str) -> tuple[float, np.ndarray]:
    """Seconds a step, and the attitude after STEPS steps."""
    system, h = PROBLEMS[problem]
    task = json.dumps([problem, STEPS, h, REPEATS, list(system.p), list(system.start)])
    done = subprocess.run(
        [python, "-c", THEIRS, task], capture_output=True, check=True, **settings(python)
    )
    step, count, end = json.loads(done.stdout)
    assert count == STEPS
    return step, np.array(end)


def main() -> None:
    python = environment()
    if python is None:
        print(f"lielab {VERSION} of PyPI could not be installed here: no comparison")
        return
    print(
        f"RKMK4, microseconds a step     Sandia {VERSION}      ours     ratio     attitudes differ by"
    )
    for problem in PROBLEMS:
        (step, end), (mine, my_end) = theirs(python, problem), ours(problem)
        difference = np.abs(end - my_end).max()
        assert difference < 1e-9, difference
        print(
            f"{problem:28s}{1e6 * step:15.1f}{1e6 * mine:10.3f}{step / mine:10.0f}{difference:24.1e}"
        )


if __name__ == "__main__":
    main()
