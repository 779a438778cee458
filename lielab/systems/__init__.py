"""One file a mechanical system: equations, parameters, invariants, default data of the papers."""

from ._system import ActionFormulation, ActionSystem, System
from .double_spherical_pendulum import DoubleSphericalPendulum
from .free_rigid_body import FreeRigidBody
from .heavy_top import HeavyTop
from .pendulum_chain import PendulumChain
from .spherical_pendulum import SphericalPendulum

__all__ = [
    "ActionFormulation",
    "ActionSystem",
    "DoubleSphericalPendulum",
    "FreeRigidBody",
    "HeavyTop",
    "PendulumChain",
    "SphericalPendulum",
    "System",
]
