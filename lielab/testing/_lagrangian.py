"""The derivatives that a system hands to the variational integrators, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import count, flag, seed_of
from ..groups import se3, so3
from ..groups.factors import SE3, SO3, move
from ..groups.products import product
from ..groups.rn import rn
from ..systems import DiscreteLagrangianFormulation, System
from ._report import Report, slope

_LIMIT = 1e-8


def _slopes(function: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """Derivative of function(v) at v = 0, (rows, n)."""

    def along(direction: np.ndarray) -> np.ndarray:
        return slope(lambda s: function(s * direction))

    return np.stack([along(direction) for direction in np.eye(n)], axis=-1)


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

    def compare(what: str, given: np.ndarray, slopes: np.ndarray) -> None:
        given = given.reshape(slopes.shape)
        size = np.abs(given - slopes).max(initial=0.0)
        report.note(what, size / max(1.0, np.abs(slopes).max(initial=0.0)), _LIMIT, where)

    def parts(values: np.ndarray, *sizes: int) -> list[np.ndarray]:
        return np.split(values, np.cumsum(sizes)[:-1])

    kernel = formulation.kernel
    if isinstance(formulation, DiscreteLagrangianFormulation):
        _check_discrete(formulation, factors, base, rng, p, compare)
    else:
        names = ("L", "L_g", "L_xi", "L_gg", "L_xig", "L_xixi")
        d = dict(zip(names, parts(at(kernel), 1, n, n, n * n, n * n, n * n), strict=True))
        head = 1 + 2 * n
        by_g = _slopes(lambda v: at(kernel, dg=v)[:head], n)
        by_xi = _slopes(lambda v: at(kernel, dxi=v)[:head], n)
        compare("dL/dg", d["L_g"], by_g[0])
        compare("dL/dxi", d["L_xi"], by_xi[0])
        compare("d2L/dg dg", d["L_gg"], by_g[1 : 1 + n])
        compare("d2L/dxi dg", d["L_xig"], by_g[1 + n :])
        compare("d2L/dxi dxi", d["L_xixi"], by_xi[1 + n :])
        compare("d2L/dg dxi", d["L_xig"].reshape(n, n).T.copy(), by_xi[1 : 1 + n])
    if formulation.force is not None:
        force = formulation.force
        _, f_g, f_xi, f_u = parts(at(force), n, n * n, n * n, n * inputs)
        compare("df/dg", f_g, _slopes(lambda v: at(force, dg=v)[:n], n))
        compare("df/dxi", f_xi, _slopes(lambda v: at(force, dxi=v)[:n], n))
        if inputs:
            compare("df/du", f_u, _slopes(lambda v: at(force, du=v)[:n], inputs))
    m = getattr(formulation, "constraints", 0)
    if m:

        def phi(v: np.ndarray) -> np.ndarray:
            return np.asarray(formulation.constraint(t, _moved(factors, base, v), p))

        _, D, DD = parts(phi(np.zeros(n)), m, m * n, m * n * n)
        slopes = _slopes(lambda v: phi(v)[: m + m * n], n)
        compare("Dphi", D, slopes[:m])
        compare("D2phi", DD, slopes[m:].reshape(m, n, n))


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
    d, head = at(zero, zero), 1 + 2 * n
    by_g = _slopes(lambda v: at(v, zero)[:head], n)
    by_f = _slopes(lambda v: at(zero, v)[:head], n)
    compare("Ld_g", d[1 : 1 + n], by_g[0])
    compare("Ld_f", d[1 + n : head], by_f[0])
    compare("d Ld_f/dg", d[head : head + n * n], by_g[1 + n :])
    compare("d Ld_f/df", d[head + n * n :], by_f[1 + n :])
