"""Public checks of assignment 05: single steps of RKMK methods, and the slope that measures an order."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, order_seen

ROUNDING = (
    1e-13  # some hundred roundings of numbers of size 1; a method of lower order differs by 1e-4
)
SLOPE = 1e-9  # a least-squares line through logarithms

_Y = np.array([0.6, 0.0, 0.8])
_CONSTANT = np.array([0.0, 0.0, 1.0])


def _turning(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([y[1], np.cos(t), y[0] * y[2]])


def _quadrature(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([0.0, 0.0, t**3])


def _turned(angle: float) -> list[float]:
    return [0.6 * np.cos(angle), 0.6 * np.sin(angle), 0.8]


# Here and in `commutator_free`: what an assignment asks stands in one file, whose text tells whether it has changed.
def _order(step, finest: int) -> float:
    """The order that 8 and 16 steps show, against the finest."""
    ends = []
    for n in (8, 16, finest):
        y = _Y.copy()
        for k in range(n):
            y = array("a step returns a point", step(_turning, k / n, y, 1 / n), (3,))
        ends.append(y)
    return order_seen(ends)


def q1(lie_euler_step):
    """the Lie-Euler step"""
    got = lie_euler_step(lambda t, y: _CONSTANT, 0.0, _Y.copy(), 0.5)
    close(
        "a constant field is followed exactly",
        got,
        _turned(0.5),
        ROUNDING,
        "act with exp(h f)",
        slips=(
            (_turned(-0.5), "the field is turned round: exp(h f), not exp(-h f)"),
            (_turned(1.0), "the step h is missing"),
        ),
    )
    got = array("a step returns a point", lie_euler_step(_turning, 0.3, _Y.copy(), 0.5), (3,))
    close("the point stays on the sphere", got @ got, 1.0, ROUNDING, "act with exp, do not add")
    got = lie_euler_step(_quadrature, 2.0, _Y.copy(), 0.1)
    close(
        "the field is taken at the time t",
        got,
        _turned(0.8),
        ROUNDING,
        "f(t, y), at the start",
        slips=(
            (_turned(0.1 * 2.1**3), "that is the field at t + h"),
            (_turned(0.0), "that is the field at time 0"),
        ),
    )


def q2(rkmk4_step):
    """order four"""
    got = rkmk4_step(lambda t, y: _CONSTANT, 0.0, _Y.copy(), 0.5)
    close("a constant field is followed exactly", got, _turned(0.5), ROUNDING)
    got = rkmk4_step(_quadrature, 1.0, _Y.copy(), 1.0)
    close(
        "about a fixed axis it is Simpson's rule, exact for t^3",
        got,
        _turned(3.75),
        ROUNDING,
        "the stages are at t, t + h/2, t + h/2, t + h",
    )
    got = array("a step returns a point", rkmk4_step(_turning, 0.3, _Y.copy(), 0.5), (3,))
    close("the point stays on the sphere", got @ got, 1.0, ROUNDING)
    order = _order(rkmk4_step, 64)
    close(
        "halving the step divides the error by about 16: the order measured",
        order,
        4.0,
        0.4,
        f"order {order:.1f}: compare the four stages and the weights with the formula",
        slips=(
            (
                round(order) if abs(order - 2) < 0.5 else 99,
                "order 2: dexpinv is missing, or has the wrong sign",
            ),
            (
                round(order) if abs(order - 1) < 0.5 else 99,
                "order 1: the stages start from a wrong point or time",
            ),
        ),
    )

    close(
        "a step with h = 1/2, to the last digits",
        rkmk4_step(_turning, 0.3, _Y.copy(), 0.5),
        [0.8574511014205048, 0.1550258859016313, 0.4906572972790454],
        ROUNDING,
        "of order four, but another step: all of dexpinv, the classical stages and weights?",
    )


def q3(rkmk_step, lie_euler_step, rkmk4_step):
    """any tableau"""
    a = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]])
    b = np.array([1.0, 2.0, 2.0, 1.0]) / 6
    want = array("rkmk4_step returns a point", rkmk4_step(_turning, 0.3, _Y.copy(), 0.5), (3,))
    close(
        "the classical tableau gives your rkmk4_step",
        rkmk_step(a, b, _turning, 0.3, _Y.copy(), 0.5),
        want,
        ROUNDING,
    )
    want = array(
        "lie_euler_step returns a point", lie_euler_step(_turning, 0.3, _Y.copy(), 0.5), (3,)
    )
    got = rkmk_step(np.zeros((1, 1)), np.ones(1), _turning, 0.3, _Y.copy(), 0.5)
    close("one stage gives your lie_euler_step", got, want, ROUNDING)
    a, b = np.array([[0, 0, 0], [0.5, 0, 0], [-1.0, 2.0, 0]]), np.array([1.0, 4.0, 1.0]) / 6
    got = rkmk_step(a, b, _quadrature, 1.0, _Y.copy(), 1.0)
    close(
        "Kutta's tableau, full below the diagonal, is Simpson's rule about a fixed axis",
        got,
        _turned(3.75),
        ROUNDING,
        "the times are t + h times the row sums of a",
    )
    order = _order(lambda *rest: rkmk_step(a, b, *rest), 128)
    close("and has the order 3", order, 3.0, 0.4, "a stage sums all the stages before it")


def q4(observed_order):
    """measuring an order"""
    h = 2.0 ** -np.arange(1, 9)
    close(
        "errors 3 h^2 have the slope 2",
        observed_order(h, 3 * h**2, 0.0, 10.0),
        2.0,
        SLOPE,
        "the slope of log(error) over log(h)",
        slips=(
            (-2.0, "the axes are turned round, or the steps"),
            (0.5, "h over error: swap the two"),
        ),
    )
    spoilt = np.where(h < 0.02, 1e-3, h**2)
    close(
        "points outside low and high do not count",
        observed_order(h, spoilt, 2e-3, 0.3),
        2.0,
        SLOPE,
        "keep the points with low < error < high only",
    )
    h, errors = 2.0 ** -np.arange(4), 2.0 ** np.array([0.0, -3.0, -4.0, -5.0])
    close(
        "errors that scatter: the least-squares line",
        observed_order(h, errors, 0.0, 10.0),
        1.6,
        SLOPE,
        "not the line from end to end",
    )
    few = array("observed_order returns a number", observed_order(h, errors, 0.0, 0.1), ())
    close("NaN when fewer than three points are left", float(np.isnan(few)), 1.0, 0)


HINTS = {  # of a property whose test gives none
    "a constant field is followed exactly": "act with exp of the stages: adding leaves the sphere",
    "the classical tableau gives your rkmk4_step": "each stage after the first is bent by dexpinv(u_i)",
}
