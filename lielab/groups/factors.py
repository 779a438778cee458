"""Kernels for a product of SO(3), SE(3) and R^n factors: the group of a variational integrator.

A product is an int64 array of codes: `SO3`, `SE3`, or n > 0 for R^n. Its elements are flat: nine numbers row-major for
SO(3), rotation (9) and translation (3) for SE(3), n for R^n; algebra and dual vectors are concatenated, on SE(3)
rotation (moment) first. tau is exp or the Cayley map, and everything is in the convention of the package:
right-trivialised dtau, <Ad*_g m, v> = <m, Ad_g v>. Matrices are block diagonal, and the products here use that.
Each kernel walks over the factors by itself: one that is handed what to do would be compiled anew for each anyway.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from ..core.jit import begin, inner, jit, lent
from ..core.round_off import mend
from ..core.values import ZERO, Vec3, cross, dot, hat, mat3, store, transpose, vec3
from ._se3_cores import cay_translation, dcayinv_se3, dexpinv_se3, translation
from .rotations import dtauinv_times, turn
from .scalars import cinv, dcinv, ddcinv

SO3, SE3 = 0, -1


def point_size(factors: np.ndarray) -> int:
    """Length of an element."""
    return int(sum({SO3: 9, SE3: 12}.get(int(k), int(k)) for k in factors))


def algebra_size(factors: np.ndarray) -> int:
    """Dimension of the group."""
    return int(sum({SO3: 3, SE3: 6}.get(int(k), int(k)) for k in factors))


@inner
def sizes(code):
    """Lengths of an element and of an algebra vector of one factor."""
    if code == SO3:
        return 9, 3
    if code == SE3:
        return 12, 6
    return code, code


# On tuples, for kernels that are written so.
@inner
def triple(v, i):
    return (v[i], v[i + 1], v[i + 2])


@inner
def matrix(g, i):
    """The row-major 3x3 matrix that begins at entry i."""
    return (g[i], g[i + 1], g[i + 2], g[i + 3], g[i + 4], g[i + 5], g[i + 6], g[i + 7], g[i + 8])


@inner
def add(a, x, b):
    """a + x b"""
    return (a[0] + x * b[0], a[1] + x * b[1], a[2] + x * b[2])


@inner
def unit(i):
    """The unit vector i = 0, 1, 2."""
    return Vec3(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@inner
def put_row(v, out, i, j):
    """Write v into row i of a matrix, from column j on."""
    out[i, j], out[i, j + 1], out[i, j + 2] = v.x, v.y, v.z


@inner
def put_column(v, out, i, j):
    """Write v into column j of a matrix, from row i on."""
    out[i, j], out[i + 1, j], out[i + 2, j] = v.x, v.y, v.z


@inner
def put_block(M, out, i, j):
    """Write a 3x3 matrix into a larger one, from row i and column j on."""
    put_row(Vec3(M.xx, M.xy, M.xz), out, i, j)
    put_row(Vec3(M.yx, M.yy, M.yz), out, i + 1, j)
    put_row(Vec3(M.zx, M.zy, M.zz), out, i + 2, j)


@inner
def shift(cay, A, a):
    """The translation of tau(A, a)."""
    return cay_translation(A, a) if cay else translation(A, a)


def on_rows(product: Callable) -> Callable:
    """The kernel out = product(g, v) for each v of n vectors that follow each other from entry k on."""

    @inner
    def kernel(g, n, y, k, out):
        for m in range(k, k + 3 * n, 3):
            store(product(g, vec3(y, m)), out, m)

    return kernel


def on_columns(product: Callable) -> Callable:
    """The kernel out = product(g, v) for each column v of the 3 x n matrix, row-major, that begins at entry k."""

    @inner
    def kernel(g, n, y, k, out):
        for m in range(k, k + n):
            v = product(g, Vec3(y[m], y[m + n], y[m + 2 * n]))
            out[m], out[m + n], out[m + 2 * n] = v.x, v.y, v.z

    return kernel


# Of a rotation R: R g', g R, -R hat(g) and hat(g) R.
turn_rows, turn_columns = on_rows(operator.matmul), on_columns(operator.matmul)
cross_rows, cross_columns = on_rows(cross), on_columns(cross)


@inner
def dtauinv_se3(cay, A, a, B, b):
    """dtauinv_(A, a) (B, b) on se(3): both halves"""
    return dcayinv_se3(A, a, B, b) if cay else dexpinv_se3(A, a, B, b)


@jit
def move(factors, cay, g, x, out):
    """out = g tau(x), rotations kept on SO(3): equal turns round the same way each time and would walk off."""
    i, k, _ = begin()
    for code in factors:
        points, n = sizes(code)
        if code > 0:
            for j in range(n):
                out[i + j] = g[i + j] + x[k + j]
        else:
            A, R = vec3(x, k), mat3(g, i)
            if code == SE3:
                store(vec3(g, i + 9) + R @ shift(cay, A, vec3(x, k + 3)), out, i + 9)
            store(R @ turn(cay, A), out, i)
            mend(out, i, 3)
        i, k = i + points, k + n


@jit
def coAd_of(code, cay, x, m, k, out):
    """Entries k ... of out = Ad*_{tau(x)} m, for the one factor whose entries begin there."""
    x, m, out = lent(x), lent(m), lent(out)
    if code > 0:
        for j in range(k, k + code):
            out[j] = m[j]
    else:
        A, top = vec3(x, k), vec3(m, k)
        F = turn(cay, A)
        if code == SE3:
            force = vec3(m, k + 3)
            top += cross(force, shift(cay, A, vec3(x, k + 3)))
            store(transpose(F) @ force, out, k + 3)
        store(transpose(F) @ top, out, k)


@jit
def coAd(factors, cay, x, m, out):
    """out = Ad*_{tau(x)} m, the transpose of Ad"""
    k, _, _ = begin()
    for code in factors:
        coAd_of(code, cay, x, m, k, out)
        k += sizes(code)[1]


@jit
def coAd_inverse(factors, cay, x, m, out):
    """out = Ad*_{tau(x)^-1} m"""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        if code > 0:
            for j in range(n):
                out[k + j] = m[k + j]
        else:
            A = vec3(x, k)
            F = turn(cay, A)
            top = F @ vec3(m, k)
            if code == SE3:
                force = F @ vec3(m, k + 3)
                top += cross(shift(cay, A, vec3(x, k + 3)), force)
                store(force, out, k + 3)
            store(top, out, k)
        k += n


@inner
def pull_core(cay, A, m):
    """dtauinv_A' m on so(3), where the transpose is the value at -A"""
    return dtauinv_times(cay, -A, m)


@jit
def pull_se3_core(cay, A, a, m, f):
    """dtauinv_(A, a)' (m, f) on se(3): both halves"""
    if not cay:
        # The blocks of exp are [[D, 0], [L, D]], and their transposes the values at (-A, -a).
        low, top = dexpinv_se3(-A, -a, f, m)
        return top, low
    Af = cross(A, f)
    moved = cross(a, f) + 0.5 * cross(a, Af)
    return pull_core(cay, A, m) + 0.5 * moved, f + 0.5 * Af


@jit
def pull(factors, cay, x, m, out):
    """out = dtauinv_x' m"""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        if code > 0:
            for j in range(n):
                out[k + j] = m[k + j]
        elif code == SO3:
            store(pull_core(cay, vec3(x, k), vec3(m, k)), out, k)
        else:
            A, a, f = vec3(x, k), vec3(x, k + 3), vec3(m, k + 3)
            top, low = pull_se3_core(cay, A, a, vec3(m, k), f)
            store(top, out, k)
            store(low, out, k + 3)
        k += n


@jit
def pull_slope_core(cay, A, m, d):
    """Derivative of dtauinv_A' m in A along d."""
    dm, Am = cross(d, m), cross(A, m)
    if cay:
        return 0.5 * dm + 0.25 * dot(d, m) * A + 0.25 * dot(A, m) * d
    s = dot(A, A)
    b = 0.5 * dm + cinv(s) * (cross(d, Am) + cross(A, dm))
    return b + 2.0 * dot(A, d) * dcinv(s) * cross(A, Am)


@jit
def pull_low_slope_core(cay, A, a, f, d, e):
    """Derivative of L' f in (A, a) along (d, e)."""
    ef, Af, df = cross(e, f), cross(A, f), cross(d, f)
    turned = cross(a, df) + cross(e, Af)
    if cay:
        return 0.5 * ef + 0.25 * turned
    af, AAf = cross(a, f), cross(A, Af)
    s, rho, Ad = dot(A, A), 2.0 * dot(A, a), 2.0 * dot(A, d)
    c1 = dcinv(s)
    b = 0.5 * ef + cinv(s) * (turned + (cross(d, af) + cross(A, ef)))
    b += Ad * c1 * (cross(A, af) + cross(a, Af))
    b += rho * c1 * (cross(d, Af) + cross(A, df))
    return b + (2.0 * (dot(d, a) + dot(A, e)) * c1 + rho * Ad * ddcinv(s)) * AAf


@jit
def pull_slope(factors, cay, x, m, out):
    """out (n, n) = d/dx of dtauinv_x' m with m frozen; blocks off the diagonal are left as they are."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        for j in range(n):
            for i in range(n):
                out[k + i, k + j] = 0.0
            if code > 0:
                continue
            A, moment, e = vec3(x, k), vec3(m, k), unit(j % 3)
            if code == SO3:
                put_column(pull_slope_core(cay, A, moment, e), out, k, k + j)
                continue
            f, a = vec3(m, k + 3), vec3(x, k + 3)
            if j < 3:
                low = pull_low_slope_core(cay, A, a, f, e, ZERO)
                put_column(pull_slope_core(cay, A, moment, e) + low, out, k, k + j)
                free = 0.5 * cross(e, f) if cay else pull_slope_core(cay, A, f, e)
                put_column(free, out, k + 3, k + j)
            else:
                put_column(pull_low_slope_core(cay, A, a, f, ZERO, e), out, k, k + j)
        k += n


@inner
def diagonal_block(out, k, n, value):
    """The block of n rows at k becomes value times the identity."""
    for i in range(n):
        for j in range(n):
            out[k + i, k + j] = value if i == j else 0.0


@jit
def tangent_inverse(factors, cay, x, out):
    """Blocks of out (n, n) = dtauinv_x."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        diagonal_block(out, k, n, 1.0)
        if code <= 0:
            A = vec3(x, k)
            for i in range(3):  # row i of dtauinv is dtauinv' e_i
                put_row(pull_core(cay, A, unit(i)), out, k + i, k)
                if code == SE3:
                    low, free = pull_se3_core(cay, A, vec3(x, k + 3), ZERO, unit(i))
                    put_row(low, out, k + 3 + i, k)
                    put_row(free, out, k + 3 + i, k + 3)
        k += n


@jit
def Ad_inverse(factors, cay, x, out):
    """Blocks of out (n, n) = Ad_{tau(x)^-1}."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        diagonal_block(out, k, n, 1.0)
        if code <= 0:
            A = vec3(x, k)
            back = transpose(turn(cay, A))
            put_block(back, out, k, k)
            if code == SE3:  # (B, b) -> (F'B, F'(b - r x B))
                r = shift(cay, A, vec3(x, k + 3))
                put_block(-back @ hat(r), out, k + 3, k)
                put_block(back, out, k + 3, k + 3)
        k += n


@jit
def coad_of(factors, m, out):
    """Blocks of out (n, n): v -> ad*_v m."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        diagonal_block(out, k, n, 0.0)
        if code <= 0:
            put_block(hat(vec3(m, k)), out, k, k)
            if code == SE3:
                low = hat(vec3(m, k + 3))
                put_block(low, out, k, k + 3)
                put_block(low, out, k + 3, k)
        k += n


@jit
def times_blocks(factors, M, B, c, out):
    """out += c M B for a block diagonal B."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        for i in range(len(M)):
            for j in range(k, k + n):
                total = 0.0
                for l in range(k, k + n):
                    total += M[i, l] * B[l, j]
                out[i, j] += c * total
        k += n


@jit
def blocks_transposed_times(factors, B, M, c, out):
    """out += c B' M for a block diagonal B."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        for i in range(k, k + n):
            for j in range(M.shape[1]):
                total = 0.0
                for l in range(k, k + n):
                    total += B[l, i] * M[l, j]
                out[i, j] += c * total
        k += n


@jit
def blocks_apply(factors, B, v, out):
    """out = B v for a block diagonal B."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        for i in range(k, k + n):
            total = 0.0
            for l in range(k, k + n):
                total += B[i, l] * v[l]
            out[i] = total
        k += n
