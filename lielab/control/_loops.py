"""Compiled loops of closed loops: the variational step of lielab.methods.variational under u = u_d - K x.

x = (log(g_d^-1 g), p - p_d), the error in the algebra and in the momentum. p is the momentum of the equations (fan
(9), (10)): with a constraint it is the one before the impulse at g.
"""

from __future__ import annotations

import numpy as np

from .._jit import CUBE, F8, FIELD, INTS, MAT, VEC, jit, loop
from ..groups._factors import SE3, sizes
from ..groups.so3 import dexpinv_core, log_core
from ..methods._march import NFEV
from ..methods.variational import guess, keep, new_work, solve_step


@jit
def between(factors, a, b, out):
    """out = log(a^-1 b), factor by factor"""
    i, k = 0, 0
    for code in factors:
        points, n = sizes(code)
        if code > 0:
            for j in range(n):
                out[k + j] = b[i + j] - a[i + j]
        else:
            R = np.empty(9)
            for row in range(3):
                for column in range(3):
                    total = 0.0
                    for l in range(3):
                        total += a[i + 3 * l + row] * b[i + 3 * l + column]
                    R[3 * row + column] = total
            A = log_core(R)
            out[k], out[k + 1], out[k + 2] = A
            if code == SE3:
                r = [0.0, 0.0, 0.0]
                for row in range(3):
                    for l in range(3):
                        r[row] += a[i + 3 * l + row] * (b[i + 9 + l] - a[i + 9 + l])
                shift = dexpinv_core(A, (r[0], r[1], r[2]))
                out[k + 3], out[k + 4], out[k + 5] = shift
        i, k = i + points, k + n


@jit
def _error(factors, g_ref, p_ref, i, g, p, x):
    """x = (log(g_d^-1 g), p - p_d) at entry i of the reference"""
    n = len(p)
    between(factors, g_ref[i], g, x)
    for j in range(n):
        x[n + j] = p[j] - p_ref[i, j]


@jit
def _quadratic(M, x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += x[i] * M[i, j] * x[j]
    return total


@jit
def _run(
    L,
    force,
    constraint,
    flags,
    weights,
    factors,
    gains,
    g_ref,
    p_ref,
    u_ref,
    limits,
    costs,
    t0,
    h,
    steps,
    p,
    work,
    state,
    ys,
    us,
    lams,
    summary,
):
    """Steps of one closed loop from ys[0]; with one row in ys only the last state is kept, in that row.

    `summary` receives the number of steps taken, the cost, the largest |u| and the residual of a failing step.
    """
    g, p0, g1, p1, x, dx, kept, u, du, lam, run = state
    k, n, m, c = len(g), len(p0), len(u), len(lam)
    Q, R, QN = costs
    store = len(ys) > 1
    for i in range(k):
        g[i] = ys[0, i]
    for i in range(n):
        p0[i] = ys[0, k + i]
    for i in range(c):
        lam[i] = 0.0
    kept[0] = 0.0
    cost, peak, left, taken = 0.0, 0.0, 0.0, 0
    for step in range(steps):
        i = min(step, len(g_ref) - 1)
        gain = gains[min(step, len(gains) - 1)]
        _error(factors, g_ref, p_ref, i, g, p0, x)
        first = u_ref[min(step, len(u_ref) - 1)]
        for a in range(m):
            value = first[a]
            for j in range(2 * n):
                value -= gain[a, j] * x[j]
            value = min(max(value, limits[0, a]), limits[1, a])
            u[a], du[a] = value, value - first[a]
            peak = max(peak, abs(value))
        cost += _quadratic(Q, x) + _quadratic(R, du)
        guess(kept, h, dx)
        left = solve_step(
            L,
            force,
            constraint,
            flags,
            weights,
            factors,
            t0 + step * h,
            h,
            u,
            g,
            p0,
            1.0,
            dx,
            lam,
            p,
            run,
            work,
            g1,
            p1,
        )
        if left != 0.0:
            break
        keep(kept, h, dx)
        taken += 1
        row = step + 1 if store else 0
        for j in range(k):
            g[j] = g1[j]
            ys[row, j] = g1[j]
        for j in range(n):
            p0[j] = p1[j]
            ys[row, k + j] = p1[j]
        if store:
            for a in range(m):
                us[step, a] = u[a]
            for a in range(c):
                lams[step, a] = lam[a]
    _error(factors, g_ref, p_ref, min(steps, len(g_ref) - 1), g, p0, x)
    cost += _quadratic(QN, x)
    summary[0], summary[1], summary[2], summary[3] = taken, cost, peak, left


@jit
def _scratch(k, n, m, c):
    return (
        np.zeros(k),
        np.zeros(n),
        np.zeros(k),
        np.zeros(n),
        np.zeros(2 * n),
        np.zeros(n),
        np.zeros(2 + 2 * n),
        np.zeros(m),
        np.zeros(m),
        np.zeros(c),
        np.zeros(NFEV + 1),
    )


_KERNELS = (FIELD, FIELD, FIELD, INTS, VEC, INTS)


@loop(*_KERNELS, CUBE, MAT, MAT, MAT, MAT, CUBE, MAT, F8, F8, VEC, CUBE, MAT, MAT, MAT)
def closed_loops(
    L,
    force,
    constraint,
    flags,
    weights,
    factors,
    gains,
    g_ref,
    p_ref,
    u_ref,
    limits,
    weights_x,
    weight_u,
    t0,
    h,
    p,
    ys,
    us,
    lams,
    summaries,
):
    """Closed loops one after the other: ys (runs, rows, k + n) with the starts in ys[:, 0].

    `weights_x` = (Q, QN). Trajectories (rows = steps + 1, then us and lams are those of the only run) or, with one
    row, last states. summaries (runs, 5): steps taken, cost, largest |u|, residual, steps wanted.
    """
    k, n, m, c = flags[4], len(p_ref[0]), len(u_ref[0]), flags[6]
    work, state = new_work(n, c, k, m), _scratch(k, n, m, c)
    costs = (weights_x[0], weight_u, weights_x[1])
    for run in range(len(ys)):
        _run(
            L,
            force,
            constraint,
            flags,
            weights,
            factors,
            gains,
            g_ref,
            p_ref,
            u_ref,
            limits,
            costs,
            t0,
            h,
            int(summaries[run, 4]),
            p,
            work,
            state,
            ys[run],
            us,
            lams,
            summaries[run],
        )


@loop(*_KERNELS, F8, F8, VEC, VEC, VEC, VEC, VEC, VEC, VEC)
def one_step(L, force, constraint, flags, weights, factors, t, h, u, p, y, x, lam, y1, residual):
    """One step (g, p) -> (g1, p1) with its increment x and multipliers lam; residual[0] is 0 where it converged."""
    k, n = flags[4], len(x)
    g1, p1, run = np.zeros(k), np.zeros(n), np.zeros(NFEV + 1)
    work = new_work(n, len(lam), k, len(u))
    residual[0] = solve_step(
        L,
        force,
        constraint,
        flags,
        weights,
        factors,
        t,
        h,
        u,
        y[:k].copy(),
        y[k:].copy(),
        1.0,
        x,
        lam,
        p,
        run,
        work,
        g1,
        p1,
    )
    for i in range(k):
        y1[i] = g1[i]
    for i in range(n):
        y1[k + i] = p1[i]


@loop(INTS, MAT, MAT, MAT)
def logarithms(factors, a, b, out):
    """Rows log(a^-1 b); the last row of a serves where a is shorter."""
    for i in range(len(b)):
        between(factors, a[min(i, len(a) - 1)], b[i], out[i])
