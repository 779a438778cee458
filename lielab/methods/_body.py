"""What the rigid-body methods solve: one equation for a velocity, in four forms, by Newton with its exact Jacobian.

Each form is F(w) = 0 for three unknowns, with J = diag, m = J w, a step c (usually h/2) and a given momentum b:

    EULER   m - c m x w - b                                  the implicit Euler half step: ELN, PRK
    SPIN    m - exp(-c w) b                                  the momentum seen from the turning body: LIEMID, MCG, NEW3
    VLV     m - c m x w + c^2 (w . m) w - b                  the same as dcayinv(2 c w)^T m = b
    RATTLE  m - c m x w - (1 + c^2 |w|^2) b                  the same as 2 c hat(b) = F Jd - Jd F^T, F = cay(2 c w)

The last one is RATTLE's condition in the Cayley parameters of F: with F = q0^2 - |q|^2 + 2 q q^T + 2 q0 hat(q) the
right side is the hat of 2 q0 J q + 2 q x J q. All are written for scalars and tuples.
"""

from __future__ import annotations

import math
from typing import Any

from .._jit import jit, lent
from ..groups._round_off import mend
from ..groups._scalars import cosc, sinc3
from ..groups.so3 import cay_core, cubic_core, exp_core, mul_core, product_core

EULER, SPIN, VLV, RATTLE = range(4)

_SWEEPS = 30
# Newton doubles the digits: after a correction of this relative size what is left is below round-off.
_LAST = 1e-9
_STEP = 1e-5  # of the differences, in rad


@jit
def solve3_core(A, b):
    """x with A x = b, by cofactors: Newton corrects their round-off. Infinite or NaN where A is singular."""
    c0, c1, c2 = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    f = 1.0 / (A[0] * c0 + A[1] * c1 + A[2] * c2)
    return (
        f * (c0 * b[0] + (A[2] * A[7] - A[1] * A[8]) * b[1] + (A[1] * A[5] - A[2] * A[4]) * b[2]),
        f * (c1 * b[0] + (A[0] * A[8] - A[2] * A[6]) * b[1] + (A[2] * A[3] - A[0] * A[5]) * b[2]),
        f * (c2 * b[0] + (A[1] * A[6] - A[0] * A[7]) * b[1] + (A[0] * A[4] - A[1] * A[3]) * b[2]),
    )


@jit
def gyro_core(w, J):
    """J w x w"""
    return (
        (J[1] - J[2]) * w[1] * w[2],
        (J[2] - J[0]) * w[2] * w[0],
        (J[0] - J[1]) * w[0] * w[1],
    )


@jit
def euler_matrix(w, J, c):
    """J - c d(J w x w)/dw = J - c (hat(J w) - hat(w) J), row-major."""
    a, b, d = c * (J[1] - J[2]), c * (J[2] - J[0]), c * (J[0] - J[1])
    return (J[0], -a * w[2], -a * w[1], -b * w[2], J[1], -b * w[0], -d * w[1], -d * w[0], J[2])


@jit
def turn_core(cay, x):
    """cay(x) or exp(x), row-major."""
    return cay_core(x[0], x[1], x[2]) if cay else exp_core(x[0], x[1], x[2])


@jit
def tangent_core(cay, x):
    """Left-trivialised tangent B of the map: F(x + d) = F(x) exp(B d) to first order. dF at -x, row-major."""
    s = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    if cay:
        f = 1.0 / (1.0 + 0.25 * s)
        return cubic_core(x[0], x[1], x[2], f, -0.5 * f, 0.0)
    return cubic_core(x[0], x[1], x[2], 1.0, -cosc(s), sinc3(s))


@jit
def spin_equation(w, c, b, J):
    """SPIN: value (3) and Jacobian (9), row-major."""
    v = mul_core(exp_core(-c * w[0], -c * w[1], -c * w[2]), b)
    f = (J[0] * w[0] - v[0], J[1] * w[1] - v[1], J[2] * w[2] - v[2])
    # d exp(-c w) b = c v x dexp_{-c w} d
    D = product_core(
        (0.0, -c * v[2], c * v[1], c * v[2], 0.0, -c * v[0], -c * v[1], c * v[0], 0.0),
        tangent_core(False, (c * w[0], c * w[1], c * w[2])),
    )
    return f, (
        J[0] - D[0],
        -D[1],
        -D[2],
        -D[3],
        J[1] - D[4],
        -D[5],
        -D[6],
        -D[7],
        J[2] - D[8],
    )


@jit
def gyro_equation(kind, w, c, b, J):
    """EULER, VLV or RATTLE: value (3) and Jacobian (9), row-major."""
    m = (J[0] * w[0], J[1] * w[1], J[2] * w[2])
    g = gyro_core(w, J)
    A = euler_matrix(w, J, c)
    f = (m[0] - c * g[0] - b[0], m[1] - c * g[1] - b[1], m[2] - c * g[2] - b[2])
    if kind == EULER:
        return f, A
    cc = c * c
    if kind == VLV:
        e, u, v = cc * (w[0] * m[0] + w[1] * m[1] + w[2] * m[2]), w, m
        f = (f[0] + e * w[0], f[1] + e * w[1], f[2] + e * w[2])
    else:
        e, u, v = 0.0, (-b[0], -b[1], -b[2]), w
        s = cc * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        f = (f[0] - s * b[0], f[1] - s * b[1], f[2] - s * b[2])
    cc *= 2.0
    return f, (
        A[0] + e + cc * u[0] * v[0],
        A[1] + cc * u[0] * v[1],
        A[2] + cc * u[0] * v[2],
        A[3] + cc * u[1] * v[0],
        A[4] + e + cc * u[1] * v[1],
        A[5] + cc * u[1] * v[2],
        A[6] + cc * u[2] * v[0],
        A[7] + cc * u[2] * v[1],
        A[8] + e + cc * u[2] * v[2],
    )


@jit
def equation(kind, w, c, b, J):
    """Value F(w) (3) of the equation of that kind and its Jacobian (9), row-major."""
    if kind == SPIN:
        return spin_equation(w, c, b, J)
    return gyro_equation(kind, w, c, b, J)


@jit
def settled(d, w):
    """Is the correction d of w so small that the next one would be round-off? False for NaN."""
    size = max(abs(d[0]), abs(d[1]), abs(d[2]))
    return size <= _LAST * max(abs(w[0]), abs(w[1]), abs(w[2])) and math.isfinite(
        d[0] + d[1] + d[2]
    )


@jit
def solve_velocity(kind, c, b, J, w):
    """w with F(w) = 0 from the guess w, and the last correction: 0 where Newton has converged."""
    d = (math.inf, math.inf, math.inf)
    for _ in range(_SWEEPS):
        f, A = equation(kind, w, c, b, J)
        d = solve3_core(A, f)
        w = (w[0] - d[0], w[1] - d[1], w[2] - d[2])
        if settled(d, w):
            return w, 0.0
    return w, abs(d[0]) + abs(d[1]) + abs(d[2])


@jit
def rotate(y, F, y_new):
    """R1 = R F into y_new, brought back onto SO(3)."""
    y, y_new = lent(y), lent(y_new)
    R = product_core((y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8]), F)
    for i in range(9):
        y_new[i] = R[i]
    mend(y_new, 0, 3)


@jit
def torque_derivative(torque, derivative, known, t, y, p, z):
    """D[i, j] = d/ds tau_i(R exp(s e_j)), row-major; z (12,) is scratch."""
    y, p, z = lent(y), lent(p), lent(z)
    if known:
        D = derivative(t, y, p)
        return (D[0], D[1], D[2], D[3], D[4], D[5], D[6], D[7], D[8])
    c = 0.5 / _STEP
    a0, b0 = (
        _moved(torque, t, y, p, z, (_STEP, 0.0, 0.0)),
        _moved(torque, t, y, p, z, (-_STEP, 0.0, 0.0)),
    )
    a1, b1 = (
        _moved(torque, t, y, p, z, (0.0, _STEP, 0.0)),
        _moved(torque, t, y, p, z, (0.0, -_STEP, 0.0)),
    )
    a2, b2 = (
        _moved(torque, t, y, p, z, (0.0, 0.0, _STEP)),
        _moved(torque, t, y, p, z, (0.0, 0.0, -_STEP)),
    )
    return (
        c * (a0[0] - b0[0]),
        c * (a1[0] - b1[0]),
        c * (a2[0] - b2[0]),
        c * (a0[1] - b0[1]),
        c * (a1[1] - b1[1]),
        c * (a2[1] - b2[1]),
        c * (a0[2] - b0[2]),
        c * (a1[2] - b1[2]),
        c * (a2[2] - b2[2]),
    )


@jit
def _moved(torque, t, y, p, z, u):
    y, p, z = lent(y), lent(p), lent(z)
    rotate(y, exp_core(u[0], u[1], u[2]), z)
    tau = torque(t, z, p)
    return (tau[0], tau[1], tau[2])


def torque_kernels(formulation: Any) -> tuple[tuple, int]:
    """(torque, its derivative or a stand-in), and whether the derivative is known."""
    derivative = formulation.torque_derivative
    known = derivative is not None
    return (formulation.torque, derivative if known else formulation.torque), int(known)
