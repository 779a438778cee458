"""A reader's own Hamiltonian system on T*G, for any group of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arguments import call_once, entries, numbers, numbers_of
from .._fields import field_kernel, made_of, point_kernel
from .._jit import closure
from ..actions import Action, cotangent_action
from ..groups._flat import shapes, split
from ..groups._left_factors import move_left
from ._formulations import ActionFormulation
from ._lagrangian import CotangentFormulation
from ._system import System, settled
from .rigid_body import _D1, _D2, _D3, _STEP

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
    both come from differences of order 6 (good to about 1e-12). One of the two is enough, with a field alone there is
    no energy; a field may depend on t, or hold forces besides. Both are plain Python and are compiled where Numba can.
    The flow is g' = f1 g, mu' = f2 - ad*_{f1} mu, celledoni (12)-(14). `invariants_of`: name -> function of states
    (..., dim).

    ValueError for what is no group, for a start outside it, and for a field that is not that of the Hamiltonian at
    the start (leave out the Hamiltonian if the field holds other forces).
    """

    group: Any
    start: tuple[Any, Any]
    hamiltonian: Callable | None = None
    field: Callable | None = None
    p: tuple[float, ...] = ()
    invariants_of: Mapping[str, Callable] | None = None

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
        formulation = CotangentFormulation(self.group, None, np.empty(0))
        found = _differences(formulation, lambda t, y, p: (self.hamiltonian(y, p),))(0.0, y, p)
        if np.abs(value - found).max() > _APART * (1.0 + np.abs(found).max()):
            raise ValueError(
                f"field is not (dH/dmu, -R_g* dH/dg) at the start: got {value}, differences of the hamiltonian give "
                f"{found}; leave field out to use differences"
            )

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

    @made_of("hamiltonian", "field")
    def formulations(self) -> dict[str, Any]:
        y, p = self.y0, self.params
        if self.field is not None:
            kernel = field_kernel(self.field, (0.0, y, p))
        else:
            H = point_kernel(self.hamiltonian, y.shape, (y, p))
            kernel = closure(_differences(CotangentFormulation(self.group, None, p), H))
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

    def energy(self, y: np.ndarray) -> np.ndarray:
        """H of states (..., dim)."""
        if self.hamiltonian is None:
            raise NotImplementedError("this CotangentSystem has no hamiltonian, give one")
        y, p = np.asarray(y, dtype=float), self.params
        values = [float(self.hamiltonian(row.copy(), p)) for row in y.reshape(-1, self.dim)]
        return np.array(values).reshape(y.shape[:-1])


def _differences(formulation: CotangentFormulation, H: Callable) -> Callable:
    """The field (dH/dmu, -R_g* dH/dg) of a kernel H(t, y, p) -> (1,), by central differences of order 6."""
    codes, tables = formulation.group
    n, k = formulation.dim, formulation.point

    def field(t, y, p):
        out, z, v = np.zeros(2 * n), y.copy(), np.zeros(n)
        for i in range(n):
            for j, c in ((1, _D1), (2, _D2), (3, _D3)):
                for sign in (-1.0, 1.0):
                    s = sign * j * _STEP
                    z[k + i] = y[k + i] + s
                    out[i] += sign * c * H(t, z, p)[0]
                    z[k + i] = y[k + i]
                    v[i] = s
                    move_left((codes, tables), v, y[:k], z[:k])
                    out[n + i] -= sign * c * H(t, z, p)[0]
                    v[i] = 0.0
                    for l in range(k):
                        z[l] = y[l]
        return out

    return field
