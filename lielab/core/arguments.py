"""Reading what a caller passed: numbers of any library, functions of the reader's, and what a name was meant to be."""

from __future__ import annotations

import difflib
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np


def undefined(error: Exception) -> bool:
    """Whether Python raised where compiled code goes on with NaN or infinity: 1 / 0, an overflow, sin(inf).

    Errors of classes that a reader derived from these, or raises as ArithmeticError, are meant, and are not this.
    """
    domain = ("math domain error", "expected a ")  # in words of its own from Python 3.14 on
    if type(error) is ValueError:
        return str(error).startswith(domain)
    return type(error) in (ZeroDivisionError, OverflowError, FloatingPointError)


def as_real(value: Any) -> float | None:
    """The value as a float where it is one real number (Python's, NumPy's, an array without axes), else None."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:  # 10**400
        return math.inf if value > 0 else -math.inf


def real_array(values: Any) -> np.ndarray:
    """A new float array of real numbers, row-major as kernels want it.

    TypeError for complex, masked, boolean or other entries, which NumPy would bend.
    """
    found = np.asarray(values)
    if np.ma.is_masked(values) or found.dtype.kind not in "fiuO":
        raise TypeError
    if found.dtype.kind == "O":  # NumPy would make NaN of None, and numbers of texts
        entries = [as_real(value) for value in found.flat]
        if any(value is None for value in entries):
            raise TypeError
        return np.array(entries, dtype=float).reshape(found.shape)
    return np.array(found, dtype=float, order="C")


def entries(name: str, value: Any, size: int = 0) -> np.ndarray:
    """The numbers of a point, flat (n,): of an array of any shape, row-major, or of a sequence of these, one after the
    other, such as (R, mu). ValueError where there are others.

    A SciPy Rotation stands for its matrix, or where `size` is 4 for its unit quaternion, scalar first.
    """
    if size == 4 and hasattr(value, "as_quat"):
        value = np.roll(value.as_quat(), 1, axis=-1)
    value = matrix_of(value)
    if isinstance(value, (tuple, list)) and any(map(_several, value)):
        return np.concatenate([entries(name, part) for part in value])
    return named_array(name, value).reshape(-1)


def matrix_of(value: Any) -> Any:
    """The matrix of a SciPy Rotation or RigidTransform; any other value as it is."""
    return value.as_matrix() if hasattr(value, "as_matrix") else value


def _several(value: Any) -> bool:
    return isinstance(value, (np.ndarray, tuple, list)) or hasattr(value, "as_matrix")


def single_precision(value: Any) -> bool:
    """Whether numbers were given in single precision, all of them or a part."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return any(map(single_precision, value))
    return getattr(value, "dtype", None) == np.float32


def named_array(name: str, values: Any) -> np.ndarray:
    """The same, or ValueError that names the argument."""
    try:
        return real_array(values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold real numbers, got {values!r}") from None


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """The value, one of the known names, or ValueError."""
    known = list(known)
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}{meant(value, known)}"
        )
    return value


def function_of(name: str, value: Any, takes: str) -> Callable:
    """The value, something to call, or ValueError. `takes` names its arguments, as in "t, y, p"."""
    if not callable(value):
        raise ValueError(f"{name} must be a function {name}({takes}), got {value!r}")
    try:
        signature = inspect.signature(getattr(value, "py_func", value))
    except (TypeError, ValueError):  # a function of C without a signature
        return value
    try:
        signature.bind(*takes.split(", "))
    except TypeError:
        raise ValueError(f"{name} must take ({takes}), got {name}{signature}") from None
    return value


def listed(name: str, values: Any, what: str) -> list:
    """The values as a list, or ValueError where they are no sequence; a text is none."""
    try:
        if isinstance(values, (str, bytes)):
            raise TypeError
        return list(values)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of {what}, got {values!r}") from None


def meant(name: Any, known: Iterable[str]) -> str:
    """ ", did you mean 'X'?" for the nearest known name, empty where none is near."""
    if not isinstance(name, str):
        return ""
    lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.75)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def call_once(
    name: str,
    function: Callable,
    takes: str,
    *arguments: Any,
    sometime: bool = False,
    fills: bool = False,
) -> Any:
    """The value of a reader's function at these arguments, called as plain Python; ValueError where it cannot be.

    Compiled code checks neither how many arguments a function takes nor whether an index is inside its array, so a
    slip would give numbers without a word. `takes` names the arguments, as in "t, y, p". With `sometime` a function
    may be undefined at this time, such as 1 / t at t = 0: then there is nothing to judge, and None is returned. One
    that `fills` an argument returns nothing.
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
        if sometime and undefined(error):
            return None
        sizes = [
            f"{word} of {len(a)} entries" if np.ndim(a) == 1 else f"{word} of shape {np.shape(a)}"
            for word, a in zip(takes.split(", "), arguments, strict=True)
            if isinstance(a, np.ndarray)
        ]
        raise ValueError(
            f"{name} raised {type(error).__name__}: {error}; it was called with {' and '.join(sizes)}"
        ) from error
    if value is None and not fills:
        raise ValueError(f"{name} returned None; does it end with `return`?")
    return value


def flag(name: str, value: Any) -> bool:
    """The value, True or False, or ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def seed_of(value: Any) -> int:
    """The seed, a whole number of at least 0, or ValueError."""
    return count("seed", value, 0, 2**64)


def numbers_of(name: str, value: Any, what: str) -> np.ndarray:
    """What a reader's function returned, as a real float array; ValueError that says what it is instead."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "fiub":
        raise ValueError(f"{name} must return {what}, got {value!r}")
    return found.astype(float, order="C")


def numbers(name: str, values: Any) -> np.ndarray:
    """A sequence of finite numbers, possibly empty, as an array (n,), or ValueError."""
    try:
        if isinstance(values, (Mapping, set, str)):
            raise TypeError
        found = real_array(values)
    except (TypeError, ValueError):
        found = np.full((1, 1), math.nan)
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        flat = f"; pass np.ravel({name})" if getattr(values, "ndim", 0) > 1 else ""
        raise ValueError(
            f"{name} must be a sequence of finite numbers such as (1.0, 2.0), got {values!r}{flat}"
        )
    return found


def times_of(name: str, values: Any, least: int, why: str = "") -> np.ndarray:
    """At least so many times (n,), each later than the last, or ValueError. `why` so many: " for rule='cubic'"."""
    found = named_array(name, values)
    if found.ndim != 1 or len(found) < least:
        raise ValueError(
            f"{name} must be at least {least} times{why}, shape (n,), got shape {found.shape}"
        )
    if not (np.isfinite(found).all() and (np.diff(found) > 0.0).all()):
        raise ValueError(
            f"{name} must be finite and increase from one to the next, got {found}; sort the times first, and what "
            "belongs to them"
        )
    return found


def positive(name: str, value: float) -> float:
    """The value as a float, or ValueError where it is not a positive finite number."""
    found = as_real(value)
    if found is None or not 0.0 < found < math.inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return found


def number(name: str, value: Any) -> float:
    """The value as a finite float, or ValueError."""
    found = as_real(value)
    if found is None or not math.isfinite(found):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return found


LARGEST_COUNT = 2**53  # up to here floats count one by one


def count(name: str, value: Any, least: int = 1, most: int = LARGEST_COUNT) -> int:
    """The value as a whole number from `least` to `most`, or ValueError."""
    if type(value) is int and least <= value <= most:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if value > most:
        raise ValueError(f"{name} must be at most {most:.6g}, got {value!r}")
    return int(value)


def vector(name: str, values: Any, length: int) -> tuple[float, ...]:
    """The values as a tuple of `length` finite floats, or ValueError."""
    try:
        if isinstance(values, (Mapping, set, str)):
            raise TypeError
        found = [as_real(value) for value in values]
    except TypeError:
        raise ValueError(f"{name} must be {length} numbers, got {values!r}") from None
    kept = tuple(value for value in found if value is not None and math.isfinite(value))
    if len(kept) != len(found) or len(found) != length:
        raise ValueError(f"{name} must be {length} finite numbers, got {values!r}")
    return kept


def positives(name: str, values: Any, length: int | None = None) -> tuple[float, ...]:
    """The values as a tuple of positive floats, of the given length where there is one, or ValueError."""
    try:
        if isinstance(values, (Mapping, set, str)):
            raise TypeError
        values = tuple(values)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}") from None
    if length is not None and len(values) != length:
        raise ValueError(f"{name} must have length {length}, got {len(values)}")
    return tuple(positive(f"{name}[{i}]", value) for i, value in enumerate(values))


def moments(name: str, values: Any) -> tuple[float, float, float]:
    """Three principal moments of inertia; warns where no rigid body can have them."""
    try:
        count, rows = len(tuple(values)), any(np.ndim(value) for value in values)
    except TypeError:
        count, rows = 0, False
    if rows:
        raise ValueError(
            f"{name} must be three principal moments, got a matrix; take its eigenvalues, "
            f"numpy.linalg.eigvalsh({name}), and the axes of its eigenvectors"
        )
    if count != 3:
        raise ValueError(f"{name} must be three principal moments, got {values!r}")
    found = positives(name, values)
    if 2.0 * max(found) > sum(found) * (1.0 + 1e-12):
        warnings.warn(
            f"{name} {found}: no rigid body has a moment larger than the sum of the other two; "
            "the equations are still defined",
            RuntimeWarning,
            stacklevel=4,
        )
    return found


def moments_about_pivot(
    inertia: tuple[float, float, float], mass: float, arm: tuple[float, ...], what: str
) -> None:
    """Warn where no body has these moments about a point that is `arm` (3,) from its centre of mass; `what`: the data.

    The axes of the moments are those of `arm`'s components. About the centre of mass the tensor is less by
    mass (|arm|^2 - arm arm^T); its eigenvalues must be positive, and none larger than the sum of the other two.
    """
    a = np.array(arm)
    with np.errstate(over="ignore", invalid="ignore"):
        tensor = np.diag(inertia) - mass * (a @ a * np.eye(3) - np.outer(a, a))
    if not np.isfinite(tensor).all():
        raise ValueError(f"{what}: too large, the moments overflow; choose other units")
    central = np.linalg.eigvalsh(tensor)
    slack = 1e-9 * max(inertia)
    if central[0] < -slack:
        wrong = f"a moment would be negative ({central[0]:.3g})"
    elif central[2] > central[0] + central[1] + slack:
        shown = ", ".join(f"{value:.3g}" for value in central)
        wrong = f"the moments would be {shown}, one larger than the sum of the other two"
    else:
        return
    warnings.warn(
        f"{what}: about the centre of mass {wrong}; no rigid body has these data, the equations are still defined",
        RuntimeWarning,
        stacklevel=4,
    )
