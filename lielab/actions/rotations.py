"""SO(3) on vectors, rotations and bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.jit import jit
from ..core.round_off import mend_unit
from ..groups import so3
from ..groups.scalars import cosc, sinc
from ..groups.so3 import cay_core, cross_core, dcayinv_core, dexpinv_core, exp_core, mul_core
from .action import Action, points, sample_sphere, unit


@jit
def _rotate_vectors(g, y, out):
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))


@jit
def so3_dexpinv(u, v, out):
    out[0], out[1], out[2] = dexpinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))


@jit
def so3_dcayinv(u, v, out):
    out[0], out[1], out[2] = dcayinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))


@jit
def so3_bracket(u, v, out):
    out[0], out[1], out[2] = cross_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))


@jit
def so3_exp_vectors(u, y, out):
    if len(y) != 3:
        _rotate_vectors(exp_core(u[0], u[1], u[2]), y, out)
        return
    # One vector: y + a u x y + b u x (u x y) is cheaper than the matrix.
    s = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    a, b = sinc(s), cosc(s)
    first = cross_core(u, y)
    second = cross_core(u, first)
    for i in range(3):
        out[i] = y[i] + a * first[i] + b * second[i]


@jit
def so3_cay_vectors(u, y, out):
    _rotate_vectors(cay_core(u[0], u[1], u[2]), y, out)


@jit
def so3_exp_direction(u, y, out):
    so3_exp_vectors(u, y, out)
    mend_unit(out, 0, 3)


@jit
def so3_cay_direction(u, y, out):
    so3_cay_vectors(u, y, out)
    mend_unit(out, 0, 3)


@jit
def so3_generator_vectors(u, y, out):
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = cross_core(u, (y[k], y[k + 1], y[k + 2]))


@jit
def _rotate_columns(g, y, out):
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = mul_core(g, (y[j], y[3 + j], y[6 + j]))


@jit
def so3_exp_matrix(u, y, out):
    _rotate_columns(exp_core(u[0], u[1], u[2]), y, out)


@jit
def so3_cay_matrix(u, y, out):
    _rotate_columns(cay_core(u[0], u[1], u[2]), y, out)


@jit
def so3_generator_matrix(u, y, out):
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = cross_core(u, (y[j], y[3 + j], y[6 + j]))


def sphere_distance(y: np.ndarray) -> np.ndarray:
    """Largest | |q| - 1 | over the 3-vectors of y."""
    y = points(y, 3, several=True)
    q = y.reshape(*y.shape[:-1], -1, 3)
    return np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(axis=-1)


def project_sphere(y: Any) -> np.ndarray:
    """Each 3-vector of y (..., 3 n) divided by its length; ValueError where one is zero."""
    y = np.array(y, dtype=float)
    return unit(y.reshape(*y.shape[:-1], -1, 3)).reshape(y.shape)


def sample_rotation(more: int = 0) -> Callable:
    """Random rotations, row-major, followed by so many standard normal numbers."""

    def sample(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([so3.random(rng).ravel(), rng.standard_normal(more)])

    return sample


def _distance_of_one(R: list[float]) -> float:
    """The same for one matrix: every start of a run is looked at, and NumPy's calls cost ten times the arithmetic."""
    x, y, z = R[0::3], R[1::3], R[2::3]  # columns
    total = 0.0
    for a, b, same in (
        (x, x, 1.0),
        (y, y, 1.0),
        (z, z, 1.0),
        (x, y, 0.0),
        (x, z, 0.0),
        (y, z, 0.0),
    ):
        off = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - same
        total += off * off if same else 2.0 * off * off
    det = (
        x[0] * (y[1] * z[2] - y[2] * z[1])
        - x[1] * (y[0] * z[2] - y[2] * z[0])
        + x[2] * (y[0] * z[1] - y[1] * z[0])
    )
    return math.inf if det < 0.0 else math.sqrt(total)


def rotation_distance(y: np.ndarray) -> np.ndarray:
    """Frobenius norm of R'R - 1 for the leading nine entries of y; infinite for a reflection."""
    y = points(y, 9)
    if y.ndim == 1:
        return np.float64(_distance_of_one(y[:9].tolist()))
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    defect = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))
    return np.where(np.linalg.det(R) < 0.0, np.inf, defect)


_SO3 = {
    "group": "SO(3)",
    "algebra": 3,
    "dexpinv": so3_dexpinv,
    "bracket": so3_bracket,
    "dcayinv": so3_dcayinv,
}

SO3_ON_SO3 = Action(
    name="SO(3) on itself, left",
    manifold="SO(3)",
    point=9,
    dimension=3,
    exp_act=so3_exp_matrix,
    generator=so3_generator_matrix,
    cay_act=so3_cay_matrix,
    distance=rotation_distance,
    sample=sample_rotation(),
    rotations=((0, 3),),
    **_SO3,
)
SO3_ON_S2 = Action(
    name="SO(3) on S^2",
    manifold="the unit sphere S^2",
    point=3,
    dimension=2,
    exp_act=so3_exp_direction,
    generator=so3_generator_vectors,
    cay_act=so3_cay_direction,
    distance=sphere_distance,
    nearest=project_sphere,
    sample=sample_sphere(3),
    **_SO3,
)
# R . S = S R^-1: the right translations, made a left action by the inverse. The rows of S are turned.
SO3_ON_SO3_RIGHT = Action(
    name="SO(3) on itself, from the right by the inverse",
    manifold="SO(3)",
    point=9,
    dimension=3,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    distance=rotation_distance,
    sample=sample_rotation(),
    rotations=((0, 3),),
    **_SO3,
)
# Ad_R = R, so this is also the adjoint action.
SO3_ON_R3 = Action(
    name="SO(3) on R^3",
    manifold="R^3",
    point=3,
    dimension=3,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    **_SO3,
)
# The coadjoint action is mu -> Ad*_{g^-1} mu = g mu (celledoni, example 1, printed without the inverse).
SO3_ON_DUAL = Action(
    name="SO(3) on so(3)*, coadjoint",
    manifold="so(3)*",
    point=3,
    dimension=3,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    **_SO3,
)
# g . (R, mu) = (R g^-1, g mu): a left action that leaves the spatial momentum R mu where it is. The rows of
# R and mu are turned alike, so the kernels for vectors serve.
SO3_ON_BODY = Action(
    name="SO(3) on (R, mu)",
    manifold="SO(3) x so(3)*",
    point=12,
    dimension=6,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    distance=rotation_distance,
    sample=sample_rotation(3),
    rotations=((0, 3),),
    **_SO3,
)
