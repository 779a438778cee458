"""One file a mechanical system: equations, parameters, invariants, default data of the papers."""

from ._system import ActionFormulation, ActionSystem, System
from .free_rigid_body import FreeRigidBody
from .heavy_top import HeavyTop
from .spherical_pendulum import SphericalPendulum

__all__ = [
    "ActionFormulation",
    "ActionSystem",
    "FreeRigidBody",
    "HeavyTop",
    "SphericalPendulum",
    "System",
]
