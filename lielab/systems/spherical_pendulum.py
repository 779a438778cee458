"""The spherical pendulum: a point mass on a rod of fixed length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import lifted
from ..core.arguments import positive
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, SpheresFormulation
from ._spheres import project_ts2, two_actions, weights_force
from .system import System


@jit
def _field(t, y, p):
    """f = (w, (g/l) k): A x q = w x q and a x q = (g/l) k x q."""
    out = np.zeros(6)
    out[0], out[1], out[2] = y[3], y[4], y[5]
    out[5] = p[0]
    return out


@jit
def _lifted_field(t, y, p):
    return lifted(_field(t, y, p), y)


@dataclass(frozen=True)
class SphericalPendulum(System):
    """q' = w x q, w' = (g/l) k x q, with k = e3 pointing up and q from the pivot to the mass.

    State: y = q (3,), w (3,): direction of the rod, and its angular velocity in rad/s in space, q . w = 0.
    `m` mass (kg), `l` length (m), `g` (m/s^2). Conserved: energy m l^2 |w|^2 / 2 + m g l k . q and the
    vertical momentum m l^2 k . w. Source: ortolan (7.5), sign corrected.
    """

    m: float = 2.0
    l: float = 2.0  # noqa: E741  the field's letter for a length
    g: float = 9.81

    parts = (("q", (3,)), ("w", (3,)))

    def __post_init__(self) -> None:
        for name in ("m", "l", "g"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    @property
    def y0(self) -> np.ndarray:
        """q = (1, 1, -1)/sqrt 3, w = (1, 1, 2): the consistent start of ortolan 7.2.1."""
        return np.concatenate([np.array([1.0, 1.0, -1.0]) / np.sqrt(3.0), [1.0, 1.0, 2.0]])

    @property
    def params(self) -> np.ndarray:
        return np.array([self.g / self.l])

    @made_of()
    def actions(self) -> dict[str, ActionFormulation]:
        """The two to choose from, "TS2" (the default) and "lift"."""
        return two_actions(_field, _lifted_field, self.params)

    @made_of()
    def formulations(self) -> dict[str, Any]:
        mass, weight = self.m * self.l**2, -self.m * self.g * self.l
        return {
            "action": self.actions["TS2"],
            "spheres": SpheresFormulation(lambda: [[mass]], weights_force, np.array([weight])),
        }

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit q and w orthogonal to it."""
        return project_ts2(y)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy, zero potential at the pivot's height."""
        y = np.asarray(y, dtype=float)
        q, w = y[..., :3], y[..., 3:]
        return 0.5 * self.m * self.l**2 * (w * w).sum(-1) + self.m * self.g * self.l * q[..., 2]

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {
            "energy": self.energy,
            "vertical momentum": lambda y: self.m * self.l**2 * np.asarray(y)[..., 5],
        }
