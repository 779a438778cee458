"""DOP853 compiled: the baseline that no interpreter slows down. The algorithm and its controller as in SciPy.

Not a benchmark by itself; `double_pendulum.py` times it. Stages, error estimate and step-size control follow Hairer,
Norsett & Wanner I, II.10, the right-hand side is compiled into the loop and nothing is allocated inside.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from lielab.tableaus import DORMAND_PRINCE_853 as TABLEAU

_A, _B, _C = np.ascontiguousarray(TABLEAU.a), np.ascontiguousarray(TABLEAU.b), TABLEAU.c
_E5, _E3 = (np.ascontiguousarray(row) for row in TABLEAU.errors)
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0


@njit(error_model="numpy", nogil=True)
def _initial_step(rhs, t0, t1, y, f0, p, rtol, atol, stage, f1):
    n, d0, d1, d2 = len(y), 0.0, 0.0, 0.0
    for i in range(n):
        scale = atol + rtol * abs(y[i])
        d0 += (y[i] / scale) ** 2
        d1 += (f0[i] / scale) ** 2
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    for i in range(n):
        stage[i] = y[i] + h * f0[i]
    rhs(t0 + h, stage, p, f1)
    for i in range(n):
        d2 += ((f1[i] - f0[i]) / (atol + rtol * abs(y[i]))) ** 2
    largest = max(d1, math.sqrt(d2 / n) / h)
    better = max(1e-6, 1e-3 * h) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / 8.0)
    return min(100.0 * h, better, t1 - t0)


@njit(error_model="numpy", nogil=True)
def dop853(rhs, t0, t1, y0, p, rtol, atol):
    """Integrate y' = rhs from t0 to t1 > t0; rhs(t, y, p, out). Returns (y, steps, rejected, calls)."""
    n, s = len(y0), len(_B)
    y, y_new, stage = y0.copy(), np.empty(n), np.empty(n)
    k, f_new = np.empty((s, n)), np.empty(n)
    t, steps, rejected = t0, 0, 0
    rhs(t, y, p, f_new)
    h = _initial_step(rhs, t0, t1, y, f_new, p, rtol, atol, stage, k[0])
    calls, fresh = 2, True
    while t < t1:
        h = min(h, t1 - t)
        for i in range(n):
            k[0, i] = f_new[i] if fresh else k[0, i]
        for row in range(1, s):
            for i in range(n):
                stage[i] = 0.0
            for j in range(row):
                w = _A[row, j]
                if w != 0.0:
                    for i in range(n):
                        stage[i] += w * k[j, i]
            for i in range(n):
                stage[i] = y[i] + h * stage[i]
            rhs(t + _C[row] * h, stage, p, k[row])
        e5 = e3 = 0.0
        for i in range(n):
            move = five = three = 0.0
            for j in range(s):
                move += _B[j] * k[j, i]
                five += _E5[j] * k[j, i]
                three += _E3[j] * k[j, i]
            y_new[i] = y[i] + h * move
            scale = atol + rtol * max(abs(y[i]), abs(y_new[i]))
            e5 += (five / scale) ** 2
            e3 += (three / scale) ** 2
        calls += s - 1
        error = 0.0
        if e5 != 0.0 or e3 != 0.0:
            error = h * e5 / math.sqrt((e5 + 0.01 * e3) * n)
        if error < 1.0:
            factor = GROW if error == 0.0 else min(GROW, SAFETY * error ** (-1.0 / 8.0))
            if not fresh:
                factor = min(1.0, factor)
            t, steps, fresh = t + h, steps + 1, True
            for i in range(n):
                y[i] = y_new[i]
            rhs(t, y, p, f_new)
            calls += 1
            h *= factor
        else:
            rejected, fresh = rejected + 1, False
            h *= max(SHRINK, SAFETY * error ** (-1.0 / 8.0))
    return y, steps, rejected, calls
