"""Cores of canonical coordinates of the second kind on SO(3) and SE(3), products of one-parameter subgroups.

    SO(3): ccsk(u) = exp(u_1 e_1) exp(u_2 e_2) exp(u_3 e_3)
    SE(3): ccsk(u) = exp(u_1 e_1) ... exp(u_6 e_6), the rotations first: (R, R a)

The tangent maps are right-trivialised, d/dt ccsk(u) = hat(dccsk_u u') ccsk(u): the columns are Ad of the factors
to the left, applied to e_k. Singular where u_2 = +-pi/2. Source: celledoni 2.3 names them; Owren & Marthinsen 2001.
"""

from __future__ import annotations

import math

from ..core.jit import jit

SINGULAR = "coordinates of the second kind are singular where u_2 is pi/2 or -pi/2; use log, or smaller steps"
# |cos u_2| from here on counts as zero: the inverse tangent would only amplify round-off.
SMALLEST_COSINE = 1e-15


@jit
def ccsk_core(x, y, z):
    """R_1(x) R_2(y) R_3(z), row-major."""
    ca, sa, cb, sb = math.cos(x), math.sin(x), math.cos(y), math.sin(y)
    cc, sc = math.cos(z), math.sin(z)
    return (
        cb * cc,
        -cb * sc,
        sb,
        ca * sc + sa * sb * cc,
        ca * cc - sa * sb * sc,
        -sa * cb,
        sa * sc - ca * sb * cc,
        sa * cc + ca * sb * sc,
        ca * cb,
    )


@jit
def ccskinv_core(R):
    """The three angles, and the cosine of the second."""
    x = math.atan2(-R[5], R[8])
    z = math.atan2(-R[1], R[0])
    cosine = math.hypot(R[0], R[1])
    return x, math.atan2(R[2], cosine), z, cosine


@jit
def dccsk_core(x, y):
    """Columns e_1, R_1 e_2, R_1 R_2 e_3."""
    ca, sa, cb, sb = math.cos(x), math.sin(x), math.cos(y), math.sin(y)
    return (1.0, 0.0, sb, 0.0, ca, -sa * cb, 0.0, sa, ca * cb)


@jit
def dccskinv_core(x, y):
    """Inverse of dccsk_core, and the cosine that it divides by."""
    ca, sa, cb, sb = math.cos(x), math.sin(x), math.cos(y), math.sin(y)
    t = sb / cb
    return (1.0, t * sa, -t * ca, 0.0, ca, sa, 0.0, -sa / cb, ca / cb), cb
