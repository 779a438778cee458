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
def inner(a, b):
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
    along = inner(alpha, normal) / inner(q, normal)
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
def shoot(q, w, state):
    """state becomes q2 = exp_q w and P w, one after the other; c = cos z, s = sin z / z, z = |w|."""
    n, z = len(q), norm(w)
    c, s = math.cos(z), sinc(z * z)
    for i in range(n):
        state[i] = c * q[i] + s * w[i]  # exp_q w: leimkuhler (40)
        state[n + i] = c * w[i] - s * z * z * q[i]  # P w: leimkuhler (41)


@jit
def transport_back(q, w, a):
    """a becomes P^T a, P^T = 1 + s (q w^T - w q^T) - c (|w|^2 q q^T + w w^T), s = sin z / z, c = (1 - cos z)/z^2."""
    q, w, a = lent(q), lent(w), lent(a)
    z = norm(w)
    s, c = sinc(z * z), cosc(z * z)
    qa, wa = inner(q, a), inner(w, a)
    for i in range(len(a)):
        a[i] += (s * wa - c * z * z * qa) * q[i] - (c * wa + s * qa) * w[i]


@jit
def sphere_covector(G1, G2, dG, q, w, Pw, r, Gw, PGPw, out):
    """G A(q, w) by leimkuhler (30), a covector of R^n; R_w is taken at r, which is w but for an experiment.

        (dG - 2 (w . G1 q) w)/2 + (1 - g2 R_w) Gw - (1 + g1 R_w) PGPw,   Gw = G1 w,   PGPw = P^T G2 P w

    The terms are those of (30) in its order: nabla G(w, w)/2, G1(w, (nabla Delta + 2) .) with nabla Delta = -f1/f2 of
    (38), and G2(P w, dDelta .) with dDelta = P (1/f2) of (37); G stands for leimkuhler's h. R_w = |w|^2 1 - w w^T;
    Gw and PGPw are scratch.
    """
    G1, G2, dG, q, w, Pw = lent(G1), lent(G2), lent(dG), lent(q), lent(w), lent(Pw)
    r, Gw, PGPw, out = lent(r), lent(Gw), lent(PGPw), lent(out)
    z = norm(r)
    g1, g2 = jacobi(z)
    times(G1, w, Gw)
    times(G2, Pw, PGPw)
    transport_back(q, w, PGPw)
    wGq, r_Gw, r_PGPw = inner(Gw, q), inner(r, Gw), inner(r, PGPw)
    for i in range(len(q)):
        nabla = dG[i] - 2.0 * wGq * w[i]  # nabla G(w, w): leimkuhler 5.1, corrected
        R_Gw = z * z * Gw[i] - r_Gw * r[i]  # R_w Gw: leimkuhler (42)
        R_PGPw = z * z * PGPw[i] - r_PGPw * r[i]
        # leimkuhler (30): nabla G(w, w)/2 + (1 - g2 R_w) G1 w - (1 + g1 R_w) P^T G2 P w
        out[i] = 0.5 * nabla + (Gw[i] - g2 * R_Gw) - (PGPw[i] + g1 * R_PGPw)


SphereKernels = record(
    "SphereKernels", metric=FIELD, metric_gradient=FIELD, potential_gradient=FIELD
)
SphereData = record("SphereData", refresh=I8, L=MAT, V=MAT, Y=MAT, pivots=INTS)


@jit
def sphere_increment(kernels, data, run, t, h, y, G1, p):
    """w from q1 and v1 by leimkuhler (32), left in V[0]; returns the status.

    w = h v1 - h^2/2 grad V(q1) + A(q1, w)/2,   q2 = exp_q1 w                              leimkuhler (32)
    """
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    L, V, here, there, pivots = data.L, data.V, data.Y[0], data.Y[1], data.pivots
    n = len(y) // 2
    q, Pw = here[:n], there[n:]
    w, r, alpha, start, A, new = V[0], V[1], V[2], V[3], V[4], V[7]
    normal, Gw, PGPw = V[8], V[6], V[5]
    copy(y, q)
    sharp(G1, q, kernels.potential_gradient(t, y, p), L, pivots, normal, start)
    for i in range(n):
        start[i] = h * y[n + i] - 0.5 * h * h * start[i]
    copy(start, w)
    last = math.inf
    for sweep in range(SLOW_SWEEPS):
        if not norm(w) < math.pi:  # also NaN
            return OUTSIDE
        shoot(q, w, there)
        G2 = kernels.metric(t + h, there, p)
        copy(w, here[n:])
        if data.refresh == 0 or sweep < data.refresh:
            copy(w, r)
        dG = kernels.metric_gradient(t, here, p)
        sphere_covector(G1, G2, dG, q, w, Pw, r, Gw, PGPw, alpha)
        sharp(G1, q, alpha, L, pivots, normal, A)
        for i in range(n):
            new[i] = start[i] + 0.5 * A[i]  # leimkuhler (32)
        size, _ = replace(w, new)
        if settle(size, last, norm(w), run):
            return RUNNING
        last = size
    return NOT_CONVERGED


@jit
def sphere_second_half(kernels, data, t, h, G1, p):
    """q2 and v2 into Y[2].

    v2 = P w / h - h/2 grad V(q2) + A(q2, -P w)/(2 h)                                      leimkuhler (33)
    """
    data, p = lent(data), lent(p)
    L, V, there, y_new, pivots = data.L, data.V, data.Y[1], data.Y[2], data.pivots
    n = V.shape[1]
    w, back, alpha, Pw, grad, A = V[0], V[1], V[2], V[3], V[4], V[7]
    normal, Gw, PGPw = V[8], V[6], V[5]
    q2 = there[:n]
    shoot(data.Y[0, :n], w, there)
    copy(there[n:], Pw)
    G2 = kernels.metric(t + h, there, p)
    sharp(G2, q2, kernels.potential_gradient(t + h, there, p), L, pivots, normal, grad)
    negative(Pw, back)
    copy(back, there[n:])
    negative(w, w)  # from here on w is -w, the transport of -P w
    dG = kernels.metric_gradient(t + h, there, p)
    sphere_covector(G2, G1, dG, q2, back, w, back, Gw, PGPw, alpha)
    sharp(G2, q2, alpha, L, pivots, normal, A)  # A(q2, -P w)
    size, along = norm(q2), 0.0
    for i in range(n):
        y_new[i] = q2[i] / size  # or the length drifts by round-off and biases momenta
        y_new[n + i] = Pw[i] / h - 0.5 * h * grad[i] + 0.5 / h * A[i]  # leimkuhler (33)
        along += y_new[i] * y_new[n + i]
    for i in range(n):
        y_new[n + i] -= along * y_new[i]


@loop(SphereKernels.kind, SphereData.kind, *STATE)
def march_sphere(kernels, data, run, y, p, ts, ys, hs):
    """The unit sphere in R^n, state x, v; with `refresh`, R_w is held from that sweep on (an experiment)."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    y_new = data.Y[2]
    while running(run):
        t, h = run[T], run[H]
        G1 = kernels.metric(t, y, p)
        status = sphere_increment(kernels, data, run, t, h, y, G1, p)
        run[NFEV] += 2
        if status == RUNNING:
            sphere_second_half(kernels, data, t, h, G1, p)
        advance(run, status, 0.0, y, y_new, ts, ys, hs)
