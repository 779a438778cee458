"""A grid of magnetic needles, pinned at their middles, that turn in each other's field."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..actions import lifted
from ..core.arguments import count, positive
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, SpheresFormulation
from ._spheres import block_names, project_ts2, two_actions
from .system import System

MU0_4PI = 1e-7  # mu_0 / 4 pi in N/A^2

# p = (mu_0/4 pi) nu^2 / M, then the positions (3 n)


@jit
def _add_gradients(y, p, stride, first, out):
    """Adds G_i = sum_j p[0] (q_j - 3 (q_j.e) e)/r^3 at out[stride i + first]; every pair is visited once."""
    n = len(y) // 6
    for i in range(n):
        k, a = 6 * i, stride * i + first
        for j in range(i + 1, n):
            m, b = 6 * j, stride * j + first
            r0 = p[1 + 3 * j] - p[1 + 3 * i]
            r1 = p[2 + 3 * j] - p[2 + 3 * i]
            r2 = p[3 + 3 * j] - p[3 + 3 * i]
            inverse = 1.0 / (r0 * r0 + r1 * r1 + r2 * r2)
            c = p[0] * inverse * math.sqrt(inverse)
            mine = 3.0 * inverse * (y[k] * r0 + y[k + 1] * r1 + y[k + 2] * r2)
            other = 3.0 * inverse * (y[m] * r0 + y[m + 1] * r1 + y[m + 2] * r2)
            out[a] += c * (y[m] - other * r0)
            out[a + 1] += c * (y[m + 1] - other * r1)
            out[a + 2] += c * (y[m + 2] - other * r2)
            out[b] += c * (y[k] - mine * r0)
            out[b + 1] += c * (y[k + 1] - mine * r1)
            out[b + 2] += c * (y[k + 2] - mine * r2)


@jit
def _force(t, y, p):
    """-dV/dq_i = -G_i, with p[0] = (mu_0/4 pi) nu^2."""
    out = np.zeros(len(y) // 2)
    _add_gradients(y, p, 3, 0, out)
    for i in range(len(out)):
        out[i] = -out[i]
    return out


@jit
def _field(t, y, p):
    """f = (w_i, q_i x w_i') with M w_i' = -q_i x sum_j c (q_j - 3 (q_j.e) e)/r^3."""
    n = len(y) // 6
    out = np.zeros(6 * n)
    _add_gradients(y, p, 6, 3, out)
    for k in range(0, 6 * n, 6):
        # w' = G x q, so a = q x w' is the part of G across q
        d = out[k + 3] * y[k] + out[k + 4] * y[k + 1] + out[k + 5] * y[k + 2]
        for i in range(3):
            out[k + i] = y[k + 3 + i]
            out[k + 3 + i] -= d * y[k + i]
    return out


@jit
def _lifted_field(t, y, p):
    return lifted(_field(t, y, p), y)


_MOST = 10**5  # needles: 5e9 pairs


@dataclass(frozen=True)
class MagneticDipoles(System):
    """q_i' = w_i x q_i, M w_i' = -q_i x sum_j (mu_0 nu^2 / 4 pi r^3) (q_j - 3 (q_j . e_ij) e_ij), M = m l^2 / 12.

    q_i points from the south to the north pole of needle i; r and e_ij are length and direction of the line from
    i to j. The needles stand in a plane grid, number i (from 0) at `spacing` (i mod cols, i div cols, 0).

    State: y = q1 (3,), w1 (3,), q2, w2, ...: directions, and angular velocities in rad/s in space, q_i . w_i = 0.
    `mass` (kg) and `length` (m) of a needle, `moment` nu (A m^2), `spacing` (m). Conserved: the energy
    sum M |w_i|^2 / 2 + sum_{i<j} (mu_0 nu^2 / 4 pi r^3) (q_i . q_j - 3 (q_i . e)(q_j . e)). All pairs interact; the
    cost is proportional to (rows cols)^2. Source: ortolan 7.2.3, prefactor and mu_0 corrected.
    """

    rows: int = 4
    cols: int = 4
    mass: float = 0.05
    length: float = 0.02
    moment: float = 0.1
    spacing: float = 0.024

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.n > _MOST:
            raise ValueError(
                f"rows and cols: {self.rows} x {self.cols} needles are too many, all pairs interact; at most {_MOST}"
            )
        for name in ("mass", "length", "moment", "spacing"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    @property
    def n(self) -> int:
        """Number of needles."""
        return self.rows * self.cols

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return block_names(self.n)

    @property
    def positions(self) -> np.ndarray:
        """Places of the needles (m), shape (n, 3)."""
        i = np.arange(self.n)
        return self.spacing * np.stack([i % self.cols, i // self.cols, 0 * i], axis=-1)

    @property
    def inertia(self) -> float:
        """Moment of inertia of a needle, m l^2 / 12 (kg m^2)."""
        return self.mass * self.length**2 / 12.0

    @property
    def y0(self) -> np.ndarray:
        """All along e1 at rest, except that the first turns, w = (0, 0.5, 0), and the last is tilted."""
        y = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], self.n)
        y[4] = 0.5
        if self.n > 1:
            y[-6:-3] = [0.353508623948073, 0.353608626387662, -0.866021126843087]
        return project_ts2(y)

    @property
    def params(self) -> np.ndarray:
        scale = MU0_4PI * self.moment**2 / self.inertia
        return np.concatenate([[scale], self.positions.ravel()])

    @made_of()
    def actions(self) -> dict[str, ActionFormulation]:
        """The two to choose from, "TS2" (the default) and "lift"."""
        return two_actions(_field, _lifted_field, self.params)

    @made_of()
    def formulations(self) -> dict[str, Any]:
        p = self.params
        p[0] *= self.inertia
        return {
            "action": self.actions["TS2"],
            "spheres": SpheresFormulation(lambda: self.inertia * np.eye(self.n), _force, p),
        }

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit q_i and w_i orthogonal to them."""
        return project_ts2(y)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic energy plus the magnetic energy of all pairs."""
        y = np.asarray(y, dtype=float)
        blocks = y.reshape(*y.shape[:-1], self.n, 2, 3)
        q, w = blocks[..., 0, :], blocks[..., 1, :]
        total = 0.5 * self.inertia * (w * w).sum((-2, -1))
        places = self.positions
        for i in range(self.n - 1):  # row by row: memory stays proportional to n
            r = places[i + 1 :] - places[i]
            distance = np.linalg.norm(r, axis=-1)
            e = r / distance[:, None]
            along = (q[..., i + 1 :, :] * e).sum(-1) * np.einsum("...k,jk->...j", q[..., i, :], e)
            dots = np.einsum("...jk,...k->...j", q[..., i + 1 :, :], q[..., i, :])
            total = total + MU0_4PI * self.moment**2 * ((dots - 3.0 * along) / distance**3).sum(-1)
        return total

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {"energy": self.energy}
