"""SE(3) on TS^2, T*S^2, se(3) and se(3)*.

One map, exp(A, a).(x, z) = (R x, R z + V a x R x), serves TS^2 as (q, w), T*S^2 as (q, pi), the adjoint
action on se(3) as (B, b), and the coadjoint action on se(3)* as (Gamma, Pi).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.jit import inner
from ..core.round_off import mend_tangent
from ..core.values import cross, store, vec3
from ..groups.factors import shift
from ..groups.rotations import turn
from ..groups.se3 import exp_se3
from .action import Action, points, unit
from .blocks import SE3, Block, mended, product


@inner
def move_pair(g, r, y, k, l, out):
    """(x, z) -> (R x, R z + r x R x) for x at y[k] and z at y[l]."""
    x, z = g @ vec3(y, k), g @ vec3(y, l)
    store(x, out, k)
    store(z + cross(r, x), out, l)


@inner
def move_dual(cay, form, u, i, j, y, k, l, out):
    """tau(A, a).(x, z); cay is the Cayley map of the 4x4 matrices."""
    A, a = vec3(u, i), vec3(u, j)
    move_pair(turn(cay, A), shift(cay, A, a), y, k, l, out)


@inner
def move_vectors(cay, form, u, i, j, y, k, l, out):
    """exp(A, a).(q, w) = (R q, R w + (V a) x R q) (celledoni 5.1), by one evaluation of the scalars."""
    if cay:
        move_dual(cay, form, u, i, j, y, k, l, out)
        return
    g, r = exp_se3(vec3(u, i), vec3(u, j))
    move_pair(g, r, y, k, l, out)


# For |q| = 1, q . w = 0, which round-off does not move.
move_link, move_tangent = mended(move_dual, mend_tangent), mended(move_vectors, mend_tangent)


@inner
def velocity_pair(cay, form, u, i, j, y, k, l, out):
    """(A x q, A x w + a x q)"""
    A, a, q, w = vec3(u, i), vec3(u, j), vec3(y, k), vec3(y, l)
    store(cross(A, q), out, k)
    store(cross(A, w) + cross(a, q), out, l)


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


_TANGENT = {"distance": ts2_distance, "nearest": project_ts2, "sample": sample_ts2}
PAIR = Block(SE3, 6, 6, move_vectors, velocity_pair)
TANGENT = Block(SE3, 6, 4, move_tangent, velocity_pair, **_TANGENT)
LINK = TANGENT._replace(move=move_link)

SE3_ON_TS2 = Action(
    name="SE(3) on TS^2",
    group="SE(3)",
    manifold="TS^2 (|q| = 1, q . w = 0)",
    **product(TANGENT, each=True),
)
# Momenta pi = m l^2 w and the like are perpendicular to q, as w is, and move as w does.
SE3_ON_COTANGENT_S2 = Action(
    name="SE(3) on T*S^2",
    group="SE(3)",
    manifold="T*S^2 (|q| = 1, q . pi = 0)",
    **product(TANGENT, each=True),
)
SE3_ON_ALGEBRA = Action(
    name="SE(3) on se(3), adjoint",
    group="SE(3)",
    manifold="se(3), (B, b)",
    **product(PAIR, each=True),
)
# For the heavy top f = -(I^-1 Pi, M l chi) with either order of the slots (celledoni 3.4.2).
SE3_ON_DUAL = Action(
    name="SE(3) on se(3)*, coadjoint, slots (Gamma, Pi)",
    group="SE(3)",
    manifold="se(3)*",
    **product(PAIR, each=True),
)
SE3_ON_DUAL_PI_GAMMA = Action(
    name="SE(3) on se(3)*, coadjoint, slots (Pi, Gamma)",
    group="SE(3)",
    manifold="se(3)*",
    **product(PAIR._replace(move=move_dual).at(0, 3, 3, 0)),
)
