"""Symplectic Lie group integrators SLGI(theta) on T*G in the right trivialisation: celledoni (15)-(17).

For (g, mu) with g' = (f1) g, mu' = f2 - ad*_{f1} mu in the convention of the paper, f = (dH/dmu, -R_g* dH/dg) (14), and
n for the paper's n-bar:

    M = dexp*_{-xi} (mu0 + Ad*_{exp(theta xi)} n) - theta dexp*_{-theta xi} Ad*_{exp(theta xi)} n              (15)
    (xi, n) = h f(exp(theta xi) g0, M)                                                                          (16)
    g1 = exp(xi) g0,   mu1 = Ad*_{exp((theta - 1) xi)} n + Ad*_{exp(-xi)} mu0                      (17, corrected)

What is corrected: (17) is a product (11), which is printed with Ad*_{g1} mu2 where Ad*_{g1^-1} mu2 belongs.
theta = 1/2 is symmetric and of order 2, every other theta in [0, 1] of order 1; all are symplectic for the form (13).
On R^n they are the two symplectic Euler methods (theta = 0, 1) and the midpoint rule.

The group is any of the package, or a product (`groups.left_factors`): closed forms on SO(3), SE(3), R^n, matrices and
structure constants elsewhere. A reader's own Hamiltonian becomes a problem by `lielab.systems.CotangentSystem`.

Rotations are brought back onto SO(3) in each step (SO(3) and SE(3) by their codes), so that R stays within 1e-15; a
million steps move R mu by 1e-12. Elements of other matrix groups are not brought back: equal steps, which round the
same way each time, can add up to 1e-10 in a million.

(15), (16) are solved for xi and n at once by Newton. The field is any kernel, so that its derivatives are differences;
the iteration ends at round-off all the same, since only the residual decides when it stops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.arguments import as_real
from ..core.differences import largest
from ..core.jit import F8, FIELD, INTS, MAT, VEC, jit, lent, loop, record
from ..core.linear import lu_factor, lu_solve
from ..core.march import (
    AT,
    MOVED,
    NFEV,
    NOT_CONVERGED,
    RESIDUAL,
    RUNNING,
    STATE,
    H,
    T,
    advance,
    running,
)
from ..core.newton import ROUND, SLOW, STALLED, correct
from ..groups.left_factors import coAd_exp, dexp_dual, move_left
from ._registry import Method, Plan, register
from .rkmk import scaled

_SWEEPS = 60
_DIFFERENCE = 1.5e-8  # half the digits, for one-sided differences


SLGIKernels = record("SLGIKernels", field=FIELD)
# z = (xi, n) keeps the last increment as the next guess; from V on all is scratch.
SLGIData = record(
    "SLGIData",
    codes=INTS,
    tables=VEC,
    theta=F8,
    z=VEC,
    V=MAT,
    state=VEC,
    y_new=VEC,
    A=MAT,
    rhs=VEC,
    pivots=INTS,
)


@jit
def stage(field, data, t, h, y, p):
    """f at the stage (g, M) that z = (xi, n) leads to: (16) without its h, g = exp(theta xi) g0 and M from (15)."""
    data, y, p = lent(data), lent(y), lent(p)
    theta, z, V, state = data.theta, data.z, data.V, data.state
    group, d = (data.codes, data.tables), V.shape[1]
    k = len(y) - d
    xi, n, g0, mu0, g, M = z[:d], z[d:], y[:k], y[k:], state[:k], state[k:]
    # M = dexp*_{-xi} (mu0 + Ad*_{exp(theta xi)} n) - theta dexp*_{-theta xi} Ad*_{exp(theta xi)} n, from inside out
    theta_xi, minus_xi, minus_theta_xi = V[0], V[1], V[2]
    Ad_n, mu0_Ad_n, dexp_mu0_Ad_n, dexp_Ad_n = V[3], V[4], V[5], V[6]
    scaled(theta, xi, theta_xi)
    scaled(-1.0, xi, minus_xi)
    scaled(-theta, xi, minus_theta_xi)
    move_left(group, theta_xi, g0, g)  # g = exp(theta xi) g0: celledoni (16)
    coAd_exp(group, theta_xi, n, Ad_n)  # Ad*_{exp(theta xi)} n
    for i in range(d):
        mu0_Ad_n[i] = mu0[i] + Ad_n[i]
    dexp_dual(group, minus_xi, mu0_Ad_n, dexp_mu0_Ad_n)  # dexp*_{-xi} (mu0 + Ad* n)
    dexp_dual(group, minus_theta_xi, Ad_n, dexp_Ad_n)  # dexp*_{-theta xi} Ad* n
    for i in range(d):
        M[i] = dexp_mu0_Ad_n[i] - theta * dexp_Ad_n[i]  # celledoni (15)
    return field(t + theta * h, state, p)


@jit
def solve_stage(field, data, t, h, y, p, run):
    """Newton for z = (xi, n) from the guess in it; returns 0, or the last correction where it fails.

    xi and n have different units, and differ by many powers of ten where the unit of mass is small: each is measured
    by its own size, n by that of mu too. At rest round-off is all there is of n; it counts by what it moves, through
    `heavy`, the size of d xi/d n.
    """
    data, y, p, run = lent(data), lent(y), lent(p), lent(run)
    z, A, rhs, pivots = data.z, data.A, data.rhs, data.pivots
    d = len(z) // 2
    k = len(y) - d
    place, mu = largest(y[:k]), largest(y[k:])
    ready, last, heavy = False, math.inf, 0.0
    for _ in range(_SWEEPS):
        value = stage(field, data, t, h, y, p)
        run[NFEV] += 1
        for i in range(2 * d):
            rhs[i] = z[i] - h * value[i]  # z = (xi, n): celledoni (16)
        if not ready:
            move, push_size = largest(z[:d]), max(largest(z[d:]), mu)
            heavy = 0.0
            for j in range(2 * d):
                kept = z[j]
                size = move if j < d else push_size
                z[j] = kept + _DIFFERENCE * (size if size > 0.0 else 1.0)
                delta = z[j] - kept
                moved = stage(field, data, t, h, y, p)
                z[j] = kept
                for i in range(2 * d):
                    A[i, j] = (1.0 if i == j else 0.0) - h * (moved[i] - value[i]) / delta
                    if j >= d > i:
                        heavy = max(heavy, abs(A[i, j]))
            run[NFEV] += 2 * d
            ready = True
            if not lu_factor(A, pivots):
                return math.inf
        lu_solve(A, pivots, rhs)
        size, _ = correct(z, rhs)
        if not size < math.inf:
            return math.inf
        turn, gain = largest(rhs[:d]), largest(rhs[d:])
        move, push_size = largest(z[:d]), max(largest(z[d:]), mu)
        size = max(ratio(turn, move), ratio(gain, push_size))
        still = turn <= STALLED * (place + move) and (
            gain <= STALLED * push_size or heavy * gain <= STALLED * (place + move)
        )
        if size <= ROUND or (size >= last and still):
            return 0.0
        if size > SLOW * last and not still:
            ready = False
        last = size
    return last


@jit
def ratio(x, whole):
    """x / whole, 0 where both are 0"""
    return x / whole if x > 0.0 else 0.0


@loop(SLGIKernels.kind, SLGIData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps."""
    field, data, run, y, p = kernels.field, lent(data), lent(run), lent(y), lent(p)
    theta, z, V, y_new = data.theta, data.z, data.V, data.y_new
    part, Ad_n, Ad_mu0 = V[0], V[1], V[2]
    group, d = (data.codes, data.tables), len(z) // 2
    k = len(y) - d
    xi, n, g0, mu0, g1, mu1 = z[:d], z[d:], y[:k], y[k:], y_new[:k], y_new[k:]
    while running(run):
        t, h = run[T], run[H]
        if run[AT] != MOVED:
            value = field(t, y, p)
            run[NFEV] += 1
            scaled(h, value, z)  # the guess (xi, n) = h f(y)
        left = solve_stage(field, data, t, h, y, p, run)
        move_left(group, xi, g0, g1)  # g1 = exp(xi) g0: celledoni (17)
        scaled(theta - 1.0, xi, part)
        coAd_exp(group, part, n, Ad_n)  # Ad*_{exp((theta - 1) xi)} n
        scaled(-1.0, xi, part)
        coAd_exp(group, part, mu0, Ad_mu0)  # Ad*_{exp(-xi)} mu0
        for i in range(d):
            mu1[i] = Ad_n[i] + Ad_mu0[i]  # Ad* n + Ad* mu0: celledoni (17), corrected
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def prepare(formulation: Any, y0: np.ndarray, theta: float = 0.5) -> Plan:
    """Plan of SLGI(theta)."""
    found = as_real(theta)
    if found is None or not 0.0 <= found <= 1.0:
        raise ValueError(f"theta must be a number between 0 and 1, got {theta!r}")
    start = y0 if formulation.encode is None else formulation.encode(y0)
    d, k = formulation.dim, formulation.point
    if start.shape != (k + d,):
        raise ValueError(f"the state (g, mu) must have {k} + {d} numbers, got shape {start.shape}")
    value = np.shape(
        formulation.field(0.0, start.copy(), np.require(formulation.params, float, "CW"))
    )
    if value != (2 * d,):
        raise ValueError(f"field must return {2 * d} numbers, f1 and f2, got shape {value}")
    return Plan(
        loop=march,
        kernels=SLGIKernels(formulation.field),
        data=SLGIData(
            *formulation.group,
            theta=found,
            z=np.zeros(2 * d),
            V=np.zeros((7, d)),
            state=np.zeros(k + d),
            y_new=np.zeros(k + d),
            A=np.zeros((2 * d, 2 * d)),
            rhs=np.zeros(2 * d),
            pivots=np.zeros(2 * d, dtype=np.int64),
        ),
        params=formulation.params,
        encode=formulation.encode,
        decode=formulation.decode,
        structured=True,
    )


def _midpoint(formulation: Any, y0: np.ndarray) -> Plan:
    return prepare(formulation, y0, 0.5)


register(
    Method(
        name="SLGI",
        family="cotangent",
        order=2,  # at theta = 1/2, 1 otherwise
        needs="cotangent",
        source="Bogfjellmo & Marthinsen 2016; celledoni (15)-(17), (17) corrected",
        prepare=prepare,
        options={"theta": 0.5},
    )
)
# On the quadratic form the group is the direct product SO(3) x R^3: p stays constant and q acts on nothing, so that
# (Q, pi) are those of SLGI(1/2) on the right-trivialised heavy top, to round-off; only q is new.
register(
    Method(
        name="SLGIKK",
        family="cotangent",
        order=2,
        needs="quadratic",
        source="celledoni 3.4.3, (29)-(32): SLGI(1/2) on T*(SO(3) x R^3)",
        prepare=_midpoint,
    )
)
