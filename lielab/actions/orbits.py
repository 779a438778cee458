"""Orbits of an action, from its generator: isotropy, orbit dimension, transitivity.

All three look at the linear map xi -> generator(xi, y): its kernel is the algebra of the isotropy group of y,
its image the tangent space of the orbit. Ranks are numerical, with a relative tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arguments import named_array
from .action import Action

_RANK_TOLERANCE = 1e-9


def generator_matrix(action: Action, y: Any) -> np.ndarray:
    """The matrix whose columns are generator(e_k, y): (point, algebra)."""
    _check(action)
    y = named_array("y", y)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError(f"y must be one point, a finite flat array, got {y!r}")
    n = action.algebra_dim(len(y))
    return np.stack([action.generator(e, y) for e in np.eye(n)], axis=1)


def isotropy(action: Action, y: Any) -> np.ndarray:
    """Orthonormal basis of the isotropy algebra {xi: generator(xi, y) = 0}: rows, shape (k, algebra).

    A field f(t, y) in the algebra is determined only up to these; k = 0 means that the action is free near y.
    """
    M = generator_matrix(action, y)
    _, s, Vt = np.linalg.svd(M)
    return Vt[_rank(s) :]


def orbit_dimension(action: Action, y: Any) -> int:
    """Dimension of the orbit through y."""
    return _rank(np.linalg.svd(generator_matrix(action, y), compute_uv=False))


def is_transitive(action: Action, y: Any) -> bool:
    """True where the orbit of y has the dimension of the manifold, so that every vector field is reached.

    Raises ValueError where the action does not declare the dimension of its manifold.
    """
    _check(action)
    if action.dimension is None:
        raise ValueError(f"the action {action.name} does not declare the dimension of its manifold")
    rank = orbit_dimension(action, y)
    return rank == (np.size(y) // action.point if action.blocks else 1) * action.dimension


def _check(action: Any) -> None:
    if not isinstance(action, Action):
        raise ValueError(f"action must be an Action, got {action!r}; see lielab.actions")


def _rank(singular_values: np.ndarray) -> int:
    if not len(singular_values):
        return 0
    return int(
        np.count_nonzero(singular_values > _RANK_TOLERANCE * max(singular_values[0], 1e-300))
    )
