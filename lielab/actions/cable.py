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

from ..core.jit import inner
from ..core.values import cross, store, vec3
from ..groups.factors import shift
from ..groups.rotations import turn
from .action import Action
from .blocks import SE3, Block, product
from .cotangent import BODY


@inner
def _rod(y, k):
    """x_L - x_q"""
    return vec3(y, k + 3) - vec3(y, k)


@inner
def move_cable(cay, form, u, i, j, y, k, l, out):
    A = vec3(u, i)
    C = turn(cay, A)
    r = C @ _rod(y, k)
    cr = cross(shift(cay, A, vec3(u, j + 9)), r)
    x = C @ vec3(y, k) + shift(cay, A, vec3(u, j))
    p = C @ vec3(y, l) + shift(cay, A, vec3(u, j + 3)) - cr
    q = C @ vec3(y, l + 3) + shift(cay, A, vec3(u, j + 6)) + cr
    store(x, out, k)
    store(x + r, out, k + 3)
    store(p, out, l)
    store(q, out, l + 3)


@inner
def velocity_cable(cay, form, u, i, j, y, k, l, out):
    A, a, b, d = vec3(u, i), vec3(u, j), vec3(u, j + 3), vec3(u, j + 6)
    cr = cross(vec3(u, j + 9), _rod(y, k))
    store(cross(A, vec3(y, k)) + a, out, k)
    store(cross(A, vec3(y, k + 3)) + a, out, k + 3)
    store(cross(A, vec3(y, l)) + (b - cr), out, l)
    store(cross(A, vec3(y, l + 3)) + (d + cr), out, l + 3)


# (A, a), (A, b), (A, d), (A, c), each as in se(3)
CABLE = Block(
    *(SE3._replace(size=15, seconds=(0, 3, 6, 9)), 12, None),
    *(move_cable, velocity_cable),
)

BODY_AND_LOAD = Action(
    name="T*SO(3) x (SO(3) semidirect R^12) on a body and a load at the ends of a cable",
    group="T*SO(3) x (SO(3) semidirect R^12)",
    manifold="T*SO(3) x T*R^6 with a cable of fixed length",
    **product(BODY.at(0, 0, 3, 15), CABLE.at(6, 9, 9, 18), cayley=False),
)
