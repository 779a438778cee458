"""The problems on which orders are measured, with data in three dimensions throughout.

Linear or planar problems, autonomous ones and free actions hide mistakes: here are nonlinear ones, one whose
field depends on time, and one whose generator has an isotropy part. The starts were chosen so that the
asymptotic range of methods up to order 8 lies above round-off.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..actions import SE3_ON_TS2, SO3_ON_DUAL
from ..systems import (
    ActionSystem,
    DoubleSphericalPendulum,
    FreeRigidBody,
    HeavyTop,
    PendulumChain,
    SphericalPendulum,
    System,
)


def shaken(t, y, p):
    """A spherical pendulum whose gravity p is shaken by half of its size and turned: f depends on t."""
    out = np.zeros(6)
    out[0], out[1], out[2] = y[3], y[4], y[5]
    out[3] = p[0] * 0.3 * np.cos(2.0 * t)
    out[5] = p[0] * (1.0 + 0.5 * np.sin(3.0 * t))
    return out


def isotropic(t, y, p):
    """The free body with 2 mu added to its generator: mu x mu = 0, so the motion is the same."""
    out = np.empty(3)
    for i in range(3):
        out[i] = -y[i] / p[i] + 2.0 * y[i]
    return out


def _on_spheres(*blocks: float) -> np.ndarray:
    """Blocks (q, w) with q normalised and w made orthogonal to it."""
    y = np.array(blocks).reshape(-1, 2, 3)
    q = y[:, 0] / np.linalg.norm(y[:, 0], axis=1, keepdims=True)
    w = y[:, 1] - q * (q * y[:, 1]).sum(1, keepdims=True)
    return np.stack([q, w], axis=1).ravel()


@cache
def problems() -> dict[str, tuple[System, float, np.ndarray]]:
    """name -> (system, t_end, y0), what `order_table` takes."""
    mu = np.array([-0.205, -0.25, 2.113])
    free = np.array([-1.11, -0.29, -0.26])
    swing = _on_spheres(-0.915, 0.117, -0.386, -0.672, 0.25, -0.903)
    push = _on_spheres(-0.339, -0.117, -0.933, 0.343, 3.513, -0.564)
    two = _on_spheres(
        *(0.321, 0.541, -0.778, 0.075, 2.619, 1.853), *(0.394, 0.902, 0.175, 0.952, 0.013, -2.214)
    )
    three = _on_spheres(
        *(-0.191, 0.641, 0.744, 0.573, 1.033, -0.742),
        *(-0.562, -0.554, -0.614, 1.217, -0.744, -0.444),
        *(-0.367, -0.624, -0.69, -1.74, 1.101, -0.07),
    )
    top = {form: HeavyTop(form) for form in ("left", "right", "se3dual")}
    return {
        "free body": (FreeRigidBody(attitude=True), 4.0, np.concatenate([np.eye(3).ravel(), mu])),
        # It spins at 150 rad/s: its times are short.
        "heavy top, left": (top["left"], 0.5, top["left"].y0),
        "heavy top, right": (top["right"], 0.5, top["right"].y0),
        "heavy top, se(3)*": (top["se3dual"], 0.5, top["se3dual"].y0),
        "spherical pendulum": (SphericalPendulum(), 2.0, swing),
        "double pendulum": (DoubleSphericalPendulum(), 1.0, two),
        "chain of 3": (PendulumChain(3), 0.5, three),
        "shaken pendulum": (ActionSystem(SE3_ON_TS2, shaken, tuple(push), (4.905,)), 2.0, push),
        "free body with isotropy": (
            ActionSystem(SO3_ON_DUAL, isotropic, tuple(free), (1.0, 2.0, 3.0)),
            2.0,
            free,
        ),
    }
