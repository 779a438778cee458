"""solve(): one call for every method and system, with arguments that are read and checked."""

from __future__ import annotations

from typing import Any

from .methods import Method
from .prepared import TOLERANCES, solver_of
from .solution import Solution
from .systems import System

__all__ = ["Solution", "solve"]


def solve(
    system: System,
    t_span: tuple[float, float],
    y0: Any = None,
    method: str | Method = "RKMK54",
    *,
    h: float | None = None,
    rtol: Any = TOLERANCES["rtol"],
    atol: Any = TOLERANCES["atol"],
    save_every: int = 1,
    max_steps: int = 10**8,
    progress: bool = False,
    events: Any = None,
    action: str | None = None,
    **options: Any,
) -> Solution:
    """Integrate a system over t_span = (t0, t1) from y0 (the system's own datum by default).

    With `h` the step is fixed; without it a method with an embedded pair chooses steps so that the local error
    stays below atol + rtol |y|; each is a number, an array (dim,), or differs by part, `atol={"R": 1e-9, "x": 1.0}`,
    where parts that are not named keep the default (with `error_norm="scaled"` only). The fields of
    `lielab.step_size.StepControl` (h0, max_step, controller, safety, factor_limits, error_norm) are keywords too.
    `save_every=k` keeps every k-th accepted step and the last; memory grows with these alone. `t1 < t0` integrates
    backward. `events`: functions of (t, y), or `lielab.Event`s. Every zero crossing is located, several in one step as
    well, and kept in `t_events` and `y_events`; a terminal event ends the run at its first crossing or its
    k-th (status 1): `events=Event(lambda t, y: y[0], terminal=3, direction=1)`.
    `max_steps` counts steps tried, rejected ones too.
    `action` names one of `system.actions`, for systems on which more than one group acts.
    Many short runs of one system and method are made ready once by `lielab.prepare`, or done by `lielab.solve_many`.
    Further `options` are the method's own keywords. A step that fails ends the run: success is False, and what
    was computed is there. Interrupted, the KeyboardInterrupt carries the `.solution` so far.

    Raises ValueError for bad arguments, naming the argument, the value and the remedy.
    """
    asked = {"h": h, "rtol": rtol, "atol": atol, "max_steps": max_steps, "action": action}
    solver = solver_of(system, method, asked, options)
    return solver.run(t_span, y0, save_every=save_every, events=events, progress=progress)
