"""SE(3), rigid motions. Elements: 4x4 homogeneous matrices (R, r); algebra vectors (A, a), (6,).

Rotation first: A is the rotation vector (radians), a the translational part. (R, r)(S, s) = (R S, R s + r);
Ad_(R, r) (B, b) = (R B, R b + r x R B); dual vectors are (moment, force). `dexp`, `dcay` are right-trivialised.
`cay` is the Cayley map of the 4x4 matrices. Every function accepts leading batch axes.
Source: celledoni 2.3; see also the book's chapter on rigid motions.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..core.dense import transpose_in_place
from ..core.jit import jit
from ..core.round_off import mend
from ..core.values import (
    ONE,
    ZEROS,
    Mat3,
    Vec3,
    cross,
    cubic,
    dot,
    mat3,
    outer,
    store,
    transpose,
    vec3,
)
from ..core.values import hat as hat_of
from . import rotations, so3
from ._align import aligned
from ._euler import motion_from_scipy as _from_scipy
from ._euler import motion_to_scipy as _to_scipy
from ._sampled import integrated
from ._se3_cores import (  # noqa: F401  other kernels are built on them
    cay_translation,
    dexp_blocks,
    dexpinv_blocks,
    exp_se3,
    rotation_core,
    store_Ad,
    store_ad,
    store_blocks,
    store_rigid,
    translation,
)
from ._second_kind import (
    SINGULAR,
    SMALLEST_COSINE,
    ccsk_core,
    ccskinv_core,
    dccsk_core,
    dccskinv_core,
)
from .batch import Space, axes, batched, bounded, generator, read
from .derived import averager, interpolator, left, truncated
from .scalars import singular
from .so3 import cross_core, dexpinv_core, log_core, quaternion_core

name = "SE(3)"
dim = 6
shape = (4, 4)


@jit
def _defect(g, out):
    """Distance of the rotation from SO(3) and of the last row from (0, 0, 0, 1)."""
    if not bounded(g):
        return False
    so3.defect_kernel(np.array(rotation_core(g)), out)
    d = g[15] - 1.0
    row = g[12] * g[12] + g[13] * g[13] + g[14] * g[14] + d * d
    out[0] = math.sqrt(out[0] * out[0] + row)
    return True


ALGEBRA = Space((6,))
DUAL = Space((6,))
ANY_MATRIX = Space((4, 4))
ELEMENT = Space((4, 4), "a rigid motion", _defect)


@batched(ALGEBRA, out=(4, 4))
def hat(u, out):
    """Matrix [[hat(A), a], [0, 0]]. Shapes (..., 6) -> (..., 4, 4)."""
    store_rigid(cubic(vec3(u, 0), 0.0, 1.0, 0.0), vec3(u, 3), out)
    out[15] = 0.0
    return True


def vee(X: Any) -> np.ndarray:
    """(A, a) of a matrix of the algebra, the inverse of hat. (..., 4, 4) -> (..., 6).

    Raises ValueError where the upper block is not skew or the last row not zero.
    """
    X = read("X", X, ANY_MATRIX)
    if np.any(X[..., 3, :]):
        raise ValueError(f"X must have a last row of zeros, got {X[..., 3, :]!r}")
    return np.concatenate([so3.vee(X[..., :3, :3]), X[..., :3, 3]], axis=-1)


@batched(ALGEBRA, out=(4, 4))
def exp(u, out):
    """Rotation exp(A), translation V a with V = dexp_A. Shapes (..., 6) -> (..., 4, 4)."""
    A, a = vec3(u, 0), vec3(u, 3)
    return store_rigid(rotations.exp(A), translation(A, a), out)


@batched(ELEMENT, out=(6,))
def log(g, out):
    """(A, a) with |A| at most pi. Shapes (..., 4, 4) -> (..., 6). Exact at pi, where one of two is returned."""
    A = log_core(rotation_core(g))
    out[0], out[1], out[2] = A
    out[3], out[4], out[5] = dexpinv_core(A, (g[3], g[7], g[11]))
    return True


@batched(ELEMENT, out=(6, 6))
def Ad(g, out):
    """Ad_(R, r) (B, b) = (R B, R b + r x R B). Shapes (..., 4, 4) -> (..., 6, 6)."""
    return store_Ad(mat3(g, 0, 4), Vec3(g[3], g[7], g[11]), out)


@batched(ALGEBRA, out=(6, 6))
def ad(u, out):
    """ad_(A, a) (B, b) = (A x B, A x b - B x a). Shapes (..., 6) -> (..., 6, 6)."""
    return store_ad(vec3(u, 0), vec3(u, 3), out)


@batched(ALGEBRA, ALGEBRA, out=(6,))
def bracket(u, v, out):
    """[(A, a), (B, b)] = (A x B, A x b - B x a). Shapes (..., 6), (..., 6) -> (..., 6)."""
    A, a, B, b = vec3(u, 0), vec3(u, 3), vec3(v, 0), vec3(v, 3)
    store(cross(A, B), out, 0)
    store(cross(A, b) - cross(B, a), out, 3)
    return True


@batched(ELEMENT, out=(6, 6))
def coAd(g, out):
    """Ad_g' on dual vectors (moment, force), <Ad*_g mu, u> = <mu, Ad_g u>. (..., 4, 4) -> (..., 6, 6).

    The coadjoint *action* is mu -> coAd(g^-1) mu.
    """
    store_Ad(mat3(g, 0, 4), Vec3(g[3], g[7], g[11]), out)
    transpose_in_place(out, 6)
    return True


@batched(ALGEBRA, out=(6, 6))
def coad(u, out):
    """ad_u' on dual vectors (moment, force). Shapes (..., 6) -> (..., 6, 6)."""
    store_ad(vec3(u, 0), vec3(u, 3), out)
    transpose_in_place(out, 6)
    return True


@batched(ALGEBRA, out=(6, 6))
def dexp(u, out):
    """Right-trivialised tangent of exp, d/dt exp(u) = hat(dexp_u u') exp(u). (..., 6) -> (..., 6, 6).

    Its blocks are dexp_A = 1 + g1 hat(A) + g2 hat(A)^2, g1 = (1 - cos |A|)/|A|^2, g2 = (|A| - sin |A|)/|A|^3, and
    the derivative of that along a (celledoni 2.3).
    """
    A, a = vec3(u, 0), vec3(u, 3)
    top, low = dexp_blocks(A, a)
    return store_blocks(top, low, top, out)


@batched(
    ALGEBRA,
    out=(6, 6),
    domain="dexpinv is singular where |A| is 2 pi, 4 pi, ...; use a smaller step",
)
def dexpinv(u, out):
    """Inverse of dexp(u), in closed form (celledoni 2.3). Shapes (..., 6) -> (..., 6, 6).

    Its blocks are dexpinv_A = 1 - hat(A)/2 + g2 hat(A)^2, g2 = (1 - (|A|/2) cot(|A|/2))/|A|^2, and the derivative of
    that along a. Raises ValueError at the singular angles 2 pi, 4 pi, ...
    """
    A, a = vec3(u, 0), vec3(u, 3)
    top, low = dexpinv_blocks(A, a)  # on a vector, as in the paper: `_se3_cores.dexpinv_se3`
    store_blocks(top, low, top, out)
    return not singular(dot(A, A))


@batched(ALGEBRA, out=(4, 4))
def cay(u, out):
    """Cayley map (1 - hat(u)/2)^-1 (1 + hat(u)/2) of the 4x4 matrices. (..., 6) -> (..., 4, 4)."""
    A, a = vec3(u, 0), vec3(u, 3)
    return store_rigid(rotations.cay(A), cay_translation(A, a), out)


@batched(ELEMENT, out=(6,), domain="a rotation by pi has no Cayley coordinates; use log")
def cayinv(g, out):
    """Inverse of cay. Shapes (..., 4, 4) -> (..., 6). Raises ValueError for rotations by pi."""
    w, x, y, z = quaternion_core(rotation_core(g))
    if w < 1e-15:
        return False
    h = (x / w, y / w, z / w)
    c = cross_core(h, (g[3], g[7], g[11]))
    for i in range(3):
        out[i] = 2.0 * h[i]
        out[3 + i] = g[4 * i + 3] - c[i]
    return True


@batched(ALGEBRA, out=(6, 6))
def dcay(u, out):
    """Right-trivialised tangent of cay, Y -> (1 - X/2)^-1 Y (1 + X/2)^-1 on matrices. (..., 6) -> (..., 6, 6)."""
    A, a = vec3(u, 0), vec3(u, 3)
    f = 1.0 / (1.0 + 0.25 * dot(A, A))
    top = cubic(A, f, 0.5 * f, 0.0)  # f (1 + hat(A)/2), dcay on rotations
    M = cubic(A, 1.0, 0.5 * f, 0.25 * f)  # (1 - hat(A)/2)^-1 = f (1 + hat(A)/2 + A A^T/4)
    c = cay_translation(-A, 0.5 * a)  # (1 + hat(A)/2)^-1 a/2
    return store_blocks(top, M @ hat_of(c), M, out)


@batched(ALGEBRA, out=(6, 6))
def dcayinv(u, out):
    """Inverse of dcay(u), Y -> (1 - X/2) Y (1 + X/2) on matrices. Shapes (..., 6) -> (..., 6, 6)."""
    A, a = vec3(u, 0), vec3(u, 3)
    top = ONE - 0.5 * hat_of(A) + 0.25 * outer(A, A)
    low = 0.25 * hat_of(A) @ hat_of(a) - 0.5 * hat_of(a)
    return store_blocks(top, low, ONE - 0.5 * hat_of(A), out)


@batched(ALGEBRA, out=(4, 4))
def ccsk(u, out):
    """(R, R a) with R = R_1(u_1) R_2(u_2) R_3(u_3): coordinates of the second kind. (..., 6) -> (..., 4, 4)."""
    R = Mat3(*ccsk_core(u[0], u[1], u[2]))
    return store_rigid(R, R @ vec3(u, 3), out)


@batched(ELEMENT, out=(6,), domain=SINGULAR)
def ccskinv(g, out):
    """Inverse of ccsk, |u_2| < pi/2. Shapes (..., 4, 4) -> (..., 6). ValueError at the singularity."""
    R = rotation_core(g)
    out[0], out[1], out[2], cosine = ccskinv_core(R)
    for i in range(3):
        out[3 + i] = R[i] * g[3] + R[3 + i] * g[7] + R[6 + i] * g[11]
    return cosine > SMALLEST_COSINE


@batched(ALGEBRA, out=(6, 6))
def dccsk(u, out):
    """Right-trivialised tangent of ccsk, block diagonal. Shapes (..., 6) -> (..., 6, 6)."""
    top, R = Mat3(*dccsk_core(u[0], u[1])), Mat3(*ccsk_core(u[0], u[1], u[2]))
    # Ad of (R, R a') on (0, e_k) has no rotation part; on rotations no translation stands to the left.
    return store_blocks(top, ZEROS, R, out)


@batched(ALGEBRA, out=(6, 6), domain=SINGULAR)
def dccskinv(u, out):
    """Inverse of dccsk(u). Shapes (..., 6) -> (..., 6, 6). ValueError at the singularity."""
    top, cosine = dccskinv_core(u[0], u[1])
    R = Mat3(*ccsk_core(u[0], u[1], u[2]))
    store_blocks(Mat3(*top), ZEROS, transpose(R), out)
    return abs(cosine) > SMALLEST_COSINE


from_scipy, to_scipy = _from_scipy, _to_scipy
dexp_left, dexpinv_left = left(dexp), left(dexpinv)
dcay_left, dcayinv_left = left(dcay), left(dcayinv)
dexp_series, dexpinv_series = truncated(ad)


def identity(batch: tuple[int, ...] = ()) -> np.ndarray:
    """The unit element, repeated over the batch axes asked for: shape (*batch, 4, 4)."""
    return np.broadcast_to(np.eye(4), (*axes(batch), 4, 4)).copy()


@batched(ELEMENT, ELEMENT, out=(4, 4))
def compose(g, h, out):
    """g h, first h then g. Shapes (..., 4, 4), (..., 4, 4) -> (..., 4, 4)."""
    for i in range(3):
        for j in range(4):
            out[4 * i + j] = g[4 * i] * h[j] + g[4 * i + 1] * h[4 + j] + g[4 * i + 2] * h[8 + j]
        out[4 * i + 3] += g[4 * i + 3]
        out[12 + i] = 0.0
    out[15] = 1.0
    return True


@batched(ELEMENT, out=(4, 4))
def inverse(g, out):
    """(R', -R' r). Shapes (..., 4, 4) -> (..., 4, 4)."""
    R = transpose(mat3(g, 0, 4))
    return store_rigid(R, R @ Vec3(-g[3], -g[7], -g[11]), out)


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Haar rotations and standard normal translations, shape (*batch, 4, 4); rng: a NumPy Generator, or a seed."""
    rng = generator(rng)
    return from_parts(so3.random(rng, batch), rng.standard_normal((*axes(batch), 3)))


def from_parts(R: Any, r: Any) -> np.ndarray:
    """The motion with rotation R (..., 3, 3) and translation r (..., 3): shape (..., 4, 4)."""
    R, r = read("R", R, so3.ELEMENT), read("r", r, so3.ALGEBRA)
    g = identity(np.broadcast_shapes(R.shape[:-2], r.shape[:-1]))
    g[..., :3, :3], g[..., :3, 3] = R, r
    return g


def parts(g: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (..., 3, 3) and translation (..., 3) of motions (..., 4, 4)."""
    g = read("g", g, ELEMENT)
    return g[..., :3, :3].copy(), g[..., :3, 3].copy()


@batched(ELEMENT, ELEMENT, out=())
def distance(g, h, out):
    """sqrt(angle^2 + |r - s|^2), invariant under motions from the left; lengths count as given.

    Shapes (..., 4, 4), (..., 4, 4) -> (...).
    """
    relative = np.empty(9)
    for i in range(3):
        for j in range(3):
            relative[3 * i + j] = g[i] * h[j] + g[4 + i] * h[4 + j] + g[8 + i] * h[8 + j]
    x, y, z = log_core(relative)
    a, b, c = g[3] - h[3], g[7] - h[7], g[11] - h[11]
    out[0] = math.sqrt(x * x + y * y + z * z + a * a + b * b + c * c)
    return True


def project(X: Any) -> np.ndarray:
    """Nearest rotation in the upper block, the translation kept, last row (0, 0, 0, 1). (..., 4, 4) -> (..., 4, 4)."""
    X = read("X", X, ANY_MATRIX)
    return from_parts(so3.project(X[..., :3, :3]), X[..., :3, 3])


def align(x: Any, y: Any, weights: Any = None, scale: bool = False) -> Any:
    """The rigid motion g (4, 4) = (R, r) with the least sum_i w_i |y_i - (R x_i + r)|^2, for points x, y (n, 3).

    Weights (n,), equal where left out. With `scale=True` a similarity, y_i = s R x_i + r: returns (g, s), s > 0
    (Umeyama 1991). Centred at the weighted means this is `so3.align`, with its degenerate cases: points on one line
    (two points, say) leave the turn about it free, and so on; ValueError names which.
    """
    R, r, s = aligned(x, y, weights, scale)
    g = from_parts(R, r)
    return (g, s) if scale else g


_exp, _compose = exp.kernel, compose.kernel


@jit
def _move(u, g, out):
    """g exp(u), its rotation brought back from round-off."""
    step = np.empty(16)
    _exp(u, step)
    _compose(g, step, out)
    mend(out, 0, 4)
    return True


def integrate(
    t: Any, xi: Any, start: Any = None, rule: str = "linear", frame: str = "body"
) -> np.ndarray:
    """Poses (n, 4, 4) from twists xi (n, 6) = (angular velocity rad/s, velocity), at increasing times t (n,), s.

    The first is `start` (4, 4), the identity where it is left out. `frame`: "body", g' = g hat(xi), or "space",
    g' = hat(xi) g. `rule`: "constant", "linear" or "cubic", of order 1, 2 and 4: see `so3.integrate`.
    """
    return integrated(sys.modules[__name__], _move, t, xi, "xi", start, rule, frame)


interpolate = interpolator(__name__)
mean = averager(__name__)
