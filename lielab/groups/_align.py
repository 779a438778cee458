"""Rotations and rigid motions from vectors: between two directions, between two sets of points (Wahba's problem)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arguments import flag
from .batch import Space, floats, read

_VECTOR = Space((3,))
# Of singular values, relative to the largest: below it the data do not tell the rotation.
_RANK = 1e-12


def from_directions(a: Any, b: Any) -> np.ndarray:
    """The rotation by the smallest angle that takes the direction of a to that of b. (..., 3), (..., 3) -> (..., 3, 3).

    Lengths do not count. It turns about a x b, by an angle of at most pi. Opposite directions are the degenerate case:
    every half turn about an axis across a will do, and one of them is returned. A turn about a may follow on the
    right, one about b on the left: one pair of directions leaves that free; for two pairs or more see `align`.
    Raises ValueError for a zero vector.
    """
    a, b = (_unit(name, value) for name, value in (("a", a), ("b", b)))
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        raise ValueError(
            f"the batch axes of a {a.shape[:-1]} and b {b.shape[:-1]} do not broadcast; give them equal lengths or "
            "length 1"
        ) from None
    # The frame (a, n x a, n) goes to (b, n x b, n), n across both: any axis across a where b = -a to
    # round-off. What round-off puts into n along a is taken off again, so that R stays a rotation near there.
    c = np.cross(a, b)
    across = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    away = np.linalg.norm(c, axis=-1, keepdims=True) > 1e-15
    n = np.where(away, c, np.cross(a, across))
    n = n - a * (a * n).sum(-1, keepdims=True)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    half_turn = (
        np.einsum("...i,...j->...ij", b, a)
        + np.einsum("...i,...j->...ij", np.cross(n, b), np.cross(n, a))
        + np.einsum("...i,...j->...ij", n, n)
    )
    # Rodrigues' formula for the angle of a and b, without a division by its sine
    dot = (a * b).sum(-1)[..., None, None]
    C = np.zeros((*c.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        C[..., i, j], C[..., j, i] = -c[..., k], c[..., k]
    small = np.eye(3) + C + C @ C / (1.0 + np.maximum(dot, 0.0))
    return np.where(dot >= 0.0, small, half_turn)


def _unit(name: str, value: Any) -> np.ndarray:
    v = read(name, value, _VECTOR)
    size = np.abs(v).max(axis=-1, keepdims=True, initial=0.0)
    if not np.all(size > 0.0):
        raise ValueError(f"{name} must not be zero: it has no direction")
    v = v / size
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def align(x: Any, y: Any, weights: Any = None) -> np.ndarray:
    """The rotation R (3, 3) with the least sum_i w_i |y_i - R x_i|^2, for vectors x, y (n, 3), weights (n,) or equal.

    Wahba's problem, solved by SciPy's `Rotation.align_vectors(y, x)`, whose arguments are the other way round.
    Vectors count by their length; for directions alone divide by it. Raises ValueError in the degenerate cases: all
    vectors on one line, which leaves the turn about it free, or y a mirror image of x of which two rotations are
    equally far.
    """
    x, y, w = _pairs(x, y, weights)
    return _rotation(x, y, w)


def aligned(x: Any, y: Any, weights: Any, scale: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """R, r and s of the motion of `se3.align`."""
    scale = flag("scale", scale)
    x, y, w = _pairs(x, y, weights)
    w = w / w.sum()
    middle_x, middle_y = w @ x, w @ y
    x, y = x - middle_x, y - middle_y
    R = _rotation(x, y, w)
    s = float((w @ (y * (x @ R.T))).sum() / (w @ (x * x)).sum()) if scale else 1.0
    return R, middle_y - s * R @ middle_x, s


def _pairs(x: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = read("x", x, _VECTOR), read("y", y, _VECTOR)
    if x.ndim != 2 or x.shape != y.shape or not len(x):
        raise ValueError(
            f"x and y must have the same shape (n, 3) with n > 0, got {x.shape} and {y.shape}"
        )
    w = np.ones(len(x)) if weights is None else floats("weights", weights)
    if w.shape != (len(x),) or not np.isfinite(w).all() or w.min() < 0.0 or not w.sum() > 0.0:
        raise ValueError(
            f"weights must be {len(x)} non-negative numbers, not all 0, got {weights!r}"
        )
    return x, y, w


def _rotation(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    w = w / w.max()
    x, y = (v / max(np.abs(v).max(), 1e-300) for v in (x, y))  # lengths do not change the answer
    for name, v in (("x", x), ("y", y)):
        s = np.linalg.svd(np.sqrt(w)[:, None] * v, compute_uv=False)
        if len(s) < 2 or s[1] <= _RANK * s[0] or s[0] == 0.0:
            raise ValueError(
                f"{name} lies on one line, which leaves the turn about it free; add a vector across it, or use "
                "so3.from_directions for the smallest rotation"
            )
    U, s, Vt = np.linalg.svd((w[:, None] * y).T @ x)
    sign = 1.0 if np.linalg.det(U @ Vt) > 0.0 else -1.0
    if s[1] + sign * s[2] <= _RANK * s[0]:
        raise ValueError(
            "x and y do not tell the rotation: y is as far from x turned in one way as in another "
            "(a mirror image, or vectors that do not belong together); check their order and signs"
        )
    found, _ = Rotation.align_vectors(y, x, weights=w)
    return found.as_matrix()
