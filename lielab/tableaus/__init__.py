"""Coefficients as data, each with its order and source.

`Tableau`: explicit Butcher tableaus and embedded pairs; `ImplicitTableau`: Gauss-Legendre collocation;
`CommutatorFree`: commutator-free and Crouch-Grossman methods. A reader's own are objects of these classes.
It imports from `core` alone; `methods` and the reader import from here.
"""

from ._commutator_free import CF4, CF32A, CF32B, CF43, CG2, CG3, CG4, CommutatorFree, Flow
from ._dop853 import DORMAND_PRINCE_853
from ._explicit import (
    DORMAND_PRINCE_5,
    DORMAND_PRINCE_54,
    EULER,
    HEUN,
    KUTTA3,
    MIDPOINT,
    RK4,
    Tableau,
)
from ._implicit import GAUSS2, GAUSS4, GAUSS6, ImplicitTableau
from ._trees import classical_order

__all__ = [
    "CF4",
    "CF32A",
    "CF32B",
    "CF43",
    "CG2",
    "CG3",
    "CG4",
    "DORMAND_PRINCE_5",
    "DORMAND_PRINCE_54",
    "DORMAND_PRINCE_853",
    "EULER",
    "GAUSS2",
    "GAUSS4",
    "GAUSS6",
    "HEUN",
    "KUTTA3",
    "MIDPOINT",
    "RK4",
    "CommutatorFree",
    "Flow",
    "ImplicitTableau",
    "Tableau",
    "classical_order",
]
