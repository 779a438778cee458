"""What a mechanical system offers to the methods, the diagnostics and the reader."""

from __future__ import annotations

import copy
import inspect
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

import numpy as np

from ..actions import SO3_ON_S2, SO3N_ON_SPHERES, Action
from ..core.arguments import (
    as_real,
    call_once,
    entries,
    matrix_of,
    numbers,
    numbers_of,
    real_array,
    single_precision,
)
from ..core.readers import field_kernel, made_of
from ..core.travel import same, sendable
from ..formulations.forms import ActionFormulation

_UNITS = {
    **dict.fromkeys(("R", "Q", "q"), "1"),
    **dict.fromkeys(("w", "Omega"), "rad/s"),
    **dict.fromkeys(("mu", "pi", "Pi", "p", "p_R"), "kg m^2/s"),
    **dict.fromkeys(("x", "x_q", "x_L", "x_load"), "m"),
    **dict.fromkeys(("v", "v_load"), "m/s"),
    **dict.fromkeys(("p_x", "p_q", "p_L"), "kg m/s"),
    "Gamma": "m/s^2",
}
_SINGLE = 1e-6  # what single precision is off by, beside the largest entry


def settled(name: str, y: np.ndarray, given: Any, home: Any, call: str) -> np.ndarray:
    """The point y, which `home`, a system or an action, has checked; ValueError where it is off the manifold.

    Where numbers were `given` in single precision and their projection is as near as that, it is taken. `call` is the
    reader's name of `home` in the message.
    """
    if single_precision(given):
        with suppress(ValueError):
            near = home.project(y)
            if np.abs(near - y).max() <= _SINGLE * max(1.0, np.abs(y).max()):
                y = near
    try:
        with np.errstate(all="ignore"):
            home.check(y)
        return y
    except ValueError as error:
        text = re.sub(r"\by\b", name, str(error))  # whoever checked it calls it y
    if call:
        text = re.sub(r"use \S*\.project\(", f"use {call}.project(", text)
    raise ValueError(text if text.startswith(name) else f"{name}: {text}")


def _of_states(function: Callable) -> Callable:
    """A method of states (..., dim) that refuses arrays of any other last axis: they would give wrong numbers.

    Numbers that overflow become infinite, or NaN, without a warning.
    """

    @wraps(function)
    def checked(self: System, y: Any, *more: Any, **named: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(self, self._states(y), *more, **named)

    return checked


def _says_of_states(name: str, function: Any) -> bool:
    """Whether it is a public method (self, y, ...)."""
    if name.startswith("_") or not inspect.isfunction(function):
        return False
    return list(inspect.signature(function).parameters)[1:2] == ["y"]


def _of_states_each(invariants: property) -> property:
    """The same for each of the functions that `invariants` names."""

    def checked(self: System) -> dict[str, Callable]:
        def one(function: Callable) -> Callable:
            return lambda y: _of_states(lambda self, y: function(y))(self, y)

        return {name: one(function) for name, function in invariants.fget(self).items()}

    return property(checked, doc=invariants.__doc__)


class System:
    """Base of all systems: a frozen dataclass with a flat state of named parts.

    A subclass gives `parts` (names and shapes, in the order of the state), `y0`, `params`, `formulations`,
    and what it knows of `invariants`, `energy` and `defect`.
    """

    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    units: Mapping[str, str] = _UNITS  # by part, numbered ones by the name without the number
    y0: np.ndarray
    formulations: Mapping[str, Any] = {}
    actions: Mapping[str, ActionFormulation] = {}  # by name, where more than one can be chosen

    def _doubt(self, y: np.ndarray) -> str:
        """What to add to the message of a run that failed after the state y; here nothing."""
        return ""

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Every subclass's energy, invariants and the like, and all that ours say of y, look at its shape first."""
        super().__init_subclass__(**keywords)
        ours = cls.__module__.startswith(f"{__package__}.")
        for name, function in list(vars(cls).items()):
            if name in ("energy", "project", "check", "defect") or (
                ours and _says_of_states(name, function)
            ):
                setattr(cls, name, _of_states(function))
        if isinstance(vars(cls).get("invariants"), property):
            cls.invariants = _of_states_each(vars(cls)["invariants"])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same(self.__getstate__(), other.__getstate__())

    def __hash__(self) -> int:
        return hash((type(self), self.dim))

    def __copy__(self) -> System:
        return self._copied(vars(self))

    def __deepcopy__(self, memo: dict) -> System:
        """What was compiled of the fields is shared."""
        mine = vars(self)
        kept = {name: value for name, value in mine.items() if name.startswith("_kept_")}
        state = {name: value for name, value in mine.items() if name not in kept}
        return self._copied({**copy.deepcopy(state, memo), **kept})

    def _copied(self, state: dict[str, Any]) -> System:
        new = object.__new__(type(self))
        vars(new).update(state)
        return new

    def __reduce_ex__(self, protocol: Any) -> Any:
        sendable(type(self).__name__, self.__getstate__())
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """What comparisons and other processes get: the fields, without what was compiled of them."""
        kept = [n for n in vars(self) if n.startswith("_kept_")]
        kept += [n for n in vars(self) if isinstance(getattr(type(self), n, None), cached_property)]
        return {name: value for name, value in vars(self).items() if name not in kept}

    def _states(self, y: Any) -> np.ndarray:
        """States as a float array (..., dim), or ValueError."""
        try:
            # Not copied where it is what it should be: states may be many.
            found = y if type(y) is np.ndarray and y.dtype == float else real_array(y)
        except (TypeError, ValueError):
            raise ValueError(f"y must hold real numbers, got {y!r}") from None
        if found.shape[-1:] != (self.dim,):
            raise ValueError(
                f"y must have shape (..., {self.dim}), got {found.shape}; the layout is {self.layout()}"
            )
        return found

    @cached_property  # no array as an attribute of the class: `help` would show NumPy's manual
    def params(self) -> np.ndarray:
        """What the kernels get as p."""
        return np.empty(0)

    def unit(self, part: str) -> str:
        """SI unit of a part of the state, "1" for pure numbers and empty where it is not known."""
        names = [name for name, _ in self.parts]
        if not isinstance(part, str) or part not in names:
            raise ValueError(f"part must be one of {', '.join(names[:12])}, got {part!r}")
        return self.units.get(part, self.units.get(part.rstrip("0123456789"), ""))

    def layout(self) -> str:
        """The parts of the flat state and their shapes, in one line of bounded length."""
        named = [f"{name} {shape}" for name, shape in self.parts[:12]]
        return ", ".join(named) + (", ..." if len(self.parts) > 12 else "")

    @property
    def dim(self) -> int:
        """Length of the flat state."""
        return sum(math.prod(shape) for _, shape in self.parts)

    def unpack(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """Named parts of states y (..., dim), each of shape (..., *its own shape)."""
        y = self._states(y)
        named, start = {}, 0
        for name, shape in self.parts:
            stop = start + math.prod(shape)
            named[name] = y[..., start:stop].reshape(y.shape[:-1] + shape)
            start = stop
        return named

    def pack(self, **named: Any) -> np.ndarray:
        """Flat state from its named parts, the inverse of unpack; missing or unknown names are refused."""
        names = [name for name, _ in self.parts]
        if sorted(named) != sorted(names):
            raise ValueError(
                f"pack needs exactly {', '.join(names)}; got {', '.join(named) or 'nothing'}"
            )
        pieces: list[np.ndarray] = []
        for name, shape in self.parts:
            try:
                part = real_array(matrix_of(named[name]))
            except (TypeError, ValueError):
                raise ValueError(f"{name} must hold real numbers, got {named[name]!r}") from None
            batch = part.shape[: part.ndim - len(shape)]
            if part.shape != batch + shape:
                wanted = ", ".join(map(str, shape))
                raise ValueError(
                    f"{name} must have shape ({wanted}{',' * (len(shape) == 1)}) or (..., {wanted}), "
                    f"got {part.shape}"
                )
            if pieces and batch != pieces[0].shape[:-1]:
                raise ValueError(
                    f"{name} has the leading axes {batch}, {names[0]} has {pieces[0].shape[:-1]}; "
                    "all parts need the same"
                )
            pieces.append(part.reshape(*batch, math.prod(shape)))
        return np.concatenate(pieces, axis=-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Conserved quantities by name, each a function of states (..., dim)."""
        return {}

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Energy of states (..., dim), in joules."""
        raise NotImplementedError(f"{type(self).__name__} has no energy")

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of states (..., dim) from the manifold."""
        return self.formulations["action"].action.defect(self._states(y))

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where the state y (dim,) is not on the manifold."""
        self.formulations["action"].action.check(self._states(y))

    def project(self, y: np.ndarray) -> np.ndarray:
        """Nearby states (..., dim) on the manifold, the remedy for hand-typed initial data."""
        return self.formulations["action"].action.project(self._states(y))


def settled_start(system: System, start: Any, home: Any) -> np.ndarray:
    """The start of a reader's own system, read, checked by `home` and kept flat: (n,)."""
    found = entries("start", start, getattr(home, "point", 0))
    if as_real(start) is not None or not np.isfinite(found).all():
        numbers("start", start)  # says so
    found = settled("start", found, start, home, "")
    object.__setattr__(system, "start", tuple(found.tolist()))
    return found


@dataclass(frozen=True, eq=False)
class ActionSystem(System):
    """A reader's own system: an action, a field with values in its algebra, and an initial point.

    `field(t, y, p)` returns an algebra vector (list, tuple or array); it is compiled where Numba can and
    called as Python where not. `start` is flat, or a matrix, a SciPy Rotation, or a tuple of these such as (R, mu);
    it is kept flat. `p` are parameters (any sequence of numbers). `energy_function` and `invariants_of`
    (name -> function of states (..., n)) are optional.

    The field is called once as plain Python when the system is made, at t = 0 and the start. ValueError where it
    reads outside y or p, takes other arguments or returns something else; compiled code would not notice.
    """

    action: Action
    field: Callable
    start: tuple[float, ...]
    p: tuple[float, ...] = ()
    energy_function: Callable | None = None
    invariants_of: Mapping[str, Callable] | None = None

    units = {}  # noqa: RUF012  a reader's own

    def __post_init__(self) -> None:
        if not isinstance(self.action, Action):
            raise ValueError(
                f"action must be an Action, got {self.action!r}; see lielab.actions, such as SO3_ON_S2"
            )
        p = numbers("p", self.p)
        start = settled_start(self, self.start, self.action)
        self.action.attempt(start)
        for name in ("energy_function", "invariants_of"):
            given = getattr(self, name)
            fits = callable(given) if name == "energy_function" else isinstance(given, Mapping)
            if given is not None and not fits:
                what = "a function of states" if name == "energy_function" else "name -> function"
                raise ValueError(f"{name} must be {what}, got {given!r}")
        value = call_once("field", self.field, "t, y, p", 0.0, start, p, sometime=True)
        if value is not None:
            wanted = self.action.algebra_dim(len(start))
            what = f"{wanted} numbers (the algebra of {self.action.group})"
            shape = numbers_of("field", value, what).shape
            if shape != (wanted,):
                raise ValueError(f"field must return {what}, got shape {shape}")

    @property
    def y0(self) -> np.ndarray:
        return np.array(self.start, dtype=float)

    @property
    def params(self) -> np.ndarray:
        return np.array(self.p, dtype=float)

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return (("point", (len(self.y0),)),)

    @made_of("field")
    def formulations(self) -> dict[str, ActionFormulation]:
        size = self.action.algebra_dim(len(self.start))
        kernel = field_kernel(self.field, (0.0, self.y0, self.params), size)
        form = ActionFormulation(self.action, kernel, self.params)
        turned = self.action in (SO3_ON_S2, SO3N_ON_SPHERES)
        return {"action": form, "directions": form} if turned else {"action": form}

    @property
    def invariants(self) -> dict[str, Callable]:
        return dict(self.invariants_of or {})

    def energy(self, y: np.ndarray) -> np.ndarray:
        if self.energy_function is None:
            return super().energy(y)
        return np.asarray(self.energy_function(np.asarray(y, dtype=float)))
