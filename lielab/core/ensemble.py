"""Many runs of one loop in one compiled call: as many as a thread is given, one after the other, without Python's lock.

`Ensemble` makes of any family's loop the loop over runs; it takes that loop as a function pointer. Each run
begins as one by itself does: with work arrays as they were when the method was made ready, the same state of the march
and a copy of p, so that it gives the same numbers bit for bit. Between two pieces of a run the call looks
whether it is to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .jit import CUBE, I8, INTS, MAT, VEC, VOID, Bound, Loop, pointer, record
from .march import (
    NFEV,
    PART,
    PAUSE,
    REJECTED,
    RESIDUAL,
    RUNNING,
    SAVED,
    STATUS,
    TAKEN,
    TRIES,
    H,
    K,
    T,
)

STOP, AT = range(2)  # in `told`: whether to stop, and at which run a call is
# What is kept of each run, but for its rows: columns of `ends`. The last step taken, NaN where there is none.
KEPT = (T, H, RESIDUAL, STATUS, K, NFEV, REJECTED, PART, SAVED)
LAST_STEP = len(KEPT)
COLUMNS = len(KEPT) + 1


# What is set back before each run: the loop's arrays, and the state of a march that has not moved.
Ready = record("Ready", memory=VEC, pristine=VEC, state=VEC)
# Runs and what comes of them, see `many_runs`.
Runs = record("Runs", steps=VEC, starts=MAT, params=MAT, rows=CUBE, last=MAT, ends=MAT, told=INTS)


def many_runs(march_one, kernels, data, ready, runs, budget):
    """A run from each of the starts (n, size): its rows (n, times, size), the first of which is the start, its last
    state (n, size), and `ends` (n, COLUMNS).

    `steps` are the first ones of adaptive runs, empty for fixed ones; params one row for all, or one a run. A piece of
    a run is `budget` steps tried.
    """
    memory, pristine, template = ready
    steps, starts, params, rows, last, ends, told = runs
    run, y, p = np.empty(len(template)), np.empty(starts.shape[1]), np.empty(params.shape[1])
    ts, hs = np.empty(rows.shape[1]), np.empty(budget)
    for i in range(len(starts)):
        told[AT] = i
        for j in range(len(memory)):
            memory[j] = pristine[j]
        for j in range(len(run)):
            run[j] = template[j]
        if len(steps) > 0:
            run[H] = steps[i]
        for j in range(len(y)):
            y[j] = rows[i, 0, j] = starts[i, j]
        row = i if len(params) > 1 else 0
        for j in range(len(p)):
            p[j] = params[row, j]
        run[SAVED] = 1
        step = np.nan
        while run[STATUS] == RUNNING and told[STOP] == 0:
            run[TAKEN] = 0
            run[PAUSE] = run[TRIES] + budget
            march_one(kernels, data, run, y, p, ts, rows[i], hs)
            if run[TAKEN] > 0:
                step = hs[int(run[TAKEN]) - 1]
        for j in range(len(y)):
            last[i, j] = y[j]
        for j in range(len(KEPT)):
            ends[i, j] = run[KEPT[j]]
        ends[i, LAST_STEP] = step
        if told[STOP] != 0:
            return


_loops: dict[Loop, Loop] = {}
_guard = threading.Lock()


def _loop_of(one: Loop) -> Loop:
    """The loop over runs of that loop."""
    with _guard:
        if one not in _loops:
            kernels, data, *state = one._arguments
            march_one = pointer(VOID, kernels, data, *state)
            kinds = (march_one, kernels, data, Ready.kind, Runs.kind, I8)
            _loops[one] = Loop(many_runs, kinds)
        return _loops[one]


class Ensemble:
    """A loop made ready to go over many runs; `bound` is the loop with its kernels and arrays."""

    def __init__(self, one: Loop, bound: Bound) -> None:
        self._bound = bound
        loop = _loop_of(one)
        one.entry()  # compiled
        self._enter = loop.entry()
        (self._march,) = loop.read([one._function])

    def worker(self, state: np.ndarray) -> Callable[[Any, int], None]:
        """What a thread calls with `Runs` and a budget; its work arrays are its own, and runs begin in this state."""
        bound = self._bound.renewable()
        enter, ready = self._enter, Ready(bound.memory, bound.pristine, state)
        first = (self._march, *bound._first, ready)

        def call(runs: Any, budget: int) -> None:
            assert bound  # its arrays are in use
            enter(*first, runs, budget)

        return call
