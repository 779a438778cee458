"""Parameters of systems: numbers, vectors and moments of inertia as they must be, or a ValueError that names them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arguments import real_array


def numbers(name: str, values: Any) -> np.ndarray:
    """A sequence of finite numbers, possibly empty, as an array (n,), or ValueError."""
    try:
        if isinstance(values, (Mapping, set, str)):
            raise TypeError
        found = real_array(values)
    except (TypeError, ValueError):
        found = np.full((1, 1), math.nan)
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise ValueError(
            f"{name} must be a sequence of finite numbers such as (1.0, 2.0), got {values!r}"
        )
    return found


def positive(name: str, value: float) -> float:
    """The value as a float, or ValueError where it is not a positive finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return number


def number(name: str, value: Any) -> float:
    """The value as a finite float, or ValueError."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return found


def count(name: str, value: Any, least: int = 1) -> int:
    """The value as a whole number of at least `least`, or ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def vector(name: str, values: Any, length: int) -> tuple[float, ...]:
    """The values as a tuple of `length` finite floats, or ValueError."""
    try:
        if isinstance(values, (Mapping, set, str)):
            raise TypeError
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {length} numbers, got {values!r}") from None
    if len(numbers) != length or not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"{name} must be {length} finite numbers, got {values!r}")
    return numbers


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
    central = np.linalg.eigvalsh(np.diag(inertia) - mass * (a @ a * np.eye(3) - np.outer(a, a)))
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
