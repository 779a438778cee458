"""The 3D pendulum: an asymmetric rigid body hung from a pivot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import COTANGENT_LEFT
from ..groups import so3
from ._system import (
    ActionFormulation,
    System,
    body_momentum_formulation,
    moments,
    number,
    positive,
    vector,
)
from .heavy_top import left_field, top_torque, top_torque_derivative


def euler_xyz(alpha: float, beta: float, gamma: float) -> np.ndarray:
    """R = Rx(alpha) Ry(beta) Rz(gamma), the intrinsic XYZ angles (rad) of fan."""
    return so3.exp([alpha, 0.0, 0.0]) @ so3.exp([0.0, beta, 0.0]) @ so3.exp([0.0, 0.0, gamma])


@dataclass(frozen=True)
class Pendulum3D(System):
    """R' = R hat(Omega), p' = p x Omega + m g rho x R^T e3, p = J Omega, with e3 DOWN: V = -m g e3 . R rho.

    With rho along +e3 the pendulum hangs at R = 1 and is inverted where R e3 = -e3.

    State: y = R row-major (9,), p (3,): body to space, momentum in the body (kg m^2/s). `inertia`: principal moments
    about the pivot (kg m^2); `mass` (kg); `rho` from the pivot to the centre of mass in the body (m); `g` (m/s^2).
    Conserved: the energy and the vertical momentum e3 . R p. Source: fan IV.B. It is the heavy top in its left form
    with Gamma0 = -g e3.
    """

    inertia: tuple[float, float, float] = (3.0, 7.0, 4.0)
    mass: float = 1.0
    rho: tuple[float, float, float] = (0.0, 0.0, 1.5)
    g: float = 9.81

    parts = (("R", (3, 3)), ("p", (3,)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        object.__setattr__(self, "mass", positive("mass", self.mass))
        object.__setattr__(self, "rho", vector("rho", self.rho, 3))
        object.__setattr__(self, "g", number("g", self.g))

    @property
    def y0(self) -> np.ndarray:
        """R = Rx(-0.30) Ry(-0.37) Rz(0.55), Omega = (-0.14, -0.47, 0.62): the reference start of fan, figure 2."""
        momentum = np.array(self.inertia) * np.array([-0.14, -0.47, 0.62])
        return np.concatenate([euler_xyz(-0.30, -0.37, 0.55).ravel(), momentum])

    @property
    def params(self) -> np.ndarray:
        return np.array([*self.inertia, *(self.mass * np.array(self.rho)), 0.0, 0.0, -self.g])

    @property
    def formulations(self) -> dict[str, Any]:
        return {
            "action": ActionFormulation(COTANGENT_LEFT, left_field, self.params),
            "rigid_body": body_momentum_formulation(
                self.inertia, top_torque, top_torque_derivative, self.params
            ),
        }

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with R the nearest rotation, the momentum as it is."""
        y = np.array(y, dtype=float)
        y[..., :9] = so3.project(self.unpack(y)["R"]).reshape(*y.shape[:-1], 9)
        return y

    def energy(self, y: np.ndarray) -> np.ndarray:
        """p . J^-1 p / 2 - m g e3 . R rho."""
        parts = self.unpack(y)
        height = parts["R"][..., 2, :] @ np.array(self.rho)
        return (
            0.5 * (parts["p"] ** 2 / np.array(self.inertia)).sum(-1) - self.mass * self.g * height
        )

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def vertical(y: np.ndarray) -> np.ndarray:
            parts = self.unpack(y)
            return (parts["R"][..., 2, :] * parts["p"]).sum(-1)

        return {"energy": self.energy, "vertical momentum": vertical}
