"""Unit quaternions, the double cover of SO(3). Elements: (w, x, y, z), scalar first; algebra vectors: (3,).

Algebra vectors are rotation vectors, as on SO(3): exp(u) = (cos(|u|/2), sin(|u|/2) u/|u|), so that Ad, ad, dexp
and dcay are those of SO(3), and rotation(exp(u)) = so3.exp(u). q and -q are one rotation and two elements:
log(q) has length up to 2 pi, distance runs up to 2 pi. `cay` is the lift of SO(3)'s, (1, u/2) normalised. Every
function accepts leading batch axes.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..core.jit import jit
from ..core.round_off import mend_unit
from ..core.values import Vec3, cubic
from . import so3
from ._sampled import integrated
from .batch import Space, axes, batched, bounded, generator, read
from .derived import averager, interpolator
from .scalars import sinc
from .so3 import fill, quaternion_core, store

# The algebra is that of SO(3).
hat, vee, bracket, ad, coad = so3.hat, so3.vee, so3.bracket, so3.ad, so3.coad
dexp, dexpinv, dcay, dcayinv = so3.dexp, so3.dexpinv, so3.dcay, so3.dcayinv
dexp_left, dexpinv_left = so3.dexp_left, so3.dexpinv_left
dcay_left, dcayinv_left = so3.dcay_left, so3.dcayinv_left
dexp_series, dexpinv_series = so3.dexp_series, so3.dexpinv_series

name = "unit quaternions"
dim = 3
shape = (4,)


@jit
def _defect(q, out):
    """| |q| - 1 |"""
    if not bounded(q):
        return False
    out[0] = abs(math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1.0)
    return True


ALGEBRA = Space((3,))
ANY_QUATERNION = Space((4,))
ELEMENT = Space((4,), "a unit quaternion", _defect)


@jit
def multiply_core(p, q):
    """Hamilton's product."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@jit
def exp_core(x, y, z):
    """(cos(|u|/2), sin(|u|/2) u/|u|)"""
    s = 0.25 * (x * x + y * y + z * z)
    f = 0.5 * sinc(s)
    return math.cos(math.sqrt(s)), f * x, f * y, f * z


@jit
def cay_core(x, y, z):
    """(1, u/2) normalised"""
    f = 1.0 / math.sqrt(1.0 + 0.25 * (x * x + y * y + z * z))
    return f, 0.5 * f * x, 0.5 * f * y, 0.5 * f * z


@jit
def log_core(q):
    """Rotation vector of length up to 2 pi."""
    # Scaled by the largest entry: squares of tiny ones would underflow.
    n = max(abs(q[1]), abs(q[2]), abs(q[3]))
    if n == 0.0:
        # -1 is the exponential of every vector of length 2 pi: the one along the first axis is returned
        return (0.0 if q[0] > 0.0 else 2.0 * math.pi), 0.0, 0.0
    x, y, z = q[1] / n, q[2] / n, q[3] / n
    m = math.sqrt(x * x + y * y + z * z)
    f = 2.0 * math.atan2(n * m, q[0]) / m
    return f * x, f * y, f * z


@jit
def matrix_core(q):
    """Rotation matrix of a quaternion of any length but zero."""
    w, x, y, z = q
    f = 2.0 / (w * w + x * x + y * y + z * z)
    return cubic(Vec3(x, y, z), 1.0, f * w, f)


@batched(ALGEBRA, out=(4,))
def exp(u, out):
    """Quaternion of the rotation by |u| about u. Shapes (..., 3) -> (..., 4)."""
    return store(exp_core(u[0], u[1], u[2]), out)


@batched(ELEMENT, out=(3,))
def log(q, out):
    """Rotation vector of q, of length at most 2 pi. Shapes (..., 4) -> (..., 3).

    log(-1), where every axis is right, is (2 pi, 0, 0).
    """
    return store(log_core(q), out)


@batched(ELEMENT, out=(3, 3))
def rotation(q, out):
    """The rotation matrix of q; q and -q give the same. Shapes (..., 4) -> (..., 3, 3)."""
    return fill(matrix_core((q[0], q[1], q[2], q[3])), out)


@batched(so3.ELEMENT, out=(4,))
def from_rotation(R, out):
    """The quaternion of R with w >= 0, by the largest pivot. Shapes (..., 3, 3) -> (..., 4)."""
    return store(quaternion_core(R), out)


@batched(ELEMENT, out=(3, 3))
def Ad(q, out):
    """Ad_q, the rotation matrix of q. Shapes (..., 4) -> (..., 3, 3)."""
    return fill(matrix_core((q[0], q[1], q[2], q[3])), out)


@batched(ELEMENT, out=(3, 3))
def coAd(q, out):
    """Ad_q' on dual vectors. Shapes (..., 4) -> (..., 3, 3)."""
    return fill(matrix_core((q[0], -q[1], -q[2], -q[3])), out)


@batched(ALGEBRA, out=(4,))
def cay(u, out):
    """(1, u/2) normalised, the lift of SO(3)'s Cayley map. Shapes (..., 3) -> (..., 4)."""
    return store(cay_core(u[0], u[1], u[2]), out)


@batched(
    ELEMENT,
    out=(3,),
    domain="the Cayley map reaches only quaternions with w > 0; -q is the same rotation, or use log",
)
def cayinv(q, out):
    """Cayley coordinates 2 (x, y, z)/w. Shapes (..., 4) -> (..., 3). ValueError where w is not positive."""
    if q[0] < 1e-15:
        return False
    f = 2.0 / q[0]
    return store((f * q[1], f * q[2], f * q[3]), out)


def identity(batch: tuple[int, ...] = ()) -> np.ndarray:
    """The unit element (1, 0, 0, 0), repeated over the batch axes asked for: shape (*batch, 4)."""
    return np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), (*axes(batch), 4)).copy()


@batched(ELEMENT, ELEMENT, out=(4,))
def compose(p, q, out):
    """Hamilton's product p q, first q then p as rotations. Shapes (..., 4), (..., 4) -> (..., 4)."""
    return store(multiply_core(p, q), out)


@batched(ELEMENT, out=(4,))
def inverse(q, out):
    """The conjugate. Shapes (..., 4) -> (..., 4)."""
    return store((q[0], -q[1], -q[2], -q[3]), out)


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Uniform on the unit sphere of R^4, shape (*batch, 4); rng: a NumPy Generator, or a seed."""
    q = generator(rng).standard_normal((*axes(batch), 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


@batched(ELEMENT, ELEMENT, out=())
def distance(p, q, out):
    """|log(p^-1 q)|, between 0 and 2 pi: twice the angle in R^4. Shapes (..., 4), (..., 4) -> (...)."""
    x, y, z = log_core(multiply_core((p[0], -p[1], -p[2], -p[3]), q))
    out[0] = math.sqrt(x * x + y * y + z * z)
    return True


def project(q: Any) -> np.ndarray:
    """q/|q|. Shapes (..., 4) -> (..., 4). Raises ValueError for zero."""
    q = read("q", q, ANY_QUATERNION)
    size = np.abs(q).max(axis=-1, keepdims=True, initial=0.0)
    if np.any(size == 0.0):
        raise ValueError("q must not be zero: it has no nearest unit quaternion")
    q = q / size
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


@jit
def _turn(u, q, out):
    """q exp(u), brought back from round-off."""
    store(multiply_core(q, exp_core(u[0], u[1], u[2])), out)
    mend_unit(out, 0, 4)
    return True


def integrate(
    t: Any, omega: Any, start: Any = None, rule: str = "linear", frame: str = "body"
) -> np.ndarray:
    """Quaternions (n, 4) from angular velocities omega (n, 3), rad/s, at increasing times t (n,), s.

    The first is `start` (4,), the identity where it is left out; signs never jump. `frame`: "body",
    q' = q (0, omega)/2, as a gyroscope measures, or "space", q' = (0, omega) q/2. `rule`: "constant", "linear" or
    "cubic", of order 1, 2 and 4: see `so3.integrate`.
    """
    return integrated(sys.modules[__name__], _turn, t, omega, "omega", start, rule, frame)


interpolate = interpolator(__name__)
mean = averager(__name__)
