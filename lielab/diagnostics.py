"""Measuring methods: observed order, drift of invariants, distance from the manifold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .methods import Method
from .solve import Solution, solve
from .systems import System

# Errors closer than this factor to the round-off floor say nothing about the order.
_FLOOR_FACTOR = 100.0
# Neighbouring slopes in the asymptotic window differ by less than this.
_STEADY = 0.25
_MIN_POINTS = 4


@dataclass(frozen=True)
class OrderStudy:
    """Errors against step sizes, and the order measured inside the asymptotic window.

    h (n,) decreasing, errors (n,); `window` (n,) marks the points that the fit used; `order` is the slope of
    log(error) over log(h) there. `order` is NaN where fewer than four points qualify; then `message` says why.
    """

    method: str
    h: np.ndarray
    errors: np.ndarray
    window: np.ndarray
    order: float
    message: str


def order(
    system: System,
    method: str | Method,
    *,
    t_end: float = 1.0,
    steps: Sequence[int] = (8, 16, 32, 64, 128, 256, 512, 1024),
    y0: Any = None,
    reference: np.ndarray | None = None,
    **options: Any,
) -> OrderStudy:
    """Measured order of a method: errors at t_end for several numbers of steps, slope in the asymptotic window.

    `reference` (dim,) is the exact state at t_end; by default DOP853 in ambient coordinates, at its tightest.
    The error is the Euclidean norm in the system's layout.
    """
    if reference is None:
        reference = solve(system, (0.0, t_end), y0, method="DOP853", rtol=1e-13, atol=1e-14).y[-1]
    h = np.array([t_end / n for n in steps])
    runs = [
        solve(system, (0.0, t_end), y0, method=method, h=step, save_every=10**9, **options)
        for step in h
    ]
    errors = np.array(
        [np.linalg.norm(run.y[-1] - reference) if run.success else np.nan for run in runs]
    )
    floor = _FLOOR_FACTOR * 1e-14 * max(1.0, float(np.linalg.norm(reference)))
    window, message = asymptotic_window(h, errors, floor)
    slope = (
        float(np.polyfit(np.log(h[window]), np.log(errors[window]), 1)[0])
        if window.any()
        else np.nan
    )
    return OrderStudy(runs[0].method, h, errors, window, slope, message)


def asymptotic_window(h: np.ndarray, errors: np.ndarray, floor: float) -> tuple[np.ndarray, str]:
    """Longest run of at least four points above the floor whose neighbouring slopes agree; all False if none.

    Between two runs of equal length the one with smaller steps is taken.
    """
    usable = np.isfinite(errors) & (errors > floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.diff(np.log(errors)) / np.diff(np.log(h))
    best: tuple[int, int] = (0, 0)
    for start in range(len(h)):
        stop = start + 1
        while (
            stop < len(h)
            and usable[start : stop + 1].all()
            and np.ptp(slopes[start:stop]) < _STEADY
        ):
            stop += 1
        if usable[start] and stop - start >= max(_MIN_POINTS, best[1] - best[0]):
            best = (start, stop)
    window = np.zeros(len(h), dtype=bool)
    window[best[0] : best[1]] = True
    if not window.any():
        return window, (
            f"no asymptotic window: {int(usable.sum())} of {len(h)} errors lie above the floor {floor:.1g}, and "
            f"fewer than {_MIN_POINTS} neighbours share a slope; use other step counts"
        )
    return window, f"fitted on {int(window.sum())} of {len(h)} points"


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
