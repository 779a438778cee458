"""A particle on the hyperbolic plane: a homogeneous space G/H that is no sphere and no group (leimkuhler 5.2).

The plane is SL(2) up to turns on the left: its points are x = q'q, symmetric with determinant 1. The complement of
so(2) in the algebra are the symmetric matrices hat(w) = [[w_1, w_2], [w_2, -w_1]], with the double bracket
[w, [w, v]] = 4 (|w|^2 v - (w . v) w), so with |w| as length the curvature is -4. Geodesics are exp(t hat(w)) q, the
transpose of leimkuhler's q exp(w): so SL(2) acts from the left, and methods of actions run as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..actions import Action, matrix_action, product_action, rn_on_rn
from ..core.arguments import number, positive
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, MetricFormulation, SymmetricPair
from ..groups.matrix_groups import special_linear
from .system import System

# p = mass, stiffness


@jit
def _move(w, q):
    """exp(hat(w)) q"""
    z = math.sqrt(w[0] * w[0] + w[1] * w[1])
    c, s = math.cosh(z), 1.0
    if z > 0.0:
        s = math.sinh(z) / z
    a, b, d = c + s * w[0], s * w[1], c - s * w[0]
    out = np.empty(4)
    out[0], out[1] = a * q[0] + b * q[2], a * q[1] + b * q[3]
    out[2], out[3] = b * q[0] + d * q[2], b * q[1] + d * q[3]
    return out


@jit
def _double_bracket(w, v):
    """[w, [w, v]]"""
    ww, wv = w[0] * w[0] + w[1] * w[1], w[0] * v[0] + w[1] * v[1]
    out = np.empty(2)
    for i in range(2):
        out[i] = 4.0 * (ww * v[i] - wv * w[i])
    return out


@jit
def _metric(t, y, p):
    out = np.zeros(4)
    out[0] = out[3] = p[0]
    return out


@jit
def _metric_gradient(t, y, p):
    return np.zeros(2)


@jit
def _potential_gradient(t, y, p):
    """V = k (tr q'q / 2 - 1), along exp(s hat(e_i)) q."""
    out = np.empty(2)
    out[0] = p[1] * (y[0] * y[0] + y[1] * y[1] - y[2] * y[2] - y[3] * y[3])
    out[1] = p[1] * 2.0 * (y[0] * y[2] + y[1] * y[3])
    return out


@jit
def _field(t, y, p):
    """hat(v) in the basis of `special_linear(2)`, E_12, E_21, E_11 - E_22, and v'."""
    slope, out = _potential_gradient(t, y, p), np.empty(5)
    out[0] = out[1] = y[5]
    out[2] = y[4]
    out[3], out[4] = -slope[0] / p[0], -slope[1] / p[0]
    return out


@cache
def _action() -> Action:
    return product_action(matrix_action(special_linear(2)), rn_on_rn(2))


HYPERBOLIC_PLANE = SymmetricPair("SL(2)/SO(2)", 2, _move, _double_bracket)


@dataclass(frozen=True)
class ParticleOnHyperbolicPlane(System):
    """L = m |v|^2 / 2 - k (cosh 2 d - 1) on the hyperbolic plane SL(2)/SO(2), d the distance from the origin.

    State: q (2, 2) with determinant 1, v (2,) with q' = hat(v) q, hat(v) = [[v_1, v_2], [v_2, -v_1]]: the velocity in
    a frame that is moved along in parallel, m v' = -grad V. The point of the plane is x = q^T q (`points` gives it in
    Poincare's disc); q itself is that up to a turn on the left. `mass` m (kg), `stiffness` k (J); k = 0 is free
    motion along geodesics, a negative k pushes outward. Distances are |v| t of such a motion, the curvature is -4.

    Conserved: the energy and the angular momentum about the origin, that of turns q -> q exp(s J), which
    `RiemannianLeapfrog` keeps to round-off: the formulation "metric" is a `SymmetricPair` with a constant metric.
    Methods of actions see SL(2) x R^2 instead.
    Source: leimkuhler 5.2.
    """

    mass: float = 1.0
    stiffness: float = 1.0

    parts = (("q", (2, 2)), ("v", (2,)))
    units = {"q": "1", "v": "1/s"}  # noqa: RUF012  never changed

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", positive("mass", self.mass))
        object.__setattr__(self, "stiffness", number("stiffness", self.stiffness))

    @property
    def y0(self) -> np.ndarray:
        """Half a unit from the origin, moving across."""
        return np.array([math.exp(0.5), 0.0, 0.0, math.exp(-0.5), 0.0, 0.8])

    @property
    def params(self) -> np.ndarray:
        return np.array([self.mass, self.stiffness])

    @made_of()
    def formulations(self) -> dict[str, Any]:
        kernels = (_metric, _metric_gradient, _potential_gradient)
        return {
            "action": ActionFormulation(_action(), _field, self.params),
            "metric": MetricFormulation(HYPERBOLIC_PLANE, *kernels, self.params),
        }

    def points(self, y: np.ndarray) -> np.ndarray:
        """Points (..., 2) of states in Poincare's unit disc; the circles |z| = tanh d are d from the origin."""
        x = np.asarray(y, dtype=float)[..., :4].reshape(*np.shape(y)[:-1], 2, 2)
        x = np.swapaxes(x, -1, -2) @ x
        below = (x[..., 0, 0] + x[..., 1, 1] + 2.0)[..., None]
        return np.stack([x[..., 0, 0] - x[..., 1, 1], 2.0 * x[..., 0, 1]], axis=-1) / below

    def defect(self, y: np.ndarray) -> np.ndarray:
        """|det q - 1| of states (..., 6)."""
        y = np.asarray(y, dtype=float)
        return np.abs(y[..., 0] * y[..., 3] - y[..., 1] * y[..., 2] - 1.0)

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where det q is not 1."""
        off = float(self.defect(y))
        if not off <= 1e-8:
            raise ValueError(
                f"y is not on SL(2): det q misses 1 by {off:.3g}; use system.project(y)"
            )

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with q divided by the root of its determinant; ValueError where that is not positive."""
        y = np.array(y, dtype=float)
        d = y[..., 0] * y[..., 3] - y[..., 1] * y[..., 2]
        if not np.all((d > 0.0) & np.isfinite(d)):
            raise ValueError("y has a q whose determinant is not positive; none of SL(2) is near")
        y[..., :4] /= np.sqrt(d)[..., None]
        return y

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic and potential energy of states (..., 6), J."""
        y = np.asarray(y, dtype=float)
        spread = 0.5 * (y[..., :4] ** 2).sum(-1) - 1.0
        return 0.5 * self.mass * (y[..., 4:] ** 2).sum(-1) + self.stiffness * spread

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def momentum(y: np.ndarray) -> np.ndarray:
            a, b, c, d = np.moveaxis(y[..., :4], -1, 0)
            # the symmetric part of -q J q^-1, J = [[0, -1], [1, 0]], in the basis of hat
            first, second = -(a * c + b * d), 0.5 * (a * a + b * b - c * c - d * d)
            return self.mass * (first * y[..., 4] + second * y[..., 5])

        return {"energy": self.energy, "angular momentum": momentum}
