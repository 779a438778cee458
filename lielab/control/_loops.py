"""Compiled loops of closed loops: the variational step of lielab.methods.variational under u = u_d - K x.

x = (log(g_d^-1 g), p - p_d), the error in the algebra and in the momentum. p is the momentum of the equations (fan
(9), (10)): with a constraint it is the one before the impulse at g.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import CUBE, F8, FIELD, INTS, MAT, VEC, jit, lent, loop
from ..core.march import RESIDUAL
from ..groups.factors import SE3, add, matrix, sizes, triple
from ..groups.so3 import back_core, dexpinv_core, log_core, product_core, transpose_core
from ..methods.variational_equations import Problem
from ..methods.variational_step import copy, ends, guess, join, keep, parts, solve_step, split


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
            R = matrix(a, i)
            A = log_core(product_core(transpose_core(R), matrix(b, i)))
            out[k], out[k + 1], out[k + 2] = A
            if code == SE3:
                r = back_core(R, add(triple(b, i + 9), -1.0, triple(a, i + 9)))
                out[k + 3], out[k + 4], out[k + 5] = dexpinv_core(A, r)
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


def new_run() -> np.ndarray:
    """What `solve_step` counts and what a failing step leaves, outside of a march."""
    return np.zeros(RESIDUAL + 1)


_KERNELS = (FIELD, FIELD, FIELD, INTS, VEC, INTS)
_WORK = (CUBE, MAT, MAT, INTS)  # see `new_work`


@loop(
    *(*_KERNELS, CUBE, MAT, MAT, MAT, MAT, CUBE, MAT, F8, F8, VEC),
    *(VEC, VEC, VEC, *_WORK, CUBE, MAT, MAT, MAT, INTS),
)
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
    kept,
    lam,
    run,
    S,
    R,
    matrix,
    pivots,
    ys,
    us,
    lams,
    summaries,
    stop,
):
    """Closed loops one after the other: ys (runs, rows, k + n) with the starts in ys[:, 0].

    `weights_x` = (Q, QN). Trajectories (rows = steps + 1, then us and lams are those of the only run) or, with one
    row, last states. summaries (runs, 5): steps taken, cost, largest |u|, residual of a failing step, steps wanted.
    All end at their next step once another thread has set stop[0].
    """
    flags, weights, factors, gains, g_ref, p_ref = (
        lent(flags),
        lent(weights),
        lent(factors),
        lent(gains),
        lent(g_ref),
        lent(p_ref),
    )
    u_ref, limits, weights_x, weight_u, p = (
        lent(u_ref),
        lent(limits),
        lent(weights_x),
        lent(weight_u),
        lent(p),
    )
    kept, lam, run, S, R = lent(kept), lent(lam), lent(run), lent(S), lent(R)
    matrix, pivots, ys, us, lams, summaries, stop = (
        lent(matrix),
        lent(pivots),
        lent(ys),
        lent(us),
        lent(lams),
        lent(summaries),
        lent(stop),
    )
    k, n, m = flags[4], p_ref.shape[1], u_ref.shape[1]
    forced, cay, a, b = flags[1] == 1, flags[2] == 1, weights[0], weights[1]
    problem = Problem(L, force, constraint, flags[0], forced, cay, a, b, factors, p)
    work = parts(S, R, matrix, pivots, n, k)
    g, p0, g1, p1, dx, _, state = ends(R, n, k)
    u, du, none, x = R[16, :m], R[14, :m], R[16, :0], state[: 2 * n]
    store = ys.shape[1] > 1
    for member in range(len(ys)):
        split(ys[member, 0], g, p0)
        lam[:] = 0.0
        kept[0] = 0.0
        cost, peak, left, taken, steps = 0.0, 0.0, 0.0, 0, int(summaries[member, 4])
        while taken < steps and left == 0.0 and stop[0] == 0:
            _error(factors, g_ref, p_ref, min(taken, len(g_ref) - 1), g, p0, x)
            gain, first = gains[min(taken, len(gains) - 1)], u_ref[min(taken, len(u_ref) - 1)]
            for a in range(m):
                value = first[a]
                for j in range(2 * n):
                    value -= gain[a, j] * x[j]
                value = min(max(value, limits[0, a]), limits[1, a])
                u[a], du[a] = value, value - first[a]
                peak = max(peak, abs(value))
            cost += _quadratic(weights_x[0], x) + _quadratic(weight_u, du)
            guess(kept, h, dx)
            t = t0 + taken * h
            left = solve_step(problem, t, h, u, g, p0, 1.0, dx, lam, run, work, g1, p1)
            if left == 0.0:
                keep(kept, h, dx)
                if store:
                    copy(u, us[taken])
                    copy(lam, lams[taken])
                taken += 1
                copy(g1, g)
                copy(p1, p0)
                join(g, p0, none, ys[member, taken if store else 0])
        _error(factors, g_ref, p_ref, min(steps, len(g_ref) - 1), g, p0, x)
        cost += _quadratic(weights_x[1], x)
        summary = summaries[member]
        summary[0], summary[1], summary[2], summary[3] = taken, cost, peak, left


@loop(*_KERNELS, F8, F8, VEC, VEC, VEC, VEC, VEC, *_WORK, VEC, VEC)
def one_step(
    L,
    force,
    constraint,
    flags,
    weights,
    factors,
    t,
    h,
    u,
    p,
    y,
    x,
    lam,
    S,
    R,
    matrix,
    pivots,
    y1,
    run,
):
    """One step (g, p) -> (g1, p1) with its increment x and multipliers lam; run[RESIDUAL] is 0 where it converged."""
    k, n = flags[4], len(x)
    forced, cay, a, b = flags[1] == 1, flags[2] == 1, weights[0], weights[1]
    problem = Problem(L, force, constraint, flags[0], forced, cay, a, b, factors, p)
    work = parts(S, R, matrix, pivots, n, k)
    g0, p0, g1, p1, _, _, _ = ends(R, n, k)
    split(y, g0, p0)
    run[RESIDUAL] = solve_step(problem, t, h, u, g0, p0, 1.0, x, lam, run, work, g1, p1)
    join(g1, p1, lam[:0], y1)


@loop(INTS, MAT, MAT, MAT)
def logarithms(factors, a, b, out):
    """Rows log(a^-1 b); the last row of a serves where a is shorter."""
    for i in range(len(b)):
        between(factors, a[min(i, len(a) - 1)], b[i], out[i])
