"""The leapfrog of `riemannian` on the unit sphere in R^n, and what its three loops share."""

from __future__ import annotations

import math

from ..core.jit import FIELD, I8, INTS, MAT, jit, lent, loop, record
from ..core.linear import lu_factor, lu_solve
from ..core.march import (
    NFEV,
    NOT_CONVERGED,
    OUTSIDE,
    RESIDUAL,
    RUNNING,
    STATE,
    H,
    T,
    advance,
    norm,
    running,
)
from ..core.newton import SLOW_SWEEPS, exhausted
from ..groups.scalars import cosc, sinc, sinc3


@jit
def settle(size, last, scale, run):
    """Has the iteration stagnated at round-off? Leaves the size of the correction in run."""
    done = exhausted(size, scale, last)
    run[RESIDUAL] = 0.0 if done else size
    return done


@jit
def copy(a, out):
    """out = a, as much as fits"""
    for i in range(len(out)):
        out[i] = a[i]


@jit
def negative(a, out):
    """out = -a"""
    for i in range(len(out)):
        out[i] = -a[i]


@jit
def times(G, w, out):
    """out = G w, G (n, n) given by its entries"""
    n = len(w)
    for i in range(n):
        out[i] = 0.0
        for j in range(n):
            out[i] += G[n * i + j] * w[j]


@jit
def solve_entries(G, x, L, pivots):
    """x becomes G^-1 x, G (n, n) given by its entries."""
    G, x, L, pivots = lent(G), lent(x), lent(L), lent(pivots)
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
def sharp(G, q, alpha, L, pivots, normal, out):
    """g#(alpha) = G^-1 (alpha - (alpha G^-1 q / q G^-1 q) q), tangent at q to the unit sphere, in out; not alpha."""
    G, q, alpha, L, pivots, normal, out = (
        lent(G),
        lent(q),
        lent(alpha),
        lent(L),
        lent(pivots),
        lent(normal),
        lent(out),
    )
    top, bottom = 0.0, 0.0
    copy(q, normal)
    solve_entries(G, normal, L, pivots)
    for i in range(len(q)):
        top += alpha[i] * normal[i]
        bottom += q[i] * normal[i]
    for i in range(len(q)):
        out[i] = alpha[i] - top / bottom * q[i]
    lu_solve(L, pivots, out)


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
def sphere_covector(G1, G2, dG, q, w, Pw, r, b, a, out):
    """G A(q, w) of (30) as a covector of R^n; R_w is taken at the vector r, which is w but for an experiment.

    b and a are scratch.
    """
    G1, G2, dG = lent(G1), lent(G2), lent(dG)
    n = len(q)
    z, y = norm(w), norm(r)
    s, half = sinc(z * z), cosc(z * z)
    g1, g2 = jacobi(y)
    wGq = qa = wa = rb = ra = 0.0
    times(G1, w, b)
    times(G2, Pw, a)
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


SphereKernels = record(
    "SphereKernels", metric=FIELD, metric_gradient=FIELD, potential_gradient=FIELD
)
SphereData = record("SphereData", refresh=I8, L=MAT, V=MAT, Y=MAT, pivots=INTS)


@loop(SphereKernels.kind, SphereData.kind, *STATE)
def march_sphere(kernels, data, run, y, p, ts, ys, hs):
    """The unit sphere in R^n, state x, v; with `refresh`, R_w is held from that sweep on (an experiment)."""
    metric, metric_gradient, potential_gradient = kernels
    refresh, L, V, Y, pivots = lent(data)
    run, y, p = lent(run), lent(y), lent(p)
    here, there, y_new = Y[0], Y[1], Y[2]
    n = len(y) // 2
    q, q2, Pw = here[:n], there[:n], there[n:]
    w, r, alpha, start, step, a, b = V[0], V[1], V[2], V[3], V[4], V[5], V[6]
    while running(run):
        t, h = run[T], run[H]
        copy(y, q)
        G1 = metric(t, y, p)
        sharp(G1, q, potential_gradient(t, y, p), L, pivots, a, start)
        for i in range(n):
            start[i] = h * y[n + i] - 0.5 * h * h * start[i]
            w[i] = start[i]
        G2 = G1
        status, last = NOT_CONVERGED, math.inf
        for sweep in range(SLOW_SWEEPS):
            if not norm(w) < math.pi:  # also NaN
                status = OUTSIDE
                break
            shoot(q, w, there)
            G2 = metric(t + h, there, p)
            for i in range(n):
                here[n + i] = w[i]
                if refresh == 0 or sweep < refresh:
                    r[i] = w[i]
            sphere_covector(G1, G2, metric_gradient(t, here, p), q, w, Pw, r, b, a, alpha)
            sharp(G1, q, alpha, L, pivots, a, step)
            size = 0.0
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
            copy(Pw, start)
            G2 = metric(t + h, there, p)
            sharp(G2, q2, potential_gradient(t + h, there, p), L, pivots, a, step)
            for i in range(n):
                r[i] = -start[i]
                there[n + i] = -start[i]
                w[i] = -w[i]
                y_new[n + i] = start[i] / h - 0.5 * h * step[i]
            dG = metric_gradient(t + h, there, p)
            sphere_covector(G2, G1, dG, q2, r, w, r, b, a, alpha)
            sharp(G2, q2, alpha, L, pivots, a, step)
            size, dot = norm(q2), 0.0
            for i in range(n):
                y_new[i] = q2[i] / size  # or the length drifts by round-off and biases momenta
                y_new[n + i] += 0.5 / h * step[i]
                dot += y_new[i] * y_new[n + i]
            for i in range(n):
                y_new[n + i] -= dot * y_new[i]
        advance(run, status, 0.0, y, y_new, ts, ys, hs)
