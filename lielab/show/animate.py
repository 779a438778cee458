"""Short moving pictures of a solution, as HTML5 without a script: they play in the book, in JupyterLab and in Colab.

All frames stand row by row in one PNG, the film, and a CSS animation moves it behind a window of one frame. A native
checkbox pauses it; for readers who asked their system for less motion it waits until they play it. Paper and viewers
that drop style sheets get the last frame, which shows the whole path.

`scene(system, y)` says what a state looks like: lines and dots in space, with e3 up in the picture.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.arguments import count as whole
from ..core.arguments import function_of, listed, named_array, positive
from ..core.interrupts import keeps
from ..groups.quaternions import rotation
from .plotting import GREY, PALETTE, SHOWN_DPI, VIEW, project, sphere, style

_UPSIDE_DOWN = np.diag([1.0, -1.0, -1.0])  # for systems whose e3 points down
_TRACE = 6
_WIDEST = 4096  # pixels: what every device can hold of one picture
_REST = 0.8  # seconds that the last frame stays before the motion begins again

# Inside the output, so that it also works where the book's own style sheet is not: Binder, JupyterLab, Colab.
# The checkboxes exchange roles: "Pause" is shown by default, "Play" to readers who want less motion.
_CSS = """\
.lielab-animation{display:flex;flex-direction:column;align-items:flex-start;gap:.5rem;margin:.5rem 0;padding:0}
.lielab-animation div{position:relative;max-width:100%;overflow:hidden;border-radius:3px}
.lielab-animation img{display:block;width:100%;height:auto}
.lielab-animation i{position:absolute;inset:0;background-size:calc(100%*var(--cols)) calc(100%*var(--rows));\
animation:lielab-x var(--row) steps(var(--cols),jump-none) infinite,\
lielab-y calc(var(--row)*var(--rows)) steps(var(--rows),jump-none) infinite}
@keyframes lielab-x{from{background-position-x:0}to{background-position-x:100%}}
@keyframes lielab-y{from{background-position-y:0}to{background-position-y:100%}}
.lielab-animation input{order:1;appearance:none;display:flex;align-items:center;gap:.4em;margin:0;padding:.3em .7em;\
font:inherit;font-size:.9rem;line-height:1.4;color:inherit;background:none;border:1px solid;border-radius:3px;\
width:auto;height:auto;cursor:pointer}
.lielab-animation input::before{content:"";width:.7em;height:.7em;border:1px solid}
.lielab-animation input:checked::before{background:currentColor;box-shadow:inset 0 0 0 1px Canvas}
.lielab-animation input::after{content:attr(aria-label)}
.lielab-animation input:focus-visible{outline:3px solid;outline-offset:2px}
.lielab-animation .pause:checked~div i{animation-play-state:paused}
.lielab-animation .play{display:none}
@media(prefers-reduced-motion:reduce){.lielab-animation .pause{display:none}.lielab-animation .play{display:flex}\
.lielab-animation i{animation-play-state:paused}.lielab-animation .play:checked~div i{animation-play-state:running}}
@media print{.lielab-animation :is(i,input){display:none!important}}
"""


def _points(name: str, lines: Any) -> list[np.ndarray]:
    found = [named_array(name, line) for line in listed(name, lines, "lines, arrays (k, 3)")]
    for line in found:
        if line.ndim != 2 or line.shape[1] != 3:
            raise ValueError(f"{name} must hold arrays (k, 3), got shape {line.shape}")
    return found


class Scene:
    """Lines (a list of (k, 3) arrays), dots (m, 3), whether it happens on the unit sphere; and `ground`, lines that
    stand still, drawn in light grey."""

    def __init__(
        self,
        lines: Sequence[Any],
        dots: Any = (),
        *,
        on_sphere: bool = False,
        ground: Sequence[Any] = (),
    ) -> None:
        self.lines = _points("lines", lines)
        self.dots = named_array("dots", dots).reshape(-1, 3)
        self.on_sphere = on_sphere
        self.ground = _points("ground", ground)

    def turned(self, by: np.ndarray) -> Scene:
        lines, ground = ([line @ by for line in part] for part in (self.lines, self.ground))
        return Scene(lines, self.dots @ by, on_sphere=self.on_sphere, ground=ground)


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
    rings = _ellipse_lines(system.axes, np.eye(3), np.zeros(3))
    return Scene([], [system.places(y)], ground=rings)


def _pose(group: str, g: np.ndarray) -> Scene:
    """An element of SO(3), of the unit quaternions, of SE(3) or of R^3; ValueError for other groups."""
    if group == "R^3":
        return Scene([], dots=g)
    if group == "SE(3)":
        return Scene(_axes(g[:3, :3], g[:3, 3], 0.3), dots=g[None, :3, 3])
    if group not in ("SO(3)", "unit quaternions"):
        raise ValueError(f"{group} has no picture; pass draw=..., a function y -> Scene")
    return Scene(_axes(rotation(g) if g.ndim == 1 else g))


def _disc(system: Any, y: np.ndarray) -> Scene:
    """Poincare's disc, seen from the front: its rim is at infinity."""
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    rim = np.stack([0.0 * angle, np.cos(angle), np.sin(angle)], axis=-1)
    a, b = system.points(y)
    return Scene([], dots=np.array([[0.0, a, b]]), ground=[rim])


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
    if system.attitude:  # the dot: the direction of the momentum in space, which stands still
        R, mu = y[:9].reshape(3, 3), y[9:]
        return Scene(_axes(R), [R @ mu / np.linalg.norm(mu)] if mu.any() else [])
    return Scene([], [y / np.linalg.norm(y)], on_sphere=True)


def _attitude(y: np.ndarray) -> Scene:
    R = y[:9].reshape(3, 3)
    return Scene(_axes(R), [R[:, 2]], ground=_axes(np.eye(3)))


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
    "RigidBodyInWell": lambda system, y: _attitude(y),
    "RigidBodyInPotential": lambda system, y: _attitude(y),
    "Pendulum3D": _pendulum3d,
    "QuadrotorWithLoad": _one_quadrotor,
    "TwoQuadrotors": _two_quadrotors,
    "ConnectedBodies": _fish,
    "ParticleOnHyperbolicPlane": _disc,
}


def scene(system: Any, y: Any) -> Scene:
    """What the state y (dim,) looks like; ValueError for a system that has no picture."""
    name = type(system).__name__
    if name == "_Poses":  # of a spline
        return _pose(system.name, np.reshape(y, system.shape))
    if name not in _SCENES:
        known = ", ".join(_SCENES)
        raise ValueError(
            f"{name} has no picture; pass draw=..., a function y -> Scene. Known: {known}"
        )
    y = named_array("y", y)
    if y.shape != (system.dim,):
        raise ValueError(f"y must have shape ({system.dim},), got {y.shape}")
    return _SCENES[name](system, y)


def _states(sol: Any, times: np.ndarray) -> np.ndarray:
    """The states at those times; the nearest saved ones where there is nothing in between."""
    if callable(sol):
        try:
            return sol(times).reshape(len(times), -1)
        except ValueError:  # it came from another process, say
            pass
    return sol.y[[int(np.argmin(np.abs(sol.t - t))) for t in times]]


_LARGEST = 50  # inches


def frames(
    sol: Any,
    *,
    count: int = 50,
    draw: Callable[[np.ndarray], Scene] | None = None,
    view: Sequence[float] = VIEW,
    size: float = 3.6,
    trace: bool = True,
    ground: Sequence[Any] = (),
    near: float | None = None,
) -> list[Any]:
    """`count` Pillow images at equal times, with the path of the last dot; `sol` has `t`, `y` and `system`.

    near: the camera goes with the last dot, and shows what is within this distance of it; None: it stands still.
    Interrupted, the KeyboardInterrupt carries the pictures drawn as its `.result`.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection
    from PIL import Image

    whole("count", count, 2)
    size = positive("size", size)
    if size > _LARGEST:
        raise ValueError(f"size must be at most {_LARGEST} inches, got {size:g}")
    if not all(hasattr(sol, name) for name in ("t", "y", "system")):
        raise ValueError(f"sol must be a solution with t, y and system, got {sol!r}")
    if draw is not None:
        function_of("draw", draw, "y")
    if near is not None:
        near = positive("near", near)
    fine = _TRACE * (count - 1) + 1  # the path is drawn from more points than there are pictures
    between = np.linspace(sol.t[0], sol.t[-1], fine)
    dense = _states(sol, between)
    times, states = between[::_TRACE], dense[::_TRACE]
    show = draw or (lambda y: scene(sol.system, y))
    scenes = [show(y) for y in states]
    still = scenes[0].ground + _points("ground", ground)
    everything = [np.vstack([s.dots, *s.lines, *still]) for s in scenes]
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
    flat_ground = [project(line, view)[:, :2] for line in still]
    ax.add_collection(LineCollection(flat_ground, colors="#bdbdbd", linewidths=0.9, zorder=1))
    lines = LineCollection([], linewidths=1.6, zorder=3)
    ax.add_collection(lines)
    (dots,) = ax.plot([], [], "o", color=PALETTE[1], zorder=4)
    (behind,) = ax.plot([], [], "o", color=PALETTE[1], alpha=0.35, zorder=2)
    (path,) = ax.plot([], [], color=GREY, linewidth=0.9, zorder=2)
    clock = ax.text(0.03, 0.03, "", transform=ax.transAxes, fontsize=9, color=GREY)
    pictures: list[Any] = []
    if near is not None and len(scenes[0].dots) == 0:
        raise ValueError("near: the scene has no dot to stay near to; leave near out")
    follow = (trace or near is not None) and len(scenes[0].dots) > 0
    ends = project([show(y).dots[-1] for y in dense], view)[:, :2] if follow else None
    with contextlib.ExitStack() as stack:
        stack.callback(plt.close, fig)
        stack.enter_context(keeps(lambda: pictures))
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
            if ends is not None and near is not None:
                x, up = ends[_TRACE * frame]
                ax.set(xlim=(x - near, x + near), ylim=(up - near, up + near))
            if ends is not None and trace:
                path.set_data(*ends[: _TRACE * frame + 1].T)
            clock.set_text(f"t = {t:.3g}")
            canvas: Any = fig.canvas  # Agg's
            canvas.draw()
            pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    return pictures


def _colors() -> list[int]:
    """The 16 colours of a film: white, the four of the lines in full and half, two more for dots, five greys."""
    import matplotlib.colors as mc

    def tint(color: str, part: float) -> list[int]:
        return [round(255 * (1 - part + part * c)) for c in mc.to_rgb(color)]

    found = [tint(color, part) for color in PALETTE[:4] for part in (1.0, 0.5)]
    found += [tint(PALETTE[1], part) for part in (0.75, 0.35)]
    found += [tint(GREY, k / 5) for k in range(6)]  # 0: white
    return [value for color in found for value in color]


def _pictures(pictures: Any) -> list[Any]:
    found = listed("pictures", pictures, "Pillow images")
    if not found or not all(hasattr(one, "quantize") for one in found):
        raise ValueError(f"pictures must be one or more Pillow images, got {pictures!r}")
    return found


def film(pictures: Sequence[Any], rest: int = 0) -> tuple[Any, int, int]:
    """All pictures row by row in one of 16 colours; and its columns and rows, two of each at least.

    The last picture fills what is left over, at least `rest` more places.
    """
    from PIL import Image

    pictures = _pictures(pictures)
    width, height = pictures[0].size
    places = len(pictures) + rest
    rows = max(2, -(-places // max(1, _WIDEST // width)))
    cols = max(2, -(-places // rows))
    whole = Image.new("P", (cols * width, rows * height))
    whole.putpalette(_colors())
    indexed = [p.quantize(palette=whole, dither=Image.Dither.NONE) for p in pictures]
    for i in range(cols * rows):
        whole.paste(indexed[min(i, len(indexed) - 1)], (i % cols * width, i // cols * height))
    return whole, cols, rows


def _png(picture: Any) -> str:
    """A picture of 16 colours as the base64 text of a PNG."""
    out = io.BytesIO()
    picture.save(out, format="png", optimize=True, bits=4)
    return base64.b64encode(out.getvalue()).decode("ascii")


def figure(pictures: Sequence[Any], alt: str, seconds: float = 5.0) -> tuple[str, str]:
    """HTML that plays the pictures in that time, again and again; and the last one as a PNG in base64."""
    positive("seconds", seconds)
    pictures = _pictures(pictures)
    pace = max(1, round(1000 * seconds / len(pictures)))  # whole ms: both motions stay in step
    whole, cols, rows = film(pictures, rest=-(-round(1000 * _REST) // pace))
    width, height = pictures[0].size
    still = _png(whole.crop((whole.width - width, whole.height - height, *whole.size)))
    sizes = f"--cols:{cols};--rows:{rows};--row:{pace * cols}ms"
    return (
        f'<figure class="lielab-animation"><style>\n{_CSS}</style>\n'
        '<input type="checkbox" class="pause" aria-label="Pause">'
        '<input type="checkbox" class="play" aria-label="Play">\n'
        f'<div style="width:{width}px"><img width="{width}" height="{height}" alt="{html.escape(alt)}" '
        f'src="data:image/png;base64,{still}">'
        f'<i style="{sizes};background-image:url(data:image/png;base64,{_png(whole)})"></i></div></figure>',
        still,
    )


def animate(sol: Any, alt: str, *, seconds: float = 5.0, **options: Any) -> None:
    """Display a solution, or a closed loop, in motion, `seconds` long; `alt` says in words what is to be seen.

    Options: `count` pictures (50; about 1 kB each), `draw` (y -> Scene, for a system of your own), `view`
    (azimuth, elevation), `size` in inches, `trace` (the path of the last dot), `ground` (lines (k, 3) that stand still,
    in light grey), `near` (the camera goes with the last dot, this far to each side). Raises ValueError for an empty
    alt text.
    """
    from IPython.display import display

    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt: got {alt!r}; write a sentence that says what the animation shows")
    alt = " ".join(alt.split())
    pictures = frames(sol, **options)
    moving, still = figure(pictures, alt, seconds)
    data = {"text/html": moving, "image/png": still, "text/plain": alt}
    display(data, metadata={"image/png": {"width": pictures[0].width}}, raw=True)
