"""What type checkers know of the functions that decorators make: how they are called, and that they return arrays.

Arguments are whatever NumPy takes for an array of numbers, by place or by the name that `help` shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Result = TypeVar("Result", covariant=True)


class OfOne(Protocol):
    """A function of one argument, with its kernel `(x, out) -> bool`."""

    kernel: Callable

    @overload
    def __call__(self, x: Any, /) -> Array: ...
    @overload
    def __call__(self, /, **named: Any) -> Array: ...


class OfTwo(Protocol[Result]):
    """A function of two, with its kernel `(x, y, out) -> bool`. Distances are Any: a float, or an array for a batch."""

    kernel: Callable

    @overload
    def __call__(self, x: Any, y: Any, /) -> Result: ...
    @overload
    def __call__(self, x: Any, /, **named: Any) -> Result: ...
    @overload
    def __call__(self, /, **named: Any) -> Result: ...


class OfVectors(Protocol):
    """A function of algebra vectors."""

    def __call__(self, u: Any) -> Array: ...


class OfElements(Protocol):
    """A function of group elements, tuples of arrays in a product."""

    def __call__(self, g: Any) -> Array: ...


class Series(Protocol):
    """A series of algebra vectors, cut after `order` commutators."""

    def __call__(self, u: Any, order: int) -> Array: ...


class Interpolate(Protocol):
    """See `lielab.so3.interpolate`."""

    def __call__(self, g: Any, h: Any, t: Any) -> Array: ...


class Mean(Protocol):
    """See `lielab.so3.mean`."""

    def __call__(self, elements: Any, weights: Any = None) -> Array: ...
