"""What every family's loop over steps shares: the grid, acceptance, step-size control and storage.

A family writes one compiled loop:

    while running(run):
        status = step(kernels..., run[T], run[H], y, p, work, y_new)
        advance(run, status, error, y, y_new, ts, ys, hs)

`run` is a flat float64 array that holds the state of the march, so that a run can pause for a progress bar
or an interrupt and go on, and a failure loses nothing. Counts are exact: floats hold integers up to 2^53.

`run[AT]` tells a family what it may keep from the last step tried: nothing (START), what it computed at y
(SAME, the step was rejected), or what it computed at y_new (MOVED, the step was accepted).

Rotations in the state (`ROTATIONS`) are brought back onto SO(3) in each step, where round-off has moved them.

A composition takes each step in parts (`PARTS`), one turn of the loop for each; only whole steps are counted, stored
and timed.

The same loop also serves as the map of one step: in a schedule (`new_schedule`) ts, ys and hs hold times,
states and steps, and each state is replaced by the one that its step leads to.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import MAT, VEC, jit, lent
from .round_off import mend

STATE = (VEC, VEC, VEC, VEC, MAT, VEC)  # run, y, p, ts, ys, hs: what a loop takes after its records

(
    T,  # time of y
    H,  # step to try next
    T0,
    T1,
    GRID,  # the fixed step, 0 when adaptive
    N,  # number of fixed steps
    K,  # accepted steps
    REJECTED,
    NFEV,
    SAVED,  # rows filled in this chunk's ts, ys
    TAKEN,  # accepted steps in this chunk, rows of hs
    EVERY,  # save every so many accepted steps, and the last
    TRIES,  # steps tried, accepted or not
    PAUSE,  # stop the chunk at so many tries
    LIMIT,  # largest number of steps tried
    STATUS,
    RTOL,
    ATOL,
    EXPONENT,  # 1/(order of the lower method + 1)
    RESIDUAL,  # what a failing step leaves behind for the message
    AT,  # START, SAME or MOVED: what is known at y
    SCHEDULE,  # 0: a march; EACH or CHAIN: a schedule of single steps
    NORM,  # how an error is measured: SCALED, EUCLIDEAN, ALGEBRA or DISTANCE
    SAFETY,  # step-size control: factor = SAFETY error^-EXPONENT OLD_ERROR^MEMORY, between SHRINK and GROW
    SHRINK,
    GROW,
    MEMORY,  # exponent of the last error, 0 for the standard controller
    OLD_ERROR,
    LONGEST,  # largest step allowed
    STEP,  # of a composition: the whole step, of which H is a part
    PART,  # which part of it comes next
    ROTATIONS,  # how many rotations are in the state; first entry and distance of rows of each follow the fractions
    ENTRIES,  # how many entries have tolerances of their own, 0 or all; atol, then rtol follow the rotations
    PARTS,  # how many there are, 0 for a plain method; their fractions follow from FRACTIONS on
    FRACTIONS,
) = range(35)

START, SAME, MOVED = 0.0, 1.0, 2.0
EACH, CHAIN = 1.0, 2.0
SCALED, EUCLIDEAN, ALGEBRA, DISTANCE = 0.0, 1.0, 2.0, 3.0

RUNNING, DONE, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY, NOT_CONVERGED, OUTSIDE = (
    0,
    1,
    -1,
    -2,
    -3,
    -4,
    -5,
)

# The last step is stretched by up to this fraction, rather than followed by a step of round-off size.
_STRETCH = 1e-10


def inside(rotations: tuple[tuple[int, int], ...], size: int) -> tuple[tuple[int, int], ...]:
    """The rotations as they are; ValueError where one ends beyond a state of that size, which compiled code would not
    notice: it would write there."""
    for first, row in rotations:
        if first < 0 or row < 3 or first + 2 * row + 3 > size:
            raise ValueError(
                f"rotations: one begins at entry {first} with rows {row} apart, which a state of {size} numbers "
                "does not hold; give (first entry, distance of rows) of those that it holds"
            )
    return rotations


def new_run(
    t0: float,
    t1: float,
    h: float,
    steps: int,
    every: int,
    limit: float,
    fractions: tuple[float, ...] = (),
    rotations: tuple[tuple[int, int], ...] = (),
    tolerances: tuple[np.ndarray, ...] = (),
) -> np.ndarray:
    """State of a march from t0 to t1: `steps` fixed ones of size h, or adaptive ones (steps = 0).

    `fractions`: the parts of a step of a composition, which has fixed steps only. `rotations`: see `Action`.
    `tolerances`: atol and rtol, an array for each, where they are not the same for all entries.
    """
    per_entry = np.concatenate(tolerances) if tolerances else np.empty(0)
    run = np.zeros(FRACTIONS + len(fractions) + 2 * len(rotations) + len(per_entry))
    # Step-size control as in Hairer, Norsett & Wanner I, II.4: a safety factor, and limits on the change.
    run[SAFETY], run[SHRINK], run[GROW] = 0.9, 0.2, 5.0
    run[OLD_ERROR], run[LONGEST] = 1.0, math.inf
    run[PARTS] = len(fractions)
    run[LIMIT] = limit * max(1, len(fractions))
    run[ROTATIONS] = len(rotations)
    run[ENTRIES] = len(per_entry) // 2
    if len(run) > FRACTIONS:
        run[FRACTIONS:] = *fractions, *(x for rotation in rotations for x in rotation), *per_entry
    return begun(run, t0, t1, h, steps, every)


def begun(ready: np.ndarray, t0: float, t1: float, h: float, steps: int, every: int) -> np.ndarray:
    """A copy of the state of a march that has not moved, for this span: see `new_run`."""
    run = ready.copy()
    run[T] = run[T0] = t0
    run[T1], run[N], run[EVERY] = t1, steps, every
    if steps:
        run[GRID], run[H] = h, h if steps > 1 else t1 - t0
        if run[PARTS] > 0:
            _divide(run)
    else:  # the first guess of an adaptive run: not past the end
        run[GRID], run[H] = 0.0, math.copysign(min(abs(h), abs(t1 - t0)), t1 - t0)
    return run


def new_schedule(
    count: int,
    kind: float,
    t0: float,
    h0: float,
    fractions: tuple[float, ...] = (),
    rotations: tuple[tuple[int, int], ...] = (),
) -> np.ndarray:
    """State of `count` single steps: from the states in ys (EACH), or one after the other from y (CHAIN)."""
    run = new_run(t0, t0 + h0, h0, count, 1, math.inf, fractions, rotations)
    run[H], run[PAUSE], run[SCHEDULE] = h0, math.inf, kind
    _divide(run)
    return run


@jit
def _divide(run):
    """In a composition: a new step begins, and H becomes its first part."""
    if run[PARTS] > 0:
        run[STEP], run[PART] = run[H], 0
        run[H] *= run[FRACTIONS]


@jit
def _next_part(run, y, y_new):
    """Go on inside the step of a composition; False at its end, where H is the whole step again."""
    run[PART] += 1
    if run[PART] == run[PARTS]:
        run[H] = run[STEP]
        return False
    run[T] += run[H]
    run[H] = run[FRACTIONS + int(run[PART])] * run[STEP]
    run[AT] = MOVED
    for i in range(len(y)):
        y[i] = y_new[i]
    return True


@jit
def _mend_rotations(run, y):
    table = FRACTIONS + int(run[PARTS])
    for k in range(table, table + 2 * int(run[ROTATIONS]), 2):
        mend(y, int(run[k]), int(run[k + 1]))


@jit
def running(run):
    """May the loop take another step in this chunk?"""
    run = lent(run)
    if run[STATUS] != RUNNING or run[TRIES] >= run[PAUSE]:
        return False
    if run[TRIES] >= run[LIMIT]:
        run[STATUS] = TOO_MANY
        return False
    return True


@jit
def norm(x):
    """Euclidean length."""
    total = 0.0
    for value in x:
        total += value * value
    return math.sqrt(total)


@jit
def scaled_norm(error, y, y_new, rtol, atol):
    """Root mean square of the error over atol + rtol |y|."""
    total = 0.0
    for i in range(len(y)):
        e = error[i] / (atol + rtol * max(abs(y[i]), abs(y_new[i])))
        total += e * e
    return math.sqrt(total / len(y))


@jit
def entrywise_norm(run, error, y, y_new):
    """The same where each entry has an atol and an rtol of its own."""
    n = len(y)
    first = FRACTIONS + int(run[PARTS]) + 2 * int(run[ROTATIONS])
    total = 0.0
    for i in range(n):
        if error[i] != 0.0:
            size = max(abs(y[i]), abs(y_new[i]))
            e = error[i] / (run[first + i] + run[first + n + i] * size)
            total += e * e
    return math.sqrt(total / n)


@jit
def measure(run, error, y, y_new):
    """Size of an error in the coordinates of y, as a multiple of the tolerance."""
    if run[ENTRIES] > 0:
        return entrywise_norm(run, error, y, y_new)
    if run[NORM] == SCALED:
        return scaled_norm(error, y, y_new, run[RTOL], run[ATOL])
    return norm(error) / (run[ATOL] + run[RTOL] * max(norm(y), norm(y_new)))


@jit
def _next_in_schedule(run, status, y, y_new, ts, ys, hs):
    if status != RUNNING:
        run[STATUS] = status
        return
    row = int(run[K])
    for i in range(len(y)):
        ys[row, i], y[i] = y_new[i], y_new[i]
    run[K] += 1
    row += 1
    if run[K] == run[N]:
        run[STATUS] = DONE
        return
    run[T], run[H] = ts[row], hs[row]
    if run[SCHEDULE] == EACH:
        for i in range(len(y)):
            y[i] = ys[row, i]
        run[AT] = START
    else:
        run[AT] = MOVED


@jit
def advance(run, status, error, y, y_new, ts, ys, hs):
    """Accept or reject the step tried: move on, store, choose the next step, notice the end.

    `error` is the scaled error of an adaptive step (accepted up to 1), ignored for fixed ones. Adaptive runs
    treat a step that is not finite or did not converge as one with a large error: it is tried shorter.
    """
    run, y, y_new, ts, ys, hs = lent(run), lent(y), lent(y_new), lent(ts), lent(ys), lent(hs)
    run[TRIES] += 1
    if status == RUNNING:
        for value in y_new:
            if not math.isfinite(value):
                status = NOT_FINITE
        if run[ROTATIONS] > 0:
            _mend_rotations(run, y_new)
    if status == RUNNING and run[PARTS] > 0 and _next_part(run, y, y_new):
        return
    if run[SCHEDULE] > 0:
        _next_in_schedule(run, status, y, y_new, ts, ys, hs)
        _divide(run)
        return
    fixed = run[N] > 0
    if not fixed:
        if status != RUNNING or not error <= 1.0:  # written so that a NaN is rejected
            factor = run[SHRINK]
            if status == RUNNING and math.isfinite(error):
                factor = max(factor, run[SAFETY] * error ** -run[EXPONENT])
            run[REJECTED] += 1
            run[AT] = SAME
            run[H] *= factor
            if abs(run[H]) <= 1e-14 * max(abs(run[T]), abs(run[T1] - run[T0])):
                run[STATUS] = status if status != RUNNING else STEP_TOO_SMALL
            return
        if abs(run[H]) < 1e-15 * max(abs(run[T]), abs(run[T1])):
            run[STATUS] = STEP_TOO_SMALL  # the time would stand still
            return
    elif status != RUNNING:
        run[STATUS] = status
        return

    run[K] += 1
    run[AT] = MOVED
    hs[int(run[TAKEN])] = run[H]
    run[TAKEN] += 1
    for i in range(len(y)):
        y[i] = y_new[i]
    if fixed:
        # The grid is t0 + k h, not a running sum, so that no rounding piles up.
        run[T] = run[T0] + run[K] * run[GRID]
        left = run[N] - run[K]
        if left < 0.5:
            run[T], run[STATUS] = run[T1], DONE
        elif left < 1.5:
            run[H] = run[T1] - run[T]
    else:
        last = abs(run[T1] - (run[T] + run[H])) <= 1e-15 * max(abs(run[T]), abs(run[T1]))
        run[T] += run[H]
        factor = run[GROW]
        if error > 0.0:
            wanted = run[SAFETY] * error ** -run[EXPONENT] * run[OLD_ERROR] ** run[MEMORY]
            factor = min(factor, max(run[SHRINK], wanted))
        run[OLD_ERROR] = max(error, 1e-4)
        run[H] = math.copysign(min(abs(run[H]) * factor, run[LONGEST]), run[H])
        if last:
            run[T], run[STATUS] = run[T1], DONE
        elif abs(run[H]) * (1.0 + _STRETCH) >= abs(run[T1] - run[T]):
            run[H] = run[T1] - run[T]
    if run[STATUS] == DONE or run[K] % run[EVERY] == 0:
        row = int(run[SAVED])
        ts[row] = run[T]
        for i in range(len(y)):
            ys[row, i] = y[i]
        run[SAVED] += 1
    _divide(run)
