"""Connections: which of the algebra's elements that move a point alike is chosen (ortolan 5.1.3 and 6.2).

Where an action has isotropy, generator(xi, y) = v leaves xi free up to the isotropy algebra h_y, the vertical space at
y. A connection chooses a complement, the horizontal space: here the orthogonal one for an inner product on the
algebra. If that is invariant under Ad, so is the connection under the action.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import function_of, named_array
from .action import Action
from .orbits import _RANK_TOLERANCE, _check, generator_matrix


@dataclass(frozen=True)
class Connection:
    """The connection of an action whose horizontal space at y is orthogonal to the isotropy algebra of y.

    `inner_product` W (n, n), symmetric and positive definite, says what orthogonal means, xi . W eta; the identity
    where it is left out. On S^2 the horizontal elements are those with xi . y = 0, as ortolan's (6.11) takes them.

        C = Connection(SO3_ON_S2)
        C.lift(y, v)          the horizontal xi with generator(xi, y) = v
        C.horizontal(y, xi)   xi without its isotropy part: the same motion of y
        C.vertical(y, xi)     that part, the value of the connection form
        C.field(f)            the field f made horizontal, for `ActionSystem`

    Points y (point,) and algebra vectors (algebra,), one at a time; v (point,) is a tangent vector in ambient
    coordinates. A method of Lie groups takes other steps for another choice of the vertical part, since its
    exponentials turn about other axes; the flow is the same.
    """

    action: Action
    inner_product: Any = None

    def __post_init__(self) -> None:
        _check(self.action)
        if self.inner_product is None:
            return
        W = named_array("inner_product", self.inner_product)
        if W.ndim != 2 or W.shape[0] != W.shape[1] or not np.isfinite(W).all():
            raise ValueError(f"inner_product must be a finite matrix (n, n), got shape {W.shape}")
        if not np.allclose(W, W.T) or not np.linalg.eigvalsh(W).min(initial=np.inf) > 0.0:
            raise ValueError("inner_product must be symmetric and positive definite")
        object.__setattr__(self, "inner_product", tuple(map(tuple, W.tolist())))

    def _lift(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """The generator's matrix M, and its right inverse on its image: W^-1/2 (M W^-1/2)^+."""
        M = generator_matrix(self.action, y)
        if self.inner_product is None:
            return M, np.linalg.pinv(M, rcond=_RANK_TOLERANCE)
        W = np.array(self.inner_product)
        if len(W) != M.shape[1]:
            raise ValueError(
                f"inner_product must have shape ({M.shape[1]}, {M.shape[1]}) here, got {W.shape}"
            )
        L = np.linalg.inv(np.linalg.cholesky(W)).T  # W^-1 = L L'
        return M, L @ np.linalg.pinv(M @ L, rcond=_RANK_TOLERANCE)

    def lift(self, y: Any, v: Any) -> np.ndarray:
        """The horizontal xi (algebra,) with generator(xi, y) = v; ValueError where v is not tangent to the orbit."""
        M, inverse = self._lift(y)
        v = _vector("v", v, len(M))
        xi = inverse @ v
        off = np.abs(M @ xi - v).max()
        if not off <= 1e-8 * (1.0 + np.abs(v).max()):
            raise ValueError(
                f"v is not tangent to the orbit of y: the nearest tangent vector is {off:.3g} away; project v first"
            )
        return xi

    def horizontal(self, y: Any, xi: Any) -> np.ndarray:
        """The horizontal element that moves y as xi does."""
        M, inverse = self._lift(y)
        return inverse @ (M @ _vector("xi", xi, M.shape[1]))

    def vertical(self, y: Any, xi: Any) -> np.ndarray:
        """The part of xi in the isotropy algebra of y: xi - horizontal(y, xi)."""
        horizontal = self.horizontal(y, xi)
        return named_array("xi", xi) - horizontal

    def field(self, field: Callable) -> Callable:
        """field(t, y, p) with its values made horizontal, as plain Python."""
        function_of("field", field, "t, y, p")

        def horizontal_field(t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
            return self.horizontal(y, field(t, y, p))

        return horizontal_field


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    found = named_array(name, value)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise ValueError(f"{name} must be {size} finite numbers, shape ({size},), got {value!r}")
    return found
