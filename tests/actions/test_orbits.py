"""Isotropy, orbits, transitivity: what the generator's matrix says, and what is known."""

from __future__ import annotations

import numpy as np
import pytest

from lielab import actions
from lielab.actions import is_transitive, isotropy, orbit_dimension

RNG = np.random.default_rng(8)
# action, dimension of the isotropy algebra and of the orbit at a general point, transitive?
KNOWN = [
    (actions.SO3_ON_S2, 1, 2, True),
    (actions.SO3_ON_R3, 1, 2, False),
    (actions.SO3_ON_DUAL, 1, 2, False),
    (actions.SO3_ON_SO3, 0, 3, True),
    (actions.SO3_ON_SO3_RIGHT, 0, 3, True),
    (actions.SO3_ON_BODY, 0, 3, False),
    (actions.SE3_ON_TS2, 2, 4, True),
    (actions.SE3_ON_COTANGENT_S2, 2, 4, True),
    (actions.SE3_ON_DUAL, 2, 4, False),
    (actions.SE3_ON_DUAL_PI_GAMMA, 2, 4, False),
    (actions.SE3_ON_ALGEBRA, 2, 4, False),
    (actions.SE3_ON_SE3, 0, 6, True),
    (actions.SE2_ON_SE2, 0, 3, True),
    (actions.COTANGENT_RIGHT, 0, 6, True),
    (actions.COTANGENT_LEFT, 0, 6, True),
    (actions.COTANGENT_RIGHT_R6, 0, 12, True),
    (actions.TWO_QUADROTORS, 4, 26, True),
    (actions.THREE_BODIES, 0, 24, True),
    (actions.so_n_on_sphere(5), 6, 4, True),  # so(4)
    (actions.so_n_on_stiefel(5, 2), 3, 7, True),  # so(3)
    (actions.SO2_ON_S1, 0, 1, True),
    (actions.QUATERNIONS_ON_S3, 0, 3, True),
    (actions.rn_on_rn(3), 0, 3, True),
]


@pytest.mark.parametrize(
    ("action", "stabiliser", "orbit", "transitive"), KNOWN, ids=lambda x: getattr(x, "name", x)
)
def test_known_orbits(action, stabiliser: int, orbit: int, transitive: bool) -> None:
    y = action.sample(RNG) if action.sample else RNG.standard_normal(action.point)
    basis = isotropy(action, y)
    assert basis.shape == (stabiliser, action.algebra)
    assert orbit_dimension(action, y) == orbit
    assert is_transitive(action, y) is transitive
    for xi in basis:  # the isotropy group leaves y where it is, at finite angles too
        np.testing.assert_allclose(action.exp_act(1.3 * xi, y), y, atol=1e-13)
    np.testing.assert_allclose(basis @ basis.T, np.eye(stabiliser), atol=1e-14)


def test_isotropy_of_the_sphere_is_the_axis() -> None:
    q = np.array([2.0, -1.0, 2.0]) / 3.0
    (xi,) = isotropy(actions.SO3_ON_S2, q)
    np.testing.assert_allclose(np.abs(xi @ q), 1.0, atol=1e-15)


def test_isotropy_of_the_tangent_bundle() -> None:
    """On TS^2 it is spanned by (q, w) and (0, q): the freedom in f that celledoni 5.1 leaves."""
    q, w = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.8, -0.6])
    basis = isotropy(actions.SE3_ON_TS2, np.r_[q, w])
    for member in (np.r_[q, w], np.r_[0.0, 0.0, 0.0, q]):
        np.testing.assert_allclose(basis.T @ (basis @ member), member, atol=1e-14)


def test_special_points_have_small_orbits() -> None:
    assert orbit_dimension(actions.SO3_ON_R3, np.zeros(3)) == 0
    assert isotropy(actions.SO3_ON_R3, np.zeros(3)).shape == (3, 3)
    assert orbit_dimension(actions.SE3_ON_DUAL, np.r_[np.zeros(3), 1.0, 2.0, 3.0]) == 2
    assert orbit_dimension(actions.SE3_ON_DUAL, np.r_[1e-6, 0.0, 0.0, 1.0, 2.0, 3.0]) == 4


def test_blocks_add_up() -> None:
    y = np.concatenate([actions.SE3_ON_TS2.sample(RNG) for _ in range(3)])
    assert orbit_dimension(actions.SE3_ON_TS2, y) == 12
    assert is_transitive(actions.SE3_ON_TS2, y)
    assert isotropy(actions.SE3_ON_TS2, y).shape == (6, 18)


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(ValueError, match="does not declare the dimension"):
        is_transitive(actions.BODY_AND_LOAD, actions.BODY_AND_LOAD.sample(RNG))
    with pytest.raises(ValueError, match="y must be one point"):
        isotropy(actions.SO3_ON_S2, np.eye(3))
    with pytest.raises(ValueError, match="y must be one point"):
        isotropy(actions.SO3_ON_S2, [np.nan, 0.0, 1.0])
