"""Retractions: maps from the algebra to the group that replace exp, each with its tangent and the inverses.

    exp     the exponential
    cay     Cayley's map, second order to exp; only rational operations
    ccsk    canonical coordinates of the second kind, first order to exp; on SO(3) and SE(3)

`of_coefficients` makes one on SO(3) from ortolan (2.3)-(2.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import so3
from .batch import read


@dataclass(frozen=True)
class Retraction:
    """map: algebra -> group; inverse; tangent and tangent_inverse are right-trivialised matrices.

    d/dt map(u) = hat(tangent(u) u') map(u). `order` is the largest p with map(u) = exp(u) + O(|u|^(p+1)),
    0 standing for exp itself, which agrees to every order. `inverse` is None where there is no formula.
    """

    name: str
    group: Any
    order: int
    map: Callable
    tangent: Callable
    tangent_inverse: Callable
    inverse: Callable | None = None

    def tangent_left(self, u: Any) -> np.ndarray:
        """Left-trivialised tangent, d/dt map(u) = map(u) hat(tangent_left(u) u')."""
        return self.group.Ad(self.group.inverse(self.map(u))) @ self.tangent(u)


_ORDERS = {"exp": 0, "cay": 2, "ccsk": 1}


def retraction(group: Any, name: str = "exp") -> Retraction:
    """The retraction `name` of a group: "exp", "cay" or "ccsk".

    Raises ValueError for a name that is not known or that the group does not offer (Cayley on SL(n)).
    """
    if not hasattr(group, "name"):
        raise ValueError(f"group must be a group such as lielab.so3, got {group!r}")
    if not isinstance(name, str) or name not in _ORDERS:
        raise ValueError(f"retraction must be one of {', '.join(_ORDERS)}, got {name!r}")
    if name == "cay" and getattr(group, "form", True) is None:
        raise ValueError(
            f"{group.name} offers no Cayley map: it is not declared quadratic (g'P g = P); use 'exp'"
        )
    if not hasattr(group, name):
        raise ValueError(f"{group.name} does not offer {name!r}; use 'exp' or 'cay'")
    return Retraction(
        name=name,
        group=group,
        order=_ORDERS[name],
        map=getattr(group, name),
        inverse=group.log if name == "exp" else getattr(group, f"{name}inv"),
        tangent=getattr(group, f"d{name}"),
        tangent_inverse=getattr(group, f"d{name}inv"),
    )


def of_coefficients(
    name: str, c1: Callable, c2: Callable, dc2: Callable, order: int = 1
) -> Retraction:
    """Retraction F(u) = 1 + c1 hat(u) + c2 hat(u)^2 on SO(3), its tangent by ortolan (2.4)-(2.5).

    c1, c2 and dc2, the derivative of c2, are functions of arrays theta > 0; at theta = 0 they are called
    with 1e-9, so closed forms that divide by theta serve. The tangent is
    dF = c1 1 + c2 hat(u) + c3 u u', c3 = (c2' + c2^2 theta)/(c1 theta). For F(u) to be a rotation
    (theta c1)^2 + (1 - theta^2 c2)^2 = 1 must hold; ValueError where it does not.
    """

    def data(u: Any) -> tuple:
        u = read("u", u, so3.ALGEBRA)
        theta = np.maximum(np.linalg.norm(u, axis=-1), 1e-9)
        return u, theta, so3.hat(u)

    def blend(a: Any, b: Any, X: np.ndarray, c: Any, Y: np.ndarray) -> np.ndarray:
        def wide(x: Any) -> np.ndarray:
            return np.asarray(x)[..., None, None]

        return wide(a) * np.eye(3) + wide(b) * X + wide(c) * Y

    def value(u: Any) -> np.ndarray:
        u, theta, X = data(u)
        F = blend(np.ones(theta.shape), c1(theta), X, c2(theta), X @ X)
        defect = np.abs(np.swapaxes(F, -1, -2) @ F - np.eye(3)).max(initial=0.0)
        if defect > 1e-6:
            raise ValueError(
                f"c1 and c2 do not give rotations (defect {defect:.3g}): (theta c1)^2 + (1 - theta^2 c2)^2 must be 1"
            )
        return F

    def tangent(u: Any) -> np.ndarray:
        u, theta, X = data(u)
        c3 = (dc2(theta) + c2(theta) ** 2 * theta) / (c1(theta) * theta)
        return blend(c1(theta), c2(theta), X, c3, u[..., :, None] * u[..., None, :])

    def tangent_inverse(u: Any) -> np.ndarray:
        return np.linalg.inv(tangent(u))

    return Retraction(name, so3, order, value, tangent, tangent_inverse)
