"""The regulator in Euler angles, for comparison: the same linearization, carried over into a chart, and as weights the
same numbers, on other variables, or the gain of the group itself, written for angles.

What a textbook without groups does. Its error is a difference of angles and of their momenta, so it depends on the
chart, fails where the chart is singular, and does not know that two triples of angles may be one attitude (fan IV.B).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.arguments import one_of
from ..core.jit import jit
from ..groups import so3
from ..systems import Pendulum3D
from .lqr import lqr
from .track import Controller

ORDERS = ("XYZ", "ZYX")
GAINS = ("own", "group")
_STEP = 1e-6  # of the difference of the tangent map; half the digits are enough for a gain
# p: inertia, m rho, -g e3 (9), order, h, number of rows; then the rows, one a step
_HEAD, _ROW = 12, 27


def _angles(R: np.ndarray, order: str) -> np.ndarray:
    """(n, 3) about x, y, z of rotations (n, 3, 3): R = Rx(a) Ry(b) Rz(c) for "XYZ", R = Rz(c) Ry(b) Rx(a) for "ZYX"."""
    angles, _ = so3.to_euler(R, order)
    return angles if order == "XYZ" else angles[:, ::-1]


def _tangent_map(angles: np.ndarray, order: str) -> np.ndarray:
    """E with Omega = E angles', columns: the axes of the three angles in the body."""
    (sa, sb, sc), (ca, cb, cc) = np.sin(angles), np.cos(angles)
    if order == "XYZ":
        return np.array([[cb * cc, sc, 0], [-cb * sc, cc, 0], [sb, 0, 1]])
    return np.array([[1, 0, -sb], [0, ca, sa * cb], [0, -sa, ca * cb]])


def _to_chart(angles: np.ndarray, p: np.ndarray, order: str) -> np.ndarray:
    """d(angles, E' p) / d(eta, p): the tangent map from the group to angles and their momenta."""
    E, S = _tangent_map(angles, order), np.zeros((6, 6))
    S[:3, :3], S[3:, 3:] = np.linalg.inv(E), E.T
    slope = [
        (_tangent_map(angles + d, order) - _tangent_map(angles - d, order)).T @ p / (2.0 * _STEP)
        for d in _STEP * np.eye(3)
    ]
    S[3:, :3] = np.array(slope).T @ S[:3, :3]
    return S


@jit
def euler_law(t, y, p):
    """u = u_d - K (differences of angles and of their momenta) at the step that begins at t; a row: angles, their
    momenta, u_d, K."""
    k = _HEAD + _ROW * min(max(int(t / p[10] + 0.5), 0), int(p[11]) - 1)
    x, u = np.zeros(6), np.zeros(3)
    if p[9] == 0.0:
        a = math.atan2(-y[5], y[8])
        b = math.asin(min(max(y[2], -1.0), 1.0))
        c = math.atan2(-y[1], y[0])
        x[3] = math.cos(b) * (math.cos(c) * y[9] - math.sin(c) * y[10]) + math.sin(b) * y[11]
        x[4] = math.sin(c) * y[9] + math.cos(c) * y[10]
        x[5] = y[11]
    else:
        a = math.atan2(y[7], y[8])
        b = -math.asin(min(max(y[6], -1.0), 1.0))
        c = math.atan2(y[3], y[0])
        x[3] = y[9]
        x[4] = math.cos(a) * y[10] - math.sin(a) * y[11]
        x[5] = -math.sin(b) * y[9] + math.cos(b) * (math.sin(a) * y[10] + math.cos(a) * y[11])
    x[0], x[1], x[2] = a, b, c
    for i in range(6):
        x[i] -= p[k + i]
    for i in range(3):
        x[i] = (x[i] + math.pi) % (2.0 * math.pi) - math.pi
    for i in range(3):
        u[i] = p[k + 6 + i]
        for j in range(6):
            u[i] -= p[k + 9 + 6 * i + j] * x[j]
    return u


def euler_regulator(controller: Any, order: str = "XYZ", gain: str = "own") -> Pendulum3D:
    """The 3D pendulum under LQR in Euler angles, about the reference of a `Controller`.

    `order`: "XYZ" or "ZYX", intrinsic, as in `so3.from_euler`. `gain`: with "own" the linearization on the group is
    carried over into angles and their momenta, and Q, QN and R are the same numbers, which there weigh other variables;
    with "group" the gain is K S^-1, that of the `Controller` written for angles (S: derivative of angles and their
    momenta by the error on the group), so that to first order both regulators are the same. Run it with the
    step of that regulator: `solve(euler_regulator(c), (0, N h), y0, method="LGVI", h=h)`. Before and past the reference
    its first and last gain hold; limits of the regulator given do not count. Source: the comparison of fan IV.B.
    ValueError for a reference that meets a singular attitude.
    """
    if not isinstance(controller, Controller):
        raise ValueError(f"controller must be a control.Controller, got {controller!r}")
    body, d = controller.discrete.system, controller.discrete
    if not isinstance(body, Pendulum3D):
        raise ValueError(
            f"controller must be one of a Pendulum3D, whose attitude has the angles, got {type(body).__name__}"
        )
    one_of("order", order, ORDERS)
    one_of("gain", gain, GAINS)
    K, angles, momenta = _in_the_chart(controller, order, gain)
    n = len(K)
    u = np.broadcast_to(controller.u_ref, (n, 3))
    rows = np.hstack([angles[:n], momenta[:n], u, K.reshape(n, 18)])
    inputs = (float(order == "ZYX"), d.h, float(n), *rows.ravel())
    return Pendulum3D(body.inertia, body.mass, body.rho, body.g, euler_law, inputs)


def _in_the_chart(
    c: Controller, order: str, gain: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains (N, 3, 6), angles and their momenta (N + 1, 3) of the reference."""
    held = len(c.A) != c.steps  # an equilibrium, held for so many steps
    nodes = 2 if held else c.steps + 1
    g, p = (
        np.broadcast_to(x, (nodes, x.shape[1])) if len(x) == 1 else x for x in (c.g_ref, c.p_ref)
    )
    angles = _angles(g.reshape(-1, 3, 3), order)
    if np.abs(np.cos(angles[:, 1])).min() < 1e-6:
        raise ValueError(
            f"order={order!r} is singular on the reference (middle angle at 90 degrees); take another order"
        )
    S = np.array([_to_chart(a, m, order) for a, m in zip(angles, p, strict=True)])
    momenta = np.array([_tangent_map(a, order).T @ m for a, m in zip(angles, p, strict=True)])
    if held:
        angles, momenta = (np.repeat(x[:1], c.steps, axis=0) for x in (angles, momenta))
    back = np.linalg.inv(S[:-1])
    if gain == "group":
        return c.K @ back, angles, momenta
    A, B = S[1:] @ c.A @ back, S[1:] @ c.B
    if held:
        K, _ = lqr(A[0], B[0], c.Q, c.R, c.QN, c.steps)
    else:
        K, _ = lqr(A, B, c.Q, c.R, c.QN)
    return K, angles, momenta
