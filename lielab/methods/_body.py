"""What the rigid-body methods solve: one equation for a velocity w, in four forms, each with its exact Jacobian.

J is the diagonal of the inertia, Jd = tr(J)/2 - J, m = J w, c a step (usually h/2) and b a given momentum:

    EULER   m - c m x w = b                       the implicit Euler half step: ELN, PRK
    SPIN    m = exp(-c w) b                       the momentum seen from the turning body: LIEMID, MCG, NEW3
    VLV     m - c m x w + c^2 (w . m) w = b       the same as dcayinv(2 c w)^T m = b
    RATTLE  m - c m x w = (1 + c^2 |w|^2) b       the same as 2 c hat(b) = F Jd - Jd F^T, F = cay(2 c w)

The last one is RATTLE's condition in the Cayley parameters of F: with F = q0^2 - |q|^2 + 2 q q^T + 2 q0 hat(q) the
right side is the hat of 2 q0 J q + 2 q x J q, and q0 = 1/sqrt(1 + c^2 |w|^2), q = c q0 w, so that both sides divided by
2 c q0^2 are the line above.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..core.jit import FIELD, jit, lent, record
from ..core.newton import SWEEPS, settled
from ..core.values import (
    Mat3,
    Vec3,
    columns,
    cross,
    diag,
    dot,
    finite,
    hat,
    largest,
    mat3,
    outer,
    solve,
    transpose,
    vec3,
)
from ..groups.rotations import dexp_left, exp, rotate

EULER, SPIN, VLV, RATTLE = range(4)

_STEP = 1e-5  # of the differences, as a fraction of the turn of a step, on whose scale the torque varies at most


class Body(NamedTuple):
    """What stays the same over a run."""

    torque: Any  # a kernel (t, y, p) -> tau in the body
    derivative: Any  # of the torque, where it is known
    known: int
    use_cay: int  # cay or exp
    J: Vec3
    p: Any


@jit
def euler_matrix(w, c, J):
    """d(m - c m x w)/dw = J - c (hat(m) - hat(w) J), entry by entry: its zeros are known, and it is needed often."""
    x, y, z = c * (J.y - J.z), c * (J.z - J.x), c * (J.x - J.y)
    return Mat3(J.x, -x * w.z, -x * w.y, -y * w.z, J.y, -y * w.x, -z * w.y, -z * w.x, J.z)


@jit
def euler_equation(w, c, b, J):
    """EULER: (f, df/dw) of f = m - c m x w - b, m = J w; w is ELN's omega_{k+1}, PRK's omega_{k+1/2}; c = h/2"""
    m = J * w
    f = m - c * cross(m, w) - b  # J times ortolan (4.1c), (4.8a)
    return f, euler_matrix(w, c, J)


@jit
def spin_equation(w, c, b, J):
    """SPIN: (f, df/dw) of f = J w - exp(-c w) b; w is MCG's omega_{k+1/2}, c = h/2, b = J omega_k + c tau(R_k).

    turned = exp(-c w) b moves by turned x c dexp_{-c w} d along d.
    """
    turned = transpose(exp(c * w)) @ b
    f = J * w - turned  # J times ortolan (4.9a)
    return f, diag(J) - c * hat(turned) @ dexp_left(c * w)


@jit
def vlv_equation(w, c, b, J):
    """VLV: (f, df/dw) of f = m - c m x w + c^2 (w . m) w - b: ortolan (4.11a), its printed Newton step corrected.

    w is omega_{k+1/2}, m = J w, c = h/2, b = J omega_k + c tau(R_k).
    """
    m = J * w
    e = c**2 * dot(w, m)
    f = m - c * cross(m, w) + e * w - b  # J times ortolan (4.11a)
    return f, euler_matrix(w, c, J) + diag(Vec3(e, e, e)) + outer(2.0 * c**2 * w, m)


@jit
def rattle_equation(w, c, b, J):
    """RATTLE: (f, df/dw) of f = m - c m x w - (1 + c^2 |w|^2) b."""
    m = J * w
    f = m - c * cross(m, w) - (1.0 + c**2 * dot(w, w)) * b
    return f, euler_matrix(w, c, J) - outer(2.0 * c**2 * b, w)


@jit
def equation(kind, w, c, b, J):
    """The equation of that kind."""
    if kind == SPIN:
        return spin_equation(w, c, b, J)
    if kind == VLV:
        return vlv_equation(w, c, b, J)
    if kind == RATTLE:
        return rattle_equation(w, c, b, J)
    return euler_equation(w, c, b, J)


@jit
def newton(kind, w, c, b, J):
    """w with f(w) = 0 for (f, df/dw) = equation(...), from the guess w, and the last correction: 0 if it converged."""
    size = math.inf
    for _ in range(SWEEPS):
        f, A = equation(kind, w, c, b, J)
        d = solve(A, f)
        w -= d
        size = largest(d)
        if not finite(d):
            return w, math.inf
        if settled(size, largest(w)):
            return w, 0.0
    return w, size


@jit
def acceleration(w, tau, J):
    """w' of J w' = J w x w + tau"""
    return (cross(J * w, w) + tau) / J


@jit
def torque_at(body, t, y):
    """The torque as a vector."""
    return vec3(body.torque(t, y, body.p), 0)


@jit
def angle_of(h, w, a):
    """How far a step turns, or may turn where rates and accelerations cancel, up to a radian."""
    angle = abs(h) * largest(w) + h * h * largest(a)
    return angle if 0.0 < angle < 1.0 else 1.0


@jit
def torque_derivative(body, t, y, z, angle):
    """D with d/ds tau(R exp(s u)) = D u, for steps that turn by that angle; z (12,) is scratch."""
    y, z = lent(y), lent(z)
    if body.known:
        return mat3(body.derivative(t, y, body.p), 0)
    s = _STEP * angle
    return columns(
        _slope(body, t, y, z, Vec3(s, 0.0, 0.0), s),
        _slope(body, t, y, z, Vec3(0.0, s, 0.0), s),
        _slope(body, t, y, z, Vec3(0.0, 0.0, s), s),
    )


@jit
def _slope(body, t, y, z, u, s):
    y, z = lent(y), lent(z)
    rotate(y, exp(u), z)
    ahead = torque_at(body, t, z)
    rotate(y, exp(-u), z)
    return 0.5 / s * (ahead - torque_at(body, t, z))


TorqueKernels = record("TorqueKernels", torque=FIELD, derivative=FIELD)


def torque_kernels(formulation: Any) -> tuple[Any, int]:
    """(torque, its derivative or a stand-in), and whether the derivative is known."""
    torque, derivative = formulation.torque, formulation.torque_derivative
    known = derivative is not None
    return TorqueKernels(torque, derivative if known else torque), int(known)
