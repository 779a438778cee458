"""The lift of ortolan 6.1: SO(3) turns the direction q, and w moves in so(3), a space of its own.

(R, b) . (q, w) = (R q, w + b), a direct product: q' = A x q, w' = a. The direction stays a unit vector to round-off;
q . w = 0 is kept by the flow, but by a method only up to its error, unlike under SE(3) on TS^2.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import jit
from ..core.round_off import mend_unit
from ..groups.so3 import cay_core, cross_core, dcayinv_core, dexpinv_core, exp_core, mul_core
from .action import Action, unit


@jit
def _turn(g, u, y, k, out):
    """The pair at y[k:k+6] with q turned by g and w moved by u[k+3:k+6]."""
    out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
    mend_unit(out, k, 3)
    for i in range(k + 3, k + 6):
        out[i] = y[i] + u[i]


@jit
def lift_exp(u, y, out):
    for k in range(0, len(y), 6):
        _turn(exp_core(u[k], u[k + 1], u[k + 2]), u, y, k, out)


@jit
def lift_cay(u, y, out):
    for k in range(0, len(y), 6):
        _turn(cay_core(u[k], u[k + 1], u[k + 2]), u, y, k, out)


@jit
def lift_generator(u, y, out):
    """(A x q, a), block by block."""
    for i in range(len(out)):
        out[i] = u[i]
    for k in range(0, len(y), 6):
        c = cross_core((u[k], u[k + 1], u[k + 2]), (y[k], y[k + 1], y[k + 2]))
        out[k], out[k + 1], out[k + 2] = c


@jit
def lift_dexpinv(u, v, out):
    """dexpinv of SO(3) on A; the identity on a."""
    for i in range(len(out)):
        out[i] = v[i]
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        out[k], out[k + 1], out[k + 2] = dexpinv_core(A, B)


@jit
def lift_dcayinv(u, v, out):
    for i in range(len(out)):
        out[i] = v[i]
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        out[k], out[k + 1], out[k + 2] = dcayinv_core(A, B)


@jit
def lift_bracket(u, v, out):
    """(A x B, 0)"""
    for i in range(len(out)):
        out[i] = 0.0
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        out[k], out[k + 1], out[k + 2] = cross_core(A, B)


@jit
def lifted(xi, y):
    """Element (A, A x w + a x q) of the lift's algebra with the velocity that (A, a) of se(3) has at y.

    Both flat, (6 n,), float64; for compiled fields and for Python. ValueError where the lengths do not fit.
    """
    if len(xi) != len(y) or len(y) % 6 != 0:
        raise ValueError("xi and y must be flat, of one length, a multiple of 6")
    out = np.empty(len(xi))  # not a copy, which would be of single precision where xi is
    for i in range(len(xi)):
        out[i] = xi[i]
    for k in range(0, len(y), 6):
        A, a = (xi[k], xi[k + 1], xi[k + 2]), (xi[k + 3], xi[k + 4], xi[k + 5])
        first = cross_core(A, (y[k + 3], y[k + 4], y[k + 5]))
        second = cross_core(a, (y[k], y[k + 1], y[k + 2]))
        for i in range(3):
            out[k + 3 + i] = first[i] + second[i]
    return out


def directions_distance(y: np.ndarray) -> np.ndarray:
    """Largest | |q| - 1 | over the blocks (q, w) of y."""
    q = y.reshape(*y.shape[:-1], -1, 2, 3)[..., 0, :]
    return np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(axis=-1)


def unit_directions(y: np.ndarray) -> np.ndarray:
    """y with unit vectors for the directions of its blocks (q, w)."""
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    return np.stack([unit(blocks[..., 0, :]), blocks[..., 1, :]], axis=-2).reshape(y.shape)


def sample_pair(rng: np.random.Generator) -> np.ndarray:
    """A random direction q and a random vector w, not orthogonal to it."""
    q, w = rng.standard_normal((2, 3))
    return np.concatenate([q / np.linalg.norm(q), w])


SO3_R3_ON_S2_R3 = Action(
    name="SO(3) x R^3 on (q, w), the lift of TS^2",
    group="SO(3) x R^3",
    manifold="S^2 x R^3 (|q| = 1)",
    algebra=6,
    point=6,
    dimension=5,
    exp_act=lift_exp,
    generator=lift_generator,
    cay_act=lift_cay,
    dexpinv=lift_dexpinv,
    bracket=lift_bracket,
    dcayinv=lift_dcayinv,
    blocks=True,
    distance=directions_distance,
    nearest=unit_directions,
    sample=sample_pair,
)
