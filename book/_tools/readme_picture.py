"""Draw the picture of the README.

python book/_tools/readme_picture.py        writes book/_static/readme.png
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import lielab
from chapters import ROOT
from lielab import plotting
from lielab.systems import FreeRigidBody

VIEW = (35.0, 25.0)
STEP, END = 0.5, 300.0


def polhodes() -> list[np.ndarray]:
    """Starts whose trajectories cover the sphere: around the long and the short axis, and between."""
    angles = np.radians((12, 26, 40, 50, 64, 78))
    return [np.array([np.cos(a), 0.02, np.sin(a)]) for a in angles]


def main() -> None:
    body = FreeRigidBody(inertia=(1, 2, 3))
    plotting.style()
    fig, (ball, graph) = plotting.figure(1, 2, size=(7.2, 3.2))
    plotting.sphere(ball, view=VIEW)
    for n, start in enumerate(polhodes()):
        start /= np.linalg.norm(start)
        for sign in (1, -1):
            sol = lielab.solve(body, (0, 40), sign * start, method="RKMK4", h=0.05)
            color = plotting.PALETTE[n % 4]
            plotting.path(ball, sol.y, label="", view=VIEW, color=color, linewidth=1.3)
    for dot in [line for line in ball.lines if line.get_marker() == "o"]:
        dot.remove()  # a start means nothing here
    ball.set_position([0.01, 0.03, 0.44, 0.94])
    for method in ("RK4", "RKMK4"):
        sol = lielab.solve(body, (0, END), 3 * polhodes()[3], method=method, h=STEP)
        length = np.linalg.norm(sol.y, axis=1) / np.linalg.norm(sol.y[0])
        graph.semilogy(sol.t[1:], np.maximum(abs(length[1:] - 1), plotting.TINY), label=method)
    graph.set(xlabel="time t", ylabel="relative error of |mu|", ylim=(1e-17, 1))
    graph.set_title(f"steps of {STEP}", fontsize="medium")
    graph.legend(loc="center right")
    (ROOT / "book/_static/readme.png").write_bytes(plotting.png(fig))
    plt.close(fig)


if __name__ == "__main__":
    main()
