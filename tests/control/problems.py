"""The systems of fan, as the tests of control use them."""

import json
from pathlib import Path

import numpy as np

from lielab import so3
from lielab.systems import Pendulum3D, QuadrotorWithLoad

REFERENCE = json.loads((Path(__file__).parent / "fan.json").read_text())
PENDULUM = Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
INVERTED = PENDULUM.pack(R=so3.exp([np.pi, 0.0, 0.0]), p=np.zeros(3))
Q, R = np.diag([100.0] * 3 + [1.0] * 3), np.eye(3)
TORQUE = np.array([1.0, -2.0, 0.5])

HOVER = QuadrotorWithLoad().hover
QUADROTOR = QuadrotorWithLoad(rotors=(HOVER,) * 4)
Q_QUAD, R_QUAD = np.diag([50.0] * 9 + [1.0] * 9), 2.0 * np.eye(4)


def moving_quadrotor():
    """A state with a turning body and a swinging cable, and rotor speeds."""
    y = QUADROTOR.y0.copy()
    y[15:] = [0.003, -0.002, 0.004, 0.3, -0.1, 0.2, 0.05, 0.08, -0.02]
    return QUADROTOR.project(y), HOVER + np.array([1.0, -2.0, 0.5, 1.5])


def load(t):
    return np.array([np.sin(0.8 * t), 0.8 * np.sin(1.1 * t), 0.4 * np.sin(0.6 * t)])


def yaw(t):
    return 0.5 * np.sin(0.5 * t)
