"""T*SO(3) on itself, in space and in body variables, with or without a vector space beside it.

T*SO(3) = SO(3) x so(3)* is semidirect, (g1, mu1)(g2, mu2) = (g1 g2, mu1 + g1 mu2): the right trivialisation of
celledoni (11), printed without the inverse. Its algebra is that of SE(3).
"""

from __future__ import annotations

from ..core.jit import inner
from ..groups.factors import (
    add,
    cross_columns,
    cross_rows,
    put,
    shift,
    triple,
    turn,
    turn_columns,
    turn_rows,
)
from ..groups.so3 import cross_core, mul_core
from .action import Action
from .blocks import SE3, Block, product, translate
from .rotations import rotation_distance, sample_rotation


@inner
def move_space(cay, form, u, i, j, y, k, l, out):
    """tau(u, m).(Q, pi) = (R Q, R pi + V m)"""
    A = triple(u, i)
    g, r = turn(cay, A), shift(cay, A, triple(u, j))
    turn_columns(g, y, k, out)
    put(add(mul_core(g, triple(y, l)), 1.0, r), out, l)


@inner
def move_body(cay, form, u, i, j, y, k, l, out):
    """tau(u, m).(Q, Pi) = (Q R', R Pi + V m)"""
    A = triple(u, i)
    g, r = turn(cay, A), shift(cay, A, triple(u, j))
    turn_rows(g, 3, y, k, out)
    put(add(mul_core(g, triple(y, l)), 1.0, r), out, l)


@inner
def velocity_space(cay, form, u, i, j, y, k, l, out):
    """(hat(u) Q, u x pi + m)"""
    A = triple(u, i)
    cross_columns(A, y, k, out)
    put(add(cross_core(A, triple(y, l)), 1.0, triple(u, j)), out, l)


@inner
def velocity_body(cay, form, u, i, j, y, k, l, out):
    """(-Q hat(u), u x Pi + m)"""
    A = triple(u, i)
    cross_rows(A, 3, y, k, out)
    put(add(cross_core(A, triple(y, l)), 1.0, triple(u, j)), out, l)


SPACE = Block(
    *(SE3, 12, 6, move_space, velocity_space),
    halves=(3, 9),
    distance=rotation_distance,
    sample=sample_rotation(3),
    rotations=((0, 3),),
)
BODY = SPACE._replace(move=move_body, velocity=velocity_body)

# T*SO(3) = SO(3) x so(3)*, semidirect: (g1, mu1)(g2, mu2) = (g1 g2, mu1 + g1 mu2), the right trivialisation of
# celledoni (11), printed without the inverse. For Q' = hat(w) Q, pi' = n the field is f = (w, n + pi x w).
COTANGENT_RIGHT = Action(
    name="T*SO(3) on itself, (Q, pi)",
    group="T*SO(3)",
    manifold="T*SO(3), (Q, pi)",
    **product(SPACE),
)
# The same manifold in body variables, moved from the right: for Q' = Q hat(W), Pi' = Pi x W + N the field is
# f = (-W, N).
COTANGENT_LEFT = Action(
    name="T*SO(3) on itself from the right, (Q, Pi)",
    group="T*SO(3)",
    manifold="T*SO(3), (Q, Pi)",
    **product(BODY),
)
COTANGENT_RIGHT_R6 = Action(
    name="T*SO(3) x R^6 on itself, (Q, pi, p, q)",
    group="T*SO(3) x R^6",
    manifold="T*(SO(3) x R^3), (Q, pi, p, q)",
    **product(SPACE, translate(6)),
)
COTANGENT_LEFT_R6 = Action(
    name="T*SO(3) x R^6 on itself from the right, (Q, Pi, p, q)",
    group="T*SO(3) x R^6",
    manifold="T*(SO(3) x R^3), (Q, Pi, p, q)",
    **product(BODY, translate(6)),
)
