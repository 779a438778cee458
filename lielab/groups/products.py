"""Direct products and powers of groups. `product(so3, rn(3))`, `power(se3, 2)`.

An element is a tuple, one entry a factor; an algebra vector is the concatenation of the factors' vectors, and
matrices on algebra vectors are block diagonal. Batch axes lead in every entry of the tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import count
from . import rn as _rn
from . import so3
from .batch import Space, generator, read
from .signatures import OfElements, OfVectors, Series


class Product:
    """A direct product of groups; the contract of `lielab.so3`, elements as tuples."""

    # Made by name, below.
    Ad: OfElements
    coAd: OfElements
    ad: OfVectors
    coad: OfVectors
    dexp: OfVectors
    dexpinv: OfVectors
    dcay: OfVectors
    dcayinv: OfVectors
    dexp_left: OfVectors
    dexpinv_left: OfVectors
    dcay_left: OfVectors
    dcayinv_left: OfVectors
    dexp_series: Series
    dexpinv_series: Series

    def __init__(self, factors: tuple, name: str | None = None) -> None:
        if not factors:
            raise ValueError("a product needs at least one group, got none")
        needed = ("exp", "log", "Ad", "dexpinv", "compose", "dim", "shape")
        for factor in factors:
            missing = [item for item in needed if not hasattr(factor, item)]
            if missing:
                raise ValueError(
                    f"factors must be groups (lielab.so3, lielab.rn(3), ...), got {factor!r} without {missing[0]}"
                )
        self.factors = tuple(factors)
        self.dim = sum(factor.dim for factor in factors)
        self.shape = tuple(factor.shape for factor in factors)
        self.name = name or " x ".join(factor.name for factor in factors)
        ends = np.cumsum([0, *(factor.dim for factor in factors)])
        self._slices = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        self._vector = Space((self.dim,))

    def __repr__(self) -> str:
        return f"<group {self.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Product):
            return NotImplemented
        return (self.name, self.factors) == (other.name, other.factors)

    def __hash__(self) -> int:
        return hash((self.name, self.factors))

    def __reduce__(self) -> Any:
        return Product, (self.factors, self.name)

    def _split(self, name: str, u: Any) -> list[np.ndarray]:
        u = read(name, u, self._vector)
        return [u[..., piece] for piece in self._slices]

    def _entries(self, name: str, g: Any) -> tuple:
        if not isinstance(g, (tuple, list)) or len(g) != len(self.factors):
            raise ValueError(
                f"{name} must be a tuple of {len(self.factors)} elements, one for each factor of {self.name}, "
                f"got {type(g).__name__}"
                + (f" of length {len(g)}" if isinstance(g, (tuple, list)) else "")
            )
        return tuple(g)

    def _tuple(self, function: str, *arguments: list) -> tuple:
        return tuple(
            getattr(factor, function)(*values)
            for factor, *values in zip(self.factors, *arguments, strict=True)
        )

    def _diagonal(self, function: str, pieces: Any, *rest: Any) -> np.ndarray:
        blocks = [
            getattr(factor, function)(piece, *rest)
            for factor, piece in zip(self.factors, pieces, strict=True)
        ]
        batch = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
        matrix = np.zeros((*batch, self.dim, self.dim))
        for block, piece in zip(blocks, self._slices, strict=True):
            matrix[..., piece, piece] = block
        return matrix

    def _vectors(self, function: str, g: Any) -> np.ndarray:
        parts = self._tuple(function, self._entries("g", g))
        batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return np.concatenate(
            [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1
        )

    def hat(self, u: Any) -> tuple:
        """Tuple of the factors' matrices."""
        return self._tuple("hat", self._split("u", u))

    def vee(self, X: Any) -> np.ndarray:
        """Inverse of hat: tuple of matrices -> (..., dim)."""
        return self._vectors("vee", X)

    def exp(self, u: Any) -> tuple:
        """Factor by factor: (..., dim) -> tuple."""
        return self._tuple("exp", self._split("u", u))

    def log(self, g: Any) -> np.ndarray:
        """Factor by factor: tuple -> (..., dim)."""
        return self._vectors("log", g)

    def cay(self, u: Any) -> tuple:
        """Factor by factor: (..., dim) -> tuple."""
        return self._tuple("cay", self._split("u", u))

    def cayinv(self, g: Any) -> np.ndarray:
        """Factor by factor: tuple -> (..., dim)."""
        return self._vectors("cayinv", g)

    def bracket(self, u: Any, v: Any) -> np.ndarray:
        """Factor by factor. Shapes (..., dim), (..., dim) -> (..., dim)."""
        return np.concatenate(
            self._tuple("bracket", self._split("u", u), self._split("v", v)), axis=-1
        )

    def identity(self, batch: tuple[int, ...] = ()) -> tuple:
        """The tuple of unit elements."""
        return tuple(factor.identity(batch) for factor in self.factors)

    def compose(self, g: Any, h: Any) -> tuple:
        """Factor by factor."""
        return self._tuple("compose", self._entries("g", g), self._entries("h", h))

    def inverse(self, g: Any) -> tuple:
        """Factor by factor."""
        return self._tuple("inverse", self._entries("g", g))

    def random(
        self, rng: np.random.Generator | int | None = None, batch: tuple[int, ...] = ()
    ) -> tuple:
        """Independent random elements of the factors."""
        rng = generator(rng)
        return tuple(factor.random(rng, batch) for factor in self.factors)

    def distance(self, g: Any, h: Any) -> Any:
        """Root of the sum of the factors' squared distances; units count as given."""
        d = self._tuple("distance", self._entries("g", g), self._entries("h", h))
        total = np.sqrt(sum(np.square(part) for part in d))
        return float(total) if np.ndim(total) == 0 else total

    def interpolate(self, g: Any, h: Any, t: Any) -> tuple:
        """Factor by factor, at the same t: the one-parameter subgroup from g to h. Unique where each factor's is."""
        g, h = self._entries("g", g), self._entries("h", h)
        return self._tuple("interpolate", g, h, (t,) * len(self.factors))

    def mean(self, elements: Any, weights: Any = None) -> tuple:
        """Factor by factor; elements a tuple of arrays (n, *shape), weights (n,) for all. Unique where each is."""
        entries = self._entries("elements", elements)
        return self._tuple("mean", entries, (weights,) * len(self.factors))

    @property
    def projects(self) -> bool:
        """Whether all factors offer `project`."""
        return all(getattr(factor, "projects", True) for factor in self.factors)

    def project(self, g: Any) -> tuple:
        """Factor by factor."""
        return self._tuple("project", self._entries("g", g))


def _offer(function: str, takes: str, method: Callable) -> None:
    method.__name__ = function
    method.__doc__ = f"Block diagonal of the factors' {function}: {takes} -> (..., dim, dim)."
    setattr(Product, function, method)


def _on_elements(function: str) -> None:
    def method(self: Product, g: Any) -> np.ndarray:
        return self._diagonal(function, self._entries("g", g))

    _offer(function, "tuple", method)


def _on_vectors(function: str) -> None:
    def method(self: Product, u: Any) -> np.ndarray:
        return self._diagonal(function, self._split("u", u))

    _offer(function, "(..., dim)", method)


def _series(function: str) -> None:
    def method(self: Product, u: Any, order: int) -> np.ndarray:
        return self._diagonal(function, self._split("u", u), order)

    _offer(function, "(..., dim)", method)


for _function in ("Ad", "coAd"):
    _on_elements(_function)
for _function in (
    *("ad", "coad", "dexp", "dexpinv", "dcay", "dcayinv"),
    *("dexp_left", "dexpinv_left", "dcay_left", "dcayinv_left"),
):
    _on_vectors(_function)
for _function in ("dexp_series", "dexpinv_series"):
    _series(_function)


def product(*factors: Any, name: str | None = None) -> Product:
    """The direct product of groups, e.g. product(so3, rn(3))."""
    return Product(factors, name)


_MOST = 10**6


def power(group: Any, n: int) -> Product:
    """The n-fold direct product of a group with itself."""
    n = count("n", n, most=_MOST)
    if not hasattr(group, "name"):
        raise ValueError(f"group must be a group such as lielab.so3, got {group!r}")
    return Product((group,) * n, f"{group.name}^{n}")


# The group of the quadrotors (celledoni 6.1): (B, b)(C, c) = (B C, b + c). Not the tangent group, where
# b + B c would stand; that one has the structure of lielab.cotangent_so3.
direct_tso3 = product(so3, _rn.rn(3), name="SO(3) x R^3, direct")
