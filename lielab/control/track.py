"""Closed loops: LQR about an equilibrium or along a trajectory, with saturation, one run or many."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.arguments import as_real, count, named_array, real_array
from ..core.interrupts import given
from ..systems.system import System
from . import _loops
from .discrete import DiscreteSystem
from .linearize import as_discrete, at
from .lqr import MOST_STEPS, lqr

# A reference that is off by more than this in a step is not a motion of the discrete system.
MAX_DEFECT = 1e-8
_LOOK = 0.1  # seconds; Windows hands an interrupt over between two waits only


@dataclass
class Tracking:
    """One closed loop: t (N + 1,), y (N + 1, dim) in the system's layout, u (N, m), multipliers (N, c).

    `error` (N + 1, 2 n) is x = (log(g_d^-1 g), p - p_d), `cost` the sum of x.Qx + du.R du and the last x.QN x.
    A loop whose step fails ends early, with `success` False and a message; what was computed is kept.
    """

    t: np.ndarray
    y: np.ndarray
    u: np.ndarray
    error: np.ndarray
    cost: float
    multipliers: np.ndarray
    success: bool
    message: str
    controller: Controller = field(repr=False)

    @property
    def system(self) -> System:
        """The system that is controlled; with t and y what `plotting.animate` needs."""
        return self.controller.discrete.system


@dataclass
class Ensemble:
    """Many closed loops, one row each: last states y (S, dim), their error (S, 2 n), cost, `peak` = largest |u|, and
    `success`: were all steps taken?"""

    y: np.ndarray
    error: np.ndarray
    cost: np.ndarray
    peak: np.ndarray
    success: np.ndarray


class Controller:
    """u_k = u_d - K_k (log(g_d^-1 g_k), p_k - p_d), clipped to the limits, about a reference (fan IV.A).

    Made once, run often: `run(y0)` gives a Tracking, `run_many(starts)` an Ensemble.

    `reference` = (y, u) in the system's layout: an equilibrium y (dim,), u (m,) held for `steps` steps, or a trajectory
    y (N + 1, dim), u (N, m). It must satisfy the *discrete* equations, else the regulator chases an error that
    it cannot remove: a defect above 1e-8 in a step is refused, and `defect` holds what was found. Q (2n, 2n),
    R (m, m), QN (default Q) weigh error, input and last error. `limits`: a number for |u_i|, or (low, high), each a
    number or (m,). With a constraint the momenta of y, and of the starts, are those before the impulse.
    """

    def __init__(
        self,
        system: System | DiscreteSystem,
        reference: tuple[Any, Any],
        Q: np.ndarray,
        R: np.ndarray,
        QN: np.ndarray | None = None,
        *,
        h: float | None = None,
        steps: int | None = None,
        limits: Any = None,
        retraction: str = "cay",
    ) -> None:
        d = self.discrete = as_discrete(system, h, retraction)
        y, u = self._read(reference, steps)
        self.steps = len(u) if steps is None else int(steps)
        self.g_ref, self.p_ref = (np.ascontiguousarray(part) for part in (y[:, : d.k], y[:, d.k :]))
        self.u_ref = u
        self.limits = self._read_limits(limits)
        found = [at(d, y[k], u[k], k * d.h) for k in range(len(u))]
        ends = y if steps is not None else y[1:]
        self.defect = max(self._gap(step[1], end) for step, end in zip(found, ends, strict=True))
        if not self.defect <= MAX_DEFECT:
            raise ValueError(
                f"reference does not satisfy the discrete equations: a step misses it by {self.defect:.3g}, at most "
                f"{MAX_DEFECT:g} is accepted; make it with DiscreteSystem.step, or by discrete flatness"
            )
        self.A, self.B = (np.array([step[0][i] for step in found]) for i in range(2))
        self.Q, self.R = named_array("Q", Q), named_array("R", R)
        self.QN = self.Q if QN is None else named_array("QN", QN)
        if steps is None:
            self.K, self.P = lqr(self.A, self.B, self.Q, self.R, self.QN)
        else:
            self.K, self.P = lqr(self.A[0], self.B[0], self.Q, self.R, self.QN, self.steps)

    def _read(self, reference: Any, steps: int | None) -> tuple[np.ndarray, np.ndarray]:
        d = self.discrete
        if d.m == 0:
            raise ValueError(
                f"{type(d.system).__name__} has no inputs as it stands; give it a control (see its docstring)"
            )
        try:
            y, u = reference
        except (TypeError, ValueError):
            raise ValueError(f"reference must be a pair (y, u), got {reference!r}") from None
        y, u = d.on_group("y of the reference", y), named_array("u", u)
        if steps is not None:
            count("steps", steps, most=MOST_STEPS)
            if y.ndim != 1 or u.shape != (d.m,):
                raise ValueError(
                    f"reference with steps is an equilibrium, y ({d.system.dim},) and u ({d.m},); got {y.shape} and "
                    f"{u.shape}"
                )
            return y[None], u[None].copy()
        if y.ndim != 2 or len(y) < 2 or u.shape != (len(y) - 1, d.m):
            raise ValueError(
                f"reference must have y (N + 1, {d.system.dim}) and u (N, {d.m}), or be an equilibrium with steps=; "
                f"got {np.shape(reference[0])} and {u.shape}"
            )
        return y, np.ascontiguousarray(u)

    def _read_limits(self, limits: Any) -> np.ndarray:
        d = self.discrete
        pair, one = (-np.inf, np.inf) if limits is None else limits, as_real(limits)
        if one is not None:
            if not one > 0.0:
                raise ValueError(
                    f"limits must be a positive number, or (low, high), got {limits!r}"
                )
            pair = (-one, one)
        try:
            low, high = pair
            found = np.array([np.broadcast_to(real_array(x), d.m) for x in (low, high)])
        except (TypeError, ValueError):
            raise ValueError(
                f"limits must be a number or (low, high), each a number or {d.m} of them; got {limits!r}"
            ) from None
        if not (found[0] < found[1]).all():
            raise ValueError(f"limits must have low < high, got {limits!r}")
        return found

    def _gap(self, a: np.ndarray, b: np.ndarray) -> float:
        d = self.discrete
        return float(max(np.abs(d.log(b[None], a[None])).max(), np.abs((a - b)[d.k :]).max()))

    def _starts(self, y: Any) -> np.ndarray:
        return self.discrete.on_group("the start", y)

    def _go(self, ys: np.ndarray, us: np.ndarray, lams: np.ndarray, workers: int = 1) -> tuple:
        """The closed loops from ys[:, 0], in `workers` threads: what they summarise, and the interrupt that ended them.

        An interrupt reaches Python, which waits here, while compiled code runs elsewhere and looks at `stop`.
        """
        summaries, stop = np.zeros((len(ys), 5)), np.zeros(1, dtype=np.int64)
        summaries[:, 4] = self.steps
        self._loop(ys[:0], us, lams, summaries[:0], stop)  # compiled in this thread
        n = min(workers, len(ys))
        parts = zip(*(np.array_split(x, n) for x in (ys, summaries)), strict=True)  # views
        interrupt = None
        with ThreadPoolExecutor(n) as threads:
            loops = [threads.submit(self._loop, y, us, lams, rows, stop) for y, rows in parts]
            try:
                while wait(loops, timeout=_LOOK).not_done:
                    pass
            except KeyboardInterrupt as error:
                interrupt = error
            finally:
                stop[0] = 1
        for loop in loops:
            loop.result()
        return summaries, interrupt

    def _loop(
        self,
        ys: np.ndarray,
        us: np.ndarray,
        lams: np.ndarray,
        summaries: np.ndarray,
        stop: np.ndarray,
    ) -> None:
        d = self.discrete
        law = _loops.Law(
            gains=np.ascontiguousarray(self.K),
            g_ref=self.g_ref,
            p_ref=self.p_ref,
            u_ref=self.u_ref,
            limits=self.limits,
            weights_x=np.array([self.Q, self.QN]),
            weight_u=self.R,
        )
        memory = _loops.Memory(np.zeros(2 + 2 * d.n), np.zeros(d.c), _loops.new_run())
        results = _loops.Results(ys, us, lams, summaries, stop)
        _loops.closed_loops(d.kernels, d.data(), law, memory, results, 0.0, d.h, d.params)

    def run(self, y0: Any) -> Tracking:
        """The closed loop from y0 (dim,). Interrupted, the KeyboardInterrupt carries the `.result` so far."""
        d = self.discrete
        start = self._starts(y0)
        if start.shape != (d.dim,):
            raise ValueError(f"y0 must have shape ({d.system.dim},), got {np.shape(y0)}")
        ys = np.empty((1, self.steps + 1, d.dim))
        us, lams = np.empty((self.steps, d.m)), np.empty((self.steps, d.c))
        ys[0, 0] = start
        summaries, interrupt = self._go(ys, us, lams)
        taken, cost, _, residual, _ = summaries[0]
        taken = int(taken)
        y = ys[0, : taken + 1]
        success = taken == self.steps
        message = "the horizon was reached"
        if interrupt is not None and not success:
            message = f"stopped at t = {taken * d.h:.6g} by KeyboardInterrupt"
        elif not success:
            message = f"stopped at t = {taken * d.h:.6g}: Newton left {residual:.3g}; use a smaller h or wider limits"
        result = Tracking(
            t=d.h * np.arange(taken + 1),
            y=d.decode(y),
            u=us[:taken],
            error=self.errors(y),
            cost=float(cost),
            multipliers=lams[:taken],
            success=success,
            message=message,
            controller=self,
        )
        return given(result, interrupt)

    def errors(self, y: np.ndarray) -> np.ndarray:
        """x (rows, 2 n) of the first rows of a run, states (g, p)."""
        d = self.discrete
        p_ref = self.p_ref[np.minimum(np.arange(len(y)), len(self.p_ref) - 1)]
        return np.hstack([d.log(self.g_ref, y), y[:, d.k :] - p_ref])

    def run_many(self, starts: Any, workers: int = 1) -> Ensemble:
        """Closed loops from starts (S, dim), in one compiled call for each of the `workers` threads.

        Interrupted, the KeyboardInterrupt carries the `.result` so far: every loop as far as it went.
        """
        d = self.discrete
        y = self._starts(starts)
        if y.ndim != 2 or not len(y):
            raise ValueError(f"starts must have shape (S, {d.system.dim}), got {np.shape(starts)}")
        ys = np.array(y[:, None], order="C")  # the loops write into it
        us, lams = np.empty((0, d.m)), np.empty((0, d.c))
        summaries, interrupt = self._go(ys, us, lams, count("workers", workers))
        last = ys[:, 0]
        result = Ensemble(
            y=d.decode(last),
            error=np.hstack([d.log(self.g_ref[-1:], last), last[:, d.k :] - self.p_ref[-1]]),
            cost=summaries[:, 1],
            peak=summaries[:, 2],
            success=summaries[:, 0] == self.steps,
        )
        return given(result, interrupt)


def track(
    system: System | DiscreteSystem,
    reference: tuple[Any, Any],
    Q: np.ndarray,
    R: np.ndarray,
    QN: np.ndarray | None = None,
    *,
    y0: Any,
    h: float | None = None,
    steps: int | None = None,
    limits: Any = None,
    retraction: str = "cay",
) -> Tracking:
    """Design the regulator for a reference and run it from y0: Controller(...).run(y0), see there."""
    made = Controller(
        system, reference, Q, R, QN, h=h, steps=steps, limits=limits, retraction=retraction
    )
    return made.run(y0)
