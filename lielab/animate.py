"""Short moving pictures of a solution, as animated PNGs: they play in any page without a script, once and for five
seconds at most, and their first frame is the still picture for print.

`scene(system, y)` says what a state looks like: lines and dots in space, with e3 up in the picture.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .plotting import GREY, PALETTE, SHOWN_DPI, VIEW, project, sphere, style

_UPSIDE_DOWN = np.diag([1.0, -1.0, -1.0])  # for systems whose e3 points down
_TRACE = 6
_LONGEST = 5.0  # seconds: longer motion would need a way to stop it (WCAG 2.2.2)


class Scene:
    """Lines (a list of (k, 3) arrays), dots (m, 3), and whether it happens on the unit sphere."""

    def __init__(self, lines: list[Any], dots: Any = (), *, on_sphere: bool = False) -> None:
        self.lines = [np.asarray(line, float) for line in lines]
        self.dots = np.asarray(dots, float).reshape(-1, 3)
        self.on_sphere = on_sphere

    def turned(self, by: np.ndarray) -> Scene:
        return Scene([line @ by for line in self.lines], self.dots @ by, on_sphere=self.on_sphere)


def _axes(R: np.ndarray, at: Any = (0.0, 0.0, 0.0), size: float = 1.0) -> list[np.ndarray]:
    """The three body axes as lines from `at`."""
    start = np.asarray(at, float)
    return [np.stack([start, start + size * R[:, i]]) for i in range(3)]


def _chain(points: np.ndarray) -> Scene:
    return Scene([np.vstack([np.zeros(3), points])], points)


def _needles(system: Any, y: np.ndarray) -> Scene:
    q = y.reshape(-1, 2, 3)[:, 0]
    places, half = system.positions, 0.45 * system.spacing
    lines = [np.stack([a - half * b, a + half * b]) for a, b in zip(places, q, strict=True)]
    return Scene(lines, places + half * q)


def _ellipse_lines(axes: Sequence[float], R: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
    s = np.linspace(0.0, 2.0 * np.pi, 33)
    c, d, z = np.cos(s), np.sin(s), 0.0 * s
    circles = (np.stack([c, d, z], -1), np.stack([c, z, d], -1), np.stack([z, c, d], -1))
    return [at + (circle * np.array(axes)) @ R.T for circle in circles]


def _fish(system: Any, y: np.ndarray) -> Scene:
    parts, centres = system.unpack(y), system.centres(y)
    lines = []
    for i in range(3):
        lines += _ellipse_lines(system.axes[i], parts[f"R{i}"], centres[i])
    return Scene(lines, centres)


def _cross(R: np.ndarray, at: np.ndarray, size: float) -> list[np.ndarray]:
    return [np.stack([at - size * R[:, i], at + size * R[:, i]]) for i in range(2)]


def _two_quadrotors(system: Any, y: np.ndarray) -> Scene:
    load, one, two = system.places(y)
    parts = system.unpack(y)
    lines = [np.stack([one, load, two])]
    lines += _cross(parts["R1"], one, 0.3) + _cross(parts["R2"], two, 0.3)
    return Scene(lines, [load]).turned(_UPSIDE_DOWN)


def _one_quadrotor(system: Any, y: np.ndarray) -> Scene:
    parts = system.unpack(y)
    lines = [np.stack([parts["x_q"], parts["x_L"]])]
    return Scene(lines + _cross(parts["R"], parts["x_q"], 0.3), [parts["x_L"]])


def _ellipsoid(system: Any, y: np.ndarray) -> Scene:
    return Scene(_ellipse_lines(system.axes, np.eye(3), np.zeros(3)), [system.places(y)])


def _vectors(y: np.ndarray) -> Scene:
    q = y.reshape(-1, 3)
    return Scene([], q, on_sphere=True)


def _top(system: Any, y: np.ndarray) -> Scene:
    if system.formulation == "se3dual":  # seen from the body: the vertical moves
        gamma = y[:3] / np.linalg.norm(y[:3])
        return Scene([[np.zeros(3), gamma]], [gamma], on_sphere=True)
    Q = y[:9].reshape(3, 3)
    return Scene(
        [[np.zeros(3), Q @ np.array(system.chi)], *_axes(Q, size=0.4)], [Q @ np.array(system.chi)]
    )


def _free_body(system: Any, y: np.ndarray) -> Scene:
    if system.attitude:
        return Scene(_axes(y[:9].reshape(3, 3)))
    return Scene([], [y / np.linalg.norm(y)], on_sphere=True)


def _pendulum3d(system: Any, y: np.ndarray) -> Scene:
    R = y[:9].reshape(3, 3)
    tip = R @ np.array(system.rho)
    size = 0.4 * float(np.linalg.norm(system.rho))
    return Scene([[np.zeros(3), tip], *_axes(R, size=size)], [tip]).turned(_UPSIDE_DOWN)


_SCENES: dict[str, Callable[[Any, np.ndarray], Scene]] = {
    "FreeRigidBody": _free_body,
    "HeavyTop": _top,
    "SphericalPendulum": lambda system, y: _chain(system.l * y[None, :3]),
    "DoubleSphericalPendulum": lambda system, y: _chain(system.positions(y)).turned(_UPSIDE_DOWN),
    "PendulumChain": lambda system, y: _chain(system.positions(y)),
    "MagneticDipoles": _needles,
    "PointVortices": lambda system, y: _vectors(y),
    "LandauLifshitz": lambda system, y: _vectors(y),
    "EllipsoidParticle": _ellipsoid,
    "ParticleOnSphere": lambda system, y: Scene([], [y[:3]], on_sphere=True),
    "RigidBodyInWell": lambda system, y: Scene(_axes(y[:9].reshape(3, 3))),
    "RigidBodyInPotential": lambda system, y: Scene(_axes(y[:9].reshape(3, 3))),
    "Pendulum3D": _pendulum3d,
    "QuadrotorWithLoad": _one_quadrotor,
    "TwoQuadrotors": _two_quadrotors,
    "ConnectedBodies": _fish,
}


def scene(system: Any, y: Any) -> Scene:
    """What the state y (dim,) looks like; ValueError for a system that has no picture."""
    name = type(system).__name__
    if name not in _SCENES:
        known = ", ".join(_SCENES)
        raise ValueError(
            f"{name} has no picture; pass draw=..., a function y -> Scene. Known: {known}"
        )
    return _SCENES[name](system, np.asarray(y, dtype=float))


def frames(
    sol: Any,
    *,
    count: int = 50,
    draw: Callable[[np.ndarray], Scene] | None = None,
    view: Sequence[float] = VIEW,
    size: float = 3.6,
    trace: bool = True,
) -> list[Any]:
    """`count` Pillow images of the solution at equal times, with the path of the last dot."""
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection
    from PIL import Image

    if count < 2:
        raise ValueError(f"count must be at least 2, got {count}")
    fine = _TRACE * (count - 1) + 1  # the path is drawn from more points than there are pictures
    between = np.linspace(sol.t[0], sol.t[-1], fine)
    try:
        dense = sol(between)
    except ValueError:  # a solution without interpolation: the nearest saved states
        dense = sol.y[[int(np.argmin(np.abs(sol.t - t))) for t in between]]
    times, states = between[::_TRACE], dense[::_TRACE]
    show = draw or (lambda y: scene(sol.system, y))
    scenes = [show(y) for y in states]
    everything = [np.vstack([s.dots, *s.lines]) if s.lines else s.dots for s in scenes]
    flat = project(np.vstack(everything), view)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    middle, half = 0.5 * (low + high), 0.55 * float((high - low).max()) + 1e-9

    style()
    fig, ax = plt.subplots(figsize=(size, size), dpi=SHOWN_DPI)
    fig.subplots_adjust(left=0, right=1, bottom=0, top=1)
    if scenes[0].on_sphere:
        sphere(ax, view=view)
    else:
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.set_aspect("equal")
        ax.set_axis_off()
    lines = LineCollection([], linewidths=1.6, zorder=3)
    ax.add_collection(lines)
    (dots,) = ax.plot([], [], "o", color=PALETTE[1], zorder=4)
    (behind,) = ax.plot([], [], "o", color=PALETTE[1], alpha=0.35, zorder=2)
    (path,) = ax.plot([], [], color=GREY, linewidth=0.9, zorder=2)
    clock = ax.text(0.03, 0.03, "", transform=ax.transAxes, fontsize=9, color=GREY)
    pictures = []
    follow = trace and len(scenes[0].dots) > 0
    ends = project([show(y).dots[-1] for y in dense], view)[:, :2] if follow else None
    for frame, (t, current) in enumerate(zip(times, scenes, strict=True)):
        flat_lines = [project(line, view)[:, :2] for line in current.lines]
        lines.set_segments(flat_lines)
        lines.set_color(
            [
                PALETTE[0] if i == 0 or len(flat_lines) > 9 else PALETTE[i % 4]
                for i in range(len(flat_lines))
            ]
        )
        marks = project(current.dots, view)
        hidden = (marks[:, 2] < 0) if current.on_sphere else np.zeros(len(marks), bool)
        dots.set_data(*marks[~hidden, :2].T)
        behind.set_data(*marks[hidden, :2].T)
        if ends is not None:
            path.set_data(*ends[: _TRACE * frame + 1].T)
        clock.set_text(f"t = {t:.3g}")
        fig.canvas.draw()
        pictures.append(Image.fromarray(np.asarray(fig.canvas.buffer_rgba())[..., :3].copy()))
    plt.close(fig)
    return pictures


def apng(pictures: Sequence[Any], seconds: float = _LONGEST, colors: int = 16) -> bytes:
    """The pictures as an animated PNG that plays once in that time, with one palette for all."""
    from PIL import Image

    if not 0.0 < seconds <= _LONGEST:
        raise ValueError(
            f"seconds must lie between 0 and {_LONGEST:g} (longer motion needs a stop button), got {seconds}"
        )
    strip = Image.new("RGB", (pictures[0].width, pictures[0].height * 3))
    for i, picture in enumerate((pictures[0], pictures[len(pictures) // 2], pictures[-1])):
        strip.paste(picture, (0, i * picture.height))
    palette = strip.quantize(colors, method=Image.Quantize.MEDIANCUT)
    indexed = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    out = io.BytesIO()
    indexed[0].save(
        out,
        format="png",
        save_all=True,
        append_images=indexed[1:],
        duration=round(1000 * seconds / len(indexed)),
        loop=1,
    )
    return out.getvalue()


def animate(sol: Any, alt: str, *, seconds: float = _LONGEST, **options: Any) -> None:
    """Display a solution in motion, once, within `seconds`; `alt` says in words what is to be seen.

    Options: `count` pictures (50; about 4 kB each), `draw` (y -> Scene, for a system of your own), `view`
    (azimuth, elevation), `size` in inches, `trace` (the path of the last dot). Raises ValueError for an empty alt text.
    """
    import base64

    from IPython.display import display

    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt: got {alt!r}; write a sentence that says what the animation shows")
    picture = apng(frames(sol, **options), seconds)
    width = int.from_bytes(picture[16:20], "big")
    data = {
        "image/png": base64.b64encode(picture).decode("ascii"),
        "text/plain": " ".join(alt.split()),
    }
    display(data, metadata={"image/png": {"width": width}}, raw=True)
