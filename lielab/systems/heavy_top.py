"""The heavy top: a rigid body with a fixed point in gravity, in the four forms of celledoni 3.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import COTANGENT_LEFT, COTANGENT_RIGHT, COTANGENT_RIGHT_R6, SE3_ON_DUAL
from ..core.arguments import moments, moments_about_pivot, one_of, positive, vector
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation, body_momentum_formulation
from ..formulations.lagrangian import (
    SO3,
    CotangentFormulation,
    LagrangianFormulation,
    body_momentum,
    spatial_momentum,
    store_rigid,
)
from ..groups import so3
from ..groups.so3 import cross_core, mul_core
from .system import System

# p = I (3), c = M l chi (3), Gamma0 (3)


@jit
def spatial_velocity_core(Q, pi, p):
    """omega = Q I^-1 Q^T pi for a row-major Q."""
    W = (
        (Q[0] * pi[0] + Q[3] * pi[1] + Q[6] * pi[2]) / p[0],
        (Q[1] * pi[0] + Q[4] * pi[1] + Q[7] * pi[2]) / p[1],
        (Q[2] * pi[0] + Q[5] * pi[1] + Q[8] * pi[2]) / p[2],
    )
    return mul_core(Q, W)


@jit
def right_field(t, y, p):
    """f = (omega, M l Gamma0 x Q chi + pi x omega): the generator adds omega x pi (celledoni (21)-(22))."""
    pi = (y[9], y[10], y[11])
    w = spatial_velocity_core(y, pi, p)
    torque = cross_core((p[6], p[7], p[8]), mul_core(y, (p[3], p[4], p[5])))
    gyro = cross_core(pi, w)
    out = np.empty(6)
    for i in range(3):
        out[i] = w[i]
        out[3 + i] = torque[i] + gyro[i]
    return out


@jit
def left_field(t, y, p):
    """f = (-I^-1 Pi, M l Gamma x chi) with Gamma = Q^T Gamma0 (celledoni (19)-(20))."""
    gamma = (
        y[0] * p[6] + y[3] * p[7] + y[6] * p[8],
        y[1] * p[6] + y[4] * p[7] + y[7] * p[8],
        y[2] * p[6] + y[5] * p[7] + y[8] * p[8],
    )
    torque = cross_core(gamma, (p[3], p[4], p[5]))
    out = np.empty(6)
    for i in range(3):
        out[i] = -y[9 + i] / p[i]
        out[3 + i] = torque[i]
    return out


@jit
def top_torque(t, y, p):
    """M l Gamma x chi, in the body."""
    gamma = (
        y[0] * p[6] + y[3] * p[7] + y[6] * p[8],
        y[1] * p[6] + y[4] * p[7] + y[7] * p[8],
        y[2] * p[6] + y[5] * p[7] + y[8] * p[8],
    )
    out = np.empty(3)
    out[0], out[1], out[2] = cross_core(gamma, (p[3], p[4], p[5]))
    return out


@jit
def top_torque_derivative(t, y, p):
    """Gamma moves by Gamma x d: column j is (Gamma x e_j) x c = (Gamma . c) e_j - (e_j . c) Gamma, c = M l chi."""
    out = np.empty(9)
    for i in range(3):
        gamma = y[i] * p[6] + y[3 + i] * p[7] + y[6 + i] * p[8]
        for j in range(3):
            out[3 * i + j] = -gamma * p[3 + j]
    trace = out[0] + out[4] + out[8]
    for i in range(3):
        out[4 * i] -= trace
    return out


@jit
def top_lagrangian(t, z, p):
    """Omega . I Omega / 2 - M l Gamma . chi with its derivatives."""
    out, c = np.empty(34), (p[3], p[4], p[5])
    height = mul_core(z, c)
    U = p[6] * height[0] + p[7] * height[1] + p[8] * height[2]
    torque, slopes = top_torque(t, z, p), top_torque_derivative(t, z, p)
    store_rigid((p[0], p[1], p[2]), (z[9], z[10], z[11]), U, torque, slopes, out)
    return out


@jit
def _se3dual(t, y, p):
    """f = -(I^-1 Pi, M l chi), minus the differential of the Hamiltonian (celledoni (23)-(24))."""
    out = np.empty(6)
    for i in range(3):
        out[i] = -y[3 + i] / p[i]
        out[3 + i] = -p[3 + i]
    return out


@jit
def _quadratic(t, y, p):
    """f = (omega, -Gamma0 x Q p + pi x omega, 0, p - Q^T Gamma0) (celledoni (29)-(32))."""
    pi, P = (y[9], y[10], y[11]), (y[12], y[13], y[14])
    w = spatial_velocity_core(y, pi, p)
    torque = cross_core(mul_core(y, P), (p[6], p[7], p[8]))
    gyro = cross_core(pi, w)
    out = np.zeros(12)
    for i in range(3):
        out[i] = w[i]
        out[3 + i] = torque[i] + gyro[i]
        out[9 + i] = P[i] - (y[i] * p[6] + y[3 + i] * p[7] + y[6 + i] * p[8])
    return out


@jit
def _quadratic_cotangent(t, y, p):
    """The same on T*(SO(3) x R^3) for y = (Q, q, pi, p): f1 = (omega, q'), f2 = (torque + pi x omega, 0)."""
    z = np.empty(18)
    for i in range(9):
        z[i] = y[i]
    for i in range(3):
        z[9 + i], z[12 + i], z[15 + i] = y[12 + i], y[15 + i], y[9 + i]
    f = _quadratic(t, z, p)
    out = np.empty(12)
    for i in range(3):
        out[i], out[3 + i], out[6 + i], out[9 + i] = f[i], f[9 + i], f[3 + i], f[6 + i]
    return out


def _to_pairs(y: np.ndarray) -> np.ndarray:
    """(Q, q, pi, p) of (Q, pi, p, q)."""
    return np.concatenate([y[..., :9], y[..., 15:18], y[..., 9:15]], axis=-1)


def _from_pairs(y: np.ndarray) -> np.ndarray:
    """(Q, pi, p, q) of (Q, q, pi, p)."""
    return np.concatenate([y[..., :9], y[..., 12:18], y[..., 9:12]], axis=-1)


_Q, _3 = ("Q", (3, 3)), (3,)
_FORMS = {
    "right": (COTANGENT_RIGHT, right_field, (_Q, ("pi", _3))),
    "left": (COTANGENT_LEFT, left_field, (_Q, ("Pi", _3))),
    "se3dual": (SE3_ON_DUAL, _se3dual, (("Gamma", _3), ("Pi", _3))),
    "quadratic": (COTANGENT_RIGHT_R6, _quadratic, (_Q, ("pi", _3), ("p", _3), ("q", _3))),
}
_PAPER = {
    "inertia": (0.234375, 0.46875, 0.234375),
    "M": 15.0,
    "l": 2.0,
    "chi": (0.0, 1.0, 0.0),
    "Gamma0": (0.0, 0.0, -9.81),
}


@dataclass(frozen=True)
class HeavyTop(System):
    """Pi' = Pi x I^-1 Pi + M l Gamma x chi, Q' = Q hat(I^-1 Pi), with Gamma = Q^T Gamma0.

    Q takes body to space; Pi is the momentum in the body, pi = Q Pi in space (kg m^2/s). `formulation` chooses
    the state:

        "right"      Q (3, 3), pi               pi' = M l Gamma0 x Q chi, Q' = hat(omega) Q
        "left"       Q (3, 3), Pi               the equations above
        "se3dual"    Gamma, Pi                  Gamma' = Gamma x I^-1 Pi; the attitude about the vertical is gone
        "quadratic"  Q (3, 3), pi, p, q         p = -M l chi is a momentum, q' = p - Q^T Gamma0

    `inertia`: principal moments about the fixed point (kg m^2); `M` mass (kg); `l` distance (m) from the fixed
    point to the centre of mass, in the direction `chi` (unit vector in the body); `Gamma0` (m/s^2): minus the
    gravity vector, so that it points up where gravity pulls down; g is inside it. `Omega0`: body angular velocity
    of y0 in rad/s, where Q is the identity.

    The default data are those printed in celledoni 3.4.4. There Gamma0 points down, so gravity pulls up, and the
    moments are too small for a centre of mass at l = 2; `HeavyTop.benchmark()` gives the original test problem
    with physical data, `HeavyTop(Gamma0=(0, 0, 9.81))` turns gravity around.

    Conserved: energy Pi . I^-1 Pi / 2 + M l Gamma . chi, the vertical momentum, Pi . chi where the body is
    symmetric about chi, and the Casimirs |Gamma| and Gamma . Pi. Source: celledoni (19)-(32).
    """

    formulation: str = "right"
    inertia: tuple[float, float, float] = _PAPER["inertia"]
    M: float = _PAPER["M"]
    l: float = _PAPER["l"]
    chi: tuple[float, float, float] = _PAPER["chi"]
    Gamma0: tuple[float, float, float] = _PAPER["Gamma0"]
    Omega0: tuple[float, float, float] = (0.0, 150.0, -4.61538)

    def __post_init__(self) -> None:
        one_of("formulation", self.formulation, _FORMS)
        for name in ("M", "l"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        for name in ("chi", "Gamma0", "Omega0"):
            object.__setattr__(self, name, vector(name, getattr(self, name), 3))
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        norm = float(np.linalg.norm(self.chi))
        if abs(norm - 1.0) > 1e-8:
            raise ValueError(
                f"chi must be a unit vector, got |chi| = {norm:.6g}; divide it by that"
            )
        # The printed data of the paper belong to no body; they are documented, and stay silent.
        if any(getattr(self, name) != _PAPER[name] for name in ("inertia", "M", "l", "chi")):
            arm = tuple(self.l * component for component in self.chi)
            what = f"inertia {self.inertia}, M = {self.M:g}, l = {self.l:g}"
            moments_about_pivot(self.inertia, self.M, arm, what)

    @classmethod
    def benchmark(cls, formulation: str = "right") -> HeavyTop:
        """The original test problem: J about the centre of mass, l = 1, gravity (0, 0, -9.81) pulling down."""
        chi, J = np.array(_PAPER["chi"]), np.array(_PAPER["inertia"])
        M = _PAPER["M"]
        about_pivot = J + M * (1.0 - chi * chi)  # parallel axes, l = 1
        return cls(formulation, tuple(about_pivot), M, 1.0, tuple(chi), (0.0, 0.0, 9.81))

    units = {**System.units, "p": "", "q": ""}  # noqa: RUF012  of the quadratic form, which mixes units

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return _FORMS[self.formulation][2]

    @property
    def y0(self) -> np.ndarray:
        """Q the identity, body angular velocity Omega0, p = -M l chi, q = 0."""
        Pi = np.array(self.inertia) * np.array(self.Omega0)
        if self.formulation == "se3dual":
            return np.concatenate([self.Gamma0, Pi])
        y = np.concatenate([np.eye(3).ravel(), Pi])
        if self.formulation == "quadratic":
            y = np.concatenate([y, -self.M * self.l * np.array(self.chi), np.zeros(3)])
        return y

    @property
    def params(self) -> np.ndarray:
        return np.concatenate([self.inertia, self.M * self.l * np.array(self.chi), self.Gamma0])

    @made_of()
    def formulations(self) -> dict[str, Any]:
        action, field, _ = _FORMS[self.formulation]
        offered: dict[str, Any] = {"action": ActionFormulation(action, field, self.params)}
        if self.formulation in ("right", "left"):
            offered["rigid_body"] = body_momentum_formulation(
                self.inertia,
                top_torque,
                top_torque_derivative,
                self.params,
                spatial=self.formulation == "right",
            )
            spatial = self.formulation == "right"
            offered["lagrangian"] = LagrangianFormulation(
                (SO3,),
                top_lagrangian,
                self.params,
                encode=body_momentum if spatial else None,
                decode=spatial_momentum if spatial else None,
            )
            offered["cotangent"] = CotangentFormulation(
                (SO3,),
                right_field,
                self.params,
                encode=None if spatial else spatial_momentum,
                decode=None if spatial else body_momentum,
            )
        if self.formulation == "quadratic":
            pairs = CotangentFormulation(
                (SO3, 3), _quadratic_cotangent, self.params, _to_pairs, _from_pairs
            )
            offered |= {"cotangent": pairs, "quadratic": pairs}
        return offered

    def body(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Gamma, Pi) of states (..., dim) in any of the four forms, each of shape (..., 3)."""
        parts = self.unpack(y)
        if self.formulation == "se3dual":
            return parts["Gamma"], parts["Pi"]
        Q = parts["Q"]
        gamma = np.einsum("...ji,j->...i", Q, np.array(self.Gamma0))
        if self.formulation == "left":
            return gamma, parts["Pi"]
        return gamma, np.einsum("...ji,...j->...i", Q, parts["pi"])

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where Q is no rotation, or p of the quadratic form is not -M l chi."""
        super().check(y)
        if self.formulation == "quadratic":
            p, wanted = np.asarray(y, dtype=float)[12:15], -self.params[3:6]
            if np.abs(p - wanted).max() > 1e-8 * (1.0 + self.M * self.l):
                raise ValueError(
                    f"p of y must be -M l chi = {wanted}, got {p}; use system.project(y)"
                )

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with Q the nearest rotation, pi or Pi as it is, and p = -M l chi in the quadratic form."""
        y = np.array(y, dtype=float)
        if self.formulation != "se3dual":
            y[..., :9] = so3.project(self.unpack(y)["Q"]).reshape(*y.shape[:-1], 9)
        if self.formulation == "quadratic":
            y[..., 12:15] = -self.params[3:6]
        return y

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Pi . I^-1 Pi / 2 + M l Gamma . chi; in the quadratic form -p stands for M l chi."""
        gamma, Pi = self.body(y)
        arm = self.params[3:6]
        if self.formulation == "quadratic":
            arm = -self.unpack(y)["p"]
        return 0.5 * (Pi * Pi / self.params[:3]).sum(-1) + (gamma * arm).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        size = float(np.linalg.norm(self.Gamma0))

        def vertical(y: np.ndarray) -> np.ndarray:
            gamma, Pi = self.body(y)
            return (gamma * Pi).sum(-1) / size if size else (gamma * Pi).sum(-1)

        named: dict[str, Callable] = {"energy": self.energy, "vertical momentum": vertical}
        chi, J = np.array(self.chi), np.array(self.inertia)
        across = J[np.abs(chi) < 1e-8]  # the moments about axes orthogonal to chi
        if across.size == 2 and abs(across[0] - across[1]) <= 1e-12 * max(J):
            named["Pi . chi"] = lambda y: self.body(y)[1] @ chi
        if self.formulation == "se3dual":
            named["|Gamma|"] = lambda y: np.linalg.norm(self.body(y)[0], axis=-1)
        if self.formulation == "quadratic":
            named["p"] = lambda y: self.unpack(y)["p"]
        return named
