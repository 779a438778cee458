"""SO(2), rotations of the plane. Elements: 2x2 rotation matrices; algebra vectors: (1,), the angle.

The group is abelian: Ad and dexp are the identity. dcay is not, dcay_t = 1/(1 + t^2/4). Contract and
conventions as in `lielab.so3`; every function accepts leading batch axes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.jit import jit
from .batch import Space, axes, batched, bounded, generator, read, read_skew
from .derived import averager, interpolator, left, truncated

name = "SO(2)"
dim = 1
shape = (2, 2)


@jit
def turn_core(c, s, out):
    """The matrix of cosine c and sine s."""
    out[0], out[1], out[2], out[3] = c, -s, s, c
    return True


@jit
def _defect(R, out):
    """Frobenius norm of R'R - 1, or 2 for a reflection."""
    if not bounded(R):
        return False
    a = R[0] * R[0] + R[2] * R[2] - 1.0
    b = R[1] * R[1] + R[3] * R[3] - 1.0
    c = R[0] * R[1] + R[2] * R[3]
    out[0] = math.sqrt(a * a + b * b + 2.0 * c * c)
    if R[0] * R[3] - R[1] * R[2] < 0.0:
        out[0] = max(2.0, out[0])
    return True


ALGEBRA = Space((1,))
ANY_MATRIX = Space((2, 2))
ELEMENT = Space((2, 2), "a rotation matrix", _defect)


@jit
def _angle(R):
    return math.atan2(R[2] - R[1], R[0] + R[3])


@batched(ALGEBRA, out=(2, 2))
def hat(u, out):
    """Skew matrix [[0, -t], [t, 0]] of u = (t,). Shapes (..., 1) -> (..., 2, 2)."""
    return turn_core(0.0, u[0], out)


def vee(X: Any) -> np.ndarray:
    """Angle of a skew matrix, the inverse of hat. (..., 2, 2) -> (..., 1). ValueError where X is not skew."""
    X = read_skew("X", read("X", X, ANY_MATRIX))
    return 0.5 * (X[..., 1, 0] - X[..., 0, 1])[..., None]


@batched(ALGEBRA, out=(2, 2))
def exp(u, out):
    """Rotation by the angle u (radians). Shapes (..., 1) -> (..., 2, 2)."""
    return turn_core(math.cos(u[0]), math.sin(u[0]), out)


@batched(ELEMENT, out=(1,))
def log(R, out):
    """Angle of R, between -pi and pi. Shapes (..., 2, 2) -> (..., 1)."""
    out[0] = _angle(R)
    return True


@batched(ELEMENT, out=(1, 1))
def Ad(R, out):
    """The identity. Shapes (..., 2, 2) -> (..., 1, 1)."""
    out[0] = 1.0
    return True


# The group is abelian: 0 or 1 from here on, each by its own name, as readers look for it.
@batched(ALGEBRA, out=(1, 1))
def ad(u, out):
    """Zero. Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 0.0
    return True


@batched(ALGEBRA, ALGEBRA, out=(1,))
def bracket(u, v, out):
    """Zero. Shapes (..., 1), (..., 1) -> (..., 1)."""
    out[0] = 0.0
    return True


@batched(ELEMENT, out=(1, 1))
def coAd(R, out):
    """The identity. Shapes (..., 2, 2) -> (..., 1, 1)."""
    out[0] = 1.0
    return True


@batched(ALGEBRA, out=(1, 1))
def coad(u, out):
    """Zero. Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 0.0
    return True


@batched(ALGEBRA, out=(1, 1))
def dexp(u, out):
    """The identity. Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 1.0
    return True


@batched(ALGEBRA, out=(1, 1))
def dexpinv(u, out):
    """The identity. Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 1.0
    return True


@batched(ALGEBRA, out=(2, 2))
def cay(u, out):
    """Cayley map (1 - hat(u)/2)^-1 (1 + hat(u)/2), the rotation by 2 atan(t/2). (..., 1) -> (..., 2, 2)."""
    t = 0.5 * u[0]
    if abs(t) > 1.0:  # cay(t) = -cay(-1/t); keeps t * t from overflowing
        s = 1.0 / t
        f = 1.0 / (1.0 + s * s)
        return turn_core(-(1.0 - s * s) * f, 2.0 * s * f, out)
    f = 1.0 / (1.0 + t * t)
    return turn_core((1.0 - t * t) * f, 2.0 * t * f, out)


@batched(ELEMENT, out=(1,), domain="a rotation by pi has no Cayley coordinates; use log")
def cayinv(R, out):
    """Cayley coordinates of R, 2 tan(t/2). Shapes (..., 2, 2) -> (..., 1). ValueError for rotations by pi."""
    half = 0.5 * _angle(R)
    if math.cos(half) < 1e-15:
        return False
    out[0] = 2.0 * math.tan(half)
    return True


@batched(ALGEBRA, out=(1, 1))
def dcay(u, out):
    """Tangent of cay, 1/(1 + t^2/4). Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 1.0 / (1.0 + 0.25 * u[0] * u[0])
    return True


@batched(ALGEBRA, out=(1, 1))
def dcayinv(u, out):
    """Inverse of dcay(u), 1 + t^2/4. Shapes (..., 1) -> (..., 1, 1)."""
    out[0] = 1.0 + 0.25 * u[0] * u[0]
    return True


dexp_left, dexpinv_left = left(dexp), left(dexpinv)
dcay_left, dcayinv_left = left(dcay), left(dcayinv)
dexp_series, dexpinv_series = truncated(ad)


def identity(batch: tuple[int, ...] = ()) -> np.ndarray:
    """The unit element, repeated over the batch axes asked for: shape (*batch, 2, 2)."""
    return np.broadcast_to(np.eye(2), (*axes(batch), 2, 2)).copy()


@batched(ELEMENT, ELEMENT, out=(2, 2))
def compose(R, S, out):
    """R S. Shapes (..., 2, 2), (..., 2, 2) -> (..., 2, 2)."""
    for i in range(2):
        for j in range(2):
            out[2 * i + j] = R[2 * i] * S[j] + R[2 * i + 1] * S[2 + j]
    return True


@batched(ELEMENT, out=(2, 2))
def inverse(R, out):
    """R^-1 = R'. Shapes (..., 2, 2) -> (..., 2, 2)."""
    out[0], out[1], out[2], out[3] = R[0], R[2], R[1], R[3]
    return True


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Rotations by uniform angles, shape (*batch, 2, 2); rng: a NumPy Generator, or a seed."""
    return exp(generator(rng).uniform(-np.pi, np.pi, (*axes(batch), 1)))


@batched(ELEMENT, ELEMENT, out=())
def distance(R, S, out):
    """Angle (radians) of R^-1 S, between 0 and pi. Shapes (..., 2, 2), (..., 2, 2) -> (...)."""
    cosine = R[0] * S[0] + R[2] * S[2] + R[1] * S[1] + R[3] * S[3]
    sine = R[0] * S[2] - R[2] * S[0] + R[1] * S[3] - R[3] * S[1]
    out[0] = abs(math.atan2(sine, cosine))
    return True


def project(X: Any) -> np.ndarray:
    """Nearest rotation to X in the Frobenius norm. Shapes (..., 2, 2) -> (..., 2, 2).

    Raises ValueError where X has no unique nearest rotation (a multiple of a reflection, or zero).
    """
    X = read("X", X, ANY_MATRIX)
    c, s = X[..., 0, 0] + X[..., 1, 1], X[..., 1, 0] - X[..., 0, 1]
    size = np.hypot(c, s)
    if np.any(size <= 1e-12 * np.maximum(np.abs(X).max(axis=(-2, -1), initial=0.0), 1e-300)):
        raise ValueError(
            "X has no unique nearest rotation: it is a multiple of a reflection, or zero"
        )
    c, s = c / size, s / size
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


interpolate = interpolator(__name__)
mean = averager(__name__)
