"""Newton's method: the constants of all iterations, and the rule by which they stop.

It runs to round-off, since what an early stop leaves behind drifts over a million steps. It doubles the digits: after a
correction of the relative size `LAST` what is left is below round-off, so that correction is the last. So is one that
no longer shrinks and is as small as `STAGNATION`: round-off of an equation that is badly scaled.
"""

from __future__ import annotations

import math

from .jit import jit

SWEEPS = 30
LAST = 1e-9
STAGNATION = 1e-11


@jit
def settled(size, scale, before=math.inf):
    """Is a correction of that size, after one of the size `before`, the last that unknowns of that scale need?"""
    return size <= LAST * scale or (size >= 0.5 * before and size <= STAGNATION)
