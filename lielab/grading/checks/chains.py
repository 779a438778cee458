"""Public checks of assignment 11: the chain of pendula in O(N)."""

from __future__ import annotations

import numpy as np

from ..testing import array, close

ROUNDING = 1e-11  # some thousand roundings; a sign or an index that is wrong differs by 0.1

_Q = np.array([[0.6, 0.0, -0.8], [0.0, 0.8, 0.6], [0.0, 0.0, -1.0]])
_W = np.array([[0.8, 1.0, 0.6], [0.5, -0.6, 0.8], [0.3, -0.2, 0.0]])
_M, _L, _G = np.array([1.0, 2.0, 0.5]), np.array([1.0, 0.5, 2.0]), 10.0
_ONE = np.array([[0.0, 0.0, -1.0]])


def q1(energy):
    """the energy"""
    got = energy(_ONE, 0 * _ONE, np.array([2.0]), np.array([3.0]), 10.0)
    close("one bob of 2 kg that hangs 3 m below: -60 J", got, -60.0, ROUNDING)
    got = energy(_ONE, np.array([[2.0, 0.0, 0.0]]), np.array([2.0]), np.array([3.0]), 0.0)
    close("turning with 2 rad/s, without gravity: 36 J", got, 36.0, ROUNDING)
    down = np.vstack([_ONE, _ONE])
    got = energy(down, 0 * down, np.array([1.0, 1.0]), np.array([1.0, 1.0]), 10.0)
    close("two bobs, 1 m and 2 m below", got, -30.0, ROUNDING, "the rods add up: cumulative sums")
    turning = np.tile([1.0, 0.0, 0.0], (2, 1))
    got = energy(down, turning, np.array([1.0, 1.0]), np.array([1.0, 1.0]), 0.0)
    close("two rods that turn alike: speeds 1 and 2 m/s", got, 2.5, ROUNDING)


def q2(tridiagonal):
    """a tridiagonal system"""
    got = tridiagonal(*np.array([[9.0], [2.0], [9.0], [6.0]]))
    close("one equation, 2 x = 6", got, [3.0], ROUNDING, "a[0] and c[-1] stand for nothing")
    a, b, c = np.array([0.0, 1.0, 2.0]), np.array([4.0, 5.0, 6.0]), np.array([1.0, -2.0, 0.0])
    right = np.array([4 * 1 + 1 * 2, 1 * 1 + 5 * 2 - 2 * 3, 2 * 2 + 6 * 3.0])
    kept = np.array([a, b, c, right])
    close("three equations", tridiagonal(a, b, c, right), [1.0, 2.0, 3.0], ROUNDING)
    close("the arguments are as they were", np.array([a, b, c, right]), kept, 0, "work on copies")


def q3(tensions):
    """the pulls of the rods"""
    got = tensions(_ONE, 0 * _ONE, np.array([2.0]), np.array([3.0]), 10.0)
    close("one bob at rest: m g", got, [20.0], ROUNDING)
    got = tensions(_ONE, np.array([[1.0, 0.0, 0.0]]), np.array([2.0]), np.array([3.0]), 0.0)
    close("one bob that turns: m L |w|^2", got, [6.0], ROUNDING)
    down = np.tile(_ONE, (3, 1))
    got = tensions(down, 0 * down, _M, _L, _G)
    close("at rest a rod carries what hangs below it", got, [35.0, 25.0, 5.0], ROUNDING)


def q4(accelerations, energy):
    """how the rods turn"""
    got = accelerations(np.array([[0.6, 0.0, -0.8]]), np.zeros((1, 3)), *np.ones((2, 1)), 10.0)
    close("one pendulum: (g/L) sin(angle)", got, [[0.0, 6.0, 0.0]], ROUNDING, "q x (-g e3) / L")
    dw = array("w' has shape (n, 3)", accelerations(_Q, _W, _M, _L, _G), (3, 3))
    close("each w' is across its rod", (dw * _Q).sum(axis=1), np.zeros(3), ROUNDING)
    # along the motion the energy does not change: a central difference of order 4
    ends = []
    for s in (-2, -1, 1, 2):
        h = 1e-3 * s
        bend = np.cross(dw, _Q) + np.cross(_W, np.cross(_W, _Q))
        q = _Q + h * np.cross(_W, _Q) + h * h / 2 * bend
        q = q / np.linalg.norm(q, axis=1)[:, None]
        ends.append(float(array("the energy is a number", energy(q, _W + h * dw, _M, _L, _G), ())))
    slope = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-3
    close("the energy of q1 is conserved", slope, 0.0, 1e-4, "compare the signs in q3 and q4")


HINTS = {  # of a property whose test gives none
    "one bob of 2 kg that hangs 3 m below: -60 J": "m g times the height, which is negative below the fixed point",
    "one bob that turns: m L |w|^2": "the rod has to keep its length: L |w|^2 on the right-hand side",
}
