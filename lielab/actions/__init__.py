"""How a group moves the points of a manifold.

An `Action` bundles the kernels that an integrator needs; points and algebra vectors are flat float64 arrays.
All actions are left actions, y -> exp(xi) . y. Kernels that work block by block take any number of blocks
from the array lengths, so one kernel serves a single pendulum and a chain of thousands. It imports from `groups` and
`core`.
"""

from ..core.travel import made_by
from .action import POINT_TOLERANCE, Action, named
from .bodies import THREE_BODIES
from .cable import BODY_AND_LOAD
from .compose import diagonal_action, frozen_action, product_action
from .connection import Connection
from .cotangent import COTANGENT_LEFT, COTANGENT_LEFT_R6, COTANGENT_RIGHT, COTANGENT_RIGHT_R6
from .lift import SO3_R3_ON_S2_R3, lifted
from .matrices import so_n_on_sphere, so_n_on_stiefel
from .motions import (
    SE3_ON_ALGEBRA,
    SE3_ON_COTANGENT_S2,
    SE3_ON_DUAL,
    SE3_ON_DUAL_PI_GAMMA,
    SE3_ON_TS2,
    ts2_distance,
)
from .orbits import generator_matrix, is_transitive, isotropy, orbit_dimension
from .own_groups import cotangent_action, matrix_action
from .quadrotors import TWO_QUADROTORS, quadrotors_action
from .rotations import (
    SO3_ON_BODY,
    SO3_ON_DUAL,
    SO3_ON_R3,
    SO3_ON_S2,
    SO3_ON_SO3,
    SO3_ON_SO3_RIGHT,
    SO3N_ON_SPHERES,
    rotation_distance,
    sphere_distance,
)
from .translations import (
    QUATERNIONS_ON_S3,
    SE2_ON_SE2,
    SE3_ON_SE3,
    SE3_ON_SE3_RIGHT,
    SO2_ON_S1,
    rn_on_rn,
)

__all__ = [
    "Action",
    "Connection",
    "BODY_AND_LOAD",
    "COTANGENT_LEFT",
    "COTANGENT_LEFT_R6",
    "COTANGENT_RIGHT",
    "COTANGENT_RIGHT_R6",
    "POINT_TOLERANCE",
    "QUATERNIONS_ON_S3",
    "SE2_ON_SE2",
    "SE3_ON_ALGEBRA",
    "SE3_ON_COTANGENT_S2",
    "SE3_ON_DUAL",
    "SE3_ON_DUAL_PI_GAMMA",
    "SE3_ON_SE3",
    "SE3_ON_SE3_RIGHT",
    "SE3_ON_TS2",
    "SO2_ON_S1",
    "SO3N_ON_SPHERES",
    "SO3_ON_BODY",
    "SO3_ON_DUAL",
    "SO3_ON_R3",
    "SO3_ON_S2",
    "SO3_ON_SO3",
    "SO3_ON_SO3_RIGHT",
    "SO3_R3_ON_S2_R3",
    "THREE_BODIES",
    "TWO_QUADROTORS",
    "cotangent_action",
    "diagonal_action",
    "frozen_action",
    "generator_matrix",
    "is_transitive",
    "isotropy",
    "lifted",
    "matrix_action",
    "orbit_dimension",
    "product_action",
    "quadrotors_action",
    "rn_on_rn",
    "rotation_distance",
    "so_n_on_sphere",
    "so_n_on_stiefel",
    "sphere_distance",
    "ts2_distance",
]

for _name in __all__:
    if isinstance(globals()[_name], Action):
        made_by(globals()[_name], named, _name)
