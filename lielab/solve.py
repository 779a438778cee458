"""solve(): one call for every method and system, with arguments that are read and checked."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._runs import CompiledRun, ScipyRun, Wish
from .core.arguments import as_real, count, entries, meant, real_array
from .core.march import RUNNING
from .events import Watcher, read_events, try_events
from .methods import Method, get, methods
from .methods.classical import DOP853, RK45
from .solution import Solution
from .step_size import StepControl, split_options
from .systems import System
from .systems.system import settled

__all__ = ["Solution", "solve"]

_TOLERANCES = {"rtol": 1e-6, "atol": 1e-9}  # where none is given, for a run or for a part

_SHORTEST = 1e-12  # of a span beside its times: some thousands of times lie inside it
# Keywords of other libraries, and where what they do is found here.
_SOLVED = "call the solution at any times: sol = solve(...), then sol(t)"
_ELSEWHERE = {
    **dict.fromkeys(("dt", "step", "step_size", "stepsize", "timestep"), "the step is h"),
    **dict.fromkeys(("t_eval", "dense_output", "saveat"), _SOLVED),
    **dict.fromkeys(("p", "params", "args"), "parameters belong to the system"),
    "first_step": "the first step tried is h0",
    "tol": "the tolerances are rtol and atol",
    "callback": "functions to watch are events",
}
_KEYWORDS = (
    *("method", "h", "rtol", "atol", "save_every", "max_steps", "progress", "events", "action"),
    *("h0", "max_step", "controller", "safety", "factor_limits", "error_norm"),
)


def solve(
    system: System,
    t_span: tuple[float, float],
    y0: Any = None,
    method: str | Method = "RKMK54",
    *,
    h: float | None = None,
    rtol: Any = _TOLERANCES["rtol"],
    atol: Any = _TOLERANCES["atol"],
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
    well, and kept in `t_events` and
    `y_events`; a terminal event ends the run at its first crossing or its k-th (status 1):
    `events=Event(lambda t, y: y[0], terminal=3, direction=1)`.
    `max_steps` counts steps tried, rejected ones too.
    `action` names one of `system.actions`, for systems on which more than one group acts.
    Further `options` are the method's own keywords. A step that fails ends the run: success is False, and what
    was computed is there. Interrupted, the KeyboardInterrupt carries the `.solution` so far.

    Raises ValueError for bad arguments, naming the argument, the value and the remedy.
    """
    chosen = get(method)
    if not isinstance(system, System):
        raise ValueError(
            f"system must be a lielab System, got {type(system).__name__}; see lielab.systems"
        )
    settings, options = split_options(options)
    unknown = sorted(set(options) - set(chosen.options))
    if unknown:
        takes = ", ".join(chosen.options) or "none"
        remedy = _ELSEWHERE.get(unknown[0]) or f"its options: {takes}"
        near = "" if unknown[0] in _ELSEWHERE else meant(unknown[0], {*chosen.options, *_KEYWORDS})
        raise ValueError(f"{chosen.name} has no option {unknown[0]!r}; {remedy}{near}")
    for name, value in options.items():
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError(f"{name} must be one value, got {value!r}")
    if settings and h is not None:
        raise ValueError(
            f"{next(iter(settings))} controls adaptive steps, but h={h!r} fixes them; give one or the other"
        )
    if chosen in (RK45, DOP853) and set(settings) - {"h0", "max_step"}:
        raise ValueError(f"{chosen.name} takes h0 and max_step only; its controller is SciPy's")
    control = StepControl(**settings)
    if not chosen.formulation(system):
        fitting = [m.name for m in methods().values() if m.formulation(system)]
        wanted = " or ".join(map(repr, (chosen.needs, *chosen.also)))
        raise ValueError(
            f"{chosen.name} needs the formulation {wanted}, which {type(system).__name__} does not offer; "
            f"methods that fit: {', '.join(fitting)}"
        )
    t0, t1 = _read_span(t_span)
    formulation = _choose(system, chosen, action)
    # A state is checked on the manifold of the action asked for: a run of the lift leaves that of the default, TS^2.
    start = _read_state(system, y0, formulation.action if action else system)
    rtol, atol = _read_tolerances(system, rtol, atol)
    every, limit = count("save_every", save_every), count("max_steps", max_steps)
    seconds = _check_field(formulation, t0, start)

    watched = read_events(events)
    try_events(watched, t0, start)
    step_rows = 1 if watched else every
    wish = Wish(t0, t1, start, h, rtol, atol, step_rows, limit, control)
    march: Any
    if chosen in (RK45, DOP853):
        march = ScipyRun(chosen, formulation, wish)
    else:
        march = CompiledRun(
            chosen, chosen.prepare(formulation, start, **options), formulation, wish
        )
        march.expect(seconds)
    watcher = Watcher(watched, march.flow, t0, start, system.parts) if watched else None
    return _drive(march, watcher, every, system, progress)


def _drive(
    march: Any, watcher: Watcher | None, every: int, system: System, progress: bool
) -> Solution:
    """March in chunks until the end; an interrupt or an error in a reader's field carries the solution so far."""
    bar = None
    if progress:
        from tqdm.auto import tqdm

        name = march.method.name
        bar = tqdm(total=1.0, desc=name, bar_format="{l_bar}{bar}| {elapsed}<{remaining}")

    def finish(message: str = "") -> Solution:
        solution = march.solution(system, every, message)
        if watcher is not None:
            solution.t_events, solution.y_events = watcher.times(), watcher.states()
        if not solution.success:
            solution.message += system._doubt(solution.y[-1])
        return solution

    try:
        while march.status == RUNNING:
            march.chunk()
            if watcher is not None:
                watcher.look(march.ts[-1], march.ys[-1], march.hs[-1])
                if watcher.end is not None:
                    march.cut(*watcher.end)
            march.thin(every)
            if bar is not None:
                bar.update(march.fraction() - bar.n)
    except BaseException as error:
        message = f"stopped at t = {march.time():.6g} by {type(error).__name__}: {error}"
        march.thin(every)
        error.solution = finish(message)  # type: ignore[attr-defined]
        raise
    finally:
        if bar is not None:
            bar.close()
    return finish()


def _read_span(t_span: Any) -> tuple[float, float]:
    try:
        if isinstance(t_span, (Mapping, set)):
            raise TypeError
        t0, t1 = (as_real(x) for x in t_span)
    except (TypeError, ValueError):
        t0 = t1 = None
    if t0 is None or t1 is None:
        raise ValueError(f"t_span must be two numbers (t0, t1), got {t_span!r}")
    if not (math.isfinite(t0) and math.isfinite(t1)) or t0 == t1:
        raise ValueError(f"t_span must be two different finite times, got ({t0}, {t1})")
    if abs(t1 - t0) < _SHORTEST * max(abs(t0), abs(t1)):
        raise ValueError(
            f"t_span ({t0!r}, {t1!r}) is too short for times of that size, which rounding hardly tells apart; "
            "count the time from t0"
        )
    return t0, t1


def _read_state(system: System, y0: Any, home: Any) -> np.ndarray:
    if isinstance(y0, (str, Method)):
        name = y0 if isinstance(y0, str) else y0.name
        raise ValueError(
            f"y0 must be a state, got the method {name!r} in its place; write method={name!r}"
        )
    value = system.y0 if y0 is None else y0
    y = entries("y0", system.pack(**value) if isinstance(value, Mapping) else value, system.dim)
    if y.shape != (system.dim,):
        got = y.shape if isinstance(value, (Mapping, tuple, list)) else np.shape(value)
        raise ValueError(
            f"y0 must have shape ({system.dim},), got {got}; the layout is {system.layout()}"
        )
    if not np.all(np.isfinite(y)):
        raise ValueError(f"y0 must be finite, got {y}")
    return settled("y0", y, value, home, "system")


def _choose(system: System, method: Method, action: str | None) -> Any:
    """The formulation that the method needs, with the action asked for."""
    if action is None:
        return system.formulations[method.formulation(system)]
    if method.needs != "action":
        raise ValueError(f"action={action!r} is not for {method.name}, which moves by no action")
    if not isinstance(action, str) or action not in system.actions:
        known = ", ".join(map(repr, system.actions))
        wanted = f"must be one of {known}" if known else "is not to be chosen here, leave it out"
        raise ValueError(
            f"action of {type(system).__name__} {wanted}; got {action!r}{meant(action, system.actions)}"
        )
    return system.actions[action]


def _read_tolerances(system: System, rtol: Any, atol: Any) -> tuple[Any, Any]:
    """rtol and atol: two numbers, or where one of them differs from entry to entry two arrays (dim,)."""
    given = {"rtol": rtol, "atol": atol}
    found = {name: _tolerance(system, name, value) for name, value in given.items()}
    if any(isinstance(value, np.ndarray) for value in found.values()):
        found = {name: np.broadcast_to(value, system.dim).copy() for name, value in found.items()}
    if np.any((found["rtol"] == 0.0) & (found["atol"] == 0.0)):
        raise ValueError("rtol and atol must not both be 0; no step could be accepted")
    return found["rtol"], found["atol"]


def _tolerance(system: System, name: str, value: Any) -> Any:
    number = as_real(value)
    if number is not None and 0.0 <= number < math.inf:
        return number
    if isinstance(value, Mapping):
        unknown = [str(part) for part in value if part not in dict(system.parts)]
        if unknown or not value:
            known = ", ".join(part for part, _ in system.parts[:12])
            raise ValueError(
                f"{name} by part must name some of {known}, got {', '.join(unknown) or 'none of them'}"
            )
        pieces = [np.full(shape, _TOLERANCES[name]) for _, shape in system.parts]
        for (part, shape), piece in zip(system.parts, pieces, strict=True):
            if part in value:
                try:
                    piece[...] = np.broadcast_to(real_array(value[part]), shape)
                except (TypeError, ValueError):
                    raise ValueError(
                        f"{name} of {part} must be a number or an array {shape}, got {value[part]!r}"
                    ) from None
        array = np.concatenate([piece.ravel() for piece in pieces])
    else:
        try:
            array = real_array(value)
        except (TypeError, ValueError):
            array = np.empty(0)
    if number is not None or array.shape != (system.dim,):
        raise ValueError(
            f"{name} must be a non-negative number, got {value!r}; an array ({system.dim},) or part -> number does too"
        )
    if not (np.isfinite(array).all() and array.min() >= 0.0):
        raise ValueError(f"{name} must be finite and nowhere negative, got {value!r}")
    return array


def _check_field(formulation: Any, t0: float, y0: np.ndarray) -> float:
    """Call the field once: compiled code does not check lengths, so a wrong one must be found here.

    Returns the seconds that the call took, 0 where there is none to call.
    """
    action = getattr(formulation, "action", None)
    if action is None:
        return 0.0
    wanted = action.algebra_dim(len(y0))
    params = np.array(formulation.params, dtype=float, order="C")
    began = time.perf_counter()
    value = formulation.field(t0, y0.copy(), params)
    seconds = time.perf_counter() - began
    if np.shape(value) != (wanted,):  # a reader's System; ActionSystem looked when it was made
        raise ValueError(
            f"field must return {wanted} numbers (the algebra of {action.group}), got shape {np.shape(value)}"
        )
    return seconds
