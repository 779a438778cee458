"""Group elements as flat arrays: matrices row-major, the entries of tuples one after the other; batch axes lead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .products import Product


def shapes(shape: tuple) -> list[tuple[int, ...]]:
    """Shapes of the arrays in an element, in their order, from a group's `shape`."""
    if all(isinstance(n, (int, np.integer)) for n in shape):
        return [tuple(shape)]
    return [one for part in shape for one in shapes(part)]


def joined(g: Any) -> np.ndarray:
    """Entries of one element, flat."""
    if isinstance(g, (tuple, list)):
        return np.concatenate([joined(part) for part in g])
    return np.asarray(g, dtype=float).reshape(-1)


def split(shape: tuple, y: np.ndarray) -> Any:
    """The element, or elements, of a group of that `shape` whose entries are y (..., k)."""
    if all(isinstance(n, (int, np.integer)) for n in shape):
        return y.reshape(*y.shape[:-1], *shape)
    lengths = [sum(math.prod(one) for one in shapes(part)) for part in shape]
    ends = np.cumsum(lengths)[:-1]
    return tuple(
        split(part, piece) for part, piece in zip(shape, np.split(y, ends, -1), strict=True)
    )


def distance_from(group: Any, g: Any) -> np.ndarray:
    """How far an array, or a tuple, is from being an element: to its projection, or the defect of a matrix group."""
    if isinstance(group, Product):
        return np.max([distance_from(f, x) for f, x in zip(group.factors, g, strict=True)], axis=0)
    if hasattr(group, "defect"):
        return group.defect(g)
    near = group.project(g)
    g, near = (g[0], near[0]) if isinstance(g, tuple) else (g, near)  # (Q, mu): any mu will do
    off = near - g
    return np.sqrt((off * off).sum(axis=tuple(range(-len(shapes(group.shape)[0]), 0))))
