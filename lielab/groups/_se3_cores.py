"""Cores of SE(3): formulas on values, for the group's own kernels and for those of the actions.

Functions of ad on se(3) follow from those on so(3) by the dual number A + eps a: with
phi(ad_A) = phi(0) 1 + g1 hat(A) + g2 hat(A)^2, the lower left block is the derivative of phi in the direction a. So a
function of (A, a) and (B, b) is one of A and B, and its derivative along a and b (celledoni 2.3). Scalars are functions
of s = A . A; g1_ and g2_ are the paper's g1~ and g2~, g~ = g'/|A| = 2 dg/ds.
"""

from __future__ import annotations

from ..core.jit import jit
from ..core.values import ZEROS, cross, cubic, dot, hat, outer, store
from .rotations import dcayinv_times
from .scalars import cinv, cosc, dcinv, dcosc, dsinc3, sinc3


@jit
def translation(A, a):
    """V a with V = dexp_A: the translation of exp(A, a)."""
    g1, g2 = cosc(dot(A, A)), sinc3(dot(A, A))  # (1 - cos z)/z^2, (1 - sin z/z)/z^2, z = |A|
    return a + g1 * cross(A, a) + g2 * cross(A, cross(A, a))  # celledoni 2.3


@jit
def exp_se3(A, a):
    """exp(A, a) = (R, V a): the rotation and the translation, from one evaluation of the scalars."""
    s = dot(A, A)
    g1, g2 = cosc(s), sinc3(s)  # as in `translation`
    f = 1.0 - g2 * s  # sin z/z
    R = cubic(A, 1.0, f, g1)  # Rodrigues
    r = f * a + g1 * cross(A, a) + g2 * dot(A, a) * A  # V a, as A x (A x a) = (A . a) A - s a
    return R, r


@jit
def dexpinv_se3(A, a, B, b):
    """(C, c) = dexpinv_(A, a) (B, b), both blocks: phi(z) = z/(e^z - 1), so that phi(0) = 1, g1 = -1/2 and g1~ = 0."""
    s, rho = dot(A, A), dot(A, a)
    g2 = cinv(s)  # (1 - z/2 cot z/2)/z^2, z = |A|
    g2_ = 2.0 * dcinv(s)  # g2~ = g2'/z
    C = B - 0.5 * cross(A, B) + g2 * cross(A, cross(A, B))  # celledoni 2.3
    c = b - 0.5 * (cross(a, B) + cross(A, b)) + rho * g2_ * cross(A, cross(A, B))  # celledoni 2.3
    c += g2 * (cross(a, cross(A, B)) + cross(A, cross(a, B) + cross(A, b)))  # celledoni 2.3
    return C, c


@jit
def dexpinv_blocks(A, a):
    """The blocks D and L of the matrix dexpinv_(A, a) = [[D, 0], [L, D]]."""
    s = dot(A, A)  # in place of the columns dexpinv_se3(A, a, e_k, 0), which take a fifth longer
    g1, g2, g1_, g2_ = -0.5, cinv(s), 0.0, 2.0 * dcinv(s)
    return tangent_blocks(A, a, 1.0, g1, g2, g1_, g2_)


@jit
def dexp_blocks(A, a):
    """The blocks D and L of the matrix dexp_(A, a) = [[D, 0], [L, D]] (celledoni 2.3).

    phi(z) = (e^z - 1)/z, so phi(iz) = sin z/z + i (1 - cos z)/z: g1 = (1 - cos z)/z^2, g2 = (1 - sin z/z)/z^2, z = |A|.
    """
    s = dot(A, A)
    g1, g2, g1_, g2_ = cosc(s), sinc3(s), 2.0 * dcosc(s), 2.0 * dsinc3(s)
    return tangent_blocks(A, a, 1.0, g1, g2, g1_, g2_)


@jit
def cay_translation(A, a):
    """(1 - hat(A)/2)^-1 a: the translation of the Cayley map of the 4x4 matrix of (A, a)."""
    f = 1.0 / (1.0 + 0.25 * dot(A, A))
    return f * (a + 0.5 * cross(A, a) + 0.25 * dot(A, a) * A)


@jit
def dcayinv_se3(A, a, B, b):
    """Inverse of dcay on the 4x4 matrices, (1 - X/2) Y (1 + X/2): both blocks."""
    low = b - 0.5 * (cross(A, b) - cross(B, a)) - 0.25 * cross(A, cross(B, a))
    return dcayinv_times(A, B), low


@jit
def tangent_blocks(A, a, phi0, g1, g2, g1_, g2_):
    """The blocks of phi(ad_(A, a)), so that (C, c) = (top B, low B + top b) in celledoni 2.3.

    With hat(A) B in place of A x B, and rho = A . a

        top = phi(0) 1 + g1 hat(A) + g2 hat(A)^2
        low = g1 hat(a) + rho g1~ hat(A) + rho g2~ hat(A)^2 + g2 (hat(A) hat(a) + hat(a) hat(A))

    where hat(A) hat(a) + hat(a) hat(A) = A a^T + a A^T - 2 rho 1, and cubic(A, x, y, z) = x 1 + y hat(A) + z hat(A)^2.
    """
    rho, both = dot(A, a), outer(A, a) + outer(a, A)  # hat(A) hat(a) + hat(a) hat(A) + 2 rho 1
    top = cubic(A, phi0, g1, g2)  # C = top B: celledoni 2.3
    # c = low B + top b; what stands before 1 takes the 2 rho off `both`
    low = cubic(A, -2.0 * rho * g2, rho * g1_, rho * g2_) + g2 * both + g1 * hat(a)  # celledoni 2.3
    return top, low


@jit
def store_blocks(top, low, bottom, out):
    """[[top, 0], [low, bottom]] into a flat 6x6 matrix."""
    store(top, out, 0, 6)
    store(ZEROS, out, 3, 6)
    store(low, out, 18, 6)
    store(bottom, out, 21, 6)
    return True


@jit
def store_Ad(R, r, out):
    """Ad_(R, r) = [[R, 0], [hat(r) R, R]] into a flat 6x6 matrix."""
    return store_blocks(R, hat(r) @ R, R, out)


@jit
def store_ad(A, a, out):
    """ad_(A, a) = [[hat(A), 0], [hat(a), hat(A)]] into a flat 6x6 matrix."""
    return store_blocks(hat(A), hat(a), hat(A), out)


@jit
def store_rigid(R, r, out):
    """The homogeneous matrix of R and r."""
    store(R, out, 0, 4)
    out[3], out[7], out[11] = r.x, r.y, r.z
    out[12], out[13], out[14], out[15] = 0.0, 0.0, 0.0, 1.0
    return True


@jit
def rotation_core(g):
    """The row-major rotation in a homogeneous matrix."""
    return (g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10])
