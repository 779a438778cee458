"""What `solve` returns: the trajectory, how it was computed, and its values between the steps."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from .core.arguments import real_array
from .core.travel import same
from .systems import System

# Times outside the run by less than this fraction of it are rounding.
_ROUND = 1e-12
_SAME = 4e-16  # of a time: two that differ by less are one
# What a solution asks its run for.
_RUN = ("flow", "between")


def _soft(name: str, caller: str) -> Any:
    """A library that is asked for only here."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"{caller} needs {name}, which is not installed; install it with: pip install {name}"
        ) from None


@dataclass(repr=False, eq=False)
class Solution:
    """What `solve` returns, also when it ended early.

    t (n,), t[0] = t0; y (n, dim), one row per saved time, in the system's layout; h (n - 1,) the accepted steps that
    lead to the rows after the first; nfev calls of the field; nsteps accepted and nrejected steps; success, status (0
    at the end, 1 at a terminal event, negative for a failure), message; method (its name) and system. Named parts of
    the state are attributes: sol.R, sol.mu, sol.q. `n_exponentials` is the number of exponentials of one step, where
    the family counts them. What is counted is what the steps took, up to the one in which a terminal event ended the
    run; looks between the steps, for events or by `sol(t)`, are not.
    With events, `t_events` and `y_events` hold one array of times (k,) and one of states (k, dim) for each.

    `sol(t)` gives the state between the steps: (dim,) for a number, (n, dim) for n times.
    """

    t: np.ndarray
    y: np.ndarray
    h: np.ndarray
    nfev: int
    nsteps: int
    nrejected: int
    success: bool
    status: int
    message: str
    method: str
    system: System
    extras: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    n_exponentials: int | None = None
    t_events: list[np.ndarray] | None = None
    y_events: list[np.ndarray] | None = None
    save_every: int = 1
    flow: Callable | None = field(default=None, repr=False, compare=False)
    between: Callable | None = field(default=None, repr=False, compare=False)

    def __getattr__(self, name: str) -> np.ndarray:
        if not name.startswith("_") and "system" in self.__dict__:
            if name in dict(self.system.parts):
                return self.system.unpack(self.y)[name]
            if name in self.extras:
                return self.extras[name]
            known = ", ".join([*dict(self.system.parts), *self.extras])
            raise AttributeError(
                f"Solution has no attribute {name!r}; the parts of this state: {known}"
            )
        raise AttributeError(f"Solution has no attribute {name!r}")

    def __repr__(self) -> str:
        end = "success" if self.success else self.message
        steps = "1 step" if self.nsteps == 1 else f"{self.nsteps} steps"
        return (
            f"<Solution {self.method} of {type(self.system).__name__}, "
            f"t = {self.t[0]:g} to {self.t[-1]:g}, {steps}, {end}>"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dict(self.system.parts), *self.extras]

    def __eq__(self, other: object) -> bool:
        """The same run: equal times, states, counts and system."""
        if not isinstance(other, Solution):
            return NotImplemented
        compared = [f.name for f in fields(self) if f.compare]
        return all(same(getattr(self, name), getattr(other, name)) for name in compared)

    __hash__ = None  # type: ignore[assignment]  # its arrays may change

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, **dict.fromkeys(_RUN)}  # kernels do not travel between processes

    def __copy__(self) -> Solution:
        return replace(self)

    def __deepcopy__(self, memo: dict) -> Solution:
        own = {
            f.name: copy.deepcopy(getattr(self, f.name), memo)
            for f in fields(self)
            if f.name not in _RUN
        }
        return replace(self, **own)

    def energy(self) -> np.ndarray:
        """Energy at the saved times, shape (n,)."""
        return self.system.energy(self.y)

    def invariants(self) -> dict[str, np.ndarray]:
        """The system's conserved quantities at the saved times, by name."""
        return {name: function(self.y) for name, function in self.system.invariants.items()}

    def defect(self) -> np.ndarray:
        """Distance of the saved states from the manifold, shape (n,)."""
        return self.system.defect(self.y)

    def _table(self) -> dict[str, tuple[np.ndarray, str]]:
        """Parts of the state and the method's extras by name, (n, *shape) each, with their units."""
        named = {
            name: (value, self.system.unit(name))
            for name, value in self.system.unpack(self.y).items()
        }
        return {**named, **{name: (np.asarray(value), "") for name, value in self.extras.items()}}

    def _about(self) -> dict[str, str]:
        """What the tables say of the run."""
        return {"method": self.method, "system": repr(self.system), "message": self.message}

    def to_dataframe(self) -> Any:
        """The saved times and states as a `pandas.DataFrame`: one row a time, indexed by t (s), one column a number.

        Columns are named by part and place, "R[0,2]", "mu[1]". `attrs` holds method, system, message and "units", a
        dict column -> SI unit ("1" for pure numbers, empty where it is not known). ImportError without pandas.
        """
        pandas = _soft("pandas", "to_dataframe")
        columns, units = {}, {}
        for name, (value, unit) in self._table().items():
            for place in np.ndindex(value.shape[1:]):
                label = f"{name}[{','.join(map(str, place))}]" if place else name
                columns[label], units[label] = value[(slice(None), *place)], unit
        frame = pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))
        frame.attrs.update(self._about(), units=units)
        return frame

    def to_xarray(self) -> Any:
        """The saved times and states as an `xarray.Dataset`: one variable a part, dimensions ("t", "R_0", "R_1").

        The unit of each variable is in its attribute "units" ("1" for pure numbers, left out where it is not known);
        method, system and message are those of the Dataset. ImportError without xarray.
        """
        xarray = _soft("xarray", "to_xarray")
        variables = {}
        for name, (value, unit) in self._table().items():
            axes = ("t", *(f"{name}_{i}" for i in range(value.ndim - 1)))
            variables[name] = (axes, value, {"units": unit} if unit else {})
        time = ("t", self.t, {"units": "s"})
        return xarray.Dataset(variables, coords={"t": time}, attrs=self._about())

    def __call__(self, t: Any) -> np.ndarray:
        """State at any time of the run: shape (dim,) for a number, (..., dim) for times of shape (...).

        The method itself takes a shorter step from the last step before t. So the result lies on the manifold,
        equals `y` at the saved times, and is as accurate as they are: of the order of the method. It is
        continuous; its slope jumps at a step by about the local error over h. Where only every k-th step was
        saved, the steps in between are taken again. SciPy's methods interpolate with SciPy's polynomials.

        Raises ValueError for times outside the run.
        """
        try:
            times = real_array(t)
        except (TypeError, ValueError):
            raise ValueError(f"t must be a time or an array of times, got {t!r}") from None
        flat = np.atleast_1d(times).ravel()
        start, end = self.t[0], self.t[-1]
        low, high = min(start, end), max(start, end)
        slack = _ROUND * (high - low)
        if not (np.all(flat >= low - slack) and np.all(flat <= high + slack)):
            raise ValueError(f"t must lie in the run, between {low} and {high}; got {t!r}")
        direction = 1.0 if end >= start else -1.0
        index = np.searchsorted(direction * self.t, direction * flat, side="right") - 1
        index = np.clip(index, 0, max(0, len(self.t) - 2))
        result = np.array(self.y[index])
        moved = flat != self.t[index]
        exact = flat == self.t[np.minimum(index + 1, len(self.t) - 1)]
        result[exact] = self.y[np.minimum(index + 1, len(self.t) - 1)][exact]
        todo = np.flatnonzero(moved & ~exact)
        if todo.size and self.flow is None:
            raise ValueError(
                "this solution cannot be evaluated between its steps: it came from another process, or its method "
                "keeps more than the state; use the saved times sol.t"
            )
        if todo.size:
            result[todo] = self._between(flat[todo], index[todo], direction)
        return result.reshape(times.shape + (self.y.shape[1],))

    def _between(self, t: np.ndarray, index: np.ndarray, direction: float) -> np.ndarray:
        """States at times t strictly between the saved times index and index + 1."""
        assert self.flow is not None  # the caller has refused
        assert self.between is not None
        if self.save_every == 1:
            return self._moved(self.t[index], self.y[index], t, self.h[index])
        t0, y0, full = np.empty(len(t)), np.empty((len(t), self.y.shape[1])), np.empty(len(t))
        for i in np.unique(index):
            knots, states = self.between(i, self.t[i], self.y[i], self.save_every)
            steps = np.diff(knots, append=self.t[i + 1])
            mine = np.flatnonzero(index == i)
            last = np.searchsorted(direction * knots, direction * t[mine], side="right") - 1
            t0[mine], y0[mine], full[mine] = knots[last], states[last], steps[last]
        return self._moved(t0, y0, t, full)

    def _moved(self, t0: np.ndarray, y0: np.ndarray, t: np.ndarray, full: np.ndarray) -> np.ndarray:
        """States at t (n,) from steps (t0, y0) of size full; t that is t0 but for rounding leaves a step no size."""
        states = np.array(y0)
        todo = np.abs(t - t0) > _SAME * np.maximum(np.abs(t), np.abs(full))
        if todo.any():
            states[todo] = self.flow(t0[todo], y0[todo], (t - t0)[todo], full=full[todo])  # type: ignore[misc]
        return states
