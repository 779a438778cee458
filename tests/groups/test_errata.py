"""Slips of the papers met in the room of the groups: each check fails for the printed form."""

from __future__ import annotations

import numpy as np
import pytest

from lielab import actions, cotangent_so3, direct_tso3, quaternions, se3, so3
from lielab.testing import slope

FAILS = 1e-2  # a printed form is off by more than this


def off(a: object, b: object) -> float:
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_celledoni_a1_coadjoint_action(rng) -> None:
    """Example 1: Ad*_{g^-1} mu = g mu; printed without the inverse."""
    g = so3.random(rng)
    mu, xi = rng.standard_normal((2, 3))
    # (10): <Ad*_g mu, xi> = <mu, Ad_g xi>
    assert abs(so3.coAd(g) @ mu @ xi - mu @ (so3.Ad(g) @ xi)) < 1e-14
    assert off(so3.coAd(so3.inverse(g)) @ mu, g @ mu) < 1e-15
    assert off(so3.coAd(g) @ mu, g @ mu) > FAILS
    assert off(actions.SO3_ON_DUAL.exp_act(so3.log(g), mu), so3.coAd(g.T) @ mu) < 1e-15


def test_celledoni_a2_sign_of_the_free_body(rng) -> None:
    """f(mu) = -I^-1 mu: with the printed sign the generator gives minus Euler's equation."""
    inertia, mu = np.array([1.0, 2.0, 3.0]), rng.standard_normal(3)
    euler = np.cross(mu, mu / inertia)
    generator = actions.SO3_ON_DUAL.generator
    assert off(generator(-mu / inertia, mu), euler) < 1e-15
    assert off(generator(mu / inertia, mu), euler) > FAILS
    # and mu' = +ad*_w mu with (10)
    assert off(so3.coad(mu / inertia) @ mu, euler) < 1e-15


def test_celledoni_a3_product_of_the_cotangent_group(rng) -> None:
    """(11): (g1 g2, mu1 + Ad*_{g1^-1} mu2); printed with Ad*_{g1}, which is not associative."""

    def printed(a: tuple, b: tuple) -> tuple:
        return a[0] @ b[0], a[1] + so3.coAd(a[0]) @ b[1]

    def right(a: tuple, b: tuple) -> tuple:
        return a[0] @ b[0], a[1] + so3.coAd(so3.inverse(a[0])) @ b[1]

    def associator(product) -> float:
        a, b, c = (cotangent_so3.random(rng) for _ in range(3))
        return off(product(product(a, b), c)[1], product(a, product(b, c))[1])

    assert associator(right) < 1e-14
    assert associator(cotangent_so3.compose) < 1e-14
    assert associator(printed) > FAILS


def test_celledoni_a7_tangent_group_of_the_quadrotors(rng) -> None:
    """6.1: (B R, Omega + b) is an action of the direct product, not of the tangent group b1 + Ad_{B1} b2."""

    def act(g: tuple, p: tuple) -> tuple:
        return g[0] @ p[0], p[1] + g[1]

    def law(compose) -> float:
        g, h, p = (cotangent_so3.random(rng) for _ in range(3))
        return off(act(compose(g, h), p)[1], act(g, act(h, p))[1])

    assert law(direct_tso3.compose) < 1e-14
    assert law(cotangent_so3.compose) > FAILS
    u, v = rng.standard_normal((2, 6))
    np.testing.assert_allclose((direct_tso3.dexpinv(u) @ v)[3:], v[3:], atol=1e-15)
    assert off(cotangent_so3.dexpinv(u) @ v, direct_tso3.dexpinv(u) @ v) > FAILS


def test_celledoni_a12_ad_star_is_no_representation(rng) -> None:
    """Example 1: Ad*_{gh} = Ad*_h Ad*_g; the representation is g -> Ad*_{g^-1}."""
    g, h = se3.random(rng), se3.random(rng)
    gh = se3.compose(g, h)
    assert off(se3.coAd(gh), se3.coAd(h) @ se3.coAd(g)) < 1e-14
    assert off(se3.coAd(gh), se3.coAd(g) @ se3.coAd(h)) > FAILS
    inverse = [se3.coAd(se3.inverse(x)) for x in (g, h, gh)]
    assert off(inverse[0] @ inverse[1], inverse[2]) < 1e-14


def test_celledoni_d2_alpha_is_the_length(rng) -> None:
    """2.2 gives dexpinv with alpha, which is not defined there: it is |u|, and nothing else fits."""
    u, v = rng.standard_normal((2, 3))

    def printed(alpha: float) -> np.ndarray:
        c = (1.0 - 0.5 * alpha / np.tan(0.5 * alpha)) / alpha**2
        return v - 0.5 * np.cross(u, v) + c * np.cross(u, np.cross(u, v))

    exact = np.linalg.solve(so3.dexp(u), v)
    assert off(printed(np.linalg.norm(u)), exact) < 1e-14
    assert off(printed(u @ u), exact) > 1e-3


def test_celledoni_3_4_2_ad_star_of_se3(rng) -> None:
    """Right as printed: Ad*_(g, u) (Pi, Gamma) = (g^-1 (Pi - u x Gamma), g^-1 Gamma) and ad* of se(3)*."""
    g = se3.random(rng)
    R, r = se3.parts(g)
    Pi, Gamma, A, a = rng.standard_normal((4, 3))
    printed = np.r_[R.T @ (Pi - np.cross(r, Gamma)), R.T @ Gamma]
    assert off(se3.coAd(g) @ np.r_[Pi, Gamma], printed) < 1e-14
    printed = np.r_[-np.cross(A, Pi) - np.cross(a, Gamma), -np.cross(A, Gamma)]
    assert off(se3.coad(np.r_[A, a]) @ np.r_[Pi, Gamma], printed) < 1e-14


def test_ortolan_a2_minus_in_dexp() -> None:
    """Footnote 4 of 2.2: (theta - sin theta)/theta^3; printed theta sin theta / theta^3."""
    x = np.array([0.3, -0.2, 0.5])
    t, X = np.linalg.norm(x), so3.hat(x)
    first = np.eye(3) + (1.0 - np.cos(t)) / t**2 * X
    assert off(so3.dexp(x), first + (t - np.sin(t)) / t**3 * X @ X) < 1e-15
    assert off(so3.dexp(x), first + t * np.sin(t) / t**3 * X @ X) > 0.2


def test_ortolan_a3_inverse_in_the_proof_of_cay() -> None:
    """2.1.7: (1 - x/2)^-1 = 1 + 2/(4 + t^2) x + 1/(4 + t^2) x^2, times (1 + x/2); statement (2.8) is right."""
    x = np.array([0.7, -0.4, 1.1])
    X, s = so3.hat(x), float(x @ x)
    one = np.eye(3)
    assert off(so3.cay(x), one + 4.0 / (4.0 + s) * X + 2.0 / (4.0 + s) * X @ X) < 1e-15
    right = (one + X / 2) @ (one + 2.0 / (4.0 + s) * X + 1.0 / (4.0 + s) * X @ X)
    printed = (one - X / 2) @ (one + 2.0 / (4.0 + s) * X + 4.0 / (4.0 + s) * X @ X)
    assert off(so3.cay(x), right) < 1e-15
    assert off(so3.cay(x), printed) > 0.1
    # (2.9)
    assert off(so3.dcay(x), 4.0 / (4.0 + s) * one + 2.0 / (4.0 + s) * X) < 1e-15


def test_ortolan_a9_which_maps_have_the_form_2_3() -> None:
    """Lemma 2.1.3 needs a power series in hat(x): coordinates of the second kind are analytic and no blend of
    1, hat(x), hat(x)^2."""
    x = np.array([0.3, -0.2, 0.5])
    X = so3.hat(x)
    columns = np.stack([np.eye(3).ravel(), X.ravel(), (X @ X).ravel()], axis=1)
    for name, limit in (("exp", 1e-14), ("cay", 1e-14)):
        F = getattr(so3, name)(x).ravel()
        assert off(columns @ np.linalg.lstsq(columns, F, rcond=None)[0], F) < limit
    F = so3.ccsk(x).ravel()
    assert off(columns @ np.linalg.lstsq(columns, F, rcond=None)[0], F) > FAILS


def test_ortolan_a10_left_from_right() -> None:
    """dF left = dF_x' = dF_{-x} = F(x)' dF_x, for exp and cay on SO(3)."""
    x = np.array([0.3, -0.2, 0.5])
    for name in ("exp", "cay"):
        F, right = getattr(so3, name)(x), getattr(so3, f"d{name}")(x)
        left = getattr(so3, f"d{name}_left")(x)
        for form in (right.T, F.T @ right):
            assert off(left, form) < 1e-15
        v = np.array([1.0, 2.0, -1.0])
        rate = slope(lambda t, F=F, name=name, v=v: F.T @ getattr(so3, name)(x + t * v))
        assert off(so3.hat(left @ v), rate) < 1e-10


def test_rotation_vectors_turn_by_the_right_hand() -> None:
    quarter = so3.exp([0.0, 0.0, np.pi / 2])
    assert off(quarter @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]) < 1e-15
    assert off(quaternions.rotation([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), quarter) < 1e-15
