"""The basin study: which starts of the 3D pendulum does the LQR bring to the inverted equilibrium, with weak motors?

A cell is (angle, speed, limit): the attitude is `angle` away from inverted about a random axis, the angular velocity
has length `speed` in a random direction, every torque is clipped to `limit`. Its value is how many of STARTS such
starts are within TOLERANCE of the equilibrium after 15 s. `python -m benchmarks.basin` computes all cells and stores
them in basin.json, from which `stored` reads.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..control.track import Controller
from ..groups import so3
from ..systems import Pendulum3D

STORED = Path(__file__).with_name("basin.json")
ANGLES = tuple(range(0, 181, 10))  # degrees
SPEEDS = tuple(range(0, 21, 2))  # rad/s
LIMITS = (5.0, 8.0, 10.0, 12.0, 15.0, 30.0)  # N m; m g |rho| = 14.7
STARTS = 80  # a cell: 19 x 11 x 6 x 80 = 100320 closed loops
TOLERANCE = 1e-2  # of |x|, x = (log, p - p_d): the runs that arrive are mostly below 1e-3
H, STEPS = 0.01, 1500


@lru_cache(maxsize=len(LIMITS))
def controller(limit: float) -> Controller:
    """The regulator about the inverted equilibrium with the weights of fan (100 and 1, input 1)."""
    system = Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
    inverted = system.pack(R=so3.exp([np.pi, 0.0, 0.0]), p=np.zeros(3))
    Q, R = np.diag([100.0] * 3 + [1.0] * 3), np.eye(3)
    return Controller(system, (inverted, np.zeros(3)), Q, R, h=H, steps=STEPS, limits=limit)


def starts(angle: float, speed: float, count: int = STARTS) -> np.ndarray:
    """States (count, 12), `angle` (degrees) from inverted and turning at `speed` (rad/s): the same in every call."""
    rng = np.random.default_rng([round(1e3 * angle), round(1e3 * speed)])
    axis, w = rng.normal(size=(2, count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    w *= speed / np.linalg.norm(w, axis=1, keepdims=True)
    system = Pendulum3D()
    R = so3.exp([np.pi, 0.0, 0.0]) @ so3.exp(np.deg2rad(angle) * axis)
    return system.pack(R=R, p=w * system.inertia)


def caught(cell: tuple[float, float, float]) -> int:
    """How many of the STARTS starts of a cell (angle, speed, limit) arrive; a case of `lielab.sweep`."""
    angle, speed, limit = cell
    found = controller(float(limit)).run_many(starts(angle, speed))
    return int((np.linalg.norm(found.error, axis=1) < TOLERANCE).sum())


def cells() -> list[tuple[float, float, float]]:
    """All cells of the study; limits outermost, speeds innermost."""
    return [(angle, speed, limit) for limit in LIMITS for angle in ANGLES for speed in SPEEDS]


def stored() -> np.ndarray:
    """The stored counts (limits, angles, speeds)."""
    data = json.loads(STORED.read_text(encoding="utf-8"))
    grid = {"angles": ANGLES, "speeds": SPEEDS, "limits": LIMITS, "starts": STARTS}
    if any(data[key] != (list(v) if isinstance(v, tuple) else v) for key, v in grid.items()):
        raise ValueError(
            "basin.json was computed on another grid; run python -m benchmarks.basin again"
        )
    return np.array(data["caught"])
