"""sol(t): on the manifold, equal to the saved states, of the order of the method, whatever was saved."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

import lielab
from lielab import _runs
from lielab.study.order_problems import problems
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


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("RKMK54", {}),
        ("RKMK54", {"controller": "PI"}),
        ("CF43", {}),
        ("RKMK8", {}),
        ("DOP853", {}),
        ("RK45", {"max_step": 0.05}),
        ("RKMK4", {"h": 0.03}),  # the last step is shorter
        ("RKMKGL4", {"h": 0.05}),
    ],
    ids=str,
)
@pytest.mark.parametrize("span", [(0.0, 4.0), (4.0, 0.0)])
def test_the_steps_between_saved_rows_are_taken_again_to_the_same_numbers(method, options, span):
    full = lielab.solve(PENDULUM, span, method=method, **options)
    for every in (3, 10**6):
        some = lielab.solve(PENDULUM, span, method=method, save_every=every, **options)
        rows = np.union1d(np.arange(0, full.nsteps + 1, every), [full.nsteps])
        np.testing.assert_array_equal(some.y, full.y[rows])
        np.testing.assert_array_equal(some.h, full.h[rows[1:] - 1])
        assert (some.nsteps, some.nrejected) == (full.nsteps, full.nrejected)
        # At the steps that were not saved: the same states, up to what half a unit in the last place of t does.
        np.testing.assert_allclose(some(full.t), full.y, rtol=1e-13, atol=1e-13)
    assert full.nrejected > 0 or "h" in options or method in ("DOP853", "RK45")


@pytest.mark.parametrize("method", ["RKMK54", "DOP853"])
def test_a_run_that_an_event_ends_is_evaluated_between_its_rows(method):
    third = lielab.Event(lambda t, y: y[0], terminal=3)
    full = lielab.solve(PENDULUM, (0, 9), method=method, events=third)
    some = lielab.solve(PENDULUM, (0, 9), method=method, events=third, save_every=4)
    assert full.status == some.status == 1
    assert some.t[-1] == full.t[-1]
    assert some.h[-1] == full.h[-1]
    assert len(some.h) == len(some.t) - 1
    times = np.linspace(0, full.t[-1], 50)
    np.testing.assert_allclose(some(times), full(times), rtol=1e-12, atol=1e-12)


def test_a_chunk_has_room_for_every_row(monkeypatch):
    """It begins just before a row, passes another and ends between two: three rows in less than two intervals."""
    monkeypatch.setattr(_runs, "first_chunk", lambda seconds: 256)  # then 512
    sol = lielab.solve(FreeRigidBody(), (0, 6.0), method="RKMK4", h=0.01, save_every=257)
    np.testing.assert_allclose(sol.t, [0.0, 2.57, 5.14, 6.0])


def test_a_run_cut_short_keeps_the_step_to_its_last_row():
    some = lielab.solve(PENDULUM, (0, 4), save_every=7, max_steps=40)
    full = lielab.solve(PENDULUM, (0, 4), max_steps=40)
    assert not some.success
    assert len(some.h) == len(some.t) - 1
    assert (some.t[-1], some.h[-1], some.nsteps) == (full.t[-1], full.h[-1], len(full.h))
    times = np.linspace(0, some.t[-1], 50)
    np.testing.assert_allclose(some(times), full(times), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{"method": "RKMK4", "h": 1e-3}, {"max_step": 1e-3}], ids=str)
def test_memory_grows_with_the_saved_rows_alone(options):
    body = FreeRigidBody()

    def kept(steps):
        tracemalloc.start()
        try:
            sol = lielab.solve(body, (0, 1e-3 * steps), save_every=steps // 100, **options)
            held, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert sol.nsteps == pytest.approx(steps, abs=20)
        assert len(sol.h) == len(sol.t) - 1 <= 102
        return held, peak

    kept(1000)
    held, _ = kept(10**4)
    longer, peak = kept(3 * 10**5)
    assert abs(longer - held) < 20_000
    assert peak < 2e6  # a chunk's steps; those of the run are 2.4e6


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


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("end", [1.0, -1.0])
def test_times_that_rounding_sets_off_from_a_step(every, end):
    """A step of 1e-17 is none, and Newton's iteration finds none."""
    body = FreeRigidBody(attitude=True)
    whole = lielab.solve(body, (0, end), method="LGVI", h=0.05)
    sol = lielab.solve(body, (0, end), method="LGVI", h=0.05, save_every=every)
    near = np.concatenate([np.nextafter(whole.t[1:-1], side) for side in (-np.inf, 0.0, np.inf)])
    np.testing.assert_allclose(sol(near), np.tile(whole.y[1:-1], (3, 1)), atol=1e-13)
    np.testing.assert_allclose(sol(end / 2), whole.y[10], atol=1e-13)
