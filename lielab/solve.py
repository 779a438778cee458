"""solve(): one call for every method and system; the Solution it returns; what happens when a step fails."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import methods as _methods
from .methods import Method, Plan, _march
from .methods.classical import ambient_rhs
from .systems import System

# A span is a whole number of steps when it is one up to this fraction of a step.
_WHOLE = 1e-9
_CHUNK_SECONDS = 0.05  # how long compiled code runs before Python is entered again
_CHUNK_BYTES = 2**25

_REASONS = {
    _march.NOT_FINITE: (
        "the step produced NaN or infinity",
        "use a smaller step or a tighter tolerance",
    ),
    _march.STEP_TOO_SMALL: (
        "the step size fell to round-off",
        "loosen rtol and atol, or look for a singularity",
    ),
    _march.TOO_MANY: ("max_steps was reached", "raise max_steps or loosen the tolerance"),
    _march.NOT_CONVERGED: ("Newton's method did not converge", "use a smaller step"),
    _march.OUTSIDE: ("the step left the domain of the retraction", "use a smaller step"),
}


@dataclass
class Solution:
    """What `solve` returns, also when it ended early.

    t (n,), t[0] = t0; y (n, dim), one row per saved time, in the system's layout; h (nsteps,) the accepted
    steps; nfev calls of the field; nsteps, nrejected; success, status (0 at the end, negative for a failure),
    message; method (its name) and system. Named parts of the state are attributes: sol.R, sol.mu, sol.q.
    """

    t: np.ndarray
    y: np.ndarray
    h: np.ndarray
    nfev: int
    nsteps: int
    nrejected: int
    success: bool
    status: int
    message: str
    method: str
    system: System
    extras: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> np.ndarray:
        if not name.startswith("_") and "system" in self.__dict__:
            if name in dict(self.system.parts):
                return self.system.unpack(self.y)[name]
            if name in self.extras:
                return self.extras[name]
        raise AttributeError(f"Solution has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dict(self.system.parts), *self.extras]

    def energy(self) -> np.ndarray:
        """Energy at the saved times, shape (n,)."""
        return self.system.energy(self.y)

    def invariants(self) -> dict[str, np.ndarray]:
        """The system's conserved quantities at the saved times, by name."""
        return {name: function(self.y) for name, function in self.system.invariants.items()}

    def defect(self) -> np.ndarray:
        """Distance of the saved states from the manifold, shape (n,)."""
        return self.system.defect(self.y)


def solve(
    system: System,
    t_span: tuple[float, float],
    y0: Any = None,
    *,
    method: str | Method = "RKMK54",
    h: float | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    save_every: int = 1,
    max_steps: int = 10**8,
    progress: bool = False,
    **options: Any,
) -> Solution:
    """Integrate a system over t_span = (t0, t1) from y0 (the system's own datum by default).

    With `h` the step is fixed; without it a method with an embedded pair chooses steps so that the local error
    stays below atol + rtol |y|. `save_every=k` keeps every k-th accepted step and the last. `t1 < t0` integrates
    backward. `max_steps` counts steps tried, rejected ones too. `options` are the method's own keywords. A step that
    fails ends the run: success is False, and what was computed is there. Interrupted, the KeyboardInterrupt
    carries the `.solution` so far.

    Raises ValueError for bad arguments, naming the argument, the value and the remedy.
    """
    chosen = _methods.get(method)
    if not isinstance(system, System):
        raise ValueError(
            f"system must be a lielab System, got {type(system).__name__}; see lielab.systems"
        )
    unknown = sorted(set(options) - set(chosen.options))
    if unknown:
        takes = ", ".join(chosen.options) or "none"
        raise ValueError(f"{chosen.name} has no option {unknown[0]!r}; its options: {takes}")
    if chosen.needs not in system.formulations:
        fitting = [m.name for m in _methods.methods().values() if m.needs in system.formulations]
        raise ValueError(
            f"{chosen.name} needs the formulation {chosen.needs!r}, which {type(system).__name__} does not offer; "
            f"methods that fit: {', '.join(fitting)}"
        )
    t0, t1 = _read_span(t_span)
    start = _read_state(system, y0)
    rtol, atol = _read_tolerances(rtol, atol)
    every, limit = _at_least_one("save_every", save_every), _at_least_one("max_steps", max_steps)
    formulation = system.formulations[chosen.needs]
    _check_field(formulation, t0, start)

    if chosen.family == "classical" and chosen.name != "RK4":
        march = _ScipyMarch(chosen, formulation, t0, t1, start, h, rtol, atol, every, limit)
    else:
        plan = chosen.prepare(formulation, start, **options)
        march = _CompiledMarch(
            chosen, plan, formulation, t0, t1, start, h, rtol, atol, every, limit
        )
    return _drive(march, system, chosen, progress)


def _drive(march: Any, system: System, method: Method, progress: bool) -> Solution:
    """March in chunks until the end; an interrupt or an error in a reader's field carries the solution so far."""
    bar = None
    if progress:
        from tqdm.auto import tqdm

        bar = tqdm(total=1.0, desc=method.name, bar_format="{l_bar}{bar}| {elapsed}<{remaining}")
    try:
        while march.status == _march.RUNNING:
            march.chunk()
            if bar is not None:
                bar.update(march.fraction() - bar.n)
    except BaseException as error:
        message = f"stopped at t = {march.time():.6g} by {type(error).__name__}: {error}"
        error.solution = march.solution(system, method, message)  # type: ignore[attr-defined]
        raise
    finally:
        if bar is not None:
            bar.close()
    return march.solution(system, method)


class _CompiledMarch:
    """A run of a compiled loop: fixed steps when h is given, adaptive otherwise."""

    def __init__(
        self,
        method: Method,
        plan: Plan,
        formulation: Any,
        t0: float,
        t1: float,
        y0: np.ndarray,
        h: float | None,
        rtol: float,
        atol: float,
        every: int,
        limit: int,
    ) -> None:
        self.plan, self.every = plan, every
        self.params = np.require(plan.params, float, "CW")
        if h is None:
            if not method.embedded:
                raise ValueError(f"{method.name} has no embedded pair to choose the step; give h")
            steps, step = 0, _first_step(formulation, t0, t1, y0, rtol, atol, plan.order_hat)
        else:
            steps, step = _fixed_grid(t0, t1, h, plan.structured, method.name)
        self.run = _march.new_run(t0, t1, step, steps, every, limit)
        self.run[_march.RTOL], self.run[_march.ATOL] = rtol, atol
        self.run[_march.EXPONENT] = 1.0 / (plan.order_hat + 1)
        if h is None:
            self.run[_march.NFEV] = 2  # spent on the first step size
        self.y = (y0 if plan.encode is None else plan.encode(y0)).copy()
        self.ts, self.ys = [np.array([t0])], [self.y[None].copy()]
        self.hs: list[np.ndarray] = []
        self.budget = 256

    @property
    def status(self) -> int:
        return int(self.run[_march.STATUS])

    def time(self) -> float:
        return float(self.run[_march.T])

    def fraction(self) -> float:
        run = self.run
        return float((run[_march.T] - run[_march.T0]) / (run[_march.T1] - run[_march.T0]))

    def chunk(self) -> None:
        run = self.run
        rows = self.budget // self.every + 1
        ts, ys, hs = np.empty(rows), np.empty((rows, len(self.y))), np.empty(self.budget)
        run[_march.SAVED] = run[_march.TAKEN] = 0
        run[_march.PAUSE] = run[_march.TRIES] + self.budget
        began = time.perf_counter()
        try:
            self.plan.loop(
                *self.plan.kernels, *self.plan.data, run, self.y, self.params, ts, ys, hs
            )
        finally:
            saved, taken = int(run[_march.SAVED]), int(run[_march.TAKEN])
            if saved:
                self.ts.append(ts[:saved].copy())
                self.ys.append(ys[:saved].copy())
            self.hs.append(hs[:taken].copy())
        if time.perf_counter() - began < _CHUNK_SECONDS:
            room = _CHUNK_BYTES * self.every // (8 * len(self.y))
            self.budget = max(1, min(2 * self.budget, room, 2**20))

    def solution(self, system: System, method: Method, message: str = "") -> Solution:
        run, t, y = self.run, np.concatenate(self.ts), np.concatenate(self.ys)
        if run[_march.T] != t[-1]:  # ended between two saved steps: keep the last state reached
            t, y = np.append(t, run[_march.T]), np.vstack([y, self.y])
        if self.plan.decode is not None:
            y = self.plan.decode(y)
        status = 0 if self.status == _march.DONE else self.status
        if not message:
            message = "the end of t_span was reached"
            if self.status != _march.DONE:
                reason, remedy = _REASONS[self.status]
                residual = f", residual {run[_march.RESIDUAL]:.3g}" if run[_march.RESIDUAL] else ""
                message = (
                    f"stopped at t = {run[_march.T]:.6g} with step {run[_march.H]:.3g}{residual}: "
                    f"{reason}; {remedy}"
                )
        return Solution(
            t=t,
            y=y,
            h=np.concatenate(self.hs) if self.hs else np.empty(0),
            nfev=int(run[_march.NFEV]),
            nsteps=int(run[_march.K]),
            nrejected=int(run[_march.REJECTED]),
            success=self.status == _march.DONE,
            status=status,
            message=message,
            method=method.name,
            system=system,
        )


class _ScipyMarch:
    """SciPy's RK45 or DOP853 in ambient coordinates, with the semantics of `solve`."""

    def __init__(
        self,
        method: Method,
        formulation: Any,
        t0: float,
        t1: float,
        y0: np.ndarray,
        h: float | None,
        rtol: float,
        atol: float,
        every: int,
        limit: int,
    ) -> None:
        import scipy.integrate

        if h is not None:
            raise ValueError(
                f"{method.name} chooses its steps itself, got h={h!r}; leave h out or use 'RK4'"
            )
        kind = getattr(scipy.integrate, method.name)
        self.solver = kind(ambient_rhs(formulation), t0, y0, t1, rtol=rtol, atol=atol)
        self.every, self.limit = every, limit
        self.t0, self.t1 = t0, t1
        self.ts, self.ys, self.hs = [t0], [y0.copy()], []
        self.status = _march.RUNNING
        self.reason = ""

    def time(self) -> float:
        return float(self.solver.t)

    def fraction(self) -> float:
        return (self.solver.t - self.t0) / (self.t1 - self.t0)

    def chunk(self) -> None:
        began = time.perf_counter()
        while self.status == _march.RUNNING and time.perf_counter() - began < _CHUNK_SECONDS:
            if len(self.hs) >= self.limit:
                self.status = _march.TOO_MANY
                return
            self.reason = self.solver.step() or ""
            if self.solver.status == "failed":
                finite = np.all(np.isfinite(self.solver.f))
                self.status = _march.STEP_TOO_SMALL if finite else _march.NOT_FINITE
                return
            if self.solver.status == "finished":
                self.status = _march.DONE
            self.hs.append(self.solver.t - self.solver.t_old)
            if self.status == _march.DONE or len(self.hs) % self.every == 0:
                self.ts.append(self.solver.t)
                self.ys.append(self.solver.y.copy())

    def solution(self, system: System, method: Method, message: str = "") -> Solution:
        if self.ts[-1] != self.solver.t:
            self.ts.append(self.solver.t)
            self.ys.append(self.solver.y.copy())
        done = self.status == _march.DONE
        if not message:
            message = "the end of t_span was reached"
            if not done:
                reason, remedy = _REASONS[self.status]
                message = f"stopped at t = {self.solver.t:.6g}: {self.reason or reason}; {remedy}"
        # SciPy does not report rejected steps; each costs the stages of one step.
        stages = {"RK45": 6, "DOP853": 11}[method.name]
        rejected = max(0, (self.solver.nfev - 2 - len(self.hs)) // stages - len(self.hs))
        if method.name == "RK45":
            rejected = max(0, (self.solver.nfev - 2) // stages - len(self.hs))
        return Solution(
            t=np.array(self.ts),
            y=np.array(self.ys),
            h=np.array(self.hs),
            nfev=self.solver.nfev,
            nsteps=len(self.hs),
            nrejected=rejected,
            success=done,
            status=0 if done else self.status,
            message=message,
            method=method.name,
            system=system,
        )


def _read_span(t_span: Any) -> tuple[float, float]:
    try:
        t0, t1 = (float(x) for x in t_span)
    except (TypeError, ValueError):
        raise ValueError(f"t_span must be two numbers (t0, t1), got {t_span!r}") from None
    if not (math.isfinite(t0) and math.isfinite(t1)) or t0 == t1:
        raise ValueError(f"t_span must be two different finite times, got ({t0}, {t1})")
    return t0, t1


def _read_state(system: System, y0: Any) -> np.ndarray:
    value = system.y0 if y0 is None else y0
    if isinstance(value, Mapping):
        value = system.pack(**value)
    try:
        y = np.array(value, dtype=float)  # a copy: the caller's array is never written to
    except (TypeError, ValueError):
        raise ValueError(f"y0 must hold real numbers, got {value!r}") from None
    if y.shape != (system.dim,):
        layout = ", ".join(f"{name} {shape}" for name, shape in system.parts)
        raise ValueError(
            f"y0 must have shape ({system.dim},), got {y.shape}; the layout is {layout}"
        )
    if not np.all(np.isfinite(y)):
        raise ValueError(f"y0 must be finite, got {y}")
    system.check(y)
    return y


def _read_tolerances(rtol: float, atol: float) -> tuple[float, float]:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (isinstance(value, (int, float, np.floating)) and 0.0 <= value < math.inf):
            raise ValueError(f"{name} must be a non-negative number, got {value!r}")
    if rtol == 0.0 and atol == 0.0:
        raise ValueError("rtol and atol must not both be 0; no step could be accepted")
    return float(rtol), float(atol)


def _at_least_one(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _check_field(formulation: Any, t0: float, y0: np.ndarray) -> None:
    """Call the field once: compiled code does not check lengths, so a wrong one must be found here."""
    action = getattr(formulation, "action", None)
    if action is None:
        return
    wanted = action.algebra_dim(len(y0))
    value = formulation.field(t0, y0.copy(), np.require(formulation.params, float, "CW"))
    if np.shape(value) != (wanted,):
        raise ValueError(
            f"field must return {wanted} numbers (the algebra of {action.group}), got shape {np.shape(value)}"
        )


def _fixed_grid(t0: float, t1: float, h: Any, structured: bool, name: str) -> tuple[int, float]:
    """Number of steps and their signed size; the last may be shorter for methods without structure."""
    if isinstance(h, bool) or not isinstance(h, (int, float, np.number)) or not 0.0 < h < math.inf:
        raise ValueError(
            f"h must be a positive number, got {h!r}; the direction follows from t_span"
        )
    span = t1 - t0
    count = abs(span) / float(h)
    if count > 2**52:
        raise ValueError(f"h = {h!r} asks for {count:.3g} steps over t_span; use a larger h")
    whole = max(1, round(count))
    if abs(count - whole) <= _WHOLE * max(1.0, count):
        return whole, span / whole
    if structured:
        raise ValueError(
            f"{name} needs a whole number of equal steps: t_span / h = {count:.6g}; use h = {abs(span) / whole:.12g}"
        )
    return math.ceil(count), math.copysign(float(h), span)


def _first_step(
    formulation: Any, t0: float, t1: float, y0: np.ndarray, rtol: float, atol: float, order: int
) -> float:
    """Starting step size of Hairer, Norsett & Wanner I, II.4, with the Lie-Euler step as the trial."""
    rhs, scale = ambient_rhs(formulation), atol + rtol * np.abs(y0)
    scale = np.maximum(scale, 1e-300)
    size = math.sqrt(len(y0))
    f0 = rhs(t0, y0)
    d0, d1 = np.linalg.norm(y0 / scale) / size, np.linalg.norm(f0 / scale) / size
    direction, span = math.copysign(1.0, t1 - t0), abs(t1 - t0)
    guess = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    guess = min(guess, span)
    xi = formulation.field(t0, y0, formulation.params)
    y1 = formulation.action.exp_act(direction * guess * xi, y0)
    d2 = np.linalg.norm((rhs(t0 + direction * guess, y1) - f0) / scale) / size / guess
    largest = max(d1, d2)
    better = (
        max(1e-6, guess * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / (order + 1))
    )
    step = min(100.0 * guess, better, span)
    return step if math.isfinite(step) and step > 0.0 else 1e-6 * span
