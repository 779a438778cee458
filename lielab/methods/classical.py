"""The baselines: classical Runge-Kutta in ambient coordinates, blind to the manifold.

`RK4` has its own compiled loop; `RK45` and `DOP853` are SciPy's. All integrate y' = generator(field(t, y), y),
the same equation in the coordinates of the surrounding space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import ACT, FIELD, MAT, VEC, loop
from ._march import NFEV, RUNNING, H, T, advance, running
from ._registry import Method, Plan, register


@loop(FIELD, ACT, VEC, VEC, VEC, VEC, MAT, VEC)
def march_rk4(field, generator, run, y, p, ts, ys, hs):
    """The classical fourth-order method, y updated by addition."""
    n = len(y)
    stage, y_new = np.empty(n), np.empty(n)
    while running(run):
        t, h = run[T], run[H]
        k1 = generator(field(t, y, p), y)
        for i in range(n):
            stage[i] = y[i] + 0.5 * h * k1[i]
        k2 = generator(field(t + 0.5 * h, stage, p), stage)
        for i in range(n):
            stage[i] = y[i] + 0.5 * h * k2[i]
        k3 = generator(field(t + 0.5 * h, stage, p), stage)
        for i in range(n):
            stage[i] = y[i] + h * k3[i]
        k4 = generator(field(t + h, stage, p), stage)
        for i in range(n):
            y_new[i] = y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
        run[NFEV] += 4
        advance(run, RUNNING, 0.0, y, y_new, ts, ys, hs)


def _prepare_rk4(formulation: Any, y0: np.ndarray) -> Plan:
    formulation.action.algebra_dim(len(y0))
    return Plan(
        loop=march_rk4,
        kernels=(formulation.field, formulation.action.generator),
        data=(),
        params=formulation.params,
    )


def ambient_rhs(formulation: Any):
    """y' = generator(field(t, y, p), y) as a Python function of (t, y), for SciPy."""
    field, generator, p = formulation.field, formulation.action.generator, formulation.params

    def rhs(t: float, y: np.ndarray) -> np.ndarray:
        y = np.ascontiguousarray(y)
        return generator(field(t, y, p), y)

    return rhs


def _scipy(*_: Any, **__: Any) -> Plan:
    raise NotImplementedError("SciPy's methods run in solve, not in a compiled loop")


RK4 = register(
    Method("RK4", "classical", 4, "action", "Kutta 1901; the baseline of celledoni 5", _prepare_rk4)
)
RK45 = register(
    Method("RK45", "classical", 5, "action", "scipy.integrate.RK45", _scipy, embedded=True)
)
DOP853 = register(
    Method("DOP853", "classical", 8, "action", "scipy.integrate.DOP853", _scipy, embedded=True)
)
