"""Formulations: in which form a system hands its equations to the methods.

Systems and methods do not know each other, they meet here: `forms` for fields and actions, bodies, spheres and metrics,
`lagrangian` for the variational integrators and the methods on T*G. A method names the one that it needs, a system
lists those that it offers. It imports from `actions`, `groups` and `core`.
"""

from .forms import (
    ActionFormulation,
    MetricFormulation,
    RigidBodyFormulation,
    SpheresFormulation,
    SymmetricPair,
)
from .lagrangian import (
    CotangentFormulation,
    DiscreteLagrangianFormulation,
    LagrangianFormulation,
)

__all__ = [
    "ActionFormulation",
    "CotangentFormulation",
    "DiscreteLagrangianFormulation",
    "LagrangianFormulation",
    "MetricFormulation",
    "RigidBodyFormulation",
    "SpheresFormulation",
    "SymmetricPair",
]
