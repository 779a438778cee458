"""Cores of SE(3): scalars and tuples, for the group's own kernels and for those of the actions.

Functions of ad on se(3) follow from those on so(3) by the dual number A + eps a: with
phi(ad_A) = p 1 + q hat(A) + r hat(A)^2, the lower left block is the derivative of phi in the direction a.
"""

from __future__ import annotations

from ..core.jit import jit
from ._so3_cores import cross_core, cubic_core, dcayinv_core
from .scalars import cinv, cosc, dcinv, sinc3


@jit
def translation_core(A, a):
    """V a with V = dexp_A: the translation of exp(A, a) (celledoni 2.3)."""
    s = A[0] * A[0] + A[1] * A[1] + A[2] * A[2]
    b = cross_core(A, a)
    c = cross_core(A, b)
    p, q = cosc(s), sinc3(s)
    return (a[0] + p * b[0] + q * c[0], a[1] + p * b[1] + q * c[1], a[2] + p * b[2] + q * c[2])


@jit
def exp_se3_core(A, a):
    """exp(A, a) = (R, V a): the row-major rotation and the translation, from one evaluation of the scalars."""
    s = A[0] * A[0] + A[1] * A[1] + A[2] * A[2]
    q = sinc3(s)
    p = cosc(s)
    b = cross_core(A, a)
    d = q * (A[0] * a[0] + A[1] * a[1] + A[2] * a[2])
    f = 1.0 - q * s  # sin(theta)/theta, and the factor of a in a + q A x (A x a)
    return cubic_core(A[0], A[1], A[2], 1.0, f, p), (
        f * a[0] + p * b[0] + d * A[0],
        f * a[1] + p * b[1] + d * A[1],
        f * a[2] + p * b[2] + d * A[2],
    )


@jit
def dexpinv_se3_core(A, a, B, b):
    """dexpinv_(A, a) (B, b): both blocks, as two tuples."""
    s = A[0] * A[0] + A[1] * A[1] + A[2] * A[2]
    c, d = cinv(s), dcinv(s)
    AB = cross_core(A, B)
    Ab = cross_core(A, b)
    aB = cross_core(a, B)
    # Double brackets by x x (y x z) = y (x . z) - z (x . y).
    p = A[0] * B[0] + A[1] * B[1] + A[2] * B[2]
    q = A[0] * b[0] + A[1] * b[1] + A[2] * b[2] + a[0] * B[0] + a[1] * B[1] + a[2] * B[2]
    r = 2.0 * (A[0] * a[0] + A[1] * a[1] + A[2] * a[2])
    x = c * q + d * r * p  # of A
    y = c * r + d * r * s  # of -B
    return (
        B[0] - 0.5 * AB[0] + c * (A[0] * p - B[0] * s),
        B[1] - 0.5 * AB[1] + c * (A[1] * p - B[1] * s),
        B[2] - 0.5 * AB[2] + c * (A[2] * p - B[2] * s),
    ), (
        b[0] - 0.5 * (Ab[0] + aB[0]) + x * A[0] + c * (p * a[0] - s * b[0]) - y * B[0],
        b[1] - 0.5 * (Ab[1] + aB[1]) + x * A[1] + c * (p * a[1] - s * b[1]) - y * B[1],
        b[2] - 0.5 * (Ab[2] + aB[2]) + x * A[2] + c * (p * a[2] - s * b[2]) - y * B[2],
    )


@jit
def cay_translation_core(A, a):
    """(1 - hat(A)/2)^-1 a: the translation of the Cayley map of the 4x4 matrix of (A, a)."""
    s = 0.25 * (A[0] * A[0] + A[1] * A[1] + A[2] * A[2])
    d = 0.25 * (A[0] * a[0] + A[1] * a[1] + A[2] * a[2])
    b = cross_core(A, a)
    f = 1.0 / (1.0 + s)
    return (
        f * (a[0] + 0.5 * b[0] + d * A[0]),
        f * (a[1] + 0.5 * b[1] + d * A[1]),
        f * (a[2] + 0.5 * b[2] + d * A[2]),
    )


@jit
def dcayinv_se3_core(A, a, B, b):
    """Inverse of dcay on the 4x4 matrices, (1 - X/2) Y (1 + X/2): both blocks, as two tuples."""
    top = dcayinv_core(A, B)
    Ab = cross_core(A, b)
    Ba = cross_core(B, a)
    ABa = cross_core(A, Ba)
    return top, (
        b[0] - 0.5 * (Ab[0] - Ba[0]) - 0.25 * ABa[0],
        b[1] - 0.5 * (Ab[1] - Ba[1]) - 0.25 * ABa[1],
        b[2] - 0.5 * (Ab[2] - Ba[2]) - 0.25 * ABa[2],
    )


@jit
def tangent_core(A, a, c0, c1, c2, d1, d2):
    """phi(ad_(A, a)) as two row-major 3x3 blocks, the diagonal one and the lower left one.

    On so(3) phi(ad_A) = c0 1 + c1 hat(A) + c2 hat(A)^2; d1, d2 are the derivatives of c1, c2 in |A|^2.
    """
    x, y, z = A
    top = cubic_core(x, y, z, c0, c1, c2)
    rho = 2.0 * (x * a[0] + y * a[1] + z * a[2])
    # hat(a) hat(A) + hat(A) hat(a) = a A' + A a' - 2 (A . a) 1
    p = cubic_core(x, y, z, -c2 * rho, rho * d1, rho * d2)
    low = (
        p[0] + c2 * 2.0 * x * a[0],
        p[1] + c2 * (x * a[1] + y * a[0]) - c1 * a[2],
        p[2] + c2 * (x * a[2] + z * a[0]) + c1 * a[1],
        p[3] + c2 * (x * a[1] + y * a[0]) + c1 * a[2],
        p[4] + c2 * 2.0 * y * a[1],
        p[5] + c2 * (y * a[2] + z * a[1]) - c1 * a[0],
        p[6] + c2 * (x * a[2] + z * a[0]) - c1 * a[1],
        p[7] + c2 * (y * a[2] + z * a[1]) + c1 * a[0],
        p[8] + c2 * 2.0 * z * a[2],
    )
    return top, low


@jit
def store_blocks(top, low, out):
    """[[top, 0], [low, top]] into a flat 6x6 matrix."""
    for i in range(3):
        for j in range(3):
            out[6 * i + j] = top[3 * i + j]
            out[6 * i + 3 + j] = 0.0
            out[18 + 6 * i + j] = low[3 * i + j]
            out[21 + 6 * i + j] = top[3 * i + j]
    return True


@jit
def store_rigid(R, r, out):
    """The homogeneous matrix of R and r."""
    for i in range(3):
        for j in range(3):
            out[4 * i + j] = R[3 * i + j]
        out[4 * i + 3] = r[i]
        out[12 + i] = 0.0
    out[15] = 1.0
    return True


@jit
def rotation_core(g):
    """The row-major rotation in a homogeneous matrix."""
    return (g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10])


@jit
def transpose_in_place(out):
    """A flat 6x6 matrix becomes its transpose."""
    for i in range(6):
        for j in range(i):
            out[6 * i + j], out[6 * j + i] = out[6 * j + i], out[6 * i + j]
    return True


@jit
def store_block_diagonal(top, low, out):
    """[[top, 0], [0, low]] into a flat 6x6 matrix."""
    for i in range(3):
        for j in range(3):
            out[6 * i + j] = top[3 * i + j]
            out[6 * i + 3 + j] = 0.0
            out[18 + 6 * i + j] = 0.0
            out[21 + 6 * i + j] = low[3 * i + j]
