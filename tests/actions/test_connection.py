"""The connection of an action: what splits, what moves alike, invariance, and other steps with the same flow."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.actions import (
    SE3_ON_TS2,
    SO3_ON_S2,
    SO3_ON_SO3,
    SO3N_ON_SPHERES,
    Connection,
    isotropy,
)
from lielab.systems import ActionSystem

RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    "action", [SO3_ON_S2, SE3_ON_TS2, SO3_ON_SO3, SO3N_ON_SPHERES], ids=lambda a: a.name
)
@pytest.mark.parametrize("weighted", [False, True])
def test_vertical_and_horizontal(action, weighted):
    y = {
        3: np.array([0.6, 0.0, 0.8]),
        6: np.array([0.6, 0.0, 0.8, 0.8, 2.0, -0.6]),
        9: so3.random(1).ravel(),
    }
    y = np.concatenate([y[3], [0, 1, 0]]) if action.blocks else y[action.point]
    n = action.algebra_dim(len(y))
    root = RNG.normal(size=(n, n))
    W = root @ root.T + n * np.eye(n) if weighted else np.eye(n)
    C = Connection(action, W if weighted else None)
    xi = RNG.normal(size=n)
    horizontal, vertical = C.horizontal(y, xi), C.vertical(y, xi)
    np.testing.assert_allclose(horizontal + vertical, xi, atol=1e-14)
    v = action.generator(xi, y)
    np.testing.assert_allclose(action.generator(horizontal, y), v, atol=1e-13)
    np.testing.assert_allclose(action.generator(vertical, y), 0.0, atol=1e-13)
    np.testing.assert_allclose(isotropy(action, y) @ W @ horizontal, 0.0, atol=1e-12)
    np.testing.assert_allclose(C.lift(y, v), horizontal, atol=1e-13)
    np.testing.assert_allclose(C.horizontal(y, horizontal), horizontal, atol=1e-13)


def test_on_the_sphere_it_is_ortolans():
    """xi - (xi . q) q, and with the invariant inner product it turns with the action."""
    C, q, xi, R = (
        Connection(SO3_ON_S2),
        np.array([0.6, 0.0, 0.8]),
        RNG.normal(size=3),
        so3.random(2),
    )
    np.testing.assert_allclose(C.horizontal(q, xi), xi - (xi @ q) * q, atol=1e-15)
    np.testing.assert_allclose(C.horizontal(R @ q, R @ xi), R @ C.horizontal(q, xi), atol=1e-15)


@pytest.mark.filterwarnings("ignore:.*could not be compiled")
def test_a_horizontal_field_has_the_same_flow_and_other_steps():
    def field(t, y, p):
        return np.array([1.0 + y[1], 0.5 * y[2], -0.3 + y[0] * y[1]])

    start = (0.0, 0.6, 0.8)
    plain = ActionSystem(SO3_ON_S2, field, start)
    flat = ActionSystem(SO3_ON_S2, Connection(SO3_ON_S2).field(field), start)
    ends = [lielab.solve(s, (0, 1), method="RKMK4", h=0.01).y[-1] for s in (plain, flat)]
    np.testing.assert_allclose(*ends, atol=1e-7)
    ends = [lielab.solve(s, (0, 1), method="RKMK4", h=0.25).y[-1] for s in (plain, flat)]
    assert np.abs(ends[0] - ends[1]).max() > 1e-7


def chosen(t, y, p):
    """The free body on its momentum sphere: horizontal f, and p_0 s q with s = (f' x q) . f / |f|^2."""
    I = np.array([1.0, 2.0, 3.0])
    f = -y / I
    f = f - (f @ y) * y
    dq = np.cross(f, y)
    df = -dq / I
    df = df + ((dq @ (y / I)) + (y @ (dq / I))) * y + (y @ (y / I)) * dq
    s = np.cross(df, y) @ f / (f @ f)
    return f + p[0] * s * y


def test_the_isotropy_part_raises_the_order_across_the_path_only():
    """Lewis & Olver, measured for Lie-Euler: the energy, which tells the orbit, gains an order, the point does not.

    A direction that turns steadily about an axis has constant speed: there the point gains it too.
    """
    I, q0 = np.array([1.0, 2.0, 3.0]), np.array([0.6, -0.3, 1.1])
    q0 = q0 / np.linalg.norm(q0)
    for part, orders in ((0.0, (1, 1)), (1.0, (1, 2))):
        system = ActionSystem(SO3_ON_S2, chosen, tuple(q0), p=(part,))
        exact = lielab.solve(system, (0, 2), rtol=1e-11, atol=1e-12).y[-1]
        ends = [lielab.solve(system, (0, 2), method="LieEuler", h=h).y[-1] for h in (0.01, 0.005)]
        off = [np.linalg.norm(y - exact) for y in ends]
        lost = [abs((y**2 / I).sum() - (q0**2 / I).sum()) for y in ends]
        np.testing.assert_allclose(np.log2([off[0] / off[1], lost[0] / lost[1]]), orders, atol=0.1)

    def steady(
        t, y, p
    ):  # q' = e3 x q, made horizontal, and p_0 times what was taken away: s is that of above
        return np.array([-y[2] * y[0], -y[2] * y[1], 1.0 - y[2] * y[2]]) + p[0] * y[2] * y

    for part, order in ((0.0, 1), (1.0, 0)):  # 0: exact
        system = ActionSystem(SO3_ON_S2, steady, (0.6, 0.0, 0.8), p=(part,))
        exact = so3.exp([0.0, 0.0, 1.0]) @ [0.6, 0.0, 0.8]
        errors = [
            np.linalg.norm(lielab.solve(system, (0, 1), method="LieEuler", h=h).y[-1] - exact)
            for h in (0.02, 0.01)
        ]
        if order == 1:
            assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)
        else:
            assert max(errors) < 1e-13


WRONG = [
    (lambda: Connection(None), "action must be an Action"),
    (lambda: Connection(SO3_ON_S2, np.ones(3)), "inner_product must be a finite matrix"),
    (lambda: Connection(SO3_ON_S2, -np.eye(3)), "symmetric and positive definite"),
    (
        lambda: Connection(SO3_ON_S2, np.eye(2)).horizontal([0, 0, 1.0], [1, 2, 3]),
        r"shape \(3, 3\) here",
    ),
    (lambda: Connection(SO3_ON_S2).lift([0, 0, 1.0], [0, 0, 1.0]), "v is not tangent to the orbit"),
    (lambda: Connection(SO3_ON_S2).lift([0, 0, 1.0], [0, 1.0]), "v must be 3 finite numbers"),
    (
        lambda: Connection(SO3_ON_S2).vertical([0, 0, 1.0], [np.nan] * 3),
        "xi must be 3 finite numbers",
    ),
    (lambda: Connection(SO3_ON_S2).field(3), "field must be a function"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
