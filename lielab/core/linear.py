"""A small dense solve of our own: np.linalg.solve costs seconds to compile and is slow at these sizes."""

from __future__ import annotations

from .jit import jit, lent


@jit
def lu_factor(A, pivots):
    """LU factors of A (n, n) in place, with partial pivoting; False where A is singular."""
    A, pivots = lent(A), lent(pivots)
    n = len(A)
    for column in range(n):
        best = column
        for row in range(column + 1, n):
            if abs(A[row, column]) > abs(A[best, column]):
                best = row
        pivots[column] = best
        if not abs(A[best, column]) > 0.0:  # also false for NaN
            return False
        if best != column:
            for j in range(n):
                A[column, j], A[best, j] = A[best, j], A[column, j]
        for row in range(column + 1, n):
            factor = A[row, column] / A[column, column]
            A[row, column] = factor
            for j in range(column + 1, n):
                A[row, j] -= factor * A[column, j]
    return True


@jit
def lu_solve(A, pivots, x):
    """x becomes the solution of A z = x, from the factors."""
    A, pivots, x = lent(A), lent(pivots), lent(x)
    n = len(A)
    for row in range(n):
        swap = pivots[row]
        x[row], x[swap] = x[swap], x[row]
    for row in range(n):
        for j in range(row):
            x[row] -= A[row, j] * x[j]
    for row in range(n - 1, -1, -1):
        for j in range(row + 1, n):
            x[row] -= A[row, j] * x[j]
        x[row] /= A[row, row]
