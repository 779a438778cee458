"""Chains of spherical pendula, from one link to hundreds of thousands, in O(N) operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..actions import lifted
from ..core.arguments import as_real, count, one_of, positive, positives
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, SpheresFormulation
from ..groups.so3 import cross_core
from ._spheres import block_names, project_ts2, two_actions, weights_force
from .system import System

# p = g, m (n), L (n). The pivots of the tension equations are 1/m_i + e_i >= 1/m_i > 0; with x_i = m_i e_i
#     e_{i+1} = (x_i + |q_i x q_{i+1}|^2) / (m_i (1 + x_i)),   x_1 = 0,
# a recursion without a subtraction: the solve stays accurate for a straight chain of any length.


@jit
def _factor(y, p, out):
    """Pivots: 1 + x_i into out[6 i + 3] and q_i . q_{i+1} into out[6 i + 5], counting from 0."""
    n = len(y) // 6
    x = 0.0
    for i in range(n):
        k = 6 * i
        out[k + 3] = 1.0 + x
        if i + 1 < n:
            a, b = (y[k], y[k + 1], y[k + 2]), (y[k + 6], y[k + 7], y[k + 8])
            s = cross_core(a, b)
            out[k + 5] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
            sine2 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2]
            x = p[2 + i] * (x + sine2) / (p[1 + i] * (1.0 + x))


@jit
def _omega(t, y, p):
    """f = (w_i, q_i x w_i'), from the rod tensions T_i."""
    n = len(y) // 6
    g = p[0]
    out = np.empty(6 * n)
    _factor(y, p, out)
    r = 0.0
    for i in range(n):  # forward substitution; the right-hand side goes into out[6 i + 4]
        k = 6 * i
        if i > 0:
            r *= out[k - 1] / out[k - 3]
        w2 = y[k + 3] * y[k + 3] + y[k + 4] * y[k + 4] + y[k + 5] * y[k + 5]
        r += p[1 + n + i] * w2
        if i == 0:
            r -= g * y[2]
        out[k + 4] = r
    above, T = 0.0, 0.0  # T_{i+2}, T_{i+1}
    for i in range(n - 1, -2, -1):
        below = 0.0
        if i >= 0:
            k = 6 * i
            c = out[k + 5] if i + 1 < n else 0.0
            below = (p[1 + i] * out[k + 4] + c * T) / out[k + 3]
        j = i + 1  # its neighbours' tensions are known now
        if j < n:
            k = 6 * j
            F0, F1, F2 = 0.0, 0.0, 0.0
            if j + 1 < n:
                f = above / p[1 + j]
                F0, F1, F2 = f * y[k + 6], f * y[k + 7], f * y[k + 8]
            if j > 0:
                f = below / p[j]
                F0, F1, F2 = F0 + f * y[k - 6], F1 + f * y[k - 5], F2 + f * y[k - 4]
            else:
                F2 -= g
            d = y[k] * F0 + y[k + 1] * F1 + y[k + 2] * F2
            scale = 1.0 / p[1 + n + j]
            out[k], out[k + 1], out[k + 2] = y[k + 3], y[k + 4], y[k + 5]
            out[k + 3] = scale * (y[k] * d - F0)  # q x (q x F) / L
            out[k + 4] = scale * (y[k + 1] * d - F1)
            out[k + 5] = scale * (y[k + 2] * d - F2)
        above, T = T, below
    return out


@jit
def _momentum(t, y, p):
    """f = (w_i, q_i x (pi_i' - w_i x pi_i)).

    pi_i = L_i q_i x P_i, with P_i the linear momentum of all masses from i on; its part along q_i is an
    impulse s_i in the rod, found from the rods' lengths with the same pivots as the tensions.
    """
    n = len(y) // 6
    g = p[0]
    out = np.empty(6 * n)
    _factor(y, p, out)
    for i in range(n):  # b_i = pi_i x q_i / L_i, the part of P_i across the rod
        k = 6 * i
        b = cross_core((y[k + 3], y[k + 4], y[k + 5]), (y[k], y[k + 1], y[k + 2]))
        for j in range(3):
            out[k + j] = b[j] / p[1 + n + i]
    r = 0.0
    for i in range(n):
        k = 6 * i
        if i > 0:
            r *= out[k - 1] / out[k - 3]
            r += (y[k] * out[k - 6] + y[k + 1] * out[k - 5] + y[k + 2] * out[k - 4]) / p[i]
        if i + 1 < n:
            r += (y[k] * out[k + 6] + y[k + 1] * out[k + 7] + y[k + 2] * out[k + 8]) / p[1 + i]
        out[k + 4] = r
    s, mass = 0.0, 0.0
    for i in range(
        n - 1, -1, -1
    ):  # P_i into out[6 i + (0, 1, 2)], the mass from i on into out[6 i + 3]
        k = 6 * i
        c = out[k + 5] if i + 1 < n else 0.0
        s = (p[1 + i] * out[k + 4] + c * s) / out[k + 3]
        mass += p[1 + i]
        out[k + 3] = mass
        for j in range(3):
            out[k + j] += s * y[k + j]
    u0, u1, u2 = 0.0, 0.0, 0.0  # velocity of the mass before
    for i in range(n):
        k = 6 * i
        L = p[1 + n + i]
        P = (out[k], out[k + 1], out[k + 2])
        v0, v1, v2 = P
        if i + 1 < n:
            v0, v1, v2 = v0 - out[k + 6], v1 - out[k + 7], v2 - out[k + 8]
        v0, v1, v2 = v0 / p[1 + i], v1 / p[1 + i], v2 / p[1 + i]
        d = (v0 - u0, v1 - u1, v2 - u2)  # L q'
        u0, u1, u2 = v0, v1, v2
        q = (y[k], y[k + 1], y[k + 2])
        w = cross_core(q, (d[0] / L, d[1] / L, d[2] / L))
        rate = cross_core(d, P)
        weight = g * L * out[k + 3]
        gyro = cross_core(w, (y[k + 3], y[k + 4], y[k + 5]))
        a = cross_core(
            q,
            (
                rate[0] - weight * q[1] - gyro[0],
                rate[1] + weight * q[0] - gyro[1],
                rate[2] - gyro[2],
            ),
        )
        for j in range(3):
            out[k + j] = w[j]
            out[k + 3 + j] = a[j]
    return out


@jit
def _lifted_omega(t, y, p):
    return lifted(_omega(t, y, p), y)


@jit
def _lifted_momentum(t, y, p):
    return lifted(_momentum(t, y, p), y)


_MOST = 10**7
_FIELDS = {"omega": (_omega, _lifted_omega), "momentum": (_momentum, _lifted_momentum)}


@dataclass(frozen=True)
class PendulumChain(System):
    """n point masses on rods in a row, the first hung from a fixed point, with e3 pointing UP.

    q_i' = w_i x q_i, and with the rod tensions T_i and 1/m_0 := 0

        (1/m_{i-1} + 1/m_i) T_i - (q_{i-1}.q_i / m_{i-1}) T_{i-1} - (q_i.q_{i+1} / m_i) T_{i+1}
            = L_i |w_i|^2 - [i=1] g e3.q_1,
        w_i' = q_i x (T_{i+1} q_{i+1} / m_i + T_{i-1} q_{i-1} / m_{i-1} - [i=1] g e3) / L_i.

    State, `formulation="omega"`: y = q1 (3,), w1 (3,), q2, w2, ...: directions of the rods, and their angular
    velocities in rad/s in space, q_i . w_i = 0. `formulation="momentum"`: y = q1, pi1, q2, pi2, ... with the
    conjugate momenta pi_i = sum_j M_ij q_i x q_j' (kg m^2/s), M_ij = (mass from max(i, j) on) L_i L_j.
    `masses` (kg) and `lengths` (m): n numbers, or one for all links; `g` (m/s^2).

    Conserved: the energy and the vertical momentum e3 . sum_i pi_i. The cost of the equations is proportional to
    n; the dense 3n x 3n solve of the paper gives the same numbers. Source: celledoni 5.
    """

    n: int = 2
    masses: Any = 1.0
    lengths: Any = 1.0
    g: float = 9.81
    formulation: str = "omega"

    def __post_init__(self) -> None:
        n = count("n", self.n, most=_MOST)
        object.__setattr__(self, "n", n)
        for name in ("masses", "lengths"):
            value = getattr(self, name)
            values = (
                (positive(name, value),) * n
                if as_real(value) is not None
                else positives(name, value, n)
            )
            object.__setattr__(self, name, values)
        object.__setattr__(self, "g", positive("g", self.g))
        one_of("formulation", self.formulation, _FIELDS)

    @classmethod
    def beam(cls, n: int, length: float = 5.0, **others: Any) -> PendulumChain:
        """n links that share a fixed total length (m), as an approximation of a beam (celledoni, figure 10)."""
        return cls(n, lengths=positive("length", length) / count("n", n), **others)

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return block_names(self.n, "w" if self.formulation == "omega" else "pi")

    @property
    def dim(self) -> int:
        return 6 * self.n

    @property
    def y0(self) -> np.ndarray:
        """All q_i = (1, 0, 1)/sqrt 2 and w_i = (0, 1, 0) (celledoni 5.3), a motion in the x-z plane."""
        s = np.sqrt(0.5)
        y = np.tile([s, 0.0, s, 0.0, 1.0, 0.0], self.n)
        return y if self.formulation == "omega" else self.to_momentum(y)

    @cached_property
    def params(self) -> np.ndarray:
        return np.array([self.g, *self.masses, *self.lengths])

    @made_of()
    def actions(self) -> dict[str, ActionFormulation]:
        """The two to choose from, "TS2" (the default) and "lift"."""
        return two_actions(*_FIELDS[self.formulation], self.params)

    @made_of()
    def formulations(self) -> dict[str, Any]:
        offered: dict[str, Any] = {"action": self.actions["TS2"]}
        if self.formulation == "omega":
            below = np.cumsum(self.masses[::-1])[::-1]  # the mass from link i on
            weights = -self.g * below * np.array(self.lengths)
            offered["spheres"] = SpheresFormulation(self._mass_matrix, weights_force, weights)
        return offered

    def _mass_matrix(self) -> np.ndarray:
        below = np.cumsum(self.masses[::-1])[::-1]
        later = np.maximum.outer(np.arange(self.n), np.arange(self.n))
        return below[later] * np.outer(self.lengths, self.lengths)

    def _blocks(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, w or pi, both (..., n, 3), and the masses and lengths as columns."""
        y = np.asarray(y, dtype=float)
        if y.shape[-1:] != (self.dim,):
            raise ValueError(f"y must have shape (..., {self.dim}), got {y.shape}")
        blocks = y.reshape(*y.shape[:-1], self.n, 2, 3)
        n = self.n
        return (
            blocks[..., 0, :],
            blocks[..., 1, :],
            self.params[1 : n + 1, None],
            self.params[n + 1 :, None],
        )

    def positions(self, y: Any) -> np.ndarray:
        """Places (m) of the masses, shape (..., n, 3), the pivot at the origin."""
        q, _, _, L = self._blocks(y)
        return np.cumsum(L * q, axis=-2)

    def angular_velocities(self, y: Any) -> np.ndarray:
        """w_i (rad/s) of states in the system's own form, shape (..., n, 3)."""
        _, second, _, _ = self._blocks(y)
        if self.formulation == "omega":
            return second
        y = np.asarray(y, dtype=float)
        rows = np.require(y.reshape(-1, self.dim), float, "CW")
        w = [_momentum(0.0, row, self.params).reshape(self.n, 2, 3)[:, 0] for row in rows]
        return np.array(w).reshape(second.shape)

    def to_momentum(self, y: Any) -> np.ndarray:
        """States (q_i, pi_i) from states (q_i, w_i), shape (..., 6 n)."""
        q, w, m, L = self._blocks(y)
        v = np.cumsum(L * np.cross(w, q), axis=-2)
        P = np.cumsum((m * v)[..., ::-1, :], axis=-2)[..., ::-1, :]
        return np.stack([q, L * np.cross(q, P)], axis=-2).reshape(np.shape(y))

    def to_omega(self, y: Any) -> np.ndarray:
        """States (q_i, w_i) from states (q_i, pi_i), shape (..., 6 n)."""
        if self.formulation == "omega":
            other = PendulumChain(self.n, self.masses, self.lengths, self.g, "momentum")
            return other.to_omega(y)
        return np.stack([self._blocks(y)[0], self.angular_velocities(y)], axis=-2).reshape(
            np.shape(y)
        )

    def project(self, y: Any) -> np.ndarray:
        """States with unit q_i and the second vectors orthogonal to them."""
        return project_ts2(y)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy, zero potential at the pivot's height."""
        q, _, m, L = self._blocks(y)
        v = np.cumsum(L * np.cross(self.angular_velocities(y), q), axis=-2)
        height = self.positions(y)[..., 2]
        return (m[:, 0] * (0.5 * (v * v).sum(-1) + self.g * height)).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def vertical(y: np.ndarray) -> np.ndarray:
            y = np.asarray(y, dtype=float)
            pi = y if self.formulation == "momentum" else self.to_momentum(y)
            return pi[..., 5::6].sum(-1)

        return {"energy": self.energy, "vertical momentum": vertical}
