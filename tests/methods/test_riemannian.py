"""The Riemannian leapfrog: the paper's numbers, its special cases, what it conserves, and the printed slips refused."""

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import lielab
from lielab import so3
from lielab.actions import SO3_ON_SO3_RIGHT, rn_on_rn
from lielab.core.jit import closure
from lielab.methods import _riemannian_sphere
from lielab.systems import (
    EllipsoidParticle,
    FreeRigidBody,
    MetricFormulation,
    ParticleOnSphere,
    RigidBodyInWell,
    SymmetricPair,
    System,
)

REFERENCE = json.loads((Path(__file__).parent / "leimkuhler.json").read_text())
solve = functools.partial(lielab.solve, method="RiemannianLeapfrog")


@dataclass(frozen=True, eq=False)
class OnMetric(System):
    """A system that is nothing but a metric formulation."""

    formulation: Any
    start: np.ndarray

    @property
    def parts(self):
        return (("state", (len(self.start),)),)

    @property
    def y0(self):
        return self.start

    @property
    def formulations(self):
        return {"metric": self.formulation}

    def check(self, y):
        pass

    def defect(self, y):
        return np.zeros(y.shape[:-1])


def jacobian(flow, y, h=1e-3):
    """Central differences of order 6 along the coordinate axes."""
    columns = []
    for e in np.eye(len(y)):
        columns.append(
            sum(
                c * (flow(y + k * h * e) - flow(y - k * h * e))
                for k, c in ((1, 0.75), (2, -0.15), (3, 1 / 60))
            )
            / h
        )
    return np.array(columns).T


# --- the paper's numbers --------------------------------------------------------------------------


def test_ten_steps_on_the_ellipsoid():
    sol = solve(EllipsoidParticle(), (0, 1), h=0.1)
    expected = REFERENCE["ellipsoid"]["ten_steps"]
    np.testing.assert_allclose(sol.y[-1], expected, rtol=0, atol=1e-13)


def test_ten_steps_of_the_lie_poisson_algorithm():
    body = FreeRigidBody((1, 2, 3))
    mu0 = np.array(REFERENCE["lie_poisson"]["Omega0"]) * body.inertia
    sol = solve(body, (0, 1), mu0, h=0.1)
    expected = REFERENCE["lie_poisson"]["ten_steps"]
    np.testing.assert_allclose(sol.y[-1] / body.inertia, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(sol.y, axis=1), np.linalg.norm(mu0), rtol=1e-14)


def test_convergence_on_the_ellipsoid_and_composed():
    system, data = EllipsoidParticle(), REFERENCE["ellipsoid"]
    exact = data["state_1"]
    for method, key in (
        ("RiemannianLeapfrog", "leapfrog"),
        (lielab.compose("RiemannianLeapfrog", "yoshida4"), "yoshida"),
    ):
        errors = [
            np.abs(lielab.solve(system, (0, 1), method=method, h=h).y[-1] - exact).max()
            for h in data["h"]
        ]
        np.testing.assert_allclose(errors, data[key], rtol=2e-3)


def test_the_curvature_functions_at_every_scale():
    for z, pair in REFERENCE["g1_g2"].items():
        np.testing.assert_allclose(_riemannian_sphere.jacobi(float(z)), pair, rtol=2e-15)


# --- the dual formula on SO(3), and the printed (45) ----------------------------------------------


def test_corrected_45_is_dexpinv():
    """I A(w) = (Iw) x w + (2/|w|^2)(1 - th cot th)(|w|^2 Iw - w (w . Iw)) is 2 (1 - dexpinv_w^T) I w."""
    data = REFERENCE["A"]
    J, w = np.diag(data["I"]), np.array(data["w"])
    A = np.linalg.solve(J, 2 * (np.eye(3) - so3.dexpinv(w).T) @ J @ w)
    np.testing.assert_allclose(A, data["A"], atol=1e-15)
    th, Iw = np.linalg.norm(w) / 2, J @ w
    even = (2 / (w @ w)) * (1 - th / np.tan(th)) * ((w @ w) * Iw - w * (w @ Iw))
    np.testing.assert_allclose(J @ A, np.cross(Iw, w) + even, atol=1e-15)


def test_attitude_keeps_the_spatial_momentum_and_the_reduced_run_agrees():
    body, mu0 = FreeRigidBody((1, 2, 3), attitude=True), np.array([0.6, 2.0, -1.2])
    start = np.concatenate([so3.exp([0.3, -0.2, 0.5]).ravel(), mu0])
    sol = solve(body, (0, 20), start, h=0.1)
    reduced = solve(FreeRigidBody((1, 2, 3)), (0, 20), mu0, h=0.1)
    np.testing.assert_allclose(sol.mu, reduced.y, atol=1e-13)
    spatial = sol.invariants()["spatial momentum"]
    np.testing.assert_allclose(spatial, spatial[[0] * len(spatial)], atol=2e-14)
    assert sol.defect().max() < 1e-13


def test_the_free_body_converges_to_the_references():
    """R and Omega at 1, 5 and 10 s: fourth-order composition within its error, RKMK8 to round-off."""
    body, J = FreeRigidBody((1, 2, 3), attitude=True), np.array([1.0, 2.0, 3.0])
    start = np.concatenate([np.eye(3).ravel(), J * REFERENCE["lie_poisson"]["Omega0"]])
    for t, state in REFERENCE["free_body"].items():
        expected = np.concatenate([state[:9], J * state[9:]])
        exact = lielab.solve(body, (0, float(t)), start, method="RKMK8", h=0.02).y[-1]
        np.testing.assert_allclose(exact, expected, rtol=0, atol=3e-14)
        composed = lielab.compose("RiemannianLeapfrog", "yoshida4")
        errors = [
            np.abs(lielab.solve(body, (0, float(t)), start, method=composed, h=h).y[-1] - expected)
            for h in (0.05, 0.025)
        ]
        assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(4, abs=0.1)


def test_the_lie_poisson_map_has_determinant_one():
    body = FreeRigidBody((1, 2, 3))
    J = jacobian(lambda mu: solve(body, (0, 0.4), mu, h=0.4).y[-1], np.array([0.6, 2.0, -1.2]))
    assert np.linalg.det(J) == pytest.approx(1.0, abs=1e-10)


# --- symplectic, reversible, conserving -----------------------------------------------------------


def sphere_chart(system, y0):
    """Canonical coordinates (u, p) around y0: x = (x0 + E u)/|...|, p = pull-back of G v; and the step in them."""
    x0 = y0[:3]
    E = np.linalg.svd(x0[None])[2][1:].T

    def up(c):
        z = x0 + E @ c[:2]
        x = z / np.linalg.norm(z)
        D = (np.eye(3) - np.outer(x, x)) @ E / np.linalg.norm(z)
        G = np.asarray(metric(system, x))
        return np.concatenate([x, D @ np.linalg.solve(D.T @ G @ D, c[2:])])

    def down(y):
        x, v = y[:3], y[3:]
        z = x / (x @ x0)
        D = (np.eye(3) - np.outer(x, x)) @ E / np.linalg.norm(z)
        return np.concatenate([E.T @ z, D.T @ metric(system, x) @ v])

    return up, down


def metric(system, x):
    form = system.formulations["metric"]
    return form.metric(0.0, np.concatenate([x, np.zeros(3)]), form.params).reshape(3, 3)


def varying():
    def G(x, p):
        return np.array(
            [
                [2.0 + 0.3 * x[0] * x[1], 0.2 * x[2], 0.1],
                [0.2 * x[2], 1.5 + 0.2 * x[2] ** 2, 0.1 * x[0]],
                [0.1, 0.1 * x[0], 1.0 + 0.3 * x[1] ** 2],
            ]
        )

    def V(x, p):
        return 0.7 * x[0] * x[1] + 0.4 * x[2]

    return ParticleOnSphere(G, V)


@pytest.mark.parametrize("system", [EllipsoidParticle(), varying()], ids=["ellipsoid", "varying G"])
def test_the_step_on_the_sphere_is_symplectic_and_reversible(system):
    y0, h = system.y0, 0.2
    y1 = solve(system, (0, h), h=h).y[-1]
    up, _ = sphere_chart(system, y0)
    _, down = sphere_chart(system, y1)

    def flow(c):
        return down(solve(system, (0, h), up(c), h=h).y[-1])

    D = jacobian(flow, sphere_chart(system, y0)[1](y0), 5e-3)
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(D.T @ J @ D, J, atol=1e-9)
    back = solve(system, (0, h), y1 * [1, 1, 1, -1, -1, -1], h=h).y[-1]
    np.testing.assert_allclose(back * [1, 1, 1, -1, -1, -1], y0, atol=1e-12)


def test_order_two_with_a_varying_metric():
    system = varying()
    exact = lielab.solve(system, (0, 1), method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    errors = [np.abs(solve(system, (0, 1), h=1 / n).y[-1] - exact).max() for n in (20, 40, 80)]
    np.testing.assert_allclose(np.diff(np.log2(errors)), -2.0, atol=0.05)


def test_a_held_curvature_costs_symplecticity():
    """leimkuhler expects below (39) that R_w need not be renewed: then the step is neither exact nor reversible."""
    system, h = EllipsoidParticle(), 0.2
    defects = []
    for refresh in (0, 1, 3):
        y1 = solve(system, (0, h), h=h, refresh=refresh).y[-1]
        back = solve(system, (0, h), y1 * [1, 1, 1, -1, -1, -1], h=h, refresh=refresh).y[-1]
        defects.append(np.abs(back * [1, 1, 1, -1, -1, -1] - system.y0).max())
    assert defects[0] < 1e-12
    assert defects[1] > 1e-6 > defects[2] > 1e-11


def test_vertical_momentum_of_a_symmetric_ellipsoid():
    system = EllipsoidParticle(axes=(1.2, 1.2, 0.6))
    sol = solve(system, (0, 2000), h=0.1)
    momentum = sol.invariants()["vertical momentum"]
    assert np.abs(momentum - momentum[0]).max() < 2e-12
    assert sol.defect().max() < 1e-15 * 10


def test_order_two_in_the_well():
    body = RigidBodyInWell()
    exact = lielab.solve(body, (0, 2), method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    errors = [np.abs(solve(body, (0, 2), h=2 / n).y[-1] - exact).max() for n in (40, 80, 160)]
    np.testing.assert_allclose(np.diff(np.log2(errors)), -2.0, atol=0.05)


def test_an_inertia_that_depends_on_the_attitude():
    """G(R) = J + c Gamma Gamma', Gamma = R'e3, V = g Gamma_3, against the Euler-Poincare equations by DOP853."""
    J, c, g = np.array([1.0, 2.0, 3.0]), 0.7, 0.4

    def metric(t, y, p):
        out = np.zeros(9)
        for i in range(3):
            out[4 * i] = p[i]
            for j in range(3):
                out[3 * i + j] += p[3] * y[6 + i] * y[6 + j]
        return out

    def metric_gradient(t, y, p):  # Gamma' = Gamma x e_i along R exp(s e_i)
        f = 2.0 * p[3] * (y[6] * y[9] + y[7] * y[10] + y[8] * y[11])
        return f * np.cross(y[9:12], y[6:9])

    def potential_gradient(t, y, p):
        return np.array([p[4] * y[7], -p[4] * y[6], 0.0])

    def rhs(t, z):
        R, m = z[:9].reshape(3, 3), z[9:]
        Gamma = R[2]
        v = np.linalg.solve(np.diag(J) + c * np.outer(Gamma, Gamma), m)
        force = c * (Gamma @ v) * np.cross(v, Gamma) - g * np.array([Gamma[1], -Gamma[0], 0.0])
        return np.concatenate([(R @ so3.hat(v)).ravel(), np.cross(m, v) + force])

    kernels = tuple(map(closure, (metric, metric_gradient, potential_gradient)))
    p = np.array([*J, c, g])
    start = np.concatenate([so3.exp([0.4, -0.7, 0.2]).ravel(), [0.6, 0.5, -0.8]])
    form = MetricFormulation(SO3_ON_SO3_RIGHT, *kernels, p, momentum=True)
    system = OnMetric(form, start)
    exact = solve_ivp(rhs, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = [np.abs(solve(system, (0, 1), h=1 / n).y[-1] - exact).max() for n in (20, 40, 80)]
    np.testing.assert_allclose(np.diff(np.log2(errors)), -2.0, atol=0.05)
    end = solve(system, (0, 10), h=0.1).y[-1]
    # rotations about the vertical are a symmetry of G and V: e3 . R G v is conserved
    assert end[6:9] @ end[9:] == pytest.approx(start[6:9] @ start[9:], abs=1e-13)
    sign = np.array([1.0] * 9 + [-1.0] * 3)
    np.testing.assert_allclose(
        solve(system, (0, 10), end * sign, h=0.1).y[-1] * sign, start, atol=1e-11
    )


# --- special cases --------------------------------------------------------------------------------


def test_proportional_metrics_give_strang_splitting():
    """Half a kick, a great circle, half a kick."""

    def V(x, p):
        return 0.7 * x[0] * x[1] + 0.4 * x[2]

    def kick(x, v, h):
        slope = np.array([0.7 * x[1], 0.7 * x[0], 0.4]) / 1.7
        return v - 0.5 * h * (slope - x * (x @ slope))

    system = ParticleOnSphere(lambda x, p: 1.7 * np.eye(3), V)
    x, v, h = system.y0[:3], system.y0[3:], 0.3
    for _ in range(5):
        v = kick(x, v, h)
        R = so3.exp(h * np.cross(x, v))
        x, v = R @ x, R @ v
        v = kick(x, v, h)
    sol = solve(system, (0, 1.5), h=h)
    np.testing.assert_allclose(sol.y[-1], np.concatenate([x, v]), atol=1e-12)


def flat(n, inverse_mass, slope, start):
    """R^n with a constant metric: the translations are right translations of the group R^n."""
    mass = np.linalg.inv(inverse_mass).ravel()

    @closure
    def G(t, y, p):
        return p.copy()

    @closure
    def no(t, y, p):
        return np.zeros(n)

    back = rn_on_rn(n)
    act = back.exp_act.into

    @closure
    def by_inverse(u, y, out):
        act(-u, y, out)

    action = replace(back, exp_act=by_inverse)
    return OnMetric(MetricFormulation(action, G, no, closure(slope), mass, momentum=True), start)


def test_flat_leapfrog_and_the_staggered_one():
    """Section 3: (6)-(7), and (8)-(9) with p_{n + 1/2} = p_n - h/2 grad V(q_n)."""
    W = np.array([[1.0, 0.2], [0.2, 0.5]])

    def slope(t, y, p):
        return np.array([np.sin(y[0]) + 0.5 * y[1], y[1] ** 3 + 0.5 * y[0]])

    start, h = np.array([0.5, -0.3, 0.2, 0.4]), 0.1
    sol = solve(flat(2, W, slope, start), (0, 1), h=h)
    grad = functools.partial(slope, 0.0, p=None)
    q, p = start[:2], start[2:]
    half = p - 0.5 * h * grad(q)
    for n in range(10):
        np.testing.assert_allclose(half, sol.y[n, 2:] - 0.5 * h * grad(sol.y[n, :2]), atol=1e-14)
        q_new = q + h * W @ p - 0.5 * h * h * W @ grad(q)
        p = p - 0.5 * h * (grad(q) + grad(q_new))
        q = q_new
        half = half - h * grad(q)
    np.testing.assert_allclose(sol.y[-1], np.concatenate([q, p]), atol=1e-14)


def rotated(q, w):
    """q exp(X) for q in SO(n), flat, with X e_n = w and X' = -X: the last column moves along w."""
    n = len(w) + 1
    z = 0.0
    for i in range(n - 1):
        z += w[i] * w[i]
    z = np.sqrt(z)
    s, half = (1.0, 0.5) if z == 0.0 else (np.sin(z) / z, (1.0 - np.cos(z)) / (z * z))
    out = q.copy()
    for row in range(n):
        along = 0.0
        for i in range(n - 1):
            along += q[n * row + i] * w[i]
        last = q[n * row + n - 1]
        for i in range(n - 1):
            out[n * row + i] -= w[i] * (half * along + s * last)
        out[n * row + n - 1] = np.cos(z) * last + s * along
    return out


rotated = closure(rotated)


def pair_kernels():
    """S^(n-1) as SO(n)/SO(n-1): q in SO(n), x its last column; p: diagonal of the ambient metric, slope of V."""

    def move(w, q):
        return rotated(q, w)

    def double(w, v):
        ww = wv = 0.0
        for i in range(len(w)):
            ww, wv = ww + w[i] * w[i], wv + w[i] * v[i]
        return wv * w - ww * v

    def metric(t, y, p):
        n = len(p) // 2
        out = np.zeros((n - 1) ** 2)
        for i in range(n - 1):
            for j in range(n - 1):
                for a in range(n):
                    out[(n - 1) * i + j] += y[n * a + i] * p[a] * y[n * a + j]
        return out

    def metric_gradient(t, y, p):
        """The vector q (w, 0) turns by -w_i x along e_i."""
        n = len(p) // 2
        out, vGx = np.zeros(n - 1), 0.0
        for a in range(n):
            for j in range(n - 1):
                vGx += y[n * a + j] * y[n * n + j] * p[a] * y[n * a + n - 1]
        for i in range(n - 1):
            out[i] = -2.0 * vGx * y[n * n + i]
        return out

    def potential_gradient(t, y, p):
        n = len(p) // 2
        out = np.zeros(n - 1)
        for i in range(n - 1):
            for a in range(n):
                out[i] += y[n * a + i] * p[n + a]
        return out

    return tuple(map(closure, (move, double, metric, metric_gradient, potential_gradient)))


def sphere_kernels():
    def metric(t, y, p):
        n = len(p) // 2
        out = np.zeros(n * n)
        for a in range(n):
            out[n * a + a] = p[a]
        return out

    def metric_gradient(t, y, p):
        return np.zeros(len(p) // 2)

    def potential_gradient(t, y, p):
        return p[len(p) // 2 :].copy()

    return tuple(map(closure, (metric, metric_gradient, potential_gradient)))


@pytest.mark.parametrize(
    ("diagonal", "slope"),
    [
        ((1.0, 1.69, 0.49), (0.0, 0.0, 0.7)),
        ((1.0, 1.5, 0.6, 0.8), (0.2, 0.0, 0.7, -0.3)),
    ],
    ids=["S2 = SO(3)/SO(2)", "S3 = SO(4)/SO(3)"],
)
def test_symmetric_pairs_agree_with_the_ambient_sphere(diagonal, slope):
    n, p = len(diagonal), np.array([*diagonal, *slope])
    rng = np.random.default_rng(3)
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    q[:, 0] *= np.linalg.det(q)
    w = 0.5 * rng.normal(size=n - 1)
    move, double, *kernels = pair_kernels()
    space = SymmetricPair(f"SO({n})/SO({n - 1})", n - 1, move, double)
    pair = OnMetric(MetricFormulation(space, *kernels, p), np.concatenate([q.ravel(), w]))
    sphere = MetricFormulation("sphere", *sphere_kernels(), p)
    ambient = OnMetric(sphere, np.concatenate([q[:, -1], q[:, :-1] @ w]))
    y, expected = solve(pair, (0, 1), h=0.1).y[-1], solve(ambient, (0, 1), h=0.1).y[-1]
    q, w = y[: n * n].reshape(n, n), y[n * n :]
    np.testing.assert_allclose(np.concatenate([q[:, -1], q[:, :-1] @ w]), expected, atol=1e-14)
    np.testing.assert_allclose(expected[:n] @ expected[:n], 1.0, rtol=1e-15)


def test_the_hyperbolic_plane_as_a_symmetric_pair():
    """SL(2)/SO(2), the curvature negative: [w, [w, v]] = 4 (|w|^2 v - (w . v) w) in the basis of symmetric matrices.

    With the invariant metric geodesics are exact; a constant other metric and a potential keep order 2 against DOP853.
    """

    def move(w, q):  # q exp([[w0, w1], [w1, -w0]])
        z = np.sqrt(w[0] * w[0] + w[1] * w[1])
        c, s = np.cosh(z), 1.0 if z == 0.0 else np.sinh(z) / z
        a, b, d = c + s * w[0], s * w[1], c - s * w[0]
        return np.array(
            [
                q[0] * a + q[1] * b,
                q[0] * b + q[1] * d,
                q[2] * a + q[3] * b,
                q[2] * b + q[3] * d,
            ]
        )

    def double(w, v):
        ww, wv = w[0] * w[0] + w[1] * w[1], w[0] * v[0] + w[1] * v[1]
        return np.array([4.0 * (ww * v[0] - wv * w[0]), 4.0 * (ww * v[1] - wv * w[1])])

    def metric(t, y, p):
        """p0 1 + p1 a a' with a = the traceless part of q'q, which turns with SO(2) as w does."""
        a = y[0] * y[0] + y[2] * y[2] - y[1] * y[1] - y[3] * y[3]
        b = 2.0 * (y[0] * y[1] + y[2] * y[3])
        return np.array([p[0] + p[1] * a * a, p[1] * a * b, p[1] * a * b, p[0] + p[1] * b * b])

    def trace(y):
        return y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]

    trace = closure(trace)

    def metric_gradient(t, y, p):
        a = y[0] * y[0] + y[2] * y[2] - y[1] * y[1] - y[3] * y[3]
        b = 2.0 * (y[0] * y[1] + y[2] * y[3])
        # along e_0: a' = 2 tr, b' = 0; along e_1: a' = 0, b' = 2 tr
        f = 2.0 * p[1] * (a * y[4] + b * y[5]) * 2.0 * trace(y)
        return np.array([f * y[4], f * y[5]])

    def potential_gradient(t, y, p):
        a = y[0] * y[0] + y[2] * y[2] - y[1] * y[1] - y[3] * y[3]
        b = 2.0 * (y[0] * y[1] + y[2] * y[3])
        return np.array([2.0 * p[2] * a, 2.0 * p[2] * b])  # V = p2 tr q'q

    space = SymmetricPair("SL(2)/SO(2)", 2, *map(closure, (move, double)))
    kernels = tuple(map(closure, (metric, metric_gradient, potential_gradient)))
    start = np.array([1.1, 0.2, 0.1, (1.0 + 0.02) / 1.1, 0.3, -0.5])

    free = OnMetric(MetricFormulation(space, *kernels, np.array([1.3, 0.0, 0.0])), start)
    y = solve(free, (0, 1), h=0.25).y[-1]
    w = np.array([[start[4], start[5]], [start[5], -start[4]]])
    np.testing.assert_allclose(y[:4].reshape(2, 2), start[:4].reshape(2, 2) @ expm(w), atol=1e-14)
    np.testing.assert_allclose(y[4:], start[4:], atol=1e-14)

    p = np.array([1.3, 0.2, 0.25])
    system = OnMetric(MetricFormulation(space, *kernels, p), start)
    runs = [solve(system, (0, 1), h=1 / n).y[-1] for n in (20, 40, 80, 160)]
    # x = q q' is a point of the plane; q itself turns by an element of SO(2)
    points = np.array([q.reshape(2, 2) @ q.reshape(2, 2).T for q in np.array(runs)[:, :4]])
    gaps = np.abs(np.diff(points, axis=0)).max(axis=(1, 2))
    np.testing.assert_allclose(np.diff(np.log2(gaps)), -2.0, atol=0.05)

    def energy(y):
        value = 0.5 * y[4:] @ np.reshape(kernels[0](0.0, y, p), (2, 2)) @ y[4:]
        return value + p[2] * (y[:4] @ y[:4])

    errors = [abs(energy(y) - energy(start)) for y in runs]
    np.testing.assert_allclose(np.diff(np.log2(errors)), -2.0, atol=0.1)
