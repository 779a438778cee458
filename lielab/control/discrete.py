"""The discrete system that is linearised and controlled: one step of the variational integrator with inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..actions import POINT_TOLERANCE
from ..core.arguments import named_array, number, positive
from ..formulations.lagrangian import LagrangianFormulation, no_inputs
from ..groups.factors import SE3, Ad_inverse, move, pull_slope, tangent_inverse
from ..methods.variational_equations import WEIGHTS
from ..methods.variational_step import new_work
from ..systems.system import System
from . import _loops

# A and B have no pole at 2 pi: an entry of dtauinv so large leaves them half their digits.
_POLE = 1e8
# Where they are interpreted: compiled, the loops warn of nothing.
_QUIET = np.errstate(all="ignore")
_HALF = np.array([0.5, 0.5])  # trapezoidal rule, fan (3)


class DiscreteSystem:
    """The trapezoidal variational integrator of a system with inputs, fan (9) and (10).

    States (g, p) are flat, in the order of the system's `lagrangian` formulation, with the momentum p of the equations:
    with a constraint p is the one *before* the impulse at g, which is not yet tangent to it. `encode` and `decode`
    lead from the system's own layout and back. `n` is the dimension of the group, `k` the length of g, `m` the number
    of inputs, `c` that of constraints.
    """

    def __init__(self, system: System, h: float, retraction: str = "cay") -> None:
        form = getattr(system, "formulations", {}).get("lagrangian")
        if not isinstance(form, LagrangianFormulation):
            raise ValueError(
                f"{type(system).__name__} offers no Lagrangian to linearise; systems with a LagrangianFormulation do"
            )
        if not isinstance(retraction, str) or retraction not in ("cay", "exp"):
            raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
        self.system, self.h, self.form = system, positive("h", h), form
        self.cay = retraction == "cay"
        self.n, self.k, self.m, self.c = form.dim, form.point, form.inputs, form.constraints
        self.params = np.require(form.params, float, "CW")
        self.factors = np.array(form.factors, dtype=np.int64)
        forced = form.force is not None
        self.flags = np.array(
            [WEIGHTS, forced, self.cay, False, self.k, self.m, self.c], dtype=np.int64
        )
        self.kernels = _loops.LoopKernels(
            form.kernel,
            form.force if forced else no_inputs,
            form.constraint if self.c else no_inputs,
        )

    @property
    def dim(self) -> int:
        """Length k + n of a state (g, p)."""
        return self.k + self.n

    def encode(self, y: Any) -> np.ndarray:
        """States (g, p) of states in the system's layout, over leading axes."""
        y = named_array("y", y)
        if y.shape[-1:] != (self.system.dim,):
            raise ValueError(f"y must have shape (..., {self.system.dim}), got {y.shape}")
        return y.copy() if self.form.encode is None else self.form.encode(y)

    def on_group(self, name: str, y: Any) -> np.ndarray:
        """The same; ValueError where an element is off the group: its linearization would mean nothing."""
        encoded, i, worst = self.encode(y), 0, 0.0
        if not np.isfinite(encoded).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        for code in self.form.factors:
            if code <= 0:  # a rotation, first in a rigid motion too
                R = encoded[..., i : i + 9].reshape(-1, 3, 3)
                off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3))
                worst = max(worst, float(off.max(initial=0.0)))
            i += code if code > 0 else 12 if code == SE3 else 9
        if worst > POINT_TOLERANCE:
            raise ValueError(
                f"{name} is not on the group (R'R - 1 has the entry {worst:.3g}): project it first, system.project(y)"
            )
        return encoded

    def decode(self, y: np.ndarray) -> np.ndarray:
        """The inverse of encode."""
        y = named_array("y", y)
        if y.shape[-1:] != (self.dim,):
            raise ValueError(f"y must have shape (..., {self.dim}), got {y.shape}")
        return y.copy() if self.form.decode is None else self.form.decode(y)

    def inputs(self, u: Any) -> np.ndarray:
        """u (m,) as floats; None where there are no inputs."""
        u = np.zeros(0) if u is None else named_array("u", u)
        if u.shape != (self.m,):
            raise ValueError(f"u must have shape ({self.m},), got {u.shape}")
        if not np.isfinite(u).all():
            raise ValueError("u must be finite, got NaN or infinity")
        return u

    @_QUIET
    def step(
        self, y: np.ndarray, u: Any = None, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(g, p) one step later, x with g1 = g tau(x), and the multipliers; ValueError where Newton fails."""
        y1, x, lam, run = np.empty(self.dim), np.zeros(self.n), np.zeros(self.c), _loops.new_run()
        y, t = self._read("y", y, self.dim), number("t", t)
        step = _loops.OneStep(self.inputs(u), self.params, y, x, lam, y1, run)
        _loops.one_step(self.kernels, self.data(), step, t, self.h)
        left = run[_loops.RESIDUAL]
        if left != 0.0:
            raise ValueError(f"no step from t = {t:g}: Newton left {left:.3g}; use a smaller h")
        return y1, x, lam

    def _read(self, name: str, value: Any, size: int) -> np.ndarray:
        """The value as an array (size,), or ValueError: compiled code does not look."""
        found = named_array(name, value)
        if found.shape != (size,):
            raise ValueError(f"{name} must have shape ({size},), got {found.shape}")
        return found

    def data(self) -> Any:
        """What a loop over steps is given, with work arrays of its own."""
        work = new_work(self.n, self.c, self.k, self.m)
        return _loops.LoopData(self.flags, _HALF, self.factors, *work)

    def log(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """log(a^-1 b) of rows of elements (or states, of which the heads count), (rows, n); one a may serve for all."""
        a, b = named_array("a", a), named_array("b", b)
        for name, rows in (("a", a), ("b", b)):
            if rows.ndim != 2 or rows.shape[1] < self.k or not (len(rows) or name == "b"):
                raise ValueError(
                    f"{name} must be rows of at least {self.k} numbers, got {rows.shape}"
                )
        out = np.empty((len(b), self.n))
        _loops.logarithms(self.factors, a, b, out)
        return out

    @_QUIET
    def moved(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The state (g exp(x_g), p + x_p) for x = (x_g, x_p), shape (2 n,)."""
        y, x = self._read("y", y, self.dim), self._read("x", x, 2 * self.n)
        out = y.copy()
        move(self.factors, False, y, x[: self.n], out)
        out[self.k :] = y[self.k :] + x[self.n :]
        return out

    # maps at an increment x, as matrices (n, n)

    @_QUIET
    def dtauinv(self, x: np.ndarray) -> np.ndarray:
        """The inverse of tau's trivialised tangent; ValueError at a turn by 2 pi, where exp's has a pole."""
        out, x = np.zeros((self.n, self.n)), self._read("x", x, self.n)
        tangent_inverse(self.factors, self.cay, x, out)
        if not np.abs(out).max() < _POLE:
            raise ValueError(
                f"the step turns by 2 pi, a pole of dtauinv (|x| = {np.linalg.norm(x):.6g}): use a smaller h, "
                "or retraction='cay'"
            )
        return out

    @_QUIET
    def Ad(self, x: np.ndarray) -> np.ndarray:
        """Ad of tau(x), which is the inverse of tau(-x)."""
        out, x = np.zeros((self.n, self.n)), self._read("x", x, self.n)
        Ad_inverse(self.factors, self.cay, -x, out)
        return out

    @_QUIET
    def dual_slope(self, x: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """d/dx of dtauinv_x^T mu, mu frozen."""
        out, x, mu = (
            np.zeros((self.n, self.n)),
            self._read("x", x, self.n),
            self._read("mu", mu, self.n),
        )
        pull_slope(self.factors, self.cay, x, mu, out)
        return out
