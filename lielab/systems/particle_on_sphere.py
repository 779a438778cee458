"""A particle on S^2 with a metric of its own: the ellipsoid of leimkuhler, and readers' metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import SE3_ON_TS2
from ..core.arguments import call_once, number, numbers, numbers_of, positive, positives
from ..core.differences import doubt, errors_of, gradient_kernel, largest_errors, refuse_poor
from ..core.jit import closure, jit, lent
from ..core.readers import made_of, point_kernel
from ..formulations.forms import ActionFormulation, MetricFormulation
from ..groups.so3 import cross_core
from ._spheres import project_ts2
from .system import System, settled_start

# Kernels take y = x (3), v (3). p of the ellipsoid: m a_i^2 (3), then the constant gradient of V (3).


@jit
def _ellipsoid_metric(t, y, p):
    out = np.zeros(9)
    out[0], out[4], out[8] = p[0], p[1], p[2]
    return out


@jit
def _ellipsoid_metric_gradient(t, y, p):
    return np.zeros(3)


@jit
def _ellipsoid_potential_gradient(t, y, p):
    return p[3:6].copy()


@jit
def acceleration_core(G, b, q, v):
    """x'' and the multiplier: G x'' = b - lam x with x . x'' = -|v|^2, by the inverse of the symmetric 3x3 G."""
    c0 = G[4] * G[8] - G[5] * G[5]
    c1 = G[2] * G[5] - G[1] * G[8]
    c2 = G[1] * G[5] - G[2] * G[4]
    d = 1.0 / (G[0] * c0 + G[1] * c1 + G[2] * c2)
    c4 = (G[0] * G[8] - G[2] * G[2]) * d
    c5 = (G[1] * G[2] - G[0] * G[5]) * d
    c8 = (G[0] * G[4] - G[1] * G[1]) * d
    c0, c1, c2 = c0 * d, c1 * d, c2 * d
    f = (
        c0 * b[0] + c1 * b[1] + c2 * b[2],
        c1 * b[0] + c4 * b[1] + c5 * b[2],
        c2 * b[0] + c5 * b[1] + c8 * b[2],
    )
    n = (
        c0 * q[0] + c1 * q[1] + c2 * q[2],
        c1 * q[0] + c4 * q[1] + c5 * q[2],
        c2 * q[0] + c5 * q[1] + c8 * q[2],
    )
    speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    top = speed2 + q[0] * f[0] + q[1] * f[1] + q[2] * f[2]
    lam = top / (q[0] * n[0] + q[1] * n[1] + q[2] * n[2])
    return f[0] - lam * n[0], f[1] - lam * n[1], f[2] - lam * n[2]


@jit
def _store_field(q, v, a, out):
    """f = (x x v, x x x''): A x x = v, and A x v = -|v|^2 x leaves the tangent part of x'' to the second slot."""
    first, second = cross_core(q, v), cross_core(q, a)
    for i in range(3):
        out[i] = first[i]
        out[3 + i] = second[i]


@jit
def _ellipsoid(t, y, p):
    out = np.empty(6)
    q, v = (y[0], y[1], y[2]), (y[3], y[4], y[5])
    G = (p[0], 0.0, 0.0, 0.0, p[1], 0.0, 0.0, 0.0, p[2])
    _store_field(q, v, acceleration_core(G, (-p[3], -p[4], -p[5]), q, v), out)
    return out


class _Particle(System):
    """What the two systems share: the layout x, v, energy and defect."""

    parts = (("x", (3,)), ("v", (3,)))
    units = {"x": "1", "v": "1/s"}  # noqa: RUF012  never changed

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of states (..., 6) from the tangent bundle of the sphere."""
        return SE3_ON_TS2.defect(y)

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where x is no unit vector or v is not orthogonal to it."""
        SE3_ON_TS2.check(np.asarray(y, dtype=float))

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit x and v orthogonal to it."""
        return project_ts2(y)


@dataclass(frozen=True)
class EllipsoidParticle(_Particle):
    """A particle on the ellipsoid y_i = a_i x_i with |x| = 1, in the potential V = mu y_3 (leimkuhler 2).

    m a_i^2 x_i'' = -mu a_3 [i = 3] - lam x_i: the metric is m diag(a_i^2), restricted to the unit sphere.

    State: y = x (3,), v (3,): a unit vector and its velocity v = x' in 1/s, x . v = 0. `axes` a_i (m), `mass` m (kg),
    `mu` (N, the weight m g where the third axis is vertical; any sign). Conserved: the energy
    m sum a_i^2 v_i^2 / 2 + mu a_3 x_3, and where a_1 = a_2 the momentum x_1 p_2 - x_2 p_1 with p_i = m a_i^2 v_i.
    `places(y)` gives the points on the ellipsoid. Default data and start are ours: the paper states none.
    """

    axes: tuple[float, float, float] = (1.0, 1.3, 0.7)
    mass: float = 1.0
    mu: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", positives("axes", self.axes, 3))
        object.__setattr__(self, "mass", positive("mass", self.mass))
        object.__setattr__(self, "mu", number("mu", self.mu))

    @property
    def y0(self) -> np.ndarray:
        """x = (2, 1, 2)/3, v = (-0.5, 0.4, 0.3)."""
        return np.array([2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, -0.5, 0.4, 0.3])

    @property
    def params(self) -> np.ndarray:
        return np.array([*(self.mass * np.array(self.axes) ** 2), 0.0, 0.0, self.mu * self.axes[2]])

    @made_of()
    def formulations(self) -> dict[str, Any]:
        metric = MetricFormulation(
            "sphere",
            _ellipsoid_metric,
            _ellipsoid_metric_gradient,
            _ellipsoid_potential_gradient,
            self.params,
        )
        return {"action": ActionFormulation(SE3_ON_TS2, _ellipsoid, self.params), "metric": metric}

    def places(self, y: np.ndarray) -> np.ndarray:
        """Points a_i x_i on the ellipsoid (m), shape (..., 3)."""
        return self.unpack(y)["x"] * np.array(self.axes)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy."""
        parts = self.unpack(y)
        kinetic = 0.5 * (parts["v"] ** 2 * self.params[:3]).sum(-1)
        return kinetic + self.params[5] * parts["x"][..., 2]

    def vertical_momentum(self, y: np.ndarray) -> np.ndarray:
        """x_1 p_2 - x_2 p_1, conserved where a_1 = a_2."""
        parts = self.unpack(y)
        p = parts["v"] * self.params[:3]
        return parts["x"][..., 0] * p[..., 1] - parts["x"][..., 1] * p[..., 0]

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        named: dict[str, Callable] = {"energy": self.energy}
        if self.axes[0] == self.axes[1]:
            named["vertical momentum"] = self.vertical_momentum
        return named


def _metric_slopes(metric: Callable, start: tuple) -> Callable:
    """slopes(t, y, p, out, errors), out (3, 9): dG/dx_k, row-major, in row k."""

    def along(t, y, p, k, s, z, V, row):
        y, p, z, V = lent(y), lent(p), lent(z), lent(V)
        z[k] = y[k] + s
        G = metric(t, z, p)
        for i in range(9):
            V[row, i] = G[i]
        z[k] = y[k]

    return gradient_kernel(along, (3, 9), 3, start)


def _potential_slopes(potential: Callable, start: tuple) -> Callable:
    """slopes(t, y, p, out, errors), out (3, 1): dV/dx_k."""

    def along(t, y, p, k, s, z, V, row):
        y, p, z, V = lent(y), lent(p), lent(z), lent(V)
        z[k] = y[k] + s
        V[row, 0] = potential(t, z, p)[0]
        z[k] = y[k]

    return gradient_kernel(along, (3, 1), 3, start)


def _gradient_kernels(metric_slopes: Callable, potential_slopes: Callable) -> tuple:
    """d/dx of v . G(x) v and of V(x)."""

    def metric_gradient(t, y, p):
        dG, errors, out = np.empty((3, 9)), np.empty(3), np.zeros(3)
        metric_slopes(t, y, p, dG, errors)
        for k in range(3):
            for a in range(3):
                for b in range(3):
                    out[k] += y[3 + a] * dG[k, 3 * a + b] * y[3 + b]
        return out

    def potential_gradient(t, y, p):
        dV, errors, out = np.empty((3, 1)), np.empty(3), np.empty(3)
        potential_slopes(t, y, p, dV, errors)
        for k in range(3):
            out[k] = dV[k, 0]
        return out

    return closure(metric_gradient), closure(potential_gradient)


def _action_field(
    metric: Callable, metric_slopes: Callable, potential_gradient: Callable
) -> Callable:
    def field(t, y, p):
        """G x'' = (1/2) d(v.Gv)/dx - G' v - dV/dx - lam x, with G' = sum_k v_k dG/dx_k."""
        dG, errors, dV = np.empty((3, 9)), np.empty(3), potential_gradient(t, y, p)
        metric_slopes(t, y, p, dG, errors)
        b = np.empty(3)
        for i in range(3):
            b[i] = -dV[i]
        for k in range(3):
            for i in range(3):
                row = dG[k, 3 * i] * y[3] + dG[k, 3 * i + 1] * y[4] + dG[k, 3 * i + 2] * y[5]
                b[k] += 0.5 * y[3 + i] * row
                b[i] -= y[3 + k] * row
        q, v = (y[0], y[1], y[2]), (y[3], y[4], y[5])
        out = np.empty(6)
        _store_field(q, v, acceleration_core(metric(t, y, p), (b[0], b[1], b[2]), q, v), out)
        return out

    return closure(field)


@dataclass(frozen=True, eq=False)
class ParticleOnSphere(_Particle):
    """A particle on S^2 with a reader's own metric and potential: L = v . G(x) v / 2 - V(x), |x| = 1.

    `metric(x, p)` returns the symmetric positive definite G, an array (3, 3); `potential(x, p)` returns V as a
    number. Both are functions on a neighbourhood of the sphere in R^3, written in plain Python with NumPy; they are
    compiled where Numba can. `p`: parameters. Derivatives are taken by central differences of order 6 with steps that
    follow the functions: off by about 1e-12 of the derivative where they are smooth, plus some 1e-14 of the function
    over the scale on which it varies. `difference_error(y)` shows the estimate; a state in which it is worse than
    1e-6 ends the run. `start`: x, v.

    State: y = x (3,), v (3,). Conserved: the energy. Source: leimkuhler 5.1, the general metric on the sphere.
    """

    metric: Callable
    potential: Callable
    start: tuple[float, ...] = (2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, -0.5, 0.4, 0.3)
    p: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        y, p = settled_start(self, self.start, self), numbers("p", self.p)
        x = y[:3]
        found = call_once("metric", self.metric, "x, p", x, p)
        G = numbers_of("metric", found, "an array of shape (3, 3)")
        if G.shape != (3, 3) or not np.allclose(
            G, G.T, rtol=0.0, atol=1e-10 * (1.0 + np.abs(G).max())
        ):
            raise ValueError(f"metric must return a symmetric array of shape (3, 3), got {G}")
        if np.linalg.eigvalsh(G)[0] <= 0.0:
            raise ValueError(
                f"metric must be positive definite, got eigenvalues {np.linalg.eigvalsh(G)}"
            )
        V = numbers_of(
            "potential", call_once("potential", self.potential, "x, p", x, p), "a number"
        )
        if V.ndim != 0:
            raise ValueError(f"potential must return a number, got shape {V.shape}")

    @property
    def y0(self) -> np.ndarray:
        return np.array(self.start, dtype=float)

    @property
    def params(self) -> np.ndarray:
        return np.array(self.p, dtype=float)

    @made_of("metric", "potential")
    def _kernels(self) -> tuple[Callable, Callable, Callable]:
        """The metric, its derivatives and those of the potential as kernels."""
        start = 0.0, self.y0[:3], self.params
        metric = point_kernel(self.metric, (3,), start[1:])
        potential = point_kernel(self.potential, (3,), start[1:])
        dG, dV = _metric_slopes(metric, start), _potential_slopes(potential, start)
        refuse_poor("metric", errors_of(dG, 3, 9, *start), "give one that is smooth there")
        refuse_poor("potential", errors_of(dV, 3, 1, *start), "give one that is smooth there")
        return metric, dG, dV

    @made_of("metric", "potential")
    def formulations(self) -> dict[str, Any]:
        metric, dG, dV = self._kernels
        gradients = _gradient_kernels(dG, dV)
        field = _action_field(metric, dG, gradients[1])
        return {
            "action": ActionFormulation(SE3_ON_TS2, field, self.params),
            "metric": MetricFormulation("sphere", metric, *gradients, self.params),
        }

    def _doubt(self, y: np.ndarray) -> str:
        return doubt(float(self.difference_error(y)), "give functions that are smooth there")

    def difference_error(self, y: np.ndarray) -> np.ndarray:
        """Estimated relative error of the differences of G and V in states (..., 6), the largest of all directions.

        Relative to the derivative or, where that is smaller, to the function over the scale on which it varies.
        """
        y, (_, dG, dV) = self._states(y), self._kernels
        return np.maximum(
            largest_errors(dG, 3, 9, y, self.params), largest_errors(dV, 3, 1, y, self.params)
        )

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy."""
        y = np.asarray(y, dtype=float)
        values = []
        for row in y.reshape(-1, 6):
            G = np.asarray(self.metric(row[:3].copy(), self.params))
            values.append(
                0.5 * row[3:] @ G @ row[3:] + float(self.potential(row[:3].copy(), self.params))
            )
        return np.array(values).reshape(y.shape[:-1])

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {"energy": self.energy}
