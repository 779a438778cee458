"""Runge-Kutta-Munthe-Kaas methods on any action, with any explicit tableau (celledoni (6)-(8)).

A step pulls the equation back to the algebra, takes a Runge-Kutta step there from 0, and acts with the result:

    U_i = h sum_j a_ij k_j,   k_i = dexpinv(U_i, f(t + c_i h, exp(U_i) . y)),   y1 = exp(h sum_i b_i k_i) . y

Order of the tableau, when dexpinv is exact or cut after enough commutators. The embedded error is formed
in the algebra, e = h sum (b - b_hat) k, and weighed by the displacement of the point that it causes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tableaus
from .._jit import ACT, FIELD, I8, MAT, VEC, jit, loop
from ..tableaus import Tableau
from ._march import ATOL, NFEV, RTOL, RUNNING, H, N, T, advance, running, scaled_norm
from ._registry import Method, Plan, register


@jit
def combine(weights, k, h, u):
    """u = h sum_j weights_j k_j"""
    for i in range(len(u)):
        u[i] = 0.0
    for j in range(len(weights)):
        w = h * weights[j]
        if w != 0.0:
            for i in range(len(u)):
                u[i] += w * k[j, i]


EXACT = -1


@jit
def cut_dexpinv(dexpinv, bracket, commutators, u, v):
    """dexpinv_u v, exact or cut after 0, 1 or 2 commutators (celledoni 2.2)."""
    if commutators == EXACT:
        return dexpinv(u, v)
    out = v.copy()
    if commutators > 0:
        first = bracket(u, v)
        for i in range(len(v)):
            out[i] -= 0.5 * first[i]
        if commutators > 1:
            second = bracket(u, first)
            for i in range(len(v)):
                out[i] += second[i] / 12.0
    return out


@jit
def step(field, exp_act, dexpinv, bracket, commutators, a, b, c, t, h, y, p, k, u, y_new):
    """One RKMK step from y to y_new; leaves the stages in k and the increment in u."""
    for i in range(len(b)):
        if i == 0:
            v = field(t, y, p)
        else:
            for m in range(len(u)):
                u[m] = 0.0
            for j in range(i):
                w = h * a[i, j]
                if w != 0.0:
                    for m in range(len(u)):
                        u[m] += w * k[j, m]
            v = field(t + c[i] * h, exp_act(u, y), p)
            v = cut_dexpinv(dexpinv, bracket, commutators, u, v)
        for j in range(len(u)):
            k[i, j] = v[j]
    combine(b, k, h, u)
    moved = exp_act(u, y)
    for i in range(len(y)):
        y_new[i] = moved[i]


@loop(FIELD, ACT, ACT, ACT, I8, MAT, VEC, VEC, VEC, MAT, VEC, VEC, VEC, VEC, VEC, MAT, VEC)
def march(field, exp_act, dexpinv, bracket, commutators, a, b, c, d, k, u, run, y, p, ts, ys, hs):
    """The loop over steps; d = b - b_hat is empty for a method without a pair."""
    y_new = np.empty(len(y))
    while running(run):
        h = run[H]
        step(field, exp_act, dexpinv, bracket, commutators, a, b, c, run[T], h, y, p, k, u, y_new)
        run[NFEV] += len(b)
        error = 0.0
        if run[N] == 0:
            combine(d, k, h, u)
            displacement = exp_act(u, y_new)
            for i in range(len(y)):
                displacement[i] -= y_new[i]
            error = scaled_norm(displacement, y, y_new, run[RTOL], run[ATOL])
        advance(run, RUNNING, error, y, y_new, ts, ys, hs)


def prepare(
    tableau: Tableau,
    formulation: Any,
    y0: np.ndarray,
    commutators: int | None = None,
    retraction: str = "exp",
) -> Plan:
    """Plan of an RKMK method for an action formulation.

    `commutators` cuts dexpinv after 0, 1 or 2 commutators (None: exact); `retraction` is "exp" or "cay".
    """
    if commutators not in (None, 0, 1, 2):
        raise ValueError(f"commutators must be None (exact), 0, 1 or 2, got {commutators!r}")
    if commutators is not None and retraction != "exp":
        raise ValueError(
            "commutators cuts the series of exp's dexpinv; leave it out with retraction='cay'"
        )
    action = formulation.action
    exp_act, dexpinv = action.exp_act, action.dexpinv
    if retraction == "cay":
        if action.cay_act is None:
            raise ValueError(
                f"retraction='cay' is not offered by the action {action.name}; use 'exp'"
            )
        exp_act, dexpinv = action.cay_act, action.dcayinv
    elif retraction != "exp":
        raise ValueError(f"retraction must be 'exp' or 'cay', got {retraction!r}")
    n = action.algebra_dim(len(y0))
    d = np.empty(0) if tableau.b_hat is None else tableau.b - tableau.b_hat
    work = np.zeros((tableau.stages, n)), np.zeros(n)
    return Plan(
        loop=march,
        kernels=(formulation.field, exp_act, dexpinv, action.bracket),
        data=(
            EXACT if commutators is None else commutators,
            tableau.a,
            tableau.b,
            tableau.c,
            d,
            *work,
        ),
        params=formulation.params,
        n_exponentials=int(np.count_nonzero(np.abs(tableau.a).sum(axis=1))) + 1,
        order_hat=tableau.order_hat,
    )


def rkmk(
    tableau: Tableau, name: str | None = None, source: str = "", commutators: int | None = None
) -> Method:
    """The RKMK method of any explicit tableau, ready for `solve(..., method=rkmk(tableau))`."""

    def prepare_tableau(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        cut = None if options.get("retraction", "exp") == "cay" else commutators
        return prepare(tableau, formulation, y0, **{"commutators": cut, **options})

    return Method(
        name=name or f"RKMK({tableau.name})",
        family="RKMK",
        order=tableau.order,
        needs="action",
        source=source or "celledoni (6)-(8)",
        prepare=prepare_tableau,
        embedded=tableau.b_hat is not None,
        options={"retraction": "exp", "commutators": commutators},
    )


register(rkmk(tableaus.EULER, "LieEuler", "celledoni 2.2"))
# Order 2 needs no commutator: h/2 [u, k_2] with u = h k_1 is O(h^3), since k_2 - k_1 is O(h).
register(rkmk(tableaus.HEUN, "LieEulerHeun", "celledoni 5.3", commutators=0))
register(rkmk(tableaus.RK4, "RKMK4", "celledoni 2.2"))
register(rkmk(tableaus.DORMAND_PRINCE_54, "RKMK54", "celledoni 4.1"))
