"""Implicit RKMK: what a step solves, both solvers, stagnation, failure."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import actions, so3
from lielab.core.jit import jit
from lielab.core.linear import lu_factor, lu_solve
from lielab.core.march import NOT_CONVERGED
from lielab.study.order_problems import problems
from lielab.systems import (
    ActionSystem,
    DoubleSphericalPendulum,
    FreeRigidBody,
    HeavyTop,
    MagneticDipoles,
    SphericalPendulum,
)

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


def test_newtons_differences_follow_the_size_of_the_motion():
    """A stiff spring with a sine for its force, in metres and in sizes of an atom: the same iterations and states."""

    def spring(t, y, p):
        out = np.empty(2)
        out[0], out[1] = y[1], -p[0] * p[1] * np.sin(y[0] / p[1])
        return out

    runs = {}
    for size in (1.0, 2.0**-33, 2.0**-46, 2.0**23):
        system = ActionSystem(actions.rn_on_rn(2), spring, (2.0 * size, 0.0), (400.0, size))
        runs[size] = lielab.solve(system, (0, 2), method="RKMKGL4", h=0.1, solver="newton")
        np.testing.assert_allclose(runs[size].y / size, runs[1.0].y, rtol=1e-9, atol=1e-9)
        assert runs[size].nfev < 1.1 * runs[1.0].nfev  # a wrong matrix takes three times as many


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


def test_a_cut_series_of_dexpinv():
    """Two commutators are enough for order 4, one leaves order 3, none 2; cut after all that count, it is the whole."""
    system = DoubleSphericalPendulum()
    exact = lielab.solve(system, (0, 1), method="RKMK8", rtol=1e-12, atol=1e-12).y[-1]

    def error(n, **options):
        sol = lielab.solve(system, (0, 1), method="RKMKGL4", h=1 / n, **options)
        return np.abs(sol.y[-1] - exact).max()

    for k, order in ((0, 2), (1, 3), (2, 4)):
        assert np.log2(error(40, commutators=k) / error(80, commutators=k)) == pytest.approx(
            order, abs=0.15
        )
    one = lielab.solve(system, (0, 1), method="RKMKGL4", h=0.01, commutators="order")
    two = lielab.solve(system, (0, 1), method="RKMKGL4", h=0.01, commutators=2, solver="newton")
    np.testing.assert_allclose(one.y, two.y, atol=1e-13)
    whole = lielab.solve(system, (0, 1), method="RKMKGL4", h=0.01)
    six = lielab.solve(system, (0, 1), method="RKMKGL4", h=0.01, commutators=6)
    np.testing.assert_allclose(six.y, whole.y, atol=1e-14)
    with pytest.raises(ValueError, match="commutators=2 cuts the series of exp's dexpinv"):
        lielab.solve(system, (0, 1), method="RKMKGL4", h=0.1, commutators=2, retraction="cay")
    with pytest.raises(ValueError, match="commutators must be None"):
        lielab.solve(system, (0, 1), method="RKMKGL4", h=0.1, commutators=7)


def test_the_energy_of_the_thesis_with_its_cut():
    """ortolan 7.2.1, one pendulum for 200 s at h = 0.01, dexpinv cut after two commutators, as dexp^-1(u, v, 4) there.

    Under the thesis' action, which adds to w, 1.752166e-8 J by an independent program; under SE(3) 7.37e-8.
    """
    energy = {}
    for action, k in (("lift", 2), ("lift", None), ("TS2", 2), ("TS2", None)):
        how = {"method": "RKMKGL4", "action": action, "commutators": k}
        sol = lielab.solve(SphericalPendulum(), (0, 200), h=0.01, **how)
        energy[action, k] = np.abs(sol.energy() - sol.energy()[0]).max()
    assert energy["lift", 2] == pytest.approx(1.752166e-8, rel=1e-3)
    assert energy["lift", None] == pytest.approx(7.92e-9, rel=0.01)
    assert energy["TS2", 2] == pytest.approx(7.37e-8, rel=0.01)
    assert energy["TS2", None] == pytest.approx(2.57e-8, rel=0.01)


def test_the_energy_of_the_thesis_needles_with_its_cut():
    """ortolan 7.2.3, sixteen needles for 200 s at h = 0.01: -1.9e-9 J at the end with two commutators.

    The motion is chaotic: from starts that differ in the fourteenth digit -1.65e-9 to -1.96e-9, and -0.85e-9 to
    -1.31e-9 with the whole series. The first ten seconds are no matter of chance.
    """
    ends, early = {}, {}
    for k in (None, 2):
        how = {"method": "RKMKGL4", "action": "lift", "commutators": k}
        sol = lielab.solve(MagneticDipoles(), (0, 200), h=0.01, save_every=4, **how)
        error = sol.energy() - sol.energy()[0]
        ends[k], early[k] = error[-1], np.abs(error[:251]).max()
    assert -2.4e-9 < ends[2] < -1.45e-9 < ends[None] < -0.5e-9
    assert early[2] == pytest.approx(6.96e-10, rel=0.02)
    assert early[None] == pytest.approx(6.98e-10, rel=0.02)
