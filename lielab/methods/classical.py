"""The baselines: classical Runge-Kutta in ambient coordinates, blind to the manifold.

`RK4` has its own compiled loop; `RK45` and `DOP853` are SciPy's. All integrate y' = generator(field(t, y), y),
the same equation in the coordinates of the surrounding space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.jit import ACT, FIELD, MAT, VEC, lent, loop, record
from ..core.march import NFEV, RUNNING, STATE, H, T, advance, running
from ._registry import Method, Plan, register

RK4Kernels = record("RK4Kernels", field=FIELD, generator=ACT)
RK4Data = record("RK4Data", stage=VEC, y_new=VEC, k=MAT)


@loop(RK4Kernels.kind, RK4Data.kind, *STATE)
def march_rk4(kernels, data, run, y, p, ts, ys, hs):
    """The classical fourth-order method, y updated by addition."""
    field, generator = kernels
    stage, y_new, k = lent(data)
    run, y, p = lent(run), lent(y), lent(p)
    n = len(y)
    while running(run):
        t, h = run[T], run[H]
        generator(field(t, y, p), y, k[0])
        for i in range(n):
            stage[i] = y[i] + 0.5 * h * k[0, i]
        generator(field(t + 0.5 * h, stage, p), stage, k[1])
        for i in range(n):
            stage[i] = y[i] + 0.5 * h * k[1, i]
        generator(field(t + 0.5 * h, stage, p), stage, k[2])
        for i in range(n):
            stage[i] = y[i] + h * k[2, i]
        generator(field(t + h, stage, p), stage, k[3])
        for i in range(n):
            y_new[i] = y[i] + h / 6.0 * (k[0, i] + 2.0 * k[1, i] + 2.0 * k[2, i] + k[3, i])
        run[NFEV] += 4
        advance(run, RUNNING, 0.0, y, y_new, ts, ys, hs)


def _prepare_rk4(formulation: Any, y0: np.ndarray) -> Plan:
    formulation.action.algebra_dim(len(y0))
    n = len(y0)
    return Plan(
        loop=march_rk4,
        kernels=RK4Kernels(formulation.field, formulation.action.generator),
        data=RK4Data(np.zeros(n), np.zeros(n), np.zeros((4, n))),
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
