"""A quadrotor that carries a point load on a cable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._jit import jit
from ..actions import BODY_AND_LOAD
from ..groups import so3
from ..groups.so3 import cross_core
from ._system import ActionFormulation, System, moments, number, positive, vector
from .pendulum3d import euler_xyz

# p = J (3), m_q, m_L, g, thrust, moment (3)


@jit
def _field(t, y, p):
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
    F = (p[6] * y[2], p[6] * y[5], p[6] * y[8])  # thrust along the body's third axis
    acceleration = (F[0] / total, F[1] / total, F[2] / total - g)
    # reduced mass times u' is -mL/total times the thrust, along r only a tension
    torque = cross_core(r, F)
    out = np.empty(21)
    for i in range(3):
        out[i] = -W[i]
        out[3 + i] = p[7 + i]
        out[6 + i] = A[i]
        out[9 + i] = y[18 + i] / mq - Ax[i]
        b = acceleration[i] - AV[i]
        out[12 + i] = mq * b
        out[15 + i] = mL * b
        out[18 + i] = -mL / total * torque[i] / rr
    return out


@dataclass(frozen=True)
class QuadrotorWithLoad(System):
    """Quadrotor (R, x_q) and load x_L, |x_q - x_L| = L by a cable that is assumed taut; e3 UP.

        R' = R hat(J^-1 p_R),  p_R' = p_R x J^-1 p_R + M(rotors)
        p_q' = -m_q g e3 + k_t |rotors|^2 R e3 + T e,  p_L' = -m_L g e3 - T e,  e = (x_L - x_q)/L

    with x' = p/m and the tension T that keeps the length. State: y = R row-major (9,), x_q (3,), x_L (3,), p_R (3,)
    in the body (kg m^2/s), p_q (3,), p_L (3,) in space (kg m/s).

    `inertia` (kg m^2), `mq`, `mL` (kg), `L` (m), `g` (m/s^2). `rotors`: the four rotor speeds in units of 10 rad/s,
    held constant (all zero: free flight); `kt` and `km` in N and N m per unit squared; `arm` (m). Rotors stand at
    +e1, +e2, -e1, -e2 of the body; moments arm kt (w2^2 - w4^2), arm kt (w3^2 - w1^2), km (-w1^2 + w2^2 - w3^2 + w4^2).

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
        """Thrust (N) along the third body axis and moment (3,) (N m) of the rotors."""
        s = np.array(self.rotors) ** 2
        moment = [
            self.arm * self.kt * (s[1] - s[3]),
            self.arm * self.kt * (s[2] - s[0]),
            self.km * (-s[0] + s[1] - s[2] + s[3]),
        ]
        return self.kt * float(s.sum()), np.array(moment)

    @property
    def params(self) -> np.ndarray:
        thrust, moment = self.wrench()
        return np.array([*self.inertia, self.mq, self.mL, self.g, thrust, *moment])

    @property
    def formulations(self) -> dict[str, ActionFormulation]:
        return {"action": ActionFormulation(BODY_AND_LOAD, _field, self.params)}

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

    def tension(self, y: np.ndarray) -> np.ndarray:
        """Tension of the cable (N), shape (...); negative where a real cable would go slack."""
        parts, r, u = self._pair(y)
        thrust, _ = self.wrench()
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
        if any(self.rotors):
            return {}

        def attitude(y: np.ndarray) -> np.ndarray:
            parts = self.unpack(y)
            return np.einsum("...ij,...j->...i", parts["R"], parts["p_R"])

        def pair(y: np.ndarray) -> np.ndarray:
            _, r, u = self._pair(y)
            return self.mq * self.mL / (self.mq + self.mL) * np.cross(r, u)

        return {"energy": self.energy, "body momentum": attitude, "pair momentum": pair}
