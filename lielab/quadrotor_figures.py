"""Figures 13 to 18 of celledoni, each from one call; `lielab.figures` hands them on.

Two quadrotors carry a load along a parabola for 5 s, from a start in motion beside the path, with the links off
their directions. The paper states neither parameters nor controller nor path nor start, and does not name the four
methods of figure 13: all of these are ours, so only the kind of behaviour can be compared. ODE45 is replaced by DOP853
at its tightest, since the reference has to be better than what it judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .solution import Solution
from .solve import solve
from .systems import TwoQuadrotors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_13 = ("LieEuler", "LieEulerHeun", "RKMK3", "RKMK4")
T_FLIGHT, H_FLIGHT = 5.0, 0.01
COMPONENTS = ("x", "y", "z, down")


def flight(*, attitude: bool = False, method: str = "RKMK4", h: float = H_FLIGHT) -> Solution:
    """The flight of figures 14 to 18; with `attitude` the thrusts act along the quadrotors' own axes."""
    system = TwoQuadrotors(control="attitude" if attitude else "tracking")
    return solve(system, (0, T_FLIGHT), method=method, h=h)


def figure13(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Error at t = 1 against the step size: data h (n,), errors method -> (n,)."""
    system, t_end = TwoQuadrotors(control="attitude" if attitude else "tracking"), 1.0
    end = solve(system, (0, t_end), method="DOP853", rtol=1e-13, atol=1e-14).y[-1]
    h = t_end / 2 ** np.arange(5, 11)
    errors = {
        method: np.array(
            [np.linalg.norm(solve(system, (0, t_end), method=method, h=x).y[-1] - end) for x in h]
        )
        for method in FIGURE_13
    }
    data = {"h": h, "errors": errors}
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure()
    plotting.convergence(ax, h, errors, orders=(1, 2, 3, 4))
    ax.legend()
    return data, fig


def figure14(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Snapshots at six times: data t (6,), places (6, 3, 3) of load, quadrotor 1 and 2, and desired (n, 3)."""
    sol = flight(attitude=attitude)
    chosen = np.linspace(0, len(sol.t) - 1, 6).round().astype(int)
    data = {
        "t": sol.t[chosen],
        "places": sol.system.places(sol.y[chosen]),
        "desired": sol.system.desired(sol.t),
    }
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(1, 2, size=(7.4, 3.6))
    # seen from the side (x, height) and from above (x, y); e3 points down
    for ax, k, sign, label in zip(axes, (2, 1), (-1, 1), ("height (m)", "y (m)"), strict=True):
        ax.plot(data["desired"][:, 0], sign * data["desired"][:, k], color=plotting.PALETTE[1])
        for load, one, two in data["places"]:
            links = np.stack([one, load, two])
            ax.plot(links[:, 0], sign * links[:, k], color=plotting.PALETTE[0], linewidth=1)
            ax.plot(links[::2, 0], sign * links[::2, k], "s", color=plotting.PALETTE[0])
            ax.plot(load[0], sign * load[k], "o", color=plotting.PALETTE[4])
        ax.set(xlabel="x (m)", ylabel=label, aspect="equal", adjustable="datalim")
    axes[0].set_title("from the side")
    axes[1].set_title("from above")
    return data, fig


def figure15(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """The load's place and the path: data t (n,), load (n, 3), desired (n, 3), in metres."""
    sol = flight(attitude=attitude)
    data = {"t": sol.t, "load": sol.x_load, "desired": sol.system.desired(sol.t)}
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(1, 3, size=(8.4, 3.0))
    for k, ax in enumerate(axes):
        ax.plot(data["t"], data["load"][:, k], color=plotting.PALETTE[0], label="load")
        ax.plot(data["t"], data["desired"][:, k], "--", color=plotting.PALETTE[1], label="desired")
        ax.set(xlabel="t (s)", title=f"{COMPONENTS[k]} (m)")
    axes[0].legend()
    return data, fig


def figure16(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Deviation of the load from the path: data t (n,), deviation (n, 3) by components, in metres."""
    sol = flight(attitude=attitude)
    data = {"t": sol.t, "deviation": sol.x_load - sol.system.desired(sol.t)}
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure()
    for k, name in enumerate(COMPONENTS):
        ax.plot(data["t"], data["deviation"][:, k], label=name)
    ax.set(xlabel="t (s)", ylabel="load - path (m)")
    ax.legend()
    return data, fig


def figure17(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Angles between the links and their wanted directions: data t (n,), angle (n, 2), in radians."""
    sol = flight(attitude=attitude)
    q = np.stack([sol.q1, sol.q2], axis=1)
    wanted = sol.system.link_targets(sol.t, sol.y)
    # atan2: the arccos of the inner product loses half of the digits near zero
    sine = np.linalg.norm(np.cross(wanted, q), axis=-1)
    data = {"t": sol.t, "angle": np.arctan2(sine, (wanted * q).sum(-1))}
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure()
    for i in range(2):
        ax.semilogy(data["t"], data["angle"][:, i], label=f"link {i + 1}")
    ax.yaxis.set_major_formatter(plotting.power)
    ax.set(xlabel="t (s)", ylabel="angle to the target (rad)")
    ax.legend()
    return data, fig


def figure18(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """1 - |q_i| of RKMK4, and of classical RK4 with the same step: data method -> (t, values (n, 2))."""
    data = {}
    for method in ("RKMK4", "RK4"):
        sol = flight(attitude=attitude, method=method)
        q = np.stack([sol.q1, sol.q2], axis=1)
        data[method] = (sol.t, 1.0 - np.linalg.norm(q, axis=-1))
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure()
    for method, (t, value) in data.items():
        for i in range(2):
            size = np.maximum(np.abs(value[1:, i]), plotting.TINY)
            ax.semilogy(t[1:], size, label=f"{method}, q{i + 1}")
    ax.yaxis.set_major_formatter(plotting.power)
    ax.set(xlabel="t (s)", ylabel="|1 - |q||", ylim=(1e-17, 1e-4))
    ax.legend(ncols=2, loc="center right")
    return data, fig
