"""Runge-Kutta-Munthe-Kaas methods on any action, with any explicit tableau (celledoni (6), (8)).

A step pulls the equation back to the algebra, sigma' = dexpinv_sigma f(exp(sigma) . y) with sigma(0) = 0, takes a
Runge-Kutta step there, whose stages are the U_i, and acts with the result:

    U_i = h sum_j a_ij k_j,   k_i = dexpinv(U_i, f(t + c_i h, exp(U_i) . y)),   y1 = exp(h sum_i b_i k_i) . y

Order of the tableau, when dexpinv is exact or keeps enough commutators: p - 2 for order p, since u and v are
parallel to leading order and ad_u^m v is of size h^(m+1). The embedded error is formed in the algebra,
e = h sum (b - b_hat) k, and weighed by the displacement of the point that it causes.

What may be kept from step to step: f(y1), when the tableau evaluates it (FSAL), is the next f(y); k itself is
not, it belongs to coordinates around y. After a rejected step f(y) is kept.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import tableaus
from ..core.arguments import count
from ..core.jit import ACT, FIELD, I8, MAT, VEC, jit, lent, loop, record
from ..core.march import (
    ALGEBRA,
    AT,
    ATOL,
    DISTANCE,
    MOVED,
    NFEV,
    NORM,
    RTOL,
    RUNNING,
    SAME,
    STATE,
    H,
    N,
    T,
    advance,
    measure,
    norm,
    running,
)
from ..core.travel import recorded
from ..tableaus import Tableau
from ._registry import Method, Plan, check_texts, register

# Bernoulli numbers over factorials: dexpinv_u v = v + sum_m SERIES[m - 1] ad_u^m v
SERIES = (-1.0 / 2.0, 1.0 / 12.0, 0.0, -1.0 / 720.0, 0.0, 1.0 / 30240.0)
EXACT = -1


@jit
def combine(h, a, i, k, u):
    """u = h sum_j a_ij k_j"""
    for m in range(len(u)):
        u[m] = 0.0
    for j in range(a.shape[1]):
        w = h * a[i, j]
        if w != 0.0:
            for m in range(len(u)):
                u[m] += w * k[j, m]


@jit
def cut_dexpinv(bracket, terms, u, v, turned, out):
    """out = v + sum_m SERIES[m - 1] ad_u^m v over the first `terms`: celledoni (8); v becomes the last ad_u^m v."""
    for i in range(len(v)):
        out[i] = v[i]
    for m in range(terms):
        bracket(u, v, turned)
        for i in range(len(v)):
            v[i] = turned[i]
            out[i] += SERIES[m] * v[i]


@jit
def scaled(c, x, out):
    """out = c x"""
    for i in range(len(x)):
        out[i] = c * x[i]


@jit
def store_row(values, k, row):
    for i in range(len(values)):
        k[row, i] = values[i]


@jit
def along_group(bracket, u, e):
    """Length of log(exp(u) exp(e - u)): how far exp(u - e) is from exp(u). To fourth order in u it is dexp_u e."""
    turned, x = np.empty(len(u)), e.copy()
    for place in (4.0, 3.0, 2.0):
        bracket(u, x, turned)
        for i in range(len(u)):
            x[i] = e[i] + turned[i] / place
    return norm(x)


@jit
def embedded_error(kernels, data, run, h, y):
    """Size of the error estimates h d k as a multiple of the tolerance; two are combined as in DOP853."""
    data, run, y = lent(data), lent(run), lent(y)
    d, k, u, error, y_new, rate = data.d, data.k, data.u, data.v, data.y_new, data.rate
    first = 0.0
    for row in range(len(d)):
        combine(h, d, row, k, error)  # h sum_i (b_i - b_hat_i) k_i
        if run[NORM] == ALGEBRA:
            size = norm(error) / (run[ATOL] + run[RTOL] * norm(u))
        elif run[NORM] == DISTANCE:
            size = along_group(kernels.bracket, u, error) / (run[ATOL] + run[RTOL])
        else:
            kernels.generator(error, y_new, rate[: len(y)])
            size = measure(run, rate, y, y_new)
        if row == 0:
            first = size
        elif first > 0.0:
            first *= first / math.sqrt(first * first + 0.01 * size * size)
    return first


RKMKKernels = record(
    "RKMKKernels", field=FIELD, exp_act=ACT, dexpinv=ACT, bracket=ACT, generator=ACT
)
# The last row of a holds the weights b, d those of the error estimates; the last row of k keeps f(y1) (FSAL).
RKMKData = record(
    "RKMKData",
    commutators=I8,
    a=MAT,
    c=VEC,
    d=MAT,
    fsal=I8,
    k=MAT,
    u=VEC,
    v=VEC,
    y_new=VEC,
    rate=VEC,
)


@loop(RKMKKernels.kind, RKMKData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps."""
    field, exp_act, dexpinv, bracket, _ = kernels
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    commutators, a, c, _, fsal, k, u, v, y_new, rate = data
    s, n = len(c), len(u)
    while running(run):
        t, h = run[T], run[H]
        if fsal and run[AT] == MOVED:
            store_row(k[s], k, 0)
        elif run[AT] != SAME:
            store_row(field(t, y, p), k, 0)  # k_1 = f(y), as U_1 = 0
            run[NFEV] += 1
        for i in range(1, s):
            combine(h, a, i, k, u)  # U_i = h sum_j a_ij k_j
            exp_act(u, y, y_new)  # exp(U_i) . y
            value = field(t + c[i] * h, y_new, p)
            for m in range(n):
                v[m] = value[m]
            if fsal and i == s - 1:
                store_row(v, k, s)
                if run[N] > 0:
                    break  # its k serves the estimate only
            if commutators == EXACT:
                dexpinv(u, v, k[i])  # k_i = dexpinv(U_i, f): celledoni (6)
            else:
                # the same, cut: celledoni (8)
                cut_dexpinv(bracket, commutators, u, v, rate[:n], k[i])
        if not fsal:  # else the last stage was at y1
            combine(h, a, s, k, u)  # h sum_i b_i k_i: row s of a is b
            exp_act(u, y, y_new)  # y1 = exp(h sum_i b_i k_i) . y: celledoni 2.2
        run[NFEV] += s - 1
        error = 0.0
        if run[N] == 0:
            error = embedded_error(kernels, data, run, h, y)
        advance(run, RUNNING, error, y, y_new, ts, ys, hs)


TwoKernels = record("TwoKernels", field=FIELD, exp_act=ACT, bracket=ACT)
TwoData = record("TwoData", u=VEC, f1=VEC, f2=VEC, f3=VEC, f4=VEC, f12=VEC, f14=VEC, y_new=VEC)


@loop(TwoKernels.kind, TwoData.kind, *STATE)
def march_two_commutators(kernels, data, run, y, p, ts, ys, hs):
    """The fourth-order method with two commutators in all, celledoni 2.2."""
    field, exp_act, bracket = kernels
    u, f1, f2, f3, f4, f12, f14, y_new = lent(data)
    run, y, p = lent(run), lent(y), lent(p)
    n = len(u)
    while running(run):
        t, h = run[T], run[H]
        scaled(h, field(t, y, p), f1)  # f1 = h f(y)
        for i in range(n):
            u[i] = 0.5 * f1[i]  # f1/2
        exp_act(u, y, y_new)
        scaled(h, field(t + 0.5 * h, y_new, p), f2)  # f2 = h f(exp(f1/2) . y)
        bracket(f1, f2, f12)
        for i in range(n):
            u[i] = 0.5 * f2[i] - 0.125 * f12[i]  # f2/2 - [f1, f2]/8: celledoni 2.2
        exp_act(u, y, y_new)
        scaled(h, field(t + 0.5 * h, y_new, p), f3)  # f3 = h f(exp(f2/2 - [f1, f2]/8) . y)
        exp_act(f3, y, y_new)
        scaled(h, field(t + h, y_new, p), f4)  # f4 = h f(exp(f3) . y)
        bracket(f1, f4, f14)
        for i in range(n):
            # (f1 + 2 f2 + 2 f3 + f4 - [f1, f4]/2)/6: celledoni 2.2
            u[i] = 1.0 / 6.0 * (f1[i] + 2.0 * f2[i] + 2.0 * f3[i] + f4[i] - 0.5 * f14[i])
        exp_act(u, y, y_new)  # y1 = exp(u) . y
        run[NFEV] += 4
        advance(run, RUNNING, 0.0, y, y_new, ts, ys, hs)


@jit
def no_commutator(u, v, out):
    """v: in the place of dexpinv and bracket where a method calls for neither."""
    for i in range(len(out)):
        out[i] = v[i]


def require_bracket(action: Any) -> None:
    """ValueError for an action without bracket and dexpinv (frames whose brackets were not given)."""
    if action.dexpinv is None or action.bracket is None:
        raise ValueError(
            f"method needs commutators, and the action {action.name} has no bracket; use LieEuler, CF4 or another "
            "method without commutators, or pass `structure` to frozen_action"
        )


def retraction_kernels(action: Any, retraction: str) -> tuple:
    """(map, inverse of its trivialised tangent) of an action: exp and dexpinv, or Cayley's."""
    if retraction == "exp":
        require_bracket(action)
        return action.exp_act, action.dexpinv
    if retraction != "cay":
        raise ValueError(f"retraction must be 'exp' or 'cay', got {retraction!r}")
    if action.cay_act is None:
        raise ValueError(f"retraction='cay' is not offered by the action {action.name}; use 'exp'")
    return action.cay_act, action.dcayinv


def _read_commutators(commutators: Any, order: int) -> int:
    if commutators is None:
        return EXACT
    if isinstance(commutators, str) and commutators == "order":
        enough = max(0, order - 2)
        # Odd terms past the first vanish.
        return enough - 1 if enough > 2 and enough % 2 else enough
    whole = isinstance(commutators, (int, np.integer)) and not isinstance(commutators, bool)
    if whole and 0 <= commutators <= len(SERIES):
        return int(commutators)
    raise ValueError(
        f"commutators must be None (exact), 'order' or 0 to {len(SERIES)}, got {commutators!r}"
    )


def prepare(
    tableau: Tableau,
    formulation: Any,
    y0: np.ndarray,
    commutators: int | str | None = None,
    retraction: str = "exp",
) -> Plan:
    """Plan of an RKMK method for an action formulation.

    `commutators` keeps so many terms of the series of dexpinv ("order": as many as the order needs; None: exact);
    `retraction` is "exp" or "cay".
    """
    if commutators is not None and retraction == "cay":
        raise ValueError(
            "commutators cuts the series of exp's dexpinv; leave it out with retraction='cay'"
        )
    action = formulation.action
    if action.bracket is None and (commutators == 0 or tableau.stages == 1):
        move, inverse, bracket = action.exp_act, no_commutator, no_commutator
    else:
        move, inverse = retraction_kernels(action, retraction)
        bracket = action.bracket
    n = action.algebra_dim(len(y0))
    return Plan(
        loop=march,
        kernels=RKMKKernels(formulation.field, move, inverse, bracket, action.generator),
        data=RKMKData(
            commutators=_read_commutators(commutators, tableau.order),
            a=tableau.rows,
            c=tableau.c,
            d=tableau.errors,
            fsal=int(tableau.fsal),
            k=np.zeros((tableau.stages + 1, n)),
            u=np.zeros(n),
            v=np.zeros(n),
            y_new=np.zeros(len(y0)),
            rate=np.zeros(max(n, len(y0))),
        ),
        params=formulation.params,
        rotations=action.rotations,
        n_exponentials=tableau.exponentials,
        error_order=tableau.error_order,
        norms=("scaled", "euclidean", "algebra", "distance"),
    )


@recorded
def rkmk(
    tableau: Tableau,
    name: str | None = None,
    source: str = "",
    commutators: int | str | None = None,
    order: int | None = None,
) -> Method:
    """The RKMK method of any explicit tableau, ready for `solve(..., method=rkmk(tableau))`.

    `commutators` is the default of the option of that name: how many terms of the series of dexpinv are
    kept, "order" for as many as the order needs, None for the exact function. `order` states the order where
    fewer commutators lower it. With retraction="cay" a cut has no meaning and is refused.
    """
    if not isinstance(tableau, Tableau):
        raise ValueError(
            f"tableau must be a lielab.tableaus.Tableau, got {type(tableau).__name__}; "
            "Tableau(name, order, a, b) makes one from nested lists"
        )
    check_texts(name=name, source=source)
    order = tableau.order if order is None else count("order", order)
    _read_commutators(commutators, tableau.order)
    method = name or f"RKMK({tableau.name})"

    def prepare_tableau(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        chosen = {"commutators": commutators, **options}
        if options.get("retraction", "exp") == "cay" and "commutators" not in options:
            cut = _read_commutators(commutators, tableau.order)
            if cut > 0 or (cut == 0 and tableau.order > 2):
                raise ValueError(
                    f"{method} cuts the series of exp's dexpinv after {cut} commutators, and Cayley's has no series "
                    "to cut; use retraction='exp', or the method without a cut, such as RKMK4 for RKMK4t1 and RKMK4t2"
                )
            chosen["commutators"] = None  # up to order 2 no term is needed: nothing is cut
        return prepare(tableau, formulation, y0, **chosen)

    return Method(
        name=method,
        family="RKMK",
        order=order,
        needs="action",
        source=source or tableau.source or "celledoni (6)-(8)",
        prepare=prepare_tableau,
        embedded=tableau.embedded,
        n_exponentials=tableau.exponentials,
        options={"retraction": "exp", "commutators": commutators},
    )


def _prepare_two_commutators(formulation: Any, y0: np.ndarray, retraction: str = "exp") -> Plan:
    if retraction != "exp":
        raise ValueError(
            f"RKMK4c2 is built on the series of exp's dexpinv, got retraction={retraction!r}; "
            "use RKMK4 with retraction='cay'"
        )
    action = formulation.action
    require_bracket(action)
    n = action.algebra_dim(len(y0))
    return Plan(
        loop=march_two_commutators,
        kernels=TwoKernels(formulation.field, action.exp_act, action.bracket),
        data=TwoData(*(np.zeros(n) for _ in range(7)), y_new=np.zeros(len(y0))),
        params=formulation.params,
        rotations=action.rotations,
        n_exponentials=4,
    )


register(rkmk(tableaus.EULER, "LieEuler", "celledoni 2.2"))
# Order 2 needs no commutator: h/2 [u, k_2] with u = h k_1 is O(h^3), since k_2 - k_1 is O(h).
register(rkmk(tableaus.HEUN, "LieEulerHeun", "celledoni 5.3", commutators=0))
register(rkmk(tableaus.MIDPOINT, "RKMK2", "celledoni 2.2, midpoint tableau", commutators=0))
register(rkmk(tableaus.KUTTA3, "RKMK3", "celledoni 2.2, Kutta's tableau"))
register(rkmk(tableaus.RK4, "RKMK4", "celledoni 2.2"))
register(rkmk(tableaus.RK4, "RKMK4t1", "celledoni 2.2, dexpinv cut", commutators=1, order=3))
register(rkmk(tableaus.RK4, "RKMK4t2", "celledoni 2.2, dexpinv cut", commutators=2))
register(
    Method(
        "RKMK4c2",
        "RKMK",
        4,
        "action",
        "celledoni 2.2, two commutators in all",
        _prepare_two_commutators,
        n_exponentials=4,
        options={"retraction": "exp"},
    )
)
register(rkmk(tableaus.DORMAND_PRINCE_5, "RKMK5", "celledoni 5.3, Dormand-Prince without its pair"))
register(rkmk(tableaus.DORMAND_PRINCE_54, "RKMK54", "celledoni 4.1"))
register(rkmk(tableaus.DORMAND_PRINCE_853, "RKMK8", "celledoni 4.1, Dormand-Prince 8(5,3)"))
