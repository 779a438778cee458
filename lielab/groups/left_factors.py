"""Any group of the package, moved from the left: exp(x) g, Ad*_{exp x} m and dexp_x' m, for methods on T*G.

A group is a pair of arrays (codes, tables). The codes are those of `factors`, closed forms on SO(3), SE(3) and R^n,
and LINEAR for a factor of matrices, whose numbers follow each other in `tables`: n, columns, d and the length of the
whole, then a basis of the algebra (d, n, n), its structure constants (d, d, d) and the group's law (see `invariants`).
An element is a flat n x columns matrix; with one column the group acts on vectors, as unit quaternions do by their
product. There exp is that of matrices, and
Ad*_{exp x} = exp(coad_x), dexp_x' = (exp(coad_x) - 1)/coad_x are summed on the vector m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dense import exponential, multiply
from ..core.jit import begin, jit, lent
from ..core.round_off import mend, mend_unit
from ..core.values import ZERO, cross, mat3, store, transpose, vec3
from . import cotangent_so3, quaternions, so3
from ._se3_cores import dexp_blocks, translation
from .factors import SE3, SO3, algebra_size, coAd_of, cross_columns, point_size, sizes
from .invariants import law, mend_matrix
from .matrix_functions import expm
from .products import Product
from .rn import RealSpace
from .rotations import exp

LINEAR = -2
_DEGREE = 16  # of the series, where |coad_x| is at most 1/2: the rest is below 1e-20
_LARGEST = 1e3  # a larger increment is one of an iteration that diverges


@jit
def header(tables, at):
    """n, columns and d of the linear factor that begins there."""
    return int(tables[at]), int(tables[at + 1]), int(tables[at + 2])


@jit
def lengths(code, tables, at):
    """Length of an element, of an algebra vector and of the table of the factor."""
    if code == LINEAR:
        n, columns, d = header(tables, at)
        return n * columns, d, int(tables[at + 3])
    points, n = sizes(code)
    return points, n, 0


@jit
def _hat(tables, at, x, k):
    """sum_a x_a E_a, flat, for the part of x that begins at k"""
    n, _, d = header(tables, at)
    X = np.zeros(n * n)
    for a in range(d):
        for j in range(n * n):
            X[j] += x[k + a] * tables[at + 4 + a * n * n + j]
    return X


@jit
def _times(X, tables, at, g, i, out):
    """X g for the factor's part of g, which begins at i"""
    n, columns, _ = header(tables, at)
    end = i + n * columns
    multiply(X, g[i:end], n, out[i:end])


@jit
def _mend(tables, at, i, out):
    """The factor's part of the element, which begins at i, brought back where round-off has moved it."""
    n, columns, d = header(tables, at)
    if columns == 1:
        mend_unit(out, i, n)
    else:
        mend_matrix(out[i : i + n * n], n, tables, at + 4 + d * n * n + d * d * d)


@jit
def _series(A, first, w, out):
    """out = sum_j A^j w / (first + 1) ... (first + j); w is overwritten. first = 0: exp, 1: (exp - 1)/A."""
    d = len(w)
    term = np.empty(d)
    for i in range(d):
        out[i] = w[i]
    for j in range(1, _DEGREE + 1):
        for i in range(d):
            total = 0.0
            for l in range(d):
                total += A[i, l] * w[l]
            term[i] = total / (first + j)
        for i in range(d):
            w[i] = term[i]
            out[i] += term[i]


@jit
def _linear_dual(tables, at, first, x, k, m, out):
    """Ad*_{exp x} m for `first` = 0, dexp_x' m for 1, as in `_series`: coad_x in pieces, m -> sum_a x_a c_abc m_c."""
    n, _, d = header(tables, at)
    tangent = first > 0.0
    base = at + 4 + d * n * n
    A, w, total, moved = np.zeros((d, d)), np.empty(d), np.zeros(d), np.empty(d)
    norm = 0.0
    for b in range(d):
        row = 0.0
        for c in range(d):
            for a in range(d):
                A[b, c] += x[k + a] * tables[base + (d * a + b) * d + c]
            row += abs(A[b, c])
        norm = max(norm, row)
        w[b] = m[k + b]
    if not norm < _LARGEST:
        for b in range(d):
            out[k + b] = np.nan
        return
    pieces = 1 + int(2.0 * norm)
    for b in range(d):
        for c in range(d):
            A[b, c] /= pieces
    if tangent:  # an integral of exp(s coad_x) over 0 < s < 1, piece by piece
        _series(A, 1.0, w, moved)
        for b in range(d):
            w[b] = moved[b] / pieces
    for _ in range(pieces):
        if tangent:
            for b in range(d):
                total[b] += w[b]
        _series(A, 0.0, w, moved)
        for b in range(d):
            w[b] = moved[b]
    for b in range(d):
        out[k + b] = total[b] if tangent else w[b]


@jit
def move_left(group, x, g, out):
    """out = exp(x) g; what round-off has moved off the group is brought back, as in `factors.move`"""
    codes, tables, x, g, out = lent(group[0]), lent(group[1]), lent(x), lent(g), lent(out)
    i, k, at = begin()
    for code in codes:
        points, n, more = lengths(code, tables, at)
        if code == LINEAR:
            X = _hat(tables, at, x, k)
            exponential(X, X)
            _times(X, tables, at, g, i, out)
            _mend(tables, at, i, out)
        elif code > 0:
            for j in range(n):
                out[i + j] = g[i + j] + x[k + j]
        else:
            A = vec3(x, k)
            F = exp(A)
            store(F @ mat3(g, i), out, i)
            mend(out, i, 3)
            if code == SE3:
                store(translation(A, vec3(x, k + 3)) + F @ vec3(g, i + 9), out, i + 9)
        i, k, at = i + points, k + n, at + more


@jit
def velocity_left(group, x, g, out):
    """out = hat(x) g, the derivative of exp(t x) g at t = 0"""
    codes, tables, x, g, out = lent(group[0]), lent(group[1]), lent(x), lent(g), lent(out)
    i, k, at = begin()
    for code in codes:
        points, n, more = lengths(code, tables, at)
        if code == LINEAR:
            _times(_hat(tables, at, x, k), tables, at, g, i, out)
        elif code > 0:
            for j in range(n):
                out[i + j] = x[k + j]
        else:
            A = vec3(x, k)
            cross_columns(A, 3, g, i, out)
            if code == SE3:
                store(vec3(x, k + 3) + cross(A, vec3(g, i + 9)), out, i + 9)
        i, k, at = i + points, k + n, at + more


@jit
def coAd_exp(group, x, m, out):
    """out = Ad*_{exp x} m"""
    codes, tables, x, m, out = lent(group[0]), lent(group[1]), lent(x), lent(m), lent(out)
    _, k, at = begin()
    for code in codes:
        if code == LINEAR:
            _linear_dual(tables, at, 0.0, x, k, m, out)
        else:
            coAd_of(code, False, x, m, k, out)
        _, n, more = lengths(code, tables, at)
        k, at = k + n, at + more


@jit
def dexp_dual(group, x, m, out):
    """out = dexp_x' m, the dexp* of celledoni (15)"""
    codes, tables, x, m, out = lent(group[0]), lent(group[1]), lent(x), lent(m), lent(out)
    _, k, at = begin()
    for code in codes:
        _, n, more = lengths(code, tables, at)
        if code == LINEAR:
            _linear_dual(tables, at, 1.0, x, k, m, out)
        elif code > 0:
            for j in range(n):
                out[k + j] = m[k + j]
        else:
            A, top = vec3(x, k), vec3(m, k)
            a = vec3(x, k + 3) if code == SE3 else ZERO
            D, L = dexp_blocks(A, a)
            top = transpose(D) @ top
            if code == SE3:
                f = vec3(m, k + 3)
                top += transpose(L) @ f
                store(transpose(D) @ f, out, k + 3)
            store(top, out, k)
        k, at = k + n, at + more


def group_sizes(codes: Any, tables: np.ndarray) -> tuple[int, int]:
    """Length of an element and dimension of the group; ValueError for codes that are none, or without their tables."""
    points, dim, at = 0, 0, 0
    for code in codes:
        whole = isinstance(code, (int, np.integer)) and not isinstance(code, bool)
        if not whole or code < LINEAR or (code == LINEAR and at >= len(tables)):
            raise ValueError(
                "factors must be a group such as lielab.se2, or lielab.product(...) of several, or a tuple of SO3, SE3 "
                f"and n for R^n; got {codes!r}"
            )
        if code == LINEAR:
            n, columns, d, more = (int(x) for x in tables[at : at + 4])
            points, dim, at = points + n * columns, dim + d, at + more
        else:
            points, dim = points + point_size([code]), dim + algebra_size([code])
    return points, dim


def left_factors(group: Any) -> tuple[tuple[int, ...], np.ndarray]:
    """(codes, tables) of a group of the package, of a `matrix_group`, or of a product of them.

    Elements are the group's own, flat: matrices row-major, the entries of a tuple one after the other.
    """
    if isinstance(group, Product):
        parts = [left_factors(factor) for factor in group.factors]
        return sum((codes for codes, _ in parts), ()), np.concatenate([more for _, more in parts])
    if group is so3:
        return (SO3,), np.empty(0)
    if group is cotangent_so3:  # (Q, mu), with the law of SE(3)
        return (SE3,), np.empty(0)
    if isinstance(group, RealSpace):
        return (group.dim,), np.empty(0)
    basis, columns = _basis(group)
    tables = [basis.ravel(), structure_constants(group).ravel()]
    tables += [law(basis, getattr(group, "form", None))] if columns > 1 else []
    head = (basis.shape[1], columns, len(basis), 4 + sum(map(len, tables)))
    return (LINEAR,), np.concatenate([head, *tables])


def _basis(group: Any) -> tuple[np.ndarray, int]:
    """Matrices (d, n, n) that generate the group from the left, and the number of columns of its elements."""
    if group is quaternions:
        units = np.eye(4)
        return np.array([0.5 * quaternions.compose(e, units).T for e in units[1:]]), 1
    dim, shape = getattr(group, "dim", 0), getattr(group, "shape", ())
    try:
        basis, u = np.asarray(group.hat(np.eye(dim))), np.linspace(0.1, 0.4, dim)
        fits = basis.shape == (dim, *shape) and np.allclose(group.exp(u), expm(group.hat(u)))
    except (AttributeError, TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            "group must be a group of matrices (lielab.so3, lielab.se2, lielab.special_linear(2), ...), lielab.rn(n), "
            f"lielab.quaternions, lielab.cotangent_so3 or a product of them; got {getattr(group, 'name', group)!r}"
        )
    return basis, shape[1]


def structure_constants(group: Any) -> np.ndarray:
    """c with [e_a, e_b] = sum_c c_abc e_c, (d, d, d)."""
    units = np.eye(group.dim)
    return np.asarray(group.bracket(units[:, None], units[None]))
