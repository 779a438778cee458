"""Problems on which orders are measured: name -> (system, t_end), data in three dimensions throughout."""

from __future__ import annotations

import numpy as np

from lielab.actions import SE3_ON_TS2, SO3_ON_DUAL
from lielab.systems import (
    ActionSystem,
    DoubleSphericalPendulum,
    FreeRigidBody,
    HeavyTop,
    PendulumChain,
    SphericalPendulum,
)


def shaken(t, y, p):
    """A spherical pendulum whose gravity is shaken by half of its size and turned: f depends on t."""
    out = np.zeros(6)
    out[0], out[1], out[2] = y[3], y[4], y[5]
    out[3] = p[0] * 0.3 * np.cos(2.0 * t)
    out[5] = p[0] * (1.0 + 0.5 * np.sin(3.0 * t))
    return out


def isotropic(t, y, p):
    """The free body with 2 mu added to its generator: mu x mu = 0, the motion is the same."""
    out = np.empty(3)
    for i in range(3):
        out[i] = -y[i] / p[i] + 2.0 * y[i]
    return out


SHAKEN = ActionSystem(SE3_ON_TS2, shaken, tuple(SphericalPendulum().y0), (9.81 / 2.0,))
ISOTROPIC = ActionSystem(SO3_ON_DUAL, isotropic, (0.6, -0.3, 1.1), (1.0, 2.0, 3.0))
# The heavy top spins at 150 rad/s, so its times are short.
PROBLEMS = {
    "free body": (FreeRigidBody(attitude=True), 2.0),
    "heavy top, left": (HeavyTop("left"), 0.05),
    "heavy top, right": (HeavyTop("right"), 0.05),
    "heavy top, se(3)*": (HeavyTop("se3dual"), 0.05),
    "spherical pendulum": (SphericalPendulum(), 1.0),
    "double pendulum": (DoubleSphericalPendulum(), 0.5),
    "chain of 3": (PendulumChain(3), 0.5),
    "shaken pendulum": (SHAKEN, 1.0),
    "free body with isotropy": (ISOTROPIC, 2.0),
}
