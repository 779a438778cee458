"""Cayley, second kind, third maps; truncated series; phi(ad) of celledoni 2.3; sides of the trivialisation."""

from __future__ import annotations

import numpy as np
import pytest

from lielab import matrix_group, phi_ad, retraction, se2, se3, so2, so3, special_linear, symplectic
from lielab.groups import phi, retractions
from lielab.groups.matrix_functions import expm
from lielab.testing import slope

PAIRS = [(so3, name) for name in ("exp", "cay", "ccsk")] + [
    (se3, name) for name in ("exp", "cay", "ccsk")
]
PAIRS += [(so2, "cay"), (se2, "cay"), (se2, "exp"), (symplectic(1), "cay")]


@pytest.mark.parametrize(("group", "name"), PAIRS, ids=lambda x: getattr(x, "name", x))
def test_retractions(group, name: str) -> None:
    r = retraction(group, name)
    u, v = 0.4 * np.random.default_rng(1).standard_normal((2, group.dim))
    g = r.map(u)
    np.testing.assert_allclose(r.inverse(g), u, atol=1e-14)
    np.testing.assert_allclose(r.tangent(u) @ r.tangent_inverse(u), np.eye(group.dim), atol=1e-14)
    from_right = slope(lambda t: group.log(group.compose(r.map(u + t * v), group.inverse(g))))
    np.testing.assert_allclose(r.tangent(u) @ v, from_right, atol=1e-11)
    from_left = slope(lambda t: group.log(group.compose(group.inverse(g), r.map(u + t * v))))
    np.testing.assert_allclose(r.tangent_left(u) @ v, from_left, atol=1e-11)


@pytest.mark.parametrize(("group", "name"), PAIRS, ids=lambda x: getattr(x, "name", x))
def test_order_of_agreement_with_exp(group, name: str) -> None:
    r = retraction(group, name)
    u = np.random.default_rng(2).standard_normal(group.dim)
    off = [np.linalg.norm(group.log(r.map(h * u)) - h * u) for h in (2e-2, 1e-2)]
    if r.order == 0:
        assert max(off) < 1e-15
    else:
        assert np.log2(off[0] / off[1]) == pytest.approx(r.order + 1, abs=0.01)


def test_cayley_is_the_cayley_map_of_the_matrices() -> None:
    rng = np.random.default_rng(3)
    for group in (so2, se2, so3, se3):
        X = group.hat(rng.standard_normal((5, group.dim)))
        one = np.eye(X.shape[-1])
        expected = np.linalg.solve(one - X / 2, one + X / 2)
        np.testing.assert_allclose(group.cay(group.vee(X)), expected, atol=1e-15)


def test_cayley_needs_a_quadratic_group() -> None:
    """On SL(2), which is Sp(2), it serves once the form is declared; on SL(3) it leaves the group."""
    group = special_linear(2)
    with pytest.raises(ValueError, match="quadratic"):
        group.cay([0.1, 0.2, 0.3])
    declared = matrix_group(group.basis, "SL(2) as Sp(2)", form=[[0.0, 1.0], [-1.0, 0.0]])
    assert np.linalg.det(declared.cay([0.1, 0.2, 0.3])) == pytest.approx(1.0, abs=1e-15)
    X = special_linear(3).hat(0.3 * np.arange(8.0))
    one = np.eye(3)
    assert abs(np.linalg.det(np.linalg.solve(one - X / 2, one + X / 2)) - 1.0) > 1e-2


def test_dcay_on_an_abelian_group_is_not_the_identity() -> None:
    np.testing.assert_allclose(so2.dcay([2.0]), [[0.5]])
    np.testing.assert_allclose(so2.dexp([2.0]), [[1.0]])


# --- ortolan (2.3)-(2.5) -----------------------------------------------------------------------------


def stretched(alpha: float = 0.1) -> retractions.Retraction:
    """exp((1 + alpha theta^2) x), a third map."""

    def angle(t):
        return t * (1.0 + alpha * t * t)

    def c1(t):
        return np.sin(angle(t)) / t

    def c2(t):
        return 2.0 * (np.sin(angle(t) / 2.0) / t) ** 2

    def dc2(t):
        return np.sin(angle(t)) * (1.0 + 3.0 * alpha * t * t) / t**2 - 2.0 * c2(t) / t

    return retractions.of_coefficients("stretched", c1, c2, dc2, order=2)


def test_third_map_by_ortolan_2_4_and_2_5() -> None:
    r = stretched()
    for seed in range(5):
        u, v = np.random.default_rng(seed).standard_normal((2, 3))
        np.testing.assert_allclose(r.map(u), so3.exp((1.0 + 0.1 * (u @ u)) * u), atol=1e-14)
        g = r.map(u)
        difference = slope(lambda t, u=u, v=v, g=g: so3.log(r.map(u + t * v) @ g.T))
        np.testing.assert_allclose(r.tangent(u) @ v, difference, atol=1e-10)
        np.testing.assert_allclose(r.tangent(u) @ r.tangent_inverse(u), np.eye(3), atol=1e-13)


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_exp_and_cay_by_ortolan_2_4_and_2_5(name: str) -> None:
    if name == "exp":
        c1, c2 = (lambda t: np.sin(t) / t), (lambda t: (1.0 - np.cos(t)) / t**2)
        dc2 = lambda t: np.sin(t) / t**2 - 2.0 * (1.0 - np.cos(t)) / t**3  # noqa: E731
    else:
        c1, c2 = (lambda t: 4.0 / (4.0 + t * t)), (lambda t: 2.0 / (4.0 + t * t))
        dc2 = lambda t: -4.0 * t / (4.0 + t * t) ** 2  # noqa: E731
    r = retractions.of_coefficients(name, c1, c2, dc2)
    u = np.random.default_rng(4).standard_normal((6, 3))
    np.testing.assert_allclose(r.map(u), getattr(so3, name)(u), atol=1e-14)
    np.testing.assert_allclose(r.tangent(u), getattr(so3, f"d{name}")(u), atol=1e-14)


def test_coefficients_that_give_no_rotation_are_refused() -> None:
    r = retractions.of_coefficients("wrong", np.ones_like, np.ones_like, np.zeros_like)
    with pytest.raises(ValueError, match="do not give rotations"):
        r.map([0.3, 0.4, 0.0])


# --- series ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [so3, se3, se2, special_linear(2)], ids=lambda g: g.name)
def test_truncation_order(group) -> None:
    """The error of the series cut after q commutators falls like h^(q+1), or one power more for even q + 1 > 1."""
    u = np.random.default_rng(5).standard_normal(group.dim)
    for q in range(7):
        off = [
            np.abs(group.dexpinv_series(h * u, q) - group.dexpinv(h * u)).max() for h in (0.2, 0.1)
        ]
        # odd Bernoulli numbers beyond B_1 vanish
        expected = q + 1 if q == 0 or q % 2 == 1 else q + 2
        assert np.log2(off[0] / off[1]) == pytest.approx(expected, abs=0.1), q
        off = [np.abs(group.dexp_series(h * u, q) - group.dexp(h * u)).max() for h in (0.2, 0.1)]
        assert np.log2(off[0] / off[1]) == pytest.approx(q + 1, abs=0.15), q


def test_series_by_hand() -> None:
    u = np.array([0.3, -0.2, 0.5])
    A = so3.ad(u)
    np.testing.assert_allclose(
        so3.dexpinv_series(u, 4), np.eye(3) - A / 2 + A @ A / 12 - A @ A @ A @ A / 720
    )
    np.testing.assert_allclose(so3.dexp_series(u, 2), np.eye(3) + A / 2 + A @ A / 6)


# --- phi(ad), celledoni 2.3 --------------------------------------------------------------------------


def dexp_function(z):
    return (np.exp(z) - 1.0) / z


def dexp_slope(z):
    return (np.exp(z) * (z - 1.0) + 1.0) / z**2


def dexpinv_function(z):
    return z / (np.exp(z) - 1.0)


def dexpinv_slope(z):
    return (np.exp(z) * (1.0 - z) - 1.0) / (np.exp(z) - 1.0) ** 2


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-5, 1e-2, 0.3, 0.74, 0.76, 1.5, 3.0, np.pi, 6.0])
def test_phi_of_ad(angle: float) -> None:
    rng = np.random.default_rng(6)
    u = rng.standard_normal((4, 6))
    u[:, :3] *= angle / np.linalg.norm(u[:, :3], axis=1)[:, None]
    atol = 1e-14 if angle < 4.0 else 1e-12  # 2 pi is near
    np.testing.assert_allclose(
        phi_ad(se3, dexp_function, dexp_slope, phi.dexp_series(), u), se3.dexp(u), atol=atol
    )
    np.testing.assert_allclose(
        phi_ad(se3, dexpinv_function, dexpinv_slope, phi.dexpinv_series(), u),
        se3.dexpinv(u),
        atol=atol,
    )
    np.testing.assert_allclose(
        phi_ad(se3, np.exp, np.exp, phi.exponential_series(), u), expm(se3.ad(u)), atol=2e-14
    )
    np.testing.assert_allclose(
        phi_ad(so3, np.exp, np.exp, phi.exponential_series(), u[:, :3]),
        so3.exp(u[:, :3]),
        atol=atol,
    )


def test_dexpinv_is_cut_of_no_term() -> None:
    """celledoni's c holds rho g2~: without it dexpinv on se(3) is wrong, and no order test would see it."""
    u, v = np.array([0.4, -0.3, 0.8, 1.0, 2.0, -1.0]), np.arange(1.0, 7.0)
    g1, g2, d1, d2 = phi.coefficients(
        dexpinv_function, dexpinv_slope, phi.dexpinv_series(), float(np.linalg.norm(u[:3]))
    )
    assert (g1, d1) == pytest.approx((-0.5, 0.0), abs=1e-14)
    A, a, B, b = u[:3], u[3:], v[:3], v[3:]
    x = np.cross
    C = B + g1 * x(A, B) + g2 * x(A, x(A, B))
    c = b + g1 * (x(a, B) + x(A, b)) + g2 * (x(a, x(A, B)) + x(A, x(a, B)) + x(A, x(A, b)))
    whole = c + (A @ a) * d2 * x(A, x(A, B))
    np.testing.assert_allclose(se3.dexpinv(u) @ v, np.r_[C, whole], atol=1e-14)
    assert np.abs(se3.dexpinv(u) @ v - np.r_[C, c]).max() > 1e-3


def test_the_two_trivialisations() -> None:
    """d/dt exp(u) = hat(dexp_u u') exp(u) = exp(u) hat(dexp_left_u u')."""
    u, v = 0.7 * np.random.default_rng(7).standard_normal((2, 6))
    rate = slope(lambda t: se3.exp(u + t * v))
    np.testing.assert_allclose(se3.hat(se3.dexp(u) @ v) @ se3.exp(u), rate, atol=1e-11)
    np.testing.assert_allclose(se3.exp(u) @ se3.hat(se3.dexp_left(u) @ v), rate, atol=1e-11)
    np.testing.assert_allclose(se3.dexp_left(u) @ se3.dexpinv_left(u), np.eye(6), atol=1e-14)
    rate = slope(lambda t: se3.cay(u + t * v))
    np.testing.assert_allclose(se3.cay(u) @ se3.hat(se3.dcay_left(u) @ v), rate, atol=1e-11)
