"""From kernels on flat arrays to public functions with leading batch axes.

A group kernel is `kernel(x, out) -> bool` or `kernel(x, y, out) -> bool` on flat float64 arrays, matrices
row-major; it returns False outside its domain. `batched` turns it into the public function: it reads and
checks the arguments, loops over the batch in compiled code and gives the result its shape.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, overload

import numpy as np

from ..core.jit import BINARY, MAT, UNARY, jit, loop
from .signatures import Array, OfOne, OfTwo

# Largest defect accepted of an argument that must lie in the group. Single-precision matrices (1e-7) and a
# few steps of an ambient integrator pass; anything worse deserves `project`, knowingly.
ELEMENT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Space:
    """What an argument must be: its shape, and for group elements the defect kernel `(x, out) -> bool`.

    The defect kernel returns False for entries that are not `bounded`.
    """

    shape: tuple[int, ...]
    name: str = "a vector"
    defect: Callable | None = None

    @cached_property
    def size(self) -> int:
        return math.prod(self.shape)


# Fourth powers of entries up to here are finite, so that no formula of a group overflows.
LARGEST = 1e75
_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)


@jit
def bounded(x):
    """Are all entries finite and at most LARGEST? Every defect kernel asks first."""
    for value in x:  # noqa: SIM110  Numba has no generators
        if not abs(value) <= LARGEST:  # written so that a NaN fails
            return False
    return True


@loop(UNARY, MAT, MAT)
def each(kernel, x, out):
    good = True
    for i in range(len(x)):
        good = kernel(x[i], out[i]) and good
    return good


@loop(BINARY, MAT, MAT, MAT)
def _each2(kernel, x, y, out):
    good = True
    for i in range(len(x)):
        good = kernel(x[i], y[i], out[i]) and good
    return good


def read(name: str, value: Any, space: Space) -> np.ndarray:
    """The argument as a float64 C-contiguous array of shape (..., *space.shape), or a ValueError."""
    return _read(name, value, space, np.empty(1))[0]


def _read(
    name: str, value: Any, space: Space, scratch: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The array of `read`, and the same entries flat; scratch is overwritten."""
    # The common case first: np.require costs as much as everything else together.
    if type(value) is _ARRAY and value.dtype is _FLOAT and value.flags.carray:
        array = value
    else:
        array = floats(name, value)
    shape = space.shape
    if array.shape != shape and array.shape[max(0, array.ndim - len(shape)) :] != shape:
        wanted = ", ".join(["...", *map(str, shape)])
        raise ValueError(
            f"{name} must have shape ({wanted}), got {array.shape}; leading axes are the batch"
        )
    flat = array.reshape(-1)
    if space.defect is None:
        if not bounded(flat):
            _refuse(name, array)
        return array, flat
    if array.shape == shape:
        finite = space.defect(flat, scratch)
        worst = scratch[0]
    elif array.size:
        defect = np.empty((array.size // space.size, 1))
        finite = each(space.defect, array.reshape(-1, space.size), defect)
        worst = defect.max()
    else:
        return array, flat
    if not finite:
        _refuse(name, array)
    if worst > ELEMENT_TOLERANCE:
        raise ValueError(
            f"{name} is not {space.name}: defect {worst:.3g}, at most {ELEMENT_TOLERANCE:g} is accepted; "
            f"use project({name}) to move it onto the group"
        )
    return array, flat


def floats(name: str, value: Any) -> np.ndarray:
    """Any numbers as a float64 C-contiguous array, or a ValueError."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or np.ma.is_masked(value):
            raise TypeError
        # the compiled loops take no read-only arrays
        return np.require(array, np.float64, "CW")
    except (TypeError, ValueError):
        wanted = f"{name}.as_matrix()" if hasattr(value, "as_matrix") else "a float array"
        raise ValueError(
            f"{name} must hold real numbers, got {_short(value)}; pass {wanted}"
        ) from None


def axes(batch: Any) -> tuple[int, ...]:
    """The lengths of the batch axes asked for, or a ValueError."""
    try:
        found = tuple(operator.index(length) for length in batch)
    except TypeError:
        found = (-1,)
    if any(length < 0 for length in found):
        raise ValueError(f"batch must be a tuple of lengths such as (3,), got {_short(batch)}")
    return found


def generator(rng: Any) -> np.random.Generator:
    """The source of random numbers `rng`: a NumPy Generator, a seed (a whole number, 0 or more), None: fresh ones."""
    if isinstance(rng, np.random.Generator):
        return rng
    seed = isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0
    if rng is not None and not seed:
        raise ValueError(
            f"rng must be a numpy Generator, a seed (a whole number, 0 or more) or None, got {_short(rng)}; "
            "batch axes are the second argument, random(rng, batch=(3,))"
        )
    return np.random.default_rng(rng)


def _refuse(name: str, array: np.ndarray) -> None:
    raise ValueError(
        f"{name} must be finite and at most {LARGEST:g} in size, got {_short(array)}; "
        "remove NaN and inf, or choose larger units"
    )


def read_skew(name: str, X: np.ndarray) -> np.ndarray:
    """X (..., n, n), or a ValueError where it is not skew."""
    symmetric = np.abs(X + np.swapaxes(X, -1, -2)).max(initial=0.0)
    if symmetric > 1e-9 * (1.0 + np.abs(X).max(initial=0.0)):
        raise ValueError(
            f"{name} must be skew, got |{name} + {name}'| = {symmetric:.3g}; "
            f"pass ({name} - {name}')/2 if that is meant"
        )
    return X


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


@overload
def batched(
    first: Space, /, *, out: tuple[int, ...], domain: str = "", rows: Callable | None = None
) -> Callable[[Callable], OfOne]: ...
@overload
def batched(
    first: Space, second: Space, /, *, out: tuple[()], domain: str = ""
) -> Callable[[Callable], OfTwo[Any]]: ...
@overload
def batched(
    first: Space, second: Space, /, *, out: tuple[int, ...], domain: str = ""
) -> Callable[[Callable], OfTwo[Array]]: ...
def batched(
    *inputs: Space, out: tuple[int, ...], domain: str = "", rows: Callable | None = None
) -> Callable[[Callable], Any]:
    """Decorator: the public function of a kernel; its kernel stays reachable as `.kernel`.

    `inputs` describe the arguments, `out` the shape of one result (() for a number), `domain` completes the
    sentence "... is not defined here:" of the error for arguments outside the kernel's domain. `rows` is a
    compiled loop (x, out) over a batch, where the general one, which calls the kernel by a pointer, is too slow.
    """

    def decorate(function: Callable) -> Any:
        kernel = jit(function)
        names = list(inspect.signature(function).parameters)[: len(inputs)]
        size = math.prod(out)
        signature = inspect.Signature(
            [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
        )

        def bound(given: tuple, named: dict[str, Any]) -> tuple:
            """The arguments in order where some are given by name; Python's own TypeError where they do not fit."""
            try:
                return signature.bind(*given, **named).args
            except TypeError as error:
                raise TypeError(f"{function.__name__}{signature}: {error}") from None

        def outside() -> ValueError:
            return ValueError(f"{function.__name__} is not defined here: {domain}")

        def alone(good: bool, result: np.ndarray) -> Any:
            if not good:
                raise outside()
            return result.reshape(out) if out else float(result[0])

        def finish(good: bool, result: np.ndarray, batch: tuple[int, ...]) -> Any:
            if not good:
                raise outside()
            return result.reshape(batch + out)

        if len(inputs) == 1:
            (space,) = inputs
            (name,) = names
            core, in_size = len(space.shape), space.size
            all_rows = rows or partial(each, kernel)

            def public(*given: Any, **named: Any) -> Any:
                (x,) = given if len(given) == 1 and not named else bound(given, named)
                result = np.empty(size)
                x, flat = _read(name, x, space, result)
                if x.ndim == core:
                    return alone(kernel(flat, result), result)
                batch = x.shape[: x.ndim - core]
                count = math.prod(batch)
                result = np.empty((count, size))
                good = all_rows(x.reshape(count, in_size), result) if count else True
                return finish(good, result, batch)

        else:
            first, second = inputs
            name, other = names
            core, other_core = len(first.shape), len(second.shape)

            def public(*given: Any, **named: Any) -> Any:
                x, y = given if len(given) == 2 and not named else bound(given, named)
                result = np.empty(size)
                x, flat = _read(name, x, first, result)
                y, also_flat = _read(other, y, second, result)
                if x.ndim == core and y.ndim == other_core:
                    return alone(kernel(flat, also_flat, result), result)
                ends = x.ndim - core, y.ndim - other_core
                try:
                    batch = np.broadcast_shapes(x.shape[: ends[0]], y.shape[: ends[1]])
                except ValueError:
                    raise ValueError(
                        f"the batch axes of {name} {x.shape[: ends[0]]} and {other} {y.shape[: ends[1]]} "
                        "do not broadcast; give them equal lengths or length 1"
                    ) from None
                count = math.prod(batch)
                flat = [
                    np.require(np.broadcast_to(a, batch + s.shape), requirements="CW").reshape(
                        count, s.size
                    )
                    for a, s in ((x, first), (y, second))
                ]
                result = np.empty((count, size))
                good = _each2(kernel, *flat, result) if count else True
                return finish(good, result, batch)

        public.__name__ = public.__qualname__ = function.__name__
        public.__doc__, public.__module__ = function.__doc__, function.__module__
        public.__signature__ = signature
        public.kernel = kernel
        return public

    return decorate
