"""A rigid body about a fixed point in a potential that depends on its attitude."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import COTANGENT_LEFT, SO3_ON_SO3_RIGHT
from ..core.arguments import (
    call_once,
    matrix_of,
    moments,
    named_array,
    number,
    numbers,
    numbers_of,
    vector,
)
from ..core.differences import (
    EPS,
    NESTED,
    compared,
    doubt,
    errors_of,
    gradient_kernel,
    largest_errors,
    refuse_poor,
)
from ..core.jit import closure, jit, lent
from ..core.readers import made_of, point_kernel
from ..core.values import Vec3, mat3, store
from ..formulations.forms import ActionFormulation, MetricFormulation, RigidBodyFormulation
from ..formulations.lagrangian import (
    SO3,
    CotangentFormulation,
    LagrangianFormulation,
    body_momentum,
    momenta_of_velocities,
    spatial_field,
    spatial_momentum,
    store_rigid,
)
from ..groups import rotations, so3
from ..groups.so3 import cross_core
from .free_rigid_body import inertia_metric, no_gradient
from .system import System, settled_start

_APART = 1e-4  # of the size of the torque, where a reader's own is taken for another

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

    @made_of()
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


@jit
def turn_about(y, i, s, z):
    """z = R exp(s e_i)"""
    u = Vec3(s if i == 0 else 0.0, s if i == 1 else 0.0, s if i == 2 else 0.0)
    store(mat3(y, 0) @ rotations.exp(u), z, 0)


def _potential_slopes(potential: Callable, start: tuple) -> Callable:
    """slopes(t, y, p, out, errors), out (3, 1): d/ds U(R exp(s e_i)) at s = 0, for a potential kernel (t, y, p)."""

    def along(t, y, p, i, s, z, V, row):
        y, p, z, V = lent(y), lent(p), lent(z), lent(V)
        turn_about(y, i, s, z)
        V[row, 0] = potential(t, z, p[3:])[0]

    return gradient_kernel(along, (3, 1), 9, start)


def _difference_torque(slopes: Callable) -> Callable:
    def torque(t, y, p):
        out, errors, tau = np.empty((3, 1)), np.empty(3), np.empty(3)
        slopes(t, y, p, out, errors)
        for i in range(3):
            tau[i] = -out[i, 0]
        return tau

    return closure(torque)


def _given_torque(function: Callable) -> Callable:
    def torque(t, y, p):
        return function(t, y, p[3:])

    return closure(torque)


def _torque_slopes(torque: Callable, start: tuple, first: Callable | None) -> Callable:
    """slopes(t, y, p, out, errors), out (3, 3): d/ds tau_c(R exp(s e_i)) at s = 0 in row i.

    `first`: the slopes of the potential where tau is made of them; its own noise asks for longer steps than theirs.
    """

    def along(t, y, p, i, s, z, V, row):
        y, p, z, V = lent(y), lent(p), lent(z), lent(V)
        turn_about(y, i, s, z)
        tau = torque(t, z, p)
        for c in range(3):
            V[row, c] = tau[c]

    return gradient_kernel(
        along,
        (3, 3),
        9,
        start,
        noise=EPS if first is None else NESTED,
        steps=None if first is None else 2.0 * vars(first)["steps"],
    )


def _lagrangian_of(potential: Callable, torque: Callable, slopes: Callable) -> Callable:
    """L of a potential kernel (t, y, p) and its torque; the torque's derivative by differences."""

    def lagrangian(t, z, p):
        out, slope, errors = np.empty(34), np.empty((3, 3)), np.empty(3)
        slopes(t, z, p, slope, errors)
        D = np.empty(9)
        for i in range(3):
            for j in range(3):
                D[3 * i + j] = slope[j, i]
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
    given, returns -dU in the body, three numbers (N m), otherwise it is formed by central differences of order 6 with
    steps that follow U: off by about 1e-12 of the torque where U is smooth, plus some 1e-14 of |U| over the angle on
    which it varies. `difference_error(y)` shows the estimate; an attitude in which it is worse than 1e-6 ends the run.
    Both are plain Python with NumPy and are compiled where Numba can. `inertia` (kg m^2);
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
            curves = [self._along(R, e) for e in np.eye(3)]
            rise, off = compared(-found, curves, (1.0, 1.0, 1.0), _APART)
            if not off <= _APART:
                raise ValueError(
                    f"torque is not minus the derivative of potential at the start: got {found}, differences of the "
                    f"potential give {-rise}; leave torque out to use differences"
                )

    def _along(self, R: np.ndarray, e: np.ndarray) -> Callable:
        """U(R exp(s e)) as a function of s."""
        p = np.array(self.p, dtype=float)
        return lambda s: float(self.potential(R @ so3.exp(s * e), p))

    @property
    def y0(self) -> np.ndarray:
        return np.array(self.start, dtype=float)

    @property
    def params(self) -> np.ndarray:
        return np.array([*self.inertia, *self.p], dtype=float)

    @made_of("potential")
    def _potential(self) -> Callable:
        return point_kernel(self.potential, (3, 3), self._example)

    @property
    def _example(self) -> tuple[np.ndarray, np.ndarray]:
        return self.y0[:9].reshape(3, 3), np.array(self.p, dtype=float)

    @property
    def _start(self) -> tuple[float, np.ndarray, np.ndarray]:
        return 0.0, self.y0[:9], self.params

    @made_of("potential")
    def _slopes(self) -> Callable:
        """The derivatives of the potential as a kernel, see `_potential_slopes`."""
        kernel = _potential_slopes(self._potential, self._start)
        refuse_poor("potential", errors_of(kernel, 3, 1, *self._start), "give torque(R, p)")
        return kernel

    @made_of("potential", "torque")
    def formulations(self) -> dict[str, Any]:
        potential, own = self._potential, self.torque is not None
        if own:
            torque = _given_torque(point_kernel(self.torque, (3, 3), self._example))
        else:
            torque = _difference_torque(self._slopes)
        bend = _torque_slopes(torque, self._start, None if own else self._slopes)
        encode, decode = momenta_of_velocities(self.inertia)
        return {
            "action": ActionFormulation(COTANGENT_LEFT, _body_field(torque), self.params),
            "metric": _metric(_negative(torque), self.params),
            "rigid_body": RigidBodyFormulation(self.inertia, torque, self.params),
            "lagrangian": LagrangianFormulation(
                (SO3,),
                _lagrangian_of(potential, torque, bend),
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

    def _doubt(self, y: np.ndarray) -> str:
        return doubt(float(self.difference_error(y)), "give torque(R, p)")

    def difference_error(self, y: np.ndarray) -> np.ndarray:
        """Estimated relative error of the differences of U in states (..., 12), the largest of the three directions.

        Relative to the torque or, where that is smaller, to |U| over the angle on which U varies. Zero where `torque`
        is given.
        """
        y = self._states(y)
        if self.torque is not None:
            return np.zeros(y.shape[:-1])
        return largest_errors(self._slopes, 3, 1, y, self.params)

    def potential_energy(self, R: np.ndarray) -> np.ndarray:
        """U (J) of attitudes (..., 3, 3)."""
        R, p = _attitudes(R), np.array(self.p, dtype=float)
        values = [float(self.potential(S.copy(), p)) for S in np.reshape(R, (-1, 3, 3))]
        return np.array(values).reshape(np.shape(R)[:-2])
