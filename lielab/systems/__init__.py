"""One file a mechanical system: equations, parameters, invariants, default data of the papers.

`System` is what they have in common, `ActionSystem` and `CotangentSystem` are made from a reader's own functions.
A system says in its `formulations` what it offers; it knows no method. It imports from `formulations`, `actions`,
`groups` and `core`.
"""

from ..core.readers import field_kernel
from ..formulations.forms import (
    ActionFormulation,
    MetricFormulation,
    RigidBodyFormulation,
    SpheresFormulation,
    SymmetricPair,
)
from ..formulations.lagrangian import (
    CotangentFormulation,
    DiscreteLagrangianFormulation,
    LagrangianFormulation,
)
from .added_inertia import added_inertia
from .connected_bodies import ConnectedBodies
from .cotangent_system import CotangentSystem
from .double_spherical_pendulum import DoubleSphericalPendulum
from .free_rigid_body import FreeRigidBody
from .heavy_top import HeavyTop
from .hyperbolic_plane import HYPERBOLIC_PLANE, ParticleOnHyperbolicPlane
from .landau_lifshitz import LandauLifshitz
from .magnetic_dipoles import MagneticDipoles
from .particle_on_sphere import EllipsoidParticle, ParticleOnSphere
from .pendulum3d import Pendulum3D
from .pendulum_chain import PendulumChain
from .point_vortices import PointVortices
from .quadrotor_with_load import QuadrotorWithLoad
from .rigid_body import RigidBodyInPotential, RigidBodyInWell
from .spherical_pendulum import SphericalPendulum
from .system import ActionSystem, System
from .two_quadrotors import TwoQuadrotors

__all__ = [
    "HYPERBOLIC_PLANE",
    "ActionFormulation",
    "ActionSystem",
    "ConnectedBodies",
    "CotangentFormulation",
    "CotangentSystem",
    "DiscreteLagrangianFormulation",
    "DoubleSphericalPendulum",
    "EllipsoidParticle",
    "FreeRigidBody",
    "HeavyTop",
    "LagrangianFormulation",
    "LandauLifshitz",
    "MagneticDipoles",
    "MetricFormulation",
    "ParticleOnHyperbolicPlane",
    "ParticleOnSphere",
    "Pendulum3D",
    "PendulumChain",
    "PointVortices",
    "QuadrotorWithLoad",
    "RigidBodyFormulation",
    "SpheresFormulation",
    "RigidBodyInPotential",
    "RigidBodyInWell",
    "SphericalPendulum",
    "SymmetricPair",
    "System",
    "TwoQuadrotors",
    "added_inertia",
    "field_kernel",
]
