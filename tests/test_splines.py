"""Splines through poses: against SciPy on vectors, one-parameter subgroups, differences; invariance, continuity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline

import lielab
from lielab import control, quaternions, rn, se2, se3, so2, so3
from lielab.show import animate

TIMES = np.array([0.0, 0.7, 1.5, 2.1, 3.3, 4.0])
FINE = np.linspace(0.0, 4.0, 83)
GROUPS = [so2, so3, se2, se3, quaternions, lielab.special_linear(2)]
each_group = pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)


def elements(group, seed=0, size=0.5):
    """Six elements, one small step from the other."""
    rng = np.random.default_rng(seed)
    found = [group.identity()]
    for _ in range(5):
        found.append(group.compose(found[-1], group.exp(size * rng.standard_normal(group.dim))))
    return np.array(found)


def test_on_vectors_it_is_scipys():
    x, v = np.random.default_rng(1).normal(size=(6, 3)), np.array([[1.0, 0, 2], [0, -1, 1]])
    for ends, type_ in (("natural", "natural"), (v, ((1, v[0]), (1, v[1])))):
        ours, theirs = (
            lielab.cubic_spline(rn(3), TIMES, x, ends),
            CubicSpline(TIMES, x, bc_type=type_),
        )
        t = np.linspace(-0.5, 4.5, 50)  # outside too
        np.testing.assert_allclose(ours(t), theirs(t), atol=1e-13)
        np.testing.assert_allclose(ours.velocity(t), theirs(t, 1), atol=1e-13)
        np.testing.assert_allclose(ours.acceleration(t), theirs(t, 2), atol=1e-12)
    ours = lielab.b_spline(rn(3), TIMES, x)
    theirs = BSpline(ours.knots, x, 3)
    t = np.linspace(ours.start, ours.end, 50)[:-1]
    np.testing.assert_allclose(ours(t), theirs(t), atol=1e-14)


@each_group
@pytest.mark.parametrize("kind", ["cubic_spline", "b_spline"])
def test_velocity_and_acceleration_against_differences(group, kind):
    """Steps of 1e-4, central differences of order 4: their error and round-off meet near 1e-10."""
    curve = getattr(lielab, kind)(group, TIMES, elements(group))
    t = np.linspace(curve.start + 0.01, curve.end - 0.01, 29)
    t = t[np.abs(t[:, None] - TIMES).min(1) > 0.003]  # the third derivative jumps at the knots
    h = 1e-3

    def log(s):
        return group.log(group.compose(group.inverse(curve(t)), curve(t + s)))

    w = (8 * (log(h) - log(-h)) - (log(2 * h) - log(-2 * h))) / (12 * h)
    np.testing.assert_allclose(curve.velocity(t), w, atol=1e-8)
    for frame in ("body", "space"):
        v = [curve.velocity(t + k * h, frame) for k in (1, -1, 2, -2)]
        a = (8 * (v[0] - v[1]) - (v[2] - v[3])) / (12 * h)
        np.testing.assert_allclose(curve.acceleration(t, frame), a, atol=1e-7)
    moved = np.einsum("nij,nj->ni", group.Ad(curve(t)), curve.velocity(t))
    np.testing.assert_allclose(curve.velocity(t, "space"), moved, atol=1e-13)


@each_group
def test_it_passes_through_the_elements_twice_continuously_differentiable(group):
    g = elements(group)
    curve = lielab.cubic_spline(group, TIMES, g)
    np.testing.assert_allclose(curve(TIMES), g, atol=2e-14)
    np.testing.assert_allclose(curve.acceleration(TIMES[[0, -1]]), 0.0, atol=1e-11)
    inner, e = TIMES[1:-1], 1e-10
    for derivative in (curve.velocity, curve.acceleration):
        np.testing.assert_allclose(derivative(inner + e), derivative(inner - e), atol=1e-7)
    v = curve.velocity(TIMES[[0, -1]]) + 0.1
    clamped = lielab.cubic_spline(group, TIMES, g, v)
    np.testing.assert_allclose(clamped.velocity(TIMES[[0, -1]]), v, atol=1e-11)
    np.testing.assert_allclose(clamped(TIMES), g, atol=2e-14)


@each_group
def test_a_one_parameter_subgroup_stays_one(group):
    u = 0.3 * np.random.default_rng(4).standard_normal(group.dim)
    exact = group.exp(FINE[:, None] * u)
    curve = lielab.cubic_spline(group, TIMES, group.exp(TIMES[:, None] * u))
    np.testing.assert_allclose(curve(FINE), exact, atol=1e-13)
    np.testing.assert_allclose(
        curve.velocity(FINE), np.broadcast_to(u, (len(FINE), group.dim)), atol=1e-12
    )
    two = lielab.cubic_spline(group, [0.0, 4.0], group.exp(np.array([[0.0], [4.0]]) * u))
    np.testing.assert_allclose(two(FINE), exact, atol=1e-13)
    even = np.arange(-1.0, 6.0)
    curve = lielab.b_spline(group, even, group.exp(even[:, None] * u))
    np.testing.assert_allclose(curve(FINE), exact, atol=1e-13)


@each_group
def test_moving_all_elements_from_the_left_moves_the_curve(group):
    g, k = elements(group), group.exp(np.linspace(-0.5, 0.9, group.dim))
    for kind in (lielab.cubic_spline, lielab.b_spline):
        curve, moved = kind(group, TIMES, g), kind(group, TIMES, group.compose(k, g))
        np.testing.assert_allclose(moved(FINE), group.compose(k, curve(FINE)), atol=2e-13)
        np.testing.assert_allclose(moved.velocity(FINE), curve.velocity(FINE), atol=2e-12)


def test_a_control_element_moves_four_pieces():
    t, g = np.arange(12.0), so3.exp(0.3 * np.random.default_rng(2).normal(size=(12, 3)))
    other = g.copy()
    other[6] = other[6] @ so3.exp([0.1, 0.2, 0.3])
    s = np.linspace(1.0, 10.0, 181)
    gap = so3.distance(lielab.b_spline(so3, t, g)(s), lielab.b_spline(so3, t, other)(s))
    assert np.all((gap > 1e-12) == (np.abs(s - 6.0) < 1.99))


def test_near_scipys_spline_of_rotations():
    """Another spline, as smooth, through the same attitudes: they differ by the fourth order of the spacing."""
    from scipy.spatial.transform import Rotation, RotationSpline

    gaps = []
    for n in (8, 16, 32):
        t = np.linspace(0.0, 3.0, n + 1)
        R = so3.exp(np.stack([np.sin(t), 0.5 * np.cos(2 * t), 0.2 * t], -1))
        curve = lielab.cubic_spline(so3, t, R)
        theirs = RotationSpline(t, Rotation.from_matrix(R))
        s = np.linspace(1.0, 2.0, 101)  # the ends are free in another way
        gaps.append(so3.distance(curve(s), theirs(s).as_matrix()).max())
    assert gaps[0] < 1e-2
    assert np.log2(gaps[1] / gaps[2]) > 3.0


def test_shapes_and_what_takes_curves():
    curve = lielab.cubic_spline(so3, TIMES, elements(so3))
    assert curve(1.0).shape == (3, 3)
    assert curve(np.zeros((2, 4))).shape == (2, 4, 3, 3)
    assert curve.velocity(1.0).shape == (3,)
    assert curve.acceleration(np.zeros((2, 4))).shape == (2, 4, 3)
    np.testing.assert_allclose(curve.t, TIMES)
    np.testing.assert_allclose(curve.y.reshape(-1, 3, 3), curve(TIMES))
    assert repr(curve) == "<Spline in SO(3), t = 0 to 4, 8 control elements>"
    for group in (so3, se3, quaternions):
        moving = lielab.cubic_spline(group, TIMES, elements(group))
        assert len(animate.frames(moving, count=3)) == 3
    path = lielab.cubic_spline(rn(3), TIMES, 0.1 * np.random.default_rng(0).normal(size=(6, 3)))
    system = lielab.systems.QuadrotorWithLoad()
    y, u = control.flat_reference(system, path, lambda t: 0.0, 0.02, 20)
    assert y.shape == (21, 24)
    np.testing.assert_allclose(system.unpack(y)["x_L"], path(0.02 * np.arange(21)), atol=1e-12)


G = elements(so3)
WRONG = [
    (lambda: lielab.cubic_spline(so3, TIMES[::-1], G), "t must be finite and increase"),
    (lambda: lielab.cubic_spline(so3, TIMES[:1], G[:1]), "t must be at least 2 times"),
    (lambda: lielab.b_spline(so3, TIMES[:3], G[:3]), "t must be at least 4 times"),
    (lambda: lielab.b_spline(so3, TIMES, G[:4]), r"control must have shape \(6, 3, 3\)"),
    (lambda: lielab.cubic_spline(so3, TIMES, 1.1 * G), "not a rotation matrix"),
    (lambda: lielab.cubic_spline(None, TIMES, G), "group must be a group such as lielab.so3"),
    (lambda: lielab.cubic_spline(lielab.direct_tso3, TIMES, G), "make a spline of each factor"),
    (lambda: lielab.cubic_spline(so3, TIMES, G, "clamped"), "ends must be one of 'natural'"),
    (lambda: lielab.cubic_spline(so3, TIMES, G, np.ones(3)), r"ends must have shape \(..., 2, 3\)"),
    (lambda: lielab.cubic_spline(so3, TIMES, G)(np.nan), "t must be finite"),
    (lambda: lielab.cubic_spline(so3, TIMES, G).velocity(0.0, "earth"), "frame must be one of"),
    (lambda: lielab.cubic_spline(so3, TIMES, elements(so3, 1, 2.5)), "turn too far from one"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
