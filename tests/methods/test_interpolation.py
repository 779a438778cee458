"""sol(t): on the manifold, equal to the saved states, of the order of the method, whatever was saved."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lielab
from lielab.order_problems import problems
from lielab.systems import DoubleSphericalPendulum, FreeRigidBody

PENDULUM = DoubleSphericalPendulum()
SHAKEN = problems()["shaken pendulum"][0]
METHODS = ["LieEuler", "RKMK2", "RKMK3", "RKMK4", "CF4", "CG3", "RKMKGL4"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("system", [PENDULUM, SHAKEN], ids=["double", "shaken"])
def test_order_between_the_steps(system, method):
    """Largest error over many times, none of them at a step, against the order of the method."""
    declared = lielab.methods()[method].order
    times = np.linspace(0.0, 0.5, 38)[1:-1]  # 37 parts: no step ends there
    exact = lielab.solve(system, (0, 0.5), method="RKMK8", h=1e-3)(times)
    counts = {1: (256, 512, 1024), 2: (64, 128, 256), 3: (64, 128, 256)}.get(
        declared, (32, 64, 128)
    )
    errors = []
    for n in counts:
        sol = lielab.solve(system, (0, 0.5), method=method, h=0.5 / n)
        values = sol(times)
        assert system.defect(values).max() < 1e-13
        errors.append(np.abs(values - exact).max())
    slopes = np.diff(np.log(errors)) / -np.log(2.0)
    assert slopes == pytest.approx(declared, abs=0.1)


@pytest.mark.parametrize("method", ["RKMK54", "RKMK8", "CF43", "RKMK4", "RKMKGL4", "RK4"])
def test_saved_states_are_met_and_the_curve_has_no_jump(method):
    fixed = {} if lielab.methods()[method].embedded else {"h": 0.02}
    sol = lielab.solve(PENDULUM, (0, 1), method=method, **fixed)
    np.testing.assert_array_equal(sol(sol.t), sol.y)
    before = sol(sol.t[1:] - 1e-9)
    np.testing.assert_allclose(before, sol.y[1:], atol=1e-7)
    after = sol(sol.t[:-1] + 1e-9)
    np.testing.assert_allclose(after, sol.y[:-1], atol=1e-7)


@pytest.mark.parametrize("method", ["RKMK54", "CF43", "RKMK4", "RKMKGL4", "DOP853", "RK45"])
@pytest.mark.parametrize("every", [2, 7, 10**6])
def test_any_saving_gives_the_same_curve(method, every):
    fixed = {} if lielab.methods()[method].embedded else {"h": 0.02}
    full = lielab.solve(PENDULUM, (0, 1), method=method, **fixed)
    some = lielab.solve(PENDULUM, (0, 1), method=method, save_every=every, **fixed)
    times = np.linspace(0, 1, 101)
    np.testing.assert_allclose(some(times), full(times), atol=1e-12)


def test_shapes_and_directions():
    sol = lielab.solve(FreeRigidBody(), (0, 1), method="RKMK4", h=0.1)
    assert sol(0.55).shape == (3,)
    assert sol([0.1, 0.55]).shape == (2, 3)
    assert sol(np.full((2, 4), 0.3)).shape == (2, 4, 3)
    assert sol(np.array([])).shape == (0, 3)
    back = lielab.solve(FreeRigidBody(), (1, 0), sol.y[-1], method="RKMK54", rtol=1e-10, atol=1e-10)
    times = np.linspace(0, 1, 7)
    np.testing.assert_allclose(back(times), sol(times), atol=1e-5)
    np.testing.assert_array_equal(back(0.0), back.y[-1])


def test_scipy_uses_its_own_polynomial():
    sol = lielab.solve(PENDULUM, (0, 1), method="DOP853", rtol=1e-8, atol=1e-8)
    exact = lielab.solve(PENDULUM, (0, 1), method="RKMK8", h=1e-3)
    times = np.linspace(0, 1, 33)
    assert np.abs(sol(times) - exact(times)).max() < 1e-6
    assert 1e-13 < PENDULUM.defect(sol(times)).max() < 1e-6


def test_times_outside_are_refused():
    sol = lielab.solve(FreeRigidBody(), (0, 1), method="RKMK4", h=0.1)
    with pytest.raises(ValueError, match="t must lie in the run, between 0.0 and 1.0; got 1.5"):
        sol(1.5)
    with pytest.raises(ValueError, match="t must lie in the run"):
        sol(np.nan)
    with pytest.raises(ValueError, match="another process"):
        pickle.loads(pickle.dumps(sol))(0.55)


def test_evaluating_during_a_run_disturbs_nothing():
    """Events evaluate between chunks; the run must find its own stages again."""
    plain = lielab.solve(PENDULUM, (0, 3), rtol=1e-8, atol=1e-8)
    watched = lielab.solve(PENDULUM, (0, 3), rtol=1e-8, atol=1e-8, events=lambda t, y: y[0])
    np.testing.assert_array_equal(watched.y, plain.y)
    assert watched.nfev == plain.nfev
