"""Public checks of assignment 08: slopes of a discrete action, the steps they make, and the symplectic form."""

from __future__ import annotations

import numpy as np

from ..testing import Failed, array, close, holds, order_seen

ROUNDING = 1e-12  # some ten roundings of numbers of size 1 to 10
SOLVED = 1e-11  # iterated to rounding; slips differ by 1e-5 and more
DIFFERENCES = 1e-7  # central differences with a step of 1e-5 lose 1e-10, one-sided ones 1e-5

_M = np.array([[1.0, 0.3], [0.3, 2.0]])
_Q0, _Q1, _P = np.array([0.3, -0.8]), np.array([0.5, 0.1]), np.array([0.7, -0.4])
_J = np.diag([1.0, 2.0, 2.5])
_PI, _S, _X = np.array([0.6, 1.0, -1.2]), np.array([0.2, -0.5, 0.9]), np.array([0.4, 0.1, 0.7])


def _potential(q):
    return q[0] ** 4 / 4 + q[0] * q[1] + np.cos(q[1])


def _gradient(q):
    return np.array([q[0] ** 3 + q[1], q[0] - np.sin(q[1])])


def _torque(R):
    """Of the potential V(R) = s . R x."""
    return -np.cross(_X, R.T @ _S)


def q1(slopes):
    """two slopes"""
    still = array("slopes returns two vectors", _slopes(slopes, _Q0, _Q0, 0.5, 0.25), (2, 2))
    gradient = _gradient(_Q0)
    close(
        "at rest only the force counts, by 1 - theta and theta",
        still,
        [-0.375 * gradient, -0.125 * gradient],
        ROUNDING,
        "L has the potential with a minus sign, and L_d a factor h",
    )
    for theta in (0.0, 0.3):
        got, e = _slopes(slopes, _Q0, _Q1, 0.5, theta), 1e-4
        want = np.zeros((2, 2))
        for i, d in enumerate(e * np.eye(2)):
            want[0, i] = _action(_Q0 + d, _Q1, theta) - _action(_Q0 - d, _Q1, theta)
            want[1, i] = _action(_Q0, _Q1 + d, theta) - _action(_Q0, _Q1 - d, theta)
        close(f"the slopes are those of L_d at theta = {theta:g}", got, want / (2 * e), DIFFERENCES)


def _action(q0, q1, theta, h=0.5):
    v = (q1 - q0) / h
    return h * (v @ _M @ v / 2 - _potential(q0 + theta * (q1 - q0)))


def _slopes(slopes, q0, q1, h, theta):
    return slopes(_M.copy(), _gradient, q0.copy(), q1.copy(), h, theta)


def q2(theta_step):
    """the step they make"""
    q, p = _theta(theta_step, _Q0, _P, 0.2, 0.0)
    close("theta = 0: a kick at the old position", p, _P - 0.2 * _gradient(_Q0), SOLVED)
    close("then a drift with the new momentum", q, _Q0 + 0.2 * np.linalg.solve(_M, p), SOLVED)
    q, p = _theta(theta_step, _Q0, _P, 0.2, 0.5)
    middle = np.stack([_Q0 + q, _P + p]) / 2
    close(
        "theta = 1/2: the midpoint rule",
        [(q - _Q0) / 0.2, (p - _P) / 0.2],
        [np.linalg.solve(_M, middle[1]), -_gradient(middle[0])],
        SOLVED,
        "iterate until q1 no longer changes",
    )
    q, p = _theta(theta_step, _Q0, _P, 0.2, 0.3)
    back = _theta(theta_step, q, p, -0.2, 0.7)
    close("theta is undone by 1 - theta and -h", back, [_Q0, _P], SOLVED)
    for theta in (0.3, 1.0):
        q, p = _theta(theta_step, _Q0, _P, 0.2, theta)
        slopes = np.zeros((2, 2))
        for i, d in enumerate(1e-4 * np.eye(2)):
            ends = [
                (_action(_Q0 + s * d, q, theta, 0.2), _action(_Q0, q + s * d, theta, 0.2))
                for s in (1, -1)
            ]
            slopes[:, i] = np.subtract(*ends) / 2e-4
        close(
            f"p0 = -D1 L_d and p1 = D2 L_d at theta = {theta:g}",
            [_P, p],
            slopes * [[-1], [1]],
            DIFFERENCES,
            "the slopes of q1 make the step",
        )


def _theta(step, q, p, h, theta):
    both = step(_M.copy(), _gradient, q.copy(), p.copy(), h, theta)
    return array("a step returns a position and a momentum", both, (2, 2))


def q3(form_defect):
    """is it symplectic?"""
    y = np.array([0.4, -0.3])
    close("a shear keeps areas", form_defect(lambda y: y + [y[1] ** 3, 0.0], y), 0.0, DIFFERENCES)
    close(
        "twice as wide: the area doubles",
        form_defect(lambda y: y * [2.0, 1.0], y),
        1.0,
        DIFFERENCES,
    )
    close(
        "where the map is curved",
        form_defect(lambda y: y + [y[0] ** 2, 0.0], y),
        0.8,
        DIFFERENCES,
        "central differences; a step of 1e-5 is about the best",
    )
    y = np.array([0.4, -0.3, 0.7, 0.2])
    kick = form_defect(lambda y: y - np.concatenate([np.zeros(2), _gradient(y[:2])]), y)
    close("a kick is symplectic", kick, 0.0, DIFFERENCES)
    bent = np.array([2.0, 0.5, 1.0, 1.0])
    close(
        "keeping the volume is not enough",
        form_defect(lambda y: bent * y, y),
        1.0,
        DIFFERENCES,
        "positions first, momenta last: Omega has blocks of size n",
    )
    turn = np.diag([1.0, 0.5, 1.0, 1.0])
    turn[3, 0] = 1.0
    close(
        "D^T Omega D, not D Omega D^T",
        form_defect(lambda y: turn @ y, y),
        0.5,
        DIFFERENCES,
        "a column of D for each direction",
    )


def q4(vlv_step):
    """the same on the rotations"""
    spin = np.array([0.0, 2.0, 0.0])
    R, pi = _vlv(vlv_step, lambda R: np.zeros(3), np.eye(3), spin, 0.2)
    # about a principal axis: pi = (1 + c^2 v^2) J v, and h v is twice the tangent of half the angle
    v = 2 * R[0, 2] / (1 + R[0, 0]) / 0.2
    close("spinning about a principal axis, the momentum stays", pi, spin, SOLVED)
    close("and belongs to the rotation", 2 * v * (1 + 0.01 * v**2), 2.0, SOLVED, "solve for v")
    start = _start()
    R, pi = _vlv(vlv_step, lambda R: np.zeros(3), start, _PI, 0.3)
    close("the attitude stays a rotation", R.T @ R, np.eye(3), SOLVED)
    close(
        "without a torque the momentum in space is kept",
        R @ pi,
        start @ _PI,
        SOLVED,
        "solved to the last digit? the signs of m x v?",
    )
    energy = [pi @ np.linalg.solve(_J, pi) / 2, _PI @ np.linalg.solve(_J, _PI) / 2]
    close("the energy is kept to a hundredth", energy[0], energy[1], 1e-2)
    R, pi = _vlv(vlv_step, _torque, start, _PI, 0.3)
    A, back = _vlv(vlv_step, _torque, R, pi, -0.3)
    close(
        "with a torque, a step and one with -h lead back",
        [*A, back],
        [*start, _PI],
        SOLVED,
        "half the kick at the old attitude, half at the new one",
    )
    ends = []
    for n in (4, 8, 32):
        R, pi = start, _PI
        for _ in range(n):
            R, pi = _vlv(vlv_step, _torque, R, pi, 0.8 / n)
        ends.append(np.vstack([R, pi]))
    # error c h^2 against the finest of three: (16 - 1/4)/(4 - 1/4) = 4.2
    close("halving the step divides the error by about 4", order_seen(ends), 2.07, 0.3)
    R1, pi1 = _vlv(vlv_step, _torque, start, _PI, 0.3)
    close(
        "a step with h = 0.3, to the last digits",
        [*R1, pi1],
        [
            [0.8282964347818642, -0.5423962060569528, 0.1404684013672694],
            [0.4721336107219550, 0.5406882998630070, -0.6962370401076778],
            [0.3016867079509836, 0.6430105116141372, 0.7039336703123549],
            [0.6239466102968166, 0.9333408936802070, -1.2851660029051922],
        ],
        SOLVED,
        "of the right order, but another step: cay, and both lines of the method",
    )
    E = [
        pi @ np.linalg.solve(_J, pi) / 2 + _S @ R @ _X,
        _PI @ np.linalg.solve(_J, _PI) / 2 + _S @ start @ _X,
    ]
    holds(
        "the energy with its potential stays close", abs(E[0] - E[1]) < 1e-3, f"{E[0] - E[1]:.1e}"
    )


def _start():
    """A rotation that is no special one: by 1 rad about (2, -1, 2)/3."""
    a, c, s = np.array([2.0, -1.0, 2.0]) / 3, np.cos(1.0), np.sin(1.0)
    return c * np.eye(3) + s * np.cross(a, np.eye(3)).T + (1 - c) * np.outer(a, a)


def _vlv(step, torque, R, pi, h):
    """One step, as a matrix and a vector."""
    what, both = (
        "a step returns an attitude and a momentum",
        step(_J.copy(), torque, R.copy(), pi.copy(), h),
    )
    if not isinstance(both, (tuple, list)) or len(both) != 2:
        raise Failed(what, "the function returned something else than a tuple of two")
    return array(what, both[0], (3, 3)), array(what, both[1], (3,))


HINTS = {  # of a property whose test gives none
    "theta = 0: a kick at the old position": "p0 = -D1 L_d has a minus sign; solve it for q1, then p1 = D2 L_d",
    "twice as wide: the area doubles": "build D column by column from differences of the map",
    "the slopes are those of L_d at theta = 0": "L_d has a factor h, and V a minus sign",
    "spinning about a principal axis, the momentum stays": "solve for v: iterate until it no longer changes",
    "a kick is symplectic": "all positions stand first, then all momenta: Omega has blocks of size n",
}
