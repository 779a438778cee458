"""Runge-Kutta coefficients as data, each with its order and source.

A `Tableau` is any explicit Butcher tableau, with an embedded weight vector `b_hat` where it is a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction as F

import numpy as np

# Row sums of coefficients typed as decimals with 15 digits pass, a slip in the 12th digit does not.
CONSISTENCY_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Tableau:
    """An explicit Butcher tableau: a (s, s) strictly lower triangular, b (s,), optionally b_hat (s,).

    `order` is the order of b, `order_hat` that of b_hat. Rows of `a` may be given as ragged lists. The nodes
    are the row sums of a. Raises ValueError for a tableau that is not explicit or not consistent.
    """

    name: str
    order: int
    a: Sequence
    b: Sequence
    b_hat: Sequence | None = None
    order_hat: int = 0
    source: str = ""
    c: np.ndarray = field(init=False, compare=False)

    def __post_init__(self) -> None:
        b = np.array([float(x) for x in self.b])
        s = len(b)
        a = np.zeros((s, s))
        rows = list(self.a)
        if len(rows) != s:
            raise ValueError(
                f"a must have {s} rows like b has entries, got {len(rows)}; include the empty first row"
            )
        for i, row in enumerate(rows):
            row = [float(x) for x in row]
            if any(x != 0.0 for x in row[i:]):
                raise ValueError(
                    f"a must be strictly lower triangular (explicit), got row {i + 1}: {row}"
                )
            a[i, : min(i, len(row))] = row[:i]
        self._sums_to_one("b", b)
        if self.b_hat is not None:
            b_hat = np.array([float(x) for x in self.b_hat])
            if len(b_hat) != s:
                raise ValueError(f"b_hat must have {s} entries like b, got {len(b_hat)}")
            self._sums_to_one("b_hat", b_hat)
            object.__setattr__(self, "b_hat", b_hat)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "c", a.sum(axis=1))

    @staticmethod
    def _sums_to_one(name: str, weights: np.ndarray) -> None:
        total = weights.sum()
        if not abs(total - 1.0) <= CONSISTENCY_TOLERANCE:
            raise ValueError(
                f"{name} must sum to 1 (consistency), got {total!r}; check its entries"
            )

    @property
    def stages(self) -> int:
        return len(self.b)


EULER = Tableau("Euler", 1, [[]], [1], source="celledoni 2.2")
HEUN = Tableau("Heun", 2, [[], [1]], [F(1, 2), F(1, 2)], source="celledoni 5.3")
RK4 = Tableau(
    "RK4",
    4,
    [[], [F(1, 2)], [0, F(1, 2)], [0, 0, 1]],
    [F(1, 6), F(1, 3), F(1, 3), F(1, 6)],
    source="Kutta 1901",
)
DORMAND_PRINCE_54 = Tableau(
    "Dormand-Prince 5(4)",
    5,
    [
        [],
        [F(1, 5)],
        [F(3, 40), F(9, 40)],
        [F(44, 45), F(-56, 15), F(32, 9)],
        [F(19372, 6561), F(-25360, 2187), F(64448, 6561), F(-212, 729)],
        [F(9017, 3168), F(-355, 33), F(46732, 5247), F(49, 176), F(-5103, 18656)],
        [F(35, 384), 0, F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84)],
    ],
    [F(35, 384), 0, F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84), 0],
    b_hat=[
        F(5179, 57600),
        0,
        F(7571, 16695),
        F(393, 640),
        F(-92097, 339200),
        F(187, 2100),
        F(1, 40),
    ],
    order_hat=4,
    source="Dormand & Prince 1980; celledoni 4.1",
)
