"""Formulations: in which form a system hands its equations to the methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import Action


@dataclass(frozen=True)
class ActionFormulation:
    """y' = generator(field(t, y, p), y): a field with values in the algebra of an action."""

    action: Action
    field: Callable
    params: np.ndarray


@dataclass(frozen=True)
class SymmetricPair:
    """A homogeneous space G/H with [m, m] in h, m the complement of h, for Riemannian methods (leimkuhler 5.2).

    Points are elements q of G, flat; tangent vectors are elements of m, (dim,), by left translation. Kernels:
    `move(w, q)` -> q exp(w), and `double_bracket(w, v)` -> [w, [w, v]], which lies in m.
    """

    name: str
    dim: int
    move: Callable
    double_bracket: Callable


@dataclass(frozen=True)
class MetricFormulation:
    """L = v . G(x) v / 2 - V(x) on a space whose geodesics are known, for Riemannian methods.

    `space`: "sphere" (x a unit vector, v tangent in R^n), an Action by right translations of a group (x a group
    element, flat, or nothing where G and V do not depend on it; v in the algebra, left-trivialised) or a
    SymmetricPair. `momentum`: on a group the state holds G v in place of v.

    Kernels (t, y, p) -> array with y = x, v: `metric` the entries of G(x) row-major, `metric_gradient` the derivative
    of v . G(x) v in x at fixed v, `potential_gradient` the derivative of V: on a sphere ambient and not projected, else
    along x exp(s e_i).
    """

    space: str | Action | SymmetricPair
    metric: Callable
    metric_gradient: Callable
    potential_gradient: Callable
    params: np.ndarray
    momentum: bool = False


@dataclass(frozen=True)
class RigidBodyFormulation:
    """R' = R hat(Omega), J Omega' = J Omega x Omega + torque, for the rigid-body methods.

    `inertia` J = diag (3,), kg m^2; the kernel `torque(t, y, p) -> (3,)` is the torque in the body (N m) at y whose
    first nine entries are R row-major; `torque_derivative(t, y, p) -> (9,)`, where it is known, holds
    d/ds torque_i(R exp(s e_j)) row-major. State: R (9), Omega (3); `encode` and `decode`, where they are given, lead
    from the system's own layout to it and back, over leading axes.
    """

    inertia: tuple[float, float, float]
    torque: Callable
    params: np.ndarray
    torque_derivative: Callable | None = None
    encode: Callable | None = None
    decode: Callable | None = None


@dataclass(frozen=True)
class SpheresFormulation:
    """L = sum M_ij q_i' . q_j' / 2 - V(q) on (S^2)^n, for ELN and RATTLE; state q1, w1, q2, w2, ... with q' = w x q.

    `mass()` gives M (n, n), formed only when it is asked for: a chain may be long. The kernel
    `force(t, y, p) -> (3 n,)` is -dV/dq_i, ambient and not projected.
    """

    mass: Callable[[], Any]
    force: Callable
    params: np.ndarray


def body_momentum_formulation(
    inertia: tuple[float, float, float],
    torque: Callable,
    torque_derivative: Callable,
    params: np.ndarray,
    spatial: bool = False,
) -> RigidBodyFormulation:
    """The rigid-body formulation of a system with the layout R (9), momentum (3), in the body or in space."""
    J = np.array(inertia)

    def turned(y: np.ndarray, vector: np.ndarray, pattern: str) -> np.ndarray:
        return np.einsum(pattern, y[..., :9].reshape(*y.shape[:-1], 3, 3), vector)

    def encode(y: np.ndarray) -> np.ndarray:
        y = np.array(y, dtype=float)
        m = turned(y, y[..., 9:], "...ji,...j->...i") if spatial else y[..., 9:]
        y[..., 9:] = m / J
        return y

    def decode(y: np.ndarray) -> np.ndarray:
        y = np.array(y, dtype=float)
        m = J * y[..., 9:]
        y[..., 9:] = turned(y, m, "...ij,...j->...i") if spatial else m
        return y

    return RigidBodyFormulation(inertia, torque, params, torque_derivative, encode, decode)
