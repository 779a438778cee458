"""The discrete Lagrangian of lee (30) for three connected bodies, with its first and second derivatives.

With E_i = F_i - 1, formed directly, and in the frame of body i

    V_0 = R_0' dx,   w_i = R_i' (dx + R_0 E_0 d_0i),   V_i = w_i - E_i d_i0,   m_i = M_i V_i,   A_i = R_i m_i

it is  h Ld = V_0 . M_0 V_0 / 2 + sum_i (V_i . M_i V_i - E_i d_i0 . M_i E_i d_i0) / 2 + sum_j tr((1 - F_j) Jd_j).
All R_j are those at the left end, which makes the method first order. Derivatives: lee (37)-(41).
"""

from __future__ import annotations

import numpy as np

from ..core.jit import jit
from ..groups.factors import add, dot, triple
from ..groups.scalars import sinc_cosc
from ..groups.so3 import back_core, cross_core, cubic_core, mul_core, product_core, transpose_core

# p = M (3 x 3), J (3 x 3): diagonals body by body; d01, d02, d10, d20 (3 each)
_M, _J, _D = 0, 9, 18


@jit
def hat(v):
    return cubic_core(v[0], v[1], v[2], 0.0, 1.0, 0.0)


@jit
def scale(M, v):
    return (M[0] * v[0], M[1] * v[1], M[2] * v[2])


@jit
def scale_rows(M, a):
    """diag(M) a"""
    return (
        M[0] * a[0],
        M[0] * a[1],
        M[0] * a[2],
        M[1] * a[3],
        M[1] * a[4],
        M[1] * a[5],
        M[2] * a[6],
        M[2] * a[7],
        M[2] * a[8],
    )


@jit
def put(out, first, row, column, a, c):
    """Add c a to the 3x3 block at (row, column) of the 12x12 matrix stored from `first` on."""
    for i in range(3):
        for j in range(3):
            out[first + 12 * (row + i) + column + j] += c * a[3 * i + j]


@jit
def rotation_minus_one(x):
    """exp(x) - 1, row-major, without cancellation"""
    a, b = sinc_cosc(dot(x, x))
    return cubic_core(x[0], x[1], x[2], 0.0, a, b)


@jit
def half_trace_minus(J, d, M):
    """tr(K)/2 - K for K = diag(J) - hat(d) diag(M) hat(d), row-major."""
    D = hat(d)
    K = product_core(D, scale_rows(M, D))
    K = (J[0] - K[0], -K[1], -K[2], -K[3], J[1] - K[4], -K[5], -K[6], -K[7], J[2] - K[8])
    half = 0.5 * (K[0] + K[4] + K[8])
    return (half - K[0], -K[1], -K[2], -K[3], half - K[4], -K[5], -K[6], -K[7], half - K[8])


@jit
def turning(h, row, Jd, E, out):
    """The part tr((1 - F) Jd)/h: value, slope (Jd F - F' Jd)^v, and its derivative tr(N) - N' with N = Jd F."""
    N = product_core(Jd, E)
    out[0] -= (N[0] + N[4] + N[8]) / h
    out[13 + row] += (N[7] - N[5]) / h
    out[14 + row] += (N[2] - N[6]) / h
    out[15 + row] += (N[3] - N[1]) / h
    F = (
        N[0] + Jd[0],
        N[1] + Jd[1],
        N[2] + Jd[2],
        N[3] + Jd[3],
        N[4] + Jd[4],
        N[5] + Jd[5],
        N[6] + Jd[6],
        N[7] + Jd[7],
        N[8] + Jd[8],
    )
    trace = F[0] + F[4] + F[8]
    put(out, 169, row, row, transpose_core(F), -1.0 / h)
    put(out, 169, row, row, (trace, 0.0, 0.0, 0.0, trace, 0.0, 0.0, 0.0, trace), 1.0 / h)


@jit
def gain(out, first, v, c):
    for i in range(3):
        out[first + i] += c * v[i]


@jit
def rotation_of(z, k):
    return (z[k], z[k + 1], z[k + 2], z[k + 3], z[k + 4], z[k + 5], z[k + 6], z[k + 7], z[k + 8])


@jit
def discrete_lagrangian(h, z, p):
    """Ld, its slopes in g (12) and f (12), and the derivatives of the latter in g and in f (12, 12 each)."""
    out = np.zeros(313)
    c = 1.0 / h
    R0, dx = rotation_of(z, 0), triple(z, 33)
    E0 = rotation_minus_one(triple(z, 30))
    F0t = transpose_core(
        (E0[0] + 1, E0[1], E0[2], E0[3], E0[4] + 1, E0[5], E0[6], E0[7], E0[8] + 1)
    )
    M0 = triple(p, _M)
    V0 = back_core(R0, dx)
    m0 = scale(M0, V0)
    out[0] += 0.5 * c * dot(V0, m0)
    gain(out, 1, cross_core(m0, V0), c)
    gain(out, 16, mul_core(R0, m0), c)
    put(out, 25, 3, 0, product_core(R0, hat(m0)), -c)
    put(out, 25, 3, 0, product_core(R0, scale_rows(M0, hat(V0))), c)
    put(out, 169, 3, 3, product_core(R0, scale_rows(M0, transpose_core(R0))), c)
    turning(h, 0, half_trace_minus(triple(p, _J), (0.0, 0.0, 0.0), M0), E0, out)
    for i in range(1, 3):
        a = 3 + 3 * i  # of body i in algebra vectors
        R, M = rotation_of(z, 3 + 9 * i), triple(p, _M + 3 * i)
        d0, d = triple(p, _D + 3 * (i - 1)), triple(p, _D + 3 + 3 * i)
        E = rotation_minus_one(triple(z, 30 + a))
        F = (E[0] + 1, E[1], E[2], E[3], E[4] + 1, E[5], E[6], E[7], E[8] + 1)
        e0, e = mul_core(E0, d0), mul_core(E, d)
        w = back_core(R, add(dx, 1.0, mul_core(R0, e0)))
        V = add(w, -1.0, e)
        m, Mw = scale(M, V), scale(M, w)
        A = mul_core(R, m)
        a0 = back_core(R0, A)
        b0, bi = mul_core(F0t, a0), back_core(F, Mw)
        out[0] += 0.5 * c * (dot(V, m) - dot(e, scale(M, e)))
        gain(out, 1, cross_core(e0, a0), c)
        gain(out, 1 + a, cross_core(m, w), c)
        gain(out, 13, cross_core(d0, b0), c)
        gain(out, 16, A, c)
        gain(out, 13 + a, cross_core(d, bi), -c)
        turning(h, a, half_trace_minus(triple(p, _J + 3 * i), d, M), E, out)
        # slopes of w: along g by W0 (eta_0), hat(w) (eta_i); along f by Rt (dx), Z (zeta_0)
        Rt = transpose_core(R)
        S = product_core(Rt, R0)
        W0, D0 = product_core(S, hat((-e0[0], -e0[1], -e0[2]))), hat(d0)
        Z = product_core(product_core(S, transpose_core(F0t)), hat((-d0[0], -d0[1], -d0[2])))
        W, D = hat(w), hat(d)
        RM = transpose_core(scale_rows(M, Rt))  # R M
        N = product_core(D0, product_core(F0t, transpose_core(S)))  # hat(d0) F0' R0' R
        NM = transpose_core(scale_rows(M, transpose_core(N)))
        FD = product_core(F, D)
        # row zeta_0
        put(out, 25, 0, 0, product_core(D0, product_core(F0t, hat(a0))), c)
        put(out, 25, 0, 0, product_core(NM, W0), c)
        put(out, 25, 0, a, product_core(N, hat(m)), -c)
        put(out, 25, 0, a, product_core(NM, W), c)
        put(out, 169, 0, 0, product_core(D0, hat(b0)), c)
        put(out, 169, 0, 0, product_core(NM, Z), c)
        cross = product_core(NM, Rt)
        put(out, 169, 0, 3, cross, c)
        put(out, 169, 3, 0, transpose_core(cross), c)
        cross = product_core(NM, FD)
        put(out, 169, 0, a, cross, c)
        put(out, 169, a, 0, transpose_core(cross), c)
        # row dx
        put(out, 25, 3, 0, product_core(RM, W0), c)
        put(out, 25, 3, a, product_core(R, hat(m)), -c)
        put(out, 25, 3, a, product_core(RM, W), c)
        put(out, 169, 3, 3, product_core(RM, Rt), c)
        cross = product_core(RM, FD)
        put(out, 169, 3, a, cross, c)
        put(out, 169, a, 3, transpose_core(cross), c)
        # row zeta_i: slope -hat(d) F' M w
        FM = transpose_core(scale_rows(M, FD))  # -hat(d) F' M, since hat(d)' = -hat(d)
        put(out, 25, a, 0, product_core(FM, W0), c)
        put(out, 25, a, a, product_core(FM, W), c)
        put(out, 169, a, a, product_core(D, hat(bi)), -c)
    return out


@jit
def joint_forces(t, z, p):
    """The joints' torques -tau_1 - tau_2 on body 0 and R_i' R_0 tau_i on body i; tau in the frame of body 0."""
    out = np.zeros(12 + 288)
    R0 = rotation_of(z, 0)
    for i in range(1, 3):
        s = np.sin(2.0 * np.pi * p[36] * t + p[36 + i])
        k = 27 + 3 * i
        torque = (s * p[k], s * p[k + 1], s * p[k + 2])
        R = rotation_of(z, 3 + 9 * i)
        own = back_core(R, mul_core(R0, torque))
        gain(out, 0, torque, -1.0)
        gain(out, 3 + 3 * i, own, 1.0)
        # own turns by own x eta_i and by -R_i' R_0 hat(tau) eta_0
        a = 3 + 3 * i
        put(out, 12, a, a, hat(own), 1.0)
        put(out, 12, a, 0, product_core(product_core(transpose_core(R), R0), hat(torque)), -1.0)
    return out
