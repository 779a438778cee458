"""How an array lies in memory never matters: column-major, strided, reversed, read-only ones give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import control, quaternions, se2, se3, so2, so3
from tests.systems.data import EXAMPLES

GROUPS = {
    "SO(2)": so2,
    "SO(3)": so3,
    "SE(2)": se2,
    "SE(3)": se3,
    "quaternions": quaternions,
    "SL(2)": lielab.matrix_group([[[0, 1], [0, 0]], [[1, 0], [0, -1]], [[0, 0], [1, 0]]]),
}
OF_VECTORS = ("hat", "exp", "ad", "coad", "dexp", "dexpinv", "cay", "dcay", "dcayinv")
WITHOUT = {"SL(2)": ("cay", "dcay", "dcayinv", "cayinv", "project")}
OF_ELEMENTS = ("log", "inverse", "Ad", "coAd", "project", "cayinv")


def layouts(a):
    """The same numbers, lying otherwise."""
    every_other = np.full(tuple(2 * n for n in a.shape), np.nan)[(slice(None, None, 2),) * a.ndim]
    every_other[...] = a
    back = (slice(None, None, -1),) * a.ndim
    fixed = a.copy()
    fixed.flags.writeable = False
    return {
        "column-major": np.asfortranarray(a),
        "strided": every_other,
        "reversed": a[back].copy()[back],
        "read-only": fixed,
    }


def check(function, a):
    wanted = function(np.array(a))
    for name, other in layouts(a).items():
        # BLAS sums strided rows in another order.
        np.testing.assert_allclose(function(other), wanted, rtol=1e-13, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("system", list(EXAMPLES))
def test_states(system):
    system = EXAMPLES[system]
    states = np.stack([system.y0, system.y0, system.y0])
    for y in (system.y0, states):
        for function in (system.energy, system.defect, *system.invariants.values()):
            check(function, y)
    for name in dict(system.parts):
        check(lambda y, name=name: system.unpack(y)[name], states)


@pytest.mark.parametrize("group", list(GROUPS))
def test_groups(group):
    G, rng = GROUPS[group], np.random.default_rng(5)
    u, v = 0.4 * rng.normal(size=(2, 4, G.dim))
    offered = [
        name
        for name in (*OF_VECTORS, *OF_ELEMENTS)
        if hasattr(G, name) and name not in WITHOUT.get(group, ())
    ]
    for name in offered:
        check(getattr(G, name), u if name in OF_VECTORS else G.exp(u))
    check(lambda x: G.bracket(x, v), u)
    check(lambda x: G.bracket(u, x), v)
    g = G.exp(u)
    check(lambda x: G.compose(x, g), g[::-1].copy())
    check(G.vee, G.hat(u))


@pytest.mark.parametrize("method", ["RKMK4", "LGVI", "RATTLE", "SLGI", "RK45"])
def test_starts(method):
    top = lielab.systems.HeavyTop("left")
    options = {} if method == "RK45" else {"h": 0.01}
    check(lambda y: lielab.solve(top, (0, 0.05), y, method=method, **options).y, top.y0)


def test_control():
    pendulum = lielab.systems.Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
    up = pendulum.pack(R=so3.exp([np.pi, 0, 0]), p=np.zeros(3))
    A, B = control.linearize(pendulum, up, np.zeros(3), 0.02)
    check(lambda y: control.linearize(pendulum, y, np.zeros(3), 0.02)[0], up)
    Q, R = np.diag(np.arange(1.0, 7.0)), np.diag([1.0, 2.0, 3.0])
    gain = lambda **given: control.lqr(**{"A": A, "B": B, "Q": Q, "R": R, **given})[0]  # noqa: E731
    for name, matrix in (("A", A), ("B", B), ("Q", Q), ("R", R)):
        check(lambda M, name=name: gain(**{name: M}), matrix)
