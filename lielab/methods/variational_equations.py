"""The equations of one step of a variational integrator and their Jacobian; the formulas are in `variational`.

Each kind of discrete Lagrangian fills the residual r = p0 + D1 Ld + F0, its Jacobian J in w, and the end g1, p1 of the
step. Newton's unknown is w, tau(x + dx) = exp(w) tau(x) to first order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.jit import inner, jit, lent
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
# Places among the flags; the last two are lengths, of g and of u.
KIND, FORCED, CAY, CONTROLLED, POINT, INPUTS = range(6)


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
    forced, cay = data.flags[FORCED] == 1, data.flags[CAY] == 1
    a, b = data.weights[0], data.weights[1]
    return Problem(L, force, constraint, kind, forced, cay, a, b, data.factors, p)


class Work(NamedTuple):
    """What a step works with."""

    S: Any  # matrices (8, n, n); S[0] keeps dtauinv_x, which leads from w to dx
    R: Any  # vectors, a row each; R[17] stays 0
    point: Any  # an element of the group
    r: Any  # residual
    J: Any  # its Jacobian
    system: Any  # J and the rows and columns of the multipliers
    rhs: Any
    pivots: Any


class Places(NamedTuple):
    """Where the derivatives begin in what a Lagrangian's kernel returns, L being entry 0; matrices row by row."""

    g: int
    xi: int
    gg: int
    xg: int  # rows: entries of L_xi, columns: the direction in which g moves
    xx: int


@jit
def places(n):
    """The places of derivatives on a group of dimension n."""
    return Places(1, 1 + n, 1 + 2 * n, 1 + 2 * n + n * n, 1 + 2 * n + 2 * n * n)


class DiscretePlaces(NamedTuple):
    """The same for a discrete Lagrangian Ld(g, f)."""

    g: int
    f: int
    fg: int  # rows: entries of Ld_f, columns: the direction in which g moves
    ff: int


@jit
def discrete_places(n):
    """The places of derivatives on a group of dimension n."""
    return DiscretePlaces(1, 1 + n, 1 + 2 * n, 1 + 2 * n + n * n)


class ForcePlaces(NamedTuple):
    """Where a force and its derivatives begin in what its kernel returns."""

    f: int
    g: int
    xi: int


@jit
def force_places(n):
    """The places of derivatives on a group of dimension n."""
    return ForcePlaces(0, n, n + n * n)


@jit
def fill(values, first, out):
    """out (n, n) = values[first:], row-major."""
    n = len(out)
    for i in range(n):
        for j in range(n):
            out[i, j] = values[first + n * i + j]


@jit
def gain(c, values, first, out):
    """out (n) += c values[first:]"""
    values, out = lent(values), lent(out)
    for i in range(len(out)):
        out[i] += c * values[first + i]


@jit
def gain_matrix(c, values, first, out):
    """out (n, n) += c values[first:], row-major."""
    values, out = lent(values), lent(out)
    n = len(out)
    for i in range(n):
        for j in range(n):
            out[i, j] += c * values[first + n * i + j]


@jit
def gain_transposed(c, values, first, out):
    """out (n, n) += c times the transpose of values[first:], row-major."""
    values, out = lent(values), lent(out)
    n = len(out)
    for i in range(n):
        for j in range(n):
            out[i, j] += c * values[first + n * j + i]


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
def at_end(problem, step, t, g, x, none, z):
    """What the kernels return at (g, xi), xi = x/h: of the Lagrangian, and of the force, or `none` of zeros."""
    problem, step = lent(problem), lent(step)
    place(g, x, 1.0 / step.h, step.u, z)
    L = problem.L(t, z, problem.p)
    return L, problem.force(t, z, problem.p) if problem.forced else none


@jit
def weighted(problem, step, p0, x, jac, work, g1, p1):
    """Residual r and, with `jac`, its Jacobian J in w, for the discrete Lagrangian with weights a, b; g1 and p1.

    With L0, f0 at g0, L1, f1 at g1, mu = a L0_xi + b L1_xi, M = a L0_xx + b L1_xx, A = dtauinv_x, Ad = Ad_{tau(x)}:

        r  = p0 + D1 Ld + h a f0,   D1 Ld = h a L0_g - A^T mu                                             fan (9a)
        p1 = D2 Ld + h b f1,        D2 Ld = h b L1_g + dtauinv_{-x}^T mu                            fan (9b), (10c)
        J  = (a (L0_xg^T + f0_xi) - d(A^T mu)/dx - A^T M / h) A - b A^T L1_xg Ad^-1

    The paper's Ad*_{tau(x)} dtauinv*_x is dtauinv_{-x}^T, since dtauinv_x Ad_{tau(x)} = dtauinv_{-x}. With a constraint
    p0 comes less Dphi(g0)^T lam. On SO(3) alone J is two lines too, on values: `_rotation_step.rotation_step`.
    """
    problem, step, work = lent(problem), lent(step), lent(work)
    p0, x, g1, p1 = lent(p0), lent(x), lent(g1), lent(p1)
    cay, a, b, factors = problem.cay, problem.a, problem.b, problem.factors
    t, h, g0 = step.t, step.h, step.g0
    S, R, r, J, n = work.S, work.R, work.r, work.J, len(x)
    at, of = places(n), force_places(n)
    mu, minus_x, A_mu, back_mu, z, none = R[0], R[1], R[2], R[3], R[5], R[17]
    A, Ad_inv, minus_M_h, minus_b_L1_xg, slope, scratch = S[0], S[1], S[2], S[3], S[4], S[5]
    move(factors, cay, g0, x, g1)  # g1 = g0 tau(x)
    # An end of weight 0 is not asked for: the other one stands in for it.
    t0, g = (t, g0) if a != 0.0 else (t + h, g1)
    L0, f0 = at_end(problem, step, t0, g, x, none, z)
    L1, f1 = at_end(problem, step, t + h, g1, x, none, z) if a != 0.0 and b != 0.0 else (L0, f0)
    for i in range(n):
        mu[i] = a * L0[at.xi + i] + b * L1[at.xi + i]
        minus_x[i] = -x[i]
    pull(factors, cay, x, mu, A_mu)  # A^T mu
    pull(factors, cay, minus_x, mu, back_mu)  # dtauinv_{-x}^T mu
    for i in range(n):
        L0_g, L1_g = L0[at.g + i], L1[at.g + i]
        D1_Ld = h * a * L0_g - A_mu[i]
        D2_Ld = h * b * L1_g + back_mu[i]
        r[i] = p0[i] + D1_Ld + h * a * f0[i]  # p0 + D1 Ld + F-: fan (9a)
        p1[i] = D2_Ld + h * b * f1[i]  # D2 Ld + F+: fan (9b), (10c)
    if not jac:
        return
    tangent_inverse(factors, cay, x, A)
    Ad_inverse(factors, cay, x, Ad_inv)
    pull_slope(factors, cay, x, mu, slope)
    _zero(J)
    _zero(minus_M_h)
    if a != 0.0:
        gain_matrix(-a / h, L0, at.xx, minus_M_h)
        gain_transposed(a, L0, at.xg, J)  # a L0_xg^T
        if problem.forced:
            gain_matrix(a, f0, of.xi, J)  # + a f0_xi
    if b != 0.0:
        gain_matrix(-b / h, L1, at.xx, minus_M_h)
    _subtract_blocks(factors, slope, J)  # - d(A^T mu)/dx
    blocks_transposed_times(factors, A, minus_M_h, 1.0, J)  # - A^T M / h
    _replace_by_product(factors, J, A, scratch)  # all this times A
    if b != 0.0:
        _zero(minus_b_L1_xg)
        _zero(scratch)
        gain_matrix(-b, L1, at.xg, minus_b_L1_xg)
        times_blocks(factors, minus_b_L1_xg, Ad_inv, 1.0, scratch)
        blocks_transposed_times(factors, A, scratch, 1.0, J)  # - b A^T L1_xg Ad^-1


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


@inner  # or a step costs 4 % more
def midpoint(problem, step, p0, x, jac, work, g1, p1):
    """Residual r, its Jacobian J in w, g1 and p1 for the midpoint rule; x is z, L and f are those at (g_m, xi).

    With A = dtauinv_z and Ad = Ad_{tau(z)} the variations of g0, g_m, g1 and z obey (1 + Ad) eta_m = eta0 + Ad eta1,
    dz = A (Ad eta1 - eta_m), and F0 . eta0 + F1 . eta1 = h f . eta_m; so (1 + Ad)^T (p0 + D1 Ld + F0) and p1 are

        r  = p0 + Ad^T p0 + h (L_g + f) - 2 A^T L_xi,    p1 = Ad^T (Ad^T p0 + h (L_g + f))               fan (9)
        J  = (2 (L_xg^T + f_xi) - 2 d(A^T L_xi)/dz - 4 A^T L_xx / h) A + (h (L_gg + f_g) - 2 A^T L_xg) Ad^-1
             + Ad^T coad_. p0
    """
    problem, step, work = lent(problem), lent(step), lent(work)
    p0, x, g1, p1 = lent(p0), lent(x), lent(g1), lent(p1)
    forced, cay, factors, p = problem.forced, problem.cay, problem.factors, problem.p
    t, h, u, g0 = step
    S, R, gm, r, J, n = work.S, work.R, work.point, work.r, work.J, len(x)
    at, of = places(n), force_places(n)
    kick, Ad_p0, A_L_xi, L_xi, column, z = R[0], R[1], R[2], R[3], R[4], R[5]
    A, Ad_inv, X, Y, slope, mass, L_xg = S[0], S[1], S[2], S[3], S[4], S[5], S[6]
    move(factors, cay, g0, x, gm)  # g_m = g0 tau(z)
    move(factors, cay, gm, x, g1)  # g1 = g_m tau(z)
    place(gm, x, 2.0 / h, u, z)
    d = problem.L(t + 0.5 * h, z, p)
    coAd(factors, cay, x, p0, Ad_p0)  # Ad^T p0
    for i in range(n):
        kick[i] = h * d[at.g + i]  # h (L_g + f), without f yet
        L_xi[i] = d[at.xi + i]
    pull(factors, cay, x, L_xi, A_L_xi)  # A^T L_xi
    if jac:  # X is what moves through g_m, Y what moves through xi
        _zero(X)
        _zero(Y)
        gain_matrix(h, d, at.gg, X)
        gain_transposed(2.0, d, at.xg, Y)
    if forced:
        f = problem.force(t + 0.5 * h, z, p)
        gain(h, f, of.f, kick)
        if jac:
            gain_matrix(h, f, of.g, X)
            gain_matrix(2.0, f, of.xi, Y)
    for i in range(n):
        r[i] = p0[i] + Ad_p0[i] + kick[i] - 2.0 * A_L_xi[i]  # fan (9a)
        kick[i] += Ad_p0[i]
    coAd(factors, cay, x, kick, p1)  # p1 = Ad^T (Ad^T p0 + h (L_g + f)): fan (9b)
    if not jac:
        return
    tangent_inverse(factors, cay, x, A)
    Ad_inverse(factors, cay, x, Ad_inv)
    pull_slope(factors, cay, x, L_xi, slope)
    for i in range(n):
        for j in range(n):
            mass[i, j] = d[at.xx + n * i + j] * 2.0 / h
            J[i, j] = Y[i, j]
    fill(d, at.xg, L_xg)
    _subtract_blocks(factors, slope, J)
    _subtract_blocks(factors, slope, J)  # - 2 d(A^T L_xi)/dz
    blocks_transposed_times(factors, A, mass, -2.0, J)  # - 4 A^T L_xx / h
    _replace_by_product(factors, J, A, mass)  # all this times A
    blocks_transposed_times(factors, A, L_xg, -2.0, X)  # h (L_gg + f_g) - 2 A^T L_xg
    times_blocks(factors, X, Ad_inv, 1.0, J)  # + this times Ad^-1
    # Ad* p0 moves by Ad* coad_w p0
    coad, moved = S[4], R[3]
    _zero(coad)
    coad_of(factors, p0, coad)
    for j in range(n):
        for i in range(n):
            moved[i] = coad[i, j]
        coAd(factors, cay, x, moved, column)
        for i in range(n):
            J[i, j] += column[i]


@jit
def given(problem, step, mu, x, jac, work, g1, mu1):
    """Residual r, its Jacobian J in w, g1 and the new mu for a discrete Lagrangian of the system's own, or its adjoint.

    tau is exp, Ad = Ad_{tau(x)}, f = tau(x); mu is lee's letter for fan's p, and F the force:

    r = mu + Ld_g - Ad*_{f^-1} Ld_f + h F,    mu1 = Ld_f,    Ld at (g0, tau(x)), step h     lee (48)-(50), (54)-(56)
    r = mu - Ld_f,    mu1 = Ad*_f Ld_f - Ld_g + h F,         Ld at (g1, tau(-x)), step -h
    """
    problem, step, work = lent(problem), lent(step), lent(work)
    mu, x, g1, mu1 = lent(mu), lent(x), lent(g1), lent(mu1)
    forced, factors, p = problem.forced, problem.factors, problem.p
    t, h, u, g0 = step
    S, R, r, J, n = work.S, work.R, work.r, work.J, len(x)
    at, of = discrete_places(n), force_places(n)
    adjoint = problem.kind == ADJOINT
    Ld_g, minus_x, coAd_Ld_f, Ld_f, z = R[0], R[1], R[2], R[3], R[5]
    A, Ad_inv, Ld_fg, Ld_ff, coad, moved = S[0], S[1], S[2], S[3], S[4], S[5]
    move(factors, False, g0, x, g1)  # g1 = g0 f: lee (51)-(53)
    for i in range(n):
        minus_x[i] = -x[i]
    g, y, s = (g1, minus_x, -h) if adjoint else (g0, x, h)
    place(g, y, 1.0, u, z)
    d = problem.L(s, z, p)  # Ld and its derivatives
    for i in range(n):
        Ld_g[i], Ld_f[i] = d[at.g + i], d[at.f + i]
    if jac:
        tangent_inverse(factors, False, x, A)
        Ad_inverse(factors, False, x, Ad_inv)
        fill(d, at.fg, Ld_fg)
        fill(d, at.ff, Ld_ff)
        _zero(J)
    if adjoint:
        coAd(factors, False, x, Ld_f, coAd_Ld_f)  # Ad*_f Ld_f
        for i in range(n):
            r[i] = mu[i] - Ld_f[i]
            mu1[i] = coAd_Ld_f[i] - Ld_g[i]
        if forced:
            place(g1, x, 1.0 / h, u, z)
            gain(h, problem.force(t + h, z, p), of.f, mu1)  # + h F
        if jac:  # Ld_ff - Ld_fg Ad^-1
            for i in range(n):
                for j in range(n):
                    J[i, j] = Ld_ff[i, j]
            times_blocks(factors, Ld_fg, Ad_inv, -1.0, J)
        return
    coAd_inverse(factors, False, x, Ld_f, coAd_Ld_f)  # Ad*_{f^-1} Ld_f
    for i in range(n):
        r[i] = mu[i] + Ld_g[i] - coAd_Ld_f[i]  # lee (48)-(50)
        mu1[i] = Ld_f[i]  # lee (54)-(56)
    if jac:
        # Ld_fg^T - Ad^-T (Ld_ff - coad_of(Ld_f)), then Ad^-1 from the right
        _zero(coad)
        coad_of(factors, Ld_f, coad)
        _subtract_blocks(factors, coad, Ld_ff)
        for i in range(n):
            for j in range(n):
                moved[i, j] = Ld_fg[j, i]
        blocks_transposed_times(factors, Ad_inv, Ld_ff, -1.0, moved)
        times_blocks(factors, moved, Ad_inv, 1.0, J)
    if forced:
        place(g0, x, 1.0 / h, u, z)
        F = problem.force(t, z, p)
        gain(h, F, of.f, r)  # + h F
        if jac:
            fill(F, of.xi, moved)  # F_xi
            times_blocks(factors, moved, A, 1.0, J)


@jit
def equations(problem, step, p0, x, jac, work, g1, p1):
    """p0 + D1 Ld + F0 in r, its Jacobian in w in J, and the end of the step in g1, p1, for any kind of step."""
    if problem.kind == WEIGHTS:
        weighted(problem, step, p0, x, jac, work, g1, p1)
    elif problem.kind == MIDPOINT:
        midpoint(problem, step, p0, x, jac, work, g1, p1)
    else:
        given(problem, step, p0, x, jac, work, g1, p1)
