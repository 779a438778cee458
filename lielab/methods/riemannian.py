"""The leapfrog on Riemannian manifolds (leimkuhler): symplectic, time-reversible, of order 2.

The generating function is S = (G(q1)(w, w) + G(q2)(w', w'))/(4h) - h (V(q1) + V(q2))/2 with q2 = exp_q1 w and
w' = -P w, P the parallel transport along that geodesic. Given q1, v1 the implicit half p1 = -d1 S is iterated for w as
in (32), the explicit half p2 = d2 S is (33). Three kinds of spaces whose geodesics are known:

- the unit sphere in R^n, in ambient coordinates (5.1, its slips corrected);
- a group with a bi-invariant metric, left-trivialised (5.2). There (30) becomes
  p1 = dexpinv_w^T (G1 + G2) w / (2h) - dG1(w, w)/(4h) + h dV1/2,
  since the corrected (45), ad_w + 2 (1 - f1/f2)(-ad_w^2/4), is 2 (1 - dexpinv_w);
- G/H for a symmetric pair, where R_w = -ad_w^2 and parallel transport is left translation.

The iteration stops when its correction stagnates, at round-off. On the sphere q is divided by its length in each step,
on SO(3) and SE(3) the rotation is brought back onto SO(3): R mu moves by 2e-12 in a million equal steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._jit import ACT, FIELD, I8, INTS, MAT, VEC, Kernel, jit, loop
from ..actions import Action
from ..groups._scalars import bernoulli, cosc, sinc, sinc3
from ..systems._system import SymmetricPair, count
from ._linear import lu_factor, lu_solve
from ._march import NFEV, NOT_CONVERGED, OUTSIDE, RESIDUAL, RUNNING, H, T, advance, norm, running
from ._registry import Method, Plan, register

_SWEEPS = (
    200  # of the iteration for w: about 10 at h = 0.1 and 31 at 1.6 on the ellipsoid of leimkuhler
)
_ROUND = 2.2e-16
_STAGNATION = 1e-10  # a larger correction that no longer shrinks is failure
_TERMS = 40
_B = bernoulli(2 * _TERMS + 2)
# X coth X and X/sinh X as power series in X^2 (radius pi in X).
_COTH = tuple(float(4**k * _B[2 * k]) / math.factorial(2 * k) for k in range(_TERMS))
_CSCH = tuple(float((2 - 4**k) * _B[2 * k]) / math.factorial(2 * k) for k in range(_TERMS))


@jit
def settle(size, last, scale, run):
    """Has the iteration stagnated at round-off? Leaves the size of the correction in run."""
    run[RESIDUAL] = size
    if size <= _ROUND * scale or (size >= last and size <= _STAGNATION * scale):
        run[RESIDUAL] = 0.0
        return True
    return False


@jit
def solve_entries(G, x, L, pivots):
    """x becomes G^-1 x, G (n, n) given by its entries."""
    n = len(x)
    for i in range(n):
        for j in range(n):
            L[i, j] = G[n * i + j]
    if not lu_factor(L, pivots):
        for i in range(n):
            x[i] = math.nan
        return
    lu_solve(L, pivots, x)


@jit
def sharp(G, q, alpha, L, pivots):
    """g#(alpha) = G^-1 (alpha - (alpha G^-1 q / q G^-1 q) q), the tangent vector at q of the unit sphere."""
    normal, top, bottom = q.copy(), 0.0, 0.0
    solve_entries(G, normal, L, pivots)
    for i in range(len(q)):
        top += alpha[i] * normal[i]
        bottom += q[i] * normal[i]
    out = alpha.copy()
    for i in range(len(q)):
        out[i] -= top / bottom * q[i]
    lu_solve(L, pivots, out)
    return out


@jit
def jacobi(z):
    """g1 = (z/sin z - 1)/z^2 and g2 = (z cos z/sin z - 1)/z^2: 1/f2 and f1/f2 are 1 + g R_w on the unit sphere."""
    sine, c = sinc(z * z), math.cos(0.5 * z)
    g1 = sinc3(z * z) / sine
    return g1, g1 - 0.5 * sine / (c * c)  # 2 c^2 = 1 + cos z, which cancels near pi


@jit
def shoot(q, w, state):
    """state becomes exp_q w and P w, one after the other."""
    n, z = len(q), norm(w)
    c, s = math.cos(z), sinc(z * z)
    for i in range(n):
        state[i] = c * q[i] + s * w[i]
        state[n + i] = c * w[i] - s * z * z * q[i]


@jit
def sphere_covector(G1, G2, dG, q, w, Pw, r, out):
    """G A(q, w) of (30) as a covector of R^n; R_w is taken at the vector r, which is w but for an experiment."""
    n = len(q)
    z, y = norm(w), norm(r)
    s, half = sinc(z * z), cosc(z * z)
    g1, g2 = jacobi(y)
    b, a = np.zeros(n), np.zeros(n)
    wGq = qa = wa = rb = ra = 0.0
    for i in range(n):
        for j in range(n):
            b[i] += G1[n * i + j] * w[j]
            a[i] += G2[n * i + j] * Pw[j]
    for i in range(n):
        wGq += b[i] * q[i]
        qa += q[i] * a[i]
        wa += w[i] * a[i]
    for i in range(n):  # back along the geodesic: P^T, the rotation in the plane of q and w
        a[i] += (s * wa - half * z * z * qa) * q[i] - (half * wa + s * qa) * w[i]
    for i in range(n):
        rb += r[i] * b[i]
        ra += r[i] * a[i]
    for i in range(n):
        Rb, Ra = y * y * b[i] - rb * r[i], y * y * a[i] - ra * r[i]
        out[i] = 0.5 * dG[i] - wGq * w[i] + (b[i] - g2 * Rb) - (a[i] + g1 * Ra)


@loop(FIELD, FIELD, FIELD, I8, MAT, INTS, VEC, VEC, VEC, VEC, MAT, VEC)
def march_sphere(
    metric, metric_gradient, potential_gradient, refresh, L, pivots, run, y, p, ts, ys, hs
):
    """The unit sphere in R^n, state x, v; with `refresh`, R_w is held from that sweep on (an experiment)."""
    n = len(y) // 2
    y_new, here, there = y.copy(), y.copy(), y.copy()
    w, r, alpha = np.zeros(n), np.zeros(n), np.zeros(n)
    while running(run):
        t, h = run[T], run[H]
        q = y[:n].copy()
        G1 = metric(t, y, p)
        start = sharp(G1, q, potential_gradient(t, y, p), L, pivots)
        for i in range(n):
            start[i] = h * y[n + i] - 0.5 * h * h * start[i]
            w[i] = start[i]
            here[i] = q[i]
        G2 = G1
        status, last = NOT_CONVERGED, math.inf
        for sweep in range(_SWEEPS):
            if not norm(w) < math.pi:  # also NaN
                status = OUTSIDE
                break
            shoot(q, w, there)
            G2 = metric(t + h, there, p)
            for i in range(n):
                here[n + i] = w[i]
                if refresh == 0 or sweep < refresh:
                    r[i] = w[i]
            dG = metric_gradient(t, here, p)
            sphere_covector(G1, G2, dG, q, w, there[n:].copy(), r, alpha)
            step, size = sharp(G1, q, alpha, L, pivots), 0.0
            for i in range(n):
                value = start[i] + 0.5 * step[i]
                size = max(size, abs(value - w[i]))
                w[i] = value
            if settle(size, last, norm(w), run):
                status = RUNNING
                break
            last = size
        run[NFEV] += 2
        if status == RUNNING:
            shoot(q, w, there)
            q2, Pw = there[:n].copy(), there[n:].copy()
            G2 = metric(t + h, there, p)
            slope = sharp(G2, q2, potential_gradient(t + h, there, p), L, pivots)
            for i in range(n):
                r[i] = -Pw[i]
                there[n + i] = -Pw[i]
            dG = metric_gradient(t + h, there, p)
            sphere_covector(G2, G1, dG, q2, r, -w, r, alpha)
            step = sharp(G2, q2, alpha, L, pivots)
            size, dot = norm(q2), 0.0
            for i in range(n):
                y_new[i] = q2[i] / size  # or the length drifts by round-off and biases momenta
                y_new[n + i] = Pw[i] / h - 0.5 * h * slope[i] + 0.5 / h * step[i]
                dot += y_new[i] * y_new[n + i]
            for i in range(n):
                y_new[n + i] -= dot * y_new[i]
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


@jit
def pull_back(dexpinv, w, m, unit, out):
    """dexpinv_w^T m"""
    n = len(w)
    column = np.empty(n)
    for i in range(n):
        unit[i] = 1.0
        dexpinv(w, unit, column)
        unit[i] = 0.0
        out[i] = 0.0
        for j in range(n):
            out[i] += column[j] * m[j]


@jit
def average(G1, G2, w, out):
    """(G1 + G2) w / 2"""
    n = len(w)
    for i in range(n):
        out[i] = 0.0
        for j in range(n):
            out[i] += 0.5 * (G1[n * i + j] + G2[n * i + j]) * w[j]


@loop(FIELD, FIELD, FIELD, ACT, ACT, I8, VEC, MAT, INTS, VEC, VEC, VEC, VEC, MAT, VEC)
def march_group(
    metric,
    metric_gradient,
    potential_gradient,
    act,
    dexpinv,
    momentum,
    w,
    L,
    pivots,
    run,
    y,
    p,
    ts,
    ys,
    hs,
):
    """A group, state q and v or G v; act(u, q) = q exp(-u). Without q this is the Lie-Poisson algorithm of figure 2."""
    n = len(w)
    m = len(y) - n
    y_new, here, there = y.copy(), y.copy(), y.copy()
    mean, back, unit = np.zeros(n), np.zeros(n), np.zeros(n)
    while running(run):
        t, h = run[T], run[H]
        q = y[:m].copy()
        G1 = metric(t, y, p)
        slope = potential_gradient(t, y, p)
        start, status, last = np.zeros(n), NOT_CONVERGED, math.inf
        for i in range(n):
            if momentum:
                start[i] = y[m + i]
            else:
                for j in range(n):
                    start[i] += G1[n * i + j] * y[m + j]
            start[i] = h * start[i] - 0.5 * h * h * slope[i]
            w[i] = start[i]
        for i in range(m):
            here[i] = q[i]
        solve_entries(G1, w, L, pivots)
        G2 = G1
        for _ in range(_SWEEPS):
            if m > 0:
                act(-w, q, there[:m])
                G2 = metric(t + h, there, p)
            here[m:] = w
            dG = metric_gradient(t, here, p)
            average(G1, G2, w, mean)
            pull_back(dexpinv, w, mean, unit, back)
            step, size, scale = np.empty(n), 0.0, 0.0
            for i in range(n):
                step[i] = start[i] - back[i] + 0.25 * dG[i]
            lu_solve(L, pivots, step)  # the factors of G1
            finite = True
            for i in range(n):
                w[i] += step[i]
                finite = finite and math.isfinite(w[i])
                size, scale = max(size, abs(step[i])), max(scale, abs(w[i]))
            if not finite:
                break
            if settle(size, last, scale, run):
                status = RUNNING
                break
            last = size
        run[NFEV] += 2
        if status == RUNNING:
            if m > 0:
                act(-w, q, there[:m])
                G2 = metric(t + h, there, p)
            there[m:] = w
            dG, slope = metric_gradient(t + h, there, p), potential_gradient(t + h, there, p)
            average(G1, G2, w, mean)
            pull_back(dexpinv, -w, mean, unit, back)
            for i in range(n):
                back[i] = (back[i] + 0.25 * dG[i]) / h - 0.5 * h * slope[i]
            if not momentum:
                solve_entries(G2, back, L, pivots)
            y_new[:m] = there[:m]
            y_new[m:] = back
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


@jit
def series_transposed(coefficients, bracket, w, m, unit, out):
    """f(ad_w^2)^T m for a power series f; bracket(w, v) = [w, [w, v]]."""
    n = len(w)
    square, column = np.empty((n, n)), np.empty(n)
    for i in range(n):
        unit[i] = 1.0
        bracket(w, unit, column)
        unit[i] = 0.0
        for j in range(n):
            square[i, j] = column[j]  # transposed
    term = m.copy()
    for i in range(n):
        out[i] = 0.0
    for k in range(len(coefficients)):
        size = 0.0
        for i in range(n):
            out[i] += coefficients[k] * term[i]
            size = max(size, abs(coefficients[k] * term[i]))
        if size <= 1e-18 * norm(m):
            break
        term = np.dot(square, term)


@jit
def pair_covector(G1, G2, dG, w, bracket, unit, out):
    """G A(w) = dG1(w, w)/2 + (2 - X coth X)^T G1 w - (X/sinh X)^T G2 w, X = ad_w: (30) for a symmetric pair."""
    n = len(w)
    b, a, c = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            b[i] += G1[n * i + j] * w[j]
            a[i] += G2[n * i + j] * w[j]
    series_transposed(_COTH, bracket, w, b, unit, c)
    series_transposed(_CSCH, bracket, w, a, unit, out)
    for i in range(n):
        out[i] = 0.5 * dG[i] + 2.0 * b[i] - c[i] - out[i]


@loop(FIELD, FIELD, FIELD, ACT, ACT, VEC, MAT, INTS, VEC, VEC, VEC, VEC, MAT, VEC)
def march_pair(
    metric, metric_gradient, potential_gradient, move, bracket, w, L, pivots, run, y, p, ts, ys, hs
):
    """A symmetric pair, state q (flat) and v in the complement of h."""
    n = len(w)
    m = len(y) - n
    y_new, here, there = y.copy(), y.copy(), y.copy()
    alpha, unit = np.zeros(n), np.zeros(n)
    while running(run):
        t, h = run[T], run[H]
        q = y[:m].copy()
        here[:m] = q
        G1 = metric(t, y, p)
        start = potential_gradient(t, y, p).copy()
        solve_entries(G1, start, L, pivots)
        for i in range(n):
            start[i] = h * y[m + i] - 0.5 * h * h * start[i]
            w[i] = start[i]
        G2, status, last = G1, NOT_CONVERGED, math.inf
        for _ in range(_SWEEPS):
            move(w, q, there[:m])
            G2 = metric(t + h, there, p)
            here[m:] = w
            pair_covector(G1, G2, metric_gradient(t, here, p), w, bracket, unit, alpha)
            lu_solve(L, pivots, alpha)
            size, scale, finite = 0.0, 0.0, True
            for i in range(n):
                value = start[i] + 0.5 * alpha[i]
                size = max(size, abs(value - w[i]))
                w[i] = value
                finite = finite and math.isfinite(value)
                scale = max(scale, abs(value))
            if not finite:
                break
            if settle(size, last, scale, run):
                status = RUNNING
                break
            last = size
        run[NFEV] += 2
        if status == RUNNING:
            move(w, q, there[:m])
            there[m:] = -w
            G2 = metric(t + h, there, p)
            dG = metric_gradient(t + h, there, p)
            slope = potential_gradient(t + h, there, p)
            pair_covector(G2, G1, dG, -w, bracket, unit, alpha)
            for i in range(n):
                alpha[i] = 0.5 / h * alpha[i] - 0.5 * h * slope[i]
            solve_entries(G2, alpha, L, pivots)
            y_new[:m] = there[:m]
            for i in range(n):
                y_new[m + i] = w[i] / h + alpha[i]
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


def prepare(formulation: Any, y0: np.ndarray, refresh: int = 0) -> Plan:
    """Plan of the leapfrog for a metric formulation.

    `refresh` = k > 0 renews R_w in the first k sweeps only, on the sphere; leimkuhler expects that it may be held
    (below (39)). Held at k = 1 the map is neither symplectic nor exactly reversible: 0, the default, renews it always.
    """
    refresh = count("refresh", refresh, least=0)
    space = formulation.space
    kernels = (formulation.metric, formulation.metric_gradient, formulation.potential_gradient)
    if isinstance(space, str):
        if space != "sphere":
            raise ValueError(f"space must be 'sphere', an Action or a SymmetricPair; got {space!r}")
        n = len(y0) // 2
        loop_, data = march_sphere, (refresh, np.zeros((n, n)), np.zeros(n, dtype=np.int64))
    else:
        if refresh:
            raise ValueError("refresh is an option on the sphere only; leave it out")
        if isinstance(space, SymmetricPair):
            n, loop_, data = space.dim, march_pair, ()
            kernels += (Kernel(space.move), Kernel(space.double_bracket))
        elif isinstance(space, Action):
            n, loop_, data = space.algebra, march_group, (int(formulation.momentum),)
            kernels += (space.exp_act, space.dexpinv)
        else:
            raise ValueError(f"space must be 'sphere', an Action or a SymmetricPair; got {space!r}")
        data += (np.zeros(n), np.zeros((n, n)), np.zeros(n, dtype=np.int64))
    kept = space.rotations if isinstance(space, Action) else ()
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
