"""Discrete differential flatness of the quadrotor with a suspended load: a reference from the load's path and the yaw.

The load's equation gives the cable, hence the quadrotor's place; its equation the thrust, hence (with the yaw) the
attitude; the attitude's equation the moment. Here with the differences of the variational integrator in place of
derivatives, so that the result satisfies the *discrete* equations to round-off; a sampled continuous reference misses
them by O(h^3) in a step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.arguments import count, function_of, named_array, positive
from ..groups import so3
from ..systems import QuadrotorWithLoad
from .lqr import MOST_STEPS

_E3 = np.array([0.0, 0.0, 1.0])


def flat_reference(
    system: QuadrotorWithLoad,
    load: Callable[[float], np.ndarray],
    yaw: Callable[[float], float],
    h: float,
    steps: int,
    retraction: str = "cay",
) -> tuple[np.ndarray, np.ndarray]:
    """States y (steps + 1, dim) and rotor speeds u (steps, 4) along which the load follows `load(t)` (m).

    `yaw(t)` (rad) names a horizontal direction, (cos, sin, 0); the body's first axis is that direction made orthogonal
    to the thrust. Where the body leans to both sides the first axis seen from above points beside it, by an angle of
    second order in the lean. Both are functions of time that can be evaluated before 0 and beyond the end; e3 is up.
    ValueError where the load would fall freely or a rotor would have to turn backwards: move more slowly. The momenta
    are those before the cable's impulse (fan (10)).
    """
    if retraction not in ("cay", "exp"):
        raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
    if not isinstance(system, QuadrotorWithLoad):
        raise ValueError(f"system must be a QuadrotorWithLoad, got {system!r}")
    function_of("load", load, "t")
    function_of("yaw", yaw, "t")
    h, steps = positive("h", h), count("steps", steps, most=MOST_STEPS)
    # nodes -1 ... steps + 1, and one more on each side for every second difference
    times = h * np.arange(-3, steps + 4)
    x_L = np.array([named_array("load", load(t)) for t in times])
    if x_L.shape != (len(times), 3):
        raise ValueError(f"load must return three numbers, got shape {x_L.shape[1:]}")
    pull = system.mL * (np.diff(x_L, 2, axis=0) / h**2 + system.g * _E3)  # the force on the load
    tension = np.linalg.norm(pull, axis=1)
    if tension.min() < 1e-6 * system.mL * system.g:
        raise ValueError(
            "load falls freely somewhere, which leaves the cable no direction; move more slowly"
        )
    cable = -pull / tension[:, None]  # from the quadrotor to the load
    x_q = x_L[1:-1] - system.L * cable
    # thrust vector, averaged over the two steps that meet at a node
    lift = (
        system.mq * (np.diff(x_q, 2, axis=0) / h**2 + system.g * _E3)
        - (tension[:, None] * cable)[1:-1]
    )
    R = _attitudes(lift, [yaw(t) for t in times[2:-2]])
    x_L, x_q, tension, cable = x_L[2:-2], x_q[1:-1], tension[1:-1], cable[1:-1]
    # now every array runs over the nodes -1 ... steps + 1
    J = np.array(system.inertia)
    back = so3.cayinv if retraction == "cay" else so3.log
    tangent = so3.dcayinv if retraction == "cay" else so3.dexpinv
    x = back(np.swapaxes(R[:-1], 1, 2) @ R[1:])
    start = np.einsum("kji,kj->ki", tangent(x), J * x / h)
    end = np.einsum("kji,kj->ki", tangent(-x), J * x / h)
    moment = _halves((start[1:] - end[:-1]) / h)[:steps]
    thrust = _halves(np.linalg.norm(lift[1:-1], axis=1))[:steps]
    u = _rotors(system, thrust, moment)
    # momenta from p = -D1 Ld - F0 + Dphi' lam at the nodes 0 ... steps - 1, from D2 Ld + F1 at the last
    R, x_L, x_q = R[1:-1], x_L[1:-1], x_q[1:-1]
    impulse = h * (tension[:, None] * cable)[1:-1]  # lam (x_L - x_q)
    up = 0.5 * h * system.g * _E3
    push = 0.5 * h * thrust[:, None]
    v_q, v_L = np.diff(x_q, axis=0) / h, np.diff(x_L, axis=0) / h
    p_R = np.vstack([start[1:-1] - 0.5 * h * moment, end[-2] + 0.5 * h * moment[-1]])
    p_q = np.vstack(
        [
            system.mq * (v_q + up) - push * R[:-1, :, 2] - impulse[:-1],
            system.mq * (v_q[-1] - up) + push[-1] * R[-1, :, 2],
        ]
    )
    p_L = np.vstack([system.mL * (v_L + up) + impulse[:-1], system.mL * (v_L[-1] - up)])
    return system.pack(R=R, x_q=x_q, x_L=x_L, p_R=p_R, p_q=p_q, p_L=p_L), u


def _attitudes(lift: np.ndarray, yaw: list[float]) -> np.ndarray:
    """Rotations with third column along lift, first column the direction of the yaw made orthogonal to it."""
    third = lift / np.linalg.norm(lift, axis=1, keepdims=True)
    heading = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))], axis=1)
    second = np.cross(third, heading)
    second /= np.linalg.norm(second, axis=1, keepdims=True)
    return np.stack([np.cross(second, third), second, third], axis=2)


def _halves(means: np.ndarray) -> np.ndarray:
    """Values f_k of the steps with (f_{k-1} + f_k)/2 = means_k at the inner nodes, as smooth as they can be.

    The recursion leaves the first value free, and with it an alternating part of constant size: the one with the
    smallest distance from the means is taken.
    """
    found = np.empty_like(means)
    found[0] = means[0]
    for k in range(1, len(means)):
        found[k] = 2.0 * means[k] - found[k - 1]
    sign = np.where(np.arange(len(means)) % 2, -1.0, 1.0).reshape(-1, *[1] * (means.ndim - 1))
    return found - sign * (sign * (found - means)).mean(axis=0)


def _rotors(system: QuadrotorWithLoad, thrust: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Speeds (10 rad/s) of the four rotors, the inverse of the wrench."""
    a, k = system.arm * system.kt, system.km
    wrench = np.array([[system.kt] * 4, [0.0, a, 0.0, -a], [-a, 0.0, a, 0.0], [-k, k, -k, k]])
    squares = np.linalg.solve(wrench, np.column_stack([thrust, moment]).T).T
    if squares.min() < 0.0:
        raise ValueError(
            f"a rotor would have to turn backwards (square of its speed {squares.min():.3g}); move more slowly"
        )
    return np.sqrt(squares)
