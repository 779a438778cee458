"""Public checks of assignment 07: the scaled error, the next step, the adaptive loop."""

from __future__ import annotations

import numpy as np

from ..testing import array, arrays, close, holds, raises

ROUNDING = 1e-12  # some hundred roundings of numbers of size 1
NAN = float("nan")


def q1(scaled_error):
    """how large an error is"""
    e, y, z = np.array([3e-6, 0.0]), np.array([1.0, 5.0]), np.array([2.0, 0.0])
    got = scaled_error(e, y, z, 1e-6, 1e-6)
    close(
        "two components, one with an error",
        got,
        np.sqrt(0.5),
        ROUNDING,
        "mean over n; the larger of |y|, |z|",
    )
    got = scaled_error(np.array([-2e-3]), np.zeros(1), np.zeros(1), 1e-3, 1e-3)
    close("at zero only the absolute part counts", got, 2.0, ROUNDING)


def q2(next_step):
    """the next step"""
    close("an error of 1 costs the safety factor", next_step(0.1, 1.0, 5), 0.09, ROUNDING)
    close("an error of 2^5 halves the step, too", next_step(0.1, 32.0, 5), 0.045, ROUNDING)
    close("a tiny error: 5 times larger at most", next_step(0.1, 1e-20, 5), 0.5, ROUNDING)
    close("a huge error: 5 times smaller at most", next_step(-0.1, 1e20, 5), -0.02, ROUNDING)
    close("an error of zero lets it grow", next_step(0.1, 0.0, 5), 0.5, ROUNDING)
    close("a NaN shrinks it", next_step(0.1, NAN, 5), 0.02, ROUNDING)
    close("an infinite error shrinks it", next_step(-0.1, float("inf"), 5), -0.02, ROUNDING)


def q3(integrate):
    """the loop"""
    calls = []

    def step(t, y, h):
        calls.append((t, h))
        return y + h, 1.0 if abs(h) <= 0.25 else 40.0

    ts, ys, rejected = integrate(step, 0.0, 1.0, np.zeros(1), 0.25, 4)
    ts, ys = np.asarray(ts, dtype=float), np.asarray(ys, dtype=float)
    holds(
        "it starts at t0 and ends at exactly t1",
        bool(ts[0] == 0.0 and ts[-1] == 1.0),
        f"from {ts[0]} to {ts[-1]}",
    )
    holds(
        "no step goes past the end",
        all(t + h <= 1.0 + 1e-12 for t, h in calls),
        f"the steps tried: {calls}",
    )
    close("one row of ys for each time", array("ys has rows", ys, (len(ts), 1))[:, 0], ts, ROUNDING)
    close(
        "the second step follows next_step",
        ts[2] - ts[1],
        0.225,
        ROUNDING,
        "also after an accepted step",
    )
    close("nothing was rejected", rejected, 0, 0)
    _, _, rejected = integrate(step, 0.0, 1.0, np.zeros(1), 1.0, 4)
    holds(
        "steps that are too large are rejected and counted",
        bool(rejected >= 1),
        f"counted {rejected}",
    )
    _loop_in_full(integrate)


def _loop_in_full(integrate):
    """Each time, each rejection, backward, with NaN, and without hope."""

    def grow(t, y, h):
        return y + h, (0.9 / 2) ** 2  # of order 2: twice the step

    got = integrate(grow, 0.0, -1.0, np.zeros(1), -0.1, 2)
    ts, ys, count = arrays("times, points and a number", got, (5,), (5, 1), ())
    want = [0, -0.1, -0.3, -0.7, -1]
    hint = "each step follows next_step, and the last one is shortened to end at t1"
    close("backward, with a step that doubles: all times", ts, want, ROUNDING, hint)
    close("and all points", ys[:, 0], want, ROUNDING)
    close("none of them rejected", count, 0, 0)

    def undefined(t, y, h):
        return y, NAN if h > 0.3 else 0.9**2

    got = integrate(undefined, 0.0, 0.5, np.zeros(1), 1.0, 2)
    ts, _, count = arrays("times, points and a number", got, (6,), (6, 1), ())
    hint = "accept where err <= 1 is true; NaN > 1 is false as well"
    close("a NaN is rejected, and the step shrinks by 0.2", ts, np.arange(6) / 10, ROUNDING, hint)
    close("and counted once", count, 1, 0)

    def sharp(t, y, h):
        return y + h, abs(h) / 0.05 if 0.25 < t < 0.75 else abs(h) / 0.2

    got = integrate(sharp, 0.0, 0.6, np.zeros(1), 0.8, 1)
    want = [0, 0.18, 0.36, 0.405, 0.45, 0.495, 0.54, 0.585, 0.6]
    ts, _, count = arrays("times, points and a number", got, (9,), (9, 1), ())
    close("steps follow next_step after a rejection too", ts, want, ROUNDING)
    close("and every rejection is counted", count, 2, 0)
    hopeless = (lambda t, y, h: (y, 2.0)), 0.0, 1.0, np.zeros(1), 0.1, 2
    hint = "stop with an exception when a step falls below 1e-12"
    raises("a step that never becomes good ends in an exception", integrate, *hopeless, hint=hint)


HINTS = {  # of a property whose test gives none
    "an error of 1 costs the safety factor": "h times 0.9 err^(-1/q)",
    "one row of ys for each time": "keep every accepted point",
    "a tiny error: 5 times larger at most": "the factor lies between 0.2 and 5",
    "a NaN shrinks it": "what min and max make of a NaN depends on its place: ask np.isfinite first",
    "times, points and a number": "no step is left out and none too many: NaN is rejected, err <= 1 is accepted",
    "it starts at t0 and ends at exactly t1": "shorten a step that would go past t1 to t1 - t",
}
