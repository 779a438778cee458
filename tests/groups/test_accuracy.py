"""Errors against 50 digits, block by block, at every decade of angle and of translation."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest

from benchmarks import _exact as exact
from lielab import quaternions, se2, se3, so2, so3
from lielab.groups import scalars

# Each block's error relative to its own norm. Measured: 9e-16 at worst.
LIMIT = 1e-14
# Of scalars, relative: near the pole the argument's own rounding counts.
_COEFFICIENT = 1e-13

ANGLES = [
    0.0,
    *(10.0**-k for k in range(16, -1, -1)),
    math.pi / 2,
    2.0,
    2.5,
    *(math.pi - 10.0**-k for k in range(1, 16, 2)),
    math.pi,
]
LENGTHS = (0.0, 1e-8, 1e-4, 1.0, 1e4, 1e8)


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(exact.DIGITS):
        yield


def motions(angle: float) -> Iterator[np.ndarray]:
    """One algebra vector for each length; along the axis and axis-parallel ones among them."""
    rng = np.random.default_rng(int(1e6 * angle) + 7)
    for k, length in enumerate(LENGTHS):
        axis, a = rng.standard_normal((2, 3))
        axis /= np.linalg.norm(axis)
        a /= np.linalg.norm(a)
        if k % 3 == 1:
            a = axis
        if k % 3 == 2:
            axis = np.eye(3)[k % 2]
        yield np.r_[angle * axis, length * a]


def check(value: np.ndarray, truth: list, limit: float = LIMIT) -> None:
    assert np.isfinite(value).all()
    assert exact.error(value, truth) <= limit


@pytest.mark.parametrize("angle", ANGLES)
def test_motions_of_space(angle: float) -> None:
    for u in motions(angle):
        R, r = exact.exp(u)
        g = se3.exp(u)
        check(g[:3, :3], R)
        check(g[:3, 3], r)
        check(so3.exp(u[:3]), R)
        R, r = exact.cay(u)
        g = se3.cay(u)
        check(g[:3, :3], R)
        check(g[:3, 3], r)
        for name in ("dexp", "dexpinv"):
            top, low = getattr(exact, name)(u)
            M = getattr(se3, name)(u)
            check(M[:3, :3], top)
            check(M[3:, 3:], top)
            check(M[3:, :3], low)
            assert not M[:3, 3:].any()
            check(getattr(so3, name)(u[:3]), top)


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_of_floats(angle: float) -> None:
    """Of the float matrix as it is, not of the vector that it came from."""
    for u in motions(angle):
        g = se3.exp(u)
        v = se3.log(g)
        errors = [(exact.error(v[:3], A), exact.error(v[3:], a)) for A, a in exact.logs(g)]
        assert max(min(errors, key=max)) <= LIMIT
        assert exact.error(so3.log(g[:3, :3]), exact.numbers(v[:3])) <= LIMIT


@pytest.mark.parametrize("angle", ANGLES)
def test_quaternions_and_the_plane(angle: float) -> None:
    for u in motions(angle):
        check(quaternions.exp(u[:3]), exact.quaternion(u[:3]))
        p = np.r_[angle if u[0] > 0 else -angle, u[3:5]]
        R, r = exact.plane_exp(p)
        g = se2.exp(p)
        check(g[:2, :2], R)
        check(g[:2, 2], r)
        check(so2.exp(p[:1]), R)
        for name in ("dexp", "dexpinv"):
            block, column = exact.plane_tangent(p, name == "dexpinv")
            M = getattr(se2, name)(p)
            check(M[1:, 1:], block)
            check(M[1:, 0], column)
        back = se2.log(g)
        if angle < math.pi - 1e-9:  # beyond, the rounding of g may turn the sign of the angle
            np.testing.assert_allclose(back[0], p[0], rtol=1e-14, atol=0)
            scale = max(np.abs(p[1:]).max(), 1e-300)
            np.testing.assert_allclose(back[1:], p[1:], rtol=0, atol=3e-15 * scale)


@pytest.mark.parametrize("distance", [10.0**-k for k in range(1, 13)])
@pytest.mark.parametrize("side", [-1, 1])
def test_dexpinv_near_its_pole(distance: float, side: int) -> None:
    """At 2 pi the error grows with the condition: a pole of first order above, of second order below."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    angle = 2.0 * math.pi + side * distance
    condition = 2.0 * math.pi / distance
    u = np.r_[angle * axis, 0.3, -0.4, 0.5]
    top, low = exact.dexpinv(u)
    M = se3.dexpinv(u)
    check(M[:3, :3], top, LIMIT * max(1.0, condition))
    check(M[3:, :3], low, 2.0 * LIMIT * max(1.0, condition))
    block, column = exact.plane_tangent(np.r_[angle, 0.3, -0.4], True)
    M = se2.dexpinv(np.r_[angle, 0.3, -0.4])
    check(M[1:, 1:], block, LIMIT * max(1.0, condition))
    check(M[1:, 0], column, LIMIT * max(1.0, condition))


@pytest.mark.parametrize("size", [10.0**k for k in range(1, 9)])
def test_cayley_of_large_vectors(size: float) -> None:
    """The rotation angle tends to pi; rotation and translation keep their digits."""
    u = np.r_[size * np.array([0.6, 0.0, -0.8]), 1.0, 2.0, 3.0]
    R, r = exact.cay(u)
    g = se3.cay(u)
    check(g[:3, :3], R)
    check(g[:3, 3], r)


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0.6, 0, -0.8), (1 / 3, -2 / 3, 2 / 3)]
)
def test_exactly_pi(axis: tuple) -> None:
    n = np.array(axis, dtype=float)
    R = 2.0 * np.outer(n, n) - np.eye(3)
    u = so3.log(R)
    assert abs(np.linalg.norm(u) - math.pi) < 1e-15 * math.pi
    assert min(np.abs(u - math.pi * n).max(), np.abs(u + math.pi * n).max()) < 1e-15
    g = se3.from_parts(R, [1.0, -2.0, 3.0])
    np.testing.assert_allclose(se3.exp(se3.log(g)), g, rtol=0, atol=3e-15)
    assert so3.distance(so3.identity(), R) == pytest.approx(math.pi, abs=1e-15)


def test_zero_is_exact() -> None:
    for group in (so2, se2, so3, se3):
        zero = np.zeros(group.dim)
        np.testing.assert_array_equal(group.exp(zero), group.identity())
        np.testing.assert_array_equal(group.cay(zero), group.identity())
        np.testing.assert_array_equal(group.log(group.identity()), zero)
        for name in ("dexp", "dexpinv", "dcay", "dcayinv"):
            np.testing.assert_array_equal(getattr(group, name)(zero), np.eye(group.dim))


def test_antipodal_quaternions() -> None:
    q = quaternions.random(3)
    assert quaternions.distance(q, -q) == pytest.approx(2.0 * math.pi, abs=1e-14)
    np.testing.assert_array_equal(quaternions.log([-1.0, 0.0, 0.0, 0.0]), [2.0 * math.pi, 0.0, 0.0])
    np.testing.assert_allclose(quaternions.rotation(q), quaternions.rotation(-q), atol=0)
    for angle in (math.pi, 4.0, 6.2, 2.0 * math.pi - 1e-12):
        u = angle * np.array([2.0, -1.0, 2.0]) / 3.0
        np.testing.assert_allclose(quaternions.log(quaternions.exp(u)), u, rtol=1e-15, atol=4e-15)


@pytest.mark.parametrize("angle", [1e-12, 1e-3, 0.7, 2.0, 3.0])
def test_the_yardstick_agrees_with_power_series(angle: float) -> None:
    """The closed forms in `_exact` against plain series of ad, which know nothing of them."""
    u = np.r_[angle * np.array([2.0, -1.0, 2.0]) / 3.0, 0.3, -0.4, 0.5]
    count = 120 if angle < 1.0 else 160
    weights = [1 / mp.factorial(k + 1) for k in range(count)]
    bernoulli = [mp.bernoulli(k) / mp.factorial(k) for k in range(count)]
    bernoulli[1] = -mp.mpf(1) / 2
    for truth, series in (
        (exact.dexp(u), exact.by_series(u, weights)),
        (exact.dexpinv(u), exact.by_series(u, bernoulli)),
    ):
        for a, b in zip(truth, series, strict=True):
            worst = max(
                abs(x - y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)
            )
            assert worst < mp.mpf(10) ** -40


@pytest.mark.parametrize("name", ["cinv", "dcinv", "ddcinv"])
def test_the_coefficient_of_dexpinv_and_its_derivatives(name: str) -> None:
    """(1 - half cot half)/x, half = sqrt(x)/2, and its derivatives in x, up to near the pole at (2 pi)^2."""

    def cinv(x):
        half = mp.sqrt(x) / 2
        return (1 - half * mp.cot(half)) / x

    with mp.workdps(60):
        for x in (*(10.0**-k for k in range(12, -1, -1)), 0.25, 5.99, 6.0, 9.87, 20.0, 30.0, 39.0):
            order = ("cinv", "dcinv", "ddcinv").index(name)
            truth = mp.diff(cinv, mp.mpf(x), order, h=mp.mpf(x) * mp.mpf(10) ** -18)
            found = getattr(scalars, name)(x)
            assert abs(found / truth - 1) < _COEFFICIENT, (x, found, truth)
