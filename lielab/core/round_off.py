"""Rotations and directions that round-off has moved off their manifold, brought back.

The same turn taken a million times rounds the same way each time, and R walks away by 1e-10. One Newton step to the
nearest rotation, R (3 - R^T R)/2, keeps it; a direction, and any matrix with orthonormal columns, likewise. What is off
by more stays as it is: it was not round-off, and an iteration over steps, as for an adjoint, needs them linear there.
For groups of other matrices see `groups.invariants`.
"""

from __future__ import annotations

import numpy as np

from .jit import jit

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


@jit
def mend_plane(g, i, row):
    """The rotation of the plane whose first entry is g[i], its second row so many entries later, mended in place."""
    j = i + row
    a = 0.5 - 0.5 * (g[i] * g[i] + g[j] * g[j])
    b = 0.5 - 0.5 * (g[i + 1] * g[i + 1] + g[j + 1] * g[j + 1])
    d = -0.5 * (g[i] * g[i + 1] + g[j] * g[j + 1])
    if max(abs(a), abs(b), abs(d)) < _ROUND_OFF:
        for l in (i, j):
            x, y = g[l], g[l + 1]
            g[l] = x + (x * a + y * d)
            g[l + 1] = y + (x * d + y * b)


@jit
def mend_unit(q, i, n):
    """The unit vector of n entries whose first is q[i], mended in place."""
    a = 0.5
    for j in range(i, i + n):
        a -= 0.5 * q[j] * q[j]
    if abs(a) < _ROUND_OFF:
        for j in range(i, i + n):
            q[j] += a * q[j]


@jit
def mend_tangent(y, k):
    """The pair (q, w) at y[k:k+6], |q| = 1 and q . w = 0, mended in place: neither where one of the two is off."""
    a = 0.5 - 0.5 * (y[k] * y[k] + y[k + 1] * y[k + 1] + y[k + 2] * y[k + 2])
    d = y[k] * y[k + 3] + y[k + 1] * y[k + 4] + y[k + 2] * y[k + 5]
    size = 1.0 + abs(y[k + 3]) + abs(y[k + 4]) + abs(y[k + 5])
    if abs(a) < _ROUND_OFF and abs(d) < _ROUND_OFF * size:
        for j in range(k, k + 3):
            y[j + 3] -= d * y[j]
            y[j] += a * y[j]


@jit
def mend_columns(Y, n):
    """The orthonormal columns of Y, n rows, flat and row-major, mended in place: Y (3 - Y'Y)/2."""
    p = len(Y) // n
    S, row = np.empty(p * p), np.empty(p)
    largest = 0.0
    for i in range(p):
        for j in range(p):
            total = 0.5 if i == j else 0.0
            for k in range(n):
                total -= 0.5 * Y[k * p + i] * Y[k * p + j]
            S[i * p + j] = total
            largest = max(largest, abs(total))
    if largest < _ROUND_OFF * n:
        for k in range(n):
            for j in range(p):
                row[j] = 0.0
                for i in range(p):
                    row[j] += Y[k * p + i] * S[i * p + j]
            for j in range(p):
                Y[k * p + j] += row[j]
