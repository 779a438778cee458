"""The page on notation, line by line: what it says is what the code does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import lielab
from lielab import actions, se2, se3, so3
from lielab.systems import (
    ConnectedBodies,
    DoubleSphericalPendulum,
    EllipsoidParticle,
    FreeRigidBody,
    HeavyTop,
    Pendulum3D,
    PendulumChain,
    QuadrotorWithLoad,
    RigidBodyInWell,
    SphericalPendulum,
    TwoQuadrotors,
)

RNG = np.random.default_rng(4)
U, V, W = RNG.normal(size=(3, 3))
G = so3.exp(W)


def slope(curve, step=1e-4):
    """Derivative at 0 by differences of order 4."""
    a, b, c, d = (curve(k * step) for k in (-2, -1, 1, 2))
    return (a - 8 * b + 8 * c - d) / (12 * step)


@pytest.mark.parametrize(
    ("group", "at"), [(se3, np.s_[3:]), (se2, np.s_[1:])], ids=["SE(3)", "SE(2)"]
)
def test_rotation_comes_first(group, at):
    step = np.zeros(group.dim)
    step[at] = 1.0 + np.arange(len(step[at]))
    n = group.shape[0] - 1
    np.testing.assert_allclose(group.exp(step)[:n, n], step[at])
    np.testing.assert_array_equal(group.exp(step)[:n, :n], np.eye(n))


def test_hat_dexp_and_its_inverse():
    np.testing.assert_allclose(so3.hat(U) @ V, np.cross(U, V))
    moving = slope(lambda t: so3.exp(U + t * V))
    np.testing.assert_allclose(moving, so3.hat(so3.dexp(U) @ V) @ so3.exp(U), atol=1e-10)
    np.testing.assert_allclose(moving, so3.exp(U) @ so3.hat(so3.dexp(-U) @ V), atol=1e-10)
    small = 1e-3 * U
    first = np.cross(small, V)
    series = V - first / 2 + np.cross(small, first) / 12
    np.testing.assert_allclose(so3.dexpinv(small) @ V, series, atol=1e-11)
    np.testing.assert_allclose(actions.SO3_ON_SO3.dexpinv(small, V), series, atol=1e-11)


def test_duals():
    for dual, plain in ((so3.coAd(G), so3.Ad(G)), (so3.coad(W), so3.ad(W))):
        np.testing.assert_allclose((dual @ U) @ V, U @ (plain @ V))
    np.testing.assert_allclose(so3.coAd(G) @ U, G.T @ U)
    np.testing.assert_allclose(so3.coad(W) @ U, np.cross(U, W))
    np.testing.assert_allclose(actions.SO3_ON_DUAL.exp_act(W, U), so3.coAd(so3.exp(-W)) @ U)


def test_cayley():
    X = so3.hat(U)
    np.testing.assert_allclose(so3.cay(U), np.linalg.solve(np.eye(3) - X / 2, np.eye(3) + X / 2))
    apart = [np.abs(so3.cay(s * U) - expm(s * X)).max() for s in (0.02, 0.01)]
    assert apart[0] / apart[1] == pytest.approx(8, abs=0.1)


def test_a_left_action_moves_the_point():
    y = so3.exp(V)
    np.testing.assert_allclose(
        actions.SO3_ON_SO3.exp_act(U, y.ravel()), (so3.exp(U) @ y).ravel(), atol=1e-14
    )


def test_bodies():
    body, top = FreeRigidBody(attitude=True), HeavyTop("right")
    for system, h in ((body, 0.01), (top, 1e-4)):
        sol = lielab.solve(system, (0, 40 * h), method="RKMK8", h=h)
        R = sol.y[20, :9].reshape(3, 3)
        spin = R.T @ slope(lambda t: sol(20 * h + t)[:9].reshape(3, 3), 0.1 * h)  # noqa: B023
        Omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        np.testing.assert_allclose(spin, so3.hat(Omega), atol=1e-6 * np.abs(Omega).max())
        Pi = np.array(system.inertia) * Omega
        wanted = Pi if system is body else R @ Pi  # mu is in the body, pi in space
        np.testing.assert_allclose(sol.y[20, 9:], wanted, rtol=0, atol=1e-7 * np.abs(Pi).max())


def test_directions_turn_with_w():
    pendulum = SphericalPendulum()
    sol = lielab.solve(pendulum, (0, 0.4), method="RKMK8", h=0.01)
    rate = slope(lambda t: sol(0.2 + t)[:3], 1e-3)
    np.testing.assert_allclose(rate, np.cross(sol.w[20], sol.q[20]), atol=1e-8)
    assert abs(sol.q[20] @ sol.w[20]) < 1e-13


@pytest.mark.parametrize(
    ("system", "up"),
    [
        (SphericalPendulum(), True),
        (PendulumChain(2), True),
        (DoubleSphericalPendulum(), False),
        (Pendulum3D(), False),
        (TwoQuadrotors(), False),
        (QuadrotorWithLoad(), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_which_way_is_up(system, up):
    """Moved along e3, the energy grows where e3 points up."""
    low, high = system.y0.copy(), system.y0.copy()
    down, above = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])
    if isinstance(system, Pendulum3D):
        low[:9], high[:9] = np.diag([1.0, -1.0, -1.0]).ravel(), np.eye(3).ravel()
        low[9:], high[9:] = 0.0, 0.0
        tip = np.array(system.rho)[2]
        assert tip > 0
    elif isinstance(system, (TwoQuadrotors, QuadrotorWithLoad)):
        for part in [name for name, _ in system.parts if name.startswith("x")]:
            shifted = system.unpack(high)[part] + above
            high = system.pack(**{**system.unpack(high), part: shifted})
    else:
        for part in [name for name, _ in system.parts if name.startswith("q")]:
            w = part.replace("q", "w")
            low = system.pack(**{**system.unpack(low), part: down, w: 0 * down})
            high = system.pack(**{**system.unpack(high), part: above, w: 0 * down})
    assert (system.energy(high) > system.energy(low)) == up


def test_the_heavy_top_has_minus_gravity():
    for top, falls in ((HeavyTop("left"), False), (HeavyTop("left", Gamma0=(0, 0, 9.81)), True)):
        lying = np.concatenate([np.eye(3).ravel(), np.zeros(3)])  # chi = e2 is level
        rate = lielab.solve(top, (0, 1e-3), lying, method="RKMK4", h=1e-3).y[-1]
        tip = rate[:9].reshape(3, 3) @ np.array(top.chi)
        assert (tip[2] < 0) == falls


def test_layouts_and_units():
    assert [name for name, _ in ConnectedBodies().parts] == (
        ["R0", "x", "R1", "R2", "p0", "p_x", "p1", "p2"]
    )
    particle = EllipsoidParticle()
    np.testing.assert_allclose(particle.places(particle.y0), particle.y0[:3] * particle.axes)
    load = QuadrotorWithLoad()
    weight = (load.mq + load.mL) * load.g
    assert 4 * load.kt * load.hover**2 == pytest.approx(weight)
    assert 10 < load.hover < 100  # 100 to 1000 rad/s, in units of 10


def test_maps_of_the_thesis():
    """Cayley is the default of ELN, TLN and PRK on rotations; exp is there for the asking."""
    system, h = RigidBodyInWell(), 0.1
    for name in ("ELN", "TLN", "PRK"):
        ends = [
            lielab.solve(system, (0, h), method=name, h=h, **options).y[-1]
            for options in ({}, {"retraction": "cay"}, {"retraction": "exp"})
        ]
        np.testing.assert_array_equal(ends[0], ends[1])
        assert np.abs(ends[0] - ends[2]).max() > 1e-7
