"""Commutator-free and Crouch-Grossman methods: one loop, the methods are data (celledoni 2.2 and 4.2).

    Y_i = exp(h sum_j w_J,j k_j) ... exp(h sum_j w_1,j k_j) . base,   k_i = f(t + c_i h, Y_i)

No dexpinv and no bracket is needed, only the field and exp. The base is y or an earlier stage, whose
exponentials are reused. The estimate of a pair is the distance of two points, y1 and the embedded y1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tableaus
from ..core.jit import ACT, FIELD, I8, INTS, MAT, VEC, inner, lent, loop, record
from ..core.march import AT, NFEV, RUNNING, SAME, STATE, H, N, T, advance, measure, running
from ..core.travel import recorded
from ..tableaus import CommutatorFree
from ._registry import Method, Plan, check_texts, register
from .rkmk import combine, store_row

FreeKernels = record("FreeKernels", field=FIELD, exp_act=ACT)
# The stages after the first `main` ones serve the estimate only; u and here are scratch.
FreeData = record(
    "FreeData",
    rows=MAT,
    first=INTS,
    base=INTS,
    c=VEC,
    main=I8,
    points=MAT,
    k=MAT,
    u=VEC,
    here=VEC,
)


@inner
def reach(exp_act, data, point, h, y):
    """Move from the base of a point to the point, in `points`. Its rows for CF4, celledoni (9), are in `tableaus`."""
    data, y = lent(data), lent(y)
    rows, first, base, _, _, points, k, u, here = data
    Y = points[point]
    store_row(y if base[point] < 0 else points[base[point]], points, point)  # Y = base
    for row in range(first[point], first[point + 1]):  # in the order in which they act
        combine(h, rows, row, k, u)  # u = h sum_j w_j k_j
        for i in range(len(here)):
            here[i] = Y[i]
        exp_act(u, here, Y)  # Y = exp(u) . Y


@loop(FreeKernels.kind, FreeData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps."""
    field, exp_act = kernels
    data, run, y, p = lent(data), lent(run), lent(y), lent(p)
    c, main, points, k, here = data.c, data.main, data.points, data.k, data.here
    count = len(c)
    while running(run):
        t, h = run[T], run[H]
        if run[AT] != SAME:
            store_row(field(t, y, p), k, 0)
            run[NFEV] += 1
        stages = main if run[N] > 0 else count
        for i in range(1, stages):
            reach(exp_act, data, i - 1, h, y)
            store_row(field(t + c[i] * h, points[i - 1], p), k, i)
        run[NFEV] += stages - 1
        reach(exp_act, data, count - 1, h, y)
        y_new = points[count - 1]
        error = 0.0
        if run[N] == 0:
            reach(exp_act, data, count, h, y)
            for i in range(len(y)):
                here[i] = y_new[i] - points[count, i]
            error = measure(run, here, y, y_new)
        advance(run, RUNNING, error, y, y_new, ts, ys, hs)


def prepare(
    coefficients: CommutatorFree, formulation: Any, y0: np.ndarray, retraction: str = "exp"
) -> Plan:
    """Plan of a commutator-free method; anything but exp is refused, because it would cost the order."""
    if retraction != "exp":
        raise ValueError(
            f"{coefficients.name} must use exp, got retraction={retraction!r}: its order rests on products of "
            "exponentials, and Cayley's map in their place lowers it to 2; use an RKMK method with retraction='cay'"
        )
    action = formulation.action
    n = action.algebra_dim(len(y0))
    return Plan(
        loop=march,
        kernels=FreeKernels(formulation.field, action.exp_act),
        data=FreeData(
            rows=coefficients.rows,
            first=coefficients.first,
            base=coefficients.base,
            c=coefficients.c,
            main=1 + len(coefficients.stages),
            points=np.zeros((len(coefficients.base), len(y0))),
            k=np.zeros((len(coefficients.c), n)),
            u=np.zeros(n),
            here=np.zeros(len(y0)),
        ),
        params=formulation.params,
        rotations=action.rotations,
        n_exponentials=coefficients.n_exponentials,
        n_exponentials_hat=coefficients.n_exponentials_hat,
        error_order=coefficients.order_hat,
        norms=("scaled", "euclidean"),
    )


@recorded
def commutator_free(
    coefficients: CommutatorFree, name: str | None = None, family: str = "commutator-free"
) -> Method:
    """The method of a set of coefficients, ready for `solve(..., method=commutator_free(coefficients))`."""
    if not isinstance(coefficients, CommutatorFree):
        raise ValueError(
            f"coefficients must be a lielab.tableaus.CommutatorFree, got {type(coefficients).__name__}"
        )

    check_texts(name=name, family=family)

    def prepare_coefficients(formulation: Any, y0: np.ndarray, **options: Any) -> Plan:
        return prepare(coefficients, formulation, y0, **options)

    return Method(
        name=name or coefficients.name,
        family=family,
        order=coefficients.order,
        needs="action",
        source=coefficients.source,
        prepare=prepare_coefficients,
        embedded=coefficients.embedded,
        n_exponentials=coefficients.n_exponentials,
        options={"retraction": "exp"},
    )


for _coefficients in (tableaus.CF4, tableaus.CF32A, tableaus.CF32B, tableaus.CF43):
    register(commutator_free(_coefficients))
for _coefficients in (tableaus.CG2, tableaus.CG3, tableaus.CG4):
    register(commutator_free(_coefficients, family="Crouch-Grossman"))
