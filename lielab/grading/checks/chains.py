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
    """the energy
    The grade looks besides at a hundred thousand links."""
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
    """a tridiagonal system
    The grade looks besides at a hundred thousand equations."""
    got = tridiagonal(*np.array([[9.0], [2.0], [9.0], [6.0]]))
    close("one equation, 2 x = 6", got, [3.0], ROUNDING, "a[0] and c[-1] stand for nothing")
    a, b, c = np.array([0.0, 1.0, 2.0]), np.array([4.0, 5.0, 6.0]), np.array([1.0, -2.0, 0.0])
    right = np.array([4 * 1 + 1 * 2, 1 * 1 + 5 * 2 - 2 * 3, 2 * 2 + 6 * 3.0])
    kept = np.array([a, b, c, right])
    close("three equations", tridiagonal(a, b, c, right), [1.0, 2.0, 3.0], ROUNDING)
    close("the arguments are as they were", np.array([a, b, c, right]), kept, 0, "work on copies")


def q3(tensions):
    """the pulls of the rods
    The grade looks besides at fifty thousand rods."""
    got = tensions(_ONE, 0 * _ONE, np.array([2.0]), np.array([3.0]), 10.0)
    close("one bob at rest: m g", got, [20.0], ROUNDING)
    got = tensions(_ONE, np.array([[1.0, 0.0, 0.0]]), np.array([2.0]), np.array([3.0]), 0.0)
    close("one bob that turns: m L |w|^2", got, [6.0], ROUNDING)
    down = np.tile(_ONE, (3, 1))
    got = tensions(down, 0 * down, _M, _L, _G)
    close("at rest a rod carries what hangs below it", got, [35.0, 25.0, 5.0], ROUNDING)
    T = array("tensions have shape (n,)", tensions(_Q, _W, _M, _L, _G), (3,))
    pull = T[:, None] * _Q
    a = (np.vstack([pull[1:], np.zeros((1, 3))]) - pull) / _M[:, None] - [0.0, 0.0, _G]
    bend = np.diff(a, axis=0, prepend=np.zeros((1, 3)))
    close(
        "moving rods keep their lengths: q . q'' = -|w|^2",
        (bend * _Q).sum(axis=1),
        -_L * (_W * _W).sum(axis=1),
        ROUNDING,
        "neighbours enter by the cosine between them, over the mass of the bob that they share",
    )


def q4(accelerations, energy):
    """how the rods turn
    The grade looks besides at fifty thousand rods."""
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
    close(
        "w' of three rods that move",
        dw,
        [
            [-2.182204928664073, 7.227490272373540, -1.636653696498055],
            [-15.30544747081712, 8.378390661478598, -11.17118754863813],
            [-0.681939040207523, 0.0, 0.0],
        ],
        ROUNDING,
        "each neighbour pulls on the bob between: its tension over the mass of that bob",
    )


HINTS = {  # of a property whose test gives none
    "one bob of 2 kg that hangs 3 m below: -60 J": "m g times the height, which is negative below the fixed point",
    "one bob that turns: m L |w|^2": "the rod has to keep its length: L |w|^2 on the right-hand side",
    "three equations": "one sweep down takes the a's away, one up puts the x's in",
    "at rest a rod carries what hangs below it": "both neighbours enter with a minus sign",
    "one bob at rest: m g": "1/m_0 is 0, and gravity enters the first equation with - g e3 . q_1",
}
