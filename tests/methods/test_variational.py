"""Variational integrators: reference values, exact Jacobians, order, structure, forces, constraints, refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.core import march as _march
from lielab.core.jit import FIELD, compiled, jit
from lielab.core.values import store, vec3
from lielab.groups import factors as _factors
from lielab.groups import rotations, se3
from lielab.groups.factors import SE3, SO3
from lielab.methods import variational_equations as variational
from lielab.methods import variational_step
from lielab.systems import (
    ConnectedBodies,
    FreeRigidBody,
    HeavyTop,
    LagrangianFormulation,
    Pendulum3D,
    QuadrotorWithLoad,
    RigidBodyInPotential,
    RigidBodyInWell,
)
from lielab.testing import check_lagrangian
from tests.methods.offset_body import OffsetBody, on_a_cable, slopes, two_form

TEN = json.loads((Path(__file__).parent / "variational.json").read_text())
RULES = ("trapezoidal", "midpoint", "left", "right")
BENT = ConnectedBodies(  # joints off the axes
    joints=((8.8, 0.3, 0.2), (-8.8, 0.1, 0.4), (-5.5, 0.3, -0.2), (5.5, 0.1, 0.7)),
    torques=((1.0, 2.0, 3.0), (0.3, 0.4, 1.0)),
    frequency=0.3,
)


def run(system, t_end, h, y0=None, method="LGVI", **options):
    sol = lielab.solve(system, (0, t_end), y0, method=method, h=h, **options)
    assert sol.success, sol.message
    return sol


SYSTEMS = [
    FreeRigidBody(attitude=True),
    HeavyTop(),
    HeavyTop("left"),
    Pendulum3D(),
    Pendulum3D(control="constant", inputs=(1.0, -2.0, 0.5)),
    RigidBodyInWell(),
    QuadrotorWithLoad(rotors=(3.0, 4.0, 5.0, 6.0)),
    BENT,
    OffsetBody(push=True, tied=True),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: type(s).__name__)
def test_derivatives(system):
    check_lagrangian(system)


def test_calls_of_a_step():
    """Three calls a step, after the first ones: a first guess that is off costs a fourth."""
    for system in (Pendulum3D(), RigidBodyInWell()):
        sol = run(system, 2.0, 0.01)
        assert sol.nfev <= 3.05 * sol.nsteps


def test_check_lagrangian_finds_a_wrong_sign():
    good = Pendulum3D().formulations["lagrangian"]

    def wrong(t, z, p):
        out = good.kernel(t, z, p)
        out[7] = -out[7]  # d2L/dg dg
        return out

    bad = LagrangianFormulation((SO3,), wrong, good.params)
    with pytest.raises(AssertionError, match="d2L/dg dg"):
        check_lagrangian(bad)
    assert check_lagrangian(bad, require=False).failures == ["d2L/dg dg"]
    with pytest.raises(ValueError, match="offers no 'lagrangian'"):
        check_lagrangian(lielab.systems.SphericalPendulum())
    with pytest.raises(ValueError, match="system must be a System or a LagrangianFormulation"):
        check_lagrangian(3)


# --- the kernels of the factors


def test_factors_agree_with_the_groups():
    rng = np.random.default_rng(3)
    factors, n = np.array([SO3, SE3, 2]), 11
    blocks = ((so3, slice(0, 3)), (se3, slice(3, 9)))
    for cay in (False, True):
        name = "cay" if cay else "exp"
        # up to angle 5: beyond the switches of the series
        for size in (1e-6, 0.3, 1.0, 2.9):
            x, m = size * rng.standard_normal(n), rng.standard_normal(n)
            limit = 1e-13 * (1.0 + np.abs(x).max() ** 4)
            out, A, Ai, K, S = (np.zeros(s) for s in ((n,), (n, n), (n, n), (n, n), (n, n)))
            _factors.pull(factors, cay, x, m, out)
            _factors.tangent_inverse(factors, cay, x, A)
            _factors.Ad_inverse(factors, cay, x, Ai)
            _factors.coad_of(factors, m, K)
            _factors.pull_slope(factors, cay, x, m, S)
            np.testing.assert_allclose(out, A.T @ m, atol=limit)
            for group, s in blocks:
                g = getattr(group, name)(x[s])
                np.testing.assert_allclose(A[s, s], getattr(group, f"d{name}inv")(x[s]), atol=limit)
                np.testing.assert_allclose(Ai[s, s], group.Ad(group.inverse(g)), atol=limit)
                np.testing.assert_allclose(K[s, s] @ x[s], group.coad(x[s]) @ m[s], atol=limit)
            for transform, matrix in (
                (_factors.coAd, np.linalg.inv(Ai).T),
                (_factors.coAd_inverse, Ai.T),
            ):
                transform(factors, cay, x, m, out)
                np.testing.assert_allclose(out, matrix @ m, atol=limit)

            def pulled(v, cay=cay, x=x, m=m):
                value = np.zeros(n)
                _factors.pull(factors, cay, x + v, m, value)
                return value

            np.testing.assert_allclose(S, slopes(pulled, n), atol=1e-9 * (1.0 + np.abs(S).max()))


# --- Newton's Jacobian is the derivative of the residual


@pytest.mark.parametrize(
    ("kind", "weights", "cay"),
    [
        *[(variational.WEIGHTS, (a, 1.0 - a), cay) for a in (0.5, 1.0, 0.2) for cay in (0, 1)],
        (variational.MIDPOINT, (0.5, 0.5), 0),
        (variational.MIDPOINT, (0.5, 0.5), 1),
        (variational.DIRECT, (1.0, 0.0), 0),
        (variational.ADJOINT, (1.0, 0.0), 0),
    ],
)
def test_jacobian(kind, weights, cay):
    given = kind in (variational.DIRECT, variational.ADJOINT)
    f = (BENT if given else OffsetBody(push=True)).formulations["lagrangian"]
    rng = np.random.default_rng(5)
    n, k, h, t = f.dim, f.point, 0.2, 0.3
    factors = np.array(f.factors, dtype=np.int64)
    y0 = BENT.y0 if given else OffsetBody().y0
    g0, g1, P, u = np.zeros(k), np.zeros(k), y0[k:].copy(), rng.standard_normal(f.inputs)
    _factors.move(factors, False, y0[:k].copy(), rng.standard_normal(n), g0)
    x0, p1 = 0.4 * rng.standard_normal(n), np.zeros(n)
    work = variational_step.parts(*variational_step.new_work(n, 0, k, f.inputs), n, k)
    kernels = compiled(f.kernel, FIELD), compiled(f.force, FIELD), f.force
    problem = variational.Problem(*kernels, kind, True, bool(cay), *weights, factors, f.params)
    equation = (problem, variational.Step(t, h, u, g0), P)

    def residual(w):
        # tau(x) -> exp(w) tau(x), back in coordinates
        x, i = x0.copy(), 0
        for code in factors:
            size = {SO3: 3, SE3: 6}.get(int(code), int(code))
            group = {SO3: so3, SE3: se3}.get(int(code))
            s = slice(i, i + size)
            if group is None:
                x[s] += w[s]
            else:
                to, back = (group.cay, group.cayinv) if cay else (group.exp, group.log)
                x[s] = back(group.compose(group.exp(w[s]), to(x[s])))
            i += size
        variational.equations(*equation, x, False, work, g1, p1)
        return work[3].copy()

    expected = slopes(residual, n)
    variational.equations(*equation, x0, True, work, g1, p1)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(work[4], expected, atol=1e-10 * scale)


# --- reference values


@pytest.mark.parametrize("key", ["pendulum", "pendulum_u"])
def test_ten_steps_of_the_pendulum(key):
    pushed = {"control": "constant", "inputs": (1.0, -2.0, 0.5)} if key.endswith("u") else {}
    sol = run(Pendulum3D(**pushed), 0.1, 0.01)
    np.testing.assert_allclose(sol.R[-1], TEN[key]["R"], atol=1e-13)
    np.testing.assert_allclose(sol.p[-1], TEN[key]["p"], atol=1e-13)


def test_ten_steps_of_the_swimmers():
    sol = run(ConnectedBodies(), 0.1, 0.01, method="LGVI1")
    np.testing.assert_allclose(sol.y[-1], TEN["swimmers"], atol=1e-12)


def held_torque(t, y, p):
    return p[9:12]


def test_a_control_function_agrees_with_its_constant():
    one = run(Pendulum3D(control="constant", inputs=(1.0, -2.0, 0.5)), 0.1, 0.01)
    two = run(Pendulum3D(control=held_torque, inputs=(1.0, -2.0, 0.5)), 0.1, 0.01)
    np.testing.assert_array_equal(one.y, two.y)
    rkmk = [
        lielab.solve(
            Pendulum3D(control=c, inputs=(1.0, -2.0, 0.5)), (0, 0.1), method="RKMK4", h=0.01
        )
        for c in ("constant", held_torque)
    ]
    np.testing.assert_allclose(rkmk[0].y, rkmk[1].y, atol=1e-14)
    assert np.abs(rkmk[0].y[-1] - one.y[-1]).max() < 1e-3


# --- named special cases


def test_vlv_is_the_trapezoidal_member():
    for system in (RigidBodyInWell(), Pendulum3D(), HeavyTop.benchmark("right")):
        h = 0.001 if isinstance(system, HeavyTop) else 0.125
        one, two = run(system, 80 * h, h), run(system, 80 * h, h, method="VLV")
        scale = np.abs(two.y).max()
        np.testing.assert_allclose(one.y, two.y, atol=2e-13 * scale)


@jit
def moser_veselov(h, z, p):
    """Ld = tr((1 - F) Jd)/h on SO(3), Jd = tr(J)/2 - J: the discrete Lagrangian of Moser and Veselov."""
    out = np.zeros(25)
    J = (p[0], p[1], p[2])
    half = 0.5 * (J[0] + J[1] + J[2])
    F = np.empty(9)
    store(rotations.exp(vec3(z, 9)), F, 0)
    N = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            N[i, j] = (half - J[i]) * F[3 * i + j]
    trace = N[0, 0] + N[1, 1] + N[2, 2]
    out[0] = (half - trace) / h
    for i in range(3):
        a, b = (i + 2) % 3, (i + 1) % 3
        out[4 + i] = (N[a, b] - N[b, a]) / h
        for j in range(3):
            out[16 + 3 * i + j] = ((trace if i == j else 0.0) - N[j, i]) / h
    return out


@dataclass(frozen=True)
class MoserVeselov(FreeRigidBody):
    attitude: bool = True

    @property
    def formulations(self):
        form = lielab.systems.DiscreteLagrangianFormulation((SO3,), moser_veselov, self.params)
        return {"lagrangian": form}

    def check(self, y):
        pass


def test_rattle_is_the_discrete_lagrangian_of_moser_and_veselov():
    system = MoserVeselov()
    check_lagrangian(system)
    one = run(system, 10, 0.125, method="LGVI1")
    two = run(FreeRigidBody(attitude=True), 10, 0.125, method="RATTLE")
    np.testing.assert_allclose(one.y, two.y, atol=1e-13)
    # the free discrete Lagrangian is its own adjoint: LGVI is two half steps of it
    both = run(system, 10, 0.125)
    np.testing.assert_allclose(both.y, run(system, 10, 0.0625, method="LGVI1").y[::2], atol=1e-13)


def test_the_first_step_of_the_swimmers():
    """The unknowns of (48) to (50) themselves: F_i = exp f_i, and the step of x."""
    bodies = ConnectedBodies()
    first = TEN["swimmers_first_step"]
    sol = lielab.solve(bodies, (0, 0.01), method="LGVI1", h=0.01)
    for name, R in (("f0", sol.R0), ("f1", sol.R1), ("f2", sol.R2)):
        np.testing.assert_allclose(so3.log(R[0].T @ R[1]), first[name], rtol=0, atol=1e-15)
    np.testing.assert_allclose(sol.x[1] - sol.x[0], first["dx"], rtol=0, atol=1e-15)


def test_the_swimmers_two_step_form():
    """lee (42)-(47) as they stand in the errata, along the flow of (48)-(56), to round-off."""
    system, h = BENT_FREE, 0.02
    sol = run(system, 0.2, h, method="LGVI1")
    M, J = system.M_and_J
    d = np.array(system.joints)
    R = np.stack([sol.R0, sol.R1, sol.R2], axis=1)
    for k in range(8):
        first, second = _increments(R, sol.x, k), _increments(R, sol.x, k + 1)
        left, right = _terms(first, M, J, d), _terms(second, M, J, d)
        for i in range(3):
            residual = left["end"][i] - right["start"][i]
            assert np.abs(residual).max() < 2e-13 * np.abs(left["end"][i]).max() + 1e-15
        np.testing.assert_allclose(left["x"], right["x"], atol=1e-13)
        np.testing.assert_allclose(left["end"][0] / h, sol.p0[k + 1], atol=1e-10)


BENT_FREE = ConnectedBodies(joints=BENT.joints)


def _increments(R, x, k):
    F = np.einsum("iab,iac->ibc", R[k], R[k + 1])
    return R[k], F, x[k + 1] - x[k]


def _vee(X):
    return np.array([X[2, 1], X[0, 2], X[1, 0]])


def _terms(step, M, J, d):
    """The two halves of (42), (43) and the momentum (44)."""
    R, F, dx = step
    E = F - np.eye(3)
    hat = so3.hat
    start, end = [], []
    total = R[0] @ (M[0] * (R[0].T @ dx))
    J0 = np.diag(0.5 * J[0].sum() - J[0])
    first = _vee(F[0] @ J0 - J0 @ F[0].T) - np.cross(M[0] * (R[0].T @ dx), R[0].T @ dx)
    last = _vee(J0 @ F[0] - F[0].T @ J0)
    for i in (1, 2):
        d0, di = d[i - 1], d[1 + i]
        B = dx + R[0] @ E[0] @ d0
        A = R[i] @ (M[i] * (R[i].T @ B - E[i] @ di))
        total = total + A
        first = first + hat(d0) @ R[0].T @ A
        last = last + hat(d0) @ (R[0] @ F[0]).T @ A
    start.append(first)
    end.append(last)
    for i in (1, 2):
        d0, di = d[i - 1], d[1 + i]
        B = dx + R[0] @ E[0] @ d0
        A = R[i] @ (M[i] * (R[i].T @ B - E[i] @ di))
        Jp = np.diag(J[i]) - hat(di) @ np.diag(M[i]) @ hat(di)
        Jd = 0.5 * np.trace(Jp) * np.eye(3) - Jp
        own = M[i] * (R[i].T @ B)
        start.append(
            _vee(F[i] @ Jd - Jd @ F[i].T) - np.cross(F[i] @ di, own) - R[i].T @ np.cross(A, B)
        )
        end.append(_vee(Jd @ F[i] - F[i].T @ Jd) - np.cross(di, F[i].T @ own))
    return {"start": start, "end": end, "x": total}


def test_swimmers_against_the_references():
    """Both orders, on the errors of the references and against the exact state at t = 1."""
    exact, known = np.array(TEN["swimmers_t1"]), TEN["swimmers_errors"]
    for h, error in zip(known["h"], known["err"], strict=True):
        found = np.abs(run(ConnectedBodies(), 1.0, h, method="LGVI1").y[-1] - exact).max()
        assert found == pytest.approx(error, rel=1e-8)
    study = lielab.diagnostics.order(
        ConnectedBodies(), "LGVI1", t_end=1.0, steps=[100, 200, 400, 800], reference=exact
    )
    assert study.order == pytest.approx(1, abs=0.05)
    for system, reference in ((ConnectedBodies(), exact), (BENT, None)):
        study = lielab.diagnostics.order(
            system, "LGVI", t_end=1.0, steps=[20, 40, 80, 160], reference=reference
        )
        assert study.order == pytest.approx(2, abs=0.08), study.message


def test_swimmers_keep_their_momenta():
    for method in ("LGVI1", "LGVI"):
        for system in (BENT_FREE, BENT):
            sol = run(system, 5.0, 0.01, method=method)
            for name in ("linear momentum", "angular momentum"):
                values = sol.invariants()[name]
                assert np.abs(values - values[0]).max() < 5e-12 * (1.0 + np.abs(values).max())
            assert sol.defect().max() < 1e-13
    far = run(ConnectedBodies(), 0.72, 0.18, method="LGVI1")
    # the inertia matrix in place of the Jacobian would take 45 sweeps a step at h = 0.1
    assert far.nfev <= 35
    other = run(ConnectedBodies("lagrangian"), 0.4, 0.2)
    np.testing.assert_allclose(
        ConnectedBodies().to_momenta(other.y), run(ConnectedBodies(), 0.4, 0.2).y, atol=1e-11
    )


# --- order, symmetry, two-form


@pytest.fixture(scope="module")
def pushed():
    """The body pushed, free and tied, at t = 0.4: two midpoint runs extrapolated."""
    ends = {}
    for tied in (False, True):
        system = OffsetBody(push=True, tied=tied)
        one, two = (run(system, 0.4, 0.4 / n, quadrature="midpoint").y[-1] for n in (128, 256))
        ends[tied] = (4.0 * two - one) / 3.0
    return ends


@pytest.mark.parametrize("retraction", ["exp", "cay"])
@pytest.mark.parametrize("quadrature", RULES)
def test_order_with_forces_and_constraints(pushed, quadrature, retraction):
    """At a state without symmetry, with a force that depends on t, g, xi and inputs, on SE(3)."""
    order = 1 if quadrature in ("left", "right") else 2
    for tied in (False, True):
        study = lielab.diagnostics.order(
            OffsetBody(push=True, tied=tied),
            "LGVI",
            t_end=0.4,
            steps=[64, 128, 256, 512] if order == 1 else [8, 16, 32, 64],
            reference=pushed[tied],
            quadrature=quadrature,
            retraction=retraction,
        )
        assert study.order == pytest.approx(order, abs=0.12), study.message


def step_derivative(system, y, h, **options):
    """Derivative of one step (g, p) -> (g1, p1) in left-trivialised coordinates, by differences."""
    form = system.formulations["lagrangian"]
    factors = np.array(form.factors, dtype=np.int64)
    k, n = form.point, form.dim

    def flow(v):
        z = y.copy()
        _factors.move(factors, False, y[:k].copy(), np.ascontiguousarray(v[:n]), z[:k])
        z[k:] += v[n:]
        plan = lielab.methods()["LGVI"].prepare(
            form, z if form.decode is None else form.decode(z), **options.get("how", {})
        )
        run = _march.new_schedule(1, 1.0, 0.0, h)
        ys = z[None].copy()
        rest = plan.params, np.zeros(1), ys, np.full(1, h)
        plan.loop(plan.kernels, plan.data, run, z.copy(), *rest)
        return ys[0]

    end = flow(np.zeros(2 * n))

    def coordinates(v):
        moved, i, out = flow(v), 0, []
        for code in factors:
            if code <= 0:
                out.append(so3.log(end[i : i + 9].reshape(3, 3).T @ moved[i : i + 9].reshape(3, 3)))
                if code == SE3:
                    R, r = end[i : i + 9].reshape(3, 3), moved[i + 9 : i + 12] - end[i + 9 : i + 12]
                    S = so3.hat(out[-1])
                    out.append(np.linalg.inv(so3.dexp(out[-1])) @ (R.T @ r) if S.any() else R.T @ r)
                i += 9 if code == SO3 else 12
            else:
                out.append(moved[i : i + code] - end[i : i + code])
                i += code
        return np.concatenate([*out, moved[k:] - end[k:]])

    return slopes(coordinates, 2 * n, 5e-3), end


@pytest.mark.parametrize(
    ("system", "h", "how"),
    [
        (RigidBodyInWell(), 0.25, {}),
        (RigidBodyInWell(), 0.25, {"quadrature": "midpoint", "retraction": "exp"}),
        (OffsetBody(), 0.1, {}),
        (OffsetBody(), 0.1, {"quadrature": "midpoint"}),
        (OffsetBody(), 0.1, {"quadrature": "left", "retraction": "exp"}),
        (BENT_FREE, 0.05, {}),
    ],
)
def test_the_step_is_symplectic(system, h, how):
    """A' Omega(p1) A = Omega(p0) (errata of fan, 18); the canonical form would fail by the size of p."""
    form = system.formulations["lagrangian"]
    y = system.y0 if form.encode is None else form.encode(system.y0)
    y = run(system, 2 * h, h, **how).y[-1]
    y = y if form.encode is None else form.encode(y)
    A, end = step_derivative(system, y, h, how=how)
    before, after = (two_form(z[form.point :], form.factors) for z in (y, end))
    scale = np.abs(A).max() ** 2 * (1.0 + np.abs(before).max())
    assert np.abs(A.T @ after @ A - before).max() < 1e-9 * scale
    n = form.dim
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    assert np.abs(A.T @ J @ A - J).max() > 1e-3


@pytest.mark.parametrize("how", [{}, {"retraction": "exp"}, {"quadrature": "midpoint"}])
@pytest.mark.parametrize(
    ("system", "h"), [(RigidBodyInWell(), 0.2), (OffsetBody(), 0.05), (BENT_FREE, 0.05)]
)
def test_the_step_is_symmetric(system, h, how):
    if system is BENT_FREE:
        how = {}
    there = run(system, 10 * h, h, **how)
    back = lielab.solve(system, (10 * h, 0), there.y[-1], method="LGVI", h=h, **how)
    np.testing.assert_allclose(
        back.y[-1], there.y[0], atol=2e-12 * (1.0 + np.abs(there.y[0]).max())
    )


def test_energy_stays():
    sol = run(RigidBodyInWell(), 2000, 0.25)
    E = sol.energy()
    assert np.ptp(E) < 0.02
    halves = E[: len(E) // 2].mean(), E[len(E) // 2 :].mean()
    assert abs(halves[0] - halves[1]) < 1e-3
    free = run(FreeRigidBody(attitude=True), 50, 0.1)
    momentum = free.invariants()["spatial momentum"]
    assert np.abs(momentum - momentum[0]).max() < 1e-13
    assert free.defect().max() < 1e-13


def test_a_readers_own_potential():
    inertia, R = (1.0, 2.0, 2.5), so3.exp([0.3, -0.2, 0.4])
    start = (*R.ravel(), 0.1, 0.2, 1.0)
    # the heavy top's potential, with the momentum in the body
    own = RigidBodyInPotential(inertia, lambda R, p: 3.0 * R[2, 1], start=start)
    top = HeavyTop("left", inertia, 0.3, 1.0, (0.0, 1.0, 0.0), (0.0, 0.0, 10.0))
    one = run(own, 1.0, 0.1)
    two = run(top, 1.0, 0.1, np.concatenate([R.ravel(), np.array(inertia) * start[9:]]))
    np.testing.assert_allclose(one.R, two.Q, atol=1e-11)
    np.testing.assert_allclose(one.Omega * np.array(inertia), two.Pi, atol=1e-11)


# --- constraints


def test_quadrotor_with_its_load():
    system = QuadrotorWithLoad()
    hover = system.hover
    turning = QuadrotorWithLoad(rotors=(hover, 1.01 * hover, hover, 0.99 * hover))
    kick = np.concatenate([np.zeros(15), [0.01, 0.02, 0.01, 0.1, 0.2, 0.3, 0.02, 0.3, 0.1]])
    y0 = system.project(system.y0 + kick)
    for flying in (system, turning):
        sol = run(flying, 1.0, 0.01, y0)
        length = np.linalg.norm(sol.x_q - sol.x_L, axis=-1)
        assert np.abs(length - flying.L).max() < 1e-13
        # the impulse is the tension: lam L/h
        tension = sol.multipliers[:, 0] * flying.L / 0.01
        assert sol.multipliers.shape == (len(sol.t), 1)
        np.testing.assert_allclose(tension, flying.tension(sol.y), rtol=3e-3)
        study = lielab.diagnostics.order(flying, "LGVI", t_end=0.5, y0=y0, steps=[10, 20, 40, 80])
        assert study.order == pytest.approx(2, abs=0.06)
    for name, values in run(system, 1.0, 0.01, y0).invariants().items():
        assert np.abs(values - values[0]).max() < 1e-12, name


def constant_speeds(t, y, p):
    return p[14:18]


def test_rotor_speeds_from_a_function():
    hover = QuadrotorWithLoad().hover
    speeds = (hover, 1.01 * hover, hover, 0.99 * hover)
    one = run(QuadrotorWithLoad(rotors=speeds), 0.2, 0.01)
    system = QuadrotorWithLoad(control=constant_speeds, inputs=speeds)
    two = run(system, 0.2, 0.01)
    np.testing.assert_array_equal(one.y, two.y)
    rkmk = lielab.solve(system, (0, 0.2), method="RKMK4", h=0.01)
    np.testing.assert_allclose(rkmk.y[-1], one.y[-1], atol=1e-3)
    with pytest.raises(ValueError, match="rotors must be given"):
        system.tension(two.y)
    np.testing.assert_allclose(
        system.tension(two.y, speeds), QuadrotorWithLoad(rotors=speeds).tension(two.y)
    )


@pytest.mark.parametrize("quadrature", ["trapezoidal", "midpoint"])
def test_tied_body_keeps_its_constraints(quadrature):
    system = OffsetBody(tied=True)
    sol = run(system, 1.0, 0.01, quadrature=quadrature)
    phi = np.array([on_a_cable(0.0, y[:12], system.params)[:2] for y in sol.y])
    assert np.abs(phi).max() < 1e-13
    assert np.ptp(sol.energy()) < 2e-2
    assert np.ptp(run(system, 1.0, 0.005, quadrature=quadrature).energy()) < 0.3 * np.ptp(
        sol.energy()
    )
    # the momentum after half the impulse satisfies the hidden constraint to second order
    rates = []
    for h in (0.02, 0.01):
        y = run(system, 0.4, h, quadrature=quadrature).y[-1]
        D = on_a_cable(0.0, y[:12], system.params)[2:14].reshape(2, 6)
        rates.append(np.abs(D @ system.velocity(y)).max())
    assert rates[1] < 0.3 * rates[0] < 0.01


def test_constrained_runs_go_on_from_a_state():
    system = OffsetBody(push=True, tied=True)
    whole = run(system, 0.4, 0.02)
    first = run(system, 0.2, 0.02)
    # a force that depends on time: go on at the same time
    second = lielab.solve(system, (0.2, 0.4), first.y[-1], method="LGVI", h=0.02)
    np.testing.assert_allclose(second.y[-1], whole.y[-1], atol=1e-12)
    np.testing.assert_allclose(second.multipliers[0], first.multipliers[-1], atol=1e-12)
    thin = run(system, 0.4, 0.02, save_every=3)
    np.testing.assert_array_equal(thin.multipliers[1:-1], whole.multipliers[3:-1:3])
    np.testing.assert_allclose(whole(0.2), whole.y[10], atol=0)
    between = whole(0.21)
    assert np.abs(on_a_cable(0.0, between[:12], system.params)[:2]).max() < 1e-13


def test_events_and_multipliers():
    system = OffsetBody(tied=True)
    event = lielab.Event(lambda t, y: t - 0.105, terminal=True)
    sol = lielab.solve(system, (0, 0.4), method="LGVI", h=0.02, events=[event])
    assert sol.status == 1
    assert len(sol.multipliers) == len(sol.t)
    assert np.isnan(sol.multipliers[-1]).all()
    assert np.isfinite(sol.multipliers[:-1]).all()


# --- bad arguments


@pytest.mark.parametrize("factors", [("SO3",), (7.5,), (-2,), (True,)])
def test_factors_are_codes(factors):
    with pytest.raises(ValueError, match="factors must be SO3, SE3 or whole numbers n"):
        LagrangianFormulation(factors, lambda t, z, p: z, np.empty(0))


def test_refusals():
    body = FreeRigidBody(attitude=True)
    with pytest.raises(ValueError, match="retraction must be 'cay' or 'exp', got 'ccsk'"):
        lielab.solve(body, (0, 1), method="LGVI", h=0.1, retraction="ccsk")
    with pytest.raises(ValueError, match="quadrature must be one of"):
        lielab.solve(body, (0, 1), method="LGVI", h=0.1, quadrature="simpson")
    with pytest.raises(ValueError, match="own discrete Lagrangian"):
        lielab.solve(ConnectedBodies(), (0, 1), method="LGVI", h=0.1, quadrature="midpoint")
    with pytest.raises(ValueError, match="needs the formulation 'lagrangian'"):
        lielab.solve(FreeRigidBody(), (0, 1), method="LGVI", h=0.1)
    with pytest.raises(ValueError, match="whole number of equal steps"):
        lielab.solve(body, (0, 1), method="LGVI", h=0.3)
    with pytest.raises(ValueError, match="control must be a function"):
        Pendulum3D(control="tracking")
    with pytest.raises(ValueError, match="takes 3 inputs, got 2"):
        Pendulum3D(control="constant", inputs=(1.0, 2.0))
    with pytest.raises(ValueError, match="control must return the torque"):
        lielab.solve(Pendulum3D(control=lambda t, y, p: [1.0]), (0, 1), method="LGVI", h=0.1)
    with pytest.raises(ValueError, match="four rotor speeds"):
        lielab.solve(QuadrotorWithLoad(control=lambda t, y, p: [1.0]), (0, 1), h=0.1)


def test_a_step_that_fails_says_so():
    sol = lielab.solve(ConnectedBodies(), (0, 4), method="LGVI", h=0.5)
    assert not sol.success
    assert "did not converge" in sol.message


def test_compositions_show_no_multipliers():
    """Those that a loop keeps belong to one part of a step; the tension of the step is not lam L / h there."""
    tied = OffsetBody(tied=True)
    sol = lielab.solve(tied, (0, 0.04), method=lielab.symmetrised("LGVI"), h=0.02)
    assert sol.extras == {}
    # With a constraint the momentum of the state is the one before the impulse: a step forth and back does not return.
    with pytest.raises(ValueError, match="LGVI is not symmetric.*use symmetrised"):
        lielab.solve(tied, (0, 0.04), method=lielab.compose("LGVI"), h=0.02)
