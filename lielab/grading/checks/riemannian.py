"""Public checks of assignment 09: curvature functions, a generating function and the steps that follow from it."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, order_seen

CURVATURE = 1e-11  # g1 and g2 grow to 7 near the pole at pi, and their roundings with them
ROUNDING = 1e-12  # some hundred roundings of numbers of size 1 to 10
STEP = 1e-11  # a fixed point to rounding, divided by steps of 0.05; slips differ by 1e-5 and more

_G = np.array([[1.0, 0.2, 0.0], [0.2, 1.6, -0.1], [0.0, -0.1, 0.6]])
_S = np.array([0.3, -0.4, 0.7])
_Q, _V = np.array([0.6, 0.0, 0.8]), np.array([0.4, 0.5, -0.3])
_J = np.diag([1.0, 2.0, 3.0])


def q1(curvature):
    """two curvature functions"""
    half = np.pi / 2
    close(
        "g1 and g2 at a right angle",
        curvature(half),
        [(half - 1) / half**2, -1 / half**2],
        CURVATURE,
    )
    z = 2.5
    want = [(z / np.sin(z) - 1) / z**2, (z / np.tan(z) - 1) / z**2]
    close("g1 and g2 at 2.5", curvature(z), want, CURVATURE, "a few terms do not reach so far")
    for z in (0.0, 1e-9, 1e-6):
        close(
            f"g1 is 1/6 and g2 is -1/3 at {z:g}",
            curvature(z),
            [1 / 6, -1 / 3],
            CURVATURE,
            "sum the series of (z - sin z)/z^3 and (cos z - 1)/z^2",
        )
    z = 0.01
    close(
        "at 0.01 the next term of the series shows",
        curvature(z),
        [
            1 / 6 + 7 * z**2 / 360 + 31 * z**4 / 15120,
            -1 / 3 - z**2 / 45 - 2 * z**4 / 945,
        ],
        CURVATURE,
    )


def q2(sharp):
    """from covector to tangent vector"""
    z = array("sharp returns a vector", sharp(_G, _Q, _S), (3,))
    close("the vector is tangent", z @ _Q, 0.0, ROUNDING)
    for e in np.eye(3):
        eta = np.cross(_Q, e)
        close(
            "the metric pairs it with tangent vectors as the covector does",
            z @ _G @ eta,
            _S @ eta,
            ROUNDING,
            "divide by the metric, not only project",
        )


def q3(generating_function):
    """the generating function"""
    x, y = np.eye(3)[:2]
    G = np.diag([1.0, 3.0, 1.0])
    # from e1 to e2: w = (pi/2) e2, w' = (pi/2) e1
    close(
        "a quarter of a great circle",
        generating_function(G, np.zeros(3), x, y, 0.5),
        np.pi**2 / 2,
        ROUNDING,
        "the way back counts as much as the way there, and w is as long as the arc",
    )
    close(
        "the potential at both ends",
        generating_function(G, np.array([1.0, 2.0, 5.0]), x, y, 0.5) - np.pi**2 / 2,
        -0.75,
        ROUNDING,
    )


def q4(leapfrog_step):
    """a step on the ellipsoid"""
    q, v = _taken(leapfrog_step, np.eye(3), np.zeros(3), _Q, _V, 0.2)
    size = np.linalg.norm(_V)
    circle = np.cos(0.2 * size) * _Q + np.sin(0.2 * size) * _V / size
    close("no force, round metric: a great circle", q, circle, STEP)
    q, v = _taken(leapfrog_step, _G, _S, _Q, _V, 0.2)
    close("the point stays on the sphere, the velocity tangent", [q @ q, q @ v], [1, 0], STEP)
    back = _taken(leapfrog_step, _G, _S, q, v, -0.2)
    close(
        "a step and one with -h lead back",
        np.stack(back),
        [_Q, _V],
        STEP,
        "iterate until w no longer changes; both halves use the same A",
    )
    ends = []
    for n in (4, 8, 32):
        q, v = _Q, _V
        for _ in range(n):
            q, v = _taken(leapfrog_step, _G, _S, q, v, 0.4 / n)
        ends.append(np.concatenate([q, v]))
    # error c h^2 against the finest of three: (16 - 1/4)/(4 - 1/4) = 4.2
    close("halving the step divides the error by about 4", order_seen(ends), 2.07, 0.3)
    energy = [v @ _G @ v / 2 + _S @ q, _V @ _G @ _V / 2 + _S @ _Q]
    close(
        "the energy is kept to a thousandth",
        energy[0],
        energy[1],
        1e-3,
        "the factor of (q^T G w) w is 1, not 1/2",
    )
    close(
        "a step with h = 0.2, to the last digits",
        np.stack(_taken(leapfrog_step, _G, _S, _Q, _V, 0.2)),
        [
            [0.6777816660941689, 0.1047387059329293, 0.7277649459723297],
            [0.3781044016742717, 0.5469452686294885, -0.4308514345353473],
        ],
        STEP,
        "compare the three lines of A, their signs and factors",
    )


def _taken(step, *arguments):
    """One step, as two vectors."""
    both = array(
        "a step returns a point and a velocity", step(*(np.copy(x) for x in arguments)), (2, 3)
    )
    return both[0], both[1]


def q5(lie_poisson_step):
    """the Lie-Poisson algorithm"""
    pi = np.array([0.6, 1.0, -1.2])
    spin = np.array([0.0, 2.0, 0.0])
    found = array("the step returns two vectors", lie_poisson_step(_J, spin, 0.3), (2, 3))
    close("spinning about a principal axis", found, [[0.0, 0.3, 0.0], spin], STEP)
    found = array("the step returns two vectors", lie_poisson_step(_J, pi, 0.2), (2, 3))
    w, after = found
    angle = np.linalg.norm(w)
    turned = (
        np.cos(angle) * after
        + np.sinc(angle / np.pi) * np.cross(w, after)
        + np.sinc(angle / 2 / np.pi) ** 2 / 2 * (w @ after) * w
    )
    close(
        "the momentum in space is kept: exp(w) pi2 = pi1",
        turned,
        pi,
        STEP,
        "transpose and inverse; solved to the last digit",
    )
    close("|pi| is kept", after @ after, pi @ pi, STEP)
    close("the second line: pi2 = pi1 + (J w x w)/h", after, pi + np.cross(_J @ w, w) / 0.2, STEP)
    close(
        "the first line: dexp_w^-T J w = h pi1, to the last digits",
        w,
        [0.1236638506346752, 0.0949607352802286, -0.0820475076094020],
        STEP,
        "the inverse, and its transpose",
    )


HINTS = {  # of a property whose test gives none
    "g1 and g2 at a right angle": "in terms of a and b: g1 = a / s and g2 = (a + b) / s with s = sin(z)/z",
    "the vector is tangent": "G z - alpha is a multiple of q: take away a multiple of G^-1 q",
    "no force, round metric: a great circle": "with A = 0 the step is w = h v, then the great circle",
    "spinning about a principal axis": "dexp_w does nothing to w there: J w = h pi",
    "the potential at both ends": "half of h times each of the two ends",
}
