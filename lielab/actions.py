"""How a group moves the points of a manifold.

An `Action` bundles the kernels that an integrator needs; points and algebra vectors are flat float64 arrays.
All actions are left actions, y -> exp(xi) . y. Kernels that work block by block take any number of blocks
from the array lengths, so one kernel serves a single pendulum and a chain of thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._jit import jit
from .groups.se3 import dexpinv_se3_core, translation_core
from .groups.so3 import cay_core, cross_core, dcayinv_core, dexpinv_core, exp_core, mul_core

# A point further than this from its manifold is refused by `check`: initial data typed with nine digits
# pass, a vector that was never normalised does not.
POINT_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Action:
    """A left action of a group on a manifold, as kernels on flat arrays.

    exp_act(xi, y) -> exp(xi) . y; dexpinv(u, v) -> dexp_u^-1 v (right-trivialised); bracket(u, v) -> [u, v];
    generator(xi, y) -> d/dt exp(t xi) . y at t = 0, in ambient coordinates; cay_act and dcayinv are the same
    with the Cayley map, where there is one. `algebra` and `point` are the dimensions (of one block where
    `blocks` is true). `distance(y)` gives the distance of points (..., n) from the manifold, None where the
    manifold is the whole space; `manifold` names it.
    """

    name: str
    group: str
    manifold: str
    algebra: int
    point: int
    exp_act: Callable
    dexpinv: Callable
    bracket: Callable
    generator: Callable
    cay_act: Callable | None = None
    dcayinv: Callable | None = None
    blocks: bool = False
    distance: Callable[[np.ndarray], np.ndarray] | None = None

    def algebra_dim(self, n: int) -> int:
        """Dimension of the algebra that acts on points of length n; ValueError where n does not fit."""
        fits = n % self.point == 0 and n > 0 if self.blocks else n == self.point
        if not fits:
            wanted = f"a multiple of {self.point}" if self.blocks else str(self.point)
            raise ValueError(f"y must have length {wanted} for the action {self.name}, got {n}")
        return self.algebra * (n // self.point)

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of y, shape (..., n), from the manifold: shape (...)."""
        y = np.asarray(y, dtype=float)
        return np.zeros(y.shape[:-1]) if self.distance is None else self.distance(y)

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where y, shape (n,), is not on the manifold."""
        self.algebra_dim(len(y))
        defect = float(self.defect(y))
        if not defect <= POINT_TOLERANCE:
            raise ValueError(
                f"y is not on {self.manifold}: distance {defect:.3g}, at most {POINT_TOLERANCE:g} is accepted; "
                "project it first"
            )


@jit
def _rotate_vectors(g, y):
    out = np.empty(len(y))
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
    return out


@jit
def _rotate_matrix(g, y):
    out = np.empty(9)
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = mul_core(g, (y[j], y[3 + j], y[6 + j]))
    return out


@jit
def so3_dexpinv(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = dexpinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_dcayinv(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = dcayinv_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_bracket(u, v):
    out = np.empty(3)
    out[0], out[1], out[2] = cross_core((u[0], u[1], u[2]), (v[0], v[1], v[2]))
    return out


@jit
def so3_exp_vectors(u, y):
    return _rotate_vectors(exp_core(u[0], u[1], u[2]), y)


@jit
def so3_cay_vectors(u, y):
    return _rotate_vectors(cay_core(u[0], u[1], u[2]), y)


@jit
def so3_generator_vectors(u, y):
    out = np.empty(len(y))
    for k in range(0, len(y), 3):
        out[k], out[k + 1], out[k + 2] = cross_core(u, (y[k], y[k + 1], y[k + 2]))
    return out


@jit
def so3_exp_matrix(u, y):
    return _rotate_matrix(exp_core(u[0], u[1], u[2]), y)


@jit
def so3_cay_matrix(u, y):
    return _rotate_matrix(cay_core(u[0], u[1], u[2]), y)


@jit
def so3_generator_matrix(u, y):
    out = np.empty(9)
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = cross_core(u, (y[j], y[3 + j], y[6 + j]))
    return out


@jit
def se3_exp_ts2(u, y):
    """exp(A, a).(q, w) = (R q, R w + (V a) x R q), block by block (celledoni 5.1)."""
    out = np.empty(len(y))
    for k in range(0, len(y), 6):
        g = exp_core(u[k], u[k + 1], u[k + 2])
        r = translation_core((u[k], u[k + 1], u[k + 2]), (u[k + 3], u[k + 4], u[k + 5]))
        q = mul_core(g, (y[k], y[k + 1], y[k + 2]))
        w = mul_core(g, (y[k + 3], y[k + 4], y[k + 5]))
        c = cross_core(r, q)
        for i in range(3):
            out[k + i] = q[i]
            out[k + 3 + i] = w[i] + c[i]
    return out


@jit
def se3_generator_ts2(u, y):
    """(A x q, A x w + a x q), block by block."""
    out = np.empty(len(y))
    for k in range(0, len(y), 6):
        A = (u[k], u[k + 1], u[k + 2])
        q = (y[k], y[k + 1], y[k + 2])
        dq = cross_core(A, q)
        dw = cross_core(A, (y[k + 3], y[k + 4], y[k + 5]))
        c = cross_core((u[k + 3], u[k + 4], u[k + 5]), q)
        for i in range(3):
            out[k + i] = dq[i]
            out[k + 3 + i] = dw[i] + c[i]
    return out


@jit
def se3_dexpinv(u, v):
    """dexpinv on se(3), block by block of six."""
    out = np.empty(len(u))
    for k in range(0, len(u), 6):
        top, low = dexpinv_se3_core(
            (u[k], u[k + 1], u[k + 2]),
            (u[k + 3], u[k + 4], u[k + 5]),
            (v[k], v[k + 1], v[k + 2]),
            (v[k + 3], v[k + 4], v[k + 5]),
        )
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = low[i]
    return out


@jit
def se3_bracket(u, v):
    """[(A, a), (B, b)] = (A x B, A x b - B x a), block by block of six."""
    out = np.empty(len(u))
    for k in range(0, len(u), 6):
        A, B = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
        top = cross_core(A, B)
        first = cross_core(A, (v[k + 3], v[k + 4], v[k + 5]))
        second = cross_core(B, (u[k + 3], u[k + 4], u[k + 5]))
        for i in range(3):
            out[k + i] = top[i]
            out[k + 3 + i] = first[i] - second[i]
    return out


@jit
def so3_cotangent_exp_right(u, y):
    """exp(u, m).(Q, pi) = (exp(u) Q, exp(u) pi + V m), and the tail is moved along (celledoni (11), corrected)."""
    g = exp_core(u[0], u[1], u[2])
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    out = np.empty(len(y))
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = mul_core(g, (y[j], y[3 + j], y[6 + j]))
    w = mul_core(g, (y[9], y[10], y[11]))
    for i in range(3):
        out[9 + i] = w[i] + r[i]
    for i in range(12, len(y)):
        out[i] = y[i] + u[i - 6]
    return out


@jit
def so3_cotangent_generator_right(u, y):
    """(u x Q, u x pi + m), and the rates of the tail."""
    out = np.empty(len(y))
    for j in range(3):
        out[j], out[3 + j], out[6 + j] = cross_core(u, (y[j], y[3 + j], y[6 + j]))
    w = cross_core(u, (y[9], y[10], y[11]))
    for i in range(3):
        out[9 + i] = w[i] + u[3 + i]
    for i in range(12, len(y)):
        out[i] = u[i - 6]
    return out


@jit
def so3_cotangent_exp_left(u, y):
    """exp(u, m).(Q, Pi) = (Q exp(-u), exp(u) Pi + V m): the rows of Q and Pi turn alike."""
    g = exp_core(u[0], u[1], u[2])
    out = _rotate_vectors(g, y)
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    for i in range(3):
        out[9 + i] += r[i]
    return out


@jit
def so3_cotangent_generator_left(u, y):
    """(-Q hat(u), u x Pi + m)."""
    out = so3_generator_vectors(u, y)
    for i in range(3):
        out[9 + i] += u[3 + i]
    return out


@jit
def se3_dexpinv_tail(u, v):
    """dexpinv on se(3) x R^k: the commutative tail keeps v."""
    out = v.copy()
    top, low = dexpinv_se3_core(
        (u[0], u[1], u[2]), (u[3], u[4], u[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    for i in range(3):
        out[i] = top[i]
        out[3 + i] = low[i]
    return out


@jit
def se3_bracket_tail(u, v):
    """Bracket on se(3) x R^k, zero in the commutative tail."""
    out = np.zeros(len(u))
    head = se3_bracket(u[:6], v[:6])
    for i in range(6):
        out[i] = head[i]
    return out


def sphere_distance(y: np.ndarray) -> np.ndarray:
    """Largest | |q| - 1 | over the 3-vectors of y."""
    q = y.reshape(*y.shape[:-1], -1, 3)
    return np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(axis=-1)


def rotation_distance(y: np.ndarray) -> np.ndarray:
    """Frobenius norm of R'R - 1 for the leading nine entries of y; infinite for a reflection."""
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    defect = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))
    return np.where(np.linalg.det(R) < 0.0, np.inf, defect)


def ts2_distance(y: np.ndarray) -> np.ndarray:
    """Largest of | |q| - 1 | and |q . w| over the blocks (q, w) of y."""
    blocks = y.reshape(*y.shape[:-1], -1, 2, 3)
    q, w = blocks[..., 0, :], blocks[..., 1, :]
    off = np.abs(np.linalg.norm(q, axis=-1) - 1.0)
    return np.maximum(off, np.abs((q * w).sum(-1))).max(axis=-1)


_SO3 = {
    "group": "SO(3)",
    "algebra": 3,
    "dexpinv": so3_dexpinv,
    "bracket": so3_bracket,
    "dcayinv": so3_dcayinv,
}

SO3_ON_SO3 = Action(
    name="SO(3) on itself, left",
    manifold="SO(3)",
    point=9,
    exp_act=so3_exp_matrix,
    generator=so3_generator_matrix,
    cay_act=so3_cay_matrix,
    distance=rotation_distance,
    **_SO3,
)
SO3_ON_S2 = Action(
    name="SO(3) on S^2",
    manifold="the unit sphere S^2",
    point=3,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    distance=sphere_distance,
    **_SO3,
)
# The coadjoint action is mu -> Ad*_{g^-1} mu = g mu (celledoni, example 1, printed without the inverse).
SO3_ON_DUAL = Action(
    name="SO(3) on so(3)*, coadjoint",
    manifold="so(3)*",
    point=3,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    **_SO3,
)
# g . (R, mu) = (R g^-1, g mu): a left action that leaves the spatial momentum R mu where it is. The rows of
# R and mu are turned alike, so the kernels for vectors serve.
SO3_ON_BODY = Action(
    name="SO(3) on (R, mu)",
    manifold="SO(3) x so(3)*",
    point=12,
    exp_act=so3_exp_vectors,
    generator=so3_generator_vectors,
    cay_act=so3_cay_vectors,
    distance=rotation_distance,
    **_SO3,
)
SE3_ON_TS2 = Action(
    name="SE(3) on TS^2",
    group="SE(3)",
    manifold="TS^2 (|q| = 1, q . w = 0)",
    algebra=6,
    point=6,
    exp_act=se3_exp_ts2,
    dexpinv=se3_dexpinv,
    bracket=se3_bracket,
    generator=se3_generator_ts2,
    blocks=True,
    distance=ts2_distance,
)
# The heavy top's Lie-Poisson form: coadjoint orbits in se(3)* fill the space, |Gamma| and Gamma . Pi are Casimirs.
SE3_ON_DUAL = Action(
    name="SE(3) on se(3)*, coadjoint",
    group="SE(3)",
    manifold="se(3)*",
    algebra=6,
    point=6,
    exp_act=se3_exp_ts2,
    dexpinv=se3_dexpinv,
    bracket=se3_bracket,
    generator=se3_generator_ts2,
)
# T*SO(3) has the product (g, mu)(h, nu) = (g h, mu + g nu) (celledoni (11) with the inverse put in): the group SE(3).
# Trivialised by right translation, it acts on itself from the left.
COTANGENT_RIGHT = Action(
    name="T*SO(3) on (Q, pi)",
    group="T*SO(3)",
    manifold="T*SO(3)",
    algebra=6,
    point=12,
    exp_act=so3_cotangent_exp_right,
    dexpinv=se3_dexpinv_tail,
    bracket=se3_bracket_tail,
    generator=so3_cotangent_generator_right,
    distance=rotation_distance,
)
# With the momentum in the body, (g, m) . (Q, Pi) = (Q g^-1, g Pi + m) is a left action of the same group.
COTANGENT_LEFT = Action(
    name="T*SO(3) on (Q, Pi)",
    group="T*SO(3)",
    manifold="T*SO(3)",
    algebra=6,
    point=12,
    exp_act=so3_cotangent_exp_left,
    dexpinv=se3_dexpinv_tail,
    bracket=se3_bracket_tail,
    generator=so3_cotangent_generator_left,
    distance=rotation_distance,
)
# The direct product with translations of (p, q): T*(SO(3) x R^3), celledoni 3.4.3.
COTANGENT_RIGHT_R6 = Action(
    name="T*SO(3) x R^6 on (Q, pi, p, q)",
    group="T*SO(3) x R^6",
    manifold="T*(SO(3) x R^3)",
    algebra=12,
    point=18,
    exp_act=so3_cotangent_exp_right,
    dexpinv=se3_dexpinv_tail,
    bracket=se3_bracket_tail,
    generator=so3_cotangent_generator_right,
    distance=rotation_distance,
)
