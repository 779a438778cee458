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
from ..groups.factors import add, cross_rows, put, shift, triple, turn
from ..groups.so3 import cross_core, mul_core
from .action import Action
from .blocks import SE3, Block, product
from .cotangent import BODY


@inner
def _rod(y, k):
    """x_L - x_q"""
    return add(triple(y, k + 3), -1.0, triple(y, k))


@inner
def move_cable(cay, form, u, i, j, y, k, l, out):
    A = triple(u, i)
    C = turn(cay, A)
    r = mul_core(C, _rod(y, k))
    c = cross_core(shift(cay, A, triple(u, j + 9)), r)
    x = add(mul_core(C, triple(y, k)), 1.0, shift(cay, A, triple(u, j)))
    p = add(mul_core(C, triple(y, l)), 1.0, shift(cay, A, triple(u, j + 3)))
    q = add(mul_core(C, triple(y, l + 3)), 1.0, shift(cay, A, triple(u, j + 6)))
    put(x, out, k)
    put(add(x, 1.0, r), out, k + 3)
    put(add(p, -1.0, c), out, l)
    put(add(q, 1.0, c), out, l + 3)


@inner
def velocity_cable(cay, form, u, i, j, y, k, l, out):
    A = triple(u, i)
    c = cross_core(triple(u, j + 9), _rod(y, k))
    cross_rows(A, 2, y, k, out)
    cross_rows(A, 2, y, l, out)
    for m in range(3):
        out[k + m] += u[j + m]
        out[k + 3 + m] += u[j + m]
        out[l + m] += u[j + 3 + m] - c[m]
        out[l + 3 + m] += u[j + 6 + m] + c[m]


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
