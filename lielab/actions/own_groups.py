"""The action of a reader's own matrix group, and T*G of any group on itself, as closures over their bases."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arguments import count
from ..core.dense import multiply
from ..core.jit import closure
from ..core.travel import recorded
from ..groups.flat import distance_from, joined, split
from ..groups.invariants import law, mend_matrix
from ..groups.left_factors import (
    coAd_exp,
    dexp_dual,
    group_sizes,
    left_factors,
    move_left,
    structure_constants,
    velocity_left,
)
from .action import Action
from .compose import algebra_kernels
from .matrices import cay_times, dcayinv_of_half, exp_times

_MOST = 10**6


@recorded
def matrix_action(group: Any, columns: int | None = None) -> Action:
    """A `lielab.matrix_group` on n x p matrices by multiplication from the left, flat and row-major.

    Without `columns` the group acts on itself, p = n, and the distance is the group's defect; columns=1 is the
    action on vectors. The kernels are closures over the basis. Cayley where the group has a form.
    """
    if not hasattr(group, "basis"):
        raise ValueError(f"group must be a lielab.matrix_group, got {group!r}")
    n, d = group.shape[0], group.dim
    p = n if columns is None else columns
    count("columns", p, most=_MOST)
    basis = np.ascontiguousarray(group.basis.reshape(d, n * n))
    bracket, dexpinv = algebra_kernels(group.structure)
    kept = law(group.basis, group.form) if columns is None else np.zeros(3)

    @closure
    def hat(u, scale):
        X = np.zeros(n * n)
        for k in range(d):
            for i in range(n * n):
                X[i] += scale * u[k] * basis[k, i]
        return X

    @closure
    def exp_act(u, y, out):
        exp_times(hat(u, 1.0), y, n, out)
        mend_matrix(out, n, kept, 0)

    @closure
    def generator(u, y, out):
        multiply(hat(u, 1.0), y, n, out)

    @closure
    def cay_act(u, y, out):
        cay_times(hat(u, -0.5), y, n, out)
        mend_matrix(out, n, kept, 0)

    pinv = np.ascontiguousarray(np.linalg.pinv(basis.T))

    @closure
    def dcayinv(u, v, out):
        Y = hat(v, 1.0)
        dcayinv_of_half(hat(u, 0.5), Y, n)
        for k in range(d):
            out[k] = 0.0
            for i in range(n * n):
                out[k] += pinv[k, i] * Y[i]

    quadratic = group.form is not None

    def distance(y: np.ndarray) -> np.ndarray:
        return group.defect(y.reshape(*y.shape[:-1], n, n))

    def nearest(y: np.ndarray) -> np.ndarray:
        return group.project(y.reshape(*y.shape[:-1], n, n)).reshape(y.shape)

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
        nearest=nearest if columns is None and group.projects else None,
        sample=(lambda rng: group.random(rng).ravel()) if columns is None else None,
    )


@recorded
def cotangent_action(group: Any) -> Action:
    """T*G = G x g* on itself in the right trivialisation, celledoni (11) with g1^-1: y = (g, mu), g the group's own.

    (g1, mu1)(g2, mu2) = (g1 g2, mu1 + Ad*_{g1^-1} mu2); exp(xi, n) . (g, mu) = (exp(xi) g, Ad*_{exp(-xi)} mu +
    dexp_{-xi}' n). The generator (xi g, n - ad*_xi mu) is Hamilton's equation for (xi, n) = (dH/dmu, -R_g* dH/dg), so
    the field of SLGI is the field here. `group`: any of the package, a `matrix_group` or a `product`.
    """
    codes, tables = left_factors(group)
    k, d = group_sizes(codes, tables)
    codes = np.array(codes, dtype=np.int64)
    c = np.ascontiguousarray(structure_constants(group))
    law = np.zeros((2 * d, 2 * d, 2 * d))  # [(xi, n), (eta, m)] = ([xi, eta], ad*_eta n - ad*_xi m)
    law[:d, :d, :d] = c
    law[:d, d:, d:] = -np.swapaxes(c, 1, 2)
    law[d:, :d, d:] = np.transpose(c, (2, 0, 1))
    bracket, dexpinv = algebra_kernels(law)

    @closure
    def exp_act(u, y, out):
        back, moved = np.empty(d), np.empty(d)
        for i in range(d):
            back[i] = -u[i]
        move_left((codes, tables), u[:d], y[:k], out[:k])
        coAd_exp((codes, tables), back, y[k:], moved)
        dexp_dual((codes, tables), back, u[d:], out[k:])
        for i in range(d):
            out[k + i] += moved[i]

    @closure
    def generator(u, y, out):
        velocity_left((codes, tables), u[:d], y[:k], out[:k])
        for b in range(d):
            out[k + b] = u[d + b]
            for a in range(d):
                for l in range(d):
                    out[k + b] -= u[a] * c[a, b, l] * y[k + l]

    def nearest(y: np.ndarray) -> np.ndarray:
        rows = [
            np.append(joined(group.project(split(group.shape, row[:k]))), row[k:])
            for row in y.reshape(-1, k + d)
        ]
        return np.reshape(rows, y.shape)

    return Action(
        name=f"T*{group.name} on itself, (g, mu)",
        group=f"T*{group.name}",
        manifold=f"T*{group.name}, (g, mu)",
        algebra=2 * d,
        point=k + d,
        dimension=2 * d,
        exp_act=exp_act,
        dexpinv=dexpinv,
        bracket=bracket,
        generator=generator,
        distance=lambda y: distance_from(group, split(group.shape, y[..., :k])),
        nearest=nearest if getattr(group, "projects", True) else None,
        sample=lambda rng: np.append(joined(group.random(rng)), rng.standard_normal(d)),
    )
