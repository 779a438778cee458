"""T*SO(3) on itself, in space and in body variables, with or without a vector space beside it.

T*SO(3) = SO(3) x so(3)* is semidirect, (g1, mu1)(g2, mu2) = (g1 g2, mu1 + g1 mu2): the right trivialisation of
celledoni (11), printed without the inverse. Its algebra is that of SE(3).
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.jit import inner
from ..core.values import cross, store, vec3
from ..groups.factors import cross_columns, cross_rows, shift, turn_columns, turn_rows
from ..groups.rotations import turn
from .action import Action
from .blocks import SE3, Block, product, translate
from .rotations import rotation_distance, sample_rotation


def _move(turned: Callable) -> Callable:
    """tau(u, m), which turns Q as `turned` says and takes the momentum from p to R p + V m."""

    @inner
    def kernel(cay, form, u, i, j, y, k, l, out):
        A = vec3(u, i)
        R, Vm = turn(cay, A), shift(cay, A, vec3(u, j))
        turned(R, 3, y, k, out)
        store(R @ vec3(y, l) + Vm, out, l)

    return kernel


def _velocity(crossed: Callable) -> Callable:
    """The generator of `_move`: of the momentum u x p + m."""

    @inner
    def kernel(cay, form, u, i, j, y, k, l, out):
        A = vec3(u, i)
        crossed(A, 3, y, k, out)
        store(cross(A, vec3(y, l)) + vec3(u, j), out, l)

    return kernel


# In space (Q, pi) -> (R Q, R pi + V m), in body variables (Q, Pi) -> (Q R', R Pi + V m).
move_space, velocity_space = _move(turn_columns), _velocity(cross_columns)
move_body, velocity_body = _move(turn_rows), _velocity(cross_rows)

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
