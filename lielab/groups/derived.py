"""What every group offers on top of its own formulas: left trivialisation, truncated series, means.

What is a line beside its docstring (identity, parts, integrate) stands in each group: the shapes differ.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .batch import floats
from .scalars import bernoulli
from .signatures import Interpolate, Mean, OfVectors, Series

_MEAN_TOLERANCE = (
    1e-14  # length of the last update of a mean, relative to the spread of the elements
)
_MEAN_ITERATIONS = 100


def left(tangent: Callable, doc: str = "") -> OfVectors:
    """The left-trivialised version of a right-trivialised tangent map: its value at -u."""

    def public(u: Any) -> np.ndarray:
        return tangent(-floats("u", u))

    public.__name__ = public.__qualname__ = f"{tangent.__name__}_left"
    public.__module__ = tangent.__module__
    base = tangent.__name__.removesuffix("inv")
    map_name = base.removeprefix("d")
    inverse = "inverse of the " if tangent.__name__ != base else ""
    public.__doc__ = doc or (
        f"{inverse}left-trivialised tangent of {map_name}, {tangent.__name__}(-u):\n"
        f"    d/dt {map_name}(u) = {map_name}(u) hat({base}_left_u u'). Shapes (..., n) -> (..., n, n)."
    ).replace("inverse of the left", "Inverse of the left", 1)
    public.__doc__ = public.__doc__[0].upper() + public.__doc__[1:]
    return public


def truncated(ad: Callable) -> tuple[Series, Series]:
    """dexp_series and dexpinv_series of a group, from its ad."""

    def power_series(u: Any, coefficients: list[float]) -> np.ndarray:
        A = ad(u)
        one = np.broadcast_to(np.eye(A.shape[-1]), A.shape)
        total = coefficients[-1] * one
        for c in reversed(coefficients[:-1]):
            total = A @ total + c * one
        return total

    def dexp_series(u: Any, order: int) -> np.ndarray:
        """sum_(k <= order) ad_u^k/(k+1)!: dexp cut after `order` commutators. (..., n) -> (..., n, n)."""
        count = _order(order)
        return power_series(u, [1.0 / math.factorial(k + 1) for k in range(count + 1)])

    def dexpinv_series(u: Any, order: int) -> np.ndarray:
        """sum_(k <= order) B_k/k! ad_u^k, B_1 = -1/2: dexpinv cut after `order` commutators (celledoni (8)).

        Shapes (..., n) -> (..., n, n). The series converges where the eigenvalues of ad_u are below 2 pi.
        """
        count = _order(order)
        numbers = bernoulli(count)
        return power_series(u, [float(b / math.factorial(k)) for k, b in enumerate(numbers)])

    for function in (dexp_series, dexpinv_series):
        function.__module__, function.__qualname__ = ad.__module__, function.__name__
    return dexp_series, dexpinv_series


def _order(order: int) -> int:
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or not 0 <= order <= 60:
        raise ValueError(f"order must be a whole number of commutators from 0 to 60, got {order!r}")
    return int(order)


def interpolated(group: Any, g: Any, h: Any, t: Any) -> np.ndarray:
    """g exp(t log(g^-1 h)) in a group whose elements are arrays."""
    t = floats("t", t)
    if not np.isfinite(t).all():
        raise ValueError(f"t must be finite, got {t!r}; remove NaN and inf first")
    u = group.log(group.compose(group.inverse(g), h))
    try:
        u = t[..., None] * u
    except ValueError:
        raise ValueError(
            f"the batch axes of t {t.shape} and of g and h {u.shape[:-1]} do not broadcast; "
            "give them equal lengths or length 1"
        ) from None
    return group.compose(g, group.exp(u))


def averaged(group: Any, elements: Any, weights: Any) -> np.ndarray:
    """The fixed point of averaging logarithms in a group whose elements are arrays."""
    elements = floats("elements", elements)
    if elements.ndim != 1 + len(group.shape) or not len(elements):
        raise ValueError(
            f"elements must have shape (n, {', '.join(map(str, group.shape))}) with n > 0, "
            f"got {elements.shape}"
        )
    w = np.ones(len(elements)) if weights is None else floats("weights", weights)
    if w.shape != (len(elements),) or not np.isfinite(w).all() or w.min() < 0 or w.sum() <= 0:
        raise ValueError(
            f"weights must be {len(elements)} non-negative numbers, not all 0, got {weights!r}"
        )
    w = w / w.sum()
    centre = elements[np.argmax(w)]
    for _ in range(_MEAN_ITERATIONS):
        logs = group.log(group.compose(group.inverse(centre), elements))
        step = w @ logs
        centre = group.compose(centre, group.exp(step))
        if np.linalg.norm(step) <= _MEAN_TOLERANCE * (1.0 + np.abs(logs).max()):
            return centre
    raise ValueError(
        f"the mean did not converge in {_MEAN_ITERATIONS} iterations: the elements are spread too widely for a "
        "unique mean; start from fewer of them"
    )


def interpolator(module: str) -> Interpolate:
    """interpolate(g, h, t) of the group in this module: along the one-parameter subgroup from g to h."""

    def interpolate(g: Any, h: Any, t: Any) -> np.ndarray:
        """g exp(t log(g^-1 h)): g at t = 0, h at t = 1, with constant body velocity; any t, an array of times too.

        Batch axes of g, h and t broadcast. On SO(2) and SO(3) the shortest geodesic; on SE(2) and SE(3) the screw
        motion (the group's exponential, not a Riemannian geodesic). Where the rotation from g to h is half a turn (the
        cut locus) both ways are equally short, and the one of `log` is taken: to one side of it the path jumps. On
        unit quaternions the way from g to h itself, up to a whole turn long; -h is the same rotation, and nearer where
        g . h < 0. Raises ValueError where log does.
        """
        return interpolated(sys.modules[module], g, h, t)

    interpolate.__module__, interpolate.__qualname__ = module, "interpolate"
    return interpolate


def averager(module: str) -> Mean:
    """mean(elements, weights) of the group in this module: the fixed point of averaging logarithms."""

    def mean(elements: Any, weights: Any = None) -> np.ndarray:
        """The element m with sum_i w_i log(m^-1 g_i) = 0; elements (n, *shape), weights (n,) or equal ones.

        On SO(2) and SO(3) the Riemannian (Karcher) mean, the only such m near elements that lie in a ball of radius
        pi/2. Wider apart there may be several, of which the one found depends on the element of the largest weight,
        where the iteration starts; it need not have the least sum of squares. On SE(2) and SE(3) the mean of the
        group's exponential, invariant under translations from both sides, unique where the rotations are within pi/2.
        On unit quaternions the mean on the double cover: q and -q are two elements, and rotations far apart can have
        another mean there than on SO(3), or none; turn signs first (q_i . q_1 >= 0), or average on SO(3). Raises
        ValueError for no elements, weights that do not sum to a positive number, or no convergence. Source: Karcher
        (1977); where no metric is invariant from both sides, the exponential barycentre of Pennec & Arsigny (2013).
        """
        return averaged(sys.modules[module], elements, weights)

    mean.__module__, mean.__qualname__ = module, "mean"
    return mean
