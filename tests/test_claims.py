"""`lielab.testing.same` and `velocity`, by which the book checks what it says."""

from __future__ import annotations

import numpy as np
import pytest

from lielab.systems import FreeRigidBody, HeavyTop, PendulumChain
from lielab.testing import same, velocity


def test_same_compares_entry_by_entry():
    same([1.0, 2.0], np.array([1.0, 2.0 + 5e-15]))
    same(np.eye(3), 1.0 + np.zeros((3, 3)), 1.1)
    same([1.0, 2.0], [1.0, 2.05], 0.1)
    with pytest.raises(AssertionError, match=r"differ by 2.0e-14; less than 1e-14 was expected"):
        same(0.0, 2e-14)
    with pytest.raises(AssertionError, match="differ by 1.0e"):
        same([1.0, 2.0], [1.0, 3.0], 1.0)  # not less


def test_same_takes_no_nan_for_a_number():
    with pytest.raises(AssertionError, match="nan"):
        same([1.0, np.nan], [1.0, 2.0], 10.0)


def test_velocity_is_the_right_side_of_the_equations():
    body = FreeRigidBody(inertia=(1.0, 2.0, 3.0))
    mu = np.array([0.3, -0.7, 1.1])
    same(velocity(body, mu), np.cross(mu, mu / np.array([1.0, 2.0, 3.0])), 1e-15)
    top = HeavyTop("left")
    y = top.y0 + np.append(np.zeros(9), [0.1, -0.2, 0.3])
    Q, Pi = y[:9].reshape(3, 3), y[9:]
    Omega = Pi / np.array(top.inertia)
    torque = top.M * top.l * np.cross(Q.T @ np.array(top.Gamma0), top.chi)
    x, z, w = Omega
    turn = Q @ np.array([[0, -w, z], [w, 0, -x], [-z, x, 0]])
    same(velocity(top, y), np.append(turn, np.cross(Pi, Omega) + torque), 1e-11)


def test_velocity_of_several_copies_of_an_action():
    chain = PendulumChain(3)
    v = velocity(chain, chain.y0)
    q, w = chain.y0.reshape(3, 2, 3).transpose(1, 0, 2)
    same(v.reshape(3, 2, 3)[:, 0], np.cross(w, q), 1e-14)


def test_velocity_takes_the_time():
    class Clock:
        formulations = {"action": FreeRigidBody().formulations["action"]}

    clock = Clock()
    mu = np.array([0.3, -0.7, 1.1])
    same(velocity(clock, mu, t=3.0), velocity(FreeRigidBody(), mu))


def test_velocity_needs_an_action():
    class Energy:
        formulations: dict = {}

        def __repr__(self) -> str:
            return "Energy()"

    with pytest.raises(ValueError, match=r"must have a formulation by an action, got Energy\(\)"):
        velocity(Energy(), [0.0])


def test_velocity_refuses_what_is_no_state():
    with pytest.raises(ValueError, match=r"y must be a state of shape \(3,\), got \(4,\)"):
        velocity(FreeRigidBody(), np.zeros(4))
