"""Drift and defect: what they say of runs whose answer is known."""

import dataclasses

import numpy as np
import pytest

import lielab
from lielab import diagnostics
from lielab.systems import FreeRigidBody, SphericalPendulum

BODY = FreeRigidBody()


@pytest.fixture
def run():
    return lielab.solve(BODY, (0, 10), method="RKMK4", h=0.1)


def with_states(run, y):
    return dataclasses.replace(run, y=np.asarray(y))


def test_a_linear_trend_is_found_exactly(run):
    found = diagnostics.drift(run, lambda y: 3.0 - 0.25 * run.t)
    assert found.slope == pytest.approx(-0.25, abs=1e-14)
    assert found.slope_error < 1e-14
    assert found.largest == pytest.approx(2.5)


def test_noise_has_no_trend_beyond_its_uncertainty(run):
    noise = np.random.default_rng(1).normal(size=len(run.t))
    found = diagnostics.drift(run, lambda y: noise)
    spread = np.std(noise) / np.sqrt(len(noise)) / np.std(run.t)
    assert found.slope_error == pytest.approx(spread, rel=0.05)
    assert abs(found.slope) < 3 * found.slope_error


def test_drift_of_a_vector_takes_its_worst_component(run):
    found = diagnostics.drift(run, lambda y: np.stack([0.1 * run.t, -run.t], axis=1))
    assert found.slope == pytest.approx(-1.0)
    assert found.largest == pytest.approx(np.hypot(1.0, 10.0))


def test_drift_by_name(run):
    energy = run.energy()
    assert diagnostics.drift(run).largest == np.abs(energy - energy[0]).max()
    assert diagnostics.drift(run, "|mu|").largest < 1e-14
    with pytest.raises(ValueError, match=r"quantity must be one of energy, \|mu\|"):
        diagnostics.drift(run, "momentum")


def test_energy_of_rk4_walks_away_and_that_of_a_fine_run_does_not():
    coarse = lielab.solve(BODY, (0, 500), method="RK4", h=0.5)
    found = diagnostics.drift(coarse)
    assert abs(found.slope) > 100 * found.slope_error
    fine = lielab.solve(BODY, (0, 500), rtol=1e-12, atol=1e-12)
    assert diagnostics.drift(fine).largest < 1e-8


def test_defect_is_the_largest_distance():
    pendulum = SphericalPendulum()
    sol = lielab.solve(pendulum, (0, 1), method="RKMK4", h=0.1)
    assert diagnostics.defect(sol) < 1e-14
    y = sol.y.copy()
    y[3, :3] *= 1.25
    y[3, 3:] = 0.0
    assert diagnostics.defect(with_states(sol, y)) == pytest.approx(0.25)
    ambient = lielab.solve(pendulum, (0, 20), method="RK4", h=0.1)
    assert diagnostics.defect(ambient) == ambient.defect().max()
    assert diagnostics.defect(ambient) > 1e-3
