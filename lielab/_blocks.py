"""The runs of `solve_many` in blocks: each is one compiled call, in which a thread needs no Python."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._runs import END, Wish, failure, first_chunk, fixed_grid
from .core import march
from .core.arguments import numbers
from .core.ensemble import AT, COLUMNS, KEPT, LAST_STEP, STOP, Ensemble, Runs
from .prepared import Solver
from .systems import ActionSystem

ERROR = -10  # status of a run that an error ended, or an interrupt
_SECONDS = 0.02  # that a call may take before its thread looks up
_BYTES = 2**25  # of the rows of a block, where they are not the result's own


class Blocks:
    """The runs of a method with a compiled loop, all with the same rows; `alone(i)` does one that raised an error."""

    def __init__(
        self,
        ensemble: Ensemble,
        solver: Solver,
        wish: Wish,
        starts: np.ndarray,
        params: np.ndarray | None,
        result: Any,
        alone: Callable[[int], None],
    ) -> None:
        self.ensemble, self.solver, self.plan, self.result = ensemble, solver, solver.plan, result
        self.wish, self.starts, self.given, self.alone = wish, starts, params, alone
        t0, t1, _, every, _ = wish
        steps, h = 0, t1 - t0  # adaptive runs have a first step each
        if solver.h is not None:
            steps, h = fixed_grid(t0, t1, solver.h, self.plan.structured, solver.method.name)
        self.state = march.begun(solver.state, t0, t1, h, steps, every)
        self.budget = first_chunk(solver.seconds)
        self.params = np.array(self.plan.params, dtype=float)[None] if params is None else params
        self.states = starts if self.plan.encode is None else np.array(self.plan.encode(starts))
        self.y = np.asarray(result.y)  # of a memory map: its numbers
        self.largest = len(starts)
        if self.plan.decode is not None:
            rows = self.y.shape[1] * self.states.shape[1]
            self.largest = max(1, _BYTES // (8 * rows))
        self.ends = np.full((len(starts), COLUMNS), np.nan)
        self.lock, self.next, self.over, self.stopped = threading.Lock(), 0, 0, False
        self.told: list[np.ndarray] = []

    def stop(self) -> None:
        """End all calls at their next piece."""
        self.stopped = True
        for told in self.told:
            told[STOP] = 1

    def finished(self) -> int:
        """Runs that are done, for the bar."""
        with self.lock:
            return self.over + sum(int(told[AT]) for told in self.told)

    def take(self, workers: int) -> None:
        """What a thread does: the next block, until there are none."""
        told = np.zeros(2, dtype=np.int64)
        call, each = self.ensemble.worker(self.state), 0.0
        self.told.append(told)
        while not self.stopped:
            with self.lock:
                first, left = self.next, len(self.starts) - self.next
                # Shorter and shorter, so that all threads end together; the first run tells how long they are.
                size = min(left // (2 * workers), self.largest, int(_SECONDS / each) if each else 1)
                stop = self.next = first + min(left, max(1, size))
            if first == stop:
                return
            began, count = time.perf_counter(), stop - first
            while first < stop and not self.stopped:
                reached = self._go(call, first, stop, told)
                with self.lock:
                    self.over += reached - first
                    told[AT] = 0
                first = reached
            each = max(1e-7, (time.perf_counter() - began) / count)

    def _go(self, call: Any, first: int, stop: int, told: np.ndarray) -> int:
        """Do runs from `first` on; until where it came, which is before `stop` where one raised an error."""
        steps, wrong = self._first_steps(first, stop)
        stop -= wrong
        here, direct = slice(first, stop), self.plan.decode is None
        shape = stop - first, self.y.shape[1], self.states.shape[1]
        rows = self.y[here] if direct else np.zeros(shape)
        last = self.result.last[here] if direct else np.zeros((shape[0], shape[2]))
        params = self.params if self.given is None else self.params[here]
        failed = -1 if shape[0] else first
        try:
            if shape[0]:
                states, ends = self.states[here], self.ends[here]
                call(Runs(steps, states, params, rows, last, ends, told), self.budget)
        except Exception:
            failed = first + int(told[AT])
        if not direct:
            self._decode(first, rows, last)
        if failed < 0:
            return stop
        self.alone(failed)
        return failed + 1

    def _first_steps(self, first: int, stop: int) -> tuple[np.ndarray, int]:
        """Those of adaptive runs, which begin with one that the start asks for; of how many at the end none is known,
        since the field raised an error."""
        if self.solver.h is not None:
            return np.empty(0), 0
        t0, t1, _, every, _ = self.wish
        steps = np.empty(stop - first)
        for i in range(first, stop):
            p = None if self.given is None else self.given[i]
            try:
                step = self.solver.first_step(Wish(t0, t1, self.starts[i], every, p))
            except Exception:
                return steps[: i - first], stop - i
            steps[i - first] = math.copysign(min(abs(step), abs(t1 - t0)), t1 - t0)
        return steps, 0

    def _decode(self, first: int, rows: np.ndarray, last: np.ndarray) -> None:
        """Into the result, in the system's own layout, for runs that have been done."""
        n, count, size = rows.shape
        done = np.flatnonzero(~np.isnan(self.ends[first : first + n, 0]))
        if not len(done):
            return
        decode = self.plan.decode
        assert decode is not None
        with np.errstate(all="ignore"):
            found = decode(rows[done, 1:].reshape(-1, size)).reshape(len(done), count - 1, -1)
            self.y[first + done, 1:] = found
            self.result.last[first + done] = decode(last[done])
        self.y[first + done, 0] = self.starts[first + done]

    def read(self) -> None:
        """Into the result what is known of each run."""
        result, ends = self.result, self.ends
        done = np.flatnonzero(~np.isnan(ends[:, 0]))
        known = {entry: ends[done, place] for place, entry in enumerate(KEPT)}
        status = known[march.STATUS].astype(int)
        result.status[done] = np.where(status == march.DONE, 0, status)
        result.done[done] = status != march.RUNNING
        result.t_last[done], result.h_last[done] = known[march.T], ends[done, LAST_STEP]
        result.nsteps[done], result.nfev[done] = known[march.K], known[march.NFEV]
        result.nrejected[done], result.rows[done] = known[march.REJECTED], known[march.SAVED]
        for i in done[status == march.DONE].tolist():
            result.message[i] = END
        for i in done[status != march.DONE].tolist():
            self._ended_early(i)

    def _ended_early(self, i: int) -> None:
        """A run that failed, or that was told to stop."""
        result, end = self.result, dict(zip(KEPT, self.ends[i], strict=False))
        rows = int(end[march.SAVED])
        result.y[i, rows:] = np.nan
        if end[march.PART] > 0.0:  # inside the step of a composition: back to the last row
            result.last[i], result.t_last[i] = result.y[i, rows - 1], result.t[rows - 1]
            result.h_last[i] = result.h_last[i] if rows > 1 else np.nan
        if not result.done[i]:
            result.status[i] = ERROR
            result.message[i] = f"stopped at t = {end[march.T]:.6g}: the call was interrupted"
            return
        system = self.solver.having(None if self.given is None else self.given[i])[1]
        doubt = system._doubt(result.last[i])
        result.message[i] = failure(int(end[march.STATUS]), end) + doubt


def numbers_of_runs(solver: Solver, params: list) -> np.ndarray | None:
    """p of each run (n, k); None where they are not numbers alone, or not as many as p has."""
    if type(solver.system) is not ActionSystem:
        return None
    found = np.empty((len(params), len(solver.system.p)))
    for i, one in enumerate(params):
        if one is None:
            found[i] = solver.system.p
            continue
        if isinstance(one, Mapping):
            if list(one) != ["p"]:
                return None
            one = one["p"]
        try:
            p = numbers("params", one)
        except ValueError:  # it is said where that run is done
            return None
        if len(p) != found.shape[1]:
            return None
        found[i] = p
    return found
