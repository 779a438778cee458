"""The action for a rigid body and a point load at the two ends of a rod or taut cable.

Points are R row-major (9), x_q, x_L, p_R, p_q, p_L: 24 numbers. Algebra vectors (m is in R^3) are

    (u, m)            moves the body: (R exp(-u), exp(u) p_R + V m), as T*SO(3) on (Q, Pi)
    (A, a, b, d, c)   moves the pair: with C = exp(A) and r = C (x_L - x_q),
                      x -> C x + a,  p_q -> C p_q + b - c x r,  p_L -> C p_L + d + c x r,

the rotation taking part in every slot (SO(3) semidirect R^12). The distance of the two points is kept, and so is
(p_L/m_L - p_q/m_q) . (x_L - x_q) = 0 as long as b : d = m_q : m_L, which the group operations respect: the masses
enter through the field alone.
"""

from __future__ import annotations

from ..core.jit import jit
from ..groups.se3 import dexpinv_se3_core, translation_core
from ..groups.so3 import cross_core, exp_core, mul_core
from .action import Action
from .rotations import rotation_distance, sample_rotation


@jit
def cable_exp(u, y, out):
    W, A = (u[0], u[1], u[2]), (u[6], u[7], u[8])
    g, C = exp_core(u[0], u[1], u[2]), exp_core(u[6], u[7], u[8])
    for k in (0, 3, 6, 15):
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
    r = mul_core(C, (y[12] - y[9], y[13] - y[10], y[14] - y[11]))
    m = translation_core(W, (u[3], u[4], u[5]))
    a = translation_core(A, (u[9], u[10], u[11]))
    b = translation_core(A, (u[12], u[13], u[14]))
    d = translation_core(A, (u[15], u[16], u[17]))
    c = cross_core(translation_core(A, (u[18], u[19], u[20])), r)
    x = mul_core(C, (y[9], y[10], y[11]))
    p = mul_core(C, (y[18], y[19], y[20]))
    q = mul_core(C, (y[21], y[22], y[23]))
    for i in range(3):
        out[9 + i] = x[i] + a[i]
        out[12 + i] = x[i] + a[i] + r[i]
        out[15 + i] += m[i]
        out[18 + i] = p[i] + b[i] - c[i]
        out[21 + i] = q[i] + d[i] + c[i]


@jit
def cable_generator(u, y, out):
    W, A = (u[0], u[1], u[2]), (u[6], u[7], u[8])
    for k in (0, 3, 6, 15):
        out[k], out[k + 1], out[k + 2] = cross_core(W, (y[k], y[k + 1], y[k + 2]))
    for k in (9, 12, 18, 21):
        out[k], out[k + 1], out[k + 2] = cross_core(A, (y[k], y[k + 1], y[k + 2]))
    c = cross_core((u[18], u[19], u[20]), (y[12] - y[9], y[13] - y[10], y[14] - y[11]))
    for i in range(3):
        out[9 + i] += u[9 + i]
        out[12 + i] += u[9 + i]
        out[15 + i] += u[3 + i]
        out[18 + i] += u[12 + i] - c[i]
        out[21 + i] += u[15 + i] + c[i]


@jit
def cable_dexpinv(u, v, out):
    for first in (0, 6):
        A, B = (u[first], u[first + 1], u[first + 2]), (v[first], v[first + 1], v[first + 2])
        for k in range(first + 3, 6 if first == 0 else 21, 3):
            top, low = dexpinv_se3_core(
                A, (u[k], u[k + 1], u[k + 2]), B, (v[k], v[k + 1], v[k + 2])
            )
            for i in range(3):
                out[first + i] = top[i]
                out[k + i] = low[i]


@jit
def cable_bracket(u, v, out):
    for first in (0, 6):
        A, B = (u[first], u[first + 1], u[first + 2]), (v[first], v[first + 1], v[first + 2])
        top = cross_core(A, B)
        for i in range(3):
            out[first + i] = top[i]
        for k in range(first + 3, 6 if first == 0 else 21, 3):
            one = cross_core(A, (v[k], v[k + 1], v[k + 2]))
            two = cross_core(B, (u[k], u[k + 1], u[k + 2]))
            for i in range(3):
                out[k + i] = one[i] - two[i]


BODY_AND_LOAD = Action(
    name="T*SO(3) x (SO(3) semidirect R^12) on a body and a load at the ends of a cable",
    group="T*SO(3) x (SO(3) semidirect R^12)",
    manifold="T*SO(3) x T*R^6 with a cable of fixed length",
    algebra=21,
    point=24,
    exp_act=cable_exp,
    dexpinv=cable_dexpinv,
    bracket=cable_bracket,
    generator=cable_generator,
    distance=rotation_distance,
    sample=sample_rotation(15),
    rotations=((0, 3),),
)
