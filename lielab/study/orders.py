"""Observed order of a method: errors against step sizes, and a slope that is fitted only where it means something.

The slope is taken inside the asymptotic window: errors well above round-off and above the error of the reference,
step sizes so small that neighbouring slopes agree and the slope moves no more, at least four points.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arguments import as_real, function_of, listed, named_array, number
from ..core.interrupts import keeps
from ..methods import Method, get
from ..solve import solve
from ..systems import System

# Errors closer than this factor to the error of the reference say nothing about the order.
_FLOOR_FACTOR = 30.0
# Error of a reference, as a multiple of its size: what a run accumulates in round-off, and what DOP853 reaches.
_ROUND_OFF, _DOP853 = 5e-15, 1e-13
# Half a unit in the last place: with it each step may add to the error of a run, all on the same side at worst.
_UNIT = 1.1e-16
# Above this fraction of the size of the reference an error has saturated.
_SATURATED = 0.1
# Neighbouring slopes in the asymptotic window differ by less than this.
_STEADY = 0.1
# With its next term, an error C h^p (1 + a h^q) has the slope p + s, where s falls like h^q: it moves by q s per unit
# of log h. So a slope that moves by less than this is no farther than this from where it goes, since q >= 1: near
# enough to tell one order from the next.
_MOVING = 0.25
# Points so close to the bottom, the floor or the level at which errors cease to fall, may be left out: round-off shows.
_NEAR = 10.0
# No method has a lower order than this: where errors fall more slowly, they have ceased to.
_STILL = 0.5
_MIN_POINTS = 4
# Without `steps`: from so many steps on, finer by what changes the error about fourfold, up to so many.
_COARSEST, _FINEST, _ERROR_RATIO = 4, 2**16, 3.0


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

    @property
    def points(self) -> int:
        """How many points the fit used."""
        return int(self.window.sum())


def order(
    system: System,
    method: str | Method,
    *,
    t_end: float = 1.0,
    steps: Sequence[int] | None = None,
    y0: Any = None,
    reference: np.ndarray | None = None,
    uncertainty: float = 0.0,
    error: Callable[[np.ndarray, np.ndarray], float] | None = None,
    **options: Any,
) -> OrderStudy:
    """Measured order of a method: errors at t_end for several numbers of steps, slope in the asymptotic window.

    `steps`: numbers of steps, increasing; without them the grid is refined until the error meets the floor.
    `reference` (dim,) is the exact state at t_end, good to `uncertainty`; by default `reference_state`.
    `error(y, reference)` measures one state; by default the Euclidean norm in the system's layout.
    `options` go to `solve`. A negative t_end integrates backward. Raises ValueError for RK45 and DOP853, which take no
    fixed steps, and for a reference of another shape. Interrupted, the KeyboardInterrupt carries the study of the runs
    that are done as its `.result`.
    """
    chosen = get(method)
    known_system(system)
    if error is not None:
        function_of("error", error, "y, reference")
    if chosen.name in ("RK45", "DOP853"):
        raise ValueError(
            f"method must take fixed steps to measure its order; {chosen.name} chooses its own, use 'RK4'"
        )
    if "h" in options:
        raise ValueError(
            f"h follows from steps here, got h={options['h']!r}; give numbers of steps"
        )
    end = as_real(t_end)
    if end is None or not np.isfinite(end) or end == 0.0:
        raise ValueError(f"t_end must be a finite number other than 0, got {t_end!r}")
    t_end = end
    counts = _refined(chosen.order) if steps is None else _whole(steps)
    if reference is None:
        reference, uncertainty = reference_state(system, t_end, y0)
    reference = named_array("reference", reference)
    if error is None and reference.shape != (system.dim,):
        raise ValueError(
            f"reference must be the state at t_end, shape ({system.dim},), got {reference.shape}"
        )
    size = max(1.0, float(np.linalg.norm(reference)))
    floor = _FLOOR_FACTOR * max(uncertainty, _ROUND_OFF * size)

    def run(n: int) -> float:
        sol = solve(
            system, (0.0, t_end), y0, method=chosen, h=abs(t_end) / n, save_every=n, **options
        )
        if not sol.success:
            return np.nan
        with np.errstate(over="ignore"):  # a coarse step of an ambient method may be far out
            return float(
                np.linalg.norm(sol.y[-1] - reference)
                if error is None
                else error(sol.y[-1], reference)
            )

    done: list[tuple[int, float]] = []  # number of steps, error

    def study() -> OrderStudy:
        taken, values = np.array(done, dtype=float).reshape(-1, 2).T
        h = abs(t_end) / taken
        rough = _FLOOR_FACTOR * _UNIT * size * taken.max(initial=0.0)
        window, message = asymptotic_window(h, values, floor, _SATURATED * size, rough)
        slope = np.nan
        if window.any():
            slope = float(np.polyfit(np.log(h[window]), np.log(values[window]), 1)[0])
        return OrderStudy(chosen.name, h, values, window, slope, message)

    with keeps(study):
        for n in counts:
            done.append((n, run(n)))
            if steps is None and done[-1][1] < floor:
                break
    return study()


def end_states(
    system: System,
    method: str | Method,
    h: Iterable[float],
    *,
    t_end: float = 1.0,
    y0: Any = None,
    **options: Any,
) -> np.ndarray:
    """States at t_end for each step size of h (k,), shape (k, dim); NaN where the run ends early.

    Interrupted, the KeyboardInterrupt carries the rows that are done as its `.result`.
    """
    rows: list[np.ndarray] = []
    with keeps(lambda: np.array(rows)):
        for size in listed("h", h, "step sizes"):
            sol = solve(
                system, (0.0, t_end), y0, method=method, h=size, save_every=10**9, **options
            )
            rows.append(sol.y[-1] if sol.success else np.full(len(sol.y[-1]), np.nan))
    return np.array(rows)


def reference_state(system: System, t_end: float, y0: Any = None) -> tuple[np.ndarray, float]:
    """State at t_end and its uncertainty.

    DOP853 in ambient coordinates at its tightest is independent of all Lie group methods. Where RKMK8 with small
    steps agrees with it, that takes over: it accumulates less round-off.
    """
    known_system(system)
    sol = solve(system, (0.0, t_end), y0, method="DOP853", rtol=1e-13, atol=1e-14, save_every=10**9)
    if not sol.success:
        raise ValueError(f"no reference at t_end = {t_end!r}: {sol.message}")
    ambient, rough = sol.y[-1], _DOP853 * max(1.0, float(np.linalg.norm(sol.y[-1])))
    formulation = system.formulations.get("action")
    if formulation is not None and formulation.action.bracket is None:
        return ambient, rough  # frames without brackets: RKMK8 does not apply
    trial = solve(system, (0.0, t_end), y0, method="RKMK8", rtol=1e-11, atol=1e-11)
    # Where the tolerance 1e-11 asks for a step h, a third of it leaves an error of 3^-8 of that.
    count = int(np.ceil(3.0 * abs(t_end) / np.abs(trial.h[:-1]).min(initial=abs(t_end) / 10)))
    fine, finer = (
        solve(system, (0.0, t_end), y0, method="RKMK8", h=abs(t_end) / n, save_every=n)
        for n in (count, 3 * count // 2)
    )
    spread = float(np.linalg.norm(fine.y[-1] - finer.y[-1]))
    agrees = np.linalg.norm(finer.y[-1] - ambient) < 100.0 * rough and spread < rough
    return (finer.y[-1], spread) if agrees else (ambient, rough)


def known_system(system: Any) -> System:
    """The system, or ValueError where it is none."""
    if not isinstance(system, System):
        raise ValueError(f"system must be a lielab System, got {system!r}; see lielab.systems")
    return system


def several_methods(methods: Any) -> list:
    """Methods as a list, one alone among them; ValueError where they are neither."""
    if isinstance(methods, (str, Method)):
        return [methods]
    return listed("methods", methods, "names of methods such as ('RKMK4', 'CF4')")


def _whole(steps: Any) -> list[int]:
    """Numbers of steps as given, or ValueError."""
    try:
        found = [int(number("steps", n)) for n in steps]
    except (TypeError, ValueError):
        found = []
    if not found or min(found) < 1 or any(int(n) != n for n in steps):
        raise ValueError(f"steps must be numbers of steps such as (32, 64, 128), got {steps!r}")
    return found


def _refined(order: int) -> Iterable[int]:
    ratio = min(2.0, _ERROR_RATIO ** (1.0 / order))
    n, exact = 0, float(_COARSEST)
    while exact <= (4 * _FINEST if order == 1 else _FINEST):
        if round(exact) > n:
            n = round(exact)
            yield n
        exact *= ratio


def asymptotic_window(
    h: np.ndarray, errors: np.ndarray, floor: float, ceiling: float = np.inf, rough: float = 0.0
) -> tuple[np.ndarray, str]:
    """The finest points whose neighbouring slopes agree and do not drift, four or more, all above the floor.

    h, errors (n,); errors below the floor are round-off, those above the ceiling have saturated; near `rough` the
    round-off of many steps may show. Returns the window (n,), all False where there is no asymptotic range, and a
    sentence. The window reaches back as far as the slopes stay, and forward to the floor: points are left out at its
    fine end only close to the floor or to `rough`, or to the level where errors cease to fall. A slope that still moves
    at the finest steps has no limit that could be told.
    """
    h, errors = named_array("h", h), named_array("errors", errors)
    if h.ndim != 1 or h.shape != errors.shape:
        raise ValueError(
            f"h and errors must be of one length, got shapes {h.shape}, {errors.shape}"
        )
    for name, bound in (("floor", floor), ("ceiling", ceiling), ("rough", rough)):
        if as_real(bound) is None:
            raise ValueError(f"{name} must be a number, got {bound!r}")
    usable = np.isfinite(errors) & (errors > floor) & (errors < ceiling)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.diff(np.log(errors)) / np.diff(np.log(h))
    window = np.zeros(len(h), dtype=bool)
    moved = 0.0
    for stop in range(len(h), _first_stop(errors, slopes, usable, max(floor, rough)) - 1, -1):
        start = stop - 1
        while (
            start > 0
            and usable[start - 1 : stop].all()
            and np.ptp(slopes[start - 1 : stop - 1]) < _STEADY
        ):
            start -= 1
        if stop - start < _MIN_POINTS or slopes[start : stop - 1].min() < _STILL:
            continue
        drift, uncertainty = _drift(np.log(h[start:stop]), np.log(errors[start:stop]))
        if abs(drift) <= _MOVING + 2.0 * uncertainty:
            window[start:stop] = True
            return window, f"fitted on {stop - start} of {len(h)} points"
        moved = moved or drift
    if moved:
        return window, (
            f"no asymptotic window: the slope still moves at the finest steps, by {moved:.2g} per unit of log h; "
            "use finer steps"
        )
    return window, (
        f"no asymptotic window: {int(usable.sum())} of {len(h)} errors lie between {floor:.1g} and {ceiling:.1g}, and "
        f"fewer than {_MIN_POINTS} neighbours at the finest steps share a slope; use other step counts"
    )


def _first_stop(errors: np.ndarray, slopes: np.ndarray, usable: np.ndarray, floor: float) -> int:
    """How many points the window must reach over at least: those after them are close to the bottom, or not usable."""
    bottom = floor
    still = np.flatnonzero(usable[1:] & usable[:-1] & ~(slopes >= _STILL))
    if len(still):  # round-off, unless the last errors fell far below that once more
        level = errors[still[-1] : still[-1] + 2].max()
        if errors[usable][-2:].max() > level / _FLOOR_FACTOR:
            bottom = max(floor, _FLOOR_FACTOR * level)
    far = np.flatnonzero(usable & (errors > _NEAR * bottom))
    return max(_MIN_POINTS, int(far.max(initial=-1)) + 1)


def _drift(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """How much the slope of y over x changes per unit of x, from a parabola, and the standard error of that."""
    powers = np.vander(x - x.mean(), 3)
    fitted = np.linalg.lstsq(powers, y, rcond=None)[0]
    left = y - powers @ fitted
    variance = left @ left / max(1, len(x) - 3) * np.linalg.inv(powers.T @ powers)[0, 0]
    return 2.0 * float(fitted[0]), 2.0 * float(np.sqrt(variance))


def order_table(
    problems: Mapping[str, tuple[System, float, Any]],
    methods: Iterable[str | Method | tuple[str | Method, Mapping[str, Any]]],
) -> list[dict[str, Any]]:
    """Measured orders of methods on problems, one row each: what the book prints and the tests pin.

    `problems`: name -> (system, t_end, y0), see `lielab.study.order_problems`. `methods`: names, or (method, options of
    solve). A row holds `problem`, `method`, `options`, the declared `order`, the `measured` one (None without a
    window), `points` and the range of `h` fitted. Interrupted, the KeyboardInterrupt carries the rows that are done as
    its `.result`.
    """
    rows: list[dict[str, Any]] = []
    chosen = [item if isinstance(item, tuple) else (item, {}) for item in several_methods(methods)]
    if not isinstance(problems, Mapping):
        raise ValueError(f"problems must be name -> (system, t_end, y0), got {problems!r}")
    with keeps(lambda: rows):
        for name, (system, t_end, y0) in problems.items():
            exact, uncertainty = reference_state(system, t_end, y0)
            for method, options in chosen:
                study = order(
                    system,
                    method,
                    t_end=t_end,
                    y0=y0,
                    reference=exact,
                    uncertainty=uncertainty,
                    **options,
                )
                rows.append(_table_row(name, study, get(method).order, options))
    return rows


def _table_row(problem: str, study: OrderStudy, order: int, options: Mapping) -> dict[str, Any]:
    used = study.h[study.window]
    return {
        "problem": problem,
        "method": study.method,
        "options": dict(options),
        "order": order,
        "measured": None if np.isnan(study.order) else round(study.order, 3),
        "points": study.points,
        "h": [float(f"{x:.4g}") for x in (used.max(), used.min())] if len(used) else [],
    }


def measured_table() -> list[dict[str, Any]]:
    """The stored table of measured orders, rows as in `order_table`; `python -m benchmarks.orders` makes it anew."""
    return json.loads((Path(__file__).parent / "orders.json").read_text(encoding="utf-8"))
