"""The spherical midpoint method: its equation, order, symmetry, what it keeps, what takes it."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import diagnostics
from lielab.actions import SO3_ON_S2
from lielab.systems import ActionSystem, LandauLifshitz, PointVortices

SPINS = LandauLifshitz(4, anisotropy=0.7, field=(0.5, 1.0, 1.0), axis=(1, 2, 2))
VORTICES = PointVortices((1.0, -2.0, 0.5))
SCATTERED = VORTICES.project([1, 0.2, 0, -0.3, 1, 0.4, 0.1, -0.7, 1.0])


def run(system, y=None, **named):
    sol = lielab.solve(system, named.pop("span", (0, 1)), y, method="SphericalMidpoint", **named)
    assert sol.success, sol.message
    return sol


def test_a_step_solves_its_equation():
    form, h = SPINS.formulations["action"], 0.2
    y, new = run(SPINS, span=(0, h), h=h).y
    q, Q = y.reshape(-1, 3), new.reshape(-1, 3)
    m = (q + Q) / np.linalg.norm(q + Q, axis=1, keepdims=True)
    f = form.field(0.5 * h, m.ravel(), form.params).reshape(-1, 3)
    np.testing.assert_allclose(Q, q + h * np.cross(f, m), atol=1e-15)


@pytest.mark.parametrize(("system", "y"), [(SPINS, None), (VORTICES, SCATTERED)])
def test_order_two_symmetric_symplectic(system, y):
    exact = lielab.solve(system, (0, 1), y, method="RKMK8", rtol=1e-11, atol=1e-11).y[-1]
    errors = [np.abs(run(system, y, h=1 / n).y[-1] - exact).max() for n in (20, 40, 80)]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.05)
    assert diagnostics.symmetry(system, "SphericalMidpoint", 0.1, y) < 1e-14
    assert diagnostics.symplecticity(system, "SphericalMidpoint", 0.1, y) < 1e-11
    assert diagnostics.symplecticity(system, "LieEuler", 0.1, y) > 1e-6


def test_it_keeps_lengths_momenta_and_the_energy_within_bounds():
    sol = run(SPINS, span=(0, 500), h=0.1, save_every=5)
    moment = sol.invariants()["moment along the axis"]
    assert np.ptp(moment) < 1e-11
    assert sol.defect().max() < 2e-15
    error = sol.energy() - sol.energy()[0]
    halves = [np.abs(part).max() for part in np.array_split(error, 2)]
    assert halves[1] < 1.5 * halves[0] < 0.1
    sol = run(VORTICES, SCATTERED, span=(0, 50), h=0.05)
    np.testing.assert_allclose(
        sol.invariants()["moment"],
        sol.invariants()["moment"][[0]].repeat(len(sol.t), 0),
        atol=1e-12,
    )


def test_readers_systems_of_directions_take_it_and_others_do_not():
    def wind(t, y, p):
        return [p[0] * y[1], np.sin(t), y[0] * y[2]]

    own = ActionSystem(SO3_ON_S2, wind, (0.0, 0.6, 0.8), p=(2.0,))
    exact = lielab.solve(own, (0, 1), method="RKMK8", rtol=1e-11, atol=1e-11).y[-1]
    errors = [np.abs(run(own, h=1 / n).y[-1] - exact).max() for n in (20, 40, 80)]
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.1)
    with pytest.raises(ValueError, match="SphericalMidpoint needs the formulation 'directions'"):
        run(lielab.systems.FreeRigidBody(), h=0.1)
    with pytest.raises(ValueError, match="whole number of equal steps"):
        run(SPINS, h=0.3)
    failed = lielab.solve(SPINS, (0, 50), method="SphericalMidpoint", h=50.0)
    assert not failed.success
    assert "did not converge" in failed.message
