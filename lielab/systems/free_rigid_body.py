"""The free rigid body: no torque, a body-fixed momentum that wanders on a sphere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import SO3_ON_BODY, SO3_ON_DUAL, SO3_ON_SO3_RIGHT
from ..core.arguments import flag, moments
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, MetricFormulation, body_momentum_formulation
from ..formulations.lagrangian import (
    SO3,
    CotangentFormulation,
    LagrangianFormulation,
    body_momentum,
    spatial_field,
    spatial_momentum,
    store_rigid,
)
from ..groups import so3
from .system import System


@jit
def _field(t, y, p):
    """f(mu) = -I^-1 mu (celledoni prints the other sign, which runs time backwards); mu is the tail of y."""
    n = len(y)
    out = np.empty(3)
    for i in range(3):
        out[i] = -y[n - 3 + i] / p[i]
    return out


@jit
def inertia_metric(t, y, p):
    """diag(p[:3]): the left-invariant metric of a rigid body."""
    out = np.zeros(9)
    out[0], out[4], out[8] = p[0], p[1], p[2]
    return out


@jit
def no_gradient(t, y, p):
    return np.zeros(3)


def _no_torque(t, y, p):
    return np.zeros(3)


@jit
def _no_torque_derivative(t, y, p):
    return np.zeros(9)


@jit
def _lagrangian(t, z, p):
    out, none = np.empty(34), np.zeros(9)
    store_rigid((p[0], p[1], p[2]), (z[9], z[10], z[11]), 0.0, none, none, out)
    return out


@jit
def _cotangent(t, y, p):
    out = np.empty(6)
    spatial_field(y, p, np.zeros(3), out)
    return out


@dataclass(frozen=True)
class FreeRigidBody(System):
    """Euler's equations mu' = mu x I^-1 mu, with R' = R hat(I^-1 mu) where `attitude` is true.

    State: y = mu (3,), the body momentum in kg m^2/s; with attitude y = R row-major (9,), mu, where R takes
    body to space. `inertia`: principal moments in kg m^2. Conserved: energy mu . I^-1 mu / 2, |mu|, and the
    spatial momentum R mu. Source: celledoni, example 1, sign corrected; default data and start are ours, it has none.
    """

    inertia: tuple[float, float, float] = (1.0, 2.0, 3.0)
    attitude: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        object.__setattr__(self, "attitude", flag("attitude", self.attitude))

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return (("R", (3, 3)), ("mu", (3,))) if self.attitude else (("mu", (3,)),)

    @property
    def y0(self) -> np.ndarray:
        """mu = (0.6, -0.3, 1.1), R the identity."""
        mu = np.array([0.6, -0.3, 1.1])
        return np.concatenate([np.eye(3).ravel(), mu]) if self.attitude else mu

    @property
    def params(self) -> np.ndarray:
        return np.array(self.inertia)

    @made_of()
    def formulations(self) -> dict[str, Any]:
        kernels = (inertia_metric, no_gradient, no_gradient)
        metric = MetricFormulation(SO3_ON_SO3_RIGHT, *kernels, self.params, momentum=True)
        if not self.attitude:
            action = ActionFormulation(SO3_ON_DUAL, _field, self.params)
            return {"action": action, "metric": metric}
        return {
            "action": ActionFormulation(SO3_ON_BODY, _field, self.params),
            "metric": metric,
            "rigid_body": body_momentum_formulation(
                self.inertia, no_gradient, _no_torque_derivative, self.params
            ),
            "lagrangian": LagrangianFormulation((SO3,), _lagrangian, self.params),
            "cotangent": CotangentFormulation(
                (SO3,), _cotangent, self.params, spatial_momentum, body_momentum
            ),
        }

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with R the nearest rotation, the momentum as it is."""
        y = np.array(y, dtype=float)
        if self.attitude:
            y[..., :9] = so3.project(self.unpack(y)["R"]).reshape(*y.shape[:-1], 9)
        return y

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic energy mu . I^-1 mu / 2."""
        mu = self.unpack(y)["mu"]
        return 0.5 * (mu * mu / self.params).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        named: dict[str, Callable] = {
            "energy": self.energy,
            "|mu|": lambda y: np.linalg.norm(self.unpack(y)["mu"], axis=-1),
        }
        if self.attitude:

            def spatial(y: np.ndarray) -> np.ndarray:
                parts = self.unpack(y)
                return np.einsum("...ij,...j->...i", parts["R"], parts["mu"])

            named["spatial momentum"] = spatial
        return named
