"""The discrete Lagrangian of lee (30) for three connected bodies, with its first and second derivatives.

With E_i = F_i - 1, formed directly, and for the bodies i = 1, 2 of the joints

    A_i = R_i M_i (R_i^T B_i - E_i d_i0)                                                                 lee (35)
    B_i = dx + R_0 E_0 d_0i                                                                               lee (36)

it is  h Ld = V_0 . M_0 V_0 / 2 + sum_i (V_i . M_i V_i - E_i d_i0 . M_i E_i d_i0) / 2 + sum_j tr((1 - F_j) Jd_j)
where V_0 = R_0^T dx and V_i = R_i^T B_i - E_i d_i0. All R_j are those at the left end, which makes the method first
order. Slopes: lee (37)-(41). The method of the paper is LGVI1; LGVI is half a step of its adjoint, then half one of it.

From g = (R_0, x, R_1, R_2) and the momenta mu = (p_0, p_x, p_1, p_2) a step solves for f = (F_0, dx, F_1, F_2) the
discrete Legendre transform, in `methods.variational_equations.given` the residual mu + Ld_g - Ad*_{f^-1} Ld_f:

    h p_0 = (F_0 Jd_0 - Jd_0 F_0^T)^v - (M_0 V_0) x V_0 + sum_i d_0i x R_0^T A_i                          lee (48)
    h p_i = (F_i Jd_i - Jd_i F_i^T)^v - (F_i d_i0) x (M_i R_i^T B_i) - R_i^T (A_i x B_i)     lee (49), without its 1/h
    h p_x = R_0 M_0 V_0 + A_1 + A_2                                                                       lee (50)

and moves by R_j -> R_j F_j, x -> x + dx, lee (51)-(53). The new momenta are the slopes Ld_f, at R_0 F_0 for body 0:

    h p_0 = (Jd_0 F_0 - F_0^T Jd_0)^v + sum_i d_0i x (R_0 F_0)^T A_i                                      lee (54)
    h p_i = (Jd_i F_i - F_i^T Jd_i)^v - d_i0 x (F_i^T M_i R_i^T B_i),    p_x as before              lee (55), (56)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import jit, lent
from ..core.values import (
    ONE,
    ZERO,
    Mat3,
    Vec3,
    axial,
    cross,
    cubic,
    diag,
    dot,
    hat,
    mat3,
    scale_columns,
    scale_rows,
    store,
    trace,
    transpose,
    vec3,
)
from ..groups.scalars import sinc_cosc

# What a discrete Lagrangian returns (see `formulations.lagrangian`): Ld, its slopes in g and f (12 each), then how the
# slope in f moves along g and along f (12 x 12 each). The twelve: the turn of body 0, dx, the turns of bodies 1 and 2.
_G, _F, _FG, _FF = 1, 13, 25, 169
_DX = 3


class Body(NamedTuple):
    """One body: attitude at the left end, diagonals of masses and moments, its turn less 1, and the joint's arms."""

    R: Mat3
    M: Vec3
    Jd: Mat3
    E: Mat3
    d0: Vec3  # d_0i, from body 0 to the joint, in the frame of that
    d: Vec3  # d_i0, from body i to the joint, in the frame of this
    row: int  # of its turn among the twelve


@jit
def rotation_minus_one(x):
    """exp(x) - 1, without cancellation"""
    a, b = sinc_cosc(dot(x, x))
    return cubic(x, 0.0, a, b)


@jit
def half_trace_minus(J, d, M):
    """Jd = tr(J')/2 - J' for J' = diag(J) - hat(d) diag(M) hat(d): lee (31), (32)."""
    K = diag(J) - hat(d) @ scale_rows(M, hat(d))
    return 0.5 * trace(K) * ONE - K


@jit
def body_of(z, p, i):
    """Body i of the point z = (g, f), g = (R_0, x, R_1, R_2), and of p: see `connected_bodies`."""
    z, p = lent(z), lent(p)
    M, J = vec3(p, 3 * i), vec3(p, 9 + 3 * i)
    if i == 0:
        Jd = half_trace_minus(J, ZERO, M)
        return Body(mat3(z, 0), M, Jd, rotation_minus_one(vec3(z, 30)), ZERO, ZERO, 0)
    d0, d, row = vec3(p, 15 + 3 * i), vec3(p, 21 + 3 * i), 3 + 3 * i
    E = rotation_minus_one(vec3(z, 30 + row))
    return Body(mat3(z, 3 + 9 * i), M, half_trace_minus(J, d, M), E, d0, d, row)


@jit
def put(out, first, row, column, A):
    """Add A to the 3x3 block at (row, column) of the 12x12 matrix stored from `first` on."""
    out = lent(out)
    at = first + 12 * row + column
    store(mat3(out, at, 12) + A, out, at, 12)


@jit
def put_pair(out, row, column, A):
    """Add A to that block of the symmetric matrix of second derivatives in f, and its transpose across."""
    put(out, _FF, row, column, A)
    put(out, _FF, column, row, transpose(A))


@jit
def turned(h, b):
    """The part tr((1 - F) Jd)/h of one body: its value, its slope (Jd F - F^T Jd)^v/h, and how that moves along f.

    N = Jd E: Jd is symmetric, so Jd F has the same antisymmetric part. The slope moves by tr(Jd F) - (Jd F)^T.
    """
    N = b.Jd @ b.E
    JF = N + b.Jd
    L_F = axial(N) / h  # (Jd F - F^T Jd)^v / h: lee (37), (38)
    return -trace(N) / h, L_F, 1.0 / h * (trace(JF) * ONE - transpose(JF))


@jit
def discrete_lagrangian(h, z, p):
    """Ld, its slopes Ld_g, Ld_f (12 each), and the derivatives of the latter in g and in f (12, 12 each).

    mu = Ad*_{f^-1} Ld_f - Ld_g is lee (48)-(50), the new mu is Ld_f, lee (54)-(56).
    """
    out = np.zeros(313)
    c, dx = 1.0 / h, vec3(z, 33)
    zero = body_of(z, p, 0)
    R0, M0, E0 = zero.R, zero.M, zero.E
    F0, V0 = E0 + ONE, transpose(R0) @ dx
    m0 = M0 * V0
    Ld = 0.5 * c * dot(V0, m0)
    L_R0 = c * cross(m0, V0)  # lee (40)
    L_dx = c * (R0 @ m0)  # lee (39)
    value, L_F0, moves = turned(h, zero)  # lee (37)
    Ld += value
    put(out, _FF, 0, 0, moves)
    put(out, _FG, _DX, 0, c * (R0 @ scale_rows(M0, hat(V0)) - R0 @ hat(m0)))
    put(out, _FF, _DX, _DX, c * (R0 @ scale_rows(M0, transpose(R0))))
    for i in range(1, 3):
        b = body_of(z, p, i)
        R, M, E, d0, d, F = b.R, b.M, b.E, b.d0, b.d, b.E + ONE
        B = dx + R0 @ (E0 @ d0)  # lee (36)
        w, e = transpose(R) @ B, E @ d
        m = M * (w - e)
        A = R @ m  # R M (R^T B - E d): lee (35)
        L_R0 += c * cross(E0 @ d0, transpose(R0) @ A)  # lee (40)
        L_F0 += c * cross(d0, transpose(F0) @ (transpose(R0) @ A))  # lee (37)
        L_dx += c * A  # lee (39)
        L_R = c * cross(m, w)  # lee (41): R^T (A x B)
        value, L_F, moves = turned(h, b)
        L_F -= c * cross(d, transpose(F) @ (M * w))  # lee (38)
        Ld += 0.5 * c * (dot(w - e, m) - dot(e, M * e)) + value
        store(L_R, out, _G + b.row)
        store(L_F, out, _F + b.row)
        put(out, _FF, b.row, b.row, moves)
        second_derivatives(out, c, R0, F0, E0 @ d0, b, w, m)
    store(L_R0, out, _G)
    store(L_F0, out, _F)
    store(L_dx, out, _F + _DX)
    out[0] = Ld
    return out


@jit
def second_derivatives(out, c, R0, F0, e0, b, w, m):
    """How the slopes in zeta_0, dx, zeta_i (of f) move through A_i, B_i of body i, along eta_0, eta_i (of g) and f.

    They are N m, R m = A and -hat(d) F^T M w, with S = R^T R_0, N = hat(d0) F0^T S^T, e0 = E_0 d_0i. What moves is

        w = R^T B        by   W0 eta_0 + W eta_i + R^T dx + Z zeta_0,   W0 = -S hat(e0), W = hat(w), Z = -S F0 hat(d0)
        m = M (w - E d)  by   M times that + M FD zeta_i,               FD = F hat(d)
        N in N m         by   hat(d0) F0^T hat(a0) eta_0 - N hat(m) eta_i + hat(d0) hat(b0) zeta_0
        R in R m         by   -R hat(m) eta_i
        F in the last    by   -hat(d) hat(bi) zeta_i

    with a0 = R_0^T A = S^T m, b0 = F0^T a0, bi = F^T M w.
    """
    out = lent(out)
    R, M, d0, d, row, F = b.R, b.M, b.d0, b.d, b.row, b.E + ONE
    S = transpose(R) @ R0
    W0, W, Z = S @ hat(-e0), hat(w), S @ F0 @ hat(-d0)
    a0 = transpose(S) @ m  # R_0^T A
    b0, bi = transpose(F0) @ a0, transpose(F) @ (M * w)
    D0, D, FD, RM = hat(d0), hat(d), F @ hat(d), scale_columns(R, M)
    N = D0 @ transpose(S @ F0)  # the slope in zeta_0 is N m
    NM, FM = scale_columns(N, M), scale_columns(transpose(FD), M)  # FM = -hat(d) F^T M
    # the slope in zeta_0, hat(d_0i) F_0^T R_0^T A
    put(out, _FG, 0, 0, c * (D0 @ transpose(F0) @ hat(a0) + NM @ W0))
    put(out, _FG, 0, row, c * (NM @ W - N @ hat(m)))
    put(out, _FF, 0, 0, c * (D0 @ hat(b0) + NM @ Z))
    put_pair(out, 0, _DX, c * (NM @ transpose(R)))
    put_pair(out, 0, row, c * (NM @ FD))
    # the slope in dx, A
    put(out, _FG, _DX, 0, c * (RM @ W0))
    put(out, _FG, _DX, row, c * (RM @ W - R @ hat(m)))
    put(out, _FF, _DX, _DX, c * (RM @ transpose(R)))
    put_pair(out, _DX, row, c * (RM @ FD))
    # the slope in zeta_i, -hat(d_i0) F^T M R^T B
    put(out, _FG, row, 0, c * (FM @ W0))
    put(out, _FG, row, row, c * (FM @ W))
    put(out, _FF, row, row, -c * (D @ hat(bi)))


@jit
def joint_forces(t, z, p):
    """The joints' torques -tau_1 - tau_2 on body 0 and R_i^T R_0 tau_i on body i; tau in the frame of body 0."""
    out = np.zeros(12 + 288)
    R0 = mat3(z, 0)
    for i in range(1, 3):
        row = 3 + 3 * i
        tau = math.sin(2.0 * math.pi * p[36] * t + p[36 + i]) * vec3(p, 27 + 3 * i)
        S = transpose(mat3(z, 3 + 9 * i)) @ R0
        own = transpose(mat3(z, 3 + 9 * i)) @ (R0 @ tau)
        store(vec3(out, 0) - tau, out, 0)
        store(own, out, row)
        # own turns by own x eta_i and by -R_i^T R_0 hat(tau) eta_0
        put(out, 12, row, row, hat(own))
        put(out, 12, row, 0, -(S @ hat(tau)))
    return out
