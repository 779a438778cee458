"""The 3D pendulum: an asymmetric rigid body hung from a pivot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import COTANGENT_LEFT
from ..core.arguments import moments, moments_about_pivot, number, positive, vector
from ..core.jit import closure, jit
from ..core.readers import field_kernel, made_of
from ..formulations.forms import ActionFormulation, body_momentum_formulation
from ..formulations.lagrangian import (
    SO3,
    CotangentFormulation,
    LagrangianFormulation,
    body_momentum,
    spatial_momentum,
)
from ..groups import so3
from .heavy_top import left_field, right_field, top_lagrangian, top_torque, top_torque_derivative
from .system import System

# p = J (3), m rho (3), -g e3 (3), then the inputs
_INPUTS = 9


@jit
def constant_torque(t, y, p):
    return p[_INPUTS : _INPUTS + 3].copy()


@jit
def _pushed_field(t, y, p):
    out = left_field(t, y, p)
    for i in range(3):
        out[3 + i] += p[_INPUTS + i]
    return out


@jit
def _pushed_torque(t, y, p):
    out = top_torque(t, y, p)
    for i in range(3):
        out[i] += p[_INPUTS + i]
    return out


@jit
def torque_force(t, z, p):
    """f = u, a torque in the body; df/du is the identity."""
    out = np.zeros(30)
    for i in range(3):
        out[i], out[21 + 4 * i] = z[12 + i], 1.0
    return out


def _field_with(control: Callable) -> Callable:
    def field(t, y, p):
        out, u = left_field(t, y, p), control(t, y, p)
        for i in range(3):
            out[3 + i] += u[i]
        return out

    return closure(field)


def euler_xyz(alpha: float, beta: float, gamma: float) -> np.ndarray:
    """R = Rx(alpha) Ry(beta) Rz(gamma), the intrinsic XYZ angles (rad) of fan."""
    return so3.exp([alpha, 0.0, 0.0]) @ so3.exp([0.0, beta, 0.0]) @ so3.exp([0.0, 0.0, gamma])


@dataclass(frozen=True)
class Pendulum3D(System):
    """R' = R hat(Omega), p' = p x Omega + m g rho x R^T e3 + u, p = J Omega, with e3 DOWN: V = -m g e3 . R rho.

    With rho along +e3 the pendulum hangs at R = 1 and is inverted where R e3 = -e3.

    State: y = R row-major (9,), p (3,): body to space, momentum in the body (kg m^2/s). `inertia`: principal moments
    about the pivot (kg m^2); `mass` (kg); `rho` from the pivot to the centre of mass in the body (m); `g` (m/s^2).
    `control` gives the torque u (N m) in the body:

        "none"       none
        "constant"   the three numbers `inputs`
        control(t, y, p)   a reader's own function, three numbers; `inputs` is then handed over as p[9:]. The
                     variational integrators hold it over a step.

    Conserved without control: the energy and the vertical momentum e3 . R p. Source: fan IV.B. It is the heavy top in
    its left form with Gamma0 = -g e3.
    """

    inertia: tuple[float, float, float] = (3.0, 7.0, 4.0)
    mass: float = 1.0
    rho: tuple[float, float, float] = (0.0, 0.0, 1.5)
    g: float = 9.81
    control: str | Callable = "none"
    inputs: tuple[float, ...] = ()

    parts = (("R", (3, 3)), ("p", (3,)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        object.__setattr__(self, "mass", positive("mass", self.mass))
        object.__setattr__(self, "rho", vector("rho", self.rho, 3))
        object.__setattr__(self, "g", number("g", self.g))
        what = f"inertia {self.inertia}, mass = {self.mass:g}, rho = {self.rho}"
        moments_about_pivot(self.inertia, self.mass, self.rho, what)
        named = isinstance(self.control, str) and self.control in ("none", "constant")
        if not named and not callable(self.control):
            raise ValueError(
                f"control must be a function control(t, y, p), 'none' or 'constant', got {self.control!r}"
            )
        try:
            length = len(self.inputs)
        except TypeError:
            raise ValueError(f"inputs must be a sequence of numbers, got {self.inputs!r}") from None
        object.__setattr__(self, "inputs", vector("inputs", self.inputs, length))
        wanted = (
            {"none": 0, "constant": 3}.get(self.control, length)
            if isinstance(self.control, str)
            else length
        )
        if length != wanted:
            raise ValueError(
                f"control={self.control!r} takes {wanted} inputs, got {length} numbers"
            )

    @property
    def y0(self) -> np.ndarray:
        """R = Rx(-0.30) Ry(-0.37) Rz(0.55), Omega = (-0.14, -0.47, 0.62): the reference start of fan, figure 2."""
        momentum = np.array(self.inertia) * np.array([-0.14, -0.47, 0.62])
        return np.concatenate([euler_xyz(-0.30, -0.37, 0.55).ravel(), momentum])

    @property
    def params(self) -> np.ndarray:
        arm = self.mass * np.array(self.rho)
        return np.array([*self.inertia, *arm, 0.0, 0.0, -self.g, *self.inputs])

    @made_of("control")
    def formulations(self) -> dict[str, Any]:
        p, known = self.params, isinstance(self.control, str)
        if not known:
            law = field_kernel(self.control, (0.0, self.y0, p))
            found = np.shape(law(0.0, self.y0, p))
            if found != (3,):
                raise ValueError(
                    f"control must return the torque, three numbers, got shape {found}"
                )
            field = _field_with(law)
        else:
            law = None if self.control == "none" else constant_torque
            field = left_field if law is None else _pushed_field
        offered: dict[str, Any] = {
            "action": ActionFormulation(COTANGENT_LEFT, field, p),
            "lagrangian": LagrangianFormulation(
                (SO3,),
                top_lagrangian,
                p,
                force=None if law is None else torque_force,
                control=law,
                inputs=0 if law is None else 3,
            ),
        }
        if known:
            torque = top_torque if law is None else _pushed_torque
            offered["rigid_body"] = body_momentum_formulation(
                self.inertia, torque, top_torque_derivative, p
            )
        if law is None:
            offered["cotangent"] = CotangentFormulation(
                (SO3,), right_field, p, spatial_momentum, body_momentum
            )
        return offered

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

        if self.control != "none":
            return {}
        return {"energy": self.energy, "vertical momentum": vertical}
