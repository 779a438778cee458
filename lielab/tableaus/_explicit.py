"""Explicit Butcher tableaus and embedded pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction as F
from functools import cached_property
from typing import Any

import numpy as np

from ..core.arguments import as_real
from ._trees import classical_order

# Row sums of coefficients typed as decimals with 15 digits pass, a slip in the 12th digit does not.
CONSISTENCY_TOLERANCE = 1e-12
_CHECKED_ORDER = 5  # 17 trees, a millisecond; the built-in ones are tested to their full order


@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit Butcher tableau: a (s, s) strictly lower triangular, b (s,), optionally b_hat (s,).

    `order` is the order of b, `order_hat` that of b_hat. `b_low`, of order `order_low`, is a second embedded
    method: the two estimates are then combined as in DOP853. Rows of `a` may be given as ragged lists; the nodes c
    are the row sums of a. Raises ValueError for a tableau that is not explicit, not consistent, or of lower
    order than it claims (checked up to order 5).
    """

    name: str
    order: int
    a: Sequence
    b: Sequence
    b_hat: Sequence | None = None
    order_hat: int = 0
    b_low: Sequence | None = None
    order_low: int = 0
    source: str = ""
    c: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        b = read_row("b", self.b)
        a = _lower_triangular(self.a, len(b))
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "c", a.sum(axis=1))
        for name, claimed in (("b", "order"), ("b_hat", "order_hat"), ("b_low", "order_low")):
            if getattr(self, name) is None:
                continue
            weights = read_row(name, getattr(self, name))
            if len(weights) != len(b):
                raise ValueError(f"{name} must have {len(b)} entries like b, got {len(weights)}")
            check_order(name, claimed, getattr(self, claimed), a, weights)
            object.__setattr__(self, name, weights)
        if self.b_low is not None and self.b_hat is None:
            raise ValueError("b_low is the second of two estimates; give the first one as b_hat")

    @property
    def stages(self) -> int:
        return len(self.b)

    def step(self, f: Callable[[np.ndarray], Any], y: Any, h: float) -> np.ndarray:
        """One step of the classical method for y' = f(y), by addition: y1 = y + h sum_i b_i k_i.

        k_i = f(y + h sum_j a_ij k_j); y and f(y) are arrays of one shape, whatever it is. In NumPy and without a group,
        for comparisons on paper: `solve(..., method="RK4")` is compiled.
        """
        y = np.asarray(y, dtype=float)
        k: list[np.ndarray] = []
        for row in self.a:
            k.append(
                np.asarray(f(y + h * sum(a * slope for a, slope in zip(row, k, strict=False))))
            )
        return y + h * sum(b * slope for b, slope in zip(self.b, k, strict=True))

    @property
    def embedded(self) -> bool:
        """Does it carry an error estimate?"""
        return self.b_hat is not None

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of a, and b below them: (s + 1, s)."""
        return np.vstack([self.a, self.b])

    @cached_property
    def errors(self) -> np.ndarray:
        """Weights of the error estimates, (0, s), (1, s) or (2, s): b - b_hat, b - b_low."""
        given = [self.b - w for w in (self.b_hat, self.b_low) if w is not None]
        return np.array(given).reshape(-1, len(self.b))

    @property
    def error_order(self) -> int:
        """The estimated error of one step shrinks like h^(error_order + 1)."""
        if self.b_low is None:
            return self.order_hat
        return 2 * (self.order_hat + 1) - (self.order_low + 1) - 1

    @cached_property
    def fsal(self) -> bool:
        """Is the last stage the first of the next step?"""
        return bool(self.stages > 1 and np.array_equal(self.a[-1], self.b))

    @cached_property
    def exponentials(self) -> int:
        """How many points besides y a step of fixed size moves to."""
        moved = int(np.count_nonzero(np.abs(self.a).sum(axis=1)))
        return moved if self.fsal else moved + 1


def read_row(name: str, row: Any) -> np.ndarray:
    """Coefficients (numbers, fractions) as floats; ValueError for what is not a row of finite numbers."""
    try:
        values = [as_real(x) for x in row]
    except TypeError:
        values = [None]
    if any(x is None or not math.isfinite(x) for x in values):
        raise ValueError(f"{name} must be a row of finite numbers, got {row!r}")
    return np.array(values, dtype=float)


def check_whole(claimed: str, order: Any, name: str) -> None:
    """ValueError for an order that is not a whole number of at least 1."""
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 1:
        raise ValueError(
            f"{claimed} must be a whole number, at least 1 where {name} is given, got {order!r}"
        )


def check_order(
    name: str, claimed: str, order: Any, a: np.ndarray, b: np.ndarray, largest: int = _CHECKED_ORDER
) -> None:
    """ValueError where the weights b are not consistent, or of lower order than claimed (checked up to `largest`)."""
    total = float(b.sum())
    if not abs(total - 1.0) <= CONSISTENCY_TOLERANCE:
        raise ValueError(f"{name} must sum to 1 (consistency), got {total!r}; check its entries")
    check_whole(claimed, order, name)
    found = classical_order(a, b, min(order, largest))
    if found < min(order, largest):
        raise ValueError(
            f"{claimed} = {order}, but {name} has order {found}; check the entries or say {claimed}={found}"
        )


def _lower_triangular(rows: Any, s: int) -> np.ndarray:
    try:
        a, rows = np.zeros((s, s)), list(rows)
    except TypeError:
        raise ValueError(f"a must be a list of {s} rows, got {rows!r}") from None
    if len(rows) != s:
        raise ValueError(
            f"a must have {s} rows like b has entries, got {len(rows)}; include the empty first row"
        )
    for i, row in enumerate(rows):
        row = read_row(f"row {i + 1} of a", row).tolist()
        if any(x != 0.0 for x in row[i:]):
            raise ValueError(
                f"a must be strictly lower triangular (explicit), got row {i + 1}: {row}"
            )
        a[i, : min(i, len(row))] = row[:i]
    return a


EULER = Tableau("Euler", 1, [[]], [1], source="celledoni 2.2")
MIDPOINT = Tableau("midpoint", 2, [[], [F(1, 2)]], [0, 1], source="Runge 1895")
HEUN = Tableau("Heun", 2, [[], [1]], [F(1, 2), F(1, 2)], source="celledoni 5.3")
KUTTA3 = Tableau(
    "Kutta 3", 3, [[], [F(1, 2)], [-1, 2]], [F(1, 6), F(2, 3), F(1, 6)], source="Kutta 1901"
)
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
DORMAND_PRINCE_5 = Tableau(
    "Dormand-Prince 5",
    5,
    DORMAND_PRINCE_54.a[:-1],
    DORMAND_PRINCE_54.b[:-1],
    source="Dormand & Prince 1980, without the stage of the pair",
)
