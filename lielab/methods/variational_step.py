"""One step of a variational integrator, by Newton, and what loops over such steps share; see `variational`."""

from __future__ import annotations

import math

import numpy as np

from ..core.jit import jit, lent
from ..core.linear import lu_factor, lu_solve
from ..core.march import NFEV
from ..core.newton import SWEEPS, correct, settled
from ..groups.factors import SO3, blocks_apply, coAd, coAd_inverse
from ._rotation_step import rotation_step
from .variational_equations import MIDPOINT, WEIGHTS, Work, equations


def new_work(n: int, m: int, k: int, inputs: int) -> tuple[np.ndarray, ...]:
    """Work arrays of a loop over steps, made here, since a loop may lend only what it was handed.

    Matrices S (8, n, n) and vectors R (18, k + n + inputs) of a step, the last of which stays 0; the system with the
    multipliers, its right side in the last row; its pivots.
    """
    size = n + m
    return (
        np.zeros((8, n, n)),
        np.zeros((18, k + n + inputs)),
        np.zeros((size + 1, size)),
        np.zeros(size, dtype=np.int64),
    )


@jit
def parts(S, R, matrix, pivots, n, k):
    """Work arrays of a step."""
    size = len(pivots)
    return Work(S, R, R[7, :k], R[8, :n], S[7], matrix[:size], matrix[size], pivots)


@jit
def ends(R, n, k):
    """The vectors of a loop over steps: g0, p0, g1, p1, x, another increment, and (g, p)."""
    return R[9, :k], R[10, :n], R[11, :k], R[12, :n], R[13, :n], R[14, :n], R[15, : k + n]


@jit
def take_impulse(c, lam, tie, p, out):
    """out = p - c Dphi^T lam; `tie` holds phi and then Dphi, row by row, as a constraint's kernel returns them."""
    m, n = len(lam), len(p)
    for i in range(n):
        out[i] = p[i]
        for j in range(m):
            out[i] -= c * lam[j] * tie[m + j * n + i]


@jit
def constrain(problem, tie0, tie1, sigma, x, R, J, M, rhs):
    """The rows of phi(g1) = 0, fan (10b), and the columns of the multipliers beside J, all in M; phi(g1) in rhs.

        M = [[J, -sigma Dphi0^T], [Dphi1 Ad^-1, 0]];   midpoint rule: [[J, -sigma (1 + Ad^T) Dphi0^T],
                                                                      [Dphi1 Ad^-1 (1 + Ad^-1), 0]]
    `tie0` and `tie1` are phi and then Dphi, row by row, at g0 and at g1.
    """
    problem = lent(problem)
    kind, cay, factors, n = problem.kind, problem.cay, problem.factors, len(x)
    m = len(rhs) - n
    for i in range(n):
        for j in range(n):
            M[i, j] = J[i, j]
    Dphi, moved = R[3], R[4]
    for c in range(m):
        row = m + c * n
        for i in range(n):
            Dphi[i] = tie0[row + i]
        coAd(factors, cay, x, Dphi, moved)  # Ad^T Dphi0^T
        for i in range(n):
            M[i, n + c] = -sigma * (Dphi[i] + moved[i] if kind == MIDPOINT else Dphi[i])
        for i in range(n):
            Dphi[i] = tie1[row + i]
        coAd_inverse(factors, cay, x, Dphi, moved)  # Dphi1 Ad^-1
        for i in range(n):
            M[n + c, i] = moved[i]
        if kind == MIDPOINT:  # x is half an increment
            coAd_inverse(factors, cay, x, moved, Dphi)  # Dphi1 Ad^-1 Ad^-1
            for i in range(n):
                M[n + c, i] += Dphi[i]
        for i in range(m):
            M[n + c, n + i] = 0.0
        rhs[n + c] = tie1[c]  # phi(g1): fan (10b)


@jit
def solve_step(problem, step, p0, sigma, x, lam, run, work, g1, p1):
    """Newton for x and lam from the guesses in them, then g1, p1; returns 0, or the last correction where it fails.

    The momentum at g0 is p0 - sigma Dphi(g0)' lam, where phi is fan's h: sigma is 1 for the p of the equations,
    fan (10a), and 1/2 where half of the impulse is in p0 already.
    """
    problem, step, work, run = lent(problem), lent(step), lent(work), lent(run)
    p0, x, lam, g1, p1 = lent(p0), lent(x), lent(lam), lent(g1), lent(p1)
    kind, factors = problem.kind, problem.factors
    t, h, u, g0 = step
    n, m = len(x), len(lam)
    S, R, r, J = work.S, work.R, work.r, work.J
    matrix, rhs, pivots = work.system, work.rhs, work.pivots
    p_free, dx, tie0 = R[6], R[3], rhs
    if kind == WEIGHTS and m == 0 and len(factors) == 1 and factors[0] == SO3:
        left, calls = rotation_step(problem, t, h, u, g0, p0, x, R[5], g1, p1)
        run[NFEV] += calls
        return left
    if m > 0:
        tie0 = problem.constraint(t, g0, problem.p)  # phi and Dphi at g0
    else:
        matrix = J
    size, last = math.inf, False
    for _ in range(SWEEPS):
        take_impulse(sigma, lam, tie0, p0, p_free)  # p0 - Dphi(g0)^T lam: fan (10a)
        equations(problem, step, p_free, x, not last, work, g1, p1)  # r and J of it: fan (9)
        run[NFEV] += 1
        if last:
            return 0.0
        for i in range(n):
            rhs[i] = r[i]
        if m > 0:
            tie1 = problem.constraint(t + h, g1, problem.p)  # and at g1
            constrain(problem, tie0, tie1, sigma, x, R, J, matrix, rhs)
        if not lu_factor(matrix, pivots):
            return math.inf
        lu_solve(matrix, pivots, rhs)
        blocks_apply(factors, S[0], rhs, dx)
        before = size
        size, scale = correct(x, dx)
        pull, _ = correct(lam, rhs[n:])
        if not max(size, pull) < math.inf:
            return math.inf
        last = settled(size, scale, before)  # the multipliers follow x
    return size


@jit
def inputs_at(control, controlled, t, g, p0, state, p, u):
    """u = control(t, (g, p0), p), held over the step."""
    if controlled:
        k = len(g)
        for i in range(k):
            state[i] = g[i]
        for i in range(len(p0)):
            state[k + i] = p0[i]
        values = control(t, state, p)
        for i in range(len(u)):
            u[i] = values[i]


@jit
def copy(a, b):
    """b = a"""
    for i in range(len(a)):
        b[i] = a[i]


@jit
def split(y, g, p):
    """g and p of y"""
    k = len(g)
    for i in range(k):
        g[i] = y[i]
    for i in range(len(p)):
        p[i] = y[k + i]


@jit
def join(g, p, lam, y):
    """y = (g, p, lam)"""
    k, n = len(g), len(p)
    for i in range(k):
        y[i] = g[i]
    for i in range(n):
        y[k + i] = p[i]
    for i in range(len(lam)):
        y[k + n + i] = lam[i]


@jit
def guess(kept, h, x):
    """x = the last increment, rescaled and extrapolated; `kept` = (step, number known, last, the one before)."""
    n = len(x)
    for i in range(n):
        if kept[0] == 0.0:
            x[i] = 0.0
        elif kept[1] < 2.0:
            x[i] = kept[2 + i] * h / kept[0]
        else:
            x[i] = (2.0 * kept[2 + i] - kept[2 + n + i]) * h / kept[0]


@jit
def keep(kept, h, x):
    n = len(x)
    kept[1] = 2.0 if abs(kept[0] - h) <= 1e-9 * abs(h) else 1.0
    kept[0] = h
    for i in range(n):
        kept[2 + n + i], kept[2 + i] = kept[2 + i], x[i]
