"""Small dense matrices in compiled code, against NumPy's, and when an iteration stops."""

from __future__ import annotations

import numpy as np
import pytest

from lielab.core.dense import determinant, multiply, solve
from lielab.core.newton import ROUND, STALLED, exhausted


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_products_and_solutions_of_any_width(columns):
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, columns))
    A[0, 0] = 0.0  # rows must change places
    out, X = np.empty(4 * columns), B.copy().ravel()
    multiply(A.ravel(), B.ravel(), 4, out)
    np.testing.assert_allclose(out.reshape(4, columns), A @ B, atol=1e-14)
    assert solve(A.copy().ravel(), X, 4)
    np.testing.assert_allclose(A @ X.reshape(4, columns), B, atol=1e-13)
    np.testing.assert_allclose(determinant(A.copy().ravel(), 4), np.linalg.det(A), rtol=1e-13)


def test_a_matrix_without_an_inverse():
    A = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 6.0]])
    assert not solve(A.copy().ravel(), np.ones(3), 3)
    assert determinant(A.ravel(), 3) == 0.0


def test_an_odd_permutation_has_determinant_minus_one():
    assert determinant(np.eye(3)[[1, 0, 2]].ravel(), 3) == -1.0


def test_when_an_iteration_is_exhausted():
    """Below the last digit, or small and no longer shrinking; a large one that does not shrink is failure, NaN too."""
    assert exhausted(ROUND, 1.0, np.inf)
    assert exhausted(1e-12, 1.0, 1e-12)
    assert not exhausted(1e-12, 1.0, 1e-11)
    assert not exhausted(10.0 * STALLED, 1.0, STALLED)
    assert not exhausted(np.nan, 1.0, 1.0)
