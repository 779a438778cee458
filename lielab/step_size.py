"""Choosing the step: what the reader may set, and the first guess (Hairer, Norsett & Wanner I, II.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .core import march
from .core.arguments import as_real, one_of
from .methods import Plan
from .methods.rkmk import no_commutator

_NORMS = {
    "scaled": march.SCALED,
    "euclidean": march.EUCLIDEAN,
    "algebra": march.ALGEBRA,
    "distance": march.DISTANCE,
}


@dataclass(frozen=True)
class StepControl:
    """How an adaptive run chooses its steps; each field is a keyword of `solve`.

    An error `e`, as a multiple of the tolerance, changes the step by safety * e^-(1/q), q = order of the estimate + 1,
    held inside `factor_limits`; up to e = 1 the step is accepted. `controller`: "standard", or "PI", which takes
    the last accepted error e_old into account: safety * e^-(0.7/q) * e_old^(0.4/q); it smooths the step history.
    `error_norm`: "scaled", the root mean square of e_i / (atol + rtol |y_i|) in the coordinates of the point;
    "euclidean", |e| / (atol + rtol |y|); "algebra", the same for the estimate in the algebra (RKMK only),
    |e| / (atol + rtol |u|) with the step's increment u; "distance", the distance along the group between the two
    results (RKMK only), |log(exp(u) exp(-u_hat))| / (atol + rtol), an angle where the group turns (celledoni 4,
    footnote 5): it does not depend on where on the manifold the step is. With retraction="cay" it is
    measured as for exp, right up to a fraction of order |u|^2.
    Only in RKMK the two results are one exponential each, so that an element of the algebra leads from one to the
    other. Commutator-free pairs end in products of exponentials, which are two points and nothing more (celledoni
    4.2); for them "euclidean" with rtol = 0 is the chord of this distance, and as free of the place, wherever the group
    acts by isometries: on spheres, rotations, quaternions.
    `h0` is the first step tried, `max_step` the largest one.
    """

    h0: float | None = None
    max_step: float = math.inf
    controller: str = "standard"
    safety: float = 0.9
    factor_limits: tuple[float, float] = (0.2, 5.0)
    error_norm: str = "scaled"

    def __post_init__(self) -> None:
        if self.h0 is not None:
            object.__setattr__(self, "h0", _positive("h0", self.h0))
        object.__setattr__(self, "max_step", _positive("max_step", self.max_step))
        one_of("controller", self.controller, ("standard", "PI"))
        if not 0.0 < _positive("safety", self.safety) <= 1.0:
            raise ValueError(f"safety must lie between 0 and 1, got {self.safety!r}")
        try:
            low, high = (as_real(x) for x in self.factor_limits)
        except (TypeError, ValueError):
            low = high = None
        if low is None or high is None or not 0.0 < low < 1.0 < high:
            raise ValueError(
                f"factor_limits must be (low, high) with 0 < low < 1 < high, got {self.factor_limits!r}"
            )
        object.__setattr__(self, "factor_limits", (low, high))
        one_of("error_norm", self.error_norm, _NORMS)

    def check(self, plan: Plan, name: str) -> None:
        """ValueError where the method of that name does not measure errors in this norm."""
        if plan.norms and self.error_norm not in plan.norms:
            raise ValueError(
                f"error_norm={self.error_norm!r} is not known to {name}; it knows {', '.join(plan.norms)}. Its two "
                "results are points, not increments in the algebra: use 'euclidean', a chord, or an RKMK pair such as "
                "RKMK54"
            )
        if self.error_norm == "distance" and no_commutator in plan.kernels:
            raise ValueError(
                f"error_norm='distance' of {name} needs commutators, and this action has no bracket; use 'algebra', or "
                "pass `structure` to frozen_action"
            )

    def write(self, run: np.ndarray, plan: Plan) -> None:
        """Put the settings into the state of a march."""
        q = plan.error_order + 1.0
        pi = self.controller == "PI"
        run[march.EXPONENT], run[march.MEMORY] = (0.7 / q, 0.4 / q) if pi else (1.0 / q, 0.0)
        run[march.SAFETY] = self.safety
        run[march.SHRINK], run[march.GROW] = self.factor_limits
        run[march.NORM] = _NORMS[self.error_norm]
        run[march.LONGEST] = self.max_step


def _positive(name: str, value: Any) -> float:
    number = as_real(value)
    if number is None or not number > 0.0:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return number


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(settings of StepControl, everything else)"""
    names = {field.name for field in fields(StepControl)}
    control = {name: value for name, value in options.items() if name in names}
    return control, {name: value for name, value in options.items() if name not in names}


def first_step(
    formulation: Any, t0: float, t1: float, y0: np.ndarray, rtol: Any, atol: Any, order: int
) -> float:
    """Starting step size of Hairer, Norsett & Wanner I, II.4, with the Lie-Euler step as the trial."""
    with np.errstate(all="ignore"):  # a component that is 0 with atol = 0 has no scale
        return _first_step(formulation, t0, t1, y0, rtol, atol, order)


def _length(x: np.ndarray) -> Any:
    """`np.linalg.norm` of a vector, bit for bit, in a third of its time."""
    return np.sqrt(x.dot(x))


def _first_step(
    formulation: Any, t0: float, t1: float, y0: np.ndarray, rtol: Any, atol: Any, order: int
) -> float:
    field, p = formulation.field, formulation.params
    act, generator = formulation.action.exp_act, formulation.action.generator
    scale = np.maximum(atol + rtol * np.abs(y0), 1e-300)
    size = math.sqrt(len(y0))
    xi = field(t0, y0, p)
    f0 = generator(xi, y0)
    d0, d1 = _length(y0 / scale) / size, _length(f0 / scale) / size
    direction, span = math.copysign(1.0, t1 - t0), abs(t1 - t0)
    guess = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    guess = min(guess, span)
    y1 = act(direction * guess * xi, y0)
    f1 = generator(field(t0 + direction * guess, y1, p), y1)
    d2 = _length((f1 - f0) / scale) / size / guess
    largest = max(d1, d2)
    better = (
        max(1e-6, guess * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / (order + 1))
    )
    step = float(min(100.0 * guess, better, span))
    return step if math.isfinite(step) and step > 0.0 else 1e-6 * span
