"""Public checks of assignment 06: Crouch-Grossman, the commutator-free method of order four, the Lie midpoint rule."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, order_seen

ROUNDING = (
    1e-13  # some hundred roundings of numbers of size 1; a wrong order of factors differs by 1e-3
)
SOLVED = 1e-12  # an equation solved by iteration to rounding

_Y = np.array([0.6, 0.0, 0.8])


def _turning(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([y[1], np.cos(t), y[0] * y[2]])


def _power(degree: int):
    return lambda t, y: np.array([0.0, 0.0, t**degree])


def _turned(angle: float) -> list[float]:
    return [0.6 * np.cos(angle), 0.6 * np.sin(angle), 0.8]


def _order(step) -> float:
    """The order that 8 and 16 steps show, against 128."""
    ends = []
    for n in (8, 16, 128):
        y = _Y.copy()
        for k in range(n):
            y = array("a step returns a point", step(_turning, k / n, y, 1 / n), (3,))
        ends.append(y)
    return order_seen(ends)


def q1(crouch_grossman_step):
    """Crouch and Grossman"""
    a, b = (
        np.array([[0.0, 0, 0], [3 / 4, 0, 0], [119 / 216, 17 / 108, 0]]),
        np.array([13 / 51, -2 / 3, 24 / 17]),
    )
    got = crouch_grossman_step(a, b, lambda t, y: np.array([0, 0, 1.0]), 0.0, _Y.copy(), 0.5)
    close("a constant field is followed exactly", got, _turned(0.5), ROUNDING)
    got = crouch_grossman_step(a, b, _power(2), 0.0, _Y.copy(), 1.0)
    close(
        "about a fixed axis it integrates t^2 exactly",
        got,
        _turned(1 / 3),
        ROUNDING,
        "nodes are row sums of a",
    )
    _first_factor_first(crouch_grossman_step)
    close(
        "these coefficients have order 3",
        _order(lambda *rest: crouch_grossman_step(a, b, *rest)),
        3.0,
        0.3,
        "order 2: the factors stand in the wrong order; k_1 acts first",
    )


def _first_factor_first(step):
    """Quarter turns about e3 and then about e1 take e1 to e2 and then to e3."""
    quarter, points = np.pi / 2, []

    def field(t, y):
        points.append(np.array(y))
        return np.eye(3)[[2, 0, 1][len(points) - 1]]

    a = np.array([[0.0, 0, 0], [quarter, 0, 0], [quarter, quarter, 0]])
    end = step(a, np.array([quarter, quarter, 0.0]), field, 0.0, np.array([1.0, 0, 0]), 1.0)
    hint = "k_1 acts first: its factor stands on the right"
    close("the third stage turns by k_1, then by k_2", points[2], [0, 0, 1], ROUNDING, hint)
    close("the step turns by k_1, then by k_2", end, [0, 0, 1], ROUNDING, hint)


def q2(cf4_step):
    """the commutator-free method"""
    got = cf4_step(lambda t, y: np.array([0, 0, 1.0]), 0.0, _Y.copy(), 0.5)
    close("a constant field is followed exactly", got, _turned(0.5), ROUNDING)
    got = cf4_step(_power(3), 1.0, _Y.copy(), 1.0)
    close("about a fixed axis it is Simpson's rule, exact for t^3", got, _turned(3.75), ROUNDING)
    got = array("a step returns a point", cf4_step(_turning, 0.3, _Y.copy(), 0.5), (3,))
    close("the point stays on the sphere", got @ got, 1.0, ROUNDING)
    close(
        "halving the step divides the error by about 16",
        _order(cf4_step),
        4.0,
        0.4,
        "order 2: the last two exponentials are swapped; order 1: Y_4 starts from Y_2",
    )
    close(
        "a step with h = 1/2, to the last digits",
        cf4_step(_turning, 0.3, _Y.copy(), 0.5),
        [0.8574464167940186, 0.1549958821279310, 0.4906749625266026],
        ROUNDING,
        "of order four, but another step: compare stages and weights with the formula",
    )


def q3(midpoint_step):
    """the Lie midpoint rule"""
    got = midpoint_step(_power(1), 1.0, _Y.copy(), 1.0)
    close("about a fixed axis it is the midpoint rule, exact for t", got, _turned(1.5), ROUNDING)
    there = array("a step returns a point", midpoint_step(_turning, 0.3, _Y.copy(), 0.5), (3,))
    close("the point stays on the sphere", there @ there, 1.0, ROUNDING)
    back = midpoint_step(_turning, 0.8, there, -0.5)
    close(
        "a step with -h leads back to the start", back, _Y, SOLVED, "solve the equation to rounding"
    )
    close(
        "a step with h = 1/2, to the last digits",
        there,
        [0.8594774616306711, 0.1603835167335125, 0.4853613298451882],
        SOLVED,
        "symmetric, but another step: the field at the time and the point in the middle",
    )


HINTS = {  # of a property whose test gives none
    "a constant field is followed exactly": "all stages are the same there: the exponents add up to h f",
    "about a fixed axis it is Simpson's rule, exact for t^3": "four stages, at t, t + h/2, t + h/2, t + h",
    "about a fixed axis it is the midpoint rule, exact for t": (
        "the field at t + h/2 and at exp(h/2 xi) y; then act with exp(h xi)"
    ),
}
