"""What the systems on spheres share: blocks of vectors, projection onto S^2 and its tangent bundle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._jit import jit
from ..actions import SE3_ON_TS2, SO3_R3_ON_S2_R3
from ._formulations import ActionFormulation


@jit
def weights_force(t, y, p):
    """Constant forces p_i e3, the weights in generalised coordinates."""
    out = np.zeros(3 * len(p))
    for i in range(len(p)):
        out[3 * i + 2] = p[i]
    return out


def project_sphere(y: Any) -> np.ndarray:
    """Each 3-vector of y (..., 3 n) divided by its length; ValueError where one is zero."""
    y = np.array(y, dtype=float)
    q = y.reshape(*y.shape[:-1], -1, 3)
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    if not np.all(norm > 0.0):
        raise ValueError(
            "a direction of y is zero (or not a number) and has no nearest unit vector"
        )
    return (q / norm).reshape(y.shape)


def project_ts2(y: Any) -> np.ndarray:
    """Blocks (q, w) of y (..., 6 n) with q made a unit vector and w orthogonal to it."""
    y = np.array(y, dtype=float)
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    q = project_sphere(blocks[..., 0, :])
    w = blocks[..., 1, :]
    w = w - q * (q * w).sum(-1, keepdims=True)
    return np.stack([q, w], axis=-2).reshape(y.shape)


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
