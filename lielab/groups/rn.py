"""R^n with addition. Elements and algebra vectors: (n,). `rn(3)` is the group R^3.

Abelian: brackets vanish, Ad and dexp are the identity, exp, log, cay and cayinv return their argument.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..core.arguments import count
from .batch import Space, axes, generator, read
from .derived import averaged, interpolated


class RealSpace:
    """The group R^n; the contract of `lielab.so3`, with leading batch axes on every function."""

    def __init__(self, n: int) -> None:
        self.dim = n
        self.shape = (self.dim,)
        self.name = f"R^{n}"
        self._vector = Space((self.dim,))
        self._matrix = Space((self.dim + 1, self.dim + 1))

    def __repr__(self) -> str:
        return f"rn({self.dim})"

    def __reduce__(self) -> Any:
        return rn, (self.dim,)

    def _one(self, u: Any, scale: float) -> np.ndarray:
        u = read("u", u, self._vector)
        return np.broadcast_to(scale * np.eye(self.dim), (*u.shape, self.dim)).copy()

    def hat(self, u: Any) -> np.ndarray:
        """Matrix [[0, u], [0, 0]] of the translation. Shapes (..., n) -> (..., n + 1, n + 1)."""
        u = read("u", u, self._vector)
        X = np.zeros((*u.shape[:-1], self.dim + 1, self.dim + 1))
        X[..., :-1, -1] = u
        return X

    def vee(self, X: Any) -> np.ndarray:
        """Last column of such a matrix. Shapes (..., n + 1, n + 1) -> (..., n)."""
        X = read("X", X, self._matrix)
        if np.any(X[..., :, :-1]) or np.any(X[..., -1, :]):
            raise ValueError("X must be zero outside its last column and have a last row of zeros")
        return X[..., :-1, -1].copy()

    def exp(self, u: Any) -> np.ndarray:
        """u itself. Shapes (..., n) -> (..., n)."""
        return read("u", u, self._vector).copy()

    def log(self, x: Any) -> np.ndarray:
        """x itself. Shapes (..., n) -> (..., n)."""
        return read("x", x, self._vector).copy()

    cay, cayinv, project = exp, log, log

    def Ad(self, x: Any) -> np.ndarray:
        """The identity. Shapes (..., n) -> (..., n, n)."""
        return self._one(x, 1.0)

    def ad(self, u: Any) -> np.ndarray:
        """Zero. Shapes (..., n) -> (..., n, n)."""
        return self._one(u, 0.0)

    coAd = dexp = dexpinv = dcay = dcayinv = Ad
    dexp_left = dexpinv_left = dcay_left = dcayinv_left = Ad
    coad = ad

    def dexp_series(self, u: Any, order: int) -> np.ndarray:
        """The identity, whatever the order. Shapes (..., n) -> (..., n, n)."""
        return self._one(u, 1.0)

    dexpinv_series = dexp_series

    def bracket(self, u: Any, v: Any) -> np.ndarray:
        """Zero. Shapes (..., n), (..., n) -> (..., n)."""
        return np.zeros(self.compose(u, v).shape)

    def identity(self, batch: tuple[int, ...] = ()) -> np.ndarray:
        """Zero, shape (*batch, n)."""
        return np.zeros((*axes(batch), self.dim))

    def compose(self, x: Any, y: Any) -> np.ndarray:
        """x + y. Shapes (..., n), (..., n) -> (..., n)."""
        return read("x", x, self._vector) + read("y", y, self._vector)

    def inverse(self, x: Any) -> np.ndarray:
        """-x. Shapes (..., n) -> (..., n)."""
        return -read("x", x, self._vector)

    def random(
        self, rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()
    ) -> np.ndarray:
        """Standard normal vectors, shape (*batch, n)."""
        return generator(rng).standard_normal((*axes(batch), self.dim))

    def distance(self, x: Any, y: Any) -> Any:
        """|x - y|. Shapes (..., n), (..., n) -> (...)."""
        d = np.linalg.norm(self.compose(x, self.inverse(y)), axis=-1)
        return float(d) if d.ndim == 0 else d

    def interpolate(self, x: Any, y: Any, t: Any) -> np.ndarray:
        """x + t (y - x), for any t. Batch axes of x, y and t broadcast."""
        return interpolated(self, x, y, t)

    def mean(self, elements: Any, weights: Any = None) -> np.ndarray:
        """The weighted mean of elements (n, dim), weights (n,) or equal ones: always unique."""
        return averaged(self, elements, weights)


_MOST = 10**6  # a matrix on algebra vectors has n^2 entries


def rn(n: int) -> RealSpace:
    """The group R^n."""
    return _made(count("n", n, most=_MOST))


@cache
def _made(n: int) -> RealSpace:
    return RealSpace(n)
