"""Every action: `lielab.testing.check_action`, and that it finds what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lielab
from lielab import actions, se2, se3, so3
from lielab.actions import Action
from lielab.groups.matrix_functions import expm
from lielab.testing import check_action

NAMED = {name: value for name, value in vars(actions).items() if isinstance(value, Action)}
BUILT = [
    actions.so_n_on_sphere(2),
    actions.so_n_on_sphere(4),
    actions.so_n_on_sphere(7),
    actions.so_n_on_stiefel(4, 2),
    actions.so_n_on_stiefel(5, 3),
    actions.so_n_on_stiefel(3, 3),
    actions.quadrotors_action(1),
    actions.rn_on_rn(3),
]


@pytest.mark.parametrize("name", NAMED)
def test_every_named_action(name: str) -> None:
    action = NAMED[name]
    report = check_action(action)
    assert not report.failures
    assert report.skipped.keys() <= {"Cayley"}


@pytest.mark.parametrize("action", BUILT, ids=lambda a: a.name)
def test_actions_of_any_size(action: Action) -> None:
    assert not check_action(action).failures


def test_a_point_off_the_manifold_is_refused_by_name() -> None:
    for action in NAMED.values():
        y = action.sample(np.random.default_rng(1)) if action.sample else np.ones(action.point)
        action.check(y)
        if action.distance is not None:
            with pytest.raises(
                ValueError,
                match=r"y is not on .*: distance .*, at most 1e-08 is accepted; use .*project",
            ):
                action.check(y + 0.01)
        with pytest.raises(ValueError, match=r"y must have length .* for the action .*, got"):
            action.check(np.ones(action.point + 1))


def test_samples_are_needed_where_the_manifold_is_no_vector_space() -> None:
    with pytest.raises(ValueError, match="points must be given"):
        check_action(replace(actions.SO3_ON_S2, sample=None))
    check_action(replace(actions.SO3_ON_S2, sample=None), points=[[0.0, 0.6, 0.8]])


def test_the_manifold_is_tested_only_where_the_action_has_a_distance() -> None:
    on = {name for name in check_action(actions.SO3_ON_S2).worst if "on the manifold" in name}
    assert len(on) == 3
    drawn = replace(actions.SO3_ON_S2, distance=None, sample=lambda rng: rng.standard_normal(3))
    for report in (check_action(drawn), check_action(drawn, [[0.0, 0.6, 0.8]])):
        assert not on & report.worst.keys()
        assert "not checked: the points lie and stay on the manifold (the action" in str(report)
    off = replace(drawn, distance=actions.SO3_ON_S2.distance)
    assert set(check_action(off, require=False).failures) == on
    whole = check_action(actions.SO3_ON_R3)  # nothing to leave, and nothing left out
    assert not on & whole.worst.keys()
    assert not whole.skipped.keys() - {"Cayley"}


MUTATIONS = [
    ("SO3_ON_S2", {"dexpinv": lambda u, v: v.copy()}, "dexpinv against differences"),
    ("SO3_ON_S2", {"generator": lambda u, y: np.cross(y, u)}, "generator against differences"),
    (
        "SO3_ON_S2",
        {"bracket": lambda u, v: np.cross(v, u)},
        "[X_u, X_v] = -X_[u, v] for the generators",
    ),
    ("SO3_ON_S2", {"exp_act": lambda u, y: y + np.cross(u, y)}, "exp_act stays on the manifold"),
    ("SO3_ON_S2", {"cay_act": actions.SO3_ON_S2.exp_act}, "dcayinv against differences"),
    ("SO3_ON_SO3", {"exp_act": actions.SO3_ON_R3.exp_act}, "generator against differences"),
    ("SE3_ON_TS2", {"dexpinv": lambda u, v: v.copy()}, "dexpinv against differences"),
    (
        "SE3_ON_TS2",
        {"blocks": True, "exp_act": lambda u, y: _first_only(u, y)},
        "blocks move independently",
    ),
    ("SO3_ON_BODY", {"rotations": ((3, 3),)}, "`rotations` are rotations"),
    # the direct product's dexpinv on the semidirect group, and the other way round
    ("COTANGENT_RIGHT", {"dexpinv": lambda u, v: _direct(u, v)}, "dexpinv against differences"),
    (
        "COTANGENT_LEFT",
        {"bracket": lambda u, v: -actions.COTANGENT_LEFT.bracket(u, v)},
        "dexpinv against its series",
    ),
]


def _first_only(u: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = y.copy()
    out[:6] = actions.SE3_ON_TS2.exp_act(u[:6], y[:6])
    return out


def _direct(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([actions.SO3_ON_R3.dexpinv(u[:3], v[:3]), v[3:]])


@pytest.mark.parametrize(("name", "wrong", "property_"), MUTATIONS, ids=range(len(MUTATIONS)))
def test_the_check_names_what_is_wrong(name: str, wrong: dict, property_: str) -> None:
    report = check_action(replace(NAMED[name], **wrong), require=False)
    assert property_ in report.failures
    with pytest.raises(AssertionError, match="fails:(?s:.)*residual"):
        report.require()


# --- against the groups ------------------------------------------------------------------------------


def test_kernels_agree_with_the_groups() -> None:
    rng = np.random.default_rng(2)
    u, v = rng.standard_normal((2, 6))
    g, R = se3.exp(u), so3.exp(u[:3])
    x, z = rng.standard_normal((2, 3))
    pair = np.r_[x, z]
    close = {"rtol": 0, "atol": 1e-14}
    np.testing.assert_allclose(actions.SE3_ON_ALGEBRA.exp_act(u, pair), se3.Ad(g) @ pair, **close)
    coadjoint = se3.coAd(se3.inverse(g))
    np.testing.assert_allclose(
        actions.SE3_ON_DUAL_PI_GAMMA.exp_act(u, pair), coadjoint @ pair, **close
    )
    swapped = actions.SE3_ON_DUAL.exp_act(u, np.r_[z, x])
    np.testing.assert_allclose(np.r_[swapped[3:], swapped[:3]], coadjoint @ pair, **close)
    np.testing.assert_allclose(actions.SE3_ON_TS2.dexpinv(u, v), se3.dexpinv(u) @ v, **close)
    np.testing.assert_allclose(actions.SE3_ON_TS2.dcayinv(u, v), se3.dcayinv(u) @ v, **close)
    np.testing.assert_allclose(actions.SE3_ON_TS2.bracket(u, v), se3.bracket(u, v), **close)
    np.testing.assert_allclose(
        actions.SO3_ON_R3.dexpinv(u[:3], v[:3]), so3.dexpinv(u[:3]) @ v[:3], **close
    )
    np.testing.assert_allclose(actions.SO3_ON_DUAL.exp_act(u[:3], x), so3.coAd(R.T) @ x, **close)
    np.testing.assert_allclose(actions.SO3_ON_R3.exp_act(u[:3], x), so3.Ad(R) @ x, **close)
    h = se3.random(3)
    for cayley in ("exp", "cay"):
        k = getattr(se3, cayley)(u)
        left = getattr(actions.SE3_ON_SE3, f"{cayley}_act")(u, h.ravel())
        np.testing.assert_allclose(left, (k @ h).ravel(), **close)
        right = getattr(actions.SE3_ON_SE3_RIGHT, f"{cayley}_act")(u, h.ravel())
        np.testing.assert_allclose(right, (h @ se3.inverse(k)).ravel(), **close)
        k, S = getattr(so3, cayley)(u[:3]), so3.random(4)
        right = getattr(actions.SO3_ON_SO3_RIGHT, f"{cayley}_act")(u[:3], S.ravel())
        np.testing.assert_allclose(right, (S @ k.T).ravel(), **close)
        k, S = getattr(se2, cayley)(u[:3]), se2.random(4)
        left = getattr(actions.SE2_ON_SE2, f"{cayley}_act")(u[:3], S.ravel())
        np.testing.assert_allclose(left, (k @ S).ravel(), **close)
    np.testing.assert_allclose(
        actions.SE2_ON_SE2.dexpinv(u[:3], v[:3]), se2.dexpinv(u[:3]) @ v[:3], **close
    )
    Q, pi = so3.random(5), rng.standard_normal(3)
    moved = lielab.cotangent_so3.compose(lielab.cotangent_so3.exp(u), (Q, pi))
    np.testing.assert_allclose(
        actions.COTANGENT_RIGHT.exp_act(u, np.r_[Q.ravel(), pi]),
        np.r_[moved[0].ravel(), moved[1]],
        **close,
    )


def test_the_two_forms_of_the_cotangent_bundle_are_one() -> None:
    """(Q, pi) and (Q, Pi = Q' pi): the same motion in space and in body variables."""
    rng = np.random.default_rng(3)
    Q, pi = so3.random(6), rng.standard_normal(3)
    w, torque = rng.standard_normal((2, 3))  # Q' = hat(w) Q, pi' = torque
    right = actions.COTANGENT_RIGHT.generator(
        np.r_[w, torque + np.cross(pi, w)], np.r_[Q.ravel(), pi]
    )
    np.testing.assert_allclose(right, np.r_[(so3.hat(w) @ Q).ravel(), torque], atol=1e-14)
    W, N, Pi = Q.T @ w, Q.T @ torque, Q.T @ pi  # Q' = Q hat(W), Pi' = Pi x W + N
    left = actions.COTANGENT_LEFT.generator(np.r_[-W, N], np.r_[Q.ravel(), Pi])
    np.testing.assert_allclose(
        left, np.r_[(Q @ so3.hat(W)).ravel(), np.cross(Pi, W) + N], atol=1e-14
    )
    rate = (so3.hat(w) @ Q).T @ pi + Q.T @ torque
    np.testing.assert_allclose(left[9:], rate, atol=1e-14)


def test_lifted_is_the_velocity_of_each_pair() -> None:
    """(A, a) of se(3) moves (q, w) by (A x q, A x w + a x q): the second part of each block, the first as it is."""
    rng = np.random.default_rng(8)
    xi, y = rng.standard_normal((2, 3, 2, 3))
    found = actions.lifted(xi.ravel(), y.ravel()).reshape(3, 2, 3)
    np.testing.assert_array_equal(found[:, 0], xi[:, 0])
    expected = np.cross(xi[:, 0], y[:, 1]) + np.cross(xi[:, 1], y[:, 0])
    np.testing.assert_allclose(found[:, 1], expected, rtol=0, atol=1e-15)
    plain = actions.SE3_ON_TS2.generator(xi[0].ravel(), y[0].ravel())
    np.testing.assert_allclose(found[0, 1], plain[3:], rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="multiple of 6"):
        actions.lifted(np.zeros(3), np.zeros(3))


def test_casimirs_of_the_coadjoint_action() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        u, y = rng.standard_normal((2, 6))
        z = actions.SE3_ON_DUAL.exp_act(u, y)
        assert z[:3] @ z[:3] == pytest.approx(y[:3] @ y[:3], rel=1e-14)
        assert z[:3] @ z[3:] == pytest.approx(y[:3] @ y[3:], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("size", [0.01, 0.5, 2.0, 4.0, 6.0])
def test_dexpinv_of_so_n_where_the_series_is_slow(size: float) -> None:
    rng = np.random.default_rng(5)
    group, action = lielab.special_orthogonal(4), actions.so_n_on_stiefel(4, 2)
    u, v = rng.standard_normal((2, 6))
    u *= size / np.linalg.norm(u)
    np.testing.assert_allclose(action.bracket(u, v), group.bracket(u, v), atol=1e-14)
    conditioned = 1e-13 * np.linalg.cond(group.dexp(u))
    np.testing.assert_allclose(action.dexpinv(u, v), group.dexpinv(u) @ v, rtol=0, atol=conditioned)
    Y = action.sample(rng)
    np.testing.assert_allclose(
        action.exp_act(u, Y), (expm(group.hat(u)) @ Y.reshape(4, 2)).ravel(), atol=1e-14
    )


@pytest.mark.parametrize("n", [0, 1, 2.0, True])
def test_dimensions_are_checked(n) -> None:
    with pytest.raises(ValueError, match="n must be a whole number of at least 2"):
        actions.so_n_on_sphere(n)


def test_stiefel_needs_no_more_columns_than_rows() -> None:
    with pytest.raises(
        ValueError, match="p must be a whole number of at least 1 and at most 3, got 4"
    ):
        actions.so_n_on_stiefel(3, 4)


def test_what_actions_are_made_of():
    for wrong in (0, -1, 1.5, "a", True):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            lielab.actions.rn_on_rn(wrong)
    with pytest.raises(ValueError, match="group must be a lielab.matrix_group, got 3"):
        lielab.actions.matrix_action(3)
    with pytest.raises(ValueError, match="columns must be a whole number of at least 1, got 1.5"):
        lielab.actions.matrix_action(lielab.special_orthogonal(3), 1.5)
    with pytest.raises(ValueError, match="action must be an Action, got 3"):
        check_action(3)
