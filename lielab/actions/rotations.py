"""SO(3) on vectors, directions, rotations and bodies; and SO(3)^n on n directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.jit import inner
from ..core.round_off import mend_unit
from ..core.values import cross, dot, store, vec3
from ..groups import so3
from ..groups.factors import cross_columns, cross_rows, turn_columns, turn_rows
from ..groups.rotations import turn
from ..groups.scalars import cosc, sinc
from .action import Action, points, sample_sphere, unit
from .blocks import SO3, Block, mended, product


@inner
def move_rows(cay, form, u, i, j, y, k, l, out):
    """tau(u) times vectors that follow each other, so many as the form says."""
    turn_rows(turn(cay, vec3(u, i)), form, y, k, out)


@inner
def velocity_rows(cay, form, u, i, j, y, k, l, out):
    """u x y"""
    cross_rows(vec3(u, i), form, y, k, out)


@inner
def move_columns(cay, form, u, i, j, y, k, l, out):
    """tau(u) R, row-major"""
    turn_columns(turn(cay, vec3(u, i)), 3, y, k, out)


@inner
def velocity_columns(cay, form, u, i, j, y, k, l, out):
    """hat(u) R"""
    cross_columns(vec3(u, i), 3, y, k, out)


@inner
def move_vector(cay, form, u, i, j, y, k, l, out):
    """tau(u) y for one vector: y + a u x y + b u x (u x y) is cheaper than the matrix of exp."""
    if cay:
        move_rows(cay, form, u, i, j, y, k, l, out)
        return
    A, x = vec3(u, i), vec3(y, k)
    s = dot(A, A)
    Ax = cross(A, x)
    store(x + sinc(s) * Ax + cosc(s) * cross(A, Ax), out, k)


@inner
def mend_direction(q, k):
    mend_unit(q, k, 3)


# Of a unit vector; the second by the matrix, faster where many directions have rotations of their own.
move_direction = mended(move_vector, mend_direction)
move_directions = mended(move_rows, mend_direction)


def sphere_distance(y: np.ndarray) -> np.ndarray:
    """Largest | |q| - 1 | over the 3-vectors of y."""
    y = points(y, 3, several=True)
    q = y.reshape(*y.shape[:-1], -1, 3)
    return np.abs(np.linalg.norm(q, axis=-1) - 1.0).max(axis=-1)


def project_sphere(y: Any) -> np.ndarray:
    """Each 3-vector of y (..., 3 n) divided by its length; ValueError where one is zero."""
    y = np.array(y, dtype=float)
    return unit(y.reshape(*y.shape[:-1], -1, 3)).reshape(y.shape)


def sample_rotation(more: int = 0) -> Callable:
    """Random rotations, row-major, followed by so many standard normal numbers."""

    def sample(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([so3.random(rng).ravel(), rng.standard_normal(more)])

    return sample


def _distance_of_one(R: list[float]) -> float:
    """The same for one matrix: every start of a run is looked at, and NumPy's calls cost ten times the arithmetic."""
    x, y, z = R[0::3], R[1::3], R[2::3]  # columns
    total = 0.0
    for a, b, same in (
        (x, x, 1.0),
        (y, y, 1.0),
        (z, z, 1.0),
        (x, y, 0.0),
        (x, z, 0.0),
        (y, z, 0.0),
    ):
        off = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - same
        total += off * off if same else 2.0 * off * off
    det = (
        x[0] * (y[1] * z[2] - y[2] * z[1])
        - x[1] * (y[0] * z[2] - y[2] * z[0])
        + x[2] * (y[0] * z[1] - y[1] * z[0])
    )
    return math.inf if det < 0.0 else math.sqrt(total)


def rotation_distance(y: np.ndarray) -> np.ndarray:
    """Frobenius norm of R'R - 1 for the leading nine entries of y; infinite for a reflection."""
    y = points(y, 9)
    if y.ndim == 1:
        return np.float64(_distance_of_one(y[:9].tolist()))
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    defect = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))
    return np.where(np.linalg.det(R) < 0.0, np.inf, defect)


_ROTATION = {"distance": rotation_distance, "sample": sample_rotation(), "rotations": ((0, 3),)}
_DIRECTION = {"distance": sphere_distance, "nearest": project_sphere, "sample": sample_sphere(3)}
COLUMNS = Block(SO3, 9, 3, move_columns, velocity_columns, **_ROTATION)
ROWS = Block(SO3, 9, 3, move_rows, velocity_rows, 3, **_ROTATION)
ROWS_AND_VECTOR = ROWS._replace(point=12, dimension=6, form=4, sample=sample_rotation(3))
VECTOR = Block(SO3, 3, 3, move_vector, velocity_rows, 1)
DIRECTION = Block(SO3, 3, 2, move_direction, velocity_rows, 1, **_DIRECTION)
DIRECTIONS = DIRECTION._replace(move=move_directions)

SO3_ON_SO3 = Action(
    name="SO(3) on itself, left", group="SO(3)", manifold="SO(3)", **product(COLUMNS)
)
SO3_ON_S2 = Action(
    name="SO(3) on S^2", group="SO(3)", manifold="the unit sphere S^2", **product(DIRECTION)
)
# R . S = S R^-1: the right translations, made a left action by the inverse. The rows of S are turned.
SO3_ON_SO3_RIGHT = Action(
    name="SO(3) on itself, from the right by the inverse",
    group="SO(3)",
    manifold="SO(3)",
    **product(ROWS),
)
# Ad_R = R, so this is also the adjoint action.
SO3_ON_R3 = Action(name="SO(3) on R^3", group="SO(3)", manifold="R^3", **product(VECTOR))
# The coadjoint action is mu -> Ad*_{g^-1} mu = g mu (celledoni, example 1, printed without the inverse).
SO3_ON_DUAL = Action(
    name="SO(3) on so(3)*, coadjoint", group="SO(3)", manifold="so(3)*", **product(VECTOR)
)
# g . (R, mu) = (R g^-1, g mu): a left action that leaves the spatial momentum R mu where it is. The rows of
# R and mu are turned alike.
SO3_ON_BODY = Action(
    name="SO(3) on (R, mu)",
    group="SO(3)",
    manifold="SO(3) x so(3)*",
    **product(ROWS_AND_VECTOR),
)
# Each direction has a rotation of its own (point vortices, spins).
SO3N_ON_SPHERES = Action(
    name="SO(3)^n on (S^2)^n",
    group="SO(3)^n",
    manifold="(S^2)^n (unit vectors)",
    **product(DIRECTIONS, each=True),
)
