"""Kernels for a product of SO(3), SE(3) and R^n factors: the group of a variational integrator.

A product is an int64 array of codes: `SO3`, `SE3`, or n > 0 for R^n. Its elements are flat: nine numbers row-major for
SO(3), rotation (9) and translation (3) for SE(3), n for R^n; algebra and dual vectors are concatenated, on SE(3)
rotation (moment) first. tau is exp or the Cayley map, and everything is in the convention of the package:
right-trivialised dtau, <Ad*_g m, v> = <m, Ad_g v>. Matrices are block diagonal, and the products here use that.
Each kernel walks over the factors by itself: one that is handed what to do would be compiled anew for each anyway.
"""

from __future__ import annotations

import numpy as np

from ..core.jit import begin, inner, jit, lent
from ..core.round_off import mend
from ._se3_cores import (
    cay_translation_core,
    dcayinv_se3_core,
    dexpinv_se3_core,
    translation_core,
)
from .scalars import cinv, dcinv, ddcinv
from .so3 import (
    back_core,
    cay_core,
    cross_core,
    cubic_core,
    dcayinv_core,
    dexpinv_core,
    exp_core,
    mul_core,
)

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


@inner
def triple(v, i):
    return (v[i], v[i + 1], v[i + 2])


@inner
def put(values, out, i):
    """Write three numbers from entry i on."""
    out[i], out[i + 1], out[i + 2] = values


@inner
def matrix(g, i):
    """The row-major 3x3 matrix that begins at entry i."""
    return (g[i], g[i + 1], g[i + 2], g[i + 3], g[i + 4], g[i + 5], g[i + 6], g[i + 7], g[i + 8])


@inner
def add(a, x, b):
    """a + x b"""
    return (a[0] + x * b[0], a[1] + x * b[1], a[2] + x * b[2])


@inner
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def turn(cay, A):
    """The rotation tau(A), row-major."""
    return cay_core(A[0], A[1], A[2]) if cay else exp_core(A[0], A[1], A[2])


@inner
def shift(cay, A, a):
    """The translation of tau(A, a)."""
    return cay_translation_core(A, a) if cay else translation_core(A, a)


@inner
def turn_rows(g, n, y, k, out):
    """g times n vectors that follow each other from entry k on: of a rotation R, row-major, R g'."""
    for m in range(k, k + 3 * n, 3):
        put(mul_core(g, triple(y, m)), out, m)


@inner
def turn_columns(g, y, k, out):
    """g R for the rotation R that begins at entry k."""
    for m in range(k, k + 3):
        out[m], out[m + 3], out[m + 6] = mul_core(g, (y[m], y[m + 3], y[m + 6]))


@inner
def cross_rows(A, n, y, k, out):
    """A times n vectors that follow each other: of a rotation R, -R hat(A)."""
    for m in range(k, k + 3 * n, 3):
        put(cross_core(A, triple(y, m)), out, m)


@inner
def cross_columns(A, y, k, out):
    """hat(A) R"""
    for m in range(k, k + 3):
        out[m], out[m + 3], out[m + 6] = cross_core(A, (y[m], y[m + 3], y[m + 6]))


@inner
def dtauinv_core(cay, A, B):
    """dtauinv_A B on so(3)"""
    return dcayinv_core(A, B) if cay else dexpinv_core(A, B)


@inner
def dtauinv_se3_core(cay, A, a, B, b):
    """dtauinv_(A, a) (B, b) on se(3): both halves"""
    return dcayinv_se3_core(A, a, B, b) if cay else dexpinv_se3_core(A, a, B, b)


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
            A = triple(x, k)
            F = turn(cay, A)
            if code == SE3:
                r = shift(cay, A, triple(x, k + 3))
                for j in range(3):
                    out[i + 9 + j] = g[i + 9 + j] + dot(triple(g, i + 3 * j), r)
            for j in range(i, i + 9, 3):
                put(back_core(F, triple(g, j)), out, j)
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
        A, top = triple(x, k), triple(m, k)
        F = turn(cay, A)
        if code == SE3:
            force = triple(m, k + 3)
            top = add(top, 1.0, cross_core(force, shift(cay, A, triple(x, k + 3))))
            put(back_core(F, force), out, k + 3)
        put(back_core(F, top), out, k)


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
            A = triple(x, k)
            F = turn(cay, A)
            top = mul_core(F, triple(m, k))
            if code == SE3:
                force = mul_core(F, triple(m, k + 3))
                top = add(top, 1.0, cross_core(shift(cay, A, triple(x, k + 3)), force))
                put(force, out, k + 3)
            put(top, out, k)
        k += n


@inner
def minus(a):
    return (-a[0], -a[1], -a[2])


@inner
def pull_core(cay, A, m):
    """dtauinv_A' m on so(3), where the transpose is the value at -A"""
    return dtauinv_core(cay, minus(A), m)


@jit
def pull_se3_core(cay, A, a, m, f):
    """dtauinv_(A, a)' (m, f) on se(3): both halves"""
    if (
        not cay
    ):  # the blocks of exp are [[D, 0], [L, D]], and their transposes the values at (-A, -a)
        low, top = dexpinv_se3_core(minus(A), minus(a), f, m)
        return top, low
    low = add(f, 0.5, cross_core(A, f))
    moved = add(cross_core(a, f), 0.5, cross_core(a, cross_core(A, f)))
    return add(pull_core(cay, A, m), 0.5, moved), low


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
            put(pull_core(cay, triple(x, k), triple(m, k)), out, k)
        else:
            A, a, f = triple(x, k), triple(x, k + 3), triple(m, k + 3)
            top, low = pull_se3_core(cay, A, a, triple(m, k), f)
            put(top, out, k)
            put(low, out, k + 3)
        k += n


@jit
def pull_slope_core(cay, A, m, d):
    """Derivative of dtauinv_A' m in A along d."""
    dm, Am = cross_core(d, m), cross_core(A, m)
    half = (0.5 * dm[0], 0.5 * dm[1], 0.5 * dm[2])
    if cay:
        return add(add(half, 0.25 * dot(d, m), A), 0.25 * dot(A, m), d)
    s = dot(A, A)
    b = add(half, cinv(s), add(cross_core(d, Am), 1.0, cross_core(A, dm)))
    return add(b, 2.0 * dot(A, d) * dcinv(s), cross_core(A, Am))


@jit
def pull_low_slope_core(cay, A, a, f, d, e):
    """Derivative of L' f in (A, a) along (d, e)."""
    ef, Af, df = cross_core(e, f), cross_core(A, f), cross_core(d, f)
    half = (0.5 * ef[0], 0.5 * ef[1], 0.5 * ef[2])
    turned = add(cross_core(a, df), 1.0, cross_core(e, Af))
    if cay:
        return add(half, 0.25, turned)
    af, AAf = cross_core(a, f), cross_core(A, Af)
    s, rho, Ad = dot(A, A), 2.0 * dot(A, a), 2.0 * dot(A, d)
    c1 = dcinv(s)
    inner = add(turned, 1.0, add(cross_core(d, af), 1.0, cross_core(A, ef)))
    b = add(half, cinv(s), inner)
    b = add(b, Ad * c1, add(cross_core(A, af), 1.0, cross_core(a, Af)))
    b = add(b, rho * c1, add(cross_core(d, Af), 1.0, cross_core(A, df)))
    return add(b, 2.0 * (dot(d, a) + dot(A, e)) * c1 + rho * Ad * ddcinv(s), AAf)


@jit
def pull_slope(factors, cay, x, m, out):
    """out (n, n) = d/dx of dtauinv_x' m with m frozen; blocks off the diagonal are left as they are."""
    k, _, _ = begin()
    zero = (0.0, 0.0, 0.0)
    for code in factors:
        n = sizes(code)[1]
        for j in range(n):
            for i in range(n):
                out[k + i, k + j] = 0.0
            if code > 0:
                continue
            A = triple(x, k)
            c = j % 3
            e = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            if code == SO3:
                column = pull_slope_core(cay, A, triple(m, k), e)
            else:
                f, a = triple(m, k + 3), triple(x, k + 3)
                if j < 3:
                    column = add(
                        pull_slope_core(cay, A, triple(m, k), e),
                        1.0,
                        pull_low_slope_core(cay, A, a, f, e, zero),
                    )
                    if cay:
                        low = cross_core(e, f)
                        low = (0.5 * low[0], 0.5 * low[1], 0.5 * low[2])
                    else:
                        low = pull_slope_core(cay, A, f, e)
                    for i in range(3):
                        out[k + 3 + i, k + j] = low[i]
                else:
                    column = pull_low_slope_core(cay, A, a, f, zero, e)
            for i in range(3):
                out[k + i, k + j] = column[i]
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
            A, zero = triple(x, k), (0.0, 0.0, 0.0)
            for i in range(3):  # row i of dtauinv is dtauinv' e_i
                e = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
                row = pull_core(cay, A, e)
                for j in range(3):
                    out[k + i, k + j] = row[j]
                if code == SE3:
                    low, free = pull_se3_core(cay, A, triple(x, k + 3), zero, e)
                    for j in range(3):
                        out[k + 3 + i, k + j] = low[j]
                        out[k + 3 + i, k + 3 + j] = free[j]
        k += n


@jit
def Ad_inverse(factors, cay, x, out):
    """Blocks of out (n, n) = Ad_{tau(x)^-1}."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        diagonal_block(out, k, n, 1.0)
        if code <= 0:
            A = triple(x, k)
            F = turn(cay, A)
            for i in range(3):
                for j in range(3):
                    out[k + i, k + j] = F[3 * j + i]
            if code == SE3:
                # (B, b) -> (F'B, F'(b - r x B))
                r = shift(cay, A, triple(x, k + 3))
                for i in range(3):
                    column = (F[i], F[3 + i], F[6 + i])
                    row = cross_core(r, column)  # -column . (r x B) = (r x column) . B
                    for j in range(3):
                        out[k + 3 + i, k + 3 + j] = column[j]
                        out[k + 3 + i, k + j] = row[j]
        k += n


@jit
def coad_of(factors, m, out):
    """Blocks of out (n, n): v -> ad*_v m."""
    k, _, _ = begin()
    for code in factors:
        n = sizes(code)[1]
        diagonal_block(out, k, n, 0.0)
        if code <= 0:
            top = cubic_core(m[k], m[k + 1], m[k + 2], 0.0, 1.0, 0.0)
            for i in range(3):
                for j in range(3):
                    out[k + i, k + j] = top[3 * i + j]
            if code == SE3:
                low = cubic_core(m[k + 3], m[k + 4], m[k + 5], 0.0, 1.0, 0.0)
                for i in range(3):
                    for j in range(3):
                        out[k + i, k + 3 + j] = low[3 * i + j]
                        out[k + 3 + i, k + j] = low[3 * i + j]
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
