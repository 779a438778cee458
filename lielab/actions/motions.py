"""SE(3) on TS^2, T*S^2, se(3) and se(3)*.

One map, exp(A, a).(x, z) = (R x, R z + V a x R x), serves TS^2 as (q, w), T*S^2 as (q, pi), the adjoint
action on se(3) as (B, b), and the coadjoint action on se(3)* as (Gamma, Pi).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.jit import jit
from ..core.round_off import mend_tangent
from ..groups.se3 import (
    cay_translation_core,
    dcayinv_se3_core,
    dexpinv_se3_core,
    exp_se3_core,
    translation_core,
)
from ..groups.so3 import cay_core, cross_core, exp_core, mul_core
from .action import Action, points, unit


@jit
def move_pair(g, r, y, k, out):
    """(x, z) -> (R x, R z + r x R x) for the pair at y[k:k+6]."""
    x = mul_core(g, (y[k], y[k + 1], y[k + 2]))
    z = mul_core(g, (y[k + 3], y[k + 4], y[k + 5]))
    c = cross_core(r, x)
    for i in range(3):
        out[k + i] = x[i]
        out[k + 3 + i] = z[i] + c[i]


@jit
def se3_exp_pairs(u, y, out):
    """exp(A, a).(q, w) = (R q, R w + (V a) x R q), block by block (celledoni 5.1)."""
    for k in range(0, len(y), 6):
        g, r = exp_se3_core((u[k], u[k + 1], u[k + 2]), (u[k + 3], u[k + 4], u[k + 5]))
        move_pair(g, r, y, k, out)


@jit
def se3_cay_pairs(u, y, out):
    """cay(A, a).(q, w), block by block, with the Cayley map of the 4x4 matrices."""
    for k in range(0, len(y), 6):
        A = (u[k], u[k + 1], u[k + 2])
        r = cay_translation_core(A, (u[k + 3], u[k + 4], u[k + 5]))
        move_pair(cay_core(A[0], A[1], A[2]), r, y, k, out)


@jit
def se3_exp_ts2(u, y, out):
    """The same for |q| = 1, q . w = 0, which round-off does not move."""
    se3_exp_pairs(u, y, out)
    for k in range(0, len(y), 6):
        mend_tangent(out, k)


@jit
def se3_cay_ts2(u, y, out):
    se3_cay_pairs(u, y, out)
    for k in range(0, len(y), 6):
        mend_tangent(out, k)


@jit
def se3_generator_pairs(u, y, out):
    """(A x q, A x w + a x q), block by block."""
    for k in range(0, len(y), 6):
        A = (u[k], u[k + 1], u[k + 2])
        q = (y[k], y[k + 1], y[k + 2])
        dq = cross_core(A, q)
        dw = cross_core(A, (y[k + 3], y[k + 4], y[k + 5]))
        c = cross_core((u[k + 3], u[k + 4], u[k + 5]), q)
        for i in range(3):
            out[k + i] = dq[i]
            out[k + 3 + i] = dw[i] + c[i]


@jit
def se3_dexpinv(u, v, out):
    """dexpinv on se(3), block by block of six."""
    for k in range(0, len(u), 6):
        top, low = dexpinv_se3_core(
            (u[k], u[k + 1], u[k + 2]),
            (u[k + 3], u[k + 4], u[k + 5]),
            (v[k], v[k + 1], v[k + 2]),
            (v[k + 3], v[k + 4], v[k + 5]),
        )
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = low[i]


@jit
def se3_dcayinv(u, v, out):
    """dcayinv on se(3), block by block of six."""
    for k in range(0, len(u), 6):
        top, low = dcayinv_se3_core(
            (u[k], u[k + 1], u[k + 2]),
            (u[k + 3], u[k + 4], u[k + 5]),
            (v[k], v[k + 1], v[k + 2]),
            (v[k + 3], v[k + 4], v[k + 5]),
        )
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = low[i]


@jit
def se3_bracket(u, v, out):
    """[(A, a), (B, b)] = (A x B, A x b - B x a), block by block of six."""
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        top = cross_core(A, B)
        first = cross_core(A, (v[k + 3], v[k + 4], v[k + 5]))
        second = cross_core(B, (u[k + 3], u[k + 4], u[k + 5]))
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = first[i] - second[i]


@jit
def se3_exp_dual(u, y, out):
    """Coadjoint action in the order (Pi, Gamma): the pairs' kernel with its slots exchanged."""
    A = (u[0], u[1], u[2])
    g = exp_core(u[0], u[1], u[2])
    r = translation_core(A, (u[3], u[4], u[5]))
    z = mul_core(g, (y[0], y[1], y[2]))
    x = mul_core(g, (y[3], y[4], y[5]))
    c = cross_core(r, x)
    for i in range(3):
        out[i] = z[i] + c[i]
        out[3 + i] = x[i]


@jit
def se3_cay_dual(u, y, out):
    A = (u[0], u[1], u[2])
    g = cay_core(u[0], u[1], u[2])
    r = cay_translation_core(A, (u[3], u[4], u[5]))
    z = mul_core(g, (y[0], y[1], y[2]))
    x = mul_core(g, (y[3], y[4], y[5]))
    c = cross_core(r, x)
    for i in range(3):
        out[i] = z[i] + c[i]
        out[3 + i] = x[i]


@jit
def se3_generator_dual(u, y, out):
    """-ad*_(A, a) (Pi, Gamma) = (A x Pi + a x Gamma, A x Gamma)"""
    A = (u[0], u[1], u[2])
    dz = cross_core(A, (y[0], y[1], y[2]))
    c = cross_core((u[3], u[4], u[5]), (y[3], y[4], y[5]))
    dx = cross_core(A, (y[3], y[4], y[5]))
    for i in range(3):
        out[i] = dz[i] + c[i]
        out[3 + i] = dx[i]


def ts2_distance(y: np.ndarray) -> np.ndarray:
    """Largest of | |q| - 1 | and |q . w| over the blocks (q, w) of y."""
    y = points(y, 6, several=True)
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    q, w = blocks[..., 0, :], blocks[..., 1, :]
    off = np.abs(np.linalg.norm(q, axis=-1) - 1.0)
    return np.maximum(off, np.abs((q * w).sum(-1))).max(axis=-1)


def project_ts2(y: Any) -> np.ndarray:
    """Blocks (q, w) of y (..., 6 n) with q made a unit vector and w orthogonal to it."""
    y = np.array(y, dtype=float)
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    q, w = unit(blocks[..., 0, :]), blocks[..., 1, :]
    w = w - q * (q * w).sum(-1, keepdims=True)
    return np.stack([q, w], axis=-2).reshape(y.shape)


def sample_ts2(rng: np.random.Generator) -> np.ndarray:
    """A random point (q, w) of TS^2."""
    q, a = rng.standard_normal((2, 3))
    q /= np.linalg.norm(q)
    return np.concatenate([q, np.cross(q, a)])


_SE3 = {
    "group": "SE(3)",
    "algebra": 6,
    "point": 6,
    "dexpinv": se3_dexpinv,
    "bracket": se3_bracket,
    "dcayinv": se3_dcayinv,
}
_PAIR = {"exp_act": se3_exp_pairs, "generator": se3_generator_pairs, "cay_act": se3_cay_pairs}
_TANGENT = {"exp_act": se3_exp_ts2, "generator": se3_generator_pairs, "cay_act": se3_cay_ts2}

SE3_ON_TS2 = Action(
    name="SE(3) on TS^2",
    manifold="TS^2 (|q| = 1, q . w = 0)",
    dimension=4,
    blocks=True,
    distance=ts2_distance,
    nearest=project_ts2,
    sample=sample_ts2,
    **_SE3,
    **_TANGENT,
)
# Momenta pi = m l^2 w and the like are perpendicular to q, as w is, and move as w does.
SE3_ON_COTANGENT_S2 = Action(
    name="SE(3) on T*S^2",
    manifold="T*S^2 (|q| = 1, q . pi = 0)",
    dimension=4,
    blocks=True,
    distance=ts2_distance,
    nearest=project_ts2,
    sample=sample_ts2,
    **_SE3,
    **_TANGENT,
)
SE3_ON_ALGEBRA = Action(
    name="SE(3) on se(3), adjoint",
    manifold="se(3), (B, b)",
    dimension=6,
    blocks=True,
    **_SE3,
    **_PAIR,
)
# For the heavy top f = -(I^-1 Pi, M l chi) with either order of the slots (celledoni 3.4.2).
SE3_ON_DUAL = Action(
    name="SE(3) on se(3)*, coadjoint, slots (Gamma, Pi)",
    manifold="se(3)*",
    dimension=6,
    blocks=True,
    **_SE3,
    **_PAIR,
)
SE3_ON_DUAL_PI_GAMMA = Action(
    name="SE(3) on se(3)*, coadjoint, slots (Pi, Gamma)",
    manifold="se(3)*",
    dimension=6,
    exp_act=se3_exp_dual,
    generator=se3_generator_dual,
    cay_act=se3_cay_dual,
    **_SE3,
)
