"""SE(2), rigid motions of the plane. Elements: 3x3 homogeneous matrices (R, r); algebra vectors (theta, a), (3,).

Rotation first: u = (theta, a_1, a_2). (R, r)(S, s) = (R S, R s + r). With J = [[0, -1], [1, 0]]:
[(theta, a), (phi, b)] = (0, theta J b - phi J a). `cay` is the Cayley map of the 3x3 matrices. Contract and
conventions as in `lielab.so3`; every function accepts leading batch axes.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..core.dense import transpose_in_place
from ..core.jit import jit
from ..core.round_off import mend_plane
from . import so2
from ._sampled import integrated
from .batch import Space, axes, batched, bounded, generator, read
from .derived import averager, interpolator, left, truncated
from .scalars import cinv, cosc, cotc, sinc, sinc3, singular

name = "SE(2)"
dim = 3
shape = (3, 3)


@jit
def _rigid(c, s, x, y, out):
    """The homogeneous matrix of cosine, sine and translation."""
    out[0], out[1], out[2] = c, -s, x
    out[3], out[4], out[5] = s, c, y
    out[6], out[7], out[8] = 0.0, 0.0, 1.0
    return True


@jit
def _spiral(alpha, beta, x, y):
    """(alpha 1 + beta J)(x, y)"""
    return alpha * x - beta * y, beta * x + alpha * y


@jit
def _tangent(top, alpha, beta, x, y, out):
    """The matrix [[top, 0], [(x, y), alpha 1 + beta J]] on (theta, a)."""
    out[0], out[1], out[2] = top, 0.0, 0.0
    out[3], out[4], out[5] = x, alpha, -beta
    out[6], out[7], out[8] = y, beta, alpha
    return True


@jit
def _defect(g, out):
    """Distance of the rotation from SO(2) and of the last row from (0, 0, 1)."""
    if not bounded(g):
        return False
    a = g[0] * g[0] + g[3] * g[3] - 1.0
    b = g[1] * g[1] + g[4] * g[4] - 1.0
    c = g[0] * g[1] + g[3] * g[4]
    d = g[8] - 1.0
    out[0] = math.sqrt(a * a + b * b + 2.0 * c * c + g[6] * g[6] + g[7] * g[7] + d * d)
    if g[0] * g[4] - g[1] * g[3] < 0.0:
        out[0] = max(2.0, out[0])
    return True


@jit
def _angle(g):
    return math.atan2(g[3] - g[1], g[0] + g[4])


ALGEBRA = Space((3,))
TRANSLATION = Space((2,))
ANY_MATRIX = Space((3, 3))
ELEMENT = Space((3, 3), "a rigid motion of the plane", _defect)


@batched(ALGEBRA, out=(3, 3))
def hat(u, out):
    """Matrix [[theta J, a], [0, 0]]. Shapes (..., 3) -> (..., 3, 3)."""
    _rigid(0.0, u[0], u[1], u[2], out)
    out[8] = 0.0
    return True


def vee(X: Any) -> np.ndarray:
    """(theta, a) of a matrix of the algebra, the inverse of hat. (..., 3, 3) -> (..., 3).

    Raises ValueError where the upper block is not skew or the last row not zero.
    """
    X = read("X", X, ANY_MATRIX)
    if np.any(X[..., 2, :]):
        raise ValueError(f"X must have a last row of zeros, got {X[..., 2, :]!r}")
    angle = so2.vee(X[..., :2, :2])
    return np.concatenate([angle, X[..., :2, 2]], axis=-1)


@batched(ALGEBRA, out=(3, 3))
def exp(u, out):
    """Rotation by theta, translation V a. Shapes (..., 3) -> (..., 3, 3)."""
    s = u[0] * u[0]
    x, y = _spiral(sinc(s), u[0] * cosc(s), u[1], u[2])
    return _rigid(math.cos(u[0]), math.sin(u[0]), x, y, out)


@batched(ELEMENT, out=(3,))
def log(g, out):
    """(theta, a) with theta between -pi and pi. Shapes (..., 3, 3) -> (..., 3)."""
    theta = _angle(g)
    out[0] = theta
    out[1], out[2] = _spiral(cotc(theta * theta), -0.5 * theta, g[2], g[5])
    return True


@batched(ELEMENT, out=(3, 3))
def Ad(g, out):
    """Ad_(R, r) (phi, b) = (phi, R b - phi J r). Shapes (..., 3, 3) -> (..., 3, 3)."""
    _tangent(1.0, g[0], g[3], g[5], -g[2], out)
    out[5], out[8] = g[1], g[4]
    return True


@batched(ALGEBRA, out=(3, 3))
def ad(u, out):
    """ad_(theta, a) (phi, b) = (0, theta J b - phi J a). Shapes (..., 3) -> (..., 3, 3)."""
    return _tangent(0.0, 0.0, u[0], u[2], -u[1], out)


@batched(ALGEBRA, ALGEBRA, out=(3,))
def bracket(u, v, out):
    """[u, v] = ad_u v. Shapes (..., 3), (..., 3) -> (..., 3)."""
    out[0] = 0.0
    out[1] = v[0] * u[2] - u[0] * v[2]
    out[2] = u[0] * v[1] - v[0] * u[1]
    return True


@batched(ELEMENT, out=(3, 3))
def coAd(g, out):
    """Ad_g' on dual vectors (moment, force). Shapes (..., 3, 3) -> (..., 3, 3)."""
    _tangent(1.0, g[0], g[3], g[5], -g[2], out)
    out[5], out[8] = g[1], g[4]
    transpose_in_place(out, 3)
    return True


@batched(ALGEBRA, out=(3, 3))
def coad(u, out):
    """ad_u' on dual vectors. Shapes (..., 3) -> (..., 3, 3)."""
    _tangent(0.0, 0.0, u[0], u[2], -u[1], out)
    transpose_in_place(out, 3)
    return True


@batched(ALGEBRA, out=(3, 3))
def dexp(u, out):
    """Right-trivialised tangent of exp, d/dt exp(u) = hat(dexp_u u') exp(u). (..., 3) -> (..., 3, 3)."""
    s = u[0] * u[0]
    x, y = _spiral(cosc(s), u[0] * sinc3(s), u[2], -u[1])
    return _tangent(1.0, sinc(s), u[0] * cosc(s), x, y, out)


@batched(
    ALGEBRA,
    out=(3, 3),
    domain="dexpinv is singular where theta is 2 pi, 4 pi, ...; use a smaller step",
)
def dexpinv(u, out):
    """Inverse of dexp(u) in closed form. Shapes (..., 3) -> (..., 3, 3).

    Raises ValueError at the singular angles 2 pi, 4 pi, ...
    """
    s = u[0] * u[0]
    x, y = _spiral(-0.5, u[0] * cinv(s), u[2], -u[1])
    _tangent(1.0, cotc(s), -0.5 * u[0], x, y, out)
    return not singular(s)


@batched(ALGEBRA, out=(3, 3))
def cay(u, out):
    """Cayley map (1 - hat(u)/2)^-1 (1 + hat(u)/2) of the 3x3 matrices. (..., 3) -> (..., 3, 3)."""
    t = 0.5 * u[0]
    f = 1.0 / (1.0 + t * t)
    x, y = _spiral(f, t * f, u[1], u[2])
    c = (1.0 - t * t) * f
    return _rigid(c, 2.0 * t * f, x, y, out)


@batched(ELEMENT, out=(3,), domain="a rotation by pi has no Cayley coordinates; use log")
def cayinv(g, out):
    """Inverse of cay. Shapes (..., 3, 3) -> (..., 3). Raises ValueError for rotations by pi."""
    half = 0.5 * _angle(g)
    if math.cos(half) < 1e-15:
        return False
    t = math.tan(half)
    out[0] = 2.0 * t
    out[1], out[2] = _spiral(1.0, -t, g[2], g[5])
    return True


@batched(ALGEBRA, out=(3, 3))
def dcay(u, out):
    """Right-trivialised tangent of cay. Shapes (..., 3) -> (..., 3, 3)."""
    t = 0.5 * u[0]
    f = 1.0 / (1.0 + t * t)
    return _tangent(f, f, t * f, 0.5 * f * u[2], -0.5 * f * u[1], out)


@batched(ALGEBRA, out=(3, 3))
def dcayinv(u, out):
    """Inverse of dcay(u), Y -> (1 - X/2) Y (1 + X/2) on matrices. Shapes (..., 3) -> (..., 3, 3)."""
    t = 0.5 * u[0]
    x, y = _spiral(-0.5, 0.5 * t, u[2], -u[1])
    return _tangent(1.0 + t * t, 1.0, -t, x, y, out)


dexp_left, dexpinv_left = left(dexp), left(dexpinv)
dcay_left, dcayinv_left = left(dcay), left(dcayinv)
dexp_series, dexpinv_series = truncated(ad)


def identity(batch: tuple[int, ...] = ()) -> np.ndarray:
    """The unit element, repeated over the batch axes asked for: shape (*batch, 3, 3)."""
    return np.broadcast_to(np.eye(3), (*axes(batch), 3, 3)).copy()


@batched(ELEMENT, ELEMENT, out=(3, 3))
def compose(g, h, out):
    """g h, first h then g. Shapes (..., 3, 3), (..., 3, 3) -> (..., 3, 3)."""
    for i in range(2):
        for j in range(3):
            out[3 * i + j] = g[3 * i] * h[j] + g[3 * i + 1] * h[3 + j]
        out[3 * i + 2] += g[3 * i + 2]
    out[6], out[7], out[8] = 0.0, 0.0, 1.0
    return True


@batched(ELEMENT, out=(3, 3))
def inverse(g, out):
    """(R', -R' r). Shapes (..., 3, 3) -> (..., 3, 3)."""
    x = -(g[0] * g[2] + g[3] * g[5])
    y = -(g[1] * g[2] + g[4] * g[5])
    out[0], out[1], out[2] = g[0], g[3], x
    out[3], out[4], out[5] = g[1], g[4], y
    out[6], out[7], out[8] = 0.0, 0.0, 1.0
    return True


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Uniform angles and standard normal translations, shape (*batch, 3, 3); rng: a NumPy Generator, or a seed."""
    rng = generator(rng)
    return from_parts(so2.random(rng, batch), rng.standard_normal((*axes(batch), 2)))


def from_parts(R: Any, r: Any) -> np.ndarray:
    """The motion with rotation R (..., 2, 2) and translation r (..., 2): shape (..., 3, 3)."""
    R, r = read("R", R, so2.ELEMENT), read("r", r, TRANSLATION)
    g = identity(np.broadcast_shapes(R.shape[:-2], r.shape[:-1]))
    g[..., :2, :2], g[..., :2, 2] = R, r
    return g


def parts(g: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (..., 2, 2) and translation (..., 2) of motions (..., 3, 3)."""
    g = read("g", g, ELEMENT)
    return g[..., :2, :2].copy(), g[..., :2, 2].copy()


@batched(ELEMENT, ELEMENT, out=())
def distance(g, h, out):
    """sqrt(angle^2 + |r - s|^2), invariant under motions from the left; lengths count as given.

    Shapes (..., 3, 3), (..., 3, 3) -> (...).
    """
    cosine = g[0] * h[0] + g[3] * h[3] + g[1] * h[1] + g[4] * h[4]
    sine = g[0] * h[3] - g[3] * h[0] + g[1] * h[4] - g[4] * h[1]
    angle = math.atan2(sine, cosine)
    x, y = g[2] - h[2], g[5] - h[5]
    out[0] = math.sqrt(angle * angle + x * x + y * y)
    return True


def project(X: Any) -> np.ndarray:
    """Nearest rotation in the upper block, the translation kept, last row (0, 0, 1). (..., 3, 3) -> (..., 3, 3)."""
    X = read("X", X, ANY_MATRIX)
    return from_parts(so2.project(X[..., :2, :2]), X[..., :2, 2])


_exp, _compose = exp.kernel, compose.kernel


@jit
def _move(u, g, out):
    """g exp(u), its rotation brought back from round-off."""
    step = np.empty(9)
    _exp(u, step)
    _compose(g, step, out)
    mend_plane(out, 0, 3)
    return True


def integrate(
    t: Any, xi: Any, start: Any = None, rule: str = "linear", frame: str = "body"
) -> np.ndarray:
    """Poses (n, 3, 3) from twists xi (n, 3) = (angular velocity rad/s, velocity (2,)), at increasing times t (n,), s.

    The first is `start` (3, 3), the identity where it is left out. `frame`: "body", g' = g hat(xi), the odometry of a
    vehicle, or "space", g' = hat(xi) g. `rule`: "constant", "linear" or "cubic", of order 1, 2 and 4: see
    `so3.integrate`.
    """
    return integrated(sys.modules[__name__], _move, t, xi, "xi", start, rule, frame)


interpolate = interpolator(__name__)
mean = averager(__name__)
