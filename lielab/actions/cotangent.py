"""T*SO(3) on itself, in space and in body variables, with or without a vector space beside it.

T*SO(3) = SO(3) x so(3)* is semidirect, (g1, mu1)(g2, mu2) = (g1 g2, mu1 + g1 mu2): the right trivialisation of
celledoni (11), printed without the inverse. Its algebra is that of SE(3).
"""

from __future__ import annotations

from ..core.jit import jit
from ..groups.se3 import (
    cay_translation_core,
    dcayinv_se3_core,
    dexpinv_se3_core,
    translation_core,
)
from ..groups.so3 import cay_core, cross_core, exp_core, mul_core
from .action import Action
from .rotations import rotation_distance, sample_rotation


@jit
def _move_cotangent(g, r, columns, y, u, out):
    """R times the columns (or the rows) of Q, and R pi + r; what follows is translated."""
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
def cotangent_exp_right(u, y, out):
    """exp(u, m).(Q, pi, z) = (R Q, R pi + V m, z + c); z and c may be absent."""
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(exp_core(u[0], u[1], u[2]), r, True, y, u, out)


@jit
def cotangent_cay_right(u, y, out):
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(cay_core(u[0], u[1], u[2]), r, True, y, u, out)


@jit
def cotangent_exp_left(u, y, out):
    """exp(u, m).(Q, Pi, z) = (Q R', R Pi + V m, z + c); z and c may be absent."""
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(exp_core(u[0], u[1], u[2]), r, False, y, u, out)


@jit
def cotangent_cay_left(u, y, out):
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _move_cotangent(cay_core(u[0], u[1], u[2]), r, False, y, u, out)


@jit
def _generator_cotangent(columns, u, y, out):
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


@jit
def cotangent_generator_right(u, y, out):
    """(hat(u) Q, u x pi + m, c)"""
    _generator_cotangent(True, u, y, out)


@jit
def cotangent_generator_left(u, y, out):
    """(-Q hat(u), u x Pi + m, c)"""
    _generator_cotangent(False, u, y, out)


@jit
def cotangent_dexpinv(u, v, out):
    """dexpinv of T*SO(3) x R^k: that of se(3), and the identity on what follows."""
    for i in range(len(out)):
        out[i] = v[i]
    top, low = dexpinv_se3_core(
        (u[0], u[1], u[2]), (u[3], u[4], u[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    for i in range(3):
        out[i], out[3 + i] = top[i], low[i]


@jit
def cotangent_dcayinv(u, v, out):
    for i in range(len(out)):
        out[i] = v[i]
    top, low = dcayinv_se3_core(
        (u[0], u[1], u[2]), (u[3], u[4], u[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    for i in range(3):
        out[i], out[3 + i] = top[i], low[i]


@jit
def cotangent_bracket(u, v, out):
    """[(u, m, c), (v, n, d)] = (u x v, u x n - v x m, 0)"""
    for i in range(len(out)):
        out[i] = 0.0
    A, B = (u[0], u[1], u[2]), (v[0], v[1], v[2])
    top = cross_core(A, B)
    first = cross_core(A, (v[3], v[4], v[5]))
    second = cross_core(B, (u[3], u[4], u[5]))
    for i in range(3):
        out[i] = top[i]
        out[3 + i] = first[i] - second[i]


_TSO3 = {
    "dexpinv": cotangent_dexpinv,
    "bracket": cotangent_bracket,
    "dcayinv": cotangent_dcayinv,
    "distance": rotation_distance,
    "rotations": ((0, 3),),
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
