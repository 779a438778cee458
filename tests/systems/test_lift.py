"""The second action of the pendula, the lift to SO(3) x R^3 (ortolan 6.1): the same flow and the same orders."""

import numpy as np
import pytest

import lielab
from lielab.actions import SE3_ON_TS2, SO3_R3_ON_S2_R3, lifted
from lielab.systems import (
    DoubleSphericalPendulum,
    MagneticDipoles,
    PendulumChain,
    SphericalPendulum,
)

# Two runs of order 8 with steps this small differ by the round-off of both.
ALONG_THE_FLOW = 1e-11
# The thesis prints its state after ten steps to all digits of a float.
ROUND_OFF = 1e-14
# Out of the plane, so that the turns do not commute.
TOSSED = [0.6, 0.0, 0.8, 2.4, 2.0, -1.8, -0.48, 0.6, 0.64, 1.2, -0.4, 1.275]
# Steps so small that all of them lie in the asymptotic window of order 4.
STEPS = (96, 128, 192, 256, 384, 512)
SYSTEMS = {
    "one": SphericalPendulum(),
    "double": DoubleSphericalPendulum(),
    "chain": PendulumChain(2),
    "momentum": PendulumChain(2, formulation="momentum"),
    "needles": MagneticDipoles(1, 2),
}
each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def start(system):
    return system.project(TOSSED[: system.dim])


def test_lifted_gives_the_same_velocity():
    rng = np.random.default_rng(3)
    for blocks in (1, 3):
        y = np.concatenate([SE3_ON_TS2.sample(rng) for _ in range(blocks)])
        xi = rng.standard_normal(6 * blocks)
        other = SO3_R3_ON_S2_R3.generator(lifted(xi, y), y)
        np.testing.assert_allclose(other, SE3_ON_TS2.generator(xi, y), atol=1e-14)


@each_system
def test_both_actions_follow_the_same_flow(system):
    assert list(system.actions) == ["TS2", "lift"]
    run = {"y0": start(system), "method": "RKMK8", "h": 0.005}
    plain = lielab.solve(system, (0, 1), **run)
    by_name = lielab.solve(system, (0, 1), action="TS2", **run)
    lift = lielab.solve(system, (0, 1), action="lift", **run)
    np.testing.assert_array_equal(plain.y, by_name.y)
    assert np.abs(lift.y - plain.y).max() < ALONG_THE_FLOW
    coarse = {**run, "method": "RKMK4", "h": 0.05}
    far = lielab.solve(system, (0, 1), action="lift", **coarse)
    near = lielab.solve(system, (0, 1), **coarse)
    assert np.abs(far.y - near.y).max() > 1e-8  # they are two methods
    # the directions stay unit vectors under both, the second vectors tangent only under SE(3)
    assert near.defect().max() < 1e-13
    assert far.defect().max() > 1e-9
    q = far.y.reshape(-1, 2, 3)[:, 0]
    assert np.abs(np.linalg.norm(q, axis=-1) - 1.0).max() < 1e-13


@each_system
def test_the_order_is_the_same(system):
    for method in ("RKMK4", "CF4"):
        study = lielab.diagnostics.order(
            system, method, t_end=0.5, y0=start(system), steps=STEPS, action="lift"
        )
        assert study.order == pytest.approx(4.0, abs=0.1), study


def test_ten_steps_of_the_thesis():
    """The thesis cuts dexpinv after two commutators: ortolan 7.2.1, w_0 = (1, 1, 2)."""
    run = {"method": "RKMK4", "h": 0.01, "commutators": 2}
    sol = lielab.solve(SphericalPendulum(), (0, 0.1), action="lift", **run)
    q = [0.38138056400191783, 0.7227165280137384, -0.5763936897098604]
    w = [0.678792252166461, 1.2368738955645018, 2.0]
    np.testing.assert_allclose(sol.q[-1], q, rtol=0, atol=ROUND_OFF)
    np.testing.assert_allclose(sol.w[-1], w, rtol=0, atol=ROUND_OFF)
    other = lielab.solve(SphericalPendulum(), (0, 0.1), **run)
    assert np.abs(other.w[-1] - w).max() > 1e-11


@each_system
def test_a_run_of_the_lift_goes_on_from_its_last_state(system):
    """q . w leaves zero by the method's error: no point of TS^2, but one of the lift's own manifold."""
    run = {"method": "RKMK4", "h": 0.05, "action": "lift"}
    whole = lielab.solve(system, (0, 2), start(system), **run)
    half = lielab.solve(system, (0, 1), start(system), **run)
    assert half.defect()[-1] > 1e-8
    rest = lielab.solve(system, (1, 2), half.y[-1], **run)
    np.testing.assert_allclose(rest.y[-1], whole.y[-1], rtol=0, atol=1e-12)
    for action in ({}, {"action": "TS2"}):
        with pytest.raises(ValueError, match=r"y0 is not on TS\^2.*use system.project"):
            lielab.solve(system, (1, 2), half.y[-1], method="RKMK4", h=0.05, **action)
    with pytest.raises(ValueError, match="y0 is not on S"):
        lielab.solve(system, (1, 2), 1.1 * half.y[-1], **run)


def test_adaptive_runs_and_events_take_the_lift_too():
    system = SphericalPendulum()
    sol = lielab.solve(
        system, (0, 3), action="lift", rtol=1e-10, atol=1e-10, events=lambda t, y: y[0]
    )
    same = lielab.solve(system, (0, 3), rtol=1e-10, atol=1e-10, events=lambda t, y: y[0])
    np.testing.assert_allclose(sol.t_events[0], same.t_events[0], atol=1e-8)
    np.testing.assert_allclose(sol(1.234), same(1.234), atol=1e-7)
