"""Rates in, attitudes out: orders, coning, frames, uneven samples, and a million of them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from lielab import quaternions, se2, se3, so3
from tests.pace import pace

TILT, TURNS = 0.05, 2.0 * np.pi * 5.0  # a cone of half-angle 0.05 rad, five times a second


def cone(t):
    """Attitudes exp(TILT (cos, sin, 0)): the axis of the turn runs round, the body does not turn on the whole."""
    return so3.exp(TILT * np.stack([np.cos(TURNS * t), np.sin(TURNS * t), 0.0 * t], -1))


def cone_rate(t):
    """R' hat = R Omega by hand: R = R_z(a) R_x(TILT) R_z(-a) with a' = TURNS."""
    s, c = np.sin(TILT), np.cos(TILT)
    rows = [-s * np.sin(TURNS * t), s * np.cos(TURNS * t), c - 1.0 + 0.0 * t]
    return TURNS * np.stack(rows, -1)


def drift(rule, rate, seconds=2.0):
    """rad/s by which the attitude runs away, sampled `rate` times a second."""
    t = np.arange(round(seconds * rate) + 1) / rate
    R = so3.integrate(t, cone_rate(t), cone(0.0), rule=rule)
    return so3.distance(R[-1], cone(t[-1])) / seconds


def test_coning():
    """What a polygon loses against the circle that it is inscribed in, or about: with x half the angle between two
    samples, the drift is (TURNS sin^2 TILT / 2) times x^2/3, 2 x^2/3, and 4 x^2/3 for trapezoids without commutator.

    rad/s at 100 samples a second, 5 turns a second; after whole turns nothing else is left over.
    """
    x = 0.5 * TURNS / 100.0
    unit = 0.5 * TURNS * np.sin(TILT) ** 2 * x**2
    found = {rule: drift(rule, 100.0) for rule in ("constant", "linear", "cubic")}
    assert found["constant"] == pytest.approx(unit / 3.0, rel=0.02)
    assert found["linear"] == pytest.approx(2.0 * unit / 3.0, rel=0.02)
    assert found["cubic"] < 0.02 * unit
    t = np.arange(201) / 100.0
    w, R = cone_rate(t), cone(0.0)
    for step in so3.exp(0.005 * (w[1:] + w[:-1])):
        R = R @ step
    assert so3.distance(R, cone(t[-1])) / 2.0 == pytest.approx(4.0 * unit / 3.0, rel=0.02)


RULES = {"constant": 1, "linear": 2, "cubic": 4}


def wild_rate(t):
    return np.stack([1.5 + np.sin(3 * t), np.cos(2 * t) - 0.3 * t, np.sin(t * t)], -1)


def wild_twist(t):
    return np.concatenate([wild_rate(t), np.stack([t, np.cos(t), 1.0 - t * t], -1)], -1)


def flat_twist(t):
    return np.stack([1.0 + np.sin(3 * t), np.cos(2 * t), t], -1)


@pytest.mark.parametrize("frame", ["body", "space"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("group", "rate"),
    [(so3, wild_rate), (quaternions, wild_rate), (se3, wild_twist), (se2, flat_twist)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_orders_against_scipy(group, rate, rule, frame):
    """The matrix equation by DOP853; uneven samples."""
    start = group.random(3)
    matrix = start if group.name != "unit quaternions" else so3.random(1)
    if group.name == "unit quaternions":
        matrix = quaternions.rotation(start)
    n = len(matrix)

    def rhs(t, y):
        X = group.hat(rate(np.array(t)))
        g = y.reshape(n, n)
        return (g @ X if frame == "body" else X @ g).ravel()

    end = solve_ivp(rhs, (0, 1), matrix.ravel(), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for count in (40, 80, 160):
        s = np.linspace(0.0, 1.0, count + 1)
        t = s + 0.1 * np.sin(2.0 * np.pi * s) / (2.0 * np.pi)
        g = group.integrate(t, rate(t), start, rule=rule, frame=frame)
        assert g.shape == (count + 1, *group.shape)
        np.testing.assert_allclose(g[0], start, atol=1e-15)
        last = quaternions.rotation(g[-1]) if group is quaternions else g[-1]
        errors.append(np.abs(last.ravel() - end).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(slopes, RULES[rule], atol=0.2)


def test_a_constant_rate_is_exact_and_a_rate_linear_in_time_is_of_order_four():
    t = np.linspace(0.0, 3.0, 7)
    w = np.broadcast_to([0.3, -1.0, 0.7], (7, 3))
    exact = Rotation.from_rotvec(t[:, None] * w).as_matrix()
    for rule in RULES:
        np.testing.assert_allclose(so3.integrate(t, w, rule=rule), exact, atol=1e-15)
    errors = []
    for n in (10, 20, 40, 4000):
        t = np.linspace(0.0, 1.0, n + 1)
        w = np.array([1.0, 0.5, -0.4]) + t[:, None] * np.array([-2.0, 1.0, 3.0])
        errors.append(so3.integrate(t, w, rule="linear")[-1])
    gaps = [np.abs(R - errors[-1]).max() for R in errors[:-1]]
    np.testing.assert_allclose(np.log2(np.array(gaps[:-1]) / gaps[1:]), 4.0, atol=0.1)


def test_quaternions_follow_the_rotations_without_a_jump_of_sign():
    t = np.linspace(0.0, 20.0, 2001)
    w = 3.0 * wild_rate(t)
    q = quaternions.integrate(t, w, rule="cubic")
    np.testing.assert_allclose(
        quaternions.rotation(q), so3.integrate(t, w, rule="cubic"), atol=1e-12
    )
    assert (q[1:] * q[:-1]).sum(-1).min() > 0.9
    assert q[:, 0].min() < 0.0


def test_a_million_samples_in_one_call():
    t = np.arange(10**6) / 1000.0
    w = np.stack([np.sin(t), np.cos(0.7 * t), 0.1 + 0.0 * t], -1)
    so3.integrate(t[:10], w[:10])  # compiled
    began = time.monotonic()
    R = so3.integrate(t, w, rule="cubic")
    assert time.monotonic() - began < 100.0 * pace()  # ten times that, where it was written
    np.testing.assert_allclose(R[-1].T @ R[-1], np.eye(3), atol=1e-14)


WRONG = [
    ({"t": [0.0, 0.0, 1.0]}, "t must be finite and increase"),
    ({"t": [0.0]}, r"t must be at least 2 times for rule='linear', shape \(n,\), got shape \(1,\)"),
    ({"rule": "cubic"}, "t must be at least 4 times for rule='cubic'"),
    ({"rule": "Simpson"}, "rule must be one of 'constant', 'linear', 'cubic', got 'Simpson'"),
    ({"frame": "earth"}, "frame must be one of 'body', 'space'"),
    ({"omega": np.ones((2, 3))}, r"omega must have shape \(3, 3\), one row for each time"),
    ({"omega": np.full((3, 3), np.nan)}, "omega must be finite"),
    ({"start": np.ones((3, 3))}, "start is not a rotation matrix"),
    ({"start": np.stack([np.eye(3)] * 2)}, r"start must be one element of shape \(3, 3\)"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_refused(change, message):
    good = {"t": [0.0, 1.0, 2.0], "omega": np.ones((3, 3))}
    with pytest.raises(ValueError, match=message):
        so3.integrate(**{**good, **change})
