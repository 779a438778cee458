"""What the checks share: the report, and measures of differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import differences

# Residuals are relative to the sizes involved. Algebraic identities hold to a few hundred units of round-off,
# differences to about 1e-12.
ROUND_OFF = 1e-12
DIFFERENCE = 1e-8
SETTLED = 1e-10  # a smaller estimated error of a difference is good enough for that


@dataclass
class Report:
    """What was checked: `worst[name] = (residual, limit, where)`; `skipped[name]` says why."""

    subject: str
    worst: dict[str, tuple[float, float, str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, residual: Any, limit: float, where: str = "") -> None:
        """Record a residual; NaN counts as infinite."""
        size = float(np.max(residual, initial=0.0))
        size = math.inf if math.isnan(size) else size
        if name not in self.worst or size / limit > self.worst[name][0] / self.worst[name][1]:
            self.worst[name] = (size, limit, where)

    @property
    def failures(self) -> list[str]:
        """Names of the properties that do not hold."""
        return [name for name, (size, limit, _) in self.worst.items() if not size <= limit]

    def lines(self, names: Sequence[str]) -> list[str]:
        width = max(map(len, names), default=0)
        return [
            f"  {name:{width}}  residual {size:9.2e}  limit {limit:7.0e}  {where}"
            for name, (size, limit, where) in self.worst.items()
            if name in names
        ]

    def __str__(self) -> str:
        skipped = [f"  not checked: {name} ({why})" for name, why in self.skipped.items()]
        return "\n".join([self.subject, *self.lines(list(self.worst)), *skipped])

    def require(self) -> Report:
        """The report itself, or an AssertionError that lists what failed, with numbers."""
        if self.failures:
            raise AssertionError("\n".join([f"{self.subject} fails:", *self.lines(self.failures)]))
        return self


def flat(g: Any) -> np.ndarray:
    """Entries of one group element, or of its hat, as a flat array."""
    if isinstance(g, (tuple, list)):
        return np.concatenate([flat(part) for part in g])
    return np.asarray(g, dtype=float).reshape(-1)


def gap(a: Any, b: Any) -> float:
    """Largest difference of two elements, relative to the larger of 1 and their entries."""
    a, b = flat(a), flat(b)
    if a.shape != b.shape:
        return math.inf
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))


def slope(f: Callable[[float], np.ndarray]) -> np.ndarray:
    """Derivative at 0 by differences whose step follows f."""
    return differences.slope(f, good=SETTLED)[0]


def relative(a: np.ndarray, b: np.ndarray, floor: float = 1.0) -> float:
    """Largest difference, relative to the larger of floor and the entries of b."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return float(np.abs(a - b).max(initial=0.0) / max(floor, np.abs(b).max(initial=0.0)))


def same(a: Any, b: Any, tolerance: float = 1e-14) -> None:
    """AssertionError, with the largest difference, unless all entries of a and b are nearer to each other than that."""
    off = np.abs(np.asarray(a) - b).max()
    if not off < tolerance:
        raise AssertionError(f"the two differ by {off:.1e}; less than {tolerance:.0e} was expected")


def velocity(system: Any, y: Any, t: float = 0.0) -> np.ndarray:
    """dy/dt (dim,) of a system at the state y (dim,), from its field and its action.

    The field names an element of the algebra, and the action's generator says how that moves y. ValueError where the
    system has no such formulation, or y is no state.
    """
    if "action" not in system.formulations:
        raise ValueError(f"system must have a formulation by an action, got {system!r}")
    how = system.formulations["action"]
    y = np.ascontiguousarray(y, dtype=float)
    if y.shape != (getattr(system, "dim", y.size),):
        raise ValueError(f"y must be a state of shape ({system.dim},), got {y.shape}")
    return how.action.generator(how.field(t, y, how.params), y)
