"""Chains of spherical pendula, from one link to hundreds of thousands, in O(N) operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..actions import lifted
from ..core.arguments import as_real, count, one_of, positive, positives
from ..core.jit import jit, lent
from ..core.readers import made_of
from ..core.values import E3, ZERO, cross, dot, store, vec3
from ..formulations.forms import ActionFormulation, SpheresFormulation
from ._spheres import block_names, project_ts2, two_actions, weights_force
from .system import System

# p = g, m (n), L (n). Rods and masses count from 1, as in the paper and in the names q1, w1, ...: rod i leads from mass
# i - 1 to mass i, and 1/m_0 := 0. In arrays each stands one place earlier.


@jit
def _pivots(y, m, s, c):
    """s_{i+1} = m_{i+1} (s_i + |q_i x q_{i+1}|^2) / (m_i (1 + s_i)), s_1 = 0, and c_i = q_i . q_{i+1}, c_n := 0.

    d_i = (1 + s_i)/m_i are the pivots of the elimination in `_tensions`, d_1 = 1/m_1 and

        d_{i+1} = 1/m_i + 1/m_{i+1} - (c_i/m_i)^2/d_i,   that is,   s_{i+1} = m_{i+1}/m_i (1 - c_i^2/(1 + s_i)).

    The first line is this with 1 - c_i^2 = |q_i x q_{i+1}|^2. Nothing is subtracted in it: d_i is at least 1/m_i,
    and accurate for a straight chain of any length.
    """
    y, m, s, c = lent(y), lent(m), lent(s), lent(c)
    n = len(m)
    s[0], c[n - 1] = 0.0, 0.0
    for i in range(n - 1):
        q, after = vec3(y, 6 * i), vec3(y, 6 * i + 6)
        bend = cross(q, after)
        c[i] = dot(q, after)
        # m_{i+1}/m_i (1 - c_i^2/(1 + s_i)), without the difference
        s[i + 1] = m[i + 1] * (s[i] + dot(bend, bend)) / (m[i] * (1.0 + s[i]))


@jit
def _back(m, s, c, r, T):
    """T_i = (m_i r_i + c_i T_{i+1}) / (1 + s_i) from the last rod on, T_{n+1} := 0: back substitution."""
    m, s, c, r, T = lent(m), lent(s), lent(c), lent(r), lent(T)
    n = len(m)
    T[n] = 0.0
    for i in range(n - 1, -1, -1):
        T[i] = (m[i] * r[i] + c[i] * T[i + 1]) / (1.0 + s[i])


@jit
def _tensions(y, g, m, L, rows):
    """The rods' tensions T_1, ..., T_n, and T_{n+1} = 0, in the first of the rows (4, n + 1), by O(n) operations.

    They stand for the R(q) w' = g of celledoni 5.2, which is what is left of Newton's equations of the masses when the
    tensions are taken out. With the masses at x_i, the fixed point at x_0, and q_i . q_i'' = -|w_i|^2,

        m_i x_i'' = T_{i+1} q_{i+1} - T_i q_i - m_i g e3,   L_i q_i = x_i - x_{i-1}, so that
        L_i q_i'' = F_i - (1/m_{i-1} + 1/m_i) T_i q_i
        with F_i = T_{i+1}/m_i q_{i+1} + T_{i-1}/m_{i-1} q_{i-1} - [i=1] g e3.

    Across q_i this is w_i' = q_i x q_i'' = q_i x F_i / L_i, as in `_omega`; along it, the rows of a tridiagonal system,

        -c_{i-1}/m_{i-1} T_{i-1} + (1/m_{i-1} + 1/m_i) T_i - c_i/m_i T_{i+1} = b_i = L_i |w_i|^2 - [i=1] g e3 . q_1.

    From the first rod down to the free end, c_{i-1}/(1 + s_{i-1}) times row i - 1 is added to row i. That takes T_{i-1}
    out of it and leaves (1 + s_i)/m_i, the pivot d_i of `_pivots`, before T_i. From the free end up `_back` finds T_i:

        (1 + s_i)/m_i T_i - c_i/m_i T_{i+1} = r_i = b_i + c_{i-1}/(1 + s_{i-1}) r_{i-1}
        T_i = (m_i r_i + c_i T_{i+1}) / (1 + s_i)

    A test solves R(q) w' = g itself and compares.
    """
    y, m, L, rows = lent(y), lent(m), lent(L), lent(rows)
    n = len(m)
    T, s, c, r = rows[0], rows[1], rows[2], rows[3]
    _pivots(y, m, s, c)
    for i in range(n):
        q, w = vec3(y, 6 * i), vec3(y, 6 * i + 3)
        b = L[i] * dot(w, w)
        if i == 0:
            r[i] = b - g * q.z  # r_1 = b_1, q.z is e3 . q_1
        else:
            # r_i = b_i + c_{i-1}/(1 + s_{i-1}) r_{i-1}: for celledoni 5.2
            r[i] = b + c[i - 1] / (1.0 + s[i - 1]) * r[i - 1]
    _back(m, s, c, r, T)


@jit
def _omega(t, y, p):
    """f = (w_i, q_i x h_i) of celledoni 5.2, h_i = w_i' from the tensions T_i in the place of R(q)^-1 (`_tensions`)."""
    n, g = len(y) // 6, p[0]
    m, L = p[1 : n + 1], p[n + 1 : 2 * n + 1]
    out, rows = np.empty(6 * n), np.empty((4, n + 1))
    _tensions(y, g, m, L, rows)
    T = rows[0]
    for i in range(n):
        q, w, F = vec3(y, 6 * i), vec3(y, 6 * i + 3), ZERO
        if i < n - 1:
            F += T[i + 1] / m[i] * vec3(y, 6 * i + 6)  # T_{i+1}/m_i q_{i+1}
        if i > 0:
            F += T[i - 1] / m[i - 1] * vec3(y, 6 * i - 6)  # T_{i-1}/m_{i-1} q_{i-1}
        else:
            F -= g * E3
        store(w, out, 6 * i)
        a = 1.0 / L[i] * (dot(q, F) * q - F)  # a = q x h, h = w' = q x F / L: celledoni 5.2
        store(a, out, 6 * i + 3)
    return out


@jit
def _momentum(t, y, p):
    """f = (w_i, q_i x (pi_i' - w_i x pi_i)), the Hamiltonian form of celledoni 5.2, its printed order mended.

    pi_i = L_i q_i x P_i, with P_i the linear momentum of all masses from i on. b_i = pi_i x q_i / L_i is its part
    across the rod, and its part along q_i is an impulse S_i in the rod, found from the rods' lengths with the same
    pivots as the tensions.
    """
    n, g = len(y) // 6, p[0]
    m, L = p[1 : n + 1], p[n + 1 : 2 * n + 1]
    out, P = np.empty(6 * n), np.empty(3 * n)
    s, c, r, S = np.empty(n), np.empty(n), np.empty(n), np.empty(n + 1)
    _pivots(y, m, s, c)
    for i in range(n):
        store(cross(vec3(y, 6 * i + 3), vec3(y, 6 * i)) / L[i], P, 3 * i)  # b_i
    for i in range(n):
        q, r[i] = vec3(y, 6 * i), 0.0
        if i > 0:
            r[i] = c[i - 1] / (1.0 + s[i - 1]) * r[i - 1] + dot(q, vec3(P, 3 * i - 3)) / m[i - 1]
        if i < n - 1:
            r[i] += dot(q, vec3(P, 3 * i + 3)) / m[i]
    _back(m, s, c, r, S)
    below = np.empty(n)  # the mass from i on
    for i in range(n - 1, -1, -1):
        below[i] = m[i] + (below[i + 1] if i < n - 1 else 0.0)
        store(vec3(P, 3 * i) + S[i] * vec3(y, 6 * i), P, 3 * i)
    before = ZERO  # the velocity of mass i - 1
    for i in range(n):
        q, pi, P_i = vec3(y, 6 * i), vec3(y, 6 * i + 3), vec3(P, 3 * i)
        v = (P_i - vec3(P, 3 * i + 3)) / m[i] if i < n - 1 else P_i / m[i]
        d = v - before  # L q'
        before = v
        w = cross(q, d / L[i])
        rate = cross(d, P_i) + g * L[i] * below[i] * cross(E3, q)  # pi'
        store(w, out, 6 * i)
        store(cross(q, rate - cross(w, pi)), out, 6 * i + 3)
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
    n; the dense 3n x 3n solve of the paper gives the same numbers. (ELN and RATTLE, which know the mass matrix only,
    solve dense n x n systems: n^3 a step.) Source: celledoni 5.2.
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
