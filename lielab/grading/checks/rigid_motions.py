"""Public checks of assignment 02: composition, adjoint, exp and log of SE(3), rotation first."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, holds

EXACT = 4e-15  # a few roundings of numbers of size 1
ROUNDING = 1e-13  # some hundred roundings; a wrong term of any kind is larger
RELATIVE = 1e-12  # of small quantities: a formula that cancels loses more
NEAR_PI = 1e-12  # the logarithm at a half turn

_HALF = np.pi / 2


def _motion(rows: list[list[float]], r: list[float]) -> np.ndarray:
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = rows, r
    return g


_TURN = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # a quarter turn about e3
_STAND = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def q1(compose, inverse):
    """one motion after another"""
    turn, move = _motion(_TURN, [0, 0, 0]), _motion(_STAND, [1, 0, 0])
    close(
        "first move by e1, then turn about e3: the origin ends at e2",
        array("compose is a 4x4 array", compose(turn.copy(), move.copy()), (4, 4))[:3, 3],
        [0, 1, 0],
        EXACT,
        "compose(g, h) does h first",
    )
    close(
        "first turn, then move: the origin ends at e1",
        array("compose is a 4x4 array", compose(move.copy(), turn.copy()), (4, 4))[:3, 3],
        [1, 0, 0],
        EXACT,
    )
    g = _motion(_TURN, [1, 2, 3])
    back = array("inverse is a 4x4 array", inverse(g.copy()), (4, 4))
    close("inverse(g) g is the identity", back @ g, np.eye(4), EXACT, "the translation is -R' r")


def q2(Ad):
    """the adjoint"""
    close("Ad of the identity is the identity", Ad(np.eye(4)), np.eye(6), EXACT)
    got = array("Ad is a 6x6 array", Ad(_motion(_STAND, [1, 0, 0])), (6, 6))
    close(
        "a turn about e3 through the origin, seen from a frame that sits at e1, carries a velocity e1 x e3 = -e2",
        got @ [0, 0, 1, 0, 0, 0],
        [0, 0, 1, 0, -1, 0],
        EXACT,
        "the lower left block is hat(r) R",
    )
    close("a pure translation stays one", got @ [0, 0, 0, 1, 2, 3], [0, 0, 0, 1, 2, 3], EXACT)
    got = array("Ad is a 6x6 array", Ad(_motion(_TURN, [0, 0, 0])), (6, 6))
    close("a turned frame turns both halves", got @ [1, 0, 0, 0, 1, 0], [0, 1, 0, -1, 0, 0], EXACT)

    got = array("Ad is a 6x6 array", Ad(_motion(_TURN, [1, 2, 3])), (6, 6))
    close(
        "a frame that is turned and moved: a turn about e1",
        got @ [1, 0, 0, 0, 0, 0],
        [0, 1, 0, -3, 0, 1],
        EXACT,
        "hat(r) R, not R hat(r): r is seen from outside",
    )


def q3(exp):
    """the exponential"""
    got = array("exp is a 4x4 array", exp(np.array([0, 0, _HALF, 1.0, 0, 0])), (4, 4))
    close("exp of a quarter turn about e3 holds that turn", got[:3, :3], _TURN, ROUNDING)
    close(
        "its translation is a quarter of a circle: (2, 2, 0)/pi",
        got[:3, 3],
        [2 / np.pi, 2 / np.pi, 0],
        ROUNDING,
        "the translation is V a, not a",
    )
    close("the last row is (0, 0, 0, 1)", got[3], [0, 0, 0, 1], EXACT)
    close("exp(0) is the identity", exp(np.zeros(6)), np.eye(4), EXACT, "0/0: use a series")
    axis = np.array([0.3, -0.2, 0.5])
    got = array("exp is a 4x4 array", exp(np.concatenate([axis, axis])), (4, 4))
    close("travel along the axis does not turn: V A = A", got[:3, 3], axis, ROUNDING)
    s, c = np.sin(10.0), np.cos(10.0)
    got = array("exp is a 4x4 array", exp(np.array([0, 0, 10.0, 1.0, 0, 0])), (4, 4))
    want = _motion([[c, -s, 0], [s, c, 0], [0, 0, 1]], [s / 10, (1 - c) / 10, 0])
    close("more than a turn: by 10 rad about e3", got, want, ROUNDING)
    n, travel = np.array([2.0, -1.0, 2.0]) / 3, np.array([0.0, 1.0, 0.0])
    for angle in (1e-2, 1e-5, 1e-9):
        got = array("exp is a 4x4 array", exp(np.concatenate([angle * n, travel])), (4, 4))
        turn = np.cross(n, travel) / 2 + angle * np.cross(n, np.cross(n, travel)) / 6
        close(
            f"travel turns by half the angle {angle:g}",
            (got[:3, 3] - travel) / angle,
            turn,
            RELATIVE + 2e-16 / angle + angle**2,
            "b = (1 - cos)/theta^2 and c = (theta - sin)/theta^3 lose their digits: use series",
        )
    for size in (1e-8, 1e8):
        u = np.array([0, 0, _HALF, size, 0, 0])
        got = array("exp is a 4x4 array", exp(u), (4, 4))
        want = [2 / np.pi, 2 / np.pi, 0]
        close(f"travel of size {size:g}, relative", got[:3, 3] / size, want, ROUNDING)


def q4(log):
    """the logarithm"""
    g = _motion(_TURN, [2 / np.pi, 2 / np.pi, 0])
    close("log of the quarter circle", log(g), [0, 0, _HALF, 1, 0, 0], ROUNDING, "a = V^-1 r")
    close("log of the identity is 0", log(np.eye(4)), np.zeros(6), EXACT, "0/0: use a series")
    close(
        "log of a pure translation is that translation",
        log(_motion(_STAND, [1, 2, 3])),
        [0, 0, 0, 1, 2, 3],
        EXACT,
    )
    half = _motion([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]], [2 / np.pi, 0, 1])
    found = array("log is a vector of six", log(half), (6,))
    sign = 1.0 if found[2] > 0 else -1.0
    holds("log of a half turn is finite", bool(np.isfinite(found).all()), f"got {found}")
    close(
        "log of a half turn about e3, with r = (2/pi, 0, 1): a = (0, -1, 1) for A = +pi e3",
        found,
        [0, 0, sign * np.pi, 0, -sign, 1],
        ROUNDING,
        "at pi the series is not needed: cot(pi/2) = 0",
    )
    n, r = np.array([2.0, -1.0, 2.0]) / 3, np.array([0.0, 1.0, 0.0])
    for angle in (1e-2, 1e-5, 1e-9):
        X = angle * np.cross(np.eye(3), n)
        found = array("log is a vector of six", log(_motion(np.eye(3) + X + X @ X / 2, r)), (6,))
        want = r - X @ r / 2 + X @ X @ r / 12
        slack = EXACT + angle**3  # the matrix is a rotation to this order
        close(f"the travel of log at the angle {angle:g}", found[3:], want, slack,
              "dexpinv_A r: d is 0/0 at zero, use its series")  # fmt: skip
    gap = 1e-7
    c, s = -np.cos(gap), np.sin(gap)
    g = _motion([[c, -s, 0], [s, c, 0], [0, 0, 1]], [s, 1 - c, 0])  # V (theta e1) about e3
    want = [0, 0, np.pi - gap, np.pi - gap, 0, 0]
    close("log of a turn by pi - 1e-7", log(g), want, NEAR_PI)
    for size in (1e-8, 1e8):
        found = array("log is a vector of six", log(_motion(_TURN, [size, size, 0])), (6,))
        close(
            f"log with travel of size {size:g}, relative", found[3:] / size, [_HALF, 0, 0], NEAR_PI
        )
