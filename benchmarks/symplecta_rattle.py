"""RATTLE on the double spherical pendulum against the package symplecta: python -m benchmarks.symplecta_rattle.

symplecta 0.1.3 is a small library in NumPy and SciPy with constrained methods for any constraints; it works with the
places of the masses, which is the same method in other variables, so that the states must agree. It is installed
without its dependencies into a folder for temporary files, where it is not there. Processor time of a step at the same
h, best of several runs taken in turn, compile time excluded.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

import numpy as np

import lielab
from lielab.systems import DoubleSphericalPendulum

VERSION = "0.1.3"
STEPS, LONGER, H, REPEATS = 2000, 100, 0.01, 5
AGREE = 200
SYSTEM = DoubleSphericalPendulum()


def package():
    """The module, from the environment or from a folder of its own."""
    try:
        import symplecta
    except ImportError:
        folder = tempfile.mkdtemp(prefix="lielab-symplecta-")
        command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", folder]
        subprocess.run([*command, f"symplecta=={VERSION}"], check=True)
        sys.path.insert(0, folder)
        import symplecta
    return symplecta


def theirs(steps: int) -> tuple[np.ndarray, float]:
    """Directions of the rods at the end, and seconds a step."""
    (m1, m2), (l1, l2) = SYSTEM.masses, SYSTEM.lengths
    masses = np.repeat([m1, m2], 3)
    weight = SYSTEM.g * masses * np.array([0, 0, 1, 0, 0, 1])
    y = SYSTEM.y0.reshape(2, 2, 3)
    q, v = y[:, 0], np.cross(y[:, 1], y[:, 0])
    x0 = np.concatenate([l1 * q[0], l1 * q[0] + l2 * q[1]])
    p0 = masses * np.concatenate([l1 * v[0], l1 * v[0] + l2 * v[1]])

    def g(x):
        d = x[3:] - x[:3]
        return np.array([x[:3] @ x[:3] - l1 * l1, d @ d - l2 * l2])

    def jacobian(x):
        d = 2.0 * (x[3:] - x[:3])
        return np.array([np.concatenate([2.0 * x[:3], np.zeros(3)]), np.concatenate([-d, d])])

    began = time.process_time()
    result = package().solve_symplectic_ivp(
        (0.0, steps * H),
        x0,
        p0,
        force=lambda t, x: weight,
        mass=masses,
        method="rattle",
        n_steps=steps,
        constraints={"g": g, "jac": jacobian},
    )
    seconds = time.process_time() - began
    if not result.success:
        raise RuntimeError(result.message)
    x = result.q[:, -1]
    return np.array([x[:3] / l1, (x[3:] - x[:3]) / l2]), seconds / steps


def ours(steps: int) -> tuple[np.ndarray, float]:
    """The same with lielab."""
    began = time.process_time()
    sol = lielab.solve(SYSTEM, (0, steps * H), method="RATTLE", h=H, save_every=steps)
    seconds = time.process_time() - began
    return sol.y[-1].reshape(2, 2, 3)[:, 0], seconds / steps


def pairs() -> list[tuple[float, float]]:
    """Seconds a step of lielab and of symplecta, a pair a round."""
    np.testing.assert_allclose(ours(AGREE)[0], theirs(AGREE)[0], rtol=0, atol=1e-6)
    return [(ours(STEPS * LONGER)[1], theirs(STEPS)[1]) for _ in range(REPEATS)]


def compare() -> tuple[float, float]:
    """The same, each the best."""
    mine, other = np.min(pairs(), axis=0)
    return float(mine), float(other)


if __name__ == "__main__":
    mine, other = compare()
    print(
        f"RATTLE, double spherical pendulum: {1e6 * mine:.2f} us a step, symplecta {1e6 * other:.0f} us, "
        f"{other / mine:.0f} times as long"
    )
