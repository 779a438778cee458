"""SLGI(theta): corrected (17), orders, the form (13), R^n, SO(3), SE(3), the quadratic form, refusals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.core import march as _march
from lielab.core.jit import jit
from lielab.groups import factors as _factors
from lielab.groups import left_factors
from lielab.groups.factors import SE3
from lielab.systems import (
    CotangentFormulation,
    FreeRigidBody,
    HeavyTop,
    Pendulum3D,
    RigidBodyInWell,
    System,
)
from tests.methods.offset_body import OffsetBody, slopes

THETAS = (0.0, 0.3, 0.5, 1.0)


def run(system, t_end, h, y0=None, method="SLGI", **options):
    sol = lielab.solve(system, (0, t_end), y0, method=method, h=h, **options)
    assert sol.success, sol.message
    return sol


@jit
def coupled(t, y, p):
    """H = |p|^2/2 + q1^2 q2 + q2^4/4 + p1 q2/5: f1 = dH/dp, f2 = -dH/dq."""
    q1, q2, p1, p2 = y[0], y[1], y[2], y[3]
    out = np.empty(4)
    out[0], out[1] = p1 + 0.2 * q2, p2
    out[2], out[3] = -2.0 * q1 * q2, -q1 * q1 - q2**3 - 0.2 * p1
    return out


@dataclass(frozen=True)
class OnThePlane(System):
    parts = (("q", (2,)), ("p", (2,)))

    @property
    def y0(self):
        return np.array([0.4, 0.7, -0.3, 0.5])

    @property
    def formulations(self):
        return {"cotangent": CotangentFormulation((2,), coupled, np.empty(0))}

    def check(self, y):
        pass


@pytest.mark.parametrize("theta", THETAS)
def test_on_the_plane_it_is_symplectic_euler_and_midpoint(theta):
    """At (q0 + theta dq, p0 + (1 - theta) dp), for theta = 0, 1/2, 1 the classical methods."""
    h = 0.1
    y = run(OnThePlane(), h, h, theta=theta).y
    d = y[1] - y[0]
    at = y[0] + np.repeat([theta, 1.0 - theta], 2) * d
    np.testing.assert_allclose(d, h * coupled(0.0, at, np.empty(0)), atol=1e-15)


def test_the_corrected_update_of_the_paper():
    """The errors at t = 0.1 that the errata state for (17) corrected; with (17) as printed they stay near 40."""
    exact = lielab.solve(HeavyTop(), (0, 0.1), method="DOP853", rtol=1e-13, atol=1e-12).y[-1]
    for n, error in ((25, 2.0e-3), (50, 5.5e-4), (100, 1.4e-4), (200, 3.5e-5)):
        found = np.linalg.norm(run(HeavyTop(), 0.1, 0.1 / n).y[-1] - exact)
        assert found == pytest.approx(error, rel=0.03)  # two digits are stated


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize(
    ("system", "t_end", "steps"),
    [
        (HeavyTop(), 0.1, [400, 800, 1600, 3200]),
        (HeavyTop("left"), 0.1, [400, 800, 1600, 3200]),
        (RigidBodyInWell(), 1.0, [64, 128, 256, 512]),
        (OffsetBody(), 0.4, [64, 128, 256, 512]),
    ],
    ids=lambda value: getattr(value, "formulation", type(value).__name__),
)
def test_order(system, t_end, steps, theta):
    reference = None
    if isinstance(system, OffsetBody):  # another method in other variables
        one, two = (run(system, t_end, t_end / n, method="LGVI").y[-1] for n in (512, 1024))
        reference = (4.0 * two - one) / 3.0
    study = lielab.diagnostics.order(
        system, "SLGI", t_end=t_end, steps=steps, reference=reference, theta=theta
    )
    assert study.order == pytest.approx(2 if theta == 0.5 else 1, abs=0.08), study.message


def step(form, y, h, theta):
    plan = lielab.methods()["SLGI"].prepare(
        form, y if form.decode is None else form.decode(y), theta=theta
    )
    run, ys = _march.new_schedule(1, _march.EACH, 0.0, h), y[None].copy()
    plan.loop(plan.kernels, plan.data, run, y.copy(), plan.params, np.zeros(1), ys, np.full(1, h))
    assert run[_march.STATUS] == _march.DONE
    return ys[0]


def right_coordinates(form, y, end):
    """(xi, d mu) that leads from (g, mu) = end to y, to second order; exactly zero at zero."""
    out, i = [], 0
    for code in form.factors:
        if code > 0:
            out.append(y[i : i + code] - end[i : i + code])
            i += code
            continue
        R, S = y[i : i + 9].reshape(3, 3), end[i : i + 9].reshape(3, 3)
        A = so3.log(R @ S.T)
        out.append(A)
        if code == SE3:
            r, s = y[i + 9 : i + 12], end[i + 9 : i + 12]
            out.append(so3.dexpinv(A) @ (r - so3.exp(A) @ s))
        i += 9 if code == 0 else 12
    return np.concatenate([*out, y[i:] - end[i:]])


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize(
    ("system", "h"),
    [(HeavyTop(), 0.002), (RigidBodyInWell(), 0.2), (OffsetBody(), 0.1), (OnThePlane(), 0.3)],
)
def test_the_step_is_symplectic_for_the_form_13(system, h, theta):
    """A' Omega(mu1) A = Omega(mu0), Omega((xi1, n1), (xi2, n2)) = <n2, xi1> - <n1, xi2> - <mu, [xi1, xi2]>."""
    form = system.formulations["cotangent"]
    factors = np.array(form.factors, dtype=np.int64)
    y = run(system, 2 * h, h).y[-1]
    y = y if form.encode is None else form.encode(y)
    n, k = form.dim, form.point
    end = step(form, y, h, theta)
    # momenta in units of their size, so that one difference step suits all
    size = 1.0 + np.abs(y[k:]).max()
    units = np.repeat([1.0, size], n)

    def flow(v):
        v, z = v * units, y.copy()
        left_factors.move_left(form.group, np.ascontiguousarray(v[:n]), y[:k].copy(), z[:k])
        z[k:] += v[n:]
        return right_coordinates(form, step(form, z, h, theta), end) / units

    A = slopes(flow, 2 * n, 2e-3)

    def form13(mu):
        bracket = np.zeros((n, n))
        _factors.coad_of(factors, mu, bracket)  # v -> ad*_v mu: <mu, [v, u]> = u . (bracket v)
        return np.block([[-bracket.T / size, np.eye(n)], [-np.eye(n), np.zeros((n, n))]])

    defect = A.T @ form13(end[k:]) @ A - form13(y[k:])
    assert np.abs(defect).max() < 1e-10 * max(1.0, np.abs(A).max() ** 2)
    canonical = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    if n != k:
        assert np.abs(A.T @ canonical @ A - canonical).max() > 1e-4


def test_the_quadratic_form_is_a_direct_product():
    """p stays, q acts on nothing: (Q, pi) are those of SLGI(1/2) on the top, and q1 = q0 + h (p - Q_theta' Gamma0)."""
    h, top = 0.005, HeavyTop()
    one, two = run(top, 0.1, h), run(HeavyTop("quadratic"), 0.1, h, method="SLGIKK")
    np.testing.assert_allclose(two.y[:, :12], one.y, atol=1e-12 * np.abs(one.y).max())
    np.testing.assert_array_equal(two.p, np.broadcast_to(two.p[0], two.p.shape))
    half = so3.exp(0.5 * so3.log(one.Q[1] @ one.Q[0].T)) @ one.Q[0]
    q1 = h * (two.p[0] - half.T @ np.array(top.Gamma0))
    np.testing.assert_allclose(two.q[1], q1, atol=1e-13)
    same = run(HeavyTop("quadratic"), 0.1, h)
    np.testing.assert_array_equal(same.y, two.y)


def test_half_is_the_midpoint_variational_integrator():
    for system, h in ((RigidBodyInWell(), 0.125), (OffsetBody(), 0.05)):
        one = run(system, 20 * h, h)
        two = run(system, 20 * h, h, method="LGVI", quadrature="midpoint", retraction="exp")
        np.testing.assert_allclose(one.y, two.y, atol=2e-12 * (1.0 + np.abs(two.y).max()))


@pytest.mark.parametrize("theta", THETAS)
def test_momenta_and_symmetry(theta):
    sol = run(FreeRigidBody(attitude=True), 50, 0.1, theta=theta)
    momentum = sol.invariants()["spatial momentum"]
    assert np.abs(momentum - momentum[0]).max() < 2e-13
    assert sol.defect().max() < 1e-12
    pendulum = run(Pendulum3D(), 5, 0.01, theta=theta)
    vertical = pendulum.invariants()["vertical momentum"]
    assert np.abs(vertical - vertical[0]).max() < 1e-11
    there = run(RigidBodyInWell(), 2, 0.2, theta=theta)
    # the adjoint of theta is 1 - theta
    back = lielab.solve(
        RigidBodyInWell(), (2, 0), there.y[-1], method="SLGI", h=0.2, theta=1.0 - theta
    )
    np.testing.assert_allclose(back.y[-1], there.y[0], atol=1e-12)


def test_energy_stays_over_long_times():
    sol = run(RigidBodyInWell(), 2000, 0.25)
    E = sol.energy()
    halves = E[: len(E) // 2].mean(), E[len(E) // 2 :].mean()
    assert abs(halves[0] - halves[1]) < 1e-3
    assert np.ptp(E) < 0.02


def test_refusals():
    for wrong in (-0.1, 1.5, "half", float("nan")):
        with pytest.raises(ValueError, match="theta must be a number between 0 and 1"):
            lielab.solve(HeavyTop(), (0, 1), method="SLGI", h=0.01, theta=wrong)
    with pytest.raises(ValueError, match="SLGIKK needs the formulation 'quadratic'"):
        lielab.solve(HeavyTop(), (0, 1), method="SLGIKK", h=0.01)
    with pytest.raises(ValueError, match="SLGI needs the formulation 'cotangent'"):
        lielab.solve(FreeRigidBody(), (0, 1), method="SLGI", h=0.01)
