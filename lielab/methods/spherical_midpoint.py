"""The spherical midpoint method for spins and vortices: q_i' = f_i(t, q) x q_i, unit vectors q_i.

    Q_i = q_i + h f_i(t + h/2, m) x m_i,    m_i = (q_i + Q_i)/|q_i + Q_i|

Q_i - q_i is orthogonal to q_i + Q_i, so lengths stay. It is symmetric, of order 2, and symplectic on (S^2)^n with the
area forms, weighted or not, where f comes from a Hamiltonian: the classical midpoint rule would be symplectic on R^3n
only. Source: McLachlan, Modin & Verdier, Phys. Rev. E 89 (2014) 061301; Math. Comp. 86 (2017) 2325.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.jit import FIELD, VEC, jit, lent, loop, record
from ..core.march import NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, STATE, H, T, advance, running
from ..core.newton import SLOW_SWEEPS, exhausted, replace
from ..core.round_off import mend_unit
from ..groups.so3 import cross_core
from ._registry import Method, Plan, register


@jit
def sweep(field, t, h, y, p, m, y_new):
    """y_new from itself by one turn of the fixed point; m is scratch. Returns the largest correction."""
    for i in range(0, len(y), 3):
        a, b, c = y[i] + y_new[i], y[i + 1] + y_new[i + 1], y[i + 2] + y_new[i + 2]
        f = 1.0 / math.sqrt(a * a + b * b + c * c)
        m[i], m[i + 1], m[i + 2] = f * a, f * b, f * c
    value = field(t + 0.5 * h, m, p)
    new = m  # each m_i is used before its place is taken
    for i in range(0, len(y), 3):
        turn = cross_core((value[i], value[i + 1], value[i + 2]), (m[i], m[i + 1], m[i + 2]))
        for k in range(3):
            new[i + k] = y[i + k] + h * turn[k]
    size, _ = replace(y_new, new)
    return size


MidpointKernels = record("MidpointKernels", field=FIELD)
MidpointData = record("MidpointData", m=VEC, y_new=VEC)


@loop(MidpointKernels.kind, MidpointData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps."""
    field, (m, y_new) = kernels.field, lent(data)
    run, y, p = lent(run), lent(y), lent(p)
    while running(run):
        status, last = NOT_CONVERGED, math.inf
        for i in range(len(y)):
            y_new[i] = y[i]
        for _ in range(SLOW_SWEEPS):
            size = sweep(field, run[T], run[H], y, p, m, y_new)
            run[NFEV] += 1
            run[RESIDUAL] = size
            if not size < math.inf:
                break
            if exhausted(size, 1.0, last):
                run[RESIDUAL], status = 0.0, RUNNING
                break
            last = size
        for i in range(0, len(y), 3):
            mend_unit(y_new, i, 3)  # or the round-off of a million steps would pile up
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


def prepare(formulation: Any, y0: np.ndarray) -> Plan:
    """Plan of the method for a formulation whose action turns directions."""
    return Plan(
        loop=march,
        kernels=MidpointKernels(formulation.field),
        data=MidpointData(np.zeros(len(y0)), np.zeros(len(y0))),
        params=formulation.params,
        structured=True,
    )


register(
    Method(
        "SphericalMidpoint",
        "spherical midpoint",
        2,
        "directions",
        "McLachlan, Modin & Verdier (2014)",
        prepare,
    )
)
