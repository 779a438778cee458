"""New methods from old ones: compositions of a step with itself at other step sizes, and the adjoint.

The adjoint of y1 = Phi_h(y) is y1 = Phi_{-h}^-1(y). Phi_{h/2} o Phi*_{h/2} is symmetric, of order 2 where Phi has
order 1.
Compositions raise the order of a symmetric method by two at a time (Yoshida 1990; Hairer, Lubich & Wanner II.4, V.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arguments import as_real
from ..core.jit import Bound
from ..core.march import (
    DONE,
    EACH,
    NFEV,
    NOT_CONVERGED,
    RESIDUAL,
    RUNNING,
    STATUS,
    H,
    T,
    advance,
    new_schedule,
    running,
)
from ..core.newton import ROUND, STALLED
from ..core.travel import recorded
from ._registry import Method, Plan, get
from .classical import DOP853, RK45

_CUBE, _FIFTH = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0)), 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
# Yoshida's solution A of order 6.
_W = (0.784513610477560, 0.235573213359357, -1.17767998417887)
# name -> (fractions of the step, order)
SCHEMES: dict[str, tuple[tuple[float, ...], int]] = {
    "yoshida4": ((_CUBE, 1.0 - 2.0 * _CUBE, _CUBE), 4),
    "suzuki4": ((_FIFTH, _FIFTH, 1.0 - 4.0 * _FIFTH, _FIFTH, _FIFTH), 4),
    "yoshida6": ((*_W, 1.0 - 2.0 * sum(_W), *_W[::-1]), 6),
}
# What is not symmetric: explicit Runge-Kutta methods of any kind, and members of these methods off their middle.
_EXPLICIT = ("RKMK", "commutator-free", "Crouch-Grossman")
_SYMMETRIC = {
    "SLGI": ("theta", (0.5,)),
    "LieNewmark": ("gamma", (0.5,)),
    "LGVI": ("quadrature", (None, "trapezoidal", "midpoint")),
    "RiemannianLeapfrog": ("refresh", (0,)),
}
_SWEEPS = 100
# Symmetry is measured with a step that moves the state by a twentieth; a method of order 2 without it misses by 1e-4.
_MOVED, _MISSED = 0.05, 1e-9


@recorded
def compose(method: str | Method, scheme: str | Sequence[float] = "yoshida4") -> Method:
    """The method that takes each step as steps of `method` of sizes fraction * h, for fixed steps.

    `scheme`: "yoshida4" (three parts), "suzuki4" (five, smaller errors) or "yoshida6" (seven), which give order 4
    and 6 where `method` is symmetric and of order 2; or the fractions themselves, whose sum is 1. Some fractions are
    negative, so a method for dissipative problems gains nothing. `method` may be a composition itself; then each of its
    parts is taken at each fraction.

    The order declared: fractions x_i raise the order p of `method` to p + 1 where sum x_i^(p+1) = 0, and to p + 2 where
    moreover they are the same backwards, p is even and `method` is symmetric. Where the order rests on symmetry,
    `solve` takes a step forth and back first.

    Errors: ValueError for an unknown scheme, a base of the wrong order or not symmetric where it must be, or one of
    SciPy's methods.
    """
    base = _steps(get(method))
    if isinstance(scheme, str):
        if scheme not in SCHEMES:
            raise ValueError(
                f"scheme must be one of {', '.join(SCHEMES)}, or fractions; got {scheme!r}"
            )
        fractions, order = SCHEMES[scheme]
        name = scheme
        if base.order != 2:
            raise ValueError(
                f"{scheme} raises symmetric methods of order 2; {base.name} has order {base.order}"
            )
        if base.family in _EXPLICIT:
            raise ValueError(
                f"{scheme} raises symmetric methods; {base.name} is explicit and not symmetric, so that the result "
                f"would have order 3 only; use symmetrised({base.name!r}), or a method such as LieMidpoint"
            )
    else:
        try:
            given = [as_real(x) for x in scheme]
        except TypeError:
            given = [None]
        if None in given:
            raise ValueError(
                f"scheme must be one of {', '.join(SCHEMES)}, or fractions; got {scheme!r}"
            )
        fractions, name = tuple(x for x in given if x is not None), "fractions"
        if not fractions or not math.isclose(sum(fractions), 1.0, abs_tol=1e-12):
            raise ValueError(f"fractions must sum to 1, got {fractions}")
        order = _raised(base, fractions)
    by_symmetry = order > base.order + 1

    def prepare(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        option, symmetric = _SYMMETRIC.get(base.name, ("", ()))
        if by_symmetry and option in options and options[option] not in symmetric:
            wanted = " or ".join(map(repr, symmetric))
            raise ValueError(
                f"{option} must be {wanted} in {name}({base.name}), which needs a symmetric method; "
                f"got {options[option]!r}"
            )
        plan = base.prepare(formulation, y0, **options)
        if by_symmetry and (missed := _missed(plan, y0)) > _MISSED:
            raise ValueError(
                f"{name} raises symmetric methods to order {order}; {base.name} is not symmetric, a step forth and "
                f"back misses the start by {missed:.1g} of its size; use symmetrised({base.name!r})"
            )
        count = plan.n_exponentials
        return replace(
            plan,
            fractions=tuple(x * part for x in fractions for part in plan.fractions or (1.0,)),
            n_exponentials=None if count is None else count * len(fractions),
            extras=None,  # the multipliers of a part are not those of the step
        )

    return _derived(base, f"{name}({base.name})", order, prepare)


def _raised(base: Method, fractions: tuple[float, ...]) -> int:
    """The order of a composition (Hairer, Lubich & Wanner II.4, theorem 4.1)."""

    def zero(power: int) -> bool:
        return math.isclose(sum(x**power for x in fractions), 0.0, abs_tol=1e-12)

    p, same = base.order, np.allclose(fractions, fractions[::-1], rtol=0.0, atol=1e-14)
    if base.family not in _EXPLICIT and p % 2 == 0 and same and zero(p + 1):
        known = [
            n for x, n in SCHEMES.values() if len(x) == len(fractions) and np.allclose(x, fractions)
        ]
        return known[0] if known and p == 2 else p + 2
    return p + 1 if zero(p + 1) else p


def _missed(plan: Plan, y0: np.ndarray) -> float:
    """How far a step forth and back ends from y0, as a fraction of its size; 0 where no such step succeeds."""
    start = np.array(y0 if plan.encode is None else plan.encode(y0), dtype=float)
    size = max(1.0, float(np.linalg.norm(start)))
    loop = Bound(plan.loop, (plan.kernels, plan.data))

    def step(y: np.ndarray, t: float, h: float) -> np.ndarray:
        single = new_schedule(1, EACH, t, h, plan.fractions, plan.rotations)
        states = y[None].copy()
        params = np.array(plan.params, dtype=float)
        loop.copied()(single, y.copy(), params, np.array([t]), states, np.array([h]))
        return states[0] if single[STATUS] == DONE else np.full_like(y, math.nan)

    missed = 0.0
    for h in 4.0 ** np.arange(-10, 6):
        there = step(start, 0.0, h)
        moved = np.linalg.norm(there - start)
        back = np.linalg.norm(step(there, h, -h) - start) if math.isfinite(moved) else math.nan
        if not math.isfinite(back) or moved > 8.0 * _MOVED * size:
            break
        missed = float(back) / size
        if moved > _MOVED * size:
            break
    return missed


@recorded
def adjoint(method: str | Method) -> Method:
    """The adjoint: a step of size h undoes a step of `method` of size -h. A symmetric method is its own adjoint.

    Each step is found by iterating the step of `method` backwards, in Python: for study, not for speed.
    """
    base = _steps(get(method))
    return _derived(base, f"adjoint({base.name})", base.order, _prepare(base, ((1.0, True),)))


@recorded
def symmetrised(method: str | Method) -> Method:
    """Phi_{h/2} o Phi*_{h/2}: half a step of the adjoint, then half a step of `method`; symmetric."""
    base = _steps(get(method))
    order = base.order + base.order % 2
    parts = ((0.5, True), (0.5, False))
    method = _derived(base, f"symmetrised({base.name})", order, _prepare(base, parts))
    return replace(method, family="composition")


def _steps(method: Method) -> Method:
    if method in (RK45, DOP853):
        raise ValueError(
            f"{method.name} is SciPy's and has no step of its own; choose another method"
        )
    return method


def _derived(base: Method, name: str, order: int, prepare: Callable) -> Method:
    return replace(
        base,
        name=name,
        order=order,
        source=f"composition of {base.name}, Hairer, Lubich & Wanner II.4",
        prepare=prepare,
        embedded=False,
        n_exponentials=None,
    )


def _prepare(base: Method, parts: tuple[tuple[float, bool], ...]) -> Callable[..., Plan]:
    def prepare(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        plan = base.prepare(formulation, y0, **options)
        march = _loop(plan, parts)
        return replace(plan, loop=march, fractions=(), n_exponentials=None, extras=None)

    return prepare


def _loop(plan: Plan, parts: tuple[tuple[float, bool], ...]) -> Callable:
    """A loop over steps with the arguments of the base's: parts are (fraction, of the adjoint?)."""

    def march(kernels: Any, data: Any, run: Any, y: Any, p: Any, ts: Any, ys: Any, hs: Any) -> None:
        loop = Bound(plan.loop, (kernels, data))

        def step(z: np.ndarray, t: float, h: float) -> np.ndarray | None:
            single = new_schedule(1, EACH, t, h, plan.fractions, plan.rotations)
            states = z[None].copy()
            loop(single, z.copy(), p, np.array([t]), states, np.array([h]))
            run[NFEV] += single[NFEV]
            if single[STATUS] != DONE:
                run[RESIDUAL] = single[RESIDUAL]
                return None
            return states[0]

        def undo(z: np.ndarray, t: float, h: float) -> np.ndarray | None:
            """x with step(x, t + h, -h) = z"""
            x, last = step(z, t, h), math.inf
            for _ in range(_SWEEPS):
                back = None if x is None else step(x, t + h, -h)
                if back is None:
                    return None
                x, size, scale = x + (z - back), np.abs(z - back).max(), np.abs(z).max()
                if size <= ROUND * scale or (size >= last and size <= STALLED * scale):
                    return x
                if not size <= 10.0 * last:
                    break
                last = size
            run[RESIDUAL] = last
            return None

        while running(run):
            z, t = y.copy(), run[T]
            for fraction, inverse in parts:
                h = fraction * run[H]
                z = (undo if inverse else step)(z, t, h)
                if z is None:
                    break
                t += h
            status = RUNNING if z is not None else NOT_CONVERGED
            advance(run, status, 0.0, y, y if z is None else z, ts, ys, hs)

    return march
