"""Implicit RKMK methods on any action: Gauss-Legendre collocation in the algebra, and the Lie midpoint rule.

The stages solve k_i = dexpinv(U_i, f(t + c_i h, exp(U_i) . y)) with U_i = h sum_j a_ij k_j, over all i at once;
y1 = exp(h sum_i b_i k_i) . y. They are iterated until the iteration stagnates, that is to round-off: a fixed
tolerance would leave an error that drifts over long times (Hairer, Lubich & Wanner VIII.6).

`commutators=k` cuts the series of dexpinv after k of them, as Ortolan's thesis ran RKMKGL4: order 4 needs two.

With one stage this is the Lie midpoint rule y1 = exp(h xi) . y, xi = f(t + h/2, exp(h xi / 2) . y), since
dexpinv_xi xi = xi. It is symmetric; Gauss methods of more stages are not, their coordinates are centred at y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import tableaus
from ..core.differences import largest
from ..core.jit import ACT, FIELD, I8, INTS, MAT, VEC, inner, jit, lent, loop, record
from ..core.linear import lu_factor, lu_solve
from ..core.march import NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, STATE, H, T, advance, running
from ..core.newton import SLOW, SLOW_SWEEPS, STALLED, SWEEPS, correct, exhausted
from ..core.travel import recorded
from ..tableaus import ImplicitTableau
from ._registry import Method, Plan, check_texts, register
from .rkmk import (
    EXACT,
    _read_commutators,
    combine,
    cut_dexpinv,
    no_commutator,
    retraction_kernels,
    store_row,
)

# One-sided differences: half the digits of what a step moves, or more where that would not move the point visibly.
_DIFFERENCE, _VISIBLE, _ROUNDS = 1.5e-8, 1e-9, 10


ImplicitKernels = record("ImplicitKernels", field=FIELD, exp_act=ACT, dexpinv=ACT, bracket=ACT)
# The last row of a holds the weights b; k the stages, g what they should be; the rest is scratch.
ImplicitData = record(
    "ImplicitData",
    newton=I8,
    cut=I8,
    a=MAT,
    c=VEC,
    k=MAT,
    g=MAT,
    u=VEC,
    v=VEC,
    w=VEC,
    turned=VEC,
    there=VEC,
    matrix=MAT,
    pivots=INTS,
    x=VEC,
)


@inner
def stage_value(kernels, data, t, y, p, out):
    """out = dexpinv_u f(t, exp(u) . y) at data.u, whole or cut after so many commutators."""
    cut, u, v, turned, there = data.cut, data.u, data.v, data.turned, data.there
    kernels.exp_act(u, y, there)
    value = kernels.field(t, there, p)
    for i in range(len(v)):
        v[i] = value[i]
    if cut == EXACT:
        kernels.dexpinv(u, v, out)  # k_i = dexpinv(U_i, f): celledoni (6)
    else:
        cut_dexpinv(kernels.bracket, cut, u, v, turned, out)  # the same, cut: celledoni (8)


@jit
def difference(exp_act, y, u, m, size, base, there):
    """Move u[m] by as much as a derivative by differences needs; returns by how much. `base` is exp(u) . y before."""
    kept, whole = u[m], largest(base)
    step = _DIFFERENCE * (size if size > 0.0 else 1.0)
    for _ in range(_ROUNDS):
        u[m] = kept + step
        exp_act(u, y, there)
        moved = 0.0
        for i in range(len(base)):
            moved = max(moved, abs(there[i] - base[i]))
        if moved >= _VISIBLE * whole:
            return u[m] - kept
        step *= 16.0
    u[m] = kept + _DIFFERENCE * (1.0 + abs(kept))  # y stays where it is: isotropy
    return u[m] - kept


@jit
def newton_matrix(kernels, data, t, h, y, p):
    """1 - h a (x) J with J_i = d(dexpinv_U f)/dU at U_i, by differences; g holds the values at U_i."""
    data, y, p = lent(data), lent(y), lent(p)
    a, c, k, g, u = data.a, data.c, data.k, data.g, data.u
    value, there, matrix = data.w, data.there, data.matrix
    s, n = g.shape
    base = np.empty(len(y))
    for i in range(s):
        combine(h, a, i, k, u)
        kernels.exp_act(u, y, base)
        for m in range(n):
            kept, size = u[m], abs(u[m])
            for j in range(s):
                size = max(size, abs(h * k[j, m]), abs(h * g[j, m]))
            delta = difference(kernels.exp_act, y, u, m, size, base, there)
            stage_value(kernels, data, t + c[i] * h, y, p, value)
            u[m] = kept
            for row in range(n):
                slope = (value[row] - g[i, row]) / delta
                for j in range(s):
                    one = 1.0 if i == j and row == m else 0.0
                    matrix[i * n + row, j * n + m] = one - h * a[i, j] * slope


@inner
def solve_stages(kernels, data, t, h, y, p, run):
    """Iterate the stages in k to stagnation; returns the status and leaves the last correction in run.

    RKMKGL4 is ortolan 7.1.2, where k_i stands for f, k~_i for what is k_i here, and u_i for U_i = h sum_j a_ij k_j.
    The fixed point is written k - (k - g), so that Newton can stand in between.
    """
    data, y, p, run = lent(data), lent(y), lent(p), lent(run)
    a, c, k, g, u = data.a, data.c, data.k, data.g, data.u
    newton, matrix, pivots, x = data.newton, data.matrix, data.pivots, data.x
    s, n = g.shape
    start = kernels.field(t, y, p)
    run[NFEV] += 1
    for i in range(s):
        store_row(start, k, i)
    ready, last = False, math.inf
    for _ in range(SWEEPS if newton else SLOW_SWEEPS):
        for i in range(s):
            combine(h, a, i, k, u)  # U_i = h sum_j a_ij k_j
            stage_value(kernels, data, t + c[i] * h, y, p, g[i])  # g_i = dexpinv(U_i, f)
            for m in range(n):
                x[i * n + m] = k[i, m] - g[i, m]  # k_i = g_i, but for Newton: ortolan 7.1.2
        run[NFEV] += s
        if newton:
            if not ready:
                newton_matrix(kernels, data, t, h, y, p)
                run[NFEV] += s * n
                ready = True
                if not lu_factor(matrix, pivots):
                    break
            lu_solve(matrix, pivots, x)
        size, scale = 0.0, 0.0
        for i in range(s):
            moved, whole = correct(k[i], x[i * n : (i + 1) * n])
            size, scale = max(size, moved), max(scale, whole)
        run[RESIDUAL] = abs(h) * size
        if not size < math.inf:
            break
        if exhausted(size, scale, last):
            run[RESIDUAL] = 0.0
            return RUNNING
        if size > SLOW * last and size > STALLED * scale:
            ready = False
        last = size
    return NOT_CONVERGED


@loop(ImplicitKernels.kind, ImplicitData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps; y_new holds a stage until the stages are found."""
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    y_new = data.there
    while running(run):
        t, h = run[T], run[H]
        status = solve_stages(kernels, data, t, h, y, p, run)
        if status == RUNNING:
            s = len(data.c)
            combine(h, data.a, s, data.k, data.u)  # h sum_i b_i k_i: row s of a is b
            kernels.exp_act(data.u, y, y_new)  # y1 = exp(h sum_i b_i k_i) . y: ortolan 7.1.2
        advance(run, status, 0.0, y, y_new, ts, ys, hs)


def prepare(
    tableau: ImplicitTableau,
    formulation: Any,
    y0: np.ndarray,
    solver: str = "fixed point",
    retraction: str = "exp",
    commutators: int | str | None = None,
) -> Plan:
    """Plan of an implicit RKMK method.

    solver       "fixed point", or "newton" where h times the field's slope is not small.
    retraction   "exp", or "cay" where the action offers it: Cayley's map with its own tangent.
    commutators  so many terms of the series of dexpinv are kept ("order": as many as the order needs; None: exact).

    Raises ValueError for another solver or retraction, and for `commutators` beside a retraction other than exp.
    """
    if solver not in ("fixed point", "newton"):
        raise ValueError(f"solver must be 'fixed point' or 'newton', got {solver!r}")
    action = formulation.action
    move, inverse = retraction_kernels(action, retraction)
    cut = _read_commutators(commutators, tableau.order)
    if cut != EXACT and retraction != "exp":
        raise ValueError(
            f"commutators={commutators!r} cuts the series of exp's dexpinv; leave it out with "
            f"retraction={retraction!r}"
        )
    bracket = no_commutator if cut == EXACT else action.bracket
    s, n = tableau.stages, action.algebra_dim(len(y0))
    newton = solver == "newton"
    size = s * n if newton else 0
    return Plan(
        loop=march,
        kernels=ImplicitKernels(formulation.field, move, inverse, bracket),
        data=ImplicitData(
            newton=int(newton),
            cut=cut,
            a=np.vstack([tableau.a, tableau.b]),
            c=tableau.c,
            k=np.zeros((s, n)),
            g=np.zeros((s, n)),
            u=np.zeros(n),
            v=np.zeros(n),
            w=np.zeros(n),
            turned=np.zeros(n),
            there=np.zeros(len(y0)),
            matrix=np.zeros((size, size)),
            pivots=np.zeros(size, dtype=np.int64),
            x=np.zeros(s * n),
        ),
        params=formulation.params,
        rotations=action.rotations,
    )


@recorded
def implicit_rkmk(tableau: ImplicitTableau, name: str | None = None, source: str = "") -> Method:
    """The implicit RKMK method of a full tableau, ready for `solve(..., method=implicit_rkmk(tableau))`."""
    if not isinstance(tableau, ImplicitTableau):
        raise ValueError(
            f"tableau must be a lielab.tableaus.ImplicitTableau, got {type(tableau).__name__}"
        )

    check_texts(name=name, source=source)

    def prepare_tableau(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        return prepare(tableau, formulation, y0, **options)

    return Method(
        name=name or f"RKMK({tableau.name})",
        family="implicit RKMK",
        order=tableau.order,
        needs="action",
        source=source or tableau.source,
        prepare=prepare_tableau,
        options={"solver": "fixed point", "retraction": "exp", "commutators": None},
    )


register(
    implicit_rkmk(tableaus.GAUSS2, "LieMidpoint", "the implicit midpoint rule on a group action")
)
register(implicit_rkmk(tableaus.GAUSS4, "RKMKGL4", "ortolan 7.1.2; Hairer, Lubich & Wanner II.1"))
register(implicit_rkmk(tableaus.GAUSS6, "RKMKGL6"))
