"""The rigid-body zoo: reference values, orders, members of the Newmark family, Jacobians, invariants, refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.core.jit import jit
from lielab.core.values import Mat3, Vec3
from lielab.groups import rotations
from lielab.methods import momentum_balance, newmark, rigid_body
from lielab.methods.composition import adjoint, compose
from lielab.systems import (
    ActionFormulation,
    FreeRigidBody,
    HeavyTop,
    Pendulum3D,
    RigidBodyFormulation,
    RigidBodyInPotential,
    RigidBodyInWell,
)
from lielab.systems.rigid_body import _store_body_field, _well_torque
from tests.methods.duals import interpreted, jacobian

REFERENCE = json.loads((Path(__file__).parent / "ortolan.json").read_text())
TEN, ERRORS = REFERENCE["rigid_body"], REFERENCE["well_errors"]
END_R = [  # of the well at t = 5
    [0.7095089680941182, -0.24841919747320945, -0.6594580551640763],
    [0.26569793618184107, 0.961043060470052, -0.076163263001702],
    [0.6526880042583361, -0.12117812611656727, 0.7478731382047008],
]
END_OMEGA = [-0.6720300857598289, 0.3141532565341064, -0.3378345263075705]
ROUND = 1e-14  # the largest difference seen is 8e-16
ZOO = ["ELN", "TLN", "LIEMID", "PRK", "MCG", "NEW3", "VLV", "SimoWong", "AKW", "RATTLE"]
NAMES = {
    "ALGO_C1": ("SimoWong", {}),
    "RATTLE_SO3": ("RATTLE", {}),
    **{f"{name}_exp": (name, {"retraction": "exp"}) for name in ("ELN", "TLN", "PRK")},
}
J = np.array([1.0, 2.0, 2.5])
GENERIC = np.concatenate([so3.exp([0.3, 0.6, 0.2]).ravel(), [0.2, -0.3, 0.4]])


def run(system, method, t_end, h, y0=None, **options):
    sol = lielab.solve(system, (0, t_end), y0, method=method, h=h, **options)
    assert sol.success, sol.message
    return sol


@pytest.mark.parametrize("h", TEN)
@pytest.mark.parametrize("key", [key for key in TEN["0.125"] if key != "MCG_printed"])
def test_ten_steps(h, key):
    method, options = NAMES.get(key, (key, {}))
    sol = run(RigidBodyInWell(), method, 10 * float(h), float(h), **options)
    np.testing.assert_allclose(sol.R[-1], TEN[h][key]["R"], rtol=0, atol=ROUND)
    np.testing.assert_allclose(sol.Omega[-1], TEN[h][key]["w"], rtol=0, atol=ROUND)


@pytest.mark.parametrize("key", ERRORS)
def test_errors_at_five_seconds(key):
    """What the methods are worth, not only their order: the constants too."""
    method, options = NAMES.get(key, (key, {}))
    for h, R, w in zip(*(ERRORS[key][name] for name in "hRw"), strict=True):
        sol = run(RigidBodyInWell(), method, 5, h, **options)
        assert np.linalg.norm(sol.R[-1] - END_R) == pytest.approx(R, abs=1e-13)
        assert np.linalg.norm(sol.Omega[-1] - END_OMEGA) == pytest.approx(w, abs=1e-13)


@jit
def _shaken_torque(t, y, p):
    out = _well_torque(t, y, p)
    out[1] += np.sin(2.0 * t) * y[3]
    return out


@jit
def _shaken_field(t, y, p):
    out = np.empty(6)
    _store_body_field(y, p, _shaken_torque(t, y, p), out)
    return out


@dataclass(frozen=True)
class Shaken(RigidBodyInWell):
    """A torque that depends on time and comes without its derivative."""

    inertia: tuple[float, float, float] = (1.0, 2.0, 2.5)

    @property
    def formulations(self):
        action = super().formulations["action"].action
        return {
            "action": ActionFormulation(action, _shaken_field, self.params),
            "rigid_body": RigidBodyFormulation(self.inertia, _shaken_torque, self.params),
        }


SHAKEN_STATE = lielab.diagnostics.reference_state(Shaken(), 2.0, GENERIC)
CASES = [(name, {}, 2) for name in ZOO] + [
    ("ELN", {"retraction": "exp"}, 2),
    ("PRK", {"retraction": "exp"}, 2),
    ("LieNewmark", {"beta": 0.3}, 2),
    ("LieNewmark", {"beta": 0.3, "gamma": 0.7}, 1),
    ("LieNewmark", {"beta": 0.0, "gamma": 0.0}, 1),
]


@pytest.mark.parametrize(("method", "options", "order"), CASES)
def test_order(method, options, order):
    """On a torque that depends on time, at a state without symmetry: stages at wrong times would show."""
    state, uncertainty = SHAKEN_STATE
    study = lielab.diagnostics.order(
        Shaken(),
        method,
        t_end=2.0,
        y0=GENERIC,
        reference=state,
        uncertainty=uncertainty,
        steps=[32, 64, 128, 256, 512, 1024],
        **options,
    )
    assert study.points >= 4, study.message
    assert study.order == pytest.approx(order, abs=0.06)


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize(("method", "beta"), [("ELN", 0.0), ("TLN", 0.25)])
def test_members_of_the_newmark_family(method, beta, retraction):
    family = {"beta": beta, "gamma": 0.5, "retraction": retraction}
    for system, y0 in ((RigidBodyInWell(), None), (Shaken(), GENERIC)):
        one = run(system, method, 10, 0.25, y0, retraction=retraction)
        two = run(system, "LieNewmark", 10, 0.25, y0, **family)
        np.testing.assert_allclose(one.y, two.y, atol=1e-13)


def test_the_trapezoidal_member_solves_its_equations():
    """ortolan (4.3), written out for one step of TLN."""
    well, h = RigidBodyInWell(), 0.5
    inertia = np.array(well.inertia)
    sol = run(well, "TLN", h, h, GENERIC)
    R, w = sol.R, sol.Omega
    tau = [_well_torque(0.0, y, well.params) for y in sol.y]
    left = inertia * w[1] + h / 2 * np.cross(w[1], inertia * w[1]) - h / 2 * tau[1]
    right = inertia * w[0] - h / 2 * np.cross(w[0], inertia * w[0]) + h / 2 * tau[0]
    np.testing.assert_allclose(left, right, atol=1e-14)
    np.testing.assert_allclose(R[1], R[0] @ so3.cay(h * (w[0] + w[1]) / 2), atol=1e-14)


# --- the equations and their Jacobians -------------------------------------------------------------


def differences(function, x, h=1e-3):
    """Central differences of order 6: good to about 1e-12."""
    columns = []
    for e in np.eye(len(x)):
        f = [np.array(function(x + j * h * e)) for j in (-3, -2, -1, 1, 2, 3)]
        columns.append(np.tensordot([-1, 9, -45, 45, -9, 1], f, 1) / (60 * h))
    return np.stack(columns, axis=-1)


W, B, C = np.array([0.4, -0.7, 0.9]), np.array([0.5, -1.2, 2.0]), 0.3


@pytest.mark.parametrize(
    "kind", [rigid_body.ELN, rigid_body.MCG, rigid_body.VLV, rigid_body.RATTLE]
)
def test_jacobian(kind):
    equation, rest = interpreted(rigid_body.equation), (C, Vec3(*B), Vec3(*J))
    f, A = rigid_body.equation(kind, Vec3(*W), *rest)
    np.testing.assert_allclose(list(f), list(equation(kind, Vec3(*W), *rest)[0]), atol=1e-15)
    exact = jacobian(lambda w: equation(kind, Vec3(*w), *rest)[0], W)
    np.testing.assert_allclose(np.reshape(list(A), (3, 3)), exact, atol=1e-14)


def solved(kind):
    """The velocity that Newton finds, from J^-1 b."""
    w, left = rigid_body.newton(kind, Vec3(*(B / J)), C, Vec3(*B), Vec3(*J))
    assert left == 0.0
    return np.array(list(w))


def test_vlv_solves_the_variational_equation():
    """dcayinv(h w)^T J w = b (ortolan errata B10)."""
    w, h = solved(rigid_body.VLV), 2 * C
    np.testing.assert_allclose(so3.dcayinv(h * w).T @ (J * w), B, atol=1e-14)


def test_rattle_solves_the_matrix_equation():
    """h hat(b) = F Jd - Jd F^T with F = cay(h w), Jd = tr(J)/2 1 - J."""
    F, Jd = so3.cay(2 * C * solved(rigid_body.RATTLE)), J.sum() / 2 * np.eye(3) - np.diag(J)
    np.testing.assert_allclose(F @ Jd - Jd @ F.T, so3.hat(2 * C * B), atol=1e-14)


WELL = RigidBodyInWell(inertia=tuple(J))
EXP, CAY, TURN = map(interpreted, (rotations.exp, rotations.cay, rotations.turn))


def torque_at(R):
    """The torque at an attitude of nine numbers that carry derivatives."""
    return Vec3(*interpreted(_well_torque)(0.0, [*R, 0.0, 0.0, 0.0], WELL.params))


def at(R):
    """Torque and its derivative at an attitude, as tuples."""
    form = WELL.formulations["rigid_body"]
    y = np.concatenate([R.ravel(), np.zeros(3)])
    return form.torque(0.0, y, form.params), form.torque_derivative(0.0, y, form.params)


@pytest.mark.parametrize(
    "system",
    [WELL, HeavyTop("left"), HeavyTop("right"), Pendulum3D(), FreeRigidBody(attitude=True)],
)
def test_torque_derivative(system):
    form, R = system.formulations["rigid_body"], so3.exp([0.3, 0.6, 0.2])

    def torque(u):
        y = np.concatenate([(R @ so3.exp(u)).ravel(), np.zeros(3)])
        return form.torque(0.0, y, form.params)

    y = np.concatenate([R.ravel(), np.zeros(3)])
    D = form.torque_derivative(0.0, y, form.params).reshape(3, 3)
    np.testing.assert_allclose(D, differences(torque, np.zeros(3)), atol=1e-9)


@pytest.mark.parametrize("method", ["TLN", "SimoWong", "AKW"])
def test_the_slopes_of_a_torque_follow_the_turn_of_a_step(method):
    """The same stiff potential on 1e-2 rad and on 1e-6 rad: differences over 1e-5 rad saw nothing of the second."""

    def potential(R, p):
        return -3.0 / p[0] ** 2 * np.cos(p[0] * R[1, 0])

    calls, ends = [], []
    for k in (1e2, 1e6):
        start = (*so3.exp([0.0, 0.0, 0.8 / k]).ravel(), 0.0, 0.0, 0.1 / k)
        body = RigidBodyInPotential((1.0, 1.0, 1.0), potential, p=(k,), start=start)
        sol = lielab.solve(body, (0, 50), method=method, h=1.0)
        assert sol.success, sol.message
        calls.append(sol.nfev)
        ends.append(k * sol.Omega[-1, 2])
    assert calls[1] < 1.1 * calls[0]
    assert ends[1] == pytest.approx(ends[0], abs=3e-3)  # sin(x) = x up to (1e-2)^2, for 50 steps


def test_jacobian_of_newmark():
    """The errata B3, B4: with the signs printed for TLN the error is 0.6."""
    h, beta, gamma, w, a = 0.4, 0.3, 0.6, np.array([0.2, -0.3, 0.4]), np.array([0.1, 0.2, -0.3])
    R = so3.exp([0.3, 0.6, 0.2])

    def value(a1):
        x = h * w + h * h * ((0.5 - beta) * a + beta * a1)
        w1 = w + h * ((1 - gamma) * a + gamma * a1)
        tau, D = at(R @ so3.cay(x))
        moved = h * h * beta * D.reshape(3, 3) @ so3.dcay(-x)
        return newmark.newmark_equation(
            *(Vec3(*v) for v in (a1, w1, tau)), Mat3(*moved.ravel()), h * gamma, Vec3(*J)
        )

    equation, start = interpreted(newmark.newmark_equation), Mat3(*R.ravel())

    def residual(entries):
        a1, w0, a0 = Vec3(*entries), Vec3(*w), Vec3(*a)
        x = h * w0 + h * h * ((0.5 - beta) * a0 + beta * a1)
        w1 = w0 + h * ((1 - gamma) * a0 + gamma * a1)
        tau = torque_at(start @ CAY(x))
        return equation(a1, w1, tau, Mat3(*np.zeros(9)), h * gamma, Vec3(*J))[0]

    a1 = np.array([0.5, -0.4, 0.2])
    A = np.reshape(list(value(a1)[1]), (3, 3))
    np.testing.assert_allclose(A, jacobian(residual, a1), atol=1e-14)


@pytest.mark.parametrize("scale", [0, 1])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("cay", "cay_momentum"), [(0, 0), (1, 1), (0, 1)])
def test_jacobian_of_the_momentum_balance(cay, cay_momentum, place, scale):
    h, w, R, tau = 0.4, Vec3(0.2, -0.3, 0.4), so3.exp([0.3, 0.6, 0.2]), Vec3(0.1, 0.2, -0.1)
    rule = momentum_balance.Balance(cay, cay_momentum, place, scale)

    def value(x):
        k, _ = momentum_balance.half(cay, Vec3(*x))
        F = (so3.cay if cay else so3.exp)(x) if place else so3.exp(k * x)
        end, D = at(R @ F)
        impulse = 0.5 * (tau + Vec3(*end)) if place else Vec3(*end)
        return momentum_balance.balance_equation(Vec3(*x), w, impulse, Mat3(*D), rule, h, Vec3(*J))

    half, equation = map(interpreted, (momentum_balance.half, momentum_balance.balance_equation))

    def residual(entries):
        x = Vec3(*entries)
        F = TURN(cay, x) if place else EXP(half(cay, x)[0] * x)
        end = torque_at(Mat3(*R.ravel()) @ F)
        impulse = 0.5 * (tau + end) if place else end
        return equation(x, w, impulse, Mat3(*np.zeros(9)), rule, h, Vec3(*J))[0]

    for x in (np.array([0.3, -0.5, 0.4]), np.array([0.02, -0.05, 0.04])):
        A = np.reshape(list(value(x)[1]), (3, 3))
        np.testing.assert_allclose(A, jacobian(residual, x), atol=1e-13)


def test_half_turn_of_cayley():
    for size in (1e-8, 0.1, 0.199, 0.201, 2.0):
        x = size * np.array([0.6, 0.0, 0.8])
        k, slope = momentum_balance.half(1, Vec3(*x))
        half = so3.exp(k * x)
        np.testing.assert_allclose(half @ half, so3.cay(x), atol=1e-15)
        assert slope == pytest.approx((0.5 / (1 + size**2 / 4) - k) / size**2, abs=1e-12 / size**2)


# --- what is kept ----------------------------------------------------------------------------------

FREE = FreeRigidBody(inertia=tuple(J), attitude=True)
FREE_START = np.concatenate([so3.exp([0.3, -0.2, 0.5]).ravel(), [0.6, -0.8, 1.1]])
KEEPS = {  # on the free body: (energy, spatial momentum) to round-off
    "ELN": (False, False),
    "TLN": (False, False),
    "LIEMID": (False, True),
    "PRK": (True, True),
    "MCG": (False, True),
    "NEW3": (False, True),
    "VLV": (False, True),
    "SimoWong": (True, True),
    "AKW": (True, True),
    "RATTLE": (True, True),
}


@pytest.mark.parametrize("method", ZOO)
def test_what_the_free_body_keeps(method):
    sol = run(FREE, method, 200, 0.2, FREE_START)
    kept = sol.invariants()
    energy = np.abs(kept["energy"] - kept["energy"][0]).max()
    momentum = np.abs(kept["spatial momentum"] - kept["spatial momentum"][0]).max()
    assert (energy < 1e-12, momentum < 1e-12) == KEEPS[method]
    assert energy < 0.02
    assert sol.defect().max() < 1e-12


@pytest.mark.parametrize("method", ZOO)
def test_the_momentum_map_of_a_symmetric_potential(method):
    top = HeavyTop("right", tuple(J), 1.0, 0.3, (0.6, 0.0, 0.8), (0.0, 0.0, 9.81), (0.3, 1.0, 2.0))
    vertical = run(top, method, 40, 0.1).invariants()["vertical momentum"]
    kept = np.abs(vertical - vertical[0]).max() < 1e-11
    assert kept == (method not in ("ELN", "TLN"))


@pytest.mark.parametrize("method", ZOO)
def test_symmetric(method):
    """A step back undoes a step: the adjoint of the method is the method."""
    for y0 in (GENERIC, RigidBodyInWell().y0):
        there = run(RigidBodyInWell(), method, 5, 0.25, y0)
        back = lielab.solve(RigidBodyInWell(), (5, 0), there.y[-1], method=method, h=0.25)
        np.testing.assert_allclose(back.y[-1], y0, atol=1e-13)


def test_prk_and_akw_are_one_method_without_a_torque():
    one, two = (run(FREE, name, 20, 0.2, FREE_START).y for name in ("PRK", "AKW"))
    np.testing.assert_allclose(one, two, atol=1e-13)


def test_the_printed_mcg_does_not_converge():
    """ortolan (4.9c) as printed puts J w_{k+1/2} in place of J w_k: wrong at every h."""
    well = RigidBodyInWell()
    inertia = np.array(well.inertia)
    exact, _ = lielab.diagnostics.reference_state(well, 5.0)

    def error(h, printed):
        y = well.y0
        for _ in range(round(5 / h)):
            R, w = y[:9].reshape(3, 3), y[9:]
            tau = _well_torque(0.0, y, well.params)
            b = inertia * w + h / 2 * tau
            v, _ = rigid_body.newton(
                rigid_body.MCG, Vec3(*(b / inertia)), h / 2, Vec3(*b), Vec3(*inertia)
            )
            v = np.array(list(v))
            F = so3.exp(h * v)
            y = np.concatenate([(R @ F).ravel(), v])
            kicked = inertia * (v if printed else w) + h / 2 * tau
            m = F.T @ kicked + h / 2 * _well_torque(0.0, y, well.params)
            y[9:] = m / inertia
        return np.linalg.norm(y[:9] - exact[:9])

    assert error(0.125, True) > 0.7
    assert error(0.0625, True) > 0.7
    assert error(0.125, False) / error(0.0625, False) == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("method", ["VLV", "RATTLE", "AKW"])
def test_composed_to_order_four(method):
    """What is symmetric and of order 2 composes; the torque kept from the last step is the one at its end."""
    state, uncertainty = SHAKEN_STATE
    study = lielab.diagnostics.order(
        Shaken(),
        compose(method),
        t_end=2.0,
        y0=GENERIC,
        reference=state,
        uncertainty=uncertainty,
        steps=[24, 32, 48, 64, 96, 128],
    )
    assert study.points >= 4, study.message
    assert study.order == pytest.approx(4.0, abs=0.15)


# --- layouts, refusals, failures -------------------------------------------------------------------


def test_layouts_of_one_top_agree():
    right, left = HeavyTop.benchmark("right"), HeavyTop.benchmark("left")
    a, b = (run(top, "VLV", 1, 0.01) for top in (right, left))
    np.testing.assert_allclose(a.Q, b.Q, atol=1e-10)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", b.Q, b.Pi), a.pi, atol=1e-8)
    for system in (right, left, Pendulum3D(), FREE):
        form = system.formulations["rigid_body"]
        y = np.stack([system.y0, system.y0])
        np.testing.assert_allclose(form.decode(form.encode(y)), y, atol=1e-12)
        coarse, fine = (run(system, "RATTLE", 0.01, h).y[-1] for h in (1e-4, 5e-5))
        exact = run(system, "RKMK8", 0.01, 1e-4).y[-1]
        size = np.abs(exact).max()
        np.testing.assert_allclose((4 * fine - coarse) / 3, exact, atol=1e-7 * size)


def test_a_potential_without_derivatives():
    """TLN on a reader's potential finds the same step as with the derivative in closed form."""
    Rm = so3.exp(np.array(WELL.attraction)).ravel()

    def potential(R, p):
        m, n = 0.0, 0.0
        for i in range(3):
            for j in range(3):
                one = 1.0 if i == j else 0.0
                m += (R[i, j] - one) ** 2
                n += (R[i, j] - p[1 + 3 * i + j]) ** 2
        return (np.sqrt(m) - 1.0) ** 2 - p[0] / np.sqrt(n)

    own = RigidBodyInPotential(tuple(J), potential, p=(0.3, *Rm), start=tuple(GENERIC))
    for method in ("TLN", "AKW"):
        a = run(own, method, 5, 0.25)
        b = run(WELL, method, 5, 0.25, GENERIC)
        np.testing.assert_allclose(a.y, b.y, atol=1e-10)
    assert a.nfev > b.nfev  # the differences are counted


def test_refusals():
    well = RigidBodyInWell()
    for options, words in (
        ({"method": "ELN", "retraction": "log"}, "retraction must be 'cay' or 'exp'"),
        ({"method": "LieNewmark", "beta": 0.7}, "beta must lie between 0 and 0.5"),
        ({"method": "LieNewmark", "gamma": -1.0}, "gamma must lie between 0 and 1"),
        ({"method": "LieNewmark", "beta": "a"}, "beta must lie between 0 and 0.5, got 'a'"),
        ({"method": "VLV", "retraction": "exp"}, "VLV has no option 'retraction'"),
    ):
        with pytest.raises(ValueError, match=words):
            lielab.solve(well, (0, 1), h=0.1, **options)
    with pytest.raises(ValueError, match="whole number of equal steps"):
        lielab.solve(well, (0, 1), method="VLV", h=0.3)
    with pytest.raises(ValueError, match="needs the formulation 'rigid_body'"):
        lielab.solve(FreeRigidBody(), (0, 1), method="VLV", h=0.1)


@pytest.mark.parametrize("method", ["RATTLE", "VLV", "ELN", "TLN", "SimoWong"])
def test_a_step_too_long_is_reported(method):
    """At h = 40 no half turn of RATTLE carries the momentum; the others may or may not find a root."""
    sol = lielab.solve(RigidBodyInWell(), (0, 4000), method=method, h=40.0)
    if method == "RATTLE":
        assert not sol.success
        assert "did not converge" in sol.message
        assert "residual" in sol.message
    assert np.all(np.isfinite(sol.y))


@pytest.mark.parametrize("method", ["ELN", "VLV", "LIEMID", "SimoWong"])
def test_its_own_adjoint(method):
    """Symmetric methods, found by iterating the step backwards over states that are off the group."""
    one = run(RigidBodyInWell(), method, 1, 0.125).y[-1]
    other = run(RigidBodyInWell(), adjoint(method), 1, 0.125).y[-1]
    np.testing.assert_allclose(other, one, atol=1e-11)
