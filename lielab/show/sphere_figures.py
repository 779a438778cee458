"""Figures 7.1 to 7.9 of ortolan: single pendulum, double pendulum and magnetic needles by the same four methods.

    sols = runs(system)                                figures 7.1, 7.4, 7.7 are energies and momenta of these
    data, fig = structure(system, sols)                7.2 with 7.3, 7.5 with 7.6, 7.8 with 7.9

RKMK4 and RKMKGL4 act as in the thesis: SO(3) turns q, and w is added to. RATTLE, which the thesis runs in linear
velocities, is shown in (q, w) as well. ODE45 is replaced by `diagnostics.reference_state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution import Solution
from ..solve import solve
from ..study.orders import end_states, reference_state
from ..systems import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("ELN", "RKMK4", "RKMKGL4", "RATTLE")  # in the order of the thesis' tables
LINES = {"RATTLE": 3, "ELN": 0, "RKMK4": 1, "RKMKGL4": 2}  # colours; what oscillates is drawn first
H, T_END = 0.01, 200.0  # s


def how(method: str) -> dict[str, str]:
    """Options of `solve` for a method of the thesis."""
    return {"action": "lift"} if method.startswith("RKMK") else {}


def runs(
    system: System, t_end: float = T_END, h: float = H, *, save_every: int = 1
) -> dict[str, Solution]:
    """method -> Solution of the thesis' four methods."""
    return {
        name: solve(system, (0, t_end), method=name, h=h, save_every=save_every, **how(name))
        for name in METHODS
    }


def directions(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q and w (..., n, 3) of states (..., 6 n)."""
    blocks = np.asarray(y).reshape(*np.shape(y)[:-1], -1, 2, 3)
    return blocks[..., 0, :], blocks[..., 1, :]


def lines(
    ax: Axes, sols: Mapping[str, Solution], values: Mapping[str, Any], every: int = 1
) -> None:
    """Values (n,) of each run against time, on log axes, with the methods' colours."""
    from . import plotting

    for name, color in LINES.items():
        size = np.maximum(np.abs(values[name][1::every]), plotting.TINY)
        line = {"color": plotting.PALETTE[color], "linewidth": 0.7}
        ax.semilogy(sols[name].t[1::every], size, label=name, **line)
    ax.yaxis.set_major_formatter(plotting.power)
    ax.set(xlim=(0, sols["ELN"].t[-1]), xlabel="t (s)")


def legend(ax: Axes, loc: str, ncols: int = 2) -> None:
    """The methods' names beside lines that are wide enough to show their colours."""
    for line in ax.legend(loc=loc, ncols=ncols, fontsize=9).get_lines():
        line.set_linewidth(2)


def structure(
    system: System,
    sols: Mapping[str, Solution],
    powers: Sequence[int] = (4, 5, 6, 7, 8, 9),
    *,
    draw: bool = True,
) -> tuple[dict[str, Any], Figure | None]:
    """What four runs keep of |q_1| = 1 and q_n . w_n = 0, and the errors of q and of w at 1 s for h = 2^-powers.

    Data: length, tangency method -> (n,), at the times of `sols`; h (k,), q and w method -> (k,) errors, NaN where a
    method has no solution.
    """
    data: dict[str, Any] = {"length": {}, "tangency": {}, "q": {}, "w": {}}
    for name, sol in sols.items():
        q, w = directions(sol.y)
        data["length"][name] = np.linalg.norm(q[:, 0], axis=-1) - 1.0
        data["tangency"][name] = (q[:, -1] * w[:, -1]).sum(-1)
    exact, _ = reference_state(system, 1.0)
    data["h"] = 2.0 ** -np.array(powers)
    for name in METHODS:
        ends = end_states(system, name, data["h"], **how(name))
        for part, error in zip("qw", directions(ends - exact), strict=True):
            data[part][name] = np.linalg.norm(error, axis=(-2, -1))
    if not draw:
        return data, None
    from . import plotting

    fig, axes = plotting.figure(2, 2, size=(7.0, 5.6))
    fig.subplots_adjust(right=0.97)
    n, every = len(exact) // 6, max(1, len(sols["ELN"].t) // 1000)
    one, last = ("", "") if n == 1 else ("1", f"{n}")
    lines(axes[0, 0], sols, data["length"], every)
    lines(axes[0, 1], sols, data["tangency"], every)
    axes[0, 0].set(ylim=(5e-18, 1e-10), title=f"| |q{one}| - 1 |")
    axes[0, 1].set(ylim=(5e-18, 1), title=f"|q{last} · w{last}|")
    legend(axes[0, 0], "upper center")
    for ax, part in zip(axes[1], "qw", strict=True):
        plotting.convergence(ax, data["h"], {k: data[part][k] for k in LINES}, orders=(2, 4))
        for line, color in zip(ax.get_lines(), LINES.values(), strict=False):
            line.set_color(plotting.PALETTE[color])
        ax.set(title=f"error of {part} at 1 s", xlabel="h (s)", ylabel="")
        ax.set_ylim(ax.get_ylim()[0] / 30)  # room for the name of the lowest line
        names = [plotting.power(10.0**-k).replace("10", "2", 1) for k in powers[::2]]
        ax.set_xticks(data["h"][::2], names)
        ax.set_xticks([], minor=True)
    return data, fig
