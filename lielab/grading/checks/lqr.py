"""Public checks of assignment 13: the error of a state, a linearized step, the regulator's recursion, its torque."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, holds

ROUNDING = 1e-12  # some hundred roundings of numbers up to 10
SOLVED = 1e-9  # after solving small, well-conditioned systems, or log near half a turn

_QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # a quarter turn about e3
_TIP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # and one about e1


def q1(error):
    """the error of a state"""
    p = np.array([1.0, -2.0, 3.0])
    got = error(_QUARTER, p, _QUARTER, p)
    close("no error where the state is the reference", got, np.zeros(6), ROUNDING)
    got = array("error returns six numbers", error(_TIP, p, _TIP @ _QUARTER, p + 1.0), (6,))
    close(
        "a turn by pi/2 about the body's own e3",
        got[:3],
        [0, 0, np.pi / 2],
        ROUNDING,
        "the perturbation stands on the right of R_d: R = R_d exp(eta)",
    )
    close("the error of the momentum is p - p_d", got[3:], np.ones(3), ROUNDING)


def q2(slope):
    """the derivative of dcayinv"""
    m = np.array([1.0, 2.0, -1.0])
    want = [[0.0, -0.5, -1.0], [0.5, 0.0, 0.5], [1.0, -0.5, 0.0]]
    close(
        "at x = 0 it is the map d -> d x m / 2",
        slope(np.zeros(3), m),
        want,
        ROUNDING,
        "d x m = -m x d",
    )
    x = np.array([2.0, 0.0, 0.0])
    got = array("slope returns a matrix", slope(x, m), (3, 3))
    close("along x: x x m / (2 |x|) + x (x.m)/(2 |x|)", got[:, 0], [1.0, 0.5, 1.0], ROUNDING)


def q3(assemble):
    """the linearized step"""
    h = 0.1
    # Ld = (x1 - x0)^2/(2h) - h (x0^2 + x1^2)/4: an oscillator by the Verlet method
    inner, mixed = np.array([[1 / h - h / 2]]), np.array([[-1 / h]])
    want = [[1 - h**2 / 2, h], [-h + h**3 / 4, 1 - h**2 / 2]]
    close(
        "one step of an oscillator",
        assemble(inner, mixed, inner),
        want,
        ROUNDING,
        "0 = dp + D1D1 eta0 + D2D1 eta1",
    )
    first = np.array([[2.0, 1.0], [1.0, -1.0]])
    second = np.array([[0.0, 3.0], [3.0, 1.0]])
    A = array(
        "assemble returns a matrix",
        assemble(first, np.array([[-2.0, 1.0], [0.5, -1.0]]), second),
        (4, 4),
    )
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    close(
        "in flat space A is symplectic",
        A.T @ J @ A,
        J,
        SOLVED,
        "D1D2 is the transpose of D2D1",
    )


def q4(riccati):
    """the regulator's recursion"""
    one = np.eye(1)
    pair = riccati(one, one, one, one, one, 2)
    holds(
        "riccati returns a pair", isinstance(pair, (tuple, list)) and len(pair) == 2, "return K, P0"
    )
    # P: 1 -> 1 + 1/2 = 3/2 -> 1 + 3/5; gains 1/2 (used last) and 3/5 (used first)
    close("x' = x + u: the gains of two steps", pair[0], [[[0.6]], [[0.5]]], ROUNDING, "K_0 first")
    close("x' = x + u: P0 of two steps", pair[1], [[1.6]], ROUNDING)
    A, B = np.array([[1.0, 0.1], [0.2, 1.0]]), np.array([[0.0], [0.1]])
    Q, R, QN = np.diag([3.0, 1.0]), np.array([[0.5]]), np.diag([5.0, 2.0])
    K, P0 = riccati(A, B, Q, R, QN, 30)
    K = array("thirty gains", K, (30, 1, 2))
    x = first = np.array([1.0, -0.4])
    cost = 0.0
    for gain in K:
        u = -gain @ x
        cost += x @ Q @ x + u @ R @ u
        x = A @ x + B @ u
    cost += x @ QN @ x
    P0 = array("P0 is a matrix", P0, (2, 2))
    close("x0.P0 x0 is the cost of the run", first @ P0 @ first / cost, 1.0, SOLVED)


def q5(feedback):
    """the torque within its limits"""
    K, x = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([1.0, -3.0])
    close("u = u_d - K x", feedback(K, x, np.zeros(2), 100.0), [5.0, -3.0], ROUNDING)
    close("each component is clipped", feedback(K, x, np.zeros(2), 4.0), [4.0, -3.0], ROUNDING)
    close(
        "the sum is clipped, not its parts",
        feedback(K, x, np.array([1.0, -2.0]), 4.0),
        [4.0, -4.0],
        ROUNDING,
    )
