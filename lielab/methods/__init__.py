"""One file a family of integrators; importing this package fills the registry.

A method names the formulation that it needs and makes a plan of it: a compiled loop and its arrays. It knows no system.
The formulas stand at the top of each file and in its code; those of the variational integrators, which `control` uses
too, in `variational_equations` and `variational_step`. It imports from `formulations`, `tableaus`, `actions`, `groups`
and `core`.
"""

from . import (
    classical,
    commutator_free,
    cotangent,
    implicit_rkmk,
    momentum_balance,
    newmark,
    riemannian,
    rigid_body,
    rkmk,
    spherical_midpoint,
    variational,
)
from ._registry import Method, Plan, get, methods

__all__ = [
    "Method",
    "Plan",
    "classical",
    "commutator_free",
    "cotangent",
    "get",
    "implicit_rkmk",
    "methods",
    "momentum_balance",
    "newmark",
    "riemannian",
    "rigid_body",
    "rkmk",
    "spherical_midpoint",
    "variational",
]
