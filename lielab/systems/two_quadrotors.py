"""Two quadrotors that carry a point load on rigid links."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..actions import TWO_QUADROTORS
from ..core.arguments import (
    call_once,
    listed,
    moments,
    named_array,
    number,
    positive,
    positives,
    vector,
)
from ..core.jit import closure, jit
from ..core.readers import field_kernel, made_of
from ..formulations.forms import ActionFormulation
from ..groups import so3
from ..groups.factors import add
from ..groups.so3 import cross_core, mul_core
from ._spheres import project_ts2
from .system import System

# p = m_y, m (2), L (2), g, J1 (3), J2 (3), then the numbers of the control law
_CONTROL = 12
_ATTITUDE_P, _ATTITUDE_D = (
    400.0,
    40.0,
)  # 1/s^2, 1/s: a critically damped attitude, 3 times faster than the links


@jit
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def quadrotors_field(t, y, p, u):
    """f of celledoni 6.1 for the inputs u = u_1, M_1, u_2, M_2: forces in space, moments in the bodies.

    With A = v' - g e3 the load's equation is M_q A = sum_i (u_i . q_i - m_i L_i |w_i|^2) q_i.
    """
    m, g = p[0], p[5]
    a00, a11, a22, a01, a02, a12 = m, m, m, 0.0, 0.0, 0.0
    b0, b1, b2 = 0.0, 0.0, 0.0
    for i in range(2):
        k, mi = 30 + 6 * i, p[1 + i]
        q0, q1, q2 = y[k], y[k + 1], y[k + 2]
        a00, a11, a22 = a00 + mi * q0 * q0, a11 + mi * q1 * q1, a22 + mi * q2 * q2
        a01, a02, a12 = a01 + mi * q0 * q1, a02 + mi * q0 * q2, a12 + mi * q1 * q2
        w2 = y[k + 3] * y[k + 3] + y[k + 4] * y[k + 4] + y[k + 5] * y[k + 5]
        s = u[6 * i] * q0 + u[6 * i + 1] * q1 + u[6 * i + 2] * q2 - mi * p[3 + i] * w2
        b0, b1, b2 = b0 + s * q0, b1 + s * q1, b2 + s * q2
    c0, c1, c2 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
    d = 1.0 / (a00 * c0 + a01 * c1 + a02 * c2)
    c4, c5, c8 = a00 * a22 - a02 * a02, a01 * a02 - a00 * a12, a00 * a11 - a01 * a01
    A = (
        d * (c0 * b0 + c1 * b1 + c2 * b2),
        d * (c1 * b0 + c4 * b1 + c5 * b2),
        d * (c2 * b0 + c5 * b1 + c8 * b2),
    )
    out = np.empty(30)
    for i in range(3):
        out[i] = y[3 + i]
        out[3 + i] = A[i]
    out[5] += g
    for j in range(2):
        k, r, n = 6 + 12 * j, 30 + 6 * j, 6 + 6 * j
        W = (y[k + 9], y[k + 10], y[k + 11])
        spin = mul_core(y[k : k + 9], W)
        JW = (p[6 + 3 * j] * W[0], p[7 + 3 * j] * W[1], p[8 + 3 * j] * W[2])
        gyro = cross_core(JW, W)
        q, mi, L = (y[r], y[r + 1], y[r + 2]), p[1 + j], p[3 + j]
        force = (
            (A[0] - u[6 * j] / mi) / L,
            (A[1] - u[6 * j + 1] / mi) / L,
            (A[2] - u[6 * j + 2] / mi) / L,
        )
        h = cross_core(q, cross_core(q, force))  # q x w', w' = q x (A - u/m)/L
        for i in range(3):
            out[n + i] = spin[i]
            out[n + 3 + i] = (gyro[i] + u[6 * j + 3 + i]) / p[6 + 3 * j + i]
            out[18 + 6 * j + i] = y[r + 3 + i]
            out[21 + 6 * j + i] = h[i]
    return out


@jit
def _constant_inputs(t, y, p):
    return p[_CONTROL : _CONTROL + 12].copy()


@jit
def _link(y, j):
    """q_j, w_j and q_j' = w_j x q_j"""
    r = 30 + 6 * j
    q, w = (y[r], y[r + 1], y[r + 2]), (y[r + 3], y[r + 4], y[r + 5])
    return q, w, cross_core(w, q)


@jit
def _scaled(c, x):
    return (c * x[0], c * x[1], c * x[2])


@jit
def _share(F, p, j):
    """mu_jd = F/2 +- s n, the part of F that link j is to give."""
    k = _CONTROL
    s = p[k + 4] if j == 0 else -p[k + 4]
    return add(_scaled(0.5, F), s, (p[k + 5], p[k + 6], p[k + 7]))


@jit
def load_force(t, y, p):
    """F, the force that the load needs, F' and F'' along the closed loop, and a = (mu_1 + mu_2)/m_y.

    With e = x - x_d: F = m_y (-k_x e - k_v e' + a_d - g e3), mu_i = q_i (q_i . mu_id), e'' = a + g e3 - a_d.
    """
    m, g, k, c = p[0], p[5], _CONTROL, _CONTROL + 8
    kx, kv = p[k], p[k + 1]
    path0, path1 = (p[c], p[c + 1], p[c + 2]), (p[c + 3], p[c + 4], p[c + 5])
    path2 = (p[c + 6], p[c + 7], p[c + 8])
    e3, a_d = (0.0, 0.0, 1.0), _scaled(2.0, path2)
    e = add((y[0], y[1], y[2]), -1.0, add(path0, t, add(path1, t, path2)))
    e1 = add((y[3], y[4], y[5]), -1.0, add(path1, t, a_d))
    F = _scaled(m, add(add(add(a_d, -kx, e), -kv, e1), -g, e3))
    a = a1 = (0.0, 0.0, 0.0)
    for j in range(2):
        q, _, _ = _link(y, j)
        a = add(a, _dot(q, _share(F, p, j)) / m, q)
    e2 = add(add(a, g, e3), -1.0, a_d)
    F1 = _scaled(-m, add(_scaled(kx, e1), kv, e2))
    for j in range(2):
        q, _, q1 = _link(y, j)
        mu = _share(F, p, j)
        a1 = add(a1, _dot(q, mu) / m, q1)
        a1 = add(a1, (_dot(q1, mu) + 0.5 * _dot(q, F1)) / m, q)
    F2 = _scaled(-m, add(_scaled(kx, e2), kv, a1))
    return F, F1, F2, a


@jit
def _target(mu, mu1, mu2):
    """q_d = -mu/|mu|, w_d = q_d x q_d' and w_d' = q_d x q_d'' from mu and its first two derivatives."""
    size = math.sqrt(_dot(mu, mu))
    b = _scaled(1.0 / size, mu)
    grows = _dot(b, mu1)
    b1 = _scaled(1.0 / size, add(mu1, -grows, b))
    # b'' up to a multiple of b
    b2 = _scaled(1.0 / size, add(mu2, -2.0 * grows, b1))
    return _scaled(-1.0, b), cross_core(b, b1), cross_core(b, b2)


@jit
def tracking_inputs(t, y, p):
    """Inputs after Lee, Sreenath & Kumar (2013): the links' forces on the load follow the path.

    Control numbers: kx, kv, kq, kw, s, n (3), path (9: coefficients of 1, t, t^2), then 1 where the thrusts act
    along the quadrotors' axes and moments turn these there, 0 for the paper's simplified model. With mu_id, q_id, w_id
    of the targets, their rates included, e_q = q_id x q_i and e_w = w_i + q_i x (q_i x w_id):

        u_i = mu_i + (m_i L_i |w_i|^2 + m_i q_i . a) q_i - m_i q_i x (q_i x a)
              + m_i L_i q_i x (-k_q e_q - k_w e_w - (q_i . w_id) q_i' - q_i x (q_i x w_id'))
    """
    kq, kw = p[_CONTROL + 2], p[_CONTROL + 3]
    F, F1, F2, a = load_force(t, y, p)
    u = np.zeros(12)
    for j in range(2):
        mj, L = p[1 + j], p[3 + j]
        q, w, q1 = _link(y, j)
        mu_d = _share(F, p, j)
        q_d, w_d, w1_d = _target(mu_d, _scaled(0.5, F1), _scaled(0.5, F2))
        e_q = cross_core(q_d, q)
        e_w = add(w, 1.0, cross_core(q, cross_core(q, w_d)))
        turn = add(_scaled(-kq, e_q), -kw, e_w)
        turn = add(turn, -_dot(q, w_d), q1)
        turn = add(turn, -1.0, cross_core(q, cross_core(q, w1_d)))
        across = add(_scaled(L, cross_core(q, turn)), -1.0, cross_core(q, cross_core(q, a)))
        along = _dot(q, mu_d) + mj * L * _dot(w, w) + mj * _dot(q, a)
        for i in range(3):
            u[6 * j + i] = along * q[i] + mj * across[i]
        if p[_CONTROL + 17] > 0.0:
            _attitude(y, p, j, u)
    return u


@jit
def _attitude(y, p, j, u):
    """Replaces the wanted force by the thrust that the quadrotor can give, and adds the moment that turns it."""
    r = 6 + 12 * j
    R, W = y[r : r + 9], (y[r + 9], y[r + 10], y[r + 11])
    F = (u[6 * j], u[6 * j + 1], u[6 * j + 2])
    size = max(math.sqrt(_dot(F, F)), 1e-12)
    b3 = (-F[0] / size, -F[1] / size, -F[2] / size)
    b2 = cross_core(b3, (1.0, 0.0, 0.0))  # the first axis stays in the plane of e1 and b3
    length = max(math.sqrt(_dot(b2, b2)), 1e-12)
    b2 = (b2[0] / length, b2[1] / length, b2[2] / length)
    b1 = cross_core(b2, b3)
    x = (R[0], R[3], R[6])
    z, v = (R[2], R[5], R[8]), (R[1], R[4], R[7])
    # e = (Rd' R - R' Rd)/2 as a vector
    e = (
        0.5 * (_dot(b3, v) - _dot(b2, z)),
        0.5 * (_dot(b1, z) - _dot(b3, x)),
        0.5 * (_dot(b2, x) - _dot(b1, v)),
    )
    J = (p[6 + 3 * j], p[7 + 3 * j], p[8 + 3 * j])
    gyro = cross_core(W, (J[0] * W[0], J[1] * W[1], J[2] * W[2]))
    thrust = -_dot(F, z)
    for i in range(3):
        u[6 * j + i] = -thrust * z[i]
        u[6 * j + 3 + i] = gyro[i] - J[i] * (_ATTITUDE_P * e[i] + _ATTITUDE_D * W[i])


@jit
def _constant_field(t, y, p):
    return quadrotors_field(t, y, p, _constant_inputs(t, y, p))


@jit
def _tracking_field(t, y, p):
    return quadrotors_field(t, y, p, tracking_inputs(t, y, p))


def _field_with(control: Callable) -> Callable:
    def field(t, y, p):
        return quadrotors_field(t, y, p, control(t, y, p))

    return closure(field)


@dataclass(frozen=True)
class TwoQuadrotors(System):
    """Load y and quadrotors at y - L_i q_i on rigid massless links, with e3 DOWN (along gravity).

        R_i' = R_i hat(Omega_i),  q_i' = w_i x q_i,
        M_q (v' - g e3) = sum_i (u_i . q_i - m_i L_i |w_i|^2) q_i,  M_q = m_y + sum_i m_i q_i q_i^T,
        J_i Omega_i' = J_i Omega_i x Omega_i + M_i,  w_i' = q_i x (v' - g e3 - u_i / m_i) / L_i.

    State: y = x_load (3,), v_load (3,), R1 (3, 3), Omega1 (3,), R2, Omega2, q1 (3,), w1 (3,), q2, w2: 42 numbers; q_i
    points from quadrotor i to the load. `my`, `masses` (kg), `lengths` (m), `inertia1`, `inertia2` (kg m^2),
    `g` (m/s^2).

    `control` gives the inputs u_1, M_1, u_2, M_2 (forces in N in space, moments in N m in the bodies):

        "none"       free flight
        "constant"   the twelve numbers of `inputs`
        "tracking"   the load follows the path sum_k path[k] t^k, the controller of Lee, Sreenath & Kumar (2013) with
                     the rates of the links' targets; forces act in any direction at once, M_i = 0 (the simplified
                     model of the paper)
        "attitude"   the same with thrusts along -R_i e3 and moments that turn the quadrotors
        control(t, y, p)   a reader's own function, twelve numbers; `inputs` is then handed over as p[12:]

    `gains` kx, kv (1/s^2, 1/s, load), kq, kw (links), s (N, the part of the links' forces that spreads them along
    `spread`, a unit vector). Conserved in free flight: the energy and the horizontal momentum.

    Source: celledoni 6, with e3 turned down (errata). The paper takes problem and inputs from Lee, Sreenath & Kumar
    (2013), says what each input does, and names a parabola as path and 0 <= t <= 5. Parameters, gains, the
    coefficients of the parabola, the start and the law for the moments of "attitude" are ours.
    """

    my: float = 0.5
    masses: tuple[float, float] = (0.755, 0.755)
    lengths: tuple[float, float] = (1.0, 1.0)
    inertia1: tuple[float, float, float] = (0.082, 0.0845, 0.1377)
    inertia2: tuple[float, float, float] = (0.082, 0.0845, 0.1377)
    g: float = 9.81
    control: str | Callable = "none"
    inputs: tuple[float, ...] = ()
    gains: tuple[float, float, float, float, float] = (4.0, 4.0, 36.0, 12.0, 3.0)
    spread: tuple[float, float, float] = (0.0, 1.0, 0.0)
    path: tuple[tuple[float, float, float], ...] = (
        (0.0, 0.0, 0.0),
        (1.0, 0.0, -1.0),
        (0.0, 0.0, 0.2),
    )

    parts = (
        ("x_load", (3,)),
        ("v_load", (3,)),
        ("R1", (3, 3)),
        ("Omega1", (3,)),
        ("R2", (3, 3)),
        ("Omega2", (3,)),
        ("q1", (3,)),
        ("w1", (3,)),
        ("q2", (3,)),
        ("w2", (3,)),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "my", positive("my", self.my))
        for name in ("masses", "lengths"):
            object.__setattr__(self, name, positives(name, getattr(self, name), 2))
        for name in ("inertia1", "inertia2"):
            object.__setattr__(self, name, moments(name, getattr(self, name)))
        object.__setattr__(self, "g", number("g", self.g))
        known = ("none", "constant", "tracking", "attitude")
        if not callable(self.control) and (
            not isinstance(self.control, str) or self.control not in known
        ):
            raise ValueError(
                f"control must be a function control(t, y, p) or one of {', '.join(known)}, got {self.control!r}"
            )
        inputs = tuple(number("inputs", x) for x in listed("inputs", self.inputs, "numbers"))
        if self.control == "constant" and len(inputs) != 12:
            raise ValueError(f"inputs must be twelve numbers u_1, M_1, u_2, M_2, got {len(inputs)}")
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "gains", vector("gains", self.gains, 5))
        object.__setattr__(self, "spread", vector("spread", self.spread, 3))
        path = listed("path", self.path, "three coefficients (of 1, t, t^2)")
        if len(path) != 3:
            raise ValueError(f"path must be three coefficients (of 1, t, t^2), got {len(path)}")
        object.__setattr__(self, "path", tuple(vector("path", row, 3) for row in path))
        if callable(self.control):
            start, p = self.y0, self.params
            call_once("control", self.control, "t, y, p", 0.0, start, p, sometime=True)

    @property
    def y0(self) -> np.ndarray:
        """A start in motion, with both quadrotors tilted and the links swinging."""
        q1, q2 = np.array([0.3, -0.4, 0.9]), np.array([-0.2, 0.5, 0.8])
        q1, q2 = q1 / np.linalg.norm(q1), q2 / np.linalg.norm(q2)
        return self.pack(
            x_load=[0.1, 0.2, -0.3],
            v_load=[0.2, -0.1, 0.05],
            R1=so3.exp([0.1, -0.2, 0.3]),
            Omega1=[0.5, -0.3, 0.2],
            R2=so3.exp([-0.3, 0.1, 0.2]),
            Omega2=[-0.2, 0.4, 0.6],
            q1=q1,
            w1=np.cross(q1, [0.3, 0.1, -0.2]),
            q2=q2,
            w2=np.cross(q2, [-0.1, 0.4, 0.2]),
        )

    @property
    def params(self) -> np.ndarray:
        head = [self.my, *self.masses, *self.lengths, self.g, *self.inertia1, *self.inertia2]
        if self.control == "none":
            return np.array(head + [0.0] * 12)
        if self.control in ("tracking", "attitude"):
            path = [x for row in self.path for x in row]
            flag = float(self.control == "attitude")
            return np.array([*head, *self.gains, *self.spread, *path, flag])
        return np.array([*head, *self.inputs])

    @made_of("control")
    def formulations(self) -> dict[str, Any]:
        if callable(self.control):
            kernel = field_kernel(self.control, (0.0, self.y0, self.params))
            if np.shape(kernel(0.0, self.y0, self.params)) != (12,):
                raise ValueError(
                    "control must return twelve numbers u_1, M_1, u_2, M_2, got shape "
                    f"{np.shape(kernel(0.0, self.y0, self.params))}"
                )
            field = _field_with(kernel)
        elif self.control in ("tracking", "attitude"):
            field = _tracking_field
        else:
            field = _constant_field
        return {"action": ActionFormulation(TWO_QUADROTORS, field, self.params)}

    def project(self, y: np.ndarray) -> np.ndarray:
        """States with R_i the nearest rotations, unit q_i and w_i orthogonal to them."""
        y = np.array(y, dtype=float)
        for start in (6, 18):
            R = so3.project(y[..., start : start + 9].reshape(*y.shape[:-1], 3, 3))
            y[..., start : start + 9] = R.reshape(*y.shape[:-1], 9)
        y[..., 30:] = project_ts2(y[..., 30:])
        return y

    def desired(self, t: Any) -> np.ndarray:
        """Place of the load on the path at times t, shape (..., 3)."""
        t = named_array("t", t)[..., None]
        a, b, c = (np.array(row) for row in self.path)
        with np.errstate(all="ignore"):
            return a + t * (b + t * c)

    def link_targets(self, t: Any, y: np.ndarray) -> np.ndarray:
        """Directions that the tracking controllers want for q_1, q_2: t (...,), y (..., 42) -> (..., 2, 3)."""
        if self.control not in ("tracking", "attitude"):
            raise ValueError(
                f"control={self.control!r} has no targets for the links; use control='tracking' or 'attitude'"
            )
        parts, t = self.unpack(y), np.asarray(t, dtype=float)[..., None]
        kx, kv, _, _, s = self.gains
        _, b, c = (np.array(row) for row in self.path)
        off = parts["x_load"] - self.desired(t[..., 0])
        pull = 2.0 * c - kx * off - kv * (parts["v_load"] - b - 2.0 * t * c)
        half = 0.5 * self.my * (pull - np.array([0.0, 0.0, self.g]))
        apart = s * np.array(self.spread)
        forces = np.stack([half + apart, half - apart], axis=-2)  # of the links on the load
        return -forces / np.linalg.norm(forces, axis=-1, keepdims=True)

    def inputs_at(self, t: Any, y: Any) -> np.ndarray:
        """The inputs u_1, M_1, u_2, M_2 at times t (n,) and states y (n, 42), shape (n, 12)."""
        t, y = np.atleast_1d(np.asarray(t, dtype=float)), np.atleast_2d(np.asarray(y, dtype=float))
        if callable(self.control):
            law = self.control
        else:
            law = tracking_inputs if self.control in ("tracking", "attitude") else _constant_inputs
        rows = [law(s, np.ascontiguousarray(row), self.params) for s, row in zip(t, y, strict=True)]
        return np.array(rows, dtype=float)

    def places(self, y: np.ndarray) -> np.ndarray:
        """Places (m) of load, quadrotor 1, quadrotor 2, shape (..., 3, 3), one row each."""
        parts = self.unpack(y)
        x = parts["x_load"]
        return np.stack(
            [x, x - self.lengths[0] * parts["q1"], x - self.lengths[1] * parts["q2"]], axis=-2
        )

    def _velocities(self, y: np.ndarray) -> np.ndarray:
        parts = self.unpack(y)
        v = parts["v_load"]
        one = v - self.lengths[0] * np.cross(parts["w1"], parts["q1"])
        two = v - self.lengths[1] * np.cross(parts["w2"], parts["q2"])
        return np.stack([v, one, two], axis=-2)

    def momentum(self, y: np.ndarray) -> np.ndarray:
        """Linear momentum (kg m/s), shape (..., 3); its rate is the weight plus u_1 + u_2."""
        mass = np.array([self.my, *self.masses])
        return (mass[:, None] * self._velocities(y)).sum(-2)

    def energy(self, y: np.ndarray) -> np.ndarray:
        """Kinetic plus potential energy (J); e3 points down."""
        parts = self.unpack(y)
        mass = np.array([self.my, *self.masses])
        kinetic = (mass * (self._velocities(y) ** 2).sum(-1)).sum(-1)
        for name, J in (("Omega1", self.inertia1), ("Omega2", self.inertia2)):
            kinetic = kinetic + (parts[name] ** 2 * np.array(J)).sum(-1)
        return 0.5 * kinetic - self.g * (mass * self.places(y)[..., 2]).sum(-1)

    @property
    def invariants(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Of free flight; empty with control."""
        if self.control != "none":
            return {}

        def horizontal(y: np.ndarray) -> np.ndarray:
            return self.momentum(y)[..., :2]

        return {"energy": self.energy, "horizontal momentum": horizontal}
