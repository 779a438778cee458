"""Lie group variational integrators (LGVI) in position-momentum form, on products of SO(3), SE(3) and R^n.

A discrete Lagrangian Ld(g0, g1), the action of one step, gives the map (g0, p0) -> (g1, p1) by

    p0 + D1 Ld + F0 - Dphi(g0)' lam = 0,    phi(g1) = 0,    p1 = D2 Ld + F1                            (fan (9), (10))

with left-trivialised p. With g1 = g0 tau(x), xi = x/h, A = dtauinv_x and the weights (a, b) of the two ends

    weights    Ld = h (a L(g0, xi) + b L(g1, xi)),   m = a L_xi(g0, xi) + b L_xi(g1, xi)
               D1 Ld = h a L_g(g0) - A' m,   D2 Ld = h b L_g(g1) + dtauinv_{-x}' m,   F0 = h a f(g0), F1 = h b f(g1)

(1/2, 1/2) is the trapezoidal rule (order 2), (1, 0) the left one (order 1). The midpoint rule takes half a step twice,
g_m = g0 tau(z), g1 = g_m tau(z), xi = 2 z/h, so that it is symmetric for any tau:

    midpoint   p0 + Ad* p0 + h (L_g + f) - 2 dtauinv_z' L_xi = 0,   p1 = Ad* (Ad* p0 + h (L_g + f)),   at (g_m, xi)

with Ad* = Ad*_{tau(z)}. A system may bring its own discrete Lagrangian Ld(g, f) instead, or its adjoint
Ld*_h(g0, g1) = -Ld_{-h}(g1, g0), and LGVI then composes half a step of the adjoint with half a step of Ld.

Newton's unknown is w, tau(x + dx) = exp(w) tau(x) to first order; its Jacobian is exact. Momentum maps are kept to
round-off and the two-form Omega(p) too, since Newton runs until its corrections are round-off.

Constraints: p is defined up to a multiple of Dphi'. What is stored and returned is p - Dphi(g)' lam / 2, the momentum
after half the impulse lam of the coming step: second order, where p itself is first order (see the errata of fan).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._jit import FIELD, INTS, MAT, VEC, jit, loop
from ..groups._factors import (
    SO3,
    Ad_inverse,
    blocks_apply,
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
from ..systems._lagrangian import DiscreteLagrangianFormulation, no_inputs
from ._linear import lu_factor, lu_solve
from ._march import AT, MOVED, NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, H, K, T, advance, running
from ._registry import Method, Plan, register
from ._rotation_step import rotation_step

WEIGHTS, MIDPOINT, DIRECT, ADJOINT, COMPOSED = range(5)

_SWEEPS = 30
# Newton doubles the digits: after a correction of this relative size what is left is below round-off.
_LAST = 1e-9
# A correction that no longer shrinks is round-off, where it is this small.
_STAGNATION = 1e-11


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
def weighted(L, force, forced, a, b, cay, factors, t, h, u, g0, P, x, p, jac, S, R, r, J, g1, p1):
    """Residual r and, with `jac`, its Jacobian J in w, for the discrete Lagrangian with weights a, b; g1 and p1."""
    n = len(x)
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
def midpoint(L, force, forced, cay, factors, t, h, u, g0, P, x, p, jac, S, R, G, r, J, g1, p1):
    """The same for the midpoint rule; x is the half increment z."""
    n = len(x)
    kick, turned, pulled, z = R[0], R[1], R[2], R[5]
    A, Ai, X, Y = S[0], S[1], S[2], S[3]
    gm = G[0]
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
def given(D, force, forced, adjoint, factors, t, h, u, g0, P, x, p, jac, S, R, r, J, g1, p1):
    """The same for a discrete Lagrangian of the system's own, or its adjoint."""
    n = len(x)
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
def equations(L, force, flags, weights, factors, t, h, u, g0, P, x, p, jac, work, g1, p1):
    """p0 + D1 Ld + F0 in r, its Jacobian in w in J, and the end of the step in g1, p1, for any kind of step."""
    kind, forced, cay = flags[0], flags[1] == 1, flags[2] == 1
    S, R, G, r, J = work[0], work[1], work[2], work[3], work[4]
    if kind == WEIGHTS:
        a, b = weights[0], weights[1]
        weighted(
            L, force, forced, a, b, cay, factors, t, h, u, g0, P, x, p, jac, S, R, r, J, g1, p1
        )
    elif kind == MIDPOINT:
        midpoint(L, force, forced, cay, factors, t, h, u, g0, P, x, p, jac, S, R, G, r, J, g1, p1)
    else:
        adjoint = kind == ADJOINT
        given(L, force, forced, adjoint, factors, t, h, u, g0, P, x, p, jac, S, R, r, J, g1, p1)


@jit
def new_work(n, m, k, inputs):
    """Matrices S, vectors R, a point G, residual r, Jacobian J, the system K with the multipliers, rhs, pivots."""
    size = n + m
    return (
        np.zeros((7, n, n)),
        np.zeros((7, k + n + inputs)),
        np.zeros((1, k)),
        np.zeros(n),
        np.zeros((n, n)),
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros(size, np.int64),
    )


@jit
def constrain(kind, cay, factors, m, first, last, sigma, x, R, J, M, rhs):
    """The rows of phi(g1) = 0 and the columns of the multipliers beside J, all in M; phi(g1) in rhs."""
    n = len(x)
    for i in range(n):
        for j in range(n):
            M[i, j] = J[i, j]
    v, w = R[3], R[4]
    for c in range(m):
        row = m + c * n
        for i in range(n):
            v[i] = first[row + i]
        coAd(factors, cay, x, v, w)
        for i in range(n):
            M[i, n + c] = -sigma * (v[i] + w[i] if kind == MIDPOINT else v[i])
        # Dphi Ad^-1 w, and Dphi Ad^-1 (1 + Ad^-1) w where x is half an increment
        for i in range(n):
            v[i] = last[row + i]
        coAd_inverse(factors, cay, x, v, w)
        for i in range(n):
            M[n + c, i] = w[i]
        if kind == MIDPOINT:
            coAd_inverse(factors, cay, x, w, v)
            for i in range(n):
                M[n + c, i] += v[i]
        for i in range(m):
            M[n + c, n + i] = 0.0
        rhs[n + c] = last[c]


@jit
def solve_step(
    L,
    force,
    constraint,
    flags,
    weights,
    factors,
    t,
    h,
    u,
    g0,
    p0,
    sigma,
    x,
    lam,
    p,
    run,
    work,
    g1,
    p1,
):
    """Newton for x and lam from the guesses in them, then g1, p1; returns 0, or the last correction where it fails.

    The momentum at g0 is p0 - sigma Dphi(g0)' lam: sigma is 1 for the p of the equations, 1/2 where half of the
    impulse is in p0 already.
    """
    n, m, kind = len(x), len(lam), flags[0]
    S, R, G, r, J, matrix, rhs, pivots = work
    P, dx, first = R[6], R[3], rhs
    if kind == WEIGHTS and m == 0 and len(factors) == 1 and factors[0] == SO3:
        a, b, forced, cay = weights[0], weights[1], flags[1] == 1, flags[2] == 1
        z = R[5]
        return rotation_step(
            L,
            force,
            forced,
            cay,
            a,
            b,
            t,
            h,
            u,
            g0,
            p0,
            x,
            p,
            run,
            z,
            g1,
            p1,
            _SWEEPS,
            _LAST,
            _STAGNATION,
        )
    if m > 0:
        first = constraint(t, g0, p)
    else:
        matrix = J
    size, settled = math.inf, False
    for _ in range(_SWEEPS):
        for i in range(n):
            P[i] = p0[i]
            for c in range(m):
                P[i] -= sigma * lam[c] * first[m + c * n + i]
        jac = not settled
        equations(L, force, flags, weights, factors, t, h, u, g0, P, x, p, jac, work, g1, p1)
        run[NFEV] += 1
        if settled:
            return 0.0
        for i in range(n):
            rhs[i] = r[i]
        if m > 0:
            end = constraint(t + h, g1, p)
            constrain(kind, flags[2] == 1, factors, m, first, end, sigma, x, R, J, matrix, rhs)
        if not lu_factor(matrix, pivots):
            return math.inf
        lu_solve(matrix, pivots, rhs)
        blocks_apply(factors, S[0], rhs, dx)
        before, scale, finite = size, 0.0, True
        size = 0.0
        for i in range(n):
            x[i] -= dx[i]
            size, scale = max(size, abs(dx[i])), max(scale, abs(x[i]))
            finite = finite and math.isfinite(x[i])  # max() would pass over a NaN
        for c in range(m):
            lam[c] -= rhs[n + c]
            finite = finite and math.isfinite(lam[c])
        if not finite:
            return math.inf
        settled = size <= _LAST * scale or (size >= 0.5 * before and size <= _STAGNATION)
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


@loop(FIELD, FIELD, FIELD, FIELD, INTS, VEC, INTS, VEC, VEC, VEC, VEC, VEC, MAT, VEC)
def march(L, force, control, constraint, flags, weights, factors, kept, run, y, p, ts, ys, hs):
    """The loop over steps of free and of forced systems.

    `flags`: kind, forced?, Cayley?, controlled?, lengths of g and of u. `kept` (2 + 2 n) remembers increments.
    """
    n, k = len(kept) // 2 - 1, flags[4]
    composed = flags[0] == COMPOSED
    inner = flags.copy()
    x, x2, u, state = np.zeros(n), np.zeros(n), np.zeros(flags[5]), np.zeros(k + n)
    g0, g1, p0, p1, lam = np.zeros(k), np.zeros(k), np.zeros(n), np.zeros(n), np.zeros(0)
    work = new_work(n, 0, k, flags[5])
    half = 0.5 if composed else 1.0
    y_new = y.copy()
    while running(run):
        t, h = run[T], half * run[H]
        split(y, g0, p0)
        if run[AT] != MOVED:
            kept[0] = 0.0
        guess(kept, h, x)
        inputs_at(control, flags[3] == 1, t, g0, p0, state, p, u)
        if composed:
            inner[0] = ADJOINT
        left = solve_step(
            L,
            force,
            constraint,
            inner,
            weights,
            factors,
            t,
            h,
            u,
            g0,
            p0,
            1.0,
            x,
            lam,
            p,
            run,
            work,
            g1,
            p1,
        )
        if left == 0.0:
            keep(kept, h, x)
        if composed and left == 0.0:
            copy(g1, g0)
            copy(p1, p0)
            copy(x, x2)
            inner[0] = DIRECT
            left = solve_step(
                L,
                force,
                constraint,
                inner,
                weights,
                factors,
                t + h,
                h,
                u,
                g0,
                p0,
                1.0,
                x2,
                lam,
                p,
                run,
                work,
                g1,
                p1,
            )
        join(g1, p1, lam, y_new)
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


@loop(
    FIELD,
    FIELD,
    FIELD,
    FIELD,
    INTS,
    VEC,
    INTS,
    VEC,
    VEC,
    VEC,
    VEC,
    VEC,
    VEC,
    VEC,
    VEC,
    VEC,
    MAT,
    VEC,
)
def march_constrained(
    L,
    force,
    control,
    constraint,
    flags,
    weights,
    factors,
    kept,
    lam,
    first,
    g1,
    p1,
    run,
    y,
    p,
    ts,
    ys,
    hs,
):
    """The loop over steps with multipliers; y = (g, p - Dphi' lam / 2, lam), so each step solves for the next one.

    `kept`, `lam`, `g1`, `p1` hold that next step: its size and increment, multipliers and end; `first` receives the
    multipliers of the first one.
    """
    n, m, k = len(p1), len(lam), flags[4]
    x, u, state = np.zeros(n), np.zeros(flags[5]), np.zeros(k + n)
    g0, p0 = np.zeros(k), np.zeros(n)
    work = new_work(n, m, k, flags[5])
    y_new = y.copy()
    while running(run):
        t, h = run[T], run[H]
        left = 0.0
        if run[AT] != MOVED or abs(kept[0] - h) > 1e-9 * abs(h):
            split(y, g0, p0)
            if run[AT] != MOVED:
                kept[0] = 0.0
            guess(kept, h, x)
            for c in range(m):
                lam[c] = 0.0
            inputs_at(control, flags[3] == 1, t, g0, p0, state, p, u)
            left = solve_step(
                L,
                force,
                constraint,
                flags,
                weights,
                factors,
                t,
                h,
                u,
                g0,
                p0,
                0.5,
                x,
                lam,
                p,
                run,
                work,
                g1,
                p1,
            )
            keep(kept, h, x)
            if run[K] == 0.0:
                copy(lam, first)
        if left == 0.0:
            copy(g1, g0)
            copy(p1, p0)
            guess(kept, h, x)
            inputs_at(control, flags[3] == 1, t + h, g0, p0, state, p, u)
            left = solve_step(
                L,
                force,
                constraint,
                flags,
                weights,
                factors,
                t + h,
                h,
                u,
                g0,
                p0,
                1.0,
                x,
                lam,
                p,
                run,
                work,
                g1,
                p1,
            )
            keep(kept, h, x)
            slopes = constraint(t + h, g0, p)
            for i in range(n):
                for c in range(m):
                    p0[i] -= 0.5 * lam[c] * slopes[m + c * n + i]
            join(g0, p0, lam, y_new)
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def _kernel(function: Any) -> Any:
    """A kernel for a slot that is not used is the one without inputs."""
    return no_inputs if function is None else function


def _check(formulation: Any, y: np.ndarray) -> None:
    """Compiled code does not check lengths: call every kernel once."""
    n, k, m = formulation.dim, formulation.point, formulation.inputs
    p = np.require(formulation.params, float, "CW")
    if y.shape != (k + n,):
        raise ValueError(f"the state (g, p) must have {k} + {n} numbers, got shape {y.shape}")
    z = np.concatenate([y[:k], np.zeros(n + m)])
    discrete = isinstance(formulation, DiscreteLagrangianFormulation)
    wanted = {"kernel": (1.0, z[: k + n], 1 + 2 * n + (2 if discrete else 3) * n * n)}
    if formulation.force is not None:
        wanted["force"] = (0.0, z, n + 2 * n * n + n * m)
    if formulation.control is not None:
        wanted["control"] = (0.0, y, m)
    if getattr(formulation, "constraint", None) is not None:
        c = formulation.constraints
        wanted["constraint"] = (0.0, y[:k].copy(), c + c * n + c * n * n)
    for name, (t, argument, length) in wanted.items():
        found = np.shape(getattr(formulation, name)(t, argument.copy(), p))
        if found != (length,):
            raise ValueError(f"{name} must return {length} numbers, got shape {found}")


def _decoder(formulation: Any, constraints: int) -> Any:
    if not constraints:
        return formulation.decode

    def decode(y: np.ndarray) -> np.ndarray:
        head = y[..., :-constraints]
        return head if formulation.decode is None else formulation.decode(head)

    return decode


def _encoder(formulation: Any, constraints: int) -> Any:
    if not constraints:
        return formulation.encode

    def encode(y: np.ndarray) -> np.ndarray:
        head = y if formulation.encode is None else formulation.encode(y)
        return np.concatenate([head, np.zeros((*head.shape[:-1], constraints))], axis=-1)

    return encode


def plan(
    formulation: Any, y0: np.ndarray, kind: int, weights: tuple[float, float], retraction: str
) -> Plan:
    """Plan of a variational integrator of that kind."""
    if retraction not in ("cay", "exp"):
        raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
    start = y0 if formulation.encode is None else formulation.encode(y0)
    _check(formulation, start)
    n, k, m = formulation.dim, formulation.point, getattr(formulation, "constraints", 0)
    flags = np.array(
        [
            kind,
            formulation.force is not None,
            retraction == "cay",
            formulation.control is not None,
            k,
            formulation.inputs,
        ],
        dtype=np.int64,
    )
    kernels = (
        formulation.kernel,
        _kernel(formulation.force),
        _kernel(formulation.control),
        _kernel(getattr(formulation, "constraint", None)),
    )
    data: tuple = (
        flags,
        np.array(weights),
        np.array(formulation.factors, dtype=np.int64),
        np.zeros(2 + 2 * n),
    )
    extras = None
    if m:
        first = np.zeros(m)
        data += (np.zeros(m), first, np.zeros(k), np.zeros(n))

        def extras(rows: np.ndarray, start: bool) -> dict[str, np.ndarray]:
            return {"multipliers": first[None].copy() if start else rows[:, -m:].copy()}

    return Plan(
        loop=march_constrained if m else march,
        kernels=kernels,
        data=data,
        params=formulation.params,
        encode=_encoder(formulation, m),
        decode=_decoder(formulation, m),
        structured=True,
        extras=extras,
    )


_QUADRATURES = {
    "trapezoidal": (WEIGHTS, (0.5, 0.5)),
    "midpoint": (MIDPOINT, (0.5, 0.5)),
    "left": (WEIGHTS, (1.0, 0.0)),
    "right": (WEIGHTS, (0.0, 1.0)),
}


def _prepare(
    formulation: Any,
    y0: np.ndarray,
    retraction: str | None,
    quadrature: str | None,
    usual: str,
    kind: int,
) -> Plan:
    if isinstance(formulation, DiscreteLagrangianFormulation):
        if quadrature is not None or retraction not in (None, "exp"):
            raise ValueError(
                "this system brings its own discrete Lagrangian: leave out quadrature, and retraction (exp)"
            )
        return plan(formulation, y0, kind, (1.0, 0.0), "exp")
    quadrature = usual if quadrature is None else quadrature
    if quadrature not in _QUADRATURES:
        raise ValueError(
            f"quadrature must be one of {', '.join(map(repr, _QUADRATURES))}, got {quadrature!r}"
        )
    rule, weights = _QUADRATURES[quadrature]
    return plan(formulation, y0, rule, weights, "cay" if retraction is None else retraction)


def lgvi(
    formulation: Any, y0: np.ndarray, retraction: str | None = None, quadrature: str | None = None
) -> Plan:
    """LGVI: the trapezoidal rule with the Cayley map, unless `quadrature` or `retraction` say otherwise."""
    return _prepare(formulation, y0, retraction, quadrature, "trapezoidal", COMPOSED)


def lgvi1(formulation: Any, y0: np.ndarray, retraction: str | None = None) -> Plan:
    """LGVI1: the first-order member, the left rule or the system's own discrete Lagrangian."""
    return _prepare(formulation, y0, retraction, None, "left", DIRECT)


register(
    Method(
        name="LGVI",
        family="variational",
        order=2,
        needs="lagrangian",
        source="Marsden & West 2001; fan (9), (10); for a discrete Lagrangian of its own lee (30), composed with its "
        "adjoint",
        prepare=lgvi,
        options={"retraction": None, "quadrature": None},
    )
)
register(
    Method(
        name="LGVI1",
        family="variational",
        order=1,
        needs="lagrangian",
        source="lee (48)-(56), (49) corrected; otherwise the left rule",
        prepare=lgvi1,
        options={"retraction": None},
    )
)
