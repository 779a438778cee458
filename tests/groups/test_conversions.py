"""Ways to hold a rotation: Euler angles, quaternions, SciPy's objects; interpolation and mean."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lielab
from lielab import quaternions, se2, se3, so2, so3

ORDERS = [
    "".join(axes)
    for letters in ("XYZ", "xyz")
    for axes in itertools.product(letters, repeat=3)
    if axes[0] != axes[1] != axes[2]
]


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_of_every_order(order: str) -> None:
    rng = np.random.default_rng(5)
    angles = rng.uniform(-np.pi, np.pi, (50, 3))
    R = so3.from_euler(angles, order)
    np.testing.assert_allclose(
        R, Rotation.from_euler(order, angles).as_matrix(), rtol=0, atol=1e-15
    )
    back, singular = so3.to_euler(R, order)
    assert not singular.any()
    np.testing.assert_allclose(so3.from_euler(back, order), R, rtol=0, atol=2e-15)
    proper = order[0] == order[2]
    low, high = (0.0, np.pi) if proper else (-np.pi / 2, np.pi / 2)
    assert (back[:, 1] >= low).all()
    assert (back[:, 1] <= high).all()
    expected = Rotation.from_matrix(R).as_euler(order)
    np.testing.assert_allclose(np.exp(1j * back), np.exp(1j * expected), rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-12, 1e-9])
def test_singularities_are_reported_and_still_give_the_rotation(order: str, off: float) -> None:
    rng = np.random.default_rng(6)
    angles = rng.uniform(-3.0, 3.0, (20, 3))
    ends = [0.0, np.pi] if order[0] == order[2] else [-np.pi / 2, np.pi / 2]
    angles[:, 1] = np.array(ends)[np.arange(20) % 2] + off
    R = so3.from_euler(angles, order)
    back, singular = so3.to_euler(R, order)
    assert singular.all()
    np.testing.assert_allclose(so3.from_euler(back, order), R, rtol=0, atol=2e-15)


def test_single_euler_angles() -> None:
    angles, singular = so3.to_euler(np.eye(3), "ZYX")
    assert angles.shape == (3,)
    assert not singular
    assert so3.to_euler(np.eye(3), "ZXZ")[1]


def test_quaternions_and_rotations() -> None:
    q = quaternions.random(1, (200,))
    R = quaternions.rotation(q)
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 1e-15
    p = quaternions.from_rotation(R)
    assert (p[:, 0] >= 0.0).all()
    np.testing.assert_allclose(p, q * np.sign(q[:, :1]), rtol=0, atol=4e-16)
    scipys = np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=-1)  # SciPy keeps the scalar last
    np.testing.assert_allclose(p, scipys * np.sign(scipys[:, :1]), rtol=0, atol=4e-16)
    u = so3.log(so3.random(2, (50,)))
    np.testing.assert_allclose(
        quaternions.rotation(quaternions.exp(u)), so3.exp(u), rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        quaternions.rotation(quaternions.cay(u)), so3.cay(u), rtol=0, atol=1e-15
    )
    h = quaternions.compose(q[:50], quaternions.exp(u))
    np.testing.assert_allclose(quaternions.rotation(h), R[:50] @ so3.exp(u), rtol=0, atol=1e-15)
    # the double cover: a full turn is -1, two full turns are 1
    np.testing.assert_allclose(quaternions.exp([2 * np.pi, 0, 0]), [-1, 0, 0, 0], atol=2e-16)
    np.testing.assert_allclose(quaternions.exp([4 * np.pi, 0, 0]), [1, 0, 0, 0], atol=5e-16)


def test_scipy_both_ways() -> None:
    R = so3.random(3, (7,))
    rotation = so3.to_scipy(R)
    np.testing.assert_allclose(so3.from_scipy(rotation), R, rtol=0, atol=1e-15)
    np.testing.assert_allclose(rotation.as_rotvec(), so3.log(R), rtol=0, atol=1e-14)
    transform = pytest.importorskip("scipy.spatial.transform")
    if not hasattr(transform, "RigidTransform"):
        with pytest.raises(ValueError, match="needs SciPy 1.16"):
            se3.to_scipy(se3.identity())
        return
    g = se3.random(4, (7,))
    rigid = se3.to_scipy(g)
    np.testing.assert_allclose(se3.from_scipy(rigid), g, rtol=0, atol=1e-15)
    # Rotation first, too.
    np.testing.assert_allclose(rigid.as_exp_coords(), se3.log(g), rtol=0, atol=1e-13)


OTHERS = [lielab.rn(3), lielab.special_linear(2), lielab.special_orthogonal(4)]


@pytest.mark.parametrize("group", [so2, se2, so3, se3, quaternions, *OTHERS], ids=lambda g: g.name)
def test_interpolation(group) -> None:
    g, h = group.random(1), group.exp(0.8 * np.ones(group.dim) / np.sqrt(group.dim))
    h = group.compose(g, h)
    t = np.linspace(0.0, 1.0, 11)
    path = group.interpolate(g, h, t)
    np.testing.assert_allclose(path[0], g, atol=1e-15)
    np.testing.assert_allclose(path[-1], h, atol=2e-15)
    velocity = group.log(group.compose(group.inverse(path[:-1]), path[1:]))
    np.testing.assert_allclose(velocity, np.broadcast_to(velocity[0], velocity.shape), atol=2e-15)
    k = group.random(2)
    moved = group.interpolate(group.compose(k, g), group.compose(k, h), t)
    np.testing.assert_allclose(moved, group.compose(k, path), atol=4e-15)
    assert group.interpolate(g, h, 0.5).shape == group.shape


TUPLES = [lielab.product(so3, lielab.rn(2), lielab.power(se2, 2)), lielab.cotangent_so3]


@pytest.mark.parametrize("group", TUPLES, ids=lambda g: g.name)
def test_interpolation_and_means_of_tuples(group) -> None:
    """Factor by factor, or as on SE(3); arrays of times, weights, and what the logarithms say of the mean."""
    g = group.random(1)
    h = group.compose(g, group.exp(0.3 * np.ones(group.dim)))
    t = np.linspace(0.0, 1.0, 5)
    path, wanted = group.interpolate(g, h, t), group.exp(t[:, None] * 0.3 * np.ones(group.dim))
    np.testing.assert_allclose(
        group.log(group.compose(group.inverse(g), path)), group.log(wanted), atol=1e-14
    )
    u = 0.3 * np.random.default_rng(2).standard_normal((4, group.dim))
    elements, weights = group.compose(g, group.exp(u)), np.array([1.0, 2.0, 0.0, 0.5])
    m = group.mean(elements, weights)
    rest = weights @ group.log(group.compose(group.inverse(m), elements))
    np.testing.assert_allclose(rest, 0.0, atol=1e-13)
    with pytest.raises(ValueError, match="must be a tuple"):
        group.mean(np.eye(3))
    with pytest.raises(ValueError, match="weights must be 4 non-negative numbers"):
        group.mean(elements, np.ones(3))
    with pytest.raises(ValueError, match="t must be finite"):
        group.interpolate(g, h, np.nan)


def test_what_is_unique_and_what_is_not() -> None:
    """At half a turn the way round is a choice; on the double cover -h is the other way; wide apart a mean is one of
    several."""
    half = so3.exp([np.pi, 0.0, 0.0])
    for t in (0.25, 0.5):
        angle = so3.distance(np.eye(3), so3.interpolate(np.eye(3), half, t))
        np.testing.assert_allclose(angle, t * np.pi, atol=1e-14)
    before, after = so3.exp([np.pi - 1e-9, 0, 0]), so3.exp([np.pi + 1e-9, 0, 0])
    middle = [so3.interpolate(np.eye(3), R, 0.5) for R in (before, after)]
    assert so3.distance(*middle) > np.pi - 1e-6
    q = quaternions.exp([2.5, 0.0, 0.0])
    one = quaternions.identity()
    ways = [
        quaternions.distance(quaternions.interpolate(one, s * q, 0.5), one) for s in (1.0, -1.0)
    ]
    np.testing.assert_allclose(ways, [1.25, np.pi - 1.25], atol=1e-14)
    third = so3.exp(np.array([[0, 0, 0], [0, 0, 2 * np.pi / 3], [0, 0, 4 * np.pi / 3]]))
    starts = [so3.mean(third, w) for w in ([1.1, 1, 1], [1, 1.1, 1], [1, 1, 1.1])]
    assert min(so3.distance(starts[0], starts[1]), so3.distance(starts[1], starts[2])) > 1.0


@pytest.mark.parametrize("group", [so2, se2, so3, se3, quaternions, *OTHERS], ids=lambda g: g.name)
def test_means(group) -> None:
    """Halfway between two elements; the weighted logarithms of any sum to zero; moved along from both sides."""
    g = group.exp(0.4 * np.random.default_rng(3).standard_normal((5, group.dim)))
    np.testing.assert_allclose(
        group.mean(g[:2]), group.interpolate(g[0], g[1], 0.5), rtol=0, atol=1e-14
    )
    weights = np.array([1.0, 2.0, 0.5, 0.0, 0.25])
    m = group.mean(g, weights)
    rest = weights @ group.log(group.compose(group.inverse(m), g))
    np.testing.assert_allclose(rest, 0.0, atol=1e-13)
    left, right = group.random(1), group.exp(0.3 * np.ones(group.dim))
    moved = group.mean(group.compose(group.compose(left, g), right), weights)
    np.testing.assert_allclose(
        moved, group.compose(group.compose(left, m), right), rtol=0, atol=1e-13
    )


def test_mean_of_rotations() -> None:
    centre = so3.random(1)
    w = np.array([[0.3, 0.1, -0.2], [-0.1, 0.4, 0.2], [-0.2, -0.5, 0.0]])
    R = centre @ so3.exp(w)  # the logarithms sum to zero
    np.testing.assert_allclose(so3.mean(R), centre, atol=1e-14)
    weights = np.array([1.0, 2.0, 0.5])
    m = so3.mean(R, weights)
    np.testing.assert_allclose(weights @ so3.log(so3.inverse(m) @ R), 0.0, atol=1e-14)

    def spread(S: np.ndarray) -> float:
        return float(weights @ so3.distance(S, R) ** 2)

    for direction in np.eye(3):
        for step in (1e-3, -1e-3):
            assert spread(m @ so3.exp(step * direction)) > spread(m)
    np.testing.assert_allclose(so3.mean(R[:1]), R[0], atol=1e-15)


def test_mean_of_motions_is_invariant_from_both_sides() -> None:
    g = se3.exp(0.5 * np.random.default_rng(2).standard_normal((5, 6)))
    left, right = se3.random(3), se3.random(4)
    m = se3.mean(g)
    np.testing.assert_allclose(se3.mean(left @ g @ right), left @ m @ right, atol=1e-13)
    np.testing.assert_allclose(se3.log(se3.inverse(m) @ g).mean(axis=0), 0.0, atol=1e-14)


def test_the_mean_of_quaternions_is_one_on_the_double_cover():
    """q and -q are one rotation and two quaternions: the signs decide between which ones the mean lies."""
    e3 = np.array([0.0, 0.0, 1.0])
    one, two = quaternions.exp(0.2 * e3), quaternions.exp(1.0 * e3)
    middle = quaternions.mean(np.stack([one, two]))
    np.testing.assert_allclose(middle, quaternions.exp(0.6 * e3), rtol=0, atol=1e-14)
    turned = quaternions.mean(np.stack([one, -two]))
    # opposite the other one, and another rotation
    assert abs(turned @ middle) < 1e-13
    R = so3.mean(np.stack([quaternions.rotation(one), quaternions.rotation(-two)]))
    np.testing.assert_allclose(R, quaternions.rotation(middle), rtol=0, atol=1e-14)
