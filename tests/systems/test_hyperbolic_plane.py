"""A particle on SL(2)/SO(2): against SciPy, against known geodesics of the disc, and what the leapfrog keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import lielab
from lielab import diagnostics
from lielab.systems import ParticleOnHyperbolicPlane

SYSTEM = ParticleOnHyperbolicPlane(mass=1.3, stiffness=0.7)


def hat(v):
    return np.array([[v[0], v[1]], [v[1], -v[0]]])


def in_the_disc(t, state):
    """Newton's equations in Poincare's disc with the metric ds^2 = |dz|^2/(1 - |z|^2)^2, written out by hand.

    L = m |z'|^2/(2 f^2) - V, f = 1 - |z|^2; V = 2 k |z|^2/f^2 * ... with cosh 2 d = (1 + r^2)^2/f^2 + 4 r^2/f^2 - ...
    """
    z, dz = state[:2], state[2:]
    m, k = SYSTEM.mass, SYSTEM.stiffness
    f = 1.0 - z @ z
    # z'' + 2 (z . z') z'/f * 2 - 2 |z'|^2 z/f = -f^2 grad V / m
    # tanh d = |z|: cosh 2 d = (1 + r^2)/(1 - r^2), grad = 4 z/f^2
    force = -(f**2) * k * 4.0 * z / f**2 / m
    return np.concatenate([dz, force - (4.0 * (z @ dz) * dz - 2.0 * (dz @ dz) * z) / f])


def disc_velocity(system, y, h=1e-6):
    """z' by differences of the points along q' = hat(v) q."""

    def moved(s):
        q = expm(s * hat(y[4:])) @ y[:4].reshape(2, 2)
        return system.points(np.concatenate([q.ravel(), y[4:]]))

    return (moved(h) - moved(-h)) / (2 * h)


@pytest.mark.parametrize("method", ["RiemannianLeapfrog", "RKMK4"])
def test_it_moves_as_in_the_disc(method):
    start = np.concatenate([SYSTEM.points(SYSTEM.y0), disc_velocity(SYSTEM, SYSTEM.y0)])
    end = solve_ivp(in_the_disc, (0, 2), start, method="DOP853", rtol=1e-11, atol=1e-11).y[:2, -1]
    errors = []
    for n in (40, 80, 160):
        sol = lielab.solve(SYSTEM, (0, 2), method=method, h=2 / n)
        errors.append(np.abs(SYSTEM.points(sol.y[-1]) - end).max())
    order = {"RiemannianLeapfrog": 2, "RKMK4": 4}[method]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert errors[-1] < 1e-3


def test_free_motion_is_exact():
    """Along q -> exp(t hat(v)) q in one step; through the origin |z| = tanh(|v| t)."""
    free = ParticleOnHyperbolicPlane(stiffness=0.0)
    y = np.array([1.0, 0.0, 0.0, 1.0, 0.6, -0.8])
    sol = lielab.solve(free, (0, 1.5), y, method="RiemannianLeapfrog", h=1.5)
    np.testing.assert_allclose(sol.q[-1], expm(1.5 * hat(y[4:])), atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(free.points(sol.y[-1])), np.tanh(1.5), atol=1e-14)


def test_what_the_leapfrog_keeps():
    sol = lielab.solve(SYSTEM, (0, 200), method="RiemannianLeapfrog", h=0.05, save_every=4)
    assert sol.defect().max() < 1e-12
    assert np.ptp(sol.invariants()["angular momentum"]) < 1e-12
    error = sol.energy() - sol.energy()[0]
    halves = [np.abs(part).max() for part in np.array_split(error, 2)]
    assert halves[1] < 1.2 * halves[0] < 0.01
    assert diagnostics.symmetry(SYSTEM, "RiemannianLeapfrog", 0.1) < 1e-13
    (row,) = diagnostics.energy_drift_test(["RiemannianLeapfrog"], 0.1, system=SYSTEM, t_end=200)
    assert row.verdict == "bounded"


def test_its_data_are_checked():
    with pytest.raises(ValueError, match="mass must be a positive number, got 0"):
        ParticleOnHyperbolicPlane(mass=0)
    with pytest.raises(ValueError, match="y0 is not on SL"):
        lielab.solve(SYSTEM, (0, 1), 1.1 * SYSTEM.y0, method="RKMK4", h=0.1)
    with pytest.raises(ValueError, match="determinant is not positive"):
        SYSTEM.project([1.0, 0, 0, -1, 0, 0])
    np.testing.assert_allclose(SYSTEM.project(1.1 * SYSTEM.y0)[:4], SYSTEM.y0[:4], atol=1e-15)
