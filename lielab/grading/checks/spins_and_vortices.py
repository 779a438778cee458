"""Public checks of assignment 12: vortices and spins on (S^2)^n."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, order_seen

ROUNDING = 1e-11  # some hundred roundings; a wrong sign or factor differs by 0.01

_E = np.eye(3)


def _velocity(rates, points):
    return np.cross(array("rates of shape (n, 3)", rates, points.shape), points)


def q1(vortex_rates):
    """vortices"""
    q = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8]])
    got = _velocity(vortex_rates(q.copy(), np.array([1.0, 1.0])), q)
    rate = 0.8 / (2 * np.pi * 0.72)  # a pair turns about the sum of its strengths times places
    close(
        "two equal vortices turn about the axis between them",
        got,
        rate * np.cross(_E[2], q),
        ROUNDING,
        slips=((np.nan, "the sum leaves out j = i, where 1 - q_i . q_j is zero"),),
    )
    got = _velocity(vortex_rates(_E.copy(), np.array([1.0, 2.0, 0.0])), _E)
    want = np.array([[0.0, 0.0, -2.0], [0.0, 0.0, 1.0], [2.0, -1.0, 0.0]]) / (4 * np.pi)
    close(
        "a vortex of strength zero is carried along",
        got,
        want,
        ROUNDING,
        "the sum runs over the strengths of the others; seen from outside, a vortex of positive strength turns "
        "them counterclockwise about itself",
    )
    gap = 1e-8
    q = np.array([[1.0, 0.0, 0.0], [np.cos(gap), np.sin(gap), 0.0]])
    got = _velocity(vortex_rates(q, np.array([1.0, 1.0])), q)
    want = -1 / (2 * np.pi * gap)
    close("two vortices 1e-8 apart", got[0, 2] / want, 1.0, 1e-6, "use |q_i - q_j|^2 / 2")


def q2(vortex_energy, vortex_rates):
    """what vortices keep"""
    q = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    got = vortex_energy(q, np.array([2.0, 3.0]))
    want = -6 * np.log(4) / (4 * np.pi)
    close(
        "two vortices on opposite sides",
        got,
        want,
        ROUNDING,
        slips=(
            (want / 2, "the logarithm is that of the squared distance"),
            (2 * want, "every pair counts once: i < j"),
            (np.nan, "every pair of two: no vortex is paired with itself"),
        ),
    )
    q = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [0.0, -0.6, -0.8], [0.8, 0.6, 0.0]])
    strengths = np.array([1.0, -2.0, 0.5, 3.0])
    v = _velocity(vortex_rates(q, strengths), q)
    ends = []
    for s in (-2, -1, 1, 2):
        z = q + 1e-4 * s * v
        z = z / np.linalg.norm(z, axis=1)[:, None]
        ends.append(float(array("the energy is a number", vortex_energy(z, strengths), ())))
    slope = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-4
    close("it does not change along the motion of q1", slope, 0.0, 1e-8)


def q3(spin_rates):
    """spins"""
    m = np.array([[1.0, 0.0, 0.0]])
    got = _velocity(spin_rates(m, 0.0, 0.0, 2 * _E[2], 3.0, 0.0), m)
    close("one spin turns about the field with g B", got, [[0.0, 6.0, 0.0]], ROUNDING)
    got = _velocity(spin_rates(m, 0.0, 0.0, 2 * _E[2], 0.0, 1.0), m)
    close("friction alone turns it towards the field", got, [[0.0, 0.0, 2.0]], ROUNDING)
    got = _velocity(spin_rates(_E.copy(), 1.0, 0.0, 0 * _E[2], 1.0, 0.0), _E)
    close("the total moment of a free chain is conserved", got.sum(axis=0), np.zeros(3), ROUNDING)
    close("the first spin has one neighbour", got[0], -_E[2], ROUNDING)
    m = np.array([[0.6, 0.0, 0.8]])
    got = _velocity(spin_rates(m, 0.0, 0.5, 0 * _E[2], 1.0, 0.0), m)
    close("an easy axis", got, [[0.0, 0.48, 0.0]], ROUNDING, "2 K (m . e3) e3")


def q4(midpoint_step):
    """a step that stays on the spheres"""
    m = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    got = midpoint_step(lambda y: np.tile(_E[2], (len(y), 1)), m.copy(), 0.5)
    c, s = np.cos(0.5), np.sin(0.5)
    close(
        "constant rates are followed exactly",
        got,
        [[0.6 * c, 0.6 * s, 0.8], [-s, c, 0.0]],
        ROUNDING,
    )
    M = np.array([[0.0, 1.0, 0.5], [0.3, 0.0, 1.0], [1.0, -0.5, 0.2]])
    ends = []
    for n in (8, 16, 64):
        y = m.copy()
        for _ in range(n):
            y = array("points of shape (n, 3)", midpoint_step(lambda z: z @ M.T, y, 1 / n), (2, 3))
        ends.append(y)
    close("the points stay on the spheres", np.linalg.norm(ends[0], axis=1), np.ones(2), ROUNDING)
    close("halving the step divides the error by about 4", order_seen(ends), 2.0, 0.4)
    close(
        "a step with h = -1/2, to the last digits",
        midpoint_step(lambda z: z @ M.T, m.copy(), -0.5),
        [
            [0.1351670425156716, 0.1002231871731521, 0.9857409311631642],
            [-0.3394274966412594, 0.8624235358274548, -0.3755191331672978],
        ],
        ROUNDING,
        "of order two, but another step: exactly two exponentials, both of them from m",
    )


HINTS = {  # of a property whose test gives none
    "two equal vortices turn about the axis between them": "the sum over the others has a plus sign",
    "two vortices on opposite sides": "minus 1/(4 pi), and every pair once: i < j",
    "one spin turns about the field with g B": "-m x H = H x m, so xi = + g H",
    "the first spin has one neighbour": "nothing beyond the ends: no ring",
    "constant rates are followed exactly": "turn each point by exp(h xi), from the start and not from the midpoint",
    "halving the step divides the error by about 4": "take the rates again at the midpoint",
    "friction alone turns it towards the field": "xi has the part lambda m x H as well",
}
