"""Three ellipsoids on ball joints that swim in a perfect fluid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..actions import THREE_BODIES
from ..core.arguments import listed, number, one_of, positives, vector
from ..core.jit import jit
from ..core.readers import made_of
from ..formulations.forms import ActionFormulation
from ..formulations.lagrangian import SO3, DiscreteLagrangianFormulation
from ..groups import so3
from ..groups.factors import matrix, triple
from ..groups.so3 import back_core, cross_core, mul_core
from ._swimming import discrete_lagrangian, joint_forces
from .added_inertia import added_inertia
from .system import System

# p = M (3 x 3), J (3 x 3): diagonals body by body; d01, d02, d10, d20 (3 each); then the joints' torques:
# amplitude 1 (3), amplitude 2 (3), frequency (Hz), phase 1, phase 2 (rad)
_M, _J, _D, _T = 0, 9, 18, 30


@jit
def _matrix(y, i):
    """R_i as a tuple."""
    k = 0 if i == 0 else 3 + 9 * i
    return matrix(y, k)


@jit
def _scale(a, b):
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@jit
def _velocity_map(y, p, out):
    """out (3, 3, 12): V_i = B_i xi, the velocities of the bodies' centres in their frames (lee (1)-(3))."""
    for i in range(3):
        R = _matrix(y, i)
        for c in range(12):
            v = (0.0, 0.0, 0.0)
            e = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
            if 3 <= c < 6:
                v = back_core(R, e)
            elif c < 3 and i > 0:
                turned = cross_core(e, triple(p, _D + 3 * (i - 1)))
                v = back_core(R, mul_core(_matrix(y, 0), turned))
            elif i > 0 and c // 3 == i + 1:
                d = cross_core(triple(p, _D + 3 + 3 * i), e)
                v = d
            for k in range(3):
                out[i, k, c] = v[k]


@jit
def inertia_matrix(y, p):
    """The symmetric positive definite 12 x 12 matrix (5) of lee: sum_i B_i' M_i B_i plus the J_i."""
    B = np.empty((3, 3, 12))
    _velocity_map(y, p, B)
    out = np.zeros((12, 12))
    for a in range(12):
        for b in range(a + 1):
            total = 0.0
            for i in range(3):
                for k in range(3):
                    total += B[i, k, a] * p[_M + 3 * i + k] * B[i, k, b]
            out[a, b] = total
            out[b, a] = total
    for k in range(3):
        out[k, k] += p[_J + k]
        out[6 + k, 6 + k] += p[_J + 3 + k]
        out[9 + k, 9 + k] += p[_J + 6 + k]
    return out


@jit
def cholesky_solve(A, b):
    """x with A x = b for a symmetric positive definite A; both are overwritten, x is in b."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                A[i, i] = math.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
    for i in range(n):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= A[k, i] * b[k]
        b[i] /= A[i, i]


@jit
def _joint_torques(t, y, p, out):
    """Torques of the two joints: amplitude sin(2 pi f t + phase), given in body 0 and returned in body i."""
    for i in range(1, 3):
        s = math.sin(2.0 * math.pi * p[_T + 6] * t + p[_T + 6 + i])
        a = triple(p, _T + 3 * i - 3)
        torque = (s * a[0], s * a[1], s * a[2])
        own = back_core(_matrix(y, i), mul_core(_matrix(y, 0), torque))
        for k in range(3):
            out[k] -= torque[k]
            out[3 + 3 * i + k] += own[k]


@jit
def _hamiltonian(t, y, p):
    """f = (-Omega_i, x' and the torques of (26)-(28))."""
    xi = np.empty(12)
    for k in range(12):
        xi[k] = y[30 + k]
    cholesky_solve(inertia_matrix(y, p), xi)
    W0, v = triple(xi, 0), triple(xi, 3)
    R0 = _matrix(y, 0)
    V0 = back_core(R0, v)
    out = np.zeros(24)
    rate = np.zeros(12)
    c = cross_core(_scale(triple(p, _M), V0), V0)  # -V0 x M0 V0
    for k in range(3):
        rate[k] = c[k]
    for i in range(1, 3):
        R = _matrix(y, i)
        d0, di = triple(p, _D + 3 * (i - 1)), triple(p, _D + 3 + 3 * i)
        arm = cross_core(d0, W0)  # -(velocity of the joint in body 0)
        shift = mul_core(R0, arm)
        joint = back_core(R, (v[0] - shift[0], v[1] - shift[1], v[2] - shift[2]))
        turn = cross_core(di, triple(xi, 3 + 3 * i))
        V = (joint[0] + turn[0], joint[1] + turn[1], joint[2] + turn[2])
        MV = _scale(triple(p, _M + 3 * i), V)
        own = cross_core(MV, joint)
        back = cross_core(arm, back_core(R0, mul_core(R, MV)))
        for k in range(3):
            rate[3 + 3 * i + k] = own[k]
            rate[k] -= back[k]
    _joint_torques(t, y, p, rate)
    for k in range(3):
        out[k] = -W0[k]
        out[3 + k] = v[k]
    for k in range(6, 12):
        out[k] = -xi[k]
    for k in range(12):
        out[12 + k] = rate[k]
    return out


@jit
def _commute(M, W, a):
    """(hat(W) M - M hat(W)) a"""
    b = cross_core(W, _scale(M, a))
    c = _scale(M, cross_core(W, a))
    return (b[0] - c[0], b[1] - c[1], b[2] - c[2])


@jit
def _lagrangian(t, y, p):
    """f = (-Omega_i, x' and xi' of (21)); the third to fifth blocks of y are xi = (Omega0, x', Omega1, Omega2)."""
    R0 = _matrix(y, 0)
    W0, v = triple(y, 30), triple(y, 33)
    V0 = back_core(R0, v)
    M0 = triple(p, _M)
    b = np.zeros(12)
    a1 = cross_core(_scale(triple(p, _J), W0), W0)
    a2 = cross_core(_scale(M0, V0), V0)
    a3 = mul_core(R0, _commute(M0, W0, V0))
    for k in range(3):
        b[k] = a1[k] + a2[k]
        b[3 + k] = -a3[k]
    for i in range(1, 3):
        R, W, M = _matrix(y, i), triple(y, 33 + 3 * i), triple(p, _M + 3 * i)
        d0, di = triple(p, _D + 3 * (i - 1)), triple(p, _D + 3 + 3 * i)
        arm = cross_core(d0, W0)
        shift = mul_core(R0, arm)
        joint = back_core(R, (v[0] - shift[0], v[1] - shift[1], v[2] - shift[2]))
        turn = cross_core(di, W)
        V = (joint[0] + turn[0], joint[1] + turn[1], joint[2] + turn[2])
        one = _commute(M, W, joint)
        two = _scale(M, back_core(R, mul_core(R0, cross_core(W0, arm))))
        three = cross_core(W, _scale(M, turn))
        w = (one[0] - two[0] + three[0], one[1] - two[1] + three[1], one[2] - two[2] + three[2])
        outside = mul_core(R, w)
        first = cross_core(d0, back_core(R0, outside))
        gyro = cross_core(_scale(triple(p, _J + 3 * i), W), W)
        drift = cross_core(_scale(M, V), V)
        third = cross_core(di, w)
        for k in range(3):
            b[k] -= first[k]
            b[3 + k] -= outside[k]
            b[3 + 3 * i + k] += gyro[k] + drift[k] + third[k]
    _joint_torques(t, y, p, b)
    cholesky_solve(inertia_matrix(y, p), b)
    out = np.empty(24)
    for k in range(3):
        out[k] = -W0[k]
        out[3 + k] = v[k]
    for k in range(6, 12):
        out[k] = -y[30 + k]
    for k in range(12):
        out[12 + k] = b[k]
    return out


# Printed in lee V: four decimals, for masses of 1, 1/4, 1/4 kg.
_PRINTED_M = ((1.0659, 2.1696, 1.6641), (0.2664, 0.6551, 0.3677), (0.2664, 0.6551, 0.3677))
_PRINTED_J = ((1.3480, 20.1500, 25.3276), (0.1961, 1.7889, 2.9210), (0.1961, 1.7889, 2.9210))
_AXES = ((8.0, 1.5, 2.0), (5.0, 0.8, 1.5), (5.0, 0.8, 1.5))
_JOINTS = ((8.8, 0.0, 0.0), (-8.8, 0.0, 0.0), (-5.5, 0.0, 0.0), (5.5, 0.0, 0.0))
_XI0 = (0.2, 0.1, 0.5, 0.0, -0.4142, -0.59, 0.1, -0.3, -0.2, -0.1, 0.4, -0.6)


@dataclass(frozen=True)
class ConnectedBodies(System):
    """Central body 0 and bodies 1, 2 on ball joints, neutrally buoyant ellipsoids in irrotational flow.

    With xi = (Omega_0, x', Omega_1, Omega_2) the energy is xi . I(R) xi / 2, and mu = I(R) xi = (p_0, p_x, p_1,
    p_2) obeys

        R_i' = R_i hat(Omega_i),  p_x' = 0,
        p_0' = p_0 x Omega_0 + M_0 V_0 x V_0 - sum_i (d_0i x Omega_0) x R_0' R_i M_i V_i - sum_i R_0' tau_i,
        p_i' = p_i x Omega_i + M_i V_i x R_i' (x' - R_0 (d_0i x Omega_0)) + R_i' tau_i,
        V_i = R_i' (x' - R_0 (d_0i x Omega_0)) + d_i0 x Omega_i.

    Omega_i, V_i, M_i, J_i are in the frame of body i; x (centre of body 0) and p_x in space. Each body feels
    its own added inertia only. State, `formulation="hamiltonian"`: y = R0 (3, 3), x (3,), R1 (3, 3), R2 (3, 3),
    p0 (3,), p_x (3,), p1 (3,), p2 (3,), matrices row-major; kg m^2/s and kg m/s. `"lagrangian"`: the velocities
    Omega0, v = x', Omega1, Omega2 (rad/s, m/s) in place of the momenta, with the equations (21).

    `inertia="printed"` takes the M (kg) and J (kg m^2) printed with four decimals; `"computed"` computes them
    from the semi-axes `axes` (m) and `masses` (kg). `joints`: d_01, d_02, d_10, d_20 (m) in the bodies' frames.
    `torques`: amplitudes of the joint torques tau_1, tau_2 (N m, components in body 0), which vary as sin(2 pi
    frequency t + phase): `frequency` (Hz), `phases` (rad); they are internal, so the momenta are conserved.

    Conserved: p_x, the angular momentum x x p_x + sum R_i p_i, and without torques the energy. Source: lee 2,
    3, the sign of d_10 = -d_20 corrected.
    """

    formulation: str = "hamiltonian"
    inertia: str = "printed"
    axes: tuple[tuple[float, float, float], ...] = _AXES
    masses: tuple[float, float, float] = (1.0, 0.25, 0.25)
    joints: tuple[tuple[float, float, float], ...] = _JOINTS
    torques: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    frequency: float = 0.0
    phases: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name, known in (("formulation", _FIELDS), ("inertia", ("printed", "computed"))):
            one_of(name, getattr(self, name), known)
        for name, length in (("axes", 3), ("joints", 4), ("torques", 2)):
            rows = listed(name, getattr(self, name), "triples")
            if len(rows) != length:
                raise ValueError(f"{name} must hold {length} triples, got {len(rows)}")
            read = positives if name == "axes" else vector
            object.__setattr__(self, name, tuple(read(name, row, 3) for row in rows))
        object.__setattr__(self, "masses", positives("masses", self.masses, 3))
        object.__setattr__(self, "frequency", number("frequency", self.frequency))
        object.__setattr__(self, "phases", vector("phases", self.phases, 2))
        if self.inertia == "printed" and (self.axes, self.masses) != (_AXES, (1.0, 0.25, 0.25)):
            raise ValueError(
                'axes and masses belong to inertia="computed"; the printed M and J are for the default ones'
            )

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        tail = ("p0", "p_x", "p1", "p2")
        if self.formulation == "lagrangian":
            tail = ("Omega0", "v", "Omega1", "Omega2")
        head = (("R0", (3, 3)), ("x", (3,)), ("R1", (3, 3)), ("R2", (3, 3)))
        return head + tuple((name, (3,)) for name in tail)

    @cached_property
    def M_and_J(self) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of the M_i (kg) and J_i (kg m^2), each (3, 3), a row for each body."""
        if self.inertia == "printed":
            return np.array(_PRINTED_M), np.array(_PRINTED_J)
        pairs = [
            added_inertia(axes, mass) for axes, mass in zip(self.axes, self.masses, strict=True)
        ]
        return np.array([M for M, _ in pairs]), np.array([J for _, J in pairs])

    @property
    def y0(self) -> np.ndarray:
        """All R_i = 1 and x = 0, the velocities of lee V; the linear momentum is zero to four digits."""
        y = self.at_rest()
        y[30:] = _XI0
        return y if self.formulation == "lagrangian" else self.to_momenta(y)

    def at_rest(self) -> np.ndarray:
        """State with all R_i = 1 and nothing moving."""
        eye = np.eye(3).ravel()
        return np.concatenate([eye, np.zeros(3), eye, eye, np.zeros(12)])

    @cached_property
    def params(self) -> np.ndarray:
        M, J = self.M_and_J
        joints = [x for row in self.joints for x in row]
        torques = [x for row in self.torques for x in row]
        return np.array([*M.ravel(), *J.ravel(), *joints, *torques, self.frequency, *self.phases])

    @made_of()
    def formulations(self) -> dict[str, Any]:
        field = _FIELDS[self.formulation]
        velocities = self.formulation == "lagrangian"
        return {
            "action": ActionFormulation(THREE_BODIES, field, self.params),
            "lagrangian": DiscreteLagrangianFormulation(
                (SO3, 3, SO3, SO3),
                discrete_lagrangian,
                self.params,
                force=joint_forces if np.any(self.torques) else None,
                encode=self.to_momenta if velocities else None,
                decode=self.to_velocities if velocities else None,
            ),
        }

    def _rows(self, y: Any) -> np.ndarray:
        y = np.asarray(y, dtype=float)
        if y.shape[-1:] != (42,):
            raise ValueError(f"y must have shape (..., 42), got {y.shape}")
        return np.require(y.reshape(-1, 42), float, "CW")

    def to_momenta(self, y: Any) -> np.ndarray:
        """States (R0, x, R1, R2, mu) from states with the velocities xi, shape (..., 42)."""
        rows = self._rows(y).copy()
        for row in rows:
            row[30:] = inertia_matrix(row, self.params) @ row[30:]
        return rows.reshape(np.shape(y))

    def to_velocities(self, y: Any) -> np.ndarray:
        """States (R0, x, R1, R2, xi) from states with the momenta mu, shape (..., 42)."""
        rows = self._rows(y).copy()
        for row in rows:
            cholesky_solve(inertia_matrix(row, self.params), row[30:])
        return rows.reshape(np.shape(y))

    def project(self, y: Any) -> np.ndarray:
        """States with the R_i the nearest rotations, the rest as it is."""
        y = np.array(y, dtype=float)
        for k in (0, 12, 21):
            R = so3.project(y[..., k : k + 9].reshape(*y.shape[:-1], 3, 3))
            y[..., k : k + 9] = R.reshape(*y.shape[:-1], 9)
        return y

    def centres(self, y: Any) -> np.ndarray:
        """Places (m) of the three bodies' centres, shape (..., 3, 3), one row each."""
        parts = self.unpack(y)
        d = np.array(self.joints)
        turned = [parts["x"] + parts["R0"] @ d[i] - parts[f"R{i + 1}"] @ d[2 + i] for i in range(2)]
        return np.stack([parts["x"], *turned], axis=-2)

    def energy(self, y: Any) -> np.ndarray:
        """Kinetic energy of bodies and fluid, mu . xi / 2 (J)."""
        y = np.asarray(y, dtype=float)
        lagrangian = self.formulation == "lagrangian"
        other = self.to_momenta(y) if lagrangian else self.to_velocities(y)
        return 0.5 * (y[..., 30:] * other[..., 30:]).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        def momenta(y: np.ndarray) -> np.ndarray:
            return (
                self.to_momenta(y)
                if self.formulation == "lagrangian"
                else np.asarray(y, dtype=float)
            )

        def linear(y: np.ndarray) -> np.ndarray:
            return momenta(y)[..., 33:36]

        def angular(y: np.ndarray) -> np.ndarray:
            z = momenta(y)
            total = np.cross(z[..., 9:12], z[..., 33:36])
            for k, p in ((0, 30), (12, 36), (21, 39)):
                R = z[..., k : k + 9].reshape(*z.shape[:-1], 3, 3)
                total = total + np.einsum("...ij,...j->...i", R, z[..., p : p + 3])
            return total

        named: dict[str, Callable] = {"linear momentum": linear, "angular momentum": angular}
        if not any(x for row in self.torques for x in row):
            named["energy"] = self.energy
        return named


_FIELDS = {"hamiltonian": _hamiltonian, "lagrangian": _lagrangian}
