"""exp, log, dexp, dexpinv of SE(3) by other libraries, in our convention; run by group_accuracy.py in its own venv.

    python _accuracy_worker.py PACKAGE inputs.npz outputs.npz

One package a process: some crash the interpreter in each other's company.

inputs: u (n, 6), rotation first; g (n, 4, 4), the exponentials rounded. outputs: NAME.exp (n, 4, 4), NAME.log (n, 6),
NAME.dexp, NAME.dexpinv (n, 6, 6) right-trivialised, NaN where a library raised; and versions as text.
A library that gives right Jacobians is asked at -u; one that puts the translation first has its entries exchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np

SWAP = [3, 4, 5, 0, 1, 2]


def swapped(M: np.ndarray) -> np.ndarray:
    return np.asarray(M)[np.ix_(SWAP, SWAP)]


def scipy_functions() -> tuple[str, dict[str, Callable]]:
    from scipy.spatial.transform import RigidTransform

    return "SciPy", {
        "exp": lambda u: RigidTransform.from_exp_coords(u).as_matrix(),
        "log": lambda g: RigidTransform.from_matrix(g).as_exp_coords(),
    }


def jaxlie_functions() -> tuple[str, dict[str, Callable]]:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jaxlie

    exp = jax.jit(lambda u: jaxlie.SE3.exp(u).as_matrix())
    log = jax.jit(lambda g: jaxlie.SE3.from_matrix(g).log())
    jlog = jax.jit(lambda u: jaxlie.SE3.exp(u).jlog())
    return "jaxlie", {
        "exp": lambda u: exp(u[SWAP]),
        "log": lambda g: np.asarray(log(g))[SWAP],
        "dexpinv": lambda u: swapped(jlog(-u[SWAP])),
    }


def gtsam_functions() -> tuple[str, dict[str, Callable]]:
    from gtsam import Pose3

    return "GTSAM", {
        "exp": lambda u: Pose3.Expmap(u).matrix(),
        "log": lambda g: Pose3.Logmap(Pose3(g)),
        "dexp": lambda u: Pose3.ExpmapDerivative(-u),
        "dexpinv": lambda u: Pose3.LogmapDerivative(-u),
    }


def pinocchio_functions() -> tuple[str, dict[str, Callable]]:
    import pinocchio as pin

    def element(g: np.ndarray) -> pin.SE3:
        return pin.SE3(g[:3, :3].copy(), g[:3, 3].copy())

    return "Pinocchio", {
        "exp": lambda u: pin.exp6(u[SWAP].copy()).homogeneous,
        "log": lambda g: pin.log6(element(g)).vector[SWAP],
        "dexp": lambda u: swapped(pin.Jexp6(-u[SWAP])),
        "dexpinv": lambda u: swapped(pin.Jlog6(pin.exp6(-u[SWAP]))),
    }


def pytransform3d_functions() -> tuple[str, dict[str, Callable]]:
    from pytransform3d import transformations as pt

    return "pytransform3d", {
        "exp": pt.transform_from_exponential_coordinates,
        "log": lambda g: pt.exponential_coordinates_from_transform(g),
        "dexp": pt.left_jacobian_SE3,
        "dexpinv": pt.left_jacobian_SE3_inv,
    }


def spatialmath_functions() -> tuple[str, dict[str, Callable]]:
    from spatialmath import base

    return "spatialmath", {
        "exp": lambda u: base.trexp(u[SWAP]),
        "log": lambda g: base.trlog(g, twist=True)[SWAP],
    }


def sophus_functions() -> tuple[str, dict[str, Callable]]:
    import sophuspy

    return "sophuspy", {
        "exp": lambda u: sophuspy.SE3.exp(u[SWAP]).matrix(),
        "log": lambda g: np.ravel(sophuspy.SE3(g).log())[SWAP],
    }


LIBRARIES = {
    "scipy": scipy_functions,
    "jaxlie": jaxlie_functions,
    "gtsam": gtsam_functions,
    "pin": pinocchio_functions,
    "pytransform3d": pytransform3d_functions,
    "spatialmath-python": spatialmath_functions,
    "sophuspy": sophus_functions,
}
SHAPES = {"exp": (4, 4), "log": (6,), "dexp": (6, 6), "dexpinv": (6, 6)}


def evaluate(function: Callable, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    values = np.full((len(rows), *shape), np.nan)
    for i, row in enumerate(rows):
        try:
            values[i] = np.asarray(function(row.copy()), dtype=float).reshape(shape)
        except Exception:  # noqa: BLE001  whatever a library raises on finite input is its answer
            continue
    return values


def run(package: str, u: np.ndarray, g: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    name, functions = LIBRARIES[package]()
    yield f"version.{name}", np.array(f"{package} {version(package)}")
    for key, function in functions.items():
        yield f"{name}.{key}", evaluate(function, g if key == "log" else u, SHAPES[key])


if __name__ == "__main__":
    package, source, target = sys.argv[1:]
    data = np.load(source)
    np.savez(target, **dict(run(package, data["u"], data["g"])))
