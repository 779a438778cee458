"""Control on Lie groups: structured linearisation of variational integrators, LQR, tracking. Source: fan.

`linearize` (A and B of a step), `lqr` (the Riccati recursion), `track` (a loop closed about a reference), `flatness`
(references of the quadrotor with its load), each a file with its formulas; `discrete` is a system as these see it, its
variational step with inputs. It imports from `methods`, `systems` and all below them; `study` may import from here.
"""

from .discrete import DiscreteSystem
from .euler import euler_regulator
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
    "euler_regulator",
    "flat_reference",
    "linearize",
    "lqr",
    "track",
    "variation",
]
