"""`Vec3` and `Mat3`: vectors and matrices of three with `+ - * / @`, for formulas that read as in the papers.

One source, run in two ways. In Python these are small immutable objects. In compiled code they are three or nine
numbers in registers: `_lowering` runs the functions below once more, on numbers that write LLVM instructions down in
place of computing, so what is compiled is what stands here, in the same order of arithmetic, to the last bit.

    v + w, v - w, -v, 2.0 * v, v / c      as always; v * w and v / w entry by entry, so that J * w is diag(J) w
    A + B, A - B, -A, 2.0 * A, A / c, A @ v, A @ B, transpose(A)
    cross(v, w), dot(v, w), outer(v, w), hat(v), axial(A), diag(v), trace(A), solve(A, b)
    cubic(v, a, b, c)                     a 1 + b hat(v) + c hat(v)^2, what rotations and their tangents are
    vec3(y, 9), mat3(y, 0), store(v, y, 9)     out of a flat array and into it, from that entry on

A diagonal inertia stays a vector: a matrix whose zeros are known costs twice. Every function is one of scalars:
branches do not belong here.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .jit import ENABLED, jit

__all__ = [
    "E1",
    "E2",
    "E3",
    "ONE",
    "ZERO",
    "ZEROS",
    "Mat3",
    "Vec3",
    "axial",
    "columns",
    "cross",
    "cubic",
    "diag",
    "dot",
    "finite",
    "hat",
    "largest",
    "mat3",
    "norm",
    "outer",
    "scale_columns",
    "scale_rows",
    "solve",
    "store",
    "trace",
    "transpose",
    "vec3",
]


class _Value:
    """Numbers with names (`__slots__`), added and scaled entry by entry."""

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy number times a value asks the value

    def __iter__(self) -> Any:
        return (getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, map(float, self)))})"

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __rmul__(self, c: Any) -> Any:
        return NotImplemented if isinstance(c, _Value) else self * c


class Vec3(_Value):
    """A vector (x, y, z), or the diagonal of a matrix."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: float, y: float, z: float) -> None:
        self.x, self.y, self.z = x, y, z

    def __add__(self, w: Vec3) -> Vec3:
        return Vec3(self.x + w.x, self.y + w.y, self.z + w.z)

    def __sub__(self, w: Vec3) -> Vec3:
        return Vec3(self.x - w.x, self.y - w.y, self.z - w.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, c: Any) -> Vec3:
        """By a number, or entry by entry."""
        if isinstance(c, Mat3):
            return NotImplemented
        if isinstance(c, Vec3):
            return Vec3(self.x * c.x, self.y * c.y, self.z * c.z)
        return Vec3(self.x * c, self.y * c, self.z * c)

    def __truediv__(self, c: Any) -> Vec3:
        """By a number, or entry by entry."""
        if isinstance(c, Mat3):
            return NotImplemented
        if isinstance(c, Vec3):
            return Vec3(self.x / c.x, self.y / c.y, self.z / c.z)
        return Vec3(self.x / c, self.y / c, self.z / c)


class Mat3(_Value):
    """A matrix, row by row."""

    __slots__ = ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")

    def __init__(
        self,
        *entries: float,
    ) -> None:
        (self.xx, self.xy, self.xz, self.yx, self.yy, self.yz, self.zx, self.zy, self.zz) = entries

    def __add__(A, B: Mat3) -> Mat3:
        return Mat3(
            *(A.xx + B.xx, A.xy + B.xy, A.xz + B.xz),
            *(A.yx + B.yx, A.yy + B.yy, A.yz + B.yz),
            *(A.zx + B.zx, A.zy + B.zy, A.zz + B.zz),
        )

    def __sub__(A, B: Mat3) -> Mat3:
        return Mat3(
            *(A.xx - B.xx, A.xy - B.xy, A.xz - B.xz),
            *(A.yx - B.yx, A.yy - B.yy, A.yz - B.yz),
            *(A.zx - B.zx, A.zy - B.zy, A.zz - B.zz),
        )

    def __neg__(A) -> Mat3:
        return Mat3(-A.xx, -A.xy, -A.xz, -A.yx, -A.yy, -A.yz, -A.zx, -A.zy, -A.zz)

    def __mul__(A, c: float) -> Mat3:
        if isinstance(c, _Value):
            return NotImplemented
        return Mat3(
            *(A.xx * c, A.xy * c, A.xz * c),
            *(A.yx * c, A.yy * c, A.yz * c),
            *(A.zx * c, A.zy * c, A.zz * c),
        )

    def __truediv__(A, c: float) -> Mat3:
        if isinstance(c, _Value):
            return NotImplemented
        return Mat3(
            *(A.xx / c, A.xy / c, A.xz / c),
            *(A.yx / c, A.yy / c, A.yz / c),
            *(A.zx / c, A.zy / c, A.zz / c),
        )

    def __matmul__(A, B: Any) -> Any:
        if isinstance(B, Vec3):
            return Vec3(
                A.xx * B.x + A.xy * B.y + A.xz * B.z,
                A.yx * B.x + A.yy * B.y + A.yz * B.z,
                A.zx * B.x + A.zy * B.y + A.zz * B.z,
            )
        return Mat3(
            A.xx * B.xx + A.xy * B.yx + A.xz * B.zx,
            A.xx * B.xy + A.xy * B.yy + A.xz * B.zy,
            A.xx * B.xz + A.xy * B.yz + A.xz * B.zz,
            A.yx * B.xx + A.yy * B.yx + A.yz * B.zx,
            A.yx * B.xy + A.yy * B.yy + A.yz * B.zy,
            A.yx * B.xz + A.yy * B.yz + A.yz * B.zz,
            A.zx * B.xx + A.zy * B.yx + A.zz * B.zx,
            A.zx * B.xy + A.zy * B.yy + A.zz * B.zy,
            A.zx * B.xz + A.zy * B.yz + A.zz * B.zz,
        )


def dot(v: Vec3, w: Vec3) -> float:
    """v . w"""
    return v.x * w.x + v.y * w.y + v.z * w.z


def cross(v: Vec3, w: Vec3) -> Vec3:
    """v x w"""
    return Vec3(v.y * w.z - v.z * w.y, v.z * w.x - v.x * w.z, v.x * w.y - v.y * w.x)


def outer(v: Vec3, w: Vec3) -> Mat3:
    """v w^T"""
    return Mat3(
        *(v.x * w.x, v.x * w.y, v.x * w.z),
        *(v.y * w.x, v.y * w.y, v.y * w.z),
        *(v.z * w.x, v.z * w.y, v.z * w.z),
    )


def hat(v: Vec3) -> Mat3:
    """The matrix with hat(v) w = v x w."""
    return Mat3(0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0)


def cubic(v: Vec3, a: float, b: float, c: float) -> Mat3:
    """a 1 + b hat(v) + c hat(v)^2: every function of hat(v) is one of these."""
    xx, yy, zz = v.x * v.x, v.y * v.y, v.z * v.z
    xy, xz, yz = c * v.x * v.y, c * v.x * v.z, c * v.y * v.z
    x, y, z = b * v.x, b * v.y, b * v.z
    return Mat3(
        *(a - c * (yy + zz), xy - z, xz + y),
        *(xy + z, a - c * (xx + zz), yz - x),
        *(xz - y, yz + x, a - c * (xx + yy)),
    )


def axial(A: Mat3) -> Vec3:
    """v with hat(v) = A - A^T: of an antisymmetric matrix, twice the inverse of hat (`so3.vee`)."""
    return Vec3(A.zy - A.yz, A.xz - A.zx, A.yx - A.xy)


def transpose(A: Mat3) -> Mat3:
    """A^T"""
    return Mat3(A.xx, A.yx, A.zx, A.xy, A.yy, A.zy, A.xz, A.yz, A.zz)


def trace(A: Mat3) -> float:
    """tr A"""
    return A.xx + A.yy + A.zz


def diag(v: Vec3) -> Mat3:
    """The matrix with v on its diagonal."""
    return Mat3(v.x, 0.0, 0.0, 0.0, v.y, 0.0, 0.0, 0.0, v.z)


def columns(u: Vec3, v: Vec3, w: Vec3) -> Mat3:
    """The matrix with these columns."""
    return Mat3(u.x, v.x, w.x, u.y, v.y, w.y, u.z, v.z, w.z)


def scale_rows(v: Vec3, A: Mat3) -> Mat3:
    """diag(v) A"""
    return Mat3(
        *(v.x * A.xx, v.x * A.xy, v.x * A.xz),
        *(v.y * A.yx, v.y * A.yy, v.y * A.yz),
        *(v.z * A.zx, v.z * A.zy, v.z * A.zz),
    )


def scale_columns(A: Mat3, v: Vec3) -> Mat3:
    """A diag(v)"""
    return Mat3(
        *(A.xx * v.x, A.xy * v.y, A.xz * v.z),
        *(A.yx * v.x, A.yy * v.y, A.yz * v.z),
        *(A.zx * v.x, A.zy * v.y, A.zz * v.z),
    )


_UNIT = np.float64(1.0)  # divided by zero this gives infinity in Python too


def solve(A: Mat3, b: Vec3) -> Vec3:
    """x with A x = b, by cofactors: Newton corrects their round-off. Infinite or NaN where A is singular."""
    c0 = A.yy * A.zz - A.yz * A.zy
    c1 = A.yz * A.zx - A.yx * A.zz
    c2 = A.yx * A.zy - A.yy * A.zx
    f = _UNIT / (A.xx * c0 + A.xy * c1 + A.xz * c2)
    return Vec3(
        f * (c0 * b.x + (A.xz * A.zy - A.xy * A.zz) * b.y + (A.xy * A.yz - A.xz * A.yy) * b.z),
        f * (c1 * b.x + (A.xx * A.zz - A.xz * A.zx) * b.y + (A.xz * A.yx - A.xx * A.yz) * b.z),
        f * (c2 * b.x + (A.xy * A.zx - A.xx * A.zy) * b.y + (A.xx * A.yy - A.xy * A.yx) * b.z),
    )


def vec3(a: Any, i: int) -> Vec3:
    """The vector a[i], a[i + 1], a[i + 2] of a flat array."""
    return Vec3(a[i], a[i + 1], a[i + 2])


def mat3(a: Any, i: int, row: int = 3) -> Mat3:
    """The matrix whose rows begin at a[i], a[i + row], a[i + 2 row] of a flat array."""
    j, k = i + row, i + row + row
    return Mat3(
        *(a[i], a[i + 1], a[i + 2]), *(a[j], a[j + 1], a[j + 2]), *(a[k], a[k + 1], a[k + 2])
    )


def store(value: Any, a: Any, i: int, row: int = 3) -> None:
    """Write a vector, or a matrix row by row, into a flat array from entry i on."""
    if isinstance(value, Vec3):
        a[i], a[i + 1], a[i + 2] = value.x, value.y, value.z
        return
    j, k = i + row, i + row + row
    a[i], a[i + 1], a[i + 2] = value.xx, value.xy, value.xz
    a[j], a[j + 1], a[j + 2] = value.yx, value.yy, value.yz
    a[k], a[k + 1], a[k + 2] = value.zx, value.zy, value.zz


ZERO = Vec3(0.0, 0.0, 0.0)
ONE = Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZEROS = Mat3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
E1, E2, E3 = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)

if ENABLED:
    from . import _lowering

    _lowering.declare(Vec3)
    _lowering.declare(Mat3)
    for _name in ("add", "iadd", "sub", "isub", "mul", "imul", "truediv", "itruediv", "matmul"):
        _lowering.offer(getattr(operator, _name), 2)
    for _function in (dot, cross, outer, scale_rows, scale_columns, solve):
        _lowering.offer(_function, 2)
    for _function in (operator.neg, hat, axial, transpose, trace, diag):
        _lowering.offer(_function, 1)
    _lowering.offer(columns, 3)
    _lowering.offer(cubic, 4)
    for _class, _function in ((Vec3, vec3), (Mat3, mat3)):
        _lowering.offer_access(_function, _class)
        _lowering.offer_access(store, None, _class)


@jit
def norm(v):
    """|v|"""
    return math.sqrt(dot(v, v))


@jit
def largest(v):
    """The largest |entry| of a vector."""
    return max(abs(v.x), max(abs(v.y), abs(v.z)))


@jit
def finite(v):
    """Are all entries of a vector finite?"""
    return math.isfinite(v.x + v.y + v.z)
