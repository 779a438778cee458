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
def discrete_lagrangian(h, z, p):
    """Ld, its slopes Ld_g, Ld_f (12 each), and the derivatives of the latter in g and in f (12, 12 each).

    mu = Ad*_{f^-1} Ld_f - Ld_g is lee (48)-(50), the new mu is Ld_f, lee (54)-(56). Of each body a = R^T A, b = R^T B.
    """
    out = np.zeros(313)
    c, dx, body = 1.0 / h, vec3(z, 33), body_of(z, p, 0)
    R0, M0, Jd0, E0 = body.R, body.M, body.Jd, body.E
    F0, V0 = E0 + ONE, transpose(R0) @ dx
    Ld = 0.5 * c * dot(V0, M0 * V0) - trace(Jd0 @ E0) / h
    L_R0 = c * cross(M0 * V0, V0)  # lee (40)
    L_F0 = axial(Jd0 @ E0) / h  # (Jd F - F^T Jd)^v / h: lee (37)
    L_dx = c * (R0 @ (M0 * V0))  # lee (39)
    second_derivatives_of_first(out, h, body, V0)
    for i in range(1, 3):
        body = body_of(z, p, i)
        R, M, Jd, E, d0, d, F = body.R, body.M, body.Jd, body.E, body.d0, body.d, body.E + ONE
        B = dx + R0 @ (E0 @ d0)  # lee (36)
        b, e = transpose(R) @ B, E @ d
        a = M * (b - e)
        A = R @ a  # R M (R^T B - E d): lee (35)
        L_R0 += c * cross(E0 @ d0, transpose(R0) @ A)  # lee (40)
        L_F0 += c * cross(d0, transpose(F0) @ (transpose(R0) @ A))  # lee (37)
        L_dx += c * A  # lee (39)
        L_R = c * cross(a, b)  # R^T (A x B): lee (41)
        L_F = axial(Jd @ E) / h - c * cross(d, transpose(F) @ (M * b))  # lee (38)
        Ld += 0.5 * c * (dot(b - e, a) - dot(e, M * e)) - trace(Jd @ E) / h
        store(L_R, out, _G + body.row)
        store(L_F, out, _F + body.row)  # p_i after the step: lee (55)
        second_derivatives(out, h, R0, F0, E0 @ d0, body, a, b)
    store(L_R0, out, _G)
    store(L_F0, out, _F)  # p_0 after the step: lee (54)
    store(L_dx, out, _F + _DX)  # p_x, before and after: lee (50), (56)
    out[0] = Ld
    return out


@jit
def turn_slope(h, body):
    """How the slope (Jd F - F^T Jd)^v / h of a body moves along its f: (tr(Jd F) - (Jd F)^T) / h."""
    JF = body.Jd @ body.E + body.Jd
    return 1.0 / h * (trace(JF) * ONE - transpose(JF))


@jit
def second_derivatives_of_first(out, h, body, V0):
    """How body 0's own parts of the slopes move: of (37) along f, of (39) along g and f."""
    c, R0, M0 = 1.0 / h, body.R, body.M
    put(out, _FF, 0, 0, turn_slope(h, body))
    put(out, _FG, _DX, 0, c * (R0 @ scale_rows(M0, hat(V0)) - R0 @ hat(M0 * V0)))
    put(out, _FF, _DX, _DX, c * (R0 @ scale_rows(M0, transpose(R0))))


@jit
def second_derivatives(out, h, R0, F0, e0, body, a, b):
    """How the slopes in zeta_0, dx, zeta_i (of f) move through A_i, B_i of body i, along eta_0, eta_i (of g) and f.

    They are N a, R a = A and -hat(d) F^T M b, with S = R^T R_0, N = hat(d0) F0^T S^T, e0 = E_0 d_0i. What moves is

        b = R^T B        by   W0 eta_0 + W eta_i + R^T dx + Z zeta_0,   W0 = -S hat(e0), W = hat(b), Z = -S F0 hat(d0)
        a = M (b - E d)  by   M times that + M FD zeta_i,               FD = F hat(d)
        N in N a         by   hat(d0) F0^T hat(a0) eta_0 - N hat(a) eta_i + hat(d0) hat(k0) zeta_0
        R in R a         by   -R hat(a) eta_i
        F in the last    by   -hat(d) hat(k) zeta_i

    with a0 = R_0^T A = S^T a, k0 = F0^T a0, k = F^T M b; and the slope in zeta_i has a part of its own, `turn_slope`.
    """
    out = lent(out)
    c, R, M, d0, d, row, F = 1.0 / h, body.R, body.M, body.d0, body.d, body.row, body.E + ONE
    S = transpose(R) @ R0
    W0, W, Z = S @ hat(-e0), hat(b), S @ F0 @ hat(-d0)
    a0 = transpose(S) @ a  # R_0^T A
    k0, k = transpose(F0) @ a0, transpose(F) @ (M * b)
    D0, D, FD, RM = hat(d0), hat(d), F @ hat(d), scale_columns(R, M)
    N = D0 @ transpose(S @ F0)  # the slope in zeta_0 is N a
    NM, FM = scale_columns(N, M), scale_columns(transpose(FD), M)  # FM = -hat(d) F^T M
    # the slope in zeta_0, hat(d_0i) F_0^T R_0^T A
    put(out, _FG, 0, 0, c * (D0 @ transpose(F0) @ hat(a0) + NM @ W0))
    put(out, _FG, 0, row, c * (NM @ W - N @ hat(a)))
    put(out, _FF, 0, 0, c * (D0 @ hat(k0) + NM @ Z))
    put_pair(out, 0, _DX, c * (NM @ transpose(R)))
    put_pair(out, 0, row, c * (NM @ FD))
    # the slope in dx, A
    put(out, _FG, _DX, 0, c * (RM @ W0))
    put(out, _FG, _DX, row, c * (RM @ W - R @ hat(a)))
    put(out, _FF, _DX, _DX, c * (RM @ transpose(R)))
    put_pair(out, _DX, row, c * (RM @ FD))
    # the slope in zeta_i, (Jd F - F^T Jd)^v - hat(d_i0) F^T M R^T B
    put(out, _FG, row, 0, c * (FM @ W0))
    put(out, _FG, row, row, c * (FM @ W))
    put(out, _FF, row, row, turn_slope(h, body))
    put(out, _FF, row, row, -c * (D @ hat(k)))


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
