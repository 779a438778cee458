"""Property checks for groups, actions and Lagrangians: for those of this package, and for a reader's own.

    from lielab.testing import check_action, check_group

    print(check_group(lielab.se3))            # a table of properties, worst residual, limit
    check_group(my_group)                     # AssertionError names the properties that fail, with numbers

    check_lagrangian(my_system)               # derivatives of what the variational integrators use, by differences

    same(a, b)                                # two arrays, entry by entry
    velocity(my_system, y)                    # dy/dt, to compare with the equations on paper

A group is any module or object with the functions of `lielab.so3`; Cayley and `project` are checked where they are
offered. It imports from the rooms up to `solve`; nothing imports from here.
"""

from ._actions import check_action
from ._groups import check_group
from ._lagrangian import check_lagrangian
from ._report import (
    DIFFERENCE,
    ROUND_OFF,
    Report,
    flat,
    gap,
    relative,
    same,
    slope,
    velocity,
)

__all__ = [
    "DIFFERENCE",
    "ROUND_OFF",
    "Report",
    "check_action",
    "check_group",
    "check_lagrangian",
    "flat",
    "gap",
    "relative",
    "same",
    "slope",
    "velocity",
]
