"""The rules by which iterations stop, with their constants: one for Newton's method, one for what is slower.

Newton's method runs to round-off, since what an early stop leaves behind drifts over a million steps. It doubles the
digits: after a correction of the relative size `LAST` what is left is below round-off, so that correction is the last.
So is one that no longer shrinks and is as small as `STAGNATION`: round-off of an equation that is badly scaled.

Fixed points, and Newton with a matrix that is kept or made of differences, shrink corrections by a factor only. They go
on until one is below the last digit, or no longer shrinks and is as small as `STALLED`; a larger one is failure.
"""

from __future__ import annotations

import math

from .jit import jit

SWEEPS = 30
LAST = 1e-9
STAGNATION = 1e-11
ROUND = 2.2e-16
STALLED = 1e-10
SLOW_SWEEPS = 200  # of a fixed point: like (h L)^sweep; leimkuhler's takes 10 at h = 0.1, 31 at 1.6 on its ellipsoid
SLOW = 0.1  # a matrix that is kept is renewed where corrections shrink less than this


@jit
def settled(size, scale, before=math.inf):
    """Is a correction of that size, after one of the size `before`, the last that unknowns of that scale need?"""
    return size <= LAST * scale or (size >= 0.5 * before and size <= STAGNATION)


@jit
def exhausted(size, scale, before):
    """Is a correction of that size, after one of the size `before`, round-off, where they shrink by a factor only?"""
    return size <= ROUND * scale or (size >= before and size <= STALLED * scale)
