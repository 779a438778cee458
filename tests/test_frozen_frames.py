"""Frames whose brackets are not known: methods without commutators run, the others say what they need."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab.actions import frozen_action
from lielab.systems import ActionSystem


def parabola(u, y):  # drift and kick: x' = u0 v, v' = u1 with u held fixed
    return np.array([y[0] + u[0] * y[1] + 0.5 * u[0] * u[1], y[1] + u[1]])


def along(u, y):
    return np.array([u[0] * y[1], u[1]])


def swing(t, y, p):
    return [1.0, -np.sin(y[0])]


@pytest.fixture(scope="module")
def pendulum() -> ActionSystem:
    action = frozen_action(
        name="parabolas", manifold="R^2", algebra=2, point=2, flow=parabola, generator=along
    )
    return ActionSystem(action, swing, (2.0, 0.0))


@pytest.mark.parametrize("method", ["LieEuler", "LieEulerHeun", "RKMK2", "CF4", "CG3"])
def test_methods_without_commutators_need_no_bracket(pendulum: ActionSystem, method: str) -> None:
    exact = lielab.solve(lielab.systems.SphericalPendulum(m=1, l=9.81), (0, 1), plane(2.0), h=1e-3)
    angle = np.arctan2(exact.q[-1, 0], -exact.q[-1, 2])
    errors = [
        abs(lielab.solve(pendulum, (0, 1), method=method, h=h).y[-1, 0] - angle)
        for h in (0.02, 0.01)
    ]
    order = lielab.methods()[method].order
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.35


def plane(theta: float) -> np.ndarray:
    return np.array([np.sin(theta), 0.0, -np.cos(theta), 0.0, 0.0, 0.0])


@pytest.mark.parametrize("method", ["RKMK3", "RKMK4", "RKMK4c2", "RKMK54", "LieMidpoint"])
def test_methods_with_commutators_are_refused(pendulum: ActionSystem, method: str) -> None:
    with pytest.raises(ValueError, match="parabolas has no bracket; use LieEuler, CF4"):
        lielab.solve(pendulum, (0, 1), method=method, h=0.1)


def test_orders_are_measured_without_a_bracket(pendulum: ActionSystem) -> None:
    study = lielab.diagnostics.order(pendulum, "CF4", t_end=1.0, steps=(4, 8, 16, 32, 64, 128))
    assert abs(study.order - 4) < 0.2
