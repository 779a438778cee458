"""SO(3) on values: the maps from rotation vectors to rotations and their tangents, for the formulas of the methods."""

from __future__ import annotations

from ..core.jit import inner, jit, lent
from ..core.round_off import mend
from ..core.values import ONE, cross, cubic, dot, hat, mat3, outer, store
from .scalars import cinv, cosc, dcinv, sinc3, sinc_cosc


@jit
def exp(x):
    """exp(x), with a = sin|x|/|x| and b = (1 - cos|x|)/|x|^2 (Rodrigues)"""
    a, b = sinc_cosc(dot(x, x))
    return cubic(x, 1.0, a, b)  # 1 + a hat(x) + b hat(x)^2: ortolan (2.6)


@jit
def cay(x):
    """(1 - hat(x)/2)^-1 (1 + hat(x)/2)"""
    f = 1.0 / (1.0 + 0.25 * dot(x, x))
    return cubic(x, 1.0, f, 0.5 * f)


@jit
def turn(use_cay, x):
    """The rotation cay(x) or exp(x)."""
    return cay(x) if use_cay else exp(x)


@inner
def dexp(x):
    """dexp_x = 1 + c1 hat(x) + c2 hat(x)^2, c1 = (1 - cos a)/a^2, c2 = (a - sin a)/a^3, a = |x|, right-trivialised"""
    c1, c2 = cosc(dot(x, x)), sinc3(dot(x, x))
    return cubic(x, 1.0, c1, c2)  # 1 + c1 hat(x) + c2 hat(x)^2: celledoni (7)


@jit
def dexp_left(x):
    """B = dexp_{-x}, left-trivialised: exp(x + d) = exp(x) exp(B d) to first order."""
    return dexp(-x)


@jit
def dcay(x):
    """dcay_x = (1 + hat(x)/2)/(1 + |x|^2/4), right-trivialised"""
    f = 1.0 / (1.0 + 0.25 * dot(x, x))
    return cubic(x, f, 0.5 * f, 0.0)


@jit
def dcay_left(x):
    """B = dcay_{-x}, left-trivialised: cay(x + d) = cay(x) exp(B d) to first order."""
    return dcay(-x)


@jit
def tangent(use_cay, x):
    """The left-trivialised tangent of `turn`."""
    return dcay_left(x) if use_cay else dexp_left(x)


@jit
def dexpinv(x):
    """dexpinv_x = 1 - hat(x)/2 + c hat(x)^2, right-trivialised"""
    c = cinv(dot(x, x))  # (1 - z/2 cot z/2)/z^2, z = |x|
    return cubic(x, 1.0, -0.5, c)


@jit
def dcayinv(x):
    """dcayinv_x = 1 - hat(x)/2 + x x^T/4, right-trivialised"""
    return cubic(x, 1.0 + 0.25 * dot(x, x), -0.5, 0.25)


@jit
def dtauinv(use_cay, x):
    """The inverse of dtau_x (right-trivialised)."""
    return dcayinv(x) if use_cay else dexpinv(x)


# Of one vector the same again: two cross products cost less than the matrix.
@jit
def dexpinv_times(u, v):
    """dexpinv_u v = v - [u, v]/2 + c [u, [u, v]], where [u, v] = u cross v"""
    c = cinv(dot(u, u))  # (1 - a/2 cot a/2)/a^2, a = |u|
    return v - 0.5 * cross(u, v) + c * cross(u, cross(u, v))  # celledoni 2.2


@jit
def dcayinv_times(x, v):
    """dcayinv_x v = v - [x, v]/2 + x (x . v)/4"""
    return v - 0.5 * cross(x, v) + 0.25 * dot(x, v) * x


@jit
def dtauinv_times(use_cay, x, v):
    """dtauinv_x v"""
    return dcayinv_times(x, v) if use_cay else dexpinv_times(x, v)


@jit
def dtauinv_slope(use_cay, x, m):
    """The matrix D with d/ds dtauinv_{x + s d}^T m = D d."""
    if use_cay:
        return 0.25 * (outer(x, m) + dot(x, m) * ONE) - 0.5 * hat(m)
    s, xm = dot(x, x), cross(x, m)
    turned = hat(xm) + hat(x) @ hat(m)
    return 2.0 * dcinv(s) * outer(cross(x, xm), x) - cinv(s) * turned - 0.5 * hat(m)


@jit
def rotate(y, F, y_new):
    """R1 = R F: the rotation in the first nine entries of y, turned, into y_new and brought back onto SO(3)."""
    y, y_new = lent(y), lent(y_new)
    store(mat3(y, 0) @ F, y_new, 0)
    mend(y_new, 0, 3)
