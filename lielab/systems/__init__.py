"""One file a mechanical system: equations, parameters, invariants, default data of the papers."""

from ._system import (
    ActionFormulation,
    ActionSystem,
    MetricFormulation,
    RigidBodyFormulation,
    System,
)
from .double_spherical_pendulum import DoubleSphericalPendulum
from .free_rigid_body import FreeRigidBody
from .heavy_top import HeavyTop
from .landau_lifshitz import LandauLifshitz
from .magnetic_dipoles import MagneticDipoles
from .particle_on_sphere import EllipsoidParticle, ParticleOnSphere
from .pendulum_chain import PendulumChain
from .point_vortices import PointVortices
from .spherical_pendulum import SphericalPendulum

__all__ = [
    "ActionFormulation",
    "ActionSystem",
    "DoubleSphericalPendulum",
    "EllipsoidParticle",
    "FreeRigidBody",
    "HeavyTop",
    "LandauLifshitz",
    "MagneticDipoles",
    "MetricFormulation",
    "ParticleOnSphere",
    "PendulumChain",
    "PointVortices",
    "RigidBodyFormulation",
    "SphericalPendulum",
    "System",
]
