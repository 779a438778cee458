"""Figures 12 to 18 of celledoni, each from one call; `lielab.figures` hands them on.

Two quadrotors carry a load along a parabola for 5 s, from a start in motion beside the path, with the links off
their directions. The paper takes problem and inputs from Lee, Sreenath & Kumar (2013) and names a parabola and 5 s; it
states no parameters, gains or start, and does not name the four methods of figure 13: these are ours, so only the kind
of behaviour can be compared. ODE45 is replaced by DOP853
at its tightest, since the reference has to be better than what it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution import Solution
from ..solve import solve
from ..study.orders import end_states
from ..systems import System, TwoQuadrotors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_13 = ("LieEuler", "LieEulerHeun", "RKMK3", "RKMK4")
T_FLIGHT, H_FLIGHT = 5.0, 0.01
COMPONENTS = ("x", "y", "z, down")


def flight(*, attitude: bool = False, method: str = "RKMK4", h: float = H_FLIGHT) -> Solution:
    """The flight of figures 14 to 18; with `attitude` the thrusts act along the quadrotors' own axes."""
    system = TwoQuadrotors(control="attitude" if attitude else "tracking")
    return solve(system, (0, T_FLIGHT), method=method, h=h)


def exact(system: System, t_end: float) -> Solution:
    """The reference of all figures: DOP853 in ambient coordinates, at its tightest."""
    return solve(system, (0, t_end), method="DOP853", rtol=1e-13, atol=1e-14)


def errors_at_one(system: System, methods: Sequence[str], steps: np.ndarray) -> dict[str, Any]:
    """Errors at t = 1 s for so many steps up to there: h (n,), errors method -> (n,)."""
    end, h = exact(system, 1.0).y[-1], 1.0 / steps
    ends = {method: end_states(system, method, h, t_end=1.0) for method in methods}
    return {"h": h, "errors": {name: np.linalg.norm(y - end, axis=1) for name, y in ends.items()}}


def draw_errors(data: dict[str, Any], size: float | None = None) -> Figure:
    """Those errors against the step size; `size` is that of the names of the methods."""
    from . import plotting

    fig, ax = plotting.figure()
    plotting.convergence(ax, data["h"], data["errors"], orders=(1, 2, 3, 4))
    ax.legend(fontsize=size)
    return fig


def figure12(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """The system, drawn to scale from the start seen from the side: data places (3, 3) of load, quadrotor 1 and 2,
    axes (2, 3) the third body axes R_i e_3, and thrusts (2, 3) at t = 0, in N, of the model with thrusts along them.
    """
    system = TwoQuadrotors(control="attitude")
    parts, y = system.unpack(system.y0), system.y0
    data = {
        "places": system.places(y),
        "axes": np.stack([parts["R1"][:, 2], parts["R2"][:, 2]]),
        "thrusts": system.inputs_at(0.0, y).reshape(2, 2, 3)[:, 0],
    }
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure(size=(5.6, 3.6))
    fig.subplots_adjust(left=0.02, right=0.98, bottom=0.03, top=0.97)
    view = (-60.0, 24.0)

    def flat(points: Any) -> np.ndarray:
        """In the picture; e3 points down."""
        return plotting.project(np.asarray(points) * [1.0, -1.0, -1.0], view)[..., :2]

    def name(text: str, at: np.ndarray, offset: tuple[float, float], color: str) -> None:
        place = {"xytext": offset, "textcoords": "offset points", "annotation_clip": False}
        ax.annotate(text, flat(at), color=color, ha="left" if offset[0] > 0 else "right", **place)

    def arrow(start: np.ndarray, by: np.ndarray, color: str) -> None:
        shape = {"arrowstyle": "->", "color": color, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", flat(start + by), flat(start), arrowprops=shape, annotation_clip=False)

    blue, orange, green, _, black, _ = plotting.PALETTE
    load, *drones = data["places"]
    down = np.array([0.0, 0.0, 0.4])
    ax.plot(*flat(load), "o", color=black, markersize=9)
    name("load: mass $m_y$, place y", load, (9, -2), black)
    arrow(load, down, plotting.GREY)
    name("$e_3$", load + down, (6, 0), plotting.GREY)
    angle = np.linspace(0.0, 2.0 * np.pi, 33)[:, None]
    for i, (place, side) in enumerate(zip(drones, (-1, 1), strict=True), start=1):
        R = parts[f"R{i}"]
        ax.plot(*flat([place, load]).T, color=plotting.GREY, linewidth=1.2)
        rotor = 0.09 * (np.cos(angle) * R[:, 0] + np.sin(angle) * R[:, 1])
        for arm in (R[:, 0], -R[:, 0], R[:, 1], -R[:, 1]):
            end = place + 0.22 * arm
            ax.plot(*flat([place, end]).T, color=blue, linewidth=2.5)
            ax.plot(*flat(end + rotor).T, color=blue, linewidth=1)
        thrust = -0.5 * R[:, 2]
        arrow(place, 0.5 * (load - place), green)
        arrow(place, thrust, orange)
        name(f"$q_{i}$", place + 0.5 * (load - place), (7 * side, 0), green)
        name(f"$u_{i} = -T_{i} R_{i} e_3$", place + thrust, (6 * side, -3), orange)
        name(f"$m_{i},\\ J_{i}$", place, (42 * side, -2), blue)
        name(f"$L_{i}$", place + 0.8 * (load - place), (6 * side, 0), plotting.GREY)
    ends = flat(np.concatenate([drones + np.array([0.0, 0.0, -0.5]), [load + down]]))
    ax.set(xlim=(ends[:, 0].min() - 0.9, ends[:, 0].max() + 0.9), aspect="equal")
    ax.set_ylim(ends[:, 1].min() - 0.05, ends[:, 1].max() + 0.1)
    ax.set_axis_off()
    return data, fig


def figure13(*, attitude: bool = False, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Error at t = 1 against the step size: data h (n,), errors method -> (n,)."""
    system = TwoQuadrotors(control="attitude" if attitude else "tracking")
    data = errors_at_one(system, FIGURE_13, 2 ** np.arange(5, 11))
    return data, draw_errors(data) if draw else None


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
    axes[1].invert_yaxis()  # y points to the right of the flight
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
            # the largest until then: bare rounding is zero at many steps
            size = np.maximum.accumulate(np.maximum(np.abs(value[1:, i]), plotting.TINY))
            ax.semilogy(t[1:], size, label=f"{method}, q{i + 1}")
    ax.yaxis.set_major_formatter(plotting.power)
    ax.set(xlabel="t (s)", ylabel="largest |1 - |q|| so far", ylim=(1e-17, 1e-4))
    ax.legend(ncols=2, loc="center right")
    return data, fig
