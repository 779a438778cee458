"""A quadrotor that carries a point load on a cable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import BODY_AND_LOAD
from ..core.arguments import listed, moments, number, positive, vector
from ..core.jit import closure, jit
from ..core.readers import field_kernel, made_of
from ..formulations.forms import ActionFormulation
from ..formulations.lagrangian import SO3, LagrangianFormulation
from ..groups import so3
from ..groups.so3 import cross_core
from .pendulum3d import euler_xyz
from .system import System

# p = J (3), m_q, m_L, g, L, kt, km, arm, rotors (4), then the numbers of the control law
_ROTORS = 10


@jit
def rotor_wrench(u, p):
    """Thrust along the third body axis and moment of four rotor speeds."""
    s = (u[0] * u[0], u[1] * u[1], u[2] * u[2], u[3] * u[3])
    kt, km, lever = p[7], p[8], p[9] * p[7]
    moment = (lever * (s[1] - s[3]), lever * (s[2] - s[0]), km * (s[1] - s[0] + s[3] - s[2]))
    return kt * (s[0] + s[1] + s[2] + s[3]), moment


@jit
def constant_rotors(t, y, p):
    return p[_ROTORS : _ROTORS + 4].copy()


@jit
def quadrotor_lagrangian(t, z, p):
    """Omega . J Omega / 2 + m_q |v_q|^2 / 2 + m_L |v_L|^2 / 2 - g (m_q x_q + m_L x_L) . e3 with its derivatives."""
    out = np.zeros(262)
    for i in range(9):
        mass = p[i] if i < 3 else (p[3] if i < 6 else p[4])
        xi = z[15 + i]
        out[0] += 0.5 * mass * xi * xi
        out[10 + i] = mass * xi
        out[181 + 10 * i] = mass
    out[0] -= p[5] * (p[3] * z[11] + p[4] * z[14])
    out[6], out[9] = -p[3] * p[5], -p[4] * p[5]
    return out


@jit
def rotor_force(t, z, p):
    """Moment on the body, thrust R e3 on x_q, nothing on the load; z = (g, xi, rotor speeds)."""
    u = (z[24], z[25], z[26], z[27])
    thrust, moment = rotor_wrench(u, p)
    kt, km, lever = p[7], p[8], p[9] * p[7]
    out = np.zeros(207)
    k = 171  # df/du
    signs = ((0.0, 1.0, 0.0, -1.0), (-1.0, 0.0, 1.0, 0.0), (-1.0, 1.0, -1.0, 1.0))
    for i in range(3):
        out[i], out[3 + i] = moment[i], thrust * z[3 * i + 2]
        # R e3 turns by R (eta x e3) = (eta_2, -eta_1, 0) in the body
        out[9 + 9 * (3 + i)] = -thrust * z[3 * i + 1]
        out[10 + 9 * (3 + i)] = thrust * z[3 * i]
        for j in range(4):
            out[k + 4 * i + j] = 2.0 * (km if i == 2 else lever) * signs[i][j] * u[j]
            out[k + 4 * (3 + i) + j] = 2.0 * kt * u[j] * z[3 * i + 2]
    return out


@jit
def cable(t, g, p):
    """phi = (|x_q - x_L|^2 - L^2)/2 with its first and second derivatives."""
    out = np.zeros(91)
    out[0] = -p[6] * p[6]
    for i in range(3):
        d = g[9 + i] - g[12 + i]
        out[0] += d * d
        out[4 + i], out[7 + i] = d, -d
        a = 10 + 9 * (3 + i)
        b = 10 + 9 * (6 + i)
        out[a + 3 + i], out[a + 6 + i], out[b + 3 + i], out[b + 6 + i] = 1.0, -1.0, -1.0, 1.0
    out[0] *= 0.5
    return out


@jit
def motion(y, p, thrust, moment):
    """The pair turns with A = r x r'/L^2; the thrust reaches the relative motion through the last slot."""
    mq, mL, g = p[3], p[4], p[5]
    total = mq + mL
    W = (y[15] / p[0], y[16] / p[1], y[17] / p[2])
    r = (y[12] - y[9], y[13] - y[10], y[14] - y[11])
    u = (y[21] / mL - y[18] / mq, y[22] / mL - y[19] / mq, y[23] / mL - y[20] / mq)
    rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    A = cross_core(r, u)
    A = (A[0] / rr, A[1] / rr, A[2] / rr)
    V = ((y[18] + y[21]) / total, (y[19] + y[22]) / total, (y[20] + y[23]) / total)
    Ax, AV = cross_core(A, (y[9], y[10], y[11])), cross_core(A, V)
    F = (thrust * y[2], thrust * y[5], thrust * y[8])  # thrust along the body's third axis
    acceleration = (F[0] / total, F[1] / total, F[2] / total - g)
    # reduced mass times u' is -mL/total times the thrust, along r only a tension
    lever = cross_core(r, F)
    out = np.empty(21)
    for i in range(3):
        out[i] = -W[i]
        out[3 + i] = moment[i]
        out[6 + i] = A[i]
        out[9 + i] = y[18 + i] / mq - Ax[i]
        b = acceleration[i] - AV[i]
        out[12 + i] = mq * b
        out[15 + i] = mL * b
        out[18 + i] = -mL / total * lever[i] / rr
    return out


@jit
def _field(t, y, p):
    thrust, moment = rotor_wrench((p[10], p[11], p[12], p[13]), p)
    return motion(y, p, thrust, moment)


def _field_with(control: Callable) -> Callable:
    def field(t, y, p):
        thrust, moment = rotor_wrench(control(t, y, p), p)
        return motion(y, p, thrust, moment)

    return closure(field)


@dataclass(frozen=True)
class QuadrotorWithLoad(System):
    """Quadrotor (R, x_q) and load x_L, |x_q - x_L| = L by a cable that is assumed taut; e3 UP.

        R' = R hat(J^-1 p_R),  p_R' = p_R x J^-1 p_R + M(rotors)
        p_q' = -m_q g e3 + k_t |rotors|^2 R e3 + T e,  p_L' = -m_L g e3 - T e,  e = (x_L - x_q)/L

    with x' = p/m and the tension T that keeps the length. State: y = R row-major (9,), x_q (3,), x_L (3,), p_R (3,)
    in the body (kg m^2/s), p_q (3,), p_L (3,) in space (kg m/s).

    `inertia` (kg m^2), `mq`, `mL` (kg), `L` (m), `g` (m/s^2). `rotors`: the four rotor speeds in units of 10 rad/s,
    held constant (all zero: free flight), unless `control(t, y, p)`, a reader's own function, gives them; `inputs` is
    then handed over as p[14:], and the variational integrators hold the four speeds over a step. `kt` and `km` in N
    and N m per unit squared; `arm` (m). Rotors stand at +e1, +e2, -e1, -e2 of the body; moments arm kt (w2^2 - w4^2),
    arm kt (w3^2 - w1^2), km (-w1^2 + w2^2 - w3^2 + w4^2).

    Conserved in free flight: the energy, R p_R, and the angular momentum of the pair about its centre of mass.
    `tension(y)` tells whether the cable is taut. Source: fan IV.C; masses, inertia and coefficients are ours, the paper
    gives none.
    """

    inertia: tuple[float, float, float] = (0.0056, 0.0056, 0.0105)
    mq: float = 0.5
    mL: float = 0.1
    L: float = 1.5
    g: float = 9.81
    rotors: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    kt: float = 6e-4
    km: float = 1e-5
    arm: float = 0.2
    control: Callable | None = None
    inputs: tuple[float, ...] = ()

    parts = (
        ("R", (3, 3)),
        ("x_q", (3,)),
        ("x_L", (3,)),
        ("p_R", (3,)),
        ("p_q", (3,)),
        ("p_L", (3,)),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "inertia", moments("inertia", self.inertia))
        for name in ("mq", "mL", "L", "kt", "km", "arm"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        object.__setattr__(self, "g", number("g", self.g))
        object.__setattr__(self, "rotors", vector("rotors", self.rotors, 4))
        if self.control is not None and not callable(self.control):
            raise ValueError(f"control must be a function control(t, y, p), got {self.control!r}")
        inputs = listed("inputs", self.inputs, "numbers")
        object.__setattr__(self, "inputs", vector("inputs", inputs, len(inputs)))
        if self.control is None and self.inputs:
            raise ValueError("inputs belong to a control function; use rotors for constant speeds")

    @property
    def hover(self) -> float:
        """Rotor speed (10 rad/s) at which four rotors carry the weight."""
        return float(np.sqrt((self.mq + self.mL) * self.g / (4.0 * self.kt)))

    @property
    def y0(self) -> np.ndarray:
        """The perturbed start of fan, figure 4, at rest, its load moved along the cable to the length L."""
        R = euler_xyz(0.23, -0.32, 0.49)
        y = self.pack(
            R=R,
            x_q=[-1.15, 0.28, 2.411],
            x_L=[-0.98, 0.38, 0.93],
            p_R=np.zeros(3),
            p_q=np.zeros(3),
            p_L=np.zeros(3),
        )
        return self.project(y)

    def wrench(self) -> tuple[float, np.ndarray]:
        """Thrust (N) along the third body axis and moment (3,) (N m) of the constant rotors."""
        thrust, moment = rotor_wrench(self.rotors, self.params)
        return thrust, np.array(moment)

    @property
    def params(self) -> np.ndarray:
        numbers = (self.mq, self.mL, self.g, self.L, self.kt, self.km, self.arm)
        return np.array([*self.inertia, *numbers, *self.rotors, *self.inputs])

    @made_of("control")
    def formulations(self) -> dict[str, Any]:
        p, field, law = self.params, _field, constant_rotors if any(self.rotors) else None
        if self.control is not None:
            law = field_kernel(self.control, (0.0, self.y0, p))
            found = np.shape(law(0.0, self.y0, p))
            if found != (4,):
                raise ValueError(f"control must return four rotor speeds, got shape {found}")
            field = _field_with(law)
        return {
            "action": ActionFormulation(BODY_AND_LOAD, field, p),
            "lagrangian": LagrangianFormulation(
                (SO3, 3, 3),
                quadrotor_lagrangian,
                p,
                force=None if law is None else rotor_force,
                control=law,
                inputs=0 if law is None else 4,
                constraint=cable,
                constraints=1,
            ),
        }

    def _pair(self, y: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
        """Named parts, x_L - x_q and its rate."""
        parts = self.unpack(y)
        r = parts["x_L"] - parts["x_q"]
        return parts, r, parts["p_L"] / self.mL - parts["p_q"] / self.mq

    def defect(self, y: np.ndarray) -> np.ndarray:
        """Largest of the distances from SO(3), of the cable's length from L (m), and of its rate from 0 (m/s)."""
        _, r, u = self._pair(y)
        length = np.linalg.norm(r, axis=-1)
        rate = np.abs((r * u).sum(-1)) / self.L
        return np.maximum.reduce([BODY_AND_LOAD.defect(y), np.abs(length - self.L), rate])

    def check(self, y: np.ndarray) -> None:
        """Raise ValueError where R is no rotation, or the cable has the wrong length or stretches."""
        BODY_AND_LOAD.check(y)
        _, r, u = self._pair(y)
        length, rate = float(np.linalg.norm(r)), float(r @ u) / self.L
        if abs(length - self.L) > 1e-8 or abs(rate) > 1e-8:
            raise ValueError(
                f"y must have a cable of length {self.L:g} that does not stretch, got length {length:.9g} and rate "
                f"{rate:.3g}; use system.project(y)"
            )

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with R the nearest rotation, the load moved along the cable to the length L, the momenta freed of
        stretching by an impulse along the cable."""
        y = np.array(y, dtype=float)
        parts, r, u = self._pair(y)
        length = np.linalg.norm(r, axis=-1, keepdims=True)
        if not np.all(length > 0.0):
            raise ValueError("x_L = x_q has no cable direction; move one of them")
        e = r / length
        impulse = e * (e * u).sum(-1, keepdims=True) * self.mq * self.mL / (self.mq + self.mL)
        return self.pack(
            R=so3.project(parts["R"]),
            x_q=parts["x_q"],
            x_L=parts["x_q"] + self.L * e,
            p_R=parts["p_R"],
            p_q=parts["p_q"] + impulse,
            p_L=parts["p_L"] - impulse,
        )

    def tension(self, y: np.ndarray, rotors: Any = None) -> np.ndarray:
        """Tension of the cable (N), shape (...); negative where a real cable would go slack.

        `rotors` (..., 4) are the speeds where a control function sets them.
        """
        if rotors is None and self.control is not None:
            raise ValueError("rotors must be given where a control function sets them")
        parts, r, u = self._pair(y)
        speeds = np.asarray(self.rotors if rotors is None else rotors, dtype=float)
        thrust = self.kt * (speeds * speeds).sum(-1)
        along = thrust * (parts["R"][..., :, 2] * r).sum(-1) / self.L  # thrust towards the load
        reduced = self.mq * self.mL / (self.mq + self.mL)
        return reduced * ((u * u).sum(-1) / self.L - along / self.mq)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy (J)."""
        parts = self.unpack(y)
        kinetic = (
            (parts["p_R"] ** 2 / np.array(self.inertia)).sum(-1)
            + (parts["p_q"] ** 2).sum(-1) / self.mq
            + (parts["p_L"] ** 2).sum(-1) / self.mL
        )
        weight = self.mq * parts["x_q"][..., 2] + self.mL * parts["x_L"][..., 2]
        return 0.5 * kinetic + self.g * weight

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Of free flight; empty where the rotors turn."""
        if any(self.rotors) or self.control is not None:
            return {}

        def attitude(y: np.ndarray) -> np.ndarray:
            parts = self.unpack(y)
            return np.einsum("...ij,...j->...i", parts["R"], parts["p_R"])

        def pair(y: np.ndarray) -> np.ndarray:
            _, r, u = self._pair(y)
            return self.mq * self.mL / (self.mq + self.mL) * np.cross(r, u)

        return {"energy": self.energy, "body momentum": attitude, "pair momentum": pair}
