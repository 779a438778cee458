"""The leapfrog of `riemannian` on the unit sphere in R^n, and what its three loops share.

Equation numbers are leimkuhler's; his a and mu are 1 here. P, the parallel transport along w, is the rotation by |w| in
the plane of q and w, and f1/f2, 1/f2 of (36)-(39) are 1 + g R_w since R_w^2 = |w|^2 R_w, (43).

(30) is taken as it is printed, with G for his h = G - g~, here and on the other spaces, since what g~ would add is 0.
Its derivative nabla g~ is 0, and P, an isometry of g~, drops out of its last term, so that g~(w, F(R_w) v) is left with
F = 2 - f1/f2 - 1/f2. R_w is symmetric for g~ and R_w w = 0: that is F(0) g~(w, v), and F(0) = 0.
"""

from __future__ import annotations

import math

from ..core.jit import FIELD, I8, INTS, MAT, VEC, inner, jit, lent, loop, record
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
from ..core.newton import SLOW_SWEEPS, exhausted, replace
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
def pairing(a, b):
    """a . b"""
    a, b = lent(a), lent(b)
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


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


@inner
def factor(data, G, q):
    """The factors of G and G^-1 q, for `sharp`."""
    copy(q, data.normal)
    solve_entries(G, data.normal, data.L, data.pivots)


@inner
def sharp(data, q, alpha, out):
    """g#(alpha) = G^-1 (alpha - (alpha G^-1 q / q G^-1 q) q): leimkuhler 5.1, printed without the first G^-1."""
    along = pairing(alpha, data.normal) / pairing(q, data.normal)
    for i in range(len(q)):
        out[i] = alpha[i] - along * q[i]
    lu_solve(data.L, data.pivots, out)


@jit
def jacobi(z):
    """g1 = (z/sin z - 1)/z^2 and g2 = (z cos z/sin z - 1)/z^2 of leimkuhler 5.1."""
    sine, c = sinc(z * z), math.cos(0.5 * z)
    g1 = sinc3(z * z) / sine
    return g1, g1 - 0.5 * sine / (c * c)  # 2 c^2 = 1 + cos z, which cancels near pi


@inner
def curvature(w, nabla_Delta, one_f2):
    """nabla Delta = -(f1/f2)(R_w) = -(1 + g2 R_w) and (1/f2)(R_w) = 1 + g1 R_w: entries of symmetric matrices."""
    z, n = norm(w), len(w)
    g1, g2 = jacobi(z)
    for i in range(n):
        for j in range(n):
            one = 1.0 if i == j else 0.0
            R_w = z * z * one - w[i] * w[j]  # leimkuhler (42)
            nabla_Delta[n * i + j] = -(one + g2 * R_w)  # leimkuhler (38)
            one_f2[n * i + j] = one + g1 * R_w


@jit
def shoot(q, w, q2, Pw):
    """q2 = P q and P w, P = exp(K) with K = w q^T - q w^T, which is (q x w)^ in R^3: it turns q and w by z = |w|."""
    z = norm(w)
    c, s = math.cos(z), sinc(z * z)
    for i in range(len(q)):
        q2[i] = c * q[i] + s * w[i]  # exp_q w: leimkuhler (40)
        Pw[i] = c * w[i] - s * z * z * q[i]  # P w: leimkuhler (41)


@jit
def transport_back(q, w, a):
    """a becomes P^T a, P^T = exp(-K) = 1 - s K + c K^2, s = sin z / z, c = (1 - cos z)/z^2, z = |w|."""
    q, w, a = lent(q), lent(w), lent(a)
    z = norm(w)
    s, c = sinc(z * z), cosc(z * z)
    qa, wa = pairing(q, a), pairing(w, a)
    for i in range(len(a)):
        Ka = qa * w[i] - wa * q[i]
        KKa = -z * z * qa * q[i] - wa * w[i]
        a[i] += c * KKa - s * Ka  # P^T a: leimkuhler (41)


SphereKernels = record(
    "SphereKernels", metric=FIELD, metric_gradient=FIELD, potential_gradient=FIELD
)
SPHERE_VECTORS = ("normal", "grad_V", "Gw", "PGPw", "G_nabla_Delta", "G_dDelta", "GA", "A", "w_new")
# A point and a vector: (q1, w), (q2, P w), (q2, -P w) and the new (q2, v2).
SPHERE_POINTS = ("q1_w", "q2_Pw", "q2_back", "y_new")
SphereData = record(
    "SphereData",
    refresh=I8,
    nabla_Delta=VEC,
    one_f2=VEC,
    **dict.fromkeys(SPHERE_VECTORS + SPHERE_POINTS, VEC),
    L=MAT,
    pivots=INTS,
)


@inner
def sphere_covector(data, G1, G2, dG, q, w, Pw):
    """G A(q, w) by leimkuhler (30), a covector of R^n, with what `curvature` left and G for h (see above).

    G A = nabla G w^2/2 + G1(w, nabla Delta + 2) - G2(P w, dDelta)                         leimkuhler (30)
    nabla G w^2 = d(w . G w) + 2 G1(Gamma(q, .) w, w),   Gamma(q, v) w = -(w . v) q        leimkuhler 5.1
    nabla Delta = -(f1/f2)(R_w),   dDelta = P (1/f2)(R_w)                                  leimkuhler (38), (37)
    """
    Gw, PGPw, GA = data.Gw, data.PGPw, data.GA
    G_nabla_Delta, G_dDelta = data.G_nabla_Delta, data.G_dDelta
    times(G1, w, Gw)
    times(G2, Pw, PGPw)
    transport_back(q, w, PGPw)  # P^T G2 P w
    times(data.nabla_Delta, Gw, G_nabla_Delta)  # G1(w, nabla Delta)
    times(data.one_f2, PGPw, G_dDelta)  # G2(P w, dDelta): leimkuhler (37)
    wGq = pairing(Gw, q)
    for i in range(len(q)):
        # nabla G w^2: leimkuhler 5.1, printed without the 2
        nabla_G = dG[i] - 2.0 * wGq * w[i]
        # G A: leimkuhler (30)
        GA[i] = 0.5 * nabla_G + (G_nabla_Delta[i] + 2.0 * Gw[i]) - G_dDelta[i]


@jit
def onto_sphere(q, v):
    """q to length 1 and v tangent: by round-off the length would drift, and bias momenta."""
    size = norm(q)
    for i in range(len(q)):
        q[i] /= size
    along = pairing(q, v)
    for i in range(len(q)):
        v[i] -= along * q[i]


@inner
def sphere_w(kernels, data, t, h, v1, G1, p):
    """One sweep of leimkuhler (32), from w to w_new."""
    grad_V, A, w_new, n = data.grad_V, data.A, data.w_new, len(v1)
    q1, w, q2, Pw = data.q1_w[:n], data.q1_w[n:], data.q2_Pw[:n], data.q2_Pw[n:]
    shoot(q1, w, q2, Pw)
    G2 = kernels.metric(t + h, data.q2_Pw, p)
    dG = kernels.metric_gradient(t, data.q1_w, p)  # d(w . G w) at q1
    sphere_covector(data, G1, G2, dG, q1, w, Pw)
    sharp(data, q1, data.GA, A)  # A(q1, w) = g#(G A)
    for i in range(n):
        w_new[i] = h * v1[i] - 0.5 * h * h * grad_V[i] + 0.5 * A[i]  # leimkuhler (32)


@jit
def sphere_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and v1 by leimkuhler (32), left in q1_w; returns the status."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    grad_V, n = data.grad_V, len(y) // 2
    v1, q1, w = y[n:], data.q1_w[:n], data.q1_w[n:]
    copy(y, q1)
    factor(data, G1, q1)
    sharp(data, q1, kernels.potential_gradient(t, y, p), grad_V)
    for i in range(n):
        w[i] = h * v1[i] - 0.5 * h * h * grad_V[i]  # where it begins: A = 0
    last = math.inf
    for sweep in range(SLOW_SWEEPS):
        if not norm(w) < math.pi:  # also NaN
            return OUTSIDE
        if data.refresh == 0 or sweep < data.refresh:  # else R_w is held, an experiment
            curvature(w, data.nabla_Delta, data.one_f2)
        sphere_w(kernels, data, t, h, v1, G1, p)
        size, _ = replace(w, data.w_new)
        if settle(size, last, norm(w), run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def sphere_second_half(kernels, data, t, h, G1, p):
    """q2 and v2 into y_new by leimkuhler (33).

    The way back from q2 is -P w = back, and its transport to q1 is -w: the ends have changed places.
    """
    data, p = lent(data), lent(p)
    grad_V, A, minus_w, n = data.grad_V, data.A, data.w_new, len(data.A)
    q1, w, q2, Pw = data.q1_w[:n], data.q1_w[n:], data.q2_Pw[:n], data.q2_Pw[n:]
    back, q_new, v2 = data.q2_back[n:], data.y_new[:n], data.y_new[n:]
    shoot(q1, w, q2, Pw)
    copy(q2, data.q2_back[:n])
    negative(Pw, back)
    negative(w, minus_w)
    G2 = kernels.metric(t + h, data.q2_Pw, p)
    factor(data, G2, q2)
    sharp(data, q2, kernels.potential_gradient(t + h, data.q2_Pw, p), grad_V)
    dG = kernels.metric_gradient(t + h, data.q2_back, p)
    curvature(back, data.nabla_Delta, data.one_f2)
    sphere_covector(data, G2, G1, dG, q2, back, minus_w)
    sharp(data, q2, data.GA, A)  # A(q2, -P w)
    for i in range(n):
        v2[i] = Pw[i] / h - 0.5 * h * grad_V[i] + 0.5 / h * A[i]  # leimkuhler (33)
    copy(q2, q_new)
    onto_sphere(q_new, v2)


@loop(SphereKernels.kind, SphereData.kind, *STATE)
def march_sphere(kernels, data, run, y, p, ts, ys, hs):
    """The unit sphere in R^n, state x, v."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = sphere_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            sphere_second_half(kernels, data, t, h, G1, p)
        advance(run, status, 0.0, y, data.y_new, ts, ys, hs)
