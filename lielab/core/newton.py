"""What iterations share: the update of the unknowns, and the rules by which they stop.

Newton's method runs to round-off, since what an early stop leaves behind drifts over a million steps. It doubles the
digits: after a correction of the relative size `LAST` what is left is below round-off, so that correction is the last.
So is one that no longer shrinks and is as small as `STAGNATION`: round-off of an equation that is badly scaled.

Fixed points, and Newton with a matrix that is kept or made of differences, shrink corrections by a factor only. They go
on until one is below the last digit, or no longer shrinks and is as small as `STALLED`; a larger one is failure.
So is one after which an unknown is no longer finite: its size is infinity, and the scale beside it 0, so that no rule
takes it for the last.
"""

from __future__ import annotations

import math

from .jit import jit, lent

SWEEPS = 30
LAST = 1e-9
STAGNATION = 1e-11
ROUND = 2.2e-16
STALLED = 1e-10
SLOW_SWEEPS = 200  # of a fixed point: like (h L)^sweep; leimkuhler's takes 10 at h = 0.1, 31 at 1.6 on its ellipsoid
SLOW = 0.1  # a matrix that is kept is renewed where corrections shrink less than this

# Newton's loops for three numbers (`methods.rigid_body`, `newmark`, `momentum_balance`, `_rotation_step`) are four all
# the same. What they share is one line on values, w -= solve(A, F), and `settled`. They differ in where the equation
# comes from, a formula in w alone or a torque or a Lagrangian at an attitude that w moves, and in the end: where the
# last correction moved the attitude, it is turned and looked at once more. A loop for all would take the equation as a
# function with all its data, and Numba would compile it once for each as it does now.


@jit
def correct(x, dx):
    """x -= dx, a correction by Newton. Returns its size max |dx| and the scale max |x|."""
    x, dx = lent(x), lent(dx)
    size, scale, finite = 0.0, 0.0, True
    for i in range(len(x)):
        x[i] -= dx[i]
        size, scale = max(size, abs(dx[i])), max(scale, abs(x[i]))
        finite = finite and math.isfinite(x[i])  # max() would pass over a NaN
    return (size, scale) if finite else (math.inf, 0.0)


@jit
def replace(x, new):
    """x = new, one turn of a fixed point. Returns the correction's size max |new - x| and the scale max |new|."""
    x, new = lent(x), lent(new)
    size, scale, finite = 0.0, 0.0, True
    for i in range(len(x)):
        size, scale = max(size, abs(new[i] - x[i])), max(scale, abs(new[i]))
        finite = finite and math.isfinite(new[i])
        x[i] = new[i]
    return (size, scale) if finite else (math.inf, 0.0)


@jit
def settled(size, scale, before=math.inf):
    """Is a correction of that size, after one of the size `before`, the last that unknowns of that scale need?"""
    return size <= LAST * scale or (size >= 0.5 * before and size <= STAGNATION)


@jit
def exhausted(size, scale, before):
    """Is a correction of that size, after one of the size `before`, round-off, where they shrink by a factor only?"""
    return size <= ROUND * scale or (size >= before and size <= STALLED * scale)
