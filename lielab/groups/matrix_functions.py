"""Exponential, logarithm and inverse of matrices (..., n, n), for the generic matrix groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.dense import exponential
from .batch import each

_ARTANH_TERMS = 18  # |Z| <= 1/3: the last term is below 1e-17 of the first


def expm(X: np.ndarray) -> np.ndarray:
    """Matrix exponential of (..., n, n), by scaling, Taylor series and squaring.

    Not SciPy's: that one (1.17) loses up to five digits on some 3x3 matrices that are nearly triangular.
    """
    n = X.shape[-1]
    flat = np.require(X, float, "CW").reshape(-1, n * n)
    out = np.empty_like(flat)
    with np.errstate(over="ignore", invalid="ignore"):  # without Numba the kernel would warn first
        good = each(exponential, flat, out) if len(flat) else True
    if not good:
        raise ValueError("exp is not defined here: the result overflows; use a smaller argument")
    return out.reshape(X.shape)


def logm(g: np.ndarray) -> np.ndarray:
    """Real principal logarithm of one matrix, or a ValueError where there is none.

    The real Schur form keeps a pair of eigenvalues next to the negative axis in one block: square roots of it are
    taken until the series serves.
    """
    from scipy.linalg import schur

    T, Q = schur(g, output="real")
    starts, halvings = _blocks(T), 0
    if any(T[i, i] <= 0.0 for i, end in _pairs(starts, len(g)) if end == i + 1):
        raise ValueError(
            "g has no real principal logarithm: an eigenvalue lies on the negative axis"
        )
    while not near_one(T):
        T, halvings = _square_root(T, starts), halvings + 1
    return 2.0**halvings * Q @ log_near_one(T) @ Q.T


def near_one(g: np.ndarray) -> bool:
    """Does the series of `log_near_one` serve?"""
    return np.abs(g - np.eye(len(g))).sum(axis=1).max() < 0.5


def log_near_one(g: np.ndarray) -> np.ndarray:
    """2 artanh((g - 1)(g + 1)^-1), which keeps the relative digits of g - 1."""
    one = np.eye(len(g))
    Z = np.linalg.solve(g + one, g - one)
    square, total = Z @ Z, np.zeros_like(Z)
    for k in range(_ARTANH_TERMS - 1, -1, -1):
        total = total @ square + one / (2 * k + 1)
    return 2.0 * Z @ total


def _blocks(T: np.ndarray) -> list[int]:
    """Where the diagonal blocks of a real Schur form begin: one row for a real eigenvalue, two for a pair."""
    starts, i = [], 0
    while i < len(T):
        starts.append(i)
        i += 2 if i + 1 < len(T) and T[i + 1, i] != 0.0 else 1
    return starts


def _pairs(starts: list[int], n: int) -> Iterator[tuple[int, int]]:
    """First row of each block and of the one after it."""
    return zip(starts, [*starts[1:], n], strict=True)


def _square_root(T: np.ndarray, starts: list[int]) -> np.ndarray:
    """Principal square root R of a real Schur form: block by block, R_ii X + X R_jj = T_ij - sum of R_ik R_kj."""
    R = np.zeros_like(T)
    parts = [slice(*pair) for pair in _pairs(starts, len(T))]
    for j, column in enumerate(parts):
        R[column, column] = _root_of_block(T[column, column])
        for row in reversed(parts[:j]):
            inner = slice(row.stop, column.start)
            rest = T[row, column] - R[row, inner] @ R[inner, column]
            p, q = rest.shape
            sum_ = np.kron(R[row, row], np.eye(q)) + np.kron(np.eye(p), R[column, column].T)
            R[row, column] = np.linalg.solve(sum_, rest.ravel()).reshape(p, q)
    return R


def _root_of_block(A: np.ndarray) -> np.ndarray:
    """The root of a positive number, or of a block with eigenvalues x + i y, x - i y: a 1 + (A - x)/(2 a)."""
    if len(A) == 1:
        return np.sqrt(A)
    x = 0.5 * (A[0, 0] + A[1, 1])
    y = np.sqrt(max(0.0, -A[0, 1] * A[1, 0] - 0.25 * (A[0, 0] - A[1, 1]) ** 2))
    length = np.hypot(x, y)
    a = np.sqrt(0.5 * (length + x)) if x > 0.0 else 0.5 * y / np.sqrt(0.5 * (length - x))
    return a * np.eye(2) + (A - x * np.eye(2)) / (2.0 * a)


def inverse(X: np.ndarray, complaint: str) -> np.ndarray:
    """X^-1 of (..., n, n), or a ValueError with this complaint where X is singular to round-off."""
    try:
        result = np.linalg.inv(X)
    except np.linalg.LinAlgError:
        raise ValueError(complaint) from None
    # The reciprocal condition number: numpy returns large numbers instead of an error near singularity.
    size = np.abs(X).max(axis=(-2, -1), initial=0.0) * np.abs(result).max(
        axis=(-2, -1), initial=0.0
    )
    if np.any(size > 1e15):
        raise ValueError(complaint)
    return result
