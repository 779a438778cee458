"""A rigid body about a fixed point in a potential that depends on its attitude."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import (
    call_once,
    matrix_of,
    moments,
    named_array,
    number,
    numbers,
    numbers_of,
    vector,
)
from .._fields import made_of, point_kernel
from .._jit import closure, jit
from ..actions import COTANGENT_LEFT, SO3_ON_SO3_RIGHT
from ..groups import so3
from ..groups.so3 import cross_core, exp_core
from ._formulations import ActionFormulation, MetricFormulation, RigidBodyFormulation
from ._lagrangian import (
    SO3,
    CotangentFormulation,
    LagrangianFormulation,
    body_momentum,
    momenta_of_velocities,
    spatial_field,
    spatial_momentum,
    store_rigid,
)
from ._system import System, settled_start
from .free_rigid_body import inertia_metric, no_gradient

# p of the well: J (3), alpha, R_m row-major (9)


@jit
def _pull(R, S):
    """m = |R - S|_F and the vector tr(S' R hat(e_i)), i = 1, 2, 3 (ortolan (3.1), (3.4))."""
    total = 0.0
    for i in range(9):
        total += (R[i] - S[i]) ** 2
    # A = S' R, tr(A hat(e_1)) = A_23 - A_32 and so on
    A21 = S[2] * R[1] + S[5] * R[4] + S[8] * R[7]
    A12 = S[1] * R[2] + S[4] * R[5] + S[7] * R[8]
    A02 = S[0] * R[2] + S[3] * R[5] + S[6] * R[8]
    A20 = S[2] * R[0] + S[5] * R[3] + S[8] * R[6]
    A10 = S[1] * R[0] + S[4] * R[3] + S[7] * R[6]
    A01 = S[0] * R[1] + S[3] * R[4] + S[6] * R[7]
    return math.sqrt(total), (A12 - A21, A20 - A02, A01 - A10)


@jit
def _well_torque(t, y, p):
    """-dU of (3.2): 2 (m - 1)/m tr(R hat(e_i)) + alpha/m_m^3 tr(R_m' R hat(e_i)), (3.5) corrected."""
    m, a = _pull(y, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    mm, b = _pull(y, p[4:13])
    c, d = 2.0 * (m - 1.0) / m, p[3] / (mm * mm * mm)
    out = np.empty(3)
    for i in range(3):
        out[i] = c * a[i] + d * b[i]
    return out


@jit
def _well_gradient(t, y, p):
    return -_well_torque(t, y, p)


@jit
def _well_torque_derivative(t, y, p):
    """d/ds tau_i(R exp(s e_j)): a_i moves by A^T - tr A, A = S' R, and m by -a_j/m."""
    out = np.empty(9)
    for part in range(2):
        if part == 0:
            S = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        else:
            S = (p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12])
        m, a = _pull(y, S)
        if part == 0:
            c, d = 2.0 * (m - 1.0) / m, -2.0 / (m * m * m)
        else:
            c = p[3] / (m * m * m)
            d = 3.0 * c / (m * m)
        trace = 0.0
        for k in range(9):
            trace += S[k] * y[k]
        for i in range(3):
            for j in range(3):
                A = S[j] * y[i] + S[3 + j] * y[3 + i] + S[6 + j] * y[6 + i]  # A_ji
                if i == j:
                    A -= trace
                value = c * A + d * a[i] * a[j]
                if part == 0:
                    out[3 * i + j] = value
                else:
                    out[3 * i + j] += value
    return out


@jit
def _store_body_field(y, p, torque, out):
    """f = (-Omega, J^-1 (J Omega x Omega + torque)) for the action (g, m) . (R, Omega) = (R g^-1, g Omega + m).

    Its generator turns Omega by -Omega, which does nothing: the second slot is Omega' itself.
    """
    W = (y[9], y[10], y[11])
    gyro = cross_core((p[0] * W[0], p[1] * W[1], p[2] * W[2]), W)
    for i in range(3):
        out[i] = -W[i]
        out[3 + i] = (gyro[i] + torque[i]) / p[i]


@jit
def _well_field(t, y, p):
    out = np.empty(6)
    _store_body_field(y, p, _well_torque(t, y, p), out)
    return out


@jit
def _well_lagrangian(t, z, p):
    m, _ = _pull(z, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    mm, _ = _pull(z, p[4:13])
    U = (m - 1.0) ** 2 - p[3] / mm
    out, torque = np.empty(34), _well_torque(t, z, p)
    slopes = _well_torque_derivative(t, z, p)
    store_rigid((p[0], p[1], p[2]), (z[9], z[10], z[11]), U, torque, slopes, out)
    return out


def _metric(potential_gradient: Callable, params: np.ndarray) -> MetricFormulation:
    return MetricFormulation(
        SO3_ON_SO3_RIGHT, inertia_metric, no_gradient, potential_gradient, params
    )


@jit
def _well_cotangent(t, y, p):
    out = np.empty(6)
    spatial_field(y, p, _well_torque(t, y, p), out)
    return out


def _attitudes(R: Any) -> np.ndarray:
    """Matrices (..., 3, 3), or ValueError."""
    R = named_array("R", matrix_of(R))
    if R.shape[-2:] != (3, 3):
        raise ValueError(f"R must have shape (..., 3, 3), got {R.shape}")
    return R


class _RigidBody(System):
    """What bodies with the layout R, Omega share."""

    inertia: tuple[float, float, float]
    parts = (("R", (3, 3)), ("Omega", (3,)))

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with R the nearest rotation, Omega as it is."""
        y = np.array(y, dtype=float)
        y[..., :9] = so3.project(self.unpack(y)["R"]).reshape(*y.shape[:-1], 9)
        return y

    def potential_energy(self, R: np.ndarray) -> np.ndarray:
        """U (J) of attitudes (..., 3, 3)."""
        raise NotImplementedError

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Omega . J Omega / 2 + U(R)."""
        parts = self.unpack(y)
        kinetic = 0.5 * (parts["Omega"] ** 2 * np.array(self.inertia)).sum(-1)
        return kinetic + self.potential_energy(parts["R"])

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {"energy": self.energy}


@dataclass(frozen=True)
class RigidBodyInWell(_RigidBody):
    """R' = R hat(Omega), J Omega' = J Omega x Omega + tau(R) in U = (m(R, 1) - 1)^2 - alpha / m(R, R_m).

    m(R, S) = |R - S|_F = 2 sqrt 2 |sin(angle / 2)|. The first term holds the body near the sphere of
    attitudes with m(R, 1) = 1, the second pulls weakly towards R_m; U has a conical point at R = 1 and a pole at R_m.
    The torque tau = -dU (in the body) is (3.5) of ortolan with its first term corrected to 2 (m - 1)/m.

    State: y = R row-major (9,), Omega (3,): body to space, body angular velocity in rad/s. `inertia` (kg m^2),
    `alpha` (J), `attraction` the rotation vector of R_m (rad). Conserved: the energy. A method whose energy drifts here
    is neither symplectic nor conjugate to a symplectic one. Source: ortolan 3.1, 4.2.
    """

    inertia: tuple[float, float, float] = (2.0, 2.0, 4.0)
    alpha: float = 0.3
    attraction: tuple[float, float, float] = (2.5 / math.sqrt(2.0), 0.0, 2.5 / math.sqrt(2.0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        object.__setattr__(self, "alpha", number("alpha", self.alpha))
        object.__setattr__(self, "attraction", vector("attraction", self.attraction, 3))

    @property
    def y0(self) -> np.ndarray:
        """R = exp(0, 0.7227, 0), Omega = (0, 0, 0.625) (ortolan 4.2)."""
        return np.concatenate([so3.exp([0.0, 0.7227, 0.0]).ravel(), [0.0, 0.0, 0.625]])

    @property
    def params(self) -> np.ndarray:
        return np.array([*self.inertia, self.alpha, *so3.exp(np.array(self.attraction)).ravel()])

    @property
    def formulations(self) -> dict[str, Any]:
        encode, decode = momenta_of_velocities(self.inertia)
        return {
            "action": ActionFormulation(COTANGENT_LEFT, _well_field, self.params),
            "metric": _metric(_well_gradient, self.params),
            "rigid_body": RigidBodyFormulation(
                self.inertia, _well_torque, self.params, _well_torque_derivative
            ),
            "lagrangian": LagrangianFormulation(
                (SO3,),
                _well_lagrangian,
                self.params,
                encode=encode,
                decode=decode,
            ),
            "cotangent": CotangentFormulation(
                (SO3,),
                _well_cotangent,
                self.params,
                encode=lambda y: spatial_momentum(encode(y)),
                decode=lambda y: decode(body_momentum(y)),
            ),
        }

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where R is no rotation, or one where the torque is undefined."""
        super().check(y)
        R = np.asarray(y, dtype=float)[:9].reshape(3, 3)
        for name, S in (("the identity", np.eye(3)), ("R_m", so3.exp(np.array(self.attraction)))):
            if np.linalg.norm(R - S) < 1e-12:
                raise ValueError(
                    f"R of y is {name}, where the torque is undefined; start elsewhere"
                )

    def potential_energy(self, R: np.ndarray) -> np.ndarray:
        """U (J) of attitudes (..., 3, 3)."""
        R = _attitudes(R)
        m = np.linalg.norm(R - np.eye(3), axis=(-2, -1))
        mm = np.linalg.norm(R - so3.exp(np.array(self.attraction)), axis=(-2, -1))
        return (m - 1.0) ** 2 - self.alpha / mm


# Central differences of order 6 in the rotation vector: at this step error and round-off meet near 1e-13.
_STEP = 0.01
_D1, _D2, _D3 = 0.75 / _STEP, -0.15 / _STEP, 1.0 / 60.0 / _STEP


def _difference_torque(potential: Callable) -> Callable:
    """tau_i = -d/ds U(R exp(s e_i)) at s = 0, for a potential kernel (t, y, p)."""

    def torque(t, y, p):
        out, z = np.zeros(3), y.copy()
        for i in range(3):
            for j, c in ((1, _D1), (2, _D2), (3, _D3)):
                for sign in (-1.0, 1.0):
                    s = sign * j * _STEP
                    g = exp_core(s if i == 0 else 0.0, s if i == 1 else 0.0, s if i == 2 else 0.0)
                    for a in range(0, 9, 3):
                        for b in range(3):
                            z[a + b] = y[a] * g[b] + y[a + 1] * g[3 + b] + y[a + 2] * g[6 + b]
                    out[i] -= sign * c * potential(t, z, p[3:])[0]
        return out

    return closure(torque)


def _given_torque(function: Callable) -> Callable:
    def torque(t, y, p):
        return function(t, y, p[3:])

    return closure(torque)


def _lagrangian_of(potential: Callable, torque: Callable) -> Callable:
    """L of a potential kernel (t, y, p) and its torque; the torque's derivative by central differences of order 6."""

    def lagrangian(t, z, p):
        out, D, w = np.empty(34), np.zeros(9), z[:9].copy()
        for j in range(3):
            for k, c in ((1, _D1), (2, _D2), (3, _D3)):
                for sign in (-1.0, 1.0):
                    s = sign * k * _STEP
                    g = exp_core(s if j == 0 else 0.0, s if j == 1 else 0.0, s if j == 2 else 0.0)
                    for a in range(0, 9, 3):
                        for b in range(3):
                            w[a + b] = z[a] * g[b] + z[a + 1] * g[3 + b] + z[a + 2] * g[6 + b]
                    tau = torque(t, w, p)
                    for i in range(3):
                        D[3 * i + j] += sign * c * tau[i]
        U = potential(t, z, p[3:])[0]
        store_rigid((p[0], p[1], p[2]), (z[9], z[10], z[11]), U, torque(t, z, p), D, out)
        return out

    return closure(lagrangian)


def _negative(torque: Callable) -> Callable:
    def gradient(t, y, p):
        return -torque(t, y, p)

    return closure(gradient)


def _body_field(torque: Callable) -> Callable:
    def field(t, y, p):
        out = np.empty(6)
        _store_body_field(y, p, torque(t, y, p), out)
        return out

    return closure(field)


@dataclass(frozen=True, eq=False)
class RigidBodyInPotential(_RigidBody):
    """A reader's own: R' = R hat(Omega), J Omega' = J Omega x Omega + tau(R), tau_i = -d/ds U(R exp(s e_i)).

    `potential(R, p)` takes an attitude (3, 3) and the parameters and returns U (J) as a number; `torque(R, p)`, if
    given, returns -dU in the body, three numbers (N m), otherwise it is formed by central differences of order 6
    (good to about 1e-12). Both are plain Python with NumPy and are compiled where Numba can. `inertia` (kg m^2);
    `start`: R row-major, Omega.

    State: y = R row-major (9,), Omega (3,). Conserved: the energy. Source: ortolan (2.14)-(2.15).
    """

    inertia: tuple[float, float, float]
    potential: Callable
    torque: Callable | None = None
    p: tuple[float, ...] = ()
    start: tuple[float, ...] = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.2, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        y, p = settled_start(self, self.start, self), numbers("p", self.p)
        R = y[:9].reshape(3, 3)
        U = numbers_of(
            "potential", call_once("potential", self.potential, "R, p", R, p), "a number"
        )
        if U.ndim != 0:
            raise ValueError(f"potential must return a number, got shape {U.shape}")
        if self.torque is not None:
            found = call_once("torque", self.torque, "R, p", R, p)
            found = numbers_of("torque", found, "three numbers")
            if found.shape != (3,):
                raise ValueError(f"torque must return three numbers, got shape {found.shape}")
            h = 1e-5
            rises = [
                (self.potential(R @ so3.exp(h * e), p) - self.potential(R @ so3.exp(-h * e), p))
                / (2 * h)
                for e in np.eye(3)
            ]
            if np.abs(found + rises).max() > 1e-4 * (1.0 + np.abs(rises).max()):
                raise ValueError(
                    f"torque is not minus the derivative of potential at the start: got {found}, differences of the "
                    f"potential give {-np.array(rises)}; leave torque out to use differences"
                )

    @property
    def y0(self) -> np.ndarray:
        return np.array(self.start, dtype=float)

    @property
    def params(self) -> np.ndarray:
        return np.array([*self.inertia, *self.p], dtype=float)

    @made_of("potential", "torque")
    def formulations(self) -> dict[str, Any]:
        example = (self.y0[:9].reshape(3, 3), np.array(self.p, dtype=float))
        potential = point_kernel(self.potential, (3, 3), example)
        if self.torque is None:
            torque = _difference_torque(potential)
        else:
            torque = _given_torque(point_kernel(self.torque, (3, 3), example))
        encode, decode = momenta_of_velocities(self.inertia)
        return {
            "action": ActionFormulation(COTANGENT_LEFT, _body_field(torque), self.params),
            "metric": _metric(_negative(torque), self.params),
            "rigid_body": RigidBodyFormulation(self.inertia, torque, self.params),
            "lagrangian": LagrangianFormulation(
                (SO3,),
                _lagrangian_of(potential, torque),
                self.params,
                encode=encode,
                decode=decode,
            ),
        }

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where R is no rotation."""
        COTANGENT_LEFT.check(np.asarray(y, dtype=float))

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Distance of R from SO(3), shape (...)."""
        return COTANGENT_LEFT.defect(y)

    def potential_energy(self, R: np.ndarray) -> np.ndarray:
        """U (J) of attitudes (..., 3, 3)."""
        R, p = _attitudes(R), np.array(self.p, dtype=float)
        values = [float(self.potential(S.copy(), p)) for S in np.reshape(R, (-1, 3, 3))]
        return np.array(values).reshape(np.shape(R)[:-2])
