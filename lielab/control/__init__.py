"""Control on Lie groups: structured linearization of variational integrators, LQR, tracking. Source: fan."""

from .discrete import DiscreteSystem
from .flatness import flat_reference
from .linearize import Linearization, at, check_linearization, linearize, variation
from .lqr import Regulator, lqr
from .track import Controller, Ensemble, Tracking, track

__all__ = [
    "Controller",
    "DiscreteSystem",
    "Ensemble",
    "Linearization",
    "Regulator",
    "Tracking",
    "at",
    "check_linearization",
    "flat_reference",
    "linearize",
    "lqr",
    "track",
    "variation",
]
