"""The action of a reader's own matrix group, as closures over its basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import closure
from ..groups._dense import exponential, solve
from ._action import Action
from .compose import algebra_kernels
from .matrices import times


def matrix_action(group: Any, columns: int | None = None) -> Action:
    """A `lielab.matrix_group` on n x p matrices by multiplication from the left, flat and row-major.

    Without `columns` the group acts on itself, p = n, and the distance is the group's defect; columns=1 is the
    action on vectors. The kernels are closures over the basis. Cayley where the group has a form.
    """
    n, d = group.shape[0], group.dim
    p = n if columns is None else int(columns)
    if p < 1:
        raise ValueError(f"columns must be at least 1, got {columns!r}")
    basis = np.ascontiguousarray(group.basis.reshape(d, n * n))
    bracket, dexpinv = algebra_kernels(group.structure)

    @closure
    def hat(u, scale):
        X = np.zeros(n * n)
        for k in range(d):
            for i in range(n * n):
                X[i] += scale * u[k] * basis[k, i]
        return X

    @closure
    def exp_act(u, y):
        g = np.empty(n * n)
        exponential(hat(u, 1.0), g)
        return times(g, y, n)

    @closure
    def generator(u, y):
        return times(hat(u, 1.0), y, n)

    @closure
    def cay_act(u, y):
        A = hat(u, -0.5)
        out = times(A, y, n)
        for i in range(len(y)):
            out[i] = y[i] - out[i]
        for i in range(n):
            A[i * n + i] += 1.0
        solve(A, out, n)
        return out

    pinv = np.ascontiguousarray(np.linalg.pinv(basis.T))

    @closure
    def dcayinv(u, v):
        X, Y = hat(u, 0.5), hat(v, 1.0)
        XY, YX = times(X, Y, n), times(Y, X, n)
        XYX = times(XY, X, n)
        for i in range(n * n):
            Y[i] += YX[i] - XY[i] - XYX[i]
        out = np.zeros(d)
        for k in range(d):
            for i in range(n * n):
                out[k] += pinv[k, i] * Y[i]
        return out

    quadratic = group.form is not None

    def distance(y: np.ndarray) -> np.ndarray:
        return group.defect(y.reshape(*y.shape[:-1], n, n))

    return Action(
        name=f"{group.name} on {'itself' if columns is None else f'{n} x {p} matrices'}, left",
        group=group.name,
        manifold=group.name if columns is None else f"R^({n} x {p})",
        algebra=d,
        point=n * p,
        dimension=d if columns is None else n * p,
        exp_act=exp_act,
        dexpinv=dexpinv,
        bracket=bracket,
        generator=generator,
        cay_act=cay_act if quadratic else None,
        dcayinv=dcayinv if quadratic else None,
        distance=distance if columns is None else None,
        sample=(lambda rng: group.random(rng).ravel()) if columns is None else None,
    )
