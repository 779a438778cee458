"""The Riccati recursion against the summed cost, a direct minimisation and SciPy."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from lielab.control import lqr


def problem(seed, count=None, n=5, m=2):
    rng = np.random.default_rng(seed)
    shape = () if count is None else (count,)
    A = rng.normal(size=(*shape, n, n)) / 2
    B = rng.normal(size=(*shape, n, m))
    Q, R = rng.normal(size=(n, n)), rng.normal(size=(m, m))
    return A, B, Q @ Q.T, R @ R.T + np.eye(m), rng


def cost(A, B, Q, R, QN, x, inputs):
    total = 0.0
    for k in range(len(A)):
        total += x @ Q @ x + inputs[k] @ R @ inputs[k]
        x = A[k] @ x + B[k] @ inputs[k]
    return total + x @ QN @ x


def test_cost_to_go_is_the_summed_cost_and_no_other_input_is_cheaper():
    A, B, Q, R, rng = problem(1, 40)
    QN = 3.0 * Q
    K, P = lqr(A, B, Q, R, QN)
    x0 = rng.normal(size=5)
    x, inputs = x0, []
    for k in range(40):
        inputs.append(-K[k] @ x)
        x = A[k] @ x + B[k] @ inputs[k]
    best = cost(A, B, Q, R, QN, x0, np.array(inputs))
    assert x0 @ P[0] @ x0 == pytest.approx(best, rel=1e-12)
    np.testing.assert_array_equal(P, P.transpose(0, 2, 1))
    for _ in range(20):
        other = np.array(inputs) + 1e-3 * rng.normal(size=(40, 2))
        assert cost(A, B, Q, R, QN, x0, other) > best


def test_gains_minimise_the_quadratic_form_of_a_short_horizon():
    A, B, Q, R, rng = problem(2, 3)
    x0 = rng.normal(size=5)
    # x_k as affine maps of all inputs, stacked; normal equations of the whole cost
    maps, start, H, g = np.zeros((5, 6)), x0, np.kron(np.eye(3), R), np.zeros(6)
    for k in range(3):
        maps = A[k] @ maps
        maps[:, 2 * k : 2 * k + 2] += B[k]
        start = A[k] @ start
        H, g = H + maps.T @ Q @ maps, g + maps.T @ Q @ start
    first = np.linalg.solve(H, -g)[:2]
    np.testing.assert_allclose(-lqr(A, B, Q, R).K[0] @ x0, first, rtol=1e-10)


def test_infinite_horizon_is_the_limit_and_scipys():
    A, B, Q, R, _ = problem(3)
    A = 2.5 * A
    K, P = lqr(A, B, Q, R)
    np.testing.assert_allclose(P, solve_discrete_are(A, B, Q, R), rtol=1e-10)
    far = lqr(A, B, Q, R, steps=400)
    np.testing.assert_allclose(far.P[0], P, rtol=1e-8)
    np.testing.assert_allclose(far.K[0], K, rtol=1e-8)
    assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1 < np.abs(np.linalg.eigvals(A)).max()


def test_a_singular_A_is_no_trouble():
    A, B, Q, R, _ = problem(4, 30)
    A[:, :, 2] = 0.0
    P = lqr(A, B, Q, R).P
    assert np.isfinite(P).all()
    assert np.linalg.eigvalsh(P[0]).min() >= -1e-10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"R": -np.eye(2)}, "R must be positive definite"),
        ({"R": np.zeros((2, 2))}, "R must be positive definite"),
        ({"R": np.eye(3)}, r"R must have shape \(2, 2\), got \(3, 3\)"),
        ({"Q": -np.eye(5)}, "Q must be positive semidefinite"),
        ({"Q": np.triu(np.ones((5, 5)))}, "Q must be symmetric"),
        ({"QN": np.eye(5)}, "QN has no meaning"),
        ({"B": np.ones((4, 2))}, "B must have shape"),
        ({"B": np.zeros((5, 2)), "A": 2 * np.eye(5)}, "not stabilisable.*eigenvalue 2"),
        ({"A": np.full((5, 5), np.nan)}, "A must be finite"),
        ({"A": np.ones(5)}, "A must have shape"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"Q": np.zeros((5, 5)), "A": np.eye(5), "B": np.eye(5, 2)}, "not stabilisable"),
        ({"Q": np.zeros((5, 5)), "A": np.eye(5), "B": np.eye(5), "R": np.eye(5)}, "no stabilising"),
    ],
)
def test_bad_input_is_named(change, message):
    A, B, Q, R, _ = problem(5)
    with pytest.raises(ValueError, match=message):
        lqr(**{"A": A, "B": B, "Q": Q, "R": R, **change})


def test_weights_that_do_not_see_a_mode_on_the_unit_circle_are_refused():
    """SciPy returns P = 0 and K = 0 there, under which the state keeps going or grows."""
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])
    for Q in (np.zeros((2, 2)), np.diag([0.0, 1.0])):
        with pytest.raises(ValueError, match="Q must see every mode|no stabilising solution"):
            lqr(A, B, Q, np.eye(1))
    K, _ = lqr(A, B, np.diag([1.0, 0.0]), np.eye(1))
    assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1.0
    K, P = lqr(0.5 * A, B, np.zeros((2, 2)), np.eye(1))  # decays by itself: nothing to do
    assert not np.any(K)
    assert not np.any(P)


def test_complex_matrices_and_no_inputs_are_refused():
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])
    with pytest.raises(ValueError, match="A must hold real numbers"):
        lqr(A + 1e-3j, B, np.eye(2), np.eye(1))
    with pytest.raises(ValueError, match="R must hold real numbers"):
        lqr(A, B, np.eye(2), [["a"]])
    with pytest.raises(ValueError, match=r"B must have shape \(2,\) \+ \(m,\)"):
        lqr(A, B[:, :0], np.eye(2), np.empty((0, 0)))
