"""What a method is, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.arguments import meant
from ..core.travel import Value, made_by
from ..tableaus import CommutatorFree, ImplicitTableau, Tableau


@dataclass
class Plan:
    """A method made ready for one problem: what `solve` marches.

    `loop(kernels, data, run, y, p, ts, ys, hs)` is compiled; `kernels` is a record of function pointers, `data` one of
    the coefficient and work arrays. `encode` and `decode` convert between the system's layout and the method's
    own (None: the same). `structured` methods refuse a shortened last step. `error_order` is the order of the
    error estimate: it shrinks like h^(error_order + 1). `norms` names the measures of the error that the
    loop knows, the first one being the default. `n_exponentials` counts the exponentials of one step,
    `n_exponentials_hat` those that the estimate adds in an adaptive run. `restarts`: does a state suffice to go
    on from, so that a shorter step can interpolate? `fractions` are the parts of a step of a composition, `rotations`
    the action's own (see there), for the loop to keep.
    `extras(rows, start) -> dict` reads what else a Solution shows from rows of the method's own state, or for the start
    of the run.
    """

    loop: Callable
    kernels: Any
    data: Any
    params: np.ndarray
    encode: Callable | None = None
    decode: Callable | None = None
    structured: bool = False
    n_exponentials: int | None = None
    n_exponentials_hat: int = 0
    error_order: int = 0
    norms: tuple[str, ...] = ()
    restarts: bool = True
    fractions: tuple[float, ...] = ()
    rotations: tuple[tuple[int, int], ...] = ()
    extras: Callable | None = None


@dataclass(frozen=True)
class Method(Value):
    """An integrator: its name, family, order, the formulation it needs, and where it comes from.

    `prepare(formulation, y0, **options) -> Plan` makes it ready; `options` lists the keywords it takes with
    their defaults. `embedded` methods choose the step themselves when none is given. `n_exponentials` is the number of
    exponentials of a step, where the family counts them. `also` names other formulations that `prepare` takes: the same
    method on another kind of space.
    """

    name: str
    family: str
    order: int
    needs: str
    source: str
    prepare: Callable[..., Plan] = field(repr=False, compare=False)
    embedded: bool = False
    n_exponentials: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    also: tuple[str, ...] = ()

    def formulation(self, system: Any) -> str:
        """Name of the first formulation it takes that the system offers; empty where none is."""
        offered = system.formulations
        return next((name for name in (self.needs, *self.also) if name in offered), "")


class Methods(dict[str, Method]):
    """Methods by name; printed as a table."""

    def __repr__(self) -> str:
        rows = [(m.name, str(m.order), m.family, m.source) for m in self.values()]
        rows.insert(0, ("name", "order", "family", "source"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join(lines)


_REGISTRY: dict[str, Method] = {}
_FACTORIES = {Tableau: "rkmk", CommutatorFree: "commutator_free", ImplicitTableau: "implicit_rkmk"}


def check_texts(**named: Any) -> None:
    """ValueError where a name or a source is given that is no text."""
    for name, value in named.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be a text, got {value!r}")


def register(method: Method) -> Method:
    """Add a method under its name; names are unique."""
    if method.name in _REGISTRY:
        raise ValueError(
            f"a method named {method.name!r} is registered already; choose another name"
        )
    _REGISTRY[method.name] = method
    return made_by(method, get, method.name)


def methods() -> Methods:
    """All methods by name: a dict of `Method`, printed as a table of their orders, families and sources."""
    return Methods(_REGISTRY)


def get(method: str | Method) -> Method:
    """The method of that name; a Method is passed through."""
    if isinstance(method, Method):
        return method
    for kind, factory in _FACTORIES.items():
        if isinstance(method, kind):
            raise ValueError(
                f"method must be a name or a Method, got the coefficients {method.name!r}; "
                f"pass lielab.{factory}(tableau)"
            )
    if not isinstance(method, str) or method not in _REGISTRY:
        raise ValueError(
            f"method must be one of {', '.join(sorted(_REGISTRY))}; got {method!r}{meant(method, _REGISTRY)}"
        )
    return _REGISTRY[method]
