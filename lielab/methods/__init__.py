"""One file a family of integrators; importing this package fills the registry."""

from . import (
    classical,
    commutator_free,
    implicit_rkmk,
    implicit_torque,
    riemannian,
    rigid_body,
    rkmk,
)
from ._registry import Method, Plan, get, methods

__all__ = [
    "Method",
    "Plan",
    "classical",
    "commutator_free",
    "get",
    "implicit_rkmk",
    "implicit_torque",
    "methods",
    "riemannian",
    "rigid_body",
    "rkmk",
]
