"""Groups on themselves by left and right translation.

Right translation is made a left action by the inverse, exp(xi) . g = g exp(-xi), so that the same right-trivialised
dexpinv serves. Points are flat: matrices row-major, quaternions scalar first. Where round-off has moved them off the
group they are brought back: plane rotations and quaternions here, rotations of space by the methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.arguments import count
from ..core.jit import inner
from ..core.round_off import mend_plane, mend_unit
from ..core.travel import recorded
from ..core.values import Vec3, cross, dot, store, vec3
from ..groups import se2, se3
from ..groups.factors import cross_columns, shift, turn_columns
from ..groups.quaternions import cay_core as quaternion_cay_core
from ..groups.quaternions import exp_core as quaternion_exp_core
from ..groups.quaternions import multiply_core
from ..groups.rotations import turn
from ..groups.scalars import cinv, cosc, cotc, sinc
from .action import Action, sample_sphere, unit
from .blocks import SE3, SO3, Block, Factor, no_bracket, product, translate


@inner
def add_translation(r, out, k):
    """Onto the last column of the 4x4 matrix that begins at entry k."""
    out[k + 3] += r.x
    out[k + 7] += r.y
    out[k + 11] += r.z


@inner
def move_left(cay, form, u, i, j, g, k, l, out):
    """tau(A, a) g"""
    A = vec3(u, i)
    r = shift(cay, A, vec3(u, j))
    turn_columns(turn(cay, A), 4, g, k, out)
    for m in range(k + 12, k + 16):
        out[m] = g[m]
    add_translation(r, out, k)


@inner
def move_right(cay, form, u, i, j, g, k, l, out):
    """g tau(A, a)^-1 = g (R, r)^-1 = (S R', s - S R' r)"""
    A = vec3(u, i)
    R, r = turn(cay, A), shift(cay, A, vec3(u, j))
    for m in range(k, k + 12, 4):
        row = R @ vec3(g, m)
        store(row, out, m)
        out[m + 3] = g[m + 3] - dot(row, r)
    for m in range(k + 12, k + 16):
        out[m] = g[m]


@inner
def velocity_left(cay, form, u, i, j, g, k, l, out):
    """hat(u) g"""
    cross_columns(vec3(u, i), 4, g, k, out)
    for m in range(k + 12, k + 16):
        out[m] = 0.0
    add_translation(vec3(u, j), out, k)


@inner
def velocity_right(cay, form, u, i, j, g, k, l, out):
    """-g hat(u)"""
    for m in range(k, k + 12, 4):
        store(cross(vec3(u, i), vec3(g, m)), out, m)
        out[m + 3] = -dot(vec3(g, m), vec3(u, j))
    for m in range(k + 12, k + 16):
        out[m] = 0.0


def _motion_distance(n: int) -> Callable:
    """Defect of the rotation and of the last row of n x n matrices, flat; infinite for a reflection."""

    def distance(y: np.ndarray) -> np.ndarray:
        g = y.reshape(*y.shape[:-1], n, n)
        R = g[..., :-1, :-1]
        off = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(n - 1), axis=(-2, -1))
        off = np.maximum(off, np.abs(g[..., -1, :] - np.eye(n)[-1]).max(axis=-1))
        return np.where(np.linalg.det(R) < 0.0, np.inf, off)

    return distance


MOTION = Block(
    *(SE3, 16, 6, move_left, velocity_left),
    distance=_motion_distance(4),
    nearest=lambda y: se3.project(y.reshape(*y.shape[:-1], 4, 4)).reshape(y.shape),
    sample=lambda rng: se3.random(rng).ravel(),
    rotations=((0, 4),),
)
SE3_ON_SE3 = Action(
    name="SE(3) on itself, left", group="SE(3)", manifold="SE(3)", **product(MOTION)
)
SE3_ON_SE3_RIGHT = Action(
    name="SE(3) on itself, from the right by the inverse",
    group="SE(3)",
    manifold="SE(3)",
    **product(MOTION._replace(move=move_right, velocity=velocity_right)),
)


@inner
def _cay_plane(theta):
    """cos and sin of the Cayley map's angle, and f = 1/(1 + theta^2/4)"""
    t = 0.5 * theta
    f = 1.0 / (1.0 + t * t)
    return (1.0 - t * t) * f, 2.0 * t * f, f


@inner
def move_plane(cay, form, u, i, j, g, k, l, out):
    """tau(u) g"""
    theta, a, b = u[i], u[i + 1], u[i + 2]
    if cay:
        t = 0.5 * theta
        c, s, f = _cay_plane(theta)
        x, y = f * (a - t * b), f * (t * a + b)
    else:
        c, s = math.cos(theta), math.sin(theta)
        p, q = sinc(theta * theta), theta * cosc(theta * theta)
        x, y = p * a - q * b, q * a + p * b
    for m in range(k, k + 3):
        out[m], out[m + 3] = c * g[m] - s * g[m + 3], s * g[m] + c * g[m + 3]
        out[m + 6] = g[m + 6]
    out[k + 2] += x
    out[k + 5] += y
    mend_plane(out, k, 3)


@inner
def velocity_plane(cay, form, u, i, j, g, k, l, out):
    """hat(u) g"""
    for m in range(k, k + 3):
        out[m], out[m + 3], out[m + 6] = -u[i] * g[m + 3], u[i] * g[m], 0.0
    out[k + 2] += u[i + 1]
    out[k + 5] += u[i + 2]


@inner
def se2_bracket(cay, form, u, i, j, v, k, l, out):
    out[i] = 0.0
    out[i + 1] = v[i] * u[i + 2] - u[i] * v[i + 2]
    out[i + 2] = u[i] * v[i + 1] - v[i] * u[i + 1]


@inner
def se2_dtauinv(cay, form, u, i, j, v, k, l, out):
    theta, a, b = u[i], u[i + 1], u[i + 2]
    omega, p, q = v[i], v[i + 1], v[i + 2]
    if cay:
        t = 0.5 * theta
        x, y = -0.5 * b + 0.5 * t * a, 0.5 * a + 0.5 * t * b
        store(Vec3((1.0 + t * t) * omega, p + t * q + x * omega, q - t * p + y * omega), out, i)
    else:
        s = theta * theta
        f, h, c = cotc(s), -0.5 * theta, theta * cinv(s)
        x, y = -0.5 * b + c * a, 0.5 * a + c * b  # (-1/2 + theta c J)(-J a)
        store(Vec3(omega, f * p - h * q + x * omega, h * p + f * q + y * omega), out, i)


SE2_ON_SE2 = Action(
    name="SE(2) on itself, left",
    group="SE(2)",
    manifold="SE(2)",
    **product(
        Block(
            *(Factor(3, se2_dtauinv, se2_bracket), 9, 3, move_plane, velocity_plane),
            distance=_motion_distance(3),
            nearest=lambda y: se2.project(y.reshape(*y.shape[:-1], 3, 3)).reshape(y.shape),
            sample=lambda rng: se2.random(rng).ravel(),
        )
    ),
)


@inner
def move_circle(cay, form, u, i, j, y, k, l, out):
    """tau(u) y"""
    if cay:
        c, s, _ = _cay_plane(u[i])
    else:
        c, s = math.cos(u[i]), math.sin(u[i])
    out[k], out[k + 1] = c * y[k] - s * y[k + 1], s * y[k] + c * y[k + 1]
    mend_unit(out, k, 2)


@inner
def velocity_circle(cay, form, u, i, j, y, k, l, out):
    out[k], out[k + 1] = -u[i] * y[k + 1], u[i] * y[k]


@inner
def so2_dtauinv(cay, form, u, i, j, v, k, l, out):
    out[i] = (1.0 + 0.25 * u[i] * u[i]) * v[i] if cay else v[i]


def _length_distance(y: np.ndarray) -> np.ndarray:
    return np.abs(np.linalg.norm(y, axis=-1) - 1.0)


SO2_ON_S1 = Action(
    name="SO(2) on S^1",
    group="SO(2)",
    manifold="the unit circle S^1",
    **product(
        Block(
            *(Factor(1, so2_dtauinv, no_bracket, 1), 2, 1, move_circle, velocity_circle),
            distance=_length_distance,
            nearest=unit,
            sample=sample_sphere(2),
        )
    ),
)


@inner
def move_quaternion(cay, form, u, i, j, q, k, l, out):
    """tau(u) q"""
    x, y, z = u[i], u[i + 1], u[i + 2]
    p = quaternion_cay_core(x, y, z) if cay else quaternion_exp_core(x, y, z)
    moved = multiply_core(p, (q[k], q[k + 1], q[k + 2], q[k + 3]))
    out[k], out[k + 1], out[k + 2], out[k + 3] = moved
    mend_unit(out, k, 4)


@inner
def velocity_quaternion(cay, form, u, i, j, q, k, l, out):
    """(0, u/2) q"""
    p = (0.0, 0.5 * u[i], 0.5 * u[i + 1], 0.5 * u[i + 2])
    moved = multiply_core(p, (q[k], q[k + 1], q[k + 2], q[k + 3]))
    out[k], out[k + 1], out[k + 2], out[k + 3] = moved


QUATERNIONS_ON_S3 = Action(
    name="unit quaternions on themselves, left",
    group="unit quaternions",
    manifold="the unit sphere S^3",
    **product(
        Block(
            *(SO3, 4, 3, move_quaternion, velocity_quaternion),
            distance=_length_distance,
            nearest=unit,
            sample=sample_sphere(4),
        )
    ),
)

_MOST = 10**8


@recorded
def rn_on_rn(n: int) -> Action:
    """R^n on itself by translation: the classical methods are the Lie group methods of this action."""
    n = count("n", n, most=_MOST)
    numbers = product(translate(1), each=True)  # one kernel for all n
    size = {"algebra": n, "point": n, "dimension": n, "blocks": False}
    name = f"R^{n}"
    return Action(name=f"{name} on itself", group=name, manifold=name, **numbers | size)
