"""The leapfrog on Riemannian manifolds (leimkuhler): symplectic, time-reversible, of order 2.

The generating function is S = (G(q1)(w, w) + G(q2)(w', w'))/(4h) - h (V(q1) + V(q2))/2 with q2 = exp_q1 w and
w' = -P w, P the parallel transport along that geodesic. Given q1, v1 the implicit half p1 = -d1 S is iterated for w as
in (32), the explicit half p2 = d2 S is (33). Three kinds of spaces whose geodesics are known:

- the unit sphere in R^n, in ambient coordinates (5.1, its slips corrected);
- a group with a bi-invariant metric, left-trivialised (5.2, its slips corrected), where R_w = -ad_w^2/4 and P is
  Ad_exp(-w/2): with them (30) comes down to dexpinv_w, see `group_covector`;
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
from ..core.jit import ACT, FIELD, I8, INTS, MAT, VEC, inner, jit, lent, loop, record
from ..core.kernels import Kernel
from ..core.linear import lu_solve
from ..core.march import NFEV, NOT_CONVERGED, RUNNING, STATE, H, T, advance, norm, running
from ..core.newton import SLOW_SWEEPS, replace
from ..formulations.forms import SymmetricPair
from ..groups.scalars import bernoulli
from ._registry import Method, Plan, register
from ._riemannian_sphere import (
    SPHERE_POINTS,
    SPHERE_VECTORS,
    SphereData,
    SphereKernels,
    copy,
    march_sphere,
    negative,
    pairing,
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
GROUP_VECTORS = ("p1", "e", "column", "Gw", "both", "pulled", "GA", "w_new")
GROUP_POINTS = ("q1_w", "q2_back", "y_new")  # with a vector: (q1, w), (q2, -w) and the new (q2, p2)
_NAMES = dict.fromkeys(GROUP_VECTORS + GROUP_POINTS, VEC)
GroupData = record("GroupData", momentum=I8, **_NAMES, L=MAT, pivots=INTS)


@inner
def group_end(kernels, data, t, m, G1, p):
    """G2 at q2 = exp_q1 w = q1 exp(w), which is left in q2_back with the way back -w."""
    q1, w, q2, back = data.q1_w[:m], data.q1_w[m:], data.q2_back[:m], data.q2_back[m:]
    negative(w, back)
    if m == 0:
        return G1
    kernels.act(back, q1, q2)  # act(u, q) = q exp(-u)
    return kernels.metric(t, data.q2_back, p)


@inner
def dexpinv_dual(dexpinv, data, u, m, out):
    """dexpinv_u^T m"""
    e, column = data.e, data.column  # e is 0 but for a moment
    for i in range(len(m)):
        e[i] = 1.0
        dexpinv(u, e, column)  # dexpinv_u e_i
        e[i] = 0.0
        out[i] = pairing(column, m)


@inner
def group_covector(dexpinv, data, G1, G2, dG, w):
    """G A(q, w) by leimkuhler (30) on a group, a covector of the algebra, from the metrics here and at q exp(w):

        G A = dG/2 + 2 G1 w - D^T (G1 + G2) w,   D = dexpinv_w                                 leimkuhler (30)

    With X = ad_w/2, so R_w = -X^2, f1 = cosh X, f2 = sinh X / X and D = 2 X/(exp(2 X) - 1), what stands in (30) is

        nabla G w^2 = dG + ad_w^T G1 w                       leimkuhler (44), its last ad_v v read as ad_w v
        nabla Delta = -f1/f2 = -X coth X = -(D + X)          leimkuhler (38)
        dDelta = P/f2 = exp(-X) X/sinh X = D,   P w = w      leimkuhler (37), P = Ad_exp(-w/2) = exp(-X)

    and ad_w/2 and X cancel. For a constant G this is 2 (1 - D)^T G w = (ad_w + 2 (1 - f1/f2)(R_w))^T G w: leimkuhler
    (45), where ad_w - (2 - f1/f2 - 1/f2)(R_w) is printed.
    """
    Gw, both, pulled, GA = data.Gw, data.both, data.pulled, data.GA
    n = len(w)
    for i in range(n):  # G1 w and (G1 + G2) w
        a, b = 0.0, 0.0
        for j in range(n):
            a += G1[n * i + j] * w[j]
            b += G2[n * i + j] * w[j]
        Gw[i], both[i] = a, a + b
    dexpinv_dual(dexpinv, data, w, both, pulled)  # D^T (G1 + G2) w
    for i in range(len(w)):
        GA[i] = 0.5 * dG[i] + 2.0 * Gw[i] - pulled[i]  # leimkuhler (30), (45) corrected


@inner
def group_w(kernels, data, t, h, m, dV, G1, p):
    """One sweep of leimkuhler (32), times G1, from w to w_new; where V = 0 and G is constant it is leimkuhler (46)."""
    p1, GA, w_new = data.p1, data.GA, data.w_new
    G2 = group_end(kernels, data, t + h, m, G1, p)
    dG = kernels.metric_gradient(t, data.q1_w, p)  # dG1(w, w)
    group_covector(kernels.dexpinv, data, G1, G2, dG, data.q1_w[m:])  # G1 A(q1, w)
    for i in range(len(w_new)):
        w_new[i] = h * p1[i] - 0.5 * h * h * dV[i] + 0.5 * GA[i]  # G1 w: leimkuhler (32)
    lu_solve(data.L, data.pivots, w_new)


@jit
def group_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and p1 by leimkuhler (32), left in q1_w; returns the status."""
    data, run, y, G1, p = lent(data), lent(run), lent(y), lent(G1), lent(p)
    p1, m = data.p1, len(y) - len(data.p1)
    w = data.q1_w[m:]
    copy(y, data.q1_w[:m])
    dV = kernels.potential_gradient(t, y, p)
    copy(y[m:], p1)
    if not data.momentum:
        times(G1, y[m:], p1)  # p1 = G1 v1
    for i in range(len(w)):
        w[i] = h * p1[i] - 0.5 * h * h * dV[i]  # G1 w, where it begins: A = 0
    solve_entries(G1, w, data.L, data.pivots)
    last = math.inf
    for _ in range(SLOW_SWEEPS):
        group_w(kernels, data, t, h, m, dV, G1, p)
        size, scale = replace(w, data.w_new)
        if not size < math.inf:
            break
        if settle(size, last, scale, run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def group_second_half(kernels, data, t, h, m, G1, p):
    """q2 and p2, or v2, into y_new by leimkuhler (33), times G2; P w = w.

    Where V = 0 and G is constant this is h p2 = h p1 + ad_w^T G w, leimkuhler (47): dexpinv_{-w} = dexpinv_w + ad_w.
    """
    data, p = lent(data), lent(p)
    Gw, GA, w, back, p2 = data.Gw, data.GA, data.q1_w[m:], data.q2_back[m:], data.y_new[m:]
    G2 = group_end(kernels, data, t + h, m, G1, p)
    dG = kernels.metric_gradient(t + h, data.q2_back, p)
    dV = kernels.potential_gradient(t + h, data.q2_back, p)
    group_covector(kernels.dexpinv, data, G2, G1, dG, back)  # G2 A(q2, -w)
    times(G2, w, Gw)
    for i in range(len(p2)):
        # One division: with one for each term |mu| drifts three times as fast.
        p2[i] = (Gw[i] + 0.5 * GA[i]) / h - 0.5 * h * dV[i]  # leimkuhler (33)
    if not data.momentum:
        solve_entries(G2, p2, data.L, data.pivots)
    copy(data.q2_back[:m], data.y_new[:m])


@loop(GroupKernels.kind, GroupData.kind, *STATE)
def march_group(kernels, data, run, y, p, ts, ys, hs):
    """A group, state q and v or G v; act(u, q) = q exp(-u). Without q this is the Lie-Poisson algorithm of figure 2."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    m, y_new = len(y) - len(data.L), data.y_new
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
def pair_covector(bracket, G1, G2, dG, w, V, GA):
    """G A(w) = dG1(w, w)/2 + (2 - X coth X)^T G1 w - (X/sinh X)^T G2 w, X = ad_w: leimkuhler (30) for a symmetric pair.

    What goes into (30) is corrected: R_w = -ad_w^2 needs a symmetric pair, the transport is the identity (not
    Ad_exp(-w/2)), so that nabla G has no ad term. (30) itself is right, with G for its h: see `_riemannian_sphere`.
    bracket(w, v) = [w, [w, v]]; of the rows of V e is 0, the others from the fourth on are scratch.
    """
    G1, G2, dG, V, GA = lent(G1), lent(G2), lent(dG), lent(V), lent(GA)
    G1w, G2w, coth_G1w, csch_G2w, e, column, term = V[3], V[4], V[5], V[6], V[7], V[8], V[9]
    square, n = V[10:], len(w)
    for i in range(n):
        e[i] = 1.0
        bracket(w, e, column)
        e[i] = 0.0
        for j in range(n):
            square[i, j] = column[j]  # transposed
    times(G1, w, G1w)
    times(G2, w, G2w)
    series_transposed(_COTH, square, G1w, term, column, coth_G1w)  # (X coth X)^T G1 w
    series_transposed(_CSCH, square, G2w, term, column, csch_G2w)  # (X/sinh X)^T G2 w
    for i in range(n):
        GA[i] = 0.5 * dG[i] + 2.0 * G1w[i] - coth_G1w[i] - csch_G2w[i]  # leimkuhler (30)


PairKernels = record("PairKernels", **_METRIC, move=ACT, bracket=ACT)
# Rows of Y: points (q1, w), (q2, -w) and the new (q2, v2); those of V get their names where they are used, from the
# fourth on in `pair_covector`. L has the factors of G1.
PairData = record("PairData", L=MAT, V=MAT, Y=MAT, pivots=INTS)


@jit
def pair_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and v1 by leimkuhler (32), left in Y[0]; returns the status.

    w = h v1 - h^2/2 grad V(q1) + A(w)/2,   grad V = G1^-1 dV1,   q2 = exp(w) q1           leimkuhler (32)
    """
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    L, V, pivots, n = data.L, data.V, data.pivots, data.V.shape[1]
    grad, A, w_new, q1_w, q2_back, m = V[0], V[1], V[2], data.Y[0], data.Y[1], len(y) - n
    v1, q1, w, q2 = y[m:], q1_w[:m], q1_w[m:], q2_back[:m]
    copy(y, q1)
    copy(kernels.potential_gradient(t, y, p), grad)
    solve_entries(G1, grad, L, pivots)
    for i in range(n):
        w[i] = h * v1[i] - 0.5 * h * h * grad[i]  # where it begins: A = 0
    last = math.inf
    for _ in range(SLOW_SWEEPS):
        kernels.move(w, q1, q2)
        G2 = kernels.metric(t + h, q2_back, p)
        dG = kernels.metric_gradient(t, q1_w, p)
        pair_covector(kernels.bracket, G1, G2, dG, w, V, A)
        lu_solve(L, pivots, A)
        for i in range(n):
            w_new[i] = h * v1[i] - 0.5 * h * h * grad[i] + 0.5 * A[i]  # leimkuhler (32)
        size, scale = replace(w, w_new)
        if not size < math.inf:
            break
        if settle(size, last, scale, run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def pair_second_half(kernels, data, t, h, m, G1, p):
    """q2 and v2 into Y[2].

    v2 = w/h + G2^-1 (G2 A(-w)/(2 h) - h/2 dV2),   P w = w                                 leimkuhler (33)
    """
    data, p = lent(data), lent(p)
    V, q1_w, q2_back, y_new, n = data.V, data.Y[0], data.Y[1], data.Y[2], data.V.shape[1]
    kick, GA, v2 = V[0], V[1], y_new[m:]
    q1, w, q2, minus_w = q1_w[:m], q1_w[m:], q2_back[:m], q2_back[m:]
    kernels.move(w, q1, q2)
    negative(w, minus_w)
    G2 = kernels.metric(t + h, q2_back, p)
    dG = kernels.metric_gradient(t + h, q2_back, p)
    dV = kernels.potential_gradient(t + h, q2_back, p)
    pair_covector(kernels.bracket, G2, G1, dG, minus_w, V, GA)
    for i in range(n):
        kick[i] = 0.5 / h * GA[i] - 0.5 * h * dV[i]  # G2 (v2 - w/h): leimkuhler (33)
    solve_entries(G2, kick, data.L, data.pivots)
    copy(q2, y_new[:m])
    for i in range(n):
        v2[i] = w[i] / h + kick[i]


@loop(PairKernels.kind, PairData.kind, *STATE)
def march_pair(kernels, data, run, y, p, ts, ys, hs):
    """A symmetric pair, state q (flat) and v in the complement of h; the rows of V from 10 on hold ad_w^2."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    m, y_new = len(y) - len(data.L), data.Y[2]
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = pair_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            pair_second_half(kernels, data, t, h, m, G1, p)
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


def _work(n: int, y0: np.ndarray, vectors: tuple, points: tuple) -> dict:
    """Arrays by their names: L and pivots, vectors of n numbers and points with one."""
    arrays = {name: np.zeros(n) for name in vectors} | {name: np.zeros(len(y0)) for name in points}
    return arrays | {"L": np.zeros((n, n)), "pivots": np.zeros(n, dtype=np.int64)}


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
        loop_, kernels = march_sphere, SphereKernels(*metric)
        matrices = {"nabla_Delta": np.zeros(n * n), "one_f2": np.zeros(n * n)}
        work = _work(n, y0, SPHERE_VECTORS, SPHERE_POINTS)
        data = SphereData(refresh=refresh, **matrices, **work)
    else:
        if refresh:
            raise ValueError("refresh is an option on the sphere only; leave it out")
        if isinstance(space, SymmetricPair):
            n, loop_ = space.dim, march_pair
            moves = Kernel(space.move, "move"), Kernel(space.double_bracket, "double_bracket")
            pivots, points = np.zeros(n, dtype=np.int64), np.zeros((3, len(y0)))
            kernels = PairKernels(*metric, *moves)
            data = PairData(np.zeros((n, n)), np.zeros((10 + n, n)), points, pivots)
        elif isinstance(space, Action):
            n, loop_ = space.algebra, march_group
            kernels = GroupKernels(*metric, space.exp_act, space.dexpinv)
            work = _work(n, y0, GROUP_VECTORS, GROUP_POINTS)
            data = GroupData(momentum=int(formulation.momentum), **work)
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
