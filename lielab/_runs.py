"""A run under way: a compiled loop in chunks, or one of SciPy's solvers with the same semantics."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .core import march
from .core.arguments import as_real, undefined
from .core.jit import ENABLED
from .methods import Method
from .methods.classical import ambient_rhs
from .solution import Solution
from .systems import System

if TYPE_CHECKING:
    from .prepared import Solver

# A span is a whole number of steps when it is one up to this fraction of a step.
_WHOLE = 1e-9
_CHUNK_SECONDS = 0.05  # how long compiled code runs before Python is entered again
_CHUNK_BYTES = 2**25
# What SciPy takes in place of a smaller one, with a warning.
_SCIPY_RTOL = 100.0 * np.finfo(float).eps

_FLOAT, _NO_STEPS = np.dtype(float), np.empty(0)

Steps = tuple[np.ndarray, np.ndarray]

END = "the end of t_span was reached"
TERMINAL = 2  # a terminal event ended the run; 1 in the Solution
_REASONS = {
    march.NOT_FINITE: (
        "the step produced NaN or infinity",
        "use a smaller step or a tighter tolerance",
    ),
    march.STEP_TOO_SMALL: (
        "the step size fell to round-off",
        "loosen rtol and atol, or look for a singularity",
    ),
    march.TOO_MANY: ("max_steps was reached", "raise max_steps or loosen the tolerance"),
    march.NOT_CONVERGED: (
        "the iteration of an implicit step did not converge",
        "use a smaller step; LieMidpoint and RKMKGL also have solver='newton'",
    ),
    march.OUTSIDE: ("the step left the domain of the retraction", "use a smaller step"),
}


class Wish(NamedTuple):
    """What a run is to do: from (t0, y0) to t1, which rows to keep, and with which p (None: that of the system)."""

    t0: float
    t1: float
    y0: np.ndarray
    every: int
    params: np.ndarray | None = None


class Run:
    """What both kinds share: rows and steps, chunk by chunk, and the Solution made of them."""

    method: Method
    every: int
    t0: float
    t1: float
    last_time: float
    status: int
    watched = False  # by events, one of which may end it inside a chunk
    n_exponentials: int | None = None

    def __init__(self, method: Method, wish: Wish) -> None:
        self.method, self.t0, self.t1, self.every = method, wish.t0, wish.t1, wish.every
        self.start = wish.y0
        self.ts: list[np.ndarray] = []  # the rows, see `begin_rows`
        self.ys: list[np.ndarray] = []
        self.hs = [_NO_STEPS]  # the steps that lead to these rows
        self.more: list[dict[str, np.ndarray]] = []  # the method's extras, row by row
        self.taken, self.thinned = 0, 1  # steps seen by `thin`, which saw so many members of hs
        self.last_step = math.nan

    def __deepcopy__(self, memo: dict) -> Run:
        return self  # all that a copied solution asks of a run is `flow`, which changes nothing

    def begin_rows(self) -> None:
        """The first row, the start; a first chunk that holds it needs it not."""
        self.ts, self.ys = [np.array([self.t0])], [self.start[None].copy()]

    def over(self) -> None:
        """Nothing more is marched, but for values between the steps."""

    def fraction(self) -> float:
        return (self.time() - self.t0) / (self.t1 - self.t0)

    def time(self) -> float:
        raise NotImplementedError

    def thin(self, every: int) -> None:
        """Of the last chunk keep what `save_every` asks for: rows (with events there are all) and the steps to them."""
        if self.thinned == len(self.hs):  # interrupted after the last one was seen to
            return
        h = self.hs[-1]
        if every == self.every == 1:  # nothing goes, and no step has to be taken again
            self._took(h)
            return
        place = (self.taken + np.arange(len(h))) % every  # among the steps between two rows
        keep, all_rows = place == every - 1, self.every != every
        if self.status in (march.DONE, TERMINAL) or all_rows and self.status != march.RUNNING:
            keep[-1:] = True
        if all_rows:
            self.ts[-1], self.ys[-1] = self.ts[-1][keep], self.ys[-1][keep]
            if self.more:
                self.more[-1] = {name: rows[keep] for name, rows in self.more[-1].items()}
        self._remember(h, place, keep)
        self.hs[-1] = h[keep]
        self._took(h)

    def _took(self, h: np.ndarray) -> None:
        self.taken += len(h)
        self.last_step = h[-1] if len(h) else self.last_step
        self.thinned = len(self.hs)

    def _remember(self, h: np.ndarray, place: np.ndarray, keep: np.ndarray) -> None:
        """Keep of these steps what `between` needs to take the others again."""

    def between(self, index: int, t: float, y: np.ndarray, every: int) -> Steps:
        """Times (n,) and states (n, dim) from row `index`, which is (t, y), to the last step before the next row."""
        raise NotImplementedError

    def _together(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows t, y and the steps h to them, kept in place of the chunks: nothing is twice in memory."""
        self.ts, self.ys = [_joined(self.ts)], [_joined(self.ys)]
        self.hs = [_joined(self.hs if len(self.hs) == 1 else self.hs[1:])]  # the first is empty
        return self.ts[0], self.ys[0], self.hs[0]

    def _last(self) -> float:
        """Time of the last row."""
        last = self.ts[-1]
        return float(last[-1] if len(last) else next(x[-1] for x in reversed(self.ts) if len(x)))

    def _end_at(self, t: float, y: np.ndarray) -> None:
        """The last row of a run that ended between two rows."""
        self.ts.append(np.array([t]))
        self.ys.append(y[None])
        self.hs.append(np.array([self.last_step]))

    def cut(self, row: int, t: float, y: np.ndarray) -> None:
        """End the run at (t, y), inside the step that leads to this row of the last chunk."""
        before = self.ts[-1][row - 1] if row else self.last_time
        self.ts[-1] = np.append(self.ts[-1][:row], t)
        self.ys[-1] = np.vstack([self.ys[-1][:row], y[None]])
        self.hs[-1] = np.append(self.hs[-1][:row], t - before)
        if self.more:  # inside a step they are not known
            self.more[-1] = {
                name: np.vstack([rows[:row], np.full((1, rows.shape[1]), np.nan)])
                for name, rows in self.more[-1].items()
            }
        self.status = TERMINAL


class CompiledRun(Run):
    """A run of a compiled loop: fixed steps when h is given, adaptive otherwise."""

    def __init__(self, solver: Solver, wish: Wish) -> None:
        t0, t1, y0, every, given = wish
        plan, self.loop = solver.fresh()
        self.solver, self.plan, method = solver, plan, solver.method
        params = plan.params if given is None else given
        # A copy: a kernel may write into it.
        plain = type(params) is np.ndarray and params.dtype is _FLOAT and params.ndim == 1
        self.params = params.copy() if plain else np.array(params, dtype=float, order="C")
        h = solver.h
        if h is not None:
            self.steps, step = fixed_grid(t0, t1, h, plan.structured, method.name)
            self.n_exponentials = plan.n_exponentials
        else:
            self.steps, step = 0, solver.first_step(wish)
            if plan.n_exponentials is not None:
                self.n_exponentials = plan.n_exponentials + plan.n_exponentials_hat
        self.run = march.begun(solver.state, t0, t1, step, self.steps, every)
        self.y = y0.copy() if plan.encode is None else plan.encode(y0).copy()
        self.budget = first_chunk(solver.seconds)
        if h is None:
            # The first two steps after each row, from which its controller finds the others again.
            self.first, self.second = [np.empty(0)], [np.empty(0)]
        super().__init__(method, wish)

    def over(self) -> None:
        if self.plan.extras is None:
            self.loop = self.solver.give_back(self.loop)

    @property
    def status(self) -> int:
        return int(self.run[march.STATUS])

    @status.setter
    def status(self, value: int) -> None:
        self.run[march.STATUS] = value

    def time(self) -> float:
        return float(self.run[march.T])

    def chunk(self) -> None:
        run = self.run
        self.last_time = self.time()
        if self.watched:
            self.before = run.copy(), self.y.copy(), self.params.copy(), self.loop.copied()
        budget, every = self.budget, self.every
        if self.steps:  # no more than there are left
            left = (self.steps - int(run[march.K])) * max(1, len(self.plan.fractions))
            if left <= budget:
                budget = left
        plan = self.plan
        # A chunk may begin just before a row, and end between two.
        rows = budget // every + 2 if every > 1 or plan.fractions else budget
        # The first one holds the start too, so that a run of one chunk need not be put together.
        first = run[march.TRIES] == 0.0 and not self.watched
        first = bool(first and plan.decode is None and plan.extras is None)
        ts, ys, hs = np.empty(rows + first), np.empty((rows + first, len(self.y))), np.empty(budget)
        if first:
            ts[0], ys[0] = self.t0, self.start
        elif not self.ts:
            self.begin_rows()
        run[march.SAVED], run[march.TAKEN] = first, 0
        run[march.PAUSE] = run[march.TRIES] + budget
        began = time.perf_counter()
        try:
            self.loop(run, self.y, self.params, ts, ys, hs)
        except ArithmeticError as error:  # compiled code goes on with infinity, to the same end
            if ENABLED or not undefined(error):
                raise
            run[march.STATUS] = march.NOT_FINITE
        finally:
            saved, taken = int(run[march.SAVED]), int(run[march.TAKEN])
            if saved < len(ts):
                ts, ys = ts[:saved].copy(), ys[:saved].copy()
            if first:
                self.ts, self.ys = [ts], [ys]
            else:
                self.ts.append(ts)
                if plan.extras is not None:
                    self.more.append(plan.extras(ys, False))
                self.ys.append(self._decode(ys))
            self.hs.append(hs if taken == budget else hs[:taken].copy())
        if time.perf_counter() - began < _CHUNK_SECONDS:
            room = _CHUNK_BYTES * self.every // (8 * len(self.y))
            self.budget = max(1, min(2 * self.budget, room, 2**20))

    def cut(self, row: int, t: float, y: np.ndarray) -> None:
        super().cut(row, t, y)
        self._count_to(row + 1)

    def _count_to(self, steps: int) -> None:
        """Of the last chunk count calls and rejections up to so many steps, which are taken again for it."""
        run, y, params, loop = self.before
        goal, parts = run[march.K] + steps, max(1, len(self.plan.fractions))
        ts, ys, hs = np.empty(steps), np.empty((steps, len(y))), np.empty(steps)
        run[march.SAVED] = run[march.TAKEN] = 0
        while run[march.STATUS] == march.RUNNING and run[march.K] < goal:
            run[march.PAUSE] = run[march.TRIES] + (goal - run[march.K]) * parts - run[march.PART]
            loop(run, y, params, ts, ys, hs)
        counts = [march.NFEV, march.REJECTED]
        self.run[counts] = run[counts]

    def _decode(self, y: np.ndarray) -> np.ndarray:
        if self.plan.decode is None:
            return y
        return self.plan.decode(y) if len(y) else np.empty((0, len(self.start)))

    def _remember(self, h: np.ndarray, place: np.ndarray, keep: np.ndarray) -> None:
        if self.run[march.GRID] == 0.0:
            self.first.append(h[place == 0])
            self.second.append(h[place == 1])

    def between(self, index: int, t: float, y: np.ndarray, every: int) -> Steps:
        k = index * every
        count = min(every, self.taken - k) - 1
        if self.run[march.GRID] == 0.0:
            return self._again(index, t, y, count)
        knots = self.run[march.T0] + (k + np.arange(count + 1)) * self.run[march.GRID]
        h = np.full(count, self.run[march.GRID])
        states = self.flow(knots[:-1], y[None], h, chain=True) if count else np.empty((0, len(y)))
        return knots, np.vstack([y, states])

    def _again(self, index: int, t: float, y: np.ndarray, count: int) -> Steps:
        """As `between`, for an adaptive run: from the first two steps on its controller chooses the others again."""
        run, first, second = self.run.copy(), self.first[0], self.second[0]
        run[[march.T, march.H, march.LIMIT]] = t, first[index], math.inf
        run[[march.STATUS, march.AT]] = march.RUNNING, march.START
        run[[march.EVERY, march.K, march.SAVED, march.TAKEN, march.TRIES]] = 1, 0, 0, 0, 0
        ts, ys, hs = np.empty(count), np.empty((count, len(y))), np.empty(count)
        loop, y_now = self.loop.copied(), y.copy()  # no pair works in variables of its own
        for goal in (min(1, count), count):
            while run[march.STATUS] == march.RUNNING and run[march.K] < goal:
                run[march.PAUSE] = run[march.TRIES] + goal - run[march.K]
                loop(run, y_now, self.params, ts, ys, hs)
            if goal == 1:
                run[march.H] = second[index]
        found = int(run[march.K])
        return np.append(t, ts[:found]), np.vstack([y, ys[:found]])

    def flow(
        self, t: np.ndarray, y: np.ndarray, h: np.ndarray, chain: bool = False, full: Any = None
    ) -> np.ndarray:
        """One step of size h[i] from each (t[i], y[i]); a chain of steps from y[0] with `chain`."""
        count, size = len(h), len(self.y)
        kind = march.CHAIN if chain else march.EACH
        run = march.new_schedule(count, kind, t[0], h[0], self.plan.fractions, self.plan.rotations)
        ys = np.empty((count, size))
        ys[: len(y)] = y if self.plan.encode is None else self.plan.encode(y)
        start = ys[0].copy()
        ts, hs = np.array(t, dtype=float), np.array(h, dtype=float)
        # Work arrays of its own: a run that is only paused must find its stages again.
        self.loop.copied()(run, start, self.params, ts, ys, hs)
        if run[march.STATUS] != march.DONE:
            reason, _ = _REASONS[int(run[march.STATUS])]
            raise ValueError(f"no state near t = {run[march.T]:.6g}: {reason}")
        return self._decode(ys)

    def solution(self, system: System, every: int, message: str = "") -> Solution:
        run, status = self.run, self.status
        if not self.ts:  # interrupted before it began
            self.begin_rows()
        if status != TERMINAL and run[march.T] != self._last() and run[march.PART] == 0:
            # ended between two saved steps: keep the last state reached, unless inside a step of a composition
            self._end_at(self.time(), self._decode(self.y[None])[0])
            if self.plan.extras is not None:
                self.more.append(self.plan.extras(self.y[None], False))
        t, y, h = self._together()
        if not self.steps:
            self.first, self.second = [np.concatenate(self.first)], [np.concatenate(self.second)]
        extras = {}
        if self.plan.extras is not None:
            rows = [self.plan.extras(self.y[None], True), *self.more]
            extras = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
        success = status in (march.DONE, TERMINAL)
        if not message:
            message = _end(status, t[-1]) if success else failure(status, run)
        return Solution(
            t=t,
            y=y,
            h=h,
            nfev=int(run[march.NFEV]),
            nsteps=self.taken,
            nrejected=int(run[march.REJECTED]),
            success=success,
            status=_public(status),
            message=message,
            method=self.method.name,
            system=system,
            extras=extras,
            n_exponentials=self.n_exponentials,
            save_every=every,
            flow=self.flow if self.plan.restarts else None,
            between=self.between,
        )


class ScipyRun(Run):
    """SciPy's RK45 or DOP853 in ambient coordinates."""

    def __init__(self, solver: Solver, wish: Wish) -> None:
        t0, t1, y0, _, _ = wish
        method, control = solver.method, solver.control
        import scipy.integrate

        self.kind = getattr(scipy.integrate, method.name)
        self.rhs = ambient_rhs(solver.given(wish.params))
        first = None if control.h0 is None else min(control.h0, abs(t1 - t0))
        self.limits = {
            "rtol": np.maximum(solver.rtol, _SCIPY_RTOL),
            "atol": solver.atol,
            "max_step": control.max_step,
        }
        self.solver = self.kind(
            self.rhs,
            t0,
            y0,
            t1,
            first_step=first,
            **self.limits,
        )
        self.first_calls = self.nfev = self.solver.nfev
        self.calls: list[int] = []  # by the end of each step of the last chunk
        # What the solver tries after each row: from there it chooses the same steps again.
        self.tries, self.trials = np.empty(0), [np.array([self.solver.h_abs])]
        self.limit, self.status, self.reason = solver.max_steps, march.RUNNING, ""
        super().__init__(method, wish)
        self.begin_rows()

    def time(self) -> float:
        return float(self.solver.t)

    def chunk(self) -> None:
        self.last_time = self.time()
        began = time.perf_counter()
        ts: list[float] = []
        ys: list[np.ndarray] = []
        hs: list[float] = []
        tries: list[float] = []
        self.calls = []
        try:
            while self.status == march.RUNNING and time.perf_counter() - began < _CHUNK_SECONDS:
                if self.taken + len(hs) >= self.limit:
                    self.status = march.TOO_MANY
                    break
                self.reason = self.solver.step() or ""
                if self.solver.status == "failed":
                    finite = np.all(np.isfinite(self.solver.f))
                    self.status = march.STEP_TOO_SMALL if finite else march.NOT_FINITE
                    break
                if self.solver.status == "finished":
                    self.status = march.DONE
                hs.append(self.solver.t - self.solver.t_old)
                tries.append(self.solver.h_abs)
                self.calls.append(self.solver.nfev)
                if self.status == march.DONE or (self.taken + len(hs)) % self.every == 0:
                    ts.append(self.solver.t)
                    ys.append(self.solver.y.copy())
        finally:
            self.ts.append(np.array(ts))
            self.ys.append(np.array(ys).reshape(len(ts), len(self.solver.y)))
            self.hs.append(np.array(hs))
            self.tries = np.array(tries)
            self.nfev = self.solver.nfev

    def cut(self, row: int, t: float, y: np.ndarray) -> None:
        super().cut(row, t, y)
        self.nfev = self.calls[row]

    def _remember(self, h: np.ndarray, place: np.ndarray, keep: np.ndarray) -> None:
        self.trials.append(self.tries[: len(h)][keep])

    def between(self, index: int, t: float, y: np.ndarray, every: int) -> Steps:
        solver = self.kind(self.rhs, t, y, self.t1, first_step=abs(self.t1 - t), **self.limits)
        solver.h_abs = self.trials[0][index]
        ts, ys = [t], [y]
        for _ in range(min(every, self.taken - index * every) - 1):
            solver.step()
            ts.append(solver.t)
            ys.append(solver.y)
        return np.array(ts), np.array(ys)

    def flow(self, t: np.ndarray, y: np.ndarray, h: np.ndarray, full: Any = None) -> np.ndarray:
        """SciPy's own interpolant: the step `full` is taken again and evaluated at t + h."""
        result = np.empty((len(h), y.shape[1]))
        key, dense = None, None  # type: Any, Any
        for i in range(len(h)):
            if key != t[i]:
                key, dense = t[i], self._step(t[i], y[i], full[i]).dense_output()
            result[i] = dense(t[i] + h[i])
        return result

    def _step(self, t: float, y: np.ndarray, h: float) -> Any:
        # Loose tolerances: the step was accepted before.
        solver = self.kind(self.rhs, t, y, t + h, first_step=abs(h), rtol=1e3, atol=1e300)
        solver.step()
        return solver

    def solution(self, system: System, every: int, message: str = "") -> Solution:
        if self.status != TERMINAL and self._last() != self.solver.t:
            self._end_at(self.solver.t, self.solver.y)
        t, y, h = self._together()
        self.trials = [np.concatenate(self.trials)]
        success = self.status in (march.DONE, TERMINAL)
        if not message:
            message = _end(self.status, t[-1])
            if not success:
                reason, remedy = _REASONS[self.status]
                message = f"stopped at t = {self.solver.t:.6g}: {self.reason or reason}; {remedy}"
        return Solution(
            t=t,
            y=y,
            h=h,
            nfev=self.nfev,
            nsteps=self.taken,
            nrejected=self._rejected(self.taken),
            success=success,
            status=_public(self.status),
            message=message,
            method=self.method.name,
            system=system,
            save_every=every,
            flow=self.flow,
            between=self.between,
        )

    def _rejected(self, accepted: int) -> int:
        # SciPy does not report rejected steps; they follow from the calls, as many in each try.
        tries = (self.nfev - self.first_calls) // {"RK45": 6, "DOP853": 12}[self.method.name]
        return tries - accepted


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _public(status: int) -> int:
    return {march.DONE: 0, TERMINAL: 1}.get(status, status)


def failure(status: int, run: Any) -> str:
    """What a compiled run says that failed with this status; `run` is the state of its march."""
    reason, remedy = _REASONS[status]
    residual = f", residual {run[march.RESIDUAL]:.3g}" if run[march.RESIDUAL] else ""
    return (
        f"stopped at t = {run[march.T]:.6g} with step {run[march.H]:.3g}{residual}: "
        f"{reason}; {remedy}"
    )


def _end(status: int, t: float) -> str:
    if status == TERMINAL:
        return f"a terminal event ended the run at t = {t:.10g}"
    return END


def first_chunk(seconds: float) -> int:
    """Steps tried in the first chunk, by what a call of the field takes, about ten of them a step."""
    if seconds <= 0.0:
        return 256
    return int(min(max(1, 0.5 * _CHUNK_SECONDS / (10.0 * seconds)), 256))


def step_size(h: Any) -> float:
    """The step h as a float, or ValueError."""
    step = as_real(h)
    if step is None or not 0.0 < step < math.inf:
        raise ValueError(
            f"h must be a positive number, got {h!r}; the direction follows from t_span"
        )
    return step


def fixed_grid(t0: float, t1: float, step: float, structured: bool, name: str) -> tuple[int, float]:
    """Number of steps and their signed size; the last may be shorter for methods without structure."""
    span = t1 - t0
    count = abs(span) / step
    if count > 2**52:
        raise ValueError(f"h = {step!r} asks for {count:.3g} steps over t_span; use a larger h")
    whole = max(1, round(count))
    if abs(count - whole) <= _WHOLE * max(1.0, count):
        return whole, span / whole
    if structured:
        raise ValueError(
            f"{name} needs a whole number of equal steps: t_span / h = {count:.6g}; use h = {abs(span) / whole:.12g}"
        )
    return math.ceil(count), math.copysign(step, span)
