"""Public checks of assignment 04: SE(3) on TS^2, its generator, the pendulum's field, isotropy."""

from __future__ import annotations

import numpy as np

from ..testing import array, close, holds

EXACT = 1e-15  # no arithmetic
ROUNDING = 1e-12  # some hundred roundings of numbers up to 10
DIFFERENCE = 1e-8  # a central difference with step 1e-5

_Y = np.array([0.6, 0.0, 0.8, 0.8, 2.0, -0.6])


def q1(act):
    """how the group moves a point"""
    close("the zero motion moves nothing", act(np.zeros(6), _Y.copy()), _Y, EXACT)
    got = array(
        "act returns a vector of six", act(np.array([0, 0, np.pi / 2, 0, 0, 0]), _Y.copy()), (6,)
    )
    close("a quarter turn about e3 turns q", got[:3], [0, 0.6, 0.8], ROUNDING)
    close("... and w", got[3:], [-2, 0.8, -0.6], ROUNDING)
    got = array("act returns a vector of six", act(np.array([0, 0, 0, 0, 0, 1.0]), _Y.copy()), (6,))
    close("a translation leaves q", got[:3], _Y[:3], EXACT)
    close("... and adds r x q to w", got[3:], [0.8, 2.6, -0.6], ROUNDING, "not q x r")
    u = np.array([0, 0, np.pi / 2, 0, 0, 1.0])
    got = array("act returns a vector of six", act(u, _Y.copy()), (6,))
    close(
        "turned and moved: R w + r x R q",
        got,
        [0, 0.6, 0.8, -2.6, 0.8, -0.6],
        ROUNDING,
        "r is crossed with the q that was turned",
    )
    u = np.array([0.3, -0.5, 0.2, 1.0, 0.4, -0.7])
    there = array("act returns a vector of six", act(u, _Y.copy()), (6,))
    close("the moved q has length 1", there[:3] @ there[:3], 1.0, ROUNDING)
    close("the moved w is normal to it", there[:3] @ there[3:], 0.0, ROUNDING)
    close("exp(-u) leads back", act(-u, there), _Y, ROUNDING)


def q2(generator, act):
    """what an infinitesimal motion does"""
    u, step = np.array([0.3, -0.5, 0.2, 1.0, 0.4, -0.7]), 1e-5
    ahead, behind = (array("act returns six", act(s * step * u, _Y.copy()), (6,)) for s in (1, -1))
    slope = (ahead - behind) / (2 * step)
    close(
        "it is the slope of your act at the start",
        generator(u.copy(), _Y.copy()),
        slope,
        DIFFERENCE,
    )
    u = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    got = generator(u, _Y.copy())
    close(
        "turning and moving along e3, to the last digits",
        got,
        [0.0, 0.6, 0.0, -2.0, 1.4, 0.0],
        ROUNDING,
        "in closed form: a difference loses digits",
    )


def q3(field):
    """which motion the equation asks for"""
    plain = array("field returns a vector of six", field(_Y.copy(), 9.81, 2.0, 0.0), (6,))
    close("without spin A = w", plain[:3], _Y[3:], EXACT)
    close(
        "a x q is the change of w, (g/l) k x q",
        np.cross(plain[3:], _Y[:3]),
        np.cross([0, 0, 9.81 / 2], _Y[:3]),
        ROUNDING,
    )
    close("a is normal to q", plain[3:] @ _Y[:3], 0.0, ROUNDING, "take away its part along q")
    spun = array("field returns a vector of six", field(_Y.copy(), 9.81, 2.0, 3.0), (6,))
    close("with spin A = w + sigma q", spun[:3], _Y[3:] + 3 * _Y[:3], ROUNDING)
    close(
        "the spin does not change w': A x w + a x q is the same",
        np.cross(spun[:3], _Y[3:]) + np.cross(spun[3:], _Y[:3]),
        np.cross([0, 0, 9.81 / 2], _Y[:3]),
        ROUNDING,
        "add to a what cancels sigma q x w",
    )
    close("a is normal to q also then", spun[3:] @ _Y[:3], 0.0, ROUNDING)


def q4(isotropy):
    """the isotropy algebra"""
    basis = array("isotropy returns a 2x6 array", isotropy(_Y.copy()), (2, 6))
    q, w = _Y[:3], _Y[3:]
    close(
        "its elements turn about q only: A x q = 0",
        np.cross(basis[:, :3], q),
        np.zeros((2, 3)),
        ROUNDING,
    )
    close(
        "... and leave w: A x w + a x q = 0",
        np.cross(basis[:, :3], w) + np.cross(basis[:, 3:], q),
        np.zeros((2, 3)),
        ROUNDING,
    )
    rank = int(np.linalg.matrix_rank(basis))
    holds("two independent ones", rank == 2, f"the rank is {rank}")


HINTS = {  # of a property whose test gives none
    "the zero motion moves nothing": "R is the identity and r is zero there",
    "a quarter turn about e3 turns q": "R = exp(hat(A)) turns q and w; screw(u) gives it, to all orders",
    "it is the slope of your act at the start": "A x q, and A x w + a x q; mind the order of the factors",
    "without spin A = w": "q' = w x q, so the rotation is w itself, not -w",
    "its elements turn about q only: A x q = 0": "A is a multiple of q",
    "... and leave w: A x w + a x q = 0": "for A = q: q x w + a x q = 0, so a = w up to a multiple of q",
    "two independent ones": "one has A = q, the other A = 0",
    "exp(-u) leads back": "r is V a, not a: screw(u) gives both R and r",
}
