"""Generic matrix groups: exponential and logarithm against 50 digits, agreement with the closed forms."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from lielab import matrix_group, se2, se3, so3, special_linear, special_orthogonal, symplectic
from lielab.groups.matrix_functions import expm


def exact_exponential(X: np.ndarray) -> np.ndarray:
    with mp.workdps(60):
        E = mp.expm(mp.matrix(X.tolist()), method="taylor")
        return np.array([[float(E[i, j]) for j in range(len(X))] for i in range(len(X))])


def test_exponential() -> None:
    """Among them nearly triangular matrices, on which SciPy 1.17's own loses up to five digits."""
    rng = np.random.default_rng(0)
    group = special_linear(2)
    for k in range(120):
        X = group.ad(rng.standard_normal(3)) if k % 2 else rng.standard_normal((4, 4))
        if k % 3 == 0:
            X = np.triu(X) + 1e-6 * np.tril(X)
        truth = exact_exponential(X)
        assert (
            np.abs(expm(X) - truth).max() <= 1e-14 * max(1.0, np.abs(X).sum()) * np.abs(truth).max()
        )


def test_exponential_keeps_small_entries() -> None:
    X = 1e-14 * np.array([[0.0, 2.0], [-3.0, 0.0]])
    np.testing.assert_allclose(expm(X) - np.eye(2), X, rtol=1e-13, atol=1e-26)


@pytest.mark.parametrize("size", [1e-14, 1e-8, 1e-3, 0.3, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_logarithm_of_rotations_in_four_dimensions(size: float) -> None:
    """One angle of this size and one of half of it; at pi the largest is exact."""
    group = special_orthogonal(4)
    Q = group.random(3)
    X = np.zeros((4, 4))
    X[1, 0], X[0, 1], X[3, 2], X[2, 3] = size, -size, size / 2, -size / 2
    u = group.vee(Q @ X @ Q.T)
    v = group.log(group.exp(u))
    np.testing.assert_allclose(group.exp(v), group.exp(u), rtol=0, atol=4e-15)
    if size < 3.1:
        np.testing.assert_allclose(v, u, rtol=0, atol=4e-15 * size)


def test_two_half_turns() -> None:
    group = special_orthogonal(4)
    u = group.log(-np.eye(4))
    np.testing.assert_allclose(group.exp(u), -np.eye(4), rtol=0, atol=1e-15)


def test_agreement_with_closed_forms() -> None:
    """so(3) and se(3) as matrix groups, with their own bases."""
    rng = np.random.default_rng(1)
    for closed, form in ((so3, np.eye(3)), (se3, None)):
        generic = matrix_group(closed.hat(np.eye(closed.dim)), closed.name, form=form)
        u, v = rng.standard_normal((2, closed.dim))
        g = closed.random(2)
        for name in ("exp", "ad", "coad", "dexp", "dexpinv", "dexp_left", "dexpinv_left"):
            np.testing.assert_allclose(
                getattr(generic, name)(u), getattr(closed, name)(u), atol=2e-14
            )
        for name in ("log", "Ad", "coAd", "inverse"):
            np.testing.assert_allclose(
                getattr(generic, name)(g), getattr(closed, name)(g), atol=2e-14
            )
        np.testing.assert_allclose(generic.bracket(u, v), closed.bracket(u, v), atol=1e-14)
        if form is not None:
            for name in ("cay", "dcay", "dcayinv"):
                np.testing.assert_allclose(
                    getattr(generic, name)(u), getattr(closed, name)(u), atol=1e-14
                )


def test_dimensions_and_members() -> None:
    assert [special_orthogonal(n).dim for n in (2, 3, 5)] == [1, 3, 10]
    assert [special_linear(n).dim for n in (2, 3)] == [3, 8]
    assert [symplectic(n).dim for n in (1, 2)] == [3, 10]
    for group in (special_orthogonal(4), special_linear(3), symplectic(2)):
        assert np.max(group.defect(group.random(1, (5,)))) < 1e-12
    assert special_orthogonal(3).defect(np.diag([1.0, 1.0, -1.0])) == 2.0
    with pytest.raises(ValueError, match=r"g is not in SO\(3\): defect 2"):
        special_orthogonal(3).inverse(np.diag([1.0, 1.0, -1.0]))


def test_project_by_newton() -> None:
    group = symplectic(2)
    g = group.random(4)
    near = g + 1e-3 * np.random.default_rng(5).standard_normal((4, 4))
    moved = group.project(near)
    assert group.defect(moved) < 1e-13
    assert np.abs(moved - g).max() < 2e-2
    with pytest.raises(ValueError, match="no nearby element|too far"):
        group.project(np.zeros((4, 4)))
    bare = matrix_group([[[1.0, 0.0], [0.0, -1.0]]], "bare")
    with pytest.raises(ValueError, match="bare offers no project; give nearest= or form="):
        bare.project(np.eye(2))


# --- the logarithm ---------------------------------------------------------------------------------

I2, O2 = np.eye(2), np.zeros((2, 2))
TURN = np.array([[0.0, -1.0], [1.0, 0.0]])
SE2 = matrix_group(se2.hat(np.eye(3)), "SE(2) from a basis")
SE3 = matrix_group(se3.hat(np.eye(6)), "SE(3) from a basis")
SU2 = matrix_group(
    [
        np.block([[TURN, O2], [O2, -TURN]]),
        np.block([[O2, I2], [-I2, O2]]),
        np.block([[O2, TURN], [TURN, O2]]),
    ],
    "SU(2), real",
)
LORENTZ = matrix_group(
    [
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    ],
    "SO(2, 1)",
)


def fastest_turn(group, u) -> float:
    return float(np.abs(np.linalg.eigvals(group.hat(u)).imag).max())


@pytest.mark.parametrize("before", [2.0, 0.5, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize(
    "group",
    [SE2, SE3, SU2, LORENTZ, special_orthogonal(3), special_orthogonal(4), special_orthogonal(5)],
    ids=lambda group: group.name,
)
def test_logarithm_near_half_turns(group, before: float) -> None:
    """As exact as its conditioning within the group lets it: on all but SU(2) it is well conditioned there."""
    rng = np.random.default_rng(7)
    done = 0
    while done < 12:
        u = rng.standard_normal(group.dim)
        turn = fastest_turn(group, u)
        if turn < 1e-9 or np.abs(u).max() > 2.0 * turn:
            continue
        u *= (np.pi - before) / turn
        done += 1
        g = group.exp(u)
        v = group.log(g)
        assert np.abs(group.exp(v) - g).max() < 1e-13 * np.abs(g).max()
        assert fastest_turn(group, v) < np.pi + 1e-6
        if before >= 1e-9:
            condition = 1.0 / before if group is SU2 else 1.0
            assert np.abs(v - u).max() < 1e-14 * condition * np.abs(g).max() ** 2


def test_logarithm_agrees_with_the_closed_form_at_any_angle() -> None:
    for u in 3.1 * np.random.default_rng(2).uniform(-1.0, 1.0, (40, 3)):
        g = se2.exp(u)
        np.testing.assert_allclose(SE2.log(g), se2.log(g), rtol=0, atol=4e-15)
    g = se3.random(3, (40,))
    np.testing.assert_allclose(SE3.log(g), se3.log(g), rtol=0, atol=4e-14)


@pytest.mark.parametrize(
    "group", [special_linear(2), special_linear(3), symplectic(1), symplectic(2)]
)
def test_logarithm_against_fifty_digits(group) -> None:
    """Within the conditioning of the matrix, measured by moving its entries by a few units of round-off."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        u = rng.standard_normal(group.dim)
        u *= 2.0 / max(1.0, np.abs(np.linalg.eigvals(group.hat(u)).imag).max())
        g = group.exp(u)
        with mp.workdps(50):
            exact = mp.logm(mp.matrix(g.tolist()))
            moved = mp.logm(mp.matrix((g * (1.0 + 1e-15 * rng.standard_normal(g.shape))).tolist()))
            n = len(g)
            X = np.array([[float(mp.re(exact[i, j])) for j in range(n)] for i in range(n)])
            Y = np.array([[float(mp.re(moved[i, j])) for j in range(n)] for i in range(n)])
        found = group.hat(group.log(g))
        assert np.abs(found - X).max() < 4e-15 * np.abs(X).max() + 10.0 * np.abs(Y - X).max()


def test_there_is_no_logarithm_where_none_is_real() -> None:
    linear = matrix_group(np.eye(4).reshape(4, 2, 2), "GL(2)")
    for g in (np.diag([-1.0, -2.0]), np.diag([-1.0, 2.0]), np.array([[-1.0, 1.0], [0.0, -1.0]])):
        with pytest.raises(ValueError, match="g has no real principal logarithm"):
            linear.log(g)
    g = -2.0 * np.eye(2)
    np.testing.assert_allclose(linear.exp(linear.log(g)), g, rtol=0, atol=4e-15)


@pytest.mark.filterwarnings("error")
def test_no_warnings_of_other_libraries() -> None:
    """Near half turns, for singular and for large matrices there is a value or a message of ours."""
    group = special_linear(5)
    with pytest.raises(ValueError, match="g is not in SL"):
        group.log(1e70 * np.eye(5))
    np.testing.assert_allclose(group.project(1e70 * np.eye(5)), np.eye(5), rtol=1e-14)
    with pytest.raises(ValueError, match="positive determinant"):
        group.project(np.diag([-1e70, 1e70, 1e70, 1e70, 1e70]))
    with pytest.raises(ValueError, match="basis must be finite and at most"):
        matrix_group([[[0.0, 1e200], [0.0, 0.0]]])
    with pytest.raises(ValueError, match="defect inf"):
        SE2.log(np.zeros((3, 3)))
    for angle in (np.pi, np.pi - 1e-15, np.pi - 1e-8):
        SE2.log(se2.exp([angle, 1.0, 2.0]))
