"""The leapfrog on Riemannian manifolds (leimkuhler): symplectic, time-reversible, of order 2.

The generating function is S = (G(q1)(w, w) + G(q2)(w', w'))/(4h) - h (V(q1) + V(q2))/2 with q2 = exp_q1 w and
w' = -P w, P the parallel transport along that geodesic. Given q1, v1 the implicit half p1 = -d1 S is iterated for w as
in (32), the explicit half p2 = d2 S is (33). Three kinds of spaces whose geodesics are known:

- the unit sphere in R^n, in ambient coordinates (5.1, its slips corrected);
- a group with a bi-invariant metric, left-trivialised (5.2). There (30) becomes
  G1 A(q1, w) = dG1(w, w)/2 + 2 G1 w - dexpinv_w^T (G1 + G2) w,
  since with X = ad_w/2, R_w = -X^2 and P = exp(-X) its three terms are dG1(w, w)/2 + X^T G1 w, by leimkuhler (44)
  corrected, (2 - X coth X)^T G1 w and -(exp(-X) X/sinh X)^T G2 w, and exp(-X) X/sinh X = X coth X - X = dexpinv_w;
  where G is constant this is the corrected (45), ad_w + 2 (1 - f1/f2)(-ad_w^2/4) = 2 (1 - dexpinv_w);
- G/H for a symmetric pair, where R_w = -ad_w^2 and parallel transport is left translation.

The iteration stops when its correction stagnates, at round-off. On the sphere q is divided by its length in each step,
on SO(3) and SE(3) the rotation is brought back onto SO(3): R mu moves by 2e-12 in a million equal steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..actions import Action
from ..core.arguments import count
from ..core.jit import ACT, FIELD, I8, INTS, MAT, jit, lent, loop, record
from ..core.kernels import Kernel
from ..core.linear import lu_solve
from ..core.march import NFEV, NOT_CONVERGED, RUNNING, STATE, H, T, advance, norm, running
from ..core.newton import SLOW_SWEEPS, correct, replace
from ..formulations.forms import SymmetricPair
from ..groups.scalars import bernoulli
from ._registry import Method, Plan, register
from ._riemannian_sphere import (
    SphereData,
    SphereKernels,
    copy,
    march_sphere,
    negative,
    settle,
    solve_entries,
    times,
)

_TERMS = 40
_B = bernoulli(2 * _TERMS + 2)
# X coth X and X/sinh X as power series in X^2 (radius pi in X).
_COTH = tuple(float(4**k * _B[2 * k]) / math.factorial(2 * k) for k in range(_TERMS))
_CSCH = tuple(float((2 - 4**k) * _B[2 * k]) / math.factorial(2 * k) for k in range(_TERMS))


_METRIC = {"metric": FIELD, "metric_gradient": FIELD, "potential_gradient": FIELD}
GroupKernels = record("GroupKernels", **_METRIC, act=ACT, dexpinv=ACT)
# L holds the factors of G1. Rows of V: w, -w, start, then scratch, of which one is 0; of Y: (q1, w), (q2, w) and the
# new state.
GroupData = record("GroupData", momentum=I8, L=MAT, V=MAT, Y=MAT, pivots=INTS)


@jit
def group_end(kernels, data, t, m, p):
    """G2 at q2 = q1 exp(w), which is left in Y[1]."""
    data, p = lent(data), lent(p)
    here, there, w, minus = data.Y[0], data.Y[1], data.V[0], data.V[1]
    negative(w, minus)
    kernels.act(minus, here[:m], there[:m])  # act(u, q) = q exp(-u)
    return kernels.metric(t, there, p)


@jit
def group_mean(dexpinv, u, data, G1, G2, out):
    """dexpinv_u^T m, m = (G1 + G2) w / 2: at u = w it is G1 (w - A/2) + dG1(w, w)/4 of leimkuhler (30), (45)"""
    data, G1, G2 = lent(data), lent(G1), lent(G2)
    w, m, e, column = data.V[0], data.V[3], data.V[5], data.V[6]
    n = len(w)
    for i in range(n):
        m[i] = 0.0
        for j in range(n):
            m[i] += 0.5 * (G1[n * i + j] + G2[n * i + j]) * w[j]
    for i in range(n):  # e is 0, but for a moment e_i
        e[i] = 1.0
        dexpinv(u, e, column)
        e[i] = 0.0
        out[i] = 0.0
        for j in range(n):
            out[i] += column[j] * m[j]


@jit
def group_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and p1 by leimkuhler (32), left in V[0]; returns the status. G1 stands in for the derivative.

    G1 times (32), which is leimkuhler (46) where V = 0 and G is constant, and G1 A from leimkuhler (30), which for a
    constant G is the corrected leimkuhler (45):

        G1 w = start + G1 A(q1, w)/2,   start = h p1 - h^2 dV1/2,   q2 = q1 exp(w)
        G1 A(q1, w)/2 = dG1(w, w)/4 + G1 w - pulled,   pulled = dexpinv_w^T (G1 + G2) w / 2

    so that G1 w drops out of the residual: G1 (w - A/2) - start = pulled - start - dG1/4.
    """
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    L, V, here, pivots = data.L, data.V, data.Y[0], data.pivots
    n = V.shape[1]
    m = len(y) - n
    w, start, pulled, r = V[0], V[2], V[4], V[7]
    copy(y, here[:m])
    slope = kernels.potential_gradient(t, y, p)
    copy(y[m:], w)
    copy(w, start)
    if not data.momentum:
        times(G1, w, start)
    for i in range(n):
        start[i] = h * start[i] - 0.5 * h * h * slope[i]  # h p1 - h^2 dV1/2
    copy(start, w)
    solve_entries(G1, w, L, pivots)
    G2, last = G1, math.inf
    for _ in range(SLOW_SWEEPS):
        if m > 0:
            G2 = group_end(kernels, data, t + h, m, p)
        copy(w, here[m:])
        dG = kernels.metric_gradient(t, here, p)
        group_mean(kernels.dexpinv, w, data, G1, G2, pulled)
        for i in range(n):
            r[i] = pulled[i] - start[i] - 0.25 * dG[i]  # G1 (w - A/2) - start: leimkuhler (32)
        lu_solve(L, pivots, r)
        size, scale = correct(w, r)
        if not size < math.inf:
            break
        if settle(size, last, scale, run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def group_second_half(kernels, data, t, h, m, G1, p):
    """q2 and p2, or v2, into Y[2].

    h p2 = dexpinv_{-w}^T (G1 + G2) w / 2 + dG2(w, w)/4 - h^2 dV2/2                        leimkuhler (33)

    Where V = 0 and G is constant this is h p2 = h p1 + ad_w^T G w, leimkuhler (47): dexpinv_{-w} = dexpinv_w + ad_w.
    """
    data, p = lent(data), lent(p)
    V, there, y_new = data.V, data.Y[1], data.Y[2]
    n = V.shape[1]
    w, minus, pulled, p2 = V[0], V[1], V[4], V[7]
    negative(w, minus)
    G2 = group_end(kernels, data, t + h, m, p) if m > 0 else G1
    copy(w, there[m:])
    dG = kernels.metric_gradient(t + h, there, p)
    slope = kernels.potential_gradient(t + h, there, p)
    group_mean(kernels.dexpinv, minus, data, G1, G2, pulled)
    for i in range(n):
        p2[i] = (pulled[i] + 0.25 * dG[i]) / h - 0.5 * h * slope[i]  # leimkuhler (33)
    if not data.momentum:
        solve_entries(G2, p2, data.L, data.pivots)
    copy(there[:m], y_new[:m])
    copy(p2, y_new[m:])


@loop(GroupKernels.kind, GroupData.kind, *STATE)
def march_group(kernels, data, run, y, p, ts, ys, hs):
    """A group, state q and v or G v; act(u, q) = q exp(-u). Without q this is the Lie-Poisson algorithm of figure 2."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    m, y_new = len(y) - data.V.shape[1], data.Y[2]
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = group_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            group_second_half(kernels, data, t, h, m, G1, p)
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


@jit
def series_transposed(coefficients, square, m, term, column, out):
    """f(ad_w^2)^T m for a power series f, with (ad_w^2)^T in `square`; term and column are scratch."""
    n = len(m)
    for i in range(n):
        term[i], out[i] = m[i], 0.0
    for k in range(len(coefficients)):
        size = 0.0
        for i in range(n):
            out[i] += coefficients[k] * term[i]
            size = max(size, abs(coefficients[k] * term[i]))
        if size <= 1e-18 * norm(m):
            break
        for i in range(n):
            column[i] = 0.0
            for j in range(n):
                column[i] += square[i, j] * term[j]
        copy(column, term)


@jit
def pair_covector(bracket, G1, G2, dG, w, V, out):
    """G A(w) = dG1(w, w)/2 + (2 - X coth X)^T G1 w - (X/sinh X)^T G2 w, X = ad_w: leimkuhler (30) for a symmetric pair.

    What goes into (30) is corrected: R_w = -ad_w^2 needs a symmetric pair, the transport is the identity (not
    Ad_exp(-w/2)), so that nabla G has no ad term. (30) itself is right, with G for its h: see `_riemannian_sphere`.
    bracket(w, v) = [w, [w, v]]; of the rows of V unit is 0, and the others from the third on are scratch.
    """
    G1, G2, dG = lent(G1), lent(G2), lent(dG)
    G2w, G1w, coth, unit, term, column, square = V[3], V[4], V[5], V[6], V[7], V[8], V[9:]
    n = len(w)
    for i in range(n):
        unit[i] = 1.0
        bracket(w, unit, column)
        unit[i] = 0.0
        for j in range(n):
            square[i, j] = column[j]  # transposed
    times(G1, w, G1w)
    times(G2, w, G2w)
    series_transposed(_COTH, square, G1w, term, column, coth)  # (X coth X)^T G1 w
    series_transposed(_CSCH, square, G2w, term, column, out)  # (X/sinh X)^T G2 w
    for i in range(n):
        out[i] = 0.5 * dG[i] + 2.0 * G1w[i] - coth[i] - out[i]  # leimkuhler (30)


PairKernels = record("PairKernels", **_METRIC, move=ACT, bracket=ACT)
# As in `GroupData`; rows of V: w, A, start, then what `pair_covector` needs. The second row of Y ends as (q2, -w).
PairData = record("PairData", L=MAT, V=MAT, Y=MAT, pivots=INTS)


@jit
def pair_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and v1 by leimkuhler (32), left in V[0]; returns the status.

    w = h v1 - h^2/2 G1^-1 dV1 + A(w)/2,   q2 = exp(w) q1                                  leimkuhler (32)
    """
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    L, V, here, there, pivots = data.L, data.V, data.Y[0], data.Y[1], data.pivots
    n = V.shape[1]
    m = len(y) - n
    w, A, start, new = V[0], V[1], V[2], V[3]
    copy(y, here[:m])
    copy(kernels.potential_gradient(t, y, p), start)
    solve_entries(G1, start, L, pivots)
    for i in range(n):
        start[i] = h * y[m + i] - 0.5 * h * h * start[i]
    copy(start, w)
    last = math.inf
    for _ in range(SLOW_SWEEPS):
        kernels.move(w, here[:m], there[:m])
        G2 = kernels.metric(t + h, there, p)
        copy(w, here[m:])
        dG = kernels.metric_gradient(t, here, p)
        pair_covector(kernels.bracket, G1, G2, dG, w, V, A)
        lu_solve(L, pivots, A)
        for i in range(n):
            new[i] = start[i] + 0.5 * A[i]  # leimkuhler (32)
        size, scale = replace(w, new)
        if not size < math.inf:
            break
        if settle(size, last, scale, run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def pair_second_half(kernels, data, t, h, m, G1, p):
    """q2 and v2 into Y[2].

    G2 (v2 - w / h) = G2 A(-w)/(2 h) - h/2 dV2                                             leimkuhler (33)
    """
    data, p = lent(data), lent(p)
    V, here, there, y_new = data.V, data.Y[0], data.Y[1], data.Y[2]
    n = V.shape[1]
    w, kick, minus = V[0], V[1], V[2]
    kernels.move(w, here[:m], there[:m])
    negative(w, minus)
    copy(minus, there[m:])
    G2 = kernels.metric(t + h, there, p)
    dG = kernels.metric_gradient(t + h, there, p)
    slope = kernels.potential_gradient(t + h, there, p)
    pair_covector(kernels.bracket, G2, G1, dG, minus, V, kick)
    for i in range(n):
        kick[i] = 0.5 / h * kick[i] - 0.5 * h * slope[i]  # leimkuhler (33)
    solve_entries(G2, kick, data.L, data.pivots)
    copy(there[:m], y_new[:m])
    for i in range(n):
        y_new[m + i] = w[i] / h + kick[i]


@loop(PairKernels.kind, PairData.kind, *STATE)
def march_pair(kernels, data, run, y, p, ts, ys, hs):
    """A symmetric pair, state q (flat) and v in the complement of h; the rows of V from 9 on hold ad_w^2."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    m, y_new = len(y) - data.V.shape[1], data.Y[2]
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = pair_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            pair_second_half(kernels, data, t, h, m, G1, p)
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


def _work(n: int, y0: np.ndarray) -> tuple:
    """L, V, Y and pivots for velocities of n numbers."""
    pivots = np.zeros(n, dtype=np.int64)
    return np.zeros((n, n)), np.zeros((9 + n, n)), np.zeros((3, len(y0))), pivots


def prepare(formulation: Any, y0: np.ndarray, refresh: int = 0) -> Plan:
    """Plan of the leapfrog for a metric formulation.

    `refresh` = k > 0 renews R_w in the first k sweeps only, on the sphere; leimkuhler expects that it may be held
    (below (39)). Held at k = 1 the map is neither symplectic nor exactly reversible: 0, the default, renews it always.
    """
    refresh = count("refresh", refresh, least=0)
    space = formulation.space
    metric = (formulation.metric, formulation.metric_gradient, formulation.potential_gradient)
    kernels: Any
    data: Any
    if isinstance(space, str):
        if space != "sphere":
            raise ValueError(f"space must be 'sphere', an Action or a SymmetricPair; got {space!r}")
        n = len(y0) // 2
        loop_, kernels, data = (
            march_sphere,
            SphereKernels(*metric),
            SphereData(refresh, *_work(n, y0)),
        )
    else:
        if refresh:
            raise ValueError("refresh is an option on the sphere only; leave it out")
        if isinstance(space, SymmetricPair):
            n, loop_ = space.dim, march_pair
            moves = Kernel(space.move, "move"), Kernel(space.double_bracket, "double_bracket")
            kernels, data = PairKernels(*metric, *moves), PairData(*_work(n, y0))
        elif isinstance(space, Action):
            n, loop_ = space.algebra, march_group
            kernels = GroupKernels(*metric, space.exp_act, space.dexpinv)
            data = GroupData(int(formulation.momentum), *_work(n, y0))
        else:
            raise ValueError(f"space must be 'sphere', an Action or a SymmetricPair; got {space!r}")
    # A state may be without its point, where G and V do not depend on it: then there is nothing to bring back.
    kept = space.rotations if isinstance(space, Action) and len(y0) > n else ()
    return Plan(loop_, kernels, data, formulation.params, structured=True, rotations=kept)


register(
    Method(
        "RiemannianLeapfrog",
        "Riemannian",
        2,
        "metric",
        "leimkuhler (32)-(33), figures 1 and 2",
        prepare,
        options={"refresh": 0},
    )
)
