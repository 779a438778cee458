"""Reading what a caller passed: numbers of any library, functions of the reader's, and what a name was meant to be."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np


def as_real(value: Any) -> float | None:
    """The value as a float where it is one real number (Python's, NumPy's, an array without axes), else None."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    return float(value)


def real_array(values: Any) -> np.ndarray:
    """A new float array of real numbers; TypeError for complex, masked or other entries, which NumPy would bend."""
    found = np.asarray(values)
    if np.ma.is_masked(values) or found.dtype.kind not in "fiubO":
        raise TypeError
    return np.array(found, dtype=float)


def named_array(name: str, values: Any) -> np.ndarray:
    """The same, or ValueError that names the argument."""
    try:
        return real_array(values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold real numbers, got {values!r}") from None


def meant(name: Any, known: Iterable[str]) -> str:
    """ ", did you mean 'X'?" for the nearest known name, empty where none is near."""
    if not isinstance(name, str):
        return ""
    lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.75)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def call_once(
    name: str, function: Callable, takes: str, *arguments: Any, sometime: bool = False
) -> Any:
    """The value of a reader's function at these arguments, called as plain Python; ValueError where it cannot be.

    Compiled code checks neither how many arguments a function takes nor whether an index is inside its array, so a
    slip would give numbers without a word. `takes` names the arguments, as in "t, y, p". With `sometime` a function
    may be undefined at this time, such as 1 / t at t = 0: then there is nothing to judge, and None is returned.
    """
    if not callable(function):
        raise ValueError(f"{name} must be a function {name}({takes}), got {function!r}")
    plain = getattr(function, "py_func", function)  # of a function that the reader compiled
    try:
        inspect.signature(plain).bind(*arguments)
    except TypeError:
        found = inspect.signature(plain)
        raise ValueError(f"{name} must take the arguments ({takes}), got {name}{found}") from None
    except ValueError:
        pass  # a function of C without a signature
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        with np.errstate(all="ignore"):
            value = plain(*copies)
    except Exception as error:
        if sometime and (isinstance(error, ArithmeticError) or "math domain" in str(error)):
            return None
        sizes = [
            f"{word} of {len(a)} entries" if np.ndim(a) == 1 else f"{word} of shape {np.shape(a)}"
            for word, a in zip(takes.split(", "), arguments, strict=True)
            if isinstance(a, np.ndarray)
        ]
        raise ValueError(
            f"{name} raised {type(error).__name__}: {error}; it was called with {' and '.join(sizes)}"
        ) from error
    if value is None:
        raise ValueError(f"{name} returned None; does it end with `return`?")
    return value


def numbers_of(name: str, value: Any, what: str) -> np.ndarray:
    """What a reader's function returned, as a real float array; ValueError that says what it is instead."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "fiub":
        raise ValueError(f"{name} must return {what}, got {value!r}")
    return found.astype(float)
