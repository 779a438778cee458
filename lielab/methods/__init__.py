"""One file a family of integrators; importing this package fills the registry."""

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
    "variational",
]
