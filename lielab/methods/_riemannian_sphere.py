"""The leapfrog of `riemannian` on the unit sphere in R^n, and what its three loops share.

Equation numbers are leimkuhler's. There P is the rotation by |w| in the plane of q and w, (41), and f1/f2, 1/f2 of
(36)-(39) are 1 + g R_w since R_w^2 = |w|^2 R_w, (43).

(30) is taken as it is printed; what had to be corrected is what goes into it, here nabla h (5.1): its last term has the
factor 2. In the place of h = G - g~ stands G, here and on symmetric pairs, since all that g~ adds to (30) is
g~(w, (2 - f1/f2 - 1/f2)(R_w) v): its derivative nabla g~ is 0, and P, an isometry, takes P w and P v back to w and v.
That is 0, for R_w is symmetric for g~, R_w w = 0, and the function is 0 at 0.
"""

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


@jit
def sharp(G, q, alpha, L, pivots, normal, out):
    """g#(alpha) = G^-1 (alpha - (alpha G^-1 q / q G^-1 q) q), tangent at q to the unit sphere, in out; not alpha."""
    G, q, alpha, L, pivots = lent(G), lent(q), lent(alpha), lent(L), lent(pivots)
    normal, out = lent(normal), lent(out)
    copy(q, normal)
    solve_entries(G, normal, L, pivots)  # G^-1 q
    along = pairing(alpha, normal) / pairing(q, normal)
    for i in range(len(q)):
        out[i] = alpha[i] - along * q[i]
    lu_solve(L, pivots, out)


@jit
def jacobi(z):
    """g1 = (z/sin z - 1)/z^2 and g2 = (z cos z/sin z - 1)/z^2, z = |w|, on the unit sphere.

    1/f2 and f1/f2 of leimkuhler (36)-(39) are 1 + g1 R_w and 1 + g2 R_w.
    """
    sine, c = sinc(z * z), math.cos(0.5 * z)
    g1 = sinc3(z * z) / sine
    return g1, g1 - 0.5 * sine / (c * c)  # 2 c^2 = 1 + cos z, which cancels near pi


@jit
def shoot(q, w, q2, Pw):
    """q2 = exp_q w and P w; c = cos z, s = sin z / z, z = |w|."""
    z = norm(w)
    c, s = math.cos(z), sinc(z * z)
    for i in range(len(q)):
        q2[i] = c * q[i] + s * w[i]  # exp_q w: leimkuhler (40)
        Pw[i] = c * w[i] - s * z * z * q[i]  # P w: leimkuhler (41)


@jit
def transport_back(q, w, a):
    """a becomes P^T a, P^T = 1 + s (q w^T - w q^T) - c (|w|^2 q q^T + w w^T), s = sin z / z, c = (1 - cos z)/z^2."""
    q, w, a = lent(q), lent(w), lent(a)
    z = norm(w)
    s, c = sinc(z * z), cosc(z * z)
    qa, wa = pairing(q, a), pairing(w, a)
    for i in range(len(a)):
        a[i] += (s * wa - c * z * z * qa) * q[i] - (c * wa + s * qa) * w[i]


@jit
def sphere_covector(G1, G2, dG, q, w, Pw, r, Gw, PGPw, GA):
    """G A(q, w) by leimkuhler (30), a covector of R^n; R_w is taken at r, which is w but for an experiment.

        G A = nabla G(w, w)/2 + G1(w, (nabla Delta + 2) .) - G2(P w, dDelta .)                        leimkuhler (30)

    nabla Delta = -f1/f2 = -(1 + g2 R_w), dDelta = P (1/f2) = P (1 + g1 R_w), R_w = |w|^2 1 - w w^T, and G stands for
    leimkuhler's h. With Gw = G1 w and PGPw = P^T G2 P w, and since R_w is symmetric,

        G A = (dG - 2 (w . G1 q) w)/2 + (1 - g2 R_w) Gw - (1 + g1 R_w) PGPw
    """
    G1, G2, dG, q, w, Pw = lent(G1), lent(G2), lent(dG), lent(q), lent(w), lent(Pw)
    r, Gw, PGPw, GA = lent(r), lent(Gw), lent(PGPw), lent(GA)
    z = norm(r)
    g1, g2 = jacobi(z)
    times(G1, w, Gw)
    times(G2, Pw, PGPw)
    transport_back(q, w, PGPw)
    wGq, r_Gw, r_PGPw = pairing(Gw, q), pairing(r, Gw), pairing(r, PGPw)
    for i in range(len(q)):
        nabla_G = dG[i] - 2.0 * wGq * w[i]  # nabla G(w, w): leimkuhler 5.1, corrected
        R_Gw = z * z * Gw[i] - r_Gw * r[i]  # R_w Gw: leimkuhler (42)
        R_PGPw = z * z * PGPw[i] - r_PGPw * r[i]  # R_w P^T G2 P w
        G_nabla_Delta = Gw[i] - g2 * R_Gw  # G1(w, nabla Delta + 2): leimkuhler (38)
        G_dDelta = PGPw[i] + g1 * R_PGPw  # G2(P w, dDelta): leimkuhler (37)
        GA[i] = 0.5 * nabla_G + G_nabla_Delta - G_dDelta  # leimkuhler (30)


@jit
def onto_sphere(q, v):
    """q to length 1 and v tangent: by round-off the length would drift, and bias momenta."""
    size = norm(q)
    for i in range(len(q)):
        q[i] /= size
    along = pairing(q, v)
    for i in range(len(q)):
        v[i] -= along * q[i]


SphereKernels = record(
    "SphereKernels", metric=FIELD, metric_gradient=FIELD, potential_gradient=FIELD
)
# Rows of Y: points (q1, w), (q2, P w), (q2, -P w) and the new (q2, v2); those of V get their names where they are used.
SphereData = record("SphereData", refresh=I8, L=MAT, V=MAT, Y=MAT, pivots=INTS)


@jit
def sphere_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and v1 by leimkuhler (32), left in Y[0]; returns the status.

    w = h v1 - h^2/2 grad V(q1) + A(q1, w)/2,   q2 = exp_q1 w                              leimkuhler (32)
    """
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    L, V, pivots, n = data.L, data.V, data.pivots, len(y) // 2
    grad, GA, A, r, w_new, normal, Gw, PGPw = V[0], V[1], V[2], V[3], V[4], V[5], V[6], V[7]
    q1_w, q2_Pw = data.Y[0], data.Y[1]
    v1, q1, w, q2, Pw = y[n:], q1_w[:n], q1_w[n:], q2_Pw[:n], q2_Pw[n:]
    copy(y, q1)
    sharp(G1, q1, kernels.potential_gradient(t, y, p), L, pivots, normal, grad)
    for i in range(n):
        w[i] = h * v1[i] - 0.5 * h * h * grad[i]  # where it begins: A = 0
    last = math.inf
    for sweep in range(SLOW_SWEEPS):
        if not norm(w) < math.pi:  # also NaN
            return OUTSIDE
        shoot(q1, w, q2, Pw)
        G2 = kernels.metric(t + h, q2_Pw, p)
        if data.refresh == 0 or sweep < data.refresh:
            copy(w, r)
        dG = kernels.metric_gradient(t, q1_w, p)
        sphere_covector(G1, G2, dG, q1, w, Pw, r, Gw, PGPw, GA)
        sharp(G1, q1, GA, L, pivots, normal, A)
        for i in range(n):
            w_new[i] = h * v1[i] - 0.5 * h * h * grad[i] + 0.5 * A[i]  # leimkuhler (32)
        size, _ = replace(w, w_new)
        if settle(size, last, norm(w), run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def sphere_second_half(kernels, data, t, h, G1, p):
    """q2 and v2 into Y[3].

    v2 = P w / h - h/2 grad V(q2) + A(q2, -P w)/(2 h)                                      leimkuhler (33)

    The way back from q2 is -P w = back, and its transport to q1 is -w: the ends have changed places.
    """
    data, p = lent(data), lent(p)
    L, V, pivots, n = data.L, data.V, data.pivots, data.V.shape[1]
    grad, GA, A, minus_w, normal, Gw, PGPw = V[0], V[1], V[2], V[3], V[5], V[6], V[7]
    q1_w, q2_Pw, q2_back, y_new = data.Y[0], data.Y[1], data.Y[2], data.Y[3]
    q1, w, q2, Pw, back = q1_w[:n], q1_w[n:], q2_Pw[:n], q2_Pw[n:], q2_back[n:]
    q_new, v2 = y_new[:n], y_new[n:]
    shoot(q1, w, q2, Pw)
    copy(q2, q2_back[:n])
    negative(Pw, back)
    negative(w, minus_w)
    G2 = kernels.metric(t + h, q2_Pw, p)
    dV = kernels.potential_gradient(t + h, q2_Pw, p)
    sharp(G2, q2, dV, L, pivots, normal, grad)
    dG = kernels.metric_gradient(t + h, q2_back, p)
    sphere_covector(G2, G1, dG, q2, back, minus_w, back, Gw, PGPw, GA)
    sharp(G2, q2, GA, L, pivots, normal, A)  # A(q2, -P w)
    for i in range(n):
        v2[i] = Pw[i] / h - 0.5 * h * grad[i] + 0.5 / h * A[i]  # leimkuhler (33)
    copy(q2, q_new)
    onto_sphere(q_new, v2)


@loop(SphereKernels.kind, SphereData.kind, *STATE)
def march_sphere(kernels, data, run, y, p, ts, ys, hs):
    """The unit sphere in R^n, state x, v; with `refresh`, R_w is held from that sweep on (an experiment)."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    y_new = data.Y[3]
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = sphere_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            sphere_second_half(kernels, data, t, h, G1, p)
        advance(run, status, 0.0, y, y_new, ts, ys, hs)
