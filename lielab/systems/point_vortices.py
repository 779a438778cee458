"""Point vortices on the unit sphere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..actions import SO3N_ON_SPHERES
from ..core.arguments import as_real, number, vector
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation
from ._spheres import block_names, project_sphere, with_directions
from .system import System


@jit
def _field(t, y, p):
    """f_i = (1/4 pi) sum_j G_j q_j / (1 - q_i . q_j), its part along q_i replaced by s q_i; p = (G_1, ..., G_n, s).

    1 - q_i . q_j = |q_i - q_j|^2 / 2 does not cancel for close vortices.
    """
    n = len(y) // 3
    out = np.zeros(3 * n)
    for i in range(n):
        k = 3 * i
        for j in range(i + 1, n):
            m = 3 * j
            d0, d1, d2 = y[m] - y[k], y[m + 1] - y[k + 1], y[m + 2] - y[k + 2]
            c = 1.0 / (2.0 * math.pi * (d0 * d0 + d1 * d1 + d2 * d2))
            a, b = c * p[j], c * p[i]
            # q_j - q_i stands for q_j: the -q_i too much does not turn q_i
            out[k] += a * d0
            out[k + 1] += a * d1
            out[k + 2] += a * d2
            out[m] -= b * d0
            out[m + 1] -= b * d1
            out[m + 2] -= b * d2
    for k in range(0, 3 * n, 3):
        along = out[k] * y[k] + out[k + 1] * y[k + 1] + out[k + 2] * y[k + 2] - p[n]
        for i in range(3):
            out[k + i] -= along * y[k + i]
    return out


@dataclass(frozen=True)
class PointVortices(System):
    """q_i' = (1/4 pi) sum_j G_j q_j x q_i / (1 - q_i . q_j) on the unit sphere.

    State: y = q1 (3,), q2 (3,), ...: unit vectors from the centre (radius 1 m). `strengths`: circulations G_i in
    m^2/s, of either sign; zero is a passive tracer. Conserved: the momentum map sum G_i q_i and the Hamiltonian
    -(1/4 pi) sum_{i<j} G_i G_j log(2 - 2 q_i . q_j), which `energy` returns (m^4/s^2; times density and depth it is
    the interaction energy).

    Exact solutions: any pair turns about sum G_i q_i with angular velocity sum G_i q_i / (4 pi (1 - q_1 . q_2)); a
    ring of n equal vortices at the height z turns about e3 with G (n - 1) z / (4 pi (1 - z^2)), see `ring`.

    `isotropy` s (rad/s) adds s q_i to the generators: q_i x q_i = 0, so the motion is the same, but a method of Lie
    groups takes other steps, since its exponentials turn about other axes.
    Source: the further work of ortolan 7.3; the equations are those of Bogomolov (1977).
    """

    strengths: tuple[float, ...] = (1.0,) * 6
    isotropy: float = 0.0

    def __post_init__(self) -> None:
        try:
            size = len(self.strengths)
        except TypeError:
            raise ValueError(
                f"strengths must be a sequence of numbers, got {self.strengths!r}"
            ) from None
        if size < 2:
            raise ValueError(f"strengths must hold at least two vortices, got {size}")
        object.__setattr__(self, "strengths", vector("strengths", self.strengths, size))
        object.__setattr__(self, "isotropy", number("isotropy", self.isotropy))

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return block_names(len(self.strengths), "")

    def ring(self, height: float = 0.5) -> np.ndarray:
        """State with the vortices equally spaced on the circle of that height z, -1 < z < 1."""
        z = as_real(height)
        if z is None or not -1.0 < z < 1.0:
            raise ValueError(f"height must lie between -1 and 1, got {height!r}")
        n = len(self.strengths)
        angle = 2.0 * np.pi * np.arange(n) / n
        radius = math.sqrt(1.0 - z**2)
        q = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, z)], axis=-1)
        return q.ravel()

    @property
    def y0(self) -> np.ndarray:
        """The ring at z = 1/2, a relative equilibrium where all strengths are equal."""
        return self.ring()

    @property
    def params(self) -> np.ndarray:
        return np.array(self.strengths)

    @made_of()
    def formulations(self) -> dict[str, ActionFormulation]:
        p = np.array([*self.strengths, self.isotropy])
        return with_directions(ActionFormulation(SO3N_ON_SPHERES, _field, p))

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where a direction is not a unit vector or two vortices coincide."""
        super().check(y)
        q = np.asarray(y, dtype=float).reshape(-1, 3)
        for i in range(len(q) - 1):
            apart = np.linalg.norm(q[i + 1 :] - q[i], axis=-1)
            if apart.min() < 1e-12:
                j = i + 1 + int(apart.argmin())
                raise ValueError(
                    f"vortices {i + 1} and {j + 1} of y coincide, where the velocity is infinite; move one of them"
                )

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit vectors."""
        return project_sphere(y)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """The Hamiltonian, -(1/4 pi) sum over pairs of G_i G_j log |q_i - q_j|^2."""
        y = np.asarray(y, dtype=float)
        q, G = y.reshape(*y.shape[:-1], -1, 3), np.array(self.strengths)
        total = np.zeros(y.shape[:-1])
        for i in range(len(G) - 1):
            d = q[..., i + 1 :, :] - q[..., i : i + 1, :]
            total -= (G[i] * G[i + 1 :] * np.log((d * d).sum(-1))).sum(-1) / (4.0 * np.pi)
        return total

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def moment(y: np.ndarray) -> np.ndarray:
            y = np.asarray(y, dtype=float)
            return np.einsum(
                "i,...ij->...j", np.array(self.strengths), y.reshape(*y.shape[:-1], -1, 3)
            )

        return {"energy": self.energy, "moment": moment}
