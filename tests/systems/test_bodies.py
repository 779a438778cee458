"""Rigid bodies in potentials, the 3D pendulum, quadrotors, and the fish."""

import warnings

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.systems import (
    ConnectedBodies,
    HeavyTop,
    Pendulum3D,
    QuadrotorWithLoad,
    RigidBodyInPotential,
    RigidBodyInWell,
    TwoQuadrotors,
    added_inertia,
)
from tests.systems.data import OPEN_LOOP, REFERENCES, generic, velocity


def attitude_gradient(potential, R, h=1e-2):
    out = []
    for e in np.eye(3):
        f = [potential(R @ so3.exp(j * h * e)) for j in (-3, -2, -1, 1, 2, 3)]
        out.append(np.dot([-1, 9, -45, 45, -9, 1], f) / (60 * h))
    return np.array(out)


def test_torque_of_the_well():
    well, reference = RigidBodyInWell(), REFERENCES["well"]
    form = well.formulations["rigid_body"]
    np.testing.assert_allclose(
        form.torque(0.0, well.y0, form.params), reference["torque"], atol=1e-15
    )
    assert well.potential_energy(well.y0[:9].reshape(3, 3)) == pytest.approx(
        reference["potential"], rel=1e-14
    )
    R = so3.exp([0.9, -0.8, 0.3])
    found = form.torque(0.0, np.append(R.ravel(), np.zeros(3)), form.params)
    expected = -attitude_gradient(lambda S: float(well.potential_energy(S)), R)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    # (3.5) as printed divides the first term by m^2 instead of m: no potential has that torque
    m = np.linalg.norm(R - np.eye(3))
    first = 2 * (m - 1) / m * np.array([R[1, 2] - R[2, 1], R[2, 0] - R[0, 2], R[0, 1] - R[1, 0]])
    printed = found - first + first / m
    assert np.abs(printed - expected).max() > 1e-2


def test_readers_potential_by_differences_and_with_torque():
    well = RigidBodyInWell()
    Rm = well.params[4:]

    def potential(R, p):
        m = np.sqrt(((R - np.eye(3)) ** 2).sum())
        mm = np.sqrt(((R.copy().reshape(9) - p[1:]) ** 2).sum())
        return (m - 1) ** 2 - p[0] / mm

    own = RigidBodyInPotential(well.inertia, potential, p=(0.3, *Rm), start=tuple(well.y0))
    y = generic(well)
    np.testing.assert_allclose(velocity(own, y), velocity(well, y), rtol=0, atol=1e-10)
    assert own.energy(y) == pytest.approx(well.energy(y), rel=1e-13)

    def height(R, p):
        return p[0] * R[2, 2]

    def torque(R, p):
        return p[0] * np.array([R[2, 1], -R[2, 0], 0.0])

    by_differences = RigidBodyInPotential((1, 2, 2.5), height, p=(0.7,))
    given = RigidBodyInPotential((1, 2, 2.5), height, torque, p=(0.7,))
    y = generic(given)
    np.testing.assert_allclose(velocity(given, y), velocity(by_differences, y), rtol=0, atol=1e-11)


def test_pendulum3d():
    pendulum, reference = Pendulum3D(), REFERENCES["pendulum3d"]
    parts = pendulum.unpack(pendulum.y0)
    np.testing.assert_allclose(parts["R"], reference["R0"], atol=1e-15)
    np.testing.assert_allclose(parts["p"], reference["p0"], atol=1e-15)
    assert pendulum.energy(pendulum.y0) == pytest.approx(reference["energy"], rel=1e-14)
    # hangs at R = 1: small swings about e1 have frequency^2 = m g |rho| / J_1
    y = pendulum.pack(R=so3.exp([1e-6, 0, 0]), p=np.zeros(3))
    assert velocity(pendulum, y)[9] == pytest.approx(-9.81 * 1.5 * 1e-6, rel=1e-6)
    # inverted where R e3 = -e3
    y = pendulum.pack(R=so3.exp([np.pi, 0, 0]) @ so3.exp([1e-6, 0, 0]), p=np.zeros(3))
    assert velocity(pendulum, y)[9] == pytest.approx(9.81 * 1.5 * 1e-6, rel=1e-6)


def test_the_torque_on_pendulum3d():
    """p' = p x Omega + m g rho x R^T e3 + u: u as it is, in the body, for every kind of formulation."""
    u = np.array([0.3, -0.7, 1.1])
    free, pushed = Pendulum3D(), Pendulum3D(control="constant", inputs=tuple(u))
    own = Pendulum3D(control=lambda t, y, p: p[9:12], inputs=tuple(u))
    y = generic(free)
    for system in (pushed, own):
        np.testing.assert_allclose(
            velocity(system, y) - velocity(free, y), np.append(np.zeros(9), u), rtol=0, atol=1e-13
        )
        form = system.formulations["lagrangian"]
        z = np.concatenate([y[:9], y[9:] / np.array(system.inertia), u])
        force = form.force(0.0, z, form.params)
        np.testing.assert_array_equal(force[:3], u)
        np.testing.assert_array_equal(force[3 + 18 :].reshape(3, 3), np.eye(3))
    body, alone = (s.formulations["rigid_body"] for s in (pushed, free))
    np.testing.assert_allclose(
        body.torque(0.0, y, body.params) - alone.torque(0.0, y, alone.params), u, atol=1e-13
    )
    # about the vertical only u has a moment
    end = lielab.solve(pushed, (0, 1), y, method="RKMK8", h=0.01)
    moment = np.einsum("tj,j->t", end.R[:, 2], u)
    rise = (end.R[:, 2] * end.p).sum(-1)
    weights = np.array([1.0, *([4.0, 2.0] * 50)[:-1], 1.0]) / 300.0
    assert rise[-1] - rise[0] == pytest.approx(weights @ moment, abs=1e-7)


@pytest.mark.parametrize("rotors", [(0, 0, 0, 0), (50, 48, 51, 49)])
def test_quadrotor_with_load_obeys_newton(rotors):
    """Accelerations with the cable's tension as an explicit force; the length and its rate stay fixed."""
    system = QuadrotorWithLoad(rotors=rotors)
    y = generic(system)
    parts, T = system.unpack(y), float(system.tension(y))
    e = (parts["x_L"] - parts["x_q"]) / system.L
    thrust, moment = system.wrench()
    W = parts["p_R"] / np.array(system.inertia)
    gravity = np.array([0, 0, -system.g])
    expected = system.pack(
        R=parts["R"] @ so3.hat(W),
        x_q=parts["p_q"] / system.mq,
        x_L=parts["p_L"] / system.mL,
        p_R=np.cross(parts["p_R"], W) + moment,
        p_q=system.mq * gravity + thrust * parts["R"][:, 2] + T * e,
        p_L=system.mL * gravity - T * e,
    )
    np.testing.assert_allclose(velocity(system, y), expected, rtol=0, atol=1e-12)
    sol = lielab.solve(system, (0, 3), y, rtol=1e-8, atol=1e-9)
    assert sol.defect().max() < 1e-12
    assert bool(system.invariants) == (not any(rotors))


def test_hovering_quadrotor_stays():
    system = QuadrotorWithLoad()
    system = QuadrotorWithLoad(rotors=(system.hover,) * 4)
    y = system.pack(
        R=np.eye(3),
        x_q=[0, 0, 1.5],
        x_L=np.zeros(3),
        p_R=np.zeros(3),
        p_q=np.zeros(3),
        p_L=np.zeros(3),
    )
    sol = lielab.solve(system, (0, 2), y, h=0.01, method="RKMK4")
    np.testing.assert_allclose(sol.y[-1], y, atol=1e-12)
    assert system.tension(y) == pytest.approx(system.mL * system.g)


def test_two_quadrotors_reference():
    system, reference = (
        TwoQuadrotors(control="constant", inputs=OPEN_LOOP),
        REFERENCES["two_quadrotors"],
    )
    np.testing.assert_allclose(system.y0, reference["y0"], rtol=0, atol=1e-16)
    states = np.array(reference["states"])
    np.testing.assert_allclose(system.energy(states), reference["energy"], atol=1e-12)
    np.testing.assert_allclose(system.momentum(states), reference["momentum"], atol=1e-13)


def test_two_quadrotors_obey_newton():
    """Forces on load and quadrotors with the links' tensions, e3 down; the printed matrix form gives the same."""
    system = TwoQuadrotors(control="constant", inputs=OPEN_LOOP)
    y = generic(system)
    rate = system.unpack(velocity(system, y))
    parts = system.unpack(y)
    g = np.array([0, 0, 9.81])
    total = np.zeros(3)
    for i in range(2):
        q, w = parts[f"q{i + 1}"], parts[f"w{i + 1}"]
        qdd = np.cross(rate[f"w{i + 1}"], q) + np.cross(w, np.cross(w, q))
        u = np.array(OPEN_LOOP[6 * i : 6 * i + 3])
        link = u + 0.755 * (g - rate["v_load"] + qdd)  # what is left acts on the link
        np.testing.assert_allclose(np.cross(q, link), 0, atol=1e-12)
        total += link
    np.testing.assert_allclose(0.5 * (rate["v_load"] - g), total, atol=1e-12)


def test_two_quadrotors_kinematics():
    """Directions and attitudes turn with w and Omega; the momentum gains the weight and the pushes."""
    pushes = np.arange(1.0, 13.0) / 5
    system = TwoQuadrotors(control="constant", inputs=tuple(pushes))
    y = system.y0
    v = velocity(system, y)
    weight = system.g * (system.my + sum(system.masses)) * np.array([0, 0, 1])

    def rate(function, v):
        return (function(y + 1e-5 * v) - function(y - 1e-5 * v)) / 2e-5

    gained = weight + pushes[:3] + pushes[6:9]
    np.testing.assert_allclose(rate(system.momentum, v), gained, rtol=0, atol=1e-8)
    assert abs(rate(system.energy, velocity(TwoQuadrotors(), y))) < 1e-8
    parts, change, J = system.unpack(y), system.unpack(v), np.array(system.inertia1)
    for i in range(2):
        q, w, R, W = (parts[f"{name}{i + 1}"] for name in ("q", "w", "R", "Omega"))
        M = pushes[6 * i + 3 : 6 * i + 6]
        np.testing.assert_allclose(change[f"q{i + 1}"], np.cross(w, q), rtol=0, atol=1e-15)
        np.testing.assert_allclose(change[f"R{i + 1}"], R @ so3.hat(W), rtol=0, atol=1e-15)
        spin = np.cross(J * W, W) + M
        np.testing.assert_allclose(J * change[f"Omega{i + 1}"], spin, rtol=0, atol=1e-14)


def test_the_forces_and_moments_of_the_law():
    """Shares of F and the links' pull along themselves; u_i from the links' accelerations; thrust and moments."""
    tracking, attitude = TwoQuadrotors(control="tracking"), TwoQuadrotors(control="attitude")
    y, e3 = tracking.y0, np.array([0, 0, 1])
    parts, change = tracking.unpack(y), tracking.unpack(velocity(tracking, y))
    u, steered = tracking.inputs_at(0.0, y)[0], attitude.inputs_at(0.0, y)[0]
    kx, kv, _, _, sigma = tracking.gains
    path, apart = np.array(tracking.path), sigma * np.array(tracking.spread)
    off, drift = parts["x_load"] - path[0], parts["v_load"] - path[1]
    F = tracking.my * (2 * path[2] - kx * off - kv * drift - tracking.g * e3)
    A = change["v_load"] - tracking.g * e3
    pulls = []
    for i, (target, sign) in enumerate(zip(tracking.link_targets(0.0, y), (1, -1), strict=True)):
        m, L = tracking.masses[i], tracking.lengths[i]
        q, w, R, W = (parts[f"{name}{i + 1}"] for name in ("q", "w", "R", "Omega"))
        share = F / 2 + sign * apart
        np.testing.assert_allclose(target, -share / np.linalg.norm(share), rtol=0, atol=1e-14)
        mu = q * (q @ share)
        pulls.append(mu)
        force, moment = u[6 * i : 6 * i + 3], steered[6 * i + 3 : 6 * i + 6]
        wanted = mu + m * A + m * L * (w @ w * q + np.cross(q, change[f"w{i + 1}"]))
        np.testing.assert_allclose(force, wanted, rtol=0, atol=1e-11)
        assert np.abs(u[6 * i + 3 : 6 * i + 6]).max() == 0
        b3 = -force / np.linalg.norm(force)
        b2 = np.cross(b3, [1, 0, 0])
        b2 /= np.linalg.norm(b2)
        aim = np.stack([np.cross(b2, b3), b2, b3], axis=1)
        turn = so3.vee((aim.T @ R - R.T @ aim) / 2)
        J = np.array((tracking.inertia1, tracking.inertia2)[i])
        thrust = force @ R[:, 2] * R[:, 2]
        np.testing.assert_allclose(steered[6 * i : 6 * i + 3], thrust, rtol=0, atol=1e-12)
        wanted = np.cross(W, J * W) - J * (400 * turn + 40 * W)
        np.testing.assert_allclose(moment, wanted, rtol=0, atol=1e-11)
    np.testing.assert_allclose(tracking.my * A, sum(pulls), rtol=0, atol=1e-12)


def test_tracking():
    """The load comes to the path; link norms stay; the controller with attitudes does it as well."""
    for control, end in (("tracking", 1e-3), ("attitude", 4e-3)):
        system = TwoQuadrotors(control=control)
        sol = lielab.solve(system, (0, 5), rtol=1e-8, atol=1e-8)
        deviation = np.linalg.norm(sol.x_load - system.desired(sol.t), axis=-1)
        assert deviation[0] > 0.3
        assert deviation[-1] < end, control
        assert sol.defect().max() < 1e-13
        assert system.invariants == {}
    u = system.inputs_at(sol.t, sol.y)
    assert u.shape == (len(sol.t), 12)
    # thrusts point along -R e3
    thrust = u[:, :3]
    np.testing.assert_allclose(np.cross(thrust, sol.R1[:, :, 2]), 0, atol=1e-9)
    np.testing.assert_allclose(
        system.desired([0.0, 1.0, 2.0]), [[0, 0, 0], [1, 0, -0.8], [2, 0, -1.2]], atol=1e-15
    )


def test_links_that_point_at_their_targets_stay_there():
    """The law knows how the targets move: on them, and turning with them, the links never leave them."""
    system = TwoQuadrotors(control="tracking")
    parts = system.unpack(system.y0)
    q = system.link_targets(0.0, system.y0)
    still = {f"q{i + 1}": q[i] for i in range(2)} | {"w1": np.zeros(3), "w2": np.zeros(3)}
    y = system.pack(**{**parts, **still})
    rate = velocity(system, y)  # v' depends on where the links point, not on how they turn
    h = 1e-4
    ahead, behind = (
        system.link_targets(s * h, y + s * h * np.r_[rate[:6], np.zeros(36)]) for s in (1.0, -1.0)
    )
    turn = np.cross(q, (ahead - behind) / (2 * h))
    y = system.pack(**{**system.unpack(y), "w1": turn[0], "w2": turn[1]})
    sol = lielab.solve(system, (0, 3), y, method="RKMK4", h=0.01)
    targets = system.link_targets(sol.t, sol.y)
    for i in range(2):
        assert (
            np.linalg.norm(np.cross(targets[:, i], getattr(sol, f"q{i + 1}")), axis=1).max() < 2e-7
        )
    # and once there, e'' = -k_x e - k_v e': the load comes in as the gains promise
    e, t = sol.x_load - system.desired(sol.t), sol.t[:, None]
    v = parts["v_load"] - np.array(system.path[1])
    promised = (e[0] + t * (v + 2.0 * e[0])) * np.exp(-2.0 * t)
    np.testing.assert_allclose(e, promised, rtol=0, atol=1e-7)


def test_readers_control():
    def control(t, y, p):
        return OPEN_LOOP

    own = TwoQuadrotors(control=control)
    y = generic(own)
    given = TwoQuadrotors(control="constant", inputs=OPEN_LOOP)
    np.testing.assert_array_equal(velocity(own, y), velocity(given, y))

    def short(t, y, p):
        return [0.0, 1.0]

    with pytest.raises(ValueError, match="twelve numbers"):
        _ = TwoQuadrotors(control=short).formulations


def test_added_inertia():
    """The printed four decimals, spheres (added mass m/2, none in rotation), spheroids, nearly equal axes."""
    for values in REFERENCES["bodies"]["inertia"].values():
        M, J = added_inertia(values["axes"], values["mass"])
        np.testing.assert_allclose(M, values["M"], rtol=1e-13)
        np.testing.assert_allclose(J, values["J"], rtol=1e-13)
    M, J = added_inertia((2, 2, 2), 3.0)
    np.testing.assert_allclose(M, 4.5, rtol=1e-14)
    np.testing.assert_allclose(J, 2 / 5 * 3.0 * 4.0, rtol=1e-14)
    # prolate spheroid, known in elementary functions: gamma_1 = 2 (1 - e^2)/e^3 (artanh e - e)
    e = np.sqrt(1 - 0.25)
    gamma = 2 * 0.25 / e**3 * (np.arctanh(e) - e)
    M, J = added_inertia((2, 1, 1), 1.0)
    assert M[0] == pytest.approx(1 + gamma / (2 - gamma), rel=1e-13)
    assert M[1] == pytest.approx(M[2], rel=1e-14)
    assert J[0] == pytest.approx(0.4, rel=1e-14)
    # continuous where two axes meet, and across the switch between the two ways to integrate
    for near in (1e-12, 1e-9, 1e-6):
        close, _ = added_inertia((2, 1, 1 + near), 1.0), None
        np.testing.assert_allclose(close[1], J, rtol=0, atol=3 * near + 1e-13)
    low, high = (
        added_inertia((2, 1, np.sqrt(0.9) - 1e-9), 1.0)[1],
        added_inertia((2, 1, np.sqrt(0.9) + 1e-9), 1.0)[1],
    )
    np.testing.assert_allclose(low, high, rtol=0, atol=1e-8)
    computed = ConnectedBodies(inertia="computed")
    printed = ConnectedBodies()
    for one, two in zip(computed.M_and_J, printed.M_and_J, strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=5.1e-5)


def test_fish_reference_and_both_forms():
    fish, reference = ConnectedBodies(), REFERENCES["bodies"]
    np.testing.assert_allclose(fish.y0[30:], reference["mu0"], atol=1e-14)
    state = np.array(reference["states"][0])
    np.testing.assert_allclose(fish.to_velocities(state)[30:], reference["xi"], atol=1e-12)
    other = ConnectedBodies("lagrangian")
    y = generic(other)
    z = other.to_momenta(y)
    v, h = velocity(other, y), 1e-4
    pushed = (
        8 * (other.to_momenta(y + h * v) - other.to_momenta(y - h * v))
        - (other.to_momenta(y + 2 * h * v) - other.to_momenta(y - 2 * h * v))
    ) / (12 * h)
    np.testing.assert_allclose(pushed, velocity(fish, z), rtol=0, atol=1e-9)
    # the printed joints (+5.5) put body 1 inside body 0 and give a linear momentum that is not zero
    assert np.abs(fish.y0[33:36]).max() < 2e-4
    wrong = ConnectedBodies(joints=((8.8, 0, 0), (-8.8, 0, 0), (5.5, 0, 0), (-5.5, 0, 0)))
    assert np.abs(wrong.y0[33:36]).max() > 2.8
    assert fish.centres(fish.y0)[1, 0] == pytest.approx(14.3)
    assert wrong.centres(wrong.y0)[1, 0] == pytest.approx(3.3)


def test_swimming_moves_without_momentum():
    fish = ConnectedBodies(torques=((0, 0, 0.5), (0, 0, 0.5)), frequency=0.2, phases=(0.0, 1.5))
    assert "energy" not in fish.invariants
    sol = lielab.solve(fish, (0, 20), fish.at_rest(), rtol=1e-9, atol=1e-9)
    for values in sol.invariants().values():
        assert np.abs(values).max() < 1e-12
    assert np.ptp(sol.energy()) > 0.01
    assert np.linalg.norm(sol.x[-1]) > 0.1
    # the other form swims the same way
    other = ConnectedBodies("lagrangian", torques=fish.torques, frequency=0.2, phases=(0.0, 1.5))
    twin = lielab.solve(other, (0, 20), other.at_rest(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(twin.y[-1, :30], sol.y[-1, :30], atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RigidBodyInWell(attraction=(1, 2)), "attraction must be 3 finite numbers"),
        (
            lambda: RigidBodyInWell().check(np.append(np.eye(3).ravel(), [0, 0, 0])),
            "torque is undefined",
        ),
        (lambda: RigidBodyInPotential((1, 1, 1), lambda R, p: R), "potential must return a number"),
        (
            lambda: RigidBodyInPotential((1, 1, 1), lambda R, p: 0.0, lambda R, p: R),
            "three numbers",
        ),
        (
            lambda: RigidBodyInPotential((1, 1, 1), lambda R, p: R[2, 0], lambda R, p: np.ones(3)),
            "torque is not minus the derivative",
        ),
        (lambda: Pendulum3D(mass=0), "mass must be"),
        (lambda: QuadrotorWithLoad(L=-1), "L must be"),
        (lambda: QuadrotorWithLoad(rotors=(1, 2)), "rotors must be 4"),
        (lambda: TwoQuadrotors(masses=(1, 2, 3)), "masses must have length 2, got 3"),
        (lambda: TwoQuadrotors(control="hope"), "control must be"),
        (lambda: TwoQuadrotors(control="constant"), "inputs must be twelve"),
        (lambda: TwoQuadrotors(path=((0, 0, 0),)), "path must be three"),
        (lambda: ConnectedBodies("newton"), "formulation must be"),
        (lambda: ConnectedBodies(masses=(1, 1, 1)), 'inertia="computed"'),
        (lambda: ConnectedBodies(inertia="computed", axes=((1, 1, 1),)), "axes must hold 3"),
        (lambda: ConnectedBodies(joints=((0, 0, 0),)), "joints must hold 4"),
        (lambda: added_inertia((1, 0, 1), 1.0), r"axes\[1\]"),
        (lambda: added_inertia((1, 1, 1), -1.0), "mass must be"),
    ],
)
def test_wrong_physics_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_cable_of_the_wrong_length_is_refused():
    system = QuadrotorWithLoad()
    y = system.y0
    y[14] += 0.1
    with pytest.raises(ValueError, match=r"cable of length 1.5 .* use system.project"):
        lielab.solve(system, (0, 1), y)
    system.check(system.project(y))


def test_impossible_inertia_warns():
    with pytest.warns(RuntimeWarning, match="larger than the sum"):
        Pendulum3D(inertia=(1, 1, 5), mass=0.01)


def test_moments_that_no_body_has_about_its_pivot_warn():
    """fan, errata 32: diag(3, 7, 4) fits rho along e3 and e1 (a flat body), along e2 no body has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rho in ((0, 0, 1.5), (1.5, 0, 0)):
            Pendulum3D(rho=rho)
    with pytest.warns(RuntimeWarning, match=r"would be 0.75, 1.75, 7, one larger than the sum"):
        Pendulum3D(rho=(0, 1.5, 0))
    with pytest.warns(RuntimeWarning, match="a moment would be negative"):
        Pendulum3D(rho=(0, 0, 2.5))
    with pytest.warns(RuntimeWarning, match="one larger than the sum"):
        HeavyTop("left", (4.2, 0.5, 4.2), 1.0, 2.0)  # 0.2, 0.5, 0.2 about the centre of mass
