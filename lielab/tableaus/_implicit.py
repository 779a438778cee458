"""Implicit Runge-Kutta tableaus: the collocation methods of Gauss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ._explicit import check_order, read_row


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
        b, rows = read_row("b", self.b), np.atleast_1d(np.asarray(self.a, dtype=object))
        a = [read_row(f"row {i + 1} of a", row) for i, row in enumerate(rows)]
        if [len(row) for row in a] != [len(b)] * len(b):
            shape = f"rows of {', '.join(str(len(row)) for row in a)}"
            raise ValueError(f"a must have shape ({len(b)}, {len(b)}) like b, got {shape}")
        a = np.array(a)
        check_order("b", "order", self.order, a, b, 99)
        for name, value in (("a", a), ("b", b), ("c", a.sum(axis=1))):
            object.__setattr__(self, name, value)

    @property
    def stages(self) -> int:
        return len(self.b)


_3, _15 = sqrt(3.0), sqrt(15.0)
_SOURCE = "Hairer, Lubich & Wanner II.1"
GAUSS2 = ImplicitTableau("Gauss 2 (midpoint)", 2, [[0.5]], [1.0], _SOURCE)
GAUSS4 = ImplicitTableau(  # of RKMKGL4, ortolan 7.1.2; c = 1/2 - _3/6, 1/2 + _3/6
    "Gauss 4",
    4,
    [
        [1 / 4, 1 / 4 - _3 / 6],
        [1 / 4 + _3 / 6, 1 / 4],
    ],
    [1 / 2, 1 / 2],
    _SOURCE,
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
