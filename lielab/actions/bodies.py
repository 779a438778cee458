"""The action for three bodies on ball joints: R0, x, R1, R2 and then p0, p_x, p1, p2 (or velocities in their place).

Algebra vectors are (u_0, a, u_1, u_2; m_0, b, m_1, m_2) in R^24. Body by body it is the left action of T*SO(3) in body
variables, (R exp(-u), exp(u) p + V m); x and p_x are translated.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import jit
from ..groups.se3 import dexpinv_se3_core, translation_core
from ..groups.so3 import cross_core, exp_core, mul_core
from .action import Action
from .rotations import rotation_distance, sample_rotation


@jit
def _offsets(i):
    """Of body i: its matrix and its momentum in y, its u and its m in an algebra vector."""
    if i == 0:
        return 0, 30, 0, 12
    return 3 + 9 * i, 33 + 3 * i, 3 + 3 * i, 15 + 3 * i


@jit
def bodies_exp(u, y, out):
    for i in range(3):
        k, p, a, m = _offsets(i)
        W = (u[a], u[a + 1], u[a + 2])
        g = exp_core(W[0], W[1], W[2])
        r = translation_core(W, (u[m], u[m + 1], u[m + 2]))
        for j in range(k, k + 9, 3):
            out[j], out[j + 1], out[j + 2] = mul_core(g, (y[j], y[j + 1], y[j + 2]))
        c = mul_core(g, (y[p], y[p + 1], y[p + 2]))
        for j in range(3):
            out[p + j] = c[j] + r[j]
    for j in range(3):
        out[9 + j] = y[9 + j] + u[3 + j]
        out[33 + j] = y[33 + j] + u[15 + j]


@jit
def bodies_generator(u, y, out):
    for i in range(3):
        k, p, a, m = _offsets(i)
        W = (u[a], u[a + 1], u[a + 2])
        for j in range(k, k + 9, 3):
            out[j], out[j + 1], out[j + 2] = cross_core(W, (y[j], y[j + 1], y[j + 2]))
        c = cross_core(W, (y[p], y[p + 1], y[p + 2]))
        for j in range(3):
            out[p + j] = c[j] + u[m + j]
    for j in range(3):
        out[9 + j] = u[3 + j]
        out[33 + j] = u[15 + j]


@jit
def bodies_dexpinv(u, v, out):
    for i in range(len(out)):
        out[i] = v[i]
    for i in range(3):
        _, _, a, m = _offsets(i)
        top, low = dexpinv_se3_core(
            (u[a], u[a + 1], u[a + 2]),
            (u[m], u[m + 1], u[m + 2]),
            (v[a], v[a + 1], v[a + 2]),
            (v[m], v[m + 1], v[m + 2]),
        )
        for j in range(3):
            out[a + j] = top[j]
            out[m + j] = low[j]


@jit
def bodies_bracket(u, v, out):
    for i in range(len(out)):
        out[i] = 0.0
    for i in range(3):
        _, _, a, m = _offsets(i)
        A, B = (u[a], u[a + 1], u[a + 2]), (v[a], v[a + 1], v[a + 2])
        top = cross_core(A, B)
        one = cross_core(A, (v[m], v[m + 1], v[m + 2]))
        two = cross_core(B, (u[m], u[m + 1], u[m + 2]))
        for j in range(3):
            out[a + j] = top[j]
            out[m + j] = one[j] - two[j]


def bodies_distance(y: np.ndarray) -> np.ndarray:
    """Largest distance of the three attitudes from SO(3)."""
    return np.maximum.reduce([rotation_distance(y[..., k : k + 9]) for k in (0, 12, 21)])


def sample_bodies(rng: np.random.Generator) -> np.ndarray:
    """Random attitudes, position and momenta."""
    attitudes = sample_rotation(3), sample_rotation(), sample_rotation(12)
    return np.concatenate([part(rng) for part in attitudes])


THREE_BODIES = Action(
    name="T*SO(3)^3 x R^6 on three connected bodies",
    group="T*SO(3)^3 x R^6",
    manifold="T*(SO(3) x R^3 x SO(3) x SO(3))",
    algebra=24,
    point=42,
    dimension=24,
    exp_act=bodies_exp,
    dexpinv=bodies_dexpinv,
    bracket=bodies_bracket,
    generator=bodies_generator,
    distance=bodies_distance,
    sample=sample_bodies,
    rotations=((0, 3), (12, 3), (21, 3)),
)
