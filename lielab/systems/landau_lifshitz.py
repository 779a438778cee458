"""Classical spins: the Landau-Lifshitz equation on a chain or ring of unit vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..actions import SO3N_ON_SPHERES
from ..core.arguments import count, flag, number, positive, vector
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation
from ..groups.so3 import cross_core
from ._spheres import block_names, project_sphere, with_directions
from .system import System

# p = exchange, anisotropy, field (3), g, damping, ring (0 or 1), isotropy, axis (3)


@jit
def _field(t, y, p):
    """f_i = g H_i + l m_i x H_i, the part of g H_i along m_i, which does not turn it, replaced by s m_i."""
    n = len(y) // 3
    out = np.empty(3 * n)
    for i in range(n):
        k = 3 * i
        m = (y[k], y[k + 1], y[k + 2])
        pull = 2.0 * p[1] * (p[9] * m[0] + p[10] * m[1] + p[11] * m[2])
        H0, H1, H2 = p[2] + pull * p[9], p[3] + pull * p[10], p[4] + pull * p[11]
        if i > 0 or p[7] > 0.0:
            a = k - 3 if i > 0 else 3 * n - 3
            H0, H1, H2 = H0 + p[0] * y[a], H1 + p[0] * y[a + 1], H2 + p[0] * y[a + 2]
        if i + 1 < n or p[7] > 0.0:
            a = k + 3 if i + 1 < n else 0
            H0, H1, H2 = H0 + p[0] * y[a], H1 + p[0] * y[a + 1], H2 + p[0] * y[a + 2]
        along = m[0] * H0 + m[1] * H1 + m[2] * H2
        c = cross_core(m, (H0, H1, H2))
        out[k] = p[5] * (H0 - along * m[0]) + p[6] * c[0] + p[8] * m[0]
        out[k + 1] = p[5] * (H1 - along * m[1]) + p[6] * c[1] + p[8] * m[1]
        out[k + 2] = p[5] * (H2 - along * m[2]) + p[6] * c[2] + p[8] * m[2]
    return out


_MOST = 10**7  # spins


@dataclass(frozen=True)
class LandauLifshitz(System):
    """m_i' = -g m_i x H_i - l m_i x (m_i x H_i), H_i = J (m_{i-1} + m_{i+1}) + 2 K (m_i . a) a + B.

    State: y = q1 (3,), q2 (3,), ...: the n spins m_i as unit vectors. `exchange` J, `anisotropy` K (an easy
    `axis` where positive, a hard one where negative) and `field` B (3,) in tesla; `axis` a (3,), e3 where left out, is
    a direction whose length does not count. `g` the gyromagnetic ratio in rad/(s T), `damping` l >= 0 in the same unit;
    `ring` joins the last spin to the first (n of at least 3). The default numbers are of order one, not
    those of a material.

    Energy, in units of the moment of one spin (A m^2 T = J): -J sum m_i . m_{i+1} - K sum (m_i . a)^2 - B . sum m_i.
    Without damping it is conserved, with damping it decreases: E' = -l sum |m_i x H_i|^2. Also conserved without
    damping: the total moment along B or a where they are parallel or one is absent, and all of it where both are.

    `isotropy` s (rad/s) adds s m_i to the generators, as in `PointVortices`: the same motion, other steps.

    Exact for one spin in B = b e3: it turns with g b about e3, and its height is tanh(l b t + artanh z_0).
    Source: the further work of ortolan 7.3; Landau & Lifshitz (1935).
    """

    n: int = 8
    exchange: float = 1.0
    anisotropy: float = 0.0
    field: tuple[float, float, float] = (0.0, 0.0, 1.0)
    damping: float = 0.0
    g: float = 1.0
    ring: bool = False
    isotropy: float = 0.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", count("n", self.n, most=_MOST))
        for name in ("exchange", "anisotropy", "isotropy"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        object.__setattr__(self, "field", vector("field", self.field, 3))
        axis = np.array(vector("axis", self.axis, 3))
        if not np.abs(axis).max() > 0.0:
            raise ValueError(f"axis must not be zero: it has no direction, got {self.axis!r}")
        axis = axis / np.abs(axis).max()
        unit = (
            self.axis if abs(math.hypot(*self.axis) - 1.0) < 4e-16 else axis / np.linalg.norm(axis)
        )
        object.__setattr__(self, "axis", tuple(float(x) for x in unit))
        object.__setattr__(self, "g", positive("g", self.g))
        object.__setattr__(self, "ring", flag("ring", self.ring))
        damping = number("damping", self.damping)
        if damping < 0.0:
            raise ValueError(f"damping must not be negative, got {self.damping!r}")
        object.__setattr__(self, "damping", damping)
        if self.ring and self.n < 3:
            raise ValueError(f"a ring needs n of at least 3, got {self.n}; use ring=False")

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return block_names(self.n, "")

    @property
    def y0(self) -> np.ndarray:
        """Spins tilted by 0.5 rad from e3, the tilt turning once over the chain."""
        angle = 2.0 * np.pi * np.arange(self.n) / self.n
        q = np.stack(
            [
                np.sin(0.5) * np.cos(angle),
                np.sin(0.5) * np.sin(angle),
                np.full(self.n, np.cos(0.5)),
            ],
            axis=-1,
        )
        return q.ravel()

    @property
    def params(self) -> np.ndarray:
        tail = [self.g, self.damping, float(self.ring), self.isotropy, *self.axis]
        return np.array([self.exchange, self.anisotropy, *self.field, *tail])

    @made_of()
    def formulations(self) -> dict[str, ActionFormulation]:
        return with_directions(ActionFormulation(SO3N_ON_SPHERES, _field, self.params))

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with unit vectors."""
        return project_sphere(y)

    def total_moment(self, y: np.ndarray) -> np.ndarray:
        """Sum of the spins, shape (..., 3)."""
        y = np.asarray(y, dtype=float)
        return y.reshape(*y.shape[:-1], -1, 3).sum(-2)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Exchange, anisotropy and field energy."""
        y = np.asarray(y, dtype=float)
        m = y.reshape(*y.shape[:-1], -1, 3)
        bonds = (m[..., 1:, :] * m[..., :-1, :]).sum((-2, -1))
        if self.ring:
            bonds = bonds + (m[..., 0, :] * m[..., -1, :]).sum(-1)
        axis = ((m @ np.array(self.axis)) ** 2).sum(-1)
        return (
            -self.exchange * bonds
            - self.anisotropy * axis
            - self.total_moment(y) @ np.array(self.field)
        )

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Empty with damping; then the energy decreases."""
        if self.damping > 0.0:
            return {}
        named: dict[str, Callable] = {"energy": self.energy}
        B, n = np.array(self.field), np.array(self.axis)
        if self.anisotropy == 0.0:
            n = B / max(np.linalg.norm(B), 1e-300)
        if np.abs(np.cross(B, n)).max() <= 1e-15 * np.abs(B).max():  # parallel, or B is 0
            if not n.any():
                named["total moment"] = self.total_moment
            else:
                along = "e3" if abs(n[2]) == 1.0 else "the axis"
                n = np.array([0.0, 0.0, 1.0]) if along == "e3" else n
                named[f"moment along {along}"] = lambda y: self.total_moment(y) @ n
        return named
