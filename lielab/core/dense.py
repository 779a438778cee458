"""Small dense matrices in compiled code: exponential, linear solve, determinant, on flat row-major arrays.

For matrices of a few rows these are faster than a call of LAPACK, and they compile in a fraction of the time.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import jit

_HALVED = 0.5  # norm after scaling; then the Taylor series to degree 16 is exact to 1e-20
_DEGREE = 16


@jit
def multiply(X, Y, n, out):
    """out = X Y for X (n x n) and Y (n x m); out must be another array."""
    m = len(Y) // n
    for i in range(n):
        for j in range(m):
            total = 0.0
            for k in range(n):
                total += X[i * n + k] * Y[k * m + j]
            out[i * m + j] = total


@jit
def transpose_in_place(X, n):
    """X (n x n) becomes its transpose."""
    for i in range(n):
        for j in range(i):
            X[i * n + j], X[j * n + i] = X[j * n + i], X[i * n + j]


@jit
def exponential(X, out):
    """exp(X): scaling, Taylor series, squaring. Returns False where the result is not finite."""
    n = int(math.sqrt(len(X)) + 0.5)
    norm = 0.0
    for i in range(n):
        row = 0.0
        for j in range(n):
            row += abs(X[i * n + j])
        norm = max(norm, row)
    if not norm < 1e5:  # the result, if finite at all, has lost every digit
        for i in range(n * n):
            out[i] = np.nan
        return False
    halvings = 0
    while norm > _HALVED:
        norm *= 0.5
        halvings += 1
    scale = 0.5**halvings
    A = np.empty(n * n)
    for i in range(n * n):
        A[i] = scale * X[i]
    # exp(A) - 1 = A (1 + A/2 (1 + A/3 (...))): squared as E -> 2 E + E^2, so that small angles keep their digits
    E, B = np.zeros(n * n), np.empty(n * n)
    for k in range(_DEGREE, 0, -1):
        for i in range(n):
            E[i * n + i] += 1.0
        multiply(A, E, n, B)
        for i in range(n * n):
            E[i] = B[i] / k
    for _ in range(halvings):
        multiply(E, E, n, B)
        for i in range(n * n):
            E[i] = 2.0 * E[i] + B[i]
    good = True
    for i in range(n * n):
        out[i] = E[i]
        good = good and math.isfinite(E[i])
    for i in range(n):
        out[i * n + i] += 1.0
    return good


@jit
def _pivot(A, n, k):
    """The row from k on with the largest entry in column k, which changes places with row k; -1 where all vanish."""
    p = k
    for i in range(k + 1, n):
        if abs(A[i * n + k]) > abs(A[p * n + k]):
            p = i
    if A[p * n + k] == 0.0:
        return -1
    if p != k:
        for j in range(k, n):
            A[k * n + j], A[p * n + j] = A[p * n + j], A[k * n + j]
    return p


@jit
def solve(A, B, n):
    """A^-1 B in place of B, for A (n x n) and B (n x m), both flat; A is overwritten.

    Gauss with partial pivoting. Returns False where a pivot vanishes.
    """
    m = len(B) // n
    for k in range(n):
        p = _pivot(A, n, k)
        if p < 0:
            return False
        if p != k:
            for j in range(m):
                B[k * m + j], B[p * m + j] = B[p * m + j], B[k * m + j]
        for i in range(k + 1, n):
            f = A[i * n + k] / A[k * n + k]
            for j in range(k, n):
                A[i * n + j] -= f * A[k * n + j]
            for j in range(m):
                B[i * m + j] -= f * B[k * m + j]
    for k in range(n - 1, -1, -1):
        for j in range(m):
            total = B[k * m + j]
            for i in range(k + 1, n):
                total -= A[k * n + i] * B[i * m + j]
            B[k * m + j] = total / A[k * n + k]
    return True


@jit
def determinant(A, n):
    """det A for A (n x n), flat, which is overwritten: the product of Gauss's pivots."""
    product = 1.0
    for k in range(n):
        p = _pivot(A, n, k)
        if p < 0:
            return 0.0
        if p != k:
            product = -product
        product *= A[k * n + k]
        for i in range(k + 1, n):
            f = A[i * n + k] / A[k * n + k]
            for j in range(k, n):
                A[i * n + j] -= f * A[k * n + j]
    return product
