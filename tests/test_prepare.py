"""A solver made ready: the numbers of `solve` bit for bit, run after run, and no run leaves a trace in the next."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lielab
from lielab import actions, systems
from lielab.core import jit
from lielab.core.kernels import Kernel
from lielab.systems import ActionSystem

BODY = systems.FreeRigidBody(attitude=True)
TOP = systems.HeavyTop("right")
PENDULUM = systems.SphericalPendulum()
LOAD = systems.QuadrotorWithLoad()


def wobble(t, y, p):
    return [p[0] * y[2], p[1], np.cos(t)]


OWN = ActionSystem(actions.SO3_ON_S2, wobble, (0.0, 0.6, 0.8), p=(0.3, -0.7))
CASES = {
    "explicit": (BODY, {"method": "RKMK4", "h": 0.05}),
    "shorter last step": (BODY, {"method": "RKMK4", "h": 0.03}),
    "pair": (BODY, {"method": "RKMK54", "rtol": 1e-8}),
    "pair PI": (PENDULUM, {"method": "RKMK54", "controller": "PI", "h0": 0.1}),
    "by part": (BODY, {"method": "RKMK54", "atol": {"R": 1e-5, "mu": 1e-9}}),
    "order 8": (PENDULUM, {"method": "RKMK8"}),
    "commutator-free": (BODY, {"method": "CF43"}),
    "implicit": (BODY, {"method": "RKMKGL4", "h": 0.05, "solver": "newton"}),
    "rigid body": (BODY, {"method": "VLV", "h": 0.05}),
    "variational": (BODY, {"method": "LGVI", "h": 0.05}),
    "cotangent": (BODY, {"method": "SLGI", "h": 0.05, "theta": 0.25}),
    "multipliers": (LOAD, {"method": "LGVI", "h": 0.05}),
    "lift": (PENDULUM, {"method": "RKMK4", "h": 0.05, "action": "lift"}),
    "composition": (BODY, {"method": lielab.compose("LieMidpoint", "yoshida4"), "h": 0.05}),
    "adjoint": (PENDULUM, {"method": lielab.adjoint("LieEuler"), "h": 0.05}),
    "flat": (BODY, {"method": "RK4", "h": 0.05}),
    "scipy": (BODY, {"method": "DOP853"}),
    "own": (OWN, {"method": "RKMK54"}),
}
each_case = pytest.mark.parametrize(("system", "asked"), CASES.values(), ids=CASES)


def other_start(system):
    """A state that a run leads to."""
    if system is LOAD:
        return lielab.solve(system, (0.0, 0.1), method="LGVI", h=0.05).y[-1]
    return lielab.solve(system, (0.0, 0.7), method="RKMK4", h=0.05).y[-1]


@each_case
def test_a_prepared_run_is_that_of_solve_bit_for_bit(system, asked):
    solver = lielab.prepare(system, **asked)
    there = other_start(system)
    runs = [
        ((0.0, 1.0), None, 1),
        ((0.0, 1.0), there, 1),
        ((0.0, -1.0), there, 3),
        ((0.0, 1.0), None, 1),
    ]
    for span, start, every in runs:
        whole = lielab.solve(system, span, start, save_every=every, **asked)
        found = solver.run(span, start, save_every=every)
        assert found == whole
        assert found.success
        if whole.flow is not None:
            times = np.linspace(*span, 7)
            np.testing.assert_array_equal(found(times), whole(times))


@each_case
def test_threads_share_one_solver(system, asked):
    solver = lielab.prepare(system, **asked)
    starts = [system.y0, other_start(system)] * 3
    alone = [solver.run((0.0, 1.0), start) for start in starts]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda start: solver.run((0.0, 1.0), start), starts))
    assert together == alone


def test_earlier_solutions_stay_as_they_are():
    solver = lielab.prepare(LOAD, "LGVI", h=0.05)
    first = solver.run((0.0, 1.0))
    before = copy.deepcopy(first)
    solver.run((0.0, 1.0), other_start(LOAD))
    assert first == before
    np.testing.assert_array_equal(first(0.33), before(0.33)) if first.flow else None


def test_events_and_progress_are_those_of_solve(capsys):
    crossing = lielab.Event(lambda t, y: y[9], terminal=2)
    asked = {"method": "RKMK54", "rtol": 1e-8}
    found = lielab.prepare(BODY, **asked).run((0, 50), events=crossing, progress=True)
    whole = lielab.solve(BODY, (0, 50), events=crossing, **asked)
    np.testing.assert_array_equal(found.t, whole.t)
    np.testing.assert_array_equal(found.y, whole.y)
    np.testing.assert_array_equal(found.t_events, whole.t_events)
    assert found.status == 1
    assert "RKMK54" in capsys.readouterr().err


def test_params_of_a_readers_own_system():
    solver = lielab.prepare(OWN, "RKMK4", h=0.05)
    other = ActionSystem(actions.SO3_ON_S2, wobble, (0.0, 0.6, 0.8), p=(1.5, 0.25))
    for params in ((1.5, 0.25), {"p": np.array([1.5, 0.25])}):
        found = solver.run((0, 1), params=params)
        assert found == lielab.solve(other, (0, 1), method="RKMK4", h=0.05)
        assert found.system == other
        again = lielab.solve(found.system, (0, 1), method="RKMK4", h=0.05)
        np.testing.assert_array_equal(again.y, found.y)
    adaptive = lielab.prepare(OWN, "RKMK54").run((0, 1), params=(1.5, 0.25))
    assert adaptive == lielab.solve(other, (0, 1))
    flat = lielab.prepare(OWN, "RK45").run((0, 1), params=(1.5, 0.25))
    assert flat == lielab.solve(other, (0, 1), method="RK45")


@pytest.mark.parametrize("method", ["RKMK4", "VLV", "LGVI"])
def test_params_by_the_names_of_fields(method):
    """Where a method takes the inertia from elsewhere than p."""
    solver = lielab.prepare(BODY, method, h=0.05)
    found = solver.run((0, 1), params={"inertia": (1.0, 1.5, 2.0)})
    other = systems.FreeRigidBody((1.0, 1.5, 2.0), attitude=True)
    assert found == lielab.solve(other, (0, 1), method=method, h=0.05)
    assert found.system == other


REFUSED = {
    "no field": ({"mass": 2.0}, "params must name fields of FreeRigidBody.*inertia.*got mass"),
    "numbers": (
        (1.0, 2.0, 3.0),
        r"params must name fields of FreeRigidBody.*params=\{name: value\}",
    ),
    "bad value": ({"inertia": (1.0, -2.0, 3.0)}, "inertia.*positive.*-2"),
}


@pytest.mark.parametrize(("params", "message"), REFUSED.values(), ids=REFUSED)
def test_params_that_are_none_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        lielab.prepare(BODY, "RKMK4", h=0.1).run((0, 1), params=params)


def test_p_of_another_length_is_refused():
    """Compiled code would read behind its end."""
    with pytest.raises(ValueError, match="params must hold 2 numbers.*got 3"):
        lielab.prepare(OWN, "RKMK4", h=0.1).run((0, 1), params=(1, 2, 3))


BAD = {
    "system": (lambda: lielab.prepare("body"), "system must be a lielab System"),
    "method": (lambda: lielab.prepare(BODY, "RKMK44", h=0.1), "method must be one of.*RKMK44"),
    "h": (lambda: lielab.prepare(BODY, "RKMK4", h=-0.1), "h must be a positive number, got -0.1"),
    "no h": (lambda: lielab.prepare(BODY, "RKMK4"), "RKMK4 has no embedded pair.*give h"),
    "option": (lambda: lielab.prepare(BODY, dt=0.1), "no option 'dt'; the step is h"),
    "tolerance": (
        lambda: lielab.prepare(BODY, rtol=-1.0),
        "rtol must be a non-negative number, got -1.0",
    ),
    "norm": (
        lambda: lielab.prepare(TOP, "CF43", error_norm="algebra"),
        "error_norm='algebra' is not known to CF43",
    ),
    "formulation": (
        lambda: lielab.prepare(PENDULUM, "VLV", h=0.1),
        "needs the formulation.*methods that fit",
    ),
    "span": (
        lambda: lielab.prepare(BODY).run((0, 0)),
        r"t_span must be two different finite times, got \(0",
    ),
    "start": (lambda: lielab.prepare(BODY).run((0, 1), np.ones(12)), "y0 is not on SO.*project"),
    "NaN": (lambda: lielab.prepare(BODY).run((0, 1), np.full(12, np.nan)), "y0 must be finite"),
    "length": (
        lambda: lielab.prepare(BODY).run((0, 1), np.ones(3)),
        r"y0 must have shape \(12,\), got \(3,\)",
    ),
    "grid": (
        lambda: lielab.prepare(BODY, "VLV", h=0.3).run((0, 1)),
        "whole number of equal steps.*use h = 0.33333",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_arguments_are_refused_where_they_are_given(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_failing_run_is_as_in_solve_and_the_next_one_succeeds():
    solver = lielab.prepare(BODY, "RKMK54", max_steps=20)
    found = solver.run((0, 1000))
    assert found == lielab.solve(BODY, (0, 1000), max_steps=20)
    assert not found.success
    assert solver.run((0, 0.1)).success


def test_a_solver_travels_and_never_changes():
    solver = lielab.prepare(BODY, "RKMK54", controller="PI", rtol=1e-7)
    assert copy.copy(solver) is solver
    assert copy.deepcopy(solver) is solver
    sent = pickle.loads(pickle.dumps(solver))
    assert sent.run((0, 1)) == solver.run((0, 1))
    assert repr(solver) == "<Solver RKMK54 of FreeRigidBody, adaptive>"
    assert repr(lielab.prepare(BODY, "VLV", h=0.25)) == "<Solver VLV of FreeRigidBody, h = 0.25>"


def test_an_interrupt_carries_the_solution_so_far(interrupt):
    solver = lielab.prepare(BODY, "RKMK4", h=1e-6)
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(0.3):
        solver.run((0, 1000.0), save_every=1000)
    so_far = caught.value.solution
    assert 0.0 < so_far.t[-1] < 1000.0
    assert "KeyboardInterrupt" in so_far.message
    assert solver.run((0, 1e-3)).success


@pytest.mark.skipif(not jit.ENABLED, reason="nothing is looked up")
def test_a_run_looks_up_no_address_and_asks_the_system_for_nothing(monkeypatch):
    """What a prepared run saves, as a test that no busy machine disturbs."""
    solver = lielab.prepare(BODY, "RKMK54")
    expected = solver.run((0, 1), BODY.y0)

    def never(*_):
        raise AssertionError("looked up in a run")

    monkeypatch.setattr(jit, "_addresses", never)
    monkeypatch.setattr(type(BODY), "formulations", property(never))
    assert solver.run((0, 1), expected.y[0]).nfev == expected.nfev


def test_what_a_system_offers_is_made_once():
    for system in (BODY, TOP, PENDULUM):
        assert system.formulations is system.formulations
        assert copy.deepcopy(system) == system
    assert systems.FreeRigidBody((1, 2, 2.5)).formulations["action"].params[2] == 2.5


def test_a_kernel_that_is_no_action_s_is_found_by_every_thread():
    """Addresses are looked up in threads at once."""
    kernel = Kernel(lambda u, v: [v[0] + u[0]], "plus")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(kernel(np.ones(1), np.ones(1))[0]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2.0] * 4
