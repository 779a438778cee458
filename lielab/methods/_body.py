"""What the rigid-body methods share: the body, its acceleration, its torque and how that changes as it turns.

J is the diagonal of the inertia, w the angular velocity in the body.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.jit import FIELD, jit, lent, record
from ..core.values import (
    Mat3,
    Vec3,
    columns,
    cross,
    largest,
    mat3,
    vec3,
)
from ..groups.rotations import exp, rotate

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
    """d(J w - c J w x w)/dw = J - c (hat(J w) - hat(w) J), entry by entry: its zeros are known, it is needed often."""
    x, y, z = c * (J.y - J.z), c * (J.z - J.x), c * (J.x - J.y)
    return Mat3(J.x, -x * w.z, -x * w.y, -y * w.z, J.y, -y * w.x, -z * w.y, -z * w.x, J.z)


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
