"""Explicit time in the families that have no problem of the order suite: stages at the right times, or order 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import lielab
from lielab.core.jit import closure, jit
from lielab.study.order_problems import problems
from lielab.systems import CotangentFormulation, MetricFormulation, System


@jit
def swung(t, y, p):
    """A plane pendulum whose pivot is shaken: H = p^2/2 - (1 + sin(3 t)/2) cos q + q cos(2 t)."""
    out = np.empty(2)
    out[0] = y[1]
    out[1] = -(1.0 + 0.5 * np.sin(3.0 * t)) * np.sin(y[0]) - np.cos(2.0 * t)
    return out


@dataclass(frozen=True)
class Swung(System):
    parts = (("q", (1,)), ("p", (1,)))

    @property
    def y0(self):
        return np.array([0.7, 0.4])

    @property
    def formulations(self):
        return {"cotangent": CotangentFormulation((1,), swung, np.empty(0))}

    def check(self, y):
        pass


def slope(method, system, exact, counts, **options):
    errors = [
        np.abs(lielab.solve(system, (0, 1), method=method, h=1 / n, **options).y[-1] - exact).max()
        for n in counts
    ]
    return np.diff(np.log(errors)) / -np.diff(np.log(counts))


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5, 1.0])
def test_slgi_takes_its_stage_at_t_plus_theta_h(theta):
    h, system = 0.2, Swung()
    y = lielab.solve(system, (0.3, 0.3 + h), method="SLGI", h=h, theta=theta).y
    d = y[1] - y[0]
    at = y[0] + np.array([theta, 1.0 - theta]) * d
    np.testing.assert_allclose(d, h * swung(0.3 + theta * h, at, np.empty(0)), atol=1e-15)
    back = lielab.solve(system, (0.3 + h, 0.3), y[1], method="SLGI", h=h, theta=1.0 - theta)
    np.testing.assert_allclose(back.y[-1], y[0], atol=1e-14)  # its adjoint, in time too


def test_slgi_has_order_two_on_a_driven_problem():
    rhs = lambda t, y: swung(t, y, np.empty(0))  # noqa: E731
    exact = solve_ivp(rhs, (0, 1), Swung().y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(slope("SLGI", Swung(), exact, (20, 40, 80)), 2.0, atol=0.05)


@dataclass(frozen=True, eq=False)
class Blown(System):
    """A particle on the unit sphere, round metric, in a wind that turns: V = -x . (cos 2t, sin 2t, t)."""

    parts = (("x", (3,)), ("v", (3,)))

    @property
    def y0(self):
        return np.array([0.6, 0.0, 0.8, 0.4, 0.5, -0.3])

    @property
    def formulations(self):
        def metric(t, y, p):
            out = np.zeros(9)
            out[0], out[4], out[8] = 1.0, 2.0, 0.5
            return out

        def no(t, y, p):
            return np.zeros(3)

        def potential_gradient(t, y, p):
            return np.array([-np.cos(2.0 * t), -np.sin(2.0 * t), -t])

        kernels = tuple(map(closure, (metric, no, potential_gradient)))
        return {"metric": MetricFormulation("sphere", *kernels, np.empty(0))}

    def check(self, y):
        pass


def test_the_leapfrog_kicks_with_the_force_of_both_ends():
    """Against Lagrange's equations with a multiplier: G x'' = F + l x, |x| = 1."""
    G = np.array([1.0, 2.0, 0.5])

    def rhs(t, y):
        x, v = y[:3], y[3:]
        F = np.array([np.cos(2.0 * t), np.sin(2.0 * t), t])
        multiplier = -(v @ v + x @ (F / G)) / (x @ (x / G))
        return np.concatenate([v, (F + multiplier * x) / G])

    system = Blown()
    exact = solve_ivp(rhs, (0, 1), system.y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    orders = slope("RiemannianLeapfrog", system, exact, (20, 40, 80))
    np.testing.assert_allclose(orders, 2.0, atol=0.05)
    there = lielab.solve(system, (0, 1), method="RiemannianLeapfrog", h=0.1).y[-1]
    back = lielab.solve(system, (1, 0), there, method="RiemannianLeapfrog", h=0.1).y[-1]
    np.testing.assert_allclose(back, system.y0, atol=1e-12)


def test_compositions_and_adjoints_keep_the_time():
    system, _, y0 = problems()["shaken pendulum"]
    exact = lielab.solve(system, (0, 1), y0, method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    for method, order in (
        (lielab.compose("LieMidpoint"), 4),
        (lielab.symmetrised("LieEuler"), 2),
        (lielab.adjoint("LieEuler"), 1),
    ):
        counts = (32, 48, 64) if order == 4 else (128, 192, 256)
        assert slope(method, system, exact, counts)[-1] == pytest.approx(order, abs=0.1), method
    h = 0.05
    there = lielab.solve(system, (0.3, 0.3 + h), method=lielab.adjoint("LieEuler"), h=h).y[-1]
    back = lielab.solve(system, (0.3 + h, 0.3), there, method="LieEuler", h=h).y[-1]
    np.testing.assert_allclose(back, system.y0, atol=1e-13)
