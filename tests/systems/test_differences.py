"""Derivatives of readers' functions by differences: whatever the scale, and with an error estimate that is true."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab.core.differences import slope
from lielab.systems import CotangentSystem, FreeRigidBody, ParticleOnSphere, RigidBodyInPotential


def kepler(y, p):
    return 0.5 * (y[2] ** 2 + y[3] ** 2) - p[0] / np.sqrt(y[0] ** 2 + y[1] ** 2)


def free(y, p):
    P = y[:9].reshape(3, 3).T @ y[9:]
    return 0.5 * (P[0] ** 2 / p[0] + P[1] ** 2 / p[1] + P[2] ** 2 / p[2])


def noise(x):
    """Numbers between 0 and 1 that follow no rule."""
    return (43758.5453 * np.sin(12.9898e7 * x + 0.3)) % 1.0


def off(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


# --- one number ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("guess", [1e-4, 1.0, 1e4])
def test_slope_finds_the_scale(scale, guess):
    for function, right in ((np.exp, 1.0), (lambda x: np.sin(x + 1.0), np.cos(1.0))):
        found, error = slope(lambda s, f=function: f(s / scale), scale * guess)
        assert abs(found - right / scale) < 1e-11 / scale
        assert abs(found - right / scale) <= 10.0 * error + 1e-15 / scale


def test_slope_of_an_array_and_of_a_constant():
    found, error = slope(lambda s: np.array([[1.0, 2.0 + s], [np.sin(s), 0.0]]))
    np.testing.assert_allclose(found, [[0.0, 1.0], [1.0, 0.0]], rtol=0, atol=1e-13)
    assert error < 1e-12
    assert slope(lambda s: 3.0)[0] == 0.0


def test_slope_knows_how_bad_it_is():
    rough, error = slope(lambda s: np.sin(s) + 1e-5 * noise(s))
    assert abs(rough - 1.0) <= error
    assert error > 1e-6
    kink, error = slope(lambda s: abs(s - 1e-30))
    assert error > 1e-3 or abs(kink) == 1.0


# --- systems ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1e-9, 0.05, 1e11])
def test_orbits_close_whatever_their_size(r):
    """A circular Kepler orbit closes after T = 2 pi r^1.5."""
    T = 2 * np.pi * r**1.5
    system = CotangentSystem(lielab.rn(2), ([r, 0.0], [0.0, r**-0.5]), kepler, p=(1.0,))
    sol = lielab.solve(system, (0, T), method="RKMK4", h=T / 2000)
    assert sol.success
    assert np.linalg.norm(sol.y[-1, :2] - [r, 0.0]) / r < 1e-8
    # on an orbit of another size the same system serves as well
    field = system.formulations["action"].field
    for size in (0.01 * r, 100.0 * r):
        v = size**-0.5
        y = np.array([0.6 * size, 0.8 * size, -0.8 * v, 0.6 * v])
        found = field(0.0, y, system.params)
        assert off(found[:2], y[2:]) < 1e-10
        assert off(found[2:], -y[:2] / size**3) < 1e-10


def test_attitude_does_not_depend_on_the_unit_of_mass():
    body = FreeRigidBody(inertia=(1, 2, 3), attitude=True)
    start = body.pack(R=np.eye(3), mu=[0.3, 0.1, 1.0])
    right = lielab.solve(body, (0, 10), start, method="RKMK8", h=0.01).R[-1]
    again = lielab.solve(body, (0, 10), start, method="SLGI", h=0.01)
    for unit in (1e-6, 1e-12, 1e-18):
        mu, inertia = unit * np.array([0.3, 0.1, 1.0]), unit * np.array([1.0, 2.0, 3.0])
        system = CotangentSystem(lielab.so3, (np.eye(3), mu), free, p=tuple(inertia))
        sol = lielab.solve(system, (0, 10), method="RKMK4", h=0.01)
        assert sol.success
        assert np.abs(sol.g[-1] - right).max() < 1e-8
        # SLGI's own iteration must not measure momenta by 1 either
        sol = lielab.solve(system, (0, 10), method="SLGI", h=0.01)
        assert sol.success
        assert np.abs(sol.g[-1] - again.R[-1]).max() < 1e-10
        assert sol.nfev < 1.2 * again.nfev


def test_rest_is_no_reason_to_lose_the_scale():
    """A pendulum of mass 1e-18 let go near its lowest point: small swings of frequency 1."""

    def pendulum(y, p):
        return y[1] ** 2 / (2 * p[0]) - p[0] * np.cos(y[0])

    for q in (1e-3, 0.0):
        system = CotangentSystem(lielab.rn(1), ([q], [0.0]), pendulum, p=(1e-18,))
        for method in ("RKMK4", "SLGI"):
            sol = lielab.solve(system, (0, 2), method=method, h=0.01)
            assert sol.success
            assert np.abs(sol.g[:, 0] - q * np.cos(sol.t)).max() <= 2e-5 * q


@pytest.mark.parametrize("k", [1.0, 30.0, 1000.0])
def test_torque_of_a_stiff_potential(k):
    """U = cos(k R_13): tau_i = k sin(k R_13) (R hat(e_i))_13, and the derivative that LGVI uses."""
    system = RigidBodyInPotential((1, 2, 3), lambda R, p: np.cos(p[0] * R[0, 2]), p=(k,))
    R = lielab.so3.exp([0.3, 0.5, -0.2])
    y = np.concatenate([R.ravel(), [0.1, 0.2, 0.3]])
    turned = np.array([(R @ lielab.so3.hat(e))[0, 2] for e in np.eye(3)])
    form = system.formulations["rigid_body"]
    assert off(form.torque(0.0, y, form.params), k * np.sin(k * R[0, 2]) * turned) < 1e-10
    assert 0.0 < system.difference_error(y) < 1e-10
    lagrangian = system.formulations["lagrangian"]
    slopes = lagrangian.kernel(0.0, y, lagrangian.params)[7:16].reshape(3, 3)
    twice = np.array(
        [[(R @ lielab.so3.hat(b) @ lielab.so3.hat(a))[0, 2] for b in np.eye(3)] for a in np.eye(3)]
    )
    right = k * k * np.cos(k * R[0, 2]) * np.outer(turned, turned) + k * np.sin(k * R[0, 2]) * twice
    assert off(slopes, right) < 1e-7


def test_fast_particles_on_a_sphere():
    """Without a potential the acceleration is quadratic in the velocity, whatever the speed."""

    def metric(x, p):
        return np.eye(3) * (2.0 + np.sin(p[0] * x[1]))

    for k in (1.0, 100.0):
        system = ParticleOnSphere(metric, lambda x, p: 0.0 * x[0], p=(k,))
        form, y = system.formulations["action"], system.y0
        one = form.field(0.0, y, form.params)[3:]
        for c in (1e-6, 1e3, 1e6):
            fast = np.append(y[:3], c * y[3:])
            assert off(form.field(0.0, fast, form.params)[3:], c**2 * one) < 1e-11
        gradient = system.formulations["metric"].metric_gradient(0.0, y, form.params)
        right = k * np.cos(k * y[1]) * (y[3:] @ y[3:])
        np.testing.assert_allclose(gradient, [0.0, right, 0.0], rtol=1e-11, atol=1e-12)


def test_a_derivative_that_cannot_be_had_is_refused():
    def rough(y, p):
        return 0.5 * y[1] ** 2 - np.cos(y[0]) + 1e-4 * noise(y[0])

    system = CotangentSystem(lielab.rn(1), ([0.5], [1.0]), rough)
    with pytest.raises(
        ValueError, match="hamiltonian has no derivative by differences at the start"
    ):
        system.formulations  # noqa: B018

    def rough_beyond(y, p):
        rest = 1e-4 * noise(y[0]) if y[0] > 1.0 else 0.0
        return 0.5 * y[1] ** 2 - np.cos(y[0]) + rest

    system = CotangentSystem(lielab.rn(1), ([0.5], [1.0]), rough_beyond)
    sol = lielab.solve(system, (0, 2), method="RKMK4", h=0.01)
    assert not sol.success
    assert 0.4 < sol.t[-1] < 0.8
    assert system.difference_error(np.array([0.5, 1.0])) < 1e-10
    assert system.difference_error(np.array([1.5, 1.0])) > 1e-6
    # a field of one's own needs none
    given = CotangentSystem(
        lielab.rn(1), ([0.5], [1.0]), rough_beyond, lambda t, y, p: np.array([y[1], -np.sin(y[0])])
    )
    assert given.difference_error(given.y0) == 0.0
