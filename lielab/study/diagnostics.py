"""Measuring methods: observed order, drift of invariants, distance from the manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.arguments import function_of
from ..solve import Solution
from .orders import OrderStudy, asymptotic_window, end_states, order, order_table, reference_state
from .report_card import ReportCard, report_card, stored_report_card
from .structure import (
    DriftRow,
    energy_drift_test,
    line,
    reversibility,
    symmetry,
    symplectic_form,
    symplecticity,
    volume,
)

__all__ = [
    "Drift",
    "DriftRow",
    "ReportCard",
    "OrderStudy",
    "asymptotic_window",
    "defect",
    "drift",
    "end_states",
    "energy_drift_test",
    "order",
    "order_table",
    "reference_state",
    "report_card",
    "reversibility",
    "stored_report_card",
    "symmetry",
    "symplectic_form",
    "symplecticity",
    "volume",
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
    slope, error = line(solution.t, trend) if len(trend) > 2 else (np.nan, np.nan)
    return Drift(float(size.max()), slope, error)


def _values(solution: Solution, quantity: str | Callable) -> np.ndarray:
    if not isinstance(solution, Solution):
        raise ValueError(f"solution must be what solve returned, got {solution!r}")
    if callable(quantity):
        function_of("quantity", quantity, "y")
        return np.asarray(quantity(solution.y))
    if quantity == "energy":
        return solution.energy()
    known = solution.system.invariants
    if not isinstance(quantity, str) or quantity not in known:
        raise ValueError(
            f"quantity must be one of {', '.join(known)} or a function, got {quantity!r}"
        )
    return np.asarray(known[quantity](solution.y))


def defect(solution: Solution) -> float:
    """Largest distance of the solution from the manifold."""
    return float(np.max(_values(solution, lambda y: solution.system.defect(y))))
