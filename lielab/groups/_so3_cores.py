"""Cores of SO(3): scalars and row-major tuples, for the group's own kernels and for all that are built on them."""

from __future__ import annotations

import math

from ..core.jit import jit
from ..core.values import Vec3
from .rotations import dexpinv_times


@jit
def store(values, out):
    """Write a tuple of floats into a flat array."""
    for i in range(len(values)):
        out[i] = values[i]
    return True


@jit
def quaternion_core(R):
    """Unit quaternion (w, x, y, z) of a row-major rotation, by the largest pivot (Shepperd)."""
    trace = R[0] + R[4] + R[8]
    if trace >= max(R[0], R[4], R[8]):
        w, x, y, z = 1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    return w / norm, x / norm, y / norm, z / norm


@jit
def log_core(R):
    """Rotation vector of a row-major rotation; its length is at most pi. Exact at pi."""
    w, x, y, z = quaternion_core(R)
    n = math.sqrt(x * x + y * y + z * z)
    f = 2.0 * math.atan2(n, w) / n if n > 0.0 else 2.0 / w
    return f * x, f * y, f * z


@jit
def mul_core(g, v):
    """3x3 row-major matrix times vector."""
    return (
        g[0] * v[0] + g[1] * v[1] + g[2] * v[2],
        g[3] * v[0] + g[4] * v[1] + g[5] * v[2],
        g[6] * v[0] + g[7] * v[1] + g[8] * v[2],
    )


@jit
def transpose_core(a):
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@jit
def back_core(g, v):
    """g' v for a row-major 3x3 matrix: back through a rotation."""
    return mul_core(transpose_core(g), v)


@jit
def product_core(a, b):
    """a b of row-major 3x3 matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@jit
def cross_core(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@jit
def dexpinv_core(u, v):
    """dexpinv_u v on triples: `rotations.dexpinv_times`"""
    w = dexpinv_times(Vec3(u[0], u[1], u[2]), Vec3(v[0], v[1], v[2]))
    return w.x, w.y, w.z
