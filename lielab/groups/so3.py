"""SO(3), rotations of space. Elements: 3x3 rotation matrices; algebra vectors: (3,) rotation vectors.

Convention: hat(x) y = x cross y; Ad_R = R, ad_u = hat(u), coAd = Ad.T, coad = ad.T. `dexp`, `dcay` are
right-trivialised: d/dt exp(u) = hat(dexp_u u') exp(u); the left-trivialised ones are dexp(-u), dcay(-u).
Every function accepts leading batch axes. Sources: celledoni 2.2, ortolan 2.2; see also the book's chapter
on rotations.

The `*_core` functions take scalars and return tuples: see `_so3_cores`.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..core.jit import jit
from ..core.round_off import mend
from ..core.values import dot, mat3, vec3
from ..core.values import hat as skew
from ..core.values import store as put
from . import rotations
from ._align import align as align
from ._align import from_directions as from_directions
from ._euler import from_euler as from_euler
from ._euler import from_scipy as from_scipy
from ._euler import to_euler as to_euler
from ._euler import to_scipy as to_scipy
from ._sampled import integrated
from ._second_kind import (
    SINGULAR,
    SMALLEST_COSINE,
    ccsk_core,
    ccskinv_core,
    dccsk_core,
    dccskinv_core,
)
from ._so3_cores import (  # noqa: F401  other kernels are built on them
    back_core,
    cross_core,
    dexpinv_core,
    log_core,
    mul_core,
    product_core,
    quaternion_core,
    store,
    transpose_core,
)
from .batch import Space, axes, batched, bounded, generator, read, read_skew
from .derived import averager, interpolator, left, truncated
from .scalars import singular

name = "SO(3)"
dim = 3
shape = (3, 3)


@jit
def defect_kernel(R, out):
    """Frobenius norm of R'R - 1, or 2 for a reflection."""
    if not bounded(R):
        return False
    total = 0.0
    for i in range(3):
        for j in range(3):
            dot = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j] - (1.0 if i == j else 0.0)
            total += dot * dot
    out[0] = math.sqrt(total)
    c = cross_core((R[0], R[1], R[2]), (R[3], R[4], R[5]))
    if c[0] * R[6] + c[1] * R[7] + c[2] * R[8] < 0.0:
        out[0] = max(2.0, out[0])
    return True


@jit
def fill(A, out):
    """A into the flat `out`; True, as A has a value everywhere."""
    put(A, out, 0)
    return True


ALGEBRA = Space((3,))
DUAL = Space((3,))
ANY_MATRIX = Space((3, 3))
ELEMENT = Space((3, 3), "a rotation matrix", defect_kernel)


@batched(ALGEBRA, out=(3, 3))
def hat(u, out):
    """Skew matrix of u: hat(u) v = u x v. Shapes (..., 3) -> (..., 3, 3)."""
    return fill(skew(vec3(u, 0)), out)


def vee(X: Any) -> np.ndarray:
    """Vector of a skew matrix, the inverse of hat. Shapes (..., 3, 3) -> (..., 3).

    Raises ValueError where X is not skew.
    """
    X = read_skew("X", read("X", X, ANY_MATRIX))
    return 0.5 * np.stack(
        [X[..., 2, 1] - X[..., 1, 2], X[..., 0, 2] - X[..., 2, 0], X[..., 1, 0] - X[..., 0, 1]],
        axis=-1,
    )


@jit
def _exp_rows(u, out):
    for i in range(len(u)):
        put(rotations.exp(vec3(u[i], 0)), out[i], 0)
    return True


@batched(ALGEBRA, out=(3, 3), rows=_exp_rows)
def exp(u, out):
    """Rotation by the angle |u| (radians) about u. Shapes (..., 3) -> (..., 3, 3)."""
    return fill(rotations.exp(vec3(u, 0)), out)


@batched(ELEMENT, out=(3,))
def log(R, out):
    """Rotation vector of R, of length at most pi. Shapes (..., 3, 3) -> (..., 3).

    Exact at pi, where u and -u are both right and one is returned. Raises ValueError where R is no rotation.
    """
    return store(log_core(R), out)


@batched(ELEMENT, out=(3, 3))
def Ad(R, out):
    """Ad_R = R as a matrix on algebra vectors. Shapes (..., 3, 3) -> (..., 3, 3)."""
    for i in range(9):
        out[i] = R[i]
    return True


@batched(ALGEBRA, out=(3, 3))
def ad(u, out):
    """ad_u = hat(u) as a matrix on algebra vectors. Shapes (..., 3) -> (..., 3, 3)."""
    return fill(skew(vec3(u, 0)), out)


@batched(ALGEBRA, ALGEBRA, out=(3,))
def bracket(u, v, out):
    """[u, v] = u x v. Shapes (..., 3), (..., 3) -> (..., 3)."""
    return store(cross_core(u, v), out)


@batched(ELEMENT, out=(3, 3))
def coAd(R, out):
    """Ad*_R = R' on dual vectors, <Ad*_R mu, u> = <mu, Ad_R u>. Shapes (..., 3, 3) -> (..., 3, 3).

    celledoni (10); the coadjoint *action* is mu -> coAd(R^-1) mu = R mu.
    """
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = R[3 * j + i]
    return True


@batched(ALGEBRA, out=(3, 3))
def coad(u, out):
    """ad*_u = hat(u)' on dual vectors, ad*_u mu = mu x u. Shapes (..., 3) -> (..., 3, 3)."""
    return fill(skew(-vec3(u, 0)), out)


@batched(ALGEBRA, out=(3, 3))
def dexp(u, out):
    """Right-trivialised tangent of exp: d/dt exp(u) = hat(dexp_u u') exp(u). (..., 3) -> (..., 3, 3).

    The series of celledoni (7) in closed form, 1 + c1 hat(u) + c2 hat(u)^2 with c1 = (1 - cos |u|)/|u|^2 and
    c2 = (|u| - sin |u|)/|u|^3: ortolan (2.7) with u u' = hat(u)^2 + |u|^2.
    """
    return fill(rotations.dexp(vec3(u, 0)), out)


@batched(
    ALGEBRA,
    out=(3, 3),
    domain="dexpinv is singular where |u| is 2 pi, 4 pi, ...; use a smaller step",
)
def dexpinv(u, out):
    """Inverse of dexp(u), in closed form (celledoni 2.2). Shapes (..., 3) -> (..., 3, 3).

    1 - hat(u)/2 + c hat(u)^2 with c = (1 - (|u|/2) cot(|u|/2))/|u|^2.
    Raises ValueError at the singular angles 2 pi, 4 pi, ...
    """
    x = vec3(u, 0)
    put(rotations.dexpinv(x), out, 0)
    return not singular(dot(x, x))


@batched(ALGEBRA, out=(3, 3))
def cay(u, out):
    """Cayley map (1 - hat(u)/2)^-1 (1 + hat(u)/2), second order in u to exp. (..., 3) -> (..., 3, 3)."""
    return fill(rotations.cay(vec3(u, 0)), out)


@batched(ELEMENT, out=(3,), domain="a rotation by pi has no Cayley coordinates; use log")
def cayinv(R, out):
    """Cayley coordinates of R, the inverse of cay. Shapes (..., 3, 3) -> (..., 3).

    Raises ValueError for rotations by pi.
    """
    w, x, y, z = quaternion_core(R)
    if w < 1e-15:
        return False
    return store((2.0 * x / w, 2.0 * y / w, 2.0 * z / w), out)


@batched(ALGEBRA, out=(3, 3))
def dcay(u, out):
    """Right-trivialised tangent of cay, (1 + hat(u)/2)/(1 + |u|^2/4). Shapes (..., 3) -> (..., 3, 3)."""
    return fill(rotations.dcay(vec3(u, 0)), out)


@batched(ALGEBRA, out=(3, 3))
def dcayinv(u, out):
    """Inverse of dcay(u), 1 - hat(u)/2 + u u'/4. Shapes (..., 3) -> (..., 3, 3)."""
    return fill(rotations.dcayinv(vec3(u, 0)), out)


@batched(ALGEBRA, out=(3, 3))
def ccsk(u, out):
    """R_1(u_1) R_2(u_2) R_3(u_3): canonical coordinates of the second kind. (..., 3) -> (..., 3, 3)."""
    return store(ccsk_core(u[0], u[1], u[2]), out)


@batched(ELEMENT, out=(3,), domain=SINGULAR)
def ccskinv(R, out):
    """Inverse of ccsk, |u_2| < pi/2. Shapes (..., 3, 3) -> (..., 3). ValueError at the singularity."""
    out[0], out[1], out[2], cosine = ccskinv_core(R)
    return cosine > SMALLEST_COSINE


@batched(ALGEBRA, out=(3, 3))
def dccsk(u, out):
    """Right-trivialised tangent of ccsk. Shapes (..., 3) -> (..., 3, 3)."""
    return store(dccsk_core(u[0], u[1]), out)


@batched(ALGEBRA, out=(3, 3), domain=SINGULAR)
def dccskinv(u, out):
    """Inverse of dccsk(u). Shapes (..., 3) -> (..., 3, 3). ValueError at the singularity."""
    values, cosine = dccskinv_core(u[0], u[1])
    store(values, out)
    return abs(cosine) > SMALLEST_COSINE


dexp_left, dexpinv_left = left(dexp), left(dexpinv)
dcay_left, dcayinv_left = left(dcay), left(dcayinv)
dexp_series, dexpinv_series = truncated(ad)


def identity(batch: tuple[int, ...] = ()) -> np.ndarray:
    """The unit element, repeated over the batch axes asked for: shape (*batch, 3, 3)."""
    return np.broadcast_to(np.eye(3), (*axes(batch), 3, 3)).copy()


@batched(ELEMENT, ELEMENT, out=(3, 3))
def compose(R, S, out):
    """R S, first S then R. Shapes (..., 3, 3), (..., 3, 3) -> (..., 3, 3)."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = R[3 * i] * S[j] + R[3 * i + 1] * S[3 + j] + R[3 * i + 2] * S[6 + j]
    return True


@batched(ELEMENT, out=(3, 3))
def inverse(R, out):
    """R^-1 = R'. Shapes (..., 3, 3) -> (..., 3, 3)."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = R[3 * j + i]
    return True


def random(rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Rotations from the uniform (Haar) distribution, shape (*batch, 3, 3).

    rng: a NumPy Generator, a seed (a whole number, 0 or more: the same rotations each time), or None for fresh ones.
    """
    q = generator(rng).standard_normal((*axes(batch), 4))
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@batched(ELEMENT, ELEMENT, out=())
def distance(R, S, out):
    """Angle (radians) of the rotation R^-1 S, between 0 and pi. (..., 3, 3), (..., 3, 3) -> (...)."""
    relative = np.empty(9)
    for i in range(3):
        for j in range(3):
            relative[3 * i + j] = R[i] * S[j] + R[3 + i] * S[3 + j] + R[6 + i] * S[6 + j]
    x, y, z = log_core(relative)
    out[0] = math.sqrt(x * x + y * y + z * z)
    return True


def project(X: Any) -> np.ndarray:
    """Nearest rotation to X in the Frobenius norm. Shapes (..., 3, 3) -> (..., 3, 3).

    Raises ValueError where X has no unique nearest rotation (rank below two).
    """
    X = read("X", X, ANY_MATRIX)
    U, s, Vt = np.linalg.svd(X)
    sign = np.sign(np.linalg.det(U @ Vt))
    if np.any(s[..., 1] + sign * s[..., 2] <= 1e-12 * np.maximum(s[..., 0], 1e-300)):
        raise ValueError(
            "X has no unique nearest rotation (rank below two or a symmetric reflection)"
        )
    U[..., :, 2] *= sign[..., None]
    return U @ Vt


@jit
def _turn(u, R, out):
    """R exp(u), brought back from round-off."""
    put(mat3(R, 0) @ rotations.exp(vec3(u, 0)), out, 0)
    mend(out, 0, 3)
    return True


def integrate(
    t: Any, omega: Any, start: Any = None, rule: str = "linear", frame: str = "body"
) -> np.ndarray:
    """Attitudes (n, 3, 3) from angular velocities omega (n, 3), rad/s, at increasing times t (n,), s.

    The first is `start` (3, 3), the identity where it is left out. `frame`: "body", R' = R hat(omega), as a gyroscope
    measures, or "space", R' = hat(omega) R. `rule`: "constant" (omega_k holds until t_{k+1}; order 1), "linear"
    (between two samples; order 2) or "cubic" (through four; order 4): the flow of that rate with one commutator, so
    that coning is not lost. Rates need at least two samples an oscillation, whatever the rule. One compiled call.
    Source: Magnus' series, Hairer, Lubich & Wanner IV.7. Raises ValueError for times that do not increase.
    """
    return integrated(sys.modules[__name__], _turn, t, omega, "omega", start, rule, frame)


interpolate = interpolator(__name__)
mean = averager(__name__)
