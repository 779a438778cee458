"""Public checks of assignment 01: hat and vee, exp, log and dexpinv of SO(3)."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, close_up_to_sign, holds

EXACT = 1e-15  # no arithmetic, or none but one rounding
ROUNDING = 1e-13  # some hundred roundings of numbers of size 1; a wrong term of any kind is larger
RELATIVE = (
    1e-12  # of small quantities: a formula that cancels loses more, one with a series about 1e-16
)
NEAR_PI = 1e-12  # a logarithm through arccos keeps 1e-8 there, one that divides by sin(theta) 1e-16/(pi - theta)
NEAR_POLE = 1e-11  # dexpinv up to |u| = 6: the pole at 2 pi magnifies rounding some hundred times

_HALF = np.pi / 2


def _rotation_about_e3(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def q1(hat, vee):
    """hat and vee"""
    x, y = np.array([1.0, -2.0, 0.5]), np.array([0.3, 4.0, -1.0])
    want = np.array([[0.0, -0.5, -2.0], [0.5, 0.0, -1.0], [2.0, 1.0, 0.0]])
    got = array("hat(x) is a 3x3 array", hat(x.copy()), (3, 3))
    close(
        "hat(x) y is the cross product x x y",
        got @ y,
        np.cross(x, y),
        ROUNDING,
        "if it is y x x, all signs are turned",
    )
    close("hat((1, -2, 0.5)) is the matrix worked out by hand", got, want, EXACT)
    back = vee(want.copy())
    close(
        "vee takes it back to (1, -2, 0.5)",
        back,
        x,
        EXACT,
        "entries (3,2), (1,3) and (2,1), in this order",
    )


def q2(exp):
    """the exponential (Rodrigues)"""
    quarter = exp(np.array([0.0, 0.0, _HALF]))
    close(
        "exp of a quarter turn about e3 takes e1 to e2",
        quarter,
        _rotation_about_e3(_HALF),
        ROUNDING,
        "if it takes e1 to -e2, the rotation is the transpose of the right one",
    )
    x = np.array([0.4, -1.1, 0.7])
    R = array("exp(x) is a 3x3 array", exp(x.copy()), (3, 3))
    close(
        "exp(x) is orthogonal",
        R.T @ R,
        np.eye(3),
        ROUNDING,
        "a truncated series is not: use the closed form",
    )
    close("exp(x) keeps its axis: exp(x) x = x", R @ x, x, ROUNDING)
    close(
        "its angle is |x|: the trace is 1 + 2 cos|x|",
        np.trace(R),
        1 + 2 * np.cos(np.sqrt(1.86)),
        ROUNDING,
    )
    close(
        "exp(0) is the identity",
        exp(np.zeros(3)),
        np.eye(3),
        EXACT,
        "0/0 at theta = 0: use a series in theta^2 there",
    )
    tiny = array("exp of a small vector is a 3x3 array", exp(np.array([0.0, 0.0, 1e-9])), (3, 3))
    close(
        "exp((0, 0, 1e-9)) keeps the 1e-9",
        tiny[1, 0],
        1e-9,
        RELATIVE,
        "do not return the identity for small angles",
        scale=1e-9,
    )


def q3(log):
    """the logarithm"""
    close(
        "log of a quarter turn about e3",
        log(_rotation_about_e3(_HALF)),
        [0, 0, _HALF],
        ROUNDING,
        "the angle times the axis",
    )
    close(
        "log of the identity is 0",
        log(np.eye(3)),
        np.zeros(3),
        EXACT,
        "0/0 at theta = 0: use a series there",
    )
    tiny = array("log of a small turn is a vector", log(_rotation_about_e3(1e-9)), (3,))
    close(
        "log of a turn by 1e-9 keeps the 1e-9",
        tiny[2],
        1e-9,
        RELATIVE,
        "arccos cannot: use atan2",
        scale=1e-9,
    )
    for k in range(3):
        axis = np.eye(3)[k]
        close_up_to_sign(
            f"log of a half turn about e{k + 1} is pi e{k + 1} (either sign)",
            log(2 * np.outer(axis, axis) - np.eye(3)),
            np.pi * axis,
            ROUNDING,
            "R - R^T is zero there; the axis is in R + I: take the largest diagonal entry",
        )
    angle = np.pi - 1e-7
    close(
        "log of a turn by pi - 1e-7 about e3",
        log(_rotation_about_e3(angle)),
        [0, 0, angle],
        NEAR_PI,
        "the angle from atan2",
    )


def q4(dexpinv):
    """the inverse of dexp"""
    close(
        "dexpinv(0) is the identity",
        dexpinv(np.zeros(3)),
        np.eye(3),
        EXACT,
        "0/0 at theta = 0: use a series there",
    )
    u = np.array([0.4, -1.1, 0.7])
    got = array("dexpinv(u) is a 3x3 array", dexpinv(u.copy()), (3, 3))
    close("dexpinv_u u = u, since [u, u] = 0", got @ u, u, ROUNDING)
    small = 1e-3 * np.array([0.0, 0.0, 1.0])
    slope = array("dexpinv of a small vector is a 3x3 array", dexpinv(small), (3, 3))[
        1, 0
    ]  # [e3, e1] = e2
    holds(
        "dexpinv_u v begins with v - [u, v]/2",
        bool(abs(slope / 1e-3 + 0.5) < 1e-6),
        f"the factor of [u, v] is {slope / 1e-3:.3g}, not -0.5",
        "+1/2 belongs to the other trivialisation, dexpinv of -u",
    )
    quarter = np.pi / 4
    want = np.array([[quarter, quarter, 0.0], [-quarter, quarter, 0.0], [0.0, 0.0, 1.0]])
    got = dexpinv(np.array([0.0, 0.0, _HALF]))
    close(
        "dexpinv of a quarter turn about e3",
        got,
        want,
        ROUNDING,
        "a cut series is not enough: use the closed form",
    )
