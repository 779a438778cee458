"""The double spherical pendulum to 1e-4, 1e-6 and 1e-9: our best against DOP853 in three dresses.

    python -m benchmarks.double_pendulum [--write]

`--write` puts the tables into results/double_pendulum.md.

Work-precision curves (processor time against the error at the end) in one run, each time the best of several
repeats, compile time excluded; ratios are read off at equal accuracy. The dresses: SciPy with the
right-hand side as a reader would write it in NumPy, SciPy with one written in Python scalars, and the same
algorithm compiled (`compiled_dop853.py`), once with those scalars inlined into it and once with the kernels that
our methods call, field and generator.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

import lielab
from benchmarks.compiled_dop853 import dop853
from lielab.systems import DoubleSphericalPendulum

SYSTEM = DoubleSphericalPendulum()
T_END = 10.0
ACCURACIES = (1e-4, 1e-6, 1e-9)
TOLERANCES = 10.0 ** -np.arange(4.0, 12.1, 0.5)
REPEATS, SLOW_REPEATS = 7, 3  # the runs in Python are long enough to be steady


def numpy_rhs(t, y, m1=2.0, m2=1.0, l1=1.0, l2=1.0, g=9.81):
    """As a reader would write it: the rod tensions from a 2x2 system, cross products for the rest."""
    q1, w1, q2, w2 = y.reshape(4, 3)
    e3 = np.array([0.0, 0.0, 1.0])  # down
    c = q1 @ q2
    A = np.array([[1 / m1, -c / m1], [-c / m1, 1 / m1 + 1 / m2]])
    T1, T2 = np.linalg.solve(A, [l1 * w1 @ w1 + g * e3 @ q1, l2 * w2 @ w2])
    dw1 = np.cross(q1, T2 * q2 / m1 + g * e3) / l1
    dw2 = np.cross(q2, T1 * q1 / m1) / l2
    return np.concatenate([np.cross(w1, q1), dw1, np.cross(w2, q2), dw2])


def scalar_rhs(t, y, m1=2.0, m2=1.0, l1=1.0, l2=1.0, g=9.81):
    """The same in Python scalars."""
    ax, ay, az, ux, uy, uz, bx, by, bz, vx, vy, vz = y.tolist()
    c = ax * bx + ay * by + az * bz
    r1 = l1 * (ux * ux + uy * uy + uz * uz) + g * az
    r2 = l2 * (vx * vx + vy * vy + vz * vz)
    s2 = m2 * (r2 + c * r1) / (m1 + m2 * (1.0 - c * c))  # T2 / m1
    s1 = r1 + c * s2  # T1 / m1
    f1, f2, g1 = s2 / l1, s1 / l2, g / l1
    fz = f1 * bz + g1
    return (
        *(uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax),
        *(ay * fz - az * f1 * by, az * f1 * bx - ax * fz, f1 * (ax * by - ay * bx)),
        *(vy * bz - vz * by, vz * bx - vx * bz, vx * by - vy * bx),
        *(f2 * (by * az - bz * ay), f2 * (bz * ax - bx * az), f2 * (bx * ay - by * ax)),
    )


@njit(error_model="numpy", nogil=True)
def compiled_rhs(t, y, p, out):
    """The same scalars, compiled."""
    m1, m2, l1, l2, g = p[0], p[1], p[2], p[3], p[4]
    ax, ay, az, ux, uy, uz = y[0], y[1], y[2], y[3], y[4], y[5]
    bx, by, bz, vx, vy, vz = y[6], y[7], y[8], y[9], y[10], y[11]
    c = ax * bx + ay * by + az * bz
    r1 = l1 * (ux * ux + uy * uy + uz * uz) + g * az
    r2 = l2 * (vx * vx + vy * vy + vz * vz)
    s2 = m2 * (r2 + c * r1) / (m1 + m2 * (1.0 - c * c))
    s1 = r1 + c * s2
    f1, f2, g1 = s2 / l1, s1 / l2, g / l1
    fz = f1 * bz + g1
    out[0], out[1], out[2] = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    out[3], out[4] = ay * fz - az * f1 * by, az * f1 * bx - ax * fz
    out[5] = f1 * (ax * by - ay * bx)
    out[6], out[7], out[8] = vy * bz - vz * by, vz * bx - vx * bz, vx * by - vy * bx
    out[9], out[10] = f2 * (by * az - bz * ay), f2 * (bz * ax - bx * az)
    out[11] = f2 * (bx * ay - by * ax)


FORM = SYSTEM.formulations["action"]
_field, _generator = FORM.field, FORM.action.generator.into


@njit(error_model="numpy", nogil=True)
def kernel_rhs(t, y, p, out):
    """The right-hand side from the kernels of lielab."""
    _generator(_field(t, y, p), y, out)


def ours(method: str, **options: str) -> Callable[[float], np.ndarray]:
    return lambda tol: lielab.solve(
        SYSTEM, (0, T_END), method=method, rtol=tol, atol=tol, save_every=10**9, **options
    ).y[-1]


def scipy_with(rhs: Callable, method: str = "DOP853") -> Callable[[float], np.ndarray]:
    return lambda tol: solve_ivp(rhs, (0, T_END), SYSTEM.y0, method, rtol=tol, atol=tol).y[:, -1]


def compiled(rhs: Callable) -> Callable[[float], np.ndarray]:
    return lambda tol: dop853(rhs, 0.0, T_END, SYSTEM.y0, SYSTEM.params, tol, tol)[0]


CODES: dict[str, Callable[[float], np.ndarray]] = {
    "lielab RKMK8": ours("RKMK8"),
    "lielab RKMK8, PI": ours("RKMK8", controller="PI"),
    "lielab RKMK8, PI, Cayley": ours("RKMK8", controller="PI", retraction="cay"),
    "lielab RKMK54": ours("RKMK54"),
    "lielab CF43": ours("CF43"),
    "DOP853 compiled, inlined": compiled(compiled_rhs),
    "DOP853 compiled, kernels": compiled(kernel_rhs),
    "solve_ivp DOP853, NumPy": scipy_with(numpy_rhs),
    "solve_ivp DOP853, scalars": scipy_with(scalar_rhs),
    "solve_ivp RK45, NumPy": scipy_with(numpy_rhs, "RK45"),
    "solve_ivp RK45, scalars": scipy_with(scalar_rhs, "RK45"),
    "solve_ivp LSODA, NumPy": scipy_with(numpy_rhs, "LSODA"),
    "solve_ivp LSODA, scalars": scipy_with(scalar_rhs, "LSODA"),
}


def reference() -> np.ndarray:
    """Two independent codes at their tightest must agree before anything is timed."""
    fine = lielab.solve(SYSTEM, (0, T_END), method="RKMK8", h=T_END / 8000, save_every=8000).y[-1]
    other = dop853(compiled_rhs, 0.0, T_END, SYSTEM.y0, SYSTEM.params, 1e-13, 1e-13)[0]
    np.testing.assert_allclose(fine, other, atol=2e-10)
    np.testing.assert_allclose(numpy_rhs(0.0, other), scalar_rhs(0.0, other), rtol=0, atol=1e-12)
    return fine


def curves() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """code -> errors, seconds (repeats, ...), defects for every tolerance; the codes take turns: noise hits all."""
    exact = reference()
    errors = {code: np.zeros(len(TOLERANCES)) for code in CODES}
    seconds = {
        code: np.empty((SLOW_REPEATS if "solve_ivp" in code else REPEATS, len(TOLERANCES)))
        for code in CODES
    }
    defects = {code: np.zeros(len(TOLERANCES)) for code in CODES}
    for run in CODES.values():
        run(1e-4)  # compiles
    for repeat in range(REPEATS):
        for i, tol in enumerate(TOLERANCES):
            for code, run in CODES.items():
                if repeat >= len(seconds[code]):
                    continue
                began = time.process_time()
                end = run(tol)
                seconds[code][repeat, i] = time.process_time() - began
                errors[code][i] = np.linalg.norm(end - exact)
                defects[code][i] = SYSTEM.defect(end)
    return {code: (errors[code], seconds[code], defects[code]) for code in CODES}


def time_at(accuracy: float, errors: np.ndarray, seconds: np.ndarray) -> float:
    """Seconds for an error, from the line through the logarithms of the curve near it."""
    x, y = np.log(errors), np.log(seconds)
    near = np.argsort(np.abs(x - np.log(accuracy)))[:5]
    slope, offset = np.polyfit(x[near], y[near], 1)
    return float(np.exp(offset + slope * np.log(accuracy)))


def fixed_cost(method: str = "RKMK8") -> float:
    """Seconds of a call of solve that takes one step: what every run pays, however short."""
    best = np.inf
    for _ in range(50):
        began = time.process_time()
        lielab.solve(SYSTEM, (0, 1e-3), method=method, rtol=1e-6, atol=1e-6, h0=1e-3)
        best = min(best, time.process_time() - began)
    return best


def main() -> None:
    table = curves()
    lines: list[str] = []

    def say(text: str = "") -> None:
        lines.append(text)
        sys.stdout.write(text + "\n")

    say(f"double spherical pendulum, t = {T_END}, milliseconds at equal accuracy")
    say(f"{'':28s}" + "".join(f"{a:>12.0e}" for a in ACCURACIES) + "   largest defect")
    times = {
        code: [time_at(a, errors, seconds.min(axis=0)) for a in ACCURACIES]
        for code, (errors, seconds, _) in table.items()
    }
    for code, line in times.items():
        say(
            f"{code:28s}"
            + "".join(f"{1e3 * t:12.3f}" for t in line)
            + f"   {table[code][2].max():.1e}"
        )
    best = [min(times[c][i] for c in times if "lielab" in c) for i in range(len(ACCURACIES))]
    say("\ntheir time over our best (above 1: ours is faster)")
    for code in times:
        if "lielab" not in code:
            ratios = [t / b for t, b in zip(times[code], best, strict=True)]
            say(f"{code:28s}" + "".join(f"{ratio:12.2f}" for ratio in ratios))
    say(
        f"\na call of solve that takes one step: {1e3 * fixed_cost():.2f} ms, in all times of lielab above"
    )
    if "--write" in sys.argv[1:]:
        head = "Times depend on the machine; their ratios were taken in one run, codes in turn.\n\n"
        rows = "\n".join(lines).split("\n")
        text = head + "".join(f"    {row}\n" if row else "\n" for row in rows)
        (Path(__file__).parent / "results" / "double_pendulum.md").write_text(
            text, encoding="utf-8"
        )


if __name__ == "__main__":
    main()
