"""Public checks of assignment 13: the error of a state, a linearised step, the regulator's recursion, its torque."""

from __future__ import annotations

import numpy as np

from ..testing import array, arrays, close

ROUNDING = 1e-12  # some hundred roundings of numbers up to 10
SOLVED = 1e-9  # after solving small, well-conditioned systems, or log near half a turn

DIFFERENCES = 1e-6  # of order 4, with a step of 4e-3, relative; a lost term differs by 1e-2
# D1D1 of q2 at x = (1, 0, 2), J = diag(1, 2, 3), h = 1/2
OWN = np.array([[12.875, 8.5, 17.75], [-16.5, 7.5, -0.75], [13.75, -9.25, 50.5]])

_QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # a quarter turn about e3
_TIP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # and one about e1


def q1(error):
    """the error along a run
    The grade looks besides at turns whose axis moves and at whole turns."""
    p = np.array([[1.0, -2.0, 3.0]])
    here = _QUARTER[None]
    close(
        "no error where the state is the reference",
        error(here, p, here, p),
        np.zeros((1, 6)),
        ROUNDING,
    )
    got = error(_TIP[None], p, (_TIP @ _QUARTER)[None], p + 1.0)
    quarter = [0, 0, np.pi / 2]
    close(
        "a turn by pi/2 about the body's own e3; the error of the momentum is p - p_d",
        got,
        [[*quarter, 1, 1, 1]],
        ROUNDING,
        "the perturbation stands on the right of R_d: R = R_d exp(eta)",
        slips=(
            (
                [[0, np.pi / 2, 0, 1, 1, 1]],
                "that is the turn seen from space: R_d^T R, not R R_d^T",
            ),
            ([[0, 0, 90, 1, 1, 1]], "angles are in radians"),
            (
                [[0, 0, -np.pi / 2, -1, -1, -1]],
                "the state relative to the reference, not the reverse",
            ),
            ([[*quarter, -1, -1, -1]], "p - p_d, not p_d - p"),
        ),
    )
    angles = np.linspace(0.1, 4.0, 14)
    c, s = np.cos(angles), np.sin(angles)
    R = np.array([[[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]] for x, y in zip(c, s, strict=True)])
    still, zero = np.tile(np.eye(3), (14, 1, 1)), np.zeros((14, 3))
    got = array("errors of shape (n, 6)", error(still, zero, R, zero), (14, 6))
    jump = np.where(angles > np.pi, angles - 2 * np.pi, angles)
    close(
        "beyond half a turn the error goes on growing",
        got[:, 2],
        angles,
        SOLVED,
        "add whole turns about the axis",
        slips=((jump, "it jumps at pi: take the vector that is next to the error before"),),
    )


def q2(second_derivatives):
    """the second derivatives of a step"""
    J, h = np.diag([1.0, 2.0, 3.0]), 0.5
    shapes = (3, 3), (3, 3), (3, 3)

    def found(x):
        got = second_derivatives(J.copy(), np.array(x), h)
        return arrays("second_derivatives returns D1D1, D2D1, D2D2", got, *shapes)

    own, mixed, last = found([0.0, 0.0, 0.0])
    close("at rest: D1D1 = J/h", own, J / h, ROUNDING, "m = J x/h changes with x")
    close("at rest: D2D1 = -J/h and D2D2 = J/h", [mixed, last], [-J / h, J / h], ROUNDING,
          "-D1 L_d is the momentum at the start, D2 L_d the one at the end")  # fmt: skip
    own, mixed, last = found([0.0, 0.0, 1.0])
    # about a principal axis dcayinv_x e3 = (1 + x^2/4) e3, and its transpose takes m to (J3/h) (x + x^3/4) e3
    close(
        "about a principal axis: (J3/h)(1 + 3 x^2/4)(1 + x^2/4) in D1D1",
        own[2, 2],
        6 * 1.75 * 1.25,
        ROUNDING,
        "the product rule: dcayinv^-T, and m, and then dcayinv for the change of x",
        slips=(
            (6 * 1.25**2, "x stands in dcayinv as well: differentiate it at constant m"),
            (6 * 1.75, "the change of x is dcayinv_x times eta, not eta"),
            (3 * 1.75 * 1.25, "m is J x/h"),
        ),
    )
    x = np.array([1.0, 0.0, 2.0])
    own, mixed, last = found(x)
    m = J @ x / h
    close(
        "D1D1 - D1D1^T = hat(D1 L_d)",
        own - own.T,
        np.cross(np.eye(3), -m - np.cross(x, m) / 2 - (x @ m) / 4 * x),
        ROUNDING,
        "dcayinv is not symmetric: the covector m meets its transpose, eta meets dcayinv itself",
    )
    turn = np.eye(3) + (np.cross(np.eye(3), x) + _square(x) / 2) / (1 + x @ x / 4)
    close(
        "if both attitudes turn alike in space, D1 L_d stays: D2D1 = -D1D1 cay(x)",
        mixed,
        -own @ turn,
        ROUNDING,
        "R_1 exp(eta) changes x by dcayinv of -x",
    )
    close(
        "... and D2 L_d stays: D2D2 = -D2D1^T cay(x)",
        last,
        -mixed.T @ turn,
        ROUNDING,
        "D2 L_d is dcayinv of -x, transposed, times m: differentiate this as well",
    )
    close(
        "D1D1 at x = (1, 0, 2)",
        own,
        OWN,
        ROUNDING,
        "compare with differences of D1 L_d",
    )


def _square(x):
    return np.outer(x, x) - x @ x * np.eye(3)


def q3(assemble):
    """the linearised step"""
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
    # where the second derivatives are not symmetric, as on a group
    first, mixed = np.array([[2.0, 1.0], [0.0, -1.0]]), np.array([[-2.0, 1.0], [0.5, -1.0]])
    second = np.array([[0.0, 3.0], [1.0, 1.0]])
    A = array("assemble returns a matrix", assemble(first, mixed, second), (4, 4))
    start = np.array([0.3, -0.2, 0.5, 0.7])
    end = A @ start
    hint = "leave D1D1 and D2D2 as they are: they need not be symmetric"
    line = start[2:] + first @ start[:2] + mixed @ end[:2]
    close("the first line holds for any matrices", line, np.zeros(2), ROUNDING, hint)
    line = mixed.T @ start[:2] + second @ end[:2]
    close("and the second line", end[2:], line, ROUNDING, hint)


def q4(riccati):
    """the regulator's recursion"""
    one = np.eye(1)
    pair = arrays(
        "riccati returns a pair",
        riccati(one, one, one, one, one, 2),
        (2, 1, 1),
        (1, 1),
        hint="return K, P0",
    )
    # P: 1 -> 1 + 1/2 = 3/2 -> 1 + 3/5; gains 1/2 (used last) and 3/5 (used first)
    close(
        "x' = x + u: the gains of two steps",
        pair[0],
        [[[0.6]], [[0.5]]],
        ROUNDING,
        "K_0 first",
        slips=(
            (np.zeros((2, 1, 1)), "an array of integers cuts off what is behind the point"),
            ([[[0.5]], [[0.6]]], "the recursion finds the last gain first: turn them round"),
            ([[[1.0]], [[1.0]]], "the weight R of the input is missing"),
        ),
    )
    close("x' = x + u: P0 of two steps", pair[1], [[1.6]], ROUNDING)
    A, B = np.array([[1.0, 0.1], [0.2, 1.0]]), np.array([[0.0], [0.1]])
    Q, R, QN = np.diag([3.0, 1.0]), np.array([[0.5]]), np.diag([5.0, 2.0])
    K, P0 = arrays("gains and P0", riccati(A, B, Q, R, QN, 30), (30, 1, 2), (2, 2))
    x = first = np.array([1.0, -0.4])
    cost = 0.0
    for gain in K:
        u = -gain @ x
        cost += x @ Q @ x + u @ R @ u
        x = A @ x + B @ u
    cost += x @ QN @ x
    close("x0.P0 x0 is the cost of the run", first @ P0 @ first / cost, 1.0, SOLVED)


def q5(regulate):
    """the torque within its limits
    The grade looks besides at both limits at once, and at several motors."""
    A, B, K = np.array([[1.0]]), np.array([[1.0]]), np.full((3, 1, 1), 0.5)
    x0, none = np.array([8.0]), np.zeros((3, 1))

    def run(u_d, limit, slew):
        got = regulate(A, B, K, x0, u_d, limit, slew)
        return arrays("states and torques", got, (4, 1), (3, 1))

    xs, us = run(none, 100.0, 100.0)
    close(
        "u = u_d - K x",
        us[:, 0],
        [-4, -2, -1],
        ROUNDING,
        slips=(([4, 6, 9], "the feedback pushes the error away: -K x"),),
    )
    close("the states of three steps, x0 first", xs[:, 0], [8, 4, 2, 1], ROUNDING)
    _, us = run(none, 3.0, 100.0)
    close("each component is clipped", us[:, 0], [-3, -2.5, -1.25], ROUNDING, "to [-limit, limit]")
    _, us = run(none, 100.0, 1.5)
    close(
        "it changes by at most slew",
        us[:, 0],
        [-1.5, -3, -1.75],
        ROUNDING,
        "from the torque given before",
    )
    xs, us = run(none + 2.0, 3.0, 100.0)
    close(
        "the sum is clipped, not its parts",
        us[:, 0],
        [-2, 0, 1],
        ROUNDING,
        "u_d has to fit in as well",
        slips=(([-1, 0.5, 1.25], "clip u_d - K x, not only K x"),),
    )
    close("the state feels u - u_d", xs[:, 0], [8, 4, 2, 1], ROUNDING, "x' = A x + B (u - u_d)")


HINTS = {  # of a property whose test gives none
    "u = u_d - K x": "the gain of each step times the state of that step",
    "x0.P0 x0 is the cost of the run": "the recursion begins with the weight QN of the end",
    "x' = x + u: P0 of two steps": "P0 is where the recursion ends, not where it begins",
}
