"""Compiled loops of closed loops: the variational step of lielab.methods.variational under u = u_d - K x.

x = (log(g_d^-1 g), p - p_d), the error in the algebra and in the momentum. p is the momentum of the equations (fan
(9), (10)): with a constraint it is the one before the impulse at g.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import CUBE, F8, FIELD, INTS, MAT, VEC, jit, lent, loop, record
from ..core.march import RESIDUAL
from ..groups.factors import SE3, add, matrix, sizes, triple
from ..groups.so3 import back_core, dexpinv_core, log_core, product_core, transpose_core
from ..methods.variational_equations import KIND, POINT, Step, problem_of
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


LoopKernels = record("LoopKernels", L=FIELD, force=FIELD, constraint=FIELD)
LoopData = record(
    "LoopData",
    flags=INTS,
    weights=VEC,
    factors=INTS,
    S=CUBE,
    R=MAT,
    matrix=MAT,
    pivots=INTS,  # see `new_work`
)
# u = u_ref - K x within the limits, about (g_ref, p_ref); the cost is of x with weights_x = (Q, QN), and of u.
Law = record(
    "Law",
    gains=CUBE,
    g_ref=MAT,
    p_ref=MAT,
    u_ref=MAT,
    limits=MAT,
    weights_x=CUBE,
    weight_u=MAT,
)
Memory = record("Memory", kept=VEC, lam=VEC, run=VEC)
Results = record("Results", ys=CUBE, us=MAT, lams=MAT, summaries=MAT, stop=INTS)


@loop(LoopKernels.kind, LoopData.kind, Law.kind, Memory.kind, Results.kind, F8, F8, VEC)
def closed_loops(kernels, data, law, memory, results, t0, h, p):
    """Closed loops one after the other: ys (runs, rows, k + n) with the starts in ys[:, 0].

    Trajectories (rows = steps + 1, then us and lams are those of the only run) or, with one row, last states.
    summaries (runs, 5): steps taken, cost, largest |u|, residual of a failing step, steps wanted. All end at their next
    step once another thread has set stop[0].
    """
    data, p = lent(data), lent(p)
    gains, g_ref, p_ref, u_ref, limits, weights_x, weight_u = lent(law)
    kept, lam, run = lent(memory)
    ys, us, lams, summaries, stop = lent(results)
    factors, R = data.factors, data.R
    k, n, m = data.flags[POINT], p_ref.shape[1], u_ref.shape[1]
    problem = problem_of(kernels, data, data.flags[KIND], p)
    work = parts(data.S, R, data.matrix, data.pivots, n, k)
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
            left = solve_step(problem, Step(t, h, u, g), p0, 1.0, dx, lam, run, work, g1, p1)
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


OneStep = record("OneStep", u=VEC, p=VEC, y=VEC, x=VEC, lam=VEC, y1=VEC, run=VEC)


@loop(LoopKernels.kind, LoopData.kind, OneStep.kind, F8, F8)
def one_step(kernels, data, step, t, h):
    """One step (g, p) -> (g1, p1) with its increment x and multipliers lam; run[RESIDUAL] is 0 where it converged."""
    u, p, y, x, lam, y1, run = step
    k, n, R = data.flags[POINT], len(x), data.R
    problem = problem_of(kernels, data, data.flags[KIND], p)
    work = parts(data.S, R, data.matrix, data.pivots, n, k)
    g0, p0, g1, p1, _, _, _ = ends(R, n, k)
    split(y, g0, p0)
    run[RESIDUAL] = solve_step(problem, Step(t, h, u, g0), p0, 1.0, x, lam, run, work, g1, p1)
    join(g1, p1, lam[:0], y1)


@loop(INTS, MAT, MAT, MAT)
def logarithms(factors, a, b, out):
    """Rows log(a^-1 b); the last row of a serves where a is shorter."""
    for i in range(len(b)):
        between(factors, a[min(i, len(a) - 1)], b[i], out[i])
