"""ELN and RATTLE on (S^2)^n with a mass matrix that couples the spheres: sum M_ij q_i' . q_j' / 2 - V(q).

With q_i' = w_i x q_i, F = -dV/dq, N = M^-1 and s_j = |w_j|^2, the tensions l and the accelerations are

    sum_j N_ij (q_i . q_j) l_j = q_i . (N F)_i + s_i,    w_i' = q_i x (N F - N l q)_i = a_i(q) + sum_j b_ij(q) s_j .

    ELN     W = w + h/2 w'(q, w), q1_i = exp(h W_i) q_i, w1 = W + h/2 w'(q1, w1)      ortolan (7.1), (7.1c) corrected
    RATTLE  M V = M v + h/2 F - l q, q1 = q + h V, |q1_i| = 1;
            M v1 = M V + h/2 F1 - m q1, q1_i . v1_i = 0                               ortolan (7.4), v = w x q

ELN is implicit in the n numbers s only, and not at all where M is diagonal: there it is kick, exact turn, kick, a
splitting that is symplectic. RATTLE turns by asin(h |V|) where ELN turns by h |V|: no solution above h |V| = 1. Both
keep |q| = 1 and q . w = 0 to round-off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.jit import FIELD, I8, INTS, MAT, VEC, jit, lent, loop, record
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
from ..core.newton import SWEEPS, settled
from ..groups.so3 import cay_core, cross_core, exp_core, mul_core
from ._registry import Plan

SpheresKernels = record("SpheresKernels", force=FIELD)
# N = M^-1; a holds ELN's accelerations, with b those of s, or RATTLE's force; s is |w|^2, or RATTLE's tensions.
SpheresData = record(
    "SpheresData",
    rattle=I8,
    cay=I8,
    coupled=I8,
    N=MAT,
    G=MAT,
    pivots=INTS,
    x=VEC,
    a=VEC,
    b=MAT,
    s=VEC,
    W=VEC,
    u=VEC,
    y_new=VEC,
)


@jit
def direction(y, i):
    """q_i of a state (q1, w1, q2, w2, ...)."""
    return (y[6 * i], y[6 * i + 1], y[6 * i + 2])


@jit
def dot_core(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@jit
def row_times(N, i, x):
    """(N x)_i for vectors x (3 n)."""
    a, b, c = 0.0, 0.0, 0.0
    for j in range(len(N)):
        a += N[i, j] * x[3 * j]
        b += N[i, j] * x[3 * j + 1]
        c += N[i, j] * x[3 * j + 2]
    return (a, b, c)


@jit
def accelerations(data, y, F):
    """a (3 n) and b (3 n, n) with w' = a + b s; False where G is singular. G (n, n), x (n) are scratch."""
    data, y, F = lent(data), lent(y), lent(F)
    N, coupled, G, pivots = data.N, data.coupled, data.G, data.pivots
    x, a, b, n = data.x, data.a, data.b, len(data.N)
    if not coupled:
        for i in range(n):
            c = cross_core(direction(y, i), (F[3 * i], F[3 * i + 1], F[3 * i + 2]))
            for k in range(3):
                a[3 * i + k] = N[i, i] * c[k]
        return True
    for i in range(n):
        q = direction(y, i)
        for j in range(n):
            G[i, j] = N[i, j] * dot_core(q, direction(y, j))
    if not lu_factor(G, pivots):
        return False
    for column in range(n + 1):
        # the last column is the part that F pulls, the others those of s
        for i in range(n):
            x[i] = 1.0 if i == column else 0.0
            if column == n:
                x[i] = dot_core(direction(y, i), row_times(N, i, F))
        lu_solve(G, pivots, x)
        for i in range(n):
            u0, u1, u2 = 0.0, 0.0, 0.0
            if column == n:
                u0, u1, u2 = row_times(N, i, F)
            for j in range(n):
                q, m = direction(y, j), N[i, j] * x[j]
                u0, u1, u2 = u0 - m * q[0], u1 - m * q[1], u2 - m * q[2]
            c = cross_core(direction(y, i), (u0, u1, u2))
            for k in range(3):
                if column == n:
                    a[3 * i + k] = c[k]
                else:
                    b[3 * i + k, column] = c[k]
    return True


@jit
def half_kick(W, c, s, coupled, a, b, u):
    """u = W + c (a + b s)"""
    for k in range(len(a)):
        u[k] = W[k] + c * a[k]
        if coupled:
            for j in range(len(s)):
                u[k] += c * b[k, j] * s[j]


@jit
def eln_step(force, data, t, h, y, p):
    """One step; a, b hold the accelerations at q, then those at q1. Returns the last correction, 0 if converged."""
    data, y, p = lent(data), lent(y), lent(p)
    _, cay, coupled, N, G, pivots, x, a, b, s, W, u, y_new = data
    n, c = len(N), 0.5 * h
    for i in range(n):
        w = (y[6 * i + 3], y[6 * i + 4], y[6 * i + 5])
        s[i] = dot_core(w, w)
        W[3 * i], W[3 * i + 1], W[3 * i + 2] = w
    half_kick(W, c, s, coupled, a, b, u)
    for i in range(n):
        v = (h * u[3 * i], h * u[3 * i + 1], h * u[3 * i + 2])
        g = cay_core(v[0], v[1], v[2]) if cay else exp_core(v[0], v[1], v[2])
        q = mul_core(g, direction(y, i))
        # The turn keeps |q| to round-off; without this it would walk away over a million steps.
        f = 1.5 - 0.5 * dot_core(q, q)
        for k in range(3):
            y_new[6 * i + k] = f * q[k]
            W[3 * i + k] = u[3 * i + k]
    if not accelerations(data, y_new, force(t + h, y_new, p)):
        return math.inf
    left = 0.0
    if coupled:
        left = math.inf
        for _ in range(SWEEPS):
            half_kick(W, c, s, coupled, a, b, u)
            for i in range(n):
                w = (u[3 * i], u[3 * i + 1], u[3 * i + 2])
                x[i] = s[i] - dot_core(w, w)
                for j in range(n):
                    turn = (b[3 * i, j], b[3 * i + 1, j], b[3 * i + 2, j])
                    G[i, j] = (1.0 if i == j else 0.0) - h * dot_core(w, turn)
            if not lu_factor(G, pivots):
                return math.inf
            lu_solve(G, pivots, x)
            left, size = 0.0, 0.0
            for i in range(n):
                s[i] -= x[i]
                left = max(left, abs(x[i])) if math.isfinite(x[i]) else math.inf
                size = max(size, abs(s[i]))
            if settled(left, size):
                left = 0.0
                break
    half_kick(W, c, s, coupled, a, b, u)
    for i in range(n):
        for k in range(3):
            y_new[6 * i + 3 + k] = u[3 * i + k]
    return left


@jit
def rattle_step(force, data, t, h, y, p):
    """One step; F holds the force at q, then the one at q1. Returns the last correction, 0 if converged."""
    data, y, p = lent(data), lent(y), lent(p)
    _, _, _, N, G, pivots, x, F, _, tension, V, u, y_new = data
    n, c = len(N), 0.5 * h
    for i in range(n):
        q, f = direction(y, i), row_times(N, i, F)
        v = cross_core((y[6 * i + 3], y[6 * i + 4], y[6 * i + 5]), q)
        tension[i] = 0.0
        for k in range(3):
            V[3 * i + k] = v[k] + c * f[k]
    left = math.inf
    for _ in range(SWEEPS):
        for i in range(n):
            u0, u1, u2 = V[3 * i], V[3 * i + 1], V[3 * i + 2]
            for j in range(n):
                q, m = direction(y, j), N[i, j] * tension[j]
                u0, u1, u2 = u0 - m * q[0], u1 - m * q[1], u2 - m * q[2]
            u[3 * i], u[3 * i + 1], u[3 * i + 2] = u0, u1, u2
            for k in range(3):
                y_new[6 * i + k] = y[6 * i + k] + h * u[3 * i + k]
        if left == 0.0:
            break
        for i in range(n):
            q = direction(y_new, i)
            x[i] = 0.5 * (dot_core(q, q) - 1.0)
            for j in range(n):
                G[i, j] = -h * N[i, j] * dot_core(q, direction(y, j))
        if not lu_factor(G, pivots):
            return math.inf
        lu_solve(G, pivots, x)
        left = 0.0
        for i in range(n):
            tension[i] -= x[i]
            left = max(left, abs(h * N[i, i] * x[i])) if math.isfinite(x[i]) else math.inf
        if settled(left, 1.0):
            left = 0.0
    if left > 0.0:
        return left
    force_new = force(t + h, y_new, p)
    for k in range(3 * n):
        F[k] = force_new[k]
    for i in range(n):
        f = row_times(N, i, F)
        for k in range(3):
            V[3 * i + k] = u[3 * i + k] + c * f[k]
        q = direction(y_new, i)
        x[i] = dot_core(q, (V[3 * i], V[3 * i + 1], V[3 * i + 2]))
        for j in range(n):
            G[i, j] = N[i, j] * dot_core(q, direction(y_new, j))
    if not lu_factor(G, pivots):
        return math.inf
    lu_solve(G, pivots, x)
    for i in range(n):
        u0, u1, u2 = V[3 * i], V[3 * i + 1], V[3 * i + 2]
        for j in range(n):
            q, m = direction(y_new, j), N[i, j] * x[j]
            u0, u1, u2 = u0 - m * q[0], u1 - m * q[1], u2 - m * q[2]
        w = cross_core(direction(y_new, i), (u0, u1, u2))
        for k in range(3):
            y_new[6 * i + 3 + k] = w[k]
    return 0.0


@loop(SpheresKernels.kind, SpheresData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps."""
    force, data, run, y, p = kernels.force, lent(data), lent(run), lent(y), lent(p)
    rattle, a, y_new = data.rattle, data.a, data.y_new
    while running(run):
        t, h, left = run[T], run[H], 0.0
        if run[AT] != MOVED:
            F = force(t, y, p)
            run[NFEV] += 1
            if rattle:
                for k in range(len(F)):
                    a[k] = F[k]
            elif not accelerations(data, y, F):
                left = math.inf
        if rattle:
            left = rattle_step(force, data, t, h, y, p)
        elif left == 0.0:
            left = eln_step(force, data, t, h, y, p)
        run[NFEV] += 1
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def prepare(formulation: Any, rattle: bool, cay: bool) -> Plan:
    """Plan of ELN or RATTLE on a spheres formulation."""
    M = np.array(formulation.mass(), dtype=float)
    n = len(M)
    coupled = int(np.any(np.diag(np.diag(M)) != M))
    return Plan(
        loop=march,
        kernels=SpheresKernels(formulation.force),
        data=SpheresData(
            rattle=int(rattle),
            cay=int(cay),
            coupled=coupled,
            N=np.ascontiguousarray(np.linalg.inv(M)),
            G=np.zeros((n, n)),
            pivots=np.zeros(n, dtype=np.int64),
            x=np.zeros(n),
            a=np.zeros(3 * n),
            b=np.zeros((3 * n if coupled else 0, n)),
            s=np.zeros(n),
            W=np.zeros(3 * n),
            u=np.zeros(3 * n),
            y_new=np.zeros(6 * n),
        ),
        params=formulation.params,
        structured=True,
    )
