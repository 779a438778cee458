"""Commutator-free and Crouch-Grossman coefficients.

A method is a list of points. Each point is reached from the start of the step, or from an earlier point
(that is how an exponential is reused), by exponentials of combinations of the stages k_i = f(Y_i):

    Y = exp(h sum_k w_J,k k_k) ... exp(h sum_k w_1,k k_k) . base

The rows w_1, w_2, ... are given in the order in which they act. Sources: celledoni (9), 4.2 and (34); Crouch &
Grossman 1993; Jackiewicz, Marthinsen & Owren 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core.arguments import listed
from ._explicit import CONSISTENCY_TOLERANCE, check_whole, read_row

START = -1


@dataclass(frozen=True)
class Flow:
    """One point of a step: rows of weights over the stages, in the order of action, and the base.

    `base` is the number of the stage to start from (0 is Y_1 = y_n, the start of the step).
    """

    rows: Sequence[Sequence]
    base: int = 0


@dataclass(frozen=True, eq=False)
class CommutatorFree:
    """A commutator-free method: the stages after Y_1 = y_n, the result y1, and optionally an estimate.

    `stages` lists Y_2, Y_3, ...; `update` gives y1. An embedded method of order `order_hat` may use further
    stages (`extra`, numbered on after `stages`) and ends in `update_hat`; both are skipped in runs with a fixed step.
    Raises ValueError for rows that use a later stage, for a base that is not reached yet, and for weights of
    an update that do not sum to 1. The orders are taken as said: measure them with `lielab.diagnostics.order`.
    """

    name: str
    order: int
    stages: Sequence[Flow]
    update: Flow
    extra: Sequence[Flow] = ()
    update_hat: Flow | None = None
    order_hat: int = 0
    source: str = ""
    rows: np.ndarray = field(init=False, repr=False)  # (m, s) all exponentials, in order of use
    first: np.ndarray = field(init=False, repr=False)  # (points + 1,) where each point's rows begin
    base: np.ndarray = field(init=False, repr=False)  # (points,) START, or the point to act on
    b: np.ndarray = field(init=False, repr=False)  # (s,) weights of the classical method behind it
    c: np.ndarray = field(init=False, repr=False)  # (s,) nodes

    def __post_init__(self) -> None:
        # In the order of the arrays: the stages after the first, the extra ones, y1, the embedded y1.
        stages, extra = listed("stages", self.stages, "Flow"), listed("extra", self.extra, "Flow")
        points = [*stages, *extra, self.update]
        if self.update_hat is not None:
            points.append(self.update_hat)
            check_whole("order_hat", self.order_hat, "update_hat")
        check_whole("order", self.order, "update")
        for point in points:
            if not isinstance(point, Flow):
                raise ValueError(f"stages and updates must be Flow objects, got {point!r}")
        main = 1 + len(self.stages)
        count = main + len(self.extra)
        rows, first, base, sums = [], [0], [], [np.zeros(count)]
        for index, point in enumerate(points):
            label = f"stage {index + 2}" if index + 1 < count else "the update"
            if index + 1 < count:
                known = index + 1
            else:  # the update may not use the extra stages
                known = main if index + 1 == count else count
            if not 0 <= point.base < known:
                raise ValueError(
                    f"base of {label} must be 0 to {known - 1}, a stage reached before it, got {point.base}"
                )
            total = sums[point.base].copy()
            for weights in point.rows:
                row, given = np.zeros(count), read_row(f"a row of {label}", weights)
                if len(given) > count:
                    raise ValueError(
                        f"{label} has a row of {len(given)} weights for {count} stages"
                    )
                row[: len(given)] = given
                if np.any(row[known:] != 0.0):
                    raise ValueError(
                        f"{label} may use the stages 1 to {known} only (explicit), got the row {list(weights)}"
                    )
                rows.append(row)
                total += row
            first.append(len(rows))
            base.append(START if point.base == 0 else point.base - 1)
            if index + 1 < count:
                sums.append(total)
            elif not abs(total.sum() - 1.0) <= CONSISTENCY_TOLERANCE:
                raise ValueError(
                    f"the weights of an update must sum to 1 (consistency), got {float(total.sum())!r}"
                )
            elif index + 1 == count:
                object.__setattr__(self, "b", total)
        object.__setattr__(self, "rows", np.array(rows))
        object.__setattr__(self, "first", np.array(first, dtype=np.int64))
        object.__setattr__(self, "base", np.array(base, dtype=np.int64))
        object.__setattr__(self, "c", np.array([total.sum() for total in sums]))

    @property
    def embedded(self) -> bool:
        return self.update_hat is not None

    @property
    def n_exponentials(self) -> int:
        """Exponentials of a step without its estimate."""
        return sum(len(point.rows) for point in (*self.stages, self.update))

    @property
    def n_exponentials_hat(self) -> int:
        """Exponentials that the estimate adds."""
        hat = () if self.update_hat is None else (*self.extra, self.update_hat)
        return sum(len(point.rows) for point in hat)


def crouch_grossman(name: str, order: int, a: Sequence, b: Sequence, source: str) -> CommutatorFree:
    """The Crouch-Grossman method of a Butcher tableau: one exponential for each weight, k_1 acts first."""

    def one_by_one(weights: Sequence) -> Flow:
        return Flow([[0.0] * k + [w] for k, w in enumerate(weights) if w != 0.0])

    return CommutatorFree(
        name, order, [one_by_one(row) for row in a[1:]], one_by_one(b), source=source
    )


_Y2 = 1  # as a base: Flow counts Y_1 = y_n as 0
_CF4_STAGES = [
    Flow([[1 / 2]]),  # celledoni (9): Y_2 = exp(h/2 k_1) . y
    Flow([[0, 1 / 2]]),  # celledoni (9): Y_3 = exp(h/2 k_2) . y
    Flow([[-1 / 2, 0, 1]], base=_Y2),  # celledoni (9): Y_4 = exp(h k_3 - h/2 k_1) . Y_2
]
_CF4_UPDATE = Flow(
    [
        [3 / 12, 2 / 12, 2 / 12, -1 / 12],  # celledoni (9): y_half = exp(h (3/12 k_1 + ...)) . y
        [-1 / 12, 2 / 12, 2 / 12, 3 / 12],  # celledoni (9): y1 = exp(h (-1/12 k_1 + ...)) . y_half
    ]
)
CF4 = CommutatorFree("CF4", 4, _CF4_STAGES, _CF4_UPDATE, source="celledoni (9)")
CF43 = CommutatorFree(
    "CF43",
    4,
    _CF4_STAGES,
    _CF4_UPDATE,
    extra=[Flow([[0, 3 / 4]])],
    update_hat=Flow([[1 / 3], [-1 / 9, 3 / 9, 0, 0, 4 / 9]]),
    order_hat=3,
    source="celledoni (34)",
)
CF32A = CommutatorFree(
    "CF32a",
    3,
    [Flow([[1 / 3]]), Flow([[0, 2 / 3]])],
    Flow([[-1 / 12, 0, 3 / 4]], base=1),
    update_hat=Flow([[0, 1 / 2, 1 / 2]]),
    order_hat=2,
    source="celledoni 4.2.1, first pair",
)
CF32B = CommutatorFree(
    "CF32b",
    3,
    [Flow([[2 / 3]]), Flow([[5 / 12, 1 / 4]])],
    Flow([[-1 / 6, -1 / 2, 1]], base=2),
    update_hat=Flow([[1 / 4, 0, 3 / 4]]),
    order_hat=2,
    source="celledoni 4.2.1, second pair",
)
CG2 = crouch_grossman("CG2", 2, [[], [1 / 2]], [0, 1], "Crouch & Grossman 1993, the midpoint rule")
CG3 = crouch_grossman(
    "CG3",
    3,
    [[], [3 / 4], [119 / 216, 17 / 108]],
    [13 / 51, -2 / 3, 24 / 17],
    "Crouch & Grossman 1993",
)
CG4 = crouch_grossman(
    "CG4",
    4,
    [
        [],
        [0.8177227988124852],
        [0.3199876375476427, 0.0659864263556022],
        [0.9214417194464946, 0.4997857776773573, -1.0969984448371582],
        [0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465],
    ],
    [
        0.1370831520630755,
        -0.0183698531564020,
        0.7397813985370780,
        -0.1907142565505889,
        0.3322195591068374,
    ],
    "Jackiewicz, Marthinsen & Owren 2000",
)
