"""Products, diagonal actions, readers' matrix groups and frozen frames; RKMK54 runs on every action."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import actions, solve, special_linear, symplectic
from lielab.actions import Action, diagonal_action, frozen_action, matrix_action, product_action
from lielab.core.jit import jit
from lielab.systems import ActionSystem
from lielab.testing import check_action

NAMED = {name: value for name, value in vars(actions).items() if isinstance(value, Action)}


@jit
def linear(t, y, p):
    """xi = cos(t) M y + c: a field that depends on place and time, for any action; p holds M and c."""
    n = len(p) // (len(y) + 1)
    out = np.empty(n)
    for i in range(n):
        total = p[n * len(y) + i]
        for j in range(len(y)):
            total += np.cos(t) * p[i * len(y) + j] * y[j]
        out[i] = total
    return out


def system_on(action: Action, y: np.ndarray, seed: int = 0) -> ActionSystem:
    rng = np.random.default_rng(seed)
    n = action.algebra_dim(len(y))
    p = np.concatenate(
        [rng.standard_normal(n * len(y)) / (1.0 + y @ y), 0.3 * rng.standard_normal(n)]
    )
    return ActionSystem(action, linear, tuple(y), tuple(p))


def point(action: Action, seed: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return action.sample(rng) if action.sample else rng.standard_normal(action.point)


def runs_to_order_five(action: Action, y: np.ndarray) -> None:
    system = system_on(action, y)
    exact = solve(system, (0.0, 0.4), method="DOP853", rtol=1e-13, atol=1e-14).y[-1]
    errors = []
    for h in (0.1, 0.05):
        solution = solve(system, (0.0, 0.4), method="RKMK54", h=h)
        assert solution.success, solution.message
        assert np.max(action.defect(solution.y)) < 1e-13 * max(1.0, np.abs(solution.y).max())
        errors.append(np.abs(solution.y[-1] - exact).max())
    # halving divides by 32 at order 5; 16 would be order 4. Some are at round-off already.
    assert errors[1] < max(errors[0] / 20.0, 2e-12 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize("name", NAMED)
def test_rkmk54_on_every_named_action(name: str) -> None:
    action = NAMED[name]
    runs_to_order_five(action, point(action))


@pytest.mark.parametrize(
    "action",
    [
        actions.so_n_on_sphere(4),
        actions.so_n_on_stiefel(5, 3),
        actions.rn_on_rn(3),
        actions.quadrotors_action(3),
    ],
    ids=lambda a: a.name,
)
def test_rkmk54_on_actions_of_any_size(action: Action) -> None:
    runs_to_order_five(action, point(action))


def test_cayley_steps_where_it_is_offered() -> None:
    for action in (actions.so_n_on_stiefel(4, 2), actions.SE3_ON_SE3, actions.TWO_QUADROTORS):
        system = system_on(action, point(action))
        exact = solve(system, (0.0, 0.4), method="DOP853", rtol=1e-13, atol=1e-14).y[-1]
        errors = [
            np.abs(
                solve(system, (0.0, 0.4), method="RKMK4", h=h, retraction="cay").y[-1] - exact
            ).max()
            for h in (0.1, 0.05)
        ]
        assert errors[0] / errors[1] > 12.0  # order 4
        assert (
            action.defect(solve(system, (0.0, 0.4), method="RKMK4", h=0.1, retraction="cay").y[-1])
            < 1e-13
        )


# --- products and diagonals --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def triple() -> Action:
    return product_action(actions.SO3_ON_S2, actions.SE3_ON_TS2, actions.rn_on_rn(2))


def test_product(triple: Action) -> None:
    assert (triple.algebra, triple.point, triple.dimension) == (11, 11, 8)
    assert triple.group == "SO(3) x SE(3) x R^2"
    check_action(triple)
    y = point(triple)
    xi = np.random.default_rng(1).standard_normal(11)
    parts = [
        actions.SO3_ON_S2.exp_act(xi[:3], y[:3]),
        actions.SE3_ON_TS2.exp_act(xi[3:9], y[3:9]),
        xi[9:] + y[9:],
    ]
    np.testing.assert_allclose(triple.exp_act(xi, y), np.concatenate(parts), atol=1e-15)
    assert actions.is_transitive(triple, y)
    runs_to_order_five(triple, y)
    y[4] += 0.1
    with pytest.raises(ValueError, match="y is not on the unit sphere S.2 x TS.2"):
        triple.check(y)


def test_product_without_cayley_has_none() -> None:
    pair = product_action(actions.BODY_AND_LOAD, actions.SO3_ON_S2)
    assert pair.cay_act is None
    assert pair.dcayinv is None


def test_diagonal_action() -> None:
    """R and a vector turned together: the body's attitude and a direction fixed in it."""
    both = diagonal_action(actions.SO3_ON_SO3, actions.SO3_ON_R3)
    assert (both.algebra, both.point) == (3, 12)
    check_action(both)
    y = point(both)
    assert actions.orbit_dimension(both, y) == 3
    assert not actions.is_transitive(both, y)
    z = both.exp_act(np.array([0.3, -0.2, 0.5]), y)
    np.testing.assert_allclose(  # R' v is invariant
        z[:9].reshape(3, 3).T @ z[9:], y[:9].reshape(3, 3).T @ y[9:], atol=1e-14
    )
    runs_to_order_five(both, y)


def test_wrong_companions_are_refused() -> None:
    with pytest.raises(
        ValueError, match="must be of one group, got SE.3., SO.3.; use product_action"
    ):
        diagonal_action(actions.SO3_ON_S2, actions.SE3_ON_TS2)
    with pytest.raises(ValueError, match="at least two actions are needed, got 1"):
        product_action(actions.SO3_ON_S2)
    with pytest.raises(
        ValueError, match="every argument must be an Action, got <module .lielab.groups.so3"
    ):
        product_action(actions.SO3_ON_S2, lielab.so3)


# --- readers' own ------------------------------------------------------------------------------------


def test_matrix_groups_act() -> None:
    group = special_linear(2)
    itself, plane = matrix_action(group), matrix_action(symplectic(1), columns=1)
    check_action(itself)
    check_action(plane)
    assert itself.cay_act is None
    assert plane.cay_act is not None
    g = itself.sample(np.random.default_rng(2))
    system = system_on(itself, g)
    solution = solve(system, (0.0, 0.4), method="RKMK54", h=0.02)
    det = solution.y[:, 0] * solution.y[:, 3] - solution.y[:, 1] * solution.y[:, 2]
    assert np.abs(det - 1.0).max() < 1e-13
    runs_to_order_five(itself, g)
    with pytest.raises(ValueError, match="columns must be a whole number of at least 1, got 0"):
        matrix_action(group, columns=0)


def spiral_flow(u, y):
    """Frozen flow of u_0 E_1 + u_1 E_2 with E_1 the rotation and E_2 the scaling of the plane."""
    f, c, s = np.exp(u[1]), np.cos(u[0]), np.sin(u[0])
    return np.array([f * (c * y[0] - s * y[1]), f * (s * y[0] + c * y[1])])


def spiral_generator(u, y):
    return np.array([u[1] * y[0] - u[0] * y[1], u[0] * y[0] + u[1] * y[1]])


def affine_flow(u, y):
    """x -> a x + b as frozen flow of u_0 x d/dx + u_1 d/dx."""
    factor = np.expm1(u[0]) / u[0] if abs(u[0]) > 1e-8 else 1.0 + 0.5 * u[0]
    return np.array([np.exp(u[0]) * y[0] + factor * u[1]])


def affine_generator(u, y):
    return np.array([u[0] * y[0] + u[1]])


def test_frozen_frames_with_structure_constants() -> None:
    """celledoni (3)-(4). Commuting fields, and the affine group of the line with [e_0, e_1] = e_1."""
    common = {"manifold": "R^2", "algebra": 2}
    spiral = frozen_action(
        name="spirals",
        point=2,
        flow=spiral_flow,
        generator=spiral_generator,
        structure=np.zeros((2, 2, 2)),
        **common,
    )
    check_action(spiral)
    structure = np.zeros((2, 2, 2))
    structure[0, 1, 1], structure[1, 0, 1] = 1.0, -1.0
    affine = frozen_action(
        name="affine",
        point=1,
        flow=affine_flow,
        generator=affine_generator,
        structure=structure,
        **common,
    )
    check_action(affine)
    runs_to_order_five(affine, np.array([0.7]))
    wrong = frozen_action(
        name="affine",
        point=1,
        flow=affine_flow,
        generator=affine_generator,
        structure=-structure,
        **common,
    )
    report = check_action(wrong, require=False)
    assert "[X_u, X_v] = -X_[u, v] for the generators" in report.failures
    assert "dexpinv against differences" in report.failures


def test_structure_constants_are_checked() -> None:
    arguments = {
        "name": "x",
        "manifold": "R^2",
        "algebra": 2,
        "point": 2,
        "flow": spiral_flow,
        "generator": spiral_generator,
    }
    with pytest.raises(ValueError, match=r"structure must have shape \(2, 2, 2\), got \(2, 2\)"):
        frozen_action(structure=np.eye(2), **arguments)
    with pytest.raises(ValueError, match="antisymmetric"):
        frozen_action(structure=np.ones((2, 2, 2)), **arguments)


def test_frames_without_structure_are_checked_without_dexpinv() -> None:
    free = frozen_action(
        name="spirals",
        manifold="R^2",
        algebra=2,
        point=2,
        flow=spiral_flow,
        generator=spiral_generator,
    )
    assert check_action(free).skipped["dexpinv, bracket"].startswith("frame fields")
