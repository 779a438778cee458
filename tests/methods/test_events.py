"""Events: found, located to round-off on the manifold, in order; terminal ones end the run."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import Event, actions
from lielab.core.jit import jit
from lielab.systems import ActionSystem, FreeRigidBody, SphericalPendulum

PENDULUM = SphericalPendulum()
TIGHT = {"rtol": 1e-11, "atol": 1e-11}


def height(t, y):
    return y[0] - 0.1


@jit
def height_kernel(t, y):
    return y[0] - 0.1


def crossings_by_scan(t_end):
    """Zeros of height from a fine sampling, refined by bisection on sol(t): independent of the watcher."""
    sol = lielab.solve(PENDULUM, (0, t_end), method="RKMK8", h=0.01)
    t = np.linspace(0, t_end, 4001)
    values = height(t, sol(t).T)
    found = []
    for i in np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:])):
        low, high = t[i], t[i + 1]
        for _ in range(60):
            middle = 0.5 * (low + high)
            if np.sign(height(0, sol(middle))) == np.sign(values[i]):
                low = middle
            else:
                high = middle
        found.append(0.5 * (low + high))
    return np.array(found)


@pytest.mark.parametrize("event", [height, height_kernel, Event(height)])
@pytest.mark.parametrize("method", ["RKMK54", "RKMK8", "CF43", "DOP853"])
def test_crossings_are_located(event, method):
    expected = crossings_by_scan(5.0)
    assert len(expected) >= 4
    sol = lielab.solve(PENDULUM, (0, 5), method=method, events=event, **TIGHT)
    np.testing.assert_allclose(sol.t_events[0], expected, atol=1e-8)
    assert np.abs(height(0, sol.y_events[0].T)).max() < 1e-13
    if method != "DOP853":
        assert PENDULUM.defect(sol.y_events[0]).max() < 1e-13
    np.testing.assert_allclose(sol(sol.t_events[0]), sol.y_events[0], atol=1e-12)


@pytest.mark.parametrize("method", ["RKMK4", "RKMKGL4", "CF4"])
def test_fixed_steps_and_saving(method):
    sol = lielab.solve(PENDULUM, (0, 5), method=method, h=0.01, save_every=9, events=height)
    np.testing.assert_allclose(sol.t_events[0], crossings_by_scan(5.0), atol=1e-6)
    plain = lielab.solve(PENDULUM, (0, 5), method=method, h=0.01, save_every=9)
    np.testing.assert_array_equal(sol.t, plain.t)
    np.testing.assert_array_equal(sol.y, plain.y)


def test_directions():
    both, up, down = (
        lielab.solve(PENDULUM, (0, 5), events=Event(height, direction=d), **TIGHT).t_events[0]
        for d in (0, 1, -1)
    )
    np.testing.assert_array_equal(np.sort(np.concatenate([up, down])), both)
    start = height(0, PENDULUM.y0)
    assert (up[0] < down[0]) == (start < 0)


@pytest.mark.parametrize("method", ["RKMK54", "DOP853"])
@pytest.mark.parametrize("every", [1, 5])
def test_terminal_event_ends_the_run(method, every):
    second = Event(lambda t, y: t - 0.123)  # another event before it
    stop = Event(height, terminal=True)
    sol = lielab.solve(
        PENDULUM, (0, 5), method=method, events=[stop, second], save_every=every, **TIGHT
    )
    assert sol.success
    assert sol.status == 1
    assert "terminal event" in sol.message
    assert sol.t[-1] == sol.t_events[0][0] == pytest.approx(crossings_by_scan(5.0)[0], abs=1e-9)
    np.testing.assert_array_equal(sol.y[-1], sol.y_events[0][0])
    every_step = lielab.solve(PENDULUM, (0, 5), method=method, events=[stop, second], **TIGHT)
    assert every_step.h.sum() == pytest.approx(sol.t[-1], abs=1e-13)
    assert sol.nsteps == len(every_step.h)
    rows = np.union1d(np.arange(every, sol.nsteps + 1, every), [sol.nsteps])
    np.testing.assert_array_equal(sol.h, every_step.h[rows - 1])
    if sol.t[-1] > 0.123:
        assert sol.t_events[1][0] == pytest.approx(0.123, abs=1e-13)
    middle = 0.4321 * sol.t[-1]
    whole = lielab.solve(PENDULUM, (0, 5), method=method, **TIGHT)
    np.testing.assert_allclose(sol(middle), whole(middle), atol=1e-12)


@pytest.mark.parametrize(
    ("system", "method", "h"),
    [
        (PENDULUM, "RKMK4", 0.01),
        (PENDULUM, "RKMKGL4", 0.01),
        (PENDULUM, lielab.compose("RKMK2", [0.3, 0.2, 0.5]), 0.01),
        (PENDULUM, "RATTLE", 0.01),
        (PENDULUM, "RKMK54", None),
        (PENDULUM, "CF43", None),
        (FreeRigidBody(), lielab.adjoint("LieEuler"), 0.01),
        (FreeRigidBody(), "DOP853", None),
        (FreeRigidBody(), "RK45", None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_terminal_event_ends_the_counts_as_well(system, method, h):
    """They are those of a run that may take no more steps, not of all that was computed before events are looked at."""
    given = {"method": method, **({"h": h} if h else {"rtol": 1e-7, "h0": 0.3})}
    for time in (0.234, 0.61, 4.321):  # inside the first look, and far beyond it
        stop = Event(lambda t, y, time=time: t - time, terminal=True)
        sol = lielab.solve(system, (0, 10), events=stop, **given)
        assert sol.status == 1
        most = sol.nsteps if method in ("RK45", "DOP853") else sol.nsteps + sol.nrejected
        same = lielab.solve(system, (0, 10), max_steps=most, **given)
        assert "max_steps" in same.message
        found, wanted = ((s.nfev, s.nsteps, s.nrejected) for s in (sol, same))
        assert found == wanted
        assert sol.t[-2] == same.t[-2]


def test_scipys_attributes_are_honoured():
    def ground(t, y):
        return height(t, y)

    ground.terminal, ground.direction = True, 1
    sol = lielab.solve(PENDULUM, (0, 5), events=ground, **TIGHT)
    assert sol.status == 1
    assert len(sol.t_events[0]) == 1


def test_a_zero_at_the_start_is_left_not_met():
    """A run that goes on from an event does not find it again."""
    first = lielab.solve(PENDULUM, (0, 5), events=Event(height, terminal=True), **TIGHT)
    t = first.t[-1]
    again = lielab.solve(
        PENDULUM, (t, 5), first.y[-1], events=Event(lambda t, y: y[0] - first.y[-1][0]), **TIGHT
    )
    assert again.t_events[0][0] - t > 0.1


def test_no_crossing_and_backward():
    sol = lielab.solve(PENDULUM, (0, 1), events=lambda t, y: 1.0 + y[2] ** 2)
    assert sol.t_events[0].shape == (0,)
    assert sol.y_events[0].shape == (0, 6)
    there = lielab.solve(PENDULUM, (0, 5), events=height, **TIGHT)
    back = lielab.solve(PENDULUM, (5, 0), there.y[-1], events=height, **TIGHT)
    np.testing.assert_allclose(back.t_events[0][::-1], there.t_events[0], atol=1e-8)


def test_refused():
    with pytest.raises(ValueError, match=r"an event needs a function of \(t, y\), got 3"):
        lielab.solve(PENDULUM, (0, 1), events=3)
    with pytest.raises(ValueError, match="direction must be -1, 0 or 1"):
        Event(height, direction=2)


def test_an_error_in_an_event_carries_the_solution():
    def broken(t, y):
        if t > 0.5:
            raise ZeroDivisionError("broken")
        return 1.0

    with pytest.raises(ZeroDivisionError) as caught:
        lielab.solve(PENDULUM, (0, 1), method="RKMK4", h=0.01, events=broken, save_every=10)
    assert caught.value.solution.t[-1] >= 0.5


FIXED = {"method": "RKMK4", "h": 0.1}


def test_an_event_that_writes_into_y_leaves_the_run_alone():
    def writes(t, y):
        y[:3] = 0.0, 0.0, 1.0
        return t - 0.55

    sol = lielab.solve(PENDULUM, (0, 1), events=writes, **FIXED)
    assert sol.y.tolist() == lielab.solve(PENDULUM, (0, 1), **FIXED).y.tolist()
    assert sol.t_events[0] == pytest.approx([0.55])


@pytest.mark.parametrize(
    ("late", "got"), [(np.nan, "nan"), (1j, "None"), ("a", "None"), ([1.0], "None")]
)
def test_an_event_without_a_number_is_named(late, got):
    """Comparisons with NaN are false: the crossing would go unnoticed."""

    def odd(t, y):
        return late if t > 0.45 else -1.0

    with pytest.raises(ValueError, match=rf"event 'odd' .* got {got} at t = 0\.5") as caught:
        lielab.solve(PENDULUM, (0, 1), events=odd, **FIXED)
    assert caught.value.solution.t[-1] >= 0.5


def test_tiny_values_cross_too():
    sol = lielab.solve(PENDULUM, (0, 1), events=lambda t, y: 1e-200 * (t - 0.55), **FIXED)
    assert sol.t_events[0] == pytest.approx([0.55])


def test_odd_counts_directions_and_spacings_are_refused():
    def event(t, y):
        return t - 0.5

    for wrong in (-1, 2.5, "a"):
        event.terminal = wrong
        with pytest.raises(ValueError, match="terminal must be True or False .*the k-th does"):
            lielab.solve(PENDULUM, (0, 1), events=event, **FIXED)
    for wrong in (0.0, -1.0, np.nan, "a"):
        with pytest.raises(ValueError, match="spacing must be a positive time"):
            Event(event, spacing=wrong)
    event.terminal, event.direction = True, np.nan
    with pytest.raises(ValueError, match="direction must be -1, 0 or 1, got nan"):
        lielab.solve(PENDULUM, (0, 1), events=event, **FIXED)
    event.direction = 3.5
    assert lielab.solve(PENDULUM, (0, 1), events=event, **FIXED).t[-1] == pytest.approx(0.5)


def test_a_solution_is_asked_for_times():
    sol = lielab.solve(PENDULUM, (0, 1), **FIXED)
    for wrong in ("a", 1j, np.ma.array([0.1], mask=[True])):
        with pytest.raises(ValueError, match="t must be a time or an array of times"):
            sol(wrong)


# --- several crossings in one step ------------------------------------------------------------------


def turning(rate, start=(1.0, 0.0, 0.0)):
    """A steady rotation, which Lie group methods take in steps of many turns: x = cos(rate t), y = sin(rate t)."""

    def steady(t, y, p):
        return [0.0, 0.0, p[0]]

    return ActionSystem(actions.SO3_ON_S2, steady, start, (rate,))


def x(t, y):
    return y[0]


def test_the_first_of_many_crossings_ends_the_run():
    sol = lielab.solve(turning(1.0), (0, 100), events=Event(x, terminal=True, direction=1))
    assert sol.t[-1] == pytest.approx(1.5 * np.pi, abs=1e-12)


@pytest.mark.parametrize("method", ["RKMK54", "CF43", "DOP853"])
def test_all_crossings_in_steps_of_many_turns(method):
    right = np.pi * (np.arange(32) + 0.5)
    sol = lielab.solve(turning(1.0), (0, 100), method=method, events=x)
    assert len(sol.t_events[0]) == 32
    tolerance = 0.05 if method == "DOP853" else 1e-11
    np.testing.assert_allclose(sol.t_events[0], right, atol=tolerance)
    end = sol.y[-1] / np.linalg.norm(sol.y[-1])
    back = lielab.solve(turning(1.0), (100, 0), end, method=method, events=x)
    np.testing.assert_allclose(back.t_events[0], right[::-1], atol=2 * tolerance)


def test_a_thousand_turns_and_steps_of_whole_turns():
    fast = lielab.solve(turning(1000.0), (0, 1), events=x).t_events[0]
    np.testing.assert_allclose(fast, np.arange(np.pi / 2, 1000, np.pi) / 1000, atol=1e-12)
    fixed = lielab.solve(turning(1.0), (0, 8 * np.pi), method="RKMK4", h=2 * np.pi, events=x)
    np.testing.assert_allclose(fixed.t_events[0], np.pi * (np.arange(8) + 0.5), atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_kth_crossing_ends_the_run(k):
    sol = lielab.solve(turning(1.0), (0, 100), events=[Event(x, terminal=k), Event(x, direction=1)])
    assert sol.status == 1
    assert sol.t[-1] == pytest.approx(np.pi * (k - 0.5))
    assert len(sol.t_events[0]) == k
    assert len(sol.t_events[1]) == k // 2
    rising = lielab.solve(turning(1.0), (0, 100), events=Event(x, terminal=k, direction=1))
    assert rising.t[-1] == pytest.approx(np.pi * (2 * k - 0.5))


def test_events_of_time_alone_in_a_slow_motion():
    """The state hardly moves in a step, the event turns five times."""
    sol = lielab.solve(
        *(turning(0.05), (0, 10.2)),
        method="RKMK4",
        h=5.1,
        events=lambda t, y: np.sin(2 * np.pi * t),
    )
    np.testing.assert_allclose(sol.t_events[0], np.arange(1, 21) / 2, atol=1e-12)


def test_two_crossings_that_graze():
    """sin t comes above 1 - 1e-7 for 9e-4 s inside a step of 0.1 s, and never above 1 + 1e-7."""
    run = {"method": "RKMK4", "h": 0.1}
    above = lielab.solve(turning(1.0), (0, 6.3), events=lambda t, y: y[1] - (1 - 1e-7), **run)
    right = np.pi / 2 + np.arccos(1 - 1e-7) * np.array([-1.0, 1.0])
    np.testing.assert_allclose(above.t_events[0], right, atol=1e-11)
    never = lielab.solve(turning(1.0), (0, 6.3), events=lambda t, y: y[1] - (1 + 1e-7), **run)
    assert never.t_events[0].size == 0


def test_jumps_kinks_and_infinite_values():
    run = {"method": "RKMK4", "h": 0.1}
    jump = lielab.solve(turning(1.0), (0, 5), events=lambda t, y: 1.0 if t < 3.33 else -1.0, **run)
    np.testing.assert_allclose(jump.t_events[0], [3.33], atol=1e-12)
    kink = lielab.solve(turning(1.0), (0, 3), events=lambda t, y: abs(y[0]) - 1e-5, **run)
    np.testing.assert_allclose(kink.t_events[0], np.pi / 2 + np.array([-1e-5, 1e-5]), atol=1e-11)
    wall = lielab.solve(
        turning(1.0), (0, 5), events=lambda t, y: np.inf if t < 2.0 else y[0], **run
    )
    np.testing.assert_allclose(wall.t_events[0], [2.0, 1.5 * np.pi], atol=1e-11)


def test_spacing_finds_a_narrow_spike():
    run = {"method": "RKMK4", "h": 1.0}

    def spike(t, y):
        return max(0.0, 0.01 - abs(t - 3.33)) - 1e-3

    sol = lielab.solve(turning(0.1), (0, 10), events=Event(spike, spacing=0.01), **run)
    np.testing.assert_allclose(sol.t_events[0], [3.321, 3.339], atol=1e-12)


def test_a_step_of_too_many_turns_is_warned_of():
    with pytest.warns(RuntimeWarning, match="crossings may be missed there, use a smaller h"):
        lielab.solve(turning(1e5), (0, 1), method="RKMK4", h=1.0, events=x)


@pytest.mark.parametrize("method", ["RATTLE", "RKMK8", "RKMKGL4"])
def test_long_steps_of_every_kind_find_the_crossings_of_their_own_interpolant(method):
    """What the solution says between its steps and what the events say are one thing."""
    system, h = SphericalPendulum(), 0.25
    sol = lielab.solve(system, (0, 10), method=method, h=h, events=height)
    t = np.linspace(0, 10, 20001)
    values = height(t, sol(t).T)
    scanned = t[1:][np.sign(values[1:]) != np.sign(values[:-1])]
    assert len(scanned) > 8
    np.testing.assert_allclose(sol.t_events[0], scanned, atol=1e-3)
