"""Euler angles and SciPy's rotations, for `lielab.so3` and `lielab.se3`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .batch import Space, read

# cos b (Tait-Bryan) or sin b (proper Euler) below this counts as a singularity, "gimbal lock": the first and
# third axis are parallel to half the digits of a float, and only the sum or difference of their angles is meant.
SINGULAR = 1e-8


def _axes(order: Any) -> tuple[tuple[int, int, int], bool]:
    """Axes of the intrinsic sequence, and whether the angles must be reversed."""
    text = order if isinstance(order, str) else ""
    upper, lower = text == text.upper(), text == text.lower()
    letters = text.upper()
    good = len(text) == 3 and set(letters) <= set("XYZ") and upper != lower
    if not good or letters[0] == letters[1] or letters[1] == letters[2]:
        raise ValueError(
            f"order must be three axes such as 'XYZ' or 'ZXZ' (intrinsic, turning axes) or 'xyz' (extrinsic, "
            f"fixed axes), neighbours different, got {order!r}"
        )
    axes = tuple("XYZ".index(letter) for letter in letters)
    return (axes, False) if upper else (axes[::-1], True)


def _elementary(axis: int, angle: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*angle.shape, 3, 3))
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = c
    R[..., i, j], R[..., j, i] = -s, s
    return R


def from_euler(angles: Any, order: str) -> np.ndarray:
    """Rotation of three Euler angles (radians). Shapes (..., 3) -> (..., 3, 3).

    `order` names the axes in the order in which the turns are done: capitals ('ZXZ') about the turning axes,
    R = R_Z(a) R_X(b) R_Z(c); small letters ('xyz') about the fixed ones, R = R_z(c) R_y(b) R_x(a). The same
    convention as SciPy's.
    """
    (i, j, k), reverse = _axes(order)
    angles = read("angles", angles, Space((3,)))
    a, b, c = np.moveaxis(angles[..., ::-1] if reverse else angles, -1, 0)
    return _elementary(i, a) @ _elementary(j, b) @ _elementary(k, c)


def to_euler(R: Any, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Euler angles of R and a flag: (..., 3, 3) -> angles (..., 3) in radians, singular (...).

    The middle angle lies in [-pi/2, pi/2] for three different axes, in [0, pi] where the first is repeated.
    Where `singular` is true (the middle angle at an end of its range, to 1e-8) only a combination of the first
    and the third angle is determined; the angles returned still give R to round-off. `order` as in from_euler.
    """
    from .so3 import ELEMENT

    (i, j, k), reverse = _axes(order)
    R = read("R", R, ELEMENT)
    e = np.eye(3)
    turned = np.cross(e[j], e[k])  # R_j(b) e_k = cos b e_k + sin b turned
    w = R[..., :, k]
    if i == k:
        a = np.arctan2(w[..., j], w @ np.cross(e[j], e[i]))
        size = np.hypot(w[..., j], w @ np.cross(e[j], e[i]))
    else:
        a = np.arctan2(w @ np.cross(e[i], e[k]), w[..., k])
        size = np.hypot(w[..., j], w[..., k])
    # From here on with the rest R_i(a)' R = R_j(b) R_k(c): exact whatever the choice of a.
    rest = np.swapaxes(_elementary(i, a), -1, -2) @ R
    b = np.arctan2(rest[..., :, k] @ turned, rest[..., k, k])
    c = np.arctan2(rest[..., j, :] @ turned, rest[..., j, j])
    angles = np.stack([c, b, a] if reverse else [a, b, c], axis=-1)
    return angles, size < SINGULAR


def to_scipy(R: Any) -> Any:
    """`scipy.spatial.transform.Rotation` of matrices (..., 3, 3); SciPy before 1.17 takes one batch axis."""
    from scipy.spatial.transform import Rotation

    from .so3 import ELEMENT

    return Rotation.from_matrix(read("R", R, ELEMENT))


def from_scipy(rotation: Any) -> np.ndarray:
    """Matrices (..., 3, 3) of a `scipy.spatial.transform.Rotation`."""
    if not hasattr(rotation, "as_matrix") or not hasattr(rotation, "as_rotvec"):
        raise ValueError(
            f"rotation must be a scipy.spatial.transform.Rotation, got {type(rotation).__name__}"
        )
    return np.asarray(rotation.as_matrix(), dtype=float)


def motion_to_scipy(g: Any) -> Any:
    """`scipy.spatial.transform.RigidTransform` (SciPy 1.16 and later) of matrices (..., 4, 4)."""
    from scipy.spatial import transform

    from .se3 import ELEMENT

    if not hasattr(transform, "RigidTransform"):
        raise ValueError(
            "RigidTransform needs SciPy 1.16 or later; use so3.to_scipy for the rotation alone"
        )
    return transform.RigidTransform.from_matrix(read("g", g, ELEMENT))


def motion_from_scipy(transform: Any) -> np.ndarray:
    """Matrices (..., 4, 4) of a `scipy.spatial.transform.RigidTransform`."""
    if not hasattr(transform, "as_matrix") or not hasattr(transform, "as_exp_coords"):
        raise ValueError(
            f"transform must be a scipy.spatial.transform.RigidTransform, got {type(transform).__name__}"
        )
    return np.asarray(transform.as_matrix(), dtype=float)
