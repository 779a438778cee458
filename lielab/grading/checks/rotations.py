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
_E, _AXIS = np.eye(3), np.array([2.0, -1.0, 2.0]) / 3
_SIZES = (0.1, 1e-5, 1e-9, 1e-200)  # the square of the last is zero in floats


def _half_turn(axis: np.ndarray) -> np.ndarray:
    return 2 * np.outer(axis, axis) - np.eye(3)


def _rotation_about_e3(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _rotation(x: np.ndarray) -> np.ndarray:
    """Rodrigues' formula by half angles, for the rotations of q3."""
    t, X = np.linalg.norm(x), np.cross(np.eye(3), x)
    return np.eye(3) + np.sinc(t / np.pi) * X + np.sinc(t / 2 / np.pi) ** 2 / 2 * X @ X


def q1(hat, vee):
    """hat and vee"""
    x, y = np.array([1.0, -2.0, 0.5]), np.array([0.3, 4.0, -2.0])
    want = np.array([[0.0, -0.5, -2.0], [0.5, 0.0, -1.0], [2.0, 1.0, 0.0]])
    got = array("hat(x) is a 3x3 array", hat(x.copy()), (3, 3))
    close(
        "hat(x) y is the cross product x x y",
        got @ y,
        np.cross(x, y),
        ROUNDING,
        "if it is y x x, all signs are turned",
    )
    close(
        "hat((1, -2, 0.5)) is the matrix worked out by hand",
        got,
        want,
        EXACT,
        "its columns are x x e1, x x e2 and x x e3",
    )
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
    for size in _SIZES:
        x = size * _AXIS
        tiny = array("exp of a small vector is a 3x3 array", exp(x), (3, 3))
        hint = "do not return the identity for small angles"
        close(f"exp of a vector of length {size:g}", tiny, _rotation(x), EXACT, hint)
        close(
            f"exp of a vector of length {size:g} keeps its digits",
            (tiny - tiny.T) / 2 / size,
            np.sinc(size / np.pi) * np.cross(np.eye(3), _AXIS),
            RELATIVE,
            hint,
        )
    close("exp of one turn and a half", exp(3 * np.pi * _AXIS), _half_turn(_AXIS), ROUNDING)


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
    for size in _SIZES[:-1]:
        tiny = array("log of a small turn is a vector", log(_rotation(size * _AXIS)), (3,))
        close(
            f"log of a turn by {size:g} keeps its digits",
            tiny / size,
            _AXIS,
            RELATIVE,
            "arccos cannot: use atan2",
        )
    for name, axis in (("e1", _E[0]), ("e2", _E[1]), ("e3", _E[2]), ("n = (2, -1, 2)/3", _AXIS)):
        close_up_to_sign(
            f"log of a half turn about {name} is pi {name[:2].strip()} (either sign)",
            log(_half_turn(axis)),
            np.pi * axis,
            ROUNDING,
            "R - R^T is zero there; the axis is in R + I: take the largest diagonal entry",
        )
    for gap in (1.0, 1e-3, 1e-7, 1e-9):
        close(
            f"log of a turn by pi - {gap:g} about (2, -1, 2)/3",
            log(_rotation((np.pi - gap) * _AXIS)),
            (np.pi - gap) * _AXIS,
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
    # [e3, e1] = e2
    slope = array("dexpinv of a small vector is a 3x3 array", dexpinv(small), (3, 3))[1, 0]
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
    for size in _SIZES:
        A = array("dexpinv of a small vector is a 3x3 array", dexpinv(size * _AXIS), (3, 3))
        close(
            f"dexpinv of a vector of length {size:g}: the term [u, v]",
            (A - A.T) / 2 / size,
            -np.cross(np.eye(3), _AXIS) / 2,
            RELATIVE,
            "the factor is -1/2 at every size",
        )
        close(
            f"dexpinv of a vector of length {size:g}: what it does along e3 x u",
            A @ np.cross(_E[2], _AXIS) @ np.cross(_E[2], _AXIS),
            5 / 9 * (size / 2) / np.tan(size / 2),
            ROUNDING,
            "0/0 at theta = 0: use a series there",
        )
    cot = 3 / np.tan(3.0)
    close(
        "dexpinv of 6 e3, near the pole",
        dexpinv(6.0 * _E[2]),
        [[cot, 3.0, 0.0], [-3.0, cot, 0.0], [0.0, 0.0, 1.0]],
        NEAR_POLE,
        "a cut series is not enough: use the closed form",
    )
