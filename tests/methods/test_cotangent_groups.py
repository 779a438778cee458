"""SLGI(theta) on T*G for every group of the package, and a reader's own CotangentSystem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import lielab
from lielab import product, quaternions, rn, se2, se3, so2, so3
from lielab.actions import cotangent_action
from lielab.core.dense import multiply, solve
from lielab.core.jit import jit
from lielab.formulations.lagrangian import SE3
from lielab.groups import left_factors as left
from lielab.groups.flat import joined, split
from lielab.study.structure import line
from lielab.systems import CotangentFormulation, CotangentSystem, System
from lielab.testing import check_action
from tests.methods.offset_body import slopes

GL2 = lielab.matrix_group(np.eye(4).reshape(4, 2, 2), name="GL(2)")
GROUPS = {
    group.name: group
    for group in (
        so2,
        se2,
        so3,
        se3,
        quaternions,
        lielab.cotangent_so3,
        rn(2),
        lielab.special_orthogonal(4),
        lielab.special_linear(2),
        lielab.symplectic(1),
        GL2,
        product(so2, so3, rn(1), quaternions),
    )
}
every = pytest.mark.parametrize("name", GROUPS)
THETAS = (0.0, 0.5, 1.0)


@jit
def group_of(p):
    """(codes, tables) and n from p = number of codes, n, codes, tables."""
    count = int(p[0])
    codes = np.empty(count, np.int64)
    for i in range(count):
        codes[i] = int(p[2 + i])
    return (codes, p[2 + count :]), int(p[1])


@jit
def swinging(t, y, p):
    """f of H = sum a_i mu_i^2 / 2 + mu_0^2 sin(g_0) / 4 + sum b_j cos(g_j), a_i = 1 + i/4, b_j = (1 + j/5)/2."""
    group, n = group_of(p)
    k = len(y) - n
    out, v, moved = np.zeros(2 * n), np.zeros(n), np.empty(k)
    for i in range(n):
        out[i] = (1.0 + 0.25 * i) * y[k + i]
        v[i] = 1.0
        left.velocity_left(group, v, y[:k], moved)
        v[i] = 0.0
        out[n + i] = -0.25 * y[k] ** 2 * np.cos(y[0]) * moved[0]
        for j in range(k):
            out[n + i] += 0.5 * (1.0 + 0.2 * j) * np.sin(y[j]) * moved[j]
    out[0] += 0.5 * y[k] * np.sin(y[0])
    return out


@jit
def free(t, y, p):
    """f of H = sum a_i mu_i^2 / 2 + sin(mu_0): invariant under translations from the right."""
    _, n = group_of(p)
    k = len(y) - n
    out = np.zeros(2 * n)
    for i in range(n):
        out[i] = (1.0 + 0.25 * i) * y[k + i]
    out[0] += np.cos(y[k])
    return out


@dataclass(frozen=True)
class OnGroup(System):
    group: Any
    kernel: Any = swinging

    @property
    def parts(self):
        return (("g", (len(self.y0) - self.group.dim,)), ("mu", (self.group.dim,)))

    @property
    def y0(self):
        n = self.group.dim
        return np.append(
            joined(self.group.exp(np.linspace(0.3, -0.4, n))), np.linspace(0.5, -0.3, n)
        )

    @property
    def formulations(self):
        codes, tables = left.left_factors(self.group)
        p = np.concatenate([[len(codes), self.group.dim], codes, tables])
        return {"cotangent": CotangentFormulation(self.group, self.kernel, p)}

    def field(self, y):
        form = self.formulations["cotangent"]
        return form.field(0.0, y.copy(), form.params)

    def check(self, y):
        pass

    def defect(self, y):
        return np.zeros(np.shape(y)[:-1])


def run(system, t_end, h, y0=None, method="SLGI", **options):
    sol = lielab.solve(system, (0, t_end), y0, method=method, h=h, **options)
    assert sol.success, sol.message
    return sol


def step(system, y, h, theta):
    return run(system, h, h, y, theta=theta).y[-1]


# --- the kernels against the functions of the group -----------------------------------------------


@every
def test_kernels(name):
    group, rng = GROUPS[name], np.random.default_rng(5)
    codes, tables = left.left_factors(group)
    kernels, n = (np.array(codes, dtype=np.int64), tables), group.dim
    g, m = group.random(rng), rng.standard_normal(n)
    k = len(joined(g))
    for size in (1e-8, 0.3, 2.5):
        x = size * rng.standard_normal(n) / np.sqrt(n)
        out, dual = np.empty(k), np.empty(n)
        left.move_left(kernels, x, joined(g), out)
        wanted = joined(group.compose(group.exp(x), g))
        np.testing.assert_allclose(out, wanted, atol=1e-14 * max(1.0, np.abs(wanted).max()))
        for kernel, matrix in (
            (left.coAd_exp, group.coAd(group.exp(x))),
            (left.dexp_dual, group.dexp(x).T),
        ):
            kernel(kernels, x, m, dual)
            np.testing.assert_allclose(dual, matrix @ m, atol=1e-14 * np.abs(matrix).max() * 8)


# --- the method -----------------------------------------------------------------------------------


def velocity(group, x, g):
    """hat(x) g of a flat element, by the group's own hat."""
    if hasattr(group, "factors"):
        xs = np.split(x, np.cumsum([f.dim for f in group.factors])[:-1])
        parts = zip(group.factors, xs, split(group.shape, g), strict=True)
        return np.concatenate([velocity(f, v, joined(e)) for f, v, e in parts])
    if group is quaternions:
        return 0.5 * np.array([-x @ g[1:], *(g[0] * x + np.cross(x, g[1:]))])
    if group is lielab.cotangent_so3:
        return np.append(so3.hat(x[:3]) @ g[:9].reshape(3, 3), np.cross(x[:3], g[9:]) + x[3:])
    if len(group.shape) == 1:
        return x
    return (group.hat(x) @ g.reshape(group.shape)).ravel()


def exact(system, t_end):
    """g' = f1 g, mu' = f2 - ad*_{f1} mu for the Hamiltonian of `swinging`, with the group's own hat and coad."""
    group, y0 = system.group, system.y0
    n = group.dim
    k = len(y0) - n
    a, b = 1.0 + 0.25 * np.arange(n), 0.5 * (1.0 + 0.2 * np.arange(k))

    def rhs(t, y):
        g, mu = y[:k], y[k:]
        f1 = a * mu
        f1[0] += 0.5 * mu[0] * np.sin(g[0])
        slope = -b * np.sin(g)
        slope[0] += 0.25 * mu[0] ** 2 * np.cos(g[0])
        f2 = -np.array([slope @ velocity(group, e, g) for e in np.eye(n)])
        return np.concatenate([velocity(group, f1, g), f2 - group.coad(f1) @ mu])

    return solve_ivp(rhs, (0, t_end), y0, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]


@every
def test_order(name):
    system = OnGroup(GROUPS[name])
    reference = exact(system, 1.0)
    for theta in THETAS:
        errors = [
            np.linalg.norm(run(system, 1.0, 1.0 / n, theta=theta).y[-1] - reference)
            for n in (64, 128, 256)
        ]
        found = np.log2(np.array(errors[:-1]) / errors[1:])
        assert found == pytest.approx(2 if theta == 0.5 else 1, abs=0.06)


@every
def test_symplectic_for_the_form_13(name):
    """A' Omega(mu1) A = Omega(mu0), Omega((xi1, n1), (xi2, n2)) = <n2, xi1> - <n1, xi2> - <mu, [xi1, xi2]>."""
    system, h = OnGroup(GROUPS[name]), 0.2
    group, y = system.group, system.y0
    n = group.dim
    k = len(y) - n

    def form13(mu):
        B = np.stack([group.coad(e) @ mu for e in np.eye(n)], axis=-1)  # v -> ad*_v mu
        return np.block([[-B.T, np.eye(n)], [-np.eye(n), np.zeros((n, n))]])

    for theta in THETAS:
        end = step(system, y, h, theta)
        back = group.inverse(split(group.shape, end[:k]))

        def flow(v, theta=theta, end=end, back=back):
            g = group.compose(group.exp(v[:n]), split(group.shape, y[:k]))
            there = step(system, np.append(joined(g), y[k:] + v[n:]), h, theta)
            moved = group.compose(split(group.shape, there[:k]), back)
            return np.append(group.log(moved), there[k:] - end[k:])

        A = slopes(flow, 2 * n, 4e-3)
        defect = A.T @ form13(end[k:]) @ A - form13(y[k:])
        assert np.abs(defect).max() < 1e-10


@every
def test_symmetry_and_momentum(name):
    """The adjoint of theta is 1 - theta, 1/2 is reversible, and H(mu) keeps the momentum in the body, Ad*_g mu."""
    group = GROUPS[name]
    system, h = OnGroup(group), 0.1
    n = group.dim
    k = len(system.y0) - n
    for theta in THETAS:
        there = run(system, 1.0, h, theta=theta).y[-1]
        back = lielab.solve(system, (1.0, 0.0), there, method="SLGI", h=h, theta=1.0 - theta)
        np.testing.assert_allclose(back.y[-1], system.y0, atol=2e-13)
    there = run(system, 1.0, h).y[-1]
    there[k:] *= -1.0
    again = run(system, 1.0, h, there).y[-1]
    np.testing.assert_allclose(np.append(again[:k], -again[k:]), system.y0, atol=2e-13)
    for theta in THETAS:
        ends = run(OnGroup(group, free), 2.0, h, theta=theta).y[[0, -1]]
        first, last = (group.coAd(split(group.shape, y[:k])) @ y[k:] for y in ends)
        assert np.linalg.norm(ends[1][:k] - ends[0][:k]) > 0.1
        np.testing.assert_allclose(last, first, atol=2e-13)


SLIPS = ("", "Ad* turned the other way", "no dexp*", "no second dexp*", "mu0 left where it is")


def plain_step(system, y, h, theta, slip):
    """(15)-(17) in the functions of the group, by fixed-point iteration; with one mistake or none."""
    group = system.group
    n = group.dim
    k = len(y) - n
    g, mu, z = split(group.shape, y[:k]), y[k:], h * system.field(y)
    sign = -1.0 if slip == "Ad* turned the other way" else 1.0
    for _ in range(60):
        xi, m = z[:n], z[n:]
        turned = group.coAd(group.exp(sign * theta * xi)) @ m
        first = np.eye(n) if slip == "no dexp*" else group.dexp(-xi).T
        second = np.eye(n) if slip == "no second dexp*" else group.dexp(-theta * xi).T
        M = first @ (mu + turned) - theta * second @ turned
        at = joined(group.compose(group.exp(theta * xi), g))
        z = h * system.field(np.append(at, M))
    xi, m = z[:n], z[n:]
    carried = mu if slip == "mu0 left where it is" else group.coAd(group.exp(-xi)) @ mu
    mu1 = group.coAd(group.exp((theta - 1.0) * xi)) @ m + carried
    return np.append(joined(group.compose(group.exp(xi), g)), mu1)


@every
def test_the_step_is_that_of_the_paper_and_slips_are_seen(name):
    system, h, theta = OnGroup(GROUPS[name]), 0.15, 0.7
    y = step(system, step(system, system.y0, 0.3, theta), h, theta)
    found = step(system, y, h, theta)
    assert (
        np.abs(plain_step(system, y, h, theta, "") - found).max() < 5e-15 * np.abs(found).max() * 8
    )
    abelian = not left.structure_constants(system.group).any()
    for slip in SLIPS[1:]:
        off = np.abs(plain_step(system, y, h, theta, slip) - found).max()
        assert (off > 1e-6) != abelian, (slip, off)


# --- momentum where H is invariant under translations from the left -------------------------------


@jit
def from_the_left(t, y, p):
    """f of H = |P|^2/2 + sin(P_0), P = Ad*_g mu, of matrices: f1 = Ad_g dH/dP, f2 = ad*_{f1} mu; p ends in pinv."""
    group, d = group_of(p)
    tables = group[1]
    n, k = int(tables[0]), len(y) - d
    pinv = tables[int(tables[3]) :]
    inverse, Ad, X, Y = np.zeros(k), np.zeros((d, d)), np.empty(k), np.empty(k)
    for i in range(n):
        inverse[i * n + i] = 1.0
    solve(y[:k].copy(), inverse, n)
    for a in range(d):
        multiply(y[:k], tables[4 + a * k : 4 + (a + 1) * k], n, X)
        multiply(X, inverse, n, Y)
        for c in range(d):
            for i in range(k):
                Ad[c, a] += pinv[c * k + i] * Y[i]
    P, out = np.zeros(d), np.zeros(2 * d)
    for a in range(d):
        for c in range(d):
            P[a] += Ad[c, a] * y[k + c]
    slope = P.copy()
    slope[0] += np.cos(P[0])
    for c in range(d):
        for a in range(d):
            out[c] += Ad[c, a] * slope[a]
    for b in range(d):
        for a in range(d):
            for c in range(d):
                out[d + b] += out[a] * tables[4 + d * k + (a * d + b) * d + c] * y[k + c]
    return out


@pytest.mark.parametrize("name", ["SE(2)", "SL(2)", "SO(4)", "SE(3)"])
def test_momentum_in_space(name):
    group = GROUPS[name]
    _, tables = left.left_factors(group)
    basis = group.hat(np.eye(group.dim)).reshape(group.dim, -1)
    p = np.concatenate([[1, group.dim, left.LINEAR], tables, np.linalg.pinv(basis).T.ravel()])
    k = basis.shape[1]

    class Invariant(OnGroup):
        formulations = {"cotangent": CotangentFormulation(group, from_the_left, p)}

    for theta in THETAS:
        y = run(Invariant(group), 1.0, 0.1, theta=theta).y
        assert np.linalg.norm(y[-1, :k] - y[0, :k]) > 0.1
        np.testing.assert_allclose(y[:, k:], np.broadcast_to(y[0, k:], y[:, k:].shape), atol=1e-13)


# --- a reader's own -------------------------------------------------------------------------------


def plane(y, p):
    """A plate in the plane in a trap: y = g (9), mu (3)."""
    return 0.5 * (y[9] ** 2 + y[10] ** 2 + 2.0 * y[11] ** 2) + p[0] * (y[2] ** 2 + y[5] ** 4 + y[1])


def plane_field(t, y, p):
    d, x, z = y[4], y[2], y[5]
    force = [-2.0 * p[0] * x, -4.0 * p[0] * z**3]
    turn = -p[0] * (-d - 2.0 * x * z + 4.0 * z**3 * x)
    return [y[9], y[10], 2.0 * y[11], turn, *force]


START = (se2.exp([0.4, 0.3, -0.2]), (0.3, 0.1, -0.2))


def test_a_hamiltonian_is_enough():
    one = CotangentSystem(se2, START, plane, p=(0.7,))
    two = CotangentSystem(se2, START, plane, plane_field, p=(0.7,))
    y = run(one, 2.0, 0.05).y
    np.testing.assert_allclose(run(two, 2.0, 0.05).y, y, atol=1e-11)
    other = lielab.solve(two, (0, 2), method="DOP853", rtol=1e-10, atol=1e-12)
    assert np.abs(run(two, 2.0, 0.005).y[-1] - other.y[-1]).max() < 2e-5
    assert np.abs(other.energy() - other.energy()[0]).max() < 1e-8
    sol = run(two, 2000.0, 0.1)
    blocks = (sol.energy() - sol.energy()[0])[1:].reshape(20, -1)
    slope, doubt = line(np.arange(20.0), blocks.mean(axis=1))
    assert abs(slope) < 3.0 * doubt
    assert np.abs(blocks).max() < 0.005
    assert sol.g.shape == (20001, 3, 3)
    assert sol.defect().max() < 1e-13
    np.testing.assert_allclose(one.project(sol.y[::100]), sol.y[::100], atol=1e-13)


def test_products_and_tuples():
    group = product(so3, rn(1))
    start = ((so3.exp([0.3, 0.2, 0.1]), [0.5]), [0.1, 0.2, 0.3, 0.4])

    def H(y, p):
        return 0.5 * (y[10] ** 2 + y[11] ** 2 + 2 * y[12] ** 2 + y[13] ** 2) + np.sin(y[9]) * y[8]

    system = CotangentSystem(group, start, H)
    assert [name for name, _ in system.parts] == ["g1", "g2", "mu"]
    sol = run(system, 20.0, 0.1)
    assert np.ptp(sol.energy()) < 0.01
    assert sol.defect().max() < 1e-13


# The kernels of an action are closures, compiled anew in each process: some seconds each.
QUICK = ("GL(2)", "SO(2) x SO(3) x R^1 x unit quaternions")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in GROUPS],
)
def test_the_group_acts_on_its_cotangent_bundle(name):
    check_action(cotangent_action(GROUPS[name]), samples=1)


def test_refusals():
    def refused(match, *arguments, **more):
        with pytest.raises(ValueError, match=match):
            CotangentSystem(*arguments, **more)

    wrong = lambda t, y, p: [-x for x in plane_field(t, y, p)]  # noqa: E731
    for group in (lielab.tableaus, "SE(2)", so3.exp, (so3, se3)):
        refused("group", group, START, plane, p=(1,))
    refused("start must be an element of SE", se2, (np.eye(3), (1, 2)), plane, p=(1,))
    refused("start must be a pair", se2, 3.0, plane, p=(1,))
    refused(r"start is not on T\*SE\(2\)", se2, (2.0 * np.eye(3), (1, 2, 3)), plane, p=(1,))
    refused("give hamiltonian", se2, START)
    refused("must return a number", se2, START, lambda y, p: y, p=(1,))
    refused("hamiltonian must take the arguments", se2, START, lambda y: 1.0, p=(1,))
    refused("field must return 6 numbers", se2, START, field=lambda t, y, p: [1, 2])
    refused("field is not \\(dH/dmu", se2, START, plane, wrong, p=(1,))
    for factors in ((SE3, "a"), (so3, 3), (-2,), (-7,)):
        with pytest.raises(ValueError, match="factors must be a group such as"):
            _ = CotangentFormulation(factors, free, np.empty(0)).dim
    with pytest.raises(NotImplementedError, match="no hamiltonian"):
        CotangentSystem(se2, START, field=plane_field, p=(1,)).energy(np.zeros(12))
