"""Implicit RKMK: what a step solves, both solvers, stagnation, failure."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.core.jit import jit
from lielab.core.linear import lu_factor, lu_solve
from lielab.core.march import NOT_CONVERGED
from lielab.study.order_problems import problems
from lielab.systems import DoubleSphericalPendulum, FreeRigidBody, HeavyTop

SHAKEN = problems()["shaken pendulum"][0]
METHODS = ["LieMidpoint", "RKMKGL4", "RKMKGL6"]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_lu(n):
    rng = np.random.default_rng(n)
    A, x = rng.standard_normal((n, n)), rng.standard_normal(n)
    A[0, 0] = 0.0 if n > 1 else A[0, 0]  # needs a pivot
    b, work, pivots = A @ x, A.copy(), np.zeros(n, dtype=np.int64)
    assert lu_factor(work, pivots)
    lu_solve(work, pivots, b)
    np.testing.assert_allclose(b, x, atol=1e-12)
    assert not lu_factor(np.zeros((n, n)), pivots)


def test_the_midpoint_rule_solves_its_equation():
    """y1 = exp(h xi) y with xi = f(t + h/2, exp(h xi / 2) y), written out for the free body."""
    h, I, y = 0.3, np.array([1.0, 2.0, 3.0]), FreeRigidBody().y0
    xi = -y / I
    for _ in range(100):
        xi = -(so3.exp(0.5 * h * xi) @ y) / I
    sol = lielab.solve(FreeRigidBody(), (0, h), method="LieMidpoint", h=h)
    np.testing.assert_allclose(sol.y[-1], so3.exp(h * xi) @ y, atol=1e-15)


def test_the_midpoint_rule_is_symmetric():
    system = DoubleSphericalPendulum()
    there = lielab.solve(system, (0, 1), method="LieMidpoint", h=0.05)
    back = lielab.solve(system, (1, 0), there.y[-1], method="LieMidpoint", h=0.05)
    np.testing.assert_allclose(back.y[-1], system.y0, atol=1e-13)


@pytest.mark.parametrize("retraction", ["exp", "cay"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("system", [DoubleSphericalPendulum(), SHAKEN], ids=["double", "shaken"])
def test_both_solvers_find_the_same_step(system, method, retraction):
    options = {"method": method, "h": 0.05, "retraction": retraction}
    one = lielab.solve(system, (0, 1), **options)
    two = lielab.solve(system, (0, 1), solver="newton", **options)
    np.testing.assert_allclose(one.y, two.y, atol=5e-14)
    assert one.success
    assert two.success


@pytest.mark.parametrize(("method", "h"), [("LieMidpoint", 0.05), ("RKMKGL4", 0.025)])
def test_newton_takes_steps_that_the_fixed_point_cannot(method, h):
    """The heavy top turns by 3.75 and 7.5 rad in these steps."""
    top = HeavyTop("right")
    failed = lielab.solve(top, (0, 0.5), method=method, h=h)
    assert not failed.success
    assert failed.status == NOT_CONVERGED
    for words in ("did not converge", "residual", "solver='newton'"):
        assert words in failed.message
    assert len(failed.t) == failed.nsteps + 1 == 1
    newton = lielab.solve(top, (0, 0.5), method=method, h=h, solver="newton")
    assert newton.success
    assert newton.defect().max() < 1e-13


@jit
def _calls(t, y, p):
    out = np.empty(3)
    for i in range(3):
        out[i] = -y[i] / (1.0 + i)
    return out


@pytest.mark.parametrize("solver", ["fixed point", "newton"])
def test_calls_are_counted(solver):
    """An interpreted field counts itself."""
    counter = np.zeros(1)

    def field(t, y, p):
        counter[0] += 1
        return _calls(t, y, p)

    def opaque(t, y, p):
        return table["field"](t, y, p)

    table = {"field": field, "opaque": object()}
    system = lielab.systems.ActionSystem(lielab.actions.SO3_ON_DUAL, opaque, (0.6, -0.3, 1.1))
    if lielab.core.jit.ENABLED:
        with pytest.warns(RuntimeWarning, match="could not be compiled"):
            system.formulations  # noqa: B018
    else:
        system.formulations  # noqa: B018
    counter[0] = 0
    sol = lielab.solve(system, (0, 1), method="RKMKGL6", h=0.25, solver=solver)
    assert sol.nfev == counter[0] - 1  # solve calls the field once, to see its shape
    floor = {"fixed point": 4 * 3 * 5, "newton": 4 * (3 * 3 + 3 * 3)}[solver]
    assert sol.nfev > floor


def test_rest_is_a_solution():
    """At an equilibrium every correction is zero."""
    still = DoubleSphericalPendulum()
    down = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0] * 2
    for solver in ("fixed point", "newton"):
        sol = lielab.solve(still, (0, 1), down, method="RKMKGL4", h=0.1, solver=solver)
        assert sol.success
        np.testing.assert_allclose(sol.y[-1], down, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_quadratic_invariants_drift_only_by_round_off(method):
    """Iterated to stagnation: over 20000 steps the spatial momentum, linear in the group action, stays."""
    sol = lielab.solve(
        FreeRigidBody(attitude=True), (0, 2000), method=method, h=0.1, save_every=100
    )
    momentum = sol.invariants()["spatial momentum"]
    assert np.abs(momentum - momentum[0]).max() < 1e-11
    assert sol.defect().max() < 1e-11
