"""Cores of SE(3): formulas on values, for the group's own kernels and for those of the actions.

Functions of ad on se(3) follow from those on so(3) by the dual number A + eps a: with
phi(ad_A) = p 1 + q hat(A) + r hat(A)^2, the lower left block is the derivative of phi in the direction a. So a
function of (A, a) and (B, b) is one of A and B, and its derivative along a and b (celledoni 2.3). Scalars are functions
of s = A . A, and their derivatives are in s: the g~ of the paper is twice that.
"""

from __future__ import annotations

from ..core.jit import jit
from ..core.values import ZEROS, cross, cubic, dot, hat, outer, store
from .rotations import dcayinv_times
from .scalars import cinv, cosc, dcinv, dcosc, dsinc3, sinc3


@jit
def translation(A, a):
    """V a with V = dexp_A: the translation of exp(A, a) (celledoni 2.3)."""
    s = dot(A, A)
    b = cross(A, a)
    return a + cosc(s) * b + sinc3(s) * cross(A, b)


@jit
def exp_se3(A, a):
    """exp(A, a) = (R, V a): the rotation and the translation, from one evaluation of the scalars."""
    s = dot(A, A)
    q, p = sinc3(s), cosc(s)
    f = 1.0 - q * s  # sin(theta)/theta, and the factor of a in a + q A x (A x a)
    r = f * a + p * cross(A, a) + q * dot(A, a) * A
    return cubic(A, 1.0, f, p), r


@jit
def dexpinv_se3(A, a, B, b):
    """(C, c) = dexpinv_(A, a) (B, b), both blocks: celledoni 2.3 with g1 = -1/2, g2 and rho g2~ of s = |A|^2."""
    s = dot(A, A)
    g2, rho_g2 = cinv(s), 2.0 * dot(A, a) * dcinv(s)  # g2, and rho g2~ with g2~ = 2 dg2/ds
    AB, d = cross(A, B), cross(a, B) + cross(A, b)
    C = B - 0.5 * AB + g2 * cross(A, AB)
    c = b - 0.5 * d + rho_g2 * cross(A, AB) + g2 * (cross(a, AB) + cross(A, d))
    return C, c


@jit
def dexpinv_blocks(A, a):
    """The blocks D and L of the matrix dexpinv_(A, a) = [[D, 0], [L, D]]."""
    s = dot(A, A)  # in place of the columns dexpinv_se3(A, a, e_k, 0), which take a fifth longer
    g1, g2 = -0.5, cinv(s)
    return tangent_blocks(A, a, 1.0, g1, g2, 0.0, dcinv(s))


@jit
def dexp_blocks(A, a):
    """The blocks D and L of the matrix dexp_(A, a) = [[D, 0], [L, D]] (celledoni 2.3)."""
    s = dot(A, A)
    g1, g2 = cosc(s), sinc3(s)
    return tangent_blocks(A, a, 1.0, g1, g2, dcosc(s), dsinc3(s))


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
def tangent_blocks(A, a, phi0, g1, g2, dg1, dg2):
    """The blocks of phi(ad_(A, a)), celledoni 2.3: with A^ = hat(A), a^ = hat(a), rho = A . a

        top = phi(0) 1 + g1 A^ + g2 A^^2,   low = g1 a^ + rho g1~ A^ + rho g2~ A^^2 + g2 (A^ a^ + a^ A^).

    g1 and g2 are functions of s = A . A, dg1 and dg2 their derivatives in it: g1~ = 2 dg1, g2~ = 2 dg2. And
    A^ a^ + a^ A^ = A a^T + a A^T - 2 rho 1.
    """
    rho2 = 2.0 * dot(A, a)
    rho_g1, rho_g2 = dg1 * rho2, dg2 * rho2  # rho g1~, rho g2~
    top = cubic(A, phi0, g1, g2)
    low = cubic(A, -g2 * rho2, rho_g1, rho_g2) + g2 * (outer(A, a) + outer(a, A)) + g1 * hat(a)
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
