"""Exponential, logarithm and inverse of matrices (..., n, n), for the generic matrix groups."""

from __future__ import annotations

import numpy as np

from ._batch import ELEMENT_TOLERANCE, each
from ._dense import exponential

_ARTANH_TERMS = 18  # |Z| <= 1/3: the last term is below 1e-17 of the first
_IMAGINARY = 1e-9  # a real logarithm's imaginary part is round-off below this


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
    """Real principal logarithm of one matrix."""
    one = np.eye(len(g))
    if np.abs(g - one).sum(axis=1).max() < 0.5:
        # 2 artanh((g - 1)(g + 1)^-1): near 1 it keeps the relative digits of g - 1, which logm does not
        Z = np.linalg.solve(g + one, g - one)
        square, total = Z @ Z, np.zeros_like(Z)
        for k in range(_ARTANH_TERMS - 1, -1, -1):
            total = total @ square + one / (2 * k + 1)
        return 2.0 * Z @ total
    if np.abs(g.T @ g - one).max() < ELEMENT_TOLERANCE:
        return _log_rotation(g)
    from scipy.linalg import logm as scipys

    X = scipys(g)
    if np.iscomplexobj(X):
        if np.abs(X.imag).max() > _IMAGINARY * (1.0 + np.abs(X).max()):
            raise ValueError(
                "g has no real principal logarithm: an eigenvalue lies on the negative axis"
            )
        X = X.real
    return X


def _log_rotation(g: np.ndarray) -> np.ndarray:
    """Skew logarithm of an orthogonal matrix with determinant 1, also where -1 is an eigenvalue (twice)."""
    from scipy.linalg import schur

    T, Q = schur(g, output="real")
    log, flipped, i = np.zeros_like(g), [], 0
    while i < len(g):
        if i + 1 < len(g) and T[i + 1, i] != 0.0:
            angle = np.arctan2(T[i + 1, i] - T[i, i + 1], T[i, i] + T[i + 1, i + 1])
            log[i + 1, i], log[i, i + 1] = angle, -angle
            i += 2
        else:
            if T[i, i] < 0.0:
                flipped.append(i)
            i += 1
    for i, j in zip(
        flipped[::2], flipped[1::2], strict=True
    ):  # any plane of a pair of -1: a half turn
        log[j, i], log[i, j] = np.pi, -np.pi
    return Q @ log @ Q.T


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
