"""Two quadrotors that carry a point load on rigid links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from ..core.jit import closure, jit, lent
from ..core.readers import field_kernel, made_of
from ..core.values import (
    E1,
    E2,
    E3,
    ONE,
    ZERO,
    Mat3,
    Vec3,
    cross,
    dot,
    mat3,
    norm,
    outer,
    solve,
    store,
    vec3,
)
from ..formulations.forms import ActionFormulation
from ..groups import so3
from ._spheres import project_ts2
from .system import System

# p = m_y, m (2), L (2), g, J1 (3), J2 (3), then the numbers of the control law
_CONTROL = 12
# 1/s^2, 1/s: a critically damped attitude, 3 times faster than the links
_ATTITUDE_P, _ATTITUDE_D = 400.0, 40.0


class Quadrotor(NamedTuple):
    """One of the two: its numbers, attitude and link, from parameters and state."""

    m: float
    L: float
    J: Vec3  # the diagonal
    R: Mat3
    Omega: Vec3
    q: Vec3
    w: Vec3


@jit
def _quadrotor(y, p, j):
    """m, L and J of quadrotor j from p, R, Omega, q and w from y."""
    k, r = 6 + 12 * j, 30 + 6 * j
    R, Omega, q, w = mat3(y, k), vec3(y, k + 9), vec3(y, r), vec3(y, r + 3)
    return Quadrotor(p[1 + j], p[3 + j], vec3(p, 6 + 3 * j), R, Omega, q, w)


@jit
def quadrotors_field(t, y, p, u):
    """f of celledoni 6.1 for the inputs u = u_1, M_1, u_2, M_2: forces in space, moments in the bodies.

    f = v, v', R_1 Omega_1, Omega_1', R_2 Omega_2, Omega_2', w_1, q_1 x w_1', w_2, q_2 x w_2', with the derivatives of
    celledoni (38).
    """
    y, p, u = lent(y), lent(p), lent(u)
    my, g = p[0], p[5]
    out = np.empty(30)
    Mq, h2 = my * ONE, ZERO  # M_q, and the paper's h_2 without its M_q g e3
    for i in range(2):
        m, L, _, _, _, q, w = _quadrotor(y, p, i)
        Mq += m * outer(q, q)
        u_along = dot(vec3(u, 6 * i), q)
        h2 += (u_along - m * L * dot(w, w)) * q
    a = solve(Mq, h2)  # a = v' - g e3, M_q a = h_2: celledoni (37), row 2
    store(vec3(y, 3), out, 0)
    store(a + g * E3, out, 3)  # v'
    for i in range(2):
        m, L, J, R, Omega, q, w = _quadrotor(y, p, i)
        ui, Mi = vec3(u, 6 * i), vec3(u, 6 * i + 3)
        store(R @ Omega, out, 6 + 6 * i)  # R Omega, so that R' = R hat(Omega): celledoni (36)
        dOmega = (cross(J * Omega, Omega) + Mi) / J  # Omega': celledoni (37), rows 3, 4
        store(dOmega, out, 9 + 6 * i)
        store(w, out, 18 + 6 * i)  # q' = w x q: celledoni (36)
        # w' = q x (v' - g e3 - u/m)/L, as q x u is q x the part of u across q: celledoni (37), rows 5, 6
        dw = cross(q, (a - ui / m) / L)
        store(cross(q, dw), out, 21 + 6 * i)  # q x w': celledoni 6.1
    return out


@jit
def _constant_inputs(t, y, p):
    return p[_CONTROL : _CONTROL + 12].copy()


class Law(NamedTuple):
    """The numbers of the control law."""

    kx: float
    kv: float
    kq: float
    kw: float
    s: float
    n: Vec3
    path0: Vec3  # coefficients of 1, t, t^2
    path1: Vec3
    path2: Vec3
    attitude: float  # above 0 where the thrusts act along the quadrotors' axes and moments turn these there


@jit
def _law(p):
    k = _CONTROL
    n, path0, path1, path2 = vec3(p, k + 5), vec3(p, k + 8), vec3(p, k + 11), vec3(p, k + 14)
    return Law(p[k], p[k + 1], p[k + 2], p[k + 3], p[k + 4], n, path0, path1, path2, p[k + 17])


@jit
def mu_desired(F, p, j):
    """mu_jd = F/2 +- s n, the part of F that link j is to give."""
    law = _law(p)
    return 0.5 * F + (law.s if j == 0 else -law.s) * law.n


@jit
def load_force(t, y, p):
    """F, the force that the load needs, F' and F'' along the closed loop, and a = (mu_1 + mu_2)/m_y.

    With e = x - x_d: F = m_y (-k_x e - k_v e' + a_d - g e3), mu_i = q_i (q_i . mu_id), e'' = a + g e3 - a_d.
    """
    law, m, g = _law(p), p[0], p[5]
    kx, kv = law.kx, law.kv
    a_d = 2.0 * law.path2
    e = vec3(y, 0) - (law.path0 + t * (law.path1 + t * law.path2))
    e1 = vec3(y, 3) - (law.path1 + t * a_d)
    F = m * (a_d - kx * e - kv * e1 - g * E3)
    a = a1 = ZERO
    for j in range(2):
        q = _quadrotor(y, p, j).q
        a += dot(q, mu_desired(F, p, j)) / m * q
    e2 = a + g * E3 - a_d
    F1 = -m * (kx * e1 + kv * e2)
    for j in range(2):
        _, _, _, _, _, q, w = _quadrotor(y, p, j)
        q1, mu, mu1 = cross(w, q), mu_desired(F, p, j), 0.5 * F1
        a1 += dot(q, mu) / m * q1
        a1 += (dot(q1, mu) + dot(q, mu1)) / m * q
    F2 = -m * (kx * e2 + kv * a1)
    return F, F1, F2, a


@jit
def _target(mu, mu1, mu2):
    """q_d = -mu/|mu|, w_d = q_d x q_d' and w_d' = q_d x q_d'' from mu and its first two derivatives."""
    size = norm(mu)
    b = 1.0 / size * mu
    grows = dot(b, mu1)
    b1 = 1.0 / size * (mu1 - grows * b)
    b2 = 1.0 / size * (mu2 - 2.0 * grows * b1)  # b'' up to a multiple of b
    return -b, cross(b, b1), cross(b, b2)


@jit
def tracking_inputs(t, y, p):
    """Inputs after Lee, Sreenath & Kumar (2013): the links' forces on the load follow the path (celledoni 6.2).

    celledoni says what the part of u_i along q_i and the part across it are for, and leaves the law to that reference.
    With mu_id, q_id, w_id of the targets, their rates included, e_q = q_id x q_i and e_w = w_i + q_i x (q_i x w_id):

        u_i = mu_i + (m_i L_i |w_i|^2 + m_i q_i . a) q_i - m_i q_i x (q_i x a)
              + m_i L_i q_i x (-k_q e_q - k_w e_w - (q_i . w_id) q_i' - q_i x (q_i x w_id'))
    """
    law, u = _law(p), np.zeros(12)
    F, F1, F2, a = load_force(t, y, p)
    for j in range(2):
        m, L, _, _, _, q, w = _quadrotor(y, p, j)
        q1, mu_d = cross(w, q), mu_desired(F, p, j)
        q_d, w_d, w1_d = _target(mu_d, 0.5 * F1, 0.5 * F2)
        e_q = cross(q_d, q)
        e_w = w + cross(q, cross(q, w_d))
        turn = -law.kq * e_q - law.kw * e_w - dot(q, w_d) * q1 - cross(q, cross(q, w1_d))
        along = dot(q, mu_d) + m * L * dot(w, w) + m * dot(q, a)
        store(along * q + m * (L * cross(q, turn) - cross(q, cross(q, a))), u, 6 * j)
        if law.attitude > 0.0:
            _attitude(y, p, j, u)
    return u


@jit
def _attitude(y, p, j, u):
    """Replaces the wanted force by the thrust that the quadrotor can give, and adds the moment that turns it."""
    _, _, J, R, Omega, _, _ = _quadrotor(y, p, j)
    F, x, v, z = vec3(u, 6 * j), R @ E1, R @ E2, R @ E3
    b3 = -F / max(norm(F), 1e-12)
    b2 = cross(b3, E1)  # the first axis stays in the plane of e1 and b3
    b2 /= max(norm(b2), 1e-12)
    b1 = cross(b2, b3)
    # e = (Rd' R - R' Rd)/2 as a vector
    e = 0.5 * Vec3(dot(b3, v) - dot(b2, z), dot(b1, z) - dot(b3, x), dot(b2, x) - dot(b1, v))
    thrust = -dot(F, z)
    store(-thrust * z, u, 6 * j)
    store(cross(Omega, J * Omega) - J * (_ATTITUDE_P * e + _ATTITUDE_D * Omega), u, 6 * j + 3)


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
