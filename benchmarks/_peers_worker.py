"""The other libraries' half of peers.py, in an environment of theirs, without lielab.

The first line of input is JSON, {"u": (n, 3), "w": (n, 6)} vectors and twists, angular part first. The answer is one
line of JSON: versions, and for every key "library, function, how" what it gives for the first element, which must be
ours. Then each line names a key and is answered by the processor seconds of one element.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from functools import partial

import gtsam
import jax
import jax.numpy as jnp
import jaxlie
import numpy as np
import pinocchio
import pytransform3d.rotations as turns
import pytransform3d.transformations as frames
from _timing import seconds_an_element
from pytransform3d.batch_rotations import matrices_from_compact_axis_angles
from pytransform3d.trajectories import (
    exponential_coordinates_from_transforms,
    transforms_from_exponential_coordinates,
)
from scipy.spatial.transform import RigidTransform, Rotation

jax.config.update("jax_enable_x64", True)

PACKAGES = ("scipy", "jax", "jaxlie", "gtsam", "pin", "pytransform3d")


def last_first(w):
    """(angular, linear) as (linear, angular), and back."""
    return np.concatenate([w[..., 3:], w[..., :3]], axis=-1)


def exp_so3(u):
    return jaxlie.SO3.exp(u).as_matrix()


def log_so3(R):
    return jaxlie.SO3.from_matrix(R).log()


def dexpinv_so3(u):
    """Its derivative of log multiplies from the other side: the transpose is ours."""
    return jaxlie.SO3.exp(u).jlog().T


def exp_se3(w):
    return jaxlie.SE3.exp(w).as_matrix()


def log_se3(g):
    return jaxlie.SE3.from_matrix(g).log()


def compiled(function, x):
    """A call that waits for the result, compiled beforehand."""
    fast, x = jax.jit(function), jnp.asarray(x)
    call = lambda: fast(x).block_until_ready()  # noqa: E731
    call()
    return call


def functions(u, w):
    """key -> (call, elements that it works on)."""
    R, g = Rotation.from_rotvec(u).as_matrix(), frames_of(w)
    v, a, W, A, G = last_first(w), u[0], w[0], R[0], g[0]
    pose, rot = gtsam.Pose3(G), gtsam.Rot3(A)
    placed = pinocchio.SE3(G)
    one = {
        "SciPy, SO(3) exp": lambda: Rotation.from_rotvec(a).as_matrix(),
        "SciPy, SO(3) log": lambda: Rotation.from_matrix(A).as_rotvec(),
        "SciPy, SE(3) exp": lambda: RigidTransform.from_exp_coords(W).as_matrix(),
        "SciPy, SE(3) log": lambda: RigidTransform.from_matrix(G).as_exp_coords(),
        "jaxlie, SO(3) exp": compiled(exp_so3, a),
        "jaxlie, SO(3) log": compiled(log_so3, A),
        "jaxlie, SO(3) dexpinv": compiled(dexpinv_so3, a),
        "jaxlie, SE(3) exp": compiled(exp_se3, v[0]),
        "jaxlie, SE(3) log": compiled(log_se3, G),
        "GTSAM, SO(3) exp": lambda: gtsam.Rot3.Expmap(a).matrix(),
        "GTSAM, SO(3) log": lambda: gtsam.Rot3.Logmap(rot),
        "GTSAM, SO(3) dexpinv": lambda: gtsam.Rot3.LogmapDerivative(a).T,
        "GTSAM, SE(3) exp": lambda: gtsam.Pose3.Expmap(W).matrix(),
        "GTSAM, SE(3) log": lambda: gtsam.Pose3.Logmap(pose),
        "Pinocchio, SO(3) exp": lambda: pinocchio.exp3(a),
        "Pinocchio, SO(3) log": lambda: pinocchio.log3(A),
        "Pinocchio, SO(3) dexpinv": lambda: pinocchio.Jlog3(A).T,
        "Pinocchio, SE(3) exp": lambda: pinocchio.exp6(v[0]).homogeneous,
        "Pinocchio, SE(3) log": lambda: pinocchio.log6(placed).vector,
        "pytransform3d, SO(3) exp": lambda: turns.matrix_from_compact_axis_angle(a),
        "pytransform3d, SO(3) log": lambda: turns.compact_axis_angle_from_matrix(A),
        "pytransform3d, SO(3) dexpinv": lambda: turns.left_jacobian_SO3_inv(a),
        "pytransform3d, SE(3) exp": lambda: frames.transform_from_exponential_coordinates(W),
        "pytransform3d, SE(3) log": lambda: frames.exponential_coordinates_from_transform(G),
    }
    many = {
        "SciPy, SO(3) exp": lambda: Rotation.from_rotvec(u).as_matrix(),
        "SciPy, SO(3) log": lambda: Rotation.from_matrix(R).as_rotvec(),
        "SciPy, SE(3) exp": lambda: RigidTransform.from_exp_coords(w).as_matrix(),
        "SciPy, SE(3) log": lambda: RigidTransform.from_matrix(g).as_exp_coords(),
        "jaxlie, SO(3) exp": compiled(jax.vmap(exp_so3), u),
        "jaxlie, SO(3) log": compiled(jax.vmap(log_so3), R),
        "jaxlie, SO(3) dexpinv": compiled(jax.vmap(dexpinv_so3), u),
        "jaxlie, SE(3) exp": compiled(jax.vmap(exp_se3), v),
        "jaxlie, SE(3) log": compiled(jax.vmap(log_se3), g),
        "pytransform3d, SO(3) exp": lambda: matrices_from_compact_axis_angles(u),
        "pytransform3d, SE(3) exp": lambda: transforms_from_exponential_coordinates(w),
        "pytransform3d, SE(3) log": lambda: exponential_coordinates_from_transforms(g),
    }
    found = {f"{key}, one": (call, 1) for key, call in one.items()}
    return found | {f"{key}, batch": (call, len(u)) for key, call in many.items()}


def frames_of(w):
    return RigidTransform.from_exp_coords(w).as_matrix()


def first(key, value, count):
    """What the call gave for the first element, in our order of twists."""
    x = np.asarray(value)[0] if count > 1 else np.asarray(value)
    turned = "SE(3) log" in key and key.split(",")[0] in ("jaxlie", "Pinocchio")
    return (last_first(x) if turned else x).tolist()


# --- RKMK4 by jax.lax.scan ------------------------------------------------------------------------


@partial(jax.jit, static_argnums=2)
def attitude(R, p, steps, h):
    """The attitude of a free body, R' = hat(R I^-1 R' pi) R, after so many steps; p holds the moments and pi."""

    def field(R):
        M = R.as_matrix()
        return M @ ((M.T @ p[3:]) / p[:3])

    def dexpinv(u, v):
        return jaxlie.SO3.exp(u).jlog().T @ v

    def step(R, _):
        k1 = h * field(R)
        k2 = h * dexpinv(k1 / 2, field(jaxlie.SO3.exp(k1 / 2) @ R))
        k3 = h * dexpinv(k2 / 2, field(jaxlie.SO3.exp(k2 / 2) @ R))
        k4 = h * dexpinv(k3, field(jaxlie.SO3.exp(k3) @ R))
        return jaxlie.SO3.exp((k1 + 2 * k2 + 2 * k3 + k4) / 6) @ R, None

    return jax.lax.scan(step, R, None, length=steps)[0].as_matrix()


def scan(steps, h, start, p):
    R, p = jaxlie.SO3.from_matrix(jnp.asarray(start).reshape(3, 3)), jnp.asarray(p)
    return attitude(R, p, steps, h).block_until_ready()


def main():
    task = json.loads(sys.stdin.readline())
    calls = functions(np.array(task["u"]), np.array(task["w"]))
    steps, h, start, p = task["scan"]
    calls["jaxlie, RKMK4, scan"] = lambda: scan(steps, h, start, p), steps
    answers = {}
    for key, (call, count) in calls.items():
        value = call()
        answers[key] = np.asarray(value).tolist() if "scan" in key else first(key, value, count)
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    print(json.dumps([versions, answers]), flush=True)
    for line in sys.stdin:
        print(seconds_an_element(*calls[line.strip()]), flush=True)


main()
