"""Rotations between directions and between sets of points, against brute force, SciPy and what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from lielab import se3, so3

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-7, 1e-8, 1e-12, 1e-15, 1e-16, 0.0])
def test_the_smallest_rotation_between_directions(gap, sign):
    a = RNG.normal(size=(100, 3))
    b = sign * a + gap * RNG.normal(size=a.shape)
    R = so3.from_directions(a, 3.0 * b)
    a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
    np.testing.assert_allclose(np.einsum("nij,nj->ni", R, a), b, atol=1e-15)
    np.testing.assert_allclose(
        R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape), atol=4e-15
    )
    assert (np.linalg.det(R) > 0).all()
    angle = 2.0 * np.arctan2(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))
    np.testing.assert_allclose(np.linalg.norm(so3.log(R), axis=1), angle, atol=4e-15)


def test_it_turns_about_the_normal_as_scipy_says():
    a, b = RNG.normal(size=(2, 3))
    axis = np.cross(a, b)
    axis /= np.linalg.norm(axis)
    angle = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    np.testing.assert_allclose(
        so3.from_directions(a, b), Rotation.from_rotvec(angle * axis).as_matrix(), atol=1e-15
    )
    np.testing.assert_allclose(so3.from_directions([1e-200, 0, 0], [0, 1e70, 0])[:, 0], [0, 1, 0])


def cost(R, x, y, w):
    return float((w * ((y - x @ R.T) ** 2).sum(1)).sum())


@pytest.mark.parametrize("mirrored", [False, True])
def test_alignment_is_the_minimum(mirrored):
    """From random starts a descent finds nothing better, also where y is nearer to a mirror image of x."""
    x, w = RNG.normal(size=(8, 3)) * [3.0, 2.0, 1.0], RNG.uniform(0.1, 2.0, 8)
    y = (-x if mirrored else x) @ so3.random(4).T + 0.3 * RNG.normal(size=x.shape)
    R = so3.align(x, y, w)
    np.testing.assert_allclose(
        R, Rotation.align_vectors(y, x, weights=w)[0].as_matrix(), atol=1e-13
    )
    for seed in range(5):
        start = so3.random(seed)
        found = minimize(lambda u, S=start: cost(S @ so3.exp(u), x, y, w), np.zeros(3)).fun
        assert cost(R, x, y, w) <= found + 1e-9


@pytest.mark.parametrize("scale", [False, True])
def test_rigid_alignment_finds_what_was_done(scale):
    x, g = RNG.normal(size=(6, 3)), se3.random(2)
    R, r = se3.parts(g)
    y = (2.5 if scale else 1.0) * x @ R.T + r
    found = se3.align(x, y, scale=scale)
    if scale:
        found, s = found
        assert s == pytest.approx(2.5, rel=1e-14)
    np.testing.assert_allclose(found, g, atol=1e-14)


def test_rigid_alignment_with_noise_is_stationary():
    """Small motions and changes of scale make the sum of squares larger."""
    x, w = RNG.normal(size=(9, 3)), RNG.uniform(0.1, 2.0, 9)
    y = x @ so3.random(7).T * 0.4 + [1.0, 2.0, 3.0] + 0.1 * RNG.normal(size=x.shape)

    def total(g, s):
        return float((w * ((y - s * x @ g[:3, :3].T - g[:3, 3]) ** 2).sum(1)).sum())

    g, s = se3.align(x, y, w, scale=True)
    least = total(g, s)
    for e in 1e-3 * np.vstack([np.eye(6), -np.eye(6)]):
        assert total(g @ se3.exp(e), s) > least
    assert min(total(g, s + 1e-3), total(g, s - 1e-3)) > least
    g = se3.align(x, y, w)
    assert all(total(g @ se3.exp(e), 1.0) > total(g, 1.0) for e in 1e-3 * np.eye(6))


X = RNG.normal(size=(5, 3))
CROSS = np.vstack([np.eye(3), -np.eye(3)])
DEGENERATE = [
    (lambda: so3.from_directions([0, 0, 0], [1, 0, 0]), "a must not be zero"),
    (lambda: so3.from_directions(np.ones((2, 3)), np.ones((3, 3))), "do not broadcast"),
    (lambda: so3.align(X[:1], X[:1]), "x lies on one line"),
    (lambda: so3.align(np.outer(np.arange(1, 5), [1, 2, 3]), X[:4]), "x lies on one line"),
    (lambda: so3.align(X, np.outer(np.arange(5), [1, 2, 3])), "y lies on one line"),
    (lambda: so3.align(CROSS, -CROSS), "do not tell the rotation"),
    (lambda: so3.align(X, X, [1, 0, 0, 0, 0]), "x lies on one line"),
    (lambda: se3.align(X[:2], X[:2]), "x lies on one line"),
    (lambda: se3.align(np.ones((4, 3)), X[:4]), "x lies on one line"),
    (lambda: so3.align(X, X[:4]), r"same shape \(n, 3\)"),
    (lambda: so3.align(X, X, np.ones(4)), "weights must be 5 non-negative numbers"),
    (lambda: so3.align(X, X, [-1, 1, 1, 1, 1]), "weights must be 5 non-negative numbers"),
]


@pytest.mark.parametrize(("call", "message"), DEGENERATE)
def test_degenerate_cases_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_planar_points_are_enough():
    x = RNG.normal(size=(4, 3)) * [1, 1, 0]
    R = so3.random(9)
    np.testing.assert_allclose(so3.align(x, x @ R.T), R, atol=1e-14)
    np.testing.assert_allclose(so3.align(x[:2], x[:2] @ R.T), R, atol=1e-14)
