"""Groups on themselves by left and right translation.

Right translation is made a left action by the inverse, exp(xi) . g = g exp(-xi), so that the same right-trivialised
dexpinv serves. Points are flat: matrices row-major, quaternions scalar first. Where round-off has moved them off the
group they are brought back: plane rotations and quaternions here, rotations of space by the methods.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.arguments import count
from ..core.jit import jit
from ..core.round_off import mend_plane, mend_unit
from ..core.travel import recorded
from ..groups import se2, se3
from ..groups.quaternions import cay_core as quaternion_cay_core
from ..groups.quaternions import exp_core as quaternion_exp_core
from ..groups.quaternions import multiply_core
from ..groups.scalars import cinv, cosc, cotc, sinc
from ..groups.se3 import cay_translation_core, translation_core
from ..groups.so3 import cay_core, cross_core, exp_core, mul_core
from .action import Action, sample_sphere, unit
from .motions import se3_bracket, se3_dcayinv, se3_dexpinv
from .rotations import so3_bracket, so3_dcayinv, so3_dexpinv


@jit
def _left(R, r, g, out):
    for j in range(4):
        out[j], out[4 + j], out[8 + j] = mul_core(R, (g[j], g[4 + j], g[8 + j]))
        out[12 + j] = g[12 + j]
    out[3] += r[0]
    out[7] += r[1]
    out[11] += r[2]


@jit
def _right(R, r, g, out):
    """g (R, r)^-1 = (S R', s - S R' r)"""
    for k in range(0, 12, 4):
        row = mul_core(R, (g[k], g[k + 1], g[k + 2]))
        out[k], out[k + 1], out[k + 2] = row
        out[k + 3] = g[k + 3] - (row[0] * r[0] + row[1] * r[1] + row[2] * r[2])
    for j in range(12, 16):
        out[j] = g[j]


@jit
def se3_exp_left(u, g, out):
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _left(exp_core(u[0], u[1], u[2]), r, g, out)


@jit
def se3_cay_left(u, g, out):
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _left(cay_core(u[0], u[1], u[2]), r, g, out)


@jit
def se3_exp_right(u, g, out):
    r = translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _right(exp_core(u[0], u[1], u[2]), r, g, out)


@jit
def se3_cay_right(u, g, out):
    r = cay_translation_core((u[0], u[1], u[2]), (u[3], u[4], u[5]))
    _right(cay_core(u[0], u[1], u[2]), r, g, out)


@jit
def se3_generator_left(u, g, out):
    """hat(u) g"""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(4):
        out[j], out[4 + j], out[8 + j] = cross_core(u, (g[j], g[4 + j], g[8 + j]))
    out[3] += u[3]
    out[7] += u[4]
    out[11] += u[5]


@jit
def se3_generator_right(u, g, out):
    """-g hat(u)"""
    for i in range(len(out)):
        out[i] = 0.0
    for k in range(0, 12, 4):
        row = (g[k], g[k + 1], g[k + 2])
        out[k], out[k + 1], out[k + 2] = cross_core(u, row)
        out[k + 3] = -(row[0] * u[3] + row[1] * u[4] + row[2] * u[5])


def motion_distance(y: np.ndarray) -> np.ndarray:
    """Defect of the rotation and of the last row of 4x4 matrices, flat; infinite for a reflection."""
    g = y.reshape(*y.shape[:-1], 4, 4)
    R = g[..., :3, :3]
    off = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))
    off = np.maximum(off, np.abs(g[..., 3, :] - np.eye(4)[3]).max(axis=-1))
    return np.where(np.linalg.det(R) < 0.0, np.inf, off)


_SE3 = {
    "group": "SE(3)",
    "manifold": "SE(3)",
    "algebra": 6,
    "point": 16,
    "dimension": 6,
    "dexpinv": se3_dexpinv,
    "bracket": se3_bracket,
    "dcayinv": se3_dcayinv,
    "distance": motion_distance,
    "nearest": lambda y: se3.project(y.reshape(*y.shape[:-1], 4, 4)).reshape(y.shape),
    "sample": lambda rng: se3.random(rng).ravel(),
    "rotations": ((0, 4),),
}
SE3_ON_SE3 = Action(
    name="SE(3) on itself, left",
    exp_act=se3_exp_left,
    generator=se3_generator_left,
    cay_act=se3_cay_left,
    **_SE3,
)
SE3_ON_SE3_RIGHT = Action(
    name="SE(3) on itself, from the right by the inverse",
    exp_act=se3_exp_right,
    generator=se3_generator_right,
    cay_act=se3_cay_right,
    **_SE3,
)


@jit
def _plane(c, s, x, y, g, out):
    for j in range(3):
        out[j], out[3 + j] = c * g[j] - s * g[3 + j], s * g[j] + c * g[3 + j]
        out[6 + j] = g[6 + j]
    out[2] += x
    out[5] += y
    mend_plane(out, 3)


@jit
def se2_exp_left(u, g, out):
    s = u[0] * u[0]
    a, b = sinc(s), u[0] * cosc(s)
    _plane(math.cos(u[0]), math.sin(u[0]), a * u[1] - b * u[2], b * u[1] + a * u[2], g, out)


@jit
def se2_cay_left(u, g, out):
    t = 0.5 * u[0]
    f = 1.0 / (1.0 + t * t)
    x, y = f * (u[1] - t * u[2]), f * (t * u[1] + u[2])
    _plane((1.0 - t * t) * f, 2.0 * t * f, x, y, g, out)


@jit
def se2_generator_left(u, g, out):
    """hat(u) g"""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(3):
        out[j], out[3 + j] = -u[0] * g[3 + j], u[0] * g[j]
    out[2] += u[1]
    out[5] += u[2]


@jit
def se2_bracket(u, v, out):
    for i in range(len(out)):
        out[i] = 0.0
    out[1] = v[0] * u[2] - u[0] * v[2]
    out[2] = u[0] * v[1] - v[0] * u[1]


@jit
def se2_dexpinv(u, v, out):
    s = u[0] * u[0]
    a, b, c = cotc(s), -0.5 * u[0], u[0] * cinv(s)
    x, y = -0.5 * u[2] + c * u[1], 0.5 * u[1] + c * u[2]  # (-1/2 + theta c J)(-J a)
    out[0] = v[0]
    out[1] = a * v[1] - b * v[2] + x * v[0]
    out[2] = b * v[1] + a * v[2] + y * v[0]


@jit
def se2_dcayinv(u, v, out):
    t = 0.5 * u[0]
    x, y = -0.5 * u[2] + 0.5 * t * u[1], 0.5 * u[1] + 0.5 * t * u[2]
    out[0] = (1.0 + t * t) * v[0]
    out[1] = v[1] + t * v[2] + x * v[0]
    out[2] = v[2] - t * v[1] + y * v[0]


def plane_motion_distance(y: np.ndarray) -> np.ndarray:
    """Defect of the rotation and of the last row of 3x3 matrices, flat; infinite for a reflection."""
    g = y.reshape(*y.shape[:-1], 3, 3)
    R = g[..., :2, :2]
    off = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(2), axis=(-2, -1))
    off = np.maximum(off, np.abs(g[..., 2, :] - np.eye(3)[2]).max(axis=-1))
    return np.where(np.linalg.det(R) < 0.0, np.inf, off)


SE2_ON_SE2 = Action(
    name="SE(2) on itself, left",
    group="SE(2)",
    manifold="SE(2)",
    algebra=3,
    point=9,
    dimension=3,
    exp_act=se2_exp_left,
    generator=se2_generator_left,
    cay_act=se2_cay_left,
    dexpinv=se2_dexpinv,
    bracket=se2_bracket,
    dcayinv=se2_dcayinv,
    distance=plane_motion_distance,
    nearest=lambda y: se2.project(y.reshape(*y.shape[:-1], 3, 3)).reshape(y.shape),
    sample=lambda rng: se2.random(rng).ravel(),
)


@jit
def _turn(c, s, y, out):
    out[0], out[1] = c * y[0] - s * y[1], s * y[0] + c * y[1]
    mend_unit(out, 0, 2)


@jit
def so2_exp_circle(u, y, out):
    _turn(math.cos(u[0]), math.sin(u[0]), y, out)


@jit
def so2_cay_circle(u, y, out):
    t = 0.5 * u[0]
    f = 1.0 / (1.0 + t * t)
    _turn((1.0 - t * t) * f, 2.0 * t * f, y, out)


@jit
def so2_generator_circle(u, y, out):
    out[0], out[1] = -u[0] * y[1], u[0] * y[0]


@jit
def no_bracket(u, v, out):
    """Zero: an abelian algebra."""
    for i in range(len(out)):
        out[i] = 0.0


@jit
def same(u, v, out):
    """v: dexpinv of an abelian group."""
    for i in range(len(out)):
        out[i] = v[i]


@jit
def so2_dcayinv(u, v, out):
    for i in range(len(out)):
        out[i] = (1.0 + 0.25 * u[0] * u[0]) * v[i]


SO2_ON_S1 = Action(
    name="SO(2) on S^1",
    group="SO(2)",
    manifold="the unit circle S^1",
    algebra=1,
    point=2,
    dimension=1,
    exp_act=so2_exp_circle,
    generator=so2_generator_circle,
    cay_act=so2_cay_circle,
    dexpinv=same,
    bracket=no_bracket,
    dcayinv=so2_dcayinv,
    distance=lambda y: np.abs(np.linalg.norm(y, axis=-1) - 1.0),
    nearest=unit,
    sample=sample_sphere(2),
)


@jit
def quaternion_exp_left(u, q, out):
    p = quaternion_exp_core(u[0], u[1], u[2])
    out[0], out[1], out[2], out[3] = multiply_core(p, (q[0], q[1], q[2], q[3]))
    mend_unit(out, 0, 4)


@jit
def quaternion_cay_left(u, q, out):
    p = quaternion_cay_core(u[0], u[1], u[2])
    out[0], out[1], out[2], out[3] = multiply_core(p, (q[0], q[1], q[2], q[3]))
    mend_unit(out, 0, 4)


@jit
def quaternion_generator_left(u, q, out):
    """(0, u/2) q"""
    p = (0.0, 0.5 * u[0], 0.5 * u[1], 0.5 * u[2])
    out[0], out[1], out[2], out[3] = multiply_core(p, (q[0], q[1], q[2], q[3]))


QUATERNIONS_ON_S3 = Action(
    name="unit quaternions on themselves, left",
    group="unit quaternions",
    manifold="the unit sphere S^3",
    algebra=3,
    point=4,
    dimension=3,
    exp_act=quaternion_exp_left,
    generator=quaternion_generator_left,
    cay_act=quaternion_cay_left,
    dexpinv=so3_dexpinv,
    bracket=so3_bracket,
    dcayinv=so3_dcayinv,
    distance=lambda y: np.abs(np.linalg.norm(y, axis=-1) - 1.0),
    nearest=unit,
    sample=sample_sphere(4),
)


@jit
def add(u, y, out):
    for i in range(len(out)):
        out[i] = y[i] + u[i]


@jit
def first(u, y, out):
    """u: the generator of translations."""
    for i in range(len(out)):
        out[i] = u[i]


_MOST = 10**8


@recorded
def rn_on_rn(n: int) -> Action:
    """R^n on itself by translation: the classical methods are the Lie group methods of this action."""
    n = count("n", n, most=_MOST)
    return Action(
        name=f"R^{n} on itself",
        group=f"R^{n}",
        manifold=f"R^{n}",
        algebra=n,
        point=n,
        dimension=n,
        exp_act=add,
        generator=first,
        cay_act=add,
        dexpinv=same,
        bracket=no_bracket,
        dcayinv=same,
    )
