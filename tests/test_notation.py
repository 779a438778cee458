"""The page on notation, row by row: what it says is what the code does.

`HELD` names the test of each row, so that a row that is added or reworded has to be looked at here. Tables of names
(systems, parts, directions) are read from the page itself.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import lielab
from lielab import (
    actions,
    control,
    cotangent_so3,
    product,
    quaternions,
    rn,
    se2,
    se3,
    so2,
    so3,
    systems,
)
from lielab.systems import (
    ConnectedBodies,
    DoubleSphericalPendulum,
    EllipsoidParticle,
    FreeRigidBody,
    HeavyTop,
    MagneticDipoles,
    Pendulum3D,
    PendulumChain,
    QuadrotorWithLoad,
    RigidBodyInWell,
    SphericalPendulum,
    TwoQuadrotors,
)
from tests.systems.data import EXAMPLES

PAGE = (Path(__file__).resolve().parents[1] / "book/notation.md").read_text(encoding="utf-8")


def table(head: str) -> list[list[str]]:
    """Cells of the rows of the tables whose head begins so."""
    blocks = re.findall(rf"^\| {re.escape(head)}.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert blocks, head
    return [
        [cell.strip() for cell in line.strip("|\n").split(" |")]
        for block in blocks
        for line in block.splitlines()
    ]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


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
    for group, u in ((so2, U[:1]), (se2, U), (se3, np.r_[U, V])):
        np.testing.assert_allclose(group.exp(u), expm(group.hat(u)), atol=1e-14)
    small = 1e-3 * U
    first = np.cross(small, V)
    series = V - first / 2 + np.cross(small, first) / 12
    np.testing.assert_allclose(so3.dexpinv(small) @ V, series, atol=1e-11)
    np.testing.assert_allclose(actions.SO3_ON_SO3.dexpinv(small, V), series, atol=1e-11)


def test_composition():
    g, h = se3.exp(np.r_[U, V]), se3.exp(np.r_[V, W])
    both = se3.compose(g, h)
    R, r, S, s = g[:3, :3], g[:3, 3], h[:3, :3], h[:3, 3]
    np.testing.assert_allclose(both[:3, :3], R @ S)
    np.testing.assert_allclose(both[:3, 3], R @ s + r)
    (Q, mu), (P, nu) = (so3.exp(U), V), (so3.exp(W), U)
    found = cotangent_so3.compose((Q, mu), (P, nu))
    np.testing.assert_allclose(found[0], Q @ P)
    np.testing.assert_allclose(found[1], mu + so3.coAd(so3.inverse(Q)) @ nu)


def test_quaternions():
    half = np.linalg.norm(U) / 2
    q = quaternions.exp(U)
    np.testing.assert_allclose(q, np.r_[np.cos(half), np.sin(half) * U / (2 * half)])
    np.testing.assert_allclose(quaternions.rotation(q), so3.exp(U), atol=1e-14)


def test_products():
    group = product(so3, rn(3))
    turned, shifted = group.exp(np.r_[U, V])
    np.testing.assert_allclose(turned, so3.exp(U))
    np.testing.assert_allclose(shifted, V)


def test_the_direct_product_of_the_quadrotors():
    """One factor turns R, the other adds to Omega: no entry of dexpinv joins them."""
    action = TwoQuadrotors().formulations["action"].action
    u, v = RNG.normal(size=(2, action.algebra))
    out = action.dexpinv(u, v)
    np.testing.assert_allclose(out[6:9], so3.dexpinv(u[6:9]) @ v[6:9])
    np.testing.assert_array_equal(out[9:12], v[9:12])


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


def test_actions_go_with_their_generator():
    y = np.r_[so3.exp(V)[:, 0], U]
    for action, u in ((actions.SE3_ON_TS2, np.r_[V, W]), (actions.SE3_ON_DUAL, np.r_[W, V])):
        rate = slope(lambda t: action.exp_act(t * u, y))  # noqa: B023
        np.testing.assert_allclose(rate, action.generator(u, y), atol=1e-10)


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


def test_momenta_of_the_3d_pendulum_are_in_the_body():
    pendulum = Pendulum3D()
    sol = lielab.solve(pendulum, (0, 0.4), method="RKMK8", h=0.01)
    R, rate = sol.R[20], slope(lambda t: sol(0.2 + t)[:9], 1e-3).reshape(3, 3)
    np.testing.assert_allclose(R @ so3.hat(sol.p[20] / np.array(pendulum.inertia)), rate, atol=1e-8)


def test_words_for_inertia_and_mass():
    top, tilted = HeavyTop("left"), HeavyTop("left").y0
    tilted[9:] = 0.0
    tilted[:9] = so3.exp([0.5, 0.0, 0.0]).ravel()
    Gamma = tilted[:9].reshape(3, 3).T @ np.array(top.Gamma0)
    assert top.energy(tilted) == pytest.approx(top.M * top.l * Gamma @ np.array(top.chi))
    reduced = HeavyTop("se3dual")
    np.testing.assert_allclose(reduced.y0[:3], reduced.Gamma0)  # Q is the identity there
    needles = MagneticDipoles(1, 2)
    y, slow = needles.y0, needles.y0
    y[3:6], slow[3:6] = (0.0, 0.0, 1.0), 0.0
    assert needles.energy(y) - needles.energy(slow) == pytest.approx(needles.inertia / 2)
    double = DoubleSphericalPendulum()
    M = np.array(double.formulations["spheres"].mass())
    (m1, m2), (l1, l2) = double.masses, double.lengths
    np.testing.assert_allclose(M, [[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
    # about the fixed point: small swings of frequency^2 = m g |rho| / J_1
    pendulum = Pendulum3D()
    y = pendulum.pack(R=so3.exp([1e-6, 0, 0]), p=np.zeros(3))
    form = pendulum.formulations["action"]
    rate = form.action.generator(form.field(0.0, y, form.params), y)[9]
    rho = np.linalg.norm(pendulum.rho)
    assert rate == pytest.approx(-pendulum.mass * pendulum.g * rho * 1e-6)


def test_retractions_and_velocities():
    pendulum, h = Pendulum3D(), 1e-4
    for name, tau in (("cay", so3.cay), ("exp", so3.exp)):
        y, x, *_ = control.DiscreteSystem(pendulum, h, name).step(pendulum.y0, ())
        R0, R1 = (s[:9].reshape(3, 3) for s in (pendulum.y0, y))
        np.testing.assert_allclose(R1, R0 @ tau(x), atol=1e-14)
        Omega = pendulum.y0[9:] / np.array(pendulum.inertia)
        np.testing.assert_allclose(x / h, Omega, atol=1e-3)


def test_first_what_turns_then_what_is_added():
    """f = (dH/dpi_1, dH/dq_1, ...): the first slot is w, which a momentum's derivative of the energy is."""
    chain = PendulumChain(2, formulation="momentum")
    y = chain.project(RNG.normal(size=12))
    form = chain.formulations["action"]
    f = form.field(0.0, y, form.params).reshape(2, 2, 3)
    for i, q in enumerate(y.reshape(2, 2, 3)[:, 0]):
        at = 6 * i + 3

        def energy(t, e):
            moved = y.copy()
            moved[at : at + 3] += t * (e - (e @ q) * q)  # noqa: B023
            return float(chain.energy(moved))

        across = np.array([slope(lambda t, e=e: energy(t, e), 1e-3) for e in np.eye(3)])  # noqa: B023
        np.testing.assert_allclose(f[i, 0] - (f[i, 0] @ q) * q, across, atol=1e-8)


def test_states_hold_what_the_page_says():
    """Every system, by the table; names without brackets are those that need no argument, or several."""
    known = {type(system).__name__: system for system in EXAMPLES.values()}
    shown = set()
    for cell, parts in table("system | parts"):
        for name in names(cell):
            system = eval(name, vars(systems)) if "(" in name else known[name]
            assert [part for part, _ in system.parts] == names(parts), name
            shown.add(type(system).__name__)
    assert shown == set(known)
    body = FreeRigidBody(attitude=True)
    np.testing.assert_array_equal(body.pack(R=G, mu=U), np.r_[G[0], G[1], G[2], U])


WHICH_WAY = [(name, way == "up") for cell, way in table("system | which") for name in names(cell)]


def test_both_ways_are_on_the_page():
    assert {way for _, way in table("system | which")} == {"up", "down"}
    assert len(WHICH_WAY) == 7


@pytest.mark.parametrize(("name", "up"), WHICH_WAY, ids=[name for name, _ in WHICH_WAY])
def test_which_way_is_up(name, up):
    """Moved along e3, the energy grows where e3 points up."""
    system = PendulumChain(2) if name == "PendulumChain" else getattr(systems, name)()
    low, high = system.y0.copy(), system.y0.copy()
    down, above = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])
    if isinstance(system, Pendulum3D):
        low[:9], high[:9] = np.diag([1.0, -1.0, -1.0]).ravel(), np.eye(3).ravel()
        low[9:], high[9:] = 0.0, 0.0
        tip = np.array(system.rho)[2]
        assert tip > 0
    elif isinstance(system, EllipsoidParticle):
        low, high = np.r_[down, 0 * down], np.r_[above, 0 * above]
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
    fish = ConnectedBodies()
    middle, one, two = fish.centres(fish.y0)
    np.testing.assert_allclose(one + two, 2 * middle, atol=1e-14)
    assert np.linalg.norm(one - middle) > 10
    particle = EllipsoidParticle()
    np.testing.assert_allclose(particle.places(particle.y0), particle.y0[:3] * particle.axes)
    load = QuadrotorWithLoad()
    weight = (load.mq + load.mL) * load.g
    assert 4 * load.kt * load.hover**2 == pytest.approx(weight)
    assert 10 < load.hover < 100  # 100 to 1000 rad/s, in units of 10


def test_maps_of_the_thesis():
    """Cayley is the default of ELN, TLN and PRK on rotations; exp is there for the asking."""
    system, h = RigidBodyInWell(), 0.1
    row = next(here for _, there, here in table("paper") if "by the method" in there)
    either = re.findall(r"[A-Z]{3}", row)
    assert either == ["ELN", "TLN", "PRK"]
    for name in either:
        ends = [
            lielab.solve(system, (0, h), method=name, h=h, **options).y[-1]
            for options in ({}, {"retraction": "cay"}, {"retraction": "exp"})
        ]
        np.testing.assert_array_equal(ends[0], ends[1])
        assert np.abs(ends[0] - ends[2]).max() > 1e-7


def test_rates_and_velocities_are_those_of_the_body():
    t = np.array([0.0, 0.5])
    held = np.array([U, U])
    np.testing.assert_allclose(so3.integrate(t, held, G)[1], G @ so3.exp(0.5 * U), atol=1e-14)
    turned = so3.integrate(t, held, G, frame="space")[1]
    np.testing.assert_allclose(turned, so3.exp(0.5 * U) @ G, atol=1e-14)
    curve = lielab.cubic_spline(so3, t, [G, G @ so3.exp(0.5 * U)])
    np.testing.assert_allclose(curve.velocity(0.2), U, atol=1e-12)
    np.testing.assert_allclose(curve.velocity(0.2, "space"), G @ U, atol=1e-12)


def test_alignment_takes_the_first_to_the_second():
    a, b = U / np.linalg.norm(U), V / np.linalg.norm(V)
    np.testing.assert_allclose(so3.from_directions(a, b) @ a, b, atol=1e-14)
    x = np.array([U, V, W])
    np.testing.assert_allclose(so3.align(x, x @ G.T), G, atol=1e-12)


def test_means_and_ways_between():
    g = so3.exp(0.3 * np.array([U, V, W]))
    weights = np.array([1.0, 2.0, 3.0])
    m = so3.mean(g, weights)
    np.testing.assert_allclose(weights @ so3.log(so3.inverse(m) @ g), 0.0, atol=1e-13)
    np.testing.assert_allclose(so3.mean(G @ g, weights), G @ m, atol=1e-13)
    between = g[0] @ so3.exp(0.3 * so3.log(so3.inverse(g[0]) @ g[1]))
    np.testing.assert_allclose(so3.interpolate(g[0], g[1], 0.3), between, atol=1e-14)
    np.testing.assert_allclose(so3.interpolate(G @ g[0], G @ g[1], 0.3), G @ between, atol=1e-14)


def test_coordinates_of_a_linearization():
    """A column of A, and of the derivatives of the cable's multiplier, by a step from g exp(eta), p + dp."""
    load = QuadrotorWithLoad(rotors=(QuadrotorWithLoad().hover,) * 4)
    y, u, e = load.y0, load.rotors, 1e-6
    d = control.DiscreteSystem(load, 0.02)
    found = control.linearize(d, y, u)
    turned, pushed = y.copy(), y.copy()
    turned[:9] = (y[:9].reshape(3, 3) @ so3.exp([e, 0.0, 0.0])).ravel()  # eta, the first of it
    pushed[18] += e  # delta p, that of the quadrotor along e_1
    (y1, _, before), ends = d.step(y, u), [d.step(moved, u) for moved in (turned, pushed)]
    for (end, _, after), column in zip(ends, (0, 12), strict=True):
        change = d.log(y1[None], end[None])[0], end[d.k :] - y1[d.k :]
        np.testing.assert_allclose(np.concatenate(change) / e, found.A[:, column], atol=1e-4)
        np.testing.assert_allclose((after - before) / e, found.lambda_x[:, column], atol=1e-4)


HELD = {  # a row's first cell, or what stands "there" in a paper, and the tests that hold it
    r"$\hat x$, `hat(x)`": [test_hat_dexp_and_its_inverse],
    r"$(A, a)\in\mathfrak{se}(3)$": [test_rotation_comes_first, test_composition],
    "unit quaternions": [test_quaternions],
    "products of groups": [test_products],
    r"$T^*\mathrm{SO}(3)$": [test_composition],
    r"$y\mapsto\exp(u)\cdot y$": [
        test_a_left_action_moves_the_point,
        test_actions_go_with_their_generator,
    ],
    r"$\mathrm{dexp}_u$": [test_hat_dexp_and_its_inverse],
    r"$\mathrm{dexp}^{-1}_u v$": [test_hat_dexp_and_its_inverse],
    "`dexpinv`": [test_hat_dexp_and_its_inverse],
    r"$\mathrm{Ad}^*_g$, $\mathrm{ad}^*_w$": [test_duals],
    "coadjoint action": [test_duals],
    r"$\mathrm{cay}(x)$": [test_cayley],
    "covectors": [test_duals],
    "`integrate(t, rates)`, splines": [test_rates_and_velocities_are_those_of_the_body],
    "`from_directions(a, b)`, `align(x, y)`": [test_alignment_takes_the_first_to_the_second],
    "`mean`, `interpolate`": [test_means_and_ways_between],
    "$R$, $Q$": [test_bodies],
    r"$\Omega$, $\Pi = J\Omega$": [test_bodies, test_momenta_of_the_3d_pendulum_are_in_the_body],
    r"$\omega$, $\pi = R\,\Pi$": [test_bodies],
    r"$\Gamma = Q^T\Gamma_0$, $\chi$, $\ell$": [test_words_for_inertia_and_mass],
    "$q$, $w$": [test_directions_turn_with_w],
    "$J$, of tops $I$": [test_words_for_inertia_and_mass],
    "$M$": [test_words_for_inertia_and_mass],
    "$h$": [test_retractions_and_velocities],
    r"$\xi$, $x = h\,\xi$": [test_retractions_and_velocities],
    r"$x = (\eta, \delta p)$, $\lambda$": [test_coordinates_of_a_linearization],
    r"$\Gamma_0 = (0, 0, -9.81)$, gravity inside it": [test_the_heavy_top_has_minus_gravity],
    r"$f = (\partial H/\partial q_1, \partial H/\partial\pi_1, \dots)$, misprinted": [
        test_first_what_turns_then_what_is_added
    ],
    r"$T\mathrm{SO}(3)$ of the quadrotors": [test_the_direct_product_of_the_quadrotors],
    "$k$, up for one pendulum, down for two": [test_which_way_is_up],
    r'$\omega$ of a direction, "(body)"': [test_directions_turn_with_w],
    r"$\mathrm{cay}$ or $\exp$, by the method": [test_maps_of_the_thesis],
    "$y$ on the ellipsoid": [test_layouts_and_units],
    "$R_0$, $R_1$, $R_2$; body 0": [test_layouts_and_units],
    r"$\tau$, $\xi\,\Delta t$": [test_retractions_and_velocities],
    "elements of $T^*_eQ$ are rows": [test_duals],
    "rotor speeds, unit not stated": [test_layouts_and_units],
}


def test_every_row_is_held_by_a_test():
    rows = [row[0] for row in table("written")] + [row[1] for row in table("paper")]
    assert rows == list(HELD)
    assert all(callable(test) for tests in HELD.values() for test in tests)
