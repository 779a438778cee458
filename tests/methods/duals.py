"""Exact derivatives of kernels: their Python source, run on numbers that carry a derivative."""

from __future__ import annotations

import math
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np


class Dual:
    """value + slope e with e^2 = 0; compared by its value, so that it takes the branches that the value takes."""

    __array_ufunc__ = None  # a NumPy number times a dual asks the dual

    def __init__(self, value: float, slope: float = 0.0) -> None:
        self.value, self.slope = float(value), float(slope)

    def __add__(self, other: Any) -> Dual:
        b = dual(other)
        return Dual(self.value + b.value, self.slope + b.slope)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Dual:
        return self + -dual(other)

    def __rsub__(self, other: Any) -> Dual:
        return dual(other) + -self

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, (Dual, float, int)):
            return NotImplemented
        b = dual(other)
        return Dual(self.value * b.value, self.value * b.slope + self.slope * b.value)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Dual:
        b = dual(other)
        quotient = self.value / b.value
        return Dual(quotient, (self.slope - quotient * b.slope) / b.value)

    def __rtruediv__(self, other: Any) -> Dual:
        return dual(other) / self

    def __pow__(self, n: int) -> Dual:
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __lt__(self, other: Any) -> bool:
        return self.value < dual(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > dual(other).value

    def __abs__(self) -> Dual:
        return self if self.value >= 0.0 else -self


def dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x)


def _chain(function: Any, derivative: Any) -> Any:
    def applied(x: Any) -> Any:
        if not isinstance(x, Dual):
            return function(x)
        return Dual(function(x.value), derivative(x.value) * x.slope)

    return applied


_MATH = SimpleNamespace(
    sqrt=_chain(math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    sin=_chain(math.sin, math.cos),
    cos=_chain(math.cos, lambda x: -math.sin(x)),
    tan=_chain(math.tan, lambda x: 1.0 + math.tan(x) ** 2),
    atan=_chain(math.atan, lambda x: 1.0 / (1.0 + x * x)),
)
_NUMPY = SimpleNamespace(empty=lambda shape: np.empty(shape, dtype=object))


def interpreted(kernel: Any, known: dict | None = None) -> Any:
    """The kernel's Python source with that of all it calls: it takes and returns duals."""
    known = {} if known is None else known
    function = getattr(kernel, "py_func", kernel)
    if function in known:
        return known[function]
    names = dict(function.__globals__)
    known[function] = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    names.update(math=_MATH, np=_NUMPY)
    for name in function.__code__.co_names:
        called = names.get(name)
        own = getattr(getattr(called, "py_func", called), "__module__", "") or ""
        if own.startswith("lielab.") and (
            hasattr(called, "py_func") or isinstance(called, FunctionType)
        ):
            names[name] = interpreted(called, known)
    return known[function]


def jacobian(function: Any, x: Any) -> np.ndarray:
    """d f/d x of a function that takes and returns a sequence of numbers, to round-off."""
    columns = []
    for e in np.eye(len(x)):
        value = function([Dual(a, b) for a, b in zip(x, e, strict=True)])
        columns.append([dual(f).slope for f in value])
    return np.array(columns).T
