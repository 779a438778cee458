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

from .._arguments import as_real
from .._jit import FIELD, I8, MAT, VEC, jit, lent, loop
from ..groups.so3 import product_core
from ._body import (
    euler_matrix,
    gyro_core,
    rotate,
    settled,
    solve3_core,
    tangent_core,
    torque_derivative,
    torque_kernels,
    turn_core,
)
from ._march import NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, H, T, advance, running
from ._registry import Method, Plan, register
from .rigid_body import map_flag, plan

_SWEEPS = 30


@jit
def newmark_equation(a1, w, a, x, w1, tau, D, B, h, beta, gamma, J):
    """J a1 - J w1 x w1 - tau(R F(x)) and its Jacobian in a1; D the derivative of tau, B the tangent of F."""
    g = gyro_core(w1, J)
    f = (J[0] * a1[0] - g[0] - tau[0], J[1] * a1[1] - g[1] - tau[1], J[2] * a1[2] - g[2] - tau[2])
    A = euler_matrix(w1, J, h * gamma)
    if beta == 0.0:
        return f, A
    C, e = product_core(D, B), h * h * beta
    return f, (
        A[0] - e * C[0],
        A[1] - e * C[1],
        A[2] - e * C[2],
        A[3] - e * C[3],
        A[4] - e * C[4],
        A[5] - e * C[5],
        A[6] - e * C[6],
        A[7] - e * C[7],
        A[8] - e * C[8],
    )


@jit
def newmark_step(torque, derivative, known, cay, beta, gamma, t, h, y, p, J, run, z, y_new):
    """One step; returns the last correction, 0 where Newton has converged."""
    y, p, run, z, y_new = lent(y), lent(p), lent(run), lent(z), lent(y_new)
    w, tau = (y[9], y[10], y[11]), torque(t, y, p)
    g = gyro_core(w, J)
    a = ((g[0] + tau[0]) / J[0], (g[1] + tau[1]) / J[1], (g[2] + tau[2]) / J[2])
    run[NFEV] += 1
    a1, d, c, e = a, (math.inf, math.inf, math.inf), h * h * (0.5 - beta), h * h * beta
    D = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(_SWEEPS):
        x = (
            h * w[0] + c * a[0] + e * a1[0],
            h * w[1] + c * a[1] + e * a1[1],
            h * w[2] + c * a[2] + e * a1[2],
        )
        rotate(y, turn_core(cay, x), y_new)
        c1, e1 = h * (1.0 - gamma), h * gamma
        w1 = (
            w[0] + c1 * a[0] + e1 * a1[0],
            w[1] + c1 * a[1] + e1 * a1[1],
            w[2] + c1 * a[2] + e1 * a1[2],
        )
        for i in range(3):
            y_new[9 + i] = w1[i]
        if settled(d, (w1[0] / h, w1[1] / h, w1[2] / h)):
            return 0.0
        tau = torque(t + h, y_new, p)
        run[NFEV] += 1
        if beta != 0.0:
            D = torque_derivative(torque, derivative, known, t + h, y_new, p, z)
            if not known:
                run[NFEV] += 6
        f, A = newmark_equation(
            a1, w, a, x, w1, (tau[0], tau[1], tau[2]), D, tangent_core(cay, x), h, beta, gamma, J
        )
        d = solve3_core(A, f)
        a1 = (a1[0] - d[0], a1[1] - d[1], a1[2] - d[2])
    return abs(d[0]) + abs(d[1]) + abs(d[2])


@loop(FIELD, FIELD, I8, I8, VEC, VEC, VEC, VEC, VEC, VEC, VEC, VEC, MAT, VEC)
def march_newmark(torque, derivative, known, cay, rule, inertia, z, y_new, run, y, p, ts, ys, hs):
    """The loop over steps of LieNewmark; rule = (beta, gamma)."""
    z, y_new, run, y, p = lent(z), lent(y_new), lent(run), lent(y), lent(p)
    J = (inertia[0], inertia[1], inertia[2])
    while running(run):
        left = newmark_step(
            torque, derivative, known, cay, rule[0], rule[1], run[T], run[H], y, p, J, run, z, y_new
        )
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
    rule = np.array([beta, gamma], dtype=float)
    data = (known, map_flag(retraction), rule, inertia, np.zeros(12), np.zeros(12))
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
