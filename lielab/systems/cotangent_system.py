"""A reader's own Hamiltonian system on T*G, for any group of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..actions import Action, cotangent_action
from ..core.arguments import call_once, entries, numbers, numbers_of
from ..core.differences import (
    compared,
    doubt,
    errors_of,
    gradient_kernel,
    largest_errors,
    refuse_poor,
)
from ..core.jit import closure, lent
from ..core.readers import field_kernel, made_of, point_kernel
from ..formulations.forms import ActionFormulation
from ..formulations.lagrangian import CotangentFormulation
from ..groups.flat import shapes, split
from ..groups.left_factors import move_left
from .system import System, settled

_APART = 1e-6  # of the size of f: more than differences are off by, less than a wrong sign


@dataclass(frozen=True, eq=False)
class CotangentSystem(System):
    """A reader's own: Hamilton's equations on T*G in the right trivialisation, for SLGI and all methods of actions::

        def H(y, p):                                     # y = (g, mu): here g = y[:9] a motion of the plane, mu = y[9:]
            return 0.5 * (y[9] ** 2 + y[10] ** 2 + 2 * y[11] ** 2) + p[0] * y[2] ** 2

        system = CotangentSystem(lielab.se2, (np.eye(3), [0.3, 0.1, -0.2]), H, p=(2.0,))
        lielab.solve(system, (0, 10), method="SLGI", h=0.01, theta=0.5)

    `group`: lielab.so2, so3, se2, se3, quaternions, cotangent_so3, rn(n), a `matrix_group` (special_linear(2), ...) or
    a `product` of them. `start` = (g, mu): an element of the group as its functions take it (or a SciPy Rotation),
    and n numbers, the momentum in space. State: the entries of g, matrices row-major, then mu; parts g (g1, g2, ... of
    tuples) and mu.

    `hamiltonian(y, p)` returns H as a number; `field(t, y, p)`, if given, the 2 n numbers f1 = dH/dmu and
    f2 = -R_g* dH/dg, that is <v, f1> = d/ds H(g, mu + s v) and <f2, v> = -d/ds H(exp(s v) g, mu) at s = 0. Without it
    both come from differences of order 6, with steps that follow H: off by about 1e-12 of the derivative where H is
    smooth, plus some 1e-14 of |H| over the scale on which it varies (take a large constant out of H).
    `difference_error(y)` shows the estimate; a state in which it is worse than 1e-6 ends the run. One of the two
    functions is enough, with a field alone there is no energy; a field may depend on t, or hold forces besides. Both
    are plain Python and are compiled where Numba can. The flow is g' = f1 g, mu' = f2 - ad*_{f1} mu, celledoni
    (12)-(14). `invariants_of`: name -> function of states (..., dim).

    ValueError for what is no group, for a start outside it, for differences that do not settle there, and for a field
    that is not that of the Hamiltonian at the start (leave out the Hamiltonian if the field holds other forces).
    """

    group: Any
    start: tuple[Any, Any]
    hamiltonian: Callable | None = None
    field: Callable | None = None
    p: tuple[float, ...] = ()
    invariants_of: Mapping[str, Callable] | None = None

    units = {}  # noqa: RUF012  a reader's own

    def __post_init__(self) -> None:
        if not hasattr(self.group, "name"):
            raise ValueError(f"group must be a group such as lielab.so3, got {self.group!r}")
        formulation = CotangentFormulation(self.group, None, np.empty(0))
        n, k = formulation.dim, formulation.point
        p, y = numbers("p", self.p), self.y0
        if y.shape != (k + n,):
            raise ValueError(
                f"start must be an element of {self.group.name} ({k} numbers) and mu ({n}), got {len(y)} in all"
            )
        settled_y = settled("start", y, self.start, self, "")
        if settled_y is not y:  # projected
            y = settled_y
            object.__setattr__(self, "start", (split(self.group.shape, y[:k]), y[k:]))
        if self.hamiltonian is None and self.field is None:
            raise ValueError("give hamiltonian(y, p), or field(t, y, p), or both")
        if self.hamiltonian is not None:
            value = call_once("hamiltonian", self.hamiltonian, "y, p", y, p)
            value = numbers_of("hamiltonian", value, "a number")
            if value.ndim != 0:
                raise ValueError(f"hamiltonian must return a number, got shape {value.shape}")
        if self.field is not None:
            value = call_once("field", self.field, "t, y, p", 0.0, y, p, sometime=True)
            if value is not None:
                value = numbers_of("field", value, f"{2 * n} numbers, f1 and f2")
                if value.shape != (2 * n,):
                    raise ValueError(
                        f"field must return {2 * n} numbers, f1 and f2, got shape {value.shape}"
                    )
                self._compare(value, y, p)

    def _compare(self, value: np.ndarray, y: np.ndarray, p: np.ndarray) -> None:
        """Raise ValueError where the field at the start is not that of the Hamiltonian."""
        if self.hamiltonian is None:
            return
        n, curves, scales = len(value) // 2, *self._curves(y, p)
        # each of f1 and f2 on its own: they have different units
        f1, off1 = compared(value[:n], curves[:n], scales[:n], _APART)
        minus_f2, off2 = compared(-value[n:], curves[n:], scales[n:], _APART)
        if not max(off1, off2) <= _APART:
            raise ValueError(
                f"field is not (dH/dmu, -R_g* dH/dg) at the start: got {value}, differences of the hamiltonian give "
                f"{np.concatenate([f1, -minus_f2])}; leave field out to use differences"
            )

    def _curves(self, y: np.ndarray, p: np.ndarray) -> tuple[list[Callable], list[float]]:
        """The hamiltonian as plain Python along the directions of mu, then of g, and guesses at their scales."""
        formulation = CotangentFormulation(self.group, None, np.empty(0))
        n, k = formulation.dim, formulation.point
        codes, tables = formulation.group

        def along(i: int) -> Callable:
            e = np.eye(n)[i % n]

            def of(s: float) -> float:
                z = y.copy()
                if i < n:
                    z[k:] += s * e
                else:
                    move_left((codes, tables), s * e, y[:k], z[:k])
                return float(self.hamiltonian(z, p))

            return of

        scales = [float(np.abs(y[k:]).max()) or 1.0] * n + [1.0] * n
        return [along(i) for i in range(2 * n)], scales

    @property
    def y0(self) -> np.ndarray:
        try:
            g, mu = self.start
            point = CotangentFormulation(self.group, None, np.empty(0)).point
            return np.concatenate([entries("start", g, point), entries("start", mu)])
        except (TypeError, ValueError):
            raise ValueError(
                f"start must be a pair (g, mu) of an element of {self.group.name} and numbers, got {self.start!r}"
            ) from None

    @property
    def params(self) -> np.ndarray:
        return np.array(self.p, dtype=float)

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        found = shapes(self.group.shape)
        names = ["g"] if len(found) == 1 else [f"g{i + 1}" for i in range(len(found))]
        return (*zip(names, found, strict=True), ("mu", (self.group.dim,)))

    @cached_property
    def _action(self) -> Action:
        return cotangent_action(self.group)

    @made_of("hamiltonian")
    def _slopes(self) -> Callable:
        """The derivatives of the hamiltonian as a kernel, see `_slopes`."""
        y, p = self.y0, self.params
        H = point_kernel(self.hamiltonian, y.shape, (y, p))
        kernel = _slopes(CotangentFormulation(self.group, None, p), H, (0.0, y, p))
        errors = errors_of(kernel, 2 * self.group.dim, 1, 0.0, y, p)
        refuse_poor("hamiltonian", errors, "give field(t, y, p)")
        return kernel

    @made_of("hamiltonian", "field")
    def formulations(self) -> dict[str, Any]:
        y, p = self.y0, self.params
        if self.field is not None:
            kernel = field_kernel(self.field, (0.0, y, p))
        else:
            kernel = _differences(self._slopes, self.group.dim)
        return {
            "action": ActionFormulation(self._action, kernel, p),
            "cotangent": CotangentFormulation(self.group, kernel, p),
        }

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where g is no element of the group."""
        self._action.check(y)

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of g from the group, for states (..., dim)."""
        return self._action.defect(self._states(y))

    def project(self, y: np.ndarray) -> np.ndarray:
        """States (dim,) or (..., dim) with g the nearest element (a near one where the group has no project)."""
        return self._action.project(y)

    @property
    def invariants(self) -> dict[str, Callable]:
        return dict(self.invariants_of or {})

    def _doubt(self, y: np.ndarray) -> str:
        return doubt(float(self.difference_error(y)), "give field(t, y, p)")

    def difference_error(self, y: np.ndarray) -> np.ndarray:
        """Estimated relative error of the differences of H in states (..., dim), the largest of all directions.

        Relative to the derivative or, where that is smaller, to |H| over the scale of H. Zero where `field` is given.
        """
        y = self._states(y)
        if self.field is not None:
            return np.zeros(y.shape[:-1])
        return largest_errors(self._slopes, 2 * self.group.dim, 1, y, self.params)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """H of states (..., dim)."""
        if self.hamiltonian is None:
            raise NotImplementedError("this CotangentSystem has no hamiltonian, give one")
        y, p = np.asarray(y, dtype=float), self.params
        values = [float(self.hamiltonian(row.copy(), p)) for row in y.reshape(-1, self.dim)]
        return np.array(values).reshape(y.shape[:-1])


def _slopes(formulation: CotangentFormulation, H: Callable, start: tuple) -> Callable:
    """slopes(t, y, p, out, errors) of a kernel H(t, y, p) -> (1,): out (2 n, 1) = dH/dmu, d/ds H(exp(s e_i) g, mu).

    `start` = (t, y, p), where the steps of the differences are chosen.
    """
    codes, tables = formulation.group
    n, k = formulation.dim, formulation.point

    def along(t, y, p, i, s, z, V, row):
        y, p, z, V = lent(y), lent(p), lent(z), lent(V)
        if i < n:
            z[k + i] = y[k + i] + s
            V[row, 0] = H(t, z, p)[0]
            z[k + i] = y[k + i]
        else:
            v = z[k + n :]
            v[i - n] = s
            move_left((codes, tables), v, y[:k], z[:k])
            V[row, 0] = H(t, z, p)[0]
            v[i - n] = 0.0
            for l in range(k):
                z[l] = y[l]

    y, point = start[1], np.empty(k)
    blocks = [(k, k + n, np.abs(y[k:]).max() or 1.0)] * n
    size = np.abs(y[:k]).max()
    for e in np.eye(n):  # the scale of a curve: where it has moved g by its own size
        move_left((codes, tables), e, y[:k], point)
        moved = np.abs(point - y[:k]).max()
        blocks.append((0, k, (size / moved if moved else size) or 1.0))
    return gradient_kernel(along, (2 * n, 1), k + n, start, blocks=blocks, extra=n)


def _differences(slopes: Callable, n: int) -> Callable:
    """The field (dH/dmu, -R_g* dH/dg)."""

    def field(t, y, p):
        out, errors, f = np.empty((2 * n, 1)), np.empty(2 * n), np.empty(2 * n)
        slopes(t, y, p, out, errors)
        for i in range(n):
            f[i], f[n + i] = out[i, 0], -out[n + i, 0]
        return f

    return closure(field)
