"""The double spherical pendulum: two point masses on rods, the second hung from the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import lifted
from ..core.arguments import positive, positives
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, SpheresFormulation
from ._spheres import project_ts2, two_actions, weights_force
from .system import System


@jit
def _field(t, y, p):
    """f = (w_i, q_i x w_i'), from the two rod tensions; the scalars stay in registers.

    (1/m1) T1 - (c/m1) T2 = l1 |w1|^2 + g e3 . q1 and (1/m1 + 1/m2) T2 - (c/m1) T1 = l2 |w2|^2, c = q1 . q2.
    """
    m1, m2, l1, l2, g = p[0], p[1], p[2], p[3], p[4]
    a, b = (y[0], y[1], y[2]), (y[6], y[7], y[8])
    c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    r1 = l1 * (y[3] * y[3] + y[4] * y[4] + y[5] * y[5]) + g * a[2]
    r2 = l2 * (y[9] * y[9] + y[10] * y[10] + y[11] * y[11])
    s2 = m2 * (r2 + c * r1) / (m1 + m2 * (1.0 - c * c))  # T2 / m1
    s1 = r1 + c * s2  # T1 / m1
    f1, f2, g1 = s2 / l1, s1 / l2, g / l1
    d = f1 * c + g1 * a[2]
    out = np.empty(12)
    for i in range(3):
        out[i] = y[3 + i]
        out[3 + i] = d * a[i] - f1 * b[i]  # q1 x (q1 x (f1 q2 + g1 e3))
        out[6 + i] = y[9 + i]
        out[9 + i] = f2 * (c * b[i] - a[i])
    out[5] -= g1
    return out


@jit
def _lifted_field(t, y, p):
    return lifted(_field(t, y, p), y)


@dataclass(frozen=True)
class DoubleSphericalPendulum(System):
    """Two spherical pendula in a row, with k = e3 pointing DOWN (along gravity), as in ortolan 7.2.2.

    The kinetic energy is 1/2 sum_ij M_ij (w_i x q_i) . (w_j x q_j) with M_11 = (m1 + m2) l1^2, M_22 = m2 l2^2,
    M_12 = m2 l1 l2; the potential energy -(m1 + m2) g l1 k . q1 - m2 g l2 k . q2.

    State: y = q1 (3,), w1 (3,), q2 (3,), w2 (3,): directions of the rods, and their angular velocities in
    rad/s in space, q_i . w_i = 0. `masses` (kg), `lengths` (m), `g` (m/s^2). Conserved: the energy and the
    vertical momentum k . sum_i q_i x sum_j M_ij q_j'. Source: ortolan (7.6)-(7.7). The same motion as
    `PendulumChain` of two links, which has e3 up.
    """

    masses: tuple[float, float] = (2.0, 1.0)
    lengths: tuple[float, float] = (1.0, 1.0)
    g: float = 9.81

    parts = (("q1", (3,)), ("w1", (3,)), ("q2", (3,)), ("w2", (3,)))

    def __post_init__(self) -> None:
        for name in ("masses", "lengths"):
            object.__setattr__(self, name, positives(name, getattr(self, name), 2))
        object.__setattr__(self, "g", positive("g", self.g))

    @property
    def y0(self) -> np.ndarray:
        """The start of ortolan 7.2.2; q2 = -k puts the second mass above the first."""
        q1 = [0.866019052628739, 0.0, 0.500011000363013]
        return project_ts2([*q1, -0.433, 0.0, 0.749956, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0])

    @property
    def params(self) -> np.ndarray:
        return np.array([*self.masses, *self.lengths, self.g])

    @made_of()
    def actions(self) -> dict[str, ActionFormulation]:
        """The two to choose from, "TS2" (the default) and "lift"."""
        return two_actions(_field, _lifted_field, self.params)

    @made_of()
    def formulations(self) -> dict[str, Any]:
        m1, m2, l1, l2, g = self.params
        mass = (((m1 + m2) * l1**2, m2 * l1 * l2), (m2 * l1 * l2, m2 * l2**2))
        weights = g * np.array([(m1 + m2) * l1, m2 * l2])
        return {
            "action": self.actions["TS2"],
            "spheres": SpheresFormulation(lambda: mass, weights_force, weights),
        }

    def _momenta(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q_i and sum_j M_ij q_j', both (..., 2, 3), the velocities q_j', and M_ii / l_i."""
        y = np.asarray(y, dtype=float)
        blocks = y.reshape(*y.shape[:-1], 2, 2, 3)
        q, w = blocks[..., 0, :], blocks[..., 1, :]
        m1, m2, l1, l2, _ = self.params
        M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
        v = np.cross(w, q)
        return q, M @ v, v, np.diag(M) / np.array([l1, l2])

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit q_i and w_i orthogonal to them."""
        return project_ts2(y)

    def positions(self, y: np.ndarray) -> np.ndarray:
        """Places (m) of the masses, shape (..., 2, 3), the pivot at the origin and e3 down."""
        q = self._momenta(y)[0]
        return np.cumsum(np.array(self.lengths)[:, None] * q, axis=-2)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy, zero potential at the pivot's height."""
        q, Mv, v, weights = self._momenta(y)
        return 0.5 * (v * Mv).sum((-2, -1)) - self.g * (weights * q[..., 2]).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def vertical(y: np.ndarray) -> np.ndarray:
            q, Mv, _, _ = self._momenta(y)
            return np.cross(q, Mv)[..., 2].sum(-1)

        return {"energy": self.energy, "vertical momentum": vertical}
