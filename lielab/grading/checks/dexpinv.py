"""Public checks of assignment 03: ad, the series, the closed form of dexpinv on SE(3), and how much is needed."""

from __future__ import annotations

import numpy as np

from ..testing import array, close

EXACT = 1e-15  # no arithmetic, or none but one rounding
ROUNDING = 1e-13  # some hundred roundings of numbers of size 1; a wrong term of any kind is larger
RELATIVE = 1e-12  # a formula that cancels loses more
NEAR_POLE = 1e-10  # up to an angle of 6: the double pole of the lower block magnifies rounding

_HALF = np.pi / 2


def _cross(x):
    return np.cross(np.eye(3), x)


def q1(ad):
    """the bracket"""
    u = np.array([1.0, 0, 0, 0, 0, 1])
    got = array("ad(u) is a 6x6 array", ad(u.copy()), (6, 6))
    close("[u, u] = 0", got @ u, np.zeros(6), EXACT)
    close("a turn about e1 turns e2 to e3", got @ [0, 1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0], EXACT,
          "the lower half is A x b - B x a")  # fmt: skip
    close("a translation is turned", got @ [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1], EXACT)


def q2(bernoulli, dexpinv_series):
    """the series"""
    close("B_0 = 1", bernoulli(0), 1.0, EXACT)
    close("B_1 = -1/2", bernoulli(1), -0.5, EXACT, "+1/2 belongs to the other trivialisation")
    close("B_2 = 1/6", bernoulli(2), 1 / 6, EXACT)
    close("B_3 = 0", bernoulli(3), 0.0, EXACT)
    close(
        "B_12 = -691/2730",
        bernoulli(12),
        -691 / 2730,
        RELATIVE,
        "in floats the recursion loses digits",
    )
    u = np.array([0.0, 0, 1, 0, 0, 0])
    close("cut after 0 it is the identity", dexpinv_series(u.copy(), 0), np.eye(6), EXACT)
    got = array("dexpinv_series(u, 2) is a 6x6 array", dexpinv_series(u.copy(), 2), (6, 6))
    close(
        "cut after 2, for a turn about e3: (1 - ad/2 + ad^2/12) e1",
        got @ [1, 0, 0, 0, 0, 0],
        [11 / 12, -1 / 2, 0, 0, 0, 0],
        ROUNDING,
        "the factor of ad^k is B_k / k!",
    )
    got = array("dexpinv_series(u, 5) is a 6x6 array", dexpinv_series(2 * u, 5), (6, 6))
    close(
        "cut after 5, for a turn by 2: B_4 and 4! as well, and nothing of ad^3",
        got @ [1, 0, 0, 1, 0, 0],
        [1 - 4 / 12 - 16 / 720, -1, 0, 1 - 4 / 12 - 16 / 720, -1, 0],
        ROUNDING,
    )


def q3(dexpinv):
    """the closed form"""
    close("dexpinv(0) is the identity", dexpinv(np.zeros(6)), np.eye(6), EXACT, "0/0: use a series")
    u = np.array([0.4, -1.1, 0.7, 0.3, 0.2, -0.5])
    got = array("dexpinv(u) is a 6x6 array", dexpinv(u.copy()), (6, 6))
    close("dexpinv_u u = u, since [u, u] = 0", got @ u, u, ROUNDING)
    quarter = np.pi / 4
    want = np.array([[quarter, quarter, 0.0], [-quarter, quarter, 0.0], [0.0, 0.0, 1.0]])
    got = array("dexpinv(u) is a 6x6 array", dexpinv(np.array([0, 0, _HALF, 0, 0, 1.0])), (6, 6))
    close("a quarter turn about e3: the upper left block", got[:3, :3], want, ROUNDING)
    close("... and the lower right block is the same", got[3:, 3:], want, ROUNDING)
    # d/dtheta of (theta/2) cot(theta/2) at pi/2 is 1/2 - pi/4
    slope = 0.5 - np.pi / 4
    close(
        "travel along the axis: the lower left block is the derivative in the angle",
        got[3:, :3],
        [[slope, 0.5, 0], [-0.5, slope, 0], [0, 0, 0]],
        ROUNDING,
        "the term 2 (A . a) c' is easily lost",
    )
    n, turn, move = np.array([2.0, -1.0, 2.0]) / 3, _cross([2, -1, 2]) / 3, _cross([0.6, 0, 0.8])
    for angle in (1e-4, 1e-9):
        u = np.array([*(angle * n), 0.6, 0.0, 0.8])
        got = array("dexpinv(u) is a 6x6 array", dexpinv(u), (6, 6))
        close(
            f"the second commutator at the angle {angle:g}",
            (got[3:, :3] + move / 2) / angle,
            (move @ turn + turn @ move) / 12,
            RELATIVE + 2e-16 / angle + angle**2,
            "c' cancels badly: use the series",
        )
    cot, sine = 1 / np.tan(3.0), np.sin(3.0)
    got = array("dexpinv(u) is a 6x6 array", dexpinv(np.array([0, 0, 6, 0, 0, 1.0])), (6, 6))
    want = [[3 * cot, 3, 0], [-3, 3 * cot, 0], [0, 0, 1]]
    close("near the pole, at the angle 6", got[:3, :3], want, NEAR_POLE)
    slope = cot / 2 - 1.5 / sine**2
    want = [[slope, 0.5, 0], [-0.5, slope, 0], [0, 0, 0]]
    close("... and its lower left block", got[3:, :3], want, NEAR_POLE)
    for size in (1e-8, 1e8):
        got = array("dexpinv(u) is a 6x6 array", dexpinv(np.array([0, 0, 6, 0, 0, size])), (6, 6))
        close(f"travel of size {size:g}, relative", got[3:, :3] / size, want, NEAR_POLE)


def q4(commutators_needed):
    """how much of it a method needs"""
    close("a method of order 1 needs none", commutators_needed(1), 0, 0)
    close("a method of order 2 needs one", commutators_needed(2), 1, 0)
    close("a method of order 3 needs two", commutators_needed(3), 2, 0)
    close("... and so does one of order 4", commutators_needed(4), 2, 0, "B_3 = 0")


HINTS = {  # of a property whose test gives none
    "[u, u] = 0": "both halves of [u, v] are cross products",
    "a quarter turn about e3: the upper left block": "the first commutator has a minus sign; do not cut the series",
    "a method of order 1 needs none": "an error of h^(p+1) in a step may be made: cut what is of size h^p",
    "a method of order 3 needs two": "terms up to ad^(p-1) count, as far as they are there",
    "B_0 = 1": "start the recursion with B_0 = 1",
}
