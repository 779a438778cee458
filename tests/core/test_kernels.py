"""Kernels of actions, returned or filled, and rotations brought back where round-off has moved them."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import lielab
from lielab import actions, so3
from lielab.core.jit import ENABLED, OPTIONS, Bound, closure, lent, numba
from lielab.core.kernels import Kernel
from lielab.core.march import EACH, new_run, new_schedule
from lielab.core.round_off import mend
from lielab.methods import riemannian
from lielab.systems import ActionSystem, FreeRigidBody

NAMED = {
    name: action for name, action in vars(actions).items() if isinstance(action, actions.Action)
}


def returns(u, v):
    return np.array(
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    )


def fills(u, v, out):
    out[0], out[1] = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]
    out[2] = u[0] * v[1] - u[1] * v[0]


@pytest.mark.parametrize("function", [returns, fills])
def test_a_kernel_returns_and_fills(function):
    kernel, out = Kernel(function), np.full(3, np.nan)
    u, v = np.array([1.0, 2.0, 3.0]), np.array([-0.5, 0.25, 1.0])
    kernel.into(u, v, out)
    np.testing.assert_array_equal(kernel(u, v), np.cross(u, v))
    np.testing.assert_array_equal(out, np.cross(u, v))
    np.testing.assert_array_equal(kernel([1, 2, 3], v[::-1]), np.cross(u, v[::-1]))  # as it comes


def test_a_kernel_that_returns_the_wrong_number():
    short = Kernel(lambda u, v: v[:2].copy())
    with pytest.raises(ValueError, match="must return as many numbers as its second argument has"):
        short.into(np.ones(3), np.ones(3), np.empty(3))


@pytest.mark.parametrize("name", NAMED)
def test_kernels_fill_all_of_out_and_leave_the_rest_alone(name):
    action, rng = NAMED[name], np.random.default_rng(3)
    y = action.sample(rng) if action.sample else rng.standard_normal(action.point)
    u, v = rng.standard_normal((2, action.algebra))
    for kind in ("exp_act", "generator", "cay_act", "dexpinv", "bracket", "dcayinv"):
        kernel = getattr(action, kind)
        if kernel is None:
            continue
        second = y if kind in ("exp_act", "generator", "cay_act") else v
        before, out = (u.copy(), second.copy()), np.full(len(second), np.nan)
        kernel.into(u, second, out)
        np.testing.assert_array_equal(out, kernel(u, second))
        assert np.isfinite(out).all()
        np.testing.assert_array_equal(u, before[0])
        np.testing.assert_array_equal(second, before[1])


def test_a_solve_with_an_action_of_returning_kernels():
    """A reader's kernels may return: the run is the same to the last bit."""

    def turn(u, y):
        out = np.empty(3)
        built_in(u, y, out)
        return out

    built_in = actions.SO3_ON_R3.exp_act.into
    runs = []
    for action in (actions.SO3_ON_R3, dataclasses.replace(actions.SO3_ON_R3, exp_act=turn)):
        system = ActionSystem(action, lambda t, y, p: [y[1], -y[0], t], (1.0, 0.5, -0.2))
        runs.append(lielab.solve(system, (0, 2), method="RKMK4", h=0.05).y[-1])
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize(("row", "first"), [(3, 0), (3, 2), (4, 0), (4, 2)])
def test_mend_is_newtons_step_to_the_nearest_rotation(row, first):
    rng = np.random.default_rng(5)
    R = so3.random(rng) @ (np.eye(3) + 1e-15 * rng.standard_normal((3, 3)))
    g = rng.standard_normal(16)
    for i in range(3):
        g[first + row * i : first + row * i + 3] = R[i]
    before = g.copy()
    mend(g, first, row)
    places = np.concatenate([first + row * i + np.arange(3) for i in range(3)])
    mended = g[places].reshape(3, 3)
    np.testing.assert_allclose(mended, so3.project(R), atol=4e-16)
    assert np.abs(mended.T @ mended - np.eye(3)).max() < 5e-16 < np.abs(R.T @ R - np.eye(3)).max()
    others = np.setdiff1d(np.arange(16), places)
    np.testing.assert_array_equal(g[others], before[others])


def test_mend_leaves_alone_what_is_not_round_off():
    for off in (1e-13, 1e-3):
        g = (so3.random(6) @ np.diag([1.0, 1.0, 1.0 + off])).ravel()
        before = g.copy()
        mend(g, 0, 3)
        np.testing.assert_array_equal(g, before)


@pytest.mark.parametrize("name", NAMED)
def test_every_rotation_of_an_action_is_declared(name):
    """Where three rows of a sample are orthonormal and right-handed, `rotations` says so."""
    action = NAMED[name]
    if action.sample is None or action.name.startswith(("SO(3)^n", "unit quat")):
        return
    ys = [action.sample(np.random.default_rng(k)) for k in range(3)]
    found = []
    for row, first in itertools.product((3, 4), range(action.point)):
        if first + 2 * row + 3 > action.point:
            continue
        blocks = [
            np.stack([y[first + row * i : first + row * i + 3] for i in range(3)]) for y in ys
        ]
        if all(np.abs(R.T @ R - np.eye(3)).max() < 1e-12 for R in blocks):
            found.append((first, row))
    if name == "SE2_ON_SE2":
        assert action.rotations == ()  # its 2 x 2 rotation is not brought back
    else:
        assert set(action.rotations) == set(found)


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled here")
def test_lent_arrays_are_the_same_memory():
    @numba.njit
    def double(x):
        y = lent(x)
        for i in range(len(y)):
            y[i] *= 2.0
        return y.sum()

    x = np.arange(4.0)
    assert double(x) == 12.0
    np.testing.assert_array_equal(x, [0.0, 2.0, 4.0, 6.0])


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled here")
def test_a_step_counts_no_references_and_allocates_nothing():
    """That was half of its time; what a field returns is the rest."""
    from lielab.core import march as _march

    rotate = actions.SO3_ON_SO3.exp_act.into
    for function, types in (
        (_march.advance, "void(f8[::1], i8, f8, f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[::1])"),
        (rotate, "void(f8[::1], f8[::1], f8[::1])"),
    ):
        fresh = numba.njit(types, **OPTIONS)(function.py_func)
        (code,) = fresh.inspect_llvm().values()
        body = code.split("\ndefine ")[1]
        assert function.__name__ in body.splitlines()[0]
        assert "NRT_MemInfo_alloc" not in body
        if function is _march.advance:
            assert "NRT_incref" not in body
            assert "NRT_decref" not in body


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled here")
@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 3)), np.zeros(3, dtype=np.int64), np.zeros(6)[::2], np.zeros(3, "f4")]
)
def test_a_loop_takes_arrays_of_its_types_only(wrong):
    """It is entered behind Numba's own checks."""
    form = lielab.systems.FreeRigidBody().formulations["action"]
    plan = lielab.methods()["RK4"].prepare(form, np.ones(3))
    run = new_run(0.0, 0.1, 0.1, 1, 1, 100.0)
    rest = (np.zeros(1), np.zeros((1, 3)), np.zeros(1))
    with pytest.raises(TypeError, match="argument 3 of march_rk4 must be [aA]rray"):
        plan.loop(plan.kernels, plan.data, run, wrong, plan.params, *rest)
    data = plan.data._replace(stage=wrong)
    with pytest.raises(TypeError, match="stage in argument 1 of march_rk4 must be [aA]rray"):
        plan.loop(plan.kernels, data, run, np.ones(3), plan.params, *rest)


def test_a_copy_of_a_bound_loop_works_in_arrays_of_its_own():
    """Of a record all arrays are copied: threads that run one solver share none."""
    form = lielab.systems.FreeRigidBody().formulations["action"]
    plan = lielab.methods()["RK4"].prepare(form, np.ones(3))
    bound = Bound(plan.loop, (plan.kernels, plan.data))
    bound.copied()(*one_step(plan))
    assert not plan.data.k.any()
    bound(*one_step(plan))
    assert plan.data.k.any()


def one_step(plan):
    """What a loop takes after its records, for one step from (1, 1, 1)."""
    run, rest = new_schedule(1, EACH, 0.0, 0.1), (np.zeros(1), np.ones((1, 3)), np.full(1, 0.1))
    return run, np.ones(3), plan.params, *rest


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled here")
def test_a_kernel_of_another_type_is_refused():
    @closure
    def whole(t, y, p):
        return 3

    form = dataclasses.replace(lielab.systems.FreeRigidBody().formulations["action"], field=whole)
    plan = lielab.methods()["RK4"].prepare(form, np.ones(3))
    run, rest = new_run(0.0, 0.1, 0.1, 1, 1, 100.0), (np.zeros(1), np.zeros((1, 3)), np.zeros(1))
    with pytest.raises((TypeError, numba.core.errors.NumbaError), match="return|type"):
        plan.loop(plan.kernels, plan.data, run, np.ones(3), plan.params, *rest)


def test_a_rotation_beyond_the_end_of_the_state_is_refused():
    """Compiled code would bring back, and write, what is behind the state."""
    beyond = dataclasses.replace(actions.SO3_ON_S2, rotations=((0, 3),))
    system = ActionSystem(beyond, lambda t, y, p: [0.0, 0.0, 1.0], (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"entry 0 with rows 3 apart, which a state of 3 numbers"):
        lielab.solve(system, (0, 1), method="RKMK4", h=0.1)


def test_a_reduced_body_has_no_rotation_to_bring_back():
    """Its action moves attitudes, its state is a momentum: the leapfrog once wrote nine numbers into three."""
    prepared = riemannian.prepare(FreeRigidBody().formulations["metric"], FreeRigidBody().y0)
    assert prepared.rotations == ()
    whole = FreeRigidBody(attitude=True)
    assert riemannian.prepare(whole.formulations["metric"], whole.y0).rotations == ((0, 3),)
