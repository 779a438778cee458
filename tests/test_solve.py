"""solve(): grids, tolerances, saving, failures, interrupts and the errors it raises."""

import dataclasses

import numpy as np
import pytest

import lielab
from lielab._runs import CompiledRun
from lielab.systems import ActionSystem, FreeRigidBody, SphericalPendulum

BODY = FreeRigidBody()


def test_fixed_grid_and_saving():
    sol = lielab.solve(BODY, (1, 2), method="RKMK4", h=0.1, save_every=3)
    np.testing.assert_allclose(sol.t, [1, 1.3, 1.6, 1.9, 2.0], atol=1e-15)
    assert sol.y.shape == (5, 3)
    np.testing.assert_allclose(sol.h, [0.1] * 4)  # the steps that lead to the rows
    assert sol.nsteps == 10
    assert sol.nfev == 40
    assert sol.success
    assert sol.status == 0
    every = lielab.solve(BODY, (1, 2), method="RKMK4", h=0.1)
    np.testing.assert_array_equal(every.y[[0, 3, 6, 9, 10]], sol.y)


def test_last_step_is_shortened():
    sol = lielab.solve(BODY, (0, 1), method="RKMK4", h=0.3)
    assert sol.t[-1] == 1.0
    np.testing.assert_allclose(sol.h, [0.3, 0.3, 0.3, 0.1])
    single = lielab.solve(BODY, (0, 1), method="RKMK4", h=7.0)
    assert single.nsteps == 1
    assert single.t[-1] == 1.0


def test_chunks_do_not_show():
    """More steps than one chunk holds: the grid has no seam and no row is lost."""
    sol = lielab.solve(BODY, (0, 100), method="LieEuler", h=0.01, save_every=7)
    assert sol.nsteps == 10000
    assert len(sol.t) == 1 + 10000 // 7 + 1
    np.testing.assert_allclose(np.diff(sol.t)[:-1], 0.07, rtol=1e-9)


@pytest.mark.parametrize("method", ["RKMK54", "DOP853", "RK45"])
def test_backward_returns_to_the_start(method):
    there = lielab.solve(BODY, (0, 5), method=method, rtol=1e-11, atol=1e-12)
    back = lielab.solve(BODY, (5, 0), there.y[-1], method=method, rtol=1e-11, atol=1e-12)
    assert back.t[-1] == 0.0
    assert (back.h < 0).all()
    np.testing.assert_allclose(back.y[-1], BODY.y0, atol=1e-8)


def test_backward_fixed_steps():
    there = lielab.solve(BODY, (0, 5), method="RKMK4", h=0.01)
    back = lielab.solve(BODY, (5, 0), there.y[-1], method="RKMK4", h=0.01)
    np.testing.assert_allclose(back.y[-1], BODY.y0, atol=1e-9)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("system", [BODY, FreeRigidBody(attitude=True), SphericalPendulum()])
def test_adaptive_error_follows_the_tolerance(system, rtol):
    exact = lielab.solve(system, (0, 5), method="DOP853", rtol=1e-13, atol=1e-14).y[-1]
    sol = lielab.solve(system, (0, 5), rtol=rtol, atol=rtol)
    assert sol.t[-1] == 5.0
    assert sol.h.sum() == pytest.approx(5.0, abs=1e-12)
    assert np.abs(sol.y[-1] - exact).max() < 100 * rtol
    assert sol.defect().max() < 1e-13


def test_rejected_steps_are_counted():
    sol = lielab.solve(SphericalPendulum(), (0, 20), [1, 0, 0, 0, 9, 0], rtol=1e-5, atol=1e-5)
    assert sol.nrejected > 0
    # two for the first step size, one for the first f(y), six a try: the seventh stage is the next first one
    assert sol.nfev == 2 + 1 + 6 * (sol.nsteps + sol.nrejected)


def test_parts_unpack_and_pack():
    system = FreeRigidBody(attitude=True)
    sol = lielab.solve(system, (0, 1), method="RKMK4", h=0.1)
    assert sol.R.shape == (11, 3, 3)
    assert sol.mu.shape == (11, 3)
    np.testing.assert_array_equal(system.pack(**system.unpack(sol.y)), sol.y)
    assert "R" in dir(sol)
    with pytest.raises(AttributeError, match="'Omega'"):
        sol.Omega  # noqa: B018
    with pytest.raises(ValueError, match="pack needs exactly R, mu"):
        system.pack(R=np.eye(3))
    with pytest.raises(ValueError, match=r"shape \(\.\.\., 12\)"):
        system.unpack(np.zeros(11))
    same = lielab.solve(
        system, (0, 1), {"R": np.eye(3), "mu": [0.6, -0.3, 1.1]}, method="RKMK4", h=0.1
    )
    np.testing.assert_array_equal(same.y, sol.y)


def test_initial_state_is_not_written_to():
    y0 = np.array([0.6, -0.3, 1.1])
    lielab.solve(BODY, (0, 1), y0, method="RKMK4", h=0.1)
    np.testing.assert_array_equal(y0, [0.6, -0.3, 1.1])
    y0.flags.writeable = False
    assert lielab.solve(BODY, (0, 1), y0[::1], method="RKMK4", h=0.1).success
    assert lielab.solve(BODY, (0, 1), [1, 0, 1], method="RKMK4", h=0.1).success  # integers


def explosive(t, y, p):
    return [0.0, 0.0, 1.0 if t < 1.0 else np.nan]


def test_failure_keeps_what_was_computed():
    system = ActionSystem(lielab.actions.SO3_ON_S2, explosive, (1.0, 0.0, 0.0))
    sol = lielab.solve(system, (0, 2), method="RKMK4", h=0.01)
    assert not sol.success
    assert sol.status < 0
    assert 0.9 < sol.t[-1] < 1.0
    assert len(sol.y) == len(sol.t) == sol.nsteps + 1
    assert np.isfinite(sol.y).all()
    for word in ("t = 0.9", "NaN", "smaller step"):
        assert word in sol.message
    adaptive = lielab.solve(system, (0, 2), rtol=1e-6)
    assert not adaptive.success
    assert 0.99 < adaptive.t[-1] <= 1.0
    scipy = lielab.solve(system, (0, 2), method="DOP853")
    assert not scipy.success
    assert len(scipy.t) > 5


@pytest.mark.parametrize("method", ["RKMK54", "DOP853"])
def test_max_steps(method):
    sol = lielab.solve(BODY, (0, 1000), method=method, max_steps=20)
    assert not sol.success
    assert sol.nsteps + (sol.nrejected if method == "RKMK54" else 0) == 20
    assert "max_steps" in sol.message
    assert sol.t[-1] == pytest.approx(sol.h.sum())


@pytest.mark.parametrize("method", ["RKMK54", "CF43"])
def test_a_step_that_rounding_swallows_ends_the_run(method):
    """At t = 1e9 times are 1e-7 apart: shorter steps would leave t where it is, and the run would never end."""

    def fast(t, y, p):
        return [0.0, 0.0, 1e9]

    system = ActionSystem(lielab.actions.SO3_ON_S2, fast, (1.0, 0.0, 0.0))
    sol = lielab.solve(system, (1e9, 1e9 + 1), method=method, max_steps=10**6)
    assert not sol.success
    assert "round-off" in sol.message
    assert sol.nsteps + sol.nrejected < 100


def test_state_reached_between_saves_is_kept():
    sol = lielab.solve(BODY, (0, 1000), method="RKMK4", h=0.1, save_every=1000, max_steps=20)
    assert sol.t[-1] == pytest.approx(2.0)


class Stop(Exception):
    pass


def test_error_in_a_readers_field_carries_the_solution():
    def field(t, y, p):
        if t > 0.5:
            raise Stop("enough")
        return [0.0, 0.0, 1.0]

    system = ActionSystem(lielab.actions.SO3_ON_S2, _interpreted(field), (1.0, 0.0, 0.0))
    with pytest.warns(RuntimeWarning, match="could not be compiled"):
        assert "action" in system.formulations
    with pytest.raises(Stop) as caught:
        lielab.solve(system, (0, 1), method="RKMK4", h=0.1)
    assert caught.value.solution.t[-1] == pytest.approx(0.5)
    assert not caught.value.solution.success


def _interpreted(function):
    """A field that Numba cannot compile, since it refers to an object of Python's."""
    table = {"f": function, "opaque": object()}

    def field(t, y, p):
        return table["f"](t, y, p)

    if not lielab.core.jit.ENABLED:
        pytest.skip("nothing is compiled here")
    return field


def test_interrupt_carries_the_solution(monkeypatch):
    chunk = CompiledRun.chunk
    reached = []

    def interrupted(self):
        if len(reached) == 3:
            raise KeyboardInterrupt
        chunk(self)
        reached.append(self.time())

    monkeypatch.setattr(CompiledRun, "chunk", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        lielab.solve(BODY, (0, 1e6), method="LieEuler", h=0.01)
    solution = caught.value.solution
    assert solution.t[-1] == reached[-1] > reached[0] > 0  # all three chunks, whatever their length
    assert len(solution.t) == solution.nsteps + 1
    assert "KeyboardInterrupt" in solution.message


def test_reader_field_may_return_lists_tuples_and_write_into_y():
    def listed(t, y, p):
        return [-y[0] / p[0], -y[1] / p[1], -y[2] / p[2]]

    def mixed(t, y, p):
        return (-y[0] / p[0], -y[1] / p[1], -y[2] / p[2] + 0)

    def array(t, y, p):
        result = -y / p
        y[:] = 0.0
        return result

    expected = lielab.solve(BODY, (0, 1), method="RKMK4", h=0.1).y
    for field in (listed, mixed, array):
        system = ActionSystem(lielab.actions.SO3_ON_DUAL, field, (0.6, -0.3, 1.1), p=(1, 2, 3))
        np.testing.assert_allclose(
            lielab.solve(system, (0, 1), method="RKMK4", h=0.1).y, expected, atol=1e-15
        )


BAD = [
    ({"t_span": (0, 0)}, "t_span must be two different finite times"),
    ({"t_span": (0, np.inf)}, "t_span must be two different finite times"),
    ({"t_span": 3}, "t_span must be two numbers"),
    ({"t_span": "01"}, "t_span must be two numbers"),
    ({"t_span": (0, "1")}, "t_span must be two numbers"),
    ({"t_span": {0: 1, 1: 2}}, "t_span must be two numbers"),
    ({"t_span": (1e16, 1e16 + 2)}, "too short for times of that size.* count the time from t0"),
    ({"y0": [1j, 0, 1]}, "y0 must hold real numbers"),
    ({"y0": np.array([1 + 1e-3j, 0, 1])}, "y0 must hold real numbers"),
    ({"y0": np.ma.array([1.0, 0, 1], mask=[1, 0, 0])}, "y0 must hold real numbers"),
    ({"y0": ["1", "0", "1"]}, "y0 must hold real numbers"),
    ({"y0": np.arange(3).astype("m8[s]")}, "y0 must hold real numbers"),
    ({"h": 0.0}, "h must be a positive number, got 0.0"),
    ({"h": -0.1}, "h must be a positive number"),
    ({"h": np.nan}, "h must be a positive number"),
    ({"h": "small"}, "h must be a positive number"),
    ({"h": 1e-300}, "use a larger h"),
    ({"h": None}, "no embedded pair to choose the step; give h"),
    ({"method": "RKMK44"}, "method must be one of"),
    ({"method": "DOP853"}, "leave h out or use 'RK4'"),
    ({"theta": 0.5}, "no option 'theta'; its options: retraction, commutators"),
    ({"retraction": "log"}, "retraction must be 'exp' or 'cay', got 'log'"),
    ({"commutators": 7}, "commutators must be None"),
    ({"y0": [1, 2]}, r"y0 must have shape \(3,\), got \(2,\)"),
    ({"y0": [1, np.nan, 0]}, "y0 must be finite"),
    ({"y0": ["a", "b", "c"]}, "y0 must hold real numbers"),
    ({"rtol": -1}, "rtol must be a non-negative number, got -1"),
    ({"rtol": 0, "atol": 0}, "must not both be 0"),
    ({"save_every": 0}, "save_every must be a whole number"),
    ({"save_every": 1.5}, "save_every must be a whole number"),
    ({"max_steps": True}, "max_steps must be a whole number"),
    ({"system": "body"}, "system must be a lielab System, got str"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[str(c) for c, _ in BAD])
def test_bad_arguments(change, message):
    arguments = {
        "system": BODY,
        "t_span": (0, 1),
        "y0": None,
        "method": "RKMK4",
        "h": 0.1,
        **change,
    }
    with pytest.raises(ValueError, match=message):
        lielab.solve(
            arguments.pop("system"), arguments.pop("t_span"), arguments.pop("y0"), **arguments
        )


def test_points_off_the_manifold_are_refused():
    with pytest.raises(ValueError, match=r"TS\^2.*distance 0.1"):
        lielab.solve(SphericalPendulum(), (0, 1), [1.1, 0, 0, 0, 1, 0])
    with pytest.raises(ValueError, match="distance 0.2"):
        lielab.solve(SphericalPendulum(), (0, 1), [1, 0, 0, 0.2, 1, 0])


def test_fields_of_the_wrong_length_are_refused():
    """In a reader's own System; an ActionSystem is refused when it is made (test_messages.py)."""

    class Short(SphericalPendulum):
        @property
        def formulations(self):
            whole = super().formulations["action"]
            return {"action": dataclasses.replace(whole, field=lambda t, y, p: np.zeros(2))}

    with pytest.raises(ValueError, match=r"field must return 6 numbers .* got shape \(2,\)"):
        lielab.solve(Short(), (0, 1))


def test_a_system_without_the_formulation_is_refused():
    @dataclasses.dataclass(frozen=True)
    class Bare(lielab.System):
        formulations = {"metric": None}

    with pytest.raises(
        ValueError, match="needs the formulation 'action', which Bare does not offer"
    ):
        lielab.solve(Bare(), (0, 1))


def test_registry_says_what_each_method_is():
    for name, method in lielab.methods().items():
        assert method.name == name
        assert method.source
        assert method.family
        assert method.order >= 1


def test_wrong_physics():
    with pytest.raises(ValueError, match=r"inertia\[2\] must be a positive number, got -1"):
        FreeRigidBody(inertia=(1, 2, -1))
    with pytest.raises(ValueError, match="three principal moments"):
        FreeRigidBody(inertia=(1, 2))
    with pytest.warns(RuntimeWarning, match="no rigid body"):
        FreeRigidBody(inertia=(1, 2, 4))
    with pytest.raises(ValueError, match="l must be a positive number, got 0"):
        SphericalPendulum(l=0)
    assert FreeRigidBody(inertia=[1, 2, 3]) == FreeRigidBody()
    assert hash(FreeRigidBody()) == hash(FreeRigidBody())


def test_progress_bar(capsys):
    sol = lielab.solve(BODY, (0, 10), method="RKMK4", h=0.01, progress=True)
    assert sol.success
    assert "RKMK4" in capsys.readouterr().err


def test_the_method_may_be_the_fourth_argument():
    named = lielab.solve(FreeRigidBody(), (0, 1), method="RKMK4", h=0.1)
    fourth = lielab.solve(FreeRigidBody(), (0, 1), None, "RKMK4", h=0.1)
    assert fourth.method == "RKMK4"
    np.testing.assert_array_equal(fourth.y, named.y)
