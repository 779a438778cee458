"""Measuring methods: observed order, drift of invariants, distance from the manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .orders import OrderStudy, asymptotic_window, order, order_table, reference_state
from .solve import Solution

__all__ = [
    "Drift",
    "OrderStudy",
    "asymptotic_window",
    "defect",
    "drift",
    "order",
    "order_table",
    "reference_state",
]


@dataclass(frozen=True)
class Drift:
    """How a quantity moves along a run: largest deviation from its start, and its linear trend.

    `slope` is per unit of time with `slope_error` its standard error from the fit's residual.
    """

    largest: float
    slope: float
    slope_error: float


def drift(solution: Solution, quantity: str | Callable = "energy") -> Drift:
    """Drift of an invariant (by name, or a function of states) along a solution."""
    values = _values(solution, quantity)
    values = values.reshape(len(values), -1)
    moved = values - values[0]
    size = np.linalg.norm(moved, axis=1)
    trend = moved[:, np.argmax(np.abs(moved).max(axis=0))]
    slope, error = _line(solution.t, trend)
    return Drift(float(size.max()), slope, error)


def _values(solution: Solution, quantity: str | Callable) -> np.ndarray:
    if callable(quantity):
        return np.asarray(quantity(solution.y))
    if quantity == "energy":
        return solution.energy()
    known = solution.system.invariants
    if quantity not in known:
        raise ValueError(
            f"quantity must be one of {', '.join(known)} or a function, got {quantity!r}"
        )
    return np.asarray(known[quantity](solution.y))


def _line(t: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Slope of the least-squares line and its standard error."""
    if len(t) < 3:
        return float("nan"), float("nan")
    centred = t - t.mean()
    spread = float(centred @ centred)
    slope = float(centred @ values) / spread
    residual = values - values.mean() - slope * centred
    return slope, float(np.sqrt(residual @ residual / (len(t) - 2) / spread))


def defect(solution: Solution) -> float:
    """Largest distance of the solution from the manifold."""
    return float(np.max(solution.defect()))
