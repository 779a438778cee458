"""Public checks of assignment 07: the scaled error, the next step, the adaptive loop."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, holds

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


HINTS = {  # of a property whose test gives none
    "an error of 1 costs the safety factor": "h times 0.9 err^(-1/q)",
    "one row of ys for each time": "keep every accepted point",
}
