"""The core against reference values: the same tests run compiled, interpreted, and without Numba (test_jit.py)."""

import numpy as np
import pytest

import lielab
from lielab import so3, tableaus
from lielab.systems import ActionSystem, FreeRigidBody, SphericalPendulum
from tests import reference as ref

# Ten steps of an integrator differ between implementations only by round-off.
ROUND_OFF = 1e-12
STATE = 1e-9


@pytest.mark.parametrize("method", ref.FREE_BODY_TEN_STEPS)
def test_ten_steps_of_the_free_body(method):
    sol = lielab.solve(FreeRigidBody(), (0, 1), method=method, h=0.1)
    assert sol.nsteps == 10
    np.testing.assert_allclose(sol.y[-1], ref.FREE_BODY_TEN_STEPS[method], rtol=0, atol=ROUND_OFF)


@pytest.mark.parametrize("commutators", [1, 2])
def test_ten_steps_with_a_cut_dexpinv(commutators):
    sol = lielab.solve(FreeRigidBody(), (0, 1), method="RKMK4", h=0.1, commutators=commutators)
    expected = ref.FREE_BODY_TEN_STEPS_CUT[commutators]
    np.testing.assert_allclose(sol.y[-1], expected, rtol=0, atol=ROUND_OFF)


def test_ten_steps_with_cayley():
    sol = lielab.solve(FreeRigidBody(), (0, 1), method="RKMK4", h=0.1, retraction="cay")
    np.testing.assert_allclose(sol.y[-1], ref.FREE_BODY_TEN_STEPS_CAYLEY, rtol=0, atol=ROUND_OFF)


def test_free_body_states():
    for t, mu in ref.FREE_BODY.items():
        for system in (FreeRigidBody(), FreeRigidBody(attitude=True)):
            sol = lielab.solve(system, (0, t), method="RKMK54", rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(sol.mu[-1], mu, rtol=0, atol=STATE)
            assert sol.energy()[0] == pytest.approx(ref.FREE_BODY_ENERGY, abs=1e-15)


@pytest.mark.parametrize("method", ["RKMK54", "DOP853"])
def test_pendulum_states(method):
    for t, (q, w) in ref.PENDULUM.items():
        sol = lielab.solve(SphericalPendulum(), (0, t), method=method, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(sol.q[-1], q, rtol=0, atol=STATE)
        np.testing.assert_allclose(sol.w[-1], w, rtol=0, atol=STATE)
    assert sol.energy()[0] == pytest.approx(ref.PENDULUM_ENERGY, abs=1e-13)


def test_attitude_keeps_the_spatial_momentum_and_the_group():
    sol = lielab.solve(FreeRigidBody(attitude=True), (0, 20), method="RKMK4", h=0.05)
    momentum = sol.invariants()["spatial momentum"]
    assert np.abs(momentum - momentum[0]).max() < 1e-13
    assert sol.defect().max() < 1e-13
    # R' = R hat(Omega): a difference of the numerical attitude against the velocity in the middle
    h, k = 1e-3, 0
    fine = lielab.solve(FreeRigidBody(attitude=True), (0, 0.01), method="RKMK4", h=h)
    omega = so3.log(fine.R[k].T @ fine.R[k + 2]) / (2 * h)
    np.testing.assert_allclose(omega, fine.mu[k + 1] / np.array([1, 2, 3]), atol=1e-6)


def test_the_printed_sign_runs_time_backwards():
    """celledoni, example 1: f(mu) = +I^-1 mu as printed gives the motion of -t; -I^-1 mu is right."""
    inertia = np.array([1.0, 2.0, 3.0])
    mu = np.array([0.6, -0.3, 1.1])
    right = np.cross(mu, mu / inertia)  # Euler's equations
    generator = lielab.actions.SO3_ON_DUAL.generator
    np.testing.assert_allclose(generator(-mu / inertia, mu), right, atol=1e-15)
    np.testing.assert_allclose(generator(mu / inertia, mu), -right, atol=1e-15)


# 3-D data away from symmetry. The step counts lie in the asymptotic window, above round-off.
TOSSED = (0.6, 0.0, 0.8, 2.4, 2.0, -1.8)
ORDERS = [
    ("LieEuler", (32, 64, 128, 256, 512, 1024)),
    ("LieEulerHeun", (32, 64, 128, 256, 512, 1024)),
    ("RKMK4", (32, 64, 128, 256, 512)),
    ("RK4", (32, 64, 128, 256, 512)),
]


@pytest.mark.parametrize(("method", "steps"), ORDERS)
@pytest.mark.parametrize(
    ("system", "y0"),
    [(FreeRigidBody(attitude=True), None), (SphericalPendulum(), TOSSED)],
    ids=["body", "pendulum"],
)
def test_measured_orders(method, steps, system, y0):
    study = lielab.diagnostics.order(system, method, y0=y0, t_end=2.0, steps=steps)
    assert study.window.sum() >= 4, study.message
    assert study.order == pytest.approx(lielab.methods()[method].order, abs=0.1), study


@pytest.mark.parametrize(
    ("system", "y0", "steps"),
    [
        (FreeRigidBody(attitude=True), None, (24, 32, 48, 64, 96, 128)),
        (SphericalPendulum(), TOSSED, (144, 192, 240, 288, 384)),
    ],
    ids=["body", "pendulum"],
)
def test_measured_order_of_the_pair(system, y0, steps):
    study = lielab.diagnostics.order(system, "RKMK54", y0=y0, t_end=3.0, steps=steps)
    assert study.order == pytest.approx(5.0, abs=0.1), study


def spinning(t, y, p):
    """A field on S^2 that depends on time and carries an isotropy part (along y)."""
    return [np.sin(3 * t) + p[0] * y[0], 1.0 + y[2] + p[0] * y[1], np.cos(t) * y[0] + p[0] * y[2]]


@pytest.mark.parametrize("isotropy", [0.0, 0.5])
def test_order_with_time_dependence_and_isotropy(isotropy):
    system = ActionSystem(lielab.actions.SO3_ON_S2, spinning, (0.6, 0.0, 0.8), p=(isotropy,))
    study = lielab.diagnostics.order(system, "RKMK4", t_end=2.0, steps=(32, 64, 128, 256, 512))
    assert study.order == pytest.approx(4.0, abs=0.1), study


def test_a_slip_is_seen_by_the_order():
    """Heun without commutators keeps order 2; RK4 without commutators falls to 2."""
    study = lielab.diagnostics.order(
        FreeRigidBody(), "RKMK4", t_end=2.0, steps=(16, 32, 64, 128, 256), commutators=0
    )
    assert study.order == pytest.approx(2.0, abs=0.1)


def test_reader_tableau_and_its_errors():
    ralston = tableaus.Tableau("Ralston 3", 3, [[], [1 / 2], [0, 3 / 4]], [2 / 9, 1 / 3, 4 / 9])
    method = lielab.rkmk(ralston)
    study = lielab.diagnostics.order(
        FreeRigidBody(), method, t_end=2.0, steps=(16, 32, 64, 128, 256)
    )
    assert study.order == pytest.approx(3.0, abs=0.1), study
    with pytest.raises(ValueError, match="b must sum to 1"):
        tableaus.Tableau("bad", 2, [[], [1]], [0.5, 0.6])
    with pytest.raises(ValueError, match="strictly lower triangular"):
        tableaus.Tableau("implicit", 2, [[1], [1]], [0.5, 0.5])
    with pytest.raises(ValueError, match="must have 2 rows"):
        tableaus.Tableau("short", 2, [[]], [0.5, 0.5])
    with pytest.raises(ValueError, match="b_hat must have 2 entries"):
        tableaus.Tableau("pair", 2, [[], [1]], [0.5, 0.5], b_hat=[1])


def test_embedded_error_estimate_of_the_first_step():
    """|h sum (b - b_hat) k| in the algebra, against an independent program."""
    t = tableaus.DORMAND_PRINCE_54
    inertia, mu, h = np.array([1.0, 2.0, 3.0]), np.array([0.6, -0.3, 1.1]), 0.1
    k = []
    for i in range(7):
        u = h * sum((a * x for a, x in zip(t.a[i], k, strict=False)), np.zeros(3))
        k.append(so3.dexpinv(u) @ (-(so3.exp(u) @ mu) / inertia))
    error = np.linalg.norm(h * (t.b - t.b_hat) @ np.array(k))
    assert error == pytest.approx(ref.FREE_BODY_ERROR_ESTIMATE, rel=1e-6)
