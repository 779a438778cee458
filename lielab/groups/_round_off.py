"""Rotations that round-off has moved off SO(3), brought back.

The same turn taken a million times rounds the same way each time, and R walks away by 1e-10. One Newton step to the
nearest rotation, R (3 - R^T R)/2, keeps it. A matrix that is off by more stays as it is: it was not round-off, and an
iteration over steps, as for an adjoint, needs them linear there.
"""

from __future__ import annotations

from .._jit import jit

_ROUND_OFF = 2e-15  # half of what R^T R may be off by


@jit
def mend(g, i, row):
    """The rotation whose first entry is g[i], each row so many entries after the last, mended in place."""
    j, k = i + row, i + 2 * row
    a = 0.5 - 0.5 * (g[i] * g[i] + g[j] * g[j] + g[k] * g[k])
    b = 0.5 - 0.5 * (g[i + 1] * g[i + 1] + g[j + 1] * g[j + 1] + g[k + 1] * g[k + 1])
    c = 0.5 - 0.5 * (g[i + 2] * g[i + 2] + g[j + 2] * g[j + 2] + g[k + 2] * g[k + 2])
    d = -0.5 * (g[i] * g[i + 1] + g[j] * g[j + 1] + g[k] * g[k + 1])
    e = -0.5 * (g[i] * g[i + 2] + g[j] * g[j + 2] + g[k] * g[k + 2])
    f = -0.5 * (g[i + 1] * g[i + 2] + g[j + 1] * g[j + 2] + g[k + 1] * g[k + 2])
    if max(abs(a), abs(b), abs(c), abs(d), abs(e), abs(f)) < _ROUND_OFF:
        a, b, c = 1.0 + a, 1.0 + b, 1.0 + c
        for l in (i, j, k):
            x, y, z = g[l], g[l + 1], g[l + 2]
            g[l] = x * a + y * d + z * e
            g[l + 1] = x * d + y * b + z * f
            g[l + 2] = x * e + y * f + z * c
