"""Figures 2 to 18 of celledoni, each from one call.

`data, fig = figure8()`; with `draw=False` fig is None.

Figures 2 and 3 are about the heavy top of the paper, those from 12 on, in `lielab.quadrotor_figures`, about two
quadrotors. Figures 4 to 11 are about the chain of n pendula, from (q_i, w_i) = ((1, 0, 1)/sqrt 2, (0, 1, 0)) but for
figures 6 and 7. The paper states neither g nor the norm, the first step and the safety factor of its step-size
control; here g = 9.81 m/s^2, the Euclidean norm in the algebra, h0 = 0.01 and 0.85, without limits on the factor.
MATLAB's ODE45 is SciPy's RK45, the same pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution import Solution
from ..solve import solve
from ..systems import HeavyTop, PendulumChain
from .quadrotor_figures import draw_errors, errors_at_one, exact
from .quadrotor_figures import figure12 as figure12
from .quadrotor_figures import figure13 as figure13
from .quadrotor_figures import figure14 as figure14
from .quadrotor_figures import figure15 as figure15
from .quadrotor_figures import figure16 as figure16
from .quadrotor_figures import figure17 as figure17
from .quadrotor_figures import figure18 as figure18

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_5 = ("LieEuler", "LieEulerHeun", "RKMK3", "RKMK4", "RKMK4t2", "RKMK4c2")
LIE, CLASSICAL = ("LieEulerHeun", "RKMK4", "RKMK4c2"), ("RK4", "RK45")
# The algorithm of celledoni 4: |sigma - sigma_hat| against tol, no limits on the factor.
PAPER: dict[str, Any] = {
    "rtol": 0.0,
    "error_norm": "algebra",
    "h0": 0.01,
    "safety": 0.85,
    "factor_limits": (1e-3, 1e3),
}
T_END = 3.0
# The printed start is planar: there q . w stays 0 for every method, whatever it is worth. Figures 6 and 7 start with
# velocities out of the plane, each orthogonal to its q.
OUT_OF_PLANE = np.array([1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]) / np.sqrt(2.0) + np.array(
    [0, 0, 0, 0.5, 1, -0.5, 0, 0, 0, -0.3, 1, 0.3]
)


def adaptive(system: PendulumChain, tol: float = 1e-6) -> Solution:
    """RKMK54 with the step-size control of the paper."""
    return solve(system, (0, T_END), method="RKMK54", atol=tol, **PAPER)


# Symplectic Lie group integrators on the top: label -> (formulation, method, options).
SYMPLECTIC: dict[str, tuple[str, str, dict[str, float]]] = {
    "SLGI, theta = 0": ("right", "SLGI", {"theta": 0.0}),
    "SLGI, theta = 1/2": ("right", "SLGI", {"theta": 0.5}),
    "SLGI, theta = 1": ("right", "SLGI", {"theta": 1.0}),
    "SLGIKK": ("quadratic", "SLGIKK", {}),
}


def _top(name: str, t_end: float, steps: int) -> Solution:
    formulation, method, options = SYMPLECTIC[name]
    return solve(HeavyTop(formulation), (0, t_end), method=method, h=t_end / steps, **options)


def _weight(sol: Solution) -> np.ndarray:
    """M l Q' Gamma0 at the saved times, (n, 3)."""
    top = HeavyTop()
    return top.M * top.l * np.einsum("nji,j->ni", sol.Q, np.array(top.Gamma0))


def _axis(sol: Solution) -> np.ndarray:
    """Q chi at the saved times, (n, 3)."""
    return np.einsum("nij,j->ni", sol.Q, np.array(HeavyTop().chi))


def figure2(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """The heavy top up to t = 1: weight in the body, its axis in space, and the order of the methods.

    Data: t (n,), weight and axis name -> (n, 3), at h = 1/1000; h (m,), errors name -> (m,), the largest difference of
    (Q, pi) at t = 1, pi in units of |pi(0)|.
    """
    top, runs = HeavyTop(), {name: _top(name, 1.0, 1000) for name in SYMPLECTIC}
    end = solve(top, (0, 1), method="DOP853", rtol=1e-13, atol=1e-12).y[-1]
    units = np.repeat([1.0, np.linalg.norm(top.y0[9:])], [9, 3])
    steps = 2 ** np.arange(9, 15)
    errors = {
        name: np.array(
            [np.abs((_top(name, 1.0, int(n)).y[-1, :12] - end) / units).max() for n in steps]
        )
        for name in SYMPLECTIC
    }
    data: dict[str, Any] = {
        "t": runs["SLGIKK"].t,
        "weight": {name: _weight(sol) for name, sol in runs.items()},
        "axis": {name: _axis(sol) for name, sol in runs.items()},
        "h": 1.0 / steps,
        "errors": errors,
    }
    if not draw:
        return data, None
    from matplotlib.ticker import LogLocator

    from . import plotting

    fig, axes = plotting.figure(1, 3, size=(10.8, 3.4))
    shown, early = "SLGI, theta = 1/2", data["t"] <= 0.1  # it turns 24 times in a second
    for i in range(3):
        axes[0].plot(data["t"][early], data["weight"][shown][early, i], label=f"{i + 1}")
        axes[1].plot(data["t"], data["axis"][shown][:, i], label=f"{i + 1}")
    axes[0].set(title="M l Q' Gamma0, components", xlabel="t (s)", ylim=(-330, 450))
    axes[1].set(title="Q chi, components", xlabel="t (s)", ylim=(-1.1, 1.5))
    for ax in axes[:2]:  # above the curves, which fill the rest
        ax.legend(fontsize=9, ncols=3, loc="upper center")
    plotting.convergence(axes[2], data["h"], errors, orders=(1, 2))
    axes[2].xaxis.set_major_locator(LogLocator())
    axes[2].xaxis.set_major_formatter(plotting.power)
    axes[2].set_xlabel("step size h (s)")
    axes[2].legend(fontsize=8, loc="lower right")
    return data, fig


def figure3(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """6000 steps of h = 0.01, theta = 1/2 and 0: data name -> (t, relative energy error, weight in the body)."""
    data = {}
    for name in ("SLGI, theta = 1/2", "SLGI, theta = 0"):
        sol = _top(name, 60.0, 6000)
        energy = sol.energy()
        data[name] = (sol.t, (energy - energy[0]) / energy[0], _weight(sol))
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(1, 2, size=(8.4, 3.4))
    for name, (t, error, weight) in data.items():
        largest = np.abs(error[1:]).reshape(300, -1).max(axis=1)  # in each 0.2 s
        axes[0].semilogy(t[1:].reshape(300, -1)[:, -1], largest, label=name)
        axes[1].plot(weight[:, 0], weight[:, 1], ".", markersize=1, label=name)
    axes[0].set(title="|relative energy error|", xlabel="t (s)", ylim=(1e-8, 0.1))
    axes[0].yaxis.set_major_formatter(plotting.power)
    axes[0].legend(fontsize=9, loc="center right")
    axes[1].set(title="M l Q' Gamma0", xlabel="component 1", ylabel="component 2")
    return data, fig


def figure4(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """A chain of three at a fixed time, with its names: data places (3, 3) of the masses, directions (3, 3)."""
    chain, t = PendulumChain(3), 0.55
    y = solve(chain, (0, t), rtol=1e-9, atol=1e-9).y[-1]
    places = chain.positions(y)
    data = {"places": places, "directions": np.diff(places, axis=0, prepend=np.zeros((1, 3)))}
    if not draw:
        return data, None
    from . import plotting

    fig, ax = plotting.figure(size=(4.6, 2.6))
    fig.subplots_adjust(left=0.02, right=0.98, bottom=0.02, top=0.98)
    blue, orange, _, _, black, _ = plotting.PALETTE
    flat = np.vstack([np.zeros(3), places])[:, [0, 2]]  # the motion is plane
    ax.plot(*flat.T, color=plotting.GREY, linewidth=1.2)
    ax.plot(*flat[1:].T, "o", color=black, markersize=9)
    ax.plot(0.0, 0.0, "s", color=orange, markersize=8)
    shape = {"arrowstyle": "->", "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    offset = {"textcoords": "offset points"}
    for i, (start, end) in enumerate(zip(flat, flat[1:], strict=False), start=1):
        middle, across = 0.5 * (start + end), 11 * np.array([start[1] - end[1], end[0] - start[0]])
        ax.annotate("", middle, start, arrowprops=shape | {"color": blue})
        names = {"ha": "center", "va": "center", **offset}
        ax.annotate(f"$q_{i}$", 0.7 * start + 0.3 * end, xytext=across, color=blue, **names)
        ax.annotate(f"$L_{i}$", 0.45 * start + 0.55 * end, xytext=-across, color="#555555", **names)
        ax.annotate(f"$m_{i}$", end, xytext=(-2, -17), **offset)
    ax.annotate("", (0.0, 0.5), (0.0, 0.0), arrowprops=shape | {"color": plotting.GREY})
    ax.annotate("$e_3$", (0.0, 0.5), xytext=(5, -6), color="#555555", **offset)
    ax.set(xlim=(flat[:, 0].min() - 0.5, flat[:, 0].max() + 0.5), aspect="equal")
    ax.set_ylim(flat[:, 1].min() - 0.3, flat[:, 1].max() + 0.65)
    ax.set_axis_off()
    return data, fig


def figure5(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Error at t = 1 against the step size: data h (n,), errors method -> (n,)."""
    data = errors_at_one(PendulumChain(2), FIGURE_5, 2 ** np.arange(4, 12))
    return data, draw_errors(data, 8) if draw else None


def _kept(quantity: str) -> dict[str, Any]:
    system, t_end, h = PendulumChain(2), 5.0, 0.01
    kept: dict[str, Any] = {}
    for method in LIE + CLASSICAL:
        how = {"rtol": 1e-6, "atol": 1e-9} if method == "RK45" else {"h": h}
        sol = solve(system, (0, t_end), OUT_OF_PLANE, method=method, **how)
        blocks = sol.y.reshape(len(sol.t), 2, 2, 3)
        q, w = blocks[:, :, 0], blocks[:, :, 1]
        value = 1.0 - (q * q).sum(-1) if quantity == "length" else (q * w).sum(-1)
        kept[method] = (sol.t, value)
    return kept


def _draw_kept(kept: dict[str, Any], label: str) -> Figure:
    from . import plotting

    fig, axes = plotting.figure(1, 2, size=(8.4, 3.4))
    for i, ax in enumerate(axes):
        for method, (t, value) in kept.items():
            ax.semilogy(t, np.maximum(np.abs(value[:, i]), plotting.TINY), label=method)
        ax.set_title(label.format(i=i + 1))
        ax.set_xlabel("t (s)")
    axes[0].legend(fontsize=8)
    return fig


def figure6(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """1 - q_i . q_i up to t = 5, Lie group methods and classical ones: data method -> (t, values (n, 2))."""
    data = _kept("length")
    return data, _draw_kept(data, "|1 - q{i} . q{i}|") if draw else None


def figure7(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """q_i . w_i up to t = 5: data as in figure 6."""
    data = _kept("tangency")
    return data, _draw_kept(data, "|q{i} . w{i}|") if draw else None


def _chains(ns: Sequence[int], beam: bool) -> dict[str, Any]:
    rows: dict[str, list] = {"n": [], "steps": [], "rejected": [], "variable": [], "constant": []}
    history: Solution | None = None
    for n in ns:
        system = PendulumChain.beam(n) if beam else PendulumChain(n)
        end = exact(system, T_END).y[-1]
        history = adaptive(system)
        fixed = solve(system, (0, T_END), method="RKMK5", h=T_END / history.nsteps)
        for key, value in (
            ("n", n),
            ("steps", history.nsteps),
            ("rejected", history.nrejected),
            ("variable", np.linalg.norm(history.y[-1] - end)),
            ("constant", np.linalg.norm(fixed.y[-1] - end)),
        ):
            rows[key].append(value)
    data: dict[str, Any] = {key: np.array(value) for key, value in rows.items()}
    return data | {"t": history.t, "h": history.h}


def _draw_chains(data: dict[str, Any]) -> Figure:
    from . import plotting

    fig, axes = plotting.figure(1, 2, size=(8.4, 3.4))
    for name, marker in (("constant", "o"), ("variable", "s")):
        axes[0].semilogy(data["n"], data[name], marker=marker, label=f"{name} step")
    axes[0].set_xlabel("number of pendula")
    axes[0].set_ylabel("error at t = 3")
    axes[0].legend()
    axes[1].plot(data["t"][1:], data["h"])
    axes[1].set_xlabel("t (s)")
    axes[1].set_ylabel("step size")
    axes[1].set_title(f"n = {data['n'][-1]}")
    return fig


def figure8(
    ns: Sequence[int] = (2, 3, 4, 6, 10, 20), *, draw: bool = True
) -> tuple[dict[str, Any], Figure | None]:
    """RKMK54 at tol 1e-6 against RKMK5 with as many constant steps, L_i = 1; step sizes of the longest chain.

    Data: n, steps, rejected, and the errors variable and constant, one entry a chain; t and h of the last.
    """
    data = _chains(ns, beam=False)
    return data, _draw_chains(data) if draw else None


def figure10(
    ns: Sequence[int] = (2, 3, 4, 6, 10, 20), *, draw: bool = True
) -> tuple[dict[str, Any], Figure | None]:
    """The same for chains of total length 5, L_i = 5/n."""
    data = _chains(ns, beam=True)
    return data, _draw_chains(data) if draw else None


def _two() -> dict[str, Solution]:
    system = PendulumChain(2)
    variable = adaptive(system)
    return {
        "RKMK54": variable,
        "RKMK5, constant": solve(system, (0, T_END), method="RKMK5", h=T_END / variable.nsteps),
        "RK45": solve(system, (0, T_END), method="RK45", rtol=1e-6, atol=1e-9),
    }


def figure9(*, draw: bool = True) -> tuple[dict[str, Solution], Figure | None]:
    """The twelve components for n = 2 by three codes: data name -> Solution, `exact` the reference."""
    data = {**_two(), "exact": exact(PendulumChain(2), T_END)}
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(4, 3, size=(7.0, 7.6))
    fig.subplots_adjust(left=0.08, right=0.98, bottom=0.1, top=0.96, hspace=0.45, wspace=0.3)
    names = [f"{part}{i}, {axis}" for i in (1, 2) for part in "qw" for axis in "xyz"]
    for k, (ax, name) in enumerate(zip(axes.flat, names, strict=True)):
        for code, dashes in zip(data, ("-", "--", ":", "-"), strict=True):
            line: dict[str, Any] = {"linestyle": dashes, "linewidth": 1.4}
            if code == "exact":
                line = {"color": "#c0c0c0", "linewidth": 4, "zorder": 0}
            ax.plot(data[code].t, data[code].y[:, k], label=code, **line)
        if not np.abs(data["exact"].y[:, k]).max() > 0:  # plane motion
            ax.set_ylim(-1, 1)
        ax.set_title(name)
    fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=9)
    fig.text(0.98, 0.06, "t (s)", ha="right")
    return data, fig


def figure11(*, draw: bool = True) -> tuple[dict[str, Any], Figure | None]:
    """Why the step shrinks near t = 2.29: step sizes, second components of w_i, and of their rates.

    Data: `runs` as in figure 9; t (m,), w (m, 2) and rates (m, 2) of the reference on a fine grid.
    """
    system = PendulumChain(2)
    runs = _two()
    t = np.linspace(0.0, T_END, 3001)
    y = solve(system, (0, T_END), method="RKMK8", rtol=1e-11, atol=1e-11)(t)
    form = system.formulations["action"]
    slopes = np.array(
        [
            form.action.generator(form.field(s, row, form.params), row)
            for s, row in zip(t, y, strict=True)
        ]
    )
    data = {"runs": runs, "t": t, "w": y[:, [4, 10]], "rates": slopes[:, [4, 10]]}
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(1, 3, size=(12.0, 3.4))
    for name, sol in runs.items():
        axes[0].semilogy(sol.t[1:], sol.h, label=name)
        for i, k in enumerate((4, 10)):
            late = sol.t >= 2.1
            axes[1].plot(sol.t[late], sol.y[late, k], label=f"{name}, w{i + 1}")
    late = t >= 2.1
    axes[1].plot(t[late], data["w"][late], color=plotting.GREY, linewidth=3, zorder=0)
    for i in range(2):
        axes[2].plot(t, data["rates"][:, i], label=f"w{i + 1}'")
    for ax, title in zip(axes, ("step size", "second components of w", "their rates"), strict=True):
        ax.set_title(title)
        ax.set_xlabel("t (s)")
        ax.legend(fontsize=7)
    return data, fig
