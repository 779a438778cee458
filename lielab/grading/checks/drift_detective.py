"""Public checks of assignment 10: anonymous trajectories, the tests that tell them apart, and the detective."""

from __future__ import annotations

import numpy as np

from ..testing import Failed, array, close, holds

ROUNDING = 1e-12  # some hundred roundings of numbers of size 1 to 10
SLOPE = 1e-10  # a least-squares line through 20 points, relative to its largest value
SUSPECTS = ("RK4", "RKMK4", "ELN", "MCG", "PRK", "VLV", "RATTLE")

_FREE_STEP, _FREE_STEPS = 0.2, 200
_WELL_STEP, _WELL_END = 0.25, 4000.0


def evidence(suspect: str, stream: np.random.Generator) -> dict[str, np.ndarray]:
    """The file of a case: runs of one of `SUSPECTS` with fresh data, without its name.

    `J` (3,) kg m^2; a free body from t = 0 to 40 s: `t` (n,), `R` (n, 3, 3), `Omega` (n, 3) rad/s; `R_back` (3, 3),
    `Omega_back` (3,) after as many steps back with -h; `t_well`, `energy_well` (m,): the energy (J) of a body in a
    potential well over 4000 s. The starts in the well are those of ortolan 4.2, slightly moved: others are chaotic.
    """
    from ...groups import so3
    from ...solve import solve
    from ...systems import FreeRigidBody, RigidBodyInWell

    if suspect not in SUSPECTS:
        raise ValueError(f"suspect must be one of {', '.join(SUSPECTS)}; got {suspect!r}")
    J = np.array([1.0, 2.0, 2.5]) * stream.uniform(0.9, 1.1, size=3)
    body = FreeRigidBody(tuple(J), attitude=True)
    start = np.concatenate(
        [
            so3.exp(stream.normal(size=3)).ravel(),
            J * stream.uniform(0.5, 0.9, size=3) * stream.choice([-1, 1], size=3),
        ]
    )
    end = _FREE_STEP * _FREE_STEPS
    there = solve(body, (0.0, end), start, method=suspect, h=_FREE_STEP)
    # where RK4 has left the rotations, `solve` wants it back on them before it starts again
    last = body.project(there.y[-1]) if suspect == "RK4" else there.y[-1]
    back = solve(body, (end, 0.0), last, method=suspect, h=_FREE_STEP)
    well = RigidBodyInWell()
    tilt, spin = 0.7227 + stream.uniform(-0.02, 0.02), 0.625 + stream.uniform(-0.02, 0.02)
    start = np.concatenate([so3.exp([0.0, tilt, 0.0]).ravel(), [0.0, 0.0, spin]])
    long = solve(well, (0.0, _WELL_END), start, method=suspect, h=_WELL_STEP, save_every=2)
    return {
        "J": J,
        "t": there.t,
        "R": there.y[:, :9].reshape(-1, 3, 3),
        "Omega": there.y[:, 9:] / J,
        "R_back": back.y[-1, :9].reshape(3, 3),
        "Omega_back": back.y[-1, 9:] / J,
        "t_well": long.t,
        "energy_well": long.energy(),
    }


def archive_of(seed: int = 1) -> dict[str, dict[str, np.ndarray]]:
    """A file of each suspect, by name."""
    stream = np.random.default_rng(seed)
    return {name: evidence(name, stream) for name in SUSPECTS}


def anonymous_files(seed: int = 2, count: int = 4) -> list[dict[str, np.ndarray]]:
    """Files of `count` different suspects, without their names."""
    stream = np.random.default_rng(seed)
    return [evidence(str(name), stream) for name in stream.permutation(SUSPECTS)[:count]]


def q1(trend):
    """a trend, with its doubt"""
    t = np.arange(12.0)
    found = array("trend returns two numbers", trend(t, 3 - 0.5 * t, 4), (2,))
    close("a line has its slope and no doubt", found, [-0.5, 0.0], SLOPE)
    values = np.repeat([0.0, 1.0, 0.0, 3.0], 3)
    x, y = np.array([1.0, 4.0, 7.0, 10.0]) - 5.5, np.array([0.0, 1.0, 0.0, 3.0]) - 1.0
    slope = x @ y / (x @ x)
    error = np.sqrt(((y - slope * x) ** 2).sum() / 2 / (x @ x))
    found = array("trend returns two numbers", trend(t, values, 4), (2,))
    close("the slope through four block means", found[0], slope, SLOPE)
    close("its standard error", found[1], error, SLOPE, "divide by n - 2, n the number of blocks")
    # an oscillation that a line through all points would call a drift
    t = np.linspace(0.0, 100.0, 5001)
    slope, error = array("trend returns two numbers", trend(t, np.sin(9 * t), 10), (2,))
    holds(
        "an oscillation has no certain trend", abs(slope) < 5 * error, f"{slope / error:.1f} errors"
    )


def q2(kept):
    """what is kept"""
    J = np.array([1.0, 2.0, 3.0])
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    R, spin = np.stack([np.eye(3), turn, turn @ turn]), np.array([0.0, 0.0, 2.0])
    found = array("kept returns three numbers", kept(J, R, np.tile(spin, (3, 1))), (3,))
    close("spinning about an axis keeps all three", found, [0, 0, 0], ROUNDING)
    # the largest of all three is in the middle
    Omega = np.array([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [2.0, 0.0, 0.0]])
    R = np.stack([np.eye(3), 1.1 * turn, np.eye(3)])
    found = array("kept returns three numbers", kept(J, R, Omega), (3,))
    close("a body that is stretched by 1.1", found[0], 0.21, ROUNDING)
    close(
        "the momentum in space",
        found[1],
        2 + 8.8 * s,
        ROUNDING,
        "R J Omega with the moments of the body, then turned into space",
    )
    close("the energy, relative to the first", found[2], 7.0, ROUNDING, "E/E_0 - 1, not E - E_0")


def q3(symmetry, reversibility):
    """two ways back"""
    R, w = np.eye(3), np.array([1.0, -2.0, 0.5])

    def drag(A, x, h):
        return A, np.exp(-h) * x

    def onward(A, x, h):
        return A + abs(h) * np.diag(x), x

    def number(function, step):
        return float(array("a number is returned", function(step, R, w, 0.5), ()))

    close("drag is symmetric", number(symmetry, drag), 0.0, ROUNDING)
    close(
        "drag is not reversible",
        number(reversibility, drag),
        2 * (1 - np.exp(-1.0)),
        ROUNDING,
        "turn the velocity after the first step and again at the end; the step is h both times",
    )
    close("a step that takes |h| is not symmetric", number(symmetry, onward), 2.0, ROUNDING)
    pushed = number(symmetry, lambda A, x, h: (A, x + h**2))
    close("nor one that adds h^2 to the velocity", pushed, 0.5, ROUNDING, "R and Omega both count")
    close("but reversible", number(reversibility, onward), 0.0, ROUNDING)


def q4(detective):
    """the detective"""
    stream = np.random.default_rng(3)
    for name in stream.permutation(SUSPECTS):
        told = detective(evidence(str(name), stream))
        if not isinstance(told, str) or told not in SUSPECTS:
            raise Failed("the detective names a suspect", f"got {told!r}"[:80])
        holds(f"a file of {name}", told == name, f"the detective says {told}")


_TABLE = "print a table of your tests for the archive; put thresholds between rounding and errors"
HINTS = {  # of a property whose test gives none
    "a line has its slope and no doubt": "the mean of time and of value in each block, then a line through these",
    "the slope through four block means": "through the means of the blocks, not through all points",
    "a body that is stretched by 1.1": "the largest entry of |R^T R - 1| over all states",
    "drag is symmetric": "a step of h, then one of -h; turning the velocity is the other test",
    **{f"a file of {name}": _TABLE for name in SUSPECTS},
}
