"""Draw the picture of the README and of the front page where scripts do not run: the run of the simulation there.

python book/_tools/readme_picture.py        writes book/_static/readme.png

The runs are turned into one plane, as in Figure 1 of "Why geometry matters": from outside the two tangles look alike.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import lielab
from chapters import ROOT
from lielab import plotting
from lielab.systems import SphericalPendulum

STEP, STEPS = 0.3, 200
DIRECTION = (0.75, -0.35, -0.55)  # as in pendulum.js


def start(direction: tuple[float, ...] = DIRECTION) -> np.ndarray:
    """The rod in that direction, the mass pushed about the vertical."""
    q = np.array(direction) / np.linalg.norm(direction)
    return np.concatenate([q, [0.0, 0.0, 1.5] - 1.5 * q[2] * q])


def aside(method: str) -> np.ndarray:
    """The mass (m) after each step: how far from the vertical through the pivot, and how high."""
    system = SphericalPendulum()
    sol = lielab.solve(system, (0, STEP * STEPS), start(), method=method, h=STEP)
    return system.l * np.stack([np.hypot(sol.y[:, 0], sol.y[:, 1]), sol.y[:, 2]], -1)


def picture() -> Figure:
    plotting.style()
    fig, sides = plotting.figure(1, 2, size=(7.2, 3.9))
    length = SphericalPendulum().l
    s = np.linspace(-0.06, 0.52, 200) * np.pi
    for ax, method, color, left in zip(sides, ("RK4", "RKMK4"), (1, 0), (0.08, 0.57), strict=True):
        path, ink = aside(method), plotting.PALETTE[color]
        ax.plot(length * np.sin(s), -length * np.cos(s), color=plotting.GREY, linewidth=1)
        ax.plot(*path.T, ".", color=ink, markersize=5, alpha=0.6)
        ax.plot(*np.stack([[0.0, 0.0], path[-1]]).T, color=ink, linewidth=2.5)
        ax.plot(0, 0, "o", color=plotting.GREY, markersize=5)
        ax.plot(*path[-1], "o", color=ink, markersize=10)
        ax.set_position([left, 0.13, 0.41, 0.75])
        ax.set(aspect="equal", xlim=(-0.25, 2.2), ylim=(-2.15, 0.15), xticks=[0, 1, 2])
        ax.set(xlabel="distance from the vertical (m)", yticks=[0, -1, -2])
        ax.set_title(f"{method}: the rod of {length:g} m is {np.hypot(*path[-1]):.3f} m long")
        ax.text(1.15, -0.35, f"{STEPS} steps\nof {STEP:g} s", va="center")
    sides[0].set_ylabel("height (m)")
    return fig


def main() -> None:
    fig = picture()
    (ROOT / "book/_static/readme.png").write_bytes(plotting.png(fig))
    plt.close(fig)


if __name__ == "__main__":
    main()
