"""What the systems on spheres share: blocks of vectors, their names and the two actions of the pendula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..actions import SE3_ON_TS2, SO3_R3_ON_S2_R3
from ..actions.motions import project_ts2
from ..actions.rotations import project_sphere
from ..core.jit import jit
from ..formulations.forms import ActionFormulation

__all__ = [
    "block_names",
    "project_sphere",
    "project_ts2",
    "two_actions",
    "weights_force",
    "with_directions",
]


@jit
def weights_force(t, y, p):
    """Constant forces p_i e3, the weights in generalised coordinates."""
    out = np.zeros(3 * len(p))
    for i in range(len(p)):
        out[3 * i + 2] = p[i]
    return out


def block_names(n: int, second: str = "w") -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Parts q1, w1, q2, w2, ... of n blocks; only directions where `second` is empty."""
    names = ("q", second) if second else ("q",)
    return tuple((f"{name}{i}", (3,)) for i in range(1, n + 1) for name in names)


def two_actions(
    field: Callable, lifted_field: Callable, params: np.ndarray
) -> dict[str, ActionFormulation]:
    """What the pendula offer: SE(3) on TS^2 (celledoni 5.1), and the lift to SO(3) x R^3 (ortolan 6.1)."""
    return {
        "TS2": ActionFormulation(SE3_ON_TS2, field, params),
        "lift": ActionFormulation(SO3_R3_ON_S2_R3, lifted_field, params),
    }


def with_directions(form: ActionFormulation) -> dict[str, ActionFormulation]:
    """What systems of directions turned by rotations offer: the action, and the same for the spherical midpoint."""
    return {"action": form, "directions": form}
