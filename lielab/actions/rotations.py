"""SO(3) on vectors, rotations and bodies.

A rotation that is moved is brought back onto SO(3), where it is off by round-off: equal turns round the same way each
time, and a million of them would leave R'R - 1 of 1e-10. What remains of it moves a momentum R mu by 2e-12.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._jit import jit
from ..groups import so3
from ..groups._factors import mend
from ..groups._scalars import cosc, sinc
from ..groups.so3 import (
    cay_core,
    cross_core,
    dcayinv_core,
    dexpinv_core,
    exp_core,
    mul_core,
    orthonormal_core,
)
from ._action import Action, sample_sphere


@jit
def _rotate_vectors(g, y):
    out = np.empty(len(y))
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
    return out


@jit
def so3_dexpinv(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = dexpinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_dcayinv(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = dcayinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_bracket(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = cross_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_exp_vectors(u, y):
    if len(y) != 3:
        return _rotate_vectors(exp_core(u[0], u[1], u[2]), y)
    # One vector: y + a u x y + b u x (u x y) is cheaper than the matrix.
    s = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    a, b = sinc(s), cosc(s)
    first = cross_core(u, y)
    second = cross_core(u, first)
    out = np.empty(3)
    for i in range(3):
        out[i] = y[i] + a * first[i] + b * second[i]
    return out


@jit
def so3_cay_vectors(u, y):
    return _rotate_vectors(cay_core(u[0], u[1], u[2]), y)


@jit
def _rotate_body(g, y):
    """The rows of R and mu turned, and R brought back onto SO(3)."""
    out = _rotate_vectors(g, y)
    mend(out, 0)
    return out


@jit
def so3_exp_body(u, y):
    return _rotate_body(exp_core(u[0], u[1], u[2]), y)


@jit
def so3_cay_body(u, y):
    return _rotate_body(cay_core(u[0], u[1], u[2]), y)


@jit
def so3_generator_vectors(u, y):
    out = np.empty(len(y))
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = cross_core(u, (y[k], y[k + 1], y[k + 2]))
    return out


@jit
def so3_exp_matrix(u, y):
    g = exp_core(u[0], u[1], u[2])
    a, d, g0 = mul_core(g, (y[0], y[3], y[6]))
    b, e, g1 = mul_core(g, (y[1], y[4], y[7]))
    c, f, g2 = mul_core(g, (y[2], y[5], y[8]))
    out = np.empty(9)
    R = orthonormal_core((a, b, c, d, e, f, g0, g1, g2))
    for i in range(9):
        out[i] = R[i]
    return out


@jit
def so3_cay_matrix(u, y):
    g = cay_core(u[0], u[1], u[2])
    a, d, g0 = mul_core(g, (y[0], y[3], y[6]))
    b, e, g1 = mul_core(g, (y[1], y[4], y[7]))
    c, f, g2 = mul_core(g, (y[2], y[5], y[8]))
    out = np.empty(9)
    R = orthonormal_core((a, b, c, d, e, f, g0, g1, g2))
    for i in range(9):
        out[i] = R[i]
    return out


@jit
def so3_generator_matrix(u, y):
    out = np.empty(9)
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = cross_core(u, (y[j], y[3 + j], y[6 + j]))
    return out


def sphere_distance(y: np.ndarray) -> np.ndarray:
    """Largest | |q| - 1 | over the 3-vectors of y."""
    q = y.reshape(*y.shape[:-1], -1, 3)
    return np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(axis=-1)


def sample_rotation(more: int = 0) -> Callable:
    """Random rotations, row-major, followed by so many standard normal numbers."""

    def sample(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([so3.random(rng).ravel(), rng.standard_normal(more)])

    return sample


def rotation_distance(y: np.ndarray) -> np.ndarray:
    """Frobenius norm of R'R - 1 for the leading nine entries of y; infinite for a reflection."""
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
    **_SO3,
)
SO3_ON_S2 = Action(
    name="SO(3) on S^2",
    manifold="the unit sphere S^2",
    point=3,
    dimension=2,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    distance=sphere_distance,
    sample=sample_sphere(3),
    **_SO3,
)
# R . S = S R^-1: the right translations, made a left action by the inverse. The rows of S are turned.
SO3_ON_SO3_RIGHT = Action(
    name="SO(3) on itself, from the right by the inverse",
    manifold="SO(3)",
    point=9,
    dimension=3,
    exp_act=so3_exp_body,
    generator=so3_generator_vectors,
    cay_act=so3_cay_body,
    distance=rotation_distance,
    sample=sample_rotation(),
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
    exp_act=so3_exp_body,
    generator=so3_generator_vectors,
    cay_act=so3_cay_body,
    distance=rotation_distance,
    sample=sample_rotation(3),
    **_SO3,
)
