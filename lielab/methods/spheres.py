"""ELN and RATTLE on (S^2)^n with a mass matrix that couples the spheres: sum M_ij q_i' . q_j' / 2 - U(q).

With q_i' = w_i x q_i, the force F = -dU/dq, N = M^-1 and s_j = |w_j|^2, the tensions l and the accelerations are

    sum_j N_ij (q_i . q_j) l_j = q_i . (N F)_i + s_i,    w_i' = q_i x (N F - N l q)_i = a_i(q) + sum_j b_ij(q) s_j .

    ELN     W = w + h/2 w'(q, w), q1_i = exp(h W_i) q_i, w1 = W + h/2 w'(q1, w1)      ortolan (7.1), (7.1c) corrected
    RATTLE  M V = M v + h/2 F - l q, q1 = q + h V, |q1_i| = 1;
            M v1 = M V + h/2 F1 - l1 q1, q1_i . v1_i = 0                              ortolan (7.4), v = w x q

W and V are the thesis' Omega, v at k + 1/2. Its potential V is U here, its F(q), the Jacobian of the constraints
f_i = (|q_i|^2 - 1)/2, is made of the q_i^T, and the tensions are its multipliers, l = h/2 lambda^q, l1 = h/2 lambda^v.
ELN is implicit in the n numbers s only, and not at all where M is diagonal: there it is kick, exact turn, kick, a
splitting that is symplectic. RATTLE turns one sphere by asin(h |W|) where ELN turns it by h |W|: no solution above
h |W| = 1. Both keep |q| = 1 and q . w = 0 to round-off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.jit import FIELD, I8, INTS, MAT, VEC, inner, jit, lent, loop, record
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
from ..core.newton import SWEEPS, correct, settled
from ..core.values import ZERO, Vec3, cross, dot, store, vec3
from ..groups.rotations import turn
from ._registry import Plan

SpheresKernels = record("SpheresKernels", force=FIELD)
# N = M^-1, and linear systems with the matrix G: its pivots, and x, a right side and then the solution.
_LINEAR = {"N": MAT, "G": MAT, "pivots": INTS, "x": VEC}
# w' = a + b s with s_j = |w_j|^2; w, then W at half a step and w1.
ELNData = record(
    "ELNData",
    cay=I8,
    coupled=I8,
    **_LINEAR,
    a=VEC,
    b=MAT,
    s=VEC,
    w=VEC,
    W=VEC,
    w1=VEC,
    y_new=VEC,
)
# The force F, the tensions l and l1, and V; `kicked` is what they are taken from: v + h/2 N F, then V + h/2 N F1.
RATTLEData = record("RATTLEData", **_LINEAR, F=VEC, l=VEC, l1=VEC, kicked=VEC, V=VEC, y_new=VEC)


@jit
def direction(y, i):
    """q_i of a state (q1, w1, q2, w2, ...)."""
    y = lent(y)
    return vec3(y, 6 * i)


@jit
def row_times(N, i, x):
    """(N x)_i for vectors x (3 n)."""
    N, x = lent(N), lent(x)
    total = ZERO
    for j in range(len(N)):
        total += N[i, j] * vec3(x, 3 * j)
    return total


@jit
def less_tensions(u, N, i, l, y):
    """u - (N l q)_i: what the tensions l leave of u."""
    N, l, y = lent(N), lent(l), lent(y)
    for j in range(len(N)):
        u -= N[i, j] * l[j] * direction(y, j)
    return u


@inner
def accelerations(data, y, F):
    """a (3 n) and b (3 n, n) with w' = a + b s; False where G is singular. G (n, n) and l (n) are scratch."""
    data, y, F = lent(data), lent(y), lent(F)
    N, coupled, G, pivots = data.N, data.coupled, data.G, data.pivots
    l, a, b, n = data.x, data.a, data.b, len(data.N)
    if not coupled:
        for i in range(n):
            store(N[i, i] * cross(direction(y, i), vec3(F, 3 * i)), a, 3 * i)
        return True
    for i in range(n):
        for j in range(n):
            G[i, j] = N[i, j] * dot(direction(y, i), direction(y, j))
    if not lu_factor(G, pivots):
        return False
    for column in range(n):  # the tensions that s_column = 1 asks for, and what they do
        for i in range(n):
            l[i] = 1.0 if i == column else 0.0
        lu_solve(G, pivots, l)
        for i in range(n):
            dw = cross(direction(y, i), less_tensions(ZERO, N, i, l, y))
            b[3 * i, column], b[3 * i + 1, column], b[3 * i + 2, column] = dw.x, dw.y, dw.z
    for i in range(n):  # those that the forces ask for
        l[i] = dot(direction(y, i), row_times(N, i, F))
    lu_solve(G, pivots, l)
    for i in range(n):
        u = less_tensions(row_times(N, i, F), N, i, l, y)
        store(cross(direction(y, i), u), a, 3 * i)
    return True


@jit
def half_kick(w, c, s, coupled, a, b, out):
    """out = w + c w', w' = a + b s: the alpha(q, w) of ortolan (7.1)"""
    for k in range(len(a)):
        out[k] = w[k] + c * a[k]
        if coupled:
            for j in range(len(s)):
                out[k] += c * b[k, j] * s[j]


@inner
def eln_speeds(data, h):
    """Newton for s_i = |w1_i|^2, w1 = W + h/2 (a + b s): ortolan (7.1d). Returns the last correction, or 0."""
    data = lent(data)
    coupled, G, pivots, x = data.coupled, data.G, data.pivots, data.x
    a, b, s, W, w1 = data.a, data.b, data.s, data.W, data.w1
    n, left = len(s), math.inf
    for _ in range(SWEEPS):
        half_kick(W, 0.5 * h, s, coupled, a, b, w1)
        for i in range(n):
            w1_i = vec3(w1, 3 * i)
            x[i] = s[i] - dot(w1_i, w1_i)
            for j in range(n):
                b_ij = Vec3(b[3 * i, j], b[3 * i + 1, j], b[3 * i + 2, j])
                G[i, j] = (1.0 if i == j else 0.0) - h * dot(w1_i, b_ij)
        if not lu_factor(G, pivots):
            return math.inf
        lu_solve(G, pivots, x)
        left, size = correct(s, x)
        if settled(left, size):
            return 0.0
    return left


@inner  # or a step costs a fifth more
def eln_step(force, data, t, h, y, p):
    """One step; a, b hold the accelerations at q, then those at q1. Returns the last correction, 0 if converged."""
    data, y, p = lent(data), lent(y), lent(p)
    use_cay, coupled, y_new, n = data.cay, data.coupled, data.y_new, len(data.N)
    a, b, s, w, W, w1 = data.a, data.b, data.s, data.w, data.W, data.w1
    c, left = 0.5 * h, 0.0
    for i in range(n):
        w_i = vec3(y, 6 * i + 3)
        s[i] = dot(w_i, w_i)
        store(w_i, w, 3 * i)
    half_kick(w, c, s, coupled, a, b, W)  # W = w + h/2 w'(q, w): ortolan (7.1a)
    for i in range(n):
        R = turn(use_cay, h * vec3(W, 3 * i))  # exp(h W): ortolan (7.1b)
        q1 = R @ direction(y, i)  # ortolan (7.1c), corrected
        # The turn keeps |q| to round-off; without this it would walk away over a million steps.
        store((1.5 - 0.5 * dot(q1, q1)) * q1, y_new, 6 * i)
    if not accelerations(data, y_new, force(t + h, y_new, p)):
        return math.inf
    if coupled:
        left = eln_speeds(data, h)
        if not math.isfinite(left):
            return left
    half_kick(W, c, s, coupled, a, b, w1)  # w1 = W + h/2 w'(q1, w1): ortolan (7.1d)
    for i in range(n):
        store(vec3(w1, 3 * i), y_new, 6 * i + 3)
    return left


@jit
def moved(l, h, N):
    """How far tensions l move the directions: max |h N_ii l_i|."""
    l, N, size = lent(l), lent(N), 0.0
    for i in range(len(l)):
        size = max(size, abs(h * N[i, i] * l[i]))
    return size


@inner
def rattle_positions(data, h, y):
    """Newton for the tensions l with |q1_i| = 1, V = v + h/2 N F - N l q, q1 = q + h V: ortolan (7.4).

    v + h/2 N F is in `kicked`. Leaves V in V, q1 in the new state, and returns the last correction, 0 if converged.
    """
    data, y = lent(data), lent(y)
    N, G, pivots, x, y_new = data.N, data.G, data.pivots, data.x, data.y_new
    l, kicked, V = data.l, data.kicked, data.V
    n, left = len(N), math.inf
    for _ in range(SWEEPS):
        for i in range(n):
            u = vec3(kicked, 3 * i)
            V_i = less_tensions(u, N, i, l, y)  # V = v + h/2 N F - N l q: ortolan (7.4b)
            q1 = direction(y, i) + h * V_i  # ortolan (7.4a)
            store(V_i, V, 3 * i)
            store(q1, y_new, 6 * i)
        if left == 0.0:
            break
        for i in range(n):
            q1 = direction(y_new, i)
            x[i] = 0.5 * (dot(q1, q1) - 1.0)  # ortolan (7.4c)
            for j in range(n):
                G[i, j] = -h * N[i, j] * dot(q1, direction(y, j))
        if not lu_factor(G, pivots):
            return math.inf
        lu_solve(G, pivots, x)
        size, _ = correct(l, x)
        left = moved(x, h, N) if size < math.inf else math.inf
        if settled(left, 1.0):
            left = 0.0
    return left


@inner
def rattle_step(force, data, t, h, y, p):
    """One step; F holds the force at q, then the one at q1. Returns the last correction, 0 if converged."""
    data, y, p = lent(data), lent(y), lent(p)
    N, G, pivots, y_new = data.N, data.G, data.pivots, data.y_new
    F, l, l1, kicked, V = data.F, data.l, data.l1, data.kicked, data.V
    n, c = len(N), 0.5 * h
    for i in range(n):
        v = cross(vec3(y, 6 * i + 3), direction(y, i))
        store(v + c * row_times(N, i, F), kicked, 3 * i)  # v + h/2 N F
        l[i] = 0.0
    left = rattle_positions(data, h, y)
    if left > 0.0:
        return left
    F1 = force(t + h, y_new, p)
    for k in range(3 * n):
        F[k] = F1[k]  # from here on F is F1
    # v1 = V + h/2 N F1 - N l1 q1 with q1 . v1 = 0: linear in the tensions l1
    for i in range(n):
        store(vec3(V, 3 * i) + c * row_times(N, i, F), kicked, 3 * i)  # V + h/2 N F1
        l1[i] = dot(direction(y_new, i), vec3(kicked, 3 * i))
        for j in range(n):
            G[i, j] = N[i, j] * dot(direction(y_new, i), direction(y_new, j))
    if not lu_factor(G, pivots):
        return math.inf
    lu_solve(G, pivots, l1)  # q1 . v1 = 0: ortolan (7.4e)
    for i in range(n):
        u = vec3(kicked, 3 * i)
        v1 = less_tensions(u, N, i, l1, y_new)  # V + h/2 N F1 - N l1 q1: ortolan (7.4d)
        store(cross(direction(y_new, i), v1), y_new, 6 * i + 3)  # w1 = q1 x v1
    return 0.0


@loop(SpheresKernels.kind, ELNData.kind, *STATE)
def march_eln(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps of ELN."""
    force, data, run, y, p = kernels.force, lent(data), lent(run), lent(y), lent(p)
    y_new = data.y_new
    while running(run):
        t, h, left = run[T], run[H], 0.0
        if run[AT] != MOVED:
            run[NFEV] += 1
            if not accelerations(data, y, force(t, y, p)):
                left = math.inf
        if left == 0.0:
            left = eln_step(force, data, t, h, y, p)
        run[NFEV] += 1
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


@loop(SpheresKernels.kind, RATTLEData.kind, *STATE)
def march_rattle(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps of RATTLE."""
    force, data, run, y, p = kernels.force, lent(data), lent(run), lent(y), lent(p)
    F, y_new = data.F, data.y_new
    while running(run):
        t, h = run[T], run[H]
        if run[AT] != MOVED:
            F0 = force(t, y, p)
            run[NFEV] += 1
            for k in range(len(F0)):
                F[k] = F0[k]
        left = rattle_step(force, data, t, h, y, p)
        run[NFEV] += 1
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def prepare(formulation: Any, rattle: bool, cay: bool) -> Plan:
    """Plan of ELN or RATTLE on a spheres formulation."""
    M = np.array(formulation.mass(), dtype=float)
    n = len(M)
    linear: dict[str, Any] = {
        "N": np.ascontiguousarray(np.linalg.inv(M)),
        "G": np.zeros((n, n)),
        "pivots": np.zeros(n, dtype=np.int64),
        "x": np.zeros(n),
    }
    data: Any
    if rattle:
        data = RATTLEData(
            **linear,
            F=np.zeros(3 * n),
            l=np.zeros(n),
            l1=np.zeros(n),
            kicked=np.zeros(3 * n),
            V=np.zeros(3 * n),
            y_new=np.zeros(6 * n),
        )
    else:
        coupled = int(np.any(np.diag(np.diag(M)) != M))
        data = ELNData(
            cay=int(cay),
            coupled=coupled,
            **linear,
            a=np.zeros(3 * n),
            b=np.zeros((3 * n if coupled else 0, n)),
            s=np.zeros(n),
            w=np.zeros(3 * n),
            W=np.zeros(3 * n),
            w1=np.zeros(3 * n),
            y_new=np.zeros(6 * n),
        )
    return Plan(
        loop=march_rattle if rattle else march_eln,
        kernels=SpheresKernels(formulation.force),
        data=data,
        params=formulation.params,
        structured=True,
    )
