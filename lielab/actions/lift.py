"""The lift of ortolan 6.1: SO(3) turns the direction q, and w moves in so(3), a space of its own.

(R, b) . (q, w) = (R q, w + b), a direct product: q' = A x q, w' = a. The direction stays a unit vector to round-off;
q . w = 0 is kept by the flow, but by a method only up to its error, unlike under SE(3) on TS^2.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import jit
from ..core.values import Vec3, cross, store, vec3
from .action import Action
from .blocks import product, translate
from .rotations import DIRECTIONS


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
        A, a = vec3(out, k), vec3(out, k + 3)
        q, w = Vec3(y[k], y[k + 1], y[k + 2]), Vec3(y[k + 3], y[k + 4], y[k + 5])
        store(cross(A, w) + cross(a, q), out, k + 3)
    return out


SO3_R3_ON_S2_R3 = Action(
    name="SO(3) x R^3 on (q, w), the lift of TS^2",
    group="SO(3) x R^3",
    manifold="S^2 x R^3 (|q| = 1)",
    **product(DIRECTIONS, translate(3), each=True),
)
