"""What a system offers to the variational integrators: a Lagrangian on a product of groups, forces, constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.arguments import function_of, listed
from ..core.jit import jit
from ..groups.factors import SE3, SO3, algebra_size, point_size
from ..groups.left_factors import group_sizes, left_factors
from ..groups.so3 import back_core, cross_core, mul_core

__all__ = [
    "SE3",
    "SO3",
    "CotangentFormulation",
    "DiscreteLagrangianFormulation",
    "LagrangianFormulation",
    "no_inputs",
]


@jit
def no_inputs(t, y, p):
    """No inputs."""
    return np.empty(0)


@dataclass(frozen=True)
class _OnGroup:
    """What both kinds share: `factors`, a tuple of SO3, SE3 or n for R^n; the state is (g, p), p in the dual algebra.

    Elements g are flat, factor by factor: SO(3) row-major (9), SE(3) rotation and translation (12), R^n (n); p is
    left-trivialised (the momentum in the body), on SE(3) moment first. `encode` and `decode` lead from the system's
    own layout to (g, p) and back, over leading axes; None: the same.

    Inputs u (`inputs` of them) come from the kernel `control(t, y, p)` with y = (g, p), once a step.
    `force(t, z, p)` with z = (g, xi, u) returns f (n), then df/dg, df/dxi (n, n) and df/du (n, inputs), row-major;
    columns are directions, g moves along g exp(s e_j). The dual vector f does the work f . eta on g exp(eta).
    """

    factors: tuple[int, ...]
    kernel: Callable
    params: np.ndarray
    force: Callable | None = None
    control: Callable | None = None
    inputs: int = 0
    encode: Callable | None = None
    decode: Callable | None = None

    def __post_init__(self) -> None:
        for name in ("kernel", "force", "control", "encode", "decode"):
            given = getattr(self, name)
            if given is not None or name == "kernel":
                function_of(name, given, "y" if name.endswith("code") else "t, y, p")
        for code in listed("factors", self.factors, "SO3, SE3 or whole numbers n for R^n"):
            whole = isinstance(code, (int, np.integer)) and not isinstance(code, bool)
            if not whole or (code not in (SO3, SE3) and code < 1):
                raise ValueError(
                    f"factors must be SO3, SE3 or whole numbers n for R^n, got {self.factors!r}"
                )

    @property
    def point(self) -> int:
        """Length of g."""
        return point_size(np.array(self.factors))

    @property
    def dim(self) -> int:
        """n, the dimension of the group."""
        return algebra_size(np.array(self.factors))


@dataclass(frozen=True)
class LagrangianFormulation(_OnGroup):
    """L(g, xi) with xi = g^-1 g' on a product of groups, for the method LGVI.

    The `kernel(t, z, p)` with z = (g, xi) returns L, then dL/dg, dL/dxi (n each), then d2L/dg dg, d2L/dxi dg,
    d2L/dxi dxi (n, n), row-major: the row is the component, the column the direction. A derivative in g is the one of
    g exp(s e_i) at s = 0, so that d2L/dg dg is not symmetric on a group that does not commute.

    `constraint(t, g, p)` returns phi (m), Dphi (m, n) and D2phi (m, n, n), the derivative of Dphi along g exp(s e_j)
    in the last place; `constraints` is m.
    """

    constraint: Callable | None = None
    constraints: int = 0


@dataclass(frozen=True)
class DiscreteLagrangianFormulation(_OnGroup):
    """Ld(g, f), the action of one step from g to g f, for LGVI1 and its symmetric composition LGVI.

    The `kernel(h, z, p)` with z = (g, x), f = exp(x), returns Ld, then Ld_g, Ld_f (n each), then the derivative of
    Ld_f in g and that of Ld_f in f (n, n), row-major. Derivatives are left-trivialised in both, g exp(s e_i) with f
    fixed, f exp(s e_i) with g fixed. It must be defined for negative h too.
    """


@dataclass(frozen=True)
class CotangentFormulation:
    """A Hamiltonian system on T*G in the right trivialisation, for SLGI: f = (dH/dmu, -R_g* dH/dg) of celledoni (14).

    `factors`: a tuple of SO3, SE3 or n for R^n, as for a Lagrangian, or any group (`lielab.se2`, a `matrix_group`, a
    `product`), whose own elements, flat, are then g. y = (g, mu), mu in space. `field(t, y, p)` returns f1 (n), f2
    (n), where at s = 0 <v, f1> = d/ds H(g, mu + s v) and <f2, v> = -d/ds H(exp(s v) g, mu); the flow is g' = f1 g,
    mu' = f2 - ad*_{f1} mu. `lielab.systems.CotangentSystem` makes all of this from H.
    """

    factors: Any
    field: Callable
    params: np.ndarray
    encode: Callable | None = None
    decode: Callable | None = None

    @cached_property
    def group(self) -> tuple[np.ndarray, np.ndarray]:
        """(codes, tables) for the kernels of `groups.left_factors`."""
        codes, tables = self.factors, np.empty(0)
        if not isinstance(codes, (tuple, list)):
            codes, tables = left_factors(codes)
        group_sizes(codes, tables)
        return np.array(codes, dtype=np.int64), tables

    @property
    def point(self) -> int:
        """Length of g."""
        return group_sizes(*self.group)[0]

    @property
    def dim(self) -> int:
        """n, the dimension of the group."""
        return group_sizes(*self.group)[1]


@jit
def store_rigid(J, W, U, torque, derivative, out):
    """The entries of L = W . J W / 2 - U(R) on SO(3), from the torque -dU and its derivative (9); J = diag."""
    out[0] = -U
    for i in range(3):
        out[0] += 0.5 * J[i] * W[i] * W[i]
        out[1 + i], out[4 + i] = torque[i], J[i] * W[i]
        for j in range(3):
            k = 3 * i + j
            out[7 + k], out[16 + k], out[25 + k] = derivative[k], 0.0, J[i] if i == j else 0.0


def momenta_of_velocities(inertia: tuple[float, float, float]) -> tuple[Callable, Callable]:
    """encode, decode between the layouts R, Omega and R, J Omega."""
    J = np.array(inertia)

    def encode(y: np.ndarray) -> np.ndarray:
        y = np.array(y, dtype=float)
        y[..., 9:] *= J
        return y

    def decode(y: np.ndarray) -> np.ndarray:
        y = np.array(y, dtype=float)
        y[..., 9:] /= J
        return y

    return encode, decode


def spatial_momentum(y: np.ndarray) -> np.ndarray:
    """The layout R, R p of states R, p in the body."""
    y = np.array(y, dtype=float)
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    y[..., 9:] = np.einsum("...ij,...j->...i", R, y[..., 9:])
    return y


def body_momentum(y: np.ndarray) -> np.ndarray:
    """The layout R, p in the body of states R, R p."""
    y = np.array(y, dtype=float)
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    y[..., 9:] = np.einsum("...ji,...j->...i", R, y[..., 9:])
    return y


@jit
def spatial_field(y, J, torque, out):
    """f1 = omega = R J^-1 R' pi and f2 = R torque + pi x omega of a rigid body, for y = (R, pi) and J = diag."""
    pi = (y[9], y[10], y[11])
    W = back_core(y, pi)
    w = mul_core(y, (W[0] / J[0], W[1] / J[1], W[2] / J[2]))
    turned = mul_core(y, (torque[0], torque[1], torque[2]))
    gyro = cross_core(pi, w)
    for i in range(3):
        out[i], out[3 + i] = w[i], turned[i] + gyro[i]
