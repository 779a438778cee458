"""The derivatives that a system hands to the variational integrators, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import count, flag, seed_of
from ..core.differences import compared
from ..groups import se3, so3
from ..groups.factors import SE3, SO3, move
from ..groups.products import product
from ..groups.rn import rn
from ..systems import DiscreteLagrangianFormulation, System
from ._report import Report

_LIMIT = 1e-8
_ROUNDING = (
    1e-12  # of what is differentiated: more than its round-off leaves where a derivative vanishes
)


def check_lagrangian(
    system: System | Any, samples: int = 2, seed: int = 0, require: bool = True
) -> Report:
    """Compare all derivatives of a "lagrangian" formulation with central differences, at random states.

    `system`: a System that offers "lagrangian", or the formulation itself with a `y0` of its own taken at random.
    Covers dL and d2L, the forces and their derivatives, and the constraints; for a discrete Lagrangian its two slopes.
    Returns a Report to print; raises AssertionError with the numbers where something is off, unless `require` is False.
    """
    if isinstance(system, System):
        if "lagrangian" not in system.formulations:
            raise ValueError(f"{type(system).__name__} offers no 'lagrangian' formulation")
        formulation, name = system.formulations["lagrangian"], type(system).__name__
    elif hasattr(system, "factors") and hasattr(system, "kernel"):
        formulation, name = system, type(system).__name__
    else:
        raise ValueError(
            f"system must be a System or a LagrangianFormulation, got {type(system).__name__}"
        )
    flag("require", require)
    report = Report(f"Lagrangian of {name}")
    rng = np.random.default_rng(seed_of(seed))
    for sample in range(count("samples", samples)):
        _check_at(formulation, report, rng, f"sample {sample}")
    return report.require() if require else report


def _check_at(formulation: Any, report: Report, rng: np.random.Generator, where: str) -> None:
    factors = np.array(formulation.factors, dtype=np.int64)
    n, inputs = formulation.dim, formulation.inputs
    p = np.require(formulation.params, float, "CW")
    g = np.zeros(formulation.point)
    i = 0
    for code in factors:
        if code <= 0:
            g[i : i + 9] = np.eye(3).ravel()
        i += {SO3: 9, SE3: 12}.get(int(code), int(code))
    origin, t = rng.standard_normal(n), 0.3
    base = _moved(factors, g, origin)
    xi, u = rng.standard_normal(n), rng.standard_normal(inputs)

    def at(kernel: Callable, dg: Any = 0.0, dxi: Any = 0.0, du: Any = 0.0) -> np.ndarray:
        z = np.concatenate([_moved(factors, base, np.zeros(n) + dg), xi + dxi, u + du])
        return np.asarray(kernel(t, z, p))

    def compare(what: str, given: np.ndarray, of: Callable, count: int = n) -> None:
        """Are these the derivatives of of(v) (rows,) at v = 0, (rows, n), on the scale on which it varies?"""
        values = of(np.zeros(count))
        given = given.reshape(*values.shape, count)
        curves = [lambda s, e=e: of(s * e) for e in np.eye(count)]
        floor = _ROUNDING / _LIMIT * float(np.abs(values).max(initial=0.0))
        _, off = compared(np.moveaxis(given, -1, 0), curves, [1.0] * count, _LIMIT, floor)
        report.note(what, off, _LIMIT, where)

    def parts(values: np.ndarray, *sizes: int) -> list[np.ndarray]:
        return np.split(values, np.cumsum(sizes)[:-1])

    kernel = formulation.kernel
    if isinstance(formulation, DiscreteLagrangianFormulation):
        _check_discrete(formulation, factors, base, rng, p, compare)
    else:
        names = ("L", "L_g", "L_xi", "L_gg", "L_xig", "L_xixi")
        d = dict(zip(names, parts(at(kernel), 1, n, n, n * n, n * n, n * n), strict=True))
        L, L_g, L_xi = slice(0, 1), slice(1, 1 + n), slice(1 + n, 1 + 2 * n)
        compare("dL/dg", d["L_g"], lambda v: at(kernel, dg=v)[L])
        compare("dL/dxi", d["L_xi"], lambda v: at(kernel, dxi=v)[L])
        compare("d2L/dg dg", d["L_gg"], lambda v: at(kernel, dg=v)[L_g])
        compare("d2L/dxi dg", d["L_xig"], lambda v: at(kernel, dg=v)[L_xi])
        compare("d2L/dxi dxi", d["L_xixi"], lambda v: at(kernel, dxi=v)[L_xi])
        compare("d2L/dg dxi", d["L_xig"].reshape(n, n).T, lambda v: at(kernel, dxi=v)[L_g])
    if formulation.force is not None:
        force = formulation.force
        _, f_g, f_xi, f_u = parts(at(force), n, n * n, n * n, n * inputs)
        compare("df/dg", f_g, lambda v: at(force, dg=v)[:n])
        compare("df/dxi", f_xi, lambda v: at(force, dxi=v)[:n])
        if inputs:
            compare("df/du", f_u, lambda v: at(force, du=v)[:n], inputs)
    m = getattr(formulation, "constraints", 0)
    if m:

        def phi(v: np.ndarray) -> np.ndarray:
            return np.asarray(formulation.constraint(t, _moved(factors, base, v), p))

        _, D, DD = parts(phi(np.zeros(n)), m, m * n, m * n * n)
        compare("Dphi", D, lambda v: phi(v)[:m])
        compare("D2phi", DD, lambda v: phi(v)[m : m + m * n])


def _moved(factors: np.ndarray, g: np.ndarray, v: np.ndarray) -> np.ndarray:
    out = np.empty_like(g)
    move(factors, False, g, np.ascontiguousarray(v), out)
    return out


def _check_discrete(
    formulation: Any,
    factors: np.ndarray,
    base: np.ndarray,
    rng: np.random.Generator,
    p: np.ndarray,
    compare: Callable,
) -> None:
    n, h = formulation.dim, 0.7
    group = product(*[{SO3: so3, SE3: se3}.get(int(c)) or rn(int(c)) for c in factors], rn(1))
    x = 0.4 * rng.standard_normal(n)

    def at(dg: np.ndarray, df: np.ndarray) -> np.ndarray:
        moved = group.compose(group.exp(np.append(x, 0.0)), group.exp(np.append(df, 0.0)))
        z = np.concatenate([_moved(factors, base, dg), group.log(moved)[:-1]])
        return np.asarray(formulation.kernel(h, z, p))

    zero = np.zeros(n)
    d = at(zero, zero)
    L, Ld_f, head = slice(0, 1), slice(1 + n, 1 + 2 * n), 1 + 2 * n
    compare("Ld_g", d[1 : 1 + n], lambda v: at(v, zero)[L])
    compare("Ld_f", d[Ld_f], lambda v: at(zero, v)[L])
    compare("d Ld_f/dg", d[head : head + n * n], lambda v: at(v, zero)[Ld_f])
    compare("d Ld_f/df", d[head + n * n :], lambda v: at(zero, v)[Ld_f])
