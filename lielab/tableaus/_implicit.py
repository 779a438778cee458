"""Implicit Runge-Kutta tableaus: the collocation methods of Gauss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ._explicit import CONSISTENCY_TOLERANCE
from ._trees import classical_order


@dataclass(frozen=True, eq=False)
class ImplicitTableau:
    """A full Butcher tableau: a (s, s), b (s,); the nodes c are the row sums of a.

    Raises ValueError where the shapes do not fit, b does not sum to 1, or the order is lower than claimed.
    """

    name: str
    order: int
    a: Sequence
    b: Sequence
    source: str = ""
    c: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        a, b = np.array(self.a, dtype=float), np.array(self.b, dtype=float)
        if b.ndim != 1 or a.shape != (len(b), len(b)):
            raise ValueError(f"a must have shape ({len(b)}, {len(b)}) like b, got {a.shape}")
        if not abs(b.sum() - 1.0) <= CONSISTENCY_TOLERANCE:
            raise ValueError(f"b must sum to 1 (consistency), got {b.sum()!r}; check its entries")
        found = classical_order(a, b, self.order)
        if found < self.order:
            raise ValueError(f"order = {self.order}, but b has order {found}; check the entries")
        for name, value in (("a", a), ("b", b), ("c", a.sum(axis=1))):
            object.__setattr__(self, name, value)

    @property
    def stages(self) -> int:
        return len(self.b)


_3, _15 = sqrt(3.0), sqrt(15.0)
_SOURCE = "Hairer, Lubich & Wanner II.1"
GAUSS2 = ImplicitTableau("Gauss 2 (midpoint)", 2, [[0.5]], [1.0], _SOURCE)
GAUSS4 = ImplicitTableau(
    "Gauss 4", 4, [[1 / 4, 1 / 4 - _3 / 6], [1 / 4 + _3 / 6, 1 / 4]], [1 / 2, 1 / 2], _SOURCE
)
GAUSS6 = ImplicitTableau(
    "Gauss 6",
    6,
    [
        [5 / 36, 2 / 9 - _15 / 15, 5 / 36 - _15 / 30],
        [5 / 36 + _15 / 24, 2 / 9, 5 / 36 - _15 / 24],
        [5 / 36 + _15 / 30, 2 / 9 + _15 / 15, 5 / 36],
    ],
    [5 / 18, 4 / 9, 5 / 18],
    _SOURCE,
)
