"""The equations of one step of a variational integrator and their Jacobian; the formulas are in `variational`.

Each kind of discrete Lagrangian fills the residual r = p0 + D1 Ld + F0, its Jacobian J in w, and the end g1, p1 of the
step. Newton's unknown is w, tau(x + dx) = exp(w) tau(x) to first order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.jit import jit, lent
from ..groups.factors import (
    Ad_inverse,
    blocks_transposed_times,
    coAd,
    coAd_inverse,
    coad_of,
    move,
    pull,
    pull_slope,
    tangent_inverse,
    times_blocks,
)

WEIGHTS, MIDPOINT, DIRECT, ADJOINT, COMPOSED = range(5)


class Problem(NamedTuple):
    """What stays the same over a run of a variational integrator."""

    L: Any  # kernel of the Lagrangian, or of the discrete one
    force: Any
    constraint: Any
    kind: int  # WEIGHTS, MIDPOINT, DIRECT or ADJOINT
    forced: bool
    cay: bool
    a: float  # weights of the two ends
    b: float
    factors: Any
    p: Any


class Step(NamedTuple):
    """Where a step begins: time, size, inputs held over it, and the point."""

    t: float
    h: float
    u: Any
    g0: Any


@jit
def problem_of(kernels, data, kind, p):
    """The problem that a record of kernels and one with flags, weights and factors describe."""
    L, force, constraint = kernels.L, kernels.force, kernels.constraint
    forced, cay = data.flags[1] == 1, data.flags[2] == 1
    a, b = data.weights[0], data.weights[1]
    return Problem(L, force, constraint, kind, forced, cay, a, b, data.factors, p)


@jit
def fill(values, first, out):
    """out (n, n) = values[first:], row-major."""
    n = len(out)
    for i in range(n):
        for j in range(n):
            out[i, j] = values[first + n * i + j]


@jit
def place(g, x, c, u, z):
    """z = (g, c x, u)"""
    k = len(g)
    n = len(z) - k - len(u)
    for i in range(k):
        z[i] = g[i]
    for i in range(n):
        z[k + i] = c * x[i]
    for i in range(len(u)):
        z[k + n + i] = u[i]


@jit
def weighted(problem, step, P, x, jac, work, g1, p1):
    """Residual r and, with `jac`, its Jacobian J in w, for the discrete Lagrangian with weights a, b; g1 and p1."""
    problem, step, work = lent(problem), lent(step), lent(work)
    P, x, g1, p1 = lent(P), lent(x), lent(g1), lent(p1)
    L, force, _, _, forced, cay, a, b, factors, p = problem
    t, h, u, g0 = step
    S, R, r, J, n = work[0], work[1], work[3], work[4], len(x)
    mu, back, z = R[0], R[1], R[5]
    A, Ai, X, Y = S[0], S[1], S[2], S[3]
    move(factors, cay, g0, x, g1)
    for i in range(n):
        mu[i], p1[i], r[i], back[i] = 0.0, 0.0, P[i], -x[i]
    if jac:
        for i in range(n):
            for j in range(n):
                X[i, j], J[i, j] = 0.0, 0.0
        tangent_inverse(factors, cay, x, A)
        Ad_inverse(factors, cay, x, Ai)
    for end in range(2):
        c = b if end else a
        if c == 0.0:
            continue
        place(g1 if end else g0, x, 1.0 / h, u, z)
        d = L(t + end * h, z, p)
        xg, xx = 1 + 2 * n + n * n, 1 + 2 * n + 2 * n * n
        for i in range(n):
            mu[i] += c * d[1 + n + i]
            if end:
                p1[i] += h * c * d[1 + i]
            else:
                r[i] += h * c * d[1 + i]
        if jac:
            # X gathers what A' multiplies, in x; Y what w moves through g1; J the rest, in x
            for i in range(n):
                for j in range(n):
                    X[i, j] -= c / h * d[xx + n * i + j]
                    if end:
                        Y[i, j] = -c * d[xg + n * i + j]
                    else:
                        J[i, j] += c * d[xg + n * j + i]
        if forced:
            f = force(t + end * h, z, p)
            for i in range(n):
                if end:
                    p1[i] += h * c * f[i]
                else:
                    r[i] += h * c * f[i]
                    if jac:
                        for j in range(n):
                            J[i, j] += c * f[n + n * n + n * i + j]
    pulled = R[2]
    pull(factors, cay, x, mu, pulled)
    for i in range(n):
        r[i] -= pulled[i]
    pull(factors, cay, back, mu, pulled)
    for i in range(n):
        p1[i] += pulled[i]
    if jac:
        pull_slope(factors, cay, x, mu, S[4])
        _subtract_blocks(factors, S[4], J)
        blocks_transposed_times(factors, A, X, 1.0, J)
        _replace_by_product(factors, J, A, S[5])
        if b != 0.0:
            _zero(S[5])
            times_blocks(factors, Y, Ai, 1.0, S[5])
            blocks_transposed_times(factors, A, S[5], 1.0, J)


@jit
def _zero(M):
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            M[i, j] = 0.0


@jit
def _subtract_blocks(factors, B, M):
    k = 0
    for code in factors:
        n = 3 if code == 0 else (6 if code == -1 else code)
        if code <= 0:
            for i in range(k, k + n):
                for j in range(k, k + n):
                    M[i, j] -= B[i, j]
        k += n


@jit
def _replace_by_product(factors, M, B, scratch):
    """M becomes M B."""
    _zero(scratch)
    times_blocks(factors, M, B, 1.0, scratch)
    for i in range(len(M)):
        for j in range(len(M)):
            M[i, j] = scratch[i, j]


@jit
def midpoint(problem, step, P, x, jac, work, g1, p1):
    """The same for the midpoint rule; x is the half increment z."""
    problem, step, work = lent(problem), lent(step), lent(work)
    P, x, g1, p1 = lent(P), lent(x), lent(g1), lent(p1)
    L, force, _, _, forced, cay, _, _, factors, p = problem
    t, h, u, g0 = step
    S, R, gm, r, J, n = work[0], work[1], work[2], work[3], work[4], len(x)
    kick, turned, pulled, z = R[0], R[1], R[2], R[5]
    A, Ai, X, Y = S[0], S[1], S[2], S[3]
    move(factors, cay, g0, x, gm)
    move(factors, cay, gm, x, g1)
    place(gm, x, 2.0 / h, u, z)
    d = L(t + 0.5 * h, z, p)
    gg, xg, xx = 1 + 2 * n, 1 + 2 * n + n * n, 1 + 2 * n + 2 * n * n
    coAd(factors, cay, x, P, turned)
    for i in range(n):
        kick[i] = h * d[1 + i]
        R[3, i] = d[1 + n + i]
    pull(factors, cay, x, R[3], pulled)
    if jac:
        for i in range(n):
            for j in range(n):
                # X moves through g_m, Y through xi
                X[i, j] = h * d[gg + n * i + j]
                Y[i, j] = 2.0 * d[xg + n * j + i]
    if forced:
        f = force(t + 0.5 * h, z, p)
        for i in range(n):
            kick[i] += h * f[i]
            if jac:
                for j in range(n):
                    X[i, j] += h * f[n + n * i + j]
                    Y[i, j] += 2.0 * f[n + n * n + n * i + j]
    for i in range(n):
        r[i] = P[i] + turned[i] + kick[i] - 2.0 * pulled[i]
        kick[i] += turned[i]
    coAd(factors, cay, x, kick, p1)
    if not jac:
        return
    tangent_inverse(factors, cay, x, A)
    Ad_inverse(factors, cay, x, Ai)
    pull_slope(factors, cay, x, R[3], S[4])
    _zero(J)
    for i in range(n):
        for j in range(n):
            S[5, i, j], S[6, i, j] = d[xx + n * i + j] * 2.0 / h, d[xg + n * i + j]
    # in x: Y - 2 (slope + A' L_xixi 2/h); through g_m: X - 2 A' L_xig
    for i in range(n):
        for j in range(n):
            J[i, j] = Y[i, j]
    _subtract_blocks(factors, S[4], J)
    _subtract_blocks(factors, S[4], J)
    blocks_transposed_times(factors, A, S[5], -2.0, J)
    _replace_by_product(factors, J, A, S[5])
    blocks_transposed_times(factors, A, S[6], -2.0, X)
    times_blocks(factors, X, Ai, 1.0, J)
    # Ad* P moves by Ad* coad_w P
    _zero(S[4])
    coad_of(factors, P, S[4])
    for j in range(n):
        for i in range(n):
            R[3, i] = S[4, i, j]
        coAd(factors, cay, x, R[3], R[4])
        for i in range(n):
            J[i, j] += R[4, i]


@jit
def given(problem, step, P, x, jac, work, g1, p1):
    """The same for a discrete Lagrangian of the system's own, or its adjoint."""
    problem, step, work = lent(problem), lent(step), lent(work)
    P, x, g1, p1 = lent(P), lent(x), lent(g1), lent(p1)
    D, force, _, kind, forced, _, _, _, factors, p = problem
    t, h, u, g0 = step
    S, R, r, J, n = work[0], work[1], work[3], work[4], len(x)
    adjoint = kind == ADJOINT
    back, turned, z = R[1], R[2], R[5]
    A, Ai, X, Y = S[0], S[1], S[2], S[3]
    move(factors, False, g0, x, g1)
    for i in range(n):
        back[i] = -x[i]
    g, y, s = (g1, back, -h) if adjoint else (g0, x, h)
    place(g, y, 1.0, u, z)
    d = D(s, z, p)
    fg, ff = 1 + 2 * n, 1 + 2 * n + n * n
    for i in range(n):
        R[3, i] = d[1 + n + i]
    if jac:
        tangent_inverse(factors, False, x, A)
        Ad_inverse(factors, False, x, Ai)
        fill(d, fg, X)
        fill(d, ff, Y)
        _zero(J)
    if adjoint:
        coAd(factors, False, x, R[3], turned)
        for i in range(n):
            r[i] = P[i] - d[1 + n + i]
            p1[i] = turned[i] - d[1 + i]
        if forced:
            place(g1, x, 1.0 / h, u, z)
            f = force(t + h, z, p)
            for i in range(n):
                p1[i] += h * f[i]
        if jac:
            for i in range(n):
                for j in range(n):
                    J[i, j] = Y[i, j]
            times_blocks(factors, X, Ai, -1.0, J)
        return
    coAd_inverse(factors, False, x, R[3], turned)
    for i in range(n):
        r[i] = P[i] + d[1 + i] - turned[i]
        p1[i] = d[1 + n + i]
    if jac:
        # X' - Ad^-T (Y - coad_of(Ld_f)), then Ad^-1 from the right
        _zero(S[4])
        coad_of(factors, R[3], S[4])
        _subtract_blocks(factors, S[4], Y)
        for i in range(n):
            for j in range(n):
                S[5, i, j] = X[j, i]
        blocks_transposed_times(factors, Ai, Y, -1.0, S[5])
        times_blocks(factors, S[5], Ai, 1.0, J)
    if forced:
        place(g0, x, 1.0 / h, u, z)
        f = force(t, z, p)
        for i in range(n):
            r[i] += h * f[i]
            if jac:
                for j in range(n):
                    X[i, j] = f[n + n * n + n * i + j]
        if jac:
            times_blocks(factors, X, A, 1.0, J)


@jit
def equations(problem, step, P, x, jac, work, g1, p1):
    """p0 + D1 Ld + F0 in r, its Jacobian in w in J, and the end of the step in g1, p1, for any kind of step."""
    if problem.kind == WEIGHTS:
        weighted(problem, step, P, x, jac, work, g1, p1)
    elif problem.kind == MIDPOINT:
        midpoint(problem, step, P, x, jac, work, g1, p1)
    else:
        given(problem, step, P, x, jac, work, g1, p1)
