"""What an action is: kernels on flat arrays, dimensions, and the distance from the manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import count, named_array
from ..core.kernels import Kernel
from ..core.travel import Value, same
from ..groups import so3

# A point further than this from its manifold is refused by `check`: initial data typed with nine digits
# pass, a vector that was never normalised does not.
POINT_TOLERANCE = 1e-8
_ROUND = 1e-15  # of a distance: there `descend` stops
_DESCENTS = 100
_MOVES = ("exp_act", "generator", "cay_act")
KERNELS = ("exp_act", "dexpinv", "bracket", "generator", "cay_act", "dcayinv")


def sample_sphere(n: int) -> Callable:
    """Random unit vectors in R^n, as the `sample` of an action."""

    def sample(rng: np.random.Generator) -> np.ndarray:
        q = rng.standard_normal(n)
        return q / np.linalg.norm(q)

    return sample


def unit(y: np.ndarray) -> np.ndarray:
    """The vectors y (..., n) divided by their lengths; ValueError where one is zero."""
    norm = np.linalg.norm(y, axis=-1, keepdims=True)
    if not np.all(norm > 0.0):
        raise ValueError(
            "a direction of y is zero (or not a number) and has no nearest unit vector"
        )
    return y / norm


def points(y: Any, least: int, several: bool = False) -> np.ndarray:
    """Points (..., n) with n at least `least`, or a multiple of it where there are `several` blocks; or ValueError."""
    y = y if type(y) is np.ndarray and y.dtype == float else named_array("y", y)
    n = y.shape[-1] if y.ndim else 0
    if n < least or (several and n % least):
        wanted = f"a multiple of {least}" if several else f"at least {least}"
        raise ValueError(f"y must be points of shape (..., n), n {wanted}, got {y.shape}")
    return y


def named(name: str) -> Action:
    """The action of that name in `lielab.actions`."""
    from .. import actions

    return getattr(actions, name)


def descend(distance: Callable, y: np.ndarray) -> np.ndarray:
    """The point y (n,) moved along the gradient of its distance d from a manifold until d is round-off.

    Newton's step for d = 0. The differences are shorter than d, which has a kink on the manifold.
    """

    def gradient(step: float) -> np.ndarray:
        moves = step * np.eye(len(y))
        return (distance(y + moves) - distance(y - moves)) / (2.0 * step)

    d = float(distance(y))
    for _ in range(_DESCENTS + len(y)):
        if not _ROUND < d < np.inf:
            break
        slope = gradient(0.1 * d)
        steep = np.linalg.norm(slope)
        if steep > 2.0:  # they were too long
            slope = gradient(0.1 * d / steep)
        moved = y - d / max(slope @ slope, 1e-300) * slope
        after = float(distance(moved))
        if not after <= d:
            break
        y, d = moved, after
    return y


@dataclass(frozen=True, eq=False, repr=False)
class Action(Value):
    """A left action of a group on a manifold, as kernels on flat arrays.

    Each is made from a function that returns a new array or from one that fills its third argument, and is called with
    two: see `lielab.core.kernels.Kernel`.

    exp_act(xi, y) -> exp(xi) . y; dexpinv(u, v) -> dexp_u^-1 v (right-trivialised); bracket(u, v) -> [u, v];
    generator(xi, y) -> d/dt exp(t xi) . y at t = 0, in ambient coordinates; cay_act and dcayinv are the same
    with the Cayley map, where there is one. dexpinv and bracket are None for frame fields without an algebra.

    `algebra` and `point` are the dimensions (of one block where `blocks` is true). `distance(y)` gives the
    distance of points (..., n) from the manifold, None where the manifold is the whole space; `manifold` names
    it and `dimension` is its dimension (of one block, too), None where it was not declared. `nearest(y)` gives points
    (..., n) on it near to y, for `project`, which finds its own way without. `sample(rng)` gives a random point, for
    `lielab.testing.check_action`. `rotations` tells where rotation matrices begin in a point and how far apart their
    rows are: methods bring these back onto SO(3) where round-off has moved them, once a step.
    """

    name: str
    group: str
    manifold: str
    algebra: int
    point: int
    exp_act: Callable
    dexpinv: Callable | None
    bracket: Callable | None
    generator: Callable
    cay_act: Callable | None = None
    dcayinv: Callable | None = None
    blocks: bool = False
    distance: Callable[[np.ndarray], np.ndarray] | None = None
    dimension: int | None = None
    sample: Callable[[np.random.Generator], np.ndarray] | None = None
    rotations: tuple[tuple[int, int], ...] = ()
    nearest: Callable[[np.ndarray], np.ndarray] | None = None

    def __post_init__(self) -> None:
        count("algebra", self.algebra)
        count("point", self.point)
        for name in KERNELS:
            function = getattr(self, name)
            if function is None and name in ("exp_act", "generator"):
                raise ValueError(f"{name} must be a function (xi, y), got None")
            if function is not None:
                kernel = function if isinstance(function, Kernel) else Kernel(function, name)
                object.__setattr__(self, name, kernel.of(name, name in _MOVES, self))

    def __repr__(self) -> str:
        """Without the kernels, whose texts hold addresses."""
        return f"Action({self.name!r}: {self.group} on {self.manifold})"

    def __eq__(self, other: object) -> bool:
        """Made by the same call, or of the same functions."""
        if not isinstance(other, Action):
            return NotImplemented
        mine, theirs = (vars(action).get("_made") for action in (self, other))
        if mine is not None or theirs is not None:
            return same(mine, theirs)
        return same(vars(self), vars(other))

    def __hash__(self) -> int:
        return hash((self.name, self.algebra, self.point))

    def algebra_dim(self, n: int) -> int:
        """Dimension of the algebra that acts on points of length n; ValueError where n does not fit."""
        n = n if type(n) is int else count("n", n)
        fits = n % self.point == 0 and n > 0 if self.blocks else n == self.point
        if not fits:
            wanted = f"a multiple of {self.point}" if self.blocks else str(self.point)
            raise ValueError(f"y must have length {wanted} for the action {self.name}, got {n}")
        return self.algebra * (n // self.point)

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of y, shape (..., n), from the manifold: shape (...)."""
        y = y if type(y) is np.ndarray and y.dtype == float else named_array("y", y)
        self.algebra_dim(y.shape[-1] if y.ndim else 0)
        with np.errstate(all="ignore"):
            return np.zeros(y.shape[:-1]) if self.distance is None else self.distance(y)

    def attempt(self, y: np.ndarray) -> None:
        """Try a reader's own kernels once at y; ValueError where one does not do what its kind must."""
        zero = np.zeros(self.algebra_dim(len(y)))
        for name in KERNELS:
            kernel = getattr(self, name)
            if kernel is not None:
                kernel.attempt(zero, y if name in _MOVES else zero)

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where y, shape (n,), is not on the manifold."""
        y = named_array("y", y)
        if y.ndim != 1:
            raise ValueError(f"y must be one point, flat, got shape {y.shape}")
        self.algebra_dim(len(y))
        defect = float(self.defect(y))
        if not defect <= POINT_TOLERANCE:
            maker, arguments, _ = vars(self).get("_made") or (None, (), {})
            place = f"lielab.actions.{arguments[0]}" if maker is named else "action"
            raise ValueError(
                f"y is not on {self.manifold}: distance {defect:.3g}, at most {POINT_TOLERANCE:g} is accepted; "
                f"use {place}.project(y)"
            )

    def project(self, y: np.ndarray) -> np.ndarray:
        """Points near y, shape (..., n), on the manifold to round-off: for data with few digits or single precision.

        By `nearest` where the action has it, and rotations by the nearest ones; else along the gradient of the
        distance, which leads to a near point, not exactly the nearest. ValueError where the manifold is not reached.
        """
        y = named_array("y", y)
        self.algebra_dim(y.shape[-1] if y.ndim else 0)
        if self.distance is None:
            return y
        if not np.isfinite(y).all():
            raise ValueError("y must be finite; remove NaN and inf first")
        with np.errstate(all="ignore"):
            return self._projected(y)

    def _projected(self, y: np.ndarray) -> np.ndarray:
        for first, row in self.rotations:
            at = (first + row * np.arange(3)[:, None] + np.arange(3)).ravel()
            y[..., at] = so3.project(y[..., at].reshape(*y.shape[:-1], 3, 3)).reshape(
                *y.shape[:-1], 9
            )
        if self.nearest is not None:
            y = self.nearest(y)
        else:
            rows = y.reshape(-1, self.point if self.blocks else y.shape[-1])
            y = np.array([descend(self.distance, row) for row in rows]).reshape(y.shape)
        if not np.all(self.distance(y) <= POINT_TOLERANCE):
            raise ValueError(f"y is too far from {self.manifold} to be projected onto it")
        return y
