"""Bad input: the right answer, or a ValueError that names argument, value and remedy."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lielab import (
    cotangent_so3,
    matrix_group,
    phi_ad,
    power,
    product,
    quaternions,
    retraction,
    rn,
    se2,
    se3,
    so2,
    so3,
    special_linear,
    special_orthogonal,
    symplectic,
)
from lielab.groups import phi

GROUPS = [so2, se2, so3, se3, quaternions, rn(3), special_orthogonal(4)]
OF_VECTORS = ("hat", "exp", "ad", "coad", "dexp", "dexpinv", "cay", "dcay", "dcayinv", "dexp_left")
OF_ELEMENTS = ("log", "Ad", "coAd", "cayinv", "inverse")


def label(group: object) -> str:
    return group.name


def calls(group) -> list[tuple]:
    """Every function with its argument's name, a good argument and its core shape."""
    u, g = 0.1 * np.arange(1.0, group.dim + 1.0), group.exp(0.1 * np.arange(1.0, group.dim + 1.0))
    listed = [(getattr(group, name), u) for name in OF_VECTORS]
    return listed + [(getattr(group, name), g) for name in OF_ELEMENTS]


@pytest.mark.parametrize("group", GROUPS, ids=label)
def test_nan_and_inf_are_refused(group) -> None:
    for function, good in calls(group):
        for bad_value in (np.nan, np.inf, -np.inf, 1e76):
            bad = good.copy()
            bad[(0,) * bad.ndim] = bad_value
            with pytest.raises(
                ValueError, match=r"\w+ must be finite and at most 1e\+75 in size, got .*remove"
            ):
                function(bad)
            with pytest.raises(ValueError, match="must be finite"):
                function(np.stack([good, bad]))


@pytest.mark.parametrize("group", GROUPS, ids=label)
def test_wrong_shapes_are_refused(group) -> None:
    for function, good in calls(group):
        shape = re.escape(", ".join(["...", *map(str, good.shape)]))
        for bad in (good[..., :-1], good[None][..., :-1], np.float64(1.0), np.zeros((0,))):
            with pytest.raises(
                ValueError, match=rf"\w+ must have shape \({shape}\), got \(.*batch"
            ):
                function(bad)


@pytest.mark.parametrize("group", GROUPS, ids=label)
@pytest.mark.parametrize("bad", ["text", None, [1j, 0, 0], [object()], [[1.0], [1.0, 2.0]]])
def test_what_is_no_number_is_refused(group, bad) -> None:
    for function, _ in calls(group):
        with pytest.raises(
            ValueError, match=r"\w+ must hold real numbers, got .*; pass a float array"
        ):
            function(bad)


@pytest.mark.parametrize("group", GROUPS, ids=label)
def test_other_arrays_give_the_same_answer(group) -> None:
    for function, good in calls(group):
        expected = function(good)
        wide = np.zeros((*good.shape[:-1], 2 * good.shape[-1]))
        wide[..., ::2] = good
        frozen = good.copy()
        frozen.flags.writeable = False
        for same in (
            wide[..., ::2],
            frozen,
            np.asfortranarray(good),
            good.tolist(),
            good.astype(">f8"),
        ):
            np.testing.assert_allclose(function(same), expected, rtol=0, atol=1e-15)
        assert not frozen.flags.writeable
        np.testing.assert_allclose(function(good.astype(np.float32)), expected, rtol=0, atol=3e-6)
        reversed_batch = np.stack([good, good, 1.0 * good])[::-1]
        np.testing.assert_allclose(function(reversed_batch)[1], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("group", GROUPS, ids=label)
def test_integers_and_empty_batches(group) -> None:
    ones = np.ones(group.dim, dtype=int)
    np.testing.assert_array_equal(group.exp(ones), group.exp(np.ones(group.dim)))
    for function, good in calls(group):
        for batch in ((0,), (2, 0), (0, 3)):
            result = function(np.zeros((*batch, *good.shape)))
            assert result.shape == (*batch, *function(good).shape)


@pytest.mark.parametrize("group", GROUPS, ids=label)
def test_arguments_are_left_alone_and_results_are_new(group) -> None:
    for function, good in calls(group):
        before = good.copy()
        result = function(good)
        result += 1.0
        np.testing.assert_array_equal(good, before)


MATRICES = [so2, se2, so3, se3, special_orthogonal(3)]


@pytest.mark.parametrize("group", MATRICES, ids=label)
def test_matrices_outside_the_group_are_refused(group) -> None:
    g = group.exp(0.3 * np.ones(group.dim))
    stretched, reflected, sheared = 1.01 * g, g.copy(), g.copy()
    reflected[:, 0] *= -1.0
    sheared[0, 1] += 1e-4
    for bad in (stretched, reflected, sheared, np.zeros_like(g)):
        for name in OF_ELEMENTS:
            with pytest.raises(
                ValueError, match=r"is not .*: defect .*, at most 1e-06 is accepted; use project"
            ):
                getattr(group, name)(bad)
        with pytest.raises(ValueError, match="use project"):
            group.compose(g, bad)
        with pytest.raises(ValueError, match="use project"):
            group.distance(np.stack([g, bad]), g)
    np.testing.assert_allclose(group.project(sheared), g, atol=1e-4)
    # single precision and a few steps of an ambient method are accepted
    group.log(g + 1e-7)


def test_quaternions_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="q is not a unit quaternion: defect 1"):
        quaternions.log([2.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="q must not be zero"):
        quaternions.project(np.zeros(4))
    np.testing.assert_allclose(quaternions.project([0.0, 1e-200, 0.0, 0.0]), [0, 1, 0, 0])


def test_singular_arguments_say_why() -> None:
    turn = np.array([2.0 * np.pi, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"dexpinv is singular where \|u\| is 2 pi"):
        so3.dexpinv(turn)
    with pytest.raises(ValueError, match=r"dexpinv is singular where \|A\| is 2 pi"):
        se3.dexpinv(np.r_[turn, 1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="dexpinv is singular where theta is 2 pi"):
        se2.dexpinv([-2.0 * np.pi, 1.0, 0.0])
    half = so3.exp([np.pi, 0.0, 0.0])
    for group, element in (
        (so3, half),
        (se3, se3.from_parts(half, np.ones(3))),
        (so2, -np.eye(2)),
        (se2, np.diag([-1.0, -1.0, 1.0])),
    ):
        with pytest.raises(ValueError, match="a rotation by pi has no Cayley coordinates; use log"):
            group.cayinv(element)
    with pytest.raises(ValueError, match="only quaternions with w > 0"):
        quaternions.cayinv([-0.6, 0.8, 0.0, 0.0])
    for group in (so3, se3):
        u = np.zeros(group.dim)
        u[1] = np.pi / 2
        for function, argument in ((group.ccskinv, group.ccsk(u)), (group.dccskinv, u)):
            with pytest.raises(ValueError, match="singular where u_2 is pi/2"):
                function(argument)


def test_every_axis_is_singular_at_every_full_turn() -> None:
    """|u| is 2 pi k up to round-off in proportion to it: a threshold that does not grow lets some axes pass."""
    axes = np.random.default_rng(0).standard_normal((300, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    for turns in (1, 2, 6, 11, 12, 50, 1000, 10**6):
        angle = 2.0 * np.pi * turns
        for axis in axes:
            for function, u in (
                (so3.dexpinv, angle * axis),
                (quaternions.dexpinv, angle * axis),
                (se3.dexpinv, np.r_[angle * axis, axis]),
            ):
                with pytest.raises(ValueError, match="dexpinv is singular"):
                    function(u)
        with pytest.raises(ValueError, match="dexpinv is singular"):
            se2.dexpinv([angle, 1.0, 0.0])
        near = angle * (1.0 + 1e-12) * axes  # and beside it the value is there
        assert np.isfinite(so3.dexpinv(near)).all()


def test_hat_and_vee() -> None:
    with pytest.raises(ValueError, match=r"X must be skew, got \|X \+ X'\| = "):
        so3.vee(np.eye(3))
    with pytest.raises(ValueError, match="X must have a last row of zeros"):
        se3.vee(np.eye(4))
    with pytest.raises(ValueError, match="X must have a last row of zeros"):
        se2.vee(np.eye(3))
    with pytest.raises(ValueError, match="X is not in the algebra"):
        special_linear(2).vee(np.eye(2))
    with pytest.raises(ValueError, match="last row of zeros"):
        rn(2).vee(np.eye(3))


def test_no_nearest_element() -> None:
    for group, bad in (
        (so3, np.zeros((3, 3))),
        (so3, np.diag([1.0, 0, 0])),
        (so2, np.diag([1.0, -1.0])),
    ):
        with pytest.raises(ValueError, match="no unique nearest rotation"):
            group.project(bad)
    with pytest.raises(ValueError, match="positive determinant"):
        special_linear(2).project(np.diag([1.0, -1.0]))


def test_batches_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match=r"batch axes of u \(2,\) and v \(3,\) do not broadcast"):
        so3.bracket(np.zeros((2, 3)), np.zeros((3, 3)))


def test_products_name_the_element() -> None:
    group = product(so3, rn(2))
    for bad in (np.eye(3), (np.eye(3),), (np.eye(3), np.zeros(2), 0)):
        with pytest.raises(
            ValueError, match="g must be a tuple of 2 elements, one for each factor"
        ):
            group.log(bad)
    with pytest.raises(ValueError, match=r"u must have shape \(..., 5\)"):
        group.exp(np.zeros(6))
    with pytest.raises(ValueError, match="factors must be groups"):
        product(so3, 3)
    with pytest.raises(ValueError, match="at least one group"):
        product()
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            power(so3, bad)
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            rn(bad)
    with pytest.raises(ValueError, match=r"g must be a tuple \(Q, mu\), got ndarray"):
        cotangent_so3.log(np.eye(4))


def test_matrix_groups_check_their_basis() -> None:
    E = special_orthogonal(3).basis
    with pytest.raises(ValueError, match="not closed under brackets"):
        matrix_group(E[:2])
    with pytest.raises(ValueError, match="linearly independent"):
        matrix_group([E[0], 2.0 * E[0]])
    with pytest.raises(ValueError, match=r"basis must have shape \(dim, n, n\)"):
        matrix_group(np.eye(3))
    with pytest.raises(ValueError, match="basis must be finite"):
        matrix_group([[[np.nan]]])
    with pytest.raises(ValueError, match="form does not fit"):
        matrix_group(E, form=np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(ValueError, match="no real principal logarithm"):
        special_linear(2).log(np.diag([-2.0, -0.5]))
    with pytest.raises(ValueError, match="overflows"):
        special_linear(2).exp([0.0, 0.0, 2000.0])
    for make, least in ((special_orthogonal, 2), (special_linear, 2), (symplectic, 1)):
        with pytest.raises(
            ValueError, match=f"n must be a whole number of at least {least}, got 0"
        ):
            make(0)


def test_options_are_checked_by_name() -> None:
    for bad in (-1, 61, 2.0, True):
        with pytest.raises(
            ValueError, match="order must be a whole number of commutators from 0 to 60"
        ):
            so3.dexpinv_series(np.zeros(3), bad)
    with pytest.raises(ValueError, match="retraction must be one of exp, cay, ccsk, got 'polar'"):
        retraction(so3, "polar")
    with pytest.raises(ValueError, match="SL.3. offers no Cayley map"):
        retraction(special_linear(3), "cay")
    with pytest.raises(ValueError, match="does not offer 'ccsk'"):
        retraction(so2, "ccsk")
    with pytest.raises(ValueError, match="group must be lielab.so3 or lielab.se3"):
        phi_ad(so2, np.exp, np.exp, phi.exponential_series(), [0.1])
    for bad in ("XXY", "XyZ", "ab", "XY", 3, "xyzx"):
        with pytest.raises(ValueError, match="order must be three axes"):
            so3.to_euler(np.eye(3), bad)
    with pytest.raises(ValueError, match="t must be finite"):
        so3.interpolate(np.eye(3), np.eye(3), np.nan)
    with pytest.raises(ValueError, match="rotation must be a scipy.spatial.transform.Rotation"):
        so3.from_scipy(np.eye(3))
    with pytest.raises(
        ValueError, match="transform must be a scipy.spatial.transform.RigidTransform"
    ):
        se3.from_scipy(np.eye(4))


def test_means_check_their_arguments() -> None:
    with pytest.raises(ValueError, match=r"elements must have shape \(n, 3, 3\) with n > 0"):
        so3.mean(np.eye(3))
    with pytest.raises(ValueError, match="elements must have shape"):
        so3.mean(np.zeros((0, 3, 3)))
    for bad in ([1.0], [-1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="weights must be 2 non-negative numbers"):
            so3.mean(so3.random(1, (2,)), bad)


def test_masked_arrays_are_refused() -> None:
    """NumPy would take what stands under the mask for a number."""
    with pytest.raises(ValueError, match="u must hold real numbers"):
        so3.exp(np.ma.array([0.1, 0.2, 0.3], mask=[1, 0, 0]))
    u = np.array([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(so3.exp(np.ma.array(u)), so3.exp(u))


def test_the_names_of_the_signature_can_be_used():
    u, R = np.array([0.1, 0.2, 0.3]), so3.exp([0.3, 0.1, -0.2])
    np.testing.assert_array_equal(so3.exp(u=u), so3.exp(u))
    np.testing.assert_array_equal(so3.compose(R, S=R), so3.compose(R, R))
    np.testing.assert_array_equal(so3.compose(S=np.eye(3), R=R), so3.compose(R, np.eye(3)))
    with pytest.raises(TypeError, match=r"exp\(u\): missing.*'u'"):
        so3.exp(x=u)
    with pytest.raises(TypeError, match="compose.*'S'"):
        so3.compose(R)
    with pytest.raises(TypeError, match="too many"):
        so3.exp(u, u)
