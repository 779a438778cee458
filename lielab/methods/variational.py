"""Lie group variational integrators (LGVI) in position-momentum form, on products of SO(3), SE(3) and R^n.

A discrete Lagrangian Ld(g0, g1), the action of one step, gives the map (g0, p0) -> (g1, p1) by

    p0 + D1 Ld + F0 - Dphi(g0)' lam = 0,    phi(g1) = 0,    p1 = D2 Ld + F1                            (fan (9), (10))

with left-trivialised p. With g1 = g0 tau(x), xi = x/h, A = dtauinv_x and the weights (a, b) of the two ends

    weights    Ld = h (a L(g0, xi) + b L(g1, xi)),   m = a L_xi(g0, xi) + b L_xi(g1, xi)
               D1 Ld = h a L_g(g0) - A' m,   D2 Ld = h b L_g(g1) + dtauinv_{-x}' m,   F0 = h a f(g0), F1 = h b f(g1)

(1/2, 1/2) is the trapezoidal rule (order 2), (1, 0) the left one (order 1). The midpoint rule takes half a step twice,
g_m = g0 tau(z), g1 = g_m tau(z), xi = 2 z/h, so that it is symmetric for any tau:

    midpoint   p0 + Ad* p0 + h (L_g + f) - 2 dtauinv_z' L_xi = 0,   p1 = Ad* (Ad* p0 + h (L_g + f)),   at (g_m, xi)

with Ad* = Ad*_{tau(z)}. A system may bring its own discrete Lagrangian Ld(g, f) instead, or its adjoint
Ld*_h(g0, g1) = -Ld_{-h}(g1, g0), and LGVI then composes half a step of the adjoint with half a step of Ld.

Newton's unknown is w, tau(x + dx) = exp(w) tau(x) to first order; its Jacobian is exact. Momentum maps are kept to
round-off and the two-form Omega(p) too, since Newton runs until its corrections are round-off. Each step brings R back
onto SO(3), which equal steps would leave by 1e-10 in a million; that moves a momentum in space by 2e-12.

Constraints: p is defined up to a multiple of Dphi'. What is stored and returned is p - Dphi(g)' lam / 2, the momentum
after half the impulse lam of the coming step: second order, where p itself is first order (see the errata of fan).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.jit import CUBE, FIELD, INTS, MAT, VEC, lent, loop, record
from ..core.march import (
    AT,
    MOVED,
    NOT_CONVERGED,
    RESIDUAL,
    RUNNING,
    STATE,
    H,
    K,
    T,
    advance,
    running,
)
from ..formulations.lagrangian import DiscreteLagrangianFormulation, no_inputs
from ._registry import Method, Plan, register
from .variational_equations import (
    ADJOINT,
    COMPOSED,
    CONTROLLED,
    DIRECT,
    INPUTS,
    KIND,
    MIDPOINT,
    POINT,
    WEIGHTS,
    Step,
    problem_of,
)
from .variational_step import (
    copy,
    ends,
    guess,
    inputs_at,
    join,
    keep,
    new_work,
    parts,
    solve_step,
    split,
    take_impulse,
)

LGVIKernels = record("LGVIKernels", L=FIELD, force=FIELD, control=FIELD, constraint=FIELD)
# `flags`: see `variational_equations`. `kept` (2 + 2 n) remembers increments.
_GIVEN = {"flags": INTS, "weights": VEC, "factors": INTS, "kept": VEC}
_WORK = {"y_new": VEC, "S": CUBE, "R": MAT, "matrix": MAT, "pivots": INTS}  # see `new_work`
LGVIData = record("LGVIData", **_GIVEN, **_WORK)
# With constraints `kept`, `lam`, `g1`, `p1` hold the next step: its size and increment, multipliers and end; `first`
# receives the multipliers of the first one.
TiedData = record("TiedData", **_GIVEN, lam=VEC, first=VEC, g1=VEC, p1=VEC, **_WORK)


@loop(LGVIKernels.kind, LGVIData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps of free and of forced systems."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    flags, kept, y_new, R, control = data.flags, data.kept, data.y_new, data.R, kernels.control
    n, k = len(kept) // 2 - 1, flags[POINT]
    composed = flags[KIND] == COMPOSED
    problem = problem_of(kernels, data, flags[KIND], p)
    adjoint, direct = problem_of(kernels, data, ADJOINT, p), problem_of(kernels, data, DIRECT, p)
    work = parts(data.S, R, data.matrix, data.pivots, n, k)
    g0, p0, g1, p1, x, x2, state = ends(R, n, k)
    u, lam = R[16, : flags[INPUTS]], R[16, :0]
    half = 0.5 if composed else 1.0
    while running(run):
        t, h = run[T], half * run[H]
        split(y, g0, p0)
        if run[AT] != MOVED:
            kept[0] = 0.0
        guess(kept, h, x)
        inputs_at(control, flags[CONTROLLED] == 1, t, g0, p0, state, p, u)
        first = adjoint if composed else problem
        left = solve_step(first, Step(t, h, u, g0), p0, 1.0, x, lam, run, work, g1, p1)
        if left == 0.0:
            keep(kept, h, x)
        if composed and left == 0.0:
            copy(g1, g0)
            copy(p1, p0)
            copy(x, x2)
            step = Step(t + h, h, u, g0)
            left = solve_step(direct, step, p0, 1.0, x2, lam, run, work, g1, p1)
        join(g1, p1, lam, y_new)
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


@loop(LGVIKernels.kind, TiedData.kind, *STATE)
def march_constrained(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps with multipliers; y = (g, p - Dphi' lam / 2, lam), so each step solves for the next one."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    flags, kept, y_new, R, control = data.flags, data.kept, data.y_new, data.R, kernels.control
    lam, first, g1, p1 = data.lam, data.first, data.g1, data.p1
    n, m, k = len(p1), len(lam), flags[POINT]
    problem = problem_of(kernels, data, flags[KIND], p)
    work = parts(data.S, R, data.matrix, data.pivots, n, k)
    g0, p0, _, _, x, _, state = ends(R, n, k)
    u = R[16, : flags[INPUTS]]
    while running(run):
        t, h = run[T], run[H]
        left = 0.0
        if run[AT] != MOVED or abs(kept[0] - h) > 1e-9 * abs(h):
            split(y, g0, p0)
            if run[AT] != MOVED:
                kept[0] = 0.0
            guess(kept, h, x)
            for c in range(m):
                lam[c] = 0.0
            inputs_at(control, flags[CONTROLLED] == 1, t, g0, p0, state, p, u)
            left = solve_step(problem, Step(t, h, u, g0), p0, 0.5, x, lam, run, work, g1, p1)
            keep(kept, h, x)
            if run[K] == 0.0:
                copy(lam, first)
        if left == 0.0:
            copy(g1, g0)
            copy(p1, p0)
            guess(kept, h, x)
            inputs_at(control, flags[CONTROLLED] == 1, t + h, g0, p0, state, p, u)
            step = Step(t + h, h, u, g0)
            left = solve_step(problem, step, p0, 1.0, x, lam, run, work, g1, p1)
            keep(kept, h, x)
            tie = kernels.constraint(t + h, g0, p)
            take_impulse(0.5, lam, tie, p0, p0)  # p0 - Dphi(g0)^T lam / 2
            join(g0, p0, lam, y_new)
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def _kernel(function: Any) -> Any:
    """A kernel for a slot that is not used is the one without inputs."""
    return no_inputs if function is None else function


def _check(formulation: Any, y: np.ndarray) -> None:
    """Compiled code does not check lengths: call every kernel once."""
    n, k, m = formulation.dim, formulation.point, formulation.inputs
    p = np.require(formulation.params, float, "CW")
    if y.shape != (k + n,):
        raise ValueError(f"the state (g, p) must have {k} + {n} numbers, got shape {y.shape}")
    z = np.concatenate([y[:k], np.zeros(n + m)])
    discrete = isinstance(formulation, DiscreteLagrangianFormulation)
    wanted = {"kernel": (1.0, z[: k + n], 1 + 2 * n + (2 if discrete else 3) * n * n)}
    if formulation.force is not None:
        wanted["force"] = (0.0, z, n + 2 * n * n + n * m)
    if formulation.control is not None:
        wanted["control"] = (0.0, y, m)
    if getattr(formulation, "constraint", None) is not None:
        c = formulation.constraints
        wanted["constraint"] = (0.0, y[:k].copy(), c + c * n + c * n * n)
    for name, (t, argument, length) in wanted.items():
        found = np.shape(getattr(formulation, name)(t, argument.copy(), p))
        if found != (length,):
            raise ValueError(f"{name} must return {length} numbers, got shape {found}")


def _decoder(formulation: Any, constraints: int) -> Any:
    if not constraints:
        return formulation.decode

    def decode(y: np.ndarray) -> np.ndarray:
        head = y[..., :-constraints]
        return head if formulation.decode is None else formulation.decode(head)

    return decode


def _encoder(formulation: Any, constraints: int) -> Any:
    if not constraints:
        return formulation.encode

    def encode(y: np.ndarray) -> np.ndarray:
        head = y if formulation.encode is None else formulation.encode(y)
        return np.concatenate([head, np.zeros((*head.shape[:-1], constraints))], axis=-1)

    return encode


def plan(
    formulation: Any, y0: np.ndarray, kind: int, weights: tuple[float, float], retraction: str
) -> Plan:
    """Plan of a variational integrator of that kind."""
    if retraction not in ("cay", "exp"):
        raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
    start = y0 if formulation.encode is None else formulation.encode(y0)
    _check(formulation, start)
    n, k, m = formulation.dim, formulation.point, getattr(formulation, "constraints", 0)
    flags = np.array(
        [
            kind,
            formulation.force is not None,
            retraction == "cay",
            formulation.control is not None,
            k,
            formulation.inputs,
        ],
        dtype=np.int64,
    )
    kernels = LGVIKernels(
        formulation.kernel,
        _kernel(formulation.force),
        _kernel(formulation.control),
        _kernel(getattr(formulation, "constraint", None)),
    )
    data: Any = (
        flags,
        np.array(weights),
        np.array(formulation.factors, dtype=np.int64),
        np.zeros(2 + 2 * n),
    )
    extras = None
    if m:
        first = np.zeros(m)
        data += (np.zeros(m), first, np.zeros(k), np.zeros(n))
    data += (np.zeros(k + n + m), *new_work(n, m, k, formulation.inputs))
    data = (TiedData if m else LGVIData)(*data)
    if m:

        def extras(rows: np.ndarray, start: bool) -> dict[str, np.ndarray]:
            return {"multipliers": first[None].copy() if start else rows[:, -m:].copy()}

    return Plan(
        loop=march_constrained if m else march,
        kernels=kernels,
        data=data,
        params=formulation.params,
        encode=_encoder(formulation, m),
        decode=_decoder(formulation, m),
        structured=True,
        extras=extras,
    )


_QUADRATURES = {
    "trapezoidal": (WEIGHTS, (0.5, 0.5)),
    "midpoint": (MIDPOINT, (0.5, 0.5)),
    "left": (WEIGHTS, (1.0, 0.0)),
    "right": (WEIGHTS, (0.0, 1.0)),
}


def _prepare(
    formulation: Any,
    y0: np.ndarray,
    retraction: str | None,
    quadrature: str | None,
    usual: str,
    kind: int,
) -> Plan:
    if isinstance(formulation, DiscreteLagrangianFormulation):
        if quadrature is not None or retraction not in (None, "exp"):
            raise ValueError(
                "this system brings its own discrete Lagrangian: leave out quadrature, and retraction (exp)"
            )
        return plan(formulation, y0, kind, (1.0, 0.0), "exp")
    quadrature = usual if quadrature is None else quadrature
    if not isinstance(quadrature, str) or quadrature not in _QUADRATURES:
        raise ValueError(
            f"quadrature must be one of {', '.join(map(repr, _QUADRATURES))}, got {quadrature!r}"
        )
    rule, weights = _QUADRATURES[quadrature]
    return plan(formulation, y0, rule, weights, "cay" if retraction is None else retraction)


def lgvi(
    formulation: Any, y0: np.ndarray, retraction: str | None = None, quadrature: str | None = None
) -> Plan:
    """LGVI: the trapezoidal rule with the Cayley map, unless `quadrature` or `retraction` say otherwise."""
    return _prepare(formulation, y0, retraction, quadrature, "trapezoidal", COMPOSED)


def lgvi1(formulation: Any, y0: np.ndarray, retraction: str | None = None) -> Plan:
    """LGVI1: the first-order member, the left rule or the system's own discrete Lagrangian."""
    return _prepare(formulation, y0, retraction, None, "left", DIRECT)


register(
    Method(
        name="LGVI",
        family="variational",
        order=2,
        needs="lagrangian",
        source="Marsden & West 2001; fan (9), (10); for a discrete Lagrangian of its own lee (30), composed with its "
        "adjoint",
        prepare=lgvi,
        options={"retraction": None, "quadrature": None},
    )
)
register(
    Method(
        name="LGVI1",
        family="variational",
        order=1,
        needs="lagrangian",
        source="lee (48)-(56), (49) corrected; otherwise the left rule",
        prepare=lgvi1,
        options={"retraction": None},
    )
)
