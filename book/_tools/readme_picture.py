"""Draw the picture of the README and of the front page where scripts do not run: what the simulation there shows.

python book/_tools/readme_picture.py        writes book/_static/readme.png
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import lielab
from chapters import ROOT
from lielab import plotting
from lielab.systems import SphericalPendulum

VIEW = (30.0, 25.0)
STEP, STEPS = 0.3, 200
DIRECTION = np.array([0.75, -0.35, -0.55])  # as in pendulum.js


def start() -> np.ndarray:
    """The rod in that direction, the mass pushed about the vertical."""
    q = DIRECTION / np.linalg.norm(DIRECTION)
    return np.concatenate([q, [0.0, 0.0, 1.5] - 1.5 * q[2] * q])


def main() -> None:
    system = SphericalPendulum()
    plotting.style()
    fig, sides = plotting.figure(1, 2, size=(7.2, 3.9))
    for ax, method, color, left in zip(sides, ("RK4", "RKMK4"), (1, 0), (0.02, 0.52), strict=True):
        sol = lielab.solve(system, (0, STEP * STEPS), start(), method=method, h=STEP)
        plotting.sphere(ax, view=VIEW)
        path = plotting.project(sol.y[:, :3], VIEW)[:, :2]
        ink = plotting.PALETTE[color]
        ax.plot(*path.T, color=ink, linewidth=0.7, alpha=0.7)
        ax.plot(*np.stack([[0.0, 0.0], path[-1]]).T, color=ink, linewidth=2.5)
        ax.plot(*path[-1], "o", color=ink, markersize=9)
        rod = system.l * np.linalg.norm(sol.y[-1, :3])
        ax.set_position([left, 0.02, 0.46, 0.86])
        ax.set_title(f"{method}: the rod of {system.l:g} m is {rod:.3f} m long")
    (ROOT / "book/_static/readme.png").write_bytes(plotting.png(fig))
    plt.close(fig)


if __name__ == "__main__":
    main()
