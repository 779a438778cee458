"""SE(3) on TS^2, se(3) and se(3)*; T*SO(3) on itself; the quadrotors' product.

One kernel, exp(A, a).(x, z) = (R x, R z + V a x R x), serves TS^2 as (q, w), T*S^2 as (q, pi), the adjoint
action on se(3) as (B, b), and the coadjoint action on se(3)* as (Gamma, Pi).
"""

from __future__ import annotations

import numpy as np

from .._jit import jit
from ..groups.se3 import (
    cay_translation_core,
    dcayinv_se3_core,
    dexpinv_se3_core,
    exp_se3_core,
    translation_core,
)
from ..groups.so3 import cay_core, cross_core, exp_core, mul_core
from ._action import Action
from .rotations import rotation_distance, sample_rotation


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
def se3_exp_ts2(u, y):
    """exp(A, a).(q, w) = (R q, R w + (V a) x R q), block by block (celledoni 5.1)."""
    out = np.empty(len(y))
    for k in range(0, len(y), 6):
        g, r = exp_se3_core((u[k], u[k + 1], u[k + 2]), (u[k + 3], u[k + 4], u[k + 5]))
        move_pair(g, r, y, k, out)
    return out


@jit
def se3_cay_ts2(u, y):
    """cay(A, a).(q, w), block by block, with the Cayley map of the 4x4 matrices."""
    out = np.empty(len(y))
    for k in range(0, len(y), 6):
        A = (u[k], u[k + 1], u[k + 2])
        r = cay_translation_core(A, (u[k + 3], u[k + 4], u[k + 5]))
        move_pair(cay_core(A[0], A[1], A[2]), r, y, k, out)
    return out


@jit
def se3_generator_ts2(u, y):
    """(A x q, A x w + a x q), block by block."""
    out = np.empty(len(y))
    for k in range(0, len(y), 6):
        A = (u[k], u[k + 1], u[k + 2])
        q = (y[k], y[k + 1], y[k + 2])
        dq = cross_core(A, q)
        dw = cross_core(A, (y[k + 3], y[k + 4], y[k + 5]))
        c = cross_core((u[k + 3], u[k + 4], u[k + 5]), q)
        for i in range(3):
            out[k + i] = dq[i]
            out[k + 3 + i] = dw[i] + c[i]
    return out


@jit
def se3_dexpinv(u, v):
    """dexpinv on se(3), block by block of six."""
    out = np.empty(len(u))
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
    return out


@jit
def se3_dcayinv(u, v):
    """dcayinv on se(3), block by block of six."""
    out = np.empty(len(u))
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
    return out


@jit
def se3_bracket(u, v):
    """[(A, a), (B, b)] = (A x B, A x b - B x a), block by block of six."""
    out = np.empty(len(u))
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        top = cross_core(A, B)
        first = cross_core(A, (v[k + 3], v[k + 4], v[k + 5]))
        second = cross_core(B, (u[k + 3], u[k + 4], u[k + 5]))
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = first[i] - second[i]
    return out


@jit
def se3_exp_dual(u, y):
    """Coadjoint action in the order (Pi, Gamma): the pairs' kernel with its slots exchanged."""
    out = np.empty(6)
    A = (u[0], u[1], u[2])
    g = exp_core(u[0], u[1], u[2])
    r = translation_core(A, (u[3], u[4], u[5]))
    z = mul_core(g, (y[0], y[1], y[2]))
    x = mul_core(g, (y[3], y[4], y[5]))
    c = cross_core(r, x)
    for i in range(3):
        out[i] = z[i] + c[i]
        out[3 + i] = x[i]
    return out


@jit
def se3_cay_dual(u, y):
    out = np.empty(6)
    A = (u[0], u[1], u[2])
    g = cay_core(u[0], u[1], u[2])
    r = cay_translation_core(A, (u[3], u[4], u[5]))
    z = mul_core(g, (y[0], y[1], y[2]))
    x = mul_core(g, (y[3], y[4], y[5]))
    c = cross_core(r, x)
    for i in range(3):
        out[i] = z[i] + c[i]
        out[3 + i] = x[i]
    return out


@jit
def se3_generator_dual(u, y):
    """-ad*_(A, a) (Pi, Gamma) = (A x Pi + a x Gamma, A x Gamma)"""
    out = np.empty(6)
    A = (u[0], u[1], u[2])
    dz = cross_core(A, (y[0], y[1], y[2]))
    c = cross_core((u[3], u[4], u[5]), (y[3], y[4], y[5]))
    dx = cross_core(A, (y[3], y[4], y[5]))
    for i in range(3):
        out[i] = dz[i] + c[i]
        out[3 + i] = dx[i]
    return out


@jit
def _move_cotangent(g, r, columns, y, u, out):
    """R times the columns (or the rows) of Q, R pi + r; what follows is translated."""
    step, stride = (1, 3) if columns else (3, 1)
    for j in range(3):
        k = step * j
        out[k], out[k + stride], out[k + 2 * stride] = mul_core(
            g, (y[k], y[k + stride], y[k + 2 * stride])
        )
    p = mul_core(g, (y[9], y[10], y[11]))
    out[9], out[10], out[11] = p[0] + r[0], p[1] + r[1], p[2] + r[2]
    for k in range(12, len(y)):
        out[k] = y[k] + u[k - 6]


@jit
def cotangent_exp_right(u, y):
    """exp(u, m).(Q, pi, z) = (R Q, R pi + V m, z + c); z and c may be absent."""
    out = np.empty(len(y))
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(exp_core(u[0], u[1], u[2]), r, True, y, u, out)
    return out


@jit
def cotangent_cay_right(u, y):
    out = np.empty(len(y))
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(cay_core(u[0], u[1], u[2]), r, True, y, u, out)
    return out


@jit
def cotangent_exp_left(u, y):
    """exp(u, m).(Q, Pi, z) = (Q R', R Pi + V m, z + c); z and c may be absent."""
    out = np.empty(len(y))
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(exp_core(u[0], u[1], u[2]), r, False, y, u, out)
    return out


@jit
def cotangent_cay_left(u, y):
    out = np.empty(len(y))
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(cay_core(u[0], u[1], u[2]), r, False, y, u, out)
    return out


@jit
def _generator_cotangent(columns, u, y):
    out = np.empty(len(y))
    A = (u[0], u[1], u[2])
    step, stride = (1, 3) if columns else (3, 1)
    for j in range(3):
        k = step * j
        out[k], out[k + stride], out[k + 2 * stride] = cross_core(
            A, (y[k], y[k + stride], y[k + 2 * stride])
        )
    p = cross_core(A, (y[9], y[10], y[11]))
    out[9], out[10], out[11] = p[0] + u[3], p[1] + u[4], p[2] + u[5]
    for k in range(12, len(y)):
        out[k] = u[k - 6]
    return out


@jit
def cotangent_generator_right(u, y):
    """(hat(u) Q, u x pi + m, c)"""
    return _generator_cotangent(True, u, y)


@jit
def cotangent_generator_left(u, y):
    """(-Q hat(u), u x Pi + m, c)"""
    return _generator_cotangent(False, u, y)


@jit
def cotangent_dexpinv(u, v):
    """dexpinv of T*SO(3) x R^k: that of se(3), and the identity on what follows."""
    out = v.copy()
    top, low = dexpinv_se3_core(
        (u[0], u[1], u[2]), (u[3], u[4], u[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    for i in range(3):
        out[i], out[3 + i] = top[i], low[i]
    return out


@jit
def cotangent_dcayinv(u, v):
    out = v.copy()
    top, low = dcayinv_se3_core(
        (u[0], u[1], u[2]), (u[3], u[4], u[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    for i in range(3):
        out[i], out[3 + i] = top[i], low[i]
    return out


@jit
def cotangent_bracket(u, v):
    """[(u, m, c), (v, n, d)] = (u x v, u x n - v x m, 0)"""
    out = np.zeros(len(u))
    A, B = (u[0], u[1], u[2]), (v[0], v[1], v[2])
    top = cross_core(A, B)
    first = cross_core(A, (v[3], v[4], v[5]))
    second = cross_core(B, (u[3], u[4], u[5]))
    for i in range(3):
        out[i] = top[i]
        out[3 + i] = first[i] - second[i]
    return out


def ts2_distance(y: np.ndarray) -> np.ndarray:
    """Largest of | |q| - 1 | and |q . w| over the blocks (q, w) of y."""
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    q, w = blocks[..., 0, :], blocks[..., 1, :]
    off = np.abs(np.linalg.norm(q, axis=-1) - 1.0)
    return np.maximum(off, np.abs((q * w).sum(-1))).max(axis=-1)


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
_PAIR = {"exp_act": se3_exp_ts2, "generator": se3_generator_ts2, "cay_act": se3_cay_ts2}

SE3_ON_TS2 = Action(
    name="SE(3) on TS^2",
    manifold="TS^2 (|q| = 1, q . w = 0)",
    dimension=4,
    blocks=True,
    distance=ts2_distance,
    sample=sample_ts2,
    **_SE3,
    **_PAIR,
)
# Momenta pi = m l^2 w and the like are perpendicular to q, as w is, and move as w does.
SE3_ON_COTANGENT_S2 = Action(
    name="SE(3) on T*S^2",
    manifold="T*S^2 (|q| = 1, q . pi = 0)",
    dimension=4,
    blocks=True,
    distance=ts2_distance,
    sample=sample_ts2,
    **_SE3,
    **_PAIR,
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

_TSO3 = {
    "dexpinv": cotangent_dexpinv,
    "bracket": cotangent_bracket,
    "dcayinv": cotangent_dcayinv,
    "distance": rotation_distance,
}
_SPACE = {
    "exp_act": cotangent_exp_right,
    "generator": cotangent_generator_right,
    "cay_act": cotangent_cay_right,
}
_BODY = {
    "exp_act": cotangent_exp_left,
    "generator": cotangent_generator_left,
    "cay_act": cotangent_cay_left,
}

# T*SO(3) = SO(3) x so(3)*, semidirect: (g1, mu1)(g2, mu2) = (g1 g2, mu1 + g1 mu2), the right trivialisation of
# celledoni (11), printed without the inverse. For Q' = hat(w) Q, pi' = n the field is f = (w, n + pi x w).
COTANGENT_RIGHT = Action(
    name="T*SO(3) on itself, (Q, pi)",
    group="T*SO(3)",
    manifold="T*SO(3), (Q, pi)",
    algebra=6,
    point=12,
    dimension=6,
    **_TSO3,
    sample=sample_rotation(3),
    **_SPACE,
)
# The same manifold in body variables, moved from the right: for Q' = Q hat(W), Pi' = Pi x W + N the field is
# f = (-W, N).
COTANGENT_LEFT = Action(
    name="T*SO(3) on itself from the right, (Q, Pi)",
    group="T*SO(3)",
    manifold="T*SO(3), (Q, Pi)",
    algebra=6,
    point=12,
    dimension=6,
    **_TSO3,
    sample=sample_rotation(3),
    **_BODY,
)
COTANGENT_RIGHT_R6 = Action(
    name="T*SO(3) x R^6 on itself, (Q, pi, p, q)",
    group="T*SO(3) x R^6",
    manifold="T*(SO(3) x R^3), (Q, pi, p, q)",
    algebra=12,
    point=18,
    dimension=12,
    **_TSO3,
    sample=sample_rotation(9),
    **_SPACE,
)
COTANGENT_LEFT_R6 = Action(
    name="T*SO(3) x R^6 on itself from the right, (Q, Pi, p, q)",
    group="T*SO(3) x R^6",
    manifold="T*(SO(3) x R^3), (Q, Pi, p, q)",
    algebra=12,
    point=18,
    dimension=12,
    **_TSO3,
    sample=sample_rotation(9),
    **_BODY,
)
