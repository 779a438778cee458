"""Public checks of assignment 14: a reader's own action, field, method and drift."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, holds

_BACK = 1e-8  # exp(u) and exp(-u), rounded
_DIFFERENCE = 1e-6  # a central difference with step 1e-5


def q1(dimension, start, act, defect):
    """how your group moves your points
    The grade looks besides at random points, and at whether the order of two motions matters."""
    y, d = array("start is a point", start, np.shape(start)), int(dimension)
    u = np.linspace(0.3, -0.5, d)
    close("exp(0) moves nothing", act(0 * u, y), y, 1e-10)
    there = array("act returns a point", act(u, y), y.shape)
    close("exp(-u) leads back", act(-u, there), y, _BACK, "is it exp, or its first terms?")
    close("exp(u) exp(u/2) is exp(3u/2)", act(u, act(u / 2, y)), act(1.5 * u, y), _BACK)
    close("the defect is zero on the manifold", [defect(y), defect(there)], [0.0, 0.0], 1e-9)
    beside = array("the defect is a number", defect(y + 0.1), ())
    holds("and not beside it", bool(abs(beside) > 1e-3), f"at start + 0.1 it is {beside:.1e}")


def q2(dimension, start, act, velocity, field):
    """which motion your equation asks for
    The grade looks besides at random points and times."""
    y, d, e = array("start is a point", start, np.shape(start)), int(dimension), 1e-5
    u = array("field returns an element of the algebra", field(0.3, y), (d,))
    ends = [array("act returns a point", act(s * e * u, y), y.shape) for s in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * e)
    close(
        "the generator of your field is the velocity",
        velocity(0.3, y),
        slope,
        _DIFFERENCE,
        "differentiate act(s u, y) at s = 0",
        slips=((-slope, "the signs are turned: u x y, not y x u"),),
    )
    holds(
        "it moves", bool(np.linalg.norm(slope) > 1e-2), f"the speed is {np.linalg.norm(slope):.1e}"
    )


def q3(start, velocity, defect, order, step):
    """a method
    The grade looks besides at the motion of your velocity, found by many small steps, and at fifty steps in a row."""
    y = array("start is a point", start, np.shape(start))
    ends = []
    for n in (10, 20, 40, 160):
        z = y
        for k in range(n):
            z = array("step returns a point", step(k / n, z, 1 / n), y.shape)
        ends.append(z)
    close("the point stays on the manifold", defect(ends[0]), 0.0, 1e-10, "move it by act only")
    speed = np.linalg.norm(array("a velocity", velocity(0.0, y), y.shape))
    moved = np.linalg.norm(ends[3] - y)
    holds("the steps move the point", bool(moved > 0.01 * speed), f"by {moved:.1e} in a time of 1")
    errors = [np.linalg.norm(end - ends[3]) + 1e-16 for end in ends[:3]]
    slope = float(np.log2(errors[0] / errors[2]) / 2)
    holds(
        "the error falls as you say",
        bool(errors[2] < 1e-9 or slope > float(order) - 0.3),
        f"the order measured is {slope:.2f}",
        "are the stages at the right times, and is dexpinv needed?",
    )


def q4(start, step, invariant, drift):
    """what it keeps
    The grade looks besides at random points, and at whether the run goes somewhere."""
    y = array("start is a point", start, np.shape(start))
    first = array("invariant is a number", invariant(y), ())
    got = array("drift returns steps + 1 numbers", drift(0.05, 3), (4,))
    values = []
    for k in range(3):
        y = array("step returns a point", step(0.05 * k, y, 0.05), y.shape)
        values.append(array("invariant is a number", invariant(y), ()) - first)
    close(
        "it is the change of the invariant along the run",
        got,
        [0.0, *values],
        1e-10,
        "begin with 0",
    )
    other = array("invariant is a number", invariant(y + 0.1), ())
    holds("not every point has the same invariant", bool(abs(other - first) > 1e-6))


HINTS = {  # of a property whose test gives none
    "and not beside it": "it has to see that a point is off the manifold",
    "it moves": "a system at rest shows nothing: choose another start",
    "the steps move the point": "act with exp(h times the field)",
    "not every point has the same invariant": "a constant tells nothing",
    "the defect is zero on the manifold": "a point that the group moves has to stay on the manifold",
    "drift returns steps + 1 numbers": "the first one belongs to the start: it is 0",
}
