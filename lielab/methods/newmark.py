"""The Newmark family on SO(3): the torque acts at an attitude still to be found (ortolan 4.1.1, 4.1.2).

With a = J^-1 (J w x w + tau), F = cay or exp, and unknown a1

    x = h w + h^2 ((1/2 - beta) a + beta a1),   R1 = R F(x),   w1 = w + h ((1 - gamma) a + gamma a1).

ELN is beta = 0, gamma = 1/2, TLN is beta = 1/4, gamma = 1/2. Order 2 where gamma = 1/2, order 1 otherwise. Newton needs
the derivative of the torque: a kernel of the formulation, or else differences of the torque, good enough for an
iteration that ends at round-off anyway.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.arguments import as_real
from ..core.jit import F8, I8, VEC, jit, lent, loop, record
from ..core.march import NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, STATE, H, T, advance, running
from ..core.newton import SWEEPS, settled
from ..core.values import ONE, cross, finite, largest, solve, store, vec3
from ..groups.rotations import rotate, tangent, turn
from ._body import (
    Body,
    TorqueKernels,
    acceleration,
    angle_of,
    euler_matrix,
    torque_at,
    torque_derivative,
    torque_kernels,
)
from ._registry import Method, Plan, register
from .rigid_body import map_flag, plan


@jit
def newmark_equation(a1, w1, tau, D, c, J):
    """TLN, ortolan (4.3): J a1 - J w1 x w1 - tau and its Jacobian in a1.

    With a1, w1 moves by c da1 and tau by D da1.
    """
    return J * a1 - cross(J * w1, w1) - tau, euler_matrix(w1, c, J) - D


@jit
def newmark_step(body, beta, gamma, t, h, y, run, z, y_new):
    """One step; returns the last correction, 0 where Newton has converged."""
    y, run, z, y_new = lent(y), lent(run), lent(z), lent(y_new)
    w, J = vec3(y, 9), body.J
    a = acceleration(w, torque_at(body, t, y), J)
    run[NFEV] += 1
    a1, size, D = a, math.inf, 0.0 * ONE
    e, angle = h * h * beta, angle_of(h, w, a)
    start, kicked = h * w + h * h * (0.5 - beta) * a, w + h * (1.0 - gamma) * a
    for _ in range(SWEEPS):
        x = start + e * a1
        w1 = kicked + h * gamma * a1
        rotate(y, turn(body.use_cay, x), y_new)
        store(w1, y_new, 9)
        if settled(size, largest(w1) / abs(h)):
            return 0.0
        tau = torque_at(body, t + h, y_new)
        run[NFEV] += 1
        if beta != 0.0:
            D = torque_derivative(body, t + h, y_new, z, angle) @ tangent(body.use_cay, x)
            if not body.known:
                run[NFEV] += 6
        f, A = newmark_equation(a1, w1, tau, e * D, h * gamma, J)
        d = solve(A, f)
        if not finite(d):
            return math.inf
        a1 -= d
        size = largest(d)
    return size


NewmarkData = record(
    "NewmarkData",
    known=I8,
    use_cay=I8,
    beta=F8,
    gamma=F8,
    inertia=VEC,
    z=VEC,
    y_new=VEC,
)


@loop(TorqueKernels.kind, NewmarkData.kind, *STATE)
def march_newmark(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps of LieNewmark."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    J, y_new = vec3(data.inertia, 0), data.y_new
    body = Body(kernels.torque, kernels.derivative, data.known, data.use_cay, J, p)
    while running(run):
        left = newmark_step(body, data.beta, data.gamma, run[T], run[H], y, run, data.z, y_new)
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def _prepare_newmark(
    formulation: Any,
    y0: np.ndarray,
    beta: float = 0.25,
    gamma: float = 0.5,
    retraction: str = "cay",
) -> Plan:
    for name, value, most in (("beta", beta, 0.5), ("gamma", gamma, 1.0)):
        number = as_real(value)
        if number is None or not 0.0 <= number <= most:
            raise ValueError(f"{name} must lie between 0 and {most}, got {value!r}")
    kernels, known = torque_kernels(formulation)
    inertia = np.array(formulation.inertia, dtype=float)
    rule = float(beta), float(gamma)
    data = NewmarkData(known, map_flag(retraction), *rule, inertia, np.zeros(12), np.zeros(12))
    return plan(formulation, march_newmark, kernels, data)


def _prepare_tln(formulation: Any, y0: np.ndarray, retraction: str = "cay") -> Plan:
    return _prepare_newmark(formulation, y0, 0.25, 0.5, retraction)


register(
    Method(
        name="LieNewmark",
        family="rigid body",
        order=2,  # where gamma = 1/2, else 1
        needs="rigid_body",
        source="Simo & Vu-Quoc 1988; ortolan 4.1.1",
        prepare=_prepare_newmark,
        options={"beta": 0.25, "gamma": 0.5, "retraction": "cay"},
    )
)
register(
    Method(
        name="TLN",
        family="rigid body",
        order=2,
        needs="rigid_body",
        source="trapezoidal Lie-Newmark, Simo & Vu-Quoc 1988; ortolan (4.3), Jacobian corrected",
        prepare=_prepare_tln,
        options={"retraction": "cay"},
    )
)
