"""Structured linearization against handed values, Richardson differences and the forms that a step preserves."""

import pickle

import numpy as np
import pytest

import lielab
from lielab import control, so3
from lielab.control.linearize import at
from lielab.systems import FreeRigidBody, PointVortices
from tests.control.problems import (
    INVERTED,
    PENDULUM,
    QUADROTOR,
    REFERENCE,
    TORQUE,
    moving_quadrotor,
)

H = 0.01


def omega(p):
    """Omega(p) = [[-hat(p), 1], [-1, 0]]"""
    return np.block([[-so3.hat(p), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def test_ten_steps_of_the_pendulum():
    for key, u in (("pendulum_10_steps", np.zeros(3)), ("pendulum_10_steps_forced", TORQUE)):
        d, y = control.DiscreteSystem(PENDULUM, H), PENDULUM.y0
        for _ in range(10):
            y = d.step(y, u)[0]
        expected = np.concatenate([np.ravel(REFERENCE[key]["R"]), REFERENCE[key]["p"]])
        np.testing.assert_allclose(y, expected, rtol=0, atol=1e-13)


def test_the_handed_A_and_B():
    A, B = control.linearize(PENDULUM, PENDULUM.y0, TORQUE, H)
    np.testing.assert_allclose(A, REFERENCE["linearization"]["A"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(B, REFERENCE["linearization"]["B"], rtol=0, atol=1e-15)
    M = -np.linalg.inv(A[:3, 3:])  # D2D1 and D1D1 again, from (15)
    np.testing.assert_allclose(M, REFERENCE["linearization"]["D2D1"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(-M @ A[:3, :3], REFERENCE["linearization"]["D1D1"], atol=1e-11)
    A, _ = control.linearize(PENDULUM, INVERTED, np.zeros(3), H)
    moduli = np.sort(np.abs(np.linalg.eigvals(A)))
    np.testing.assert_allclose(moduli, REFERENCE["moduli"], atol=1e-10)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("h", [0.01, 0.1])
def test_differences_pendulum(retraction, h):
    gap = control.check_linearization(PENDULUM, PENDULUM.y0, TORQUE, h, retraction)
    assert gap < 1e-11


@pytest.mark.parametrize("retraction", ["cay", "exp"])
def test_differences_quadrotor(retraction):
    y, u = moving_quadrotor()
    assert control.check_linearization(QUADROTOR, y, u, H, retraction) < 1e-11
    assert control.check_linearization(QUADROTOR, y, u, 0.05, retraction) < 1e-9


@pytest.mark.parametrize("slip", ["slope", "Ad", "second constraint"])
def test_the_check_sees_what_is_left_out(slip, monkeypatch):
    """The three terms that the paper leaves out or prints wrongly."""
    y, u = moving_quadrotor()
    if slip == "slope":
        monkeypatch.setattr(
            control.DiscreteSystem, "dual_slope", lambda self, x, mu: 0.0 * self.dtauinv(x)
        )
    elif slip == "Ad":
        monkeypatch.setattr(control.DiscreteSystem, "Ad", lambda self, x: np.eye(self.n))
    else:
        plain = control.linearize.__globals__["_constraint"]
        monkeypatch.setitem(
            control.linearize.__globals__,
            "_constraint",
            lambda d, t, g, lam: (plain(d, t, g, lam)[0], np.zeros((d.n, d.n))),
        )
    assert control.check_linearization(QUADROTOR, y, u, 0.05) > 1e-6


def test_a_free_step_preserves_omega_and_not_the_canonical_form():
    y = PENDULUM.y0.copy()
    d = control.DiscreteSystem(PENDULUM, H)
    (A, _), y1, _ = at(d, y, np.zeros(3))
    np.testing.assert_allclose(A.T @ omega(y1[9:]) @ A, omega(y[9:]), atol=1e-12)
    canonical = omega(np.zeros(3))
    assert np.abs(A.T @ canonical @ A - canonical).max() > 0.01
    assert np.linalg.det(A) == pytest.approx(1.0, abs=1e-12)


def test_a_forced_step_preserves_it_between_shifted_momenta():
    """(p0 + h u/2) -> (p1 - h u/2): the force acts in two halves."""
    (A, _), y1, _ = at(control.DiscreteSystem(PENDULUM, H), PENDULUM.y0, 50.0 * TORQUE)
    shift = 0.5 * H * 50.0 * TORQUE
    before, after = PENDULUM.y0[9:], y1[9:]
    np.testing.assert_allclose(A.T @ omega(after - shift) @ A, omega(before + shift), atol=1e-12)
    assert np.abs(A.T @ omega(after) @ A - omega(before)).max() > 0.1


def test_a_constrained_step():
    """Rank 17 of 18; the impulse undoes momenta along Dphi'; eta1 stays on the constraint; Omega on {Dphi eta = 0}."""
    system, h = QUADROTOR, H
    y, _ = moving_quadrotor()
    free = control.DiscreteSystem(type(system)(rotors=(0.0,) * 4), h)
    (A, _), y1, _ = at(free, free.encode(y))
    D0, D1 = (free.form.constraint(0.0, state[:15].copy(), free.params)[1:10] for state in (y, y1))
    assert np.linalg.matrix_rank(A, tol=1e-9) == 17
    assert np.abs(A @ np.concatenate([np.zeros(9), D0])).max() < 1e-13
    assert np.abs(D1 @ A[:9]).max() < 1e-12

    def form(state):
        W = np.zeros((18, 18))
        W[:9, 9:], W[9:, :9] = np.eye(9), -np.eye(9)
        W[:3, :3] = -so3.hat(state[15:18])
        return W

    tangent = np.eye(18)
    tangent[:9, :9] -= np.outer(D0, D0) / (D0 @ D0)
    gap = A.T @ form(y1) @ A - form(y)
    assert np.abs(tangent.T @ gap @ tangent).max() < 1e-12
    assert np.abs(gap).max() > 1e-3


def test_variation_is_the_rule_for_forces_of_ones_own():
    """fan (11) for f(g0, g1, xi), against differences of a made-up function."""
    d = control.DiscreteSystem(PENDULUM, 0.2)
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, 3))
    y0 = PENDULUM.y0.copy()
    y1 = d.moved(y0, np.array([0.1, -0.2, 0.15, 0.0, 0.0, 0.0]))

    def increment(s0, s1):
        R0, R1 = (s[:9].reshape(3, 3) for s in (s0, s1))
        return so3.cayinv(R0.T @ R1)

    def f(s0, s1):
        R0, R1 = (s[:9].reshape(3, 3) for s in (s0, s1))
        return np.array([(R0 @ a) @ b, (R1 @ b) @ c, np.sin(a @ increment(s0, s1) / d.h)])

    R0, R1 = (s[:9].reshape(3, 3) for s in (y0, y1))
    x, zero = increment(y0, y1), np.zeros((3, 3))
    F0, F1, Fxi = zero.copy(), zero.copy(), zero.copy()
    F0[0], F1[1] = np.cross(a, R0.T @ b), np.cross(b, R1.T @ c)
    Fxi[2] = np.cos(a @ x / d.h) * a
    D = control.variation(d, x, F0, F1, Fxi)
    for i, e in enumerate(np.hstack([np.eye(3), zero]) * 1e-4):
        for side in range(2):
            ends = [
                f(d.moved(y0, s * e), y1) if side == 0 else f(y0, d.moved(y1, s * e))
                for s in (-2, -1, 1, 2)
            ]
            slope = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-4
            np.testing.assert_allclose(D[side][:, i], slope, atol=1e-10)


def test_bad_input():
    with pytest.raises(ValueError, match="PointVortices offers no Lagrangian"):
        control.linearize(PointVortices((1.0, 1.0)), np.zeros(6), None, H)
    with pytest.raises(ValueError, match="h must be given"):
        control.linearize(PENDULUM, PENDULUM.y0, TORQUE)
    with pytest.raises(ValueError, match="h must be a positive number, got -1"):
        control.linearize(PENDULUM, PENDULUM.y0, TORQUE, -1.0)
    with pytest.raises(ValueError, match=r"u must have shape \(3,\), got \(2,\)"):
        control.linearize(PENDULUM, PENDULUM.y0, [1.0, 2.0], H)
    with pytest.raises(ValueError, match="retraction must be 'cay' or 'exp'"):
        control.linearize(PENDULUM, PENDULUM.y0, TORQUE, H, "log")
    fast = PENDULUM.pack(R=np.eye(3), p=[3e4, 7e4, -4e4])
    with pytest.raises(ValueError, match="Newton left"):
        control.linearize(PENDULUM, fast, TORQUE, H, "exp")
    A, B = control.linearize(FreeRigidBody(attitude=True), FreeRigidBody(attitude=True).y0, None, H)
    assert A.shape == (6, 6)
    assert B.shape == (6, 0)


def test_states_off_the_manifold_and_what_is_no_number_are_refused():
    system = lielab.systems.Pendulum3D()
    y, h = system.y0, 0.1
    for wrong, message in (
        (2.0 * y, "y is not on the group .* project it first"),
        (y + 1e-3j, "y must hold real numbers"),
        (np.nan * y, "y must be finite"),
        (y[:5], r"y must have shape \(..., 12\), got \(5,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            lielab.control.linearize(system, wrong, h=h)
    pushed = lielab.systems.Pendulum3D(control="constant", inputs=(0, 0, 0))
    reference = (np.array([2.0 * y, y]), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="y of the reference is not on the group"):
        lielab.control.track(pushed, reference, np.eye(6), np.eye(3), y0=y, h=h)
    with pytest.raises(ValueError, match="u must be finite"):
        lielab.control.linearize(pushed, y, [np.nan, 0, 0], h=h)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
def test_the_multipliers_follow_the_state_and_the_input(retraction):
    """fan (19): lambda_g, lambda_p, lambda_u against differences of the multiplier of one step."""
    y, u = moving_quadrotor()
    d = control.DiscreteSystem(QUADROTOR, H, retraction)
    found = control.linearize(d, y, u)
    A, B = found  # still a pair
    assert found.lambda_x.shape == (1, 18)
    assert found.lambda_u.shape == (1, 4)
    y = d.encode(y)
    scale = np.abs(d.step(y, u)[2]).max()

    def multiplier(dx, du):
        return d.step(d.moved(y, dx), u + du)[2][0]

    for k in range(22):
        e = np.zeros(22)
        e[k] = 1e-4 if k < 9 else 1e-2  # momenta and rotor speeds are larger
        values = [multiplier(j * e[:18], j * e[18:]) for j in (1, -1, 2, -2)]
        slope = (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * e[k])
        exact = found.lambda_x[0, k] if k < 18 else found.lambda_u[0, k - 18]
        assert slope == pytest.approx(exact, rel=1e-6, abs=1e-6 * scale)
    free = control.linearize(PENDULUM, PENDULUM.y0, TORQUE, H)
    assert free.lambda_x.shape == (0, 6)
    assert free.lambda_u.shape == (0, 3)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.lambda_x, found.lambda_x)


def test_the_check_sees_wrong_derivatives_of_the_multipliers(monkeypatch):
    y, u = moving_quadrotor()
    made = control.Linearization

    def wrong(A, B, lambda_x, lambda_u):
        return made(A, B, 1.001 * lambda_x, lambda_u)

    monkeypatch.setitem(control.linearize.__globals__, "Linearization", wrong)
    assert control.check_linearization(QUADROTOR, y, u, H) > 1e-5


@pytest.mark.parametrize("short", [1e-9, 0.0, -1e-9])
def test_a_step_by_two_pi_is_refused(short):
    pendulum = lielab.systems.Pendulum3D()
    # About a principal axis, where the step itself is solved.
    turn = np.array([2 * np.pi - short, 0.0, 0.0])
    y = pendulum.pack(R=np.eye(3), p=np.asarray(pendulum.inertia) * turn / H)
    with pytest.raises(ValueError, match="2 pi.*smaller h.*'cay'"):
        control.linearize(pendulum, y, None, H, "exp")
    with pytest.raises(ValueError, match="2 pi.*smaller h.*'cay'"):
        control.DiscreteSystem(pendulum, H, "exp").dtauinv(turn)
    assert np.abs(control.linearize(pendulum, y, None, H, "cay").A).max() < 10
    y = pendulum.pack(R=np.eye(3), p=np.asarray(pendulum.inertia) * 0.999 * turn / H)
    assert np.abs(control.linearize(pendulum, y, None, H, "exp").A).max() < 10
